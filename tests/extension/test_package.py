"""The package for a store: complete, without a key or a secret, the rare permissions optional."""

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from scripts.extension_package import NotPublishable, require_publishable, write_package
from scripts.extension_permissions import HOSTS, PERMISSIONS
from tabhub.browser.launcher.installation import packaged_extension
from tabhub.wire.commands import COMMANDS

SOURCE = packaged_extension()
MANIFEST = json.loads((SOURCE / "manifest.json").read_text())
NOT_OPTIONAL = {"debugger", "declarativeNetRequest", "devtools", "geolocation", "mdns", "proxy"}
"""What the browser refuses among optional permissions."""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the extension, as an installed one is."""
    return Path(shutil.copytree(SOURCE, tmp_path / "extension"))


def contents(package: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(package) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def test_the_table_explains_every_permission_once_and_no_other() -> None:
    names = [permission.name for permission in PERMISSIONS]
    assert names == MANIFEST["permissions"]
    assert list(HOSTS) == MANIFEST["host_permissions"]
    assert all(permission.why for permission in PERMISSIONS)


def test_an_optional_permission_says_what_it_is_for_and_which_commands_need_it() -> None:
    for permission in PERMISSIONS:
        is_optional = permission.in_store == "optional"
        assert is_optional == bool(permission.asks) == bool(permission.commands)
        assert not is_optional or permission.name not in NOT_OPTIONAL
        for pattern in permission.commands:
            assert any(name == pattern or name.startswith(pattern) for name in COMMANDS)


def test_the_package_has_everything_but_key_pairing_and_rare_permissions(
    copy: Path, tmp_path: Path
) -> None:
    (copy / "auth.json").write_text(json.dumps({"secret": "ab" * 32, "port": 9515}))
    files = contents(write_package(copy, tmp_path / "build"))
    manifest = json.loads(files["manifest.json"])
    assert "key" not in manifest
    assert "auth.json" not in files
    assert manifest["optional_permissions"] == [
        "bookmarks",
        "browsingData",
        "downloads",
        "history",
        "sessions",
    ]
    assert "debugger" in manifest["permissions"]
    assert {*manifest["permissions"], *manifest["optional_permissions"], "contentSettings"} == {
        *MANIFEST["permissions"]
    }
    named = [*manifest["content_scripts"][0]["js"], manifest["background"]["service_worker"]]
    assert {*named, "panel/panel.html", "icons/128.png"} <= files.keys()
    assert not [name for name in files if "test" in name or name.endswith(".md")]
    require_publishable(files)


def test_the_same_extension_makes_the_same_package(copy: Path, tmp_path: Path) -> None:
    one, two = (write_package(copy, tmp_path / name).read_bytes() for name in ("one", "two"))
    assert one == two


def append(text: str) -> Callable[[Path], object]:
    def change(copy: Path) -> None:
        file = copy / "worker" / "main.js"
        file.write_text(f"{file.read_text()}\n// {text}\n")

    return change


@pytest.mark.parametrize(
    "spoil",
    [
        append("0123456789abcdef" * 4),
        append("thc_OWX2ZfJEw_hxu0FB3vnn1CVuf0oaCo0lw-q6DcHZAAY"),
        append("-----BEGIN RSA PRIVATE KEY-----"),
        append("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1c2VyIn0.c2ln"),
        lambda copy: (copy / "tabhub.pem").write_text("x"),
    ],
    ids=["secret", "client token", "private key", "signed token", "key file"],
)
def test_no_package_is_written_with_a_key_or_a_secret_in_it(
    copy: Path, tmp_path: Path, spoil: Callable[[Path], object]
) -> None:
    spoil(copy)
    with pytest.raises(NotPublishable):
        write_package(copy, tmp_path / "build")
    assert not (tmp_path / "build").exists()


@pytest.mark.parametrize("member", ["key", "update_url"])
def test_a_manifest_with_a_key_is_not_publishable(member: str) -> None:
    with pytest.raises(NotPublishable):
        require_publishable({"manifest.json": json.dumps({member: "x"}).encode()})


@pytest.mark.parametrize("name", ["auth.json", "panel/auth.json", "a/.env", "b.crx"])
def test_files_of_this_machine_are_not_publishable(name: str) -> None:
    with pytest.raises(NotPublishable):
        require_publishable({"manifest.json": b"{}", name: b""})
