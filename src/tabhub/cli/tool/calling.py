"""`tabhub tool`: what tools there are, what they take, and calling one."""

import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import UUID

import msgspec

from tabhub.cli import FAILED
from tabhub.cli.output import harmless, print_json, print_table, wants_json
from tabhub.cli.tool.rest_client import Answer, Json, Rest, enter
from tabhub.config.paths import Home
from tabhub.errors import InvalidArguments, NotFound
from tabhub.wire.pages import TabId

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


if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Bar(AbstractContextManager["Bar"]):
    """Nothing is drawn, and nothing loaded for it, before the first word of progress."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._drawn: tuple[Progress, TaskID] | None = None

    @staticmethod
    def is_seen() -> bool:
        return sys.stderr.isatty()

    def told(self, progress: dict[str, Any]) -> None:
        bar, task = self._drawn = self._drawn or self._draw()
        said = progress.get("message")
        bar.update(
            task,
            completed=progress.get("progress"),
            total=progress.get("total"),
            description=harmless(said) if isinstance(said, str) else self._name,
        )

    def _draw(self) -> "tuple[Progress, TaskID]":
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        words = TextColumn("{task.description}", markup=False)
        columns = (words, BarColumn(), TaskProgressColumn())
        bar = Progress(*columns, console=Console(stderr=True), transient=True)
        bar.start()
        return bar, bar.add_task(self._name, total=None)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._drawn is not None:
            self._drawn[0].stop()


LISTED = ("name", "plugin", "toolsets", "disabled", "description")


@dataclass(frozen=True)
class CallRequest:
    """The options of `tabhub tool call`."""

    name: str
    words: list[str]
    file: Path | None
    tab_id: str | None
    instance: str | None
    operation_id: str | None
    group: str | None

    def more(self) -> dict[str, Any]:
        """Arguments that have a flag of their own."""
        named = {"tabId": _tab(self.tab_id), "instance": self.instance}
        return {name: value for name, value in named.items() if value is not None}

    def headers(self) -> dict[str, str]:
        named = {"Idempotency-Key": self.operation_id, "X-Tabhub-Group": self.group}
        return {name: value for name, value in named.items() if value is not None}


def show(plugin: str | None, toolset: str | None, query: str | None, as_json: bool) -> None:
    asked = {"plugin": plugin, "toolset": toolset, "query": query}
    rest = enter(Home.from_environment())
    found = rest.tools(asked)
    if plugin is not None and not found:
        _require_plugin(plugin, rest)
    tools = [_in_short(tool) for tool in found]
    if wants_json(as_json):
        print_json({"tools": tools})
        return
    print_table(("tool", "what it does"), [(tool["name"], tool["description"]) for tool in tools])


def schema(name: str) -> None:
    print_json(enter(Home.from_environment()).get(_path(name)))


def call(request: CallRequest, as_json: bool, as_text: bool) -> None:
    arguments = arguments_of(request.words, request.file, request.more())
    answer = _call(enter(Home.from_environment()), request, arguments)
    result = {key: value for key, value in answer.body.items() if key != "error"}
    if as_text or not wants_json(as_json):
        _print_blocks(result)
    else:
        print_json(result or answer.body)
    if answer.fault is not None:
        message, reason = answer.fault
        print(f"tabhub: {harmless(message)}{reason and f' ({reason})'}", file=sys.stderr)
        sys.exit(FAILED)


def _call(rest: Rest, request: CallRequest, arguments: bytes) -> Answer:
    body = b'{"arguments":%s}' % arguments
    with Bar(request.name) as bar:
        told = bar.told if Bar.is_seen() else None
        return rest.post(f"{_path(request.name)}/call", body, request.headers(), told)


def _require_plugin(name: str, rest: Rest) -> None:
    known = {str(tool.get("plugin")) for tool in rest.tools()}
    if name not in known:
        there = ", ".join(sorted(known))
        raise NotFound(f"There is no plugin {name!r}. There is: {there}.")


def _tab(written: str | None) -> int | str | None:
    """The number of a tab, or the id that a page without the extension has."""
    if written is None or written.isdecimal():
        return written and int(written)
    with suppress(ValueError):
        return str(UUID(written))
    with suppress(msgspec.ValidationError):
        return msgspec.convert(written, TabId)
    raise InvalidArguments(
        "--tab-id must be the number of a tab, or the id (a UUID) of one whose page came without "
        f"the extension, not {written!r}. The tool list_browser_tabs names both."
    )


def _path(name: str) -> str:
    return f"/tools/{quote(name, safe='')}"


def _in_short(tool: Json) -> Json:
    """Without schemas, which an agent would have to read: `tool schema` has them."""
    told = {key: tool[key] for key in LISTED if key in tool}
    return {**told, "description": str(tool.get("description", "")).partition("\n")[0]}


def _print_blocks(result: Json) -> None:
    if result.get("isError") is True:
        # Its text is the sentence that goes to stderr.
        return
    for block in result.get("content", ()):
        print(harmless(_as_text(block)))


def _as_text(block: Json) -> str:
    if block.get("type") == "text":
        return str(block.get("text", ""))
    data = block.get("data") or block.get("resource", {}).get("blob") or ""
    kind = block.get("mimeType") or block.get("resource", {}).get("mimeType") or ""
    size = f", {len(data) * 3 // 4} bytes" if data else ""
    return f"[{block.get('type')} {kind}{size}; --json has it]"
