"""Queries of agents, and the tools that must be found first."""

import pytest

from tabhub.hub.tools import ToolRegistry
from tabhub.store.tool_index import FullTextIndex
from tabhub.tools import catalog
from tabhub.tools.catalog import KEYWORDS

FIELDS = {"browser_type_text", "form_input", "browser_select_option"}
READING = {"get_page_text", "read_page", "browser_read_page", "browser_get_tab_content"}
GOING = {"navigate", "browser_navigate_tab", "browser_open_tab"}

QUESTIONS = [
    ("fill a form", FIELDS),
    ("fill in the login form", FIELDS - {"browser_select_option"}),
    ("login form password", FIELDS - {"browser_select_option"}),
    ("how do I log in", {"browser_type_text", "browser_click_element", "form_input"}),
    ("picture of the page", {"browser_screenshot_tab"}),
    ("take a screenshot", {"browser_screenshot_tab"}),
    ("what does the page look like", {"browser_screenshot_tab", "read_page", "browser_read_page"}),
    ("click a button", {"browser_click_element"}),
    ("open a website", GOING),
    ("go to url", GOING),
    ("go back", {"navigate", "browser_navigate_tab"}),
    ("read the text of the page", READING),
    ("wait until the page has loaded", {"browser_wait_for_element"}),
    ("run javascript", {"javascript_tool", "browser_execute_script"}),
    ("scroll down", {"browser_scroll"}),
    ("choose from a dropdown", {"browser_select_option", "form_input"}),
    ("type into a text field", {"browser_type_text", "form_input"}),
    ("find an element by its text", {"browser_find", "find"}),
    ("which tabs are open", {"browser_list_tabs", "browser_open_tab"}),
    ("see network traffic", {"read_network_requests", "browser_get_network_requests"}),
    ("console errors", {"read_console_messages", "browser_get_console_logs"}),
    ("delete cookies", {"browser_delete_cookies", "browser_clear_site_data"}),
    ("get cookies", {"browser_get_cookies"}),
    ("accept an alert", {"browser_handle_dialog"}),
    ("press enter", {"browser_press_key"}),
    ("submit", {"browser_click_element", "browser_press_key"}),
    ("upload a photo", {"file_upload", "upload_image", "browser_upload_files"}),
    ("save page as pdf", {"browser_print_pdf"}),
    ("test on a mobile phone", {"browser_emulate_device"}),
    ("dark mode", {"browser_set_media_features"}),
]


@pytest.fixture(scope="module")
def index() -> FullTextIndex:
    tools = ToolRegistry()
    tools.add(*catalog.all_for(tools))
    return FullTextIndex(tools)


@pytest.mark.requirement("OT-06")
@pytest.mark.parametrize(("question", "first"), QUESTIONS, ids=[asked for asked, _ in QUESTIONS])
def test_a_query_finds_its_tools_before_all_others(
    index: FullTextIndex, question: str, first: set[str]
) -> None:
    names = list(index.search(question))
    assert {*names[: len(first)]} == first, names[:6]


def test_search_words_belong_to_existing_tools_and_are_in_no_list() -> None:
    tools = {tool.name: tool for tool in catalog.ALL}
    assert KEYWORDS.keys() <= tools.keys()
    for name, words in KEYWORDS.items():
        assert tools[name].keywords == words
        assert words not in tools[name].description
