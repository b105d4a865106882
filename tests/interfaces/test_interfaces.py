"""All doors lead to the same place: what one tells and leaves behind, the others do too."""

import asyncio

import pytest

from tests.interfaces.conftest import Page
from tests.interfaces.every import ENTRANCES, MEMORY
from tests.interfaces.interface import CallRequest, Door, Entrance, Json, Outcome, Place
from tests.interfaces.scenes import SCENES, SCRIPT, Scene, Stage, repeated, written_down
from tests.support.browsers.extension import FakeExtension

OTHERS = [entrance for entrance in ENTRANCES if entrance is not MEMORY]
every_door = pytest.mark.parametrize("entrance", OTHERS, ids=repr)


async def played(
    scene: Scene, entrance: Entrance, place: Place, word: str
) -> tuple[list[Outcome], list[Json]]:
    """What came of a scene at a door, and what was written down."""
    async with place.http() as person, entrance.enter(place) as door:
        before = len(await written_down(person, "main"))
        outcomes = await scene(Stage(door, 1, word))
        return outcomes, await written_down(person, "main", before)


@every_door
@pytest.mark.requirement("OT-06")
@pytest.mark.requirement("OT-07")
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
async def test_every_door_tells_and_writes_down_what_the_runner_does(
    entrance: Entrance, scene: Scene, place: Place, extension: FakeExtension, page: Page
) -> None:
    expected, entries = await played(scene, MEMORY, place, "first")
    page.runs = 0
    told, left = await played(scene, entrance, place, "second")
    assert [_comparable(one) for one in told] == [_comparable(one) for one in expected]
    assert left == entries and entries
    assert page.runs == (1 if scene is repeated else 0)


def _comparable(outcome: Outcome) -> object:
    """An unknown tool is told with similar names by doors, which know what is listed."""
    if outcome.error is not None and outcome.error["reason"] == "unknown_tool":
        return outcome.brief
    return outcome


@every_door
async def test_every_door_shows_every_tool(entrance: Entrance, place: Place) -> None:
    async with MEMORY.enter(place) as within, entrance.enter(place) as door:
        assert await door.tools() == await within.tools()


def _under_way(door: Door, heard: list[Json] | None = None) -> "asyncio.Task[Outcome]":
    return asyncio.create_task(
        door.call(CallRequest(SCRIPT, {"code": "1", "tabId": 1}, heard=heard))
    )


@every_door
async def test_progress_is_told_by_every_door_that_can(
    entrance: Entrance, place: Place, extension: FakeExtension
) -> None:
    async with entrance.enter(place) as door:
        heard: list[Json] = []
        calling = _under_way(door, heard)
        await extension.answer_in_steps({"value": 2})
        assert (await calling).brief == {"value": 2}
    expected = [{"progress": 1, "total": 2, "message": "half"}] if door.tells_progress else []
    assert heard == expected


@every_door
async def test_a_call_that_is_taken_back_is_cancelled_in_the_browser_and_written_down(
    entrance: Entrance, place: Place, extension: FakeExtension
) -> None:
    async with place.http() as person, entrance.enter(place) as door:
        calling = _under_way(door)
        asked = await extension.next("tool.dispatch")
        await door.take_back(calling)
        cancelled = await extension.next("tool.cancel")
        assert cancelled["params"]["dispatchId"] == asked["params"]["dispatchId"]
        [entry] = await written_down(person, "main")
    assert (entry["success"], entry["error"]["reason"]) == (False, "cancelled")
