"""`tabhub record`: a GIF of a real page, stopped by time, by Enter or by Ctrl-C."""

from pathlib import Path

import pytest
from PIL import Image

from tests.support.product import Product
from tests.support.site import Site
from tests.support.terminal import Terminal

pytestmark = pytest.mark.real_browser


def frames(file: Path) -> int:
    with Image.open(file) as image:
        assert image.format == "GIF"
        return int(getattr(image, "n_frames", 1))


def test_it_records_a_page_for_some_seconds(
    product: tuple[Product, int], site: Site, tmp_path: Path
) -> None:
    file = tmp_path / "shop.gif"
    url = site.page("scroll")
    done = product[0].run("record", str(file), "--url", url, "--seconds", "2", "--every", "0.2")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{file} (")
    assert frames(file) >= 1


@pytest.mark.parametrize("key", [b"\n", b"\x03"])
def test_enter_and_ctrl_c_end_it_and_actions_are_in_it(
    product: tuple[Product, int], site: Site, tmp_path: Path, key: bytes
) -> None:
    own = product[0]
    file = tmp_path / "clicks.gif"
    assert (
        own.run("tool", "call", "browser_open_tab", f"url={site.page('targets')}").returncode == 0
    )
    with Terminal(own.environment, "record", str(file), "--every", "0", columns=120) as terminal:
        terminal.wait_for("Recording")
        clicked = own.run("tool", "call", "browser_click_element", "selector=#plain")
        assert clicked.returncode == 0, clicked.stderr
        terminal.type(key)
        assert terminal.end() == 0
    assert "(1 frames" in terminal.text
    assert frames(file) == 1


def test_what_cannot_be_written_is_said_before_anything_is_recorded(
    product: tuple[Product, int], tmp_path: Path
) -> None:
    for file, seconds, says in (
        (tmp_path / "x.mp4", ("--seconds", "1"), "must end in .gif"),
        (tmp_path / "missing" / "x.gif", ("--seconds", "1"), "cannot be written"),
        (tmp_path / "x.gif", (), "--seconds says how long"),
    ):
        done = product[0].run("record", str(file), *seconds)
        assert done.returncode == 2
        assert says in done.stderr
