"""Commands about console and network recordings, and about intercepted requests."""

from typing import Literal

from msgspec import UNSET

from tabhub.wire.abilities import Ability
from tabhub.wire.commands.command import (
    Command,
    Count,
    Maybe,
    Milliseconds,
    NoInput,
    NoOutput,
    Shape,
    SourceAddress,
    WaitingRequest,
)

Level = Literal["log", "info", "warn", "error", "debug"]
Headers = list[tuple[str, str]]


class ReadConsole(Shape, kw_only=True):
    """The messages to return."""

    level: Maybe[Literal["all", "log", "info", "warn", "error", "debug"]] = UNSET
    pattern: Maybe[str] = UNSET
    """A regular expression without lookaround."""
    limit: Maybe[Count] = UNSET
    newest: Maybe[bool] = UNSET
    """Whether `limit` counts from the end."""
    clear: Maybe[bool] = UNSET


class ConsoleEntry(Shape, kw_only=True):
    """A console message, or an error."""

    level: Level
    source: str
    """`console`, `exception`, or the part of the browser that reported it."""
    time: Milliseconds
    text: str
    url: SourceAddress
    """The URL of the script."""
    line: Maybe[int] = UNSET
    column: Maybe[int] = UNSET
    page: SourceAddress
    """The URL of the tab at that time."""
    site: str
    """Decides whether the caller may see the entry."""


class Record(Shape, kw_only=True):
    """The number of recorded and dropped entries, and the start of the recording."""

    total: int
    began: Milliseconds
    dropped: int
    url_filter: Maybe[str] = UNSET


class ConsoleRecord(Record, kw_only=True):
    """The console messages."""

    entries: list[ConsoleEntry]


class ClearedConsole(Shape):
    """The number of deleted messages."""

    cleared: int


class ReadNetwork(Shape, kw_only=True):
    """The requests to return, and how much of each."""

    url_pattern: Maybe[str] = UNSET
    """A part of the URL."""
    since: Maybe[Milliseconds] = UNSET
    limit: Maybe[Count] = UNSET
    newest: Maybe[bool] = UNSET
    """Whether `limit` counts from the end."""
    headers: Maybe[bool] = UNSET
    bodies: Maybe[Count] = UNSET
    """How many characters of each response body."""
    clear: Maybe[bool] = UNSET


class Body(Shape, kw_only=True):
    """A response body: `text` and `base64`, or why it is `unavailable`."""

    text: Maybe[str] = UNSET
    base64: Maybe[bool] = UNSET
    length: Maybe[int] = UNSET
    """The full length, if the text was cut."""
    unavailable: Maybe[str] = UNSET


class RecordedRequest(Shape, kw_only=True):
    """A request; each step of a redirect is a request of its own."""

    request_id: str
    url: SourceAddress
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
    """Bytes transferred."""
    body_size: Maybe[float] = UNSET
    """Bytes after decompression."""
    from_cache: Maybe[bool] = UNSET
    failed: Maybe[str] = UNSET
    """The reason of the failure."""
    redirected_to: Maybe[SourceAddress] = UNSET
    from_timing: Maybe[bool] = UNSET
    """Whether it ended before the recording started, and comes from the page's own timing data."""
    has_post_data: Maybe[bool] = UNSET
    page: SourceAddress
    """The URL of the document."""
    site: str
    """Decides whether the caller may see the entry."""
    request_headers: Maybe[Headers] = UNSET
    response_headers: Maybe[Headers] = UNSET
    post_data: Maybe[str] = UNSET
    timing: Maybe[dict[str, float]] = UNSET
    """As the debugger reports it."""
    body: Maybe[Body] = UNSET


class NetworkRecord(Record, kw_only=True):
    """The network requests."""

    entries: list[RecordedRequest]


class ReadRequest(Shape, kw_only=True):
    """The request to return."""

    request_id: str
    body: Maybe[Count] = UNSET
    """How many characters of the response body."""


class RequestRead(Shape):
    """The request with all details."""

    request: RecordedRequest


class ReadSockets(Shape, kw_only=True):
    """The frames to return."""

    url_pattern: Maybe[str] = UNSET
    limit: Maybe[Count] = UNSET
    newest: Maybe[bool] = UNSET
    clear: Maybe[bool] = UNSET


class SocketFrame(Shape):
    """A frame of a WebSocket."""

    request_id: str
    url: SourceAddress
    direction: Literal["sent", "received"]
    time: Milliseconds
    opcode: int
    data: str
    base64: bool
    length: int
    """The length of the whole payload."""
    site: str


class SocketRecord(Record, kw_only=True):
    """The WebSocket frames."""

    entries: list[SocketFrame]


class RecordingSizes(Shape, kw_only=True):
    """How many entries are kept, and of which URLs."""

    console_entries: Count
    network_entries: Count
    socket_frames: Maybe[Count] = UNSET
    url_filter: Maybe[str] = UNSET


class StartRecording(Shape, kw_only=True):
    """How many entries to keep; defaults come from `sync.full`."""

    console_entries: Maybe[Count] = UNSET
    network_entries: Maybe[Count] = UNSET
    socket_frames: Maybe[Count] = UNSET
    url_filter: Maybe[str] = UNSET
    """Only requests whose URL contains this."""


class StartedRecording(Shape, kw_only=True):
    """How many entries are kept; missing if the tab has just closed."""

    sizes: Maybe[RecordingSizes] = UNSET


class StartIntercepting(Shape):
    """URL patterns in the debugger's syntax."""

    url_patterns: list[str]


class OverdueRequest(Shape):
    """A request that waited too long and was continued."""

    request_id: str
    url: SourceAddress
    how: str


class Intercepted(Shape):
    """The requests that wait, and those that waited too long."""

    waiting: list[WaitingRequest]
    overdue: list[OverdueRequest]


class StartedIntercepting(Intercepted):
    """The patterns that are intercepted."""

    url_patterns: list[str]
    sites: list[str] | None
    """The sites whose requests may be intercepted; null for all."""


class ListIntercepted(Shape, kw_only=True):
    """How long to wait for a request if there is none."""

    timeout_ms: Maybe[float] = UNSET


class FulfillRequest(Shape, kw_only=True):
    """Answers the request; `body` is in base64."""

    request_id: str
    how: Literal["fulfill"]
    status: int
    headers: Maybe[dict[str, str]] = UNSET
    body: Maybe[str] = UNSET


class FailRequest(Shape):
    """Makes the request fail."""

    request_id: str
    how: Literal["fail"]
    error_reason: str


class ContinueRequest(Shape, kw_only=True):
    """Continues the request, with changes if given; `body` is in base64."""

    request_id: str
    how: Literal["continue"]
    url: Maybe[str] = UNSET
    method: Maybe[str] = UNSET
    headers: Maybe[dict[str, str]] = UNSET
    keep_headers: Maybe[list[str]] = UNSET
    """Headers of the request that stay unchanged, even if `headers` has them."""
    body: Maybe[str] = UNSET


class AnsweredRequest(Intercepted):
    """The request that was answered."""

    request_id: str


class StoppedIntercepting(Shape):
    """How many waiting requests were continued."""

    continued: int


COMMANDS = (
    Command("record.console", "Returns recorded console messages.", ReadConsole, ConsoleRecord),
    Command("record.clearConsole", "Deletes recorded console messages.", NoInput, ClearedConsole),
    Command("record.network", "Returns recorded requests.", ReadNetwork, NetworkRecord),
    Command("record.request", "Returns all details of one request.", ReadRequest, RequestRead),
    Command("record.sockets", "Returns recorded WebSocket frames.", ReadSockets, SocketRecord),
    Command("record.start", "Starts an empty recording.", StartRecording, StartedRecording),
    Command("record.stop", "Stops recording, until `record.start`.", NoInput, NoOutput),
    Command(
        "intercept.start",
        "Intercepts the tab's requests, also those of frames in other processes.",
        StartIntercepting,
        StartedIntercepting,
        ability=Ability.CHANGE_REQUESTS,
    ),
    Command(
        "intercept.list", "Lists the intercepted requests that wait.", ListIntercepted, Intercepted
    ),
    Command(
        "intercept.answer",
        "Answers, fails or continues a request.",
        (FulfillRequest, FailRequest, ContinueRequest),
        AnsweredRequest,
        ability=Ability.CHANGE_REQUESTS,
    ),
    Command(
        "intercept.stop",
        "Stops intercepting; waiting requests are continued.",
        NoInput,
        StoppedIntercepting,
    ),
)
