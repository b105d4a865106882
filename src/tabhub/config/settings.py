"""What a person can set in `config.json`, with the defaults that hold otherwise."""

import os
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec

from tabhub.config.paths import Home
from tabhub.errors import InvalidArguments

_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
_BOUNDS = (("ge", "at least"), ("gt", "above"), ("le", "at most"), ("lt", "below"))
_PLACE = re.compile(r" - at `(?:key in )?\$\.?([^`]*)`$")


def is_section(kind: Any) -> bool:
    """Whether something holds keys of its own."""
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def kind_at(steps: Sequence[str], kind: Any) -> tuple[tuple[str, ...], Any]:
    """The members that a key names below a type, and the type there; None if there is nothing."""
    if not steps:
        return (), kind
    if get_origin(kind) is dict and all(steps):
        # A host has dots of its own.
        return (".".join(steps),), get_args(kind)[1]
    if not is_section(kind):
        return (), None
    for field in msgspec.structs.fields(kind):
        if field.encode_name == steps[0]:
            path, found = kind_at(steps[1:], field.type)
            return (steps[0], *path), found
    return (), None


def described(kind: Any) -> str:
    """What fits a type, so that it can follow "must be"."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _bounded(described(inner[0]), inner[1])
    if origin is Literal:
        return " or ".join(map(str, inner))
    if origin is list:
        return f"a list, each of it {described(inner[0])}"
    if origin is dict:
        return f"an object, each value of it {described(inner[1])}"
    options = [described(one) for one in inner if one is not type(None)]
    return " or ".join(options) if options else _WORDS.get(kind, "an object")


def complaint(error: msgspec.ValidationError, root: Any) -> str:
    """What does not fit in a whole file, without what somebody wrote there."""
    place = _PLACE.search(str(error))
    named = place[1].partition("[")[0].rstrip(".") if place else ""
    _, kind = kind_at(named.split(".") if named else [], root)
    if kind is None:
        return str(error)
    return f"{named or 'the whole of it'} must be {described(kind)}"


def _bounded(words: str, meta: msgspec.Meta) -> str:
    if meta.description is not None:
        return meta.description
    bounds = ((word, getattr(meta, name)) for name, word in _BOUNDS)
    told = [f"{word} {bound}" for word, bound in bounds if bound is not None]
    return f"{words} {' and '.join(told)}" if told else words


DEFAULT_PORT = 9515
TOKEN = "TABHUB_TOKEN"
PORT = "TABHUB_PORT"
SSE_TOKEN = "CLAUDE_BROWSER_AUTH_TOKEN"
LOOPBACK = ("127.0.0.1", "localhost")
MEGABYTE = 1024 * 1024
TOOLSETS = ("core", "browser", "claude", "sse", "pages", "plugins")
ALL_TOOLSETS = "all"
"""Named lists of tools, so that an agent need not read all there are."""
POSITIVE = msgspec.Meta(gt=0)
Port = Annotated[int, msgspec.Meta(ge=0, le=65535)]


class _Keys(msgspec.Struct, rename="camel", kw_only=True):
    """Base: camelCase in the file; keys we do not know are left for those who do."""


class Limits(_Keys):
    body_bytes: Annotated[int, POSITIVE] = 10 * MEGABYTE
    """The largest body of a request, in bytes."""
    ws_bytes: Annotated[int, POSITIVE] = 10 * MEGABYTE
    """The largest message between server and extension, in bytes."""
    call_seconds: Annotated[float, POSITIVE] = 30
    """How long a call may take that tells no progress, in seconds."""
    max_call_seconds: Annotated[float, POSITIVE] = 300
    """How long a call may take at most, however much progress it tells, in seconds."""
    approval_seconds: Annotated[float, POSITIVE] = 120
    """How long a call waits for a person's answer, in seconds."""
    result_bytes: Annotated[int, POSITIVE] = 10 * MEGABYTE
    """What a batch or a page's tool may tell, in bytes; ten times as much is kept of ended ones."""
    tools_per_tab: Annotated[int, POSITIVE] = 500
    """How many tools the pages in one tab may publish, frames included."""
    schema_bytes: Annotated[int, POSITIVE] = 256 * 1024
    """The largest schema of a tool that a page publishes, in bytes."""
    page_call_seconds: Annotated[float, POSITIVE] = 10
    """How long a tool of a page may take that tells no progress, in seconds."""


class SessionSettings(_Keys):
    idle_minutes: Annotated[float, POSITIVE] = 30
    """After so many minutes without a call a session ends."""
    close_tabs_on_end: bool = True
    """Whether the tabs of a session close with it; otherwise they are left to the person."""
    background_minutes: Annotated[float, POSITIVE] = 10
    """How many minutes a server that a bridge has started stays when nobody uses it."""
    group_on_connect: bool = False
    """Whether a client of the SSE surface has a tab group from its first moment."""


PerMinute = Annotated[int, msgspec.Meta(ge=0, le=100_000)]


class RateSettings(_Keys):
    """How often in a minute; 0 is as often as one likes."""

    sessions_per_minute: PerMinute = 5
    """Sessions opened with the main secret, in a minute; 0 is no limit."""
    client_sessions_per_minute: PerMinute = 60
    """Sessions opened with one client's token, in a minute; 0 is no limit."""
    admin_per_minute: PerMinute = 10
    """POSTs to administration, in a minute; 0 is no limit. Commands are not held up by it."""
    messages_per_minute: PerMinute = 100
    """`POST /message` of one session, in a minute; 0 is no limit."""


Origin = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^[a-z][a-z0-9+.-]*://[^\s/?#@*]+(:\*)?$",
        description="an origin such as https://app.example or http://localhost:*",
    ),
]
Token = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^[!-~]{16,}$",
        description="at least 16 characters: letters, digits and signs, no blanks",
    ),
]


PageOrigin = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^(\*|(https?|\*)://[^\s/?#@]+)$",
        description="an origin such as https://*.example.com, or *",
    ),
]


class SseSettings(_Keys):
    """The surface for clients of HTTP+SSE."""

    enabled: bool = True
    """Whether `/sse` and `/message` are there."""
    port: Port | None = None
    """A second port, for clients of HTTP+SSE; null for none, 0 for a free one."""
    host: str = "127.0.0.1"
    """The address of the second port; only loopback is taken."""
    auth_token: Token | None = None
    """One more token for agents, of at least 16 characters; its client is `sse`."""
    cors_origins: list[Origin] = msgspec.field(default_factory=list)
    """Web pages that may use the endpoints for agents."""


LevelWord = Literal["off", "ask", "auto"]
Levels = dict[str, LevelWord]


class PermissionSettings(_Keys):
    """Levels by name, as the panel and `tabhub permissions set` write them."""

    tools: Levels = msgspec.field(default_factory=dict)
    """`off`, `ask` or `auto` by the name of a tool."""
    plugins: Levels = msgspec.field(default_factory=dict)
    """`off`, `ask` or `auto` by the name of a plugin."""
    domains: Levels = msgspec.field(default_factory=dict)
    """`off`, `ask` or `auto` by host, such as `*.example.com`."""


class AuditSettings(_Keys):
    redact: bool = True
    """Whether what looks like a secret is taken out of the record; known secrets always are."""
    max_bytes: Annotated[int, POSITIVE] = 10 * MEGABYTE
    """How large `audit.log` gets, in bytes, before a new one is begun; one older is kept."""


class DownloadSettings(_Keys):
    folder: str | None = None
    """Where tools may save files; null means that they may not."""


class UploadSettings(_Keys):
    folders: list[str] = msgspec.field(default_factory=list)
    """Below which tools may take files for pages; none means that they may not."""


class RecordingSettings(_Keys):
    """How much of each tab that agents use is kept in the browser; 0 keeps nothing."""

    console_entries: Annotated[int, msgspec.Meta(ge=0, le=100_000)] = 10_000
    """How many console messages are kept of a tab that agents use; 0 keeps none."""
    network_entries: Annotated[int, msgspec.Meta(ge=0, le=100_000)] = 1000
    """How many requests are kept of a tab that agents use; 0 keeps none."""


class Settings(_Keys):
    port: Port = DEFAULT_PORT
    """The port of the server; 0 takes a free one."""
    host: str = "127.0.0.1"
    """The address that the server listens on; only loopback is taken."""
    mcp_server: SseSettings = msgspec.field(default_factory=SseSettings)
    limits: Limits = msgspec.field(default_factory=Limits)
    sessions: SessionSettings = msgspec.field(default_factory=SessionSettings)
    rates: RateSettings = msgspec.field(default_factory=RateSettings)
    toolsets: list[str] = msgspec.field(default_factory=lambda: ["core", "pages", "plugins"])
    """What `/mcp` lists to a client whose address names no toolsets; `all` is all."""
    permissions: PermissionSettings = msgspec.field(default_factory=PermissionSettings)
    policy_file: str | None = None
    """A policy file elsewhere than `policy.toml` in the home."""
    dev: bool = False
    """Whether the developer's tools work."""
    unattended: Literal["deny", "allow"] = "deny"
    """What becomes of a call that a person must be asked about while no panel is open."""
    untrusted_input: bool = False
    """Whether a script may click and type where the debugger cannot; pages may ignore it."""
    exposure: Literal["merged", "per-tab"] = "merged"
    """How tools that pages publish are listed: one entry for a site, or one for each tab."""
    page_origins: list[PageOrigin] = msgspec.field(default_factory=lambda: ["*"])
    """Whose pages may publish tools: origins, where * stands for any part."""
    cache: dict[str, bool] = msgspec.field(default_factory=dict)
    """Sites whose tools stay listed when their last tab closes: `cache.shop.example true`."""
    audit: AuditSettings = msgspec.field(default_factory=AuditSettings)
    downloads: DownloadSettings = msgspec.field(default_factory=DownloadSettings)
    uploads: UploadSettings = msgspec.field(default_factory=UploadSettings)
    recording: RecordingSettings = msgspec.field(default_factory=RecordingSettings)
    worker_origins: list[Origin] = msgspec.field(default_factory=list)
    """Web pages that may offer tools by the page worker, without the extension."""


def load(home: Home) -> Settings:
    """The settings of a home; a file that does not fit is refused with the place that is wrong."""
    try:
        written = home.config.read_bytes()
    except FileNotFoundError:
        return Settings()
    return parse(written, home)


def parse(written: bytes, home: Home) -> Settings:
    """Settings as `config.json` would have them."""
    try:
        loaded = msgspec.json.decode(written, type=Settings)
    except msgspec.ValidationError as error:
        raise InvalidArguments(f"{home.config}: {complaint(error, Settings)}.") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidArguments(f"{home.config} is not valid JSON: {error}.") from None
    wrong = _wrong_together(loaded)
    if wrong is not None:
        raise InvalidArguments(f"{home.config}: {wrong}.")
    return loaded


def _wrong_together(loaded: Settings) -> str | None:
    """What the types of single keys do not tell."""
    for key, host in (("host", loaded.host), ("mcpServer.host", loaded.mcp_server.host)):
        if host not in LOOPBACK:
            return f"{key} must be 127.0.0.1, not {host!r}"
    limits = loaded.limits
    if limits.call_seconds > limits.max_call_seconds:
        most = f"limits.maxCallSeconds, which is {limits.max_call_seconds:g}"
        return f"limits.callSeconds is {limits.call_seconds:g}, and must not be above {most}"
    return None


def chosen_port(flag: int | None, settings: Settings) -> int:
    """The port to listen on: the flag, then the environment, then the file."""
    named = port_from_environment("PORT") if flag is None else flag
    return settings.port if named is None else named


def chosen_sse_port(flag: int | None, settings: Settings) -> int | None:
    """The port of the second listener, likewise; None for no second listener."""
    if not settings.mcp_server.enabled:
        if flag is not None:
            raise InvalidArguments("--sse-port is of no use while mcpServer.enabled is false.")
        return None
    named = _port_in("CLAUDE_BROWSER_MCP_PORT") if flag is None else flag
    return settings.mcp_server.port if named is None else named


def auth_token(settings: Settings) -> str | None:
    """The token for clients of HTTP+SSE: by the environment, else by the file."""
    named = os.environ.get(SSE_TOKEN)
    if not named:
        return settings.mcp_server.auth_token
    try:
        return msgspec.convert(named, Token)
    except msgspec.ValidationError:
        raise InvalidArguments(f"{SSE_TOKEN} must be {described(Token)}.") from None


def port_from_environment(*others: str) -> int | None:
    """TABHUB_PORT, or another variable that may name a port."""
    return _port_in(PORT, *others)


def _port_in(*names: str) -> int | None:
    for name in names:
        value = os.environ.get(name)
        if value:
            if not value.isdecimal() or int(value) > 65535:
                raise InvalidArguments(f"{name}={value} is not a port number.")
            return int(value)
    return None


def skips_permissions() -> bool:
    """Whether a person has said, loudly, that nobody is to be asked."""
    names = ("TABHUB_DANGEROUSLY_SKIP_PERMISSIONS", "OPENTABS_DANGEROUSLY_SKIP_PERMISSIONS")
    return any(os.environ.get(name) == "1" for name in names)


def in_development() -> bool:
    """Whether both ends of the link check each command against its declared shape."""
    return os.environ.get("TABHUB_DEVELOPMENT") == "1"


def token_from_environment() -> str | None:
    """The client token that an agent on the command line was given."""
    return os.environ.get(TOKEN) or None


def home_from_environment() -> dict[str, str]:
    """What another program has to set so that its tabhub has the same home as ours."""
    home = Home.from_environment().root.absolute()
    return {} if home == Home.usual().root else {"TABHUB_HOME": str(home)}


def environment_for_servers() -> dict[str, str]:
    """What a server started by an agent's process inherits: all but the agent's token."""
    return {name: value for name, value in os.environ.items() if name != TOKEN}


def browser_from_environment() -> str | None:
    """The browser a person wants used instead of the one we would find."""
    return os.environ.get("TABHUB_BROWSER") or None


def on_path(name: str) -> Path | None:
    """What a shell runs by this name."""
    found = shutil.which(name)
    return None if found is None else Path(found)


def has_display() -> bool:
    """Whether a window could be shown at all."""
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def choose_toolsets(names: Iterable[str]) -> frozenset[str] | None:
    """The toolsets of these names; None stands for every tool."""
    wanted = frozenset(name.strip() for name in names)
    unknown = sorted(wanted - {ALL_TOOLSETS, *TOOLSETS})
    if unknown:
        there = ", ".join((*TOOLSETS, ALL_TOOLSETS))
        raise InvalidArguments(f"There is no toolset {unknown[0]!r}; there are {there}.")
    return None if ALL_TOOLSETS in wanted else wanted
