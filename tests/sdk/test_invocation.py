"""Calls of a plugin's tools."""

import asyncio
from typing import Any, Literal, assert_type

import pytest
from msgspec import Struct

from tabhub.sdk import (
    Page,
    Plugin,
    PluginError,
    Url,
    invoke,
    is_ready,
    setting,
    settings_of_call,
    tool,
)
from tabhub.sdk.testing import FakePage


class Item(Struct):
    name: str
    count: int = 1


class Shop(Plugin):
    """A shop."""

    match = ["https://shop.example.com/*"]
    site: Url = setting("Where", required=True)
    size: Literal["small", "large"] = setting("Size", default="small")
    most: int = setting("At most", default=3)

    async def ready(self, page: Page) -> bool:
        return await page.has("#user")

    @tool
    async def add(self, page: Page, item: Item, times: dict[int, str] = {}) -> Any:  # noqa: B006
        return {"item": item, "times": times}

    @tool
    async def where(self, page: Page, pause: bool = False) -> str:
        if pause:
            await asyncio.sleep(0)
        return f"{self.site} {self.size} {self.most}"

    @tool
    async def odd(self, page: Page) -> object:
        return object()

    @tool
    async def fail(self, page: Page) -> None:
        raise KeyError("mine")


SHOP, PAGE = Shop(), FakePage()


async def test_arguments_are_converted_by_the_hints_and_results_to_plain_values() -> None:
    result = await invoke(SHOP, "add", {"item": {"name": "tea"}, "times": {"1": "a"}}, PAGE)
    assert result == {"item": {"name": "tea", "count": 1}, "times": {"1": "a"}}


async def test_a_whole_number_may_be_written_with_a_fraction() -> None:
    result = await invoke(SHOP, "add", {"item": {"name": "tea", "count": 2.0}}, PAGE)
    assert result["item"]["count"] == 2
    with pytest.raises(PluginError, match="got `float`"):
        await invoke(SHOP, "add", {"item": {"name": "tea", "count": 2.5}}, PAGE)


async def test_an_argument_that_is_left_out_has_the_default_of_the_method() -> None:
    assert (await invoke(SHOP, "add", {"item": {"name": "tea"}}, PAGE))["times"] == {}


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ({}, "missing required field `item`"),
        ({"item": {"name": 1}}, r"Expected `str`, got `int` - at `\$.item.name`"),
        ({"item": {"name": "x", "count": "1"}}, r"got `str` - at `\$.item.count`"),
        ({"item": {"name": "x", "count": True}}, r"got `bool` - at `\$.item.count`"),
        ({"item": {"name": "x"}, "more": 1}, "unknown field `more`"),
        ({"item": None}, r"got `null` - at `\$.item`"),
    ],
)
async def test_wrong_arguments_are_refused_with_their_place(arguments: Any, fault: str) -> None:
    with pytest.raises(PluginError, match=fault) as caught:
        await invoke(SHOP, "add", arguments, PAGE)
    assert (caught.value.category, caught.value.code) == ("validation", "arguments")


async def test_an_unknown_tool_is_not_found() -> None:
    with pytest.raises(PluginError, match="no tool ready") as caught:
        await invoke(SHOP, "ready", {}, PAGE)
    assert caught.value.category == "not_found"


async def test_a_result_that_is_no_json_is_an_error() -> None:
    with pytest.raises(PluginError, match="The result of odd cannot be written as JSON"):
        await invoke(SHOP, "odd", {}, PAGE)


async def test_an_exception_of_the_method_passes() -> None:
    with pytest.raises(KeyError, match="mine"):
        await invoke(SHOP, "fail", {}, PAGE)


async def test_settings_are_those_of_the_call_even_if_calls_overlap() -> None:
    async def where(site: str, **more: Any) -> Any:
        return await invoke(SHOP, "where", {"pause": True}, PAGE, settings={"site": site, **more})

    first, second = await asyncio.gather(
        where("https://a.example"), where("https://b.example", size="large", most=5.0)
    )
    assert (first, second) == ("https://a.example small 3", "https://b.example large 5")


async def test_a_required_setting_without_a_value_is_an_error() -> None:
    with pytest.raises(PluginError, match="The setting site has no value") as caught:
        await invoke(SHOP, "where", {}, PAGE, settings={})
    assert caught.value.category == "validation"


async def test_a_setting_of_a_wrong_type_is_an_error_that_does_not_repeat_it() -> None:
    with pytest.raises(PluginError, match="The setting size has a value of a wrong type") as caught:
        await invoke(SHOP, "where", {}, PAGE, settings={"site": "x", "size": "hunter2"})
    assert "hunter2" not in str(caught.value)


async def test_a_test_can_set_the_settings_around_a_direct_call() -> None:
    with settings_of_call({"site": "https://c.example"}):
        assert_type(await SHOP.where(PAGE), str)
        assert await SHOP.where(PAGE) == "https://c.example small 3"


async def test_a_plugin_says_where_it_is_ready() -> None:
    class Open(Plugin):
        match = ["https://example.com/*"]

    page = FakePage()
    assert await is_ready(Open(), page)
    assert not await is_ready(SHOP, page, settings={})
    page.elements.add("#user")
    assert await is_ready(SHOP, page)


def test_an_error_has_one_of_the_categories() -> None:
    with pytest.raises(ValueError, match="'lost' is no category; use auth, rate_limit"):
        PluginError("x", "lost")  # type: ignore[arg-type]
