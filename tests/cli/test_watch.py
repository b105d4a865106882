"""`tabhub watch`: each call, as it begins and ends."""

import json
import signal
import subprocess
import sys

from tabhub.cli.watch import narrowed, summary
from tests.support.eventually import eventually_sync
from tests.support.product import Product
from tests.support.terminal import Terminal

CALL = ("tool", "call", "permissions_check", "tool=browser_open_tab")


def test_without_a_server_it_says_so(product: Product) -> None:
    assert product.run("watch").returncode == 3


def test_in_a_pipe_each_event_is_a_line_of_json_and_filters_apply(product: Product) -> None:
    with product.running("start", "--port", "0"):
        product.wait_running()
        assert product.run(*CALL).returncode == 0
        command = [sys.executable, "-m", "tabhub", "watch", "--tool", "permissions_check"]
        with subprocess.Popen(
            command, env=product.environment, stdout=subprocess.PIPE, text=True
        ) as watching:
            assert watching.stdout is not None
            earlier = json.loads(watching.stdout.readline())
            assert (earlier["event"], earlier["tool"]) == ("end", "permissions_check")
            product.run("tool", "call", "browser_list_tabs")
            product.run("tool", "call", "permissions_check", "tool=1", "x=1")
            product.run(*CALL)
            refused = json.loads(watching.stdout.readline())
            start, end = (json.loads(watching.stdout.readline()) for _ in range(2))
            watching.send_signal(signal.SIGINT)
            assert watching.wait(60) == 0
    assert (refused["event"], refused["outcome"]) == ("end", "refused")
    assert refused["reason"] == "invalid_arguments"
    assert (start["event"], end["event"]) == ("start", "end")
    assert start["id"] == end["id"]
    assert (end["client"], end["outcome"], end["tool"]) == ("cli", "done", "permissions_check")
    assert end["durationMs"] >= 0 and end["bytes"] > 0
    assert "arguments" not in str(end)


def test_on_a_terminal_each_call_is_a_line_and_a_restart_is_survived(product: Product) -> None:
    with product.running("start", "--port", "0"):
        product.wait_running()
        with Terminal(product.environment, "watch", columns=100) as terminal:
            terminal.wait_for("Waiting for calls")
            product.run(*CALL)
            terminal.wait_for("done")
            assert "permissions_check" in terminal.text
            assert product.run("stop").returncode == 0
            terminal.wait_for("The server is gone")
            with product.running("start", "--port", "0"):
                product.wait_running()
                before = terminal.text.count("permissions_check")

                def sees_a_call() -> bool:
                    product.run(*CALL)
                    terminal.read_what_is_there()
                    return terminal.text.count("permissions_check") > before

                # The watcher finds the new server within a moment.
                eventually_sync(sees_a_call, "a call of the new server")
                terminal.type(b"\x03")
                assert terminal.end() == 0


def test_what_waits_is_told_only_where_the_calls_one_looks_at_have_changed() -> None:
    cursor = {"client": "cursor", "tool": "browser_read_page"}
    codex = {"client": "codex", "tool": "browser_read_page"}
    waiting = ([codex], [codex, cursor], [cursor], [cursor, codex], [codex])
    events = [("asked", {"count": len(calls), "calls": calls}) for calls in waiting]
    assert [*narrowed(iter(events), None, None)] == events
    one, none = {"count": 1, "calls": [cursor]}, {"count": 0, "calls": []}
    gone: tuple[str, dict[str, object]] = ("", {})
    told = [*narrowed(iter([*events, gone, events[1]]), "cursor", None)]
    assert told == [("asked", one), ("asked", none), gone, ("asked", one)]


def test_a_server_that_is_gone_leaves_nothing_that_waits() -> None:
    cursor = {"client": "cursor", "tool": "browser_read_page"}
    waits, none = ("asked", {"count": 1, "calls": [cursor]}), ("asked", {"count": 0, "calls": []})
    gone: tuple[str, dict[str, object]] = ("", {})
    assert [*narrowed(iter([waits, gone, gone, waits]), None, None)] == [
        *(waits, none, gone, gone, waits)
    ]


def test_a_person_is_sent_to_where_each_call_asks_them() -> None:
    page = {"client": "cursor", "tool": "browser_read_page", "where": "browser"}
    script = {"client": "codex", "tool": "browser_execute_script", "where": "client"}
    browser = "Waiting 2 for your yes (tabhub's button in the browser): cursor browser_read_page"
    agent = "Waiting 1 for your yes (the agent itself asks): codex browser_execute_script"
    both = summary({}, {"count": 3, "calls": [page, script, page]})
    assert both == f"{browser}, cursor browser_read_page; {agent}"
    assert summary({}, {"count": 1, "calls": [script]}) == agent
    assert summary({}, {"count": 5, "calls": [script]}) == f"{agent}; 4 more wait for your yes"
    older = {"client": "codex", "tool": "browser_execute_script"}
    waits = "Waiting 1 for your yes: codex browser_execute_script"
    assert summary({}, {"count": 1, "calls": [older]}) == waits
