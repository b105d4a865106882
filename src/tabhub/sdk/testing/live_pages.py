"""A page in the browser of a running tabhub, for tests that want the real site.

It uses the browser tools by `tabhub tool call`, as the client `cli`: the token stays with that
command, and the rules that the person has set apply. The plugin runs in the process of the test,
so its requests are not held to `match` and `hosts`, and are sent from the page's own world.
"""

import asyncio
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import msgspec

from tabhub.sdk.plugin_errors import PluginError
from tabhub.sdk.plugin_page import Page

Json = dict[str, Any]
NO_SERVER = 3
"""The exit code of `tabhub tool call` when no server answers."""

_FETCH = """
const { url, method, headers, body, bodyBase64 } = given;
const bytes = bodyBase64 && Uint8Array.from(atob(bodyBase64), (sign) => sign.charCodeAt(0));
const response = await fetch(url, { method, headers, body: bytes || body });
const content = new Uint8Array(await response.arrayBuffer());
let text = "";
for (let at = 0; at < content.length; at += 8192) {
  text += String.fromCharCode(...content.subarray(at, at + 8192));
}
return {
  status: response.status,
  url: response.url,
  headers: Object.fromEntries(response.headers),
  bodyBase64: btoa(text),
};
"""
_WAIT = """
const found = () => document.querySelector(given.selector) !== null;
const end = Date.now() + given.timeoutMs;
while (found() === given.gone && Date.now() < end) {
  await new Promise((resolve) => setTimeout(resolve, 50));
}
return { found: found() };
"""
_STORAGE = """
const area = given.area === "local" ? localStorage : sessionStorage;
if (given.action === "keys") return { keys: Object.keys(area) };
if (given.action === "set") area.setItem(given.key, given.value);
if (given.action === "remove") area.removeItem(given.key);
return { value: area.getItem(given.key) };
"""
_EVALUATE = """
const value = (EXPRESSION);
return { value: (typeof value === "function" ? await value(...given.args) : await value) ?? null };
"""
_RUN = """
let answer;
const { args } = given;
globalThis.__tabhub = { args, run: (work) => (answer = (async () => work(...args))()) };
const value = (0, eval)(given.source);
return { value: (await (answer ?? value)) ?? null };
"""
_CODE = {
    "has": "return { found: document.querySelector(given.selector) !== null };",
    "waitFor": _WAIT,
    "storage": _STORAGE,
    "info": "return { url: location.href, title: document.title };",
}


class NoLivePage(Exception):
    """There is no server, no browser or no tab; the message says what to do."""


class ToolCallFailed(Exception):
    """A tool has failed."""


def call_tool(name: str, arguments: Json) -> Json:
    """Call a tool of the running server; its arguments go through a pipe."""
    command = [sys.executable, "-m", "tabhub", "tool", "call", name, "-", "--json"]
    done = subprocess.run(command, input=msgspec.json.encode(arguments), capture_output=True)
    if done.returncode == NO_SERVER:
        raise NoLivePage("No tabhub server answers: run `tabhub start`.")
    if done.returncode != 0:
        raise ToolCallFailed(done.stderr.decode(errors="replace").strip())
    structured: Json = msgspec.json.decode(done.stdout).get("structuredContent", {})
    return structured


class LiveTransport:
    """Does the operations of a page by browser tools in one tab."""

    def __init__(self, tab_id: int, folder: Path) -> None:
        self._tab_id = tab_id
        self._folder = folder
        """Where the plugin's scripts are."""
        self._streams: dict[str, str] = {}

    async def request(self, operation: str, params: Json) -> Any:
        return await asyncio.to_thread(self._do, operation, params)

    def notify(self, operation: str, params: Json) -> None:
        # pytest shows it beside a test that fails.
        sys.stderr.write(f"{operation}: {msgspec.json.encode(params).decode()}\n")

    def _do(self, operation: str, params: Json) -> Json:
        if operation in _CODE:
            return self._in_page(_CODE[operation], params)
        return _OTHERS[operation](self, params)

    def fetch(self, params: Json) -> Json:
        answer = self._in_page(_FETCH, params)
        if not params.get("stream"):
            return answer
        # A tool has one result, so the whole content is the only piece.
        stream = f"stream-{len(self._streams)}"
        self._streams[stream] = answer.pop("bodyBase64")
        return {**answer, "stream": stream}

    def fetch_read(self, params: Json) -> Json:
        return {"bodyBase64": self._streams[params["stream"]], "done": True}

    def fetch_close(self, params: Json) -> Json:
        return {}

    def cookies(self, params: Json) -> Json:
        address = self._in_page(_CODE["info"], {})["url"]
        return self._call("browser_get_cookies", {"url": address})

    def evaluate(self, params: Json) -> Json:
        return self._in_page(_EVALUATE.replace("EXPRESSION", params["expression"]), params)

    def run(self, params: Json) -> Json:
        source = (self._folder / params["script"]).read_text()
        return self._in_page(_RUN, {**params, "source": source})

    def open(self, params: Json) -> Json:
        here = self._in_page(_CODE["info"], {})["url"]
        address = urljoin(here, params["url"])
        self._call("browser_navigate_tab", {"url": address, "tabId": self._tab_id})
        return self._in_page(_CODE["info"], {})

    def _in_page(self, code: str, params: Json) -> Json:
        given = msgspec.json.encode(params).decode()
        arguments = {"code": f"const given = {given};\n{code}", "tabId": self._tab_id}
        result: Json = self._call("browser_execute_script", arguments)["value"]
        return result

    def _call(self, name: str, arguments: Json) -> Json:
        try:
            return call_tool(name, arguments)
        except ToolCallFailed as error:
            raise PluginError(str(error), code=name) from error


_OTHERS: dict[str, Callable[[LiveTransport, Json], Json]] = {
    "fetch": LiveTransport.fetch,
    "fetchRead": LiveTransport.fetch_read,
    "fetchClose": LiveTransport.fetch_close,
    "cookies": LiveTransport.cookies,
    "evaluate": LiveTransport.evaluate,
    "run": LiveTransport.run,
    "open": LiveTransport.open,
}


def open_live_page(url: str, folder: Path) -> Page:
    """A page in a tab of its own; NoLivePage if there is no server or browser."""
    try:
        tab = call_tool("browser_open_tab", {"url": url})
    except ToolCallFailed as error:
        raise NoLivePage(f"{url} cannot be opened: {error}") from error
    return _page(tab, folder)


def close_live_page(page: Page) -> None:
    """Close the tab of `open_live_page`."""
    call_tool("browser_close_tab", {"tabId": page.tab_id})


def find_live_page(patterns: Sequence[str], folder: Path) -> Page:
    """A page in an open tab that matches, and that the client `cli` may use."""
    try:
        tabs = call_tool("browser_list_tabs", {}).get("tabs", [])
    except ToolCallFailed as error:
        raise NoLivePage(str(error)) from error
    found = [tab for tab in tabs if any(_matches(one, tab["url"]) for one in patterns)]
    for tab in found:
        if tab["usable"]:
            return _page(tab, folder)
    where = ", ".join(patterns) or "any address: the plugin has no `match`"
    if found:
        raise NoLivePage(f"The tab {found[0]['tabId']} is not shared: share it in the side panel.")
    raise NoLivePage(f"No tab is open at {where}. Open one and share it, or give --live-url.")


def _page(tab: Json, folder: Path) -> Page:
    return Page(LiveTransport(tab["tabId"], folder), tab["url"], tab["tabId"])


def _matches(pattern: str, url: str) -> bool:
    """Whether a pattern looks like an address; the server decides what a plugin may do."""
    scheme, _, rest = pattern.partition("://")
    host, _, path = rest.partition("/")
    port = "" if ":" in host else "(:[0-9]+)?"
    schemes = "https?" if scheme == "*" else scheme
    hosts = re.escape(host).replace(r"\*\.", "(.+[.])?").replace(r"\*", "[0-9]+")
    paths = re.escape(path).replace(r"\*", ".*")
    return re.fullmatch(f"{schemes}://{hosts}{port}/{paths}", url) is not None
