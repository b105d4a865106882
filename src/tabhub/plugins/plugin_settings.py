"""The settings that plugins declare in their configSchema: checking and storing values.

Values are in `settings.<plugin>` of `config.json`. They may be secrets, so no error repeats one.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from tabhub.config import keys
from tabhub.config.paths import Home
from tabhub.config.settings import load
from tabhub.errors import InvalidArguments
from tabhub.plugins.package import Package, Setting

Values = dict[str, Any]
SECTION = "settings"
DEFAULT_INSTANCE = "default"
"""The name of the only instance, when a setting of type url is given as one address."""
MOST_INSTANCES = 50
LONGEST_INSTANCE = 64
LONGEST_TEXT = 10_000
LONGEST_ADDRESS = 2000
LARGEST_NUMBER = 2**53
"""Beyond it, JavaScript does not tell whole numbers apart."""


def changed(package: Package, stored: Mapping[str, Any], given: Mapping[str, Any]) -> Values:
    """The stored values after a change, where null removes one; raises if that is not allowed."""
    unknown = sorted(given.keys() - package.settings.keys())
    if unknown:
        names = ", ".join(package.settings) or "none"
        raise _refused(package, f"it has no setting {unknown[0][:100]!r}. There is: {names}")
    kept = {name: value for name, value in stored.items() if name in package.settings}
    fresh = {**kept, **{name: _checked(package, name, value) for name, value in given.items()}}
    values = {name: value for name, value in fresh.items() if value is not None}
    absent = missing(package, values)
    if absent:
        raise _refused(package, f"{', '.join(absent)} is required")
    return values


def in_force(package: Package, stored: Mapping[str, Any]) -> Values:
    """The values that the plugin gets: those stored, else the defaults; faulty ones do not count.

    Those of type url map the names of instances to addresses.
    """
    values: Values = {}
    for name, setting in package.settings.items():
        for value in (stored.get(name), setting.default):
            if name not in values and value is not None and _fault(setting, value) is None:
                values[name] = _instances(value) if setting.type == "url" else value
    return values


def missing(package: Package, stored: Mapping[str, Any]) -> list[str]:
    """The required settings without a value."""
    values = in_force(package, stored)
    return [name for name, it in package.settings.items() if it.required and name not in values]


def instances(package: Package, stored: Mapping[str, Any]) -> dict[str, str]:
    """The addresses of a plugin's instances by their names, from its settings of type url."""
    values, found = in_force(package, stored), dict[str, str]()
    for name, setting in package.settings.items():
        if setting.type == "url":
            found |= values.get(name, {})
    return found


def store(home: Home, package: Package, given: Mapping[str, Any]) -> None:
    """Check values and write them to the settings file; if one is wrong, none is written."""
    # Raises if someone has made the file faulty meanwhile.
    load(home)

    def change(config: dict[str, Any]) -> None:
        stored = config.get(SECTION, {}).get(package.name, {})
        values = changed(package, stored, given)
        keys.put(config, (SECTION, package.name), values)
        if not values:
            keys.drop(config, (SECTION, package.name))

    keys.edit(home, change)


def forget(home: Home, name: str) -> None:
    """Remove the values of a plugin that was removed."""
    keys.remove_value(home, (SECTION, name))


def _checked(package: Package, name: str, value: Any) -> Any:
    if value is None:
        return None
    fault = _fault(package.settings[name], value)
    if fault is not None:
        raise _refused(package, f"{name} must be {fault}")
    return value


def _fault(setting: Setting, value: Any) -> str | None:
    """What a value should be; None if it is that."""
    if setting.type == "boolean":
        return None if isinstance(value, bool) else "true or false"
    if setting.type == "number":
        return _fault_of_number(setting, value)
    if setting.type == "select":
        return None if value in setting.options else f"one of: {', '.join(setting.options)}"
    if setting.type == "string":
        is_text = isinstance(value, str) and len(value) <= LONGEST_TEXT
        return None if is_text else f"a text of at most {LONGEST_TEXT} characters"
    return _fault_of_addresses(value)


def _fault_of_number(setting: Setting, value: Any) -> str | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    fits = is_number and abs(value) <= LARGEST_NUMBER
    if setting.whole:
        return None if fits and value == int(value) else "a whole number"
    return None if fits else "a number"


def _fault_of_addresses(value: Any) -> str | None:
    found = _instances(value)
    if not isinstance(found, dict) or not 0 < len(found) <= MOST_INSTANCES:
        return f"an address, or 1 to {MOST_INSTANCES} addresses by names that you choose"
    if not all(map(_is_instance_name, found)):
        return f"by names of at most {LONGEST_INSTANCE} printable characters"
    if not all(map(_is_address, found.values())):
        return "an http or https address without a password, such as https://example.com"
    return None


def _instances(value: Any) -> Any:
    return {DEFAULT_INSTANCE: value} if isinstance(value, str) else value


def _is_instance_name(name: str) -> bool:
    return 0 < len(name) <= LONGEST_INSTANCE and name.isprintable() and name == name.strip()


def _is_address(value: Any) -> bool:
    if not isinstance(value, str) or len(value) > LONGEST_ADDRESS or not value.isprintable():
        return False
    try:
        parts = urlsplit(value)
        has_host = parts.hostname is not None and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
    is_plain = not any(letter in value for letter in " *\\") and "@" not in parts.netloc
    return parts.scheme in ("http", "https") and has_host and is_plain


def _refused(package: Package, why: str) -> InvalidArguments:
    return InvalidArguments(f"The settings of {package.name} were not changed: {why}.")
