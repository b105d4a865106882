"""`tabhub permissions`, as a person runs it."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest

from tabhub.config.secret import prove
from tabhub.permissions.grants import Grant
from tabhub.store.store import Store
from tests.support.product import Product

CLICK, READ, NAVIGATE = "browser_click_element", "browser_read_page", "browser_navigate_tab"

CHECKOUT = ("tools", "website_tool_127_0_0_1_8765_checkout")


@pytest.fixture
def product(tmp_path: Path) -> Product:
    product = Product(tmp_path / "home")
    product.home.mkdir(mode=0o700)
    return product


def config(product: Product) -> Any:
    return json.loads((product.home / "config.json").read_text())


def explained(product: Product, *arguments: str) -> dict[str, tuple[str, str]]:
    explanation = json.loads(product.run("permissions", "explain", *arguments, "--json").stdout)
    return {
        kind: (verdict["verdict"], verdict["rule"])
        for kind, verdict in explanation["verdicts"].items()
    }


@contextmanager
def server(product: Product, status: int = 200) -> Iterator[list[tuple[str, str | None]]]:
    """A double of the running server: it knows the secret and records the requests."""
    product.run("extension", "path")
    requests: list[tuple[str, str | None]] = []

    class Double(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            challenge = parse_qs(urlsplit(self.path).query).get("challenge", [""])[0]
            proof = prove(product.secret, challenge, self.server.server_port)  # type: ignore[attr-defined]
            self._answer(200, {"proof": proof})

        def do_POST(self) -> None:
            requests.append((self.path, self.headers["Authorization"]))
            self._answer(status, {"error": {"message": "policy.toml:3: no."}})

        def _answer(self, status: int, body: Any) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    running = ThreadingHTTPServer(("127.0.0.1", 0), Double)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    pid_file = {"pid": 1, "port": running.server_port}
    (product.home / "server.pid").write_text(json.dumps(pid_file))
    try:
        yield requests
    finally:
        running.shutdown()
        running.server_close()


@pytest.mark.parametrize(
    ("subject", "section", "name"),
    [
        (CLICK, "tools", CLICK),
        ("tool:slack_send", "tools", "slack_send"),
        ("website_tool_127_0_0_1_8765_checkout", *CHECKOUT),
        ("tool:website_tool_127_0_0_1_8765_checkout", *CHECKOUT),
        ("browser", "plugins", "browser"),
        ("plugin:slack", "plugins", "slack"),
        ("plugin:a.b", "plugins", "a.b"),
        ("Bank.Example", "domains", "bank.example"),
        ("*.corp.example", "domains", "*.corp.example"),
        ("localhost", "domains", "localhost"),
        ("localhost:8080", "domains", "localhost:8080"),
        ("https://bank.example/account", "domains", "bank.example"),
        ("domain:intranet", "domains", "intranet"),
    ],
)
def test_a_subject_is_a_tool_a_host_or_a_plugin(
    product: Product, subject: str, section: str, name: str
) -> None:
    process = product.run("permissions", "set", subject, "off")
    assert (process.returncode, config(product)) == (0, {"permissions": {section: {name: "off"}}})
    assert f"{section}.{name} = off" in process.stdout


def test_setting_keeps_every_other_key_and_default_removes_the_setting(
    product: Product,
) -> None:
    before = {"port": 4001, "later": {"x": [1]}, "permissions": {"tools": {"a_tool": "ask"}}}
    (product.home / "config.json").write_text(json.dumps(before))
    product.run("permissions", "set", CLICK, "auto")
    assert config(product)["permissions"]["tools"] == {"a_tool": "ask", CLICK: "auto"}
    assert (product.home / "config.json").stat().st_mode & 0o777 == 0o600
    product.run("permissions", "set", CLICK, "default")
    assert config(product) == before


def test_closing_a_host_says_what_stays_open_there(product: Product) -> None:
    product.run("permissions", "set", CLICK, "auto")
    for host, has_below in (("bank.example", True), ("*.bank.example", False), ("10.0.0.1", False)):
        said = product.run("permissions", "set", host, "off").stderr
        assert ("'*.bank.example' off" in said) == has_below
        assert f"keep it there: {CLICK}." in said and "sites.deny" in said
    product.run("permissions", "set", CLICK, "default")
    assert product.run("permissions", "set", "*.shop.example", "off").stderr == ""
    assert product.run("permissions", "set", "shop.example", "ask").stderr == ""


def test_one_host_in_two_spellings_has_one_level(product: Product) -> None:
    written = {"permissions": {"domains": {"Bank.Example": "off"}}}
    (product.home / "config.json").write_text(json.dumps(written))
    product.run("permissions", "set", "bank.example", "default")
    assert config(product) == {}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([CLICK, "maybe"], "maybe"),
        (["browser_click_elment", "off"], f"Did you mean {CLICK}?"),
        (["a*.example", "off"], "a*.example"),
        ([CLICK], "level"),
    ],
)
def test_invalid_arguments_are_a_usage_error_and_change_nothing(
    product: Product, arguments: list[str], words: str
) -> None:
    refused = product.run("permissions", "set", *arguments)
    assert refused.returncode == 2
    assert words.lower() in refused.stderr.lower()
    assert not (product.home / "config.json").exists()


def test_a_running_server_is_notified_with_the_main_secret(product: Product) -> None:
    with server(product) as requests:
        assert product.run("permissions", "set", CLICK, "off").returncode == 0
    assert requests == [("/reload", f"Bearer {product.secret}")]


def test_the_refusal_of_a_server_is_quoted(product: Product) -> None:
    with server(product, status=400):
        refused = product.run("permissions", "set", CLICK, "off")
    assert refused.returncode == 1
    assert "policy.toml:3: no." in refused.stderr
    assert config(product)["permissions"]["tools"] == {CLICK: "off"}


def test_the_list_shows_settings_grants_and_the_policy(product: Product) -> None:
    product.run("permissions", "set", CLICK, "off")
    product.run("permissions", "set", "bank.example", "ask")
    (product.home / "policy.toml").write_text('unattended = "allow"\n')
    give(product, scope="domain", site="a.example")
    listed = product.run("permissions", "list").stdout
    assert f"tool:{CLICK} = off" in listed
    assert "domain:bank.example = ask" in listed
    assert f"granted to main: {CLICK} on a.example (domain)" in listed
    facts = json.loads(product.run("permissions", "list", "--json").stdout)
    assert (facts["tools"], facts["domains"]) == ({CLICK: "off"}, {"bank.example": "ask"})
    assert (facts["unattended"], facts["grants"][0]["tool"]) == ("allow", CLICK)
    assert facts["policyFile"] == str(product.home / "policy.toml")


def test_reading_creates_no_files(product: Product) -> None:
    assert product.run("permissions", "list").returncode == 0
    assert product.run("permissions", "explain", CLICK).returncode == 0
    assert list(product.home.iterdir()) == []


def test_an_explanation_distinguishes_both_kinds_of_browser(product: Product) -> None:
    clicking, reading = explained(product, CLICK), explained(product, READ)
    assert [clicking[kind][0] for kind in ("managed", "personal")] == ["allow", "ask"]
    assert [reading[kind][0] for kind in ("managed", "personal")] == ["allow", "allow"]
    lines = product.run("permissions", "explain", CLICK).stdout.splitlines()
    assert lines[0].startswith("A browser started by tabhub: allow, by ")
    assert lines[1].startswith("A person's own browser: ask, by ")


def test_an_explanation_names_the_rule_that_decided(product: Product) -> None:
    product.run("permissions", "set", "bank.example", "off")
    verdict, rule = explained(product, NAVIGATE, "--url", "https://bank.example/x")["managed"]
    assert (verdict, "bank.example" in rule, "config.json" in rule) == ("deny", True, True)
    assert explained(product, NAVIGATE, "--url", "https://other.example/")["managed"][0] == "allow"


def test_the_policy_file_named_in_the_settings_counts(product: Product) -> None:
    (product.home / "strict.toml").write_text(f'[tools]\n{CLICK} = "off"\n')
    (product.home / "config.json").write_text('{"policyFile": "strict.toml"}')
    verdict, rule = explained(product, CLICK)["managed"]
    assert (verdict, "strict.toml" in rule) == ("deny", True)


def test_a_fault_in_the_policy_is_reported_with_its_line(product: Product) -> None:
    (product.home / "policy.toml").write_text('[tools]\n\na = "perhaps"\n')
    refused = product.run("permissions", "explain", CLICK)
    assert (refused.returncode, "policy.toml:3:" in refused.stderr) == (2, True)


def test_a_condition_sees_the_address(product: Product) -> None:
    (product.home / "policy.toml").write_text(
        f'[[conditions]]\ntools = ["{NAVIGATE}"]\nargument = "url"\n'
        'hosts = ["a.example"]\notherwise = "off"\n'
    )
    assert explained(product, NAVIGATE, "--url", "https://a.example/")["managed"][0] == "allow"
    assert explained(product, NAVIGATE, "--url", "https://b.example/")["managed"][0] == "deny"


def test_the_limits_of_a_client_count(product: Product) -> None:
    product.run("client", "add", "reader", "--read-only")
    assert explained(product, CLICK, "--client", "reader")["managed"][0] == "deny"
    assert explained(product, READ, "--client", "reader")["managed"][0] == "allow"
    unknown = product.run("permissions", "explain", CLICK, "--client", "nobody")
    assert (unknown.returncode, "There is no client nobody." in unknown.stderr) == (1, True)


@pytest.mark.parametrize("notified", [True, False])
def test_a_yes_for_a_site_is_listed_and_revoked(product: Product, notified: bool) -> None:
    give(product, scope="site", tool="*", site="a.example")
    listed = product.run("permissions", "list").stdout
    assert "granted to main: all that reads or acts on a.example (site), id g1" in listed
    assert explained(product, CLICK, "--url", "https://a.example/")["personal"][0] == "allow"
    script = explained(product, "browser_execute_script", "--url", "https://a.example/")
    assert script["personal"][0] == "ask"
    if notified:
        with server(product) as requests:
            assert "revoked g1" in product.run("permissions", "revoke", "g1").stdout
        assert [path for path, _ in requests] == ["/reload"]
    else:
        product.run("permissions", "revoke", "g1")
    assert "granted" not in product.run("permissions", "list").stdout
    assert explained(product, CLICK, "--url", "https://a.example/")["personal"][0] == "ask"


def test_a_grant_that_is_not_kept_cannot_be_revoked(product: Product) -> None:
    failed = product.run("permissions", "revoke", "g\u202e9")
    assert failed.returncode == 1 and "no kept grant" in failed.stderr
    assert "\u202e" not in failed.stderr


def test_the_grants_of_a_person_count(product: Product) -> None:
    give(product, scope="domain", site="a.example")
    granted = explained(product, CLICK, "--url", "https://a.example/")["personal"]
    assert (granted[0], "grant" in granted[1]) == ("allow", True)
    assert explained(product, CLICK, "--url", "https://b.example/")["personal"][0] == "ask"


def test_an_unknown_tool_is_reported_with_similar_names(product: Product) -> None:
    unknown = product.run("permissions", "explain", "browser_click_elment")
    assert (unknown.returncode, f"Did you mean {CLICK}?" in unknown.stderr) == (1, True)


def give(product: Product, **changes: Any) -> None:
    grant = Grant("g1", "always", CLICK, "main", None, None, None, time.time())
    grant = msgspec.structs.replace(grant, **changes)
    with closing(Store(product.home / "tabhub.db")) as store:
        store.collection("grants").put(grant.id, msgspec.json.encode(grant))


def test_opening_a_host_says_what_is_not_asked_about_any_more(product: Product) -> None:
    said = product.run("permissions", "set", "shop.example", "auto").stderr
    assert "No question is asked on shop.example any more, not for scripts" in said
    explained = product.run(
        "permissions", "explain", "browser_execute_script", "--url", "https://shop.example/"
    ).stdout
    assert "A person's own browser: allow" in explained
    destroying = product.run(
        "permissions", "explain", "browser_clear_site_data", "--url", "https://shop.example/"
    ).stdout
    assert "A person's own browser: ask" in destroying
