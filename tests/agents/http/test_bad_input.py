"""Bad input at every endpoint: each one answers at once in the same shape and keeps working."""

from collections.abc import AsyncIterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from tabhub.agents.http.routing import HttpRoute
from tabhub.agents.routes import ROUTES
from tabhub.config.clients import Clients
from tabhub.config.paths import Home
from tabhub.server.serving import Server
from tests.support.serving import SECRET, client, served

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
TOOL = "/tools/shortcuts_list/call"
DEEP = 10_000
HUGE = "9" * 5000
ERROR = {"code", "message", "reason", "retryable", "category"}
LEAKS = ("Traceback", 'File "', "tabhub/", "tabhub\\", SECRET)


class Fault(NamedTuple):
    """A body that no endpoint accepts, and the statuses that may refuse it."""

    name: str
    body: bytes
    statuses: tuple[int, ...]
    kind: str = "application/json"


FAULTS = (
    Fault("no JSON at all", b"<xml/>", (400,)),
    Fault("JSON that ends too early", b'{"jsonrpc": "2.0", "id": 1, "meth', (400,)),
    Fault("bytes that are no text", b'{"a": "\xff\xfe"}', (400,)),
    Fault("a number instead of an object", b"17", (400,)),
    Fault("a list of nothing", b"[]", (400,)),
    Fault("arrays in arrays in arrays", b"[" * DEEP + b"]" * DEEP, (400,)),
    Fault("objects in objects in objects", b'{"a":' * DEEP + b"1" + b"}" * DEEP, (400,)),
    Fault("another content type", b"{}", (415,), "text/plain"),
    Fault("a form", b"a=1", (415,), "application/x-www-form-urlencoded"),
)


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    home = Home(tmp_path / "home").create()
    Clients(home).add("ann")
    async with served(home=home) as server:
        yield server


async def described(http: httpx.AsyncClient) -> dict[str, dict[str, Any]]:
    paths = (await http.get("/openapi.json")).json()["paths"]
    return {path.replace("{name}", "shortcuts_list"): item for path, item in paths.items()}


def require_error(answer: httpx.Response, statuses: tuple[int, ...], what: object) -> None:
    assert answer.status_code in statuses, (what, answer.status_code, answer.text)
    assert answer.headers["content-type"] == "application/json", what
    error = answer.json()["error"]
    # MCP has its own error shape: the same fields are in its data.
    fields = {**error.get("data", {}), **error}
    assert ERROR <= fields.keys(), (what, error)
    assert isinstance(fields["retryable"], bool) and fields["reason"], what
    assert not [leak for leak in LEAKS if leak in answer.text], (what, answer.text)


async def still_works(http: httpx.AsyncClient) -> None:
    assert (await http.post(TOOL, json={})).status_code == 200


async def test_a_wrong_method_gets_the_allowed_ones(server: Server) -> None:
    async with client(server.port) as http:
        for route in ROUTES:
            path = route.path.replace("{name}", "shortcuts_list")
            if not isinstance(route, HttpRoute):
                continue
            for method in set(METHODS) - set(route.methods):
                answer = await http.request(method, path)
                require_error(answer, (405,), (method, path))
                allowed = tuple(answer.headers["allow"].split(", "))
                assert allowed == route.methods, (method, path)
        await still_works(http)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
async def test_a_malformed_body_is_refused(server: Server, fault: Fault) -> None:
    async with client(server.port) as http, http.stream("GET", "/sse") as events:
        session = events.headers["x-session-id"]
        paths = await described(http)
        takers = [path for path, item in paths.items() if "requestBody" in item.get("post", {})]
        for path in takers:
            answer = await http.post(
                path,
                content=fault.body,
                headers={"content-type": fault.kind, "mcp-session-id": "none"},
                params={"sessionId": session} if path == "/message" else {},
            )
            require_error(answer, fault.statuses, (path, fault.name))
        await still_works(http)


@pytest.mark.parametrize("number", [HUGE, "-" + HUGE, "1e99999", "1" + "0" * 400 + ".5"])
async def test_a_number_that_is_too_large_harms_nothing(server: Server, number: str) -> None:
    bodies = {
        TOOL: f'{{"arguments": {{"n": {number}}}}}',
        "/mcp": f'{{"jsonrpc": "2.0", "id": {number}, "method": "initialize", "params": {{}}}}',
        "/plugin-settings": f'{{"plugin": "x", "settings": {{"n": {number}}}}}',
    }
    async with client(server.port) as http:
        for path, body in bodies.items():
            headers = {"content-type": "application/json"}
            answer = await http.post(path, content=body.encode(), headers=headers)
            require_error(answer, (400, 404), (path, number[:10]))
        await still_works(http)


async def test_a_wrong_token_is_refused_and_not_repeated(server: Server) -> None:
    tokens = ("letmein", SECRET[:-1], SECRET + "0", "thc_" + "A" * 43, "x" * 5000, "é")
    async with client(server.port, None) as http:
        paths = await described(http)
        for (path, item), token in product(paths.items(), tokens):
            for method in item.keys() - {"parameters"}:
                headers = {b"authorization": f"Bearer {token}".encode()}
                answer = await http.request(method, path, headers=headers)
                if path == "/openapi.json":
                    continue
                require_error(answer, (401,), (method, path, token[:10]))
                assert token not in answer.text, (method, path)


async def test_the_session_of_another_client_is_not_found(server: Server, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    stranger_token = Clients(home).add("eve")
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "x", "version": "1"},
        },
    }
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    async with (
        client(server.port) as http,
        client(server.port, stranger_token) as stranger,
        http.stream("GET", "/sse") as events,
    ):
        message = f"/message?sessionId={events.headers['x-session-id']}"
        ids = {}
        for path in ("/mcp", "/mcp/gateway"):
            ids[path] = (await http.post(path, json=hello)).headers["mcp-session-id"]
        for path, id in ids.items():
            elsewhere = "/mcp" if path != "/mcp" else "/mcp/gateway"
            for caller, where, session_id in (
                (stranger, path, id),
                (http, elsewhere, id),
                (http, path, "00000000-0000-0000-0000-000000000000"),
                (http, path, "../../etc/passwd"),
            ):
                answer = await caller.post(where, json=ping, headers={"mcp-session-id": session_id})
                require_error(answer, (403, 404), (where, session_id))
            await http.delete(path, headers={"mcp-session-id": id})
            answer = await http.post(path, json=ping, headers={"mcp-session-id": id})
            require_error(answer, (404,), (path, "replayed"))
        require_error(await stranger.post(message, json=ping), (403, 404), "another's stream")
        for wrong in ("/message?sessionId=session_none", "/message?sessionId="):
            require_error(await http.post(wrong, json=ping), (400, 404), wrong)
        require_error(await http.post("/message", json=ping), (400,), "no session")
        await still_works(http)
