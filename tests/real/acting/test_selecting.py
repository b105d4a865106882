"""Choosing options in real selects."""

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

import pytest

from tests.real.conftest import Opener
from tests.support.agent import Agent, ToolFailed
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("TH-21")]
Value = Callable[..., Awaitable[Any]]
CHOSEN = "[...document.querySelector('{}').selectedOptions].map((option) => option.value)"


@pytest.mark.parametrize(
    ("arguments", "chosen"),
    [
        ({"selector": "#one", "value": "b"}, ["b"]),
        ({"selector": "#one", "label": " Banana "}, ["b"]),
        ({"selector": "#one", "value": ["b"]}, ["b"]),
        ({"selector": "#many", "value": ["1", "3"]}, ["1", "3"]),
        ({"selector": "#many", "label": "Two"}, ["2"]),
    ],
)
async def test_options_are_chosen_by_value_or_label_with_input_before_change(
    agent: Agent, opened: Opener, in_page: Value, site: Site, arguments: Any, chosen: list[str]
) -> None:
    await opened(site.page("acting"))
    result = await agent.call("browser_select_option", **arguments)
    selector = arguments["selector"]
    assert await in_page(CHOSEN.format(selector)) == chosen
    assert result["effect"] == {"mutated": True, "value": ", ".join(chosen)}
    events = [line.split()[0] for line in await in_page("of('input', 'change')")]
    assert events == ["input", "change"]


async def test_several_options_replace_the_earlier_selection(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(site.page("acting"))
    await agent.call("browser_select_option", selector="#many", value=["1", "2"])
    await agent.call("browser_select_option", selector="#many", value=["2", "3"])
    assert await in_page(CHOSEN.format("#many")) == ["2", "3"]
    await agent.call("browser_select_option", selector="#many", value=[])
    assert await in_page(CHOSEN.format("#many")) == []


async def test_choosing_the_selected_option_fires_no_event(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(site.page("acting"))
    result = await agent.call("browser_select_option", selector="#one", value="a")
    assert result["effect"] == {"mutated": False, "value": "a"}
    assert await in_page("of('input', 'change')") == []


async def test_a_select_controlled_by_a_framework_keeps_the_choice(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    """As React does it: after each event the script sets the field to its state."""
    page = """<select id=s><option value=a>A<option value=b>B</select><script>
    let state = 'a';
    const plain = Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, 'value');
    Object.defineProperty(s, 'value', { get: () => plain.get.call(s), set(v) { state = v } });
    s.addEventListener('change', (e) => { state = plain.get.call(s); plain.set.call(s, state) });
    s.addEventListener('click', () => plain.set.call(s, state));
    </script>"""
    await opened(f"{site.url}/html?body={quote(page)}")
    await agent.call("browser_select_option", selector="#s", label="B")
    await in_page("s.click()")
    assert await in_page("[state, s.value]") == ["b", "b"]


@pytest.mark.parametrize(
    ("arguments", "reason", "words"),
    [
        ({"selector": "#one", "value": "z"}, "invalid_arguments", '"Apple", "Banana"'),
        ({"selector": "#one", "label": "b"}, "invalid_arguments", '"Apple", "Banana"'),
        ({"selector": "#one", "value": "c"}, "disabled", "Cherry"),
        ({"selector": "#offselect", "value": "x"}, "disabled", "disabled"),
        ({"selector": "#one", "value": ["a", "b"]}, "invalid_arguments", "Only one"),
        ({"selector": "#words", "value": "a"}, "invalid_arguments", "not a select"),
        ({"selector": "#one"}, "invalid_arguments", "value or label"),
        ({"selector": "#one", "value": "a", "label": "Apple"}, "invalid_arguments", "value or"),
        ({"value": "a"}, "invalid_arguments", "ref, selector, find"),
        ({"selector": "#nothing", "value": "a"}, "element_not_found", "#nothing"),
    ],
)
async def test_an_impossible_choice_is_refused_and_nothing_changes(
    agent: Agent,
    opened: Opener,
    in_page: Value,
    site: Site,
    arguments: Any,
    reason: str,
    words: str,
) -> None:
    await opened(site.page("acting"))
    with pytest.raises(ToolFailed, match=words) as failed:
        await agent.call("browser_select_option", **arguments)
    assert failed.value.reason == reason
    assert await in_page("of('input', 'change')") == []
    assert await in_page(CHOSEN.format("#one")) == ["a"]


async def test_the_month_of_a_card_is_not_reported(
    agent: Agent, opened: Opener, site: Site
) -> None:
    page = "<select autocomplete=cc-exp-month><option>01<option>07</select>"
    await opened(f"{site.url}/html?body={quote(page)}")
    result = await agent.result("browser_select_option", selector="select", value="07")
    assert "07" not in str(result["structuredContent"]["effect"])
