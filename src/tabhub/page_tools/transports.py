"""The transports that reach pages, and how long their pages stay after one disconnects.

A transport is connected, disconnected or reconnected; each step starts one timer and ends the
timer before it.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec

from tabhub.calls.time_limit import Progress
from tabhub.page_tools.core.storage import PageRef
from tabhub.page_tools.intake import Registration
from tabhub.wire.pages import Execute, Outcome

GONE_SECONDS = 60.0
"""How long the pages of a disconnected transport stay, in case it reconnects."""
BACK_SECONDS = 5.0
"""How long pages have to register again after their transport has reconnected."""


class ToolsUpdate(msgspec.Struct, frozen=True):
    """The new list of tools of a page that has registered."""

    page: PageRef
    tools: list[msgspec.Raw]
    extensions: dict[str, Any] | None = None


MessageListener = Callable[[Registration | ToolsUpdate], None]
DisconnectListener = Callable[[PageRef], None]


class PageTransport(Protocol):
    """A way to reach pages, with the four verbs of MCP-B's transport between tabs and hub."""

    async def send_request(self, page: PageRef, message: Execute, progress: Progress) -> Outcome:
        """Send once; an error without effect means that the page has not received the call."""

    def on_message(self, listener: MessageListener) -> None:
        """Call the listener with what pages send."""

    def on_disconnect(self, listener: DisconnectListener) -> None:
        """Call the listener with each page that has gone."""

    def disconnect(self, page: PageRef) -> None:
        """End the connection with a page."""


class PageListeners:
    """What all transports have in common: who listens to their pages."""

    def __init__(self) -> None:
        self._message_listeners: list[MessageListener] = []
        self._disconnect_listeners: list[DisconnectListener] = []

    def on_message(self, listener: MessageListener) -> None:
        self._message_listeners.append(listener)

    def on_disconnect(self, listener: DisconnectListener) -> None:
        self._disconnect_listeners.append(listener)

    def disconnect(self, page: PageRef) -> None:
        for listener in self._disconnect_listeners:
            listener(page)

    def received(self, message: Registration | ToolsUpdate) -> None:
        """Pass on what a page has sent."""
        for listener in self._message_listeners:
            listener(message)


Expired = Callable[[str, set[PageRef]], None]
"""Takes the name of a transport, and its pages that have not registered again in time."""


class Timer(Protocol):
    def cancel(self) -> None: ...


Later = Callable[[float, Callable[[], None]], Timer]
"""Takes seconds, and what to call after them."""


def later(seconds: float, work: Callable[[], None]) -> Timer:
    return asyncio.get_running_loop().call_later(seconds, work)


@dataclass
class _State:
    transport: PageTransport | None = None
    """None while it is disconnected."""
    awaited: set[PageRef] = field(default_factory=set)
    """Pages that registered before the transport disconnected, and not again since."""
    timer: Timer | None = None


class PageTransports:
    """The transports by name; `expired` gets the pages whose time is over."""

    def __init__(self, expired: Expired, later: Later) -> None:
        self._expired = expired
        self._later = later
        self._states: dict[str, _State] = {}

    def find(self, name: str) -> PageTransport | None:
        state = self._states.get(name)
        return None if state is None else state.transport

    def open(self, name: str, transport: PageTransport) -> None:
        """Add a transport that never reconnects; use `close` when it disconnects."""
        self._states[name] = _State(transport)

    def close(self, name: str) -> bool:
        """Forget a transport; returns whether it was known."""
        return self._states.pop(name, None) is not None

    def disconnected(self, name: str, pages: set[PageRef]) -> None:
        """A transport may reconnect: until then its pages stay but cannot be reached."""
        state = self._states.get(name)
        if state is not None and state.transport is not None:
            state.transport = None
            state.awaited |= pages
            self._wait(name, state, GONE_SECONDS)

    def connected(self, name: str, transport: PageTransport, pages: set[PageRef]) -> None:
        """A transport has connected or reconnected; `pages` are those already registered."""
        state = self._states.setdefault(name, _State())
        state.transport = transport
        state.awaited |= pages
        self._wait(name, state, BACK_SECONDS)

    def registered(self, page: PageRef) -> None:
        """A page has registered again."""
        state = self._states.get(page.transport)
        if state is not None:
            state.awaited.discard(page)

    def _wait(self, name: str, state: _State, seconds: float) -> None:
        if state.timer is not None:
            state.timer.cancel()
        state.timer = self._later(seconds, lambda: self._end(name, state))

    def _end(self, name: str, state: _State) -> None:
        pages, state.awaited, state.timer = state.awaited, set(), None
        if state.transport is None:
            self._states.pop(name, None)
        self._expired(name, pages)
