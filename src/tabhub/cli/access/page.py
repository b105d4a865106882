"""`tabhub page`: sites whose pages may offer tools without the extension."""

from tabhub.cli import running
from tabhub.cli.output import harmless, print_json
from tabhub.cli.server.server_status import waiting_pages
from tabhub.config import keys, settings
from tabhub.config.paths import Home
from tabhub.config.settings import Origins
from tabhub.errors import InvalidArguments, NotFound
from tabhub.page_tools.pairing import SCHEMES, web_origin
from tabhub.page_tools.persistence import forget_origins
from tabhub.store.store import Store


def allow(text: str) -> None:
    home = Home.from_environment().create()
    origin = _origin(text)
    known = settings.load(home).worker_origins
    if origin not in known:
        _set(home, [*known, origin])
    print(f"Allowed: {origin}")


def show(as_json: bool) -> None:
    home = Home.from_environment()
    known = settings.load(home).worker_origins
    requests = (running.find(home) or {}).get("waitingPages", [])
    if as_json:
        print_json({"allowed": known, "waiting": requests})
        return
    for line in (*known, *waiting_pages(requests)):
        print(harmless(line))


def forget(text: str) -> None:
    home = Home.from_environment()
    origin = _origin(text)
    known = settings.load(home).worker_origins
    tools = _forget_tools(home, Origins([origin]))
    if origin not in known and not tools:
        raise NotFound(
            f"{origin} is not allowed, and tabhub keeps no tools of it. "
            "`tabhub page list` shows the allowed origins."
        )
    if origin in known:
        _set(home, [other for other in known if other != origin])
        print(f"Forgotten: {origin}")
    if tools:
        running.reload(home)
        print(f"Forgotten: {tools} tool{'' if tools == 1 else 's'} kept without a tab")


def _forget_tools(home: Home, origins: Origins) -> int:
    if not home.db.exists():
        return 0
    store = Store(home.db)
    try:
        return forget_origins(store, lambda origin: origin.encode() in origins)
    finally:
        store.close()


def _set(home: Home, origins: list[str]) -> None:
    keys.set_value(home, ("workerOrigins",), origins)
    running.reload(home)


def _origin(text: str) -> str:
    origin = web_origin(text)
    if origin is None:
        raise InvalidArguments(f"{text!r} is not a web origin{_hint(text)}")
    return origin


def _hint(text: str) -> str:
    """The origins that the text becomes with a scheme, or an example."""
    has_scheme = ":/" in text or text == "null"
    plain, secure = (None if has_scheme else web_origin(f"{name}://{text}") for name in SCHEMES)
    if plain is None or secure is None:
        return ", such as https://shop.example."
    return f": http:// or https:// is missing. Is it {plain} or {secure}?"
