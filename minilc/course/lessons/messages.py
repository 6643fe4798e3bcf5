"""Exercises of layer 1, messages: calls, answers, and the id that ties them together."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from minilc.course.exercises import Check, Exercise, Lesson, Option, Quiz, Wrong
from minilc.course.worlds import LANGCHAIN, World


def _call(id: str, city: str) -> dict[str, Any]:
    return {"name": "get_weather", "args": {"city": city}, "id": id, "type": "tool_call"}


def _raw(id: str, arguments: str) -> dict[str, Any]:
    """A call as OpenAI sends it."""
    function = {"name": "get_weather", "arguments": arguments}
    return {"id": id, "type": "function", "function": function}


# --- messages-1: calls as they arrive --------------------------------------------------------

GOOD = _raw("call_1", '{"city": "北京"}')
CUT = _raw("call_2", '{"city": "北')


def _given(*raw: dict[str, Any]) -> Callable[..., Any]:
    def run(lc: World, read: Callable[..., Any]) -> Any:
        calls, invalid = read(list(raw))
        return list(calls), list(invalid)

    return run


def _as_call(raw: dict[str, Any], args: Any) -> dict[str, Any]:
    name = raw["function"]["name"]
    return {"name": name, "args": args, "id": raw["id"], "type": "tool_call"}


def _as_invalid(raw: dict[str, Any], args: Any) -> dict[str, Any]:
    return {**_as_call(raw, args), "error": None, "type": "invalid_tool_call"}


READ_CALL = _as_call(GOOD, {"city": "北京"})
INVALID_CALL = _as_invalid(CUT, '{"city": "北')


def _parses(raw: dict[str, Any]) -> bool:
    try:
        json.loads(raw["function"]["arguments"])
    except json.JSONDecodeError:
        return False
    return True


def _takes_the_text(raw_tool_calls: Any) -> Any:
    return [_as_call(raw, raw["function"]["arguments"]) for raw in raw_tool_calls], []


def _no_type(raw_tool_calls: Any) -> Any:
    calls, invalid = _never_fails(raw_tool_calls)
    return [{key: call[key] for key in ("name", "args", "id")} for call in calls], invalid


def _never_fails(raw_tool_calls: Any) -> Any:
    return [_as_call(raw, json.loads(raw["function"]["arguments"])) for raw in raw_tool_calls], []


def _drops_the_broken(raw_tool_calls: Any) -> Any:
    return _never_fails([raw for raw in raw_tool_calls if _parses(raw)])


def _runs_the_broken(raw_tool_calls: Any) -> Any:
    good, _ = _drops_the_broken(raw_tool_calls)
    return good + [_as_call(raw, {}) for raw in raw_tool_calls if not _parses(raw)], []


def _all_or_nothing(raw_tool_calls: Any) -> Any:
    if all(map(_parses, raw_tool_calls)):
        return _never_fails(raw_tool_calls)
    return [], [_as_invalid(raw, raw["function"]["arguments"]) for raw in raw_tool_calls]


def _loses_the_text(raw_tool_calls: Any) -> Any:
    good, _ = _drops_the_broken(raw_tool_calls)
    return good, [_as_invalid(raw, None) for raw in raw_tool_calls if not _parses(raw)]


READ = Exercise(
    id="messages-1",
    title="Calls as they arrive",
    minutes=10,
    difficulty="easy",
    task="""
        A model's calls arrive in OpenAI's words, for example
        `{"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments":
        '{"city": "北京"}'}}`. Return two lists: the calls whose arguments can be read, and the
        invalid ones. An invalid call has the same keys, the arguments as the model wrote them, the
        type `"invalid_tool_call"`, and `"error": None`.
        """,
    stub='''
import json
from typing import Any


def read_calls(raw_tool_calls: list[dict[str, Any]]) -> tuple[list[Any], list[Any]]:
    """The calls that can be read, and those that cannot."""
    raise NotImplementedError
''',
    hints=(
        "What type is `raw['function']['arguments']`, and what type must `args` have?",
        "`json.loads` raises `json.JSONDecodeError` for a broken text. Catch it for one call, not "
        "for the whole list.",
        "An invalid call keeps name and id as well: somebody may want to mend it, or tell the "
        "model.",
    ),
    checks=(
        Check(
            "the arguments of a good call",
            lambda lc, read: [one["args"] for one in _given(GOOD)(lc, read)[0]],
            "the arguments are still the text that came over the wire; a call's `args` are a dict",
            [{"city": "北京"}],
        ),
        Check(
            "a good call",
            _given(GOOD),
            "a call has four keys, and no others: name, args, id, and the type `tool_call`",
            ([READ_CALL], []),
        ),
        Check(
            "broken JSON: the calls",
            lambda lc, read: _given(CUT)(lc, read)[0],
            "broken JSON must neither stop the program nor be run: whoever runs this call, runs it "
            "with arguments that the model did not mean",
            [],
        ),
        Check(
            "broken JSON: the invalid calls",
            lambda lc, read: [one["name"] for one in _given(CUT)(lc, read)[1]],
            "the broken call has disappeared: nobody will ever know that the model asked",
            ["get_weather"],
        ),
        Check(
            "what is kept of it",
            lambda lc, read: [one["args"] for one in _given(CUT)(lc, read)[1]],
            "an invalid call must keep the text that the model wrote, so that it can be mended",
            ['{"city": "北'],
        ),
        Check(
            "an invalid call",
            lambda lc, read: _given(CUT)(lc, read)[1],
            "an invalid call has five keys: name, args, id, error, and the type "
            "`invalid_tool_call`",
            [INVALID_CALL],
        ),
        Check(
            "a good call beside a broken one",
            _given(CUT, GOOD),
            "one broken call takes the good ones with it: each call is read on its own",
            ([READ_CALL], [INVALID_CALL]),
        ),
    ),
    wrong_answers=(
        Wrong(_takes_the_text, "came over the wire"),
        Wrong(_no_type, "four keys"),
        Wrong(_never_fails, "must neither stop"),
        Wrong(_runs_the_broken, "must neither stop"),
        Wrong(_drops_the_broken, "has disappeared"),
        Wrong(_loses_the_text, "must keep the text"),
        Wrong(_all_or_nothing, "takes the good ones with it"),
    ),
)


# --- messages-2: mend a history --------------------------------------------------------------


def _two(lc: World) -> list[Any]:
    return [
        lc.HumanMessage("北京和 Oslo？"),
        lc.AIMessage("", tool_calls=[_call("call_1", "北京"), _call("call_2", "Oslo")]),
    ]


def _answer(lc: World, id: str, text: str = "28C") -> Any:
    return lc.ToolMessage(text, tool_call_id=id)


def _ids(messages: list[Any]) -> list[str]:
    """The messages' kinds, in order; an answer with its id."""
    return [f"{m.type} {getattr(m, 'tool_call_id', '')}".strip() for m in messages]


def _whole(lc: World, mend: Callable[..., Any]) -> Any:
    messages = [*_two(lc), _answer(lc, "call_1"), _answer(lc, "call_2"), lc.AIMessage("晴")]
    return mend(messages) == messages


def _pending(lc: World, mend: Callable[..., Any]) -> Any:
    return sorted(_ids(mend([*_two(lc), _answer(lc, "call_2"), lc.HumanMessage("还在吗？")])))


def _place(lc: World, mend: Callable[..., Any]) -> Any:
    return _ids(mend([*_two(lc), lc.HumanMessage("还在吗？")]))


def _status(lc: World, mend: Callable[..., Any]) -> Any:
    return [one.status for one in mend(_two(lc)) if one.type == "tool"]


def _orphan(lc: World, mend: Callable[..., Any]) -> Any:
    answers = [_answer(lc, "call_1"), _answer(lc, "call_2"), _answer(lc, "call_9")]
    return _ids(mend([*_two(lc), *answers]))


def _twice(lc: World, mend: Callable[..., Any]) -> Any:
    answers = [_answer(lc, "call_1", "28C"), _answer(lc, "call_2"), _answer(lc, "call_1", "29C")]
    return [str(one.content) for one in mend([*_two(lc), *answers]) if one.type == "tool"]


def _kept(lc: World, mend: Callable[..., Any]) -> Any:
    messages = _two(lc)
    mend(messages)
    return len(messages)


def _missing(id: str) -> Any:
    return LANGCHAIN.ToolMessage("No answer.", tool_call_id=id, status="error")


def _asked(messages: list[Any]) -> list[str]:
    return [call["id"] for one in messages for call in getattr(one, "tool_calls", [])]


def _answered(messages: list[Any]) -> list[str]:
    return [one.tool_call_id for one in messages if one.type == "tool"]


def _known(messages: list[Any]) -> list[Any]:
    asked = _asked(messages)
    return [one for one in messages if one.type != "tool" or one.tool_call_id in asked]


def _does_nothing(messages: list[Any]) -> list[Any]:
    return messages


def _at_the_end(messages: list[Any]) -> list[Any]:
    done = _answered(messages)
    return [*_known(messages), *(_missing(id) for id in _asked(messages) if id not in done)]


def _mended(messages: list[Any], status: str = "error") -> list[Any]:
    done, mended = _answered(messages), []
    for message in messages:
        mended.append(message)
        for id in _asked([message]):
            if id not in done:
                mended.append(_missing(id).model_copy(update={"status": status}))
    return mended


def _as_success(messages: list[Any]) -> list[Any]:
    return _mended(messages, "success")


def _keeps_orphans(messages: list[Any]) -> list[Any]:
    return _mended(messages)


def _keeps_duplicates(messages: list[Any]) -> list[Any]:
    return _known(_mended(messages))


def _in_place(messages: list[Any]) -> list[Any]:
    first: dict[str, Any] = {}
    for one in messages:
        if one.type == "tool":
            first.setdefault(one.tool_call_id, one)
    messages[:] = [
        two
        for one in messages
        if one.type != "tool"
        for two in [one, *(first.get(id, _missing(id)) for id in _asked([one]))]
    ]
    return messages


MEND = Exercise(
    id="messages-2",
    title="Mend a history",
    minutes=12,
    difficulty="medium",
    task="""
        A run was interrupted, and the provider refuses the conversation from now on. Return a new
        list in which every call has exactly one answer. A pending call gets a `ToolMessage` with
        the status `error`. Orphan answers, and second answers, are left out. Answers stand right
        after the message that asked.
        """,
    stub='''
from typing import Any

from langchain_core.messages import ToolMessage


def mend(messages: list[Any]) -> list[Any]:
    """The messages, with exactly one answer to each call."""
    raise NotImplementedError
''',
    hints=(
        "First collect the answers by id: the first one of each id.",
        "Then go through the messages that are no answers. After each, write the answers to its "
        "calls.",
        "`getattr(message, 'tool_calls', [])` works for messages of every kind. Put all into a new "
        "list, and leave the given one alone.",
    ),
    checks=(
        Check(
            "a good history",
            _whole,
            "a history in which all is well must come out as it went in",
            True,
        ),
        Check(
            "a pending call",
            _pending,
            "a call is still pending: no ToolMessage carries its id",
            ["ai", "human", "human", "tool call_1", "tool call_2"],
        ),
        Check(
            "where the answers stand",
            _place,
            "providers want the answers right after the message that asked, before anybody else "
            "speaks",
            ["human", "ai", "tool call_1", "tool call_2", "human"],
        ),
        Check(
            "what the model is told",
            _status,
            "the tool never ran, and the model is told that it succeeded",
            ["error", "error"],
        ),
        Check(
            "an orphan",
            _orphan,
            "an orphan is left: nobody made the call that it answers",
            ["human", "ai", "tool call_1", "tool call_2"],
        ),
        Check(
            "a second answer",
            _twice,
            "a call has two answers: keep the first",
            ["28C", "28C"],
        ),
        Check(
            "the given list",
            _kept,
            "the caller's own list was changed: return a new one",
            2,
        ),
    ),
    wrong_answers=(
        Wrong(_does_nothing, "still pending"),
        Wrong(_at_the_end, "right after the message"),
        Wrong(_as_success, "told that it succeeded"),
        Wrong(_keeps_orphans, "an orphan is left"),
        Wrong(_keeps_duplicates, "two answers"),
        Wrong(_in_place, "was changed"),
    ),
)


# --- messages-3: a drill ---------------------------------------------------------------------

CALLS = [_call("call_1", "北京"), _call("call_2", "Oslo")]


def _said(calls: list[Any], *results: tuple[str, str]) -> Callable[..., Any]:
    def run(lc: World, answers: Callable[..., Any]) -> Any:
        return [(one.tool_call_id, str(one.content)) for one in answers(calls, list(results))]

    return run


def _made(call: dict[str, Any], text: str, id: str | None = None) -> Any:
    return LANGCHAIN.ToolMessage(text, name=call["name"], tool_call_id=id or call["id"])


def _by_name(calls: Any, results: Any) -> Any:
    values = {call["name"]: text for call, (_, text) in zip(calls, results, strict=True)}
    return [_made(call, values[call["name"]]) for call in calls]


def _in_order_of_results(calls: Any, results: Any) -> Any:
    return [_made(calls[0], text, id) for id, text in results]


def _sorted_by_id(calls: Any, results: Any) -> Any:
    pairs = zip(calls, sorted(results), strict=True)
    return [_made(call, text) for call, (_, text) in pairs]


SWAPPED = Exercise(
    id="messages-3",
    title="Drill: it snows in Beijing",
    minutes=8,
    difficulty="easy",
    task="""
        Somebody reports: *I ask for two cities at once, and now and then the agent tells me the
        weather of the other one. The tool itself is right.* The tools run side by side. `results`
        holds `(id of the call, text)`, in the order in which they finish. The fault is in this
        function, which makes the answers, in the order of the calls. Find it and mend it.
        """,
    stub='''
from typing import Any

from langchain_core.messages import ToolMessage


def answers(calls: list[dict[str, Any]], results: list[tuple[str, str]]) -> list[ToolMessage]:
    """An answer for each call."""
    made = []
    for call, (_, text) in zip(calls, results, strict=True):
        made.append(ToolMessage(text, name=call["name"], tool_call_id=call["id"]))
    return made
''',
    hints=(
        "*Now and then*: what differs between the runs that go well and the others?",
        "`zip` ties by position. What ties an answer to its call?",
        "Make a dict of the results: from id to text.",
    ),
    checks=(
        Check(
            "the first call finishes first",
            _said(CALLS, ("call_1", "北京: 28C"), ("call_2", "Oslo: snow")),
            "when the results come in order, each call must get its own text",
            [("call_1", "北京: 28C"), ("call_2", "Oslo: snow")],
        ),
        Check(
            "the second call finishes first: who gets which text",
            lambda lc, answers: sorted(
                _said(CALLS, ("call_2", "Oslo: snow"), ("call_1", "北京: 28C"))(lc, answers)
            ),
            "an answer is tied to its call by the id alone, not by its position",
            [("call_1", "北京: 28C"), ("call_2", "Oslo: snow")],
        ),
        Check(
            "the order of the answers",
            _said(CALLS, ("call_2", "Oslo: snow"), ("call_1", "北京: 28C")),
            "the answers stand in the order in which the tools finished, which is another one in "
            "each run: keep the order of the calls",
            [("call_1", "北京: 28C"), ("call_2", "Oslo: snow")],
        ),
        Check(
            "ids that do not sort like the calls",
            _said(CALLS[::-1], ("call_1", "北京: 28C"), ("call_2", "Oslo: snow")),
            "an id is only a name: its place in the alphabet says nothing about the order of calls",
            [("call_2", "Oslo: snow"), ("call_1", "北京: 28C")],
        ),
    ),
    wrong_answers=(
        Wrong(_by_name, "get its own text"),
        Wrong(_in_order_of_results, "order in which the tools finished"),
        Wrong(_sorted_by_id, "only a name"),
    ),
)


LESSON = Lesson(
    exercises=(READ, MEND, SWAPPED),
    quizzes=(
        Quiz(
            id="messages-1",
            question="An `AIMessage` has one call, `call_1` to `get_weather`. What answers it?",
            options=(
                Option(
                    "the next `ToolMessage` in the list, whatever its id",
                    "Position does not count: two tools may finish in any order.",
                ),
                Option(
                    "a `ToolMessage` with `name='get_weather'`",
                    "The name is a note for readers. With two calls of one tool it could not tell "
                    "them apart.",
                ),
                Option(
                    "a `HumanMessage` that holds the result",
                    "The model may even understand it, but the call stays pending, and a provider "
                    "refuses the history.",
                ),
                Option(
                    "one with `tool_call_id='call_1'`",
                    "The id alone ties an answer to its call.",
                    right=True,
                ),
            ),
        ),
        Quiz(
            id="messages-2",
            question="An agent ends with an empty answer, and no tool has run. Where do you look "
            "first?",
            options=(
                Option(
                    "in the last message's `additional_kwargs['tool_calls']`",
                    "Some providers leave their raw answer there, others nothing. What could be "
                    "read of it is in two other fields.",
                ),
                Option(
                    "in the last message's `invalid_tool_calls`",
                    "Broken JSON puts a call there. `tool_calls` is empty then, and an agent takes "
                    "that for the end.",
                    right=True,
                ),
                Option(
                    "in the tool's code, which may have raised an error and returned nothing",
                    "No tool has run. And an answer of a tool would be a ToolMessage in the list.",
                ),
            ),
        ),
    ),
)
