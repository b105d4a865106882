"""A server with a policy file: which rules apply, what a reload changes, which sites are closed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from tabhub.config.paths import Home
from tabhub.config.settings import load as load_settings
from tabhub.server.serving import Server
from tests.server.disguised_addresses import INTO_A, INTO_THE_BANK, NOT_THE_BANK, OUT_OF_A
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.extension import FakeExtension, connected, tab
from tests.support.serving import client, served
from tests.support.tools import in_toolset

Json = dict[str, Any]
SCRIPT, OPEN, NAVIGATE = "browser_execute_script", "browser_open_tab", "browser_navigate_tab"
ASK = f'[tools]\n{SCRIPT} = "ask"\n'
OFF = f'[tools]\n{SCRIPT} = "off"\n'
DENY = '[sites]\ndeny = ["*.bank.example", "127.0.0.1", "bücher.example", "[::1]"]\n'
ALLOW = '[sites]\nallow = ["a.example"]\n'
CONDITION = f"""
[[conditions]]
tools = ["{OPEN}", "{NAVIGATE}"]
argument = "url"
hosts = ["a.example"]
otherwise = "off"
"""


@dataclass
class Place:
    """A server with a home and a browser, and the addresses that the browser was sent to."""

    server: Server
    home: Home
    extension: FakeExtension
    http: httpx.AsyncClient
    agent: Agent
    visited: list[str] = field(default_factory=list)

    def go(self, params: Json) -> Json:
        self.visited.append(params["input"]["url"])
        return tab(params["tabId"] or 9, url="https://landed.example/")

    async def reason(self, tool: str, **arguments: Any) -> str:
        """Why a call was refused; empty when it was not."""
        try:
            await self.agent.call(tool, **arguments)
        except ToolFailed as failed:
            return str(failed.reason)
        return ""

    async def script(self) -> str:
        return await self.reason(SCRIPT, code="1", tabId=1)


@asynccontextmanager
async def place(folder: Path, policy: str = "", config: str = "{}") -> AsyncIterator[Place]:
    home = Home(folder / "home").create()
    home.policy.write_text(policy)
    home.config.write_text(config)
    async with (
        served(load_settings(home), home=home) as server,
        connected(server.port) as extension,
        client(server.port) as http,
    ):
        here = Place(server, home, extension, http, Agent(http))
        extension.handlers.update({"tabs.open": here.go, "tabs.navigate": here.go})
        extension.handlers["page.evaluate"] = lambda params: {"value": 1}
        await extension.sync(tab(1))
        yield here


@pytest.mark.parametrize(
    ("policy", "config", "reason"),
    [
        ('unattended = "allow"\n' + ASK, "{}", ""),
        ('unattended = "deny"\n' + ASK, "{}", "approval_unavailable"),
        (ASK, "{}", "approval_unavailable"),
        (ASK, '{"unattended": "allow"}', ""),
        ('unattended = "deny"\n' + ASK, '{"unattended": "allow"}', "approval_unavailable"),
        ('unattended = "allow"\n' + OFF, "{}", "permission_off"),
    ],
)
async def test_without_a_panel_the_policy_decides_before_the_settings(
    tmp_path: Path, policy: str, config: str, reason: str
) -> None:
    async with place(tmp_path, policy, config) as here:
        assert await here.script() == reason


async def test_an_open_panel_is_asked_even_if_the_policy_decides_without_one(
    tmp_path: Path,
) -> None:
    async with place(tmp_path, 'unattended = "allow"\n' + ASK) as here:
        await here.extension.notify("panel.changed", {"open": 1})
        await here.extension.settled()
        running = asyncio.create_task(here.script())
        id = (await here.extension.next("confirmation.request"))["params"]["id"]
        await here.extension.ask("confirmation.response", {"id": id, "decision": "deny"})
        assert await running == "permission_denied"


async def test_a_named_policy_file_counts_instead_of_the_usual_one(tmp_path: Path) -> None:
    (tmp_path / "strict.toml").write_text(OFF)
    async with place(tmp_path, "", f'{{"policyFile": "{tmp_path}/strict.toml"}}') as here:
        assert await here.script() == "permission_off"
        assert (await here.extension.state())["policyFile"] == f"{tmp_path}/strict.toml"


async def test_the_stricter_of_policy_and_settings_counts(tmp_path: Path) -> None:
    config = f'{{"permissions": {{"tools": {{"{SCRIPT}": "auto"}}}}}}'
    async with place(tmp_path, OFF, config) as here:
        assert await here.script() == "permission_off"


@pytest.mark.requirement("OT-33")
async def test_no_spelling_of_an_address_gets_past_a_denied_site(tmp_path: Path) -> None:
    async with place(tmp_path, DENY) as here:
        for url in INTO_THE_BANK:
            for tool, more in ((OPEN, {}), (NAVIGATE, {"tabId": 1})):
                reason = await here.reason(tool, url=url, **more)
                assert reason in ("permission_off", "invalid_arguments"), (tool, url)
        assert here.visited == []
        for url in NOT_THE_BANK:
            assert await here.reason(OPEN, url=url) == "", url
        assert len(here.visited) == len(NOT_THE_BANK)


@pytest.mark.parametrize("url", ["https://bank.example/", "bank.example", "http://127.0.0.1:80/"])
async def test_a_plain_address_of_a_denied_site_is_refused_by_the_rule_itself(
    tmp_path: Path, url: str
) -> None:
    async with place(tmp_path, DENY) as here:
        with pytest.raises(ToolFailed) as failed:
            await here.agent.call(OPEN, url=url)
    assert failed.value.reason == "permission_off"
    assert "sites.deny" in failed.value.message and "policy.toml" in failed.value.message


@pytest.mark.requirement("OT-33")
@pytest.mark.parametrize("policy", [ALLOW, CONDITION])
async def test_no_spelling_of_an_address_leaves_the_allowed_sites(
    tmp_path: Path, policy: str
) -> None:
    async with place(tmp_path, policy) as here:
        for url in OUT_OF_A:
            reason = await here.reason(OPEN, url=url)
            assert reason in ("permission_off", "invalid_arguments"), url
        assert here.visited == []
        for url in INTO_A:
            assert await here.reason(OPEN, url=url) == "", url


async def test_a_condition_allows_history_navigation(tmp_path: Path) -> None:
    async with place(tmp_path, CONDITION) as here:
        for step in ("back", "forward", "reload"):
            assert await here.reason(NAVIGATE, url=step, tabId=1) == ""
        assert await here.reason(NAVIGATE, url="BACK", tabId=1) == "permission_off"
    assert here.visited == ["back", "forward", "reload"]


async def test_a_page_on_a_denied_site_cannot_be_read(tmp_path: Path) -> None:
    async with place(tmp_path, DENY) as here:
        moved = {"tabId": 1, "state": "updated", "tab": tab(1, url="https://www.bank.example/")}
        await here.extension.ask("tab.stateChanged", moved)
        for tool, arguments in ((SCRIPT, {"code": "1"}), ("browser_read_page", {})):
            assert await here.reason(tool, tabId=1, **arguments) == "permission_off"


async def test_a_reload_applies_new_rules(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        assert await here.script() == ""
        here.home.policy.write_text(OFF)
        assert await here.script() == ""
        report = (await here.http.post("/reload")).json()
        assert (report["ok"], report["plugins"], type(report["durationMs"])) == (True, 0, int)
        assert await here.script() == "permission_off"
        here.home.policy.unlink()
        here.home.config.write_text('{"toolsets": ["claude"], "unattended": "allow"}')
        assert (await here.http.post("/reload")).status_code == 200
        assert await here.script() == ""
        listed = (await here.agent.post("tools/list")).json()["result"]["tools"]
        assert {tool["name"] for tool in listed} == in_toolset("claude")


FAULTS: list[tuple[str, bytes, str]] = [
    ("policy.toml", b'[tools]\n\nbrowser_click_element = "perhaps"\n', "policy.toml:3:"),
    ("policy.toml", b"[tools\n", "policy.toml:1:"),
    ("policy.toml", b'unattended = "allow"\n[sites]\ndeny = ["a*b"]\n', "policy.toml:3:"),
    ("policy.toml", b"a = '\xff'\n", "policy.toml"),
    ("config.json", b"{", "config.json"),
    ("config.json", b'{"unattended": "maybe"}', "unattended"),
    ("config.json", b'{"permissions": {"tools": {"a": "perhaps"}}}', "permissions.tools"),
    ("config.json", b'{"permissions": {"domains": {"a b": "off"}}}', "a b"),
    ("config.json", b'{"toolsets": ["cor"]}', "'cor'"),
    ("config.json", b'{"policyFile": "nowhere.toml"}', "nowhere.toml"),
    ("config.json", b'{"policyFile": "."}', "home"),
    ("config.json", b'{"policyFile": "a\\u0000b"}', "policy"),
    ("config.json", b"[" * 100_000, "config.json"),
]


@pytest.mark.parametrize(("file", "content", "words"), FAULTS)
async def test_a_reload_with_a_fault_reports_its_place_and_changes_nothing(
    tmp_path: Path, file: str, content: bytes, words: str
) -> None:
    async with place(tmp_path, OFF) as here:
        before = await here.extension.state()
        (here.home.root / file).write_bytes(content)
        answer = await here.http.post("/reload")
        assert answer.status_code == 400, answer.text
        error = answer.json()["error"]
        assert error["reason"] == "invalid_arguments" and words in error["message"]
        assert await here.script() == "permission_off"
        after = await here.extension.state()
    for key in ("tools", "unattended", "policyFile", "skipPermissions"):
        assert after[key] == before[key]


@pytest.mark.requirement("OT-33")
async def test_a_condition_does_not_mark_its_tool_as_disabled(tmp_path: Path) -> None:
    async with place(tmp_path, CONDITION) as here:
        listed = (await here.agent.post("tools/list")).json()["result"]["tools"]
        described = {tool["name"]: tool["description"] for tool in listed}
        assert not any(words.startswith("[Disabled]") for words in described.values())
        levels = {
            tool["name"]: tool["effective"] for tool in (await here.extension.state())["tools"]
        }
        assert levels[OPEN] == "auto"
        assert await here.reason(OPEN, url="https://b.example/") == "permission_off"


TABLESS = ("tabs_create", "tabs_create_mcp", "tabs_context", "tabs_context_mcp")


@pytest.mark.parametrize(
    ("closed", "tool", "arguments"),
    [
        (SCRIPT, "javascript_tool", {"action": "javascript_exec", "text": "1"}),
        (SCRIPT, "browser_fulfill_request", {"requestId": "r", "status": 200}),
        (NAVIGATE, "navigate", {"url": "https://a.example/"}),
        (OPEN, "tabs_create", {"url": "https://a.example/"}),
        (OPEN, "tabs_create_mcp", {}),
        (OPEN, "tabs_context_mcp", {"createIfEmpty": True}),
        ("browser_list_tabs", "tabs_context", {}),
        ("browser_close_tab", "tabs_close_mcp", {}),
        ("browser_read_page", "read_page", {}),
        ("browser_find", "find", {"query": "save"}),
        ("browser_get_tab_content", "get_page_text", {}),
        ("browser_type_text", "form_input", {"ref": "e1", "value": "a"}),
        ("browser_select_option", "form_input", {"ref": "e1", "value": "a"}),
        ("browser_click_element", "form_input", {"ref": "e1", "value": True}),
        ("browser_upload_files", "file_upload", {"ref": "e1", "paths": ["/a"]}),
        ("browser_upload_files", "upload_image", {"ref": "e1", "imageId": "a"}),
        ("browser_update_window", "resize_window", {"width": 500, "height": 500}),
        ("browser_get_console_logs", "read_console_messages", {"pattern": "a"}),
        ("browser_get_network_requests", "read_network_requests", {}),
        ("browser_screenshot_tab", "gif_creator", {"action": "start_recording"}),
        ("browser_screenshot_tab", "computer", {"action": "screenshot"}),
        ("browser_screenshot_tab", "computer", {"action": "zoom", "region": [0, 0, 9, 9]}),
        ("browser_click_element", "computer", {"action": "left_click", "ref": "e1"}),
        ("browser_click_element", "computer", {"action": "triple_click", "ref": "e1"}),
        ("browser_hover_element", "computer", {"action": "hover", "ref": "e1"}),
        ("browser_type_text", "computer", {"action": "type", "text": "a"}),
        ("browser_press_key", "computer", {"action": "key", "text": "a"}),
        ("browser_scroll", "computer", {"action": "scroll", "scroll_direction": "up"}),
        ("browser_drag", "computer", {"action": "left_click_drag"}),
    ],
)
async def test_a_rule_for_a_tool_covers_its_other_names(
    tmp_path: Path, closed: str, tool: str, arguments: Json
) -> None:
    async with place(tmp_path, f'[tools]\n{closed} = "off"\n') as here:
        where = {} if tool in TABLESS else {"tabId": 1}
        assert await here.reason(tool, **arguments, **where) == "permission_off"
        assert here.visited == []


async def test_navigating_without_a_tab_counts_as_opening_one(tmp_path: Path) -> None:
    async with place(tmp_path, f'[tools]\n{OPEN} = "off"\n') as here:
        assert await here.reason("navigate", url="https://a.example/") == "permission_off"
        assert await here.reason("navigate", url="https://a.example/", tabId=1) == ""
        assert here.visited == ["https://a.example/"]


ON_DENIED_SITE = "https://my.bank.example/account?token=s3cret"
DETAILS = ("account", "s3cret", "Balance")


async def test_of_tabs_on_a_denied_site_results_say_only_that_they_are_walled(
    tmp_path: Path,
) -> None:
    async with place(tmp_path, DENY) as here:
        here.extension.handlers["tabs.open"] = lambda params: tab(
            9, url=ON_DENIED_SITE, title="Balance"
        )
        here.extension.handlers["tabs.list"] = lambda params: {
            "tabs": [tab(9, url=ON_DENIED_SITE, title="Balance"), tab(1)],
            "dialogs": [{"tabId": 9, "type": "alert", "message": "Balance: 42"}],
        }
        results = [await here.agent.result(OPEN, url="https://a.example/")]
        names = ("browser_list_tabs", "tabs_context", "tabs_context_mcp")
        results += [await here.agent.result(name) for name in names]
        results.append(await here.agent.result("navigate", url="https://a.example/", tabId=1))
        group = {"groupId": 5, "windowId": 1, "title": "", "color": "blue", "collapsed": False}
        here.extension.handlers["groups.list"] = lambda params: {
            "groups": [{**group, "tabIds": [9]}]
        }
        results.append(await here.agent.result("browser_list_tabs_in_group", groupId=5))
        results.append((await here.agent.post("resources/list")).json())
        results.append((await here.agent.post("resources/read", {"uri": "tab://9"})).json())
        for result in results:
            assert "error" not in result and not result.get("isError"), result
            assert "walled" in str(result) and "bank.example" not in str(result)
            assert not any(word in str(result) for word in DETAILS), result


async def test_without_denied_sites_tabs_are_shown_in_full(tmp_path: Path) -> None:
    async with place(tmp_path, ASK) as here:
        here.extension.handlers["tabs.open"] = lambda params: tab(
            9, url=ON_DENIED_SITE, title="Balance"
        )
        here.extension.handlers["tabs.list"] = lambda params: {
            "tabs": [tab(9, url=ON_DENIED_SITE, title="Balance")]
        }
        opened = await here.agent.call(OPEN, url="https://a.example/")
        assert (opened["url"], opened["title"]) == (ON_DENIED_SITE, "Balance")
        listed = (await here.agent.post("resources/read", {"uri": "tab://9"})).json()
        assert all(word in str(listed) for word in DETAILS)


async def test_downloads_of_denied_sites_are_not_listed(tmp_path: Path) -> None:
    def item(id: int, url: str) -> Json:
        state = {"state": "complete", "path": "/a", "bytesReceived": 1, "totalBytes": 1}
        return {"downloadId": id, "url": url, **state}

    items = [item(1, ON_DENIED_SITE), item(2, "https://a.example/file")]
    async with place(tmp_path, DENY) as here:
        here.extension.handlers["downloads.list"] = lambda params: {"downloads": items, "total": 2}
        here.extension.handlers["downloads.status"] = lambda params: items[0]
        listed = await here.agent.call("browser_list_downloads")
        assert ([download["downloadId"] for download in listed["downloads"]], listed["total"]) == (
            [2],
            1,
        )
        assert await here.reason("browser_get_download_status", downloadId=1) == "not_found"
