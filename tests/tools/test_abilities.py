"""What a tool declares is at least what the commands that it sends can do."""

import ast
from pathlib import Path

import pytest

from tabhub.tools import catalog
from tabhub.wire.abilities import Ability
from tabhub.wire.commands import COMMANDS
from tests.support.agent import Agent
from tests.support.browsers.extension import connected, tab
from tests.support.serving import client, served

TOOLS = {tool.name: tool for tool in catalog.ALL}
SOURCE = Path(catalog.__file__).parent


@pytest.mark.parametrize("ability", Ability)
def test_an_ability_is_named_by_a_tool_that_has_it(ability: Ability) -> None:
    assert ability in TOOLS[ability.value].abilities({})


def test_a_module_whose_commands_need_an_ability_has_a_tool_that_declares_it() -> None:
    """Commands are sent by name, so the names in a module show what its tools can do."""
    for path in SOURCE.rglob("*.py"):
        tree = ast.parse(path.read_text())
        words = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        needed = {COMMANDS[word].ability for word in words if word in COMMANDS} - {None}
        declared = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        if any(isinstance(node, ast.Name) and node.id == "writing" for node in ast.walk(tree)):
            declared.add(Ability.WRITE_FILES.name)
        assert {ability.name for ability in needed if ability} - declared == set(), path


async def test_a_tool_that_declares_less_than_its_command_needs_does_not_run() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        extension.handlers["page.evaluate"] = lambda params: {"value": 1}
        script = server.app.hub.tools.get("browser_execute_script")
        object.__setattr__(script, "does", ())
        result = await Agent(http).result("browser_execute_script", code="1", tabId=1)
    assert result["structuredContent"]["error"]["reason"] == "internal"
