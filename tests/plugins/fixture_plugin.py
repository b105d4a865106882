"""A server in which the plugin of `fixtures/notes` may run, and a browser double that runs it."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tabhub.config.paths import Home
from tabhub.config.settings import Settings
from tabhub.plugins.active import ActivePlugins, Closed
from tabhub.plugins.package import Package
from tabhub.plugins.readiness import Readiness
from tabhub.server.serving import Server
from tests.support.agent import Agent
from tests.support.browsers.extension import FakeExtension, connected, tab
from tests.support.serving import client, served

NOTES = Path(__file__).parent / "fixtures" / "notes"
PAGE = "http://127.0.0.1/notes"
"""A page that the plugin is for."""


class Switch:
    """A gate that tests open and close."""

    def __init__(self) -> None:
        self.why: Closed | None = None

    def closed(self, package: Package) -> Closed | None:
        return self.why


class Notes(NamedTuple):
    """The server with the plugin, and what a test does with it."""

    server: Server
    agent: Agent
    extension: FakeExtension
    switch: Switch

    @property
    def plugins(self) -> ActivePlugins:
        return self.server.app.plugin_runtime.active

    @property
    def readiness(self) -> Readiness:
        return self.server.app.plugin_runtime.readiness

    def set(self, **values: Any) -> None:
        """Change settings of the plugin."""
        self.server.app.plugin_management.configure("notes", values)

    async def open(self, *tabs: dict[str, Any], ready: bool = True) -> None:
        """Report tabs; the plugin is ready in those that it is for."""
        await self.extension.sync(*tabs)
        for each in tabs:
            await self.report(each["tabId"], ready=ready)

    async def report(self, tab: int, ready: bool = True, **more: Any) -> None:
        found = {"tabId": tab, "plugin": "notes", "ready": ready, **more}
        await self.extension.notify("plugin.readiness", {"tabs": [found]})
        await self.extension.settled()

    def answer(self, **outputs: Any) -> None:
        """Let tools of the plugin return these, or raise them."""

        def handler(output: Any) -> Any:
            def run(params: dict[str, Any]) -> Any:
                if isinstance(output, Exception):
                    raise output
                return output(params) if callable(output) else output

            return run

        self.extension.handlers |= {name: handler(output) for name, output in outputs.items()}


def note_tab(id: int, url: str = PAGE, **more: Any) -> dict[str, Any]:
    return tab(id, **{"url": url, **more})


def copied(folder: Path, **settings: Any) -> Path:
    """A copy of the package, with these settings."""
    (folder / "dist").mkdir(parents=True)
    for path in [NOTES / "package.json", *NOTES.glob("dist/*")]:
        (folder / path.relative_to(NOTES)).write_bytes(path.read_bytes())
    about = json.loads((folder / "package.json").read_text())
    about["opentabs"]["configSchema"] = settings
    (folder / "package.json").write_text(json.dumps(about))
    return folder


@asynccontextmanager
async def notes(home: Home | None = None, folder: Path = NOTES) -> AsyncIterator[Notes]:
    """The product with the plugin, which is reviewed and allowed."""
    settings = Settings(local_plugins=[str(folder)])
    async with served(settings, home=home) as server, client(server.port) as http:
        app, switch = server.app, Switch()
        app.plugin_runtime.active.gate = switch
        app.reviews.approve(app.plugins.get("notes"), "auto")
        async with connected(server.port) as extension:
            yield Notes(server, Agent(http), extension, switch)
