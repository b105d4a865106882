"""The person looks at a tool in the panel and tries it: what it takes, and what it returns.

The press is the person's yes, so nobody is asked. Rules that forbid a tool or a site, and reviews
of plugins, apply as to agents. Each trial is a session of its own, which may use any tab and
leaves none behind.
"""

from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

import msgspec

from tabhub.browser.link.browsers import Browsers
from tabhub.calls.call import Call
from tabhub.calls.results import failed
from tabhub.calls.runner import Runner
from tabhub.errors import TabhubError
from tabhub.hub.hub import Hub
from tabhub.hub.sessions import PERSON, YOU
from tabhub.hub.texts import one_line, readable
from tabhub.hub.tools import BoundedSchema, Tool
from tabhub.wire.mcp.messages import CallResult
from tabhub.wire.panel_views import ToolDescribed, ToolNamed, ToolRan, ToolRun

LONGEST_TEXT = 20_000
MOST_IMAGE_BYTES = 5 * 1024 * 1024
TOO_LARGE = "(The picture is too large to be shown here.)"

Json = dict[str, Any]


class ToolTrial:
    """Describes tools and runs them for the person."""

    def __init__(self, hub: Hub, browsers: Browsers, runner: Runner) -> None:
        self._hub = hub
        self._browsers = browsers
        self._runner = runner
        self._numbers = count(1)

    @property
    def handlers(self) -> dict[str, Callable[[Any], Any]]:
        return {"tool.describe": self.describe, "tool.run": self.run}

    def describe(self, params: ToolNamed) -> ToolDescribed:
        tool = self._hub.tools.get(params.tool)
        return ToolDescribed(
            name=tool.name,
            title=one_line(tool.title or "") or tool.name,
            description=readable(tool.description),
            input_schema=_without_tab(tool),
            read_only=tool.is_reading({}),
            careful=tool.is_careful,
            toolsets=sorted(tool.toolsets),
            needs_tab=tool.needs_tab and bool(tool.tab_argument),
            secret_arguments=sorted(tool.secret_arguments),
        )

    async def run(self, params: ToolRun) -> ToolRan:
        tool = self._hub.tools.get(params.tool)
        arguments = dict(params.arguments)
        if params.tab_id is not None and tool.needs_tab and tool.tab_argument:
            arguments[tool.tab_argument] = params.tab_id
        session = f"{PERSON}{next(self._numbers)}"
        call = Call(
            name=tool.name,
            raw=msgspec.Raw(msgspec.json.encode(arguments)),
            session=session,
            progress=_unheard,
            agent=YOU,
            by_person=True,
        )
        try:
            return _shown(await self._runner.run(call))
        except TabhubError as error:
            return _shown(failed(error))
        finally:
            self._end(session, call)

    def _end(self, session: str, call: Call) -> None:
        """The tabs that the trial has opened are the person's own, and it holds no tab."""
        ownership = self._hub.ownership
        for tab in ownership.end(session):
            if (opened := self._hub.tabs.find(tab)) is not None:
                self._browsers.release(opened, "tabs.ungroup")
        used = None if call.tab is None else self._hub.tabs.find(call.tab.id)
        if used is not None and ownership.owner(used.id) is None and not ownership.is_shared(used):
            self._browsers.release(used, "tabs.release")
        self._hub.sessions.end(session)


async def _unheard(done: float, total: float | None, message: str | None) -> None:
    """The panel shows that a call runs, and not how far it is."""


def _without_tab(tool: Tool) -> Mapping[str, Any]:
    """The schema of a tool without the argument that names the tab, which the panel offers."""
    schema = tool.input_schema
    plain = schema.plain() if isinstance(schema, BoundedSchema) else dict(schema)
    properties, name = plain.get("properties"), tool.tab_argument
    if not tool.needs_tab or not isinstance(properties, Mapping) or name not in properties:
        return plain
    kept = {key: value for key, value in properties.items() if key != name}
    required = [key for key in plain.get("required", ()) if key != name]
    return {**plain, "properties": kept, "required": required}


def _shown(result: CallResult) -> ToolRan:
    texts = [block["text"] for block in result.content if block.get("type") == "text"]
    pictures = (block for block in result.content if block.get("type") == "image")
    picture = next(pictures, None)
    image = None if picture is None else f"data:{picture['mimeType']};base64,{picture['data']}"
    if image is not None and len(image) > MOST_IMAGE_BYTES:
        image, texts = None, [*texts, TOO_LARGE]
    if not texts and image is None and result.structured_content is not msgspec.UNSET:
        texts = [msgspec.json.encode(result.structured_content).decode()]
    text = "\n".join(texts)
    return ToolRan(is_error=result.is_error, text=readable(text, LONGEST_TEXT), image=image)
