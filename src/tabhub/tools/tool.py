"""How a browser tool is declared, and the narrow context that its handler gets."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tabhub.browser.link.browsers import Browsers
from tabhub.browser.link.pending import Learn, Pending, ReadFile
from tabhub.calls.call import Call
from tabhub.calls.results import as_told
from tabhub.calls.time_limit import Progress
from tabhub.errors import Internal, InvalidArguments
from tabhub.hub.hub import Hub
from tabhub.hub.tabs import Tab
from tabhub.hub.tools import Changes, Handler, Tool
from tabhub.permissions.sites import OPAQUE, site_of
from tabhub.tools.files import Files, UploadFolders
from tabhub.tools.state import Closings, Recordings, Shots

SOURCE = "browser"
CORE = frozenset({"core", "browser"})
BROWSER = frozenset({"browser"})
CLAUDE = frozenset({"claude"})
ANSWER_MARGIN_SECONDS = 5.0
"""What waits in the browser gives up this much before the call does, to say how far it came."""

Json = dict[str, Any]
Seen = Callable[[str, Json, Any], None]
"""Takes a command, its input and what came of it."""

# Said once, in the server's instructions: every list of tools would repeat it in each tool.
TAB_ID: Json = {"type": "integer"}
REF: Json = {"type": "string"}
SELECTOR: Json = {"type": "string"}
CONNECTION: Json = {
    "type": "string",
    "description": "Which browser. Default the latest.",
}


def schema(properties: Mapping[str, Any], required: Sequence[str] = ()) -> Json:
    """The schema of an object that has these members and no others."""
    needed = {"required": list(required)} if required else {}
    return {
        "type": "object",
        "properties": dict(properties),
        **needed,
        "additionalProperties": False,
    }


@dataclass(slots=True)
class Context:
    """What a tool may use: a narrow view of its call, and the services of the browser tools."""

    call: Call
    arguments: Json
    """The tool's own copy of the call's arguments."""
    browsers: Browsers
    hub: Hub
    files: Files
    folders: UploadFolders
    shots: Shots
    closings: Closings
    recordings: Recordings
    seen: Sequence[Seen] = ()
    """Each is called with every command that was carried out in a tab."""
    untrusted: bool = False
    """Whether a script may act where the debugger cannot be used."""
    answered: bool = False
    """Whether the browser has answered a command of this call."""

    @property
    def session(self) -> str:
        return self.call.session

    @property
    def report(self) -> Progress:
        """Tells the client how far the call has come."""
        return self.call.report

    @property
    def browser(self) -> str:
        """The browser that a call means which names no tab."""
        wanted: str | None = self.arguments.get("connectionId")
        if wanted is None:
            return self.browsers.latest().id
        known = [browser.id for browser in self.browsers.all()]
        if known and wanted not in known:
            there = ", ".join(known)
            raise InvalidArguments(f"No browser {wanted!r} is connected; there is {there}.")
        return wanted

    @property
    def tab(self) -> Tab:
        if self.call.tab is None:
            raise Internal(f"{self.call.tool.name} was given no tab.")
        return self.call.tab

    @property
    def wait_ms(self) -> int:
        """How long the browser may wait for a page."""
        seconds = self.call.seconds
        return int(max(seconds - ANSWER_MARGIN_SECONDS, seconds / 2) * 1000)

    async def in_tab(
        self,
        command: str,
        input: Json,
        learn: Learn | None = None,
        read_file: ReadFile | None = None,
    ) -> Any:
        call = self.call
        # What leads elsewhere was decided by where it leads; a tab closes wherever it is.
        is_in_page = not command.startswith("tabs.") and call.tool.address_of is None
        if is_in_page:
            pending = Pending(
                site_of(self.tab.url),
                call.may_enter,
                learn=learn,
                read_file=read_file,
                untrusted=self.untrusted,
            )
        else:
            pending = Pending(learn=learn)
        output = await self.browsers.in_tab(self.tab, command, input, call.report, pending)
        self.answered = True
        for seen in self.seen:
            seen(command, input, output)
        return output

    async def in_browser(
        self, browser: str, command: str, input: Json, learn: Learn | None = None
    ) -> Any:
        pending = Pending(learn=learn)
        output = await self.browsers.in_browser(browser, command, input, self.report, pending)
        self.answered = True
        return output

    def may_tell(self, url: str) -> bool:
        """Whether a result may tell of a page, where it tells of several."""
        return self.call.may_tell is None or self.call.may_tell(site_of(url))

    def as_told(self, tab: Tab) -> Tab:
        """A tab as a result may tell of it."""
        return as_told(tab, self.call.may_tell)

    def element(self) -> Json:
        """The element that a call names, by ref or by selector: exactly one of them."""
        named = {k: v for k, v in self.arguments.items() if k in ("ref", "selector")}
        if len(named) != 1:
            raise InvalidArguments(f"{self.call.tool.name}: give ref or selector, one of the two.")
        return named


def browser_tool(
    *,
    properties: Mapping[str, Any] | None = None,
    required: Sequence[str] = (),
    read_only: bool = False,
    destructive: bool = False,
    idempotent: bool = False,
    needs_tab: bool = True,
    changes_when: Changes | None = None,
    source: str = SOURCE,
    toolsets: frozenset[str] = CORE,
    handler: Handler | None = None,
    **fields: Any,
) -> Tool:
    """A tool of the family "browser"; `fields` are the other fields of `Tool`.

    A destructive tool may destroy what matters outside the agent's own tabs: then a person is
    asked. A tool of the source "browser" needs a handler, which gets a `Context`.
    """
    members = {**(properties or {}), **({"tabId": TAB_ID} if needs_tab else {})}
    # Forgetting what tabhub itself has recorded changes nothing that belongs to anybody.
    is_reading = read_only and changes_when in (None, "clear")
    return Tool(
        input_schema=schema(members, required),
        annotations=_annotations(is_reading, destructive, idempotent),
        needs_tab=needs_tab,
        changes_when=changes_when,
        source=source,
        toolsets=toolsets,
        handler=handler,
        plugin="browser",
        **fields,
    )


def _annotations(read_only: bool, destructive: bool, idempotent: bool) -> Json:
    # What a click destroys, nobody knows beforehand: a hint that is not certain is left out.
    hints: Json = {"readOnlyHint": read_only}
    if idempotent:
        hints["idempotentHint"] = True
    if destructive:
        hints["destructiveHint"] = True
    return hints


HISTORY = ("back", "forward", "reload")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?!\d+(?:[/?#]|$))")
_ALLOWED = ("http", "https", "data", "blob")
_NEVER_HOSTS = ("javascript", "file", "chrome", "about")
_LOCAL = re.compile(r"(localhost|127(\.\d+){3}|\[::1\])(:\d+)?([/?#]|$)", re.IGNORECASE)


def address(given: str) -> str:
    """A full address; https is assumed, http for this machine. Browser pages are refused."""
    url = given.strip()
    if url == "about:blank":
        return url
    scheme = _SCHEME.match(url)
    name = scheme[1].lower() if scheme else url.partition(":")[0].lower()
    if (scheme and name not in _ALLOWED) or name in _NEVER_HOSTS:
        raise InvalidArguments(f"tabhub does not open {name}: addresses.")
    if not scheme:
        if not url or any(character.isspace() for character in url):
            raise InvalidArguments(f"{given!r} is not an address.")
        url = f"http://{url}" if _LOCAL.match(url) else f"https://{url}"
    # What is decided about a site must be about the site that the browser goes to.
    if url[:4].lower() == "http" and site_of(url) == OPAQUE:
        raise InvalidArguments(f"{given!r} names no host that tabhub understands.")
    return url
