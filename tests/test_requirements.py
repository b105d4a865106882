"""Rows and tests agree in both directions, and the checker itself is correct."""

import pytest

from scripts import documents
from tests.plugin_requirements import Tally
from tests.requirements import (
    Claim,
    Row,
    find_claims,
    find_tests,
    load_rows,
    problems,
    read_claims,
    read_rows,
)


def test_every_row_that_is_due_has_its_tests_and_every_mark_names_a_row() -> None:
    assert problems(read_rows(), read_claims()) == []


def test_every_behaviour_of_the_documents_is_shown_or_set_aside() -> None:
    assert documents.problems() == []


def test_a_test_of_the_documents_without_a_mark_is_a_problem() -> None:
    tests = find_tests("def test_a(): ...\n\ndef helper(): ...\n\ndef test_b(): ...", "a.py")
    assert documents.unmarked(tests, {"OT-a-1": ["a.py::test_a"]}) == [
        "a.py::test_b is marked with no behaviour."
    ]


@pytest.mark.parametrize(
    ("script", "is_test"),
    [
        ("pagekit/results.test.js::the short form has a name and a handler", True),
        ("pagekit/results.test.js::the short form", False),
        ("pagekit/none.test.js::the short form has a name and a handler", False),
        ("pagekit/results.test.js", False),
    ],
)
def test_a_script_is_named_by_its_file_and_the_whole_name_of_the_test(
    script: str, is_test: bool
) -> None:
    assert documents.is_script_test(script) is is_test


def row(id: str, *, real: bool = False, planned: bool = False) -> dict[str, Row]:
    return {id: Row(id, id[:2], "It works.", real, planned)}


def test_a_due_row_without_a_test_is_a_problem() -> None:
    assert problems(row("TH-01"), []) == ["TH-01 has no test."]


def test_a_planned_row_needs_no_test_but_may_have_one() -> None:
    assert problems(row("TH-01", planned=True), []) == []
    assert problems(row("TH-01", planned=True), [Claim("TH-01", "a.py::test_a", False)]) == []


def test_a_mark_that_names_no_row_is_a_problem() -> None:
    assert problems({}, [Claim("TH-99", "a.py::test_a", False)]) == [
        "a.py::test_a is marked TH-99, which is not a row of requirements.toml."
    ]


def test_a_real_row_needs_a_real_browser_test() -> None:
    rows = row("TH-01", real=True)
    assert problems(rows, [Claim("TH-01", "a.py::test_a", False)]) == [
        "TH-01 has no test marked real_browser."
    ]
    assert problems(rows, [Claim("TH-01", "a.py::test_b", True)]) == []


def test_a_planned_real_row_may_have_only_a_plain_test() -> None:
    rows = row("TH-01", real=True, planned=True)
    assert problems(rows, [Claim("TH-01", "a.py::test_a", False)]) == []


def test_marks_are_found_on_functions_classes_modules_and_parameters() -> None:
    source = """
import pytest
pytestmark = [pytest.mark.real_browser]

@pytest.mark.requirement("OT-01")
def test_function(): ...

@pytest.mark.requirement("OT-02")
class TestGroup:
    pytestmark = pytest.mark.requirement("OT-03")

    @pytest.mark.requirement("OT-04")
    async def test_method(self): ...

@pytest.mark.parametrize("n", [pytest.param(1, marks=pytest.mark.requirement("OT-05"))])
def test_parameters(n): ...
"""
    assert {(claim.row, claim.test) for claim in find_claims(source, "a.py")} == {
        ("OT-01", "a.py::test_function"),
        ("OT-02", "a.py::TestGroup::test_method"),
        ("OT-03", "a.py::TestGroup::test_method"),
        ("OT-04", "a.py::TestGroup::test_method"),
        ("OT-05", "a.py::test_parameters"),
    }
    assert all(claim.real_browser for claim in find_claims(source, "a.py"))


def test_a_mark_on_a_helper_proves_nothing() -> None:
    assert find_claims('@pytest.mark.requirement("OT-01")\ndef helper(): ...', "a.py") == []


def test_real_browser_on_one_test_does_not_reach_its_neighbour() -> None:
    source = """
@pytest.mark.real_browser
def test_a(): ...

@pytest.mark.requirement("OT-01")
def test_b(): ...
"""
    assert find_claims(source, "a.py") == [Claim("OT-01", "a.py::test_b", False)]


def test_an_id_that_is_not_a_plain_string_is_refused() -> None:
    with pytest.raises(ValueError, match="plain string"):
        find_claims("@pytest.mark.requirement(NAME)\ndef test_a(): ...", "a.py")


@pytest.mark.parametrize(
    "text",
    [
        '[OT-01]\nsource = "XX"\ntext = "It works."',
        '[OT-01]\nsource = "MB"\ntext = "It works."',
        '[OT-01]\nsource = "OT"',
        '[OT-01]\nsource = "OT"\ntext = "It works."\nplaned = true',
    ],
    ids=["unknown source", "source against id", "no sentence", "misspelt field"],
)
def test_a_malformed_row_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="OT-01"):
        load_rows(text)


def report(outcome: str, *properties: tuple[str, object]) -> pytest.TestReport:
    return pytest.TestReport(
        nodeid="a.py::test_a",
        location=("a.py", 1, "test_a"),
        keywords={},
        outcome=outcome,  # type: ignore[arg-type]
        longrepr=None,
        when="call",
        user_properties=list(properties),
    )


def test_the_summary_counts_rows_that_passed_and_did_not_also_fail() -> None:
    tally = Tally(row("OT-01") | row("OT-02") | row("OT-03", planned=True))
    tally.pytest_runtest_logreport(report("passed", ("requirement", "OT-01")))
    tally.pytest_runtest_logreport(report("passed", ("requirement", "OT-02")))
    tally.pytest_runtest_logreport(report("failed", ("requirement", "OT-02")))
    tally.pytest_runtest_logreport(report("passed", ("requirement", "OT-03")))
    assert tally.lines() == [
        "tests: 4 (3 passed, 1 failed, 0 skipped)",
        "requirements: 1 rows covered of 3 (1 planned)",
    ]


def test_the_summary_counts_a_real_row_only_by_a_real_browser_test() -> None:
    tally = Tally(row("OT-25", real=True))
    tally.pytest_runtest_logreport(report("passed", ("requirement", "OT-25")))
    assert tally.lines()[-1].startswith("requirements: 0 rows")
    tally.pytest_runtest_logreport(
        report("passed", ("requirement", "OT-25"), ("real_browser", True))
    )
    assert tally.lines()[-1].startswith("requirements: 1 rows")
