"""Which values pass a condition on an argument."""

import pytest

from tabhub.permissions.policy.policy import LONGEST, Condition, Hosts, Matches, OneOf
from tabhub.permissions.verdict import Level


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        ("https://docs.example.com/a", True),
        ("docs.example.com", True),
        ("http://example.com:8080", True),
        ("back", True),
        ("forward", True),
        ("reload", True),
        ("Back", False),
        ("", False),
        ("about:blank", False),
        ("https://evil.example", False),
        ("https://example.com@evil.example", False),
        ("https://evil.example/https://example.com", False),
        ("https://evil.example\\.example.com", False),
        ("javascript://example.com/%0aalert(1)", False),
        ("data:text/html,example.com", False),
        ("ftp://example.com", False),
        (None, False),
        (["https://example.com"], False),
        ({"url": "https://example.com"}, False),
    ],
)
def test_an_address_must_have_a_listed_host(value: object, fits: bool) -> None:
    assert Hosts(["*.example.com"]).fits(value) is fits


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        *[("a", True), (1, True), (False, True)],
        *[("A", False), (True, False), (0, False), (1.0, False)],
        *[(None, False), ([], False), (["a"], False), ({}, False)],
    ],
)
def test_a_value_must_be_one_of_those_listed(value: object, fits: bool) -> None:
    assert OneOf(["a", 1, False]).fits(value) is fits


@pytest.mark.parametrize(
    ("value", "fits"),
    [("a1", True), ("xa1", False), ("a1x", False), ("a1\n", False), (1, False), (None, False)],
)
def test_a_regular_expression_must_match_the_whole_text(value: object, fits: bool) -> None:
    assert Matches(r"a\d").fits(value) is fits


def test_a_text_that_is_too_long_to_check_does_not_match() -> None:
    assert Matches("a*").fits("a" * LONGEST)
    assert not Matches("a*").fits("a" * (LONGEST + 1))


@pytest.mark.parametrize("optional", [True, False])
def test_a_missing_argument_matches_only_if_it_is_optional(optional: bool) -> None:
    condition = Condition(("tool",), "size", OneOf([1]), Level.OFF, optional, "")
    assert condition.fits({}) is optional
    assert condition.fits({"size": 1})
    assert not condition.fits({"size": None})
