"""`tabhub page`."""

import json
from pathlib import Path

import pytest

from tests.support.product import Product

SHOP = "https://shop.example"


@pytest.fixture
def product(tmp_path: Path) -> Product:
    return Product(tmp_path / "home")


def test_an_origin_is_allowed_once_listed_and_forgotten(product: Product) -> None:
    assert product.run("page", "list", "--json").stdout == "[]\n"
    for written in (f"{SHOP}/", "HTTPS://Shop.Example:443", "http://localhost:*"):
        assert product.run("page", "allow", written).returncode == 0
    assert json.loads(product.run("page", "list", "--json").stdout) == [SHOP, "http://localhost:*"]
    assert product.run("page", "forget", SHOP).stdout == f"Forgotten: {SHOP}\n"
    assert product.run("page", "list").stdout == "http://localhost:*\n"
    again = product.run("page", "forget", SHOP)
    assert again.returncode == 1 and "not allowed anyway" in again.stderr


@pytest.mark.parametrize(
    "text", ["shop.example", "null", "*", "https://*", "file:///tmp", "data:,"]
)
def test_what_is_no_web_origin_is_refused(text: str, product: Product) -> None:
    refused = product.run("page", "allow", text)
    assert refused.returncode == 2 and "no web origin" in refused.stderr
    assert product.run("page", "list").stdout == ""
