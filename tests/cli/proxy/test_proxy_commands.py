"""`tabhub proxy` as a person runs it: serving, tokens, pairing, revoking, stopping."""

import asyncio
import json
import os
import resource
import signal
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import httpx
import jwt
import pytest
from websockets.exceptions import InvalidStatus

from tests.proxy.certificates import certificate, trusting
from tests.proxy.served import ProxyAddress, Side, answered, client, extension
from tests.support.eventually import PATIENCE, eventually, eventually_sync
from tests.support.http_client import NO_TLS
from tests.support.product import Product

Here = Callable[..., "subprocess.CompletedProcess[str]"]

FREE = ("--port", "0", "--admin-port", "0")
Process = subprocess.Popen[str]


@contextmanager
def node(product: Product, *flags: str) -> Iterator[tuple[ProxyAddress, Process]]:
    """A node in a process of its own, on free ports."""
    file = product.home / "proxy.json"
    with product.running("proxy", "serve", *FREE, *flags) as process:
        eventually_sync(lambda: file.exists() and "Health" in product.output, "the node to listen")
        known = json.loads(file.read_text())
        scheme = "https" if "--tls-cert" in flags else "http"
        yield ProxyAddress(known["port"], known["admin_port"], scheme), process
    assert not file.exists()


def token_of(here: Here, *flags: str) -> str:
    return here("proxy", "token", "--user-id", "ann", *flags).stdout.strip()


async def refused(proxy: ProxyAddress, token: str) -> str:
    async with proxy.connect("/mcp") as connection:
        answer = await Side(connection).ask(1, "mcp_handshake", {"accessToken": token})
        return str(answer["error"]["message"])


async def test_a_token_connects_an_agent_until_it_is_revoked(product: Product, here: Here) -> None:
    with node(product) as (proxy, _):
        token = token_of(here, "--client", "laptop", "--ttl", "600")
        claims = jwt.decode(token, options={"verify_signature": False})
        assert (claims["client"], claims["exp"] - claims["iat"]) == ("laptop", 600)
        async with client(proxy, token) as agent, client(proxy, token_of(here)) as other:
            revoked = here("proxy", "revoke", claims["jti"])
            assert (revoked.returncode, "Revoked" in revoked.stderr) == (0, True)
            assert (await agent.closed())[0] == 4401
            assert "result" in await other.ask(2, "list_extensions")
            here("proxy", "revoke", "--user", "ann")
            assert (await other.closed())[0] == 4401
        assert "revoked" in await refused(proxy, token)


async def test_a_code_is_exchanged_for_a_token_of_the_user(product: Product, here: Here) -> None:
    with node(product) as (proxy, _):
        paired = here("proxy", "pair", "--user-id", "ann", "--client", "phone", "--json")
        code = json.loads(paired.stdout)["code"]
        async with proxy.http() as http:
            given = (await http.post(f"{proxy.public}/pair", json={"code": code})).json()
        claims = jwt.decode(given["token"], options={"verify_signature": False})
        assert (claims["user_id"], claims["client"]) == ("ann", "phone")
        async with client(proxy, given["token"]) as agent:
            assert "result" in await agent.ask(2, "list_extensions")
        by_default = here("proxy", "pair")
        assert len(by_default.stdout.strip()) == 9


async def test_a_token_can_say_the_issuer_and_the_audience_that_a_node_demands(
    product: Product, here: Here
) -> None:
    demands = ("--issuer", "me", "--audience", "tabhub")
    with node(product, *demands) as (proxy, _):
        assert "another issuer" in await refused(proxy, token_of(here, "--issuer", "you"))
        assert "another service" in await refused(proxy, token_of(here, "--audience", "other"))
        async with client(proxy, token_of(here, *demands)) as agent:
            assert "result" in await agent.ask(2, "list_extensions")


async def test_a_token_for_another_address_is_refused(product: Product, here: Here) -> None:
    with node(product, "--allowed-host", "Proxy.example") as (proxy, _):
        other = token_of(here, "--connection-url", "wss://other.example/mcp")
        own = token_of(here, "--connection-url", "wss://proxy.example/mcp")
        async with proxy.connect("/mcp", "proxy.example") as connection:
            answer = await Side(connection).ask(1, "mcp_handshake", {"accessToken": other})
            assert "another service" in answer["error"]["message"]
        async with client(proxy, own, name="proxy.example") as agent:
            assert "result" in await agent.ask(2, "list_extensions")
        with pytest.raises(InvalidStatus):
            await proxy.connect("/mcp")


def test_without_a_node_pairing_and_revoking_say_that_nothing_was_done(here: Here) -> None:
    token_of(here)
    for command in ("pair", "revoke t1", "revoke --user ann"):
        failed = here("proxy", *command.split(), "--admin-port", "1")
        assert (failed.returncode, "nothing was done" in failed.stderr) == (3, True)
    for wrong in ("revoke", "revoke t1 --user ann", "token"):
        assert here("proxy", *wrong.split()).returncode == 2


def test_the_secret_is_made_once_and_only_its_owner_reads_it(product: Product, here: Here) -> None:
    assert token_of(here)
    file = product.home / "proxy-secret"
    secret = file.read_text()
    assert (len(secret.strip()), file.stat().st_mode & 0o777) == (64, 0o600)
    assert token_of(here)
    assert file.read_text() == secret


def test_a_weak_secret_is_refused_and_an_open_one_warned_about(here: Here, tmp_path: Path) -> None:
    file = tmp_path / "secret"
    for weak in ("short\n", "x" * 20 + "\n" * 20, "é" * 32):
        file.write_text(weak)
        failed = here("proxy", "serve", *FREE, "--jwt-secret-file", str(file))
        assert (failed.returncode, "at least 32" in failed.stderr) == (2, True)
    file.write_text("s" * 32)
    file.chmod(0o644)
    warned = here("proxy", "token", "--user-id", "ann", "--jwt-secret-file", str(file))
    assert (warned.returncode, "chmod 600" in warned.stderr) == (0, True)
    assert jwt.decode(warned.stdout.strip(), "s" * 32, algorithms=["HS256"])["user_id"] == "ann"


@pytest.mark.requirement("PX-10")
@pytest.mark.parametrize(
    ("flags", "why"),
    [
        (("--host", "0.0.0.0"), "in the clear"),
        (("--host", "::"), "in the clear"),
        (("--jwks", "http://issuer.example/keys"), "must be https"),
        (("--tls-cert", "cert.pem"), "belong together"),
        (("--tls-cert", "/dev/null", "--tls-key", "/dev/null"), "has no certificate in it"),
    ],
)
def test_what_would_be_unsafe_is_refused(here: Here, flags: tuple[str, ...], why: str) -> None:
    failed = here("proxy", "serve", *FREE, *flags)
    assert (failed.returncode, why in failed.stderr) == (2, True)


@pytest.mark.requirement("PX-10")
@pytest.mark.document("PX-security-1")
async def test_plain_connections_beyond_loopback_need_to_be_allowed(
    product: Product, here: Here
) -> None:
    with node(product, "--host", "0.0.0.0", "--insecure") as (proxy, _):
        async with client(proxy, token_of(here)) as agent:
            assert "result" in await agent.ask(2, "list_extensions")


@pytest.mark.requirement("PX-10")
async def test_tls_is_served_from_files_and_a_new_certificate_taken(
    product: Product, tmp_path: Path, here: Here
) -> None:
    cert, key = certificate(tmp_path, "first.example")
    with node(product, "--tls-cert", str(cert), "--tls-key", str(key)) as (proxy, _):
        async with client(proxy, token_of(here), ssl=trusting()) as agent:

            async def shown() -> bytes:
                async with proxy.connect("/mcp", ssl=trusting()) as connection:
                    tls = connection.transport.get_extra_info("ssl_object")
                    return bytes(tls.getpeercert(True))

            assert b"first.example" in await shown()
            certificate(tmp_path, "second.example")
            await eventually(shown, until=lambda found: b"second.example" in found)
            assert "result" in await agent.ask(2, "list_extensions")


async def is_draining(proxy: ProxyAddress) -> bool:
    async with proxy.http() as http:
        return (await http.get(f"{proxy.admin}/readyz")).status_code == 503


@asynccontextmanager
async def call_in_flight(proxy: ProxyAddress, token: str) -> AsyncIterator[tuple[Side, Side, str]]:
    """An extension, a client whose call it has not answered, and the id of that call."""
    async with extension(proxy, token) as (browser, id), client(proxy, token) as agent:
        await agent.ask(2, "connect", {"extension_id": id})
        await agent.send({"jsonrpc": "2.0", "id": 3, "method": "createTab"})
        asked = await browser.next(method="createTab")
        yield browser, agent, asked["id"]


async def test_a_stop_lets_a_running_call_end(product: Product, here: Here) -> None:
    with node(product, "--drain-seconds", "3600") as (proxy, process):
        async with call_in_flight(proxy, token_of(here)) as (browser, agent, call):
            process.send_signal(signal.SIGTERM)
            await eventually(lambda: is_draining(proxy))
            with pytest.raises(InvalidStatus) as turned_away:
                await proxy.connect("/mcp")
            assert turned_away.value.response.status_code == 503
            await browser.send({"jsonrpc": "2.0", "id": call, "result": {"tabId": 7}})
            assert (await agent.next(id=3))["result"] == {"tabId": 7}
            assert (await agent.closed())[0] == 1012
            assert (await browser.closed())[0] == 1012
        assert await asyncio.to_thread(process.wait, PATIENCE) == 0


async def test_a_second_signal_does_not_wait(product: Product, here: Here) -> None:
    with node(product, "--drain-seconds", "3600") as (proxy, process):
        async with call_in_flight(proxy, token_of(here)):
            process.send_signal(signal.SIGTERM)
            await eventually(lambda: is_draining(proxy))
            process.send_signal(signal.SIGINT)
            assert await asyncio.to_thread(process.wait, PATIENCE) == 0


async def test_logs_and_the_file_of_a_node_have_no_token_and_no_secret(
    product: Product, here: Here
) -> None:
    with node(product) as (proxy, _):
        good = token_of(here)
        bad = jwt.encode({"user_id": "ann", "exp": 4_000_000_000}, "w" * 32, algorithm="HS256")
        assert "Invalid token" in await refused(proxy, bad)
        async with proxy.http() as http:
            await http.get(f"{proxy.public}/mcp?token={good}")
            await http.post(f"{proxy.admin}/pair", headers={"Authorization": f"Bearer {good}"})
        async with extension(proxy, good) as (browser, id), client(proxy, good) as agent:
            await agent.ask(2, "connect", {"extension_id": id})
            answering = asyncio.create_task(answered(browser, result={}))
            await agent.ask(3, "getTabs")
            await answering
        with pytest.raises(InvalidStatus):
            await proxy.connect(f"/elsewhere?token={good}")
        here("proxy", "revoke", "--user", "ann")
        written = product.output + (product.home / "proxy.json").read_text()
    secret = (product.home / "proxy-secret").read_text().strip()
    for hidden in (good, bad, good.split(".")[1], secret):
        assert hidden not in written + product.output
    assert "connection open" not in product.output, "a line for each socket"


async def test_only_who_knows_the_secret_operates_a_node(product: Product, here: Here) -> None:
    with node(product) as (proxy, _), httpx.Client(timeout=PATIENCE, verify=NO_TLS) as http:
        secret = (product.home / "proxy-secret").read_text().strip()
        port = int(proxy.admin.rpartition(":")[2])
        for audience, allowed in (
            (f"tabhub-proxy-operators:{port}", True),
            (f"tabhub-proxy-operators:{port + 1}", False),
            ("ann", False),
        ):
            claims = {"aud": audience, "exp": 4_000_000_000}
            shown = jwt.encode(claims, secret, algorithm="HS256")
            headers = {"Authorization": f"Bearer {shown}"}
            asked = http.post(f"{proxy.admin}/pair", json={"user_id": "ann"}, headers=headers)
            assert (asked.status_code == 200) == allowed
            # An operator is no user.
            assert await refused(proxy, shown)
        for shown, status in ((secret, 200), (token_of(here), 401), ("x", 401)):
            headers = {"Authorization": f"Bearer {shown}"}
            asked = http.post(f"{proxy.admin}/pair", json={"user_id": "ann"}, headers=headers)
            assert asked.status_code == status


def test_a_home_that_cannot_be_written_keeps_no_node_from_serving(
    product: Product, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s" * 64)
    os.chmod(secret, 0o600)
    product.environment["TABHUB_HOME"] = "/proc/nowhere"
    with product.running("proxy", "serve", *FREE, "--jwt-secret-file", str(secret)) as process:
        eventually_sync(lambda: "Health" in product.output, "the node to listen")
        assert process.poll() is None


def test_a_node_may_have_as_many_sockets_as_the_system_allows(product: Product) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(1000, hard), hard))
    try:
        with node(product) as (_, process):
            limits = Path(f"/proc/{process.pid}/limits").read_text()
            (line,) = (line for line in limits.splitlines() if line.startswith("Max open files"))
            assert line.split()[3] == line.split()[4]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
