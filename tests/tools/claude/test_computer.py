"""Which actions of the computer tool only look, and how small its vocabulary is listed."""

import msgspec
import pytest

from tabhub.tools import catalog
from tabhub.tools.claude.computer import COMPUTER
from tests.support.tools import in_toolset

LOOKING = {"screenshot", "wait", "zoom"}


@pytest.mark.parametrize("action", COMPUTER.input_schema["properties"]["action"]["enum"])
def test_looking_reads_and_everything_else_changes_something(action: str) -> None:
    assert COMPUTER.is_reading({"action": action}) is (action in LOOKING)
    assert not COMPUTER.is_reading({"action": action, "save_to_disk": True})


def test_it_is_listed_for_those_who_may_only_read_but_does_not_call_itself_harmless() -> None:
    assert "computer" in in_toolset("claude", reading=True)
    assert COMPUTER.annotations["readOnlyHint"] is False


def test_the_whole_vocabulary_is_listed_in_less_than_twenty_kilobytes() -> None:
    listed = [
        {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}
        for tool in catalog.ALL
        if "claude" in tool.toolsets
    ]
    assert len(msgspec.json.encode(listed)) <= 20_000
