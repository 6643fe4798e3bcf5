"""Article A, layers 3 to 6: `create_agent`, `bind_tools`, and the edges around the model."""

from __future__ import annotations

import asyncio
import warnings
from typing import Any

from langchain.agents import create_agent, factory
from langchain.agents.middleware import (
    AgentMiddleware,
    after_model,
    wrap_model_call,
    wrap_tool_call,
)
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from langgraph.graph import END
from langgraph.prebuilt import create_react_agent
from langgraph.types import Send
from pydantic import BaseModel

from minilc.course.articles.ledger import CHANGED, HOLDS, NUANCE, Seen, claim, section
from minilc.course.articles.support import (
    QUESTION,
    agent,
    call,
    calling,
    error,
    is_where_said,
    kinds,
    run,
    scripted,
    weather,
)
from minilc.course.scripted import ScriptedChatModel
from minilc.course.wire import Wire, completion, convert_to_gemini_tool, real_openai

SEARCH = {"type": "web_search"}  # a tool that the provider runs


class Report(BaseModel):
    """The report."""

    degrees: int


def read(path: str) -> str:
    """Read a file."""
    return path


def registered(made: Any) -> dict[str, BaseTool] | None:
    """The tools in an agent's ToolNode; None if it has no such node."""
    return made.nodes["tools"].bound.tools_by_name if "tools" in made.nodes else None


def edge(made: Any, name: str = "model_to_tools") -> Any:
    """One of an agent's two conditional edges."""
    (found,) = [one[name] for one in made.builder.branches.values() if name in one]
    return found


def route(*messages: Any, **state: Any) -> Any:
    """Where the edge goes after the model, in an agent that has a structured answer too."""
    made = agent([weather()], "好。", response_format=ToolStrategy(Report))
    return edge(made).path.invoke({"messages": list(messages), **state})


def sent(sends: list[Send]) -> list[str]:
    """The ids of the calls that are sent to the tools."""
    calls = [one.arg[0] if isinstance(one.arg, list) else one.arg["tool_call"] for one in sends]
    return [one["id"] for one in calls]


def two() -> AIMessage:
    """Two calls at once."""
    return calling(call(id="call_1"), call(id="call_2"))


def answer(id: str) -> ToolMessage:
    """The answer to a call."""
    return ToolMessage("sunny", tool_call_id=id)


def answering(id: str) -> AgentMiddleware:
    """A middleware that answers calls itself, with this id."""

    @after_model
    def answer_it(state: Any, runtime: Any) -> dict[str, Any] | None:
        return {"messages": [answer(id)]} if state["messages"][-1].tool_calls else None

    return answer_it


section("Layer 3: the tools of create_agent")


@claim(
    "A-42",
    says="create_agent prepares its tools in factory.py, lines 1028 to 1056",
    layer="factory",
    really="the same file, other lines",
    once="langchain 1.3.8 to 1.3.10",
    verdict=CHANGED,
)
def lines_of_the_tools() -> Seen:
    return is_where_said("A-42", "tool_node:", "default_tools =")


@claim(
    "A-43",
    says="a tool that is a dict is the provider's; everything else is a regular one",
    layer="factory",
)
def two_kinds_of_tools() -> Seen:
    model = scripted("好。")
    made = create_agent(model, [weather(), SEARCH])
    made.invoke(QUESTION)
    local = list(registered(made) or ())
    told = model.requests[0].tools
    both = len(told) == 2 and told[0]["function"]["name"] == "get_weather" and told[1] == SEARCH
    return Seen(both and local == ["get_weather"], shows=(local, told[-1]))


@claim(
    "A-44",
    says="the tools of the middleware come first, then the regular ones",
    layer="factory",
)
def tools_of_middleware() -> Seen:
    class Reading(AgentMiddleware):
        tools = [tool(read)]

    names = list(registered(agent([weather()], "好。", middleware=[Reading()])) or ())
    return Seen(names == ["read", "get_weather"], shows=names)


@wrap_tool_call
def passing(request: Any, handler: Any) -> Any:
    """Let the call pass."""
    return handler(request)


@wrap_tool_call
async def passing_later(request: Any, handler: Any) -> Any:
    """Let the call pass, in an async run."""
    return await handler(request)


@claim(
    "A-45",
    says="there is a ToolNode if there are local tools, or a middleware that wraps tool calls",
    layer="factory",
)
def whether_there_is_a_tool_node() -> Seen:
    without = [registered(agent(tools, "好。")) for tools in ([], [SEARCH])]
    wrapped = [registered(agent([], "好。", middleware=[one])) for one in (passing, passing_later)]
    local = registered(agent([weather()], "好。"))
    shown = [*without, *wrapped, list(local or ())]
    return Seen(shown == [None, None, {}, {}, ["get_weather"]], shows=shown)


def noting(name: str, notes: list[str], later: bool) -> AgentMiddleware:
    """A middleware that notes when a tool call goes in and comes out."""

    def go_in(request: Any, handler: Any) -> Any:
        notes.append(f"{name} in")
        result = handler(request)
        notes.append(f"{name} out")
        return result

    async def go_in_later(request: Any, handler: Any) -> Any:
        notes.append(f"{name} in")
        result = await handler(request)
        notes.append(f"{name} out")
        return result

    return wrap_tool_call(name=name)(go_in_later if later else go_in)


@claim(
    "A-46",
    says="the ToolNode gets one wrapper of all the middleware, one for sync and one for async",
    layer="middleware",
)
def one_wrapper_of_all() -> Seen:
    notes: list[str] = []
    for later in (False, True):
        middleware = [noting(name, notes, later) for name in ("outer", "inner")]
        made = agent([weather()], middleware=middleware)
        asyncio.run(made.ainvoke(QUESTION)) if later else made.invoke(QUESTION)
    return Seen(notes == ["outer in", "inner in", "inner out", "outer out"] * 2, shows=notes)


@claim(
    "A-47",
    says="the model's tools are those of the ToolNode, then the dicts",
    layer="factory",
)
def default_tools() -> Seen:
    asked: list[list[Any]] = []

    @wrap_model_call
    def ask(request: Any, handler: Any) -> Any:
        asked.append(request.tools)
        return handler(request)

    made = agent([SEARCH, read], "好。", middleware=[ask])
    made.invoke(QUESTION)
    converted = list((registered(made) or {}).values())
    is_tool = [isinstance(one, BaseTool) for one in converted] == [True]
    return Seen(
        is_tool and asked == [[*converted, SEARCH]],
        shows=[getattr(one, "name", one) for one in asked[0]],
    )


@claim(
    "A-48",
    says="local tools run in the ToolNode, dict tools at the provider",
    layer="factory",
    really="a call of a dict tool's name is an error; with dict tools alone it is never answered",
    verdict=NUANCE,
)
def who_runs_which() -> Seen:
    model = scripted()
    made = create_agent(model, [weather(), SEARCH])
    local = made.invoke(QUESTION)["messages"][2].content
    at_provider = SEARCH in model.requests[0].tools and "web_search" not in (registered(made) or {})
    asks = calling(call("web_search", query="天气"))
    mistaken = run([weather(), SEARCH], asks, "好。")[2].content
    refused = mistaken == "Error: web_search is not a valid tool, try one of [get_weather]."
    unanswered = kinds(run([SEARCH], asks, "好。")) == ["human", "ai"]
    said = at_provider and local == "北京 is sunny, 28C"
    return Seen(said, but=refused and unanswered, shows=mistaken)


section("Layer 4: bind_tools")


@claim(
    "A-49",
    says="the model is bound in factory.py, lines 1334 to 1378",
    layer="factory",
    really="the same file, other lines: the end of _get_bound_model",
    once="langchain 1.3.8 to 1.3.10",
    verdict=CHANGED,
)
def lines_of_binding() -> Seen:
    return is_where_said("A-49", "# Bind model", "return request.model.bind(")


@claim(
    "A-50",
    says="with tools it is bind_tools, with tool_choice and settings; without tools it is bind",
    layer="factory",
)
def how_the_model_is_bound() -> Seen:
    bound: list[tuple[str, dict[str, Any]]] = []

    class Watched(ScriptedChatModel):
        def bind_tools(self, tools: Any, **options: Any) -> Any:
            bound.append(("bind_tools", options))
            return self

        def bind(self, **options: Any) -> Any:
            bound.append(("bind", options))
            return self

    @wrap_model_call
    def setting(request: Any, handler: Any) -> Any:
        return handler(request.override(tool_choice="any", model_settings={"temperature": 0}))

    for tools in ([weather()], []):
        model: Any = Watched(["好。"])  # type: ignore
        create_agent(model, tools, middleware=[setting]).invoke(QUESTION)
    with_tools = ("bind_tools", {"tool_choice": "any", "temperature": 0})
    return Seen(bound == [with_tools, ("bind", {"temperature": 0})], shows=bound)


@claim(
    "A-51",
    says="each provider's package turns the tools into its own schema",
    layer="function_calling",
)
def schemas_of_providers() -> Seen:
    from langchain_anthropic import ChatAnthropic

    made = weather()
    wire = Wire(completion("好。"))
    real_openai(wire.transport).bind_tools([made]).invoke("?")
    anthropic: Any = ChatAnthropic(model_name="claude", api_key="none")  # type: ignore
    told = {
        "openai": wire.bodies[0]["tools"][0]["function"],
        "anthropic": anthropic.bind_tools([made]).kwargs["tools"][0],
        "gemini": convert_to_gemini_tool(made),
    }
    named = all(
        one.pop("name") == "get_weather" and one.pop("description") for one in told.values()
    )
    shown = {name: list(one) for name, one in told.items()}
    expected = {"openai": ["parameters"], "anthropic": ["input_schema"], "gemini": ["parameters"]}
    of_gemini = told["gemini"]["parameters"]["type"] == "OBJECT"
    return Seen(named and shown == expected and of_gemini, shows=told)


@claim(
    "A-52",
    says="bind_tools runs nothing; it puts the tools' descriptions into the request",
    layer="chat_models",
)
def bind_tools_runs_nothing() -> Seen:
    ran: list[str] = []

    @tool
    def get_weather(city: str) -> str:
        """Weather."""
        ran.append(city)
        return city

    wire = Wire(completion(tool_calls=[("get_weather", '{"city": "北京"}')]))
    model = real_openai(wire.transport)
    asked = [model.bind_tools([get_weather]).invoke("?"), model.invoke("?")]
    in_request = ["tools" in body for body in wire.bodies]
    said = ran == [] and in_request == [True, False] and len(asked[0].tool_calls) == 1
    return Seen(said, shows=wire.bodies[0])


@claim(
    "A-53",
    says="a request is a message with tool_calls: name, args, id, type; a plain answer has none",
    layer="messages",
)
def what_a_request_is() -> Seen:
    untyped = {"name": "get_weather", "args": {"city": "北京"}, "id": "call_xxx"}
    asks = AIMessage("", tool_calls=[untyped]).tool_calls
    return Seen(asks == [{**untyped, "type": "tool_call"}] and AIMessage("晴").tool_calls == [])


section("Layer 5: the conditional edges")


@claim(
    "A-54",
    says="with a ToolNode two conditional edges are added in factory.py, lines 1594 to 1641",
    layer="factory",
    really="there are two edges, at other lines",
    once="langchain 1.3.8 to 1.3.10",
    verdict=CHANGED,
)
def lines_of_the_edges() -> Seen:
    edges = [name for one in agent([weather()]).builder.branches.values() for name in one]
    where = is_where_said("A-54", "add_edge(START", "model_to_tools_destinations,")
    said = where.said and sorted(edges) == ["model_to_tools", "tools_to_model"]
    return Seen(said, shows=(edges, where.shows))


@claim(
    "A-55",
    says="each is an untraced RunnableCallable, with a list of destinations",
    layer="factory",
)
def what_the_edges_are() -> Seen:
    made = agent([weather()])
    edges = [edge(made, name) for name in ("model_to_tools", "tools_to_model")]
    shown = [(type(one.path).__name__, one.path.trace, dict(one.ends)) for one in edges]
    untraced = all(name == "RunnableCallable" and not trace for name, trace, _ in shown)
    by_name = all(ends and list(ends) == list(ends.values()) for *_, ends in shown)
    return Seen(untraced and by_name, shows=shown)


@claim(
    "A-56",
    says="the edge after the model goes to the tools, to the end, or to the model",
    layer="factory",
    really="to the model only with a response_format or a middleware that can bring it there",
    verdict=NUANCE,
)
def destinations_after_the_model() -> Seen:
    (send,) = route(calling())
    goes = [send.node, route(AIMessage("晴")), route(calling(), answer("call_1"))]
    plain = set(edge(agent([weather()])).ends)
    hooked = set(edge(agent([weather()], middleware=[answering("call_1")])).ends)
    nuance = (plain, hooked) == ({"tools", END}, {"tools", END, "model"})
    return Seen(goes == ["tools", END, "model"], but=nuance, shows=(sorted(plain), sorted(hooked)))


@claim(
    "A-57",
    says="the edge after the tools goes to the model, or to the end",
    layer="factory",
    really="to the end only with a return_direct tool or a structured answer",
    verdict=NUANCE,
)
def destinations_after_the_tools() -> Seen:
    direct = tool(return_direct=True)(read)
    after = edge(agent([weather(), direct], "好。"), "tools_to_model")
    asked = [calling(), calling(call("read", path="a.txt"))]
    goes = [after.path.invoke({"messages": [one, answer("call_1")]}) for one in asked]
    plain = set(edge(agent([weather()]), "tools_to_model").ends)
    said = goes == ["model", END] and set(after.ends) == {"model", END}
    return Seen(said, but=plain == {"model"}, shows=(goes, sorted(plain)))


@claim(
    "A-58",
    says="START to model; without calls to END, with calls to tools; from tools to model",
    layer="factory",
)
def drawn_graph() -> Seen:
    edges = agent([weather()]).get_graph().edges
    shown = sorted((one.source, one.target, one.conditional) for one in edges)
    decided = [("model", END, True), ("model", "tools", True), ("tools", "model", True)]
    return Seen(shown == [("__start__", "model", False), *decided], shows=shown)


@claim(
    "A-59",
    says="whether a tool is called is decided by the edge, from the message's tool_calls",
    layer="factory",
    really="a jump_to goes first; a call of broken JSON is not in tool_calls, and the run ends",
    verdict=NUANCE,
)
def what_decides() -> Seen:
    @after_model(can_jump_to=["end"])
    def stop(state: Any, runtime: Any) -> dict[str, Any]:
        return {"jump_to": "end"}

    broken = {"name": "get_weather", "args": "{", "id": "call_1", "error": None}
    invalid = AIMessage("", invalid_tool_calls=[{"type": "invalid_tool_call", **broken}])
    by_calls = [len(kinds(run([weather()], *script))) for script in ((), ("好。",))]
    ended = [
        kinds(run([weather()], middleware=[stop])),
        kinds(run([weather()], invalid, "好。")),
    ]
    return Seen(by_calls == [4, 2], but=ended == [["human", "ai"]] * 2, shows=ended)


section("Layer 6: which calls are pending")


@claim(
    "A-60",
    says="_make_model_to_tools_edge() is in factory.py, lines 1815 to 1865",
    layer="factory",
    really="the same file, other lines",
    once="langchain 1.3.8 to 1.3.10",
    verdict=CHANGED,
)
def lines_of_the_edge() -> Seen:
    return is_where_said("A-60")


@claim(
    "A-61",
    says="_fetch_last_ai_and_tool_messages() finds the last AIMessage and the answers after it",
    layer="factory",
)
def last_message_and_answers() -> Seen:
    before = [calling(call(id="call_0")), answer("call_1")]
    # call_0 was asked before, and call_1 answered before: neither counts.
    pending = sent(route(*before, two(), answer("call_2"), HumanMessage("?")))
    named = hasattr(factory, "_fetch_last_ai_and_tool_messages")
    return Seen(named and pending == ["call_1"], shows=pending)


@claim("A-62", says="without an AIMessage, or without tool_calls, it ends", layer="factory")
def no_calls() -> Seen:
    goes = [route(HumanMessage("?")), route(AIMessage("晴")), route(calling())]
    return Seen(goes[:2] == [END, END] and goes[2] != END, shows=goes[:2])


@claim(
    "A-63",
    says="pending is a call without an answer that is not of a structured answer's tool",
    layer="factory",
)
def pending_calls() -> Seen:
    calls = [call(id="call_1"), call("Report", id="call_2", degrees=28), call(id="call_3")]
    pending = sent(route(calling(*calls), answer("call_1")))
    return Seen(pending == ["call_3"], shows=pending)


@claim(
    "A-64",
    says="each pending call is sent as Send('tools', [call])",
    layer="factory",
    really="1.2.15 sends a dict with the call and the whole state",
    once="langchain 1.2.16",
    verdict=(HOLDS, CHANGED),
)
def what_is_sent() -> Seen:
    sends = route(two())
    return Seen(sends == [Send("tools", [one]) for one in two().tool_calls], shows=sends[0])


@claim(
    "A-65",
    says="with all calls answered, it ends if the state has a structured_response",
    layer="factory",
    really="it must not be None either, so that an earlier turn's answer does not end the run",
    once="langchain 1.3.10",
    verdict=(CHANGED, HOLDS),
)
def structured_response() -> Seen:
    done = [calling(), answer("call_1")]
    given = (Report(degrees=28), None)
    goes = [route(*done, structured_response=one) for one in given]
    return Seen(goes == [END, END] and route(*done) == "model", shows=goes)


@claim("A-66", says="with all calls answered, it goes to the model otherwise", layer="factory")
def all_answered() -> Seen:
    goes = route(two(), answer("call_1"), answer("call_2"))
    messages = run([weather()], middleware=[answering("call_1")])
    by_hook = [one.content for one in messages if one.type == "tool"] == ["sunny"]
    return Seen(goes == "model" and by_hook and len(messages) == 4, shows=kinds(messages))


@claim(
    "A-67",
    says="an answer counts for the call whose id it has; any other call is sent to the tools",
    layer="factory",
)
def ids_must_fit() -> Seen:
    left = [sent(route(two(), answer(id))) for id in ("call_2", "another")]
    messages = run([weather()], middleware=[answering("another")])
    answers = [one.tool_call_id for one in messages if one.type == "tool"]
    said = left == [["call_1"], ["call_1", "call_2"]] and answers == ["another", "call_1"]
    return Seen(said, shows=(left, answers))


@claim(
    "A-68",
    says="a call whose id is never answered leaves the model with a request without a result",
    layer="messages",
    really="create_agent does not check it and goes on; create_react_agent raises a ValueError",
    verdict=NUANCE,
)
def unanswered_call() -> Seen:
    history: Any = {"messages": [HumanMessage("?"), calling(), HumanMessage("!")]}
    model = scripted("好。")
    ended = kinds(create_agent(model, [weather()]).invoke(history)["messages"])
    told = kinds(model.requests[0].messages)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is deprecated
        older = create_react_agent(scripted("好。"), [weather()])
    refused = error(lambda: older.invoke(history)).startswith(
        "ValueError: Found AIMessages with tool_calls that do not have a corresponding ToolMessage"
    )
    still_open = told == ["human", "ai", "human"]
    return Seen(still_open, but=refused and ended == [*told, "ai"], shows=(told, ended))
