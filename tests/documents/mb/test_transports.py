"""Transports: the four verbs, in each transport that the product has."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Protocol

import pytest

from tabhub.config.settings import Settings
from tabhub.page_tools.core.storage import PageRef
from tabhub.page_tools.transports import ToolsUpdate
from tabhub.server.serving import Server
from tabhub.wire.pages import Execute, Outcome
from tests.support.browsers.extension import FakeExtension, connected, page_tool, tab
from tests.support.browsers.worker import ONE, SHOP, FakeWorker, admitted, tool
from tests.support.serving import served

PAIRED = Settings(worker_origins=[SHOP])
VIEW = Execute(tool_name="view", args={"sku": "mug"})


class Page(Protocol):
    """A page that has published `view`, at the far end of a transport."""

    async def update(self) -> None:
        """Publish a list without tools."""

    async def answered(self, calling: Awaitable[Outcome]) -> Outcome:
        """Answer a call with its arguments."""


class LinkPage:
    def __init__(self, extension: FakeExtension) -> None:
        self._extension = extension

    async def update(self) -> None:
        document = {"tabId": 1, "frameId": 0, "documentId": "doc-1"}
        await self._extension.notify("browser/updateTools", {**document, "tools": []})
        await self._extension.settled()

    async def answered(self, calling: Awaitable[Outcome]) -> Outcome:
        self._extension.page_tools["view"] = lambda call: call["args"]
        return await calling


class WorkerPage:
    def __init__(self, worker: FakeWorker) -> None:
        self._worker = worker

    async def update(self) -> None:
        await self._worker.ask("browser/updateTools", tabId=ONE, tools=[])

    async def answered(self, calling: Awaitable[Outcome]) -> Outcome:
        running = asyncio.ensure_future(calling)
        request = await self._worker.next()
        await self._worker.answer(request, request["params"]["args"])
        return await running


@asynccontextmanager
async def by_link(server: Server) -> AsyncIterator[Page]:
    async with connected(server.port) as extension:
        await extension.sync(tab(1))
        await extension.publish(1, page_tool("view"))
        yield LinkPage(extension)


@asynccontextmanager
async def by_worker(server: Server) -> AsyncIterator[Page]:
    async with admitted(server) as worker:
        await worker.register(ONE, tool("view"))
        yield WorkerPage(worker)


async def _ignore(progress: float, total: float | None, message: str | None) -> None:
    return None


@pytest.mark.document("MB-transports-verbs")
@pytest.mark.parametrize("reach", [by_link, by_worker])
async def test_a_transport_sends_requests_tells_of_messages_and_disconnects(
    reach: Callable[[Server], AbstractAsyncContextManager[Page]],
) -> None:
    async with served(PAIRED) as server, reach(server) as page:
        (stored,) = server.app.hub.pages.storage.all()
        transport = server.app.pages.transport(stored.ref)
        assert transport is not None
        messages: list[Any] = []
        gone: list[PageRef] = []
        transport.on_message(messages.append)
        transport.on_disconnect(gone.append)

        outcome = await page.answered(transport.send_request(stored.ref, VIEW, _ignore))
        assert outcome == Outcome(success=True, payload={"sku": "mug"})
        await page.update()
        assert messages == [ToolsUpdate(stored.ref, [])]
        transport.disconnect(stored.ref)
        assert gone == [stored.ref] and [*server.app.hub.pages.storage.all()] == []
