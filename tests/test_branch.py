"""Layer 8: where an answer sends the run, and the types that say so."""

import asyncio
import operator
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal

import pytest
from typing_extensions import TypedDict

from minilc.course.worlds import LANGCHAIN, MINILC, World

Invoke = Callable[..., Any]


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


def forked(lc: World, path: Any, path_map: Any = None, **nodes: Any) -> Any:
    """START -> a, then `path` chooses among b, c and END."""
    builder = lc.StateGraph(State)
    for name in ("a", "b", "c"):
        builder.add_node(name, nodes.get(name, says(name)))
    builder.add_edge(lc.START, "a")
    return builder.add_conditional_edges("a", path, path_map).compile()


# The types


def test_a_send_is_equal_by_node_and_argument(lc: World) -> None:
    assert lc.Send("a", 1) == lc.Send("a", 1) != lc.Send("a", 2)
    assert hash(lc.Send("a", 1)) == hash(lc.Send("a", 1))
    assert repr(lc.Send("a", {"x": 1})) == "Send(node='a', arg={'x': 1})"


def test_a_command_shows_what_is_set(lc: World) -> None:
    assert repr(lc.Command()) == "Command()"
    command = lc.Command(update={"n": 1}, goto=["x", lc.Send("y", 1)])
    assert repr(command) == "Command(update={'n': 1}, goto=['x', Send(node='y', arg=1)])"
    parent = lc.Command(graph=lc.Command.PARENT, goto="x")
    assert repr(parent) == "Command(graph='__parent__', goto='x')"
    assert lc.Command(update={"n": 1}) == lc.Command(update={"n": 1})


def test_a_command_takes_only_names_and_cannot_be_changed(lc: World) -> None:
    with raised(TypeError, "Command.__init__() takes 1 positional argument but 2 were given"):
        lc.Command("x")
    with raised(AttributeError, "cannot assign to field 'goto'"):
        lc.Command().goto = "x"


def test_a_command_may_be_subscripted_in_annotations(lc: World) -> None:
    assert lc.Command[Literal["a"]].__origin__ is lc.Command


def test_an_interrupt_is_a_signal_and_no_error_of_a_tool(lc: World) -> None:
    assert issubclass(lc.GraphInterrupt, lc.GraphBubbleUp)
    assert issubclass(lc.ParentCommand, lc.GraphBubbleUp)
    assert issubclass(lc.GraphRecursionError, RecursionError)
    assert not issubclass(lc.InvalidUpdateError, lc.GraphBubbleUp)


def test_nobody_can_be_asked_outside_of_a_graph(lc: World) -> None:
    with raised(RuntimeError, "Called get_config outside of a runnable context"):
        lc.interrupt("sure?")


# What a path may return


@pytest.mark.parametrize(
    ("returned", "log"),
    [
        ("b", ["a", "b"]),
        (["c", "b"], ["a", "b", "c"]),
        (("b", "b"), ["a", "b"]),
        ([], ["a"]),
        ("__end__", ["a"]),
        (["__end__", "b"], ["a", "b"]),
    ],
)
def test_a_path_names_one_node_several_or_none(
    lc: World, invoke: Invoke, returned: Any, log: list[str]
) -> None:
    assert invoke(forked(lc, lambda state: returned), {"log": []}) == {"log": log}


@pytest.mark.parametrize("nowhere", [None, "__start__"])
def test_a_path_to_no_node_is_an_error(lc: World, invoke: Invoke, nowhere: Any) -> None:
    with raised(ValueError, "Branch did not return a valid destination"):
        invoke(forked(lc, lambda state: nowhere), {"log": []})


def test_a_map_translates_what_the_path_returns(lc: World, invoke: Invoke) -> None:
    path_map = {True: "b", 3: "c", "stop": lc.END}
    for returned, log in [(True, ["a", "b"]), (3, ["a", "c"]), ("stop", ["a"]), ([3, True], "abc")]:
        graph = forked(lc, lambda state, returned=returned: returned, path_map)
        assert invoke(graph, {"log": []}) == {"log": list(log)}


def test_what_a_map_lacks_is_a_key_error(lc: World, invoke: Invoke) -> None:
    with raised(KeyError, "'c'"):
        invoke(forked(lc, lambda state: "c", ["b"]), {"log": []})


def test_a_send_passes_a_map_by(lc: World, invoke: Invoke) -> None:
    graph = forked(lc, lambda state: lc.Send("c", {}), ["b"])
    assert invoke(graph, {"log": []}) == {"log": ["a", "c"]}


def test_a_literal_that_a_path_returns_is_its_map(lc: World) -> None:
    def path(state: State) -> Literal["b"]:
        return "c"  # type: ignore[return-value]  # that is the point

    with raised(KeyError, "'c'"):
        forked(lc, path).invoke({"log": []})


def test_a_path_may_be_an_object_that_can_be_called(lc: World, invoke: Invoke) -> None:
    class Callable_:
        def __call__(self, state: Any) -> str:
            return "c"

    assert invoke(forked(lc, Callable_()), {"log": []}) == {"log": ["a", "c"]}


def test_an_async_path_is_awaited_and_nothing_else(lc: World) -> None:
    async def path(state: State) -> str:
        return "b"

    assert asyncio.run(forked(lc, path).ainvoke({"log": []})) == {"log": ["a", "b"]}
    text = (
        'No synchronous function provided to "path".\nEither initialize with a synchronous '
        "function or invoke via the async API (ainvoke, astream, etc.)"
    )
    with raised(TypeError, text):
        forked(lc, path).invoke({"log": []})


# What a path sees


def test_a_path_sees_its_nodes_write_and_not_the_siblings(lc: World, invoke: Invoke) -> None:
    seen = []
    builder = lc.StateGraph(State)
    for name in ("a", "b"):
        builder.add_node(name, says(name)).add_edge(lc.START, name)
    builder.add_conditional_edges("a", lambda state: seen.append(state) or lc.END)
    assert invoke(builder.compile(), {"log": ["in"]}) == {"log": ["in", "a", "b"]}
    assert seen == [{"log": ["in", "a"]}]


# Send and Command


def test_sends_run_in_one_step_and_keep_their_order(lc: World, invoke: Invoke) -> None:
    paths = lambda state: [lc.Send("c", 2), lc.Send("b", 1), lc.Send("c", 3)]  # noqa: E731
    echo = lambda state: {"log": [str(state)]}  # noqa: E731
    graph = forked(lc, paths, b=echo, c=echo)
    assert invoke(graph, {"log": []}) == {"log": ["a", "2", "1", "3"]}


def test_nodes_count_by_name_and_then_sends_in_their_order(lc: World, invoke: Invoke) -> None:
    builder = lc.StateGraph(State)
    for name in ("p", "c", "b", "a"):
        builder.add_node(name, says(name))
    builder.add_edge(lc.START, "p").add_edge("p", "c").add_edge("p", "b")
    builder.add_conditional_edges("p", lambda s: [lc.Send("a", {}), lc.Send("c", {})])
    assert invoke(builder.compile(), {"log": []}) == {"log": ["p", "b", "c", "a", "c"]}


def test_a_send_may_carry_none(lc: World, invoke: Invoke) -> None:
    graph = forked(lc, lambda s: lc.Send("b", None), b=lambda state: {"log": [repr(state)]})
    assert invoke(graph, {"log": ["in"]}) == {"log": ["in", "a", "None"]}


def test_many_sends_run_at_the_same_time(lc: World, invoke: Invoke) -> None:
    barrier = threading.Barrier(4, timeout=10)
    graph = forked(lc, lambda s: [lc.Send("b", n) for n in range(4)], b=lambda s: barrier.wait())
    with pytest.raises(lc.InvalidUpdateError, match="^Expected dict, got "):
        invoke(graph, {"log": []})  # all four came to the barrier, and wrote a number each


def test_a_send_to_the_end_is_an_error(lc: World, invoke: Invoke) -> None:
    with raised(lc.InvalidUpdateError, "Cannot send a packet to the END node"):
        invoke(forked(lc, lambda state: lc.Send(lc.END, {})), {"log": []})


@pytest.mark.parametrize(
    "answer",
    [
        lambda lc: lc.Command(update={"log": ["x"]}, goto="b"),
        lambda lc: lc.Command(update={"log": ["x"]}, goto=["b"]),
        lambda lc: [lc.Command(goto="b"), {"log": ["x"]}],
        lambda lc: [lc.Command(update={"log": ["x"]}), lc.Command(goto=lc.Send("b", {}))],
    ],
)
def test_a_command_writes_and_goes_on(lc: World, invoke: Invoke, answer: Any) -> None:
    graph = forked(lc, lambda state: lc.END, a=lambda state: answer(lc))
    assert invoke(graph, {"log": []}) == {"log": ["x", "b"]}


def test_a_command_goes_where_it_says_and_where_the_edges_lead(lc: World, invoke: Invoke) -> None:
    graph = forked(lc, lambda state: "b", a=lambda state: lc.Command(goto="c"))
    assert invoke(graph, {"log": []}) == {"log": ["b", "c"]}


def test_a_node_may_answer_with_a_send(lc: World, invoke: Invoke) -> None:
    graph = forked(lc, lambda state: lc.END, a=lambda state: lc.Send("b", {}))
    assert invoke(graph, {"log": []}) == {"log": ["b"]}


def nested(lc: World, inner: Any) -> Any:
    """START -> inner, with a node z that only a command reaches."""
    builder = lc.StateGraph(State).add_node("inner", inner).add_node("z", says("z"))
    return builder.add_edge(lc.START, "inner").compile()


def leaves(lc: World) -> Any:
    """A graph whose node sends the graph around it to z."""
    command = lc.Command(graph=lc.Command.PARENT, update={"log": ["left"]}, goto="z")
    builder = lc.StateGraph(State).add_node("leave", lambda state: command)
    return builder.add_edge(lc.START, "leave").compile()


def test_a_command_for_the_parent_leaves_the_graph(lc: World, invoke: Invoke) -> None:
    assert invoke(nested(lc, leaves(lc)), {"log": ["in"]}) == {"log": ["in", "left", "z"]}


def test_a_command_for_the_parent_passes_through_the_function_that_runs_the_graph(
    lc: World, invoke: Invoke
) -> None:
    inner = leaves(lc)
    graph = nested(lc, lambda state: inner.invoke(state))
    assert invoke(graph, {"log": ["in"]}) == {"log": ["in", "left", "z"]}


def test_a_command_for_a_parent_that_is_not_there_comes_out(lc: World, invoke: Invoke) -> None:
    with pytest.raises(lc.ParentCommand) as error:
        invoke(leaves(lc), {"log": []})
    assert error.value.args[0].goto == "z"


# What is registered


@pytest.mark.parametrize(
    "somewhere",
    [
        lambda lc: "tols",
        lambda lc: lc.Send("tols", {}),
        lambda lc: lc.Command(goto="tols"),
        lambda lc: lc.Command(goto=[lc.Send("tols", 1)]),
    ],
)
def test_divergence_unknown_destination(invoke: Invoke, somewhere: Any) -> None:
    def build(lc: World) -> Any:
        target = somewhere(lc)
        if isinstance(target, lc.Command):
            return forked(lc, lambda state: lc.END, a=lambda state: target)
        return forked(lc, lambda state: target, a=lambda state: None)

    assert invoke(build(LANGCHAIN), {"log": ["in"]}) == {"log": ["in"]}
    text = "'tols' is not a node of the graph, go to one of ['a', 'b', 'c', '__end__']"
    with raised(ValueError, text):
        invoke(build(MINILC), {"log": ["in"]})


@pytest.mark.skipif(
    not hasattr(LANGCHAIN.Send("a", 1), "timeout"), reason="an older upstream has none either"
)
def test_divergence_send_timeout() -> None:
    # The row "send-timeout".
    assert LANGCHAIN.Send("a", 1, timeout=5).timeout.run_timeout == 5
    with pytest.raises(TypeError, match="unexpected keyword argument 'timeout'"):
        MINILC.Send("a", 1, timeout=5)


@pytest.mark.skipif(
    not hasattr(LANGCHAIN.Interrupt("q"), "response_schema"),
    reason="an older upstream has none either",
)
def test_divergence_response_schema() -> None:
    # The row "response-schema".
    assert LANGCHAIN.Interrupt("q", response_schema={"type": "string"}).response_schema
    with pytest.raises(TypeError, match="unexpected keyword argument 'response_schema'"):
        MINILC.Interrupt("q", response_schema={"type": "string"})


def test_divergence_commands_update_is_checked(invoke: Invoke) -> None:
    # The row "commands-update-is-checked".
    def build(lc: World) -> Any:
        return forked(lc, lambda state: lc.END, a=lambda state: lc.Command(update=5))

    assert invoke(build(LANGCHAIN), {"log": ["in"]}) == {"log": ["in"]}
    with pytest.raises(MINILC.InvalidUpdateError, match="^Expected dict, got 5\n"):
        invoke(build(MINILC), {"log": ["in"]})
