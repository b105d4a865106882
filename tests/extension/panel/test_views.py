"""Every view of the panel has its element in the page, and every element is filled by a view."""

import re
from pathlib import Path

PANEL = Path(__file__).parents[3] / "extension" / "panel"
PAGE = (PANEL / "panel.html").read_text()
SCRIPTS = {path.name: path.read_text() for path in sorted(PANEL.glob("*.js"))}
LOOKED_UP = re.compile(r'byId\("([\w-]+)"\)')
IMPORTED = re.compile(r'from "\./([\w-]+\.js)"')


def _looked_up() -> set[str]:
    return {id for source in SCRIPTS.values() for id in LOOKED_UP.findall(source)}


def test_every_element_that_a_script_looks_up_is_in_the_page() -> None:
    assert _looked_up() - {*re.findall(r'\bid="([\w-]+)"', PAGE)} == set()


def test_every_element_of_the_page_is_rendered_or_names_a_section() -> None:
    names = {*re.findall(r'aria-labelledby="([\w-]+)"', PAGE)}
    assert {*re.findall(r'\bid="([\w-]+)"', PAGE)} - _looked_up() - names == set()


def test_every_script_of_the_panel_is_loaded_by_its_page() -> None:
    loaded: set[str] = set()
    waiting = {*re.findall(r'<script type="module" src="([\w-]+\.js)"', PAGE)}
    while waiting:
        name = waiting.pop()
        loaded.add(name)
        waiting |= {*IMPORTED.findall(SCRIPTS[name])} - loaded
    assert loaded == SCRIPTS.keys()
