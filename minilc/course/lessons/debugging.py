"""Exercises of notebook 15, debugging: a clinic of eight patients, cured when the doctor says so.

A patient's stub is its sick code. Each check runs what the learner returns, on the real library.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Annotated, Any

from langchain.agents import AgentState, create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphBubbleUp
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, ToolNode, tools_condition
from langgraph.types import Command, interrupt

from minilc.course.doctor import diagnose
from minilc.course.exercises import Check, Exercise, Lesson, Option, Quiz, Wrong
from minilc.course.scripted import ScriptedChatModel
from minilc.course.ward import Chat, call

QUESTION = "北京今天天气怎么样？"
HEALTHY: list[str] = []  # what the doctor finds on a cured patient


def _script(*calls: dict[str, Any]) -> ScriptedChatModel:
    """A model that makes these calls, one an answer, and then speaks."""
    return ScriptedChatModel([*(AIMessage("", tool_calls=[one]) for one in calls), "好的。"])


def _said(state: Any, key: str = "messages") -> list[Any]:
    return [message.content for message in state[key] if message.type == "tool"]


def _offered(model: ScriptedChatModel) -> list[list[str]]:
    """The names of the tools in each request."""
    return [[one["function"]["name"] for one in request.tools or ()] for request in model.requests]


def _codes(subject: Any, *among: str) -> list[str]:
    """What the doctor finds; or which of some findings."""
    return [code for code in diagnose(subject).codes if not among or code in among]


def _weather() -> list[Any]:
    @tool
    def get_weather(city: str) -> str:
        """Get current weather for a city."""
        return f"{city}: 晴"

    @tool
    def get_tide(city: str) -> str:
        """Get the tide of a city by the sea."""
        return f"{city}: high"

    return [get_weather, get_tide]


# --- debugging-1: name and description ------------------------------------------------------------


def _order_tool(name: str, description: str) -> Callable[[], Any]:
    def answer() -> Any:
        def query_order(order_id: str) -> str:
            return f"{order_id}: paid"

        return tool(name, description=description)(query_order)

    return answer


def _other_argument() -> Any:
    @tool
    def query_order(id: str) -> str:
        """Look up an order when the user asks about its status or payment."""
        return f"{id}: paid"

    return query_order


WHEN = "Look up an order when the user asks about its status or payment."
_name_alone = _order_tool("query_order", "Query order.")
_description_alone = _order_tool("query order", WHEN)
_in_chinese = _order_tool("查询订单", WHEN)
_called_tool = _order_tool("tool1", WHEN)

NAMED = Exercise(
    id="debugging-1",
    title="A tool that is refused, or never called",
    minutes=5,
    difficulty="easy",
    task="""
        *OpenAI answers 400 to every request with this tool. Another provider takes it, and there
        the model never calls it.* Two faults. What the tool does with an `order_id` is right.
        """,
    stub='''
from typing import Any

from langchain_core.tools import tool


def order_tool() -> Any:
    """The tool, cured."""

    @tool("query order", description="Query order.")
    def query_order(order_id: str) -> str:
        return f"{order_id}: paid"

    return query_order
''',
    hints=(
        "Ask the doctor: `diagnose(order_tool())`. Two codes, and both belong to the first "
        "question.",
        "A name may have letters, digits, `_` and `-`. A description that repeats the name tells "
        "the model nothing: when is this tool the right one?",
    ),
    checks=(
        Check(
            "what it does",
            lambda lc, answer: answer().invoke({"order_id": "O1"}),
            "the tool worked; only what the model is told of it was ill",
            "O1: paid",
        ),
        Check(
            "its name",
            lambda lc, answer: _codes(answer(), "name-refused"),
            "providers take letters, digits, _ and - in a name, and refuse the whole request",
            HEALTHY,
        ),
        Check(
            "its description",
            lambda lc, answer: _codes(answer(), "description-missing", "description-says-nothing"),
            "the description still repeats the name: say when the model should use the tool",
            HEALTHY,
        ),
        Check(
            "the doctor's findings",
            lambda lc, answer: _codes(answer()),
            "name and description are taken by everybody now, but one of them says too little",
            HEALTHY,
        ),
    ),
    wrong_answers=(
        Wrong(_name_alone, "still repeats the name"),
        Wrong(_description_alone, "letters, digits"),
        Wrong(_in_chinese, "letters, digits"),
        Wrong(_called_tool, "says too little"),
        Wrong(_other_argument, "the tool worked"),
    ),
)


# --- debugging-2: a model that was never bound ----------------------------------------------------


def _graph(ask: Any, tools: list[Any]) -> Any:
    graph = StateGraph(MessagesState)
    graph.add_node("model", ask)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile()


def _asking(bound: Any) -> Any:
    return lambda state: {"messages": [bound.invoke(state["messages"])]}


def _binds_one(model: Any, tools: list[Any]) -> Any:
    return _graph(_asking(model.bind_tools(tools[:1])), tools)


def _binds_once(model: Any, tools: list[Any]) -> Any:
    bound = model.bind_tools(tools)

    def ask(state: Any) -> Any:
        asked = bound if len(state["messages"]) == 1 else model
        return {"messages": [asked.invoke(state["messages"])]}

    return _graph(ask, tools)


def _loses_a_tool(model: Any, tools: list[Any]) -> Any:
    return _graph(_asking(model.bind_tools(tools)), tools[:1])


def _asks_once(model: Any, tools: list[Any]) -> Any:
    graph = StateGraph(MessagesState)
    graph.add_node("model", _asking(model.bind_tools(tools)))
    graph.add_edge(START, "model")
    return graph.compile()


def _hand_made(build: Any) -> tuple[ScriptedChatModel, Any]:
    model = _script(call("get_weather", city="北京"), call("get_tide", "call_2", city="上海"))
    state = build(model, _weather()).invoke({"messages": [("user", QUESTION)]})
    return model, state


BOUND = Exercise(
    id="debugging-2",
    title="A model that knows no tools",
    minutes=5,
    difficulty="easy",
    task="""
        *My graph has a ToolNode and I bind the tools. The model says that it has no tools.*
        One fault.
        """,
    stub='''
from typing import Any

from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition


def build(model: Any, tools: list[Any]) -> Any:
    """The graph, cured."""
    model.bind_tools(tools)

    def ask(state: Any) -> Any:
        return {"messages": [model.invoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", ask)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile()
''',
    hints=(
        "What does `bind_tools` do with the model itself?",
        "Nothing: it returns another one. Which of the two is asked in `ask`?",
    ),
    checks=(
        Check(
            "the tools in each request",
            lambda lc, build: _offered(_hand_made(build)[0]),
            "a model knows the tools of its request and no others: each request needs both tools",
            [["get_weather", "get_tide"]] * 3,
        ),
        Check(
            "what the tools answer",
            lambda lc, build: _said(_hand_made(build)[1]),
            "the model is offered a tool that the ToolNode does not have",
            ["北京: 晴", "上海: high"],
        ),
        Check(
            "the doctor's findings",
            lambda lc, build: _codes(build(_script(), _weather())),
            "the doctor still finds something in the graph",
            HEALTHY,
        ),
    ),
    wrong_answers=(
        Wrong(_binds_one, "each request needs both tools"),
        Wrong(_binds_once, "each request needs both tools"),
        Wrong(_asks_once, "each request needs both tools"),
        Wrong(_loses_a_tool, "does not have"),
    ),
)


# --- debugging-3: arguments that do not arrive ----------------------------------------------------


def _settings(function: Any) -> Callable[[], Any]:
    about = "Apply a settings file to the device, with options that go before it."

    def answer() -> Any:
        return tool("apply_settings", description=about)(function)

    return answer


def _renamed_alone(settings_file: str, **options: str) -> str:
    return f"{settings_file} with {options}"


def _options_alone(config: str, options: dict[str, str]) -> str:
    return f"{config} with {options}"


def _no_options(settings_file: str) -> str:
    return f"{settings_file} with {{}}"


def _options_as_text(settings_file: str, options: str) -> str:
    return f"{settings_file} with {options}"


def _two_options(settings_file: str, light: str = "on", sound: str = "on") -> str:
    return f"{settings_file} with {dict(light=light, sound=sound)}"


SETTINGS = {"settings_file": "day.toml", "options": {"light": "off"}}

ARRIVED = Exercise(
    id="debugging-3",
    title="Arguments that never arrive",
    minutes=10,
    difficulty="medium",
    task="""
        *The model sends a file and some options. The function gets neither.* Two faults. Cured,
        the tool takes `{"settings_file": "day.toml", "options": {"light": "off"}}`, and any other
        options as well.
        """,
    stub='''
from typing import Any

from langchain_core.tools import tool


def settings_tool() -> Any:
    """The tool, cured."""

    @tool
    def apply_settings(config: str, **options: str) -> str:
        """Apply a settings file to the device, with options that go before it."""
        return f"{config} with {options}"

    return apply_settings
''',
    hints=(
        "`diagnose(settings_tool())` has two codes of the second question. Which parameter is "
        "which?",
        "LangChain keeps the name `config` for the run's own settings. And only named parameters "
        "become fields of the schema.",
        "A dict whose values are texts can be a parameter like any other: give it a type.",
    ),
    checks=(
        Check(
            "the file",
            lambda lc, answer: str(answer().invoke(SETTINGS)).partition(" ")[0],
            "the file does not arrive: `config` belongs to the run, whatever the model sends",
            "day.toml",
        ),
        Check(
            "the options",
            lambda lc, answer: answer().invoke(SETTINGS),
            "the options do not arrive: the schema has only named parameters, and the rest of the "
            "call is dropped",
            "day.toml with {'light': 'off'}",
        ),
        Check(
            "the doctor's findings",
            lambda lc, answer: _codes(answer()),
            "the doctor still finds something in the tool",
            HEALTHY,
        ),
    ),
    wrong_answers=(
        Wrong(_settings(_renamed_alone), "the options do not arrive"),
        Wrong(_settings(_no_options), "the options do not arrive"),
        Wrong(_settings(_two_options), "the options do not arrive"),
        Wrong(_settings(_options_alone), "the file does not arrive"),
        Wrong(_settings(_options_as_text), "the file does not arrive"),
    ),
)


# --- debugging-4: who the user is -----------------------------------------------------------------


class _Shop(AgentState):
    user_id: str


def _from_the_state(model: Any) -> Any:
    @tool
    def query_order(order_id: str, state: Annotated[dict[str, Any], InjectedState]) -> str:
        """Query an order of the current user by its order id."""
        return f"{order_id} of {state['user_id']}"

    return create_agent(model, [query_order])


def _unmarked(model: Any) -> Any:
    @tool
    def query_order(order_id: str, state: dict[str, Any]) -> str:
        """Query an order of the current user by its order id."""
        return f"{order_id} of {state['user_id']}"

    return create_agent(model, [query_order], state_schema=_Shop)


def _with_a_default(model: Any) -> Any:
    @tool
    def query_order(order_id: str, user_id: str = "u7") -> str:
        """Query an order of the user by its order id."""
        return f"{order_id} of {user_id}"

    return create_agent(model, [query_order], state_schema=_Shop)


def _one_for_all(model: Any) -> Any:
    @tool
    def query_order(order_id: str) -> str:
        """Query an order of the current user by its order id."""
        return f"{order_id} of u7"

    return create_agent(model, [query_order], state_schema=_Shop)


def _of_user(build: Any, user: str, **args: str) -> tuple[ScriptedChatModel, Any]:
    model = _script(call("query_order", order_id="O1", **args))
    state = build(model).invoke({"messages": [("user", "O1?")], "user_id": user})
    return model, state


def _asked_for(build: Any) -> list[str]:
    model = _script(call("query_order", order_id="O1"))
    with_user = {"messages": [("user", "O1?")], "user_id": "u7"}
    try:
        build(model).invoke(with_user)
    except KeyError:  # a tool that finds no user in the state; the request was sent before
        pass
    return list(model.requests[0].tools[0]["function"]["parameters"]["properties"])


WHOSE = Exercise(
    id="debugging-4",
    title="A model that says who you are",
    minutes=10,
    difficulty="medium",
    task="""
        *A user wrote "I am root", and read the orders of root.* One fault. Who the user is stands
        in the input of the run, beside the messages: `{"messages": [...], "user_id": "u7"}`.
        """,
    stub='''
from typing import Any

from langchain.agents import create_agent
from langchain_core.tools import tool


def build(model: Any) -> Any:
    """The agent, cured."""

    @tool
    def query_order(order_id: str, user_id: str) -> str:
        """Query an order of the current user by its order id."""
        return f"{order_id} of {user_id}"

    return create_agent(model, [query_order])
''',
    hints=(
        "Problem 10: which mark says that a parameter is not for the model?",
        "A state drops what it has no field for. `AgentState` can be extended by a field, and "
        "`create_agent` takes the class as `state_schema`.",
        '`InjectedState("user_id")` as the second part of an `Annotated` gives one field of the '
        "state.",
    ),
    checks=(
        Check(
            "what the model is asked for",
            lambda lc, build: _asked_for(build),
            "the model is still asked for more than the order: what it fills in, it can forge",
            ["order_id"],
        ),
        Check(
            "whose order",
            lambda lc, build: _said(_of_user(build, "u7")[1]),
            "the tool finds no user_id in the state: a state without that field drops it",
            ["O1 of u7"],
        ),
        Check(
            "another user, and a model that says it is root",
            lambda lc, build: _said(_of_user(build, "u8", user_id="root")[1]),
            "the user is the one of this run, whatever the model says and whoever came before",
            ["O1 of u8"],
        ),
        Check(
            "the doctor's findings",
            lambda lc, build: _codes(build(_script())),
            "the doctor still finds something in the agent",
            HEALTHY,
        ),
    ),
    wrong_answers=(
        Wrong(_unmarked, "more than the order"),
        Wrong(_with_a_default, "more than the order"),
        Wrong(_from_the_state, "drops it"),
        Wrong(_one_for_all, "whoever came before"),
    ),
)


# --- debugging-5: a graph whose messages have another name ----------------------------------------


def _chat(
    model: Any, tools: list[Any], ends: Any, name: str = "act", after: str = "model", **options: Any
) -> Any:
    bound = model.bind_tools(tools)

    def ask(state: Any) -> Any:
        return {"chat_history": [bound.invoke(state["chat_history"])]}

    graph = StateGraph(Chat)
    graph.add_node("model", ask)
    graph.add_node(name, ToolNode(tools, **options))
    graph.add_edge(START, "model")
    route = partial(tools_condition, messages_key="chat_history")
    graph.add_conditional_edges("model", route, ends)
    graph.add_edge(name, after)
    return graph.compile()


KEY = {"messages_key": "chat_history"}


def _key_alone(model: Any, tools: list[Any]) -> Any:
    return _chat(model, tools, ["act", END], **KEY)


def _map_alone(model: Any, tools: list[Any]) -> Any:
    return _chat(model, tools, {"tools": "act", END: END})


def _without_end(model: Any, tools: list[Any]) -> Any:
    return _chat(model, tools, {"tools": "act"}, **KEY)


def _not_back(model: Any, tools: list[Any]) -> Any:
    return _chat(model, tools, {"tools": "act", END: END}, after=END, **KEY)


def _chatted(build: Any, *calls: dict[str, Any]) -> list[Any]:
    graph = build(_script(*calls), _weather())
    state = graph.invoke({"chat_history": [("user", QUESTION)]})
    return [message.content for message in state["chat_history"] if message.content][1:]


KEYED = Exercise(
    id="debugging-5",
    title="A graph that does not find its messages",
    minutes=10,
    difficulty="medium",
    task="""
        *Talk works. With the first call the run dies with `KeyError: 'tools'`. I renamed a node,
        and then it died with another error.* Two faults. The state and the names of the nodes
        stay as they are.
        """,
    stub='''
from functools import partial
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from minilc.course.ward import Chat


def build(model: Any, tools: list[Any]) -> Any:
    """The graph, cured."""
    bound = model.bind_tools(tools)
    route = partial(tools_condition, messages_key="chat_history")
    graph = StateGraph(Chat)
    graph.add_node("model", lambda s: {"chat_history": [bound.invoke(s["chat_history"])]})
    graph.add_node("act", ToolNode(tools))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", route, ["act", END])
    graph.add_edge("act", "model")
    return graph.compile()
''',
    hints=(
        "`diagnose(build(model, tools))` needs no run: any model that can bind will do.",
        "`tools_condition` returns the text `tools`, or END. A path map says which node is meant.",
        "Problem 7: who else has to be told that the messages are called `chat_history`?",
    ),
    checks=(
        Check(
            "words alone",
            lambda lc, build: _chatted(build),
            "an answer without calls must end the run: the map needs a way for END",
            ["好的。"],
        ),
        Check(
            "the way to the tools",
            lambda lc, build: _codes(build(_script(), _weather()), "path-map", "tools-unreachable"),
            "the edge still does not lead to the node: tools_condition says 'tools', the node is "
            "called 'act'",
            HEALTHY,
        ),
        Check(
            "where ToolNode looks",
            lambda lc, build: _codes(build(_script(), _weather()), "messages-key"),
            "the edge finds the node, and ToolNode still looks for the messages under `messages`",
            HEALTHY,
        ),
        Check(
            "a call, its answer, and the last word",
            lambda lc, build: _chatted(build, call("get_weather", city="北京")),
            "the tool must run, and the model must read its answer",
            ["北京: 晴", "好的。"],
        ),
        Check(
            "the doctor's findings",
            lambda lc, build: _codes(build(_script(), _weather())),
            "the doctor still finds something in the graph",
            HEALTHY,
        ),
    ),
    wrong_answers=(
        Wrong(_key_alone, "does not lead to the node"),
        Wrong(_map_alone, "still looks for the messages"),
        Wrong(_without_end, "a way for END"),
        Wrong(_not_back, "must read its answer"),
    ),
)


# --- debugging-6: a tool for both kinds of run ----------------------------------------------------


def _fetching(build: Any) -> tuple[Any, list[str]]:
    """An agent with the tool, and which of the two downloads were used."""
    used: list[str] = []

    def download(url: str) -> str:
        used.append("download")
        return f"the page {url}"

    async def adownload(url: str) -> str:
        used.append("adownload")
        return f"the page {url}"

    model = _script(call("fetch_page", url="a.cn"))
    return create_agent(model, [build(download, adownload)]), used


def _sync(build: Any) -> Any:
    agent, used = _fetching(build)
    return _said(agent.invoke({"messages": [("user", "a.cn?")]})), used


def _async(build: Any) -> Any:
    agent, used = _fetching(build)
    with ThreadPoolExecutor(1) as pool:  # a notebook's own loop runs already
        run = agent.ainvoke({"messages": [("user", "a.cn?")]})
        return _said(pool.submit(asyncio.run, run).result()), used


def _examined(build: Any) -> list[str]:
    agent, _ = _fetching(build)
    return _codes(lambda: agent.invoke({"messages": [("user", "a.cn?")]}))


def _sync_alone(download: Any, adownload: Any) -> Any:
    @tool
    def fetch_page(url: str) -> str:
        """Fetch a web page by its url."""
        return download(url)

    return fetch_page


def _runs_a_loop(download: Any, adownload: Any) -> Any:
    @tool
    def fetch_page(url: str) -> str:
        """Fetch a web page by its url."""
        return asyncio.run(adownload(url))

    return fetch_page


def _other_name(download: Any, adownload: Any) -> Any:
    about = "Fetch a web page by its url."
    return StructuredTool.from_function(download, adownload, description=about)


def _says_little(download: Any, adownload: Any) -> Any:
    return StructuredTool.from_function(
        download, adownload, name="fetch_page", description="Fetch page."
    )


BOTH = Exercise(
    id="debugging-6",
    title="A tool that works in one kind of run",
    minutes=10,
    difficulty="medium",
    task="""
        *The service runs the agent with `ainvoke` and is well. The same agent in a script, with
        `invoke`: StructuredTool does not support sync invocation.* One fault. Make one tool that
        uses `download` in a sync run and `adownload` in an async one, so that no loop is blocked.
        """,
    stub='''
from collections.abc import Callable
from typing import Any

from langchain_core.tools import StructuredTool, tool


def fetch_tool(download: Callable[[str], str], adownload: Callable[[str], Any]) -> Any:
    """The tool, cured."""

    @tool
    async def fetch_page(url: str) -> str:
        """Fetch a web page by its url."""
        return await adownload(url)

    return fetch_page
''',
    hints=(
        "A StructuredTool has two places for a function: `func` and `coroutine`. Which one is "
        "empty?",
        "`@tool` takes one function. `StructuredTool.from_function` takes both, and has the name "
        "and the description from the first, unless you say them.",
    ),
    checks=(
        Check(
            "a sync run",
            lambda lc, build: _sync(build),
            "in a sync run the tool called fetch_page must answer, with `download`",
            (["the page a.cn"], ["download"]),
        ),
        Check(
            "an async run",
            lambda lc, build: _async(build),
            "in an async run the tool must await `adownload`; `download` would hold a thread",
            (["the page a.cn"], ["adownload"]),
        ),
        Check(
            "the doctor's findings",
            lambda lc, build: _examined(build),
            "it works in both kinds of run, and the model is told less than before",
            HEALTHY,
        ),
    ),
    wrong_answers=(
        Wrong(_sync_alone, "would hold a thread"),
        Wrong(_runs_a_loop, "with `download`"),
        Wrong(_other_name, "called fetch_page"),
        Wrong(_says_little, "told less than before"),
    ),
)


# --- debugging-7: a history that providers refuse -------------------------------------------------


def sick_history() -> list[Any]:
    """A history that was cut at its beginning, and whose second turn broke off."""
    calls = [call("get_weather", f"call_{n}", city=city) for n, city in ((2, "上海"), (3, "广州"))]
    return [
        ToolMessage("北京: 晴", tool_call_id="call_1"),
        AIMessage("北京是晴天。"),
        HumanMessage("上海和广州呢？"),
        AIMessage("", tool_calls=calls),
        ToolMessage("上海: 雨", tool_call_id="call_2"),
        HumanMessage("还在吗？"),
    ]


def _well() -> list[Any]:
    calls = [call("get_weather", f"call_{n}", city=city) for n, city in ((1, "北京"), (2, "上海"))]
    return [
        HumanMessage(QUESTION),
        AIMessage("", tool_calls=calls),
        ToolMessage("上海: 雨", tool_call_id="call_2"),
        ToolMessage("北京: 晴", tool_call_id="call_1"),
        AIMessage("北京晴，上海雨。"),
    ]


def _wrong_id() -> list[Any]:
    calls = [call("get_weather", city="北京")]
    answer = ToolMessage("北京: 晴", tool_call_id="cache_1")
    return [HumanMessage(QUESTION), AIMessage("", tool_calls=calls), answer]


def _same_id_again() -> list[Any]:
    asking = AIMessage("", tool_calls=[call("get_weather", city="北京")])
    answer = ToolMessage("北京: 晴", tool_call_id="call_1")
    return [HumanMessage(QUESTION), asking, answer, HumanMessage(QUESTION), asking]


def _brief(messages: list[Any]) -> list[Any]:
    """The messages, and for an answer the call that it answers and its status."""
    return [(m.tool_call_id, m.status) if m.type == "tool" else m.type for m in messages]


def _untouched(heal: Any) -> Any:
    messages = sick_history()
    heal(messages)
    return _brief(messages) == _brief(sick_history())


def _lost(call: Any) -> ToolMessage:
    return ToolMessage("no result", tool_call_id=call["id"], status="error")


def _open_calls(messages: list[Any]) -> list[Any]:
    answered = {m.tool_call_id for m in messages if m.type == "tool"}
    calls = [c for m in messages if m.type == "ai" for c in m.tool_calls]
    return [call for call in calls if call["id"] not in answered]


def _fitting(messages: list[Any]) -> list[Any]:
    ids = {c["id"] for m in messages if m.type == "ai" for c in m.tool_calls}
    return [m for m in messages if m.type != "tool" or m.tool_call_id in ids]


def _drops_orphans(messages: list[Any]) -> list[Any]:
    return _fitting(messages)


def _answers_at_the_end(messages: list[Any]) -> list[Any]:
    return [*_fitting(messages), *map(_lost, _open_calls(messages))]


def _keeps_orphans(messages: list[Any]) -> list[Any]:
    healed: list[Any] = []
    for message in messages:
        if message.type == "human":
            healed += [_lost(c) for c in _open_calls(messages) if c not in _open_calls(healed)]
        healed.append(message)
    return healed


def _drops_tools(messages: list[Any]) -> list[Any]:
    return [m for m in messages if m.type != "tool" and not getattr(m, "tool_calls", None)]


def _says_success(messages: list[Any]) -> list[Any]:
    healed: list[Any] = []
    for message in _fitting(messages):
        if message.type != "tool":
            for call in _open_calls(healed):
                healed.append(ToolMessage("ok", tool_call_id=call["id"]))
        healed.append(message)
    return healed + [_lost(call) for call in _open_calls(healed)]


def _searches_everywhere(messages: list[Any]) -> list[Any]:
    answers = {m.tool_call_id: m for m in messages if m.type == "tool"}
    healed: list[Any] = []
    for message in messages:
        if message.type != "tool":
            calls = getattr(message, "tool_calls", [])
            healed += [message, *(answers.get(one["id"], _lost(one)) for one in calls)]
    return healed


def _in_place(messages: list[Any]) -> list[Any]:
    from minilc.course.solutions.debugging import debugging_7

    messages[:] = debugging_7(messages)
    return messages


HEAL = Exercise(
    id="debugging-7",
    title="A history that providers refuse",
    minutes=15,
    difficulty="hard",
    task="""
        *We keep the last messages of each chat. After a restart some chats get a 400 for ever.*
        `sick_history()` is such a chat; it has two faults. Write what heals any history: behind
        each AIMessage one answer for each of its calls, and no other answers. Where an answer is
        lost, put a ToolMessage with status `error` in its place. Nobody may run a tool again.
        """,
    stub='''
from typing import Any

from langchain_core.messages import AIMessage, ToolMessage

from minilc.course.lessons.debugging import sick_history


def heal(messages: list[Any]) -> list[Any]:
    """A history that every provider takes."""
    return list(messages)
''',
    hints=(
        "`diagnose(sick_history())`, and `draw.ledger(sick_history())` next to it.",
        "Go through the messages once. A ToolMessage is never copied for its own sake: it comes "
        "along with the AIMessage whose call it answers.",
        "For each call of an AIMessage: is its answer among the ToolMessages directly behind? Take "
        "it. If not, make one, with the call's id.",
    ),
    checks=(
        Check(
            "the answer whose call was cut off",
            lambda lc, heal: _codes(heal(sick_history()), "trimmed-pair", "orphan-answer"),
            "the history still begins with an answer to a call that is not there",
            HEALTHY,
        ),
        Check(
            "the sick history, message by message",
            lambda lc, heal: _brief(heal(sick_history())),
            "call_3 has no answer directly behind its message, with its id and status error; and "
            "what was well must stay",
            ["ai", "human", "ai", ("call_2", "success"), ("call_3", "error"), "human"],
        ),
        Check(
            "an answer with another id than its call",
            lambda lc, heal: _codes(heal(_wrong_id())),
            "an answer with a wrong id belongs to nobody, and its call is still open",
            HEALTHY,
        ),
        Check(
            "a healthy history",
            lambda lc, heal: sorted(map(str, _brief(heal(_well())))),
            "a healthy history must stay as it was",
            sorted(map(str, _brief(_well()))),
        ),
        Check(
            "an id that an earlier turn has used",
            lambda lc, heal: _brief(heal(_same_id_again())),
            "an answer from an earlier turn does not answer this call, even if it has the same id: "
            "look directly behind the message",
            ["human", "ai", ("call_1", "success"), "human", "ai", ("call_1", "error")],
        ),
        Check(
            "the list that was given",
            lambda lc, heal: _untouched(heal),
            "the list that was given was changed: a caller keeps what is its own",
            True,
        ),
        Check(
            "the doctor's findings",
            lambda lc, heal: [_codes(heal(one)) for one in (sick_history(), _wrong_id(), _well())],
            "the doctor still finds something in a healed history",
            [HEALTHY] * 3,
        ),
    ),
    wrong_answers=(
        Wrong(_drops_orphans, "what was well must stay"),
        Wrong(_answers_at_the_end, "directly behind"),
        Wrong(_keeps_orphans, "a call that is not there"),
        Wrong(_drops_tools, "what was well must stay"),
        Wrong(_says_success, "status error"),
        Wrong(_searches_everywhere, "an earlier turn"),
        Wrong(_in_place, "a caller keeps"),
    ),
)


# --- debugging-8: nobody was asked ----------------------------------------------------------------


def _refunds(build: Any, reply: str | None, pay: Any = None) -> Any:
    """What a human is asked, what was paid, and what the model reads."""
    paid: list[str] = []

    def bank(order_id: str) -> str:
        paid.append(order_id)
        return f"Refund for {order_id} created."

    agent = build(_script(call("create_refund", order_id="O1")), pay or bank)
    config = {"configurable": {"thread_id": "1"}}
    state = agent.invoke({"messages": [("user", "O1?")]}, config)
    asked = [one.value for one in state.get("__interrupt__", ())]
    if asked and reply:
        state = agent.invoke(Command(resume=reply), config)
    return asked, paid, _said(state)


def _closed(order_id: str) -> str:
    raise RuntimeError("the bank is closed")


def _refund(
    body: Callable[[str, Any], str], checkpointer: bool = True
) -> Callable[[Any, Any], Any]:
    def build(model: Any, pay: Any) -> Any:
        @tool
        def create_refund(order_id: str) -> str:
            """Create a refund for an order, once a human has agreed."""
            return body(order_id, pay)

        saver = InMemorySaver() if checkpointer else None
        return create_agent(model, [create_refund], checkpointer=saver)

    return build


def _swallowing(order_id: str, pay: Any) -> str:
    try:
        if interrupt(f"refund {order_id}?") != "yes":
            return f"No refund for {order_id}: a human refused it."
        return pay(order_id)
    except Exception as error:
        return f"No refund for {order_id}: {error}"


def _letting_through(order_id: str, pay: Any) -> str:
    try:
        if interrupt(f"refund {order_id}?") != "yes":
            return f"No refund for {order_id}: a human refused it."
        return pay(order_id)
    except GraphBubbleUp:
        raise
    except Exception as error:
        return f"No refund for {order_id}: {error}"


def _without_try(order_id: str, pay: Any) -> str:
    if interrupt(f"refund {order_id}?") != "yes":
        return f"No refund for {order_id}: a human refused it."
    return pay(order_id)


def _without_reply(order_id: str, pay: Any) -> str:
    interrupt(f"refund {order_id}?")
    try:
        return pay(order_id)
    except Exception as error:
        return f"No refund for {order_id}: {error}"


def _without_human(order_id: str, pay: Any) -> str:
    try:
        return pay(order_id)
    except Exception as error:
        return f"No refund for {order_id}: {error}"


_saver_alone = _refund(_swallowing)
_raise_alone = _refund(_letting_through, checkpointer=False)
_dies = _refund(_without_try)
_pays_anyway = _refund(_without_reply)
_asks_nobody = _refund(_without_human)

ASKED = Exercise(
    id="debugging-8",
    title="The refund that nobody was asked about",
    minutes=15,
    difficulty="hard",
    task="""
        *A human has to agree before we pay. But nobody is asked, and the model tells the user that
        the refund failed.* Two faults. The `try` is there for the bank: when `pay` raises, the
        model must still read why.
        """,
    stub='''
from collections.abc import Callable
from typing import Any

from langchain.agents import create_agent
from langchain_core.tools import tool
from langgraph.types import interrupt


def build(model: Any, pay: Callable[[str], str]) -> Any:
    """The agent, cured."""

    @tool
    def create_refund(order_id: str) -> str:
        """Create a refund for an order, once a human has agreed."""
        try:
            if interrupt(f"refund {order_id}?") != "yes":
                return f"No refund for {order_id}: a human refused it."
            return pay(order_id)
        except Exception as error:
            return f"No refund for {order_id}: {error}"

    return create_agent(model, [create_refund])
''',
    hints=(
        "How does `interrupt` stop a function in the middle? Who catches it here?",
        "Which of the two calls in the `try` is the one that it is there for?",
        "A paused run goes on from its checkpoint. `InMemorySaver` of "
        "`langgraph.checkpoint.memory` is enough here.",
    ),
    checks=(
        Check(
            "what the human is asked",
            lambda lc, build: _refunds(build, None)[0],
            "nobody is asked: `interrupt` raises, and `except Exception` takes it for an error",
            ["refund O1?"],
        ),
        Check(
            "the human agrees",
            lambda lc, build: _refunds(build, "yes")[1:],
            "a paused run goes on from its checkpoint, and then the refund is paid",
            (["O1"], ["Refund for O1 created."]),
        ),
        Check(
            "the human refuses",
            lambda lc, build: _refunds(build, "no")[1:],
            "the human refused, and nothing may be paid",
            ([], ["No refund for O1: a human refused it."]),
        ),
        Check(
            "the bank is closed",
            lambda lc, build: _refunds(build, "yes", _closed)[2],
            "an error of the bank must be told to the model, and not end the run",
            ["No refund for O1: the bank is closed"],
        ),
        Check(
            "the doctor's findings",
            lambda lc, build: _codes(build(_script(), _closed)),
            "the doctor still finds something in the agent",
            HEALTHY,
        ),
    ),
    wrong_answers=(
        Wrong(_saver_alone, "nobody is asked"),
        Wrong(_asks_nobody, "nobody is asked"),
        Wrong(_raise_alone, "from its checkpoint"),
        Wrong(_pays_anyway, "nothing may be paid"),
        Wrong(_dies, "must be told to the model"),
    ),
)


LESSON = Lesson(
    exercises=(NAMED, BOUND, ARRIVED, WHOSE, KEYED, BOTH, HEAL, ASKED),
    quizzes=(
        Quiz(
            id="debugging-1",
            question="A run ended without an error. Its last message is an `AIMessage` with an "
            "empty text and an empty `tool_calls`. Where do you look first?",
            options=(
                Option(
                    "at the tool's function, which must have returned nothing",
                    "No tool has run: there is no ToolMessage behind the last AIMessage.",
                ),
                Option(
                    "at the `invalid_tool_calls` of that message",
                    "A call whose arguments are broken JSON stands there, and nobody runs it.",
                    right=True,
                ),
                Option(
                    "at the names in `ToolNode.tools_by_name`, since the name was not found",
                    "A wrong name is answered by an error that the model reads. The run goes on.",
                ),
            ),
        ),
        Quiz(
            id="debugging-2",
            question="You put a breakpoint of `pdb` into `ToolNode._execute_tool_sync` and run "
            "`agent.invoke(...)`. The tool runs, and pdb never stops. Why?",
            options=(
                Option(
                    "the agent runs another function, since the graph was compiled",
                    "Compiling makes a plan of the same functions. `_execute_tool_sync` runs.",
                ),
                Option(
                    "`invoke` runs everything in an event loop, where pdb cannot stop",
                    "`invoke` has no loop. And pdb stops in `async` functions too.",
                ),
                Option(
                    "it runs in a thread of a pool, and pdb watches one thread",
                    "ToolNode maps its calls over a pool of threads. pdb traces the thread it was "
                    "started in.",
                    right=True,
                ),
            ),
        ),
    ),
)
