"""`tabhub plugin list` and `tabhub plugin review`."""

import json
import os
import pty
import sys
from pathlib import Path

import pytest

from tabhub.config.paths import Home
from tabhub.config.settings import load
from tabhub.plugins.package import read_package
from tabhub.plugins.review import Reviews
from tests.cli.conftest import Here
from tests.plugins.packages import package_json, tool, write_package
from tests.plugins.python.written_plugins import source, written
from tests.support.product import Product


@pytest.fixture
def home(product: Product) -> Home:
    home = Home(product.home).create()
    write_package(home.plugins / "demo", pre_script="self.early = 1;")
    return home


def is_open(home: Home) -> bool:
    reviews = Reviews(home, lambda name, level: None)
    return reviews.is_open(read_package(home.plugins / "demo", "installed"))


def test_plugins_are_listed_with_their_review_level_and_faults(home: Home, here: Here) -> None:
    local = write_package(home.root / "mine", package_json("tabhub-plugin-mine"))
    (home.plugins / "bad").mkdir()
    assert here("config", "set", "localPlugins", json.dumps([str(local)])).returncode == 0
    assert here("plugin", "review", "demo", "--yes", "--level", "auto").returncode == 0
    listed = json.loads(here("plugin", "list", "--json").stdout)
    shown = {one["name"]: (one["review"], one["level"], one["source"]) for one in listed["plugins"]}
    assert shown == {"demo": ("reviewed", "auto", "installed"), "mine": ("never", "off", "local")}
    [failed] = listed["failed"]
    assert (failed["folder"], failed["reason"]) == (str(home.plugins / "bad"), "not_found")


def test_a_review_shows_what_the_plugin_is_and_approves_nothing_by_itself(
    home: Home, here: Here
) -> None:
    settings = {"site": {"type": "url", "label": "Site", "default": "https://site.example/"}}
    write_package(
        home.plugins / "demo",
        package_json(excludePatterns=["https://demo.example/help/*"]),
        {"tools": [tool()], "configSchema": settings},
        pre_script="self.early = 1;",
    )
    shown = here("plugin", "review", "demo")
    package = read_package(home.plugins / "demo", "installed")
    for words in (
        "Demo (demo 1.2.3)",
        "opentabs-plugin-demo",
        str(home.plugins / "demo"),
        "https://demo.example/*",
        "also on:   https://site.example/, until you set another address",
        "https://demo.example/help/*",
        "add_note: Adds a note.",
        "pre-script runs there before the page's own code",
        "site; the page can read their values",
        f"SHA-256 {package.digest_of(package.adapter)}",
        "You have never reviewed it.",
    ):
        assert words in shown.stdout
    assert shown.returncode == 1
    assert "is not approved, so nothing of it runs" in shown.stderr
    assert not is_open(home)
    assert "self.early" not in shown.stdout


def test_the_source_is_printed_without_what_a_terminal_obeys(home: Home, here: Here) -> None:
    write_package(home.plugins / "demo", adapter="evil('\x1b[2J\u202e');")
    shown = here("plugin", "review", "demo", "--source")
    assert "evil('\\x1b[2J\\u202e');" in shown.stdout


def test_a_review_with_yes_approves_with_the_level_ask(home: Home, here: Here) -> None:
    done = here("plugin", "review", "demo", "--yes")
    assert done.returncode == 0
    assert done.stdout.endswith("demo 1.2.3 is reviewed; its level is ask.\n")
    assert is_open(home)
    assert load(home).permissions.plugins == {"demo": "ask"}
    again = here("plugin", "review", "demo")
    assert (again.returncode, "You have reviewed exactly this." in again.stdout) == (0, True)


def test_what_has_changed_since_the_last_review_is_shown(home: Home, here: Here) -> None:
    here("plugin", "review", "demo", "--yes")
    adapter = (home.plugins / "demo" / "dist" / "adapter.iife.js").read_text()
    write_package(home.plugins / "demo", adapter=f"{adapter}steal(document.cookie);\n")
    shown = here("plugin", "review", "demo")
    assert "It has changed since you reviewed version 1.2.3:" in shown.stdout
    assert "+steal(document.cookie);" in shown.stdout.splitlines()
    assert shown.returncode == 1
    assert not is_open(home)


def test_an_update_that_waits_is_the_one_that_is_reviewed(home: Home, here: Here) -> None:
    here("plugin", "review", "demo", "--yes")
    update = {**package_json(), "version": "2.0.0"}
    write_package(home.plugins / ".waiting" / "demo", update)
    [listed] = json.loads(here("plugin", "list", "--json").stdout)["plugins"]
    assert (listed["version"], listed["waitingVersion"]) == ("1.2.3", "2.0.0")
    shown = here("plugin", "review", "demo")
    assert "demo 2.0.0" in shown.stdout
    assert is_open(home)
    here("plugin", "review", "demo", "--yes")
    assert read_package(home.plugins / "demo", "installed").version == "2.0.0"
    assert is_open(home)


def test_the_facts_are_there_for_programs(home: Home, here: Here) -> None:
    facts = json.loads(here("plugin", "review", "demo", "--json").stdout)
    assert (facts["name"], facts["review"], facts["hasPreScript"]) == ("demo", "never", True)
    assert len(facts["files"]) == 4
    assert not is_open(home)


@pytest.mark.parametrize("name", ["other", "../demo", "", ".waiting"])
def test_an_unknown_plugin_is_named(home: Home, here: Here, name: str) -> None:
    refused = here("plugin", "review", name, "--yes")
    assert refused.returncode == 1
    assert "There is no plugin" in refused.stderr


@pytest.mark.parametrize(("answer", "opened"), [(b"y\n", True), (b"\n", False), (b"no\n", False)])
def test_a_person_at_a_terminal_is_asked(
    home: Home,
    here: Here,
    monkeypatch: pytest.MonkeyPatch,
    answer: bytes,
    opened: bool,
) -> None:
    master, slave = pty.openpty()
    with os.fdopen(slave, "r") as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        os.write(master, answer)
        here("plugin", "review", "demo")
    os.close(master)
    assert is_open(home) is opened


@pytest.mark.parametrize(
    ("subject", "section", "name"),
    [
        ("demo", "plugins", "demo"),
        ("demo_add_note", "tools", "demo_add_note"),
        ("demo__add_note", "tools", "demo_add_note"),
        ("tool:demo__add_note", "tools", "demo_add_note"),
    ],
)
def test_levels_are_set_for_a_plugin_and_its_tools_by_name(
    home: Home, here: Here, subject: str, section: str, name: str
) -> None:
    home.config.write_text('{"permissions": {"tools": {"demo__add_note": "off"}}}')
    assert here("permissions", "set", subject, "auto").returncode == 0
    assert getattr(load(home).permissions, section)[name] == "auto"
    assert ("demo__add_note" in load(home).permissions.tools) is (section == "plugins")


def test_the_decision_about_a_plugins_tool_is_explained(home: Home, here: Here) -> None:
    closed = here("permissions", "explain", "demo_add_note")
    assert "the person has not reviewed this plugin" in closed.stderr
    here("plugin", "review", "demo", "--yes")
    shown = here("permissions", "explain", "demo__add_note").stdout
    assert "ask, by permissions.plugins.demo = ask" in shown
    adapter = Path(home.plugins / "demo" / "dist" / "adapter.iife.js")
    adapter.write_text("other()")
    assert "has changed" in here("permissions", "explain", "demo_add_note").stderr


def test_a_plugin_in_python_is_listed_and_its_review_says_that_it_is_no_sandbox(
    home: Home, here: Here
) -> None:
    members = ('hosts = ["https://api.example/*"]', "cookies = True", 'site: Url = setting("Site")')
    path = written(home.plugins, source(*members))
    shown = here("plugin", "review", "notes")
    for words in (
        "Notes (notes 0.0.0)",
        "https://notes.example/*",
        "also to https://api.example/*",
        "it reads those of these pages",
        "settings:  site",
        "echo: Give back what it gets.",
        f"notes.py: {path.stat().st_size} bytes",
        "in no sandbox",
        "dependencies, is not part of this review",
    ):
        assert words in shown.stdout
    assert here("plugin", "review", "notes", "--yes").returncode == 0
    listed = json.loads(here("plugin", "list", "--json").stdout)["plugins"]
    assert {one["name"]: one["review"] for one in listed}["notes"] == "reviewed"
    path.write_text(path.read_text().replace("Give back", "Hand back"))
    changed = here("plugin", "review", "notes")
    assert "It has changed since you reviewed version 0.0.0" in changed.stdout
    assert '+        """Hand back what it gets.' in changed.stdout
    removed = here("plugin", "remove", "notes")
    assert removed.returncode == 0, removed.stderr
    assert not path.exists()
