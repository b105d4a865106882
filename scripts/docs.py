"""Writes the generated pages of docs/. `--check` only reports which are out of date."""

import json
import pkgutil
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
import typer

from scripts import (
    documents,
    extension_permissions,
    link_methods,
    link_pages,
    performance,
    sdk_pages,
    site_pages,
    sizing,
)
from tabhub.cli.commands import app
from tabhub.cli.help import EXAMPLES
from tabhub.config import keys
from tabhub.config.setting_list import field_docs
from tabhub.config.settings import Settings
from tabhub.errors import REASONS
from tabhub.page_tools.source import LIST_TABS
from tabhub.tools import catalog

ROOT = Path(__file__).parent.parent
LISTED = (*catalog.ALL, LIST_TABS)
NOTE = "<!-- Written by `make docs` from the code. -->"


def tools() -> str:
    intro = (
        "`tabId` is optional everywhere: without it a tool acts in the session's current tab. "
        "`ref` is that of an element in browser_read_page, such as `ref_12`; `selector` is CSS and "
        "reaches into frames and shadow roots."
    )
    return "\n".join(
        [
            f"# Browser tools\n\n{NOTE}\n\n{intro}\n",
            _table(("tool", "toolsets", "what it does"), [*map(_overview, LISTED)]),
            *(_tool(tool) for tool in LISTED),
        ]
    )


def _overview(tool: Any) -> tuple[str, str, str]:
    toolsets = ", ".join(f"`{name}`" for name in sorted(tool.toolsets))
    return f"[`{tool.name}`](#{tool.name})", toolsets, tool.summary


def _tool(tool: Any) -> str:
    hints = ", ".join(key.removesuffix("Hint") for key, value in tool.annotations.items() if value)
    rows = [
        _parameter(name, schema, tool) for name, schema in tool.input_schema["properties"].items()
    ]
    table = ["| parameter | type | |", "|---|---|---|", *rows] if rows else ["No parameters."]
    notes = f"\n\nHints: {hints}." if hints else ""
    return f"## {tool.name}\n\n{tool.description}{notes}\n\n" + "\n".join(table) + "\n"


def _parameter(name: str, schema: dict[str, Any], tool: Any) -> str:
    types = schema.get("type") or [f"`{value}`" for value in schema["enum"]]
    kind = types if isinstance(types, str) else " or ".join(types)
    needed = "Required. " if name in tool.input_schema.get("required", ()) else ""
    return f"| `{name}` | {kind} | {needed}{schema.get('description', '')}{_default(schema)} |"


def _default(schema: dict[str, Any]) -> str:
    return f"Default {schema['default']}." if "default" in schema else ""


def cli() -> str:
    root = typer.main.get_command(app)
    return "\n".join([f"# Command line\n\n{NOTE}\n", *_command(root, "tabhub")])


def _command(command: Any, path: str) -> list[str]:
    context = click.Context(command, info_name=path)
    if isinstance(command, click.Group) or hasattr(command, "commands"):
        return [
            line
            for name, sub in command.commands.items()
            for line in _command(sub, f"{path} {name}")
        ]
    example = f"    {EXAMPLES[' '.join(path.split()[1:])]}\n"
    return [f"## {path}\n\n{command.help}\n", example, *_flags(command, context)]


def _flags(command: Any, context: Any) -> list[str]:
    rows = [parameter.get_help_record(context) for parameter in command.params]
    lines = [f"- `{row[0]}` {row[1]}".rstrip() for row in rows if row and row[0] != "--help"]
    return [*lines, ""] if lines else []


def errors() -> str:
    intro = (
        "Every error, on every surface, has a code, a reason word, a sentence for people, and says "
        "whether trying again can help. Rely on the words; sentences may change. On `/mcp` an "
        "error of a tool is a result with `isError` and `structuredContent.error`; faults of the "
        "message are JSON-RPC errors with `data.reason`. The HTTP status is that of plain HTTP "
        "responses and of faults that MCP ties to a status; other JSON-RPC responses have 200. "
        "A call by REST that started and failed has status 422.\n\n"
        "The last column is the usual effect of a call that fails so: `none` if it certainly "
        "changed nothing, otherwise `unknown`. It is not part of the message. The server may know "
        "better in a single case, for instance that a call was refused before it began. An "
        "operation id whose call failed without effect can be used again; after any other failure "
        "the call is not run again."
    )
    columns = ("reason", "JSON-RPC code", "HTTP status", "category", "retry can help", "effect")
    rows = [
        (
            f"`{word}`",
            row.code,
            row.status,
            row.category,
            "yes" if row.retryable else "no",
            row.effect,
        )
        for word, row in REASONS.items()
    ]
    return f"# Errors\n\n{NOTE}\n\n{intro}\n\n{_table(columns, rows)}"


def reason_type() -> str:
    """`protocol/reasons.d.ts`: the reason words that the extension and pagekit may use."""
    words = "".join(f"\n  | {json.dumps(word)}" for word in REASONS)
    note = "/** A reason word. Written by `make docs` from src/tabhub/errors.py. */"
    return f"{note}\ndeclare type TabhubReason ={words};\n"


def settings() -> str:
    plain, texts = keys.plain(Settings()), dict(field_docs(Settings))
    rows = [
        (f"`{key}`", f"`{json.dumps(keys.value_of(plain, key))}`", texts[key], _when_used(key))
        for key in keys.names()
    ]
    intro = (
        "Keys of `config.json` in tabhub's home; `tabhub config set KEY VALUE` writes them. A "
        "running server uses those with `at once` by the time that command ends. It uses the "
        "others from its next start on, and `tabhub config show` marks them until then."
    )
    columns = ("key", "default", "what it is", "used")
    return f"# Settings\n\n{NOTE}\n\n{intro}\n\n{_table(columns, rows)}"


def _when_used(key: str) -> str:
    return "at once" if key in keys.LIVE else "at the next start"


def _table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join("| " + " | ".join(str(cell) for cell in line) + " |\n" for line in lines)


def link_page() -> str:
    return link_methods.filled(link_pages.page(_read(ROOT / "docs/link.md")))


_NUMBER = re.compile(r"\d[\d,]*( [KMG]B)?<!-- ([\w.]+) -->")
"""A number in a page written by hand, with the constant or the setting that it comes from."""
_UNITS = {None: 1, " KB": 2**10, " MB": 2**20, " GB": 2**30}


def numbered(text: str) -> str:
    """The page with every number as the code has it now."""
    return _NUMBER.sub(_number, text)


def _number(match: re.Match[str]) -> str:
    unit, source = match[1], match[2]
    value = int(_value(source))
    number, rest = divmod(value, _UNITS[unit])
    if rest:
        raise ValueError(f"{source} is {value}, which is no whole number of{unit}.")
    return f"{number:,}{unit or ''}<!-- {source} -->"


def _value(source: str) -> Any:
    if source in keys.names():
        return keys.value_of(keys.plain(Settings()), source)
    module, _, name = source.rpartition(".")
    return pkgutil.resolve_name(f"tabhub.{module}:{name}")


def _by_hand(name: str) -> Callable[[], str]:
    return lambda: numbered(_read(ROOT / name))


BY_HAND = tuple(
    f"docs/{name}.md"
    for name in ("administration", "command-line", "permissions", "plugins", "proxy")
)

PAGES: dict[str, Callable[[], str]] = {
    "docs/tools.md": tools,
    "docs/cli.md": cli,
    "docs/errors.md": errors,
    "docs/documents.md": documents.page,
    "docs/settings.md": settings,
    "docs/link.md": link_page,
    "docs/protocol.md": lambda: numbered(link_methods.filled(_read(ROOT / "docs/protocol.md"))),
    "docs/python-plugins.md": lambda: sdk_pages.filled(_read(ROOT / "docs/python-plugins.md")),
    "docs/performance.md": lambda: performance.filled(_read(ROOT / "docs/performance.md")),
    "docs/performance.svg": performance.picture,
    "docs/sizing.md": lambda: sizing.filled(_read(ROOT / "docs/sizing.md")),
    "protocol/link.schema.json": link_pages.schema,
    "protocol/reasons.d.ts": reason_type,
    "extension/worker/shared/wire.d.ts": link_pages.declarations,
    "extension/panel/wire.d.ts": link_pages.panel_declarations,
    "extension/worker/shared/link-methods.js": link_methods.extension_lists,
    "extension/worker/shared/optional-permissions.js": extension_permissions.optional_list,
    "docs/extension-permissions.md": extension_permissions.page,
    **{name: _by_hand(name) for name in BY_HAND},
    **site_pages.PAGES,
}


def stale() -> list[str]:
    """The pages whose file differs from the generated text."""
    return [name for name, make in PAGES.items() if _read(ROOT / name) != make()]


def _read(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def main() -> None:
    if "--check" in sys.argv:
        sys.exit("\n".join(f"{name} is out of date: run `make docs`" for name in stale()) or 0)
    for name, make in PAGES.items():
        (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / name).write_text(make())


if __name__ == "__main__":
    main()
