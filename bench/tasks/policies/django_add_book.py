"""Django admin: a book by an author who is not there yet, whom a popup window adds."""

import re
import sqlite3

from bench.tasks.applications import DjangoAdmin
from bench.tasks.policies import logins
from bench.tasks.sides import QUIET, DevTools, Ours, Playwright, choose, click, fill, searches
from bench.tasks.task import Task

TITLE, AUTHOR, GENRE, PRICE = "The Lathe of Heaven", "Ursula Le Guin", "Novel", "7.50"
ADD_AUTHOR = "Add another author"


def check(admin: DjangoAdmin, answer: str) -> bool:
    with sqlite3.connect(admin.database) as database:
        found = database.execute(
            "SELECT title, name, genre, price FROM library_book b"
            " JOIN library_author a ON a.id = b.author_id WHERE title = ?",
            (TITLE,),
        ).fetchall()
    return found == [(TITLE, AUTHOR, GENRE.lower(), float(PRICE))]


async def ours(side: Ours) -> str:
    shown = await logins.ours(side, "Add Books link")
    words = ("Title textbox", "Genre combobox", "Price field", "Save button", ADD_AUTHOR)
    form = await side.batch(click(ref=side.find(shown, "link", "Add"), **QUIET), *searches(*words))
    opened = await side.batch(
        fill(side.find(form, "textbox", "Title"), TITLE, **QUIET),
        choose(side.find(form, "combobox", "Genre"), GENRE, **QUIET),
        fill(side.find(form, "spinbutton", "Price"), PRICE, **QUIET),
        click(ref=side.find(form, "link", ADD_AUTHOR)),
    )
    popup = int(re.findall(r"opened tab (\d+)", opened)[0])
    name, done = side.find(opened, "textbox", "Name"), side.find(opened, "button", "Save")
    return await side.batch(
        fill(name, AUTHOR, tabId=popup, **QUIET),
        click(ref=done, tabId=popup, **QUIET),
        click(ref=side.find(form, "button", "Save"), **QUIET),
    )


async def playwright(side: Playwright) -> str:
    await logins.playwright(side)
    shown = await side.call("browser_find", text="book/add/")
    await side.click("Add a book", side.find(shown, "link", "Add"))
    shown = await side.call("browser_snapshot")
    fields = [
        ("Title", "textbox", side.find(shown, "textbox", "Title"), TITLE),
        ("Genre", "combobox", side.find(shown, "combobox", "Genre"), GENRE),
        ("Price", "textbox", side.find(shown, "spinbutton", "Price"), PRICE),
    ]
    save = side.find(shown, "button", "Save")
    await side.call(
        "browser_fill_form",
        fields=[
            {"name": name, "type": type, "target": target, "value": value}
            for name, type, target, value in fields
        ],
    )
    await side.click(ADD_AUTHOR, side.find(shown, "link", ADD_AUTHOR))
    await side.call("browser_tabs", action="select", index=1)
    form = await side.call("browser_snapshot")
    name = side.find(form, "textbox", "Name")
    await side.call("browser_type", element="Name", target=name, text=AUTHOR)
    await side.click("Save", side.find(form, "button", "Save"))
    return await side.click("Save", save)


async def devtools(side: DevTools) -> str:
    shown = await logins.devtools(side)
    add = side.find(shown, "link", "Add", after='link "Books"')
    shown = await side.act("click", uid=add, includeSnapshot=True)
    save = side.find(shown, "button", "Save")
    await side.act(
        "fill_form",
        elements=[
            {"uid": side.find(shown, "textbox", "Title"), "value": TITLE},
            {"uid": side.find(shown, "combobox", "Genre"), "value": GENRE},
            {"uid": side.find(shown, "spinbutton", "Price"), "value": PRICE},
        ],
    )
    await side.act("click", uid=side.find(shown, "link", ADD_AUTHOR))
    pages = await side.call("list_pages")
    popup = max(map(int, re.findall(r"^(\d+): ", pages, re.MULTILINE)))
    form = await side.call("take_snapshot", pageId=popup)
    name = side.find(form, "textbox", "Name")
    await side.call("fill", pageId=popup, uid=name, value=AUTHOR)
    await side.call("click", pageId=popup, uid=side.find(form, "button", "Save"))
    return await side.act("click", uid=save)


TASK = Task(
    "add a book and its author",
    DjangoAdmin,
    f"Add the book {TITLE}, a {GENRE.lower()} by {AUTHOR}, who is a new author, for {PRICE}.",
    check,
    ours,
    playwright,
    devtools,
)
