"""The type of a command, and the shapes that several families share."""

from typing import Annotated, ClassVar, Literal, NamedTuple, TypeVar, Union

import msgspec
from msgspec import UNSET, UnsetType

from tabhub.wire.abilities import Ability
from tabhub.wire.link import LinkStruct

T = TypeVar("T")
Maybe = Union[T, UnsetType]  # noqa: UP007 - only this form of a union takes a parameter
"""A member that may be missing. A member that may be null says so in its type."""

Milliseconds = float
"""A time, in milliseconds since 1970."""

ADDRESS = "address"
Address = Annotated[str, msgspec.Meta(extra={ADDRESS: "page"})]
"""The address of a page. If the rules close its site to the caller, results say of the object that
has it only that it is walled."""

SourceAddress = Annotated[str, msgspec.Meta(extra={ADDRESS: "source"})]
"""The same for what a page loads or runs; without a server (`data:`), it is the page's own."""

HiddenAddress = Annotated[str, msgspec.Meta(extra={ADDRESS: "hidden"})]
"""The same as an address of a page, only for that decision: no result has it."""


class Shape(LinkStruct, forbid_unknown_fields=True):
    """Base of inputs and outputs; unknown members are errors, so that checks find them."""

    of_page: ClassVar[bool] = True
    """Whether its texts may come from a page; without an address, from the page around it."""


class Command(NamedTuple):
    """A command that the server can send to the extension with `tool.dispatch`."""

    name: str
    about: str
    input: type[Shape] | tuple[type[Shape], ...]
    output: type[Shape] | tuple[type[Shape], ...]
    """Several if the output has several shapes."""
    needs_tab: bool = True
    """Whether it acts in the tab that the message names; otherwise in the browser."""
    ability: Ability | None = None
    """What a tool must declare to send it."""

    @property
    def inputs(self) -> tuple[type[Shape], ...]:
        return self.input if isinstance(self.input, tuple) else (self.input,)

    @property
    def outputs(self) -> tuple[type[Shape], ...]:
        return self.output if isinstance(self.output, tuple) else (self.output,)


class NoInput(Shape):
    """Nothing."""


class NoOutput(Shape):
    """Nothing."""


class Point(Shape):
    """A point, in CSS pixels."""

    x: float
    y: float


class Size(Shape):
    """A size, in CSS pixels."""

    of_page: ClassVar[bool] = False
    width: float
    height: float


class Box(Shape):
    """A rectangle, in CSS pixels."""

    x: float
    y: float
    width: float
    height: float


class Named(Shape, kw_only=True):
    """An element, by `ref` or by `selector`."""

    ref: Maybe[str] = UNSET
    selector: Maybe[str] = UNSET


class FoundTarget(Shape):
    """An element that was found, as results name it: what words meant, or what lies in front."""

    ref: str
    role: str
    name: str


class ConfirmedTarget(FoundTarget, kw_only=True):
    """What a person has said yes to."""

    position: Maybe[int] = UNSET
    """Another number if the page has moved the element, or lets it lead elsewhere."""


class Place(Named, kw_only=True):
    """An element, or a point; a point means the topmost element there, in any frame."""

    x: Maybe[float] = UNSET
    """Together with `y`, a point in the viewport."""
    y: Maybe[float] = UNSET
    page_x: Maybe[float] = UNSET
    """Together with `pageY`, a point on the page."""
    page_y: Maybe[float] = UNSET
    find: Maybe[str] = UNSET
    """The element, by words; an error with candidates if no element is clearly meant."""
    confirmed: Maybe[ConfirmedTarget] = UNSET
    """What a person was asked about: if it is another element now, has another name or was moved,
    nothing is done (`target_changed`)."""


class Element(Shape):
    """An element of the page. Texts are cut at 200 characters, attributes at 500."""

    ref: str
    tag: str
    text: str
    attributes: dict[str, str]


class ConfirmedDialog(Shape, kw_only=True):
    """A dialog that a person is asked about: what tells it from others."""

    type: Literal["alert", "confirm", "prompt", "beforeunload", "file_chooser", "http_auth"]
    message: str
    default_prompt: Maybe[str] = UNSET


class Dialog(ConfirmedDialog, kw_only=True):
    """An open dialog; `origin`, `realm` and `scheme` belong to HTTP authentication, `url` to the
    dialogs of a page."""

    multiple: Maybe[bool] = UNSET
    """Whether a file chooser accepts several files."""
    url: Maybe[HiddenAddress] = UNSET
    """The document that opened it."""
    origin: Maybe[Address] = UNSET
    realm: Maybe[str] = UNSET
    scheme: Maybe[str] = UNSET


class BegunDownload(Shape):
    """A download that an action started: the name of the file, and its address after redirects."""

    name: str
    url: SourceAddress


Observe = Annotated[int, msgspec.Meta(ge=1, le=200_000)]
"""How many characters the result may say about what has changed; without it, it says nothing."""


class Changes(Shape, kw_only=True):
    """What has changed in the document of an action, as lines of a reading."""

    lines: str
    """`+` before lines that are new or different, `-` before those that are gone."""
    whole: bool
    """Whether these are all of them."""
    pending: Maybe[int] = UNSET
    """How many requests of the action still wait for a response."""


class Effect(Shape, kw_only=True):
    """The effect of an action."""

    navigated: Maybe[Address] = UNSET
    """The URL that the tab navigated to."""
    mutated: bool
    """Whether the document has changed."""
    dialog: Maybe[Dialog] = UNSET
    """The dialog that opened."""
    opened: Maybe[int] = UNSET
    """The number of a tab that was opened, in the background."""
    download: Maybe[BegunDownload] = UNSET
    """The download that started."""
    changes: Maybe[Changes] = UNSET
    """Set if it was asked for (`observe`), and the document is still there."""
    closed: Maybe[bool] = UNSET
    """Whether the tab has closed, as a popup does after its last click."""
    opener: Maybe[int] = UNSET
    """The number of the tab that had opened the closed one."""
    leaving: Maybe[bool] = UNSET
    """Whether the tab goes to another page, which is not there yet."""
    outside: Maybe[str] = UNSET
    """The scheme of the link that was followed, if another program opens such links."""
    unloaded: Maybe[str] = UNSET
    """Why the page that it led to could not be loaded."""
    found: Maybe[list[FoundTarget]] = UNSET
    """What was acted on, if it was named by words (`find`)."""


class WaitingRequest(Shape, kw_only=True):
    """An intercepted request that waits. Long URLs and headers are cut."""

    request_id: str
    url: SourceAddress
    method: str
    resource_type: str
    headers: dict[str, str]
    post_data: Maybe[str] = UNSET
    since: Milliseconds


class EmulatedDevice(Shape, kw_only=True):
    """The screen that is emulated."""

    width: int
    height: int
    device_scale_factor: float
    mobile: bool
    user_agent: Maybe[str] = UNSET


class EmulatedPlace(Shape):
    """The geolocation that is emulated."""

    latitude: float
    longitude: float
    accuracy: float


class EmulatedMedia(Shape):
    """A CSS media feature."""

    name: str
    value: str


class EmulatedLine(Shape):
    """A network connection; throughput in bytes per second, -1 for no limit."""

    offline: bool
    latency: float
    download_throughput: float
    upload_throughput: float


class Emulated(Shape, kw_only=True):
    """Everything that is emulated in a tab."""

    of_page: ClassVar[bool] = False

    device: Maybe[EmulatedDevice] = UNSET
    geolocation: Maybe[EmulatedPlace] = UNSET
    media: Maybe[list[EmulatedMedia]] = UNSET
    vision: Maybe[str] = UNSET
    network: Maybe[EmulatedLine] = UNSET


class FileToGive(Shape, kw_only=True):
    """A file of the server; the extension gets its bytes with `files.read`."""

    name: str
    mime_type: str
    size: int
    path: Maybe[str] = UNSET
    """Where the browser can read the file directly."""


Color = Literal["grey", "blue", "red", "yellow", "green", "pink", "purple", "cyan", "orange"]
WindowState = Literal["normal", "minimized", "maximized", "fullscreen"]
Count = Annotated[int, msgspec.Meta(ge=0)]
