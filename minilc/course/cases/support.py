"""What the cases share: a tool call, a message as plain data, a coroutine run to its end.

The case modules do without `from __future__ import annotations`: a tool that is defined inside a
case has annotations that name the case's own locals, and such names resolve only at once.
"""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any

from minilc.course.worlds import World

# The fields of a message that say something, in the order in which a reader wants them.
FACTS = (
    "content",
    "tool_calls",
    "invalid_tool_calls",
    "name",
    "tool_call_id",
    "status",
    "artifact",
)


def call(name: str, args: dict[str, Any] | None = None, id: str | None = "c1") -> dict[str, Any]:
    """A tool call as a model asks for it."""
    return {"name": name, "args": args or {}, "id": id, "type": "tool_call"}


def asks(lc: World, *calls: dict[str, Any], text: str = "", id: str | None = None) -> Any:
    """The AI message that asks for these calls."""
    return lc.AIMessage(content=text, tool_calls=list(calls), id=id)


def facts(message: Any) -> dict[str, Any]:
    """A message as plain data, without its id and without what is empty."""
    shown = {name: getattr(message, name, None) for name in FACTS}
    return {"type": message.type} | {
        name: value for name, value in shown.items() if name == "content" or value
    }


def history(result: Any) -> list[dict[str, Any]]:
    """The messages of a state (or of a list) as plain data."""
    messages = result["messages"] if isinstance(result, dict) else result
    return [facts(message) for message in messages]


def kinds(result: Any) -> list[str]:
    """The types of the messages of a state: enough to see the road that a run took."""
    return [message.type for message in result["messages"]]


def wait(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine to its end in a thread of its own, so that it also works in a notebook."""
    outcome: dict[str, Any] = {}

    def run() -> None:
        try:
            outcome["value"] = asyncio.run(coroutine)
        except BaseException as error:  # handed to the thread that waits, which raises it
            outcome["error"] = error

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if "error" in outcome:
        raise outcome["error"]
    return outcome["value"]


def by_hand(lc: World, **fields: Any) -> dict[str, Any]:
    """The config that lets a ToolNode run without a graph: it holds the Runtime a graph gives."""
    return {"configurable": {"__pregel_runtime": lc.Runtime(**fields)}}
