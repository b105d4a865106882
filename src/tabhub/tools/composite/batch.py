"""Several calls in one: one after the other, until one of them fails.

Each is a call like any other: validated, decided about, asked about and written down by itself.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from tabhub.calls.call import Call, Source
from tabhub.calls.ports import ApprovalAnswer, ApprovalRequest, Elicit, Interrupted
from tabhub.calls.results import Incomplete, error_data, size_of
from tabhub.calls.runner import Runner
from tabhub.calls.time_limit import Limit, Progress
from tabhub.errors import (
    Forbidden,
    InvalidArguments,
    NotFound,
    ProtocolError,
    TabhubError,
    TimedOut,
)
from tabhub.hub.sessions import AgentSessions
from tabhub.hub.tools import Changes, Tool, ToolRegistry
from tabhub.tools.state import Shots
from tabhub.tools.tool import CLAUDE, CORE, Json, browser_tool, schema
from tabhub.wire.mcp.messages import CallResult, text

SOURCE = "batch"
NAME = "browser_batch"
MOST = 50
OWN_SHARE = 0.05
"""The share of its time that a batch keeps to tell what was done when the time is up."""

_ITEM = schema({"name": {"type": "string"}, "input": {"type": "object"}}, ("name",))
_ACTIONS = {"type": "array", "minItems": 1, "maxItems": MOST, "items": _ITEM}


def tool(tools: ToolRegistry) -> Tool:
    """The tool, which reads if all its items do."""
    return browser_tool(
        name=NAME,
        title="Batch",
        description=(
            "Run tool calls in order; the first failure ends it. Coordinates are in the "
            "screenshot before the batch."
        ),
        properties={"actions": _ACTIONS},
        required=("actions",),
        source=SOURCE,
        needs_tab=False,
        toolsets=CORE | CLAUDE,
        # Its items are in the record themselves, each without its own secrets.
        secret_arguments=frozenset({"actions"}),
        changes_when=_changes(tools),
        is_container=True,
    )


def _changes(tools: ToolRegistry) -> Changes:
    def changes(arguments: Mapping[str, Any]) -> bool:
        return not all(is_reading(item) for item in arguments.get("actions", ()))

    def is_reading(item: Json) -> bool:
        named = tools.find(item["name"])
        return named is not None and named.is_reading(item.get("input", {}))

    return changes


@dataclass
class _Run:
    """How far a batch has come."""

    end: float
    calls: list[Call]
    room: int
    """Bytes that results may still take."""
    content: list[Json] = field(default_factory=list)
    results: list[Any] = field(default_factory=list)

    @property
    def remaining(self) -> int:
        return len(self.calls) - len(self.results)

    def add(self, item: Call, result: CallResult) -> bool:
        """Whether there was room for what it told."""
        self.room -= size_of(result)
        fits = self.room >= 0
        self.content += [text(f"[{_name(item)}]"), *(result.content if fits else ())]
        self.results.append((fits and result.structured_content) or None)
        return fits

    def shown(self) -> Json:
        return {
            "completed": len(self.results),
            "remaining": self.remaining,
            "results": self.results,
        }


class BatchSource(Source):
    """Runs batches through the runner, as if their items had come one by one."""

    def __init__(
        self, runner: Runner, sessions: AgentSessions, shots: Shots, result_bytes: int
    ) -> None:
        self._result_bytes = result_bytes
        self._runner = runner
        self._sessions = sessions
        self._shots = shots

    async def run(self, call: Call) -> CallResult:
        loop = asyncio.get_running_loop()
        end = loop.time() + call.seconds * (1 - OWN_SHARE)
        run = _Run(end, _items(call), self._result_bytes)
        self._check(run.calls)
        with self._shots.holding(call.session):
            for number, item in enumerate(run.calls):
                said = f"{number + 1} of {len(run.calls)}: {_name(item)}"
                await call.report(number, len(run.calls), said)
                try:
                    result = await self._in_time(item, run.end - loop.time())
                except TabhubError as error:
                    raise _failed(run, number, error) from error
                if not run.add(item, result):
                    raise _too_large(run, number, self._result_bytes)
        return CallResult(content=run.content, structured_content=run.shown())

    def _check(self, items: list[Call]) -> None:
        """All of it or nothing: no item runs unless every one of them could."""
        for number, item in enumerate(items, 1):
            try:
                found = self._runner.check(item.name, item.raw)
            except TabhubError as error:
                sentence = f"{NAME}: nothing was done, action {number}: {error.message}"
                raise type(error)(
                    sentence, error.reason, data=error.extra, effect=error.effect
                ) from None
            if found.is_container:
                raise InvalidArguments(
                    f"{NAME}: nothing was done, action {number}: {item.name} cannot be in a batch."
                )

    async def _in_time(self, item: Call, seconds: float) -> CallResult:
        if self._sessions.find(item.session) is None:
            raise NotFound("Your session has ended.", "unknown_session")
        if seconds <= 0:
            raise TimedOut(f"The batch's time was over before {item.name} could begin.")
        try:
            with Limit(seconds):
                return await self._runner.run(item)
        except TimeoutError:
            raise TimedOut(
                f"The batch's time was over and {item.name} was cancelled. The page may have "
                "received it: look at the page before you try again."
            ) from None


def _items(call: Call) -> list[Call]:
    """A call for each action, by the one who called the batch."""
    actions = call.arguments["actions"]
    return [
        Call(
            name=action["name"],
            raw=msgspec.Raw(msgspec.json.encode(action.get("input", {}))),
            session=call.session,
            progress=_within(call.report, number, len(actions)),
            client=call.client,
            agent=call.agent,
            elicit=None if call.elicit is None else _uninterrupted(call.elicit),
        )
        for number, action in enumerate(actions)
    ]


def _within(progress: Progress, number: int, total: int) -> Progress:
    """An item's progress as the batch's: it only ever grows, and stays below the next item's."""
    heard = 0

    async def inner(done: float, of: float | None, message: str | None) -> None:
        nonlocal heard
        heard += 1
        await progress(number + heard / (heard + 1), total, message)

    return inner


def _uninterrupted(elicit: Elicit) -> Elicit:
    """Where asking means that the client repeats the whole call, half a batch would run twice."""

    async def ask(request: ApprovalRequest) -> ApprovalAnswer:
        try:
            return await elicit(request)
        except Interrupted:
            raise Forbidden(
                f"{request.tool.name} needs a person's approval, and your client cannot ask "
                "them within a batch. Call it by itself.",
                "approval_unavailable",
            ) from None

    return ask


def _failed(run: _Run, number: int, cause: TabhubError) -> Incomplete:
    name = run.calls[number].name
    sentence = (
        f"Action {number + 1} ({name}) failed: {cause.message} "
        f"{number} completed, {run.remaining} not: this one and what follows it."
    )
    return _incomplete(run, number, sentence, cause)


def _too_large(run: _Run, number: int, most: int) -> Incomplete:
    name = run.calls[number].name
    cause = ProtocolError(f"The results are larger than {most} bytes.", "too_large")
    sentence = (
        f"{cause.message} Action {number + 1} ({name}) was done, but what it told is left out. "
        f"{number + 1} completed, {run.remaining} not: what follows it."
    )
    return _incomplete(run, number, sentence, cause)


def _incomplete(run: _Run, number: int, sentence: str, cause: TabhubError) -> Incomplete:
    error = {**error_data(cause), "message": cause.message}
    failure = {"index": number, "name": run.calls[number].name, "error": error}
    return Incomplete(sentence, cause, run.content, {**run.shown(), "failed": failure})


def _name(item: Call) -> str:
    given = msgspec.json.decode(item.raw or b"{}")
    action = given.get("action")
    return f"{item.name}:{action}" if isinstance(action, str) else item.name
