"""Files on disk that tools may write and read, only below folders that the person has set."""

from collections.abc import Callable, Sequence
from pathlib import Path

from tabhub.errors import Forbidden, InvalidArguments


class Files:
    """Where tools may save new files: below one folder, which can change at any time."""

    def __init__(self, folder: Callable[[], str | None]) -> None:
        self._folder = folder

    @property
    def has_folder(self) -> bool:
        """Whether files may be saved at all."""
        return self._folder() is not None

    def place(self, name: str, suffixes: Sequence[str]) -> Path:
        """Where a new file may be written; a relative path starts at the folder."""
        root = self._root()
        path = _resolved(root, name)
        if not path.is_relative_to(root) or path == root:
            raise Forbidden(f"Tools save files below {root} only (downloads.folder).")
        if path.suffix.lower() not in suffixes:
            raise InvalidArguments(f"{name!r} must end with {' or '.join(suffixes)}.")
        if path.exists():
            raise _already_exists(path)
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


def _resolved(root: Path, name: str) -> Path:
    try:
        return (root / name).resolve()
    except (OSError, ValueError):
        raise InvalidArguments(f"{name!r} is not a path.") from None


def _already_exists(path: Path) -> InvalidArguments:
    return InvalidArguments(f"There is a file {path} already; choose another name.")


def save(path: Path, data: bytes) -> None:
    """Write a new file; an existing one is never overwritten."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(data)
    except OSError as error:
        if path.exists():
            raise _already_exists(path) from None
        raise InvalidArguments(f"{path} cannot be written: {error.strerror}.") from None


class UploadFolders:
    """Where tools may read files for uploads: below folders that can change at any time."""

    def __init__(self, folders: Callable[[], Sequence[str]]) -> None:
        self._folders = folders

    def file(self, name: str) -> Path:
        """A file that may be read; a relative path starts at one of the folders."""
        roots = self._roots()
        try:
            candidates = [(root / name).resolve() for root in roots]
            path = next((path for path in candidates if path.exists()), candidates[0])
            if not any(path.is_relative_to(root) for root in roots):
                folders = " or ".join(map(str, roots))
                raise Forbidden(f"{name} is not below {folders} (uploads.folders).")
            return _readable(path)
        except (OSError, ValueError):
            raise InvalidArguments(f"{name!r} is not a path.") from None

    def _roots(self) -> list[Path]:
        folders = [Path(folder).expanduser() for folder in self._folders()]
        roots = [folder.resolve() for folder in folders if folder.is_absolute()]
        if not roots:
            raise Forbidden(
                "Tools may not upload files from the disk here. A person allows it by naming "
                "folders, with their full paths, as uploads.folders in tabhub's settings.",
                "permission_off",
            )
        return roots


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
