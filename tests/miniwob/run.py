"""`make miniwob`: every task with a policy, and how often each is solved."""

import asyncio
import sys
import tempfile
from pathlib import Path

from tests.miniwob.episodes import SHARE, Episode, play
from tests.miniwob.policies import POLICIES
from tests.miniwob.suite import opened, serving
from tests.support.agent import Agent
from tests.support.browsers.managed import Rig, rig


async def _play_all(managed: Rig, pages: str) -> list[Episode]:
    episodes: list[Episode] = []
    async with managed.http(managed.product.secret) as http:
        for name in sorted(POLICIES):
            async with opened(name, pages, Agent(http), managed.cdp) as task:
                played = await play(name, task)
            print(_row(name, played), flush=True)
            episodes += played
    return episodes


def _row(name: str, episodes: list[Episode]) -> str:
    solved = sum(episode.is_solved for episode in episodes)
    return f"{name:32} {solved:5} / {len(episodes):<5} {solved / len(episodes):6.1%}"


async def main() -> int:
    with tempfile.TemporaryDirectory() as folder, serving() as pages:
        async with rig(Path(folder), {}) as managed:
            episodes = await _play_all(managed, pages)
    print(_row(f"all {len(POLICIES)} tasks", episodes))
    for episode in episodes:
        if not episode.is_solved:
            print(f"{episode.task}, seed {episode.seed}: {episode.why.splitlines()[0]}")
    return 0 if sum(episode.is_solved for episode in episodes) >= SHARE * len(episodes) else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
