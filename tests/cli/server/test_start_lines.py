"""What `tabhub start` prints: three lines, and at the first start the blocks for agents."""

from tests.support.eventually import eventually_sync
from tests.support.http_client import free_port
from tests.support.product import Product


def start_output(product: Product) -> list[str]:
    before = len(product.output) if (product.home.parent / "home.out").exists() else 0
    with product.running("start", "--port", "0"):
        eventually_sync(lambda: "tabhub is up" in product.output[before:], "the server to be up")
        return product.output[before:].splitlines()


def test_the_first_start_prints_the_blocks_and_later_ones_three_lines(product: Product) -> None:
    first = start_output(product)
    assert any("claude mcp add" in line for line in first)
    second = start_output(product)
    assert len(second) == 3
    assert second[0].startswith("tabhub ") and "http://127.0.0.1:" in second[0]
    assert "browser opens one" in second[1]
    assert second[2].startswith("tabhub is up. Ctrl-C stops it.")
    assert "start --show-config" in second[2]


def test_the_blocks_can_be_shown_at_any_time(product: Product) -> None:
    start_output(product)
    # Another program may have the usual port, and would get the token.
    port = str(free_port())
    assert "claude mcp add" in product.run("start", "--show-config", "--port", port).stdout
