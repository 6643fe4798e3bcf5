"""Article B, its questions and its summary."""

from __future__ import annotations

import importlib
from threading import Barrier
from typing import Any

import langchain.agents as agents
from langchain.agents import create_agent
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.errors import GraphRecursionError
from langgraph.graph import START, MessagesState, StateGraph

from minilc.course.articles.ledger import NUANCE, WRONG, Seen, claim, section
from minilc.course.articles.support import (
    QUESTION,
    agent,
    call,
    calling,
    error,
    kinds,
    node,
    run,
    scripted,
    weather,
)
from minilc.course.trace import trace
from minilc.course.wire import Wire, completion, openai_model
from minilc.course.worlds import LANGCHAIN

section("5: text or structure?")


@claim(
    "B-33",
    says="calls come back as a field of the API; LangChain parses no text",
    layer="chat_models",
    really="it parses the arguments; where that fails the run ends without a word",
    verdict=NUANCE,
)
def structured_field() -> Seen:
    replies = [completion(None, [("get_weather", text)]) for text in ('{"city": "北京"}', "{")]
    right, broken = (
        openai_model(LANGCHAIN, Wire(reply).transport).invoke("?") for reply in replies
    )
    ended = kinds(run([weather()], broken, "晴。")) == ["human", "ai"]
    is_call = right.tool_calls[0]["args"] == {"city": "北京"} and right.content == ""
    return Seen(is_call, but=ended and len(broken.invalid_tool_calls) == 1, shows=broken.tool_calls)


@claim(
    "B-34",
    says="tools of llm.invoke(messages, tools=[...]) reach OpenAI's API",
    layer="chat_models",
    really="as they are: JSON schemas work, tools must go through bind_tools",
    verdict=NUANCE,
)
def tools_of_invoke() -> Seen:
    wire = Wire(completion("晴。"))
    model = openai_model(LANGCHAIN, wire.transport)
    bound = model.bind_tools([weather()])
    bound.invoke("?")
    model.invoke("?", tools=bound.kwargs["tools"])
    passed = wire.bodies[0]["tools"] == wire.bodies[1]["tools"]
    failed = error(lambda: model.invoke("?", tools=[weather()]))
    sent = wire.bodies[-1]["tools"] if not failed else None
    return Seen(passed, but=bool(failed) or sent != wire.bodies[0]["tools"], shows=failed or sent)


section("5: a tool that does not exist")


@claim(
    "B-35",
    says="it is answered with status error, and the model sees that",
    layer="tool_node",
)
def unknown_name() -> Seen:
    model = scripted(calling(call("get_weatherrr")), calling(call(id="call_2")), "晴。")
    create_agent(model, [weather()]).invoke(QUESTION)
    last = model.requests[1].messages[-1]
    return Seen(last.status == "error" and len(model.requests) == 3, shows=last.content)


@claim(
    "B-36",
    says="the text is: Requested tool ... not available. Available tools: ...",
    layer="tool_errors",
    really="it is: ... is not a valid tool, try one of [...]",
    verdict=WRONG,
)
def text_of_unknown_name() -> Seen:
    (message,) = node([weather()], call("get_weatherrr"))["messages"]
    return Seen("not available" in message.content, shows=message.content)


@claim(
    "B-37",
    says="it does not crash; the model corrects itself",
    layer="tool_errors",
    really="an exception of the tool does end the run, and a stubborn model runs to the limit",
    verdict=NUANCE,
)
def no_crash() -> Seen:
    @tool
    def pay(amount: int) -> str:
        """Pay."""
        raise ConnectionError("the bank is down")

    soft = [run([pay], calling(call("pay", **args)), "好。")[2] for args in ({}, {"amount": "x"})]
    ghost = run([pay], calling(call("ghost")), "好。")[2]
    crashed = error(lambda: run([pay], calling(call("pay", amount=1)), "好。"))
    stubborn = scripted(*[calling(call("ghost", id=f"c{n}")) for n in range(9)])
    limited = error(lambda: create_agent(stubborn, [pay]).invoke(QUESTION, {"recursion_limit": 8}))
    said = {one.status for one in (*soft, ghost)} == {"error"}
    nuance = crashed.startswith("ConnectionError") and limited.startswith("GraphRecursionError")
    return Seen(said, but=nuance, shows=(crashed, limited.splitlines()[:1]))


section("5: can it loop for ever?")


@claim(
    "B-38",
    says="LangGraph limits a run to 10007 steps",
    layer="state",
    really="a graph by itself; a graph in a tool, or in a config of LangChain's, has 25",
    verdict=NUANCE,
)
def limit_of_a_graph() -> Seen:
    graph = StateGraph(MessagesState).add_node("again", lambda state: None)
    compiled = graph.add_edge(START, "again").add_edge("again", "again").compile()
    inside: Any = RunnableLambda(lambda given: compiled.invoke(given))
    nested = error(lambda: inside.invoke({"messages": []}))
    # Running a bare graph to its limit takes seconds; this is the number that it runs to.
    limit = int(importlib.import_module("langgraph._internal._config").DEFAULT_RECURSION_LIMIT)
    return Seen(limit == 10_007, but="limit of 25 reached" in nested, shows=(limit, nested[:60]))


@claim(
    "B-39",
    says="so an agent of create_agent has the limit 10007",
    layer="factory",
    really="create_agent sets its own: 9999",
    verdict=WRONG,
)
def limit_of_an_agent() -> Seen:
    limit = agent([]).config["recursion_limit"]
    return Seen(limit == 10_007, shows=limit)


def _needed(*answers: Any) -> int:
    """The smallest limit with which a run of these answers ends."""

    def ends(limit: int) -> bool:
        try:
            agent([weather()], *answers).invoke(QUESTION, {"recursion_limit": limit})
        except GraphRecursionError:
            return False
        return True

    return next(limit for limit in range(1, 40) if ends(limit))


@claim(
    "B-40",
    says="a round trip between model and tools counts once",
    layer="state",
    really="it counts two steps, however many calls it has; the end needs one more",
    verdict=WRONG,
)
def what_is_counted() -> Seen:
    rounds = [[calling(call(id=f"c{n}")) for n in range(count)] for count in range(3)]
    limits = [_needed(*answers, "晴。") for answers in rounds]
    return Seen(limits[2] - limits[1] == limits[1] - limits[0] == 1, shows=limits)


@claim("B-41", says="beyond the limit an exception is raised", layer="state")
def beyond_the_limit() -> Seen:
    model = scripted(*[calling(call(id=f"c{n}")) for n in range(9)])
    text = error(lambda: create_agent(model, [weather()]).invoke(QUESTION, {"recursion_limit": 5}))
    return Seen(text.startswith("GraphRecursionError: Recursion limit of 5 reached"), shows=text)


section("5: reflection, and several calls")


@claim(
    "B-42",
    says="no reflection: a dict, and an ordinary call",
    layer="tool_node",
    really="each call still reads signatures and type hints",
    verdict=NUANCE,
)
def reflection() -> Seen:
    made = weather()
    ran = node([made], call())["messages"][0].content == "北京 is sunny, 28C"
    inspected = trace(lambda: made.invoke(call()), ["signature", "get_type_hints"]).names
    return Seen(ran, but="signature" in inspected, shows=inspected)


@claim(
    "B-43",
    says="all calls run at the same time, and the model is asked once afterwards",
    layer="tool_node",
    really="in an agent each call is a task of its own, not one run of ToolNode for all",
    verdict=NUANCE,
)
def several_calls() -> Seen:
    barrier = Barrier(3, timeout=5)  # passes only if three calls are inside at once

    @tool
    def meet(number: int) -> str:
        """Meet."""
        barrier.wait()
        return str(number)

    calls = [call("meet", f"c{n}", number=n) for n in range(3)]
    model = scripted(calling(*calls), "好。")
    chunks = create_agent(model, [meet]).stream(QUESTION, stream_mode="updates")
    tasks = [name for chunk in chunks for name in chunk]
    return Seen(len(model.requests) == 2, but=tasks.count("tools") == 3, shows=tasks)


section("5: from 0.3 to 1")


@claim(
    "B-44",
    says="0.3 had AgentExecutor and create_tool_calling_agent; they are no part of 1",
    layer="factory",
)
def executor_of_03() -> Seen:
    text = "from langchain.agents import AgentExecutor, create_tool_calling_agent"
    refused = error(lambda: exec(text, {}))
    return Seen(refused.startswith("ImportError"), shows=refused.partition(" (")[0])


@claim(
    "B-45",
    says="1 replaced all of it by StateGraph",
    layer="factory",
    really="in langchain; the old executor moved to a package of its own, langchain-classic",
    verdict=NUANCE,
)
def replaced() -> Seen:
    public = sorted(agents.__all__)
    is_graph = isinstance(agent([]).builder, StateGraph)
    gone = not hasattr(agents, "AgentExecutor") and public == ["AgentState", "create_agent"]
    return Seen(is_graph, but=gone, shows=public)


@claim(
    "B-46",
    says="the imports of 0.3 are deprecated",
    layer="factory",
    really="they fail",
    verdict=NUANCE,
)
def deprecated_imports() -> Seen:
    names = ("AgentExecutor", "create_tool_calling_agent", "initialize_agent")
    there = [name for name in names if hasattr(agents, name)]
    refused = error(lambda: exec("from langchain.agents import AgentExecutor", {}))
    return Seen(not there, but=refused.startswith("ImportError"), shows=refused.partition(" (")[0])


@claim("B-47", says="in 1: create_agent(model=, tools=).invoke({'messages': ...})", layer="factory")
def call_of_1() -> Seen:
    made = create_agent(model=scripted("晴。"), tools=[])
    messages = made.invoke({"messages": [{"role": "user", "content": "?"}]})["messages"]
    return Seen(kinds(messages) == ["human", "ai"])


@claim(
    "B-48",
    says="the input changed from {'input': ...} to {'messages': [...]}",
    layer="factory",
    really="the old one is not refused: the model is asked with no messages at all",
    verdict=NUANCE,
)
def old_input() -> Seen:
    model = scripted("?", "晴。")
    made = create_agent(model, [])
    made.invoke({"input": "北京？"})  # type: ignore[call-overload]  # it is no input
    made.invoke(QUESTION)
    sent = [len(request.messages) for request in model.requests]
    return Seen(sent[1] == 1, but=sent[0] == 0, shows=sent)


section("Summary")


@claim(
    "B-49",
    says="dispatch is the dict tools_by_name",
    layer="tool_node",
    really="a missing name is no KeyError, and a wrapper may put another tool in its place",
    verdict=NUANCE,
)
def dispatch() -> Seen:
    first, last = weather(), weather()
    last.func = lambda city: "the last one"
    (found,) = node([first, last], call())["messages"]
    (missing,) = node([first], call("ghost"))["messages"]
    by_dict = found.content == "the last one"
    return Seen(by_dict, but=missing.status == "error", shows=missing.content)


@claim(
    "B-50",
    says="calls are structured, found by name, wrong names do no harm, a limit ends loops",
    layer="factory",
    really="the limit of an agent is 9999 steps: n rounds need 2n + 2 of them",
    verdict=NUANCE,
)
def four_points() -> Seen:
    answer = scripted().invoke("?")
    (missing,) = node([weather()], call("ghost"))["messages"]
    limits = [
        _needed(*[calling(call(id=f"c{n}")) for n in range(rounds)], "晴。") for rounds in (1, 3)
    ]
    said = bool(answer.tool_calls) and missing.status == "error"
    nuance = limits == [4, 8] and agent([]).config["recursion_limit"] == 9999
    return Seen(said, but=nuance, shows=limits)
