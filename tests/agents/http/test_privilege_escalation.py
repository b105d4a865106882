"""A client token at every endpoint: it can never approve, grant, review or change a permission."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.frames import Frame, Opcode

from tabhub.agents.routes import ROUTES
from tabhub.wire.methods import EXTENSION
from tests.agents.http.protected import (
    DOCUMENT,
    GRANT,
    INTRUDER,
    OWNED,
    PAIRED,
    PLUGIN,
    PRIVATE,
    SCRIPT,
    SESSION,
    Json,
    Protected,
    protected,
)
from tests.agents.mcp.clients import Client, LoneClient, connect
from tests.support.browsers.extension import page_tool
from tests.support.browsers.worker import SHOP
from tests.support.eventually import PATIENCE
from tests.support.serving import client

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
FOR_AGENTS = {
    *("/mcp", "/mcp/", "/mcp/gateway", "/mcp/gateway/", "/sse", "/message"),
    *("/tools", "/tools/", "/openapi.json", "/metrics", "/health"),
}
FOR_EXTENSIONS = {"/extension/pair"}
"""They need no token: the person compares codes before anything is given."""
ENDLESS = ("GET", "/sse")
"""Endpoints with an endless response."""
FOR_THE_PERSON = {
    path for route in ROUTES for path in route.spellings if not route.access.is_for_clients
}

POWERLESS: dict[str, Json] = {
    "config.getState": {},
    "confirmation.outline": {"id": "QUESTION", "shown": False},
    "calls.recent": {},
    "call.cancel": {"id": "1"},
    "audit.list": {"limit": 5},
    "audit.export": {"format": "csv"},
    "tool.describe": {"tool": SCRIPT},
    "tool.run": {"tool": "permissions_check", "arguments": {"tool": SCRIPT}},
    "clients.list": {},
    "settings.list": {},
    "plugin.logs": {"plugin": PLUGIN},
    "plugin.search": {"query": "notes"},
    "plugin.checkUpdates": {},
    "plugin.getReview": {"plugin": PLUGIN},
    "plugin.getSource": {"plugin": PLUGIN, "file": "package.json"},
    "folder.open": {"path": "/"},
    "tool.progress": {"dispatchId": "1", "progress": 1},
    "frames.allowed": {"dispatchId": "1", "sites": ["shop.example"]},
    "files.read": {"dispatchId": "1", "index": 0, "offset": 0},
    "plugin.readiness": {"tabs": []},
    "plugin.log": {"plugin": "notes", "entries": [{"message": "hello"}]},
    "sync.requestFull": {},
    "plugin.code": {"plugin": "notes", "digest": "0" * 64},
    "ping": {},
}
"""Messages that change nothing, also when the person sends them."""
POWERFUL: dict[str, Json] = {
    "config.setToolPermission": {"plugin": "browser", "tool": SCRIPT, "permission": "auto"},
    "config.setPluginPermission": {"plugin": "browser", "permission": "auto"},
    "config.setSkipPermissions": {"skip": True},
    "confirmation.response": {"id": "QUESTION", "decision": "allow", "scope": "always"},
    "agent.pause": {"session": SESSION, "paused": True},
    "agents.stop": {"stopped": True},
    "tab.share": {"tabId": PRIVATE, "shared": True},
    "tab.takeBack": {"tabId": OWNED},
    "grant.revoke": {"id": GRANT},
    "page.pair": {"origin": SHOP, "code": "CODE", "allowed": True},
    "config.setPageLevel": {"origin": PAIRED, "level": "auto"},
    "config.setPluginSettings": {"plugin": PLUGIN, "settings": {"team": "x"}},
    "settings.set": {"key": "unattended", "value": "allow"},
    "client.revoke": {"name": INTRUDER},
    "plugin.install": {"name": "opentabs-plugin-new"},
    "plugin.updateFromRegistry": {"name": PLUGIN},
    "plugin.remove": {"name": PLUGIN},
    "plugin.removeBySpecifier": {"specifier": "opentabs-plugin-demo"},
    "plugin.approve": {"plugin": PLUGIN, "sha256": "DIGESTS"},
    "tab.syncAll": {"browser": {"kind": "managed"}, "tabs": []},
    "tab.stateChanged": {"tabId": PRIVATE, "state": "closed"},
    "panel.changed": {"open": 0},
    "browser/registerTools": {"tabId": PRIVATE, "origin": SHOP, "tools": [page_tool("buy")]},
    "browser/updateTools": {**DOCUMENT, "tools": []},
    "browser/unregisterTools": DOCUMENT,
}
EVERY = POWERLESS | POWERFUL


def message_for(target: Protected, method: str) -> Json:
    """The message about the open approval, the page that waits for pairing, and the plugin."""
    placeholders: Json = {"QUESTION": target.question, "CODE": target.code}
    placeholders["DIGESTS"] = target.digests()
    params = {
        key: placeholders.get(value, value) if isinstance(value, str) else value
        for key, value in EVERY[method].items()
    }
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


async def pushed(port: int, token: str, message: Json) -> tuple[int, Json]:
    """Open the link and send a message at once, without waiting for the handshake."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = (
        f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        f"Sec-WebSocket-Protocol: tabhub, {token}, profile-a\r\n\r\n"
    )
    frame = Frame(Opcode.TEXT, json.dumps(message).encode()).serialize(mask=True)
    writer.write(head.encode() + frame)
    answer = await asyncio.wait_for(reader.read(), PATIENCE)
    writer.close()
    response_head, _, body = answer.partition(b"\r\n\r\n")
    return int(response_head.split()[1]), json.loads(body)


@pytest.mark.requirement("OT-34", "OT-36")
async def test_the_walk_knows_every_endpoint_and_every_message(tmp_path: Path) -> None:
    async with protected(tmp_path) as target:
        app = target.server.app
        assert app.router.routes == list(ROUTES)
        paths = {path for route in ROUTES for path in route.spellings if "{" not in path}
        # The access of a client token is listed here again, so that it cannot change by accident.
        assert paths - FOR_THE_PERSON == FOR_AGENTS | FOR_EXTENSIONS
        assert set(EXTENSION.received) == set(EVERY)


@pytest.mark.requirement("OT-34")
async def test_a_client_token_opens_no_endpoint_of_the_person(tmp_path: Path) -> None:
    async with protected(tmp_path) as target, target.intruder() as http:
        target.home.config.write_text("{}")
        before = target.state()
        for path in sorted(FOR_THE_PERSON):
            for method in METHODS:
                _assert_refused(target, await http.request(method, path), f"{method} {path}")
        for path in sorted(FOR_AGENTS):
            for method in METHODS:
                if (method, path) == ENDLESS:
                    continue
                answer = await http.request(method, path, json={})
                assert answer.status_code in (200, 204, 400, 405), (method, path)
        for path in sorted(FOR_EXTENSIONS):
            for method in METHODS:
                answer = await http.request(method, path, json={})
                assert answer.status_code in (403, 405), (method, path)
        assert target.state() == before
        assert await _received_methods(target) == []
        await _assert_the_person_may(target, before)


def _assert_refused(target: Protected, answer: httpx.Response, what: str) -> None:
    assert answer.status_code == 403, what
    if not what.startswith("HEAD"):
        assert answer.json()["error"]["reason"] == "permission_denied"
    entry = target.refusals()[-1]
    assert (entry["tool"], entry["verdict"]) == (what, "refused")
    assert entry["error"]["reason"] == "permission_denied"


async def _received_methods(target: Protected) -> list[str]:
    """The methods that the browser received; a ping of our own marks the end."""
    methods: list[str] = []
    await target.extension.notify("ping", {})
    while (message := await asyncio.wait_for(target.extension.received.get(), PATIENCE))[
        "method"
    ] != "pong":
        methods.append(message["method"])
    # The panel shows what was refused.
    return [method for method in methods if method not in ("state.changed", "tool.invocationEnd")]


async def _assert_the_person_may(target: Protected, before: Any) -> None:
    async with client(target.server.port) as person:
        assert (await person.post("/reload")).status_code == 200
        assert target.state() != before
        assert (await person.post("/extension/reload")).status_code == 200
        # A call that waits for an answer goes on if the new settings allow it.
        first, *answered, last = await _received_methods(target)
        assert (first, last) == ("sync.full", "extension.reload")
        assert answered[0] == "confirmation.closed"


SPELLINGS = (
    *("/reload/", "//reload", "/%72eload", "/RELOAD", "/reload?toolsets=all", "/reload;x"),
    *("/mcp/../reload", "/mcp/%2e%2e/reload", "/mcp/..%2freload", "/health/../reload"),
    *("/ws/", "/mcp/x", "/", "/nowhere", "/%00", "/mcp%00"),
)


async def test_no_spelling_of_a_path_bypasses_the_access_check(tmp_path: Path) -> None:
    async with protected(tmp_path) as target, target.intruder() as http:
        target.home.config.write_text("{}")
        before = target.state()
        for number, path in enumerate(SPELLINGS, start=1):
            answer = await http.post(httpx.URL(http.base_url, raw_path=path.encode()))
            reason = answer.json()["error"]["reason"]
            assert (answer.status_code, reason) == (403, "permission_denied"), path
            assert len(target.refusals()) == number
        assert target.state() == before


@pytest.mark.requirement("OT-34")
async def test_a_client_token_sends_no_message_over_the_link(tmp_path: Path) -> None:
    async with protected(tmp_path) as target:
        before = target.state()
        for number, method in enumerate(EVERY, start=1):
            status, body = await pushed(
                target.server.port, target.token, message_for(target, method)
            )
            assert (status, body["error"]["reason"]) == (403, "permission_denied"), method
            assert INTRUDER in body["error"]["message"]
            assert len(target.refusals()) == number
            entry = target.refusals()[-1]
            assert (entry["tool"], entry["verdict"]) == ("WebSocket /ws", "refused")
            assert target.state() == before, method
        assert await _received_methods(target) == []


@pytest.mark.parametrize("method", POWERFUL)
async def test_the_same_message_works_when_the_person_sends_it(tmp_path: Path, method: str) -> None:
    async with protected(tmp_path) as target:
        before = target.state()
        answer = await target.extension.ask(method, message_for(target, method)["params"])
        assert "result" in answer and target.state() != before


@pytest.mark.requirement("OT-34")
async def test_no_message_of_the_link_can_be_sent_over_mcp(tmp_path: Path) -> None:
    async with protected(tmp_path) as target, target.intruder() as http:
        before = target.state()
        session = await connect(http, capabilities={"elicitation": {}})
        for method in sorted(EVERY.keys() - {"ping"}):
            message = message_for(target, method)
            for agent in (session, LoneClient(http)):
                await _smuggle(agent, method, message["params"])
            await _slip_in(session, target.question, message)
            assert target.state() == before, method
        assert await _received_methods(target) == []


async def _smuggle(agent: Client, method: str, params: Json) -> None:
    """Send the message as a method and as the name of a tool."""
    response = (await agent.request(method, params)).json()
    assert response["error"]["data"]["reason"] == "method_not_found"
    named = (await agent.request("tools/call", {"name": method, "arguments": params})).json()
    assert named["error"]["data"]["reason"] == "unknown_tool"


async def _slip_in(session: Client, question: str, message: Json) -> None:
    """Send the message as a notification and as the answer to a possible question."""
    notification = {key: value for key, value in message.items() if key != "id"}
    answers = [
        {"jsonrpc": "2.0", "id": id, "result": message["params"]} for id in (1, "ask-1", question)
    ]
    for body in (notification, *answers):
        assert (await session.send(body)).status_code == 202
