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
        written = sys.stdin.buffer.read() if str(file) == STDIN else _read(file)
        return _with(written, f"{file}", more)
    if words == [STDIN]:
        return _with(_typed(), "stdin", more)
    if len(words) == 1 and _is_json(words[0]):
        return _with(_utf8(words[0]), "the command line", more)
    return _with(msgspec.json.encode(_pairs(words)), "the command line", more)


def _is_json(word: str) -> bool:
    """Whether something may be meant as JSON; else it is a pair, or a part of one."""
    return word == "null" or word.lstrip()[:1] in {"{", "[", '"'}


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InvalidArguments(f"{file} cannot be read: {error.strerror}.") from None


def _pairs(words: list[str]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for name, value in map(_pair, words):
        if name in given:
            raise InvalidArguments(f"{name} is given twice.")
        given[name] = value
    return given


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
        name = name.rstrip(":") or "name"
        raise InvalidArguments(
            f"{word!r} is no argument: write {name}=TEXT or {name}:=JSON, or all of them as JSON."
        )
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
