"""How a browser tool is declared, and the context that its handler gets."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tabhub.browser.link.browsers import Browsers
from tabhub.browser.link.pending import Learn, Pending, ReadFile
from tabhub.calls.call import Call
from tabhub.calls.ports import MayEnter
from tabhub.calls.results import as_told
from tabhub.calls.time_limit import Progress
from tabhub.errors import Forbidden, Internal, InvalidArguments, TabhubError
from tabhub.hub.hub import Hub
from tabhub.hub.tabs import Tab
from tabhub.hub.tools import Changes, Handler, Tool
from tabhub.permissions.sites import OPAQUE, WALLED, site_of
from tabhub.tools.confirmed_targets import CONFIRMED, confirmed_input, with_found
from tabhub.tools.files import Files, UploadFolders
from tabhub.tools.state import ClosedTabs, Frame, GifRecordings, SavedDownloads, Screenshots
from tabhub.tools.walls import told, told_error
from tabhub.wire.abilities import Ability
from tabhub.wire.commands import COMMANDS

SOURCE = "browser"
CORE = frozenset({"core", "browser"})
BROWSER = frozenset({"browser"})
CLAUDE = frozenset({"claude"})
ANSWER_MARGIN_SECONDS = 5.0
"""A wait in the browser ends this long before the call's time limit, to report its progress."""
HISTORY = ("back", "forward", "reload")
"""What a url argument may say instead of an address."""
BLANK = "about:blank"

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?!\d+(?:[/?#]|$))")
_ALLOWED = ("http", "https", "data", "blob")
_NEVER_HOSTS = ("javascript", "file", "chrome", "about")
_LOCAL = re.compile(r"(localhost|127(\.\d+){3}|\[::1\])(:\d+)?([/?#]|$)", re.IGNORECASE)

Json = dict[str, Any]
Learning = Callable[[Json, Json], Any]
"""Takes the output of a command as the browser sent it, which the hub learns from, and as the
caller may see it."""
CommandListener = Callable[[str, Json, Any], None]
"""Takes a command, its input and its output."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Where in a tab the caller may read, without asking the person."""

    may_enter: MayEnter

    def allows(self, site: str) -> bool:
        """Whether frames of this site may be read."""
        return self.may_enter is None or self.may_enter(site)


ReadingOf = Callable[[Call, Tab], Reading | None]
"""Where the caller may read in a tab now; None if it may not read its page."""


# Parameters that several tools have. The server's instructions describe the first four once, so
# that a list of tools does not repeat it in each of them.
TAB_ID: Json = {"type": "integer"}
REF: Json = {"type": "string"}
SELECTOR: Json = {"type": "string"}
FIND: Json = {"type": "string"}
LONGEST_FIND = 500
"""Characters of a description of elements."""
CONNECTION: Json = {
    "type": "string",
    "description": "Which browser. Default the agents' own, else the latest.",
}
COORDINATE: Json = {
    "type": "array",
    "items": {"type": "number"},
    "minItems": 2,
    "maxItems": 2,
    "description": "[x, y] in the latest screenshot of the tab.",
}
SHORT_COORDINATE: Json = {"type": "array", "description": "[x, y] of the last screenshot."}
FILE_PATH: Json = {
    "type": "string",
    "description": "Save it as this file in your folder instead.",
}


RARE = frozenset({"settle", "button", "clickCount", "modifiers", "repeat", "quality"})
"""Arguments that few calls need."""


def schema(properties: Mapping[str, Any], required: Sequence[str] = ()) -> Json:
    """The schema of an object with these members and no others."""
    needed = {"required": list(required)} if required else {}
    return {
        "type": "object",
        "properties": dict(properties),
        **needed,
        "additionalProperties": False,
    }


@dataclass(slots=True)
class Context:
    """What a handler gets: its call, and the services that browser tools share."""

    call: Call
    arguments: Json
    """The tool's own copy of the call's arguments."""
    browsers: Browsers
    hub: Hub
    files: Files
    folders: UploadFolders
    screenshots: Screenshots
    closed_tabs: ClosedTabs
    saved_downloads: SavedDownloads
    gif_recordings: GifRecordings
    listeners: Sequence[CommandListener] = ()
    """Each is called after every command that ran in a tab."""
    reading: ReadingOf = lambda call, tab: None
    observed: Reading | None = None
    """Where the result of an action may say what has changed; None: nowhere."""
    untrusted: bool = False
    """Whether scripts may act in tabs where the debugger cannot be used."""
    answered: bool = False
    """Whether the browser has answered a command of this call."""

    @property
    def session(self) -> str:
        return self.call.session

    @property
    def report(self) -> Progress:
        """Reports progress to the client."""
        return self.call.report

    @property
    def browser(self) -> str:
        """The browser of a call that names no tab."""
        id: str | None = self.arguments.get("connectionId")
        if id is None:
            return self.browsers.latest().id
        connected = [browser.id for browser in self.browsers.all()]
        if connected and id not in connected:
            raise InvalidArguments(
                f"No browser {id!r} is connected. Connected: {', '.join(connected)}."
            )
        return id

    @property
    def tab(self) -> Tab:
        if self.call.tab is None:
            raise Internal(f"{self.call.tool.name} was called without a tab.")
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
        learn: Learning | None = None,
        read_file: ReadFile | None = None,
    ) -> Any:
        call = self.call
        is_confirmed = bool(call.confirmed) and command in CONFIRMED
        if is_confirmed:
            input = confirmed_input(input, call.confirmed)
        # A navigation was decided by its destination; closing a tab does not depend on its page.
        is_in_page = not command.startswith("tabs.") and call.tool.address_of is None
        if is_in_page:
            pending = Pending(
                site_of(self.tab.url),
                call.may_enter,
                may_read=None if self.observed is None else self.observed.allows,
                learn=self._learner(command, learn),
                read_file=read_file,
                untrusted=self.untrusted,
            )
        else:
            pending = Pending(learn=self._learner(command, learn))
        output = await self.in_other_tab(self.tab, command, input, pending)
        if is_confirmed:
            output = with_found(output, call.confirmed)
        for listener in self.listeners:
            listener(command, input, output)
        return output

    async def in_other_tab(self, tab: Tab, command: str, input: Json, pending: Pending) -> Any:
        """Run a command in a tab; its output leaves out what the caller may not see."""
        self.require_ability(command)
        running = self.browsers.in_tab(tab, command, input, self.report, pending)
        return await self.told(command, running)

    async def in_browser(
        self, browser: str, command: str, input: Json, learn: Learning | None = None
    ) -> Any:
        self.require_ability(command)
        # Sites of what such a command finds are asked about as those of frames are.
        pending = Pending(may_enter=self.call.may_tell, learn=self._learner(command, learn))
        running = self.browsers.in_browser(browser, command, input, self.report, pending)
        return await self.told(command, running)

    def _learner(self, command: str, learn: Learning | None) -> Learn | None:
        if learn is None:
            return None
        return lambda output: learn(output, told(command, output, self.call.may_tell))

    async def told(self, command: str, running: Awaitable[Any]) -> Any:
        """The output of a running command, without what the caller may not see; so for errors."""
        try:
            learned = await running
        except TabhubError as error:
            raise told_error(error, self.call.may_tell) from error.__cause__
        self.answered = True
        return self._told_tabs(told(command, learned, self.call.may_tell))

    def _told_tabs(self, learned: Any) -> Any:
        """What was learned from an output, with every tab in it as the tool may see it."""
        if isinstance(learned, Tab):
            return self.redacted(learned)
        if isinstance(learned, tuple | list):
            return type(learned)(map(self._told_tabs, learned))
        return learned

    def require_ability(self, command: str) -> None:
        """Raise if the tool does not declare what the command can do: rules would not apply."""
        ability, call = COMMANDS[command].ability, self.call
        if ability is not None and not call.tool.can(ability, call.arguments):
            raise Internal(f"{call.tool.name} does not declare {ability.name} for {command}.")

    def place_file(self, name: str, suffixes: Sequence[str]) -> Path:
        """Where the call may write a new file."""
        if not self.call.tool.can(Ability.WRITE_FILES, self.call.arguments):
            raise Internal(f"{self.call.tool.name} does not declare that it writes files.")
        return self.files.place(name, suffixes)

    def owns(self, tab: Tab) -> bool:
        """Whether the tab belongs to the caller, and is not only shared with it."""
        return self.hub.ownership.owner(tab.id) == self.session

    @staticmethod
    def may_show(url: str) -> bool:
        """Whether a list may include the page with this address, as an output has it."""
        return url != WALLED

    def redacted(self, tab: Tab) -> Tab:
        """The tab as a result may show it: without its address if its site is closed."""
        return as_told(tab, self.call.may_tell)

    @property
    def frame(self) -> Frame:
        """What the coordinates of the call refer to: the tab's latest screenshot."""
        return self.screenshots.required_frame(self.session, self.tab.id)

    def element(self, *more: str) -> Json:
        """The element that the call names: by ref, selector or another way, exactly one of them."""
        ways = ("ref", "selector", *more)
        named = {k: v for k, v in self.arguments.items() if k in ways}
        if len(named) != 1:
            raise InvalidArguments(f"{self.call.tool.name}: give one of {', '.join(ways)}.")
        if "find" in named:
            self.require_words(named["find"])
        return named

    def require_words(self, words: str) -> None:
        """Raise unless the words can name an element."""
        if not words.strip() or len(words) > LONGEST_FIND:
            raise InvalidArguments(
                f"{self.call.tool.name}: find takes words, at most {LONGEST_FIND} characters of "
                "them. Nothing was done."
            )

    def require_target_words(self, words: str) -> None:
        """The same for an action: what they match is told to the caller, who must be a reader."""
        self.require_words(words)
        self.observed = self.reading(self.call, self.tab)
        if self.observed is None:
            raise Forbidden(
                f"{self.call.tool.name}: find would tell what is on this page, which you may not "
                "read. Nothing was done. Give a selector.",
                "permission_off",
            )


def writing(arguments: Mapping[str, Any], argument: str = "filePath") -> tuple[Ability, ...]:
    """The ability to write a file, if the arguments ask for one."""
    return () if arguments.get(argument) is None else (Ability.WRITE_FILES,)


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
    unlisted: frozenset[str] = frozenset(),
    **fields: Any,
) -> Tool:
    """Declare a tool; `fields` are the other fields of `Tool`.

    A destructive tool may destroy something outside the agent's own tabs, so a person is asked
    first. A tool of the source "browser" needs a handler, which gets a `Context`.
    """
    members = {**(properties or {}), **({"tabId": TAB_ID} if needs_tab else {})}
    # A tool that can only clear tabhub's own records still counts as reading.
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
        unlisted=(RARE | unlisted) & members.keys(),
        **fields,
    )


def _annotations(read_only: bool, destructive: bool, idempotent: bool) -> Json:
    # A hint that is not certain is left out: nobody can know in advance what a click destroys.
    hints: Json = {"readOnlyHint": read_only}
    if idempotent:
        hints["idempotentHint"] = True
    if destructive:
        hints["destructiveHint"] = True
    return hints


def address(given: str) -> str:
    """Complete an address: https by default, http for this machine. Refuses browser pages."""
    url = given.strip()
    if url == BLANK:
        return url
    scheme = _SCHEME.match(url)
    name = scheme[1].lower() if scheme else url.partition(":")[0].lower()
    if (scheme and name not in _ALLOWED) or name in _NEVER_HOSTS:
        raise InvalidArguments(f"tabhub does not open {name}: addresses.")
    if not scheme:
        if not url or any(character.isspace() for character in url):
            raise InvalidArguments(f"{given!r} is not an address.")
        url = f"http://{url}" if _LOCAL.match(url) else f"https://{url}"
    # Rules are decided by this site, so it must be the one that the browser goes to.
    if url[:4].lower() == "http" and site_of(url) == OPAQUE:
        raise InvalidArguments(f"{given!r} names no host that tabhub understands.")
    return url
