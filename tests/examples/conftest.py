"""What the examples need: a home of their own, a page to visit, and the package as published."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.built_package import wheels_once
from tests.real.conftest import agent, emptied, opened, product, site
from tests.support.http_client import free_port
from tests.support.product import Product
from tests.support.static_site import serving

__all__ = ["agent", "emptied", "opened", "product", "site"]

PAGE = """<!doctype html><title>Example</title><h1>Example Domain</h1>
<p><a href="next.html">Learn more</a></p>
<form onsubmit="said.textContent = 'Sent by ' + this.name.value; return false">
<label>Your name <input name="name"></label><button>Send</button></form>
<p id="said"></p>"""
NEXT = "<!doctype html><title>Next</title><h1>Next page</h1>"


@pytest.fixture(scope="session")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a page with a heading, a link and a form."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "index.html").write_text(PAGE)
    (folder / "next.html").write_text(NEXT)
    with serving(folder) as url:
        yield f"{url}/"


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Product]:
    """A person with an empty home, and this tabhub on the path; its server is stopped."""
    home = tmp_path / "person" / ".tabhub"
    home.mkdir(mode=0o700, parents=True)
    (home / "config.json").write_text(json.dumps({"port": free_port()}))
    found = Product(home)
    del found.environment["TABHUB_HOME"]
    found.environment |= {
        "HOME": str(home.parent),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    }
    yield found
    found.run("stop")


@pytest.fixture(scope="session")
def wheelhouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheels_once(tmp_path_factory)
