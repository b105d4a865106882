"""Setting fields of every kind in a real page."""

from typing import Any

import pytest

from tests.real.claude_calls import seen_by
from tests.real.conftest import Opener
from tests.real.looking import html, ref
from tests.real.reasons import failure
from tests.support.agent import Agent
from tests.support.browsers.cdp import Cdp
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("CB-10")]

KINDS = """<title>Kinds</title>
<label>Box <input type=checkbox name=box></label>
<label>Drawn <input type=checkbox name=drawn style="display:none"></label>
<div role=switch aria-checked=false tabindex=0 aria-label=Switch
 onclick="this.setAttribute('aria-checked', this.ariaChecked !== 'true')"></div>
<label>Small <input type=radio name=size value=s checked></label>
<label>Large <input type=radio name=size value=l></label>
<label>Number <input type=number name=number value=1></label>
<label>Date <input type=date name=date></label>
<label>Time <input type=time name=time></label>
<label>Colour <input type=color name=colour></label>
<label>Range <input type=range name=range max=10></label>
<label>Pick <select name=pick><option value=1>One</option><option value=2>Two</option></select>
</label>
<div contenteditable aria-label=Words role=textbox>draft</div>
<label>Locked <input readonly value=fixed></label>
<label>Off <input disabled></label>
<label>Off box <input type=checkbox disabled></label>
<h1>Heading</h1><input type=file aria-label=File>
<style>[role=switch] { width: 40px; height: 20px; background: #aaa }</style>
<script>const log = [];
for (const kind of ["input", "change"])
  addEventListener(kind, (e) => log.push(`${kind} ${e.target.name || "words"}`), true);
</script>"""


@pytest.mark.document("CB-tools-5")
@pytest.mark.parametrize(
    ("name", "value", "before", "after", "look"),
    [
        ("Box", True, "false", "true", "document.querySelector('[name=box]').checked"),
        ("Drawn", True, "false", "true", "document.querySelector('[name=drawn]').checked"),
        ("Switch", True, "false", "true", "document.querySelector('[role=switch]').ariaChecked"),
        ("Large", True, "false", "true", "document.querySelector('[value=l]').checked"),
        ("Number", 42.5, "1", "42.5", "document.querySelector('[name=number]').value"),
        ("Date", "2026-02-28", "", "2026-02-28", "document.querySelector('[name=date]').value"),
        ("Time", "12:30", "", "12:30", "document.querySelector('[name=time]').value"),
        (
            "Colour",
            "#ff8800",
            "#000000",
            "#ff8800",
            "document.querySelector('[name=colour]').value",
        ),
        ("Range", 7, "5", "7", "document.querySelector('[name=range]').value"),
        ("Pick", "2", "1", "2", "document.querySelector('[name=pick]').value"),
        ("Pick", "Two", "1", "2", "document.querySelector('[name=pick]').value"),
        ("Words", "new", "draft", "new", "document.querySelector('[contenteditable]').innerText"),
    ],
)
async def test_a_field_of_any_kind_gets_its_value_and_the_result_has_both_values(
    agent: Agent,
    opened: Opener,
    cdp: Cdp,
    site: Site,
    name: str,
    value: Any,
    before: str,
    after: str,
    look: str,
) -> None:
    url = html(site, KINDS)
    await opened(url)
    field = ref(await agent.text("read_page"), name)
    result = await agent.call("form_input", ref=field, value=value)
    assert (result["before"], result["effect"]["value"]) == (before, after)
    seen = await seen_by(cdp, url)(look)
    assert seen == (after == "true" if isinstance(seen, bool) else after)


async def test_a_box_that_already_has_the_value_is_left_alone(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    url = html(site, KINDS)
    await opened(url)
    box = ref(await agent.text("read_page"), "Box")
    for value in (False, True, True):
        result = await agent.call("form_input", ref=box, value=value)
        assert result["effect"]["value"] == str(value).lower()
    assert await seen_by(cdp, url)("log") == ["input box", "change box"]


@pytest.mark.parametrize(
    ("name", "value", "reason", "named"),
    [
        ("Locked", "x", "readonly", "read-only"),
        ("Off", "x", "disabled", "disabled"),
        ("Off box", True, "disabled", "disabled"),
        ("Box", "maybe", "invalid_arguments", "true or false"),
        ("Small", False, "invalid_arguments", "another"),
        ("Number", True, "invalid_arguments", "text or a number"),
        ("Pick", "Three", "invalid_arguments", '"One", "Two"'),
        ("Date", "tomorrow", "invalid_arguments", "date"),
        ("Heading", "x", "invalid_arguments", "<h1>"),
        ("File", "x", "invalid_arguments", "uploaded"),
    ],
)
async def test_a_value_that_a_field_rejects_is_refused_and_nothing_changes(
    agent: Agent,
    opened: Opener,
    cdp: Cdp,
    site: Site,
    name: str,
    value: Any,
    reason: str,
    named: str,
) -> None:
    url = html(site, KINDS)
    await opened(url)
    page = await agent.text("browser_read_page")
    found = await agent.call("browser_query_elements", selector="h1")
    field = found["elements"][0]["ref"] if name == "Heading" else ref(page, name)
    failed = await failure(agent, "form_input", ref=field, value=value)
    assert failed.reason == reason and named in failed.message
    assert await seen_by(cdp, url)("log") == []
    assert (await failure(agent, "form_input", ref="ref_99999", value="x")).reason == "stale_ref"


@pytest.mark.parametrize(
    ("kind", "value", "wrong", "form"),
    [
        ("date", "2026-02-28", "2026-02-30", "YYYY-MM-DD"),
        ("date", "2026-02-28", "12/31/2026", "YYYY-MM-DD"),
        ("time", "12:30", "24:30", "HH:MM"),
        ("month", "2026-02", "2026-13", "YYYY-MM"),
        ("color", "#ff8800", "orange", "#rrggbb"),
        ("number", "3", "three", "a number"),
        ("number", "3", "1,5", "a number"),
    ],
)
async def test_what_a_field_cannot_hold_is_refused_with_its_form_and_loses_nothing(
    agent: Agent, opened: Opener, site: Site, kind: str, value: str, wrong: str, form: str
) -> None:
    await opened(html(site, f"<input id=i type={kind} value='{value}'>"))
    error = await failure(agent, "browser_type_text", selector="#i", text=wrong)
    assert (error.reason, form in str(error)) == ("invalid_arguments", True)
    code = "return document.querySelector('#i').value"
    assert (await agent.call("browser_execute_script", code=code))["value"] == value
