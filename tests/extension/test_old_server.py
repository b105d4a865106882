"""The current extension in a real browser, with the server of 840a27a and with a newer one."""

import asyncio
import json
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tabhub import __version__
from tabhub.wire import link_versions as versions
from tests.support.browsers.cdp import Cdp
from tests.support.browsers.extension_alone import extension_with
from tests.support.browsers.panel import PANEL, Panel, panel_of
from tests.support.browsers.unpacked import OPTIONS
from tests.support.eventually import PATIENCE, eventually
from tests.support.recorded_link import LINES, SITE, Message, lacks, with_more
from tests.support.scripted_server import ScriptedServer
from tests.support.site import serving

pytestmark = pytest.mark.real_browser
GREETING = LINES[0]["message"]["params"]
UNKNOWN = {"jsonrpc": "2.0", "error": {"code": -32601, "message": "There is no such method."}}
"""The response to a request that only newer servers know."""
NAMED = ("tabId", "documentId", "groupId")
"""Ids that the browser assigns differently each time."""


def _answers() -> dict[str, Message]:
    """The responses of the old server, by the method of the request."""
    methods = {
        line["message"]["id"]: line["message"]["method"]
        for line in LINES
        if line["from"] == "extension" and {"id", "method"} <= line["message"].keys()
    }
    return {
        methods[line["message"]["id"]]: line["message"]
        for line in LINES
        if line["from"] == "server" and line["message"].get("id") in methods
    }


class OldServer(ScriptedServer):
    """Sends the recorded messages and responses."""

    def __init__(self, greeting: Message = GREETING, adds: bool = False) -> None:
        super().__init__(greeting)
        self._adds = adds
        self._recorded = _answers()
        self._names: dict[str, Any] = {}
        """Recorded ids of tabs, documents and groups, with their current ids."""
        self._place = SITE
        self._panel: Panel | None = None

    async def _take(self, message: Message) -> None:
        await super()._take(message)
        if {"id", "method"} <= message.keys():
            answer = self._recorded.get(message["method"], UNKNOWN)
            await self._send({**answer, "id": message["id"]})

    async def _send(self, message: Message) -> None:
        await super()._send(with_more(message) if self._adds else message)

    async def play(self, cdp: Cdp, place: str) -> None:
        """Replay the recorded conversation from its first command on, with a site that is up."""
        self._place = place
        begin = next(
            number for number, line in enumerate(LINES) if _method(line) == "tool.dispatch"
        )
        async with AsyncExitStack() as stack:
            for line in LINES[begin:]:
                if _method(line) == "ping":
                    continue  # the server sends one only every 20 seconds
                if line["message"].get("params", {}).get("state") == "activated":
                    self._panel = await stack.enter_async_context(panel_of(cdp))
                await self._step(line["from"], line["message"])

    async def _step(self, sender: str, recorded: Message) -> None:
        if sender == "extension":
            actual = await self._actual(recorded)
            assert lacks(recorded, actual) is None, (lacks(recorded, actual), recorded, actual)
            self._learn(recorded, actual)
        elif recorded.get("method") == "confirmation.request":
            assert self._panel is not None
            soon = int((time.time() + PATIENCE) * 1000)
            await self._send({**recorded, "params": {**recorded["params"], "expiresAt": soon}})
            await self._panel.click("article button[data-scope=once]")
        elif recorded.get("method") == "state.changed":
            start = len(self.received)
            await self._send(recorded)
            await self.params_of("config.getState", start)
        elif "method" in recorded:
            await self._send(self._renamed(recorded))

    async def _actual(self, recorded: Message) -> Message:
        """The extension's message of this kind, after the action of a person that causes it."""
        method = recorded.get("method")
        if method is None:
            return await self.answer(recorded["id"])
        if recorded["params"].get("open") == 0 and self._panel is not None:
            await self._panel.close()
        expected = {key: recorded["params"].get(key) for key in ("state", "open")}

        def is_like(message: Message) -> bool:
            params = message.get("params", {})
            same = all(params.get(key) == value for key, value in expected.items())
            # A tab is reported several times, and with its group only later.
            return message.get("method") == method and same and not lacks(recorded, message)

        return await self.until(is_like)

    def _renamed(self, message: Message) -> Message:
        text = json.dumps(message).replace(SITE, self._place)
        renamed: Message = json.loads(text, object_hook=self._rename)
        return renamed

    def _rename(self, value: dict[str, Any]) -> dict[str, Any]:
        return {
            key: self._names.get(f"{key} {item}", item) if key in NAMED else item
            for key, item in value.items()
        }

    def _learn(self, recorded: Any, actual: Any) -> None:
        """Remember the current id for each recorded one."""
        if not isinstance(recorded, dict):
            return
        for key, value in recorded.items():
            if key in NAMED:
                self._names.setdefault(f"{key} {value}", actual[key])
            else:
                self._learn(value, actual[key])


def _method(line: dict[str, Any]) -> str:
    method: str = line["message"].get("method", "")
    return method


@pytest.mark.parametrize("adds", [False, True], ids=["as it was", "with unknown members"])
async def test_this_extension_works_with_an_old_server(tmp_path: Path, adds: bool) -> None:
    server = OldServer(adds=adds)
    async with extension_with(server, tmp_path) as cdp:
        recorded = LINES[1]["message"]
        report = await server.until(lambda message: message.get("method") == "tab.syncAll")
        assert lacks(recorded, report) is None, lacks(recorded, report)
        assert server.offered.split(", ")[3] == versions.offered(versions.SERVER)
        await server.until(lambda message: message.get("method") == "config.getState")
        with serving() as site:
            await server.play(cdp, site.url.removeprefix("http://"))


async def version_notice(cdp: Cdp, page: str, id: str) -> str:
    """The text of a paragraph of our page, once it compares versions."""
    code = f"document.querySelector('#{id}')?.textContent"
    found: str = await eventually(
        lambda: cdp.evaluate(page, code),
        until=lambda text: "than the server" in str(text),
    )
    return found


def greeting_of(protocol: int, version: str) -> Message:
    return {**GREETING, "protocol": protocol, "server": {"name": "tabhub", "version": version}}


async def test_the_panel_and_the_options_name_the_part_to_update(tmp_path: Path) -> None:
    server = OldServer(greeting_of(versions.PROTOCOL, "0.0.9"))
    async with extension_with(server, tmp_path) as cdp, panel_of(cdp) as panel:
        assert "pip install -U tabhub" in await version_notice(cdp, panel.target, "mismatch")
        options = await cdp.open(OPTIONS)
        text = await version_notice(cdp, options, "why")
        both = f"protocol {versions.PROTOCOL}"
        assert f"({__version__}, {both}) is newer than the server (0.0.9, {both})" in text
        server.greeting = greeting_of(versions.PROTOCOL, __version__)
        await server.hang_up()
        gone = "document.querySelector('#mismatch').textContent === ''"
        await panel.until(gone, "the notice to go once the server is updated")


async def test_the_extension_does_not_retry_an_incompatible_server_and_shows_why(
    tmp_path: Path,
) -> None:
    server = OldServer(greeting_of(7, "7.0"))
    async with extension_with(server, tmp_path) as cdp:
        await server.until(lambda message: message.get("method") == "config.getState")
        server.refuses_with = versions.INCOMPATIBLE
        await server.hang_up(versions.INCOMPATIBLE)
        options = await cdp.open(OPTIONS)
        text = await version_notice(cdp, options, "why")
        assert "is older than the server (7.0, protocol 7), and the two cannot" in text
        assert "reload it in chrome://extensions" in text
        before = server.connections
        await asyncio.sleep(3)  # an extension that retries does so every second
        assert server.connections <= before + 1, "only the alarm, every half minute, may try"
        panel = await cdp.open(PANEL)
        assert "cannot work together" in await version_notice(cdp, panel, "connection")


async def test_an_extension_disconnects_from_a_server_that_is_too_old(tmp_path: Path) -> None:
    server = OldServer(greeting_of(0, "0.0.1"))
    async with extension_with(server, tmp_path) as cdp:
        assert await server.closed() == versions.INCOMPATIBLE
        text = await version_notice(cdp, await cdp.open(OPTIONS), "why")
        assert "cannot work together. Update tabhub" in text
