"""The reference of the SDK in docs/python-plugins.md, from its source."""

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from tabhub import sdk
from tabhub.sdk import testing

SDK = Path(__file__).parents[1] / "src" / "tabhub" / "sdk"
FIXTURES = frozenset({"plugin", "page", "live_page"})
"""They have a table of their own in the page."""
HOOKS = frozenset({"pytest_addoption", "pytest_pyfunc_call"})
_SECTION = re.compile(r"(<!-- sdk: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def filled(before: str) -> str:
    """The page with a new reference between its marks."""
    return _SECTION.sub(lambda found: found[1] + _reference(found[2]) + found[3], before)


def names(section: str) -> list[str]:
    """The public names that a section of the reference describes, classes first."""
    given = set(testing.__all__) - FIXTURES - HOOKS if section == "testing" else set(sdk.__all__)
    return sorted(given, key=lambda name: (name[0].islower(), name))


def _reference(section: str) -> str:
    defined = dict(_definitions())
    return "".join(f"### {name}\n\n{_entry(*defined[name])}\n" for name in names(section))


def _definitions() -> Iterator[tuple[str, tuple[ast.stmt, str]]]:
    """The definitions in the files of the SDK, with the string below each."""
    for file in sorted(SDK.rglob("*.py")):
        for node, text in _with_texts(ast.parse(file.read_text()).body):
            if isinstance(node, ast.ClassDef | _Function) and ast.get_docstring(node):
                yield node.name, (node, "")
            elif isinstance(node, ast.Assign) and text:
                yield ast.unparse(node.targets[0]), (node, text)


def _entry(node: ast.stmt, text: str) -> str:
    if isinstance(node, _Function):
        return f"`{_signature(node.name, node)}`\n\n{_docstring(node)}\n"
    if not isinstance(node, ast.ClassDef):
        return f"{text}\n"
    rows = "".join(f"| `{shown}` | {text} |\n" for shown, text in _members(node))
    return f"{_docstring(node)}\n" + (f"\n| | |\n|---|---|\n{rows}" if rows else "")


def _members(kind: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """What users of a class may read and call."""
    for node, text in _with_texts(kind.body):
        if isinstance(node, ast.AnnAssign):
            yield f"{ast.unparse(node.target)}: {_hint(node.annotation)}", text
        elif isinstance(node, _Function) and node.name == "__init__":
            if ast.get_docstring(node):
                yield _signature(kind.name, node), _docstring(node)
            yield from _own_attributes(node)
        elif isinstance(node, _Function) and node.name[0] != "_" and ast.get_docstring(node):
            is_property = any(ast.unparse(mark) == "property" for mark in node.decorator_list)
            yield node.name if is_property else _signature(node.name, node), _docstring(node)


def _own_attributes(init: _Function) -> Iterator[tuple[str, str]]:
    for node, text in _with_texts(init.body):
        if isinstance(node, ast.AnnAssign) and text:
            yield (
                f"{ast.unparse(node.target).removeprefix('self.')}: {_hint(node.annotation)}",
                text,
            )


def _with_texts(body: list[ast.stmt]) -> Iterator[tuple[ast.stmt, str]]:
    """Each statement with the string that stands below it."""
    for node, below in pairwise([*body, ast.Pass()]):
        written = below.value if isinstance(below, ast.Expr) else None
        text = written.value if isinstance(written, ast.Constant) else ""
        yield node, " ".join(str(text).split())


def _signature(name: str, function: _Function) -> str:
    given = function.args
    plain = [one.arg for one in [*given.posonlyargs, *given.args] if one.arg != "self"]
    defaults = [f"={ast.unparse(default)}" for default in given.defaults]
    shown = [one + more for one, more in zip(plain, _padded(defaults, len(plain)), strict=True)]
    named = [
        one.arg + (f"={ast.unparse(default)}" if default else "")
        for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
    ]
    rest = ["…"] if given.vararg or given.kwarg else []
    start = (
        "await " if isinstance(function, ast.AsyncFunctionDef) and not _is_block(function) else ""
    )
    return _cell(f"{start}{name}({', '.join([*shown, *(['*'] if named else []), *named, *rest])})")


def _padded(defaults: list[str], count: int) -> list[str]:
    return [""] * (count - len(defaults)) + defaults


def _is_block(function: _Function) -> bool:
    return any("contextmanager" in ast.unparse(mark) for mark in function.decorator_list)


def _hint(annotation: ast.expr) -> str:
    written = ast.unparse(annotation)
    found = re.fullmatch(r"ClassVar\[(.*)\]", written)
    return _cell(found[1] if found else written)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _docstring(node: ast.ClassDef | _Function) -> str:
    return " ".join((ast.get_docstring(node) or "").split())
