"""A server where every message of the person changes something, and an agent without rights."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx
import msgspec

from tabhub.config.clients import Clients
from tabhub.config.paths import Home
from tabhub.config.settings import PermissionSettings, Settings
from tabhub.permissions.grants import Grant
from tabhub.plugins.review_content import files_of
from tabhub.server.serving import Server
from tests.plugins.fake_registry import FakeRegistry, serving_registry
from tests.plugins.packages import package_json, write_package
from tests.support.agent import Agent
from tests.support.browsers.extension import FakeExtension, connected, page_tool, tab
from tests.support.browsers.worker import connecting
from tests.support.serving import client, served

Json = dict[str, Any]
SESSION, GRANT, INTRUDER = "token:main", "a-grant", "intruder"
SCRIPT, CLICK = "browser_execute_script", "browser_click_element"
SHARED, OWNED, PRIVATE = 1, 2, 3
"""Tabs: one shared with all agents, one that an agent owns, one that the person owns."""
PAIRED = "http://paired.example"
"""An origin that may offer tools without the extension."""
PLUGIN = "demo"
"""An installed plugin that the person has not reviewed; the registry has a newer version."""
DOCUMENT: Json = {"tabId": SHARED, "frameId": 0, "documentId": f"doc-{SHARED}"}
"""A document that publishes a tool."""


@dataclass
class Protected:
    """The server, the person's browser with an open panel, an open question, and a token."""

    server: Server
    home: Home
    extension: FakeExtension
    question: str
    token: str
    code: str
    """The code of a page that waits for pairing."""

    def digests(self) -> list[str]:
        """Of the files of the plugin, in the order in which the panel shows them."""
        package = self.server.app.plugins.get(PLUGIN)
        return [file.digest for file in files_of(package)]

    def state(self) -> Any:
        """Everything a person decides, as the panel shows it and the disk stores it."""
        app = self.server.app
        panel_state = app.panel_requests.handle("profile-a", "config.getState", msgspec.Raw(b"{}"))
        panels = [browser.panels for browser in app.browsers.all()]
        return panel_state, panels, self.home.config.read_bytes(), self.home.clients.read_bytes()

    def refusals(self) -> list[Json]:
        """The intruder's refusals in the audit log, oldest first."""
        entries = self.server.app.audit.entries(plugin="door")
        return [entry for entry in reversed(entries) if entry["client"] == INTRUDER]

    def intruder(self) -> httpx.AsyncClient:
        return client(self.server.port, self.token)


@asynccontextmanager
async def _registry(folder: Path) -> AsyncIterator[FakeRegistry]:
    """The registry in the person's `.npmrc`."""
    async with serving_registry() as registry:
        for name in ("opentabs-plugin-demo", "opentabs-plugin-new"):
            registry.publish(name, "9.0.0")
        (folder / "npmrc").write_text(f"registry={registry.url}")
        with patch.dict(os.environ, npm_config_userconfig=str(folder / "npmrc")):
            yield registry


@asynccontextmanager
async def protected(folder: Path) -> AsyncIterator[Protected]:
    home = Home(folder / "home").create()
    schema = {"team": {"type": "string", "label": "Team"}}
    write_package(home.plugins / PLUGIN, package_json(configSchema=schema))
    home.config.write_text('{"permissions": {"tools": {"browser_execute_script": "ask"}}}')
    levels = PermissionSettings(tools={SCRIPT: "ask"})
    settings = Settings(permissions=levels, worker_origins=[PAIRED])
    async with (
        _registry(folder),
        served(settings, home=home) as server,
        connected(server.port) as extension,
        client(server.port) as http,
        connecting(server.port) as page,
    ):
        await extension.sync(tab(SHARED), tab(OWNED), tab(PRIVATE), shared=False, panels=1)
        await extension.ask("tab.share", {"tabId": SHARED, "shared": True})
        await extension.publish(SHARED, page_tool("greet"))
        server.app.rules.grants.add(Grant(GRANT, "always", CLICK, "main", None, None, None, 0))
        waiting = asyncio.create_task(Agent(http).call(SCRIPT, code="1", tabId=SHARED))
        question = (await extension.next("confirmation.request"))["params"]["id"]
        server.app.hub.ownership.take(SESSION, OWNED)
        token = Clients(home).add(INTRUDER)
        code = (await page.next())["params"]["code"]
        try:
            yield Protected(server, home, extension, question, token, code)
        finally:
            waiting.cancel()
            await asyncio.wait({waiting})
