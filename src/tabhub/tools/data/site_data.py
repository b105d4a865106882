"""What a site keeps in the browser: cookies, storage and the rest.

It belongs to whoever has the site open: a call needs a tab on it, of the caller's own or shared.
"""

from collections.abc import Mapping
from typing import Any

from tabhub.browser.link.pending import Pending
from tabhub.calls.results import done
from tabhub.errors import Forbidden, InvalidArguments
from tabhub.hub.tabs import Tab
from tabhub.permissions.sites import OPAQUE, site_of
from tabhub.tools.budget import MAX_TOKENS
from tabhub.tools.reports import listed
from tabhub.tools.tool import BROWSER, CONNECTION, Context, Json, browser_tool
from tabhub.tools.urls import address
from tabhub.wire.mcp.messages import CallResult

KINDS = ("cookies", "localStorage", "cache", "indexedDB", "serviceWorkers")
SHOWN_CHARS = 200
_COOKIE = ("url", "name", "value", "domain", "path", "secure", "httpOnly", "expirationDate")


async def _get_cookies(context: Context) -> CallResult:
    cookies = (await _on_site(context, "cookies.get", _passed(context, "url", "name")))["cookies"]
    lines = [f"- {cookie['name']}={_cut(cookie['value'])}" for cookie in cookies]
    counted = "1 cookie" if len(cookies) == 1 else f"{len(cookies)} cookies"
    head = f"{counted} for {context.call.site}"

    def shape(count: int) -> Json:
        return {"cookies": cookies[:count]}

    return listed(context.arguments, head, lines, shape, from_page=True)


async def _set_cookie(context: Context) -> CallResult:
    cookie = (await _on_site(context, "cookies.set", _passed(context, *_COOKIE)))["cookie"]
    return done(f"Set the cookie {cookie['name']} for {cookie['domain']}.", {"cookie": cookie})


async def _delete_cookies(context: Context) -> CallResult:
    output = await _on_site(context, "cookies.delete", _passed(context, "url", "name"))
    count = output["deleted"]
    counted = "1 cookie" if count == 1 else f"{count} cookies"
    return done(f"Deleted {counted} of {context.call.site}.", {"deleted": count})


async def _clear(context: Context) -> CallResult:
    given = context.arguments
    named = [kind for kind in KINDS if given.get(kind)]
    kinds = named or [kind for kind in KINDS if given.get(kind) is None]
    scheme = address(given["origin"]).partition(":")[0].lower()
    input = {"origin": f"{scheme}://{context.call.site}", "kinds": kinds}
    await _on_site(context, "site.clear", input)
    return done(f"Cleared {', '.join(kinds)} of {context.call.site}.", {"cleared": kinds})


async def _on_site(context: Context, command: str, input: Json) -> Any:
    """Run a command in a tab that shows the site, for as long as it does."""
    site = context.call.site
    tab = _showing(context, site)
    return await context.browsers.in_tab(tab, command, input, context.report, Pending(site))


def _showing(context: Context, site: str) -> Tab:
    if site in ("", OPAQUE):
        raise InvalidArguments(f"{context.call.tool.name}: give an address of a site, https://….")
    may_use = context.hub.ownership.may_use
    for tab in context.hub.tabs.of_browser(context.browser):
        if site_of(tab.url) == site and may_use(context.session, tab):
            return tab
    raise Forbidden(
        f"No tab of yours, and none that is shared with you, shows {site}. Open one there first.",
        "foreign_tab",
    )


def _passed(context: Context, *names: str) -> Json:
    given = {name: context.arguments[name] for name in names if name in context.arguments}
    return {**given, "url": address(given["url"])}


async def _get_storage(context: Context) -> CallResult:
    given = context.arguments
    kind = given.get("storageType", "local")
    input: Json = {"storageType": kind}
    if "key" in given:
        input["key"] = given["key"]
    output = await context.in_tab("page.storage", input)
    entries = dict(output["entries"])
    lines = [f"- {key}: {_cut(value)}" for key, value in entries.items()]
    total = output["total"]
    head = f"{'1 entry' if total == 1 else f'{total} entries'} in the page's {kind} storage"
    if total > len(entries):
        head += f" ({total - len(entries)} too large to be told at once: ask by key)"

    def shape(count: int) -> Json:
        return {"tabId": context.tab.id, "entries": dict(output["entries"][:count]), "total": total}

    return listed(given, head, lines, shape, from_page=True)


def _cut(value: str) -> str:
    if len(value) <= SHOWN_CHARS:
        return value
    return f"{value[:SHOWN_CHARS]}… ({len(value)} characters)"


def _url(given: Mapping[str, Any]) -> str | None:
    return address(given["url"]) if "url" in given else None


def _origin(given: Mapping[str, Any]) -> str | None:
    return address(given["origin"]) if "origin" in given else None


_STRING: Json = {"type": "string"}
_BOOLEAN: Json = {"type": "boolean"}
_URL: Json = {"type": "string", "description": "A page of a site that a tab of yours shows."}

GET_COOKIES = browser_tool(
    name="browser_get_cookies",
    title="Get cookies",
    description="The cookies that the browser sends to an address, those for servers only too.",
    handler=_get_cookies,
    properties={
        "url": _URL,
        "name": _STRING,
        "connectionId": CONNECTION,
        "maxTokens": MAX_TOKENS,
    },
    required=("url",),
    # It changes nothing, but who has the cookies of a session can go on with it elsewhere.
    idempotent=True,
    needs_tab=False,
    address_of=_url,
    toolsets=BROWSER,
)

SET_COOKIE = browser_tool(
    name="browser_set_cookie",
    title="Set cookie",
    description="Set a cookie for an address.",
    handler=_set_cookie,
    properties={
        "url": _URL,
        "name": _STRING,
        "value": _STRING,
        "domain": {"type": "string", "description": "Default the host of url alone."},
        "path": _STRING,
        "secure": _BOOLEAN,
        "httpOnly": _BOOLEAN,
        "expirationDate": {
            "type": "number",
            "description": "Seconds since 1970; default until the browser ends.",
        },
        "connectionId": CONNECTION,
    },
    required=("url", "name", "value"),
    secret_arguments=frozenset({"value"}),
    idempotent=True,
    needs_tab=False,
    address_of=_url,
    toolsets=BROWSER,
)

DELETE_COOKIES = browser_tool(
    name="browser_delete_cookies",
    title="Delete cookies",
    description="Delete the cookies of one name that the browser sends to an address.",
    handler=_delete_cookies,
    properties={"url": _URL, "name": _STRING, "connectionId": CONNECTION},
    required=("url", "name"),
    idempotent=True,
    needs_tab=False,
    address_of=_url,
    toolsets=BROWSER,
)

GET_STORAGE = browser_tool(
    name="browser_get_storage",
    title="Get storage",
    description="What the page keeps in its local or session storage.",
    handler=_get_storage,
    properties={
        "storageType": {"enum": ["local", "session"], "description": "Default local."},
        "key": {"type": "string", "description": "Only this entry."},
        "maxTokens": MAX_TOKENS,
    },
    # As for cookies: many sites keep there what lets a person in.
    idempotent=True,
    toolsets=BROWSER,
)

CLEAR_SITE_DATA = browser_tool(
    name="browser_clear_site_data",
    title="Clear site data",
    description=(
        "Remove what a site has stored in the browser: the kinds that are true, or all that are "
        "not false. Cookies go for the whole registered domain."
    ),
    handler=_clear,
    properties={
        "origin": {"type": "string", "description": "Of a site that a tab of yours shows."},
        **dict.fromkeys(KINDS, _BOOLEAN),
        "connectionId": CONNECTION,
    },
    required=("origin",),
    destructive=True,
    idempotent=True,
    needs_tab=False,
    address_of=_origin,
    toolsets=BROWSER,
)

TOOLS = (GET_COOKIES, SET_COOKIE, DELETE_COOKIES, GET_STORAGE, CLEAR_SITE_DATA)
