"""The npm registry over HTTP: which plugins there are, their versions, and their tarballs.

npm itself is not needed, so none of its scripts run. What a registry says is checked: a tarball is
taken from the registry's own host, and only with the SHA-512 that its metadata has.
"""

import re
from base64 import b64decode
from binascii import Error
from collections.abc import Callable
from hashlib import sha512
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import msgspec
from msgspec import Struct

from tabhub.config.npmrc import Npmrc
from tabhub.errors import InvalidArguments, NotFound, TabhubError
from tabhub.hub.texts import one_line
from tabhub.plugins.npm.archive import MEGABYTE
from tabhub.plugins.npm.download import download, invalid, origin_of
from tabhub.plugins.package import PREFIXES, plugin_name

MOST_TARBALL_BYTES = 20 * MEGABYTE
MOST_METADATA_BYTES = 20 * MEGABYTE
MOST_FOUND = 50
LATEST = "latest"
_SHORT_METADATA = "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8"
_VERSION = re.compile(
    r"(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})"
    r"(?:-([0-9A-Za-z.-]{1,64}))?(?:\+[0-9A-Za-z.-]{1,64})?"
)
_TAG = re.compile(r"[A-Za-z][0-9A-Za-z._-]{0,63}")


class FoundPlugin(Struct, frozen=True):
    """A plugin that a search has found."""

    name: str
    """The name that the plugin would have."""
    package: str
    version: str
    description: str


class Release(Struct, frozen=True):
    """One version of a package, and where its tarball is."""

    package: str
    version: str
    tarball: str
    integrity: str


class _Dist(Struct):
    tarball: str
    integrity: str = ""


class _Version(Struct):
    name: str
    version: str
    dist: _Dist


class _Metadata(Struct):
    name: str
    versions: dict[str, _Version]
    tags: dict[str, str] = msgspec.field(default_factory=dict, name="dist-tags")


class _FoundPackage(Struct):
    """What a search says; some registries have the version only as a tag."""

    name: str
    version: str = ""
    description: str | None = None
    tags: dict[str, str] = msgspec.field(default_factory=dict, name="dist-tags")


class _FoundObject(Struct):
    package: _FoundPackage


class _Found(Struct):
    objects: list[_FoundObject]


class Registry:
    """The registries that the person's `.npmrc` names; the file is read again for each request."""

    def __init__(self, npmrc: Callable[[], Npmrc]) -> None:
        self._npmrc = npmrc

    async def search(self, words: str) -> list[FoundPlugin]:
        """Plugins that match the words, the best first; packages that are none are left out."""
        npmrc = self._npmrc()
        found: dict[str, FoundPlugin] = {}
        for prefix in PREFIXES:
            text = f"{prefix.removesuffix('-')} {words}".strip()
            query = urlencode({"text": text, "size": MOST_FOUND})
            url = f"{npmrc.registry_of()}-/v1/search?{query}"
            body = await _body(npmrc, url, MOST_METADATA_BYTES, "The registry offers no search.")
            found |= {entry.package: entry for entry in _plugins(_decoded(url, body, _Found))}
        return list(found.values())

    async def release(self, package: str, version: str = LATEST) -> Release:
        """A version of a package, by its number or by a tag such as `latest`."""
        npmrc = self._npmrc()
        registry = npmrc.registry_of(package)
        url = f"{registry}{quote(package, safe='@')}"
        absent = f"The registry has no package {package}. Nothing was done."
        body = await _body(npmrc, url, MOST_METADATA_BYTES, absent, _SHORT_METADATA)
        chosen = _chosen(url, _decoded(url, body, _Metadata), package, version)
        tarball = _own_address(chosen, registry)
        return Release(package, chosen.version, tarball, chosen.dist.integrity)

    async def tarball(self, release: Release) -> bytes:
        """The bytes of a version, which have the SHA-512 that the registry has for them."""
        expected = _sha512(release)
        absent = f"The registry has no tarball of {release.package} {release.version}."
        body = await _body(self._npmrc(), release.tarball, MOST_TARBALL_BYTES, absent)
        if sha512(body).digest() not in expected:
            raise _mistrusted(release, "its tarball does not have the SHA-512 of its metadata")
        return body


def parse_specifier(specifier: str) -> tuple[str, str]:
    """The package and the version in `name`, `name@1.2.3` or `@scope/name@tag`."""
    name, at, version = specifier.strip().rpartition("@")
    if not name:
        name, version = specifier.strip(), LATEST
    elif not (_VERSION.fullmatch(version) or _TAG.fullmatch(version)):
        raise InvalidArguments(
            f"After {at} there must be a version such as 1.2.3, or a tag such as {LATEST}."
        )
    plugin_name(name)
    return name, version


def is_newer(version: str, than: str) -> bool:
    """Whether a version is newer, by the rules of semver; one that is none is older than all."""
    return _rank(version) > _rank(than)


def _rank(version: str) -> tuple[Any, ...]:
    found = _VERSION.fullmatch(version)
    if found is None:
        return ()
    numbers = tuple(int(number) for number in found.groups()[:3])
    if found[4] is None:
        return (*numbers, 1)
    # A number is older than a word, and of two that begin alike the longer one is newer.
    parts = [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in found[4].split(".")]
    return (*numbers, 0, *parts)


async def _body(npmrc: Npmrc, url: str, most_bytes: int, absent: str, accept: str = "*/*") -> bytes:
    """What is at an address, or an error; `absent` is the sentence if nothing is there."""
    headers = {"Accept": accept}
    authorization = npmrc.authorization(url)
    if authorization is not None:
        headers["Authorization"] = authorization
    try:
        return await download(url, headers, most_bytes)
    except NotFound:
        raise NotFound(absent, effect="none") from None


def _decoded(url: str, body: bytes, kind: type[Any]) -> Any:
    try:
        return msgspec.json.decode(body, type=kind)
    except (ValueError, RecursionError):
        raise invalid(urlsplit(url).netloc, "the answer is not that of an npm registry") from None


def _plugins(listed: _Found) -> list[FoundPlugin]:
    """What was found, without packages whose names are not those of plugins."""
    found = []
    for package in (entry.package for entry in listed.objects[:MOST_FOUND]):
        try:
            name = plugin_name(package.name)
        except TabhubError:
            continue
        version = one_line(package.version or package.tags.get(LATEST, ""), 64)
        found.append(FoundPlugin(name, package.name, version, one_line(package.description or "")))
    return found


def _chosen(url: str, metadata: _Metadata, package: str, version: str) -> _Version:
    number = metadata.tags.get(version, version)
    chosen = metadata.versions.get(number)
    if chosen is None:
        raise NotFound(f"{package} has no version {version}. Nothing was done.", effect="none")
    named = (metadata.name, chosen.name, chosen.version)
    if named != (package, package, number) or not _VERSION.fullmatch(number):
        raise invalid(urlsplit(url).netloc, f"the answer is not about {package} {version}")
    return chosen


def _own_address(chosen: _Version, registry: str) -> str:
    """The address of a tarball on the registry's own host.

    Mirrors pass on the usual address that the registry behind them has; we ask the mirror.
    """
    tarball = chosen.dist.tarball
    if origin_of(tarball) == origin_of(registry):
        return tarball
    usual = f"{chosen.name}/-/{chosen.name.rpartition('/')[2]}-{chosen.version}.tgz"
    if not tarball.startswith("https://") or urlsplit(tarball).path != f"/{usual}":
        raise invalid(urlsplit(registry).netloc, "the tarball is on another host")
    return registry + usual


def _sha512(release: Release) -> list[bytes]:
    """The digests in an integrity such as `sha512-<base64>`; weaker hashes do not count."""
    hashes = (word.partition("?")[0] for word in release.integrity.split())
    try:
        found = [
            b64decode(word.removeprefix("sha512-"), validate=True)
            for word in hashes
            if word.startswith("sha512-")
        ]
    except Error:
        found = []
    if not found:
        raise _mistrusted(release, "the registry has no SHA-512 for its tarball")
    return found


def _mistrusted(release: Release, why: str) -> InvalidArguments:
    return InvalidArguments(
        f"{release.package} {release.version} is refused, and nothing was installed: {why}."
    )
