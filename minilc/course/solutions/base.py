"""Solutions of layer 3, base."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from minilc.messages import ToolMessage, ToolOutputMixin


def base_1(content: Any, artifact: Any, tool_call_id: str | None, name: str, status: Any) -> Any:
    """Answer a call with a ToolMessage; hand back anything else as it is."""
    if tool_call_id is None or isinstance(content, ToolOutputMixin):
        return content
    if not isinstance(content, str):
        content = json.dumps(content, ensure_ascii=False)
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
