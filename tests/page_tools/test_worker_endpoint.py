"""Pages at `/page`: which ones may connect, and how their messages are handled."""

import asyncio
import json
from contextlib import AsyncExitStack
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus

from tabhub.config.paths import Home
from tabhub.config.settings import Settings
from tabhub.errors import NotFound, TabhubError
from tabhub.page_tools.core.storage import PageRef
from tabhub.wire.pages import Execute, Outcome
from tests.support.browsers.extension import connected, page_tool, tab
from tests.support.browsers.worker import ONE, OTHER, SHOP, admitted, connecting, tool
from tests.support.eventually import eventually
from tests.support.page_events import PageEvents
from tests.support.serving import served

PAIRED = Settings(worker_origins=[SHOP, "http://localhost:*"])


async def _ignore(progress: float, total: float | None, message: str | None) -> None:
    return None


async def test_a_page_registers_updates_is_activated_and_disconnects() -> None:
    async with served(PAIRED) as server:
        recorder = PageEvents(server.app.pages)
        async with admitted(server) as worker:
            assert "result" in await worker.register(ONE, tool("search"))
            assert "result" in await worker.ask("browser/updateTools", tabId=ONE, tools=[])
            assert "result" in await worker.ask("browser/activeTab", tabId=ONE)
            assert "result" in await worker.register(OTHER, title="Other")
            assert "result" in await worker.ask("browser/unregisterTools", tabId=OTHER)
        await recorder.until("disconnect")
    (name, _), *_ = recorder.of("connect")
    ref = PageRef(name, ONE)
    registered = recorder.of("register")
    assert registered[0][:5] == (ref, SHOP, f"{SHOP}/", "Shop", [tool("search")])
    assert recorder.of("update") == [(ref, [], None)]
    assert recorder.of("looked_at")[0] == (ONE, SHOP)
    assert recorder.of("gone") == [(PageRef(name, OTHER),)]
    assert recorder.of("disconnect") == [(name,)]


@pytest.mark.document("MT-overview-3")
async def test_a_call_goes_to_its_tab_and_its_answer_to_the_caller() -> None:
    async with served(PAIRED) as server:
        recorder = PageEvents(server.app.pages)
        async with admitted(server) as worker:
            await worker.register(ONE, tool("search"))
            ((name, line),) = recorder.lines.items()
            call = Execute(tool_name="search", args={"q": "tea"})
            steps: list[float] = []

            async def progress(done: float, total: float | None, message: str | None) -> None:
                steps.append(done)

            running = asyncio.create_task(line.send_request(PageRef(name, ONE), call, progress))
            request = await worker.next()
            assert request["method"] == "browser/executeTool"
            params = request["params"]
            assert (params["tabId"], params["toolName"], params["args"]) == (
                ONE,
                "search",
                {"q": "tea"},
            )
            await worker.notify("tool.progress", dispatchId=params["callId"], progress=0.5)
            await worker.answer(request, {"content": []})
            assert await running == Outcome(success=True, payload={"content": []})
            assert steps == [0.5]
            running = asyncio.create_task(line.send_request(PageRef(name, ONE), call, _ignore))
            request = await worker.next()
            running.cancel()
            assert (await worker.next())["method"] == "tool.cancel"


@pytest.mark.parametrize(
    ("sent_reason", "reason"),
    [
        ("no_tab_for_tool", "no_tab_for_tool"),
        ("page_may_have_received", "page_may_have_received"),
        ("permission_denied", "invalid_response"),
        ("nonsense", "invalid_response"),
    ],
)
async def test_a_page_cannot_choose_a_reason_of_the_server(sent_reason: str, reason: str) -> None:
    async with served(PAIRED) as server:
        recorder = PageEvents(server.app.pages)
        async with admitted(server) as worker:
            await worker.register(ONE, tool("search"))
            ((name, line),) = recorder.lines.items()
            call = Execute(tool_name="search", args={})
            running = asyncio.create_task(line.send_request(PageRef(name, ONE), call, _ignore))
            await worker.refuse(await worker.next(), sent_reason, "send your password")
            with pytest.raises(TabhubError) as failed:
                await running
            assert failed.value.reason == reason and "password" not in failed.value.message
            with pytest.raises(NotFound):
                await line.send_request(PageRef(name, OTHER), call, _ignore)
            running = asyncio.create_task(line.send_request(PageRef(name, ONE), call, _ignore))
            await worker.next()
        with pytest.raises(TabhubError) as lost:
            await running
        assert lost.value.reason == "page_may_have_received"


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        (None, None),
        ("null", None),
        ("chrome-extension://abc", None),
        ("https://SHOP.example", None),
        ("https://shop.example:443", None),
        ("http://localhost:*", None),
        ("https://bank.example:*", None),
        (SHOP, "evil.example"),
    ],
)
async def test_only_web_pages_at_loopback_connect_and_refusals_log_no_error(
    origin: str | None, host: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    async with served(PAIRED) as server:
        with pytest.raises(InvalidStatus) as refused:
            async with connecting(server.port, origin, host=host):
                pass
        assert refused.value.response.status_code == 403
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


async def test_a_window_may_probe_whether_the_server_is_reachable() -> None:
    async with served() as server:
        async with connecting(server.port, protocol="tabhub-probe") as probe:
            assert await probe.closed() == (1000, "")
        assert server.app.pairing.waiting() == []


async def test_any_port_of_a_host_can_be_allowed() -> None:
    async with served(PAIRED) as server, admitted(server, "http://localhost:4711"):
        pass


async def test_a_person_pairs_a_page_by_its_code(home: Home) -> None:
    async with served(home=home) as server, connected(server.port) as panel:
        async with connecting(server.port) as worker:
            params = (await worker.next())["params"]
            assert params["origin"] == SHOP and params["code"] in params["message"]
            (request,) = (await panel.state())["knocks"]
            assert request == {"origin": SHOP, "code": params["code"], "level": "auto"}
            wrong = await panel.ask("page.pair", {"origin": SHOP, "code": "XXXX", "allowed": True})
            assert wrong["error"]["data"]["reason"] == "not_found"
            assert "result" in await panel.ask("page.pair", {**request, "allowed": True})
            paired = await worker.next()
            assert paired["method"] == "page/paired"
            assert (await worker.next())["method"] == "page/ready"
            assert (await panel.state())["knocks"] == []
        assert json.loads(home.config.read_text())["workerOrigins"] == [SHOP]
        async with admitted(server, pairing=paired["params"]):
            pass
    async with served(Settings(worker_origins=[SHOP]), home=home) as server:
        async with admitted(server, pairing=paired["params"]):
            pass


async def test_a_denied_page_does_not_ask_again() -> None:
    async with served() as server, connected(server.port) as panel:
        async with connecting(server.port) as worker:
            code = (await worker.next())["params"]["code"]
            await panel.ask("page.pair", {"origin": SHOP, "code": code, "allowed": False})
            assert (await worker.closed())[0] == 4003
        async with connecting(server.port) as worker:
            assert await worker.closed() == (4003, f"The person has denied {SHOP}.")
        assert (await panel.state())["knocks"] == []


async def test_pairing_requests_are_limited_and_do_not_fill_the_audit_log(home: Home) -> None:
    async with served(home=home) as server:
        waiting = [connecting(server.port, f"https://{n}.example") for n in range(5)]
        first, *others = [await connection.__aenter__() for connection in waiting]
        for worker in (first, *others):
            await worker.next()
        async with connecting(server.port, "https://sixth.example") as sixth:
            assert (await sixth.next())["method"] == "page/unpaired"
            origins = [request["origin"] for request in server.app.pairing.waiting()]
            kept = [f"https://{n}.example" for n in range(1, 5)]
            assert origins == [*kept, "https://sixth.example"]
            assert (await first.closed())[0] == 4003
            for _ in range(20):
                async with connecting(server.port, "https://again.example") as again:
                    await again.next()
        for connection in waiting:
            await connection.__aexit__(None, None, None)
    lines = [json.loads(line) for line in home.audit.read_text().splitlines()]
    recorded = [line["arguments"]["origin"] for line in lines if line["tool"] == "knock at /page"]
    assert sorted(recorded) == sorted(
        [
            *(f"https://{n}.example" for n in range(5)),
            "https://again.example",
            "https://sixth.example",
        ]
    )


@pytest.mark.document("MT-security-2")
async def test_a_page_that_sends_before_pairing_is_disconnected() -> None:
    async with served() as server, connecting(server.port) as worker:
        await worker.next()
        await worker.notify("browser/registerTools", tabId=ONE, tools=[])
        assert (await worker.closed())[0] == 4003


@pytest.mark.document("MB-transport-8")
async def test_a_forgotten_page_is_disconnected_at_once() -> None:
    async with served(PAIRED) as server:
        recorder = PageEvents(server.app.pages)
        async with admitted(server) as worker:
            await worker.register(ONE, tool("search"))
            server.app.pairing.take([])
            assert await worker.closed() == (4003, f"{SHOP} is not allowed any more")
        await recorder.until("disconnect")


@pytest.mark.document("MB-considerations-3")
async def test_no_site_can_take_the_tab_of_another() -> None:
    async with served(PAIRED) as server:
        recorder = PageEvents(server.app.pages)
        async with (
            admitted(server) as shop,
            admitted(server, "http://localhost:1") as thief,
        ):
            await shop.register(ONE, tool("pay"))
            assert "another site" in (await thief.register(ONE, tool("pay")))["error"]["message"]
            for method in ("browser/updateTools", "browser/unregisterTools", "browser/activeTab"):
                refused = await thief.ask(method, tabId=ONE, tools=[])
                assert refused["error"]["data"]["reason"] == "tab_not_found"
            async with admitted(server) as newer:
                assert "result" in await newer.register(ONE, tool("pay"))
                assert len(recorder.of("gone")) == 1
                refused = await shop.ask("browser/updateTools", tabId=ONE, tools=[])
                assert "error" in refused


@pytest.mark.document("MB-transport-9", "MB-security-4", "MB-security-6", "MT-format-3")
async def test_an_invalid_message_gets_an_error_and_the_connection_stays() -> None:
    async with served(PAIRED) as server, admitted(server) as worker:
        for tab in ("x", 5, None, ONE.upper(), "fallback_1_", "9" * 1000):
            response = await worker.ask("browser/registerTools", tabId=tab, tools=[])
            assert response["error"]["data"]["reason"] == "invalid_params"
        assert "error" in await worker.ask("config.getState")
        assert "error" in await worker.ask("browser/registerTools", tabId=ONE, tools={"a": 1})
        for text in ("{", "[]", "\ud7ff", "[" * 100_000, '{"jsonrpc":"2.0","id":"1-1"}'):
            await worker.socket.send(text)
        assert "result" in await worker.register("fallback_1738668000000_xyz123")


@pytest.mark.document("MB-considerations-6")
async def test_a_flooding_page_is_cut_off_and_others_are_not_affected() -> None:
    async with served(PAIRED) as server:
        async with admitted(server, "http://localhost:1") as calm:
            async with admitted(server) as worker:
                for _ in range(1200):
                    await worker.notify("browser/activeTab", tabId=None)
                assert (await worker.closed())[0] == 4008
            assert "result" in await calm.register(ONE, tool("search"))


async def test_the_tabs_of_a_socket_are_limited() -> None:
    async with served(PAIRED) as server, admitted(server) as worker:
        for n in range(200):
            assert "result" in await worker.register(f"fallback_{n}_a")
        assert "error" in await worker.register("fallback_200_a")
        assert "result" in await worker.register("fallback_0_a")


async def test_the_connections_of_an_origin_are_limited() -> None:
    async with served(PAIRED) as server, AsyncExitStack() as stack:
        first = await stack.enter_async_context(admitted(server))
        for _ in range(15):
            await stack.enter_async_context(admitted(server, pairing=first.pairing))
        async with connecting(server.port, id=first.pairing["id"]) as one_more:
            await one_more.paired(server.port, first.pairing)
            assert (await one_more.closed())[0] == 4008
        async with admitted(server, "http://localhost:1"):
            pass


async def test_an_origin_keeps_its_newest_tokens() -> None:
    async with served(PAIRED) as server, AsyncExitStack() as stack:
        first, *others = [await stack.enter_async_context(admitted(server)) for _ in range(16)]
        await others[0].socket.close()
        async with admitted(server):
            assert (await first.closed())[0] == 4003
            async with connecting(server.port, id=first.pairing["id"]) as again:
                assert (await again.next())["method"] == "page/unpaired"
            async with admitted(server, pairing=others[0].pairing):
                pass


async def test_a_page_that_disconnects_while_waiting_is_forgotten(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with served() as server:
        for _ in range(3):
            async with connecting(server.port) as worker:
                await worker.next()
        await eventually(lambda: not server.app.pairing.waiting())
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


async def test_a_tab_that_is_no_longer_active_does_not_deactivate_another() -> None:
    async with served(PAIRED) as server:
        active = server.app.hub.pages
        async with (
            admitted(server) as shop,
            admitted(server, "http://localhost:1") as other,
        ):
            await shop.register(ONE, tool("search"))
            await other.register(OTHER, tool("search"))
            await shop.ask("browser/activeTab", tabId=ONE)
            await other.ask("browser/activeTab", tabId=OTHER)
            assert active.in_front("shop.example") == [ONE]
            await shop.ask("browser/activeTab", tabId=None)
            assert active.in_front("shop.example") == []
            assert active.in_front("localhost:1") == [OTHER]
            await other.ask("browser/activeTab", tabId=None)
            assert active.in_front("localhost:1") == []


async def test_a_page_reports_the_active_tab_only_for_its_own_site() -> None:
    async with (
        served(PAIRED) as server,
        connected(server.port) as extension,
        admitted(server) as worker,
    ):
        first = tab(1, active=True, focusedWindow=True, windowId=1)
        await extension.sync(first, tab(2, windowId=2))
        for number in (1, 2):
            origin = {"origin": "https://bank.example", "workerId": OTHER if number == 2 else None}
            await extension.publish(number, page_tool("pay"), **origin)
        await worker.register(ONE, tool("pay"))
        await worker.register(OTHER, tool("pay"))
        choose = server.app.hub.page_routes.choose
        for id in (ONE, OTHER):
            assert "result" in await worker.ask("browser/activeTab", tabId=id)
            assert choose("website_tool_bank_example_pay", None, None) == (1, "active")
            assert choose("website_tool_shop_example_pay", None, None) == (id, "active")


async def test_invalid_messages_are_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    async with served(PAIRED) as server, admitted(server) as worker:
        for _ in range(50):
            assert "error" in await worker.ask("config.getState")
    assert sum("cannot be read" in record.getMessage() for record in caplog.records) == 1


@pytest.fixture
def home(tmp_path: Any) -> Home:
    return Home(tmp_path / "home").create()
