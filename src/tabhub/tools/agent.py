"""What the caller would be allowed, and by which rule. Asks nobody, changes nothing."""

from tabhub.calls.call import Call
from tabhub.calls.guard import Guard, subject_of
from tabhub.calls.source import Source
from tabhub.errors import InvalidArguments
from tabhub.hub.hub import Hub
from tabhub.hub.tools import Tool
from tabhub.permissions.sites import OPAQUE, site_of
from tabhub.permissions.verdict import Allow, Ask, Verdict
from tabhub.tools.budget import MAX_TOKENS
from tabhub.tools.reports import listed
from tabhub.tools.tool import CLAUDE, Json, browser_tool
from tabhub.tools.urls import address
from tabhub.wire.mcp.messages import CallResult

SOURCE = "permissions"
_WORDS = ("deny", "ask", "allow")
_PLACES = ("tabId", "url", "domain")

TOOL = browser_tool(
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
