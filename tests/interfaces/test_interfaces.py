"""All interfaces give the same results, and leave the same entries in the audit log."""

import asyncio

import pytest

from tests.interfaces.conftest import Page
from tests.interfaces.every import IN_PROCESS, INTERFACES
from tests.interfaces.interface import CallRequest, Interface, InterfaceClient, Json, Outcome, Place
from tests.interfaces.scenes import SCENES, SCRIPT, Scene, Stage, audited, repeated
from tests.support.browsers.extension import FakeExtension

OTHERS = [interface for interface in INTERFACES if interface is not IN_PROCESS]
every_interface = pytest.mark.parametrize("interface", OTHERS, ids=repr)


async def played(
    scene: Scene, interface: Interface, place: Place, operation_id: str
) -> tuple[list[Outcome], list[Json]]:
    """The outcomes of a scene over an interface, and its entries in the audit log."""
    async with place.http() as person, interface.connect(place) as client:
        before = len(await audited(person, "main"))
        outcomes = await scene(Stage(client, 1, operation_id))
        return outcomes, await audited(person, "main", before)


@pytest.mark.document("OT-gateway-4", "OT-endpoints-5")
@every_interface
@pytest.mark.requirement("OT-06")
@pytest.mark.requirement("OT-07")
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
async def test_every_interface_returns_and_records_what_the_runner_does(
    interface: Interface, scene: Scene, place: Place, extension: FakeExtension, page: Page
) -> None:
    expected, entries = await played(scene, IN_PROCESS, place, "first")
    page.runs = 0
    outcomes, recorded = await played(scene, interface, place, "second")
    assert list(map(_comparable, outcomes)) == list(map(_comparable, expected))
    assert recorded == entries and entries
    assert page.runs == (1 if scene is repeated else 0)


def _comparable(outcome: Outcome) -> object:
    """Interfaces suggest similar names for an unknown tool; the runner does not."""
    if outcome.error is not None and outcome.error["reason"] == "unknown_tool":
        return outcome.brief
    return outcome


@pytest.mark.document("OT-stdio-4")
@every_interface
async def test_every_interface_lists_every_tool(interface: Interface, place: Place) -> None:
    async with IN_PROCESS.connect(place) as runner, interface.connect(place) as client:
        assert await client.tools() == await runner.tools()


def _started(
    client: InterfaceClient, progress: list[Json] | None = None
) -> "asyncio.Task[Outcome]":
    return asyncio.create_task(
        client.call(CallRequest(SCRIPT, {"code": "1", "tabId": 1}, progress=progress))
    )


@every_interface
async def test_every_interface_that_can_reports_progress(
    interface: Interface, place: Place, extension: FakeExtension
) -> None:
    async with interface.connect(place) as client:
        progress: list[Json] = []
        calling = _started(client, progress)
        await extension.answer_in_steps({"value": 2})
        assert (await calling).brief == {"value": 2}
    expected = [{"progress": 1, "total": 2, "message": "half"}] if client.reports_progress else []
    assert progress == expected


@every_interface
async def test_a_cancelled_call_is_cancelled_in_the_browser_and_recorded(
    interface: Interface, place: Place, extension: FakeExtension
) -> None:
    async with place.http() as person, interface.connect(place) as client:
        calling = _started(client)
        request = await extension.next("tool.dispatch")
        await client.cancel(calling)
        cancelled = await extension.next("tool.cancel")
        assert cancelled["params"]["dispatchId"] == request["params"]["dispatchId"]
        [entry] = await audited(person, "main")
    assert (entry["success"], entry["error"]["reason"]) == (False, "cancelled")
