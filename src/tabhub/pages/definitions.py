"""Tools as pages define them, turned into what the hub takes. What does not fit is refused."""

import re
import sys
from functools import lru_cache
from typing import Any

import msgspec

from tabhub.config.settings import Limits
from tabhub.hub.descriptions import LONGEST_TITLE, readable
from tabhub.page_tools.core.storage import Published
from tabhub.page_tools.schema_rules import NO_ARGUMENTS, checked_schema
from tabhub.pages.unfit import Unfit
from tabhub.wire.pages import Kind

CACHE = "tabhub/cache"
FORM = "tabhub/waitsForPerson"
"""Says that a person may have to send a form before the tool answers."""
SHARED_BYTES = 1024
WITHOUT_SCHEMA: tuple[Kind, ...] = ("native", "polyfill")
"""WebMCP lets a tool without arguments do without a schema, MCP does not."""
KNOWN = (
    "cache",
    "readOnlyHint",
    "destructiveHint",
    "idempotentHint",
    "openWorldHint",
    "consequentialHint",
    "untrustedContentHint",
)
_NAME = re.compile(r"[A-Za-z0-9_./-]{1,128}")


class Definition(msgspec.Struct, rename="camel"):
    """A tool as a page has it."""

    name: str
    description: str = ""
    title: str | None = None
    input_schema: msgspec.Raw = msgspec.Raw(b"null")
    annotations: dict[str, Any] | None = None
    meta: dict[str, Any] | None = msgspec.field(default=None, name="_meta")


_decode = msgspec.json.Decoder(Definition).decode


def checked(raw: msgspec.Raw, kind: Kind, limits: Limits, keeps: bool) -> Published:
    """One tool; Unfit with the reason if it is refused. `keeps`: the site's tools stay listed."""
    if len(raw) > 2 * limits.schema_bytes:
        raise Unfit(f"a tool has more than {2 * limits.schema_bytes} bytes")
    try:
        told = _decode(raw)
    except (ValueError, RecursionError):
        raise Unfit("a tool cannot be read, or has no name") from None
    if not _NAME.fullmatch(told.name):
        shown = readable(told.name, 40)
        raise Unfit(f"the tool {shown!r} has a name that is not made of A-Z, a-z, 0-9, _ . / -")
    return _published(told, kind, limits, keeps)


def _published(told: Definition, kind: Kind, limits: Limits, keeps: bool) -> Published:
    hints, meta = told.annotations or {}, told.meta or {}
    named = hints.get("title")
    title = told.title or (named if isinstance(named, str) else None)
    asked = hints.get("cache") is True or meta.get(CACHE) is True
    return Published(
        name=sys.intern(told.name),
        description=readable(told.description),
        schema=_shared(_schema(told, kind, limits)),
        title=readable(title, LONGEST_TITLE) if title else None,
        annotations=_shared(_annotations(hints)),
        cached=keeps or asked,
        asked=asked,
        patient=meta.get(FORM) is True,
    )


def _shared(written: bytes) -> bytes:
    """The same page in many tabs, or the same shop under many names, is kept once."""
    return written if len(written) > SHARED_BYTES else _known(written)


@lru_cache(maxsize=4096)
def _known(written: bytes) -> bytes:
    return bytes(written)


def _schema(told: Definition, kind: Kind, limits: Limits) -> bytes:
    given = told.input_schema
    if bytes(given) in (b"null", b'""'):
        if kind not in WITHOUT_SCHEMA:
            raise Unfit(f"the tool {told.name} has no schema")
        return NO_ARGUMENTS
    try:
        return checked_schema(given, limits.schema_bytes)
    except Unfit as unfit:
        raise Unfit(f"the tool {told.name} is refused: {unfit}") from None


def _annotations(hints: dict[str, Any]) -> bytes:
    """Those that mean something, and of the right type: clients refuse a whole list for one."""
    known = {name: hints[name] for name in KNOWN if isinstance(hints.get(name), bool)}
    title = hints.get("title")
    if isinstance(title, str) and title:
        known["title"] = readable(title, LONGEST_TITLE)
    return msgspec.json.encode(known, order="deterministic")
