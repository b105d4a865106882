"""The audit log in the panel: filters, pages, words for what the person did, export."""

import asyncio
import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tabhub.audit.view import PAGE_BYTES
from tabhub.audit.words import WORDS
from tabhub.browser.panel.panel_requests import UNAUDITED
from tabhub.config.paths import Home
from tabhub.config.settings import AuditSettings, Settings
from tabhub.server.app import App
from tabhub.wire.methods import EXTENSION
from tests.audit.events import event
from tests.support.agent import Agent
from tests.support.approvals import question, respond
from tests.support.browsers.extension import FakeExtension, connected, tab
from tests.support.serving import client, served

Json = dict[str, Any]


async def listed(extension: FakeExtension, **params: Any) -> Json:
    answer = await extension.ask("audit.list", {"limit": 50, **params})
    assert "result" in answer, answer
    found: Json = answer["result"]
    return found


async def tools(extension: FakeExtension, **params: Any) -> list[str]:
    return [row["tool"] for row in (await listed(extension, **params))["rows"]]


def filled(app: App, count: int, **changes: Any) -> None:
    for number in range(count):
        app.audit.record(event(tool=f"tool_{number}", plugin="", **changes))


async def test_a_row_has_who_did_what_where_and_how_it_ended(tmp_path: Path) -> None:
    async with (
        served(home=Home(tmp_path)) as server,
        connected(server.port) as extension,
        client(server.port) as http,
    ):
        extension.handlers["page.evaluate"] = lambda params: {"value": 1}
        await extension.sync(tab(1))
        await Agent(http).call("browser_execute_script", code="1", tabId=1)
        row = (await listed(extension, tool="browser_execute_script"))["rows"][0]
        assert row["words"] == "Execute JavaScript on example.com"
        assert (row["client"], row["tab"], row["outcome"]) == ("main", 1, "done")
        assert row["bytes"] > 0 and row["time"] > 1_700_000_000_000 and row["durationMs"] > 0
        assert (row["reason"], row["message"], row["times"]) == (None, None, 1)
        assert row["arguments"] == {"code": "1"}
        # What is shown is found: the title of the tool, which is in no entry.
        for text in ("javascript", "execute javascript on example.com", "EXECUTE main"):
            assert await tools(extension, text=text) == ["browser_execute_script"], text
        assert await tools(extension, text="javascript elsewhere") == []


@pytest.mark.parametrize("has_file", [True, False])
async def test_entries_are_found_by_each_filter(tmp_path: Path, has_file: bool) -> None:
    home = Home(tmp_path) if has_file else None
    async with served(home=home) as server, connected(server.port) as extension:
        app = server.app
        app.audit.record(event(tool="a", client="ann", arguments={"text": "Wörter für Öl"}))
        app.audit.record(event(tool="b", client="bob", arguments={"url": 'https://x.example/"q"'}))
        await extension.ask("agents.stop", {"stopped": True})
        assert await tools(extension) == ["agents.stop", "b", "a"]
        assert await tools(extension, client="bob") == ["b"]
        assert await tools(extension, tool="a") == ["a"]
        assert await tools(extension, text="WÖRTER öl") == ["a"]
        assert await tools(extension, text='"Q"') == ["b"]
        assert await tools(extension, text="stopped all") == ["agents.stop"], "its words count"
        assert await tools(extension, text="durationMs") == [], "names of members do not"
        assert await tools(extension, who="you") == ["agents.stop"]
        assert await tools(extension, who="agents") == ["b", "a"]
        assert await tools(extension, outcome="failed") == []


async def test_entries_are_found_by_outcome() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        await extension.sync(tab(1), panels=1)
        calling = asyncio.create_task(Agent(http).call("browser_execute_script", code="1", tabId=1))
        start = (await extension.next("tool.invocationStart"))["params"]
        await extension.ask("call.cancel", {"id": start["id"]})
        await asyncio.wait({calling})
        calling.exception()
        await Agent(http).result("browser_execute_script", code="1", tabId=9)
        (refused,) = (await listed(extension, outcome="refused"))["rows"]
        assert (refused["reason"], refused["tab"]) == ("tab_not_found", 9)
        assert refused["message"].startswith("There is no tab 9") or "9" in refused["message"]
        (cancelled,) = (await listed(extension, outcome="cancelled"))["rows"]
        assert cancelled["reason"] == "cancelled_by_person"
        person = (await listed(extension, who="you"))["rows"][0]
        assert person["words"] == "you cancelled “Execute JavaScript” of main"


async def test_what_the_person_did_is_said_in_words() -> None:
    async with served() as server, connected(server.port) as extension, client(server.port) as http:
        extension.handlers["page.evaluate"] = lambda params: {"value": 1}
        await extension.sync(tab(1), kind="personal", panels=1)
        agent = Agent(http)
        for decision, scope in (("deny", None), ("allow", "session")):
            calling = asyncio.create_task(agent.call("browser_execute_script", code="1", tabId=1))
            request = await question(extension)
            await respond(extension, request["id"], decision, scope=scope)
            await asyncio.wait({calling})
            calling.exception()
        await respond(extension, request["id"], "allow")
        grant = (await extension.state())["grants"][0]["id"]
        await extension.ask("grant.revoke", {"id": grant})
        await extension.ask("tab.share", {"tabId": 1, "shared": False})
        await extension.ask("tab.takeBack", {"tabId": 77})
        rows = (await listed(extension, who="you"))["rows"]
        assert {row["who"] for row in rows} == {"you"}
        what = "“Execute JavaScript” for main on example.com"
        assert [row["words"] for row in rows][::-1][-6:] == [
            f"you denied {what}",
            f"you allowed {what}, until it disconnects",
            "you answered a question that was over",
            "you revoked the permission of main for “Execute JavaScript” on example.com",
            "you stopped sharing the tab Tab 1",
            "you took back the tab (it was not done)",
        ]
        assert [row["denied"] for row in rows][::-1][-6:] == [True, *[False] * 5]
        calls = (await listed(extension, tool="browser_execute_script", who="agents"))["rows"]
        assert [(row["reason"], row["denied"]) for row in calls] == [
            (None, False),
            ("permission_denied", True),
        ]
        lines = (await exported(extension, format="ndjson", who="you")).splitlines()
        abouts = [json.loads(line)["arguments"].get("about", {}) for line in lines[::-1]]
        asked = [about["words"] for about in abouts if "words" in about]
        assert asked == ["Run a script on example.com"] * 2


def test_everything_that_a_person_can_do_in_the_panel_has_words() -> None:
    requests = {row.name for row in EXTENSION.taken_by("panel")} - UNAUDITED
    assert requests - WORDS.keys() == set()


async def test_pages_follow_each_other_while_calls_go_on_and_the_file_is_rotated(
    tmp_path: Path,
) -> None:
    settings = Settings(audit=AuditSettings(max_bytes=20_000))
    async with served(settings, home=Home(tmp_path)) as server, connected(server.port) as extension:
        filled(server.app, 300)
        seen: list[str] = []
        before = None
        while True:
            page = await listed(extension, limit=40, before=before)
            seen += [row["tool"] for row in page["rows"]]
            before = page["next"]
            if before is None:
                break
            filled(server.app, 10, client="later")
        assert seen == [f"tool_{number}" for number in reversed(range(300))]
        assert len(list(tmp_path.glob("audit.log.*"))) > 3


async def test_pages_fit_the_link_however_large_the_entries_are(tmp_path: Path) -> None:
    async with served(home=Home(tmp_path)) as server, connected(server.port) as extension:
        large = {f"key{number}": "ü" * 1000 for number in range(7)}
        filled(server.app, 60, arguments=large)
        page = await listed(extension, limit=200)
        assert 0 < len(page["rows"]) < 60 and page["next"]
        assert len(json.dumps(page, ensure_ascii=False).encode()) < 2 * PAGE_BYTES


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({"before": "yesterday"}, "invalid_arguments"),
        ({"before": "../../etc"}, "invalid_arguments"),
        ({"limit": 0}, "invalid_params"),
        ({"limit": 100_000}, "invalid_params"),
        ({"outcome": "good"}, "invalid_params"),
        ({"text": 7}, "invalid_params"),
    ],
)
async def test_wrong_params_are_refused(params: Json, reason: str) -> None:
    async with served() as server, connected(server.port) as extension:
        answer = await extension.ask("audit.list", {"limit": 5, **params})
        assert answer["error"]["data"]["reason"] == reason


async def test_a_cursor_of_a_file_that_is_gone_ends_the_list(tmp_path: Path) -> None:
    async with served(home=Home(tmp_path)) as server, connected(server.port) as extension:
        filled(server.app, 3)
        assert await listed(extension, before="1-1") == {"rows": [], "next": None}


async def test_reading_the_log_is_not_in_the_log(tmp_path: Path) -> None:
    async with served(home=Home(tmp_path)) as server, connected(server.port) as extension:
        await listed(extension)
        await extension.ask("audit.export", {"format": "csv"})
        await extension.ask("calls.recent", {})
        assert await tools(extension) == []


async def exported(extension: FakeExtension, **params: Any) -> str:
    text, before = "", None
    while True:
        answer = (await extension.ask("audit.export", {**params, "before": before}))["result"]
        text, before = text + str(answer["text"]), answer["next"]
        if before is None:
            return text


async def test_an_export_has_every_entry_once_in_both_formats(tmp_path: Path) -> None:
    async with served(home=Home(tmp_path)) as server, connected(server.port) as extension:
        filled(server.app, 700, arguments={"note": "x" * 900})
        lines = (await exported(extension, format="ndjson")).splitlines()
        assert [json.loads(line)["tool"] for line in lines[::-1]] == [
            f"tool_{number}" for number in range(700)
        ]
        rows = list(csv.DictReader(io.StringIO(await exported(extension, format="csv"))))
        assert [row["tool"] for row in rows[::-1]] == [f"tool_{number}" for number in range(700)]
        assert rows[0]["who"] == "agent" and rows[0]["outcome"] == "done"
        some = await exported(extension, format="ndjson", tool="tool_5")
        assert len(some.splitlines()) == 1


async def test_a_spreadsheet_calculates_nothing_that_a_page_has_written() -> None:
    async with served() as server, connected(server.port) as extension:
        server.app.audit.record(event(tool="=1+1", agent="@x", rule="-2"))
        (row,) = csv.DictReader(io.StringIO(await exported(extension, format="csv")))
        assert (row["tool"], row["rule"]) == ("'=1+1", "'-2")


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("text", ["\n=1+1", "x;=1+1", 'x;"=1+1', "x\t=1+1", 'x";@y', "x\r\n-1"])
async def test_no_cell_is_a_formula_however_a_spreadsheet_separates_cells(
    separator: str, text: str
) -> None:
    async with served() as server, connected(server.port) as extension:
        server.app.audit.record(event(rule=text, tool=text, arguments={"note": text}))
        written = await exported(extension, format="csv")
        for row in csv.reader(io.StringIO(written, newline=""), delimiter=separator):
            assert not [cell for cell in row if cell.strip().startswith(("=", "+", "-", "@"))]


async def test_secrets_and_control_characters_do_not_reach_the_panel(tmp_path: Path) -> None:
    async with served(home=Home(tmp_path)) as server, connected(server.port) as extension:
        server.app.audit.record(
            event(
                tool="t\u202e\x1b[2J" + "x" * 500,
                arguments={"password": "swordfish", "text": "hidden words"},
                secret_arguments=frozenset({"text"}),
            )
        )
        (row,) = (await listed(extension))["rows"]
        assert "swordfish" not in str(row) and "hidden words" not in str(row)
        assert row["tool"].isprintable() and len(row["tool"]) <= 128
        assert row["words"].isprintable() and len(row["words"]) < 500
