"""Which plugins a person has reviewed. It is a gate before every rule: nothing else opens it.

A review is for exact bytes: the digests of adapter, pre-script, tools.json and package.json. If one
of these files differs, the plugin is closed again, whatever its version says.
"""

import logging
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from tabhub.config.files import locked, write_private
from tabhub.config.paths import Home
from tabhub.plugins.npm.installed_folders import InstalledFolders
from tabhub.plugins.package import Digests, Package
from tabhub.plugins.review_content import Difference, ReviewedFile, differences, files_of
from tabhub.system.rights import private_folder

log = logging.getLogger(__name__)

State = Literal["never", "changed", "reviewed"]
ReviewLevel = Literal["ask", "auto"]
SetLevel = Callable[[str, ReviewLevel], None]


class Review(Struct, frozen=True):
    """What a person has approved."""

    package: str
    version: str
    digests: Digests
    time: float
    """In seconds since 1970."""


class Reviews:
    """The reviews by name of the plugin, in a private file; without a home they are in memory."""

    def __init__(
        self,
        home: Home | None,
        set_level: SetLevel,
        is_trusted: Callable[[Package], bool] = lambda package: False,
    ) -> None:
        self._home = home
        self._set_level = set_level
        self.is_trusted = is_trusted
        """Whether a plugin needs no review: in dev mode, one that the person works on."""
        self._listeners: list[Callable[[], None]] = []
        self._reviews: dict[str, Review] = {}
        self._load()

    def state(self, package: Package) -> State:
        review = self._reviews.get(package.name)
        if review is None:
            return "never"
        return "reviewed" if review.digests == package.digests else "changed"

    def is_open(self, package: Package) -> bool:
        """Whether the person has reviewed exactly these bytes, or works on them in dev mode."""
        return self.state(package) == "reviewed" or self.is_trusted(package)

    def last(self, name: str) -> Review | None:
        """The last review of a plugin, of this or an earlier version."""
        return self._reviews.get(name)

    def approve(self, package: Package, level: ReviewLevel = "ask") -> None:
        """Open the gate for this package, as it lies on disk now. Only a person's decision may."""
        files = files_of(package)
        self._keep_copies(package.name, files)
        review = Review(package.package, package.version, package.digests, time.time())
        self._set_level(package.name, level)
        self._store(lambda reviews: reviews.__setitem__(package.name, review))
        if package.kind == "installed":
            _put_in_place(package)
        self._changed()

    def forget(self, name: str) -> None:
        """Close the gate of a plugin, as if it had never been reviewed."""
        self._store(lambda reviews: reviews.pop(name, None))
        if self._home is not None:
            shutil.rmtree(self._home.reviewed_plugins / name, ignore_errors=True)
        self._changed()

    def differences(self, package: Package) -> list[Difference]:
        """What is new since the last review; nothing if there was none."""
        if self._home is None or package.name not in self._reviews:
            return []
        return differences(files_of(package), self._home.reviewed_plugins / package.name)

    def reload(self) -> None:
        """Read the file again, which the command line may have changed."""
        before = self._reviews
        self._load()
        if self._reviews != before:
            self._changed()

    def on_change(self, callback: Callable[[], None]) -> None:
        self._listeners.append(callback)

    def _changed(self) -> None:
        for listener in self._listeners:
            listener()

    def _load(self) -> None:
        if self._home is not None:
            self._reviews = _read(self._home.reviews)

    def _store(self, change: Callable[[dict[str, Review]], object]) -> None:
        if self._home is None:
            change(self._reviews)
            return
        with locked(self._home.reviews):
            reviews = _read(self._home.reviews)
            change(reviews)
            encoded = msgspec.json.format(msgspec.json.encode(reviews))
            write_private(self._home.reviews, encoded)
        self._reviews = reviews

    def _keep_copies(self, name: str, files: list[ReviewedFile]) -> None:
        """Keep the reviewed files, to show later what has changed."""
        if self._home is None:
            return
        folder = self._home.reviewed_plugins / name
        shutil.rmtree(folder, ignore_errors=True)
        for file in files:
            path = folder / file.name
            private_folder(path.parent)
            write_private(path, file.content)


def _read(path: Path) -> dict[str, Review]:
    """The reviews in a file. If it cannot be read, nothing counts as reviewed."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Review])
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        log.error("%s cannot be read, so no plugin counts as reviewed: %s", path, error)
        return {}


def _put_in_place(package: Package) -> None:
    """Let an update take the place of the version that it waits beside."""
    folders = InstalledFolders.around(package.folder)
    if folders is not None:
        with folders.changing():
            folders.put(package.folder, folders.place(package.name))
