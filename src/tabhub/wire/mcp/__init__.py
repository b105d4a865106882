"""MCP as typed data: revisions, messages, and the header rules of the sessionless era."""
