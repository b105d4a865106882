"""Published tools and the routes of calls, for any order of events."""

import pytest

from tabhub.page_tools.core.listing import Mode
from tests.page_tools.core.machine import Machine
from tests.support.examples import examples


class PerTab(Machine):
    mode: Mode = "per-tab"


_some = examples(150, stateful_step_count=30)
Machine.TestCase.settings = _some
PerTab.TestCase.settings = _some
TestMerged = pytest.mark.requirement("MT-05")(Machine.TestCase)
TestPerTab = pytest.mark.requirement("MB-09")(PerTab.TestCase)
