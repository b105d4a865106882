"""Calls of a plugin's tools: arguments in, a value that can be written as JSON out."""

from collections.abc import Mapping
from typing import Any

import msgspec

from tabhub.sdk.descriptions import definition_of
from tabhub.sdk.plugin_class import Plugin, settings_of_call
from tabhub.sdk.plugin_errors import PluginError
from tabhub.sdk.plugin_page import Page


async def invoke(
    plugin: Plugin,
    tool_name: str,
    arguments: Mapping[str, Any],
    page: Page,
    *,
    settings: Mapping[str, Any] | None = None,
) -> Any:
    """Call a tool and return its result as plain values; any exception of the method passes.

    `settings` are the values for this tab. Without it, the settings of the context remain.
    """
    method = definition_of(type(plugin)).tools.get(tool_name)
    if method is None:
        raise PluginError(f"There is no tool {tool_name}.", "not_found", code="unknown_tool")
    given = _converted(arguments, method.arguments, tool_name)
    if settings is None:
        result = await method.function(plugin, page, **given)
    else:
        with settings_of_call(_typed_settings(plugin, settings)):
            result = await method.function(plugin, page, **given)
    return _plain_result(result, tool_name)


async def is_ready(
    plugin: Plugin, page: Page, *, settings: Mapping[str, Any] | None = None
) -> bool:
    """Whether the plugin's tools can be called in this page."""
    if settings is None:
        return bool(await plugin.ready(page))
    with settings_of_call(_typed_settings(plugin, settings)):
        return bool(await plugin.ready(page))


def _converted(
    arguments: Mapping[str, Any], kind: type[msgspec.Struct], tool_name: str
) -> dict[str, Any]:
    try:
        converted = msgspec.convert(_with_whole_numbers(dict(arguments)), kind, str_keys=True)
    except msgspec.ValidationError as error:
        raise PluginError(
            f"The arguments of {tool_name} are wrong: {error}", "validation", code="arguments"
        ) from error
    return {name: getattr(converted, name) for name in kind.__struct_fields__ if name in arguments}


def _with_whole_numbers(value: Any) -> Any:
    """The value with 5 in the place of 5.0, which is an integer too, as JSON Schema has it."""
    if isinstance(value, dict):
        return {name: _with_whole_numbers(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_with_whole_numbers(part) for part in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _typed_settings(plugin: Plugin, values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _setting_value(hint, name, values[name])
        for name, hint in definition_of(type(plugin)).setting_types.items()
        if values.get(name) is not None
    }


def _setting_value(hint: Any, name: str, value: Any) -> Any:
    try:
        return msgspec.convert(_with_whole_numbers(value), hint)
    except msgspec.ValidationError as error:
        # The value may be a secret: it is not part of the message.
        message = f"The setting {name} has a value of a wrong type."
        raise PluginError(message, "validation", code="setting") from error


def _plain_result(result: Any, tool_name: str) -> Any:
    try:
        return msgspec.to_builtins(result, str_keys=True)
    except (TypeError, ValueError) as error:
        message = f"The result of {tool_name} cannot be written as JSON: {error}"
        raise PluginError(message, code="result") from error
