"""Which actions of the computer tool only read, and the size of the listed vocabulary."""

import msgspec
import pytest

from tabhub.tools import catalog
from tabhub.tools.claude.computer import COMPUTER
from tests.support.tools import in_toolset

LOOKING = {"screenshot", "wait", "zoom"}


@pytest.mark.parametrize("action", COMPUTER.input_schema["properties"]["action"]["enum"])
def test_every_action_except_looking_counts_as_a_change(action: str) -> None:
    assert COMPUTER.is_reading({"action": action}) is (action in LOOKING)
    assert not COMPUTER.is_reading({"action": action, "save_to_disk": True})


def test_it_is_listed_for_read_only_clients_without_a_read_only_hint() -> None:
    assert "computer" in in_toolset("claude", reading=True)
    assert COMPUTER.annotations["readOnlyHint"] is False


def test_the_whole_vocabulary_is_listed_in_less_than_twenty_kilobytes() -> None:
    listed = [
        {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}
        for tool in catalog.ALL
        if "claude" in tool.toolsets
    ]
    assert len(msgspec.json.encode(listed)) <= 20_000
