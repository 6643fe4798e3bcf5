"""Solutions of layer 7, chat_models."""

from __future__ import annotations

import json
from typing import Any

from langchain_core.messages import ToolMessage

from minilc.messages import AIMessage

ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}


def chat_models_1(message: Any) -> dict[str, Any]:
    """Role and content; calls with their arguments as JSON text; of an answer its call's id."""

    def written(call: Any) -> dict[str, Any]:
        args = call["args"]
        text = args if isinstance(args, str) else json.dumps(args, ensure_ascii=False)
        function = {"name": call["name"], "arguments": text}
        return {"type": "function", "id": call["id"], "function": function}

    result: dict[str, Any] = {"role": ROLES[message.type], "content": message.content}
    if message.type == "tool":
        result["tool_call_id"] = message.tool_call_id
    if message.type == "ai" and (calls := [*message.tool_calls, *message.invalid_tool_calls]):
        result["tool_calls"] = [written(call) for call in calls]
        result["content"] = message.content or None
    return result


def chat_models_2(message: dict[str, Any]) -> AIMessage:
    """What cannot be read is kept as it came, apart from the calls."""
    calls: list[Any] = []
    invalid: list[Any] = []
    for raw in message.get("tool_calls") or []:
        name, text = raw["function"]["name"], raw["function"]["arguments"]
        try:
            args = json.loads(text) if text else {}
            calls.append({"name": name, "args": args, "id": raw["id"]})
        except json.JSONDecodeError as error:
            invalid.append({"name": name, "args": text, "id": raw["id"], "error": str(error)})
    content = message.get("content") or ""
    return AIMessage(content=content, tool_calls=calls, invalid_tool_calls=invalid)


def chat_models_3(message: Any) -> list[ToolMessage]:
    """An error for each call that could not be read."""
    return [
        ToolMessage(f"Broken call: {call['error']}", tool_call_id=call["id"], status="error")
        for call in message.invalid_tool_calls
    ]
