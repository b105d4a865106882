"""File choosers that clicks open: intercepted, reported, answered or dismissed."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.real.acting.uploading import UPLOAD, in_base64, total
from tests.real.conftest import Log, Opener, Value
from tests.real.reasons import failure
from tests.support.agent import Agent
from tests.support.browsers.cdp import Cdp
from tests.support.site import Site

pytestmark = pytest.mark.real_browser
CLICK, ANSWER = "browser_click_element", "browser_handle_dialog"


@pytest.mark.parametrize("by", ["paths", "files"])
@pytest.mark.parametrize(("button", "input"), [("chooses", "hidden"), ("makes", "made")])
async def test_a_click_reports_the_chooser_it_opens_and_the_chooser_gets_its_files(
    agent: Agent,
    opened: Opener,
    site: Site,
    uploads: Path,
    log: Log,
    button: str,
    input: str,
    by: str,
) -> None:
    (uploads / "a.txt").write_bytes(b"some words")
    source: Any = {"paths": ["a.txt"], "files": [in_base64("a.txt", b"some words")]}[by]
    await opened(site.page("upload"))
    clicked = await agent.result(CLICK, selector=f"#{button}")
    dialog = clicked["structuredContent"]["effect"]["dialog"]
    assert dialog == {"type": "file_chooser", "message": "", "multiple": False}
    assert UPLOAD in clicked["content"][0]["text"]
    assert "Uploads" in await agent.text("browser_read_page")
    result = await agent.call(UPLOAD, **{by: source})
    assert result["effect"]["files"] == [{"name": "a.txt", "size": 10}]
    assert result["trusted"] is (by == "paths")
    files = [["a.txt", "text/plain", 10, total(b"some words")]]
    assert await log(1) == [{"what": input, "trusted": by == "paths", "files": files}]
    assert (await failure(agent, UPLOAD, **{by: source})).reason == "no_dialog"


async def test_a_chooser_for_several_files_says_so_and_a_picker_opens_it_too(
    agent: Agent, opened: Opener, site: Site, log: Log
) -> None:
    await opened(site.page("upload"))
    result = await agent.call(CLICK, selector="#several")
    assert result["effect"]["dialog"]["multiple"] is True
    await agent.call(UPLOAD, files=[in_base64("a", b"1"), in_base64("b", b"2")])
    assert [file[0] for file in (await log(1))[0]["files"]] == ["a", "b"]


async def test_a_chooser_that_a_text_opens_after_a_click_is_reported_too(
    agent: Agent, opened: Opener, site: Site
) -> None:
    page = "<input type=file id=file hidden><input id=name oninput='file.click()'>"
    await opened(f"{site.url}/html?body={quote(page)}")
    await agent.call(CLICK, selector="#name")
    result = await agent.call("browser_type_text", selector="#name", text="Ada")
    assert result["effect"]["dialog"]["type"] == "file_chooser"
    assert result["effect"]["value"] == "Ada"


async def test_dismissing_a_chooser_fires_an_event_in_the_page(
    agent: Agent, opened: Opener, site: Site, log: Log
) -> None:
    await opened(site.page("upload"))
    await agent.call(CLICK, selector="#makes")
    assert (await failure(agent, ANSWER, action="accept")).reason == "invalid_arguments"
    result = await agent.call(ANSWER, action="dismiss")
    assert result["answered"]["type"] == "file_chooser"
    assert await log(1) == ["cancelled"]
    assert (await failure(agent, ANSWER, action="dismiss")).reason == "no_dialog"


async def test_a_chooser_blocks_no_call_and_closes_with_its_page(
    agent: Agent, opened: Opener, site: Site, uploads: Path
) -> None:
    (uploads / "a.txt").write_bytes(b"some words")
    await opened(site.page("upload"))
    await agent.call(CLICK, selector="#chooses")
    await agent.call("browser_type_text", selector="#text", text="still here")
    await agent.call(CLICK, selector="#chooses")
    await agent.call("browser_navigate_tab", url="reload")
    assert (await failure(agent, UPLOAD, paths=["a.txt"])).reason == "no_dialog"


FRAMED = """<input type=file id=files hidden><button id=chooses onclick="files.click()">F</button>
<script>
  const tell = (what) => (e) => top.postMessage([what, e.isTrusted, files.files[0]?.name], "*");
  files.onchange = tell("change");
  files.oncancel = tell("cancel");
</script>"""
AROUND = """<iframe src="{}" width=600 height=300></iframe><button id=here>Here</button>
<script>window.log = []; onmessage = (e) => log.push(e.data);</script>"""


def framed(site: Site, depth: int) -> str:
    """A page with such a button in a frame of another site, or in nested frames of both sites."""
    frame = f"{site.other}/html?body={quote(FRAMED)}"
    for host in [site.url, site.other, site.url][-depth:]:
        frame = f"{host}/html?body={quote(AROUND.format(frame))}"
    return frame


@pytest.mark.parametrize("by", ["paths", "files"])
@pytest.mark.parametrize("depth", [1, 3])
async def test_a_chooser_in_a_frame_of_another_site_is_intercepted_and_gets_its_files(
    agent: Agent, opened: Opener, site: Site, uploads: Path, log: Log, depth: int, by: str
) -> None:
    (uploads / "a.txt").write_bytes(b"some words")
    source: Any = {"paths": ["a.txt"], "files": [in_base64("a.txt", b"some words")]}[by]
    await opened(framed(site, depth))
    result = await agent.call(CLICK, selector="#chooses")
    assert result["effect"]["dialog"] == {"type": "file_chooser", "message": "", "multiple": False}
    # Calls in another tab leave the chooser open.
    await agent.call(CLICK, selector="#here")
    given_to = await agent.call(UPLOAD, **{by: source})
    assert given_to["effect"]["files"] == [{"name": "a.txt", "size": 10}]
    assert given_to["trusted"] is (by == "paths")
    assert await log(1) == [["change", by == "paths", "a.txt"]]
    assert (await failure(agent, UPLOAD, **{by: source})).reason == "no_dialog"


async def test_a_chooser_in_a_frame_of_another_site_is_dismissed_and_closes_with_its_frame(
    agent: Agent, opened: Opener, site: Site, in_page: Value, log: Log
) -> None:
    await opened(framed(site, 1))
    await agent.call(CLICK, selector="#chooses")
    assert (await agent.call(ANSWER, action="dismiss"))["answered"]["type"] == "file_chooser"
    assert (await log(1))[0][0] == "cancel"
    await agent.call(CLICK, selector="#chooses")
    await in_page("document.querySelector('iframe').remove()")
    assert (await failure(agent, UPLOAD, files=[in_base64("a", b"1")])).reason in (
        "no_dialog",
        "needs_person",
    )


async def test_a_person_still_gets_the_browsers_own_chooser(
    agent: Agent, opened: Opener, in_page: Value, cdp: Cdp, site: Site
) -> None:
    """While no call of an agent runs, the browser must not intercept choosers."""
    await opened(site.page("upload"))
    await agent.call(CLICK, selector="#chooses")
    await agent.call(ANSWER, action="dismiss")
    code = "chrome.debugger.onEvent.addListener((_, name) => seen.push(name))"
    worker = await cdp.worker()
    await cdp.evaluate(worker, f"globalThis.seen = []; {code}; 1")
    page = await cdp.page(site.page("upload"))
    box = "document.querySelector('#chooses').getBoundingClientRect()"
    x, y = await cdp.evaluate(page, f"[{box}.x + 5, {box}.y + 5]")
    attached = await cdp.send("Target.attachToTarget", targetId=page, flatten=True)
    for kind in ("mousePressed", "mouseReleased"):
        await cdp.send(
            "Input.dispatchMouseEvent",
            attached["sessionId"],
            type=kind,
            x=x,
            y=y,
            button="left",
            clickCount=1,
        )
    assert await in_page("document.querySelector('#hidden') !== null")
    assert "Page.fileChooserOpened" not in await cdp.evaluate(worker, "seen")
