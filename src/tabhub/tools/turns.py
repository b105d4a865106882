"""The beginning and the end of an agent's answer to its person."""

import time

from tabhub.calls.call import Call
from tabhub.calls.results import done
from tabhub.calls.source import Source
from tabhub.hub.sessions import AgentSessions
from tabhub.hub.tools import Tool
from tabhub.tools.tool import CLAUDE, Json, browser_tool
from tabhub.wire.mcp.messages import CallResult

SOURCE = "turns"
LONGEST_SUMMARY = 2000


def _tool(name: str, title: str, description: str, properties: Json) -> Tool:
    return browser_tool(
        name=name,
        title=title,
        description=description,
        properties=properties,
        source=SOURCE,
        read_only=True,
        needs_tab=False,
        toolsets=CLAUDE,
    )


START = _tool(
    "turn_answer_start",
    "Answer begins",
    "Say that you now write your answer; the person sees it in the panel.",
    {},
)
COMPLETE = _tool(
    "turn_answer_complete",
    "Answer is complete",
    "Say that your answer is complete; tells how long it took and with how many calls.",
    {"summary": {"type": "string", "maxLength": LONGEST_SUMMARY, "description": "For the record."}},
)
TOOLS = (START, COMPLETE)


class TurnSource(Source):
    """Notes when an answer began; the session forgets it with its end."""

    def __init__(self, sessions: AgentSessions) -> None:
        self._sessions = sessions

    async def run(self, call: Call) -> CallResult:
        return self._start(call) if call.tool.name == START.name else self._complete(call)

    def _start(self, call: Call) -> CallResult:
        self._sessions.answering(call.session, time.time())
        return done("Your answer has begun.", {"started": True})

    def _complete(self, call: Call) -> CallResult:
        turn = self._sessions.answering(call.session, None)
        if turn is None:
            return done("There was no turn_answer_start before this.", {"started": False})
        seconds = max(time.time() - turn.since, 0.0)
        calls = turn.calls - 1  # without the one that asks
        sentence = f"Your answer is complete: {seconds:.1f} seconds, {calls} calls in between."
        return done(
            sentence, {"started": True, "durationMs": round(seconds * 1000), "calls": calls}
        )
