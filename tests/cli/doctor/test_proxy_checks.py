"""What `tabhub doctor` says about the proxy that the server uses, and about one served here."""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tabhub.browser.remote.proxy_access import access_of
from tabhub.cli.doctor.finding import Inspection
from tabhub.cli.doctor.proxy_checks import served_proxy, via_proxy
from tabhub.config import secret
from tabhub.config.paths import Home
from tabhub.config.secret import Auth
from tabhub.errors import Forbidden
from tests.proxy.answering_end import AnsweringEnd
from tests.proxy.certificates import certificate
from tests.proxy.served import ServedProxy, token
from tests.proxy.served import served as proxy_served
from tests.support.browsers.extension import tab
from tests.support.browsers.tunnelled import tunnelled
from tests.support.eventually import eventually, eventually_sync
from tests.support.product import Product
from tests.support.serving import SECRET, served

Found = list[tuple[str, str, str]]
FREE = ("--port", "0", "--admin-port", "0")


def findings(home: Path, check: Any) -> Found:
    inspection = Inspection(Home(home))
    return [(found.level, found.says, str(found.do or "")) for found in check(inspection)]


def write_token(path: Path, given: str) -> Path:
    path.touch(mode=0o600)
    path.write_text(f"{given}\n")
    return path


class FarServer:
    """A server that uses a proxy, and what doctor finds about it."""

    def __init__(self, home: Path, file: Path) -> None:
        self._home = home
        self.file = file

    async def finds(self, level: str, words: str) -> tuple[str, str, str]:
        """Wait for a finding of this level with these words."""

        async def found() -> Found:
            all = await asyncio.to_thread(findings, self._home, via_proxy)
            return [one for one in all if one[0] == level and words in one[1]]

        return (await eventually(found, f"{level}: {words}"))[0]


@asynccontextmanager
async def far_server(
    folder: Path, url: str, given: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[FarServer]:
    file, home = write_token(folder / "token", given), Home(folder / "home").create()
    monkeypatch.delenv("TABHUB_PORT", raising=False)
    async with served(home=home, via_proxy=access_of(url, file)) as server:
        secret.store(home, Auth(SECRET, server.port))
        monkeypatch.setenv("TABHUB_PORT", str(server.port))
        yield FarServer(home.root, file)


@pytest.fixture
async def proxy() -> AsyncIterator[ServedProxy]:
    async with proxy_served() as found:
        yield found


async def test_a_proxy_that_works_is_ok_and_so_are_its_browsers(
    tmp_path: Path, proxy: ServedProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with tunnelled(proxy) as far:
        async with far_server(tmp_path, proxy.public, token(seconds=86400), monkeypatch) as server:
            await (await far.link()).sync(tab(1), shared=False)
            await server.finds("ok", "through the proxy, can be used")
            await server.finds("ok", f"127.0.0.1:{proxy.port}")
            await server.finds("ok", "is good until")


async def test_a_token_that_has_expired_says_where_to_put_another(
    tmp_path: Path, proxy: ServedProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    expired = token(exp=int(time.time()) - 60)
    async with far_server(tmp_path, proxy.public, expired, monkeypatch) as server:
        _, _, advice = await server.finds("fail", "Token expired")
        assert str(server.file) in advice
        write_token(server.file, token(seconds=600))
        await server.finds("warn", "no browser of the user")
        _, _, advice = await server.finds("warn", "is good until")
        assert "before that" in advice


async def test_a_token_that_is_refused_says_why(
    tmp_path: Path, proxy: ServedProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = token(connection_url="https://other.example")
    async with far_server(tmp_path, proxy.public, wrong, monkeypatch) as server:
        _, _, advice = await server.finds("fail", "another service")
        assert "put another token" in advice


async def test_a_file_that_has_lost_its_token_is_named(
    tmp_path: Path, proxy: ServedProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with far_server(tmp_path, proxy.public, token(exp=1), monkeypatch) as server:
        server.file.unlink()
        await server.finds("fail", f"{server.file} cannot be read")
        write_token(server.file, token())
        server.file.chmod(0o644)
        await server.finds("fail", "chmod 600")


async def test_a_proxy_that_nobody_serves_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with far_server(tmp_path, "ws://127.0.0.1:1", token(), monkeypatch) as server:
        _, says, advice = await server.finds("fail", "Connection refused")
        assert "ws://127.0.0.1:1/mcp" in says
        assert "address" in advice


async def test_a_certificate_that_is_not_trusted_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cert, key = certificate(tmp_path, "127.0.0.1")
    async with proxy_served(certificate=cert, certificate_key=key) as proxy:
        async with far_server(tmp_path, proxy.public, token(), monkeypatch) as server:
            await server.finds("fail", "SSL_CERT_FILE")


async def test_a_browser_that_has_not_allowed_this_client_is_named(
    tmp_path: Path, proxy: ServedProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with tunnelled(proxy) as far:

        def refuse(session: AnsweringEnd) -> None:
            raise Forbidden("The person has not allowed “far”.", "permission_off")

        far.tunnels.on_open = refuse
        async with far_server(tmp_path, proxy.public, token(), monkeypatch) as server:
            _, _, advice = await server.finds("warn", "has not allowed “far”")
            assert "panel" in advice


async def test_nobody_is_told_to_open_a_panel_of_a_browser_elsewhere(
    tmp_path: Path, proxy: ServedProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tabhub.cli.doctor.checks import connected

    async with tunnelled(proxy) as far:
        async with far_server(tmp_path, proxy.public, token(), monkeypatch) as server:
            await (await far.link()).sync(tab(1), shared=False, kind="personal")
            await server.finds("ok", "can be used")
            found = await asyncio.to_thread(findings, tmp_path / "home", connected)
            assert not any("panel" in says for _, says, _ in found)


@contextmanager
def node(product: Product, *flags: str) -> Iterator[None]:
    file = product.home / "proxy.json"
    with product.running("proxy", "serve", *FREE, *flags):
        eventually_sync(lambda: file.exists() and "Health" in product.output, "the node to listen")
        yield


def test_without_a_proxy_nothing_is_said(tmp_path: Path) -> None:
    assert findings(tmp_path, served_proxy) == []
    assert findings(tmp_path, via_proxy) == []


def test_a_proxy_that_runs_here_is_looked_at(tmp_path: Path) -> None:
    product = Product(tmp_path / "home")
    cert, key = certificate(tmp_path, "a.example", days=2)
    tls = ("--tls-cert", str(cert), "--tls-key", str(key))
    with node(product, *tls, "--admin-host", "0.0.0.0"):
        found = findings(product.home, served_proxy)
        assert [level for level, _, _ in found] == ["ok", "warn"]
        assert "takes agents and browsers" in found[0][1]
        assert "expires on" in found[1][1]
        certificate(tmp_path, "a.example", days=-2)
        (product.home / "proxy-secret").chmod(0o644)
        found = findings(product.home, served_proxy)
        assert [level for level, _, _ in found] == ["ok", "fail", "fail"]
        assert "chmod 600" in found[1][2]
        assert "has expired" in found[2][1]


def test_a_proxy_without_its_nats_says_so(tmp_path: Path) -> None:
    product = Product(tmp_path / "home")
    with node(product, "--nats", "nats://127.0.0.1:1"):
        [(level, says, advice)] = findings(product.home, served_proxy)
        assert (level, "NATS" in says, "start NATS" in advice) == ("fail", True, True)


@pytest.mark.parametrize("is_alive", [True, False])
def test_a_proxy_that_does_not_answer_or_was_killed_is_reported(
    tmp_path: Path, is_alive: bool
) -> None:
    pid = os.getpid() if is_alive else 2**22 + 1
    left = {"pid": pid, "port": 1, "admin_port": 1, "secret_file": None}
    (tmp_path / "proxy.json").write_text(json.dumps(left))
    [(level, says, _)] = findings(tmp_path, served_proxy)
    assert level == ("fail" if is_alive else "warn")
    assert ("does not answer" if is_alive else "ended without cleaning up") in says
