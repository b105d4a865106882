"""Commands on how a page looks: pictures, forced states, style sheets, emulation."""

from typing import Literal

from msgspec import UNSET

from tabhub.wire.commands.command import (
    Box,
    Command,
    Emulated,
    EmulatedDevice,
    EmulatedLine,
    EmulatedMedia,
    EmulatedPlace,
    Maybe,
    Milliseconds,
    Named,
    Shape,
    Size,
)


class Region(Shape, kw_only=True):
    """A rectangle as an agent names it: the extension refuses one that is not complete."""

    x: Maybe[float] = UNSET
    y: Maybe[float] = UNSET
    width: Maybe[float] = UNSET
    height: Maybe[float] = UNSET


class Capture(Named, kw_only=True):
    """Of what: an element, a region, the page or what is in view."""

    full_page: Maybe[bool] = UNSET
    region: Maybe[Region] = UNSET
    """A part of the viewport, or of the page with `fullPage`."""
    format: Maybe[Literal["jpeg", "png"]] = UNSET
    quality: Maybe[float] = UNSET
    """80 without a number."""
    scale: Maybe[float] = UNSET
    max_side: Maybe[float] = UNSET
    """What is larger is made smaller first."""


class Captured(Shape):
    """A picture, in base64."""

    data: str
    mime_type: str
    width: int
    height: int
    scale: float
    """Smaller than asked for where the picture would be too large."""
    region: Box
    """Always of the page."""
    page: Size
    viewport: Size


class PrintPdf(Shape, kw_only=True):
    """How to print."""

    landscape: Maybe[bool] = UNSET
    print_background: Maybe[bool] = UNSET
    """True without it."""
    scale: Maybe[float] = UNSET
    page_ranges: Maybe[str] = UNSET


class PrintedPdf(Shape):
    """The file, in base64."""

    data: str


class ForcePseudo(Named, kw_only=True):
    """States such as `:hover`; none ends it."""

    pseudo_classes: list[str]


class ForcedPseudo(Shape):
    """How many elements of the tab are in a forced state."""

    forced: int


class CssCoverage(Shape, kw_only=True):
    """Whether to stop counting."""

    stop: Maybe[bool] = UNSET


class SheetUsage(Shape):
    """A style sheet, and which of its rules are in use."""

    url: str
    inline: bool
    total_bytes: int
    used_bytes: int
    rules: int
    used_rules: int
    unused: list[str]
    """Selectors."""


class CssUsage(Shape):
    """Since when, and of which sheets."""

    since: Milliseconds
    sheets: list[SheetUsage]


class EmulationChanges(Shape, kw_only=True):
    """What is to be emulated; null ends it."""

    device: Maybe[EmulatedDevice | None] = UNSET
    geolocation: Maybe[EmulatedPlace | None] = UNSET
    media: Maybe[list[EmulatedMedia] | None] = UNSET
    vision: Maybe[str | None] = UNSET
    network: Maybe[EmulatedLine | None] = UNSET


class Emulate(Shape):
    """Changes."""

    set: EmulationChanges


class EmulatedNow(Shape):
    """All that is emulated in the tab now."""

    emulated: Emulated


class SetPermission(Shape):
    """What the page's site may do, until the tab closes; only a managed browser takes it."""

    name: Literal["geolocation", "notifications", "camera", "microphone"]
    setting: Literal["allow", "block", "ask"]


class PermissionNow(Shape):
    """As the page sees it."""

    origin: str
    state: Literal["granted", "denied", "prompt", "unknown"]


COMMANDS = (
    Command("page.capture", "Takes a picture.", Capture, Captured),
    Command("page.pdf", "Prints the page.", PrintPdf, PrintedPdf),
    Command(
        "page.pseudo",
        "Forces an element into a state, until another document loads or the agent leaves.",
        ForcePseudo,
        ForcedPseudo,
    ),
    Command(
        "page.coverage",
        "Counts which rules of the style sheets are in use, from the first call on.",
        CssCoverage,
        CssUsage,
    ),
    Command("page.emulate", "Emulates a device, a place, a connection.", Emulate, EmulatedNow),
    Command(
        "page.permission",
        "Decides beforehand what the page's site may do.",
        SetPermission,
        PermissionNow,
    ),
)
