"""Which tools a client sees: those of its toolsets, and of those only what its token may call."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from tabhub.agents.mcp.backend import Toolsets
from tabhub.calls.guard import Guard
from tabhub.config.clients import Client
from tabhub.hub import toolsets
from tabhub.hub.schemas import BoundedSchema
from tabhub.hub.tools import Tool, ToolRegistry
from tabhub.wire.mcp import messages as m

DISABLED = "[Disabled] "
KEPT = 100


class Listing:
    """Lists, written once for all clients that see the same."""

    def __init__(self, tools: ToolRegistry, guard: Guard, usual: Callable[[], Iterable[str]]):
        self._tools = tools
        self._guard = guard
        self._usual = usual
        self._written: dict[tuple[Toolsets, Toolsets, bool], msgspec.Raw] = {}

    def changed(self) -> None:
        self._written.clear()

    def of(self, client: Client, named: Toolsets) -> msgspec.Raw:
        key = (named, client.toolsets, client.read_only)
        known = self._written.get(key)
        if known is None:
            infos = [self.info(tool, client) for tool in self._seen(client, named)]
            known = msgspec.Raw(msgspec.json.encode(infos))
            if len(self._written) < KEPT:
                self._written[key] = known
        return known

    def _seen(self, client: Client, named: Toolsets) -> list[Tool]:
        wanted = toolsets.chosen(self._usual()) if client.toolsets is None else client.toolsets
        if named is not None:
            wanted = toolsets.chosen(named)
        return [
            tool
            for tool in self._tools
            if (wanted is None or tool.toolsets & wanted) and may_call(client, tool)
        ]

    def is_disabled(self, tool: Tool, client: Client) -> bool:
        """Whether a rule or a setting denies it whatever the call."""
        return self._guard.is_off(tool, client)

    def info(self, tool: Tool, client: Client) -> m.ToolInfo:
        return m.ToolInfo(
            name=tool.name,
            # The names of our own tools say what their titles would; an agent pays for each word.
            title=None if tool.plugin == "browser" else tool.title,
            description=marked(tool.description, self.is_disabled(tool, client)),
            input_schema=_schema(tool),
            annotations=dict(tool.annotations) or msgspec.UNSET,
        )


def whole_schema(tool: Tool) -> Mapping[str, Any] | msgspec.Raw:
    """A tool's schema as it can be written."""
    given = tool.input_schema
    return msgspec.Raw(given.written()) if isinstance(given, BoundedSchema) else given


def _schema(tool: Tool) -> Mapping[str, Any] | msgspec.Raw:
    """Our own tools take no other arguments, each of them, and say so to who gives one."""
    given = whole_schema(tool)
    if tool.plugin != "browser" or isinstance(given, msgspec.Raw):
        return given
    return {key: value for key, value in given.items() if key != "additionalProperties"}


def marked(told: str, disabled: bool) -> str:
    """What is told of a tool, with the mark of those that are off."""
    return DISABLED + told if disabled else told


def may_call(client: Client, tool: Tool) -> bool:
    """Whether the client's token allows it at all."""
    if client.read_only and not tool.is_reading({}):
        return False
    return client.toolsets is None or bool(tool.toolsets & client.toolsets)
