"""The running server's REST endpoints, as `tabhub tool` uses them."""

from collections.abc import Callable, Iterator
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any, NamedTuple
from urllib.parse import urlencode

import msgspec

from tabhub import __version__
from tabhub.cli import port_holder, running
from tabhub.config import environment
from tabhub.config.clients import CLI, Clients
from tabhub.config.paths import Home
from tabhub.config.secret import load
from tabhub.errors import AccessError, Unavailable

Json = dict[str, Any]
OnProgress = Callable[[Json], None]
"""Receives the progress reports of a call."""
STREAM = "text/event-stream"
UNAUTHORIZED = 401
LOST = "The server went away before it answered; the call may or may not have been done."


class ReportedError(NamedTuple):
    """An error as the server reports it."""

    message: str
    reason: str


class RequestRefused(Unavailable):
    """The server refused the request; the command itself was used correctly."""

    def __init__(self, fault: ReportedError) -> None:
        super().__init__(fault.message, fault.reason)


class RestResponse(NamedTuple):
    """An HTTP status and the JSON object in the body."""

    status: int
    body: Json

    @property
    def fault(self) -> ReportedError | None:
        """What went wrong, in the tool or before it ran."""
        error = self.body.get("error")
        if isinstance(error, dict):
            return ReportedError(_message(self.status, error), str(error.get("reason", "")))
        if self.body.get("isError") is True:
            return _fault_in_result(self.body)
        if self.status >= 400:
            return ReportedError(f"The server answered with status {self.status}.", "internal")
        return None


class RestClient:
    """A client of one server, with one token."""

    def __init__(self, port: int, token: str) -> None:
        self._port = port
        self._headers = {
            "Authorization": f"Bearer {token}",
            "User-Agent": f"tabhub-cli/{__version__}",
        }

    def get(self, path: str, query: dict[str, str | None] | None = None) -> Json:
        """The object at a path; raises the error that the server reports."""
        given = {key: value for key, value in (query or {}).items() if value is not None}
        response = self._request("GET", f"{path}?{urlencode(given)}" if given else path)
        if response.fault is not None:
            raise RequestRefused(response.fault)
        return response.body

    def tools(self, query: dict[str, str | None] | None = None) -> list[Json]:
        found = self.get("/tools", query).get("tools")
        try:
            tools = msgspec.convert(found, list[Json])
        except msgspec.ValidationError:
            raise _unreadable() from None
        if not all(isinstance(tool.get("name"), str) for tool in tools):
            raise _unreadable()
        return tools

    def post(
        self, path: str, body: bytes, headers: dict[str, str], on_progress: OnProgress | None
    ) -> RestResponse:
        """The response, a refusal too. With `on_progress` the server streams its progress."""
        accepted = "application/json" if on_progress is None else f"application/json, {STREAM}"
        more = {"Content-Type": "application/json", "Accept": accepted, **headers}
        return self._request("POST", path, body, more, on_progress)

    def _request(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        on_progress: OnProgress | None = None,
    ) -> RestResponse:
        # No timeout: a call may wait for a person, and the server has its own limits.
        connection = HTTPConnection("127.0.0.1", self._port)
        try:
            connection.connect()
        except OSError:
            raise running.NotRunning from None
        try:
            connection.request(method, path, body, {**self._headers, **(headers or {})})
            return _read(connection.getresponse(), on_progress)
        except (OSError, HTTPException):
            raise Unavailable(LOST, "page_may_have_received") from None
        finally:
            # Closing the connection cancels the call.
            connection.close()


def connect(home: Home) -> RestClient:
    """A client with the token in the environment, or as the client `cli`."""
    token = environment.token_from_environment()
    if token is not None and not _can_read_secret(home):
        return _connect_by_token(running.expected_port(home), token)
    server = running.reach(home)
    if server is None:
        raise port_holder.not_running(home)
    return RestClient(server.port, token or Clients(home).computed(CLI, server.secret))


def _connect_by_token(port: int, token: str) -> RestClient:
    """Without the secret, the server has to prove that it knows the token's hash."""
    if not running.knows_token(port, token):
        raise AccessError(
            f"The program on port {port} does not know the token in {environment.TOKEN}, so it was"
            " not sent. The token was revoked, or this is not the tabhub that issued it."
        )
    return RestClient(port, token)


def _can_read_secret(home: Home) -> bool:
    """Whether this process can read the secret; an agent's process may not be allowed to."""
    try:
        return load(home) is not None
    except OSError:
        return False


def _message(status: int, error: Json) -> str:
    """The server's sentence, and where the token that it rejects comes from."""
    message = str(error.get("message", ""))
    is_from_environment = environment.token_from_environment() is not None
    if status == UNAUTHORIZED and is_from_environment:
        return f"{message} It is the one in {environment.TOKEN}."
    return message


def _fault_in_result(result: Json) -> ReportedError:
    """The error of a tool: its text blocks, and the reason word."""
    texts = [block["text"] for block in result.get("content", ()) if "text" in block]
    error = (result.get("structuredContent") or {}).get("error")
    reason = error.get("reason", "") if isinstance(error, dict) else ""
    return ReportedError("\n".join(texts) or "The tool failed.", str(reason))


def _read(response: HTTPResponse, on_progress: OnProgress | None) -> RestResponse:
    if response.headers.get_content_type() != STREAM:
        return RestResponse(response.status, _object(response.read()))
    for name, data in _events(response):
        if name == "progress" and on_progress is not None:
            on_progress(_object(data))
        elif name in ("result", "error"):
            return RestResponse(response.status, _object(data))
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
    return Unavailable("The server's response cannot be read.", "invalid_response")
