"""Commands that read a page: elements, text, styles, storage, files."""

from typing import Any, Literal

from msgspec import UNSET

from tabhub.wire.abilities import Ability
from tabhub.wire.commands.command import (
    Address,
    Box,
    Command,
    Count,
    Element,
    FoundTarget,
    Maybe,
    Named,
    NoInput,
    Shape,
    Size,
    SourceAddress,
)


class Evaluate(Shape, kw_only=True):
    """The code; its value is that of the last expression. `return` and `await` are allowed."""

    code: str
    timeout_ms: Maybe[float] = UNSET


class Evaluated(Shape):
    """The value, as `JSON.stringify` writes it."""

    value: Any


class EvaluatedObject(Shape, kw_only=True):
    """A value that JSON cannot represent."""

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
    """The part of the page to read, and its format."""

    filter: Maybe[Literal["all", "interactive"]] = UNSET
    depth: Maybe[Count] = UNSET
    ref: Maybe[str | None] = UNSET
    """Only this element and its descendants."""
    selector: Maybe[str] = UNSET
    find: Maybe[str] = UNSET
    """Words: only the part of the page that they are found in."""
    max_chars: Maybe[int] = UNSET
    offset: Maybe[Count] = UNSET
    since: Maybe[int | None] = UNSET
    """The number of an earlier reading; only changes since then are returned, in its format."""
    measure: Maybe[bool] = UNSET
    """Whether to return the length of the whole text."""


class PageRead(Shape, kw_only=True):
    """The page as lines of text."""

    url: Address
    title: str
    content_type: Maybe[str] = UNSET
    """Set if the document is not HTML."""
    text: str
    truncated: bool
    next: Maybe[int] = UNSET
    """The `offset` of the rest."""
    since: Maybe[int] = UNSET
    """Set if `text` has only the lines added (`+`) or removed (`-`) since that reading. Otherwise
    that reading was of another document or is forgotten, and `text` is the whole page."""
    total: Maybe[int] = UNSET
    """With `measure`: the length of the whole text, in characters."""
    whole: Maybe[bool] = UNSET
    """With `measure`: whether the whole page was read."""
    read: int
    """The number of this reading."""
    nodes: int
    """How many elements were read; of a huge page, not all."""
    viewport: Size
    unlistened: Maybe[bool] = UNSET
    """Whether the page has too many elements or listeners to list which elements listen."""


class FindElements(Shape, kw_only=True):
    """A description of the elements in words."""

    query: str
    limit: Maybe[int] = UNSET
    """Default 20."""


class FoundElement(Shape, kw_only=True):
    """An element that matches."""

    ref: str
    role: str
    name: str
    type: Maybe[str] = UNSET
    """The type of an input."""
    state: Maybe[str] = UNSET
    """Its attributes and states as a reading lists them: value, checked, disabled and others."""
    row: Maybe[str] = UNSET
    """The text of the table row that it is in."""
    behind: Maybe[FoundTarget] = UNSET
    """The dialog or menu that shuts it off."""
    shut_off: Maybe[bool] = UNSET
    """Whether the page has shut it off although no dialog is open."""
    reason: str


class FoundElements(Shape, kw_only=True):
    """Matches in all frames, best first."""

    matches: list[FoundElement]
    total: int
    nearest: Maybe[list[FoundElement]] = UNSET
    """If nothing matches: those that match in part. Older extensions do not look for them."""
    whole: bool
    """Whether the whole page was searched; a huge one is not."""
    is_loading: Maybe[bool] = UNSET
    unlistened: Maybe[bool] = UNSET
    """As in a reading."""


class ElementAndView(Shape, kw_only=True):
    """What identifies an element in a later visit."""

    viewport: Size
    role: str
    name: str
    selector: Maybe[str] = UNSET
    """A selector that matches only this element."""


class View(Shape):
    """The size of the viewport, if no element was given."""

    viewport: Size


class LocateElement(Shape, kw_only=True):
    """An element as `page.describe` described it."""

    selector: Maybe[str] = UNSET
    role: str
    name: str
    timeout_ms: Maybe[float] = UNSET


class LocatedElement(Shape):
    """The element's ref now."""

    ref: str


class QueryElements(Shape, kw_only=True):
    """By selector; with `ref`, inside that element. `ref` alone is the element itself."""

    selector: Maybe[str] = UNSET
    ref: Maybe[str] = UNSET
    limit: Maybe[int] = UNSET
    """Default 100."""
    attributes: Maybe[list[str]] = UNSET
    """The attributes to return; default the most useful ones."""


class QueriedElements(Shape):
    """Elements of all frames, the main frame first."""

    elements: list[Element]
    total: int


class ReadPiece(Named, kw_only=True):
    """An element; default the whole page."""

    find: Maybe[str] = UNSET
    """Words: the part of the page that they are found in."""
    max_chars: Maybe[int] = UNSET
    offset: Maybe[Count] = UNSET


class PieceRead(Shape, kw_only=True):
    """The text, with that of frames in their place."""

    url: Address
    title: str
    content_type: Maybe[str] = UNSET
    """Set if the document is not HTML."""
    source: str
    """The tag name of the element that was read."""
    text: str
    truncated: bool
    next: Maybe[int] = UNSET
    """The `offset` of the rest."""


class WaitForElement(Named, kw_only=True):
    """By `selector` or `find` in all frames, also in documents that load meanwhile; or by `ref`."""

    find: Maybe[str] = UNSET
    """Words, all of which the element must have."""
    timeout_ms: Maybe[float] = UNSET
    """Default 10,000."""
    visible: Maybe[bool] = UNSET


class SeenElement(Element, kw_only=True):
    """An element, and whether it is visible."""

    visible: bool


class AwaitedElement(Shape):
    """The element that was found."""

    element: SeenElement


class ElementStyles(Named, kw_only=True):
    """The element and the properties."""

    properties: Maybe[list[str]] = UNSET
    """CSS properties; default the most useful ones."""


class StyledElement(Element, kw_only=True):
    """The element's box and styles."""

    box: Box
    styles: dict[str, str]


class ReadStorage(Shape, kw_only=True):
    """The storage of the page's origin to read."""

    storage_type: Literal["local", "session"]
    key: Maybe[str] = UNSET


class StorageRead(Shape):
    """The entries that fit into a message, and their total number."""

    entries: list[tuple[str, str]]
    total: int


class ListResources(Shape, kw_only=True):
    """The type of files to list; default all."""

    type: Maybe[str] = UNSET


class Resource(Shape, kw_only=True):
    """A file that the page has loaded."""

    url: SourceAddress
    type: str
    mime_type: str
    size: Maybe[float] = UNSET
    failed: Maybe[bool] = UNSET


class ResourceList(Shape):
    """The files of all frames."""

    resources: list[Resource]
    total: int


class ReadResource(Shape, kw_only=True):
    """The file to read."""

    url: str
    max_chars: Maybe[int] = UNSET
    """Default 500,000."""


class ResourceRead(Resource, kw_only=True):
    """A file with its content."""

    content: str
    base64: bool
    length: int
    truncated: bool


class SiteCookie(Shape):
    """A cookie, without its value."""

    name: str
    http_only: bool
    secure: bool


class SiteRequest(Shape, kw_only=True):
    """A request of the page's scripts, without the values in it."""

    url: SourceAddress
    """Without the query."""
    method: str
    """Empty if only the page's timing data has the request."""
    type: str
    mime_type: Maybe[str] = UNSET
    parameters: list[str]
    """The names in the query."""
    members: list[str]
    """The names of the body's own members, if it is JSON or a form."""
    operation: Maybe[str] = UNSET
    """The operation of GraphQL; empty if it has no name."""
    credentials: list[str]
    """The headers that identify the person, without their values: `Authorization: Bearer`."""


class SiteField(Shape):
    """A field of a form."""

    name: str
    type: str
    required: bool


class SiteForm(Shape):
    """A form of the page."""

    action: SourceAddress
    """Without the query."""
    method: str
    name: str
    fields: list[SiteField]


class SiteFramework(Shape):
    """A framework that the page uses; the version is empty if the page does not say."""

    name: str
    version: str


class SiteAnalyzed(Shape, kw_only=True):
    """What a site is made of. No value of a cookie, a storage or a header is in it."""

    url: Address
    title: str
    cookies: list[SiteCookie]
    csrf: list[str]
    """The names of elements of the page that have a token against forged requests."""
    requests: list[SiteRequest]
    recorded: bool
    """Whether the tab is recorded; otherwise methods, bodies and headers are unknown."""
    frameworks: list[SiteFramework]
    globals: list[str]
    """The names that the page has added to its window."""
    globals_total: int
    local_storage: list[str]
    session_storage: list[str]
    databases: list[str]
    forms: list[SiteForm]


COMMANDS = (
    Command(
        "page.evaluate",
        "Runs code in the page, whatever its content security policy.",
        Evaluate,
        (Evaluated, EvaluatedObject, EvaluationThrew),
        ability=Ability.RUN_CODE,
    ),
    Command("page.read", "Reads the page as a tree of elements.", ReadPage, PageRead),
    Command("page.find", "Finds elements by words.", FindElements, FoundElements),
    Command(
        "page.describe",
        "Describes an element so that `page.locate` can find it later.",
        Named,
        (ElementAndView, View),
    ),
    Command(
        "page.locate",
        "Waits for an element that was described before; `element_not_found` if there is none or "
        "more than one.",
        LocateElement,
        LocatedElement,
    ),
    Command("page.query", "Lists elements.", QueryElements, QueriedElements),
    Command(
        "page.text",
        "Reads text: of the element, else of the article or main element if there is one.",
        ReadPiece,
        PieceRead,
    ),
    Command("page.html", "Reads HTML.", ReadPiece, PieceRead),
    Command(
        "page.wait",
        "Waits for an element; `stale_ref` if an element given by `ref` is removed.",
        WaitForElement,
        AwaitedElement,
    ),
    Command("page.styles", "Reads the styles of an element.", ElementStyles, StyledElement),
    Command(
        "page.storage", "Reads the local or session storage of the page.", ReadStorage, StorageRead
    ),
    Command(
        "page.resources", "Lists the files that the page has loaded.", ListResources, ResourceList
    ),
    Command("page.resource", "Reads one of these files.", ReadResource, ResourceRead),
    Command(
        "site.analyze",
        "Describes what a site is made of, without the debugger.",
        NoInput,
        SiteAnalyzed,
    ),
)
