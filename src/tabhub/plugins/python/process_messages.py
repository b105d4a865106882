"""The messages between the server and the process of a plugin: a length of four bytes, then JSON.

The process imports this, so it imports nothing else of tabhub.
"""

from typing import Literal

import msgspec
from msgspec import Raw, Struct

MOST_BYTES = 64 * 1024 * 1024
"""Of one message. A page's content comes as Base64, within one message of the link."""
MOST_RESULT_BYTES = 16 * 1024 * 1024
HEADER_BYTES = 4


class Module(Struct):
    """A module of the plugin, as it was reviewed."""

    name: str
    path: str
    source: bytes
    is_package: bool


class Load(Struct, tag=True):
    """The first message: what the plugin consists of."""

    modules: list[Module]
    """The first one has the class."""
    class_name: str
    own: str
    """The package whose every module is the plugin's; empty if its modules have no parent."""


class Invoke(Struct, tag=True):
    """Call a tool, or without one ask only whether the plugin is ready."""

    call: int
    tool: str
    arguments: Raw
    url: str
    tab_id: int | str
    settings: Raw
    ready_seconds: float
    """How long `ready` may take; 0 to leave it out."""


class CancelCall(Struct, tag=True):
    """Nobody waits for this call any longer."""

    call: int


class Ping(Struct, tag=True):
    """Asks whether the process still reacts."""

    number: int


class OperationError(Struct):
    """Why an operation of the page failed."""

    message: str
    code: str
    category: str
    retryable: bool


class Answer(Struct, tag=True):
    """The result of an operation, or its error."""

    request: int
    value: Raw = Raw(b"null")
    error: OperationError | None = None


class Loaded(Struct, tag=True):
    """The plugin is loaded; this is its description."""

    description: Raw


class LoadFailed(Struct, tag=True):
    """The plugin could not be loaded."""

    message: str


class Pong(Struct, tag=True):
    """Answers `Ping`."""

    number: int


class Request(Struct, tag=True):
    """An operation of the page that a call waits for."""

    request: int
    call: int
    operation: str
    params: Raw


class Notice(Struct, tag=True):
    """A log entry or progress of a call."""

    call: int
    operation: str
    params: Raw


class NotReady(Struct, tag=True):
    """The plugin is not ready in this page, so its tool was not called."""

    call: int
    reason: Literal["not_ready", "timed_out", "threw"]
    message: str


class Returned(Struct, tag=True):
    """What a tool has returned."""

    call: int
    value: Raw


class Raised(Struct, tag=True):
    """A tool has failed."""

    call: int
    message: str
    category: str = "internal"
    code: str = ""
    retryable: bool = False
    retry_after_ms: float | None = None
    request: int | None = None
    """The operation whose error it is, if the tool has only passed that on."""


ToProcess = Load | Invoke | CancelCall | Ping | Answer
Outcome = Returned | Raised | NotReady
FromProcess = Loaded | LoadFailed | Pong | Request | Notice | Outcome

decode_to_process = msgspec.json.Decoder(ToProcess).decode
decode_from_process = msgspec.json.Decoder(FromProcess).decode


class TooLarge(ValueError):
    """A message has more bytes than one may have."""


def framed(message: ToProcess | FromProcess) -> bytes:
    """A message as it is written; TooLarge, or an error of msgspec, if it cannot be."""
    body = msgspec.json.encode(message)
    if len(body) > MOST_BYTES:
        raise TooLarge(f"the message has {len(body)} bytes, at most {MOST_BYTES} are possible")
    return len(body).to_bytes(HEADER_BYTES, "big") + body


def length_in(header: bytes) -> int:
    """The length that a header announces; TooLarge if it is no header of ours."""
    length = int.from_bytes(header, "big")
    if length > MOST_BYTES:
        raise TooLarge(f"a message of {length} bytes was announced")
    return length
