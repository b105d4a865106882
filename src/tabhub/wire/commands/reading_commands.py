"""Commands that read a page: its elements, texts and looks."""

from typing import Any, Literal

from msgspec import UNSET

from tabhub.wire.commands.command import Box, Command, Count, Element, Maybe, Named, Shape, Size


class Evaluate(Shape, kw_only=True):
    """The code; its value is that of the last expression, and `return` and `await` may be used."""

    code: str
    timeout_ms: Maybe[float] = UNSET


class Evaluated(Shape):
    """The value, as `JSON.stringify` would have it."""

    value: Any


class EvaluatedObject(Shape, kw_only=True):
    """A value that JSON cannot hold."""

    value: None
    description: str
    is_node: Maybe[bool] = UNSET
    """Whether it is a node of the document."""


class Thrown(Shape):
    """An exception."""

    message: str
    stack: str


class EvaluationThrew(Shape):
    """The code threw."""

    exception: Thrown


class ReadPage(Shape, kw_only=True):
    """What to read, and how much of it."""

    filter: Maybe[Literal["all", "interactive"]] = UNSET
    depth: Maybe[Count] = UNSET
    ref: Maybe[str | None] = UNSET
    """Only this element and what is inside."""
    max_chars: Maybe[int] = UNSET
    offset: Maybe[Count] = UNSET
    since: Maybe[int | None] = UNSET
    """The number of an earlier reading: read in the same manner, tell only what changed."""
    measure: Maybe[bool] = UNSET
    """Tell how long all of it is."""


class PageRead(Shape, kw_only=True):
    """The page as lines of text."""

    url: str
    title: str
    content_type: Maybe[str] = UNSET
    """Where it is no HTML."""
    text: str
    truncated: bool
    next: Maybe[int] = UNSET
    """The `offset` of what follows."""
    since: Maybe[int] = UNSET
    """`text` has only lines that are new (`+`) or gone (`-`) since that reading. Without it that
    reading was of another document or is forgotten, and `text` is the whole page."""
    total: Maybe[int] = UNSET
    """With `measure`: the characters of all of it."""
    whole: Maybe[bool] = UNSET
    """With `measure`: whether all of the page was looked at."""
    read: int
    """The number of this reading."""
    nodes: int
    """How many elements were looked at; of a huge page not all."""
    viewport: Size


class FindElements(Shape, kw_only=True):
    """Words that describe what is looked for."""

    query: str
    limit: Maybe[int] = UNSET
    """20 without a number."""


class FoundElement(Shape, kw_only=True):
    """An element that fits."""

    ref: str
    role: str
    name: str
    type: Maybe[str] = UNSET
    """Of an input."""
    reason: str


class FoundElements(Shape):
    """The best first, of all frames."""

    matches: list[FoundElement]
    total: int
    whole: bool
    """Whether all of a huge page was searched."""


class ElementAndView(Shape, kw_only=True):
    """What an element can be known by at another time."""

    viewport: Size
    role: str
    name: str
    selector: Maybe[str] = UNSET
    """One that matches this element and nothing else."""


class View(Shape):
    """The size of the viewport, where no element was named."""

    viewport: Size


class LocateElement(Shape, kw_only=True):
    """An element that was described before."""

    selector: Maybe[str] = UNSET
    role: str
    name: str
    timeout_ms: Maybe[float] = UNSET


class LocatedElement(Shape):
    """The element now."""

    ref: str


class QueryElements(Shape, kw_only=True):
    """By selector; with `ref` inside that element, `ref` alone is the element itself."""

    selector: Maybe[str] = UNSET
    ref: Maybe[str] = UNSET
    limit: Maybe[int] = UNSET
    """100 without a number."""
    attributes: Maybe[list[str]] = UNSET
    """The attributes to tell; without them the usual ones."""


class QueriedElements(Shape):
    """Of all frames, the main frame first."""

    elements: list[Element]
    total: int


class ReadPiece(Named, kw_only=True):
    """A part of the page; without an element the whole."""

    max_chars: Maybe[int] = UNSET
    offset: Maybe[Count] = UNSET


class PieceRead(Shape, kw_only=True):
    """One text, with that of frames where they stand."""

    url: str
    title: str
    content_type: Maybe[str] = UNSET
    """Where it is no HTML."""
    source: str
    """The tag of the element that was read."""
    text: str
    truncated: bool
    next: Maybe[int] = UNSET
    """The `offset` of what follows."""


class WaitForElement(Named, kw_only=True):
    """By selector in all frames, also of documents that load meanwhile, or one that is known."""

    timeout_ms: Maybe[float] = UNSET
    """10,000 without a number."""
    visible: Maybe[bool] = UNSET


class SeenElement(Element, kw_only=True):
    """An element, and whether it can be seen."""

    visible: bool


class AwaitedElement(Shape):
    """The element that is there."""

    element: SeenElement


class ElementStyles(Named, kw_only=True):
    """Of which element."""

    properties: Maybe[list[str]] = UNSET
    """CSS properties; without them the usual ones."""


class StyledElement(Element, kw_only=True):
    """How the element looks."""

    box: Box
    styles: dict[str, str]


class ReadStorage(Shape, kw_only=True):
    """Which storage of the page's origin."""

    storage_type: Literal["local", "session"]
    key: Maybe[str] = UNSET


class StorageRead(Shape):
    """Those entries of which there is room for."""

    entries: list[tuple[str, str]]
    total: int


class ListResources(Shape, kw_only=True):
    """Only those of a type."""

    type: Maybe[str] = UNSET


class Resource(Shape, kw_only=True):
    """A file that the page is made of."""

    url: str
    type: str
    mime_type: str
    size: Maybe[float] = UNSET
    failed: Maybe[bool] = UNSET


class ResourceList(Shape):
    """Of all frames."""

    resources: list[Resource]
    total: int


class ReadResource(Shape, kw_only=True):
    """Which file."""

    url: str
    max_chars: Maybe[int] = UNSET
    """500,000 without a number."""


class ResourceRead(Resource, kw_only=True):
    """A file and what is in it."""

    content: str
    base64: bool
    length: int
    truncated: bool


COMMANDS = (
    Command(
        "page.evaluate",
        "Runs code in the page, under any content security policy.",
        Evaluate,
        (Evaluated, EvaluatedObject, EvaluationThrew),
    ),
    Command("page.read", "Reads the page as a tree of elements.", ReadPage, PageRead),
    Command("page.find", "Finds elements by words.", FindElements, FoundElements),
    Command(
        "page.describe",
        "Tells what an element can be known by at another time.",
        Named,
        (ElementAndView, View),
    ),
    Command(
        "page.locate",
        "Waits for an element that was described before; `element_not_found` if there is none, or "
        "more than one.",
        LocateElement,
        LocatedElement,
    ),
    Command("page.query", "Lists elements.", QueryElements, QueriedElements),
    Command(
        "page.text",
        "Reads text: that of the element, else of the article or main element if there is one.",
        ReadPiece,
        PieceRead,
    ),
    Command("page.html", "Reads HTML.", ReadPiece, PieceRead),
    Command(
        "page.wait",
        "Waits for an element; one named by `ref` that goes is `stale_ref`.",
        WaitForElement,
        AwaitedElement,
    ),
    Command("page.styles", "Tells how an element looks.", ElementStyles, StyledElement),
    Command(
        "page.storage", "Reads what the page's origin keeps in the tab.", ReadStorage, StorageRead
    ),
    Command("page.resources", "Lists the files the page is made of.", ListResources, ResourceList),
    Command("page.resource", "Reads one of these files.", ReadResource, ResourceRead),
)
