"""Exercises of layer 12, tool_node: what a node is given, many calls at once, calls left open."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from threading import Event
from time import sleep
from typing import Any

from minilc.course.cases.support import asks, by_hand, call
from minilc.course.exercises import Check, Exercise, Lesson, Option, Quiz, Wrong
from minilc.course.worlds import World
from minilc.messages import AIMessage
from minilc.tool_node import ToolNode

PATIENCE = 0.3  # seconds, for what never comes if calls run one after the other
GAP = 0.1  # seconds between two ends, so that whoever waits sees them one by one


def _weather(lc: World) -> Any:
    @lc.tool
    def weather(city: str) -> str:
        """The weather of a city."""
        return f"{city}: 晴"

    return weather


def _call(city: str, id: str = "call_1") -> dict[str, Any]:
    return call("weather", {"city": city}, id)


# --- tool_node-1: what has it been given -----------------------------------------------------


@dataclass
class _State:
    messages: list[Any]


def _node(lc: World, given: Any, **options: Any) -> Any:
    return lc.ToolNode([_weather(lc)], **options).invoke(given, by_hand(lc))


def _asked(lc: World, *cities: str) -> Any:
    return asks(lc, *(_call(city, f"call_{n}") for n, city in enumerate(cities, 1)))


def _with_context(lc: World) -> dict[str, Any]:
    state = {"messages": [_asked(lc, "北京", "上海")]}
    return {
        "__type": "tool_call_with_context",
        "tool_call": _call("上海", "call_2"),
        "state": state,
    }


_PARSE = ToolNode._parse_input


def _with_state(answer: Callable[..., Any]) -> Callable[..., Any]:
    """The learner's function, which finds the calls, where the state is to be found, too."""

    def _parse_input(self: Any, input: Any, *config: Any) -> Any:
        calls = answer(input, self.messages_key)
        return calls, _PARSE(self, input, *config)[1] if calls else input

    return _parse_input


def _messages(input: Any, key: str) -> Any:
    if isinstance(input, list):
        return input
    return input.get(key) if isinstance(input, dict) else getattr(input, key, None)


def _finds(input: Any, key: str, last: Callable[[list[Any]], Any]) -> Any:
    """A right answer, but for how it finds the message."""
    if isinstance(input, dict) and "__type" in input:
        return [input["tool_call"]]
    if isinstance(input, list) and isinstance(input[-1], dict):
        return input
    messages = _messages(input, key)
    if not messages:
        raise ValueError("No message found in input")
    return last(messages)


def _takes_the_last_message(input: Any, messages_key: str) -> Any:
    return _finds(input, messages_key, lambda messages: messages[-1].tool_calls)


def _takes_the_first(input: Any, messages_key: str) -> Any:
    def first(messages: list[Any]) -> Any:
        return next(one.tool_calls for one in messages if isinstance(one, AIMessage))

    return _finds(input, messages_key, first)


def _last_answer(messages: list[Any]) -> Any:
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            return message.tool_calls
    raise ValueError("No AIMessage found in input")


def _knows_dicts_alone(input: Any, messages_key: str) -> Any:
    return _finds({messages_key: input[messages_key]}, messages_key, _last_answer)


def _knows_no_calls_alone(input: Any, messages_key: str) -> Any:
    return _finds({messages_key: _messages(input, messages_key)}, messages_key, _last_answer)


def _ignores_the_key(input: Any, messages_key: str) -> Any:
    return _finds(input, "messages", _last_answer)


def _is_content_with_nothing(input: Any, messages_key: str) -> Any:
    with suppress(ValueError):
        return _finds(input, messages_key, _last_answer)
    return []


PARSE = Exercise(
    id="tool_node-1",
    title="What has the node been given?",
    minutes=15,
    difficulty="medium",
    target="minilc.tool_node:ToolNode._parse_input",
    fit=_with_state,
    task="""
        Return the list of calls that ToolNode has to run. `input` is a state (a dict or an object)
        that keeps its messages under `messages_key`; or a list of messages; or a list of calls; or
        a dict with `"__type": "tool_call_with_context"`, which has one call under `tool_call`.

        Without messages, it is a `ValueError("No message found in input")`; without an AIMessage
        among them, a `ValueError("No AIMessage found in input")`.
        """,
    stub='''
from typing import Any

from minilc import AIMessage


def parse_input(input: Any, messages_key: str) -> list[Any]:
    """The calls to run."""
    raise NotImplementedError
''',
    hints=(
        "Go from the most special shape to the most general one. What tells a call from a message?",
        "A call is a dict whose `type` is `tool_call`. Of a list's last item, ask that first.",
        "For the rest, get the list of messages (the input itself, by key, or as an attribute), "
        "then walk through it from its end to the first AIMessage that you meet.",
    ),
    checks=(
        Check(
            "a state",
            lambda lc: _node(lc, {"messages": [lc.HumanMessage("?"), _asked(lc, "北京", "上海")]}),
            "the calls of a state's AIMessage are not found",
        ),
        Check(
            "messages alone",
            lambda lc: _node(lc, [_asked(lc, "北京")]),
            "the state may be the list of messages itself",
        ),
        Check(
            "an object",
            lambda lc: _node(lc, _State([_asked(lc, "北京")])),
            "a state may be an object that has its messages as an attribute",
        ),
        Check(
            "calls alone, as Send brings them",
            lambda lc: _node(lc, [_call("北京"), _call("上海", "call_2")]),
            "a list of calls is run as it is: there is no message to look for",
        ),
        Check(
            "a call with its state",
            lambda lc: _node(lc, _with_context(lc)),
            "a call that brings its state along is the only one to run",
        ),
        Check(
            "another key",
            lambda lc: _node(lc, {"history": [_asked(lc, "北京")]}, messages_key="history"),
            "the state keeps its messages under `messages_key`, whatever that is",
        ),
        Check(
            "the last of two answers",
            lambda lc: _node(lc, [_asked(lc, "上海"), _asked(lc, "北京")]),
            "an older AIMessage was read: search from the end",
        ),
        Check(
            "somebody spoke after the model",
            lambda lc: _node(lc, [_asked(lc, "北京"), lc.HumanMessage("快点！")]),
            "the last AIMessage need not be the last message",
        ),
        Check(
            "no messages",
            lambda lc: _node(lc, {"messages": []}),
            "a node that is given no messages must say so; nothing to do looks like a success",
        ),
        Check(
            "no AIMessage",
            lambda lc: _node(lc, [lc.HumanMessage("?")]),
            "without an AIMessage nobody has asked for anything, and the node must say so",
        ),
    ),
    wrong_answers=(
        Wrong(_takes_the_last_message, "need not be the last message"),
        Wrong(_takes_the_first, "search from the end"),
        Wrong(_knows_dicts_alone, "the list of messages itself"),
        Wrong(_knows_no_calls_alone, "run as it is"),
        Wrong(_ignores_the_key, "under `messages_key`"),
        Wrong(_is_content_with_nothing, "looks like a success"),
    ),
)


# --- tool_node-2: answers in another order every day ------------------------------------------


def _pair(lc: World, patience: float = 5) -> Any:
    """A tool whose call for 北京 ends only after the one for 上海 has ended."""
    over = Event()

    @lc.tool
    def weather(city: str) -> str:
        """The weather of a city."""
        if city == "北京":
            late = not over.wait(patience)
            sleep(GAP)
            return "北京: nobody came" if late else "北京: 晴"
        over.set()
        return f"{city}: 雨"

    return weather


CALLS = [_call("北京", "call_9"), _call("上海", "call_1")]


def _ran(lc: World, run_all: Any) -> Any:
    answers = run_all(list(CALLS), _pair(lc, PATIENCE).invoke)
    return sorted(one.content for one in answers)


def _ordered(lc: World, run_all: Any) -> Any:
    return [one.content for one in run_all(list(CALLS), _pair(lc).invoke)]


def _failing(lc: World, run_all: Any) -> Any:
    over = Event()

    @lc.tool
    def weather(city: str) -> str:
        """The weather of a city."""
        if city == "北京":
            over.wait(5)
            sleep(GAP)
        else:
            over.set()
        raise LookupError(city)

    try:
        return run_all(list(CALLS), weather.invoke)
    except LookupError as error:
        return str(error)


def _one_by_one(calls: list[Any], run_one: Callable[[Any], Any]) -> list[Any]:
    return [run_one(one) for one in calls]


def _sorts_by_id(calls: list[Any], run_one: Callable[[Any], Any]) -> list[Any]:
    with ThreadPoolExecutor() as pool:
        return sorted(pool.map(run_one, calls), key=lambda answer: answer.tool_call_id)


def _raises_the_fastest(calls: list[Any], run_one: Callable[[Any], Any]) -> list[Any]:
    with ThreadPoolExecutor() as pool:
        futures = [pool.submit(run_one, one) for one in calls]
        for future in as_completed(futures):
            future.result()
        return [future.result() for future in futures]


def _keeps_errors(calls: list[Any], run_one: Callable[[Any], Any]) -> list[Any]:
    with ThreadPoolExecutor() as pool:
        futures = [pool.submit(run_one, one) for one in calls]
        return [one.exception() or one.result() for one in futures]


RUN_ALL = Exercise(
    id="tool_node-2",
    title="Drill: the same run, another history every day",
    minutes=10,
    difficulty="easy",
    task="""
        Somebody reports: *since we run the calls of a message at once, our recorded histories
        differ from day to day. All answers are there, and each has the right id.* The fault is in
        this function, which runs all calls with `run_one` and returns their answers. Mend it; the
        calls must go on running side by side. If several fail, the error of the first call counts.
        """,
    stub='''
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any


def run_all(calls: list[Any], run_one: Callable[[Any], Any]) -> list[Any]:
    """The answers to all calls, which run at the same time."""
    with ThreadPoolExecutor() as pool:
        futures = [pool.submit(run_one, call) for call in calls]
        return [future.result() for future in as_completed(futures)]
''',
    hints=(
        "All answers are there, and each is right. What does that leave?",
        "In which order does `as_completed` give the futures? In which order are they in the list?",
        "A future's `result()` waits until it is there. So nothing has to be picked up early.",
    ),
    checks=(
        Check(
            "side by side",
            _ran,
            "the first call waited in vain for the second: they run one after the other now",
            ["上海: 雨", "北京: 晴"],
        ),
        Check(
            "the order of the answers",
            _ordered,
            "the answers must come in the order of the calls. The order in which tools end is "
            "chance, and ids are no order",
            ["北京: 晴", "上海: 雨"],
        ),
        Check(
            "two errors",
            _failing,
            "of several errors the first call's is raised, so that the same run fails in the same "
            "way every day",
            "北京",
        ),
        Check("no calls", lambda lc, run_all: run_all([], None), "no calls have no answers", []),
    ),
    wrong_answers=(
        Wrong(_one_by_one, "one after the other"),
        Wrong(_sorts_by_id, "ids are no order"),
        Wrong(_raises_the_fastest, "the first call's is raised"),
        Wrong(_keeps_errors, "the first call's is raised"),
    ),
)


# --- tool_node-3: calls that have no answer yet ------------------------------------------------


def _graph(lc: World, to_tools: Any, *messages: Any) -> Any:
    """What the tools run, and what the state is, if the edge starts from these messages."""
    ran: list[str] = []

    @lc.tool
    def weather(city: str) -> str:
        """The weather of a city."""
        ran.append(city)
        return f"{city}: 晴"

    builder = lc.StateGraph(lc.MessagesState)
    builder.add_node("tools", lc.ToolNode([weather]))
    builder.add_conditional_edges(lc.START, to_tools, ["tools", lc.END])
    state = builder.compile().invoke({"messages": list(messages)})
    return sorted(ran), [one.content for one in state["messages"] if one.type == "tool"]


def _sends(lc: World, to_tools: Any) -> Any:
    sent = to_tools({"messages": [_asked(lc, "北京", "上海")]})
    if not isinstance(sent, list):
        return sent
    return [(one.node, [each["args"]["city"] for each in one.arg]) for one in sent]


def _answered(lc: World, number: int) -> Any:
    return lc.ToolMessage("阴", tool_call_id=f"call_{number}")


def _again(lc: World, to_tools: Any) -> Any:
    history = [
        _asked(lc, "北京"),
        _answered(lc, 1),
        lc.AIMessage("阴。"),
        lc.HumanMessage("上海？"),
    ]
    return _graph(lc, to_tools, *history, _asked(lc, "上海"))


def _spoken(lc: World, to_tools: Any) -> Any:
    history = [_asked(lc, "北京", "上海"), _answered(lc, 1), lc.HumanMessage("快点！")]
    return _graph(lc, to_tools, *history)


def _real(name: str) -> Any:
    from minilc.course.worlds import LANGCHAIN

    return getattr(LANGCHAIN, name)


def _split(state: Any) -> tuple[Any, list[Any]]:
    """The last AIMessage, and what stands behind it."""
    messages = state["messages"]
    place = max(n for n, one in enumerate(messages) if one.type == "ai")
    return messages[place], messages[place + 1 :]


def _as_tools_condition(state: Any) -> Any:
    asked, _ = _split(state)
    return [_real("Send")("tools", [one]) for one in asked.tool_calls] or _real("END")


def _one_for_all(state: Any) -> Any:
    asked, later = _split(state)
    ids = {getattr(one, "tool_call_id", None) for one in later}
    pending = [one for one in asked.tool_calls if one["id"] not in ids]
    return _real("Send")("tools", pending) if pending else _real("END")


def _any_answer_will_do(state: Any) -> Any:
    _, later = _split(state)
    if any(one.type == "tool" for one in later):
        return _real("END")
    return _as_tools_condition(state)


def _looks_at_all_answers(state: Any) -> Any:
    asked, _ = _split(state)
    ids = {getattr(one, "tool_call_id", None) for one in state["messages"]}
    pending = [one for one in asked.tool_calls if one["id"] not in ids]
    return [_real("Send")("tools", [one]) for one in pending] or _real("END")


def _looks_at_the_last_message(state: Any) -> Any:
    calls = getattr(state["messages"][-1], "tool_calls", [])
    return [_real("Send")("tools", [one]) for one in calls] or _real("END")


PENDING = Exercise(
    id="tool_node-3",
    title="An edge that sends only what is open",
    minutes=10,
    difficulty="medium",
    task="""
        `tools_condition` sends a whole message to the tools, answered or not. Write a better edge
        for a graph of your own: a path that takes the state and returns a
        `Send("tools", [call])` for each call of the last AIMessage that has no answer behind it.
        If there is none to send, it returns `END`.
        """,
    stub='''
from typing import Any

from langgraph.graph import END
from langgraph.types import Send


def to_tools(state: dict[str, Any]) -> Any:
    """Where to go from the model."""
    raise NotImplementedError
''',
    hints=(
        "Find the last AIMessage and everything behind it. Its `type` is `ai`.",
        "An answer is a message behind it that has a `tool_call_id`. Collect those ids first.",
        "Older answers do not count: providers give ids, and scripts and small models repeat them.",
    ),
    checks=(
        Check(
            "two open calls",
            _sends,
            "each call is a Send of its own, in the order of the calls, with a list of that one "
            "call: so create_agent does it, and so each has a task of its own",
            [("tools", ["北京"]), ("tools", ["上海"])],
        ),
        Check(
            "nothing was asked for",
            lambda lc, path: _graph(lc, path, lc.HumanMessage("hi"), lc.AIMessage("hi")),
            "an AIMessage without calls goes to the end",
            ([], []),
        ),
        Check(
            "one of two is answered",
            lambda lc, path: _graph(lc, path, _asked(lc, "北京", "上海"), _answered(lc, 1)),
            "only the call without an answer has to run: an answered one is not run again, an "
            "open one is not forgotten",
            (["上海"], ["阴", "上海: 晴"]),
        ),
        Check(
            "a person spoke in between",
            _spoken,
            "the last AIMessage need not be the last message: its calls are still open",
            (["上海"], ["阴", "上海: 晴"]),
        ),
        Check(
            "an id that was used before",
            _again,
            "an answer from an earlier turn does not answer this call, even if it has the same id",
            (["上海"], ["阴", "上海: 晴"]),
        ),
    ),
    wrong_answers=(
        Wrong(_as_tools_condition, "not run again"),
        Wrong(_one_for_all, "a Send of its own"),
        Wrong(_any_answer_will_do, "not forgotten"),
        Wrong(_looks_at_all_answers, "an earlier turn"),
        Wrong(_looks_at_the_last_message, "not forgotten"),
    ),
)


LESSON = Lesson(
    exercises=(PARSE, RUN_ALL, PENDING),
    quizzes=(
        Quiz(
            id="tool_node-1",
            question="A message has two calls: first a slow tool, then a quick one. ToolNode runs "
            "both at once. In which order are the two ToolMessages?",
            options=(
                Option(
                    "quick, slow: as they come in",
                    "So they end. The node keeps their places and waits for all.",
                ),
                Option(
                    "slow, quick",
                    "The order of the calls, always: `map` and `gather` give it.",
                    right=True,
                ),
                Option(
                    "one or the other: it is chance, so nobody should rely on it",
                    "The order of execution is chance. The order of the answers is not.",
                ),
            ),
        ),
        Quiz(
            id="tool_node-2",
            question="Nothing is configured. Of two calls, one raises a RuntimeError in its "
            "function, the other succeeds. What does the model read?",
            options=(
                Option(
                    "an error message for the one, and the answer of the other",
                    "So it is for a wrong name and for wrong arguments. An error of the function "
                    "is raised, unless handle_tool_errors or a wrapper covers it.",
                ),
                Option(
                    "the answer of the other one alone",
                    "A node returns one update or none. And an unanswered call would be refused.",
                ),
                Option(
                    "nothing: the error ends the run",
                    "The update is lost with all its answers, also of what has been done.",
                    right=True,
                ),
            ),
        ),
    ),
)
