"""Properties of every browser tool."""

import re
from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import pytest

from tabhub import tools
from tabhub.calls.results import done
from tabhub.hub.tools import Tool
from tabhub.tools import catalog
from tabhub.tools.data import site_data
from tabhub.tools.network import interception
from tabhub.tools.tool import SOURCE, Context, browser_tool
from tabhub.wire.abilities import Ability
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


ON_THEIR_OWN = frozenset(
    """
    browser_execute_script javascript_tool
    browser_intercept_requests browser_fulfill_request browser_fail_request browser_continue_request
    browser_get_cookies browser_set_cookie browser_delete_cookies browser_get_storage
    browser_clear_site_data browser_set_permission
    browser_search_history browser_get_visits browser_search_bookmarks browser_create_bookmark
    browser_list_bookmark_tree browser_get_recently_closed browser_restore_session
    browser_update_window browser_close_window browser_create_tab_group browser_add_tabs_to_group
    browser_remove_tabs_from_group browser_update_tab_group
    browser_notify extension_reload extension_force_reconnect dev_utils
    tabs_context_mcp update_plan shortcuts_list shortcuts_execute shortcuts_record shortcuts_delete
    plugin_mark_reviewed browser_batch
    """.split()
)


def test_every_tool_that_changes_something_says_whether_a_yes_for_a_site_covers_it() -> None:
    changing = {
        tool.name
        for tool in catalog.ALL
        if tool.changes_when is not None or not tool.is_reading({}) or tool.is_container
    }
    assert changing == catalog.ACTING | ON_THEIR_OWN
    assert not catalog.ACTING & ON_THEIR_OWN


def test_a_yes_for_a_site_covers_no_script_no_request_and_nothing_destructive() -> None:
    for tool in catalog.ALL:
        if tool.name in ON_THEIR_OWN:
            assert not tool.is_for_site({}) or tool.is_reading({})
        if tool.is_careful or {Ability.RUN_CODE, Ability.CHANGE_REQUESTS} & {*tool.abilities({})}:
            assert not tool.is_for_site({})
    named = {tool.name: tool for tool in catalog.ALL}
    assert named["computer"].is_for_site({"action": "left_click"})
    assert named["browser_read_page"].is_for_site({})


SENSITIVE = re.compile("cookie|history|visits|bookmark|stor(e|age)|site_data|script|intercept")
OF_ANOTHER_YES = {"browser_list_intercepted", "browser_stop_intercepting"}
"""Nothing is listed or stopped there unless a person has allowed `browser_intercept_requests`."""


def test_a_yes_for_a_site_covers_no_cookies_history_bookmarks_storage_or_interception() -> None:
    families = (site_data, interception)
    by_family = {tool.name for family in families for tool in family.TOOLS}
    by_name = {tool.name for tool in catalog.ALL if SENSITIVE.search(tool.name)}
    found = [tool for tool in catalog.ALL if tool.name in by_family | by_name]
    assert len(found) > 15
    assert {tool.name for tool in found if tool.is_for_site({})} == OF_ANOTHER_YES


def test_only_scrolling_hovering_and_closing_a_tab_are_minor() -> None:
    minor = {tool.name for tool in catalog.ALL if tool.is_minor({})}
    assert minor == {
        "browser_scroll",
        "browser_hover_element",
        "browser_close_tab",
        "tabs_close_mcp",
    }
    computer = next(tool for tool in catalog.ALL if tool.name == "computer")
    actions = computer.input_schema["properties"]["action"]["enum"]
    assert {action for action in actions if computer.is_minor({"action": action})} == {
        "scroll",
        "scroll_to",
        "hover",
    }
    assert not computer.is_minor({"action": "scroll", "save_to_disk": True})


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
