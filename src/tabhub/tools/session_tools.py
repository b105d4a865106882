"""Tools about the agent's own session: permissions, answers, notifications to the person."""

import time
from typing import Any

from tabhub.calls.authorization import Guard, subject_of
from tabhub.calls.call import Call, Source
from tabhub.calls.results import done
from tabhub.errors import InvalidArguments
from tabhub.hub.hub import Hub
from tabhub.hub.sessions import AgentSessions
from tabhub.hub.tools import Tool
from tabhub.permissions.sites import OPAQUE, site_of
from tabhub.permissions.verdict import Allow, Ask, Verdict
from tabhub.tools.reports import MAX_TOKENS, listed
from tabhub.tools.tool import BROWSER, CLAUDE, Context, Json, address, browser_tool
from tabhub.wire.mcp.messages import CallResult

PERMISSIONS_SOURCE = "permissions"
TURNS_SOURCE = "turns"
SUMMARY_CHARS = 2000
_DECISIONS = ("deny", "ask", "allow")
"""The strictest first."""
_PLACES = ("tabId", "url", "domain")


def _source_tool(name: str, title: str, description: str, source: str, properties: Json) -> Tool:
    return browser_tool(
        name=name,
        title=title,
        description=description,
        properties=properties,
        source=source,
        read_only=True,
        needs_tab=False,
        toolsets=CLAUDE,
    )


PERMISSIONS_CHECK = _source_tool(
    "permissions_check",
    "Check permissions",
    "Whether a tool would be allowed, asked about or denied on a page, and by which rule. Without "
    "tool: all of them. Never prompts.",
    PERMISSIONS_SOURCE,
    {
        "tabId": {"type": "integer"},
        "url": {"type": "string"},
        "domain": {"type": "string", "description": "Instead of url: a host."},
        "tool": {"type": "string", "description": "A tool's name."},
        "action": {"type": "string", "description": "What it would do; alone, a tool's name."},
        "maxTokens": MAX_TOKENS,
    },
)


class PermissionSource(Source):
    """Runs permissions_check, which asks nobody and changes nothing."""

    quotes_pages = False

    def __init__(self, hub: Hub, guard: Guard) -> None:
        self._hub = hub
        self._guard = guard

    async def run(self, call: Call) -> CallResult:
        site, managed = self._place(call)
        name = call.arguments.get("tool") or call.arguments.get("action")
        tools = list(self._hub.tools) if name is None else [self._hub.tools.get(name)]
        verdicts = {tool.name: self._verdict(tool, call, site, managed) for tool in tools}
        strictest = min(verdicts.values(), key=lambda item: _DECISIONS.index(_decision(item)))
        summary: Json = {"domain": site or None, "tool": name, **_verdict_data(strictest)}
        each = [(tool, _verdict_data(verdict)) for tool, verdict in verdicts.items()]

        def data(count: int) -> Json:
            return summary if name else {**summary, "tools": dict(each[:count])}

        head = f"Permissions on {site}:" if site else "Permissions:"
        lines = [_line(tool, verdict) for tool, verdict in verdicts.items()]
        return listed(call.arguments, head, lines, data)

    def _verdict(self, tool: Tool, call: Call, site: str, managed: bool) -> Verdict:
        given = call.arguments
        worker, tab = "", given.get("tabId", self._hub.sessions.current(call.session))
        if "tabId" not in given:
            managed = self._guard.would_be_managed(tool, call.session)
            worker = self._guard.would_use_worker(tool, call.session)
        arguments: dict[str, Any] = {"url": given["url"]} if "url" in given else {}
        if "tool" in given and "action" in given:
            arguments["action"] = given["action"]
        subject = subject_of(
            tool,
            arguments or None,
            call.client,
            call.session,
            site=tool.site or site,
            managed=managed,
            own_tab=tab is not None and self._hub.ownership.owner(tab) == call.session,
            worker=worker,
        )
        return self._guard.decide(subject)

    def _place(self, call: Call) -> tuple[str, bool]:
        """The site that the call names, and whether the browser is the agents' own."""
        given = {key: call.arguments[key] for key in _PLACES if key in call.arguments}
        if len(given) > 1:
            raise InvalidArguments("permissions_check: give one of tabId, url and domain.")
        if "tabId" in given:
            tab = self._hub.tabs.get(given["tabId"])
            return site_of(tab.url), self._guard.is_managed(tab.browser)
        name = given.get("url") or given.get("domain")
        site = "" if name is None else site_of(address(name))
        if site == OPAQUE:
            raise InvalidArguments(f"permissions_check: {name!r} names no host.")
        return site, self._guard.is_managed(None)


def _decision(verdict: Verdict) -> str:
    if isinstance(verdict, Allow):
        return "allow"
    return "ask" if isinstance(verdict, Ask) else "deny"


def _verdict_data(verdict: Verdict) -> Json:
    source = verdict.rule.source
    return {
        "decision": _decision(verdict),
        "source": source if source in ("grant", "plan", "default") else "policy",
        "rule": verdict.rule.text,
        "duration": verdict.duration if isinstance(verdict, Allow) else None,
        "needsPrompt": isinstance(verdict, Ask),
    }


def _line(name: str, verdict: Verdict) -> str:
    return f"{name}: {_decision(verdict)} ({verdict.rule.text})"


TURN_ANSWER_START = _source_tool(
    "turn_answer_start",
    "Answer begins",
    "Say that you now write your answer; the person sees it in the panel.",
    TURNS_SOURCE,
    {},
)
TURN_ANSWER_COMPLETE = _source_tool(
    "turn_answer_complete",
    "Answer is complete",
    "Say that your answer is complete; returns its duration and number of calls.",
    TURNS_SOURCE,
    {"summary": {"type": "string", "maxLength": SUMMARY_CHARS, "description": "For the record."}},
)


class TurnSource(Source):
    """Records when an answer of a session begins and ends."""

    quotes_pages = False

    def __init__(self, sessions: AgentSessions) -> None:
        self._sessions = sessions

    async def run(self, call: Call) -> CallResult:
        is_start = call.tool.name == TURN_ANSWER_START.name
        return self._start(call) if is_start else self._complete(call)

    def _start(self, call: Call) -> CallResult:
        self._sessions.answering(call.session, time.time())
        return done("Your answer has begun.", {"started": True})

    def _complete(self, call: Call) -> CallResult:
        turn = self._sessions.answering(call.session, None)
        if turn is None:
            return done("There was no turn_answer_start before this.", {"started": False})
        seconds = max(time.time() - turn.since, 0.0)
        calls = turn.calls - 1  # this call is counted too
        return done(
            f"Your answer is complete: {seconds:.1f} seconds, {calls} calls in between.",
            {"started": True, "durationMs": round(seconds * 1000), "calls": calls},
        )


async def _notify(context: Context) -> CallResult:
    input = dict(context.arguments)
    if "url" in input:
        input["url"] = address(input["url"])
    session = context.hub.sessions.find(context.session)
    agent = context.call.client.name if session is None else session.name
    browser = context.browsers.latest().id
    await context.in_browser(browser, "notices.show", {**input, "agent": agent})
    return done("The notification is shown.", {"shown": True})


NOTIFY = browser_tool(
    name="browser_notify",
    title="Notify",
    description="Show the person a notification, under your name. A click on it opens url.",
    handler=_notify,
    properties={
        "title": {"type": "string"},
        "message": {"type": "string"},
        "contextMessage": {"type": "string"},
        "iconUrl": {"type": "string", "description": "A picture as a data: address."},
        "requireInteraction": {"type": "boolean", "description": "Stay until it is dismissed."},
        "url": {"type": "string"},
    },
    required=("title", "message"),
    needs_tab=False,
    toolsets=BROWSER,
)

TOOLS = (
    PERMISSIONS_CHECK,
    TURN_ANSWER_START,
    TURN_ANSWER_COMPLETE,
    NOTIFY,
)
