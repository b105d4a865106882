"""Unpacks the tarball of an npm package: plain files below one folder, and nothing else.

The archive comes from the network. Nothing in it leads out of the folder, is a link or a device, or
becomes executable, and neither many entries nor a few that expand can fill the disk.
"""

import gzip
import tarfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, cast

from tabhub.config.files import opened_private
from tabhub.errors import InvalidArguments
from tabhub.system.rights import private_folder

MEGABYTE = 1024 * 1024
MOST_UNPACKED_BYTES = 60 * MEGABYTE
MOST_ENTRIES = 5000
LONGEST_NAME = 500
LONGEST_PART = 200
"""In bytes: file systems have about this limit for the name of one file."""
COPIED_AT_ONCE = 64 * 1024
_PLAIN_FILES = (tarfile.REGTYPE, tarfile.AREGTYPE)
_UNREADABLE = (
    *(tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, ValueError, OverflowError),
    # tarfile calls itself for each extended header that follows another one.
    RecursionError,
)


def unpack(tarball: bytes, folder: Path) -> None:
    """Write the files of a package into an empty folder; after an error it may hold some of them.

    As in npm, the first part of each path, usually `package`, is left out.
    """
    try:
        # tarfile only reads in this mode, and never back.
        content = cast(IO[bytes], _Expanded(tarball))
        with tarfile.open(fileobj=content, mode="r|") as archive:
            for member, path in _files(archive):
                _write(archive, member, folder / path)
    except _UNREADABLE as error:
        raise refused(f"its archive cannot be read ({type(error).__name__})") from None


def refused(why: str) -> InvalidArguments:
    """The error about a package that is not what it should be."""
    return InvalidArguments(f"The package is refused, and nothing was installed: {why}.")


class _Expanded:
    """Expands gzip data piece by piece, and stops when there is more than may be unpacked."""

    def __init__(self, tarball: bytes) -> None:
        self._file = gzip.GzipFile(fileobj=BytesIO(tarball))
        self._left = MOST_UNPACKED_BYTES

    def read(self, count: int) -> bytes:
        data = self._file.read(min(count, self._left + 1))
        self._left -= len(data)
        if self._left < 0:
            raise refused(f"it unpacks to more than {MOST_UNPACKED_BYTES // MEGABYTE} MB")
        return data


def _files(archive: tarfile.TarFile) -> Iterator[tuple[tarfile.TarInfo, PurePosixPath]]:
    """The files in an archive with the paths they get; raises at the first entry that is wrong."""
    for count, member in enumerate(archive, 1):
        if count > MOST_ENTRIES:
            raise refused(f"it has more than {MOST_ENTRIES} entries")
        path = _path(member)
        if not member.isdir():
            yield member, path


def _path(member: tarfile.TarInfo) -> PurePosixPath:
    if not (member.isdir() or _is_plain(member)):
        raise refused(f"{_shown(member)} is not a plain file")
    path = PurePosixPath(member.name)
    if path.is_absolute() or ".." in path.parts or not _is_ordinary(path):
        raise refused(f"{_shown(member)} is not a name that a file may have")
    if len(path.parts) < 2 and not member.isdir():
        raise refused(f"{_shown(member)} is in no folder")
    return PurePosixPath(*path.parts[1:])


def _is_plain(member: tarfile.TarInfo) -> bool:
    return member.type in _PLAIN_FILES and member.sparse is None and member.size >= 0


def _is_ordinary(path: PurePosixPath) -> bool:
    """Whether every system takes the name for what it looks like."""
    text = str(path)
    if not text.isprintable() or len(text) > LONGEST_NAME or {"\\", ":"} & set(text):
        return False
    return all(len(part.encode()) <= LONGEST_PART for part in path.parts)


def _write(archive: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> None:
    content = cast(IO[bytes], archive.extractfile(member))
    try:
        private_folder(path.parent)
        with open(path, "xb", opener=opened_private) as file:
            while piece := content.read(COPIED_AT_ONCE):
                file.write(piece)
    except (FileExistsError, NotADirectoryError):
        raise refused(f"{_shown(member)} is in it twice") from None


def _shown(member: tarfile.TarInfo) -> str:
    return ascii(member.name[:LONGEST_PART])
