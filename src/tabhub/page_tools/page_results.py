"""What a page answers, as a result that every door can show. Its size and shape are not trusted."""

from typing import Any

import msgspec

from tabhub.calls.results import error_data, size_of
from tabhub.calls.untrusted import fenced
from tabhub.errors import Refused
from tabhub.pages.blocks import block_of, marked
from tabhub.wire.mcp.messages import CallResult, Json, text
from tabhub.wire.pages import Outcome

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
