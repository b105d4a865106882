"""`tabhub config`: every verb, by the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Here
from tests.support.product import Product


@pytest.fixture
def product(tmp_path: Path) -> Product:
    return Product(tmp_path / "home")


def file_of(product: Product) -> Any:
    return json.loads((product.home / "config.json").read_text())


@pytest.mark.requirement("OT-18")
@pytest.mark.parametrize(
    ("key", "written", "value"),
    [
        ("port", "9600", 9600),
        ("limits.callSeconds", "2.5", 2.5),
        ("sessions.closeTabsOnEnd", "false", False),
        ("toolsets", "core, browser", ["core", "browser"]),
        ("toolsets", '["all"]', ["all"]),
        ("downloads.folder", "/tmp/some where", "/tmp/some where"),
        ("downloads.folder", "12", "12"),
        ("downloads.folder", '"quoted"', "quoted"),
        ("unattended", "allow", "allow"),
        ("permissions.domains.a.example.com", "off", "off"),
        ("permissions.tools", '{"browser_open_tab": "ask"}', {"browser_open_tab": "ask"}),
    ],
)
def test_a_setting_is_written_as_json_or_in_words_and_read_back(
    product: Product, here: Here, key: str, written: str, value: Any
) -> None:
    done = here("config", "set", key, written)
    assert (done.returncode, done.stderr) == (0, "")
    shown = here("config", "get", key).stdout.strip()
    assert shown == (value if isinstance(value, str) else json.dumps(value, separators=(",", ":")))
    found = file_of(product)
    for step in key.split(".", 2):
        found = found[step]
    assert found == value


@pytest.mark.parametrize(
    ("key", "written", "complaint"),
    [
        ("prot", "1", "Did you mean port?"),
        ("limits.callsecond", "1", "Did you mean limits.callSeconds?"),
        ("callSeconds", "1", "Did you mean limits.callSeconds?"),
        ("permissions.tools.", "off", "no setting"),
        ("port.x", "1", "no setting"),
        ("", "1", "no setting"),
        ("secret", "1", "no setting"),
        ("port", "70000", "port: Expected `int` <= 65535."),
        ("port", "-5", "port: Expected `int` >= 0."),
        ("port", "high", "port: Expected `int`, got `str`."),
        ("port", "9" * 400, "port: "),
        ("sessions.closeTabsOnEnd", "yes", "Expected `bool`"),
        ("unattended", "maybe", "One of deny, allow."),
        ("toolsets", "core,brwser", "no toolset 'brwser'"),
        ("limits", "{}", "limits.bodyBytes"),
        ("host", "0.0.0.0", "host must be 127.0.0.1"),
        ("policyFile", "/nowhere/policy.toml", "no such policy file"),
        ("toolsets", "[" * 100_000, "toolsets: Expected `array`"),
    ],
)
def test_what_does_not_fit_is_refused_precisely_and_changes_nothing(
    product: Product, here: Here, key: str, written: str, complaint: str
) -> None:
    here("config", "set", "port", "9600")
    refused = here("config", "set", key, written)
    assert (refused.returncode, refused.stdout, "Traceback" in refused.stderr) == (2, "", False)
    assert complaint in refused.stderr
    assert file_of(product) == {"port": 9600}


def test_what_others_wrote_into_the_file_stays(product: Product) -> None:
    product.home.mkdir(mode=0o700)
    (product.home / "config.json").write_text('{"later": {"a": 1}, "limits": {"also": 2}}')
    product.run("config", "set", "limits.callSeconds", "5")
    assert file_of(product) == {"later": {"a": 1}, "limits": {"also": 2, "callSeconds": 5}}
    unset = product.run("config", "unset", "limits.callSeconds")
    assert (unset.returncode, unset.stdout) == (0, "limits.callSeconds = 30\n")
    assert file_of(product) == {"later": {"a": 1}, "limits": {"also": 2}}
    assert (product.home / "config.json").stat().st_mode & 0o777 == 0o600


def test_reading_makes_nothing(product: Product) -> None:
    assert product.run("config", "get", "port").stdout == "9515\n"
    assert product.run("config", "get", "limits").stdout.startswith('{"bodyBytes":')
    assert product.run("config", "unset", "port").returncode == 0
    assert product.run("config", "get", "permissions.tools.browser_open_tab").stdout == "null\n"
    assert not product.home.exists()


@pytest.mark.requirement("OT-18")
def test_a_reset_needs_confirming_and_keeps_the_old_file(product: Product) -> None:
    product.run("config", "set", "port", "9600")
    refused = product.run("config", "reset")
    assert (refused.returncode, "--confirm" in refused.stderr) == (2, True)
    assert file_of(product) == {"port": 9600}
    for number in (1, 2):
        product.run("config", "set", "port", str(9600 + number))
        assert product.run("config", "reset", "--confirm").returncode == 0
        kept = product.home / f"config.json.{number}.bak"
        assert json.loads(kept.read_text()) == {"port": 9600 + number}
        assert kept.stat().st_mode & 0o777 == 0o600
    assert product.run("config", "get", "port").stdout == "9515\n"
    assert product.run("config", "reset", "--confirm").returncode == 0


def test_a_broken_file_is_told_and_can_be_reset(product: Product) -> None:
    product.home.mkdir(mode=0o700)
    (product.home / "config.json").write_text('{"port": ')
    for command in (("set", "port", "1"), ("get", "port"), ("show",), ("unset", "port")):
        refused = product.run("config", *command)
        assert (refused.returncode, "config.json" in refused.stderr) == (2, True)
    assert (product.home / "config.json").read_text() == '{"port": '
    assert product.run("config", "reset", "--confirm").returncode == 0
    assert product.run("config", "get", "port").returncode == 0


def test_a_token_among_the_settings_is_hidden_and_need_not_be_on_a_command_line(
    product: Product, here: Here
) -> None:
    token = "swordfish-of-the-deep"
    done = product.run("config", "set", "mcpServer.authToken", "-", stdin=f"{token}\n")
    assert (done.returncode, token in done.stdout + done.stderr) == (0, False)
    for command in (
        ("show",),
        ("show", "--json"),
        ("get", "mcpServer.authToken"),
        ("get", "mcpServer"),
    ):
        assert token not in here("config", *command).stdout
        assert token in here("config", *command, "--show-secret").stdout
