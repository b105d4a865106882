"""The registry of tools."""

from dataclasses import replace

import pytest

from tabhub.errors import Internal, NotFound
from tabhub.hub.tools import BoundedSchema, Tool, ToolRegistry


def _tool(name: str, description: str = "does it") -> Tool:
    return Tool(name, description, {"type": "object"}, source="test")


def test_tools_are_listed_in_the_order_of_registration() -> None:
    registry = ToolRegistry()
    registry.add(_tool("b"), _tool("a"))
    assert [tool.name for tool in registry] == ["b", "a"]


def test_two_tools_of_one_name_are_an_error() -> None:
    registry = ToolRegistry()
    registry.add(_tool("a"))
    with pytest.raises(Internal):
        registry.add(_tool("a"))


def test_every_real_change_is_reported_once_and_no_other() -> None:
    registry = ToolRegistry()
    sizes: list[int] = []
    registry.on_change(lambda: sizes.append(len(registry)))
    registry.add(_tool("a"), _tool("b"))
    registry.replace(_tool("a"))
    registry.replace(_tool("a", "does it better"))
    registry.remove("a")
    assert sizes == [2, 2, 1]


def test_a_changed_tool_is_judged_by_its_new_hints_and_schema() -> None:
    plain = _tool("a")
    careful = replace(plain, annotations={"destructiveHint": True})
    foreign = replace(careful, annotations={}, input_schema=BoundedSchema(b"{}"))
    facts = [(tool.is_careful, tool.is_bounded) for tool in (plain, careful, foreign)]
    assert facts == [(False, False), (True, False), (False, True)]
    assert not replace(plain, annotations={"destructiveHint": 1}).is_careful, "only a clear yes"


def test_an_unknown_tool_has_a_reason() -> None:
    with pytest.raises(NotFound) as missing:
        ToolRegistry().get("nothing")
    assert missing.value.reason == "unknown_tool"


def test_a_rule_or_an_argument_says_when_a_reading_tool_changes_something() -> None:
    by_name = replace(_tool("shot"), changes_when="path")
    assert by_name.is_reading({}) and not by_name.is_reading({"path": "x"})
    by_rule = replace(
        _tool("mouse"), changes_when=lambda arguments: arguments.get("action") == "click"
    )
    assert by_rule.is_reading({"action": "look"}) and not by_rule.is_reading({"action": "click"})
