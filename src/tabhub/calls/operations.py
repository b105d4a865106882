"""Operation ids: a call with the same id is never run twice.

While the first runs, others wait for it; afterwards they get its result or its error. It is
cancelled only when nobody waits any more.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from tabhub.calls.ports import Call, Clock
from tabhub.errors import Cancelled, InvalidArguments
from tabhub.wire.limits import OPERATION_SECONDS
from tabhub.wire.mcp.messages import CallResult

Run = Callable[[Call], Coroutine[Any, Any, CallResult]]


@dataclass
class _Operation:
    task: "asyncio.Task[CallResult]"
    fingerprint: tuple[str, bytes]
    started: float
    waiting: int = 0


class Operations:
    """What has been run under an id, for as long as somebody may ask again."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: dict[tuple[str, str], _Operation] = {}

    async def once(self, call: Call, id: str, run: Run) -> CallResult:
        self._forget_old()
        fingerprint = (call.tool, bytes(call.arguments or b""))
        operation = self._known.get((call.session, id))
        if operation is None:
            task = asyncio.create_task(run(call))
            operation = _Operation(task, fingerprint, self._clock())
            self._known[(call.session, id)] = operation
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

    def _forget_old(self) -> None:
        limit = self._clock() - OPERATION_SECONDS
        old = [key for key, op in self._known.items() if op.started < limit and op.task.done()]
        for key in old:
            del self._known[key]
