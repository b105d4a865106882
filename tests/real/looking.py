"""Helpers for tests of reading: the page content in a result, and the page seen over CDP."""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.support.browsers.cdp import browser_of
from tests.support.site import Site

Value = Callable[..., Awaitable[Any]]
FENCE = re.compile(r"\[page (\w+)\]\n(.*)\n\[end \1\]", re.DOTALL)


def page_lines(text: str) -> str:
    """The lines between the two markers of page content."""
    found = FENCE.search(text)
    assert found, f"no page content is marked in:\n{text}"
    return found[2]


def html(site: Site, body: str) -> str:
    return f"{site.url}/html?body={quote(body)}"


async def seen_in(home: Path, address: str, code: str) -> Any:
    """Evaluates an expression over CDP in the page with this address."""
    async with browser_of(home) as browser:
        targets = (await browser.send("Target.getTargets"))["targetInfos"]
        page = next(t["targetId"] for t in targets if t["url"] == address)
        return await browser.evaluate(page, code)


def ref(text: str, name: str) -> str:
    """The ref in the line with this name."""
    found = re.search(rf'"{re.escape(name)}".*?\[(ref_\d+)\]', text)
    assert found, f"{name!r} has no ref in:\n{text}"
    return found[1]
