"""The link as an extension sees it: which connections and which messages are accepted."""

import json

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Subprotocol

from tests.support.browsers.extension import connected
from tests.support.serving import SECRET, client, served


async def _open(port: int, *names: str, origin: str | None = None) -> None:
    protocols = [Subprotocol(name) for name in names] or None
    headers = {"Origin": origin} if origin else None
    async with connect(
        f"ws://127.0.0.1:{port}/ws", subprotocols=protocols, additional_headers=headers
    ) as socket:
        await socket.recv()


@pytest.mark.document("OT-ws-4")
@pytest.mark.requirement("OT-20")
@pytest.mark.parametrize(
    "names",
    [(), ("tabhub",), ("tabhub", "wrong"), ("tabhub", SECRET[:-1]), (SECRET,)],
)
async def test_a_socket_without_the_secret_is_refused_before_the_upgrade(
    names: tuple[str, ...],
) -> None:
    async with served() as server:
        with pytest.raises(InvalidStatus) as refused:
            await _open(server.port, *names)
    assert refused.value.response.status_code == 401


async def test_a_socket_with_the_secret_and_another_protocol_is_refused() -> None:
    async with served() as server:
        with pytest.raises(InvalidStatus) as refused:
            await _open(server.port, "other", SECRET)
    assert refused.value.response.status_code == 403


@pytest.mark.document("OT-ws-3", "OT-auth-1")
@pytest.mark.document("CB-changes-1")
@pytest.mark.requirement("OT-20")
@pytest.mark.parametrize("name", ["tabhub", "opentabs"])
async def test_both_names_of_the_link_are_accepted_and_the_secret_is_not_echoed(name: str) -> None:
    async with served() as server:
        async with connect(
            f"ws://127.0.0.1:{server.port}/ws",
            subprotocols=[Subprotocol(name), Subprotocol(SECRET)],
        ) as socket:
            assert socket.subprotocol == name
            assert json.loads(await socket.recv())["method"] == "sync.full"


@pytest.mark.requirement("OT-17")
async def test_a_page_cannot_open_the_link_even_with_the_secret() -> None:
    async with served() as server:
        with pytest.raises(InvalidStatus):
            await _open(server.port, "tabhub", SECRET, origin="https://evil.example")


@pytest.mark.document("OT-ws-5")
@pytest.mark.requirement("OT-20")
async def test_a_message_over_the_limit_closes_the_link_with_its_own_code() -> None:
    async with served() as server, connected(server.port) as extension:
        with pytest.raises(ConnectionClosed) as closed:
            await extension.socket.send("x" * (11 * 1024 * 1024))
            await extension.socket.wait_closed()
            await extension.socket.send("more")
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1009


@pytest.mark.requirement("OT-20")
@pytest.mark.parametrize(
    "text",
    ["{", "[]", "3", '"x"', '{"jsonrpc":"1.0"}', '{"jsonrpc":"2.0","id":9,"result":{}}', "\x00"],
)
async def test_invalid_messages_of_an_extension_are_ignored_and_the_link_stays(text: str) -> None:
    async with served() as server, connected(server.port) as extension:
        await extension.socket.send(text)
        await extension.settled()


@pytest.mark.document("OT-ws-1")
@pytest.mark.requirement("OT-20")
async def test_an_unknown_request_or_wrong_params_get_an_error_with_a_reason() -> None:
    async with served() as server, connected(server.port) as extension:
        unknown = await extension.ask("tab.dance", {})
        wrong = await extension.ask("tab.stateChanged", {"tabId": "seven", "state": "opened"})
    assert (unknown["error"]["code"], unknown["error"]["data"]["reason"]) == (
        -32601,
        "method_not_found",
    )
    assert (wrong["error"]["code"], wrong["error"]["data"]["reason"]) == (-32602, "invalid_params")


async def test_the_extension_gets_a_reload_request_and_503_means_that_none_is_connected() -> None:
    async with served() as server, client(server.port) as http:
        missing = await http.post("/extension/reload")
        async with connected(server.port) as extension:
            assert (await http.post("/extension/reload")).json() == {"ok": True}
            await extension.next("extension.reload")
    assert missing.status_code == 503
    assert missing.json()["error"]["reason"] == "extension_disconnected"


async def test_only_the_links_own_path_is_a_websocket() -> None:
    async with served() as server:
        with pytest.raises(InvalidStatus):
            async with connect(
                f"ws://127.0.0.1:{server.port}/other",
                subprotocols=[Subprotocol("tabhub"), Subprotocol(SECRET)],
            ):
                pass
