"""Solutions of layer 1, messages."""

from __future__ import annotations

import json
from typing import Any


def messages_1(raw_tool_calls: list[dict[str, Any]]) -> tuple[list[Any], list[Any]]:
    """The calls that can be read, and those that cannot."""
    calls: list[Any] = []
    invalid: list[Any] = []
    for raw in raw_tool_calls:
        name, text = raw["function"]["name"], raw["function"]["arguments"]
        call = {"name": name, "id": raw.get("id")}
        try:
            calls.append({**call, "args": json.loads(text), "type": "tool_call"})
        except json.JSONDecodeError:
            invalid.append({**call, "args": text, "error": None, "type": "invalid_tool_call"})
    return calls, invalid


def messages_2(messages: list[Any]) -> list[Any]:
    """After each request stand its answers, one a call; all other answers are left out."""
    from langchain_core.messages import ToolMessage

    first: dict[str, Any] = {}
    for message in messages:
        if message.type == "tool":
            first.setdefault(message.tool_call_id, message)
    mended: list[Any] = []
    for message in messages:
        if message.type != "tool":
            mended.append(message)
        for call in getattr(message, "tool_calls", []):
            missing = ToolMessage("No answer.", tool_call_id=call["id"], status="error")
            mended.append(first.get(call["id"], missing))
    return mended


def messages_3(calls: list[dict[str, Any]], results: list[tuple[str, str]]) -> list[Any]:
    """An answer for each call, in the order of the calls, found by id."""
    from langchain_core.messages import ToolMessage

    values = dict(results)
    return [
        ToolMessage(values[call["id"]], name=call["name"], tool_call_id=call["id"])
        for call in calls
    ]
