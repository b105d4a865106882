"""A question about a call, put to the person behind the agent's own client (MCP elicitation).

The client could answer by itself, so this is used only where the policy allows it.
"""

import secrets
from collections import OrderedDict
from typing import Any

import msgspec

from tabhub.agents.mcp.asking import elicit
from tabhub.agents.mcp.backend import Exchange
from tabhub.calls.ports import Answer, Question
from tabhub.errors import Forbidden, ProtocolError

KEY = "approval"
CLIENT = "the agent's own client"
OPEN_QUESTIONS = 1000
_SCHEMA = {
    "type": "object",
    "properties": {
        "decision": {
            "type": "string",
            "title": "Decision",
            "enum": ["deny", "allow once", "allow for this session"],
        }
    },
    "required": ["decision"],
}
_ANSWERS = {
    "allow once": Answer(True, by=CLIENT),
    "allow for this session": Answer(True, "session", by=CLIENT),
}


_Where = tuple[str, int | None, str]
"""Session, tab and site: two rounds of the same request may find another of each."""


class Consent:
    """Asks, and takes each answer once."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, _Where] = OrderedDict()

    async def ask(self, exchange: Exchange, question: Question) -> Answer:
        """In the sessionless era the call comes again with the answer, and with our word for it."""
        word = exchange.state if isinstance(exchange.state, str) else ""
        if self._open.get(word) != _where(question):
            word = self._new_word(_where(question))
            exchange.forget_answers()
        try:
            answers = await exchange.ask({KEY: elicit(_text(question), _SCHEMA)}, word)
        except ProtocolError as error:
            sentence = f"The question could not be put to the client: {error.message}"
            raise Forbidden(sentence, "approval_unavailable") from None
        self._open.pop(word, None)
        return _answer(answers.get(KEY))

    def _new_word(self, where: _Where) -> str:
        word = secrets.token_urlsafe(16)
        self._open[word] = where
        if len(self._open) > OPEN_QUESTIONS:
            self._open.popitem(last=False)
        return word


def _where(question: Question) -> _Where:
    return question.session, None if question.tab is None else question.tab.id, question.site


def _text(question: Question) -> str:
    where = f" on {question.site}" if question.site else ""
    given = msgspec.json.format(msgspec.json.encode(question.arguments)).decode()
    return f"May {question.tool.title or question.tool.name} run{where}?\n{given}"


def _answer(given: Any) -> Answer:
    """Whatever is not a clear yes is a no."""
    if not isinstance(given, dict) or given.get("action") != "accept":
        return Answer(False)
    content = given.get("content")
    decision = content.get("decision") if isinstance(content, dict) else None
    return _ANSWERS.get(str(decision), Answer(False))
