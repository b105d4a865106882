"""Operation ids: a call with the same id is never run twice.

While the first runs, others wait for it; afterwards they get its result or its error. It is
cancelled only when nobody waits any more.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from tabhub.calls.ports import Call, Clock, Interrupted
from tabhub.calls.results import Incomplete
from tabhub.errors import Cancelled, Forbidden, InvalidArguments
from tabhub.wire.mcp.messages import CallResult

KEPT_SECONDS = 600.0
"""How long after its end an operation can be asked about."""
KEPT_OPERATIONS = 1000

Run = Callable[[Call], Coroutine[Any, Any, CallResult]]


_REFUSALS = {"permission_off", "permission_denied", "approval_unavailable", "approval_timeout"}


def _did_nothing(error: BaseException | None) -> bool:
    """Whether an operation ended before anything was done, so that it may be tried again."""
    if isinstance(error, Incomplete):
        return not error.content and _did_nothing(error.cause)
    is_refusal = isinstance(error, Forbidden) and error.reason in _REFUSALS
    return is_refusal or isinstance(error, Interrupted)


@dataclass
class _Operation:
    task: "asyncio.Task[CallResult]"
    fingerprint: tuple[str, bytes]
    ended: float | None = None
    waiting: int = 0


class Operations:
    """What has been run under an id, for as long as somebody may ask again."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: dict[tuple[str, str], _Operation] = {}

    async def once(self, call: Call, id: str, run: Run) -> CallResult:
        self._forget_old()
        fingerprint = (call.tool, bytes(call.arguments or b""))
        operation = self._known.get((call.client.name, id))
        if operation is None:
            operation = _Operation(asyncio.create_task(run(call)), fingerprint)
            key = (call.client.name, id)
            operation.task.add_done_callback(lambda _: self._end(key, operation))
            self._known[key] = operation
        if operation.fingerprint != fingerprint:
            raise InvalidArguments(f"The operation id {id!r} belongs to another call.")
        return await self._wait(operation)

    async def _wait(self, operation: _Operation) -> CallResult:
        operation.waiting += 1
        try:
            return await asyncio.shield(operation.task)
        except asyncio.CancelledError:
            if operation.task.cancelled():
                raise Cancelled("This operation was cancelled; it will not run again.") from None
            if operation.waiting == 1:
                operation.task.cancel()
            raise
        finally:
            operation.waiting -= 1

    def _end(self, key: tuple[str, str], operation: _Operation) -> None:
        operation.ended = self._clock()
        if operation.task.cancelled():
            return
        # Looking at the exception says that it was seen: nobody may be left to ask for it.
        if _did_nothing(operation.task.exception()):
            del self._known[key]

    def _forget_old(self) -> None:
        """Those whose time is over, and the oldest when there are too many."""
        limit = self._clock() - KEPT_SECONDS
        ended = [key for key, op in self._known.items() if op.ended is not None]
        surplus = max(len(self._known) - KEPT_OPERATIONS + 1, 0)
        for number, key in enumerate(ended):
            if number < surplus or (self._known[key].ended or 0) < limit:
                del self._known[key]
