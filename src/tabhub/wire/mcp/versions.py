"""The revisions of MCP that we support, oldest first, and what differs between them."""

HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Revisions that start with `initialize` and have sessions."""

SESSIONLESS = ("2026-07-28",)
"""Revisions in which every request stands alone."""

SUPPORTED = HANDSHAKE + SESSIONLESS
LATEST_HANDSHAKE = HANDSHAKE[-1]


def negotiate(requested: str) -> str:
    """The revision to answer `initialize` with: the client's if we support it, else our newest."""
    return requested if requested in HANDSHAKE else LATEST_HANDSHAKE


def has_batches(version: str) -> bool:
    return version == "2025-03-26"


def primes_streams(version: str) -> bool:
    """From 2025-11-25 on, a stream starts with an empty event so that it can be resumed."""
    return version >= "2025-11-25"
