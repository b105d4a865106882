"""`tabhub plugin create`."""

import json
import subprocess
from pathlib import Path

import pytest

from tabhub.config.paths import Home
from tabhub.config.settings import load
from tabhub.plugins.discovery import Plugins
from tabhub.plugins.package import Package
from tests.cli.conftest import Here
from tests.plugins.packages import package_json, write_package
from tests.support.product import Product
from tests.support.verdaccio import NODE

FORMS = ("--python", "--js")


def found(product: Product) -> Package:
    """The plugin, as a server of this home would find it."""
    home = Home(product.home)
    plugins = Plugins(home.plugins, lambda: load(home))
    plugins.reload()
    assert not plugins.failed
    return plugins.get("my-notes")


@pytest.mark.requirement("OT-37")
@pytest.mark.parametrize("form", FORMS)
def test_a_new_plugin_is_found_once_it_is_linked(
    here: Here, product: Product, tmp_path: Path, form: str
) -> None:
    folder = tmp_path / "work" / "notes"
    arguments = ("my-notes", "--domain", "*.Notes.example", form, "--folder", str(folder))
    done = here("plugin", "create", *arguments, "--link")
    assert done.returncode == 0, done.stderr
    plugin = found(product)
    assert (plugin.name, plugin.title, plugin.kind) == ("my-notes", "My Notes", "local")
    assert plugin.url_patterns == ("https://*.notes.example/*",)
    assert plugin.homepage == "https://notes.example/"
    texts = [path.read_text() for path in folder.rglob("*") if path.is_file()]
    assert not any("scaffold" in text.lower() for text in texts)
    following = done.stdout.partition("Next:\n")[2].splitlines()
    assert len(following) == 5
    # The program's own path comes before, where no `tabhub` is on the PATH.
    assert [line.partition("tabhub ")[2] for line in following[1:4]] == [
        "start --dev --browser",
        "tool call browser_open_tab url=https://notes.example/",
        "tool call my-notes_get_page",
    ]
    assert "side panel" in following[4]
    assert "tabhub plugin review my-notes --level auto" in following[4]


def test_python_is_the_default_and_without_link_nothing_is_linked(
    here: Here, product: Product, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = here("plugin", "create", "my-notes", "--domain", "localhost:8000")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "my-notes" / "plugin.py").is_file()
    assert not Home(product.home).config.exists()
    link, *_, call, _ = done.stdout.partition("Next:\n")[2].splitlines()
    assert link == f"  {product.command} plugin link {tmp_path}/my-notes"
    assert call == f"  {product.command} tool call my-notes_get_page"


@pytest.mark.npm
def test_the_tests_of_a_new_plugin_in_javascript_pass(here: Here, tmp_path: Path) -> None:
    folder = tmp_path / "my-notes"
    arguments = ("my-notes", "--domain", "127.0.0.1", "--js", "--folder", str(folder))
    assert here("plugin", "create", *arguments).returncode == 0
    done = subprocess.run([NODE, "--test"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "# pass 4" in done.stdout, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", ["my-notes", "3d"])
def test_the_tests_of_a_new_plugin_in_python_pass(here: Here, tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    arguments = (name, "--domain", "notes.example", "--folder", str(folder))
    assert here("plugin", "create", *arguments).returncode == 0
    done = here("plugin", "test", str(folder))
    assert done.returncode == 0 and "4 passed" in done.stdout, done.stdout


@pytest.mark.parametrize(
    ("name", "domain", "words"),
    [
        ("browser", "a.example", "cannot be the name of a plugin"),
        ("Notes", "a.example", "cannot be the name of a plugin"),
        ("../notes", "a.example", "cannot be the name of a plugin"),
        ("a" * 65, "a.example", "cannot be the name of a plugin"),
        ("notes", "https://a.example/", "is not a domain"),
        ("notes", "*", "is not a domain"),
        ("notes", "*.com", "is not a domain"),
        ("notes", "a.example/path", "is not a domain"),
        ("notes", "", "is not a domain"),
    ],
)
def test_bad_names_and_domains_are_refused(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, domain: str, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = here("plugin", "create", name, "--domain", domain)
    assert done.returncode != 0
    assert words in done.stderr and "Nothing was done." in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_existing_folder_and_a_known_name_are_refused(
    here: Here, product: Product, tmp_path: Path
) -> None:
    (tmp_path / "full").mkdir()
    arguments = ("plugin", "create", "notes", "--domain", "a.example", "--folder")
    done = here(*arguments, str(tmp_path / "full"))
    assert done.returncode != 0 and "exists already" in done.stderr
    assert list((tmp_path / "full").iterdir()) == []
    about = package_json("opentabs-plugin-notes")
    write_package(Home(product.home).create().plugins / "notes", about)
    done = here(*arguments, str(tmp_path / "new"))
    assert done.returncode != 0 and "a plugin called notes already" in done.stderr
    assert not (tmp_path / "new").exists()


def test_only_one_form_can_be_chosen(here: Here, tmp_path: Path) -> None:
    folder = str(tmp_path / "x")
    done = here("plugin", "create", "x", "--domain", "a.example", *FORMS, "--folder", folder)
    assert done.returncode != 0 and "not both" in done.stderr
    assert json.dumps(folder) not in done.stdout and not Path(folder).exists()
