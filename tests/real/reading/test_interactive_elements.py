"""Everything a person could act on is listed with a ref and its state, and takes a click."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.real.conftest import Opener
from tests.real.looking import page_lines
from tests.support.agent import Agent
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("TH-20")]
Value = Callable[..., Awaitable[Any]]
STATES = {
    "disabled button": "disabled",
    "expanded button": "expanded",
    "pressed button": "pressed",
    "text field": 'value="text value"',
    "mail field": 'type="email" required',
    "password field": 'type="password" value="••••••"',
    "number field": 'type="number" value="7"',
    "range field": 'type="range" value="30"',
    "readonly field": 'value="fixed" readonly',
    "long field": 'value="long value" multiline',
    "checked box": "checked",
    "styled box": "",
    "radio one": "",
    "radio two": "checked",
    "one of many": 'value="second"',
    "some of many": 'value="third"',
    "checkbox by role": "checked",
    "switch by role": "",
    "slider by role": 'value="4"',
    "spinbutton by role": 'value="5"',
    "combobox by role": "collapsed",
    "tab one": "selected",
    "tab two": "",
    "menu check": "checked",
    "option by role": "selected",
    "tree item": "collapsed",
    "rich text": 'value="rich value"',
    "closed summary": "collapsed",
    "open summary": "expanded",
    "button in fieldset": "disabled",
    "field in far frame": 'value="far value"',
}
OTHERS = """plain button, labelled button, titled button, submit input, image input, plain link,
image link, link without address, search field, date field, colour field, file field,
field by placeholder, button by role, textbox by role, menu item, menu radio, listbox by role,
grid cell, plain text, button in details, clickable span, span with handler, focusable block,
a clickable word, clickable row | of two cells, svg link, svg circle, svg rect, map area,
video player, audio player, open dialog, button in dialog, button in open shadow,
field in open shadow, button in closed shadow, field in closed shadow, slotted button,
button beside slot, near frame, button in frame, link in frame, far frame, button in far frame,
button below the fold, button in scroller"""
WITH_REF = re.compile(r' *\S+ "([^"]*)" \[ref_\d+\] ?(.*)')
ROW = re.compile(r" *row \[ref_\d+\]: (.*)")


@pytest.fixture
async def zoo(agent: Agent, opened: Opener, site: Site) -> dict[str, str]:
    """The elements listed with a ref, and the rest of their lines."""
    await opened(site.page("zoo"))
    lines = page_lines(await agent.text("browser_read_page")).splitlines()
    found = (WITH_REF.fullmatch(line) for line in lines)
    rows = (ROW.fullmatch(line) for line in lines)
    return {line[1]: line[2] for line in found if line} | {row[1]: "" for row in rows if row}


async def test_every_interactive_element_has_a_ref(zoo: dict[str, str]) -> None:
    expected = {*STATES, *re.split(r",\s+", OTHERS)}
    assert expected - zoo.keys() == set()
    assert zoo.keys() - expected == set()


async def test_values_and_states_are_listed(zoo: dict[str, str]) -> None:
    assert {name: zoo[name] for name in STATES} == STATES


async def test_an_area_of_an_image_map_is_clicked_at_its_position(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(site.page("zoo"))
    await in_page("addEventListener('click', (e) => { e.preventDefault(); seen = e.target.alt })")
    await agent.call("browser_click_element", selector="area")
    assert await in_page("seen") == "map area"


@pytest.mark.parametrize("mode", ["open", "closed"])
async def test_elements_in_a_shadow_root_are_filled_and_clicked(
    agent: Agent, opened: Opener, site: Site, mode: str
) -> None:
    await opened(site.page("zoo"))
    for tool, kind, more in (
        ("browser_type_text", "field", {"text": "deep"}),
        ("browser_click_element", "button", {}),
    ):
        found = await agent.call("browser_find", query=f"{kind} in {mode} shadow")
        result = await agent.call(tool, ref=found["matches"][0]["ref"], **more)
        assert result["trusted"]
    assert 'value="deep"' in await agent.text("browser_read_page")
