"""What a tab shows that is no page: said, so that nobody takes little text for all there is."""

from typing import Any

PDF = "application/pdf"


def about_kind(output: dict[str, Any]) -> list[str]:
    """A note about a document of another kind than HTML."""
    kind: str | None = output.get("contentType")
    if kind is None:
        return []
    if kind == PDF:
        return [
            "(This is a PDF in the browser's own viewer, whose text cannot be read here: take "
            "browser_screenshot_tab, or browser_download_file for the file.)"
        ]
    if kind.startswith(("image/", "video/", "audio/")) and kind != "image/svg+xml":
        return [f"(This is no page but {kind}: browser_screenshot_tab shows what there is.)"]
    return [f"(This is no page but {kind}.)"]
