"""`tabhub tool`: lists tools, prints their schemas, and calls them by REST."""

import re
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
from tabhub.cli.output import console, harmless, is_capable, print_json, print_table, wants_json
from tabhub.cli.own_program import command_text
from tabhub.cli.tool.rest_client import (
    Json,
    ReportedError,
    RequestRefused,
    RestClient,
    RestResponse,
    connect,
)
from tabhub.cli.waiting import WaitingLine
from tabhub.config.paths import Home
from tabhub.config.settings import Settings, load
from tabhub.errors import InvalidArguments, NotFound, TabhubError
from tabhub.wire.jsonrpc import fault_in
from tabhub.wire.pages import TabId

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

STDIN = "-"
COMMAND_LINE = "the command line"
APPROVAL = "Waiting for a person to allow "
"""How the progress of a call begins that a person has to allow first."""
YOUR_YES = "Waiting for your yes: browser notification, or tabhub's button"
LISTED_MEMBERS = ("name", "plugin", "toolsets", "disabled", "description")


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

    def flag_arguments(self) -> dict[str, Any]:
        """The arguments that have a flag of their own."""
        values = {"tabId": _tab_id(self.tab_id), "instance": self.instance}
        return {name: value for name, value in values.items() if value is not None}

    def headers(self) -> dict[str, str]:
        values = {"Idempotency-Key": self.operation_id, "X-Tabhub-Group": self.group}
        return {name: value for name, value in values.items() if value is not None}


def show(plugin: str | None, toolset: str | None, query: str | None, as_json: bool) -> None:
    rest = connect(Home.from_environment())
    found = rest.tools({"plugin": plugin, "toolset": toolset, "query": query})
    if plugin is not None and not found:
        _require_plugin(plugin, rest)
    tools = [_summary(tool) for tool in found]
    if wants_json(as_json):
        print_json({"tools": tools})
        return
    print_table(("tool", "what it does"), [(tool["name"], tool["description"]) for tool in tools])


def schema(name: str) -> None:
    try:
        print_json(connect(Home.from_environment()).get(_path(name)))
    except RequestRefused as error:
        raise RequestRefused(_with_advice(ReportedError(str(error), error.reason))) from None


def call(request: CallRequest, as_json: bool, as_text: bool) -> None:
    arguments = _arguments(request.words, request.file, request.flag_arguments())
    response = _call(connect(Home.from_environment()), request, arguments)
    result = {key: value for key, value in response.body.items() if key != "error"}
    if as_text or not wants_json(as_json):
        _print_blocks(result)
    else:
        print_json(result or response.body)
    if response.fault is not None:
        message, reason = _with_advice(response.fault)
        said = _to_person(message) if sys.stderr.isatty() else message
        print(f"tabhub: {harmless(said)}{reason and f' ({reason})'}", file=sys.stderr)
        sys.exit(FAILED)


def _call(rest: RestClient, request: CallRequest, arguments: bytes) -> RestResponse:
    body = b'{"arguments":%s}' % arguments
    try:
        with ProgressBar(request.name) as bar:
            return rest.post(f"{_path(request.name)}/call", body, request.headers(), bar.update)
    except KeyboardInterrupt:
        if sys.stderr.isatty():
            print("\ntabhub: Cancelled; no question about it waits any more.", file=sys.stderr)
        raise


def _with_advice(fault: ReportedError) -> ReportedError:
    """How to find a tool by other words, where the server knows no similar name."""
    if fault.reason != "unknown_tool" or "?" in fault.message:
        return fault
    advice = f"To find one: {command_text('tool', 'list', '--query', 'WORDS')}"
    return fault._replace(message=f"{fault.message} {advice}")


def _to_person(message: str) -> str:
    """A message to an agent as its reader at a terminal needs it: that one is "the person"."""
    from tabhub.calls.approvals import DO_NOT
    from tabhub.calls.marks import without_marks

    said = without_marks(message).replace(f" {DO_NOT}", "")
    return re.sub(r"^The person (denied|did not)\b", r"You \1", said)


def _require_plugin(name: str, rest: RestClient) -> None:
    known = {str(tool.get("plugin")) for tool in rest.tools()}
    if name not in known:
        raise NotFound(f"There is no plugin {name!r}. There is: {', '.join(sorted(known))}.")


def _path(name: str) -> str:
    return f"/tools/{quote(name, safe='')}"


def _summary(tool: Json) -> Json:
    """A tool without its schemas, which `tool schema` prints: an agent has to read all of this."""
    members = {key: tool[key] for key in LISTED_MEMBERS if key in tool}
    return {**members, "description": str(tool.get("description", "")).partition("\n")[0]}


def _print_blocks(result: Json) -> None:
    if result.get("isError") is True:
        # The text of a failure is printed to stderr.
        return
    for block in result.get("content", ()):
        print(harmless(_block_text(block)))


def _block_text(block: Json) -> str:
    if block.get("type") == "text":
        return str(block.get("text", ""))
    data = block.get("data") or block.get("resource", {}).get("blob") or ""
    kind = block.get("mimeType") or block.get("resource", {}).get("mimeType") or ""
    size = f", {len(data) * 3 // 4} bytes" if data else ""
    return f"[{block.get('type')} {kind}{size}; --json prints it]"


def _tab_id(text: str | None) -> int | str | None:
    """The number of a tab, or the id of a page that is connected without the extension."""
    if text is None or text.isdecimal():
        return text and int(text)
    with suppress(ValueError):
        return str(UUID(text))
    with suppress(msgspec.ValidationError):
        return msgspec.convert(text, TabId)
    raise InvalidArguments(
        "--tab-id must be the number of a tab, or the id (a UUID) of a page that is connected "
        f"without the extension, not {text!r}. The tool list_browser_tabs lists both."
    )


def _arguments(words: list[str], file: Path | None, flags: Mapping[str, Any]) -> bytes:
    """The arguments as one JSON object; JSON is not changed unless a flag adds to it."""
    for word in words:
        _utf8(word)
    if words and file is not None:
        raise InvalidArguments("Arguments come from the command line or from a file, not both.")
    if file is not None:
        data = sys.stdin.buffer.read() if str(file) == STDIN else _read(file)
        return _with_flags(data, f"{file}", flags)
    if words == [STDIN]:
        return _with_flags(_read_stdin(), "stdin", flags)
    if len(words) == 1 and _looks_like_json(words[0]):
        return _with_flags(_utf8(words[0]), COMMAND_LINE, flags)
    return _with_flags(msgspec.json.encode(_pairs(words)), COMMAND_LINE, flags)


def _looks_like_json(word: str) -> bool:
    return word == "null" or word.lstrip()[:1] in {"{", "[", '"'}


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InvalidArguments(f"{file} cannot be read: {error.strerror}.") from None


def _read_stdin() -> bytes:
    if sys.stdin.isatty():
        print("Type the arguments as JSON, then Ctrl-D.", file=sys.stderr)
    return sys.stdin.buffer.read()


def _utf8(text: str) -> bytes:
    """The terminal may have sent another encoding."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InvalidArguments("The arguments are not in UTF-8.") from None


def _pairs(words: list[str]) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for name, value in map(_pair, words):
        if name in arguments:
            raise InvalidArguments(f"{name} is given twice.")
        arguments[name] = value
    return arguments


def _pair(word: str) -> tuple[str, Any]:
    """`name=text`, or `name:=JSON`."""
    name, equals, value = word.partition("=")
    if not equals or not name.rstrip(":"):
        name = name if name.isidentifier() else "NAME"
        raise InvalidArguments(
            f"{word!r} is not an argument: write {name}=TEXT or {name}:=JSON, or all arguments as "
            "one JSON object."
        )
    if not name.endswith(":"):
        return name, value
    try:
        return name[:-1], msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidArguments(f"{name[:-1]}: {value!r} is not JSON: {fault_in(error)}.") from None


def _with_flags(data: bytes, where: str, flags: Mapping[str, Any]) -> bytes:
    arguments = _object(data, where)
    for name, value in flags.items():
        if name in arguments and arguments[name] != value:
            raise InvalidArguments(f"{name} is given twice, with different values.")
    return msgspec.json.encode({**arguments, **flags}) if flags else data or b"{}"


def _object(data: bytes, where: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(data or b"{}", type=dict[str, Any])
    except msgspec.ValidationError:
        raise InvalidArguments(f"The arguments from {where} must be a JSON object.") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidArguments(
            f"The arguments from {where} are not JSON: {fault_in(error)}. They look like "
            """'{"url": "https://example.com"}', or shorter url=https://example.com."""
        ) from None


def _approval_seconds() -> float:
    """The limit in the settings, or the usual one if this process may not read them."""
    try:
        return load(Home.from_environment()).limits.approval_seconds
    except (TabhubError, OSError):
        return Settings().limits.approval_seconds


class ProgressBar(AbstractContextManager["ProgressBar"]):
    """A line that says that the call runs, or what it waits for; a bar once the call says how
    much there is to do."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._drawn: tuple[Progress, TaskID] | None = None
        self._line: WaitingLine | None = WaitingLine(f"Calling {harmless(name)}")

    def __enter__(self) -> "ProgressBar":
        if self._line is not None:
            self._line.__enter__()
        return self

    def update(self, progress: Json) -> None:
        message, total = progress.get("message"), progress.get("total")
        text = harmless(message) if isinstance(message, str) else harmless(self._name)
        if self._line is not None and (total is None or not is_capable(sys.stderr)):
            self._say(self._line, text)
            return
        bar, task = self._drawn = self._drawn or self._draw()
        bar.update(task, completed=progress.get("progress"), total=total, description=text)

    def _say(self, line: WaitingLine, text: str) -> None:
        if text.startswith(APPROVAL):
            line.needs_person(YOUR_YES, _approval_seconds())
        else:
            line.says = text

    def _draw(self) -> "tuple[Progress, TaskID]":
        self._end_line()
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        description = TextColumn("{task.description}", markup=False)
        columns = (description, BarColumn(), TaskProgressColumn())
        bar = Progress(*columns, console=console(sys.stderr), transient=True)
        bar.start()
        return bar, bar.add_task(self._name, total=None)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end_line()
        if self._drawn is not None:
            self._drawn[0].stop()

    def _end_line(self) -> None:
        if self._line is not None:
            self._line.__exit__(None, None, None)
            self._line = None
