"""Files that pages may get: below the folders that the person has named for it."""

from collections.abc import Callable, Sequence
from pathlib import Path

from tabhub.errors import Forbidden, InvalidArguments


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
