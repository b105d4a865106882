"""Uploads: files for file inputs, drop zones and open file choosers."""

import binascii
import io
import mimetypes
from asyncio import to_thread
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tabhub.calls.marks import quoted
from tabhub.errors import InvalidArguments, NotFound
from tabhub.tools.acting.effects import SETTLE, observed, passed
from tabhub.tools.acting.observing import OBSERVE
from tabhub.tools.acting.targets import any_target, target_name
from tabhub.tools.reports import with_tabs
from tabhub.tools.tool import (
    BROWSER,
    CLAUDE,
    COORDINATE,
    FIND,
    REF,
    SELECTOR,
    Context,
    Json,
    browser_tool,
)
from tabhub.wire.mcp.messages import CallResult

PIECE_BYTES = 3 * 1024 * 1024
"""How much of a file one message of the link carries."""
MAX_FILES = 100
MAX_NAME_CHARS = 255
PNG = "image/png"
UNKNOWN_TYPE = "application/octet-stream"
IMAGE_NAME = "image.png"
_SOURCES = ("paths", "files", "screenshotId")


@dataclass(frozen=True)
class FileToUpload:
    """A file to upload, on disk or in memory."""

    name: str
    mime: str
    size: int
    path: Path | None = None
    data: bytes = b""

    def wire(self, is_remote: bool = False) -> Json:
        """As the browser gets it; one on another machine asks for the bytes instead."""
        file: Json = {"name": self.name, "mimeType": self.mime, "size": self.size}
        return file if self.path is None or is_remote else {**file, "path": str(self.path)}

    def read(self, offset: int) -> bytes:
        if self.path is None:
            return self.data[offset : offset + PIECE_BYTES]
        try:
            with self.path.open("rb") as file:
                file.seek(offset)
                return file.read(PIECE_BYTES)
        except OSError as error:
            raise InvalidArguments(f"{self.path} cannot be read: {error.strerror}.") from None


async def _upload_files(context: Context) -> CallResult:
    _require_one(context, _SOURCES)
    return await upload(context, await _uploads(context), any_target(context))


async def _uploads(context: Context) -> list[FileToUpload]:
    arguments = context.arguments
    if "paths" in arguments:
        return _from_disk(context)
    if "files" in arguments:
        files = arguments["files"]
        return [_decoded(file["name"], file["data"], file.get("mimeType")) for file in files]
    return [await _screenshot(context, arguments["screenshotId"])]


async def _file_upload(context: Context) -> CallResult:
    return await upload(context, _from_disk(context), any_target(context))


async def _upload_image(context: Context) -> CallResult:
    _require_one(context, ("ref", "coordinate"))
    screenshot = await _screenshot(context, context.arguments["imageId"])
    return await upload(context, [screenshot], any_target(context))


def _from_disk(context: Context) -> list[FileToUpload]:
    paths = [context.folders.file(path) for path in context.arguments["paths"]]
    return [
        FileToUpload(path.name, _type_of(path.name), path.stat().st_size, path) for path in paths
    ]


async def _screenshot(context: Context, id: str) -> FileToUpload:
    """An earlier screenshot of this session, converted if its file name asks for PNG."""
    name = context.arguments.get("filename", IMAGE_NAME)
    found = context.screenshots.find(context.session, id)
    if found is None:
        raise NotFound(
            f"There is no screenshot {id} of yours, or it has expired: they are kept for ten "
            "minutes. Take a new one."
        )
    taken = _decoded(name, found.data, found.mime)
    if taken.mime == PNG or _type_of(name) != PNG:
        return taken
    data = await to_thread(_as_png, taken.data)
    return FileToUpload(name, PNG, len(data), data=data)


def _as_png(picture: bytes) -> bytes:
    # Pillow takes long to import, and few calls need it.
    from PIL import Image

    target = io.BytesIO()
    with Image.open(io.BytesIO(picture)) as image:
        image.save(target, "PNG")
    return target.getvalue()


def _decoded(name: str, data: str, mime: str | None) -> FileToUpload:
    require_file_name(name)
    try:
        content = b64decode(data, validate=True)
    except binascii.Error:
        raise InvalidArguments(f"The data of {name} is not base64.") from None
    return FileToUpload(name, mime or _type_of(name), len(content), data=content)


def require_file_name(name: str) -> str:
    """The name, which must not be a path."""
    is_path = name in ("", ".", "..") or any(sign in name for sign in "/\\\0")
    if is_path or len(name) > MAX_NAME_CHARS:
        raise InvalidArguments(f"{name!r} is not a file name.")
    return name


def _type_of(name: str) -> str:
    return mimetypes.guess_type(name)[0] or UNKNOWN_TYPE


def _require_one(context: Context, names: Sequence[str]) -> None:
    if sum(name in context.arguments for name in names) != 1:
        choices = ", ".join(names)
        raise InvalidArguments(f"{context.call.tool.name}: give exactly one of {choices}.")


async def upload(context: Context, files: Sequence[FileToUpload], target: Json) -> CallResult:
    """Give files to a page; without a target, to the file chooser that is open."""
    is_remote = context.browsers.is_remote(context.tab.browser)
    input = {**target, "files": [file.wire(is_remote) for file in files], **passed(context)}

    def read(index: int, offset: int) -> bytes:
        if index >= len(files):
            raise InvalidArguments(f"There is no file {index}.")
        return files[index].read(offset)

    output = await context.in_tab("page.upload", input, read_file=read)
    misfits = output.get("misfits", [])
    more: Json = {"misfits": misfits} if misfits else {}
    names = ", ".join(f"{file.name} ({_size(file.size)})" for file in files)
    to = target_name(context.arguments, output["effect"]) if target else "the file chooser"
    action = f"Gave {names} to {to}{_warning(misfits)}"
    return await observed(context, action, output, **more)


def _size(bytes: int) -> str:
    return f"{bytes} bytes" if bytes < 1024 else f"{bytes // 1024} KB"


def _warning(misfits: Sequence[str]) -> str:
    if not misfits:
        return ""
    return f". The input accepts other kinds of files (accept) than {quoted(', '.join(misfits))}"


_PATHS: Json = {
    "type": "array",
    "items": {"type": "string"},
    "minItems": 1,
    "maxItems": MAX_FILES,
    "description": "Files in your folder, or below the setting uploads.folders.",
}
_FILES: Json = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "mimeType": {"type": "string"},
            "data": {"type": "string", "description": "Base64."},
        },
        "required": ["name", "data"],
        "additionalProperties": False,
    },
    "minItems": 1,
    "maxItems": MAX_FILES,
}

UPLOAD_FILES = browser_tool(
    name="browser_upload_files",
    title="Upload files",
    description=(
        "Give files to a file input (hidden ones too), drop them onto another element or point, "
        "or, without a target, answer the file chooser that a click has opened. One of paths, "
        "files (their bytes) and screenshotId says which. Returns what the page received."
    ),
    handler=_upload_files,
    properties={
        "ref": REF,
        "selector": SELECTOR,
        "find": FIND,
        "coordinate": COORDINATE,
        "paths": _PATHS,
        "files": _FILES,
        "screenshotId": {"type": "string"},
        "filename": {"type": "string", "description": f"For a screenshot. Default {IMAGE_NAME}."},
        "settle": SETTLE,
        "observe": OBSERVE,
    },
    # The bytes are private, and of no use in the audit log.
    secret_arguments=frozenset({"files"}),
    toolsets=BROWSER,
)

FILE_UPLOAD = browser_tool(
    name="file_upload",
    title="Upload files by path",
    description=(
        "Give files of this machine to a file input, or drop them onto another element. Do not "
        "click the input before."
    ),
    handler=with_tabs(_file_upload),
    properties={"paths": _PATHS, "ref": REF},
    required=("paths", "ref"),
    same_as=("browser_upload_files",),
    toolsets=CLAUDE,
)

UPLOAD_IMAGE = browser_tool(
    name="upload_image",
    title="Upload a screenshot",
    description=(
        "Give an earlier screenshot, by its id, to a file input (ref), or drop it at a point "
        "(coordinate): one of the two."
    ),
    handler=with_tabs(_upload_image),
    properties={
        "imageId": {"type": "string"},
        "ref": REF,
        "coordinate": COORDINATE,
        "filename": {"type": "string", "description": f"Default {IMAGE_NAME}."},
    },
    required=("imageId",),
    same_as=("browser_upload_files",),
    toolsets=CLAUDE,
)

TOOLS = (UPLOAD_FILES, FILE_UPLOAD, UPLOAD_IMAGE)
