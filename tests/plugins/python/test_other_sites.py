"""Where a plugin in Python may act: other sites of it, excluded addresses, redirects."""

import asyncio
from pathlib import Path
from typing import Any, Literal

import pytest

from tabhub.plugins.python.page_operations import joined
from tests.plugins.python.written_plugins import (
    BANK,
    PAGE,
    SITE,
    Served,
    action,
    move,
    note_tab,
    response,
    sent,
    serving,
    source,
    written,
)
from tests.support.approvals import question, respond

MATCH = f'["{SITE}/*", "{BANK}/*"]'
PAY = action("pay", f'await page.post("{BANK}/api")\nreturn await page.has("a")')
GO = action("go", f'await page.open("{BANK}/")\nreturn await page.has("a")')
MOVED = action("moved", 'await page.has("a")\nreturn await page.has("b")')
AT_BANK = {"tabId": 1, "url": f"{BANK}/", "title": "", "status": "complete"}


def close(found: Served, level: Literal["off", "ask"]) -> None:
    found.server.app.rules.set_level("domains", "bank.example", level)
    sent(found)


def commands(found: Served) -> list[str]:
    return [command for command, _ in sent(found)]


@pytest.mark.parametrize(
    ("tool", "reached"), [("pay", []), ("go", []), ("moved", ["plugin.has"])], ids=str
)
async def test_a_site_that_asks_is_not_reached_without_an_approval(
    tmp_path: Path, tool: str, reached: list[str]
) -> None:
    async with serving(written(tmp_path, source(PAY, GO, MOVED, match=MATCH))) as found:
        await found.open(note_tab(1))

        def leave(params: dict[str, Any]) -> Any:
            move(found, f"{BANK}/")
            return {"found": True}

        found.answer(plugin__fetch=response(), plugin__has=leave, tabs__navigate=AT_BANK)
        close(found, "ask")
        assert (await found.failure(f"notes_{tool}"))[1]["reason"] == "approval_unavailable"
        assert commands(found) == reached


async def test_a_person_is_asked_once_for_each_site_of_a_call(tmp_path: Path) -> None:
    body = (
        f'await page.post("{BANK}/api")\nawait page.post("{BANK}/api")\n'
        'await page.post("/api")\nreturn await page.has("a")'
    )
    async with serving(written(tmp_path, source(action("twice", body), match=MATCH))) as found:
        await found.open(note_tab(1), panels=1)
        reached: list[str] = []

        def answered(params: dict[str, Any]) -> Any:
            reached.append(params["site"])
            return response() if params["tool"] == "plugin.fetch" else {"found": True}

        found.answer(plugin__fetch=answered, plugin__has=answered)
        close(found, "ask")
        call = asyncio.create_task(found.agent.call("notes_twice"))
        asked = await question(found.extension)
        assert (asked["origin"], reached) == ("bank.example", [])
        await respond(found.extension, asked["id"], "allow")
        assert (await call)["result"] is True
        assert reached == ["notes.example"] * 4


async def test_a_request_that_waited_for_a_person_is_not_sent_for_a_plugin_that_is_off(
    tmp_path: Path,
) -> None:
    async with serving(written(tmp_path, source(PAY, match=MATCH))) as found:
        await found.open(note_tab(1), panels=1)
        close(found, "ask")
        call = asyncio.create_task(found.failure("notes_pay"))
        asked = await question(found.extension)
        found.server.app.rules.set_level("plugins", "notes", "off")
        await respond(found.extension, asked["id"], "allow")
        assert "may not run any longer" in (await call)[0]
        assert commands(found) == []


@pytest.mark.parametrize("level", ["off", "ask"])
async def test_the_response_of_a_redirect_to_a_site_that_is_closed_is_not_given(
    tmp_path: Path, level: Literal["off", "ask"]
) -> None:
    read = action("read", 'return await page.get("/api")')
    async with serving(written(tmp_path, source(read, match=MATCH))) as found:
        await found.open(note_tab(1))
        found.answer(plugin__fetch=response(b'"secret"', url=f"{BANK}/api"))
        close(found, level)
        message, error = await found.failure("notes_read")
        assert error["category"] == "permission" and "secret" not in message
        # Where a redirect leads on a walled site is nothing for the caller.
        assert level == "ask" or "bank.example" not in message


@pytest.mark.parametrize(
    "address",
    [
        "/admin/delete",
        "/home/%2e%2e/admin/delete",
        "/home/.%2E/admin/delete",
        f"{SITE}/home/../admin/delete",
        f"{SITE}/home/x/%2e./%2E%2e/./admin/delete",
        f"{SITE}/../admin/delete",
    ],
)
async def test_no_request_goes_to_an_address_that_the_plugin_excludes(
    tmp_path: Path, address: str
) -> None:
    members = (
        f'exclude = ["{SITE}/admin/*"]',
        action("drop", f'return await page.post("{address}")'),
        action("open", f'await page.open("{address}")'),
    )
    async with serving(written(tmp_path, source(*members))) as found:
        await found.open(note_tab(1))
        sent(found)
        for tool in ("notes_drop", "notes_open"):
            assert (await found.failure(tool))[1]["reason"] == "permission_denied"
        assert commands(found) == []


async def test_the_response_of_a_redirect_to_an_excluded_address_is_not_given(
    tmp_path: Path,
) -> None:
    members = (f'exclude = ["{SITE}/admin/*"]', action("read", 'return await page.get("/api")'))
    async with serving(written(tmp_path, source(*members))) as found:
        await found.open(note_tab(1))
        found.answer(plugin__fetch=response(b'"secret"', url=f"{SITE}/admin/x"))
        message, error = await found.failure("notes_read")
        assert error["reason"] == "permission_denied" and "secret" not in message


@pytest.mark.parametrize(
    ("given", "reached"),
    [
        ("a/./b/../c", "/a/c"),
        ("/a/b/..", "/a/"),
        ("/a/%2E", "/a/"),
        ("/../../x?to=/../y", "/x?to=/../y"),
        (f"{SITE}", "/"),
        (f"{SITE}/a//../b", "/a/b"),
        ("/a/...%2e/b%2ec", "/a/...%2e/b%2ec"),
        ("?q=1", "/home?q=1"),
        ("/caf\u00e9?q=\u00e9", "/caf%C3%A9?q=%C3%A9"),
    ],
)
def test_an_address_is_checked_as_a_browser_would_send_it(given: str, reached: str) -> None:
    assert joined(PAGE, given) == f"{SITE}{reached}"
