"""Starting, stopping and inspecting the server and its browser."""
