"""Files on disk that tools may write and read: in folders for tools, or that the person has set.

Whatever the settings say, tabhub's own files are none of them (its home has the secret and the
tokens), nor are those of a browser's profile, tabhub's or a person's: it has the logins.
"""

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from tabhub.config.paths import Home
from tabhub.config.settings import OWN_FOLDER, Settings
from tabhub.errors import Forbidden, InvalidArguments

OPEN_FOLDERS = ("downloads", "uploads")
"""The folders of a home that are for tools."""
BROWSER_FOLDER = "_browser"
"""In `downloads`: where tabhub's own browser saves files. No client's folder has this name."""
PROFILE_MARK = "Local State"
"""The file that every browser of Chromium's family has in the folder of its profiles."""
MOST_SAME_NAMES = 1000
"""How many files of one name a download may find."""
_PLAIN_NAME = re.compile(r"(?!(?:con|prn|aux|nul|com\d|lpt\d)$)[a-z0-9][a-z0-9_-]{0,39}")


def folder_name(client: str) -> str:
    """The name of a client's folder: no two clients have the same, on any file system.

    Names in capitals, with dots and the like get a hash: systems may ignore case and final dots.
    """
    if _PLAIN_NAME.fullmatch(client):
        return client
    readable = re.sub(r"[^a-z0-9_-]", "_", client.lower())[:40]
    digest = hashlib.sha256(client.encode(errors="surrogatepass")).hexdigest()
    # A plain name never has this sign.
    return f"{readable}~{digest[:32]}"


class ToolFolders:
    """Where the files of each client are, by the current settings."""

    def __init__(self, home: Home | None, settings: Settings) -> None:
        self._home = home
        self._settings = settings

    def downloads(self, client: str) -> str | None:
        """The folder in which a client's tools save files; None if they may not."""
        return self._saving(folder_name(client))

    def browser_downloads(self) -> str | None:
        """The folder in which tabhub's own browser saves what it downloads."""
        return self._saving(BROWSER_FOLDER)

    def uploads(self, client: str) -> list[str]:
        """The folders whose files a client's tools may give to pages."""
        more = self._settings.uploads.folders
        if more is None:
            return []
        has_own = self._settings.downloads.folder == OWN_FOLDER
        own = self.downloads(client) if has_own else None
        shared = None if self._home is None else str(self._home.uploads)
        return [*filter(None, (own, shared)), *more]

    def _saving(self, own: str) -> str | None:
        folder = self._settings.downloads.folder
        if folder != OWN_FOLDER:
            return folder
        return None if self._home is None else str(self._home.downloads / own)


class OwnFiles:
    """The files of tabhub's homes. Folders are compared by identity, not by their spelling."""

    def __init__(self, homes: Iterable[Path] = ()) -> None:
        self._homes = tuple(homes)

    def require_other(self, path: Path, *roots: Path) -> None:
        """Raise if the path, with all links resolved, is tabhub's own.

        In a home only what is below one of the roots is for tools, and only if that root is itself
        in one of the home's folders for tools: a folder above the home opens nothing in it.
        """
        real = path.resolve()
        if real.name == PROFILE_MARK or any(map(_has_profiles, real.parents)):
            raise Forbidden(f"{path} belongs to a browser's profile, which tools never use.")
        if self._place(real) is None:
            return
        if not any(real.is_relative_to(root) and self._is_open(root) for root in roots):
            raise _own(path)

    def require_download(self, file: Path) -> None:
        """Raise if a browser has saved a file among tabhub's own."""
        place = self._place(file.resolve())
        if place is not None and place[:2] != (OPEN_FOLDERS[0], BROWSER_FOLDER):
            raise _own(file)

    def require_folder(self, folder: Path) -> None:
        """Raise if a folder for tools in a home is a link, or is reached by one."""
        above = (folder, *folder.parents)
        for depth, opened in enumerate(above):
            if opened.name in OPEN_FOLDERS and self._is_home(opened.parent):
                link = next((one for one in above[: depth + 1] if one.is_symlink()), None)
                if link is not None:
                    raise Forbidden(f"{link} is a link; it must be a folder.", "permission_off")

    def _is_open(self, root: Path) -> bool:
        place = self._place(root) or ("",)
        return place[0] in OPEN_FOLDERS

    def _place(self, real: Path) -> tuple[str, ...] | None:
        """The path below a home; None if it is in none of them."""
        for folder in (real, *real.parents):
            if self._is_home(folder):
                return real.relative_to(folder).parts
        return None

    def _is_home(self, folder: Path) -> bool:
        return any(_is_same(folder, home) for home in self._homes)


def _own(path: Path) -> Forbidden:
    return Forbidden(f"{path} is one of tabhub's own files, which tools never use.")


def _has_profiles(folder: Path) -> bool:
    try:
        return (folder / PROFILE_MARK).is_file()
    except OSError:
        return False


def _is_same(path: Path, other: Path) -> bool:
    try:
        return os.path.samefile(path, other)
    except OSError:
        return False


class Files:
    """Where tools may save new files: below one folder, which can change at any time."""

    def __init__(self, folder: Callable[[], str | None], own: OwnFiles) -> None:
        self._folder = folder
        self._own = own

    @property
    def has_folder(self) -> bool:
        """Whether files may be saved at all."""
        return self._folder() is not None

    def place(self, name: str, suffixes: Sequence[str]) -> Path:
        """Where a new file may be written; a relative path starts at the folder."""
        if not name:
            raise InvalidArguments("The path of the file is empty.")
        path = self._below(name)
        if path.suffix.lower() not in suffixes:
            raise InvalidArguments(f"{name!r} must end with {' or '.join(suffixes)}.")
        if _exists(path):
            raise _already_exists(path)
        return path

    @property
    def folder(self) -> Path | None:
        """The folder; None if files may not be saved at all."""
        if not self.has_folder:
            return None
        root = self._root()
        self._own.require_other(root / "file", root)
        return root

    def require_name(self, name: str) -> None:
        """Raise if a download may not have this name: before it is downloaded, not after."""
        if self.folder is not None:
            _exists(self._below(name))

    def moved_here(self, file: Path) -> str | None:
        """Where a downloaded file is by now, if it was moved before the server started."""
        folder = self.folder
        place = None if folder is None or _exists(file) else folder / file.name
        return str(place) if place is not None and _exists(place) else None

    def take_in(self, file: Path, name: str) -> Path:
        """Move what a browser has saved elsewhere below the folder, without overwriting anything.

        Returns where it is then: where it was, if this process does not find it there.
        """
        root = self.folder
        if root is None or not file.is_file() or file.is_symlink():
            return file
        if file.resolve().is_relative_to(root):
            return file
        self._own.require_download(file)
        return _moved(file, self._below(name))

    def _below(self, name: str) -> Path:
        root = self._root()
        path = _resolved(root, name)
        if not path.is_relative_to(root) or path == root:
            raise Forbidden(f"Tools save files below {root} only (downloads.folder).")
        self._own.require_other(path, root)
        return path

    def _root(self) -> Path:
        folder = self._folder()
        root = None if folder is None else Path(folder).expanduser()
        if root is None or not root.is_absolute():
            raise Forbidden(
                "Tools may not save files here. A person allows it with tabhub config set "
                "downloads.folder own, or with the full path of a folder.",
                "permission_off",
            )
        self._own.require_folder(root)
        return root.resolve()


def _resolved(root: Path, name: str) -> Path:
    try:
        return (root / name).resolve()
    except (OSError, ValueError):
        raise InvalidArguments(f"{name!r} is not a path.") from None


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        raise InvalidArguments(f"{path.name!r} is not a file name: {error.strerror}.") from None


def _already_exists(path: Path) -> InvalidArguments:
    return InvalidArguments(f"There is a file {path} already; choose another name.")


def _moved(file: Path, target: Path) -> Path:
    """Move a file, under another name if there is one of that name already."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        for number in range(MOST_SAME_NAMES):
            name = f"{target.stem} ({number}){target.suffix}" if number else target.name
            with suppress(FileExistsError):
                _move(file, target.with_name(name))
                return target.with_name(name)
    except OSError as error:
        raise InvalidArguments(f"{target} cannot be written: {error.strerror}.") from None
    raise _already_exists(target)


def _move(file: Path, target: Path) -> None:
    try:
        os.link(file, target)
    except FileExistsError:
        raise
    except OSError:
        # Another file system, or one without links.
        with file.open("rb") as source, target.open("xb") as copy:
            shutil.copyfileobj(source, copy)
    file.unlink()


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

    def __init__(self, folders: Callable[[], Sequence[str]], own: OwnFiles) -> None:
        self._folders = folders
        self._own = own

    def file(self, name: str) -> Path:
        """A file that may be read; a relative path starts at one of the folders."""
        roots = self._roots()
        try:
            candidates = [(root / name).resolve() for root in roots]
            path = next((path for path in candidates if path.exists()), candidates[0])
            if not any(path.is_relative_to(root) for root in roots):
                folders = " or ".join(map(str, roots))
                raise Forbidden(f"{name} is not below {folders} (uploads.folders).")
            self._own.require_other(path, *roots)
            return _readable(path)
        except (OSError, ValueError):
            raise InvalidArguments(f"{name!r} is not a path.") from None

    def _roots(self) -> list[Path]:
        folders = [Path(folder).expanduser() for folder in self._folders()]
        folders = [folder for folder in folders if folder.is_absolute()]
        for folder in folders:
            self._own.require_folder(folder)
        if not folders:
            raise Forbidden(
                "Tools may not upload files from the disk here. A person allows it by a list of "
                "folders, which may be empty, as uploads.folders in tabhub's settings.",
                "permission_off",
            )
        return [folder.resolve() for folder in folders]


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
