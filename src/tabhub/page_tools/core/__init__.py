"""Page tools without I/O: which there are, how they are listed, where they run."""
