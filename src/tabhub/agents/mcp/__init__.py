"""MCP over HTTP, every revision on one endpoint. Our own layer: no SDK."""
