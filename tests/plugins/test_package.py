"""Packages are read as they are in the wild; a fault in one is named, and nothing of it runs."""

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from tabhub.errors import REASONS, TabhubError
from tabhub.plugins.package import (
    LONGEST_DESCRIPTION,
    MOST_BYTES,
    MOST_TOOLS,
    RESERVED,
    plugin_name,
    read_package,
)
from tabhub.plugins.tool_schemas import SCHEMA_BYTES
from tests.plugins.packages import package_json, tool, write_package


def sha(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def refusal(folder: Path) -> str:
    with pytest.raises(TabhubError) as refused:
        read_package(folder, "local")
    assert refused.value.reason in REASONS
    assert refused.value.effect in ("none", "unknown")
    assert refused.value.message.startswith("This plugin is not loaded: ")
    return f"{refused.value.reason}: {refused.value.message}"


def test_a_package_with_every_field_of_the_format_is_read(tmp_path: Path) -> None:
    package = package_json(
        "@acme/opentabs-plugin-notes",
        excludePatterns=["https://demo.example/help/*"],
        homepage="https://demo.example/",
        preScript="src/pre-script.ts",
    )
    listed = {
        "sdkVersion": "0.0.115",
        "iconSvg": "<svg></svg>",
        "preScriptHash": "00",
        "configSchema": {
            "site": {"type": "url", "label": "Site", "required": True},
            "kind": {"type": "select", "label": "Kind", "options": ["a", "b"], "default": "b"},
        },
        "tools": [tool(), tool("list_notes")],
    }
    folder = write_package(tmp_path, package, listed, pre_script="self.token = 1;")
    read = read_package(folder, "installed")
    assert (read.name, read.package, read.version) == (
        "acme-notes",
        "@acme/opentabs-plugin-notes",
        "1.2.3",
    )
    assert (read.title, read.description) == ("Demo", "Notes of demo.example.")
    assert read.url_patterns == ("https://demo.example/*",)
    assert read.exclude_patterns == ("https://demo.example/help/*",)
    assert (read.homepage, read.kind, read.sdk_version) == (
        "https://demo.example/",
        "installed",
        "0.0.115",
    )
    assert read.settings["site"].required
    assert (read.settings["kind"].options, read.settings["kind"].default) == (("a", "b"), "b")
    assert [t.name for t in read.tools] == ["add_note", "list_notes"]
    assert read.pre_script == folder / "dist" / "pre-script.iife.js"
    assert read.digests["dist/adapter.iife.js"] == sha(folder / "dist" / "adapter.iife.js")
    assert read.digests["dist/tools.json"] == sha(folder / "dist" / "tools.json")
    assert read.digests["package.json"] == sha(folder / "package.json")
    assert read.digest_of(read.pre_script) == sha(read.pre_script)


def test_the_older_form_of_tools_json_is_a_bare_list(tmp_path: Path) -> None:
    read = read_package(write_package(tmp_path, tools=[tool()]), "local")
    assert (read.sdk_version, len(read.tools), read.pre_script) == ("", 1, None)


def test_a_required_property_with_a_default_becomes_optional_and_its_default_is_kept(
    tmp_path: Path,
) -> None:
    [read] = read_package(write_package(tmp_path), "local").tools
    assert json.loads(read.input_schema)["required"] == ["title"]
    assert read.defaults == {"limit": 10}
    assert (read.title, read.icon) == ("Add a note", "plus")
    assert read.output_schema is not None
    assert json.loads(read.output_schema)["properties"] == {"id": {"type": "string"}}


def test_configuration_comes_from_tools_json_if_both_files_have_it(tmp_path: Path) -> None:
    package = package_json(configSchema={"old": {"type": "string", "label": "Old"}})
    listed = {"tools": [tool()], "configSchema": {"new": {"type": "string", "label": "New"}}}
    assert list(read_package(write_package(tmp_path, package, listed), "local").settings) == ["new"]


@pytest.mark.parametrize(
    ("package", "name"),
    [
        ("opentabs-plugin-slack", "slack"),
        ("tabhub-plugin-notes", "notes"),
        ("@opentabs-dev/opentabs-plugin-e2e-test", "e2e-test"),
        ("@acme/opentabs-plugin-jira", "acme-jira"),
        ("@acme/tabhub-plugin-jira", "acme-jira"),
    ],
)
def test_the_name_of_a_plugin_is_derived_from_its_package(package: str, name: str) -> None:
    assert plugin_name(package) == name


@pytest.mark.parametrize(
    "package",
    [
        *("slack", "opentabs-plugin-", "@acme/slack", "../opentabs-plugin-x", "opentabs-plugin-A"),
        *(
            "opentabs-plugin-a_b",
            "opentabs-plugin-a/b",
            "opentabs-plugin-a..b",
            "@/opentabs-plugin-x",
        ),
        *("opentabs-plugin-" + "a" * 70, "", "opentabs-plugin-x\n", "@.acme/opentabs-plugin-x"),
        *(f"opentabs-plugin-{name}" for name in sorted(RESERVED)),
        "@opentabs-dev/opentabs-plugin-browser",
    ],
)
def test_a_package_with_another_name_is_no_plugin(package: str) -> None:
    with pytest.raises(TabhubError, match="This plugin is not loaded"):
        plugin_name(package)


def test_no_pattern_is_allowed_only_if_a_required_setting_names_the_site(tmp_path: Path) -> None:
    package = package_json(urlPatterns=[])
    assert "urlPatterns is empty" in refusal(write_package(tmp_path / "a", package))
    setting = {"site": {"type": "url", "label": "Site", "required": True}}
    listed = {"tools": [tool()], "configSchema": setting}
    read = read_package(write_package(tmp_path / "b", package, listed), "local")
    assert read.url_patterns == ()


def nested(depth: int) -> Any:
    return {"properties": {"a": nested(depth - 1)}} if depth else {}


def doubling(times: int) -> Any:
    """A schema that is twice as large with each definition that refers to the next one twice."""
    last = {f"d{times}": {"type": "string"}}
    twice = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(times)}
    return {"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": {**twice, **last}}


UNFIT_TOOLS: list[tuple[Any, str]] = [
    ([], "1 to 500 tools"),
    ([tool()] * 2, "two tools are called add_note"),
    ([tool(f"t{n}") for n in range(MOST_TOOLS + 1)], "1 to 500 tools"),
    ([tool("_hidden")], "is no name of a tool"),
    ([tool("a b")], "is no name of a tool"),
    ([tool("x" * 65)], "is no name of a tool"),
    ([{**tool(), "name": 7}], "Expected `str`, got `int` - at `$[0].name`"),
    ([tool(description="")], "1 to 1000 characters"),
    ([tool(description="x" * (LONGEST_DESCRIPTION + 1))], "1 to 1000 characters"),
    ([tool(input_schema=None)], "its schema is no object"),
    ([tool(input_schema=[])], "its schema is no object"),
    ([tool(input_schema={"type": "string"})], "its schema is not that of an object"),
    ([tool(input_schema={"properties": 3})], "properties that are no object"),
    ([tool(input_schema={"required": "title"})], "its schema requires what are no names"),
    ([tool(input_schema={"$ref": "https://evil.example/s.json"})], "another document"),
    ([tool(input_schema={"allOf": [{"$ref": "#/$defs/none"}]})], "its schema refers to nothing"),
    ([tool(input_schema={"properties": {"tabId": {}}})], "it has an input tabId"),
    ([tool(input_schema={"properties": {"instance": {}}})], "it has an input instance"),
    ([tool(input_schema=doubling(16))], "too large once its references are followed"),
    ([tool(input_schema=nested(60))], "nested more than 50 deep"),
    ([tool(input_schema={"title": "x" * SCHEMA_BYTES})], "more than 262144 bytes"),
    ([tool(output_schema={"title": "x" * SCHEMA_BYTES})], "more than 262144 bytes"),
    ({"tools": {}}, "Expected `array`, got `object` - at `$.tools`"),
    ({"sdkVersion": "1"}, "missing required field `tools`"),
    ("tools", "Expected `object`, got `str`"),
    ({"tools": [tool()], "preScriptFile": "../../x.js"}, "must be a .js file in dist"),
    ({"tools": [tool()], "preScriptFile": "adapter.txt"}, "must be a .js file in dist"),
    ({"tools": [tool()], "preScriptFile": "missing.js"}, "there is no dist/missing.js"),
    ({"tools": [tool()], "configSchema": {"a": {"type": "date", "label": "A"}}}, "date"),
    (
        {"tools": [tool()], "configSchema": {"a": {"type": "select", "label": "A"}}},
        "1 to 100 options",
    ),
    (
        {"tools": [tool()], "configSchema": {"__proto__": {"type": "string", "label": "A"}}},
        "is no name of a setting",
    ),
    (
        {
            "tools": [tool()],
            "configSchema": {"a": {"type": "number", "label": "A", "default": "1"}},
        },
        "the default of a does not fit its type number",
    ),
]


@pytest.mark.parametrize(("tools", "reason"), UNFIT_TOOLS)
def test_unfit_tools_are_refused_with_the_reason(tmp_path: Path, tools: Any, reason: str) -> None:
    assert reason in refusal(write_package(tmp_path, tools=tools))


UNFIT_PACKAGES: list[tuple[Any, str]] = [
    ({"name": "opentabs-plugin-x", "version": "1.0.0"}, "missing required field `opentabs`"),
    ({**package_json(), "version": "1 <b>"}, "is no version"),
    (package_json(displayName=" "), "displayName is empty"),
    (package_json(displayName=3), "Expected `str`, got `int` - at `$.opentabs.displayName`"),
    (package_json(description="x" * 1001), "1 to 1000 characters"),
    (package_json(urlPatterns="https://a.example/*"), "Expected `array`"),
    (package_json(urlPatterns=["<all_urls>"]), "is not a pattern"),
    (package_json(urlPatterns=["*://*/*"]), "too many sites"),
    (package_json(urlPatterns=["*://*.com/*"]), "too many sites"),
    (package_json(urlPatterns=["https://a.example/*a*b*c*d*e*f"]), "more than 5 *"),
    (package_json(excludePatterns=["file:///*"]), "excludePatterns"),
    (package_json(homepage="javascript:alert(1)"), "homepage must be an http or https address"),
    (package_json(homepage="https://a@b.example/"), "homepage must be an http or https address"),
    (package_json(preScript="src/pre.ts"), "there is no dist/pre-script.iife.js"),
]


@pytest.mark.parametrize(("package", "reason"), UNFIT_PACKAGES)
def test_an_unfit_package_json_is_refused_with_the_reason(
    tmp_path: Path, package: Any, reason: str
) -> None:
    assert reason in refusal(write_package(tmp_path, package))


@pytest.mark.parametrize("name", ["package.json", "dist/tools.json", "dist/adapter.iife.js"])
def test_a_missing_empty_or_oversized_file_is_refused(tmp_path: Path, name: str) -> None:
    path = write_package(tmp_path) / name
    path.write_bytes(b"")
    assert f"{name} is empty" in refusal(tmp_path)
    path.write_bytes(b" " * (MOST_BYTES + 1))
    assert refusal(tmp_path).startswith("too_large")
    path.unlink()
    assert refusal(tmp_path).startswith("not_found")


@pytest.mark.parametrize("text", [b"{", b"\xff\xfe", b"[" * 5000, b"null"])
@pytest.mark.parametrize("name", ["package.json", "dist/tools.json"])
def test_a_file_that_is_no_json_is_refused(tmp_path: Path, name: str, text: bytes) -> None:
    (write_package(tmp_path) / name).write_bytes(text)
    assert f"{name}: " in refusal(tmp_path)


def test_a_script_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    (write_package(tmp_path) / "dist" / "adapter.iife.js").write_bytes(b"\xff\xfea")
    assert "is not text in UTF-8" in refusal(tmp_path)


def test_what_is_no_file_is_never_waited_for(tmp_path: Path) -> None:
    adapter = write_package(tmp_path) / "dist" / "adapter.iife.js"
    adapter.unlink()
    os.mkfifo(adapter)
    assert "is not a file" in refusal(tmp_path)
    adapter.unlink()
    adapter.mkdir()
    assert "is not a file" in refusal(tmp_path)


def test_links_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "auth.json"
    secret.write_text("{}")
    folder = write_package(tmp_path / "plugin")
    for name in ("package.json", "dist/tools.json", "dist/adapter.iife.js"):
        kept = (folder / name).read_bytes()
        (folder / name).unlink()
        (folder / name).symlink_to(secret)
        assert "is a link" in refusal(folder)
        (folder / name).unlink()
        (folder / name).write_bytes(kept)
    (folder / "dist").rename(tmp_path / "dist")
    (folder / "dist").symlink_to(tmp_path / "dist")
    assert "is a link" in refusal(folder)


def test_texts_are_made_printable(tmp_path: Path) -> None:
    hostile = "Adds\x1b[2J a\u202e note\x00"
    listed = [tool(description=hostile, displayName="Add\nit\x07", icon="i\n")]
    read = read_package(write_package(tmp_path, tools=listed), "local").tools[0]
    assert read.description == "Adds[2J a note"
    assert (read.title, read.icon) == ("Add it", "i")


JSON_VALUE = {
    "type": "object",
    "properties": {
        "value": {"$ref": "#/$defs/json"},
        "self": {"$ref": "#"},
        "default": {"$ref": "#"},
    },
    "required": ["value"],
    "$defs": {
        "json": {
            "anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"$ref": "#/$defs/json"}},
                {"type": "object", "additionalProperties": {"$ref": "#/$defs/other"}},
            ]
        },
        "other": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/json"}]},
    },
    "default": {"$ref": "#"},
}
"""A recursive type, as Zod writes it."""


def test_a_recursive_schema_is_checked_up_to_where_it_begins_again(tmp_path: Path) -> None:
    [read] = read_package(
        write_package(tmp_path, tools=[tool(input_schema=JSON_VALUE)]), "local"
    ).tools
    schema = json.loads(read.input_schema)
    validator = jsonschema_rs.validator_for(schema)
    assert validator.is_valid({"value": [["deep", {"er": None}]]})
    assert not validator.is_valid({"value": 3})
    assert not validator.is_valid({})
    assert schema["default"] == {"$ref": "#"}
