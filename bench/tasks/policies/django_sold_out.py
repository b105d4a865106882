"""Django admin: every book of one genre, by a filter and an action on the list."""

import sqlite3

from bench.tasks.applications import DjangoAdmin
from bench.tasks.policies import logins
from bench.tasks.sides import QUIET, DevTools, Ours, Playwright, choose, click, searches
from bench.tasks.task import Task

GENRE, ACTION = "Poetry", "Mark selected books as sold out"
ALL = "Select all objects"


def check(admin: DjangoAdmin, answer: str) -> bool:
    with sqlite3.connect(admin.database) as database:
        found = database.execute(
            "SELECT genre, in_stock FROM library_book GROUP BY genre, in_stock ORDER BY genre"
        ).fetchall()
    return found == [("novel", 1), ("poetry", 0), ("science", 1), ("travel", 1)]


async def ours(side: Ours) -> str:
    shown = await logins.ours(side, "Books link")
    shown = await side.batch(
        click(ref=side.find(shown, "link", "Books"), **QUIET),
        click(find=f"{GENRE} link", **QUIET),
        *searches("Action combobox", ALL, "Go button"),
    )
    return await side.batch(
        click(ref=side.find(shown, "checkbox"), **QUIET),
        choose(side.find(shown, "combobox"), ACTION, **QUIET),
        click(ref=side.find(shown, "button", "Go"), **QUIET),
    )


async def playwright(side: Playwright) -> str:
    await logins.playwright(side)
    shown = await side.call("browser_find", text='link "Books"')
    await side.click("Books", side.find(shown, "link", "Books"))
    shown = await side.call("browser_find", text=f'link "{GENRE}"')
    await side.click(GENRE, side.find(shown, "link", GENRE))
    shown = await side.call("browser_find", regex=f"combobox|{ALL}|button")
    action = side.find(shown, "combobox")
    await side.click(ALL, side.find(shown, "checkbox", ALL))
    await side.call("browser_select_option", element="Action", target=action, values=[ACTION])
    return await side.click("Go", side.find(shown, "button", "Go"))


async def devtools(side: DevTools) -> str:
    shown = await logins.devtools(side)
    shown = await side.act("click", uid=side.find(shown, "link", "Books"), includeSnapshot=True)
    shown = await side.act("click", uid=side.find(shown, "link", GENRE), includeSnapshot=True)
    fields = {side.find(shown, "combobox"): ACTION, side.find(shown, "checkbox", ALL): "true"}
    elements = [{"uid": uid, "value": value} for uid, value in fields.items()]
    await side.act("fill_form", elements=elements)
    return await side.act("click", uid=side.find(shown, "button", "Go"))


TASK = Task(
    "mark a genre as sold out",
    DjangoAdmin,
    f"Mark all books of the genre {GENRE} as sold out.",
    check,
    ours,
    playwright,
    devtools,
)
