"""The running server's REST endpoints, as `tabhub tool` uses them."""

from collections.abc import Callable, Iterator
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any, NamedTuple
from urllib.parse import urlencode

import msgspec

from tabhub import __version__
from tabhub.cli import running
from tabhub.config import environment
from tabhub.config.clients import CLI, Clients
from tabhub.config.paths import Home
from tabhub.config.secret import load
from tabhub.errors import AccessError, Unavailable

Json = dict[str, Any]
Told = Callable[[Json], None]
"""Takes what a call tells on its way."""
STREAM = "text/event-stream"
UNKNOWN_TOKEN = 401
LOST = "The server went away before it answered; whether the call was done is not known."


class Fault(NamedTuple):
    """What the server says went wrong."""

    message: str
    reason: str


class Refused(Unavailable):
    """The server has said no; whatever its reason, the command was used rightly."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message, fault.reason)


class Answer(NamedTuple):
    """A status, and the JSON object that came with it."""

    status: int
    body: Json

    @property
    def fault(self) -> Fault | None:
        """What went wrong, in a tool or before it."""
        told = self.body.get("error")
        if isinstance(told, dict):
            return Fault(_explained(self.status, told), str(told.get("reason", "")))
        if self.body.get("isError") is True:
            return _told_as_result(self.body)
        if self.status >= 400:
            return Fault(f"The server answered with status {self.status}.", "internal")
        return None


class Rest:
    """One server, entered with one token."""

    def __init__(self, port: int, token: str) -> None:
        self._port = port
        self._headers = {
            "Authorization": f"Bearer {token}",
            "User-Agent": f"tabhub-cli/{__version__}",
        }

    def get(self, path: str, query: dict[str, str | None] | None = None) -> Json:
        """The object at a path; raises what the server says is wrong."""
        asked = {key: value for key, value in (query or {}).items() if value is not None}
        answer = self._ask("GET", f"{path}?{urlencode(asked)}" if asked else path)
        if answer.fault is not None:
            raise Refused(answer.fault)
        return answer.body

    def tools(self, query: dict[str, str | None] | None = None) -> list[Json]:
        found = self.get("/tools", query).get("tools")
        try:
            tools = msgspec.convert(found, list[Json])
        except msgspec.ValidationError:
            raise _unreadable() from None
        if not all(isinstance(tool.get("name"), str) for tool in tools):
            raise _unreadable()
        return tools

    def post(self, path: str, body: bytes, headers: dict[str, str], told: Told | None) -> Answer:
        """What came of it. With `told` the server is asked to tell how far it is."""
        accepted = "application/json" if told is None else f"application/json, {STREAM}"
        more = {"Content-Type": "application/json", "Accept": accepted, **headers}
        return self._ask("POST", path, body, more, told)

    def _ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        told: Told | None = None,
    ) -> Answer:
        # No limit of time: a call may wait for a person, and the server ends it by its own limits.
        connection = HTTPConnection("127.0.0.1", self._port)
        try:
            connection.connect()
        except OSError:
            raise running.NotRunning from None
        try:
            connection.request(method, path, body, {**self._headers, **(headers or {})})
            return _read(connection.getresponse(), told)
        except (OSError, HTTPException):
            raise Unavailable(LOST, "page_may_have_received") from None
        finally:
            # Hanging up is how a call is taken back.
            connection.close()


def enter(home: Home) -> Rest:
    """As the client `cli`, or as the one whose token the environment has."""
    token = environment.token_from_environment()
    if token is not None and not _has_secret(home):
        return _known_by_token(running.expected_port(home), token)
    known = running.reach(home)
    if known is None:
        raise running.NotRunning
    return Rest(known.port, token or Clients(home).computed(CLI, known.secret))


def _known_by_token(port: int, token: str) -> Rest:
    """Where no secret can be read, the server proves itself by the token's hash."""
    if not running.knows_token(port, token):
        raise AccessError(
            f"Who listens on port {port} does not know the token in {environment.TOKEN}, so it was"
            " not sent. It was revoked, or that is no tabhub, or another one."
        )
    return Rest(port, token)


def _has_secret(home: Home) -> bool:
    """Whether the server could be asked to prove itself; an agent may not be able to read it."""
    try:
        return load(home) is not None
    except OSError:
        return False


def _explained(status: int, error: Json) -> str:
    """The server's sentence, and which token it speaks of."""
    message = str(error.get("message", ""))
    is_theirs = status == UNKNOWN_TOKEN and environment.token_from_environment() is not None
    return f"{message} It is the one in {environment.TOKEN}." if is_theirs else message


def _told_as_result(result: Json) -> Fault:
    """The sentence is for the model to read, the word for programs."""
    texts = [block["text"] for block in result.get("content", ()) if "text" in block]
    error = (result.get("structuredContent") or {}).get("error")
    reason = error.get("reason", "") if isinstance(error, dict) else ""
    return Fault("\n".join(texts) or "The tool failed.", str(reason))


def _read(response: HTTPResponse, told: Told | None) -> Answer:
    if response.headers.get_content_type() != STREAM:
        return Answer(response.status, _object(response.read()))
    for name, data in _events(response):
        if name == "progress" and told is not None:
            told(_object(data))
        elif name in ("result", "error"):
            return Answer(response.status, _object(data))
    raise Unavailable(LOST, "page_may_have_received")


def _events(response: HTTPResponse) -> Iterator[tuple[str, bytes]]:
    name, data = "message", b""
    for line in response:
        field, _, value = line.rstrip(b"\r\n").partition(b":")
        if field == b"event":
            name = value.strip().decode()
        elif field == b"data":
            data += value.strip()
        elif not field and data:
            yield name, data
            name, data = "message", b""


def _object(data: bytes) -> Json:
    try:
        return msgspec.json.decode(data, type=Json)
    except msgspec.DecodeError:
        raise _unreadable() from None


def _unreadable() -> Unavailable:
    return Unavailable("The server's answer cannot be read.", "invalid_response")
