"""Layer 14: what create_agent builds, what its model node asks, and which way its edges lead.

Without `from __future__ import annotations`, so that annotations may name a world's classes.
"""

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, NotRequired

import pytest
from pydantic import BaseModel, field_validator
from typing_extensions import TypedDict

import minilc
from minilc.course.behaviours import active
from minilc.course.worlds import MINILC, World

Invoke = Callable[..., Any]
HI = {"messages": [("user", "hi")]}
HELP = "\nFor troubleshooting, visit: https://docs.langchain.com/oss/python/"
LONG = 10  # seconds that a thread waits for another one before the test fails


class Answer(BaseModel):
    """An answer."""

    x: int


class Other(BaseModel):
    y: str


def call(name: str, id: Any = "c1", **args: Any) -> dict[str, Any]:
    """A ToolCall."""
    return {"name": name, "args": args, "id": id, "type": "tool_call"}


def asks(lc: World, *calls: dict[str, Any], **fields: Any) -> Any:
    """The AI message that asks for the calls."""
    return lc.AIMessage("", tool_calls=list(calls), **fields)


def adder(lc: World) -> Any:
    @lc.tool
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    return add


def lookup(lc: World) -> Any:
    """A tool whose answer is the last word."""

    @lc.tool(return_direct=True)
    def lookup(key: int) -> str:
        """Look something up."""
        return f"found {key}"

    return lookup


def bound(model: Any, request: int = 0) -> list[Any]:
    """The names of the tools in a request, or what else stands there for a tool."""
    tools = model.requests[request].tools
    return [tool["function"]["name"] if "function" in tool else tool for tool in tools]


def road(state: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(message.type, message.content) for message in state["messages"]]


def shape(agent: Any) -> tuple[set[str], set[tuple[str, str, bool]]]:
    """The nodes and edges of an agent: where from, where to, on a condition or not."""
    graph = agent.get_graph()
    return set(graph.nodes), {(e.source, e.target, e.conditional) for e in graph.edges}


def newest(lc: World, behaviour: str) -> bool:
    """Whether this world does the new thing: minilc does, LangChain from some release on."""
    return lc is MINILC or active(behaviour)


def error_of(action: Callable[[], Any]) -> tuple[str, str]:
    """The type and the whole text of the error that the action ends in."""
    with pytest.raises(Exception) as caught:
        action()
    return type(caught.value).__name__, str(caught.value)


# The graph


def test_an_agent_is_a_loop_of_two_nodes(lc: World) -> None:
    assert shape(lc.create_agent(lc.ScriptedChatModel([]), [adder(lc)])) == (
        {"__start__", "model", "tools", "__end__"},
        {
            ("__start__", "model", False),
            ("model", "tools", True),
            ("model", "__end__", True),
            ("tools", "model", True),
        },
    )


@pytest.mark.parametrize("tools", [None, [], [{"type": "web_search"}]], ids=repr)
def test_without_tools_of_its_own_an_agent_has_no_loop(lc: World, tools: Any) -> None:
    assert shape(lc.create_agent(lc.ScriptedChatModel([]), tools)) == (
        {"__start__", "model", "__end__"},
        {("__start__", "model", False), ("model", "__end__", False)},
    )


def test_the_tools_lead_to_the_end_only_if_an_answer_can_be_the_last_word(lc: World) -> None:
    model = lc.ScriptedChatModel([])
    direct = shape(lc.create_agent(model, [adder(lc), lookup(lc)]))[1]
    plain = shape(lc.create_agent(model, [adder(lc)]))[1]

    assert direct - plain == {("tools", "__end__", True)}


def test_a_structured_answer_adds_ways_back_and_out(lc: World) -> None:
    model, strategy = lc.ScriptedChatModel([]), lc.ToolStrategy(Answer)
    plain = shape(lc.create_agent(model, [adder(lc)]))[1]

    assert shape(lc.create_agent(model, [adder(lc)], response_format=strategy))[1] - plain == {
        ("tools", "__end__", True),
        ("model", "model", True),
    }


def test_without_tools_a_structured_answer_takes_the_same_way(lc: World) -> None:
    """Row "structured-without-tools": upstream has an edge for that."""
    agent = lc.create_agent(lc.ScriptedChatModel([]), [], response_format=lc.ToolStrategy(Answer))
    upstream = {
        ("__start__", "model", False),
        ("model", "model", True),
        ("model", "__end__", True),
    }
    own = {("model", "tools", True), ("tools", "model", True), ("tools", "__end__", True)}

    assert shape(agent)[1] == (upstream | own if lc is MINILC else upstream)


def test_hooks_stand_on_the_way(lc: World) -> None:
    names = ("before_model", "after_model")

    class First(lc.AgentMiddleware):
        def before_model(self, state: Any, runtime: Any) -> None: ...
        def after_model(self, state: Any, runtime: Any) -> None: ...

    class Second(First):
        pass

    agent = lc.create_agent(lc.ScriptedChatModel([]), [adder(lc)], middleware=[First(), Second()])

    assert shape(agent) == (
        {"__start__", "model", "tools", "__end__"}
        | {f"{who}.{hook}" for who in ("First", "Second") for hook in names},
        {
            ("__start__", "First.before_model", False),
            ("First.before_model", "Second.before_model", False),
            ("Second.before_model", "model", False),
            ("model", "Second.after_model", False),
            ("Second.after_model", "First.after_model", False),
            ("First.after_model", "tools", True),
            ("First.after_model", "First.before_model", True),
            ("First.after_model", "__end__", True),
            ("tools", "First.before_model", True),
        },
    )


def test_a_hook_that_can_jump_has_an_edge_to_each_place(lc: World) -> None:
    @lc.before_model(can_jump_to=["end", "tools", "model"])
    def first(state: Any, runtime: Any) -> None: ...

    @lc.before_model(can_jump_to=["end", "model"])
    def second(state: Any, runtime: Any) -> None: ...

    agent = lc.create_agent(lc.ScriptedChatModel([]), [adder(lc)], middleware=[first, second])

    assert {edge for edge in shape(agent)[1] if "before_model" in edge[0]} == {
        ("first.before_model", "second.before_model", True),
        ("first.before_model", "tools", True),
        ("first.before_model", "__end__", True),
        ("second.before_model", "model", True),
        ("second.before_model", "first.before_model", True),
        ("second.before_model", "__end__", True),
    }


def test_the_limit_is_9999_steps_unless_the_run_says_otherwise(lc: World, invoke: Invoke) -> None:
    def endless(messages: Any) -> Any:
        return asks(lc, call("add", a=1, b=2))

    agent = lc.create_agent(lc.ScriptedChatModel(endless), [adder(lc)])

    assert agent.config["recursion_limit"] == 9_999
    assert error_of(lambda: invoke(agent, HI, {"recursion_limit": 6})) == (
        "GraphRecursionError",
        "Recursion limit of 6 reached without hitting a stop condition. You can increase the limit "
        f"by setting the `recursion_limit` config key.{HELP}langgraph/errors/GRAPH_RECURSION_LIMIT",
    )


@pytest.mark.parametrize(("trips", "limit"), [(0, 2), (1, 4), (3, 8)])
def test_every_round_trip_takes_two_steps_and_one_is_to_spare(
    lc: World, invoke: Invoke, trips: int, limit: int
) -> None:
    def agent() -> Any:
        answers = [asks(lc, call("add", a=1, b=2)) for _ in range(trips)]
        return lc.create_agent(lc.ScriptedChatModel([*answers, "done"]), [adder(lc)])

    assert road(invoke(agent(), HI, {"recursion_limit": limit}))[-1] == ("ai", "done")
    assert error_of(lambda: invoke(agent(), HI, {"recursion_limit": limit - 1}))[0] == (
        "GraphRecursionError"
    )


# The loop


def test_the_model_calls_a_tool_and_sees_its_answer(lc: World, invoke: Invoke) -> None:
    model = lc.ScriptedChatModel([asks(lc, call("add", a=1, b=2)), "three"])
    state = invoke(lc.create_agent(model, [adder(lc)]), HI)

    assert road(state) == [("human", "hi"), ("ai", ""), ("tool", "3"), ("ai", "three")]
    answer = state["messages"][2]
    assert (answer.name, answer.tool_call_id, answer.status) == ("add", "c1", "success")
    assert [[m.type for m in request.messages] for request in model.requests] == [
        ["human"],
        ["human", "ai", "tool"],
    ]
    assert [bound(model, 0), bound(model, 1)] == [["add"], ["add"]]
    assert model.requests[0].tool_choice is None


def test_calls_of_one_answer_run_at_once_and_are_answered_in_their_order(
    lc: World, invoke: Invoke
) -> None:
    together = threading.Barrier(3)

    @lc.tool
    def wait(number: int) -> int:
        """Wait for the others."""
        together.wait(LONG)
        return number

    calls = [call("wait", f"c{number}", number=number) for number in (3, 1, 2)]
    agent = lc.create_agent(lc.ScriptedChatModel([asks(lc, *calls), "ok"]), [wait])

    assert [content for _, content in road(invoke(agent, HI))] == ["hi", "", "3", "1", "2", "ok"]


def test_a_call_is_sent_alone_and_its_tool_still_sees_the_whole_state(
    lc: World, invoke: Invoke
) -> None:
    seen: list[Any] = []

    @lc.tool
    def look(state: Annotated[dict, lc.InjectedState()]) -> str:
        """Look at the state."""
        seen.append((sorted(state), [m.type for m in state["messages"]]))
        return "seen"

    model = lc.ScriptedChatModel([asks(lc, call("look", "c1"), call("look", "c2")), "ok"])
    invoke(lc.create_agent(model, [look]), HI)

    assert seen == [(["messages"], ["human", "ai"])] * 2


def test_functions_become_tools_and_of_two_with_one_name_the_last_is_kept(
    lc: World, invoke: Invoke
) -> None:
    def shout(text: str) -> str:
        """Shout."""
        return text.upper()

    quiet = lc.tool("shout", description="Do not shout.")(str.lower)
    model = lc.ScriptedChatModel([asks(lc, call("shout", text="北京 a")), "ok", "ok"])

    assert road(invoke(lc.create_agent(model, [shout]), HI))[2] == ("tool", "北京 A")
    invoke(lc.create_agent(model, [shout, quiet]), HI)
    assert [t["function"]["description"] for t in model.requests[-1].tools] == ["Do not shout."]


def test_a_provider_s_tool_goes_to_the_model_as_it_is_and_last(lc: World, invoke: Invoke) -> None:
    search = {"type": "web_search"}
    model = lc.ScriptedChatModel(["ok", "ok"])
    invoke(lc.create_agent(model, [search, adder(lc)]), HI)
    invoke(lc.create_agent(model, [search]), HI)

    assert [bound(model, 0), bound(model, 1)] == [["add", search], [search]]


def test_a_provider_s_tool_does_not_run_here(lc: World, invoke: Invoke) -> None:
    search = {"type": "web_search", "name": "web_search"}

    def agent(tools: list[Any]) -> Any:
        return lc.create_agent(lc.ScriptedChatModel([asks(lc, call("web_search")), "ok"]), tools)

    assert road(invoke(agent([search, adder(lc)]), HI))[2:] == [
        ("tool", "Error: web_search is not a valid tool, try one of [add]."),
        ("ai", "ok"),
    ]
    assert road(invoke(agent([search]), HI)) == [("human", "hi"), ("ai", "")]


def test_without_tools_nothing_is_bound(lc: World, invoke: Invoke) -> None:
    # This model of both worlds cannot bind tools at all.
    model = lc.GenericFakeChatModel(messages=iter(["ok"]))
    no_tools = lc.create_agent(model, [])
    tools = lc.create_agent(model, [adder(lc)])

    assert road(invoke(no_tools, HI)) == [("human", "hi"), ("ai", "ok")]
    assert error_of(lambda: invoke(tools, HI)) == ("NotImplementedError", "")


def test_a_call_without_tools_to_run_it_ends_the_run(lc: World, invoke: Invoke) -> None:
    model = lc.ScriptedChatModel([asks(lc, call("add", a=1, b=2))])

    assert road(invoke(lc.create_agent(model, []), HI)) == [("human", "hi"), ("ai", "")]


@pytest.mark.parametrize("messages", ["hi", [("user", "hi")], {"role": "user", "content": "hi"}])
def test_messages_are_given_in_any_form(lc: World, invoke: Invoke, messages: Any) -> None:
    agent = lc.create_agent(lc.ScriptedChatModel(["ok"]), [])

    assert road(invoke(agent, {"messages": messages})) == [("human", "hi"), ("ai", "ok")]


def test_an_input_without_messages_asks_the_model_nothing(lc: World, invoke: Invoke) -> None:
    model = lc.ScriptedChatModel(["ok"])

    assert road(invoke(lc.create_agent(model, []), {"input": "hi"})) == [("ai", "ok")]
    assert model.requests[0].messages == []


# System prompt and name


def test_the_system_prompt_stands_first_in_every_request_and_not_in_the_state(
    lc: World, invoke: Invoke
) -> None:
    blocks = [{"type": "text", "text": "be brief"}]
    for prompt, expected in (
        ("be brief", "be brief"),
        (lc.SystemMessage(blocks), blocks),
        ("", ""),
    ):
        model = lc.ScriptedChatModel([asks(lc, call("add", a=1, b=2)), "ok"])
        agent = lc.create_agent(model, [adder(lc)], system_prompt=prompt)

        assert [m for m, _ in road(invoke(agent, HI))] == ["human", "ai", "tool", "ai"]
        for request in model.requests:
            assert (request.messages[0].type, request.messages[0].content) == ("system", expected)


def test_a_name_is_the_graph_s_and_its_answers_(lc: World, invoke: Invoke) -> None:
    model = lc.ScriptedChatModel([asks(lc, call("add", a=1, b=2)), "ok"])
    agent = lc.create_agent(model, [adder(lc)], name="小李")

    assert agent.name == "小李"
    names = [message.name for message in invoke(agent, HI)["messages"]]
    assert names == [None, "小李", "add", "小李"]


# The way out of the tools


def test_a_direct_answer_is_the_last_word(lc: World, invoke: Invoke) -> None:
    model = lc.ScriptedChatModel([asks(lc, call("lookup", key=7))])

    assert road(invoke(lc.create_agent(model, [adder(lc), lookup(lc)]), HI)) == [
        ("human", "hi"),
        ("ai", ""),
        ("tool", "found 7"),
    ]


def test_a_direct_answer_beside_another_is_not(lc: World, invoke: Invoke) -> None:
    both = asks(lc, call("lookup", "c1", key=7), call("add", "c2", a=1, b=2))
    agent = lc.create_agent(lc.ScriptedChatModel([both, "ok"]), [adder(lc), lookup(lc)])

    assert [content for _, content in road(invoke(agent, HI))][2:] == ["found 7", "3", "ok"]


def test_a_direct_tool_with_bad_arguments_ends_the_run_with_its_error(
    lc: World, invoke: Invoke
) -> None:
    agent = lc.create_agent(lc.ScriptedChatModel([asks(lc, call("lookup", key="x"))]), [lookup(lc)])

    assert road(invoke(agent, HI))[2:] == [
        (
            "tool",
            "Error invoking tool 'lookup' with kwargs {'key': 'x'} with error:\n key: Input should "
            "be a valid integer, unable to parse string as an integer\n Please fix the error and "
            "try again.",
        )
    ]


def test_an_unknown_tool_beside_a_direct_one_does_not_keep_the_run_going(
    lc: World, invoke: Invoke
) -> None:
    both = asks(lc, call("lookup", "c1", key=7), call("nope", "c2"))
    agent = lc.create_agent(lc.ScriptedChatModel([both]), [lookup(lc)])

    assert [content for _, content in road(invoke(agent, HI))][2:] == [
        "found 7",
        "Error: nope is not a valid tool, try one of [lookup].",
    ]


def test_a_call_that_was_redirected_to_a_direct_tool_ends_the_run(lc: World) -> None:
    direct = lookup(lc)

    @lc.wrap_tool_call
    def redirect(request: Any, handler: Any) -> Any:
        changed = {**request.tool_call, "name": "lookup", "args": {"key": 1}}
        return handler(request.override(tool_call=changed, tool=direct))

    model = lc.ScriptedChatModel([asks(lc, call("add", a=1, b=2)), "ok"])
    agent = lc.create_agent(model, [adder(lc), direct], middleware=[redirect])

    last = "found 1" if newest(lc, "redirected-return-direct") else "ok"
    assert road(agent.invoke(HI))[-1][1] == last


# The way out of the model


def answering_calls(lc: World, *ids: str) -> Any:
    """A middleware that answers the calls with these ids itself, after the model."""

    @lc.after_model
    def answer(state: Any, runtime: Any) -> Any:
        calls = [c for c in state["messages"][-1].tool_calls if c["id"] in ids]
        own = [lc.ToolMessage("mine", name=c["name"], tool_call_id=c["id"]) for c in calls]
        return {"messages": own}

    return answer


def test_a_call_that_is_answered_already_does_not_run(lc: World, invoke: Invoke) -> None:
    both = asks(lc, call("add", "c1", a=1, b=2), call("add", "c2", a=3, b=4))
    agent = lc.create_agent(
        lc.ScriptedChatModel([both, "ok"]), [adder(lc)], middleware=[answering_calls(lc, "c1")]
    )

    assert [content for _, content in road(invoke(agent, HI))][2:] == ["mine", "7", "ok"]


def test_if_all_calls_are_answered_the_model_is_asked_again(lc: World, invoke: Invoke) -> None:
    agent = lc.create_agent(
        lc.ScriptedChatModel([asks(lc, call("add", a=1, b=2)), "ok"]),
        [adder(lc)],
        middleware=[answering_calls(lc, "c1")],
    )

    assert [content for _, content in road(invoke(agent, HI))][2:] == ["mine", "ok"]


def test_an_answer_to_another_id_answers_nothing(lc: World, invoke: Invoke) -> None:
    @lc.after_model
    def answer(state: Any, runtime: Any) -> Any:
        calls = state["messages"][-1].tool_calls
        return {"messages": [lc.ToolMessage("lost", tool_call_id="other")]} if calls else None

    agent = lc.create_agent(
        lc.ScriptedChatModel([asks(lc, call("add", a=1, b=2)), "ok"]),
        [adder(lc)],
        middleware=[answer],
    )

    assert [content for _, content in road(invoke(agent, HI))][2:] == ["lost", "3", "ok"]


def test_a_history_without_an_answer_of_the_model_ends_the_run(lc: World, invoke: Invoke) -> None:
    @lc.after_model
    def forget(state: Any, runtime: Any) -> Any:
        return {"messages": [lc.RemoveMessage("__remove_all__")]}

    model = lc.ScriptedChatModel([asks(lc, call("add", a=1, b=2))])
    agent = lc.create_agent(model, [adder(lc)], middleware=[forget])

    assert invoke(agent, HI)["messages"] == []


def test_an_open_call_of_an_earlier_turn_is_left_open(lc: World, invoke: Invoke) -> None:
    history = [lc.HumanMessage("hi"), asks(lc, call("add", a=1, b=2)), lc.HumanMessage("well?")]
    model = lc.ScriptedChatModel(["ok"])

    assert [
        kind for kind, _ in road(invoke(lc.create_agent(model, [adder(lc)]), {"messages": history}))
    ] == [
        "human",
        "ai",
        "human",
        "ai",
    ]


# Structured output


def structured(lc: World, *answers: Any, tools: Any = (), **options: Any) -> tuple[Any, Any]:
    """A model and its agent, whose answers are to be of a schema."""
    schema = options.pop("schema", Answer)
    model = lc.ScriptedChatModel(list(answers))
    strategy = lc.ToolStrategy(schema, **options)
    return model, lc.create_agent(model, list(tools), response_format=strategy)


BAD = (
    "Failed to parse structured output for tool 'Answer': Failed to parse data to Answer: "
    "1 validation error for Answer\nx\n  Input should be a valid integer, unable to parse string "
    "as an integer [type=int_parsing, input_value='no', input_type=str]\n    For further "
    "information visit https://errors.pydantic.dev/2.14/v/int_parsing."
)
SEVERAL = (
    "Model incorrectly returned multiple structured responses (Answer, Answer) when only one is "
    "expected."
)


def without_version(text: str) -> str:
    """Pydantic's version is in the address of its explanations."""
    return re.sub(r"pydantic.dev/[\d.]+/", "pydantic.dev/2.14/", text)


def test_the_schema_is_offered_as_a_tool_and_its_call_is_the_answer(
    lc: World, invoke: Invoke
) -> None:
    model, agent = structured(lc, asks(lc, call("Answer", x="1")), tools=[adder(lc)])
    state = invoke(agent, HI)

    assert state["structured_response"] == Answer(x=1)
    assert road(state)[2:] == [("tool", "Returning structured response: x=1")]
    assert state["messages"][2].name == "Answer"
    assert (bound(model), model.requests[0].tool_choice) == (["add", "Answer"], "any")
    assert model.requests[0].tools[1] == {
        "type": "function",
        "function": {
            "name": "Answer",
            "description": "An answer.",
            "parameters": {
                "properties": {"x": {"type": "integer"}},
                "required": ["x"],
                "type": "object",
            },
        },
    }


def test_a_bare_class_means_a_tool(lc: World, invoke: Invoke) -> None:
    model = lc.ScriptedChatModel([asks(lc, call("Answer", x=1))])
    agent = lc.create_agent(model, [], response_format=Answer)

    assert invoke(agent, HI)["structured_response"] == Answer(x=1)


class Point(TypedDict):
    """A point."""

    x: int


@dataclass
class Spot:
    x: int


JSON_SCHEMA = {"title": "Place", "type": "object", "properties": {"x": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("schema", "name", "expected"),
    [
        (Point, "Point", {"x": 1}),
        (Spot, "Spot", Spot(1)),
        (JSON_SCHEMA, "Place", {"x": "1"}),
    ],
    ids=["TypedDict", "dataclass", "JSON schema"],
)
def test_a_schema_need_not_be_a_pydantic_model(
    lc: World, invoke: Invoke, schema: Any, name: str, expected: Any
) -> None:
    _, agent = structured(lc, asks(lc, call(name, x="1")), schema=schema)

    assert invoke(agent, HI)["structured_response"] == expected


def test_a_union_is_no_schema() -> None:
    """Row "structured-schemas"."""
    kind, text = error_of(lambda: minilc.ToolStrategy(Answer | Other))
    assert (kind, text.split("\n\n")[0]) == ("ValueError", "Unsupported function")


@pytest.mark.parametrize("schema", [5, int], ids=repr)
def test_what_has_no_fields_is_no_schema(lc: World, schema: Any) -> None:
    assert error_of(lambda: lc.ToolStrategy(schema))[0] == "ValueError"


def test_the_history_may_say_something_else(lc: World, invoke: Invoke) -> None:
    _, agent = structured(lc, asks(lc, call("Answer", x=1)), tool_message_content="done")

    assert road(invoke(agent, HI))[2:] == [("tool", "done")]


@pytest.mark.parametrize(
    ("handle_errors", "told"),
    [
        (True, f"Error: {BAD}\n Please fix your mistakes."),
        ("try again", "try again"),
        (lambda error: f"{type(error).__name__}?", "StructuredOutputValidationError?"),
        (Exception, f"Error: {BAD}\n Please fix your mistakes."),
        ((KeyError, Exception), f"Error: {BAD}\n Please fix your mistakes."),
    ],
    ids=["True", "text", "function", "type", "tuple"],
)
def test_an_answer_that_does_not_fit_is_sent_back(
    lc: World, invoke: Invoke, handle_errors: Any, told: str
) -> None:
    answers = [asks(lc, call("Answer", "c1", x="no")), asks(lc, call("Answer", "c2", x=1))]
    model, agent = structured(lc, *answers, handle_errors=handle_errors)
    state = invoke(agent, HI)

    assert state["structured_response"] == Answer(x=1)
    assert without_version(model.requests[1].messages[-1].content) == told


@pytest.mark.parametrize("handle_errors", [False, ValueError, (KeyError,), ()], ids=repr)
def test_an_error_that_is_not_handled_ends_the_run(
    lc: World, invoke: Invoke, handle_errors: Any
) -> None:
    answer = asks(lc, call("Answer", x="no"))
    _, agent = structured(lc, answer, handle_errors=handle_errors)

    with pytest.raises(lc.StructuredOutputValidationError) as caught:
        invoke(agent, HI)
    assert without_version(str(caught.value)) == BAD
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_function_covers_what_its_annotation_names_in_minilc_alone(
    lc: World, invoke: Invoke
) -> None:
    # The row "structured-handlers".
    def explain(error: KeyError) -> str:
        return "told"

    answers = [asks(lc, call("Answer", "c1", x="no")), asks(lc, call("Answer", "c2", x=1))]
    _, agent = structured(lc, *answers, handle_errors=explain)
    if lc is MINILC:
        assert error_of(lambda: invoke(agent, HI))[0] == "StructuredOutputValidationError"
    else:
        assert "told" in [content for _, content in road(invoke(agent, HI))]


def test_whatever_a_schema_s_own_check_raises_goes_back_to_the_model(
    lc: World, invoke: Invoke
) -> None:
    class Strict(BaseModel):
        x: int

        @field_validator("x")
        @classmethod
        def check(cls, value: int) -> int:
            return {1: 1}[value]

    answers = [asks(lc, call("Strict", x=2)), asks(lc, call("Strict", x=1))]
    model, agent = structured(lc, *answers, schema=Strict)

    assert invoke(agent, HI)["structured_response"] == Strict(x=1)
    assert model.requests[1].messages[-1].content == (
        "Error: Failed to parse structured output for tool 'Strict': Failed to parse data to "
        "Strict: 2.\n Please fix your mistakes."
    )


def test_two_structured_answers_at_once_are_sent_back(lc: World, invoke: Invoke) -> None:
    both = asks(lc, call("Answer", "c1", x=1), call("Answer", "c2", x=2))
    model, agent = structured(lc, both, asks(lc, call("Answer", x=1)))

    assert invoke(agent, HI)["structured_response"] == Answer(x=1)
    told = f"Error: {SEVERAL}\n Please fix your mistakes."
    assert [(m.content, m.tool_call_id) for m in model.requests[1].messages[2:]] == [
        (told, "c1"),
        (told, "c2"),
    ]


def test_or_they_end_the_run(lc: World, invoke: Invoke) -> None:
    both = asks(lc, call("Answer", "c1", x=1), call("Answer", "c2", x=2))
    _, agent = structured(lc, both, handle_errors=False)

    with pytest.raises(lc.MultipleStructuredOutputsError) as caught:
        invoke(agent, HI)
    assert str(caught.value) == SEVERAL
    assert caught.value.__cause__ is None


def test_a_structured_answer_beside_calls_waits_for_their_tools(lc: World, invoke: Invoke) -> None:
    both = asks(lc, call("Answer", "c1", x=1), call("add", "c2", a=1, b=2))
    _, agent = structured(lc, both, tools=[adder(lc)])
    state = invoke(agent, HI)

    assert state["structured_response"] == Answer(x=1)
    assert [content for _, content in road(state)][2:] == [
        "Returning structured response: x=1",
        "3",
    ]


def test_a_failed_structured_answer_beside_calls_ends_the_run_without_one(
    lc: World, invoke: Invoke
) -> None:
    # Its ToolMessage does not have the status of an error, so the edge takes it for an answer.
    both = asks(lc, call("Answer", "c1", x="no"), call("add", "c2", a=1, b=2))
    model, agent = structured(lc, both, tools=[adder(lc)])

    assert invoke(agent, HI).get("structured_response") is None
    assert len(model.requests) == 1


def test_text_instead_of_a_structured_answer_ends_a_run_only_with_tools(
    lc: World, invoke: Invoke
) -> None:
    _, with_tools = structured(lc, "text", tools=[adder(lc)])
    _, without = structured(lc, "text", asks(lc, call("Answer", x=1)))

    assert invoke(with_tools, HI).get("structured_response") is None
    # Row "structured-without-tools".
    expected = None if lc is MINILC else Answer(x=1)
    assert invoke(without, HI).get("structured_response") == expected


def test_an_earlier_turn_s_answer_does_not_pass_for_this_one_s(lc: World, invoke: Invoke) -> None:
    good, bad = asks(lc, call("Answer", "c1", x=1)), asks(lc, call("Answer", "c2", x="no"))
    model = lc.ScriptedChatModel([good, bad, asks(lc, call("Answer", "c3", x=2))])
    saver = lc.InMemorySaver()
    agent = lc.create_agent(model, [], response_format=Answer, checkpointer=saver)
    thread = {"configurable": {"thread_id": "1"}}
    invoke(agent, HI, thread)

    second = 2 if newest(lc, "stale-structured-response") else 1
    assert invoke(agent, HI, thread)["structured_response"] == Answer(x=second)


def test_a_structured_answer_needs_an_id(lc: World, invoke: Invoke) -> None:
    _, agent = structured(lc, asks(lc, call("Answer", None, x=1)))

    kind, text = error_of(lambda: invoke(agent, HI))
    assert kind == "ValidationError"
    assert text.startswith("1 validation error for ToolMessage\ntool_call_id\n")


# What a middleware may ask of the model node


def changing(lc: World, **changes: Any) -> Any:
    """A middleware that overrides parts of each request."""

    class Changing(lc.AgentMiddleware):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            return handler(request.override(**changes))

        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            return await handler(request.override(**changes))

    return Changing()


def sent(lc: World, invoke: Invoke, own: Any, /, **changes: Any) -> Any:
    """The request that reaches the model."""
    model = lc.ScriptedChatModel(["ok"])
    agent = lc.create_agent(
        model, own, system_prompt="be brief", middleware=[changing(lc, **changes)]
    )
    assert road(invoke(agent, HI)) == [("human", "hi"), ("ai", "ok")]
    return model.requests[0]


def test_everything_in_a_request_can_be_changed_for_one_call(lc: World, invoke: Invoke) -> None:
    tools = [adder(lc)]
    assert sent(lc, invoke, tools, tools=[]).tools == []
    assert sent(lc, invoke, tools, tools=[{"type": "web_search"}]).tools == [{"type": "web_search"}]
    assert sent(lc, invoke, tools, tool_choice="add").tool_choice == "add"
    assert sent(lc, invoke, tools, model_settings={"seed": 1}).kwargs == {"seed": 1}
    assert sent(lc, invoke, [], model_settings={"seed": 1}).kwargs == {"seed": 1}
    shorter = sent(lc, invoke, tools, messages=[lc.HumanMessage("hello")], system_message=None)
    assert [m.content for m in shorter.messages] == ["hello"]
    other = sent(lc, invoke, tools, system_message=lc.SystemMessage("be kind"))
    assert [m.content for m in other.messages] == ["be kind", "hi"]


def test_another_model_can_be_asked(lc: World, invoke: Invoke) -> None:
    asked, other = lc.ScriptedChatModel([]), lc.ScriptedChatModel(["from the other"])
    agent = lc.create_agent(asked, [], middleware=[changing(lc, model=other)])

    assert road(invoke(agent, HI))[-1] == ("ai", "from the other")


def test_the_history_changed_in_place_is_the_state_s_from_then_on_upstream_alone(
    lc: World, invoke: Invoke
) -> None:
    # The row "history-in-place".
    class Remind(lc.AgentMiddleware):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            request.messages.append(lc.HumanMessage("briefly"))
            return handler(request)

        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            request.messages.append(lc.HumanMessage("briefly"))
            return await handler(request)

    model = lc.ScriptedChatModel(["ok"])
    state = invoke(lc.create_agent(model, [], middleware=[Remind()]), HI)

    assert [m.content for m in model.requests[0].messages] == ["hi", "briefly"]
    kept = [] if lc is MINILC else ["briefly"]
    assert [content for _, content in road(state)] == ["hi", *kept, "ok"]


def test_a_tool_that_nobody_can_run_is_answered_as_unknown(lc: World, invoke: Invoke) -> None:
    """Row "undeclared-tools": upstream refuses to offer it."""
    model, own = lc.ScriptedChatModel([asks(lc, call("lookup")), "ok"]), adder(lc)
    agent = lc.create_agent(model, [own], middleware=[changing(lc, tools=[own, lookup(lc)])])

    if lc is MINILC:
        text = "Error: lookup is not a valid tool, try one of [add]."
        assert road(invoke(agent, HI))[2:] == [("tool", text), ("ai", "ok")]
    else:
        kind, text = error_of(lambda: invoke(agent, HI))
        assert (kind, text.split(".")[0]) == (
            "ValueError",
            "Middleware added tools that the agent doesn't know how to execute",
        )


def test_a_form_of_answer_that_only_a_middleware_knows(lc: World, invoke: Invoke) -> None:
    """Row "undeclared-tools": upstream refuses this too."""
    agent = lc.create_agent(
        lc.ScriptedChatModel([asks(lc, call("Other", y="z"))]),
        [],
        response_format=lc.ToolStrategy(Answer),
        middleware=[changing(lc, response_format=lc.ToolStrategy(Other))],
    )
    if lc is MINILC:
        assert invoke(agent, HI)["structured_response"] == Other(y="z")
    else:
        assert error_of(lambda: invoke(agent, HI)) == (
            "ValueError",
            "ToolStrategy specifies tool 'Other' which wasn't declared in the original response "
            "format when creating the agent.",
        )


def test_the_form_of_an_answer_can_be_dropped_for_a_call(lc: World, invoke: Invoke) -> None:
    model = lc.ScriptedChatModel(["text"])
    agent = lc.create_agent(
        model,
        [adder(lc)],
        response_format=lc.ToolStrategy(Answer),
        middleware=[changing(lc, response_format=None)],
    )

    assert invoke(agent, HI).get("structured_response") is None
    assert (bound(model), model.requests[0].tool_choice) == (["add"], None)


# What a model may answer


class Plain:
    """Whatever has these four methods can be a model. It answers with `value`."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def bind(self, **settings: Any) -> "Plain":
        return self

    def bind_tools(self, tools: Any, **settings: Any) -> "Plain":
        return self

    def invoke(self, messages: Any) -> Any:
        return self.value

    async def ainvoke(self, messages: Any) -> Any:
        return self.value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("text", ("human", "text")),
        (("ai", "text"), ("ai", "text")),
        ({"role": "assistant", "content": "text"}, ("ai", "text")),
    ],
    ids=["text", "tuple", "dict"],
)
def test_an_answer_is_read_like_any_message(
    lc: World, invoke: Invoke, value: Any, expected: Any
) -> None:
    assert road(invoke(lc.create_agent(Plain(value), [adder(lc)]), HI))[1:] == [expected]


@pytest.mark.parametrize("value", [5, None], ids=repr)
def test_what_is_no_message_is_an_error(lc: World, invoke: Invoke, value: Any) -> None:
    assert error_of(lambda: invoke(lc.create_agent(Plain(value), []), HI)) == (
        "NotImplementedError",
        f"Unsupported message type: {type(value)}{HELP}langchain/errors/MESSAGE_COERCION_FAILURE ",
    )
    assert error_of(lambda: invoke(lc.create_agent(Plain(value), [], name="n"), HI)) == (
        "AttributeError",
        f"'{type(value).__name__}' object has no attribute 'name'",
    )


def test_an_error_of_the_model_is_the_run_s(lc: World, invoke: Invoke) -> None:
    def broken(messages: Any) -> Any:
        raise ConnectionError("no route")

    agent = lc.create_agent(lc.ScriptedChatModel(broken), [adder(lc)])

    assert error_of(lambda: invoke(agent, HI)) == ("ConnectionError", "no route")


def test_a_run_that_fails_leaves_the_caller_s_messages_as_they_were(
    lc: World, invoke: Invoke
) -> None:
    def broken(messages: Any) -> Any:
        raise ConnectionError("no route")

    given = {"messages": [lc.HumanMessage("hi", id="1"), lc.AIMessage("hello", id="2")]}
    before = [message.model_copy(deep=True) for message in given["messages"]]
    agent = lc.create_agent(lc.ScriptedChatModel(broken), [], name="n")

    assert error_of(lambda: invoke(agent, given))[0] == "ConnectionError"
    assert given == {"messages": before}


# Calls whose arguments could not be read


def broken_call(id: str | None, name: str | None = "add") -> dict[str, Any]:
    return {"name": name, "args": "{", "id": id, "error": "e", "type": "invalid_tool_call"}


MALFORMED = "could not be executed - arguments were malformed or truncated."


def test_an_unreadable_call_ends_the_run(lc: World, invoke: Invoke) -> None:
    answer = lc.AIMessage("", invalid_tool_calls=[broken_call("c1")])

    assert road(invoke(lc.create_agent(lc.ScriptedChatModel([answer]), [adder(lc)]), HI)) == [
        ("human", "hi"),
        ("ai", ""),
    ]


def repairs(lc: World) -> bool:
    """Whether unreadable calls in a history are answered: the row "unreadable-calls"."""
    return lc is not MINILC and active("repaired-invalid-calls")


def test_in_a_history_it_is_answered_before_the_model_is_asked_upstream_alone(
    lc: World, invoke: Invoke
) -> None:
    broken = [broken_call("c1"), broken_call("c2", None), broken_call(None)]
    history = [
        lc.HumanMessage("hi"),
        lc.AIMessage("", invalid_tool_calls=broken),
        lc.HumanMessage("well?"),
    ]
    model = lc.ScriptedChatModel(["ok"])
    state = invoke(lc.create_agent(model, [adder(lc)]), {"messages": history})

    told = [
        ("add", "c1", "error", f"Tool call add with id c1 {MALFORMED}"),
        ("unknown", "c2", "error", f"Tool call unknown with id c2 {MALFORMED}"),
    ]
    expected = told if repairs(lc) else []
    for messages in (state["messages"][:-1], model.requests[0].messages):
        answers = [m for m in messages if m.type == "tool"]
        assert [(m.name, m.tool_call_id, m.status, m.content) for m in answers] == expected
        assert [m.type for m in messages] == ["human", "ai", *["tool"] * len(answers), "human"]


def test_one_that_is_answered_is_left_alone(lc: World, invoke: Invoke) -> None:
    history = [
        lc.AIMessage("", invalid_tool_calls=[broken_call("c1")]),
        lc.ToolMessage("known", tool_call_id="c1"),
    ]
    agent = lc.create_agent(lc.ScriptedChatModel(["ok"]), [adder(lc)])

    assert road(invoke(agent, {"messages": history})) == [
        ("ai", ""),
        ("tool", "known"),
        ("ai", "ok"),
    ]


def test_one_that_comes_with_good_calls_is_answered_in_the_next_step_upstream_alone(
    lc: World, invoke: Invoke
) -> None:
    both = asks(lc, call("add", a=1, b=2), invalid_tool_calls=[broken_call("c2")])
    model = lc.ScriptedChatModel([asks(lc, call("add", "c0", a=0, b=0)), both, "ok"])
    state = invoke(lc.create_agent(model, [adder(lc)]), HI)

    told = [f"Tool call add with id c2 {MALFORMED}"]
    expected = told if repairs(lc) else []
    assert [content for _, content in road(state)][2:] == ["0", "", *expected, "3", "ok"]


# State, memory, store


def test_a_state_of_one_s_own_has_more_fields(lc: World, invoke: Invoke) -> None:
    class Shop(lc.AgentState):
        user: NotRequired[str]

    @lc.tool
    def whoami(user: Annotated[str, lc.InjectedState("user")]) -> str:
        """Say who is asking."""
        return user

    model = lc.ScriptedChatModel([asks(lc, call("whoami", user="mallory")), "ok"])
    state = invoke(lc.create_agent(model, [whoami], state_schema=Shop), {**HI, "user": "王"})

    assert (road(state)[2], state["user"]) == (("tool", "王"), "王")


def test_a_state_without_messages_is_an_error(lc: World, invoke: Invoke) -> None:
    class Bare(TypedDict):
        x: int

    agent = lc.create_agent(lc.ScriptedChatModel(["ok"]), [], state_schema=Bare)

    assert error_of(lambda: invoke(agent, {"x": 1})) == ("KeyError", "'messages'")


def test_a_thread_is_remembered(lc: World, invoke: Invoke) -> None:
    model = lc.ScriptedChatModel(["你好", "再见"])
    agent = lc.create_agent(model, [], checkpointer=lc.InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}
    invoke(agent, {"messages": "hello"}, thread)

    assert road(invoke(agent, {"messages": "bye"}, thread)) == [
        ("human", "hello"),
        ("ai", "你好"),
        ("human", "bye"),
        ("ai", "再见"),
    ]


def test_a_human_may_approve_a_call(lc: World) -> None:
    ran: list[str] = []

    @lc.tool
    def refund(order: str) -> str:
        """Give money back."""
        ran.append(order)
        return f"refunded {order}"

    @lc.wrap_tool_call
    def approve(request: Any, handler: Any) -> Any:
        if lc.interrupt(request.tool_call["args"]) == "yes":
            return handler(request)
        return lc.ToolMessage("refused", tool_call_id=request.tool_call["id"])

    def run(answer: str) -> tuple[Any, str]:
        model = lc.ScriptedChatModel([asks(lc, call("refund", order="O1")), "ok"])
        saver = lc.InMemorySaver()
        agent = lc.create_agent(model, [refund], middleware=[approve], checkpointer=saver)
        thread = {"configurable": {"thread_id": "1"}}
        paused = agent.invoke(HI, thread)["__interrupt__"]
        return paused[0].value, road(agent.invoke(lc.Command(resume=answer), thread))[2][1]

    assert run("no") == ({"order": "O1"}, "refused")
    assert ran == []
    assert run("yes") == ({"order": "O1"}, "refunded O1")
    assert ran == ["O1"]


def test_tools_get_the_store_and_the_context(lc: World, invoke: Invoke) -> None:
    store = object()

    @lc.tool
    def look(runtime: lc.ToolRuntime[str, dict], kept: Annotated[Any, lc.InjectedStore()]) -> str:
        """Look around."""
        return f"{runtime.context} {kept is store} {runtime.tool_call_id}"

    model = lc.ScriptedChatModel([asks(lc, call("look")), "ok"])
    agent = lc.create_agent(model, [look], store=store, context_schema=str)

    assert road(invoke(agent, HI, context="王"))[2] == ("tool", "王 True c1")


# Mistakes


def test_the_name_of_a_model_is_no_model() -> None:
    assert error_of(lambda: minilc.create_agent("openai:gpt-5.4-mini", [])) == (
        "TypeError",
        "create_agent needs a chat model, not the name of one (got 'openai:gpt-5.4-mini')",
    )


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (
            lambda lc, model: lc.create_agent(model, [5]),
            (
                "ValueError",
                "The first argument must be a string or a callable with a __name__ for tool "
                "decorator. Got <class 'int'>",
            ),
        ),
        (
            lambda lc, model: lc.create_agent(model, [lambda x: x]),
            ("ValueError", "Function must have a docstring if description not provided."),
        ),
        (
            lambda lc, model: lc.create_agent(model, [], "be brief"),
            ("TypeError", "create_agent() takes from 1 to 2 positional arguments but 3 were given"),
        ),
        (
            lambda lc, model: lc.create_agent(model, [], prompt="be brief"),
            ("TypeError", "create_agent() got an unexpected keyword argument 'prompt'"),
        ),
        (
            lambda lc, model: lc.create_agent(None, []).invoke(HI),
            ("AttributeError", "'NoneType' object has no attribute 'bind'"),
        ),
        (
            lambda lc, model: lc.create_agent(model, []).invoke(None),
            ("EmptyInputError", "Received no input for __start__"),
        ),
        (
            lambda lc, model: lc.create_agent(model, []).invoke("hi"),
            (
                "InvalidUpdateError",
                f"Expected dict, got hi{HELP}langgraph/errors/INVALID_GRAPH_NODE_RETURN_VALUE",
            ),
        ),
        (
            lambda lc, model: lc.create_agent(model, []).invoke({"messages": [{"role": "x"}]}),
            (
                "ValueError",
                "Message dict must contain 'role' and 'content' keys, got {'role': 'x'}"
                f"{HELP}langchain/errors/MESSAGE_COERCION_FAILURE ",
            ),
        ),
    ],
    ids=[
        "a number as a tool",
        "a tool without a docstring",
        "a third positional argument",
        "an unknown argument",
        "no model",
        "no input",
        "a text as input",
        "a message without content",
    ],
)
def test_a_mistake_has_its_error(lc: World, build: Any, error: tuple[str, str]) -> None:
    assert error_of(lambda: build(lc, lc.ScriptedChatModel(["ok"]))) == error
