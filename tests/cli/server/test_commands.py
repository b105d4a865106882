"""The command line without a browser."""

import json
import os
import signal
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tabhub.cli.server.server_status import span
from tests.cli.conftest import Here
from tests.support.eventually import PATIENCE, eventually_sync
from tests.support.http_client import free_port
from tests.support.product import Product


def test_help_names_every_command(product: Product) -> None:
    process = product.run("--help")
    assert process.returncode == 0
    for (
        command
    ) in "start stop status audit logs browser tool client permissions config extension".split():
        assert f"  {command} " in process.stdout


def test_status_and_stop_report_that_no_server_runs(product: Product) -> None:
    status = product.run("status", "--json")
    assert (json.loads(status.stdout)["running"], status.returncode) == (False, 3)
    assert product.run("stop").returncode == 3


def test_a_started_server_is_found_by_status_and_ended_by_stop(product: Product) -> None:
    with product.running("start", "--port", "0") as process:
        port = product.wait_running()
        status = json.loads(product.run("status", "--json").stdout)
        assert (status["running"], status["port"], status["pid"]) == (True, port, process.pid)
        assert status["version"]
        second_start = product.run("start", "--port", "0")
        assert (second_start.returncode, f"already runs on port {port}" in second_start.stderr) == (
            1,
            True,
        )
        assert product.run("stop").returncode == 0
        assert process.wait(PATIENCE) == 0
    assert product.run("status").returncode == 3


def test_a_server_on_another_port_or_of_another_home_is_reported(
    product: Product, tmp_path: Path
) -> None:
    with product.running("start", "--port", "0") as process:
        port = product.wait_running()
        product.environment["TABHUB_PORT"] = str(free_port())
        for command in ("status", "stop", "doctor"):
            output = product.run(command).stdout
            assert f"It runs on port {port} (pid {process.pid}): unset TABHUB_PORT" in output
            assert "kill" not in output and "is not running" not in output
        assert json.loads(product.run("status", "--json").stdout)["running"] is False
        for flags in ((), ("--background",)):
            second = product.run("start", *flags)
            assert second.returncode != 0
            assert f"A server of this home already runs on port {port}" in second.stderr
        other = Product(tmp_path / "empty")
        other.environment["TABHUB_PORT"] = str(port)
        for command in ("status", "stop", "doctor"):
            output = other.run(command).stdout
            assert f"The tabhub on port {port} (TABHUB_PORT) belongs to another home" in output
            assert "is not running" not in output
        assert process.poll() is None


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs to be root")
@pytest.mark.parametrize("folder", ["", "extension", "managed-extension"])
def test_a_home_of_another_user_is_refused(product: Product, folder: str) -> None:
    foreign = product.home / folder
    foreign.mkdir(mode=0o700, parents=True)
    os.chown(foreign, 65534, 65534)
    for command in (("start", "--port", "0"), ("client", "add", "ann")):
        refused = product.run(*command)
        assert refused.returncode == 2
        assert f"{foreign} belongs to another user" in refused.stderr


def test_the_rotated_log_belongs_to_its_owner_only(product: Product) -> None:
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


def test_a_server_that_was_just_killed_is_not_reported_as_running(product: Product) -> None:
    with product.running("start", "--port", "0") as process:
        product.wait_running()
        process.kill()
        # Its parent has not waited for it, so it stays in the list of processes.
        for command in ("status", "stop", "doctor"):
            output = product.run(command).stdout
            assert ("without cleaning up" in output, "does not answer" in output) == (
                command != "doctor",
                False,
            )


@pytest.mark.requirement("OT-18")
def test_status_describes_the_server_to_a_person(product: Product) -> None:
    with product.running("start", "--port", "0") as process:
        port = product.wait_running()
        lines = product.run("status").stdout.splitlines()
        product.run("tool", "call", "permissions_check")
        assert "\n  tabhub-cli (cli)\n" in product.run("status").stdout
    assert lines[0].endswith(f"runs on http://127.0.0.1:{port} (pid {process.pid}).")
    heads = [line.split(":")[0] for line in lines[1:] if not line.startswith(" ")]
    assert heads == ["up for", "browsers", "agents", "tools"]
    assert lines[3].startswith("  No browser is connected.")


def test_status_says_which_browser_gets_the_calls_and_that_calls_wait(
    product: Product, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    def browser(kind: str, is_default: bool) -> dict[str, object]:
        named = {"name": "Chrome", "version": "150", "ready": True, "panels": 0}
        return {**named, "kind": kind, "isDefault": is_default}

    with product.running("start", "--port", "0"):
        product.wait_running()
        known = product.status()
    assert known["approvalsWaiting"] == 0
    both = [browser("managed", True), browser("personal", False)]
    facts = {**known, "browsers": both, "approvalsWaiting": 2}
    monkeypatch.setattr("tabhub.cli.running.find", lambda _: facts)
    lines = here("status").stdout.splitlines()
    assert "  Chrome 150, started by tabhub, no side panel open, which gets the calls" in lines
    assert "  Chrome 150, your own, no side panel open" in lines
    where = "press tabhub's button in the browser (or answer in the agent, if it asks)"
    assert f"2 calls wait for your yes: {where}" in lines
    facts["browsers"] = both[:1]
    assert "gets the calls" not in here("status").stdout


async def test_agents_from_before_a_restart_are_not_counted_as_connected(product: Product) -> None:
    for expected in ("1", "0 (and 1 not heard from since the restart)", "1"):
        with product.running("start", "--port", "0"):
            port = product.wait_running()
            if expected == "1":
                async with product.client(port) as http:
                    await http.post("/tools/permissions_check/call", json={})
            said = product.run("status").stdout
            assert f"agents:   {expected}\n" in said
            assert (": not heard from since the restart" in said) == (expected != "1")


def test_a_time_span_is_shown_in_its_two_largest_units() -> None:
    texts = [span(seconds) for seconds in (0, 59, 3600, 3661, 90061)]
    assert texts == ["0 s", "59 s", "1 h 0 min", "1 h 1 min", "1 d 1 h"]


@pytest.mark.document("OT-mcp-2")
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


def test_an_impostor_at_the_port_gets_no_secret_and_no_process_is_killed(product: Product) -> None:
    requests: list[str] = []

    class Impostor(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requests.append(f"{self.path} {self.headers}")
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
    assert len(requests) >= 2
    assert product.secret not in "".join(requests)


def test_browser_flags_without_a_browser_are_a_usage_error(product: Product) -> None:
    refused = product.run("start", "--port", "0", "--headless")
    assert (refused.returncode, "--browser" in refused.stderr) == (2, True)


def test_a_home_that_cannot_be_created_is_reported_in_one_sentence(product: Product) -> None:
    product.environment["TABHUB_HOME"] = "/dev/null/x"
    for command in ("status", "start"):
        refused = product.run(command)
        assert (refused.returncode, "Traceback" in refused.stderr) == (1, False)
        assert "/dev/null/x" in refused.stderr


def test_a_port_in_use_or_out_of_range_is_reported_in_one_sentence(
    product: Product, tmp_path: Path
) -> None:
    with product.running("start", "--port", "0"):
        port = product.wait_running()
        other = Product(tmp_path / "other")
        taken = other.run("start", "--port", str(port))
        assert (taken.returncode, taken.stderr.count("\n")) == (1, 1)
        assert f"Port {port} is used by a tabhub of another home" in taken.stderr
    assert product.run("start", "--port", "70000").returncode == 2


def test_a_fault_in_the_settings_is_reported_with_its_place(product: Product) -> None:
    product.home.mkdir()
    (product.home / "config.json").write_text('{"port": "high"}')
    refused = product.run("start")
    assert refused.returncode == 2
    assert "config.json" in refused.stderr
    assert "port must be a whole number" in refused.stderr


@pytest.mark.document("OT-auth-2")
def test_without_authentication_a_warning_is_given(product: Product) -> None:
    with product.running("start", "--port", "0", "--no-auth"):
        product.wait_running()
        assert "WARNING" in product.output
        assert "Bearer" not in product.output


@pytest.mark.document("OT-clients-7")
def test_the_settings_are_shown_and_the_secret_only_on_request(product: Product) -> None:
    nothing = json.loads(product.run("config", "show", "--json", "--show-secret").stdout)
    assert (nothing["secret"], product.home.exists()) == (None, False)
    product.run("extension", "path")
    settings = json.loads(product.run("config", "show", "--json", "--show-secret").stdout)
    assert (settings["secret"], settings["port"]) == (product.secret, 9515)
    for arguments in (("--json",), ()):
        plain = product.run("config", "show", *arguments).stdout
        assert product.secret not in plain
        assert "callSeconds" in plain
    assert product.run("config", "path").stdout.strip() == str(product.home / "config.json")


def test_the_extension_can_be_set_up_by_hand(product: Product) -> None:
    process = product.run("extension", "path")
    folder = Path(process.stdout.strip())
    assert folder == product.home / "extension"
    assert {"manifest.json", "auth.json"} <= {*os.listdir(folder)}


def test_a_missing_browser_is_reported_with_what_to_install(product: Product) -> None:
    product.environment["TABHUB_BROWSER"] = "/nowhere/chrome"
    missing = product.run("browser")
    assert missing.returncode == 1
    assert "/nowhere/chrome" in missing.stderr
    assert "Traceback" not in missing.stderr
