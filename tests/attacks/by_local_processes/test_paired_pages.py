"""A program that claims a shop's origin at `/page` gets no call of the shop and answers none."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from tabhub.config.clients import Clients
from tabhub.config.paths import Home
from tabhub.config.settings import PermissionSettings, Settings
from tabhub.page_tools.worker import MOST_UNADMITTED
from tabhub.server.serving import Server
from tests.support.agent import Agent
from tests.support.browsers.extension import connected
from tests.support.browsers.worker import ONE, SHOP, FakeWorker, admitted, connecting, tool
from tests.support.eventually import eventually
from tests.support.serving import client, served

ALLOWED = Settings(
    worker_origins=[SHOP, "https://bank.example"],
    permissions=PermissionSettings(domains={"shop.example": "auto"}),
)
PAY = "website_tool_shop_example_pay"
REFUSED = 4003


async def _code(page: FakeWorker) -> str:
    """The code that a waiting page shows."""
    asked = await page.next()
    assert asked["method"] == "page/unpaired"
    code: str = asked["params"]["code"]
    return code


async def _allow(server: Server, **body: Any) -> Any:
    """What `tabhub page allow` sends, and the server's answer."""
    async with client(server.port) as http:
        return (await http.post("/pages/allow", json={"origin": SHOP, **body})).json()


async def _is_paired(page: FakeWorker) -> None:
    assert (await page.next())["method"] == "page/paired"
    assert (await page.next())["method"] == "page/ready"


async def _nothing_more(page: FakeWorker) -> None:
    """A waiting page has received nothing else, and is disconnected when it sends something."""
    await page.notify("browser/registerTools", tabId=ONE, tools=[tool("pay")])
    with pytest.raises(ConnectionClosed):
        await page.next()
    assert page.socket.close_code == REFUSED


async def test_a_program_that_claims_an_allowed_origin_is_not_admitted() -> None:
    async with served(ALLOWED) as server, connecting(server.port) as forged:
        await _code(forged)
        await _nothing_more(forged)
        assert PAY not in [tool.name for tool in server.app.hub.tools]


async def test_the_calls_of_a_paired_page_reach_that_page_alone() -> None:
    async with (
        served(ALLOWED) as server,
        client(server.port) as http,
        admitted(server) as shop,
        connecting(server.port) as forged,
    ):
        await _code(forged)
        await shop.register(ONE, tool("pay"))
        calling = asyncio.create_task(Agent(http).text(PAY, card="4111"))
        request = await shop.next()
        assert request["params"]["args"] == {"card": "4111"}
        await forged.answer(request, {"content": [{"type": "text", "text": "forged"}]})
        assert (await forged.closed())[0] == REFUSED
        await shop.answer(request, {"content": [{"type": "text", "text": "paid"}]})
        assert "paid" in await calling


@pytest.mark.parametrize("way", ["panel", "command line"])
async def test_a_confirmed_code_pairs_the_connection_that_has_it(way: str) -> None:
    async with served(ALLOWED) as server, connected(server.port) as panel, AsyncExitStack() as all:
        forged, shop, later = [
            await all.enter_async_context(connecting(server.port)) for _ in range(3)
        ]
        codes = [await _code(page) for page in (forged, shop, later)]
        assert len(set(codes)) == 3
        if way == "panel":
            decision = {"origin": SHOP, "code": codes[1], "allowed": True}
            assert "result" in await panel.ask("page.pair", decision)
        else:
            assert (await _allow(server, code=codes[1].lower()))["code"] == codes[1]
        await _is_paired(shop)
        for page in (forged, later):
            await _nothing_more(page)


async def test_a_code_counts_once_and_for_its_origin_alone() -> None:
    async with served(ALLOWED) as server, connecting(server.port) as shop:
        code = await _code(shop)
        for body in ({"origin": "https://bank.example", "code": code}, {"code": "0000"}):
            refused = await _allow(server, **body)
            assert refused["error"]["reason"] == "not_found"
            assert "nothing was done" in refused["error"]["message"]
        assert (await _allow(server, code=code))["code"] == code
        await _is_paired(shop)
        assert (await _allow(server, code=code))["error"]["reason"] == "not_found"


async def test_an_agent_cannot_confirm_a_code(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").create()
    token = Clients(home).add("robot")
    async with (
        served(ALLOWED, home=home) as server,
        connecting(server.port) as forged,
        client(server.port, token) as http,
    ):
        body = {"origin": SHOP, "code": await _code(forged)}
        assert (await http.post("/pages/allow", json=body)).status_code == 403
        assert "waitingPages" not in (await http.get("/health")).json()
        await _nothing_more(forged)


async def test_if_several_wait_the_person_has_to_name_a_code() -> None:
    async with (
        served(ALLOWED) as server,
        connecting(server.port) as forged,
        connecting(server.port) as shop,
    ):
        codes = [await _code(page) for page in (forged, shop)]
        refused = (await _allow(server))["error"]
        assert refused["reason"] == "invalid_arguments"
        assert all(code in refused["message"] for code in (*codes, "nothing was done"))
        assert len(server.app.pairing.waiting()) == 2


async def test_an_enrolment_pairs_one_page() -> None:
    async with served(ALLOWED) as server:
        answer = await _allow(server)
        assert (answer["code"], answer["seconds"]) == (None, 120)
        async with connecting(server.port, "https://bank.example") as other:
            await _code(other)
        async with connecting(server.port) as shop, connecting(server.port) as forged:
            await _is_paired(shop)
            await _code(forged)


async def test_a_token_counts_for_its_origin_and_only_with_its_id() -> None:
    async with (
        served(ALLOWED) as server,
        admitted(server, "https://bank.example") as bank,
        admitted(server) as shop,
    ):
        async with connecting(server.port, id=bank.pairing["id"]) as forged:
            await _code(forged)
        # Whoever listens on the server's port while it is stopped learns the id of a token.
        for guess in (bank.pairing["token"], shop.pairing["key"], ""):
            async with connecting(server.port, id=shop.pairing["id"]) as forged:
                assert (await forged.next())["method"] == "page/proof"
                await forged.notify("page/token", token=guess)
                await _code(forged)


async def test_a_forgotten_page_loses_its_token(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").create()
    async with served(ALLOWED, home=home) as server:
        async with admitted(server) as shop:
            server.app.pairing.take([])
            assert (await shop.closed())[0] == REFUSED
        server.app.pairing.take([SHOP])
        async with connecting(server.port, id=shop.pairing["id"]) as again:
            await _code(again)


async def test_origins_allowed_by_an_earlier_version_have_to_ask(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").create()
    home.config.write_text(f'{{"workerOrigins": ["{SHOP}"]}}')
    async with served(ALLOWED, home=home) as server, connecting(server.port) as shop:
        code = await _code(shop)
        server.app.reload()
        assert [page["code"] for page in server.app.pairing.waiting()] == [code]


async def test_a_program_cannot_flood_the_person() -> None:
    async with served(ALLOWED) as server, AsyncExitStack() as stack:
        for _ in range(3):
            await _code(await stack.enter_async_context(connecting(server.port)))
        for _ in range(20):
            async with connecting(server.port) as one_more:
                assert (await one_more.closed())[0] == REFUSED
        assert len(server.app.pairing.waiting()) == 3
    async with served(ALLOWED) as server, AsyncExitStack() as stack:
        for number in range(20):
            origin = f"https://{number}.example"
            await _code(await stack.enter_async_context(connecting(server.port, origin)))
        assert len(server.app.pairing.waiting()) == 5


@pytest.mark.parametrize(
    "first",
    [
        '{"jsonrpc": "2.0", "method": "browser/registerTools", "params": {}}',
        '{"jsonrpc": "2.0", "method": "page/token", "params": {"token": "x"}}',
        '{"jsonrpc": "2.0", "method": "page/hello", "params": {"challenge": 5}}',
        '{"jsonrpc": "2.0", "method": "page/hello", "params": {"challenge": "%s"}}' % ("x" * 3000),
        '{"jsonrpc": "2.0", "id": 1, "result": {}}',
        "[" * 1000,
        "\udcff",
    ],
)
async def test_a_page_that_does_not_say_hello_is_disconnected(first: str) -> None:
    async with served(ALLOWED) as server, connecting(server.port, hello=False) as page:
        await page.socket.send(first.encode(errors="surrogateescape"))
        with pytest.raises(ConnectionClosed):
            await page.next()
        assert page.socket.close_code == REFUSED
        assert server.app.pairing.waiting() == []


async def test_tokens_are_on_no_disk(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").create()
    async with served(ALLOWED, home=home) as server:
        async with admitted(server) as shop:
            await shop.register(ONE, tool("pay"))
        async with admitted(server, pairing=shop.pairing):
            pass
        await eventually(lambda: home.audit.exists())
    files = [path for path in home.root.rglob("*") if path.is_file()]
    token = shop.pairing["token"].encode()
    assert files and not any(token in path.read_bytes() for path in files)


async def test_pages_that_say_nothing_keep_no_place_from_a_paired_one() -> None:
    """Any page of the web can open sockets."""
    async with served(Settings(worker_origins=[SHOP])) as server, AsyncExitStack() as silent:
        for number in range(MOST_UNADMITTED + 5):
            origin = f"https://n{number}.evil.example"
            opened = connecting(server.port, origin=origin, hello=False)
            await silent.enter_async_context(opened)
        async with admitted(server) as page:
            assert "result" in await page.register(ONE, tool("pay"))
