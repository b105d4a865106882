"""Pictures of pages: screenshots, and the page as it would be printed."""

from base64 import b64decode
from pathlib import Path

from tabhub.calls.results import done
from tabhub.errors import InvalidArguments
from tabhub.tools.files import save
from tabhub.tools.state import Frame, Shot
from tabhub.tools.tool import BROWSER, REF, SELECTOR, Context, Json, browser_tool
from tabhub.wire.mcp.messages import CallResult, embedded, image, text

FORMATS = {".jpg": "jpeg", ".jpeg": "jpeg", ".png": "png"}
PDF = "application/pdf"
FILE_PATH: Json = {
    "type": "string",
    "description": "Save it there instead, below the setting downloads.folder.",
}
_PASSED = ("ref", "selector", "region", "fullPage", "format", "quality", "scale")


async def _screenshot(context: Context) -> CallResult:
    given = context.arguments
    path = _place(context, tuple(FORMATS))
    output = await context.in_tab("page.capture", {**_format(path), **_wanted(given)})
    data: str = output["data"]
    shot = shot_of(context, output, _frame(given, output))
    id = context.shots.keep(shot)
    del output["data"]
    shown: Json = {"tabId": shot.tab, "id": id, **output}
    sentence = f"Screenshot {id} of tab {shot.tab}: {_described(shot)}.{_note(given, output)}"
    if path is None:
        return CallResult(
            content=[text(sentence), image(data, shot.mime)], structured_content=shown
        )
    return _saved(path, data, sentence, shown)


def _wanted(given: Json) -> Json:
    wanted = {key: given[key] for key in _PASSED if key in given}
    named = [key for key in ("ref", "selector") if key in wanted]
    if len(named) > 1 or (named and ("region" in wanted or wanted.get("fullPage"))):
        raise InvalidArguments(
            "browser_screenshot_tab: give one of ref, selector, or region and fullPage."
        )
    return wanted


def _place(context: Context, suffixes: tuple[str, ...]) -> Path | None:
    wanted = context.arguments.get("filePath")
    return None if wanted is None else context.files.place(wanted, suffixes)


def _format(path: Path | None) -> Json:
    return {} if path is None else {"format": FORMATS[path.suffix.lower()]}


def shot_of(context: Context, output: Json, frame: Frame | None) -> Shot:
    """A picture that the browser has made for this call."""
    return Shot(
        session=context.session,
        tab=context.tab.id,
        data=output["data"],
        mime=output["mimeType"],
        width=output["width"],
        height=output["height"],
        scale=output["scale"],
        region=output["region"],
        frame=frame,
    )


def _frame(given: Json, output: Json) -> Frame:
    """A part of the page stays where it is on the page, the viewport moves with it."""
    is_part = any(given.get(key) for key in ("ref", "selector", "region", "fullPage"))
    region = output["region"]
    corner = (region["x"], region["y"]) if is_part else None
    size = {"width": region["width"], "height": region["height"]}
    return Frame(output["width"], output["height"], size, corner)


def _described(shot: Shot) -> str:
    kind = shot.mime.removeprefix("image/")
    return f"{shot.width}x{shot.height} {kind}, {_kilobytes(shot.data)} KB"


def _kilobytes(data: str) -> int:
    return max(1, len(data) * 3 // 4 // 1024)


def _note(given: Json, output: Json) -> str:
    scale: float = output["scale"]
    if scale >= given.get("scale", 1):
        return ""
    region = output["region"]
    return (
        f" Scaled to {scale:.1%}: {region['width']:.0f}x{region['height']:.0f} pixels are too many "
        "for one picture. For more detail give fullPage with a region."
    )


def _saved(path: Path, data: str, sentence: str, shown: Json) -> CallResult:
    save(path, b64decode(data))
    return done(f"{sentence} Saved as {path}.", {**shown, "path": str(path)})


async def _print_pdf(context: Context) -> CallResult:
    given = context.arguments
    path = _place(context, (".pdf",))
    input = {key: value for key, value in given.items() if key != "filePath"}
    data: str = (await context.in_tab("page.pdf", input))["data"]
    tab = context.tab
    sentence = f"Tab {tab.id} as a PDF, {_kilobytes(data)} KB."
    shown: Json = {"tabId": tab.id, "mimeType": PDF, "bytes": len(b64decode(data))}
    if path is not None:
        return _saved(path, data, sentence, shown)
    block = embedded(f"tab://{tab.id}/page.pdf", data, PDF)
    return CallResult(content=[text(sentence), block], structured_content=shown)


_REGION: Json = {
    "type": "object",
    "description": "{x, y, width, height} in the viewport; with fullPage, in the page.",
}

SCREENSHOT_TAB = browser_tool(
    name="browser_screenshot_tab",
    title="Screenshot",
    description=(
        "A picture of the viewport, the full page, an element or a region, also of background tabs."
    ),
    handler=_screenshot,
    properties={
        "ref": REF,
        "selector": SELECTOR,
        "fullPage": {"type": "boolean"},
        "region": _REGION,
        "format": {"enum": ["jpeg", "png"], "default": "jpeg"},
        "quality": {"type": "integer", "minimum": 1, "maximum": 100, "default": 80},
        "scale": {"type": "number", "minimum": 0.05, "maximum": 4},
        "filePath": FILE_PATH,
    },
    read_only=True,
    changes_when="filePath",
)

PRINT_PDF = browser_tool(
    name="browser_print_pdf",
    title="Print as PDF",
    description="The page as a PDF, as it would be printed.",
    handler=_print_pdf,
    properties={
        "landscape": {"type": "boolean"},
        "printBackground": {"type": "boolean", "description": "Default true."},
        "scale": {"type": "number", "minimum": 0.1, "maximum": 2},
        "pageRanges": {"type": "string", "description": "Such as 1-3, 5. Default all."},
        "filePath": FILE_PATH,
    },
    read_only=True,
    changes_when="filePath",
    toolsets=BROWSER,
)

TOOLS = (SCREENSHOT_TAB, PRINT_PDF)
