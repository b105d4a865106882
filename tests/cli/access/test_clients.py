"""`tabhub client`, as a person runs it."""

import json
import signal
import time
from contextlib import closing

import msgspec
import pytest

from tabhub.config.clients import Client, Clients
from tabhub.config.paths import Home
from tabhub.permissions.grants import Grant
from tabhub.store.store import Store
from tests.support.product import Product


def test_a_client_is_added_listed_and_revoked(product: Product) -> None:
    added = product.run("client", "add", "desk", "--toolsets", "core,pages", "--read-only")
    token = added.stdout.strip()
    assert added.returncode == 0
    assert (token in added.stderr, "Bearer" in added.stderr) == (False, True)
    clients = Clients(Home(product.home))
    assert clients.find(token) == Client("desk", frozenset({"core", "pages"}), read_only=True)
    listed = product.run("client", "list").stdout
    header, line = listed.splitlines()
    assert header.split() == ["client", "made", "may"]
    assert line.startswith("desk    20")
    assert line.index("only core,pages, read-only") == header.index("may")
    assert product.run("client", "revoke", "desk").returncode == 0
    assert clients.find(token) is None
    assert product.run("client", "list").stdout == ""


def test_a_server_that_cannot_be_notified_of_a_revocation_is_named(product: Product) -> None:
    for name in ("laptop", "desk"):
        product.run("client", "add", name)
    with product.running("start", "--port", "0") as server:
        product.wait_running()
        (product.home / "config.json").write_text('{"port": "none"}')
        revoked = product.run("client", "revoke", "laptop")
        assert revoked.returncode == 0
        assert "could not be notified; it notices within seconds" in revoked.stderr
        server.send_signal(signal.SIGSTOP)
        try:
            hung = product.run("client", "revoke", "desk")
        finally:
            server.send_signal(signal.SIGCONT)
        assert hung.returncode == 1
        assert "is no longer valid" in hung.stderr and "does not answer" in hung.stderr
    assert {client.name for client in Clients(Home(product.home)).list()} <= {"agent", "cli"}


def test_json_output_has_the_same_content_and_never_a_hash(product: Product) -> None:
    added = json.loads(product.run("client", "add", "desk", "--json").stdout)
    assert added.pop("token").startswith("thc_")
    assert added == {"name": "desk", "toolsets": None, "readOnly": False}
    listed = json.loads(product.run("client", "list", "--json").stdout)
    created = listed[0].pop("created")
    assert listed == [added]
    assert created.endswith("Z")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["add", "main"], "main"),
        (["add", "a b"], "cannot be named"),
        (["add", "a", "--toolsets", "core,nonsense"], "nonsense"),
        (["add", "a", "--toolsets", ""], "toolset"),
        (["add"], "name"),
    ],
)
def test_invalid_arguments_are_a_usage_error(
    product: Product, arguments: list[str], words: str
) -> None:
    refused = product.run("client", *arguments)
    assert (refused.returncode, refused.stdout, words in refused.stderr.lower()) == (2, "", True)


def test_an_unknown_client_cannot_be_revoked(product: Product) -> None:
    refused = product.run("client", "revoke", "nobody")
    assert (refused.returncode, "There is no client nobody." in refused.stderr) == (1, True)


def test_a_broken_file_is_named(product: Product) -> None:
    product.home.mkdir()
    (product.home / "clients.json").write_text("{")
    for arguments in (["list"], ["add", "a"], ["revoke", "a"]):
        refused = product.run("client", *arguments)
        assert (refused.returncode, "clients.json" in refused.stderr) == (2, True)
        assert "Traceback" not in refused.stderr


def test_the_grants_of_a_revoked_client_are_removed(product: Product) -> None:
    for name in ("gone", "stays"):
        product.run("client", "add", name)
    path = product.home / "tabhub.db"
    with closing(Store(path)) as store:
        for name in ("gone", "stays"):
            grant = Grant(name, "always", "a_tool", name, None, None, None, time.time())
            store.collection("grants").put(grant.id, msgspec.json.encode(grant))
    assert product.run("client", "revoke", "gone").returncode == 0
    with closing(Store(path)) as store:
        assert store.collection("grants").load().keys() == {"stays"}
