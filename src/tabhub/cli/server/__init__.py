"""Starting, stopping and watching the server and its browser."""
