"""The settings in `config.json`: their types, defaults and documentation.

The string below a setting is its text in `docs/settings.md`.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec

from tabhub.config.paths import Home
from tabhub.errors import InvalidArguments

DEFAULT_PORT = 9515
LOOPBACK = ("127.0.0.1", "localhost")
MEGABYTE = 1024 * 1024
SMALLEST_BUDGET = 100_000
"""Of bytes in the audit log: less would have no room for the longest entries."""
TOOLSETS = ("core", "browser", "claude", "sse", "pages", "plugins")
"""Named lists of tools, so that an agent need not read every tool there is."""
ALL_TOOLSETS = "all"

POSITIVE = msgspec.Meta(gt=0)
PerMinute = Annotated[int, msgspec.Meta(ge=0, le=100_000)]
Port = Annotated[int, msgspec.Meta(ge=0, le=65535)]
Origin = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^[a-z][a-z0-9+.-]*://[^\s/?#@*]+(:\*)?$",
        description="an origin such as https://app.example or http://localhost:*",
    ),
]
OneOrigin = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^https?://[^\s/?#@*]+$", description="one origin such as https://app.example"
    ),
]
PageOrigin = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^(\*|(https?|\*)://[^\s/?#@]+)$",
        description="an origin such as https://*.example.com, or *",
    ),
]
Token = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^[!-~]{16,}$",
        description="at least 16 characters: letters, digits and signs, no blanks",
    ),
]
LevelWord = Literal["off", "ask", "auto"]
Levels = dict[str, LevelWord]


class _Section(msgspec.Struct, rename="camel", kw_only=True):
    """Base: camelCase in the file; unknown keys are ignored."""


class Limits(_Section):
    body_bytes: Annotated[int, POSITIVE] = 10 * MEGABYTE
    """The largest body of an HTTP request, in bytes."""
    ws_bytes: Annotated[int, POSITIVE] = 10 * MEGABYTE
    """The largest message between server and extension, in bytes."""
    call_seconds: Annotated[float, POSITIVE] = 30
    """How many seconds a call may run without reporting progress."""
    max_call_seconds: Annotated[float, POSITIVE] = 300
    """How many seconds a call may run in all, however much progress it reports."""
    approval_seconds: Annotated[float, POSITIVE] = 120
    """How many seconds a call waits for the person to approve it."""
    result_bytes: Annotated[int, POSITIVE] = 10 * MEGABYTE
    """The largest result of a batch or a page tool, in bytes. The server keeps up to ten times as
    much of the finished operations of each client."""
    tools_per_tab: Annotated[int, POSITIVE] = 500
    """How many tools the pages in one tab may publish, frames included."""
    schema_bytes: Annotated[int, POSITIVE] = 256 * 1024
    """The largest schema of a page tool, in bytes."""
    page_call_seconds: Annotated[float, POSITIVE] = 10
    """How many seconds a page tool may run without reporting progress."""
    calls_per_plugin: Annotated[int, POSITIVE] = 25
    """How many calls of one plugin's tools may run at once."""


class SessionSettings(_Section):
    idle_minutes: Annotated[float, POSITIVE] = 30
    """A session ends after this many minutes without a call."""
    close_tabs_on_end: bool = True
    """Whether a session's tabs close when it ends; otherwise they stay open for the person."""
    background_minutes: Annotated[float, POSITIVE] = 10
    """How many idle minutes until a server stops that `tabhub start --stdio` has started."""
    group_on_connect: bool = False
    """Whether a client of HTTP+SSE gets a tab group as soon as it connects."""


class RateSettings(_Section):
    sessions_per_minute: PerMinute = 5
    """How many sessions may be opened with the main secret in a minute; 0 for no limit."""
    client_sessions_per_minute: PerMinute = 60
    """How many sessions may be opened with one client's token in a minute; 0 for no limit."""
    admin_per_minute: PerMinute = 10
    """How many POST requests the admin endpoints accept in a minute; 0 for no limit. The `tabhub`
    command is exempt."""
    messages_per_minute: PerMinute = 100
    """How many `POST /message` requests one session may send in a minute; 0 for no limit."""


class SseSettings(_Section):
    """The endpoints for clients of HTTP+SSE."""

    enabled: bool = True
    """Whether the server offers `/sse` and `/message`."""
    port: Port | None = None
    """A second port for clients of HTTP+SSE; null for none, 0 for any free port."""
    host: str = "127.0.0.1"
    """The address of the second port; only 127.0.0.1 and localhost are accepted."""
    auth_token: Token | None = None
    """One more token for agents, at least 16 characters; its client is named `sse`."""
    cors_origins: list[Origin] = msgspec.field(default_factory=list)
    """Origins of web pages that may use the endpoints for agents."""


class PermissionSettings(_Section):
    """Levels by name, as the panel and `tabhub permissions set` write them."""

    tools: Levels = msgspec.field(default_factory=dict)
    """`off`, `ask` or `auto` for each tool, by name."""
    plugins: Levels = msgspec.field(default_factory=dict)
    """`off`, `ask` or `auto` for each plugin, by name."""
    domains: Levels = msgspec.field(default_factory=dict)
    """`off`, `ask` or `auto` for each host or host pattern, such as `*.example.com`."""
    workers: dict[OneOrigin, LevelWord] = msgspec.field(default_factory=dict)
    """`off`, `ask` or `auto` for each paired origin, as `tabhub page allow` and the panel write
    them: for calls that go through the origin's page worker, and for no others. Stricter rules
    count."""


class AuditSettings(_Section):
    redact: bool = True
    """Whether text that looks like a secret is left out of the audit log; tabhub's own secrets
    always are."""
    max_bytes: Annotated[int, POSITIVE] = 10 * MEGABYTE
    """How large `audit.log` may grow, in bytes, before a new file is started; half of
    `audit.diskBytes` at most."""
    keep_days: Annotated[float, POSITIVE] = 90
    """A full file is deleted when its newest entry is so many days old."""
    disk_bytes: Annotated[int, POSITIVE] = 2048 * MEGABYTE
    """How many bytes all files of the audit log may have together; the oldest file is deleted
    first, however new it is."""
    client_bytes_per_day: Annotated[int, msgspec.Meta(ge=0)] = 64 * MEGABYTE
    """How many bytes the calls of one client may add to the audit log within 24 hours, at least
    100,000; then they are refused. 0 for no limit."""
    required: bool = False
    """Whether calls are refused while the audit log cannot be written. Otherwise its lines wait in
    memory, and calls are refused when that is full."""


OWN_FOLDER = "own"
"""In place of a path: the folders for tools in tabhub's home."""


class DownloadSettings(_Section):
    folder: str | None = OWN_FOLDER
    """Where tools may save files, and where downloads go: `own` is a folder for each client in
    tabhub's home (`~/.tabhub/downloads/<client>`), a full path is one folder for all of them; with
    null tools save nothing, and downloads stay in the browser's own folder. tabhub's own browser
    uses it from its next start; from any other, the server moves what `browser_download_file` has
    downloaded."""


class UploadSettings(_Section):
    folders: list[str] | None = msgspec.field(default_factory=list)
    """More folders, with their full paths, whose files tools may give to pages, beside the client's
    own folder for downloads and `~/.tabhub/uploads`; null forbids all of them."""


class RecordingSettings(_Section):
    """How much the extension keeps of each tab that agents use."""

    console_entries: Annotated[int, msgspec.Meta(ge=0, le=100_000)] = 10_000
    """How many console messages are kept for each tab that agents use; 0 keeps none."""
    network_entries: Annotated[int, msgspec.Meta(ge=0, le=100_000)] = 1000
    """How many network requests are kept for each tab that agents use; 0 keeps none."""


class Settings(_Section):
    port: Port = DEFAULT_PORT
    """The server's port; 0 for any free port."""
    host: str = "127.0.0.1"
    """The address that the server listens on; only 127.0.0.1 and localhost are accepted."""
    mcp_server: SseSettings = msgspec.field(default_factory=SseSettings)
    limits: Limits = msgspec.field(default_factory=Limits)
    sessions: SessionSettings = msgspec.field(default_factory=SessionSettings)
    rates: RateSettings = msgspec.field(default_factory=RateSettings)
    toolsets: list[str] = msgspec.field(default_factory=lambda: ["core", "pages", "plugins"])
    """The toolsets that `/mcp` lists to a client whose URL names none; `all` lists every tool."""
    permissions: PermissionSettings = msgspec.field(default_factory=PermissionSettings)
    policy_file: str | None = None
    """The path of the policy file; null for `policy.toml` in tabhub's home."""
    dev: bool = False
    """Dev mode: `dev_utils` works, and linked folders of plugins are watched. Only the flag `--dev`
    also lets these plugins run without a review."""
    unattended: Literal["deny", "allow"] = "deny"
    """What happens to a call that needs approval where no person can be asked: no browser of their
    own is connected, and no panel is open."""
    untrusted_input: bool = False
    """Whether a script may click and type where the debugger cannot; pages can ignore it."""
    exposure: Literal["merged", "per-tab"] = "merged"
    """How page tools are listed: one entry for each site, or one for each tab."""
    page_origins: list[PageOrigin] = msgspec.field(default_factory=lambda: ["*"])
    """Origins whose pages the extension may ask for tools; `*` stands for any part."""
    frame_origins: list[PageOrigin] = msgspec.field(default_factory=list)
    """Origins whose frames may publish tools in pages that do not allow it."""
    cache: dict[str, bool] = msgspec.field(default_factory=dict)
    """Sites whose tools stay listed after their last tab closes: `cache.shop.example true`."""
    audit: AuditSettings = msgspec.field(default_factory=AuditSettings)
    downloads: DownloadSettings = msgspec.field(default_factory=DownloadSettings)
    uploads: UploadSettings = msgspec.field(default_factory=UploadSettings)
    recording: RecordingSettings = msgspec.field(default_factory=RecordingSettings)
    settings: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict)
    """The settings of each plugin, by its name, as `tabhub plugin configure` and the panel write
    them; they may be secrets, and no list shows them."""
    plugin_update_minutes: Annotated[float, msgspec.Meta(ge=0)] = 30
    """How many minutes pass between two questions to the registry whether installed plugins have
    newer versions; 0 asks never."""
    local_plugins: list[str] = msgspec.field(default_factory=list)
    """Folders of plugins that you work on, or files of plugins in Python, with their full paths. A
    plugin there takes the place of an installed one of its name, and is reviewed like any other."""
    local_plugin_dirs: list[str] = msgspec.field(default_factory=list)
    """Folders whose direct subfolders and files are such plugins, with their full paths; others in
    them are passed over."""
    worker_origins: list[Origin] = msgspec.field(default_factory=list)
    """Origins of web pages that may offer tools without the extension, once they are paired.

    An origin that is removed loses its tokens.
    """


def load(home: Home) -> Settings:
    """Read the settings of a home; the error about an invalid file names the key that is wrong."""
    try:
        body = home.config.read_bytes()
    except FileNotFoundError:
        return Settings()
    return parse(body, home)


class BrokenFile(InvalidArguments):
    """A settings file that cannot be used before somebody repairs it."""


def parse(body: bytes, home: Home) -> Settings:
    """Read the content of a `config.json`."""
    try:
        settings = msgspec.json.decode(body, type=Settings)
    except msgspec.ValidationError as error:
        raise BrokenFile(f"{home.config}: {complaint(error, Settings)}.") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BrokenFile(f"{home.config} is not valid JSON: {error}.") from None
    problem = _problem(settings)
    if problem is not None:
        raise BrokenFile(f"{home.config}: {problem}.")
    return settings


def _problem(settings: Settings) -> str | None:
    """What is wrong with settings whose types are right."""
    for key, host in (("host", settings.host), ("mcpServer.host", settings.mcp_server.host)):
        if host not in LOOPBACK:
            return f"{key} must be 127.0.0.1, not {host!r}"
    limits = settings.limits
    if limits.call_seconds > limits.max_call_seconds:
        return (
            f"limits.callSeconds is {limits.call_seconds:g}, but must not be above "
            f"limits.maxCallSeconds, which is {limits.max_call_seconds:g}"
        )
    if 0 < settings.audit.client_bytes_per_day < SMALLEST_BUDGET:
        return f"audit.clientBytesPerDay must be 0 or at least {SMALLEST_BUDGET}"
    return _problem_of_folders(settings)


def _problem_of_folders(settings: Settings) -> str | None:
    named = [("downloads.folder", settings.downloads.folder)]
    named += [("uploads.folders", folder) for folder in settings.uploads.folders or ()]
    named += [("localPlugins", folder) for folder in settings.local_plugins]
    named += [("localPluginDirs", folder) for folder in settings.local_plugin_dirs]
    for key, folder in named:
        if folder == OWN_FOLDER and key == "downloads.folder":
            continue
        if folder is not None and not Path(folder).expanduser().is_absolute():
            return f"{key} must be a full path, not {folder!r}"
    return None


def choose_toolsets(names: Iterable[str]) -> frozenset[str] | None:
    """The toolsets with these names; None stands for every tool."""
    chosen = frozenset(name.strip() for name in names)
    unknown = sorted(chosen - {ALL_TOOLSETS, *TOOLSETS})
    if unknown:
        known = ", ".join((*TOOLSETS, ALL_TOOLSETS))
        raise InvalidArguments(f"There is no toolset {unknown[0]!r}; there are {known}.")
    return None if ALL_TOOLSETS in chosen else chosen


class Origins:
    """Checks whether an origin is one of those in a setting: exact, or a host with any port."""

    _ANY_PORT = b":*"

    def __init__(self, names: Iterable[str] = ()) -> None:
        patterns = [name.lower().encode() for name in names]
        self._exact = frozenset(name for name in patterns if not name.endswith(self._ANY_PORT))
        self._hosts = frozenset(name[:-2] for name in patterns if name.endswith(self._ANY_PORT))

    def __contains__(self, origin: bytes) -> bool:
        if origin in self._exact or origin in self._hosts:
            return True
        host, colon, port = origin.rpartition(b":")
        return bool(colon) and host in self._hosts and port.isdigit()


_TYPE_NAMES = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
_BOUNDS = (("ge", "at least"), ("gt", "above"), ("le", "at most"), ("lt", "below"))
_PLACE = re.compile(r" - at (`key` in )?`\$\.?([^`]*)`$")
"""Where in a document msgspec has found the error."""


def is_section(kind: Any) -> bool:
    """Whether a type is a section: a struct with settings of its own."""
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def kind_at(steps: Sequence[str], kind: Any) -> tuple[tuple[str, ...], Any]:
    """The path of a dotted key below a type, and the type at its end; None if it leads nowhere."""
    if not steps:
        return (), kind
    if get_origin(kind) is dict and all(steps):
        # The key of a dict, such as a host, may contain dots.
        return (".".join(steps),), get_args(kind)[1]
    if not is_section(kind):
        return (), None
    for field in msgspec.structs.fields(kind):
        if field.encode_name == steps[0]:
            path, found = kind_at(steps[1:], field.type)
            return (steps[0], *path), found
    return (), None


def described(kind: Any) -> str:
    """A type in words that can follow "must be"."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _bounded(described(inner[0]), inner[1])
    if origin is Literal:
        return " or ".join(map(str, inner))
    if origin is list:
        return f"a list, each item {described(inner[0])}"
    if origin is dict:
        return f"an object, each value {described(inner[1])}"
    options = [described(option) for option in inner if option is not type(None)]
    return " or ".join(options) if options else _TYPE_NAMES.get(kind, "an object")


def complaint(error: msgspec.ValidationError, root: Any) -> str:
    """What is wrong in a document, without repeating its values: they may be secrets."""
    place = _PLACE.search(str(error))
    key = place[2].partition("[")[0].rstrip(".") if place else ""
    _, kind = kind_at(key.split(".") if key else [], root)
    if kind is None:
        return str(error)
    if place and place[1] and get_origin(kind) is dict:
        return f"each key of {key} must be {described(get_args(kind)[0])}"
    return f"{key or 'the content'} must be {described(kind)}"


def _bounded(text: str, meta: msgspec.Meta) -> str:
    if meta.description is not None:
        return meta.description
    bounds = ((word, getattr(meta, name)) for name, word in _BOUNDS)
    limits = [f"{word} {bound}" for word, bound in bounds if bound is not None]
    return f"{text} {' and '.join(limits)}" if limits else text
