"""An extension and a server of different versions: which is older, what is reported and refused."""

import json
import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from tabhub import __version__
from tabhub.browser.link.browsers import MOST_MISMATCHES, Browsers
from tabhub.cli.doctor import checks as doctor
from tabhub.cli.doctor.finding import Inspection
from tabhub.cli.server import server_status as status
from tabhub.hub.hub import Hub
from tabhub.server.status import PRIVATE
from tabhub.wire import link_versions as versions
from tabhub.wire.link_versions import End, Mismatch
from tests.support.browsers.extension import connected, tab
from tests.support.eventually import eventually
from tests.support.serving import SECRET, client, served

CASES = json.loads(Path(__file__).with_name("versions.json").read_text())
"""The extension's own tests read them too: both ends must agree."""
EXTENSION = Path(__file__).parents[3] / "extension"
NEXT = End(2, "9.0.0")


@pytest.fixture
def newer_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make this server support only protocol 2."""
    monkeypatch.setattr(versions, "SERVER", NEXT)
    monkeypatch.setattr(versions, "OLDEST_PROTOCOL", 2)


async def health(port: int) -> dict[str, Any]:
    async with client(port) as http:
        report: dict[str, Any] = (await http.get("/health")).json()
        return report


async def closing(port: int, *names: str) -> tuple[list[dict[str, Any]], int | None, str | None]:
    """The messages that an extension gets until it is closed, with the code and the reason."""
    received = []
    offered = [Subprotocol(name) for name in ("tabhub", SECRET, "profile-a", *names)]
    async with connect(f"ws://127.0.0.1:{port}/ws", subprotocols=offered) as socket:
        with pytest.raises(ConnectionClosed):
            while True:
                received.append(json.loads(await socket.recv()))
    return received, socket.close_code, socket.close_reason


def test_the_extension_in_this_package_is_of_the_servers_version() -> None:
    manifest = json.loads((EXTENSION / "manifest.json").read_text())
    assert versions.mismatch(End(versions.PROTOCOL, manifest["version"])) is None
    assert versions.SERVER == End(versions.PROTOCOL, __version__)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['extension']} {case['server']}")
def test_the_older_one_is_named(case: dict[str, Any]) -> None:
    mismatch = versions.mismatch(End(*case["extension"]), End(*case["server"]))
    if case["older"] is None:
        assert mismatch is None
        return
    assert mismatch is not None
    word, do = (
        ("older", "update the extension")
        if case["older"] == "extension"
        else (
            "newer",
            "update tabhub",
        )
    )
    assert f"is {word} than this server" in mismatch.says and mismatch.do.startswith(do)
    assert mismatch.is_refused == (case.get("refusedBy") == "server")


@pytest.mark.parametrize(
    ("offered", "end"),
    [
        ("v1-0.1.0", End(1, "0.1.0")),
        ("v12-1.2.3.4", End(12, "1.2.3.4")),
        ("v1-", None),
        ("1-0.1.0", None),
        ("v-0.1", None),
        ("v1-\x1b[31m", None),
        ("v1-" + "9" * 41, None),
        ("v9999999-1", None),
    ],
)
def test_the_offered_version_of_an_extension_is_parsed_or_ignored(
    offered: str, end: End | None
) -> None:
    assert versions.parse(offered) == end
    if end is not None:
        assert versions.offered(end) == offered


async def test_the_same_version_is_not_reported(caplog: pytest.LogCaptureFixture) -> None:
    async with served() as server, connected(server.port) as extension:
        await extension.sync(tab(1))
        report = await health(server.port)
    assert (report["browsers"][0]["mismatch"], report["refusedBrowsers"]) == (None, [])
    assert "than this server" not in caplog.text


@pytest.mark.parametrize(
    ("offered", "says", "do"),
    [
        ("v2-0.0.9", "(0.0.9, protocol 2) is older than this server (", "update the extension"),
        ("v1-99.0", "(99.0, protocol 1) is older than this server (", "update the extension"),
        (None, "(version unknown, protocol 1) is older than", "update the extension"),
        ("v2-99.0", "(99.0, protocol 2) is newer than this server (", "update tabhub: pip install"),
        ("v3-0.1.0", "(0.1.0, protocol 3) is newer than this server (", "update tabhub"),
    ],
)
async def test_another_version_is_served_and_reported_once(
    offered: str | None, says: str, do: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with served() as server:
        for _ in range(2):
            async with connected(server.port, version=offered) as extension:
                await extension.sync(tab(1))
                report = await health(server.port)
    mismatch = report["browsers"][0]["mismatch"]
    assert says in mismatch["says"] and mismatch["do"].startswith(do)
    assert not mismatch["isRefused"] and report["refusedBrowsers"] == []
    lines = [record for record in caplog.records if says in record.getMessage()]
    assert [(line.levelno, do in line.getMessage()) for line in lines] == [(logging.WARNING, True)]


@pytest.mark.usefixtures("newer_server")
@pytest.mark.parametrize("names", [(), ("v1-0.1.0",)])
async def test_an_extension_that_is_too_old_gets_the_version_that_refuses_it(
    names: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    async with served() as server:
        received, code, reason = await closing(server.port, *names)
        await closing(server.port, *names)
        report = await health(server.port)
        async with connected(server.port, version="v2-9.0.0") as extension:
            await extension.sync(tab(1))
            after = await health(server.port)
    (greeting,) = received
    assert greeting["params"]["protocol"] == 2
    assert greeting["params"]["server"] == {"name": "tabhub", "version": "9.0.0"}
    assert (code, reason) == (versions.INCOMPATIBLE, "incompatible")
    assert (report["browsers"], len(report["refusedBrowsers"])) == ([], 1)
    says = report["refusedBrowsers"][0]["mismatch"]["says"]
    assert says.endswith("(9.0.0, protocol 2), and the two cannot work together.")
    assert caplog.text.count("cannot work together") == 1
    assert after["refusedBrowsers"] == []


@pytest.mark.usefixtures("newer_server")
async def test_a_refused_extension_does_not_replace_a_connection() -> None:
    async with served() as server, connected(server.port, version="v2-9.0.0") as extension:
        await extension.sync(tab(1))
        await closing(server.port, "v1-0.1.0")
        await extension.settled()


async def test_an_extension_that_refuses_this_server_is_listed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with served() as server:
        for _ in range(2):
            async with connected(server.port, version="v7-7.0") as extension:
                await extension.socket.close(versions.INCOMPATIBLE)
            await eventually(lambda: not server.app.browsers.all())
        report = await health(server.port)
    (refused,) = report["refusedBrowsers"]
    assert refused["id"] == "profile-a"
    assert refused["mismatch"]["do"] == f"update tabhub: {versions.UPDATE_SERVER}"
    assert caplog.text.count("cannot work together") == 1


def test_an_agent_does_not_see_refused_browsers() -> None:
    assert "refusedBrowsers" in PRIVATE


FOUND = {"says": "The extension is older.", "do": "update it", "isRefused": False}
BROWSER = {"name": "Chrome", "version": "1", "kind": "personal", "panels": 1, "ready": True}


def test_status_names_the_program_to_update() -> None:
    facts = {
        **{"version": "1", "port": 1, "pid": 1, "uptime": 1, "extensionConnections": 1},
        **{"agents": 0, "toolCount": 1, "stopped": False, "skipPermissions": False},
        "browsers": [{**BROWSER, "mismatch": FOUND}, {**BROWSER, "mismatch": None}],
        "refusedBrowsers": [{"id": "x", "mismatch": FOUND}],
    }
    lines = list(status._lines(facts))
    assert lines.count("    The extension is older.") == lines.count("    do: update it") == 2


def test_doctor_warns_of_another_version_and_fails_on_a_refused_one() -> None:
    facts = {
        "browsers": [{**BROWSER, "mismatch": FOUND}],
        "refusedBrowsers": [{"id": "x", "mismatch": FOUND}],
    }
    checks = list(doctor.connected(cast(Inspection, SimpleNamespace(server=facts))))
    levels = [(check.level, check.do) for check in checks if check.says == FOUND["says"]]
    assert levels == [("warn", "update it"), ("fail", "update it")]


def test_only_the_last_refused_profiles_are_kept() -> None:
    browsers = Browsers(Hub())
    for number in range(MOST_MISMATCHES + 5):
        browsers.mismatched(str(number), Mismatch("a", "b", True))
    assert len(browsers.refused()) == MOST_MISMATCHES
