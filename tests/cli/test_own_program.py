"""The command that `connect` writes outlives caches and new versions."""

import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tabhub.cli import own_program
from tabhub.cli.help import GROUPS
from tabhub.cli.own_program import CACHE_MARK, OwnInstallation
from tabhub.cli.updating import advice, how_to_update
from tabhub.wire.link_versions import UPDATE_SERVER
from tests.browser.launcher.processes import script
from tests.cli.conftest import Here
from tests.support.product import Product


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of PATH."""
    folder = tmp_path / "path"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PIPX_BIN_DIR", raising=False)
    return folder


def environment(prefix: Path, made_by: str = "") -> OwnInstallation:
    """A virtual environment with tabhub in it."""
    script(prefix / "bin" / "python")
    script(prefix / "bin" / "tabhub")
    (prefix / "pyvenv.cfg").write_text(f"home = /usr/bin\n{made_by}\nversion_info = 3.13.0\n")
    # uv marks each environment as something that needs no backup.
    (prefix / CACHE_MARK).touch()
    return OwnInstallation(prefix, prefix / "bin" / "python")


def linked(link: Path, installation: OwnInstallation) -> Path:
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(installation.script)
    return link


def in_cache(folder: Path) -> Path:
    folder.mkdir()
    (folder / CACHE_MARK).touch()
    return folder


COMMAND = re.compile(
    rf"\btabhub ({'|'.join(name for names in GROUPS.values() for name in names)})\b"
)
AS_A_NAME = {"tabhub setup", "tabhub tool"}
"""What the program calls itself, and what calls a tool in the audit log."""
TYPED = {"commands.py", "group_commands.py", "proxy_commands.py", "help.py"}
"""Their texts are the help, which is written for any way to install it."""


def texts(file: Path) -> Iterator[str]:
    """All strings of a file but its docstrings."""
    tree = ast.parse(file.read_text())
    notes = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in notes:
            yield node.value


def test_no_advice_takes_for_granted_that_tabhub_is_on_the_path() -> None:
    folder = Path(own_program.__file__).parent
    found = [
        (file.name, text)
        for file in folder.rglob("*.py")
        if file.name not in TYPED and "templates" not in file.parts
        for text in texts(file)
        if {match[0] for match in COMMAND.finditer(text)} - AS_A_NAME
    ]
    assert found == []


def test_advice_names_the_command_of_uvx(
    product: Product, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_program, "program", lambda: ["/opt/uvx", "tabhub"])
    for words in (("doctor",), ("status",), ("tool", "list"), ("client", "list")):
        done = here(*words)
        text = done.stdout + done.stderr
        assert COMMAND.search(text)
        assert not re.search(rf"(?<!uvx ){COMMAND.pattern}", text), text


def test_an_update_is_made_by_what_has_installed_it(path: Path, tmp_path: Path) -> None:
    cache = in_cache(tmp_path / "uv")
    tool = environment(tmp_path / "tool", "uv = 0.13.8")
    (tool.prefix / "uv-receipt.toml").write_text("")
    of_pipx = environment(tmp_path / "pipx")
    (of_pipx.prefix / "pipx_metadata.json").write_text("{}")
    for own, command in (
        (environment(cache / "x1", "uv = 0.13.8"), "uvx tabhub@latest"),
        (tool, "uv tool upgrade tabhub"),
        (of_pipx, "pipx upgrade tabhub"),
        (environment(tmp_path / "own"), "pip install -U tabhub"),
    ):
        assert how_to_update(own).startswith(command)
    assert advice({"do": f"update tabhub: {UPDATE_SERVER}"}) == f"update tabhub: {how_to_update()}"


def test_from_uvs_cache_uvx_runs_it(path: Path, tmp_path: Path) -> None:
    cache = in_cache(tmp_path / "uv")
    cached = environment(cache / "archive-v0" / "x1", "uv = 0.13.8")
    assert cached.command() == ["uvx", "tabhub"]
    uvx = script(path / "uvx")
    assert cached.command() == [str(uvx), "tabhub"]


def test_from_pipx_cache_pipx_runs_it(path: Path, tmp_path: Path) -> None:
    cached = environment(in_cache(tmp_path / ".cache") / "x1")
    (cached.prefix / "pipx_metadata.json").write_text("{}")
    pipx = script(path / "pipx")
    assert cached.command() == [str(pipx), "run", "tabhub"]


def test_a_tool_of_uv_is_started_by_its_link(path: Path, tmp_path: Path) -> None:
    tool = environment(tmp_path / "tools" / "tabhub", "uv = 0.13.8")
    link = linked(tmp_path / "anywhere" / "tabhub", tool)
    receipt = f'[tool]\nentrypoints = [{{ name = "tabhub", install-path = "{link}" }}]\n'
    (tool.prefix / "uv-receipt.toml").write_text(receipt)
    assert tool.command() == [str(link)]


@pytest.mark.parametrize("receipt", ["", "[tool]", "not toml [", '[tool]\nentrypoints = "x"'])
def test_a_receipt_that_says_nothing_is_ignored(path: Path, tmp_path: Path, receipt: str) -> None:
    tool = environment(tmp_path / "tools" / "tabhub", "uv = 0.13.8")
    (tool.prefix / "uv-receipt.toml").write_text(receipt)
    assert tool.command() == [str(tool.script)]


@pytest.mark.parametrize("where", ["usual", "variable", "path"])
def test_what_pipx_installed_is_started_by_its_link(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    folders = {"usual": tmp_path / "home/.local/bin", "variable": tmp_path / "own", "path": path}
    if where == "variable":
        monkeypatch.setenv("PIPX_BIN_DIR", str(folders[where]))
    installed = environment(tmp_path / "venvs" / "tabhub")
    (installed.prefix / "pipx_metadata.json").write_text("{}")
    link = linked(folders[where] / "tabhub", installed)
    assert installed.command() == [str(link)]


def test_a_link_to_another_tabhub_is_not_used(path: Path, tmp_path: Path) -> None:
    other = environment(tmp_path / "other")
    linked(path / "tabhub", other)
    installed = environment(tmp_path / "venvs" / "tabhub")
    (installed.prefix / "pipx_metadata.json").write_text("{}")
    assert installed.command() == [str(installed.script)]


def test_in_a_plain_environment_it_is_the_program_itself(path: Path, tmp_path: Path) -> None:
    plain = environment(tmp_path / "my project" / ".venv", "uv = 0.13.8")
    assert plain.command() == [str(plain.script)]
    plain.script.unlink()
    assert plain.command() == [str(plain.executable), "-P", "-m", "tabhub"]


def test_connect_writes_it_and_commands_print_it(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tabhub.cli import main

    cached = environment(in_cache(tmp_path / "uv") / "archive-v0" / "x1", "uv = 0.13.8")
    monkeypatch.setattr(sys, "prefix", str(cached.prefix))
    monkeypatch.setattr(sys, "executable", str(cached.executable))
    monkeypatch.setenv("TABHUB_HOME", str(tmp_path / "tabhub home"))
    uvx, settings = script(path / "uvx"), tmp_path / "mcp.json"
    command = ["connect", "cursor", "--stdio", "--config", str(settings)]
    monkeypatch.setattr(sys, "argv", ["tabhub", *command])
    with pytest.raises(SystemExit):
        main()
    entry = json.loads(settings.read_text())["mcpServers"]["tabhub"]
    assert (entry["command"], entry["args"]) == (str(uvx), ["tabhub", "start", "--stdio"])
    assert own_program.program_text() == "uvx tabhub"
