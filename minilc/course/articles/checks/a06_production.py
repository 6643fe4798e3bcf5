"""Article A: its six advices, the graph by hand, and its summary."""

from __future__ import annotations

import asyncio
import inspect
import os
from typing import Annotated, Any
from unittest import mock

from langchain.agents import create_agent
from langchain.agents.middleware import (
    HumanInTheLoopMiddleware,
    wrap_model_call,
    wrap_tool_call,
)
from langchain.chat_models import init_chat_model
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import ToolException, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command, interrupt
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from minilc.course.articles.checks.a06_practice import entered
from minilc.course.articles.ledger import CHANGED, HOLDS, NUANCE, WRONG, Seen, claim, section
from minilc.course.articles.support import (
    QUESTION,
    SITE,
    agent,
    answer,
    call,
    calling,
    error,
    giving,
    kinds,
    run,
    scripted,
    weather,
)
from minilc.course.upstream import where


def told(made: Any) -> dict[str, Any]:
    """What the model is told of a tool, in a run."""
    model = scripted("好。")
    create_agent(model, [made]).invoke(QUESTION)
    function: dict[str, Any] = model.requests[0].tools[0]["function"]
    return function


section("Production 1: names")


@claim(
    "A-140",
    says="a name of a verb and a noun helps the model; run, handler or tool1 do not",
    layer="function_calling",
    really="LangChain checks no name: it sends any, and finds the tool by it",
    verdict=NUANCE,
)
def names() -> Seen:
    chosen = ["query_order", "run", "tool1", "搜索 工具"]
    sent = [told(giving("ok", name))["name"] for name in chosen]
    found = [answer([giving("ok", name)], call(name)).content for name in chosen]
    return Seen(sent[0] == "query_order", but=(sent, found) == (chosen, ["ok"] * 4), shows=sent)


section("Production 2: docstrings")


@claim("A-141", says="the docstring is what the model reads about when to use it", layer="schema")
def docstrings() -> Seen:
    def search(query: str) -> str:
        """Search the manual when the user asks about limits.

        Args:
            query: The question.
        """
        return query

    plain, parsed = told(tool(search)), told(tool(parse_docstring=True)(search))
    line = "Search the manual when the user asks about limits."
    whole = plain["description"].startswith(line) and "query: The question." in plain["description"]
    of_query = parsed["parameters"]["properties"]["query"]["description"]
    split = (parsed["description"], of_query) == (line, "The question.")
    return Seen(whole and split, shows=(plain["description"], parsed["description"]))


section("Production 3: Field")


class Refund(BaseModel):
    """A refund."""

    order_id: str = Field(description="such as O202607070001")
    amount: float = Field(gt=0, description="in CNY")


@claim("A-142", says="Field with description and gt is steadier than a signature", layer="schema")
def steadier() -> Seen:
    ran: list[float] = []

    def refund(order_id: str, amount: float) -> str:
        """Give money back."""
        ran.append(amount)
        return "ok"

    bare, made = tool(refund), tool(args_schema=Refund)(refund)
    seen = [told(one)["parameters"]["properties"]["amount"] for one in (bare, made)]
    args: Any = {"order_id": "O1", "amount": -1}
    statuses = [answer([one], call("refund", **args)).status for one in (bare, made)]
    described = {"description": "in CNY", "exclusiveMinimum": 0, "type": "number"}
    said = seen == [{"type": "number"}, described] and statuses == ["success", "error"]
    return Seen(said and ran == [-1], shows=(seen, statuses))


section("Production 4: a check inside")


@claim(
    "A-143",
    says="if a rule of the business says no, return 'Cannot refund: ...'",
    layer="base",
    really="its status is success; a ToolException with handle_tool_error makes it an error",
    verdict=NUANCE,
)
def refused_inside() -> Seen:
    text = "Cannot refund: not paid."
    returned, raised = giving(text), giving(ToolException(text))
    raised.handle_tool_error = True
    shown = [answer([one], call("get")) for one in (returned, raised)]
    contents, statuses = zip(*((one.content, one.status) for one in shown), strict=True)
    return Seen(contents == (text, text), but=statuses == ("success", "error"), shows=statuses)


@claim(
    "A-144",
    says="the create_refund of the example can be called",
    layer="tool_errors",
    really="its load_order is nowhere defined: it is made a tool, and a NameError ends the run",
    verdict=WRONG,
)
def create_refund_of_the_example() -> Seen:
    @tool(args_schema=Refund)
    def create_refund(order_id: str, amount: float) -> str:
        """Create a refund."""
        return str(load_order(order_id).status)  # type: ignore[name-defined]  # noqa: F821

    args: Any = {"order_id": "O1", "amount": 1}
    raised = error(lambda: run([create_refund], calling(call("create_refund", **args)), "好。"))
    return Seen(raised == "", shows=raised)


section("Production 5: side effects")


@wrap_tool_call
def _approve(request: Any, handler: Any) -> Any:
    if interrupt(request.tool_call["name"]):
        return handler(request)
    return ToolMessage("rejected", tool_call_id=request.tool_call["id"])


@claim(
    "A-145",
    says="wrap_tool_call or a human in the loop can stop a tool before it runs",
    layer="middleware",
)
def stopped_before() -> Seen:
    ran: list[str] = []

    @tool
    def get_weather(city: str) -> str:
        """Get the weather."""
        ran.append(city)
        return "sunny"

    def paused(middleware: Any, decision: Any) -> tuple[bool, int, int]:
        ran.clear()
        thread: Any = {"configurable": {"thread_id": "1"}}
        made = agent([get_weather], middleware=[middleware], checkpointer=InMemorySaver())
        waits = "__interrupt__" in made.invoke(QUESTION, thread)
        before = len(ran)
        made.invoke(Command(resume=decision), thread)
        return waits, before, len(ran)

    human = HumanInTheLoopMiddleware(interrupt_on={"get_weather": True})
    shown = [paused(human, {"decisions": [{"type": one}]}) for one in ("approve", "reject")]
    shown += [paused(_approve, one) for one in (True, False)]
    return Seen(shown == [(True, 0, 1), (True, 0, 0)] * 2, shows=shown)


section("Production 6: results")


@claim(
    "A-146",
    says="a result must tell what is needed to go on, as the model reads nothing else of it",
    layer="messages",
)
def informative() -> Seen:
    value = "Refund R1 was created. Status: pending.", {"secret": 1}
    model = scripted(calling(call("get")), "好。")
    made = giving(value, response_format="content_and_artifact")
    create_agent(model, [made]).invoke(QUESTION)
    read = model.requests[1].messages[-1]
    said = (read.content, read.artifact) == value and read.status == "success"
    return Seen(said and len(model.requests[1].messages) == 3, shows=read.content)


section("The graph by hand")


class State(TypedDict):
    """The messages."""

    messages: Annotated[list[Any], add_messages]


def by_hand(*answers: Any, made: Any = None, tools: str = "tools", **options: Any) -> Any:
    """The article's graph, of a model that gives these answers."""
    made = made or weather()
    model = scripted(*answers).bind_tools([made])
    graph = StateGraph(State)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node(tools, ToolNode([made]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge(tools, "model")
    return graph.compile(**options)


@claim("A-147", says="StateGraph, ToolNode and tools_condition are an agent", layer="tool_node")
def graph_by_hand() -> Seen:
    messages = by_hand().invoke(QUESTION)["messages"]
    contents = [one.content for one in messages]
    agents = [one.content for one in run([weather()])]
    order = kinds(messages) == ["human", "ai", "tool", "ai"]
    return Seen(order and contents == agents, shows=contents)


@claim(
    "A-148",
    says="tools_condition without a path map leads calls to the tools, else to the end",
    layer="tool_node",
    really="the node must be called tools, and only the last message counts",
    verdict=NUANCE,
)
def without_a_path_map() -> Seen:
    asked: Any = [calling()], [AIMessage("好。")], [calling(), HumanMessage("?")]
    shown = [tools_condition(one) for one in asked]
    edges = by_hand().get_graph().edges
    targets = {edge.target for edge in edges if edge.source == "model" and edge.conditional}
    other = error(lambda: by_hand(tools="run_tools"))
    said = shown[:2] == ["tools", "__end__"] and targets == {"tools", "__end__"}
    nuance = shown[2] == "__end__" and other.startswith("ValueError")
    return Seen(said, but=nuance, shows=(shown, other))


@claim("A-149", says="the edge from tools to model takes every result to the model", layer="state")
def always_to_the_model() -> Seen:
    edges = by_hand().get_graph().edges
    plain = [(edge.target, edge.conditional) for edge in edges if edge.source == "tools"]
    direct = by_hand(made=weather(return_direct=True)).invoke(QUESTION)["messages"]
    shown = plain, kinds(direct)
    return Seen(shown == ([("model", False)], ["human", "ai", "tool", "ai"]), shows=shown)


@claim(
    "A-150",
    says="init_chat_model('openai:gpt-5.4-mini', temperature=0) makes a model",
    layer="chat_models",
    really="of this name the temperature is dropped; of gpt-4o-mini it is kept",
    verdict=NUANCE,
)
def temperature() -> Seen:
    with mock.patch.dict(os.environ, {"OPENAI_API_KEY": "none"}):
        models: Any = [
            init_chat_model(f"openai:{name}", temperature=0)
            for name in ("gpt-5.4-mini", "gpt-4o-mini")
        ]
    made = [type(one).__name__ for one in models] == ["ChatOpenAI"] * 2
    kept = [one.temperature for one in models]
    return Seen(made, but=kept == [None, 0], shows=kept)


@claim(
    "A-151",
    says="create_agent adds middleware, structured output, provider tools, a checkpointer, ...",
    layer="factory",
    really="a graph by hand has a checkpointer and calls at once too",
    verdict=NUANCE,
)
def what_create_agent_adds() -> Seen:
    other = scripted("other")

    @wrap_model_call
    def swap(request: Any, handler: Any) -> Any:
        return handler(request.override(model=other))

    parameters = inspect.signature(create_agent).parameters
    named = {"middleware", "response_format", "checkpointer"} <= parameters.keys()
    search = {"type": "web_search"}
    swapped = run([search], "mine", middleware=[swap])[-1].content
    provided = search in other.requests[0].tools
    direct = kinds(run([weather(return_direct=True)]))[-1] == "tool"
    thread: Any = {"configurable": {"thread_id": "1"}}
    calls = calling(call(), call(id="call_2"))
    hand = by_hand(calls, "好。", checkpointer=InMemorySaver())
    hand.invoke(QUESTION, thread)
    kept = kinds(hand.get_state(thread).values["messages"]) == ["human", "ai", "tool", "tool", "ai"]
    return Seen(named and swapped == "other" and provided and direct, but=kept, shows=swapped)


section("Summary")


@claim(
    "A-152",
    says="six breakpoints: tool(), from_function(), create_agent() twice, its edge, the execution",
    layer="tool_node",
    really="two are not in langchain_core/tools.py any more; async runs enter _execute_tool_async",
    verdict=NUANCE,
)
def six_breakpoints() -> Seen:
    symbols = ["tool", "StructuredTool.from_function", "create_agent"]
    symbols += ["langchain.agents.factory.create_agent._get_bound_model"]
    symbols += ["_make_model_to_tools_edge", "ToolNode._execute_tool_sync"]
    places = [where(one).upstream for one in symbols]
    files = [place.file for place in places if place]
    factory = "langchain/agents/factory.py"
    there = files[2:] == [factory] * 3 + ["langgraph/prebuilt/tool_node.py"]
    made = agent([weather()])
    with entered() as entries:
        asyncio.run(made.ainvoke(QUESTION))
    never = "ToolNode._execute_tool_async" in entries and symbols[5] not in entries
    moved = not (SITE / "langchain_core" / "tools.py").exists()
    return Seen(len(files) == 6 and there, but=moved and never, shows=files)


@claim(
    "A-153",
    says="shortest: tools_by_name, bind_tools, tool_calls, Send('tools', [call]), invoke, answer",
    layer="factory",
    really="in langchain 1.2.15 the Send carries the whole state too, not only a list of the call",
    once="langchain 1.3.8 to 1.3.10",
    verdict=(HOLDS, CHANGED),
)
def shortest_chain() -> Seen:
    events = list(agent([weather()]).stream(QUESTION, stream_mode="tasks"))
    tasks = [(one["name"], one["input"]) for one in events if "input" in one]
    order = [name for name, _ in tasks] == ["model", "tools", "model"]
    sent, last = tasks[1][1], events[-1]["result"]["messages"][-1].content
    return Seen(order and last == "北京今天晴。" and sent == [call()], shows=list(sent))
