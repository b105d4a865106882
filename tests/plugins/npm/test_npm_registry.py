"""The npm registry over HTTP: honest, down, slow and lying."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tabhub.config.npmrc import Npmrc
from tabhub.errors import TabhubError
from tabhub.plugins.npm import download, npm_registry
from tabhub.plugins.npm.npm_registry import FoundPlugin, Registry, is_newer, parse_specifier
from tests.plugins.fake_registry import FakeRegistry, response, serving_registry

NAME = "opentabs-plugin-notes"
SCOPED = "@acme/tabhub-plugin-jira"


@pytest.fixture
async def fake() -> AsyncIterator[FakeRegistry]:
    async with serving_registry() as fake:
        yield fake


async def _fails(waiting: Any, reason: str) -> str:
    with pytest.raises(TabhubError) as failed:
        await waiting
    assert failed.value.reason == reason
    assert failed.value.effect == "none"
    return failed.value.message


@pytest.mark.parametrize("name", [NAME, SCOPED])
async def test_a_version_is_found_by_tag_or_number_and_its_tarball_is_checked(
    fake: FakeRegistry, name: str
) -> None:
    for version in ("1.0.0", "1.1.0"):
        fake.publish(name, version)
    client = fake.client()
    assert (await client.release(name)).version == "1.1.0"
    old = await client.release(name, "1.0.0")
    assert await client.tarball(old) == fake.tarballs[f"/{name}/-/{name.split('/')[-1]}-1.0.0.tgz"]


async def test_a_search_finds_plugins_of_both_names_and_nothing_else(fake: FakeRegistry) -> None:
    for name in (NAME, SCOPED, "opentabs-plugin-", "@x/opentabs-plugin-browser", "left-pad"):
        fake.publish(name, "1.0.0")
    assert await fake.client().search("") == [
        FoundPlugin("notes", NAME, "1.0.0", ""),
        FoundPlugin("x-browser", "@x/opentabs-plugin-browser", "1.0.0", ""),
        FoundPlugin("acme-jira", SCOPED, "1.0.0", ""),
    ]
    assert [found.name for found in await fake.client().search("jira")] == ["acme-jira"]


async def test_texts_of_a_search_are_made_fit_to_be_shown(fake: FakeRegistry) -> None:
    found = {"name": NAME, "version": "1\n2", "description": "\x1b[2J" + "x" * 1000}
    fake.answers["/-/v1/search"] = response(json.dumps({"objects": [{"package": found}]}).encode())
    [shown] = await fake.client().search("x")
    assert shown.version == "1 2"
    assert shown.description.isprintable() and len(shown.description) <= 200


async def test_a_scope_has_its_own_registry_and_a_token_goes_only_to_its_own(
    fake: FakeRegistry,
) -> None:
    async with serving_registry() as other:
        for place in (fake, other):
            place.publish(NAME, "1.0.0")
            place.publish(SCOPED, "1.0.0")
        token = {f"{other.url.removeprefix('http:')}:_authToken": "t0ken"}
        client = fake.client(**{"@acme:registry": other.url, **token})
        await client.tarball(await client.release(SCOPED))
        await client.release(NAME)
    assert [headers["authorization"] for _, headers in other.requests] == ["Bearer t0ken"] * 2
    assert [headers.get("authorization") for _, headers in fake.requests] == [None]


async def test_what_does_not_exist_is_not_found(fake: FakeRegistry) -> None:
    fake.publish(NAME, "1.0.0")
    client = fake.client()
    assert NAME in await _fails(client.release(NAME, "2.0.0"), "not_found")
    assert "has no package" in await _fails(client.release(SCOPED), "not_found")


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_token_is_named_and_not_repeated(fake: FakeRegistry, status: int) -> None:
    fake.answers[f"/{NAME}"] = response(b"{}", status)
    prefix = fake.url.removeprefix("http:")
    client = fake.client(**{f"{prefix}:_authToken": "s3cret"})
    message = await _fails(client.release(NAME), "needs_person")
    assert ".npmrc" in message and "s3cret" not in message


def _metadata(change: Callable[[Any], object]) -> Callable[[FakeRegistry], object]:
    return lambda fake: change(fake.packages[NAME])


def _dist(**said: str) -> Callable[[FakeRegistry], object]:
    return lambda fake: fake.packages[NAME]["versions"]["1.0.0"]["dist"].update(said)


LIES: dict[str, tuple[Callable[[FakeRegistry], object], str]] = {
    "no hash": (_dist(integrity=""), "invalid_arguments"),
    "a weak hash": (_dist(integrity="sha1-" + "a" * 27 + "="), "invalid_arguments"),
    "a broken hash": (_dist(integrity="sha512-!"), "invalid_arguments"),
    "another hash": (_dist(integrity="sha512-" + "A" * 86 + "=="), "invalid_arguments"),
    "another host": (_dist(tarball="http://127.0.0.2:1/x.tgz"), "invalid_response"),
    "another port": (_dist(tarball="http://127.0.0.1:1/x.tgz"), "invalid_response"),
    "a file": (_dist(tarball="file:///etc/passwd"), "invalid_response"),
    "no address": (_dist(tarball="http://[::1/x.tgz"), "invalid_response"),
    "another name": (_metadata(lambda said: said.update(name="x")), "invalid_response"),
    "another version": (
        _metadata(lambda said: said["versions"]["1.0.0"].update(version="9.0.0")),
        "invalid_response",
    ),
    "no version": (_metadata(lambda said: said.update(versions=[])), "invalid_response"),
    "a tag to nowhere": (_metadata(lambda said: said["dist-tags"].update(latest="7")), "not_found"),
}


@pytest.mark.parametrize("lie", LIES)
async def test_a_registry_that_lies_is_not_believed(fake: FakeRegistry, lie: str) -> None:
    fake.publish(NAME, "1.0.0")
    change, reason = LIES[lie]
    change(fake)

    async def fetch() -> bytes:
        client = fake.client()
        return await client.tarball(await client.release(NAME))

    await _fails(fetch(), reason)


async def test_a_replaced_tarball_is_refused(fake: FakeRegistry) -> None:
    fake.publish(NAME, "1.0.0")
    [path] = fake.tarballs
    fake.tarballs[path] += b"\0"
    release = await fake.client().release(NAME)
    assert "SHA-512" in await _fails(fake.client().tarball(release), "invalid_arguments")


async def test_a_mirror_is_asked_for_tarballs_of_the_registry_behind_it(fake: FakeRegistry) -> None:
    said = fake.publish(NAME, "1.0.0")
    path = said["dist"]["tarball"].removeprefix(fake.url)
    said["dist"]["tarball"] = f"https://behind.example/{path}"
    client = fake.client()
    assert await client.tarball(await client.release(NAME)) == fake.tarballs[f"/{path}"]


async def _silence(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()


async def _drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while not writer.is_closing():
        writer.write(b"A: b\r\n")
        await writer.drain()
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("answer", [_silence, _drip])
async def test_a_slow_registry_cannot_stretch_the_time(
    fake: FakeRegistry, answer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (download.CONNECT_SECONDS, download.WHOLE_SECONDS) == (10, 60)
    monkeypatch.setattr(download, "WHOLE_SECONDS", 0.2)
    fake.answers[f"/{NAME}"] = answer
    await _fails(fake.client().release(NAME), "timeout")


async def test_a_registry_that_is_down_is_unavailable(fake: FakeRegistry) -> None:
    down = Registry(lambda: Npmrc({"registry": "http://127.0.0.1:1/"}, Path(".npmrc")))
    await _fails(down.release(NAME), "server_unavailable")
    fake.answers[f"/{NAME}"] = response(b"", 500)
    assert "500" in await _fails(fake.client().release(NAME), "server_unavailable")


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"hello\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{}",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        response(b"<html>"),
        response(b"[" * 100_000),
        response(b"", 302, Location="http://127.0.0.1:1/x"),
        response(b"", 302, Location="http://[/"),
        response(b"", 302, Location=f"/{NAME}"),
    ],
)
async def test_an_answer_that_is_none_of_a_registry_is_an_error(
    fake: FakeRegistry, answer: bytes
) -> None:
    fake.answers[f"/{NAME}"] = answer
    await _fails(fake.client().release(NAME), "invalid_response")


async def test_a_redirect_on_the_same_host_is_followed(fake: FakeRegistry) -> None:
    fake.publish(NAME, "1.0.0")
    fake.answers[f"/{NAME}"] = response(b"", 307, Location="/elsewhere")
    fake.answers["/elsewhere"] = response(json.dumps(fake.packages[NAME]).encode())
    assert (await fake.client().release(NAME)).version == "1.0.0"


async def test_an_answer_without_a_length_ends_with_the_connection(fake: FakeRegistry) -> None:
    fake.publish(NAME, "1.0.0")
    fake.answers[f"/{NAME}"] = b"HTTP/1.1 200 x\r\n\r\n" + json.dumps(fake.packages[NAME]).encode()
    assert (await fake.client().release(NAME)).version == "1.0.0"


async def test_more_than_the_limit_is_not_read(
    fake: FakeRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert npm_registry.MOST_TARBALL_BYTES == 20 * 1024 * 1024
    monkeypatch.setattr(npm_registry, "MOST_TARBALL_BYTES", 100_000)
    fake.publish(NAME, "1.0.0", bytes(1_000_000))
    release = await fake.client().release(NAME)
    await _fails(fake.client().tarball(release), "too_large")
    fake.answers[f"/{NAME}"] = b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 20_000
    await _fails(fake.client().release(NAME), "too_large")


def test_versions_are_compared_as_semver_says() -> None:
    rising = ["x", "1.0.0-1", "1.0.0-2", "1.0.0-a", "1.0.0-a.1", "1.0.0", "1.9.0", "1.10.0+b"]
    for older, newer in pairwise(rising):
        assert is_newer(newer, older) and not is_newer(older, newer)
    assert not is_newer("1.0.0+b", "1.0.0+a")


def test_a_specifier_has_a_version_or_a_tag() -> None:
    assert parse_specifier(NAME) == (NAME, "latest")
    assert parse_specifier(f"{SCOPED}@1.2.3-beta.1") == (SCOPED, "1.2.3-beta.1")
    assert parse_specifier(f" {SCOPED}@next ") == (SCOPED, "next")
    for wrong in ("", "@", "left-pad", f"{NAME}@", f"{NAME}@^1.2.3", f"../{NAME}", f"{NAME}@a b"):
        with pytest.raises(TabhubError):
            parse_specifier(wrong)
