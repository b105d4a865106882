"""Settings, paths, secrets and client tokens; only this package reads the environment."""
