"""The error of a call that must fail."""

from typing import Any

import pytest

from tests.support.agent import Agent, ToolFailed


async def failure(agent: Agent, tool: str, /, **arguments: Any) -> ToolFailed:
    with pytest.raises(ToolFailed) as failed:
        await agent.call(tool, **arguments)
    return failed.value


async def reason(agent: Agent, tool: str, /, **arguments: Any) -> str:
    return (await failure(agent, tool, **arguments)).reason
