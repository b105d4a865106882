"""Every interface with a real browser: the same results, the same entries in the audit log."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.interfaces.every import INTERFACES
from tests.interfaces.interface import Interface, Json, Place
from tests.interfaces.scenes import FORBIDDEN, SCENES, Stage, audited
from tests.support.product import Product
from tests.support.site import Site

pytestmark = pytest.mark.real_browser

CLIENT = "interfaces"
OUTSIDE = [interface for interface in INTERFACES if not interface.needs_app]


@pytest.fixture
def place(product: tuple[Product, int]) -> Iterator[Place]:
    running, port = product
    token = running.run("client", "add", CLIENT).stdout.strip()
    assert running.run("permissions", "set", FORBIDDEN, "off").returncode == 0
    yield Place(port, token, running.home)
    assert running.run("permissions", "set", FORBIDDEN, "auto").returncode == 0
    running.run("client", "revoke", CLIENT)


async def played(interface: Interface, place: Place, product: Product, url: str) -> dict[str, Any]:
    """The outcomes and entries of each scene over an interface, in a tab of its own."""
    found: dict[str, Any] = {}
    async with product.client(place.port) as person, interface.connect(place) as client:
        opened = await Stage(client, 0, "").call("browser_open_tab", {"url": url})
        tab: int = opened.structured["tabId"]
        for scene in SCENES:
            before = len(await audited(person, CLIENT))
            outcomes = await scene(Stage(client, tab, f"{interface.name}, {scene.__name__}"))
            entries = [_same(entry) for entry in await audited(person, CLIENT, before)]
            found[scene.__name__] = ([outcome.brief for outcome in outcomes], entries)
        await Stage(client, 0, "").call("browser_close_tab", {"tabId": tab})
    return found


def _same(entry: Json) -> Json:
    """An outcome without its message, since the location of a script error differs per run."""
    error = entry.get("error")
    return {**entry, "error": error and {**error, "message": ""}}


@pytest.mark.slow
@pytest.mark.requirement("OT-06")
@pytest.mark.requirement("OT-07")
async def test_every_interface_gives_the_same_results_in_a_real_browser(
    product: tuple[Product, int], place: Place, site: Site
) -> None:
    first, *others = OUTSIDE
    expected = await played(first, place, product[0], site.page("form"))
    assert expected["success"][0] == [{"value": 2}]
    assert expected["repeated"][0][:2] == [{"value": 1}, {"value": 1}]
    for interface in others:
        assert await played(interface, place, product[0], site.page("form")) == expected, interface
