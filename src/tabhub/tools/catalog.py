"""Every browser tool, and the source that runs them."""

from tabhub.browser.browsers import Browsers
from tabhub.calls.ports import Job
from tabhub.hub.hub import Hub
from tabhub.hub.tools import Tool
from tabhub.tools import acting, finding, groups, permissions_check, reading, script, tabs, texts
from tabhub.tools.tool import BrowserTool, Context
from tabhub.wire.mcp.messages import CallResult

_IN_BROWSER: tuple[BrowserTool, ...] = (
    *tabs.TOOLS,
    *reading.TOOLS,
    *finding.TOOLS,
    *texts.TOOLS,
    *acting.TOOLS,
    *script.TOOLS,
    *groups.TOOLS,
)
ALL: tuple[Tool, ...] = (*(tool.entry() for tool in _IN_BROWSER), permissions_check.TOOL)


class BrowserSource:
    """Runs browser tools."""

    def __init__(self, browsers: Browsers, hub: Hub) -> None:
        self._browsers = browsers
        self._hub = hub
        self._run = {tool.name: tool.run for tool in _IN_BROWSER}

    async def run(self, job: Job) -> CallResult:
        return await self._run[job.tool.name](Context(job, self._browsers, self._hub))
