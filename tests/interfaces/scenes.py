"""Scenes of a call, which run the same over every interface."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import httpx

from tests.interfaces.interface import CallRequest, InterfaceClient, Json, Outcome, plain

SCRIPT = "browser_execute_script"
FORBIDDEN = "browser_find"
"""A tool that is disabled in the tests."""
COUNTING = "window.n = (window.n || 0) + 1"
DIFFERENT = ("timestamp", "durationMs", "client", "agent", "session", "tabId", "call")


@dataclass(frozen=True)
class Stage:
    """A client, the tab to work in, and an operation id that only this client uses."""

    client: InterfaceClient
    tab: int
    operation_id: str

    async def script(self, code: Any, operation_id: str | None = None) -> Outcome:
        return await self.call(SCRIPT, {"code": code, "tabId": self.tab}, operation_id)

    async def call(self, tool: str, arguments: Json, operation_id: str | None = None) -> Outcome:
        return await self.client.call(CallRequest(tool, arguments, operation_id))


async def success(stage: Stage) -> list[Outcome]:
    return [await stage.script("1+1")]


async def tool_error(stage: Stage) -> list[Outcome]:
    return [await stage.script("throw new Error('no')")]


async def invalid_arguments(stage: Stage) -> list[Outcome]:
    return [await stage.script(7), await stage.call(SCRIPT, {"code": "1", "other": 1})]


async def unknown_tool(stage: Stage) -> list[Outcome]:
    return [await stage.call("browser_execute_skript", {})]


async def unknown_tab(stage: Stage) -> list[Outcome]:
    return [await stage.call(SCRIPT, {"code": "1", "tabId": 987654321})]


async def permission_off(stage: Stage) -> list[Outcome]:
    return [await stage.call(FORBIDDEN, {"query": "x", "tabId": stage.tab})]


async def repeated(stage: Stage) -> list[Outcome]:
    """The same operation id twice, then with another call."""
    twice = [await stage.script(COUNTING, stage.operation_id) for _ in range(2)]
    reused = await stage.script("1+1", stage.operation_id)
    assert reused.error is not None and stage.operation_id in reused.error["message"]
    return [*twice, Outcome(error=reused.brief)]


Scene = Callable[[Stage], Awaitable[list[Outcome]]]
SCENES: tuple[Scene, ...] = (
    success,
    tool_error,
    invalid_arguments,
    unknown_tool,
    unknown_tab,
    permission_off,
    repeated,
)


async def audited(http: httpx.AsyncClient, client: str, since: int = 0) -> list[Json]:
    """A client's calls in the audit log, oldest first, without fields that differ by interface."""
    entries = (await http.get("/audit", params={"limit": 500, "client": client})).json()
    # Only calls belong to a session.
    calls = [entry for entry in reversed(entries) if entry["session"]]
    return [_common(entry) for entry in calls[since:]]


def _common(entry: Json) -> Json:
    kept = {key: value for key, value in entry.items() if key not in DIFFERENT}
    arguments = {key: value for key, value in entry["arguments"].items() if key != "tabId"}
    if "error" in kept:
        kept["error"] = plain(kept["error"])
        if kept["verdict"] == "replayed":
            # Each interface has its own word for an operation id.
            del kept["error"]["message"]
    return {**kept, "arguments": arguments, "operationId": entry["operationId"] is not None}
