"""The life of a call, with doubles of sources."""

import asyncio
from typing import Any

import msgspec
import pytest

from tabhub.calls.call import Call, Source
from tabhub.calls.ports import Interrupted
from tabhub.calls.results import done
from tabhub.calls.running import paused
from tabhub.errors import (
    Cancelled,
    Forbidden,
    Internal,
    InvalidArguments,
    NotFound,
    ProtocolError,
    TimedOut,
    Unavailable,
)
from tabhub.hub.tabs import Tab
from tabhub.hub.tools import Tool
from tabhub.wire.mcp.messages import CallResult
from tests.calls.runner_bench import SCHEMA, Bench, _silent


@pytest.mark.requirement("TH-41")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "is missing"),
        ({"n": "one"}, "n: "),
        ({"n": 0}, "minimum"),
        ({"n": 1, "m": 2}, "m"),
        ([], "object"),
        ("x", "object"),
        ({"n": True}, "n: "),
    ],
)
async def test_wrong_arguments_are_refused_with_their_place_and_nothing_runs(
    arguments: Any, message: str
) -> None:
    bench = Bench()
    with pytest.raises(InvalidArguments, match=message):
        await bench.call(arguments=arguments)
    assert bench.source.calls == []


async def test_the_tab_id_is_removed_from_the_arguments_and_becomes_the_current_tab() -> None:
    bench = Bench()
    await bench.call("act", {"n": 1, "tabId": 1})
    await bench.call("act", {"n": 2})
    assert [(call.arguments, call.tab and call.tab.id) for call in bench.source.calls] == [
        ({"n": 1}, 1),
        ({"n": 2}, 1),
    ]


async def test_each_session_has_its_own_current_tab() -> None:
    bench = Bench()
    await bench.call("act", {"n": 1, "tabId": 1}, session="mine")
    with pytest.raises(NotFound) as refused:
        await bench.call("act", {"n": 1}, session="yours")
    assert refused.value.reason == "no_current_tab"


@pytest.mark.parametrize("depth", [200, 400, 900, 5000])
async def test_arguments_that_are_nested_too_deeply_are_refused_as_such(depth: int) -> None:
    bench = Bench()
    raw = msgspec.Raw(b'{"n":' + b"[" * depth + b"]" * depth + b"}")
    with pytest.raises(InvalidArguments):
        await bench.runner.run(Call("free", raw, "s", _silent))
    assert bench.source.calls == []


async def test_a_schema_never_makes_the_server_fetch_anything() -> None:
    bench = Bench()
    bench.tools.add(Tool("sly", "refers away", {"$ref": "http://127.0.0.1:1/x"}, source="test"))
    with pytest.raises(InvalidArguments, match="schema"):
        await bench.call("sly")


async def test_a_tool_that_was_replaced_is_validated_by_its_new_schema() -> None:
    bench = Bench()
    await bench.call("free")
    loose = Tool("free", "takes all", {"type": "object"}, source="test", needs_tab=False)
    bench.tools.replace(loose)
    await bench.call("free", {"anything": True})
    assert len(bench.source.calls) == 2


@pytest.mark.requirement("OT-05")
async def test_a_call_that_takes_too_long_is_cancelled_in_its_source() -> None:
    bench = Bench(call_seconds=0.01)
    bench.source.go.clear()
    with pytest.raises(TimedOut) as late:
        await bench.call()
    assert late.value.retryable
    assert bench.source.ended == ["cancelled"]


class Talker(Source):
    """A source that reports progress a number of times, then ends."""

    def __init__(self, steps: int, pause: float) -> None:
        self._steps, self._pause = steps, pause

    async def run(self, call: Call) -> CallResult:
        for step in range(self._steps):
            await call.report(step, None, None)
            await asyncio.sleep(self._pause)
        return done("ok", {})


async def test_progress_keeps_a_call_alive_beyond_its_limit() -> None:
    bench = Bench(call_seconds=1)
    bench.runner._sources = {"test": Talker(steps=2, pause=0.6)}
    assert await bench.call() == {}


async def test_progress_does_not_keep_a_call_alive_forever() -> None:
    bench = Bench(call_seconds=1, max_call_seconds=0.1)
    bench.runner._sources = {"test": Talker(steps=1_000_000, pause=0.001)}
    with pytest.raises(TimedOut):
        await bench.call()


async def test_an_operation_id_runs_once_during_and_after_its_call() -> None:
    bench = Bench()
    bench.source.go.clear()
    first = asyncio.create_task(bench.call(id="op"))
    await bench.source.started.wait()
    second = asyncio.create_task(bench.call(id="op"))
    await asyncio.sleep(0)
    bench.source.go.set()
    assert await first == await second == await bench.call(id="op") == {"n": 1, "runs": 1}


async def test_an_operation_id_belongs_to_a_session_and_outlives_it() -> None:
    bench = Bench()
    assert (await bench.call(id="op", session="first"))["runs"] == 1
    assert (await bench.call(id="op", session="beside it"))["runs"] == 2
    bench.hub.sessions.end("first")
    assert (await bench.call(id="op", session="a new one"))["runs"] == 1
    assert (await bench.call(id="op", session="beside it"))["runs"] == 2
    assert (await bench.call(id="op", session="other", caller="another client"))["runs"] == 3


async def test_an_operation_id_cannot_be_used_for_another_call() -> None:
    bench = Bench()
    await bench.call(id="op")
    with pytest.raises(InvalidArguments, match="another call"):
        await bench.call(arguments={"n": 2}, id="op")


async def test_an_operation_is_forgotten_ten_minutes_after_its_end() -> None:
    bench = Bench()
    bench.source.go.clear()
    first = asyncio.create_task(bench.call(id="op"))
    await bench.source.started.wait()
    bench.now = 500
    bench.source.go.set()
    await first
    bench.now = 1099
    assert (await bench.call(id="op"))["runs"] == 1
    bench.now = 1101
    assert (await bench.call(id="op"))["runs"] == 2


async def test_the_oldest_operations_are_forgotten_beyond_a_number() -> None:
    bench = Bench()
    for number in range(1001):
        await bench.call(id=f"op {number}")
    assert (await bench.call(id="op 1000"))["runs"] == 1001
    assert (await bench.call(id="op 0"))["runs"] == 1002


async def test_no_client_pushes_out_the_operations_of_another() -> None:
    bench = Bench(result_bytes=20)
    assert (await bench.call(id="pay"))["runs"] == 1
    for number in range(1001):
        await bench.call(id=f"op {number}", caller="another client")
    assert (await bench.call(id="pay"))["runs"] == 1
    assert len(bench.source.calls) == 1002


async def test_an_invalid_call_is_not_remembered_as_an_operation() -> None:
    bench = Bench()
    assert (await bench.call(id="pay"))["runs"] == 1
    for number in range(1001):
        with pytest.raises(NotFound):
            await bench.call("nope", id=f"op {number}")
    with pytest.raises(InvalidArguments, match="minimum"):
        await bench.call(arguments={"n": 0}, id="mended")
    assert (await bench.call(id="mended"))["runs"] == 2
    assert (await bench.call(id="pay"))["runs"] == 1


async def test_a_call_that_reached_no_source_had_no_effect() -> None:
    bench = Bench()
    with pytest.raises(NotFound) as missing:
        await bench.call("act", {"n": 1, "tabId": 2}, id="pay")
    assert (missing.value.reason, missing.value.effect) == ("tab_not_found", "none")
    bench.hub.tabs.put(Tab(id=0, browser="a", native_id=2))
    bench.hub.ownership.share(2, shared=True)
    assert (await bench.call("act", {"n": 1, "tabId": 2}, id="pay"))["runs"] == 1


async def test_a_call_that_is_paused_while_it_runs_may_have_had_an_effect() -> None:
    bench = Bench()
    bench.source.go.clear()
    calling = asyncio.create_task(bench.call(id="pay"))
    await bench.source.started.wait()
    bench.runner.running.end(paused("Paused."), lambda flight: True)
    with pytest.raises(Forbidden) as ended:
        await calling
    assert (ended.value.reason, ended.value.effect) == ("paused_by_person", "unknown")
    with pytest.raises(Forbidden):
        await bench.call(id="pay")
    assert len(bench.source.calls) == 1


async def test_the_number_of_running_operations_is_limited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tabhub.calls.idempotency.KEPT_OPERATIONS", 3)
    bench = Bench()
    bench.source.go.clear()
    running = [asyncio.create_task(bench.call(id=f"op {number}")) for number in range(3)]
    await bench.source.started.wait()
    with pytest.raises(Unavailable) as refused:
        await bench.call(id="one more")
    assert refused.value.reason == "too_many_calls"
    bench.source.go.set()
    await asyncio.gather(*running)
    await bench.call(id="one more")


async def test_large_results_are_forgotten_but_their_operations_do_not_run_again() -> None:
    class Talkative(Source):
        runs = 0

        async def run(self, call: Call) -> CallResult:
            self.runs += 1
            return done("x" * 300, {"runs": self.runs})

    bench, source = Bench(result_bytes=100), Talkative()
    bench.runner._sources = {"test": source}
    for number in range(4):
        assert (await bench.call(id=f"op {number}"))["runs"] == number + 1
        bench.now += 1
    for number in (2, 3):
        assert (await bench.call(id=f"op {number}"))["runs"] == number + 1
    for number in (0, 1):
        with pytest.raises(ProtocolError, match="will not run again") as refused:
            await bench.call(id=f"op {number}")
        assert refused.value.reason == "too_large"
    assert source.runs == 4


async def test_an_unexpected_exception_is_an_internal_error_with_details_only_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Broken(Source):
        async def run(self, call: Call) -> CallResult:
            raise KeyError("very internal")

    bench = Bench()
    bench.runner._sources = {"test": Broken()}
    with pytest.raises(Internal) as fault:
        await bench.call()
    assert "very internal" not in fault.value.message
    assert "very internal" in caplog.text


async def test_an_operation_runs_while_any_caller_waits_and_not_again_once_cancelled() -> None:
    bench = Bench()
    bench.source.go.clear()
    waiting = [asyncio.create_task(bench.call(id="op")) for _ in range(2)]
    await bench.source.started.wait()
    waiting[0].cancel()
    await asyncio.wait({waiting[0]})
    assert bench.source.ended == []
    waiting[1].cancel()
    await asyncio.wait({waiting[1]})
    await asyncio.sleep(0)
    assert bench.source.ended == ["cancelled"]
    with pytest.raises(Cancelled):
        await bench.call(id="op")
    assert len(bench.source.calls) == 1


async def test_progress_after_the_end_of_a_call_reaches_the_client_and_ends_nothing() -> None:
    bench = Bench(call_seconds=0.01)
    await bench.call()
    (call,) = bench.source.calls
    await call.report(1)
    await asyncio.sleep(0.03)


# -- the audit log -------------------------------------------------------------------------------

READS = Tool(
    "reads", "reads", SCHEMA, source="test", needs_tab=False, annotations={"readOnlyHint": True}
)


async def test_a_call_that_may_change_something_is_written_when_it_begins() -> None:
    bench = Bench()
    bench.tools.add(READS)
    bench.source.go.clear()
    calling = asyncio.create_task(bench.call())
    await bench.source.started.wait()
    assert len(bench.audit.begun) == 1 and bench.audit.events == []
    bench.source.go.set()
    await calling
    await bench.call("reads")
    assert [event.call for event in bench.audit.events] == [*bench.audit.begun, ""]


async def test_a_call_that_is_refused_before_it_runs_has_not_begun() -> None:
    bench = Bench()
    with pytest.raises(InvalidArguments):
        await bench.call(arguments={})
    bench.audit.refusal = Unavailable("no room", "rate_limited")
    for id in (None, "operation"):
        with pytest.raises(Unavailable, match="no room") as refused:
            await bench.call(id=id)
        assert (refused.value.effect, bench.source.calls, bench.audit.begun) == ("none", [], [])
    assert [event.error and event.error.reason for event in bench.audit.events] == [
        "invalid_arguments",
        "rate_limited",
        "rate_limited",
    ]


@pytest.mark.parametrize("name", ["types", "typse"])
async def test_a_call_for_which_the_log_has_no_room_keeps_its_secrets(name: str) -> None:
    bench = Bench()
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    secret = frozenset({"text"})
    bench.tools.add(Tool("types", "types", schema, source="test", secret_arguments=secret))
    bench.audit.refusal = Unavailable("no room", "rate_limited")
    with pytest.raises(Unavailable):
        await bench.call(name, {"text": "Hunter22x"})
    assert "text" in bench.audit.events[-1].secret_arguments


async def test_a_repeated_result_needs_room_in_the_log_too() -> None:
    bench = Bench()
    await bench.call(id="operation")
    bench.audit.refusal = Unavailable("no room", "rate_limited")
    with pytest.raises(Unavailable, match="no room"):
        await bench.call(id="operation")
    assert len(bench.source.calls) == 1


class Fickle(Source):
    """A source whose first run ends with an error, before anything is done."""

    def __init__(self, first: Exception) -> None:
        self._errors = [first]

    async def run(self, call: Call) -> CallResult:
        if self._errors:
            raise self._errors.pop()
        return done("ok", {})


async def test_a_call_that_begins_again_elsewhere_counts_once() -> None:
    bench = Bench()
    there = Forbidden("another site", data={"frameSite": "other.example"})
    bench.runner._sources = {"test": Fickle(there)}
    await bench.call()
    first, second = bench.audit.begun
    assert bench.audit.withdrawn == [first]
    assert [event.call for event in bench.audit.events] == [second]


async def test_a_call_that_the_client_will_send_again_is_withdrawn() -> None:
    bench = Bench()
    bench.runner._sources = {"test": Fickle(Interrupted())}
    with pytest.raises(Interrupted):
        await bench.call()
    assert bench.audit.withdrawn == bench.audit.begun != []
    assert bench.audit.events == []
