"""Article A, layers 12 and 13: the ToolMessage, and the way back to the model."""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from collections.abc import Callable
from datetime import date
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import before_model
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.prebuilt import ToolNode
from langgraph.types import Command
from pydantic import BaseModel

from minilc.course.articles.ledger import CHANGED, NUANCE, WRONG, Seen, claim, section
from minilc.course.articles.support import (
    NEAR,
    QUESTION,
    agent,
    answer,
    call,
    calling,
    config,
    error,
    giving,
    is_where_said,
    kinds,
    node,
    run,
    scripted,
    weather,
)

section("Layer 12: the ToolMessage")


@claim(
    "A-112",
    says="the model reads a ToolMessage with the id of its call, not what Python returned",
    layer="messages",
)
def what_the_model_reads() -> Seen:
    model = scripted()
    create_agent(model, [weather()]).invoke(QUESTION)
    asked, read = model.requests[1].messages[-2:]
    shown = (read.content, read.name, read.tool_call_id)
    is_message = type(read).__name__ == "ToolMessage" and read.tool_call_id == "call_1"
    said = ("北京 is sunny, 28C", "get_weather", asked.tool_calls[0]["id"])
    return Seen(is_message and shown == said, shows=shown)


@claim(
    "A-113",
    says="_normalize_tool_response() is around lines 1437 to 1453 of tool_node.py",
    layer="tool_node",
    really="it has moved; before langgraph-prebuilt 1.0.11 _execute_tool_sync() does it",
    once="langgraph-prebuilt 1.1.0",
    verdict=CHANGED,
)
def lines_of_normalize() -> Seen:
    return is_where_said("A-113")


@claim("A-114", says="a Command is validated", layer="tool_node")
def command_is_validated() -> Seen:
    message = ToolMessage("ok", tool_call_id="call_1")
    good: Any = Command(update={"messages": [message]})
    given = node([giving(good)], call("get"))
    named = [one.update["messages"][0].name for one in given] == ["get"]  # as an answer has it
    other: Any = Command(update={"messages": [ToolMessage("ok", tool_call_id="other")]})
    told = error(lambda: node([giving(other)], call("get")))
    refused = told.startswith("ValueError: Expected to have a matching ToolMessage in Command")
    return Seen(named and refused, shows=told)


@claim(
    "A-115",
    says="a ToolMessage's content goes through msg_content_output",
    layer="tool_node",
)
def content_is_converted() -> Seen:
    blocks = [{"type": "text", "text": "hi"}]
    contents = [answer([giving(value)], call("get")).content for value in (["a", "b"], blocks)]
    before = giving(["a", "b"]).invoke(call("get")).content
    said = contents == ['["a", "b"]', blocks] and before == ["a", "b"]
    return Seen(said, shows=(before, contents))


class Raw(BaseTool):
    """A tool that gives back what it likes."""

    name: str = "get"
    description: str = "Get it."
    value: Any = None

    def _run(self) -> Any: ...

    def invoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        """Give it back."""
        return self.value


def _texts(made: Any, id: str | None = "call_1") -> Any:
    """The contents of what a ToolNode makes of it, or the error."""
    contents: list[Any] = []
    given: Callable[[], Any] = lambda: node([made], call("get", id))["messages"]  # noqa: E731
    return error(lambda: contents.extend(one.content for one in given())) or contents


@claim(
    "A-116",
    says="a list of messages and Commands is validated; any other list is a TypeError",
    layer="tool_node",
    really="other lists of an ordinary tool are a text already; before 1.0.11 every list is one",
    once="langgraph-prebuilt 1.1.0",
    verdict=(NUANCE, CHANGED),
)
def lists() -> Seen:
    mine, other = (ToolMessage(id, tool_call_id=id) for id in ("call_1", "other"))
    good, doubled = _texts(giving([mine, other])), _texts(giving([mine, mine]))
    mixed = _texts(Raw(value=[mine, "text"]))
    validated = good == ["call_1", "other"] and "exactly one terminating ToolMessage" in doubled
    ordinary = _texts(giving([mine, "text"]))
    is_text = isinstance(ordinary, list) and ordinary[0].startswith("[ToolMessage(")
    return Seen(validated and mixed.startswith("TypeError"), but=is_text, shows=(good, mixed))


@claim(
    "A-117",
    says="anything else is a TypeError",
    layer="tool_node",
    really="an ordinary tool gets there only if the call has no id",
    verdict=NUANCE,
)
def anything_else() -> Seen:
    text = "TypeError: Tool get returned unexpected type: <class 'str'>"
    ordinary = _texts(giving("text")), _texts(giving("text"), id=None)
    return Seen(_texts(Raw(value="text")) == text, but=ordinary == (["text"], text), shows=ordinary)


@claim("A-118", says="tool.invoke() of a @tool gives a ToolMessage already", layer="base")
def invoke_of_a_tool() -> Seen:
    made = giving(3)
    of_call, of_args = made.invoke(call("get")), made.invoke({})
    said = isinstance(of_call, ToolMessage) and of_call.tool_call_id == "call_1"
    return Seen(said and of_args == 3, shows=(of_call.content, of_args))


@claim(
    "A-119",
    says="the dict of the example comes out otherwise than its json.dumps",
    layer="base",
    really="it comes out the same; only what JSON does not know comes out as its str()",
    verdict=WRONG,
)
def dict_or_json() -> Seen:
    value = {"value": 1, "城市": "北京"}
    dumped = json.dumps(value, ensure_ascii=False)
    raw, stable = (answer([giving(one)], call("get")).content for one in (value, dumped))
    dated = answer([giving({"on": date(2026, 7, 8)})], call("get")).content
    return Seen(raw != stable, shows=(raw, stable, dated))


section("Layer 13: back to the state")


def _end_of_no_command() -> int:
    """The line where _combine_tool_outputs() is done if there is no Command."""
    lines, first = inspect.getsourcelines(ToolNode._combine_tool_outputs)
    tree = ast.parse(textwrap.dedent("".join(lines)))
    ends = [
        one.end_lineno or 0
        for one in ast.walk(tree)
        if isinstance(one, ast.If) and ast.unparse(one.test).startswith("not any(")
    ]
    return first + min(ends) - 1


@claim(
    "A-120",
    says="_combine_tool_outputs() is around lines 862 to 887, up to where no Command is done",
    layer="tool_node",
    really="it has moved within the file, and has grown in langgraph-prebuilt 1.0.11",
    once="langgraph-prebuilt 1.1.0",
    verdict=CHANGED,
)
def lines_of_combine() -> Seen:
    shown = inspect.getsourcelines(ToolNode._combine_tool_outputs)[1], _end_of_no_command()
    near = [abs(here - said) <= NEAR for here, said in zip(shown, (862, 887), strict=True)]
    return Seen(all(near), shows="lines {}-{}".format(*shown))


@claim(
    "A-121",
    says="without a Command it is a list for a list, else a dict with the messages",
    layer="tool_node",
)
def shapes() -> Seen:
    tools = [weather(), giving(Command(graph=Command.PARENT, goto="x"), "leave")]
    given: list[Any] = [{"messages": [calling()]}, [calling()]]
    shown = [type(ToolNode(tools).invoke(one, config())).__name__ for one in given]
    mixed = node(tools, call(), call("leave", id="call_2"))
    kinds_of_mixed = [type(one).__name__ for one in mixed]
    fits = shown == ["dict", "list"] and kinds_of_mixed == ["dict", "Command"]
    return Seen(fits, shows=(shown, kinds_of_mixed))


@claim(
    "A-122",
    says="the reducer puts the ToolMessages into the history, and the model is next",
    layer="state",
)
def into_the_history() -> Seen:
    model = scripted(calling(call(city="北京"), call(id="call_2", city="上海")), "好。")
    messages = create_agent(model, [weather()]).invoke(QUESTION)["messages"]
    read = [one.id for one in model.requests[1].messages]
    ids = [one.tool_call_id for one in messages if one.type == "tool"]
    order = kinds(messages) == ["human", "ai", "tool", "tool", "ai"]
    same = read == [one.id for one in messages[:-1]]
    return Seen(order and same and ids == ["call_1", "call_2"], shows=kinds(messages))


@claim(
    "A-123",
    says="_make_tools_to_model_edge() is around lines 1895 to 1928 of factory.py",
    layer="factory",
    really="it has moved within the file",
    once="langchain 1.3.8 to 1.3.10",
    verdict=CHANGED,
)
def lines_of_tools_to_model() -> Seen:
    return is_where_said("A-123")


@claim(
    "A-124",
    says="if all called tools are return_direct, the run ends",
    layer="factory",
    really="unknown names do not count: the run ends, and no model reads their error",
    verdict=NUANCE,
)
def all_direct() -> Seen:
    def requests(*names: str) -> int:
        calls = [call(name, id=f"call_{name}_{n}") for n, name in enumerate(names)]
        model = scripted(calling(*calls), "好。")
        tools = [giving("1", "direct", return_direct=True), giving("2", "normal")]
        create_agent(model, tools).invoke(QUESTION)
        return len(model.requests)

    said = requests("direct"), requests("direct", "direct"), requests("direct", "normal")
    unknown = requests("direct", "ghost"), requests("ghost")
    return Seen(said == (1, 1, 2), but=unknown == (1, 2), shows=(said, unknown))


class Reply(BaseModel):
    """What a service answers."""

    count: int


@claim(
    "A-125",
    says="if a structured answer's ToolMessage is there, the run ends",
    layer="factory",
    really="one that failed ends it too, next to another call, without a structured_response",
    verdict=NUANCE,
)
def structured_answer() -> Seen:
    def ended(value: Any) -> tuple[Any, int]:
        model = scripted(calling(call("Reply", count=value), call(id="call_2")), "好。")
        made = create_agent(model, [weather()], response_format=ToolStrategy(Reply))
        response = made.invoke(QUESTION).get("structured_response")
        return response, len(model.requests)

    right, failed = ended(1), ended("many")
    return Seen(right == (Reply(count=1), 1), but=failed == (None, 1), shows=(right, failed))


@claim("A-126", says="by default the tools are followed by the model", layer="factory")
def tools_then_model() -> Seen:
    @before_model
    def first(state: Any, runtime: Any) -> None:
        return None

    def after_tools(**options: Any) -> list[str]:
        edges = agent([weather()], **options).get_graph().edges
        return [edge.target for edge in edges if edge.source == "tools"]

    ran = isinstance(run([weather()])[-1], AIMessage)
    shown = after_tools(), after_tools(middleware=[first])
    return Seen(ran and shown == (["model"], ["first.before_model"]), shows=shown)
