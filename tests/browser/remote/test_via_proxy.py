"""A server whose browsers are elsewhere: a real node of the proxy, and doubles of extensions."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tabhub.browser.remote.proxy_access import access_of
from tabhub.config.settings import PermissionSettings, Settings
from tabhub.errors import Forbidden
from tabhub.server.serving import Server
from tests.proxy.answering_end import AnsweringEnd
from tests.proxy.served import SECRET, ServedProxy, token
from tests.proxy.served import served as proxy_served
from tests.support.agent import Agent, ToolFailed
from tests.support.approvals import question, respond
from tests.support.browsers.extension import FakeExtension, connected, tab
from tests.support.browsers.tunnelled import TunnelledExtension, tunnelled
from tests.support.eventually import PATIENCE, eventually
from tests.support.serving import client, served

pytestmark = pytest.mark.requirement("PX-08")


@pytest.fixture
async def proxy() -> AsyncIterator[ServedProxy]:
    async with proxy_served() as found:
        yield found


def token_file(folder: Path, given: str | None = None) -> Path:
    path = folder / "token"
    path.touch(mode=0o600)
    path.write_text(f"{given or token(client='far server')}\n")
    return path


@asynccontextmanager
async def far_server(
    folder: Path, *urls: str, settings: Settings | None = None, given: str | None = None
) -> AsyncIterator[Server]:
    """A server that uses the browsers of a proxy."""
    access = access_of(",".join(urls), token_file(folder, given))
    settings = settings or Settings()
    # Connecting again takes a while on a busy machine.
    settings.limits.call_seconds = PATIENCE
    async with served(settings, via_proxy=access) as server:
        yield server


@asynccontextmanager
async def linked(
    folder: Path, proxy: ServedProxy, kind: str = "managed", settings: Settings | None = None
) -> AsyncIterator[tuple[Agent, TunnelledExtension, FakeExtension]]:
    """An agent of a far server, and a browser that has reported one tab."""
    async with (
        tunnelled(proxy) as far,
        far_server(folder, proxy.public, settings=settings) as server,
        client(server.port) as http,
    ):
        link = await far.link()
        await link.sync(tab(1), shared=False, kind=kind)
        yield Agent(http), far, link


def reported(server: Server) -> dict[str, Any]:
    """What `/health` says about the proxy."""
    return server.app.report.proxy() or {}


async def opened(agent: Agent, link: FakeExtension, id: int = 7) -> None:
    """Give the agent a tab of its own."""
    link.handlers["tabs.open"] = lambda params: tab(id, status="complete")
    await agent.call("browser_open_tab", url=f"https://example.com/{id}")


def evaluated(link: FakeExtension) -> list[str]:
    """Answer scripts; the list gets every one that was run."""
    done: list[str] = []

    def run(params: dict[str, Any]) -> Any:
        done.append(params["input"]["code"])
        return {"value": len(done)}

    link.handlers["page.evaluate"] = run
    return done


async def test_a_call_reaches_a_browser_elsewhere(tmp_path: Path, proxy: ServedProxy) -> None:
    async with linked(tmp_path, proxy) as (agent, _, link):
        await opened(agent, link)
        done = evaluated(link)
        assert (await agent.call("browser_execute_script", code="1 + 1"))["value"] == 1
        assert len(done) == 1


async def test_its_person_has_set_the_limits_so_nobody_is_asked_here(
    tmp_path: Path, proxy: ServedProxy
) -> None:
    async with linked(tmp_path, proxy, kind="personal") as (agent, _, link):
        await opened(agent, link)
        evaluated(link)
        assert (await agent.call("browser_execute_script", code="1"))["value"] == 1


async def test_its_persons_tabs_can_be_used_as_far_as_the_fence_lets_a_client(
    tmp_path: Path, proxy: ServedProxy
) -> None:
    async with linked(tmp_path, proxy, kind="personal") as (agent, _, link):
        evaluated(link)
        assert (await agent.call("browser_execute_script", code="1", tabId=1))["value"] == 1


async def test_a_written_rule_of_the_far_server_still_counts(
    tmp_path: Path, proxy: ServedProxy
) -> None:
    rules = PermissionSettings(tools={"browser_execute_script": "off"})
    settings = Settings(permissions=rules)
    async with linked(tmp_path, proxy, "personal", settings) as (agent, _, link):
        await opened(agent, link)
        done = evaluated(link)
        with pytest.raises(ToolFailed) as refused:
            await agent.call("browser_execute_script", code="1")
        assert refused.value.reason in ("permission_off", "unknown_tool")
        assert done == []


ASKING = Settings(permissions=PermissionSettings(tools={"browser_execute_script": "ask"}))


async def test_where_nobody_can_be_asked_a_call_fails_at_once_and_says_what_helps(
    tmp_path: Path, proxy: ServedProxy
) -> None:
    async with linked(tmp_path, proxy, "personal", ASKING) as (agent, far, link):
        await opened(agent, link)
        done = evaluated(link)
        with pytest.raises(ToolFailed) as refused:
            await agent.call("browser_execute_script", code="1")
        assert refused.value.reason == "approval_unavailable"
        assert "through the proxy" in str(refused.value)
        assert "tabhub permissions set browser_execute_script auto" in str(refused.value)
        await link.settled()
        assert "confirmation.missed" not in [message.get("method") for message in far.said()]
        assert done == []


async def test_a_person_at_the_far_server_is_asked_about_a_browser_elsewhere(
    tmp_path: Path, proxy: ServedProxy
) -> None:
    async with (
        tunnelled(proxy) as far,
        far_server(tmp_path, proxy.public, settings=ASKING) as server,
        connected(server.port) as local,
        client(server.port) as http,
    ):
        link = await far.link()
        await link.sync(tab(1), shared=False, kind="personal")
        await local.sync(kind="personal")
        await local.notify("panel.changed", {"open": 1})
        evaluated(link)
        call = asyncio.create_task(Agent(http).call("browser_execute_script", code="1", tabId=1))
        asked = await question(local)
        assert asked["tool"] == "browser_execute_script"
        assert await respond(local, asked["id"], "allow")
        assert (await call)["value"] == 1


async def test_what_concerns_the_far_server_is_not_taken_from_a_browser_elsewhere(
    tmp_path: Path, proxy: ServedProxy
) -> None:
    async with linked(tmp_path, proxy) as (agent, far, link):
        for method in ("config.getState", "agents.stop", "plugin.list"):
            answer = await link.ask(method, {})
            assert answer["error"]["data"]["reason"] == "method_not_found", method
        await link.notify("panel.changed", {"open": 1})
        await opened(agent, link)
        evaluated(link)
        await agent.call("browser_execute_script", code="1")
        await link.settled()
        methods = {message["method"] for message in far.said() if "method" in message}
        assert methods == {"sync.full", "tool.dispatch", "pong"}


def dispatched(far: TunnelledExtension, tool: str) -> int:
    """How often a command has come."""
    return sum(message.get("params", {}).get("tool") == tool for message in far.said())


async def test_the_extension_of_a_browser_elsewhere_is_not_restarted(
    tmp_path: Path, proxy: ServedProxy
) -> None:
    async with (
        tunnelled(proxy) as far,
        far_server(tmp_path, proxy.public) as server,
        connected(server.port) as local,
    ):
        link = await far.link()
        await link.sync(tab(1), shared=False)
        assert server.app.browsers.reload_extensions() == 1
        await local.next("extension.reload")
        await link.settled()
        assert "extension.reload" not in [message.get("method") for message in far.said()]


async def test_a_call_goes_on_after_the_browser_was_away_and_is_done_once(
    tmp_path: Path, proxy: ServedProxy
) -> None:
    async with linked(tmp_path, proxy) as (agent, far, link):
        await opened(agent, link)
        call = asyncio.create_task(agent.call("browser_execute_script", code="click()"))
        dispatch = await link.command("page.evaluate")
        await far.disconnect()
        await link.send({"id": dispatch["id"], "result": {"output": {"value": "clicked"}}})
        assert (await call)["value"] == "clicked"
        await link.settled()
        assert dispatched(far, "page.evaluate") == 1
        assert len(far.tunnels.sessions) == 1


async def test_a_call_goes_on_when_its_node_is_gone_and_another_one_has_both_sides(
    tmp_path: Path, proxy: ServedProxy
) -> None:
    async with proxy_served() as first, tunnelled(first) as far:
        async with (
            far_server(tmp_path, first.public, proxy.public) as server,
            client(server.port) as http,
        ):
            agent, link = Agent(http), await far.link()
            await link.sync(tab(1), shared=False)
            await opened(agent, link)
            call = asyncio.create_task(agent.call("browser_execute_script", code="click()"))
            dispatch = await link.command("page.evaluate")
            far.proxy = proxy
            await first.server.stop()
            await link.send({"id": dispatch["id"], "result": {"output": {"value": 5}}})
            assert (await call)["value"] == 5
            assert dispatched(far, "page.evaluate") == 1
            assert {params["session"] for params in far.requests} == set(far.tunnels.sessions)


async def test_a_call_whose_session_is_lost_says_that_the_page_may_have_received_it(
    tmp_path: Path, proxy: ServedProxy
) -> None:
    async with linked(tmp_path, proxy) as (agent, far, link):
        await opened(agent, link)
        call = asyncio.create_task(agent.call("browser_execute_script", code="click()"))
        await link.command("page.evaluate")
        # The worker of the extension was stopped.
        far.tunnels.sessions.clear()
        await far.disconnect()
        with pytest.raises(ToolFailed) as failed:
            await call
        assert failed.value.reason == "page_may_have_received"
        again = await far.link()
        await again.sync(tab(1), tab(7), shared=False)
        done = evaluated(again)
        assert (await agent.call("browser_execute_script", tabId=7, code="2"))["value"] == 1
        assert len(done) == 1


BROKEN: dict[str, dict[str, Any]] = {
    "acknowledged before sent": {"result": {"ack": 10**6, "pieces": []}},
    "no numbers": {"result": {"ack": -1, "pieces": [{"number": "x"}]}},
    "no answer": {"result": 5},
    "session forgotten": {
        "error": {"code": -32000, "message": "?", "data": {"reason": "unknown_session"}}
    },
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN.keys())
async def test_a_broken_answer_ends_that_session_only(
    tmp_path: Path, proxy: ServedProxy, broken: dict[str, Any]
) -> None:
    async with linked(tmp_path, proxy) as (agent, far, link), tunnelled(proxy, "other") as other:
        undisturbed = await other.link()
        await undisturbed.sync(tab(3), shared=False)
        far.broken = broken
        await link.notify("ping", {})
        again = await far.link()
        await again.sync(tab(1), shared=False)
        await opened(agent, again)
        await undisturbed.settled()
        assert len(other.tunnels.sessions) == 1


SLIPPED: dict[str, dict[str, Any]] = {
    "a gap": {"result": {"ack": 0, "pieces": [{"number": 1000, "text": "{}"}]}},
    "neither result nor error": {},
    "a piece refused": {
        "error": {"code": -32000, "message": "?", "data": {"reason": "missing_piece"}}
    },
}


@pytest.mark.parametrize("slip", SLIPPED.values(), ids=SLIPPED.keys())
async def test_after_a_lost_piece_the_same_session_goes_on(
    tmp_path: Path, proxy: ServedProxy, slip: dict[str, Any]
) -> None:
    async with linked(tmp_path, proxy) as (agent, far, link):
        await opened(agent, link)
        far.broken = slip
        done = evaluated(link)
        assert (await agent.call("browser_execute_script", code="once"))["value"] == 1
        assert len(done) == 1
        assert max(params["turn"] for params in far.requests) > 1
        assert len(far.tunnels.sessions) == 1


async def test_a_large_result_comes_in_pieces(tmp_path: Path, proxy: ServedProxy) -> None:
    async with linked(tmp_path, proxy) as (agent, _, link):
        await opened(agent, link)
        text = 'é\\"x' * 500_000
        link.handlers["page.evaluate"] = lambda params: {"value": text}
        found = await agent.call("browser_execute_script", code="long")
        assert found["value"] == text


async def test_two_browsers_have_a_link_each(tmp_path: Path, proxy: ServedProxy) -> None:
    async with tunnelled(proxy, "a") as one, far_server(tmp_path, proxy.public) as server:
        await (await one.link()).sync(tab(1), shared=False)
        async with tunnelled(proxy, "b") as two:
            await (await two.link()).sync(tab(2), shared=False)
            assert [browser.is_remote for browser in server.app.browsers.all()] == [True, True]
            states = [each["state"] for each in reported(server)["browsers"]]
            assert states == ["connected", "connected"]


async def test_a_file_is_uploaded_by_its_bytes(tmp_path: Path, proxy: ServedProxy) -> None:
    async with linked(tmp_path, proxy) as (agent, _, link):
        await opened(agent, link)
        call = asyncio.create_task(
            agent.call(
                "browser_upload_files",
                selector="input",
                files=[{"name": "a.txt", "data": "aGVsbG8="}],
            )
        )
        dispatch = await link.command("page.upload")
        [file] = dispatch["params"]["input"]["files"]
        assert "path" not in file
        asked = {"dispatchId": dispatch["params"]["dispatchId"], "index": 0, "offset": 0}
        assert (await link.ask("files.read", asked))["result"] == {"data": "aGVsbG8="}
        call.cancel()


async def test_another_address_is_tried_when_the_first_does_not_answer(
    tmp_path: Path, proxy: ServedProxy
) -> None:
    async with (
        tunnelled(proxy) as far,
        far_server(tmp_path, "ws://127.0.0.1:1", proxy.public) as server,
    ):
        await (await far.link()).sync(tab(1), shared=False)
        assert len(server.app.browsers.all()) == 1


async def test_a_refused_token_is_reported_and_another_one_in_the_file_is_taken(
    tmp_path: Path, proxy: ServedProxy, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "tabhub")
    bad, good = token("eve", aud="x", connection_url="https://other.example"), token()
    async with (
        tunnelled(proxy) as far,
        far_server(tmp_path, proxy.public, given=bad) as server,
    ):
        await eventually(lambda: "Authentication failed" in reported(server).get("problem", ""))
        token_file(tmp_path, good)
        await (await far.link()).sync(tab(1), shared=False)
        await eventually(lambda: reported(server)["connected"])
        assert "problem" not in reported(server)
    assert bad not in caplog.text
    assert good not in caplog.text


async def test_a_revoked_token_ends_the_link_at_once(tmp_path: Path, proxy: ServedProxy) -> None:
    async with linked(tmp_path, proxy) as (agent, _, link):
        await opened(agent, link)
        async with proxy.http(SECRET.decode()) as http:
            done = await http.post(f"{proxy.admin}/revoke", json={"user_id": "ann"})
            assert done.status_code == 200

        async def fault() -> str:
            try:
                await agent.call("browser_list_windows")
            except ToolFailed as failed:
                return str(failed)
            return ""

        await eventually(fault, until=lambda words: "no longer takes the token" in words)


async def test_a_client_that_is_not_allowed_stays_connected_until_it_is(
    tmp_path: Path, proxy: ServedProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tabhub.browser.remote.remote_browsers.ASK_SECONDS", 0.05)
    connections: list[str] = []
    async with tunnelled(proxy) as far:
        allow = far.tunnels.on_open

        def refuse(session: AnsweringEnd) -> None:
            connections.append(session.connection)
            raise Forbidden("Not\n\x1b[31mallowed.", "permission_off")

        far.tunnels.on_open = refuse
        async with far_server(tmp_path, proxy.public) as server:

            def refused() -> bool:
                browsers = reported(server)["browsers"]
                # What an extension says becomes one line without control characters.
                return [each.get("problem") for each in browsers] == ["Not [31mallowed."]

            await eventually(refused)
            await eventually(lambda: len(connections) > 3)
            assert len(set(connections)) == 1
            async with client(server.port) as http:
                with pytest.raises(ToolFailed, match="Through the proxy: Not"):
                    await Agent(http).call("browser_list_tabs")
            far.tunnels.on_open = allow
            await (await far.link()).sync(tab(1), shared=False)
