"""The files by which agents find tabhub: up to date, valid, and without secrets."""

import base64
import json
import os
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from zipfile import ZipFile

import jsonschema_rs
import pytest
import yaml

from scripts import integrations
from scripts.extension_package import require_publishable
from scripts.hatch_build import registry_name
from scripts.integrations import FILES, PAGE, ROOT
from tabhub import __version__
from tabhub.errors import REASONS
from tabhub.page_tools.source import LIST_TABS
from tabhub.tools import catalog
from tests.support.product import Product

SCHEMA = jsonschema_rs.validator_for(
    json.loads((Path(__file__).parent / "server.schema.json").read_text()), validate_formats=True
)
TEXTS = [name for name in FILES if name.endswith(".md") and name != PAGE]
COMMAND = ["uvx", "tabhub", "start", "--stdio"]


def _read(name: str) -> Any:
    return json.loads((ROOT / name).read_text())


def test_the_files_are_up_to_date() -> None:
    assert integrations.stale() == []


def test_a_file_that_was_edited_by_hand_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(integrations, "__version__", "9.9.9")
    late = {*integrations.stale()}
    assert {"integrations/server.json", "integrations/mcpb/pyproject.toml"} <= late


def test_all_have_the_version_of_the_package() -> None:
    versions = {
        "plugin": _read("integrations/claude/.claude-plugin/plugin.json")["version"],
        "gemini": _read("gemini-extension.json")["version"],
        "bundle": _read("integrations/mcpb/manifest.json")["version"],
        "registry": _read("integrations/server.json")["version"],
        "package": _read("integrations/server.json")["packages"][0]["version"],
    }
    assert versions == dict.fromkeys(versions, __version__)
    bundled = tomllib.loads((ROOT / "integrations/mcpb/pyproject.toml").read_text())["project"]
    assert bundled["dependencies"] == [f"tabhub=={__version__}"]


def test_none_has_a_secret() -> None:
    files = {name: make().encode() for name, make in FILES.items()}
    require_publishable({"manifest.json": b"{}", **files})
    assert [name for name, data in files.items() if b"TOKEN" in data] == []


@pytest.mark.parametrize(
    "name", ["integrations/claude/.claude-plugin/plugin.json", "gemini-extension.json"]
)
def test_agents_start_a_command_that_outlives_caches(name: str) -> None:
    entry = _read(name)["mcpServers"]["tabhub"]
    assert [entry["command"], *entry["args"]] == COMMAND


def test_the_marketplace_and_the_extension_lead_to_files_that_exist() -> None:
    (plugin,) = _read(".claude-plugin/marketplace.json")["plugins"]
    folder = ROOT / plugin["source"]
    manifest = _read(str(folder.relative_to(ROOT) / ".claude-plugin" / "plugin.json"))
    assert plugin["name"] == manifest["name"] == "tabhub"
    assert (folder / "skills" / "tabhub" / "SKILL.md").exists()
    assert (ROOT / _read("gemini-extension.json")["contextFileName"]).exists()


def test_the_registry_would_accept_the_entry() -> None:
    entry = _read("integrations/server.json")
    assert [str(error) for error in SCHEMA.iter_errors(entry)] == []
    (package,) = entry["packages"]
    words = [one.get("value") or one["name"] for one in package["packageArguments"]]
    assert [package["runtimeHint"], package["identifier"], *words] == COMMAND


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "tabhub"},
        {"description": "x" * 101},
        {"version": 1},
        {"packages": [{"registryType": "pypi", "identifier": "tabhub"}]},
        {"websiteUrl": "docs"},
        {"icon": "x.png"},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_the_rules_of_the_registry_refuse_what_is_wrong(wrong: dict[str, Any]) -> None:
    assert not SCHEMA.is_valid({**_read("integrations/server.json"), **wrong})


def test_the_name_in_the_registry_belongs_to_the_owner_of_the_repository() -> None:
    assert registry_name("https://github.com/ada/engine") == "io.github.ada/engine"
    assert _read("integrations/server.json")["name"] == "io.github.tabhub/tabhub"


def _vscode(query: dict[str, list[str]]) -> Any:
    return json.loads(query["config"][0])


def _cursor(query: dict[str, list[str]]) -> Any:
    return json.loads(base64.b64decode(query["config"][0]))


@pytest.mark.slow
@pytest.mark.parametrize("agent, read", [("vscode", _vscode), ("cursor", _cursor)])
@pytest.mark.parametrize("more", [[], ["--browser"]], ids=["own-chrome", "own-browser"])
def test_a_link_installs_what_connect_would_write(
    agent: str, read: Callable[[dict[str, list[str]]], Any], more: list[str], tmp_path: Path
) -> None:
    link = {"vscode": integrations.vscode_link, "cursor": integrations.cursor_link}[agent](*more)
    assert link in (ROOT / PAGE).read_text()
    query = parse_qs(urlsplit(link).query)
    assert query["name"] == ["tabhub"]
    entry = read(query)
    assert [entry["command"], *entry["args"]] == [*COMMAND, *more]
    file = tmp_path / "agent.json"
    product = Product(tmp_path / "home")
    connected = product.run("connect", agent, "--stdio", *more, "--config", str(file))
    assert connected.returncode == 0, connected.stderr
    (servers,) = json.loads(file.read_text()).values()
    written = servers["tabhub"]
    # Ours starts the program of this environment, with a token.
    assert written["args"][-2 - len(more) :] == entry["args"][1:]
    assert {*written} - {"env"} == {*entry}


def test_the_skill_says_when_to_use_it_in_few_words() -> None:
    name = "integrations/claude/skills/tabhub/SKILL.md"
    _, head, body = (ROOT / name).read_text().split("---\n", 2)
    facts = yaml.safe_load(head)
    # The limits of the format.
    assert facts["name"] == Path(name).parent.name == "tabhub"
    assert 100 < len(facts["description"]) <= 1024 and len(facts["compatibility"]) <= 500
    assert "Use it when" in facts["description"] and "Not for" in facts["description"]
    assert len(body.splitlines()) <= 80 and len(body.split()) <= 700


@pytest.mark.parametrize("name", TEXTS)
def test_the_texts_name_only_tools_and_reason_words_that_exist(name: str) -> None:
    words = re.findall(r"`([a-z]+(?:_[a-z]+)+)`", (ROOT / name).read_text())
    words += re.findall(r"\b(browser_[a-z_]+)", (ROOT / name).read_text())
    known = {LIST_TABS.name, *(tool.name for tool in catalog.ALL), *REASONS}
    assert len(words) > 5 and {*words} <= known


def test_the_bundle_is_the_same_each_time_and_has_no_more_than_its_files(tmp_path: Path) -> None:
    first = integrations.write_bundle(tmp_path / "a")
    os.utime(ROOT / integrations.ICON)
    second = integrations.write_bundle(tmp_path / "b")
    assert first.name == f"tabhub-{__version__}.mcpb" and first.read_bytes() == second.read_bytes()
    with ZipFile(first) as bundle:
        files = sorted(bundle.namelist())
    assert files == ["LICENSE", "icon.png", "manifest.json", "pyproject.toml", "server.py"]
