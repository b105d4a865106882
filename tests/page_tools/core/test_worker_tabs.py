"""Ids of page workers, and their tabs."""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tabhub.page_tools.core.registry import MOST_IDS, WorkerId, WorkerTabs
from tests.page_tools.core.pages import hub, page, published

_ids = st.tuples(st.sampled_from(("https://a.example", "https://b.example")), st.text("xyz"))


def test_only_the_latest_ids_of_a_page_are_kept() -> None:
    made = hub()
    for n in range(1000):
        made.pages.register(page(1, published("x"), worker_id=f"id{n}"))
    assert len(made.pages._worker_tabs) == MOST_IDS


class WorkerTabsMachine(RuleBasedStateMachine):
    """The latest ids of a tab map to it while it is open."""

    def __init__(self) -> None:
        super().__init__()
        self.worker_tabs = WorkerTabs()
        self.model: dict[WorkerId, int] = {}

    @rule(id=_ids, tab=st.integers(1, 3))
    def put(self, id: WorkerId, tab: int) -> None:
        self.worker_tabs.put(id, tab)
        if self.model.get(id) != tab:
            self.model.pop(id, None)
            self.model[id] = tab
        ids = [worker_id for worker_id, other_tab in self.model.items() if other_tab == tab]
        for old in ids[: max(0, len(ids) - MOST_IDS)]:
            del self.model[old]

    @rule(tab=st.integers(1, 3))
    def close(self, tab: int) -> None:
        self.worker_tabs.close(tab)
        self.model = {id: of for id, of in self.model.items() if of != tab}

    @invariant()
    def it_is_what_was_put(self) -> None:
        assert len(self.worker_tabs) == len(self.model)
        assert all(self.worker_tabs.find(id) == tab for id, tab in self.model.items())


TestWorkerTabs = WorkerTabsMachine.TestCase
