"""The samples of the documentation run as they stand, in a new home and an empty environment.

`https://example.com` is a page of this machine that looks like it, and the port a free one; what a
person does by hand between two samples is done here as a person does it.
"""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from shutil import copytree
from urllib.parse import quote

import pytest

from tests.built_package import ROOT, built_once
from tests.page_samples import LESSONS, RUN_PAGES, Sample, samples
from tests.support.browsers.cdp import Cdp
from tests.support.browsers.panel import PANEL
from tests.support.browsers.remote import choose, fill, page_of
from tests.support.browsers.unpacked import OPTIONS, browser_with
from tests.support.eventually import eventually
from tests.support.http_client import free_port
from tests.support.site import Site

pytestmark = [pytest.mark.real_browser, pytest.mark.slow]
DOCS = ROOT / "docs"
EXAMPLE = "<h1>Example Domain</h1><p>For use in documents.<p><a href='#more'>More information</a>"
DONE = "the sample is done"


class Shell:
    """A person's shell: one for all samples of a page."""

    def __init__(self, folder: Path, page: str, environment: dict[str, str]) -> None:
        self._folder = folder
        self._page = page
        self._environment = environment
        self._process = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            env=environment,
            cwd=environment["HOME"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    @property
    def output(self) -> str:
        """What the last sample has printed."""
        return (self._folder / "output.txt").read_text()

    def run(self, sample: Sample) -> None:
        """Run every line of it; the first that fails ends the shell."""
        script, output = self._folder / "sample.sh", self._folder / "output.txt"
        own = {"https://example.com": self._page, ":9515": f":{self._environment['TABHUB_PORT']}"}
        script.write_text(re.sub("|".join(own), lambda found: own[found[0]], sample.text))
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        # What it starts in the background must not hold the pipe by which we see the end.
        process.stdin.write(
            f"set -e; . {script} < /dev/null > {output} 2>&1; set +e; echo {DONE}\n"
        )
        process.stdin.flush()
        is_done = process.stdout.readline().startswith(DONE)
        assert is_done, f"line {sample.line}: {sample.text}\n{self.output}"

    def end(self) -> None:
        for home in (".tabhub", "agent-home"):
            folder = Path(self._environment["HOME"], home)
            environment = {**self._environment, "TABHUB_HOME": str(folder)}
            environment.pop("TABHUB_PORT")
            subprocess.run(
                ["bash", "-c", "PATH=~/tabhub-env/bin:$PATH tabhub stop"],
                env=environment,
                capture_output=True,
            )
        os.killpg(self._process.pid, signal.SIGTERM)
        self._process.communicate()


@contextmanager
def shell(folder: Path, site: Site, path: list[Path], **more: str) -> Iterator[Shell]:
    home = folder / "home"
    home.mkdir(exist_ok=True)
    programs = os.pathsep.join(map(str, [*path, "/usr/bin", "/bin"]))
    environment = {"HOME": str(home), "PATH": programs, "TABHUB_PORT": str(free_port()), **more}
    if "TABHUB_BROWSER" in os.environ:
        environment["TABHUB_BROWSER"] = os.environ["TABHUB_BROWSER"]
    found = Shell(folder, f"{site.url}/html?body={quote(EXAMPLE)}", environment)
    try:
        yield found
    finally:
        found.end()


class Person:
    """Who does what the lessons say is to be done by hand, in a Chrome of their own."""

    def __init__(self, folder: Path, stack: AsyncExitStack, shell: Shell) -> None:
        self._folder = folder
        self._stack = stack
        self._shell = shell
        self._browser: Cdp

    async def do(self, what: str) -> None:
        steps = {
            "load the extension": self._load,
            "wait for the proxy": self._wait,
            "enter the code": self._enter,
            "allow laptop": self._allow,
        }
        await steps[what]()

    async def _load(self) -> None:
        # What `tabhub setup` has done before, without its questions.
        self._shell.run(Sample("sh", "tabhub start --background && tabhub extension path", 0))
        home = self._folder / "home" / ".tabhub"

        def as_loaded(extension: Path) -> None:
            copytree(home / "extension", extension, dirs_exist_ok=True)

        browser = browser_with(self._folder / "chrome", as_loaded)
        self._browser = await self._stack.enter_async_context(browser)
        await eventually(self._has_browser, "the browser to connect")

    def _has_browser(self) -> bool:
        self._shell.run(Sample("sh", "tabhub status --json", 0))
        browsers = json.loads(self._shell.output)["browsers"]
        return any(browser["ready"] for browser in browsers)

    async def _wait(self) -> None:
        log = self._folder / "home" / "proxy.log"
        await eventually(
            lambda: "9546" in log.read_text(), "the proxy to listen", ignore=(FileNotFoundError,)
        )

    async def _enter(self) -> None:
        found = re.search(r"\b\w{4}-\w{4}\b", self._shell.output)
        assert found, self._shell.output
        async with page_of(self._browser, OPTIONS) as options:
            await fill(options, address="ws://127.0.0.1:9546", code=found[0])
            await options.click("#remote-accept")

    async def _allow(self) -> None:
        async with page_of(self._browser, f"{PANEL}#remote") as panel:
            await choose(panel, "laptop", "act")
        # The server asks every three seconds whether it may.
        await eventually(self._has_browser, "the server to have the browser")


async def follow(page: Path, folder: Path, shell: Shell, person: Person | None = None) -> None:
    """Do what a page says, from its first line to its last."""
    for sample in samples(page):
        if sample.not_run:
            continue
        if sample.file:
            (folder / "home" / sample.file).write_text(sample.text)
        elif sample.kind == "sh":
            shell.run(sample)
        elif not sample.kind:
            assert person is not None, f"{page.name}: {sample.text}"
            await person.do(sample.text)


@pytest.fixture
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_once(tmp_path_factory)[0]


def python_only(folder: Path) -> Path:
    """A folder with nothing but Python, as a new machine has it."""
    (folder / "bin").mkdir()
    (folder / "bin" / "python3").symlink_to(sys.executable)
    return folder / "bin"


@asynccontextmanager
async def new_machine(folder: Path, site: Site, wheel: Path) -> AsyncIterator[tuple[Shell, Person]]:
    """Where pip finds the wheel as if it were published."""
    pip = {"PIP_FIND_LINKS": str(wheel.parent), "PIP_CONSTRAINT": str(ROOT / "requirements.lock")}
    async with AsyncExitStack() as stack:
        opened = stack.enter_context(shell(folder, site, [python_only(folder)], **pip))
        yield opened, Person(folder, stack, opened)


async def test_every_line_of_the_tutorial_works_in_a_new_home(
    tmp_path: Path, site: Site, wheel: Path
) -> None:
    async with new_machine(tmp_path, site, wheel) as (opened, person):
        for lesson in LESSONS:
            await follow(DOCS / "tutorial" / f"{lesson}.md", tmp_path, opened, person)


@pytest.mark.parametrize("page", RUN_PAGES)
async def test_every_sample_of_a_page_works_beside_a_running_server(
    tmp_path: Path, site: Site, page: str
) -> None:
    with shell(tmp_path, site, [Path(sys.executable).parent]) as opened:
        opened.run(Sample("sh", "tabhub start --browser --background", 0))
        await follow(DOCS / page, tmp_path, opened)
