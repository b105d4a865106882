"""Screenshots of pages, and pages as PDF."""

from base64 import b64decode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tabhub.calls.results import done
from tabhub.errors import InvalidArguments
from tabhub.tools.files import save
from tabhub.tools.state import Frame, Screenshot
from tabhub.tools.tool import (
    BROWSER,
    FILE_PATH,
    REF,
    SELECTOR,
    Context,
    Json,
    browser_tool,
    writing,
)
from tabhub.wire.abilities import Ability
from tabhub.wire.mcp.messages import CallResult, embedded, image, text

FORMATS = {".jpg": "jpeg", ".jpeg": "jpeg", ".png": "png"}
PDF = "application/pdf"
_PASSED = ("ref", "selector", "region", "fullPage", "format", "quality", "scale")


async def _screenshot_tab(context: Context) -> CallResult:
    arguments = context.arguments
    path = _path(context, tuple(FORMATS))
    input = {**_format(path), **_capture_input(arguments)}
    output = await context.in_tab("page.capture", input)
    taken = screenshot_of(context, output, _frame(arguments, output))
    id = context.screenshots.keep(taken)
    del output["data"]
    data: Json = {"tabId": taken.tab, "id": id, **output}
    sentence = f"Screenshot {id} of tab {taken.tab}: {_described(taken)}.{_note(arguments, output)}"
    if path is not None:
        return _saved(path, taken.data, sentence, data)
    return CallResult(
        content=[text(sentence), image(taken.data, taken.mime)], structured_content=data
    )


def _capture_input(arguments: Json) -> Json:
    input = {key: arguments[key] for key in _PASSED if key in arguments}
    elements = [key for key in ("ref", "selector") if key in input]
    if len(elements) > 1 or (elements and ("region" in input or input.get("fullPage"))):
        raise InvalidArguments(
            "browser_screenshot_tab: give one of ref, selector, or region and fullPage."
        )
    return input


def _path(context: Context, suffixes: tuple[str, ...]) -> Path | None:
    name = context.arguments.get("filePath")
    return None if name is None else context.place_file(name, suffixes)


def _format(path: Path | None) -> Json:
    return {} if path is None else {"format": FORMATS[path.suffix.lower()]}


def screenshot_of(context: Context, output: Json, frame: Frame | None) -> Screenshot:
    """The screenshot that the browser took for this call."""
    return Screenshot(
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


def _frame(arguments: Json, output: Json) -> Frame:
    is_part = any(arguments.get(key) for key in ("ref", "selector", "region", "fullPage"))
    region = output["region"]
    corner = (region["x"], region["y"]) if is_part else None
    size = {"width": region["width"], "height": region["height"]}
    return Frame(output["width"], output["height"], size, corner)


def _described(screenshot: Screenshot) -> str:
    kind, size = screenshot.mime.removeprefix("image/"), _kilobytes(screenshot.data)
    return f"{screenshot.width}x{screenshot.height} {kind}, {size} KB"


def _kilobytes(data: str) -> int:
    return max(1, len(data) * 3 // 4 // 1024)


def _note(arguments: Json, output: Json) -> str:
    scale: float = output["scale"]
    if scale >= arguments.get("scale", 1):
        return ""
    region = output["region"]
    return (
        f" Scaled to {scale:.1%}: {region['width']:.0f}x{region['height']:.0f} pixels are too many "
        "for one picture. For more detail give fullPage with a region."
    )


def _saved(path: Path, content: str, sentence: str, data: Json) -> CallResult:
    save(path, b64decode(content))
    return done(f"{sentence} Saved as {path}.", {**data, "path": str(path)})


async def _print_pdf(context: Context) -> CallResult:
    path = _path(context, (".pdf",))
    input = {key: value for key, value in context.arguments.items() if key != "filePath"}
    content: str = (await context.in_tab("page.pdf", input))["data"]
    tab = context.tab
    sentence = f"Tab {tab.id} as a PDF, {_kilobytes(content)} KB."
    data: Json = {"tabId": tab.id, "mimeType": PDF, "bytes": len(b64decode(content))}
    if path is not None:
        return _saved(path, content, sentence, data)
    block = embedded(f"tab://{tab.id}/page.pdf", content, PDF)
    return CallResult(content=[text(sentence), block], structured_content=data)


_REGION: Json = {
    "type": "object",
    "description": "{x, y, width, height} in the viewport; with fullPage, in the page.",
}


def _capturing(arguments: Mapping[str, Any]) -> tuple[Ability, ...]:
    return (Ability.CAPTURE, *writing(arguments))


SCREENSHOT_TAB = browser_tool(
    name="browser_screenshot_tab",
    title="Screenshot",
    description=(
        "A picture of the viewport, the full page, an element or a region, also of background tabs."
    ),
    handler=_screenshot_tab,
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
    does=_capturing,
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
    does=_capturing,
)

TOOLS = (SCREENSHOT_TAB, PRINT_PDF)
