"""The files of a plugin in Python: where they are, and reading them. Nothing of them is imported.

A plugin is one file, a folder with `plugin.py`, or a package of the server's environment with an
entry point of the group `tabhub.plugins`.
"""

import os
import sys
from collections.abc import Iterator
from importlib import invalidate_caches, metadata
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from tabhub.errors import NotFound, TabhubError
from tabhub.plugins.package import PACKAGE_BYTES, Package, read_file, refuse, shown

GROUP = "tabhub.plugins"
MAIN = "plugin.py"
SUFFIX = ".py"
MOST_FILES = 200
MOST_BYTES = 5 * 1024 * 1024
"""Of all files of one plugin together."""
_OWN = frozenset(sys.stdlib_module_names) | {"tabhub", "msgspec"}
"""Modules that a plugin's own must not hide."""


class EntryPoint(NamedTuple):
    """An entry point of the server's environment."""

    value: str
    """Such as `acme_notes.plugin:Notes`."""
    package: str
    """The distribution that has it."""


class Location(NamedTuple):
    """Where the files of a plugin are."""

    folder: Path
    main: str
    """The file of its class, by its name in the folder."""
    is_single: bool
    """Whether it is this one file, and the folder has other things."""
    prefix: str = ""
    """The package that the folder is; empty if its modules have no parent."""
    class_name: str = ""
    """The class; empty if it has to be found in the file."""


class SourceModule(NamedTuple):
    """A module of a plugin, as its process loads it."""

    name: str
    file: str
    is_package: bool


def entry_points() -> list[EntryPoint]:
    """The entry points that there are now."""
    invalidate_caches()
    found = metadata.entry_points(group=GROUP)
    return sorted({EntryPoint(one.value, one.dist.name if one.dist else "") for one in found})


def is_plugin(path: Path) -> bool:
    """Whether a path is meant to be a plugin in Python, if it is not one of OpenTabs."""
    if path.suffix == SUFFIX:
        return path.is_file()
    return (path / MAIN).is_file() and not (path / "package.json").exists()


def mentions_sdk(path: Path) -> bool:
    """The same, in a folder that may have other things: whether the file uses the SDK."""
    main = path if path.suffix == SUFFIX else path / MAIN
    try:
        return is_plugin(path) and b"tabhub.sdk" in read_file(main, PACKAGE_BYTES)
    except (TabhubError, OSError):
        return False


def location_of(path: Path) -> Location:
    """Where the files of a plugin at a path are."""
    is_single = path.suffix == SUFFIX
    return Location(path.parent, path.name, True) if is_single else Location(path, MAIN, False)


def location_of_entry_point(entry: EntryPoint) -> Location:
    """Where the files of an entry point's package are, without importing it or its parents."""
    module, _, class_name = entry.value.partition(":")
    parts = module.strip().split(".")
    if not all(part.isidentifier() for part in (*parts, class_name.strip())):
        refuse(f"{shown(entry.value)} is no entry point such as acme_notes.plugin:Notes")
    try:
        spec = find_spec(parts[0])
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        raise NotFound(f"This plugin is not loaded: there is no module {parts[0]}.")
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
    single = None if folders or spec.origin is None else Path(spec.origin)
    return _walked(folders, single, parts)._replace(class_name=class_name.strip())


def _walked(folders: list[Path], single: Path | None, parts: list[str]) -> Location:
    """Go down from the first package: a namespace is shared with others, so it does not count."""
    depth = 1
    while single is None and depth < len(parts) and not _first(folders, "__init__.py"):
        single = _first(folders, parts[depth] + SUFFIX)
        folders = [folder / parts[depth] for folder in folders]
        depth += 1
    if single is not None:
        if depth < len(parts) or single.suffix != SUFFIX:
            refuse(f"{'.'.join(parts)} is no module with a source")
        return Location(single.parent, single.name, True, ".".join(parts[: depth - 1]))
    init = _first(folders, "__init__.py")
    if init is None:
        raise NotFound(f"This plugin is not loaded: there is no module {'.'.join(parts)}.")
    folder, rest = init.parent, "/".join(parts[depth:])
    names = (f"{rest}{SUFFIX}", f"{rest}/__init__.py") if rest else ("__init__.py",)
    for name in names:
        if (folder / name).is_file():
            return Location(folder, name, False, ".".join(parts[:depth]))
    raise NotFound(f"This plugin is not loaded: there is no module {'.'.join(parts)}.")


def _first(folders: list[Path], name: str) -> Path | None:
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def names_of(location: Location) -> list[str]:
    """The names of a plugin's modules, that of its class first."""
    if location.is_single:
        return [location.main]
    names = []
    for name in _found(location.folder):
        names.append(name)
        if len(names) > MOST_FILES:
            refuse(f"its folder has more than {MOST_FILES} files of Python")
    return sorted(names, key=lambda name: (name != location.main, name))


def _found(folder: Path) -> Iterator[str]:
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__" and name[0] != ".")
        place = Path(parent).relative_to(folder)
        yield from ((place / name).as_posix() for name in files if name.endswith(SUFFIX))


def watched_files(location: Location) -> list[Path]:
    """Every file that could belong to a plugin, to see whether one has changed."""
    names = names_of(location)
    scripts = sorted(location.folder.glob("*.js"))[:MOST_FILES]
    return [*(location.folder / name for name in names), *scripts]


def read_modules(location: Location) -> dict[str, bytes]:
    """The modules of a plugin by the names of their files."""
    found: dict[str, bytes] = {}
    for name in names_of(location):
        found[name] = read_file(location.folder / name, MOST_BYTES, may_be_empty=True)
        if sum(map(len, found.values())) > MOST_BYTES:
            refuse(f"its files have more than {MOST_BYTES} bytes together")
    if not found.get(location.main):
        refuse(f"{location.main} is empty")
    for module in modules(location.prefix, found):
        if module.name in _OWN:
            refuse(f"{module.file} would hide the module {module.name}")
    return found


def modules_of(package: Package) -> list[SourceModule]:
    """The modules of a plugin that was read; the first is that of its class."""
    if package.python is None:
        return []
    names = [name for name in package.digests if name.endswith(SUFFIX)]
    return list(modules(package.python.prefix, names))


def modules(prefix: str, names: "list[str] | dict[str, bytes]") -> Iterator[SourceModule]:
    """The modules in these files, with the name under which each is imported."""
    for name in names:
        parts = [*filter(None, prefix.split(".")), *name.removesuffix(SUFFIX).split("/")]
        is_package = parts[-1] == "__init__"
        dotted = ".".join(parts[:-1] if is_package else parts).replace("-", "_")
        if dotted:
            yield SourceModule(dotted, name, is_package)
