"""Questions in a person's own browser: they wait, have words, and one yes can cover a site."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.agent import Agent
from tests.support.browsers.cdp import Cdp
from tests.support.browsers.managed import Rig, failure, started
from tests.support.browsers.panel import PANEL
from tests.support.browsers.persons import PanelPort, panel_port, persons_browser
from tests.support.eventually import eventually
from tests.support.site import Site

pytestmark = pytest.mark.real_browser

OUTLINE = "[...document.documentElement.children].some((one) => one.matches(':popover-open'))"
ACTIONS: list[tuple[str, dict[str, Any]]] = [
    ("browser_type_text", {"find": "Search", "text": "lamp"}),
    ("browser_press_key", {"selector": "#words", "key": "Enter"}),
    ("browser_hover_element", {"selector": "#order"}),
    ("browser_select_option", {"selector": "#size", "value": "l"}),
    ("browser_click_element", {"selector": "#gift"}),
    ("browser_scroll", {"direction": "down"}),
    ("browser_drag", {"from": {"selector": "#item"}, "to": {"selector": "#slot"}}),
    ("browser_click_element", {"find": "Order"}),
    ("browser_click_element", {"selector": "#asks"}),
    ("browser_handle_dialog", {"action": "accept"}),
    ("browser_navigate_tab", {"url": "reload"}),
    ("browser_close_tab", {}),
]


class Shop(NamedTuple):
    here: Rig
    agent: Agent
    page: str
    tab: int

    @property
    def cdp(self) -> Cdp:
        return self.here.cdp

    async def value(self, code: str) -> Any:
        return await self.cdp.evaluate(self.page, code)


@asynccontextmanager
async def shopping(folder: Path, site: Site, scope: str = "once") -> AsyncIterator[Shop]:
    """An agent's tab with the shop in a person's browser, opened with a yes of this scope."""
    async with persons_browser(folder) as here, here.agent("robot") as agent:
        call = started(agent.call("browser_open_tab", url=site.page("asked")))
        panel = await panel_port(here.cdp)
        request = await panel.allow(scope)
        assert request["words"] == f"Open {request['origin']}"
        tab = (await call)["tabId"]
        await panel.close()
        yield Shop(here, agent, await here.cdp.page(site.page("asked")), tab)


@pytest.mark.requirement("OT-34")
async def test_thirteen_actions_on_one_site_ask_one_question(tmp_path: Path, site: Site) -> None:
    async with shopping(tmp_path, site, "site_session") as shop:
        for tool, arguments in ACTIONS:
            result = await shop.agent.result(tool, tabId=shop.tab, **arguments)
            assert not result.get("isError"), (tool, result)
            if tool == "browser_handle_dialog":
                assert await shop.value("done") == ["search", "ordered", "true"]
        calls = [entry for entry in shop.here.audit() if entry["plugin"] == "browser"]
        assert len(calls) == 13
        assert [entry["tool"] for entry in calls if entry["verdict"] == "asked"] == [
            "browser_open_tab"
        ]
        panel = await panel_port(shop.cdp)
        opened = await shop.agent.call("browser_open_tab", url=site.page("asked"))
        script = shop.agent.call("browser_execute_script", code="1", tabId=opened["tabId"])
        asked = started(script)
        assert (await panel.allow())["words"].startswith("Run a script on ")
        assert await asked == {"value": 1}


async def test_without_a_panel_a_question_waits_and_its_notification_leads_to_it(
    tmp_path: Path, site: Site
) -> None:
    async with shopping(tmp_path, site) as shop:
        click = started(shop.agent.call("browser_click_element", selector="#order"))
        notices = "chrome.notifications.getAll().then((all) => Object.keys(all))"
        (notice,) = await eventually(lambda: shop.cdp.in_worker(notices), "a notification")
        badge = "chrome.action.getBadgeText({})"
        assert await shop.cdp.in_worker(badge) == "1"
        assert not click.done()
        await shop.cdp.in_worker(f"chrome.notifications.onClicked.dispatch({notice!r})")

        async def opened() -> str | None:
            targets = (await shop.cdp.send("Target.getTargets"))["targetInfos"]
            return next((one["targetId"] for one in targets if one["url"] == PANEL), None)

        panel = PanelPort(shop.cdp, await eventually(opened, "the panel in a tab"))
        request = await panel.allow()
        assert notice == f"approval:{request['id']}"
        assert (await click)["trusted"] is True
        assert await shop.value("done") == ["ordered"]
        await eventually(lambda: shop.cdp.in_worker(badge), "no badge", until=lambda text: not text)
        assert await shop.cdp.in_worker(notices) == []


async def test_a_question_survives_the_panel_and_the_worker(tmp_path: Path, site: Site) -> None:
    async with shopping(tmp_path, site) as shop:
        panel = await panel_port(shop.cdp)
        click = started(shop.agent.call("browser_click_element", selector="#order"))
        asked = await panel.question()
        await panel.close()
        await shop.cdp.kill_worker()
        again = await panel_port(shop.cdp)
        waiting = await again.allow()
        assert waiting["id"] == asked["id"]
        assert (await click)["trusted"] is True
        assert await shop.value("done") == ["ordered"]


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("browser_click_element", {"selector": "#order"}, "Click the button “Order” on "),
        ("browser_click_element", {"find": "order"}, "Click the button “Order” on "),
        ("browser_click_element", {"coordinate": None}, "Click the button “Order” on "),
        (
            "browser_type_text",
            {"selector": "#words", "text": "x”\u202ey"},
            "Type “x'y” into the text field “Search” on ",
        ),
        (
            "browser_type_text",
            {"selector": "#secret", "text": "hunter2"},
            "Type •••••• into the text field “Password” on ",
        ),
        (
            "browser_drag",
            {"from": {"selector": "#item"}, "to": {"find": "Cart"}},
            "Drag the element “Lamp” to the element “Cart” on ",
        ),
    ],
)
async def test_a_question_names_what_is_acted_on(
    tmp_path: Path, site: Site, tool: str, arguments: dict[str, Any], words: str
) -> None:
    async with shopping(tmp_path, site) as shop:
        if "coordinate" in arguments:
            await shop.agent.call("browser_screenshot_tab", tabId=shop.tab)
            arguments = {"coordinate": await shop.value(_MIDDLE)}
        panel = await panel_port(shop.cdp)
        call = started(shop.agent.call(tool, tabId=shop.tab, **arguments))
        request = await panel.question()
        assert request["words"].startswith(words) and request["hasTarget"]
        await panel.allow()
        assert (await call)["trusted"] is True


FOCUS: list[tuple[str, str, dict[str, Any], str]] = [
    (
        "words.focus()",
        "browser_press_key",
        {"key": "Enter"},
        "Press Enter in the text field “Search” on ",
    ),
    (
        "order.focus()",
        "browser_press_key",
        {"key": "Enter"},
        "Press Enter on the button “Order” on ",
    ),
    ("1", "browser_press_key", {"key": "End"}, "Press End in the page on "),
    (
        "words.focus()",
        "computer",
        {"action": "type", "text": "lamp"},
        "Type “lamp” into the text field “Search” on ",
    ),
    (
        "secret.focus()",
        "computer",
        {"action": "type", "text": "hunter2"},
        "Type •••••• into the text field “Password” on ",
    ),
]


@pytest.mark.parametrize(("before", "tool", "arguments", "words"), FOCUS)
async def test_keys_are_asked_about_with_what_has_the_focus(
    tmp_path: Path, site: Site, before: str, tool: str, arguments: dict[str, Any], words: str
) -> None:
    async with shopping(tmp_path, site) as shop:
        await shop.value(f"{before}; 1")
        panel = await panel_port(shop.cdp)
        call = started(shop.agent.result(tool, tabId=shop.tab, **arguments))
        request = await panel.question()
        assert request["words"].startswith(words) and request["hasTarget"]
        await panel.allow()
        assert not (await call).get("isError"), await call


@pytest.mark.parametrize(
    "change",
    [
        "secret.focus()",
        "words.blur()",
        "words.labels[0].firstChild.data = 'Amount '",
        "document.body.append(words); words.focus()",
        "inner = document.createElement('iframe'); document.body.append(inner); inner.focus()",
    ],
)
async def test_keys_for_another_element_than_was_asked_about_are_not_sent(
    tmp_path: Path, site: Site, change: str
) -> None:
    async with shopping(tmp_path, site) as shop:
        await shop.value("words.focus(); 1")
        panel = await panel_port(shop.cdp)
        call = started(shop.agent.call("browser_press_key", tabId=shop.tab, key="Enter"))
        await panel.question()
        await shop.value(
            f"document.addEventListener('keydown', () => done.push('hit')); {change}; 1"
        )
        await panel.allow()
        assert (await failure(call)).reason == "target_changed"
        assert await shop.value("done") == []


@pytest.mark.parametrize("is_changed", [False, True])
async def test_a_dialog_is_named_and_another_one_is_not_answered(
    tmp_path: Path, site: Site, is_changed: bool
) -> None:
    async with shopping(tmp_path, site) as shop:
        await shop.value("asks.onclick = () => done.push(confirm('Sure?'), confirm('Pay?')); 1")
        panel = await panel_port(shop.cdp)
        click = started(shop.agent.call("browser_click_element", tabId=shop.tab, selector="#asks"))
        await panel.allow()
        assert (await click)["effect"]["dialog"]["message"] == "Sure?"
        arguments = {"action": "accept", "tabId": shop.tab}
        answer = started(shop.agent.call("browser_handle_dialog", **arguments))
        request = await panel.question()
        assert request["words"].startswith("Accept the page's question “Sure?” on ")
        assert not request["hasTarget"]
        if is_changed:
            await answered_elsewhere(shop)
        await panel.allow()
        if is_changed:
            assert (await failure(answer)).reason == "target_changed"
        else:
            assert (await answer)["answered"]["message"] == "Sure?"


async def answered_elsewhere(shop: Shop) -> None:
    """The dialog is dismissed without the agent, and the page shows the next one."""
    order = "'Page.handleJavaScriptDialog', { accept: false }"
    await shop.cdp.in_worker(f"chrome.debugger.sendCommand({{ tabId: {shop.tab} }}, {order})")
    kept = "chrome.storage.session.get('dialogs').then((all) => JSON.stringify(all.dialogs ?? []))"
    await eventually(
        lambda: shop.cdp.in_worker(kept), "the next dialog", until=lambda text: "Pay?" in text
    )


CHOOSES = """const input = Object.assign(document.createElement("input"), { type: "file" });
input.ariaLabel = "Receipt";
document.body.prepend(input);
order.onclick = () => input.click();
1"""


@pytest.mark.parametrize(
    ("change", "reason"), [("1", None), ("input.ariaLabel = 'Tax return'", "target_changed")]
)
async def test_an_upload_is_asked_about_with_the_input_whose_chooser_is_open(
    tmp_path: Path, site: Site, change: str, reason: str | None
) -> None:
    async with shopping(tmp_path, site) as shop:
        await shop.value(CHOOSES)
        panel = await panel_port(shop.cdp)
        click = started(shop.agent.call("browser_click_element", tabId=shop.tab, selector="#order"))
        await panel.allow()
        assert (await click)["effect"]["dialog"]["type"] == "file_chooser"
        files = [{"name": "a.txt", "data": "YQ=="}]
        upload = shop.agent.result("browser_upload_files", tabId=shop.tab, files=files)
        call = started(upload)
        request = await panel.question()
        assert request["words"].startswith("Upload files to the ")
        assert "“Receipt”" in request["words"]
        await shop.value(f"{change}; 1")
        await panel.allow()
        result = await call
        assert result.get("isError", False) is (reason is not None), result
        assert (reason or "") in str(result)
        assert await shop.value("input.files.length") == (1 if reason is None else 0)


async def test_an_element_in_a_frame_of_another_site_is_asked_about_once_with_both_sites(
    tmp_path: Path, site: Site
) -> None:
    async with shopping(tmp_path, site) as shop:
        inner = site.page("form").replace("127.0.0.1", "localhost")
        embed = f"""new Promise((loaded) => {{
          const frame = Object.assign(document.createElement("iframe"), {{ src: {inner!r} }});
          frame.onload = () => loaded(true);
          document.body.prepend(frame);
        }})"""
        await shop.value(embed)
        panel = await panel_port(shop.cdp)
        call = started(shop.agent.call("browser_click_element", tabId=shop.tab, selector="#mail"))
        request = await panel.question()
        assert request["words"].startswith("Click the text field “Email” on localhost")
        assert ", inside 127.0.0.1" in request["words"] and request["hasTarget"]
        await panel.allow()
        assert (await call)["trusted"] is True
        clicks = [one for one in shop.here.audit() if one["tool"] == "browser_click_element"]
        assert [one["verdict"] for one in clicks] == ["asked"]


_MIDDLE = """(() => {
  const { x, y, width, height } = order.getBoundingClientRect();
  return [x + width / 2, y + height / 2];
})()"""


@pytest.mark.parametrize(
    "change",
    [
        "inner.textContent = 'Pay 1000'",
        "order.replaceWith(order.cloneNode(true))",
        "order.remove()",
        "order.setAttribute('role', 'link')",
        "document.body.appendChild(document.createElement('form')).append(order)",
        "order.setAttribute('formaction', '/pay')",
    ],
)
@pytest.mark.parametrize("by", ["selector", "coordinate"])
async def test_an_element_that_was_renamed_replaced_or_moved_is_not_acted_on(
    tmp_path: Path, site: Site, change: str, by: str
) -> None:
    async with shopping(tmp_path, site) as shop:
        await shop.agent.call("browser_screenshot_tab", tabId=shop.tab)
        target = {"selector": "#order"} if by == "selector" else {}
        target |= {} if target else {"coordinate": await shop.value(_MIDDLE)}
        panel = await panel_port(shop.cdp)
        call = started(shop.agent.call("browser_click_element", tabId=shop.tab, **target))
        await panel.question()
        await shop.value(f"document.addEventListener('click', () => done.push('hit')); {change}; 1")
        await panel.allow()
        failed = await failure(call)
        assert failed.reason == "target_changed"
        assert await shop.value("done") == []


async def test_a_point_means_what_it_meant_when_the_person_was_asked(
    tmp_path: Path, site: Site
) -> None:
    async with shopping(tmp_path, site) as shop:
        await shop.agent.call("browser_screenshot_tab", tabId=shop.tab)
        panel = await panel_port(shop.cdp)
        point = await shop.value(_MIDDLE)
        call = started(shop.agent.call("browser_click_element", tabId=shop.tab, coordinate=point))
        await panel.question()
        part = {"x": 10, "y": 10, "width": 600, "height": 350}
        await shop.agent.call("browser_screenshot_tab", tabId=shop.tab, region=part)
        await shop.value("document.addEventListener('click', () => done.push('hit')); 1")
        await panel.allow()
        assert (await failure(call)).reason == "target_changed"
        assert await shop.value("done") == []


HIT = """for (const name of ["click", "change", "input", "drop"]) {
  document.addEventListener(name, () => done.push("hit"));
}"""
MOMENTS: list[tuple[str, dict[str, Any], str]] = [
    # The mouse is over it before it is pressed.
    (
        "browser_click_element",
        {"selector": "#order"},
        "order.addEventListener('mouseover', () => (inner.textContent = 'Pay 1000'))",
    ),
    (
        "browser_click_element",
        {"coordinate": None},
        "order.addEventListener('mouseover', () => (inner.textContent = 'Pay 1000'))",
    ),
    (
        "browser_click_element",
        {"selector": "#order"},
        "order.addEventListener('mouseover', () => order.setAttribute('formaction', '/pay'))",
    ),
    # It is waited for while something covers it.
    (
        "browser_click_element",
        {"selector": "#order"},
        """order.insertAdjacentHTML('beforebegin', '<p id=veil></p>'),
        veil.style.cssText = 'position: fixed; inset: 0; margin: 0; background: #eee',
        setTimeout(() => { inner.textContent = 'Pay 1000'; veil.remove() }, 700)""",
    ),
    (
        "browser_press_key",
        {"selector": "#order", "key": "Enter"},
        "order.onfocus = () => (inner.textContent = 'Pay 1000')",
    ),
    (
        "browser_drag",
        {"from": {"selector": "#item"}, "to": {"selector": "#slot"}},
        "item.addEventListener('mouseover', () => (item.textContent = 'All lamps'))",
    ),
    (
        "browser_drag",
        {"from": {"selector": "#item"}, "to": {"selector": "#slot"}},
        "slot.addEventListener('dragover', () => (slot.textContent = 'Pay 1000'))",
    ),
]


@pytest.mark.parametrize(("tool", "arguments", "change"), MOMENTS)
async def test_an_element_that_changes_in_the_last_moment_is_not_acted_on(
    tmp_path: Path, site: Site, tool: str, arguments: dict[str, Any], change: str
) -> None:
    async with shopping(tmp_path, site) as shop:
        if "coordinate" in arguments:
            await shop.agent.call("browser_screenshot_tab", tabId=shop.tab)
            arguments = {"coordinate": await shop.value(_MIDDLE)}
        panel = await panel_port(shop.cdp)
        call = started(shop.agent.call(tool, tabId=shop.tab, **arguments))
        await panel.question()
        await shop.value(f"{HIT}; {change}; 1")
        await panel.allow()
        assert (await failure(call)).reason == "target_changed"
        assert await shop.value("done") == []


async def test_agents_never_see_the_outline(tmp_path: Path, site: Site) -> None:
    async with shopping(tmp_path, site) as shop:

        async def seen() -> list[Any]:
            read = await shop.agent.text("browser_read_page", tabId=shop.tab)
            html = await shop.agent.text("browser_get_page_html", tabId=shop.tab)
            found = await shop.agent.call("browser_query_elements", tabId=shop.tab, selector="div")
            picture = await shop.agent.result(
                "browser_screenshot_tab", tabId=shop.tab, format="png"
            )
            images = [part["data"] for part in picture["content"] if part["type"] == "image"]
            return [_unfenced(read), _unfenced(html), len(found["elements"]), images]

        before = await seen()
        panel = await panel_port(shop.cdp)
        click = started(shop.agent.call("browser_click_element", selector="#order"))
        id = (await panel.question())["id"]
        await panel.ask("confirmation.outline", id=id, shown=True)
        await eventually(lambda: shop.value(OUTLINE), "the outline")
        assert await seen() == before
        await eventually(lambda: shop.value(OUTLINE), "the outline to be back")
        await panel.ask("confirmation.outline", id=id, shown=False)
        await eventually(lambda: shop.value(f"!{OUTLINE}"), "no outline")
        await panel.ask("confirmation.outline", id=id, shown=True)
        await eventually(lambda: shop.value(OUTLINE), "the outline")
        await panel.ask("confirmation.response", id=id, decision="deny")
        assert (await failure(click)).reason == "permission_denied"
        await eventually(lambda: shop.value(f"!{OUTLINE}"), "no outline")


async def test_what_an_action_changes_is_the_same_while_an_outline_is_shown(
    tmp_path: Path, site: Site
) -> None:
    async with shopping(tmp_path, site, "site_session") as shop:
        shop.here.product.run("permissions", "set", "browser_click_element", "ask")
        await shop.value("size.onchange = () => (inner.textContent = size.value); 1")

        async def changes(value: str) -> str:
            arguments = {"tabId": shop.tab, "selector": "#size", "value": value}
            told = await shop.agent.text("browser_select_option", observe="changes", **arguments)
            return re.sub(r"\[(page|end) \w+\]", "", told)

        before = [await changes("l"), await changes("s")]
        assert '"l"' in before[0] and '"s"' in before[1]
        panel = await panel_port(shop.cdp)
        click = started(shop.agent.call("browser_click_element", tabId=shop.tab, selector="#asks"))
        id = (await panel.question())["id"]
        await panel.ask("confirmation.outline", id=id, shown=True)
        for expected, value in zip(before, ("l", "s"), strict=True):
            await eventually(lambda: shop.value(OUTLINE), "the outline")
            assert await changes(value) == expected
        await panel.ask("confirmation.response", id=id, decision="deny")
        await failure(click)


@pytest.mark.parametrize("end", ["panel", "worker"])
async def test_the_outline_ends_with_the_panel_and_with_the_worker(
    tmp_path: Path, site: Site, end: str
) -> None:
    async with shopping(tmp_path, site) as shop:
        panel = await panel_port(shop.cdp)
        click = started(shop.agent.call("browser_click_element", selector="#order"))
        id = (await panel.question())["id"]
        await panel.ask("confirmation.outline", id=id, shown=True)
        await eventually(lambda: shop.value(OUTLINE), "the outline")
        await (panel.close() if end == "panel" else shop.cdp.kill_worker())
        await eventually(lambda: shop.value(f"!{OUTLINE}"), "no outline")
        assert not click.done()
        click.cancel()


def _unfenced(text: str) -> str:
    """A text without the marks around it and the number of the reading, which differ each time."""
    return "\n".join(line for line in text.splitlines() if not line.startswith(("[", "Read ")))
