"""Jupyter without a browser and without Jupyter."""

from collections.abc import Iterator
from typing import Any

import pytest
from plugin import Cell, Entry, Jupyter

from tabhub.sdk import PageCookie, PluginError, describe, invoke, settings_of_call
from tabhub.sdk.testing import FakePage

SITE = "http://localhost:8888/user/ada/"


@pytest.fixture
def page() -> Iterator[FakePage]:
    page = FakePage(f"{SITE}tree")
    page.cookie_jar.append(PageCookie("_xsrf", "2|abc"))
    with settings_of_call({"site": SITE}):
        yield page


def model(path: str, kind: str = "file", **more: Any) -> dict[str, Any]:
    return {"name": path.rpartition("/")[2], "path": path, "type": kind, **more}


async def test_it_is_ready_when_you_are_logged_in(plugin: Jupyter, page: FakePage) -> None:
    page.answer("GET", "/user/ada/api/me", json={"message": "Forbidden"}, status=403)
    page.answer("GET", "/user/ada/api/me", json={"identity": {"username": "ada"}})
    assert not await plugin.ready(page)
    assert await plugin.ready(page)


async def test_files_are_listed_by_name(plugin: Jupyter, page: FakePage) -> None:
    content = [model("data/b.ipynb", "notebook"), model("data/a.txt", size=3)]
    page.answer(
        "GET", "/user/ada/api/contents/data", json=model("data", "directory", content=content)
    )
    found = await invoke(plugin, "list_files", {"folder": "/data/"}, page)
    assert [entry["name"] for entry in found] == ["a.txt", "b.ipynb"]
    assert page.requests[0].params == {"type": "directory"}


async def test_a_file_is_written_with_the_second_cookie_as_a_header(
    plugin: Jupyter, page: FakePage
) -> None:
    page.answer(
        "PUT", "/user/ada/api/contents/my%20notes.txt", json=model("my notes.txt"), status=201
    )
    written = await plugin.write_file(page, "my notes.txt", "hello")
    assert written == Entry("my notes.txt", "my notes.txt", "file")
    [request] = page.requests
    assert request.headers["x-xsrftoken"] == "2|abc"
    assert request.json() == {"type": "file", "format": "text", "content": "hello"}


async def test_without_that_cookie_nothing_is_sent(plugin: Jupyter, page: FakePage) -> None:
    page.cookie_jar.clear()
    with pytest.raises(PluginError) as caught:
        await plugin.delete_file(page, "a.txt")
    assert (caught.value.category, page.requests) == ("auth", [])


async def test_a_file_that_is_not_there_is_not_found(plugin: Jupyter, page: FakePage) -> None:
    page.answer("GET", "/user/ada/api/contents/x", json={"message": "No such file"}, status=404)
    with pytest.raises(PluginError, match="No such file") as caught:
        await plugin.read_file(page, "x")
    assert caught.value.category == "not_found"


async def test_a_cell_is_added_to_a_notebook(plugin: Jupyter, page: FakePage) -> None:
    output = {"output_type": "stream", "text": ["1\n", "2\n"]}
    old = {"cell_type": "code", "source": ["a\n", "b"], "outputs": [output]}
    path = "/user/ada/api/contents/n.ipynb"
    page.answer("GET", path, json=model("n.ipynb", "notebook", content={"cells": [old]}))
    page.answer("PUT", path, json=model("n.ipynb", "notebook"))
    cells = await plugin.add_cell(page, "n.ipynb", "# Results", "markdown")
    assert cells == [Cell("code", "a\nb", "1\n2\n"), Cell("markdown", "# Results")]
    assert page.requests[1].json()["content"]["cells"][1]["cell_type"] == "markdown"


async def test_a_notebook_that_is_not_there_is_created(plugin: Jupyter, page: FakePage) -> None:
    path = "/user/ada/api/contents/new.ipynb"
    page.answer("GET", path, json={"message": "No such file"}, status=404)
    page.answer("PUT", path, json=model("new.ipynb", "notebook"), status=201)
    assert await plugin.add_cell(page, "new.ipynb", "1 + 1") == [Cell("code", "1 + 1")]


async def test_kernels_are_listed_and_stopped(plugin: Jupyter, page: FakePage) -> None:
    kernel = {"id": "k1", "name": "python3", "execution_state": "idle", "connections": 1}
    page.answer("GET", "/user/ada/api/kernels", json=[kernel])
    page.answer(
        "GET",
        "/user/ada/api/sessions",
        json=[{"id": "s", "path": "n.ipynb", "type": "notebook", "kernel": kernel}],
    )
    page.answer("DELETE", "/user/ada/api/kernels/k1", status=204)
    [found] = await plugin.list_kernels(page)
    [session] = await plugin.list_sessions(page)
    assert session.kernel == found
    await plugin.stop_kernel(page, found.id)
    assert page.requests[-1].headers["x-xsrftoken"] == "2|abc"


def test_tools_that_only_read_say_so() -> None:
    tools = {one.name: one for one in describe(Jupyter).tools}
    assert {name for name, one in tools.items() if one.read_only} == {
        "list_files",
        "read_file",
        "read_notebook",
        "list_kernels",
        "list_sessions",
    }
    assert not tools["add_cell"].destructive
