"""A server with a scripted browser, for the clients of every interface."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tabhub.config.paths import Home
from tabhub.config.settings import PermissionSettings, Settings
from tests.interfaces.interface import Place
from tests.interfaces.scenes import COUNTING, FORBIDDEN
from tests.support.browsers.extension import FakeExtension, connected, tab
from tests.support.serving import SECRET, served

Json = dict[str, Any]
THROWN = {"exception": {"message": "no", "stack": "Error: no"}}


class Page:
    """Answers the few scripts that the scenes run."""

    def __init__(self) -> None:
        self.runs = 0

    def __call__(self, params: Json) -> Json:
        code = params["input"]["code"]
        if code == COUNTING:
            self.runs += 1
            return {"value": self.runs}
        return THROWN if code.startswith("throw") else {"value": 2}


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    home = Home(tmp_path / "home").create()
    settings = Settings(permissions=PermissionSettings(tools={FORBIDDEN: "off"}))
    async with served(settings, home=home) as server:
        auth = {"secret": SECRET, "port": server.port}
        (home.extension / "auth.json").write_text(json.dumps(auth))
        yield Place(server.port, SECRET, home.root, server.app)


@pytest.fixture
async def extension(place: Place) -> AsyncIterator[FakeExtension]:
    async with connected(place.port) as found:
        await found.sync(tab(1))
        yield found


@pytest.fixture
def page(extension: FakeExtension) -> Page:
    page = Page()
    extension.handlers["page.evaluate"] = page
    return page
