"""The table of reason words: it has every word that the server uses, and all are documented.

The words of the extension are checked by tests/extension/test_reason_words.py.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from tabhub import errors
from tabhub.errors import REASONS, TabhubError, from_reason

ROOT = Path(__file__).parents[1]
KINDS = {
    name
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, TabhubError)
}


def _reasons(call: ast.Call) -> Iterator[str]:
    """The literal reason in the call of an error class."""
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    values = [keyword.value for keyword in call.keywords if keyword.arg == "reason"]
    if name in KINDS:
        values += call.args[1:2]
    elif name == from_reason.__name__:
        values += call.args[:1]
    for value in values if name in KINDS or name == from_reason.__name__ else ():
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield value.value


def _calls() -> Iterator[tuple[str, ast.Call]]:
    """Every call in the server's source, and the name of its file."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                yield path.name, node


def _used() -> dict[str, set[str]]:
    """Each word that the server raises, and the files that raise it."""
    used: dict[str, set[str]] = {}
    for file, call in _calls():
        for word in _reasons(call):
            used.setdefault(word, set()).add(file)
    return used


def test_every_reason_that_the_server_raises_is_in_the_table() -> None:
    used = _used()
    assert len(used) > 30
    assert {word: files for word, files in used.items() if word not in REASONS} == {}


def test_every_error_has_the_class_under_which_the_table_lists_its_reason() -> None:
    found = {
        (file, call.func.id, word)
        for file, call in _calls()
        if isinstance(call.func, ast.Name) and call.func.id in KINDS
        for word in _reasons(call)
        if call.func.id != type(from_reason(word, "")).__name__
    }
    assert found == set()


def test_the_default_reason_of_every_kind_of_error_is_in_the_table() -> None:
    assert {getattr(errors, name).default for name in KINDS} - REASONS.keys() == set()


def test_every_reason_is_documented() -> None:
    page = (ROOT / "docs" / "errors.md").read_text()
    assert [word for word in REASONS if f"| `{word}` |" not in page] == []
