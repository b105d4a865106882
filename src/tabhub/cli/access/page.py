"""`tabhub page`: sites whose pages may offer tools without the extension."""

import shlex

from tabhub.cli import running
from tabhub.cli.output import harmless, print_json
from tabhub.cli.own_program import command_text
from tabhub.cli.server.server_status import waiting_pages
from tabhub.config import keys, settings
from tabhub.config.paths import Home
from tabhub.config.settings import LevelWord, Origins
from tabhub.errors import NotFound
from tabhub.page_tools.origins import required_origin
from tabhub.page_tools.pairing import PageTokens, levels_of
from tabhub.page_tools.persistence import forget_origins
from tabhub.store.store import Store


def allow(text: str, code: str | None, level: LevelWord | None) -> None:
    home = Home.from_environment()
    paired = running.allow_page(home, required_origin(text), code, level)
    origin, minutes = paired["origin"], paired["seconds"] // 60
    if paired["code"] is not None:
        undo = shlex.join(("tabhub", "page", "forget", origin))
        print(f"Allowed: {origin}, the page that shows {paired['code']}. If yours does not: {undo}")
    elif minutes:
        print(f"Allowed: {origin}. Its next page that connects within {minutes} minutes is paired.")
    print(f"Calls through its worker: {_described(paired['level'])}")


def _described(level: LevelWord | None) -> str:
    return "default (judged as in a person's own browser)" if level is None else level


def show(as_json: bool) -> None:
    home = Home.from_environment()
    chosen = settings.load(home)
    known = chosen.worker_origins
    levels = levels_of(known, chosen.permissions.workers)
    requests = (running.find(home) or {}).get("waitingPages", [])
    if as_json:
        print_json({"allowed": known, "levels": levels, "waiting": requests})
        return
    allowed = (f"{origin}: {level or 'default'}" for origin, level in levels.items())
    for line in (*allowed, *waiting_pages(requests)):
        print(harmless(line))


def forget(text: str) -> None:
    home = Home.from_environment()
    origin = required_origin(text)
    chosen = settings.load(home)
    known, forgotten = chosen.worker_origins, Origins([origin])
    tools, browsers = _forget_stored(home, forgotten)
    if origin not in known and not tools and not browsers:
        raise NotFound(
            f"{origin} is not allowed, and tabhub keeps no tools of it. "
            f"`{command_text('page', 'list')}` shows the allowed origins."
        )
    if origin in known:
        keys.set_value(home, ("workerOrigins",), [other for other in known if other != origin])
    for other in chosen.permissions.workers:
        if other.encode() in forgotten:
            keys.set_level(home, "workers", other, None)
    running.reload(home)
    if origin in known:
        print(f"Forgotten: {origin}")
    elif browsers:
        print(f"Forgotten: {origin} in {_counted(browsers, 'browser')}")
    if tools:
        print(f"Forgotten: {_counted(tools, 'tool')} kept without a tab")


def _forget_stored(home: Home, origins: Origins) -> tuple[int, int]:
    """Delete the kept tools of origins, and the tokens of their pages; how many there were."""

    def is_one(origin: str) -> bool:
        return origin.encode() in origins

    if not home.db.exists():
        return 0, 0
    store = Store(home.db)
    try:
        return forget_origins(store, is_one), PageTokens(store).revoke(is_one)
    finally:
        store.close()


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
