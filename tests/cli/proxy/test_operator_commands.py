"""`tabhub proxy token`, `pair` and `revoke` beside a proxy that runs here: what they say is so."""

import json
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import CompletedProcess

import jwt
import pytest

from tests.proxy.nodes.nats_servers import nats_server
from tests.proxy.served import ProxyAddress, Side, client
from tests.support.eventually import eventually_sync
from tests.support.product import Product

Here = Callable[..., "CompletedProcess[str]"]
FREE = ("--port", "0", "--admin-port", "0")


@contextmanager
def node(product: Product, *flags: str) -> Iterator[ProxyAddress]:
    """A node in a process of its own, on free ports."""
    file = product.home / "proxy.json"
    with product.running("proxy", "serve", *FREE, *flags):
        eventually_sync(lambda: file.exists() and "Health" in product.output, "the node to listen")
        known = json.loads(file.read_text())
        yield ProxyAddress(known["port"], known["admin_port"])


def secret_file(folder: Path, text: str = "s" * 64) -> Path:
    file = folder / "secret"
    file.touch(mode=0o600)
    file.write_text(text)
    return file


def token_of(here: Here, *flags: str) -> str:
    return here("proxy", "token", "--user-id", "ann", *flags).stdout.strip()


def claims_of(token: str) -> dict[str, str]:
    found: dict[str, str] = jwt.decode(token, options={"verify_signature": False})
    return found


async def is_taken(proxy: ProxyAddress, token: str) -> bool:
    async with proxy.connect("/mcp") as connection:
        answer = await Side(connection).ask(1, "mcp_handshake", {"accessToken": token})
        return "result" in answer


async def test_a_token_is_signed_as_the_proxy_that_runs_here_wants_it(
    product: Product, here: Here, tmp_path: Path
) -> None:
    secret = secret_file(tmp_path)
    flags = ("--jwt-secret-file", str(secret), "--issuer", "me", "--audience", "tabhub")
    with node(product, *flags) as proxy:
        made = here("proxy", "token", "--user-id", "ann")
        assert await is_taken(proxy, made.stdout.strip())
        assert str(secret) in made.stderr
        assert not (product.home / "proxy-secret").exists()


async def test_a_token_that_the_proxy_here_refuses_comes_with_a_warning(
    product: Product, here: Here, tmp_path: Path
) -> None:
    with node(product) as proxy:
        flags = ("--jwt-secret-file", str(secret_file(tmp_path)))
        made = here("proxy", "token", "--user-id", "ann", *flags)
        assert "WARNING" in made.stderr
        assert str(product.home / "proxy-secret") in made.stderr
        assert not await is_taken(proxy, made.stdout.strip())


async def test_where_only_an_issuer_counts_no_token_is_made(product: Product, here: Here) -> None:
    with node(product, "--jwks", "http://127.0.0.1:1/keys"):
        refused = here("proxy", "token", "--user-id", "ann")
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "issuer" in refused.stderr


def test_a_node_that_was_killed_does_not_choose_the_secret(
    product: Product, here: Here, tmp_path: Path
) -> None:
    product.home.mkdir(mode=0o700)
    left = {"pid": 2**22 + 1, "port": 1, "admin_port": 1, "secret_file": str(tmp_path / "none")}
    (product.home / "proxy.json").write_text(json.dumps(left))
    made = here("proxy", "token", "--user-id", "ann")
    assert (made.returncode, str(product.home / "proxy-secret") in made.stderr) == (0, True)


async def test_a_whole_token_is_revoked_by_the_id_in_it(product: Product, here: Here) -> None:
    with node(product) as proxy:
        token = token_of(here, "--client", "laptop")
        async with client(proxy, token) as agent:
            revoked = here("proxy", "revoke", token)
            assert revoked.returncode == 0, revoked.stderr
            assert (await agent.closed())[0] == 4401
        assert f"{claims_of(token)['jti']} of ann, client laptop" in revoked.stderr
        assert token not in revoked.stderr
        assert token not in product.output


def test_what_is_no_id_of_a_token_is_refused(product: Product, here: Here) -> None:
    without_id = jwt.encode({"user_id": "ann", "exp": 4_000_000_000}, "k" * 32, algorithm="HS256")
    with node(product):
        for given, why in (
            (without_id, "revoke --user ann"),
            (without_id.rpartition(".")[0], "a part of a token"),
            ("eyJhbGciOi", "a part of a token"),
        ):
            refused = here("proxy", "revoke", given)
            assert (refused.returncode, why in refused.stderr) == (2, True), refused.stderr


async def test_a_node_keeps_no_token_in_the_place_of_an_id(product: Product, here: Here) -> None:
    with node(product) as proxy:
        token = token_of(here)
        secret = (product.home / "proxy-secret").read_text().strip()
        async with proxy.http(secret) as http:
            refused = await http.post(f"{proxy.admin}/revoke", json={"jti": token})
        assert refused.status_code == 400
        assert await is_taken(proxy, token)


def test_another_secret_than_that_of_the_node_is_named(
    product: Product, here: Here, tmp_path: Path
) -> None:
    file = secret_file(tmp_path)
    with node(product):
        refused = here("proxy", "pair", "--jwt-secret-file", str(file))
        assert refused.returncode != 0
        assert "another signing secret" in refused.stderr
        assert str(file) in refused.stderr


def test_a_program_that_does_not_answer_leaves_open_what_was_done(
    product: Product, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tabhub.cli.proxy.operating.ANSWER_SECONDS", 0.1)
    token_of(here)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = str(silent.getsockname()[1])
        failed = here("proxy", "revoke", "t1", "--admin-port", port)
    assert failed.returncode == 1
    assert "unknown" in failed.stderr
    assert "nothing was done" not in failed.stderr


@pytest.mark.nats
@pytest.mark.parametrize("way", ["never there", "killed", "stands still"])
async def test_a_revocation_without_nats_says_where_it_holds(
    product: Product, here: Here, tmp_path: Path, way: str
) -> None:
    async with nats_server(tmp_path) as nats:
        if way == "never there":
            nats.kill()
        with node(product, "--nats", nats.url) as proxy:
            token = token_of(here)
            if way != "never there":
                async with client(proxy, token) as agent:
                    assert "result" in await agent.ask(2, "list_extensions")
            nats.kill() if way == "killed" else nats.stand_still()
            revoked = here("proxy", "revoke", claims_of(token)["jti"])
            assert revoked.returncode == 1
            assert "This node has taken the revocation" in revoked.stderr
            assert "nothing was done" not in revoked.stderr
            if way == "stands still":
                os.kill(nats.process.pid, signal.SIGCONT)
                assert not await is_taken(proxy, token)


@pytest.mark.parametrize("url", ["http://nats.example", "nats://", "nats://h:x", "a,ws://b", ","])
def test_an_address_that_nats_cannot_have_is_refused(here: Here, url: str) -> None:
    refused = here("proxy", "serve", *FREE, "--nats", url)
    assert (refused.returncode, "--nats" in refused.stderr) == (2, True), refused.stderr


@pytest.mark.parametrize("name", ["https://proxy.example", "proxy.example/", "", "a b", "h:port"])
def test_an_allowed_host_that_no_request_can_name_is_refused(here: Here, name: str) -> None:
    refused = here("proxy", "serve", *FREE, "--allowed-host", name)
    assert (refused.returncode, "proxy.example:9516" in refused.stderr) == (2, True)
