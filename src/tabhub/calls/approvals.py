"""Waiting for a person's word on one call, or for the answer that holds when nobody is there."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from itertools import count
from typing import Any, Literal

import msgspec
from msgspec import Struct

from tabhub.calls.call import Call
from tabhub.calls.ports import LATE, ApprovalAnswer, ApprovalRequest, Approver
from tabhub.errors import Forbidden

HEARTBEAT_SECONDS = 10.0
"""How often a client hears that its call still waits: some give up after a silent minute."""

LONGEST_REQUEST = 64 * 1024

DO_NOT = "Do not try to reach the same in another way; tell the person what you need it for."


class Terms(Struct, frozen=True):
    """How a person is asked."""

    seconds: float
    unattended: Literal["deny", "allow"] = "deny"
    elicitation: bool = False


class Approvals:
    """Asks in the panel, or, where the terms allow it, through the agent's own client."""

    def __init__(self, approver: Approver, terms: Callable[[], Terms]) -> None:
        self._approver = approver
        self._terms = terms
        self.waiting = 0
        """How many requests have no answer yet."""

    async def ask(self, call: Call, request: ApprovalRequest) -> ApprovalAnswer:
        """An answer that allows; anything else is an error that says what happened."""
        _require_readable(request)
        answer = await self._answer(call, request)
        if not answer.allowed:
            raise Forbidden(f"The person denied {request.tool.name}. {DO_NOT}")
        return answer

    async def _answer(self, call: Call, request: ApprovalRequest) -> ApprovalAnswer:
        if self._approver.present:
            seconds = self._terms().seconds
            return await self._in_time(self._approver.ask(request, seconds), call, request)
        if call.elicit is not None and self._terms().elicitation:
            return await self._in_time(call.elicit(request), call, request)
        if self._terms().unattended == "allow":
            return ApprovalAnswer(True, by="unattended = allow", by_person=False)
        self._approver.missed(request)
        raise Forbidden(
            f"{request.tool.name} needs a person's approval ({request.rule}), and nobody is "
            "there to give it: tabhub's side panel is not open. Once the person has opened it, "
            f"try again. {DO_NOT}",
            "approval_unavailable",
            data={"rule": request.rule},
        )

    async def _in_time(
        self, asking: Coroutine[Any, Any, ApprovalAnswer], call: Call, request: ApprovalRequest
    ) -> ApprovalAnswer:
        seconds = self._terms().seconds
        waiting = asyncio.create_task(asking)
        beats = asyncio.create_task(_beat(call, request))
        self.waiting += 1
        try:
            done, _ = await asyncio.wait({waiting}, timeout=seconds)
            if not done:
                waiting.cancel(LATE)
                raise _too_late(request, seconds)
            return waiting.result()
        finally:
            self.waiting -= 1
            beats.cancel()
            if not waiting.cancelling():
                waiting.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await waiting


def _require_readable(request: ApprovalRequest) -> None:
    """Nobody can approve what they cannot read."""
    size = len(msgspec.json.encode(request.arguments))
    if size > LONGEST_REQUEST:
        raise Forbidden(
            f"{request.tool.name} needs a person's approval, and its arguments of {size} bytes "
            f"are too long to be read (at most {LONGEST_REQUEST}). Do it in smaller steps.",
            "approval_unavailable",
        )


def _too_late(request: ApprovalRequest, seconds: float) -> Forbidden:
    return Forbidden(
        f"Nobody answered within {seconds:.0f} seconds whether {request.tool.name} may run; it "
        f"did not. {DO_NOT}",
        "approval_timeout",
    )


async def _beat(call: Call, request: ApprovalRequest) -> None:
    message = f"Waiting for a person to allow {request.tool.name}"
    with suppress(OSError):
        for beat in count():
            # Progress only ever grows, and what the call itself reports begins at one.
            await call.report(beat / 1000, None, message)
            await asyncio.sleep(HEARTBEAT_SECONDS)
