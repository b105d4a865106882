"""The fixtures of the kit, in runs of pytest with it."""

import pytest

from tabhub.sdk.testing import live_pages

PLUGIN = """
from tabhub.sdk import Page, Plugin, tool

class Notes(Plugin):
    match = ["*://*.example.com/notes/*"]

    @tool
    async def name(self, page: Page) -> str:
        return await page.title()
"""


@pytest.fixture
def run(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(plugin=PLUGIN)
    return pytester


def _result(run: pytest.Pytester, test: str, *arguments: str) -> pytest.RunResult:
    run.makepyfile(test_it=test)
    kit = ("-p", "tabhub.sdk.testing", "-p", "no:asyncio", "-p", "no:schemathesis", "-rs")
    return run.runpytest_inprocess("--import-mode=importlib", *kit, *arguments)


def test_a_test_gets_the_plugin_and_a_page_at_its_address(run: pytest.Pytester) -> None:
    test = """
    async def test_it(plugin, page):
        assert type(plugin).__name__ == "Notes"
        assert page.url == "https://www.example.com/notes/"
        assert await plugin.name(page) == ""
    """
    _result(run, test).assert_outcomes(passed=1)


def test_an_async_test_that_fails_is_reported(run: pytest.Pytester) -> None:
    result = _result(run, "async def test_it(page):\n    assert await page.has('h1')")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*assert await page.has('h1')*"])


def test_tests_that_are_not_async_run_too(run: pytest.Pytester) -> None:
    _result(run, "def test_it(page):\n    assert page.requests == []").assert_outcomes(passed=1)


def test_the_plugin_is_found_from_a_folder_below(run: pytest.Pytester) -> None:
    run.makepyfile(**{"tests/test_below": "def test_it(plugin):\n    assert plugin.match"})
    _result(run, "").assert_outcomes(passed=1)


def test_without_a_plugin_the_test_says_where_it_was_looked_for(
    pytester: pytest.Pytester,
) -> None:
    result = _result(pytester, "def test_it(page): ...")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*There is no plugin.py in *"])


def test_two_plugins_in_a_file_are_refused(run: pytest.Pytester) -> None:
    run.makepyfile(plugin=f"{PLUGIN}\n\nclass Others(Plugin): ...\n")
    result = _result(run, "def test_it(plugin): ...")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*has 2 plugins, not one*"])


def test_a_test_can_have_a_plugin_of_its_own(run: pytest.Pytester) -> None:
    test = """
    import pytest
    from tabhub.sdk import Plugin

    class Mine(Plugin):
        homepage = "https://mine.example.com/start"

    @pytest.fixture
    def plugin():
        return Mine()

    def test_it(page):
        assert page.url == "https://mine.example.com/start"
    """
    _result(run, test).assert_outcomes(passed=1)


LIVE = "async def test_it(plugin, live_page):\n    assert await plugin.name(live_page) == 'N'"


def test_without_a_server_a_live_test_is_skipped(
    run: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TABHUB_HOME", str(run.path / "home"))
    result = _result(run, LIVE)
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*No tabhub server answers: run `tabhub start`.*"])


TAB = {"tabId": 5, "url": "https://a.example.com/notes/1", "usable": True}


@pytest.mark.parametrize(
    ("tabs", "reason"),
    [
        ([], "No tab is open at *://*.example.com/notes/*"),
        ([TAB | {"url": "https://example.com.evil/notes/"}], "No tab is open at "),
        ([TAB | {"url": "https://example.com/other"}], "No tab is open at "),
        ([TAB | {"usable": False}], "The tab 5 is not shared: share it in the side panel."),
    ],
)
def test_without_a_tab_a_live_test_is_skipped(
    run: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tabs: list[object], reason: str
) -> None:
    monkeypatch.setattr(live_pages, "call_tool", lambda name, arguments: {"tabs": tabs})
    result = _result(run, LIVE)
    result.assert_outcomes(skipped=1)
    assert reason in result.stdout.str()


def test_a_live_page_uses_the_tools_of_the_server(
    run: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = []

    def call_tool(name: str, arguments: dict[str, object]) -> object:
        called.append((name, arguments.get("tabId")))
        return {"tabs": [TAB], "value": {"url": TAB["url"], "title": "N"}}

    monkeypatch.setattr(live_pages, "call_tool", call_tool)
    _result(run, LIVE).assert_outcomes(passed=1)
    assert called == [("browser_list_tabs", None), ("browser_execute_script", 5)]


def test_a_live_page_can_be_opened_and_is_closed_again(
    run: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = []

    def call_tool(name: str, arguments: dict[str, object]) -> object:
        called.append((name, arguments.get("url") or arguments.get("tabId")))
        return {**TAB, "value": {"url": TAB["url"], "title": "N"}}

    monkeypatch.setattr(live_pages, "call_tool", call_tool)
    address = "https://a.example.com/notes/1"
    _result(run, LIVE, f"--live-url={address}").assert_outcomes(passed=1)
    assert called == [
        ("browser_open_tab", address),
        ("browser_execute_script", 5),
        ("browser_close_tab", 5),
    ]
