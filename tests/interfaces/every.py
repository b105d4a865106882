"""Every way in. A new one is added here, and nowhere else."""

from tests.interfaces.command import Command
from tests.interfaces.in_process import Memory
from tests.interfaces.interface import Entrance
from tests.interfaces.rest import EventDoor, Rest, RestDoor
from tests.interfaces.streamable import (
    GATEWAY,
    Behind,
    Handshake,
    McpDoor,
    SessionBehind,
    SessionDoor,
    Sessionless,
)
from tests.interfaces.two_way import NEWEST, Sse, Stdio

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MEMORY = Memory()
ALL = "?toolsets=all"

ENTRANCES: tuple[Entrance, ...] = (
    MEMORY,
    *(Handshake(version, SessionDoor, f"/mcp{ALL}", "/mcp") for version in REVISIONS),
    Sessionless(McpDoor, f"/mcp{ALL}", "/mcp"),
    *(Handshake(version, SessionBehind, GATEWAY, "gateway") for version in REVISIONS),
    Sessionless(Behind, GATEWAY, "gateway"),
    Rest(RestDoor, "REST"),
    Rest(EventDoor, "REST with events"),
    Sse(),
    *(Stdio(version) for version in (*REVISIONS, NEWEST)),
    Command(),
)
