"""Asking a person in the side panels: a queue of questions, each of which is answered once."""

import asyncio
import time
from collections import OrderedDict
from dataclasses import dataclass

from tabhub.browser.browsers import Browsers
from tabhub.calls.ports import LATE, Answer, Question
from tabhub.errors import Forbidden, Unavailable
from tabhub.hub.tabs import Tab
from tabhub.permissions.sites import OPAQUE
from tabhub.wire.panel import (
    Confirmation,
    ConfirmationClosed,
    ConfirmationMissed,
    ConfirmationOutcome,
    ConfirmationResponse,
    ConfirmationTab,
    Outcome,
)

MOST_QUESTIONS = 8
REMEMBERED = 100
"""How many decisions are known to a panel that comes late."""


@dataclass
class _Open:
    question: Question
    answer: "asyncio.Future[Answer]"
    expires_at: int
    is_late: bool = False

    def outcome(self) -> Outcome:
        if self.answer.done() and not self.answer.cancelled():
            if self.answer.exception() is not None:
                return "unavailable"
            return "allowed" if self.answer.result().allowed else "denied"
        return "timeout" if self.is_late else "cancelled"

    def shown(self) -> Confirmation:
        return _shown(self.question, self.expires_at)


class Panels:
    """The person, as far as the panels of all connected browsers reach."""

    def __init__(self, browsers: Browsers) -> None:
        self._browsers = browsers
        self._open: dict[str, _Open] = {}
        self._ended: OrderedDict[str, Outcome] = OrderedDict()
        browsers.on_panels(self._panels_changed)

    @property
    def present(self) -> bool:
        return self._browsers.has_panel

    async def ask(self, question: Question, seconds: float) -> Answer:
        self._require_patience(question)
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        expires_at = int((time.time() + seconds) * 1000)
        opened = self._open[question.id] = _Open(question, answer, expires_at)
        self._browsers.tell_all("confirmation.request", opened.shown())
        # The last panel may have closed between the question whether there is one and this.
        self._panels_changed()
        try:
            return await answer
        except asyncio.CancelledError as cancelled:
            opened.is_late = LATE in cancelled.args
            raise
        finally:
            del self._open[question.id]
            self._close(question.id, opened.outcome())

    def _require_patience(self, question: Question) -> None:
        """A person reads one question after the other."""
        name = question.client.name
        waiting = sum(opened.question.client.name == name for opened in self._open.values())
        if waiting >= MOST_QUESTIONS:
            raise Unavailable(
                f"{waiting} calls of yours already wait for the person; wait for their end.",
                "too_many_calls",
            )

    def missed(self, question: Question) -> None:
        """Say who wanted what, without the parameters: nobody asked for them."""
        tool = question.tool
        told = ConfirmationMissed(
            tool=tool.name,
            title=tool.title or tool.name,
            client=question.client.name,
            agent=question.agent,
            origin=question.site,
        )
        self._browsers.tell_all("confirmation.missed", told)

    def respond(self, told: ConfirmationResponse) -> ConfirmationOutcome:
        """Take a decision: whether it was the one that counts, and what was decided then."""
        opened = self._open.get(told.id)
        if opened is None:
            return ConfirmationOutcome(accepted=False, outcome=self._ended.get(told.id, "unknown"))
        accepted = not opened.answer.done()
        if accepted:
            opened.answer.set_result(_answer(told))
        return ConfirmationOutcome(accepted=accepted, outcome=opened.outcome())

    def _close(self, id: str, outcome: Outcome) -> None:
        self._ended[id] = outcome
        while len(self._ended) > REMEMBERED:
            self._ended.popitem(last=False)
        self._browsers.tell_all("confirmation.closed", ConfirmationClosed(id=id, outcome=outcome))

    def pending(self) -> list[Confirmation]:
        return [opened.shown() for opened in self._open.values()]

    def _panels_changed(self) -> None:
        """With the last panel the person is gone, and with them whoever could answer."""
        if self.present:
            return
        for opened in self._open.values():
            if not opened.answer.done():
                opened.answer.set_exception(
                    Forbidden(
                        "The side panel was closed before the person had answered; nothing was "
                        "done. Ask the person to open it before you try again.",
                        "approval_unavailable",
                    )
                )


def _answer(told: ConfirmationResponse) -> Answer:
    """The decision in our words; others say the scope in the decision itself."""
    decision, _, named = told.decision.partition("_")
    scope = named or told.scope or "once"
    if decision == "deny":
        return Answer(False)
    return Answer(True, None if scope == "once" else scope, told.seconds)  # type: ignore[arg-type]


def _shown(question: Question, expires_at: int) -> Confirmation:
    tab = question.tab
    scopes = _scopes(question) if question.scopes is None else list(question.scopes)
    return Confirmation(
        id=question.id,
        tool=question.tool.name,
        title=question.tool.title or question.tool.name,
        plugin=question.tool.plugin,
        client=question.client.name,
        agent=question.agent,
        session=question.session,
        tab=None if tab is None else _tab(tab),
        origin=question.site,
        parameters=question.arguments,
        rule=question.rule,
        scopes=scopes,
        expires_at=expires_at,
    )


def _tab(tab: Tab) -> ConfirmationTab:
    return ConfirmationTab(tab_id=tab.id, title=tab.title, url=tab.url)


def _scopes(question: Question) -> list[str]:
    """How far a yes can reach; there is no "this site" where there is none.

    A page's tool is its site's: there is no everywhere for it.
    """
    scopes = ["once", "session"]
    if question.site not in ("", OPAQUE):
        scopes.append("domain")
    return scopes if question.tool.domain else [*scopes, "always"]
