"""Episodes of a task, played by its policy."""

from collections.abc import Iterable
from dataclasses import dataclass

from tests.miniwob.policies import POLICIES
from tests.miniwob.suite import Task
from tests.support.agent import ToolFailed

SEEDS = range(1, 21)
SHARE = 0.95
GRADED = {"bisect-angle", "circle-center", "find-midpoint", "right-angle"}
"""Their reward grows with how near a mark is: whole pixels are not near enough for all of it."""
NEAR_ENOUGH = 0.95


@dataclass(frozen=True)
class Episode:
    """How an episode ended; `why` is empty if it was solved."""

    task: str
    seed: int
    why: str

    @property
    def is_solved(self) -> bool:
        return not self.why


async def play(name: str, task: Task, seeds: Iterable[int] = SEEDS) -> list[Episode]:
    return [Episode(name, seed, await _why_not(name, task, seed)) for seed in seeds]


async def _why_not(name: str, task: Task, seed: int) -> str:
    await task.begin(seed)
    try:
        await POLICIES[name](task.page)
    except (ToolFailed, LookupError) as error:
        return str(error) or type(error).__name__
    reward = await task.reward()
    expected = NEAR_ENOUGH if name in GRADED else 1
    return "" if reward >= expected else f"the reward was {reward:g}"
