"""File choosers that clicks open: caught, told, answered or dismissed."""

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
async def test_a_chooser_that_a_click_opens_is_told_and_gets_its_files(
    agent: Agent,
    opened: Opener,
    site: Site,
    given: Path,
    log: Log,
    button: str,
    input: str,
    by: str,
) -> None:
    (given / "a.txt").write_bytes(b"some words")
    source: Any = {"paths": ["a.txt"], "files": [in_base64("a.txt", b"some words")]}[by]
    await opened(site.page("upload"))
    clicked = await agent.result(CLICK, selector=f"#{button}")
    dialog = clicked["structuredContent"]["effect"]["dialog"]
    assert dialog == {"type": "file_chooser", "message": "", "multiple": False}
    assert UPLOAD in clicked["content"][0]["text"]
    assert "Uploads" in await agent.text("browser_read_page")
    told = await agent.call(UPLOAD, **{by: source})
    assert told["effect"]["files"] == [{"name": "a.txt", "size": 10}]
    assert told["trusted"] is (by == "paths")
    files = [["a.txt", "text/plain", 10, total(b"some words")]]
    assert await log(1) == [{"what": input, "trusted": by == "paths", "files": files}]
    assert (await failure(agent, UPLOAD, **{by: source})).reason == "no_dialog"


async def test_a_chooser_for_several_says_so_and_is_opened_by_a_picker_too(
    agent: Agent, opened: Opener, site: Site, log: Log
) -> None:
    await opened(site.page("upload"))
    told = await agent.call(CLICK, selector="#several")
    assert told["effect"]["dialog"]["multiple"] is True
    await agent.call(UPLOAD, files=[in_base64("a", b"1"), in_base64("b", b"2")])
    assert [file[0] for file in (await log(1))[0]["files"]] == ["a", "b"]


async def test_a_chooser_is_dismissed_and_the_page_hears_of_it(
    agent: Agent, opened: Opener, site: Site, log: Log
) -> None:
    await opened(site.page("upload"))
    await agent.call(CLICK, selector="#makes")
    assert (await failure(agent, ANSWER, action="accept")).reason == "invalid_arguments"
    told = await agent.call(ANSWER, action="dismiss")
    assert told["answered"]["type"] == "file_chooser"
    assert await log(1) == ["cancelled"]
    assert (await failure(agent, ANSWER, action="dismiss")).reason == "no_dialog"


async def test_a_chooser_holds_nothing_up_and_goes_with_its_page(
    agent: Agent, opened: Opener, site: Site, given: Path
) -> None:
    (given / "a.txt").write_bytes(b"some words")
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
    """A page with such a button in a frame of another site, or in frames of both in turn."""
    frame = f"{site.other}/html?body={quote(FRAMED)}"
    for host in [site.url, site.other, site.url][-depth:]:
        frame = f"{host}/html?body={quote(AROUND.format(frame))}"
    return frame


@pytest.mark.parametrize("by", ["paths", "files"])
@pytest.mark.parametrize("depth", [1, 3])
async def test_a_chooser_in_a_frame_of_another_site_is_caught_and_gets_its_files(
    agent: Agent, opened: Opener, site: Site, given: Path, log: Log, depth: int, by: str
) -> None:
    (given / "a.txt").write_bytes(b"some words")
    source: Any = {"paths": ["a.txt"], "files": [in_base64("a.txt", b"some words")]}[by]
    await opened(framed(site, depth))
    told = await agent.call(CLICK, selector="#chooses")
    assert told["effect"]["dialog"] == {"type": "file_chooser", "message": "", "multiple": False}
    # What is done elsewhere meanwhile does not lose it.
    await agent.call(CLICK, selector="#here")
    given_to = await agent.call(UPLOAD, **{by: source})
    assert given_to["effect"]["files"] == [{"name": "a.txt", "size": 10}]
    assert given_to["trusted"] is (by == "paths")
    assert await log(1) == [["change", by == "paths", "a.txt"]]
    assert (await failure(agent, UPLOAD, **{by: source})).reason == "no_dialog"


async def test_a_chooser_in_a_frame_of_another_site_is_dismissed_and_goes_with_its_frame(
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


async def test_a_person_still_gets_their_own_chooser(
    agent: Agent, opened: Opener, in_page: Value, cdp: Cdp, site: Site
) -> None:
    """While nobody acts for an agent, the browser must not be told to keep choosers back."""
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
