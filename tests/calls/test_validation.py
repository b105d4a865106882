"""Arguments of calls: other words for them, and what is refused."""

from dataclasses import replace

import msgspec
import pytest

from tabhub.calls.validation import Validators
from tabhub.errors import InvalidArguments
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
