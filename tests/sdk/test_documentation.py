"""docs/python-plugins.md: its samples run, and its reference is complete."""

import re
from pathlib import Path
from typing import Any

import pytest

from scripts import sdk_pages
from tabhub import sdk
from tabhub.sdk import PluginError, describe, testing
from tabhub.sdk.testing import FakePage

PAGE = (Path(__file__).parents[2] / "docs" / "python-plugins.md").read_text()
SAMPLES = re.findall(r"```python ?(\S*)\n(.*?)```", PAGE, re.DOTALL)
FILES = {name: code for name, code in SAMPLES if name}


def _sample(words: str) -> str:
    [found] = [code for name, code in SAMPLES if not name and words in code]
    return str(found)


def _run(code: str) -> dict[str, Any]:
    """The names that a sample defines; it can use those of the SDK and of the first plugin."""
    names: dict[str, Any] = {"__name__": "sample", **vars(sdk), **vars(testing)}
    exec(FILES["plugin.py"], names)
    exec(code, names)
    return names


def test_the_first_plugin_passes_its_tests(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(**{Path(name).stem: code for name, code in FILES.items()})
    kit = ("-p", "tabhub.sdk.testing", "-p", "no:asyncio", "-p", "no:schemathesis")
    arguments = ("--import-mode=importlib", "-o", "pythonpath=.", *kit)
    pytester.runpytest_inprocess(*arguments).assert_outcomes(passed=3)


def test_the_sample_of_settings_is_a_plugin() -> None:
    assert set(describe(_run(_sample("class Wiki"))["Wiki"]).settings) == {"site", "order"}


async def test_the_sample_of_a_page_runs() -> None:
    page = FakePage("https://notes.example.com/")
    for method in ("GET", "PUT"):
        page.answer(method, "/api/notes/1", json={"id": 1, "title": "Tea"})
    page.answer("GET", "/logo.png", content=b"PNG")
    page.answer("GET", "/api/me", status=401)
    page.answer("GET", "/export", chunks=[b"one", b"two"])
    page.elements.add("#editor")
    page.local["token"] = "t"
    page.evaluates("(name) => document.querySelector(name).value.length", 7)
    page.runs("highlight.js", None)
    await _run(_sample("async def backup"))["backup"](page)
    assert page.logs == [("info", "401 3")]
    assert len(page.progress_reports) == 2
    assert page.session == {"seen": "t"}
    assert page.evaluated[-1] == ("highlight.js", [7])


def test_the_sample_of_an_error_is_one() -> None:
    with pytest.raises(PluginError) as caught:
        _run(_sample("raise PluginError"))
    assert (caught.value.code, caught.value.retry_after) == ("locked", 30)


async def test_the_sample_of_a_fake_page_runs() -> None:
    await _run(_sample("async def test_the_page"))["test_the_page"](FakePage())


def test_no_sample_is_left_out() -> None:
    assert len(SAMPLES) == 6


@pytest.mark.parametrize("section", ["sdk", "testing"])
def test_every_public_name_is_in_the_reference(section: str) -> None:
    for name in sdk_pages.names(section):
        assert f"\n### {name}\n" in PAGE
    assert all(f"\n| `{name}` |" in PAGE for name in sdk_pages.FIXTURES)
