"""A new secret: which clients lose access, which reconnect, and what stays unchanged."""

import asyncio
import json
import re
from collections.abc import Iterator

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

from tests.agents.mcp.clients import connect
from tests.support.browsers.extension import connected
from tests.support.eventually import eventually_sync
from tests.support.product import Product
from tests.support.serving import client

pytestmark = pytest.mark.slow

ROTATE = ("config", "rotate-secret", "--confirm")


@pytest.fixture
def port(product: Product) -> Iterator[int]:
    with product.running("start", "--port", "0"):
        yield product.wait_running()


def secrets(product: Product) -> list[str]:
    """The secret in each file."""
    folders = ("extension", "managed-extension")
    files = [product.home / folder / "auth.json" for folder in folders]
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in files)
    return [json.loads(file.read_text())["secret"] for file in files]


async def status_for(port: int, token: str) -> int:
    async with client(port, token) as http:
        return (await http.get("/health")).status_code


async def rotate(product: Product) -> None:
    process = await asyncio.to_thread(product.run, *ROTATE)
    assert (process.returncode, process.stderr) == (0, "")
    assert "--show-config" in process.stdout
    assert product.secret not in process.stdout


@pytest.mark.requirement("OT-18")
async def test_the_old_secret_and_the_printed_token_stop_at_once_and_named_tokens_stay(
    product: Product, port: int
) -> None:
    old = product.secret
    printed = re.findall(r"Bearer (thc_\S+?)\"", product.output)[0]
    named = product.run("client", "add", "ann").stdout.strip()
    assert product.run("tool", "list").returncode == 0
    await rotate(product)
    assert secrets(product) == [product.secret] * 2
    assert product.secret != old
    answers = [await status_for(port, token) for token in (old, printed, product.secret, named)]
    assert answers == [401, 401, 200, 200]
    assert product.run("tool", "list").returncode == 0
    assert product.status()["running"]
    for file in ("audit.log", "server.log"):
        text = (product.home / file).read_text()
        assert old not in text and product.secret not in text


@pytest.mark.requirement("OT-18")
async def test_clients_with_the_old_secret_are_disconnected(product: Product, port: int) -> None:
    old = product.secret
    named = product.run("client", "add", "ann").stdout.strip()
    async with client(port, old) as http, client(port, named) as other:
        await connect(http)
        await connect(other)
        with pytest.raises(ConnectionClosed):
            async with connected(port, secret=old) as extension:
                await asyncio.gather(rotate(product), extension.socket.wait_closed())
                await extension.settled()
        with pytest.raises(Exception, match="401"):
            async with connected(port, secret=old):
                pass
        async with connected(port, secret=product.secret) as extension:
            await extension.settled()
            status = await asyncio.to_thread(product.status)
    assert (status["extensionConnections"], status["mcpClients"]) == (1, 1)


async def test_a_server_that_cannot_apply_the_new_secret_changes_nothing(
    product: Product, port: int
) -> None:
    old = product.secret
    (product.home / "config.json").write_text("{")
    product.environment["TABHUB_PORT"] = str(port)
    refused = product.run(*ROTATE)
    assert (refused.returncode, "The old secret stays" in refused.stderr) == (1, True)
    assert secrets(product) == [old] * 2
    assert await status_for(port, old) == 200


def test_without_confirmation_nothing_changes_and_the_effects_are_listed(product: Product) -> None:
    product.run("extension", "path")
    before = secrets(product)
    refused = product.run("config", "rotate-secret")
    assert (refused.returncode, "--confirm" in refused.stderr) == (2, True)
    assert secrets(product) == before


def test_without_a_server_the_files_are_enough_even_if_they_were_broken(product: Product) -> None:
    product.run("extension", "path")
    old = product.secret
    assert product.run(*ROTATE).returncode == 0
    assert product.secret != old
    (product.home / "extension" / "auth.json").write_text("{")
    assert product.run(*ROTATE).returncode == 0
    assert len({*secrets(product)}) == 1
    with product.running("start", "--port", "0"):
        assert product.wait_running()


@pytest.mark.real_browser
@pytest.mark.requirement("OT-18")
def test_a_browser_reconnects_without_help(product: Product) -> None:
    with product.running("start", "--port", "0", "--browser", "--headless"):
        before = product.wait_browser()["browsers"][0]["connectedAt"]
        assert product.run(*ROTATE).returncode == 0
        after = product.wait_browser(after=before)
    assert after["extensionConnections"] == 1


async def test_a_setting_that_needs_a_restart_is_reported_as_such(
    product: Product, port: int
) -> None:
    process = product.run("config", "set", "toolsets", "all")
    assert (process.returncode, process.stderr) == (0, "")
    waiting = product.run("config", "set", "limits.callSeconds", "5")
    assert (waiting.returncode, "only after a restart" in waiting.stderr) == (0, True)
    reset = product.run("config", "reset", "--confirm")
    assert (reset.returncode, reset.stderr) == (0, "")
    async with client(port, product.secret) as http:
        answer: httpx.Response = await http.post("/reload")
    assert answer.json().keys() == {"ok", "plugins", "durationMs"}


@pytest.mark.real_browser
@pytest.mark.requirement("OT-18")
async def test_the_command_line_keeps_its_tabs_and_those_of_disconnected_clients_close(
    product: Product,
) -> None:
    def tabs() -> list[tuple[str, str]]:
        result = json.loads(product.run("tool", "call", "browser_list_tabs").stdout)
        return [(tab["url"], tab["owner"]) for tab in result["structuredContent"]["tabs"][1:]]

    with product.running("start", "--port", "0", "--browser", "--headless"):
        before = product.wait_browser()
        page = f"http://127.0.0.1:{before['port']}/openapi.json"
        opened = product.run("tool", "call", "browser_open_tab", f"url={page}#ours")
        assert opened.returncode == 0
        async with client(before["port"], product.secret) as http:
            body = {"arguments": {"url": f"{page}#theirs"}}
            answer = await http.post("/tools/browser_open_tab/call", json=body)
        assert answer.status_code == 200
        assert product.run(*ROTATE).returncode == 0
        product.wait_browser(after=before["browsers"][0]["connectedAt"])
        eventually_sync(lambda: len(tabs()) == 1, "the tab of the old secret to close")
        assert tabs()[0] == (f"{page}#ours", "tabhub-cli (cli)")
