"""A small mail program."""

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
    is_reply = "reply" in task
    pattern = r"text \"(.*)\"" if is_reply else r"forward that email to ([\w-]+)"
    await page.click(await _near(page, "Reply" if is_reply else "Forward"))
    form = await page.read()
    await page.type(form.one("textbox"), part(pattern, task)[0])
    await page.click(form.hinted("send-"))


async def _near(page: Page, text: str) -> Line:
    return await page.until(
        lambda seen: next((line for line in seen if line.attributes.get("near") == text), None)
    )
