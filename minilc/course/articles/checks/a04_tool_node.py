"""Article A, layers 7 to 9: how a ToolNode begins, what it takes, and what runs at once."""

from __future__ import annotations

import asyncio
import inspect
import threading
from dataclasses import fields
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import StructuredTool, tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import InjectedState, InjectedStore, ToolNode, ToolRuntime
from langgraph.store.memory import InMemoryStore
from pydantic import BaseModel

from minilc.course.articles.ledger import CHANGED, HOLDS, NUANCE, Seen, claim, section
from minilc.course.articles.support import (
    QUESTION,
    agent,
    call,
    calling,
    config,
    error,
    is_where_said,
    node,
    run,
    weather,
)

WAIT = 5  # seconds, after which what should run at once is taken not to


def look_up(query: str) -> str:
    """Look a word up."""
    return query


def contents(messages: Any) -> list[Any]:
    """The contents of messages."""
    return [message.content for message in messages]


section("Layer 7: how ToolNode begins")


@claim(
    "A-69",
    says="ToolNode begins in langgraph/prebuilt/tool_node.py, lines 758 to 791",
    layer="tool_node",
    really="the same file, other lines",
    once="langgraph-prebuilt 1.1.0",
    verdict=CHANGED,
)
def lines_of_init() -> Seen:
    return is_where_said("A-69", begins='"""')


@claim(
    "A-70",
    says="it takes tools, name, tags, handle_tool_errors, messages_key and two wrappers",
    layer="tool_node",
    really="all but the tools must be named",
    verdict=NUANCE,
)
def parameters_of_init() -> Seen:
    found = inspect.signature(ToolNode).parameters
    defaults = {name: one.default for name, one in found.items()}
    handler = defaults.pop("handle_tool_errors", None)
    empty = inspect.Parameter.empty
    wrappers = {"wrap_tool_call": None, "awrap_tool_call": None}
    said = {"tools": empty, "name": "tools", "tags": None, "messages_key": "messages", **wrappers}
    positional = error(lambda: ToolNode([], "tools"))  # type: ignore[call-arg]
    named = "takes 2 positional arguments" in positional
    return Seen(defaults == said and handler is not None, but=named, shows=positional)


@claim(
    "A-71",
    says="handle_tool_errors has a default, so that errors of tools are handled",
    layer="tool_errors",
    really="the default answers wrong arguments alone; what a tool raises ends the run",
    verdict=NUANCE,
)
def default_of_handle_tool_errors() -> Seen:
    @tool
    def divide(by: int) -> float:
        """Divide one."""
        return 1 / by

    (wrong,) = node([divide], call("divide", by="none"))["messages"]
    raised = error(lambda: node([divide], call("divide", by=0)))
    ends = raised == "ZeroDivisionError: division by zero"
    return Seen(wrong.status == "error", but=ends, shows=(wrong.content, raised))


@claim(
    "A-72",
    says="it is a runnable of _func and _afunc, with its name and tags, and untraced",
    layer="tool_node",
)
def runnable() -> Seen:
    made = ToolNode([weather()], name="weather", tags=["t"])
    functions = [getattr(one, "__name__", "") for one in (made.func, made.afunc)]
    shown = (type(made).__base__.__name__, functions, made.name, made.tags, made.trace)  # type: ignore
    expected = ("RunnableCallable", ["_func", "_afunc"], "weather", ["t"], False)
    return Seen(shown == expected, shows=shown)


@claim("A-73", says="tools are kept by name, as tools_by_name", layer="tool_node")
def registry() -> Seen:
    made = weather()
    renamed: Any = tool("weather_search")(look_up)
    kept = ToolNode([made, renamed]).tools_by_name
    (found,) = node([made, renamed], call("weather_search", query="晴"))["messages"]
    said = kept == {"get_weather": made, "weather_search": renamed} and found.content == "晴"
    return Seen(said, shows=list(kept))


@claim(
    "A-74",
    says="a plain function is made a tool, so create_agent takes it too",
    layer="tool_node",
)
def plain_functions() -> Seen:
    made: Any = ToolNode([look_up]).tools_by_name["look_up"]
    messages = run([look_up], calling(call("look_up", query="晴")), "好。")
    said = type(made) is StructuredTool and made.func is look_up
    return Seen(said and messages[2].content == "晴", shows=(type(made).__name__, made.args))


def _reads(state: Annotated[Any, InjectedState], query: str) -> str:
    return f"{query}: {state['who']}"


def _reads_later(seen: Annotated[Any, InjectedState], query: str) -> str:
    return f"{query}: {seen['who']}"


@claim(
    "A-75",
    says="injected arguments are dealt with when the node runs",
    layer="injection",
    really="they are found when it is made, and filled in when it runs",
    verdict=NUANCE,
)
def when_arguments_are_injected() -> Seen:
    before: Any = tool("read", description="Read.")(_reads)
    made = ToolNode([before])
    asked = {"messages": [calling(call("read", query="who"))], "who": "Ada"}
    filled = contents(made.invoke(asked, config())["messages"])
    # The node does not look at the tool again, though its argument has another name now.
    made.tools_by_name["read"] = tool("read", description="Read.")(_reads_later)
    found_before = made.invoke(asked, config())["messages"][0]
    anew = error(lambda: before.invoke({"query": "who"}))
    said = filled == ["who: Ada"] and anew.startswith("ValidationError")
    return Seen(said, but=found_before.status == "error", shows=(filled, found_before.content))


@claim(
    "A-76",
    says="the model is not told of InjectedState, InjectedStore and ToolRuntime arguments",
    layer="injection",
    really="they stay in args_schema; an unmarked argument named runtime is shown, and replaced",
    verdict=NUANCE,
)
def what_the_model_is_not_told() -> Seen:
    @tool
    def marked(
        query: str,
        state: Annotated[Any, InjectedState],
        store: Annotated[Any, InjectedStore()],
        runtime: ToolRuntime,
    ) -> str:
        """Look a word up."""
        return query

    @tool
    def unmarked(query: str, runtime: Any = None) -> str:
        """Look a word up."""
        return type(runtime).__name__

    told: Any = marked.tool_call_schema
    schema: Any = marked.args_schema
    whole = list(schema.model_fields) == ["query", "state", "store", "runtime"]
    (replaced,) = node([unmarked], call("unmarked", query="晴", runtime="forged"))["messages"]
    nuance = whole and "runtime" in unmarked.args and replaced.content == "ToolRuntime"
    return Seen(list(told.model_fields) == ["query"], but=nuance, shows=list(unmarked.args))


section("Layer 8: what ToolNode takes")


@claim(
    "A-77",
    says="_parse_input() is in tool_node.py, lines 1224 to 1266",
    layer="tool_node",
    really="the same file, other lines",
    once="langgraph-prebuilt 1.1.0",
    verdict=CHANGED,
)
def lines_of_parse_input() -> Seen:
    return is_where_said("A-77")


def given(input: Any, **options: Any) -> Any:
    """What a ToolNode with the weather makes of an input."""
    return ToolNode([weather()], **options).invoke(input, config())


class State(BaseModel):
    """A state that is no dict."""

    messages: list[Any]


@claim("A-78", says="it takes a state whose messages end with calls", layer="tool_node")
def takes_a_state() -> Seen:
    messages = [HumanMessage("?"), calling()]
    got = [given({"messages": messages}), given(State(messages=messages))]
    shown = [contents(one["messages"]) for one in got]
    return Seen(shown == [["北京 is sunny, 28C"]] * 2, shows=shown)


@claim(
    "A-79",
    says="it takes the list of calls that Send('tools', [call]) brings",
    layer="tool_node",
    really="each call needs its type, and outside of a graph the tool sees no state",
    verdict=NUANCE,
)
def takes_calls() -> Seen:
    seen: list[Any] = []

    @tool
    def look(state: Annotated[Any, InjectedState]) -> str:
        """Look at the state."""
        seen.append(state)
        return "seen"

    made, asked = ToolNode([look]), call("look") | {"args": {}}
    got = contents(made.invoke([asked], config())["messages"])
    untyped = {key: value for key, value in asked.items() if key != "type"}
    refused = error(lambda: made.invoke([untyped], config()))
    # The older version gives the list of calls itself as the messages.
    stateless = seen[0].get("messages", [asked]) == [asked]
    nuance = refused == "ValueError: No AIMessage found in input" and stateless
    return Seen(got == ["seen"], but=nuance, shows=(seen, refused))


@claim(
    "A-80",
    says="it takes a dict whose __type is tool_call_with_context, with one call in it",
    layer="tool_node",
)
def takes_a_call_with_its_state() -> Seen:
    asked = {"__type": "tool_call_with_context", "tool_call": call("read", query="who")}
    made = ToolNode([tool("read", description="Read.")(_reads)])
    got = contents(made.invoke(asked | {"state": {"who": "Ada"}}, config())["messages"])
    return Seen(got == ["who: Ada"], shows=got)


@claim("A-81", says="it takes a list of messages, as an input of its own kind", layer="tool_node")
def takes_messages() -> Seen:
    got = given([HumanMessage("?"), calling()])
    said = isinstance(got, list) and contents(got) == ["北京 is sunny, 28C"]
    return Seen(said, shows=type(got).__name__)


@claim(
    "A-82",
    says="without messages it says No message found in input, else No AIMessage found in input",
    layer="tool_node",
    really="both are so; but an empty list raises an IndexError",
    verdict=NUANCE,
)
def errors_of_input() -> Seen:
    inputs: list[Any] = [{}, {"messages": []}, {"messages": [HumanMessage("?")]}, []]
    *told, of_list = [error(lambda one=one: given(one)) for one in inputs]  # type: ignore
    nothing, no_answer = "No message found in input", "No AIMessage found in input"
    said = told == [f"ValueError: {text}" for text in (nothing, nothing, no_answer)]
    return Seen(said, but=of_list.startswith("IndexError"), shows=(told, of_list))


@claim(
    "A-83",
    says="of a state it takes the calls of the last AIMessage, searched from the end",
    layer="tool_node",
)
def takes_the_last() -> Seen:
    asked = [call(id="call_1"), call(id="call_2"), call(id="call_3")]
    messages = [calling(asked[0]), calling(*asked[1:]), HumanMessage("!")]
    ids = [one.tool_call_id for one in given({"messages": messages})["messages"]]
    none = given({"messages": [calling(), AIMessage("晴")]})["messages"]
    return Seen(ids == ["call_2", "call_3"] and none == [], shows=(ids, none))


class Chat(TypedDict):
    """A state with another name for its messages."""

    chat_history: Annotated[list[Any], add_messages]


@claim(
    "A-84",
    says="messages are in messages; for chat_history it needs messages_key='chat_history'",
    layer="tool_node",
)
def key_of_the_messages() -> Seen:
    def chat(**options: Any) -> Any:
        graph = StateGraph(Chat).add_node("tools", ToolNode([weather()], **options))
        return graph.add_edge(START, "tools").compile().invoke({"chat_history": [calling()]})

    without = error(chat)
    got = contents(chat(messages_key="chat_history")["chat_history"])
    said = without == "ValueError: No message found in input"
    return Seen(said and got == ["", "北京 is sunny, 28C"], shows=(without, got))


section("Layer 9: several calls at once")


@claim(
    "A-85",
    says="_func() and _afunc() are in tool_node.py, lines 793 to 860",
    layer="tool_node",
    really="the same file; further down since then",
    once="langgraph-prebuilt 1.1.0",
    verdict=(CHANGED, HOLDS),
)
def lines_of_func() -> Seen:
    return is_where_said("A-85")


def runtimes(*calls: dict[str, Any], tools: Any = ()) -> list[Any]:
    """The ToolRuntime that each call got."""
    seen: list[Any] = []

    @tool
    def look(number: int, runtime: ToolRuntime) -> str:
        """Look at the runtime."""
        seen.append(runtime)
        return "seen"

    node([look, *tools], *calls)
    return sorted(seen, key=lambda one: str(one.tool_call_id))


@claim("A-86", says="each call has its own config and its own ToolRuntime", layer="injection")
def one_runtime_each() -> Seen:
    first, second = runtimes(*(call("look", id=f"call_{n}", number=n) for n in (1, 2)))
    ids = [first.tool_call_id, second.tool_call_id]
    own = first is not second and first.config is not second.config
    return Seen(own and ids == ["call_1", "call_2"], shows=ids)


@claim(
    "A-87",
    says="it has state, tool_call_id, config, context, store, stream_writer, tools and two infos",
    layer="injection",
    really="there are no tools before langgraph-prebuilt 1.0.11",
    once="langgraph-prebuilt 1.1.0",
    verdict=(HOLDS, CHANGED),
)
def fields_of_the_runtime() -> Seen:
    said = {"state", "tool_call_id", "config", "context", "store", "stream_writer", "tools"}
    infos = {"execution_info", "server_info"}
    names = {one.name for one in fields(ToolRuntime)}
    (runtime,) = runtimes(call("look", number=1), tools=[weather()])
    tools = [one.name for one in getattr(runtime, "tools", [])]
    return Seen(
        names == said | infos and tools == ["look", "get_weather"], shows=(sorted(names), tools)
    )


@claim(
    "A-88",
    says="context is the run's, store keeps things, stream_writer streams",
    layer="injection",
)
def context_store_and_stream() -> Seen:
    store = InMemoryStore()

    @tool
    def note(runtime: ToolRuntime[Any, Any]) -> str:
        """Note who asks."""
        runtime.stream_writer("half done")
        runtime.store.put(("notes",), "who", {"name": runtime.context.messages[0]})  # type: ignore
        return "noted"

    made = agent(
        [note], calling(call("note") | {"args": {}}), "好。", context_schema=State, store=store
    )
    streamed = list(made.stream(QUESTION, context=State(messages=["Ada"]), stream_mode="custom"))
    kept: Any = store.get(("notes",), "who")
    said = streamed == ["half done"] and kept.value == {"name": "Ada"}
    return Seen(said, shows=(streamed, kept.value))


@claim(
    "A-89",
    says="in a sync run the calls are mapped over an executor of the config: threads",
    layer="tool_node",
)
def sync_runs_in_threads() -> Seen:
    together = threading.Barrier(3)
    threads: list[str] = []

    @tool
    def wait(number: int, alone: bool) -> int:
        """Wait for the others."""
        threads.append(threading.current_thread().name)
        if not alone:
            together.wait(WAIT)
        return number

    def ask(alone: bool, **more: Any) -> tuple[list[Any], int]:
        threads.clear()
        calls = [call("wait", id=str(n), number=n, alone=alone) for n in (1, 2, 3)]
        got = ToolNode([wait]).invoke({"messages": [calling(*calls)]}, config() | more)
        return contents(got["messages"]), len({*threads, threading.current_thread().name}) - 1

    shown = [ask(alone=False), ask(alone=True, max_concurrency=1)]
    return Seen(shown == [(["1", "2", "3"], 3), (["1", "2", "3"], 1)], shows=shown)


@claim("A-90", says="in an async run they are gathered", layer="tool_node")
def async_runs_are_gathered() -> Seen:
    ended: list[int] = []

    async def ask() -> Any:
        events = [asyncio.Event() for _ in range(4)]
        events[3].set()

        @tool
        async def wait(number: int) -> int:
            """Wait for the next one."""
            await asyncio.wait_for(events[number + 1].wait(), WAIT)
            ended.append(number)
            events[number].set()
            return number

        calls = [call("wait", id=str(number), number=number) for number in range(3)]
        return await ToolNode([wait]).ainvoke({"messages": [calling(*calls)]}, config())

    got = contents(asyncio.run(ask())["messages"])
    return Seen((ended, got) == ([2, 1, 0], ["0", "1", "2"]), shows=(ended, got))


@claim(
    "A-91",
    says="several calls of one message do not run one by one in ToolNode, but at once",
    layer="tool_node",
    really="in create_agent each call is a Send of its own: ToolNode runs once for each, at once",
    verdict=NUANCE,
)
def calls_at_once() -> Seen:
    together = threading.Barrier(2)

    @tool
    def wait(number: int) -> int:
        """Wait for the other one."""
        together.wait(WAIT)
        return number

    asks = calling(*(call("wait", id=str(number), number=number) for number in (1, 2)))
    graph = StateGraph(MessagesState).add_node("tools", ToolNode([wait])).add_edge(START, "tools")
    streams = [
        graph.compile().stream({"messages": [asks]}, stream_mode="updates"),
        agent([wait], asks, "好。").stream(QUESTION, stream_mode="updates"),
    ]
    steps = [[one["tools"]["messages"] for one in stream if "tools" in one] for stream in streams]
    shown = [[len(messages) for messages in one] for one in steps]
    return Seen(shown[0] == [2], but=shown[1] == [1, 1], shows=shown)
