"""Typing and keys in the focused element, waiting, and saved screenshots."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.real.claude_calls import Json, computer, seen_by, texts
from tests.real.conftest import Opener
from tests.real.looking import html, ref
from tests.real.reasons import failure
from tests.support.agent import Agent
from tests.support.browsers.cdp import Cdp
from tests.support.browsers.managed import rig
from tests.support.eventually import eventually_sync
from tests.support.product import Product
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("CB-10")]
VALUE = "document.activeElement.value"


async def focus(agent: Agent, name: str) -> None:
    await computer(agent, "left_click", ref=ref(await agent.text("read_page"), name))


@pytest.mark.document("CB-tools-2")
async def test_text_is_typed_by_trusted_keys_and_the_new_value_is_reported(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    await opened(site.page("points"))
    await focus(agent, "Field")
    result = await computer(agent, "type", text="Ab 1")
    assert result["effect"]["value"] == "Ab 1" and result["trusted"] is True
    seen = seen_by(cdp, site.page("points"))
    keys = [f"keydown field {key} true" for key in ("A", "b", " ", "1")]
    assert (await seen("log"))[-4:] == keys
    assert await seen(VALUE) == "Ab 1"


async def test_letters_of_every_script_long_texts_and_lines_arrive_complete(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    await opened(site.page("form"))
    await focus(agent, "About you")
    await computer(agent, "key", text="ctrl+a Delete")
    seen = seen_by(cdp, site.page("form"))
    text = "Grüße, 世界 👩‍👩‍👧!\nsecond"
    await computer(agent, "type", text=text)
    assert await seen(VALUE) == text
    long = "\n" + "word " * 2000
    await computer(agent, "type", text=long)
    assert await seen(VALUE) == text + long


async def test_a_line_break_is_the_enter_key(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    await opened(site.page("form"))
    await focus(agent, "Email")
    await computer(agent, "type", text="ada@x.org\n")
    assert (await seen_by(cdp, site.page("form"))("sent"))["mail"] == "ada@x.org"


CODE = """<title>Code</title><div>{}</div><script>
for (const box of document.querySelectorAll("input"))
  box.addEventListener("input", () => box.nextElementSibling?.focus());
</script>""".format("<input maxlength=1 aria-label=Digit>" * 4)


async def test_typing_follows_the_focus_from_field_to_field(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    url = html(site, CODE)
    await opened(url)
    seen = seen_by(cdp, url)
    await seen("document.querySelector('input').focus()")
    await computer(agent, "type", text="4711")
    values = "[...document.querySelectorAll('input')].map((box) => box.value).join('')"
    assert await seen(values) == "4711"


async def test_text_without_a_focused_field_is_refused_and_no_key_is_sent(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    await opened(site.page("points"))
    failed = await failure(agent, "computer", action="type", text="lost")
    assert failed.reason == "element_not_found" and "focus" in failed.message
    assert await seen_by(cdp, site.page("points"))("log") == []


async def test_a_read_only_field_takes_no_text(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    await opened(site.page("form"))
    await focus(agent, "Locked")
    failed = await failure(agent, "computer", action="type", text="x")
    assert failed.reason == "readonly"
    assert await seen_by(cdp, site.page("form"))(VALUE) == "fixed"


async def test_letters_choose_in_a_select_and_other_text_is_refused(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    await opened(site.page("form"))
    seen = seen_by(cdp, site.page("form"))
    await seen("document.querySelector('select').focus()")
    await computer(agent, "type", text="Fr")
    assert await seen(VALUE) == "fr"
    for text in ("ß", "x" * 400):
        failed = await failure(agent, "computer", action="type", text=text)
        assert failed.reason == "invalid_arguments"


async def test_text_goes_into_the_frame_that_has_the_focus(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(site.page("frames"))
    await focus(agent, "field far")
    result = await computer(agent, "type", text="across")
    assert result["effect"]["value"] == "across"
    assert 'value="across"' in await agent.text("read_page")


async def test_a_password_is_typed_and_not_reported(tmp_path: Path, site: Site) -> None:
    async with rig(tmp_path) as here, here.agent("robot") as agent:
        await agent.call("navigate", url=site.page("form"))
        page = await agent.text("read_page")
        await computer(agent, "triple_click", ref=ref(page, "Password"))
        result = await agent.result("computer", action="type", text="hunter2")
        assert result["structuredContent"]["effect"]["value"] == "••••••"
        form = ref(page, "Password")
        filled = await agent.result("form_input", ref=form, value="hunter2")
        await computer(agent, "left_click", ref=ref(page, "Email"))
        await computer(agent, "type", text="plain")
        assert "hunter2" not in str([result, filled])
        seen = seen_by(here.cdp, site.page("form"))
        assert await seen("document.querySelector('[name=pass]').value") == "hunter2"
        audit = json.dumps(here.audit())
        assert "hunter2" not in audit and "plain" in audit


@pytest.mark.document("CB-tools-2")
async def test_keys_and_chords_are_pressed_in_order_and_repeated(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    await opened(site.page("points"))
    await focus(agent, "Field")
    await computer(agent, "type", text="abc")
    result = await agent.result("computer", action="key", text="Left BackSpace", repeat=2)
    assert "4 keys" in texts(result)[0]
    seen = seen_by(cdp, site.page("points"))
    assert await seen(VALUE) == "ac"
    await computer(agent, "key", text="ctrl+a x")
    assert await seen(VALUE) == "x"
    await computer(agent, "key", key="Return")
    assert (await seen("log"))[-1] == "keydown field Enter true"


@pytest.mark.parametrize("chord", ["ctrl+=", "cmd+-", "Ctrl+0", "meta++", "a ctrl+shift+-"])
async def test_chords_that_would_zoom_the_page_are_refused(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site, chord: str
) -> None:
    await opened(site.page("points"))
    failed = await failure(agent, "computer", action="key", text=chord)
    assert failed.reason == "invalid_arguments" and "zoom" in failed.message
    assert await seen_by(cdp, site.page("points"))("log") == []


async def test_a_key_that_does_not_exist_is_refused_before_the_first_is_pressed(
    agent: Agent, opened: Opener, cdp: Cdp, site: Site
) -> None:
    await opened(site.page("points"))
    failed = await failure(agent, "computer", action="key", text="a Bogus")
    assert failed.reason == "invalid_arguments" and "Bogus" in failed.message
    assert await seen_by(cdp, site.page("points"))("log") == []


async def test_a_wait_has_its_duration_and_ends_when_it_is_cancelled(
    agent: Agent, opened: Opener, site: Site, product: tuple[Product, int]
) -> None:
    await opened(site.page("points"))
    for seconds in (0, 0.2):
        assert (await computer(agent, "wait", duration=seconds))["waited"] == seconds
    call = asyncio.create_task(agent.result("computer", action="wait", duration=29.5))
    await asyncio.wait({call}, timeout=0.5)
    call.cancel()
    await asyncio.wait({call})

    def ended() -> list[Json]:
        entries = product[0].audit()
        return [entry for entry in entries if entry["arguments"].get("duration") == 29.5]

    assert eventually_sync(ended, "the end of the wait")[0]["error"]["reason"] == "cancelled"


async def test_every_picture_is_saved_under_a_unique_name(
    agent: Agent, opened: Opener, site: Site, saved: Path
) -> None:
    await opened(site.page("points"))
    first, second = [await computer(agent, "screenshot", save_to_disk=True) for _ in range(2)]
    zoomed = await computer(agent, "zoom", region=[0, 0, 50, 50], save_to_disk=True)
    paths = [Path(result["path"]) for result in (first, second, zoomed)]
    assert len({*paths}) == 3
    assert all(path.parent == saved and path.read_bytes()[:2] == b"\xff\xd8" for path in paths)


async def test_without_a_folder_nothing_is_saved(tmp_path: Path, site: Site) -> None:
    off = {"downloads": {"folder": None}}
    async with rig(tmp_path, off) as here, here.agent("robot") as agent:
        await agent.call("navigate", url=site.page("points"))
        failed = await failure(agent, "computer", action="screenshot", save_to_disk=True)
        assert failed.reason == "permission_off" and "downloads.folder" in failed.message
        await computer(agent, "screenshot")
