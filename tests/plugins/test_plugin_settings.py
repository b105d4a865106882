"""The settings of plugins: checked against the configSchema, stored, and kept to themselves."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabhub.config.paths import Home
from tabhub.errors import InvalidArguments
from tabhub.plugins import plugin_settings
from tabhub.plugins.package import Package, read_package
from tests.plugins.packages import package_json, tool, write_package

SCHEMA = {
    "site": {"type": "url", "label": "Site", "required": True},
    "team": {"type": "string", "label": "Team"},
    "limit": {"type": "number", "label": "Limit", "default": 10},
    "loud": {"type": "boolean", "label": "Loud"},
    "mode": {"type": "select", "label": "Mode", "options": ["fast", "slow"]},
}
ADDRESS = "https://a.example"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Package:
    tools = {"configSchema": SCHEMA, "tools": [tool()]}
    folder = tmp_path_factory.mktemp("package")
    return read_package(write_package(folder, package_json(urlPatterns=[]), tools), "local")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").create()


def _stored(home: Home) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(home.config.read_text())
    return read


@pytest.mark.requirement("OT-35")
def test_values_of_every_type_are_stored_for_the_person_only(package: Package, home: Home) -> None:
    values = {"site": ADDRESS, "team": "x", "limit": 2.5, "loud": False, "mode": "slow"}
    plugin_settings.store(home, package, values)
    assert _stored(home) == {"settings": {"demo": values}}
    assert home.config.stat().st_mode & 0o777 == 0o600


@pytest.mark.requirement("OT-35")
@pytest.mark.parametrize(
    "wrong",
    [
        {"site": "ftp://a.example"},
        {"site": "javascript:alert(1)"},
        {"site": "a.example"},
        {"site": "https://user:pw@a.example"},
        {"site": "https://*.example"},
        {"site": "https://a.example:0"},
        {"site": "https://a.example:99999"},
        {"site": "https://[::1"},
        {"site": "https://a b"},
        {"site": ""},
        {"site": {}},
        {"site": {"": ADDRESS}},
        {"site": {" a": ADDRESS}},
        {"site": {"a": 1}},
        {"site": [ADDRESS]},
        {"site": {str(number): ADDRESS for number in range(51)}},
        {"site": None},
        {"team": 1},
        {"team": "x" * 10_001},
        {"limit": "10"},
        {"limit": True},
        {"limit": float("inf")},
        {"limit": float("nan")},
        {"limit": 10**400},
        {"loud": 1},
        {"loud": "true"},
        {"mode": "medium"},
        {"mode": ["fast"]},
        {"colour": "red"},
    ],
    ids=str,
)
def test_a_wrong_value_changes_nothing(package: Package, home: Home, wrong: dict[str, Any]) -> None:
    plugin_settings.store(home, package, {"site": ADDRESS})
    before = home.config.read_bytes()
    with pytest.raises(InvalidArguments, match="were not changed"):
        plugin_settings.store(home, package, {"team": "new", **wrong})
    assert home.config.read_bytes() == before


def test_an_error_does_not_repeat_the_value(package: Package, home: Home) -> None:
    for value in ({"site": "http://s3cret"}, {"site": {"a": "s3cret"}}, {"mode": "s3cret"}):
        with pytest.raises(InvalidArguments) as refused:
            plugin_settings.store(home, package, {"limit": "s3cret", **value})
        assert "s3cret" not in refused.value.message


def test_a_required_setting_has_to_be_given(package: Package, home: Home) -> None:
    with pytest.raises(InvalidArguments, match="site is required"):
        plugin_settings.store(home, package, {"team": "x"})
    assert plugin_settings.missing(package, {}) == ["site"]
    assert plugin_settings.missing(package, {"site": ADDRESS}) == []


def test_other_values_stay_and_null_removes_one(package: Package, home: Home) -> None:
    plugin_settings.store(home, package, {"site": ADDRESS, "team": "x", "loud": True})
    plugin_settings.store(home, package, {"team": None, "limit": 3})
    assert _stored(home)["settings"]["demo"] == {"site": ADDRESS, "loud": True, "limit": 3}


def test_a_plugin_gets_defaults_and_named_instances(package: Package) -> None:
    assert plugin_settings.in_force(package, {"site": ADDRESS}) == {
        "site": {"default": ADDRESS},
        "limit": 10,
    }
    named = {"work": ADDRESS, "home": "http://localhost:8080/x"}
    assert plugin_settings.instances(package, {"site": named}) == named
    assert plugin_settings.instances(package, {}) == {}


def test_what_was_written_past_the_checks_does_not_reach_the_plugin(package: Package) -> None:
    stored = {"site": "file:///etc/passwd", "limit": "ten", "unknown": 1, "loud": True}
    assert plugin_settings.in_force(package, stored) == {"limit": 10, "loud": True}


def test_a_faulty_settings_file_is_an_error_that_does_not_repeat_it(
    package: Package, home: Home
) -> None:
    home.config.write_text('{"settings": "s3cret"}')
    with pytest.raises(InvalidArguments) as refused:
        plugin_settings.store(home, package, {"site": ADDRESS})
    assert "settings must be" in refused.value.message and "s3cret" not in refused.value.message


def test_a_removed_plugin_leaves_no_value(package: Package, home: Home) -> None:
    home.config.write_text('{"dev": true}')
    plugin_settings.store(home, package, {"site": ADDRESS})
    plugin_settings.forget(home, "demo")
    assert _stored(home) == {"dev": True}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(sorted(SCHEMA)), JSON))
def test_whatever_is_accepted_reaches_the_plugin_as_it_is(
    package: Package, values: dict[str, Any]
) -> None:
    try:
        stored = plugin_settings.changed(package, {"site": ADDRESS}, values)
    except InvalidArguments:
        return
    kept = plugin_settings.in_force(package, stored)
    for name, value in stored.items():
        is_one_address = name == "site" and isinstance(value, str)
        assert kept[name] == ({"default": value} if is_one_address else value)
