"""What a Python plugin is written with.

    from tabhub.sdk import Page, Plugin, tool

A plugin is a class; its tools are typed methods, which act on the page of a tab. The process of a
plugin imports this package and nothing else of tabhub, so it imports nothing of tabhub itself.
"""

from tabhub.sdk.descriptions import Description, SettingDescription, ToolDescription, describe
from tabhub.sdk.invocation import invoke, is_ready
from tabhub.sdk.plugin_class import Plugin, Url, setting, settings_of_call, tool
from tabhub.sdk.plugin_errors import Category, InvalidPlugin, PluginError
from tabhub.sdk.plugin_page import Page, PageCookie, PageStorage, Transport
from tabhub.sdk.responses import Response, StreamedResponse

__all__ = [
    "Category",
    "Description",
    "InvalidPlugin",
    "Page",
    "PageCookie",
    "PageStorage",
    "Plugin",
    "PluginError",
    "Response",
    "SettingDescription",
    "StreamedResponse",
    "ToolDescription",
    "Transport",
    "Url",
    "describe",
    "invoke",
    "is_ready",
    "setting",
    "settings_of_call",
    "tool",
]
