"""`tabhub connect` without an agent: every agent, and whether it reaches this tabhub."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Here
from tests.support.product import Product

pytestmark = pytest.mark.requirement("OT-10")


@pytest.fixture
def person(product: Product, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new home folder of a person, with a path that has no agent on it."""
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "OPENCODE_CONFIG", "GEMINI_CLI_HOME"):
        product.environment.pop(name, None)
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "person"
    (home / "bin").mkdir(parents=True)
    product.environment |= {"HOME": str(home), "PATH": str(home / "bin")}
    return home


def states(here: Here) -> dict[str, Any]:
    done = here("connect")
    assert done.returncode == 0
    return {agent["agent"]: agent for agent in json.loads(done.stdout)["agents"]}


def test_a_new_home_has_no_agent(person: Path, here: Here) -> None:
    found = states(here)
    assert {agent["state"] for agent in found.values()} == {"not installed"}
    assert found["codex"]["file"] == str(person / ".codex" / "config.toml")


def test_an_agent_is_found_by_its_command_its_folder_or_its_file(person: Path, here: Here) -> None:
    command = person / "bin" / "claude"
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    (person / ".codex").mkdir()
    (person / ".gemini").mkdir()
    (person / ".gemini" / "settings.json").write_text("{}")
    found = states(here)
    assert {name for name, agent in found.items() if agent["state"] == "not connected"} == {
        "claude-code",
        "codex",
        "gemini",
    }


def test_connected_broken_and_no_longer_valid_are_told_apart(person: Path, here: Here) -> None:
    assert here("connect", "cursor").returncode == 0
    assert here("connect", "codex", "--stdio").returncode == 0
    assert here("connect", "gemini").returncode == 0
    assert here("client", "revoke", "gemini").returncode == 0
    (person / ".codeium" / "windsurf").mkdir(parents=True)
    (person / ".codeium" / "windsurf" / "mcp_config.json").write_text('{"mcpServers": ')
    found = states(here)
    assert (found["cursor"]["state"], found["cursor"]["client"]) == ("connected", "cursor")
    assert (found["codex"]["state"], found["codex"]["client"]) == ("connected", "codex")
    assert found["windsurf"]["state"] == "broken file"
    assert "line 1" in found["windsurf"]["detail"]
    assert found["gemini"]["state"] == "not connected"
    assert "token that was revoked" in found["gemini"]["detail"]


def test_an_entry_whose_program_is_gone_is_not_connected(person: Path, here: Here) -> None:
    assert here("connect", "codex", "--stdio").returncode == 0
    file = person / ".codex" / "config.toml"
    lines = file.read_text().splitlines()
    lines = ['command = "/gone/tabhub"' if "command" in line else line for line in lines]
    file.write_text("\n".join(lines))
    codex = states(here)["codex"]
    assert codex["state"] == "not connected"
    assert "/gone/tabhub, which is not there" in codex["detail"]


def test_an_entry_for_another_port_is_not_connected(person: Path, here: Here) -> None:
    assert here("connect", "cursor").returncode == 0
    assert here("connect", "codex", "--stdio").returncode == 0
    done = here("config", "set", "port", "9700")
    assert done.returncode == 0
    assert "Once a server runs on port 9700, connect again:" in done.stderr
    assert "connect cursor" in done.stderr and "codex" not in done.stderr
    assert "uses port 9515" in states(here)["cursor"]["detail"]
    assert "connect again" not in here("config", "unset", "port").stderr


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({}, "names neither a command nor an address"),
        (5, "names neither a command nor an address"),
        ({"command": "/bin/echo", "args": ["hello"]}, "starts /bin/echo, which is not tabhub"),
        ({"url": "https://tabhub.example/mcp"}, "leads to https://tabhub.example/mcp, which"),
        ({"url": "http://tabhub.example:9515/mcp"}, "is not this machine's tabhub"),
    ],
)
def test_an_entry_that_leads_to_no_tabhub_is_not_connected(
    person: Path, here: Here, entry: object, says: str
) -> None:
    file = person / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"mcpServers": {"tabhub": entry}}))
    cursor = states(here)["cursor"]
    assert cursor["state"] == "not connected"
    assert says in cursor["detail"]
    (found,) = agent_findings(here)
    assert found["level"] == "fail"
    assert says in found["says"]


@pytest.mark.parametrize(
    "more",
    [
        {"env": {"HTTPS_PROXY": "http://proxy.example:3128"}},
        {"env": {"http_proxy": "http://127.0.0.1:3128"}},
        {"args": ["run", "--index-url", "https://mirror.example/simple", "tabhub"]},
        {"args": ["--proxy", "http://127.0.0.1:3128", "tabhub"]},
        {"args": ["--registry", "http://localhost:4873/", "tabhub"]},
    ],
)
def test_an_address_that_a_command_has_for_something_else_is_no_fault(
    person: Path, here: Here, more: dict[str, object]
) -> None:
    assert here("connect", "cursor", "--stdio").returncode == 0
    file = person / ".cursor" / "mcp.json"
    servers = json.loads(file.read_text())
    servers["mcpServers"]["tabhub"] |= more
    file.write_text(json.dumps(servers))
    assert states(here)["cursor"]["state"] == "connected"


@pytest.mark.parametrize("path", ["/mcp", "/mcp/gateway", "/sse"])
def test_the_address_that_a_command_leads_to_counts_behind_that_of_a_proxy(
    person: Path, here: Here, path: str
) -> None:
    assert here("connect", "cursor", "--stdio").returncode == 0
    file = person / ".cursor" / "mcp.json"
    servers = json.loads(file.read_text())
    addresses = ["--proxy", "http://127.0.0.1:3128", f"http://127.0.0.1:9700{path}"]
    servers["mcpServers"]["tabhub"]["args"] = addresses
    file.write_text(json.dumps(servers))
    assert "uses port 9700" in states(here)["cursor"]["detail"]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("[]", "the file is not an object"),
        ("null", "the file is not an object"),
        ('{"mcpServers": []}', "mcpServers is not an object"),
        ('{"mcpServers": null}', "mcpServers is not an object"),
    ],
)
def test_a_file_that_cannot_hold_servers_is_named_as_connect_refuses_it(
    person: Path, here: Here, content: str, what: str
) -> None:
    file = person / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text(content)
    refused = here("connect", "cursor")
    assert refused.returncode == 2
    assert "is not an object" in refused.stderr
    assert states(here)["cursor"]["state"] == "broken file"
    (found,) = agent_findings(here)
    assert found["level"] == "warn"
    assert f"{file} cannot be read ({what})" in found["says"]


def agent_findings(here: Here) -> list[dict[str, str]]:
    checks: list[dict[str, str]] = json.loads(here("doctor", "--json").stdout)["checks"]
    return [check for check in checks if check["name"] == "agents"]


def test_flags_without_an_agent_are_wrong_usage(person: Path, here: Here) -> None:
    for flag in ("--remove", "--dry-run", "--stdio"):
        done = here("connect", flag)
        assert done.returncode == 2
        assert f"{flag} needs the name of an agent" in done.stderr


def test_connecting_again_keeps_the_kind_of_the_entry(person: Path, here: Here) -> None:
    file = person / ".cursor" / "mcp.json"

    def entry() -> dict[str, Any]:
        found: dict[str, Any] = json.loads(file.read_text())["mcpServers"]["tabhub"]
        return found

    assert here("connect", "cursor", "--stdio", "--browser").returncode == 0
    before = entry()
    assert before["args"][-3:] == ["start", "--stdio", "--browser"]
    assert "already connected" in here("connect", "cursor").stderr
    assert entry() == before
    file.write_text(file.read_text().replace(before["command"], "/gone/tabhub"))
    assert here("connect", "cursor").returncode == 0
    assert entry() == before, "a bridge whose program is gone is mended, not replaced"
    assert here("connect", "cursor", "--http").returncode == 0
    assert "command" not in entry() and entry()["url"].endswith("/mcp")
    assert "already connected" in here("connect", "cursor").stderr


def test_a_file_that_others_can_read_is_named_with_a_command_to_type(
    person: Path, here: Here
) -> None:
    file = person / "with a space" / "mcp.json"
    file.parent.mkdir()
    file.write_text("{}")
    file.chmod(0o644)
    done = here("connect", "cursor", "--config", str(file))
    assert f"chmod 600 '{file}'" in done.stderr


def test_what_an_agent_needs_is_said_as_it_is_with_and_without_a_server(
    product: Product, person: Path
) -> None:
    says = product.run("connect", "cursor").stderr
    assert "No server is running: `" in says and "starts one" in says
    with product.running("start", "--port", "0"):
        product.wait_running()
        says = product.run("connect", "gemini").stderr
    assert "It needs the server, which runs now" in says
    assert "starts one" not in says


def test_a_broken_file_is_named_once(person: Path, here: Here) -> None:
    (person / ".gemini").mkdir()
    file = person / ".gemini" / "settings.json"
    file.write_text("{")
    detail = states(here)["gemini"]["detail"]
    assert str(file) not in detail and "nothing was changed" not in detail
