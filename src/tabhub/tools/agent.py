"""What the caller would be allowed, and by which rule. Asks nobody, changes nothing."""

import time

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

SOURCE = "permissions"
_WORDS = ("deny", "ask", "allow")
_PLACES = ("tabId", "url", "domain")

PERMISSIONS_CHECK = browser_tool(
    name="permissions_check",
    title="Check permissions",
    description=(
        "Tell whether a tool would be allowed, asked about or denied on a page, and by which "
        "rule. Without tool: all of them. Never prompts."
    ),
    properties={
        "tabId": {"type": "integer"},
        "url": {"type": "string"},
        "domain": {"type": "string", "description": "Instead of url: a host."},
        "tool": {"type": "string", "description": "A tool's name."},
        "action": {"type": "string", "description": "What it would do; alone, a tool's name."},
        "maxTokens": MAX_TOKENS,
    },
    source=SOURCE,
    read_only=True,
    needs_tab=False,
    toolsets=CLAUDE,
)


class PermissionSource(Source):
    """Runs the one tool that looks at the rules."""

    def __init__(self, hub: Hub, guard: Guard) -> None:
        self._hub = hub
        self._guard = guard

    async def run(self, call: Call) -> CallResult:
        site, managed = self._place(call)
        name = call.arguments.get("tool") or call.arguments.get("action")
        tools = list(self._hub.tools) if name is None else [self._hub.tools.get(name)]
        verdicts = {tool.name: self._verdict(tool, call, site, managed) for tool in tools}
        strictest = min(verdicts.values(), key=lambda verdict: _WORDS.index(_word(verdict)))
        about: Json = {"domain": site or None, "tool": name, **_shown(strictest)}
        shown = {tool: _shown(verdict) for tool, verdict in verdicts.items()}

        def shape(count: int) -> Json:
            return about if name else {**about, "tools": dict(list(shown.items())[:count])}

        head = f"Permissions on {site}:" if site else "Permissions:"
        return listed(call.arguments, head, [*map(_line, verdicts, verdicts.values())], shape)

    def _verdict(self, tool: Tool, call: Call, site: str, managed: bool) -> Verdict:
        given = call.arguments
        if "tabId" not in given:
            managed = self._guard.would_be_managed(tool, call.session)
        arguments = {"url": given["url"]} if "url" in given else {}
        if "tool" in given and "action" in given:
            arguments["action"] = given["action"]
        subject = subject_of(
            tool,
            arguments or None,
            call.client,
            call.session,
            site=tool.site or site,
            managed=managed,
        )
        return self._guard.decide(subject)

    def _place(self, call: Call) -> tuple[str, bool]:
        """The site that is meant, and whether the browser is the agents' own."""
        given = {key: call.arguments[key] for key in _PLACES if key in call.arguments}
        if len(given) > 1:
            raise InvalidArguments("permissions_check: give one of tabId, url and domain.")
        if "tabId" in given:
            tab = self._hub.tabs.get(given["tabId"])
            return site_of(tab.url), self._guard.is_managed(tab.browser)
        named = given.get("url") or given.get("domain")
        site = "" if named is None else site_of(address(named))
        if site == OPAQUE:
            raise InvalidArguments(f"permissions_check: {named!r} names no host.")
        return site, self._guard.is_managed(None)


def _word(verdict: Verdict) -> str:
    if isinstance(verdict, Allow):
        return "allow"
    return "ask" if isinstance(verdict, Ask) else "deny"


def _shown(verdict: Verdict) -> Json:
    source = verdict.rule.source
    return {
        "decision": _word(verdict),
        "source": source if source in ("grant", "plan", "default") else "policy",
        "rule": verdict.rule.text,
        "duration": verdict.duration if isinstance(verdict, Allow) else None,
        "needsPrompt": isinstance(verdict, Ask),
    }


def _line(name: str, verdict: Verdict) -> str:
    return f"{name}: {_word(verdict)} ({verdict.rule.text})"


TURN_SOURCE = "turns"
LONGEST_SUMMARY = 2000


def _tool(name: str, title: str, description: str, properties: Json) -> Tool:
    return browser_tool(
        name=name,
        title=title,
        description=description,
        properties=properties,
        source=TURN_SOURCE,
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


async def _notify(context: Context) -> CallResult:
    given = dict(context.arguments)
    if "url" in given:
        given["url"] = address(given["url"])
    session = context.hub.sessions.find(context.session)
    agent = context.call.client.name if session is None else session.name
    browser = context.browsers.latest().id
    await context.in_browser(browser, "notices.show", {**given, "agent": agent})
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
        "iconUrl": {"type": "string", "description": "A data: address of a picture."},
        "requireInteraction": {"type": "boolean", "description": "Stay until it is dismissed."},
        "url": {"type": "string"},
    },
    required=("title", "message"),
    needs_tab=False,
    toolsets=BROWSER,
)


TOOLS = (
    PERMISSIONS_CHECK,
    START,
    COMPLETE,
    NOTIFY,
)
