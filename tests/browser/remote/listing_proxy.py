"""A double of a proxy that lists whatever it likes, and never connects anybody."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.server import ServerConnection, serve


class ListingProxy:
    """Answers clients."""

    def __init__(self, *listed: str) -> None:
        self.listed = list(listed)
        self.listings = 0
        """How often it was asked for its list."""
        self.wanted: list[str] = []
        """The extensions that clients wanted to be connected to."""
        self.url = ""

    async def attend(self, socket: ServerConnection) -> None:
        async for data in socket:
            message = json.loads(data)
            result = self._result(message["method"], message["params"])
            if result is not None:
                answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
                await socket.send(json.dumps(answer))

    def _result(self, method: str, params: Any) -> Any:
        if method == "connect":
            self.wanted.append(params["extension_id"])
            return None
        if method == "list_extensions":
            self.listings += 1
            return {"extensions": [{"id": id, "name": "Chrome"} for id in self.listed]}
        return {}


@asynccontextmanager
async def listing_proxy(*listed: str) -> AsyncIterator[ListingProxy]:
    found = ListingProxy(*listed)
    async with serve(found.attend, "127.0.0.1", 0) as server:
        found.url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield found
