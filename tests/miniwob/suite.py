"""The MiniWoB++ pages: served to the browser, an episode begun, its reward read."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from tests.miniwob.page import Page
from tests.support import static_site
from tests.support.agent import Agent
from tests.support.browsers.cdp import Cdp

HTML = Path(__file__).parents[2] / ".venv" / "miniwob" / "html"
BEGIN = "core.EPISODE_MAX_TIME = 1e6; Math.seedrandom({seed}); core.startEpisodeReal(); true"
REWARD = "WOB_DONE_GLOBAL ? WOB_RAW_REWARD_GLOBAL : 0"


@contextmanager
def serving() -> Iterator[str]:
    """The address of the pages."""
    assert HTML.is_dir(), "the pages are missing: run scripts/fetch-miniwob"
    with static_site.serving(HTML) as address:
        yield f"{address}/miniwob"


class Task:
    """One kind of task, open in a tab. Inspects the page over CDP."""

    def __init__(self, page: Page, cdp: Cdp, session: str) -> None:
        self.page = page
        self._cdp = cdp
        self._session = session

    async def begin(self, seed: int) -> None:
        assert await self._evaluate(BEGIN.format(seed=seed)) is True

    async def reward(self) -> float:
        """The reward that the page gives, regardless of the time."""
        reward: float = await self._evaluate(REWARD)
        return reward

    async def _evaluate(self, code: str) -> Any:
        answer = await self._cdp.send(
            "Runtime.evaluate", self._session, expression=code, returnByValue=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")


@asynccontextmanager
async def opened(name: str, pages: str, agent: Agent, cdp: Cdp) -> AsyncIterator[Task]:
    """A task in a tab of its own."""
    address = f"{pages}/{name}.html"
    tab = (await agent.call("browser_open_tab", url=address))["tabId"]
    target = await cdp.page(address)
    attached = await cdp.send("Target.attachToTarget", targetId=target, flatten=True)
    yield Task(Page(agent, tab), cdp, attached["sessionId"])
    await agent.call("browser_close_tab", tabId=tab)
