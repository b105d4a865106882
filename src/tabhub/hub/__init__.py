"""What the server knows: tools, tabs, sessions, who owns which tab. Synchronous, without I/O."""
