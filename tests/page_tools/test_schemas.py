"""The schema of a page is checked at every level; validating with an accepted one is cheap."""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tabhub.hub.schema_rules import MOST_PATTERNS, checked_schema
from tabhub.hub.schema_size import Unfit
from tests.support.examples import examples

MOST = 256 * 1024
DATA_WORDS = ("enum", "const", "default", "examples", "example")
Json = dict[str, Any]


def _checked(schema: Any) -> Json:
    raw = msgspec.Raw(msgspec.json.encode(schema))
    schema_out: Json = msgspec.json.decode(checked_schema(raw, MOST))
    return schema_out


def _why(schema: Any) -> str:
    with pytest.raises(Unfit) as unfit:
        _checked(schema)
    return str(unfit.value)


def _bomb(at: str, levels: int = 20) -> Json:
    tree: Json = {f"a{n}": {"allOf": [{"$ref": f"{at}/$defs/a{n + 1}"}] * 4} for n in range(levels)}
    return {"$defs": {**tree, f"a{levels}": {"type": "integer"}}, "$ref": f"{at}/$defs/a0"}


@pytest.mark.parametrize("holder", ["properties", "patternProperties", "$defs", "definitions"])
@pytest.mark.parametrize("name", DATA_WORDS)
def test_a_nested_schema_is_checked_whatever_its_property_name(holder: str, name: str) -> None:
    at = f"#/{holder}/{name}"
    assert "too large once" in _why({holder: {name: _bomb(at)}})
    assert "refers to itself" in _why({holder: {name: {"$ref": at}}})
    assert "another document" in _why({holder: {name: {"$ref": "https://evil.example/x"}}})
    assert "uses $id" in _why({holder: {name: {"$id": "https://evil.example/x"}}})


@pytest.mark.parametrize("word", DATA_WORDS)
def test_values_are_kept_and_not_checked_as_schemas(word: str) -> None:
    value = [{"$ref": "https://example.com/", "$id": "x", "properties": 5}]
    schema = {"properties": {"a": {word: value}, word: {"type": "string"}}}
    assert _checked(schema)["properties"] == schema["properties"]
    referring = {"properties": {"a": {word: value}, "b": {"$ref": f"#/properties/a/{word}/0"}}}
    assert "refers to nothing" in _why(referring)


def test_unknown_keywords_hide_nothing() -> None:
    hidden = {"x-more": {"a": {"$ref": "https://evil.example/"}}, "x-order": 3, "$vocabulary": {}}
    assert _checked({"properties": {"a": hidden}})["properties"]["a"] == {"x-order": 3}
    refers = {"x-more": {"a": {}}, "properties": {"a": {"$ref": "#/x-more/a"}}}
    assert "refers to nothing" in _why(refers)


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"required": 5}, "no names"),
        ({"required": [1]}, "no names"),
        ({"properties": {"a": {"required": True}}}, "no names"),
        ({"properties": {"a": 5}}, "no schema"),
        ({"allOf": {"type": "object"}}, "no list of schemas"),
        ({"dependentRequired": {"a": 1}}, "no names"),
        ({"properties": {"a": {"enum": [0] * 30_000}}}, "more than 20000 places"),
        ({"properties": {"a": {"default": json.loads("[" * 60 + "]" * 60)}}}, "deep"),
        (
            {"properties": {f"p{n}": {"pattern": "a"} for n in range(MOST_PATTERNS + 1)}},
            "more than 100 patterns",
        ),
        ({"patternProperties": {f"p{n}": {} for n in range(MOST_PATTERNS + 1)}}, "100 patterns"),
        ({"properties": {"a": {"pattern": "a" * 20_000}}}, "16384 bytes"),
    ],
)
def test_a_schema_that_breaks_clients_or_validation_is_refused(schema: Json, why: str) -> None:
    assert why in _why(schema)


def test_the_remaining_schema_is_well_typed() -> None:
    schema = {
        "$schema": "https://evil.example/draft-07/schema",
        "$id": "https://evil.example/x",
        "properties": {
            "yes": True,
            "no": False,
            "odd": {"type": "any", "minLength": "5", "multipleOf": 0, "format": 5, "title": 5},
            "said": {"type": ["string", "string", "null"], "description": "a\u202eb\x07\nc"},
            "count": {"type": "integer", "minimum": 1, "exclusiveMinimum": True},
        },
        "required": ["yes", "yes"],
        "additionalProperties": False,
    }
    assert _checked(schema) == {
        "type": "object",
        "properties": {
            "yes": {},
            "no": {"not": {}},
            "odd": {},
            "said": {"type": ["string", "null"], "description": "ab\nc"},
            "count": {"type": "integer", "minimum": 1},
        },
        "required": ["yes"],
        "additionalProperties": False,
    }


def test_usual_schemas_are_unchanged() -> None:
    usual = {
        "properties": {
            "query": {"type": "string", "description": "What.", "minLength": 1, "pattern": "^a"},
            "size": {"enum": ["s", "m"], "default": "s", "examples": ["m"]},
            "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}, "uniqueItems": True},
            "how": {"oneOf": [{"const": 1, "title": "One"}, {"type": "null"}]},
        },
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "required": ["query"],
        "$defs": {"line": {"type": "object", "properties": {"a/b": {"type": "number"}}}},
        "if": {"required": ["size"]},
        "then": {"properties": {"query": {"$ref": "#/$defs/line/properties/a~1b"}}},
    }
    assert _checked(usual) == usual


# -- validation with an accepted schema takes bounded work -------------------------------------

_NAMES = st.sampled_from(["a", "b", *DATA_WORDS, "$ref", "properties"])
_DEFINED = ("a", "b", "example")
_REFERENCES = st.sampled_from([f"#/$defs/{name}" for name in _DEFINED])
_LEAVES = st.sampled_from(
    [
        {"type": "integer"},
        {"enum": [1, {"a": 1}]},
        {"pattern": "^(a+)+$"},
        {"additionalProperties": {"type": "integer"}},
        {"items": {"type": "integer"}},
        {},
    ]
) | st.builds(lambda to: {"$ref": to}, _REFERENCES)


def _larger(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.builds(lambda item, times: [item] * times, inner, st.integers(1, 5))
    under = st.dictionaries(_NAMES, inner, max_size=3)
    words = {
        "allOf": several,
        "anyOf": several,
        "oneOf": several,
        "not": inner,
        "if": inner,
        "then": inner,
        "properties": under,
        "patternProperties": under,
        "$defs": under,
        "dependentSchemas": under,
        "additionalProperties": inner,
        "unevaluatedProperties": inner,
        "unevaluatedItems": inner,
        "items": inner,
        "contains": inner,
        "propertyNames": inner,
        "default": inner,
    }
    return st.fixed_dictionaries({}, optional=words)


_DEEP = st.recursive(_LEAVES, _larger, max_leaves=25)


def _doubled(word: str, inner: Any, levels: int) -> Any:
    """Nest the keyword, with the same schema twice at each level."""
    for _ in range(levels):
        inner = {word: [inner] * 2}
    return inner


def _piled(word: str, inner: Any, levels: int) -> Any:
    """Nest the keyword so that each level validates everything below it once more."""
    for _ in range(levels):
        inner = {"allOf": [inner], word: False}
    return inner


_OPEN: Json = {"additionalProperties": {"type": "integer"}, "items": {"type": "integer"}}
_PILES = st.builds(
    _doubled, st.sampled_from(["allOf", "anyOf", "oneOf"]), _LEAVES, st.integers(1, 12)
) | st.builds(
    _piled,
    st.sampled_from(["unevaluatedProperties", "unevaluatedItems"]),
    st.just(_OPEN) | _LEAVES,
    st.integers(1, 20),
)
_SCHEMAS = st.fixed_dictionaries(
    {
        "properties": st.dictionaries(_NAMES, _PILES | _DEEP, min_size=1, max_size=3),
        "$defs": st.fixed_dictionaries(dict.fromkeys(_DEFINED, _PILES | _LEAVES)),
    }
)
_VALUES = st.sampled_from(
    [1, "a" * 20, [1, 2], [["a"]], {"a": 1}, {"a": 1, "b": 2}, {"a": {"b": 1}}]
)

_CHECKER = """
import sys, time, msgspec
from tabhub.calls.validation import page_validator
flat = page_validator({"allOf": [{"properties": {"a": {"minimum": n}}} for n in range(20_000)]})
def cost(check, given):
    began = time.process_time()
    check.is_valid(given)
    return time.process_time() - began
for line in sys.stdin:
    schema, given = msgspec.json.decode(line)
    try:
        check = page_validator(schema)
    except ValueError:
        print(0, flush=True)
        continue
    floor = max(cost(flat, {"a": 10**6}), 1e-4)
    print(min(cost(check, given) for _ in range(3)) / floor, flush=True)
"""
ENOUGH = 10
"""The limit, as a multiple of the cost of a flat schema of the same size in the same run."""
STUCK_SECONDS = 240


class Checker:
    """Validates in its own process, which can be killed if a validation does not end."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _CHECKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def cost(self, schema: Json, instance: Any) -> float:
        """The cost as a multiple of the cost of a flat schema."""
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(msgspec.json.encode((schema, instance)) + b"\n")
        process.stdin.flush()
        return float(process.stdout.readline() or "inf")

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture(scope="module")
def checker() -> Iterator[Checker]:
    checking = Checker()
    yield checking
    checking.close()


@pytest.mark.timeout(STUCK_SECONDS)
@examples(150, suppress_health_check=list(HealthCheck))
@given(schema=_SCHEMAS, value=_VALUES)
def test_validation_with_an_accepted_schema_takes_bounded_work(
    checker: Checker, schema: Json, value: Any
) -> None:
    try:
        admitted = _checked(schema)
    except Unfit:
        return
    assert checker.cost(admitted, dict.fromkeys(admitted["properties"], value)) < ENOUGH


@pytest.mark.timeout(STUCK_SECONDS)
@pytest.mark.parametrize("word", ["unevaluatedProperties", "unevaluatedItems"])
def test_a_schema_with_repeated_validation_is_refused(checker: Checker, word: str) -> None:
    inner = {"type": "object", "properties": {"x": {"type": "integer"}}}
    assert "too large once" in _why({"properties": {"a": _piled(word, inner, 15)}})
    few = _checked({"properties": {"a": _piled(word, inner, 5)}})
    assert checker.cost(few, {"a": {"x": 1}}) < ENOUGH
