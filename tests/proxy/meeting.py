"""An extension and its clients on a node, and the messages that they exchange."""

from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, Self

from tests.proxy.served import ServedProxy, Side, client, extension, served, token

Json = dict[str, Any]


class Begins:
    """Stands in a message for a text that begins so."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and other.startswith(self._prefix) and other != self._prefix

    def __repr__(self) -> str:
        return f"{self._prefix}…"


TEXT = Begins("")
CONNECTION = Begins("conn-")


def request(id: Any, method: str, params: Json | None = None, **more: Any) -> Json:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}, **more}


def notice(method: str, **params: Any) -> Json:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def result(id: Any, **members: Any) -> Json:
    return {"jsonrpc": "2.0", "id": id, "result": members}


def error(id: Any, code: int, message: str | Begins) -> Json:
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}


def without_data(answer: Json) -> Json:
    """An error of the proxy without its reason word, which the document does not have."""
    return {**answer, "error": {key: answer["error"][key] for key in ("code", "message")}}


class Meeting:
    """One extension and one client of the same user, connected."""

    proxy: ServedProxy
    browser: Side
    agent: Side
    extension: str
    connection: str

    async def __aenter__(self) -> Self:
        self._stack = AsyncExitStack()
        self.proxy = await self._stack.enter_async_context(served())
        opened = extension(self.proxy, token())
        self.browser, self.extension = await self._stack.enter_async_context(opened)
        self.agent, self.connection = await self.join()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stack.aclose()

    async def join(self) -> tuple[Side, str]:
        """Another client on the same extension, and the name of its connection."""
        side = await self._stack.enter_async_context(client(self.proxy))
        answer = await side.ask(2, "connect", {"extension_id": self.extension})
        return side, answer["result"]["connection_id"]

    async def forwarded(self, message: Json) -> Json:
        """What the extension gets when the client sends this."""
        await self.agent.send(message)
        return await self.browser.next(method=message["method"])
