"""gif_creator with a double of a browser."""

import io
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tabhub.config.settings import DownloadSettings, Settings
from tests.support.agent import Agent
from tests.support.browsers.extension import FakeExtension, Refusal, connected, tab
from tests.support.serving import client, served

GIF, LOOK = "gif_creator", "browser_screenshot_tab"


def pictures() -> Any:
    """Answers page.capture, each time with another colour."""
    shades = count()

    def answer(_: Any) -> dict[str, Any]:
        target = io.BytesIO()
        Image.new("RGB", (40, 30), (next(shades) % 255, 0, 0)).save(target, "JPEG")
        box = {"x": 0, "y": 0, "width": 40, "height": 30}
        size = {"width": 40, "height": 30}
        return {
            "data": b64encode(target.getvalue()).decode(),
            "mimeType": "image/jpeg",
            "scale": 1,
            "region": box,
            "page": size,
            "viewport": size,
            **size,
        }

    return answer


@asynccontextmanager
async def recording(folder: Path) -> AsyncIterator[tuple[FakeExtension, Agent]]:
    settings = Settings(downloads=DownloadSettings(folder=str(folder)))
    async with served(settings) as server, connected(server.port) as extension:
        extension.handlers["page.capture"] = pictures()
        await extension.sync(tab(5))
        async with client(server.port) as http:
            agent = Agent(http)
            await agent.call(GIF, tabId=5, action="start_recording")
            yield extension, agent


async def test_a_recording_keeps_its_first_fifty_frames_and_says_so(tmp_path: Path) -> None:
    async with recording(tmp_path) as (_, agent):
        for _ in range(53):
            await agent.call(LOOK)
        text = await agent.text(GIF, action="stop_recording")
        assert "50 frames; 3 later ones were left out" in text
        made = await agent.call(GIF, action="export", download=True, filename="fifty.gif")
        with Image.open(tmp_path / "fifty.gif") as image:
            assert (made["frames"], image.n_frames) == (50, 50)  # type: ignore[attr-defined]


async def test_a_frame_that_cannot_be_taken_does_not_fail_the_call(tmp_path: Path) -> None:
    async with recording(tmp_path) as (extension, agent):
        effect = {"effect": {"mutated": True}, "trusted": True, "point": {"x": 1, "y": 2}}
        extension.handlers["page.click"] = lambda _: effect

        def refuse(_: Any) -> Any:
            raise Refusal("dialog_open")

        extension.handlers["page.capture"] = refuse
        result = await agent.call("browser_click_element", selector="#x")
        assert result["effect"]["mutated"] is True
        assert (await agent.call(GIF, action="stop_recording"))["frames"] == 0


@pytest.mark.parametrize("state", ["interrupted", "in_progress"])
async def test_a_download_that_does_not_end_well_keeps_the_frames(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, state: str
) -> None:
    monkeypatch.setattr("tabhub.tools.files.Files.has_folder", False)
    async with recording(tmp_path) as (extension, agent):
        await agent.call(LOOK)
        extension.handlers["downloads.save"] = lambda _: {"state": state, "path": "/x"}
        failed = await agent.result(GIF, action="export", download=True)
        assert failed["isError"] and failed["structuredContent"]["error"]["reason"] == "timeout"
        assert (await agent.call(GIF, action="stop_recording"))["frames"] == 1
