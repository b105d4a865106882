"""Operation ids: a call with the same id is never run twice.

While the first runs, others wait for it; afterwards they get its result or its error. It is
cancelled only when nobody waits any more. What is too much to keep is forgotten, but not that it
was done. Each client has its own: what one asks for pushes out nothing of another.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from tabhub.calls.call import Call
from tabhub.calls.ports import Clock, Interrupted
from tabhub.calls.results import Incomplete, size_of
from tabhub.errors import Cancelled, InvalidArguments, ProtocolError, TabhubError, Unavailable
from tabhub.wire.mcp.messages import CallResult

KEPT_SECONDS = 600.0
"""How long after its end an operation can be asked about."""
KEPT_OPERATIONS = 1000
"""Of one client."""
KEPT_RESULTS = 10
"""How many results of the largest size are kept, of one client."""

Run = Callable[[Call], Coroutine[Any, Any, CallResult]]


def _did_nothing(error: BaseException | None) -> bool:
    """Whether an operation certainly had no effect, so that it may be run again."""
    if isinstance(error, TabhubError):
        return error.effect == "none"
    return isinstance(error, Interrupted)


@dataclass
class _Operation:
    task: "asyncio.Task[CallResult] | None"
    """None when what came of it is not kept any more."""
    fingerprint: tuple[str, bytes]
    ended: float | None = None
    waiting: int = 0
    size: int = 0


class _Shelf(dict[str, _Operation]):
    """The operations of one client: others can push none of them out."""

    def add(self, id: str, operation: _Operation) -> None:
        surplus = len(self) - KEPT_OPERATIONS + 1
        for old in [key for key, one in self.items() if one.ended is not None][: max(surplus, 0)]:
            del self[old]
        if len(self) >= KEPT_OPERATIONS:
            raise Unavailable(
                f"{KEPT_OPERATIONS} operations of this client are still running. Wait for them.",
                "too_many_calls",
            )
        self[id] = operation

    def forget_before(self, limit: float) -> None:
        ended = [key for key, one in self.items() if one.ended is not None and one.ended < limit]
        for key in ended:
            del self[key]

    def shed(self, most: int) -> None:
        """Let go of the oldest results when together they are too large."""
        kept = [one for one in self.values() if one.ended is not None]
        surplus = sum(one.size for one in kept) - most
        for operation in sorted(kept, key=lambda one: one.ended or 0):
            if surplus <= 0:
                return
            surplus -= operation.size
            if operation.size:
                operation.task, operation.size = None, 0


class Operations:
    """What has been run under an id, for as long as somebody may ask again."""

    def __init__(self, clock: Clock, result_bytes: int) -> None:
        self._clock = clock
        self._most = result_bytes * KEPT_RESULTS
        self._shelves: dict[str, _Shelf] = {}

    async def once(self, call: Call, id: str, run: Run) -> CallResult:
        self._forget_old()
        shelf = self._shelves.setdefault(call.client.name, _Shelf())
        operation = shelf.get(id) or self._begin(shelf, call, id, run)
        if operation.fingerprint != _fingerprint(call):
            raise InvalidArguments(f"The {call.operation_named} {id!r} belongs to another call.")
        if operation.task is None:
            raise ProtocolError(
                "This operation has run and will not run again; its result was too large to be "
                "kept. Look at the page for what it did.",
                "too_large",
            )
        return await self._wait(operation, operation.task)

    def _begin(self, shelf: _Shelf, call: Call, id: str, run: Run) -> _Operation:
        operation = _Operation(None, _fingerprint(call))
        shelf.add(id, operation)
        operation.task = asyncio.create_task(run(call))
        operation.task.add_done_callback(lambda ended: self._end(shelf, id, operation, ended))
        return operation

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
        self, shelf: _Shelf, id: str, operation: _Operation, task: "asyncio.Task[CallResult]"
    ) -> None:
        operation.ended = self._clock()
        if task.cancelled():
            return
        # Looking at the exception says that it was seen: nobody may be left to ask for it.
        error = task.exception()
        if _did_nothing(error):
            del shelf[id]
        elif error is None or isinstance(error, Incomplete):
            operation.size = size_of(task.result() if error is None else error)
            shelf.shed(self._most)

    def _forget_old(self) -> None:
        limit = self._clock() - KEPT_SECONDS
        for client, shelf in list(self._shelves.items()):
            shelf.forget_before(limit)
            if not shelf:
                del self._shelves[client]


def _fingerprint(call: Call) -> tuple[str, bytes]:
    return call.name, sha256(call.raw or b"").digest()
