"""The tools by which an agent prepares the review of a plugin; the person decides it.

The room of plugins runs them.
"""

from tabhub.tools.tool import BROWSER, browser_tool

SOURCE = "plugin-review"

INSPECT = browser_tool(
    name="plugin_inspect",
    title="Inspect a plugin",
    description=(
        "Read the files of a plugin, page by page, to help the person review it. The last page "
        "comes with a reviewToken."
    ),
    properties={
        "plugin": {"type": "string"},
        "cursor": {"type": "string", "description": "Of the page before; default the first page."},
    },
    required=("plugin",),
    read_only=True,
    source=SOURCE,
    needs_tab=False,
    toolsets=BROWSER,
)

MARK_REVIEWED = browser_tool(
    name="plugin_mark_reviewed",
    title="Ask for a review",
    description=(
        "Ask the person to approve a plugin that you have read with plugin_inspect. Only the "
        "person can approve it."
    ),
    properties={
        "plugin": {"type": "string"},
        "version": {"type": "string", "description": "As plugin_inspect reports it."},
        "reviewToken": {"type": "string"},
        "permission": {"type": "string", "enum": ["ask", "auto"]},
    },
    required=("plugin", "version", "reviewToken", "permission"),
    source=SOURCE,
    needs_tab=False,
    toolsets=BROWSER,
    secret_arguments=frozenset({"reviewToken"}),
    # It asks the person itself, always.
    is_container=True,
)

TOOLS = (INSPECT, MARK_REVIEWED)
