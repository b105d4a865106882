"""Serving the app on its ports with uvicorn."""

import asyncio
import socket
from typing import TYPE_CHECKING

from tabhub.agents.http.connections import protocol
from tabhub.agents.http.listening import Listener, uvicorn_config

if TYPE_CHECKING:
    from tabhub.server.app import App

KEEP_ALIVE_SECONDS = 75
"""Long enough for an agent to think between two calls."""
ANSWER_SECONDS = 0.1
"""What waited for the person is answered before its session ends."""


class Server:
    """The app on one port, or on two: the second one is for clients of HTTP+SSE."""

    def __init__(self, app: "App", listener: socket.socket, second: socket.socket | None = None):
        self.app = app
        self.port: int = listener.getsockname()[1]
        app.report.port = self.port
        app.report.sse_port = None if second is None else second.getsockname()[1]
        self._listeners = [listener] if second is None else [listener, second]
        self._uvicorn = Listener(
            uvicorn_config(
                app.asgi,
                http=protocol(app.connections),
                ws="websockets-sansio",
                ws_max_size=app.settings.limits.ws_bytes,
                ws_per_message_deflate=False,
                timeout_keep_alive=KEEP_ALIVE_SECONDS,
            )
        )

    async def serve(self) -> None:
        """Run until `stop` is called."""
        app = self.app
        loops = (
            app.look_after(),
            app.watch_folders(),
            app.follow_proxy(),
            app.plugin_management.look_after(),
            app.plugin_runtime.look_after(),
        )
        tasks = [asyncio.create_task(loop) for loop in loops]
        try:
            await self._uvicorn.serve(sockets=self._listeners)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            await app.plugin_runtime.stop()
            app.close()

    async def stop(self) -> None:
        if self.app.approvals.close():
            await asyncio.sleep(ANSWER_SECONDS)
        for endpoint in self.app.session_ends.endpoints:
            endpoint.close()
        self.app.sse.close()
        self.app.call_stream.close()
        self._uvicorn.leave()
