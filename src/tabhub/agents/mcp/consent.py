"""An approval request, put to the person behind the agent's own client (MCP elicitation).

The client could answer by itself, so this is used only where the policy allows it.
"""

import secrets
from collections import OrderedDict
from typing import Any

import msgspec

from tabhub.agents.mcp.backend import Exchange
from tabhub.agents.mcp.elicitation import elicit
from tabhub.calls.ports import ApprovalAnswer, ApprovalRequest
from tabhub.errors import Forbidden, ProtocolError

KEY = "approval"
CLIENT = "the agent's own client"
MOST_OPEN = 1000
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
    "allow once": ApprovalAnswer(True, by=CLIENT),
    "allow for this session": ApprovalAnswer(True, "session", by=CLIENT),
}


_Where = tuple[str, int | None, str]
"""Session, tab and site: two rounds of the same request may find another of each."""


class Consent:
    """Asks, and takes each answer once."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, _Where] = OrderedDict()

    async def ask(self, exchange: Exchange, request: ApprovalRequest) -> ApprovalAnswer:
        """In the sessionless era the call comes again with the answer, and with our word for it."""
        word = exchange.state if isinstance(exchange.state, str) else ""
        if self._open.get(word) != _where(request):
            word = self._new_word(_where(request))
            exchange.forget_answers()
        try:
            answers = await exchange.ask({KEY: elicit(_text(request), _SCHEMA)}, word)
        except ProtocolError as error:
            sentence = f"The question could not be put to the client: {error.message}"
            raise Forbidden(sentence, "approval_unavailable") from None
        self._open.pop(word, None)
        return _answer(answers.get(KEY))

    def _new_word(self, where: _Where) -> str:
        word = secrets.token_urlsafe(16)
        self._open[word] = where
        if len(self._open) > MOST_OPEN:
            self._open.popitem(last=False)
        return word


def _where(request: ApprovalRequest) -> _Where:
    return request.session, None if request.tab is None else request.tab.id, request.site


def _text(request: ApprovalRequest) -> str:
    where = f" on {request.site}" if request.site else ""
    given = msgspec.json.format(msgspec.json.encode(request.arguments)).decode()
    return f"May {request.tool.title or request.tool.name} run{where}?\n{given}"


def _answer(given: Any) -> ApprovalAnswer:
    """Whatever is not a clear yes is a no."""
    if not isinstance(given, dict) or given.get("action") != "accept":
        return ApprovalAnswer(False)
    content = given.get("content")
    decision = content.get("decision") if isinstance(content, dict) else None
    return _ANSWERS.get(str(decision), ApprovalAnswer(False))
