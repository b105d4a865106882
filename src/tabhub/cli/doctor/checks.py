"""The checks: the home and its files, agents' settings, browser and extension, the server."""

import errno
import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

from tabhub import __version__
from tabhub.audit.files import files_of
from tabhub.browser.launcher.finder import BrowserNotFound, find_browser
from tabhub.browser.launcher.installation import differences, packaged_extension
from tabhub.browser.launcher.providing import left_behind
from tabhub.cli import running
from tabhub.cli.connect.agents import Found, look_everywhere
from tabhub.cli.doctor.finding import Chmod, Finding, Inspection, fail, ok, warn
from tabhub.config import keys, processes, secret, settings
from tabhub.config.clients import Clients
from tabhub.config.keys import LIVE, no_setting, unknown_keys
from tabhub.config.paths import Places
from tabhub.config.processes import listener
from tabhub.config.settings import choose_toolsets
from tabhub.store.active_rules import read_policy
from tabhub.wire.link_versions import UPDATE_EXTENSION

FOLDER, FILE = 0o700, 0o600
OTHERS_WRITE, OTHERS = 0o022, 0o077
LOW_SPACE, TOO_LITTLE_SPACE = 200 * 1024 * 1024, 20 * 1024 * 1024
START, RESTART = "tabhub start", "tabhub stop; tabhub start"
START_ON_FREE_PORT = "tabhub start --port 0 (picks a free one)"
INSTALL = "tabhub extension path"
_SECRET = re.compile(r"\b[0-9a-f]{64}\b")


def home(inspection: Inspection) -> Iterator[Finding]:
    root = inspection.home.root
    if not root.exists():
        yield warn(f"{root} does not exist yet: tabhub has not been started.", START)
        return
    mode = root.stat().st_mode
    if not root.is_dir() or not os.access(root, os.W_OK | os.X_OK):
        yield fail(f"{root} is not a folder that you can write to.")
    elif mode & OTHERS_WRITE:
        yield fail(f"Other users can write to {root}.", Chmod(root, FOLDER))
    elif mode & OTHERS:
        yield warn(f"Other users can look into {root}.", Chmod(root, FOLDER))
    else:
        yield ok(f"Only you can access {root}.")


def disk(inspection: Inspection) -> Iterator[Finding]:
    root = inspection.home.root
    folder = next(path for path in (root, *root.parents) if path.exists())
    free = shutil.disk_usage(folder).free
    finding = fail if free < TOO_LITTLE_SPACE else warn if free < LOW_SPACE else ok
    yield finding(f"{free // (1024 * 1024)} MB are free at {folder}.")


def secrets(inspection: Inspection) -> Iterator[Finding]:
    """Both copies of the secret must be valid, the same, and private."""
    stored = secret.load(inspection.home)
    if stored is None:
        yield warn("There is no secret yet; the first start creates one.", START)
        return
    yield from _private(inspection.home.auth, inspection.home.managed_auth)
    managed = secret.load_managed(inspection.home)
    if managed is None or managed.secret != stored.secret:
        yield fail(
            f"{inspection.home.managed_auth} has another secret than {inspection.home.auth}, so"
            " the server refuses browsers that tabhub starts.",
            INSTALL,
        )


def _private(*paths: Path) -> Iterator[Finding]:
    for path in paths:
        if not path.exists():
            continue
        status = path.stat()
        if status.st_mode & OTHERS:
            yield fail(f"Other users can read the secret in {path}.", Chmod(path, FILE))
        elif status.st_uid != os.geteuid():
            yield fail(f"{path} belongs to another user.", f"sudo chown $USER {path}")
        else:
            yield ok(f"Only you can read {path}.")


def records(inspection: Inspection) -> Iterator[Finding]:
    """Files that other users must not change, and should not read."""
    home = inspection.home
    files = (home.config, home.policy, home.clients, home.connections, home.db)
    for path in (*files, *files_of(home.audit), *files_of(home.log)):
        mode = path.stat().st_mode if path.exists() else 0
        if mode & OTHERS_WRITE:
            yield fail(f"Other users can change {path}.", Chmod(path, FILE))
        elif mode & OTHERS and path not in (home.config, home.policy):
            yield warn(f"Other users can read {path}.", Chmod(path, FILE))


def config(inspection: Inspection) -> Iterator[Finding]:
    path = inspection.home.config
    loaded = settings.load(inspection.home)
    choose_toolsets(loaded.toolsets)
    for steps in unknown_keys(keys.load_raw(inspection.home)):
        key = ".".join(steps)
        yield warn(f"{path}: {no_setting(key)}", f"tabhub config unset {shlex.quote(key)}")
    yield ok(f"{path} is valid." if path.exists() else "No settings file: the defaults apply.")


def policy(inspection: Inspection) -> Iterator[Finding]:
    found = read_policy(inspection.home, inspection.settings)
    yield ok("There is no policy file." if found is None else f"{found.name} is valid.")


def tokens(inspection: Inspection) -> Iterator[Finding]:
    count = len(Clients(inspection.home).list())
    yield ok(f"{count} client token{'' if count == 1 else 's'}.")


def agents(inspection: Inspection) -> Iterator[Finding]:
    for found in look_everywhere(Places()):
        if found.fault is not None:
            yield warn(f"{found.agent.title}: {found.fault}", "repair the file")
        elif found.entry is not None:
            yield _entry(inspection, found)
            yield from _readable_token(inspection, found)


def _readable_token(inspection: Inspection, found: Found) -> Iterator[Finding]:
    """A token in a file that other users can read."""
    holds = found.token is not None or _has_secret(inspection, found)
    if holds and found.path.stat().st_mode & OTHERS:
        yield warn(
            f"{found.agent.title} ({found.path}) has a token that other users can read.",
            Chmod(found.path, FILE),
        )


def _entry(inspection: Inspection, found: Found) -> Finding:
    title = f"{found.agent.title} ({found.path})"
    connect = f"tabhub connect {found.agent.name}"
    if found.port is not None and found.port != inspection.port:
        finding, verb = (warn, "would be") if inspection.server is None else (fail, "is")
        return finding(
            f"{title} uses port {found.port}; the server {verb} on {inspection.port}.", connect
        )
    if found.token is not None and Clients(inspection.home).find(found.token) is None:
        return fail(f"{title} has a token that is no longer valid.", connect)
    if found.token is None and _has_secret(inspection, found):
        return warn(f"{title} has the main secret, so it can approve its own calls.", connect)
    if found.token is None and found.port is not None:
        return fail(f"{title} has no token.", connect)
    return ok(f"{title} is set up.")


def _has_secret(inspection: Inspection, found: Found) -> bool:
    stored = secret.load(inspection.home)
    return stored is not None and stored.secret in _SECRET.findall(str(found.entry))


def browser(inspection: Inspection) -> Iterator[Finding]:
    try:
        found = find_browser()
    except BrowserNotFound as error:
        yield fail(error.message)
        return
    needed = int(_manifest(packaged_extension())["minimum_chrome_version"])
    number = re.search(r"(\d+)\.", found.version)
    if number and int(number[1]) < needed:
        yield fail(f"{found.version} is too old: tabhub needs {needed} or newer.", "update it")
    else:
        yield ok(f"{found.version or 'A browser'} at {found.path}.")


def extension(inspection: Inspection) -> Iterator[Finding]:
    """The copy for a person's own browser, and the copy for browsers that tabhub starts."""
    for folder in (inspection.home.extension, inspection.home.managed_extension):
        yield _copy(folder)


def _copy(folder: Path) -> Finding:
    source = packaged_extension()
    if not (folder / "manifest.json").is_file():
        # A secret in the folder shows that the extension was installed there once.
        finding = fail if (folder / "auth.json").exists() else warn
        return finding(f"The extension is not in {folder}.", INSTALL)
    wrong = differences(source, folder)
    if not wrong:
        return ok(f"{folder} is complete, version {_version(source)}.")
    version, newest = _version(folder), _version(source)
    if version != newest:
        return fail(f"{folder} is version {version}; this tabhub has {newest}.", UPDATE_EXTENSION)
    return fail(
        f"{folder} has been changed: {len(wrong)} files differ, among them {wrong[0]}.",
        UPDATE_EXTENSION,
    )


def _version(folder: Path) -> str:
    try:
        return str(_manifest(folder)["version"])
    except (ValueError, KeyError):
        return "unknown"


def _manifest(folder: Path) -> dict[str, str]:
    manifest: dict[str, str] = json.loads((folder / "manifest.json").read_text("utf-8"))
    return manifest


def connected(inspection: Inspection) -> Iterator[Finding]:
    """Whether the running server has a browser, and a person there to approve calls."""
    if inspection.server is None:
        return
    browsers = inspection.server["browsers"]
    started = inspection.server.get("managedBrowser") or {}
    if started.get("says"):
        finding = fail if started["state"] == "given up" else warn
        yield finding(started["says"], f"look into {inspection.home.log}; tabhub browser opens one")
    if not browsers:
        yield warn(
            "No browser is connected, so agents can use only pages that are paired.",
            "tabhub browser (or load the extension into your own Chrome: tabhub extension path)",
        )
    for browser in browsers:
        kind = "started by tabhub" if browser["kind"] == "managed" else "a person's own"
        yield ok(f"{browser['name']} {browser['version']} is connected, {kind}.")
        if found := browser.get("mismatch"):
            yield warn(found["says"], found["do"])
    for refused in inspection.server.get("refusedBrowsers", ()):
        yield fail(refused["mismatch"]["says"], refused["mismatch"]["do"])
    yield from _approvals(inspection, browsers)


def left(inspection: Inspection) -> Iterator[Finding]:
    """A browser that is still open after the server that started it was killed."""
    found = left_behind(inspection.home)
    if found is None:
        return
    yield warn(
        f"A browser that an earlier run left behind is still open (pid {found.pid}).",
        "tabhub start --browser uses it again, tabhub stop closes it",
    )


def _approvals(inspection: Inspection, browsers: list[dict[str, object]]) -> Iterator[Finding]:
    if any(browser["panels"] for browser in browsers):
        yield ok("A side panel is open: you can approve calls.")
    elif any(browser["kind"] != "managed" and not browser["remote"] for browser in browsers):
        outcome = "allowed" if inspection.settings.unattended == "allow" else "denied"
        yield warn(
            f"No side panel is open: calls that need your approval are {outcome}"
            " (unless the policy file says otherwise).",
            "click the tabhub button in Chrome's toolbar",
        )


def server(inspection: Inspection) -> Iterator[Finding]:
    facts = inspection.server
    if facts is None:
        elsewhere = running.describe_elsewhere(inspection.home)
        if elsewhere is None:
            yield warn("No server is running.", _start(inspection))
        else:
            yield warn(elsewhere, "correct TABHUB_PORT or TABHUB_HOME")
    elif facts["version"] != __version__:
        yield warn(f"The server is {facts['version']}, this command is {__version__}.", RESTART)
    else:
        yield ok(f"tabhub {facts['version']} runs (pid {facts['pid']}).")


def _start(inspection: Inspection) -> str:
    return START if inspection.port_fault is None else START_ON_FREE_PORT


def pid(inspection: Inspection) -> Iterator[Finding]:
    """A pid file without its server."""
    known = running.read_pid_file(inspection.home)
    if (
        known is None
        or inspection.server is not None
        or running.describe_elsewhere(inspection.home) is not None
    ):
        return
    text = running.describe_unresponsive(inspection.home) or ""
    if running.is_hung(known):
        yield fail(text, f"kill {known.pid}, if it is tabhub")
    else:
        yield warn(f"{text} It left {inspection.home.pid}.", _start(inspection))


def port(inspection: Inspection) -> Iterator[Finding]:
    if inspection.server is not None:
        yield ok(f"Port {inspection.port} is used by this home's server.")
        yield from _port_of_extension(inspection)
        return
    error = inspection.port_fault
    if error is None:
        yield ok(f"Port {inspection.port} is free.")
    else:
        taken = error.errno == errno.EADDRINUSE
        why = _whose(inspection.port) if taken else f"cannot be used: {error.strerror}"
        yield fail(f"Port {inspection.port} {why}.", START_ON_FREE_PORT)
    yield from _last_port(inspection)


def _last_port(inspection: Inspection) -> Iterator[Finding]:
    """Commands use the port of the last server, which another program may have by now."""
    known = running.read_pid_file(inspection.home)
    if known is None or known.port == inspection.port or not running.is_listening(known.port):
        return
    yield warn(f"Port {known.port}, which the last server used, {_whose(known.port)}.")


def _whose(port: int) -> str:
    pid = listener(port)
    who = "" if pid is None else f": {processes.name(pid)} (pid {pid})"
    if running.is_tabhub(port):
        return f"is used by a tabhub of another home (TABHUB_HOME), or with another secret{who}"
    return f"is used by another program{who}"


def _port_of_extension(inspection: Inspection) -> Iterator[Finding]:
    stored = secret.load(inspection.home)
    if stored is not None and stored.port != inspection.port:
        yield fail(f"The extension uses port {stored.port}.", RESTART)


def in_force(inspection: Inspection) -> Iterator[Finding]:
    """Whether the server uses the values of the settings file."""
    current = running.current_settings(inspection.home) if inspection.server is not None else None
    if inspection.server is None or current is None or current["fault"] is not None:
        # Another check reports what is wrong with the file.
        return
    unread = [key for key in current["differs"] if key in LIVE]
    waiting = [key for key in current["differs"] if key not in LIVE]
    if unread:
        yield warn(
            f"The server has not read {inspection.home.config} again: {', '.join(unread)} differ.",
            f"kill -HUP {inspection.server['pid']}",
        )
    if waiting:
        yield warn(f"The server uses {', '.join(waiting)} only after a restart.", RESTART)


def written(inspection: Inspection) -> Iterator[Finding]:
    """Whether the running server can write its audit log."""
    state = (inspection.server or {}).get("auditLog")
    if state is None:
        return
    if state["fault"] is not None:
        yield fail(
            running.audit_trouble(state), "free space on the disk, or make the folder writable"
        )
    elif state["lost"]:
        yield warn(f"{state['lost']} lines about refused calls are missing from the audit log.")


def openness(inspection: Inspection) -> Iterator[Finding]:
    """What makes the running server less safe than usual."""
    facts = inspection.server
    if facts is None:
        return
    if running.is_open(inspection.port):
        yield warn("The server accepts clients without a token (--no-auth).", RESTART)
    if facts["skipPermissions"]:
        yield warn(
            "Permissions are SKIPPED: no call needs approval.",
            "start without TABHUB_DANGEROUSLY_SKIP_PERMISSIONS, or switch it off in the panel",
        )
    if trusted := facts.get("trustedPlugins"):
        yield warn(running.dev_mode_warning(trusted), "start without --dev")
    if facts["stopped"]:
        yield warn("All agents are stopped.", "resume them in the side panel")
