"""Plugins as people write them, in a real browser: the example in JavaScript, and new ones."""

from pathlib import Path
from typing import Any

import pytest

from tabhub.cli.server.demo import serve_page
from tabhub.config.paths import Home
from tests.real.looking import html
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.managed import Rig, rig
from tests.support.eventually import eventually
from tests.support.site import serving

pytestmark = pytest.mark.real_browser

EXAMPLE = Path(__file__).parents[3] / "examples" / "plugins" / "demo-shop"
PAGE = (
    "<title>Orders</title><h1>Welcome  back</h1><a href=/orders>All orders</a><a href=/x>Help</a>"
)


async def ready(agent: Agent, plugin: str) -> None:
    async def look() -> bool:
        listed = (await agent.call("plugin_list_tabs", plugin=plugin))["plugins"][0]
        return any(tab["ready"] for tab in listed["tabs"])

    await eventually(look, f"{plugin} is ready", ignore=(ToolFailed,))


def created(made: Rig, folder: Path, *more: str) -> None:
    """Create a linked plugin for the pages of this machine."""
    arguments = ("orders", "--domain", "127.0.0.1", "--folder", str(folder), "--link", *more)
    done = made.product.run("plugin", "create", *arguments)
    assert done.returncode == 0, done.stderr


@pytest.mark.requirement("OT-30")
async def test_the_example_in_javascript_uses_the_shop_through_its_page(tmp_path: Path) -> None:
    config = {"localPlugins": [str(EXAMPLE)]}
    async with rig(tmp_path, config) as made, made.agent("ann") as ann:
        done = made.product.run("plugin", "review", "demo-shop", "--yes", "--level", "auto")
        assert done.returncode == 0, done.stderr
        with serve_page() as shop, serving() as site:
            await ann.call("browser_open_tab", url=html(site, "another page of this machine"))
            await ann.call("browser_open_tab", url=shop)
            await ready(ann, "demo-shop")
            found = await ann.call("demo-shop_search_products", query="coffee")
            assert [product["name"] for product in found["products"]] == [
                "Filter coffee, 500 g",
                "Decaf coffee, 250 g",
            ]
            cart = await ann.call("demo-shop_add_to_cart", product="decaf", quantity=2)
            assert cart == {
                "items": [{"name": "Decaf coffee, 250 g", "quantity": 2}],
                "total": 16.4,
            }
            assert await _category(ann, "demo-shop_add_to_cart", product="tea") == "not_found"
            ordered = await ann.call("demo-shop_order", name="Ada")
            assert ordered == {"message": "Order 1 for Ada: 16.40. Thank you!"}
            assert await _category(ann, "demo-shop_order", name="Ada") == "validation"


async def _category(agent: Agent, tool: str, **arguments: Any) -> str:
    with pytest.raises(ToolFailed) as failed:
        await agent.call(tool, **arguments)
    assert failed.value.reason == "script_error"
    category: str = failed.value.error["category"]
    return category


@pytest.mark.requirement("OT-37")
async def test_a_new_plugin_in_javascript_is_loaded_reviewed_and_called(tmp_path: Path) -> None:
    async with rig(tmp_path) as made, made.agent("ann") as ann:
        created(made, tmp_path / "orders", "--js")
        done = made.product.run("plugin", "review", "orders", "--yes", "--level", "auto")
        assert done.returncode == 0, done.stderr
        with serving() as site:
            page = html(site, PAGE)
            await ann.call("browser_open_tab", url=page)
            await ready(ann, "orders")
            found = await ann.call("orders_get_page")
            assert found == {"title": "Orders", "url": page, "headings": ["Welcome back"]}
            links = (await ann.call("orders_list_links", contains="order"))["links"]
            assert links == [{"text": "All orders", "url": f"{site.url}/orders"}]


@pytest.mark.requirement("OT-37")
async def test_a_new_plugin_runs_in_dev_mode_and_says_so_loudly(tmp_path: Path) -> None:
    async with rig(tmp_path, {}, "--dev") as made, made.agent("ann") as ann:
        created(made, tmp_path / "orders", "--js")
        set_level = made.product.run("permissions", "set", "plugin:orders", "auto")
        assert set_level.returncode == 0, set_level.stderr
        with serving() as site:
            await ann.call("browser_open_tab", url=html(site, PAGE))
            await ready(ann, "orders")
            assert (await ann.call("orders_get_page"))["title"] == "Orders"
            listed = made.product.run("plugin", "list", "--json")
            assert '"trusted":["orders"]' in listed.stdout
            status = made.product.run("status")
            assert "DEV MODE: orders runs WITHOUT A REVIEW" in status.stdout
        assert not Home(made.product.home).reviews.exists()


@pytest.mark.requirement("OT-37")
async def test_a_new_plugin_in_python_runs_in_dev_mode_and_changes_live(tmp_path: Path) -> None:
    async with rig(tmp_path, {}, "--dev") as made, made.agent("ann") as ann:
        created(made, tmp_path / "orders", "--python")
        set_level = made.product.run("permissions", "set", "plugin:orders", "auto")
        assert set_level.returncode == 0, set_level.stderr
        with serving() as site:
            page = html(site, PAGE)
            await ann.call("browser_open_tab", url=page)
            await ready(ann, "orders")
            found = await ann.call("orders_get_page")
            assert found == {"title": "Orders", "url": page, "headings": ["Welcome  back"]}
            source = tmp_path / "orders" / "plugin.py"
            changed = source.read_text().replace("def get_page", "def describe_page")
            source.write_text(changed)
            await eventually(
                lambda: ann.call("orders_describe_page"),
                until=lambda again: again["title"] == "Orders",
                ignore=(ToolFailed, AssertionError),
            )
