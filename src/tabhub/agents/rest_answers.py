"""Two ways to answer a REST call: JSON at its end, or events while it runs."""

import asyncio
from typing import Any, Self

import msgspec

from tabhub.agents.answers import send_json
from tabhub.agents.mcp.reply import KEEPALIVE_SECONDS, PING, Reply
from tabhub.wire.asgi import Send


class JsonAnswer:
    """Says nothing before the end."""

    def __init__(self, send: Send) -> None:
        self._send = send

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *fault: object) -> None:
        return None

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        return None

    async def end(self, status: int, body: bytes) -> None:
        await send_json(self._send, status, body)


class EventAnswer:
    """`progress` events, and at last `result` or `error`; an error before them is plain JSON."""

    def __init__(self, send: Send) -> None:
        self._reply = Reply(send, may_stream=True)

    async def __aenter__(self) -> Self:
        self._beat = asyncio.create_task(self._keep_alive())
        return self

    async def __aexit__(self, *fault: object) -> None:
        self._beat.cancel()

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        said = {"progress": progress, "total": total, "message": message}
        told: dict[str, Any] = {key: value for key, value in said.items() if value is not None}
        await self._reply.frame(_event(b"progress", msgspec.json.encode(told)))

    async def end(self, status: int, body: bytes) -> None:
        if status != 200 and not self._reply.streaming:
            await self._reply.json(status, body)
            return
        await self._reply.frame(_event(b"result" if status == 200 else b"error", body))
        await self._reply.end()

    async def _keep_alive(self) -> None:
        while True:
            await asyncio.sleep(KEEPALIVE_SECONDS)
            await self._reply.frame(PING)


def _event(kind: bytes, data: bytes) -> bytes:
    return b"event: " + kind + b"\ndata: " + data + b"\n\n"
