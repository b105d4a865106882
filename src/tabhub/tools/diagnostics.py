"""The extension itself: how it is, what it has noted, starting it anew."""

import asyncio
from typing import Any

from tabhub.browser.link.browsers import Browser
from tabhub.browser.link.connection import Connection
from tabhub.calls.results import done
from tabhub.errors import NotFound, Unavailable
from tabhub.hub.tools import Tool
from tabhub.tools.budget import MAX_TOKENS, fitting
from tabhub.tools.data.browsing_data import iso
from tabhub.tools.tool import BROWSER, CONNECTION, Context, Json, browser_tool
from tabhub.wire.mcp.messages import CallResult

LINES = 100
_TABS = ("debuggedTabs", "dialogTabs")


async def _state(context: Context) -> CallResult:
    output = await context.in_browser(context.browser, "extension.state", {})
    known = {name: _numbers(context, output[name]) for name in _TABS}
    held = {str(_number(context, int(tab))): why for tab, why in output["heldTabs"].items()}
    told: Json = {**output, **known, "heldTabs": held, "startedAt": iso(output["startedAt"])}
    browser = context.browsers.get(context.browser)
    shown = {**_described(browser), **told}
    return done("\n".join(f"{name}: {value}" for name, value in shown.items()), shown)


def _numbers(context: Context, natives: list[int]) -> list[int]:
    return [_number(context, native) for native in natives]


def _number(context: Context, native: int) -> int:
    tab = context.hub.tabs.by_native(context.browser, native)
    return native if tab is None else tab.id


def _described(browser: Browser) -> Json:
    return {
        "connectionId": browser.id,
        "browser": f"{browser.info.name} {browser.info.version}".strip(),
        "kind": browser.info.kind,
        "connectedAt": iso(browser.connected_at),
    }


async def _logs(context: Context) -> CallResult:
    given = context.arguments
    names = ("level", "source", "since")
    input: Json = {name: given[name] for name in names if name in given}
    input["limit"] = given.get("limit", LINES)
    output = await context.in_browser(context.browser, "extension.logs", input)
    entries = output["entries"]
    # Where there is room for some only, the latest count.
    lines = fitting((_line(entry) for entry in reversed(entries)), given)
    kept = entries[len(entries) - len(lines) :]
    head = f"{len(kept)} of {output['total']} lines, the latest last:"
    return done("\n".join([head, *reversed(lines)]), {"entries": kept, "total": output["total"]})


def _line(entry: Json) -> str:
    return f"{iso(entry['time'])} [{entry['level']}] {entry['message']}"


async def _side_panel(context: Context) -> CallResult:
    output = await context.in_browser(context.browser, "extension.panel", {})
    open_ = output["panels"] > 0
    told = "A panel is open: the person can be asked." if open_ else "No panel is open."
    return done(told, {"open": open_, **output})


async def _check_adapter(context: Context) -> CallResult:
    name = context.arguments["plugin"]
    raise NotFound(f"There is no plugin {name!r}: none is installed.")


async def _reload(context: Context) -> CallResult:
    browser = context.browser
    before = context.browsers.reload_extension(browser)
    return await _back(context, browser, before, "The extension was started anew")


async def _force_reconnect(context: Context) -> CallResult:
    browser = context.browser
    before = await context.browsers.hang_up(browser)
    return await _back(context, browser, before, "The browser has connected anew")


async def _back(context: Context, id: str, before: Connection, done_: str) -> CallResult:
    try:
        async with asyncio.timeout(context.wait_ms / 1000):
            browser = await context.browsers.back(id, before)
    except TimeoutError:
        message = f"The browser {id} was told to, but has not come back yet."
        raise Unavailable(message, effect="done") from None
    return done(f"{done_}: {browser.id}.", _described(browser))


def _tool(name: str, title: str, description: str, run: Any, **more: Any) -> Tool:
    properties = {**more.pop("properties", {}), "connectionId": CONNECTION}
    return browser_tool(
        name=name,
        title=title,
        description=description,
        handler=run,
        properties=properties,
        needs_tab=False,
        toolsets=BROWSER,
        **more,
    )


TOOLS = (
    _tool(
        "extension_get_state",
        "Extension state",
        "How the extension is: version, start, tabs with the debugger on them, open dialogs.",
        _state,
        read_only=True,
    ),
    _tool(
        "extension_get_logs",
        "Extension logs",
        "What the extension has noted of itself, the latest last; nothing from pages.",
        _logs,
        properties={
            "level": {"enum": ["log", "warn", "error", "info", "all"]},
            "source": {"enum": ["background", "offscreen", "all"]},
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": 1000,
                "description": f"Default {LINES}.",
            },
            "since": {"type": "number", "description": "Milliseconds since 1970."},
            "maxTokens": MAX_TOKENS,
        },
        read_only=True,
    ),
    _tool(
        "extension_get_side_panel",
        "Side panel",
        "Whether a side panel is open, in which the person is asked.",
        _side_panel,
        read_only=True,
    ),
    _tool(
        "extension_check_adapter",
        "Check adapter",
        "Whether the adapter of a plugin is ready in its tabs.",
        _check_adapter,
        properties={"plugin": {"type": "string"}},
        required=("plugin",),
        read_only=True,
    ),
    _tool(
        "extension_reload",
        "Reload extension",
        "Start the extension anew and wait until it is back. Ends calls under way, emulation and "
        "interception in all its tabs.",
        _reload,
        idempotent=True,
        # Other agents' calls end as well.
        destructive=True,
    ),
    _tool(
        "extension_force_reconnect",
        "Reconnect",
        "Close the link to a browser and wait until it has connected anew. Ends calls under way.",
        _force_reconnect,
        idempotent=True,
        # Other agents' calls end as well.
        destructive=True,
    ),
)
