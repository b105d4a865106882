"""Writes packages in the format, for tests."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Json = dict[str, Any]

ADAPTER = "(() => { globalThis.__openTabs.adapters.demo = Object.freeze({ name: 'demo' }); })();\n"


def tool(name: str = "add_note", **members: Any) -> Json:
    """A tool as the OpenTabs SDK writes it: `limit` has a default, and counts as required."""
    return {
        "name": name,
        "displayName": "Add a note",
        "description": "Adds a note.",
        "icon": "plus",
        "input_schema": {
            "type": "object",
            "properties": {
                "title": {"type": "string"},
                "limit": {"type": "integer", "default": 10},
            },
            "required": ["title", "limit"],
            "additionalProperties": False,
        },
        "output_schema": {"type": "object", "properties": {"id": {"type": "string"}}},
        **members,
    }


def package_json(name: str = "opentabs-plugin-demo", **opentabs: Any) -> Json:
    return {
        "name": name,
        "version": "1.2.3",
        "main": "dist/adapter.iife.js",
        "opentabs": {
            "displayName": "Demo",
            "description": "Notes of demo.example.",
            "urlPatterns": ["https://demo.example/*"],
            **opentabs,
        },
    }


def write_package(
    folder: Path,
    package: Json | None = None,
    tools: Any = None,
    adapter: str = ADAPTER,
    pre_script: str | None = None,
) -> Path:
    """A whole package in a folder."""
    dist = folder / "dist"
    dist.mkdir(parents=True, exist_ok=True)
    listed = {"sdkVersion": "0.0.115", "tools": [tool()]} if tools is None else tools
    if pre_script is not None and isinstance(listed, dict):
        listed = {"preScriptFile": "pre-script.iife.js", **listed}
        (dist / "pre-script.iife.js").write_text(pre_script)
    (folder / "package.json").write_text(json.dumps(package or package_json()))
    (dist / "tools.json").write_text(json.dumps(listed))
    (dist / "adapter.iife.js").write_text(adapter)
    return folder


def changed(written: Json, change: Callable[[Json], object]) -> Json:
    """A copy of a JSON value with something changed in it."""
    copy: Json = json.loads(json.dumps(written))
    change(copy)
    return copy
