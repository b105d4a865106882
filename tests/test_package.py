"""What is published: a wheel with everything in it, and a description that reads well."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from tempfile import mkdtemp
from zipfile import ZipFile

import pytest

from scripts.hatch_build import with_absolute_links
from tabhub import __version__
from tests.built_package import ROOT, built_once
from tests.support.browsers.unpacked import browser_with, paired
from tests.support.eventually import eventually
from tests.support.site import serving

pytestmark = pytest.mark.slow
MOST_BYTES = 3_000_000
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return built_once(tmp_path_factory)


@pytest.fixture(scope="module")
def metadata(built: tuple[Path, Path]) -> Message:
    with ZipFile(built[0]) as wheel:
        return message_from_bytes(wheel.read(f"tabhub-{__version__}.dist-info/METADATA"))


def test_the_checker_of_the_index_accepts_both_files(built: tuple[Path, Path]) -> None:
    command = [sys.executable, "-m", "twine", "check", "--strict", *map(str, built)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout.count("PASSED")) == (0, 2), done.stdout


def test_the_wheel_is_small_and_has_the_extension_and_all_data(built: tuple[Path, Path]) -> None:
    assert built[0].stat().st_size <= MOST_BYTES
    with ZipFile(built[0]) as wheel:
        names = set(wheel.namelist())
    listed = subprocess.run(
        ["git", "ls-files", "src/tabhub", "extension"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    files = [name for name in listed.stdout.splitlines() if (ROOT / name).exists()]
    expected = {
        re.sub("^extension/", "tabhub/_extension/", name.removeprefix("src/")) for name in files
    }
    assert len(expected) > 500
    assert expected - names == set()
    assert {name for name in names if "node_modules" in name or "__pycache__" in name} == set()


def test_the_page_of_the_package_has_no_link_that_leads_nowhere(metadata: Message) -> None:
    text = metadata.get_payload()
    assert isinstance(text, str) and text.startswith("# tabhub")
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert links and [link for link in links if not link.startswith(("https://", "#"))] == []


def test_addresses_and_versions_of_python_are_named(metadata: Message) -> None:
    urls = dict(url.split(", ") for url in metadata.get_all("Project-URL", []))
    assert urls == PROJECT["urls"]
    assert {"Changelog", "Documentation", "Issues", "Source"} <= urls.keys()
    assert metadata["Requires-Python"] == ">=3.11"
    versions = {f"Programming Language :: Python :: 3.{minor}" for minor in (11, 12, 13, 14)}
    assert versions <= {*metadata.get_all("Classifier", [])}


def test_links_are_made_absolute_and_pictures_raw() -> None:
    text = "[a](docs/a.md#b) ![p](docs/p.gif) [c](https://c.test/) [d](#d)"
    assert with_absolute_links(text, "https://s.test/x") == (
        "[a](https://s.test/x/blob/main/docs/a.md#b) ![p](https://s.test/x/raw/main/docs/p.gif)"
        " [c](https://c.test/) [d](#d)"
    )


LATER = [kind.split()[-1] for kind in PROJECT["classifiers"] if re.search(r":: 3\.1[2-9]$", kind)]


@pytest.mark.parametrize("version", LATER)
def test_every_dependency_has_a_wheel_for_every_python_that_is_named(
    built: tuple[Path, Path], tmp_path: Path, version: str
) -> None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
    other = ["--python-version", version, "--only-binary=:all:"]
    lock = ["-c", str(ROOT / "requirements.lock"), "--target", str(tmp_path)]
    command = [*pip, *other, *lock, str(built[0])]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


class OtherPython:
    """tabhub under a Python of a later Debian, in the folder where `make pythons` puts it."""

    def __init__(self, version: str, wheel: Path) -> None:
        self._root = ROOT / ".venv" / "pythons" / version
        if not self._root.exists():
            pytest.skip("make pythons fetches it")
        self.folder = Path(mkdtemp(dir=self._root / "tmp"))
        self.home = self.folder / ".tabhub"
        wheels = self.folder / "wheels"
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--dest", str(wheels)]
        lock = ["-c", str(ROOT / "requirements.lock")]
        other = ["--python-version", version, "--only-binary=:all:"]
        subprocess.run([*pip, *other, *lock, str(wheel)], check=True, capture_output=True)
        self._inside = Path("/tmp", self.folder.name)
        self.run(f"/usr/bin/python{version}", "-m", "venv", str(self._inside / "env"))
        install = ("-m", "pip", "install", "--quiet", "--no-index", "tabhub", "--find-links")
        self.run(str(self._inside / "env/bin/python"), *install, str(self._inside / "wheels"))

    def run(self, *command: str) -> str:
        variables = {"HOME": str(self._inside), "PATH": "/usr/sbin:/usr/bin"}
        chroot = ["chroot", str(self._root), *command]
        done = subprocess.run(chroot, env=variables, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout

    def tabhub(self, *words: str) -> str:
        return self.run(str(self._inside / "env/bin/tabhub"), *words)

    @contextmanager
    def serving(self) -> Iterator[int]:
        """A running server, with its port; afterwards nothing of it is left."""
        try:
            self.tabhub("start", "--background", "--port", "0")
            yield json.loads(self.tabhub("status", "--json"))["port"]
            self.tabhub("stop")
        finally:
            if (self.home / "server.pid").exists():
                os.kill(json.loads((self.home / "server.pid").read_text())["pid"], signal.SIGKILL)
            shutil.rmtree(self.folder)


@pytest.mark.real_browser
@pytest.mark.parametrize("version", LATER)
async def test_later_pythons_get_to_a_call_in_a_browser(
    built: tuple[Path, Path], tmp_path: Path, version: str
) -> None:
    other = OtherPython(version, built[0])
    with serving() as site, other.serving() as port:
        secret = json.loads((other.home / "extension" / "auth.json").read_text())["secret"]
        async with browser_with(tmp_path, paired(port, secret)):
            await eventually(lambda: json.loads(other.tabhub("status", "--json"))["browsers"])
            page = f"url={site.url}/html?body=<button>Press me</button>"
            opened = other.tabhub("tool", "call", "browser_open_tab", page, "--json")
            tab = str(json.loads(opened)["structuredContent"]["tabId"])
            click = ("browser_click_element", "find=Press", "--tab-id", tab)
            clicked = other.tabhub("tool", "call", *click)
    assert "Press me" in opened and "Clicked" in clicked
