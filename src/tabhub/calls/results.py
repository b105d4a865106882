"""Results as every endpoint returns them: a sentence for the reader, data for the program."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import msgspec

from tabhub.errors import Effect, TabhubError
from tabhub.hub.tabs import Tab
from tabhub.permissions.sites import WALLED, MayTell, is_walled
from tabhub.wire.mcp.messages import CallResult, Json, text


class Incomplete(TabhubError):
    """A call failed after some of it was done; the error carries the results so far."""

    def __init__(
        self, message: str, cause: TabhubError, content: list[Json], structured: Json
    ) -> None:
        effect: Effect = "done" if content else cause.effect
        super().__init__(message, cause.reason, data=cause.extra, code=cause.code, effect=effect)
        self.cause = cause
        self.content = content
        self.structured = structured


UNTRUSTED = "tabhub/untrusted"
"""The member of `_meta` that names, by JSON pointers, what pages may have written."""
OWN = frozenset(
    """
    browser browsers closed code category color connectionId decision groupHandle id kind owner
    parentId permission reason ref requestId requestedUrl sessionId state status visits
    """.split()
)
"""Members of structured content whose words are never a page's."""
_SIZED = frozenset({"text", "data", "blob"})
"""Members of a content block that hold the content itself."""


def size_of(result: CallResult | Incomplete) -> int:
    """The size in bytes, as it is sent."""
    structured = result.structured if isinstance(result, Incomplete) else result.structured_content
    data = None if structured is msgspec.UNSET else structured
    return len(msgspec.json.encode((result.content, data)))


def content_bytes(content: Iterable[Json]) -> int:
    """The size of texts, pictures and files; quick, since it is taken of every call."""
    return sum(map(_block_bytes, content))


def _block_bytes(block: Json) -> int:
    members = block.get("resource") if block.get("type") == "resource" else block
    size = 0
    for key, value in members.items() if isinstance(members, dict) else ():
        if key in _SIZED and isinstance(value, str):
            size += len(value) if value.isascii() else len(value.encode(errors="replace"))
    return size


def done(sentence: str, data: Any) -> CallResult:
    return CallResult(content=[text(sentence)], structured_content=data)


def failed(error: TabhubError) -> CallResult:
    """A tool's error as a result, so that the model can read it and continue."""
    content, structured = [text(error.message)], {"error": error_data(error)}
    if isinstance(error, Incomplete):
        content, structured = content + error.content, error.structured | structured
    result = CallResult(content=content, structured_content=structured, is_error=True)
    return with_pointers(result)


def error_data(error: TabhubError) -> Json:
    """An error as structured content."""
    return {"code": error.code, **error.data()}


def with_pointers(result: CallResult) -> CallResult:
    """The result, with pointers in `_meta` to what pages may have written outside of marks.

    Programs read it, so it stays as it is. In doubt it is a page's.
    """
    pointers = [*_content_pointers(result.content)]
    if result.structured_content is not msgspec.UNSET:
        pointers += _data_pointers(result.structured_content)
    if pointers:
        meta = result.meta if isinstance(result.meta, dict) else {}
        result.meta = {**meta, UNTRUSTED: pointers}
    return result


def _content_pointers(content: Iterable[Json]) -> Iterator[str]:
    for number, block in enumerate(content):
        if block["type"] != "text":
            yield f"/content/{number}"
        elif is_json(block["text"]):
            yield f"/content/{number}/text"


def is_json(text: str) -> bool:
    """Whether a text is JSON as a whole: an object or a list, which only programs read."""
    if not text.startswith(("{", "[")):
        return False
    try:
        msgspec.json.decode(text)
    except (ValueError, RecursionError):
        return False
    return True


def _data_pointers(data: Any) -> Iterator[str]:
    if isinstance(data, list) and _has_text(data):
        yield "/structuredContent"
    members = data if isinstance(data, dict) else {}
    for name, value in members.items():
        if name == "error" and isinstance(value, dict):
            yield from (f"/structuredContent/error/{key}" for key in value if _is_words(key, value))
        elif _is_words(name, members):
            yield f"/structuredContent/{name}"


def _is_words(name: str, members: Json) -> bool:
    return name not in OWN and _has_text(members[name])


def _has_text(value: Any) -> bool:
    if isinstance(value, dict):
        return any(isinstance(key, str) or _has_text(item) for key, item in value.items())
    return isinstance(value, str) or (isinstance(value, list) and any(map(_has_text, value)))


def as_told(tab: Tab, may_tell: MayTell) -> Tab:
    """The tab; if its site is closed to the caller, without its address and title."""
    return replace(tab, url=WALLED, title="") if is_walled(tab.url, may_tell) else tab
