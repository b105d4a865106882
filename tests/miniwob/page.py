"""A page as a policy sees it: by reading and acting tools only."""

from base64 import b64decode
from collections.abc import Callable
from io import BytesIO
from typing import Any, TypeVar

from PIL import Image

from tests.miniwob.snapshot import Line, Snapshot
from tests.support.agent import Agent, ToolFailed
from tests.support.eventually import eventually

T = TypeVar("T")
Place = Line | tuple[float, float]


class Page:
    """Calls tools in one tab. A policy cannot run code in the page."""

    def __init__(self, agent: Agent, tab: int) -> None:
        self._agent = agent
        self._tab = tab

    async def _call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        return await self._agent.call(tool, tabId=self._tab, **arguments)

    async def read(self) -> Snapshot:
        return Snapshot(await self._agent.text("browser_read_page", tabId=self._tab))

    async def until(self, find: Callable[[Snapshot], T | None]) -> T:
        """Read the page until `look` finds something; return it."""

        async def look() -> tuple[T | None]:
            return (find(await self.read()),)

        (found,) = await eventually(look, until=lambda found: found[0] is not None)
        assert found is not None
        return found

    async def wait_for(self, selector: str) -> None:
        await self._call("browser_wait_for_element", selector=selector)

    async def query(self, selector: str, *attributes: str) -> list[dict[str, Any]]:
        options = {"attributes": list(attributes)} if attributes else {}
        found = await self._call("browser_query_elements", selector=selector, **options)
        elements: list[dict[str, Any]] = found["elements"]
        return elements

    async def text(self, line: Line) -> str:
        content = await self._call("browser_get_tab_content", ref=line.ref)
        text: str = content["text"]
        return text

    async def click(self, line: Line | str, **more: Any) -> None:
        try:
            await self._call("browser_click_element", ref=_ref(line), **more)
        except ToolFailed as failed:
            if not failed.error["retryable"]:
                raise
            await self._call("browser_click_element", ref=_ref(line), **more)

    async def click_at(self, x: float, y: float) -> None:
        """Click at a point of the latest picture."""
        await self._call("browser_click_element", coordinate=[x, y])

    async def hover_at(self, x: float, y: float) -> None:
        await self._call("browser_hover_element", coordinate=[x, y])

    async def picture(self, line: Line | None = None) -> Image.Image:
        """What is seen of the page, or of an element, in shades of grey."""
        target: dict[str, Any] = {} if line is None else {"ref": line.ref}
        taken = await self._agent.result(
            "browser_screenshot_tab", tabId=self._tab, format="png", **target
        )
        data = next(part["data"] for part in taken["content"] if part["type"] == "image")
        return Image.open(BytesIO(b64decode(data))).convert("L")

    async def find(self, words: str) -> str:
        """The ref of what fits the words best."""
        found = await self._call("browser_find", query=words)
        ref: str = found["matches"][0]["ref"]
        return ref

    async def click_name(self, name: str) -> None:
        await self.click((await self.read()).named(name))

    async def hover(self, line: Line | str) -> None:
        await self._call("browser_hover_element", ref=_ref(line))

    async def type(self, line: Line, text: str, **more: Any) -> None:
        await self._call("browser_type_text", ref=line.ref, text=text, **more)

    async def select(self, line: Line, *labels: str) -> None:
        await self._call("browser_select_option", ref=line.ref, label=list(labels))

    async def press(self, key: str, line: Line | None = None, repeat: int = 1) -> None:
        target = {} if line is None else {"ref": line.ref}
        await self._call("browser_press_key", key=key, repeat=repeat, **target)

    async def scroll(self, line: Line | str, **more: Any) -> None:
        await self._call("browser_scroll", ref=_ref(line), **more)

    async def drag(self, start: Place | str, end: Place | str) -> None:
        await self._call("browser_drag", **{"from": _place(start), "to": _place(end)})


def _ref(line: Line | str) -> str:
    return line if isinstance(line, str) else line.ref


def _place(place: Place | str) -> dict[str, Any]:
    if isinstance(place, tuple):
        return {"x": place[0], "y": place[1]}
    return {"ref": _ref(place)}
