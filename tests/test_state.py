"""Layer 9: a shared state, its reducers, and the loop that runs the nodes step by step."""

import asyncio
import contextvars
import copy
import operator
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NotRequired

import pytest
from pydantic import BaseModel, ValidationError
from typing_extensions import TypedDict

from minilc.course.worlds import LANGCHAIN, MINILC, World

Invoke = Callable[..., Any]
WHO: contextvars.ContextVar[str] = contextvars.ContextVar("who", default="nobody")
PAGE = "\nFor troubleshooting, visit: https://docs.langchain.com/oss/python/langgraph/errors/"


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]
    n: int


@contextmanager
def raised(kind: type[BaseException], text: str) -> Iterator[None]:
    """Expect an error, and its whole text. (Upstream adds notes, which `match` would see.)"""
    with pytest.raises(kind) as error:
        yield
    assert str(error.value) == text


def says(name: str) -> Callable[[Any], dict[str, list[str]]]:
    """A node that writes its name into the log."""
    return lambda state: {"log": [name]}


def chain(lc: World, schema: Any, *nodes: Any, **options: Any) -> Any:
    """A compiled graph of nodes one after the other, named a, b, c, ..."""
    builder, previous = lc.StateGraph(schema), lc.START
    for name, node in zip("abcdefgh", nodes, strict=False):
        builder.add_node(name, node).add_edge(previous, name)
        previous = name
    return builder.compile(**options)


def beside(lc: World, nodes: dict[str, Any], schema: Any = State, **options: Any) -> Any:
    """A compiled graph whose nodes all run in the first step."""
    builder = lc.StateGraph(schema)
    for name, node in nodes.items():
        builder.add_node(name, node).add_edge(lc.START, name)
    return builder.compile(**options)


def looping(lc: World, rounds: int) -> Any:
    """model and tools take turns for so many rounds."""
    builder = lc.StateGraph(State)
    builder.add_node("model", says("model")).add_node("tools", says("tools"))
    builder.add_edge(lc.START, "model").add_edge("tools", "model")
    more = lambda state: "tools" if len(state["log"]) < 2 * rounds else lc.END  # noqa: E731
    return builder.add_conditional_edges("model", more, ["tools", lc.END]).compile()


# add_messages


def contents(messages: list[Any]) -> list[Any]:
    return [message.content for message in messages]


def test_new_messages_are_appended_and_known_ids_replaced(lc: World) -> None:
    left = [lc.HumanMessage("a", id="1"), lc.AIMessage("b", id="2")]
    merged = lc.add_messages(left, [lc.AIMessage("B", id="2"), lc.HumanMessage("c", id="3")])
    assert contents(merged) == ["a", "B", "c"]
    assert contents(left) == ["a", "b"]


def test_of_two_new_messages_with_one_id_the_later_stands_where_the_first_did(lc: World) -> None:
    new = [lc.AIMessage("a", id="1"), lc.AIMessage("b", id="2"), lc.AIMessage("c", id="1")]
    assert contents(lc.add_messages([], new)) == ["c", "b"]


def test_everything_becomes_a_message_with_an_id(lc: World) -> None:
    merged = lc.add_messages(("user", "a"), ["b", {"role": "assistant", "content": "c"}])
    assert [type(message).__name__ for message in merged] == [
        "HumanMessage",
        "HumanMessage",
        "AIMessage",
    ]
    assert len({message.id for message in merged}) == 3
    assert all(isinstance(message.id, str) and len(message.id) == 36 for message in merged)


def test_a_message_is_removed_by_its_id(lc: World) -> None:
    left = [lc.HumanMessage("a", id="1"), lc.AIMessage("b", id="2")]
    assert contents(lc.add_messages(left, lc.RemoveMessage(id="1"))) == ["b"]
    back = [lc.RemoveMessage(id="1"), lc.HumanMessage("A", id="1")]
    assert contents(lc.add_messages(left, back)) == ["A", "b"]
    new = [lc.AIMessage("c", id="3"), lc.RemoveMessage(id="3")]
    assert contents(lc.add_messages(left, new)) == ["a", "b"]


def test_remove_all_keeps_what_comes_after_it(lc: World) -> None:
    left = [lc.HumanMessage("a", id="1")]
    clear = lc.RemoveMessage(id=lc.REMOVE_ALL_MESSAGES)
    new = [lc.AIMessage("lost", id="2"), clear, lc.AIMessage("b", id="3"), clear, "c"]
    assert contents(lc.add_messages(left, new)) == ["c"]
    assert lc.add_messages(left, [clear]) == []


def test_what_stands_twice_is_removed_twice(lc: World) -> None:
    clear, twice = lc.RemoveMessage(id=lc.REMOVE_ALL_MESSAGES), lc.HumanMessage("a", id="1")
    history = lc.add_messages([], [clear, twice, lc.AIMessage("b", id="2"), twice])
    assert [message.id for message in history] == ["1", "2", "1"]
    assert [m.id for m in lc.add_messages(history, lc.RemoveMessage(id="1"))] == ["2"]


def test_removing_what_is_not_there_is_an_error(lc: World) -> None:
    text = "Attempting to delete a message with an ID that doesn't exist ('9')"
    left = [lc.HumanMessage("a", id="1")]
    with raised(ValueError, text):
        lc.add_messages(left, [lc.RemoveMessage(id="9")])
    assert contents(lc.add_messages(left, [lc.AIMessage("b", id="9")])) == ["a", "b"]


def test_an_older_history_can_go_on_in_another_way(lc: World) -> None:
    old = lc.add_messages([], [lc.HumanMessage("a", id="1")])
    one = lc.add_messages(old, [lc.AIMessage("b", id="2")])
    other = lc.add_messages(old, [lc.AIMessage("c", id="3"), lc.AIMessage("d", id="2")])
    assert contents(lc.add_messages(one, [lc.AIMessage("B", id="2")])) == ["a", "B"]
    assert contents(lc.add_messages(other, [lc.AIMessage("D", id="2")])) == ["a", "c", "D"]
    assert contents(lc.add_messages(old, [lc.AIMessage("A", id="1")])) == ["A"]
    assert contents(old) == ["a"]


def test_a_history_that_was_changed_by_hand_is_read_again(lc: World) -> None:
    history = lc.add_messages([], [lc.HumanMessage("a", id="1")])
    history.append(lc.AIMessage("b", id="2"))
    assert contents(lc.add_messages(history, [lc.AIMessage("B", id="2")])) == ["a", "B"]
    again = copy.deepcopy(history)
    assert contents(lc.add_messages(again, [lc.AIMessage("B", id="2")])) == ["a", "B"]


# Keys and reducers


def test_a_reducer_folds_and_a_plain_key_keeps_the_last(lc: World, invoke: Invoke) -> None:
    graph = chain(lc, State, lambda s: {"log": ["a"], "n": 1}, lambda s: {"log": ["b"], "n": 2})
    assert invoke(graph, {"log": ["in"], "n": 0}) == {"log": ["in", "a", "b"], "n": 2}


def test_keys_that_the_state_lacks_are_dropped(lc: World, invoke: Invoke) -> None:
    graph = chain(lc, State, lambda s: {"log": [sorted(s)], "other": 1})
    assert invoke(graph, {"log": [], "stranger": 1}) == {"log": [["log"]]}


@pytest.mark.parametrize("answer", [5, "text", [], [1]])
def test_an_answer_that_is_no_update_is_an_error(lc: World, invoke: Invoke, answer: Any) -> None:
    text = f"Expected dict, got {answer}{PAGE}INVALID_GRAPH_NODE_RETURN_VALUE"
    with raised(lc.InvalidUpdateError, text):
        invoke(chain(lc, State, lambda state: answer), {"log": []})
    with raised(lc.InvalidUpdateError, text):
        invoke(chain(lc, State, says("a")), answer)


def test_two_writers_of_a_plain_key_in_one_step_are_an_error(lc: World, invoke: Invoke) -> None:
    text = (
        "At key 'n': Can receive only one value per step. Use an Annotated key to handle multiple "
        f"values.{PAGE}INVALID_CONCURRENT_GRAPH_UPDATE"
    )
    with raised(lc.InvalidUpdateError, text):
        invoke(beside(lc, {"a": lambda s: {"n": 1}, "b": lambda s: {"n": 1}}), {"log": []})
    with raised(lc.InvalidUpdateError, text):
        two = [lc.Command(update={"n": 1}), {"n": 2}]
        invoke(chain(lc, State, lambda state: two), {"log": []})


def test_writes_of_one_step_are_folded_by_the_nodes_names(lc: World, invoke: Invoke) -> None:
    graph = beside(lc, {name: says(name) for name in "cab"})
    assert invoke(graph, {"log": ["in"]}) == {"log": ["in", "a", "b", "c"]}


def test_a_reducer_starts_from_the_empty_value_of_its_type(lc: World, invoke: Invoke) -> None:
    class Needy:
        def __init__(self, x: int) -> None: ...

    class Whole(TypedDict):
        a: Annotated[list, operator.add]
        b: Annotated[int, operator.add]
        c: Annotated[dict[str, int], operator.or_]
        d: Annotated[Sequence[int], operator.add]
        e: NotRequired[Annotated[set, operator.or_]]
        f: Annotated[Needy, lambda old, new: new]
        g: Annotated[int, "only a text"]

    seen = []
    invoke(chain(lc, Whole, seen.append), {})
    assert seen == [{"a": [], "b": 0, "c": {}, "d": [], "e": set()}]


def test_a_reducer_takes_two(lc: World) -> None:
    def alone(old):  # type: ignore[no-untyped-def]  # its text is compared
        return old

    class Wrong(TypedDict):
        x: Annotated[list, alone]

    text = "Invalid reducer signature. Expected (a, b) -> c. Got (old)"
    refused = raised(ValueError, text) if lc is LANGCHAIN else nullcontext()
    with refused:  # graph-checks: minilc's fails when it is called
        lc.StateGraph(Wrong)


def test_a_reducer_that_fails_fails_the_run(lc: World, invoke: Invoke) -> None:
    with raised(TypeError, 'can only concatenate list (not "int") to list'):
        invoke(chain(lc, State, lambda state: {"log": 5}), {"log": []})


def test_a_dataclass_is_a_state(lc: World, invoke: Invoke) -> None:
    @dataclass
    class Data:
        log: Annotated[list, operator.add] = field(default_factory=list)
        n: int = 3

    graph = chain(lc, Data, lambda s: {"log": [s.n]}, lambda s: Data(log=["b"], n=s.n + 1))
    assert invoke(graph, {"log": ["in"]}) == {"log": ["in", 3, "b"], "n": 4}
    assert invoke(graph, Data(log=["in"])) == {"log": ["in", 3, "b"], "n": 4}


def test_a_model_is_a_state_and_checks_what_nodes_read(lc: World, invoke: Invoke) -> None:
    class Model(BaseModel):
        log: Annotated[list, operator.add] = []
        n: int = 3
        note: str | None = None

    graph = chain(lc, Model, lambda s: {"log": [s.n]}, lambda s: Model(log=["b"]))
    assert invoke(graph, {"log": ["in"], "n": "4"}) == {"log": ["in", 4, "b"], "n": 3}
    assert invoke(graph, Model(n=5)) == {"log": [5, "b"], "n": 3}
    with pytest.raises(ValidationError, match="^1 validation error for Model\nn\n"):
        invoke(graph, {"n": "four"})


def test_input_and_output_may_have_schemas_of_their_own(lc: World, invoke: Invoke) -> None:
    class Question(TypedDict):
        question: str

    class Answer(TypedDict):
        answer: str

    class Whole(Question, Answer):
        secret: str

    def first(state: Any) -> Any:
        return {"secret": ",".join(state)}

    def second(state: Any) -> Any:
        return {"answer": f"{','.join(state)}: {state['secret']}"}

    if lc is MINILC:  # schemas-of-nodes
        with pytest.raises(TypeError, match="input_schema"):
            lc.StateGraph(Whole, input_schema=Question, output_schema=Answer)
        return
    builder = lc.StateGraph(Whole, input_schema=Question, output_schema=Answer)
    builder.add_node("first", first).add_node("second", second)
    builder.add_edge(lc.START, "first").add_edge("first", "second")
    graph = builder.compile()
    assert invoke(graph, {"question": "?", "answer": "x"}) == {
        "answer": "question,secret: question"
    }


# Steps


def test_nodes_of_a_step_see_the_same_state_and_run_at_the_same_time(
    lc: World, invoke: Invoke
) -> None:
    barrier = threading.Barrier(4, timeout=20)

    def node(state: Any) -> Any:
        barrier.wait()
        return {"log": [str(len(state["log"]))]}

    graph = beside(lc, dict.fromkeys("abcd", node))
    assert invoke(graph, {"log": ["in"]}) == {"log": ["in", *["1"] * 4]}


def test_a_single_node_runs_in_the_callers_thread(lc: World) -> None:
    threads: list[threading.Thread] = []
    chain(lc, State, lambda state: threads.append(threading.current_thread())).invoke({"log": []})
    assert threads == [threading.current_thread()]


@pytest.mark.parametrize("nodes", [1, 2])
def test_what_an_awaited_node_sets_in_its_context_stays_there(lc: World, nodes: int) -> None:
    async def who(state: State) -> Any:
        before = WHO.get()
        WHO.set("node")
        return {"log": [before]}

    graph = chain(lc, State, *[who] * nodes)

    async def run() -> Any:
        WHO.set("caller")
        return (await graph.ainvoke({}))["log"], WHO.get()

    assert asyncio.run(run()) == (["caller"] * nodes, "caller")


def at_once(lc: World, invoke: Invoke, **config: Any) -> int:
    """How many of four nodes of one step run at the same time."""
    running, most = set[str](), list[int]()

    def node(name: str) -> Callable[[Any], Any]:
        def run(state: State) -> Any:
            running.add(name)
            most.append(len(running))
            time.sleep(0.05)
            running.remove(name)

        return run

    invoke(beside(lc, {name: node(name) for name in "abcd"}), {"n": 1}, config)
    return max(most)


def test_max_concurrency_limits_the_nodes_of_a_step(lc: World) -> None:
    graph_invoke: Invoke = lambda graph, *args: graph.invoke(*args)  # noqa: E731
    assert at_once(lc, graph_invoke, max_concurrency=2) <= 2
    assert at_once(lc, graph_invoke, max_concurrency=1) == 1


def test_divergence_awaited_concurrency() -> None:
    # The row "awaited-concurrency".
    def awaited(graph: Any, *args: Any) -> Any:
        return asyncio.run(graph.ainvoke(*args))

    assert at_once(LANGCHAIN, awaited, max_concurrency=1) == 1
    # None of the four goes on before all have started.
    barrier = threading.Barrier(4, timeout=20)

    def meet(state: State) -> Any:
        barrier.wait()

    awaited(beside(MINILC, dict.fromkeys("abcd", meet)), {"n": 1}, {"max_concurrency": 1})


def test_async_nodes_of_a_step_wait_for_one_another(lc: World) -> None:
    async def run() -> Any:
        both = asyncio.Event()

        async def waits(state: Any) -> Any:
            await asyncio.wait_for(both.wait(), 10)
            return {"log": ["waited"]}

        async def sets(state: Any) -> Any:
            both.set()
            return {"log": ["set"]}

        return await beside(lc, {"a": waits, "b": sets}).ainvoke({"log": []})

    assert asyncio.run(run()) == {"log": ["waited", "set"]}


def test_a_blocking_node_leaves_the_event_loop_alone(lc: World) -> None:
    async def run() -> Any:
        event = threading.Event()

        async def sets(state: Any) -> None:
            event.set()

        nodes = {"a": lambda s: {"log": [str(event.wait(10))]}, "b": sets}
        return await beside(lc, nodes).ainvoke({"log": []})

    assert asyncio.run(run()) == {"log": ["True"]}


def test_an_edge_from_several_nodes_waits_for_all_of_them(lc: World, invoke: Invoke) -> None:
    builder = lc.StateGraph(State)
    for name in ("a", "b", "b2", "c"):
        builder.add_node(name, says(name))
    builder.add_edge(lc.START, "a").add_edge(lc.START, "b").add_edge("b", "b2")
    builder.add_edge(["a", "b2"], "c")
    again = lambda state: "a" if len(state["log"]) < 5 else lc.END  # noqa: E731
    builder.add_conditional_edges("c", again)
    assert invoke(builder.compile(), {"log": []}) == {"log": ["a", "b", "b2", "c", "a"]}


def test_an_edge_from_several_nodes_may_lead_to_the_end(lc: World, invoke: Invoke) -> None:
    builder = lc.StateGraph(State)
    for name in ("a", "b"):
        builder.add_node(name, says(name)).add_edge(lc.START, name)
    assert invoke(builder.add_edge(["a", "b"], lc.END).compile(), {"log": []}) == {
        "log": ["a", "b"]
    }


def test_a_run_of_k_steps_needs_a_limit_of_k_and_one(lc: World, invoke: Invoke) -> None:
    graph = looping(lc, 2)
    assert len(invoke(graph, {"log": []}, {"recursion_limit": 6})["log"]) == 5
    text = (
        "Recursion limit of 5 reached without hitting a stop condition. You can increase the limit "
        f"by setting the `recursion_limit` config key.{PAGE}GRAPH_RECURSION_LIMIT"
    )
    with raised(lc.GraphRecursionError, text):
        invoke(graph, {"log": []}, {"recursion_limit": 5})


def test_a_bare_graph_stops_after_10007_steps(lc: World) -> None:
    counted = []
    builder = lc.StateGraph(State).add_node("a", counted.append)
    builder.add_edge(lc.START, "a").add_edge("a", "a")
    with pytest.raises(lc.GraphRecursionError, match="^Recursion limit of 10007 reached"):
        builder.compile().invoke({"log": []})
    assert len(counted) == 10_007


@pytest.mark.parametrize("given", [None, 40])
def test_a_graph_inside_a_node_inherits_the_limit_that_was_given(
    lc: World, invoke: Invoke, given: int | None
) -> None:
    inner = looping(lc, 30)
    graph = chain(lc, State, lambda state: {"log": [str(len(inner.invoke({"log": []})["log"]))]})
    if given is None:
        assert invoke(graph, {"log": []}) == {"log": ["61"]}
    else:
        with pytest.raises(lc.GraphRecursionError, match="^Recursion limit of 40 reached"):
            invoke(graph, {"log": []}, {"recursion_limit": given})


def test_a_graph_inside_a_tool_gets_the_limit_of_tools(lc: World, invoke: Invoke) -> None:
    inner = looping(lc, 30)

    @lc.tool
    def search() -> str:
        """Search for long."""
        return str(inner.invoke({"log": []}))

    call = {"name": "search", "args": {}, "id": "1", "type": "tool_call"}
    graph = chain(lc, lc.MessagesState, lc.ToolNode([search]))
    with pytest.raises(lc.GraphRecursionError, match="^Recursion limit of 25 reached"):
        invoke(graph, {"messages": [lc.AIMessage("", tool_calls=[call])]})


def test_a_node_that_fails_leaves_the_callers_state_as_it_was(lc: World, invoke: Invoke) -> None:
    given = {"log": ["in"]}

    def fail(state: Any) -> Any:
        state["n"] = 1
        raise RuntimeError("bank is closed")

    with raised(RuntimeError, "bank is closed"):
        invoke(chain(lc, State, says("a"), fail), given)
    assert given == {"log": ["in"]}


def test_siblings_of_a_node_that_fails_run_to_their_end(lc: World) -> None:
    done = threading.Event()

    def slow(state: Any) -> None:
        done.wait(0.05)
        done.set()

    with raised(ZeroDivisionError, "division by zero"):
        beside(lc, {"a": lambda state: 1 / 0, "b": slow}).invoke({"log": []})
    assert done.is_set()


def test_no_input_is_an_error(lc: World, invoke: Invoke) -> None:
    with pytest.raises(Exception, match="^Received no input for __start__$") as error:
        invoke(chain(lc, State, says("a")), None)
    assert type(error.value).__name__ == "EmptyInputError"


# What nodes are given


def test_a_node_may_ask_for_config_runtime_writer_and_store(lc: World, invoke: Invoke) -> None:
    seen = []

    def node(state, config=None, *, runtime, writer, store):  # type: ignore[no-untyped-def]
        seen.append((config["configurable"]["user"], runtime.context, runtime.store, store))
        writer("nobody listens")

    def typed(state: Any, config: lc.RunnableConfig) -> None:  # type: ignore[name-defined]
        seen.append(config["configurable"]["user"])

    graph = chain(lc, State, node, typed, store="shelf")
    config = {"configurable": {"user": "小明"}}
    invoke(graph, {"log": []}, config, context={"tenant": 1})
    assert seen == [("小明", {"tenant": 1}, "shelf", "shelf"), "小明"]


def test_a_graph_inside_a_node_inherits_store_context_and_config(lc: World, invoke: Invoke) -> None:
    seen = []

    def node(state: Any, config, runtime: Any) -> None:  # type: ignore[no-untyped-def]
        seen.append((config["configurable"]["user"], runtime.store, runtime.context))

    inner = chain(lc, State, node)
    for action in (inner, lambda state: inner.invoke(state)):
        config = {"configurable": {"user": "小明"}}
        invoke(chain(lc, State, action, store="shelf"), {"log": []}, config, context="here")
    assert seen == [("小明", "shelf", "here")] * 2


def test_a_graph_is_a_node_of_another_graph(lc: World, invoke: Invoke) -> None:
    inner = chain(lc, State, says("x"), lambda state: {"n": len(state["log"])})
    assert invoke(chain(lc, State, says("a"), inner), {"log": ["in"]}) == {
        "log": ["in", "a", "in", "a", "x"],
        "n": 3,
    }


def test_a_config_can_be_bound(lc: World, invoke: Invoke) -> None:
    bound = looping(lc, 2).with_config({"recursion_limit": 5, "configurable": {"a": 1}})
    with pytest.raises(lc.GraphRecursionError, match="^Recursion limit of 5 "):
        invoke(bound, {"log": []}, {"configurable": {"b": 1}})
    assert invoke(bound, {"log": []}, {"recursion_limit": 6})["log"][-1] == "model"


# Streams


async def collected(stream: Any) -> list[Any]:
    return [chunk async for chunk in stream]


@pytest.mark.parametrize(
    ("mode", "chunks"),
    [
        ("values", [{"log": ["in"]}, {"log": ["in", "a"]}, {"log": ["in", "a", "b"], "n": 1}]),
        ("updates", [{"a": {"log": ["a"]}}, {"b": {"log": ["b"], "n": 1}}, {"c": None}]),
        (
            ["updates"],
            [
                ("updates", {"a": {"log": ["a"]}}),
                ("updates", {"b": {"log": ["b"], "n": 1}}),
                ("updates", {"c": None}),
            ],
        ),
    ],
)
def test_a_stream_shows_each_step(lc: World, mode: Any, chunks: list[Any]) -> None:
    def node(state: Any) -> Any:
        return {"log": ["b"], "n": 1}

    graph = chain(lc, State, says("a"), node, lambda state: {"stranger": 1})
    assert list(graph.stream({"log": ["in"]}, stream_mode=mode)) == chunks
    stream = graph.astream({"log": ["in"]}, stream_mode=mode)
    assert asyncio.run(collected(stream)) == chunks


def test_a_stream_comes_step_by_step(lc: World) -> None:
    ran: list[str] = []
    graph = chain(lc, State, lambda s: ran.append("a"), lambda s: ran.append("b"))
    stream = graph.stream({"log": []})
    assert (next(stream), ran) == ({"a": None}, ["a"])
    stream.close()
    assert ran == ["a"]


def test_several_updates_of_one_key_are_shown_one_by_one(lc: World) -> None:
    answer = [lc.Command(update={"log": ["a"]}), {"log": ["b"], "n": 1}]
    chunks = list(chain(lc, State, lambda state: answer).stream({"log": []}))
    assert chunks == [{"a": [{"log": ["a"]}, {"log": ["b"]}, {"n": 1}]}]


# Threads, and questions


THREAD = {"configurable": {"thread_id": "1"}}


def test_a_thread_goes_on_from_where_it_stands(lc: World, invoke: Invoke) -> None:
    graph = chain(lc, State, says("a"), checkpointer=lc.InMemorySaver())
    invoke(graph, {"log": ["in"], "n": 1}, THREAD)
    assert invoke(graph, {"log": ["more"]}, THREAD) == {"log": ["in", "a", "more", "a"], "n": 1}
    other = {"configurable": {"thread_id": "2"}}
    assert invoke(graph, {"log": ["in"]}, other) == {"log": ["in", "a"]}
    state = graph.get_state(THREAD)
    assert (state.values["n"], state.next) == (1, ())
    assert graph.get_state({"configurable": {"thread_id": "3"}}).values == {}


def test_a_thread_has_an_id(lc: World, invoke: Invoke) -> None:
    text = (
        "Checkpointer requires one or more of the following 'configurable' keys: "
        "thread_id, checkpoint_ns, checkpoint_id"
    )
    with raised(ValueError, text):
        invoke(chain(lc, State, says("a"), checkpointer=lc.InMemorySaver()), {"log": []})


def test_a_failed_step_can_be_tried_again(lc: World, invoke: Invoke) -> None:
    broken, ran = [True], []

    def sometimes(state: Any) -> Any:
        if broken.pop():
            raise RuntimeError("bank is closed")
        return {"log": ["b"]}

    builder = lc.StateGraph(State)
    builder.add_node("a", says("a")).add_node("b", sometimes).add_node("c", ran.append)
    builder.add_edge(lc.START, "a").add_edge("a", "b").add_edge("b", "c")
    graph = builder.compile(checkpointer=lc.InMemorySaver())
    with raised(RuntimeError, "bank is closed"):
        invoke(graph, {"log": ["in"]}, THREAD)
    assert (graph.get_state(THREAD).values, ran) == ({"log": ["in", "a"]}, [])
    broken.append(False)
    assert invoke(graph, None, THREAD) == {"log": ["in", "a", "b"]}


def asks(lc: World, *questions: str) -> Callable[[Any], Any]:
    """A node that asks, and writes the answers into the log."""
    return lambda state: {"log": [lc.interrupt(question) for question in questions]}


def questions(result: dict[str, Any]) -> list[Any]:
    return sorted(interrupt.value for interrupt in result["__interrupt__"])


def test_a_node_asks_and_goes_on_with_the_answer(lc: World, invoke: Invoke) -> None:
    graph = chain(lc, State, says("a"), asks(lc, "sure?"), checkpointer=lc.InMemorySaver())
    result = invoke(graph, {"log": ["in"]}, THREAD)
    assert (result["log"], questions(result)) == (["in", "a"], ["sure?"])
    assert len(result["__interrupt__"][0].id) == 32
    assert invoke(graph, None, THREAD) == result
    assert invoke(graph, lc.Command(resume="yes"), THREAD) == {"log": ["in", "a", "yes"]}
    assert invoke(graph, lc.Command(resume="again"), THREAD) == {"log": ["in", "a", "yes"]}


def test_the_answers_of_one_node_come_in_the_order_of_its_questions(
    lc: World, invoke: Invoke
) -> None:
    graph = chain(lc, State, asks(lc, "one", "two", "three"), checkpointer=lc.InMemorySaver())
    result = invoke(graph, {"log": []}, THREAD)
    for question, answer in [("one", 1), ("two", {"n": 2})]:
        assert questions(result) == [question]
        result = invoke(graph, lc.Command(resume=answer), THREAD)
    assert questions(result) == ["three"]
    assert invoke(graph, lc.Command(resume=0), THREAD) == {"log": [1, {"n": 2}, 0]}


def test_questions_of_one_step_are_answered_by_id(lc: World, invoke: Invoke) -> None:
    ran: list[str] = []
    nodes = {"a": asks(lc, "A"), "b": asks(lc, "B"), "c": lambda s: ran.append("c") or says("c")(s)}
    graph = beside(lc, nodes, checkpointer=lc.InMemorySaver())
    result = invoke(graph, {"log": []}, THREAD)
    assert (result["log"], questions(result)) == (["c"], ["A", "B"])
    ids = {interrupt.value: interrupt.id for interrupt in result["__interrupt__"]}
    with pytest.raises(RuntimeError, match="^When there are multiple pending interrupts, you must"):
        invoke(graph, lc.Command(resume="which?"), THREAD)
    assert questions(invoke(graph, lc.Command(resume={}), THREAD)) == ["A", "B"]
    result = invoke(graph, lc.Command(resume={ids["B"]: "for B"}), THREAD)
    assert (result["log"], questions(result)) == (["for B", "c"], ["A"])
    assert result["__interrupt__"][0].id == ids["A"]
    assert invoke(graph, lc.Command(resume={ids["A"]: "for A"}), THREAD)["log"] == [
        "for A",
        "for B",
        "c",
    ]
    assert ran == ["c"]


def test_sends_may_ask_as_well(lc: World, invoke: Invoke) -> None:
    builder = lc.StateGraph(State).add_node("a", says("a"))
    builder.add_node("b", lambda number: {"log": [lc.interrupt(number)]}).add_edge(lc.START, "a")
    builder.add_conditional_edges("a", lambda state: [lc.Send("b", n) for n in (1, 2)])
    graph = builder.compile(checkpointer=lc.InMemorySaver())
    result = invoke(graph, {"log": []}, THREAD)
    assert questions(result) == [1, 2]
    answers = {interrupt.id: interrupt.value * 10 for interrupt in result["__interrupt__"]}
    assert invoke(graph, lc.Command(resume=answers), THREAD) == {"log": ["a", 10, 20]}


def test_a_path_may_ask(lc: World, invoke: Invoke) -> None:
    builder = lc.StateGraph(State).add_node("a", says("a")).add_node("b", says("b"))
    builder.add_edge(lc.START, "a").add_conditional_edges("a", lambda s: lc.interrupt("where?"))
    graph = builder.compile(checkpointer=lc.InMemorySaver())
    assert questions(invoke(graph, {"log": []}, THREAD)) == ["where?"]
    assert invoke(graph, lc.Command(resume="b"), THREAD) == {"log": ["a", "b"]}


@pytest.mark.parametrize("direct", [True, False])
def test_a_graph_inside_a_node_asks_through_the_graph_around_it(
    lc: World, invoke: Invoke, direct: bool
) -> None:
    inner = chain(lc, State, asks(lc, "sure?"))
    node = inner if direct else lambda state: inner.invoke({"log": []})
    graph = chain(lc, State, node, says("b"), checkpointer=lc.InMemorySaver())
    assert questions(invoke(graph, {"log": []}, THREAD)) == ["sure?"]
    assert invoke(graph, lc.Command(resume="yes"), THREAD) == {"log": ["yes", "b"]}


def test_a_node_may_run_a_graph_that_asks_twice(lc: World, invoke: Invoke) -> None:
    inner = chain(lc, State, asks(lc, "sure?"))
    twice = lambda s: {"log": [inner.invoke({"log": [x]})["log"][1] for x in "xy"]}  # noqa: E731
    graph = chain(lc, State, twice, checkpointer=lc.InMemorySaver())
    assert questions(invoke(graph, {"log": []}, THREAD)) == ["sure?"]
    assert questions(invoke(graph, lc.Command(resume="yes"), THREAD)) == ["sure?"]
    assert invoke(graph, lc.Command(resume="no"), THREAD) == {"log": ["yes", "no"]}


def test_a_stream_ends_with_the_question(lc: World) -> None:
    graph = chain(lc, State, says("a"), asks(lc, "sure?"), checkpointer=lc.InMemorySaver())
    *chunks, last = graph.stream({"log": []}, THREAD)
    assert chunks == [{"a": {"log": ["a"]}}]
    assert [interrupt.value for interrupt in last["__interrupt__"]] == ["sure?"]
    assert list(graph.stream(lc.Command(resume="yes"), THREAD)) == [{"b": {"log": ["yes"]}}]


def test_there_is_no_answer_without_a_thread(lc: World, invoke: Invoke) -> None:
    with raised(RuntimeError, "Cannot use Command(resume=...) without checkpointer"):
        invoke(chain(lc, State, says("a")), lc.Command(resume="yes"))


# Building


def refused(lc: World, text: str, build: Callable[[Any], Any]) -> None:
    with raised(ValueError, text):
        build(lc.StateGraph(State).add_node("a", says("a"))).compile()


def test_names_of_nodes_are_checked(lc: World) -> None:
    node = says("x")
    refused(lc, "Node `a` already present.", lambda b: b.add_node("a", node))
    refused(lc, "Node `__start__` is reserved.", lambda b: b.add_node(lc.START, node))
    refused(lc, "Node `__end__` is reserved.", lambda b: b.add_node(lc.END, node))


def test_a_node_has_the_name_of_its_action(lc: World) -> None:
    class Robot:
        def __call__(self, state: Any) -> None: ...

    def plain(state: Any) -> None: ...

    builder = lc.StateGraph(State).add_node(plain).add_node(Robot()).add_node(lambda state: None)
    builder.add_node(chain(lc, State, plain, name="inner"))
    assert list(builder.nodes) == ["plain", "Robot", "<lambda>", "inner"]


def here(state: Any) -> str:
    return "a"


def test_edges_are_checked_when_the_graph_is_compiled(lc: World) -> None:
    def entered(builder: Any) -> Any:
        return builder.add_edge(lc.START, "a")

    text = "Graph must have an entrypoint: add at least one edge from START to another node"
    refused(lc, text, lambda b: b)
    text = "Found edge starting at unknown node 'z'"
    refused(lc, text, lambda b: entered(b).add_edge("z", "a"))
    refused(lc, text, lambda b: entered(b).add_conditional_edges("z", lambda state: "a"))
    refused(lc, "Found edge ending at unknown node `z`", lambda b: entered(b).add_edge("a", "z"))

    text = "At 'a' node, 'here' branch found unknown target 'y'"  # of several the first
    ends = ["a", "y", "z", "x", "w"]
    refused(lc, text, lambda b: entered(b).add_conditional_edges("a", here, ends))

    def command(state: Any) -> lc.Command[Literal["z"]]: ...  # type: ignore[name-defined]

    text = "Found edge ending at unknown node `z`"
    refused(lc, text, lambda b: entered(b).add_node("c", command))


def drawn(builder: Any) -> list[tuple[Any, ...]]:
    return [tuple(edge) for edge in builder.compile().get_graph().edges]


def test_a_graph_can_be_drawn(lc: World) -> None:
    builder = lc.StateGraph(State)
    for name in ("a", "b", "c", "d"):
        builder.add_node(name, says(name))
    builder.add_edge(lc.START, "a").add_edge(["b", "c"], "d")
    builder.add_conditional_edges("a", lambda state: 1, {1: "b", "c": "c", "no": lc.END})
    builder.add_conditional_edges("d", lambda state: "a", ["a"])
    assert drawn(builder) == [
        ("__start__", "a", None, False),
        ("a", "__end__", "no", True),
        ("a", "b", "1", True),
        ("a", "c", None, True),
        ("b", "d", None, False),
        ("c", "d", None, False),
        ("d", "a", None, True),
    ]
    nodes = builder.compile().get_graph().nodes
    assert list(nodes) == ["__start__", "a", "b", "c", "d", "__end__"]


def test_a_bare_path_is_not_drawn_and_a_command_is_by_its_annotation(lc: World) -> None:
    def command(state: Any) -> lc.Command[Literal["b", "__end__"]]: ...  # type: ignore

    builder = lc.StateGraph(State).add_node("a", command).add_node("b", says("b"))
    builder.add_edge(lc.START, "a").add_conditional_edges("b", lambda state: "a")
    assert drawn(builder) == [
        ("__start__", "a", None, False),
        ("a", "__end__", None, True),
        ("a", "b", None, True),
        ("b", "__end__", None, False),
    ]


# What is registered


def test_divergence_input_is_copied() -> None:
    def given(lc: World) -> Any:
        message = lc.HumanMessage("hi")
        chain(lc, lc.MessagesState, lambda state: None).invoke({"messages": [message]})
        return message.id

    assert given(MINILC) is None
    assert given(LANGCHAIN) is not None


def test_divergence_updates_come_together() -> None:
    # The row "updates-come-together".
    def first(lc: World) -> list[str]:
        go = threading.Event()
        nodes = {"a": lambda s: {"log": [str(go.wait(0.5))]}, "b": lambda s: None}
        chunk = next(beside(lc, nodes).stream({"log": []}))
        go.set()
        return list(chunk)

    assert first(LANGCHAIN) == ["b"]
    assert first(MINILC) == ["a"]


def test_divergence_cached_updates() -> None:
    # The row "cached-updates".
    def second(lc: World) -> list[Any]:
        graph = beside(lc, {"a": asks(lc, "A"), "b": says("b")}, checkpointer=lc.InMemorySaver())
        graph.invoke({"log": []}, THREAD)
        return list(graph.stream(lc.Command(resume="for A"), THREAD))

    upstream = [{"b": {"log": ["b"]}, "__metadata__": {"cached": True}}, {"a": {"log": ["for A"]}}]
    assert second(LANGCHAIN) == upstream
    assert second(MINILC) == [{"a": {"log": ["for A"]}}, {"b": {"log": ["b"]}}]


def test_divergence_invoke_stream_mode() -> None:
    # The row "invoke-stream-mode".
    graph = chain(LANGCHAIN, State, says("a"))
    assert graph.invoke({"log": []}, stream_mode="updates") == [{"a": {"log": ["a"]}}]
    with pytest.raises(TypeError, match="unexpected keyword argument 'stream_mode'"):
        chain(MINILC, State, says("a")).invoke({"log": []}, stream_mode="updates")


def test_divergence_add_messages_format() -> None:
    # The row "add-messages-format".
    assert LANGCHAIN.add_messages([], ["a"], format="langchain-openai")[0].content == "a"
    with pytest.raises(TypeError, match="unexpected keyword argument 'format'"):
        MINILC.add_messages([], ["a"], format="langchain-openai")


def test_divergence_state_without_keys() -> None:
    # The row "state-without-keys".
    assert chain(LANGCHAIN, str, lambda state: state + "!").invoke("a") == "a!"
    with raised(
        TypeError, "a state is a TypedDict, dataclass or pydantic model (got <class 'str'>)"
    ):
        MINILC.StateGraph(str)


def test_divergence_nothing_written(invoke: Invoke) -> None:
    # The row "nothing-written".
    assert invoke(chain(LANGCHAIN, State, lambda state: None), {}) is None
    assert invoke(chain(MINILC, State, lambda state: None), {}) == {"log": []}


def test_divergence_nested_graphs_start_anew(invoke: Invoke) -> None:
    # The row "nested-graphs-start-anew".
    def ran(lc: World) -> list[str]:
        names: list[str] = []
        inner = chain(lc, State, lambda state: names.append("inner"), asks(lc, "sure?"))
        graph = chain(lc, State, inner, checkpointer=lc.InMemorySaver())
        invoke(graph, {"log": []}, THREAD)
        assert invoke(graph, lc.Command(resume="yes"), THREAD) == {"log": ["yes"]}
        return names

    assert ran(LANGCHAIN) == ["inner"]
    assert ran(MINILC) == ["inner", "inner"]


def test_divergence_answers_come_alone(invoke: Invoke) -> None:
    # The row "answers-come-alone".
    def answered(lc: World) -> Any:
        graph = chain(lc, State, asks(lc, "sure?"), checkpointer=lc.InMemorySaver())
        invoke(graph, {"log": []}, THREAD)
        return invoke(graph, lc.Command(resume="yes", update={"log": ["note"]}), THREAD)

    assert answered(LANGCHAIN) == {"log": ["note", "yes"]}
    text = "an answer comes without update and goto (got Command(update={'log': ['note']}, "
    with raised(ValueError, f"{text}resume='yes'))"):
        answered(MINILC)
