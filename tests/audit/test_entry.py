"""The audit entry of an event."""

import json
from typing import Any

import msgspec
import pytest

from tabhub.audit.entry import ENTRY_BYTES, entry_of
from tabhub.audit.redaction import MARK, Redactor
from tabhub.errors import Forbidden, Refused
from tests.audit.events import event

redactor = Redactor(["known" * 8])


@pytest.mark.document("OT-audit-12")
def test_an_entry_has_the_client_the_tool_the_site_the_rule_and_the_outcome() -> None:
    entry = entry_of(event(agent="Claude", operation_id="op"), redactor)
    assert entry == {
        "timestamp": "2025-10-09T08:53:20.123Z",
        "tool": "browser_click_element",
        "plugin": "browser",
        "success": True,
        "durationMs": 12.346,
        "client": "agent",
        "agent": "Claude",
        "session": "s1",
        "tabId": 5,
        "origin": "https://example.com",
        "arguments": {"ref": "e1"},
        "verdict": "allowed",
        "rule": "default",
        "operationId": "op",
    }


@pytest.mark.document("OT-audit-13")
def test_a_failure_is_logged_with_its_reason() -> None:
    error = Forbidden("It is off.", "permission_off")
    entry = entry_of(event(error=error, verdict="denied"), redactor)
    assert (entry["success"], entry["verdict"]) == (False, "denied")
    assert entry["error"] == {
        "code": error.code,
        "message": "It is off.",
        "category": "permission",
        "reason": "permission_off",
    }


def test_a_secret_argument_is_redacted_everywhere_in_the_entry() -> None:
    error = Refused("There is no option swordfish.")
    entry = entry_of(
        event(
            arguments={"text": "swordfish", "note": "a swordfish", "short": "ab"},
            secret_arguments=frozenset({"text", "short", "absent"}),
            error=error,
        ),
        redactor,
    )
    assert entry["arguments"] == {"text": MARK, "note": f"a {MARK}", "short": MARK}
    assert entry["error"]["message"] == f"There is no option {MARK}."


def test_all_texts_from_others_are_redacted() -> None:
    text = "password=hunter2 " + "known" * 8
    entry = entry_of(
        event(
            agent=text, rule=text, origin=text, operation_id=text, tool=text, error=Refused(text)
        ),
        redactor,
    )
    assert "hunter2" not in json.dumps(entry)
    assert "known" not in json.dumps(entry)


def test_a_long_text_is_cut_and_says_so() -> None:
    entry = entry_of(event(arguments={"text": "a b " * 1000}), redactor)["arguments"]["text"]
    assert entry == "a b " * 500 + "… (cut, 2000 more characters)"


@pytest.mark.parametrize("length", [1_990, 15_990, 63_990])
def test_no_half_secret_is_left_where_a_text_is_cut(length: int) -> None:
    token = "ghp_" + "Zz9" * 12
    text = ("word " * 20_000)[:length] + " " + token + " tail" * 10_000
    key = "-----BEGIN PRIVATE KEY-----" + "A" * length
    entry = json.dumps(entry_of(event(arguments={"a": key + text, "b": text}), redactor))
    assert "Zz9" not in entry
    assert "ghp_" not in entry


@pytest.mark.parametrize(
    "arguments",
    [
        {"text": ["x" * 1999] * 20},
        {"many": ["text"] * 100_000},
        {f"key{i}": i for i in range(100_000)},
        {"\x00" * 5_000: "\x00" * 5_000},
        {"deep": json.loads("[" * 500 + "]" * 500)},
    ],
    ids=["long", "many", "keys", "control", "deep"],
)
def test_a_huge_entry_is_bounded_and_says_so(arguments: dict[str, Any]) -> None:
    entry = entry_of(event(arguments=arguments, agent="\x01" * 9_000), redactor)
    assert len(msgspec.json.encode(entry)) <= ENTRY_BYTES
    assert "cut" in json.dumps(entry["arguments"])
    assert (entry["tool"], entry["verdict"]) == ("browser_click_element", "allowed")


def test_invalid_unicode_can_still_be_written() -> None:
    entry = entry_of(event(arguments={"\ud800": ["\udfff ok"]}), redactor)
    assert msgspec.json.decode(msgspec.json.encode(entry))["arguments"] == {"?": ["? ok"]}
