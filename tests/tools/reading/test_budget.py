"""The size limits of reading tools."""

from tabhub.calls.marks import fenced
from tabhub.tools.reports import char_limit, fitting


def test_the_smaller_of_two_limits_counts() -> None:
    assert char_limit({}, "maxLength", 500) == 500
    assert char_limit({"maxLength": 300}, "maxLength", 500) == 300
    assert char_limit({"maxTokens": 50}, "maxLength", 500) == 200
    assert char_limit({"maxTokens": 5000}, "maxLength", 500) == 500


def test_lines_are_kept_as_far_as_they_fit_and_at_least_one() -> None:
    lines = ["x" * 99] * 5
    assert fitting(lines, {}) == lines
    assert len(fitting(lines, {"maxTokens": 50})) == 2
    assert fitting(["x" * 999, "y"], {"maxTokens": 50}) == ["x" * 999]
    assert fitting([], {"maxTokens": 50}) == []


def test_no_two_fences_are_the_same() -> None:
    assert fenced("words") != fenced("words")
    assert fenced("words").splitlines()[1] == "words"
