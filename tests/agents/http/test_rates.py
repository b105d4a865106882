"""Rate limits: how each client is counted, and how each endpoint refuses."""

import json
from pathlib import Path

import httpx
import pytest

from tabhub.agents.http import rates
from tabhub.agents.http.rates import Rates, Refusal
from tabhub.config.clients import MAIN, Client, Clients
from tabhub.config.paths import Home
from tabhub.config.settings import RateSettings, Settings, SseSettings
from tabhub.errors import Unavailable
from tests.agents.mcp.clients import Client as McpClient
from tests.agents.mcp.sse_clients import streaming, written
from tests.support.serving import client, served

DEFAULTS = RateSettings()
GUEST = Client("guest")
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


class Clocked:
    """Rate limits with a clock that the test sets, and the refusals they reported."""

    def __init__(self, **settings: int) -> None:
        self.now = 1000.0
        self.settings = RateSettings(**settings)
        self.refusals: list[Refusal] = []
        self.rates = Rates(lambda: self.settings, lambda: self.now, self.refusals.append)

    def opens(self, client: Client = MAIN) -> bool:
        try:
            self.rates.session(client)
        except Unavailable as error:
            assert error.reason == "rate_limited" and error.retryable
            assert 0 < error.extra["retryAfterMs"] <= 60_001
            return False
        return True


@pytest.mark.requirement("OT-15")
def test_a_session_may_open_when_the_oldest_is_a_minute_old() -> None:
    clocked = Clocked()
    assert [clocked.opens() for _ in range(6)] == [True] * 5 + [False]
    clocked.now += 59
    assert not clocked.opens()
    clocked.now += 1
    assert clocked.opens()


@pytest.mark.requirement("OT-15")
def test_each_credential_has_its_own_count_and_clients_have_more() -> None:
    clocked = Clocked()
    assert sum(clocked.opens() for _ in range(10)) == 5
    assert sum(clocked.opens(GUEST) for _ in range(100)) == 60
    assert sum(clocked.opens(Client("other")) for _ in range(100)) == 60


def test_zero_turns_a_limit_off_and_stores_nothing() -> None:
    clocked = Clocked(sessions_per_minute=0)
    assert all(clocked.opens() for _ in range(1000))
    assert len(clocked.rates._limits) == 0


def test_a_lowered_limit_applies_at_once() -> None:
    clocked = Clocked()
    assert [clocked.opens() for _ in range(4)] == [True] * 4
    clocked.settings.sessions_per_minute = 2
    assert not clocked.opens()
    clocked.now += 61
    assert [clocked.opens() for _ in range(3)] == [True, True, False]


def test_a_flood_is_logged_once_a_minute_and_counted_in_full() -> None:
    clocked = Clocked()
    for _ in range(1000):
        clocked.opens()
    assert [(refusal.client.name, refusal.kind) for refusal in clocked.refusals] == [
        ("main", "session")
    ]
    assert clocked.rates.refused["session"] == 995
    clocked.now += 60
    for _ in range(1000):
        clocked.opens()
    assert len(clocked.refusals) == 2


def test_the_memory_of_rates_is_bounded() -> None:
    clocked = Clocked()
    for number in range(3 * rates.MOST_KEYS):
        clocked.rates.message(GUEST, f"session_{number}")
    assert len(clocked.rates._limits) == rates.MOST_KEYS
    clocked.now += 61
    clocked.rates.message(GUEST, "one more")
    assert len(clocked.rates._limits) == 1
    clocked.rates.forget("one more")
    assert len(clocked.rates._limits) == 0


async def _initialize(http: httpx.AsyncClient) -> httpx.Response:
    return await McpClient(http, {}).request("initialize", HELLO)


def _refused(answer: httpx.Response) -> None:
    assert answer.status_code == 429
    assert answer.headers["retry-after"] == "60"
    error = answer.json()["error"]
    error = error.get("data", error)
    assert (error["reason"], error["category"], error["retryable"]) == (
        "rate_limited",
        "rate_limit",
        True,
    )
    assert 0 < error["retryAfterMs"] <= 60_001


@pytest.mark.document("OT-rates-2", "OT-rates-3")
@pytest.mark.requirement("OT-15")
async def test_the_sixth_session_of_a_minute_is_refused_at_every_endpoint() -> None:
    async with served(rates=DEFAULTS) as server, client(server.port) as http:
        for _ in range(3):
            assert (await _initialize(http)).status_code == 200
        async with streaming(http), streaming(http):
            _refused(await http.get("/sse"))
            _refused(await _initialize(http))
        assert len(server.app.mcp.sessions) == 3


@pytest.mark.document("OT-rates-2")
@pytest.mark.requirement("OT-15")
async def test_a_client_token_opens_sixty_and_the_calls_of_a_session_are_not_counted(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path / "home").create()
    token = Clients(home).add("busy")
    async with served(home=home, rates=DEFAULTS) as server, client(server.port, token) as http:
        answers = [await _initialize(http) for _ in range(60)]
        assert {answer.status_code for answer in answers} == {200}
        _refused(await _initialize(http))
        session = McpClient(http, {"mcp-session-id": answers[0].headers["mcp-session-id"]})
        assert {(await session.request("ping")).status_code for _ in range(150)} == {200}


@pytest.mark.document("OT-reload-1", "OT-auth-1", "OT-rates-1", "OT-rates-3")
@pytest.mark.requirement("OT-15")
async def test_the_eleventh_administration_request_is_refused_and_reading_is_not() -> None:
    async with served(rates=DEFAULTS) as server, client(server.port) as http:
        for _ in range(5):
            assert (await http.post("/reload")).status_code == 200
            assert (await http.post("/extension/reload")).status_code == 503
        for path in ("/reload", "/extension/reload", "/plugin-settings"):
            _refused(await http.post(path))
        # The command `tabhub page allow` has no other way.
        allowed = await http.post("/pages/allow", json={"origin": "https://shop.example"})
        assert allowed.status_code == 200
        for path in ("/health", "/audit", "/ws-info", "/settings", "/metrics"):
            assert {(await http.get(path)).status_code for _ in range(15)} == {200}


@pytest.mark.document("CB-security-9", "CB-security-11")
@pytest.mark.requirement("OT-15")
async def test_each_session_may_post_a_hundred_messages_a_minute() -> None:
    async with served(rates=DEFAULTS) as server, client(server.port) as http:
        async with streaming(http) as session, streaming(http) as other_session:
            for number in range(100):
                assert (await session.send(written("ping", None, number))).status_code == 202
            _refused(await session.send(written("ping", None, 100)))
            assert (await other_session.request("ping"))["result"] == {}


@pytest.mark.requirement("OT-15")
@pytest.mark.requirement("TH-44")
async def test_a_throttled_client_is_in_the_audit_log_once(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").create()
    limits = RateSettings(client_sessions_per_minute=1)
    token = Clients(home).add("busy")
    async with served(home=home, rates=limits) as server, client(server.port, token) as http:
        for _ in range(20):
            await _initialize(http)
        (entry,) = server.app.audit.entries()
    assert (entry["client"], entry["verdict"], entry["tool"]) == ("busy", "throttled", "session")
    assert entry["success"] is False
    assert entry["error"]["reason"] == "rate_limited"


@pytest.mark.requirement("OT-15")
async def test_limits_are_read_again_while_the_server_runs(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").create()
    async with served(home=home, rates=DEFAULTS) as server, client(server.port) as http:
        home.config.write_text(json.dumps({"rates": {"sessionsPerMinute": 1}}))
        assert (await http.post("/reload")).status_code == 200
        assert (await _initialize(http)).status_code == 200
        _refused(await _initialize(http))


async def test_the_token_of_old_clients_counts_as_a_client() -> None:
    settings = Settings(mcp_server=SseSettings(auth_token="an old token"))
    async with served(settings, rates=DEFAULTS) as server:
        async with client(server.port, "an old token") as http:
            answers = {(await _initialize(http)).status_code for _ in range(20)}
    assert answers == {200}
