"""An agent's view of tabhub with the official MCP client: `python mcp_client.py [URL]`."""

import asyncio
import sys

from mcp import Client, StdioServerParameters
from mcp.types import TextContent

URL = sys.argv[1] if len(sys.argv) > 1 else "https://example.com"
# Starts a server and a browser of its own, if none runs. Without `--browser`: your own Chrome.
TABHUB = StdioServerParameters(command="tabhub", args=["start", "--stdio", "--browser"])


async def main() -> None:
    async with Client(TABHUB) as browser:
        listed = await browser.list_tools()
        print(f"{len(listed.tools)} tools")
        await call(browser, "browser_open_tab", url=URL)
        await call(browser, "browser_click_element", find="link")


async def call(browser: Client, tool: str, **arguments: object) -> None:
    """Call a tool and print what a model would read; an error has a reason word."""
    result = await browser.call_tool(tool, arguments)
    print(f"{tool}: {'failed' if result.is_error else 'done'}")
    print("\n".join(part.text for part in result.content if isinstance(part, TextContent)))


asyncio.run(main())
