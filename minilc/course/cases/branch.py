"""Layer 8, branch: an answer becomes destinations."""

import operator
from typing import Annotated, Any, Literal

from typing_extensions import TypedDict

from minilc.course.cases import case
from minilc.course.worlds import World

LAYER = "branch"


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]
    n: int


def says(name: str) -> Any:
    """A node that writes its name into the log."""

    def node(state: Any) -> dict[str, list[str]]:
        return {"log": [name]}

    return node


def fork(lc: World, path: Any, path_map: Any = None, **nodes: Any) -> Any:
    """A compiled graph: START -> a, then `path` chooses among b and c (and END)."""
    builder = lc.StateGraph(State)
    for name in ("a", "b", "c"):
        builder.add_node(name, nodes.get(name, says(name)))
    builder.add_edge(lc.START, "a")
    builder.add_conditional_edges("a", path, path_map)
    return builder.compile()


def run(lc: World, path: Any, path_map: Any = None, **nodes: Any) -> Any:
    """What the log says at the end of such a graph."""
    return fork(lc, path, path_map, **nodes).invoke({"log": []})["log"]


def drawn(graph: Any) -> Any:
    """The edges of a graph as plain data."""
    edges = graph.get_graph().edges
    return sorted((edge.source, edge.target, edge.conditional) for edge in edges)


# What a path may return


@case(LAYER, "a path names the next node")
def names_a_node(lc: World) -> Any:
    return run(lc, lambda state: "b")


@case(LAYER, "a path may end the run")
def names_the_end(lc: World) -> Any:
    return run(lc, lambda state: lc.END)


@case(LAYER, "a path may name several nodes, which run in one step")
def names_several(lc: World) -> Any:
    return run(lc, lambda state: ["c", "b"])


@case(LAYER, "a node that is named twice runs once")
def names_twice(lc: World) -> Any:
    return run(lc, lambda state: ["c", "b", "c"])


@case(LAYER, "a path that names no node in a list ends the run")
def names_none(lc: World) -> Any:
    return run(lc, lambda state: [])


@case(LAYER, "a map translates what the path returns, whatever type it has")
def mapped(lc: World) -> Any:
    to = {True: "b", False: lc.END, 3: "c"}
    return [run(lc, lambda state, value=value: value, to) for value in (True, False, 3)]


@case(LAYER, "a list as map lists the destinations")
def mapped_by_list(lc: World) -> Any:
    graph = fork(lc, lambda state: "c", ["b", "c"])
    return graph.invoke({"log": []}), drawn(graph)


@case(LAYER, "a Literal as return type is a map, too")
def mapped_by_literal(lc: World) -> Any:
    def path(state: State) -> Literal["b", "__end__"]:
        return "b"

    graph = fork(lc, path)
    return graph.invoke({"log": []}), drawn(graph)


@case(LAYER, "without a map a path is not drawn: its node seems to lead to the end")
def unmapped_drawn(lc: World) -> Any:
    return drawn(fork(lc, lambda state: "b"))


@case(LAYER, "a result that the map lacks is a KeyError")
def unmapped_key(lc: World) -> Any:
    return run(lc, lambda state: "tools", {"continue": "b", "end": "c"})


@case(LAYER, "a Literal that lies is a KeyError")
def lying_literal(lc: World) -> Any:
    def path(state: State) -> Literal["b"]:
        return "c"  # type: ignore[return-value]  # that is the lie

    return run(lc, path)


@case(LAYER, "a path that returns None is an error")
def returns_none(lc: World) -> Any:
    return run(lc, lambda state: None)


@case(LAYER, "a path to START is an error")
def returns_start(lc: World) -> Any:
    return run(lc, lambda state: lc.START)


@case(LAYER, "a node that does not exist", differs="unknown-destination")
def unknown_node(lc: World) -> Any:
    return run(lc, lambda state: "tols")


@case(LAYER, "a path that fails fails the run")
def path_raises(lc: World) -> Any:
    return run(lc, lambda state: state["messages"][-1])


# Where a path may stand


@case(LAYER, "a map to a node that does not exist is found when the graph is compiled")
def mapped_to_unknown(lc: World) -> Any:
    def choose(state: State) -> str:
        return "b"

    return fork(lc, choose, {"b": "b", "d": "nowhere"})


@case(LAYER, "a path from a node that does not exist is found when the graph is compiled")
def from_unknown(lc: World) -> Any:
    builder = lc.StateGraph(State)
    builder.add_node("a", says("a"))
    builder.add_edge(lc.START, "a")
    builder.add_conditional_edges("b", lambda state: "a")
    return builder.compile()


@case(LAYER, "two paths of one name from one node are an error", differs="graph-checks")
def same_name_twice(lc: World) -> Any:
    def choose(state: State) -> str:
        return "b"

    builder = lc.StateGraph(State)
    builder.add_node("a", says("a"))
    builder.add_conditional_edges("a", choose)
    return builder.add_conditional_edges("a", choose)


@case(LAYER, "two paths and an edge from one node all count")
def several_paths(lc: World) -> Any:
    builder = lc.StateGraph(State)
    for name in ("a", "b", "c", "d"):
        builder.add_node(name, says(name))
    builder.add_edge(lc.START, "a")
    builder.add_edge("a", "d")

    def first(state: State) -> str:
        return "b"

    def second(state: State) -> str:
        return "c"

    builder.add_conditional_edges("a", first)
    builder.add_conditional_edges("a", second)
    return builder.compile().invoke({"log": []})


@case(LAYER, "a path may stand at START")
def at_start(lc: World) -> Any:
    builder = lc.StateGraph(State)
    builder.add_node("a", says("a"))
    builder.add_node("b", says("b"))
    builder.add_conditional_edges(lc.START, lambda state: "b" if state["n"] > 1 else "a")
    graph = builder.compile()
    return graph.invoke({"n": 1}), graph.invoke({"n": 2})


@case(LAYER, "an async path is awaited")
async def async_path(lc: World) -> Any:
    async def choose(state: State) -> str:
        return "c"

    return (await fork(lc, choose).ainvoke({"log": []}))["log"]


@case(LAYER, "an async path cannot run without awaiting")
def async_path_invoked(lc: World) -> Any:
    async def choose(state: State) -> str:
        return "c"

    return run(lc, choose)


@case(LAYER, "a path sees what its node wrote, and not what the other node of the step wrote")
def sees_own_write(lc: World) -> Any:
    seen = {}

    def look(name: str) -> Any:
        def path(state: State) -> str:
            seen[name] = state["log"]
            return lc.END

        path.__name__ = f"look_{name}"
        return path

    builder = lc.StateGraph(State)
    for name in ("a", "b", "c"):
        builder.add_node(name, says(name))
    builder.add_edge(lc.START, "a")
    builder.add_edge("a", "b")
    builder.add_edge("a", "c")
    builder.add_conditional_edges("b", look("b"))
    builder.add_conditional_edges("c", look("c"))
    return builder.compile().invoke({"log": ["in"]}), seen


# Send


@case(LAYER, "Send runs a node with an input of its own")
def send(lc: World) -> Any:
    def b(state: Any) -> Any:
        return {"log": [f"b got {state}"]}

    return run(lc, lambda state: lc.Send("b", {"x": 1}), b=b)


@case(LAYER, "many Sends run in one step, and their writes keep their order")
def fan_out(lc: World) -> Any:
    def b(number: int) -> Any:
        return {"log": [f"b{number}"]}

    return run(lc, lambda state: [lc.Send("b", n) for n in range(5)], b=b)


@case(LAYER, "Sends and names may be mixed")
def mixed(lc: World) -> Any:
    def b(number: Any) -> Any:
        return {"log": [f"b {number}"]}

    return run(lc, lambda state: ["c", lc.Send("b", 7)], b=b)


@case(LAYER, "a Send passes by the map")
def send_unmapped(lc: World) -> Any:
    return run(lc, lambda state: lc.Send("c", {}), {"x": "b"})


@case(LAYER, "a Send to END is an error")
def send_to_end(lc: World) -> Any:
    return run(lc, lambda state: lc.Send(lc.END, {}))


@case(LAYER, "Sends are equal by node and argument, and say what they are")
def send_equality(lc: World) -> Any:
    one, two = lc.Send("tools", [1]), lc.Send("tools", [1])
    return one == two, one == lc.Send("tools", [2]), repr(one), one.node, one.arg


# Command


@case(LAYER, "a Command writes and goes on in one")
def command(lc: World) -> Any:
    def a(state: State) -> Any:
        return lc.Command(update={"log": ["a"], "n": 1}, goto="c")

    builder = lc.StateGraph(State)
    builder.add_node("a", a)
    builder.add_node("c", says("c"))
    builder.add_edge(lc.START, "a")
    return builder.compile().invoke({"log": []})


@case(LAYER, "the goto of a Command comes in addition to the edges")
def command_and_edges(lc: World) -> Any:
    def a(state: State) -> Any:
        return lc.Command(update={"log": ["a"]}, goto=["c", lc.Send("c", {})])

    return run(lc, lambda state: "b", a=a)


@case(LAYER, "a list of Commands is read one by one")
def commands(lc: World) -> Any:
    def a(state: State) -> Any:
        return [lc.Command(update={"log": ["a1"]}), lc.Command(update={"log": ["a2"]}, goto="c")]

    return run(lc, lambda state: lc.END, a=a)


@case(LAYER, "a Command may carry its update as pairs", differs="update-pairs")
def command_pairs(lc: World) -> Any:
    def a(state: State) -> Any:
        return lc.Command(update=[("log", ["a1"]), ("log", ["a2"]), ("n", 3)])

    return fork(lc, lambda state: lc.END, a=a).invoke({"log": []})


@case(LAYER, "a Command for the parent leaves the inner graph")
def parent(lc: World) -> Any:
    def inner(state: State) -> Any:
        return lc.Command(update={"log": ["inner"]}, goto="c", graph=lc.Command.PARENT)

    def never(state: State) -> Any:
        return {"log": ["never"]}

    builder = lc.StateGraph(State)
    builder.add_node("inner", inner)
    builder.add_node("never", never)
    builder.add_edge(lc.START, "inner")
    builder.add_edge("inner", "never")
    return run(lc, lambda state: lc.END, a=builder.compile())


@case(LAYER, "a Command for the parent where there is none is an error")
def parent_missing(lc: World) -> Any:
    def a(state: State) -> Any:
        return lc.Command(graph=lc.Command.PARENT, goto="c")

    return run(lc, lambda state: lc.END, a=a)


@case(LAYER, "Commands show what is set in them and are frozen")
def command_repr(lc: World) -> Any:
    made = lc.Command(update={"n": 1}, goto="c")
    return repr(made), repr(lc.Command()), made == lc.Command(update={"n": 1}, goto="c")


@case(LAYER, "a Command cannot be changed")
def command_frozen(lc: World) -> Any:
    lc.Command().goto = "b"


@case(LAYER, "a Command takes its fields by name only")
def command_positional(lc: World) -> Any:
    return lc.Command("b")


# interrupt


def asking(lc: World, questions: int = 1, **options: Any) -> Any:
    """A graph whose only node asks so many questions."""

    def ask(state: State) -> Any:
        return {"log": [lc.interrupt(f"question {n}?") for n in range(questions)]}

    builder = lc.StateGraph(State)
    builder.add_node("ask", ask)
    builder.add_edge(lc.START, "ask")
    return builder.compile(**options)


THREAD = {"configurable": {"thread_id": "1"}}


@case(LAYER, "interrupt stops the run and hands out the question")
def asks(lc: World) -> Any:
    result = asking(lc, checkpointer=lc.InMemorySaver()).invoke({"log": ["in"]}, THREAD)
    return [question.value for question in result.pop("__interrupt__")], result


@case(LAYER, "the answer is what interrupt returns")
def answered(lc: World) -> Any:
    graph = asking(lc, checkpointer=lc.InMemorySaver())
    graph.invoke({"log": ["in"]}, THREAD)
    return graph.invoke(lc.Command(resume="同意"), THREAD)


@case(LAYER, "two questions of one node need two answers, and the node starts over each time")
def two_questions(lc: World) -> Any:
    graph = asking(lc, 2, checkpointer=lc.InMemorySaver())
    steps: list[Any] = [{"log": []}, lc.Command(resume="one"), lc.Command(resume="two")]
    results = [graph.invoke(step, THREAD) for step in steps]
    return [
        [question.value for question in result.get("__interrupt__", ())] or result["log"]
        for result in results
    ]


def two_asking(lc: World) -> Any:
    """A graph of two nodes that ask in one step."""
    builder = lc.StateGraph(State)
    for name in ("a", "b"):

        def ask(state: State, name: str = name) -> Any:
            return {"log": [lc.interrupt(f"{name}?")]}

        builder.add_node(name, ask)
        builder.add_edge(lc.START, name)
    return builder.compile(checkpointer=lc.InMemorySaver())


@case(
    LAYER,
    "two questions of one step are not answered by one answer",
    behaviour="several-questions-link",
)
def two_askers(lc: World) -> Any:
    graph = two_asking(lc)
    graph.invoke({"log": []}, THREAD)
    return graph.invoke(lc.Command(resume="yes"), THREAD)


@case(LAYER, "they are answered by a dict of answers by the questions' ids")
def two_askers_answered(lc: World) -> Any:
    graph = two_asking(lc)
    questions = graph.invoke({"log": []}, THREAD)["__interrupt__"]
    answers = {question.id: f"answer to {question.value}" for question in questions}
    return graph.invoke(lc.Command(resume=answers), THREAD)


@case(LAYER, "without a checkpointer the run stops too, but nothing can be resumed")
def asks_unsaved(lc: World) -> Any:
    result = asking(lc).invoke({"log": []})
    return [question.value for question in result["__interrupt__"]]


@case(LAYER, "resuming without a checkpointer is an error")
def resumes_unsaved(lc: World) -> Any:
    return asking(lc).invoke(lc.Command(resume="yes"))


@case(LAYER, "interrupt outside of a graph is an error")
def asks_outside(lc: World) -> Any:
    return lc.interrupt("anyone?")


@case(LAYER, "a try around interrupt swallows the question")
def swallowed(lc: World) -> Any:
    def ask(state: State) -> Any:
        try:
            lc.interrupt("anyone?")
        except Exception as error:
            return {"log": [type(error).__name__]}

    return run(lc, lambda state: lc.END, a=ask)


# Runtime


@case(LAYER, "a node may ask for the runtime, with the context of the run")
def runtime(lc: World) -> Any:
    def a(state: State, runtime: Any) -> Any:
        return {"log": [f"for {runtime.context['user']}"]}

    builder = lc.StateGraph(State, context_schema=dict)
    builder.add_node("a", a)
    builder.add_edge(lc.START, "a")
    return builder.compile().invoke({"log": []}, context={"user": "小明"})


@case(LAYER, "what a node writes to the custom stream", differs="custom-stream")
def custom_stream(lc: World) -> Any:
    def a(state: State, runtime: Any) -> Any:
        runtime.stream_writer({"progress": "半"})
        return {"n": 1}

    graph = fork(lc, lambda state: lc.END, a=a)
    return list(graph.stream({"log": []}, stream_mode=["custom", "updates"]))
