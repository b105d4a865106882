"""`make integrations`: the files by which agents find tabhub, and the bundle in dist/.

Everything comes from the project's metadata (`pyproject.toml`, `tabhub.__version__`), from the
agents that `tabhub connect` knows and from the texts in `scripts/integration_texts`. None of the
files has a secret: an agent starts a bridge, which has a token of its own.
"""

import base64
import json
import re
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import quote, urlencode

from scripts.archive import write_archive
from scripts.hatch_build import registry_name
from tabhub import __version__
from tabhub.cli.connect.agents import NAME, ServerAddress, required
from tabhub.cli.own_program import NAME as PROGRAM

ROOT = Path(__file__).parent.parent
TEXTS = ROOT / "scripts" / "integration_texts"
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
AUTHOR = PROJECT["authors"][0]["name"]
SOURCE, DOCUMENTATION, ISSUES = (
    PROJECT["urls"][name] for name in ("Source", "Documentation", "Issues")
)
STDIO = ("start", "--stdio")
OWN_BROWSER = "--browser"
SERVER_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
MANIFEST_VERSION = "0.4"
"""The first version of a bundle's manifest that lets uv fetch the dependencies."""
BUNDLE = "integrations/mcpb"
ICON = "extension/icons/128.png"
PAGE = "docs/integrations.md"
_BLOCK = re.compile(r"(<!-- links -->\n).*?(<!-- end of links -->)", re.DOTALL)

Json = dict[str, Any]


def command(*more: str) -> list[str]:
    """What an agent starts: uvx fetches tabhub when it is not there, so it outlives every cache."""
    return ["uvx", PROGRAM, *STDIO, *more]


def entry(agent: str, *more: str) -> Json:
    """The entry that `tabhub connect --stdio` would write for an agent, without a token."""
    full = required(agent).stdio(ServerAddress("", "", command(*more), {}))
    return {key: value for key, value in full.items() if key not in ("env", "environment")}


def text(name: str) -> str:
    """A text with the facts of the project in it."""
    facts = {
        "command": " ".join(command()),
        "description": PROJECT["description"],
        "documentation": DOCUMENTATION,
        "license": PROJECT["license"],
        "python": PROJECT["requires-python"],
        "version": __version__,
        "words": json.dumps([PROGRAM, *STDIO]),
    }
    return Template((TEXTS / name).read_text("utf-8")).substitute(facts)


def plugin() -> Json:
    """The manifest of the plugin for Claude Code; its skill is found by its place."""
    return {
        "name": NAME,
        "version": __version__,
        "description": PROJECT["description"],
        "author": {"name": AUTHOR},
        "homepage": DOCUMENTATION,
        "repository": SOURCE,
        "license": PROJECT["license"],
        "keywords": PROJECT["keywords"],
        "mcpServers": {NAME: entry("claude-code")},
    }


def marketplace() -> Json:
    """The repository as a marketplace of one plugin."""
    source = {"name": NAME, "source": "./integrations/claude"}
    return {
        "name": NAME,
        "owner": {"name": AUTHOR},
        "metadata": {"description": PROJECT["description"]},
        "plugins": [{**source, "description": PROJECT["description"]}],
    }


def gemini_extension() -> Json:
    return {
        "name": NAME,
        "version": __version__,
        "description": PROJECT["description"],
        "mcpServers": {NAME: entry("gemini")},
        "contextFileName": "integrations/gemini/GEMINI.md",
    }


def registry_entry() -> Json:
    """`server.json` of the MCP registry."""
    return {
        "$schema": SERVER_SCHEMA,
        "name": registry_name(SOURCE),
        "title": NAME,
        "description": PROJECT["description"],
        "version": __version__,
        "websiteUrl": DOCUMENTATION,
        "repository": {"url": SOURCE, "source": "github"},
        "packages": [
            {
                "registryType": "pypi",
                "identifier": PROJECT["name"],
                "version": __version__,
                "runtimeHint": command()[0],
                "transport": {"type": "stdio"},
                "packageArguments": [*map(_argument, STDIO)],
            }
        ],
    }


def _argument(word: str) -> Json:
    if word.startswith("--"):
        return {"type": "named", "name": word}
    return {"type": "positional", "value": word}


def bundle_manifest() -> Json:
    """The manifest of the bundle for desktop applications, which run it with their own uv."""
    return {
        "manifest_version": MANIFEST_VERSION,
        "name": NAME,
        "display_name": NAME,
        "version": __version__,
        "description": PROJECT["description"],
        "author": {"name": AUTHOR},
        "repository": {"type": "git", "url": SOURCE},
        "documentation": DOCUMENTATION,
        "support": ISSUES,
        "icon": "icon.png",
        "license": PROJECT["license"],
        "keywords": PROJECT["keywords"],
        "server": {
            "type": "uv",
            "entry_point": "server.py",
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--directory", "${__dirname}", "server.py"],
            },
        },
        "tools_generated": True,
        "prompts_generated": True,
        "compatibility": {
            "platforms": ["darwin", "win32", "linux"],
            "runtimes": {"python": PROJECT["requires-python"]},
        },
    }


def vscode_link(*more: str) -> str:
    """VS Code opens it from any page; GitHub lets no `vscode:` through, so it goes over a page."""
    config = json.dumps(entry("vscode", *more), separators=(",", ":"))
    return f"https://vscode.dev/redirect/mcp/install?name={NAME}&config={quote(config, safe='')}"


def cursor_link(*more: str) -> str:
    config = json.dumps(entry("cursor", *more), separators=(",", ":")).encode()
    query = urlencode({"name": NAME, "config": base64.b64encode(config).decode()})
    return f"https://cursor.com/en/install-mcp?{query}"


LINKS: dict[str, Callable[..., str]] = {"VS Code": vscode_link, "Cursor": cursor_link}


def links() -> str:
    """The table of links, for pages in Markdown."""
    rows = [
        f"| {name} | [your own Chrome]({make()}) | [a browser of its own]({make(OWN_BROWSER)}) |"
        for name, make in LINKS.items()
    ]
    return "\n".join(["| agent | | |", "|---|---|---|", *rows]) + "\n"


def page() -> str:
    """docs/integrations.md with the links as they are now."""
    written = (ROOT / PAGE).read_text("utf-8")
    return _BLOCK.sub(lambda block: f"{block[1]}\n{links()}\n{block[2]}", written)


def _json(make: Callable[[], Json]) -> Callable[[], str]:
    return lambda: json.dumps(make(), indent=2, ensure_ascii=False) + "\n"


def _text(name: str) -> Callable[[], str]:
    return lambda: text(name)


FILES: dict[str, Callable[[], str]] = {
    ".claude-plugin/marketplace.json": _json(marketplace),
    "integrations/claude/.claude-plugin/plugin.json": _json(plugin),
    "integrations/claude/skills/tabhub/SKILL.md": _text("SKILL.md.in"),
    "gemini-extension.json": _json(gemini_extension),
    "integrations/gemini/GEMINI.md": _text("GEMINI.md.in"),
    "integrations/server.json": _json(registry_entry),
    f"{BUNDLE}/manifest.json": _json(bundle_manifest),
    f"{BUNDLE}/pyproject.toml": _text("pyproject.toml.in"),
    f"{BUNDLE}/server.py": _text("server.py.in"),
    PAGE: page,
}


def stale() -> list[str]:
    """The files that differ from what would be written now."""
    return [name for name, make in FILES.items() if _written(name) != make()]


def _written(name: str) -> str:
    path = ROOT / name
    return path.read_text("utf-8") if path.exists() else ""


def write_bundle(folder: Path) -> Path:
    """Write the bundle into a folder."""
    files = {
        name.removeprefix(f"{BUNDLE}/"): make().encode()
        for name, make in FILES.items()
        if name.startswith(f"{BUNDLE}/")
    }
    files |= {"icon.png": (ROOT / ICON).read_bytes(), "LICENSE": (ROOT / "LICENSE").read_bytes()}
    target = folder / f"{NAME}-{__version__}.mcpb"
    write_archive(target, files)
    return target


def main() -> None:
    if "--check" in sys.argv:
        late = (f"{name} is out of date: run `make integrations`" for name in stale())
        sys.exit("\n".join(late) or 0)
    for name, make in FILES.items():
        (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / name).write_text(make(), "utf-8")
    target = write_bundle(ROOT / "dist")
    print(f"{target.relative_to(ROOT)} ({target.stat().st_size // 1024} KB)")


if __name__ == "__main__":
    main()
