"""The home: its folder, the secret, settings, rules, and who else can touch them."""

import os
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

from tabhub.audit.log import files_of
from tabhub.cli.doctor.finding import Chmod, Finding, fail, ok, warn
from tabhub.cli.doctor.visit import Visit
from tabhub.config import editing, secret, settings
from tabhub.config.clients import Clients
from tabhub.config.keys import no_setting, strange
from tabhub.hub import toolsets
from tabhub.store.active_rules import read_policy

FOLDER, FILE = 0o700, 0o600
OTHERS_WRITE, OTHERS = 0o022, 0o077
LITTLE, TOO_LITTLE = 200 * 1024 * 1024, 20 * 1024 * 1024
START = "tabhub start"


def home(visit: Visit) -> Iterator[Finding]:
    root = visit.home.root
    if not root.exists():
        yield warn(f"{root} is not there yet: nothing has been started.", START)
        return
    mode = root.stat().st_mode
    if not root.is_dir() or not os.access(root, os.W_OK | os.X_OK):
        yield fail(f"{root} is not a folder that you can write to.")
    elif mode & OTHERS_WRITE:
        yield fail(f"{root} can be written to by others.", Chmod(root, FOLDER))
    elif mode & OTHERS:
        yield warn(f"{root} can be looked into by others.", Chmod(root, FOLDER))
    else:
        yield ok(f"{root} is yours alone.")


def disk(visit: Visit) -> Iterator[Finding]:
    there = next(path for path in (visit.home.root, *visit.home.root.parents) if path.exists())
    free = shutil.disk_usage(there).free
    said = f"{free // (1024 * 1024)} MB are free at {there}."
    judged = fail if free < TOO_LITTLE else warn if free < LITTLE else ok
    yield judged(said)


def secrets(visit: Visit) -> Iterator[Finding]:
    """Both copies of the secret: valid, the same, and nobody else's to read."""
    stored = secret.load(visit.home)
    if stored is None:
        yield warn("There is no secret yet; the first start makes one.", START)
        return
    yield from _private(visit.home.auth, visit.home.managed_auth)
    managed = secret.load_managed(visit.home)
    if managed is None or managed.secret != stored.secret:
        yield fail(
            f"{visit.home.managed_auth} has another secret than {visit.home.auth}, so browsers"
            " that tabhub starts are not let in.",
            "tabhub extension path",
        )


def _private(*paths: Path) -> Iterator[Finding]:
    for path in paths:
        if not path.exists():
            continue
        status = path.stat()
        if status.st_mode & OTHERS:
            yield fail(f"Others can read the secret in {path}.", Chmod(path, FILE))
        elif status.st_uid != os.geteuid():
            yield fail(f"{path} belongs to another user.", f"sudo chown $USER {path}")
        else:
            yield ok(f"{path} is for you only.")


def records(visit: Visit) -> Iterator[Finding]:
    """What others must not change, and should not read."""
    home = visit.home
    files = (home.config, home.policy, home.clients, home.connections, home.db)
    for path in (*files, *files_of(home.audit), *files_of(home.log)):
        mode = path.stat().st_mode if path.exists() else 0
        if mode & OTHERS_WRITE:
            yield fail(f"{path} can be changed by others.", Chmod(path, FILE))
        elif mode & OTHERS and path not in (home.config, home.policy):
            yield warn(f"{path} can be read by others.", Chmod(path, FILE))


def config(visit: Visit) -> Iterator[Finding]:
    path = visit.home.config
    loaded = settings.load(visit.home)
    toolsets.chosen(loaded.toolsets)
    for strangers in strange(editing.written(visit.home)):
        key = ".".join(strangers)
        yield warn(f"{path}: {no_setting(key)}", f"tabhub config unset {shlex.quote(key)}")
    yield ok(f"{path} is valid." if path.exists() else "Nothing is set; the defaults hold.")


def policy(visit: Visit) -> Iterator[Finding]:
    found = read_policy(visit.home, visit.settings)
    yield ok("There is no policy file." if found is None else f"{found.name} is valid.")


def tokens(visit: Visit) -> Iterator[Finding]:
    count = len(Clients(visit.home).list())
    yield ok(f"{count} client token{'' if count == 1 else 's'}.")
