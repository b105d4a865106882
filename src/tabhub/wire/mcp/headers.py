"""The header rules of the sessionless era: headers repeat what the body says, and must agree.

An intermediary may route by them, so a header that contradicts the body is refused, never ignored.
"""

import base64
import binascii
import re
from collections.abc import Iterable, Mapping
from typing import Any

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

Headers = Mapping[bytes, bytes]


class Envelope(msgspec.Struct):
    """Who asks, in which revision, able to do what: said anew with every request."""

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


def open_envelope(method: str, params: m.Params, headers: Headers) -> Envelope:
    """Check the envelope of one request, first fault first."""
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
        raise ProtocolError(f"There is no log level {level!r}.", "invalid_params")
    return Envelope(meta[m.META_VERSION], _client(client), capabilities, level)


def claims_envelope(params: msgspec.Raw) -> bool:
    """Whether a body speaks the sessionless era, whatever its headers say."""
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
    """Two copies of a routing header would be read differently by different readers."""
    seen = set()
    for name, _ in pairs:
        if name in seen and (name in ROUTING or name.startswith(PARAM_PREFIX)):
            raise mismatch(f"The header {name.decode('latin-1')} appears more than once.")
        seen.add(name)


def encode_value(plain: str) -> bytes:
    """A value as a header can hold it."""
    is_safe = plain.isascii() and plain.isprintable() and plain == plain.strip(" ")
    if is_safe and _SENTINEL.fullmatch(plain) is None:
        return plain.encode()
    return b"=?base64?" + base64.b64encode(plain.encode(errors="replace")) + b"?="


def decode_value(raw: str) -> str | None:
    """Undo the base64 wrapping of values that a header cannot hold; None when it is corrupt."""
    wrapped = _SENTINEL.fullmatch(raw)
    if wrapped is None:
        return raw
    try:
        plain = base64.b64decode(wrapped[1], validate=True)
        return plain.decode() if base64.b64encode(plain).decode() == wrapped[1] else None
    except (binascii.Error, ValueError):
        return None


def _agree(method: str, params: m.Params, headers: Headers) -> None:
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
