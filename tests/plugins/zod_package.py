"""Builds a plugin from source, with Zod 4 in its bundle and its schemas made by Zod."""

import json
import shutil
import subprocess
from pathlib import Path

from tests.support.eventually import PATIENCE
from tests.support.site import NPM
from tests.support.verdaccio import NODE

SOURCE = Path(__file__).parent / "fixtures" / "lists"


def build_lists(folder: Path, version: str = "1.0.0") -> Path:
    """Write the package to a new folder; its answers name its version."""
    shutil.copytree(SOURCE, folder)
    tools = (folder / "tools.js").read_text()
    (folder / "tools.js").write_text(tools.replace("VERSION", version))
    (folder / "node_modules").symlink_to(NPM)
    package = json.loads((folder / "package.json").read_text())
    (folder / "package.json").write_text(json.dumps({**package, "version": version}))
    (folder / "dist").mkdir()
    _node(folder, NPM / "rolldown" / "bin" / "cli.mjs", "adapter.js", *_BUNDLE)
    (folder / "dist" / "tools.json").write_text(
        _node(folder, "--experimental-default-type=module", "write-tools.js")
    )
    (folder / "node_modules").unlink()
    return folder


_BUNDLE = ("--format", "iife", "--minify", "--file", "dist/adapter.iife.js")


def _node(folder: Path, *arguments: str | Path) -> str:
    done = subprocess.run(
        [NODE, *arguments], cwd=folder, check=True, capture_output=True, text=True, timeout=PATIENCE
    )
    return done.stdout
