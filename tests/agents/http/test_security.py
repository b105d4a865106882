"""Which requests the server accepts."""

import asyncio
import base64
import hashlib
import json
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import InvalidStatus

from tabhub.agents.http.routing import Access, HttpRoute
from tabhub.agents.http.security import OUR_EXTENSION
from tabhub.agents.routes import ROUTES
from tabhub.config.secret import is_proof
from tabhub.config.settings import Settings, SseSettings
from tabhub.page_tools.source import LIST_TABS
from tabhub.tools import catalog
from tests.support.browsers.extension import connected
from tests.support.eventually import PATIENCE
from tests.support.serving import SECRET, client, served

ENDPOINTS = [
    (method, path.format(name="browser_list_tabs"))
    for route in ROUTES
    if isinstance(route, HttpRoute) and route.access in (Access.CLIENTS, Access.PERSON)
    for path in (route.path, *route.aliases)
    for method in route.methods
    if method != "OPTIONS"
] + [("GET", "/no-such-place")]
"""Each way to use an endpoint that needs a token, and a path that does not exist."""


async def _ask(http: httpx.AsyncClient, method: str, path: str, **headers: str) -> httpx.Response:
    return await http.request(method, path, headers=headers)


@pytest.mark.document("OT-endpoints-7", "OT-wsinfo-2", "OT-audit-2", "OT-reload-1")
@pytest.mark.document("CB-errors-3", "CB-security-4")
@pytest.mark.requirement("OT-16")
@pytest.mark.requirement("TH-41")
@pytest.mark.parametrize(
    "token",
    [None, "wrong", SECRET[:-1], SECRET + "0", SECRET.upper(), "x"],
)
async def test_every_endpoint_refuses_a_missing_or_wrong_token(token: str | None) -> None:
    async with served() as server, client(server.port, token) as http:
        for method, path in ENDPOINTS:
            answer = await _ask(http, method, path)
            assert answer.status_code == 401, (method, path)
            assert answer.headers["www-authenticate"] == "Bearer"
            if method != "HEAD":
                error = answer.json()["error"]
                assert (error["reason"], error["retryable"]) == ("not_authenticated", False)


@pytest.mark.document("CB-security-2", "CB-security-4")
@pytest.mark.requirement("OT-16")
async def test_the_bearer_scheme_is_case_insensitive_and_blanks_do_not_matter() -> None:
    async with served() as server, client(server.port, None) as http:
        for value in (f"Bearer {SECRET}", f"bearer  {SECRET}", f"BEARER {SECRET}"):
            assert (await _ask(http, "GET", "/ws-info", Authorization=value)).status_code == 200
        for value in (SECRET, f"Basic {SECRET}"):
            assert (await _ask(http, "GET", "/ws-info", Authorization=value)).status_code == 401


@pytest.mark.document("OT-wsinfo-1")
@pytest.mark.requirement("OT-16")
async def test_the_address_of_the_link_needs_the_secret() -> None:
    async with served() as server, client(server.port) as http:
        answer = await http.get("/ws-info")
    assert answer.json() == {"wsUrl": f"ws://127.0.0.1:{server.port}/ws"}


@pytest.mark.document("OT-cors-1")
@pytest.mark.document("CB-security-6")
@pytest.mark.requirement("OT-17")
@pytest.mark.parametrize(
    "origin",
    [
        "https://example.com",
        "http://localhost:3000",
        "null",
        "http://127.0.0.1",
        "https://127.0.0.1:{port}",
        "http://127.0.0.1:{port}.evil.example",
        "file://",
        "chrome-extension:/evil",
        "",
    ],
)
async def test_a_request_from_a_web_page_is_refused_on_every_endpoint(origin: str) -> None:
    async with served() as server, client(server.port) as http:
        for method, path in [*ENDPOINTS, ("GET", "/health")]:
            answer = await _ask(http, method, path, Origin=origin.format(port=server.port))
            assert answer.status_code == 403, (method, path)
            assert _reason(answer) == "foreign_origin"


def _reason(answer: httpx.Response) -> str:
    """The reason word; a HEAD request gets no body."""
    is_head = answer.request.method == "HEAD"
    return "foreign_origin" if is_head else answer.json()["error"]["reason"]


@pytest.mark.document("OT-cors-2")
@pytest.mark.requirement("OT-17")
async def test_an_extension_and_the_servers_own_origin_are_accepted() -> None:
    async with served() as server, client(server.port) as http:
        for origin in ("chrome-extension://abcdefgh", f"http://127.0.0.1:{server.port}"):
            assert (await _ask(http, "GET", "/ws-info", Origin=origin)).status_code == 200


@pytest.mark.requirement("OT-17")
@pytest.mark.parametrize("auth", [True, False])
async def test_a_cross_site_request_of_a_page_is_refused(auth: bool) -> None:
    """Requests for images, scripts and forms carry no Origin header."""
    async with served(auth=auth) as server, client(server.port) as http:
        for site in ("cross-site", "same-site"):
            for method, path in [*ENDPOINTS, ("GET", "/health"), ("GET", "/sse")]:
                answer = await http.request(method, path, headers={"Sec-Fetch-Site": site})
                assert answer.status_code == 403, (method, path)
                assert _reason(answer) == "foreign_origin"
        for site in ("none", "same-origin"):
            answer = await http.get("/health", headers={"Sec-Fetch-Site": site})
            assert answer.status_code == 200
        extension = {"Sec-Fetch-Site": "cross-site", "Origin": OUR_EXTENSION.decode()}
        assert (await http.get("/health", headers=extension)).status_code == 200


@pytest.mark.requirement("OT-17")
async def test_an_allowed_origin_may_send_cross_site_requests() -> None:
    settings = Settings(mcp_server=SseSettings(cors_origins=["https://app.example"]))
    page = {"Sec-Fetch-Site": "cross-site", "Origin": "https://app.example"}
    async with served(settings) as server, client(server.port) as http:
        assert (await http.get("/tools", headers=page)).status_code == 200
        assert (await http.get("/audit", headers=page)).status_code == 403
        del page["Origin"]
        assert (await http.get("/tools", headers=page)).status_code == 403


@pytest.mark.requirement("OT-17")
async def test_without_authentication_only_our_own_extension_is_accepted() -> None:
    async with served(auth=False) as server, client(server.port, None) as http:
        for origin, status in (
            (OUR_EXTENSION.decode(), 200),
            ("chrome-extension://" + "a" * 32, 403),
        ):
            assert (await _ask(http, "POST", "/reload", Origin=origin)).status_code == status


def test_the_known_extension_id_is_that_of_the_shipped_extension() -> None:
    manifest = Path(__file__).parents[3] / "extension" / "manifest.json"
    key = base64.b64decode(json.loads(manifest.read_text())["key"])
    letters = (chr(ord("a") + int(digit, 16)) for digit in hashlib.sha256(key).hexdigest()[:32])
    assert OUR_EXTENSION.decode() == "chrome-extension://" + "".join(letters)


@pytest.mark.document("OT-cors-3")
@pytest.mark.document("CB-base-3")
@pytest.mark.requirement("OT-17")
@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("evil.example", 403),
        ("evil.example:{port}", 403),
        ("127.0.0.1.evil.example", 403),
        ("localhost.evil.example:{port}", 403),
        ("192.168.0.1", 403),
        ("0.0.0.0", 403),
        ("", 403),
        ("localhost:{port}", 200),
        ("LOCALHOST", 200),
        ("127.0.0.1", 200),
        ("[::1]:{port}", 200),
    ],
)
async def test_only_a_loopback_host_is_served(host: str, status: int) -> None:
    async with served() as server, client(server.port) as http:
        answer = await _ask(http, "GET", "/health", Host=host.format(port=server.port))
        assert answer.status_code == status
        if status == 403:
            assert answer.json()["error"]["reason"] == "foreign_host"


async def test_health_without_a_token_reports_only_ok() -> None:
    async with served() as server:
        async with client(server.port, None) as http:
            assert (await http.get("/health")).json() == {"status": "ok"}
        async with client(server.port, "wrong") as http:
            assert (await http.get("/health")).status_code == 401
        async with client(server.port) as http:
            full = (await http.get("/health")).json()
    assert full["status"] == "ok"
    assert full["toolCount"] == len(catalog.ALL) + len([LIST_TABS])
    assert full["extensionConnected"] is False


@pytest.mark.document("CB-bridge-3")
@pytest.mark.requirement("TH-41")
async def test_a_wrong_path_or_method_gets_an_error_with_a_reason() -> None:
    async with served() as server, client(server.port) as http:
        nowhere = await http.get("/nowhere")
        wrong = await http.post("/health")
    assert (nowhere.status_code, nowhere.json()["error"]["reason"]) == (404, "not_found")
    assert (wrong.status_code, wrong.json()["error"]["reason"]) == (405, "method_not_allowed")
    assert wrong.headers["allow"] == "GET, HEAD"


async def test_health_proves_on_request_that_it_knows_the_secret() -> None:
    async with served() as server, client(server.port, None) as http:
        health = (await http.get("/health", params={"challenge": "word"})).json()
        empty = (await http.get("/health", params={"challenge": "x" * 200})).json()
    assert is_proof(health["proof"], SECRET, "word", server.port)
    assert empty == {"status": "ok"}


async def test_the_proof_of_health_opens_no_link() -> None:
    """The server must never hand out the answer that the extension has to give."""
    async with served() as server, client(server.port, None) as http:
        for challenge in ("link:word", "word", "-link:word", ":link:word", "tabhub-link:1:word"):
            await http.get("/health", params={"challenge": "word"})
            health = (await http.get("/health", params={"challenge": challenge})).json()
            with pytest.raises(InvalidStatus):
                async with connected(server.port, secret=f"once.word.{health['proof']}"):
                    pass


async def test_an_endless_request_head_is_refused() -> None:
    async with served() as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        with suppress(ConnectionError):
            for number in range(3000):
                writer.write(b"X-%d: %s\r\n" % (number, b"y" * 1000))
                await writer.drain()
        with suppress(ConnectionError):
            assert b" 431 " in await reader.readline()
        writer.close()
        async with client(server.port, None) as http:
            assert (await http.get("/health")).status_code == 200


@pytest.mark.document("OT-auth-2")
@pytest.mark.document("CB-security-5")
async def test_without_authentication_a_local_client_needs_no_token() -> None:
    async with served(auth=False) as server, client(server.port, None) as http:
        assert (await http.get("/ws-info")).status_code == 200


@pytest.mark.requirement("TH-41")
async def test_a_body_over_the_limit_is_refused_and_the_server_goes_on() -> None:
    async with served() as server, client(server.port) as http:
        headers = {"Content-Type": "application/json"}
        for body in (b"x" * (10 * 1024 * 1024 + 1),):
            announced = await http.post("/mcp", content=body, headers=headers)
            assert (announced.status_code, announced.json()["error"]["data"]["reason"]) == (
                413,
                "too_large",
            )
        assert (await http.get("/health")).status_code == 200


async def test_a_silent_connection_is_closed_and_one_with_a_request_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tabhub.agents.http.connections.HEAD_SECONDS", 0.2)
    async with served() as server:
        for first_bytes in (b"", b"GET /health HTTP/1.1\r\nHost: local"):
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(first_bytes)
            assert await asyncio.wait_for(reader.read(), PATIENCE) == b""
            writer.close()
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        request = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for _ in range(2):
            writer.write(request)
            assert b"200" in await asyncio.wait_for(reader.readuntil(b"}"), PATIENCE)
            await asyncio.sleep(0.4)
        writer.close()
