"""Lists, tabs, trees and pages in which the policy has to search first."""

import re

from tests.miniwob.page import Page
from tests.miniwob.policies.registry import solves
from tests.miniwob.policies.words import part, quoted
from tests.miniwob.snapshot import Line, Snapshot


@solves("choose-list")
async def from_a_dropdown(page: Page) -> None:
    seen = await page.read()
    (name,) = part(r"Select (.*) from the list", seen.task)
    await page.select(seen.one("combobox"), name)
    await page.click(seen.one("button", "Submit"))


@solves("click-scroll-list")
async def from_a_scroll_list(page: Page) -> None:
    seen = await page.read()
    (names,) = part(r"Select (.*) from the scroll list", seen.task)
    await page.select(seen.one("listbox"), *names.split(", "))
    await page.click(seen.one("button", "Submit"))


@solves("click-tab")
async def a_tab(page: Page) -> None:
    seen = await page.read()
    (name,) = part(r"(Tab #\d+)", seen.task)
    await page.click(seen.one("tab", name))


@solves(
    "click-tab-2",
    "click-tab-2-easy",
    "click-tab-2-medium",
    "click-tab-2-hard",
    "click-collapsible-2",
    "click-collapsible-2-nodelay",
)
async def a_link_behind_tabs(page: Page) -> None:
    seen = await page.read()
    name = quoted(seen.task)[0]
    for tab in seen.all("tab"):
        if seen.has(name):
            break
        await page.click(tab)
        seen = await page.read()
    # In one of these tasks an empty tab ends the search.
    if seen.has(name):
        await page.click(seen.named(name))


@solves("click-collapsible", "click-collapsible-nodelay")
async def a_button_behind_a_section(page: Page) -> None:
    await page.click((await page.read()).one("tab"))
    await page.click((await page.read()).one("button", "Submit"))


@solves("navigate-tree")
async def a_file_in_a_tree(page: Page) -> None:
    seen = await page.read()
    name = quoted(seen.task)[0]
    while not seen.has(name):
        await page.click(seen.hinted("expandable-hitarea"))
        seen = await page.read()
    await page.click(seen.named(name))


@solves("phone-book")
async def a_contact(page: Page) -> None:
    seen = await page.read()
    person, what = part(r"Find (\S+) in .* their (phone|email|address)", seen.task)
    while person not in [line.name for line in seen if line.role == "heading"]:
        await page.click(seen.one("link", ">"))
        seen = await page.read()
    await page.click(seen.after(f"{what.title()}:", "generic"))


@solves("order-food")
async def food(page: Page) -> None:
    seen = await page.until(lambda now: now if now.has("+") else None)
    if "one of each" in seen.task:
        (names,) = part(r"item: (.*)", seen.task)
        for name in names.split(", "):
            await page.click(_plus(seen, name.strip()))
    else:
        count, kind = part(r"Order (\d+) items that are (\S+)", seen.task)
        for _ in range(int(count)):
            await page.click(_plus(seen, kind))
    await page.click(seen.one("button", "Order!"))


def _plus(seen: Snapshot, name: str) -> Line:
    """The first button that adds, after a name."""
    rest = iter(seen.lines[1:])
    next(line for line in rest if line.name == name)
    return next(line for line in rest if line.ref and line.name == "+")


@solves("social-media")
async def an_icon_of_a_post(page: Page) -> None:
    seen = await page.read()
    user, action = part(r"user (@\w+), click on the \"(.*)\" button", seen.task)
    if action in ("Reply", "Retweet", "Like"):
        await page.click((await _icons(page, user, action.lower()))[0])
        return
    await page.click((await _icons(page, user, "more"))[0])
    await page.click((await page.read()).named(_label(action, user)))


def _label(action: str, user: str) -> str:
    return f"{action} {user}" if action in ("Mute", "Block") else action


async def _icons(page: Page, user: str, hint: str) -> list[str]:
    """The icons of a user's posts, once their pictures have loaded."""
    return await page.until(lambda seen: _of_each_post(seen, user, hint))


def _of_each_post(seen: Snapshot, user: str, hint: str) -> list[str] | None:
    posts, icons, is_theirs = 0, list[str](), False
    for line in seen.lines[1:]:
        if re.search(r"@\w+", line.name) and not line.ref:
            is_theirs = user in line.name.split()
            posts += is_theirs
        elif is_theirs and line.hint.split(" ")[0] == hint:
            icons.append(line.ref)
    return icons if len(icons) == posts else None


@solves("social-media-all", "social-media-some")
async def an_icon_of_many_posts(page: Page) -> None:
    seen = await page.read()
    action, count, user = part(r"\"(.*)\" button on (\w+) posts? by (@\w+)", seen.task)
    icons = await _icons(page, user, action.lower())
    for icon in icons if count == "all" else icons[: int(count)]:
        await page.click(icon)
    await page.click(seen.one("button", "Submit"))
