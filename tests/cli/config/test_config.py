"""Every verb of `tabhub config`."""

import json
import socket
from typing import Any

import pytest

from tests.cli.conftest import Here
from tests.support.product import Product


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
        ("downloads.folder", "/12", "/12"),
        ("downloads.folder", "own", "own"),
        ("downloads.folder", "null", None),
        ("uploads.folders", "null", None),
        ("downloads.folder", '"/quoted"', "/quoted"),
        ("unattended", "allow", "allow"),
        ("permissions.domains.a.example.com", "off", "off"),
        ("permissions.tools", '{"browser_open_tab": "ask"}', {"browser_open_tab": "ask"}),
    ],
)
def test_a_setting_is_written_as_json_or_in_words_and_read_back(
    product: Product, here: Here, key: str, written: str, value: Any
) -> None:
    process = here("config", "set", key, written)
    assert (process.returncode, process.stderr) == (0, "")
    printed = here("config", "get", key).stdout.strip()
    assert printed == (
        value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    )
    stored = file_of(product)
    for step in key.split(".", 2):
        stored = stored[step]
    assert stored == value


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_list_is_json_in_every_encoding(product: Product, here: Here, encoding: str) -> None:
    product.environment["PYTHONIOENCODING"] = encoding
    here("config", "set", "uploads.folders", json.dumps(["/é€😀"]))
    assert json.loads(here("config", "get", "uploads.folders").stdout) == ["/é€😀"]


def test_a_port_that_another_program_has_is_set_and_said_to_be_taken(here: Here) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = here("config", "set", "port", str(port))
    assert (done.returncode, done.stdout) == (0, f"port = {port}\n")
    assert f"Port {port} is used by another program" in done.stderr


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
        ("port", "70000", "port must be a whole number at least 0 and at most 65535."),
        ("port", "-5", "port must be a whole number at least 0"),
        ("port", "high", "port must be a whole number"),
        ("port", "9" * 400, "port must be"),
        ("sessions.closeTabsOnEnd", "yes", "must be true or false."),
        ("unattended", "maybe", "unattended must be deny or allow."),
        ("toolsets", "core,brwser", "no toolset 'brwser'"),
        ("limits", "{}", "limits.bodyBytes"),
        ("host", "0.0.0.0", "host must be 127.0.0.1"),
        ("policyFile", "/nowhere/policy.toml", "no such policy file"),
        ("toolsets", "[" * 100_000, "toolsets must be a list, each item a text."),
        ("limits.callSeconds", "long", "limits.callSeconds must be a number above 0."),
        ("downloads.folder", "shots", "downloads.folder must be a full path, not 'shots'."),
        ("uploads.folders", '["/tmp", "up"]', "uploads.folders must be a full path, not 'up'."),
        ("limits.callSeconds", "301", "above limits.maxCallSeconds, which is 300."),
        ("limits.maxCallSeconds", "9", "limits.callSeconds is 30, but must not be above"),
        ("audit.clientBytesPerDay", "5", "audit.clientBytesPerDay must be 0 or at least 100000."),
        ("mcpServer.port", "x", "mcpServer.port must be a whole number at least 0"),
        ("mcpServer.corsOrigins", "a.example", "each item an origin such as https://app.example"),
        ("permissions.tools.navigate", "on", "permissions.tools.navigate must be off or ask or"),
        ("mcpServer.authToken", "abc", "mcpServer.authToken must be at least 16 characters"),
        ("mcpServer.authToken", "sixteen or more with blanks", "no blanks"),
    ],
)
def test_an_invalid_value_is_refused_precisely_and_changes_nothing(
    product: Product, here: Here, key: str, written: str, complaint: str
) -> None:
    here("config", "set", "port", "9600")
    refused = here("config", "set", key, written)
    assert (refused.returncode, refused.stdout, "Traceback" in refused.stderr) == (2, "", False)
    assert complaint in refused.stderr
    # The file is as good as before: nobody is to repair or reset it.
    assert "config reset" not in refused.stderr
    assert file_of(product) == {"port": 9600}


def test_unknown_keys_in_the_file_are_kept(product: Product) -> None:
    product.home.mkdir(mode=0o700)
    (product.home / "config.json").write_text('{"later": {"a": 1}, "limits": {"also": 2}}')
    product.run("config", "set", "limits.callSeconds", "5")
    assert file_of(product) == {"later": {"a": 1}, "limits": {"also": 2, "callSeconds": 5}}
    unset = product.run("config", "unset", "limits.callSeconds")
    assert (unset.returncode, unset.stdout) == (0, "limits.callSeconds = 30\n")
    assert file_of(product) == {"later": {"a": 1}, "limits": {"also": 2}}
    assert (product.home / "config.json").stat().st_mode & 0o777 == 0o600


def test_reading_creates_no_files(product: Product) -> None:
    assert product.run("config", "get", "port").stdout == "9515\n"
    assert product.run("config", "get", "limits").stdout.startswith('{"bodyBytes":')
    assert product.run("config", "unset", "port").returncode == 0
    assert product.run("config", "get", "permissions.tools.browser_open_tab").stdout == "null\n"
    assert not product.home.exists()


@pytest.mark.requirement("OT-18")
def test_a_reset_needs_confirming_and_keeps_the_last_file(product: Product) -> None:
    product.run("config", "set", "port", "9600")
    refused = product.run("config", "reset")
    assert (refused.returncode, "--confirm" in refused.stderr) == (2, True)
    assert file_of(product) == {"port": 9600}
    (product.home / "config.json.1.bak").write_text("{}")
    for number in (1, 2):
        product.run("config", "set", "port", str(9600 + number))
        (product.home / "config.json").chmod(0o644)
        process = product.run("config", "reset", "--confirm")
        assert (process.returncode, "replacing an older copy" in process.stdout) == (0, True)
        backup = product.home / "config.json.bak"
        assert list(product.home.glob("*.bak")) == [backup]
        assert json.loads(backup.read_text()) == {"port": 9600 + number}
        assert backup.stat().st_mode & 0o777 == 0o600
    assert product.run("config", "get", "port").stdout == "9515\n"
    assert product.run("config", "reset", "--confirm").stdout == "Nothing was set.\n"


def test_a_section_is_removed_with_its_last_key(product: Product, here: Here) -> None:
    here("config", "set", "limits.callSeconds", "60")
    here("config", "set", "permissions.domains.a.example.com", "off")
    assert here("config", "get", "limits.callSeconds").stdout == "60\n"
    assert "limits.callSeconds = 60\n" in here("config", "show").stdout
    here("config", "unset", "limits.callSeconds")
    assert file_of(product) == {"permissions": {"domains": {"a.example.com": "off"}}}
    here("config", "unset", "permissions.domains.a.example.com")
    assert file_of(product) == {}


def test_an_unknown_key_can_be_removed_by_its_name(product: Product, here: Here) -> None:
    product.home.mkdir(mode=0o700)
    file = product.home / "config.json"
    file.write_text('{"limit": 1, "limits": {"callSecond": 2, "a.b": {"c": 3}}, "port": 1}')
    for key in ("limits.callSecond", "limits.a.b.c", "limit"):
        process = here("config", "unset", key)
        assert (process.returncode, process.stdout) == (0, f"{key} was removed.\n")
    assert file_of(product) == {"port": 1}
    refused = here("config", "unset", "limit")
    assert (refused.returncode, "no setting 'limit'" in refused.stderr) == (2, True)


def test_a_value_that_is_no_longer_valid_can_be_replaced_or_removed(
    product: Product, here: Here
) -> None:
    product.home.mkdir(mode=0o700)
    for command in (("unset", "port"), ("set", "port", "9600")):
        (product.home / "config.json").write_text('{"port": "high"}')
        refused = here("config", "set", "limits.callSeconds", "9")
        assert (refused.returncode, "port must be a whole number" in refused.stderr) == (2, True)
        assert here("config", *command).returncode == 0
        assert here("config", "get", "port").returncode == 0


def test_a_good_change_of_a_file_that_is_not_valid_is_refused_with_the_way_out(
    product: Product, here: Here
) -> None:
    product.home.mkdir(mode=0o700)
    for written in ('{"port": "high", "dev": false}', '{"host": "0.0.0.0", "dev": false}'):
        (product.home / "config.json").write_text(written)
        for command in (("set", "dev", "true"), ("unset", "dev")):
            refused = here("config", *command)
            assert refused.returncode == 2
            assert "Repair the file, or set it aside: " in refused.stderr
        assert (product.home / "config.json").read_text() == written


def test_get_hides_the_secret_as_show_does(product: Product, here: Here) -> None:
    assert here("config", "get", "secret").stdout == "null\n"
    here("extension", "path")
    assert "hidden" in here("config", "get", "secret").stdout
    assert here("config", "get", "secret", "--show-secret").stdout.strip() == product.secret


def test_a_broken_file_is_reported_and_can_be_reset(product: Product) -> None:
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
    process = product.run("config", "set", "mcpServer.authToken", "-", stdin=f"{token}\n")
    assert (process.returncode, token in process.stdout + process.stderr) == (0, False)
    for command in (
        ("show",),
        ("show", "--json"),
        ("get", "mcpServer.authToken"),
        ("get", "mcpServer"),
    ):
        assert token not in here("config", *command).stdout
        assert token in here("config", *command, "--show-secret").stdout


@pytest.mark.parametrize("token", ["abc", "fifteen-letters", "with blanks in it, many"])
def test_a_short_token_is_refused_from_every_source_and_never_shown(
    product: Product, token: str
) -> None:
    set_by_command = product.run("config", "set", "mcpServer.authToken", "-", stdin=token)
    product.home.mkdir(mode=0o700, exist_ok=True)
    (product.home / "config.json").write_text(json.dumps({"mcpServer": {"authToken": token}}))
    in_file = product.run("start", "--port", "0")
    product.run("config", "unset", "mcpServer.authToken")
    product.environment["CLAUDE_BROWSER_AUTH_TOKEN"] = token
    by_environment = product.run("start", "--port", "0")
    for refused in (set_by_command, in_file, by_environment):
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "must be at least 16 characters" in refused.stderr
        assert token not in refused.stderr
    assert "CLAUDE_BROWSER_AUTH_TOKEN" in by_environment.stderr


def test_a_token_on_the_command_line_is_accepted_with_a_warning(product: Product) -> None:
    process = product.run("config", "set", "mcpServer.authToken", "swordfish-of-the-deep")
    assert (process.returncode, "tabhub config set mcpServer.authToken -" in process.stderr) == (
        0,
        True,
    )
