"""The advice to authors of tools and to agents, as it is written."""

from pathlib import Path

import pytest

from tests.documents.mt.app import SETTINGS, TAB_A, TAB_B, app, real_app

FETCH_USER = """workerClient.registerTool('fetch_user', async (args) => {
  const response = await fetch(`/api/users/${args.id}`);
  return { content: [{ type: 'text', text: await response.text() }] };
})"""
FORM_STATE = """workerClient.registerTool('get_form_state', async () => {
  const formState = { tab: workerClient.getTabId() };
  return { content: [{ type: 'text', text: JSON.stringify(formState) }] };
})"""
PREFERENCES = """workerClient.registerTool(
  'get_user_preferences',
  'Get user preferences from current tab context. NOTE: they may differ per tab.',
  { type: 'object', properties: { name: { type: 'string' } } },
  ({ name }) => `${name} of ${document.title}`,
)"""


@pytest.mark.requirement("MT-04")
@pytest.mark.document("MT-practices-1", "MT-practices-2", "MT-practices-3")
async def test_an_agent_finds_a_tab_by_its_address_and_names_it() -> None:
    async with app() as here:
        await here.open(TAB_B, "get_state", page=SETTINGS)
        await here.open(TAB_A, "get_state")
        (settings,) = [tab for tab in await here.tabs() if "/settings" in tab["url"]]
        assert await here.routed("get_state", tabId=settings["tabId"]) == TAB_B
        assert await here.routed("get_state") == TAB_A, "without an id the focused tab"
        guessed = await here.failure("get_state", tabId="some-random-id")
        assert guessed.reason == "tab_not_found"


@pytest.mark.real_browser
@pytest.mark.requirement("MT-01")
@pytest.mark.document("MT-practices-4", "MT-practices-5", "MT-practices-6")
async def test_tools_are_registered_by_name_and_handler_alone(tmp_path: Path) -> None:
    async with real_app(tmp_path) as here:
        users = tmp_path / "site" / "api" / "users"
        users.mkdir(parents=True)
        (users / "7").write_text("Ada")
        tabs = [await here.tab(), await here.tab()]
        for page, _ in tabs:
            await here.value(page, FETCH_USER)
            await here.value(page, FORM_STATE)
        await here.have("get_form_state", *(tab for _, tab in tabs))
        fetch_user, form = [
            (await here.tool(name))["name"] for name in ("fetch_user", "get_form_state")
        ]
        for _, tab in tabs:
            assert await here.agent.text(fetch_user, id=7, tabId=tab) == "Ada"
            assert await here.agent.text(form, tabId=tab) == f'{{"tab":"{tab}"}}'
        described = (await here.tool("fetch_user"))["description"]
        assert described.endswith("fetch user")


@pytest.mark.real_browser
@pytest.mark.requirement("MT-01")
@pytest.mark.document("MT-practices-7")
async def test_what_a_description_says_about_tabs_reaches_the_agent(tmp_path: Path) -> None:
    async with real_app(tmp_path) as here:
        page, _ = await here.tab("settings")
        await here.value(page, PREFERENCES)
        found = await here.tool("get_user_preferences")
        assert "NOTE: they may differ per tab." in found["description"]
        answer = await here.agent.text(found["name"], name="Theme")
        assert answer == "Theme of Settings - My App"
