"""Makes the package's description from README.md.

Links there are relative to the repository, and the MCP registry looks for its name in the text.
"""

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(?P<image>!?)\[(?P<words>[^]]*)\]\((?!https?://|#|mailto:)(?P<path>[^)]+)\)")


class Readme(MetadataHookInterface):
    """Called by hatchling for each build."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = (Path(self.root) / "README.md").read_text("utf-8")
        source = metadata["urls"]["Source"]
        text = f"{with_absolute_links(text, source)}\n<!-- mcp-name: {registry_name(source)} -->\n"
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def with_absolute_links(text: str, source: str) -> str:
    """Links that work on any page: documents at the source, pictures as they are."""
    return _LINK.sub(
        lambda link: (
            f"{link['image']}[{link['words']}]"
            f"({source}/{'raw' if link['image'] else 'blob'}/main/{link['path']})"
        ),
        text,
    )


def registry_name(source: str) -> str:
    """The server's name in the MCP registry, which belongs to the owner of the repository."""
    owner, repository = urlsplit(source).path.strip("/").split("/")
    return f"io.github.{owner}/{repository}"
