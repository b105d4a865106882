"""What a page answers, as a result that every door can show. Its size and shape are not trusted."""

import binascii
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeGuard
from urllib.parse import urlsplit

import msgspec

from tabhub.calls.results import error_data, fenced, size_of
from tabhub.errors import Refused
from tabhub.page_tools.core.schema import readable
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
OURS = frozenset({"file", "tab"})
"""Places that a page has nothing to say about."""


def block_of(told: Json) -> Json:
    """A block that clients understand; one that they would not is shown as text."""
    kind = told.get("type")
    made = _KINDS[kind](told) if isinstance(kind, str) and kind in _KINDS else None
    if made is None:
        return text(msgspec.json.encode(told).decode())
    about = _annotations(told.get("annotations"))
    return {**made, "annotations": about} if about else made


def marked(block: Json) -> Json:
    """With every text in it marked as the page's."""
    if block["type"] == "text":
        return {**block, "text": _marked(block["text"])}
    if block["type"] == "resource" and "text" in block["resource"]:
        resource = block["resource"]
        return {**block, "resource": {**resource, "text": _marked(resource["text"])}}
    if "description" in block:
        return {**block, "description": _marked(block["description"])}
    return block


def _marked(said: str) -> str:
    return fenced(said) if said else said


def _text(told: Json) -> Json | None:
    said = told.get("text")
    return text(said) if isinstance(said, str) else None


def _media(told: Json) -> Json | None:
    kind, data, mime = told["type"], told.get("data"), told.get("mimeType")
    if not _is_base64(data) or not _is_mime(mime) or not mime.lower().startswith(f"{kind}/"):
        return None
    return {"type": kind, "data": data, "mimeType": mime}


def _resource(told: Json) -> Json | None:
    resource = told.get("resource")
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


def _link(told: Json) -> Json | None:
    uri, name, size = told.get("uri"), told.get("name"), told.get("size")
    if not _is_uri(uri) or not isinstance(name, str):
        return None
    made: Json = {"type": "resource_link", "uri": uri, "name": readable(name, LONGEST_NAME)}
    for member, longest in (("title", LONGEST_NAME), ("description", LONGEST_ABOUT)):
        if isinstance(told.get(member), str):
            made[member] = readable(told[member], longest)
    if _is_mime(told.get("mimeType")):
        made["mimeType"] = told["mimeType"]
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


def _annotations(told: Any) -> Json:
    if not isinstance(told, dict):
        return {}
    audience, priority, at = (told.get(name) for name in ("audience", "priority", "lastModified"))
    made: Json = {}
    if (
        isinstance(audience, list)
        and audience
        and all(who in ("user", "assistant") for who in audience)
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
    """Whether it is one in the strictest reading, and not of a place that only we know."""
    if not isinstance(uri, str) or len(uri) > LONGEST_URI or not _URI.fullmatch(uri):
        return False
    try:
        parts = urlsplit(uri)
        port = parts.port
    except ValueError:
        return False
    if parts.scheme in OURS or not _HOST.fullmatch(parts.netloc):
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


UNTRUSTED = "tabhub/untrusted"
PAGE_ERROR = "pageError"
"""Where a page's own `error` is told, so that it cannot pass for one of ours."""
LONGEST_ERROR = 4000
MOST_BLOCKS = 1000
DEEPEST = 50
MARK_BYTES = 120
"""What the two lines around a page's text may take."""


def result_of(outcome: Outcome, most_bytes: int, *, strange: bool) -> CallResult:
    """The result of a call; an error if the page says that it failed.

    `strange`: by the page's own word there is text of strangers in it, so every text is marked.
    """
    payload = outcome.payload
    if not outcome.success and not _is_result(payload):
        raise failure(payload)
    result = _from_dict(payload) if _is_result(payload) else _from_value(payload)
    result = _within(result, most_bytes)
    result.is_error = result.is_error or not outcome.success
    result.structured_content = _structured(result)
    if strange or result.is_error:
        result.content = [marked(block) for block in result.content]
    result.meta = {UNTRUSTED: True}
    return result


def failure(payload: Any) -> Refused:
    said = payload if isinstance(payload, str) else _json(payload)
    return _failed(f":\n{fenced(said[:LONGEST_ERROR])}" if said else ".")


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
        # Readers of JSON give up at some depth, and with it the whole result.
        content.append(text(_json(structured)))
        structured = None
    return CallResult(
        content=content,
        structured_content=structured if isinstance(structured, dict) else msgspec.UNSET,
        is_error=payload.get("isError") is True,
    )


def _from_value(payload: Any) -> CallResult:
    """Browsers hand results over as text, objects as JSON; a result of MCP may be in there."""
    value = _parsed(payload) if isinstance(payload, str) else payload
    if _is_result(value):
        return _from_dict(value)
    shown = payload if isinstance(payload, str) else "" if payload is None else _json(payload)
    is_fit = isinstance(value, dict) and _is_flat(value, DEEPEST)
    return CallResult(content=[text(shown)], structured_content=value if is_fit else msgspec.UNSET)


def _parsed(said: str) -> Any:
    if not said.lstrip().startswith("{"):
        return None
    try:
        return msgspec.json.decode(said)
    except (ValueError, RecursionError):
        return None


def _is_flat(value: Any, levels: int) -> bool:
    if not isinstance(value, list | dict):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(_is_flat(one, levels - 1) for one in inner)


def _structured(result: CallResult) -> Any:
    """The page's data, in which `error` is ours alone."""
    data = result.structured_content
    own = data if isinstance(data, dict) else {}
    rest = {name: value for name, value in own.items() if name != "error"}
    if own.get("error") is not None:
        rest.setdefault(PAGE_ERROR, own["error"])
    if result.is_error:
        return {**rest, "error": error_data(_failed())}
    return data if "error" not in own else rest


def _within(result: CallResult, most: int) -> CallResult:
    """Cut to a number of bytes, saying so."""
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
    shown = str(block.get("text", ""))[: max(left // 4, 0)] if block["type"] == "text" else ""
    return text(f"{shown}\n{note}" if shown else note)


def _json(value: Any) -> str:
    return "" if value is None else msgspec.json.encode(value).decode()
