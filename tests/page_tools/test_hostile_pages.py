"""Hostile pages: their messages are bounded, reported once, and affect no other page."""

import logging
from collections import Counter
from typing import Any

import msgspec
import pytest

from tabhub.audit.limits import UNFOLDED_OF_SITE
from tabhub.config.settings import Limits, Settings
from tabhub.hub.schema_rules import checked_schema
from tabhub.hub.schema_size import Unfit
from tabhub.page_tools.core.storage import PageRef
from tabhub.page_tools.flood_limits import BURST
from tabhub.page_tools.intake import Registration
from tabhub.server.app import App
from tabhub.wire.pages import Capabilities
from tests.page_tools.memory_transport import MemoryTransport
from tests.support.agent import Agent
from tests.support.browsers.extension import connected, page_tool
from tests.support.serving import client, served

ORIGIN = "https://shop.example"
NEIGHBOUR = "https://bank.example"


def _raw(*tools: Any) -> list[msgspec.Raw]:
    return [msgspec.Raw(msgspec.json.encode(tool)) for tool in tools]


def _register(app: App, tab: int | str, *tools: Any, origin: str = ORIGIN, frame: int = 0) -> None:
    page = PageRef("t", tab, frame)
    app.pages.register(Registration(page, origin, f"{origin}/", "", _raw(*tools), Capabilities()))


def _names(app: App) -> list[str]:
    return [tool.name for tool in app.hub.tools if tool.source == "pages"]


@pytest.fixture
def app() -> App:
    made = App(Settings(limits=Limits(tools_per_tab=50, schema_bytes=10_000)), "5e" * 32)
    _register(made, 9, page_tool("pay"), origin=NEIGHBOUR)
    return made


@pytest.mark.requirement("MB-12")
@pytest.mark.document(
    "MB-hub-5", "MB-transports-2", "MB-notes-2", "MB-architecture-3", "MB-testing-1"
)
@pytest.mark.document("MB-transports-verbs", "MB-principles-5")
async def test_the_hub_runs_on_a_transport_in_memory() -> None:
    async with served() as server, client(server.port) as http:
        transport, page = MemoryTransport(), PageRef("memory", "tab-1")
        server.app.pages.connect("memory", transport)
        transport.pages[page] = lambda call: {"echo": call.args}
        register = {"tools": [page_tool("echo")], "tabUrl": f"{ORIGIN}/x"}
        transport.emit(page, {"method": "browser/registerTools", "params": register})
        agent, name = Agent(http), "website_tool_shop_example_echo"
        # An unknown browser may be a person's own, so that person is asked.
        server.app.rules.permissions.skip = True
        assert await agent.call(name, word="a") == {"echo": {"word": "a"}}
        update = {"tools": [page_tool("other")]}
        transport.emit(page, {"method": "browser/updateTools", "params": update})
        assert _names(server.app) == ["website_tool_shop_example_other"]
        transport.disconnect(page)
        assert _names(server.app) == []


async def test_a_hundred_thousand_tools_are_cut_over_all_frames_together(
    app: App, caplog: pytest.LogCaptureFixture
) -> None:
    tool = msgspec.Raw(msgspec.json.encode(page_tool("x")))
    many = _raw(*(page_tool(f"t{n}") for n in range(100))) + [tool] * 99_900
    app.pages.register(Registration(PageRef("t", 1), ORIGIN, "", "", many, Capabilities()))
    _register(app, 1, page_tool("late"), frame=1)
    assert len(_names(app)) == 51
    assert caplog.text.count("more than 50 tools") == 1
    _register(app, 2, page_tool("fine"))
    assert "website_tool_shop_example_fine" in _names(app)


async def test_the_panel_gets_a_limited_number_of_page_tools() -> None:
    async with served() as server, connected(server.port) as browser:
        tools = [page_tool(f"t{n}") for n in range(300)]
        for tab in (1, 2):
            _register(server.app, tab, *tools, origin=f"https://site-{tab}.example")
        state = await browser.state()
        sites = Counter(tool["site"] for tool in state["tools"])
        assert (sites["site-1.example"], sites["site-2.example"]) == (300, 200)
        assert state["toolsLeftOut"] == 100
        assert sum("browser" == tool["plugin"] for tool in state["tools"]) > 50


@pytest.mark.requirement("MB-11")
@pytest.mark.document("MB-considerations-5")
@pytest.mark.parametrize(
    "name",
    ["", "a\x00b", "a\nb", "\u0440ay", "pay\u200b", "x" * 129, "a b", "../../pay\u202e", "<b>"],
)
async def test_names_that_hide_something_are_refused(
    app: App, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    _register(app, 1, page_tool(name), page_tool("good"))
    assert _names(app) == ["website_tool_bank_example_pay", "website_tool_shop_example_good"]
    assert "has a name that is not made of" in caplog.text
    assert all(character.isprintable() for line in caplog.messages for character in line)


@pytest.mark.requirement("MB-11")
@pytest.mark.document("MB-security-2")
@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "file://",
        "chrome-extension://abc",
        "https://shop.example/path",
        "https://a@shop.example",
        "data:text/html,x",
        "javascript:1",
    ],
)
async def test_an_opaque_or_forged_origin_publishes_nothing(app: App, origin: str) -> None:
    _register(app, 1, page_tool("pay"), origin=origin)
    assert _names(app) == ["website_tool_bank_example_pay"]


@pytest.mark.requirement("MB-11")
@pytest.mark.document("MB-security-1")
async def test_only_allowed_origins_publish_and_a_page_cannot_take_anothers_name() -> None:
    settings = Settings(page_origins=["https://*.shop.example", "http://localhost:*"])
    app = App(settings, "5e" * 32)
    for number, origin in enumerate(("https://a.shop.example", "http://localhost:3000", ORIGIN)):
        _register(app, number, page_tool("x"), origin=origin)
    assert _names(app) == ["website_tool_a_shop_example_x", "website_tool_localhost_3000_x"]


_BOMB = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 4} for n in range(12)} | {
    "a12": {"type": "object"}
}
_DEEP: dict[str, Any] = {}
for _ in range(200):
    _DEEP = {"properties": {"a": _DEEP}}


@pytest.mark.document("MB-considerations-5")
@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({"$ref": "https://evil.example/schema.json"}, "another document"),
        ({"properties": {"a": {"$ref": "file:///etc/passwd"}}}, "another document"),
        ({"properties": {"a": {"$ref": "#"}}}, "refers to itself"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}, "refers to itself"),
        ({"$ref": "#/$defs/none"}, "refers to nothing"),
        ({"$ref": "#/$defs/a0", "$defs": _BOMB}, "too large once"),
        ({"properties": {"a": {"$id": "https://x.example/"}}}, "uses $id"),
        (_DEEP, "nested more than"),
        ({"type": "array"}, "not that of an object"),
        ({"properties": []}, "properties that are no object"),
        ({"description": "x" * 5_000_000}, "more than"),
        ("nonsense", "cannot be read"),
        ([1], "is no object"),
    ],
)
def test_a_schema_that_costs_too_much_is_refused_with_the_reason(schema: Any, why: str) -> None:
    with pytest.raises(Unfit) as unfit:
        checked_schema(msgspec.Raw(msgspec.json.encode(schema)), 256 * 1024)
    assert why in str(unfit.value)


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(?=a)(a|aa)+$", r"^(.*?,){25}x$"])
async def test_a_catastrophic_pattern_is_answered_quickly(app: App, pattern: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}}
    _register(app, 1, page_tool("slow", inputSchema=schema))
    arguments = msgspec.Raw(msgspec.json.encode({"a": "a," * 5000 + "!"}))
    with pytest.raises(Exception, match="slow"):
        app.runner.check("website_tool_shop_example_slow", arguments)


@pytest.mark.document("MB-considerations-6")
async def test_a_flood_of_updates_is_merged_and_the_last_counts(
    app: App, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes: list[int] = []
    app.hub.tools.on_change(lambda: changes.append(1))
    _register(app, 1, page_tool("x"))
    for number in range(1000):
        app.pages.update(PageRef("t", 1), _raw(page_tool(f"x{number}")))
    assert len(changes) <= BURST + 1
    assert caplog.text.count("too often") == 1
    written = app.audit.entries(plugin="shop.example")
    assert len(written) <= UNFOLDED_OF_SITE + 1
    assert sum(entry.get("times", 1) for entry in written) == BURST
    assert all((entry["tabId"], entry["origin"]) == (1, ORIGIN) for entry in written)
    _register(app, 2, page_tool("calm"), origin=NEIGHBOUR)
    assert "website_tool_bank_example_calm" in _names(app)
    app.pages._throttle._flush(("t", 1))
    assert "website_tool_shop_example_x999" in _names(app)


async def test_a_frame_that_registers_first_leaves_room_for_its_page(app: App) -> None:
    ads = [page_tool(f"x{n}") for n in range(50)]
    _register(app, 1, *ads, origin="https://ads.example", frame=7)
    _register(app, 1, *ads, origin="https://more-ads.example", frame=8)
    _register(app, 1, *(page_tool(f"y{n}") for n in range(50)), origin="https://top.example")
    domains = [tool.site for tool in app.hub.tools]
    assert domains.count("ads.example") == domains.count("top.example") == 25
    assert "more-ads.example" not in domains


async def test_a_page_may_have_all_the_room_of_its_tab(app: App) -> None:
    _register(app, 1, *(page_tool(f"y{n}") for n in range(50)), origin="https://top.example")
    _register(app, 1, page_tool("x"), origin="https://ads.example", frame=7)
    domains = [tool.site for tool in app.hub.tools]
    assert domains.count("top.example") == 50 and "ads.example" not in domains


@pytest.mark.document("MB-considerations-7")
async def test_faults_of_one_site_do_not_hide_anothers(
    app: App, caplog: pytest.LogCaptureFixture
) -> None:
    _register(app, 1, *({"name": f"!{n}"} for n in range(2000)), origin="https://evil.example")
    _register(app, 2, {"name": "bad name"}, origin="https://other.example")
    sites = [record.getMessage().partition(":")[0] for record in caplog.records]
    assert sites.count("evil.example") == 51 and sites.count("other.example") == 1


async def test_faults_do_not_fill_the_log(app: App, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        for number in range(50):
            _register(app, number, {"name": ""}, origin=f"https://{number % 5}.evil.example")
    assert len(caplog.records) == 5
