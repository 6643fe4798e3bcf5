"""Solutions of layer 11, injection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args, get_origin

from langchain_core.utils.function_calling import convert_to_openai_tool


def injection_1(type_: Any, kind: Any) -> Any:
    """The annotation itself, or the first mark in one of its parts."""
    mark = get_origin(type_) or type_
    if isinstance(mark, kind) or (isinstance(mark, type) and issubclass(mark, kind)):
        return mark
    for part in get_args(type_):
        if found := injection_1(part, kind):
            return found
    return None


def injection_2(call: dict[str, Any], user_id: str) -> dict[str, Any]:
    """Of two values for one key the later one counts, so the true one comes last."""
    return {**call["args"], "user_id": user_id}


def injection_3(tools: Sequence[Any], private: Sequence[str]) -> list[str]:
    """What the model is sent says what it may fill in."""
    found = []
    for tool in tools:
        function = convert_to_openai_tool(tool)["function"]
        names = function["parameters"]["properties"]
        found += [f"{function['name']}.{name}" for name in names if name in private]
    return found
