"""The browser, and the copies of the extension that it loads."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from tabhub.browser.launcher.finder import BrowserNotFound, find_browser
from tabhub.browser.launcher.installation import differences, packaged_extension
from tabhub.browser.launcher.providing import left_behind
from tabhub.cli.doctor.finding import Finding, fail, ok, warn
from tabhub.cli.doctor.visit import Visit
from tabhub.wire.link_versions import UPDATE_EXTENSION

INSTALL = "tabhub extension path"
RELOAD = UPDATE_EXTENSION


def browser(visit: Visit) -> Iterator[Finding]:
    try:
        found = find_browser()
    except BrowserNotFound as error:
        yield fail(error.message)
        return
    needed = int(_manifest(packaged_extension())["minimum_chrome_version"])
    number = re.search(r"(\d+)\.", found.version)
    if number and int(number[1]) < needed:
        yield fail(f"{found.version} is too old: {needed} or newer is needed.", "update it")
    else:
        yield ok(f"{found.version or 'A browser'} at {found.path}.")


def extension(visit: Visit) -> Iterator[Finding]:
    """The copy for a person's own browser, and the one for those that tabhub starts."""
    for folder in (visit.home.extension, visit.home.managed_extension):
        yield _copy(folder)


def _copy(folder: Path) -> Finding:
    source = packaged_extension()
    if not (folder / "manifest.json").is_file():
        # A secret there says that everything was put there once.
        judged = fail if (folder / "auth.json").exists() else warn
        return judged(f"The extension is not in {folder}.", INSTALL)
    wrong = differences(source, folder)
    if not wrong:
        return ok(f"{folder} is complete, version {_version(source)}.")
    version, newest = _version(folder), _version(source)
    if version != newest:
        return fail(f"{folder} is version {version}; this tabhub has {newest}.", RELOAD)
    return fail(
        f"{folder} is not as it came: {len(wrong)} files differ, {wrong[0]} among them.", RELOAD
    )


def _version(folder: Path) -> str:
    try:
        return str(_manifest(folder)["version"])
    except (ValueError, KeyError):
        return "unknown"


def _manifest(folder: Path) -> dict[str, str]:
    manifest: dict[str, str] = json.loads((folder / "manifest.json").read_text("utf-8"))
    return manifest


def connected(visit: Visit) -> Iterator[Finding]:
    """Whether the running server has a browser, and somebody to ask in it."""
    if visit.server is None:
        return
    browsers = visit.server["browsers"]
    if not browsers:
        yield warn(
            "No browser is connected, so agents can do nothing.",
            "tabhub browser (or load the extension into your own Chrome: tabhub extension path)",
        )
    for one in browsers:
        kind = "started by tabhub" if one["kind"] == "managed" else "a person's own"
        yield ok(f"{one['name']} {one['version']} is connected, {kind}.")
        if found := one.get("mismatch"):
            yield warn(found["says"], found["do"])
    for refused in visit.server.get("refusedBrowsers", ()):
        yield fail(refused["mismatch"]["says"], refused["mismatch"]["do"])
    yield from _approvals(visit, browsers)


def left(visit: Visit) -> Iterator[Finding]:
    """A browser that outlived the run that started it."""
    found = left_behind(visit.home)
    if found is None:
        return
    yield warn(
        f"A browser that an earlier run left behind is still open (pid {found.pid}).",
        "tabhub start --browser uses it again, tabhub stop closes it",
    )


def _approvals(visit: Visit, browsers: list[dict[str, object]]) -> Iterator[Finding]:
    if any(one["panels"] for one in browsers):
        yield ok("A side panel is open: you can be asked.")
    elif any(one["kind"] != "managed" for one in browsers):
        answer = "allowed" if visit.settings.unattended == "allow" else "denied"
        yield warn(
            f"No side panel is open: what you would be asked about is {answer}"
            " (unless the policy file says otherwise).",
            "click the tabhub button in Chrome's toolbar",
        )
