"""Commands on what a tab records, and on requests that are intercepted."""

from typing import Literal

from msgspec import UNSET

from tabhub.wire.commands.command import (
    Command,
    Count,
    Maybe,
    Milliseconds,
    NoInput,
    NoOutput,
    Shape,
    WaitingRequest,
)

Level = Literal["log", "info", "warn", "error", "debug"]
Headers = list[tuple[str, str]]


class ReadConsole(Shape, kw_only=True):
    """Which messages."""

    level: Maybe[Literal["all", "log", "info", "warn", "error", "debug"]] = UNSET
    pattern: Maybe[str] = UNSET
    """A regular expression without lookaround."""
    limit: Maybe[Count] = UNSET
    newest: Maybe[bool] = UNSET
    """Whether `limit` counts from the end."""
    clear: Maybe[bool] = UNSET


class ConsoleEntry(Shape, kw_only=True):
    """What was said to the console, or went wrong."""

    level: Level
    source: str
    """`console`, `exception`, or the part of the browser that speaks."""
    time: Milliseconds
    text: str
    url: str
    """Of the script."""
    line: Maybe[int] = UNSET
    column: Maybe[int] = UNSET
    page: str
    """The address of the tab then."""
    site: str
    """Decides whether the caller may see the entry."""


class Record(Shape, kw_only=True):
    """How much was recorded, and since when."""

    total: int
    began: Milliseconds
    dropped: int
    url_filter: Maybe[str] = UNSET


class ConsoleRecord(Record, kw_only=True):
    """The messages."""

    entries: list[ConsoleEntry]


class ClearedConsole(Shape):
    """How many messages there were."""

    cleared: int


class ReadNetwork(Shape, kw_only=True):
    """Which requests, and how much of them."""

    url_pattern: Maybe[str] = UNSET
    """A part of the address."""
    since: Maybe[Milliseconds] = UNSET
    limit: Maybe[Count] = UNSET
    newest: Maybe[bool] = UNSET
    """Whether `limit` counts from the end."""
    headers: Maybe[bool] = UNSET
    bodies: Maybe[Count] = UNSET
    """How many characters of them."""
    clear: Maybe[bool] = UNSET


class Body(Shape, kw_only=True):
    """What a request got: `text` and `base64`, or why it is `unavailable`."""

    text: Maybe[str] = UNSET
    base64: Maybe[bool] = UNSET
    length: Maybe[int] = UNSET
    """Of the whole, where it was cut."""
    unavailable: Maybe[str] = UNSET


class RecordedRequest(Shape, kw_only=True):
    """A request; each step of a redirect is one of its own."""

    request_id: str
    url: str
    method: str
    type: str
    started: Milliseconds
    duration: Maybe[float] = UNSET
    status: Maybe[int] = UNSET
    status_text: Maybe[str] = UNSET
    mime_type: Maybe[str] = UNSET
    protocol: Maybe[str] = UNSET
    remote_address: Maybe[str] = UNSET
    size: Maybe[float] = UNSET
    """As transferred."""
    body_size: Maybe[float] = UNSET
    """As unpacked."""
    from_cache: Maybe[bool] = UNSET
    failed: Maybe[str] = UNSET
    """Why."""
    redirected_to: Maybe[str] = UNSET
    from_timing: Maybe[bool] = UNSET
    """It was over before recording began; the page itself has told of it."""
    has_post_data: Maybe[bool] = UNSET
    page: str
    """The address of the document."""
    site: str
    """Decides whether the caller may see the entry."""
    request_headers: Maybe[Headers] = UNSET
    response_headers: Maybe[Headers] = UNSET
    post_data: Maybe[str] = UNSET
    timing: Maybe[dict[str, float]] = UNSET
    """As the debugger has it."""
    body: Maybe[Body] = UNSET


class NetworkRecord(Record, kw_only=True):
    """The requests."""

    entries: list[RecordedRequest]


class ReadRequest(Shape, kw_only=True):
    """Which request."""

    request_id: str
    body: Maybe[Count] = UNSET
    """How many characters of it."""


class RequestRead(Shape):
    """The request, with all that is known."""

    request: RecordedRequest


class ReadSockets(Shape, kw_only=True):
    """Which frames."""

    url_pattern: Maybe[str] = UNSET
    limit: Maybe[Count] = UNSET
    newest: Maybe[bool] = UNSET
    clear: Maybe[bool] = UNSET


class SocketFrame(Shape):
    """A frame of a web socket."""

    request_id: str
    url: str
    direction: Literal["sent", "received"]
    time: Milliseconds
    opcode: int
    data: str
    base64: bool
    length: int
    """Of the whole payload."""
    site: str


class SocketRecord(Record, kw_only=True):
    """The frames."""

    entries: list[SocketFrame]


class RecordingSizes(Shape, kw_only=True):
    """How much to keep, and of which addresses."""

    console_entries: Count
    network_entries: Count
    socket_frames: Maybe[Count] = UNSET
    url_filter: Maybe[str] = UNSET


class StartRecording(Shape, kw_only=True):
    """How much to keep; what is not said is as the server wishes in `sync.full`."""

    console_entries: Maybe[Count] = UNSET
    network_entries: Maybe[Count] = UNSET
    socket_frames: Maybe[Count] = UNSET
    url_filter: Maybe[str] = UNSET
    """Only requests whose address has this in it."""


class StartedRecording(Shape, kw_only=True):
    """How much is kept; nothing if the tab has just closed."""

    sizes: Maybe[RecordingSizes] = UNSET


class StartIntercepting(Shape):
    """Patterns of addresses, as the debugger has them."""

    url_patterns: list[str]


class OverdueRequest(Shape):
    """A request that went on without an answer."""

    request_id: str
    url: str
    how: str


class Intercepted(Shape):
    """What waits, and what has waited too long."""

    waiting: list[WaitingRequest]
    overdue: list[OverdueRequest]


class StartedIntercepting(Intercepted):
    """What is intercepted."""

    url_patterns: list[str]
    sites: list[str] | None
    """Those whose requests may be held; null for all."""


class ListIntercepted(Shape, kw_only=True):
    """How long to wait for a request, if none waits."""

    timeout_ms: Maybe[float] = UNSET


class FulfillRequest(Shape, kw_only=True):
    """Answers the request; `body` in base64."""

    request_id: str
    how: Literal["fulfill"]
    status: int
    headers: Maybe[dict[str, str]] = UNSET
    body: Maybe[str] = UNSET


class FailRequest(Shape):
    """Has the request fail."""

    request_id: str
    how: Literal["fail"]
    error_reason: str


class ContinueRequest(Shape, kw_only=True):
    """Lets the request go on, changed if so wished; `body` in base64."""

    request_id: str
    how: Literal["continue"]
    url: Maybe[str] = UNSET
    method: Maybe[str] = UNSET
    headers: Maybe[dict[str, str]] = UNSET
    keep_headers: Maybe[list[str]] = UNSET
    """Headers of the request that stay as they are, whatever `headers` says of them."""
    body: Maybe[str] = UNSET


class AnsweredRequest(Intercepted):
    """Which request was answered."""

    request_id: str


class StoppedIntercepting(Shape):
    """How many waiting requests went on."""

    continued: int


COMMANDS = (
    Command("record.console", "Tells messages of the console.", ReadConsole, ConsoleRecord),
    Command("record.clearConsole", "Forgets these messages.", NoInput, ClearedConsole),
    Command("record.network", "Tells requests.", ReadNetwork, NetworkRecord),
    Command("record.request", "Tells all of one request.", ReadRequest, RequestRead),
    Command("record.sockets", "Tells frames of web sockets.", ReadSockets, SocketRecord),
    Command("record.start", "Begins to record, from nothing.", StartRecording, StartedRecording),
    Command("record.stop", "Stops recording, until `record.start`.", NoInput, NoOutput),
    Command(
        "intercept.start",
        "Holds the tab's requests, those of frames in other processes too.",
        StartIntercepting,
        StartedIntercepting,
    ),
    Command("intercept.list", "Lists the requests that wait.", ListIntercepted, Intercepted),
    Command(
        "intercept.answer",
        "Answers a request.",
        (FulfillRequest, FailRequest, ContinueRequest),
        AnsweredRequest,
    ),
    Command(
        "intercept.stop",
        "Holds no more requests; those that wait go on.",
        NoInput,
        StoppedIntercepting,
    ),
)
