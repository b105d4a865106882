"""The testing kit of plugins: pages that are made up, recorded, or live in a browser.

pytest gets its fixtures with `-p tabhub.sdk.testing`, which `tabhub plugin test` adds:

    plugin      an object of the plugin in the folder, or in one above it
    page        a FakePage at an address of this plugin
    live_page   a page in the browser of a running server; without one, the test is skipped

Tests may be `async def`: no further plugin of pytest is needed.
"""

from tabhub.sdk.testing.fake_page import FakePage, FakeRequest, UnexpectedRequest
from tabhub.sdk.testing.har_files import page_from_har
from tabhub.sdk.testing.pytest_fixtures import (
    live_page,
    page,
    plugin,
    pytest_addoption,
    pytest_pyfunc_call,
)

__all__ = [
    "FakePage",
    "FakeRequest",
    "UnexpectedRequest",
    "live_page",
    "page",
    "page_from_har",
    "plugin",
    "pytest_addoption",
    "pytest_pyfunc_call",
]
