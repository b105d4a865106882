"""Every interface. A new one is added here, and nowhere else."""

from tests.interfaces.command import Command
from tests.interfaces.in_process import InProcess
from tests.interfaces.interface import Interface
from tests.interfaces.rest import EventClient, Rest, RestClient
from tests.interfaces.streamable import (
    GATEWAY,
    GatewayClient,
    GatewaySessionClient,
    Handshake,
    McpClient,
    SessionClient,
    Sessionless,
)
from tests.interfaces.two_way import NEWEST, Sse, Stdio

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
IN_PROCESS = InProcess()
ALL = "?toolsets=all"

INTERFACES: tuple[Interface, ...] = (
    IN_PROCESS,
    *(Handshake(version, SessionClient, f"/mcp{ALL}", "/mcp") for version in REVISIONS),
    Sessionless(McpClient, f"/mcp{ALL}", "/mcp"),
    *(Handshake(version, GatewaySessionClient, GATEWAY, "gateway") for version in REVISIONS),
    Sessionless(GatewayClient, GATEWAY, "gateway"),
    Rest(RestClient, "REST"),
    Rest(EventClient, "REST with events"),
    Sse(),
    *(Stdio(version) for version in (*REVISIONS, NEWEST)),
    Command(),
)
