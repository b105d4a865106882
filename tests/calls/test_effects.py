"""Whether a failed call had an effect: the defaults in the table, overrides and consequences.

An operation id may be run again only where the effect is certainly none.
"""

from typing import get_args

import pytest
from msgspec import Raw

from tabhub.calls.call import Call
from tabhub.calls.idempotency import Operations
from tabhub.calls.results import Incomplete
from tabhub.errors import REASONS, Effect, Forbidden, TabhubError, TimedOut, from_reason
from tabhub.wire.mcp.messages import CallResult, text


async def runs(error: TabhubError) -> int:
    """How often an operation runs if it is requested twice and fails with this error."""
    operations, count = Operations(lambda: 0.0, 1000), 0

    async def run(call: Call) -> CallResult:
        nonlocal count
        count += 1
        raise error

    for _ in range(2):
        with pytest.raises(TabhubError) as failed:
            await operations.once(Call("act", Raw(b"{}"), "s", _silent), "pay", run)
        assert failed.value is error
    return count


async def _silent(progress: float, total: float | None, message: str | None) -> None:
    return None


@pytest.mark.parametrize("reason", REASONS)
async def test_an_operation_runs_again_only_after_an_error_without_effect(reason: str) -> None:
    error = from_reason(reason, "no")
    assert error.effect == REASONS[reason].effect
    assert await runs(error) == (2 if error.effect == "none" else 1)


@pytest.mark.parametrize("reason", REASONS)
@pytest.mark.parametrize("effect", get_args(Effect))
async def test_the_code_that_raises_an_error_can_override_the_table(
    reason: str, effect: Effect
) -> None:
    kind = type(from_reason(reason, "no"))
    assert await runs(kind("no", reason, effect=effect)) == (2 if effect == "none" else 1)
    assert await runs(from_reason(reason, "no").with_effect(effect)) == (
        2 if effect == "none" else 1
    )


@pytest.mark.parametrize(
    "reason",
    [
        "paused_by_person",
        "tab_not_found",
        "navigated_away",
        "navigation_failed",
        "script_error",
        "dialog_open",
        "page_may_have_received",
        "invalid_response",
        "too_large",
        "timeout",
        "cancelled",
        "internal",
    ],
)
def test_a_reason_that_can_follow_a_received_call_never_has_the_effect_none(
    reason: str,
) -> None:
    assert REASONS[reason].effect == "unknown"


def test_an_unknown_reason_has_an_unknown_effect() -> None:
    assert from_reason("newly_invented", "no").effect == "unknown"


def test_the_effect_is_not_on_the_wire() -> None:
    error = Forbidden("no", effect="done")
    assert "effect" not in error.data()


def test_an_error_that_several_calls_share_keeps_its_effect() -> None:
    shared = TimedOut("late", data={"seconds": 3})
    other = shared.with_effect("none")
    assert (shared.effect, other.effect) == ("unknown", "none")
    assert other.to_jsonrpc() == shared.to_jsonrpc() and str(other) == str(shared)


@pytest.mark.parametrize(
    ("completed", "cause", "expected"),
    [(1, "none", "done"), (0, "none", "none"), (0, "unknown", "unknown")],
)
async def test_several_calls_in_one_had_an_effect_once_one_is_completed(
    completed: int, cause: Effect, expected: Effect
) -> None:
    error = Incomplete("no", Forbidden("no", effect=cause), [text("done")] * completed, {})
    assert error.effect == expected
    assert await runs(error) == (2 if expected == "none" else 1)
