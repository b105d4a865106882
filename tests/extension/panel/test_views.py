"""Every view of the panel has its file, its place in the page and its icon; none is left over."""

import json
import re
import zipfile
from pathlib import Path

EXTENSION = Path(__file__).parents[3] / "extension"
PANEL = EXTENSION / "panel"
PAGE = (PANEL / "panel.html").read_text()
SCRIPTS = {path.relative_to(PANEL): path.read_text() for path in sorted(PANEL.rglob("*.js"))}
LOOKED_UP = re.compile(r'byId\("([\w-]+)"\)')
IMPORTED = re.compile(r'from "(\.[\w./-]+\.js)"')
VIEW = re.compile(r'^  id: "(\w+)",\n  label: "\w+",$', re.MULTILINE)
MADE = re.compile(r'\bid: "([\w-]+)"')


def _looked_up() -> set[str]:
    return {id for source in SCRIPTS.values() for id in LOOKED_UP.findall(source)}


def _views() -> list[str]:
    listed = re.search(r"VIEWS = \[(.+)\]", SCRIPTS[Path("views/all.js")])
    assert listed is not None
    return listed[1].split(", ")


def test_every_element_that_a_script_looks_up_is_in_the_page_or_made_by_a_view() -> None:
    made = {id for source in SCRIPTS.values() for id in MADE.findall(source)}
    assert _looked_up() - {*re.findall(r'\bid="([\w-]+)"', PAGE)} - made == set()


def test_every_element_of_the_page_is_rendered_or_names_a_section() -> None:
    names = {*re.findall(r'aria-labelledby="([\w-]+)"', PAGE)}
    views = {f"view-{view}" for view in _views()}
    layout = {"bar", "notices", "columns", "left", "right"}
    ids = {*re.findall(r'\bid="([\w-]+)"', PAGE)}
    assert ids - _looked_up() - names - views - layout == set()


def test_every_view_has_its_file_its_place_and_its_icon() -> None:
    views = _views()
    assert len(views) == 8
    files = {name for source in SCRIPTS.values() for name in VIEW.findall(source)}
    assert files == {*views}
    for view in views:
        assert f'id="view-{view}"' in PAGE
        assert re.search(rf"^  {view}:", SCRIPTS[Path("icons.js")], re.MULTILINE), view


def test_every_script_of_the_panel_is_loaded_by_its_page() -> None:
    loaded: set[Path] = set()
    waiting = {Path(name) for name in re.findall(r'<script type="module" src="([\w-]+\.js)"', PAGE)}
    while waiting:
        script = waiting.pop()
        loaded.add(script)
        for name in IMPORTED.findall(SCRIPTS[script]):
            path = (PANEL / script.parent / name).resolve()
            if path.is_relative_to(PANEL):
                waiting |= {path.relative_to(PANEL)} - loaded
    assert loaded == SCRIPTS.keys()


def test_no_script_of_a_page_parses_html_or_makes_code_from_text() -> None:
    scripts = [*PANEL.rglob("*.js"), *(EXTENSION / "options").glob("*.js")]
    sink = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function"
    )
    assert [path.name for path in scripts if sink.search(path.read_text())] == []


def test_pages_of_the_extension_allow_no_policy_for_html_and_no_frame_around_them() -> None:
    manifest = json.loads((EXTENSION / "manifest.json").read_text())
    rules = manifest["content_security_policy"]["extension_pages"].split("; ")
    assert "require-trusted-types-for 'script'" in rules and "trusted-types 'none'" in rules
    assert "frame-ancestors 'none'" in rules and "script-src 'self'" in rules
    assert "web_accessible_resources" not in manifest


def test_the_packed_extension_is_small(tmp_path: Path) -> None:
    packed = tmp_path / "extension.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in EXTENSION.rglob("*"):
            if path.is_file() and "adapters" not in path.parts:
                archive.write(path, path.relative_to(EXTENSION))
    assert packed.stat().st_size <= 1_000_000
