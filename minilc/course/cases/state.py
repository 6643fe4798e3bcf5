"""Layer 9, state: a graph of nodes that share a state, and the loop that runs it."""

import operator
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import BaseModel, field_validator
from typing_extensions import TypedDict

from minilc.course.cases import case
from minilc.course.cases.support import asks, call, sent, user
from minilc.course.worlds import World

LAYER = "state"

THREAD = {"configurable": {"thread_id": "1"}}


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]
    n: int


def says(name: str) -> Any:
    """A node that writes its name into the log."""

    def node(state: Any) -> dict[str, list[str]]:
        return {"log": [name]}

    return node


def chain(lc: World, schema: Any, *nodes: Any, **options: Any) -> Any:
    """A compiled graph of nodes one after the other, named a, b, c, ..."""
    builder = lc.StateGraph(schema)
    previous = lc.START
    for name, node in zip("abcdefgh", nodes, strict=False):
        builder.add_node(name, node)
        builder.add_edge(previous, name)
        previous = name
    return builder.compile(**options)


def looping(lc: World, rounds: int) -> Any:
    """A graph whose two nodes take turns until the log has so many rounds."""
    builder = lc.StateGraph(State)
    builder.add_node("model", says("model"))
    builder.add_node("tools", says("tools"))
    builder.add_edge(lc.START, "model")
    builder.add_conditional_edges(
        "model",
        lambda state: "tools" if len(state["log"]) < 2 * rounds else lc.END,
        ["tools", lc.END],
    )
    builder.add_edge("tools", "model")
    return builder.compile()


# add_messages


@case(LAYER, "add_messages appends what is new and replaces what has a known id")
def add(lc: World) -> Any:
    left = [lc.HumanMessage("a", id="1"), lc.AIMessage("b", id="2")]
    right = [lc.AIMessage("B", id="2"), lc.HumanMessage("c", id="3")]
    return lc.add_messages(left, right), left


@case(LAYER, "add_messages gives every message an id")
def add_ids(lc: World) -> Any:
    merged = lc.add_messages([lc.HumanMessage("a")], ["b", ("ai", "c")])
    return merged, len({message.id for message in merged})


@case(LAYER, "add_messages takes one message, and dicts")
def add_one(lc: World) -> Any:
    one = lc.add_messages({"role": "user", "content": "你好", "id": "1"}, lc.AIMessage("b", id="2"))
    return one


@case(LAYER, "a RemoveMessage takes its message out")
def remove(lc: World) -> Any:
    left = [lc.HumanMessage("a", id="1"), lc.AIMessage("b", id="2")]
    return lc.add_messages(left, [lc.RemoveMessage(id="1"), lc.HumanMessage("c", id="3")])


@case(LAYER, "removing an id that is not there is an error")
def remove_unknown(lc: World) -> Any:
    return lc.add_messages([lc.HumanMessage("a", id="1")], [lc.RemoveMessage(id="9")])


@case(LAYER, "a message that comes after its removal stands where it was")
def remove_and_add(lc: World) -> Any:
    left = [lc.HumanMessage("a", id="1"), lc.AIMessage("b", id="2")]
    return lc.add_messages(left, [lc.RemoveMessage(id="1"), lc.HumanMessage("A", id="1")])


@case(LAYER, "REMOVE_ALL_MESSAGES keeps what comes after it")
def remove_all(lc: World) -> Any:
    left = [lc.HumanMessage("a", id="1")]
    clear = lc.RemoveMessage(id=lc.REMOVE_ALL_MESSAGES)
    return lc.add_messages(left, [lc.AIMessage("lost", id="2"), clear, lc.AIMessage("b", id="3")])


@case(LAYER, "add_messages wants both sides", differs="graph-checks")
def add_without_right(lc: World) -> Any:
    return lc.add_messages([lc.HumanMessage("a")], None)


@case(LAYER, "add_messages refuses what is no message")
def add_number(lc: World) -> Any:
    return lc.add_messages([], [42])


@case(LAYER, "two new messages of one id: the later wins")
def add_same_id_twice(lc: World) -> Any:
    return lc.add_messages([], [lc.AIMessage("a", id="1"), lc.AIMessage("b", id="1")])


# Keys and reducers


@case(LAYER, "a key without a reducer keeps the last value, one with a reducer all of them")
def keys(lc: World) -> Any:
    return chain(
        lc, State, lambda state: {"n": 1, "log": ["a"]}, lambda state: {"n": 2, "log": ["b"]}
    ).invoke({"n": 0, "log": ["in"]})


@case(LAYER, "a key that the state lacks is dropped")
def unknown_key(lc: World) -> Any:
    return chain(lc, State, lambda state: {"n": 1, "mood": "good"}).invoke({"log": [], "age": 3})


@case(LAYER, "a node that returns None writes nothing")
def returns_none(lc: World) -> Any:
    return chain(lc, State, lambda state: None).invoke({"n": 5})


@case(LAYER, "a node that returns no dict is an error")
def returns_number(lc: World) -> Any:
    return chain(lc, State, lambda state: 5).invoke({"n": 0})


@case(LAYER, "a node that returns a list of messages instead of a dict is an error")
def returns_list(lc: World) -> Any:
    return chain(lc, lc.MessagesState, lambda state: [("ai", "hi")]).invoke({"messages": ["a"]})


@case(LAYER, "two nodes that write a plain key in one step are an error")
def two_writers(lc: World) -> Any:
    builder = lc.StateGraph(State)
    for number, name in enumerate("ab"):
        builder.add_node(name, lambda state, number=number: {"n": number})
        builder.add_edge(lc.START, name)
    return builder.compile().invoke({"n": 9})


@case(LAYER, "two nodes that write a key with a reducer are merged by the nodes' names")
def two_appenders(lc: World) -> Any:
    builder = lc.StateGraph(State)
    for name in ("z", "m", "a"):
        builder.add_node(name, says(name))
        builder.add_edge(lc.START, name)
    return builder.compile().invoke({"log": ["in"]})


@case(LAYER, "a reducer that fails fails the run")
def reducer_raises(lc: World) -> Any:
    return chain(lc, State, lambda state: {"log": "text"}).invoke({"log": ["in"]})


@case(LAYER, "a reducer of one argument is refused", differs="graph-checks")
def reducer_of_one(lc: World) -> Any:
    class Counted(TypedDict):
        n: Annotated[int, lambda value: value]

    return lc.StateGraph(Counted)


@case(LAYER, "a reducer starts from the empty value of its type")
def reducer_start(lc: World) -> Any:
    class Started(TypedDict):
        texts: Annotated[list, operator.add]
        total: Annotated[int, operator.add]
        seen: Annotated[dict, operator.or_]

    return chain(lc, Started, lambda state: state).invoke({"total": 3, "seen": {"a": 1}})


@case(LAYER, "a key that nobody has written is absent from the state")
def absent_key(lc: World) -> Any:
    return chain(lc, State, lambda state: {"log": [f"keys {sorted(state)}"]}).invoke({"log": []})


@case(LAYER, "reading a key that nobody has written is a KeyError of the node")
def absent_key_read(lc: World) -> Any:
    return chain(lc, State, lambda state: {"n": state["n"] + 1}).invoke({"log": []})


# Kinds of state


@case(LAYER, "MessagesState is a conversation: dicts come in, messages go through")
def messages_state(lc: World) -> Any:
    def answer(state: Any) -> Any:
        return {"messages": lc.AIMessage(f"{len(state['messages'])} so far", id="2")}

    graph = chain(lc, lc.MessagesState, answer)
    return graph.invoke({"messages": [{"role": "user", "content": "hi", "id": "1"}]})


@case(LAYER, "a dataclass is a state: nodes get objects and return dicts")
def dataclass_state(lc: World) -> Any:
    @dataclass
    class Run:
        n: int = 1
        log: Annotated[list[str], operator.add] = field(default_factory=list)

    def node(state: Any) -> Any:
        return {"n": state.n + 1, "log": [type(state).__name__]}

    return chain(lc, Run, node, node).invoke({"n": 5})


@case(LAYER, "a pydantic model is a state: what comes in is checked")
def pydantic_state(lc: World) -> Any:
    class Run(BaseModel):
        n: int = 1
        name: str = "x"

    def node(state: Any) -> Any:
        return {"n": state.n + 1, "name": type(state).__name__}

    return chain(lc, Run, node).invoke({"n": "5"})


@case(LAYER, "a pydantic state refuses a wrong input")
def pydantic_state_input(lc: World) -> Any:
    class Run(BaseModel):
        n: int

    return chain(lc, Run, lambda state: None).invoke({"n": "many"})


@case(LAYER, "a pydantic state refuses a wrong write when the next node reads it")
def pydantic_state_write(lc: World) -> Any:
    class Run(BaseModel):
        n: int

        @field_validator("n")
        @classmethod
        def positive(cls, value: int) -> int:
            if value < 0:
                raise ValueError("below zero")
            return value

    return chain(lc, Run, lambda state: {"n": -1}, lambda state: None).invoke({"n": 1})


@case(LAYER, "a node may return an object of the state's class")
def returns_state(lc: World) -> Any:
    @dataclass
    class Run:
        n: int = 0
        name: str | None = None

    return chain(lc, Run, lambda state: Run(n=state.n + 1)).invoke({"n": 1, "name": "kept"})


@case(LAYER, "input and output may have schemas of their own", differs="schemas-of-nodes")
def own_schemas(lc: World) -> Any:
    class Question(TypedDict):
        question: str

    class Answer(TypedDict):
        answer: str

    class Whole(Question, Answer):
        secret: str

    builder = lc.StateGraph(Whole, input_schema=Question, output_schema=Answer)
    builder.add_node("a", lambda state: {"answer": state["question"] + "!", "secret": "s"})
    builder.add_edge(lc.START, "a")
    return builder.compile().invoke({"question": "北京", "secret": "given"})


@case(LAYER, "a node that annotates its input sees only those keys", differs="schemas-of-nodes")
def node_schema(lc: World) -> Any:
    class Part(TypedDict):
        n: int

    def node(state: Part) -> Any:
        return {"log": [f"{sorted(state)}"]}

    return chain(lc, State, node).invoke({"n": 1, "log": ["in"]})


# Steps


@case(LAYER, "nodes of one step see the same state")
def one_step(lc: World) -> Any:
    def looks(name: str) -> Any:
        return lambda state: {"log": [f"{name} saw {len(state['log'])}"]}

    builder = lc.StateGraph(State)
    for name in ("a", "b"):
        builder.add_node(name, looks(name))
        builder.add_edge(lc.START, name)
    builder.add_node("c", looks("c"))
    builder.add_edge("a", "c")
    builder.add_edge("b", "c")
    return builder.compile().invoke({"log": ["in"]})


@case(LAYER, "a node behind two paths of different length runs twice, one behind a join once")
def join(lc: World) -> Any:
    def build(joined: bool) -> Any:
        builder = lc.StateGraph(State)
        for name in ("a", "b", "b2", "c"):
            builder.add_node(name, says(name))
        builder.add_edge(lc.START, "a")
        builder.add_edge(lc.START, "b")
        builder.add_edge("b", "b2")
        if joined:
            builder.add_edge(["a", "b2"], "c")
        else:
            builder.add_edge("a", "c")
            builder.add_edge("b2", "c")
        return builder.compile().invoke({"log": []})["log"]

    return build(joined=False), build(joined=True)


@case(LAYER, "n round trips need a limit of 2n + 2")
def round_trips(lc: World) -> Any:
    return [looping(lc, n).invoke({"log": []}, {"recursion_limit": 2 * n + 2}) for n in (0, 1, 3)]


@case(LAYER, "one step less is one too few")
def limit_reached(lc: World) -> Any:
    return looping(lc, 2).invoke({"log": []}, {"recursion_limit": 5})


@case(LAYER, "even one node needs a limit of two")
def limit_of_one(lc: World) -> Any:
    return chain(lc, State, says("a")).invoke({"log": []}, {"recursion_limit": 1})


@case(LAYER, "a limit below one is refused", differs="graph-checks")
def limit_of_zero(lc: World) -> Any:
    return chain(lc, State, says("a")).invoke({"log": []}, {"recursion_limit": 0})


@case(
    LAYER,
    "the messages that a run is given have ids afterwards, or stay as they were",
    differs="input-messages-untouched",
)
def input_messages(lc: World) -> Any:
    given = [lc.HumanMessage("你好")]
    chain(lc, lc.MessagesState, lambda state: None).invoke({"messages": given})
    return given


@case(LAYER, "a node that fails fails the run, and the caller's state stays as it was")
def node_raises(lc: World) -> Any:
    def fail(state: Any) -> Any:
        state["log"].append("changed in place")
        raise RuntimeError("bank is closed")

    given = {"log": ["in"], "messages": []}
    try:
        chain(lc, State, says("a"), fail).invoke(given)
    except RuntimeError as error:
        return str(error), given
    return "no error"


@case(LAYER, "the error of a node comes out as it is")
def node_error(lc: World) -> Any:
    def fail(state: Any) -> Any:
        raise LookupError("订单不存在")

    return chain(lc, State, says("a"), fail, says("c")).invoke({"log": []})


@case(LAYER, "an async node is awaited, a sync one runs in a thread")
async def async_nodes(lc: World) -> Any:
    async def a(state: Any) -> Any:
        return {"log": ["a"]}

    return await chain(lc, State, a, says("b")).ainvoke({"log": []})


@case(LAYER, "an async node cannot run without awaiting")
def async_node_invoked(lc: World) -> Any:
    async def a(state: Any) -> Any:
        return {"log": ["a"]}

    return chain(lc, State, a).invoke({"log": []})


@case(LAYER, "a node may ask for config, runtime, writer and store by name")
def node_parameters(lc: World) -> Any:
    def node(state, config, runtime, writer, store):
        writer("nobody listens")
        return {"log": [f"{config['tags']} {runtime.store is store} {store}"]}

    graph = chain(lc, State, node, store="shelf")
    return list(graph.stream({"log": []}, {"tags": ["t"]}))


@case(
    LAYER,
    "a parameter of the right name and another type is not filled in",
    differs="injected-types",
)
def node_parameter_of_other_type(lc: World) -> Any:
    def node(state: Any, writer: Any) -> Any:
        writer("half")

    return list(chain(lc, State, node).stream({"log": []}, stream_mode="custom"))


@case(LAYER, "a graph is a node of another graph")
def graph_in_graph(lc: World) -> Any:
    inner = chain(lc, State, says("inner a"), says("inner b"))
    return chain(lc, State, says("a"), inner, says("c")).invoke({"log": ["in"], "n": 1})


# Streams


@case(LAYER, "stream gives what each node wrote, step by step")
def stream_updates(lc: World) -> Any:
    return list(looping(lc, 1).stream({"log": []}))


@case(LAYER, "stream_mode=values gives the whole state after each step")
def stream_values(lc: World) -> Any:
    return list(looping(lc, 1).stream({"log": []}, stream_mode="values"))


@case(LAYER, "astream gives the same")
async def astream(lc: World) -> Any:
    stream = looping(lc, 1).astream({"log": []}, stream_mode=["updates", "values"])
    return [part async for part in stream]


@case(LAYER, "a node that writes nothing shows as None")
def stream_nothing(lc: World) -> Any:
    return list(chain(lc, State, lambda state: None, lambda state: {}).stream({"log": []}))


# Threads


@case(LAYER, "a thread remembers its state from run to run")
def thread(lc: World) -> Any:
    graph = chain(lc, State, says("a"), checkpointer=lc.InMemorySaver())
    first = graph.invoke({"log": ["one"], "n": 1}, THREAD)
    second = graph.invoke({"log": ["two"]}, THREAD)
    other = graph.invoke({"log": ["three"]}, {"configurable": {"thread_id": "2"}})
    return first, second, other


@case(LAYER, "a checkpointer needs a thread_id")
def thread_without_id(lc: World) -> Any:
    return chain(lc, State, says("a"), checkpointer=lc.InMemorySaver()).invoke({"log": []})


@case(LAYER, "what was written before a failure is kept in the thread")
def thread_after_failure(lc: World) -> Any:
    broken = [True]

    def sometimes(state: Any) -> Any:
        if broken.pop():
            raise RuntimeError("bank is closed")
        return {"log": ["b"]}

    graph = chain(lc, State, says("a"), sometimes, checkpointer=lc.InMemorySaver())
    try:
        graph.invoke({"log": ["in"]}, THREAD)
    except RuntimeError:
        saved = graph.get_state(THREAD).values
    broken.append(False)
    return saved, graph.invoke(None, THREAD)


@case(LAYER, "what a thread shows while a step waits", differs="writes-of-an-open-step")
def thread_in_a_step(lc: World) -> Any:
    builder = lc.StateGraph(State)
    builder.add_node("a", says("a")).add_node("b", lambda state: {"log": [lc.interrupt("?")]})
    builder.add_edge(lc.START, "a").add_edge(lc.START, "b")
    graph = builder.compile(checkpointer=lc.InMemorySaver())
    graph.invoke({"log": ["in"]}, THREAD)
    return graph.get_state(THREAD).values


@case(LAYER, "a thread says which node is next")
def thread_next(lc: World) -> Any:
    def ask(state: Any) -> Any:
        return {"log": [lc.interrupt("go on?")]}

    graph = chain(lc, State, says("a"), ask, checkpointer=lc.InMemorySaver())
    graph.invoke({"log": []}, THREAD)
    return graph.get_state(THREAD).next


# Building


@case(LAYER, "a graph without an entry cannot be compiled")
def no_entry(lc: World) -> Any:
    builder = lc.StateGraph(State)
    builder.add_node("a", says("a"))
    return builder.compile()


@case(LAYER, "an edge to a node that does not exist is found when the graph is compiled")
def edge_to_unknown(lc: World) -> Any:
    builder = lc.StateGraph(State)
    builder.add_node("a", says("a"))
    builder.add_edge(lc.START, "a")
    builder.add_edge("a", "nowhere")
    return builder.compile()


@case(LAYER, "an edge from a node that does not exist is found when the graph is compiled")
def edge_from_unknown(lc: World) -> Any:
    builder = lc.StateGraph(State)
    builder.add_node("a", says("a"))
    builder.add_edge(lc.START, "a")
    builder.add_edge("nowhere", "a")
    return builder.compile()


@case(LAYER, "no edge leads out of END", differs="graph-checks")
def edge_from_end(lc: World) -> Any:
    return lc.StateGraph(State).add_edge(lc.END, "a")


@case(LAYER, "no edge leads into START", differs="graph-checks")
def edge_to_start(lc: World) -> Any:
    return lc.StateGraph(State).add_edge("a", lc.START)


@case(LAYER, "a name is taken once")
def node_twice(lc: World) -> Any:
    builder = lc.StateGraph(State)
    builder.add_node("a", says("a"))
    return builder.add_node("a", says("a"))


@case(LAYER, "END is no name for a node")
def node_called_end(lc: World) -> Any:
    return lc.StateGraph(State).add_node(lc.END, says("a"))


@case(LAYER, "a colon is no part of a node's name", differs="graph-checks")
def node_with_colon(lc: World) -> Any:
    return lc.StateGraph(State).add_node("a:b", says("a"))


@case(LAYER, "a node is something that can be called", differs="graph-checks")
def node_of_number(lc: World) -> Any:
    return lc.StateGraph(State).add_node("a", 5)


@case(LAYER, "a node without a name has its function's")
def node_named_by_function(lc: World) -> Any:
    def 查天气(state: Any) -> Any:
        return {"log": ["晴"]}

    builder = lc.StateGraph(State)
    builder.add_node(查天气)
    builder.add_edge(lc.START, "查天气")
    return list(builder.compile().stream({"log": []}))


@case(LAYER, "an input that the state does not know is dropped, and the run goes on without it")
def unknown_input(lc: World) -> Any:
    return chain(lc, State, says("a")).invoke({"input": "hello"})


@case(LAYER, "an input that is no state is an error")
def wrong_input(lc: World) -> Any:
    return chain(lc, lc.MessagesState, lambda state: None).invoke("hello")


@case(LAYER, "no input is an error")
def no_input(lc: World) -> Any:
    return chain(lc, State, says("a")).invoke(None)


@case(LAYER, "the edges of a node that no edge leads to", differs="edges-nobody-reaches")
def unreached_edges(lc: World) -> Any:
    builder = lc.StateGraph(State)
    for name in "abz":
        builder.add_node(name, says(name))
    builder.add_edge(lc.START, "a").add_edge("z", "b")
    return [(edge.source, edge.target) for edge in builder.compile().get_graph().edges]


@case(LAYER, "get_graph gives plain nodes and edges")
def get_graph(lc: World) -> Any:
    graph = looping(lc, 1).get_graph()
    edges = [(edge.source, edge.target, edge.conditional, edge.data) for edge in graph.edges]
    return sorted(graph.nodes), edges


@case(LAYER, "the graph by hand of article A: model, tools_condition, tools, and back")
def by_hand(lc: World) -> Any:
    @lc.tool
    def get_weather(city: str) -> str:
        """Get current weather for a city."""
        return f"{city} is sunny, 28C"

    model = lc.ScriptedChatModel([asks(lc, call("get_weather", {"city": "北京"})), "北京晴。"])
    bound = model.bind_tools([get_weather])
    builder = lc.StateGraph(lc.MessagesState)
    builder.add_node("model", lambda state: {"messages": [bound.invoke(state["messages"])]})
    builder.add_node("tools", lc.ToolNode([get_weather]))
    builder.add_edge(lc.START, "model")
    builder.add_conditional_edges("model", lc.tools_condition)
    builder.add_edge("tools", "model")
    graph = builder.compile()
    return graph.invoke(user()), sent(model)
