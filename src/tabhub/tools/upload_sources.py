"""Where the files of an upload come from: the disk, the call itself, or an earlier screenshot."""

import binascii
import mimetypes
from asyncio import to_thread
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tabhub.errors import InvalidArguments, NotFound
from tabhub.tools.capture.gif import as_png
from tabhub.tools.tool import Context, Json

PIECE = 3 * 1024 * 1024
"""So much of a file goes over the link in one message."""
MOST_FILES = 100
NAME_LENGTH = 255
PNG = "image/png"
UNKNOWN = "application/octet-stream"


@dataclass(frozen=True)
class Source:
    """A file, on the disk or in our hands."""

    name: str
    mime: str
    size: int
    path: Path | None = None
    data: bytes = b""

    def wire(self) -> Json:
        told: Json = {"name": self.name, "mimeType": self.mime, "size": self.size}
        return told if self.path is None else {**told, "path": str(self.path)}

    def read(self, offset: int) -> bytes:
        if self.path is None:
            return self.data[offset : offset + PIECE]
        try:
            with self.path.open("rb") as file:
                file.seek(offset)
                return file.read(PIECE)
        except OSError as error:
            raise InvalidArguments(f"{self.path} cannot be read: {error.strerror}.") from None


def on_disk(context: Context, paths: Sequence[str]) -> list[Source]:
    """Files by their paths."""
    found = [context.folders.file(path) for path in paths]
    return [Source(path.name, _kind(path.name), path.stat().st_size, path) for path in found]


def in_call(files: Sequence[Json]) -> list[Source]:
    """Files whose bytes the call brings along."""
    return [_given(file["name"], file["data"], file.get("mimeType")) for file in files]


async def screenshot(context: Context, id: str, name: str) -> Source:
    """A picture that this session took a while ago; one that is to be a PNG becomes one."""
    shot = context.shots.find(context.session, id)
    if shot is None:
        raise NotFound(
            f"There is no screenshot {id} of yours, or it has expired: they are kept for ten "
            "minutes. Take a new one."
        )
    taken = _given(name, shot.data, shot.mime)
    if taken.mime == PNG or _kind(name) != PNG:
        return taken
    data = await to_thread(as_png, taken.data)
    return Source(name, PNG, len(data), data=data)


def file_name(name: str) -> str:
    """A name that is no path."""
    if name in ("", ".", "..") or len(name) > NAME_LENGTH or any(sign in name for sign in "/\\\0"):
        raise InvalidArguments(f"{name!r} is not a file's name.")
    return name


def _given(name: str, data: str, mime: str | None) -> Source:
    file_name(name)
    try:
        content = b64decode(data, validate=True)
    except binascii.Error:
        raise InvalidArguments(f"The data of {name} is not base64.") from None
    return Source(name, mime or _kind(name), len(content), data=content)


def _kind(name: str) -> str:
    return mimetypes.guess_type(name)[0] or UNKNOWN
