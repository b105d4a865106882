"""A runner with doubles of a source, a tab, an audit log and a clock."""

import asyncio
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import msgspec

from tabhub.calls.approvals import Approvals, Terms
from tabhub.calls.authorization import Guard
from tabhub.calls.call import Call, Source
from tabhub.calls.ports import ApprovalAnswer, ApprovalRequest, AuditEvent
from tabhub.calls.results import done
from tabhub.calls.runner import Runner
from tabhub.config.clients import Client
from tabhub.config.settings import Limits, PermissionSettings
from tabhub.errors import TabhubError
from tabhub.hub.hub import Hub
from tabhub.hub.tabs import Tab
from tabhub.hub.tools import Tool
from tabhub.permissions.decide import Permissions
from tabhub.permissions.grants import Grants
from tabhub.permissions.rules import RuleBook
from tabhub.wire.mcp.messages import CallResult

SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer", "minimum": 1}, "tabId": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}


class Recorder(Source):
    """A source that counts its runs and follows the test."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.started = asyncio.Event()
        self.go = asyncio.Event()
        self.go.set()
        self.ended: list[str] = []

    async def run(self, call: Call) -> CallResult:
        self.calls.append(call)
        self.started.set()
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.ended.append("cancelled")
            raise
        return done("ok", {"n": call.arguments.get("n"), "runs": len(self.calls)})


class Audit:
    """An audit log that keeps its events."""

    def __init__(self) -> None:
        self.events: list[AuditEvent] = []

        self.begun: list[str] = []
        self.withdrawn: list[str] = []
        self.refusal: TabhubError | None = None

    def room(self, client: str) -> AbstractContextManager[None]:
        if self.refusal is not None:
            raise self.refusal
        return nullcontext()

    def begin(self, event: AuditEvent) -> None:
        self.begun.append(event.call)

    def withdraw(self, event: AuditEvent) -> None:
        self.withdrawn.append(event.call)

    def record(self, event: AuditEvent) -> None:
        self.events.append(event)


class NoPanel:
    """Approvals without an open panel."""

    present = False
    is_elsewhere = False

    def place(self, client: str) -> AbstractContextManager[object]:
        raise AssertionError("no panel is open")

    async def ask(self, request: ApprovalRequest, seconds: float) -> ApprovalAnswer:
        raise AssertionError("no panel is open")

    def missed(self, request: ApprovalRequest) -> None:
        pass


class Bench:
    """A runner with a tool for tabs, a tool that opens them, and a clock that the test sets."""

    def __init__(
        self,
        call_seconds: float = 30,
        max_call_seconds: float = 300,
        result_bytes: int = 1_000_000,
    ) -> None:
        self.source, self.hub, self.audit = Recorder(), Hub(), Audit()
        self.now, self.terms = 0.0, Terms(seconds=1)
        self.tools, self.sessions = self.hub.tools, self.hub.sessions
        self.tools.add(
            Tool("act", "acts", SCHEMA, source="test"),
            Tool("free", "needs no tab", SCHEMA, source="test", needs_tab=False),
        )
        self.hub.tabs.put(Tab(id=0, browser="a", native_id=1))
        self.hub.ownership.share(1, shared=True)
        permissions = Permissions(RuleBook(None, PermissionSettings()), Grants())
        self.runner = Runner(
            self.hub,
            Guard(permissions, self.hub.ownership, lambda browser: True, lambda: self.now),
            Approvals(NoPanel(), lambda: self.terms),
            self.audit,
            {"test": self.source},
            lambda: self.now,
            Limits(
                call_seconds=call_seconds,
                max_call_seconds=max_call_seconds,
                result_bytes=result_bytes,
            ),
        )

    async def call(
        self,
        tool: str = "free",
        arguments: Any = None,
        *,
        id: str | None = None,
        session: str = "s",
        caller: str = "c",
    ) -> Any:
        raw = msgspec.Raw(msgspec.json.encode({"n": 1} if arguments is None else arguments))
        call = Call(tool, raw, session, _silent, Client(caller), operation_id=id)
        result = await self.runner.run(call)
        return result.structured_content


async def _silent(progress: float, total: float | None, message: str | None) -> None:
    return None
