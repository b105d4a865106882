"""A plugin's class, its settings and its tools, as the author writes them."""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from inspect import iscoroutinefunction
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Concatenate,
    NamedTuple,
    NewType,
    ParamSpec,
    TypeVar,
    overload,
)

from tabhub.sdk.plugin_errors import InvalidPlugin, PluginError

if TYPE_CHECKING:
    from tabhub.sdk.plugin_page import Page

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_Plugin = TypeVar("_Plugin", bound="Plugin")
_Handler = Callable[Concatenate[_Plugin, "Page", _Arguments], Awaitable[_Result]]

TOOL = "__tabhub_tool__"
"""The attribute by which a method is known as a tool."""
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_values: ContextVar[Mapping[str, Any]] = ContextVar("settings of the call")


Url = NewType("Url", str)
"""The type of a setting that is the address of a site; each address is an instance."""


class Plugin:
    """The tools of one site. The docstring of the class describes it to people and agents."""

    match: ClassVar[Sequence[str]] = ()
    """The pages it is for, as Chrome's match patterns; written as literals."""
    exclude: ClassVar[Sequence[str]] = ()
    """Pages among them that it is not for."""
    hosts: ClassVar[Sequence[str]] = ()
    """Further patterns that its requests may go to."""
    name: ClassVar[str] = ""
    """In front of the names of its tools; without it, the class name in kebab-case."""
    title: ClassVar[str] = ""
    """For people; without it, the class name in words."""
    version: ClassVar[str] = "0.0.0"
    homepage: ClassVar[str] = ""
    """Named when no tab of the plugin is open."""
    cookies: ClassVar[bool] = False
    """Whether it may read the cookies of the page."""
    scripts: ClassVar[Sequence[str]] = ()
    """JavaScript files beside the plugin that `page.run` may run."""

    async def ready(self, page: "Page") -> bool:
        """Whether its tools can be called in this page, for example because you are logged in."""
        return True


class ToolOptions(NamedTuple):
    """What `@tool` says about a method."""

    name: str = ""
    title: str = ""
    read_only: bool = False
    destructive: bool = True
    seconds: float | None = None


@overload
def tool(
    method: _Handler[_Plugin, _Arguments, _Result], /
) -> _Handler[_Plugin, _Arguments, _Result]: ...
@overload
def tool(
    *,
    name: str = "",
    title: str = "",
    read_only: bool = False,
    destructive: bool = True,
    seconds: float | None = None,
) -> Callable[[_Handler[_Plugin, _Arguments, _Result]], _Handler[_Plugin, _Arguments, _Result]]: ...
def tool(method: Any = None, /, **options: Any) -> Any:
    """Make an async method `(self, page, …)` a tool; with or without options.

    `read_only`: it changes nothing. `destructive=False`: it only adds. `seconds`: the longest time
    a call may take. `name` and `title` replace those made from the method's name.
    """
    if method is None:
        return lambda given: _marked(given, ToolOptions(**options))
    return _marked(method, ToolOptions())


def _marked(method: Any, options: ToolOptions) -> Any:
    if not iscoroutinefunction(method):
        name = getattr(method, "__qualname__", repr(method))
        raise InvalidPlugin(f"{name} is no async method: write `async def`.")
    if options.seconds is not None and options.seconds <= 0:
        raise InvalidPlugin(f"{method.__qualname__}: seconds must be more than 0.")
    if options.read_only:
        options = options._replace(destructive=False)
    setattr(method, TOOL, options)
    return method


class SettingField:
    """A setting in the body of a class; read from a plugin, it is the value for this call."""

    def __init__(self, label: str, description: str, default: Any, required: bool) -> None:
        self.label = label
        self.description = description
        self.default = default
        self.required = required
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, plugin: object, owner: type) -> Any:
        if plugin is None:
            return self
        value = _values.get({}).get(self.name, self.default)
        if value is None and self.required:
            raise PluginError(
                f"The setting {self.name} has no value.", "validation", code="setting"
            )
        return value


def setting(
    label: str, *, description: str = "", default: Any = None, required: bool = False
) -> Any:
    """A setting, under a hint of its type: Url, str, int, float, bool or Literal of texts."""
    return SettingField(label, description, default, required)


@contextmanager
def settings_of_call(values: Mapping[str, Any]) -> Iterator[None]:
    """What the settings of plugins are in this context; of a Url, the address of this tab."""
    token = _values.set(values)
    try:
        yield
    finally:
        _values.reset(token)


def words_of(name: str) -> list[str]:
    """The words of an identifier, in CamelCase or with underscores."""
    return _WORDS.findall(name)
