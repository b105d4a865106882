"""What holds for every browser tool."""

from tabhub.tools import catalog
from tabhub.tools.tool import SOURCE


def test_exactly_the_tools_that_the_browser_source_runs_have_a_handler() -> None:
    with_handler = {tool.name for tool in catalog.ALL if tool.handler is not None}
    assert with_handler == {tool.name for tool in catalog.ALL if tool.source == SOURCE}


def test_every_tool_that_needs_a_tab_takes_its_id() -> None:
    for tool in catalog.ALL:
        if tool.needs_tab:
            assert tool.input_schema["properties"][tool.tab_argument] == {"type": "integer"}
