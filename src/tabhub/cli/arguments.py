"""The arguments of a call: JSON or pairs on the command line, a file, or stdin."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from tabhub.errors import InvalidArguments

STDIN = "-"


def arguments_of(words: list[str], file: Path | None, more: Mapping[str, Any]) -> bytes:
    """One JSON object, as it was written unless something is added to it."""
    for word in words:
        _utf8(word)
    if words and file is not None:
        raise InvalidArguments("Arguments come from the command line or from a file, not both.")
    if file is not None:
        written = sys.stdin.buffer.read() if str(file) == STDIN else file.read_bytes()
        return _with(written, f"{file}", more)
    if words == [STDIN]:
        return _with(_typed(), "stdin", more)
    if len(words) == 1 and "=" not in words[0].partition("{")[0]:
        return _with(_utf8(words[0]), "the command line", more)
    return _with(msgspec.json.encode(dict(map(_pair, words))), "the command line", more)


def _typed() -> bytes:
    if sys.stdin.isatty():
        print("Type the arguments as JSON, then Ctrl-D.", file=sys.stderr)
    return sys.stdin.buffer.read()


def _utf8(text: str) -> bytes:
    """What the terminal sent may be written in another way."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InvalidArguments("The arguments are not in UTF-8.") from None


def _pair(word: str) -> tuple[str, Any]:
    """`name=text`, or `name:=JSON`."""
    name, equals, value = word.partition("=")
    if not equals or not name.rstrip(":"):
        raise InvalidArguments(f"{word!r} is neither a JSON object nor name=text nor name:=JSON.")
    if not name.endswith(":"):
        return name, value
    try:
        return name[:-1], msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidArguments(f"{name[:-1]}: {value!r} is not JSON: {error}.") from None


def _with(written: bytes, where: str, more: Mapping[str, Any]) -> bytes:
    given = _object(written, where)
    twice = [name for name in more if name in given and given[name] != more[name]]
    if twice:
        raise InvalidArguments(f"{twice[0]} is given twice, and differently.")
    return msgspec.json.encode({**given, **more}) if more else written or b"{}"


def _object(written: bytes, where: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(written or b"{}", type=dict[str, Any])
    except msgspec.ValidationError:
        raise InvalidArguments(f"The arguments from {where} must be a JSON object.") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidArguments(f"The arguments from {where} are not JSON: {error}.") from None
