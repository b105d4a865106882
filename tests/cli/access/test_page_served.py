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
    home = Home(product.home)
    home.config.write_text('{"workerOrigins": ["http://a.example"]}')
    async with served(Settings(worker_origins=["http://a.example"]), home=home) as server:
        joined(product, server)
        async with connecting(server.port) as worker:
            code = (await worker.next())["params"]["code"]
            listed = await run(product, "page", "list")
            report = json.loads((await run(product, "page", "list", "--json")).stdout)
            status = await run(product, "status")
            facts = json.loads((await run(product, "status", "--json")).stdout)
    first, line = listed.stdout.splitlines()
    assert first == "http://a.example: default"
    assert line.startswith(f"Waits for approval: {SHOP} (code {code}): ")
    assert line.endswith(f"tabhub page allow {SHOP} {code}")
    assert line in status.stdout.splitlines()
    waiting = [{"origin": SHOP, "code": code, "level": "auto"}]
    levels = {"http://a.example": None}
    assert report == {"allowed": ["http://a.example"], "levels": levels, "waiting": waiting}
    assert facts["waitingPages"] == waiting
    logged = [
        record.getMessage() for record in caplog.records if "page allow" in record.getMessage()
    ]
    assert logged == [f"a page waits for pairing: tabhub page allow {SHOP} {code}"]


async def test_an_origin_with_shell_syntax_is_quoted(
    product: Product, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    evil = "https://$(id).example"
    async with served() as server:
        joined(product, server)
        async with connecting(server.port, evil) as worker:
            code = (await worker.next())["params"]["code"]
            listed = await run(product, "page", "list")
    assert listed.stdout.endswith(f"tabhub page allow '{evil}' {code}\n")
    assert f"tabhub page allow '{evil}'" in caplog.text


async def test_the_page_that_waits_is_allowed(product: Product) -> None:
    home = Home(product.home)
    async with served(home=home) as server:
        joined(product, server)
        async with connecting(server.port) as worker:
            code = (await worker.next())["params"]["code"]
            wrong = await run(product, "page", "allow", SHOP, "0000")
            allowed = await run(product, "page", "allow", f"{SHOP}/", code.lower())
            assert (await worker.next())["method"] == "page/paired"
            assert (await worker.next())["method"] == "page/ready"
            forgotten = await run(product, "page", "forget", SHOP)
            assert (await worker.closed())[0] == 4003
        listed = await run(product, "page", "list", "--json")
    assert (wrong.returncode, "nothing was done" in wrong.stderr) == (1, True)
    assert allowed.stdout.startswith(f"Allowed: {SHOP}, the page that shows {code}.")
    assert forgotten.stdout == f"Forgotten: {SHOP}\n"
    assert json.loads(listed.stdout) == {"allowed": [], "levels": {}, "waiting": []}


async def test_if_none_waits_the_next_page_is_allowed(product: Product) -> None:
    async with served(home=Home(product.home)) as server:
        joined(product, server)
        allowed = await run(product, "page", "allow", "http://localhost:*")
        async with connecting(server.port, "http://localhost:8000") as first:
            assert (await first.next())["method"] == "page/paired"
            async with (
                connecting(server.port, "http://localhost:1") as second,
                connecting(server.port, "http://localhost:2") as third,
            ):
                codes = [(await one.next())["params"]["code"] for one in (second, third)]
                several = await run(product, "page", "allow", "http://localhost:*")
        listed = await run(product, "page", "list")
        audit = server.app.audit.entries(plugin="admin")
    assert "next page that connects within 2 minutes is paired" in allowed.stdout
    assert several.returncode == 2 and all(code in several.stderr for code in codes)
    assert listed.stdout == "http://localhost:*: default\n"
    assert [entry["tool"] for entry in audit].count("page allow") == 2


async def test_a_level_is_set_when_a_page_is_allowed_and_changed_later(product: Product) -> None:
    async with served(home=Home(product.home)) as server:
        joined(product, server)
        wrong = await run(product, "page", "allow", SHOP, "--level", "always")
        first = await run(product, "page", "allow", SHOP)
        async with connecting(server.port) as worker:
            assert (await worker.next())["method"] == "page/paired"
        changed = await run(product, "page", "allow", SHOP, "--level", "ask")
        async with connecting(server.port) as worker:
            assert (await worker.next())["method"] == "page/unpaired"
        listed = await run(product, "page", "list")
        many = await run(product, "page", "allow", "http://localhost:*", "--level", "auto")
        await run(product, "page", "forget", SHOP)
        again = await run(product, "page", "allow", SHOP)
    assert wrong.returncode == 2
    assert first.stdout.splitlines()[-1] == "Calls through its worker: auto"
    assert changed.stdout == "Calls through its worker: ask\n"
    assert listed.stdout == f"{SHOP}: ask\n"
    assert many.returncode == 2 and "nothing was done" in many.stderr
    assert again.stdout.endswith("Calls through its worker: auto\n")


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


async def test_what_the_server_writes_itself_is_in_force_and_blamed_on_nobody_else(
    product: Product,
) -> None:
    home = Home(product.home)
    async with served(home=home) as server:
        joined(product, server)
        await run(product, "page", "allow", SHOP, "--level", "ask")
        shown = await run(product, "config", "get", "workerOrigins")
        await run(product, "client", "add", "x")
        await run(product, "page", "forget", SHOP)
        entries = [entry for entry in server.app.audit.entries() if entry["plugin"] == "admin"]
    assert (json.loads(shown.stdout), shown.stderr) == ([SHOP], "")
    forgotten, added, allowed = ((entry["tool"], entry["arguments"]) for entry in entries)
    assert allowed[0] == "page allow" and allowed[1]["level"] == "ask"
    assert added[0] == "reload" and added[1]["added"] == ["x"]
    assert "workerOrigins" not in added[1].get("changed", ())
    assert forgotten == ("reload", {"changed": ["permissions.workers", "workerOrigins"]})
