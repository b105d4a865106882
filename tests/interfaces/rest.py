"""REST, with and without events."""

import json
from contextlib import asynccontextmanager

import httpx

from tests.interfaces.interface import (
    CallRequest,
    Connected,
    Interface,
    InterfaceClient,
    Json,
    Outcome,
    Place,
    of_error,
    of_result,
)


def outcome(body: Json) -> Outcome:
    error = body.get("error")
    if error is None:
        return of_result(body)
    if "content" in body:
        return of_result(body)
    return of_error(error["code"], error["message"], error)


class RestClient(InterfaceClient):
    reports_progress = False

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def tools(self) -> set[str]:
        return {tool["name"] for tool in (await self._http.get("/tools")).json()["tools"]}

    async def call(self, request: CallRequest) -> Outcome:
        headers = {"idempotency-key": request.operation_id} if request.operation_id else {}
        body = {"arguments": request.arguments}
        answer = await self._http.post(f"/tools/{request.tool}/call", json=body, headers=headers)
        return outcome(answer.json())


class EventClient(RestClient):
    reports_progress = True

    async def call(self, request: CallRequest) -> Outcome:
        headers = {"accept": "text/event-stream"}
        if request.operation_id:
            headers["idempotency-key"] = request.operation_id
        path, body = f"/tools/{request.tool}/call", {"arguments": request.arguments}
        async with self._http.stream("POST", path, json=body, headers=headers) as response:
            if response.headers["content-type"] == "application/json":
                return outcome(json.loads(await response.aread()))
            lines = [line async for line in response.aiter_lines()]
        kinds = [line[7:] for line in lines if line.startswith("event: ")]
        events = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
        if request.progress is not None:
            request.progress += events[:-1]
        assert kinds[-1] == ("error" if "error" in events[-1] else "result")
        return outcome(events[-1])


class Rest(Interface):
    def __init__(self, kind: type[RestClient], name: str) -> None:
        self._kind = kind
        self.name = name

    @asynccontextmanager
    async def connect(self, place: Place) -> Connected:
        async with place.http() as http:
            yield self._kind(http)
