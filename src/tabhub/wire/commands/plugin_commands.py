"""Commands by which Python plugins act on a page: requests, selectors, storage, scripts."""

from typing import Any, Literal

import msgspec
from msgspec import UNSET

from tabhub.wire.abilities import Ability
from tabhub.wire.commands.command import Command, Maybe, NoOutput, Shape, SourceAddress


class PluginFetch(Shape, kw_only=True):
    """A request with the page's session."""

    url: str
    """Absolute, or relative to the page."""
    allowed: list[str]
    """Match patterns; the address must match one, also after redirects."""
    method: Maybe[str] = UNSET
    """Default GET."""
    headers: Maybe[dict[str, str]] = UNSET
    body: Maybe[str] = UNSET
    body_base64: Maybe[str] = UNSET
    """In the place of `body`: bytes."""
    stream: Maybe[bool] = UNSET
    """Whether `plugin.fetchRead` gets the body."""


class PluginResponse(Shape, kw_only=True):
    """The response with its body. `url` is the address after redirects."""

    status: int
    url: SourceAddress
    headers: dict[str, str]
    body_base64: str


class PluginResponseStream(Shape, kw_only=True):
    """The response without its body."""

    status: int
    url: SourceAddress
    headers: dict[str, str]
    stream: str


class PluginStream(Shape):
    """A stream of `plugin.fetch`."""

    stream: str


class PluginStreamPiece(Shape):
    """The next bytes, at most 256 KB; empty only at the end."""

    body_base64: str
    done: bool


class PluginSelector(Shape):
    """A CSS selector."""

    selector: str


class PluginWait(Shape, kw_only=True):
    """What to wait for."""

    selector: str
    gone: Maybe[bool] = UNSET
    """Wait until nothing matches."""
    timeout_ms: Maybe[float] = UNSET
    """Default 10,000."""


class PluginFound(Shape):
    """Whether something matches now; so after waiting with `gone`, false is what was wanted."""

    found: bool


class PluginStorage(Shape, kw_only=True):
    """An action on the page's local or session storage."""

    area: Literal["local", "session"]
    action: Literal["get", "set", "remove", "keys"]
    key: Maybe[str] = UNSET
    value: Maybe[str] = UNSET


class PluginStored(Shape):
    """The value of the key after the action; null if there is none."""

    value: str | None


class PluginStorageKeys(Shape):
    """All keys."""

    keys: list[str]


class PluginRun(Shape, kw_only=True):
    """A script of a plugin."""

    plugin: str
    script: str
    """The digest of its bytes, SHA-256 in hex; its file is `adapters/PLUGIN-DIGEST.js`."""
    args: list[Any] = msgspec.field(default_factory=list)


class PluginRan(Shape):
    """What the script has returned."""

    value: Any


COMMANDS = (
    Command(
        "plugin.fetch",
        "Sends a request from the page, with its session. The page can neither see nor change it. "
        "An address that is not allowed is refused before the request (`permission_denied`) or, "
        "after redirects, before the body is read (`request_failed`). A body that the link cannot "
        "carry is `too_large`.",
        PluginFetch,
        (PluginResponse, PluginResponseStream),
    ),
    Command(
        "plugin.fetchRead",
        "Waits for the next bytes of a stream. It is closed at its end, when the page goes away, "
        "and if nobody reads for 60 s; a tab has 16 at most.",
        PluginStream,
        PluginStreamPiece,
    ),
    Command("plugin.fetchClose", "Closes a stream.", PluginStream, NoOutput),
    Command(
        "plugin.has",
        "Says whether something in the main frame matches, shadow roots included.",
        PluginSelector,
        PluginFound,
    ),
    Command(
        "plugin.waitFor", "Waits until something matches, or nothing.", PluginWait, PluginFound
    ),
    Command(
        "plugin.storage",
        "Reads or changes the page's storage; `csp_blocked` where the page has none.",
        PluginStorage,
        (PluginStored, PluginStorageKeys),
    ),
    Command(
        "plugin.run",
        "Runs a script of a plugin in the page's own world, which can change what it returns.",
        PluginRun,
        PluginRan,
        ability=Ability.RUN_CODE,
    ),
)
