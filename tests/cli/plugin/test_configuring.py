"""`tabhub plugin configure`."""

import json
from pathlib import Path
from typing import Any

import pytest
import typer

from tabhub.cli.plugin import configuring
from tabhub.config.paths import Home
from tabhub.plugins.package import read_package
from tests.cli.conftest import Here
from tests.plugins.packages import package_json, write_package
from tests.plugins.python.written_plugins import source, written
from tests.support.product import Product
from tests.support.terminal import in_terminal

SCHEMA = {
    "site": {"type": "url", "label": "Site", "required": True},
    "limit": {"type": "number", "label": "Limit \x1b[2J", "description": "How many."},
    "loud": {"type": "boolean", "label": "Loud"},
    "mode": {"type": "select", "label": "Mode", "options": ["fast", "slow"]},
}
SWORDFISH = "swordfish-of-the-deep"


def _plugin(product: Product, schema: dict[str, Any]) -> None:
    package = package_json(configSchema=schema)
    write_package(Home(product.home).create().plugins / "demo", package)


def _stored(product: Product) -> Any:
    config = Home(product.home).config
    return json.loads(config.read_text()).get("settings") if config.exists() else None


@pytest.mark.requirement("OT-35")
def test_the_person_is_asked_for_each_setting_until_the_answer_can_be_read(
    product: Product,
) -> None:
    _plugin(product, SCHEMA)
    typed = b"work=https://a.example home=https://b.example\nmany\n2\n\nmedium\nslow\n"
    shown = in_terminal(product.environment, "plugin", "configure", "demo", typed=typed)
    assert shown.returncode == 0, shown.text
    assert _stored(product) == {
        "demo": {
            "site": {"work": "https://a.example", "home": "https://b.example"},
            "limit": 2,
            "mode": "slow",
        }
    }
    assert "can read these settings" in shown.text and "How many." in shown.text
    assert "must be a number" in shown.text and "\x1b[2J" not in shown.text
    again = in_terminal(
        product.environment,
        "plugin",
        "configure",
        "demo",
        typed=b"https://c.example/?a=b\n-\nyes\n\n",
    )
    assert again.returncode == 0 and "https://a.example" not in again.text
    assert _stored(product) == {
        "demo": {"site": "https://c.example/?a=b", "loud": True, "mode": "slow"}
    }


def test_a_text_is_not_shown_while_it_is_typed(
    product: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    _plugin(product, {"token": {"type": "string", "label": "Token"}})
    asked: dict[str, Any] = {}

    def prompt(text: str, **options: Any) -> str:
        asked.update(options)
        return SWORDFISH

    monkeypatch.setattr(typer, "prompt", prompt)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    package = read_package(Home(product.home).plugins / "demo", "installed")
    assert configuring._asked(package, {}) == {"token": SWORDFISH}
    assert asked["hide_input"] is True


@pytest.mark.requirement("OT-35")
def test_settings_are_read_from_stdin_and_never_shown(product: Product, here: Here) -> None:
    _plugin(product, {"token": {"type": "string", "label": "Token"}, **SCHEMA})
    values = json.dumps({"token": SWORDFISH, "site": "https://a.example"})
    done = product.run("plugin", "configure", "demo", "-", stdin=values)
    assert done.returncode == 0 and SWORDFISH not in done.stdout + done.stderr
    assert _stored(product)["demo"]["token"] == SWORDFISH
    shown = json.loads(here("plugin", "configure", "demo", "--show").stdout)
    assert [(entry["key"], entry["isSet"]) for entry in shown][:3] == [
        ("token", True),
        ("site", True),
        ("limit", False),
    ]
    for command in (("show",), ("show", "--json"), ("get", "settings"), ("get", "settings.demo")):
        assert SWORDFISH not in here("config", *command).stdout
        assert SWORDFISH in here("config", *command, "--show-secret").stdout
    hidden = here("config", "set", "settings.demo", '{"token": "swordfish-2"}')
    assert "swordfish-2" not in hidden.stdout and "command line" in hidden.stderr


@pytest.mark.parametrize(
    ("stdin", "words"),
    [
        ('{"site": "ftp://x"}', "site must be"),
        ("[]", "one JSON object"),
        ("", "one JSON object"),
        ('{"site": "https://a.example", "colour": 1}', "no setting 'colour'"),
        ("{}", "site is required"),
    ],
)
def test_wrong_settings_are_one_sentence_and_change_nothing(
    product: Product, stdin: str, words: str
) -> None:
    _plugin(product, SCHEMA)
    refused = product.run("plugin", "configure", "demo", "-", stdin=stdin)
    assert refused.returncode == 2 and words in refused.stderr
    assert _stored(product) is None


def test_values_are_not_taken_from_the_command_line_or_a_pipe_unasked(
    product: Product, here: Here
) -> None:
    _plugin(product, SCHEMA)
    assert "stdin" in here("plugin", "configure", "demo", '{"site": "https://a"}').stderr
    assert product.run("plugin", "configure", "demo", stdin="x").returncode == 2
    assert _stored(product) is None


def test_a_plugin_without_settings_or_none_at_all(product: Product, here: Here) -> None:
    _plugin(product, {})
    assert here("plugin", "configure", "demo").stdout == "demo has no settings.\n"
    assert here("plugin", "configure", "none").returncode == 1


@pytest.mark.slow
@pytest.mark.document("OT-endpoints-9")
def test_a_running_server_checks_and_takes_them(product: Product, tmp_path: Path) -> None:
    _plugin(product, SCHEMA)
    with product.running("start", "--port", "0"):
        product.wait_running()
        done = product.run(
            "plugin", "configure", "demo", "-", stdin='{"site": "https://a.example"}'
        )
        assert done.returncode == 0
        refused = product.run("plugin", "configure", "demo", "-", stdin='{"limit": "x"}')
        assert refused.returncode == 2 and "limit must be a number" in refused.stderr
    assert _stored(product) == {"demo": {"site": "https://a.example"}}
    audit = Home(product.home).audit.read_text()
    assert "plugin settings" in audit and "a.example" not in audit


def test_a_setting_of_type_int_is_asked_for_again_until_the_number_is_whole(
    product: Product,
) -> None:
    folder = Home(product.home).create().plugins
    written(folder, source('most: int = setting("At most")'))
    shown = in_terminal(
        product.environment, "plugin", "configure", "notes", typed=b"2.5\nthree\n3\n"
    )
    assert shown.returncode == 0, shown.text
    assert shown.text.count("This must be a whole number.") == 2
    assert _stored(product) == {"notes": {"most": 3}}
