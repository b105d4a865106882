"""Finds plugins: installed ones, those that the settings name, those in the environment."""

import logging
import os
from collections.abc import Callable, Container, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from tabhub.config.settings import Settings
from tabhub.errors import InvalidArguments, NotFound, TabhubError
from tabhub.hub.texts import one_line
from tabhub.plugins.npm.installed_folders import InstalledFolders
from tabhub.plugins.package import PACKAGE_BYTES, Kind, Package, read_file, read_package
from tabhub.plugins.python_source import source_files
from tabhub.plugins.python_source.class_source import read_python
from tabhub.plugins.python_source.described_plugins import Descriptions
from tabhub.plugins.python_source.source_files import EntryPoint
from tabhub.wire.tool_names import plugin_tool_name

log = logging.getLogger(__name__)

LONGEST_MESSAGE = 500
MOST_FOLDERS = 1000
"""Subfolders of one folder that are looked at."""


class FailedPlugin(Struct, frozen=True):
    """A folder or file that should be a plugin, and why it is not loaded."""

    folder: Path
    reason: str
    message: str
    package: Package | None = None
    """What was read of it, if only its process, or another plugin, is against it."""

    @property
    def name(self) -> str:
        """What the plugin is called, as far as one can tell."""
        return self.folder.stem.replace("_", "-") if self.package is None else self.package.name


class _Place(NamedTuple):
    path: Path
    """For an entry point, only what to call it."""
    kind: Kind
    entry: EntryPoint | None = None


_Stamp = tuple[tuple[int, ...] | None, ...]
"""What the system says about each file of a package; a changed file has another one."""


class Plugins:
    """The plugins that there are now. A folder whose files are unchanged is not read again."""

    def __init__(
        self,
        installed: Path | None,
        settings: Callable[[], Settings],
        taken: Container[str] = (),
        descriptions: Descriptions | None = None,
        entry_points: Callable[[], list[EntryPoint]] = source_files.entry_points,
        *,
        keeps_working: bool = False,
    ) -> None:
        self._installed = installed
        self._settings = settings
        self._taken = taken
        """The names of tools that are no plugin's."""
        self.descriptions = descriptions or Descriptions(None)
        self._entry_points = entry_points
        self._keeps_working = keeps_working
        """Whether a linked plugin stays as it was while its files have a fault, as in dev mode."""
        self._working: dict[Path, Package] = {}
        self._known: dict[_Place, tuple[_Stamp, Package | TabhubError]] = {}
        self._packages: dict[str, Package] = {}
        self._listeners: list[Callable[[], None]] = []
        self.failed: list[FailedPlugin] = []
        self.faults: list[str] = []
        """What else went wrong, such as a folder of the settings that does not exist."""

    def all(self) -> Mapping[str, Package]:
        """The plugins by name."""
        return self._packages

    def get(self, name: str) -> Package:
        """A plugin by name; an error if there is none, with the reason if its folder failed."""
        package = self._packages.get(name)
        if package is not None:
            return package
        failed = self.find_failed(name)
        if failed is not None:
            raise NotFound(f"There is no plugin {name!r}. {failed.message}")
        raise NotFound(f"There is no plugin {one_line(name, 64)!r}.")

    def find_failed(self, name: str) -> FailedPlugin | None:
        """The plugin of this name that is not loaded, or not in its new version."""
        return next((failed for failed in self.failed if failed.name == name), None)

    def to_review(self, name: str) -> Package:
        """The version of a plugin that waits for its review, if there is one, else the plugin."""
        package = self.get(name)
        if self._installed is None or package.kind != "installed" or package.python is not None:
            return package
        waiting = InstalledFolders(self._installed).waiting(package.name)
        return read_package(waiting, "installed") if waiting.is_dir() else package

    def on_change(self, callback: Callable[[], None]) -> None:
        self._listeners.append(callback)

    def reload(self) -> int:
        """Look again; returns how many plugins there are."""
        before = (self._packages, self.failed, self.faults)
        self._look()
        if (self._packages, self.failed, self.faults) != before:
            self._log()
            for listener in self._listeners:
                listener()
        return len(self._packages)

    def stays_working(self, package: Package) -> bool:
        """Whether a plugin stays as it is while its files have a fault."""
        return self._keeps_working and package.kind == "local"

    def linked_stamps(self) -> Mapping[Path, object]:
        """The folders that the person has linked; the values differ after a change of a file."""
        paths = self._local(self._settings(), [])
        return {path: _stamp(_Place(path, "local")) for path in paths}

    def _log(self) -> None:
        for failed in self.failed:
            log.warning("%s: %s", failed.folder, failed.message)
        for fault in self.faults:
            log.warning("%s", fault)

    def _look(self) -> None:
        known, self._known = self._known, {}
        packages: dict[str, Package] = {}
        self.failed, self.faults = [], []
        for place in self._places():
            stamp = _stamp(place)
            was, read = known.get(place, (None, None))
            if read is None or was != stamp:
                read = _read(place)
            self._known[place] = (stamp, read)
            self._add(place, read, packages)
        self._packages = packages
        places = {place.path for place in self._known}
        self._working = {path: p for path, p in self._working.items() if path in places}

    def _add(
        self, place: _Place, read: Package | TabhubError, packages: dict[str, Package]
    ) -> None:
        complete = self.descriptions.complete(read) if isinstance(read, Package) else read
        error = complete if isinstance(complete, TabhubError) else self._refusal(complete, packages)
        if error is not None:
            message = one_line(error.message, LONGEST_MESSAGE)
            package = read if isinstance(read, Package) else None
            self.failed.append(FailedPlugin(place.path, error.reason, message, package))
        working = complete if error is None else self._working_before(place, complete)
        if isinstance(working, Package):
            # Local plugins are looked at first.
            packages.setdefault(working.name, working)
            if self.stays_working(working) and working.is_complete:
                self._working[place.path] = working

    def _working_before(self, place: _Place, read: Package | TabhubError) -> Package | None:
        """What a linked plugin was before its files had a fault, while its folder exists."""
        if isinstance(read, TabhubError) and place.kind == "local" and place.path.exists():
            return self._working.get(place.path)
        return None

    def _refusal(self, package: Package, packages: Mapping[str, Package]) -> TabhubError | None:
        other = packages.get(package.name)
        if other is not None and (other.kind != "local" or other.kind == package.kind):
            return _refused(f"{other.folder} has a plugin called {package.name} too")
        if package.kind == "installed" and _name_of_place(package) != package.name:
            what = "folder" if _is_folder(package) else "file"
            return _refused(f"its {what} must be called {package.name}")
        names = (plugin_tool_name(package.name, tool.name) for tool in package.tools)
        taken = next((name for name in names if name in self._taken), None)
        return None if taken is None else _refused(f"there is a tool called {taken} already")

    def _places(self) -> Iterator[_Place]:
        settings = self._settings()
        for path in dict.fromkeys(self._local(settings, self.faults)):
            yield _Place(path, "local")
        if self._installed is not None:
            for path in _children(self._installed, self.faults):
                yield _Place(path, "installed")
        for entry in self._entry_points():
            yield _Place(Path(entry.package or entry.value), "environment", entry)

    def _local(self, settings: Settings, faults: list[str]) -> Iterator[Path]:
        yield from (_path(name) for name in settings.local_plugins)
        for name in settings.local_plugin_dirs:
            folder = _path(name)
            if not folder.is_dir():
                faults.append(f"localPluginDirs: {folder} is not a folder.")
            for path in _children(folder, faults):
                if path in self._working or _has_plugin(path):
                    yield path


def _children(folder: Path, faults: list[str]) -> list[Path]:
    """The folders and Python files in a folder; with a dot in front they are tabhub's own."""
    try:
        with os.scandir(folder) as entries:
            found = sorted(entry.name for entry in entries if _is_child(entry))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        faults.append(f"{folder} cannot be read ({error.strerror}).")
        return []
    if len(found) > MOST_FOLDERS:
        faults.append(f"{folder} has more than {MOST_FOLDERS} folders; the rest is left.")
    return [folder / name for name in found[:MOST_FOLDERS]]


def _path(name: str) -> Path:
    return Path(name).expanduser()


def _is_child(entry: os.DirEntry[str]) -> bool:
    is_shown = not entry.name.startswith((".", "__"))
    return is_shown and (entry.is_dir() or entry.name.endswith(source_files.SUFFIX))


def _is_folder(package: Package) -> bool:
    return package.python is None or package.python.main == source_files.MAIN


def _name_of_place(package: Package) -> str:
    """What a folder or file calls the plugin in it."""
    if package.python is None or _is_folder(package):
        return package.folder.name
    return package.python.main.removesuffix(source_files.SUFFIX).replace("_", "-")


def _has_plugin(folder: Path) -> bool:
    """Whether something is meant to be a plugin, in a folder that may have other things."""
    if source_files.mentions_sdk(folder):
        return True
    try:
        return b'"opentabs"' in read_file(folder / "package.json", PACKAGE_BYTES)
    except TabhubError:
        return False


def _stamp(place: _Place) -> _Stamp:
    if place.entry is None and not place.path.exists():
        return ()
    if place.entry is None and not source_files.is_plugin(place.path):
        return _package_stamp(place.path)
    try:
        files = source_files.watched_files(_location(place))
    except TabhubError:
        return ()
    return tuple(map(_file_stamp, files))


def _location(place: _Place) -> source_files.Location:
    if place.entry is not None:
        return source_files.location_of_entry_point(place.entry)
    return source_files.location_of(place.path)


def _package_stamp(folder: Path) -> _Stamp:
    dist = folder / "dist"
    try:
        names = sorted(os.listdir(dist))
    except OSError:
        names = []
    files = [dist / name for name in names if name.endswith((".js", ".json"))]
    return tuple(map(_file_stamp, (folder / "package.json", *files)))


def _file_stamp(path: Path) -> tuple[int, ...] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    # The time of the last change of the file's record cannot be set back.
    times = (status.st_mtime_ns, status.st_ctime_ns)
    return (status.st_dev, status.st_ino, status.st_size, *times)


def _read(place: _Place) -> Package | TabhubError:
    if place.entry is None and not place.path.exists():
        return NotFound("This plugin is not loaded: its path does not exist.")
    try:
        if place.entry is not None or source_files.is_plugin(place.path):
            return read_python(_location(place), place.path.name, place.kind)
        return read_package(place.path, place.kind)
    except TabhubError as error:
        # Without the traceback, which would keep the content of the files.
        return error.with_traceback(None)


def _refused(reason: str) -> TabhubError:
    return InvalidArguments(f"This plugin is not loaded: {reason}.")
