"""Files that real pages receive, as their own scripts see them."""

import asyncio
import base64
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.real.acting.uploading import UPLOAD, in_base64, total
from tests.real.conftest import Log, Opener, Value
from tests.real.looking import ref
from tests.real.reasons import failure
from tests.support.agent import Agent
from tests.support.browsers.cdp import Cdp
from tests.support.browsers.managed import rig
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("CB-10")]


@pytest.mark.parametrize("selector", ["one", "hidden", "inner", "clearing"])
async def test_a_file_on_disk_reaches_an_input_even_if_it_is_hidden(
    agent: Agent, opened: Opener, site: Site, uploads: Path, log: Log, selector: str
) -> None:
    data = b"some words"
    (uploads / "a.txt").write_bytes(data)
    tab = await opened(site.page("upload"))
    result = await agent.call(UPLOAD, selector=f"#{selector}", paths=[str(uploads / "a.txt")])
    assert result == {
        "tabId": tab,
        "effect": {"mutated": True, "files": [{"name": "a.txt", "size": 10}]},
        "trusted": True,
    }
    files = [["a.txt", "text/plain", 10, total(data)]]
    assert await log(1) == [{"what": selector, "trusted": True, "files": files}]


async def test_several_files_reach_an_input_that_takes_several(
    agent: Agent, opened: Opener, site: Site, uploads: Path, log: Log
) -> None:
    for name in ("b.txt", "c.bin"):
        (uploads / name).write_bytes(name.encode())
    await opened(site.page("upload"))
    many = ref(await agent.text("browser_read_page"), "Many files")
    text = await agent.text("file_upload", ref=many, paths=["b.txt", "c.bin"])
    assert "b.txt (5 bytes), c.bin (5 bytes)" in text
    assert [file[0] for file in (await log(1))[0]["files"]] == ["b.txt", "c.bin"]
    failed = await failure(agent, UPLOAD, selector="#one", paths=["b.txt", "c.bin"])
    assert failed.reason == "invalid_arguments" and "multiple" in failed.message


async def test_a_file_larger_than_any_message_arrives_complete(
    agent: Agent, opened: Opener, in_page: Value, site: Site, uploads: Path
) -> None:
    with (uploads / "large.bin").open("wb") as file:
        file.truncate(64 * 1024 * 1024)
        file.seek(64 * 1024 * 1024 - 3)
        file.write(b"end")
    await opened(site.page("upload"))
    await in_page("sum = async () => 0; 1")
    result = await agent.call(UPLOAD, selector="#one", paths=["large.bin"])
    assert result["effect"]["files"] == [{"name": "large.bin", "size": 64 * 1024 * 1024}]
    tail = "await document.querySelector('#one').files[0].slice(-3).text()"
    assert await in_page(tail) == "end"


async def test_bytes_of_the_call_reach_inputs_and_drop_zones(
    agent: Agent, opened: Opener, site: Site, log: Log
) -> None:
    data = bytes(range(256)) * 20
    await opened(site.page("upload"))
    files = [in_base64("x.dat", data, mimeType="application/x-test")]
    for selector in ("#one", "#zone"):
        result = await agent.call(UPLOAD, selector=selector, files=files)
        assert result["trusted"] is False
        assert result["effect"]["files"] == [{"name": "x.dat", "size": len(data)}]
    seen = [["x.dat", "application/x-test", len(data), total(data)]]
    assert [(entry["what"], entry["files"]) for entry in await log(2)] == [
        ("one", seen),
        ("zone", seen),
    ]


async def test_bytes_in_many_pieces_arrive_in_order(
    agent: Agent, opened: Opener, site: Site, log: Log
) -> None:
    data = os.urandom(1000) * 4000
    await opened(site.page("upload"))
    await agent.call(UPLOAD, selector="#one", files=[in_base64("x.dat", data)])
    assert (await log(1))[0]["files"][0][2:] == [len(data), total(data)]


async def test_a_cancelled_upload_gives_no_file_and_the_next_is_complete(
    agent: Agent, opened: Opener, in_page: Value, site: Site, log: Log
) -> None:
    await opened(site.page("upload"))
    large = [in_base64("x.dat", os.urandom(1000) * 6000)]
    call = asyncio.create_task(agent.call(UPLOAD, selector="#one", files=large))
    await asyncio.wait({call}, timeout=0.05)
    call.cancel()
    await asyncio.wait({call})
    result = await agent.call(UPLOAD, selector="#many", files=[in_base64("y.dat", b"whole")])
    assert result["effect"]["files"] == [{"name": "y.dat", "size": 5}]
    entries = await log(1)
    assert [entry["files"][0][0] for entry in entries][-1] == "y.dat"
    assert entries[-1]["files"][0][2:] == [5, total(b"whole")]
    chosen = "document.querySelector('#one').files.length"
    assert await in_page(chosen) == len(entries) - 1


async def test_files_are_dropped_with_trusted_input_on_elements_and_points(
    agent: Agent, opened: Opener, in_page: Value, site: Site, uploads: Path, log: Log
) -> None:
    (uploads / "a.txt").write_bytes(b"some words")
    await opened(site.page("upload"))
    result = await agent.call(UPLOAD, selector="#zone", paths=["a.txt"])
    assert (result["trusted"], result["effect"]["files"]) == (True, [{"name": "a.txt", "size": 10}])
    await agent.call("browser_screenshot_tab", scale=0.5)
    code = "const b = document.querySelector('#zone').getBoundingClientRect(); [b.x, b.y]"
    x, y = await in_page(code)
    result = await agent.call(UPLOAD, coordinate=[(x + 50) / 2, (y + 20) / 2], paths=["a.txt"])
    assert result["effect"]["files"] == [{"name": "a.txt", "size": 10}]
    assert [(entry["what"], entry["trusted"]) for entry in await log(2)] == [("zone", True)] * 2


async def test_a_zone_that_does_not_prevent_the_default_keeps_the_page(
    agent: Agent, opened: Opener, in_page: Value, site: Site, uploads: Path, log: Log
) -> None:
    (uploads / "a.txt").write_bytes(b"some words")
    await opened(site.page("upload"))
    result = await agent.call(UPLOAD, selector="#silent", paths=["a.txt"])
    assert "navigated" not in result["effect"]
    assert (await log(1))[0]["what"] == "silent"
    assert await in_page("location.href") == site.page("upload")


@pytest.mark.parametrize("by", ["paths", "files"])
async def test_an_element_that_takes_no_files_is_named_and_the_page_stays(
    agent: Agent, opened: Opener, in_page: Value, site: Site, uploads: Path, by: str
) -> None:
    (uploads / "a.txt").write_bytes(b"some words")
    source: Any = {"paths": ["a.txt"], "files": [in_base64("a.txt", b"x")]}[by]
    await opened(site.page("upload"))
    for selector, tag in (("#plain", "<p>"), ("#text", "<input>"), ("#makes", "<button>")):
        failed = await failure(agent, UPLOAD, selector=selector, **{by: source})
        assert failed.reason == "invalid_arguments" and tag in failed.message
    assert await in_page("[location.href, log.length]") == [site.page("upload"), 0]


@pytest.mark.document("CB-tools-14")
async def test_a_screenshot_is_uploaded_by_its_id(
    agent: Agent, another: Agent, opened: Opener, in_page: Value, site: Site, log: Log
) -> None:
    await opened(site.page("upload"))
    shot = await agent.result("browser_screenshot_tab", format="png")
    id = shot["structuredContent"]["id"]
    data = base64.b64decode(shot["content"][1]["data"])
    picture = ref(await agent.text("browser_read_page"), "Picture")
    await agent.call("upload_image", imageId=id, ref=picture)
    code = "const b = document.querySelector('#zone').getBoundingClientRect(); [b.x + 9, b.y + 9]"
    zone = await in_page(code)
    text = await agent.text("upload_image", imageId=id, coordinate=zone, filename="shot.png")
    assert f"shot.png ({len(data) // 1024} KB)" in text
    await agent.call(UPLOAD, screenshotId=id, selector="#one")
    files = [["image.png", "image/png", len(data), total(data)]]
    first, second, third = await log(3)
    assert (first["files"], third["files"]) == (files, files)
    assert second["files"] == [["shot.png", *files[0][1:]]]
    for wrong in ({}, {"ref": picture, "coordinate": [1, 1]}):
        failed = await failure(agent, "upload_image", imageId=id, **wrong)
        assert failed.reason == "invalid_arguments"
    unknown = await failure(agent, "upload_image", imageId="ss_0000aaaaa", ref=picture)
    assert unknown.reason == "not_found"


async def test_a_picture_is_converted_to_the_format_of_its_file_name(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(site.page("upload"))
    id = (await agent.call("browser_screenshot_tab"))["id"]
    await agent.call(UPLOAD, screenshotId=id, selector="#picture")
    begins = "new Uint8Array(await document.querySelector('#picture').files[0].arrayBuffer())"
    assert await in_page(f"[...({begins}).slice(0, 4)]") == [0x89, 0x50, 0x4E, 0x47]
    assert await in_page("document.querySelector('#picture').files[0].type") == "image/png"


async def test_a_file_type_that_the_input_does_not_accept_is_uploaded_with_a_warning(
    agent: Agent, opened: Opener, site: Site, uploads: Path, log: Log
) -> None:
    (uploads / "a.txt").write_bytes(b"some words")
    (uploads / "a.jpg").write_bytes(b"no picture")
    await opened(site.page("upload"))
    result = await agent.result(UPLOAD, selector="#picture", paths=["a.txt"])
    assert result["structuredContent"]["misfits"] == ["a.txt"]
    assert "accept" in result["content"][0]["text"]
    assert "misfits" not in await agent.call(UPLOAD, selector="#picture", paths=["a.jpg"])
    assert len(await log(2)) == 2


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"selector": "#off"}, "disabled"),
        ({"selector": "#folder"}, "invalid_arguments"),
        ({"selector": "#nothing"}, "element_not_found"),
        ({"selector": "[["}, "invalid_arguments"),
        ({"ref": "ref_99999"}, "stale_ref"),
        ({"ref": "ref_1", "selector": "#one"}, "invalid_arguments"),
        ({"coordinate": [5, 5]}, "invalid_arguments"),
        ({}, "no_dialog"),
        ({"selector": "#one", "paths": ["missing.txt"]}, "invalid_arguments"),
        ({"selector": "#one", "paths": ["."]}, "invalid_arguments"),
        ({"selector": "#one", "paths": ["../home/config.json"]}, "permission_denied"),
        ({"selector": "#one", "paths": ["/etc/passwd"]}, "permission_denied"),
        ({"selector": "#one", "paths": ["out"]}, "permission_denied"),
        ({"selector": "#one", "paths": []}, "invalid_arguments"),
        ({"selector": "#one", "paths": ["a.txt"], "screenshotId": "x"}, "invalid_arguments"),
        ({"selector": "#one", "screenshotId": "ss_0000aaaaa"}, "not_found"),
        ({"selector": "#one", "files": [{"name": "a", "data": "?"}]}, "invalid_arguments"),
        ({"selector": "#one", "files": [{"name": "a/b", "data": ""}]}, "invalid_arguments"),
    ],
)
async def test_an_impossible_upload_is_refused_with_a_reason_and_has_no_effect(
    agent: Agent,
    opened: Opener,
    in_page: Value,
    site: Site,
    uploads: Path,
    arguments: dict[str, Any],
    word: str,
) -> None:
    (uploads / "a.txt").write_bytes(b"some words")
    if not (uploads / "out").is_symlink():
        (uploads / "out").symlink_to("/etc/passwd")
    await opened(site.page("upload"))
    has_source = {"paths", "files", "screenshotId"} & set(arguments)
    source: Any = {} if has_source else {"paths": ["a.txt"]}
    assert (await failure(agent, UPLOAD, **source, **arguments)).reason == word
    assert await in_page("log.length") == 0


@pytest.mark.parametrize("by", ["paths", "files"])
@pytest.mark.parametrize("name", ["near", "far"])
async def test_files_reach_inputs_in_frames(
    agent: Agent, opened: Opener, in_page: Value, site: Site, uploads: Path, by: str, name: str
) -> None:
    (uploads / "a.txt").write_bytes(b"some words")
    source: Any = {"paths": ["a.txt"], "files": [in_base64("a.txt", b"some words")]}[by]
    await opened(site.page("form"))
    host = {"near": site.url, "far": site.other}[name]
    code = f"""await new Promise((done) => {{
      const frame = document.createElement("iframe");
      frame.src = "{host}/upload.html"; frame.onload = done; frame.width = 800; frame.height = 700;
      document.body.prepend(frame);
    }}); 1"""
    await in_page(code)
    result = await agent.call(UPLOAD, selector="#one", **{by: source})
    assert result["effect"]["files"] == [{"name": "a.txt", "size": 10}]
    assert result["trusted"] is (by == "paths" and name == "near")
    dropped = await agent.call(UPLOAD, selector="#zone", **{by: source})
    assert dropped["effect"]["files"] == [{"name": "a.txt", "size": 10}]
    assert dropped["trusted"] is (by == "paths")


@pytest.mark.parametrize("by", ["paths", "files"])
@pytest.mark.parametrize("host", ["url", "other"])
async def test_files_are_dropped_on_a_point_in_a_frame(
    agent: Agent, opened: Opener, in_page: Value, site: Site, uploads: Path, by: str, host: str
) -> None:
    (uploads / "a.txt").write_bytes(b"some words")
    source: Any = {"paths": ["a.txt"], "files": [in_base64("a.txt", b"some words")]}[by]
    body = "<body style='margin:0' ondragover='event.preventDefault()' ondrop='got(event)'><script>"
    script = (
        "got = (e) => { e.preventDefault(); parent.postMessage(e.dataTransfer.files[0].size, '*') }"
    )
    inner = f"{getattr(site, host)}/html?body={quote(body + script + '</script>')}"
    outer = (
        "<script>onmessage = (e) => document.title = `got ${e.data}`</script>"
        f"<iframe src='{inner}' style='margin:50px;border:0' width=400 height=300></iframe>"
    )
    await opened(f"{site.url}/html?body={quote(outer)}")
    await agent.call("browser_screenshot_tab")
    result = await agent.call(UPLOAD, coordinate=[200, 150], **{by: source})
    assert result["effect"]["files"] == [{"name": "a.txt", "size": 10}]
    assert result["trusted"] is (by == "paths")
    assert await in_page("document.title") == "got 10"


@pytest.mark.parametrize("by", ["paths", "files"])
async def test_an_upload_reports_how_the_page_reacts(
    agent: Agent, opened: Opener, site: Site, uploads: Path, by: str
) -> None:
    (uploads / "a.txt").write_bytes(b"some words")
    source: Any = {"paths": ["a.txt"], "files": [in_base64("a.txt", b"some words")]}[by]
    await opened(site.page("upload"))
    result = await agent.call(UPLOAD, selector="#alerting", **{by: source})
    assert result["effect"]["dialog"] == {"type": "alert", "message": "got it"}
    assert (await failure(agent, UPLOAD, selector="#one", **{by: source})).reason == "dialog_open"
    await agent.call("browser_handle_dialog", action="accept")
    sent = await agent.call(UPLOAD, selector="#sending", **{by: source})
    assert sent["effect"]["navigated"].startswith(site.page("form"))


async def test_a_file_is_not_uploaded_to_a_frame_of_a_forbidden_site(
    tmp_path: Path, site: Site
) -> None:
    forbidden = site.other.removeprefix("http://")
    config = {"permissions": {"domains": {forbidden: "off"}}, "uploads": {"folders": None}}
    body = f"<iframe src='{site.other}/upload.html' width=800 height=700></iframe>"
    files = [in_base64("a.txt", b"x")]
    async with rig(tmp_path, config) as here, here.agent("robot") as robot:
        await robot.call("browser_open_tab", url=f"{site.url}/html?body={quote(body)}")
        assert (
            await failure(robot, UPLOAD, selector="#one", files=files)
        ).reason == "element_not_found"
        failed = await failure(robot, UPLOAD, paths=["a.txt"], selector="#one")
        assert failed.reason == "permission_off" and "uploads.folders" in failed.message


async def test_a_browser_that_may_not_read_files_gets_their_bytes(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site, uploads: Path, log: Log
) -> None:
    data = os.urandom(500) * 16_000
    (uploads / "big.bin").write_bytes(data)
    worker = await cdp.worker()
    real = "chrome.extension.isAllowedFileSchemeAccess"
    await cdp.evaluate(worker, f"globalThis.real ??= {real}; {real} = async () => false; 1")
    try:
        await opened(site.page("upload"))
        for selector in ("#one", "#zone"):
            result = await agent.call(UPLOAD, selector=selector, paths=["big.bin"])
            assert result["trusted"] is False
            assert result["effect"]["files"] == [{"name": "big.bin", "size": len(data)}]
        entries = await log(2)
        assert [entry["files"][0][2:] for entry in entries] == [[len(data), total(data)]] * 2
    finally:
        await cdp.evaluate(worker, f"{real} = globalThis.real; 1")
