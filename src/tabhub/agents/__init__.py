"""The endpoints for agents: MCP, REST and administration. Nothing here knows a browser."""
