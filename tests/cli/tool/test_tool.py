"""`tabhub tool` against a scripted server: its requests, its output and its exit codes."""

import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tabhub.calls.approvals import DO_NOT
from tabhub.cli.tool.calling import APPROVAL, YOUR_YES
from tabhub.config.clients import hash_of
from tests.cli.conftest import Here
from tests.cli.scripted_server import Script, scripted
from tests.support.eventually import PATIENCE, eventually_sync
from tests.support.http_client import free_port
from tests.support.product import Product
from tests.support.terminal import in_terminal

DONE = {"content": [{"type": "text", "text": "Opened."}], "structuredContent": {"tabId": 7}}
ERROR = {"code": -32000, "reason": "stale_ref", "retryable": False, "category": "validation"}
FAILED = {
    "content": [{"type": "text", "text": "The ref is gone."}],
    "structuredContent": {"error": ERROR},
    "isError": True,
}
TOOLS = [
    {
        "name": "browser_open_tab",
        "plugin": "browser",
        "description": "Open a page.\nMore of it.",
        "inputSchema": {"type": "object"},
    }
]


@pytest.fixture
def script(product: Product) -> Iterator[Script]:
    with scripted(product) as script:
        script.respond(DONE)
        yield script


@pytest.mark.document("OT-cli-4", "OT-endpoints-6")
@pytest.mark.requirement("OT-08")
def test_arguments_are_json_pairs_a_file_or_stdin(
    product: Product, script: Script, tmp_path: Path
) -> None:
    arguments = {"url": "https://a.example/?x=1", "active": True}
    file = tmp_path / "params.json"
    file.write_text(json.dumps(arguments))
    ways: list[tuple[str, ...]] = [
        (json.dumps(arguments),),
        ("url=https://a.example/?x=1", "active:=true"),
        ("--params-file", str(file)),
        ("-",),
    ]
    for way in ways:
        process = product.run("tool", "call", "browser_open_tab", *way, stdin=json.dumps(arguments))
        assert (process.returncode, json.loads(process.stdout), process.stderr) == (0, DONE, "")
    assert [request.json for request in script.requests] == [{"arguments": arguments}] * len(ways)
    assert {request.path for request in script.requests} == {"/tools/browser_open_tab/call"}


def test_without_arguments_nothing_is_read_from_stdin(product: Product, script: Script) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "tabhub", "tool", "call", "browser_list_tabs"],
        env=product.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.wait(PATIENCE) == 0
    assert script.requests[-1].json == {"arguments": {}}


def test_flags_become_arguments_and_headers(product: Product, script: Script) -> None:
    flags = ("--tab-id", "7", "--instance", "work", "--operation-id", "once", "--group", "g1")
    assert product.run("tool", "call", "x", '{"a": 1}', *flags).returncode == 0
    request = script.requests[-1]
    assert request.json == {"arguments": {"a": 1, "tabId": 7, "instance": "work"}}
    assert request.headers["Idempotency-Key"] == "once"
    assert request.headers["X-Tabhub-Group"] == "g1"
    uuid = "0b7e3f0e-37a4-4f0e-8a44-1f5b8f6a9e11"
    product.run("tool", "call", "x", "--tab-id", uuid)
    assert script.requests[-1].json == {"arguments": {"tabId": uuid}}
    product.run("tool", "call", "x", "--tab-id", "fallback_1700000000000_x1")
    assert script.requests[-1].json == {"arguments": {"tabId": "fallback_1700000000000_x1"}}


def test_arguments_reach_the_server_unchanged(product: Product, script: Script) -> None:
    written = '{"n": 123456789012345678901234567890, "a": 1.0, "a": 2}'
    product.run("tool", "call", "x", written)
    assert script.requests[-1].body == b'{"arguments":%s}' % written.encode()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (('{"a":',), "not JSON"),
        (("[1]",), "must be a JSON object"),
        (("null",), "must be a JSON object"),
        (("url",), "write url=TEXT or url:=JSON, or all arguments as one JSON object"),
        (("a=1", "a=1"), "a is given twice"),
        (("a=1", "a:=2"), "a is given twice"),
        (("--tab-id", "first"), "--tab-id must be the number of a tab, or the id (a UUID)"),
        (("--tab-id", ""), "--tab-id must be the number"),
        (("--params-file", "/nowhere/params.json"), "/nowhere/params.json cannot be read: No such"),
        (("--params-file", "/"), "/ cannot be read: Is a directory"),
        (("a:=nope",), "not JSON"),
        (("=x",), "write NAME=TEXT"),
        (("a=1", "{}"), "'{}' is not an argument"),
        (('{"tabId": 3}', "--tab-id", "4"), "given twice"),
        (("{}", "--params-file", "/dev/null"), "not both"),
        (('{"a":' * 20_000,), "not JSON"),
        (("--nonsense",), "No such option"),
        ((b"\xff".decode(errors="surrogateescape"),), "UTF-8"),
    ],
)
def test_invalid_arguments_are_a_usage_error_and_nothing_is_sent(
    here: Here, script: Script, words: tuple[str, ...], complaint: str
) -> None:
    refused = here("tool", "call", "x", *words)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert complaint in refused.stderr
    assert "Traceback" not in refused.stderr
    assert script.requests == []


@pytest.mark.requirement("OT-08")
def test_a_failed_tool_exits_with_1_and_its_reason(product: Product, script: Script) -> None:
    script.respond({**FAILED, "error": {"message": "The ref is gone.", **ERROR}}, 422)
    failed = product.run("tool", "call", "x")
    assert (failed.returncode, json.loads(failed.stdout)) == (1, FAILED)
    assert failed.stderr == "tabhub: The ref is gone. (stale_ref)\n"


def test_an_error_before_the_tool_is_reported_the_same_way(
    product: Product, script: Script
) -> None:
    error = {"code": -32602, "message": "There is no tool x.", "reason": "unknown_tool"}
    script.respond({"error": error}, 404)
    for command in ("call", "schema"):
        failed = product.run("tool", command, "x")
        assert failed.returncode == 1
        assert "There is no tool x. To find one: " in failed.stderr
        assert "tool list --query WORDS" in failed.stderr
    assert json.loads(product.run("tool", "call", "x").stdout) == {"error": error}
    script.respond({"error": {**error, "message": "There is no tool x. Did you mean y?"}}, 404)
    for command in ("call", "schema"):
        assert "WORDS" not in product.run("tool", command, "x").stderr


def test_a_refusal_of_the_server_exits_with_1_and_a_usage_error_with_2(
    product: Product, here: Here, script: Script
) -> None:
    error = {"code": -32602, "message": "No toolset.", "reason": "invalid_arguments"}
    script.respond({"error": error}, 400)
    for command in (("list", "--toolset", "nope"), ("schema", "x"), ("call", "x")):
        refused = here("tool", *command)
        assert (refused.returncode, "No toolset." in refused.stderr) == (1, True)


def test_an_unknown_plugin_is_reported(here: Here, script: Script) -> None:
    script.respond({"tools": []})
    refused = here("tool", "list", "--plugin", "nope", "--query", "open")
    assert (refused.returncode, "There is no plugin 'nope'." in refused.stderr) == (1, True)
    assert here("tool", "list", "--query", "nothing at all").returncode == 0


def test_a_wrong_port_or_token_in_the_environment_is_named(
    product: Product, here: Here, script: Script
) -> None:
    product.environment["TABHUB_TOKEN"] = "thc_wrong"
    script.respond(
        {"error": {"message": "The token is wrong.", "reason": "not_authenticated"}}, 401
    )
    for command in (("list",), ("call", "x")):
        refused = here("tool", *command)
        message = "The token is wrong. It is the one in TABHUB_TOKEN."
        assert (refused.returncode, message in refused.stderr) == (1, True)
    product.environment["TABHUB_PORT"] = "1"
    lost = here("tool", "list")
    assert (lost.returncode, "on port 1, which TABHUB_PORT names" in lost.stderr) == (3, True)


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"error": 5}'])
def test_an_invalid_response_is_a_failure(here: Here, script: Script, body: bytes) -> None:
    script.response = script.response._replace(status=500, body=body)
    for command in (("call", "x"), ("list",)):
        failed = here("tool", *command)
        assert (failed.returncode, "Traceback" in failed.stderr) == (1, False)


@pytest.mark.document("OT-cli-5")
@pytest.mark.requirement("OT-08")
def test_without_a_server_every_command_exits_with_3(product: Product) -> None:
    for command in (("list",), ("schema", "x"), ("call", "x")):
        refused = product.run("tool", *command)
        assert (refused.returncode, refused.stdout) == (3, "")
        assert "tabhub start" in refused.stderr


@pytest.mark.document("OT-cli-2", "OT-endpoints-6")
def test_the_list_is_short_and_the_server_filters_it(product: Product, script: Script) -> None:
    script.respond({"tools": TOOLS})
    flags = ("--plugin", "browser", "--toolset", "core", "--query", "open & read")
    listed = json.loads(product.run("tool", "list", *flags).stdout)
    short = {"name": "browser_open_tab", "plugin": "browser", "description": "Open a page."}
    assert listed == {"tools": [short]}
    assert script.requests[-1].path == "/tools?plugin=browser&toolset=core&query=open+%26+read"


def test_a_name_cannot_change_the_path(product: Product, script: Script) -> None:
    product.run("tool", "schema", "../health?x#y")
    assert script.requests[-1].path == "/tools/..%2Fhealth%3Fx%23y"


def test_the_client_is_cli_and_not_the_person(product: Product, script: Script) -> None:
    product.run("tool", "list")
    product.run("tool", "list")
    tokens = {request.headers["Authorization"] for request in script.requests}
    assert len(tokens) == 1
    assert product.secret not in "".join(tokens)
    assert "cli" in product.run("client", "list").stdout
    assert product.run("client", "add", "cli").returncode == 2


def test_a_token_in_the_environment_comes_first_and_needs_no_secret(
    product: Product, script: Script, tmp_path: Path
) -> None:
    product.environment["TABHUB_TOKEN"] = "thc_of_an_agent"
    script.token_hash = hash_of("thc_of_an_agent")
    product.run("tool", "list")
    product.environment["TABHUB_HOME"] = str(tmp_path / "another")
    product.run("tool", "list")
    sent = [request.headers["Authorization"] for request in script.requests]
    assert sent == ["Bearer thc_of_an_agent"] * 2
    assert not (tmp_path / "another").exists()


@pytest.mark.parametrize("knows", [None, hash_of("another token")])
def test_a_token_is_not_sent_to_a_server_that_does_not_know_it(
    product: Product, script: Script, tmp_path: Path, knows: str | None
) -> None:
    product.environment["TABHUB_TOKEN"] = "thc_of_an_agent"
    product.environment["TABHUB_HOME"] = str(tmp_path / "another")
    script.token_hash = knows
    refused = product.run("tool", "list")
    assert refused.returncode == 1
    assert "it was not sent" in refused.stderr and "thc_" not in refused.stderr
    assert script.requests == []


@pytest.mark.parametrize("body", [{}, {"tools": 1}, {"tools": [1]}, {"tools": [{}]}])
def test_a_response_without_tools_is_an_error(product: Product, script: Script, body: Any) -> None:
    script.respond(body)
    failed = product.run("tool", "list")
    assert (failed.returncode, failed.stdout) == (1, "")
    assert failed.stderr == "tabhub: The server's response cannot be read.\n"


def test_a_terminal_shows_tables_and_texts_that_fit(product: Product, script: Script) -> None:
    long = {**TOOLS[0], "description": "A word and another. " * 12}
    script.respond({"tools": [*TOOLS, long]})
    for columns in (40, 80, 200):
        output = in_terminal(product.environment, "tool", "list", columns=columns)
        lines = [_plain(line) for line in output.text.splitlines()]
        assert any(line.startswith("browser_open_tab") for line in lines)
        assert max(map(len, lines)) <= columns
    script.respond(DONE)
    assert in_terminal(product.environment, "tool", "call", "x") == (0, "Opened.\n")


def test_control_characters_of_a_page_do_not_reach_the_terminal(
    product: Product, script: Script
) -> None:
    evil = "a\x1b]0;title\x07b\x9b2Jc\rd\n"
    script.respond({"content": [{"type": "text", "text": evil}]})
    output = in_terminal(product.environment, "tool", "call", "x")
    assert "a\\x1b]0;title\\x07b\\x9b2Jc\\rd" in output.text
    as_json = in_terminal(product.environment, "tool", "call", "x", "--json")
    assert not {"\x1b", "\x07", "\x9b"} & {*as_json.text}
    assert json.loads(as_json.text)["content"][0]["text"] == evil
    script.respond({"content": [{"type": "text", "text": evil}], "isError": True})
    assert not {"\x07", "\x9b"} & {*in_terminal(product.environment, "tool", "call", "x").text}


def test_a_terminal_speaks_to_the_person_and_a_pipe_to_an_agent(
    product: Product, script: Script
) -> None:
    element = "[page 0a1b2c] Pay now [end 0a1b2c]"
    words = f"The person denied browser_click_element at {element}. {DO_NOT}"
    error = {"error": {"reason": "permission_denied"}}
    content = [{"type": "text", "text": words}]
    script.respond({"content": content, "isError": True, "structuredContent": error})
    shown = in_terminal(product.environment, "tool", "call", "x", columns=200).text
    assert 'tabhub: You denied browser_click_element at "Pay now". (permission_denied)' in shown
    assert product.run("tool", "call", "x").stderr == f"tabhub: {words} (permission_denied)\n"


def test_a_port_that_another_program_has_is_named_by_calls_too(product: Product) -> None:
    port = free_port()
    product.environment["TABHUB_PORT"] = str(port)
    product.run("extension", "path")
    with socket.create_server(("127.0.0.1", port)):
        refused = product.run("tool", "call", "x")
    assert refused.returncode == 3
    assert f"Port {port} is used by another program" in refused.stderr
    assert "set TABHUB_PORT to" in refused.stderr


def test_an_image_is_shown_as_its_type_and_size(product: Product, script: Script) -> None:
    script.respond({"content": [{"type": "image", "mimeType": "image/png", "data": "AAAA" * 100}]})
    process = product.run("tool", "call", "x", "--text")
    assert process.stdout == "[image image/png, 300 bytes; --json prints it]\n"


def test_progress_is_drawn_on_a_terminal_only(product: Product, script: Script) -> None:
    half = {"progress": 1, "total": 2, "message": "half \x1b]0;x\x07 [red]way"}
    script.stream(("progress", half), ("result", DONE))
    output = in_terminal(product.environment, "tool", "call", "x", columns=100)
    assert (output.returncode, "50%" in output.text, "[red]way" in output.text) == (0, True, True)
    assert "\x1b]0;x" not in output.text
    assert "Opened." in output.text
    assert product.run("tool", "call", "x").stderr == ""
    wait = {"progress": 0, "message": f"{APPROVAL}x"}
    script.stream(("progress", wait), ("progress", wait), ("result", DONE))
    asked = product.run("tool", "call", "x")
    assert (asked.stderr, asked.returncode) == (f"{YOUR_YES} (within 120 s)\n", 0)


def test_a_stream_ends_with_a_result_an_error_or_a_lost_connection(
    product: Product, script: Script
) -> None:
    script.stream(("result", FAILED))
    output = in_terminal(product.environment, "tool", "call", "x")
    assert (output.returncode, "The ref is gone. (stale_ref)" in output.text) == (1, True)
    script.stream(("error", {"error": {"message": "Too late.", "reason": "timeout"}}))
    output = in_terminal(product.environment, "tool", "call", "x")
    assert (output.returncode, "Too late. (timeout)" in output.text) == (1, True)
    script.stream(("progress", {"progress": 1}))
    output = in_terminal(product.environment, "tool", "call", "x")
    assert (output.returncode, "may or may not" in output.text) == (1, True)


def test_ctrl_c_disconnects_and_exits_with_130(product: Product, script: Script) -> None:
    script.hold.clear()
    with product.running("tool", "call", "x") as process:
        eventually_sync(lambda: script.requests, "the call")
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        assert script.disconnected.wait(PATIENCE)
    assert "Traceback" not in product.output


def test_ctrl_d_at_a_terminal_ends_the_arguments(product: Product, script: Script) -> None:
    output = in_terminal(product.environment, "tool", "call", "x", "-", typed=b'{"a": 1}\n\x04')
    assert (output.returncode, "Ctrl-D" in output.text) == (0, True)
    assert script.requests[-1].json == {"arguments": {"a": 1}}


def _plain(line: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", line)
