"""Page tools without I/O: storing, listing and routing them."""
