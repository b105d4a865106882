"""`tabhub plugin search`, `install`, `update` and `remove`."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tabhub.config.paths import Home
from tabhub.plugins.package import read_package
from tabhub.plugins.review import Reviews
from tests.cli.conftest import Here
from tests.plugins.fake_registry import FakeRegistry, plugin_files, registry_in_thread
from tests.plugins.tarballs import file, package_of, packed
from tests.support.product import Product
from tests.support.terminal import in_terminal

NAME = "opentabs-plugin-notes"


@pytest.fixture
def registry(product: Product, tmp_path: Path) -> Iterator[FakeRegistry]:
    with registry_in_thread() as registry:
        registry.publish(NAME, "1.0.0")
        (tmp_path / "npmrc").write_text(f"registry={registry.url}")
        product.environment["npm_config_userconfig"] = str(tmp_path / "npmrc")
        yield registry


def _approve(product: Product) -> None:
    home = Home(product.home)
    package = read_package(home.plugins / "notes", "installed")
    Reviews(home, lambda name, level: None).approve(package)


@pytest.mark.requirement("OT-36")
def test_a_plugin_is_found_and_installed_and_has_to_be_reviewed(
    registry: FakeRegistry, product: Product, here: Here
) -> None:
    [found] = json.loads(here("plugin", "search", "notes").stdout)
    assert found == {"name": "notes", "package": NAME, "version": "1.0.0", "description": ""}
    shown = in_terminal(product.environment, "plugin", "install", NAME, columns=200)
    assert shown.returncode == 0 and "tabhub plugin review notes" in shown.text
    [again] = json.loads(here("plugin", "install", NAME).stdout)
    assert (again["name"], again["isNew"], again["waits"]) == ("notes", False, False)


@pytest.mark.requirement("OT-36")
def test_updates_are_listed_and_fetched_and_one_failure_does_not_hold_up_the_others(
    registry: FakeRegistry, product: Product, here: Here
) -> None:
    registry.publish("opentabs-plugin-a", "1.0.0")
    for name in ("opentabs-plugin-a", NAME):
        assert here("plugin", "install", name).returncode == 0
    assert json.loads(here("plugin", "update").stdout) == []
    _approve(product)
    registry.publish(NAME, "1.1.0")
    del registry.packages["opentabs-plugin-a"]
    checked = here("plugin", "update", "--check")
    [newer] = json.loads(checked.stdout)
    assert (newer["name"], newer["current"], newer["latest"]) == ("notes", "1.0.0", "1.1.0")
    assert "opentabs-plugin-a" in checked.stderr
    updated = here("plugin", "update")
    assert updated.returncode == 1 and "opentabs-plugin-a" in updated.stderr
    [done] = json.loads(updated.stdout)
    assert (done["version"], done["waits"]) == ("1.1.0", True)
    assert read_package(Home(product.home).plugins / "notes", "installed").version == "1.0.0"


@pytest.mark.requirement("OT-36")
@pytest.mark.parametrize("name", ["notes", NAME])
def test_a_plugin_is_removed_with_its_settings_level_and_review(
    registry: FakeRegistry, product: Product, here: Here, name: str
) -> None:
    here("plugin", "install", NAME)
    _approve(product)
    here("config", "set", "permissions.plugins.notes", "auto")
    here("config", "set", "settings.notes", '{"token": "x"}')
    removed = here("plugin", "remove", name)
    assert removed.returncode == 0 and "Removed: notes" in removed.stdout
    home = Home(product.home)
    assert json.loads(home.config.read_text()) == {}
    assert Reviews(home, lambda name, level: None).last("notes") is None
    gone = here("plugin", "remove", name)
    assert gone.returncode == 1 and "Nothing was changed" in gone.stderr


@pytest.mark.parametrize(
    ("package", "code", "words"),
    [
        ("left-pad", 2, "no name of a plugin"),
        ("opentabs-plugin-none", 1, "no package"),
        (f"{NAME}@9.9.9", 1, "no version"),
        (f"{NAME}@^1.0.0", 2, "a version such as"),
    ],
)
def test_what_cannot_be_installed_is_one_sentence(
    registry: FakeRegistry, here: Here, package: str, code: int, words: str
) -> None:
    refused = here("plugin", "install", package)
    assert (refused.returncode, refused.stdout) == (code, "")
    assert words in refused.stderr and refused.stderr.count("\n") == 1


def test_a_hostile_tarball_writes_nothing(
    registry: FakeRegistry, product: Product, here: Here
) -> None:
    registry.publish(NAME, "2.0.0", packed(file("package/../../../evil")))
    refused = here("plugin", "install", NAME)
    assert refused.returncode == 2 and "nothing was installed" in refused.stderr
    assert not list(product.home.parent.rglob("evil"))
    assert not list((product.home / "plugins").glob("[!.]*"))


def test_text_of_the_registry_cannot_speak_to_the_terminal(
    registry: FakeRegistry, product: Product
) -> None:
    files = plugin_files(NAME, "2.0.0", displayName="\x1b[2J")
    registry.publish(NAME, "2.0.0", package_of(files))
    shown = in_terminal(product.environment, "plugin", "install", NAME)
    assert "\x1b[2J" not in shown.text


@pytest.mark.slow
@pytest.mark.requirement("OT-44")
async def test_a_running_server_knows_what_was_installed_and_removed(
    registry: FakeRegistry, product: Product
) -> None:
    with product.running("start", "--port", "0"):
        port = await asyncio.to_thread(product.wait_running)
        async with product.client(port) as http:
            for command, count in ((("install", NAME), 1), (("remove", "notes"), 0)):
                assert product.run("plugin", *command).returncode == 0
                assert (await http.get("/health")).json()["plugins"] == count
