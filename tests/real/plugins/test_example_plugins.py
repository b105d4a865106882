"""The example plugins in Python with the real programs that they are for, in a real browser."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.plugins.zod_package import build_lists
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.managed import Rig, rig
from tests.support.eventually import eventually
from tests.support.jupyter import Jupyter, running_jupyter
from tests.support.verdaccio import Verdaccio, running_verdaccio

pytestmark = [pytest.mark.real_browser, pytest.mark.npm]

TESTS = Path(__file__).parents[2]
EXAMPLES = TESTS.parent / "examples" / "plugins"
LISTS = "@acme/opentabs-plugin-lists"
"""A package that only users of the registry may see."""


@pytest.fixture(scope="module")
def jupyter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jupyter]:
    with running_jupyter(tmp_path_factory.mktemp("jupyter")) as jupyter:
        yield jupyter


@pytest.fixture(scope="module")
def verdaccio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Verdaccio]:
    with running_verdaccio(tmp_path_factory.mktemp("verdaccio")) as verdaccio:
        verdaccio.publish(TESTS / "plugins" / "fixtures" / "notes")
        verdaccio.publish(build_lists(tmp_path_factory.mktemp("lists") / "lists"))
        yield verdaccio


@pytest.fixture
async def here(tmp_path: Path, jupyter: Jupyter, verdaccio: Verdaccio) -> AsyncIterator[Rig]:
    sites = {"jupyter": jupyter.url, "verdaccio": verdaccio.url}
    config = {
        "localPlugins": [str(EXAMPLES / name) for name in sites],
        "settings": {name: {"site": url} for name, url in sites.items()},
        # Otherwise a person is asked, as about everything that may destroy something.
        "permissions": {"tools": {"jupyter_write_file": "auto", "jupyter_delete_file": "auto"}},
    }
    async with rig(tmp_path, config) as here:
        for name in sites:
            words = ("plugin", "review", name, "--yes", "--level", "auto")
            done = await asyncio.to_thread(here.product.run, *words)
            assert done.returncode == 0, done.stderr
        yield here


async def _answers(agent: Agent, tool: str, **arguments: Any) -> Any:
    """The result of a tool, once its plugin is ready in the tab."""

    async def call() -> Any:
        return await agent.call(tool, **arguments)

    return await eventually(call, tool, ignore=(ToolFailed, KeyError))


async def _fault(agent: Agent, tool: str, **arguments: Any) -> dict[str, Any]:
    with pytest.raises(ToolFailed) as failed:
        await agent.call(tool, **arguments)
    return failed.value.error


@pytest.mark.requirement("TH-10")
async def test_files_of_a_real_jupyter_are_read_and_changed_with_its_session(
    here: Rig, jupyter: Jupyter
) -> None:
    (jupyter.files / "old.txt").write_text("before")
    async with here.agent("robot") as agent:
        tab = await agent.call("browser_open_tab", url=f"{jupyter.url}/login")
        assert (await _fault(agent, "jupyter_list_files"))["reason"] == "adapter_not_ready"
        await agent.call("browser_navigate_tab", url=jupyter.login, tabId=tab["tabId"])
        found = await _answers(agent, "jupyter_list_files")
        assert [entry["name"] for entry in found["result"]] == ["old.txt"]

        await agent.call("jupyter_write_file", path="new note.txt", content="héllo")
        assert (jupyter.files / "new note.txt").read_text() == "héllo"
        read = await agent.call("jupyter_read_file", path="new note.txt")
        assert (read["path"], read["content"]) == ("new note.txt", "héllo")

        await agent.call("jupyter_add_cell", path="n.ipynb", source="1 + 1")
        await agent.call("jupyter_add_cell", path="n.ipynb", source="# Sum", kind="markdown")
        cells = (await agent.call("jupyter_read_notebook", path="n.ipynb"))["result"]
        assert [(cell["kind"], cell["source"]) for cell in cells] == [
            ("code", "1 + 1"),
            ("markdown", "# Sum"),
        ]
        await agent.call("jupyter_delete_file", path="old.txt")
        assert not (jupyter.files / "old.txt").exists()
        assert (await agent.call("jupyter_list_kernels"))["result"] == []
        assert (await agent.call("jupyter_list_sessions"))["result"] == []

        missing = await _fault(agent, "jupyter_read_file", path="old.txt")
        assert (missing["category"], missing["pluginCode"]) == ("not_found", "http_404")
        wrong = await _fault(agent, "jupyter_add_cell", path="n.ipynb", source="x", kind="raw")
        assert wrong["reason"] == "invalid_arguments"


@pytest.mark.requirement("TH-10")
async def test_packages_of_a_real_verdaccio_are_seen_with_the_token_of_its_page(
    here: Rig, verdaccio: Verdaccio
) -> None:
    async with here.agent("robot") as agent:
        await agent.call("browser_open_tab", url=verdaccio.url)
        found = await _answers(agent, "verdaccio_search_packages")
        assert [package["name"] for package in found["result"]] == ["opentabs-plugin-notes"]
        assert (await _fault(agent, "verdaccio_whoami"))["category"] == "auth"
        private = await _fault(agent, "verdaccio_package_info", name=LISTS)
        assert (private["category"], private["pluginCode"]) == ("auth", "http_401")

        await _log_in(agent)
        person = await _answers(agent, "verdaccio_whoami")
        assert person["name"] == "ada"
        found = await agent.call("verdaccio_search_packages", text="LISTS")
        assert [package["name"] for package in found["result"]] == [LISTS]
        info = await agent.call("verdaccio_package_info", name=LISTS)
        assert (info["name"], info["version"]) == (LISTS, "1.0.0")
        [version] = (await agent.call("verdaccio_list_versions", name=LISTS))["result"]
        assert (version["version"], version["tags"]) == ("1.0.0", ["latest"])
        missing = await _fault(agent, "verdaccio_package_info", name="no-such-package")
        assert missing["category"] == "not_found"


async def _log_in(agent: Agent) -> None:
    """Log in as a person does, in the page itself."""
    await agent.call("browser_click_element", selector="[data-testid='header--button-login']")
    await agent.call("browser_type_text", selector="[name=username]", text="ada")
    await agent.call("browser_type_text", selector="[name=password]", text="swordfish")
    await agent.call("browser_click_element", selector="#login--dialog-button-submit")
