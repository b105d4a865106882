"""Rate limiting: whoever is told 429 is also told when to come back, also for a call."""

import httpx
import pytest
from websockets.asyncio.client import connect as open_socket
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin, Subprotocol

from tabhub.agents.http.messages import headers_of
from tabhub.config.settings import AuditSettings, RateSettings, Settings
from tabhub.errors import REASONS, Unavailable, from_reason
from tabhub.page_tools import worker
from tests.agents.mcp.clients import Client
from tests.support.serving import client, served

pytestmark = pytest.mark.requirement("OT-15")
ONE = RateSettings(
    sessions_per_minute=1,
    client_sessions_per_minute=1,
    admin_per_minute=1,
    messages_per_minute=1,
)
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "x", "version": "1"},
}


def seconds_of(answer: httpx.Response) -> int:
    assert answer.status_code == 429, answer.text
    return int(answer.headers["retry-after"])


@pytest.mark.document("OT-rates-3", "OT-rates-calls")
def test_every_reason_with_this_status_has_the_header() -> None:
    reasons = [word for word, row in REASONS.items() if row.status == 429]
    assert len(reasons) > 1
    for word in reasons:
        assert (b"retry-after", b"60") in headers_of(from_reason(word, "x"))


@pytest.mark.document("OT-rates-3")
async def test_administration_and_new_sessions_over_the_limit() -> None:
    async with served(rates=ONE) as server, client(server.port) as http:
        assert (await http.post("/reload")).status_code == 200
        assert seconds_of(await http.post("/reload")) == 60
        assert (await Client(http, {}).request("initialize", HELLO)).status_code == 200
        assert seconds_of(await Client(http, {}).request("initialize", HELLO)) == 60
        gateway = Client(http, {}, "/mcp/gateway")
        assert seconds_of(await gateway.request("initialize", HELLO)) == 60
        assert seconds_of(await http.get("/sse")) == 60


@pytest.mark.document("OT-rates-calls")
@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
async def test_a_call_over_a_limit(accept: str) -> None:
    settings = Settings(audit=AuditSettings(client_bytes_per_day=1))
    async with served(settings) as server, client(server.port) as http:
        path, headers = "/tools/turn_answer_start/call", {"accept": accept}
        await http.post(path, headers=headers)
        answer = await http.post(path, headers=headers)
        assert seconds_of(answer) > 60
        error = answer.json()["error"]
        assert error["retryAfterMs"] <= 1000 * seconds_of(answer)


async def busy(call: object) -> None:
    raise Unavailable("Wait.", "too_many_calls")


@pytest.mark.document("OT-rates-calls")
async def test_a_call_that_has_to_wait_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served() as server, client(server.port) as http:
        monkeypatch.setattr(server.app.runner, "run", busy)
        assert seconds_of(await http.post("/tools/browser_list_tabs/call")) == 60


@pytest.mark.document("OT-rates-calls")
async def test_a_page_that_is_refused_as_one_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "MOST_SOCKETS", 0)
    async with served() as server:
        with pytest.raises(InvalidStatus) as refused:
            async with open_socket(
                f"ws://127.0.0.1:{server.port}/page",
                subprotocols=[Subprotocol("tabhub-page")],
                origin=Origin("https://shop.example"),
            ):
                pass
        assert refused.value.response.status_code == 429
        assert refused.value.response.headers["retry-after"] == "60"


@pytest.mark.document("OT-rates-3")
def test_an_error_that_is_no_refusal_has_no_such_header() -> None:
    assert headers_of(from_reason("timeout", "x")) == []
