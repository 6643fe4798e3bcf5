"""Solutions of layer 12, tool_node."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from langgraph.graph import END
from langgraph.types import Send

from minilc.messages import AIMessage


def tool_node_1(input: Any, messages_key: str) -> list[Any]:
    """The calls to run."""
    messages = input
    if isinstance(input, list):
        if input and isinstance(input[-1], dict) and input[-1].get("type") == "tool_call":
            return input
    elif not isinstance(input, dict):
        messages = getattr(input, messages_key, None)
    elif input.get("__type") == "tool_call_with_context":
        return [input["tool_call"]]
    else:
        messages = input.get(messages_key)
    if not messages:
        raise ValueError("No message found in input")
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            return message.tool_calls
    raise ValueError("No AIMessage found in input")


def tool_node_2(calls: list[Any], run_one: Callable[[Any], Any]) -> list[Any]:
    """The answers to all calls, which run at the same time; each is waited for in its turn."""
    with ThreadPoolExecutor() as pool:
        futures = [pool.submit(run_one, call) for call in calls]
        return [future.result() for future in futures]


def tool_node_3(state: dict[str, Any]) -> Any:
    """Where to go from the model: to the tools with each call that has no answer behind it."""
    answered: set[str | None] = set()
    for message in reversed(state["messages"]):
        if message.type == "ai":
            pending = [call for call in message.tool_calls if call["id"] not in answered]
            return [Send("tools", [call]) for call in pending] or END
        answered.add(getattr(message, "tool_call_id", None))
    return END
