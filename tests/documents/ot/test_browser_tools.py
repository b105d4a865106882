"""Browser tools: every tool takes the parameters that clients of OpenTabs send.

`browser_tools.json` has the parameters of each tool; a `!` marks those that are always sent.
"""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from tabhub.tools import catalog

pytestmark = pytest.mark.requirement("OT-40")
TABLE: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).with_name("browser_tools.json").read_text()
)
EXAMPLES = {"string": "text", "integer": 7, "number": 0.5, "boolean": True, "object": {"a": "b"}}
TOOLS = {tool.name: tool for tool in catalog.ALL}


def _examples(kind: Any) -> list[Any]:
    """Values of a kind: each one that it names, or one of its type."""
    if isinstance(kind, str):
        return [EXAMPLES[kind]]
    if "one of" in kind:
        return list(kind["one of"])
    if "list of" in kind:
        return [_examples(kind["list of"])]
    return [{name: _examples(part)[0] for name, part in kind.items()}]


def _calls(parameters: dict[str, Any]) -> list[dict[str, Any]]:
    """A call with what is always sent, and one more for each other parameter and each value."""
    always = {name[:-1]: _examples(kind)[0] for name, kind in parameters.items() if name[-1] == "!"}
    others = [
        {**always, name.rstrip("!"): value}
        for name, kind in parameters.items()
        for value in _examples(kind)
    ]
    return [always, *others]


@pytest.mark.document("OT-capabilities-2")
def test_the_list_is_complete() -> None:
    assert TABLE.keys() <= TOOLS.keys()
    ours = {name for name in TOOLS if name.startswith("extension_")}
    assert len(TABLE) == 74 and ours <= TABLE.keys()


@pytest.mark.document("OT-capabilities-2")
@pytest.mark.parametrize("name", sorted(TABLE))
def test_a_call_with_each_documented_parameter_fits(name: str) -> None:
    validator = jsonschema_rs.validator_for({**TOOLS[name].input_schema})
    for arguments in _calls(TABLE[name]):
        assert [error.message for error in validator.iter_errors(arguments)] == [], arguments
