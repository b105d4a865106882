"""HTTP for agents: access control, routing, requests and responses, connections, rates."""
