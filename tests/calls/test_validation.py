"""Arguments of calls: their aliases, and refused values."""

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


def checked(arguments: str) -> dict[str, object]:
    return Validators().arguments(TOOL, msgspec.Raw(arguments.encode()))


def test_an_alias_of_an_argument_is_accepted() -> None:
    assert checked('{"code": "1 + 1"}') == {"text": "1 + 1"}


@pytest.mark.parametrize(
    "arguments", ['{"code": 1}', '{"code": "1", "text": "2"}', '{"other": "1"}']
)
def test_an_alias_is_checked_like_the_argument_and_never_replaces_it(arguments: str) -> None:
    with pytest.raises(InvalidArguments):
        checked(arguments)


@pytest.mark.parametrize("arguments", ['{"text": ["hunter22"]}', '{"text": {"a": "hunter22"}}'])
def test_a_value_that_may_be_a_password_is_not_quoted(arguments: str) -> None:
    tool = replace(TOOL, secret_arguments=frozenset({"text"}))
    with pytest.raises(InvalidArguments) as refused:
        Validators().arguments(tool, msgspec.Raw(arguments.encode()))
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
UNKNOWN = "0190a1b2-0000-7000-8000-00000000000b"


def with_tabs(arguments: dict[str, object], tool: Tool = IN_TABS) -> dict[str, object]:
    tabs = Tabs()
    # A server starts before it knows its tabs.
    validators = Validators(tabs)
    tabs.put(Tab(7, "a", 7))
    tabs.join(7, WORKER)
    return validators.arguments(tool, msgspec.Raw(msgspec.json.encode(arguments)))


@pytest.mark.requirement("MT-08")
def test_a_tab_is_named_by_its_number_by_digits_or_by_its_pages_own_id() -> None:
    for named in (7, "7", WORKER):
        assert with_tabs({"tabId": named}) == {"tabId": 7}
    assert with_tabs({"tabIds": ["8", WORKER, 9]}) == {"tabIds": [8, 7, 9]}


@pytest.mark.parametrize("arguments", [{"tabId": UNKNOWN}, {"tabIds": [7, UNKNOWN]}])
def test_an_unknown_tab_id_is_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(TabhubError, match=f"There is no tab {UNKNOWN}") as unknown:
        with_tabs(arguments)
    assert unknown.value.reason == "tab_not_found"


@pytest.mark.parametrize("named", ["", "x", "7.0", "-7", "7" * 30, "\u0667", True, 7.5, [["7"]]])
def test_a_value_that_is_not_a_tab_id_is_refused(named: object) -> None:
    for key in ("tabId", "tabIds"):
        with pytest.raises(InvalidArguments):
            with_tabs({key: named})


def test_a_tab_id_for_a_tool_without_tabs_is_an_invalid_argument() -> None:
    with pytest.raises(InvalidArguments, match="tabId"):
        with_tabs({"text": "x", "tabId": UNKNOWN}, TOOL)
