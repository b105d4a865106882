"""Properties of every browser tool."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import pytest

from tabhub import tools
from tabhub.calls.results import done
from tabhub.hub.tools import Tool
from tabhub.tools import catalog
from tabhub.tools.tool import SOURCE, Context, browser_tool
from tabhub.wire.mcp.messages import CallResult
from tests.support.browsers.extension import Refusal, connected, tab
from tests.support.serving import client, served


def _defined() -> Iterator[tuple[str, str]]:
    """Each tool that a module of the package defines, single or in a list, with the module."""
    for module in walk_packages(tools.__path__, f"{tools.__name__}."):
        for value in vars(import_module(module.name)).values():
            for item in value if isinstance(value, tuple | list) else (value,):
                if isinstance(item, Tool):
                    yield module.name, item.name


def test_every_tool_that_a_module_defines_is_in_the_catalog() -> None:
    defined = {*_defined()}
    assert len(defined) > 100
    listed = {tool.name for tool in catalog.ALL}
    assert {(module, name) for module, name in defined if name not in listed} == set()


def test_every_keyword_belongs_to_a_tool() -> None:
    assert catalog.KEYWORDS.keys() - {tool.name for tool in catalog.ALL} == set()


def test_exactly_the_tools_that_the_browser_source_runs_have_a_handler() -> None:
    with_handler = {tool.name for tool in catalog.ALL if tool.handler is not None}
    assert with_handler == {tool.name for tool in catalog.ALL if tool.source == SOURCE}


def test_every_tool_that_needs_a_tab_takes_its_id() -> None:
    for tool in catalog.ALL:
        if tool.needs_tab:
            assert tool.input_schema["properties"][tool.tab_argument] == {"type": "integer"}


FIRST, SECOND = "extension.panel", "windows.list"
OUTPUTS: dict[str, Any] = {FIRST: {"panels": 0}, SECOND: {"windows": []}}


async def _two_commands(context: Context) -> CallResult:
    await context.in_browser(context.browser, FIRST, {})
    await context.in_browser(context.browser, SECOND, {})
    return done("Both were done.", {})


@pytest.mark.parametrize(
    ("failing", "read_only", "runs"),
    [(FIRST, False, 2), (SECOND, False, 1), (SECOND, True, 2)],
)
async def test_a_refused_command_is_not_tried_again_if_one_before_it_may_have_changed_something(
    failing: str, read_only: bool, runs: int
) -> None:
    commands: list[str] = []

    def handler(command: str) -> Any:
        def answer(params: dict[str, Any]) -> Any:
            commands.append(command)
            if command == failing:
                raise Refusal("invalid_arguments")
            return OUTPUTS[command]

        return answer

    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        extension.handlers.update({name: handler(name) for name in (FIRST, SECOND)})
        server.app.hub.tools.add(
            browser_tool(
                name="two_commands",
                description="Runs two commands.",
                read_only=read_only,
                needs_tab=False,
                handler=_two_commands,
            )
        )
        for _ in range(2):
            answer = await http.post(
                "/tools/two_commands/call", headers={"Idempotency-Key": "once"}, json={}
            )
            assert answer.json()["error"]["reason"] == "invalid_arguments"
    assert commands.count(failing) == runs
