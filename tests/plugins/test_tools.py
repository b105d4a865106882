"""The tools of plugins as the hub has them: their schemas, their gate, and what changes notify."""

from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from tabhub.calls.authorization import Guard, subject_of
from tabhub.calls.validation import Validators
from tabhub.config.clients import MAIN
from tabhub.config.settings import PermissionSettings, Settings
from tabhub.errors import InvalidArguments, NotFound
from tabhub.hub.hub import Hub
from tabhub.hub.tools import Tool
from tabhub.permissions.decide import Permissions
from tabhub.permissions.grants import Grants
from tabhub.permissions.rules import RuleBook
from tabhub.permissions.verdict import Ask, Deny
from tabhub.plugins.discovery import Plugins
from tabhub.plugins.package import Package
from tabhub.plugins.review import Reviews
from tabhub.plugins.tools import PluginGate, PluginTools
from tests.plugins.packages import package_json, tool, write_package

NAME = "demo_add_note"


class Listed:
    """A hub with one plugin that is reviewed, and instances that the test sets."""

    def __init__(self, root: Path) -> None:
        self.folder, settings = root / "demo", Settings()
        write_package(self.folder)
        self.hub, self.changes = Hub(), 0
        self.plugins = Plugins(root, lambda: settings)
        self.reviews = Reviews(None, lambda name, level: None)
        self.instances: tuple[str, ...] = ()
        self.tools = PluginTools(self.hub.tools, self.plugins, self.reviews, self._instances)
        self.hub.tools.on_change(self._changed)
        self.plugins.reload()
        self.reviews.approve(self.package)

    def _instances(self, package: Package) -> tuple[str, ...]:
        return self.instances

    def _changed(self) -> None:
        self.changes += 1

    @property
    def package(self) -> Package:
        return self.plugins.get("demo")

    @property
    def tool(self) -> Tool:
        return self.hub.tools.get(NAME)

    def guard(self, levels: PermissionSettings | None = None) -> Guard:
        book = RuleBook(None, levels or PermissionSettings())
        permissions = Permissions(book, Grants())
        return Guard(permissions, self.hub.ownership, lambda browser: True, lambda: 0.0)


@pytest.fixture
def listed(tmp_path: Path) -> Listed:
    return Listed(tmp_path)


def check(tool: Tool, arguments: Mapping[str, object]) -> None:
    Validators().arguments(tool, msgspec.Raw(msgspec.json.encode(arguments)))


def test_with_two_instances_the_call_must_choose_one(listed: Listed) -> None:
    check(listed.tool, {"title": "x"})
    with pytest.raises(InvalidArguments):
        check(listed.tool, {"title": "x", "instance": "work"})
    listed.instances = ("work", "home")
    listed.tools.refresh()
    schema = listed.tool.input_schema
    assert schema["properties"]["instance"]["enum"] == ["work", "home"]
    assert schema["required"] == ["instance", "title"]
    check(listed.tool, {"title": "x", "instance": "work", "tabId": 3})
    for wrong in ({"title": "x"}, {"title": "x", "instance": "other"}):
        with pytest.raises(InvalidArguments):
            check(listed.tool, wrong)
    listed.instances = ("work",)
    listed.tools.refresh()
    assert "instance" not in listed.tool.input_schema["properties"]


def test_only_what_changes_is_told(listed: Listed) -> None:
    before, changes = listed.tool, listed.changes
    listed.tools.refresh()
    listed.plugins.reload()
    assert (listed.tool is before, listed.changes) == (True, changes)
    write_package(listed.folder, tools=[tool("other"), tool("more")])
    listed.plugins.reload()
    assert listed.hub.tools.find(NAME) is None
    listed.reviews.approve(listed.package)
    assert {tool.name for tool in listed.hub.tools} == {"demo_other", "demo_more"}
    assert listed.changes == changes + 2


def test_every_tool_stands_behind_the_gate_of_its_plugin(listed: Listed) -> None:
    held = listed.tool
    everything = PermissionSettings(tools={NAME: "auto"}, plugins={"demo": "auto"})
    guard = listed.guard(everything)
    guard.permissions.skip = True
    assert not guard.is_off(held, MAIN)
    listed.reviews.forget("demo")
    subject = subject_of(held, {}, MAIN, "s", site="demo.example", managed=True)
    verdict = guard.decide(subject)
    assert isinstance(verdict, Deny)
    assert verdict.message.endswith("tabhub plugin review demo")
    with pytest.raises(NotFound, match="the person has not reviewed this plugin"):
        listed.hub.tools.get(NAME)


def test_a_plugin_without_a_level_is_off_whatever_the_browser(listed: Listed) -> None:
    guard = listed.guard()
    assert isinstance(guard.about(listed.tool, MAIN, managed=True), Deny)
    asking = listed.guard(PermissionSettings(plugins={"demo": "ask"}))
    assert isinstance(asking.about(listed.tool, MAIN, managed=True), Ask)


def test_code_may_be_in_pages_while_it_is_reviewed_and_one_tool_is_not_off(tmp_path: Path) -> None:
    listed = Listed(tmp_path)
    write_package(listed.folder, tools=[tool("one"), tool("two")])
    listed.plugins.reload()

    def closed(**levels: dict[str, str]) -> str | None:
        chosen = msgspec.convert(levels, PermissionSettings)
        return PluginGate(listed.hub.tools, listed.reviews, listed.guard(chosen)).closed(
            listed.package
        )

    assert closed(plugins={"demo": "auto"}) == "not_reviewed"
    listed.reviews.approve(listed.package)
    assert closed() == "off"
    assert closed(plugins={"demo": "ask"}) is None
    assert closed(plugins={"demo": "off"}, tools={"demo_two": "ask"}) is None
    assert closed(plugins={"demo": "ask"}, tools={"demo_one": "off", "demo_two": "off"}) == "off"


def test_a_plugin_of_another_name_is_not_mistaken_for_the_one_that_is_reviewed(
    listed: Listed,
) -> None:
    write_package(listed.folder, package_json("tabhub-plugin-demo"))
    listed.plugins.reload()
    assert list(listed.hub.tools) == []
