"""Actions say what they have changed: one read less after almost every action."""

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

import pytest

from tests.real.conftest import Opener
from tests.support.agent import Agent
from tests.support.site import Site

pytestmark = pytest.mark.real_browser
Value = Callable[..., Awaitable[Any]]


async def changed(agent: Agent, tool: str = "browser_click_element", **arguments: Any) -> list[str]:
    """The lines of a result between its marks."""
    lines = (await agent.text(tool, **arguments)).splitlines()
    begins = [at for at, line in enumerate(lines) if line.startswith("[page")]
    if not begins:
        return []
    rest = lines[begins[0] + 1 :]
    return rest[: next(at for at, line in enumerate(rest) if line.startswith("[end"))]


def plain(line: str) -> str:
    """A line without the number of its ref."""
    head, mark, rest = line.partition(" [ref_")
    return head + rest.partition("]")[2] if mark else head


def html(site: Site, body: str) -> str:
    return f"{site.url}/html?body={quote(body)}"


@pytest.fixture
async def page(opened: Opener, site: Site) -> int:
    return await opened(site.page("observed"))


@pytest.mark.usefixtures("page")
async def test_a_new_dialog_comes_first_by_name_with_its_buttons(agent: Agent) -> None:
    lines = await changed(agent, selector="#open")
    assert [plain(line) for line in lines] == [
        '+dialog "Delete everything?"',
        '+ "This cannot be undone."',
        '+ button "Keep"',
        '+ button "Delete"',
        '+"2 items, asking"',
    ]
    ref = lines[3].partition("[")[2].partition("]")[0]
    assert (await agent.call("browser_click_element", ref=ref))["effect"]["mutated"] is False


@pytest.mark.usefixtures("page")
@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("#agree", ['+checkbox "I agree" checked']),
        ("#reveal", ['+checkbox "Only new"']),
        ("#clear", ['+textbox "Name" required']),
        ("#add", ['+"Eggs"']),
        ("#draw", ['+"Butter"']),
        ("#drop", ['-listitem "Milk"']),
        ("#menu", ['+button "More" expanded']),
        ("#hop", ['focus: textbox "City"']),
        ("#idle", []),
    ],
)
async def test_a_click_says_what_it_changed(
    agent: Agent, selector: str, expected: list[str]
) -> None:
    assert [plain(line) for line in await changed(agent, selector=selector)] == expected


@pytest.mark.usefixtures("page")
async def test_a_box_that_is_not_checked_any_more_is_said_to_be_so(agent: Agent) -> None:
    await changed(agent, selector="#agree")
    lines = await changed(agent, selector="#agree")
    assert [plain(line) for line in lines] == ['+checkbox "I agree" unchecked']


@pytest.mark.usefixtures("page")
async def test_what_the_browser_finds_invalid_is_said(agent: Agent) -> None:
    await changed(agent, selector="#clear")
    lines = await changed(agent, selector="#send")
    assert any("invalid=" in line and line.startswith('+textbox "Name"') for line in lines)


@pytest.mark.usefixtures("page")
async def test_typing_and_keys_say_what_else_changed(agent: Agent) -> None:
    typed = await agent.text("browser_type_text", selector="#city", text="Prague")
    assert "It now holds" in typed
    assert "textbox" not in typed
    pressed = await changed(agent, "browser_press_key", key="Tab", selector="#city")
    assert [plain(line) for line in pressed] == ['focus: button "Send"']
    sent = await changed(agent, "browser_press_key", key="Enter", selector="#city")
    assert [plain(line) for line in sent] == ['+"sent"']


@pytest.mark.usefixtures("page")
async def test_a_request_without_an_answer_is_said_to_be_pending(agent: Agent, site: Site) -> None:
    with site.holding():
        text = await agent.text("browser_click_element", selector="#slow", settle=200)
    assert "1 request pending." in text


async def test_what_is_drawn_again_before_a_request_ends_is_not_said_to_be_new(
    agent: Agent, opened: Opener, site: Site
) -> None:
    body = (
        "<ul id=list><li>One</li><li>Two</li></ul><p id=out></p><button id=go>Go</button>"
        "<script>go.onclick = async () => {"
        " const all = list.innerHTML; list.innerHTML = ''; list.innerHTML = all;"
        " await fetch(location.href); out.textContent = 'Saved'; };</script>"
    )
    await opened(html(site, body))
    assert [plain(line) for line in await changed(agent, selector="#go")] == ['+"Saved"']


@pytest.mark.usefixtures("page")
async def test_observe_none_says_nothing_and_page_shows_the_whole_page(agent: Agent) -> None:
    assert await changed(agent, selector="#open", observe="none") == []
    lines = await changed(agent, selector="#menu", observe="page")
    assert 'heading "Shop" level=1' in lines
    assert any(line.startswith('button "More"') for line in lines)


async def test_a_small_page_is_shown_at_once_and_a_large_one_is_not(
    agent: Agent, site: Site
) -> None:
    small = await agent.text("browser_open_tab", url=site.page("observed"))
    assert 'heading "Shop"' in small
    assert 'heading "Shop"' not in await agent.text(
        "browser_navigate_tab", url=site.page("observed"), observe="none"
    )
    rows = "<script>for (let i = 0; i < 1000; i++) document.write(`<p>paragraph ${i}`)</script>"
    large = await agent.text("browser_navigate_tab", url=html(site, rows))
    assert "paragraph 7" not in large
    assert "more than 1500 tokens" in large
    await agent.call("browser_close_tab")


@pytest.mark.usefixtures("page")
async def test_a_click_that_leads_to_another_page_shows_that_page(agent: Agent) -> None:
    text = await agent.text("browser_click_element", selector="#away")
    assert "The page went to" in text
    assert "textbox" in text


async def test_a_page_that_changes_a_million_nodes_is_told_in_bounds(
    agent: Agent, opened: Opener, site: Site
) -> None:
    script = (
        "box.innerHTML = '<b></b>'.repeat(9e5); "
        "for (let i = 0; i < 1e5; i++) box.append(document.createElement('b'))"
    )
    body = f'<button id=go onclick="{script}">Go</button><div id=box hidden></div>'
    await opened(html(site, body))
    text = await agent.text("browser_click_element", selector="#go")
    assert "(More has changed: read the page.)" in text


async def test_a_page_that_changes_forever_is_told_in_bounds(
    agent: Agent, opened: Opener, site: Site
) -> None:
    add = "document.body.append(Object.assign(document.createElement('p'), {textContent: 'tick'}))"
    script = f"(function more() {{ for (let i = 0; i < 50; i++) {add}; setTimeout(more) }})()"
    await opened(html(site, f'<button id=go onclick="{script}">Go</button>'))
    text = await agent.text("browser_click_element", selector="#go")
    assert '+"tick"' in text
    assert "(More has changed: read the page.)" in text
    assert len(text) < 2500


LARGE = """<style>.modal, .more {display: none} .open, .open + .more, .open .more {display: block}
.error {visibility: hidden} .bad .error {visibility: visible}</style>
<button id=go onclick="modal.classList.add('open')">Go</button><main></main>
<div class=modal id=modal role=dialog aria-label=Sure>Sure?</div><script>
const rows = Array.from({length: 3000}, (_, i) => `<div id=row${i}><h3>Row ${i}</h3>
  <form><button type=button class=check>Check</button><p class=error>Missing ${i}</p></form>
  <div class=fold><b>Fold</b><p class=more>Inside ${i}</p></div>
  <a href="#${i}">link</a></div><p class=more>Details of ${i}</p>`);
const place = document.querySelector("%s");
place.insertAdjacentHTML(place === document.body ? "afterbegin" : "beforeend", rows.join(""));
addEventListener("click", ({target}) => {
  target.closest(".check")?.parentNode.classList.add("bad");
  target.closest(".fold")?.classList.add("open");
  if (target.localName === "h3") target.parentNode.classList.add("open");
});
</script>"""


@pytest.mark.parametrize("place", ["main", "body"])
@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("#go", '+dialog "Sure"'),
        ("#row1500 .check", '+"Missing 1500"'),
        ("#row1500 h3", '+"Details of 1500"'),
        ("#row2999 .fold", '+"Inside 2999"'),
    ],
)
async def test_what_a_click_shows_is_found_in_a_large_page_too(
    agent: Agent, opened: Opener, site: Site, selector: str, expected: str, place: str
) -> None:
    await opened(html(site, LARGE % place))
    assert expected in [plain(line) for line in await changed(agent, selector=selector)]


OFF = '+button "Bold" not pressed'
MIXED = '+checkbox "All" mixed'
SAID = [
    ("<td>Milk<td id=x>1", "x.textContent = 2", ["+Milk | 2"]),
    ("<li>Job <span id=x>Pending</span>", "x.textContent = 'Failed'", ['+"Job Failed"']),
    (
        "<div role=alert><span id=x></span></div>",
        "x.textContent = 'Card was refused'",
        ['+alert "Card was refused"'],
    ),
    ("<p role=status id=x>Busy</p>", "x.textContent = ''", ["+status empty"]),
    (
        "<div role=dialog aria-label=New><p id=x></p></div>",
        "x.textContent = 'This name is taken'",
        ['+"This name is taken"'],
    ),
    (
        "<details id=x><summary>FAQ</summary><p>Because</p></details>",
        "x.open = true",
        ['+button "FAQ" expanded', '+"Because"'],
    ),
    (
        "<ul role=tree><li id=x role=treeitem aria-expanded=false>Files</ul>",
        "x.ariaExpanded = true; x.innerHTML += '<ul role=group><li role=treeitem>a.txt</ul>'",
        ['+treeitem "Files a.txt" expanded', '+treeitem "a.txt"'],
    ),
    (
        "<p id=x hidden><b>Secret</b></p>",
        "x.innerHTML = ''; document.title = 1",
        [],
    ),
    (
        "<div id=x><p role=alert>Wrong password</p></div>",
        "x.innerHTML = x.innerHTML",
        ['+alert "Wrong password"'],
    ),
    (
        "<div role=dialog id=x aria-label=Sure><p>Sure?</p></div>",
        "x.style.display = 'none'",
        ['-dialog "Sure"'],
    ),
    ("<button aria-pressed=true id=x>Bold</button>", "x.ariaPressed = false", [OFF]),
    ("<button disabled id=x>Send</button>", "x.disabled = false", ['+button "Send" enabled']),
    ("<input type=checkbox aria-label=All id=x>", "x.indeterminate = true", [MIXED]),
    (
        "<form id=x><textarea aria-label=Note>draft</textarea></form>",
        "x.innerHTML = x.innerHTML.replace('draft', '')",
        ['+textbox "Note" multiline', '-textbox "Note"'],
    ),
]


@pytest.mark.parametrize(("body", "script", "expected"), SAID)
async def test_what_has_changed_is_said_with_its_words(
    agent: Agent, opened: Opener, site: Site, body: str, script: str, expected: list[str]
) -> None:
    table = "<table><tr>" if body.startswith("<td") else ""
    await opened(html(site, f'<button id=go onclick="{script}">Go</button>{table}{body}'))
    assert [plain(line) for line in await changed(agent, selector="#go")] == expected


KEYS = [
    ("<input type=checkbox checked id=x>", "Space", ['+checkbox "X" unchecked'], ""),
    ("<input type=checkbox id=x>", "Space", ['+checkbox "X" checked'], ""),
    (
        "<button id=x aria-pressed=false onclick='this.ariaPressed = true'></button>",
        "Enter",
        ['+button "X" pressed'],
        "",
    ),
    (
        "<input id=x oninput='y.focus()'><input id=y aria-label=Y value=other>",
        "2",
        ['focus: textbox "Y" value="other"'],
        "2",
    ),
    (
        "<input id=x value=99 onblur='this.value = 10'><input id=y aria-label=Y>",
        "Tab",
        ['focus: textbox "Y"'],
        "10",
    ),
    (
        "<label>0/5 <input id='x' oninput='this.parentNode.firstChild.data = 1'></label>",
        "a",
        ['+textbox "1" value="a"'],
        "a",
    ),
]


@pytest.mark.parametrize(("body", "key", "expected", "value"), KEYS)
async def test_a_key_says_what_it_has_changed_and_what_its_own_field_holds(
    agent: Agent,
    opened: Opener,
    site: Site,
    body: str,
    key: str,
    expected: list[str],
    value: str,
) -> None:
    await opened(html(site, body.replace("id=x", "id=x aria-label=X")))
    text = await agent.text("browser_press_key", selector="#x", key=key)
    shown = text.partition("It now holds ")[2].partition(".")[0]
    assert f"] {value} [end" in shown if value else not shown
    await agent.call("browser_navigate_tab", url="reload")
    lines = await changed(agent, "browser_press_key", selector="#x", key=key)
    assert [plain(line) for line in lines if not line.startswith("[")] == expected


COMPONENTS = """<style>x-page { display: block }</style><x-page></x-page>
<button id=go onclick="act()">Go</button><script>
const define = (name, markup, mode) => customElements.define(name, class extends HTMLElement {
  connectedCallback() { (this.root = this.attachShadow({mode})).innerHTML = markup; }
});
define("x-toast", "<p></p>", "%s");
define("x-box", "<label><input type=checkbox>Agree</label>", "open");
define("x-dialog", "<style>div { display: none } .on { display: block }</style>" +
  "<div role=dialog aria-label=Sure><button>Yes</button></div>", "open");
define("x-page", "<x-toast></x-toast><x-box></x-box><x-dialog></x-dialog>", "%s");
const part = (name) => document.querySelector("x-page").root.querySelector(name).root;
function act() { %s }
</script>"""


@pytest.mark.parametrize("mode", ["open", "closed"])
@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("part('x-toast').querySelector('p').textContent = 'Saved'", ['+"Saved"']),
        ("part('x-box').querySelector('input').checked = true", ['+checkbox "Agree" checked']),
        (
            "part('x-dialog').querySelector('div').classList.add('on')",
            ['+dialog "Sure"', '+ button "Yes"'],
        ),
    ],
)
async def test_what_changes_in_components_elsewhere_is_said(
    agent: Agent, opened: Opener, site: Site, mode: str, script: str, expected: list[str]
) -> None:
    await opened(html(site, COMPONENTS % (mode, mode, script)))
    assert [plain(line) for line in await changed(agent, selector="#go")] == expected


BOXES = """<input id=total aria-label=Total value=0><main></main><script>
const rows = Array.from({length: 1000}, (_, i) => `<label><input type=checkbox id=box${i}>Box ${i}
  </label><button id=by${i} onclick="box${i}.checked = true; total.value = 1">By ${i}</button>`);
document.querySelector("main").innerHTML = rows.join("");
</script>"""


@pytest.mark.parametrize("selector", ["#box700", "#by700", "#by999"])
async def test_a_field_near_the_target_is_noted_among_a_thousand(
    agent: Agent, opened: Opener, site: Site, selector: str
) -> None:
    await opened(html(site, BOXES))
    number = selector.lstrip("#boxy")
    lines = [plain(line) for line in await changed(agent, selector=selector)]
    total = ['+textbox "Total" value="1"'] if selector.startswith("#by") else []
    assert sorted(lines) == sorted([f'+checkbox "Box {number}" checked', *total])


async def test_a_dialog_that_opens_and_closes_every_frame_does_not_hold_up(
    agent: Agent, opened: Opener, site: Site
) -> None:
    script = "setInterval(() => { d.open ? d.close() : d.showModal() }, 16)"
    body = f'<dialog id=d><p>Now</p></dialog><button id=go onclick="{script}">Go</button>'
    await opened(html(site, body))
    assert (await agent.text("browser_click_element", selector="#go")).startswith("Clicked #go.")


async def test_a_change_in_the_page_around_a_frame_is_said_too(
    agent: Agent, opened: Opener, site: Site
) -> None:
    inner = quote("<button id=go onclick=\"parent.postMessage('x', '*')\">Go</button>")
    outer = (
        f'<iframe src="/html?body={inner}"></iframe><p id=p>before</p>'
        "<script>onmessage = () => { p.textContent = 'after' }</script>"
    )
    await opened(html(site, outer))
    assert await changed(agent, selector="#go") == ['+"after"']


@pytest.mark.parametrize("where", ["page", "frame"])
async def test_a_change_in_another_frame_of_the_site_is_said_too(
    agent: Agent, opened: Opener, site: Site, where: str
) -> None:
    script = "top.frames[1].document.body.innerHTML = '<h1>Invoice</h1><button>Pay</button>'"
    button = f'<button id=go onclick="{script}">Go</button>'
    first = button if where == "frame" else "<p>first</p>"
    frames = "".join(f'<iframe src="/html?body={quote(body)}"></iframe>' for body in (first, "x"))
    await opened(html(site, frames + (button if where == "page" else "")))
    await agent.call("browser_wait_for_element", selector="#go")
    lines = await changed(agent, selector="#go")
    assert [plain(line) for line in lines] == ['+heading "Invoice" level=1', '+button "Pay"']
    ref = lines[1].partition("[")[2].partition("]")[0]
    await agent.call("browser_click_element", ref=ref)


UNSEEN = """<style id=css></style><p hidden><b id=deep>Old</b></p><script id=code>let a</script>
<button id=b onclick="document.title = 'Saved'; css.append('.x {}'); deep.textContent = 'New';
code.remove()">Save</button>"""


async def test_what_nobody_saw_is_not_said_to_be_gone(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(html(site, UNSEEN))
    assert await changed(agent, selector="#b") == []


CLOBBERED = """<img name=createTreeWalker><img name=readyState><input id=n>
<div id=box><form><input name=querySelectorAll><input name=outerHTML value=1></form></div>
<button id=b onclick="box.innerHTML = '<form><input name=querySelectorAll><input name=outerHTML '
  + 'value=1><p>Fresh</p></form>'">Draw</button>"""


async def test_a_page_whose_names_cover_those_of_the_browser_is_observed_all_the_same(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(html(site, CLOBBERED))
    assert "Ann" in await agent.text("browser_type_text", selector="#n", text="Ann")
    assert any("Fresh" in line for line in await changed(agent, selector="#b"))


EMPTY = """<div id=box></div><button id=b onclick="for (let i = 0; i < 900; i++) {
  const one = box.appendChild(document.createElement('div'));
  one.innerHTML = '<span></span>'.repeat(900) }">Draw</button>"""


async def test_much_that_says_nothing_costs_little(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(html(site, EMPTY))
    text = await agent.text("browser_click_element", selector="#b")
    assert text.startswith("Clicked #b. ")
    assert await in_page("document.querySelectorAll('span').length") == 810_000


SECRET = """<textarea name=recovery-passphrase id=t></textarea><p id=p>Nothing yet</p>
<button id=b onclick="t.value = 'correct horse'; p.textContent = 'Made'">Generate</button>"""


async def test_a_secret_that_a_page_makes_is_not_shown(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(html(site, SECRET))
    text = await agent.text("browser_click_element", selector="#b")
    assert "Made" in text and "correct horse" not in text
    assert "correct horse" not in await agent.text("browser_read_page")


POPUP = (
    "<div id=app></div><script>setTimeout(() => { app.textContent = 'drawn late'; }, 400)</script>"
)


async def test_a_tab_that_an_action_opens_is_shown_at_once(
    agent: Agent, opened: Opener, site: Site
) -> None:
    body = f"<button id=b onclick=\"window.open('{html(site, POPUP)}')\">Open</button>"
    await opened(html(site, body))
    result = await agent.result("browser_click_element", selector="#b")
    tab = result["structuredContent"]["effect"]["opened"]
    head, _, shown = result["content"][0]["text"].partition(f"\nTab {tab} shows:\n")
    assert f"It opened tab {tab}." in head
    assert shown.splitlines()[1:-1] == ['"drawn late"']
    again = await agent.result("browser_click_element", selector="#b", observe="none")
    assert "drawn late" not in again["content"][0]["text"]
    for popup in (tab, again["structuredContent"]["effect"]["opened"]):
        await agent.call("browser_close_tab", tabId=popup)


TRAY = """<button id=b onclick="fill(); tray()">Edit</button><div id=list></div><script>
function fill() { list.innerHTML = '<p>another line of a list as long as this</p>'.repeat(60) }
function tray() {
  const tray = document.createElement('div');
  tray.style = 'position: absolute; top: 90px';
  tray.innerHTML = '<label>Path <input></label><button>Done</button>';
  document.body.append(tray);
}</script>"""


async def test_a_form_that_lies_over_the_page_comes_before_what_else_is_new(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(html(site, TRAY))
    lines = [plain(line) for line in await changed(agent, selector="#b")]
    assert lines[:2] == ['+textbox "Path"', '+button "Done"']
