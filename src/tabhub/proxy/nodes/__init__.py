"""Many nodes as one service: what they send each other over NATS, and processes on one machine."""
