"""`tabhub start --stdio`: an MCP client on stdin and stdout, joined to the running server.

It relays and does not reinterpret: messages pass as they are. What it knows of MCP is what HTTP
needs of it: sessions, the headers that repeat a body, streams that are resumed, and what a client
has told a server that has restarted since.
"""
