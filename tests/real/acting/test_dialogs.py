"""Dialogs of real pages: the call that opens one reports it, a client answers it, no call hangs."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.real.conftest import Opener
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.unpacked import browser_with, impatient, unrecorded
from tests.support.product import Product
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("TH-22")]
Value = Callable[..., Awaitable[Any]]
PAGE = """<title>Dialogs</title><p id=out></p>
<button id=alert onclick="alert('Look'); out.textContent = 'seen'">1</button>
<button id=confirm onclick="out.textContent = confirm('Sure?')">2</button>
<button id=prompt onclick="out.textContent = '=' + prompt('Name?', 'Bob')">3</button>
<button id=two onclick="alert('one'); alert('two'); out.textContent = 'both'">4</button>
<button id=go onclick="if (confirm('Go?')) location = '/form.html'">5</button>
<button id=ask onclick="if (confirm('Ask?')) ask()">6</button>
<button id=stay onclick="onbeforeunload = (event) => event.preventDefault()">7</button>
<a id=link href=/form.html>8</a>
<script>const ask = () => fetch('/slow?seconds=0.2').then((answer) => answer.text())
  .then(() => { out.textContent = 'answered' });</script>"""


@pytest.fixture
async def page(opened: Opener, site: Site) -> int:
    return await opened(f"{site.url}/html?body={quote(PAGE)}")


async def meet(agent: Agent, id: str) -> Any:
    """Click a button and return the dialog that it opens."""
    return (await agent.call("browser_click_element", selector=f"#{id}"))["effect"]["dialog"]


@pytest.mark.parametrize(
    ("id", "answer", "text"),
    [
        ("alert", {"action": "accept"}, "seen"),
        ("alert", {"action": "dismiss"}, "seen"),
        ("confirm", {"action": "accept"}, "true"),
        ("confirm", {"action": "dismiss"}, "false"),
        ("prompt", {"action": "accept", "promptText": "Ada"}, "=Ada"),
        ("prompt", {"action": "accept", "promptText": ""}, "="),
        ("prompt", {"action": "accept"}, "=Bob"),
        ("prompt", {"action": "dismiss", "promptText": "Ada"}, "=null"),
        ("ask", {"action": "accept"}, "answered"),
    ],
)
async def test_a_dialog_is_answered_and_its_effect_is_reported(
    agent: Agent, page: int, in_page: Value, id: str, answer: Any, text: str
) -> None:
    dialog = await meet(agent, id)
    assert dialog["type"] == ("confirm" if id == "ask" else id)
    result = await agent.call("browser_handle_dialog", **answer)
    assert result["answered"] == dialog
    assert result["effect"] == {"mutated": True}
    assert await in_page("out.textContent") == text


async def test_a_prompt_reports_its_default_value(agent: Agent, page: int) -> None:
    dialog = await meet(agent, "prompt")
    assert dialog == {"type": "prompt", "message": "Name?", "defaultPrompt": "Bob"}


async def test_consecutive_dialogs_are_reported_and_answered(
    agent: Agent, page: int, in_page: Value
) -> None:
    assert (await meet(agent, "two"))["message"] == "one"
    result = await agent.call("browser_handle_dialog", action="accept")
    assert result["effect"]["dialog"]["message"] == "two"
    result = await agent.call("browser_handle_dialog", action="accept")
    assert "dialog" not in result["effect"]
    assert await in_page("out.textContent") == "both"


async def test_answering_a_dialog_waits_for_the_page_it_leads_to(
    agent: Agent, page: int, site: Site
) -> None:
    await meet(agent, "go")
    result = await agent.call("browser_handle_dialog", action="accept")
    assert result["effect"]["navigated"] == site.page("form")


async def test_the_answer_decides_whether_the_page_is_left(
    agent: Agent, page: int, in_page: Value, site: Site
) -> None:
    await agent.call("browser_click_element", selector="#stay")
    assert (await meet(agent, "link"))["type"] == "beforeunload"
    result = await agent.call("browser_handle_dialog", action="dismiss")
    assert result["effect"] == {"mutated": False}
    assert await in_page("document.title") == "Dialogs"
    assert (await meet(agent, "link"))["type"] == "beforeunload"
    result = await agent.call("browser_handle_dialog", action="accept")
    assert result["effect"]["navigated"] == site.page("form")
    assert await in_page("document.title") == "Form"


async def test_a_dialog_that_no_call_caused_is_answered_too(
    agent: Agent, page: int, by_tool: Value, in_page: Value
) -> None:
    with pytest.raises(ToolFailed) as failed:
        await by_tool("setTimeout(() => out.textContent = confirm('Late?')); new Promise(() => {})")
    assert failed.value.reason == "dialog_open"
    result = await agent.call("browser_handle_dialog", action="accept")
    assert result["answered"]["message"] == "Late?"
    assert await in_page("out.textContent") == "true"


async def test_scrolling_reports_a_dialog(agent: Agent, page: int, in_page: Value) -> None:
    await in_page("out.style.height = '3000px'; onscroll = () => alert('Moved'); 1")
    result = await agent.call("browser_scroll", distance=100)
    assert result["effect"]["dialog"]["message"] == "Moved"
    await agent.call("browser_handle_dialog", action="accept")
    assert await in_page("scrollY") == 100


async def test_keys_and_selections_report_dialogs_too(
    agent: Agent, page: int, in_page: Value
) -> None:
    result = await agent.call("browser_press_key", key="Enter", selector="#confirm")
    assert result["effect"]["dialog"]["message"] == "Sure?"
    await agent.call("browser_handle_dialog", action="accept")
    await in_page("out.innerHTML = '<select onchange=alert(5)><option>a<option>b</select>'; 1")
    result = await agent.call("browser_select_option", selector="select", value="b")
    assert result["effect"]["dialog"]["message"] == "5"
    await agent.call("browser_handle_dialog", action="accept")
    assert await in_page("document.querySelector('select').value") == "b"


async def test_a_dialog_that_opens_before_a_field_is_filled_prevents_that(
    agent: Agent, page: int, in_page: Value
) -> None:
    busy = "for (const end = Date.now() + 700; Date.now() < end;);"
    await in_page(f"out.innerHTML = '<input id=f>'; setTimeout(() => {{ {busy} alert(6) }}); 1")
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_type_text", selector="#f", text="Ada")
    assert failed.value.reason == "dialog_open"
    await agent.call("browser_handle_dialog", action="accept")
    assert await in_page("f.value") == ""


async def test_a_field_that_opens_a_dialog_when_it_gets_the_focus_is_left_as_it_was(
    agent: Agent, page: int, in_page: Value
) -> None:
    await in_page("out.innerHTML = '<input id=f onfocus=alert(5)>'; 1")
    with pytest.raises(ToolFailed, match="alert") as failed:
        await agent.call("browser_type_text", selector="#f", text="Ada")
    assert failed.value.reason == "dialog_open"
    await agent.call("browser_handle_dialog", action="accept")
    assert await in_page("f.value") == ""


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("browser_press_key", {"key": "a"}),
        ("browser_hover_element", {"selector": "#alert"}),
        ("browser_scroll", {}),
        ("browser_select_option", {"selector": "#alert", "value": "a"}),
        ("browser_read_page", {}),
    ],
)
async def test_other_calls_report_the_open_dialog_and_how_to_answer_it(
    agent: Agent, page: int, tool: str, arguments: Any
) -> None:
    await meet(agent, "confirm")
    with pytest.raises(ToolFailed, match="browser_handle_dialog") as failed:
        await agent.call(tool, **arguments)
    assert failed.value.reason == "dialog_open"


async def test_open_dialogs_are_listed_for_clients_that_may_use_the_tab(
    agent: Agent, another: Agent, page: int
) -> None:
    dialog = await meet(agent, "confirm")
    listed = {tab["tabId"]: tab for tab in (await agent.call("browser_list_tabs"))["tabs"]}
    assert listed[page]["dialog"] == dialog == {"type": "confirm", "message": "Sure?"}
    assert (await agent.call("browser_get_tab_info", tabId=page))["dialog"] == dialog
    assert "open: confirm 'Sure?'" in await agent.text("browser_list_tabs")
    others = {tab["tabId"]: tab for tab in (await another.call("browser_list_tabs"))["tabs"]}
    assert "dialog" not in others[page]
    await agent.call("browser_handle_dialog", action="accept")
    assert "dialog" not in await agent.call("browser_get_tab_info", tabId=page)


async def test_answering_without_a_dialog_is_an_error(agent: Agent, page: int) -> None:
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_handle_dialog", action="accept")
    assert failed.value.reason == "no_dialog"
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_handle_dialog", action="perhaps")
    assert failed.value.reason == "invalid_arguments"


async def test_a_dialog_can_be_answered_however_late(tmp_path: Path, site: Site) -> None:
    """The debugger detaches after a while without calls, but not while a dialog is open."""
    own = Product(tmp_path / "home")

    unrecorded(own)
    with own.running("start", "--port", "0"):
        async with browser_with(tmp_path / "browser", impatient(own)) as cdp:
            async with own.client(own.wait_browser()["port"]) as http:
                agent = Agent(http)
                await agent.call("browser_open_tab", url=f"{site.url}/html?body={quote(PAGE)}")
                await meet(agent, "confirm")
                await cdp.in_worker("new Promise((go) => setTimeout(go, 100))")
                await agent.call("browser_handle_dialog", action="accept")
                script = await agent.call("browser_execute_script", code="out.textContent")
                assert script["value"] == "true"
