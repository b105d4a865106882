"""Settings, paths and secrets: the only reader of the environment."""
