"""A plugin for Jupyter: its server knows you by a cookie, and wants a second one as a header."""

from typing import Any, Literal
from urllib.parse import quote

from msgspec import Struct

from tabhub.sdk import Page, Plugin, PluginError, Url, setting, tool

CellKind = Literal["code", "markdown"]


class Entry(Struct):
    """A file, folder or notebook."""

    name: str
    path: str
    type: Literal["file", "directory", "notebook"]
    size: int | None = None
    last_modified: str = ""


class Folder(Struct):
    """What the server says about a folder."""

    content: list[Entry]


class TextFile(Struct):
    """What the server says about a file of text."""

    path: str
    content: str
    last_modified: str = ""


class Cell(Struct):
    """One cell of a notebook."""

    kind: str
    source: str
    output: str = ""


class Kernel(Struct):
    """A running kernel."""

    id: str
    name: str
    execution_state: str = ""
    last_activity: str = ""
    connections: int = 0


class Session(Struct):
    """A notebook or console, and the kernel that runs it."""

    id: str
    path: str
    type: str
    kernel: Kernel | None = None


class Jupyter(Plugin):
    """Files, notebooks and kernels of your Jupyter server."""

    version = "1.0.0"
    cookies = True

    site: Url = setting(
        "The address of your Jupyter server",
        description="Such as http://localhost:8888, with the base path if it has one.",
        required=True,
    )

    async def ready(self, page: Page) -> bool:
        """Logged in, by a token in the address or by a password."""
        return (await page.request("GET", self._api("me"))).ok

    @tool(read_only=True)
    async def list_files(self, page: Page, folder: str = "") -> list[Entry]:
        """List the files, notebooks and folders in a folder.

        Args:
            folder: Its path from the folder in which the server was started.
        """
        found = await page.get(self._contents(folder), params={"type": "directory"}, into=Folder)
        return sorted(found.content, key=lambda entry: entry.name)

    @tool(read_only=True)
    async def read_file(self, page: Page, path: str) -> TextFile:
        """Read a file of text; the notebook tools read notebooks."""
        wanted = {"type": "file", "format": "text"}
        return await page.get(self._contents(path), params=wanted, into=TextFile)

    @tool
    async def write_file(self, page: Page, path: str, content: str) -> Entry:
        """Write a file of text; one that is there already is replaced."""
        model = {"type": "file", "format": "text", "content": content}
        return await self._put(page, path, model)

    @tool
    async def delete_file(self, page: Page, path: str) -> None:
        """Delete a file, a notebook or an empty folder."""
        await page.delete(self._contents(path), headers=await self._xsrf(page))

    @tool(read_only=True)
    async def read_notebook(self, page: Page, path: str) -> list[Cell]:
        """Read the cells of a notebook, with the text of their outputs."""
        return [_cell(cell) for cell in (await self._notebook(page, path))["cells"]]

    @tool(destructive=False)
    async def add_cell(
        self, page: Page, path: str, source: str, kind: CellKind = "code"
    ) -> list[Cell]:
        """Add a cell at the end of a notebook, which is created if it is not there.

        Args:
            source: The text of the cell.
        """
        notebook = await self._notebook(page, path, create=True)
        notebook["cells"].append(_new_cell(source, kind))
        await self._put(page, path, {"type": "notebook", "format": "json", "content": notebook})
        return [_cell(cell) for cell in notebook["cells"]]

    @tool(read_only=True)
    async def list_kernels(self, page: Page) -> list[Kernel]:
        """List the running kernels."""
        return await page.get(self._api("kernels"), into=list[Kernel])

    @tool(read_only=True)
    async def list_sessions(self, page: Page) -> list[Session]:
        """List the open notebooks and consoles with their kernels."""
        return await page.get(self._api("sessions"), into=list[Session])

    @tool
    async def stop_kernel(self, page: Page, kernel_id: str) -> None:
        """Stop a kernel; what it has in memory is lost."""
        address = self._api(f"kernels/{quote(kernel_id, safe='')}")
        await page.delete(address, headers=await self._xsrf(page))

    def _api(self, path: str) -> str:
        return f"{self.site.rstrip('/')}/api/{path}"

    def _contents(self, path: str) -> str:
        return self._api(f"contents/{quote(path.strip('/'))}")

    async def _xsrf(self, page: Page) -> dict[str, str]:
        """The header without which the server refuses changes."""
        for cookie in await page.cookies():
            if cookie.name == "_xsrf":
                return {"X-XSRFToken": cookie.value}
        raise PluginError("You are not logged in to Jupyter in this tab.", "auth")

    async def _put(self, page: Page, path: str, model: dict[str, Any]) -> Entry:
        headers = await self._xsrf(page)
        return await page.put(self._contents(path), json=model, headers=headers, into=Entry)

    async def _notebook(self, page: Page, path: str, create: bool = False) -> dict[str, Any]:
        response = await page.request("GET", self._contents(path), params={"type": "notebook"})
        if create and response.status == 404:
            return {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
        response.raise_for_status()
        found: dict[str, Any] = response.json()["content"]
        return found


def _new_cell(source: str, kind: CellKind) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": source}
    return cell | {"outputs": [], "execution_count": None} if kind == "code" else cell


def _cell(cell: dict[str, Any]) -> Cell:
    outputs = "".join(_output(output) for output in cell.get("outputs", ()))
    return Cell(cell["cell_type"], _text(cell["source"]), outputs)


def _output(output: dict[str, Any]) -> str:
    """The text of an output: what was printed, a value, or an error."""
    if output["output_type"] == "error":
        return f"{output['ename']}: {output['evalue']}\n"
    shown: Any = output.get("text") or output.get("data", {}).get("text/plain", "")
    return _text(shown)


def _text(lines: str | list[str]) -> str:
    """Notebooks have texts whole or in lines."""
    return lines if isinstance(lines, str) else "".join(lines)
