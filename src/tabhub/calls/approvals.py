"""Asks a person to approve one call, or applies the setting for when no person can be asked."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from itertools import count
from typing import Any, Literal

import msgspec
from msgspec import Struct

from tabhub.calls.call import Call
from tabhub.calls.ports import LATE, ApprovalAnswer, ApprovalRequest, Approver
from tabhub.errors import Forbidden, Unavailable

HEARTBEAT_SECONDS = 10.0
"""How often a waiting call sends progress: some clients give up after a minute without any."""

LONGEST_REQUEST = 64 * 1024

DO_NOT = "Do not try to do the same in another way; tell the person what you need it for."


class Terms(Struct, frozen=True):
    """The settings for asking a person."""

    seconds: float
    unattended: Literal["deny", "allow"] = "deny"
    elicitation: bool = False


class AskedCall(Struct, frozen=True):
    """A call that waits for an answer, as the person's terminal shows it."""

    client: str
    tool: str
    where: Literal["browser", "client"]
    """Who asks them: tabhub in the browser, or the agent's own client."""


class Approvals:
    """Asks in the browser, or through the agent's own client where the terms allow it."""

    def __init__(self, approver: Approver, terms: Callable[[], Terms]) -> None:
        self._approver = approver
        self._terms = terms
        self._asked: list[AskedCall] = []
        self._waits: set[asyncio.Task[ApprovalAnswer]] = set()
        self._is_closed = False
        self._listeners: list[Callable[[], None]] = []

    @property
    def asked(self) -> Sequence[AskedCall]:
        """The calls that wait for an answer, the oldest first."""
        return self._asked

    @property
    def waiting(self) -> int:
        """How many requests have no answer yet."""
        return len(self._asked)

    def close(self) -> bool:
        """End all requests: the server stops. Returns whether there were any."""
        self._is_closed = True
        for waiting in self._waits:
            waiting.cancel()
        return bool(self._waits)

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call it whenever a call begins or ends to wait for an answer."""
        self._listeners.append(listener)

    @property
    def asks_person(self) -> bool:
        """Whether a person would be asked now, in their browser."""
        return self._approver.present

    def place(self, call: Call) -> AbstractContextManager[object]:
        """Hold a place for the request about a call, also while the request is prepared.

        What a flood of calls costs must be bounded before anything is looked up for it.
        """
        if call.by_person or not self.asks_person:
            return nullcontext()
        return self._approver.place(call.client.name)

    async def ask(self, call: Call, request: ApprovalRequest) -> ApprovalAnswer:
        """Return the person's approval; anything else raises an error that says what happened."""
        if call.by_person:
            return ApprovalAnswer(True, by="the person, whose call it is")
        _require_readable(request)
        answer = await self._answer(call, request)
        if not answer.allowed:
            raise Forbidden(f"The person denied {request.tool.name}. {DO_NOT}")
        return answer

    async def ask_in_panel(self, call: Call, request: ApprovalRequest) -> ApprovalAnswer:
        """The person's own approval: no setting and no client can give it in their place."""
        _require_readable(request)
        if not self._approver.present:
            raise self._missed(request)
        answer = await self._panel_answer(call, request)
        if not answer.allowed:
            raise Forbidden(f"The person denied {request.tool.name}. {DO_NOT}")
        return answer

    async def _panel_answer(self, call: Call, request: ApprovalRequest) -> ApprovalAnswer:
        seconds = self._terms().seconds
        await _tell_waiting(call, request, seconds)
        asked = AskedCall(call.client.name, request.tool.name, "browser")
        return await self._in_time(self._approver.ask(request, seconds), asked, call, request)

    async def _answer(self, call: Call, request: ApprovalRequest) -> ApprovalAnswer:
        if self._approver.present:
            return await self._panel_answer(call, request)
        if call.elicit is not None and self._terms().elicitation:
            asked = AskedCall(call.client.name, request.tool.name, "client")
            return await self._in_time(call.elicit(request), asked, call, request)
        if self._terms().unattended == "allow":
            return ApprovalAnswer(True, by="unattended = allow", by_person=False)
        raise self._missed(request)

    def _missed(self, request: ApprovalRequest) -> Forbidden:
        self._approver.missed(request)
        cause = _elsewhere(request) if self._approver.is_elsewhere else _closed(request)
        return Forbidden(
            f"{request.tool.name} needs a person's approval ({request.rule}), but {cause} {DO_NOT}",
            "approval_unavailable",
            data={"rule": request.rule},
        )

    async def _in_time(
        self,
        asking: Coroutine[Any, Any, ApprovalAnswer],
        asked: AskedCall,
        call: Call,
        request: ApprovalRequest,
    ) -> ApprovalAnswer:
        seconds = self._terms().seconds
        waiting = asyncio.create_task(asking)
        heartbeat = asyncio.create_task(_heartbeat(call, request))
        self._asked.append(asked)
        self._waits.add(waiting)
        try:
            self._notify()
            done, _ = await asyncio.wait({waiting}, timeout=seconds)
            if not done:
                waiting.cancel(LATE)
                raise _too_late(request, seconds)
            if waiting.cancelled() and self._is_closed:
                raise _stopped(request)
            return waiting.result()
        finally:
            self._waits.discard(waiting)
            self._asked = [other for other in self._asked if other is not asked]
            self._notify()
            heartbeat.cancel()
            if not waiting.cancelling():
                waiting.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await waiting

    def _notify(self) -> None:
        for listener in self._listeners:
            listener()


def _closed(request: ApprovalRequest) -> str:
    return (
        "no person can be asked: no browser of their own is connected here, and tabhub's side "
        f"panel is open in no other. Try again once the person has {_done(request)}."
    )


def _elsewhere(request: ApprovalRequest) -> str:
    """The panel of a browser elsewhere answers to its own person, not to this server's rules."""
    command = request.command or request.release
    way = f"run: {command}" if command else "changed this rule"
    return (
        "all browsers are reached through the proxy, where this server can ask nobody. It works "
        f"once the person who runs this server has {way}; or has connected their own browser on "
        "this server's machine."
    )


def _done(request: ApprovalRequest) -> str:
    """What the person must have done before the call can be made."""
    # A browser without the extension has no panel.
    return f"opened it, or has run: {request.command}" if request.command else "opened it"


def _require_readable(request: ApprovalRequest) -> None:
    """A person cannot approve what is too long to read."""
    size = len(msgspec.json.encode(request.arguments))
    if size > LONGEST_REQUEST:
        raise Forbidden(
            f"{request.tool.name} needs a person's approval, and its arguments of {size} bytes "
            f"are too long to be read (at most {LONGEST_REQUEST}). Do it in smaller steps.",
            "approval_unavailable",
        )


def _too_late(request: ApprovalRequest, seconds: float) -> Forbidden:
    return Forbidden(
        f"The person did not answer within {seconds:.0f} seconds whether {request.tool.name} may "
        f"run, so it did not run. {DO_NOT}",
        "approval_timeout",
    )


def _stopped(request: ApprovalRequest) -> Unavailable:
    return Unavailable(
        f"tabhub was stopped before the person answered whether {request.tool.name} may run, so "
        "it did not run.",
        "server_unavailable",
    )


async def _tell_waiting(call: Call, request: ApprovalRequest, seconds: float) -> None:
    """Log it to a client that is not asked itself, and so would not know why it waits."""
    message = f"{request.tool.name} waits for a person, who is asked in the browser."
    await call.tell("notice", "approval_waiting", message, seconds=seconds)


async def _heartbeat(call: Call, request: ApprovalRequest) -> None:
    message = f"Waiting for a person to allow {request.tool.name}"
    with suppress(OSError):
        for beat in count():
            # Progress must increase, and the progress of the call itself starts at one.
            await call.report(beat / 1000, None, message)
            await asyncio.sleep(HEARTBEAT_SECONDS)
