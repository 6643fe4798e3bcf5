"""Layer 11: state, store and runtime reach a tool; what the model puts in their place does not.

Without `from __future__ import annotations`, so that annotations may name a world's classes.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Optional

import pytest
from langgraph.runtime import ExecutionInfo, ServerInfo
from pydantic import BaseModel, ConfigDict, Field
from pydantic.errors import PydanticSchemaGenerationError

from minilc.course.behaviours import active
from minilc.course.worlds import LANGCHAIN, MINILC, World
from minilc.injection import _get_all_injected_args

Invoke = Callable[..., Any]


class Shelf:
    """Stands for a store; whatever is given as one is passed through."""

    def __init__(self, **items: Any) -> None:
        self.items = items


def call(name: str, args: dict[str, Any] | None = None, id: str = "call_1") -> dict[str, Any]:
    """A ToolCall."""
    return {"name": name, "args": args or {}, "id": id, "type": "tool_call"}


def by_hand(lc: World, **fields: Any) -> dict[str, Any]:
    """What a graph puts into the config; `fields` are the Runtime's."""
    return {"configurable": {"__pregel_runtime": lc.Runtime(**fields)}}


def asking(lc: World, *calls: dict[str, Any]) -> list[Any]:
    """Messages of which the last asks for the calls."""
    return [lc.HumanMessage("hi"), lc.AIMessage("", tool_calls=list(calls))]


def contents(
    lc: World, invoke: Invoke, tool: Any, args: dict[str, Any] | None = None, **state: Any
) -> Any:
    """The content of the answer to one call, from a state of these fields and the messages."""
    node = lc.ToolNode([tool])
    name = next(iter(node.tools_by_name))
    answer = invoke(node, {"messages": asking(lc, call(name, args)), **state}, by_hand(lc))
    return answer["messages"][0].content


def new(lc: World, behaviour: str) -> bool:
    """Whether this world does the new thing: minilc always, LangChain since the row's release."""
    return lc is MINILC or active(behaviour)


# State


def test_a_tool_gets_the_whole_state_or_one_field_of_it(lc: World, invoke: Invoke) -> None:
    @lc.tool
    def order(
        item: str,
        state: Annotated[dict, lc.InjectedState],
        again: Annotated[dict, lc.InjectedState()],
        user: Annotated[str, lc.InjectedState("user_id")],
    ) -> str:
        """Order an item."""
        assert state == again
        return f"{item} for {user}, {sorted(state)}"

    assert list(order.args) == ["item"]
    assert contents(lc, invoke, order, {"item": "茶"}, user_id="u1") == (
        "茶 for u1, ['messages', 'user_id']"
    )


def test_a_plain_function_is_looked_at_in_the_same_way(lc: World, invoke: Invoke) -> None:
    def order(item: str, user: Annotated[str, lc.InjectedState("user_id")]) -> str:
        """Order an item."""
        return f"{item} for {user}"

    assert contents(lc, invoke, order, {"item": "茶"}, user_id="u1") == "茶 for u1"


@pytest.mark.parametrize("state", ["MessagesState", "AgentState"])
def test_the_type_of_the_state_may_be_the_graphs_own(lc: World, invoke: Invoke, state: str) -> None:
    def count(unit: str, state: Annotated[getattr(lc, state), lc.InjectedState]) -> str:
        """Count the messages."""
        return f"{len(state['messages'])} {unit}"

    tool = lc.tool(count)
    assert list(tool.tool_call_schema.model_json_schema()["properties"]) == ["unit"]
    assert contents(lc, invoke, tool, {"unit": "messages"}) == "2 messages"


def test_the_state_may_be_an_object(lc: World, invoke: Invoke) -> None:
    class Model(BaseModel):
        messages: list
        user_id: str = "u1"

    @dataclass
    class Data:
        messages: list
        user_id: str = "u1"

    def order(
        user: Annotated[str, lc.InjectedState("user_id")], whole: Annotated[Any, lc.InjectedState]
    ) -> str:
        """Order for a user."""
        return f"{user} {type(whole).__name__}"

    def lost(field: Annotated[str, lc.InjectedState("nowhere")]) -> str:
        """Ask for what is not there."""
        return field

    node = lc.ToolNode([order, lost], handle_tool_errors=True)
    for kind in (Model, Data):
        [answer] = invoke(node, kind(messages=asking(lc, call("order"))), by_hand(lc))["messages"]
        assert answer.content == f"u1 {kind.__name__}"
        with pytest.raises(AttributeError, match="^nowhere$"):
            invoke(node, kind(messages=asking(lc, call("lost"))), by_hand(lc))


def test_a_field_that_the_state_lacks_is_an_error(lc: World, invoke: Invoke) -> None:
    def order(user: Annotated[str, lc.InjectedState("user_id")]) -> str:
        """Order for a user."""
        return user

    with pytest.raises(KeyError, match="^'user_id'$"):
        contents(lc, invoke, order)


def test_a_field_that_the_state_lacks_leaves_a_default_alone(lc: World, invoke: Invoke) -> None:
    def order(user: Annotated[str | None, lc.InjectedState("user_id")] = "nobody") -> str:
        """Order for a user."""
        return f"for {user}"

    assert contents(lc, invoke, order) == "for nobody"
    assert contents(lc, invoke, order, user_id="u1") == "for u1"
    assert contents(lc, invoke, order, {"user": "forged"}) == "for nobody"


def test_the_state_of_a_list_input_is_its_messages(lc: World, invoke: Invoke) -> None:
    def count(
        messages: Annotated[list, lc.InjectedState("messages")],
    ) -> str:
        """Count the messages."""
        return str(len(messages))

    def keys(state: Annotated[dict, lc.InjectedState]) -> str:
        """Name the fields."""
        return str(sorted(state))

    node = lc.ToolNode([count, keys])
    answers = invoke(node, asking(lc, call("count"), call("keys", id="call_2")), by_hand(lc))
    assert [answer.content for answer in answers] == ["2", "['messages']"]


def test_a_list_has_no_other_fields(invoke: Invoke) -> None:
    # The row "list-without-fields".
    def error(lc: World) -> tuple[str, str]:
        def order(
            user: Annotated[str, lc.InjectedState("user_id")],
            messages: Annotated[list, lc.InjectedState("messages")],
        ) -> str:
            """Order for a user."""
            return user

        with pytest.raises((KeyError, ValueError)) as failure:
            invoke(lc.ToolNode([order]), asking(lc, call("order")), by_hand(lc))
        return type(failure.value).__name__, str(failure.value)

    assert error(MINILC) == ("KeyError", "'user_id'")
    assert error(LANGCHAIN) == (
        "ValueError",
        "Invalid input to ToolNode. Tool order requires graph state dict as input. "
        "State should contain fields user_id, messages.",
    )


def test_messages_may_have_another_key(lc: World, invoke: Invoke) -> None:
    def count(messages: Annotated[list, lc.InjectedState("chat")]) -> str:
        """Count the messages."""
        return str(len(messages))

    node = lc.ToolNode([count], messages_key="chat")
    [answer] = invoke(node, asking(lc, call("count")), by_hand(lc))
    assert answer.content == "2"
    assert invoke(node, {"chat": asking(lc, call("count"))}, by_hand(lc)) == {"chat": [answer]}


def test_without_the_mark_a_state_is_the_models_to_fill(lc: World, invoke: Invoke) -> None:
    def order(item: str, state: dict) -> str:
        """Order an item."""
        return item

    assert contents(lc, invoke, order, {"item": "茶"}) == (
        "Error invoking tool 'order' with kwargs {'item': '茶'} with error:\n"
        " state: Field required\n Please fix the error and try again."
    )


# Store


def test_a_tool_gets_the_store(lc: World, invoke: Invoke) -> None:
    def find(key: str, store: Annotated[Any, lc.InjectedStore()]) -> str:
        """Find an item."""
        return store.items[key]

    config = by_hand(lc, store=Shelf(tea="茶"))
    node = lc.ToolNode([find])
    [answer] = invoke(node, asking(lc, call("find", {"key": "tea"})), config)
    assert answer.content == "茶"


def test_without_a_store_the_error_says_what_to_do(lc: World, invoke: Invoke) -> None:
    def find(store: Annotated[Any, lc.InjectedStore()]) -> str:
        """Find an item."""
        return "found"

    with pytest.raises(ValueError) as failure:
        contents(lc, invoke, find)
    assert str(failure.value) == (
        "Cannot inject store into tools with InjectedStore annotations - "
        "please compile your graph with a store."
    )


# Runtime


def test_each_call_gets_a_runtime_of_its_own_with_everything(lc: World, invoke: Invoke) -> None:
    seen: dict[str, Any] = {}

    # Upstream warns of a context whose type is not declared.
    def look(x: int, runtime: lc.ToolRuntime[dict, dict]) -> str:
        """Look around."""
        seen[runtime.tool_call_id] = runtime
        return str(x)

    shelf, info, server = Shelf(), ExecutionInfo("", "", "task"), ServerInfo("me", "graph")
    fields = {"context": {"user": "u1"}, "store": shelf, "stream_writer": print}
    config = by_hand(lc, **fields, execution_info=info, server_info=server)
    config |= {"tags": ["t"], "metadata": {"m": 1}, "recursion_limit": 7}
    state = {"messages": asking(lc, call("look", {"x": 1}), call("look", {"x": 2}, "call_2"))}
    node = lc.ToolNode([look])
    answer = invoke(node, state, config)
    assert [message.content for message in answer["messages"]] == ["1", "2"]
    first, second = seen["call_1"], seen["call_2"]
    assert first is not second
    assert first.config is not second.config
    for runtime in (first, second):
        assert runtime.state is state
        assert runtime.context == {"user": "u1"}
        assert runtime.store is shelf
        assert runtime.stream_writer is print
        assert runtime.execution_info is info
        assert runtime.server_info is server
        assert runtime.config["tags"] == ["t"]
        assert runtime.config["metadata"]["m"] == 1
        assert runtime.config["recursion_limit"] == 7
        if new(lc, "runtime-tools"):
            assert runtime.tools == [node.tools_by_name["look"]]


def test_a_context_of_undeclared_type_makes_upstream_warn_and_minilc_not(invoke: Invoke) -> None:
    # The row "runtime-context-warning".
    def answer(lc: World) -> Any:
        def who(runtime: lc.ToolRuntime) -> str:
            """Say who it is."""
            return runtime.context["user"]

        config = by_hand(lc, context={"user": "u1"})
        [message] = invoke(lc.ToolNode([who]), asking(lc, call("who")), config)
        return message.content

    assert answer(MINILC) == "u1"
    with pytest.warns(UserWarning, match="^Pydantic serializer warnings:"):
        assert answer(LANGCHAIN) == "u1"


def test_a_runtime_is_known_by_its_type_or_by_its_name(lc: World, invoke: Invoke) -> None:
    def by_type(rt: lc.ToolRuntime) -> str:
        """Look around."""
        return str(rt.tool_call_id)

    def with_context(rt: lc.ToolRuntime[dict]) -> str:
        """Look around."""
        return str(rt.tool_call_id)

    def with_both(rt: lc.ToolRuntime[dict, dict]) -> str:
        """Look around."""
        return str(rt.tool_call_id)

    def optional(rt: Optional[lc.ToolRuntime] = None) -> str:  # noqa: UP045  # as people write it
        """Look around."""
        return str(rt and rt.tool_call_id)

    def by_name(runtime: Any) -> str:
        """Look around."""
        return str(runtime.tool_call_id)

    for function in (by_type, with_context, with_both, optional, by_name):
        assert contents(lc, invoke, function) == "call_1"


def test_a_runtime_that_only_has_the_name_stays_visible_to_the_model(lc: World) -> None:
    @lc.tool
    def by_name(runtime: Any) -> str:
        """Look around."""
        return ""

    @lc.tool
    def by_type(runtime: lc.ToolRuntime) -> str:
        """Look around."""
        return ""

    assert list(by_name.args) == ["runtime"]
    assert list(by_type.args) == []


def test_a_runtime_can_be_made_by_hand(lc: World) -> None:
    fields = {"state": {}, "context": None, "config": {}, "tool_call_id": "call_1", "store": None}
    runtime = lc.ToolRuntime(**fields, stream_writer=print)
    assert runtime.execution_info is runtime.server_info is None
    if new(lc, "runtime-tools"):
        assert runtime.tools == []


# All kinds of tools


@pytest.mark.parametrize("shape", ["function", "model", "JSON schema"])
def test_injection_works_beside_any_args_schema(lc: World, invoke: Invoke, shape: str) -> None:
    class Args(BaseModel):
        city: str

    schemas: dict[str, Any] = {
        "function": None,
        "model": Args,
        "JSON schema": {"type": "object", "properties": {"city": {"type": "string"}}},
    }

    @lc.tool(args_schema=schemas[shape])
    def weather(
        city: str,
        state: Annotated[dict, lc.InjectedState],
        user: Annotated[str, lc.InjectedState("user_id")],
        runtime: lc.ToolRuntime,
    ) -> str:
        """Get the weather."""
        return f"{city} {sorted(state)} {user} {runtime.tool_call_id}"

    assert contents(lc, invoke, weather, {"city": "北京"}, user_id="u1") == (
        "北京 ['messages', 'user_id'] u1 call_1"
    )


def test_the_schema_may_carry_the_marks(lc: World, invoke: Invoke) -> None:
    class Args(BaseModel):
        model_config = ConfigDict(arbitrary_types_allowed=True)

        city: str = Field(description="Name of a city")
        user: Annotated[str, lc.InjectedState("user_id")]
        runtime: lc.ToolRuntime
        store: Annotated[Any, lc.InjectedStore()]

    @lc.tool(args_schema=Args)
    def weather(city: str, user: str, runtime: Any, store: Any) -> str:
        """Get the weather."""
        return f"{city} {user} {runtime.tool_call_id} {store.items['tea']}"

    node = lc.ToolNode([weather])
    state = {"messages": asking(lc, call("weather", {"city": "北京"})), "user_id": "u1"}
    [answer] = invoke(node, state, by_hand(lc, store=Shelf(tea="茶")))["messages"]
    assert answer.content == "北京 u1 call_1 茶"


def test_a_schema_with_a_runtime_needs_a_setting_upstream_and_none_here() -> None:
    # The row "runtime-in-a-model".
    def schema(lc: World) -> Any:
        class Args(BaseModel):
            runtime: lc.ToolRuntime

        return Args

    assert list(schema(MINILC).model_fields) == ["runtime"]
    with pytest.raises(PydanticSchemaGenerationError, match="BaseStore'>. Set `arbitrary_types_"):
        schema(LANGCHAIN)


def test_a_subclass_of_basetool_is_looked_at_through_its_run(lc: World, invoke: Invoke) -> None:
    class Greet(lc.BaseTool):
        name: str = "greet"
        description: str = "Greet the user."

        def _run(self, greeting: str, user: Annotated[str, lc.InjectedState("user_id")]) -> str:
            return f"{greeting}, {user}"

    assert contents(lc, invoke, Greet(), {"greeting": "你好"}, user_id="u1") == "你好, u1"


def test_an_async_tool_gets_the_same(lc: World) -> None:
    @lc.tool
    async def order(
        item: str, user: Annotated[str, lc.InjectedState("user_id")], runtime: lc.ToolRuntime
    ) -> str:
        """Order an item."""
        return f"{item} for {user}, {runtime.tool_call_id}"

    state = {"messages": asking(lc, call("order", {"item": "茶"})), "user_id": "u1"}
    answer = asyncio.run(lc.ToolNode([order]).ainvoke(state, by_hand(lc)))
    assert answer["messages"][0].content == "茶 for u1, call_1"


# What the model must not fill


def test_a_forged_injected_argument_is_replaced(lc: World, invoke: Invoke) -> None:
    def order(
        user: Annotated[str, lc.InjectedState("user_id")],
        state: Annotated[dict, lc.InjectedState],
        store: Annotated[Any, lc.InjectedStore()],
        runtime: lc.ToolRuntime,
        tool_call_id: Annotated[str, lc.InjectedToolCallId],
    ) -> str:
        """Order for a user."""
        return f"{user} {sorted(state)} {store.items} {runtime.tool_call_id} {tool_call_id}"

    names = ("user", "state", "store", "runtime", "tool_call_id")
    forged = call("order", {name: "forged" for name in names})
    state = {"messages": asking(lc, forged), "user_id": "u1"}
    [answer] = invoke(lc.ToolNode([order]), state, by_hand(lc, store=Shelf()))["messages"]
    assert answer.content == "u1 ['messages', 'user_id'] {} call_1 call_1"
    assert forged["args"] == {name: "forged" for name in names}


@pytest.mark.parametrize("first", ["InjectedToolArg", "InjectedState"])
def test_beside_a_mark_that_only_hides_the_other_one_counts(
    lc: World, invoke: Invoke, first: str
) -> None:
    marks = [lc.InjectedToolArg, lc.InjectedState("city")]
    one, two = marks if first == "InjectedToolArg" else reversed(marks)

    @lc.tool
    def where(x: int, city: Annotated[str, one, two]) -> str:
        """Say where we are."""
        return city

    assert contents(lc, invoke, where, {"x": 1, "city": "forged"}, city="北京") == "北京"


def test_an_argument_with_a_mark_of_ones_own_is_kept_from_the_model(
    lc: World, invoke: Invoke
) -> None:
    class Secret(lc.InjectedToolArg):
        """A mark of one's own."""

    def login(
        user: str,
        level: Annotated[str, lc.InjectedToolArg] = "guest",
        key: Annotated[str, Secret()] = "none",
    ) -> str:
        """Log a user in."""
        return f"{user} {level} {key}"

    forged = {"user": "u1", "level": "admin", "key": "master"}
    assert contents(lc, invoke, login, forged) == "u1 guest none"


def test_an_error_about_arguments_shows_the_model_only_its_own(lc: World, invoke: Invoke) -> None:
    def order(
        amount: int,
        user: Annotated[int, lc.InjectedState("user_id")],
        state: Annotated[dict, lc.InjectedState],
        runtime: lc.ToolRuntime,
    ) -> str:
        """Order for a user."""
        return "ordered"

    assert contents(lc, invoke, order, {"amount": "x"}, user_id="secret") == (
        "Error invoking tool 'order' with kwargs {'amount': 'x'} with error:\n"
        " amount: Input should be a valid integer, unable to parse string as an integer\n"
        " Please fix the error and try again."
    )


def test_an_error_about_an_injected_argument_alone_leaves_an_empty_reason(
    lc: World, invoke: Invoke
) -> None:
    def order(user: Annotated[int, lc.InjectedState("user_id")]) -> str:
        """Order for a user."""
        return "ordered"

    assert contents(lc, invoke, order, user_id="secret") == (
        "Error invoking tool 'order' with kwargs {} with error:\n"
        " \n Please fix the error and try again."
    )


def test_an_error_about_a_whole_object_does_not_carry_the_state(invoke: Invoke) -> None:
    # The row "errors-without-input".
    def error(lc: World) -> Any:
        class Args(BaseModel):
            amount: int
            extra: Annotated[int, lc.InjectedToolArg]
            user: Annotated[str, lc.InjectedState("user_id")]

        @lc.tool(args_schema=Args)
        def order(amount: int, extra: int, user: str) -> str:
            """Order for a user."""
            return "ordered"

        state = {"messages": asking(lc, call("order", {"amount": 1})), "user_id": "secret"}
        with pytest.raises(lc.ToolInvocationError) as failure:
            invoke(lc.ToolNode([order], handle_tool_errors=False), state, by_hand(lc))
        [error] = failure.value.filtered_errors
        return error

    ours, theirs = error(MINILC), error(LANGCHAIN)
    assert ours["loc"] == theirs["loc"] == ("extra",)
    assert ours["msg"] == theirs["msg"] == "Field required"
    assert "input" not in ours
    assert theirs["input"] == {"amount": 1}


# A tool that only a wrapper knows


def test_a_tool_that_a_wrapper_supplies_is_looked_at_when_it_comes(
    lc: World, invoke: Invoke
) -> None:
    @lc.tool
    def late(user: Annotated[str, lc.InjectedState("user_id")], runtime: lc.ToolRuntime) -> str:
        """Come late."""
        return f"{user} {runtime.tool_call_id}"

    def supply(request: Any, execute: Any) -> Any:
        assert request.tool is None
        return execute(request.override(tool=late))

    node = lc.ToolNode([], wrap_tool_call=supply)
    state = {"messages": asking(lc, call("late", {"user": "forged"})), "user_id": "u1"}
    assert invoke(node, state, by_hand(lc))["messages"][0].content == "u1 call_1"


def test_errors_of_a_tool_that_a_wrapper_supplies_are_filtered_in_minilc_alone(
    invoke: Invoke,
) -> None:
    # The row "supplied-tool-errors".
    def content(lc: World) -> str:
        @lc.tool
        def late(user: Annotated[int, lc.InjectedState("user_id")]) -> str:
            """Come late."""
            return ""

        def supply(request: Any, execute: Any) -> Any:
            return execute(request.override(tool=late))

        node = lc.ToolNode([], wrap_tool_call=supply)
        state = {"messages": asking(lc, call("late")), "user_id": "u1"}
        answer: str = invoke(node, state, by_hand(lc))["messages"][0].content
        return answer.split("with error:\n ")[1]

    end = "\n Please fix the error and try again."
    reason = "user: Input should be a valid integer, unable to parse string as an integer"
    assert content(MINILC) == end
    assert content(LANGCHAIN) == reason + end


def test_a_state_that_a_wrapper_replaces_reaches_the_tool(lc: World, invoke: Invoke) -> None:
    def order(user: Annotated[str, lc.InjectedState("user_id")], runtime: lc.ToolRuntime) -> str:
        """Order for a user."""
        return f"{user} {runtime.state['user_id']}"

    def replace(request: Any, execute: Any) -> Any:
        return execute(request.override(state={**request.state, "user_id": "u2"}))

    node = lc.ToolNode([order], wrap_tool_call=replace)
    state = {"messages": asking(lc, call("order")), "user_id": "u1"}
    expected = "u2 u2" if new(lc, "override-state") else "u1 u1"
    assert invoke(node, state, by_hand(lc))["messages"][0].content == expected
    assert state["user_id"] == "u1"


def test_an_alias_does_not_keep_what_is_injected_away(lc: World, invoke: Invoke) -> None:
    @lc.tool
    def order(
        item: str,
        user: Annotated[str, lc.InjectedState("user_id"), Field(alias="userId")],
        call_id: Annotated[str, lc.InjectedToolCallId, Field(alias="callId")],
    ) -> str:
        """Order an item."""
        return f"{item} {user} {call_id}"

    forged = {"item": "tea", "userId": "u9", "callId": "call_9"}
    assert contents(lc, invoke, order, {"item": "tea"}, user_id="u1") == "tea u1 call_1"
    assert contents(lc, invoke, order, forged, user_id="u1") == "tea u1 call_1"


def test_every_parameter_that_asks_for_a_runtime_or_a_store_gets_it_in_minilc_alone(
    invoke: Invoke,
) -> None:
    # The row "several-runtimes".
    def answered(lc: World) -> Any:
        @lc.tool
        def both(one: lc.ToolRuntime, two: lc.ToolRuntime) -> str:  # type: ignore[name-defined]
            """Compare."""
            return str(one is two)

        return contents(lc, invoke, both)

    assert answered(MINILC) == "True"
    assert "one: Field required" in answered(LANGCHAIN)


# What ToolNode keeps of a tool


def test_a_tool_is_looked_at_once() -> None:
    @MINILC.tool
    def order(
        item: str,
        user: Annotated[str, MINILC.InjectedState("user_id")],
        note: Annotated[str | None, MINILC.InjectedState("note")] = None,
        secret: Annotated[str, MINILC.InjectedToolArg] = "",
        store: Annotated[Any, MINILC.InjectedStore()] = None,
        runtime: MINILC.ToolRuntime = None,  # type: ignore[valid-type]  # a world's attribute
    ) -> str:
        """Order an item."""
        return item

    marks = _get_all_injected_args(order)
    assert list(marks) == ["user", "note", "secret", "store", "runtime"]
    assert [marks["user"].field, marks["note"].field] == ["user_id", "note"]
    assert [marks["secret"], marks["runtime"]] == [MINILC.InjectedToolArg, MINILC.ToolRuntime]
