"""No page makes an official client refuse the whole list of tools or a readable result."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.clients.visiting import PYTHON, TYPESCRIPT, visit
from tests.support.browsers.extension import connected, page_tool, tab
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
    *({"annotations": annotations} for annotations in ANNOTATIONS),
    *OTHERS,
]


@pytest.mark.requirement("MB-11")
@pytest.mark.document("MB-security-12")
@pytest.mark.parametrize("client", EVERY)
async def test_bad_tools_of_a_page_break_neither_the_list_nor_the_good_tool(
    client: str,
) -> None:
    async with served() as server, connected(server.port) as extension:
        await extension.sync(tab(1), tab(2))
        bad = [page_tool(f"bad{number}", **more) for number, more in enumerate(HOSTILE)]
        await extension.publish(1, *bad, kind="mcp-b")
        await extension.publish(2, page_tool("good"))
        extension.page_tools["good"] = lambda call: {"content": [{"type": "text", "text": "fine"}]}
        report = await visit(client, server.port, [GOOD])
    assert GOOD in report["tools"]
    assert "website_tool_shop_example_bad3" in report["tools"]
    assert "website_tool_shop_example_bad0" not in report["tools"]
    assert "fine" in report["results"][GOOD]["content"][0]["text"]


def _answering(answer: Any) -> Callable[[Any], Any]:
    return lambda call: answer


PICTURE = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
LINK = {"type": "resource_link", "uri": "https://shop.example/a", "name": "a"}
BLOCKS: list[Any] = [
    {"type": "text", "text": 5},
    {"type": "text", "text": "a", "_meta": 5},
    {"type": "text", "text": "a", "annotations": {"priority": "high"}},
    {"type": "text", "text": "a", "annotations": {"audience": ["everybody"]}},
    {"type": "text", "text": "a", "annotations": {"lastModified": "2025-02-30T00:00:00Z"}},
    {"type": "text", "text": "a", "annotations": {"lastModified": "2025-02-03T00:00:00+01:00"}},
    {**PICTURE, "data": "not base64!!"},
    {**PICTURE, "mimeType": 5},
    {**PICTURE, "annotations": 5},
    {**LINK, "size": "abc", "icons": 5},
    {**LINK, "uri": "x y"},
    {**LINK, "title": 5, "description": 5, "mimeType": 5},
    {"type": "resource", "resource": {"uri": "https://shop.example/a"}},
    {"type": "resource", "resource": {"uri": 5, "text": "a"}},
    {"type": "resource", "resource": {"uri": "https://shop.example/", "text": "a", "mimeType": 5}},
    {"type": "tool_use", "name": "x", "id": "1", "input": {}},
    {},
]
RESULTS: list[Any] = [
    *({"content": [block]} for block in BLOCKS),
    {"content": [], "structuredContent": [1]},
    {"content": [], "structuredContent": {"a": _nested(300)}},
    {"content": [], "isError": "yes", "_meta": 5, "resultType": 5, "ttlMs": "x"},
    {"content": [5]},
    {"content": 5, "structuredContent": 5},
    5,
    None,
]


@pytest.mark.parametrize("client", EVERY)
async def test_the_client_accepts_every_result_of_a_page(client: str) -> None:
    async with served() as server, connected(server.port) as extension:
        await extension.sync(tab(1))
        names = [f"answer{number}" for number in range(len(RESULTS))]
        await extension.publish(1, *map(page_tool, names))
        for name, answer in zip(names, RESULTS, strict=True):
            extension.page_tools[name] = _answering(answer)
        calls = [f"website_tool_shop_example_{name}" for name in names]
        report = await visit(client, server.port, calls)
    assert {name: result for name, result in report["results"].items() if "refused" in result} == {}
