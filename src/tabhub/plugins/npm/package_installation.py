"""Installs plugins from the registry into tabhub's home, updates and removes them.

While the person has reviewed the installed version, a newer one waits beside it, so that the
reviewed one keeps running.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from tabhub.errors import InvalidArguments, NotFound, TabhubError
from tabhub.hub.texts import one_line
from tabhub.plugins.npm.archive import refused, unpack
from tabhub.plugins.npm.installed_folders import InstalledFolders
from tabhub.plugins.npm.npm_registry import Registry, Release, is_newer, parse_specifier
from tabhub.plugins.package import Package, plugin_name, read_package
from tabhub.plugins.python_source.source_files import is_plugin

AT_ONCE = 4
"""Requests to the registry during a check for updates."""


class Installed(Struct, frozen=True):
    """A package that now has its place."""

    package: Package
    waits: bool = False
    """Whether it lies beside the reviewed version until the person reviews it too."""
    is_new: bool = True
    """False if exactly this was there before."""


class Update(Struct, frozen=True):
    """A newer version of an installed plugin."""

    name: str
    package: str
    current: str
    latest: str


class UpdateCheck(Struct, frozen=True):
    """The newer versions, and why some plugins could not be checked."""

    updates: list[Update]
    failed: dict[str, str]


class Installation:
    """The installed packages in one folder."""

    def __init__(
        self, folder: Path, registry: Registry, is_reviewed: Callable[[Package], bool]
    ) -> None:
        self._folder = folder
        self._folders = InstalledFolders(folder)
        self._registry = registry
        self._is_reviewed = is_reviewed

    async def install(self, specifier: str) -> Installed:
        """Install `name`, `name@version` or `name@tag`; it can be used once it is reviewed."""
        package, version = parse_specifier(specifier)
        self._require_place(plugin_name(package), package)
        return await self._fetch(await self._registry.release(package, version))

    async def update(self, name: str) -> Installed | None:
        """Fetch the latest version of an installed plugin; None if there is no newer one."""
        newest = self.newest(name)
        release = await self._registry.release(newest.package)
        return await self._fetch(release) if is_newer(release.version, newest.version) else None

    async def check(self) -> UpdateCheck:
        """Ask the registry for newer versions of all installed plugins, without fetching any."""
        slots = asyncio.Semaphore(AT_ONCE)
        updates: list[Update] = []
        failed: dict[str, str] = {}

        async def look(name: str) -> None:
            try:
                async with slots:
                    updates.extend(await self._update_of(name))
            except TabhubError as error:
                failed[name] = error.message

        await asyncio.gather(*map(look, self.names()))
        return UpdateCheck(sorted(updates, key=lambda update: update.name), failed)

    def names(self) -> list[str]:
        """The names of what is installed, also of what cannot be read."""
        return sorted(path.name for path in _folders(self._folder) if not is_plugin(path))

    def has(self, name: str) -> bool:
        """Whether a plugin, in whatever language, is installed under this name."""
        return name in self.names() or bool(self._in_python(name))

    def _in_python(self, name: str) -> list[Path]:
        """The files and folders of a plugin in Python, which a person has put there."""
        file = name.replace("-", "_")
        places = (self._folder / part for part in (name, f"{name}.py", f"{file}.py"))
        return [place for place in dict.fromkeys(places) if _is_name(name) and is_plugin(place)]

    def waiting(self, name: str) -> Package | None:
        """The version that waits for its review."""
        if not _is_name(name):
            return None
        with suppress(TabhubError):
            return read_package(self._folders.waiting(name), "installed")
        return None

    def remove(self, name: str) -> None:
        """Remove an installed plugin, also one that cannot be read."""
        folders = self._folders
        with folders.changing():
            in_python = self._in_python(name)
            if not in_python:
                self._require_installed(name)
            for place in in_python or (folders.place(name), folders.waiting(name)):
                folders.discard(place)

    def name_of(self, specifier: str) -> str:
        """The plugin that was installed from a package; its own name is understood too."""
        if self.has(specifier):
            return specifier
        try:
            package, _ = parse_specifier(specifier)
        except TabhubError:
            raise _not_installed(specifier) from None
        name = plugin_name(package)
        self._require_installed(name)
        self._require_place(name, package)
        return name

    async def _update_of(self, name: str) -> list[Update]:
        newest = self.newest(name)
        release = await self._registry.release(newest.package)
        if not is_newer(release.version, newest.version):
            return []
        return [Update(name, newest.package, newest.version, release.version)]

    def newest(self, name: str) -> Package:
        """The version that waits, else the installed one."""
        self._require_installed(name)
        return self.waiting(name) or read_package(self._folder / name, "installed")

    def _require_installed(self, name: str) -> None:
        if name not in self.names():
            raise _not_installed(name)

    def _require_place(self, name: str, package: str) -> None:
        """Raise if another plugin has the name already."""
        if self._in_python(name):
            raise InvalidArguments(
                f"There is a plugin in Python called {name} already; remove it first. Nothing was "
                "changed."
            )
        there = self._readable(name)
        if there is not None and there.package != package:
            raise InvalidArguments(
                f"{there.package} is installed as {name} already; remove it first. "
                "Nothing was changed."
            )

    def _readable(self, name: str) -> Package | None:
        with suppress(TabhubError):
            return read_package(self._folder / name, "installed")
        return None

    async def _fetch(self, release: Release) -> Installed:
        tarball = await self._registry.tarball(release)
        return await asyncio.to_thread(self._place, release, tarball)

    def _place(self, release: Release, tarball: bytes) -> Installed:
        with self._folders.changing(), self._folders.unfinished() as folder:
            return self._placed(self._unpacked(release, tarball, folder))

    def _unpacked(self, release: Release, tarball: bytes, folder: Path) -> Package:
        unpack(tarball, folder)
        package = read_package(folder, "installed")
        if (package.package, package.version) != (release.package, release.version):
            raise refused(f"it says that it is {package.package} {package.version}")
        return package

    def _placed(self, fresh: Package) -> Installed:
        folders, there = self._folders, self._readable(fresh.name)
        waiting = folders.waiting(fresh.name)
        if there is not None and there.digests == fresh.digests:
            folders.discard(waiting)
            return Installed(there, is_new=False)
        waits = there is not None and self._is_reviewed(there)
        place = waiting if waits else folders.place(fresh.name)
        folders.put(fresh.folder, place)
        if not waits:
            folders.discard(waiting)
        return Installed(read_package(place, "installed"), waits)


def _not_installed(name: str) -> NotFound:
    shown = one_line(name, 100)
    return NotFound(f"No plugin {shown!r} is installed. Nothing was changed.", effect="none")


def _folders(folder: Path) -> Iterator[Path]:
    """The folders of packages; names with a dot in front are ours."""
    with suppress(FileNotFoundError):
        yield from (path for path in folder.iterdir() if _is_name(path.name) and path.is_dir())


def _is_name(name: str) -> bool:
    return not name.startswith(".") and name == Path(name).name
