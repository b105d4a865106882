"""What the applications of the tasks hold at the start; runs in their environment, not in ours."""
