"""Solutions of layer 3, base."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from minilc.messages import ToolMessage


def base_1(content: Any, artifact: Any, tool_call_id: str, name: str, status: Any) -> ToolMessage:
    """The answer to a call."""

    def is_block(item: Any) -> bool:
        return isinstance(item, str) or (isinstance(item, dict) and "type" in item)

    if isinstance(content, ToolMessage):
        return content
    blocks = isinstance(content, list) and all(map(is_block, content))
    if not (blocks or isinstance(content, str)):
        try:
            content = json.dumps(content, ensure_ascii=False)
        except TypeError:
            content = str(content)
    return ToolMessage(
        content=content, artifact=artifact, tool_call_id=tool_call_id, name=name, status=status
    )


def base_2(value: Any) -> tuple[Any, str | None]:
    """Only a dict that says it is a tool call is one; its arguments are copied."""
    if isinstance(value, dict) and value.get("type") == "tool_call":
        return value["args"].copy(), value["id"]
    return value, None


def base_3(error: ValidationError) -> str:
    """A line for each wrong argument: the way to it, and what is wrong."""
    return "\n".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
