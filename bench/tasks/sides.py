"""The compared servers as an agent sees them: calls in, texts out, and what they cost."""

import asyncio
import json
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import msgspec

from bench.caller import Caller
from bench.peers.stdio import StdioServer

Json = dict[str, Any]
LOOKS = 40
LOOK_SECONDS = 0.5
QUIET = {"observe": "none"}
"""For actions whose page need not be shown."""
WAIT = "browser_wait_for_element"
READING = frozenset((WAIT, "browser_read_page", "browser_get_tab_content"))
"""Their `find` may be for anything."""
ROLES = frozenset("button checkbox combobox field link menuitem textbox".split())
SCRIPTS = re.compile(r"script|evaluate|run_code")


class Broken(Exception):
    """A policy has broken a rule, or has not found what it needs."""


@dataclass
class Cost:
    """What an episode has cost: tool calls, bytes that the model writes and reads, seconds."""

    calls: int = 0
    bytes: int = 0
    seconds: float = 0.0


class Side(ABC):
    """One server in one episode.

    It keeps the rules for every policy: no scripts, no selectors, and only refs and addresses that
    the task or an earlier answer has shown. Inside a batch the same holds, so nothing in it can
    depend on an answer that is not there yet.
    """

    name: str
    target: re.Pattern[str]
    """How this server writes the name of an element."""
    targets: frozenset[str]
    """The arguments that name an element."""

    def __init__(self, start_page: str) -> None:
        self.cost = Cost()
        self.start_page = start_page
        self._shown = start_page

    def told(self, goal: str) -> None:
        """What the person has asked for: its words are known too."""
        self._shown += "\n" + goal

    async def call(self, tool: str, /, **arguments: Any) -> str:
        """The text of a result; that of a failure too, as a model would get it."""
        self._check(tool, arguments)
        blocks = await self._result(tool, arguments)
        self.cost.calls += 1
        self.cost.bytes += size(tool, arguments, blocks)
        text = "\n".join(block.get("text", "") for block in blocks)
        self._shown += "\n" + text
        return text

    @abstractmethod
    async def _result(self, tool: str, arguments: Json) -> list[Json]:
        """The content blocks of a result."""

    async def until(self, pattern: str, tool: str, /, **arguments: Any) -> str:
        """Repeat a reading call until its text matches, where no tool can wait for that."""
        for _ in range(LOOKS):
            text = await self.call(tool, **arguments)
            if re.search(pattern, text):
                return text
            await asyncio.sleep(LOOK_SECONDS)
        raise Broken(f"{pattern!r} has not come in:\n{text}")

    def _check(self, tool: str, arguments: Json) -> None:
        for key, value in [("name", tool), *_leaves(arguments)]:
            if key == "name" and SCRIPTS.search(value):
                raise Broken(f"{value} runs a script")
            if key in ("selector", "container"):
                raise Broken(f"{tool} was given the selector {value!r}")
            if key in self.targets and not self.target.fullmatch(str(value)):
                raise Broken(f"{value!r} is no name of an element")
            if key in self.targets and not re.search(rf"\b{value}\b", self._shown):
                raise Broken(f"no earlier answer has shown {value!r}")
            if key == "url" and value not in self._shown:
                raise Broken(f"no earlier answer has shown {value!r}")

    @abstractmethod
    async def open(self) -> str:
        """Open the page that the task begins at."""

    def find(self, text: str, role: str, name: str = "", after: str = "") -> str:
        """The ref of the first element with this role and name, behind other words if given."""
        found = self.finds(text.partition(after)[2] if after else text, role, name)
        if not found:
            raise Broken(f"no {role} {name!r} in:\n{text}")
        return found[0]

    @abstractmethod
    def finds(self, text: str, role: str, name: str = "") -> list[str]:
        """The refs of all elements with this role whose name begins so."""


def size(tool: str, arguments: Json, blocks: list[Json]) -> int:
    """The bytes of a call that pass through the model: name and arguments, texts and images.

    Of a result only its `content`, of every server: clients give that to the model.
    """
    asked = json.dumps({"name": tool, "arguments": arguments}, ensure_ascii=False)
    texts = (block.get("text") or block.get("data", "") for block in blocks)
    return len(asked.encode()) + sum(len(text.encode()) for text in texts)


def _leaves(value: Any, key: str = "") -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return [leaf for name, inner in value.items() for leaf in _leaves(inner, name)]
    if isinstance(value, list):
        return [leaf for inner in value for leaf in _leaves(inner, key)]
    return [(key, value)]


class Ours(Side):
    """tabhub through `/mcp`, by the revision without sessions."""

    name = "tabhub"
    target = re.compile(r"ref_\d+")
    targets = frozenset(("ref", "ref_id", "from", "to"))

    def __init__(self, start_page: str, caller: Caller) -> None:
        super().__init__(start_page)
        self._caller = caller

    async def _result(self, tool: str, arguments: Json) -> list[Json]:
        body = await self._caller.request("tools/call", {"name": tool, "arguments": arguments})
        blocks: list[Json] = msgspec.json.decode(body)["result"]["content"]
        return blocks

    def _check(self, tool: str, arguments: Json) -> None:
        super()._check(tool, arguments)
        inner = [(one["name"], one["input"]) for one in arguments.get("actions", [])]
        for name, given in [(tool, arguments), *inner]:
            if name not in READING and "find" in given:
                self._require_shown(given["find"])

    def _require_shown(self, description: str) -> None:
        """Words that name the target of an action."""
        shown = self._shown.lower()
        for word in re.findall(r"\w+", description.lower()):
            if word not in ROLES and word not in shown:
                raise Broken(f"no earlier answer has shown {word!r}")

    async def open(self, **more: Any) -> str:
        text = await self.call("browser_open_tab", url=self.start_page, **more)
        self.tab = int(re.findall(r"tab (\d+)", text)[0])
        return text

    async def read(self, **arguments: Any) -> str:
        return await self.call("browser_read_page", **arguments)

    def refs(self, text: str) -> list[str]:
        """The refs that a search has found."""
        return re.findall(r"^- (ref_\d+):", text, re.MULTILINE)

    async def search(self, *queries: str, limit: int = 1) -> str:
        """The best matches of each description, in one call."""
        return await self.batch(*searches(*queries, limit=limit))

    async def batch(self, *actions: tuple[str, Json]) -> str:
        if len(actions) == 1:
            return await self.call(actions[0][0], **actions[0][1])
        given = [{"name": name, "input": arguments} for name, arguments in actions]
        return await self.call("browser_batch", actions=given)

    def finds(self, text: str, role: str, name: str = "") -> list[str]:
        """In results of browser_read_page, and in those of browser_find."""
        named = rf'{role} "{re.escape(name)}[^"\n]*"'
        found = re.findall(rf"\b{named} \[(ref_\d+)\]|(ref_\d+): {named}", text)
        return [read or searched for read, searched in found]

    def awaited(self, text: str) -> str:
        """The ref of the element that a wait has found."""
        found = re.findall(r"^Found (ref_\d+)", text, re.MULTILINE)
        if not found:
            raise Broken(text)
        return str(found[-1])


def click(**target: Any) -> tuple[str, Json]:
    """An action of a batch."""
    return "browser_click_element", target


def fill(ref: str, text: str, **more: Any) -> tuple[str, Json]:
    return "browser_type_text", {"ref": ref, "text": text, **more}


def choose(ref: str, label: str, **more: Any) -> tuple[str, Json]:
    return "browser_select_option", {"ref": ref, "label": label, **more}


def press(key: str, **more: Any) -> tuple[str, Json]:
    return "browser_press_key", {"key": key, **more}


def waits(words: str) -> tuple[str, Json]:
    return WAIT, {"find": words}


def searches(*queries: str, limit: int = 1) -> list[tuple[str, Json]]:
    """The actions of a batch that look for elements by words."""
    return [("browser_find", {"query": query, "limit": limit}) for query in queries]


class Playwright(Side):
    """@playwright/mcp, which returns the page after every action."""

    name = "playwright"
    target = re.compile(r"(f\d+)?e\d+")
    targets = frozenset(("ref", "target", "startTarget", "endTarget"))

    def __init__(self, start_page: str, server: StdioServer) -> None:
        super().__init__(start_page)
        self._server = server

    async def _result(self, tool: str, arguments: Json) -> list[Json]:
        return await stdio_result(self._server, tool, arguments)

    async def open(self) -> str:
        return await self.call("browser_navigate", url=self.start_page)

    async def click(self, element: str, ref: str, **more: Any) -> str:
        return await self.call("browser_click", element=element, target=ref, **more)

    def finds(self, text: str, role: str, name: str = "") -> list[str]:
        return re.findall(rf'- {role} "{re.escape(name)}[^"\n]*"[^\n]*?\[ref=(\w+)\]', text)

    def unnamed(self, text: str, role: str) -> list[str]:
        """The refs of all elements with this role, with or without a name."""
        found = re.findall(rf"- {role}\b[^\n]*?\[ref=(\w+)\]", text)
        if not found:
            raise Broken(f"no {role} in:\n{text}")
        return list(dict.fromkeys(found))

    def labelled(self, text: str, words: str) -> str:
        """The ref of the element with exactly this text."""
        found = re.findall(rf"\[ref=(\w+)\][^\n]*: {re.escape(words)}\n", text)
        if not found:
            raise Broken(f"no {words!r} in:\n{text}")
        return str(found[0])


class DevTools(Side):
    """chrome-devtools-mcp; its actions return the page if they are asked to."""

    name = "devtools"
    target = re.compile(r"\d+_\d+")
    targets = frozenset(("uid", "from_uid", "to_uid"))

    def __init__(self, start_page: str, server: StdioServer) -> None:
        super().__init__(start_page)
        self._server = server
        self.page = 1

    async def _result(self, tool: str, arguments: Json) -> list[Json]:
        return await stdio_result(self._server, tool, arguments)

    async def open(self) -> str:
        return await self.act("navigate_page", type="url", url=self.start_page)

    async def act(self, tool: str, /, **arguments: Any) -> str:
        return await self.call(tool, pageId=self.page, **arguments)

    def finds(self, text: str, role: str, name: str = "") -> list[str]:
        """A text has no role."""
        return re.findall(rf'uid=(\w+) {role}{" " if role else ""}"{re.escape(name)}', text)


async def stdio_result(server: StdioServer, tool: str, arguments: Json) -> list[Json]:
    _, answer = await server.request("tools/call", {"name": tool, "arguments": arguments})
    if "error" in answer:
        return [{"type": "text", "text": str(answer["error"])}]
    blocks: list[Json] = answer["result"]["content"]
    return blocks
