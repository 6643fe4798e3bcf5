"""Layer 13: the hooks of a middleware, in which order they run, and what they may change.

Without `from __future__ import annotations`, so that annotations may name a world's classes.
"""

import asyncio
import importlib
from collections.abc import Callable
from typing import Annotated, Any, NotRequired

import pytest

from minilc.course.worlds import MINILC, World

Invoke = Callable[..., Any]
HI = {"messages": [("user", "hi")]}
HELP = "\nFor troubleshooting, visit: https://docs.langchain.com/oss/python/langgraph/errors/"


def types(lc: World) -> Any:
    """Where the world keeps what its public names do not have."""
    return importlib.import_module(
        "minilc" if lc is MINILC else "langchain.agents.middleware.types"
    )


def call(name: str, id: str = "c1", **args: Any) -> dict[str, Any]:
    """A ToolCall."""
    return {"name": name, "args": args, "id": id, "type": "tool_call"}


def adder(lc: World) -> Any:
    """The tool of most agents here."""

    @lc.tool
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    return add


def one_sum(lc: World) -> Any:
    """A model that asks for a sum, and then answers."""
    asks = lc.AIMessage("", tool_calls=[call("add", a=1, b=2)])
    return lc.ScriptedChatModel([asks, lc.AIMessage("three")])


def hooks(lc: World, name: str, log: list[str], *, async_: bool) -> Any:
    """A middleware with every hook, on one side; each writes into `log`."""

    def noting(hook: str) -> Callable[..., None]:
        def method(self: Any, state: Any, runtime: Any) -> None:
            log.append(f"{name}.{hook}")

        async def amethod(self: Any, state: Any, runtime: Any) -> None:
            log.append(f"{name}.{hook}")

        return amethod if async_ else method

    def wrapping(hook: str) -> Callable[..., Any]:
        def method(self: Any, request: Any, handler: Any) -> Any:
            log.append(f"{name}.{hook} in")
            answer = handler(request)
            log.append(f"{name}.{hook} out")
            return answer

        async def amethod(self: Any, request: Any, handler: Any) -> Any:
            log.append(f"{name}.{hook} in")
            answer = await handler(request)
            log.append(f"{name}.{hook} out")
            return answer

        return amethod if async_ else method

    side = "a" if async_ else ""
    plain = ("before_model", "after_model")
    members = {f"{side}{hook}": noting(hook) for hook in plain}
    members |= {f"{side}{hook}": wrapping(hook) for hook in ("wrap_model_call", "wrap_tool_call")}
    return type(name, (lc.AgentMiddleware,), members)()


def contents(state: dict[str, Any]) -> list[str]:
    return [message.content for message in state["messages"]]


def error_of(action: Callable[[], Any]) -> tuple[str, str]:
    """The type and the whole text of the error that the action ends in."""
    with pytest.raises(Exception) as caught:
        action()
    return type(caught.value).__name__, str(caught.value)


# The order of the hooks


@pytest.mark.parametrize("async_", [False, True], ids=["sync", "async"])
def test_hooks_nest_with_the_first_middleware_outermost(lc: World, async_: bool) -> None:
    log: list[str] = []
    both = [hooks(lc, "Outer", log, async_=async_), hooks(lc, "Inner", log, async_=async_)]
    agent = lc.create_agent(one_sum(lc), [adder(lc)], middleware=both)

    if async_:
        asyncio.run(agent.ainvoke(HI))
    else:
        agent.invoke(HI)

    a_model_call = [
        "Outer.before_model",
        "Inner.before_model",
        "Outer.wrap_model_call in",
        "Inner.wrap_model_call in",
        "Inner.wrap_model_call out",
        "Outer.wrap_model_call out",
        "Inner.after_model",
        "Outer.after_model",
    ]
    assert log == [
        *a_model_call,
        "Outer.wrap_tool_call in",
        "Inner.wrap_tool_call in",
        "Inner.wrap_tool_call out",
        "Outer.wrap_tool_call out",
        *a_model_call,
    ]


def test_a_hook_changes_the_state_and_the_next_one_sees_it(lc: World, invoke: Invoke) -> None:
    seen: list[list[str]] = []

    @lc.before_model
    def ask_politely(state: Any, runtime: Any) -> dict[str, Any]:
        return {"messages": [lc.HumanMessage("please")]}

    @lc.before_model
    def look(state: Any, runtime: Any) -> None:
        seen.append(contents(state))

    agent = lc.create_agent(lc.ScriptedChatModel(["ok"]), [], middleware=[ask_politely, look])

    assert contents(invoke(agent, HI)) == ["hi", "please", "ok"]
    assert seen == [["hi", "please"]]


def test_a_hook_may_return_a_command_that_updates(lc: World, invoke: Invoke) -> None:
    @lc.after_model
    def add_a_note(state: Any, runtime: Any) -> Any:
        return lc.Command(update={"messages": [lc.HumanMessage("noted")]})

    agent = lc.create_agent(lc.ScriptedChatModel(["ok"]), [], middleware=[add_a_note])

    assert contents(invoke(agent, HI)) == ["hi", "ok", "noted"]


def test_a_hook_that_returns_no_update_is_an_error(lc: World, invoke: Invoke) -> None:
    @lc.before_model
    def wrong(state: Any, runtime: Any) -> str:
        return "x"

    agent = lc.create_agent(lc.ScriptedChatModel(["ok"]), [], middleware=[wrong])

    assert error_of(lambda: invoke(agent, HI)) == (
        "InvalidUpdateError",
        f"Expected dict, got x{HELP}INVALID_GRAPH_NODE_RETURN_VALUE",
    )


def test_a_field_that_the_state_lacks_is_dropped(lc: World, invoke: Invoke) -> None:
    @lc.before_model
    def unknown(state: Any, runtime: Any) -> dict[str, Any]:
        return {"nope": 1}

    agent = lc.create_agent(lc.ScriptedChatModel(["ok"]), [], middleware=[unknown])

    assert invoke(agent, HI).keys() == {"messages"}


def test_a_method_may_do_without_the_runtime(lc: World, invoke: Invoke) -> None:
    log: list[str] = []

    class Short(lc.AgentMiddleware):
        def before_model(self, state: Any) -> None:
            log.append("ran")

    invoke(lc.create_agent(lc.ScriptedChatModel(["ok"]), [], middleware=[Short()]), HI)

    assert log == ["ran"]


def test_hooks_and_requests_have_the_run_s_context(lc: World, invoke: Invoke) -> None:
    seen: list[Any] = []

    class Spy(lc.AgentMiddleware):
        def before_model(self, state: Any, runtime: Any) -> None:
            seen.append(runtime.context)

        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            seen.append(request.runtime.context)
            return handler(request)

        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            seen.append(request.runtime.context)
            return await handler(request)

    model = lc.ScriptedChatModel(["ok"])
    agent = lc.create_agent(model, [], middleware=[Spy()], context_schema=dict)
    invoke(agent, HI, context={"user": "王"})

    assert seen == [{"user": "王"}, {"user": "王"}]


# One side of a hook


def test_a_sync_hook_serves_async_runs_too(lc: World, invoke: Invoke) -> None:
    log: list[str] = []

    @lc.before_model
    def note(state: Any, runtime: Any) -> None:
        log.append("noted")

    invoke(lc.create_agent(lc.ScriptedChatModel(["ok"]), [], middleware=[note]), HI)

    assert log == ["noted"]


def test_of_two_sides_a_run_takes_its_own(lc: World, invoke: Invoke) -> None:
    log: list[str] = []

    class Both(lc.AgentMiddleware):
        def before_model(self, state: Any, runtime: Any) -> None:
            log.append("sync")

        async def abefore_model(self, state: Any, runtime: Any) -> None:
            log.append("async")

    agent = lc.create_agent(lc.ScriptedChatModel(["ok", "ok"]), [], middleware=[Both()])
    agent.invoke(HI)
    asyncio.run(agent.ainvoke(HI))

    assert log == ["sync", "async"]


def test_an_async_hook_alone_cannot_serve_a_sync_run(lc: World) -> None:
    # The row "name-of-a-hook".
    called = ["abefore_model", "async_wrapped"]
    if lc.name == "minilc":
        called = ["Method.before_model", "decorated.after_model"]

    class Method(lc.AgentMiddleware):
        async def abefore_model(self, state: Any, runtime: Any) -> None: ...

    @lc.after_model
    async def decorated(state: Any, runtime: Any) -> None: ...

    for middleware, name in zip((Method(), decorated), called, strict=True):
        agent = lc.create_agent(lc.ScriptedChatModel(["ok"]), [], middleware=[middleware])
        assert error_of(lambda agent=agent: agent.invoke(HI)) == (
            "TypeError",
            f'No synchronous function provided to "{name}".\nEither initialize with a synchronous '
            "function or invoke via the async API (ainvoke, astream, etc.)",
        )


SYNC_MISSING = (
    "Synchronous implementation of {hook} is not available. You are likely encountering this "
    "error because you defined only the async version (a{hook}) and invoked your agent in a "
    "synchronous context (e.g., using `stream()` or `invoke()`). To resolve this, either: "
    "(1) subclass AgentMiddleware and implement the synchronous {hook} method, "
    "(2) use the @{hook} decorator on a standalone sync function, or "
    "(3) invoke your agent asynchronously using `astream()` or `ainvoke()`."
)
ASYNC_MISSING = (
    "Asynchronous implementation of a{hook} is not available. You are likely encountering this "
    "error because you defined only the sync version ({hook}) and invoked your agent in an "
    "asynchronous context (e.g., using `astream()` or `ainvoke()`). To resolve this, either: "
    "(1) subclass AgentMiddleware and implement the asynchronous a{hook} method, "
    "(2) use the @{hook} decorator on a standalone async function, or "
    "(3) invoke your agent synchronously using `stream()` or `invoke()`."
)


@pytest.mark.parametrize("hook", ["wrap_model_call", "wrap_tool_call"])
def test_a_wrapper_without_the_side_that_the_run_needs_is_an_error(lc: World, hook: str) -> None:
    # The row "missing-side-advice": minilc's text ends with its first sentence.
    sync_missing, async_missing = SYNC_MISSING.format(hook=hook), ASYNC_MISSING.format(hook=hook)
    if lc.name == "minilc":
        sync_missing, async_missing = (
            f"{text.split('. ')[0]}." for text in (sync_missing, async_missing)
        )

    @getattr(lc, hook)
    def sync_wrapper(request: Any, handler: Any) -> Any:
        return handler(request)

    @getattr(lc, hook)
    async def async_wrapper(request: Any, handler: Any) -> Any:
        return await handler(request)

    def agent_with(wrapper: Any) -> Any:
        return lc.create_agent(one_sum(lc), [adder(lc)], middleware=[wrapper])

    assert error_of(lambda: agent_with(async_wrapper).invoke(HI)) == (
        "NotImplementedError",
        sync_missing,
    )
    assert error_of(lambda: asyncio.run(agent_with(sync_wrapper).ainvoke(HI))) == (
        "NotImplementedError",
        async_missing,
    )
    assert contents(agent_with(sync_wrapper).invoke(HI)) == ["hi", "", "3", "three"]
    assert contents(asyncio.run(agent_with(async_wrapper).ainvoke(HI))) == ["hi", "", "3", "three"]


# Wrapping a model call


def wrapper(
    lc: World, change: Callable[[Any], Any], after: Callable[[Any], Any] = lambda r: r
) -> Any:
    """A middleware with both sides of wrap_model_call: changes the request, then the response."""

    class Wrapper(lc.AgentMiddleware):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            return after(handler(change(request)))

        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            return after(await handler(change(request)))

    return Wrapper()


def answering(lc: World, value: Any) -> Any:
    """A middleware that gives `value` in the model's place."""

    class Answering(lc.AgentMiddleware):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            return value

        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            return value

    return Answering()


def test_a_message_from_an_inner_wrapper_reaches_the_outer_one_as_a_response(
    lc: World, invoke: Invoke
) -> None:
    seen: list[Any] = []

    def look(response: Any) -> Any:
        seen.append((type(response).__name__, [m.content for m in response.result]))
        return response

    outer = wrapper(lc, lambda request: request, look)
    model = lc.ScriptedChatModel(["never asked"])
    both = [outer, answering(lc, lc.AIMessage("cached"))]
    agent = lc.create_agent(model, [], middleware=both)

    assert contents(invoke(agent, HI)) == ["hi", "cached"]
    assert seen == [("ModelResponse", ["cached"])]
    assert model.requests == []


def test_a_wrapper_may_ask_several_times(lc: World, invoke: Invoke) -> None:
    class Twice(lc.AgentMiddleware):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            handler(request)
            return handler(request)

        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            await handler(request)
            return await handler(request)

    model = lc.ScriptedChatModel(["first", "second"])

    assert contents(invoke(lc.create_agent(model, [], middleware=[Twice()]), HI)) == [
        "hi",
        "second",
    ]
    assert len(model.requests) == 2


def test_a_response_may_have_several_messages_or_none(lc: World, invoke: Invoke) -> None:
    two = lc.ModelResponse(result=[lc.AIMessage("a"), lc.HumanMessage("b")])
    for response, expected in ((two, ["hi", "a", "b"]), (lc.ModelResponse(result=[]), ["hi"])):
        model = lc.ScriptedChatModel([])
        agent = lc.create_agent(model, [], middleware=[answering(lc, response)])
        assert contents(invoke(agent, HI)) == expected


@pytest.mark.parametrize("value", ["text", None, 5, {"result": []}], ids=repr)
def test_what_is_no_response_is_an_error(lc: World, invoke: Invoke, value: Any) -> None:
    agent = lc.create_agent(lc.ScriptedChatModel([]), [], middleware=[answering(lc, value)])

    assert error_of(lambda: invoke(agent, HI)) == (
        "AttributeError",
        f"'{type(value).__name__}' object has no attribute 'result'",
    )


def test_a_wrapper_that_forgets_to_await_is_an_error(lc: World) -> None:
    class Forgetful(lc.AgentMiddleware):
        def awrap_model_call(self, request: Any, handler: Any) -> Any:
            return lc.AIMessage("x")

    agent = lc.create_agent(lc.ScriptedChatModel([]), [], middleware=[Forgetful()])

    assert error_of(lambda: asyncio.run(agent.ainvoke(HI))) == (
        "TypeError",
        "object AIMessage can't be used in 'await' expression",
    )


# Wrapping a tool call


def test_tool_wrappers_change_the_call_from_the_outermost_in(lc: World) -> None:
    def doubling(name: str) -> Any:
        @lc.wrap_tool_call(name=name)
        def double(request: Any, handler: Any) -> Any:
            args = {key: value * 2 for key, value in request.tool_call["args"].items()}
            answer = handler(request.override(tool_call={**request.tool_call, "args": args}))
            return answer.model_copy(update={"content": f"{name}({answer.content})"})

        return double

    both = [doubling("outer"), doubling("inner")]
    agent = lc.create_agent(one_sum(lc), [adder(lc)], middleware=both)

    assert contents(agent.invoke(HI)) == ["hi", "", "outer(inner(12))", "three"]


def test_the_tool_that_runs_may_be_one_that_nobody_registered(lc: World) -> None:
    sum_ = adder(lc)

    @lc.wrap_model_call
    def offer(request: Any, handler: Any) -> Any:
        return handler(request.override(tools=[sum_]))

    @lc.wrap_tool_call
    def run(request: Any, handler: Any) -> Any:
        return handler(request.override(tool=sum_))

    agent = lc.create_agent(one_sum(lc), [], middleware=[offer, run])

    assert contents(agent.invoke(HI)) == ["hi", "", "3", "three"]


# Jumps


def jumping(lc: World, hook: str, to: str | None, can_jump_to: list[str] | None) -> Any:
    @getattr(lc, hook)(can_jump_to=can_jump_to)
    def jump(state: Any, runtime: Any) -> dict[str, Any]:
        return {"jump_to": to}

    return jump


def test_before_model_jumps_to_the_end(lc: World, invoke: Invoke) -> None:
    model = lc.ScriptedChatModel([])
    jump = jumping(lc, "before_model", "end", ["end"])

    assert contents(invoke(lc.create_agent(model, [], middleware=[jump]), HI)) == ["hi"]


def test_a_jump_before_the_model_must_be_declared(lc: World, invoke: Invoke) -> None:
    model = lc.ScriptedChatModel(["ok"])
    jump = jumping(lc, "before_model", "end", None)

    assert contents(invoke(lc.create_agent(model, [], middleware=[jump]), HI)) == ["hi", "ok"]


def test_a_jump_after_the_model_counts_where_there_are_tools(lc: World, invoke: Invoke) -> None:
    jump = jumping(lc, "after_model", "end", None)
    agent = lc.create_agent(one_sum(lc), [adder(lc)], middleware=[jump])

    assert contents(invoke(agent, HI)) == ["hi", ""]


def test_after_model_jumps_back_to_the_model(lc: World, invoke: Invoke) -> None:
    @lc.after_model(can_jump_to=["model"])
    def again(state: Any, runtime: Any) -> Any:
        return {"jump_to": "model"} if state["messages"][-1].content == "bad" else None

    model = lc.ScriptedChatModel(["bad", "bad", "good"])
    agent = lc.create_agent(model, [], middleware=[again])

    assert contents(invoke(agent, HI)) == ["hi", "bad", "bad", "good"]


def test_before_model_jumps_to_the_tools(lc: World, invoke: Invoke) -> None:
    @lc.before_model(can_jump_to=["tools"])
    def answer_first(state: Any, runtime: Any) -> Any:
        return {"jump_to": "tools"} if state["messages"][-1].type == "ai" else None

    asks = lc.AIMessage("", tool_calls=[call("add", a=1, b=2)])
    model = lc.ScriptedChatModel(["three"])
    agent = lc.create_agent(model, [adder(lc)], middleware=[answer_first])

    assert contents(invoke(agent, {"messages": [asks]})) == ["", "3", "three"]


@pytest.mark.parametrize(
    ("hook", "to", "can_jump_to", "missing"),
    [
        ("before_model", "tools", ["end"], "'tools'"),
        ("before_model", "model", ["end"], "'jump.before_model'"),
        ("after_model", "tools", ["end", "model"], "'tools'"),
    ],
)
def test_a_jump_to_what_was_not_declared_is_an_error(
    lc: World, invoke: Invoke, hook: str, to: str, can_jump_to: list[str], missing: str
) -> None:
    agent = lc.create_agent(
        lc.ScriptedChatModel(["ok"]), [], middleware=[jumping(lc, hook, to, can_jump_to)]
    )

    assert error_of(lambda: invoke(agent, HI)) == ("KeyError", missing)


def test_a_jump_that_is_no_destination_goes_on(lc: World, invoke: Invoke) -> None:
    model = lc.ScriptedChatModel(["ok"])
    jump = jumping(lc, "before_model", "bogus", ["end"])

    assert contents(invoke(lc.create_agent(model, [], middleware=[jump]), HI)) == ["hi", "ok"]


def test_tools_that_are_not_there_cannot_be_declared(lc: World) -> None:
    jump = jumping(lc, "before_model", None, ["tools"])

    assert error_of(lambda: lc.create_agent(lc.ScriptedChatModel([]), [], middleware=[jump])) == (
        "ValueError",
        "At 'jump.before_model' node, 'jump_edge' branch found unknown target 'tools'",
    )


def test_a_jump_is_gone_after_the_next_step_and_never_in_the_result(
    lc: World, invoke: Invoke
) -> None:
    seen: list[Any] = []

    @lc.after_model
    def look(state: Any, runtime: Any) -> None:
        seen.append(state.get("jump_to", "nothing"))

    @lc.after_model(can_jump_to=["end"])
    def say_nothing_new(state: Any, runtime: Any) -> dict[str, Any]:
        seen.append(state.get("jump_to", "nothing"))
        return {"jump_to": "somewhere"}

    agent = lc.create_agent(one_sum(lc), [adder(lc)], middleware=[look, say_nothing_new])

    assert invoke(agent, HI).keys() == {"messages"}
    assert seen == ["nothing", "somewhere", "nothing", "somewhere"]


def test_hook_config_declares_the_jumps_of_a_method(lc: World, invoke: Invoke) -> None:
    class Stop(lc.AgentMiddleware):
        @types(lc).hook_config(can_jump_to=["end"])
        def before_model(self, state: Any, runtime: Any) -> dict[str, Any]:
            return {"jump_to": "end"}

    agent = lc.create_agent(lc.ScriptedChatModel([]), [], middleware=[Stop()])

    assert contents(invoke(agent, HI)) == ["hi"]


def test_either_side_may_declare_the_jumps_of_both(lc: World, invoke: Invoke) -> None:
    class Stop(lc.AgentMiddleware):
        def before_model(self, state: Any, runtime: Any) -> dict[str, Any]:
            return {"jump_to": "end"}

        @types(lc).hook_config(can_jump_to=["end"])
        async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any]:
            return {"jump_to": "end"}

    agent = lc.create_agent(lc.ScriptedChatModel([]), [], middleware=[Stop()])

    assert contents(invoke(agent, HI)) == ["hi"]


# The decorators


def test_a_decorator_makes_a_middleware_that_is_called_like_its_function(lc: World) -> None:
    def note(state: Any, runtime: Any) -> None: ...

    plain = lc.before_model(note)
    full = lc.after_model(name="Noter")(note)

    assert isinstance(plain, lc.AgentMiddleware)
    assert (plain.name, list(plain.tools), plain.state_schema) == ("note", [], lc.AgentState)
    assert (full.name, type(full).__name__) == ("Noter", "Noter")


# A request


def test_override_gives_a_copy(lc: World) -> None:
    system = lc.SystemMessage("be brief")
    request = lc.ModelRequest(model=None, messages=[], system_message=system)
    changed = request.override(tool_choice="any", system_message=None)

    assert (request.tool_choice, request.system_message) == (None, system)
    assert (changed.tool_choice, changed.system_message) == ("any", None)
    assert (request.tools, request.model_settings, request.state) == ([], {}, {"messages": []})


def test_a_request_has_no_other_fields(lc: World) -> None:
    request = lc.ModelRequest(model=None, messages=[])

    assert error_of(lambda: request.override(temperature=1)) == (
        "TypeError",
        "ModelRequest.__init__() got an unexpected keyword argument 'temperature'",
    )


# What a middleware brings along


def test_its_tools_come_first(lc: World, invoke: Invoke) -> None:
    @lc.tool
    def ping() -> str:
        """Say pong."""
        return "pong"

    class Pinging(lc.AgentMiddleware):
        tools = [ping]

    asks = lc.AIMessage("", tool_calls=[call("ping")])
    model = lc.ScriptedChatModel([asks, "ok"])
    agent = lc.create_agent(model, [adder(lc)], middleware=[Pinging()])

    assert contents(invoke(agent, HI)) == ["hi", "", "pong", "ok"]
    assert [tool["function"]["name"] for tool in model.requests[0].tools] == ["ping", "add"]


def test_its_state_is_the_agent_s(lc: World, invoke: Invoke) -> None:
    class Counted(lc.AgentState):
        count: NotRequired[int]

    class Counting(lc.AgentMiddleware):
        state_schema = Counted

        def after_model(self, state: Any, runtime: Any) -> dict[str, Any]:
            return {"count": state["count"] + 1}

    agent = lc.create_agent(one_sum(lc), [adder(lc)], middleware=[Counting()])

    assert invoke(agent, {**HI, "count": 5})["count"] == 7


def test_the_mark_of_a_field_counts_upstream_alone(lc: World, invoke: Invoke) -> None:
    """Row "private-state"."""
    private = importlib.import_module("langchain.agents.middleware.types").PrivateStateAttr

    class Guarded(lc.AgentState):
        secret: NotRequired[Annotated[str, private]]

    agent = lc.create_agent(lc.ScriptedChatModel(["ok"]), [], state_schema=Guarded)

    told = {"messages", "secret"} if lc is MINILC else {"messages"}
    assert invoke(agent, {**HI, "secret": "given"}).keys() == told


# Mistakes


def test_two_middleware_of_one_name_are_an_error(lc: World) -> None:
    class Same(lc.AgentMiddleware): ...

    assert error_of(
        lambda: lc.create_agent(lc.ScriptedChatModel([]), [], middleware=[Same(), Same()])
    ) == ("AssertionError", "Please remove duplicate middleware instances.")


def test_what_is_no_middleware_is_an_error(lc: World) -> None:
    class Class(lc.AgentMiddleware): ...

    for given, kind in ((Class, "type"), ("text", "str")):
        assert error_of(
            lambda given=given: lc.create_agent(lc.ScriptedChatModel([]), [], middleware=[given])
        ) == ("AttributeError", f"type object '{kind}' has no attribute 'wrap_tool_call'")
