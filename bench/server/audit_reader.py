"""Reads the whole audit log in a loop; prints a line once it has begun."""

import sys

import uvloop

from bench.http_connection import HttpConnection
from bench.server.echo_server import SECRET

REQUEST = (
    f"GET /audit?limit=500 HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {SECRET}\r\n\r\n"
)


async def main(port: int) -> None:
    connection = await HttpConnection.open(port)
    await connection.ask(REQUEST.encode())
    print("reading", flush=True)
    while True:
        await connection.ask(REQUEST.encode())


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1])))
