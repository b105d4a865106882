"""When a server counts as unused: a refused request does not use it."""

import asyncio

import pytest

from tabhub.config.settings import Settings
from tests.support.browsers.worker import ONE, SHOP, admitted, tool
from tests.support.eventually import PATIENCE
from tests.support.serving import SECRET, client, served


@pytest.mark.requirement("OT-09")
@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/tools", {}),
        ("/tools", {"Authorization": "Bearer wrong"}),
        ("/tools", {"Authorization": f"Bearer {SECRET}", "Origin": "https://a.example"}),
        ("/tools", {"Authorization": f"Bearer {SECRET}", "Host": "a.example"}),
        ("/openapi.json", {}),
    ],
)
async def test_a_refused_or_anonymous_request_keeps_no_server_alive(
    path: str, headers: dict[str, str]
) -> None:
    async with served() as server, client(server.port, None) as http:
        unused = asyncio.create_task(server.app.count_use().unused(0.2))
        async with asyncio.timeout(PATIENCE):
            while not unused.done():
                await http.get(path, headers=headers)


@pytest.mark.requirement("OT-09")
async def test_an_accepted_request_keeps_it_alive() -> None:
    async with served() as server, client(server.port) as http:
        use = server.app.count_use()
        async with http.stream("GET", "/sse"):
            unused = asyncio.create_task(use.unused(0.2))
            done, _ = await asyncio.wait({unused}, timeout=0.7)
            assert not done
        unused.cancel()


@pytest.mark.requirement("OT-09")
async def test_a_page_connects_but_does_not_keep_it_alive() -> None:
    async with served(Settings(worker_origins=[SHOP])) as server:
        unused = asyncio.create_task(server.app.count_use().unused(0.2))
        async with admitted(server) as page:
            assert "result" in await page.register(ONE, tool("search"))
            await asyncio.wait_for(unused, PATIENCE)
