"""A recorded conversation of an extension and a server, and a check that messages match it.

`840a27a.jsonl` was recorded from the code of that commit, the server and the extension in Chromium;
numbers, addresses and ids were made short, long lists and texts cut. It is frozen: a change that
needs another recording breaks old extensions or old servers.
"""

import json
from pathlib import Path
from typing import Any

Message = dict[str, Any]
LINES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "browser" / "link" / "fixtures" / "840a27a.jsonl")
    .read_text()
    .splitlines()
]
SITE = "site.test"
"""The host of the recorded pages."""
FUTURE = {"fromTheFuture": {"anything": [1, None]}}


def lacks(recorded: Any, actual: Any, where: str = "") -> str | None:
    """The first recorded member that is missing now or has another type."""
    if isinstance(recorded, dict):
        if not isinstance(actual, dict):
            return where
        for key, value in recorded.items():
            # To the extension a member that is null is as good as none.
            if key not in actual and value is not None:
                return f"{where}.{key}"
            if found := lacks(value, actual.get(key), f"{where}.{key}"):
                return found
        return None
    if isinstance(recorded, list) and recorded:
        if not isinstance(actual, list) or not actual:
            return where
        return lacks(recorded[0], actual[0], f"{where}[0]")
    fits = recorded is None or actual is None or _kind(recorded) is _kind(actual)
    return None if fits else where


def _kind(value: Any) -> type:
    return float if isinstance(value, int) and not isinstance(value, bool) else type(value)


def with_more(message: Message) -> Message:
    """The same message with unknown members, wherever the protocol defines members."""
    more: Message = {**message, **FUTURE}
    for key in ("params", "result"):
        if isinstance(message.get(key), dict):
            more[key] = _with_more(message[key])
    return more


def _with_more(value: dict[str, Any]) -> dict[str, Any]:
    inner = {
        key: _with_more(item)
        if key in ("browser", "tab", "server", "recording") and isinstance(item, dict)
        else [_with_more(element) if isinstance(element, dict) else element for element in item]
        if key == "tabs" and isinstance(item, list)
        else item
        for key, item in value.items()
    }
    return {**inner, **FUTURE}
