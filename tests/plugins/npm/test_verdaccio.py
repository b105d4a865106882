"""Plugins on a real npm registry: published by npm, searched, installed, updated, removed."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tabhub.plugins.package import read_package
from tests.plugins.packages import package_json, write_package
from tests.plugins.zod_package import build_lists
from tests.support.product import Product
from tests.support.verdaccio import Verdaccio, running_verdaccio

NOTES, LISTS = "opentabs-plugin-notes", "@acme/opentabs-plugin-lists"

pytestmark = [pytest.mark.npm, pytest.mark.slow]


@pytest.fixture(scope="module")
def verdaccio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Verdaccio]:
    with running_verdaccio(tmp_path_factory.mktemp("verdaccio")) as verdaccio:
        _publish_notes(verdaccio, tmp_path_factory.mktemp("notes"), "1.0.0")
        verdaccio.publish(build_lists(tmp_path_factory.mktemp("lists") / "lists"))
        yield verdaccio


@pytest.fixture
def product(tmp_path: Path, verdaccio: Verdaccio) -> Product:
    """A person whose `.npmrc` has the registry and a token for it."""
    product = Product(tmp_path / "home")
    product.environment["npm_config_userconfig"] = str(verdaccio.npmrc)
    return product


def _publish_notes(verdaccio: Verdaccio, folder: Path, version: str) -> None:
    package = {**package_json(NOTES), "version": version, "description": "Notes."}
    verdaccio.publish(write_package(folder, package, adapter=f"/* {version} */"))


def _run(product: Product, *arguments: str) -> Any:
    done = product.run("plugin", *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _review(product: Product) -> None:
    assert product.run("plugin", "review", "notes", "--yes").returncode == 0


def _listed(product: Product) -> tuple[str, str]:
    """The version that runs, and whether it is reviewed."""
    [plugin] = _run(product, "list")["plugins"]
    return plugin["version"], plugin["review"]


@pytest.mark.requirement("OT-36")
def test_a_published_plugin_is_searched_installed_reviewed_updated_and_removed(
    verdaccio: Verdaccio, product: Product, tmp_path: Path
) -> None:
    [found] = _run(product, "search", "notes")
    assert (found["package"], found["version"]) == (NOTES, "1.0.0")
    [installed] = _run(product, "install", NOTES)
    assert (installed["name"], installed["version"]) == ("notes", "1.0.0")
    _review(product)
    _publish_notes(verdaccio, tmp_path / "newer", "1.1.0")
    [newer] = _run(product, "update", "--check")
    assert (newer["current"], newer["latest"]) == ("1.0.0", "1.1.0")
    [updated] = _run(product, "update", "notes")
    assert (updated["version"], updated["waits"]) == ("1.1.0", True)
    assert _listed(product) == ("1.0.0", "reviewed")
    _review(product)
    assert _listed(product) == ("1.1.0", "reviewed")
    assert product.run("plugin", "remove", NOTES).returncode == 0
    assert _run(product, "list")["plugins"] == []


@pytest.mark.requirement("OT-30", "OT-36")
def test_a_package_bundled_with_zod_comes_from_a_scope_that_needs_a_token(
    verdaccio: Verdaccio, product: Product, tmp_path: Path
) -> None:
    [found] = _run(product, "search", "lists")
    assert (found["package"], found["name"]) == (LISTS, "acme-lists")
    [installed] = _run(product, "install", LISTS)
    package = read_package(Path(installed["folder"]), "installed")
    add = package.tools[0]
    assert add.defaults == {"list": "groceries", "count": 1}
    assert json.loads(add.input_schema)["required"] == ["item"]
    assert package.adapter is not None
    assert b"ZodError" in package.adapter.read_bytes()
    _run(product, "install", f"{LISTS}@1.0.0")


def test_without_the_token_the_scope_is_closed_and_nothing_leaks(
    verdaccio: Verdaccio, product: Product, tmp_path: Path
) -> None:
    (tmp_path / "npmrc").write_text(f"registry={verdaccio.url}")
    product.environment["npm_config_userconfig"] = str(tmp_path / "npmrc")
    assert _run(product, "search", "lists") == []
    refused = product.run("plugin", "install", LISTS)
    assert refused.returncode == 1 and ".npmrc" in refused.stderr
    wrong = f"{verdaccio.url.removeprefix('http:')}:_authToken=swordfish-wrong\n"
    (tmp_path / "npmrc").write_text(f"registry={verdaccio.url}\n{wrong}")
    refused = product.run("plugin", "install", LISTS)
    assert refused.returncode == 1 and "swordfish" not in refused.stdout + refused.stderr


def test_a_token_of_the_scopes_own_registry_is_enough(
    verdaccio: Verdaccio, product: Product, tmp_path: Path
) -> None:
    lines = ["registry=http://127.0.0.1:1/", f"@acme:registry={verdaccio.url}"]
    (tmp_path / "npmrc").write_text("\n".join([*lines, verdaccio.token_line]))
    product.environment["npm_config_userconfig"] = str(tmp_path / "npmrc")
    [installed] = _run(product, "install", LISTS)
    assert installed["name"] == "acme-lists"
    assert product.run("plugin", "install", NOTES).returncode == 1
