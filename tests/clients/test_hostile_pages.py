"""No page can make an official client refuse the whole list, or take an answer for anything else."""

from typing import Any

import pytest

from tests.clients.visiting import PYTHON, TYPESCRIPT, visit
from tests.support.extension import connected, page_tool, tab
from tests.support.serving import served

pytestmark = pytest.mark.xdist_group("clients")
EVERY = [*PYTHON, *(pytest.param(name, marks=pytest.mark.npm) for name in TYPESCRIPT)]
GOOD = "website_tool_shop_example_good"


def _nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


SCHEMAS: list[Any] = [
    {"required": 5},
    {"required": [1]},
    {"required": None},
    {"properties": {"a": True}},
    {"properties": {"a": False}},
    {"properties": {"a": 5}},
    {"properties": {"a": None}},
    {"properties": {"a": []}},
    {"properties": {"__proto__": {"type": "string"}}},
    {"properties": None},
    {"type": ["object"]},
    {"type": "string"},
    {"properties": {"a": {"default": _nested(300)}}},
    {"properties": {"a": {"default": 10**300}}},
    {"title": 5, "description": {}, "$comment": []},
    {"$schema": 5, "$defs": {"a": 5}},
]
ANNOTATIONS: list[Any] = [
    {"title": 5},
    {"title": None},
    {"title": "a\u202eb\x00"},
    {"readOnlyHint": {}},
    {"readOnlyHint": "yes", "destructiveHint": 1, "idempotentHint": None, "openWorldHint": []},
    {"cache": "x", "more": _nested(300)},
    5,
    [],
    "x",
]
OTHERS: list[dict[str, Any]] = [
    {"title": 5},
    {"title": {}},
    {"description": 5},
    {"description": None},
    {"_meta": 5},
    {"_meta": {"a": _nested(300)}},
    {"icons": 5, "execution": {"taskSupport": "sometimes"}, "outputSchema": {"type": 5}},
]
HOSTILE = [
    *({"inputSchema": {"type": "object", **schema}} for schema in SCHEMAS),
    *({"annotations": told} for told in ANNOTATIONS),
    *OTHERS,
]


@pytest.mark.requirement("MB-11")
@pytest.mark.parametrize("client", EVERY)
async def test_whatever_a_page_defines_the_list_comes_and_the_good_tool_can_be_called(
    client: str,
) -> None:
    async with served() as server, connected(server.port) as extension:
        await extension.sync(tab(1), tab(2))
        bad = [page_tool(f"bad{number}", **more) for number, more in enumerate(HOSTILE)]
        await extension.publish(1, *bad, kind="mcp-b")
        await extension.publish(2, page_tool("good"))
        extension.page_tools["good"] = lambda call: {"content": [{"type": "text", "text": "fine"}]}
        said = await visit(client, server.port, [GOOD])
    assert GOOD in said["tools"]
    assert "website_tool_shop_example_bad3" in said["tools"]
    assert "website_tool_shop_example_bad0" not in said["tools"]
    assert "fine" in said["results"][GOOD]["content"][0]["text"]
