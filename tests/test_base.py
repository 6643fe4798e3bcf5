"""Layer 3: what one call of a tool takes, does and gives back, sync and async.

Without `from __future__ import annotations`, so that annotations may name a world's classes.
"""

import asyncio
import contextvars
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from minilc.course import divergences
from minilc.course.behaviours import active
from minilc.course.worlds import LANGCHAIN, MINILC, World

Invoke = Callable[..., Any]


class Number(BaseModel):
    x: int


NO_ID = (
    "When tool includes an InjectedToolCallId argument, tool must always be invoked with a full "
    "model ToolCall of the form: {'args': {...}, 'name': '...', 'type': 'tool_call', "
    "'tool_call_id': '...'}"
)


def call(name: str, id: str | None = "call_1", **args: Any) -> dict[str, Any]:
    """A ToolCall."""
    return {"name": name, "args": args, "id": id, "type": "tool_call"}


def adder(lc: World) -> Any:
    """The smallest tool with two arguments."""

    @lc.tool
    def add(a: int, b: int = 1) -> int:
        """Add two numbers."""
        return a + b

    return add


def giver(lc: World, value: Any, **options: Any) -> Any:
    """A tool that returns `value`."""

    @lc.tool(**options)
    def give() -> Any:
        """Give it."""
        return value

    return give


# What goes in


def test_arguments_are_coerced_and_get_their_defaults(lc: World, invoke: Invoke) -> None:
    assert invoke(adder(lc), {"a": "3"}) == 4


def test_an_argument_that_nobody_declared_is_dropped(lc: World, invoke: Invoke) -> None:
    assert invoke(adder(lc), {"a": 1, "unit": "km"}) == 2


def test_a_missing_argument_is_a_validation_error(lc: World, invoke: Invoke) -> None:
    with pytest.raises(ValidationError) as failure:
        invoke(adder(lc), {"b": 1})
    assert failure.value.title == "add"
    assert [(error["type"], error["loc"]) for error in failure.value.errors()] == [
        ("missing", ("a",))
    ]


def test_what_is_no_dict_is_a_validation_error(lc: World, invoke: Invoke) -> None:
    for value in (5, None, ["a"]):
        with pytest.raises(ValidationError) as failure:
            invoke(adder(lc), value)
        assert [error["type"] for error in failure.value.errors()] == ["model_type"]


def test_only_the_type_makes_a_call_of_a_dict(lc: World, invoke: Invoke) -> None:
    given = call("add", a=1)
    answer = lc.ToolMessage("2", name="add", tool_call_id="call_1")
    assert invoke(adder(lc), given) == answer
    del given["type"]
    with pytest.raises(ValidationError, match="^1 validation error for add\na\n"):
        invoke(adder(lc), given)


def test_a_call_whose_id_is_none_gives_the_bare_value(lc: World, invoke: Invoke) -> None:
    assert invoke(adder(lc), call("add", id=None, a=1)) == 2


def test_a_call_needs_an_id_and_args(lc: World, invoke: Invoke) -> None:
    for key in ("id", "args"):
        given = call("add", a=1)
        del given[key]
        with pytest.raises(KeyError, match=f"^'{key}'$"):
            invoke(adder(lc), given)


def test_a_call_stays_as_it_was(lc: World, invoke: Invoke) -> None:
    @lc.tool
    def spoil(xs: list, id: Annotated[str, lc.InjectedToolCallId]) -> str:
        """Spoil the list."""
        xs.append(id)
        return "done"

    given = call("spoil", xs=["a"])
    invoke(spoil, given)
    assert given == call("spoil", xs=["a"])


def test_a_string_is_checked_and_passed_on_as_the_first_argument(lc: World, invoke: Invoke) -> None:
    @lc.tool
    def double(x: int) -> Any:
        """Double it."""
        return x * 2

    assert invoke(double, "4") == "44"
    with pytest.raises(ValidationError, match="^1 validation error for double\nx\n"):
        invoke(double, "four")


def test_a_tool_without_arguments_takes_anything(lc: World, invoke: Invoke) -> None:
    for value in ({}, {"x": 1}, "x"):
        assert invoke(giver(lc, "given"), value) == "given"


def test_a_nested_argument_arrives_as_a_model(lc: World, invoke: Invoke) -> None:
    class Address(BaseModel):
        zip: int

    @lc.tool
    def send(to: Address, others: list[Address]) -> Any:
        """Send a letter."""
        return to, others

    answer = invoke(send, {"to": {"zip": "1"}, "others": [{"zip": 2}]})
    assert answer == (Address(zip=1), [Address(zip=2)])


def test_a_mutable_default_is_new_for_each_call(lc: World, invoke: Invoke) -> None:
    @lc.tool
    def count(xs: list = []) -> int:  # noqa: B006
        """Count."""
        xs.append(1)
        return len(xs)

    assert [invoke(count, {}) for _ in range(3)] == [1, 1, 1]


def test_variadic_arguments_arrive_as_keywords_or_not_at_all(lc: World, invoke: Invoke) -> None:
    @lc.tool
    def f(*args: int, **kwargs: Any) -> Any:
        """F."""
        return args, kwargs

    assert invoke(f, {"a": 1}) == ((), {})
    assert invoke(f, {"args": [1], "kwargs": {"a": 1}}) == (
        (),
        {"args": (1,), "kwargs": {"a": 1}},
    )


def test_an_aliased_argument_arrives_under_its_name(lc: World, invoke: Invoke) -> None:
    class Letter(BaseModel):
        model_config = ConfigDict(extra="allow")

        sender: str = Field(alias="from")
        copies: int = Field(1, alias="n")

    made = lc.StructuredTool.from_function(
        lambda **kwargs: kwargs, name="send", description="Send.", args_schema=Letter
    )
    aliased = {"sender": "me"} if _is_new(lc) else {}
    assert invoke(made, {"from": "me", "stamp": "red"}) == {**aliased, "copies": 1, "stamp": "red"}


def _is_new(lc: World) -> bool:
    """Whether this is minilc or a langchain-core that does as it does: not yet in its 1.3."""
    major, minor = version("langchain-core").split(".")[:2]
    return lc.name == "minilc" or (int(major), int(minor)) > (1, 3)


def test_a_json_schema_validates_nothing(lc: World, invoke: Invoke) -> None:
    schema = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    made = lc.StructuredTool.from_function(
        lambda **kwargs: kwargs, name="f", description="F.", args_schema=schema
    )
    assert made.args == {"x": {"type": "integer"}}
    assert made.tool_call_schema == {**schema, "description": "F."}
    assert invoke(made, {"y": "z"}) == {"y": "z"}


def test_a_schema_that_is_none_is_an_error(lc: World) -> None:
    with pytest.raises(TypeError) as failure:
        lc.StructuredTool(name="f", description="F.", func=print, args_schema=["x"])
    assert str(failure.value) == (
        "args_schema must be a subclass of pydantic BaseModel or a JSON schema dict. Got: ['x']."
    )


# What is injected


def test_a_parameter_can_get_the_id_of_the_call(lc: World, invoke: Invoke) -> None:
    @lc.tool
    def f(x: int, call_id: Annotated[str, lc.InjectedToolCallId]) -> str:
        """F."""
        return f"{x} {call_id}"

    assert invoke(f, call("f", x=1, call_id="forged")).content == "1 call_1"
    with pytest.raises(ValueError) as failure:
        invoke(f, {"x": 1, "call_id": "forged"})
    assert str(failure.value) == NO_ID


def test_other_injected_arguments_come_with_the_input(lc: World, invoke: Invoke) -> None:
    secret = object()

    @lc.tool
    def f(x: int, user: Annotated[Any, lc.InjectedToolArg]) -> Any:
        """F."""
        return x, user

    assert invoke(f, {"x": 1, "user": secret}) == (1, secret)


def test_an_injected_argument_that_the_schema_lacks_arrives_too(lc: World, invoke: Invoke) -> None:
    class Args(BaseModel):
        """Args."""

        x: int

    def f(x: int, user: Annotated[Any, lc.InjectedToolArg]) -> Any:
        return x, user

    made = lc.StructuredTool.from_function(f, args_schema=Args)
    assert invoke(made, {"x": 1, "user": "小明"}) == (1, "小明")


def test_a_config_parameter_gets_the_config(lc: World, invoke: Invoke) -> None:
    @lc.tool
    def f(x: int, settings: lc.RunnableConfig) -> Any:
        """F."""
        return settings["configurable"], settings["tags"], settings["recursion_limit"]

    assert list(f.args) == ["x"]
    assert invoke(f, {"x": 1}) == ({}, [], 25)
    config = {"configurable": {"user": "小明"}, "tags": ["a"], "recursion_limit": 5}
    assert invoke(f, {"x": 1}, config) == ({"user": "小明"}, ["a"], 5)


def test_a_tool_that_is_called_by_a_tool_inherits_its_config(lc: World, invoke: Invoke) -> None:
    @lc.tool
    def inner(settings: lc.RunnableConfig) -> Any:
        """Say who."""
        return settings["configurable"]

    @lc.tool
    def outer() -> Any:
        """Ask inside."""
        return inner.invoke({}), inner.invoke({}, {"configurable": {"user": "b"}})

    config = {"configurable": {"user": "a"}}
    assert invoke(outer, {}, config) == ({"user": "a"}, {"user": "b"})
    assert invoke(outer, {}) == ({}, {"user": "b"})


# What comes out


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ("北京", "北京"),
        (5, "5"),
        (None, "null"),
        (True, "true"),
        ({"城市": "北京", "days": [1, None]}, '{"城市": "北京", "days": [1, null]}'),
        ([1, 2], "[1, 2]"),
        ([], []),
        (["a", "b"], ["a", "b"]),
        ([{"type": "text", "text": "a"}], [{"type": "text", "text": "a"}]),
        ([{"type": "video"}], '[{"type": "video"}]'),
        ({"type": "text", "text": "a"}, '{"type": "text", "text": "a"}'),
        ({1}, "{1}"),
        (1 + 2j, "(1+2j)"),
        (b"a", "b'a'"),
    ],
)
def test_every_value_becomes_content(lc: World, invoke: Invoke, value: Any, content: Any) -> None:
    answer = invoke(giver(lc, value), call("give"))
    assert answer == lc.ToolMessage(content, name="give", tool_call_id="call_1")
    assert invoke(giver(lc, value), {}) == value


def test_a_tuple_of_texts_is_a_list_of_texts(lc: World, invoke: Invoke) -> None:
    old = lc.name == "langchain" and not active("tuple-content")
    answer = invoke(giver(lc, ("a", "b")), call("give"))
    assert answer.content == ('["a", "b"]' if old else ["a", "b"])


def test_a_value_that_contains_itself_becomes_its_text(lc: World, invoke: Invoke) -> None:
    value: list[Any] = [1]
    value.append(value)
    assert invoke(giver(lc, value), call("give")).content == "[1, [...]]"


def test_a_message_is_returned_as_it_is(lc: World, invoke: Invoke) -> None:
    answer = lc.ToolMessage("mine", tool_call_id="other")
    assert invoke(giver(lc, answer), call("give")) is answer


def test_a_list_of_messages_is_returned_as_it_is(lc: World, invoke: Invoke) -> None:
    answers = [lc.ToolMessage("mine", tool_call_id="other")]
    answer = invoke(giver(lc, answers), call("give"))
    if _is_new(lc):
        assert answer is answers
    else:
        assert answer == lc.ToolMessage(str(answers), name="give", tool_call_id="call_1")


def test_an_artifact_is_for_the_caller_and_not_for_the_model(lc: World, invoke: Invoke) -> None:
    made = giver(lc, ("seen", {"raw": 1}), response_format="content_and_artifact")
    answer = invoke(made, call("give"))
    assert (answer.content, answer.artifact) == ("seen", {"raw": 1})
    assert invoke(made, {}) == "seen"


@pytest.mark.parametrize("value", ["ab", ["a", "b"], ("a",), ("a", "b", "c"), None])
def test_content_and_artifact_are_two(lc: World, invoke: Invoke, value: Any) -> None:
    made = giver(lc, value, response_format="content_and_artifact")
    with pytest.raises(ValueError) as failure:
        invoke(made, call("give"))
    assert str(failure.value) == (
        "Since response_format='content_and_artifact' a two-tuple of the message content and raw "
        f"tool output is expected. Instead, generated response is of type: {type(value)}."
    )


# What goes wrong


def failing(lc: World, error: BaseException, **options: Any) -> Any:
    """A tool that raises."""

    def fail(x: int = 0) -> str:
        raise error

    return lc.StructuredTool.from_function(fail, description="Fail.", **options)


def test_an_error_of_the_tool_is_raised(lc: World, invoke: Invoke) -> None:
    for error in (ValueError("no"), lc.ToolException("no"), KeyError("x")):
        with pytest.raises(type(error)) as failure:
            invoke(failing(lc, error), call("fail"))
        assert failure.value is error


def test_a_tool_exception_can_be_content(lc: World, invoke: Invoke) -> None:
    def content(handler: Any, *arguments: Any) -> Any:
        made = failing(lc, lc.ToolException(*arguments), handle_tool_error=handler)
        answer = invoke(made, call("fail"))
        assert answer.status == "error"
        assert invoke(made, {}) == answer.content
        return answer.content

    assert content(True, "no", "really") == "no"
    assert content(True) == "Tool execution error"
    assert content("sorry", "no") == "sorry"
    assert content(lambda error: f"sorry: {error}", "no") == "sorry: no"
    assert content(lambda error: ["a", "b"], "no") == ["a", "b"]


def test_only_a_tool_exception_is_handled_so(lc: World, invoke: Invoke) -> None:
    with pytest.raises(ValueError, match="^no$"):
        invoke(failing(lc, ValueError("no"), handle_tool_error=True), {})


def test_a_handler_that_fails_raises(lc: World, invoke: Invoke) -> None:
    def handler(error: Exception) -> str:
        raise RuntimeError("worse") from error

    with pytest.raises(RuntimeError, match="^worse$"):
        invoke(failing(lc, lc.ToolException("no"), handle_tool_error=handler), {})


def test_bad_arguments_can_be_content(lc: World, invoke: Invoke) -> None:
    def content(handler: Any) -> Any:
        made = adder(lc)
        made.handle_validation_error = handler
        answer = invoke(made, call("add", a="x"))
        assert answer.status == "error"
        return answer.content

    assert content(True) == "Tool input validation error"
    assert content("sorry") == "sorry"
    assert content(lambda error: f"{error.error_count()} wrong") == "1 wrong"


def test_a_validation_error_inside_the_tool_passes_for_bad_arguments(
    lc: World, invoke: Invoke
) -> None:
    class Reply(BaseModel):
        x: int

    def fail() -> str:
        Reply(x="no")
        return ""

    made = lc.StructuredTool.from_function(fail, description="Fail.", handle_validation_error=True)
    assert invoke(made, call("fail")).content == "Tool input validation error"


def test_an_error_leaves_no_artifact(lc: World, invoke: Invoke) -> None:
    made = failing(
        lc,
        lc.ToolException("no"),
        handle_tool_error=True,
        response_format="content_and_artifact",
    )
    answer = invoke(made, call("fail"))
    assert (answer.content, answer.artifact) == ("no", None)


# Classes of one's own


def test_a_class_of_ones_own_needs_a_run(lc: World, invoke: Invoke) -> None:
    class Greet(lc.BaseTool):
        name: str = "greet"
        description: str = "Greet."
        greeting: str = "hello"

        def _run(self, who: str, config: lc.RunnableConfig, loud: bool = False) -> str:
            text = f"{self.greeting} {who} {config['tags']}"
            return text.upper() if loud else text

    made = Greet(greeting="你好")
    assert made.get_input_schema().model_json_schema()["required"] == ["who", "config"]
    assert invoke(made, {"who": "a", "loud": True}, {"tags": ["t"]}) == "你好 A ['T']"
    assert invoke(made, "a") == "你好 a []"
    with pytest.raises(TypeError, match="^Can't instantiate abstract class BaseTool with"):
        lc.BaseTool(name="x", description="X.")


def test_arun_of_ones_own_is_used_when_it_is_awaited(lc: World) -> None:
    class Where(lc.BaseTool):
        name: str = "where"
        description: str = "Where."

        def _run(self) -> str:
            return "sync"

        async def _arun(self, config: lc.RunnableConfig) -> str:
            return f"async {config['tags']}"

    assert Where().invoke({}) == "sync"
    assert asyncio.run(Where().ainvoke({}, {"tags": ["t"]})) == "async ['t']"


def test_an_own_schema_is_used(lc: World, invoke: Invoke) -> None:
    class Args(BaseModel):
        x: int

    class Double(lc.BaseTool):
        name: str = "double"
        description: str = "Double."
        args_schema: type[BaseModel] = Args

        def _run(self, x: int) -> int:
            return x * 2

    assert Double().args == {"x": {"title": "X", "type": "integer"}}
    assert invoke(Double(), {"x": "2"}) == 4


# Sync and async


def test_a_function_that_is_awaited_runs_in_a_thread(lc: World) -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable")

    @lc.tool
    def where() -> Any:
        """Where."""
        return threading.current_thread() is threading.main_thread(), variable.get()

    async def run() -> Any:
        variable.set("inherited")
        return await where.ainvoke({})

    assert asyncio.run(run()) == (False, "inherited")


def test_a_coroutine_cannot_be_called_without_await(lc: World) -> None:
    @lc.tool
    async def f(x: int) -> int:
        """F."""
        return x

    assert asyncio.run(f.ainvoke(call("f", x=1))).content == "1"
    with pytest.raises(NotImplementedError) as failure:
        f.invoke({"x": 1})
    assert str(failure.value) == "StructuredTool does not support sync invocation."


def test_a_tool_is_not_callable(lc: World) -> None:
    with pytest.raises(TypeError, match="^'StructuredTool' object is not callable$"):
        adder(lc)(1, 2)


# Tool: one string


def test_a_simple_tool_takes_one_string(lc: World, invoke: Invoke) -> None:
    shout = lc.Tool(name="shout", func=lambda text: text.upper(), description="Shout it.")
    assert shout.args == {"tool_input": {"type": "string"}}
    assert len(shout.args) == 1
    assert hasattr(shout, "is_single_input") == (lc.name == "langchain")  # row "single-input"
    assert invoke(shout, "hi") == "HI"
    assert invoke(shout, {"whatever": "hi"}) == "HI"
    assert invoke(shout, call("shout", __arg1="hi")).content == "HI"


def test_a_simple_tool_takes_no_more(lc: World, invoke: Invoke) -> None:
    shout = lc.Tool(name="shout", func=lambda text: text.upper(), description="Shout it.")
    for given, shown in (({}, []), ({"a": "1", "b": "2"}, ["1", "2"])):
        with pytest.raises(lc.ToolException) as failure:
            invoke(shout, given)
        assert str(failure.value) == (
            "Too many arguments to single-input tool shout.\n"
            f"                Consider using StructuredTool instead. Args: {shown}"
        )


def test_a_simple_tool_may_have_a_coroutine_only(lc: World) -> None:
    async def shout(text: str) -> str:
        return text.upper()

    made = lc.Tool(name="shout", func=None, description="Shout it.", coroutine=shout)
    assert asyncio.run(made.ainvoke("hi")) == "HI"
    with pytest.raises(NotImplementedError, match="^Tool does not support sync invocation.$"):
        made.invoke("hi")


# What a tool carries


def test_a_tool_carries_what_it_was_given(lc: World) -> None:
    made = giver(lc, 1, return_direct=True, extras={"cache": 1})
    assert (made.return_direct, made.extras, made.tags, made.metadata) == (
        True,
        {"cache": 1},
        None,
        None,
    )
    made.tags, made.metadata = ["t"], {"a": 1}
    assert (made.tags, made.metadata) == (["t"], {"a": 1})


# Differences on purpose


def test_minilc_fills_no_callbacks() -> None:
    assert divergences.row("callbacks")

    def f(x: int, callbacks: Any = None) -> Any:
        """F."""
        return x, callbacks is None

    assert LANGCHAIN.tool(f).invoke({"x": 1}) == (1, False)
    assert MINILC.tool(f).invoke({"x": 1}) == (1, True)


def test_a_context_variable_that_a_tool_sets_stays_set_in_minilc() -> None:
    # Upstream calls it in a copy of the context.
    assert divergences.row("context-of-a-tool")
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="before")

    @contextmanager
    def fresh() -> Iterator[None]:
        token = variable.set("before")
        yield
        variable.reset(token)

    def f() -> str:
        """F."""
        variable.set("inside")
        return "done"

    for lc, after in ((LANGCHAIN, "before"), (MINILC, "inside")):
        with fresh():
            assert lc.tool(f).invoke({}) == "done"
            assert variable.get() == after


def test_stop_iteration_out_of_a_tool_is_a_runtime_error_in_minilc() -> None:
    # No coroutine can raise it, and minilc runs in one, awaited or not.
    assert divergences.row("stop-iteration")

    def f() -> str:
        """F."""
        return next(iter([]))

    with pytest.raises(StopIteration):
        LANGCHAIN.tool(f).invoke({})
    for run in (MINILC.tool(f).invoke, lambda args: asyncio.run(MINILC.tool(f).ainvoke(args))):
        with pytest.raises(RuntimeError, match="^coroutine raised StopIteration$"):
            run({})
    with pytest.raises(RuntimeError, match="^$"):
        asyncio.run(LANGCHAIN.tool(f).ainvoke({}))


def test_run_makes_a_whole_config_of_none_in_minilc() -> None:
    # Upstream does that in `invoke`, and `run` passes None on.
    assert divergences.row("config-of-run")
    for lc, given in ((LANGCHAIN, None), (MINILC, {})):

        @lc.tool
        def f(settings: lc.RunnableConfig) -> Any:
            """F."""
            return settings and settings["configurable"]

        assert f.run({}) == given
        assert f.invoke({}) == {}


def test_a_parameter_called_config_is_a_parameter_like_others_in_minilc(invoke: Invoke) -> None:
    assert divergences.row("config-argument")

    def f(config: str) -> str:
        """F."""
        return config

    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'config'$"):
        invoke(LANGCHAIN.tool(f), {"config": "a.toml"})
    assert invoke(MINILC.tool(f), {"config": "a.toml"}) == "a.toml"


def test_a_schema_may_be_annotated_as_a_model_in_minilc(invoke: Invoke) -> None:
    assert divergences.row("schema-annotation")

    def made(lc: World) -> Any:
        class Double(lc.BaseTool):
            name: str = "double"
            description: str = "Double."
            args_schema: BaseModel = Number  # type: ignore[assignment]

            def _run(self, x: int) -> int:
                return x * 2

        return Double()

    with pytest.raises(TypeError, match="^Tool definition for Double must include valid type"):
        made(LANGCHAIN)
    assert invoke(made(MINILC), {"x": "2"}) == 4


def test_a_text_for_a_json_schema_is_passed_on_in_minilc(invoke: Invoke) -> None:
    assert divergences.row("text-for-a-json-schema")
    schema = {"type": "object", "properties": {"x": {"type": "string"}}}
    for lc in (MINILC, LANGCHAIN):
        made = lc.StructuredTool.from_function(
            lambda x: x, name="f", description="F.", args_schema=schema
        )
        if lc is MINILC:
            assert invoke(made, "z") == "z"
            continue
        with pytest.raises(ValueError) as failure:
            invoke(made, "z")
        assert str(failure.value) == (
            "String tool inputs are not allowed when using tools with JSON schema args_schema."
        )
