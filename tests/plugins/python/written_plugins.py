"""Plugins in Python for tests, and a server in which one may run."""

import base64
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from textwrap import dedent, indent
from typing import Any, NamedTuple

from tabhub.config.paths import Home
from tabhub.config.settings import Settings
from tabhub.plugins.active import ActivePlugin
from tabhub.plugins.package import Package
from tabhub.plugins.python_source.class_source import read_python
from tabhub.plugins.python_source.source_files import location_of
from tabhub.server.serving import Server
from tabhub.wire.link import TabState
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.extension import FakeExtension, connected, tab
from tests.support.eventually import eventually
from tests.support.serving import client, served

SITE = "https://notes.example"
PAGE = f"{SITE}/home"
BANK = "https://bank.example"
HEAD = """\
import asyncio
import os
import sys
import time
from typing import Any, Literal

from msgspec import Struct

from tabhub.sdk import Page, Plugin, PluginError, Url, setting, tool


class Note(Struct):
    id: int
    title: str

"""
ECHO = '''\
@tool(destructive=False)
async def echo(self, page: Page, text: str, times: int = 1) -> dict[str, Any]:
    """Give back what it gets.

    Args:
        text: What to say.
    """
    return {"said": text * times, "url": page.url, "tab": page.tab_id}
'''


def source(
    *members: str, head: str = "", match: str = f'["{SITE}/*"]', base: str = "Plugin"
) -> str:
    """The source of a plugin called notes, with these members beside its tool `echo`."""
    body = "\n".join(dedent(member).strip("\n") for member in (f"match = {match}", *members, ECHO))
    text = f'"""Notes of an example."""\n{body}\n'
    return f"{HEAD}{dedent(head)}\n\nclass Notes({base}):\n{indent(text, '    ')}"


def action(name: str, body: str, decorator: str = "@tool(destructive=False)") -> str:
    """A tool without parameters."""
    lines = indent(dedent(body).strip("\n"), "    ")
    begin = f"{decorator}\nasync def {name}(self, page: Page) -> Any:"
    return f'{begin}\n    """Do {name}."""\n{lines}\n'


def written(folder: Path, text: str, name: str = "notes.py") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text)
    return path


def read(path: Path) -> Package:
    return read_python(location_of(path), path.name, "local")


class Served(NamedTuple):
    """The server with a plugin called notes, and what a test does with it."""

    server: Server
    agent: Agent
    extension: FakeExtension

    @property
    def plugin(self) -> ActivePlugin:
        found = self.server.app.plugin_runtime.active.find("notes")
        assert found is not None
        return found

    async def open(self, *tabs: dict[str, Any], panels: int = 0) -> None:
        """Report tabs, and wait until the plugin is known to be ready in those that it is for."""
        await self.extension.sync(*tabs, panels=panels)
        readiness = self.server.app.plugin_runtime.readiness

        def is_known() -> bool:
            return all(found.readiness.ready for found in readiness.tabs_of(self.plugin))

        await eventually(is_known)

    def answer(self, **outputs: Any) -> None:
        """Let commands of the link return these; `__` stands for the dot in a name."""

        def handler(output: Any) -> Callable[[dict[str, Any]], Any]:
            def run(params: dict[str, Any]) -> Any:
                if isinstance(output, Exception):
                    raise output
                return output(params) if callable(output) else output

            return run

        self.extension.handlers |= {
            name.replace("__", "."): handler(output) for name, output in outputs.items()
        }

    async def failure(self, tool: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
        """The message and the data of the error that a call ends with."""
        try:
            result = await self.agent.call(tool, **arguments)
        except ToolFailed as failed:
            return str(failed), failed.error
        raise AssertionError(f"{tool} did not fail: {result}")


def response(body: bytes = b"{}", **more: Any) -> dict[str, Any]:
    return {
        "status": 200,
        "url": f"{SITE}/api",
        "headers": {"content-type": "application/json"},
        "bodyBase64": base64.b64encode(body).decode(),
        **more,
    }


def sent(found: Served) -> list[tuple[str, Any]]:
    """The commands that the browser has received since."""
    queue = found.extension.received
    messages = [queue.get_nowait() for _ in range(queue.qsize())]
    return [
        (message["params"]["tool"], message["params"])
        for message in messages
        if message["method"] == "tool.dispatch"
    ]


def move(found: Served, url: str, tab: int = 1) -> None:
    """Let a tab go to another address by itself."""
    app = found.server.app
    state = TabState(tab_id=tab, url=url, title="t", status="complete")
    app.browsers.moved(app.hub.tabs.get(tab).browser, state)


def note_tab(id: int, url: str = PAGE, **more: Any) -> dict[str, Any]:
    return tab(id, **{"url": url, **more})


@asynccontextmanager
async def serving(
    path: Path, home: Home | None = None, listed: str = "notes_echo"
) -> AsyncIterator[Served]:
    """The product with a plugin that is reviewed, allowed and described."""
    settings = Settings(local_plugins=[str(path)])
    async with served(settings, home=home) as server, client(server.port) as http:
        app = server.app
        app.reviews.approve(app.plugins.get("notes"), "auto")
        await eventually(lambda: app.hub.tools.find(listed) is not None)
        async with connected(server.port) as extension:
            yield Served(server, Agent(http), extension)
