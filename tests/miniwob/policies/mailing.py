"""A small mail program."""

import re
from itertools import takewhile

from tests.miniwob.page import Page
from tests.miniwob.policies.registry import solves
from tests.miniwob.policies.words import part
from tests.miniwob.snapshot import Line, Snapshot


async def _mail(page: Page, sender: str) -> Line:
    seen = await page.read()
    for line in seen.all("generic"):
        if line.name.startswith(f"{sender} "):
            return line
    raise LookupError(f"no mail of {sender} in:\n{seen}")


async def _icon(page: Page, sender: str, hint: str) -> Line:
    """An icon in the line of a mail, once its picture has loaded."""
    mail = await _mail(page, sender)
    return await page.until(lambda seen: _inside(seen, mail, hint))


def _inside(seen: Snapshot, mail: Line, hint: str) -> Line | None:
    at = [line.ref for line in seen].index(mail.ref)
    inside = takewhile(lambda line: line.depth > mail.depth, seen.lines[at + 1 :])
    return next((line for line in inside if line.hint == hint), None)


@solves(
    "email-inbox",
    "email-inbox-delete",
    "email-inbox-important",
    "email-inbox-reply",
    "email-inbox-forward",
    "email-inbox-noscroll",
    "email-inbox-star-reply",
)
async def a_mail(page: Page) -> None:
    task = (await page.read()).task
    (sender,) = part(r"email by ([\w-]+)", task)
    if "trash" in task or "star" in task:
        await page.click(await _icon(page, sender, "trash" if "trash" in task else "star"))
        return
    await page.click(await _mail(page, sender))
    await _answer(page, task)


async def _answer(page: Page, task: str) -> None:
    if "reply" in task:
        await _send(page, "Reply", part(r"text \"(.*)\"", task)[0])
    else:
        await _forward(page, part(r"forward that email to ([\w-]+)", task)[0])


async def _forward(page: Page, receiver: str) -> None:
    await _send(page, "Forward", receiver)


async def _send(page: Page, button: str, text: str) -> None:
    await page.click(await _near(page, button))
    form = await page.read()
    await page.type(form.one("textbox"), text)
    await page.click(form.hinted("send-"))


DESTINATIONS = (
    r"\bto (?!be\b|you\b)([A-Z][\w-]*)",
    r"([A-Z][\w-]*) (?:wants the|is waiting)",
    r"(?:Send|Forward|Give) ([A-Z][\w-]*) the",
)


@solves("email-inbox-forward-nl")
async def a_mail_in_free_words(page: Page) -> None:
    task = (await page.read()).task
    found = (re.search(pattern, task) for pattern in DESTINATIONS)
    receiver = next(match[1] for match in found if match)
    sender = part(
        r"(?:by|from|email|message|information|mail) ([A-Z][\w-]*)|^([A-Z][\w-]*) wants his", task
    )
    await page.click(await _mail(page, sender[0] or sender[1]))
    await _forward(page, receiver)


async def _near(page: Page, text: str) -> Line:
    return await page.until(
        lambda seen: next(
            (line for line in seen if text in (line.attributes.get("near"), line.name)), None
        )
    )
