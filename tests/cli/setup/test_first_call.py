"""The call at the end of `tabhub setup`, made as an agent's entry says; what odd entries do."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tabhub.cli.connect.agents import Found, required
from tabhub.cli.setup.first_call import call_as
from tabhub.config.paths import Home
from tabhub.errors import Unavailable

CHATTY = """
import json, sys
print("Welcome!")
print("[1, 2]")
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = {"content": [{"type": "text", "text": "3 tabs"}]}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def found(entry: Any) -> Found:
    return Found(required("cursor"), Path("mcp.json"), entry)


@pytest.mark.parametrize("entry", [{}, 5, {"url": "https://tabhub.example/mcp"}, {"command": []}])
def test_an_entry_that_leads_nowhere_is_an_error_in_words(tmp_path: Path, entry: object) -> None:
    with pytest.raises(Unavailable, match=r"The entry of Cursor leads to no server; .*doctor"):
        call_as(Home(tmp_path), found(entry))


def test_a_program_that_cannot_be_started_is_an_error_in_words(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"cannot be started \(Permission denied\); .*doctor"):
        call_as(Home(tmp_path), found({"command": str(tmp_path)}))


def test_a_program_that_speaks_no_mcp_is_an_error_in_words(tmp_path: Path) -> None:
    entry = {"command": sys.executable, "args": ["-c", "print(7); input()"], "env": {"A": 1}}
    with pytest.raises(Unavailable, match="The bridge ended before it answered"):
        call_as(Home(tmp_path), found(entry))


def test_lines_that_are_no_messages_are_passed_over(tmp_path: Path) -> None:
    entry = {"command": sys.executable, "args": ["-c", CHATTY], "env": ["no", "object"]}
    assert call_as(Home(tmp_path), found(entry)).text == "3 tabs"
