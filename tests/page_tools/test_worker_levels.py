"""The level that a pairing carries: for calls through the origin's page worker, and no others."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tabhub.config import settings as files
from tabhub.config.paths import Home
from tabhub.config.settings import Settings
from tabhub.errors import InvalidArguments, NotFound
from tabhub.server.serving import Server
from tests.support.agent import Agent, ToolFailed
from tests.support.browsers.extension import connected, tab
from tests.support.browsers.worker import ONE, OTHER, SHOP, FakeWorker, admitted, connecting, tool
from tests.support.serving import client, served

PAY = "website_tool_shop_example_pay"
LOCAL = "http://localhost:4711"
LOCAL_PAY = "website_tool_localhost_4711_pay"
COMMAND = f"tabhub page allow {SHOP} --level auto"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").create()


@asynccontextmanager
async def shop(
    server: Server, pairing: dict[str, str] | None = None, **tools: Any
) -> AsyncIterator[tuple[Agent, FakeWorker]]:
    """An agent, and a paired page of the shop where one can pay."""
    async with admitted(server, pairing=pairing) as worker, client(server.port) as http:
        await worker.register(ONE, tool("pay", **tools))
        yield Agent(http), worker


async def refused(agent: Agent, name: str = PAY, **arguments: Any) -> ToolFailed:
    with pytest.raises(ToolFailed) as failed:
        await agent.text(name, **arguments)
    return failed.value


@pytest.mark.requirement("MT-01")
async def test_a_paired_page_runs_a_call_where_there_is_no_panel(home: Home) -> None:
    async with served(home=home) as server, shop(server) as (agent, worker):
        assert await worker.answered(agent.text(PAY)) == ONE
        check = await agent.call("permissions_check", tool=PAY)
        assert (check["decision"], check["source"]) == ("allow", "policy")
    assert files.load(home).permissions.workers == {SHOP: "auto"}


async def test_the_same_site_through_the_extension_is_judged_as_before() -> None:
    async with served() as server, shop(server) as (agent, worker):
        async with connected(server.port) as extension:
            await extension.sync(tab(1), kind="personal")
            await extension.publish(1, tool("pay"))
            failed = await refused(agent, tabId=1)
            assert failed.reason == "approval_unavailable" and "page allow" not in failed.message
            assert await worker.answered(agent.text(PAY, tabId=ONE)) == ONE


async def test_a_tab_that_the_extension_knows_too_is_judged_as_before() -> None:
    async with served() as server, shop(server) as (agent, _), connected(server.port) as extension:
        await extension.sync(tab(1), kind="personal")
        await extension.publish(1, workerId=ONE)
        for named in (1, ONE):
            assert (await refused(agent, tabId=named)).reason == "approval_unavailable"


async def test_an_origin_paired_earlier_keeps_its_level_until_a_person_changes_it(
    home: Home,
) -> None:
    async with served(home=home) as server, shop(server) as (_, worker):
        pairing = worker.pairing
        # As versions without levels left it.
        server.app.rules.set_level("workers", SHOP, None)
    settings = files.load(home)
    async with served(settings, home=home) as server, shop(server, pairing) as (agent, worker):
        failed = await refused(agent)
        assert failed.reason == "approval_unavailable"
        assert f"opened it, or has run: {COMMAND}." in failed.message
        server.app.pairing.confirm(SHOP, None)
        assert (await refused(agent)).reason == "approval_unavailable"
        body = {"origin": SHOP, "level": "auto"}
        assert (await agent.http.post("/pages/allow", json=body)).json()["level"] == "auto"
        assert await worker.answered(agent.text(PAY)) == ONE


async def test_origins_allowed_by_a_pattern_keep_the_usual_level() -> None:
    settings = Settings(worker_origins=["http://localhost:*"])
    async with served(settings) as server, client(server.port) as http:
        server.app.pairing.confirm("http://localhost:*", None)
        async with connecting(server.port, LOCAL) as worker:
            await worker.paired(server.port, None)
            await worker.next()
            await worker.register(ONE, tool("pay"))
            failed = await refused(Agent(http), LOCAL_PAY)
            assert f"tabhub page allow {LOCAL} --level auto" in failed.message
            server.app.pairing.change_level(LOCAL, "auto")
            assert await worker.answered(Agent(http).text(LOCAL_PAY)) == ONE
        with pytest.raises(InvalidArguments, match="nothing was done"):
            server.app.pairing.confirm("http://localhost:*", None, "auto")


@pytest.mark.parametrize(
    ("policy", "domains", "reason"),
    [
        ('[domains]\n"shop.example" = "ask"', {}, "approval_unavailable"),
        ('[domains]\n"shop.example" = "off"', {}, "permission_off"),
        ('[defaults]\npersonal = "ask"', {}, "approval_unavailable"),
        ('[toolsets]\npages = "ask"', {}, "approval_unavailable"),
        ('[sites]\ndeny = ["shop.example"]', {}, "permission_off"),
        ("", {"shop.example": "ask"}, "approval_unavailable"),
        ("", {"shop.example": "off"}, "permission_off"),
    ],
)
async def test_a_pairing_never_loosens_what_a_person_has_written(
    home: Home, policy: str, domains: Any, reason: str
) -> None:
    home.policy.write_text(policy)
    settings = Settings()
    settings.permissions.domains = domains
    async with served(settings, home=home) as server, shop(server) as (agent, _):
        failed = await refused(agent)
        assert failed.reason == reason and "page allow" not in failed.message


async def test_a_tool_that_declares_itself_destructive_is_asked_about() -> None:
    hints = {"destructiveHint": True}
    async with served() as server, shop(server, annotations=hints) as (agent, worker):
        failed = await refused(agent)
        assert failed.reason == "approval_unavailable"
        assert f"has run: tabhub permissions set {PAY} auto." in failed.message
        server.app.rules.set_level("tools", PAY, "auto")
        assert await worker.answered(agent.text(PAY)) == ONE


async def test_a_changed_level_counts_at_once_and_after_a_restart(home: Home) -> None:
    async with served(home=home) as server, shop(server) as (agent, worker):
        pairing = worker.pairing
        server.app.pairing.change_level(SHOP, "off")
        failed = await refused(agent)
        assert failed.reason == "permission_off" and f'"{SHOP}" = off' in failed.message
        assert COMMAND in failed.message
        server.app.pairing.change_level(SHOP, "ask")
        assert COMMAND in (await refused(agent)).message
    settings = files.load(home)
    async with served(settings, home=home) as server, shop(server, pairing) as (agent, _):
        assert (await refused(agent)).reason == "approval_unavailable"


async def test_pairing_another_browser_keeps_the_level() -> None:
    async with served() as server, shop(server) as (agent, _):
        server.app.pairing.change_level(SHOP, "ask")
        async with admitted(server):
            assert (await refused(agent)).reason == "approval_unavailable"


async def test_a_level_is_changed_without_pairing_anything() -> None:
    async with served() as server, shop(server) as (agent, _):
        async with connecting(server.port) as stranger:
            code = (await stranger.next())["params"]["code"]
            body = {"origin": SHOP, "level": "ask"}
            answer = (await agent.http.post("/pages/allow", json=body)).json()
            assert (answer["code"], answer["seconds"], answer["level"]) == (None, 0, "ask")
            assert [page["code"] for page in server.app.pairing.waiting()] == [code]
        async with connecting(server.port) as stranger:
            assert (await stranger.next())["method"] == "page/unpaired"


async def test_http_and_https_of_a_host_have_levels_of_their_own() -> None:
    plain = SHOP.replace("https", "http")
    async with served() as server, shop(server) as (agent, worker):
        async with admitted(server, plain) as other:
            await other.register(OTHER, tool("pay"), url=f"{plain}/")
            server.app.pairing.change_level(plain, "off")
            assert (await refused(agent, tabId=OTHER)).reason == "permission_off"
            assert await worker.answered(agent.text(PAY, tabId=ONE)) == ONE


async def test_the_panel_shows_and_sets_the_level(home: Home) -> None:
    async with served(home=home) as server, connected(server.port) as panel:
        async with connecting(server.port) as page:
            await page.next()
            (request,) = (await panel.state())["knocks"]
            assert request["level"] == "auto"
            answer = {**request, "level": "ask", "allowed": True}
            assert "result" in await panel.ask("page.pair", answer)
            await page.next()
            assert (await panel.state())["pages"] == [{"origin": SHOP, "level": "ask"}]
        for level in ("off", None):
            change = {"origin": SHOP, "level": level}
            assert "result" in await panel.ask("config.setPageLevel", change)
            assert (await panel.state())["pages"] == [change]
        strange = await panel.ask("config.setPageLevel", {"origin": LOCAL, "level": "auto"})
        assert strange["error"]["data"]["reason"] == "not_found"
    assert files.load(home).permissions.workers == {}


def test_a_level_of_a_pattern_is_refused_in_the_settings(home: Home) -> None:
    home.config.write_text('{"permissions": {"workers": {"http://localhost:*": "auto"}}}')
    with pytest.raises(InvalidArguments, match="one origin such as"):
        files.load(home)


async def test_only_an_allowed_origin_gets_a_level() -> None:
    async with served() as server:
        with pytest.raises(NotFound, match="nothing was done"):
            server.app.pairing.set_level(SHOP, "auto")
        assert not server.app.pairing.change_level(SHOP, "auto")
