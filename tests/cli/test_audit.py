"""`tabhub audit`: read from the server, and from its files."""

import csv
import io
import json
import re
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tabhub.cli.audit_lines import single_line
from tests.cli.conftest import Here
from tests.support.eventually import PATIENCE, eventually_sync
from tests.support.product import Product
from tests.support.terminal import in_terminal

Json = dict[str, Any]


@pytest.fixture
def product(tmp_path: Path) -> Product:
    product = Product(tmp_path / "home")
    product.home.mkdir(mode=0o700)
    return product


def entry(number: int, ago: float = 0, **more: Any) -> Json:
    timestamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time.time() - ago))
    usual = {"tool": "browser_list_tabs", "plugin": "browser", "client": "ann", "success": True}
    return {"timestamp": f"{timestamp}.000Z", "durationMs": number, **usual, **more}


def written(product: Product, name: str, *entries: Json) -> None:
    lines = "".join(json.dumps(entry) + "\n" for entry in entries)
    (product.home / name).write_text(lines)


def numbers(here: Here, *flags: str) -> list[int]:
    process = here("audit", "--file", *flags)
    assert process.returncode == 0, process.stderr
    return [entry["durationMs"] for entry in json.loads(process.stdout)]


@pytest.mark.document("OT-audit-7")
@pytest.mark.requirement("OT-13")
def test_both_files_are_read_without_a_server_the_newest_first(
    product: Product, here: Here
) -> None:
    written(product, "audit.log.1", entry(1), entry(2))
    written(product, "audit.log", entry(3), entry(4))
    with (product.home / "audit.log").open("a") as file:
        file.write('{"torn')
    assert numbers(here) == [4, 3, 2, 1]
    assert numbers(here, "--limit", "3") == [4, 3, 2]


def test_entries_can_be_filtered_by_their_fields(product: Product, here: Here) -> None:
    written(
        product,
        "audit.log",
        entry(1, ago=3 * 86400 + 60),
        entry(2, ago=7300, tool="browser_open_tab"),
        entry(3, ago=100, client="bob", success=False),
        entry(4, ago=10, plugin="door"),
    )
    assert numbers(here, "--since", "3d") == [4, 3, 2]
    assert numbers(here, "--since", "2h") == [4, 3]
    assert numbers(here, "--since", "1m") == [4]
    assert numbers(here, "--since", "2001-02-03") == [4, 3, 2, 1]
    assert numbers(here, "--since", "2999-01-01T00:00:00Z") == []
    assert numbers(here, "--tool", "browser_open_tab") == [2]
    assert numbers(here, "--plugin", "door") == [4]
    assert numbers(here, "--client", "bob") == [3]
    assert numbers(here, "--failure") == [3]
    assert numbers(here, "--success", "--since", "1h") == [4]


@pytest.mark.parametrize(
    "flags",
    [("--since", "tomorrow"), ("--since", "99x"), ("--since", "999999999w"), ("--limit", "0")],
)
def test_invalid_flags_are_a_usage_error(here: Here, flags: tuple[str, ...]) -> None:
    refused = here("audit", "--file", *flags)
    assert (refused.returncode, "Traceback" in refused.stderr) == (2, False)
    assert any(flag in refused.stderr for flag in flags)


@pytest.mark.document("OT-audit-7")
@pytest.mark.requirement("OT-13")
def test_the_server_lists_the_same_as_its_file_and_the_file_outlives_it(product: Product) -> None:
    with product.running("start", "--port", "0"):
        product.wait_running()
        for _ in range(3):
            product.run("permissions", "set", "browser_open_tab", "ask")
        entries = json.loads(product.run("audit", "--plugin", "admin", "--since", "1h").stdout)
        assert len(entries) == 3
        assert product.run("audit", "--limit", "501").returncode == 2
    assert json.loads(product.run("audit", "--file").stdout) == entries
    refused = product.run("audit")
    assert (refused.returncode, "--file" in refused.stderr) == (3, True)


def test_a_terminal_gets_a_table_without_control_characters(product: Product) -> None:
    error = {"reason": "stale_ref", "message": "gone \x1b[2J away"}
    written(product, "audit.log", entry(12, error=error, success=False))
    for columns in (50, 120):
        output = in_terminal(product.environment, "audit", "--file", columns=columns)
        assert output.returncode == 0
        assert "browser_list_tabs" in output.text
        words = " ".join(output.text.split())
        assert "failed: stale_ref" in words and "gone \\x1b[2J" in words
        assert "\x1b[2J" not in output.text


CALLS = [
    entry(7, client="cli", agent="tabhub-cli", tool="browser_open_tab", tabId=3)
    | {"arguments": {"url": "https://example.com/a/rather/long/path?with=a&query=too#and-more"}},
    entry(12_345, agent="ann", tabId=4, origin="https://a.example", tool="browser_type_text")
    | {"arguments": {"text": "word " * 50, "ref": "ref_1"}},
    entry(0, client="main", plugin="admin", tool="reload")
    | {"arguments": {"changed": ["limits.callSeconds"]}},
    entry(3, client="sse", agent="x" * 80, success=False, tool="browser_disable_network_capture")
    | {"error": {"reason": "extension_disconnected", "message": "No browser is connected."}},
]


@pytest.mark.requirement("OT-13")
@pytest.mark.parametrize("columns", [80, 120, 200])
def test_a_table_shows_client_tool_and_outcome_within_the_width_of_the_terminal(
    product: Product, columns: int
) -> None:
    written(product, "audit.log", *CALLS)
    text = in_terminal(product.environment, "audit", "--file", columns=columns).text
    lines = re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()
    assert lines[0].split()[:4] == ["time", "who", "took", "outcome"]
    assert max(map(len, lines)) <= columns
    unwrapped = " ".join(" ".join(lines).split())
    for words in (
        "ann 12.3 s done",
        "cli (tabhub-cli) 7 ms done",
        "browser_open_tab tab 3 url=https://example.com/",
        "browser_type_text tab 4 on https://a.example text=word word",
        "you 0 ms done you reloaded the settings; changed limits.callSeconds",
        "3 ms failed: extension_disconnected",
    ):
        assert words in unwrapped
    places = {line.index(word) for line in lines for word in (" done", " failed: ") if word in line}
    assert len(places) == 1


def test_a_table_shows_the_count_of_a_merged_entry(product: Product) -> None:
    error = {"reason": "unknown_tool", "message": "There is no such tool."}
    failed = entry(1, error=error, success=False)
    written(product, "audit.log", failed | {"times": 40}, failed | {"times": 1})
    text = in_terminal(product.environment, "audit", "--file").text
    assert re.findall("unknown_tool(?: ×[0-9]+)?", text) == ["unknown_tool", "unknown_tool ×40"]


def test_omitted_entries_are_reported(product: Product, here: Here) -> None:
    written(product, "audit.log", *(entry(number) for number in range(60)))
    assert len(numbers(here)) == 60
    cut = here("audit", "--file", "--limit", "5")
    assert (len(json.loads(cut.stdout)), "more than 5" in cut.stderr) == (5, True)
    assert "--file" not in cut.stderr
    assert here("audit", "--file", "--limit", "60").stderr == ""


def test_entries_from_before_a_restart_are_shown_and_omitted_ones_counted(
    product: Product, here: Here
) -> None:
    written(product, "audit.log", entry(1, ago=60))
    with product.running("start", "--port", "0"):
        product.wait_running()
        assert len(json.loads(here("audit").stdout)) == 1
        for _ in range(51):
            here("permissions", "set", "browser_open_tab", "ask")
        cut = here("audit")
        assert (len(json.loads(cut.stdout)), "more than 50" in cut.stderr) == (50, True)
        earlier = here("audit", "--since", "1h")
        assert (len(json.loads(earlier.stdout)), earlier.stderr) == (52, "")
        assert len(json.loads(here("audit", "--file").stdout)) == 52


def refusal(reason: str, verdict: str) -> Json:
    return {"success": False, "verdict": verdict, "error": {"reason": reason, "message": "no"}}


def test_entries_can_be_filtered_by_outcome_words_and_person(product: Product, here: Here) -> None:
    stop: Json = {"tool": "agents.stop", "plugin": "panel", "client": "main"}
    written(
        product,
        "audit.log",
        entry(1, arguments={"text": "two lamps"}),
        entry(2, **refusal("permission_denied", "denied")),
        entry(3, **refusal("script_error", "allowed")),
        entry(4, **refusal("cancelled", "allowed")),
        entry(5, **stop, arguments={"stopped": True}),
    )
    assert numbers(here, "--outcome", "refused") == [2]
    assert numbers(here, "--outcome", "failed") == [3]
    assert numbers(here, "--outcome", "cancelled") == [4]
    assert numbers(here, "--outcome", "done") == [5, 1]
    assert numbers(here, "--text", "LAMPS two") == [1]
    assert numbers(here, "--text", "stopped all") == [5]
    assert numbers(here, "--you") == [5]
    assert numbers(here, "--agents") == [4, 3, 2, 1]


@pytest.mark.parametrize("flags", [("--outcome", "good"), ("--csv", "--ndjson")])
def test_an_unknown_outcome_and_two_formats_are_usage_errors(
    here: Here, flags: tuple[str, ...]
) -> None:
    refused = here("audit", "--file", *flags)
    assert (refused.returncode, "Traceback" in refused.stderr) == (2, False)
    assert flags[1] in refused.stderr


def test_entries_are_printed_as_lines_of_json_and_as_csv(product: Product, here: Here) -> None:
    written(product, "audit.log", entry(1), entry(2, agent="=cmd()", client=""))
    lines = here("audit", "--file", "--ndjson").stdout.splitlines()
    assert [json.loads(line)["durationMs"] for line in lines] == [2, 1]
    rows = list(csv.DictReader(io.StringIO(here("audit", "--file", "--csv").stdout)))
    assert [row["durationMs"] for row in rows] == ["2", "1"]
    assert [row["who"] for row in rows] == ["'=cmd()", "ann"], "a spreadsheet calculates nothing"


def test_a_followed_entry_is_one_line_without_control_characters() -> None:
    error = {"reason": "stale_ref", "message": "gone \x1b[2J away"}
    line = single_line(entry(12, error=error, success=False, agent="two\nlines"))
    assert "\n" not in line and "\x1b" not in line
    words = "ann (two lines) 12 ms failed: stale_ref browser_list_tabs - gone"
    assert words in " ".join(line.split())


def test_what_the_person_did_reads_you_allowed(product: Product) -> None:
    click = {"tool": "browser_click_element", "title": "Click"}
    about = {**click, "client": "main", "site": "shop.example"}
    answer = {"id": "1", "decision": "allow", "scope": "always", "about": about}
    deed: Json = {
        "tool": "confirmation.response",
        "plugin": "panel",
        "client": "main",
        "session": "",
    }
    written(product, "audit.log", entry(1, **deed, arguments=answer))
    text = in_terminal(product.environment, "audit", "--file", columns=200).text
    words = "you allowed “Click” for main on shop.example, always"
    assert words in " ".join(text.split())


def test_the_server_finds_by_the_same_filters_as_the_file(product: Product, here: Here) -> None:
    with product.running("start", "--port", "0"):
        product.wait_running()
        here("permissions", "set", "browser_open_tab", "ask")
        here("tool", "call", "browser_open_tab", "{}")
        for flags in (
            ("--you",),
            ("--agents",),
            ("--outcome", "refused"),
            ("--text", "open_tab refused"),
            ("--text", "reloaded"),
        ):
            served = json.loads(here("audit", *flags).stdout)
            on_disk = json.loads(here("audit", "--file", *flags).stdout)
            assert served == on_disk and served, flags


@pytest.mark.requirement("OT-13")
def test_entries_are_followed_over_rotations_until_ctrl_c(product: Product) -> None:
    def shown() -> list[int]:
        lines = product.output.splitlines()
        return [json.loads(line)["durationMs"] for line in lines if line.startswith("{")]

    def shows(*expected: int) -> None:
        eventually_sync(lambda: shown() == [*expected], f"{expected}, not {shown()}")

    log = product.home / "audit.log"
    written(product, "audit.log.1", entry(1))
    written(product, "audit.log", entry(2), entry(3, client="bob"), entry(4))
    with product.running("audit", "-f", "--client", "ann", "--limit", "2") as process:
        shows(2, 4)
        with log.open("a") as file:
            file.write(json.dumps(entry(5)) + "\n" + json.dumps(entry(6, client="bob")) + "\n")
            file.write(json.dumps(entry(0, began=True, call="1-a")) + "\n")
        shows(2, 4, 5)
        log.replace(product.home / "audit.log.1")
        written(product, "audit.log", entry(7))
        shows(2, 4, 5, 7)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
    assert "Traceback" not in product.output
