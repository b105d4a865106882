"""Runs the fixture in the foreground: `python -m tests.conformance.server --port N`."""

import argparse
import time

import uvicorn

from tabhub.agents.http.security import AccessControl
from tabhub.agents.mcp.http import McpEndpoint
from tabhub.agents.routes import ROUTES
from tabhub.audit.log import AuditLog
from tabhub.config.secret import Challenges
from tabhub.config.settings import AuditSettings
from tabhub.wire.asgi import App, Receive, Scope, Send
from tests.conformance.fixture import Fixture

HOST = "127.0.0.1"
PATH = "/mcp"


def fixture_app() -> App:
    """The endpoint behind the product's Host and Origin rules, without a secret."""
    endpoint = McpEndpoint(Fixture(), clock=time.monotonic)

    async def route(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == PATH:
            await endpoint(scope, receive, send)
            return
        headers = [(b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 404, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    audit = AuditLog(None, AuditSettings())
    return AccessControl(route, ROUTES, None, lambda token: None, audit, Challenges())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    options = parser.parse_args()
    uvicorn.run(fixture_app(), host=HOST, port=options.port, lifespan="off", log_level="warning")


if __name__ == "__main__":
    main()
