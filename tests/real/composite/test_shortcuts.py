"""Shortcuts recorded on real pages and run again, checked by the log of the pages."""

from typing import Any

import pytest

from tests.real.conftest import Opener
from tests.real.looking import html, ref
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.cdp import Cdp
from tests.support.eventually import eventually
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("CB-10")]
Json = dict[str, Any]


async def record(agent: Agent, command: str, *calls: tuple[str, Json]) -> Json:
    """Record these calls and return the result of the recording."""
    await agent.call("shortcuts_record", action="start", command=command)
    for tool, arguments in calls:
        await agent.call(tool, **arguments)
    return await agent.call("shortcuts_record", action="stop")


async def ended(agent: Agent, command: str, **more: Any) -> Json:
    """Wait until a run ends and return its outcome."""
    run = await agent.call("shortcuts_execute", command=command, **more)

    async def last() -> Json:
        listed = (await agent.call("shortcuts_list"))["shortcuts"]
        found: Json = next(
            shortcut["lastRun"] for shortcut in listed if shortcut["command"] == command
        )
        assert found["runId"] == run["runId"]
        return found

    return await eventually(last, until=lambda found: found["state"] != "running")


async def delete(agent: Agent, command: str) -> None:
    await agent.call("shortcuts_delete", command=command)


@pytest.mark.document("CB-tools-17", "CB-tools-18")
async def test_a_form_is_recorded_by_its_refs_and_filled_again_after_a_reload(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    address = site.page("form") + "?recorded"
    tab = await opened(address)
    page = await agent.text("browser_read_page")
    recording = await record(
        agent,
        "register",
        ("browser_read_page", {}),
        ("browser_type_text", {"ref": ref(page, "Full name"), "text": "Ada"}),
        ("browser_type_text", {"ref": ref(page, "Password"), "text": "s3cret!"}),
        ("browser_select_option", {"selector": "select", "value": "fr"}),
        ("browser_click_element", {"ref": ref(page, "I agree")}),
        ("browser_click_element", {"ref": ref(page, "Send")}),
    )
    assert (recording["steps"], recording["isWorkflow"], recording["leftOut"]) == (5, True, [])
    assert recording["parameters"] == ["password"]
    await agent.call("browser_navigate_tab", url="reload", tabId=tab)
    target = await cdp.page(address)
    assert await cdp.evaluate(target, "window.sent") is None
    last = await ended(agent, "register", parameters={"password": "other"}, tabId=tab)
    assert (last["state"], last["completed"]) == ("done", 5)
    sent = await cdp.evaluate(target, "window.sent")
    assert (sent["full"], sent["state"], sent["pass"], sent["country"], sent["terms"]) == (
        *("Ada", "Ada", "other", "fr", "on"),
    )
    assert {"input:full:true", "click:terms:true"} <= {*await cdp.evaluate(target, "log")}
    listed = await agent.result("shortcuts_list")
    assert "s3cret!" not in str(listed) and "other" not in str(listed)
    with pytest.raises(ToolFailed, match=r"needs the parameters .* password ") as missing:
        await agent.call("shortcuts_execute", command="register", tabId=tab)
    assert missing.value.reason == "invalid_arguments"
    for arguments, reason in (({}, "invalid_arguments"), ({"shortcutId": "sc_none"}, "not_found")):
        with pytest.raises(ToolFailed) as wrong:
            await agent.call("shortcuts_execute", tabId=tab, **arguments)
        assert wrong.value.reason == reason
    await delete(agent, "register")


async def test_an_element_is_found_by_its_name_after_the_page_was_rebuilt(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    address = html(site, "<div><button onclick='document.title += 1'>Save</button></div>")
    tab = await opened(address)
    save = ref(await agent.text("browser_read_page"), "Save")
    await record(agent, "save", ("browser_click_element", {"ref": save}))
    target = await cdp.page(address)
    rebuilt = "<p><button>Delete</button><i><button onclick='document.title = 2'>Save</button></i>"
    await cdp.evaluate(target, f"document.body.innerHTML = {rebuilt!r}")
    assert (await ended(agent, "save", tabId=tab))["state"] == "done"
    assert await cdp.evaluate(target, "document.title") == "2"
    await delete(agent, "save")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("<div><button>Delete</button></div>", "There is no [page "),
        ("<p><button>Save</button><p><button>Save</button>", "more than one [page "),
    ],
)
async def test_a_run_stops_at_a_missing_element_and_says_so(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site, body: str, message: str
) -> None:
    counting = "<script>onclick = (e) => document.title += e.target.localName[0]</script>"
    address = html(site, f"{counting}<h1>Page</h1><div><button>Save</button></div>")
    tab = await opened(address)
    page = await agent.text("browser_read_page")
    steps = [
        ("browser_click_element", {"selector": "h1"}),
        ("browser_click_element", {"ref": ref(page, "Save")}),
        ("browser_click_element", {"selector": "h1"}),
    ]
    await record(agent, "broken", *steps)
    target = await cdp.page(address)
    await cdp.evaluate(target, f"document.title = ''; document.body.innerHTML = '<h1>P</h1>{body}'")
    last = await ended(agent, "broken", tabId=tab)
    assert (last["state"], last["completed"], last["reason"]) == (
        *("failed", 1, "element_not_found"),
    )
    assert message in last["error"]
    assert await cdp.evaluate(target, "document.title") == "h"
    await delete(agent, "broken")


async def test_elements_in_frames_and_opened_tabs_are_recorded_too(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    first, second = site.page("targets") + "?one", site.page("frames") + "?two"
    tab = await opened(first)
    await agent.call("shortcuts_record", action="start", command="two-tabs")
    await agent.call("browser_click_element", selector="#plain")
    other = (await agent.call("browser_open_tab", url=second))["tabId"]
    inside = ref(await agent.text("browser_read_page"), "Press near")
    await agent.call("browser_click_element", ref=inside)
    await agent.call("browser_click_element", selector="#far", tabId=tab)
    recording = await agent.call("shortcuts_record", action="stop")
    assert (recording["steps"], recording["leftOut"]) == (4, [])
    await agent.call("browser_close_tab", tabId=other)
    assert (await ended(agent, "two-tabs", tabId=tab))["state"] == "done"
    log = await cdp.evaluate(await cdp.page(first), "document.querySelector('#log').textContent")
    assert log == " plain:true far:true" * 2
    tabs = (await agent.call("browser_list_tabs"))["tabs"]
    again = next(tab["tabId"] for tab in tabs if tab["url"] == second)
    assert "near was pressed true" in await agent.text("browser_read_page", tabId=again)
    await agent.call("browser_close_tab", tabId=again)
    await delete(agent, "two-tabs")


async def test_calls_that_cannot_be_repeated_are_left_out_and_listed(
    agent: Agent, opened: Opener, site: Site
) -> None:
    tab = await opened(site.page("targets"))
    await opened(site.page("form"))
    recording = await record(
        agent,
        "holes",
        ("browser_click_element", {"selector": "#mail"}),
        ("browser_click_element", {"selector": "#plain", "tabId": tab}),
        ("browser_remove_tabs_from_group", {"tabIds": [tab]}),
    )
    assert recording["steps"] == 1
    assert [left.partition(":")[0] for left in recording["leftOut"]] == [
        *("browser_click_element", "browser_remove_tabs_from_group"),
    ]
    await delete(agent, "holes")


async def test_points_are_recorded_and_refused_in_a_viewport_of_another_size(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    address = site.page("points") + "?kept"
    tab = await opened(address)
    await agent.call("computer", action="screenshot")
    clicks = {"action": "left_click", "coordinate": [70, 40]}
    await record(agent, "points", ("computer", clicks))
    again = await opened(address + "&again")
    target = await cdp.page(address + "&again")
    assert (await ended(agent, "points", tabId=again))["state"] == "done"
    assert await cdp.evaluate(target, "log") == ["click one 1 true"]
    window = (await agent.call("browser_create_window", width=500, height=500))["tabId"]
    small = address + "&small"
    await agent.call("browser_navigate_tab", url=small, tabId=window)
    last = await ended(agent, "points", tabId=window)
    assert (last["state"], last["reason"]) == ("failed", "not_visible")
    assert "viewport" in last["error"]
    assert await cdp.evaluate(await cdp.page(small), "log") == []
    await agent.call("browser_close_tab", tabId=window)
    await delete(agent, "points")
    assert tab != again


async def test_a_field_is_found_whatever_its_value(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    address = html(site, "<form><div contenteditable>draft</div><textarea>a</textarea></form>")
    tab = await opened(address)
    page = await agent.call("browser_query_elements", selector="[contenteditable], textarea")
    refs = [element["ref"] for element in page["elements"]]
    calls = [("browser_type_text", {"ref": each, "text": "typed"}) for each in refs]
    assert (await record(agent, "fields", *calls))["steps"] == 2
    target = await cdp.page(address)
    change = "for (const el of document.forms[0].children) el.textContent = el.value = 'other'"
    await cdp.evaluate(target, change)
    assert (await ended(agent, "fields", tabId=tab))["state"] == "done"
    held = "[...document.forms[0].children].map((el) => el.value ?? el.textContent)"
    assert (await cdp.evaluate(target, held))[1] == "typed"
    await delete(agent, "fields")


async def test_a_drag_between_refs_and_to_a_point_is_repeated(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    await opened(site.page("drag"))
    found = await agent.call("browser_query_elements", selector="#card, #zone, #knob")
    card, zone, knob = ({"ref": element["ref"]} for element in found["elements"])
    recording = await record(
        agent,
        "drags",
        ("browser_drag", {"from": card, "to": zone}),
        ("browser_drag", {"from": knob, "to": {"x": 500, "y": 35}}),
    )
    assert (recording["steps"], recording["leftOut"]) == (2, [])
    address = site.page("drag") + "?again"
    again = await opened(address)
    last = await ended(agent, "drags", tabId=again)
    assert last["state"] == "done", last
    log = await cdp.evaluate(await cdp.page(address), "log")
    assert log == ["dragstart true", "drop true", "dragend copy", "pointerup true 500"]
    await delete(agent, "drags")
