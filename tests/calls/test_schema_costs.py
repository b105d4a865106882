"""The cost of a page's schema when its tool is called."""

from typing import Any

import msgspec
import pytest

from tabhub.calls import validation
from tabhub.calls.validation import CompiledSchemas, Validators, count_patterns
from tabhub.config.settings import PermissionSettings, Settings
from tabhub.errors import InvalidArguments
from tabhub.hub.tools import Tool
from tabhub.page_tools.core.schema import PageSchema
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.extension import connected, page_tool, tab
from tests.support.serving import client, served

SEARCH = "website_tool_shop_example_search"


def _tool(properties: Any, name: str = "t", defined: Any = None) -> Tool:
    schema = {"properties": properties, "type": "object", "$defs": defined or {}}
    own = msgspec.json.encode(schema)
    return Tool(name, "", PageSchema(own), "pages", site="shop.example")


def _refusal(tool: Tool, arguments: Any) -> str:
    with pytest.raises(InvalidArguments) as refused:
        Validators().arguments(tool, msgspec.Raw(msgspec.json.encode(arguments)))
    return refused.value.message


def _takes(tool: Tool, arguments: Any) -> bool:
    return bool(
        Validators().arguments(tool, msgspec.Raw(msgspec.json.encode(arguments))) == arguments
    )


def test_patterns_that_take_much_memory_together_are_left_to_the_page() -> None:
    single = _tool({"a": {"pattern": r"^\p{L}{15}$"}})
    assert "a: " in _refusal(single, {"a": "5"})
    more = {f"p{n}": {"pattern": rf"^{n}\p{{L}}{{15}}$"} for n in range(100)}
    many = _tool({**more, "a": {"type": "string"}})
    assert _takes(many, {"p1": "5"})
    assert "a: " in _refusal(many, {"a": 5})


@pytest.mark.parametrize(
    "schema",
    [
        {"pattern": "("},
        {"patternProperties": {"(": {}}, "additionalProperties": False},
        {"properties": {"pattern": {"pattern": "(", "type": ["object", "integer"]}}},
    ],
)
def test_an_invalid_pattern_is_left_to_the_page(schema: Any) -> None:
    tool = _tool({"a": schema, "b": {"type": "string"}})
    assert _takes(tool, {"a": {"pattern": 1}, "b": "x"})
    assert "b: " in _refusal(tool, {"b": 5})


def test_patterns_are_counted_wherever_they_are() -> None:
    assert (
        count_patterns({"pattern": "a", "patternProperties": {"b": {"pattern": "c"}, "d": {}}}) == 4
    )
    assert (
        count_patterns({"properties": {"pattern": {"type": "string"}}, "allOf": [{"pattern": "a"}]})
        == 1
    )


@pytest.mark.parametrize("word", ["allOf", "anyOf"])
def test_faults_are_listed_one_by_one_only_if_that_is_cheap(word: str) -> None:
    """Each fault holds a copy of its value."""
    many = _tool({"a": {word: [{"type": "integer", "minimum": n} for n in range(3000)]}})
    assert _refusal(many, {"a": "x" * 100_000}) == "t: the arguments do not fit the schema."
    assert 'a: "x" is not' in _refusal(many, {"a": "x"})
    steps = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 4} for n in range(6)}
    referring = _tool({"a": {"$ref": "#/$defs/a0"}}, defined={**steps, "a6": {"type": "null"}})
    assert _refusal(referring, {"a": "x" * 2000}) == "t: the arguments do not fit the schema."
    usual = _refusal(_tool({"a": {"type": "integer"}}), {"a": "x" * 100_000})
    assert 'a: "xxx' in usual and len(usual) < 1200


def test_compiled_schemas_are_kept_by_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validation, "KEPT_BYTES", 5 * 1024 * 1024)
    compiled = CompiledSchemas()
    tools = [_tool({"a": {"pattern": f"^{n}$"}}, f"t{n}") for n in range(10)]
    for tool in tools:
        compiled.put(tool, validation.compile_schema(tool))
    names = [tool.name for tool in tools if compiled.find(tool) is not None]
    assert names == ["t6", "t7", "t8", "t9"]
    changed = _tool({}, "t9")
    assert compiled.find(changed) is None
    compiled.put(changed, validation.compile_schema(changed))
    heavy = _tool({"a": {"enum": ["x" * 200_000]}}, "heavy")
    compiled.put(heavy, validation.compile_schema(heavy))
    assert len(compiled) == 1 and compiled.find(heavy) is not None


async def test_a_denied_call_compiles_no_schema() -> None:
    settings = Settings(permissions=PermissionSettings(domains={"shop.example": "off"}))
    async with (
        served(settings) as server,
        connected(server.port) as extension,
        client(server.port) as http,
    ):
        await extension.sync(tab(1))
        await extension.publish(1, page_tool("search"))
        compiled = server.app.runner._validators.compiled
        with pytest.raises(ToolFailed) as failed:
            await Agent(http).text(SEARCH, word=5)
        assert failed.value.reason == "permission_off"
        assert len(compiled) == 0
