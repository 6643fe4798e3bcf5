"""Article A, layers 10 and 11: how one call is executed, and what is injected."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from typing import Annotated, Any

from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import ToolCallRequest, wrap_tool_call
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, InjectedStore, ToolNode, ToolRuntime
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, interrupt
from pydantic import BaseModel
from typing_extensions import TypedDict

from minilc.course.articles.ledger import CHANGED, NUANCE, Seen, claim, section
from minilc.course.articles.support import (
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

section("Layer 10: _run_one")


@claim(
    "A-92",
    says="_run_one() is around lines 1014 to 1067 of tool_node.py",
    layer="tool_node",
    really="it has moved within the file",
    once="langgraph-prebuilt 1.1.0",
    verdict=CHANGED,
)
def lines_of_run_one() -> Seen:
    return is_where_said("A-92")


@claim(
    "A-93",
    says="the tool is looked up by name; the request holds tool_call, tool, state and runtime",
    layer="tool_node",
)
def request_of_a_call() -> Seen:
    got: list[Any] = []

    def keep(request: Any, execute: Any) -> Any:
        got.append(request)
        return execute(request)

    made = weather()
    node([made], call(), call("ghost", id="call_2"), wrap_tool_call=keep, state={"user_id": "u1"})
    known, unknown = sorted(got, key=lambda one: str(one.tool_call["id"]))
    names = [one.name for one in fields(ToolCallRequest)]
    whole = known.tool_call == call() and known.state["user_id"] == known.runtime.state["user_id"]
    looked_up = known.tool is made and unknown.tool is None
    return Seen(
        names == ["tool_call", "tool", "state", "runtime"] and whole and looked_up, shows=names
    )


@claim(
    "A-94",
    says="with a wrapper it is wrap_tool_call(request, execute) that answers, else execution does",
    layer="tool_node",
)
def through_the_wrapper() -> Seen:
    ran: list[str] = []

    @tool
    def get_weather(city: str) -> str:
        """Get the weather."""
        ran.append(city)
        return "sunny"

    def runs(wrapper: Any) -> tuple[str, int]:
        ran.clear()
        return answer([get_weather], call(), wrap_tool_call=wrapper).content, len(ran)

    direct = runs(None)
    never = runs(lambda request, execute: ToolMessage("mine", tool_call_id="call_1"))
    twice = runs(lambda request, execute: execute(request) and execute(request))
    shown = direct, never, twice
    return Seen(shown == (("sunny", 1), ("mine", 0), ("sunny", 2)), shows=shown)


section("Layer 10: the name")


@claim(
    "A-95",
    says="a call of weather does not find the tool get_weather",
    layer="tool_node",
)
def by_exact_name() -> Seen:
    names = ["weather", "Get_Weather", "get_weather"]
    shown = [answer([weather()], call(name)) for name in names]
    text = "Error: weather is not a valid tool, try one of [get_weather]."
    statuses = [one.status for one in shown]
    return Seen(
        statuses == ["error", "error", "success"] and shown[0].content == text,
        shows=shown[0].content,
    )


section("Layer 10: wrap_tool_call")


@claim("A-96", says="wrap_tool_call is around one tool call, not the agent", layer="middleware")
def around_one_call() -> Seen:
    wrapped: list[str] = []

    @wrap_tool_call
    def log(request: Any, handler: Any) -> Any:
        wrapped.append(request.tool_call["id"])
        return handler(request)

    model = scripted(calling(call(), call(id="call_2")), calling(call(id="call_3")), "好。")
    create_agent(model, [weather()], middleware=[log]).invoke(QUESTION)
    once_each = sorted(wrapped) == ["call_1", "call_2", "call_3"]
    return Seen(once_each and len(model.requests) == 3, shows=sorted(wrapped))


def _answered(request: Any, text: str) -> ToolMessage:
    return ToolMessage(text, tool_call_id=request.tool_call["id"])


def _retry(request: Any, execute: Any) -> Any:
    try:
        return execute(request)
    except ValueError:
        return execute(request)


def _fall_back(request: Any, execute: Any) -> Any:
    try:
        return execute(request)
    except ValueError as raised:
        return _answered(request, f"instead of {raised}")


def _audit(request: Any, execute: Any) -> Any:
    return execute(request.override(tool_call={**request.tool_call, "args": {"city": "上海"}}))


def _limit(request: Any, execute: Any) -> Any:
    pool = ThreadPoolExecutor(1)
    try:
        return pool.submit(execute, request).result(timeout=0.02)
    except TimeoutError:
        return _answered(request, "too late")
    finally:
        pool.shutdown(wait=False)


@claim(
    "A-97",
    says="it suits logs, argument audits, retries, caches, time limits, approvals, fallbacks",
    layer="middleware",
    really="what it returns is not checked: a text becomes a human message, the call stays open",
    verdict=NUANCE,
)
def uses_of_the_wrapper() -> Seen:
    ran, released = [0], threading.Event()

    @tool
    def flaky(city: str) -> str:
        """Fail at first."""
        ran[0] += 1
        if ran[0] == 1:
            raise ValueError("flaky")
        return city

    @tool
    def slow(city: str) -> str:
        """Wait."""
        released.wait(5)
        return city

    def content(made: Any, wrapper: Any) -> Any:
        ran[0] = 0
        return answer([made], call(made.name), wrap_tool_call=wrapper).content

    shown = [content(flaky, _retry), content(flaky, _fall_back), content(weather(), _audit)]
    shown += [content(weather(), lambda request, execute: _answered(request, "cached"))]
    shown += [content(slow, _limit)]
    released.set()
    text = wrap_tool_call(lambda request, handler: "text", name="Text")  # type: ignore
    unchecked = kinds(run([weather()], middleware=[text])) == ["human", "ai", "human", "ai"]
    expected = ["北京", "instead of flaky", "上海 is sunny, 28C", "cached", "too late"]
    return Seen(shown == expected, but=unchecked, shows=shown)


@claim(
    "A-98",
    says="a function of request and handler with try and finally is a wrapper",
    layer="middleware",
    really="ToolNode takes it as it is; for create_agent it must be decorated with wrap_tool_call",
    verdict=NUANCE,
)
def printed_wrapper() -> Seen:
    lines: list[str] = []

    def printed(request: Any, handler: Any) -> Any:
        lines.append("start " + request.tool_call["name"])
        try:
            return handler(request)
        finally:
            lines.append("end " + request.tool_call["id"])

    node([weather()], call(), wrap_tool_call=printed)
    run([weather()], middleware=[wrap_tool_call(printed)])  # type: ignore[call-overload]
    bare = error(lambda: agent([weather()], middleware=[printed]))
    works = lines == ["start get_weather", "end call_1"] * 2
    return Seen(works, but=bare.startswith("AttributeError"), shows=bare)


section("Layer 10: _execute_tool_sync")


@claim(
    "A-99",
    says="_execute_tool_sync() is around lines 927 to 1012 of tool_node.py",
    layer="tool_node",
    really="it has moved within the file",
    once="langgraph-prebuilt 1.1.0",
    verdict=CHANGED,
)
def lines_of_execute() -> Seen:
    return is_where_said("A-99")


@claim(
    "A-100",
    says="without a tool it is an error message for an unknown name, else a TypeError",
    layer="tool_node",
)
def without_a_tool() -> Seen:
    def forget(request: Any, execute: Any) -> Any:
        return execute(request.override(tool=None))

    unknown = answer([], call("ghost"))
    known = error(lambda: node([weather()], call(), wrap_tool_call=forget))
    text = "Error: ghost is not a valid tool, try one of []."
    fits = (unknown.content, unknown.status) == (text, "error")
    return Seen(fits and known.startswith("TypeError"), shows=(unknown.content, known))


@claim(
    "A-101",
    says="arguments are injected, then the tool is invoked with a whole call of type tool_call",
    layer="tool_node",
)
def what_invoke_gets() -> Seen:
    got: list[Any] = []

    class Spy(BaseTool):
        name: str = "spy"
        description: str = "Look on."

        def _run(self, city: str, state: Annotated[dict[str, Any], InjectedState]) -> str:
            return city + state["user_id"]

        def invoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
            got.append(input)
            return super().invoke(input, config, **kwargs)

    content = answer([Spy()], call("spy"), state={"user_id": "u1"}).content
    ((args, rest),) = [(one["args"], {**one, "args": {}}) for one in got]
    whole = rest == {**call("spy"), "args": {}} and args["state"]["user_id"] == "u1"
    return Seen(whole and content == "北京u1", shows=(sorted(args), rest))


def _handling(value: Any, handling: Any) -> str:
    """The text of the error message, or of the error, if a tool gives this value."""
    texts: list[str] = []

    def one() -> None:
        message = answer([giving(value)], call("get"), handle_tool_errors=handling)
        texts.append(f"{message.status}: {message.content}")

    raised = error(one)
    return raised or texts[0]


@claim(
    "A-102",
    says="the result is normalised inside of the try, so its errors can be handled too",
    layer="tool_node",
    really="before langgraph-prebuilt 1.0.11 it is normalised after the try, and the run ends",
    once="langgraph-prebuilt 1.1.0",
    verdict=("holds", CHANGED),
)
def normalised_inside() -> Seen:
    shown = _handling(Command(update={"foo": 1}), True)
    return Seen(shown.startswith("error: Error: ValueError("), shows=shown)


@claim(
    "A-103",
    says="an error is raised again unless it is handled; then it is a message of status error",
    layer="tool_errors",
)
def which_errors() -> Seen:
    def explain(raised: ValueError) -> str:
        return f"explained {raised}"

    raised = "ValueError: kaput"
    expected: list[tuple[Any, str]] = [
        (True, "error: Error: ValueError('kaput')\n Please fix your mistakes."),
        ("sorry", "error: sorry"),
        (explain, "error: explained kaput"),
        ((ValueError,), "error: Error: ValueError('kaput')\n Please fix your mistakes."),
        ((KeyError,), raised),
        (False, raised),
        (None, raised),
    ]
    shown = [_handling(ValueError("kaput"), handling) for handling, _ in expected]
    return Seen(shown == [text for _, text in expected], shows=shown)


@claim(
    "A-104",
    says="one `except Exception`, if the type is handled, is the whole error handling",
    layer="tool_errors",
    really="an interrupt is never handled: it leaves the tool and pauses the run",
    verdict=NUANCE,
)
def interrupts_pass() -> Seen:
    def last(made: Any) -> tuple[bool, Any]:
        graph = StateGraph(MessagesState)
        graph.add_node("tools", ToolNode([made], handle_tool_errors=True))
        compiled = graph.add_edge(START, "tools").compile(checkpointer=InMemorySaver())
        state: Any = {"messages": [calling(call(made.name))]}
        after: Any = compiled.invoke(state, {"configurable": {"thread_id": "1"}})
        return "__interrupt__" in after, after["messages"][-1].type

    @tool
    def ask() -> str:
        """Ask a human."""
        return str(interrupt("go?"))

    handled, paused = last(giving(ValueError("kaput"))), last(ask)
    return Seen(handled == (False, "tool"), but=paused == (True, "ai"), shows=(handled, paused))


section("Layer 11: what is injected")


@claim("A-105", says="InjectedState and tool come from langchain.tools", layer="injection")
def injection_imports() -> Seen:
    from langchain import tools

    return Seen((tools.InjectedState, tools.tool) == (InjectedState, tool), shows=tools.__all__)


@tool
def query_order(order_id: str, state: Annotated[dict[str, Any], InjectedState]) -> str:
    """Query an order by its id."""
    return f"{state['user_id']} {order_id}"


@claim("A-106", says="the model gives order_id; ToolNode gives state", layer="injection")
def state_of_the_node() -> Seen:
    content = answer([query_order], call("query_order", order_id="O1"), state={"user_id": "u1"})
    alone = error(lambda: query_order.invoke({"order_id": "O1"}))
    told = list(query_order.args)
    without = "state\n  Field required" in alone
    return Seen(told == ["order_id"] and content.content == "u1 O1" and without, shows=told)


@claim(
    "A-107",
    says="the tool finds state['user_id']",
    layer="injection",
    really="only if the agent's state_schema has user_id; else it is dropped, and a KeyError ends",
    verdict=NUANCE,
)
def user_of_the_state() -> Seen:
    class WithUser(AgentState):  # type: ignore[type-arg]
        user_id: str

    def content(**options: Any) -> Any:
        asked = calling(call("query_order", order_id="O1"))
        made = agent([query_order], asked, "好。", **options)
        return made.invoke({**QUESTION, "user_id": "u1"})["messages"][2].content

    by_default = error(content)
    found = content(state_schema=WithUser)
    return Seen(found == "u1 O1", but=by_default == "KeyError: 'user_id'", shows=by_default)


@claim("A-108", says="the model cannot forge state, store or runtime", layer="injection")
def nothing_forged() -> Seen:
    got: list[Any] = []

    @tool
    def spy(
        state: Annotated[dict[str, Any], InjectedState],
        store: Annotated[BaseStore, InjectedStore()],
        runtime: ToolRuntime,
        user: Annotated[str, InjectedState("nobody")] = "anonymous",
    ) -> str:
        """Look on."""
        got.extend([state["user_id"], store, runtime.tool_call_id, user])
        return "ok"

    forged: Any = {"state": {"user_id": "evil"}, "store": 1, "runtime": 2, "user": "evil"}
    given: Any = {"messages": [calling(call("spy", **forged))], "user_id": "u1"}
    store = InMemoryStore()
    ToolNode([spy]).invoke(given, config(store=store))
    return Seen(got == ["u1", store, "call_1", "anonymous"], shows=[got[0], *got[2:]])


section("Layer 11: what is checked")


class Reply(BaseModel):
    """What a service answers."""

    count: int


@tool
def look_up(count: int) -> str:
    """Ask a service."""
    return str(Reply.model_validate({"count": "none"}))


@claim(
    "A-109",
    says="a ValidationError becomes a ToolInvocationError, of the call's arguments",
    layer="tool_errors",
    really="so does one that is raised in the tool's body, though the arguments were right",
    verdict=NUANCE,
)
def invocation_error() -> Seen:
    def told(**args: Any) -> str:
        message = answer([look_up], call("look_up", **args))
        return f"{message.status}: {message.content}"

    def types(raised: Exception) -> str:
        return type(raised).__name__

    kind = answer([look_up], call("look_up", count="many"), handle_tool_errors=types).content
    wrong, inner = told(count="many"), told(count=1)
    start = "error: Error invoking tool 'look_up' with kwargs {'count': "
    said = kind == "ToolInvocationError" and wrong.startswith(start + "'many'} with error:\n")
    return Seen(said, but=inner.startswith(start + "1} with error:\n count: "), shows=inner)


class WithUserId(TypedDict):
    """A state."""

    user_id: int


@claim(
    "A-110",
    says="errors of injected arguments are left out of the message",
    layer="tool_errors",
    really="if there are no others, the model is told of an error without a reason",
    verdict=NUANCE,
)
def injected_errors() -> Seen:
    @tool
    def count(number: int, state: Annotated[WithUserId, InjectedState]) -> str:
        """Count."""
        return "ok"

    def told(number: Any) -> str:
        one = answer([count], call("count", number=number), state={"user_id": "secret"})
        return str(one.content)

    both, only = told("many"), told(1)
    hidden = all(word not in both + only for word in ("user_id", "state", "secret"))
    empty = "{'number': 1} with error:\n \n Please fix the error" in only
    return Seen(hidden and "number: Input should be" in both, but=empty, shows=only)


@claim(
    "A-111",
    says="arguments are injected before the try, so an error there is never handled",
    layer="injection",
)
def injected_outside() -> Seen:
    @tool
    def of_user(user: Annotated[str, InjectedState("user_id")]) -> str:
        """Of a user."""
        return user

    @tool
    def of_store(store: Annotated[Any, InjectedStore()]) -> str:
        """Of a store."""
        return "ok"

    def told(made: Any) -> str:
        return error(lambda: node([made], call(made.name), handle_tool_errors=True))

    shown = told(of_user), told(of_store)
    no_store = shown[1].startswith("ValueError: Cannot inject store into tools")
    return Seen(shown[0] == "KeyError: 'user_id'" and no_store, shows=shown)
