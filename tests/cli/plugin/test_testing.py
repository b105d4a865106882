"""`tabhub plugin test`."""

from pathlib import Path

import pytest

from tabhub.cli.plugin import testing
from tests.cli.conftest import Here
from tests.plugins.packages import write_package

PLUGIN = """
from tabhub.sdk import Page, Plugin, tool

class Notes(Plugin):
    match = ["https://notes.example.com/*"]

    @tool
    async def name(self, page: Page) -> str:
        return await page.get("/name")
"""
TEST = """
from plugin import Notes

async def test_a_name(plugin, page):
    page.answer("GET", "/name", text="ada")
    assert isinstance(plugin, Notes)
    assert await plugin.name(page) == NAME
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # The plugins of pytest that these tests do not need take seconds to load.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "plugin.py").write_text(PLUGIN)
    (folder / "test_plugin.py").write_text(TEST.replace("NAME", "'ada'"))
    return folder


@pytest.mark.requirement("TH-12")
def test_the_tests_of_a_folder_run_with_the_kit(folder: Path, here: Here) -> None:
    done = here("plugin", "test", str(folder))
    assert (done.returncode, "1 passed" in done.stdout) == (0, True), done.stdout + done.stderr
    assert sorted(one.name for one in folder.iterdir() if one.is_file()) == [
        "plugin.py",
        "test_plugin.py",
    ]


def test_the_current_folder_is_the_default(
    folder: Path, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert here("plugin", "test").returncode == 0


def test_a_failed_test_is_exit_code_1(folder: Path, here: Here) -> None:
    (folder / "test_plugin.py").write_text(TEST.replace("NAME", "'bob'"))
    done = here("plugin", "test", str(folder))
    assert (done.returncode, "1 failed" in done.stdout) == (1, True)


def test_pytest_gets_further_arguments(folder: Path, here: Here) -> None:
    done = here("plugin", "test", str(folder), "--", "-k", "nothing")
    assert (done.returncode, "1 deselected" in done.stdout) == (1, True)


def test_settings_of_a_folder_above_do_not_count(folder: Path, here: Here) -> None:
    (folder.parent / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    assert here("plugin", "test", str(folder)).returncode == 0
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    assert here("plugin", "test", str(folder)).returncode == 1


def test_without_pytest_it_says_how_to_install_it(
    folder: Path, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(testing, "find_spec", lambda name: None)
    done = here("plugin", "test", str(folder))
    assert (done.returncode, done.stdout) == (1, "")
    assert "-m pip install pytest" in done.stderr


def test_a_folder_that_is_not_there_is_named(tmp_path: Path, here: Here) -> None:
    done = here("plugin", "test", str(tmp_path / "nowhere"))
    assert (done.returncode, "There is no folder" in done.stderr) == (1, True)


def test_the_reason_of_a_skipped_test_is_shown(folder: Path, here: Here) -> None:
    skipped = "import pytest\n\ndef test_live():\n    pytest.skip('No server is running')\n"
    (folder / "test_plugin.py").write_text(skipped)
    done = here("plugin", "test", str(folder))
    assert "No server is running" in done.stdout


def test_a_folder_with_a_plugin_in_javascript_is_refused_with_the_command_for_its_tests(
    tmp_path: Path, here: Here
) -> None:
    folder = write_package(tmp_path / "demo")
    done = here("plugin", "test", str(folder))
    assert done.returncode == 1
    assert "plugins in Python" in done.stderr
    assert f"cd {folder} && node --test" in done.stderr
