"""Whether tabhub lists every interactive element that a peer lists on the same pages."""

import asyncio
import re
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from functools import reduce
from operator import or_

from bench.browser.browser_setup import browser_setup
from bench.browser.pages import large_page, link_page
from bench.peers.all_servers import devtools_command, playwright_command
from bench.peers.ours import EVERYTHING
from bench.peers.stdio import serving
from bench.rows import Row
from tests.support.site import Site

INTERACTIVE = frozenset(
    "button checkbox combobox link listbox menuitem menuitemcheckbox menuitemradio option radio "
    "searchbox slider spinbutton switch tab textbox treeitem Date ColorWell "
    "DisclosureTriangle".split()
)
"""Roles, as the peers name them."""
BROWSERS_OWN = frozenset(("Video", "Audio", "Date"))
"""The browser itself draws the inner parts of these; tabhub lists only the whole element."""
PAGES: dict[str, Callable[[Site], str]] = {
    "zoo": lambda site: site.page("zoo"),
    "500 links": link_page,
    "5,000 nodes": large_page,
}

Names = Counter[str]
Look = Callable[[str], Awaitable[Names]]


def measure() -> Iterator[Row]:
    for page, missing in asyncio.run(_missing_everywhere()).items():
        note = ", ".join(sorted(missing)[:5])
        yield Row(f"listed by a peer alone: {page}", missing.total(), "", 0, note)


async def _missing_everywhere() -> dict[str, Names]:
    async with AsyncExitStack() as stack:
        ready = await stack.enter_async_context(browser_setup())
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        playwright = await stack.enter_async_context(serving(playwright_command(), folder))
        devtools = await stack.enter_async_context(serving(devtools_command(), folder))
        tab = await ready.agent.open("about:blank")

        async def by_us(url: str) -> Names:
            await ready.agent.call("browser_navigate_tab", tabId=tab, url=url)
            result = await ready.agent.call("browser_read_page", tabId=tab, max_chars=EVERYTHING)
            return ours(result["content"][0]["text"])

        async def by_playwright(url: str) -> Names:
            await playwright.text("browser_navigate", url=url)
            return of_playwright(await playwright.text("browser_snapshot"))

        async def by_devtools(url: str) -> Names:
            await devtools.text("navigate_page", type="url", url=url, pageId=1)
            return of_devtools(await devtools.text("take_snapshot", pageId=1))

        peers = (by_playwright, by_devtools)
        return {
            name: await _missing(address(ready.site), by_us, peers)
            for name, address in PAGES.items()
        }


async def _missing(url: str, by_us: Look, peers: tuple[Look, ...]) -> Names:
    here = await by_us(url)
    theirs = [await look(url) for look in peers]
    if not all(theirs):
        raise RuntimeError(f"A peer lists nothing at {url}.")
    return reduce(or_, theirs) - here


def ours(text: str) -> Names:
    """Names of elements with a ref, and of options, which are chosen by their select."""
    found = re.findall(r'^ *(?:option|(?=.* \[ref_)\S+) "([^"]*)"', text, re.M)
    return Counter(found)


def of_playwright(text: str) -> Names:
    """By role, or by the pointer cursor."""
    lines = re.findall(r'^ *- (\S+) "([^"\n]*)"(.*)$', text, re.M)
    return Counter(
        name for role, name, rest in lines if role in INTERACTIVE or "[cursor=pointer]" in rest
    )


def of_devtools(text: str) -> Names:
    names: Names = Counter()
    hidden_below: int | None = None
    for indent, role, name in re.findall(r'^( *)uid=\S+ ([\w-]+) "([^"\n]*)"', text, re.M):
        if hidden_below is not None and len(indent) > hidden_below:
            continue
        hidden_below = len(indent) if role in BROWSERS_OWN else None
        if role in INTERACTIVE:
            names[name] += 1
    return names
