"""Code for a single tab works unchanged in several."""

from pathlib import Path

import pytest

from tests.documents.mt.app import real_app

pytestmark = [pytest.mark.real_browser, pytest.mark.requirement("MT-01")]
MINE = """workerClient.registerTool('my_tool', 'Does mine.', null, () => document.title)"""


@pytest.mark.document("MT-migration-1", "MT-migration-2", "MT-migration-3")
async def test_the_same_code_works_in_one_tab_and_in_several(tmp_path: Path) -> None:
    async with real_app(tmp_path) as here:
        page, first = await here.tab()
        await here.value(page, MINE)
        name = (await here.tool("my_tool"))["name"]
        assert await here.agent.text(name) == "Dashboard - My App"
        other, second = await here.tab("settings")
        await here.value(other, MINE)
        await here.have("my_tool", first, second)
        await here.looked_at(second)
        assert await here.agent.text(name) == "Settings - My App", "the focused tab, as before"
        assert await here.agent.text(name, tabId=first) == "Dashboard - My App"
