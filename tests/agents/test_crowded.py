"""More connections than a server holds: the next one is told so, and the others go on."""

import asyncio

import httpx
import pytest

from tabhub.agents import bounded
from tests.support.serving import client, served


async def test_one_connection_too_many_is_told_so_in_the_shape_of_every_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bounded, "MOST_CONNECTIONS", 5)
    async with served() as server, client(server.port) as first:
        assert (await first.get("/tools/shortcuts_list")).status_code == 200
        held = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(4)]
        async with client(server.port) as late:
            answer = await late.get("/health")
            assert answer.status_code == 503
            error = answer.json()["error"]
            assert (error["reason"], error["retryable"]) == ("server_unavailable", True)
        for _, writer in held:
            writer.close()
            await writer.wait_closed()
        async with client(server.port) as again:
            assert (await _until_taken(again)).status_code == 200
        assert (await first.get("/health")).status_code == 200


async def _until_taken(http: httpx.AsyncClient) -> httpx.Response:
    """The server hears of closed connections in its own time."""
    async with asyncio.timeout(10):
        while (answer := await http.get("/health")).status_code == 503:
            await asyncio.sleep(0.01)
    return answer
