"""Exercises of layer 8, branch: a path's result, a path, and a history without loose ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from minilc.branch import END, START, InvalidUpdateError, Send
from minilc.course.cases.branch import run
from minilc.course.exercises import Check, Exercise, Lesson, Option, Quiz, Wrong
from minilc.course.worlds import World

# --- branch-1: a path's result ----------------------------------------------------------------


def _as_finish(destinations: Callable[[Any, dict[Any, str]], Any]) -> Callable[..., Any]:
    """The learner's function in the place of the method that finishes a branch."""

    def _finish(self: Any, result: Any) -> Any:
        return destinations(result, dict(self.ends))

    return _finish


def _to(lc: World, result: Any, path_map: Any = None) -> Any:
    return run(lc, lambda state: result, path_map)


def _checked(several: list[Any]) -> list[Any]:
    if any(one is None or one == START for one in several):
        raise ValueError("Branch did not return a valid destination")
    if any(isinstance(one, Send) and one.node == END for one in several):
        raise InvalidUpdateError("Cannot send a packet to the END node")
    return several


def _in_list(result: Any) -> list[Any]:
    return list(result) if isinstance(result, list | tuple) else [result]


def _mapped(several: list[Any], path_map: Any) -> list[Any]:
    return [one if isinstance(one, Send) or not path_map else path_map[one] for one in several]


def _one_alone(result: Any, path_map: Any) -> Any:
    return _checked(_mapped([result], path_map))


def _lists_alone(result: Any, path_map: Any) -> Any:
    several = result if isinstance(result, list) else [result]
    return _checked(_mapped(several, path_map))


def _maps_everything(result: Any, path_map: Any) -> Any:
    several = _in_list(result)
    return _checked([path_map[one] for one in several] if path_map else several)


def _without_a_map(result: Any, path_map: Any) -> Any:
    return _checked(_in_list(result))


def _as_it_is(result: Any, path_map: Any) -> Any:
    several = _in_list(result)
    return _checked([one if isinstance(one, Send) else path_map.get(one, one) for one in several])


def _lets_pass(result: Any, path_map: Any) -> Any:
    return _mapped(_in_list(result), path_map)


def _ends_on_none(result: Any, path_map: Any) -> Any:
    return _checked(_mapped(_in_list(END if result is None else result), path_map))


def _sends_to_the_end(result: Any, path_map: Any) -> Any:
    several = _mapped(_in_list(result), path_map)
    if any(one is None or one == START for one in several):
        raise ValueError("Branch did not return a valid destination")
    return [END if isinstance(one, Send) and one.node == END else one for one in several]


DESTINATIONS = Exercise(
    id="branch-1",
    title="A path's result becomes destinations",
    minutes=10,
    difficulty="medium",
    target="minilc.branch:BranchSpec._finish",
    fit=_as_finish,
    task="""
        A path has returned `result`: one thing, or a list or tuple of things. Return the list of
        its destinations: names and `Send`s. `path_map` translates a result into a name; it is empty
        if the edge has no map. Two kinds of results are errors, with LangGraph's texts: a
        `ValueError` *Branch did not return a valid destination*, and an `InvalidUpdateError`
        *Cannot send a packet to the END node*.
        """,
    stub='''
from typing import Any

from minilc import END, START, InvalidUpdateError, Send


def destinations(result: Any, path_map: dict[Any, str]) -> list[Any]:
    """Where the run goes next."""
    raise NotImplementedError
''',
    hints=(
        "Make a list of the result first: a path may return one thing or several.",
        "A `Send` says itself which node it is for. Everything else goes through the map, if there "
        "is one. What should happen to a result that the map does not have?",
        "Then look at what came out: `None` and `START` are no destinations, and `END` is no node "
        "that could be given an input.",
    ),
    checks=(
        Check(
            "one name, no map",
            lambda lc: _to(lc, "b"),
            "the path named one node, and that node must run next",
        ),
        Check(
            "a map",
            lambda lc: [_to(lc, value, {True: "b", 3: "c"}) for value in (True, 3)],
            "the result is no name of a node here: the path map translates it",
        ),
        Check(
            "a list of results, with a map and without",
            lambda lc: [_to(lc, ["c", "b"]), _to(lc, ["x", "y"], {"x": "b", "y": "c"})],
            "a path may name several nodes in a list; each of them goes through the map",
        ),
        Check(
            "a tuple",
            lambda lc: _to(lc, ("b", "c")),
            "several destinations may also come as a tuple",
        ),
        Check(
            "a Send beside a map",
            lambda lc: _to(lc, [lc.Send("c", {})], {"x": "b"}),
            "a Send holds its node already: it passes by the map",
        ),
        Check(
            "a result that the map does not have",
            lambda lc: _to(lc, "b", {"x": "b"}),
            "the map has no such result, and that must be a KeyError: nobody thought of it",
        ),
        Check(
            "None, and START",
            lambda lc: [_refused(lc, None), _refused(lc, lc.START)],
            "a path that forgot to return, or names START, has chosen nothing: a ValueError",
        ),
        Check(
            "a Send to END",
            lambda lc: _to(lc, lc.Send(lc.END, {})),
            "END is no node and takes no input: a Send to it is an InvalidUpdateError",
        ),
    ),
    wrong_answers=(
        Wrong(_without_a_map, "the path map translates it"),
        Wrong(_one_alone, "several nodes in a list"),
        Wrong(_lists_alone, "may also come as a tuple"),
        Wrong(_maps_everything, "passes by the map"),
        Wrong(_as_it_is, "must be a KeyError"),
        Wrong(_ends_on_none, "forgot to return"),
        Wrong(_lets_pass, "forgot to return"),
        Wrong(_sends_to_the_end, "takes no input"),
    ),
)


def _refused(lc: World, result: Any) -> str:
    """The error of such a result; what ran, if there is none."""
    try:
        return str(_to(lc, result))
    except ValueError as error:
        return f"ValueError: {error}"


# --- branch-2: words beside a call ------------------------------------------------------------


def _call(id: str, city: str = "北京") -> dict[str, Any]:
    return {"name": "get_weather", "args": {"city": city}, "id": id, "type": "tool_call"}


def _after(route: Any, content: Any, calls: Any = (), **more: Any) -> Any:
    answer = AIMessage(content, tool_calls=list(calls), **more)
    return route({"messages": [HumanMessage("北京今天天气怎么样？"), answer]})


WORDS_AND_USE = [
    {"type": "text", "text": "我查一下。"},
    {"type": "tool_use", "id": "call_1", "name": "get_weather", "input": {"city": "北京"}},
]
BROKEN = {"name": "get_weather", "args": '{"city": ', "id": "call_1", "error": None}


def _content_first(state: Any) -> Any:
    return END if state["messages"][-1].content else "tools"


def _calls_without_words(state: Any) -> Any:
    last = state["messages"][-1]
    return "tools" if last.tool_calls and not last.content else END


def _texts_alone(state: Any) -> Any:
    last = state["messages"][-1]
    said = isinstance(last.content, list) and last.content
    return END if said or not last.tool_calls else "tools"


def _until_it_speaks(state: Any) -> Any:
    last = state["messages"][-1]
    return "tools" if last.tool_calls or not last.content else END


def _broken_too(state: Any) -> Any:
    last = state["messages"][-1]
    return "tools" if last.tool_calls or last.invalid_tool_calls else END


def _reads_the_reason(state: Any) -> Any:
    reason = state["messages"][-1].response_metadata.get("finish_reason")
    return "tools" if reason == "tool_calls" else END


WORDS = Exercise(
    id="branch-2",
    title="Drill: I will look that up",
    minutes=10,
    difficulty="easy",
    task="""
        Somebody reports: *my hand-drawn graph works with one model. With another the agent says "I
        will look that up", and stops. And when a model says nothing at all, the graph still goes to
        the tools.* The fault is in this path. Find it and mend it.
        """,
    stub='''
from typing import Any

from langgraph.graph import END


def route(state: dict[str, Any]) -> str:
    """Where to go after the model has answered."""
    last = state["messages"][-1]
    if last.content:
        return END
    return "tools"
''',
    hints=(
        "Some models speak and call in one message. What does this path look at?",
        "Does the text of an answer say anything about whether a tool must run?",
        "Only `tool_calls` holds calls that can run. What did not parse is elsewhere.",
    ),
    checks=(
        Check(
            "words",
            lambda lc, route: _after(route, "晴。"),
            "an answer of words alone must end the run",
            END,
        ),
        Check(
            "a call",
            lambda lc, route: _after(route, "", [_call("call_1")]),
            "a call must go to the tools, whatever a provider says beside it",
            "tools",
        ),
        Check(
            "a text and a call",
            lambda lc, route: _after(route, "我查一下。", [_call("call_1")]),
            "a model may speak and call in one message; the call is still pending",
            "tools",
        ),
        Check(
            "blocks and a call",
            lambda lc, route: _after(route, WORDS_AND_USE, [_call("call_1")]),
            "Anthropic's content is a list of blocks, with the call among them; the call must run",
            "tools",
        ),
        Check(
            "neither words nor calls",
            lambda lc, route: _after(route, ""),
            "an empty answer has no call: there is nothing that the tools could run",
            END,
        ),
        Check(
            "a call whose JSON is broken",
            lambda lc, route: _after(route, "", invalid_tool_calls=[BROKEN]),
            "what stands in `invalid_tool_calls` is no call: no tool can run it",
            END,
        ),
    ),
    wrong_answers=(
        Wrong(_content_first, "may speak and call"),
        Wrong(_calls_without_words, "may speak and call"),
        Wrong(_texts_alone, "list of blocks"),
        Wrong(_until_it_speaks, "nothing that the tools could run"),
        Wrong(_broken_too, "no tool can run it"),
        Wrong(_reads_the_reason, "whatever a provider says beside it"),
    ),
)


# --- branch-3: a history without loose ends ---------------------------------------------------


QUESTION = HumanMessage("北京今天天气怎么样？")
HELLO = HumanMessage("在吗？")


def _asks(*ids: str) -> AIMessage:
    return AIMessage("", tool_calls=[_call(id) for id in ids])


def _answer(id: str, text: str = "晴") -> ToolMessage:
    return ToolMessage(text, name="get_weather", tool_call_id=id)


def _read(messages: Any) -> list[str]:
    """A history, a text for each message."""
    return [_in_words(message) for message in messages]


def _in_words(message: Any) -> str:
    if message.type == "tool":
        return f"{message.tool_call_id} {message.status}: {message.content}"
    calls = ", ".join(call["id"] for call in getattr(message, "tool_calls", []))
    return f"calls {calls}" if calls else message.content


def _mends(*messages: Any) -> Callable[[World, Any], Any]:
    return lambda lc, mend: _read(mend(list(messages)))


def _keeps(lc: World, mend: Any) -> Any:
    given = [QUESTION, _asks("call_1"), _answer("call_9"), HELLO]
    mend(given)
    return _read(given)


def _not_run(call: Any, status: str = "error") -> Any:
    return ToolMessage("not run", name=call["name"], tool_call_id=call["id"], status=status)


def _is_answered(messages: list[Any], call: Any) -> bool:
    return any(getattr(one, "tool_call_id", None) == call["id"] for one in messages)


def _missing(messages: list[Any], *, behind: list[Any], status: str = "error") -> list[Any]:
    """Answers for the calls of the first message that have none behind it."""
    calls = getattr(messages[0], "tool_calls", [])
    return [_not_run(call, status) for call in calls if not _is_answered(behind, call)]


def _at_the_end(messages: list[Any]) -> list[Any]:
    added = [one for m in messages for one in _missing([m], behind=messages)]
    return [*messages, *added]


def _orphans_stay(messages: list[Any]) -> list[Any]:
    mended = []
    for message in messages:
        mended += [message, *_missing([message], behind=messages)]
    return mended


def _calls_removed(messages: list[Any]) -> list[Any]:
    return [m for m in messages if m.type == "human" or not getattr(m, "tool_calls", [])]


def _by_all_ids(messages: list[Any]) -> list[Any]:
    """Answers are looked up in the whole history."""
    answers: dict[str, Any] = {}
    for message in messages:
        if message.type == "tool":
            answers.setdefault(message.tool_call_id, message)
    mended = []
    for message in messages:
        if message.type != "tool":
            mended.append(message)
            calls = getattr(message, "tool_calls", [])
            mended += [answers.get(call["id"]) or _not_run(call) for call in calls]
    return mended


def _where_they_stand(messages: list[Any]) -> list[Any]:
    """Only answers that follow at once count; one that comes later is dropped."""
    mended = []
    for index, message in enumerate(messages):
        if message.type == "tool":
            continue
        behind = []
        for later in messages[index + 1 :]:
            if later.type != "tool":
                break
            behind.append(later)
        mended.append(message)
        for call in getattr(message, "tool_calls", []):
            own = [one for one in behind if one.tool_call_id == call["id"]]
            mended.append(own[0] if own else _not_run(call))
    return mended


def _round_by_round(messages: list[Any], status: str = "error", first: int = 0) -> list[Any]:
    mended = []
    for index, message in enumerate(messages):
        if message.type == "tool":
            continue
        mended.append(message)
        rest = messages[index + 1 :]
        end = next((n for n, one in enumerate(rest) if one.type == "ai"), len(rest))
        for call in getattr(message, "tool_calls", []):
            own = [m for m in rest[:end] if getattr(m, "tool_call_id", None) == call["id"]]
            mended.append(own[first] if own else _not_run(call, status))
    return mended


def _as_success(messages: list[Any]) -> list[Any]:
    return _round_by_round(messages, status="success")


def _the_later_answer(messages: list[Any]) -> list[Any]:
    return _round_by_round(messages, first=-1)


def _in_place(messages: list[Any]) -> list[Any]:
    messages[:] = _round_by_round(messages)
    return messages


MEND = Exercise(
    id="branch-3",
    title="A history that a provider takes",
    minutes=15,
    difficulty="hard",
    task="""
        A provider wants one answer for each call, right behind the `AIMessage` that made it, in the
        order of the calls. Write `mend`: it returns a history like that. An answer counts if it
        has the call's id and stands before the next `AIMessage`; of two, the first. A call that
        has none gets a `ToolMessage` *not run* with the status `error`. Answers to no call are
        left out. Everything else stays, and so does the list that you are given.
        """,
    stub='''
from typing import Any

from langchain_core.messages import AIMessage, ToolMessage


def mend(messages: list[Any]) -> list[Any]:
    """The history, with one answer behind each call."""
    raise NotImplementedError
''',
    hints=(
        "Build a new list. Copy everything but the ToolMessages: those are put where they belong.",
        "Behind an AIMessage, go through its `tool_calls` and append an answer for each. Where may "
        "you look for it, and where must you stop?",
        "The messages between this AIMessage and the next one: keep the ToolMessages among them in "
        "a dict by their id, and do not let a second one replace the first.",
    ),
    checks=(
        Check(
            "a history that is in order",
            _mends(QUESTION, _asks("call_1"), _answer("call_1"), AIMessage("晴。")),
            "nothing was wrong here, and nothing may change",
            ["北京今天天气怎么样？", "calls call_1", "call_1 success: 晴", "晴。"],
        ),
        Check(
            "a call without an answer, and the user's next word",
            _mends(QUESTION, _asks("call_1"), HELLO),
            "the missing answer must stand right behind the call, as an error with the call's id",
            ["北京今天天气怎么样？", "calls call_1", "call_1 error: not run", "在吗？"],
        ),
        Check(
            "two calls, the second is answered",
            _mends(QUESTION, _asks("call_1", "call_2"), _answer("call_2")),
            "of two calls one is pending; the answers follow in the order of the calls",
            [
                "北京今天天气怎么样？",
                "calls call_1, call_2",
                "call_1 error: not run",
                "call_2 success: 晴",
            ],
        ),
        Check(
            "an answer to no call",
            _mends(QUESTION, _answer("call_9"), AIMessage("晴。")),
            "an orphan, an answer whose id fits no call, must go: a provider refuses it, too",
            ["北京今天天气怎么样？", "晴。"],
        ),
        Check(
            "two rounds with the same id, the second is pending",
            _mends(QUESTION, _asks("call_1"), _answer("call_1"), _asks("call_1")),
            "an id may come again in a later round: an answer belongs to the round that it is in",
            [
                "北京今天天气怎么样？",
                "calls call_1",
                "call_1 success: 晴",
                "calls call_1",
                "call_1 error: not run",
            ],
        ),
        Check(
            "an answer that comes late",
            _mends(QUESTION, _asks("call_1"), HELLO, _answer("call_1")),
            "the user spoke in between, but the answer is there: move it up to its call",
            ["北京今天天气怎么样？", "calls call_1", "call_1 success: 晴", "在吗？"],
        ),
        Check(
            "two answers to one call",
            _mends(QUESTION, _asks("call_1"), _answer("call_1"), _answer("call_1", "雨")),
            "one answer a call: the first one counts",
            ["北京今天天气怎么样？", "calls call_1", "call_1 success: 晴"],
        ),
        Check(
            "the list that was given",
            _keeps,
            "the caller's own list was changed: build a new one",
            ["北京今天天气怎么样？", "calls call_1", "call_9 success: 晴", "在吗？"],
        ),
    ),
    wrong_answers=(
        Wrong(_calls_removed, "nothing may change"),
        Wrong(_at_the_end, "right behind the call"),
        Wrong(_as_success, "as an error"),
        Wrong(_orphans_stay, "an orphan"),
        Wrong(_by_all_ids, "in a later round"),
        Wrong(_where_they_stand, "move it up"),
        Wrong(_the_later_answer, "the first one counts"),
        Wrong(_in_place, "own list was changed"),
    ),
)


LESSON = Lesson(
    exercises=(DESTINATIONS, WORDS, MEND),
    quizzes=(
        Quiz(
            id="branch-1",
            question="A history holds a question, an `AIMessage` that calls `call_1`, and *Are you "
            "there?* from the user. It is given to `agent.invoke`. What happens first?",
            options=(
                Option(
                    "the tool runs, since `call_1` is pending",
                    "It is pending, but the edge that looks for such calls stands behind the "
                    "model, and then there is a newer AIMessage.",
                ),
                Option(
                    "an error: the history is not valid",
                    "The older `create_react_agent` refuses it. `create_agent` does not look; a "
                    "provider does.",
                ),
                Option(
                    "the model is asked, with the history as it is",
                    "A run starts at the model. A real provider answers 400.",
                    right=True,
                ),
            ),
        ),
        Quiz(
            id="branch-2",
            question='A node has an edge to `c` and returns `Command(goto="b")`. What runs next?',
            options=(
                Option(
                    "`b` and `c`, in one step",
                    "`goto` comes in addition to the node's edges.",
                    right=True,
                ),
                Option(
                    "`b` alone, since a Command takes the place of the edges",
                    "Many expect this. To have it so, leave the edge out.",
                ),
                Option(
                    "`c` alone: where an edge is, `goto` is ignored without a word",
                    "A *path* that returns a Command is ignored in this way; a node is not.",
                ),
                Option(
                    "`b`, and after it `c`",
                    "Both are chosen when the node has ended, so both run in the next step.",
                ),
            ),
        ),
    ),
)
