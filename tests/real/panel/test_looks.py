"""How the panel looks and behaves with the state of a sample: sizes, keyboard, streams, texts."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.browsers.cdp import Cdp, CdpError
from tests.support.browsers.panel import PANEL, Panel
from tests.support.browsers.sample_panel import PAGE, sample_panel
from tests.support.browsers.unpacked import browser_with
from tests.support.eventually import eventually
from tests.support.site import Site

pytestmark = pytest.mark.real_browser

VIEWS = ("now", "tabs", "tools", "plugins", "clients", "remote", "audit", "settings")
ALL: dict[str, Any] = {"approvals": True, "remote": True}
BOX = """(() => {
  const { left, top, right, bottom } = document.querySelector(%s).getBoundingClientRect();
  return { left, top, right, bottom };
})()"""
WIDE = """[...document.querySelectorAll("html, .view:not([hidden]), #waiting")]
  .filter((one) => one.scrollWidth > one.clientWidth)
  .map((one) => one.id || one.tagName)"""


@pytest.fixture
async def cdp(tmp_path: Path) -> AsyncIterator[Cdp]:
    async with browser_with(tmp_path / "browser") as found:
        yield found


async def box(panel: Panel, selector: str) -> dict[str, float]:
    await panel.until(f"!!document.querySelector({json.dumps(selector)})", selector)
    found: dict[str, float] = await panel.value(BOX % json.dumps(selector))
    return found


async def test_two_approvals_fit_a_side_panel_and_the_brake_is_always_in_sight(cdp: Cdp) -> None:
    async with sample_panel(cdp, approvals=True) as panel:
        assert await panel.value("document.querySelectorAll('article').length") == 2
        last = await box(panel, "article:last-child [data-decision=deny]")
        assert last["bottom"] <= 800
        scrolls = "document.querySelector('#waiting')"
        assert await panel.value(f"{scrolls}.scrollHeight <= {scrolls}.clientHeight")
        for view in VIEWS:
            await panel.click(f"#tab-{view}")
            await panel.value(f"document.querySelector('#view-{view}').scrollTo(0, 99999)")
            brake = await box(panel, "[data-action=stop-all]")
            assert brake["top"] >= 0 and brake["bottom"] <= 60 and brake["right"] <= 360


@pytest.mark.parametrize("size", [(320, 640), (360, 800), PAGE])
async def test_nothing_is_wider_than_the_panel(cdp: Cdp, size: tuple[int, int]) -> None:
    connection = "document.querySelector('#connection')"
    async with sample_panel(cdp, size=size, **ALL) as panel:
        assert await panel.value(f"{connection}.scrollWidth <= {connection}.clientWidth")
        for view in VIEWS:
            await panel.view(view)
            assert await panel.value(WIDE) == [], view


async def test_a_full_page_has_two_columns(cdp: Cdp) -> None:
    async with sample_panel(cdp, "audit", size=PAGE, **ALL) as panel:
        calls, audit = await box(panel, "#calls"), await box(panel, "#audit")
        assert calls["right"] < audit["left"]
        assert not await panel.value("!!document.querySelector('#tab-now')")


async def test_the_views_are_tabs_for_the_keyboard(cdp: Cdp) -> None:
    async with sample_panel(cdp) as panel:
        await panel.value("document.querySelector('#tab-now').focus()")
        for key, view in (("ArrowRight", "tabs"), ("End", "settings"), ("ArrowRight", "now")):
            await panel.key(key)
            await panel.until(f"document.activeElement.id === 'tab-{view}'", view)
            selected = "document.querySelector('[role=tab][aria-selected=true]').dataset.view"
            assert await panel.value(selected) == view
            assert await panel.value(f"document.querySelector('#view-{view}').hidden") is False
        outline = "getComputedStyle(document.activeElement).outlineStyle"
        assert await panel.value(outline) == "solid"
        await panel.click("[data-view=audit]")
        await panel.until("!document.querySelector('#view-audit').hidden", "the view")


async def test_half_typed_forms_survive_updates_and_other_views(cdp: Cdp) -> None:
    async with sample_panel(cdp, "plugins") as panel:
        await panel.click("[data-settings] summary")
        field = "document.querySelector('[data-setting=token] input')"
        await panel.value(f"{field}.focus(), {field}.value = 'half-ty'")
        again = "sample.send('state', {...sample.STATE, stopped: true})"
        await panel.value(again)
        await panel.text("[data-action=resume-all]")
        assert await panel.value(f"[{field}.value, document.activeElement === {field}]") == [
            "half-ty",
            True,
        ]
        await panel.click("#tab-now")
        await panel.click("#tab-plugins")
        assert await panel.value(f"{field}.value") == "half-ty"


STREAM = """(async () => {
  const start = (id) => ({ id: `stream-${id}`, tool: "t", title: "Tool", plugin: "browser",
    session: "s1", client: "laptop", agent: "", tabId: 11, startedAt: Date.now() });
  for (let id = 0; id < %d; id++) {
    sample.send("tool.invocationStart", start(id));
    sample.send("tool.invocationEnd", { ...start(id), outcome: "done", reason: null,
      durationMs: 1, bytes: 1 });
    await new Promise((next) => setTimeout(next, 20));
  }
})()"""


async def test_calls_that_stream_move_nothing_else_and_nothing_under_the_pointer(cdp: Cdp) -> None:
    async with sample_panel(cdp) as panel:
        await panel.text("[data-call=k9]")
        before = await box(panel, "#agents")
        await panel.value(STREAM % 50)
        await panel.until("!!document.querySelector('[data-call=stream-49]')", "the stream")
        assert await box(panel, "#agents") == before
        assert await panel.value("document.querySelectorAll('#calls > li').length") <= 60
        await panel.hover("[data-call=stream-49]")
        place = await box(panel, "[data-call=stream-49]")
        await panel.value(
            "sample.send('tool.invocationStart', {id: 'new', title: 'New', "
            "session: 's1', tabId: null, startedAt: Date.now()})"
        )
        await panel.until("document.body.innerText.includes('1 newer')", "the count")
        assert await box(panel, "[data-call=stream-49]") == place
        await panel.hover("#bar")
        await panel.text("[data-call=new]")


MARKUP = "<img src=x onerror='globalThis.isHurt = true'><script>globalThis.isHurt = true</script>"
HOSTILE = {
    "markup": MARKUP,
    "directions": "\u202e\u2066right to left\u200f",
    "controls": "a\u0000b\u001b[31m\r\n\t\u2028",
    "length": "w" * 100_000,
}


@pytest.mark.parametrize("kind", HOSTILE)
async def test_what_strangers_write_is_text_in_every_view(cdp: Cdp, kind: str) -> None:
    async with sample_panel(cdp, hostile=HOSTILE[kind], **ALL) as panel:
        for view in VIEWS:
            await panel.view(view)
            await panel.until(f"document.querySelector('#view-{view}').innerText.length > 20", view)
            assert await panel.value("globalThis.isHurt") is None
            found = "[...document.querySelectorAll('img, script[src=\"\"], b, font')]"
            foreign = f"{found}.filter((one) => !one.src?.startsWith('data:image/')).length"
            assert await panel.value(foreign) == 0
            assert await panel.value(WIDE) == [], view
            assert await panel.value("document.body.innerText.length") < 60_000, view
            brake = await box(panel, "[data-action=stop-all]")
            assert brake["bottom"] <= 60 and brake["right"] <= 360


async def test_markup_cannot_be_set_in_the_panel_and_no_page_can_frame_it(
    cdp: Cdp, site: Site
) -> None:
    async with sample_panel(cdp) as panel:
        sink = "try { document.body.innerHTML = '<b>x</b>' } catch (error) { error.name }"
        assert await panel.value(sink) == "TypeError"
        policy = "try { trustedTypes.createPolicy('any', {}) } catch (error) { error.name }"
        assert await panel.value(policy) == "TypeError"
    page = await cdp.open(site.page("form"))
    loaded = "location.protocol === 'http:' && document.readyState === 'complete'"
    await eventually(lambda: cdp.evaluate(page, loaded), "the page", ignore=(CdpError,))
    frame = f"""new Promise((resolve) => {{
      const frame = document.createElement("iframe");
      frame.src = {json.dumps(PANEL)};
      frame.onload = () => resolve(frame.contentWindow.length);
      document.body.append(frame);
    }})"""
    await cdp.evaluate(page, frame)
    targets = (await cdp.send("Target.getTargets"))["targetInfos"]
    assert [target["url"] for target in targets if target["url"].startswith(PANEL)] == []


async def test_a_thousand_questions_are_bounded_and_every_client_is_among_them(cdp: Cdp) -> None:
    flood = """sample.send("state", { ...sample.STATE, confirmations: Array.from(
      { length: 1000 },
      (_, index) => ({ ...sample.CONFIRMATIONS[0], id: `q${index}`,
        client: index < 999 ? "loud" : "quiet" }),
    ) })"""
    async with sample_panel(cdp) as panel:
        await panel.value(flood)
        await panel.until("document.querySelectorAll('article').length === 20", "the cards")
        assert "980 more wait" in await panel.text("#approvals-more")
        clients = (
            "[...document.querySelectorAll('article .facts strong')].map((one) => one.innerText)"
        )
        assert "quiet" in await panel.value(clients)


async def test_the_question_that_the_person_comes_for_has_the_focus(cdp: Cdp) -> None:
    async with sample_panel(cdp, approvals=True) as panel:
        await panel.value("sample.send('confirmation.focus', { id: 'c2' })")
        focused = "document.activeElement.dataset.confirmation"
        await eventually(lambda: panel.value(focused), until=lambda now: now == "c2")


async def test_what_a_card_is_about_is_outlined_while_the_person_looks_at_it(cdp: Cdp) -> None:
    asked = "sample.asked.filter(([method]) => method === 'confirmation.outline').map(([, p]) => p)"
    async with sample_panel(cdp, approvals=True) as panel:
        await panel.hover("[data-confirmation=c1] h3")
        await eventually(
            lambda: panel.value(asked), until=lambda now: now == [{"id": "c1", "shown": True}]
        )
        await panel.hover("#bar")
        hidden = {"id": "c1", "shown": False}
        await eventually(lambda: panel.value(asked), until=lambda now: now[-1] == hidden)
        await panel.hover("[data-confirmation=c2] h3")
        assert await panel.value(f"{asked}.length") == 2, "a script has no element"


async def test_a_yes_for_the_whole_site_is_in_the_menu_and_its_end_can_be_chosen(cdp: Cdp) -> None:
    async with sample_panel(cdp, approvals=True) as panel:
        main = "[...document.querySelectorAll('[data-confirmation=c1] .choices > button')]"
        assert await panel.value(f"{main}.map((one) => one.innerText)") == ["Allow once", "Deny"]
        await panel.click("[data-confirmation=c1] [data-other-ways] summary")
        ends = "document.querySelector('[data-confirmation=c1] [data-ends]')"
        await panel.until(f"{ends}.disabled === false", "the choice")
        await panel.value(f"{ends}.value = '3600'")
        await panel.click("[data-confirmation=c1] button[data-scope=site]")
        asked = "sample.asked.find(([method]) => method === 'confirmation.response')?.[1]"
        answer = await panel.until(asked, "the answer")
        assert answer == {"id": "c1", "decision": "allow", "scope": "site", "seconds": 3600}
