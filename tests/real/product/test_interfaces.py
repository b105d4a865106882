"""Every door, into a real browser: what one tells and leaves behind, the others do too."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.interfaces.every import ENTRANCES
from tests.interfaces.interface import Entrance, Json, Place
from tests.interfaces.scenes import FORBIDDEN, SCENES, Stage, written_down
from tests.support.product import Product
from tests.support.site import Site

pytestmark = pytest.mark.real_browser

CLIENT = "doors"
OUTSIDE = [entrance for entrance in ENTRANCES if not entrance.within]


@pytest.fixture
def place(product: tuple[Product, int]) -> Iterator[Place]:
    running, port = product
    token = running.run("client", "add", CLIENT).stdout.strip()
    assert running.run("permissions", "set", FORBIDDEN, "off").returncode == 0
    yield Place(port, token, running.home)
    assert running.run("permissions", "set", FORBIDDEN, "auto").returncode == 0
    running.run("client", "revoke", CLIENT)


async def played(entrance: Entrance, place: Place, product: Product, url: str) -> dict[str, Any]:
    """What each scene led to at a door, in a tab of its own."""
    found: dict[str, Any] = {}
    async with product.client(place.port) as person, entrance.enter(place) as door:
        opened = await Stage(door, 0, "").call("browser_open_tab", {"url": url})
        tab: int = opened.structured["tabId"]
        for scene in SCENES:
            before = len(await written_down(person, CLIENT))
            outcomes = await scene(Stage(door, tab, f"{entrance.name}, {scene.__name__}"))
            entries = [_same(entry) for entry in await written_down(person, CLIENT, before)]
            found[scene.__name__] = ([one.brief for one in outcomes], entries)
        await Stage(door, 0, "").call("browser_close_tab", {"tabId": tab})
    return found


def _same(entry: Json) -> Json:
    """A page tells where in a script an error was, by a name of the run."""
    error = entry.get("error")
    return {**entry, "error": error and {**error, "message": ""}}


@pytest.mark.slow
@pytest.mark.requirement("OT-06")
@pytest.mark.requirement("OT-07")
async def test_every_door_leads_to_the_same_in_a_real_browser(
    product: tuple[Product, int], place: Place, site: Site
) -> None:
    first, *others = OUTSIDE
    expected = await played(first, place, product[0], site.page("form"))
    assert expected["success"][0] == [{"value": 2}]
    assert expected["repeated"][0][:2] == [{"value": 1}, {"value": 1}]
    for entrance in others:
        assert await played(entrance, place, product[0], site.page("form")) == expected, entrance
