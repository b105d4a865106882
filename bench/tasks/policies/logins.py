"""Logging in to Django's admin, by each side."""

from bench.tasks.seeds.accounts import PASSWORD, USER
from bench.tasks.sides import QUIET, DevTools, Ours, Playwright, click, fill, searches


async def ours(side: Ours, words: str) -> str:
    """Log in, and look for something on the page that comes."""
    form = await side.open()
    return await side.batch(
        fill(side.find(form, "textbox", "Username"), USER, **QUIET),
        fill(side.find(form, "textbox", "Password"), PASSWORD, **QUIET),
        click(ref=side.find(form, "button", "Log in"), **QUIET),
        *searches(words),
    )


async def playwright(side: Playwright) -> str:
    await side.open()
    form = await side.call("browser_snapshot")
    fields = [("Username", USER), ("Password", PASSWORD)]
    await side.call(
        "browser_fill_form",
        fields=[
            {
                "name": name,
                "type": "textbox",
                "target": side.find(form, "textbox", name),
                "value": value,
            }
            for name, value in fields
        ],
    )
    return await side.click("Log in", side.find(form, "button", "Log in"))


async def devtools(side: DevTools) -> str:
    await side.open()
    form = await side.act("take_snapshot")
    await side.act(
        "fill_form",
        elements=[
            {"uid": side.find(form, "textbox", "Username"), "value": USER},
            {"uid": side.find(form, "textbox", "Password"), "value": PASSWORD},
        ],
    )
    return await side.act("click", uid=side.find(form, "button", "Log in"), includeSnapshot=True)
