"""What the cases share: a tool call, the message that asks for it, a ToolNode run by hand.

The case modules do without `from __future__ import annotations`: a tool that is defined inside a
case has annotations that name the case's own locals, and such names resolve only at once.
"""

from typing import Any

from minilc.course.worlds import World


def call(name: str, args: dict[str, Any] | None = None, id: str | None = "c1") -> dict[str, Any]:
    """A tool call as a model asks for it."""
    return {"name": name, "args": args or {}, "id": id, "type": "tool_call"}


def asks(lc: World, *calls: dict[str, Any], text: str = "", id: str | None = None) -> Any:
    """The AI message that asks for these calls."""
    return lc.AIMessage(content=text, tool_calls=list(calls), id=id)


def by_hand(lc: World, **fields: Any) -> dict[str, Any]:
    """The config that lets a ToolNode run without a graph: it holds the Runtime a graph gives."""
    return {"configurable": {"__pregel_runtime": lc.Runtime(**fields)}}


def run_tools(lc: World, tools: list[Any], *calls: dict[str, Any], **options: Any) -> Any:
    """What a ToolNode makes of these calls, run by hand; `options` are the node's."""
    return lc.ToolNode(tools, **options).invoke({"messages": [asks(lc, *calls)]}, by_hand(lc))


def user(text: str = "北京今天天气怎么样？") -> dict[str, Any]:
    """The state that a run starts with."""
    return {"messages": [{"role": "user", "content": text}]}


def road(state: dict[str, Any]) -> list[str]:
    """The types of a state's messages: the road that a run took."""
    return [message.type for message in state["messages"]]


def sent(model: Any) -> list[dict[str, Any]]:
    """What a scripted model was sent, request by request."""
    return [request._asdict() for request in model.requests]
