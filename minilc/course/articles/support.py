"""What many checks need: the articles' weather tool, a scripted model, a run, and its outcome."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import langchain_core
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.prebuilt import ToolNode
from langgraph.runtime import Runtime

from minilc.course.articles.ledger import Seen
from minilc.course.scripted import ScriptedChatModel

NEAR = 5  # lines
SITE = Path(langchain_core.__file__).parents[1]
QUESTION: Any = {"messages": [{"role": "user", "content": "北京今天天气怎么样？"}]}


def weather(**options: Any) -> Any:
    """A new `get_weather`, so that no check sees another's."""

    @tool(**options)
    def get_weather(city: str) -> str:
        """Get current weather for a city."""
        return f"{city} is sunny, 28C"

    return get_weather


def call(name: str = "get_weather", id: str | None = "call_1", **args: Any) -> dict[str, Any]:
    """A call as a model asks for it; of the weather in 北京 if nothing else is said."""
    return {"name": name, "args": args or {"city": "北京"}, "id": id, "type": "tool_call"}


def calling(*calls: dict[str, Any]) -> AIMessage:
    """An AIMessage that asks for these calls; for the weather if there are none."""
    return AIMessage("", tool_calls=list(calls) or [call()])


def scripted(*answers: Any) -> ScriptedChatModel:
    """A model that gives these answers; one call and a text if there are none."""
    return ScriptedChatModel(list(answers) or [calling(), "北京今天晴。"])


def agent(tools: Sequence[Any], *answers: Any, **options: Any) -> Any:
    """An agent whose model gives these answers."""
    return create_agent(scripted(*answers), list(tools), **options)


def run(tools: Sequence[Any], *answers: Any, **options: Any) -> list[Any]:
    """The messages of one run of such an agent."""
    return agent(tools, *answers, **options).invoke(QUESTION)["messages"]


def kinds(messages: Sequence[Any]) -> list[str]:
    """human, ai, tool, ... of each message."""
    return [message.type for message in messages]


def node(tools: Sequence[Any], *calls: dict[str, Any], state: Any = None, **options: Any) -> Any:
    """What a ToolNode makes of these calls; with the runtime that a graph would give it."""
    given = {"messages": [calling(*calls)], **(state or {})}
    return ToolNode(list(tools), **options).invoke(given, config())


def answer(tools: Sequence[Any], *calls: dict[str, Any], **options: Any) -> Any:
    """The first message that a ToolNode gives back for these calls."""
    return node(tools, *calls, **options)["messages"][0]


def giving(value: Any, name: str = "get", **options: Any) -> Any:
    """A new tool without arguments that returns a value, or raises it if it is an exception."""

    def give() -> Any:
        if isinstance(value, Exception):
            raise value
        return value

    return tool(name, description="Get it.", **options)(give)


def config(**runtime: Any) -> Any:
    """The config with which a ToolNode runs outside of a graph."""
    return {"configurable": {"__pregel_runtime": Runtime(**runtime)}}


def error(function: Callable[[], Any]) -> str:
    """`TypeError: its text` if it raises; else an empty text."""
    try:
        function()
    except Exception as raised:  # whatever it is, it is what the check looks at
        return f"{type(raised).__name__}: {raised}"
    return ""


def is_where_said(claim: str, begins: str = "", ends: str = "") -> Seen:
    """Whether the source is in the file and around the lines that an article names.

    Args:
        begins: if a part of it is meant: the part's first line is the first that has this.
        ends: the part's last line is the last that has this.
    """
    from minilc.course.articles.places import NAMED

    # What an article names with the same lines is one piece, such as `_func` and `_afunc`.
    pieces: dict[str, list[int]] = {}
    there, shown = True, []
    for one in (one for one in NAMED if one.claim == claim):
        place = one.place
        if place is None:
            return Seen(False, shows="not here")
        numbered = list(enumerate(place.source.splitlines(), place.first))
        first = next((number for number, line in numbered if begins in line), place.first)
        last = next((number for number, line in reversed(numbered) if ends in line), place.last)
        pieces.setdefault(one.lines, []).extend((first, last))
        there = there and place.file == one.file
        shown.append(f"{place.file}:{first}-{last}")
    right = all(_around(lines, min(at), max(at)) for lines, at in pieces.items())
    return Seen(there and right, shows=shown)


def _around(lines: str, first: int, last: int) -> bool:
    """Whether `lines 10-20` are the lines of something, give or take a few for decorators."""
    said = [int(number) for number in re.findall(r"\d+", lines)]
    near = abs(said[0] - first) <= NEAR
    return near and (len(said) == 1 or abs(said[-1] - last) <= NEAR)
