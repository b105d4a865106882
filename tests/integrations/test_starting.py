"""What agents start: the commands in the files, run by uv as on a machine that has only uv."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from mcp import Client, StdioServerParameters

from scripts.integrations import ROOT, write_bundle
from tabhub import __version__
from tests.built_package import built_once, wheels_once
from tests.support.eventually import PATIENCE
from tests.support.http_client import free_port
from tests.support.static_site import NPM

pytestmark = [pytest.mark.npm, pytest.mark.slow]
UV = Path(sys.executable).parent
SOME_TOOLS = {"browser_open_tab", "browser_read_page", "browser_batch"}


def _mcpb(*arguments: str) -> str:
    command = [str(NPM / "node/bin/node"), str(NPM / "@anthropic-ai/mcpb/dist/cli/cli.js")]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """The bundle as an application unpacks it."""
    folder = tmp_path / "installed bundle"
    _mcpb("unpack", str(write_bundle(tmp_path)), str(folder))
    return folder


def test_the_tool_of_the_format_accepts_the_bundle(bundle: Path, tmp_path: Path) -> None:
    assert "Manifest schema validation passes!" in _mcpb("validate", str(bundle / "manifest.json"))
    packed = _mcpb("pack", str(bundle), str(tmp_path / "again.mcpb"))
    assert "total files: 5" in packed


def test_the_tool_of_the_format_refuses_a_wrong_manifest(bundle: Path) -> None:
    file = bundle / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"server": {"type": "snake"}}))
    with pytest.raises(AssertionError, match="server"):
        _mcpb("validate", str(file))


def test_the_registry_finds_its_name_in_the_description_of_the_package(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    name = json.loads((ROOT / "integrations/server.json").read_text())["name"]
    with ZipFile(built_once(tmp_path_factory)[0]) as wheel:
        (metadata,) = [one for one in wheel.namelist() if one.endswith("/METADATA")]
        assert f"mcp-name: {name} " in wheel.read(metadata).decode()


@pytest.fixture
def environment(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    """A person who has uv and nothing else; packages come from the wheels of this run."""
    person = tmp_path / "person"
    (person / ".tabhub").mkdir(mode=0o700, parents=True)
    (person / ".tabhub" / "config.json").write_text(json.dumps({"port": free_port()}))
    found = {
        "HOME": str(person),
        "PATH": os.pathsep.join([str(UV), os.environ["PATH"]]),
        "UV_CACHE_DIR": str(tmp_path / "cache"),
        "UV_FIND_LINKS": str(wheels_once(tmp_path_factory)),
        "UV_OFFLINE": "1",
        "UV_PYTHON_DOWNLOADS": "never",
    }
    yield found
    subprocess.run(["uvx", "tabhub", "stop"], env=found, capture_output=True, timeout=PATIENCE)


def test_a_tool_that_uv_installs_is_connected_by_its_link(environment: dict[str, str]) -> None:
    """As in the README; the link outlives the next version, the environment behind it does not."""

    def run(*command: str) -> str:
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("uv", "tool", "install", "tabhub")
    link = Path(environment["HOME"], ".local", "bin", "tabhub")
    assert run(str(link), "--version").strip() == __version__
    run(str(link), "connect", "cursor", "--stdio")
    settings = json.loads(Path(environment["HOME"], ".cursor", "mcp.json").read_text())
    assert settings["mcpServers"]["tabhub"]["command"] == str(link)


async def _tools(entry: dict[str, Any], environment: dict[str, str]) -> set[str]:
    """The tools that an agent with this entry has."""
    server = StdioServerParameters(**entry, env=environment)
    async with Client(server, read_timeout_seconds=2 * PATIENCE) as client:
        return {tool.name for tool in (await client.list_tools()).tools}


async def test_the_plugin_starts_tabhub_from_the_package(environment: dict[str, str]) -> None:
    manifest = json.loads((ROOT / "integrations/claude/.claude-plugin/plugin.json").read_text())
    entry = manifest["mcpServers"]["tabhub"]
    assert entry.pop("type") == "stdio"
    assert await _tools(entry, environment) >= SOME_TOOLS


async def test_the_bundle_starts_tabhub_from_the_package(
    bundle: Path, environment: dict[str, str]
) -> None:
    entry = json.loads((bundle / "manifest.json").read_text())["server"]["mcp_config"]
    entry["args"] = [word.replace("${__dirname}", str(bundle)) for word in entry["args"]]
    assert await _tools(entry, environment) >= SOME_TOOLS
