"""The checks: the home and its files, agents' settings, browser and extension, the server."""

import errno
import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tabhub import __version__
from tabhub.audit.files import files_of
from tabhub.browser.launcher.finder import BrowserNotFound, find_browser
from tabhub.browser.launcher.installation import differences, packaged_extension
from tabhub.browser.launcher.providing import left_behind
from tabhub.cli import port_holder, running
from tabhub.cli.connect.agents import Found, look_everywhere
from tabhub.cli.connect.states import OwnServer, fault_of
from tabhub.cli.doctor.finding import Chmod, Finding, Inspection, fail, ok, warn
from tabhub.cli.own_program import command_text
from tabhub.cli.updating import advice, how_to_update_extension
from tabhub.config import keys, secret, settings
from tabhub.config.clients import Clients
from tabhub.config.keys import LIVE, no_setting, unknown_keys
from tabhub.config.paths import ELSEWHERE, FULL, Places
from tabhub.config.settings import choose_toolsets
from tabhub.store.active_rules import read_policy
from tabhub.system.locks import is_replaceable
from tabhub.system.processes import how_to_end
from tabhub.system.rights import OTHERS_WRITE, is_own, others_can, shows_rights

FOLDER, FILE = 0o700, 0o600
LOW_SPACE, TOO_LITTLE_SPACE = 200 * 1024 * 1024, 20 * 1024 * 1024
START, STOP = ("start",), ("stop",)
INSTALL, PAIR = ("extension", "path"), ("extension", "pair")


def _restart() -> str:
    return f"{command_text(*STOP)}; {command_text(*START, '--background')}"


def home(inspection: Inspection) -> Iterator[Finding]:
    root = inspection.home.root
    if not root.exists():
        yield _future_home(root)
        return
    status = root.stat()
    if not root.is_dir() or not os.access(root, os.W_OK | os.X_OK):
        yield fail(f"{root} is not a folder that you can write to.", ELSEWHERE)
    elif others_can(status, OTHERS_WRITE):
        yield fail(f"Other users can write to {root}.", Chmod(root, FOLDER))
    elif others_can(status):
        yield warn(f"Other users can look into {root}.", Chmod(root, FOLDER))
    elif shows_rights():
        yield ok(f"Only you can access {root}.")
    else:
        yield ok(f"You can write to {root}.")


def _future_home(root: Path) -> Finding:
    folder = _nearest(root)
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        return fail(f"{root} cannot be made: you cannot write to {folder}.", ELSEWHERE)
    return warn(f"{root} does not exist yet: tabhub has not been started.", command_text(*START))


def _nearest(root: Path) -> Path:
    """The home, or the innermost of its folders that exists."""
    return next(path for path in (root, *root.parents) if path.exists())


def disk(inspection: Inspection) -> Iterator[Finding]:
    folder = _nearest(inspection.home.root)
    free = shutil.disk_usage(folder).free
    says = f"{free // (1024 * 1024)} MB are free at {folder}."
    if free >= LOW_SPACE:
        yield ok(says)
    else:
        yield (fail if free < TOO_LITTLE_SPACE else warn)(says, FULL)


def secrets(inspection: Inspection) -> Iterator[Finding]:
    """Both copies of the secret must be valid, the same, and private."""
    stored = secret.load(inspection.home)
    if stored is None:
        yield warn("There is no secret yet; the first start creates one.", command_text(*START))
        return
    yield from _private(inspection.home.auth, inspection.home.managed_auth)
    managed = secret.load_managed(inspection.home)
    if managed is None or managed.secret != stored.secret:
        yield fail(
            f"{inspection.home.managed_auth} has another secret than {inspection.home.auth}, so"
            " the server refuses browsers that tabhub starts.",
            command_text(*INSTALL),
        )


def _private(*paths: Path) -> Iterator[Finding]:
    for path in paths:
        if not path.exists():
            continue
        status = path.stat()
        if others_can(status):
            yield fail(f"Other users can read the secret in {path}.", Chmod(path, FILE))
        elif not is_own(status):
            yield fail(
                f"{path} belongs to another user.", f"sudo chown $USER {shlex.quote(str(path))}"
            )
        elif shows_rights():
            yield ok(f"Only you can read {path}.")
        else:
            yield ok(f"You can read {path}.")


def records(inspection: Inspection) -> Iterator[Finding]:
    """Files that other users must not change, and should not read."""
    home = inspection.home
    files = (home.config, home.policy, home.clients, home.connections, home.db)
    for path in (*files, *files_of(home.audit), *files_of(home.log)):
        if not path.exists():
            continue
        status = path.stat()
        if others_can(status, OTHERS_WRITE):
            yield fail(f"Other users can change {path}.", Chmod(path, FILE))
        elif others_can(status) and path not in (home.config, home.policy):
            yield warn(f"Other users can read {path}.", Chmod(path, FILE))


def config(inspection: Inspection) -> Iterator[Finding]:
    path = inspection.home.config
    loaded = settings.load(inspection.home)
    choose_toolsets(loaded.toolsets)
    for steps in unknown_keys(keys.load_raw(inspection.home)):
        key = ".".join(steps)
        yield warn(f"{path}: {no_setting(key)}", command_text("config", "unset", key))
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
            yield warn(f"{found.agent.title}: {found.path} {found.fault}.", found.do)
            continue
        if not is_replaceable(found.path):
            yield warn(
                f"{found.agent.title}: {found.path} is open in another program, so connect could"
                " not change it.",
                f"close that program, most likely {found.agent.title} itself",
            )
        elif found.is_in_read_only_place:
            yield warn(
                f"{found.agent.title}: {found.path} is in a place that you cannot write to, so"
                " connect could not change it.",
                "change it where it comes from, or make its folder writable",
            )
        if found.entry is not None:
            yield _entry(inspection, found)
            yield from _readable_token(inspection, found)


def _readable_token(inspection: Inspection, found: Found) -> Iterator[Finding]:
    """A token in a file that other users can read."""
    stored = secret.load(inspection.home)
    holds = found.token is not None or found.has(None if stored is None else stored.secret)
    if holds and others_can(found.path.stat()):
        yield warn(
            f"{found.agent.title} ({found.path}) has a token that other users can read.",
            Chmod(found.path, FILE),
        )


def _entry(inspection: Inspection, found: Found) -> Finding:
    title = f"{found.agent.title} ({found.path})"
    connect = command_text("connect", found.agent.name)
    server = OwnServer.of(inspection.home, inspection.port)
    fault = fault_of(found, server)
    if fault is not None:
        finding = warn if fault.is_port and inspection.server is None else fail
        return finding(f"{title} {fault.says}.", connect)
    if found.token is None and found.has(server.secret):
        return warn(f"{title} has the main secret, so it can approve its own calls.", connect)
    return ok(f"{title} is set up.")


def browser(inspection: Inspection) -> Iterator[Finding]:
    try:
        found = find_browser()
    except BrowserNotFound as error:
        # The message ends with what to do.
        says, _, do = error.message.partition(": ")
        yield fail(f"{says}.", do.removesuffix(".") or None)
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
        return finding(f"The extension is not in {folder}.", command_text(*INSTALL))
    wrong = differences(source, folder)
    if not wrong:
        return ok(f"{folder} is complete, version {_version(source)}.")
    version, newest = _version(folder), _version(source)
    update = how_to_update_extension()
    if version != newest:
        return fail(f"{folder} is version {version}; this tabhub has {newest}.", update)
    return fail(
        f"{folder} has been changed: {len(wrong)} files differ, among them {wrong[0]}.", update
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
        opens = f"{command_text('browser')} opens one"
        yield finding(started["says"], f"look into {inspection.home.log}; {opens}")
    if not browsers:
        yield warn(
            "No browser is connected, so agents can use only pages that are paired.",
            f"open the browser that has the extension; {command_text('setup')} puts it into yours,"
            f" {command_text('browser')} opens one for agents",
        )
    for browser in browsers:
        yield ok(f"{browser['name']} {browser['version']} is connected, {running.whose(browser)}.")
        if found := browser.get("mismatch"):
            yield warn(found["says"], advice(found))
    for refused in inspection.server.get("refusedBrowsers", ()):
        yield fail(refused["mismatch"]["says"], advice(refused["mismatch"]))
    for waiting in inspection.server.get("waitingExtensions", ()):
        yield warn(f"An extension waits to be paired ({waiting['origin']}).", command_text(*PAIR))
    yield from _approvals(inspection, browsers)


def left(inspection: Inspection) -> Iterator[Finding]:
    """A browser that is still open after the server that started it was killed."""
    found = left_behind(inspection.home)
    if found is None:
        return
    yield warn(
        f"A browser that an earlier run left behind is still open (pid {found.pid}).",
        f"{command_text(*START, '--browser')} uses it again, {command_text(*STOP)} closes it",
    )


def _approvals(inspection: Inspection, browsers: list[dict[str, object]]) -> Iterator[Finding]:
    if any(browser["panels"] for browser in browsers):
        yield ok("A side panel is open: you can approve calls.")
    elif any(browser["kind"] != "managed" and not browser["remote"] for browser in browsers):
        yield ok("Your own browser notifies you when a call needs your approval.")


def server(inspection: Inspection) -> Iterator[Finding]:
    facts = inspection.server
    if facts is None:
        elsewhere = running.describe_elsewhere(inspection.home)
        if elsewhere is None:
            yield warn("No server is running.", _start(inspection))
        else:
            yield warn(elsewhere, "correct TABHUB_PORT or TABHUB_HOME")
    elif facts["version"] != __version__:
        yield warn(f"The server is {facts['version']}, this command is {__version__}.", _restart())
    elif facts.get("programMissing"):
        yield fail(
            f"The server runs (pid {facts['pid']}), but its program was removed, such as by"
            " cleaning the cache of uvx: parts that it has not loaded yet fail.",
            _restart(),
        )
    else:
        yield ok(f"tabhub {facts['version']} runs (pid {facts['pid']}).")


def _start(inspection: Inspection) -> str:
    if inspection.port_fault is None:
        return command_text(*START, "--background")
    return port_holder.MAIN.other(inspection.port)


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
        yield fail(text, f"{how_to_end(known.pid)}, if it is tabhub")
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
        why = port_holder.whose(inspection.port) if taken else f"cannot be used: {error.strerror}"
        yield fail(f"Port {inspection.port} {why}.", port_holder.MAIN.other(inspection.port))
    yield from _last_port(inspection)


def _last_port(inspection: Inspection) -> Iterator[Finding]:
    """Commands use the port of the last server, which another program may have by now."""
    known = running.read_pid_file(inspection.home)
    if known is None or known.port == inspection.port or not running.is_listening(known.port):
        return
    yield warn(f"Port {known.port}, which the last server used, {port_holder.whose(known.port)}.")


def _port_of_extension(inspection: Inspection) -> Iterator[Finding]:
    stored = secret.load(inspection.home)
    if stored is not None and stored.port != inspection.port:
        yield fail(f"The extension uses port {stored.port}.", _restart())


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
            _how_to_reload(inspection.server),
        )
    if waiting:
        yield warn(f"The server uses {', '.join(waiting)} only after a restart.", _restart())


def _how_to_reload(facts: dict[str, Any]) -> str:
    signal = facts.get("reloadSignal")
    return f"kill -{signal.removeprefix('SIG')} {facts['pid']}" if signal else _restart()


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
        yield warn("The server accepts clients without a token (--no-auth).", _restart())
    if facts["skipPermissions"]:
        yield warn(
            "Permissions are SKIPPED: no call needs approval.",
            "start without TABHUB_DANGEROUSLY_SKIP_PERMISSIONS, or switch it off in the panel",
        )
    if trusted := facts.get("trustedPlugins"):
        yield warn(running.dev_mode_warning(trusted), "start without --dev")
    if facts["stopped"]:
        yield warn("All agents are stopped.", "resume them in the side panel")
