"""What a person reads before they approve a plugin: its files, and what is new in them."""

import re
from collections.abc import Iterator
from difflib import unified_diff
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec import Struct

from tabhub.errors import InvalidArguments, TabhubError
from tabhub.plugins.package import MOST_BYTES, Package, read_file
from tabhub.plugins.plugin_settings import instances
from tabhub.wire.tool_names import plugin_tool_name

COMPARED_LINES = 4000
"""Where more lines than this differ, only their number is told: comparing them takes too long."""
CONTEXT_LINES = 3
_START = re.compile(r"([-+])([0-9]+)")
"""Where a part of a difference begins in one of the files."""
IN_PAGES = "Its code runs in these pages as you: it can do there whatever you can do."
NO_SANDBOX = (
    "It is a program in Python, and runs on this computer as your own user, in no sandbox: it can "
    "read and change your files, use the network, and act in these pages as you. What it imports "
    "from elsewhere, its dependencies, is not part of this review."
)


class ReviewedFile(Struct, frozen=True):
    """One file of a package, as it was when its digest was taken."""

    name: str
    """Within the folder of the package."""
    content: bytes
    digest: str

    @property
    def text(self) -> str:
        return self.content.decode(errors="replace")


def files_of(package: Package) -> list[ReviewedFile]:
    """The files that decide what a plugin does; an error if one is no longer the file we know."""
    return [known_file(package, package.folder / name) for name in package.digests]


def known_file(package: Package, path: Path) -> ReviewedFile:
    """A file of a plugin; an error if it is no longer the file we know."""
    name = path.relative_to(package.folder).as_posix()
    digest = package.digests[name]
    content = read_file(path, MOST_BYTES, may_be_empty=True)
    if sha256(content).hexdigest() != digest:
        raise InvalidArguments(
            f"{name} of the plugin {package.name} has changed since it was read. Nothing was "
            f"done. The server takes the change at its next reload; to see and approve it: tabhub "
            f"plugin review {package.name}"
        )
    return ReviewedFile(name, content, digest)


class Difference(Struct, frozen=True):
    """What has changed in one file since the last review."""

    name: str
    lines: list[str]
    """As `diff -u` writes them, without the names of the files."""


def differences(files: list[ReviewedFile], reviewed: Path) -> list[Difference]:
    """The changes of these files against the copies in a folder; none for files that are equal."""
    before = {file.name: _copy(reviewed / file.name) for file in files}
    changes = [
        Difference(file.name, list(_changed_lines(before[file.name], file.text)))
        for file in files
        if before[file.name] != file.text
    ]
    return changes + [Difference(name, ["- the whole file"]) for name in _gone(files, reviewed)]


def _gone(files: list[ReviewedFile], reviewed: Path) -> list[str]:
    now = {file.name for file in files}
    copies = (path for path in reviewed.rglob("*") if path.is_file())
    return sorted({path.relative_to(reviewed).as_posix() for path in copies} - now)


def _copy(path: Path) -> str:
    try:
        return read_file(path, MOST_BYTES).decode(errors="replace")
    except TabhubError:
        return ""


def _changed_lines(before: str, after: str) -> Iterator[str]:
    """The differing lines, found in reasonable time whatever the files are."""
    # `splitlines` also splits where JavaScript and Python do not: a line could leave its comment
    # unseen.
    old, new = before.split("\n"), after.split("\n")
    first = _common(old, new)
    last = _common(old[first:][::-1], new[first:][::-1])
    old_part, new_part = old[first : len(old) - last], new[first : len(new) - last]
    if max(len(old_part), len(new_part)) > COMPARED_LINES:
        yield (
            f"{len(old_part)} lines from line {first + 1} on are replaced by {len(new_part)} others"
        )
        return
    begin = max(first - CONTEXT_LINES, 0)
    end = max(last - CONTEXT_LINES, 0)
    around_old, around_new = old[begin : len(old) - end], new[begin : len(new) - end]
    lines = unified_diff(around_old, around_new, n=CONTEXT_LINES, lineterm="")
    yield from (_moved(line, begin) for number, line in enumerate(lines) if number > 1)


def _moved(line: str, by: int) -> str:
    """A line of a difference; if it is a heading, with the numbers that the lines have in the file.

    The lines of the files themselves begin with a space, a plus or a minus.
    """
    if not line.startswith("@@"):
        return line
    return _START.sub(lambda found: f"{found[1]}{int(found[2]) + by}", line)


def _common(old: list[str], new: list[str]) -> int:
    """How many lines both begin with."""
    pairs = zip(old, new, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(old), len(new)))


def default_addresses(package: Package) -> list[str]:
    """Where it also runs unless the person sets other addresses: the author chose these."""
    return list(instances(package, {}).values())


def summary(package: Package, files: list[ReviewedFile]) -> dict[str, Any]:
    """What a person, or an agent for them, should know about a plugin before it runs."""
    return {
        "name": package.name,
        "package": package.package,
        "version": package.version,
        "title": package.title,
        "description": package.description,
        "source": package.kind,
        "folder": str(package.folder),
        "homepage": package.homepage or None,
        "urlPatterns": list(package.url_patterns),
        "defaultAddresses": default_addresses(package),
        "excludePatterns": list(package.exclude_patterns),
        "hasPreScript": package.pre_script is not None,
        "settings": list(package.settings),
        **_of_python(package),
        "tools": [
            {"name": plugin_tool_name(package.name, tool.name), "description": tool.description}
            for tool in package.tools
        ],
        "files": [
            {"name": file.name, "bytes": len(file.content), "sha256": file.digest} for file in files
        ],
    }


def _of_python(package: Package) -> dict[str, Any]:
    code = package.python
    return {
        "language": "javascript" if code is None else "python",
        "hosts": [] if code is None else list(code.hosts),
        "readsCookies": code is not None and code.cookies,
        "warning": IN_PAGES if code is None else NO_SANDBOX,
    }
