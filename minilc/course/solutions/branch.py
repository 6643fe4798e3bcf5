"""Solutions of layer 8, branch."""

from __future__ import annotations

from typing import Any

from minilc.branch import END, START, InvalidUpdateError, Send


def branch_1(result: Any, path_map: dict[Any, str]) -> list[Any]:
    """What is not a Send goes through the map, if there is one; some results are refused."""
    several = list(result) if isinstance(result, list | tuple) else [result]
    if path_map:
        several = [one if isinstance(one, Send) else path_map[one] for one in several]
    if any(one is None or one == START for one in several):
        raise ValueError("Branch did not return a valid destination")
    if any(isinstance(one, Send) and one.node == END for one in several):
        raise InvalidUpdateError("Cannot send a packet to the END node")
    return several


def branch_2(state: dict[str, Any]) -> str:
    """The calls decide, whatever was said beside them."""
    *_, last = state["messages"]
    return "tools" if last.tool_calls else END


def branch_3(messages: list[Any]) -> list[Any]:
    """Behind each AIMessage one answer a call, taken from before the next AIMessage."""
    from langchain_core.messages import ToolMessage

    mended: list[Any] = []
    for index, message in enumerate(messages):
        if message.type == "tool":
            continue
        mended.append(message)
        answers: dict[str, Any] = {}
        for later in messages[index + 1 :]:
            if later.type == "ai":
                break
            if later.type == "tool":
                answers.setdefault(later.tool_call_id, later)
        for call in getattr(message, "tool_calls", []):
            missing = ToolMessage(
                "not run", name=call["name"], tool_call_id=call["id"], status="error"
            )
            mended.append(answers.get(call["id"], missing))
    return mended
