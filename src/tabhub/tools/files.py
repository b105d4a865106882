"""Files that tools save: below the folder that the person has named for it, and only new ones."""

from collections.abc import Callable, Sequence
from pathlib import Path

from tabhub.errors import Forbidden, InvalidArguments


class Files:
    """Places below one folder; the person may change it at any time."""

    def __init__(self, folder: Callable[[], str | None]) -> None:
        self._folder = folder

    @property
    def has_folder(self) -> bool:
        """Whether files may be saved at all."""
        return self._folder() is not None

    def place(self, wanted: str, suffixes: Sequence[str]) -> Path:
        """Where a new file may be written; a path without a root begins at the folder."""
        root = self._root()
        path = _resolved(root, wanted)
        if not path.is_relative_to(root) or path == root:
            raise Forbidden(f"Tools save files below {root} only (downloads.folder).")
        if path.suffix.lower() not in suffixes:
            raise InvalidArguments(f"{wanted!r} must end with {' or '.join(suffixes)}.")
        if path.exists():
            raise _taken(path)
        return path

    def _root(self) -> Path:
        folder = self._folder()
        root = None if folder is None else Path(folder).expanduser()
        if root is None or not root.is_absolute():
            raise Forbidden(
                "Tools may not save files here. A person allows it by naming a folder, with its "
                "full path, as downloads.folder in tabhub's settings.",
                "permission_off",
            )
        return root.resolve()


def _resolved(root: Path, wanted: str) -> Path:
    try:
        return (root / wanted).resolve()
    except (OSError, ValueError):
        raise InvalidArguments(f"{wanted!r} is not a path.") from None


def _taken(path: Path) -> InvalidArguments:
    return InvalidArguments(f"There is a file {path} already; choose another name.")


def save(path: Path, data: bytes) -> None:
    """Write a file that is not there yet."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(data)
    except OSError as error:
        if path.exists():
            raise _taken(path) from None
        raise InvalidArguments(f"{path} cannot be written: {error.strerror}.") from None


class UploadFolders:
    """What lies below some folders; the person may change them at any time."""

    def __init__(self, folders: Callable[[], Sequence[str]]) -> None:
        self._folders = folders

    def file(self, wanted: str) -> Path:
        """A file that may be read; a path without a root begins at one of the folders."""
        roots = self._roots()
        try:
            candidates = [(root / wanted).resolve() for root in roots]
            path = next((path for path in candidates if path.exists()), candidates[0])
            if not any(path.is_relative_to(root) for root in roots):
                raise Forbidden(f"{wanted} is not below {_listed(roots)} (uploads.folders).")
            return _readable(path)
        except (OSError, ValueError):
            raise InvalidArguments(f"{wanted!r} is not a path.") from None

    def _roots(self) -> list[Path]:
        named = [Path(folder).expanduser() for folder in self._folders()]
        roots = [folder.resolve() for folder in named if folder.is_absolute()]
        if not roots:
            raise Forbidden(
                "Tools may not upload files from the disk here. A person allows it by naming "
                "folders, with their full paths, as uploads.folders in tabhub's settings.",
                "permission_off",
            )
        return roots


def _listed(roots: Sequence[Path]) -> str:
    return " or ".join(map(str, roots))


def _readable(path: Path) -> Path:
    if not path.exists():
        raise InvalidArguments(f"There is no file {path}.")
    if not path.is_file():
        raise InvalidArguments(f"{path} is not a file.")
    try:
        path.open("rb").close()
    except OSError as error:
        raise InvalidArguments(f"{path} cannot be read: {error.strerror}.") from None
    return path
