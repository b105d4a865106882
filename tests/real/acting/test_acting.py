"""Clicking and filling in real pages: actions take effect, and impossible ones are refused."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.real.conftest import Opener
from tests.real.looking import ref
from tests.support.agent import Agent, ToolFailed
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("TH-21")]
Value = Callable[..., Awaitable[Any]]


async def test_a_form_of_ten_fields_is_filled_and_sent(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(site.page("form"))
    page = await agent.text("browser_read_page")
    values = {
        "Full name": "Ada Lovelace",
        "Email": "ada@example.com",
        "Password": "s3cret",
        "Age": "36",
        "Birthday": "1815-12-10",
        "Colour": "#ff8800",
        "Country": "France",
        "About you": "First line\nsecond line",
        "Biography": "Wrote the first program",
    }
    for name, text in values.items():
        result = await agent.call("browser_type_text", ref=ref(page, name), text=text)
        assert result["effect"]["mutated"] or "value" in result["effect"]
    await agent.call("browser_click_element", ref=ref(page, "I agree"))
    result = await agent.call("browser_click_element", ref=ref(page, "Send"))
    assert result["trusted"] is True
    assert result["effect"]["mutated"] is True
    sent = await in_page("window.sent")
    assert sent == {
        "full": "Ada Lovelace",
        "state": "Ada Lovelace",
        "mail": "ada@example.com",
        "pass": "s3cret",
        "age": "36",
        "born": "1815-12-10",
        "colour": "#ff8800",
        "country": "fr",
        "about": "First line\nsecond line",
        "terms": "on",
        "locked": "fixed",
        "bio": "Wrote the first program",
    }


async def test_typing_is_trusted_and_can_append_to_the_value(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(site.page("form"))
    result = await agent.call(
        "browser_type_text", selector="[name=about]", text=" and new", clear=False
    )
    assert (result["effect"]["value"], result["trusted"]) == ("old text and new", True)
    assert "input:about:true" in await in_page("log")
    emptied = await agent.call("browser_type_text", selector="[name=about]", text="")
    assert emptied["effect"]["value"] == ""


@pytest.mark.parametrize(
    ("tool", "selector", "reason"),
    [
        ("browser_type_text", "[name=locked]", "readonly"),
        ("browser_type_text", "[name=off]", "disabled"),
        ("browser_type_text", "[name=terms]", "invalid_arguments"),
        ("browser_type_text", "h1", "invalid_arguments"),
        ("browser_click_element", "[name=off]", "disabled"),
        ("browser_click_element", "#nothing-like-it", "element_not_found"),
        ("browser_click_element", "[[", "invalid_arguments"),
    ],
)
async def test_an_impossible_action_is_refused_with_a_reason_and_has_no_effect(
    agent: Agent, opened: Opener, in_page: Value, site: Site, tool: str, selector: str, reason: str
) -> None:
    await opened(site.page("form"))
    text = {"text": "new"} if tool == "browser_type_text" else {}
    with pytest.raises(ToolFailed) as failed:
        await agent.call(tool, selector=selector, **text)
    assert failed.value.reason == reason
    assert await in_page("log") == []


async def test_an_option_that_does_not_exist_is_refused_and_the_options_are_named(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(site.page("form"))
    with pytest.raises(ToolFailed, match="Austria") as failed:
        await agent.call("browser_type_text", selector="[name=country]", text="Atlantis")
    assert failed.value.reason == "invalid_arguments"


@pytest.mark.parametrize(
    ("selector", "reason"),
    [
        ("#under", "covered_by"),
        ("#off", "disabled"),
        ("#hidden", "not_visible"),
        ("#zero", "not_visible"),
    ],
)
async def test_a_click_that_would_not_reach_its_element_is_refused(
    agent: Agent, opened: Opener, in_page: Value, site: Site, selector: str, reason: str
) -> None:
    await opened(site.page("targets"))
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_click_element", selector=selector)
    assert failed.value.reason == reason
    assert await in_page("document.querySelector('#log').textContent") == ""


async def test_clicks_are_trusted_reach_their_element_and_work_below_the_fold(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(site.page("targets"))
    for id in ("plain", "far", "pointer", "plain"):
        await agent.call("browser_click_element", selector=f"#{id}")
    log = await in_page("document.querySelector('#log').textContent")
    assert log == " plain:true far:true pointer:true plain:true"


async def test_a_click_on_a_link_waits_for_the_new_page(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(site.page("targets"))
    result = await agent.call("browser_click_element", selector="#link")
    assert result["effect"]["navigated"] == site.page("form")
    assert 'button "Send"' in await agent.text("browser_read_page")


async def test_a_ref_to_a_removed_element_is_stale(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(site.page("targets"))
    plain = ref(await agent.text("browser_read_page"), "Plain")
    await in_page("document.querySelector('#plain').remove()")
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_click_element", ref=plain)
    assert failed.value.reason in ("stale_ref", "detached")
    await agent.call("browser_navigate_tab", url="reload")
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_click_element", ref=plain)
    assert failed.value.reason == "stale_ref"


@pytest.mark.parametrize("name", ["near", "far", "deep", "shadowed"])
async def test_buttons_and_fields_in_frames_are_reached_by_ref(
    agent: Agent, opened: Opener, site: Site, name: str
) -> None:
    await opened(site.page("frames"))
    page = await agent.text("browser_read_page")
    await agent.call("browser_click_element", ref=ref(page, f"Press {name}"))
    await agent.call("browser_type_text", ref=ref(page, f"field {name}"), text=f"into {name}")
    after = await agent.text("browser_read_page")
    assert f"{name} was pressed true" in after
    assert f'value="into {name}"' in after


async def test_elements_in_shadow_roots_are_reached_by_ref_and_by_selector(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(site.page("shadow"))
    page = await agent.text("browser_read_page")
    await agent.call("browser_click_element", ref=ref(page, "Nested button"))
    await agent.call("browser_click_element", ref=ref(page, "Closed button"))
    await agent.call("browser_type_text", selector="[aria-label='open field']", text="deep")
    assert "nested true" in await agent.text("browser_read_page")
    assert await in_page("document.title") == "closed true"


async def test_a_click_that_opens_a_dialog_reports_it_and_does_not_hang(
    agent: Agent, opened: Opener, site: Site
) -> None:
    tab = await opened(site.page("targets"))
    result = await agent.call("browser_click_element", selector="#asks")
    assert result["effect"]["dialog"]["message"] == "Really?"
    assert result["effect"]["dialog"]["type"] == "confirm"
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_click_element", selector="#plain")
    assert failed.value.reason == "dialog_open"
    assert await agent.call("browser_close_tab", tabId=tab) == {"closed": tab}


async def test_ref_and_selector_exclude_each_other(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(site.page("targets"))
    for arguments in ({}, {"ref": "ref_1", "selector": "#plain"}):
        with pytest.raises(ToolFailed) as failed:
            await agent.call("browser_click_element", **arguments)
        assert failed.value.reason == "invalid_arguments"


@pytest.mark.requirement("TH-22")
async def test_two_tabs_in_the_background_are_typed_into_without_moving_focus(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    tabs = [await opened(site.page("form")) for _ in range(2)]
    for tab in tabs:
        await agent.call(
            "browser_type_text", selector="[name=mail]", text=f"{tab}@x.org", tabId=tab
        )
    active = [t["tabId"] for t in (await agent.call("browser_list_tabs"))["tabs"] if t["active"]]
    assert not {*active} & {*tabs}
    for tab in tabs:
        assert (
            await in_page("document.querySelector('[name=mail]').value", tabId=tab)
            == f"{tab}@x.org"
        )
