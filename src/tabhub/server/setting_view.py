"""The settings in the side panel: the list, and changing one in `config.json`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from tabhub.config import keys
from tabhub.config.paths import Home
from tabhub.config.setting_list import FormSetting, form_settings
from tabhub.config.settings import Settings, described
from tabhub.config.settings import load as load_settings
from tabhub.errors import InvalidArguments
from tabhub.server.administration import Reloading
from tabhub.server.status import Report
from tabhub.store.active_rules import check_settings
from tabhub.wire.link import Nothing
from tabhub.wire.panel_views import ListedSetting, SettingList, SettingOutcome, SettingSet


@dataclass
class SettingView:
    """Answers the panel's requests about settings."""

    home: Home | None
    settings: Settings
    """In force, and changed in place by a reload."""
    by_flag: frozenset[str]
    """The keys that flags have set."""
    report: Callable[[], Report]
    reloading: Callable[[], Reloading]

    @property
    def handlers(self) -> dict[str, Callable[[Any], Any]]:
        return {"settings.list": self.list, "settings.set": self.set}

    def list(self, params: Nothing) -> SettingList:
        written = keys.plain(self.settings if self.home is None else load_settings(self.home))
        differing, locks = self.reloading().differences(), self._locks()
        return SettingList(
            settings=[
                ListedSetting(
                    key=key,
                    value=keys.value_of(written, key),
                    default=form.default,
                    type=form.type,
                    choices=form.choices,
                    about=form.about,
                    locked_by=locks.get(key),
                    waits=key in differing and key not in locks,
                )
                for key, form in form_settings().items()
            ]
        )

    def set(self, params: SettingSet) -> SettingOutcome:
        form = form_settings().get(params.key)
        if form is None:
            raise InvalidArguments(f"{params.key[:100]!r} is no setting that the panel changes.")
        if params.key in self._locks():
            locked = self._locks()[params.key]
            raise InvalidArguments(f"{params.key} is set by {locked} while this server runs.")
        if self.home is None:
            raise InvalidArguments("This server has no home, so it keeps no settings.")
        self._write(self.home, form, params.value)
        report = self.reloading().reload()
        return SettingOutcome(waits=params.key in report.get("restart", ()))

    def _write(self, home: Home, form: FormSetting, value: Any) -> None:
        path, kind = keys.path_of(form.key)

        def check(chosen: Settings) -> None:
            check_settings(home, chosen)

        if value is None:
            keys.remove_value(home, path, check)
            return
        try:
            msgspec.convert(value, kind)
        except msgspec.ValidationError:
            raise InvalidArguments(f"{form.key} must be {described(kind)}.") from None
        keys.set_value(home, path, value, check)

    def _locks(self) -> dict[str, str]:
        """What decides a setting in place of the file."""
        report, settings = self.report(), self.settings
        locks = dict.fromkeys(self.by_flag, "a flag of `tabhub start`")
        if settings.port and report.port not in (0, settings.port):
            locks["port"] = "--port or TABHUB_PORT"
        if report.sse_port != settings.mcp_server.port and settings.mcp_server.port != 0:
            locks["mcpServer.port"] = "--sse-port or CLAUDE_BROWSER_MCP_PORT"
        return locks
