"""Article A: its overview, and its minimal example."""

from __future__ import annotations

import inspect
import os
from importlib.metadata import files
from pathlib import Path
from unittest import mock

from langchain.agents import create_agent, factory
from langchain_core import tools as core_tools
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.tools import StructuredTool, tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.prebuilt import ToolNode

from minilc.course.articles.ledger import CHANGED, NUANCE, Seen, claim, section
from minilc.course.articles.support import (
    QUESTION,
    SITE,
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

section("Overview")


@claim("A-01", says="a model never runs a function; it only asks for a call", layer="messages")
def only_asks() -> Seen:
    callers: list[list[str]] = []

    @tool
    def get_weather(city: str) -> str:
        """Weather."""
        callers.append([frame.filename for frame in inspect.stack()])
        return "sunny"

    answer = scripted().bind_tools([get_weather]).invoke("?")
    asked_only = answer.tool_calls == [call()] and not callers
    run([get_weather])
    in_node = len(callers) == 1 and any(one.endswith("tool_node.py") for one in callers[0])
    return Seen(asked_only and in_node, shows=f"{len(callers)} run, from tool_node.py: {in_node}")


@claim(
    "A-02",
    says="function, @tool, schema, tool_calls, conditional edge, ToolNode, ToolMessage, model",
    layer="factory",
)
def pipeline() -> Seen:
    model = scripted()
    messages = create_agent(model, [weather()]).invoke(QUESTION)["messages"]
    sent = [len(request.messages) for request in model.requests]
    order = kinds(messages) == ["human", "ai", "tool", "ai"]
    return Seen(order and sent == [1, 3], shows=(kinds(messages), sent))


@claim(
    "A-03",
    says="tools are defined in the file langchain_core/tools.py",
    layer="convert",
    really="langchain_core/tools is a package: convert.py, structured.py, simple.py, base.py",
    once="langchain-core 0.2.12",
    verdict=CHANGED,
)
def one_file_of_tools() -> Seen:
    homes = {
        one.__name__: Path(inspect.getsourcefile(one) or "").relative_to(SITE).as_posix()
        for one in (core_tools.tool, core_tools.StructuredTool, core_tools.Tool)
    }
    return Seen((SITE / "langchain_core" / "tools.py").exists(), shows=homes)


@claim("A-04", says="agents are put together in langchain/agents/factory.py", layer="factory")
def factory_is_the_place() -> Seen:
    home = inspect.getsourcefile(create_agent) or ""
    edges = ("_make_model_to_tools_edge", "_make_tools_to_model_edge")
    here = home.endswith(os.path.join("langchain", "agents", "factory.py"))
    return Seen(here and all(hasattr(factory, name) for name in edges), shows=edges)


@claim(
    "A-05",
    says="tools are run in langgraph/prebuilt/tool_node.py",
    layer="tool_node",
    really="the file comes with langgraph-prebuilt, whose versions are its own",
    verdict=NUANCE,
)
def tool_node_is_the_place() -> Seen:
    name = "langgraph/prebuilt/tool_node.py"
    owners = [
        package
        for package in ("langgraph", "langgraph-prebuilt", "langchain")
        if any(str(one).replace(os.sep, "/") == name for one in files(package) or ())
    ]
    home = inspect.getsourcefile(ToolNode) or ""
    return Seen(home.endswith("tool_node.py"), but=owners == ["langgraph-prebuilt"], shows=owners)


section("Minimal example")


@claim(
    "A-06",
    says="create_agent is imported from langchain.agents, tool from langchain.tools",
    layer="convert",
)
def imports() -> Seen:
    from langchain.tools import tool as shown

    return Seen(shown is tool and create_agent is factory.create_agent)


@claim(
    "A-07",
    says="create_agent takes a model as 'provider:model'",
    layer="factory",
    really="the model is made at once: without its package or its key create_agent itself fails",
    verdict=NUANCE,
)
def model_by_name() -> Seen:
    with mock.patch.dict(os.environ, {"OPENAI_API_KEY": "none"}):
        built = create_agent("openai:gpt-5.4-mini", [weather()])
    with mock.patch.dict(os.environ):
        os.environ.pop("OPENAI_API_KEY", None)
        without = error(lambda: create_agent("openai:gpt-5.4-mini", [weather()]))
    return Seen("model" in built.nodes, but=without.startswith("OpenAIError"), shows=without)


@claim(
    "A-08",
    says="system_prompt is the agent's system message",
    layer="factory",
    really="it goes before every request, and is never in the state",
    verdict=NUANCE,
)
def system_prompt() -> Seen:
    model = scripted()
    made = create_agent(model, [weather()], system_prompt="你是一个会查询天气的助手。")
    messages = made.invoke(QUESTION)["messages"]
    first = [request.messages[0] for request in model.requests]
    every = all(isinstance(one, SystemMessage) for one in first) and len(first) == 2
    return Seen(every, but="system" not in kinds(messages), shows=kinds(messages))


@claim("A-09", says="the input is messages, as dicts with role and content", layer="factory")
def input_of_dicts() -> Seen:
    (asked, _) = run([], "好。")
    return Seen(isinstance(asked, HumanMessage), shows=asked.content)


section("Minimal example: what happens")


@claim(
    "A-10",
    says="@tool makes a StructuredTool with name, description and args_schema",
    layer="convert",
)
def structured_tool() -> Seen:
    made = weather()
    fields = made.args_schema.model_fields
    shown = (type(made).__name__, made.name, made.description, list(fields))
    expected = ("get_weather", "Get current weather for a city.", ["city"])
    return Seen(type(made) is StructuredTool and shown[1:] == expected, shows=shown)


@claim("A-11", says="create_agent puts the tool into a ToolNode", layer="factory")
def in_a_tool_node() -> Seen:
    made = weather()
    inside = agent([made], "好。").nodes["tools"].bound
    return Seen(isinstance(inside, ToolNode) and inside.tools_by_name == {made.name: made})


@claim(
    "A-12",
    says="building the agent binds the tools to the model",
    layer="factory",
    really="nothing is bound when it is built; bind_tools is called anew in each model step",
    verdict=NUANCE,
)
def bound_in_each_step() -> Seen:
    counted: list[int] = []

    class Counting(type(scripted())):  # type: ignore[misc]  # the real scripted model
        def bind_tools(self, tools, **options):  # type: ignore[no-untyped-def]
            counted.append(len(tools))
            return super().bind_tools(tools, **options)

    built = create_agent(Counting([calling(), "好。"]), [weather()])
    at_build = len(counted)
    built.invoke(QUESTION)
    return Seen(bool(counted), but=(at_build, len(counted)) == (0, 2), shows=counted)


@claim("A-13", says="the model knows get_weather with a city that is a string", layer="schema")
def what_the_model_knows() -> Seen:
    parameters = convert_to_openai_tool(weather())["function"]["parameters"]
    city = parameters["properties"] == {"city": {"type": "string"}}
    return Seen(city and parameters["required"] == ["city"], shows=parameters)


@claim(
    "A-14",
    says="ToolNode runs it and answers with a ToolMessage of its text and the call's id",
    layer="tool_node",
)
def answered() -> Seen:
    (message,) = node([weather()], call())["messages"]
    shown = (message.content, message.tool_call_id, message.name, message.status)
    return Seen(shown == ("北京 is sunny, 28C", "call_1", "get_weather", "success"), shows=shown)
