"""The route table: nothing can be left out of it, and every path finds its one route."""

from collections import Counter

import pytest

from tabhub.agents.http.routing import Access, HttpRoute, HttpRouter, Route
from tabhub.agents.path_items import Json
from tabhub.agents.routes import ROUTES
from tabhub.wire.asgi import Receive, Scope, Send


def found(path: str, kind: str = "http") -> Route | None:
    return ROUTES.find({"type": kind, "path": path})


async def nothing(scope: Scope, receive: Receive, send: Send) -> None:
    raise AssertionError("nobody asks")


def test_no_two_routes_have_a_path_in_common() -> None:
    spelled = Counter(path for route in ROUTES for path in route.spellings)
    assert [path for path, count in spelled.items() if count > 1] == []


def test_a_route_needs_an_access_and_a_description_of_its_methods() -> None:
    given: Json = {"path": "/new", "handler": "new", "methods": ("GET", "HEAD")}
    described: Json = {"get": {"operationId": "new"}}
    assert HttpRoute(access=Access.PERSON, openapi=described, **given).path == "/new"
    with pytest.raises(TypeError, match="access"):
        HttpRoute(openapi=described, **given)
    with pytest.raises(TypeError, match="openapi"):
        HttpRoute(access=Access.PERSON, **given)
    wrong_ones: list[Json] = [{}, {"post": {}}, {**described, "delete": {}}]
    for wrong in wrong_ones:
        with pytest.raises(ValueError, match="/new"):
            HttpRoute(access=Access.PERSON, openapi=wrong, **given)


def test_a_router_needs_a_handler_for_every_route_and_a_route_for_every_handler() -> None:
    handlers = {route.handler: nothing for route in ROUTES}
    assert HttpRouter(ROUTES, handlers, lambda client: None).routes == list(ROUTES)
    with pytest.raises(ValueError, match="mcp"):
        HttpRouter(
            ROUTES, {name: nothing for name in handlers if name != "mcp"}, lambda client: None
        )
    with pytest.raises(ValueError, match="forgotten"):
        HttpRouter(ROUTES, {**handlers, "forgotten": nothing}, lambda client: None)


def test_every_path_finds_its_route_by_its_kind() -> None:
    for route in ROUTES:
        for path in route.spellings:
            if "{" not in path:
                assert found(path, route.kind) is route
    for path in ("/", "/mcp/x", "/tool", "/toolsx", "/MCP", "", "/ws", "/page"):
        assert found(path) is None


def test_templates_that_begin_alike_are_open_to_the_same_callers() -> None:
    """One of them decides for every path that begins so, before it is known which one fits."""
    below = [route for route in ROUTES if "{" in route.path]
    assert {route.path.partition("{")[0] for route in below} == {"/tools/"}
    assert {route.access for route in below} == {Access.CLIENTS}
    for path in ("/tools/x", "/tools/x/call", "/tools/x/call/y"):
        one = found(path)
        assert one is not None and one.access is Access.CLIENTS and one.counts_as_use
