"""Reads one address over HTTP, with limits on time and size that the other side cannot stretch."""

import asyncio
import ssl
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import SplitResult, quote, urljoin, urlsplit

import httptools

from tabhub import __version__
from tabhub.errors import NotFound, ProtocolError, Refused, TabhubError, TimedOut, Unavailable

CONNECT_SECONDS = 10.0
WHOLE_SECONDS = 60.0
MOST_REDIRECTS = 3
HEAD_BYTES = 64 * 1024
READ_BYTES = 64 * 1024
_IN_PATHS = "%/?:@!$&'()*+,;=~-._"
_PORTS = {"https": 443, "http": 80}
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_OK, _NOT_FOUND, _DENIED = 200, 404, frozenset({401, 403})


class Response(NamedTuple):
    """An answer that was read to its end."""

    status: int
    location: str
    body: bytes


async def download(url: str, headers: Mapping[str, str], most_bytes: int) -> bytes:
    """The body at an address; a redirect to another host, where the token must not go, fails."""
    host = urlsplit(url).netloc
    try:
        async with asyncio.timeout(WHOLE_SECONDS):
            return await _followed(url, headers, most_bytes)
    except TimeoutError:
        raise TimedOut(f"{host} did not answer in time. Nothing was done.", effect="none") from None
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise Unavailable(
            f"{host} cannot be reached ({why}). Nothing was done.", "server_unavailable"
        ) from None


def origin_of(url: str) -> tuple[str, str, int] | None:
    """Scheme, host and port of an address; None if it is no address of a web server."""
    try:
        parts = urlsplit(url)
        return (parts.scheme, parts.hostname, _port(parts)) if parts.hostname else None
    except (ValueError, KeyError):
        return None


def invalid(host: str, why: str) -> Unavailable:
    """The error about an answer that makes no sense."""
    return Unavailable(f"{host}: {why}. Nothing was done.", "invalid_response", effect="none")


async def _followed(url: str, headers: Mapping[str, str], most_bytes: int) -> bytes:
    first, host = origin_of(url), urlsplit(url).netloc
    for _ in range(MOST_REDIRECTS + 1):
        response = await _get(urlsplit(url), headers, most_bytes)
        if response.status == _OK:
            return response.body
        if response.status not in _REDIRECTS or not response.location:
            raise _failure(host, response.status)
        url = _joined(url, response.location)
        if origin_of(url) != first:
            raise invalid(host, "it redirects to another host")
    raise invalid(host, "it redirects too often")


def _joined(url: str, location: str) -> str:
    try:
        return urljoin(url, location)
    except ValueError:
        return ""


def _failure(host: str, status: int) -> TabhubError:
    if status == _NOT_FOUND:
        return NotFound(f"{host} does not have it. Nothing was done.", effect="none")
    if status in _DENIED:
        return Refused(
            f"{host} refuses access (status {status}): check its token in your .npmrc. "
            "Nothing was done.",
            effect="none",
        )
    return Unavailable(
        f"{host} answered with status {status}. Nothing was done.", "server_unavailable"
    )


async def _get(parts: SplitResult, headers: Mapping[str, str], most_bytes: int) -> Response:
    context = ssl.create_default_context() if parts.scheme == "https" else None
    async with asyncio.timeout(CONNECT_SECONDS):
        reader, writer = await asyncio.open_connection(parts.hostname, _port(parts), ssl=context)
    try:
        writer.write(_request(parts, headers))
        await writer.drain()
        return await _Reading(parts.netloc, most_bytes).response(reader)
    finally:
        # Nothing more is expected, and a server that does not hang up must not delay the rest.
        writer.transport.abort()


def _request(parts: SplitResult, headers: Mapping[str, str]) -> bytes:
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    lines = {
        "Host": parts.netloc.rpartition("@")[2],
        "User-Agent": f"tabhub/{__version__}",
        "Accept-Encoding": "identity",
        "Connection": "close",
        **headers,
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"GET {quote(path, safe=_IN_PATHS)} HTTP/1.1\r\n{head}\r\n".encode("ascii")


def _port(parts: SplitResult) -> int:
    return parts.port or _PORTS[parts.scheme]


class _Reading:
    """A response while it arrives; the parser calls its methods."""

    def __init__(self, host: str, most_bytes: int) -> None:
        self._host = host
        self._most_bytes = most_bytes
        self._parser = httptools.HttpResponseParser(self)
        self._location = ""
        self._has_length = False
        self._body: list[bytes] = []
        self._size = 0
        self._has_head = False
        self._is_over = False

    async def response(self, reader: asyncio.StreamReader) -> Response:
        received = 0
        while not self._is_over and (data := await reader.read(READ_BYTES)):
            received += len(data)
            self._feed(data)
            if self._size > self._most_bytes or (not self._has_head and received > HEAD_BYTES):
                raise self._too_large()
        if not self._has_head or (self._has_length and not self._is_over):
            raise invalid(self._host, "the response ends too early")
        return Response(self._parser.get_status_code(), self._location, b"".join(self._body))

    def _feed(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            raise invalid(self._host, "the response is not HTTP") from None

    def _too_large(self) -> ProtocolError:
        return ProtocolError(
            f"{self._host} sends more than {self._most_bytes} bytes. Nothing was done.",
            "too_large",
            effect="none",
        )

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() == b"location":
            self._location = value.decode("latin-1")
        elif name.lower() in (b"content-length", b"transfer-encoding"):
            self._has_length = True

    def on_headers_complete(self) -> None:
        self._has_head = True

    def on_body(self, body: bytes) -> None:
        self._size += len(body)
        self._body.append(body)

    def on_message_complete(self) -> None:
        self._is_over = True
