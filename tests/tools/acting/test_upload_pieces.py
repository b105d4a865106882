"""Uploads in pieces, for a browser that cannot read the files itself."""

import asyncio
from base64 import b64decode, b64encode
from typing import Any

import pytest

from tabhub.tools.acting import uploads
from tests.support.agent import Agent
from tests.support.browsers.extension import FakeExtension, connected, tab
from tests.support.serving import client, served

PIECE = 1000
OUTPUT = {"effect": {"mutated": True}, "trusted": False}


async def piece(extension: FakeExtension, dispatch: str, **where: int) -> dict[str, Any]:
    return await extension.ask("files.read", {"dispatchId": dispatch, **where})


async def test_pieces_can_be_read_only_while_the_call_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(uploads, "PIECE_BYTES", PIECE)
    data = bytes(range(250)) * (PIECE // 200)
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(5))
        files = [{"name": "x", "data": b64encode(data).decode()}]
        arguments: dict[str, Any] = {"tabId": 5, "selector": "#x", "files": files}
        call = asyncio.create_task(Agent(http).call("browser_upload_files", **arguments))
        sent = await extension.next("tool.dispatch")
        announced = sent["params"]["input"]["files"]
        assert announced == [
            {"name": "x", "mimeType": "application/octet-stream", "size": len(data)}
        ]
        id = sent["params"]["dispatchId"]
        first = b64decode((await piece(extension, id, index=0, offset=0))["result"]["data"])
        rest = await piece(extension, id, index=0, offset=len(first))
        assert len(first) == PIECE and first + b64decode(rest["result"]["data"]) == data
        end = await piece(extension, id, index=0, offset=len(data))
        assert end["result"]["data"] == ""
        assert "error" in await piece(extension, id, index=1, offset=0)
        assert "error" in await piece(extension, id, index=0, offset=-1)
        await extension.send({"id": sent["id"], "result": {"output": OUTPUT}})
        await call
        assert "error" in await piece(extension, id, index=0, offset=0)
