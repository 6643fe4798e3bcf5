"""Layer 12, tool_node: how one call is found, run and answered, and how many are."""

# Annotations name a world's classes, which are chosen at run time.
# mypy: disable-error-code="name-defined, valid-type"

import asyncio
import datetime
import threading
from dataclasses import dataclass
from typing import Annotated, Any

from minilc.course.cases import case
from minilc.course.cases.support import asks, by_hand, call, run_tools
from minilc.course.worlds import World

LAYER = "tool_node"

THREAD = {"configurable": {"thread_id": "1"}}


def weather(lc: World) -> Any:
    @lc.tool
    def get_weather(city: str) -> str:
        """Get current weather for a city."""
        return f"{city} is sunny, 28C"

    return get_weather


def returning(lc: World, value: Any) -> Any:
    """A tool `give` that returns `value`."""

    @lc.tool
    def give() -> Any:
        """Return a value."""
        return value

    return give


def asked(lc: World, *cities: str) -> list[dict[str, Any]]:
    """One weather call a city."""
    return [call("get_weather", {"city": c}, f"call_{n}") for n, c in enumerate(cities, 1)]


def graph_of(lc: World, node: Any, **options: Any) -> Any:
    """A graph of one ToolNode."""
    builder = lc.StateGraph(lc.MessagesState)
    builder.add_node("tools", node)
    builder.add_edge(lc.START, "tools")
    return builder.compile(**options)


# The registry


@case(LAYER, "tools are registered by their names")
def registry(lc: World) -> Any:
    renamed = lc.tool("weather_search", description="Search.")(lambda city: city)
    node = lc.ToolNode([weather(lc), renamed])
    return list(node.tools_by_name), node.name


@case(LAYER, "a plain function is made a tool")
def plain_function(lc: World) -> Any:
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    node = lc.ToolNode([add])
    return node.tools_by_name["add"].description, node.tools_by_name["add"].args


@case(LAYER, "of two tools with one name the later stays")
def same_name(lc: World) -> Any:
    first, second = weather(lc), lc.tool("get_weather", description="B.")(lambda city: f"B {city}")
    return run_tools(lc, [first, second], *asked(lc, "北京"))


@case(LAYER, "a function without a docstring is refused")
def undocumented(lc: World) -> Any:
    return lc.ToolNode([lambda city: city])


@case(LAYER, "a provider's dict is no tool for a node")
def provider_dict(lc: World) -> Any:
    return lc.ToolNode([{"type": "web_search"}])


@case(LAYER, "options go by name")
def positional_option(lc: World) -> Any:
    return lc.ToolNode([weather(lc)], "my_tools")


@case(LAYER, "one tool is not a list of tools")
def one_tool(lc: World) -> Any:
    return lc.ToolNode(5)


# What a node may be given


@case(LAYER, "a state: the calls of the last AI message, the answers under messages")
def given_state(lc: World) -> Any:
    return run_tools(lc, [weather(lc)], *asked(lc, "北京", "上海"))


@case(LAYER, "a list of messages gives a list of answers")
def given_list(lc: World) -> Any:
    messages = [lc.HumanMessage("hi"), asks(lc, *asked(lc, "北京"))]
    return lc.ToolNode([weather(lc)]).invoke(messages, by_hand(lc))


@case(LAYER, "a list of calls gives a state")
def given_calls(lc: World) -> Any:
    return lc.ToolNode([weather(lc)]).invoke(asked(lc, "北京", "上海"), by_hand(lc))


@case(LAYER, "a call with its context gives a state")
def given_context(lc: World) -> Any:
    (one,) = asked(lc, "北京")
    given = {"__type": "tool_call_with_context", "tool_call": one, "state": {"messages": []}}
    return lc.ToolNode([weather(lc)]).invoke(given, by_hand(lc))


@case(LAYER, "an object with messages gives a state")
def given_object(lc: World) -> Any:
    @dataclass
    class Run:
        messages: list

    return lc.ToolNode([weather(lc)]).invoke(Run([asks(lc, *asked(lc, "北京"))]), by_hand(lc))


@case(LAYER, "messages_key says where the messages are, for input and output")
def messages_key(lc: World) -> Any:
    node = lc.ToolNode([weather(lc)], messages_key="chat_history")
    return node.invoke({"chat_history": [asks(lc, *asked(lc, "北京"))]}, by_hand(lc))


@case(LAYER, "a state whose messages are elsewhere is an error")
def messages_elsewhere(lc: World) -> Any:
    given = {"chat_history": [asks(lc, *asked(lc, "北京"))]}
    return lc.ToolNode([weather(lc)]).invoke(given, by_hand(lc))


@case(LAYER, "no messages are no message")
def no_messages(lc: World) -> Any:
    return lc.ToolNode([weather(lc)]).invoke({"messages": []}, by_hand(lc))


@case(LAYER, "without an AI message there is nothing to answer")
def no_ai_message(lc: World) -> Any:
    return lc.ToolNode([weather(lc)]).invoke({"messages": [lc.HumanMessage("hi")]}, by_hand(lc))


@case(LAYER, "an empty list is an error of its own")
def empty_list(lc: World) -> Any:
    return lc.ToolNode([weather(lc)]).invoke([], by_hand(lc))


@case(LAYER, "a call without its type is taken for a message")
def untyped_call(lc: World) -> Any:
    given = [{"name": "get_weather", "args": {"city": "北京"}, "id": "c1"}]
    return lc.ToolNode([weather(lc)]).invoke(given, by_hand(lc))


@case(LAYER, "an AI message without calls gives no answers")
def no_calls(lc: World) -> Any:
    return lc.ToolNode([weather(lc)]).invoke({"messages": [lc.AIMessage("hi")]}, by_hand(lc))


@case(LAYER, "the last AI message counts, even behind a human one; answered calls run again")
def answered_again(lc: World) -> Any:
    messages = [
        asks(lc, *asked(lc, "北京")),
        lc.ToolMessage("already", tool_call_id="call_1"),
        lc.HumanMessage("and?"),
    ]
    return lc.ToolNode([weather(lc)]).invoke({"messages": messages}, by_hand(lc))


@case(LAYER, "outside of a graph a node lacks its runtime, and says so in its way")
def outside_graph(lc: World) -> Any:
    return lc.ToolNode([weather(lc)]).invoke({"messages": [asks(lc, *asked(lc, "北京"))]})


@case(LAYER, "inside of a graph it has it")
def inside_graph(lc: World) -> Any:
    return graph_of(lc, lc.ToolNode([weather(lc)])).invoke(
        {"messages": [asks(lc, *asked(lc, "北京"))]}
    )


# Many calls


@case(LAYER, "answers come in the order of the calls, not of their ends")
def order(lc: World) -> Any:
    first_may_end = threading.Event()
    ended = []

    @lc.tool
    def create(name: str) -> str:
        """Create."""
        first_may_end.wait(5)
        ended.append("create")
        return f"created {name}"

    @lc.tool
    def write(name: str) -> str:
        """Write."""
        ended.append("write")
        first_may_end.set()
        return f"wrote {name}"

    calls = call("create", {"name": "a"}, "c1"), call("write", {"name": "a"}, "c2")
    return run_tools(lc, [create, write], *calls), ended


@case(LAYER, "the same when awaited: the calls of one message run side by side")
async def order_awaited(lc: World) -> Any:
    second_ended = asyncio.Event()
    ended = []

    @lc.tool
    async def step(n: int) -> str:
        """Step."""
        if n == 1:
            await second_ended.wait()
        ended.append(n)
        second_ended.set()
        return f"step {n}"

    calls = [call("step", {"n": n}, f"c{n}") for n in (1, 2)]
    node = lc.ToolNode([step])
    return await node.ainvoke({"messages": [asks(lc, *calls)]}, by_hand(lc)), ended


@case(LAYER, "a sync tool is run in a thread when awaited")
async def sync_awaited(lc: World) -> Any:
    node = lc.ToolNode([weather(lc)])
    return await node.ainvoke({"messages": [asks(lc, *asked(lc, "北京", "上海"))]}, by_hand(lc))


@case(LAYER, "sixty-four calls have sixty-four answers")
def many(lc: World) -> Any:
    calls = [call("get_weather", {"city": str(n)}, f"c{n}") for n in range(64)]
    result = run_tools(lc, [weather(lc)], *calls)
    return [(message.content, message.tool_call_id) for message in result["messages"]]


@case(LAYER, "if one of two calls fails the step has no answer at all")
def one_fails(lc: World) -> Any:
    @lc.tool
    def fail() -> str:
        """Fail."""
        raise RuntimeError("bank is closed")

    return run_tools(lc, [weather(lc), fail], *asked(lc, "北京"), call("fail"))


@case(LAYER, "a good call, a bad one and an unknown one in one message")
def mixed(lc: World) -> Any:
    calls = [*asked(lc, "北京"), call("get_weather", {"town": "x"}, "c2"), call("nope", {}, "c3")]
    return run_tools(lc, [weather(lc)], *calls)


@case(LAYER, "two calls with one id have two answers with that id")
def same_id(lc: World) -> Any:
    return run_tools(
        lc, [weather(lc)], call("get_weather", {"city": "a"}), call("get_weather", {"city": "b"})
    )


# What a tool may return


@case(LAYER, "a list of texts is JSON after a node")
def list_of_texts(lc: World) -> Any:
    return run_tools(lc, [returning(lc, ["a", "b"])], call("give"))


@case(LAYER, "content blocks stay, and so does the empty list")
def blocks(lc: World) -> Any:
    text = [{"type": "text", "text": "hi"}]
    return [run_tools(lc, [returning(lc, value)], call("give")) for value in (text, [])]


@case(LAYER, "a dict is JSON, as json.dumps of it would be: broken_tool and stable_tool")
def dict_is_json(lc: World) -> Any:
    return run_tools(lc, [returning(lc, {"value": 1, "城市": "北京"})], call("give"))


@case(LAYER, "None, numbers, dates and tuples after a node")
def other_values(lc: World) -> Any:
    values = [None, 7, datetime.date(2024, 5, 1), (1, 2), {"d": datetime.date(2024, 5, 1)}]
    return [
        run_tools(lc, [returning(lc, value)], call("give"))["messages"][0].content
        for value in values
    ]


@case(LAYER, "an artifact passes")
def artifact(lc: World) -> Any:
    @lc.tool(response_format="content_and_artifact")
    def rows(n: int) -> Any:
        """Rows."""
        return f"{n} rows", list(range(n))

    return run_tools(lc, [rows], call("rows", {"n": 2}))


@case(LAYER, "a ToolMessage with a wrong id passes unchecked")
def wrong_id(lc: World) -> Any:
    message = lc.ToolMessage("done", tool_call_id="other")
    return run_tools(lc, [returning(lc, message)], call("give"))


@case(LAYER, "a call without id gives back a bare value, which is no answer")
def id_none(lc: World) -> Any:
    return run_tools(lc, [weather(lc)], call("get_weather", {"city": "北京"}, None))


@case(LAYER, "an empty id is an id")
def id_empty(lc: World) -> Any:
    return run_tools(lc, [weather(lc)], call("get_weather", {"city": "北京"}, ""))


@case(LAYER, "a Command with the answer in it passes; the answer gets the tool's name")
def command(lc: World) -> Any:
    answer = lc.ToolMessage("done", tool_call_id="c1")
    value = lc.Command(update={"messages": [answer], "mood": "good"}, goto="next")
    return run_tools(lc, [returning(lc, value)], call("give"))


@case(LAYER, "a Command and a message together make a list")
def command_and_message(lc: World) -> Any:
    value = lc.Command(update={"messages": [lc.ToolMessage("done", tool_call_id="c1")]})
    tools = [returning(lc, value), weather(lc)]
    return run_tools(lc, tools, call("give"), *asked(lc, "北京"))


@case(LAYER, "a Command without the answer is an error")
def command_without_answer(lc: World) -> Any:
    return run_tools(lc, [returning(lc, lc.Command(update={"mood": "good"}))], call("give"))


@case(LAYER, "sent alone, a call is told how its answer must look", differs="answer-example")
def command_without_answer_for_calls(lc: World) -> Any:
    tool = returning(lc, lc.Command(update={"mood": "good"}))
    return lc.ToolNode([tool]).invoke([call("give")], by_hand(lc))


@case(LAYER, "with handle_tool_errors that error is a message", behaviour="handled-normalisation")
def command_error_handled(lc: World) -> Any:
    value = lc.Command(update={"mood": "good"})
    return run_tools(lc, [returning(lc, value)], call("give"), handle_tool_errors=True)


@case(LAYER, "a Command that answers another call is an error")
def command_with_other_answer(lc: World) -> Any:
    value = lc.Command(update={"messages": [lc.ToolMessage("done", tool_call_id="c9", id="m")]})
    return run_tools(lc, [returning(lc, value)], call("give"))


@case(LAYER, "a Command for the parent needs no answer")
def command_for_parent(lc: World) -> Any:
    value = lc.Command(update={"mood": "good"}, goto="next", graph=lc.Command.PARENT)
    return run_tools(lc, [returning(lc, value)], call("give"))


@case(LAYER, "a Command without an update needs none either")
def command_without_update(lc: World) -> Any:
    return run_tools(lc, [returning(lc, lc.Command(goto="next"))], call("give"))


@case(LAYER, "a Command that removes all messages and the call", differs="removing-command")
def command_removes(lc: World) -> Any:
    value = lc.Command(update={"messages": [lc.RemoveMessage(id=lc.REMOVE_ALL_MESSAGES)]})
    return run_tools(lc, [returning(lc, value)], call("give"))


@case(LAYER, "several Commands with Sends for the parent", differs="parent-sends")
def commands_for_parent(lc: World) -> Any:
    @lc.tool
    def hand_over(to: str) -> Any:
        """Hand over."""
        return lc.Command(goto=[lc.Send(to, {"to": to})], graph=lc.Command.PARENT)

    calls = [call("hand_over", {"to": name}, name) for name in ("张三", "李四")]
    return run_tools(lc, [hand_over], *calls)


@case(LAYER, "a Command with a dict does not fit a list of messages", differs="command-form")
def command_for_list(lc: World) -> Any:
    value = lc.Command(update={"messages": [lc.ToolMessage("done", tool_call_id="c1", id="m")]})
    return lc.ToolNode([returning(lc, value)]).invoke([asks(lc, call("give"))], by_hand(lc))


@case(LAYER, "a Command with a list does not fit a state", differs="command-form")
def command_with_list(lc: World) -> Any:
    value = lc.Command(update=[lc.ToolMessage("done", tool_call_id="c1", id="m")])
    return run_tools(lc, [returning(lc, value)], call("give"))


@case(LAYER, "a Command with a list fits a list")
def command_with_list_for_list(lc: World) -> Any:
    value = lc.Command(update=[lc.ToolMessage("done", tool_call_id="c1", id="m")])
    return lc.ToolNode([returning(lc, value)]).invoke([asks(lc, call("give"))], by_hand(lc))


@case(LAYER, "several answers to one call", behaviour="list-of-answers")
def several_answers(lc: World) -> Any:
    value = [
        lc.ToolMessage("done", tool_call_id="c1"),
        lc.Command(update={"mood": "good"}),
        lc.ToolMessage("by the way", tool_call_id="other"),
    ]
    return run_tools(lc, [returning(lc, value)], call("give"))


@case(LAYER, "exactly one of them must carry the id of the call", behaviour="list-of-answers")
def several_answers_wrong(lc: World) -> Any:
    value = [lc.ToolMessage(text, tool_call_id="c1") for text in ("a", "b")]
    return run_tools(lc, [returning(lc, value)], call("give"))


@case(LAYER, "a Command of a tool writes the state of the graph and goes on")
def command_in_graph(lc: World) -> Any:
    class State(lc.MessagesState):
        user: str

    @lc.tool
    def login(name: str, call_id: Annotated[str, lc.InjectedToolCallId]) -> Any:
        """Log in."""
        answer = lc.ToolMessage(f"hello {name}", tool_call_id=call_id)
        return lc.Command(update={"user": name, "messages": [answer]})

    builder = lc.StateGraph(State)
    builder.add_node("tools", lc.ToolNode([login]))
    builder.add_edge(lc.START, "tools")
    return builder.compile().invoke({"messages": [asks(lc, call("login", {"name": "小明"}))]})


# wrap_tool_call


@case(LAYER, "a wrapper sees the call, the tool and the state, once for each call")
def wrapper(lc: World) -> Any:
    seen = []

    def wrap(request: Any, execute: Any) -> Any:
        seen.append((request.tool_call["id"], request.tool.name, sorted(request.state)))
        return execute(request)

    return run_tools(lc, [weather(lc)], asked(lc, "北京")[0], wrap_tool_call=wrap), seen


@case(LAYER, "a wrapper may change the arguments, on a copy of the request")
def wrapper_changes(lc: World) -> Any:
    def wrap(request: Any, execute: Any) -> Any:
        args = {"city": request.tool_call["args"]["city"] + "市"}
        return execute(request.override(tool_call={**request.tool_call, "args": args}))

    return run_tools(lc, [weather(lc)], *asked(lc, "北京"), wrap_tool_call=wrap)


@case(LAYER, "a wrapper may try again")
def wrapper_retries(lc: World) -> Any:
    tries = []

    @lc.tool
    def flaky() -> str:
        """Flaky."""
        tries.append(1)
        if len(tries) < 3:
            raise OSError("timeout")
        return f"after {len(tries)}"

    def wrap(request: Any, execute: Any) -> Any:
        while True:
            try:
                return execute(request)
            except OSError:
                continue

    return run_tools(lc, [flaky], call("flaky"), wrap_tool_call=wrap)


@case(LAYER, "a wrapper may answer by itself; the tool does not run")
def wrapper_answers(lc: World) -> Any:
    def wrap(request: Any, execute: Any) -> Any:
        return lc.ToolMessage("cached", tool_call_id=request.tool_call["id"])

    @lc.tool
    def never() -> str:
        """Never."""
        raise AssertionError

    return run_tools(lc, [never], call("never"), wrap_tool_call=wrap)


@case(LAYER, "what a wrapper returns is not checked")
def wrapper_returns_text(lc: World) -> Any:
    return run_tools(lc, [weather(lc)], *asked(lc, "北京"), wrap_tool_call=lambda r, e: "a text")


@case(LAYER, "a wrapper that fails fails the run by default")
def wrapper_fails(lc: World) -> Any:
    def wrap(request: Any, execute: Any) -> Any:
        raise PermissionError("not allowed")

    return run_tools(lc, [weather(lc)], *asked(lc, "北京"), wrap_tool_call=wrap)


@case(LAYER, "handle_tool_errors covers the wrapper, too")
def wrapper_fails_handled(lc: World) -> Any:
    def wrap(request: Any, execute: Any) -> Any:
        raise PermissionError("not allowed")

    tools, calls = [weather(lc)], asked(lc, "北京")
    return run_tools(lc, tools, *calls, wrap_tool_call=wrap, handle_tool_errors=True)


@case(LAYER, "for an unknown name the wrapper gets no tool, and may bring one")
def wrapper_brings_tool(lc: World) -> Any:
    def wrap(request: Any, execute: Any) -> Any:
        return execute(request.override(tool=weather(lc)) if request.tool is None else request)

    return run_tools(
        lc, [returning(lc, 1)], call("get_weather", {"city": "北京"}), wrap_tool_call=wrap
    )


@case(LAYER, "if it brings none the name is unknown")
def wrapper_brings_none(lc: World) -> Any:
    return run_tools(lc, [weather(lc)], call("nope"), wrap_tool_call=lambda r, e: e(r))


@case(LAYER, "a replaced state reaches the tool", behaviour="override-state")
def wrapper_replaces_state(lc: World) -> Any:
    @lc.tool
    def who(state: Annotated[dict, lc.InjectedState], runtime: lc.ToolRuntime) -> str:
        """Who."""
        return f"{state['user']} {runtime.state['user']}"

    def wrap(request: Any, execute: Any) -> Any:
        return execute(request.override(state={**request.state, "user": "changed"}))

    node = lc.ToolNode([who], wrap_tool_call=wrap)
    return node.invoke({"messages": [asks(lc, call("who"))], "user": "小明"}, by_hand(lc))


@case(LAYER, "an async wrapper is used when awaited")
async def wrapper_awaited(lc: World) -> Any:
    async def wrap(request: Any, execute: Any) -> Any:
        message = await execute(request)
        message.content += " (checked)"
        return message

    node = lc.ToolNode([weather(lc)], awrap_tool_call=wrap)
    return await node.ainvoke({"messages": [asks(lc, *asked(lc, "北京"))]}, by_hand(lc))


@case(LAYER, "a sync wrapper serves an awaited node if there is no async one")
async def sync_wrapper_awaited(lc: World) -> Any:
    def wrap(request: Any, execute: Any) -> Any:
        message = execute(request)
        message.content += " (checked)"
        return message

    node = lc.ToolNode([weather(lc)], wrap_tool_call=wrap)
    return await node.ainvoke({"messages": [asks(lc, *asked(lc, "北京"))]}, by_hand(lc))


@case(LAYER, "an async wrapper does nothing for a node that is not awaited")
def async_wrapper_invoked(lc: World) -> Any:
    async def wrap(request: Any, execute: Any) -> Any:
        raise AssertionError

    return run_tools(lc, [weather(lc)], *asked(lc, "北京"), awrap_tool_call=wrap)


# interrupt


def asking(lc: World, **options: Any) -> Any:
    """A graph of a node with a tool that asks before it pays."""

    @lc.tool
    def pay(amount: int) -> str:
        """Pay."""
        return f"paid {amount}" if lc.interrupt(f"pay {amount}?") == "yes" else "refused"

    return graph_of(lc, lc.ToolNode([pay], **options), checkpointer=lc.InMemorySaver())


@case(LAYER, "a tool may ask a human, and gets the answer")
def interrupted(lc: World) -> Any:
    graph = asking(lc)
    first = graph.invoke({"messages": [asks(lc, call("pay", {"amount": 5}))]}, THREAD)
    questions = [question.value for question in first["__interrupt__"]]
    return questions, graph.invoke(lc.Command(resume="yes"), THREAD)


@case(LAYER, "handle_tool_errors does not take the question for an error")
def interrupted_handled(lc: World) -> Any:
    graph = asking(lc, handle_tool_errors=True)
    first = graph.invoke({"messages": [asks(lc, call("pay", {"amount": 5}))]}, THREAD)
    return [question.value for question in first["__interrupt__"]]


@case(LAYER, "a wrapper may ask, too", behaviour="wrapper-interrupt")
def interrupted_wrapper(lc: World) -> Any:
    def wrap(request: Any, execute: Any) -> Any:
        if lc.interrupt(f"run {request.tool_call['name']}?") == "yes":
            return execute(request)
        return lc.ToolMessage("refused", tool_call_id=request.tool_call["id"])

    node = lc.ToolNode([weather(lc)], wrap_tool_call=wrap, handle_tool_errors=True)
    graph = graph_of(lc, node, checkpointer=lc.InMemorySaver())
    graph.invoke({"messages": [asks(lc, *asked(lc, "北京"))]}, THREAD)
    return graph.invoke(lc.Command(resume="no"), THREAD)


# tools_condition


@case(LAYER, "tools_condition goes to tools if the last message has calls")
def condition(lc: World) -> Any:
    with_calls, without = asks(lc, *asked(lc, "北京")), lc.AIMessage("hi")
    return [
        lc.tools_condition({"messages": [with_calls]}),
        lc.tools_condition({"messages": [with_calls, lc.HumanMessage("x")]}),
        lc.tools_condition([lc.HumanMessage("x"), without]),
        lc.tools_condition({"chat": [with_calls]}, messages_key="chat"),
    ]


@case(LAYER, "tools_condition without messages is an error that shows the state")
def condition_elsewhere(lc: World) -> Any:
    return lc.tools_condition({"chat_history": [asks(lc, *asked(lc, "北京"), id="m1")]})


@case(LAYER, "tools_condition of an empty list is an error of its own")
def condition_empty(lc: World) -> Any:
    return lc.tools_condition([])


@case(LAYER, "invalid calls are no calls for tools_condition")
def condition_invalid(lc: World) -> Any:
    broken = {"name": "clock", "args": "{", "id": "c1", "error": None, "type": "invalid_tool_call"}
    return lc.tools_condition({"messages": [lc.AIMessage("", invalid_tool_calls=[broken])]})


def conditional(lc: World, name: str, path_map: Any = None) -> Any:
    """A graph whose tools node has this name, behind tools_condition."""
    builder = lc.StateGraph(lc.MessagesState)
    builder.add_node("model", lambda state: {"messages": [asks(lc, *asked(lc, "北京"))]})
    builder.add_node(name, lc.ToolNode([weather(lc)]))
    builder.add_edge(lc.START, "model")
    builder.add_conditional_edges("model", lc.tools_condition, path_map)
    return builder.compile()


@case(LAYER, "without a map the node must be called tools")
def condition_node_name(lc: World) -> Any:
    return conditional(lc, "my_tools")


@case(LAYER, "a map without the key tools fails when the first call comes")
def condition_map_key(lc: World) -> Any:
    to = {"my_tools": "my_tools", lc.END: lc.END}
    return conditional(lc, "my_tools", to).invoke({"messages": ["hi"]})


@case(LAYER, "a map gives the node any name")
def condition_map(lc: World) -> Any:
    to = {"tools": "my_tools", lc.END: lc.END}
    return conditional(lc, "my_tools", to).invoke({"messages": ["hi"]})
