"""Pages and the tools they publish, in the form the hub gets them."""

import time
from typing import Any

from tabhub.page_tools.core.listing import Mode
from tabhub.page_tools.core.page_hub import PageHub
from tabhub.page_tools.core.storage import Page, PageRef, Published

DOMAINS = ("shop.example", "shop.example.com", "bank.example:8443")
NAMES = ("search", "com_search", "get.cart", "get_cart", "x" * 100)
SCHEMAS = (
    b'{"properties":{},"type":"object"}',
    b'{"properties":{"tabId":{"type":"string"}},"type":"object"}',
)


def published(name: str, schema: int = 0, **more: Any) -> Published:
    return Published(name, f"Does {name}.", SCHEMAS[schema], **more)


def page(tab: int | str, *tools: Published, **more: Any) -> Page:
    domain = more.pop("domain", DOMAINS[0])
    frame, document = more.pop("frame", 0), more.pop("document", "d")
    return Page(
        ref=PageRef("link:a", tab, frame, document),
        domain=domain,
        origin=f"https://{domain}",
        url=f"https://{domain}/{tab}",
        title="",
        tools={tool.name: tool for tool in tools},
        seen=time.time(),
        **more,
    )


def hub(mode: Mode = "merged") -> PageHub:
    made = PageHub()
    made.pages.configure(mode, 300)
    return made
