"""Reading real pages as an agent does."""

import re
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

import pytest

from tests.real.conftest import Opener
from tests.real.looking import ref
from tests.support.agent import Agent, ToolFailed
from tests.support.site import Site

pytestmark = pytest.mark.real_browser
Value = Callable[..., Awaitable[Any]]


async def test_roles_names_states_and_values_are_read_and_passwords_are_not(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(site.page("form"))
    result = await agent.result("browser_read_page")
    text = result["content"][0]["text"]
    for line in (
        'heading "Registration"',
        'textbox "Full name"',
        'textbox "Email"',
        'placeholder="you@example.com"',
        'combobox "Country"',
        'textbox "About you"',
        'textbox "Biography"',
        'checkbox "I agree"',
        'button "Send"',
    ):
        assert line in text
    assert re.search(r'"Locked".*readonly', text)
    assert re.search(r'"Off".*disabled', text)
    assert "old-secret" not in text
    assert re.search(r"\n\nViewport: \d+x\d+$", text)
    shape = result["structuredContent"]
    assert (shape["title"], shape["url"], shape["truncated"]) == ("Form", site.page("form"), False)
    assert shape["nodes"] > 10


@pytest.mark.requirement("TH-20")
async def test_all_frames_appear_beneath_their_element(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(site.page("frames"))
    text = await agent.text("browser_read_page")
    for name in ("Press near", "Press far", "Press deep", "Written button", "Press shadowed"):
        assert f'button "{name}"' in text
    assert "Boxed words" in text
    lines = text.splitlines()
    indent = {line.strip().split(" [")[0]: len(line) - len(line.lstrip()) for line in lines}
    assert (
        indent['button "Press deep"']
        > indent['button "Press far"']
        > indent['heading "Outer" level=1']
    )
    refs = re.findall(r"\[(ref_\d+)\]", text)
    assert len(refs) == len({*refs})


@pytest.mark.requirement("TH-20")
async def test_open_and_closed_shadow_roots_are_read(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(site.page("shadow"))
    text = await agent.text("browser_read_page")
    for name in ("Open card", "Nested button", "open field", "Closed button", "Slotted label"):
        assert name in text


@pytest.mark.requirement("TH-20")
async def test_refs_are_stable_and_off_screen_elements_have_them(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(site.page("targets"))
    before = await agent.text("browser_read_page")
    await in_page("document.body.prepend(document.createElement('button')); 1")
    after = await agent.text("browser_read_page")
    for name in ("Plain", "Far below", "Clickable words"):
        assert ref(before, name) == ref(after, name)


async def test_the_interactive_filter_keeps_interactive_elements(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(site.page("form"))
    text = await agent.text("browser_read_page", filter="interactive")
    assert 'button "Send"' in text
    assert "heading" not in text


async def test_a_subtree_is_read_by_its_ref_and_an_unknown_ref_is_stale(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(site.page("form"))
    country = ref(await agent.text("browser_read_page"), "Country")
    part = await agent.text("browser_read_page", ref_id=country)
    assert "Austria" in part
    assert "Send" not in part
    with pytest.raises(ToolFailed) as failed:
        await agent.call("browser_read_page", ref_id="ref_99999")
    assert failed.value.reason == "stale_ref"


@pytest.mark.requirement("TH-20")
async def test_a_long_page_is_cut_at_a_line_and_can_be_continued_to_its_end(
    agent: Agent, opened: Opener, site: Site
) -> None:
    items = "".join(f"<li><button>Item {n}</button>" for n in range(300))
    await opened(f"{site.url}/html?body={quote(f'<title>long</title><ul>{items}</ul>')}")
    names: list[str] = []
    offset: int | None = 0
    rounds = 0
    while offset is not None:
        result = await agent.result("browser_read_page", max_chars=2000, offset=offset)
        assert len(result["content"][0]["text"]) < 2300
        names += re.findall(r'button "(Item \d+)"', result["content"][0]["text"])
        offset = result["structuredContent"].get("next")
        rounds += 1
    assert names == [f"Item {n}" for n in range(300)]
    assert rounds > 2


async def test_five_hundred_items_fit_in_ten_kilobytes(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(site.page("shadow"))
    await in_page(
        "const items = Array.from({length: 500}, (_, n) => `<li>Item ${n}</li>`);"
        "document.body.innerHTML = `<ul>${items.join('')}</ul>`; 1"
    )
    text = await agent.text("browser_read_page")
    assert "Item 499" in text
    assert len(text) <= 10_240


async def test_a_page_that_clobbers_its_own_document_is_still_read(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    hostile = (
        "<title>x</title><form><input name=children><input name=tagName><input name=parentNode>"
        "<input name=getAttribute><input name=textContent></form>"
        "<img name=body><button>Still here</button>"
        "<script>Element.prototype.getAttribute = () => { throw 1 };"
        "Array.prototype.map = null;</script>"
    )
    await opened(f"{site.url}/html?body={quote(hostile)}")
    assert 'button "Still here"' in await agent.text("browser_read_page")
