"""Every reading tool keeps to maxTokens and reports the parts it left out."""

from typing import Any

import pytest

from tabhub.tools import catalog
from tests.real.conftest import Opener
from tests.real.looking import html
from tests.support.agent import Agent
from tests.support.site import Site

pytestmark = pytest.mark.real_browser

TELLS_OF_ONE_THING = {
    "browser_get_tab_info",
    "browser_wait_for_element",
    "browser_screenshot_tab",
    "browser_print_pdf",
    "browser_get_download_status",
    "computer",
    "extension_get_state",
    "extension_get_side_panel",
    "extension_check_adapter",
    "plugin_list_tabs",
    # It returns the files page by page.
    "plugin_inspect",
    "turn_answer_start",
    "turn_answer_complete",
    "dev_utils",
    # The results of its calls are bounded by their own budgets.
    "browser_batch",
}
MANY = "".join(f"<p><button title='a longer hint {i}'>Delete {i}</button></p>" for i in range(60))
KEEP = "for (let i = 0; i < 40; i++) localStorage[`entry number ${i}`] = `the value ${i}`; 1"


@pytest.mark.requirement("TH-26")
def test_every_reading_tool_takes_a_budget() -> None:
    unbounded = {
        tool.name
        for tool in catalog.ALL
        if (tool.annotations.get("readOnlyHint") or tool.changes_when)
        and "maxTokens" not in tool.input_schema["properties"]
    }
    assert unbounded == TELLS_OF_ONE_THING


READINGS: list[tuple[str, dict[str, Any], str]] = [
    ("browser_read_page", {}, "Go on with offset"),
    ("browser_get_tab_content", {}, "Go on with offset"),
    ("browser_get_page_html", {}, "Go on with offset"),
    ("get_page_text", {}, "Go on with offset"),
    ("browser_find", {"query": "delete"}, "maxTokens"),
    ("find", {"query": "delete"}, "maxTokens"),
    ("browser_query_elements", {"selector": "button"}, "maxTokens"),
    ("browser_get_element_styles", {"selector": "button"}, "left out"),
    ("browser_get_storage", {}, "maxTokens"),
    ("permissions_check", {}, "maxTokens"),
]


@pytest.mark.requirement("TH-26")
@pytest.mark.parametrize(("tool", "arguments", "note"), READINGS)
async def test_a_budget_cuts_the_result_with_a_note_of_the_missing_part(
    agent: Agent, opened: Opener, site: Site, tool: str, arguments: dict[str, Any], note: str
) -> None:
    await opened(html(site, MANY))
    await agent.call("browser_execute_script", code=KEEP)
    whole = await agent.text(tool, **arguments)
    short = await agent.text(tool, maxTokens=100, **arguments)
    assert len(short) < min(len(whole), 4 * 100 + 600)
    assert note in short
    assert note not in whole or tool in ("browser_find", "find")


@pytest.mark.requirement("TH-26")
async def test_browser_lists_leave_out_the_same_entries_in_text_and_data(
    agent: Agent, opened: Opener, site: Site
) -> None:
    tabs = [await opened(site.page("form") + f"?{'x' * 60}{i}") for i in range(6)]
    whole = await agent.call("browser_list_tabs")
    short = await agent.result("browser_list_tabs", maxTokens=100)
    text, data = short["content"][0]["text"], short["structuredContent"]
    assert len(data["tabs"]) < len(tabs) <= len(whole["tabs"])
    assert data["leftOut"] == len(whole["tabs"]) - len(data["tabs"])
    assert f"({data['leftOut']} more left out" in text
    assert text.count("\n- ") == len(data["tabs"])
