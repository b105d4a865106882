"""Blocks of content as a page answers with them, rebuilt of known members of the right type."""

import binascii
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeGuard
from urllib.parse import urlsplit

import msgspec

from tabhub.calls.untrusted import fenced
from tabhub.hub.descriptions import readable
from tabhub.wire.mcp.messages import Json, text

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
