"""MCP over HTTP, every revision on one endpoint, without an SDK."""
