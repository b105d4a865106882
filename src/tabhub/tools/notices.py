"""Telling the person something."""

from tabhub.calls.results import done
from tabhub.tools.tool import BROWSER, Context, browser_tool
from tabhub.tools.urls import address
from tabhub.wire.mcp.messages import CallResult


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

TOOLS = (NOTIFY,)
