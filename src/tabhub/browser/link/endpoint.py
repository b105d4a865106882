"""The `/ws` endpoint, where extensions connect after they have proved the secret. Raw ASGI."""

import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Protocol

import msgspec

from tabhub.browser.link.browsers import Browsers
from tabhub.browser.link.connection import LinkConnection
from tabhub.browser.link.pending import development_schemas
from tabhub.config.settings import Settings
from tabhub.errors import ProtocolError
from tabhub.wire import link
from tabhub.wire import link_versions as versions
from tabhub.wire.asgi import Receive, Scope, Send
from tabhub.wire.link import PluginCode
from tabhub.wire.link_versions import End, Mismatch
from tabhub.wire.methods import EXTENSION

log = logging.getLogger(__name__)

UNNAMED = "default"
"""The profile of a client that names none."""
LONGEST_PROFILE = 100


class PageMessages(Protocol):
    """Takes the messages of extensions about the tools of pages."""

    def handle(self, profile: str, method: str, params: msgspec.Raw) -> None: ...

    def joined(self, profile: str) -> None:
        """A profile has a new connection; its pages will register again."""

    def left(self, profile: str) -> None:
        """A profile has no connection any more."""


class PluginMessages(Protocol):
    """Takes the messages of extensions about plugins."""

    greet: Callable[[str], None]
    """Set here: sends `sync.full` to a browser again."""

    def handle(self, profile: str, method: str, params: msgspec.Raw) -> Any:
        """Returns the result of a request."""

    def codes(self) -> list[PluginCode]:
        """The plugins that an extension may run."""

    def left(self, profile: str) -> None:
        """A profile has no connection any more."""


class PanelMessages(Protocol):
    """Takes what a person does in the side panel."""

    def handle(self, profile: str, method: str, params: msgspec.Raw) -> Any:
        """Returns the result of the request."""


class LinkEndpoint:
    """Keeps one connection for each profile, and hands each message to its handler."""

    def __init__(
        self,
        browsers: Browsers,
        panel: PanelMessages,
        pages: PageMessages,
        plugins: PluginMessages,
        max_bytes: int,
        settings: Settings,
    ) -> None:
        self._browsers = browsers
        self._panel = panel
        self._pages = pages
        self._plugins = plugins
        plugins.greet = self.greet_again
        self._max_bytes = max_bytes
        self._settings = settings
        self._page_origins = settings.page_origins
        self._closers: dict[LinkConnection, Callable[[int, str], Awaitable[None]]] = {}

    def take_settings(self) -> None:
        """Send the extensions what has changed for them."""
        origins = self._settings.page_origins
        if origins != self._page_origins:
            self._page_origins = origins
            params = link.PageOrigins(page_origins=origins)
            self._browsers.notify_all("pages.origins", params, remote=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        offered: list[str] = scope["subprotocols"]
        if not offered or offered[0] not in link.SUBPROTOCOLS:
            await send({"type": "websocket.close", "code": 1008, "reason": "not_authenticated"})
            return
        await send({"type": "websocket.accept", "subprotocol": offered[0]})
        await self._attend(_profile(offered), _extension(offered), receive, send)

    async def serve_remote(
        self, profile: str, extension: End, receive: Receive, send: Send
    ) -> None:
        """Serve an extension that is reached through the proxy, until its link ends."""
        await self._attend(profile, extension, receive, send, is_remote=True)

    async def _attend(
        self,
        profile: str,
        extension: End,
        receive: Receive,
        send: Send,
        is_remote: bool = False,
    ) -> None:
        if self._is_refused(profile, extension):
            await self._turn_away(profile, extension, send)
        else:
            await self._serve(profile, extension, receive, send, is_remote)

    def _is_refused(self, profile: str, extension: End) -> bool:
        """Compare versions; a mismatch is logged, and kept for `tabhub status`."""
        found = versions.mismatch(extension)
        # An extension that has refused this server reconnects regularly: that is logged once.
        if self._browsers.mismatch_of(profile) != versions.mismatch(extension, is_refused=True):
            self._note(profile, found)
        return found is not None and found.is_refused

    def _note(self, profile: str, found: Mismatch | None) -> None:
        if self._browsers.mismatched(profile, found) and found is not None:
            log.warning("%s Do: %s", found.says, found.do)

    async def _turn_away(self, profile: str, extension: End, send: Send) -> None:
        """Send our version before closing, so that the extension can say what to update."""
        connection = self._connect(profile, extension, send)
        try:
            await self._greet(connection)
            await self._closers[connection](versions.INCOMPATIBLE, "incompatible")
        finally:
            del self._closers[connection]

    async def _serve(
        self, profile: str, extension: End, receive: Receive, send: Send, is_remote: bool
    ) -> None:
        connection = self._connect(profile, extension, send)
        try:
            await self._welcome(profile, connection, is_remote)
            while (event := await receive())["type"] == "websocket.receive":
                if connection.closed:
                    break
                connection.receive(event.get("text") or event.get("bytes") or b"")
            if event.get("code") == versions.INCOMPATIBLE:
                self._note(profile, versions.mismatch(extension, is_refused=True))
        finally:
            del self._closers[connection]
            if self._browsers.is_current(profile, connection):
                self._pages.left(profile)
                self._plugins.left(profile)
            self._browsers.leave(profile, connection)

    def _connect(self, profile: str, extension: End, send: Send) -> LinkConnection:
        async def send_text(text: str) -> None:
            await send({"type": "websocket.send", "text": text})

        async def close(code: int, reason: str) -> None:
            await send({"type": "websocket.close", "code": code, "reason": reason})

        connection = LinkConnection(
            send_text,
            lambda sender, method, params: self._handle(profile, sender, method, params),
            self._max_bytes,
            extension=extension,
        )
        self._closers[connection] = close
        connection.hang_up = lambda: close(link.CUT, "cut")
        return connection

    def _handle(
        self, profile: str, sender: LinkConnection, method: str, params: msgspec.Raw
    ) -> Any:
        row = EXTENSION.received.get(method)
        if row is not None and row.receiver == "browsers":
            return self._browsers.handle(profile, sender, method, params)
        if not self._browsers.is_current(profile, sender):
            raise ProtocolError("This connection was replaced by a newer one.")
        if row is not None and row.receiver == "pages":
            return self._pages.handle(profile, method, params)
        if row is not None and row.receiver == "plugins":
            return self._plugins.handle(profile, method, params)
        if self._browsers.is_remote(profile):
            # Its person decides there what this server may do, and nothing about this server.
            raise ProtocolError(f"{method[:100]} is not taken from afar.", "method_not_found")
        return self._panel.handle(profile, method, params)

    async def _welcome(self, profile: str, connection: LinkConnection, is_remote: bool) -> None:
        replaced = self._browsers.join(profile, connection, is_remote)
        self._pages.joined(profile)
        if replaced is not None:
            replaced.close()
            with suppress(OSError):
                await self._closers[replaced](link.REPLACED, "replaced")
        await self._greet(connection)

    def greet_again(self, profile: str) -> None:
        """Send the whole list of plugins again, to one browser."""
        self._browsers.get(profile).connection.notify("sync.full", self._greeting())

    async def _greet(self, connection: LinkConnection) -> None:
        await connection.send_notification("sync.full", self._greeting())

    def _greeting(self) -> link.SyncFull:
        recording = self._settings.recording
        return link.SyncFull(
            protocol=versions.SERVER.protocol,
            server=link.ServerInfo(name="tabhub", version=versions.SERVER.version),
            max_bytes=self._max_bytes,
            recording=link.Recording(
                console_entries=recording.console_entries,
                network_entries=recording.network_entries,
            ),
            plugins=self._plugins.codes(),
            page_origins=self._settings.page_origins,
            **development_schemas(),
        )


def _extension(offered: list[str]) -> End:
    """The versions that the extension sends; older extensions send none."""
    return (versions.parse(offered[3]) if len(offered) > 3 else None) or End()


def _profile(offered: list[str]) -> str:
    return offered[2][:LONGEST_PROFILE] if len(offered) > 2 else UNNAMED
