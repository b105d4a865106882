"""HTTP for agents: access control, reading and answering requests, connections, rates."""
