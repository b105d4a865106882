"""docs/documents.md: every behaviour of the documents that tabhub unites, and what shows it.

`tests/documents/*.toml` has the behaviours, one file for each document. A test that shows one is
marked with its id; otherwise the row names a test in JavaScript or a requirement whose tests show
it, the decision that sets it aside, or what it waits for.
"""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from tests.requirements import TESTS, Claim, Row, read_claims, read_rows, read_tests

FOLDER = TESTS / "documents"
SCRIPT_TEST = re.compile(r'^\s*test\(\s*"([^"]+)"', re.MULTILINE)
"""A test in JavaScript; group 1 is its name."""
MOST_TESTS = 3
"""How many tests of a requirement the page names."""
Shown = Mapping[str, Sequence[str]]
"""Tests by the id of what they show."""


class Behaviour(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One thing that a document says."""

    id: str
    section: str
    text: str
    script: str | None = None
    """A test in JavaScript that shows it: the file in tests, `::` and the name of the test."""
    requirement: str | None = None
    decision: str | None = None
    waits: str | None = None
    """What it waits for, such as plugins."""


class Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    short: str
    title: str
    about: str
    behaviour: list[Behaviour]


def documents() -> list[Document]:
    files = sorted(FOLDER.glob("*.toml"))
    return [msgspec.convert(tomllib.loads(file.read_text()), Document) for file in files]


def page() -> str:
    marked, required = _by_id(read_claims("document")), _by_id(read_claims())
    intro = (
        "tabhub unites the designs of several documents. Each behaviour that one of them asks for "
        "is a line here, in the order of the document, with the tests that show it, the decision "
        "that sets it aside, or what it still waits for."
    )
    parts = [part for each in documents() for part in _document(each, marked, required)]
    note = "<!-- Written by `make docs` from tests/documents and the marks of the tests. -->"
    return "\n".join([f"# The documents\n\n{note}\n\n{intro}\n", *parts])


def _by_id(claims: Sequence[Claim]) -> Shown:
    found: dict[str, list[str]] = defaultdict(list)
    for claim in claims:
        found[claim.row].append(claim.test)
    return found


def _document(document: Document, marked: Shown, required: Shown) -> Iterator[str]:
    yield f"## {document.short}: {document.title}\n\n{document.about}\n"
    section = ""
    for row in document.behaviour:
        if row.section != section:
            section = row.section
            yield f"\n### {section}\n\n| | behaviour | shown by |\n| --- | --- | --- |"
        yield f"| {row.id} | {row.text} | {_shown(row, marked, required)} |"
    yield ""


def _shown(row: Behaviour, marked: Shown, required: Shown) -> str:
    scripts = [row.script] if row.script else []
    own = [f"`{test}`" for test in (*marked.get(row.id, ()), *scripts)]
    rest = [] if own or row.requirement is None else _of_requirement(row.requirement, required)
    decided = [f"Decided otherwise: {row.decision}"] if row.decision else []
    waiting = [f"Waits for {row.waits}."] if row.waits else []
    return "<br>".join([*own, *rest, *decided, *waiting])


def _of_requirement(id: str, required: Shown) -> list[str]:
    tests = required.get(id, ())
    more = [f"and {len(tests) - MOST_TESTS} more"] if len(tests) > MOST_TESTS else []
    return [f"{id}:", *(f"`{test}`" for test in tests[:MOST_TESTS]), *more]


def problems() -> list[str]:
    """The disagreements between the lists and the tests, one sentence each."""
    all_rows = [row for document in documents() for row in document.behaviour]
    rows = {row.id: row for row in all_rows}
    marked, required = _by_id(read_claims("document")), read_rows()
    return [
        *(["An id occurs twice."] if len(all_rows) != len(rows) else []),
        *(
            f"{id} is no behaviour, but marks {tests[0]}."
            for id, tests in marked.items()
            if id not in rows
        ),
        *unmarked(read_tests(FOLDER), marked),
        *(problem for row in all_rows for problem in _of_row(row, marked, required)),
    ]


def unmarked(tests: Sequence[str], marked: Shown) -> list[str]:
    """The tests that no row of the page would name."""
    found = {test for of_row in marked.values() for test in of_row}
    return [f"{test} is marked with no behaviour." for test in tests if test not in found]


def _of_row(row: Behaviour, marked: Shown, required: Mapping[str, Row]) -> Iterator[str]:
    if row.requirement is not None and row.requirement not in required:
        yield f"{row.id}: there is no requirement {row.requirement}."
    if row.script is not None and not is_script_test(row.script):
        yield f"{row.id}: there is no test {row.script}."
    shown = [*marked.get(row.id, ()), *([row.script] if row.script else [])]
    if row.waits and shown:
        yield f"{row.id} still waits, but {shown[0]} shows it."
    if not (shown or _stands(row, required)):
        yield f"{row.id} is shown by nothing."


def is_script_test(script: str) -> bool:
    path, _, name = script.partition("::")
    file = TESTS / path
    if not path.endswith(".test.js") or not file.is_file():
        return False
    return name in SCRIPT_TEST.findall(file.read_text(encoding="utf-8"))


def _stands(row: Behaviour, required: Mapping[str, Row]) -> bool:
    """Whether a row without a test of its own is accounted for."""
    if row.decision or row.waits:
        return True
    found = required.get(row.requirement or "")
    return found is not None and not found.planned
