"""Every browser tool, and the source that runs them."""

from tabhub.browser.browsers import Browsers
from tabhub.calls.ports import Job
from tabhub.tools import acting, reading, script, tabs
from tabhub.tools.tool import BrowserTool, Context
from tabhub.wire.mcp.messages import CallResult

ALL: tuple[BrowserTool, ...] = (*tabs.TOOLS, *reading.TOOLS, *acting.TOOLS, *script.TOOLS)


class BrowserSource:
    """Runs browser tools."""

    def __init__(self, browsers: Browsers) -> None:
        self._browsers = browsers
        self._run = {tool.name: tool.run for tool in ALL}

    async def run(self, job: Job) -> CallResult:
        return await self._run[job.tool.name](Context(job, self._browsers))
