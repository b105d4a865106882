"""A public suite of small web tasks, solved with reading and acting tools alone."""

import pytest

from tests.miniwob.episodes import SHARE, play
from tests.miniwob.policies import POLICIES
from tests.miniwob.suite import opened
from tests.support.agent import Agent
from tests.support.browsers.cdp import Cdp

pytestmark = [pytest.mark.real_browser, pytest.mark.slow]
LEAST_TASKS = 110


def test_the_suite_is_broad() -> None:
    assert len(POLICIES) >= LEAST_TASKS


@pytest.mark.parametrize("name", sorted(POLICIES))
async def test_the_page_rewards_the_actions_of_each_policy(
    name: str, pages: str, agent: Agent, cdp: Cdp
) -> None:
    async with opened(name, pages, agent, cdp) as task:
        episodes = await play(name, task)
    failed = [episode for episode in episodes if not episode.is_solved]
    assert len(failed) <= len(episodes) * (1 - SHARE), "\n".join(map(str, failed))
