"""Pages of the docs site that are written from the code: each agent's settings, the endpoints of
the server, and `llms.txt`, the list of pages for agents."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from tabhub.agents.http.routing import Access, HttpRoute, Route
from tabhub.agents.routes import ROUTES
from tabhub.cli.connect.agents import AGENTS, NAME, Agent, ServerAddress
from tabhub.cli.connect.file import SettingsFile
from tabhub.config.paths import Places
from tabhub.config.settings import Settings

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
NOTE = "<!-- Written by `make docs` from the code. -->"
TARGET = ServerAddress(
    f"http://127.0.0.1:{Settings().port}/mcp", "TOKEN", ["tabhub", "start", "--stdio"], {}
)
WHO = {
    Access.ANYONE: "anyone on this machine",
    Access.CLIENTS: "a client's token, or the main secret",
    Access.PERSON: "the main secret",
    Access.PAGES: "pages that a person has paired",
}


class _DefaultPlaces(Places):
    """The places of a system when no variable names others."""

    def variable(self, name: str) -> str | None:
        return None


def clients() -> str:
    intro = (
        "`tabhub connect NAME` writes the entry below, with a token of its own in the place of "
        "`TOKEN`, and leaves the rest of the file as it is; `--remove` takes it out again. "
        "Restart the agent afterwards. By HTTP the server must run when the agent does "
        "(`tabhub start --background`, with `--browser` for a browser of its own); with `--stdio` "
        "the agent starts it. `--gateway` gives an agent with little context two tools that find "
        "and call all the others. `tabhub connect` alone lists every agent and its state."
    )
    other = (
        "## Any other client\n\n"
        "`tabhub start --show-config` prints the address and a token. MCP by HTTP is at `/mcp`, "
        "by HTTP+SSE at `/sse`; a client that starts processes runs `tabhub start --stdio`. "
        "[Connecting](../connecting.md) says more. An agent with a shell needs no entry: "
        "[`tabhub tool`](../command-line.md#tools-without-mcp).\n"
    )
    return "\n".join([f"# Each client\n\n{NOTE}\n\n{intro}\n", *map(_client, AGENTS), other])


def _client(agent: Agent) -> str:
    flag = "" if agent.http else "; it starts a bridge, since it has no other way"
    ways = [("By HTTP:", agent.http), ("With `--stdio`:", agent.stdio)]
    entries = [f"{title}\n\n{_entry(agent, make(TARGET))}" for title, make in ways if make]
    command = f"```sh\ntabhub connect {agent.name}\n```"
    head = f"## {agent.title}\n\n{command}\n\nIts file is {_files(agent)}{flag}."
    return "\n\n".join([head, *entries]) + "\n"


def _files(agent: Agent) -> str:
    """Where its file is, on each system where that differs."""
    titles = {"linux": "Linux", "darwin": "macOS", "win32": "Windows"}
    found: dict[str, list[str]] = {}
    for platform, title in titles.items():
        home = Path("%USERPROFILE%" if platform == "win32" else "~")
        path = str(agent.file(_DefaultPlaces(home, platform)))
        shown = path.replace("%USERPROFILE%/AppData/Roaming", "%APPDATA%")
        if platform == "win32":
            shown = shown.replace("/", "\\")
        found.setdefault(shown, []).append(title)
    return ", ".join(f"`{path}` on {' and '.join(where)}" for path, where in found.items())


def _entry(agent: Agent, entry: dict[str, Any]) -> str:
    """The whole file, as `tabhub connect` would write it if there were none."""
    before = SettingsFile(Path("settings"), "", is_there=False, is_toml=agent.is_toml)
    edit = before.put((*agent.servers, NAME), entry)
    assert edit is not None, "an empty file has no entry"
    kind = "toml" if agent.is_toml else "json"
    return f"```{kind}\n{edit.apply('').strip()}\n```"


def endpoints() -> str:
    intro = (
        "Every path of the server, from the table that its router dispatches by. "
        "`/openapi.json` of a running server has the parameters and bodies of each; "
        "[connecting](connecting.md) explains those for agents, "
        "[administration](administration.md) the rest. A token goes into `Authorization: Bearer`."
    )
    rows = [_endpoint(route) for route in ROUTES]
    head = ["| path | methods | who | what |", "|---|---|---|---|"]
    return "\n".join([f"# Endpoints\n\n{NOTE}\n\n{intro}\n", *head, *rows, ""])


def _endpoint(route: Route) -> str:
    who = WHO[route.access]
    if not isinstance(route, HttpRoute):
        return f"| `{route.path}` | WebSocket | {who} | {_socket(route.path)} |"
    methods = ", ".join(name for name in route.methods if name not in ("HEAD", "OPTIONS"))
    operations = (route.openapi.get(name.lower()) for name in route.methods)
    texts = dict.fromkeys(f"{one['summary']}." for one in operations if one)
    return f"| `{route.path}` | {methods} | {who} | {' '.join(texts)} |"


def _socket(path: str) -> str:
    about = {
        "/ws": "The link of the extension: [link](link.md).",
        "/page": "Tools of pages without the extension: [protocol](protocol.md).",
    }
    return about[path]


def site() -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((ROOT / "zensical.toml").read_text())["project"]
    return project


def chapters() -> Iterator[tuple[str, list[str]]]:
    """The titles of the site's chapters with their pages."""
    for entry in site()["nav"]:
        ((title, below),) = entry.items()
        pages = [below] if isinstance(below, str) else below
        yield (
            title,
            [page if isinstance(page, str) else next(iter(page.values())) for page in pages],
        )


def llms() -> str:
    """After llmstxt.org: a title, a sentence, and links with one line each."""
    lines = ["# tabhub", "", f"> {site()['site_description']}"]
    for title, pages in chapters():
        lines += ["", f"## {title}", "", *map(_link, pages)]
    return "\n".join(lines) + "\n"


def _link(page: str) -> str:
    text = (DOCS / page).read_text() if page not in WRITTEN else WRITTEN[page]()
    address = site()["site_url"] + str(PurePosixPath(page).with_suffix("")).removesuffix("index")
    return f"- [{_title(text)}]({address.rstrip('/')}/): {_first_sentence(text)}"


def _title(text: str) -> str:
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    assert found is not None, text[:80]
    return found[1]


def _first_sentence(text: str) -> str:
    """Of the first paragraph, without markup."""
    plain = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    blocks = re.split(r"\n\s*?\n", plain.split("\n", 1)[1])
    paragraph = next(one for one in blocks if re.match(r"\s{0,3}(\*\*|`?\w|\[)", one))
    words = re.sub(r"\[([^\]]+)\]\([^)]*\)|\*\*", r"\1", " ".join(paragraph.split()))
    return re.split(r"(?<=\.)(?:\s|$)", words, maxsplit=1)[0]


WRITTEN = {"how-to/clients.md": clients, "endpoints.md": endpoints}
PAGES = {f"docs/{name}": make for name, make in WRITTEN.items()} | {"docs/llms.txt": llms}
