"""What was written down of pages, checked like what a page tells: a file is no better witness."""

from collections.abc import Callable

import msgspec
from msgspec import Raw

from tabhub.config.settings import Limits
from tabhub.page_tools.core.storage import Published
from tabhub.pages.definitions import CACHE, FORM, checked
from tabhub.pages.origins import domain_of, own_url
from tabhub.pages.unfit import Unfit


class Again:
    """The checks of a registration, for rows."""

    def __init__(self, limits: Callable[[], Limits]) -> None:
        self._limits = limits

    @property
    def most_tools(self) -> int:
        return self._limits().tools_per_tab

    def url(self, domain: str, origin: str, url: str) -> str:
        """The address; ValueError if the domain is not the origin's."""
        if domain_of(origin) != domain:
            raise Unfit(f"{domain!r} is not the domain of {origin!r}"[:300])
        return own_url(url, origin)

    def tool(self, tool: Published) -> Published:
        """The tool as it may be; ValueError if it may not."""
        told = {
            "name": tool.name,
            "description": tool.description,
            "title": tool.title,
            "inputSchema": Raw(tool.schema),
            "annotations": Raw(tool.annotations),
            "_meta": {CACHE: tool.asked, FORM: tool.patient},
        }
        return checked(Raw(msgspec.json.encode(told)), "worker", self._limits(), keeps=tool.cached)
