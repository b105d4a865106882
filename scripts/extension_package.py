"""`make extension`: the package for a store, in build/.

It has what an installed copy has, without the manifest's key, without a pairing and with the rare
permissions as optional ones (`scripts/extension_permissions.py`).
"""

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from scripts.archive import write_archive
from scripts.extension_permissions import PERMISSIONS
from tabhub.browser.launcher.installation import packaged_extension, shipped_files

ROOT = Path(__file__).parent.parent
MANIFEST = "manifest.json"
_SECRETS = {
    "a private key": re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    "a secret of 64 hex digits": re.compile(rb"(?<![0-9a-fA-F])[0-9a-f]{64}(?![0-9a-fA-F])"),
    "a client's token": re.compile(rb"thc_[A-Za-z0-9_-]{20,}"),
    "a signed token": re.compile(rb"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\."),
}
_UNWANTED = re.compile(r"(^|/)(auth\.json|\.[^/]*|[^/]*\.(pem|key|crx))$")


class NotPublishable(Exception):
    """Something in the package must not be published."""


def store_manifest(manifest: Mapping[str, object]) -> dict[str, object]:
    """The manifest of the store package: without a key, which the store has itself."""
    in_store = {permission.name: permission.in_store for permission in PERMISSIONS}
    names = [str(name) for name in _list(manifest["permissions"])]
    kept = {key: value for key, value in manifest.items() if key not in ("key", "update_url")}
    return {
        **kept,
        "permissions": [name for name in names if in_store[name] == "required"],
        "optional_permissions": [name for name in names if in_store[name] == "optional"],
    }


def _list(value: object) -> list[object]:
    assert isinstance(value, list)
    return value


def write_package(source: Path, folder: Path) -> Path:
    """Write the package of this extension into a folder; raises before anything is written."""
    manifest = json.loads((source / MANIFEST).read_text("utf-8"))
    files = {str(name.as_posix()): (source / name).read_bytes() for name in shipped_files(source)}
    files[MANIFEST] = f"{json.dumps(store_manifest(manifest), indent=2)}\n".encode()
    require_publishable(files)
    target = folder / f"tabhub-extension-{manifest['version']}.zip"
    write_archive(target, files)
    return target


def require_publishable(files: Mapping[str, bytes]) -> None:
    """Raise if a key, a secret or a file of this machine is among the files."""
    for name, data in files.items():
        if _UNWANTED.search(name):
            raise NotPublishable(f"{name} must not be in the package.")
        for what, pattern in _SECRETS.items():
            if pattern.search(data):
                raise NotPublishable(f"{name} has {what} in it.")
    manifest = json.loads(files[MANIFEST])
    for member in ("key", "update_url"):
        if member in manifest:
            raise NotPublishable(f"{MANIFEST} has the member {member}.")


def main() -> None:
    try:
        target = write_package(packaged_extension(), ROOT / "build")
    except NotPublishable as error:
        sys.exit(f"No package was written: {error}")
    print(f"{target.relative_to(ROOT)} ({target.stat().st_size // 1024} KB)")


if __name__ == "__main__":
    main()
