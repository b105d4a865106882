"""A plugin for Verdaccio: its page keeps a token in localStorage and sends it with requests."""

from base64 import urlsafe_b64decode
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import Struct, field

from tabhub.sdk import Page, Plugin, PluginError, Url, setting, tool


class Person(Struct):
    """Who is logged in."""

    name: str
    groups: list[str]
    expires: int
    """When the login ends, in seconds since 1970."""


class Claims(Struct):
    """What the token says; the registry has signed it."""

    name: str
    exp: int
    real_groups: list[str] = []


class Found(Struct):
    """A package in the list of the page."""

    name: str
    version: str
    description: str = ""
    keywords: list[str] = []
    time: str = ""


class PackageInfo(Struct):
    """A package with what its newest version says."""

    name: str
    version: str
    description: str = ""
    license: str = ""
    homepage: str = ""
    dependencies: dict[str, str] = {}


class Version(Struct):
    """One version of a package."""

    version: str
    published: str
    tags: list[str]


class Sidebar(Struct, rename="camel"):
    """What the page shows beside a package."""

    versions: dict[str, dict[str, Any]]
    latest: dict[str, Any]
    time: dict[str, str] = {}
    tags: dict[str, str] = field(name="dist-tags", default_factory=dict)


class Verdaccio(Plugin):
    """Packages of your Verdaccio registry, as you see them in its page."""

    version = "1.0.0"

    site: Url = setting(
        "The address of your registry", description="Such as http://localhost:4873.", required=True
    )

    async def ready(self, page: Page) -> bool:
        """The page is there; some packages can be seen without a login."""
        return await page.has("#root")

    @tool(read_only=True)
    async def whoami(self, page: Page) -> Person:
        """Say who is logged in to the registry in this browser."""
        token = await page.storage.get("token")
        if not token:
            raise PluginError("You are not logged in to the registry.", "auth")
        claims = _claims(token)
        return Person(claims.name, claims.real_groups, claims.exp)

    @tool(read_only=True)
    async def search_packages(self, page: Page, text: str = "", most: int = 20) -> list[Found]:
        """Search the packages that you may see.

        Args:
            text: A part of the name, the description or a keyword; without it, all packages.
            most: How many to list.
        """
        headers = await self._headers(page)
        found = await page.get(self._data("packages"), headers=headers, into=list[Found])
        return [package for package in found if _mentions(package, text.lower())][:most]

    @tool(read_only=True)
    async def package_info(self, page: Page, name: str) -> PackageInfo:
        """Describe a package by its newest version."""
        latest = (await self._sidebar(page, name)).latest
        return PackageInfo(
            name=latest["name"],
            version=latest["version"],
            description=latest.get("description", ""),
            license=str(latest.get("license", "")),
            homepage=latest.get("homepage", ""),
            dependencies=latest.get("dependencies", {}),
        )

    @tool(read_only=True)
    async def list_versions(self, page: Page, name: str) -> list[Version]:
        """List the versions of a package, those with a tag such as latest marked."""
        sidebar = await self._sidebar(page, name)
        return [
            Version(version, sidebar.time.get(version, ""), _names(sidebar.tags, version))
            for version in sidebar.versions
        ]

    @tool(read_only=True)
    async def read_readme(self, page: Page, name: str) -> str:
        """Read the README of a package."""
        address = self._data(f"package/readme/{_path(name)}")
        return await page.get(address, headers=await self._headers(page), into=str)

    def _data(self, path: str) -> str:
        return f"{self.site.rstrip('/')}/-/verdaccio/data/{path}"

    async def _headers(self, page: Page) -> dict[str, str]:
        """The token as the page itself sends it."""
        token = await page.storage.get("token")
        return {"Authorization": f"Bearer {token}"} if token else {}

    async def _sidebar(self, page: Page, name: str) -> Sidebar:
        address = self._data(f"sidebar/{_path(name)}")
        return await page.get(address, headers=await self._headers(page), into=Sidebar)


def _path(name: str) -> str:
    return quote(name, safe="@/")


def _mentions(package: Found, text: str) -> bool:
    return text in " ".join((package.name, package.description, *package.keywords)).lower()


def _names(tags: dict[str, str], version: str) -> list[str]:
    return [tag for tag, tagged in tags.items() if tagged == version]


def _claims(token: str) -> Claims:
    """The second part of a JSON Web Token."""
    try:
        written = token.split(".")[1]
        return msgspec.json.decode(
            urlsafe_b64decode(written + "=" * (-len(written) % 4)), type=Claims
        )
    except (IndexError, ValueError) as error:
        raise PluginError("The token in this page cannot be read.") from error
