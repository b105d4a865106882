"""Every tool of a server has a source that runs it, and every source has tools."""

from tabhub.page_tools.core.listing import SOURCE
from tabhub.plugins.tools import SOURCE as PLUGIN_SOURCE
from tests.support.serving import served


async def test_every_tool_has_a_source_and_every_source_has_tools() -> None:
    async with served() as server:
        used = {tool.source for tool in server.app.hub.tools}
        registered = server.app.sources.keys()
    # Page tools exist only while their pages are open, plugin tools once plugins are reviewed.
    assert used | {SOURCE, PLUGIN_SOURCE} == registered
