"""Commands about the appearance of a page: screenshots, forced states, CSS, emulation."""

from typing import Literal

from msgspec import UNSET

from tabhub.wire.abilities import Ability
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
    SourceAddress,
)


class Region(Shape, kw_only=True):
    """A rectangle from an agent; the extension refuses an incomplete one."""

    x: Maybe[float] = UNSET
    y: Maybe[float] = UNSET
    width: Maybe[float] = UNSET
    height: Maybe[float] = UNSET


class Capture(Named, kw_only=True):
    """What to capture: an element, a region, the whole page or the viewport."""

    full_page: Maybe[bool] = UNSET
    region: Maybe[Region] = UNSET
    """A part of the viewport, or of the page with `fullPage`."""
    format: Maybe[Literal["jpeg", "png"]] = UNSET
    quality: Maybe[float] = UNSET
    """Default 80."""
    scale: Maybe[float] = UNSET
    max_side: Maybe[float] = UNSET
    """The longest side, in pixels; a larger picture is scaled down."""


class Captured(Shape):
    """A picture, in base64."""

    data: str
    mime_type: str
    width: int
    height: int
    scale: float
    """Smaller than requested if the picture would be too large."""
    region: Box
    """In coordinates of the page."""
    page: Size
    viewport: Size


class PrintPdf(Shape, kw_only=True):
    """Options for printing."""

    landscape: Maybe[bool] = UNSET
    print_background: Maybe[bool] = UNSET
    """Default true."""
    scale: Maybe[float] = UNSET
    page_ranges: Maybe[str] = UNSET


class PrintedPdf(Shape):
    """The file, in base64."""

    data: str


class ForcePseudo(Named, kw_only=True):
    """States such as `:hover`; an empty list ends them."""

    pseudo_classes: list[str]


class ForcedPseudo(Shape):
    """How many elements of the tab are in a forced state."""

    forced: int


class CssCoverage(Shape, kw_only=True):
    """Whether to stop recording."""

    stop: Maybe[bool] = UNSET


class SheetUsage(Shape):
    """A style sheet, and how much of it is used."""

    url: SourceAddress
    inline: bool
    total_bytes: int
    used_bytes: int
    rules: int
    used_rules: int
    unused: list[str]
    """Selectors of unused rules."""


class CssUsage(Shape):
    """The usage of each style sheet since a time."""

    since: Milliseconds
    sheets: list[SheetUsage]


class EmulationChanges(Shape, kw_only=True):
    """What to emulate; null ends an emulation."""

    device: Maybe[EmulatedDevice | None] = UNSET
    geolocation: Maybe[EmulatedPlace | None] = UNSET
    media: Maybe[list[EmulatedMedia] | None] = UNSET
    vision: Maybe[str | None] = UNSET
    network: Maybe[EmulatedLine | None] = UNSET


class Emulate(Shape):
    """The changes."""

    set: EmulationChanges


class EmulatedNow(Shape):
    """Everything that is emulated in the tab now."""

    emulated: Emulated


class SetPermission(Shape):
    """A permission of the page's site, until the tab closes; only in a managed browser."""

    name: Literal["geolocation", "notifications", "camera", "microphone"]
    setting: Literal["allow", "block", "ask"]


class PermissionNow(Shape):
    """The permission as the page sees it."""

    origin: str
    state: Literal["granted", "denied", "prompt", "unknown"]


COMMANDS = (
    Command("page.capture", "Takes a screenshot.", Capture, Captured, ability=Ability.CAPTURE),
    Command("page.pdf", "Prints the page to PDF.", PrintPdf, PrintedPdf, ability=Ability.CAPTURE),
    Command(
        "page.pseudo",
        "Forces an element into a state, until another document loads or the agent leaves.",
        ForcePseudo,
        ForcedPseudo,
    ),
    Command(
        "page.coverage",
        "Records which CSS rules are used, from the first call on.",
        CssCoverage,
        CssUsage,
    ),
    Command(
        "page.emulate",
        "Emulates a device, a location, media features or a network.",
        Emulate,
        EmulatedNow,
    ),
    Command(
        "page.permission",
        "Sets a permission of the page's site.",
        SetPermission,
        PermissionNow,
    ),
)
