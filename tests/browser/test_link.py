"""The link as an extension sees it: a real socket to a real server."""

import asyncio
import json
from typing import Any

import pytest
from msgspec import Raw
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Subprotocol

from tabhub.browser.connection import Connection
from tabhub.config.settings import Limits, Settings
from tabhub.errors import Unavailable
from tests.support.agent import Agent, ToolFailed
from tests.support.extension import FakeExtension, Refusal, connected, tab
from tests.support.serving import SECRET, client, served


async def _open(port: int, *names: str, origin: str | None = None) -> None:
    protocols = [Subprotocol(name) for name in names] or None
    headers = {"Origin": origin} if origin else None
    async with connect(
        f"ws://127.0.0.1:{port}/ws", subprotocols=protocols, additional_headers=headers
    ) as socket:
        await socket.recv()


@pytest.mark.requirement("OT-20")
@pytest.mark.parametrize(
    "names",
    [(), ("tabhub",), ("tabhub", "wrong"), ("tabhub", SECRET[:-1]), ("other", SECRET), (SECRET,)],
)
async def test_a_socket_without_the_secret_is_refused_before_the_upgrade(
    names: tuple[str, ...],
) -> None:
    async with served() as server:
        with pytest.raises(InvalidStatus) as refused:
            await _open(server.port, *names)
    assert refused.value.response.status_code == 403


@pytest.mark.requirement("OT-20")
@pytest.mark.parametrize("name", ["tabhub", "opentabs"])
async def test_both_names_of_the_link_are_accepted_and_the_secret_is_not_echoed(name: str) -> None:
    async with served() as server:
        async with connect(
            f"ws://127.0.0.1:{server.port}/ws",
            subprotocols=[Subprotocol(name), Subprotocol(SECRET)],
        ) as socket:
            assert socket.subprotocol == name
            assert json.loads(await socket.recv())["method"] == "sync.full"


@pytest.mark.requirement("OT-17")
async def test_a_page_cannot_open_the_link_even_with_the_secret() -> None:
    async with served() as server:
        with pytest.raises(InvalidStatus):
            await _open(server.port, "tabhub", SECRET, origin="https://evil.example")


@pytest.mark.requirement("OT-20")
async def test_a_message_over_the_limit_closes_the_link_with_its_own_code() -> None:
    async with served() as server, connected(server.port) as extension:
        with pytest.raises(ConnectionClosed) as closed:
            await extension.socket.send("x" * (11 * 1024 * 1024))
            await extension.socket.wait_closed()
            await extension.socket.send("more")
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1009


@pytest.mark.requirement("OT-20")
@pytest.mark.parametrize(
    "text",
    ["{", "[]", "3", '"x"', '{"jsonrpc":"1.0"}', '{"jsonrpc":"2.0","id":9,"result":{}}', "\x00"],
)
async def test_nonsense_from_an_extension_is_ignored_and_the_link_lives(text: str) -> None:
    async with served() as server, connected(server.port) as extension:
        await extension.socket.send(text)
        await extension.settled()


@pytest.mark.requirement("OT-20")
async def test_an_unknown_request_or_wrong_params_get_an_error_with_a_reason() -> None:
    async with served() as server, connected(server.port) as extension:
        unknown = await extension.ask("tab.dance", {})
        wrong = await extension.ask("tab.stateChanged", {"tabId": "seven", "state": "opened"})
    assert (unknown["error"]["code"], unknown["error"]["data"]["reason"]) == (
        -32601,
        "method_not_found",
    )
    assert (wrong["error"]["code"], wrong["error"]["data"]["reason"]) == (-32602, "invalid_params")


@pytest.mark.requirement("OT-23")
async def test_the_same_profile_replaces_its_connection_and_other_profiles_stay() -> None:
    async with (
        served() as server,
        connected(server.port, "a") as first,
        connected(server.port, "b"),
    ):
        async with connected(server.port, "a") as second:
            await first.socket.wait_closed()
            assert first.socket.close_code == 4001
            await second.sync(tab(1))
            async with client(server.port) as http:
                health = (await http.get("/health")).json()
    assert sorted(browser["id"] for browser in health["browsers"]) == ["a", "b"]
    assert "Fake" in {browser["name"] for browser in health["browsers"]}


@pytest.mark.requirement("OT-23")
async def test_a_connection_without_a_profile_id_counts_as_one_profile() -> None:
    async with (
        served() as server,
        connected(server.port, None) as first,
        connected(server.port, None),
    ):
        await first.socket.wait_closed()
        assert first.socket.close_code == 4001


@pytest.mark.requirement("OT-23")
async def test_two_browsers_with_the_same_tab_number_get_different_ids_and_each_its_call() -> None:
    seen: list[tuple[str, Any]] = []

    def answering(name: str) -> Any:
        def answer(params: dict[str, Any]) -> dict[str, Any]:
            seen.append((name, params["tabId"]))
            return {"value": name}

        return answer

    async with (
        served() as server,
        connected(server.port, "a") as a,
        connected(server.port, "b") as b,
    ):
        for name, extension in (("a", a), ("b", b)):
            extension.handlers["page.evaluate"] = answering(name)
            extension.handlers["tabs.list"] = lambda params: {"tabs": [tab(5)]}
            await extension.sync(tab(5))
        async with client(server.port) as http:
            agent = Agent(http)
            tabs = (await agent.call("browser_list_tabs"))["tabs"]
            ids = {entry["browser"]: entry["tabId"] for entry in tabs}
            values = {
                name: (await agent.call("browser_execute_script", code="1", tabId=id))["value"]
                for name, id in ids.items()
            }
    assert len({*ids.values()}) == 2
    assert values == {"a": "a", "b": "b"}
    assert seen == [("a", 5), ("b", 5)]


@pytest.mark.requirement("OT-24")
async def test_calls_in_flight_fail_at_once_when_the_link_drops_and_say_what_may_be() -> None:
    async with served() as server, client(server.port) as http:
        async with connected(server.port) as extension:
            await extension.sync(tab(1))
            calls = [
                asyncio.create_task(Agent(http).result("browser_execute_script", code="1", tabId=1))
                for _ in range(3)
            ]
            for _ in calls:
                await extension.next("tool.dispatch")
            extension.socket.transport.abort()
            results = await asyncio.wait_for(asyncio.gather(*calls), 5)
    errors = [result["structuredContent"]["error"] for result in results]
    assert {error["reason"] for error in errors} == {"page_may_have_received"}
    assert all(error["retryable"] for error in errors)


@pytest.mark.requirement("OT-24")
async def test_without_a_browser_a_call_says_that_none_is_connected_and_can_be_tried_again() -> (
    None
):
    async with served() as server, client(server.port) as http:
        with pytest.raises(ToolFailed) as failed:
            await Agent(http).call("browser_list_tabs")
    assert failed.value.reason == "extension_disconnected"
    assert failed.value.error["retryable"] is True


@pytest.mark.requirement("OT-24")
async def test_a_browser_that_comes_back_is_synced_and_nothing_is_there_twice() -> None:
    async with served() as server, client(server.port) as http:
        async with connected(server.port) as extension:
            await extension.sync(tab(1), tab(2))
        async with connected(server.port) as extension:
            await extension.sync(tab(2), tab(3))
            extension.handlers["tabs.list"] = lambda params: {"tabs": [tab(2), tab(3)]}
            listed = (await Agent(http).call("browser_list_tabs"))["tabs"]
            assert sorted(entry["tabId"] for entry in listed) == [2, 3]
            assert len(server.app.tabs) == 2


async def _tabs_after(*changes: dict[str, Any]) -> list[int]:
    async with served() as server, connected(server.port) as extension:
        await extension.sync(tab(1))
        for change in changes:
            assert await extension.ask("tab.stateChanged", change) == {
                "jsonrpc": "2.0",
                "id": "x",
                "result": {},
            }
        return [entry.id for entry in server.app.tabs.all()]


async def test_tabs_that_open_close_and_are_renumbered_are_followed() -> None:
    assert await _tabs_after({"tabId": 2, "state": "opened", "tab": tab(2)}) == [1, 2]
    assert await _tabs_after({"tabId": 1, "state": "closed"}) == []
    assert await _tabs_after({"tabId": 7, "state": "closed"}) == [1]
    assert await _tabs_after({"tabId": 1, "state": "replaced", "replacedBy": 9, "tab": tab(9)}) == [
        1
    ]


@pytest.mark.requirement("TH-41")
async def test_a_reason_from_the_page_reaches_the_agent_and_an_unknown_one_is_internal() -> None:
    def refuse(reason: str) -> Any:
        def answer(params: dict[str, Any]) -> Any:
            raise Refusal(reason, "the button is covered")

        return answer

    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        extension.handlers["page.click"] = refuse("covered_by")
        with pytest.raises(ToolFailed) as failed:
            await Agent(http).call("browser_click_element", ref="ref_1", tabId=1)
        assert failed.value.reason == "covered_by"
        extension.handlers["page.click"] = refuse("because")
        with pytest.raises(ToolFailed) as failed:
            await Agent(http).call("browser_click_element", ref="ref_1", tabId=1)
    assert failed.value.reason == "internal"
    assert "covered" not in failed.value.message


async def _progressing(extension: FakeExtension) -> None:
    dispatch = await extension.next("tool.dispatch")
    id = dispatch["params"]["dispatchId"]
    for step in (1, 2):
        await extension.notify("tool.progress", {"dispatchId": id, "progress": step, "total": 2})
    await extension.send({"id": dispatch["id"], "result": {"output": {"value": 1}}})


@pytest.mark.requirement("OT-04")
async def test_progress_from_the_browser_reaches_the_caller_with_its_token() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        answering = asyncio.create_task(_progressing(extension))
        response = await Agent(http).post(
            "tools/call",
            {
                "name": "browser_execute_script",
                "arguments": {"code": "1", "tabId": 1},
                "_meta": {"progressToken": "mine"},
            },
        )
        await answering
    events = [
        json.loads(line[6:]) for line in response.text.splitlines() if line.startswith("data: ")
    ]
    told = [event["params"] for event in events if event.get("method") == "notifications/progress"]
    assert [(t["progressToken"], t["progress"], t["total"]) for t in told] == [
        ("mine", 1, 2),
        ("mine", 2, 2),
    ]
    assert events[-1]["result"]["structuredContent"] == {"value": 1}


@pytest.mark.requirement("OT-05")
async def test_a_client_that_hangs_up_cancels_the_call_in_the_browser() -> None:
    async with served() as server, connected(server.port) as extension:
        await extension.sync(tab(1))
        async with client(server.port) as http:
            call = asyncio.create_task(
                Agent(http).call("browser_execute_script", code="1", tabId=1)
            )
            dispatch = await extension.next("tool.dispatch")
            call.cancel()
        cancelled = await extension.next("tool.cancel")
    assert cancelled["params"]["dispatchId"] == dispatch["params"]["dispatchId"]


async def test_the_extension_is_told_to_reload_and_503_says_that_none_is_there() -> None:
    async with served() as server, client(server.port) as http:
        missing = await http.post("/extension/reload")
        async with connected(server.port) as extension:
            assert (await http.post("/extension/reload")).json() == {"ok": True}
            await extension.next("extension.reload")
    assert missing.status_code == 503
    assert missing.json()["error"]["reason"] == "extension_disconnected"


async def test_an_answer_to_an_earlier_connection_never_reaches_a_new_call() -> None:
    async with served() as server, client(server.port) as http:
        async with connected(server.port) as extension:
            await extension.sync(tab(1))
            first = asyncio.create_task(
                Agent(http).result("browser_execute_script", code="1", tabId=1)
            )
            old = await extension.next("tool.dispatch")
        await first
        async with connected(server.port) as extension:
            await extension.sync(tab(1))
            second = asyncio.create_task(
                Agent(http).call("browser_execute_script", code="2", tabId=1)
            )
            new = await extension.next("tool.dispatch")
            assert new["params"]["dispatchId"] != old["params"]["dispatchId"]
            await extension.send({"id": old["id"], "result": {"output": {"value": "old"}}})
            await extension.send({"id": new["id"], "result": {"output": {"value": "new"}}})
            assert (await second)["value"] == "new"


@pytest.mark.requirement("TH-41")
@pytest.mark.parametrize(
    "rest", ['"result":{"output":{"value":"\\ud83d"}}}', '"result":7}', '"result":' + "[" * 9000]
)
async def test_an_answer_that_cannot_be_read_fails_its_call_at_once(rest: str) -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        call = asyncio.create_task(Agent(http).call("browser_execute_script", code="1", tabId=1))
        dispatch = await extension.next("tool.dispatch")
        await extension.socket.send(f'{{"jsonrpc":"2.0","id":"{dispatch["id"]}",{rest}')
        with pytest.raises(ToolFailed) as failed:
            await asyncio.wait_for(call, 10)
        assert failed.value.reason == "invalid_response"
        await extension.settled()


async def test_a_list_of_tabs_is_taken_in_the_order_in_which_the_browser_spoke() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        listing = asyncio.create_task(Agent(http).call("browser_list_tabs"))
        dispatch = await extension.next("tool.dispatch")
        await extension.send(
            {"id": dispatch["id"], "result": {"output": {"tabs": [tab(1), tab(2)]}}}
        )
        await extension.ask("tab.stateChanged", {"tabId": 2, "state": "closed"})
        await extension.ask("tab.stateChanged", {"tabId": 3, "state": "opened", "tab": tab(3)})
        assert [entry["tabId"] for entry in (await listing)["tabs"]] == [1, 2]
        assert [entry.id for entry in server.app.tabs.all()] == [1, 3]


async def test_a_replaced_connection_speaks_for_its_profile_no_more() -> None:
    async with served() as server:
        browsers = server.app.browsers
        news = Raw(b'{"tabs": [{"tabId": 9}]}')
        async with connected(server.port, "a") as extension:
            replaced = browsers.get("a").connection
            await extension.sync(tab(1))
            async with connected(server.port, "a") as second:
                browsers.hear("a", replaced, "tab.syncAll", news)
                assert not browsers.get("a").ready
                await second.sync(tab(2))
        browsers.hear("a", replaced, "tab.syncAll", news)
        assert [entry.id for entry in server.app.tabs.all()] == [2]


async def test_coming_back_stops_the_clock_that_would_forget_the_tabs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tabhub.browser.browsers.FORGET_AFTER_SECONDS", 0.05)
    async with served() as server:
        async with connected(server.port) as extension:
            await extension.sync(tab(1))
        async with connected(server.port) as extension:
            await asyncio.sleep(0.1)
            assert len(server.app.tabs) == 1
        while len(server.app.tabs):
            await asyncio.sleep(0.01)


async def test_only_the_links_own_path_is_a_websocket() -> None:
    async with served() as server:
        with pytest.raises(InvalidStatus):
            async with connect(
                f"ws://127.0.0.1:{server.port}/other",
                subprotocols=[Subprotocol("tabhub"), Subprotocol(SECRET)],
            ):
                pass


async def test_a_browser_that_is_not_there_is_named_among_those_that_are() -> None:
    async with served() as server, connected(server.port, "here") as extension:
        await extension.sync(tab(1))
        async with client(server.port) as http:
            with pytest.raises(ToolFailed, match="there is here") as failed:
                await Agent(http).call("browser_open_tab", url="x.org", connectionId="there")
    assert failed.value.reason == "invalid_arguments"


async def test_a_link_with_smaller_messages_says_so_and_refuses_larger_calls() -> None:
    settings = Settings(limits=Limits(ws_bytes=1000))
    async with served(settings) as server, connected(server.port) as extension:
        await extension.sync(tab(1))
        async with client(server.port) as http:
            with pytest.raises(ToolFailed) as failed:
                await Agent(http).call("browser_execute_script", code="x" * 2000, tabId=1)
    assert failed.value.reason == "too_large"


async def test_a_dead_socket_that_nobody_has_noticed_yet_is_no_internal_fault() -> None:
    async def broken(text: str) -> None:
        raise ConnectionResetError

    connection = Connection(broken, lambda sender, method, params: None, 1000)
    with pytest.raises(Unavailable) as refused:
        await connection.dispatch("page.read", {}, 1, _silent)
    assert refused.value.reason == "extension_disconnected"
    connection.close()
    with pytest.raises(Unavailable):
        await connection.dispatch("page.read", {}, 1, _silent)


async def _silent(progress: float, total: float | None, message: str | None) -> None:
    return None
