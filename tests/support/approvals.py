"""Answering approvals as a person with an open panel does."""

import asyncio
from typing import Any

from tests.support.browsers.extension import FakeExtension


async def respond(extension: FakeExtension, id: str, decision: str, **more: Any) -> bool:
    answer = {"id": id, "decision": decision, **more}
    accepted: bool = (await extension.ask("confirmation.response", answer))["result"]["accepted"]
    return accepted


async def question(extension: FakeExtension) -> dict[str, Any]:
    found: dict[str, Any] = (await extension.next("confirmation.request"))["params"]
    return found


async def asked_again(extension: FakeExtension, call: "asyncio.Task[Any]") -> bool:
    """Whether a call asks for approval before it ends; then the approval is denied."""
    waiting = asyncio.create_task(question(extension))
    await asyncio.wait({waiting, call}, return_when=asyncio.FIRST_COMPLETED)
    if call.done():
        waiting.cancel()
        return False
    await respond(extension, (await waiting)["id"], "deny")
    await asyncio.wait({call})
    call.exception()
    return True
