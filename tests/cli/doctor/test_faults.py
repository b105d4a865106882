"""What can go wrong in the first hour, each fault created: the command and `doctor` both name it.

The README is followed in a home with spaces and umlauts in `tests/real/product/test_wheel.py`.
"""

import errno
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import venv
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from tabhub.browser.launcher.installation import install_extension
from tabhub.cli.output import print_json_lines
from tabhub.config import secret
from tabhub.config.paths import ELSEWHERE, Home
from tabhub.system import locks
from tests.cli.conftest import Here
from tests.support.eventually import PATIENCE
from tests.support.http_client import free_port
from tests.support.product import Product
from tests.support.terminal import in_terminal

READ_ONLY = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"'
CAN_MOUNT = (
    shutil.which("unshare") is not None
    and subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0
)


@pytest.fixture
def product(tmp_path: Path) -> Product:
    """A home that nothing is wrong with, and a browser that only prints its version."""
    browser = tmp_path / "chrome"
    browser.write_text("#!/bin/sh\necho Chromium 150.0.1.2\n")
    browser.chmod(0o755)
    found = Product(tmp_path / "home")
    found.environment |= {"TABHUB_BROWSER": str(browser), "HOME": str(tmp_path)}
    found.environment["TABHUB_PORT"] = str(free_port())
    prepare(found.home)
    return found


def prepare(folder: Path) -> None:
    home = Home(folder).create()
    secret.prepare(home, 9515)
    install_extension(home)


def diagnosis(product: Product, name: str, *prefix: str) -> dict[str, str]:
    """The worst finding of one check."""
    command = [*prefix, sys.executable, "-m", "tabhub", "doctor", "--json"]
    done = subprocess.run(
        command, env=product.environment, capture_output=True, text=True, timeout=PATIENCE
    )
    assert "Traceback" not in done.stderr
    found = [check for check in json.loads(done.stdout)["checks"] if check["name"] == name]
    worst: dict[str, str] = max(found, key=lambda one: ("ok", "warn", "fail").index(one["level"]))
    return worst


def test_a_home_with_spaces_and_umlauts_is_used_and_nothing_is_wrong(
    product: Product, tmp_path: Path
) -> None:
    product.home = tmp_path / "Mein Ordner – größer" / "日本 語"
    product.environment["TABHUB_HOME"] = str(product.home)
    with product.running("start"):
        product.wait_running()
        assert product.run("connect", "cursor", "--stdio").returncode == 0
        assert product.run("extension", "path").stdout.strip() == str(product.home / "extension")
        done = product.run("doctor", "--json")
    assert json.loads(done.stdout)["ok"] is True, done.stdout
    entry = json.loads((tmp_path / ".cursor/mcp.json").read_text())["mcpServers"]["tabhub"]
    assert entry["env"]["TABHUB_HOME"] == str(product.home)


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="needs a second file system")
def test_a_home_on_another_drive_is_used_and_nothing_is_wrong(product: Product) -> None:
    product.home = Path("/dev/shm") / f"tabhub-{os.getpid()}"
    assert product.home.parent.stat().st_dev != Path(product.environment["HOME"]).stat().st_dev
    product.environment["TABHUB_HOME"] = str(product.home)
    try:
        with product.running("start"):
            product.wait_running()
            assert product.run("connect", "cursor").returncode == 0
            assert json.loads(product.run("doctor", "--json").stdout)["ok"] is True
    finally:
        shutil.rmtree(product.home)
        (product.home.parent / f"{product.home.name}.out").unlink()


WRITING_COMMANDS = {
    "start": ("start",),
    "start in the background": ("start", "--background"),
    "connect": ("connect", "cursor"),
    "setup": ("setup", "--yes"),
    "config set": ("config", "set", "port", "9600"),
}


@pytest.mark.skipif(not CAN_MOUNT, reason="needs the right to mount")
@pytest.mark.parametrize("is_made", [False, True], ids=["not made yet", "made"])
def test_a_home_that_is_read_only_is_named_with_the_way_out(
    product: Product, tmp_path: Path, is_made: bool
) -> None:
    home = tmp_path / "drive" / "tabhub"
    product.environment["TABHUB_HOME"] = str(home)
    home.parent.mkdir()
    if is_made:
        prepare(home)
    as_read_only = ["unshare", "-m", "sh", "-c", READ_ONLY, "sh", str(home.parent)]
    for words in WRITING_COMMANDS.values() if is_made else [("start",)]:
        refused = subprocess.run(
            [*as_read_only, sys.executable, "-m", "tabhub", *words],
            env=product.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert refused.returncode == 1
        assert str(home) in refused.stderr
        assert f"Read-only file system. {ELSEWHERE}" in refused.stderr
        assert "Errno" not in refused.stdout + refused.stderr
    found = diagnosis(product, "home", *as_read_only)
    assert (found["level"], found["do"]) == ("fail", ELSEWHERE)


def test_a_full_disk_is_named_with_another_way_out(tmp_path: Path) -> None:
    home = Home(tmp_path)
    full = OSError(errno.ENOSPC, "No space left on device", str(home.config))
    assert (home.way_out(full) or "").startswith("Free space on that disk")
    full.filename = "/elsewhere/file"
    assert home.way_out(full) is None


def run_with_taken_port(product: Product, *words: str) -> str:
    """What a command prints that is refused."""
    done = product.run(*words)
    assert done.returncode in (1, 3), done.stdout
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    "words",
    [("start",), ("start", "--background"), ("connect", "cursor"), ("start", "--show-config")],
)
def test_a_port_that_is_taken_is_named_with_its_holder_and_a_lasting_way_out(
    product: Product, words: tuple[str, ...]
) -> None:
    port = int(product.environment.pop("TABHUB_PORT"))
    (product.home / "config.json").write_text(json.dumps({"port": port}))
    with socket.create_server(("127.0.0.1", port)):
        refused = run_with_taken_port(product, *words)
        assert f"Port {port} is used by another program: " in refused
        assert f"(pid {os.getpid()})" in refused
        command = re.search(r"Use another: .*tabhub (config set port \d+)$", refused.strip())
        assert command, refused
        if words == ("start",):
            found = diagnosis(product, "port")
            assert (found["level"], found["do"].endswith(command[1])) == ("fail", True)
            assert command[1] in run_with_taken_port(product, "status")
            assert product.run(*command[1].split()).returncode == 0
            assert "is free" in diagnosis(product, "port")["says"]
    assert not Path(product.environment["HOME"], ".cursor", "mcp.json").exists()


def test_the_port_is_changed_where_it_comes_from(product: Product) -> None:
    port = int(product.environment["TABHUB_PORT"])
    with socket.create_server(("127.0.0.1", port)):
        refused = run_with_taken_port(product, "start")
        assert re.search(r"Use another: set TABHUB_PORT to \d+$", refused.strip())
        refused = run_with_taken_port(product, "start", "--port", str(port))
        assert re.search(r"Use another: --port \d+$", refused.strip())


def test_the_flag_of_a_background_server_counts_before_the_variable(product: Product) -> None:
    named, port = product.environment["TABHUB_PORT"], str(free_port())
    try:
        done = product.run("start", "--background", "--port", port)
        assert done.returncode == 0, done.stderr
        assert f"http://127.0.0.1:{port}" in done.stdout
        assert f"TABHUB_PORT names port {named}, where all other commands look" in done.stderr
        assert f"set it to {port}, or unset it" in done.stderr
        product.environment["TABHUB_PORT"] = port
        assert product.status()["running"]
    finally:
        product.environment["TABHUB_PORT"] = port
        product.run("stop")


def test_a_browser_for_which_no_server_can_start_says_so(
    product: Product, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def close_at_once(*_: object) -> None:
        pass

    monkeypatch.setattr("tabhub.cli.server.browser._until_closed", close_at_once)
    with socket.create_server(("127.0.0.1", int(product.environment["TABHUB_PORT"]))):
        shown = here("browser", "--headless")
    assert "But no server can start: Port " in shown.stderr
    assert "Use another: set TABHUB_PORT to " in shown.stderr


def test_settings_that_cannot_be_read_are_named_with_the_way_out(product: Product) -> None:
    del product.environment["TABHUB_PORT"]
    for content in ("{", '{"port": "high"}'):
        (product.home / "config.json").write_text(content)
        for words in (("status",), ("start",), ("connect", "cursor"), ("tool", "list")):
            refused = product.run(*words)
            assert refused.returncode == 2, refused
            assert "Repair the file, or set it aside: " in refused.stderr
            assert refused.stderr.rstrip().endswith("tabhub config reset --confirm")


def test_a_home_that_is_a_file_is_named_with_the_way_out(product: Product, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    product.environment["TABHUB_HOME"] = str(file)
    for words in (("status",), ("config", "show"), ("start",)):
        refused = product.run(*words)
        assert refused.returncode == 1, refused
        assert refused.stderr.rstrip().endswith("Name a folder: TABHUB_HOME")


def test_a_home_whose_name_is_not_text_is_used(product: Product, tmp_path: Path) -> None:
    home = os.fsdecode(os.fsencode(tmp_path) + b"/lat\xe9n")
    product.environment["HOME"] = home
    listed = product.run("connect")
    assert listed.returncode == 0, listed.stderr
    files = {agent["file"] for agent in json.loads(listed.stdout)["agents"]}
    assert f"{home}/.cursor/mcp.json" in files
    shown = in_terminal(product.environment, "connect", "--json")
    assert shown.returncode == 0, shown.text
    assert {agent["file"] for agent in json.loads(shown.text)["agents"]} == files
    assert shown.text.startswith('{\n  "agents": [\n')


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", ">&- 2>&-"])
def test_a_stream_that_is_closed_is_no_reason_to_fail(product: Product, closed: str) -> None:
    command = f'exec "$0" -m tabhub config path {closed}'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable], env=product.environment, capture_output=True
    )
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)


def test_what_an_encoding_lacks_is_escaped(product: Product, tmp_path: Path) -> None:
    product.environment |= {"PYTHONIOENCODING": "ascii", "HOME": str(tmp_path / "Jörg")}
    done = product.run("connect", "nothing-ü")
    assert "There is no agent 'nothing-\\xfc'" in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_what_programs_read_is_json_in_every_encoding(
    product: Product, tmp_path: Path, encoding: str
) -> None:
    home = tmp_path / "é€😀\x85"
    product.environment |= {"PYTHONIOENCODING": encoding, "HOME": str(home)}
    listed = product.run("connect")
    files = {agent["file"] for agent in json.loads(listed.stdout)["agents"]}
    assert f"{home}/.cursor/mcp.json" in files


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_lines_that_programs_read_are_json_in_every_encoding(
    monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    values = [{"title": "é€😀\x85"}, "\udcff"]
    written = BytesIO()
    stdout = TextIOWrapper(written, encoding=encoding, errors="backslashreplace")
    monkeypatch.setattr(sys, "stdout", stdout)
    print_json_lines(values)
    assert [json.loads(line) for line in written.getvalue().splitlines()] == values


def test_an_agent_that_starts_a_bridge_is_connected_also_if_the_port_is_taken(
    product: Product,
) -> None:
    with socket.create_server(("127.0.0.1", int(product.environment["TABHUB_PORT"]))):
        assert product.run("connect", "cursor", "--stdio").returncode == 0


def settings_of_cursor(product: Product) -> Path:
    file = Path(product.environment["HOME"], ".cursor", "mcp.json")
    file.parent.mkdir()
    return file


def test_a_broken_file_of_an_agent_is_named_with_its_line(product: Product) -> None:
    file = settings_of_cursor(product)
    file.write_text('{\n  "mcpServers": {\n    oops\n}}')
    refused, found = product.run("connect", "cursor"), diagnosis(product, "agents")
    for text in (refused.stderr, found["says"]):
        assert f"{file} cannot be read (line 3" in text
    assert "Repair the file; nothing was changed" in refused.stderr
    assert "nothing was changed" not in found["says"]
    assert (found["level"], found["do"]) == ("warn", "repair the file")


def test_a_file_of_an_agent_that_links_to_nothing_is_named(product: Product) -> None:
    file = settings_of_cursor(product)
    file.symlink_to(file.parent / "nothing.json")
    refused, found = product.run("connect", "cursor"), diagnosis(product, "agents")
    for text in (refused.stderr, found["says"]):
        assert f"{file} is a link to {file.parent / 'nothing.json'}, which does not exist" in text


def test_a_file_that_another_program_keeps_open_is_named(
    product: Product, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tabhub.cli import main

    file = settings_of_cursor(product)
    file.write_text("{}")

    def refuse(_new: str, path: Path) -> None:
        raise PermissionError(13, "Access is denied", str(path))

    monkeypatch.setattr("tabhub.cli.connect.file.replace", refuse)
    monkeypatch.setattr("tabhub.cli.connect.file.is_busy", lambda _: True)
    for name, value in product.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "argv", ["tabhub", "connect", "cursor"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert (ended.value.code, file.read_text()) == (1, "{}")
    assert "most likely another program has it open. Close that one" in capsys.readouterr().err
    assert [path.name for path in file.parent.iterdir()] == ["mcp.json"]
    assert locks.replace is not refuse


def test_doctor_names_a_file_that_another_program_keeps_open(
    product: Product, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = settings_of_cursor(product)
    file.write_text("{}")

    def refuse(_old: str, _new: str) -> None:
        raise PermissionError(13, "Access is denied")

    monkeypatch.setattr(os, "rename", refuse)
    checks = json.loads(here("doctor", "--json").stdout)["checks"]
    (found,) = [check for check in checks if check["name"] == "agents"]
    assert f"{file} is open in another program" in found["says"]
    assert (found["level"], found["do"].startswith("close that program")) == ("warn", True)
    monkeypatch.undo()
    assert locks.is_replaceable(file) and file.read_text() == "{}"


@pytest.mark.skipif(not CAN_MOUNT, reason="needs a read-only place")
@pytest.mark.parametrize("is_link", [False, True])
def test_a_file_of_an_agent_in_a_read_only_place_is_named(product: Product, is_link: bool) -> None:
    """As the settings that other programs manage: links into a store that only these change."""
    file = settings_of_cursor(product)
    place = file.parent
    if is_link:
        place = Path(product.environment["HOME"], "store")
        place.mkdir()
        file.symlink_to(place / "mcp.json")
    (place / "mcp.json").write_text("{}")
    prefix = ["unshare", "-m", "sh", "-c", READ_ONLY, "sh", str(place)]
    refused = subprocess.run(
        [*prefix, sys.executable, "-m", "tabhub", "connect", "cursor"],
        env=product.environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert f"{place / 'mcp.json'} cannot be changed (Read-only file system)" in refused.stderr
    assert "name another file: --config FILE; nothing was changed" in refused.stderr
    found = diagnosis(product, "agents", *prefix)
    assert f"{file} is in a place that you cannot write to" in found["says"]
    assert (found["level"], "make its folder writable" in found["do"]) == ("warn", True)


def test_a_file_is_replaced_once_its_reader_on_windows_has_closed_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[str] = []

    def replace(new: str, path: Path) -> None:
        tries.append(new)
        if len(tries) < 3:
            raise PermissionError(13, "Access is denied")

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(PermissionError):
        locks.replace("new", tmp_path)
    tries.clear()
    monkeypatch.setattr(sys, "platform", "win32")
    locks.replace("new", tmp_path)
    assert tries == ["new"] * 3


def test_without_a_browser_both_say_what_to_install(product: Product, tmp_path: Path) -> None:
    del product.environment["TABHUB_BROWSER"]
    product.environment["PATH"] = str(tmp_path / "empty")
    refused, found = product.run("browser", "--headless"), diagnosis(product, "browser")
    for text in (refused.stderr, found["says"]):
        assert "No Chrome, Chromium, Edge or Brave was found" in text
    assert (refused.returncode, found["level"]) == (1, "fail")
    assert "install one (" in found["do"]


def test_an_extension_that_is_older_than_the_server_is_named(product: Product) -> None:
    manifest = product.home / "extension" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"version": "', '"version": "0.0.', 1))
    found = diagnosis(product, "extension")
    assert (found["level"], "this tabhub has" in found["says"]) == ("fail", True)
    assert found["do"]


def test_an_agent_whose_program_was_in_a_cleaned_cache_is_named(
    product: Product, tmp_path: Path
) -> None:
    file = settings_of_cursor(product)
    cached = tmp_path / "cache" / "archive-v0" / "x1" / "bin" / "tabhub"
    entry = {"command": str(cached), "args": ["start", "--stdio"], "env": {}}
    file.write_text(json.dumps({"mcpServers": {"tabhub": entry}}))
    found = diagnosis(product, "agents")
    assert (found["level"], found["do"]) == ("fail", f"{product.command} connect cursor")
    assert f"starts {cached}, which is not there" in found["says"]
    file.write_text(json.dumps({"mcpServers": {"tabhub": {**entry, "command": "no-such-uvx"}}}))
    assert "starts no-such-uvx, which is not found" in diagnosis(product, "agents")["says"]
    file.chmod(0o600)
    assert product.run("connect", "cursor", "--stdio").returncode == 0
    assert diagnosis(product, "agents")["level"] == "ok"


def test_a_server_whose_cache_was_cleaned_is_named(product: Product, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    venv.create(cache, symlinks=True)
    (folder,) = cache.glob("lib/python*/site-packages")
    (folder / "here.pth").write_text("\n".join(path for path in sys.path if path))
    start = [str(cache / "bin" / "python"), "-m", "tabhub", "start"]
    process = subprocess.Popen(start, env=product.environment, stdout=subprocess.DEVNULL)
    try:
        product.wait_running()
        assert diagnosis(product, "server")["level"] == "ok"
        shutil.rmtree(cache)
        found, command = diagnosis(product, "server"), product.command
        restart = f"{command} stop; {command} start --background"
        assert (found["level"], found["do"]) == ("fail", restart)
        assert "cleaning the cache of uvx" in found["says"]
        assert product.run("stop").stdout.startswith("Stopped.")
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.wait()


def test_a_user_without_a_home_folder_is_told_so(
    product: Product, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", unknown)
    del product.environment["TABHUB_HOME"]
    assert "This user has no home folder: set HOME to one." in here("doctor").stderr
