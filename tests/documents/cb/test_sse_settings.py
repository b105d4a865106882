"""The settings and limits for clients of HTTP+SSE, and their defaults."""

import pytest

from tabhub.agents.http.rates import Rates
from tabhub.config import environment
from tabhub.config.clients import MAIN
from tabhub.config.settings import RateSettings, Settings
from tabhub.errors import Unavailable


@pytest.mark.document("CB-base-1", "CB-config-2", "CB-env-1")
def test_a_second_port_is_opened_only_where_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLAUDE_BROWSER_MCP_PORT", raising=False)
    assert environment.chosen_sse_port(None, Settings()) is None
    assert environment.chosen_sse_port(3456, Settings()) == 3456
    monkeypatch.setenv("CLAUDE_BROWSER_MCP_PORT", "3456")
    assert environment.chosen_sse_port(None, Settings()) == 3456


@pytest.mark.document("CB-config-1", "CB-config-3", "CB-config-4", "CB-config-5", "CB-env-2")
def test_without_settings_it_is_offered_on_loopback_with_no_token_and_no_origins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("CLAUDE_BROWSER_AUTH_TOKEN", raising=False)
    defaults = Settings().mcp_server
    assert (defaults.enabled, defaults.host) == (True, "127.0.0.1")
    assert (defaults.auth_token, defaults.cors_origins) == (None, [])
    assert environment.auth_token(Settings()) is None


@pytest.mark.document("CB-security-10")
def test_a_minute_later_a_session_may_send_a_hundred_messages_more() -> None:
    now = [1000.0]
    rates = Rates(RateSettings, lambda: now[0], lambda refusal: None)

    def accepted() -> int:
        count = 0
        for _ in range(150):
            try:
                rates.message(MAIN, "session_a")
            except Unavailable:
                break
            count += 1
        return count

    assert accepted() == 100
    now[0] += 30
    assert accepted() == 0
    now[0] += 31
    assert accepted() == 100
