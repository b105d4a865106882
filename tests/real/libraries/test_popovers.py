"""Popovers of MUI, which React draws at the end of the page: a click says first what opened."""

from collections.abc import Iterator

import pytest

from tests.real.conftest import Opener
from tests.real.looking import page_lines
from tests.support.agent import Agent
from tests.support.static_site import bundle, serving

pytestmark = [pytest.mark.real_browser, pytest.mark.npm, pytest.mark.requirement("TH-21")]
APP = """import { createElement as e, useState } from "react";
import { createRoot } from "react-dom/client";
import { Button, Dialog, DialogActions, DialogTitle, FormControl, InputLabel, Menu, MenuItem,
  Popover, Select, TextField } from "@mui/material";

function Choice() {
  const [fruit, setFruit] = useState("apple");
  const items = ["apple", "banana", "cherry"].map((one) =>
    e(MenuItem, { key: one, value: one }, one));
  const change = (event) => setFruit(event.target.value);
  return e(FormControl, null, e(InputLabel, { id: "label" }, "Fruit"),
    e(Select, { labelId: "label", id: "fruit", value: fruit, onChange: change }, items));
}

function Opening({ name, children }) {
  const [anchor, setAnchor] = useState(null);
  const close = () => setAnchor(null);
  return e("div", null, e(Button, { onClick: (event) => setAnchor(event.currentTarget) }, name),
    children({ anchor, close }));
}

const app = e("main", null, e("p", null, "Before"), e(Choice),
  e(Opening, { name: "Actions" }, ({ anchor, close }) =>
    e(Menu, { open: Boolean(anchor), anchorEl: anchor, onClose: close },
      ["Copy", "Move", "Delete"].map((one) => e(MenuItem, { key: one, onClick: close }, one)))),
  e(Opening, { name: "Rename" }, ({ anchor, close }) =>
    e(Popover, { open: Boolean(anchor), anchorEl: anchor, onClose: close },
      e(TextField, { label: "New name" }), e(Button, { onClick: close }, "Apply"))),
  e(Opening, { name: "Remove" }, ({ anchor, close }) =>
    e(Dialog, { open: Boolean(anchor), onClose: close, "aria-labelledby": "title" },
      e(DialogTitle, { id: "title" }, "Remove it?"),
      e(DialogActions, null, e(Button, { onClick: close }, "Keep")))));
createRoot(document.getElementById("root")).render(app);
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("mui")
    page = "<!doctype html><div id=root></div><script type=module src=app.mjs></script>"
    (folder / "index.html").write_text(page)
    bundle(folder, APP)
    with serving(folder) as site:
        yield f"{site}/index.html"


@pytest.fixture
async def page(agent: Agent, opened: Opener, address: str) -> None:
    await opened(address)
    await agent.call("browser_wait_for_element", selector="#fruit")


async def _changes(agent: Agent, **target: str) -> list[str]:
    return page_lines(await agent.text("browser_click_element", **target)).splitlines()


@pytest.mark.usefixtures("page")
async def test_the_options_of_a_select_come_first(agent: Agent) -> None:
    lines = await _changes(agent, selector="#fruit")
    names = [line.split(" [ref_")[0].lstrip("+ ") for line in lines]
    assert names[0].startswith("listbox")
    assert names[1:4] == ['option "apple"', 'option "banana"', 'option "cherry"']
    option = next(line for line in lines if "banana" in line)
    ref = option.split("[")[1].split("]")[0]
    assert 'combobox "Fruit" [ref_' in (chosen := "\n".join(await _changes(agent, ref=ref)))
    assert 'value="banana"' in chosen


@pytest.mark.usefixtures("page")
async def test_the_items_of_a_menu_come_first(agent: Agent) -> None:
    lines = await _changes(agent, find="Actions button")
    assert lines[0].startswith("+menu ")
    assert [line.split(" [ref_")[0] for line in lines[1:4]] == [
        '+ menuitem "Copy"',
        '+ menuitem "Move"',
        '+ menuitem "Delete"',
    ]


@pytest.mark.usefixtures("page")
async def test_the_field_and_the_button_of_a_popover_are_shown(agent: Agent) -> None:
    lines = "\n".join(await _changes(agent, find="Rename button"))
    assert 'textbox "New name" [ref_' in lines
    assert 'button "Apply" [ref_' in lines


@pytest.mark.usefixtures("page")
async def test_a_dialog_comes_first_by_its_name(agent: Agent) -> None:
    lines = await _changes(agent, find="Remove button")
    assert lines[0].startswith('+dialog "Remove it?"')
    assert any('button "Keep" [ref_' in line for line in lines)
