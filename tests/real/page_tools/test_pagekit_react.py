"""The React example of docs/pagekit.md, copied from that page, with React in a real browser."""

import shutil
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.page_samples import samples
from tests.real.conftest import Opener
from tests.support.agent import Agent
from tests.support.browsers.page_tools import tool, withdrawn
from tests.support.product import Product
from tests.support.static_site import serving

pytestmark = [pytest.mark.real_browser, pytest.mark.npm]
Evaluate = Callable[..., Awaitable[Any]]
ROOT = Path(__file__).parents[3]
NPM = ROOT / "tests" / "npm" / "node_modules"
NODE = NPM / "node" / "bin" / "node"
PAGE = '<!doctype html><title>cart</title><body><script type="module" src="app.mjs"></script>'
BUNDLE = ("--platform", "browser", "--transform.define", 'process.env.NODE_ENV:"development"')
CHECKS = ("--noEmit", "--allowJs", "--checkJs", "--strict", "--noImplicitAny", "false")
TARGETS = ("--target", "es2022", "--lib", "es2022,dom", "--module", "es2022")
MODULES = ("--moduleResolution", "bundler", "--jsx", "react-jsx", "--types", "react")


def _example() -> str:
    (found,) = [one for one in samples(ROOT / "docs" / "pagekit.md") if one.kind == "jsx"]
    return found.text


def _run(folder: Path, *command: str | Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example beside the library, as a site has them."""
    folder = tmp_path_factory.mktemp("react")
    (folder / "node_modules").symlink_to(NPM)
    (folder / "example.jsx").write_text(_example())
    _run(ROOT, ROOT / "scripts" / "build-pagekit", folder)
    return folder


@pytest.fixture(scope="module")
def shop(folder: Path, product: tuple[Product, int]) -> Iterator[str]:
    """The page, bundled and served, which may also offer tools by the worker."""
    (folder / "index.html").write_text(PAGE)
    shutil.copy(ROOT / "tests" / "pagekit" / "react.jsx", folder / "app.jsx")
    bundler = NPM / "rolldown" / "bin" / "cli.mjs"
    _run(folder, NODE, bundler, "app.jsx", "--format", "esm", "--file", "app.mjs", *BUNDLE)
    with serving(folder) as site:
        assert product[0].run("page", "allow", site).returncode == 0
        yield site


@pytest.mark.requirement("MT-01")
def test_the_example_agrees_with_the_types(folder: Path) -> None:
    _run(folder, NPM / ".bin" / "tsc", *CHECKS, *TARGETS, *MODULES, "example.jsx")


@pytest.mark.requirement("MT-01")
@pytest.mark.document("MB-overview-3")
@pytest.mark.parametrize("way", ["WebMCP", "the worker"])
async def test_a_tool_lives_with_its_component_and_sees_its_newest_state(
    way: str,
    agent: Agent,
    opened: Opener,
    in_page: Evaluate,
    shop: str,
    product: tuple[Product, int],
) -> None:
    hub = f"?hub=ws://127.0.0.1:{product[1]}/page" if way == "the worker" else ""
    await opened(f"{shop}/{hub}")
    # StrictMode mounts every component twice: an extra registration would fail or remain.
    for times in range(2):
        await in_page("show(['tea'])")
        name = (await tool(agent, shop, "view_cart"))["name"]
        assert await agent.call(name) == {"items": ["tea"]}
        await in_page(f"show(['tea', 'mug {times}'])")
        assert await agent.call(name) == {"items": ["tea", f"mug {times}"]}
        await in_page("show(null)")
        await withdrawn(agent, shop, "view_cart")
    assert await in_page("faults") == []
