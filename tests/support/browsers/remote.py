"""A real browser whose extension is connected to a real node of the proxy, and clients of it."""

import asyncio
import json
import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from tabhub.wire.tunnel import CallingEnd, Closed, TunnelAnswer
from tests.proxy.served import ServedProxy, Side, client, token
from tests.support.browsers.cdp import Cdp
from tests.support.browsers.panel import Panel
from tests.support.browsers.unpacked import Change, browser_with
from tests.support.eventually import PATIENCE, eventually
from tests.support.scripted_server import GREETING

Json = dict[str, Any]


def managed(extension: Path) -> None:
    """Make the extension that of a browser which tabhub started, whose server is gone."""
    pairing = {"port": 1, "secret": "5" * 64, "managed": True}
    (extension / "auth.json").write_text(json.dumps(pairing))


async def configure(cdp: Cdp, proxy: ServedProxy, given: str | None = None) -> None:
    """Give the extension a token, as a person who has confirmed its host."""
    service = {"urls": [proxy.public], "token": given or token()}
    await store(cdp, remoteService=service, remoteEnded=False, remoteRefused="")


async def store(cdp: Cdp, **values: Any) -> None:
    await cdp.in_worker(f"chrome.storage.local.set({json.dumps(values)})")


async def stored(cdp: Cdp, name: str) -> Any:
    return await cdp.in_worker(f"chrome.storage.local.get('{name}').then((kept) => kept.{name})")


async def listed(side: Side) -> list[Json]:
    answer = await side.ask("list", "list_extensions")
    found: list[Json] = answer["result"]["extensions"]
    return found


class RemoteAgent:
    """A client that is connected to the only extension of its user."""

    def __init__(self, side: Side, connection: str) -> None:
        self.side = side
        self.connection = connection
        self._ids = count(1)

    async def answer(self, name: str, /, **params: Any) -> Json:
        return await self.side.ask(next(self._ids), name, params)

    async def call(self, name: str, /, **params: Any) -> Json:
        answer = await self.answer(name, **params)
        assert "result" in answer, answer
        result: Json = answer["result"]
        return result

    async def refusal(self, name: str, /, **params: Any) -> str:
        """The reason word of a call that must fail."""
        answer = await self.answer(name, **params)
        assert "error" in answer, answer
        reason: str = answer["error"]["data"]["reason"]
        return reason

    async def cdp(self, method: str, **params: Any) -> Json:
        return await self.call("forwardCDPCommand", method=method, params=params)

    async def value(self, code: str) -> Any:
        """The value of an expression in the selected tab."""
        found = await self.cdp("Runtime.evaluate", expression=code, returnByValue=True)
        return found["result"].get("value")


@asynccontextmanager
async def remote_agent(proxy: ServedProxy, name: str = "laptop") -> AsyncIterator[RemoteAgent]:
    """A client with this name, connected as soon as the extension is there."""
    async with client(proxy, token(client=name)) as side:
        [extension] = await eventually(lambda: listed(side), "the extension to be there")
        params = {"extension_id": extension["id"]}
        connected = await side.ask("connect", "connect", params)
        yield RemoteAgent(side, connected["result"]["connection_id"])


@asynccontextmanager
async def remote_browser(
    folder: Path, proxy: ServedProxy, change: Change = managed, given: str | None = None
) -> AsyncIterator[Cdp]:
    """A browser that is, or will soon be, connected to the proxy."""
    async with browser_with(folder, change) as cdp:
        # The target is there before the worker's script has run.
        await eventually(lambda: cdp.in_worker("'describeTabState' in self"), "the worker to run")
        await configure(cdp, proxy, given)
        yield cdp


class RemoteServer:
    """A double of a tabhub server whose link to the extension runs in a tunnel."""

    def __init__(self, agent: RemoteAgent) -> None:
        self.received: list[Json] = []
        self.closed: int | None = None
        self.refusal: Json | None = None
        """Why the extension takes no more requests."""
        self._agent = agent
        self._end = CallingEnd(secrets.token_hex(16), time.monotonic, 64 * 1024 * 1024)
        self._requests: dict[str, int] = {}
        self._ids = count(1)

    async def _flush(self) -> None:
        for number, request in self._end.requests():
            id = f"link-{number}"
            self._requests[id] = number
            params = msgspec.to_builtins(request)
            message = {"jsonrpc": "2.0", "id": id, "method": "tabhub.link", "params": params}
            await self._agent.side.send(message)

    async def _take(self) -> None:
        await self._flush()
        message = json.loads(await self._agent.side.connection.recv())
        number = self._requests.pop(str(message.get("id")), None)
        if number is None:
            return
        if "error" in message:
            self.refusal = message["error"]
            return
        answer = msgspec.convert(message["result"], TunnelAnswer)
        for arrived in self._end.answered(number, answer):
            if isinstance(arrived, Closed):
                self.closed = arrived.code
            else:
                self.received.append(json.loads(arrived))
                self.taken(self.received[-1])

    def taken(self, message: Json) -> None:
        """Called with each message that has come."""

    async def until(self, fits: Callable[[Json], object]) -> Json:
        """The first message that fits."""
        async with asyncio.timeout(PATIENCE):
            while True:
                found = next((each for each in self.received if fits(each)), None)
                if found is not None:
                    return found
                await self._take()
                assert self.refusal is None, self.refusal

    async def until_closed(self) -> int | None:
        """The code; None if a request was refused before the end could be told."""
        async with asyncio.timeout(PATIENCE):
            while self.closed is None and self.refusal is None:
                await self._take()
        return self.closed

    def greet(self, **more: Any) -> None:
        self.notify("sync.full", {**GREETING, **more})

    async def leave(self) -> None:
        self._end.close(1000)
        await self._flush()

    def notify(self, method: str, params: Json) -> None:
        self._end.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}))

    def start(self, method: str, params: Json) -> int:
        """Send a request; its answer is that to the returned id."""
        id = next(self._ids)
        message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        self._end.send(json.dumps(message))
        return id

    async def answer_to(self, id: int) -> Json:
        return await self.until(lambda each: each.get("id") == id and "method" not in each)

    def answer(self, id: object, result: Json) -> None:
        self._end.send(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}))

    async def run(
        self, tool: str, tab: int | None = None, plugin: str = "browser", **input: Any
    ) -> Json:
        """The answer to a command, or to the tool of a plugin."""
        dispatch = {"plugin": plugin, "tool": tool, "input": input, "tabId": tab}
        params = {**dispatch, "dispatchId": str(next(self._ids))}
        return await self.answer_to(self.start("tool.dispatch", params))


def reason_of(answer: Json) -> str:
    reason: str = answer["error"]["data"]["reason"]
    return reason


@asynccontextmanager
async def page_of(cdp: Cdp, url: str) -> AsyncIterator[Panel]:
    target = await cdp.open(url)
    attached = await cdp.send("Target.attachToTarget", targetId=target, flatten=True)
    page = Panel(cdp, attached["sessionId"], target)
    yield page
    await page.close()


async def choose(panel: Panel, client: str, level: str) -> None:
    """Choose a level with the keyboard, as a person does."""
    row = f"document.querySelector('li[data-client={client}]')"
    select = f"{row}?.querySelector('[data-action=remote-level]')"
    await panel.until(f"{select}?.disabled === false", "the choice")
    # Leaving it ends the word that its last key began.
    await panel.value(f"document.activeElement.blur(), {select}.focus()")
    await panel.key(level[0])
    chosen = "" if level == "nothing" else level
    # The worker says it again once it holds.
    await panel.until(f"{row}?.dataset.level === '{chosen}'", level)


async def fill(page: Panel, **values: str) -> None:
    """Fill in the form for a service and submit it."""
    await page.until("document.querySelector('#remote-state')?.innerText.length > 1", "the state")
    form = "document.querySelector('#remote')"
    await page.value(f"{form}.reset()")
    for name, value in values.items():
        await page.value(f"{form}.elements.{name}.value = {json.dumps(value)}")
    await page.click("#remote [data-action=service-read]")
    problem = "document.querySelector('#remote-problem').innerText"
    await page.until(f"!document.querySelector('#remote-confirm').hidden || {problem}", "an answer")
