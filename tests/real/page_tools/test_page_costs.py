"""The duration of a page tool in a real browser, compared with a script in the same tab."""

import time
from collections.abc import Awaitable, Callable
from statistics import median

import pytest

from tests.support.agent import Agent
from tests.support.browsers.page_tools import clean, tool, tool_name
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser]


async def _seconds(work: Callable[[], Awaitable[object]]) -> float:
    begin = time.perf_counter()
    await work()
    return time.perf_counter() - begin


@pytest.mark.requirement("MB-13")
async def test_a_page_tool_takes_no_longer_than_a_few_scripts(
    agent: Agent, opened: Callable[[str], Awaitable[int]], site: Site
) -> None:
    async with clean(agent, site.url, site.other):
        tab = await opened(site.page("tools"))
        await tool(agent, site.url, "double")
        name = tool_name(site.url, "double")
        pairs = [
            (
                await _seconds(lambda: agent.text(name, a=21)),
                await _seconds(lambda: agent.call("browser_execute_script", code="1", tabId=tab)),
            )
            for _ in range(40)
        ]
    ours, script = (median(column) for column in zip(*pairs, strict=True))
    assert ours < 5 * script
