"""Layer 5: `@tool` in every shape that it is called in, and in those that it refuses."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from minilc.course.behaviours import active
from minilc.course.worlds import LANGCHAIN, MINILC, World

Invoke = Callable[..., Any]


def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


def shout(text: str) -> str:
    """Shout it."""
    return text.upper()


def undocumented(x: str) -> str:
    return x


class Pair(BaseModel):
    """Two numbers."""

    a: int
    b: int


def is_new(lc: World) -> bool:
    """Whether a description is kept where no schema is inferred."""
    return lc.name == "minilc" or active("simple-tool-description")


# The shapes


def test_every_shape_makes_the_same_tool(lc: World, invoke: Invoke) -> None:
    for made in (lc.tool(add), lc.tool()(add), lc.tool("add")(add), lc.tool("add", add)):
        assert type(made) is lc.StructuredTool
        assert (made.name, made.description) == ("add", "Add two numbers.")
        assert invoke(made, {"a": 1, "b": "2"}) == 3


def test_a_name_may_be_given(lc: World) -> None:
    assert lc.tool("相加")(add).name == "相加"
    assert lc.tool("相加", add).name == "相加"


def test_a_coroutine_function_is_for_await_only(lc: World) -> None:
    @lc.tool
    async def later(x: int) -> int:
        """Later."""
        return x

    assert later.func is None
    assert asyncio.run(later.ainvoke({"x": "5"})) == 5
    with pytest.raises(NotImplementedError):
        later.invoke({"x": 5})


def test_the_options_reach_the_tool(lc: World) -> None:
    made = lc.tool(
        return_direct=True, response_format="content_and_artifact", extras={"cache": True}
    )(add)
    assert (made.return_direct, made.response_format, made.extras) == (
        True,
        "content_and_artifact",
        {"cache": True},
    )


def test_a_description_wins_over_docstring_and_schema(lc: World) -> None:
    assert lc.tool(description="Sum.")(add).description == "Sum."
    assert lc.tool(description="Sum.", args_schema=Pair)(add).description == "Sum."
    assert lc.tool(args_schema=Pair)(add).description == "Add two numbers."
    assert lc.tool(args_schema=Pair)(undocumented).description == "Two numbers."


def test_a_schema_may_be_given(lc: World, invoke: Invoke) -> None:
    made = lc.tool(args_schema=Pair)(add)
    assert made.args_schema is Pair
    assert invoke(made, {"a": 1, "b": 2}) == 3
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    assert lc.tool("add", description="Sum.", args_schema=schema)(add).args == {
        "a": {"type": "integer"}
    }


def test_a_given_schema_counts_even_if_none_is_to_be_inferred(lc: World) -> None:
    made = lc.tool(args_schema=Pair, infer_schema=False)(add)
    assert type(made) is lc.StructuredTool
    assert made.args_schema is Pair


def test_a_class_can_be_a_tool(lc: World, invoke: Invoke) -> None:
    made = lc.tool(Pair)
    assert (made.name, made.description) == ("Pair", "Two numbers.")
    assert invoke(made, {"a": 1, "b": "2"}) == Pair(a=1, b=2)


# Docstrings


def test_a_docstring_that_is_parsed_must_fit(lc: World) -> None:
    with pytest.raises(ValueError, match="^Found invalid Google-Style docstring.$"):
        lc.tool(parse_docstring=True)(add)
    made = lc.tool(parse_docstring=True, error_on_invalid_docstring=False)(add)
    assert made.description == "Add two numbers."


def test_a_parsed_docstring_describes_the_arguments(lc: World) -> None:
    @lc.tool(parse_docstring=True)
    def product(a: int, b: int = 1) -> int:
        """Multiply.

        Args:
            a: The first.
            b: The second.
        """
        return a * b

    assert product.description == "Multiply."
    assert [schema["description"] for schema in product.args.values()] == [
        "The first.",
        "The second.",
    ]


def test_a_function_needs_a_description(lc: World) -> None:
    with pytest.raises(ValueError) as failure:
        lc.tool(undocumented)
    assert str(failure.value) == "Function must have a docstring if description not provided."
    assert lc.tool(description="Echo.")(undocumented).description == "Echo."


# Without a schema


def test_without_a_schema_it_is_a_tool_of_one_string(lc: World, invoke: Invoke) -> None:
    made = lc.tool(infer_schema=False)(shout)
    assert type(made) is lc.Tool
    assert made.args == {"tool_input": {"type": "string"}}
    assert made.description == ("Shout it." if is_new(lc) else "shout tool")
    assert invoke(made, "hi") == "HI"


def test_without_a_schema_a_description_is_needed_too(lc: World) -> None:
    with pytest.raises(ValueError) as failure:
        lc.tool(infer_schema=False)(undocumented)
    assert str(failure.value) == (
        "Function must have either a docstring or description when infer_schema is False."
        if is_new(lc)
        else "Function must have a docstring if description not provided and infer_schema is False."
    )


def test_without_a_schema_a_coroutine_function_is_for_await_only(lc: World) -> None:
    @lc.tool(infer_schema=False)
    async def later(text: str) -> str:
        """Later."""
        return text

    assert asyncio.run(later.ainvoke("hi")) == "hi"
    with pytest.raises(NotImplementedError, match="^Tool does not support sync invocation.$"):
        later.invoke("hi")


# What can be invoked


def test_what_can_be_invoked_becomes_a_tool_under_a_name(lc: World, invoke: Invoke) -> None:
    made = lc.tool("sum", lc.tool(add), description="Sum.")
    assert (made.name, made.description, list(made.args)) == ("sum", "Sum.", ["a", "b"])
    assert made.args_schema is made.get_input_schema()
    assert invoke(made, {"a": "1"}) == 2


def test_it_needs_a_name(lc: World) -> None:
    inner = lc.tool(add)
    with pytest.raises(ValueError, match="^Runnable without name for tool constructor$"):
        lc.tool(None, inner)
    with pytest.raises(ValueError, match="^Name must be a string for tool constructor$"):
        lc.tool(add, inner)


def test_it_must_take_an_object(lc: World) -> None:
    class Text:
        name = "text"

        def invoke(self, value: Any, config: Any = None) -> Any:
            return value

        def get_input_schema(self, config: Any = None) -> Any:
            return {"type": "string"}

    if lc is LANGCHAIN:
        from langchain_core.runnables import RunnableLambda

        def text(value: str) -> str:
            return value

        runnable: Any = RunnableLambda(text)
    else:
        runnable = Text()
    with pytest.raises(ValueError, match="^Runnable must have an object schema.$"):
        lc.tool("text", runnable)


def test_minilc_takes_a_runnable_of_langchain() -> None:
    made = MINILC.tool("sum", LANGCHAIN.tool(add), description="Sum.")
    assert made.invoke({"a": "1", "b": "2"}) == 3
    assert asyncio.run(made.ainvoke({"a": 1})) == 2


# What it refuses


def test_a_third_position_is_one_too_many(lc: World) -> None:
    with pytest.raises(ValueError) as failure:
        lc.tool("sum", lc.tool(add), "more")
    assert str(failure.value) == "Too many arguments for tool decorator. A decorator "


@pytest.mark.parametrize("given", [5, ["add"], {"a": 1}])
def test_what_is_neither_name_nor_function_is_refused(lc: World, given: Any) -> None:
    with pytest.raises(ValueError) as failure:
        lc.tool(given)
    assert str(failure.value) == (
        "The first argument must be a string or a callable with a __name__ for tool decorator. "
        f"Got {type(given)}"
    )
