"""The library as sites load it: one small file, for modules and for plain scripts."""

import subprocess
from pathlib import Path

import pytest

from tests.support.browsers.plain import PlainBrowser, browser
from tests.support.eventually import eventually
from tests.support.page_events import PageEvents
from tests.support.serving import served
from tests.support.static_site import serving

pytestmark = [pytest.mark.real_browser, pytest.mark.npm]
ROOT = Path(__file__).parents[3]
MOST_BYTES = 13_000
USING = {
    "pagekit.mjs": '<script type="module">import * as tabhub from "./pagekit.mjs"; {use}</script>',
    "pagekit.js": '<script src="pagekit.js"></script><script>{use}</script>',
}
USE = """
const client = new tabhub.WorkerClient({ url: new URLSearchParams(location.search).get("hub") });
client
  .registerTool("hello", "Says hello.", null, () => "hello")
  .then(() => (document.title = "on"));
"""

TSC = ROOT / "tests" / "npm" / "node_modules" / ".bin" / "tsc"
SAMPLE = ROOT / "tests" / "pagekit" / "sample.ts"
RESOLVING = {"bundler": "es2022", "nodenext": "nodenext"}
PLAIN = """/// <reference path="./pagekit.d.ts" />
const client = new tabhub.WorkerClient({ workerUrl: "/pagekit.js" });
const shown = ({ state }: tabhub.Status): string => state;
client.addEventListener("status", ({ detail }) => console.log(shown(detail)));
void tabhub.registerTool("hello", "Says hello.", null, () => "hello", { client });
// @ts-expect-error a tool has a handler
void tabhub.registerTool("hello", "Says hello.", null);
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("built")
    command = [ROOT / "scripts" / "build-pagekit", folder]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for name, page in USING.items():
        (folder / f"{name}.html").write_text(page.replace("{use}", USE))
    return folder, output


@pytest.mark.requirement("MT-01")
def test_the_library_is_small_and_the_build_prints_its_size(built: tuple[Path, str]) -> None:
    folder, output = built
    for name in USING:
        size = (folder / name).stat().st_size
        assert f"{size} bytes" in output and size <= MOST_BYTES


@pytest.mark.requirement("MT-01")
@pytest.mark.parametrize("resolving", RESOLVING)
def test_typescript_finds_the_types_of_both_builds(resolving: str, built: tuple[Path, str]) -> None:
    folder = built[0]
    module = SAMPLE.read_text().replace("../../pagekit/pagekit", "./pagekit.mjs")
    (folder / "module.mts").write_text(module)
    (folder / "plain.ts").write_text(PLAIN)
    flags = ["--noEmit", "--strict", "--target", "es2022", "--lib", "es2022,dom"]
    how = ["--moduleResolution", resolving, "--module", RESOLVING[resolving]]
    command: list[str | Path] = [TSC, *flags, *how, "module.mts", "plain.ts"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.requirement("MT-01")
@pytest.mark.parametrize("name", USING)
async def test_each_build_offers_tools_and_serves_as_its_own_worker(
    name: str, built: tuple[Path, str], tmp_path: Path
) -> None:
    with serving(built[0]) as site:
        async with (
            served() as server,
            browser(tmp_path) as cdp,
        ):
            server.app.pairing.confirm(site, None)
            events = PageEvents(server.app.pages)
            here = PlainBrowser(cdp, site, server.port)
            page = await here.open(f"{site}/{name}.html?hub={here.hub}")
            await here.until(page, "document.title === 'on'")
            await eventually(lambda: ["hello"] in events.tabs.values())
            ((tab, _),) = events.tabs.items()
            result = await events.call(tab, "hello")
            assert result.payload == {"content": [{"type": "text", "text": "hello"}]}
