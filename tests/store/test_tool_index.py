"""Search for tools by words."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabhub.hub.tools import Tool, ToolRegistry
from tabhub.store.tool_index import FullTextIndex
from tests.support.examples import examples


def tool(name: str, description: str = "", plugin: str = "") -> Tool:
    schema = {"type": "object", "properties": {"userName": {"description": "Who it is for."}}}
    return Tool(name, description, schema, source="x", plugin=plugin)


@pytest.fixture
def tools() -> ToolRegistry:
    return ToolRegistry()


@pytest.fixture
def index(tools: ToolRegistry) -> Iterator[FullTextIndex]:
    index_of_tools = FullTextIndex(tools)
    yield index_of_tools
    index_of_tools.close()


def test_a_word_counts_most_in_the_name_then_in_the_summary_then_in_the_rest(
    tools: ToolRegistry, index: FullTextIndex
) -> None:
    tools.add(
        tool("third", "One thing. Another thing, about an invoice."),
        tool("second", "Something for each invoice. Another thing, of some length."),
        tool("invoice_of_mine", "One thing. Another thing, of some length."),
        tool("none", "Nothing at all."),
    )
    assert list(index.search("invoice")) == ["invoice_of_mine", "second", "third"]


@pytest.mark.parametrize(
    "query",
    [
        "send message",
        "sendMessage",
        "send_message",
        "SEND-MESSAGE",
        "sending messages",
        "send mess",
    ],
)
@pytest.mark.parametrize("name", ["chat_send_message", "chatSendMessage", "chat-send-message"])
def test_names_are_split_and_their_words_match_in_other_forms(
    tools: ToolRegistry, index: FullTextIndex, name: str, query: str
) -> None:
    tools.add(tool(name), tool("chat_list_rooms"))
    assert list(index.search(query)) == [name]


def test_tools_with_all_words_come_before_those_with_some(
    tools: ToolRegistry, index: FullTextIndex
) -> None:
    tools.add(tool("delete_file"), tool("send_file"), tool("send_note"))
    assert next(index.search("send a file")) == "send_file"
    assert set(index.search("send the parcel")) == {"send_file", "send_note"}
    assert list(index.search("parcel")) == []


def test_names_and_descriptions_of_parameters_are_found(
    tools: ToolRegistry, index: FullTextIndex
) -> None:
    tools.add(tool("greet"))
    assert list(index.search("user name")) == ["greet"]
    assert list(index.search("username")) == ["greet"]


def test_a_family_filters_the_search_before_the_limit(
    tools: ToolRegistry, index: FullTextIndex
) -> None:
    tools.add(*(tool(f"list_{number}", plugin="many") for number in range(3000)))
    tools.add(tool("list_all", plugin="few"))
    assert list(index.search("list", ["few"])) == ["list_all"]
    assert list(index.search("list", ["few", "many"])) == []


def test_added_removed_and_changed_tools_are_indexed(
    tools: ToolRegistry, index: FullTextIndex
) -> None:
    tools.add(tool("one", "Paints."), tool("two", "Sings."))
    assert list(index.search("paint")) == ["one"]
    tools.replace(tool("one", "Dances."))
    tools.remove("two")
    tools.add(tool("three", "Paints too."))
    assert list(index.search("paint")) == ["three"]
    assert list(index.search("dance")) == ["one"]
    assert list(index.search("sing")) == []


def test_a_word_that_most_tools_have_does_not_hide_one_that_few_have(
    tools: ToolRegistry, index: FullTextIndex
) -> None:
    tools.add(*(tool(f"tool_{number}", "For the page.") for number in range(2000)))
    tools.add(tool("zebra", "For the page with a zebra."))
    assert next(index.search("page zebra")) == "zebra"
    assert next(index.search("page unicorn")) == "tool_0"
    assert len(list(index.search("page"))) > 100


@pytest.mark.requirement("TH-41")
@pytest.mark.parametrize(
    "query",
    [
        "",
        "   ",
        '"',
        "a AND",
        "NOT x",
        "summary : x",
        "x*",
        "^x",
        "NEAR(x y)",
        "{",
        "(",
        "x" * 100_000,
    ],
)
def test_no_character_of_a_query_is_syntax(
    tools: ToolRegistry, index: FullTextIndex, query: str
) -> None:
    tools.add(tool("paint"))
    assert "paint" not in list(index.search(query))


def test_unusual_characters_in_a_description_are_accepted(
    tools: ToolRegistry, index: FullTextIndex
) -> None:
    tools.add(tool("odd\x00name", "\x00 \ud800" * 1000))
    assert list(index.search("odd")) == ["odd\x00name"]


@examples(200)
@given(query=st.text(max_size=60), name=st.text(min_size=1, max_size=30), description=st.text())
def test_no_text_breaks_the_index(query: str, name: str, description: str) -> None:
    tools = ToolRegistry()
    tools.add(tool(name, description))
    index = FullTextIndex(tools)
    assert set(index.search(query, [description])) <= {name}
    assert set(index.search(query)) <= {name}
    index.close()
