"""The agents themselves read the settings of `tabhub connect` and reach the server with them.

Their packages take a gigabyte, so only `make agents` fetches them.
"""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.product import Product

FOLDER = Path(__file__).parent / "npm" / "node_modules"
PROGRAMS = {
    "claude-code": FOLDER / ".bin" / "claude",
    "codex": FOLDER / ".bin" / "codex",
    "gemini": FOLDER / ".bin" / "gemini",
    "opencode": FOLDER / "opencode-linux-x64-baseline" / "bin" / "opencode",
}
FILES = {
    "claude-code": (
        ".claude.json",
        '{\n  "mcpServers": {\n    "other": {"type": "stdio", "command": "/nowhere"}\n  }\n}\n',
    ),
    "codex": (".codex/config.toml", '# mine\n[mcp_servers.other]\ncommand = "/nowhere"\n'),
    "gemini": (
        ".gemini/settings.json",
        '{\n  // no person to ask\n  "security": {"folderTrust": {"enabled": false}},\n'
        '  "mcpServers": {"other": {"command": "/nowhere"}}\n}\n',
    ),
    "opencode": (
        ".config/opencode/opencode.jsonc",
        '{\n  // mine\n  "mcp": {\n    "other": { "type": "local", "command": ["/nowhere"] },\n'
        "  },\n}\n",
    ),
}
SECONDS = 100

pytestmark = [
    pytest.mark.npm,
    pytest.mark.slow,
    pytest.mark.requirement("OT-10"),
    pytest.mark.skipif(not FOLDER.exists(), reason="make agents fetches them"),
]


@pytest.fixture(params=list(PROGRAMS))
def name(request: pytest.FixtureRequest) -> str:
    agent: str = request.param
    if not PROGRAMS[agent].exists():
        pytest.skip(f"{agent} has no package for this machine")
    return agent


@pytest.fixture
def product(tmp_path: Path) -> Iterator[Product]:
    product_home = Product(tmp_path / "tabhub")
    (tmp_path / "person" / "project").mkdir(parents=True)
    product_home.environment |= {"HOME": str(tmp_path / "person"), "NO_COLOR": "1"}
    with product_home.running("start", "--port", "0"):
        product_home.wait_running()
        yield product_home


def _listed(product: Product, name: str, *flags: str) -> str:
    """The agent's own list of its servers."""
    home = Path(product.environment["HOME"])
    process = subprocess.run(
        [str(PROGRAMS[name]), "mcp", "list", *flags],
        cwd=home / "project",
        env=product.environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return process.stdout or process.stderr


def _line(listing: str) -> str:
    (line_of_tabhub,) = [line for line in listing.splitlines() if "tabhub" in line.split("/")[0]]
    return line_of_tabhub.lower()


@pytest.mark.parametrize(
    "flags", [[], ["--gateway"], ["--stdio"]], ids=["http", "gateway", "stdio"]
)
def test_the_agent_finds_its_other_servers_and_reaches_tabhub(
    product: Product, name: str, flags: list[str]
) -> None:
    path, text = FILES[name]
    file = Path(product.environment["HOME"], path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    assert product.run("connect", name, *flags).returncode == 0
    listing = _listed(product, name)
    assert "other" in listing
    # Codex only reads its settings and does not connect.
    assert ("enabled" if name == "codex" else "connected") in _line(listing)
    assert product.run("connect", name, "--remove").returncode == 0
    # The agent writes to the file too, so the bytes are compared only in test_connect.py.
    assert "tabhub" not in file.read_text() and "other" in file.read_text()
    assert "tabhub" not in _listed(product, name)


def test_codex_shows_the_token(product: Product) -> None:
    if not PROGRAMS["codex"].exists():
        pytest.skip("codex has no package for this machine")
    assert product.run("connect", "codex").returncode == 0
    (entry,) = json.loads(_listed(product, "codex", "--json"))
    assert entry["transport"]["type"] == "streamable_http"
    assert entry["transport"]["http_headers"]["Authorization"].startswith("Bearer thc_")
