"""What clients and extensions on several nodes do in the tests."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.proxy.served import Json, Side
from tests.support.eventually import eventually


async def next_request(browser: Side) -> Json:
    while "id" not in (request := await browser.next(jsonrpc="2.0")):
        pass
    return request


async def answered(browser: Side, **answer: Any) -> Json:
    """Answer the next request that reaches an extension; the request."""
    request = await next_request(browser)
    await browser.send({"jsonrpc": "2.0", "id": request["id"], **answer})
    return request


async def sees(agent: Side, *ids: str) -> None:
    """Wait until a client sees these extensions: news between nodes take a moment."""

    async def listed() -> bool:
        found = await agent.ask("list", "list_extensions")
        return {one["id"] for one in found["result"]["extensions"]} == set(ids)

    await eventually(listed)


async def connected(agent: Side, id: str) -> str:
    """Connect a client as soon as it sees the extension; the name of the connection."""

    async def connect() -> str | None:
        answer = await agent.ask("connect", "connect", {"extension_id": id})
        found: str | None = answer.get("result", {}).get("connection_id")
        return found

    return await eventually(connect)


async def works(agent: Side, id: str) -> None:
    """Wait until a client gets answers of an extension, connecting again if that was lost."""

    async def gets_an_answer() -> bool:
        await agent.ask("connect", "connect", {"extension_id": id})
        answer = await agent.ask("echo", "getTabs", {"text": "echo"})
        return answer.get("result") == {"text": "echo"}

    await eventually(gets_an_answer)


@asynccontextmanager
async def answering(browser: Side) -> AsyncIterator[list[str]]:
    """An extension that answers every request with its params; the methods that it got."""
    methods: list[str] = []

    async def answer() -> None:
        while True:
            request = await next_request(browser)
            methods.append(request["method"])
            reply = {"jsonrpc": "2.0", "id": request["id"], "result": request.get("params")}
            await browser.send(reply)

    task = asyncio.create_task(answer())
    try:
        yield methods
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
