"""For any order of events in browsers, pages and sessions, a browser tool runs only in a tab of its
own session or in one that the person shares."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import Raw

from tabhub.browser.link.connection import LinkConnection
from tabhub.calls.call import Call
from tabhub.config.settings import Settings
from tabhub.errors import Forbidden, NotFound
from tabhub.server.app import App
from tests.support.command_outputs import completed
from tests.support.examples import examples

SESSIONS = ("ann", "bob")
NUMBERS = range(1, 5)
PROFILES = ("a", "b")


@dataclass
class World:
    """The server without a network, two browsers, and the real owner of each tab."""

    app: App
    owners: dict[tuple[str, int], str | None] = field(default_factory=dict)
    shared: set[tuple[str, int]] = field(default_factory=set)
    runs: dict[str, int] = field(default_factory=dict)
    ran: list[tuple[str, int]] = field(default_factory=list)
    links: dict[str, LinkConnection] = field(default_factory=dict)

    def connect(self, profile: str) -> None:
        async def send(text: str) -> None:
            self._answer(profile, json.loads(text))

        link = LinkConnection(send, self._receiver(profile), 10_000_000)
        self.links[profile] = link
        self.app.browsers.join(profile, link)
        tabs = [_state(number) for where, number in self.owners if where == profile]
        browser = {"kind": "managed", "instance": str(self.runs.setdefault(profile, 1))}
        self._send(profile, "tab.syncAll", {"browser": browser, "tabs": tabs})

    def news(self, profile: str, **params: Any) -> None:
        self._send(profile, "tab.stateChanged", params)

    def tab(self, place: tuple[str, int]) -> int:
        known = self.app.hub.tabs.by_native(*place)
        assert known is not None
        return known.id

    def _send(self, profile: str, method: str, params: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        self.links[profile].receive(json.dumps(message))

    def _receiver(self, profile: str) -> Any:
        return lambda sender, method, params: self.app.browsers.handle(
            profile, sender, method, params
        )

    def _answer(self, profile: str, message: dict[str, Any]) -> None:
        params = message.get("params", {})
        if message.get("method") != "tool.dispatch":
            return
        if params["tool"] == "page.evaluate":
            self.ran.append((profile, params["tabId"]))
        output = completed(params["tool"], {})
        reply = {"jsonrpc": "2.0", "id": message["id"], "result": {"output": output}}
        self.links[profile].receive(json.dumps(reply))

    async def runs_in(self, session: str, tab: int) -> tuple[str, int] | None:
        """The tab in which a script ran, or None."""
        self.ran.clear()
        raw = Raw(json.dumps({"code": "1", "tabId": tab}).encode())
        try:
            await self.app.runner.run(Call("browser_execute_script", raw, session, _silent))
        except (Forbidden, NotFound):
            assert self.ran == []
            return None
        (place,) = self.ran
        return place


def _state(number: int) -> dict[str, Any]:
    return {"tabId": number, "url": f"https://example.com/{number}"}


async def _silent(progress: float, total: float | None, message: str | None) -> None:
    return None


async def _step(world: World, what: str, profile: str, number: int, session: str) -> None:
    place, app = (profile, number), world.app
    known = place in world.owners
    if what in ("person opens", "agent opens") and not known:
        world.owners[place] = None
        world.news(profile, tabId=number, state="opened", tab=_state(number))
        if what == "agent opens":
            app.hub.sessions.open(session, "main", session, 0)
            app.hub.ownership.take(session, world.tab(place))
            world.owners[place] = session
    elif what == "page opens" and not known:
        opener = next((n for p, n in world.owners if p == profile), None)
        if opener is not None:
            world.owners[place] = world.owners[profile, opener]
            change = {"tabId": number, "state": "opened", "tab": _state(number)}
            world.news(profile, **change, openedBy=opener)
    elif what == "closes" and known:
        world.news(profile, tabId=number, state="closed")
        del world.owners[place]
        world.shared.discard(place)
    elif what == "replaced" and known:
        other = (profile, number % len(NUMBERS) + 1)
        change = {"tabId": number, "state": "replaced", "replacedBy": other[1]}
        world.news(profile, **change, tab=_state(other[1]))
        world.owners[other] = world.owners.pop(place)
        world.shared.discard(other)
        if place in world.shared:
            world.shared = world.shared - {place} | {other}
    elif what == "shares" and known and world.owners[place] is None:
        app.control.share(world.tab(place), shared=True)
        world.shared.add(place)
    elif what == "takes back" and known:
        app.control.take_back(world.tab(place))
        world.owners[place] = None
        world.shared.discard(place)
    elif what == "ends":
        app.session_ends.release(session)
        world.owners = {k: None if v == session else v for k, v in world.owners.items()}
    elif what in ("link drops", "browser restarts"):
        app.browsers.leave(profile, world.links[profile])
        if what == "browser restarts":
            world.runs[profile] += 1
            world.owners = {k: None if k[0] == profile else v for k, v in world.owners.items()}
            world.shared = {k for k in world.shared if k[0] != profile}
        world.connect(profile)


STEPS = st.tuples(
    st.sampled_from(
        [
            *("person opens", "agent opens", "page opens", "closes", "replaced", "shares"),
            *("takes back", "ends", "link drops", "browser restarts"),
        ]
    ),
    st.sampled_from(PROFILES),
    st.sampled_from(NUMBERS),
    st.sampled_from(SESSIONS),
)


async def _play(steps: list[tuple[str, str, int, str]]) -> None:
    world = World(App(Settings(), "5e" * 32))
    for profile in PROFILES:
        world.connect(profile)
    for step in steps:
        await _step(world, *step)
        for place, owner in world.owners.items():
            for session in SESSIONS:
                may = owner == session or (owner is None and place in world.shared)
                ran = await world.runs_in(session, world.tab(place))
                assert ran == (place if may else None), (step, place, owner, session)
    for _, timer in world.app.browsers._leaving.values():
        timer.cancel()
    world.app.close()


REPLACED = [
    ("person opens", "a", 1, "ann"),
    ("agent opens", "a", 2, "ann"),
    ("replaced", "a", 1, "ann"),
    ("person opens", "b", 2, "ann"),
]


@examples(300)
@given(st.lists(STEPS, min_size=4, max_size=20))
@example(REPLACED)
def test_no_interleaving_reaches_a_foreign_tab_through_a_browser_tool(
    steps: list[tuple[str, str, int, str]],
) -> None:
    asyncio.run(_play(steps))


def test_an_agent_reaches_its_own_tab_in_this_world() -> None:
    """This proves that the property above does not hold only because every call fails."""

    async def play() -> None:
        world = World(App(Settings(), "5e" * 32))
        world.connect("a")
        await _step(world, "agent opens", "a", 1, "ann")
        assert await world.runs_in("ann", 1) == ("a", 1)
        assert await world.runs_in("bob", 1) is None
        world.app.close()

    asyncio.run(play())
