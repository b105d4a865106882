"""The tools of a toolset, from the catalog: tests of lists need not name each tool."""

from tabhub.tools import catalog


def in_toolset(name: str, *, reading: bool = False) -> set[str]:
    """The names of a toolset's tools, or only of those that read."""
    return {
        tool.name
        for tool in catalog.ALL
        if name in tool.toolsets and (tool.is_reading({}) or not reading)
    }
