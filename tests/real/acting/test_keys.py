"""Pressing keys in real pages: the page receives them, or the call gives a reason."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.real.conftest import Opener
from tests.real.looking import html, ref
from tests.support.agent import Agent, ToolFailed
from tests.support.product import Product
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("TH-21")]
Value = Callable[..., Awaitable[Any]]
FOCUSED = "document.activeElement.id"


@pytest.mark.requirement("TH-22")
async def test_tab_moves_the_focus_in_a_background_tab_and_back(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    tab = await opened(site.page("acting"))
    result = await agent.call("browser_press_key", key="Tab", selector="#first")
    assert result["effect"]["focused"] == "<input>#second"
    assert await in_page(FOCUSED) == "second"
    await agent.call("browser_press_key", key="Tab", modifiers={"shift": True})
    assert await in_page(FOCUSED) == "first"
    assert "keydown first Tab 0  true" in await in_page("log")
    active = [t["tabId"] for t in (await agent.call("browser_list_tabs"))["tabs"] if t["active"]]
    assert tab not in active


async def test_enter_submits_and_the_call_waits_for_the_new_page(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(site.page("acting"))
    await agent.call("browser_type_text", selector="#first", text="Ada")
    result = await agent.call("browser_press_key", key="Enter")
    assert result["effect"]["navigated"] == f"{site.page('form')}?first=Ada&second="
    assert await in_page("location.search") == "?first=Ada&second="


async def test_characters_go_to_the_focused_field_and_its_value_is_reported(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(site.page("acting"))
    await agent.call("browser_click_element", selector="#second")
    result = await agent.call("browser_press_key", key="a B ü 1 + shift+c Space z")
    assert (result["effect"]["value"], result["trusted"]) == ("aBü1+C z", True)
    assert await in_page("document.querySelector('#second').value") == "aBü1+C z"
    result = await agent.call("browser_press_key", key="Left Backspace", repeat=2)
    assert await in_page("document.querySelector('#second').value") == "aBü1Cz"
    assert result["effect"]["mutated"] is True


async def test_chords_are_commands_and_type_no_text(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(site.page("acting"))
    await agent.call("browser_press_key", key="Ctrl+A", selector="#area")
    assert await in_page("getSelection().toString()") == "one two"
    result = await agent.call("browser_press_key", key="Delete")
    assert result["effect"]["value"] == ""
    assert "keydown area Control 0 ctrl true" in await in_page("log")


@pytest.mark.parametrize("name", ["near", "far", "deep"])
async def test_keys_reach_fields_in_frames(
    agent: Agent, opened: Opener, site: Site, name: str
) -> None:
    await opened(site.page("frames"))
    field = ref(await agent.text("browser_read_page"), f"field {name}")
    await agent.call("browser_press_key", key="x", ref=field)
    result = await agent.call("browser_press_key", key="y")
    assert result["effect"]["value"] == "xy"
    assert 'value="xy"' in await agent.text("browser_read_page")


async def test_the_value_of_a_secret_field_is_not_reported(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(site.page("acting"))
    result = await agent.call("browser_press_key", key="x y z", selector="#secret")
    assert "xyz" not in str(result)
    assert await in_page("document.querySelector('#secret').value") == "xyz"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"key": "NoSuchKey"}, "invalid_arguments"),
        ({"key": "hyper+a"}, "invalid_arguments"),
        ({"key": "a", "selector": "#words"}, "invalid_arguments"),
        ({"key": "a", "selector": "#off"}, "disabled"),
        ({"key": "a", "selector": "#nowhere"}, "element_not_found"),
        ({"key": "a", "ref": "ref_77"}, "stale_ref"),
        ({"key": "a", "ref": "ref_1", "selector": "#first"}, "invalid_arguments"),
        ({"key": "a", "repeat": 101}, "invalid_arguments"),
        ({"key": "a", "settle": 10_001}, "invalid_arguments"),
    ],
)
async def test_impossible_keys_are_refused_and_the_page_receives_none(
    agent: Agent, opened: Opener, in_page: Value, site: Site, arguments: Any, reason: str
) -> None:
    await opened(site.page("acting"))
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_press_key", **arguments)
    assert failed.value.reason == reason
    assert await in_page("of('keydown')") == []


async def test_no_further_keys_are_pressed_after_a_navigation(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(site.page("acting"))
    away = f"{site.other}/acting.html"
    await in_page(f"document.onkeydown = () => {{ location = '{away}' }}; 1")
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_press_key", key="a", repeat=100, selector="#area")
    assert failed.value.reason == "navigated_away"
    loaded = "await new Promise((go) => document.readyState === 'complete' ? go() : onload = go)"
    assert await in_page(f"{loaded}; of('keydown')") == []
    assert await in_page("location.href") == away


async def test_keys_that_go_on_in_a_secret_field_are_not_in_the_audit_log(
    agent: Agent, opened: Opener, site: Site, product: tuple[Product, int]
) -> None:
    body = "<input id=x oninput='y.focus()'><input id=y type=password>"
    await opened(html(site, body))
    text = await agent.text("browser_press_key", selector="#x", key="q", repeat=3)
    assert "] q [end" in text
    entry = product[0].audit()[-1]
    assert (entry["tool"], entry["arguments"].get("key")) == ("browser_press_key", "[redacted]")
