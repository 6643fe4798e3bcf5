"""The router: which numbered exit each of create_agent's two conditional edges takes, and why.

Both worlds run a whole agent through their public API. The edges are only watched: Python tells
which line of an edge's function returned, and the last `# N.` above that line is the exit's number,
in minilc's source and in LangChain's.
"""

from __future__ import annotations

import linecache
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from itertools import groupby
from types import CodeType, FrameType
from typing import Any

from minilc.course.draw import Run, record
from minilc.course.plain import Record
from minilc.course.twin import observe
from minilc.course.worlds import LANGCHAIN, MINILC, World

MODEL_TO_TOOLS, TOOLS_TO_MODEL = "model_to_tools", "tools_to_model"
FILES = ("minilc.factory", "langchain.agents.factory")  # where each world has its edges

# The exits in the order in which an edge looks at them: what must be so, and where it leads.
EXITS: dict[str, dict[int, tuple[str, str]]] = {
    MODEL_TO_TOOLS: {
        1: ("jump_to is set", "where it says"),
        2: ("no AIMessage is left", "END"),
        3: ("the last AIMessage calls nothing", "END"),
        4: ("a call is pending: it has no answer yet", "tools, one Send a call"),
        5: ("nothing is pending, the structured answer is there", "END"),
        6: ("nothing is pending, and no structured answer is there", "model"),
    },
    TOOLS_TO_MODEL: {
        1: ("no AIMessage is left", "model"),
        2: ("every tool that ran has return_direct", "END"),
        3: ("a structured answer came along and is good", "END"),
        4: ("none of these", "model"),
    },
}


@dataclass(frozen=True)
class Setting:
    """What is ticked. Ids: #call_1 asks for the weather, #call_2 for the time."""

    weather: bool = field(default=True, metadata={"says": "calls get_weather (#call_1)"})
    time: bool = field(default=False, metadata={"says": "calls get_time (#call_2)"})
    structured: bool = field(default=False, metadata={"says": "gives a structured answer"})
    wrong: bool = field(default=False, metadata={"says": "gives one with wrong arguments"})
    answer_weather: bool = field(default=False, metadata={"says": "answers #call_1 itself"})
    answer_time: bool = field(default=False, metadata={"says": "answers #call_2 itself"})
    orphan: bool = field(default=False, metadata={"says": "adds an answer to #call_9 (orphan)"})
    remove: bool = field(default=False, metadata={"says": "removes all messages"})
    direct: bool = field(default=False, metadata={"says": "get_weather has return_direct"})
    forget: bool = field(default=False, metadata={"says": "get_weather removes all messages"})
    jump_to: str | None = None

    def words(self) -> str:
        """What is ticked, in words."""
        ticked = [
            one.metadata["says"] for one in fields(self) if one.metadata and getattr(self, one.name)
        ]
        jump = [f"jumps to {self.jump_to}"] if self.jump_to else []
        return ", ".join(ticked + jump) or "calls nothing"


GROUPS = {
    "The model …": ("weather", "time", "structured", "wrong"),
    "A middleware after it …": ("answer_weather", "answer_time", "orphan", "remove"),
    "The tool …": ("direct", "forget"),
}

# For every exit a setting that takes it.
EXAMPLES: dict[tuple[str, int], Setting] = {
    (MODEL_TO_TOOLS, 1): Setting(jump_to="end"),
    (MODEL_TO_TOOLS, 2): Setting(remove=True),
    (MODEL_TO_TOOLS, 3): Setting(weather=False),
    (MODEL_TO_TOOLS, 4): Setting(time=True, answer_time=True),
    (MODEL_TO_TOOLS, 5): Setting(weather=False, structured=True),
    (MODEL_TO_TOOLS, 6): Setting(answer_weather=True),
    (TOOLS_TO_MODEL, 1): Setting(forget=True),
    (TOOLS_TO_MODEL, 2): Setting(direct=True),
    (TOOLS_TO_MODEL, 3): Setting(structured=True),
    (TOOLS_TO_MODEL, 4): Setting(time=True, direct=True),
}


@dataclass(frozen=True)
class Exit:
    """An edge looked at the state and chose.

    Args:
        edge: the name of the edge's function.
        number: of the exit that it took.
        to: where it leads: END, a node, or a node and how many Sends.
        seen: the messages that it saw.
    """

    edge: str
    number: int | None
    to: str
    seen: tuple[Any, ...] = field(default=(), compare=False, repr=False)

    @property
    def why(self) -> str:
        """What was so."""
        return EXITS[self.edge][self.number][0] if self.number else "?"


@dataclass(frozen=True)
class Journey:
    """A run of the agent in one world: the exits in their order, and how it ended.

    Args:
        exits: the exits that its edges took.
        run: the run, None if it ended in an error.
        error: the error's type and text.
    """

    exits: list[Exit]
    run: Run | None
    error: str | None = None


def journey(setting: Setting, lc: World) -> Journey:
    """Run the agent that a setting describes in one world, and watch its edges."""
    exits: list[Exit] = []
    runs: list[Run] = []

    def run(lc: World) -> Any:
        agent = make_agent(setting, lc)
        with _watched(exits):
            runs.append(record(agent, {"messages": [("user", "北京今天天气怎么样？")]}))

    outcome = observe(run, lc)
    error = _as_text(outcome.result) if outcome.raised else None
    # Each task of the tools node looks for itself, all at the same time.
    exits = [
        one
        for edge, together in groupby(exits, key=lambda one: one.edge)
        for one in (sorted(together, key=str) if edge == TOOLS_TO_MODEL else together)
    ]
    return Journey(exits, runs[0] if runs else None, error)


def journeys(setting: Setting) -> tuple[Journey, Journey]:
    """The journey in both worlds: minilc's, LangChain's."""
    return journey(setting, MINILC), journey(setting, LANGCHAIN)


def _as_text(result: Record) -> str:
    return f"{result.kind.removeprefix('raises ')}: {result.fields['']}"


# --- the agent -------------------------------------------------------------------------------


def make_agent(setting: Setting, lc: World) -> Any:
    """An agent whose model asks once for what is ticked, and whose middleware meddles once."""

    @lc.tool(return_direct=setting.direct)
    def get_weather(city: str) -> Any:
        """Get the weather of a city."""
        if not setting.forget:
            return f"{city}: sunny"
        answer = lc.ToolMessage("forgotten", tool_call_id="call_1")
        messages = [lc.RemoveMessage(id=lc.REMOVE_ALL_MESSAGES), answer]
        return lc.Command(update={"messages": messages})

    @lc.tool
    def get_time(city: str) -> str:
        """Get the time in a city."""
        return f"{city}: noon"

    asked = {"weather": "get_weather", "time": "get_time"}
    calls = [
        _call(name, f"call_{number}", {"city": "北京"})
        for number, (ticked, name) in enumerate(asked.items(), 1)
        if getattr(setting, ticked)
    ]
    wants_answer = setting.structured or setting.wrong
    if wants_answer:
        calls.append(_call("Answer", "call_3", {} if setting.wrong else {"sunny": True}))
    script = [lc.AIMessage("" if calls else "晴", tool_calls=calls), *[lc.AIMessage("晴")] * 2]
    return lc.create_agent(
        lc.ScriptedChatModel(script),
        [get_weather, get_time],
        middleware=_middleware(setting, lc),
        response_format=lc.ToolStrategy(ANSWER) if wants_answer else None,
    )


ANSWER = {
    "title": "Answer",
    "description": "The answer.",
    "type": "object",
    "properties": {"sunny": {"type": "boolean"}},
    "required": ["sunny"],
}


def _call(name: str, id: str, args: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "args": args, "id": id, "type": "tool_call"}


def _middleware(setting: Setting, lc: World) -> list[Any]:
    """What meddles between the model's first answer and the edge; nothing, if nothing is ticked."""
    update: dict[str, Any] = {}
    ticked = {
        "call_1": setting.answer_weather,
        "call_2": setting.answer_time,
        "call_9": setting.orphan,
    }
    messages = [lc.ToolMessage("already known", tool_call_id=id) for id in ticked if ticked[id]]
    if setting.remove:
        messages = [lc.RemoveMessage(id=lc.REMOVE_ALL_MESSAGES)]
    if messages:
        update["messages"] = messages
    if setting.jump_to:
        update["jump_to"] = setting.jump_to
    if not update:
        return []
    updates = [update]  # once, or a jump back to the model would never end

    @lc.after_model(can_jump_to=["model", "tools", "end"])
    def meddle(state: Any, runtime: Any) -> dict[str, Any] | None:
        return updates.pop() if updates else None

    return [meddle]


# --- watching the edges ----------------------------------------------------------------------


@contextmanager
def _watched(exits: list[Exit]) -> Iterator[None]:
    """Note every return of an edge's function, whichever thread it runs in."""

    def entered(frame: FrameType, event: str, argument: Any) -> Any:
        is_edge = frame.f_code.co_name in EXITS and frame.f_globals.get("__name__") in FILES
        return left if is_edge else None

    def left(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "return":
            seen = tuple(frame.f_locals["state"]["messages"])
            number = _number(frame.f_code, frame.f_lineno)
            exits.append(Exit(frame.f_code.co_name, number, _destination(argument), seen))
        return left

    before = sys.gettrace()
    threading.settrace(entered)
    sys.settrace(entered)
    try:
        yield
    finally:
        sys.settrace(before)
        threading.settrace(before)  # type: ignore[arg-type]  # None is what it is without a tracer


def _number(code: CodeType, line: int) -> int | None:
    """The number of the last numbered comment between a function's first line and this one."""
    for at in range(line, code.co_firstlineno, -1):
        if match := re.match(r"\s*#\s*(\d+)\.", linecache.getline(code.co_filename, at)):
            return int(match[1])
    return None


def _destination(chosen: Any) -> str:
    if isinstance(chosen, list):
        return f"{chosen[0].node} ({len(chosen)} Send{'' if len(chosen) == 1 else 's'})"
    return "END" if chosen == "__end__" else str(chosen)
