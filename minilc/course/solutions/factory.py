"""Solutions of layer 14, factory."""

from __future__ import annotations

from typing import Any

from langgraph.errors import GraphRecursionError

from minilc.messages import AIMessage, ToolMessage


def factory_1(messages: list[Any], answer_tools: set[str]) -> list[Any]:
    """The calls of the last AIMessage that no ToolMessage behind it answers."""
    answered = set()
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            open_calls = [call for call in message.tool_calls if call["id"] not in answered]
            return [call for call in open_calls if call["name"] not in answer_tools]
        if isinstance(message, ToolMessage):
            answered.add(message.tool_call_id)
    return []


def factory_2(calls: list[Any], tools: dict[str, Any]) -> bool:
    """Something has run, and all that has run is to have the last word."""
    direct = [tools[call["name"]].return_direct for call in calls if call["name"] in tools]
    return bool(direct) and all(direct)


def factory_3(agent: Any, question: str, rounds: int) -> list[Any]:
    """Stream the states, and keep the last one that was seen."""
    seen: list[Any] = []
    given, config = {"messages": [("user", question)]}, {"recursion_limit": 2 * rounds + 1}
    try:
        for state in agent.stream(given, config, stream_mode="values"):
            seen = state["messages"]
    except GraphRecursionError:
        pass
    return seen
