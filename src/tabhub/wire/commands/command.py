"""What a command of the link is made of, and the shapes that several families share."""

from typing import Annotated, Literal, NamedTuple, TypeVar, Union

import msgspec
from msgspec import UNSET, UnsetType

from tabhub.wire.link import Params

T = TypeVar("T")
Maybe = Union[T, UnsetType]  # noqa: UP007 - only this form of a union takes a parameter
"""A member that may be missing. Null is another thing, and stands in the type where it is sent."""

Milliseconds = float
"""A time, in milliseconds since 1970."""


class Shape(Params, forbid_unknown_fields=True):
    """Base of inputs and outputs: exact, so that a check finds what nobody has written down."""


class Command(NamedTuple):
    """One row of the table: what the server may ask of the extension by `tool.dispatch`."""

    name: str
    about: str
    input: type[Shape] | tuple[type[Shape], ...]
    output: type[Shape] | tuple[type[Shape], ...]
    """Several where the answer has several shapes."""
    needs_tab: bool = True
    """Whether it acts in the tab that the message names, or in the browser."""

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
    """In CSS pixels."""

    x: float
    y: float


class Size(Shape):
    """In CSS pixels."""

    width: float
    height: float


class Box(Shape):
    """A rectangle in CSS pixels."""

    x: float
    y: float
    width: float
    height: float


class Named(Shape, kw_only=True):
    """An element, by one of the two."""

    ref: Maybe[str] = UNSET
    selector: Maybe[str] = UNSET


class Place(Named, kw_only=True):
    """An element, or a point in view; what is there is acted on, in whichever frame."""

    x: Maybe[float] = UNSET
    """With `y`: a point of the viewport."""
    y: Maybe[float] = UNSET
    page_x: Maybe[float] = UNSET
    """With `pageY`: a point of the page."""
    page_y: Maybe[float] = UNSET


class Element(Shape):
    """An element of the page. Texts are cut at 200 characters, attributes at 500."""

    ref: str
    tag: str
    text: str
    attributes: dict[str, str]


class Dialog(Shape, kw_only=True):
    """What a page or a server asks; `origin`, `realm` and `scheme` of HTTP authentication."""

    type: Literal["alert", "confirm", "prompt", "beforeunload", "file_chooser", "http_auth"]
    message: str
    default_prompt: Maybe[str] = UNSET
    multiple: Maybe[bool] = UNSET
    """Whether a file chooser takes several files."""
    origin: Maybe[str] = UNSET
    realm: Maybe[str] = UNSET
    scheme: Maybe[str] = UNSET


class Effect(Shape, kw_only=True):
    """What an action has led to."""

    navigated: Maybe[str] = UNSET
    """The address the tab went to."""
    mutated: bool
    """Whether the document changed."""
    dialog: Maybe[Dialog] = UNSET
    """The one that ended the waiting."""
    opened: Maybe[int] = UNSET
    """The number of a tab that was opened, which stays behind the one in front."""
    download: Maybe[str] = UNSET
    """The name of a file that is downloaded."""


class WaitingRequest(Shape, kw_only=True):
    """A request that waits to be answered. Long addresses and headers are clipped."""

    request_id: str
    url: str
    method: str
    resource_type: str
    headers: dict[str, str]
    post_data: Maybe[str] = UNSET
    since: Milliseconds


class EmulatedDevice(Shape, kw_only=True):
    """The screen that a page is to believe in."""

    width: int
    height: int
    device_scale_factor: float
    mobile: bool
    user_agent: Maybe[str] = UNSET


class EmulatedPlace(Shape):
    """Where on earth the page is."""

    latitude: float
    longitude: float
    accuracy: float


class EmulatedMedia(Shape):
    """A CSS media feature."""

    name: str
    value: str


class EmulatedLine(Shape):
    """A network connection; throughputs in bytes a second, -1 without a limit."""

    offline: bool
    latency: float
    download_throughput: float
    upload_throughput: float


class Emulated(Shape, kw_only=True):
    """All that is emulated in a tab."""

    device: Maybe[EmulatedDevice] = UNSET
    geolocation: Maybe[EmulatedPlace] = UNSET
    media: Maybe[list[EmulatedMedia]] = UNSET
    vision: Maybe[str] = UNSET
    network: Maybe[EmulatedLine] = UNSET


class FileToGive(Shape, kw_only=True):
    """A file of the server's: the extension asks for its bytes by `files.read`."""

    name: str
    mime_type: str
    size: int
    path: Maybe[str] = UNSET
    """Where the browser may read it by itself."""


Color = Literal["grey", "blue", "red", "yellow", "green", "pink", "purple", "cyan", "orange"]
WindowState = Literal["normal", "minimized", "maximized", "fullscreen"]
Count = Annotated[int, msgspec.Meta(ge=0)]
