"""The command line without a browser."""

import json
import os
import signal
import socket
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tabhub.cli.server.server_status import span
from tests.support.eventually import PATIENCE, eventually_sync
from tests.support.product import Product


def test_help_names_every_command(product: Product) -> None:
    shown = product.run("--help")
    assert shown.returncode == 0
    for (
        command
    ) in "start stop status audit logs browser tool client permissions config extension".split():
        assert f"  {command} " in shown.stdout


def test_status_and_stop_say_when_nothing_runs(product: Product) -> None:
    status = product.run("status", "--json")
    assert (json.loads(status.stdout)["running"], status.returncode) == (False, 3)
    assert product.run("stop").returncode == 3


def test_a_started_server_is_found_by_status_and_ended_by_stop(product: Product) -> None:
    with product.running("start", "--port", "0") as process:
        port = product.wait_running()
        status = json.loads(product.run("status", "--json").stdout)
        assert (status["running"], status["port"], status["pid"]) == (True, port, process.pid)
        assert status["version"]
        again = product.run("start", "--port", "0")
        assert (again.returncode, f"already runs on port {port}" in again.stderr) == (1, True)
        assert product.run("stop").returncode == 0
        assert process.wait(PATIENCE) == 0
    assert product.run("status").returncode == 3


def test_a_server_on_another_port_or_of_another_home_is_told_truly(
    product: Product, tmp_path: Path
) -> None:
    with product.running("start", "--port", "0") as process:
        port = product.wait_running()
        product.environment["TABHUB_PORT"] = str(free_port())
        for command in ("status", "stop", "doctor"):
            said = product.run(command).stdout
            assert f"It runs on port {port} (pid {process.pid}): unset TABHUB_PORT" in said
            assert "kill" not in said and "is not running" not in said
        assert json.loads(product.run("status", "--json").stdout)["running"] is False
        other = Product(tmp_path / "empty")
        other.environment["TABHUB_PORT"] = str(port)
        for command in ("status", "stop", "doctor"):
            said = other.run(command).stdout
            assert f"The tabhub on port {port} (TABHUB_PORT) belongs to another home" in said
            assert "is not running" not in said
        assert process.poll() is None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        found: int = probe.getsockname()[1]
        return found


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs to be root")
@pytest.mark.parametrize("folder", ["", "extension", "managed-extension"])
def test_a_home_of_another_user_is_refused(product: Product, folder: str) -> None:
    theirs = product.home / folder
    theirs.mkdir(mode=0o700, parents=True)
    os.chown(theirs, 65534, 65534)
    for command in (("start", "--port", "0"), ("client", "add", "ann")):
        refused = product.run(*command)
        assert refused.returncode == 2
        assert f"{theirs} belongs to another user" in refused.stderr


def test_the_log_is_the_owners_after_it_has_begun_a_new_file(product: Product) -> None:
    product.home.mkdir(mode=0o700)
    log = product.home / "server.log"
    log.write_bytes(b"x" * 5_000_000)
    log.chmod(0o644)
    with product.running("start", "--port", "0"):
        product.wait_running()
        product.run("client", "add", "ann")
        eventually_sync((product.home / "server.log.1").exists, "the log to begin a new file")
        for file in (log, product.home / "server.log.1"):
            assert file.stat().st_mode & 0o777 == 0o600


def test_a_pid_file_left_by_a_dead_server_does_not_matter(product: Product) -> None:
    product.home.mkdir()
    (product.home / "server.pid").write_text('{"pid": 99999999, "port": 1}')
    assert "without cleaning up" in product.run("stop").stdout
    with product.running("start", "--port", "0"):
        assert product.wait_running() > 1


@pytest.mark.requirement("OT-18")
def test_a_server_that_does_not_answer_is_named_and_not_killed(product: Product) -> None:
    with product.running("start", "--port", "0") as process:
        product.wait_running()
        process.send_signal(signal.SIGSTOP)
        try:
            for command in ("status", "stop"):
                refused = product.run(command)
                assert refused.returncode == 3
                assert f"kill {process.pid}" in refused.stdout
        finally:
            process.send_signal(signal.SIGCONT)
        assert product.run("stop").returncode == 0


def test_a_server_that_was_just_killed_is_not_said_to_run(product: Product) -> None:
    with product.running("start", "--port", "0") as process:
        product.wait_running()
        process.kill()
        # Nobody has waited for it: it stays in the list of processes.
        for command in ("status", "stop", "doctor"):
            told = product.run(command).stdout
            assert ("without cleaning up" in told, "does not answer" in told) == (
                command != "doctor",
                False,
            )


@pytest.mark.requirement("OT-18")
def test_status_tells_a_person_what_there_is(product: Product) -> None:
    with product.running("start", "--port", "0") as process:
        port = product.wait_running()
        lines = product.run("status").stdout.splitlines()
        product.run("tool", "call", "permissions_check")
        assert "\n  tabhub-cli (cli)\n" in product.run("status").stdout
    assert lines[0].endswith(f"runs on http://127.0.0.1:{port} (pid {process.pid}).")
    assert [line.split(":")[0] for line in lines[1:]] == ["up for", "browsers", "agents", "tools"]


async def test_agents_from_before_a_restart_are_not_counted_as_there(product: Product) -> None:
    for expected in ("1", "0 (and 1 from before the restart)", "1"):
        with product.running("start", "--port", "0"):
            port = product.wait_running()
            if expected == "1":
                async with product.client(port) as http:
                    await http.post("/tools/permissions_check/call", json={})
            assert f"agents:   {expected}\n" in product.run("status").stdout


def test_a_span_is_told_by_its_two_largest_units() -> None:
    told = [span(seconds) for seconds in (0, 59, 3600, 3661, 90061)]
    assert told == ["0 s", "59 s", "1 h 0 min", "1 h 1 min", "1 d 1 h"]


def test_the_secret_and_the_port_are_where_the_extension_looks(product: Product) -> None:
    with product.running("start", "--port", "0"):
        port = product.wait_running()
        auth = product.home / "extension" / "auth.json"
        assert json.loads(auth.read_text()) == {"secret": product.secret, "port": port}
        assert auth.stat().st_mode & 0o777 == 0o600
        assert product.home.stat().st_mode & 0o777 == 0o700
        assert (product.home / "extension" / "manifest.json").is_file()
        assert product.secret not in (product.home / "server.log").read_text()


def test_the_port_in_the_environment_comes_before_the_pid_file(product: Product) -> None:
    with product.running("start", "--port", "0"):
        port = product.wait_running()
        (product.home / "server.pid").write_text('{"pid": 1, "port": 1}')
        assert product.run("status").returncode == 3
        product.environment["TABHUB_PORT"] = str(port)
        assert json.loads(product.run("status", "--json").stdout)["port"] == port


def test_an_impostor_at_the_port_gets_no_secret_and_nobody_is_killed(product: Product) -> None:
    seen: list[str] = []

    class Impostor(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(f"{self.path} {self.headers}")
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"status": "ok", "pid": 1, "proof": "00"}')

        def log_message(self, format: str, *args: object) -> None:
            pass

    product.run("extension", "path")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Impostor)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    bystander = subprocess.Popen(["sleep", "60"])
    try:
        pid_file = {"pid": bystander.pid, "port": server.server_port}
        (product.home / "server.pid").write_text(json.dumps(pid_file))
        assert product.run("status").returncode == 3
        assert product.run("stop").returncode == 3
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()
        server.shutdown()
        server.server_close()
    assert len(seen) >= 2
    assert product.secret not in "".join(seen)


def test_flags_for_a_browser_that_is_not_wanted_are_a_usage_error(product: Product) -> None:
    refused = product.run("start", "--port", "0", "--headless")
    assert (refused.returncode, "--browser" in refused.stderr) == (2, True)


def test_a_home_that_cannot_be_made_is_told_in_one_sentence(product: Product) -> None:
    product.environment["TABHUB_HOME"] = "/dev/null/x"
    for command in ("status", "start"):
        refused = product.run(command)
        assert (refused.returncode, "Traceback" in refused.stderr) == (1, False)
        assert "/dev/null/x" in refused.stderr


def test_a_port_in_use_or_out_of_range_is_told_in_one_sentence(
    product: Product, tmp_path: Path
) -> None:
    with product.running("start", "--port", "0"):
        port = product.wait_running()
        other = Product(tmp_path / "other")
        taken = other.run("start", "--port", str(port))
        assert (taken.returncode, taken.stderr.count("\n")) == (1, 1)
        assert f"Port {port} cannot be used" in taken.stderr
    assert product.run("start", "--port", "70000").returncode == 2


def test_a_wrong_configuration_is_told_with_its_place(product: Product) -> None:
    product.home.mkdir()
    (product.home / "config.json").write_text('{"port": "high"}')
    refused = product.run("start")
    assert refused.returncode == 2
    assert "config.json" in refused.stderr
    assert "port must be a whole number" in refused.stderr


def test_without_authentication_a_warning_is_given(product: Product) -> None:
    with product.running("start", "--port", "0", "--no-auth"):
        product.wait_running()
        assert "WARNING" in product.output
        assert "Bearer" not in product.output


def test_the_settings_are_shown_and_the_secret_only_when_asked_for(product: Product) -> None:
    nothing = json.loads(product.run("config", "show", "--json", "--show-secret").stdout)
    assert (nothing["secret"], product.home.exists()) == (None, False)
    product.run("extension", "path")
    shown = json.loads(product.run("config", "show", "--json", "--show-secret").stdout)
    assert (shown["secret"], shown["port"]) == (product.secret, 9515)
    for arguments in (("--json",), ()):
        plain = product.run("config", "show", *arguments).stdout
        assert product.secret not in plain
        assert "callSeconds" in plain
    assert product.run("config", "path").stdout.strip() == str(product.home / "config.json")


def test_the_extension_can_be_set_up_by_hand(product: Product) -> None:
    shown = product.run("extension", "path")
    folder = Path(shown.stdout.strip())
    assert folder == product.home / "extension"
    assert {"manifest.json", "auth.json"} <= {*os.listdir(folder)}


def test_a_browser_that_cannot_be_found_is_told_with_what_to_install(product: Product) -> None:
    product.environment["TABHUB_BROWSER"] = "/nowhere/chrome"
    missing = product.run("browser")
    assert missing.returncode == 1
    assert "/nowhere/chrome" in missing.stderr
    assert "Traceback" not in missing.stderr
