"""Makes a call result from a page's answer, whose size and shape are not trusted."""

import binascii
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeGuard
from urllib.parse import urlsplit

import msgspec

from tabhub.calls.marks import fenced
from tabhub.calls.results import UNTRUSTED, error_data, size_of
from tabhub.errors import Refused
from tabhub.hub.texts import readable
from tabhub.wire.mcp.messages import CallResult, Json, text
from tabhub.wire.pages import Outcome

LONGEST_URI = 2000
LONGEST_NAME = 200
LONGEST_ABOUT = 1000
LARGEST_SIZE = 2**53
_MIME = re.compile(
    r"[a-z0-9][a-z0-9.+-]{0,60}/[a-z0-9][a-z0-9.+-]{0,90}(; ?[a-z0-9=.-]{1,60})?", re.I
)
_URI = re.compile(r"[a-z][a-z0-9+.-]{0,30}:[!#$&-;=?-Z_a-z~%]+", re.I)
_HOST = re.compile(r"[a-z0-9._-]*(:[0-9]{1,5})?", re.I)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)")
OWN_SCHEMES = frozenset({"file", "tab"})
"""Schemes of addresses that a page must not use."""
PAGE_ERROR = "pageError"
"""The member for a page's own `error`, so that it cannot pass for one of tabhub's."""
LONGEST_ERROR = 4000
MOST_BLOCKS = 1000
DEEPEST = 50
MARK_BYTES = 120
"""The size of the two lines around a page's text, at most."""


def result_of(outcome: Outcome, most_bytes: int, *, untrusted: bool) -> CallResult:
    """The result of a call; raises an error if the page reports a failure without a result.

    `untrusted`: the page declares that the result has text of others, or is itself a stranger in
    its tab, so every text is marked. Any result is the page's as a whole, and `_meta` says so.
    """
    payload = outcome.payload
    if not outcome.success and not _is_result(payload):
        raise _failure(payload)
    result = _from_dict(payload) if _is_result(payload) else _from_value(payload)
    result = _within(result, most_bytes)
    result.is_error = result.is_error or not outcome.success
    result.structured_content = _structured(result)
    if untrusted or result.is_error:
        result.content = [_with_marks(block) for block in result.content]
    result.meta = {UNTRUSTED: _pointers(result.structured_content)}
    return result


def _pointers(data: Any) -> list[str]:
    """The page's parts of the result; the page has chosen the names in its data."""
    has_data = isinstance(data, dict) and bool(data.keys() - {"error"})
    return ["/content", "/structuredContent"] if has_data else ["/content"]


def _failure(payload: Any) -> Refused:
    message = payload if isinstance(payload, str) else _json(payload)
    return _failed(f":\n{fenced(message[:LONGEST_ERROR])}" if message else ".")


def _failed(how: str = ".") -> Refused:
    return Refused(f"The page's tool failed{how}", "script_error")


def _is_result(payload: Any) -> bool:
    content = payload.get("content") if isinstance(payload, dict) else None
    return isinstance(content, list) and all(isinstance(block, dict) for block in content)


def _from_dict(payload: Json) -> CallResult:
    content = [block_of(block) for block in payload["content"][:MOST_BLOCKS]]
    left = len(payload["content"]) - len(content)
    if left:
        content.append(text(f"[cut: {left} more blocks of the page's result]"))
    structured = payload.get("structuredContent")
    if isinstance(structured, dict) and not _is_flat(structured, DEEPEST):
        # Some JSON parsers refuse deep nesting, and would lose the whole result.
        content.append(text(_json(structured)))
        structured = None
    return CallResult(
        content=content,
        structured_content=structured if isinstance(structured, dict) else msgspec.UNSET,
        is_error=payload.get("isError") is True,
    )


def _from_value(payload: Any) -> CallResult:
    """Browsers return results as text, objects as JSON; that JSON may be an MCP result."""
    value = _parsed(payload) if isinstance(payload, str) else payload
    if _is_result(value):
        return _from_dict(value)
    written = payload if isinstance(payload, str) else _json(payload)
    is_fit = isinstance(value, dict) and _is_flat(value, DEEPEST)
    structured = value if is_fit else msgspec.UNSET
    return CallResult(content=[text(written)], structured_content=structured)


def _parsed(written: str) -> Any:
    if not written.lstrip().startswith("{"):
        return None
    try:
        return msgspec.json.decode(written)
    except (ValueError, RecursionError):
        return None


def _is_flat(value: Any, levels: int) -> bool:
    if not isinstance(value, list | dict):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(_is_flat(item, levels - 1) for item in inner)


def _structured(result: CallResult) -> Any:
    """The page's data; `error` in it is reserved for tabhub."""
    data = result.structured_content
    own = data if isinstance(data, dict) else {}
    rest = {name: value for name, value in own.items() if name != "error"}
    if own.get("error") is not None:
        rest.setdefault(PAGE_ERROR, own["error"])
    if result.is_error:
        return {**rest, "error": error_data(_failed())}
    return data if "error" not in own else rest


def _within(result: CallResult, most: int) -> CallResult:
    """The result, cut to a number of bytes with a note that says so."""
    if size_of(result) + MARK_BYTES * len(result.content) <= most:
        return result
    content: list[Json] = []
    left = most
    for block in result.content:
        size = len(msgspec.json.encode(block)) + MARK_BYTES
        if size > left:
            content.append(_cut(block, size, left))
            break
        content.append(block)
        left -= size
    result.content, result.structured_content = content, msgspec.UNSET
    return result


def _cut(block: Json, size: int, left: int) -> Json:
    note = f"[cut: the page's result is too large, {size} bytes where {left} were left]"
    start = str(block.get("text", ""))[: max(left // 4, 0)] if block["type"] == "text" else ""
    return text(f"{start}\n{note}" if start else note)


def _json(value: Any) -> str:
    return "" if value is None else msgspec.json.encode(value).decode()


def block_of(block: Json) -> Json:
    """A content block that clients understand; any other becomes text."""
    kind = block.get("type")
    made = _KINDS[kind](block) if isinstance(kind, str) and kind in _KINDS else None
    if made is None:
        return text(_json(block))
    annotations = _annotations(block.get("annotations"))
    return {**made, "annotations": annotations} if annotations else made


def _with_marks(block: Json) -> Json:
    """The block with every text in it marked as the page's."""
    if block["type"] == "text":
        return {**block, "text": _marked(block["text"])}
    if block["type"] == "resource" and "text" in block["resource"]:
        resource = block["resource"]
        return {**block, "resource": {**resource, "text": _marked(resource["text"])}}
    if "description" in block:
        return {**block, "description": _marked(block["description"])}
    return block


def _marked(content: str) -> str:
    return fenced(content) if content else content


def _text(block: Json) -> Json | None:
    content = block.get("text")
    return text(content) if isinstance(content, str) else None


def _media(block: Json) -> Json | None:
    kind, data, mime = block["type"], block.get("data"), block.get("mimeType")
    if not _is_base64(data) or not _is_mime(mime) or not mime.lower().startswith(f"{kind}/"):
        return None
    return {"type": kind, "data": data, "mimeType": mime}


def _resource(block: Json) -> Json | None:
    resource = block.get("resource")
    if not isinstance(resource, dict) or not _is_uri(resource.get("uri")):
        return None
    made = {"uri": resource["uri"]}
    if _is_mime(resource.get("mimeType")):
        made["mimeType"] = resource["mimeType"]
    if isinstance(resource.get("text"), str):
        return {"type": "resource", "resource": made | {"text": resource["text"]}}
    if _is_base64(resource.get("blob")):
        return {"type": "resource", "resource": made | {"blob": resource["blob"]}}
    return None


def _link(block: Json) -> Json | None:
    uri, name, size = block.get("uri"), block.get("name"), block.get("size")
    if not _is_uri(uri) or not isinstance(name, str):
        return None
    made: Json = {"type": "resource_link", "uri": uri, "name": readable(name, LONGEST_NAME)}
    for member, longest in (("title", LONGEST_NAME), ("description", LONGEST_ABOUT)):
        if isinstance(block.get(member), str):
            made[member] = readable(block[member], longest)
    if _is_mime(block.get("mimeType")):
        made["mimeType"] = block["mimeType"]
    if isinstance(size, int) and not isinstance(size, bool) and 0 <= size <= LARGEST_SIZE:
        made["size"] = size
    return made


_KINDS: dict[str, Callable[[Json], Json | None]] = {
    "text": _text,
    "image": _media,
    "audio": _media,
    "resource": _resource,
    "resource_link": _link,
}


def _annotations(value: Any) -> Json:
    if not isinstance(value, dict):
        return {}
    audience, priority, at = (value.get(name) for name in ("audience", "priority", "lastModified"))
    made: Json = {}
    if (
        isinstance(audience, list)
        and audience
        and all(reader in ("user", "assistant") for reader in audience)
    ):
        made["audience"] = list(dict.fromkeys(audience))
    if isinstance(priority, int | float) and not isinstance(priority, bool) and 0 <= priority <= 1:
        made["priority"] = priority
    if _is_time(at):
        made["lastModified"] = at
    return made


def _is_base64(data: Any) -> bool:
    if not isinstance(data, str):
        return False
    try:
        binascii.a2b_base64(data, strict_mode=True)
    except ValueError:
        return False
    return True


def _is_mime(mime: Any) -> TypeGuard[str]:
    return isinstance(mime, str) and _MIME.fullmatch(mime) is not None


def _is_uri(uri: Any) -> bool:
    """Whether it is a strictly valid URI, and not of a scheme that tabhub reserves."""
    if not isinstance(uri, str) or len(uri) > LONGEST_URI or not _URI.fullmatch(uri):
        return False
    try:
        parts = urlsplit(uri)
        port = parts.port
    except ValueError:
        return False
    if parts.scheme in OWN_SCHEMES or not _HOST.fullmatch(parts.netloc):
        return False
    return parts.scheme not in ("http", "https") or (bool(parts.hostname) and port != 0)


def _is_time(at: Any) -> bool:
    if not isinstance(at, str) or not _TIME.fullmatch(at):
        return False
    try:
        datetime.fromisoformat(at)
    except ValueError:
        return False
    return True
