"""Content that rules hide from agents or the audit log leaves out, in a real browser."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.support.browsers.managed import rig
from tests.support.eventually import eventually
from tests.support.site import Site

pytestmark = pytest.mark.real_browser


async def test_the_audit_log_has_no_text_typed_into_a_password_field(
    tmp_path: Path, site: Site
) -> None:
    body = "<input id=p type=password><input id=t><input id=c autocomplete=cc-number>"
    async with rig(tmp_path, {}) as here, here.agent("robot") as agent:
        await agent.call("browser_open_tab", url=f"{site.url}/html?body={body}")
        for field, text in (("p", "hunter22"), ("t", "ordinary"), ("c", "not-a-number")):
            typed = await agent.call("browser_type_text", selector=f"#{field}", text=text)
            assert ("hunter22" in json.dumps(typed)) is False
        kept = (here.product.home / "audit.log").read_text()
        assert "ordinary" in kept
        assert "hunter22" not in kept and "not-a-number" not in kept


async def test_the_audit_log_has_no_files_and_no_responses(tmp_path: Path, site: Site) -> None:
    secret = "c2VjcmV0LWJ5dGVz"
    async with rig(tmp_path, {}) as here, here.agent("robot") as agent:
        await agent.call("browser_open_tab", url=f"{site.url}/html?body=<input type=file>")
        files = [{"name": "a.txt", "data": secret}]
        await agent.call("browser_upload_files", selector="input", files=files)
        await agent.call("browser_intercept_requests")
        answers: dict[str, dict[str, Any]] = {
            "browser_fulfill_request": {"status": 200},
            "browser_continue_request": {},
        }
        for tool, more in answers.items():
            response = {"headers": {"X-Own": secret}, "body": secret, **more}
            missed = await agent.result(tool, requestId="r", **response)
            assert missed["isError"]
            refused = await agent.result(tool, requestId="r", headers={"X": f"{secret}\n"}, **more)
            assert "header" in str(refused) and secret not in str(refused)
        kept = (here.product.home / "audit.log").read_text()
        assert "browser_continue_request" in kept and "browser_upload_files" in kept
        assert secret not in kept


async def test_a_page_that_navigates_to_a_forbidden_site_shows_nothing_of_it(
    tmp_path: Path, site: Site
) -> None:
    forbidden = site.other.removeprefix("http://")
    config = {"permissions": {"domains": {forbidden: "off"}}}
    async with rig(tmp_path, config) as here, here.agent("robot") as agent:
        tab = (await agent.call("browser_open_tab", url=site.page("form")))["tabId"]
        for number in range(25):
            # The page's own navigation may still be running, and win.
            await eventually(
                lambda: agent.result("browser_navigate_tab", url=site.page("form")),
                until=lambda found: not found.get("isError"),
            )
            leave = f"setTimeout(() => location.href = '{site.other}/form.html', {number}); 1"
            await agent.call("browser_execute_script", code=leave)
            reasons = set()
            while "permission_off" not in reasons:
                script = agent.result("browser_execute_script", tabId=tab, code="location.host")
                for call in (script, agent.result("browser_read_page", tabId=tab)):
                    result = await call
                    data = result["structuredContent"]
                    if result.get("isError"):
                        reasons.add(data["error"]["reason"])
                    else:
                        text = str(data.get("value") or data.get("url"))
                        assert forbidden not in text
            assert reasons <= {"permission_off", "navigated_away", "tab_url_mismatch"}


async def test_no_tool_reads_or_acts_in_frames_of_a_forbidden_site(
    tmp_path: Path, site: Site
) -> None:
    forbidden = site.other.removeprefix("http://")
    for config, visible in (({}, True), ({"permissions": {"domains": {forbidden: "off"}}}, False)):
        folder = tmp_path / str(visible)
        folder.mkdir()
        async with rig(folder, config) as here, here.agent("robot") as agent:
            frame = f"<h1>Outside</h1><iframe src='{site.other}/form.html'></iframe>"
            await agent.call("browser_open_tab", url=f"{site.url}/html?body={quote(frame)}")
            text = await agent.text("browser_read_page")
            assert "Outside" in text and ("Email" in text) is visible
            click = await agent.result("browser_click_element", selector="#mail")
            reason = click["structuredContent"].get("error", {}).get("reason")
            assert reason == (None if visible else "element_not_found")
