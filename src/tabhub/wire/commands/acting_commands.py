"""Commands that act on a page: mouse, keyboard, dialogs, files."""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET

from tabhub.wire.commands.command import (
    Command,
    ConfirmedDialog,
    ConfirmedTarget,
    Dialog,
    Effect,
    FileToGive,
    Maybe,
    Named,
    NoInput,
    NoOutput,
    Observe,
    Place,
    Point,
    Shape,
)

Settle = Annotated[float, msgspec.Meta(ge=0, le=10_000)]


class Hover(Place, kw_only=True):
    """The element or point, which may be disabled."""

    settle: Maybe[Settle] = UNSET
    """How many ms to wait for the page to settle; default 1,000."""
    observe: Maybe[Observe] = UNSET


class Click(Hover, kw_only=True):
    """The element or point to click, and how."""

    button: Maybe[Literal["left", "right", "middle"]] = UNSET
    click_count: Maybe[Annotated[int, msgspec.Meta(ge=1, le=3)]] = UNSET
    modifiers: Maybe[list[str]] = UNSET
    """`ctrl`, `shift`, `alt`, `meta`."""


class Acted(Shape, kw_only=True):
    """The effect of the action."""

    effect: Effect
    trusted: bool
    """Whether the events were trusted, as those of a person are."""
    by_script: Maybe[bool] = UNSET
    """Whether a script in the page made the events, since the debugger was not available."""


class Clicked(Acted, kw_only=True):
    """The effect of the click, and its point in the viewport."""

    point: Maybe[Point] = UNSET


class ElementAction(Named, kw_only=True):
    """The element."""

    settle: Maybe[Settle] = UNSET
    observe: Maybe[Observe] = UNSET
    find: Maybe[str] = UNSET
    confirmed: Maybe[ConfirmedTarget] = UNSET
    """As in `Place`."""


class Fill(ElementAction, kw_only=True):
    """The text; it replaces the content unless `clear` is false."""

    text: str
    clear: Maybe[bool] = UNSET


class Select(ElementAction, kw_only=True):
    """The options to select, by value or by label; all others are deselected."""

    value: Maybe[str | list[str]] = UNSET
    label: Maybe[str | list[str]] = UNSET


class FieldEffect(Effect, kw_only=True):
    """The effect, and the field's value afterwards."""

    value: Maybe[str] = UNSET
    """Dots for a sensitive field."""


class Filled(Shape, kw_only=True):
    """The effect on the field. Errors about a sensitive field have `data.sensitive`."""

    effect: FieldEffect
    trusted: bool
    by_script: Maybe[bool] = UNSET
    sensitive: bool


class SetField(ElementAction, kw_only=True):
    """The value: a text, an option by value or label, or whether a box is checked."""

    value: str | float | bool


class FieldSet(Filled, kw_only=True):
    """The effect on the field, and its value before; `true` or `false` for a box."""

    before: str


class Press(ElementAction, kw_only=True):
    """Keys for the element, or for the one that has the focus."""

    key: str
    """A key or chord (`Enter`, `ctrl+a`), or several separated by spaces."""
    modifiers: Maybe[list[str]] = UNSET
    repeat: Maybe[int] = UNSET


class Type(Shape, kw_only=True):
    """Text for the element that has the focus; a line break presses Enter."""

    text: str
    settle: Maybe[Settle] = UNSET
    observe: Maybe[Observe] = UNSET
    confirmed: Maybe[ConfirmedTarget] = UNSET
    """As in `Place`, for the element that has the focus."""


class KeyEffect(FieldEffect, kw_only=True):
    """The effect; `value` is that of the field that has the focus afterwards."""

    focused: Maybe[str] = UNSET
    """The element that the focus moved to."""
    received_by: Maybe[str] = UNSET
    """What got the last key, if that is no field and keeps the focus; empty: nothing has it."""
    prevented: Maybe[int] = UNSET
    """How many characters the page kept from being written, if none were."""


class Pressed(Shape, kw_only=True):
    """The effect of the keys."""

    effect: KeyEffect
    trusted: bool
    by_script: Maybe[bool] = UNSET
    sensitive: bool


class ScrollTarget(Shape, kw_only=True):
    """A position to scroll to."""

    x: Maybe[float] = UNSET
    y: Maybe[float] = UNSET


class Scroll(Hover, kw_only=True):
    """What to scroll, and how far.

    By default the page. With an element, what scrolls around it; with an element and nothing else,
    the element is scrolled into view. At a point, the wheel is turned by `distance`.
    """

    container: Maybe[str] = UNSET
    """A selector of the scrolling element."""
    direction: Maybe[Literal["up", "down", "left", "right"]] = UNSET
    distance: Maybe[float] = UNSET
    position: Maybe[ScrollTarget] = UNSET


class ScrollPosition(Shape):
    """The scroll position, and its maximum."""

    x: float
    y: float
    max_x: float
    max_y: float


class ScrollEffect(Effect, kw_only=True):
    """The effect; without `moved` and `position` if a dialog opened."""

    moved: Maybe[bool] = UNSET
    position: Maybe[ScrollPosition] = UNSET


class Scrolled(Shape, kw_only=True):
    """The effect of scrolling."""

    effect: ScrollEffect
    trusted: bool
    by_script: Maybe[bool] = UNSET
    wheel: bool
    """Whether the wheel was turned, since there is no scrolling element."""


class Drag(Shape, kw_only=True):
    """Start and end; data that the page attaches to the drag is dropped at the end."""

    from_: Place = msgspec.field(name="from")
    to: Place
    modifiers: Maybe[list[str]] = UNSET
    settle: Maybe[Settle] = UNSET
    observe: Maybe[Observe] = UNSET


class DragPath(Shape):
    """Start and end in the viewport."""

    start: Point
    end: Point


class Dragged(Acted, kw_only=True):
    """The effect of dragging."""

    path: DragPath


class SoughtTarget(Place, kw_only=True):
    """What an action names."""

    kind: Maybe[Literal["text", "select"]] = UNSET
    """What must take the action, if words name it."""


class SeekTargets(Shape):
    """What an action names: one place, or two for a drag."""

    places: list[SoughtTarget]


class AskedTarget(ConfirmedTarget, kw_only=True):
    """The element there: at a point, the control that it belongs to."""

    sensitive: bool
    """Whether it is a field for a password or the like."""
    site: Maybe[str] = UNSET
    """The site of the frame that it is in, if that is not the page's."""


class SeekReceiver(Shape):
    """What an action that names nothing is done to."""

    of: Literal["focus", "chooser"]
    """The element that has the focus, or the input whose file chooser is open."""


class AskedTargets(Shape):
    """The elements, in that order."""

    targets: list[AskedTarget]


class OutlineTargets(Shape):
    """The elements to outline, in place of any others; none to outline nothing."""

    refs: list[str]
    milliseconds: Annotated[float, msgspec.Meta(ge=0)]
    """The outline ends by itself after this time."""


class AnswerDialog(Shape, kw_only=True):
    """The answer to the open dialog."""

    action: Literal["accept", "dismiss"]
    prompt_text: Maybe[str] = UNSET
    """Default: the prompt's own text. For HTTP authentication `user:password`."""
    confirmed: Maybe[ConfirmedDialog] = UNSET
    """What a person was asked about: if the page shows another dialog now, nothing is done
    (`target_changed`)."""
    settle: Maybe[Settle] = UNSET
    observe: Maybe[Observe] = UNSET


class AnsweredDialog(Shape):
    """The effect of the action that the dialog had interrupted."""

    effect: Effect
    answered: Dialog
    trusted: bool


class Upload(Hover, kw_only=True):
    """Files for a file input, or to be dropped on an element; without a target, for the open file
    chooser."""

    files: list[FileToGive]


class ReceivedFile(Shape):
    """A file that the page has received."""

    name: str
    size: int


class UploadEffect(Effect, kw_only=True):
    """The effect, and the files."""

    files: Maybe[list[ReceivedFile]] = UNSET


class Uploaded(Shape, kw_only=True):
    """The effect of the upload."""

    effect: UploadEffect
    trusted: bool
    misfits: Maybe[list[str]] = UNSET
    """Names of files that the input's `accept` does not include."""


COMMANDS = (
    Command("page.click", "Clicks an element or a point.", Click, Clicked),
    Command("page.hover", "Moves the mouse over an element or a point.", Hover, Acted),
    Command("page.fill", "Writes into a field.", Fill, Filled),
    Command("page.select", "Selects options.", Select, Filled),
    Command("page.set", "Sets the value of a field of any kind.", SetField, FieldSet),
    Command("page.press", "Presses keys.", Press, Pressed),
    Command(
        "page.type",
        "Types text with keys; inserts characters without a key, and long text.",
        Type,
        Pressed,
    ),
    Command("page.scroll", "Scrolls the page or an element.", Scroll, Scrolled),
    Command("page.drag", "Drags from one place to another.", Drag, Dragged),
    Command("page.dialog", "Answers a dialog.", AnswerDialog, AnsweredDialog),
    Command("page.upload", "Gives files to the page.", Upload, Uploaded),
    Command(
        "page.target",
        "Finds what an action would be done to, so that a person can be asked about it; acts on "
        "nothing and attaches nothing.",
        SeekTargets,
        AskedTargets,
    ),
    Command(
        "page.receiver",
        "Finds what keys or files would go to that name no element, so that a person can be asked "
        "about it; acts on nothing and attaches nothing.",
        SeekReceiver,
        AskedTarget,
    ),
    Command(
        "page.shownDialog",
        "Says which dialog would be answered, so that a person can be asked about it.",
        NoInput,
        ConfirmedDialog,
    ),
    Command(
        "page.outline",
        "Outlines elements for the person. While another command runs in the tab, there is no "
        "outline.",
        OutlineTargets,
        NoOutput,
    ),
)
