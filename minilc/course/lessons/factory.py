"""Exercises of layer 14, factory: the two edges of an agent, and how far it may go."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from langgraph.errors import GraphRecursionError
from pydantic import BaseModel

from minilc.branch import Send
from minilc.course.exercises import Check, Exercise, Lesson, Option, Quiz, Wrong
from minilc.course.worlds import World
from minilc.messages import AIMessage, ToolMessage


class Forecast(BaseModel):
    """The forecast of one city."""

    city: str
    degrees: int


def _call(name: str, id: str = "call_1", **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args, "id": id, "type": "tool_call"}


def _weather(city: str = "北京", id: str = "call_1") -> dict[str, Any]:
    return _call("get_weather", id, city=city)


def _tools(lc: World) -> list[Any]:
    """One tool for the model, and one whose answer is the last word."""

    @lc.tool
    def get_weather(city: str) -> str:
        """Get current weather for a city."""
        return f"{city}: 晴"

    @lc.tool(return_direct=True)
    def book_ticket(city: str) -> str:
        """Book a train ticket."""
        return f"a ticket to {city}"

    return [get_weather, book_ticket]


def _run(lc: World, *answers: Any, history: Any = (), **options: Any) -> Any:
    """What is said after the question, in a run on this script."""
    script = [lc.AIMessage("", tool_calls=one) if isinstance(one, list) else one for one in answers]
    agent = lc.create_agent(lc.ScriptedChatModel(script), _tools(lc), **options)
    return _said(agent.invoke({"messages": [*history, ("user", "北京今天天气怎么样？")]}))


def _said(state: Any) -> list[Any]:
    return [message.content or _ids(message) for message in state["messages"]][1:]


def _ids(message: Any) -> list[Any]:
    return [call["id"] for call in message.tool_calls]


# --- factory-1: which calls are pending ----------------------------------------------------------


def _as_edge(pending: Callable[..., Any]) -> Callable[..., Any]:
    """The learner's function in the place of the edge; what is left is when there is nothing."""

    def make(
        *, model_destination: str, structured_output_tools: Any, end_destination: str
    ) -> Callable[..., Any]:
        def model_to_tools(state: Any) -> Any:
            calls = pending(list(state["messages"]), set(structured_output_tools))
            if calls:
                return [Send("tools", [call]) for call in calls]
            # Answers behind the calls: the model is asked again, unless its own was one of them.
            is_answered = isinstance(state["messages"][-1], ToolMessage)
            is_over = state.get("structured_response") is not None
            return model_destination if is_answered and not is_over else end_destination

        return model_to_tools

    return make


def _half_answered(lc: World) -> Any:
    """A middleware answers the first call itself, from a cache."""

    @lc.wrap_model_call
    def cached(request: Any, handler: Any) -> Any:
        response = handler(request)
        calls = response.result[0].tool_calls
        if calls:
            answer = lc.ToolMessage("北京: 阴 (cached)", tool_call_id=calls[0]["id"])
            return lc.ModelResponse([*response.result, answer])
        return response

    calls = [_weather("北京", "call_1"), _weather("上海", "call_2")]
    return _run(lc, calls, "好。", middleware=[cached])


def _structured(lc: World) -> Any:
    calls = [_call("Forecast", "call_1", city="北京", degrees=28), _weather("上海", "call_2")]
    return _run(lc, calls, response_format=lc.ToolStrategy(Forecast))


def _same_id(lc: World) -> Any:
    """Some providers number the calls of each answer anew."""
    return _run(lc, [_weather("北京")], [_weather("上海")], "都晴。")


def _every_call(messages: list[Any], answer_tools: set[str]) -> Any:
    return [m for m in messages if isinstance(m, AIMessage)][-1].tool_calls


def _of_the_last_message(messages: list[Any], answer_tools: set[str]) -> Any:
    last = messages[-1]
    calls = last.tool_calls if isinstance(last, AIMessage) else []
    return [call for call in calls if call["name"] not in answer_tools]


def _by_name(messages: list[Any], answer_tools: set[str]) -> Any:
    index = max(i for i, m in enumerate(messages) if isinstance(m, AIMessage))
    done = {m.name or "get_weather" for m in messages[index + 1 :]} | answer_tools
    return [call for call in messages[index].tool_calls if call["name"] not in done]


def _in_all_history(messages: list[Any], answer_tools: set[str]) -> Any:
    calls = [m for m in messages if isinstance(m, AIMessage)][-1].tool_calls
    done = {m.tool_call_id for m in messages if isinstance(m, ToolMessage)}
    return [c for c in calls if c["id"] not in done and c["name"] not in answer_tools]


def _answer_tools_too(messages: list[Any], answer_tools: set[str]) -> Any:
    index = max(i for i, m in enumerate(messages) if isinstance(m, AIMessage))
    done = {m.tool_call_id for m in messages[index + 1 :]}
    # The answer of the structured call does not count for who looks at other tools' answers only.
    done -= {c["id"] for c in messages[index].tool_calls if c["name"] in answer_tools}
    return [call for call in messages[index].tool_calls if call["id"] not in done]


PENDING = Exercise(
    id="factory-1",
    title="Which calls are pending?",
    minutes=10,
    difficulty="medium",
    target="minilc.factory:_make_model_to_tools_edge",
    fit=_as_edge,
    task="""
        The heart of the edge out of the model. Of a history, return the calls that must still be
        run: those of the last `AIMessage` that nobody has answered. A middleware may have answered
        one already. `answer_tools` holds the names of tools that are a structured answer; such a
        call never runs.
        """,
    stub='''
from typing import Any

from minilc import AIMessage, ToolMessage


def pending(messages: list[Any], answer_tools: set[str]) -> list[Any]:
    """The calls that wait for the tools node."""
    raise NotImplementedError
''',
    hints=(
        "The last AIMessage need not be the last message: look for it from the end.",
        "An answer belongs to a call by its `tool_call_id`, and it stands after the call. In some "
        "histories each round has the ids `call_1`, `call_2` again.",
        "Collect the ids of the ToolMessages behind the last AIMessage. Keep each of its calls "
        "whose id is not among them and whose name is not in `answer_tools`.",
    ),
    checks=(
        Check(
            "one call",
            lambda lc: _run(lc, [_weather()], "晴。"),
            "the call that nobody has answered is not sent to the tools",
        ),
        Check(
            "two calls at once",
            lambda lc: _run(lc, [_weather(), _weather("上海", "call_2")], "都晴。"),
            "of two calls in one answer both are pending",
        ),
        Check(
            "words alone",
            lambda lc: _run(lc, "你好"),
            "an answer without calls has nothing that is pending",
        ),
        Check(
            "two calls, one answered by a middleware",
            _half_answered,
            "one of the two calls has its answer, by its id: it must not run, and the other must",
        ),
        Check(
            "two rounds whose calls have the same id",
            _same_id,
            "only answers behind the last AIMessage count: an earlier round's call had the same id",
        ),
        Check(
            "a structured answer beside a call",
            _structured,
            "a call that is the structured answer never runs: there is no such tool",
        ),
    ),
    wrong_answers=(
        Wrong(_every_call, "must not run, and the other must"),
        Wrong(_of_the_last_message, "must not run, and the other must"),
        Wrong(_by_name, "must not run, and the other must"),
        Wrong(_in_all_history, "an earlier round's call"),
        Wrong(_answer_tools_too, "never runs"),
    ),
)


# --- factory-2: the last word ---------------------------------------------------------------------


def _as_way_back(is_over: Callable[..., Any]) -> Callable[..., Any]:
    """The learner's function as the edge out of the tools."""

    def make(
        *,
        tool_node: Any,
        model_destination: str,
        structured_output_tools: Any,
        end_destination: str,
    ) -> Callable[..., Any]:
        def tools_to_model(state: Any) -> str:
            *_, last = [m for m in state["messages"] if isinstance(m, AIMessage)]
            done = is_over(last.tool_calls, dict(tool_node.tools_by_name))
            return end_destination if done else model_destination

        return tools_to_model

    return make


def _ticket(id: str = "call_1") -> dict[str, Any]:
    return _call("book_ticket", id, city="上海")


def _any(calls: list[Any], tools: dict[str, Any]) -> bool:
    return any(tools[call["name"]].return_direct for call in calls if call["name"] in tools)


def _never(calls: list[Any], tools: dict[str, Any]) -> bool:
    return False


def _all(calls: list[Any], tools: dict[str, Any]) -> bool:
    return all(tools[call["name"]].return_direct for call in calls if call["name"] in tools)


def _unknown_counts(calls: list[Any], tools: dict[str, Any]) -> bool:
    return all(call["name"] in tools and tools[call["name"]].return_direct for call in calls)


def _first(calls: list[Any], tools: dict[str, Any]) -> bool:
    return calls[0]["name"] in tools and tools[calls[0]["name"]].return_direct


LAST_WORD = Exercise(
    id="factory-2",
    title="Drill: the weather that nobody told",
    minutes=10,
    difficulty="medium",
    target="minilc.factory:_make_tools_to_model_edge",
    fit=_as_way_back,
    task="""
        Somebody reports: *`book_ticket` has `return_direct=True`. When a user asks for a ticket and
        for the weather, both tools run, and then the agent stops: nobody tells the weather.
        When they ask for the ticket alone, all is well.* The fault is in this function. It says
        whether the run ends after these calls; `tools` are the agent's own, by name. Find it and
        mend it, and mind the names that are not in `tools`.
        """,
    stub='''
from typing import Any


def is_over(calls: list[Any], tools: dict[str, Any]) -> bool:
    """Whether the tools have had the last word."""
    direct = [tools[call["name"]].return_direct for call in calls if call["name"] in tools]
    return any(direct)
''',
    hints=(
        "For the ticket and the weather, what is in `direct`?",
        "The run may end only if every tool that ran is to have the last word.",
        "What does `all` say of an empty list? Think of a model that called nothing but a tool "
        "that does not exist.",
    ),
    checks=(
        Check(
            "a ticket alone",
            lambda lc: _run(lc, [_ticket()], "again"),
            "a return_direct tool alone must end the run",
        ),
        Check(
            "the weather alone",
            lambda lc: _run(lc, [_weather()], "晴。"),
            "after an ordinary tool the model must speak",
        ),
        Check(
            "the weather and a ticket",
            lambda lc: _run(lc, [_weather(), _ticket("call_2")], "晴。"),
            "one ordinary tool has run as well, and the model must hear of its answer",
        ),
        Check(
            "a ticket and the weather",
            lambda lc: _run(lc, [_ticket(), _weather(id="call_2")], "晴。"),
            "the order of the calls must not matter: the model must hear of the weather",
        ),
        Check(
            "a name that does not exist",
            lambda lc: _run(lc, [_call("get_wether")], "sorry"),
            "nothing has run, so nothing has had the last word: `all` of nothing is true",
        ),
        Check(
            "a ticket and a name that does not exist",
            lambda lc: _run(lc, [_ticket(), _call("get_wether", "call_2")], "again"),
            "a name that is no tool of the agent does not count: the ticket's word is the last",
        ),
    ),
    wrong_answers=(
        Wrong(_any, "the model must hear of its answer"),
        Wrong(_never, "must end the run"),
        Wrong(_all, "`all` of nothing"),
        Wrong(_unknown_counts, "does not count"),
        Wrong(_first, "must not matter"),
    ),
)


# --- factory-3: how far it may go -----------------------------------------------------------------


def _endless(lc: World) -> tuple[Any, Any]:
    """An agent whose model calls a tool forever, and its model."""

    def again(messages: Any) -> Any:
        return lc.AIMessage("", tool_calls=[_weather(id=f"call_{len(messages)}")])

    model = lc.ScriptedChatModel(again)
    return lc.create_agent(model, _tools(lc)), model


def _in_time(lc: World, ask: Any, rounds: int) -> Any:
    script = [lc.AIMessage("", tool_calls=[_weather(id=f"call_{n}")]) for n in range(2)]
    agent = lc.create_agent(lc.ScriptedChatModel([*script, "晴。"]), _tools(lc))
    return [message.content for message in ask(agent, "北京？", rounds)]


def _stopped(lc: World, ask: Any) -> Any:
    agent, model = _endless(lc)
    messages = ask(agent, "北京？", 2)
    return [message.type for message in messages], len(model.requests)


def _own_error(lc: World, ask: Any) -> Any:
    @lc.tool
    def pay() -> str:
        """Pay."""
        raise RuntimeError("the bank is closed")

    asks = lc.AIMessage("", tool_calls=[_call("pay")])
    try:
        ask(lc.create_agent(lc.ScriptedChatModel([asks]), [pay]), "pay", 2)
    except RuntimeError as error:
        return str(error)


def _streams(limit: Callable[[int], int], caught: Any = GraphRecursionError) -> Any:
    """An answer that differs in the limit, or in what it catches."""

    def ask(agent: Any, question: str, rounds: int) -> Any:
        seen: Any = []
        config = {"recursion_limit": limit(rounds)}
        with suppress(caught):
            given = {"messages": [("user", question)]}
            for state in agent.stream(given, config, stream_mode="values"):
                seen = state["messages"]
        return seen

    return ask


def _invokes(agent: Any, question: str, rounds: int) -> Any:
    config = {"recursion_limit": 2 * rounds + 2}
    try:
        return agent.invoke({"messages": [("user", question)]}, config)["messages"]
    except GraphRecursionError:
        return []


def _raises(agent: Any, question: str, rounds: int) -> Any:
    config = {"recursion_limit": 2 * rounds + 1}
    return agent.invoke({"messages": [("user", question)]}, config)["messages"]


def _rounds_alone(agent: Any, question: str, rounds: int) -> Any:
    return _streams(lambda rounds: rounds)(agent, question, rounds)


def _without_the_answer(agent: Any, question: str, rounds: int) -> Any:
    return _streams(lambda rounds: 2 * rounds)(agent, question, rounds)


def _one_too_many(agent: Any, question: str, rounds: int) -> Any:
    return _streams(lambda rounds: 2 * rounds + 2)(agent, question, rounds)


def _catches_all(agent: Any, question: str, rounds: int) -> Any:
    return _streams(lambda rounds: 2 * rounds + 1, Exception)(agent, question, rounds)


BOUNDED = Exercise(
    id="factory-3",
    title="So far, and no further",
    minutes=15,
    difficulty="hard",
    task="""
        When the limit is reached, `invoke` raises, and all that was said is gone. Write `ask`: it
        lets the tools run in at most `rounds` rounds and the model speak once more, and returns the
        messages, whether the agent came to an end or not. Any other error passes.
        """,
    stub='''
from typing import Any

from langgraph.errors import GraphRecursionError


def ask(agent: Any, question: str, rounds: int) -> list[Any]:
    """The messages of a run that has at most `rounds` rounds of tools."""
    raise NotImplementedError
''',
    hints=(
        '`agent.stream(..., stream_mode="values")` gives the state after each step. What you have '
        "seen, you keep, also if the next step raises.",
        "A round is two steps: model, tools. After the last round the model speaks once more.",
        "A run of k steps that ends needs a limit of k + 1; with a limit of k it raises after its "
        "last step. But then you have seen that step.",
    ),
    checks=(
        Check(
            "a run of two rounds, five allowed",
            lambda lc, ask: _in_time(lc, ask, 5),
            "a run that ends in time must come back whole",
            ["北京？", "", "北京: 晴", "", "北京: 晴", "晴。"],
        ),
        Check(
            "a run of two rounds, two allowed",
            lambda lc, ask: _in_time(lc, ask, 2),
            "two rounds were allowed, and after them the model's last word: a round is two steps",
            ["北京？", "", "北京: 晴", "", "北京: 晴", "晴。"],
        ),
        Check(
            "a run without end, two rounds allowed: its messages, and how often the model spoke",
            _stopped,
            "the messages so far must be returned: two rounds, and the model once more, not less "
            "and not more",
            (["human", "ai", "tool", "ai", "tool", "ai"], 3),
        ),
        Check(
            "an error of a tool's body",
            _own_error,
            "only the limit's error is expected here; a tool's own error must not be hidden",
            "the bank is closed",
        ),
    ),
    wrong_answers=(
        Wrong(_rounds_alone, "a round is two steps"),
        Wrong(_without_the_answer, "a round is two steps"),
        Wrong(_one_too_many, "not less and not more"),
        Wrong(_invokes, "not less and not more"),
        Wrong(_raises, "a round is two steps"),
        Wrong(_catches_all, "must not be hidden"),
    ),
)


LESSON = Lesson(
    exercises=(PENDING, LAST_WORD, BOUNDED),
    quizzes=(
        Quiz(
            id="factory-1",
            question="A model calls `book_ticket`, which has `return_direct=True`, with arguments "
            "that do not fit. What is the last message of the run?",
            options=(
                Option(
                    "the model's second try, since it reads the error and mends its call",
                    "It would, if it were asked. The edge looks at which tool was called, not at "
                    "how the call went.",
                ),
                Option(
                    "the tool's error message",
                    "The tool has the last word, also when that word is an error.",
                    right=True,
                ),
                Option(
                    "none: the validation error ends the run",
                    "ToolNode makes a message of a validation error, whatever the tool's settings.",
                ),
            ),
        ),
        Quiz(
            id="factory-2",
            question="An agent is run with `recursion_limit=5`. How many rounds of tools can it "
            "have, if it is to end with words and without an error?",
            options=(
                Option(
                    "five, one for each round trip",
                    "Article B counts so. Steps are counted, and a round trip is two of them.",
                ),
                Option(
                    "four, since the last step is the model's",
                    "That would be so if a round were one step.",
                ),
                Option(
                    "two: two rounds and the last word are five steps",
                    "Five steps, right, but a run of five steps needs a limit of six: seeing that "
                    "nothing is left takes one as well.",
                ),
                Option(
                    "one",
                    "n rounds are 2n + 1 steps and need a limit of 2n + 2. For n = 2 that is six.",
                    right=True,
                ),
            ),
        ),
    ),
)
