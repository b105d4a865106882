"""A person lets a page in, in the panel of a real browser."""

from pathlib import Path

import pytest

from tabhub.cli.demo import serve_page
from tests.support.bare import Bare
from tests.support.panel import panel_of
from tests.support.world import world

pytestmark = pytest.mark.real_browser


@pytest.mark.requirement("MT-01")
async def test_a_page_knocks_and_is_let_in_by_its_code_and_put_out_by_the_command_line(
    tmp_path: Path,
) -> None:
    with serve_page() as url:
        async with world(tmp_path, {}) as there:
            here = Bare(there.cdp, url.rstrip("/"), there.port)
            page = await here.open()
            code = (await here.status(page, "unpaired"))["code"]
            async with panel_of(there.cdp) as panel:
                shown = await panel.text("li[data-knock]")
                assert here.site in shown and code in shown
                await panel.value("document.querySelector('[data-action=let-in]').click()")
                assert (await here.status(page, "unpaired"))["code"] == code
                await panel.click("[data-action=let-in]")
                await here.status(page, "connected")
                await panel.until("!document.querySelector('li[data-knock]')", "the knock to go")
            assert there.product.run("page", "list").stdout == f"{here.site}\n"
            there.product.run("page", "forget", here.site)
            await here.status(page, "unpaired")
            there.product.run("page", "allow", here.site)
            await here.status(page, "connected")
        lines = [(line["plugin"], line["tool"], line["verdict"]) for line in there.audit()]
        assert ("door", "knock at /page", "refused") in lines
        assert ("panel", "page.pair", "allowed") in lines
