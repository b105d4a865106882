"""Every browser tool, and the source that runs them."""

import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from tabhub.browser.link.browsers import Browsers
from tabhub.calls.call import Call
from tabhub.calls.guard import Guard
from tabhub.calls.source import Source
from tabhub.errors import Internal, TabhubError
from tabhub.hub.hub import Hub
from tabhub.hub.tools import Tool, ToolRegistry
from tabhub.tools import agent as permissions_check
from tabhub.tools import (
    bookmarks,
    closed,
    dev,
    dialogs,
    downloads,
    dragging,
    emulation,
    groups,
    keys,
    notices,
    resources,
    scrolling,
    styles,
    texts,
    turns,
)
from tabhub.tools import diagnostics as extension
from tabhub.tools.acting import acting, uploads
from tabhub.tools.capture import gif_creator
from tabhub.tools.capture import screenshots as capture
from tabhub.tools.claude import browsing as own_tabs
from tabhub.tools.claude import computer, forms, navigate, shown_tabs, window
from tabhub.tools.closings import Closings
from tabhub.tools.composite import batch, plan, shortcuts
from tabhub.tools.composite.shortcut_replay import Replays
from tabhub.tools.data import browsing_data as history
from tabhub.tools.data import site_data as sitedata
from tabhub.tools.files import Files
from tabhub.tools.gif_recorder import GifObserver
from tabhub.tools.gif_recordings import Recordings
from tabhub.tools.keywords import KEYWORDS
from tabhub.tools.network import har
from tabhub.tools.network import interception as intercept
from tabhub.tools.network import records as console
from tabhub.tools.network import requests as network
from tabhub.tools.reading import finding, reading
from tabhub.tools.reading import inspection as script
from tabhub.tools.recording import Observer
from tabhub.tools.state import Shots
from tabhub.tools.tabs import groups as tabgroups
from tabhub.tools.tabs import tabs, windows
from tabhub.tools.tool import Context
from tabhub.tools.upload_folders import UploadFolders
from tabhub.wire.mcp.messages import CallResult

_IN_BROWSER: tuple[Tool, ...] = (
    *tabs.TOOLS,
    *reading.TOOLS,
    *finding.TOOLS,
    *texts.TOOLS,
    *acting.TOOLS,
    *keys.TOOLS,
    *scrolling.TOOLS,
    *dragging.TOOLS,
    *dialogs.TOOLS,
    *uploads.TOOLS,
    *gif_creator.TOOLS,
    *script.TOOLS,
    *capture.TOOLS,
    *windows.TOOLS,
    *tabgroups.TOOLS,
    *sitedata.TOOLS,
    *styles.TOOLS,
    *downloads.TOOLS,
    *history.TOOLS,
    *bookmarks.TOOLS,
    *closed.TOOLS,
    *intercept.TOOLS,
    *emulation.TOOLS,
    *extension.TOOLS,
    *notices.TOOLS,
    *console.TOOLS,
    *network.TOOLS,
    *har.TOOLS,
    *resources.TOOLS,
    *groups.TOOLS,
    *own_tabs.TOOLS,
    *shown_tabs.TOOLS,
    *navigate.TOOLS,
    *computer.TOOLS,
    *forms.TOOLS,
    *window.TOOLS,
)


SSE = frozenset(
    """
    navigate computer read_page find form_input get_page_text tabs_context tabs_create
    tabs_context_mcp tabs_create_mcp resize_window read_console_messages read_network_requests
    upload_image gif_creator update_plan shortcuts_list shortcuts_execute javascript_tool
    turn_answer_start turn_answer_complete dev_utils permissions_check
    """.split()
)
"""What clients of HTTP+SSE expect, no more and no less: the toolset of that name."""


def all_for(tools: ToolRegistry) -> tuple[Tool, ...]:
    """All of them; some look at what else a registry has."""
    return tuple(
        replace(
            tool,
            toolsets=tool.toolsets | {"sse"} if tool.name in SSE else tool.toolsets,
            keywords=KEYWORDS.get(tool.name, ""),
        )
        for tool in (
            *_IN_BROWSER,
            batch.tool(tools),
            permissions_check.TOOL,
            plan.TOOL,
            *turns.TOOLS,
            *shortcuts.TOOLS,
            dev.TOOL,
        )
    )


ALL = all_for(ToolRegistry())


class BrowserSource(Source):
    """Runs browser tools."""

    def __init__(
        self,
        browsers: Browsers,
        hub: Hub,
        files: Files,
        folders: UploadFolders,
        guard: Guard,
        untrusted: Callable[[], bool],
        replays: Replays,
        observers: Iterable[Observer],
    ) -> None:
        self._browsers = browsers
        self._hub = hub
        self._files = files
        self._folders = folders
        self._untrusted = untrusted
        self.shots = Shots(time.monotonic)
        self._closings = Closings()
        self._recordings = Recordings(lambda session: hub.sessions.find(session) is not None)
        self._replays = replays
        self._observers = (GifObserver(self._recordings, hub, guard), *observers)
        hub.sessions.on_change(lambda _: self._recordings.drop_ended())

    def context(self, call: Call) -> Context:
        return Context(
            call,
            dict(call.arguments),
            self._browsers,
            self._hub,
            self._files,
            self._folders,
            self.shots,
            self._closings,
            self._recordings,
            untrusted=self._untrusted(),
        )

    async def run(self, call: Call) -> CallResult:
        context = self.context(call)
        if call.replayed:
            await self._replays.resolve(replace(context))
        following = [one for each in self._observers if (one := each.follow(call)) is not None]
        if not following:
            return await self._handled(context)
        context.seen = [one.seen for one in following]
        for observation in following:
            # Looking is no part of the call, whose effect is judged by its own commands.
            await observation.before(replace(context, seen=()))
        result = await self._handled(context)
        for observation in following:
            await observation.after(context, result)
        return result

    async def _handled(self, context: Context) -> CallResult:
        call = context.call
        if call.tool.handler is None:
            raise Internal(f"The tool {call.tool.name!r} has no handler.")
        try:
            result: CallResult = await call.tool.handler(context)
            return result
        except TabhubError as error:
            if error.effect == "none" and context.answered and not _is_reading(call):
                # This command changed nothing, but one before it may have.
                raise error.with_effect("unknown") from error.__cause__
            raise


def _is_reading(call: Call) -> bool:
    return call.tool.is_reading(call.arguments)
