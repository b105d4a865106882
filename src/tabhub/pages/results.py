"""What a page answers, as a result that every door can show. Its size and shape are not trusted."""

from typing import Any

import msgspec

from tabhub.calls.results import size_of
from tabhub.calls.untrusted import fenced
from tabhub.errors import Refused
from tabhub.hub.tools import Tool
from tabhub.wire.mcp.messages import CallResult, Json, text
from tabhub.wire.pages import Outcome

UNTRUSTED = "tabhub/untrusted"
LONGEST_ERROR = 4000
MOST_BLOCKS = 1000
_NEEDED = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource_link": ("uri", "name"),
}
"""Members that a block of content must have, all of them texts."""


def result_of(outcome: Outcome, tool: Tool, most_bytes: int) -> CallResult:
    """The result of a call; an error if the page says that it failed."""
    payload = outcome.payload
    if not outcome.success and not _is_result(payload):
        raise failure(payload)
    result = _from_dict(payload) if _is_result(payload) else _from_value(payload)
    result.is_error = result.is_error or not outcome.success
    result = _within(result, most_bytes)
    if result.is_error and not isinstance(result.structured_content, dict):
        result.structured_content = {"error": {"code": _FAILED.code, **_FAILED.data()}}
    return _marked(result) if tool.annotations.get("untrustedContentHint") is True else result


def failure(payload: Any) -> Refused:
    told = payload if isinstance(payload, str) else _json(payload)
    return Refused(told[:LONGEST_ERROR] or "The page's tool failed.", "script_error")


_FAILED = Refused("The page's tool failed.", "script_error")


def _is_result(payload: Any) -> bool:
    content = payload.get("content") if isinstance(payload, dict) else None
    return isinstance(content, list) and all(isinstance(block, dict) for block in content)


def _from_dict(payload: Json) -> CallResult:
    structured = payload.get("structuredContent", msgspec.UNSET)
    return CallResult(
        content=[_block(block) for block in payload["content"][:MOST_BLOCKS]],
        structured_content=structured if isinstance(structured, dict) else msgspec.UNSET,
        is_error=payload.get("isError") is True,
    )


def _block(block: Json) -> Json:
    """A block that clients understand; what they would not is shown as text."""
    kind = block.get("type")
    if kind == "resource" and isinstance(block.get("resource"), dict):
        resource = block["resource"]
        if isinstance(resource.get("uri"), str) and _has_body(resource):
            return block
    elif isinstance(kind, str) and kind in _NEEDED:
        if all(isinstance(block.get(name), str) for name in _NEEDED[kind]):
            return block
    return text(_json(block))


def _has_body(resource: Json) -> bool:
    return isinstance(resource.get("text"), str) or isinstance(resource.get("blob"), str)


def _from_value(payload: Any) -> CallResult:
    """Browsers hand results over as text, objects as JSON; a result of MCP may be in there."""
    value = _parsed(payload) if isinstance(payload, str) else payload
    if _is_result(value):
        return _from_dict(value)
    shown = payload if isinstance(payload, str) else "" if payload is None else _json(payload)
    structured = value if isinstance(value, dict) else msgspec.UNSET
    return CallResult(content=[text(shown)], structured_content=structured)


def _parsed(told: str) -> Any:
    if not told.lstrip().startswith("{"):
        return None
    try:
        return msgspec.json.decode(told)
    except (ValueError, RecursionError):
        return None


def _within(result: CallResult, most: int) -> CallResult:
    """Cut to a number of bytes, saying so."""
    if size_of(result) <= most:
        return result
    content: list[Json] = []
    left = most
    for block in result.content:
        size = len(msgspec.json.encode(block))
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


def _marked(result: CallResult) -> CallResult:
    for block in result.content:
        if block["type"] == "text":
            block["text"] = fenced(block["text"])
    known = result.meta if isinstance(result.meta, dict) else {}
    result.meta = {**known, UNTRUSTED: True}
    return result


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
