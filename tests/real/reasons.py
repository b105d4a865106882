"""Why a call was refused."""

from typing import Any

import pytest

from tests.support.agent import Agent, ToolFailed


async def reason(agent: Agent, tool: str, **arguments: Any) -> str:
    with pytest.raises(ToolFailed) as failed:
        await agent.call(tool, **arguments)
    word: str = failed.value.reason
    return word
