"""The fixtures for tests of plugins, and the way that `async def` tests run."""

import asyncio
import importlib.util
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tabhub.sdk.plugin_class import Plugin
from tabhub.sdk.plugin_page import Page
from tabhub.sdk.testing import live_pages
from tabhub.sdk.testing.fake_page import FakePage

FILE = "plugin.py"
"""Where a plugin is, in the folder of its tests or in one above it."""
OUTSIDE_SITE = "https://example.com/"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of `live_page`."""
    parser.addoption("--live-url", help="Open this address for live_page in a tab of its own.")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is `async def`, if no other plugin has taken it."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    given = {name: pyfuncitem.funcargs[name] for name in names}
    asyncio.run(pyfuncitem.obj(**given))
    return True


@pytest.fixture
def plugin(request: pytest.FixtureRequest) -> Plugin:
    """An object of the plugin in `plugin.py`; override it for a plugin that is elsewhere."""
    return _plugin_class(_plugin_file(request))()


@pytest.fixture
def page(request: pytest.FixtureRequest) -> FakePage:
    """A fake page at the plugin's homepage, or at the first address that it is for."""
    kind = type(request.getfixturevalue("plugin"))
    return FakePage(kind.homepage or _address(kind))


@pytest.fixture
def live_page(request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page in the browser of a running tabhub; without one the test is skipped."""
    kind = type(request.getfixturevalue("plugin"))
    folder = Path(inspect.getfile(kind)).parent
    url = request.config.getoption("--live-url")
    try:
        if url is None:
            found = live_pages.find_live_page(kind.match, folder)
        else:
            found = live_pages.open_live_page(url, folder)
    except live_pages.NoLivePage as reason:
        pytest.skip(str(reason))
    yield found
    if url is not None:
        live_pages.close_live_page(found)


def _plugin_file(request: pytest.FixtureRequest) -> Path:
    for folder in request.path.parents:
        if (folder / FILE).is_file():
            return folder / FILE
        if folder == request.config.rootpath:
            break
    pytest.fail(f"There is no {FILE} in {request.path.parent} or above: override `plugin`.")


def _plugin_class(file: Path) -> type[Plugin]:
    found = [
        kind
        for kind in vars(_module(file)).values()
        if isinstance(kind, type) and issubclass(kind, Plugin) and kind.__module__ == file.stem
    ]
    if len(found) != 1:
        pytest.fail(f"{file} has {len(found)} plugins, not one: override `plugin`.")
    return found[0]


def _module(file: Path) -> ModuleType:
    """The module, which the test may have imported by its name already."""
    known = sys.modules.get(file.stem)
    if known is not None and known.__file__ == str(file):
        return known
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        pytest.fail(f"{file} cannot be imported.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return module


def _address(kind: type[Plugin]) -> str:
    """The shortest address that the first pattern matches."""
    if not kind.match:
        return OUTSIDE_SITE
    pattern = kind.match[0].replace("*://", "https://").replace("://*.", "://www.")
    return pattern.replace(":*/", "/").replace("*", "")
