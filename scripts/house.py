"""Prints figures about the source tree. They are a mirror, not a gate: nothing fails.

With `--click`, as in `make house`, it also starts a browser and counts the files that one click
runs through.
"""

import ast
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import median, quantiles
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"
LARGEST_FOLDER = 20
CODE = {".py", ".js", ".ts"}


class Row(NamedTuple):
    """One figure, and its target."""

    name: str
    value: str
    aim: str = ""


class Module(NamedTuple):
    """A Python module and the modules it imports: at its top, and anywhere in it."""

    path: Path
    tree: ast.Module
    at_top: set[str]
    anywhere: set[str]


def modules() -> dict[str, Module]:
    """Every module of the package, by its dotted name."""
    files = sorted((SOURCE / "tabhub").rglob("*.py"))
    # Templates are what others begin with, not a part of the package.
    paths = {_name(path): path for path in files if "templates" not in path.parts}
    found = {}
    for name, path in paths.items():
        tree = ast.parse(path.read_text())
        at_top = {module for node in tree.body for module in imported(node, paths)}
        anywhere = {module for node in ast.walk(tree) for module in imported(node, paths)}
        found[name] = Module(path, tree, at_top - {name}, anywhere - {name})
    return found


def _name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(node: ast.AST, known: dict[str, Path]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in known)
    elif isinstance(node, ast.ImportFrom) and node.module in known:
        for alias in node.names:
            inner = f"{node.module}.{alias.name}"
            yield inner if inner in known else node.module


def import_depth(tree: dict[str, Module]) -> int:
    """The longest chain of modules in which each imports the next at its top."""

    @cache
    def depth(name: str) -> int:
        return 1 + max(map(depth, tree[name].at_top), default=0)

    return max(map(depth, tree))


def single_importers(tree: dict[str, Module]) -> int:
    """Modules that exactly one other module imports."""
    importers: defaultdict[str, int] = defaultdict(int)
    for module in tree.values():
        for imported in module.anywhere:
            importers[imported] += 1
    return sum(count == 1 for count in importers.values())


def duplicate_names(tree: dict[str, Module]) -> list[str]:
    stems = Counter(m.path.stem for m in tree.values() if m.path.stem != "__init__")
    return sorted(stem for stem, count in stems.items() if count > 1)


def duplicate_classes(tree: dict[str, Module]) -> list[str]:
    classes = Counter(
        node.name
        for module in tree.values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef)
    )
    return sorted(name for name, count in classes.items() if count > 1)


def functions(tree: dict[str, Module]) -> list[int]:
    """The length of each function, in lines."""
    return [
        (node.end_lineno or node.lineno) - node.lineno + 1
        for module in tree.values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def folders() -> dict[str, int]:
    """The number of code files in each folder that git tracks."""
    tracked = ["src", "extension", "pagekit", "tests", "bench", "scripts"]
    listed = subprocess.run(
        ["git", "ls-files", *tracked], cwd=ROOT, capture_output=True, text=True, check=True
    )
    code = (Path(line) for line in listed.stdout.splitlines() if Path(line).suffix in CODE)
    return Counter(str(path.parent) for path in code if (ROOT / path).exists())


def rows() -> Iterator[Row]:
    tree = modules()
    lines = [len(module.path.read_text().splitlines()) for module in tree.values()]
    yield Row("Python files", str(len(tree)), "≤ 230")
    yield Row("median file, lines", f"{median(lines):.0f}", "140 to 250")
    yield Row("import depth", str(import_depth(tree)), "≤ 15")
    yield Row("modules with one importer", str(single_importers(tree)), "≤ 40")
    full = {name: count for name, count in folders().items() if count > LARGEST_FOLDER}
    listed = ", ".join(f"{name} {count}" for name, count in sorted(full.items()))
    yield Row(f"folders over {LARGEST_FOLDER} files", listed or "none", "none")
    duplicates = duplicate_names(tree)
    yield Row("duplicate base names", f"{len(duplicates)} ({', '.join(duplicates)})", "≤ 10")
    classes = duplicate_classes(tree)
    yield Row("duplicate class names", f"{len(classes)} ({', '.join(classes)})")
    sizes = functions(tree)
    tenth = quantiles(sizes, n=10)[-1]
    yield Row("function, lines: median and p90", f"{median(sizes):.0f} and {tenth:.0f}", "5 and 13")
    words = len((ROOT / "README.md").read_text().split())
    yield Row("README, words", str(words), "≤ 600")


def click_rows() -> Iterator[Row]:
    from bench.browser.click_path import click_path

    path = click_path()
    yield Row("Python files in one click", str(len(path.python)), "≤ 32")
    yield Row("extension files in one click", str(len(path.extension)), "≤ 25")
    yield Row("objects that carry the call", str(len(path.carriers)), "≤ 6")
    for name in (*path.python, *path.extension, *path.carriers):
        yield Row("  " + name, "")


def main(arguments: list[str]) -> None:
    figures = [*rows(), *(click_rows() if "--click" in arguments else ())]
    for row in figures:
        print(f"{row.name:<34} {row.value}" + (f"  (aim: {row.aim})" if row.aim else ""))


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main(sys.argv[1:])
