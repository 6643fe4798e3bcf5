"""The tool-call bench: a tool call as JSON, and what a ToolNode makes of it, in both worlds."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any

from typing_extensions import TypedDict

from minilc.course.plain import Difference, Record
from minilc.course.twin import Outcome, twin
from minilc.course.worlds import LANGCHAIN, MINILC, World

Tools = Sequence[Callable[..., Any]] | Callable[[World], Sequence[Any]]
STATE = {"user": "小明"}


def weather_tools(lc: World) -> list[Any]:
    """A tool that takes a city and days, and one whose user comes from the state."""

    @lc.tool
    def get_weather(city: str, days: int = 1) -> str:
        """Get the weather of a city."""
        if days < 1:
            raise RuntimeError(f"no weather for {days} days")
        return f"{city}: sunny for {days} days"

    def my_orders(city: str, user: str) -> str:
        """List the user's orders in a city."""
        return f"the orders of {user} in {city}"

    # An annotation that differs between the worlds, in a file whose annotations are texts.
    my_orders.__annotations__ |= {"user": Annotated[str, lc.InjectedState("user")]}
    return [get_weather, lc.tool(my_orders)]


def _json(name: str, args: dict[str, Any], id: str | None = "call_1") -> str:
    return as_json({"name": name, "args": args, "id": id}, width=40)


def as_json(value: Any, width: float, indent: str = "") -> str:
    """JSON that breaks only what is longer than a line."""
    flat = json.dumps(value, ensure_ascii=False, default=str)
    if len(flat) <= width or not isinstance(value, dict | list) or not value:
        return flat
    inner = f"{indent}  "
    if isinstance(value, list):
        parts = [as_json(item, width - 2, inner) for item in value]
    else:
        parts = [
            f"{json.dumps(key, ensure_ascii=False)}: {as_json(item, width - 2, inner)}"
            for key, item in value.items()
        ]
    opening, closing = "[]" if isinstance(value, list) else "{}"
    lines = f",\n{inner}".join(parts)
    return f"{opening}\n{inner}{lines}\n{indent}{closing}"


PRESETS: dict[str, str] = {
    "right": _json("get_weather", {"city": "北京", "days": 3}),
    "wrong name": _json("get_wether", {"city": "北京"}),
    "missing id": _json("get_weather", {"city": "北京"}, None),
    "missing argument": _json("get_weather", {"days": 3}),
    "wrong type": _json("get_weather", {"city": "北京", "days": "three"}),
    "invented argument": _json("get_weather", {"city": "北京", "unit": "°F"}),
    "forged injected argument": _json("my_orders", {"city": "北京", "user": "admin"}),
    "the function fails": _json("get_weather", {"city": "北京", "days": 0}),
    "broken JSON": _json("get_weather", {"city": "北京", "days": 3})[:-4],
}


SAMPLES = {"integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}}


def presets(tools: Tools = weather_tools) -> dict[str, str]:
    """Calls to begin with: of the tools above, or of the first of a reader's own."""
    if tools is weather_tools:
        return PRESETS
    first = next(iter(_node(MINILC, tools).tools_by_name.values()))
    shown = MINILC.convert_to_openai_function(first)["parameters"]["properties"]
    args = {name: SAMPLES.get(one.get("type"), "北京") for name, one in shown.items()}
    made = {
        "right": _json(first.name, args),
        "wrong name": _json(f"{first.name}_", args),
        "missing id": _json(first.name, args, None),
        "missing argument": _json(first.name, {}),
        "wrong type": _json(first.name, dict.fromkeys(args, [None])),
        "invented argument": _json(first.name, {**args, "invented": 1}),
    }
    if hidden := first.get_input_schema().model_fields.keys() - shown.keys():
        made["forged injected argument"] = _json(first.name, args | dict.fromkeys(hidden, "forged"))
    return made | {"broken JSON": made["right"][:-4]}


@dataclass(frozen=True)
class Made:
    """What one world made of a call.

    Args:
        error: the type and text of what was raised; None if nothing was.
        answers: the messages that came back, as plain data.
    """

    error: str | None
    answers: tuple[Record, ...] = ()

    @property
    def kind(self) -> str:
        """In a few words what came back."""
        if self.error is not None:
            return "the run ends in an error"
        if not self.answers:
            return "no answer: ToolNode sees no call"
        return ", ".join(f"{one.kind}, status {status_of(one)!r}" for one in self.answers)

    @property
    def ids(self) -> str:
        """The ids of the calls that the answers answer."""
        return ", ".join(repr(one.fields.get("tool_call_id")) for one in self.answers) or "none"

    @property
    def reads(self) -> str:
        """What the model reads of it in its next request."""
        return "\n".join(str(one.fields["content"]) for one in self.answers) or "nothing"


def status_of(answer: Record) -> str:
    """The status of an answer that was read as plain data."""
    return str(answer.fields.get("status", "success"))


@dataclass(frozen=True)
class Judged:
    """Both worlds' outcomes for one text, and whether they are equal.

    Args:
        broken: why the text is no JSON; None if it is.
    """

    minilc: Made
    langchain: Made
    difference: Difference | None
    broken: str | None = None


def judge(
    text: str, tools: Tools = weather_tools, state: Mapping[str, Any] = MappingProxyType(STATE)
) -> Judged:
    """Give a call to a ToolNode in a graph, in both worlds.

    Args:
        text: the call as JSON: a name, args and an id. What is no JSON object becomes what
            LangChain makes of such a text: one of `invalid_tool_calls`.
        tools: functions, or a function that takes a world and returns its tools.
        state: what the state holds beside the messages.
    """
    key, call, broken = "tool_calls", None, None
    try:
        call = json.loads(text)
        if not isinstance(call, dict):
            raise ValueError(f"a call is a JSON object, got {call!r}")
    except ValueError as error:  # JSONDecodeError is one
        broken = f"{type(error).__name__}: {error}"
        key, call = "invalid_tool_calls", {"name": None, "args": text, "id": None, "error": broken}

    def run(lc: World) -> Any:
        message = lc.AIMessage("", **{key: [call]})
        after = tools_graph(lc, tools, state).invoke({"messages": [message], **state})
        return after["messages"][1:]

    judged = twin(run, title="a tool call")
    return Judged(_made(judged.minilc), _made(judged.langchain), judged.difference, broken)


def _made(outcome: Outcome) -> Made:
    if not outcome.raised:
        return Made(None, tuple(outcome.result))
    kind = outcome.result.kind.removeprefix("raises ")
    return Made(f"{kind}: {outcome.result.fields['']}")


def tools_graph(lc: World, tools: Tools, state: Mapping[str, Any]) -> Any:
    """A graph of one ToolNode, whose state has messages and whatever else `state` has."""
    keys = {"messages": Annotated[list[Any], lc.add_messages], **dict.fromkeys(state, Any)}
    builder = lc.StateGraph(TypedDict("State", keys))  # type: ignore[operator]  # made from data
    builder.add_node("tools", _node(lc, tools))
    builder.add_edge(lc.START, "tools")
    builder.add_edge("tools", lc.END)
    return builder.compile()


def names_of(tools: Tools) -> list[str]:
    """The names under which a ToolNode registers the tools.

    Raises:
        TypeError: a tool of one world, which the other cannot run.
    """
    for one in () if callable(tools) else tools:
        if isinstance(one, MINILC.BaseTool | LANGCHAIN.BaseTool):
            raise TypeError(
                "a tool belongs to one world; give functions, or a function of a world such as "
                f"`lambda lc: [lc.tool(function)]`, got {one!r}"
            )
    return list(_node(MINILC, tools).tools_by_name)


def _node(lc: World, tools: Tools) -> Any:
    return lc.ToolNode(list(tools(lc) if callable(tools) else tools))
