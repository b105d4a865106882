"""Keys that do not come where they were meant are said so, and pages that look at keys get them."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.real.conftest import Opener
from tests.real.looking import html
from tests.real.reasons import failure
from tests.support.agent import Agent
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("TH-21")]
Value = Callable[..., Awaitable[Any]]
FRUITS = ["apple", "apricot", "banana", "cherry"]
LIST = "".join(f"<li>{fruit}</li>" for fruit in FRUITS)
FILTER = """const filter = () => { for (const item of document.querySelectorAll('li'))
  item.hidden = !item.textContent.includes(search.value) };"""
VISIBLE = "[...document.querySelectorAll('li:not([hidden])')].map((li) => li.innerText)"
LISTENING = {
    "keyup": "search.addEventListener('keyup', filter)",
    "keydown": "search.addEventListener('keydown', () => setTimeout(filter))",
    "input": "search.addEventListener('input', filter)",
    "keyup with jQuery": "$(search).on('keyup', ({ which }) => which && filter())",
}


@pytest.mark.npm
@pytest.mark.parametrize("on", LISTENING)
async def test_a_field_that_filters_a_list_by_keys_filters_it(
    agent: Agent, opened: Opener, in_page: Value, site: Site, on: str
) -> None:
    jquery = f"<script src={site.url}/npm/jquery/dist/jquery.min.js></script>"
    body = f"{jquery}<input id=search><ul>{LIST}</ul><script>{FILTER}{LISTENING[on]}</script>"
    await opened(html(site, body))
    for text, left in (("ap", FRUITS[:2]), ("cherry", FRUITS[3:]), ("", FRUITS)):
        result = await agent.call("browser_type_text", selector="#search", text=text)
        assert result["effect"]["value"] == text
        assert await in_page(VISIBLE) == left


async def test_an_empty_field_that_stays_empty_gets_no_key(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    """Fields with tags delete the last one when they get Backspace."""
    script = "log = []; f.onkeydown = (e) => log.push(e.key); f.onkeyup = f.onkeydown"
    await opened(html(site, f"<textarea id=f></textarea><script>{script}</script>"))
    await agent.call("browser_type_text", selector="#f", text="")
    assert await in_page("log") == []
    await agent.call("browser_type_text", selector="#f", text="one\n")
    await agent.call("browser_type_text", selector="#f", text="")
    assert await in_page("log") == ["e", "e", "Backspace", "Backspace"]


async def test_keys_on_what_is_no_field_say_where_the_focus_was(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(html(site, "<button id=save>Save</button><input id=name>"))
    text = await agent.text("browser_press_key", selector="#save", key="a b")
    said = re.search(
        r"The page shows no change so far\. The focus was on (.*), which is no field\.", text
    )
    assert said and '<button>#save "Save" [ref_' in said[1]


async def test_keys_without_any_focus_say_so(agent: Agent, opened: Opener, site: Site) -> None:
    await opened(html(site, "<p>Nothing here</p>"))
    text = await agent.text("browser_press_key", key="a")
    assert text == "Pressed a. The page shows no change so far. Nothing on the page had the focus."


async def test_a_shortcut_that_does_something_is_only_reported_with_its_effect(
    agent: Agent, opened: Opener, site: Site
) -> None:
    script = "onkeydown = (e) => { if (e.key === 'n') main.innerHTML = '<b>New</b>' }"
    await opened(html(site, f"<main id=main>Inbox</main><script>{script}</script>"))
    text = await agent.text("browser_press_key", key="n")
    assert "New" in text
    assert "focus" not in text


async def test_a_key_that_a_page_sends_elsewhere_is_an_error_that_says_where(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    later = "f.addEventListener('focus', () => Promise.resolve().then(() => b.focus()))"
    await opened(html(site, f"<input id=f><button id=b>Save</button><script>{later}</script>"))
    failed = await failure(agent, "browser_press_key", selector="#f", key="a")
    assert "did not get the key where it was meant: the focus was on" in failed.message
    assert '<button>#b "Save" [ref_' in failed.message
    assert await in_page("f.value") == ""


async def test_keys_that_a_page_prevents_are_counted(
    agent: Agent, opened: Opener, site: Site
) -> None:
    script = "f.onkeydown = (e) => { if (/[a-z]/.test(e.key)) e.preventDefault() }"
    await opened(html(site, f"<input id=f value=12><script>{script}</script>"))
    text = await agent.text("browser_press_key", selector="#f", key="a b")
    assert text.endswith("The page kept 2 keys from writing.")
    text = await agent.text("browser_press_key", selector="#f", key="a 3")
    assert "kept" not in text


async def test_a_frame_that_has_the_focus_is_named(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    inner = f"{site.other}/html?body=<input autofocus id=i><script>i.focus()</script>"
    await opened(html(site, f'<p>Outer</p><iframe id=ads src="{inner}"></iframe>'))
    await agent.call("browser_click_element", selector="p")
    await in_page("ads.focus()")
    failed = await failure(agent, "browser_press_key", key="a")
    assert failed.reason == "covered_by"
    assert "<iframe>#ads" in failed.message
