"""browser_batch: several calls in one, in order, until one of them fails.

Each item is a call like any other, with its own validation, decision, approval and audit entry.
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
from tabhub.tools.state import Screenshots
from tabhub.tools.tool import CLAUDE, CORE, Json, browser_tool, schema
from tabhub.wire.mcp.messages import CallResult, text

SOURCE = "batch"
NAME = "browser_batch"
MAX_ACTIONS = 50
OWN_SHARE = 0.05
"""The share of its time that a batch keeps to report what was done when the time is over."""

_ITEM = schema({"name": {"type": "string"}, "input": {"type": "object"}}, ("name",))
_ACTIONS = {"type": "array", "minItems": 1, "maxItems": MAX_ACTIONS, "items": _ITEM}


def tool(tools: ToolRegistry) -> Tool:
    """The tool, which only reads if all its items only read."""
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
        # The audit log has its items, each without its own secrets.
        secret_arguments=frozenset({"actions"}),
        changes_when=_changes(tools),
        is_container=True,
    )


def _changes(tools: ToolRegistry) -> Changes:
    def changes(arguments: Mapping[str, Any]) -> bool:
        return not all(is_reading(item) for item in arguments.get("actions", ()))

    def is_reading(item: Json) -> bool:
        tool = tools.find(item["name"])
        return tool is not None and tool.is_reading(item.get("input", {}))

    return changes


@dataclass
class _Run:
    """The progress of a batch."""

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
        """Add a result; returns whether there was room for it."""
        self.room -= size_of(result)
        fits = self.room >= 0
        self.content += [text(f"[{_name(item)}]"), *(result.content if fits else ())]
        self.results.append((fits and result.structured_content) or None)
        return fits

    def data(self) -> Json:
        return {
            "completed": len(self.results),
            "remaining": self.remaining,
            "results": self.results,
        }


class BatchSource(Source):
    """Runs batches: the runner runs each item as a call of its own."""

    def __init__(
        self, runner: Runner, sessions: AgentSessions, screenshots: Screenshots, result_bytes: int
    ) -> None:
        self._result_bytes = result_bytes
        self._runner = runner
        self._sessions = sessions
        self._screenshots = screenshots

    async def run(self, call: Call) -> CallResult:
        loop = asyncio.get_running_loop()
        end = loop.time() + call.seconds * (1 - OWN_SHARE)
        run = _Run(end, _items(call), self._result_bytes)
        self._check(run.calls)
        with self._screenshots.freeze_frames(call.session):
            for number, item in enumerate(run.calls):
                message = f"{number + 1} of {len(run.calls)}: {_name(item)}"
                await call.report(number, len(run.calls), message)
                try:
                    result = await self._run_item(item, run.end - loop.time())
                except TabhubError as error:
                    raise _failed(run, number, error) from error
                if not run.add(item, result):
                    raise _too_large(run, number, self._result_bytes)
        return CallResult(content=run.content, structured_content=run.data())

    def _check(self, items: list[Call]) -> None:
        """Validate every item before the first one runs."""
        for number, item in enumerate(items, 1):
            try:
                tool = self._runner.check(item.name, item.raw)
            except TabhubError as error:
                sentence = f"{NAME}: nothing was done, action {number}: {error.message}"
                raise type(error)(
                    sentence, error.reason, data=error.extra, effect=error.effect
                ) from None
            if tool.is_container:
                raise InvalidArguments(
                    f"{NAME}: nothing was done, action {number}: {item.name} cannot be in a batch."
                )

    async def _run_item(self, item: Call, seconds: float) -> CallResult:
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
    """A call for each action, by the caller of the batch."""
    actions = call.arguments["actions"]
    return [
        Call(
            name=action["name"],
            raw=msgspec.Raw(msgspec.json.encode(action.get("input", {}))),
            session=call.session,
            progress=_item_progress(call.report, number, len(actions)),
            client=call.client,
            agent=call.agent,
            log=call.log,
            elicit=None if call.elicit is None else _without_interrupts(call.elicit),
            by_person=call.by_person,
        )
        for number, action in enumerate(actions)
    ]


def _item_progress(progress: Progress, number: int, total: int) -> Progress:
    """An item's progress as the batch's: it always grows, and stays below the next item's."""
    reports = 0

    async def inner(done: float, of: float | None, message: str | None) -> None:
        nonlocal reports
        reports += 1
        await progress(number + reports / (reports + 1), total, message)

    return inner


def _without_interrupts(elicit: Elicit) -> Elicit:
    """Refuse to ask clients that answer by repeating the call: half a batch would run twice."""

    async def ask(request: ApprovalRequest) -> ApprovalAnswer:
        try:
            return await elicit(request)
        except Interrupted:
            raise Forbidden(
                f"{request.tool.name} needs a person's approval, and your client cannot ask "
                "them within a batch. Call it on its own.",
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


def _too_large(run: _Run, number: int, limit: int) -> Incomplete:
    name = run.calls[number].name
    cause = ProtocolError(f"The results are larger than {limit} bytes.", "too_large")
    sentence = (
        f"{cause.message} Action {number + 1} ({name}) was done, but its result is left out. "
        f"{number + 1} completed, {run.remaining} not: what follows it."
    )
    return _incomplete(run, number, sentence, cause)


def _incomplete(run: _Run, number: int, sentence: str, cause: TabhubError) -> Incomplete:
    error = {**error_data(cause), "message": cause.message}
    failure = {"index": number, "name": run.calls[number].name, "error": error}
    return Incomplete(sentence, cause, run.content, {**run.data(), "failed": failure})


def _name(item: Call) -> str:
    action = msgspec.json.decode(item.raw or b"{}").get("action")
    return f"{item.name}:{action}" if isinstance(action, str) else item.name
