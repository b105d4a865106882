"""The numbers and forms that the document names, where tabhub has the same ones."""

import re
from pathlib import Path

import pytest

from tabhub.config import secret
from tabhub.config.paths import Home
from tabhub.config.settings import Settings

MEGABYTE = 1024 * 1024


@pytest.mark.document("OT-server-1")
def test_the_server_listens_on_port_9515_of_this_machine() -> None:
    assert (Settings().port, Settings().host) == (9515, "127.0.0.1")


@pytest.mark.document("OT-dispatch-6", "OT-dispatch-8")
def test_a_call_has_30_seconds_and_5_minutes_at_most() -> None:
    limits = Settings().limits
    assert (limits.call_seconds, limits.max_call_seconds) == (30, 5 * 60)


@pytest.mark.document("OT-ws-5", "OT-audit-5")
def test_messages_of_the_extension_and_the_audit_file_have_10_megabytes() -> None:
    settings = Settings()
    assert settings.limits.ws_bytes == settings.audit.max_bytes == 10 * MEGABYTE


@pytest.mark.document("OT-mcp-2")
def test_the_secret_is_64_hex_digits_in_the_file_of_the_extension(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").create()
    made = secret.prepare(home, 9515)
    assert re.fullmatch("[0-9a-f]{64}", made.secret)
    assert home.auth == home.root / "extension" / "auth.json"
    assert made.secret in home.auth.read_text()
