"""The worker restores its state of tabs after a kill, at every step of a long run."""

from contextlib import suppress
from typing import Any

import pytest

from tests.real.conftest import Opener
from tests.real.product.worker_run import rested_state, state, steps
from tests.support.agent import Agent
from tests.support.browsers.cdp import Cdp, CdpError
from tests.support.browsers.page_tools import clean
from tests.support.eventually import PATIENCE, eventually
from tests.support.site import Site

pytestmark = [
    pytest.mark.real_browser,
    pytest.mark.slow,
    pytest.mark.requirement("OT-25"),
    pytest.mark.timeout(300),
]

# Content scripts of a page with an open dialog cannot reconnect before an answer.
BLOCKED = ("frames", "page tools", "servers in frames")

# The page that a browser starts with may be shown at any time, or never.
NONE_PENDING = """chrome.tabs.query({}).then(async (tabs) => {
    const pending = tabs.filter(({ pendingUrl }) => pendingUrl);
    await Promise.all(pending.map(({ id }) => chrome.tabs.update(id, { url: "about:blank" })));
    return !pending.length;
})"""


def _sorted(found: Any) -> Any:
    """Lists without their order, since restored entries may be in another order."""
    if isinstance(found, dict):
        return {key: _sorted(value) for key, value in found.items()}
    return sorted(map(_sorted, found), key=repr) if isinstance(found, list) else found


async def state_of_the_next(cdp: Cdp, expected: Any) -> Any:
    """Kill the worker; the state of the next worker, once it is the same or the time is over."""
    old = await cdp.worker()
    await cdp.kill_worker()
    found: Any = {}

    async def restored() -> bool:
        nonlocal found
        if await cdp.worker() != old:
            found = _sorted(await state(cdp))
        return all(found.get(name) == kept for name, kept in expected.items())

    with suppress(AssertionError):  # the caller compares, and reports missing state
        await eventually(restored, seconds=PATIENCE / 2, ignore=(CdpError, AssertionError))
    return found


async def test_a_worker_killed_after_any_step_restores_the_same_state(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    await opened(site.page("form"))  # with no page left, only an alarm would wake the next worker
    await eventually(lambda: cdp.in_worker(NONE_PENDING))
    async with clean(agent, site.url, site.other):
        await killed_at_every_step(agent, cdp, site)


async def killed_at_every_step(agent: Agent, cdp: Cdp, site: Site) -> None:
    async for step in steps(agent, cdp, site):
        before = _sorted(await rested_state(cdp))
        for part in BLOCKED if step == "dialog" else ():
            del before[part]
        after = await state_of_the_next(cdp, before)
        lost = {name: kept for name, kept in before.items() if after.get(name) != kept}
        now = {name: after.get(name) for name in lost}
        assert lost == now, f"after {step}: {lost} became {now}"
        await eventually(
            lambda: agent.result("browser_list_tabs"), until=lambda found: not found.get("isError")
        )
