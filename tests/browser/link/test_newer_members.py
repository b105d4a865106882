"""Members that an older extension would ignore, and so act elsewhere: refused before sending."""

from typing import Any

import pytest

from tabhub.wire import link_versions as versions
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.extension import connected, tab
from tests.support.serving import client, served

WORDS: dict[str, Any] = {"find": "the save button"}
SHOT = [{"name": "a.txt", "data": "aGVsbG8="}]
OLD = [None, "v1-0.1.0", "v1-9.9.9"]
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("browser_click_element", WORDS),
    ("browser_hover_element", WORDS),
    ("browser_type_text", {**WORDS, "text": "a"}),
    ("browser_select_option", {**WORDS, "value": "a"}),
    ("browser_press_key", {**WORDS, "key": "Enter"}),
    ("browser_scroll", WORDS),
    ("browser_upload_files", {**WORDS, "files": SHOT}),
    ("browser_drag", {"from": {"selector": "#a"}, "to": WORDS}),
    ("browser_drag", {"from": WORDS, "to": {"x": 1, "y": 1}}),
    ("browser_read_page", WORDS),
    ("browser_read_page", {"selector": "#a"}),
    ("browser_get_tab_content", WORDS),
]
EFFECT = {"mutated": False}


@pytest.mark.parametrize("version", OLD)
async def test_an_old_extension_gets_no_target_that_it_does_not_know(version: str | None) -> None:
    failures = []
    async with (
        served() as server,
        client(server.port) as http,
        connected(server.port, version=version) as extension,
    ):
        await extension.sync(tab(1))
        for tool, arguments in CALLS:
            with pytest.raises(ToolFailed) as failed:
                await Agent(http).call(tool, tabId=1, **arguments)
            failures.append((tool, arguments, failed.value))
    for tool, arguments, failure in failures:
        assert failure.reason == "invalid_arguments" and "Nothing was done" in failure.message, tool
        member = "selector" if arguments.get("selector") else "find"
        assert f"The browser's extension is too old for {member} (" in failure.message
        assert versions.UPDATE_EXTENSION in failure.message


async def test_nothing_is_sent_to_an_old_extension_that_would_press_elsewhere() -> None:
    sent: list[dict[str, Any]] = []

    def press(params: dict[str, Any]) -> dict[str, Any]:
        sent.append(params["input"])
        return {"effect": EFFECT}

    async with (
        served() as server,
        client(server.port) as http,
        connected(server.port, version="v1-0.1.0") as extension,
    ):
        await extension.sync(tab(1))
        extension.handlers["page.press"] = press
        with pytest.raises(ToolFailed):
            await Agent(http).call("browser_press_key", tabId=1, key="Enter", **WORDS)
        await Agent(http).call("browser_press_key", tabId=1, key="Enter", selector="#a")
    assert [input.get("selector") for input in sent] == ["#a"]


@pytest.mark.parametrize("version", OLD)
async def test_what_an_old_extension_knows_still_works(version: str | None) -> None:
    async with (
        served() as server,
        client(server.port) as http,
        connected(server.port, version=version) as extension,
    ):
        await extension.sync(tab(1))
        extension.handlers["page.text"] = lambda params: {"text": params["input"]["selector"]}
        found = await Agent(http).call("browser_get_tab_content", tabId=1, selector="#a")
    assert found["text"] == "#a"


async def test_an_extension_of_today_gets_the_words() -> None:
    found = [{"ref": "ref_7", "role": "button", "name": "Save"}]
    async with (
        served() as server,
        client(server.port) as http,
        connected(server.port) as extension,
    ):
        await extension.sync(tab(1))
        extension.handlers["page.press"] = lambda params: {"effect": {**EFFECT, "found": found}}
        text = await Agent(http).text("browser_press_key", tabId=1, key="Enter", **WORDS)
    assert text.startswith("Pressed Enter on ref_7 ") and "the save button" not in text


async def test_words_are_never_named_as_the_target() -> None:
    async with (
        served() as server,
        client(server.port) as http,
        connected(server.port) as extension,
    ):
        await extension.sync(tab(1))
        extension.handlers["page.press"] = lambda params: {"effect": EFFECT}
        with pytest.raises(ToolFailed) as failed:
            await Agent(http).call("browser_press_key", tabId=1, key="Enter", **WORDS)
    assert failed.value.reason == "invalid_response"
