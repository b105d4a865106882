"""What a browser tool is: its data, and a function that gets a narrow context."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tabhub.browser.browsers import Browsers
from tabhub.browser.pending import Learn
from tabhub.calls.ports import Job
from tabhub.errors import Internal, InvalidArguments
from tabhub.hub.tabs import Tab
from tabhub.hub.tools import Tool
from tabhub.wire.mcp.messages import CallResult

SOURCE = "browser"
ANSWER_MARGIN_SECONDS = 2.0
"""What waits in the browser gives up this much before the call does, to say how far it came."""

Json = dict[str, Any]

TAB_ID: Json = {"type": "integer", "description": "Default: this session's current tab."}
REF: Json = {"type": "string", "description": "Element ref from browser_read_page, e.g. ref_12."}
SELECTOR: Json = {
    "type": "string",
    "description": "CSS selector, instead of ref. Reaches into frames and shadow roots.",
}


@dataclass(frozen=True)
class Context:
    """What a tool may use."""

    job: Job
    browsers: Browsers

    @property
    def tab(self) -> Tab:
        if self.job.tab is None:
            raise Internal(f"{self.job.tool.name} was given no tab.")
        return self.job.tab

    @property
    def wait_ms(self) -> int:
        """How long the browser may wait for a page."""
        return int(max(self.job.seconds - ANSWER_MARGIN_SECONDS, 1) * 1000)

    async def in_tab(self, command: str, input: Json, learn: Learn | None = None) -> Any:
        progress = self.job.progress
        return await self.browsers.in_tab(self.tab, command, input, progress, learn)

    async def in_browser(
        self, browser: str, command: str, input: Json, learn: Learn | None = None
    ) -> Any:
        progress = self.job.progress
        return await self.browsers.in_browser(browser, command, input, progress, learn)

    def element(self) -> Json:
        """The element that a call names, by ref or by selector: exactly one of them."""
        named = {k: v for k, v in self.job.arguments.items() if k in ("ref", "selector")}
        if len(named) != 1:
            raise InvalidArguments(f"{self.job.tool.name}: give ref or selector, one of the two.")
        return named


@dataclass(frozen=True)
class BrowserTool:
    """One tool."""

    name: str
    title: str
    description: str
    run: Callable[[Context], Awaitable[CallResult]]
    properties: Mapping[str, Any] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    needs_tab: bool = True
    opens_tab: bool = False

    def entry(self) -> Tool:
        """The tool as the hub lists it."""
        return Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=self._schema(),
            source=SOURCE,
            annotations=self._annotations(),
            needs_tab=self.needs_tab,
            opens_tab=self.opens_tab,
        )

    def _schema(self) -> Json:
        properties = {**self.properties, **({"tabId": TAB_ID} if self.needs_tab else {})}
        schema: Json = {"type": "object", "properties": properties}
        if self.required:
            schema["required"] = list(self.required)
        return {**schema, "additionalProperties": False}

    def _annotations(self) -> Json:
        if self.read_only:
            return {"readOnlyHint": True}
        return {"destructiveHint": self.destructive, "idempotentHint": self.idempotent}
