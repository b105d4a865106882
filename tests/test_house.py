"""The rules of the house that a machine can check.

`make house` prints the same figures. Each of the ten changes in CONTRIBUTING.md has a test that
fails if one of its places is forgotten:

| change | forgotten | test |
|---|---|---|
| Add a browser tool | the catalog does not list it | `tests/tools/test_catalog.py` |
| | no decision whether shortcuts record it | `tests/tools/test_recording.py` |
| | its command has no type or no handler | `tests/browser/link/test_command_checks.py`, `tsc` |
| Add a reason word | the server raises it and the table lacks it | `tests/test_errors.py` |
| | the extension gives it and the table lacks it | `tests/extension/test_reason_words.py` |
| | it is not documented | `tests/test_errors.py` |
| Change the default time limit | the documentation says another | `tests/test_docs.py` |
| Add an endpoint | no access, handler or OpenAPI entry | `tests/agents/http/test_routes.py` |
| | the description lacks it | `tests/agents/test_openapi.py` |
| Add a source of tools | no source is registered under its name | `tests/server/test_tooling.py` |
| Add a view to the panel | no element, or it stays empty | `tests/extension/panel/test_views.py` |
| | its state does not fit its type | `tests/browser/link/test_methods.py`, `tsc` |
| Support another browser | it is not found, or not started | `tests/browser/launcher` |
| Change how refs are made | a ref is not understood | `tests/extension`, `tests/real/reading` |
| Add a setting | no description | `tests/config/test_keys.py`, `tests/test_docs.py` |
| | no decision when it takes effect | `tests/config/test_keys.py` |
| Carry the link over another transport | no handler | `tests/browser/link/test_methods.py` |
| | its endpoint has no route | `tests/agents/http/test_routes.py` |
"""

import ast
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts import house

ROOT = Path(__file__).parents[1]
MODULES = house.modules()
DEEPEST_IMPORT = 15
MOST_DUPLICATES = 10
SHARED_CLASS_NAMES = {
    "Page": "the one that page tools keep, and the SDK's, which authors of plugins import",
    "Response": "of a registry, and the SDK's, which authors of plugins import",
    "Tab": "the hub's tab, and the link's, whose name is in the published schema",
}
NAMED_PATH = re.compile(r"`(tests/[\w/.]+)`")


def test_no_folder_has_more_files_than_one_can_look_over() -> None:
    full = {name for name, count in house.folders().items() if count > house.LARGEST_FOLDER}
    assert full == set()


def test_few_modules_share_a_name() -> None:
    assert len(house.duplicate_names(MODULES)) <= MOST_DUPLICATES


def test_no_two_classes_share_a_name() -> None:
    assert set(house.duplicate_classes(MODULES)) == SHARED_CLASS_NAMES.keys()


def test_no_chain_of_imports_is_long() -> None:
    assert house.import_depth(MODULES) <= DEEPEST_IMPORT


def test_every_package_says_what_it_is() -> None:
    folders = {module.path.parent for module in MODULES.values()}
    packages = {m.path.parent: m for m in MODULES.values() if m.path.name == "__init__.py"}
    assert folders - packages.keys() == set()
    assert [str(f) for f, module in packages.items() if not ast.get_docstring(module.tree)] == []


def _imports(tree: ast.Module) -> Iterator[str]:
    """Every module that is named in an import, and what is taken from it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_no_module_imports_itself() -> None:
    paths = {name: module.path for name, module in MODULES.items()}
    for name, module in MODULES.items():
        nodes = ast.walk(module.tree)
        assert name not in {one for node in nodes for one in house.imported(node, paths)}, name


def _test_code() -> list[Path]:
    return [p for p in sorted((ROOT / "tests").rglob("*.py")) if "node_modules" not in p.parts]


def test_no_test_module_is_imported() -> None:
    """What tests share is in a module of its own, or a fixture in a conftest."""
    imported = re.compile(r"tests\.(?:.+\.)?test_\w+")
    found = {
        str(path.relative_to(ROOT)): name
        for path in _test_code()
        for name in _imports(ast.parse(path.read_text()))
        if imported.match(name)
    }
    assert found == {}


def test_only_one_module_of_the_tests_looks_again_and_again() -> None:
    """A loop whose body only sleeps is `eventually()` written by hand."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in _test_code()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.While) and len(node.body) == 1 and _is_sleep(node.body[0])
    ]
    assert found == []


def _is_sleep(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and "sleep(" in ast.unparse(statement)


@pytest.mark.parametrize("path", sorted({*NAMED_PATH.findall(__doc__ or "")}))
def test_the_test_of_each_change_exists(path: str) -> None:
    assert (ROOT / path).exists()


def test_every_change_of_the_contributing_page_is_in_the_table_above() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text()
    changes = re.findall(r"^\| \*\*(.+?)\*\* \|", page, re.MULTILINE)
    assert len(changes) == 10
    rows = re.findall(r"^\| (\w.+?) \| \w.+ \| `", __doc__ or "", re.MULTILINE)
    assert rows == changes


def test_every_test_that_the_contributing_page_names_exists() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text()
    named = {path for path in NAMED_PATH.findall(page) if "path/test_file" not in path}
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_every_file_and_folder_that_a_page_names_exists(page: str) -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    files = {f"/{line}" for line in listed.stdout.splitlines()}
    known = "\n".join(files | {f"{os.path.dirname(file)}/" for file in files}) + "\n"
    text = (ROOT / page).read_text()
    names = re.findall(r"`([\w.@-]*/?[\w./-]*(?:\.(?:py|js|json|html|toml|md)|/))`", text)
    assert [name for name in sorted({*names}) if f"/{name}\n" not in known] == []
