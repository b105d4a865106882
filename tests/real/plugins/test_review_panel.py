"""A person reviews a plugin in the side panel: its facts, its source, what has changed in it."""

from pathlib import Path

import pytest

from tabhub.config.paths import Home
from tabhub.config.settings import load
from tabhub.plugins.package import read_package
from tabhub.plugins.review import Reviews
from tests.plugins.packages import package_json, write_package
from tests.support.browsers.managed import rig
from tests.support.browsers.panel import panel_of
from tests.support.eventually import eventually

pytestmark = pytest.mark.real_browser

ROW = "li[data-plugin=demo]"
ADAPTER = "dist/adapter.iife.js"
HOSTILE = "<img src=x onerror=alert(1)>\u202e"


def is_open(home: Home) -> bool:
    reviews = Reviews(home, lambda name, level: None)
    return reviews.is_open(read_package(home.plugins / "demo", "installed"))


def level(home: Home) -> str | None:
    return load(home).permissions.plugins.get("demo")


async def test_a_plugin_is_read_and_approved_in_the_panel_and_again_after_a_change(
    tmp_path: Path,
) -> None:
    async with rig(tmp_path) as here, panel_of(here.cdp) as panel:
        home = Home(here.product.home)
        folder = home.plugins / "demo"
        write_package(folder, package_json(displayName=HOSTILE), adapter=f"// {HOSTILE}\n")
        here.product.run("config", "set", "localPlugins", "[]")
        await panel.view("plugins")
        await panel.click(f"{ROW} button[data-action=plugin-review]")
        facts = await panel.text(f"{ROW} [data-review]")
        assert "https://demo.example/*" in facts and str(folder) in facts
        assert "it can do there whatever you can do" in facts
        await panel.click(f"{ROW} [data-file='{ADAPTER}'] summary")
        await panel.click(f"{ROW} [data-file='{ADAPTER}'] button[data-action=plugin-source]")
        assert "onerror=alert(1)" in await panel.text(f"{ROW} [data-source='{ADAPTER}']")
        assert await panel.value(f"document.querySelectorAll('{ROW} img').length") == 0
        assert not is_open(home)
        await panel.click(f"{ROW} button[data-approve=ask]")
        await eventually(lambda: is_open(home))
        assert level(home) == "ask"
        await panel.until(f"!document.querySelector('{ROW} [data-review]')", "the review to close")

        lines = "\n".join(f"line({number});" for number in range(400))
        write_package(folder, adapter=f"// {HOSTILE}\nsteal();\n{lines}\nlast();\n")
        here.product.run("config", "set", "localPlugins", "[]")
        await panel.click(f"{ROW} button[data-action=plugin-review]")
        await panel.click(f"{ROW} [data-file='{ADAPTER}'] summary")
        changes = f"{ROW} [data-changes='{ADAPTER}']"
        text = await panel.text(changes)
        assert "+steal();" in text and "+last();" not in text
        await panel.click(f"{ROW} [data-action=more-lines]")
        await panel.until(
            f'document.querySelector("{changes}").innerText.includes("+last();")', "the rest"
        )
        write_package(folder, adapter="worse();\n")
        await panel.click(f"{ROW} button[data-approve=auto]")
        assert "Nothing was" in await panel.text("#error")
        assert not is_open(home) and level(home) == "ask"
