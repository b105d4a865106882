"""The rows of requirements.toml and the tests that claim to prove them.

Marks are read from the source, not from a collected run, so the answer is the same
under xdist, with tests deselected, and on a machine without a browser.
"""

import ast
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parent
SOURCES = {"OT", "MB", "CB", "MT", "PX", "TH"}
FIELDS = {"source", "text", "real", "planned"}


@dataclass(frozen=True)
class Row:
    id: str
    source: str
    text: str
    real: bool = False
    planned: bool = False


@dataclass(frozen=True)
class Claim:
    """A test that is marked with a row."""

    row: str
    test: str
    real_browser: bool


def load_rows(text: str) -> dict[str, Row]:
    return {id: _row(id, fields) for id, fields in tomllib.loads(text).items()}


def read_rows() -> dict[str, Row]:
    return load_rows((TESTS / "requirements.toml").read_text(encoding="utf-8"))


def _row(id: str, fields: dict[str, Any]) -> Row:
    if unknown := fields.keys() - FIELDS:
        raise ValueError(f"{id}: unknown fields {sorted(unknown)}")
    if fields.get("source") not in SOURCES or not id.startswith(fields["source"] + "-"):
        raise ValueError(f"{id}: source must be the prefix of the id, one of {sorted(SOURCES)}")
    if not fields.get("text", "").endswith("."):
        raise ValueError(f"{id}: text must be a sentence")
    return Row(id=id, **fields)


def read_claims(mark: str = "requirement") -> list[Claim]:
    return [
        claim
        for path in _files(TESTS)
        for claim in find_claims(path.read_text(encoding="utf-8"), _name(path), mark)
    ]


def read_tests(folder: Path) -> list[str]:
    """The names of all tests in a folder, marked or not."""
    return [
        test
        for path in _files(folder)
        for test in find_tests(path.read_text(encoding="utf-8"), _name(path))
    ]


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.py") if "node_modules" not in path.parts)


def _name(path: Path) -> str:
    return str(path.relative_to(TESTS))


def find_claims(source: str, name: str, mark: str = "requirement") -> list[Claim]:
    tests = _tests_of_body(ast.parse(source, name).body, name, [])
    return [claim for test, marks in tests for claim in _claims_of_test(test, marks, mark)]


def find_tests(source: str, name: str) -> list[str]:
    return [test for test, _ in _tests_of_body(ast.parse(source, name).body, name, [])]


def _tests_of_body(
    body: list[ast.stmt], where: str, inherited: list[ast.expr]
) -> Iterator[tuple[str, list[ast.expr]]]:
    """Each test with its marks."""
    marks = inherited + _pytestmark(body)
    for node in body:
        if isinstance(node, ast.ClassDef):
            inner = marks + node.decorator_list
            yield from _tests_of_body(node.body, f"{where}::{node.name}", inner)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name.startswith("test"):
                yield f"{where}::{node.name}", marks + node.decorator_list


def _pytestmark(body: list[ast.stmt]) -> list[ast.expr]:
    return [
        node.value
        for node in body
        if isinstance(node, ast.Assign)
        and any(isinstance(name, ast.Name) and name.id == "pytestmark" for name in node.targets)
    ]


def _claims_of_test(test: str, marks: list[ast.expr], mark: str) -> Iterator[Claim]:
    nodes = [node for mark in marks for node in ast.walk(mark)]
    real = any(_is_mark(node, "real_browser") for node in nodes)
    for node in nodes:
        if isinstance(node, ast.Call) and _is_mark(node.func, mark):
            for argument in node.args:
                yield Claim(_literal(argument, test), test, real)


def _is_mark(node: ast.AST, name: str) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr == name
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "mark"
    )


def _literal(node: ast.expr, test: str) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise ValueError(f"{test}: write the id in the mark as a plain string")


def problems(rows: dict[str, Row], claims: Iterable[Claim]) -> list[str]:
    """The disagreements between rows and tests, one sentence each; empty when they agree."""
    claims = list(claims)
    claimed = {claim.row for claim in claims}
    real_browser_rows = {claim.row for claim in claims if claim.real_browser}
    unknown = [
        f"{claim.test} is marked {claim.row}, which is not a row of requirements.toml."
        for claim in claims
        if claim.row not in rows
    ]
    due = [row for row in rows.values() if not row.planned]
    untested = [f"{row.id} has no test." for row in due if row.id not in claimed]
    unreal = [
        f"{row.id} has no test marked real_browser."
        for row in due
        if row.real and row.id in claimed - real_browser_rows
    ]
    return unknown + untested + unreal
