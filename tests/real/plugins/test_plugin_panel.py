"""A person finds, installs, sets up, updates and removes a plugin in the side panel."""

import json
from pathlib import Path

import pytest

from tabhub.config.paths import Home
from tests.plugins.fake_registry import plugin_files, serving_registry
from tests.plugins.tarballs import package_of
from tests.support.browsers.managed import rig
from tests.support.browsers.panel import Panel, panel_of
from tests.support.eventually import eventually

pytestmark = pytest.mark.real_browser

NAME = "opentabs-plugin-notes"
SCHEMA = {
    "site": {"type": "url", "label": "Site <b>", "required": True},
    "token": {"type": "string", "label": "Token"},
    "loud": {"type": "boolean", "label": "Loud"},
}
SWORDFISH = "swordfish-of-the-deep"
ROW = "li[data-plugin=notes]"


def _tarball(version: str) -> bytes:
    return package_of(plugin_files(NAME, version, displayName="Notes <i>", configSchema=SCHEMA))


async def _enter(panel: Panel, selector: str, text: str) -> None:
    await panel.until(f"!!document.querySelector({json.dumps(selector)})", selector)
    await panel.value(f"document.querySelector({json.dumps(selector)}).value = {json.dumps(text)}")


@pytest.mark.requirement("OT-35", "OT-36")
async def test_a_plugin_is_installed_set_up_updated_and_removed_in_the_panel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("npm_config_userconfig", str(tmp_path / "npmrc"))
    async with serving_registry() as registry:
        (tmp_path / "npmrc").write_text(f"registry={registry.url}")
        registry.publish(NAME, "1.0.0", _tarball("1.0.0"))
        async with rig(tmp_path) as here, panel_of(here.cdp) as panel:
            home = Home(here.product.home)
            await panel.view("plugins")
            await _enter(panel, "#plugin-words", "notes")
            await panel.click("button[data-action=plugin-search]")
            assert NAME in await panel.text(f"li[data-result='{NAME}']")
            await panel.click(f"li[data-result='{NAME}'] [data-action=plugin-install]")
            text = await panel.text(ROW)
            assert "Notes <i>" in text and "Blocked until you review it" in text

            await panel.click(f"{ROW} [data-settings] summary")
            assert "Site <b> (required)" in await panel.text(f"{ROW} [data-setting=site]")
            await _enter(panel, f"{ROW} [data-setting=token] [data-value]", SWORDFISH)
            await panel.click(f"{ROW} button[data-action=plugin-save]")
            assert "site is required" in await panel.text("#error")
            await _enter(panel, f"{ROW} [data-setting=site] [data-value]", "work=https://a.example")
            await _enter(panel, f"{ROW} [data-setting=loud] [data-value]", "yes")
            await panel.click(f"{ROW} button[data-action=plugin-save]")
            await panel.until(
                f"document.querySelector('{ROW}').textContent.includes('Token (set)')",
                "the panel to know that it is set",
            )
            stored = json.loads(home.config.read_text())["settings"]["notes"]
            assert stored == {
                "site": {"work": "https://a.example"},
                "token": SWORDFISH,
                "loud": True,
            }
            page = await panel.value("document.documentElement.outerHTML")
            assert SWORDFISH not in page

            await panel.click(f"{ROW} [data-setting=loud] [data-remove]")
            await panel.click(f"{ROW} button[data-action=plugin-save]")
            await eventually(
                lambda: json.loads(home.config.read_text())["settings"]["notes"],
                until=lambda now: "loud" not in now,
            )

            registry.publish(NAME, "1.1.0", _tarball("1.1.0"))
            await panel.click("button[data-action=plugin-check]")
            await panel.click(f"{ROW} button[data-action=plugin-update]")
            await panel.until(
                f"document.querySelector('{ROW}').innerText.includes('1.1.0,')", "the update"
            )
            await panel.click(f"{ROW} button[data-action=plugin-remove]")
            await panel.until(f"!document.querySelector('{ROW}')", "the plugin to go")
            await eventually(lambda: not (home.plugins / "notes").exists())
            assert SWORDFISH not in home.config.read_text()
            assert SWORDFISH not in home.audit.read_text()
