"""`tabhub tool`: what tools there are, what they take, and calling one."""

import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import UUID

import msgspec

from tabhub.cli import FAILED
from tabhub.cli.arguments import arguments_of
from tabhub.cli.output import harmless, print_json, print_table, wants_json
from tabhub.cli.progress import Bar
from tabhub.cli.tool.rest_client import Answer, Json, Rest, enter
from tabhub.config.paths import Home
from tabhub.errors import InvalidArguments, NotFound
from tabhub.wire.worker import TabId

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
