"""Targets by words: done only if one element is clearly meant, else the candidates come back."""

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

import pytest

from tests.real.conftest import Opener
from tests.support.agent import Agent, ToolFailed
from tests.support.site import Site

pytestmark = pytest.mark.real_browser
Value = Callable[..., Awaitable[Any]]
BODY = """
<title>words</title>
<nav><a href="#city">City</a></nav>
<button onclick="log(this)">Save</button><button onclick="log(this)">Save as</button>
<div><button onclick="log(this)">Delete</button> Ann</div>
<div><button onclick="log(this)">Delete</button> Ben</div>
<label>City <input id=city></label>
<label>Size <select id=size><option>Small<option>Large</select></label>
<button onclick="setTimeout(() => document.body.insertAdjacentHTML('beforeend',
  '<button onclick=log(this)>Confirm order</button>'))">Order</button>
<script>window.clicked = []; function log(it) { clicked.push(it.textContent) }</script>
"""


@pytest.fixture
async def page(opened: Opener, site: Site) -> int:
    return await opened(f"{site.url}/html?body={quote(BODY)}")


@pytest.mark.usefixtures("page")
@pytest.mark.parametrize("words", ["Save", "save button", "Save*?[(", "the Save button"])
async def test_a_click_by_words_hits_the_one_element_that_is_meant(
    agent: Agent, in_page: Value, words: str
) -> None:
    result = await agent.result("browser_click_element", find=words)
    assert await in_page("clicked") == ["Save"]
    [found] = result["structuredContent"]["effect"]["found"]
    assert (found["role"], found["name"]) == ("button", "Save")
    assert result["content"][0]["text"].startswith(f"Clicked {found['ref']} ")


@pytest.mark.usefixtures("page")
async def test_words_that_mean_several_elements_do_nothing_and_name_them(
    agent: Agent, in_page: Value
) -> None:
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_click_element", find="Delete")
    assert failed.value.reason == "ambiguous"
    candidates = failed.value.error["candidates"]
    assert [one["name"] for one in candidates] == ["Delete", "Delete"]
    assert all(one["ref"] in str(failed.value) for one in candidates)
    assert await in_page("clicked") == []
    await agent.call("browser_click_element", ref=candidates[1]["ref"])
    assert await in_page("clicked") == ["Delete"]


@pytest.mark.usefixtures("page")
@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("   ", "invalid_arguments"),
        ("", "invalid_arguments"),
        ("word " * 10_000, "invalid_arguments"),
        ("*+?^$[](){}|\\", "element_not_found"),
        ("Publish the article now", "element_not_found"),
    ],
)
async def test_words_that_name_nothing_do_nothing(
    agent: Agent, in_page: Value, words: str, reason: str
) -> None:
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_click_element", find=words)
    assert failed.value.reason == reason
    assert len(str(failed.value)) < 1000
    assert await in_page("clicked") == []


@pytest.mark.usefixtures("page")
async def test_one_way_to_name_a_target_is_enough(agent: Agent, in_page: Value) -> None:
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_click_element", find="Save", selector="button")
    assert failed.value.reason == "invalid_arguments"
    assert await in_page("clicked") == []


@pytest.mark.usefixtures("page")
async def test_fields_are_filled_selected_and_pressed_by_words(
    agent: Agent, in_page: Value
) -> None:
    await agent.call("browser_type_text", find="City", text="Prague")
    assert await in_page("city.value") == "Prague"
    await agent.call("browser_select_option", find="Size", label="Large")
    assert await in_page("size.value") == "Large"
    await agent.call("browser_press_key", find="City field", key="End")
    assert await in_page("document.activeElement.id") == "city"
    await agent.call("browser_hover_element", find="Save as")
    await agent.call("browser_scroll", find="Save as")


@pytest.mark.usefixtures("page")
async def test_in_a_batch_words_are_resolved_when_their_turn_comes(
    agent: Agent, in_page: Value
) -> None:
    actions = [
        {"name": "browser_click_element", "input": {"find": "Order"}},
        {"name": "browser_wait_for_element", "input": {"selector": "button:last-of-type"}},
        {"name": "browser_click_element", "input": {"find": "Confirm order"}},
    ]
    await agent.call("browser_batch", actions=actions)
    assert await in_page("clicked") == ["Confirm order"]


async def test_a_drag_takes_words_for_both_ends(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(site.page("drag"))
    ends = {"from": {"find": "Card"}, "to": {"find": "Drop here"}}
    text = await agent.text("browser_drag", **ends)
    assert await in_page("zone.textContent") == "the card"
    assert "Card" in text
    assert "Drop here" in text


async def test_words_reach_into_frames(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    inner = quote("<button onclick=\"parent.document.title = 'hit'\">Inner thing</button>")
    await opened(f"{site.url}/html?body={quote(f'<iframe src=/html?body={inner}></iframe>')}")
    await agent.call("browser_click_element", find="inner thing")
    assert await in_page("document.title") == "hit"


LATE = """
<button onclick="fetch('/slow?seconds=1').then(() => setTimeout(() => document.body
  .insertAdjacentHTML('beforeend', '<button onclick=log(this)>Confirm</button>'), 300))"
>Pay</button>
<p>Confirmation comes later</p>
<script>window.clicked = []; function log(it) { clicked.push(it.textContent) }</script>
"""


async def test_words_wait_for_what_the_page_is_still_drawing(
    agent: Agent, opened: Opener, site: Site, in_page: Value
) -> None:
    await opened(f"{site.url}/html?body={quote(LATE)}")
    actions = [
        {"name": "browser_click_element", "input": {"find": "Pay"}},
        {"name": "browser_click_element", "input": {"find": "Confirm button"}},
    ]
    await agent.call("browser_batch", actions=actions)
    assert await in_page("clicked") == ["Confirm"]


NEXT = "<p>before</p><script>setTimeout(() => { location = '/slow?seconds=0.5'; }, 700)</script>"


async def test_waiting_takes_words_also_of_the_page_that_comes(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(f"{site.url}/html?body={quote(NEXT)}")
    result = await agent.call("browser_wait_for_element", find="at last")
    assert result["element"]["text"] == "at last"


@pytest.mark.usefixtures("page")
async def test_waiting_for_words_that_do_not_come_ends_in_time(agent: Agent) -> None:
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_wait_for_element", find="never there", timeout=300)
    assert failed.value.reason == "timeout" and "never there" in failed.value.message


PEOPLE = """<table><tr><td>Ann<td>3<td><button onclick="log('Ann')">Delete</button>
<tr><td>Bob<td>5<td><button onclick="log('Bob')">Delete</button></table>
<ul><li>Milk <button onclick="log('Milk')">Remove</button>
<li>Bread <button onclick="log('Bread')">Remove</button></ul>
<script>window.clicked = []; function log(it) { clicked.push(it) }</script>"""


@pytest.mark.parametrize(
    ("words", "clicked"),
    [
        ("Delete Bob", "Bob"),
        ("the Delete button in the row of Ann", "Ann"),
        ("Remove bread", "Bread"),
    ],
)
async def test_a_button_is_meant_by_the_words_of_its_row(
    agent: Agent, opened: Opener, site: Site, in_page: Value, words: str, clicked: str
) -> None:
    await opened(f"{site.url}/html?body={quote(PEOPLE)}")
    await agent.call("browser_click_element", find=words)
    assert await in_page("clicked") == [clicked]


async def test_candidates_of_the_same_name_come_with_their_rows(
    agent: Agent, opened: Opener, site: Site, in_page: Value
) -> None:
    await opened(f"{site.url}/html?body={quote(PEOPLE)}")
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_click_element", find="Delete")
    assert failed.value.reason == "ambiguous"
    assert 'button "Delete" in "Ann | 3' in str(failed.value)
    assert await in_page("clicked") == []
