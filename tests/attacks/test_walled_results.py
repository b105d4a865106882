"""Whatever the browser reports of a walled site, no result of any tool shows it."""

import json
from typing import Any

import pytest
from msgspec import inspect

from tabhub.config.settings import PermissionSettings, Settings
from tabhub.tools import catalog
from tabhub.wire.commands import COMMANDS
from tabhub.wire.commands.command import ADDRESS
from tests.support.agent import Agent
from tests.support.browsers.extension import FakeExtension, Refusal, connected, tab
from tests.support.serving import client, served

SITE = "walled.example"
SECRET = "s3cr3t"
ADDRESS_THERE = f"https://{SITE}/{SECRET}"
CLOSED = Settings(permissions=PermissionSettings(domains={SITE: "off"}))
TOOLS = {tool.name: tool for tool in catalog.ALL}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "browser_download_file": {"url": "https://example.com/file"},
    "browser_get_visits": {"url": "https://example.com/"},
    "browser_get_cookies": {"url": "https://example.com/"},
    "browser_navigate_tab": {"url": "https://example.com/"},
    "browser_open_tab": {"url": "https://example.com/"},
    "browser_press_key": {"key": "Enter"},
    "browser_drag": {"from": {"ref": "ref_1"}, "to": {"ref": "ref_2"}},
    "browser_select_option": {"selector": "a", "value": "b"},
    "browser_handle_dialog": {"action": "accept"},
    "browser_upload_files": {"selector": "a", "files": [{"name": "a", "data": "YQ=="}]},
    "browser_get_network_requests": {"requestId": "1"},
    "browser_restore_session": {"sessionId": "ours"},
    "browser_fulfill_request": {"requestId": "1", "status": 200},
    "computer": {"action": "key", "text": "Enter"},
    "form_input": {"ref": "ref_1", "value": "x"},
    "file_upload": {"ref": "ref_1", "paths": []},
    "javascript_tool": {"action": "javascript_exec", "text": "1"},
    "navigate": {"url": "https://example.com/"},
    "resize_window": {"width": 100, "height": 100},
    "tabs_context_mcp": {"createIfEmpty": True},
}
NAMES = {"url": "https://example.com/", "selector": "a", "ref": "ref_1"}


def report(command: str) -> dict[str, Any]:
    """The largest output of a command, all of it about the walled site."""
    shape = COMMANDS[command].outputs[0]
    output: dict[str, Any] = filled(inspect.type_info(shape), 0, "ours")
    return output


def filled(kind: inspect.Type, depth: int, text: str) -> Any:
    if isinstance(kind, inspect.Metadata):
        return ADDRESS_THERE if is_address(kind) else filled(kind.type, depth, text)
    if isinstance(kind, inspect.UnionType):
        return filled(max(kind.types, key=is_struct), depth, text)
    if isinstance(kind, inspect.ListType):
        return [filled(kind.item_type, depth + 1, text)] if depth < 5 else []
    if isinstance(kind, inspect.StructType):
        there = SECRET if any(is_address(field.type) for field in kind.fields) else text
        there = there if getattr(kind.cls, "of_page", True) else "ours"
        return {field.encode_name: filled(field.type, depth + 1, there) for field in kind.fields}
    if isinstance(kind, inspect.LiteralType):
        return kind.values[0]
    plain: dict[type[inspect.Type], Any] = {
        inspect.StrType: text,
        inspect.IntType: 1,
        inspect.FloatType: 1,
        inspect.BoolType: True,
        inspect.DictType: {},
        inspect.TupleType: [text, text],
    }
    return plain.get(type(kind))


def is_address(kind: inspect.Type) -> bool:
    kinds = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    return any(isinstance(one, inspect.Metadata) and ADDRESS in (one.extra or {}) for one in kinds)


def is_struct(kind: inspect.Type) -> bool:
    return isinstance(kind, inspect.StructType)


def reporting(extension: FakeExtension) -> None:
    for command in COMMANDS:
        extension.handlers[command] = lambda params: report(params["tool"])
    # The address that the caller has given, and that was decided.
    created = {**report("bookmarks.create"), "url": "https://example.com/", "title": "ours"}
    extension.handlers["bookmarks.create"] = lambda _: {**created, "id": "1", "parentId": "1"}


def arguments_of(name: str) -> dict[str, Any]:
    properties = TOOLS[name].input_schema["properties"]
    given = ARGUMENTS.get(name, {key: NAMES[key] for key in ("url", "ref") if key in properties})
    required = TOOLS[name].input_schema.get("required", ())
    words = {key: "word" for key in required if properties[key].get("type") == "string"}
    numbers = {key: 1 for key in required if properties[key].get("type") == "integer"}
    on_tab = {"tabId": 1} if TOOLS[name].needs_tab else {}
    return {**words, **numbers, **given, **on_tab}


@pytest.mark.parametrize("name", sorted(TOOLS))
async def test_no_result_shows_what_the_browser_reports_of_a_walled_site(name: str) -> None:
    arguments = arguments_of(name)
    async with served(CLOSED) as server, connected(server.port) as extension:
        reporting(extension)
        there = tab(2, url=ADDRESS_THERE, title=SECRET)
        await extension.sync(tab(1, url="https://example.com/"), there)
        async with client(server.port) as http:
            result = await Agent(http).result(name, **arguments)
    shown = json.dumps(result)
    assert SECRET not in shown and SITE not in shown, shown
    assert result["structuredContent"].get("error", {}).get("reason") != "internal", shown


DIALOG = {"type": "confirm", "message": SECRET, "url": ADDRESS_THERE}


@pytest.mark.parametrize(
    ("reason", "data"),
    [
        ("dialog_open", {"dialog": DIALOG}),
        ("navigation_failed", {"url": ADDRESS_THERE, "netError": "net::ERR_FAILED"}),
    ],
)
async def test_an_error_says_nothing_of_a_walled_site(reason: str, data: dict[str, Any]) -> None:
    def fail(_: dict[str, Any]) -> Any:
        raise Refusal(reason, f"{ADDRESS_THERE} says {SECRET}", data)

    async with served(CLOSED) as server, connected(server.port) as extension:
        extension.handlers |= {"page.click": fail, "tabs.navigate": fail, "tabs.open": fail}
        await extension.sync(tab(1, url="https://example.com/"))
        async with client(server.port) as http:
            agent = Agent(http)
            url = "https://example.com/"
            results = [
                await agent.result("browser_click_element", selector="a", tabId=1),
                await agent.result("browser_navigate_tab", url=url, tabId=1),
                await agent.result("browser_open_tab", url=url),
            ]
    for result in results:
        assert result["structuredContent"]["error"]["reason"] == reason
        assert "walled" in result["content"][0]["text"]
        assert SECRET not in str(result) and SITE not in str(result)


async def test_an_agent_closes_its_own_tab_on_a_walled_site() -> None:
    async with served(CLOSED) as server, connected(server.port) as extension:
        extension.handlers["tabs.open"] = lambda _: {"tabId": 5, "url": "https://example.com/"}
        extension.handlers["tabs.close"] = lambda _: {"closed": 5}
        await extension.sync(tab(1))
        async with client(server.port) as http:
            agent = Agent(http)
            for close in ("browser_close_tab", "tabs_close_mcp"):
                opened = (await agent.call("browser_open_tab", url="https://example.com/"))["tabId"]
                there = {"tabId": 5, "state": "updated", "tab": tab(5, url=ADDRESS_THERE)}
                await extension.ask("tab.stateChanged", there)
                read = await agent.result("browser_read_page", tabId=opened)
                assert read["structuredContent"]["error"]["reason"] == "permission_off"
                closed = await agent.call(close, tabId=opened)
                assert closed["closed"] == opened
                await extension.ask("tab.stateChanged", {"tabId": 5, "state": "closed"})


async def test_a_rule_about_closing_still_holds_there() -> None:
    permissions = PermissionSettings(domains={SITE: "off"}, tools={"browser_close_tab": "off"})
    async with served(Settings(permissions=permissions)) as server:
        async with connected(server.port) as extension, client(server.port) as http:
            await extension.sync(tab(1, url=ADDRESS_THERE))
            for close in ("browser_close_tab", "tabs_close_mcp"):
                result = await Agent(http).result(close, tabId=1)
                assert result["structuredContent"]["error"]["reason"] == "permission_off"


NAMES_OF_ADDRESSES = {"url", "origin", "page", "navigated", "redirectedTo", "topLevelSite", "href"}
DECIDED = {"SavedFile.url", "PermissionNow.origin"}
"""Addresses that no other site can have: a file of the server, the page that was decided about."""


def shapes_in(kind: inspect.Type) -> set[type]:
    """The objects of an output."""
    found: set[type] = set()
    waiting = [kind]
    while waiting:
        one = waiting.pop()
        waiting += getattr(one, "types", ()) or [
            getattr(one, name) for name in ("item_type", "type") if hasattr(one, name)
        ]
        if isinstance(one, inspect.StructType) and one.cls not in found:
            found.add(one.cls)
            waiting += [field.type for field in one.fields]
    return found


def is_text(kind: inspect.Type) -> bool:
    kinds = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    return any(isinstance(one, inspect.StrType) for one in kinds)


def test_every_address_in_an_output_is_declared_as_one() -> None:
    outputs = (output for command in COMMANDS.values() for output in command.outputs)
    shapes = {shape for output in outputs for shape in shapes_in(inspect.type_info(output))}
    assert len(shapes) > 50
    for shape in shapes:
        info = inspect.type_info(shape)
        assert isinstance(info, inspect.StructType)
        for field in info.fields:
            name = f"{shape.__name__}.{field.encode_name}"
            is_named_so = field.encode_name in NAMES_OF_ADDRESSES and is_text(field.type)
            assert not is_named_so or name in DECIDED, f"{name} must be an Address"
