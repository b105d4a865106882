"""Recording of the events that reach `Pages`, for tests of a single transport."""

import json
from typing import Any

from msgspec import Raw
from msgspec.structs import astuple

from tabhub.page_tools.core.storage import PageRef
from tabhub.page_tools.registrations import Pages
from tabhub.wire.pages import Execute, Outcome
from tests.support.eventually import eventually

NAMES = ("register", "update", "gone", "looked_at", "hidden", "connect", "disconnect")


class PageEvents:
    """Records each event and passes it on."""

    def __init__(self, pages: Pages) -> None:
        self.events: list[tuple[Any, ...]] = []
        self.lines: dict[str, Any] = {}
        for name in NAMES:
            self._tap(pages, name)

    def _tap(self, pages: Pages, name: str) -> None:
        handler = getattr(pages, name)

        def record(*arguments: Any, **options: Any) -> None:
            fields = astuple(arguments[0]) if name == "register" else arguments
            self.events.append((name, *map(_plain, fields)))
            if name == "connect":
                self.lines[arguments[0]] = arguments[1]
            handler(*arguments, **options)

        setattr(pages, name, record)

    def of(self, name: str) -> list[tuple[Any, ...]]:
        return [event[1:] for event in self.events if event[0] == name]

    @property
    def tabs(self) -> dict[str, list[str]]:
        """The names of the tools that each tab has."""
        found: dict[str, list[str]] = {}
        refs: dict[str, PageRef] = {}
        for name, *fields in self.events:
            if name in ("register", "update"):
                refs[fields[0].tab] = fields[0]
                tools = fields[4] if name == "register" else fields[1]
                found[fields[0].tab] = [tool["name"] for tool in tools]
            elif name == "gone":
                found.pop(fields[0].tab, None)
            elif name == "disconnect":
                for tab in [tab for tab, ref in refs.items() if ref.transport == fields[0]]:
                    found.pop(tab, None)
        return found

    @property
    def active(self) -> str | None:
        """The tab that was active last and has not been hidden since."""
        found: str | None = None
        for name, *fields in self.events:
            if name == "looked_at":
                found = fields[0]
            elif name == "hidden" and fields[0] == found:
                found = None
        return found

    async def until(self, name: str, count: int = 1) -> None:
        await eventually(lambda: len(self.of(name)) >= count)

    def ref(self, tab: str) -> PageRef:
        found = [ref for ref, *_ in self.of("register") if ref.tab == tab]
        last: PageRef = found[-1]
        return last

    async def call(self, tab: str, tool: str, progress: Any = None, **arguments: Any) -> Outcome:
        """Run a tool in one tab, as the hub would."""
        ref = self.ref(tab)
        line = self.lines[ref.transport]
        message = Execute(tool_name=tool, args=arguments)
        outcome: Outcome = await line.send_request(ref, message, progress or _ignore)
        return outcome


def _plain(field: Any) -> Any:
    if isinstance(field, list):
        return [json.loads(bytes(item)) if isinstance(item, Raw) else item for item in field]
    return field


async def _ignore(progress: float, total: float | None, message: str | None) -> None:
    return None
