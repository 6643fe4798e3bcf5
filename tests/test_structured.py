"""Layer 4: what makes a tool of a function: its name, its description, its schema."""

import asyncio
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, ValidationError

from minilc.course.worlds import World

Invoke = Callable[..., Any]
NO_DOCSTRING = "Function must have a docstring if description not provided."


class Forecast(BaseModel):
    """Forecast the weather.

    Of any city.
    """

    city: str = Field(description="the city's name")
    days: int = 1


class Bare(BaseModel):
    city: str


def forecast(city: str, days: int = 1) -> str:
    """Say the weather.

    In words:
        sunny
    """
    return f"{city} {days}"


def undocumented(city: str, days: int = 1) -> str:
    return f"{city} {days}"


def test_name_description_and_schema_come_from_the_function(lc: World, invoke: Invoke) -> None:
    made = lc.StructuredTool.from_function(forecast)
    assert made.name == "forecast"
    assert made.args == {
        "city": {"title": "City", "type": "string"},
        "days": {"title": "Days", "type": "integer", "default": 1},
    }
    assert invoke(made, {"city": "北京"}) == "北京 1"


def test_the_description_keeps_the_indentation_that_the_schema_drops(lc: World) -> None:
    made = lc.StructuredTool.from_function(forecast)
    assert made.description == "Say the weather.\n\n    In words:\n        sunny"
    for schema in (made.args_schema, made.tool_call_schema):
        assert schema.model_json_schema()["description"] == (
            "Say the weather.\n\nIn words:\n    sunny"
        )


def test_a_given_name_and_description_win(lc: World) -> None:
    made = lc.StructuredTool.from_function(
        forecast, name="天气", description="  Tell the weather.  ", args_schema=Forecast
    )
    assert (made.name, made.description) == ("天气", "Tell the weather.")
    assert made.tool_call_schema.model_json_schema()["title"] == "天气"
    assert made.tool_call_schema.model_json_schema()["description"] == "Tell the weather."


def test_a_given_description_keeps_its_indentation(lc: World) -> None:
    given = """
        Tell the weather.
          In words.
    """
    made = lc.StructuredTool.from_function(forecast, description=given)
    assert made.description == "Tell the weather.\n          In words."


def test_without_a_docstring_the_schema_describes_the_tool(lc: World) -> None:
    def description(schema: Any) -> str:
        return lc.StructuredTool.from_function(undocumented, args_schema=schema).description

    assert description(Forecast) == "Forecast the weather.\n\n    Of any city."
    assert description({"description": "From JSON.", "properties": {}}) == "From JSON."


@pytest.mark.parametrize("schema", [None, Bare, {"properties": {}}])
def test_without_any_description_there_is_no_tool(lc: World, schema: Any) -> None:
    with pytest.raises(ValueError) as failure:
        lc.StructuredTool.from_function(undocumented, args_schema=schema)
    assert str(failure.value) == NO_DOCSTRING


def test_an_empty_description_is_one(lc: World) -> None:
    assert lc.StructuredTool.from_function(undocumented, description="").description == ""


def test_there_must_be_a_function(lc: World) -> None:
    with pytest.raises(ValueError, match="^Function and/or coroutine must be provided$"):
        lc.StructuredTool.from_function(name="nothing", description="Nothing.")


def test_a_schema_must_be_one(lc: World) -> None:
    with pytest.raises(TypeError) as failure:
        lc.StructuredTool.from_function(forecast, args_schema=5)
    assert str(failure.value) == (
        "args_schema must be a subclass of pydantic BaseModel or a JSON schema dict. Got: 5."
    )


def test_a_given_schema_is_used_as_it_is(lc: World, invoke: Invoke) -> None:
    made = lc.StructuredTool.from_function(undocumented, args_schema=Forecast)
    assert made.args_schema is Forecast
    assert made.args["city"]["description"] == "the city's name"
    assert invoke(made, {"city": "北京", "days": "2"}) == "北京 2"


def test_a_schema_that_does_not_fit_the_function_is_a_type_error(lc: World, invoke: Invoke) -> None:
    def only(city: str) -> str:
        """Only."""
        return city

    made = lc.StructuredTool.from_function(only, args_schema=Forecast)
    with pytest.raises(TypeError, match=r"only\(\) got an unexpected keyword argument 'days'$"):
        invoke(made, {"city": "北京"})


def test_a_schema_that_lacks_an_argument_never_passes_it(lc: World, invoke: Invoke) -> None:
    made = lc.StructuredTool.from_function(undocumented, args_schema=Bare, description="F.")
    assert invoke(made, {"city": "北京", "days": 5}) == "北京 1"


def test_without_a_schema_arguments_pass_unchecked(lc: World, invoke: Invoke) -> None:
    made = lc.StructuredTool.from_function(forecast, infer_schema=False)
    assert made.args_schema is None
    assert invoke(made, {"city": 5, "days": "2"}) == "5 2"
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'unit'$"):
        invoke(made, {"city": "北京", "unit": "K"})


def test_function_and_coroutine_may_differ(lc: World) -> None:
    async def awaited(city: str) -> str:
        return f"awaited {city}"

    def called(city: str) -> str:
        """Call it."""
        return f"called {city}"

    both = lc.StructuredTool.from_function(called, awaited)
    assert (both.name, both.description) == ("called", "Call it.")
    assert both.invoke({"city": "x"}) == "called x"
    assert asyncio.run(both.ainvoke({"city": "x"})) == "awaited x"
    only = lc.StructuredTool.from_function(coroutine=awaited, description="Await it.")
    assert only.name == "awaited"
    assert asyncio.run(only.ainvoke({"city": "x"})) == "awaited x"


def test_a_docstring_is_parsed_if_one_asks(lc: World) -> None:
    def add(a: int, b: Annotated[int, "the second"]) -> int:
        """Add two numbers.

        Args:
            a: The first.
        """
        return a + b

    made = lc.StructuredTool.from_function(add, parse_docstring=True)
    assert made.description == "Add two numbers."
    assert {name: schema["description"] for name, schema in made.args.items()} == {
        "a": "The first.",
        "b": "the second",
    }


def test_an_invalid_docstring_is_an_error_only_if_one_asks(lc: World) -> None:
    made = lc.StructuredTool.from_function(forecast, parse_docstring=True)
    assert made.description == "Say the weather. In words:\n    sunny"
    with pytest.raises(ValueError, match="^Found invalid Google-Style docstring.$"):
        lc.StructuredTool.from_function(
            forecast, parse_docstring=True, error_on_invalid_docstring=True
        )


def test_a_function_without_a_name_needs_one(lc: World) -> None:
    class Callable_:
        """Call me."""

        def __call__(self, x: int) -> int:
            return x

    with pytest.raises(AttributeError, match="has no attribute '__name__'"):
        lc.StructuredTool.from_function(Callable_(), args_schema=Bare)
    assert lc.StructuredTool.from_function(lambda x: x, description="Echo.").name == "<lambda>"


def test_a_method_is_a_tool_without_its_self(lc: World, invoke: Invoke) -> None:
    class Shop:
        prices = {"tea": 3}

        def price(self, item: str) -> int:
            """Say the price."""
            return self.prices[item]

    made = lc.StructuredTool.from_function(Shop().price)
    assert list(made.args) == ["item"]
    assert invoke(made, {"item": "tea"}) == 3


def test_further_options_reach_the_tool(lc: World) -> None:
    made = lc.StructuredTool.from_function(
        forecast, return_direct=True, handle_tool_error="no", tags=["t"], extras={"a": 1}
    )
    assert (made.return_direct, made.handle_tool_error, made.tags, made.extras) == (
        True,
        "no",
        ["t"],
        {"a": 1},
    )
    with pytest.raises(ValidationError, match="^1 validation error for StructuredTool"):
        lc.StructuredTool.from_function(forecast, response_format="json")


def test_a_tool_can_be_made_without_from_function(lc: World, invoke: Invoke) -> None:
    made = lc.StructuredTool(name="f", func=forecast, args_schema=Forecast)
    assert made.description == ""
    assert invoke(made, {"city": "北京"}) == "北京 1"
    with pytest.raises(
        ValidationError, match="^1 validation error for StructuredTool\nargs_schema"
    ):
        lc.StructuredTool(name="f", func=forecast)


def test_validators_and_rules_of_a_given_schema_hold(lc: World, invoke: Invoke) -> None:
    class Strict(BaseModel, extra="forbid"):
        """Strict."""

        city: str = Field(min_length=2)

    made = lc.StructuredTool.from_function(lambda city: city, name="f", args_schema=Strict)
    with pytest.raises(ValidationError) as failure:
        invoke(made, {"city": "x", "unit": "K"})
    assert [(error["type"], error["loc"]) for error in failure.value.errors()] == [
        ("string_too_short", ("city",)),
        ("extra_forbidden", ("unit",)),
    ]
    # What the model sees has the fields and their rules, not those of the class.
    assert "additionalProperties" not in made.tool_call_schema.model_json_schema()
    assert made.args["city"]["minLength"] == 2
