"""Rules for HTTP headers in sessionless revisions of MCP: headers repeat parts of the body.

An intermediary may route by them, so a request whose headers contradict its body is refused. A tool
can mark arguments, by `x-mcp-header` in its schema, that are repeated in `Mcp-Param-` headers.
"""

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from tabhub.errors import ProtocolError
from tabhub.wire import jsonrpc
from tabhub.wire.mcp import messages as m
from tabhub.wire.mcp.versions import SESSIONLESS, SUPPORTED

VERSION, METHOD, NAME = b"mcp-protocol-version", b"mcp-method", b"mcp-name"
PARAM_PREFIX = b"mcp-param-"
ROUTING = (VERSION, METHOD, NAME)
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
REQUIRED = (m.META_VERSION, m.META_CAPABILITIES)

_SENTINEL = re.compile(r"=\?base64\?(.*)\?=")
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_INTEGER = re.compile(r"-?[0-9]+(\.0+)?")
_SCALARS = ("string", "integer", "boolean")

Headers = Mapping[bytes, bytes]


class Envelope(msgspec.Struct):
    """The revision, the client and its capabilities, which every request repeats."""

    version: str
    client: m.ClientInfo
    capabilities: m.Json
    log_level: m.LogLevel | None


class _Peek(msgspec.Struct):
    meta: Any = msgspec.field(default=None, name="_meta")


_peek = msgspec.json.Decoder(_Peek).decode


def value_of(headers: Headers, name: bytes) -> str | None:
    """A header's value without the blanks that HTTP allows around it."""
    found = headers.get(name)
    return None if found is None else found.decode("latin-1").strip(" \t")


def open_envelope(method: str, params: m.RequestParams, headers: Headers) -> Envelope:
    """Read the envelope of a request; raises for the first mistake."""
    meta = params.meta
    missing = [key for key in REQUIRED if key not in meta]
    if missing:
        raise ProtocolError(f"params._meta lacks {', '.join(missing)}.", "invalid_params")
    _agree(method, params, headers)
    require_version(meta[m.META_VERSION])
    client, capabilities = meta.get(m.META_CLIENT_INFO) or {}, meta[m.META_CAPABILITIES]
    if not isinstance(capabilities, dict) or not isinstance(client, dict):
        raise ProtocolError("Client info and capabilities must be objects.", "invalid_params")
    level = meta.get(m.META_LOG_LEVEL)
    if level is not None and level not in m.LOG_LEVELS:
        raise ProtocolError(
            f"There is no log level {level!r}; use one of {', '.join(m.LOG_LEVELS)}.",
            "invalid_params",
        )
    return Envelope(meta[m.META_VERSION], _client(client), capabilities, level)


def claims_envelope(params: msgspec.Raw) -> bool:
    """Whether a body is of a sessionless revision, whatever its headers say."""
    try:
        meta = _peek(params).meta
    except jsonrpc.UNREADABLE:
        return False
    return isinstance(meta, dict) and m.META_VERSION in meta


def require_version(version: Any) -> None:
    if not isinstance(version, str):
        raise ProtocolError("The protocol version must be a string.", "invalid_params")
    if version not in SESSIONLESS:
        raise unsupported(version)


def unsupported(version: str) -> ProtocolError:
    return ProtocolError(
        f"Protocol version {version!r} is not supported.",
        "unsupported_version",
        data={"supported": list(SUPPORTED), "requested": version},
    )


def mismatch(message: str) -> ProtocolError:
    return ProtocolError(message, "header_mismatch")


def refuse_duplicates(pairs: Iterable[tuple[bytes, bytes]]) -> None:
    """Refuse a header that occurs twice: intermediaries could choose differently."""
    seen = set()
    for name, _ in pairs:
        if name in seen and (name in ROUTING or name.startswith(PARAM_PREFIX)):
            raise mismatch(f"The header {name.decode('latin-1')} appears more than once.")
        seen.add(name)


def encode_value(plain: str) -> bytes:
    """A value in a form that a header can hold: as it is, or in base64."""
    is_safe = plain.isascii() and plain.isprintable() and plain == plain.strip(" ")
    if is_safe and _SENTINEL.fullmatch(plain) is None:
        return plain.encode()
    return b"=?base64?" + base64.b64encode(plain.encode(errors="replace")) + b"?="


def decode_value(raw: str) -> str | None:
    """The value of a header, decoded if it is in base64; None if that is corrupt."""
    wrapped = _SENTINEL.fullmatch(raw) if raw.startswith("=?") else None
    if wrapped is None:
        return raw
    try:
        plain = base64.b64decode(wrapped[1], validate=True)
        return plain.decode() if base64.b64encode(plain).decode() == wrapped[1] else None
    except (binascii.Error, ValueError):
        return None


def _agree(method: str, params: m.RequestParams, headers: Headers) -> None:
    if value_of(headers, VERSION) != params.meta[m.META_VERSION]:
        raise mismatch("MCP-Protocol-Version does not match the version in the body.")
    if value_of(headers, METHOD) != method:
        raise mismatch("Mcp-Method does not match the method in the body.")
    key = NAMED.get(method)
    if key is not None and hasattr(params, key):
        given = value_of(headers, NAME)
        if given is None or decode_value(given) != getattr(params, key):
            raise mismatch(f"Mcp-Name does not match the {key} in the body.")


def _client(info: m.Json) -> m.ClientInfo:
    return m.ClientInfo(name=str(info.get("name", "")), version=str(info.get("version", "")))


class Mark(NamedTuple):
    """A marked argument: its path, the name of its header, its type."""

    path: tuple[str, ...]
    token: Any
    kind: Any

    @property
    def header(self) -> bytes:
        return PARAM_PREFIX + str(self.token).lower().encode("utf-8")

    def usable(self) -> bool:
        has_name = isinstance(self.token, str) and _TOKEN.fullmatch(self.token) is not None
        return has_name and self.kind in _SCALARS


class ParamHeaders:
    """Checks the headers of calls; caches the marks of each tool until its schema changes."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Any, list[Mark]]] = {}

    def check(self, tool: str, schema: Any, arguments: msgspec.Raw, headers: Headers) -> None:
        marks = self._marks(tool, schema)
        if marks:
            given = _decoded(arguments)
            for mark in marks:
                _check(mark, given, headers)

    def _marks(self, tool: str, schema: Any) -> list[Mark]:
        if schema is None:
            return []
        known = self._known.get(tool)
        if known is None or known[0] is not schema:
            known = self._known[tool] = (schema, declared(schema))
        return known[1]


def declared(schema: Any) -> list[Mark]:
    """The marks of a schema; none if one of them is invalid."""
    marks = list(_walk(schema, ()))
    unique = len({mark.header for mark in marks}) == len(marks)
    return marks if unique and all(mark.usable() for mark in marks) else []


def rendered(marks: list[Mark], arguments: Any) -> list[tuple[bytes, bytes]]:
    """The headers that go with these arguments."""
    values = [(mark.header, _render(_value_at(arguments, mark.path))) for mark in marks]
    return [(name, encode_value(value)) for name, value in values if value is not None]


def _walk(schema: Any, path: tuple[str, ...]) -> Iterator[Mark]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    for key, sub in properties.items() if isinstance(properties, dict) else ():
        if isinstance(sub, dict):
            if "x-mcp-header" in sub:
                yield Mark((*path, key), sub["x-mcp-header"], sub.get("type"))
            yield from _walk(sub, (*path, key))


def _decoded(arguments: msgspec.Raw) -> Any:
    try:
        return msgspec.json.decode(arguments)
    except jsonrpc.UNREADABLE as error:
        raise ProtocolError(f"Wrong arguments: {error}.", "invalid_params") from None


def _check(mark: Mark, arguments: Any, headers: Headers) -> None:
    name, raw = mark.header.decode(), value_of(headers, mark.header)
    value = _value_at(arguments, mark.path)
    rendered = _render(value)
    if raw is None and rendered is None:
        return
    if raw is None or rendered is None:
        raise mismatch(f"The header {name} and its argument must be given together.")
    given = decode_value(raw)
    if given is None:
        raise mismatch(f"The header {name} is not valid base64.")
    same_number = mark.kind == "integer" and _INTEGER.fullmatch(given) and float(given) == value
    if given != rendered and not same_number:
        raise mismatch(f"The header {name} does not match its argument.")


def _value_at(arguments: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        arguments = arguments.get(key) if isinstance(arguments, Mapping) else None
    return arguments


def _render(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else None
