"""Operation ids: a call with the same id is never run twice.

While the first runs, others wait for it; afterwards they get its result or its error. It is
cancelled only when nobody waits any more. What is too much to keep is forgotten, but not that it
was done.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from tabhub.calls.ports import Call, Clock, Interrupted
from tabhub.calls.results import Incomplete, size_of
from tabhub.errors import Cancelled, Forbidden, InvalidArguments, ProtocolError
from tabhub.wire.mcp.messages import CallResult

KEPT_SECONDS = 600.0
"""How long after its end an operation can be asked about."""
KEPT_OPERATIONS = 1000
KEPT_RESULTS = 10
"""How many results of the largest size are kept."""

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
    task: "asyncio.Task[CallResult] | None"
    """None when what came of it is not kept any more."""
    fingerprint: tuple[str, bytes]
    ended: float | None = None
    waiting: int = 0
    size: int = 0


class Operations:
    """What has been run under an id, for as long as somebody may ask again."""

    def __init__(self, clock: Clock, result_bytes: int) -> None:
        self._clock = clock
        self._most = result_bytes * KEPT_RESULTS
        self._known: dict[tuple[str, str], _Operation] = {}

    async def once(self, call: Call, id: str, run: Run) -> CallResult:
        self._forget_old()
        fingerprint = (call.tool, sha256(call.arguments or b"").digest())
        operation = self._known.get((call.client.name, id))
        if operation is None:
            task = asyncio.create_task(run(call))
            operation = _Operation(task, fingerprint)
            key = (call.client.name, id)
            task.add_done_callback(lambda ended: self._end(key, operation, ended))
            self._known[key] = operation
        if operation.fingerprint != fingerprint:
            raise InvalidArguments(f"The {call.operation_named} {id!r} belongs to another call.")
        if operation.task is None:
            raise ProtocolError(
                "This operation has run and will not run again; its result was too large to be "
                "kept. Look at the page for what it did.",
                "too_large",
            )
        return await self._wait(operation, operation.task)

    async def _wait(self, operation: _Operation, task: "asyncio.Task[CallResult]") -> CallResult:
        operation.waiting += 1
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                raise Cancelled("This operation was cancelled; it will not run again.") from None
            if operation.waiting == 1:
                task.cancel()
            raise
        finally:
            operation.waiting -= 1

    def _end(
        self, key: tuple[str, str], operation: _Operation, task: "asyncio.Task[CallResult]"
    ) -> None:
        operation.ended = self._clock()
        if task.cancelled():
            return
        # Looking at the exception says that it was seen: nobody may be left to ask for it.
        error = task.exception()
        if _did_nothing(error):
            del self._known[key]
        elif error is None or isinstance(error, Incomplete):
            operation.size = size_of(task.result() if error is None else error)
            self._shed()

    def _shed(self) -> None:
        """Let go of the oldest results when together they are too large."""
        kept = [one for one in self._known.values() if one.ended is not None]
        surplus = sum(one.size for one in kept) - self._most
        for operation in sorted(kept, key=lambda one: one.ended or 0):
            if surplus <= 0:
                return
            surplus -= operation.size
            if operation.size:
                operation.task, operation.size = None, 0

    def _forget_old(self) -> None:
        """Those whose time is over, and the oldest when there are too many."""
        limit = self._clock() - KEPT_SECONDS
        ended = [key for key, op in self._known.items() if op.ended is not None]
        surplus = max(len(self._known) - KEPT_OPERATIONS + 1, 0)
        for number, key in enumerate(ended):
            if number < surplus or (self._known[key].ended or 0) < limit:
                del self._known[key]
