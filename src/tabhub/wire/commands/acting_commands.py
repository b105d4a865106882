"""Commands that act on a page with the mouse, the keyboard, files and answers."""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET

from tabhub.wire.commands.command import (
    Command,
    Dialog,
    Effect,
    FileToGive,
    Maybe,
    Named,
    Place,
    Point,
    Shape,
)

Settle = Annotated[float, msgspec.Meta(ge=0, le=10_000)]


class Hover(Place, kw_only=True):
    """Over what; also over what is disabled."""

    settle: Maybe[Settle] = UNSET
    """How many ms to wait for the page to come to rest; 1,000 without a number."""


class Click(Hover, kw_only=True):
    """On what, and how."""

    button: Maybe[Literal["left", "right", "middle"]] = UNSET
    click_count: Maybe[Annotated[int, msgspec.Meta(ge=1, le=3)]] = UNSET
    modifiers: Maybe[list[str]] = UNSET
    """`ctrl`, `shift`, `alt`, `meta`."""


class Acted(Shape, kw_only=True):
    """What was done."""

    effect: Effect
    trusted: bool
    """Whether it was input such as a person makes."""
    by_script: Maybe[bool] = UNSET
    """A script in the page made the events, because the debugger may not be used."""


class Clicked(Acted, kw_only=True):
    """What the click did, and where in the viewport it was."""

    point: Maybe[Point] = UNSET


class ElementAction(Named, kw_only=True):
    """On which element."""

    settle: Maybe[Settle] = UNSET


class Fill(ElementAction, kw_only=True):
    """The text, in the place of what is there unless `clear` is false."""

    text: str
    clear: Maybe[bool] = UNSET


class Select(ElementAction, kw_only=True):
    """The options to be chosen, by value or by label: these and no others."""

    value: Maybe[str | list[str]] = UNSET
    label: Maybe[str | list[str]] = UNSET


class FieldEffect(Effect, kw_only=True):
    """The effect, and what the field holds then."""

    value: Maybe[str] = UNSET
    """Of a sensitive field a row of dots."""


class Filled(Shape, kw_only=True):
    """What was done to the field. Errors of a sensitive field have `data.sensitive`."""

    effect: FieldEffect
    trusted: bool
    by_script: Maybe[bool] = UNSET
    sensitive: bool


class SetField(ElementAction, kw_only=True):
    """The value: text is typed, an option chosen by value or text, a box switched on or off."""

    value: str | float | bool


class FieldSet(Filled, kw_only=True):
    """What was done to the field, and what it held; of boxes `true` or `false`."""

    before: str


class Press(ElementAction, kw_only=True):
    """Keys for the element, or for what has the focus."""

    key: str
    """A key or chord (`Enter`, `ctrl+a`), or several between spaces."""
    modifiers: Maybe[list[str]] = UNSET
    repeat: Maybe[int] = UNSET


class Type(Shape, kw_only=True):
    """Text for what has the focus; the end of a line is Enter."""

    text: str
    settle: Maybe[Settle] = UNSET


class KeyEffect(FieldEffect, kw_only=True):
    """The effect; `value` is that of the field that then has the focus."""

    focused: Maybe[str] = UNSET
    """Where a key has moved the focus."""


class Pressed(Shape, kw_only=True):
    """What the keys did."""

    effect: KeyEffect
    trusted: bool
    by_script: Maybe[bool] = UNSET
    sensitive: bool


class ScrollTarget(Shape, kw_only=True):
    """A place to scroll to."""

    x: Maybe[float] = UNSET
    y: Maybe[float] = UNSET


class Scroll(Hover, kw_only=True):
    """What, and how far.

    The page if nothing is named; around an element, or with an element alone that into view. At a
    point the wheel is turned by `distance`.
    """

    container: Maybe[str] = UNSET
    """A selector of what scrolls."""
    direction: Maybe[Literal["up", "down", "left", "right"]] = UNSET
    distance: Maybe[float] = UNSET
    position: Maybe[ScrollTarget] = UNSET


class ScrollPosition(Shape):
    """Where what scrolls is, and where it ends."""

    x: float
    y: float
    max_x: float
    max_y: float


class ScrollEffect(Effect, kw_only=True):
    """The effect; without `moved` and `position` if a dialog has opened."""

    moved: Maybe[bool] = UNSET
    position: Maybe[ScrollPosition] = UNSET


class Scrolled(Shape, kw_only=True):
    """What scrolling did."""

    effect: ScrollEffect
    trusted: bool
    by_script: Maybe[bool] = UNSET
    wheel: bool
    """Whether the wheel was turned, because nothing scrolls there by itself."""


class Drag(Shape, kw_only=True):
    """From where to where; what the page makes a drag of data is dropped."""

    from_: Place = msgspec.field(name="from")
    to: Place
    modifiers: Maybe[list[str]] = UNSET
    settle: Maybe[Settle] = UNSET


class DragPath(Shape):
    """The ends, in the viewport."""

    start: Point
    end: Point


class Dragged(Acted, kw_only=True):
    """What dragging did."""

    path: DragPath


class AnswerDialog(Shape, kw_only=True):
    """The answer to the dialog that is open."""

    action: Literal["accept", "dismiss"]
    prompt_text: Maybe[str] = UNSET
    """Without it a prompt is accepted as it stands; `user:password` for HTTP authentication."""
    settle: Maybe[Settle] = UNSET


class AnsweredDialog(Shape):
    """The effect of what waited behind the dialog."""

    effect: Effect
    answered: Dialog
    trusted: bool


class Upload(Hover, kw_only=True):
    """Files for an input, or to be dropped; without a place for the file chooser that is open."""

    files: list[FileToGive]


class ReceivedFile(Shape):
    """A file as the page has received it."""

    name: str
    size: int


class UploadEffect(Effect, kw_only=True):
    """The effect."""

    files: Maybe[list[ReceivedFile]] = UNSET


class Uploaded(Shape, kw_only=True):
    """What the page has received."""

    effect: UploadEffect
    trusted: bool
    misfits: Maybe[list[str]] = UNSET
    """Those that the input's `accept` does not name."""


COMMANDS = (
    Command("page.click", "Clicks.", Click, Clicked),
    Command("page.hover", "Moves the mouse over something.", Hover, Acted),
    Command("page.fill", "Writes into a field.", Fill, Filled),
    Command("page.select", "Chooses in a select.", Select, Filled),
    Command("page.set", "Gives a field of any kind a value.", SetField, FieldSet),
    Command("page.press", "Presses keys.", Press, Pressed),
    Command(
        "page.type",
        "Types text by keys; inserts it where the keyboard has none or the text is long.",
        Type,
        Pressed,
    ),
    Command("page.scroll", "Scrolls.", Scroll, Scrolled),
    Command("page.drag", "Presses in one place and lets go in another.", Drag, Dragged),
    Command("page.dialog", "Answers a dialog.", AnswerDialog, AnsweredDialog),
    Command("page.upload", "Gives files to the page.", Upload, Uploaded),
)
