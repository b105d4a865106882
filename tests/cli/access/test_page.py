"""`tabhub page`."""

import json

import msgspec
import pytest

from tabhub.config.paths import Home
from tabhub.hub.schema_rules import NO_ARGUMENTS
from tabhub.page_tools.core.memory import Remembered
from tabhub.page_tools.core.storage import Published
from tabhub.page_tools.pairing import PageTokens
from tabhub.page_tools.persistence import TOOLS
from tabhub.store.store import Store
from tests.support.product import Product

SHOP = "https://shop.example"


def test_only_a_running_server_pairs_pages(product: Product) -> None:
    refused = product.run("page", "allow", SHOP)
    assert (refused.returncode, refused.stdout) == (3, "")
    assert "Only a running server pairs pages" in refused.stderr
    assert product.run("page", "list", "--json").stdout == (
        '{"allowed":[],"levels":{},"waiting":[]}\n'
    )


def test_an_origin_is_listed_and_forgotten_without_a_server(product: Product) -> None:
    allowed = json.dumps([SHOP, "http://localhost:*"])
    assert product.run("config", "set", "workerOrigins", allowed).returncode == 0
    listed = json.loads(product.run("page", "list", "--json").stdout)
    assert listed["allowed"] == [SHOP, "http://localhost:*"]
    assert product.run("page", "forget", f"{SHOP}/").stdout == f"Forgotten: {SHOP}\n"
    assert product.run("page", "list").stdout == "http://localhost:*: default\n"
    second_run = product.run("page", "forget", SHOP)
    assert second_run.returncode == 1 and "is not allowed" in second_run.stderr


def test_the_level_of_an_origin_is_listed_and_forgotten_with_it(product: Product) -> None:
    product.run("config", "set", "workerOrigins", f'["{SHOP}", "http://localhost:*"]')
    levels = {f"worker:{SHOP}/": "ask", "worker:http://localhost:1": "auto"}
    for subject, level in levels.items():
        assert product.run("permissions", "set", subject, level).returncode == 0
    many = product.run("permissions", "set", "worker:http://localhost:*", "auto")
    assert many.returncode == 2 and "one origin" in many.stderr
    listed = product.run("page", "list").stdout.splitlines()
    assert listed == [f"{SHOP}: ask", "http://localhost:*: default", "http://localhost:1: auto"]
    assert f"worker:{SHOP} = ask" in product.run("permissions", "list").stdout.splitlines()
    product.run("page", "forget", "http://localhost:*")
    assert json.loads(product.run("page", "list", "--json").stdout)["levels"] == {SHOP: "ask"}
    product.run("page", "forget", SHOP)
    assert "worker:" not in product.run("permissions", "list").stdout


def test_forgetting_an_origin_without_a_server_revokes_its_tokens(product: Product) -> None:
    store = Store(Home(product.home).create().db)
    for origin in ("http://localhost:1", "http://localhost:2"):
        PageTokens(store).issue(origin)
    product.run("config", "set", "workerOrigins", '["http://localhost:*"]')
    forgotten = product.run("page", "forget", "http://localhost:1")
    assert forgotten.stdout == "Forgotten: http://localhost:1 in 1 browser\n"
    assert PageTokens(store).revoke(lambda origin: True) == 1
    store.close()
    assert product.run("page", "forget", "http://localhost:1").returncode == 1


def test_a_site_is_forgotten_with_the_tools_that_stayed_listed(product: Product) -> None:
    home = Home(product.home).create()
    store = Store(home.db)
    for site, name in (("shop.example", "a"), ("shop.example", "b"), ("bank.example", "c")):
        tool = Published(name, "", NO_ARGUMENTS, cached=True)
        kept = Remembered(site, tool, "", f"https://{site}", 1.0)
        store.collection(TOOLS).put(json.dumps([site, name]), msgspec.json.encode(kept))
    store.close()
    forgotten = product.run("page", "forget", SHOP)
    assert forgotten.stdout == "Forgotten: 2 tools kept without a tab\n"
    product.run("config", "set", "workerOrigins", '["https://bank.example"]')
    forgotten = product.run("page", "forget", "https://bank.example")
    assert forgotten.stdout.splitlines() == [
        "Forgotten: https://bank.example",
        "Forgotten: 1 tool kept without a tab",
    ]
    assert product.run("page", "forget", SHOP).returncode == 1


@pytest.mark.parametrize(
    "text", ["null", "*", "https://*", "file:///tmp", "data:,", "file:/tmp", "https:/a.example"]
)
def test_only_a_web_origin_is_accepted(text: str, product: Product) -> None:
    refused = product.run("page", "allow", text)
    assert refused.returncode == 2
    assert "not a web origin, such as https://shop.example." in refused.stderr
    assert product.run("page", "list").stdout == ""


@pytest.mark.parametrize("text", ["shop.example", "127.0.0.1:8765", "localhost:*", "[::1]:80/"])
def test_an_origin_without_a_scheme_is_refused_with_a_suggestion(
    text: str, product: Product
) -> None:
    refused = product.run("page", "allow", text)
    assert refused.returncode == 2
    message = " ".join(refused.stderr.split())
    assert "http:// or https:// is missing" in message
    suggested = message.partition("Is it ")[2].partition(" or ")[0]
    assert product.run("page", "allow", suggested).returncode == 3
