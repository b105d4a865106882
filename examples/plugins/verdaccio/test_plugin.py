"""Verdaccio as it was recorded in `registry.har`, without a browser and without Verdaccio."""

from base64 import urlsafe_b64encode
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from plugin import Person, Verdaccio, Version

from tabhub.sdk import PluginError, invoke, settings_of_call
from tabhub.sdk.testing import FakePage, page_from_har

CLAIMS = {"name": "ada", "exp": 1_800_000_000, "real_groups": ["makers"]}
TOKEN = f"e30.{urlsafe_b64encode(msgspec.json.encode(CLAIMS)).decode().rstrip('=')}.c2ln"


@pytest.fixture
def page() -> Iterator[FakePage]:
    page = page_from_har(Path(__file__).parent / "registry.har")
    page.local |= {"username": "ada", "token": TOKEN}
    with settings_of_call({"site": "http://localhost:4873"}):
        yield page


async def test_it_is_ready_as_soon_as_the_page_is_there(plugin: Verdaccio, page: FakePage) -> None:
    assert not await plugin.ready(page)
    page.elements.add("#root")
    assert await plugin.ready(page)


async def test_the_token_says_who_is_logged_in(plugin: Verdaccio, page: FakePage) -> None:
    assert await plugin.whoami(page) == Person("ada", ["makers"], 1_800_000_000)
    page.local["token"] = "nonsense"
    with pytest.raises(PluginError, match="cannot be read"):
        await plugin.whoami(page)
    page.local.clear()
    with pytest.raises(PluginError) as caught:
        await plugin.whoami(page)
    assert caught.value.category == "auth"


async def test_packages_are_found_by_name_description_and_keyword(
    plugin: Verdaccio, page: FakePage
) -> None:
    for text in ("TEA-", "is ready", "clock"):
        [found] = await plugin.search_packages(page, text)
        assert (found.name, found.version) == ("tea-timer", "1.1.0")
    assert len(await plugin.search_packages(page)) == 2
    assert len(await plugin.search_packages(page, most=1)) == 1


async def test_requests_have_the_token_of_the_page(plugin: Verdaccio, page: FakePage) -> None:
    await plugin.search_packages(page)
    page.local.clear()
    await plugin.search_packages(page)
    first, second = page.requests
    assert first.headers == {"authorization": f"Bearer {TOKEN}"}
    assert second.headers == {}


async def test_a_package_is_described_by_its_newest_version(
    plugin: Verdaccio, page: FakePage
) -> None:
    found = await invoke(plugin, "package_info", {"name": "tea-timer"}, page)
    assert found == {
        "name": "tea-timer",
        "version": "1.1.0",
        "description": "Says when the tea is ready.",
        "license": "MIT",
        "homepage": "https://tea.example.com/",
        "dependencies": {"kettle": "^2.0.0"},
    }
    assert (await plugin.read_readme(page, "tea-timer")).startswith("# Tea timer")


async def test_versions_have_their_tags(plugin: Verdaccio, page: FakePage) -> None:
    first, second = await plugin.list_versions(page, "tea-timer")
    assert (first.version, first.tags) == ("1.0.0", [])
    assert second == Version("1.1.0", second.published, ["latest"])


async def test_a_package_that_is_not_there_or_not_for_you_is_an_error(
    plugin: Verdaccio, page: FakePage
) -> None:
    for name, category in (("nothing", "not_found"), ("@acme/secret", "auth")):
        with pytest.raises(PluginError) as caught:
            await plugin.package_info(page, name)
        assert caught.value.category == category
