"""What a proxy lists is not taken on trust."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from tabhub.browser.remote.proxy_access import access_of
from tabhub.browser.remote.remote_browsers import RemoteBrowsers
from tabhub.wire.asgi import Receive, Send
from tabhub.wire.link_versions import End
from tests.browser.remote.listing_proxy import ListingProxy, listing_proxy
from tests.support.eventually import eventually

pytestmark = pytest.mark.requirement("PX-08")


async def nobody(profile: str, extension: End, receive: Receive, send: Send) -> None:
    raise AssertionError("nobody is connected")


@asynccontextmanager
async def following(folder: Path, proxy: ListingProxy) -> AsyncIterator[RemoteBrowsers]:
    """The browsers of a proxy, after it was asked for them at least twice."""
    file = folder / "token"
    file.touch(mode=0o600)
    file.write_text("token")
    browsers = RemoteBrowsers(access_of(proxy.url, file), nobody, 1_000_000)
    running = asyncio.create_task(browsers.run())
    try:
        await eventually(lambda: proxy.listings > 1)
        yield browsers
    finally:
        running.cancel()
        await asyncio.wait({running})


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tabhub.browser.remote.remote_browsers.LIST_SECONDS", 0.01)


def extension() -> str:
    return f"ext-{uuid4()}"


async def test_a_browser_elsewhere_cannot_take_the_name_of_a_local_profile(tmp_path: Path) -> None:
    right = extension()
    wrong = ["default", str(uuid4()), "ext-1", right.upper(), f"{right}\n", f"x{right}", ""]
    async with listing_proxy(*wrong, right) as proxy, following(tmp_path, proxy) as browsers:
        assert [one["id"] for one in browsers.summary()["browsers"]] == [right]
        await eventually(lambda: proxy.wanted == [right])


async def test_no_more_browsers_are_followed_than_a_user_can_have(tmp_path: Path) -> None:
    listed = [extension() for _ in range(40)]
    async with listing_proxy(*listed) as proxy, following(tmp_path, proxy) as browsers:
        proxy.listed = [*reversed(listed), *(extension() for _ in range(40))]
        listings = proxy.listings
        await eventually(lambda: proxy.listings > listings + 1)
        assert [one["id"] for one in browsers.summary()["browsers"]] == listed[:16]
