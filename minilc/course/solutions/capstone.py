"""Solutions of notebook 18, capstone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.messages import ToolMessage
from langgraph.errors import GraphRecursionError
from langgraph.graph import END
from pydantic import ValidationError


def capstone_1(tools: Sequence[Any]) -> Callable[[Any], Any]:
    """The smallest ToolNode: a name is looked up, a call is answered, a slip is told."""
    by_name = {one.name: one for one in tools}

    def answer(call: Any) -> Any:
        if call["name"] not in by_name:
            text = f"Error: there is no {call['name']}, only {', '.join(by_name)}."
        else:
            try:
                return by_name[call["name"]].invoke(call)
            except ValidationError as error:
                text = f"Error: {error}"
        told = {"name": call["name"], "tool_call_id": call["id"], "status": "error"}
        return ToolMessage(text, **told)

    def run(state: Any) -> Any:
        return {"messages": [answer(call) for call in state["messages"][-1].tool_calls]}

    return run


def capstone_2(tools: Sequence[Any]) -> tuple[Callable[[Any], str], Callable[[Any], str]]:
    """The two edges of an agent."""
    direct = {one.name: one.return_direct for one in tools}

    def after_model(state: Any) -> str:
        return "tools" if state["messages"][-1].tool_calls else END

    def after_tools(state: Any) -> str:
        *_, asking = [message for message in state["messages"] if message.type == "ai"]
        called = [direct[call["name"]] for call in asking.tool_calls if call["name"] in direct]
        return END if called and all(called) else "model"

    return after_model, after_tools


def capstone_3(
    ask: Callable[[Any], Any],
    run_tools: Callable[[Any], Any],
    after_model: Callable[[Any], str],
    after_tools: Callable[[Any], str],
    messages: Sequence[Any],
    limit: int = 25,
) -> Any:
    """The loop: ask, go where the edges say, and no longer than the limit."""
    messages = list(messages)
    for _ in range(limit):
        messages.append(ask(messages))
        if after_model({"messages": messages}) == END:
            return messages
        messages += run_tools({"messages": messages})["messages"]
        if after_tools({"messages": messages}) == END:
            return messages
    raise GraphRecursionError(f"the model was asked {limit} times, and the run is not at its end")


def capstone_4(state: Any, runtime: Any) -> Any:
    """Answer each broken call; ask the model again if no good call goes to the tools."""
    last = state["messages"][-1]
    answers = [
        ToolMessage(
            f"Error: the arguments {call['args']} are not valid JSON.",
            name=call["name"],
            tool_call_id=call["id"],
            status="error",
        )
        for call in last.invalid_tool_calls
    ]
    if not answers:
        return None
    return {"messages": answers} | ({} if last.tool_calls else {"jump_to": "model"})
