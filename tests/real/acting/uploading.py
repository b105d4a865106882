"""Files to upload, and the checksum that upload.html computes for them."""

import base64

UPLOAD = "browser_upload_files"


def total(data: bytes) -> int:
    """The checksum that the page computes for a file."""
    found = 7
    for byte in data:
        found = (found * 31 + byte) % 1000003
    return found


def in_base64(name: str, data: bytes, **more: str) -> dict[str, str]:
    return {"name": name, "data": base64.b64encode(data).decode(), **more}
