"""Operation ids: a call with the same id is never run twice.

While the first call runs, later ones wait for it; afterwards they get its result or its error. It
is cancelled only when no call waits for it any more. A result that is too large is dropped, but
the id is kept.

An id belongs to a session: sessions that are open at the same time never share one. The id of a
session that has ended still counts for other sessions of the same client, so that a client that
reconnects does nothing twice. Each client has its own operations and cannot displace those of
another.
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
"""How long an operation is kept after its end."""
KEPT_OPERATIONS = 1000
"""For each client."""
KEPT_RESULTS = 10
"""How many results of the largest size are kept for each client."""

Run = Callable[[Call], Coroutine[Any, Any, CallResult]]
Key = tuple[str, str]
"""The session and the id."""


@dataclass
class Operation:
    """A call that runs or has run under an operation id."""

    task: "asyncio.Task[CallResult] | None"
    """None when the result is no longer kept."""
    fingerprint: tuple[str, bytes]
    ended: float | None = None
    waiting: int = 0
    size: int = 0


class _ClientOperations(dict[Key, Operation]):
    """The operations of one client."""

    def add(self, key: Key, operation: Operation) -> None:
        surplus = len(self) - KEPT_OPERATIONS + 1
        ended = [key for key, known in self.items() if known.ended is not None]
        for old in ended[: max(surplus, 0)]:
            del self[old]
        if len(self) >= KEPT_OPERATIONS:
            raise Unavailable(
                f"{KEPT_OPERATIONS} operations of this client are still running. Wait for them.",
                "too_many_calls",
            )
        self[key] = operation

    def forget_before(self, limit: float) -> None:
        ended = ((key, known.ended) for key, known in self.items() if known.ended is not None)
        for key in [key for key, at in ended if at < limit]:
            del self[key]

    def drop_results(self, most: int) -> None:
        """Drop the oldest results while all together are larger than `most` bytes."""
        ended = [known for known in self.values() if known.ended is not None]
        surplus = sum(known.size for known in ended) - most
        for operation in sorted(ended, key=lambda known: known.ended or 0):
            if surplus <= 0:
                return
            surplus -= operation.size
            if operation.size:
                operation.task, operation.size = None, 0


class Operations:
    """The recent operations of every client."""

    def __init__(self, clock: Clock, result_bytes: int, is_open: Callable[[str], bool]) -> None:
        self._clock = clock
        self._is_open = is_open
        self._most = result_bytes * KEPT_RESULTS
        self._clients: dict[str, _ClientOperations] = {}

    def find(self, call: Call) -> Operation | None:
        """The operation that the call repeats; None if its id is new in its session."""
        self._forget_old()
        operations = self._clients.get(call.client.name, _ClientOperations())
        own = operations.get(_key(call))
        if own is not None:
            return own
        _, id = _key(call)
        return next(
            (
                operation
                for (session, other), operation in reversed(operations.items())
                if other == id and not self._is_open(session)
            ),
            None,
        )

    async def first(self, call: Call, run: Run) -> CallResult:
        """Run the first call with its id."""
        operations = self._clients.setdefault(call.client.name, _ClientOperations())
        key, operation = _key(call), Operation(None, _fingerprint(call))
        operations.add(key, operation)
        task = operation.task = asyncio.create_task(run(call))
        task.add_done_callback(lambda task: self._end(operations, key, operation, task))
        return await self._wait(operation, task)

    async def repeat(self, call: Call, operation: Operation) -> CallResult:
        """The result of the first call with this id."""
        if operation.fingerprint != _fingerprint(call):
            _, id = _key(call)
            raise InvalidArguments(
                f"The {call.operation_named} {id!r} belongs to another call.", effect="none"
            )
        if operation.task is None:
            raise ProtocolError(
                "This operation has run and will not run again; its result was too large to keep. "
                "Look at the page to see what it did.",
                "too_large",
            )
        return await self._wait(operation, operation.task)

    async def _wait(self, operation: Operation, task: "asyncio.Task[CallResult]") -> CallResult:
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
        self,
        operations: _ClientOperations,
        key: Key,
        operation: Operation,
        task: "asyncio.Task[CallResult]",
    ) -> None:
        operation.ended = self._clock()
        if task.cancelled():
            return
        # Reading the exception keeps asyncio from logging it as never retrieved.
        error = task.exception()
        if _had_no_effect(error):
            del operations[key]
        elif error is None or isinstance(error, Incomplete):
            operation.size = size_of(task.result() if error is None else error)
            operations.drop_results(self._most)

    def _forget_old(self) -> None:
        limit = self._clock() - KEPT_SECONDS
        for client, operations in list(self._clients.items()):
            operations.forget_before(limit)
            if not operations:
                del self._clients[client]


def _had_no_effect(error: BaseException | None) -> bool:
    """Whether an operation certainly had no effect, so that it may run again."""
    if isinstance(error, TabhubError):
        return error.effect == "none"
    return isinstance(error, Interrupted)


def _key(call: Call) -> Key:
    return call.session, call.operation_id or ""


def _fingerprint(call: Call) -> tuple[str, bytes]:
    return call.name, sha256(call.raw or b"").digest()
