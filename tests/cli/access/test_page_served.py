"""The command line shows pages and their tools while a server runs."""

import asyncio
import json
import logging
import subprocess
from pathlib import Path

import pytest

from tabhub.config import secret
from tabhub.config.paths import Home
from tabhub.config.secret import Auth
from tabhub.config.settings import Settings
from tabhub.server.serving import Server
from tests.support.browsers.extension import connected, page_tool, tab
from tests.support.browsers.worker import SHOP, connecting
from tests.support.product import Product
from tests.support.serving import SECRET, served

PAY = "website_tool_shop_example_pay"


@pytest.fixture
def product(tmp_path: Path) -> Product:
    product = Product(tmp_path / "home")
    Home(product.home).create()
    return product


def joined(product: Product, server: Server) -> None:
    """Make commands use this server."""
    secret.store(Home(product.home), Auth(SECRET, server.port))
    product.environment["TABHUB_PORT"] = str(server.port)


async def run(product: Product, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return await asyncio.to_thread(product.run, *arguments)


async def test_pages_that_wait_are_named_with_their_codes(
    product: Product, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with served(Settings(worker_origins=["http://a.example"])) as server:
        joined(product, server)
        await run(product, "page", "allow", "http://a.example")
        async with connecting(server.port) as worker:
            code = (await worker.next())["params"]["code"]
            listed = await run(product, "page", "list")
            report = json.loads((await run(product, "page", "list", "--json")).stdout)
            status = await run(product, "status")
            facts = json.loads((await run(product, "status", "--json")).stdout)
    line = f"Waits for approval: {SHOP} (code {code}): tabhub page allow {SHOP}"
    assert listed.stdout.splitlines() == ["http://a.example", line]
    assert line in status.stdout.splitlines()
    waiting = [{"origin": SHOP, "code": code}]
    assert report == {"allowed": ["http://a.example"], "waiting": waiting}
    assert facts["waitingPages"] == waiting
    logged = [
        record.getMessage() for record in caplog.records if "page allow" in record.getMessage()
    ]
    assert logged == [f"a page waits for pairing (code {code}): tabhub page allow {SHOP}"]


async def test_an_origin_with_shell_syntax_is_quoted(
    product: Product, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    evil = "https://$(id).example"
    async with served() as server:
        joined(product, server)
        async with connecting(server.port, evil) as worker:
            await worker.next()
            listed = await run(product, "page", "list")
    assert listed.stdout.endswith(f": tabhub page allow '{evil}'\n")
    assert f"tabhub page allow '{evil}'" in caplog.text


async def test_a_page_tool_is_explained_by_the_server_that_knows_it(product: Product) -> None:
    explain = ("permissions", "explain", PAY)
    async with served(home=Home(product.home)) as server, connected(server.port) as extension:
        joined(product, server)
        await extension.sync(tab(1, url=f"{SHOP}/1"), kind="personal")
        unknown = await run(product, *explain)
        await extension.publish(1, page_tool("pay"))
        text_output = await run(product, *explain)
        json_output = await run(product, *explain, "--url", f"{SHOP}/1", "--json")
        assert (await run(product, "permissions", "set", PAY, "off")).returncode == 0
        off = await run(product, *explain)
        await run(product, "client", "add", "ann")
        of_agent = await run(product, *explain, "--client", "ann")
    assert (unknown.returncode, "No page offers a tool called" in unknown.stderr) == (1, True)
    assert text_output.stdout.startswith("At present: ask, by ")
    explanation = json.loads(json_output.stdout)
    assert (explanation["tool"], explanation["verdicts"]["now"]["verdict"]) == (PAY, "ask")
    assert off.stdout.startswith("At present: deny, by ") and PAY in off.stdout
    assert (of_agent.returncode, "permissions_check" in of_agent.stderr) == (2, True)


def test_without_a_server_no_page_tool_can_be_explained(product: Product) -> None:
    for url in ((), ("--url", SHOP)):
        refused = product.run("permissions", "explain", PAY, *url)
        assert (refused.returncode, refused.stdout) == (3, "")
        assert "Only a running server knows" in refused.stderr
