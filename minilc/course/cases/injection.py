"""Layer 11, injection: what a tool is given that the model may not fill."""

# Annotations name a world's classes, which are chosen at run time.
# mypy: disable-error-code="name-defined, valid-type"

from dataclasses import dataclass
from typing import Annotated, Any, NotRequired

from pydantic import BaseModel, Field

from minilc.course.cases import case
from minilc.course.cases.support import asks, by_hand, call, run_tools, user
from minilc.course.worlds import World

LAYER = "injection"


class Shelf:
    """A store of one's own: anything may be one."""

    def __init__(self, **items: Any) -> None:
        self.items = items

    def __repr__(self) -> str:
        return f"Shelf({self.items})"


def with_state(lc: World, tools: Any, *calls: Any, **state: Any) -> Any:
    """What a ToolNode makes of the calls, given a state with these keys besides messages."""
    return lc.ToolNode(tools).invoke({"messages": [asks(lc, *calls)], **state}, by_hand(lc))


def whole_state(lc: World) -> Any:
    @lc.tool
    def query_order(order_id: str, state: Annotated[dict, lc.InjectedState]) -> str:
        """Query the current user's order by order id."""
        return f"{order_id} of {state['user_id']}"

    return query_order


def one_field(lc: World) -> Any:
    @lc.tool
    def query_order(order_id: str, user: Annotated[str, lc.InjectedState("user_id")]) -> str:
        """Query the current user's order by order id."""
        return f"{order_id} of {user}"

    return query_order


def graph_of(lc: World, tool: Any, *calls: Any, state: Any = None, **options: Any) -> Any:
    """A compiled graph with one node, which asks for the calls, and a ToolNode."""
    builder = lc.StateGraph(state or lc.MessagesState, **options.pop("schemas", {}))
    builder.add_node("model", lambda state: {"messages": [asks(lc, *calls)]})
    builder.add_node("tools", lc.ToolNode([tool]))
    builder.add_edge(lc.START, "model")
    builder.add_edge("model", "tools")
    return builder.compile(**options)


# The state


@case(LAYER, "a tool gets the whole state")
def state(lc: World) -> Any:
    return with_state(
        lc, [whole_state(lc)], call("query_order", {"order_id": "O1"}), user_id="小明"
    )


@case(LAYER, "a mark inside of a union asks for its field", differs="mark-in-a-union")
def state_in_a_union(lc: World) -> Any:
    @lc.tool
    def greet(word: str, name: Annotated[str, lc.InjectedState("user_id")] | None = None) -> str:
        """Greet the user."""
        return f"{word} {name}"

    return with_state(lc, [greet], call("greet", {"word": "你好"}), user_id="小明")


@case(LAYER, "a tool gets one field of the state")
def state_field(lc: World) -> Any:
    return with_state(lc, [one_field(lc)], call("query_order", {"order_id": "O1"}), user_id="小明")


@case(LAYER, "what the model writes under an injected name is replaced")
def state_forged(lc: World) -> Any:
    forged = {"order_id": "O1", "user": "admin"}
    return with_state(lc, [one_field(lc)], call("query_order", forged), user_id="小明")


@case(LAYER, "a forged whole state is replaced, too")
def whole_state_forged(lc: World) -> Any:
    forged = {"order_id": "O1", "state": {"user_id": "admin"}}
    return with_state(lc, [whole_state(lc)], call("query_order", forged), user_id="小明")


@case(LAYER, "a field that the state lacks is a KeyError, which nothing handles")
def state_field_missing(lc: World) -> Any:
    return with_state(lc, [one_field(lc)], call("query_order", {"order_id": "O1"}))


@case(LAYER, "with a default the field may be missing; a forged value does not fill it")
def state_field_default(lc: World) -> Any:
    @lc.tool
    def branch_of(
        item: str, branch: Annotated[str | None, lc.InjectedState("branch")] = None
    ) -> str:
        """Branch."""
        return f"{item}@{branch}"

    given, forged = {"item": "茶"}, {"item": "茶", "branch": "admin"}
    return [
        with_state(lc, [branch_of], call("branch_of", given)),
        with_state(lc, [branch_of], call("branch_of", forged)),
        with_state(lc, [branch_of], call("branch_of", given), branch="north"),
    ]


@case(LAYER, "a tool that needs the key which is not there fails like any other")
def state_key_missing(lc: World) -> Any:
    return with_state(lc, [whole_state(lc)], call("query_order", {"order_id": "O1"}))


@case(LAYER, "the injected value is checked by the annotation, and the model is told nothing of it")
def state_field_invalid(lc: World) -> Any:
    @lc.tool
    def page(n: int, size: Annotated[int, lc.InjectedState("size")]) -> str:
        """Page."""
        return ""

    return with_state(lc, [page], call("page", {"n": "x", "size": 1}), size="secret")


@case(LAYER, "if only the injected value is wrong the model reads an empty reason")
def only_state_invalid(lc: World) -> Any:
    @lc.tool
    def page(n: int, size: Annotated[int, lc.InjectedState("size")]) -> str:
        """Page."""
        return ""

    return with_state(lc, [page], call("page", {"n": 1}), size="secret")


@case(LAYER, "an object is a state: its attributes are the fields")
def state_object(lc: World) -> Any:
    @dataclass
    class Run:
        messages: list
        user_id: str

    given = Run([asks(lc, call("query_order", {"order_id": "O1"}))], "小明")
    return lc.ToolNode([one_field(lc)]).invoke(given, by_hand(lc))


@case(LAYER, "an attribute that the object lacks is an AttributeError")
def state_object_missing(lc: World) -> Any:
    class Run(BaseModel):
        messages: list

    given = Run(messages=[asks(lc, call("query_order", {"order_id": "O1"}))])
    return lc.ToolNode([one_field(lc)]).invoke(given, by_hand(lc))


@case(LAYER, "a list of messages is a state with messages only")
def state_list(lc: World) -> Any:
    @lc.tool
    def count(
        all: Annotated[dict, lc.InjectedState],
        messages: Annotated[list, lc.InjectedState("messages")],
    ) -> str:
        """Count."""
        return f"{sorted(all)} {len(messages)}"

    given = [lc.HumanMessage("hi"), asks(lc, call("count"))]
    return lc.ToolNode([count]).invoke(given, by_hand(lc))


@case(LAYER, "a list of messages has no other field", differs="list-without-fields")
def state_list_missing(lc: World) -> Any:
    given = [asks(lc, call("query_order", {"order_id": "O1"}))]
    return lc.ToolNode([one_field(lc)]).invoke(given, by_hand(lc))


@case(LAYER, "a node called by hand with the messages only has only them")
def state_partial(lc: World) -> Any:
    class State(lc.MessagesState):
        user_id: str

    node = lc.ToolNode([one_field(lc)])
    builder = lc.StateGraph(State)
    builder.add_node(
        "tools", lambda state, config: node.invoke({"messages": state["messages"]}, config)
    )
    builder.add_edge(lc.START, "tools")
    message = asks(lc, call("query_order", {"order_id": "O1"}))
    return builder.compile().invoke({"messages": [message], "user_id": "小明"})


@case(
    LAYER,
    "sent a bare call, the node reads the state of the graph",
    behaviour="state-of-bare-calls",
)
def state_of_send(lc: World) -> Any:
    class State(lc.MessagesState):
        user_id: str

    builder = lc.StateGraph(State)
    builder.add_node("tools", lc.ToolNode([one_field(lc)]))
    sends = [lc.Send("tools", [call("query_order", {"order_id": "O1"})])]
    builder.add_conditional_edges(lc.START, lambda state: sends, ["tools"])
    return builder.compile().invoke({"messages": ["hi"], "user_id": "小明"})


@case(LAYER, "sent a call with its context, the node reads the state in it")
def state_of_context(lc: World) -> Any:
    given = {
        "__type": "tool_call_with_context",
        "tool_call": call("query_order", {"order_id": "O1"}),
        "state": {"user_id": "小明"},
    }
    return lc.ToolNode([one_field(lc)]).invoke(given, by_hand(lc))


@case(LAYER, "a change in place of the injected state is no update")
def state_changed(lc: World) -> Any:
    class State(lc.MessagesState):
        mood: str

    @lc.tool
    def cheer(state: Annotated[dict, lc.InjectedState]) -> str:
        """Cheer."""
        state["mood"] = "happy"
        return "done"

    return graph_of(lc, cheer, call("cheer"), state=State).invoke({"messages": [], "mood": "sad"})[
        "mood"
    ]


@case(LAYER, "what is appended to a list in the injected state stays, though nobody wrote it")
def state_appended(lc: World) -> Any:
    class State(lc.MessagesState):
        tags: list[str]

    @lc.tool
    def mark(state: Annotated[dict, lc.InjectedState]) -> str:
        """Mark."""
        state["tags"].append("new")
        return "done"

    return graph_of(lc, mark, call("mark"), state=State).invoke({"messages": [], "tags": ["old"]})[
        "tags"
    ]


@case(LAYER, "a field that an agent's state does not declare is not there")
def state_undeclared(lc: World) -> Any:
    model = lc.ScriptedChatModel([asks(lc, call("query_order", {"order_id": "O1"}))])
    return lc.create_agent(model, [whole_state(lc)]).invoke(user() | {"user_id": "小明"})


@case(LAYER, "a field that the agent's state_schema declares is")
def state_declared(lc: World) -> Any:
    class State(lc.AgentState):
        user_id: NotRequired[str]

    model = lc.ScriptedChatModel([asks(lc, call("query_order", {"order_id": "O1"})), "done"])
    agent = lc.create_agent(model, [whole_state(lc)], state_schema=State)
    return agent.invoke(user() | {"user_id": "小明"})


# Wrong annotations


@case(LAYER, "a parameter called state is an ordinary argument")
def only_called_state(lc: World) -> Any:
    @lc.tool
    def f(q: str, state: dict) -> str:
        """F."""
        return ""

    return with_state(lc, [f], call("f", {"q": "茶"}))


@case(LAYER, "a class of one's own in Annotated injects nothing")
def own_annotation(lc: World) -> Any:
    class MyState:
        pass

    @lc.tool
    def f(q: str, state: Annotated[dict, MyState]) -> str:
        """F."""
        return ""

    return f.args, with_state(lc, [f], call("f", {"q": "茶"}))


@case(LAYER, "a parameter that is only called runtime is given the runtime all the same")
def only_called_runtime(lc: World) -> Any:
    @lc.tool
    def f(q: str, runtime) -> str:
        """F."""
        return type(runtime).__name__

    return sorted(f.args), with_state(lc, [f], call("f", {"q": "茶"}))


@case(LAYER, "an optional ToolRuntime is injected")
def optional_runtime(lc: World) -> Any:
    @lc.tool
    def f(q: str, runtime: lc.ToolRuntime | None = None) -> str:
        """F."""
        return type(runtime).__name__

    return with_state(lc, [f], call("f", {"q": "茶"}))


# The store


@case(LAYER, "a tool gets the store of the graph")
def store(lc: World) -> Any:
    @lc.tool
    def recall(key: str, store: Annotated[Any, lc.InjectedStore()]) -> str:
        """Recall."""
        return store.items[key]

    graph = graph_of(lc, recall, call("recall", {"key": "城市"}), store=Shelf(城市="北京"))
    return graph.invoke({"messages": []})


@case(LAYER, "a store that the model forges is replaced")
def store_forged(lc: World) -> Any:
    @lc.tool
    def recall(key: str, store: Annotated[Any, lc.InjectedStore()]) -> str:
        """Recall."""
        return store.items[key]

    forged = {"key": "城市", "store": {"items": {"城市": "x"}}}
    node = lc.ToolNode([recall])
    given = {"messages": [asks(lc, call("recall", forged))]}
    return node.invoke(given, by_hand(lc, store=Shelf(城市="北京")))


@case(LAYER, "without a store the run ends with a clear error")
def store_missing(lc: World) -> Any:
    @lc.tool
    def recall(key: str, store: Annotated[Any, lc.InjectedStore()]) -> str:
        """Recall."""
        return ""

    return run_tools(lc, [recall], call("recall", {"key": "x"}), handle_tool_errors=True)


# The runtime


@case(LAYER, "ToolRuntime holds state, call id, context and store")
def runtime(lc: World) -> Any:
    @lc.tool
    def look(q: str, runtime: lc.ToolRuntime[Any, Any]) -> str:
        """Look."""
        user = runtime.context["user"]
        return f"{q} {runtime.tool_call_id} {sorted(runtime.state)} {user} {runtime.store}"

    node = lc.ToolNode([look])
    given = {"messages": [asks(lc, call("look", {"q": "茶"}, "c7"))], "mood": "good"}
    return node.invoke(given, by_hand(lc, context={"user": "小明"}, store=Shelf(a=1)))


@case(LAYER, "ToolRuntime knows the tools of the node", behaviour="runtime-tools")
def runtime_tools(lc: World) -> Any:
    @lc.tool
    def look(runtime: lc.ToolRuntime) -> str:
        """Look."""
        return ", ".join(tool.name for tool in runtime.tools)

    @lc.tool
    def other() -> str:
        """Other."""
        return ""

    return run_tools(lc, [look, other], call("look"))


@case(LAYER, "every call has a runtime of its own")
def runtime_each(lc: World) -> Any:
    seen = []

    @lc.tool
    def look(runtime: lc.ToolRuntime) -> str:
        """Look."""
        seen.append(runtime)
        return runtime.tool_call_id

    result = run_tools(lc, [look], call("look", id="c1"), call("look", id="c2"))
    return result, seen[0] is seen[1], seen[0].config is seen[1].config


@case(LAYER, "the parameter may have any name")
def runtime_other_name(lc: World) -> Any:
    @lc.tool
    def look(rt: lc.ToolRuntime) -> str:
        """Look."""
        return rt.tool_call_id

    return sorted(look.args), run_tools(lc, [look], call("look", {"rt": "forged"}))


@case(LAYER, "what a tool writes to the stream comes out as custom", differs="custom-stream")
def runtime_writer(lc: World) -> Any:
    @lc.tool
    def slow(runtime: lc.ToolRuntime) -> str:
        """Slow."""
        runtime.stream_writer("一半")
        return "done"

    graph = graph_of(lc, slow, call("slow"))
    return list(graph.stream({"messages": []}, stream_mode="custom"))


@case(LAYER, "the config of the run reaches the tool through the runtime")
def runtime_config(lc: World) -> Any:
    @lc.tool
    def who(runtime: lc.ToolRuntime) -> str:
        """Who."""
        return f"{runtime.config['configurable']['user']} {runtime.config['tags']}"

    graph = graph_of(lc, who, call("who"))
    return graph.invoke({"messages": []}, {"configurable": {"user": "小明"}, "tags": ["t"]})


@case(LAYER, "the context of the run reaches the tool of an agent")
def runtime_context(lc: World) -> Any:
    @dataclass
    class Context:
        user: str

    @lc.tool
    def who(runtime: lc.ToolRuntime[Context]) -> str:
        """Who."""
        return runtime.context.user

    model = lc.ScriptedChatModel([asks(lc, call("who")), "done"])
    agent = lc.create_agent(model, [who], context_schema=Context)
    return agent.invoke(user(), context=Context("小明"))


@case(LAYER, "all kinds at once, beside the model's own argument")
async def everything(lc: World) -> Any:
    @lc.tool
    async def f(
        x: int,
        call_id: Annotated[str, lc.InjectedToolCallId],
        messages: Annotated[list, lc.InjectedState("messages")],
        store: Annotated[Any, lc.InjectedStore()],
        runtime: lc.ToolRuntime,
        y: int = 2,
    ) -> str:
        """F."""
        return f"{x} {y} {call_id} {len(messages)} {store} {runtime.tool_call_id}"

    graph = graph_of(lc, f, call("f", {"x": "1", "call_id": "no", "store": 5}), store=Shelf(a=1))
    return await graph.ainvoke({"messages": []})


@case(LAYER, "injection works beside a hand-written schema")
def beside_schema(lc: World) -> Any:
    class WeatherArgs(BaseModel):
        city: str = Field(description="City name")

    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}

    @lc.tool(args_schema=WeatherArgs)
    def by_runtime(city: str, runtime: lc.ToolRuntime) -> str:
        """Weather."""
        return f"{city} {sorted(runtime.state)}"

    @lc.tool(args_schema=WeatherArgs)
    def by_state(city: str, state: Annotated[dict, lc.InjectedState]) -> str:
        """Weather."""
        return f"{city} {sorted(state)}"

    @lc.tool(args_schema=schema)
    def by_json(city: str, runtime: lc.ToolRuntime) -> str:
        """Weather."""
        return f"{city} {sorted(runtime.state)}"

    tools = [by_runtime, by_state, by_json]
    calls = [call(tool.name, {"city": "北京"}, tool.name) for tool in tools]
    return [tool.args for tool in tools], run_tools(lc, tools, *calls)


@case(LAYER, "a tool that is not injected by a node is given nothing")
def without_node(lc: World) -> Any:
    @lc.tool
    def look(q: str, runtime: lc.ToolRuntime) -> str:
        """Look."""
        return ""

    return look.invoke({"q": "茶"})


@case(LAYER, "an argument marked as injected in general is left to the caller, also in a node")
def plain_injected(lc: World) -> Any:
    @lc.tool
    def f(x: int, user: Annotated[str, lc.InjectedToolArg]) -> str:
        """F."""
        return f"{x} {user}"

    return f.args, run_tools(lc, [f], call("f", {"x": 1, "user": "from the model"}))


@case(LAYER, "the call that the model made stays as it was")
def call_untouched(lc: World) -> Any:
    given = call("query_order", {"order_id": "O1", "user": "admin"})
    result = with_state(lc, [one_field(lc)], given, user_id="小明")
    return result, given


@case(LAYER, "an empty field name is the whole state")
def empty_field(lc: World) -> Any:
    @lc.tool
    def keys(state: Annotated[dict, lc.InjectedState("")]) -> str:
        """The keys of the state."""
        return ", ".join(sorted(state))

    return with_state(lc, [keys], call("keys", {}), user_id="u1")
