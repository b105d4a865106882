"""Every browser tool, and the source that runs them."""

import time

from tabhub.browser.browsers import Browsers
from tabhub.calls.ports import Job
from tabhub.hub.hub import Hub
from tabhub.hub.tools import Tool
from tabhub.tools import (
    acting,
    bookmarks,
    capture,
    closed,
    dialogs,
    downloads,
    emulation,
    extension,
    finding,
    groups,
    history,
    intercept,
    keys,
    notices,
    permissions_check,
    reading,
    script,
    scrolling,
    sitedata,
    tabgroups,
    tabs,
    texts,
    windows,
)
from tabhub.tools.closings import Closings
from tabhub.tools.files import Files
from tabhub.tools.shots import Shots
from tabhub.tools.tool import BrowserTool, Context
from tabhub.wire.mcp.messages import CallResult

_IN_BROWSER: tuple[BrowserTool, ...] = (
    *tabs.TOOLS,
    *reading.TOOLS,
    *finding.TOOLS,
    *texts.TOOLS,
    *acting.TOOLS,
    *keys.TOOLS,
    *scrolling.TOOLS,
    *dialogs.TOOLS,
    *script.TOOLS,
    *capture.TOOLS,
    *windows.TOOLS,
    *tabgroups.TOOLS,
    *sitedata.TOOLS,
    *downloads.TOOLS,
    *history.TOOLS,
    *bookmarks.TOOLS,
    *closed.TOOLS,
    *intercept.TOOLS,
    *emulation.TOOLS,
    *extension.TOOLS,
    *notices.TOOLS,
    *groups.TOOLS,
)
ALL: tuple[Tool, ...] = (*(tool.entry() for tool in _IN_BROWSER), permissions_check.TOOL)


class BrowserSource:
    """Runs browser tools."""

    def __init__(self, browsers: Browsers, hub: Hub, files: Files) -> None:
        self._browsers = browsers
        self._hub = hub
        self._files = files
        self._shots = Shots(time.monotonic)
        self._closings = Closings()
        self._run = {tool.name: tool.run for tool in _IN_BROWSER}

    async def run(self, job: Job) -> CallResult:
        context = Context(job, self._browsers, self._hub, self._files, self._shots, self._closings)
        return await self._run[job.tool.name](context)
