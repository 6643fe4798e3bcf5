"""Article A: the whole call chain, and its ten problems."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from langchain.agents import create_agent
from langchain.agents.middleware import ToolRetryMiddleware, after_model
from langchain.agents.structured_output import ToolStrategy
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langgraph.prebuilt import InjectedState, ToolNode
from pydantic import BaseModel, Field

from minilc.course.articles.ledger import NUANCE, WRONG, Seen, claim, section
from minilc.course.articles.support import (
    QUESTION,
    agent,
    answer,
    call,
    calling,
    config,
    error,
    giving,
    kinds,
    node,
    run,
    scripted,
    weather,
)

section("The whole call chain")

CHAIN = [
    "StructuredTool.from_function",
    "create_agent",
    "ToolNode.__init__",
    "ScriptedChatModel.bind_tools",
    "_make_model_to_tools_edge.<locals>.model_to_tools",
    "ToolNode._parse_input",
    "ToolNode._run_one",
    "ToolNode._execute_tool_sync",
    "BaseTool.invoke",
    "ToolNode._combine_tool_outputs",
]


@contextmanager
def entered() -> Iterator[list[str]]:
    """The functions that are entered, in all threads that start."""
    names: list[str] = []

    def note(frame: Any, event: str, arg: Any) -> None:
        if event == "call":
            names.append(frame.f_code.co_qualname)

    before = sys.getprofile(), threading.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield names
    finally:
        sys.setprofile(before[0])
        threading.setprofile(before[1])  # type: ignore[arg-type]  # None is none


@claim(
    "A-127",
    says="from @tool to the model's second turn, fifteen steps in this order",
    layer="factory",
    really="_make_model_to_tools_edge() runs when the agent is built; what it made runs in the run",
    verdict=NUANCE,
)
def order_of_the_chain() -> Seen:
    with entered() as names:
        made = agent([weather()])
        built = len(names)
        made.invoke(QUESTION)
    edge = CHAIN[4].partition(".")[0]
    order = [one for one in names if one in CHAIN]
    # The model is asked again, and what it answers has no more calls.
    again = [CHAIN[3], CHAIN[4]]
    early = edge in names[:built] and edge not in names[built:]
    return Seen(order == CHAIN + again, but=early, shows=order)


section("Debugging 1: no docstring")


def search(query: str) -> str:  # noqa: D103  # that is the point
    return query


class Search(BaseModel):
    """Search the documents by a query."""

    query: str


@claim(
    "A-128",
    says="@tool without a docstring is an error; a docstring is what to do about it",
    layer="structured",
    really="a description or an args_schema with a docstring will do as well",
    verdict=NUANCE,
)
def docstring_error() -> Seen:
    told = error(lambda: tool(search))
    text = "ValueError: Function must have a docstring if description not provided."
    others = tool(description="Search.")(search), tool(args_schema=Search)(search)
    descriptions = [one.description for one in others]
    mended = weather().description == "Get current weather for a city."
    nuance = descriptions == ["Search.", "Search the documents by a query."]
    return Seen(told == text and mended, but=nuance, shows=(told, descriptions))


section("Debugging 2: no tool is called")


@claim(
    "A-129",
    says="bind_tools is reached only if there are tools, and the model must support them",
    layer="factory",
    really="a response_format binds without tools; a model without support raises, never ignores",
    verdict=NUANCE,
)
def no_tool_is_called() -> Seen:
    def sent(tools: list[Any], asked: Any = "好。", **options: Any) -> list[str]:
        model = scripted(asked)
        create_agent(model, tools, **options).invoke(QUESTION)
        return [one["function"]["name"] for one in model.requests[0].tools]

    said = sent([weather()]), sent([])
    structured = sent([], calling(call("Search", query="x")), response_format=ToolStrategy(Search))
    unable = create_agent(FakeListChatModel(responses=["x"]), [weather()])
    told = error(lambda: unable.invoke(QUESTION))
    nuance = structured == ["Search"] and told.startswith("NotImplementedError")
    return Seen(said == (["get_weather"], []), but=nuance, shows=(said, structured, told))


section("Debugging 3: an unknown tool")


@claim(
    "A-130",
    says="a call of a missing tool shows as 'Tool xxx is not registered with ToolNode'",
    layer="tool_node",
    really="an error message with another text; this one is of a tool that a wrapper took away",
    verdict=WRONG,
)
def unknown_tool() -> Seen:
    told = error(lambda: node([weather()], call("xxx"))) or answer([weather()], call("xxx")).content
    return Seen("is not registered" in told, shows=told)


section("Debugging 4: arguments")


class Limited(BaseModel):
    """Search the documents by a query."""

    query: str = Field(description="a question in plain words")
    top_k: int = Field(default=5, ge=1, le=20, description="how many")


@claim(
    "A-131",
    says="wrong types and an args_schema that does not fit the function fail the validation",
    layer="base",
    really="'7' passes as a number; of an args_schema that does not fit, a TypeError ends the run",
    verdict=NUANCE,
)
def wrong_arguments() -> Seen:
    @tool
    def double(number: int) -> int:
        """Double it."""
        return 2 * number

    values: list[Any] = ["many", 1.5, "7"]
    shown = [answer([double], call("double", number=value)) for value in values]
    statuses = [one.status for one in shown]
    unfit = tool("search", args_schema=Limited)(search)
    told = error(lambda: node([unfit], call("search", query="x")))
    nuance = shown[2].content == "14" and told.startswith("TypeError: search() got an unexpected")
    return Seen(statuses[:2] == ["error"] * 2, but=nuance, shows=(statuses, told))


@claim("A-132", says="bounds of a Field are explicit", layer="schema")
def bounds_of_a_field() -> Seen:
    @tool(args_schema=Limited)
    def limited(query: str, top_k: int = 5) -> str:
        """Search the documents by a query."""
        return query

    top_k = limited.args["top_k"]
    bounds = [top_k[name] for name in ("default", "minimum", "maximum", "description")]
    content = answer([limited], call("limited", query="x", top_k=50)).content  # type: ignore
    refused = "top_k: Input should be less than or equal to 20" in content
    return Seen(bounds == [5, 1, 20, "how many"] and refused, shows=content)


section("Debugging 5: an exception in a tool")


@claim(
    "A-133",
    says="handle_tool_errors on: an error message for the model; off: the exception is raised",
    layer="tool_errors",
    really="by default only bad arguments are a message; in an agent a middleware changes that",
    verdict=NUANCE,
)
def errors_of_an_agent() -> Seen:
    bad = giving(ValueError("kaput"))

    def told(made: Any, **options: Any) -> str:
        return error(lambda: node([made], call(made.name, city=""), **options)) or "a message"

    def in_an_agent(**options: Any) -> str:
        return run([bad], calling(call("get")), "好。", **options)[2].status

    on, off = told(bad, handle_tool_errors=True), told(bad, handle_tool_errors=False)
    by_default = told(bad), error(in_an_agent)
    arguments = answer([weather()], call(town="北京")).status
    retried = in_an_agent(middleware=[ToolRetryMiddleware(max_retries=0)])
    nuance = by_default == ("ValueError: kaput",) * 2 and (arguments, retried) == ("error",) * 2
    return Seen((on, off) == ("a message", "ValueError: kaput"), but=nuance, shows=by_default)


section("Debugging 6: the result is not seen")


@claim(
    "A-134",
    says="the ids of call and ToolMessage must match; they tell what is pending",
    layer="factory",
)
def ids_must_match() -> Seen:
    def ran(id: str) -> int:
        calls: list[str] = []

        @tool
        def get_weather(city: str) -> str:
            """Get the weather."""
            calls.append(city)
            return "sunny"

        @after_model
        def by_hand(state: Any, runtime: Any) -> Any:
            open = state["messages"][-1].tool_calls
            return {"messages": [ToolMessage("rain", tool_call_id=id)]} if open else None

        run([get_weather], middleware=[by_hand])
        return len(calls)

    missing = error(lambda: ToolMessage("rain"))  # type: ignore[call-overload]
    shown = ran("call_1"), ran("call_2")
    return Seen(shown == (0, 1) and "tool_call_id" in missing, shows=shown)


section("Debugging 7: no messages")


@claim(
    "A-135",
    says="messages in another field need messages_key, else 'No message found in input'",
    layer="tool_node",
)
def messages_elsewhere() -> Seen:
    state: Any = {"chat_history": [calling()]}
    told = error(lambda: ToolNode([weather()]).invoke(state, config()))
    given = ToolNode([weather()], messages_key="chat_history").invoke(state, config())
    found = kinds(given["chat_history"]) == ["tool"]
    return Seen(found and told == "ValueError: No message found in input", shows=told)


section("Debugging 8: the order")


@claim(
    "A-136",
    says="several tools run at once, so no order of theirs is certain",
    layer="tool_node",
    really="the order of their messages is: it is that of the calls",
    verdict=NUANCE,
)
def order_of_the_tools() -> Seen:
    ended, second_ended = [], threading.Event()

    @tool
    def wait(number: int) -> str:
        """The first call waits for the second one."""
        if number == 1:
            second_ended.wait(5)
        ended.append(number)
        second_ended.set()
        return str(number)

    calls: Any = [call("wait", f"call_{number}", number=number) for number in (1, 2)]
    contents = [one.content for one in node([wait], *calls)["messages"]]
    return Seen(ended == [2, 1], but=contents == ["1", "2"], shows=(ended, contents))


@claim(
    "A-137",
    says="if one tool needs what another one gives, the model must call them in two rounds",
    layer="state",
)
def two_rounds() -> Seen:
    def read(*rounds: Any) -> list[list[str]]:
        kinds_read: list[list[str]] = []

        @tool
        def look(state: Annotated[dict[str, Any], InjectedState]) -> str:
            """Look at the history."""
            kinds_read.append(kinds(state["messages"]))
            return "ok"

        run([look], *rounds, "好。")
        return kinds_read

    first, second = call("look"), call("look", "call_2")
    one, two = read(calling(first, second)), read(calling(first), calling(second))
    alone, after = ["human", "ai"], ["human", "ai", "tool", "ai"]
    return Seen((one, two) == ([alone, alone], [alone, after]), shows=(one, two))


section("Debugging 9: what a tool returns")


class Order(BaseModel):
    """An order."""

    status: str = "已付"


@claim(
    "A-138",
    says="a text by json.dumps, or content blocks, are safer than an object",
    layer="base",
    really="of what JSON knows, both come out the same",
    verdict=NUANCE,
)
def safer_than_an_object() -> Seen:
    content: Callable[[Any], Any] = lambda value: answer([giving(value)], call("get")).content  # noqa: E731
    plain, blocks = {"status": "已付"}, [{"type": "text", "text": "已付"}]
    dumped = json.dumps(plain, ensure_ascii=False)
    safe = content(dumped) == dumped and content(blocks) == blocks
    return Seen(
        safe and content(Order()) != dumped,
        but=content(plain) == dumped,
        shows=[content(value) for value in (Order(), plain, None)],
    )


section("Debugging 10: internal state")


@claim(
    "A-139",
    says="a parameter user_id is for the model to fill in; take it from InjectedState",
    layer="injection",
)
def whose_user_id() -> Seen:
    @tool
    def unsafe(user_id: str, order_id: str) -> str:
        """Query an order of a user."""
        return user_id

    @tool
    def safe(order_id: str, state: Annotated[dict[str, Any], InjectedState]) -> str:
        """Query an order of the current user."""
        return str(state["user_id"])

    def user(made: Any) -> Any:
        forged: Any = {"order_id": "O1", "user_id": "evil"}
        return answer([made], call(made.name, **forged), state={"user_id": "u1"}).content

    shown = {one.name: (list(one.args), user(one)) for one in (unsafe, safe)}
    expected = {"unsafe": (["user_id", "order_id"], "evil"), "safe": (["order_id"], "u1")}
    return Seen(shown == expected, shows=shown)
