"""A tool is listed from its first registration until its last one ends."""

import pytest

from tests.documents.mt.app import TAB_A, TAB_B, App, app

pytestmark = pytest.mark.requirement("MT-05")


async def count(here: App) -> int:
    """How many tabs have the tool; 0 if it is not listed."""
    if "get_data" not in await here.tools():
        return 0
    return len((await here.failure("get_data", tabId="nowhere")).error["tabs"])


@pytest.mark.document("MT-counting-1", "MT-counting-2", "MT-counting-3", "MT-counting-4")
async def test_each_registration_counts_and_only_the_first_and_the_last_change_the_list() -> None:
    async with app() as here:
        changes: list[int] = []
        here.hub.tools.on_change(lambda: changes.append(1))
        await here.register(TAB_A, "get_data")
        assert (await count(here), len(changes)) == (1, 1)
        await here.register(TAB_B, "get_data")
        assert (await count(here), len(changes)) == (2, 1)
        await here.register(TAB_A)
        assert (await count(here), len(changes)) == (1, 1)
        assert await here.routed("get_data") == TAB_B
        await here.close(TAB_B)
        assert (await count(here), len(changes)) == (0, 2)


@pytest.mark.document("MT-counting-6")
async def test_a_tab_that_registers_its_tool_twice_counts_once() -> None:
    async with app() as here:
        for _ in range(2):
            await here.register(TAB_A, "get_data")
        assert await count(here) == 1
        await here.close(TAB_A)
        assert await count(here) == 0
