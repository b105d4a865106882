"""A client of HTTP+SSE in a real browser: its tab group, its tools and its end."""

from pathlib import Path
from typing import Any

import pytest

from tests.agents.mcp.sse_clients import streaming
from tests.support.browsers.managed import rig
from tests.support.eventually import eventually_sync
from tests.support.site import Site

pytestmark = pytest.mark.real_browser
CONFIG: dict[str, Any] = {"sessions": {"groupOnConnect": True}, "mcpServer": {"port": 0}}


@pytest.mark.document("CB-architecture-1", "CB-handler-9", "CB-lifecycle-6")
@pytest.mark.requirement("CB-03")
@pytest.mark.requirement("CB-04")
async def test_a_session_has_its_own_tab_group_which_ends_with_it(
    tmp_path: Path, site: Site
) -> None:
    async with rig(tmp_path, CONFIG) as managed:
        before = managed.product.status()["tabs"]
        port = managed.product.status()["ssePort"]
        managed.port = port
        token = managed.product.run("client", "add", "old").stdout.strip()
        async with managed.http(token) as http, streaming(http) as agent:
            await agent.initialize()
            context = (await agent.call("tabs_context_mcp"))["result"]["structuredContent"]
            (mine,) = context["availableTabs"]
            assert mine["url"] == "about:blank" and context["tabGroupId"] > 0
            went = await agent.call("navigate", {"progressToken": 1}, url=site.page("form"))
            assert "isError" not in went["result"]
            seen = (await agent.call("read_page", filter="interactive"))["result"]
            assert "ref_" in seen["content"][0]["text"]
            script = {"action": "javascript_exec", "text": "document.title"}
            ran = (await agent.call("javascript_tool", None, **script))["result"]
            assert "Form" in ran["content"][0]["text"]
            shot = (await agent.call("computer", action="screenshot"))["result"]
            assert [block["type"] for block in shot["content"]][:2] == ["text", "image"]
            assert managed.product.status()["tabs"] == before + 1
        eventually_sync(
            lambda: managed.product.status()["tabs"] == before or None, "the group to be closed"
        )
        assert managed.product.status()["activeSessions"] == 0


ASK = """
const answer = await fetch("http://127.0.0.1:%d/sse", {headers: {Authorization: "Bearer %s"}});
const reader = answer.body.getReader();
const {value} = await reader.read();
await reader.cancel();
[answer.status, answer.headers.get("x-session-id"), new TextDecoder().decode(value)];
"""


@pytest.mark.requirement("OT-17")
async def test_a_page_reaches_the_agents_endpoints_only_if_its_origin_is_set(
    tmp_path: Path, site: Site
) -> None:
    config = {"mcpServer": {"corsOrigins": [site.url]}}
    async with rig(tmp_path, config) as managed, managed.agent("guest") as agent:
        token = managed.product.run("client", "add", "page").stdout.strip()
        code = ASK % (managed.port, token)
        await agent.call("browser_open_tab", url=site.page("form"))
        status, session, event = (await agent.call("browser_execute_script", code=code))["value"]
        assert (status, event) == (200, f"event: endpoint\ndata: /message?sessionId={session}\n\n")
        other = f"{site.other}/form.html"
        await agent.call("browser_open_tab", url=other)
        refused = await agent.result("browser_execute_script", code=code)
        assert refused["isError"] is True and "fetch" in refused["content"][0]["text"]
