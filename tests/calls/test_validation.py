"""Arguments of calls: other words for them, and what is refused."""

from dataclasses import replace

import msgspec
import pytest

from tabhub.calls.validation import Validators
from tabhub.errors import InvalidArguments, TabhubError
from tabhub.hub.tabs import Tab, Tabs
from tabhub.hub.tools import Tool

TOOL = Tool(
    name="run",
    description="",
    input_schema={
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "additionalProperties": False,
    },
    source="x",
    aliases={"code": "text"},
)


def checked(given: str) -> dict[str, object]:
    return Validators().arguments(TOOL, msgspec.Raw(given.encode()))


def test_another_word_for_an_argument_is_understood() -> None:
    assert checked('{"code": "1 + 1"}') == {"text": "1 + 1"}


@pytest.mark.parametrize("given", ['{"code": 1}', '{"code": "1", "text": "2"}', '{"other": "1"}'])
def test_another_word_is_checked_like_the_listed_one_and_never_drops_it(given: str) -> None:
    with pytest.raises(InvalidArguments):
        checked(given)


@pytest.mark.parametrize("given", ['{"text": ["hunter22"]}', '{"text": {"a": "hunter22"}}'])
def test_what_may_be_a_password_is_not_quoted(given: str) -> None:
    tool = replace(TOOL, secret_arguments=frozenset({"text"}))
    with pytest.raises(InvalidArguments) as refused:
        Validators().arguments(tool, msgspec.Raw(given.encode()))
    assert "text: does not fit the schema (type)" in refused.value.message
    assert "hunter22" not in f"{refused.value.message} {refused.value.extra}"


IN_TABS = replace(
    TOOL,
    input_schema={
        "type": "object",
        "properties": {
            "tabId": {"type": "integer"},
            "tabIds": {"type": "array", "items": {"type": "integer"}},
        },
        "additionalProperties": False,
    },
)
WORKER = "0190a1b2-0000-7000-8000-00000000000a"
NOBODY = "0190a1b2-0000-7000-8000-00000000000b"


def with_tabs(given: dict[str, object], tool: Tool = IN_TABS) -> dict[str, object]:
    tabs = Tabs()
    # A server is there before its tabs are.
    validators = Validators(tabs)
    tabs.put(Tab(7, "a", 7))
    tabs.join(7, WORKER)
    return validators.arguments(tool, msgspec.Raw(msgspec.json.encode(given)))


@pytest.mark.requirement("MT-08")
def test_a_tab_is_named_by_its_number_by_digits_or_by_its_pages_own_id() -> None:
    for named in (7, "7", WORKER):
        assert with_tabs({"tabId": named}) == {"tabId": 7}
    assert with_tabs({"tabIds": ["8", WORKER, 9]}) == {"tabIds": [8, 7, 9]}


@pytest.mark.parametrize("given", [{"tabId": NOBODY}, {"tabIds": [7, NOBODY]}])
def test_an_id_that_no_tab_has_names_no_tab(given: dict[str, object]) -> None:
    with pytest.raises(TabhubError, match=f"There is no tab {NOBODY}") as unknown:
        with_tabs(given)
    assert unknown.value.reason == "tab_not_found"


@pytest.mark.parametrize("named", ["", "x", "7.0", "-7", "7" * 30, "\u0667", True, 7.5, [["7"]]])
def test_what_is_no_form_of_a_tabs_name_is_refused(named: object) -> None:
    for key in ("tabId", "tabIds"):
        with pytest.raises(InvalidArguments):
            with_tabs({key: named})


def test_what_a_tool_calls_a_tab_that_lists_none_is_left_alone() -> None:
    with pytest.raises(InvalidArguments, match="tabId"):
        with_tabs({"text": "x", "tabId": NOBODY}, TOOL)
