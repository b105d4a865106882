"""The route table: it is complete, and every path has exactly one route."""

from collections import Counter

import pytest

from tabhub.agents.http.routing import Access, HttpRoute, HttpRouter, Route
from tabhub.agents.path_items import Json
from tabhub.agents.routes import ROUTES
from tabhub.wire.asgi import Receive, Scope, Send


def find_route(path: str, kind: str = "http") -> Route | None:
    return ROUTES.find({"type": kind, "path": path})


async def nothing(scope: Scope, receive: Receive, send: Send) -> None:
    raise AssertionError("this handler is never called")


def test_no_two_routes_have_a_path_in_common() -> None:
    spelled = Counter(path for route in ROUTES for path in route.spellings)
    assert [path for path, count in spelled.items() if count > 1] == []


def test_a_route_needs_an_access_and_a_description_of_its_methods() -> None:
    fields: Json = {"path": "/new", "handler": "new", "methods": ("GET", "HEAD")}
    described: Json = {"get": {"operationId": "new"}}
    assert HttpRoute(access=Access.PERSON, openapi=described, **fields).path == "/new"
    with pytest.raises(TypeError, match="access"):
        HttpRoute(openapi=described, **fields)
    with pytest.raises(TypeError, match="openapi"):
        HttpRoute(access=Access.PERSON, **fields)
    wrong_ones: list[Json] = [{}, {"post": {}}, {**described, "delete": {}}]
    for wrong in wrong_ones:
        with pytest.raises(ValueError, match="/new"):
            HttpRoute(access=Access.PERSON, openapi=wrong, **fields)


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
                assert find_route(path, route.kind) is route
    for path in ("/", "/mcp/x", "/tool", "/toolsx", "/MCP", "", "/ws", "/page"):
        assert find_route(path) is None


def test_templates_that_begin_alike_are_open_to_the_same_callers() -> None:
    """The first route with that prefix decides access before the exact route is known."""
    below = [route for route in ROUTES if "{" in route.path]
    assert {route.path.partition("{")[0] for route in below} == {"/tools/"}
    assert {route.access for route in below} == {Access.CLIENTS}
    for path in ("/tools/x", "/tools/x/call", "/tools/x/call/y"):
        matched = find_route(path)
        assert matched is not None and matched.access is Access.CLIENTS and matched.counts_as_use
