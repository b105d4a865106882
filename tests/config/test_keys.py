"""Each setting is documented, and the table says when a change of it takes effect."""

from collections import Counter

from tabhub.config.keys import LIVE, names
from tabhub.config.setting_list import field_docs
from tabhub.config.settings import Settings

AT_START = {
    "port",
    "host",
    "mcpServer.enabled",
    "mcpServer.port",
    "mcpServer.host",
    "limits.bodyBytes",
    "limits.wsBytes",
    "limits.callSeconds",
    "limits.maxCallSeconds",
    "limits.approvalSeconds",
    "limits.resultBytes",
    "limits.toolsPerTab",
    "limits.schemaBytes",
    "limits.pageCallSeconds",
    "sessions.idleMinutes",
    "sessions.closeTabsOnEnd",
    "sessions.backgroundMinutes",
    "dev",
    "exposure",
    "audit.redact",
    "audit.maxBytes",
    "recording.consoleEntries",
    "recording.networkEntries",
}
"""Settings that wait for the next start of the server; `LIVE` has all others."""


def test_the_table_says_for_every_setting_whether_a_running_server_applies_it() -> None:
    assert Counter([*LIVE, *AT_START]) == Counter(names())


def test_every_setting_is_documented() -> None:
    described = dict(field_docs(Settings))
    assert [key for key in names() if not described[key].endswith(".")] == []
