"""The extension of 840a27a with today's server: all of its recorded messages still work."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tabhub.config.settings import PermissionSettings, Settings
from tabhub.server.serving import Server
from tests.support.agent import Agent, ToolFailed
from tests.support.eventually import PATIENCE, eventually
from tests.support.recorded_link import LINES, SITE, Message, lacks, with_more
from tests.support.serving import SECRET, client, served

ASKING = Settings(permissions=PermissionSettings(tools={"browser_execute_script": "ask"}))
PAGE = f"http://{SITE}"


class OldExtension:
    """Sends the recorded messages in order, and compares the received ones."""

    def __init__(self, socket: ClientConnection, adds: bool) -> None:
        self._socket = socket
        self._adds = adds
        self._ids: dict[str, str] = {}
        """Ids of the server's requests: recorded and actual."""
        self._early: list[Message] = []
        self.taken: list[str] = []

    async def play(self) -> None:
        for line in LINES:
            if line["from"] == "extension":
                await self._send(line["message"])
            else:
                await self._receive(line["message"])

    async def _send(self, message: Message) -> None:
        renamed = json.loads(self._renamed(json.dumps(message)))
        await self._socket.send(json.dumps(with_more(renamed) if self._adds else renamed))

    def _renamed(self, text: str) -> str:
        for old, new in self._ids.items():
            text = text.replace(json.dumps(old), json.dumps(new))
        return text

    async def _receive(self, recorded: Message) -> None:
        actual = await self._next(recorded)
        assert lacks(recorded, actual) is None, (lacks(recorded, actual), recorded, actual)
        if "method" in recorded and "id" in recorded:
            self._ids[recorded["id"]] = actual["id"]
        if recorded.get("method") == "confirmation.request":
            self._ids[recorded["params"]["id"]] = actual["params"]["id"]
        self.taken.append(_name(actual))

    async def _next(self, expected: Message) -> Message:
        """The first message of this kind; notifications may arrive in another order."""
        while True:
            for message in self._early:
                if _is_like(expected, message):
                    self._early.remove(message)
                    return message
            text = await asyncio.wait_for(self._socket.recv(), PATIENCE)
            self._early.append(json.loads(text))


def _name(message: Message) -> str:
    tool: str = message.get("params", {}).get("tool", "")
    return f"{message.get('method', 'answer')} {tool}".strip()


def _is_like(expected: Message, message: Message) -> bool:
    if "method" in expected:
        return _name(expected) == _name(message)
    return "method" not in message and message["id"] == expected["id"]


@asynccontextmanager
async def old_extension(port: int, adds: bool) -> AsyncIterator[OldExtension]:
    """Connect as the old extension did: with three subprotocols and without a version."""
    offered = [Subprotocol(name) for name in ("tabhub", SECRET, "profile-a")]
    async with connect(f"ws://127.0.0.1:{port}/ws", subprotocols=offered) as socket:
        yield OldExtension(socket, adds)


async def agents_work(server: Server, http: httpx.AsyncClient) -> dict[str, Any]:
    """Make the calls of the recording; results did not show pages then."""
    agent, browsers, tools = Agent(http), server.app.browsers, server.app.hub.tools
    unread = {"observe": "none"}
    await eventually(lambda: any(browser.ready for browser in browsers.all()))
    tab = (await agent.call("browser_open_tab", url=f"{PAGE}/form.html", **unread))["tabId"]
    results: dict[str, Any] = {"tabs": (await agent.call("browser_list_tabs"))["tabs"]}
    results["read"] = await agent.call("browser_read_page", tabId=tab)
    results["click"] = await agent.call("browser_click_element", tabId=tab, selector="button")
    mail = {"selector": "#mail", "text": "ann@example.com"}
    results["typed"] = await agent.call("browser_type_text", tabId=tab, **mail)
    uploads = await agent.call("browser_open_tab", url=f"{PAGE}/upload.html", **unread)
    upload_tab = uploads["tabId"]
    files = [{"name": "a.txt", "data": "aGVsbG8="}]
    upload = {"tabId": upload_tab, "selector": "#one", "files": files}
    results["upload"] = await agent.call("browser_upload_files", **upload)
    await agent.call("browser_close_tab", tabId=upload_tab)
    script = {"tabId": tab, "code": "6 * 7"}
    results["missed"] = await failure(agent.call("browser_execute_script", **script))
    results["nowhere"] = await failure(
        agent.call("browser_click_element", tabId=tab, selector="#nowhere")
    )
    await agent.call("browser_navigate_tab", tabId=tab, url=f"{PAGE}/tools.html", **unread)
    name = "website_tool_site_test_double"
    await eventually(lambda: any(tool.name == name for tool in tools))
    results["page tool"] = await agent.call(name, a=21)
    await eventually(lambda: browsers.has_panel)
    results["approved"] = await agent.call("browser_execute_script", **script)
    await eventually(lambda: not browsers.has_panel)
    await agent.call("browser_close_tab", tabId=tab)
    return results


async def failure(call: Any) -> str:
    with pytest.raises(ToolFailed) as failed:
        await call
    reason: str = failed.value.reason
    return reason


@pytest.mark.parametrize("adds", [False, True], ids=["as it was", "with members of its own"])
async def test_an_old_extension_works_with_this_server(adds: bool) -> None:
    async with (
        served(ASKING) as server,
        client(server.port) as http,
        old_extension(server.port, adds) as extension,
    ):
        working = asyncio.create_task(agents_work(server, http))
        await extension.play()
        results = await working
        mismatch = server.app.browsers.mismatch_of("profile-a")
    assert [entry["title"] for entry in results["tabs"]] == ["New Tab", "Form"]
    assert (results["read"]["title"], results["read"]["nodes"]) == ("Form", 16)
    assert results["click"]["effect"] == {"mutated": True}
    assert results["typed"]["effect"]["value"] == "ann@example.com"
    assert results["upload"]["effect"]["files"] == [{"name": "a.txt", "size": 5}]
    assert (results["missed"], results["nowhere"]) == ("approval_unavailable", "element_not_found")
    assert results["page tool"] == {"doubled": 42, "where": PAGE}
    assert results["approved"] == {"value": 42}
    assert mismatch is not None and not mismatch.is_refused
    assert {"sync.full", "tool.dispatch page.click", "confirmation.closed", "pong"} <= {
        *extension.taken
    }
