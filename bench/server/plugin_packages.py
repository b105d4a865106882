"""Finding 120 plugins with 2,449 tools, as many as OpenTabs has, and listing their tools."""

import random
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from bench.rows import Row
from bench.server import plugin_process
from tabhub.agents.tool_search import Listing
from tabhub.calls.authorization import Guard
from tabhub.config.clients import MAIN
from tabhub.config.settings import PermissionSettings, Settings
from tabhub.hub.hub import Hub
from tabhub.permissions.decide import Permissions
from tabhub.permissions.grants import Grants
from tabhub.permissions.rules import RuleBook
from tabhub.plugins.discovery import Plugins
from tabhub.plugins.review import Reviews
from tabhub.plugins.tools import PluginTools

PACKAGES, TOOLS, MOST = 120, 2449, 75
ADAPTER_BYTES = (100_000, 400_000)
Json = dict[str, Any]


def measure() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder, random.Random(7))
        settings = Settings()
        plugins = Plugins(folder, lambda: settings)
        what = f"{PACKAGES} plugins with {TOOLS:,} tools"
        yield Row(f"find {what}", _milliseconds(plugins.reload), " ms", 1000)
        yield Row(f"find {what}, unchanged", _milliseconds(plugins.reload), " ms", 200)
        yield Row(f"memory of {what}", _megabytes(folder, settings), " MB", 30)
        yield from _listing(plugins)
    yield from plugin_process.measure()


def _listing(plugins: Plugins) -> Iterator[Row]:
    hub, reviews = Hub(), Reviews(None, lambda name, level: None)
    PluginTools(hub.tools, plugins, reviews, lambda package: ())
    for package in plugins.all().values():
        reviews.approve(package)
    levels = PermissionSettings(plugins=dict.fromkeys(plugins.all(), "ask"))
    permissions = Permissions(RuleBook(None, levels), Grants())
    guard = Guard(permissions, hub.ownership, lambda browser: True, time.time)
    listing = Listing(hub.tools, guard, lambda: ["plugins"])
    first = _milliseconds(lambda: listing.of(MAIN, None))
    yield Row(f"list {len(hub.tools):,} tools, the first time", first, " ms")
    warm = _milliseconds(lambda: listing.of(MAIN, None))
    yield Row(f"list {len(hub.tools):,} tools", warm, " ms", 20)


def _milliseconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return (time.perf_counter() - begin) * 1000


def _megabytes(folder: Path, settings: Settings) -> float:
    """What the packages and their tools take in memory."""
    tracemalloc.start()
    plugins = Plugins(folder, lambda: settings)
    plugins.reload()
    hub, reviews = Hub(), Reviews(None, lambda name, level: None)
    PluginTools(hub.tools, plugins, reviews, lambda package: ())
    for package in plugins.all().values():
        reviews.approve(package)
    size = tracemalloc.get_traced_memory()[0] / 1e6
    tracemalloc.stop()
    return size


def _write(folder: Path, chance: random.Random) -> None:
    for number, count in enumerate(_counts(chance)):
        _write_package(folder / f"site-{number}", count, chance)


def _counts(chance: random.Random) -> list[int]:
    """How many tools each package has: half of them up to 18, none more than 75."""
    counts = [min(MOST, max(1, int(chance.lognormvariate(2.9, 0.5)))) for _ in range(PACKAGES)]
    while (missing := TOOLS - sum(counts)) != 0:
        place = chance.randrange(PACKAGES)
        counts[place] = min(MOST, max(1, counts[place] + (1 if missing > 0 else -1)))
    return counts


def _write_package(folder: Path, count: int, chance: random.Random) -> None:
    dist = folder / "dist"
    dist.mkdir(parents=True)
    about = {
        "displayName": "A site",
        "description": "Tools of a site.",
        "urlPatterns": [f"*://*.{folder.name}.example/*"],
    }
    package = {"name": f"opentabs-plugin-{folder.name}", "version": "1.0.0", "opentabs": about}
    listed = {"sdkVersion": "0.0.115", "tools": [_tool(n, chance) for n in range(count)]}
    (folder / "package.json").write_bytes(msgspec.json.encode(package))
    (dist / "tools.json").write_bytes(msgspec.json.encode(listed))
    (dist / "adapter.iife.js").write_bytes(b"let a = 1;\n" * (chance.randint(*ADAPTER_BYTES) // 11))


def _tool(number: int, chance: random.Random) -> Json:
    return {
        "name": f"do_something_{number}",
        "displayName": f"Do something {number}",
        "description": "Does something on this site and says what it has done. " * 3,
        "icon": "wrench",
        "input_schema": _schema(chance.randint(1, 6), chance),
        "output_schema": _schema(chance.randint(2, 14), chance),
    }


def _schema(members: int, chance: random.Random) -> Json:
    properties = {f"member_{n}": _property(chance) for n in range(members)}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _property(chance: random.Random) -> Json:
    kind = chance.choice(("string", "integer", "array"))
    more: Json = {"default": 10} if kind == "integer" else {}
    if kind == "array":
        item = {"id": {"type": "string"}, "name": {"type": "string"}}
        more = {"items": {"type": "object", "properties": item, "required": ["id"]}}
    return {"type": kind, "description": "What this member of the object is about.", **more}
