"""Twenty agents with ten tabs each in one real browser: no agent reaches tabs of another."""

import asyncio
import random
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest

from tests.support.agent import Agent, ToolFailed
from tests.support.product import Product
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.slow]
AGENTS, TABS, TRIES = 20, 10, 30
PAGE = "/html?body=<textarea></textarea>"


@pytest.mark.timeout(600)
@pytest.mark.requirement("TH-23")
async def test_twenty_agents_with_ten_tabs_each_never_interfere(tmp_path: Path, site: Site) -> None:
    product = Product(tmp_path / "home")
    with product.running("start", "--port", "0", "--browser", "--headless"):
        port = product.wait_browser()["port"]
        names = [f"agent-{number}" for number in range(AGENTS)]
        tokens = [product.run("client", "add", name).stdout.strip() for name in names]
        async with AsyncExitStack() as stack:
            agents = [
                Agent(
                    await stack.enter_async_context(
                        httpx.AsyncClient(
                            base_url=f"http://127.0.0.1:{port}",
                            headers={"Authorization": f"Bearer {token}"},
                            timeout=120,
                        )
                    )
                )
                for token in tokens
            ]

            async def open_all(agent: Agent) -> list[int]:
                url = site.url + PAGE
                return [
                    (await agent.call("browser_open_tab", url=url))["tabId"] for _ in range(TABS)
                ]

            owned = await asyncio.gather(*map(open_all, agents))
            everything = [tab for tabs in owned for tab in tabs]
            assert len({*everything}) == AGENTS * TABS

            async def work(number: int) -> None:
                rolled = random.Random(number)
                for _ in range(TRIES):
                    tab = rolled.choice([*everything, *owned[number] * AGENTS])
                    call = agents[number].call(
                        "browser_type_text", selector="textarea", text=names[number], tabId=tab
                    )
                    if tab in owned[number]:
                        await call
                        continue
                    with pytest.raises(ToolFailed) as failed:
                        await call
                    assert failed.value.reason == "foreign_tab"

            await asyncio.gather(*map(work, range(AGENTS)))
            for agent, name, tabs in zip(agents, names, owned, strict=True):
                code = "document.querySelector('textarea').value"
                for tab in tabs:
                    found = await agent.call("browser_execute_script", code=code, tabId=tab)
                    assert found["value"] in ("", name)
                listed = (await agent.call("browser_list_tabs"))["tabs"]
                assert {tab["tabId"] for tab in listed if tab["usable"]} == {*tabs}
