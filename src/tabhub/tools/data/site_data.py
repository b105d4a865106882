"""What a site keeps in the browser: cookies, storage and the rest.

A call needs a tab that shows the site, the caller's own or a shared one.
"""

from collections.abc import Mapping
from typing import Any

from tabhub.browser.link.pending import Pending
from tabhub.calls.marks import quoted
from tabhub.calls.results import done
from tabhub.errors import Forbidden, InvalidArguments
from tabhub.hub.tabs import Tab
from tabhub.permissions.sites import OPAQUE, site_of
from tabhub.tools.reports import MAX_TOKENS, counted, listed
from tabhub.tools.tool import BROWSER, CONNECTION, Context, Json, address, browser_tool
from tabhub.wire.mcp.messages import CallResult

KINDS = ("cookies", "localStorage", "cache", "indexedDB", "serviceWorkers")
VALUE_CHARS = 200
_COOKIE = ("name", "value", "domain", "path", "secure", "httpOnly", "expirationDate")


async def _get_cookies(context: Context) -> CallResult:
    cookies = (await _on_site(context, "cookies.get", _input(context, "name")))["cookies"]
    lines = [f"- {cookie['name']}={_cut(cookie['value'])}" for cookie in cookies]
    head = f"{counted(len(cookies), 'cookie')} for {context.call.site}"

    def data(count: int) -> Json:
        return {"cookies": cookies[:count]}

    return listed(context.arguments, head, lines, data, from_page=True)


async def _set_cookie(context: Context) -> CallResult:
    cookie = (await _on_site(context, "cookies.set", _input(context, *_COOKIE)))["cookie"]
    name, domain = quoted(cookie["name"]), quoted(cookie["domain"])
    return done(f"Set the cookie {name} for {domain}.", {"cookie": cookie})


async def _delete_cookies(context: Context) -> CallResult:
    count = (await _on_site(context, "cookies.delete", _input(context, "name")))["deleted"]
    sentence = f"Deleted {counted(count, 'cookie')} of {context.call.site}."
    return done(sentence, {"deleted": count})


async def _clear(context: Context) -> CallResult:
    arguments = context.arguments
    chosen = [kind for kind in KINDS if arguments.get(kind)]
    kinds = chosen or [kind for kind in KINDS if arguments.get(kind) is None]
    scheme = address(arguments["origin"]).partition(":")[0].lower()
    input = {"origin": f"{scheme}://{context.call.site}", "kinds": kinds}
    await _on_site(context, "site.clear", input)
    return done(f"Cleared {', '.join(kinds)} of {context.call.site}.", {"cleared": kinds})


async def _on_site(context: Context, command: str, input: Json) -> Any:
    """Run a command in a tab that shows the site; it ends if the tab leaves the site."""
    site = context.call.site
    tab = _tab_on(context, site)
    return await context.in_other_tab(tab, command, input, Pending(site))


def _tab_on(context: Context, site: str) -> Tab:
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


def _input(context: Context, *names: str) -> Json:
    arguments = context.arguments
    passed = {name: arguments[name] for name in names if name in arguments}
    return {"url": address(arguments["url"]), **passed}


async def _get_storage(context: Context) -> CallResult:
    arguments = context.arguments
    kind = arguments.get("storageType", "local")
    input: Json = {"storageType": kind}
    if "key" in arguments:
        input["key"] = arguments["key"]
    output = await context.in_tab("page.storage", input)
    entries, total = output["entries"], output["total"]
    lines = [f"- {key}: {_cut(value)}" for key, value in entries]
    head = f"{counted(total, 'entry')} in the page's {kind} storage"
    if total > len(entries):
        head += f" ({total - len(entries)} too large to be listed at once: ask by key)"

    def data(count: int) -> Json:
        return {"tabId": context.tab.id, "entries": dict(entries[:count]), "total": total}

    return listed(arguments, head, lines, data, from_page=True)


def _cut(value: str) -> str:
    if len(value) <= VALUE_CHARS:
        return value
    return f"{value[:VALUE_CHARS]}… ({len(value)} characters)"


def _target_url(arguments: Mapping[str, Any]) -> str | None:
    return address(arguments["url"]) if "url" in arguments else None


def _target_origin(arguments: Mapping[str, Any]) -> str | None:
    return address(arguments["origin"]) if "origin" in arguments else None


_STRING: Json = {"type": "string"}
_BOOLEAN: Json = {"type": "boolean"}
_URL: Json = {"type": "string", "description": "A page of a site that a tab of yours shows."}

GET_COOKIES = browser_tool(
    name="browser_get_cookies",
    title="Get cookies",
    description="The cookies that the browser sends to an address, HttpOnly ones too.",
    handler=_get_cookies,
    properties={
        "url": _URL,
        "name": _STRING,
        "connectionId": CONNECTION,
        "maxTokens": MAX_TOKENS,
    },
    required=("url",),
    # It changes nothing, but cookies let others take over a login, so it does not count as reading.
    idempotent=True,
    needs_tab=False,
    address_of=_target_url,
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
    address_of=_target_url,
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
    address_of=_target_url,
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
    # As for cookies: many sites keep credentials there.
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
        "origin": {"type": "string", "description": "Of a site that one of your tabs shows."},
        **dict.fromkeys(KINDS, _BOOLEAN),
        "connectionId": CONNECTION,
    },
    required=("origin",),
    destructive=True,
    idempotent=True,
    needs_tab=False,
    address_of=_target_origin,
    toolsets=BROWSER,
)

TOOLS = (GET_COOKIES, SET_COOKIE, DELETE_COOKIES, GET_STORAGE, CLEAR_SITE_DATA)
