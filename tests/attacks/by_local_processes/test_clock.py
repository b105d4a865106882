"""Setting the time of day ends no session and closes no tab."""

import asyncio
import time

import pytest

from tabhub.server import app
from tests.support.agent import Agent
from tests.support.browsers.extension import connected, tab
from tests.support.serving import client, served


@pytest.mark.parametrize("minutes", [40, 60 * 24, -40])
async def test_a_clock_that_jumps_closes_no_tab(
    monkeypatch: pytest.MonkeyPatch, minutes: int
) -> None:
    monkeypatch.setattr(app, "REVOCATION_CHECK_SECONDS", 0.01)
    monkeypatch.setattr(app, "REAP_SECONDS", 0.0)
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1))
        extension.handlers["page.evaluate"] = lambda params: {"value": 1}
        await Agent(http).call("browser_execute_script", code="1", tabId=1)
        (session,) = server.app.hub.sessions.all()
        now = time.time
        monkeypatch.setattr(time, "time", lambda: now() + minutes * 60)
        await asyncio.sleep(0.2)
        assert server.app.hub.sessions.all() == [session]
        assert server.app.hub.sessions.current(session.key) == 1
