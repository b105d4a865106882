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
SENDERS = {"in_tab", "in_browser", "require_ability"}


@pytest.mark.parametrize("ability", Ability)
def test_an_ability_is_named_by_a_tool_that_has_it(ability: Ability) -> None:
    assert ability in TOOLS[ability.value].abilities({})


def _sent(tree: ast.Module) -> set[str]:
    """The commands that a module sends by name."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    sending = (call for call in calls if getattr(call.func, "attr", "") in SENDERS)
    given = (argument for call in sending for argument in call.args)
    words = (argument.value for argument in given if isinstance(argument, ast.Constant))
    return {word for word in words if isinstance(word, str) and word in COMMANDS}


def test_a_module_that_sends_a_command_declares_its_ability() -> None:
    for path in SOURCE.rglob("*.py"):
        tree = ast.parse(path.read_text())
        abilities = {COMMANDS[command].ability for command in _sent(tree)}
        declared = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        if any(isinstance(node, ast.Name) and node.id == "writing" for node in ast.walk(tree)):
            declared.add(Ability.WRITE_FILES.name)
        assert {ability.name for ability in abilities if ability} - declared == set(), path


async def test_a_tool_that_declares_less_than_its_command_needs_does_not_run() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        extension.handlers["page.evaluate"] = lambda params: {"value": 1}
        script = server.app.hub.tools.get("browser_execute_script")
        object.__setattr__(script, "does", ())
        result = await Agent(http).result("browser_execute_script", code="1", tabId=1)
    assert result["structuredContent"]["error"]["reason"] == "internal"
