"""Messages of the page worker library over `/page`. `docs/protocol.md` says when each is sent."""

from typing import Annotated

import msgspec

from tabhub.wire.link import Params
from tabhub.wire.pages import Capabilities

PROTOCOL = "tabhub-page"
PROBE = "tabhub-probe"
"""What a window asks with that only wants to know whether it may come here at all."""
UNPAIRED = 4003
"""Close code: the person has not allowed this origin."""
TOO_MUCH = 4008
"""Close code: more came than a page may send."""

TabId = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|fallback_\d{1,16}_[0-9a-z]{1,16})$"
    ),
]
"""A UUID, or what a page makes up that has no `crypto`."""


class PageUnpaired(Params):
    """`page/unpaired`: a person has yet to allow this origin."""

    origin: str
    code: str
    message: str


class PageReady(Params):
    """`page/ready`: the server takes the page's messages from here on."""

    origin: str


class WorkerTab(Params):
    """`browser/unregisterTools`: the tab has closed."""

    tab_id: TabId


class UpdateWorkerTools(WorkerTab):
    """`browser/updateTools`: the new list, as a whole."""

    tools: list[msgspec.Raw]


class RegisterWorkerTab(UpdateWorkerTools):
    """`browser/registerTools`: a tab, and all that it offers."""

    url: str = ""
    title: str = ""
    capabilities: Capabilities = Capabilities(multi_tab_support=True)


class ActiveTab(Params):
    """`browser/activeTab`: the tab the person looks at; null: at none of this origin."""

    tab_id: TabId | None
