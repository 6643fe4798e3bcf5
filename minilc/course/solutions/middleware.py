"""Solutions of layer 13, middleware."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.messages import ToolMessage
from langgraph.errors import GraphBubbleUp
from langgraph.types import interrupt


def middleware_1(most: int) -> Callable[[Any, Any], Any]:
    """A wrapper that lets each tool be called `most` times."""

    def wrapper(request: Any, handler: Any) -> Any:
        call = request.tool_call
        asked = [
            one["id"]
            for message in request.state["messages"]
            if message.type == "ai"
            for one in message.tool_calls
            if one["name"] == call["name"]
        ]
        if asked.index(call["id"]) < most:
            return handler(request)
        text = f"no more than {most} calls of {call['name']}"
        return ToolMessage(text, name=call["name"], tool_call_id=call["id"], status="error")

    return wrapper


def middleware_2(request: Any, handler: Any) -> Any:
    """An error becomes an answer that the model can read; a signal to the graph goes on."""
    call = request.tool_call
    try:
        return handler(request)
    except GraphBubbleUp:
        raise
    except Exception as error:
        text = f"failed: {error!r}"
        return ToolMessage(text, name=call["name"], tool_call_id=call["id"], status="error")


def middleware_3(request: Any, handler: Any) -> Any:
    """Ask a person before `delete` runs."""
    call = request.tool_call
    if call["name"] != "delete":
        return handler(request)
    answer = interrupt({"tool": call["name"], "args": call["args"]})
    if answer["do"] == "refuse":
        text = f"refused: {answer['why']}"
        return ToolMessage(text, name=call["name"], tool_call_id=call["id"], status="error")
    args = answer.get("args", call["args"])
    return handler(request.override(tool_call={**call, "args": args}))
