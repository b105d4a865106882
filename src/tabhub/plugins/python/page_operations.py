"""What a plugin in Python does in its page: each operation is checked here, then sent to the tab.

The process of the plugin is not trusted with any check. An operation runs only while the plugin
may run, the tab shows a page of it, and the caller may use it on that page's site.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

import msgspec
from msgspec import Struct, field

from tabhub.browser.link.browsers import Browsers
from tabhub.browser.link.pending import Pending
from tabhub.calls.call import Call
from tabhub.calls.marks import quoted
from tabhub.calls.ports import MayEnter
from tabhub.errors import Forbidden, InvalidArguments, NotFound, Refused
from tabhub.hub.tabs import Tab, Tabs
from tabhub.hub.texts import one_line
from tabhub.permissions.sites import OPAQUE, is_walled, site_of
from tabhub.plugins.active import ActivePlugin, ActivePlugins
from tabhub.plugins.plugin_logs import PluginLogs
from tabhub.plugins.url_patterns import matches_any
from tabhub.rate_limit import RateLimit
from tabhub.wire.commands import plugin_commands as commands
from tabhub.wire.commands.command import Shape
from tabhub.wire.link import LinkStruct, TabState
from tabhub.wire.plugins import LogLevel, PluginLogEntry

Json = dict[str, Any]
Decide = Callable[[Call, str], Awaitable[None]]
"""Decides about a running call for another site; raises if it is not allowed there."""

MOST_PROGRESS = 20
"""Reports of progress in a second."""
LONGEST_WAIT_MS = 300_000.0
ANSWER_MARGIN_SECONDS = 5.0
PROBE_MS = 5000
LONGEST_ADDRESS = 100_000
READING = frozenset(
    {"plugin.fetchRead", "plugin.fetchClose", "plugin.has", "plugin.waitFor", "cookies.get"}
)
"""Commands that change nothing in the page or at its server."""


class Address(LinkStruct):
    """Where to go."""

    url: str


class Expression(LinkStruct):
    """What to evaluate."""

    expression: str
    args: list[Any] = field(default_factory=list)


class Script(LinkStruct):
    """Which script to run."""

    script: str
    args: list[Any] = field(default_factory=list)


class LogEntry(LinkStruct):
    """What the plugin logs."""

    message: str
    level: LogLevel = "info"


class CallProgress(LinkStruct):
    """How far a call has come."""

    progress: float
    total: float | None = None
    message: str | None = None


class PageServices(Struct):
    """What the operations of all calls need."""

    browsers: Browsers
    tabs: Tabs
    plugins: ActivePlugins
    logs: PluginLogs
    decide: Decide


class PageOperations:
    """The operations of one call, or of one check whether the plugin is ready, in one tab."""

    def __init__(
        self, services: PageServices, plugin: ActivePlugin, tab: Tab, call: Call | None
    ) -> None:
        self._services = services
        self._plugin = plugin
        self._tab_id = tab.id
        self._call = call
        self._frames: dict[str, MayEnter] = (
            {site_of(tab.url): None} if call is None else {call.site: call.may_enter}
        )
        """The sites for which the call is allowed, and the frames that it may enter there."""
        self._deciding = asyncio.Lock()
        self._streams: dict[str, Tab] = {}
        self._progress = RateLimit(MOST_PROGRESS, 1.0, asyncio.get_running_loop().time)
        self._reports: set[asyncio.Task[None]] = set()
        self.may_have_changed = False
        """Whether the page, or its server, may have received something that changes it."""

    @property
    def may_run(self) -> bool:
        now = self._services.plugins.find(self._plugin.name)
        return now is not None and now.closed is None

    async def operate(self, operation: str, params: Mapping[str, Any]) -> Any:
        run = self._OPERATIONS.get(operation)
        if run is None:
            raise InvalidArguments(f"There is no operation {operation[:100]!r}.")
        tab = await self._tab()
        return await run(self, tab, params)

    def notice(self, operation: str, params: Mapping[str, Any]) -> None:
        if operation == "log":
            self._log(_converted(params, LogEntry))
        elif operation == "progress" and self._call is not None and not self._progress.admit():
            self._report(self._call, _converted(params, CallProgress))

    def close(self) -> None:
        """The call has ended: close the streams that it left open."""
        for stream, tab in self._streams.items():
            self._close_stream(stream, tab)
        self._streams.clear()

    def _close_stream(self, stream: str, tab: Tab) -> None:
        browsers = self._services.browsers
        browsers.dispatch_in_background(tab, "plugin.fetchClose", {"stream": stream})

    # Checks.

    async def _tab(self) -> Tab:
        """The tab as it is now; raises if the plugin may not act on the page in it."""
        plugin = self._plugin
        tab = self._services.tabs.find(self._tab_id)
        if tab is None:
            raise NotFound(f"Tab {self._tab_id} has been closed.", "tab_not_found")
        if not self.may_run:
            raise Forbidden(f"{plugin.name} may not run any longer.", "permission_off")
        if not self._is_own(tab.url):
            raise _away(f"Tab {tab.id} shows a page that {plugin.name} is not for.")
        await self._require_allowed(site_of(tab.url))
        return tab

    def _allowed(self) -> list[str]:
        """Patterns of the addresses that the plugin may use."""
        code = self._plugin.package.python
        return [*self._plugin.code.url_patterns, *(() if code is None else code.hosts)]

    def _is_own(self, url: str) -> bool:
        exclude = tuple(self._plugin.code.exclude_patterns)
        return matches_any(tuple(self._allowed()), url, exclude)

    async def _require_allowed(self, site: str) -> None:
        """Decide again about the call if it is not yet allowed for this site."""
        async with self._deciding:
            if site in self._frames:
                return
            if self._call is None:
                raise _away("A check whether the plugin is ready stays on the site of its page.")
            await self._services.decide(self._call, site)
            self._frames[site] = self._call.may_enter

    def _absolute(self, tab: Tab, given: str) -> str:
        """An address of the plugin, which may be relative to the page's."""
        url = joined(tab.url, given)
        if url is None or not matches_any(tuple(self._allowed()), url):
            raise Forbidden(
                f"{self._plugin.name} may use only addresses of its match and hosts, not "
                f"{one_line(given)!r}.",
                data={"allowed": self._allowed()},
            )
        if not self._is_own(url):
            raise Forbidden(f"{self._plugin.name} excludes {one_line(url)!r}.")
        if self._is_walled(url):
            raise Forbidden(f"The rules do not allow this on {site_of(url)}.")
        return url

    async def _require_arrival(self, url: str) -> None:
        """Refuse the response of a redirect to where the request itself could not have gone."""
        if self._is_walled(url):
            # Where it led is the walled site's to know.
            raise Forbidden("The request led to a site where the rules do not allow this.")
        if not self._is_own(url):
            raise Forbidden(f"The request led to an address that {self._plugin.name} excludes.")
        await self._require_allowed(site_of(url))

    def _is_walled(self, url: str) -> bool:
        return self._call is not None and is_walled(url, self._call.may_tell)

    # Sending.

    async def _send(self, tab: Tab, command: str, input: Json) -> Any:
        """Run a command on the page's site; if the tab has just gone to another, decide again."""
        is_reading = _is_reading(command, input)
        if self._call is None and not is_reading and not _is_safe_request(command, input):
            raise Forbidden("A check whether the plugin is ready may only read.")
        self.may_have_changed = self.may_have_changed or not is_reading
        try:
            return await self._dispatch(tab, command, input)
        except Refused as refused:
            if refused.reason != "tab_url_mismatch":
                raise
            now = await self._tab()
            if site_of(now.url) == site_of(tab.url):
                raise _away(refused.message) from None
        return await self._dispatch(now, command, input)

    async def _dispatch(self, tab: Tab, command: str, input: Json) -> Any:
        site = site_of(tab.url)
        pending = Pending(site, self._frames[site])
        return await self._services.browsers.in_tab(tab, command, input, _unheard, pending)

    def _wait_ms(self) -> float:
        seconds = 0.0 if self._call is None else self._call.seconds
        return max(seconds - ANSWER_MARGIN_SECONDS, seconds / 2) * 1000 or PROBE_MS

    # Operations.

    async def _fetch(self, tab: Tab, params: Mapping[str, Any]) -> Any:
        url = self._absolute(tab, _converted(params, Address).url)
        await self._require_allowed(site_of(url))
        given = {**params, "url": url, "allowed": self._allowed()}
        # While a person was asked about the site, the plugin may have been turned off.
        tab = await self._tab()
        result = await self._send(tab, "plugin.fetch", _input(given, commands.PluginFetch))
        stream = result.get("stream")
        try:
            await self._require_arrival(result["url"])
        except BaseException:
            if stream is not None:
                self._close_stream(stream, tab)
            raise
        if stream is not None:
            self._streams[stream] = tab
        return result

    async def _fetch_read(self, tab: Tab, params: Mapping[str, Any]) -> Any:
        stream = self._stream(params)
        piece = await self._send(tab, "plugin.fetchRead", {"stream": stream})
        if piece["done"]:
            self._streams.pop(stream, None)
        return piece

    async def _fetch_close(self, tab: Tab, params: Mapping[str, Any]) -> Any:
        stream = self._stream(params)
        del self._streams[stream]
        return await self._send(tab, "plugin.fetchClose", {"stream": stream})

    def _stream(self, params: Mapping[str, Any]) -> str:
        stream: str = _converted(params, commands.PluginStream).stream
        if stream not in self._streams:
            raise NotFound("There is no such stream any more.")
        return stream

    async def _has(self, tab: Tab, params: Mapping[str, Any]) -> Any:
        return await self._send(tab, "plugin.has", _input(params, commands.PluginSelector))

    async def _wait_for(self, tab: Tab, params: Mapping[str, Any]) -> Any:
        input = _input(params, commands.PluginWait)
        input["timeoutMs"] = min(input.get("timeoutMs", self._wait_ms()), LONGEST_WAIT_MS)
        if self._call is not None:
            await self._call.allow(input["timeoutMs"] / 1000, ANSWER_MARGIN_SECONDS)
        return await self._send(tab, "plugin.waitFor", input)

    async def _storage(self, tab: Tab, params: Mapping[str, Any]) -> Any:
        return await self._send(tab, "plugin.storage", _input(params, commands.PluginStorage))

    async def _cookies(self, tab: Tab, params: Mapping[str, Any]) -> Any:
        code = self._plugin.package.python
        if code is None or not code.cookies:
            raise Forbidden(f"{self._plugin.name} does not declare cookies = True.")
        found = await self._send(tab, "cookies.get", {"url": tab.url})
        return {"cookies": [_cookie(cookie) for cookie in found["cookies"]]}

    async def _evaluate(self, tab: Tab, params: Mapping[str, Any]) -> Any:
        given = _converted(params, Expression)
        args = msgspec.json.encode(given.args).decode()
        code = (
            f"((value, args) => typeof value === 'function' ? value(...args) : value)"
            f"((\n{given.expression}\n), {args})"
        )
        output = await self._send(
            tab, "page.evaluate", {"code": code, "timeoutMs": self._wait_ms()}
        )
        thrown = output.get("exception")
        if thrown is not None:
            raise Refused(f"The page threw: {thrown['message']}", "script_error")
        return {"value": output.get("value")}

    async def _run(self, tab: Tab, params: Mapping[str, Any]) -> Any:
        given, package = _converted(params, Script), self._plugin.package
        if package.python is None or given.script not in package.python.scripts:
            raise Forbidden(f"{package.name} does not declare the script {given.script[:100]!r}.")
        digest = package.digests[given.script]
        input = {"plugin": package.name, "script": digest, "args": given.args}
        return await self._send(tab, "plugin.run", input)

    async def _open(self, tab: Tab, params: Mapping[str, Any]) -> Any:
        if self._call is None:
            raise Forbidden("A check whether the plugin is ready cannot leave the page.")
        url = self._absolute(tab, _converted(params, Address).url)
        await self._require_allowed(site_of(url))
        tab = await self._tab()
        browsers = self._services.browsers

        def learn(output: Json) -> None:
            browsers.moved(tab.browser, msgspec.convert(output, TabState))

        input = {"url": url, "timeoutMs": self._wait_ms()}
        self.may_have_changed = True
        await browsers.in_tab(tab, "tabs.navigate", input, _unheard, Pending(learn=learn))
        # A redirect may have led to another site, where the plugin may do nothing.
        return await self._info(await self._tab(), {})

    async def _info(self, tab: Tab, params: Mapping[str, Any]) -> Any:
        return {"url": tab.url, "title": tab.title}

    def _log(self, entry: LogEntry) -> None:
        tab = self._services.tabs.find(self._tab_id)
        if tab is not None:
            written = PluginLogEntry(message=entry.message, level=entry.level)
            self._services.logs.take_of_call(self._plugin.name, tab, self._call, written)

    def _report(self, call: Call, given: CallProgress) -> None:
        words = quoted(one_line(given.message)) if given.message else None
        task = asyncio.ensure_future(call.report(given.progress, given.total or None, words))
        self._reports.add(task)
        task.add_done_callback(self._reports.discard)

    _OPERATIONS: ClassVar[
        dict[str, Callable[["PageOperations", Tab, Mapping[str, Any]], Awaitable[Any]]]
    ] = {
        "fetch": _fetch,
        "fetchRead": _fetch_read,
        "fetchClose": _fetch_close,
        "has": _has,
        "waitFor": _wait_for,
        "storage": _storage,
        "cookies": _cookies,
        "evaluate": _evaluate,
        "run": _run,
        "open": _open,
        "info": _info,
    }


def joined(page: str, given: str) -> str | None:
    """The address that a browser would understand; None if it could be understood in two ways."""
    if len(given) > LONGEST_ADDRESS or not given.isprintable() or any(c in given for c in "\\ "):
        return None
    try:
        url = urljoin(page, given)
        parts = urlsplit(url)
    except ValueError:
        return None
    is_plain = parts.scheme in ("http", "https") and "@" not in parts.netloc
    if not is_plain or site_of(url) == OPAQUE:
        return None
    path, query = _ascii(_without_dots(parts.path)), _ascii(parts.query)
    return urlunsplit(parts._replace(path=path, query=query))


def _without_dots(path: str) -> str:
    """A path as a browser resolves it, for which `%2e` is a dot too."""
    kept: list[str] = []
    segments = path.removeprefix("/").split("/")
    plain = [segment.lower().replace("%2e", ".") for segment in segments]
    for segment, dots in zip(segments, plain, strict=True):
        if dots == "..":
            del kept[-1:]
        elif dots != ".":
            kept.append(segment)
    if plain[-1] in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)


def _ascii(text: str) -> str:
    return "".join(c if c.isascii() else quote(c) for c in text)


def _is_reading(command: str, input: Json) -> bool:
    is_stored = command == "plugin.storage" and input["action"] in ("get", "keys")
    return command in READING or is_stored


def _is_safe_request(command: str, input: Json) -> bool:
    """Whether it is a request that by its method changes nothing."""
    return command == "plugin.fetch" and input.get("method", "GET").upper() in ("GET", "HEAD")


def _cookie(cookie: Json) -> Json:
    names = ("name", "value", "domain", "path", "secure", "httpOnly")
    expires = cookie.get("expirationDate")
    return {
        **{name: cookie[name] for name in names},
        **({} if expires is None else {"expires": expires}),
    }


def _converted(params: Mapping[str, Any], kind: type[Any]) -> Any:
    try:
        return msgspec.convert(params, kind)
    except msgspec.ValidationError as error:
        raise InvalidArguments(f"This operation cannot be done: {error}.") from None


def _input(params: Mapping[str, Any], shape: type[Shape]) -> Json:
    """Parameters as the input of a command."""
    built: Json = msgspec.to_builtins(_converted(params, shape))
    return built


def _away(sentence: str) -> Refused:
    return Refused(sentence, "navigated_away")


async def _unheard(progress: float, total: float | None, message: str | None) -> None:
    return None
