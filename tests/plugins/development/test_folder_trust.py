"""Which plugins run without a review in dev mode."""

from pathlib import Path

import pytest

from tabhub.plugins.development.folder_trust import FolderTrust
from tabhub.plugins.package import Kind, read_package
from tests.plugins.packages import write_package


@pytest.mark.parametrize(
    ("folder", "kind", "is_trusted"),
    [
        ("work/demo", "local", True),
        ("work/demo", "installed", False),
        ("home/plugins/demo", "local", False),
        ("work/node_modules/opentabs-plugin-demo", "local", False),
    ],
)
def test_what_came_from_a_registry_is_never_trusted(
    tmp_path: Path, folder: str, kind: Kind, is_trusted: bool
) -> None:
    package = read_package(write_package(tmp_path / folder), kind)
    trust = FolderTrust(tmp_path / "home" / "plugins")
    assert trust(package) is is_trusted


def test_a_link_to_something_from_a_registry_is_not_trusted(tmp_path: Path) -> None:
    write_package(tmp_path / "home" / "plugins" / "demo")
    (tmp_path / "mine").symlink_to(tmp_path / "home" / "plugins" / "demo")
    trust = FolderTrust(tmp_path / "home" / "plugins")
    assert not trust(read_package(tmp_path / "mine", "local"))


def test_packages_that_pip_has_installed_are_not_trusted(tmp_path: Path) -> None:
    package = read_package(write_package(tmp_path / "venv/site-packages/demo"), "local")
    assert not FolderTrust(tmp_path / "home" / "plugins")(package)
