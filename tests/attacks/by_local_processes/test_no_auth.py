"""`--no-auth` opens the link to no web page, not even to one of the server's own origin."""

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin, Subprotocol

from tests.support.serving import served

PAGES = (
    "http://127.0.0.1:{port}",
    "http://localhost:{port}",
    "http://127.0.0.1:1",
    "https://evil.example",
    "null",
    "chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
)


@pytest.mark.parametrize("auth", [False, True])
@pytest.mark.parametrize("origin", PAGES)
async def test_a_page_does_not_become_the_extension(origin: str, auth: bool) -> None:
    async with served(auth=auth) as server:
        own = Origin(origin.format(port=server.port))
        host = "localhost" if "localhost" in origin else "127.0.0.1"
        subprotocols = [Subprotocol("tabhub"), Subprotocol("x")]
        with pytest.raises(InvalidStatus) as refused:
            async with connect(
                f"ws://{host}:{server.port}/ws", origin=own, subprotocols=subprotocols
            ):
                pass
    assert refused.value.response.status_code in (401, 403)
