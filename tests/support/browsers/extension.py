"""A double of the extension: connects to the server and answers commands as a test defines."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from tabhub.tools.acting.observing import DEPTH, PAGE_TOKENS
from tabhub.tools.reports import CHARS_PER_TOKEN
from tabhub.wire import link_versions as versions
from tests.support.command_outputs import completed
from tests.support.eventually import PATIENCE
from tests.support.serving import SECRET

Handler = Callable[[dict[str, Any]], Any]


def tab(id: int, **more: Any) -> dict[str, Any]:
    return {"tabId": id, "url": f"https://example.com/{id}", "title": f"Tab {id}", **more}


class Refusal(Exception):
    """Raised by a handler to answer with an error."""

    def __init__(
        self, reason: str, message: str = "no", data: dict[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        details = {"reason": reason, **(data or {})}
        self.wire = {"code": -32000, "message": message, "data": details}


def _is_look(message: dict[str, Any]) -> bool:
    """Whether a tool only wants to show the page that it has opened; without an answer it waits."""
    params = message["params"] if _names(message, "page.read") else {}
    look = {"filter": "all", "depth": DEPTH, "maxChars": PAGE_TOKENS * CHARS_PER_TOKEN}
    return bool(params.get("input") == look)


def _names(message: dict[str, Any], command: str) -> bool:
    return bool(message.get("params", {}).get("tool") == command)


LOOKS = ("page.target", "page.receiver", "page.shownDialog")
"""Commands that find what a person is asked about."""


class FakeExtension:
    """One connected browser."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.handlers: dict[str, Handler] = {}
        self.page_tools: dict[str, Handler] = {}
        self.received: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._answers: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.uninstalled: dict[str, Any] = {"tornDown": [], "needReload": []}
        """What is left of a plugin when it ends."""
        self.greeting: dict[str, Any] = {}
        """What came with `sync.full`."""
        self._commands: dict[str, str] = {}
        """The name of each command, by the id of its request."""

    async def send(self, message: dict[str, Any]) -> None:
        """Send a message; a test need give only the members of an output that matter to it."""
        command, result = self._commands.get(message.get("id", "")), message.get("result")
        if command is not None and isinstance(result, dict) and "output" in result:
            result = {**result, "output": completed(command, result["output"])}
            message = {**message, "result": result}
        await self.socket.send(json.dumps({"jsonrpc": "2.0", **message}))

    async def notify(self, method: str, params: Any) -> None:
        await self.send({"method": method, "params": params})

    async def ask(self, method: str, params: Any) -> dict[str, Any]:
        """Send a request to the server; return the response."""
        await self.send({"id": "x", "method": method, "params": params})
        return await asyncio.wait_for(self._answers.get(), PATIENCE)

    async def sync(
        self, *tabs: dict[str, Any], shared: bool = True, kind: str = "managed", **more: Any
    ) -> None:
        """Report all tabs and share them with agents; return when the server has them."""
        browser = {"name": "Fake", "version": "1", "kind": kind, **more}
        await self.notify("tab.syncAll", {"browser": browser, "tabs": list(tabs)})
        await self.settled()
        if shared:
            await self.share_all()

    async def state(self) -> dict[str, Any]:
        """The state that a side panel would show."""
        found: dict[str, Any] = (await self.ask("config.getState", {}))["result"]
        return found

    async def share_all(self) -> None:
        state = await self.state()
        for tab in state["tabs"]:
            if tab["browser"] == state["browser"]:
                await self.ask("tab.share", {"tabId": tab["tabId"], "shared": True})

    async def settled(self) -> None:
        """Wait until the server has handled all messages sent so far, by a ping."""
        await self.notify("ping", {})
        await self.next("pong")

    async def next(self, method: str) -> dict[str, Any]:
        """The next message of this kind; others are dropped."""
        # Not `wait_for`, which may lose a cancellation and would go on taking messages.
        async with asyncio.timeout(PATIENCE):
            while (message := await self.received.get())["method"] != method:
                pass
            return message

    async def command(self, tool: str) -> dict[str, Any]:
        """The next request to run this command; other messages are dropped."""
        while (message := await self.next("tool.dispatch"))["params"]["tool"] != tool:
            pass
        return message

    async def answer_in_steps(self, output: Any) -> None:
        """Answer the next command, after one report of progress."""
        dispatch = await self.next("tool.dispatch")
        report = {"dispatchId": dispatch["params"]["dispatchId"], "progress": 1, "total": 2}
        await self.notify("tool.progress", {**report, "message": "half"})
        await self.send({"id": dispatch["id"], "result": {"output": output}})

    async def run(self) -> None:
        with suppress(ConnectionClosed):
            async for text in self.socket:
                await self._take(json.loads(text))

    async def _take(self, message: dict[str, Any]) -> None:
        if "method" not in message:
            self._answers.put_nowait(message)
            return
        if "page.read" not in self.handlers and _is_look(message):
            await self.send({"id": message["id"], "error": Refusal("timeout").wire})
            return
        if any(name not in self.handlers and _names(message, name) for name in LOOKS):
            # As an older extension: the person is asked without a name.
            await self.send({"id": message["id"], "error": Refusal("unknown_command").wire})
            return
        self.received.put_nowait(message)
        if message["method"] == "browser/executeTool":
            await self._execute(message)
            return
        if message["method"] == "plugin.uninstall":
            await self.send({"id": message["id"], "result": self.uninstalled})
            return
        if message["method"] == "tool.dispatch" and message["params"]["plugin"] == "browser":
            self._commands[message["id"]] = message["params"]["tool"]
        handler = self.handlers.get(message.get("params", {}).get("tool", ""))
        if message["method"] != "tool.dispatch" or handler is None:
            return
        try:
            await self.send({"id": message["id"], "result": {"output": handler(message["params"])}})
        except Refusal as refusal:
            await self.send({"id": message["id"], "error": refusal.wire})

    async def _execute(self, message: dict[str, Any]) -> None:
        """Run a page tool: the return value of its handler is the page's result."""
        handler = self.page_tools.get(message["params"]["toolName"])
        if handler is None:
            return
        try:
            result = {"success": True, "payload": handler(message["params"])}
            await self.send({"id": message["id"], "result": result})
        except Refusal as refusal:
            await self.send({"id": message["id"], "error": refusal.wire})

    async def publish(self, tab: int, *tools: dict[str, Any], **more: Any) -> None:
        """Register the tools of a page; return when the server has them."""
        registration = {
            "tabId": tab,
            "frameId": 0,
            "documentId": f"doc-{tab}",
            "origin": "https://shop.example",
            "url": f"https://shop.example/{tab}",
            "kind": "native",
            "tools": list(tools),
        }
        await self.notify("browser/registerTools", {**registration, **more})
        await self.settled()


def page_tool(name: str, **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"word": {"type": "string"}}}
    return {"name": name, "description": f"Does {name}.", "inputSchema": schema, **more}


@asynccontextmanager
async def connected(
    port: int,
    profile: str | None = "profile-a",
    secret: str = SECRET,
    version: str | None = versions.offered(versions.SERVER),
) -> AsyncIterator[FakeExtension]:
    """A double that has connected and received `sync.full`."""
    names = ["tabhub", secret, *filter(None, [profile, profile and version])]
    async with connect(
        f"ws://127.0.0.1:{port}/ws", subprotocols=[Subprotocol(name) for name in names]
    ) as socket:
        extension = FakeExtension(socket)
        running = asyncio.create_task(extension.run())
        extension.greeting = (await extension.next("sync.full"))["params"]
        yield extension
        await socket.close()
        await running
