"""Plugins from the npm registry: asking it, unpacking what it has, installing and updating."""
