"""docs/documents.md: every behaviour of the documents that tabhub unites, and what shows it.

`tests/documents/*.toml` has the behaviours, one file for each document. A test that shows one is
marked with its id; otherwise the row names a requirement whose tests show it, the decision that
sets it aside, or what it waits for.
"""

import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from tests.requirements import Claim, Row, read_claims, read_rows

FOLDER = Path(__file__).parent.parent / "tests/documents"
MOST_TESTS = 3
"""How many tests of a requirement the page names."""
Shown = Mapping[str, Sequence[str]]
"""Tests by the id of what they show."""


class Behaviour(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One thing that a document says."""

    id: str
    section: str
    text: str
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
    own = [f"`{test}`" for test in marked.get(row.id, ())]
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
    rows = {row.id: row for document in documents() for row in document.behaviour}
    marked, required = _by_id(read_claims("document")), read_rows()
    count = sum(len(document.behaviour) for document in documents())
    return [
        *(["An id occurs twice."] if count != len(rows) else []),
        *(
            f"{id} is no behaviour, but marks {tests[0]}."
            for id, tests in marked.items()
            if id not in rows
        ),
        *(
            f"{row.id}: there is no requirement {row.requirement}."
            for row in rows.values()
            if row.requirement is not None and row.requirement not in required
        ),
        *(
            f"{row.id} is shown by nothing."
            for row in rows.values()
            if not _stands(row, marked, required)
        ),
    ]


def _stands(row: Behaviour, marked: Shown, required: Mapping[str, Row]) -> bool:
    if row.id in marked or row.decision or row.waits:
        return True
    found = required.get(row.requirement or "")
    return found is not None and not found.planned
