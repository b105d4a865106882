"""Reading only the changes of a page."""

import pytest

from tests.real.conftest import Opener
from tests.real.looking import Value, page_lines
from tests.support.agent import Agent
from tests.support.site import Site

pytestmark = pytest.mark.real_browser


@pytest.mark.requirement("TH-20")
async def test_a_second_read_has_only_the_changes_since_the_first(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(site.page("form"))
    first = (await agent.call("browser_read_page"))["read"]
    await in_page("document.querySelector('h1').textContent = 'Changed'; 1")
    changed = await agent.result("browser_read_page", since=first)
    assert changed["structuredContent"]["delta"] is True
    assert page_lines(changed["content"][0]["text"]).splitlines() == [
        '-heading "Registration" level=1',
        '+heading "Changed" level=1',
    ]
    second = changed["structuredContent"]["read"]
    assert "Nothing has changed" in await agent.text("browser_read_page", since=second)
    again = await agent.text("browser_read_page", since=first)
    assert '+heading "Changed"' in page_lines(again)


async def test_a_delta_uses_the_options_of_the_earlier_read(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(site.page("form"))
    first = (await agent.call("browser_read_page", filter="interactive"))["read"]
    await in_page(
        "document.body.append('new words', document.createElement('button'));"
        "document.body.lastChild.textContent = 'New'; 1"
    )
    lines = page_lines(await agent.text("browser_read_page", since=first)).splitlines()
    assert [line.split(" [")[0] for line in lines] == ['+button "New"']


async def test_after_a_navigation_the_whole_page_is_read(
    agent: Agent, opened: Opener, site: Site
) -> None:
    await opened(site.page("form"))
    first = (await agent.call("browser_read_page"))["read"]
    await agent.call("browser_navigate_tab", url=site.page("targets"))
    result = await agent.result("browser_read_page", since=first)
    assert result["structuredContent"]["delta"] is False
    text = result["content"][0]["text"]
    assert 'button "Plain"' in page_lines(text)
    assert "Registration" not in text
    assert f"Read {first} is no longer known" in text


async def test_a_delta_larger_than_the_limit_is_cut_and_can_be_continued(
    agent: Agent, opened: Opener, in_page: Value, site: Site
) -> None:
    await opened(site.page("form"))
    first = (await agent.call("browser_read_page"))["read"]
    await in_page(
        "const lines = Array.from({length: 300}, (_, n) => `<p>Line ${n}</p>`);"
        "document.body.innerHTML = lines.join(''); 1"
    )
    parts: list[str] = []
    offset: int | None = 0
    while offset is not None:
        result = await agent.result("browser_read_page", since=first, max_chars=2500, offset=offset)
        parts.append(page_lines(result["content"][0]["text"]))
        offset = result["structuredContent"].get("next")
    assert 1 < len(parts) < 5
    assert [n for n in range(300) if f'+"Line {n}"' in "\n".join(parts)] == list(range(300))
