"""Rows of the registers that no case of `minilc check` shows: each with a test of both sides."""

from __future__ import annotations

import importlib
from typing import Any

from minilc.course import behaviours
from minilc.course.worlds import World


def test_the_payload_of_a_call_is_the_call_and_was_once_the_whole_state(lc: World) -> None:
    # No public result shows what a task was sent, so this test asks the edge itself.
    module = "minilc.factory" if lc.name == "minilc" else "langchain.agents.factory"
    edge: Any = importlib.import_module(module)._make_model_to_tools_edge(
        model_destination="model", structured_output_tools={}, end_destination=lc.END
    )
    call = {"name": "get_weather", "args": {"city": "北京"}, "id": "call_1", "type": "tool_call"}
    state = {"messages": [lc.HumanMessage("a"), lc.AIMessage("", tool_calls=[call])]}
    (send,) = edge(state)
    assert send.node == "tools"
    if lc.name == "minilc" or behaviours.active("send-payload"):
        assert send.arg == [call]
    else:
        assert send.arg == {"__type": "tool_call_with_context", "tool_call": call, "state": state}
