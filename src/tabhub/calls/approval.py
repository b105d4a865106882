"""Waiting for a person's word on one call, or for the answer that holds when nobody is there."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from itertools import count
from typing import Any, Literal

import msgspec
from msgspec import Struct

from tabhub.calls.call import Call
from tabhub.calls.ports import LATE, Answer, Approver, Question
from tabhub.errors import Forbidden

HEARTBEAT_SECONDS = 10.0
"""How often a client hears that its call still waits: some give up after a silent minute."""

LONGEST_QUESTION = 64 * 1024

DO_NOT = "Do not try to reach the same in another way; tell the person what you need it for."


class Terms(Struct, frozen=True):
    """How questions are put."""

    seconds: float
    unattended: Literal["deny", "allow"] = "deny"
    elicitation: bool = False


class Approvals:
    """Asks in the panel, or, where the terms allow it, through the agent's own client."""

    def __init__(self, approver: Approver, terms: Callable[[], Terms]) -> None:
        self._approver = approver
        self._terms = terms
        self.waiting = 0
        """Questions that nobody has answered yet."""

    async def ask(self, call: Call, question: Question) -> Answer:
        """An answer that allows; anything else is an error that says what happened."""
        _require_readable(question)
        answer = await self._answer(call, question)
        if not answer.allowed:
            raise Forbidden(f"The person denied {question.tool.name}. {DO_NOT}")
        return answer

    async def _answer(self, call: Call, question: Question) -> Answer:
        if self._approver.present:
            seconds = self._terms().seconds
            return await self._in_time(self._approver.ask(question, seconds), call, question)
        if call.elicit is not None and self._terms().elicitation:
            return await self._in_time(call.elicit(question), call, question)
        if self._terms().unattended == "allow":
            return Answer(True, by="unattended = allow", by_person=False)
        self._approver.missed(question)
        raise Forbidden(
            f"{question.tool.name} needs a person's approval ({question.rule}), and nobody is "
            "there to give it: tabhub's side panel is not open. Once the person has opened it, "
            f"try again. {DO_NOT}",
            "approval_unavailable",
            data={"rule": question.rule},
        )

    async def _in_time(
        self, asking: Coroutine[Any, Any, Answer], call: Call, question: Question
    ) -> Answer:
        seconds = self._terms().seconds
        waiting = asyncio.create_task(asking)
        beats = asyncio.create_task(_beat(call, question))
        self.waiting += 1
        try:
            done, _ = await asyncio.wait({waiting}, timeout=seconds)
            if not done:
                waiting.cancel(LATE)
                raise _too_late(question, seconds)
            return waiting.result()
        finally:
            self.waiting -= 1
            beats.cancel()
            if not waiting.cancelling():
                waiting.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await waiting


def _require_readable(question: Question) -> None:
    """Nobody can approve what they cannot read."""
    size = len(msgspec.json.encode(question.arguments))
    if size > LONGEST_QUESTION:
        raise Forbidden(
            f"{question.tool.name} needs a person's approval, and its arguments of {size} bytes "
            f"are too long to be read (at most {LONGEST_QUESTION}). Do it in smaller steps.",
            "approval_unavailable",
        )


def _too_late(question: Question, seconds: float) -> Forbidden:
    return Forbidden(
        f"Nobody answered within {seconds:.0f} seconds whether {question.tool.name} may run; it "
        f"did not. {DO_NOT}",
        "approval_timeout",
    )


async def _beat(call: Call, question: Question) -> None:
    message = f"Waiting for a person to allow {question.tool.name}"
    with suppress(OSError):
        for beat in count():
            # Progress only ever grows, and what the call itself reports begins at one.
            await call.report(beat / 1000, None, message)
            await asyncio.sleep(HEARTBEAT_SECONDS)
