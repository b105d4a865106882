"""`tabhub connect`, run as a person does, on realistic files."""

import difflib
import json
import os
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tabhub.cli.connect.agents import AGENTS, Agent, named
from tabhub.cli.connect.jsonc import parse
from tabhub.config.clients import Clients
from tabhub.config.paths import Home, Places
from tests.support.product import Product

pytestmark = pytest.mark.requirement("OT-10")

CLAUDE = """{
  "numStartups": 34,
  "projects": {"/p": {"mcpServers": {}}},
  "mcpServers": {
    "github": {
      "type": "http",
      "url": "https://example.com/mcp",
      "headers": {"Authorization": "Bearer ghp_abcdefghijklmnopqrstuvwxyz0123456789"}
    }
  },
  "theme": "dark"
}
"""
DESKTOP = '{\r\n    "mcpServers": {\r\n        "files": {"command": "npx"}\r\n    }\r\n}\r\n'
CURSOR = '\ufeff{\n\t"mcpServers": {\n\t\t"a": {"url": "https://a.example"},\n\t},\n}'
OPENCODE = """{
  "$schema": "https://opencode.ai/config.json",
  // servers of mine
  "mcp": {
    "jira": { "type": "remote", "url": "https://jira.example.com/mcp", "enabled": false }, // off
  },
  "theme": "opencode", /* and more */
}
"""
VSCODE = '{\n    "inputs": [], // none\n    "servers": {}\n}\n'
CODEX = """# my codex
model = "o5"

[mcp_servers.docs]
command = "npx"
args = ["-y", "docs"]

[profiles.fast] # quick
effort = "low"
"""
FILES = {
    "claude-code": (".claude.json", CLAUDE),
    "claude-desktop": (".config/Claude/claude_desktop_config.json", DESKTOP),
    "cursor": (".cursor/mcp.json", CURSOR),
    "windsurf": (".codeium/windsurf/mcp_config.json", '{"mcpServers":{"x":{"command":"y"}}}'),
    "opencode": (".config/opencode/opencode.jsonc", OPENCODE),
    "vscode": (".config/Code/User/mcp.json", VSCODE),
    "codex": (".codex/config.toml", CODEX),
    "gemini": (".gemini/settings.json", '{\n  "security": {"auth": {}}\n}\n'),
}
URL = "http://127.0.0.1:9515/mcp"


@pytest.fixture
def product(tmp_path: Path) -> Product:
    product_home = Product(tmp_path / "tabhub")
    product_home.environment = {
        name: value
        for name, value in product_home.environment.items()
        if not name.startswith(("XDG_", "CLAUDE_", "CODEX_", "OPENCODE_", "GEMINI_", "VSCODE_"))
    } | {"HOME": str(tmp_path / "person")}
    (tmp_path / "person").mkdir()
    return product_home


@pytest.fixture(params=[agent.name for agent in AGENTS])
def agent(request: pytest.FixtureRequest) -> Agent:
    known = named(request.param)
    assert known is not None
    return known


def _file(product: Product, agent: Agent) -> Path:
    path = Path(product.environment["HOME"], FILES[agent.name][0])
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _written(product: Product, agent: Agent) -> Path:
    path = _file(product, agent)
    path.write_bytes(FILES[agent.name][1].encode())
    return path


def _parsed(path: Path) -> Any:
    text = path.read_bytes().decode()
    return tomllib.loads(text) if path.suffix == ".toml" else parse(text).data


def _entry(agent: Agent, path: Path) -> dict[str, Any]:
    data = _parsed(path)
    for key in agent.servers:
        data = data[key]
    entry: dict[str, Any] = data["tabhub"]
    return entry


def _token(entry: dict[str, Any]) -> str:
    (token,) = [word for word in json.dumps(entry).replace('"', " ").split() if "thc_" in word]
    return token


def _clients(product: Product) -> Clients:
    return Clients(Home(product.home))


EXPECTED: dict[str, dict[str, Any]] = {
    "claude-code": {"type": "http", "url": URL, "headers": {}},
    "cursor": {"url": URL, "headers": {}},
    "windsurf": {"serverUrl": URL, "headers": {}},
    "opencode": {"type": "remote", "url": URL, "enabled": True, "headers": {}},
    "vscode": {"type": "http", "url": URL, "headers": {}},
    "codex": {"url": URL, "http_headers": {}},
    "gemini": {"httpUrl": URL, "headers": {}},
}


def test_the_entry_is_added_to_the_file_and_removed_to_the_byte(
    product: Product, agent: Agent
) -> None:
    path = _written(product, agent)
    before, data = path.read_bytes(), _parsed(path)
    process = product.run("connect", agent.name)
    assert process.returncode == 0, process.stderr
    entry = _entry(agent, path)
    token = _token(entry)
    client = _clients(product).find(token)
    assert client is not None and client.name == agent.name
    if agent.name in EXPECTED:
        bearer = {"Authorization": f"Bearer {token}"}
        shape = {key: value or bearer for key, value in EXPECTED[agent.name].items()}
        assert entry == shape
    assert token not in process.stdout + process.stderr
    _nothing_else_changed(data, _parsed(path), agent)
    after = path.read_bytes()
    second_run = product.run("connect", agent.name)
    assert (second_run.returncode, "already" in second_run.stderr) == (0, True)
    assert path.read_bytes() == after
    removed = product.run("connect", agent.name, "--remove")
    assert removed.returncode == 0, removed.stderr
    assert path.read_bytes() == before
    assert _clients(product).find(token) is None
    assert not (product.home / "connections.json").exists()
    assert os.listdir(path.parent) == [path.name]


def _nothing_else_changed(before: Any, after: Any, agent: Agent) -> None:
    inner = after
    for key in agent.servers:
        inner = inner[key]
    del inner["tabhub"]
    expected = {**before, agent.servers[0]: before.get(agent.servers[0], {})}
    assert after == expected


def test_a_missing_file_is_created_and_removed_again(product: Product, agent: Agent) -> None:
    path = _file(product, agent)
    path.parent.rmdir() if path.parent != Path(product.environment["HOME"]) else None
    assert product.run("connect", agent.name).returncode == 0
    path = agent_file(product, agent)
    assert _entry(agent, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert product.run("connect", agent.name, "--remove").returncode == 0
    assert not path.exists()


def agent_file(product: Product, agent: Agent) -> Path:
    """The path of the file when none existed before."""
    home = Path(product.environment["HOME"])
    names = {"opencode": ".config/opencode/opencode.json"}
    return home / names.get(agent.name, FILES[agent.name][0])


def test_a_dry_run_shows_the_difference_and_does_nothing(product: Product, agent: Agent) -> None:
    path = _written(product, agent)
    before = path.read_bytes()
    dry_run = product.run("connect", agent.name, "--dry-run")
    assert dry_run.returncode == 0, dry_run.stderr
    added = [line for line in dry_run.stdout.splitlines() if line.startswith("+")]
    assert any("tabhub" in line for line in added)
    assert "ghp_abcdef" not in dry_run.stdout
    assert path.read_bytes() == before
    assert _clients(product).list() == []
    product.run("connect", agent.name)
    token = _token(_entry(agent, path))
    dry_run = product.run("connect", agent.name, "--remove", "--dry-run")
    assert any(line.startswith("-") and "tabhub" in line for line in dry_run.stdout.splitlines())
    assert token not in dry_run.stdout
    assert _clients(product).find(token) is not None


@pytest.mark.parametrize("text", ['{\n  "a": 1\n  "b": 2\n}', "[broken\n = ", '{"mcp'])
def test_a_broken_file_is_refused_with_its_line_and_not_changed(
    product: Product, agent: Agent, text: str
) -> None:
    path = _file(product, agent)
    path.write_text(text)
    for flags in ([], ["--dry-run"], ["--remove"]):
        refused = product.run("connect", agent.name, *flags)
        assert refused.returncode == 2
        assert str(path) in refused.stderr and "line" in refused.stderr
        assert "Traceback" not in refused.stderr
    assert path.read_text() == text
    assert _clients(product).list() == []


def test_a_bridge_can_replace_the_address_and_leaves_nothing_behind(
    product: Product, agent: Agent
) -> None:
    path = _written(product, agent)
    before = path.read_bytes()
    assert product.run("connect", agent.name, "--gateway").returncode == 0
    token = _token(_entry(agent, path))
    assert product.run("connect", agent.name, "--stdio", "--gateway").returncode == 0
    entry = _entry(agent, path)
    words = [entry["command"], *entry.get("args", [])]
    flat = [word for value in words for word in (value if isinstance(value, list) else [value])]
    assert os.path.isabs(flat[0]) and flat[-3:] == ["start", "--stdio", "--gateway"]
    environment = entry.get("env") or entry["environment"]
    assert environment == {"TABHUB_HOME": str(product.home), "TABHUB_TOKEN": token}
    assert "127.0.0.1" not in path.read_text()
    assert product.run("connect", agent.name, "--remove").returncode == 0
    assert path.read_bytes() == before


def test_an_invalid_token_is_replaced_in_place(product: Product) -> None:
    agent = named("cursor")
    assert agent is not None
    path = _written(product, agent)
    before = path.read_bytes()
    product.run("connect", "cursor")
    old = _token(_entry(agent, path))
    product.run("client", "revoke", "cursor")
    assert product.run("connect", "cursor").returncode == 0
    new = _token(_entry(agent, path))
    assert new != old and _clients(product).find(new) is not None
    assert [client.name for client in _clients(product).list()] == ["cursor"]
    product.run("connect", "cursor", "--remove")
    assert path.read_bytes() == before


def test_an_entry_that_a_person_wrote_is_replaced(product: Product) -> None:
    agent = named("windsurf")
    assert agent is not None
    path = _file(product, agent)
    path.write_text(
        '{"mcpServers": {"tabhub": {"url": "http://127.0.0.1:1/mcp?key=s3cret"}, "b": {}}}'
    )
    assert product.run("connect", "windsurf").returncode == 0
    assert set(_entry(agent, path)) == {"serverUrl", "headers"}
    assert "s3cret" not in (product.home / "connections.json").read_text()
    assert product.run("connect", "windsurf", "--remove").returncode == 0
    assert json.loads(path.read_text()) == {"mcpServers": {"b": {}}}


@pytest.mark.parametrize("name", ["cursor", "gemini", "codex"])
def test_the_permissions_of_a_foreign_entry_are_removed(product: Product, name: str) -> None:
    agent = named(name)
    assert agent is not None
    path = _file(product, agent)
    hostile = {
        "command": "evil",
        "trust": True,
        "autoApprove": ["*"],
        "cwd": "/evil",
        "x": {"y": 1},
    }
    if agent.is_toml:
        lines = (f"{key} = {json.dumps(value)}" for key, value in hostile.items() if key != "x")
        path.write_text(
            "\n".join(["[mcp_servers.tabhub]", *lines, "[mcp_servers.tabhub.x]", "y=1"])
        )
    else:
        path.write_text(json.dumps({"mcpServers": {"tabhub": hostile}}))
    dry_run = product.run("connect", name, "--dry-run")
    assert "evil" not in dry_run.stdout and any(
        line[:1] == "-" for line in dry_run.stdout.splitlines()
    )
    process = product.run("connect", name)
    assert process.returncode == 0
    assert "replaced an entry tabhub" in process.stderr and "autoApprove" in process.stderr
    entry = _entry(agent, path)
    assert entry.keys().isdisjoint({"command", "trust", "autoApprove", "cwd", "x"})
    assert "replaced" not in product.run("connect", name).stderr


@pytest.mark.parametrize("indent", [None, 2])
def test_a_dry_run_shows_no_values_of_other_entries(product: Product, indent: int | None) -> None:
    agent = named("cursor")
    assert agent is not None
    path = _file(product, agent)
    other = {
        "command": "npx",
        "args": ["--key", "s3cret-args"],
        "env": {"A": "s3cret-env"},
        "headers": {"H": "s3cret-header"},
        "url": "https://u:s3cret-url@a.example",
        "deep": [{"a": ["s3cret-deep"]}],
    }
    data = {"note": "s3cret-note", "mcpServers": {"other": other, "zzz": other}}
    path.write_text(json.dumps(data, indent=indent))
    for flags in (["--dry-run"], [], ["--dry-run", "--stdio"], ["--dry-run", "--remove"]):
        process = product.run("connect", "cursor", *flags)
        assert process.returncode == 0
        assert "s3cret" not in process.stdout + process.stderr
        assert ("tabhub" in process.stdout) is ("--dry-run" in flags)


def test_a_dangling_symlink_is_refused_and_one_to_a_file_is_named(
    product: Product, tmp_path: Path
) -> None:
    agent = named("cursor")
    assert agent is not None
    path, real = _file(product, agent), tmp_path / "elsewhere" / "mcp.json"
    path.symlink_to(real)
    for flags in ([], ["--dry-run"], ["--remove"]):
        refused = product.run("connect", "cursor", *flags)
        assert refused.returncode == 2 and str(real) in refused.stderr
    assert not real.parent.exists() and _clients(product).list() == []
    real.parent.mkdir()
    real.write_text("{}")
    assert f"(a link to {real})" in product.run("connect", "cursor").stderr


@pytest.mark.parametrize(
    ("text", "obstacle"),
    [
        ('mcp_servers = { other = { url = "x" } }\n', "mcp_servers is an inline table"),
        ('[mcp_servers]\ntabhub = { url = "x" }\n', "mcp_servers.tabhub is not written as one"),
    ],
)
def test_a_conflicting_line_in_a_codex_file_is_named(
    product: Product, text: str, obstacle: str
) -> None:
    agent = named("codex")
    assert agent is not None
    path = _file(product, agent)
    path.write_text(text)
    refused = product.run("connect", "codex")
    assert (refused.returncode, obstacle in refused.stderr) == (2, True)
    assert path.read_text() == text and _clients(product).list() == []


@pytest.mark.parametrize("text", ["[]", '"x"', '{"mcpServers": []}', '{"mcpServers": 1}'])
def test_a_file_of_another_shape_is_refused(product: Product, text: str) -> None:
    agent = named("cursor")
    assert agent is not None
    path = _file(product, agent)
    path.write_text(text)
    refused = product.run("connect", "cursor")
    assert (refused.returncode, "is not an object" in refused.stderr) == (2, True)
    assert path.read_text() == text
    assert _clients(product).list() == []


def test_changes_of_others_in_the_meantime_are_kept(product: Product) -> None:
    agent = named("claude-code")
    assert agent is not None
    path = _written(product, agent)
    product.run("connect", "claude-code")
    data = _parsed(path)
    data["mcpServers"]["later"] = {"command": "x"}
    data["mcpServers"]["tabhub"]["note"] = "mine"
    path.write_text(json.dumps(data, indent=4))
    assert "already" in product.run("connect", "claude-code").stderr
    assert product.run("connect", "claude-code", "--stdio").returncode == 0
    assert _entry(agent, path)["note"] == "mine"
    assert product.run("connect", "claude-code", "--remove").returncode == 0
    expected = json.loads(CLAUDE)
    expected["mcpServers"]["later"] = {"command": "x"}
    assert json.loads(path.read_text()) == expected


def test_a_linked_file_stays_a_link_and_keeps_its_mode(product: Product, tmp_path: Path) -> None:
    agent = named("gemini")
    assert agent is not None
    path, real = _file(product, agent), tmp_path / "dotfiles.json"
    real.write_text("{}")
    real.chmod(0o640)
    path.symlink_to(real)
    process = product.run("connect", "gemini")
    assert process.returncode == 0
    assert path.is_symlink() and _entry(agent, real)
    assert "chmod 600" in process.stderr
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    product.run("connect", "gemini", "--remove")
    assert path.is_symlink() and real.read_text() == "{}"


def test_two_files_of_one_agent_have_different_tokens(product: Product, tmp_path: Path) -> None:
    agent = named("cursor")
    assert agent is not None
    other = tmp_path / "project" / ".cursor" / "mcp.json"
    product.run("connect", "cursor")
    assert product.run("connect", "cursor", "--config", str(other)).returncode == 0
    names = {client.name for client in _clients(product).list()}
    assert names == {"cursor", "cursor-2"}
    assert product.run("connect", "cursor", "--remove").returncode == 0
    assert _clients(product).find(_token(_entry(agent, other))) is not None


def test_opencodes_second_version_has_servers_elsewhere(product: Product) -> None:
    agent = named("opencode")
    assert agent is not None
    path = _file(product, agent)
    text = '{\n  "mcp": {\n    "servers": {\n      "a": {"type": "local"}\n    }\n  }\n}\n'
    path.write_text(text)
    assert product.run("connect", "opencode").returncode == 0
    entry = _parsed(path)["mcp"]["servers"]["tabhub"]
    assert (entry["type"], "enabled" in entry) == ("remote", False)
    product.run("connect", "opencode", "--remove")
    assert path.read_text() == text


@pytest.mark.parametrize(
    ("name", "variables", "expected"),
    [
        ("claude-code", {"CLAUDE_CONFIG_DIR": "/x"}, "/x/.claude.json"),
        ("codex", {"CODEX_HOME": "/x"}, "/x/config.toml"),
        ("gemini", {"GEMINI_CLI_HOME": "/x"}, "/x/.gemini/settings.json"),
        ("opencode", {"XDG_CONFIG_HOME": "/x"}, "/x/opencode/opencode.json"),
        ("opencode", {"OPENCODE_CONFIG": "/x/o.json"}, "/x/o.json"),
        ("vscode", {"XDG_CONFIG_HOME": "/x"}, "/x/Code/User/mcp.json"),
        ("vscode", {"VSCODE_PORTABLE": "/x"}, "/x/user-data/User/mcp.json"),
        ("claude-desktop", {"XDG_CONFIG_HOME": "/x"}, "/x/Claude/claude_desktop_config.json"),
    ],
)
def test_the_file_is_where_the_agent_itself_looks(
    monkeypatch: pytest.MonkeyPatch, name: str, variables: dict[str, str], expected: str
) -> None:
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    agent = named(name)
    assert agent is not None
    assert agent.file(Places(Path("/home/ann"), "linux")) == Path(expected)


def test_every_system_has_its_own_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APPDATA", "/roaming")
    desktop, code = named("claude-desktop"), named("vs code")
    assert desktop is not None and code is not None
    mac, windows = Places(Path("/Users/ann"), "darwin"), Places(Path("/Users/ann"), "win32")
    support = Path("/Users/ann/Library/Application Support")
    assert desktop.file(mac) == support / "Claude/claude_desktop_config.json"
    assert code.file(mac) == support / "Code/User/mcp.json"
    assert desktop.file(windows) == Path("/roaming/Claude/claude_desktop_config.json")


def test_an_unknown_agent_is_refused_with_the_known_ones(product: Product) -> None:
    refused = product.run("connect", "emacs")
    assert refused.returncode == 2
    assert all(agent.name in refused.stderr for agent in AGENTS)


def test_removing_a_missing_entry_succeeds(product: Product) -> None:
    agent = named("cursor")
    assert agent is not None
    for text in (None, "", CURSOR):
        if text is not None:
            _file(product, agent).write_text(text)
        absent = product.run("connect", "cursor", "--remove")
        assert (absent.returncode, "nothing to remove" in absent.stderr) == (0, True)
    assert _file(product, agent).read_text() == CURSOR
    product.run("connect", "cursor")
    assert product.run("connect", "cursor", "--remove").returncode == 0
    assert "nothing to remove" in product.run("connect", "cursor", "--remove").stderr


def test_folders_created_for_a_file_are_removed_with_it_unless_they_have_other_files(
    product: Product,
) -> None:
    person = Path(product.environment["HOME"])
    for name in ("windsurf", "cursor"):
        assert product.run("connect", name).returncode == 0
    (person / ".cursor" / "mine").touch()
    for name in ("windsurf", "cursor"):
        assert product.run("connect", name, "--stdio").returncode == 0
        assert product.run("connect", name, "--remove").returncode == 0
    assert [*person.iterdir()] == [person / ".cursor"]
    (person / ".codeium").mkdir()
    for flags in ((), ("--remove",)):
        assert product.run("connect", "windsurf", *flags).returncode == 0
    assert [*(person / ".codeium").iterdir()] == []


def test_an_agent_that_is_not_here_is_connected_and_said_so(
    product: Product, tmp_path: Path
) -> None:
    product.environment |= {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    says = "Windsurf does not seem to be installed here."
    assert says in product.run("connect", "windsurf").stderr
    assert product.run("connect", "windsurf", "--remove").returncode == 0
    (tmp_path / ".codeium" / "windsurf").mkdir(parents=True)
    assert says not in product.run("connect", "windsurf").stderr


def test_a_bridge_can_be_set_to_start_a_browser(product: Product) -> None:
    agent = named("gemini")
    assert agent is not None
    path = _written(product, agent)
    before = path.read_bytes()
    flags = ("--stdio", "--browser", "--headless")
    assert product.run("connect", "gemini", *flags).returncode == 0
    assert _entry(agent, path)["args"][-4:] == ["start", *flags]
    assert "already" in product.run("connect", "gemini", *flags).stderr
    assert product.run("connect", "gemini", "--stdio").returncode == 0
    assert _entry(agent, path)["args"][-2:] == ["start", "--stdio"]
    assert product.run("connect", "gemini", "--remove").returncode == 0
    assert path.read_bytes() == before
    for wrong in (("--browser",), ("--stdio", "--headless")):
        assert product.run("connect", "gemini", *wrong).returncode == 2
    assert path.read_bytes() == before
    assert product.run("connect", "claude-desktop", "--browser").returncode == 0


def test_a_port_of_the_environment_goes_into_the_entry_of_a_bridge(product: Product) -> None:
    agent = named("gemini")
    assert agent is not None
    path = _written(product, agent)
    product.environment["TABHUB_PORT"] = "18081"
    assert product.run("connect", "gemini", "--stdio").returncode == 0
    assert _entry(agent, path)["env"]["TABHUB_PORT"] == "18081"
    del product.environment["TABHUB_PORT"]
    assert product.run("connect", "gemini").returncode == 0
    assert "TABHUB_PORT" not in _entry(agent, path)["env"]


def test_connecting_again_changes_only_the_address(product: Product) -> None:
    agent = named("codex")
    assert agent is not None
    path = _written(product, agent)
    assert product.run("connect", "codex").returncode == 0
    text = path.read_text().replace('/mcp"\n', '/mcp" # mine\n')
    text += "startup_timeout_sec = 60 # sixty\nsince = 2020-01-01\n\n# notes\n# other = 1\n"
    path.write_text(text)
    product.environment["TABHUB_PORT"] = "19735"
    again = product.run("connect", "codex")
    assert again.returncode == 0, again.stderr
    assert path.read_text() == text.replace(":9515/mcp", ":19735/mcp")


def test_a_file_with_a_byte_order_mark_keeps_it(product: Product) -> None:
    agent = named("codex")
    assert agent is not None
    path = _written(product, agent)
    path.write_text("\ufeff[profiles.a]\nx = 1\n")
    assert product.run("connect", "codex").returncode == 0
    text = path.read_text()
    assert text.startswith("\ufeff[profiles.a]\nx = 1\n")
    assert "mcp_servers.tabhub" in text
    product.environment["TABHUB_PORT"] = "19735"
    assert product.run("connect", "codex").returncode == 0
    assert path.read_text() == text.replace(":9515/mcp", ":19735/mcp")
    removed = product.run("connect", "codex", "--remove")
    assert removed.returncode == 0, removed.stderr
    assert path.read_text() == "\ufeff[profiles.a]\nx = 1\n"


def test_a_comment_in_an_entry_outlives_a_change_to_a_bridge(product: Product) -> None:
    agent = named("cursor")
    assert agent is not None
    path = _written(product, agent)
    assert product.run("connect", "cursor").returncode == 0
    own = '"url": "http://127.0.0.1'
    path.write_text(path.read_text().replace(own, f"// mine\n\t\t\t{own}"))
    assert product.run("connect", "cursor", "--stdio").returncode == 0
    assert "// mine\n" in path.read_text()
    assert "--stdio" in _entry(agent, path)["args"]


def test_a_dry_run_shows_the_change_that_is_written(product: Product) -> None:
    agent = named("codex")
    assert agent is not None
    path = _written(product, agent)
    dry_run = product.run("connect", "codex", "--dry-run").stdout
    product.run("connect", "codex")
    after = path.read_text().replace(_token(_entry(agent, path)), "***")
    actual = difflib.unified_diff(CODEX.splitlines(), after.splitlines(), lineterm="")
    added = [line for line in actual if line.startswith("+") and "Authorization" not in line]
    assert all(line in dry_run for line in added if not line.startswith("+++"))
