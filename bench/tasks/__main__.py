"""`python -m bench.tasks [WORDS]`: plays the tasks, prints the table and keeps the figures."""

import asyncio
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from bench import performance
from bench.tasks.applications import ALL, Application
from bench.tasks.episodes import SIDES, Episode, play
from bench.tasks.policies import TASKS
from bench.tasks.task import Task

ROUNDS = int(os.environ.get("TABHUB_TASK_ROUNDS", "3"))
OURS, *PEERS = SIDES
LIMITS = {"seconds": 1 / 3, "bytes": 1 / 2, "calls": 0.6}
"""Of the best peer's figure, over all tasks."""

Applications = dict[type[Application], Application]


async def _episodes(tasks: Sequence[Task], applications: Applications) -> list[Episode]:
    """Each round plays every task by every side, so that all meet the same minutes."""
    played = []
    for number in range(ROUNDS):
        for task in tasks:
            for side in SIDES:
                episode = await play(task, applications[task.application], side)
                played.append(episode)
                print(_line(number, episode), flush=True)
    return played


def _line(number: int, episode: Episode) -> str:
    cost = episode.cost
    figures = f"{cost.calls:3} calls {cost.bytes:7,} bytes {cost.seconds:6.2f} s"
    why = f"  not solved: {episode.why.splitlines()[0]}" if episode.why else ""
    return f"{number + 1}  {episode.task:36} {episode.side:11} {figures}{why}"


def figures(episodes: Sequence[Episode]) -> performance.Figures:
    """For each task and side: the share of solved rounds, and the medians of what these cost.

    Of a side that has solved none, those of its attempts.
    """
    found: performance.Figures = {}
    for episode in episodes:
        same = [e for e in episodes if (e.task, e.side) == (episode.task, episode.side)]
        solved = [e for e in same if not e.why]
        costs = [e.cost for e in solved or same]
        found.setdefault(episode.task, {})[episode.side] = {
            "solved": len(solved) / len(same),
            "calls": median(cost.calls for cost in costs),
            "bytes": median(cost.bytes for cost in costs),
            "seconds": round(median(cost.seconds for cost in costs), 2),
        }
    return found


def ratios(found: performance.Figures) -> dict[str, float]:
    """tabhub's sum over all tasks, against the best peer's, for each cost."""

    def total(side: str, cost: str) -> float:
        return sum(sides[side][cost] for sides in found.values())

    return {cost: total(OURS, cost) / min(total(p, cost) for p in PEERS) for cost in LIMITS}


def unsolved(found: performance.Figures) -> Iterator[str]:
    """A line for each task that tabhub has not solved in every round."""
    for task, sides in found.items():
        if (solved := sides[OURS]["solved"]) < 1:
            yield f"{task}: {OURS} has solved {solved:.0%} of its rounds (failed)"


def _verdicts(found: performance.Figures) -> str:
    lines = [
        f"{cost}: {ratio:.2f}× of the best peer, limit {LIMITS[cost]:.2f}×"
        f" ({'ok' if ratio <= LIMITS[cost] else 'over'})"
        for cost, ratio in ratios(found).items()
    ]
    return "\n".join([*lines, *unsolved(found)])


def main(words: str) -> None:
    tasks = [task for task in TASKS if words in f"{task.application.name} {task.name}"]
    if not tasks:
        sys.exit(f"No task has {words!r} in its name.")
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        applications: Applications = {}
        for kind in ALL:
            if any(task.application is kind for task in tasks):
                application = kind(Path(folder) / kind.__name__)
                applications[kind] = stack.enter_context(application.running())
                print(f"{kind.name} runs at {application.url}", flush=True)
        found = figures(asyncio.run(_episodes(tasks, applications)))
    print(f"\n{performance.task_table(found)}\n{_verdicts(found)}")
    if len(tasks) == len(TASKS):
        performance.save(tasks=found)
    if any(unsolved(found)):
        sys.exit(1)


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]))
