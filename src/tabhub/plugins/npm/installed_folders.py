"""The folder of installed plugins: how a package gets its place there, and leaves it.

An installed package lies in `<name>`, a newer version that waits for its review in
`.waiting/<name>`. A package takes or leaves its place as a whole: another process never finds half
of one, and a process that is killed in between leaves the version that was there.
"""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tabhub.config.files import locked
from tabhub.system.rights import private_folder

LOCK = "installation"
"""The file whose lock is held while something changes."""
WAITING = ".waiting"
UNFINISHED, REPLACED, REMOVED = ".new-", ".old-", ".gone-"
"""How the names of our own folders begin; the one for what is replaced may have to be put back."""


class InstalledFolders:
    """The places of packages in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def around(cls, package: Path) -> "InstalledFolders | None":
        """The folders in which a package waits; None if it does not wait."""
        return cls(package.parent.parent) if package.parent.name == WAITING else None

    def place(self, name: str) -> Path:
        return self.folder / name

    def waiting(self, name: str) -> Path:
        return self.folder / WAITING / name

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Hold the lock, and mend what a process that was killed has left."""
        private_folder(self.folder)
        with locked(self.folder / LOCK):
            for path in list(self.folder.iterdir()):
                if path.name.startswith(REPLACED):
                    self._put_back(path)
                elif path.name.startswith((UNFINISHED, REMOVED)):
                    shutil.rmtree(path)
            yield

    @contextmanager
    def unfinished(self) -> Iterator[Path]:
        """A folder for a package that is not complete; what is left of it is removed."""
        folder = self._own(UNFINISHED)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def put(self, package: Path, place: Path) -> None:
        """Let a complete package take a place; what was there goes."""
        private_folder(place.parent)
        before = self._own(REPLACED if place.parent == self.folder else REMOVED)
        if place.is_symlink() or place.exists():
            place.rename(before / place.name)
        try:
            package.rename(place)
        except OSError:
            self._put_back(before)
            raise
        shutil.rmtree(before)

    def discard(self, place: Path) -> None:
        """Remove a package, or a file; it leaves its place at once."""
        if place.is_symlink() or place.exists():
            gone = self._own(REMOVED)
            place.rename(gone / place.name)
            shutil.rmtree(gone)

    def _own(self, prefix: str) -> Path:
        return Path(tempfile.mkdtemp(dir=self.folder, prefix=prefix))

    def _put_back(self, before: Path) -> None:
        """Put a package back whose successor has not come; one that has a successor goes."""
        for old in before.iterdir():
            if not (self.folder / old.name).exists():
                old.rename(self.folder / old.name)
        shutil.rmtree(before)
