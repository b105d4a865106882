"""All interfaces are equal: the same results, the same errors, the same audit entries."""

import asyncio

import pytest

from tests.interfaces.conftest import Page
from tests.interfaces.every import IN_PROCESS, INTERFACES
from tests.interfaces.interface import CallRequest, Interface, InterfaceClient, Json, Outcome, Place
from tests.interfaces.scenes import SCENES, SCRIPT, Scene, Stage, recorded, repeated
from tests.support.browsers.extension import FakeExtension

OTHERS = [interface for interface in INTERFACES if interface is not IN_PROCESS]
every_interface = pytest.mark.parametrize("interface", OTHERS, ids=repr)


async def played(
    scene: Scene, interface: Interface, place: Place, word: str
) -> tuple[list[Outcome], list[Json]]:
    """The outcomes of a scene, and the audit entries that it left."""
    async with place.http() as person, interface.connect(place) as client:
        before = len(await recorded(person, "main"))
        outcomes = await scene(Stage(client, 1, word))
        return outcomes, await recorded(person, "main", before)


@every_interface
@pytest.mark.requirement("OT-06")
@pytest.mark.requirement("OT-07")
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
async def test_every_interface_returns_and_records_what_the_runner_does(
    interface: Interface, scene: Scene, place: Place, extension: FakeExtension, page: Page
) -> None:
    expected, entries = await played(scene, IN_PROCESS, place, "first")
    page.runs = 0
    told, left = await played(scene, interface, place, "second")
    assert [_comparable(one) for one in told] == [_comparable(one) for one in expected]
    assert left == entries and entries
    assert page.runs == (1 if scene is repeated else 0)


def _comparable(outcome: Outcome) -> object:
    """Interfaces know what is listed, and name tools with similar names for an unknown one."""
    if outcome.error is not None and outcome.error["reason"] == "unknown_tool":
        return outcome.brief
    return outcome


@every_interface
async def test_every_interface_lists_every_tool(interface: Interface, place: Place) -> None:
    async with IN_PROCESS.connect(place) as within, interface.connect(place) as client:
        assert await client.tools() == await within.tools()


def _begun(client: InterfaceClient, progress: list[Json] | None = None) -> "asyncio.Task[Outcome]":
    return asyncio.create_task(
        client.call(CallRequest(SCRIPT, {"code": "1", "tabId": 1}, progress=progress))
    )


@every_interface
async def test_progress_is_reported_by_every_interface_that_can(
    interface: Interface, place: Place, extension: FakeExtension
) -> None:
    async with interface.connect(place) as client:
        progress: list[Json] = []
        calling = _begun(client, progress)
        await extension.answer_in_steps({"value": 2})
        assert (await calling).brief == {"value": 2}
    expected = [{"progress": 1, "total": 2, "message": "half"}] if client.reports_progress else []
    assert progress == expected


@every_interface
async def test_a_cancelled_call_is_cancelled_in_the_browser_and_recorded(
    interface: Interface, place: Place, extension: FakeExtension
) -> None:
    async with place.http() as person, interface.connect(place) as client:
        calling = _begun(client)
        asked = await extension.next("tool.dispatch")
        await client.cancel(calling)
        cancelled = await extension.next("tool.cancel")
        assert cancelled["params"]["dispatchId"] == asked["params"]["dispatchId"]
        [entry] = await recorded(person, "main")
    assert (entry["success"], entry["error"]["reason"]) == (False, "cancelled")
