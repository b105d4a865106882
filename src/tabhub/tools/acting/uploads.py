"""Files for pages: into file inputs, onto drop zones, or for a file chooser that is open."""

import binascii
import mimetypes
from asyncio import to_thread
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tabhub.errors import InvalidArguments, NotFound
from tabhub.tools.acting.effects import SETTLE, acted, given
from tabhub.tools.capture.gif import as_png
from tabhub.tools.capture.screenshots import COORDINATE, viewport_point
from tabhub.tools.reports import with_tabs
from tabhub.tools.tool import BROWSER, CLAUDE, REF, SELECTOR, Context, Json, browser_tool
from tabhub.wire.mcp.messages import CallResult

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


IMAGE_NAME = "image.png"
_TARGETS = ("ref", "selector", "coordinate")
_SOURCES = ("paths", "files", "screenshotId")


async def _upload_files(context: Context) -> CallResult:
    _one_of(context, _SOURCES, at_least=1)
    _one_of(context, _TARGETS, at_least=0)
    return await upload(context, await _sources(context), _target(context))


async def _sources(context: Context) -> list[Source]:
    arguments = context.arguments
    if "paths" in arguments:
        return on_disk(context, arguments["paths"])
    if "files" in arguments:
        return in_call(arguments["files"])
    name = arguments.get("filename", IMAGE_NAME)
    return [await screenshot(context, arguments["screenshotId"], name)]


async def _file_upload(context: Context) -> CallResult:
    return await upload(context, on_disk(context, context.arguments["paths"]), _target(context))


async def _upload_image(context: Context) -> CallResult:
    _one_of(context, ("ref", "coordinate"), at_least=1)
    arguments = context.arguments
    name = arguments.get("filename", IMAGE_NAME)
    source = await screenshot(context, arguments["imageId"], name)
    return await upload(context, [source], _target(context))


def _one_of(context: Context, names: Sequence[str], at_least: int) -> None:
    count = sum(name in context.arguments for name in names)
    if not at_least <= count <= 1:
        limit = "exactly" if at_least else "at most"
        listed = ", ".join(names)
        raise InvalidArguments(f"{context.call.tool.name}: give {limit} one of {listed}.")


def _target(context: Context) -> Json:
    arguments = context.arguments
    if "coordinate" in arguments:
        return viewport_point(context, arguments["coordinate"])
    return {name: arguments[name] for name in ("ref", "selector") if name in arguments}


async def upload(context: Context, sources: Sequence[Source], target: Json) -> CallResult:
    """Give files to a page; without a target, to the file chooser that is open."""
    input = {**target, "files": [source.wire() for source in sources], **given(context)}

    def read(index: int, offset: int) -> bytes:
        if index >= len(sources):
            raise InvalidArguments(f"There is no file {index}.")
        return sources[index].read(offset)

    output = await context.in_tab("page.upload", input, read_file=read)
    misfits = output.get("misfits", [])
    more: Json = {"misfits": misfits} if misfits else {}
    did = f"Gave {_listed(sources)} to {_named(context, target)}{_warning(misfits)}"
    return acted(context, did, output, **more)


def _listed(sources: Sequence[Source]) -> str:
    return ", ".join(f"{source.name} ({_size(source.size)})" for source in sources)


def _size(bytes: int) -> str:
    return f"{bytes} bytes" if bytes < 1024 else f"{bytes // 1024} KB"


def _named(context: Context, target: Json) -> str:
    if not target:
        return "the file chooser"
    if "ref" in target or "selector" in target:
        return str(next(iter(target.values())))
    x, y = context.arguments["coordinate"]
    return f"the point ({x:g}, {y:g})"


def _warning(misfits: Sequence[str]) -> str:
    if not misfits:
        return ""
    return f". The input asks for other kinds of files (accept) than {', '.join(misfits)}"


_PATHS: Json = {
    "type": "array",
    "items": {"type": "string"},
    "minItems": 1,
    "maxItems": MOST_FILES,
    "description": "Of files below the setting uploads.folders.",
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
    "maxItems": MOST_FILES,
}

UPLOAD_FILES = browser_tool(
    name="browser_upload_files",
    title="Upload files",
    description=(
        "Give files to a file input (hidden ones too), drop them onto another element or point, "
        "or, without a target, answer the file chooser that a click has opened. One of paths, "
        "files (their bytes) and screenshotId says which. Tells what the page has received."
    ),
    handler=_upload_files,
    properties={
        "ref": REF,
        "selector": SELECTOR,
        "coordinate": COORDINATE,
        "paths": _PATHS,
        "files": _FILES,
        "screenshotId": {"type": "string"},
        "filename": {"type": "string", "description": f"For a screenshot. Default {IMAGE_NAME}."},
        "settle": SETTLE,
    },
    # Its bytes are the person's business, and of no use in a record.
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
