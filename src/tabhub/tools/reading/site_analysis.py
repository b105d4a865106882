"""plugin_analyze_site: what a site is made of, and which tools a plugin for it could have.

The extension sends names only: no value of a cookie, a storage, a header or a field.
"""

import asyncio
import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlsplit

from tabhub.browser.link.pending import Pending
from tabhub.calls.marks import fenced_lines
from tabhub.calls.results import done
from tabhub.errors import Forbidden
from tabhub.hub.tabs import Tab
from tabhub.permissions.sites import site_of
from tabhub.tools.reports import MAX_TOKENS, counted, fitting
from tabhub.tools.tool import BROWSER, Context, Json, address, browser_tool
from tabhub.wire.mcp.messages import CallResult

LONGEST_WAIT = 20
MOST_CALLS = 60
MOST_CANDIDATES = 40

_SESSION = re.compile(r"sess|(^|[_.-])sid$|auth|token|jwt|login|remember|(^|[_.-])id$", re.I)
_CSRF = re.compile(r"csrf|xsrf|authenticity", re.I)
_TOKEN = re.compile(r"token|jwt|auth|bearer|session|api[_-]?key", re.I)
_SECRET_SEGMENT = re.compile(
    r"\d+|[0-9a-f]{8,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=.*\d)[\w.~=-]{20,}", re.I
)
_VERSION = re.compile(r"v\d+(?:\.\d+)?|api|rest|ajax|graphql|_next|data", re.I)
_VERBS = {"POST": "create", "PUT": "replace", "PATCH": "update", "DELETE": "delete"}


async def _analyze(context: Context) -> CallResult:
    tab = _tab(context)
    await asyncio.sleep(context.arguments.get("waitSeconds", 0))
    pending = Pending(context.call.site, context.call.may_enter)
    found: Json = await context.in_other_tab(tab, "site.analyze", {}, pending)
    for kind, member in (("requests", "url"), ("forms", "action")):
        found[kind] = [each for each in found[kind] if context.may_show(each[member])]
    data = analysis(found)
    lines = list(_lines(data))
    kept = fitting(lines, context.arguments)
    more = [f"({len(lines) - len(kept)} more lines.)"] if len(kept) < len(lines) else []
    head = f"The site of tab {tab.id}. {_recorded(found)}"
    text = "\n".join([head, fenced_lines(kept), *more])
    return done(text, {"tabId": tab.id, **data})


def _tab(context: Context) -> Tab:
    """The tab of the call; with `url`, one of the caller's tabs that shows this site."""
    site, may_use = context.call.site, context.hub.ownership.may_use
    of_browser = context.hub.tabs.of_browser(context.tab.browser)
    for tab in (context.tab, *of_browser):
        if site_of(tab.url) == site and may_use(context.session, tab):
            return tab
    raise Forbidden(
        f"No tab of yours, and none that is shared with you, shows {site}. Open one there first.",
        "foreign_tab",
    )


def _recorded(found: Json) -> str:
    if found["recorded"]:
        return "Requests are those that were recorded; use the site and ask again to see more."
    return (
        "The tab is not recorded, so that methods and headers of requests are unknown: "
        "browser_enable_network_capture, then use the site."
    )


def analysis(found: Json) -> Json:
    """What the result says about a site, from what the extension has found."""
    calls = list(_calls(found["requests"]))
    return {
        "url": found["url"],
        "title": found["title"],
        "auth": _auth(found),
        "apiCalls": calls[:MOST_CALLS],
        "apiCallsTotal": len(calls),
        "recorded": found["recorded"],
        "frameworks": found["frameworks"],
        "globals": found["globals"],
        "globalsTotal": found["globalsTotal"],
        "storage": {
            "local": found["localStorage"],
            "session": found["sessionStorage"],
            "databases": found["databases"],
        },
        "forms": found["forms"],
        "candidateTools": _candidates(site_of(found["url"]), calls, found["forms"]),
    }


def _auth(found: Json) -> Json:
    cookies = [cookie["name"] for cookie in found["cookies"]]
    keys = [*found["localStorage"], *found["sessionStorage"]]
    credentials = (name for request in found["requests"] for name in request["credentials"])
    return {
        "cookies": found["cookies"],
        "sessionCookies": [
            name for name in cookies if _SESSION.search(name) and not _CSRF.search(name)
        ],
        "csrf": sorted({*found["csrf"], *filter(_CSRF.search, cookies)}),
        "requestHeaders": sorted(set(credentials)),
        "storageKeys": sorted({key for key in keys if _TOKEN.search(key)}),
    }


def _calls(requests: Iterable[Json]) -> Iterator[Json]:
    """Requests with the same method and path are one call; the most frequent come first."""
    known: dict[tuple[str, str, str, str], Json] = {}
    for request in requests:
        parts = urlsplit(request["url"])
        path, operation = path_pattern(parts.path), request.get("operation")
        key = (request["method"], parts.netloc, path, operation or "")
        call = known.setdefault(key, _call(request, parts.netloc, path))
        call["count"] += 1
        for member in ("parameters", "members"):
            call[member] = list(dict.fromkeys([*call[member], *request[member]]))
    yield from sorted(known.values(), key=lambda call: -int(call["count"]))


def _call(request: Json, host: str, path: str) -> Json:
    operation, kind = request.get("operation"), request.get("mimeType", "")
    named = {"operation": operation} if operation else {}
    return {
        "method": request["method"],
        "host": host,
        "path": path,
        "kind": "graphql" if operation is not None else "json" if "json" in kind else "other",
        **named,
        "parameters": [],
        "members": [],
        "count": 0,
    }


def path_pattern(path: str) -> str:
    """A path in which what identifies a single thing is `{id}`: a number, a digest, a token."""
    return "/".join(
        "{id}" if _SECRET_SEGMENT.fullmatch(segment) else segment for segment in path.split("/")
    )


def _candidates(site: str, calls: Iterable[Json], forms: Iterable[Json]) -> list[Json]:
    """Tools that a plugin could have: one for each call to the site's own hosts, and each form."""
    own = [call for call in calls if _is_own(call["host"], site)]
    found = [*map(_of_call, own), *(_of_form(form) for form in forms if form["fields"])]
    named = {tool["name"]: tool for tool in reversed(found)}
    return list(reversed(named.values()))[:MOST_CANDIDATES]


def _is_own(host: str, site: str) -> bool:
    """Whether a host is the site's, or a neighbour such as api.example.com of www.example.com."""
    if host == site:
        return True
    parent = site.partition(".")[2] if site.count(".") > 1 else site
    return "." in parent and host.endswith(f".{parent}")


def _of_call(call: Json) -> Json:
    method = call["method"] or "GET"
    name = call.get("operation") or f"{_verb(method, call['path'])}_{_noun(call['path'])}"
    what = f"the GraphQL operation {call['operation']}" if call.get("operation") else call["path"]
    in_path = ["id"] if "{id}" in call["path"] else []
    parameters = [*in_path, *call["parameters"]]
    if call["kind"] != "graphql":
        parameters += call["members"]
    return {
        "name": _snake(name),
        "description": f"Calls {method} {what} as the page does.",
        "method": method,
        "path": call["path"],
        "parameters": list(dict.fromkeys(parameters)),
    }


def _verb(method: str, path: str) -> str:
    if method in ("GET", "HEAD"):
        return "get" if path.endswith("{id}") else "list"
    return _VERBS.get(method, method.lower())


def _noun(path: str) -> str:
    parts = [part for part in path.split("/") if part and part != "{id}"]
    telling = [part for part in parts if not _VERSION.fullmatch(part)]
    return (telling or parts or ["page"])[-1]


def _of_form(form: Json) -> Json:
    fields = [field["name"] for field in form["fields"] if field["type"] != "hidden"]
    path = urlsplit(form["action"]).path
    return {
        "name": _snake(f"submit_{form['name'] or _noun(path)}"),
        "description": f"Sends the form of {form['method']} {path_pattern(path)}.",
        "method": form["method"],
        "path": path_pattern(path),
        "parameters": fields,
    }


def _snake(name: str) -> str:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+", "_", name)
    return words.strip("_").lower()[:64]


def _lines(data: Json) -> Iterator[str]:
    auth, storage = data["auth"], data["storage"]
    yield f"{data['title']} {data['url']}"
    yield f"frameworks: {_listed(_framework(each) for each in data['frameworks'])}"
    yield f"session cookies: {_listed(auth['sessionCookies'])}"
    yield f"tokens against forged requests: {_listed(auth['csrf'])}"
    yield f"headers that identify the person: {_listed(auth['requestHeaders'])}"
    yield f"storage keys that look like tokens: {_listed(auth['storageKeys'])}"
    for call in data["apiCalls"]:
        yield f"call: {_call_line(call)}"
    for form in data["forms"]:
        fields = ", ".join(field["name"] for field in form["fields"])
        yield f"form: {form['method']} {form['action']} ({fields})"
    for tool in data["candidateTools"]:
        parameters = ", ".join(tool["parameters"])
        yield f"candidate tool: {tool['name']}({parameters}): {tool['description']}"
    yield f"local storage: {_listed(storage['local'])}"
    yield f"session storage: {_listed(storage['session'])}"
    yield f"databases: {_listed(storage['databases'])}"
    yield f"globals ({data['globalsTotal']}): {_listed(data['globals'])}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def _framework(framework: Any) -> str:
    return f"{framework['name']} {framework['version']}".strip()


def _call_line(call: Json) -> str:
    operation = f" {call['operation']}" if call.get("operation") else ""
    names = ", ".join([*call["parameters"], *call["members"]])
    return (
        f"{call['method'] or '?'} {call['host']}{call['path']} {call['kind']}{operation}"
        f" ({names}), {counted(call['count'], 'time')}"
    )


def _target_url(arguments: Any) -> str | None:
    return address(arguments["url"]) if "url" in arguments else None


ANALYZE_SITE = browser_tool(
    name="plugin_analyze_site",
    title="Analyze a site",
    description=(
        "What a site is made of, to write a plugin for it: how it knows the person, its API calls, "
        "framework, globals, storage keys, forms, and candidate tools. Names only, no values."
    ),
    handler=_analyze,
    properties={
        "url": {
            "type": "string",
            "description": "Instead of a tab: a site that one of yours shows.",
        },
        "waitSeconds": {
            "type": "integer",
            "minimum": 0,
            "maximum": LONGEST_WAIT,
            "description": "Wait first, so that more requests are seen. Default 0.",
        },
        "maxTokens": MAX_TOKENS,
    },
    read_only=True,
    address_of=_target_url,
    toolsets=BROWSER,
)

TOOLS = (ANALYZE_SITE,)
