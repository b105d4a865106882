"""Batches: several calls in one, each of them treated like any other call."""

import asyncio
from typing import Any

import msgspec
import pytest

from tabhub.calls.approvals import Terms
from tabhub.calls.call import Call, Source
from tabhub.calls.ports import ApprovalAnswer, ApprovalRequest, Interrupted
from tabhub.calls.results import Incomplete, done, failed
from tabhub.calls.running import Control
from tabhub.config.clients import Client
from tabhub.config.settings import PermissionSettings
from tabhub.errors import Forbidden, InvalidArguments, NotFound, Refused, TabhubError
from tabhub.hub.tools import Tool
from tabhub.permissions.rules import RuleBook
from tabhub.tools.composite import batch
from tabhub.tools.state import Frame, Screenshot, Screenshots
from tabhub.wire.mcp.messages import CallResult
from tests.calls.runner_bench import SCHEMA, Bench

Json = dict[str, Any]
ITEM: Json = {"name": "free", "input": {"n": 1}}
READ: Json = {"name": "look", "input": {"n": 1}}


def item(n: int, name: str = "free") -> Json:
    return {"name": name, "input": {"n": n}}


class Stage(Bench):
    """A bench with batches, and a tool that only reads."""

    def __init__(self, result_bytes: int = 1_000_000, **limits: Any) -> None:
        super().__init__(**limits)
        look = Tool(
            "look",
            "looks",
            SCHEMA,
            "test",
            annotations={"readOnlyHint": True},
            needs_tab=False,
            toolsets=frozenset({"core"}),
        )
        computer = Tool("computer", "acts", {"type": "object"}, "test", needs_tab=False)
        self.tools.add(look, computer, batch.tool(self.tools))
        self.shots = Screenshots(lambda: 0.0)
        source = batch.BatchSource(self.runner, self.sessions, self.shots, result_bytes)
        self.runner._sources = {"test": self.source, batch.SOURCE: source}
        self.progress: list[tuple[float, float | None, str | None]] = []

    async def batch(self, *actions: Json, client: Client | None = None, **more: Any) -> CallResult:
        raw = msgspec.Raw(msgspec.json.encode({"actions": actions}))

        async def collect(progress: float, total: float | None, message: str | None) -> None:
            self.progress.append((progress, total, message))

        call = Call(batch.NAME, raw, "s", collect, client or Client("c"), **more)
        return await self.runner.run(call)

    @property
    def ran(self) -> list[int]:
        return [call.arguments["n"] for call in self.source.calls]


class Failing(Source):
    """A source that fails at a given number."""

    def __init__(self, stage: Stage, at: int, error: TabhubError) -> None:
        self._stage, self._at, self._error = stage, at, error

    async def run(self, call: Call) -> CallResult:
        if call.arguments["n"] == self._at:
            raise self._error
        return await self._stage.source.run(call)


def failing(at: int, error: TabhubError) -> Stage:
    stage = Stage()
    sources = dict(stage.runner._sources)
    stage.runner._sources = {**sources, "test": Failing(stage, at, error)}
    return stage


async def test_items_run_in_order_and_each_result_has_the_name_of_its_tool() -> None:
    stage = Stage()
    result = await stage.batch(item(1), {"name": "computer", "input": {"action": "wait"}}, item(3))
    assert [block["text"] for block in result.content] == [
        *("[free]", "ok"),
        *("[computer:wait]", "ok"),
        *("[free]", "ok"),
    ]
    content: Any = result.structured_content
    assert (content["completed"], content["remaining"]) == (3, 0)
    assert [entry["n"] for entry in content["results"]] == [1, None, 3]
    assert "failed" not in content and not result.is_error


async def test_the_first_error_ends_a_batch_and_earlier_results_are_kept() -> None:
    stage = failing(2, Refused("ref_7 is gone.", "stale_ref"))
    with pytest.raises(Incomplete) as stopped:
        await stage.batch(item(1), item(2), item(3), item(4))
    assert stage.ran == [1]
    result = failed(stopped.value)
    assert result.is_error
    for part in ("Action 2 (free)", "ref_7 is gone.", "1 completed", "3 not: this one"):
        assert part in result.content[0]["text"]
    assert [block["text"] for block in result.content[1:]] == ["[free]", "ok"]
    content: Any = result.structured_content
    assert content["error"]["reason"] == "stale_ref"
    assert (content["completed"], content["remaining"]) == (1, 3)
    assert content["results"] == [{"n": 1, "runs": 1}]
    assert (content["failed"]["index"], content["failed"]["name"]) == (1, "free")
    assert content["failed"]["error"]["reason"] == "stale_ref"


async def test_results_that_are_too_large_together_end_a_batch_with_those_that_fit() -> None:
    stage = Stage(result_bytes=140)
    with pytest.raises(Incomplete) as stopped:
        await stage.batch(item(1), item(2), item(3), item(4))
    assert stage.ran == [1, 2, 3]
    result = failed(stopped.value)
    for part in ("Action 3 (free) was done", "140 bytes", "3 completed", "1 not"):
        assert part in result.content[0]["text"]
    assert [block["text"] for block in result.content[1:]] == [
        *("[free]", "ok"),
        *("[free]", "ok"),
        "[free]",
    ]
    content: Any = result.structured_content
    assert content["error"]["reason"] == "too_large" and content["failed"]["index"] == 2
    assert (content["completed"], content["remaining"]) == (3, 1)
    assert content["results"] == [{"n": 1, "runs": 1}, {"n": 2, "runs": 2}, None]


@pytest.mark.requirement("TH-41")
@pytest.mark.parametrize(
    ("last", "reason", "message"),
    [
        ({"name": "nothing"}, "unknown_tool", "nothing"),
        (item(0), "invalid_arguments", "minimum"),
        ({"name": "free"}, "invalid_arguments", "required"),
        (
            {"name": batch.NAME, "input": {"actions": [ITEM]}},
            "invalid_arguments",
            "cannot be in a batch",
        ),
    ],
)
async def test_no_item_runs_unless_all_of_them_could(last: Json, reason: str, message: str) -> None:
    stage = Stage()
    with pytest.raises(TabhubError, match=message) as refused:
        await stage.batch(item(1), last)
    assert refused.value.reason == reason
    assert "action 2:" in refused.value.message
    assert stage.ran == []


@pytest.mark.parametrize(
    "actions", [[], [{"input": {}}], [{"name": "free", "arguments": {}}], [ITEM] * 51, ["free"]]
)
async def test_an_invalid_batch_is_refused(actions: list[Any]) -> None:
    stage = Stage()
    with pytest.raises(InvalidArguments):
        await stage.batch(*actions)
    assert stage.ran == []


async def test_progress_is_reported_for_each_item_and_only_grows() -> None:
    stage = Stage()

    class Talking(Source):
        async def run(self, call: Call) -> CallResult:
            await call.report(50, 100, "half of it")
            await call.report(100, 100, "all of it")
            return done("ok", {})

    stage.runner._sources = {**stage.runner._sources, "test": Talking()}
    await stage.batch(item(1), item(2))
    amounts = [progress for progress, _, _ in stage.progress]
    assert amounts == sorted(set(amounts)) and amounts[0] == 0 and max(amounts) < 2
    assert {total for _, total, _ in stage.progress} == {2}
    assert [message for _, _, message in stage.progress][:3] == [
        *("1 of 2: free", "half of it", "all of it")
    ]


async def test_cancelling_a_batch_stops_the_running_item_and_starts_no_other() -> None:
    stage = Stage()
    stage.source.go.clear()
    running = asyncio.create_task(stage.batch(item(1), item(2)))
    await stage.source.started.wait()
    running.cancel()
    await asyncio.wait({running})
    stage.source.go.set()
    await asyncio.sleep(0)
    assert running.cancelled()
    assert stage.ran == [1] and stage.source.ended == ["cancelled"]


async def test_a_batch_has_the_time_limit_of_a_call_and_then_reports_its_results() -> None:
    stage = Stage(call_seconds=60, max_call_seconds=3)

    class Stuck(Source):
        async def run(self, call: Call) -> CallResult:
            if call.arguments["n"] == 2:
                stage.source.go.clear()
            return await stage.source.run(call)

    stage.runner._sources = {**stage.runner._sources, "test": Stuck()}
    with pytest.raises(Incomplete) as late:
        await stage.batch(item(1), item(2), item(3))
    assert late.value.reason == "timeout"
    assert stage.ran == [1, 2] and stage.source.ended == ["cancelled"]
    assert late.value.structured["completed"] == 1


async def test_a_timeout_of_an_item_is_reported_as_the_error_of_that_item() -> None:
    stage = Stage(call_seconds=0.05, max_call_seconds=60)
    stage.source.go.clear()
    with pytest.raises(Incomplete, match="free did not finish in time") as late:
        await stage.batch(item(1), item(2))
    assert late.value.reason == "timeout" and stage.ran == [1]


async def test_the_same_operation_id_runs_a_batch_once_also_when_it_has_failed() -> None:
    stage = Stage()
    stage.source.go.clear()
    batches = [
        asyncio.create_task(stage.batch(item(1), item(2), operation_id="op")) for _ in range(2)
    ]
    await stage.source.started.wait()
    stage.source.go.set()
    first, second = await asyncio.gather(*batches)
    assert first is second and await stage.batch(item(1), item(2), operation_id="op") is first
    assert stage.ran == [1, 2]
    stage = failing(2, Forbidden("No."))
    for _ in range(2):
        with pytest.raises(Incomplete):
            await stage.batch(item(1), item(2), operation_id="op")
    assert stage.ran == [1]


async def test_a_batch_whose_first_item_was_refused_may_be_tried_again_under_its_id() -> None:
    stage = failing(1, Forbidden("No."))
    for _ in range(2):
        with pytest.raises(Incomplete, match="No"):
            await stage.batch(item(1), item(2), operation_id="op")
    refusals = [event for event in stage.audit.events if event.tool == "free"]
    assert len(refusals) == 2


async def test_each_item_is_in_the_audit_log_and_the_batch_does_not_repeat_them() -> None:
    stage = Stage()
    await stage.batch(item(1), item(2, "look"))
    assert [event.tool for event in stage.audit.events] == ["free", "look", batch.NAME]
    assert stage.audit.events[-1].secret_arguments == {"actions"}


async def test_a_read_only_token_batches_only_reading_tools() -> None:
    stage, reader = Stage(), Client("c", read_only=True)
    await stage.batch(READ, READ, client=reader)
    with pytest.raises(Forbidden, match="only reading"):
        await stage.batch(READ, ITEM, client=reader)
    assert stage.ran == [1, 1]


async def test_a_batch_does_not_extend_the_toolsets_of_a_token() -> None:
    stage = Stage()
    with pytest.raises(Incomplete, match="only toolsets core") as refused:
        await stage.batch(READ, ITEM, client=Client("c", toolsets=frozenset({"core"})))
    assert refused.value.reason == "permission_denied"
    assert [call.tool.name for call in stage.source.calls] == ["look"]


def by(stage: Stage, **levels: Any) -> Stage:
    stage.runner._guard.permissions.rulebook = RuleBook(None, PermissionSettings(**levels))
    return stage


async def test_a_person_is_asked_about_each_item_and_not_about_the_batch() -> None:
    stage = by(Stage(), plugins={"browser": "ask"}, tools={"free": "ask"})
    with pytest.raises(Incomplete) as unasked:
        await stage.batch(READ, ITEM)
    assert unasked.value.reason == "approval_unavailable"
    assert unasked.value.structured["completed"] == 1


@pytest.mark.parametrize(
    ("level", "reason"), [("off", "permission_off"), ("ask", "approval_unavailable")]
)
async def test_a_rule_that_names_the_batch_counts(level: str, reason: str) -> None:
    stage = by(Stage(), tools={batch.NAME: level})
    with pytest.raises(Forbidden) as refused:
        await stage.batch(READ)
    assert refused.value.reason == reason and stage.ran == []


async def test_pausing_the_agent_ends_the_running_item_and_starts_no_other() -> None:
    stage = Stage()
    stage.source.go.clear()
    running = asyncio.create_task(stage.batch(item(1), item(2)))
    await stage.source.started.wait()
    Control(stage.hub, stage.runner.running).pause("s", True)
    with pytest.raises(Incomplete) as paused:
        await running
    assert paused.value.reason == "paused_by_person"
    assert stage.ran == [1] and stage.source.ended == ["cancelled"]


async def test_the_end_of_the_session_ends_the_rest_of_a_batch() -> None:
    stage = Stage()

    class Ending(Source):
        async def run(self, call: Call) -> CallResult:
            stage.sessions.end("s")
            return await stage.source.run(call)

    stage.runner._sources = {**stage.runner._sources, "test": Ending()}
    with pytest.raises(Incomplete) as ended:
        await stage.batch(item(1), item(2))
    assert isinstance(ended.value.cause, NotFound) and stage.ran == [1]


async def test_a_client_is_not_asked_if_it_would_send_the_whole_batch_again() -> None:
    stage = by(Stage(), tools={"free": "ask"})
    stage.terms = Terms(seconds=1, elicitation=True)

    async def elicit(request: ApprovalRequest) -> ApprovalAnswer:
        raise Interrupted

    with pytest.raises(Incomplete, match="Call it on its own") as refused:
        await stage.batch(READ, ITEM, elicit=elicit)
    assert refused.value.reason == "approval_unavailable"
    assert [call.tool.name for call in stage.source.calls] == ["look"]


def shot(width: int) -> Screenshot:
    frame = Frame(width, 100, {"width": 100, "height": 100})
    return Screenshot("s", 1, "", "image/png", width, 100, 1, {}, frame)


async def test_points_in_a_batch_refer_to_the_screenshot_before_it() -> None:
    stage, frames = Stage(), []
    stage.shots.keep(shot(100))

    class Shooting(Source):
        async def run(self, call: Call) -> CallResult:
            stage.shots.keep(shot(200))
            frames.append(stage.shots.frame("s", 1))
            return done("ok", {})

    stage.runner._sources = {**stage.runner._sources, "test": Shooting()}
    await stage.batch(item(1), item(2))
    assert [frame and frame.width for frame in (*frames, stage.shots.frame("s", 1))] == [
        *(100, 100, 200)
    ]
