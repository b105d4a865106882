"""Files to upload, and what the page upload.html computes of them."""

import base64

UPLOAD = "browser_upload_files"


def total(data: bytes) -> int:
    """The checksum that the page computes of a file."""
    found = 7
    for byte in data:
        found = (found * 31 + byte) % 1000003
    return found


def in_base64(name: str, data: bytes, **more: str) -> dict[str, str]:
    return {"name": name, "data": base64.b64encode(data).decode(), **more}
