"""Who may listen on a port beside us."""

import socket
import sys


def set_sharing(listener: socket.socket, is_shared: bool = False) -> None:
    """Let the port be used again soon after its last owner; only a shared one at the same time."""
    if sys.platform == "win32":
        # There, SO_REUSEADDR would let any program take the port while we use it.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
    else:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if is_shared:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
