"""`tabhub start --stdio`: connects an MCP client on stdin and stdout to the running server.

The bridge relays messages unchanged. It knows of MCP only what HTTP requires: sessions, headers
that repeat members of the body, resumed streams, and the state that a client expects to survive a
restart of the server.
"""
