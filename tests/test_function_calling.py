"""Layer 6: what a provider is told about a tool.

Without `from __future__ import annotations`, so that annotations may name a world's classes.
"""

import copy
import datetime
import enum
from typing import Annotated, Any, Literal, Optional

import pytest
from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.errors import PydanticInvalidForJsonSchema
from typing_extensions import TypedDict

from minilc.course import divergences
from minilc.course.behaviours import active
from minilc.course.worlds import LANGCHAIN, MINILC, World


class Address(BaseModel):
    """An address."""

    street: str = Field(description="the street")
    zip: int | None = None


class Person(BaseModel):
    """A person."""

    name: str
    home: Address
    others: list[Address] = []


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Book(BaseModel):
    title: str
    owner: Color | int


class Tree(BaseModel):
    value: int
    children: list["Tree"] = []


class Point(TypedDict):
    """A point."""

    x: int


class Span(TypedDict):
    """A span of days.

    Args:
        start: The first day.
    """

    start: str
    days: Annotated[int, 3, "How many."]
    points: list[Point]


class Device:
    """A class that JSON schema cannot say."""


ADDRESS = {
    "description": "An address.",
    "type": "object",
    "properties": {
        "street": {"type": "string", "description": "the street"},
        "zip": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
    },
    "required": ["street"],
}


def weather_tool(lc: World) -> Any:
    @lc.tool
    def get_weather(city: str, days: int = 1) -> str:
        """Get the weather of a city."""
        return f"{city}: 晴"

    return get_weather


def property_of(lc: World, type_: Any) -> Any:
    """What OpenAI is told of a field of this type."""
    function = lc.convert_to_openai_function(create_model("M", x=(type_, ...)))
    return function["parameters"]["properties"]["x"]


# A tool


def test_a_tool_becomes_a_function_with_name_description_and_parameters(lc: World) -> None:
    assert lc.convert_to_openai_tool(weather_tool(lc)) == {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "Get the weather of a city.",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string"},
                    "days": {"type": "integer", "default": 1},
                },
                "required": ["city"],
            },
        },
    }


def test_a_result_belongs_to_its_caller(lc: World) -> None:
    tool = weather_tool(lc)
    first = lc.convert_to_openai_tool(tool)
    untouched = copy.deepcopy(first)
    first["function"]["parameters"]["properties"].clear()
    first["function"]["parameters"]["required"].append("x")
    assert lc.convert_to_openai_tool(tool) == untouched


def test_a_tool_that_is_renamed_is_sent_with_its_new_name(lc: World) -> None:
    tool = weather_tool(lc)
    lc.convert_to_openai_tool(tool)
    tool.name, tool.description = "weather", "天气"
    function = lc.convert_to_openai_function(tool)
    assert (function["name"], function["description"]) == ("weather", "天气")


def test_injected_arguments_are_not_sent(lc: World) -> None:
    @lc.tool
    def find(query: str, user: Annotated[str, lc.InjectedToolArg]) -> str:
        """Find."""
        return ""

    assert lc.convert_to_openai_function(find)["parameters"] == {
        "type": "object",
        "properties": {"query": {"type": "string"}},
        "required": ["query"],
    }


def test_a_tool_of_one_string_has_an_argument_called_arg1(lc: World) -> None:
    tool = lc.Tool(name="shelf", func=str, description="Find the shelf.")
    assert lc.convert_to_openai_function(tool) == {
        "name": "shelf",
        "description": "Find the shelf.",
        "parameters": {
            "type": "object",
            "properties": {"__arg1": {"title": "__arg1", "type": "string"}},
            "required": ["__arg1"],
        },
    }


def test_a_tool_with_a_json_schema_sends_it_without_titles(lc: World) -> None:
    schema = {
        "title": "Weather",
        "description": "Not this.",
        "type": "object",
        "properties": {"city": {"type": "string", "title": "City"}, "title": {"type": "string"}},
    }
    tool = lc.StructuredTool(name="weather", description="This.", args_schema=schema, func=print)
    assert lc.convert_to_openai_function(tool) == {
        "name": "weather",
        "description": "This.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "title": {"type": "string"}},
        },
    }


# What else can be converted


def test_a_function_is_read_with_its_docstring(lc: World) -> None:
    def lend(book: str, days: int = 14) -> str:
        """Lend a book.

        Args:
            book: Its number.
            days: How long.
        """
        return ""

    assert lc.convert_to_openai_function(lend) == {
        "name": "lend",
        "description": "Lend a book.",
        "parameters": {
            "type": "object",
            "properties": {
                "book": {"type": "string", "description": "Its number."},
                "days": {"type": "integer", "description": "How long.", "default": 14},
            },
            "required": ["book"],
        },
    }


def test_a_function_without_arguments_requires_nothing(lc: World) -> None:
    def ping() -> str:
        """Ping."""
        return ""

    function = {"name": "ping", "description": "Ping."}
    nothing = {"type": "object", "properties": {}}
    assert lc.convert_to_openai_function(ping) == {**function, "parameters": nothing}
    assert lc.convert_to_openai_function(ping, strict=True) == {
        **function,
        "strict": True,
        "parameters": {**nothing, "additionalProperties": False},
    }


def test_a_callable_without_a_name_cannot_be_converted(lc: World) -> None:
    class Ping:
        def __call__(self) -> str:
            """Ping."""
            return ""

    with pytest.raises(AttributeError) as caught:
        lc.convert_to_openai_function(Ping())
    assert str(caught.value) == "'Ping' object has no attribute '__name__'"


def test_models_inside_a_model_stand_where_they_are_used(lc: World) -> None:
    assert lc.convert_to_openai_function(Person) == {
        "name": "Person",
        "description": "A person.",
        "parameters": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "home": ADDRESS,
                "others": {"type": "array", "items": ADDRESS, "default": []},
            },
            "required": ["name", "home"],
        },
    }


def test_what_stands_beside_a_reference_wins(lc: World) -> None:
    assert property_of(lc, Annotated[Address, Field(description="Home.")]) == {
        **ADDRESS,
        "description": "Home.",
    }


def test_a_model_inside_itself_ends_at_the_second_time(lc: World) -> None:
    assert lc.convert_to_openai_function(Tree)["parameters"] == {
        "type": "object",
        "properties": {
            "value": {"type": "integer"},
            "children": {"type": "array", "items": {}, "default": []},
        },
        "required": ["value"],
    }


def test_titles_go_but_not_those_inside_a_list_and_not_a_parameter_called_title(lc: World) -> None:
    color = {"type": "string", "enum": ["red", "blue"], "title": "Color"}
    assert lc.convert_to_openai_function(Book)["parameters"] == {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "owner": {"anyOf": [color, {"type": "integer"}]},
        },
        "required": ["title", "owner"],
    }


def test_an_argument_without_a_json_schema_cannot_be_sent(lc: World) -> None:
    """Row "schema-error-advice": upstream says more about it."""
    config = ConfigDict(arbitrary_types_allowed=True)
    model = create_model("Control", __config__=config, device=(Device, ...))
    with pytest.raises(PydanticInvalidForJsonSchema) as caught:
        lc.convert_to_openai_function(model)
    reason = f"Cannot generate a JsonSchema for core_schema.IsInstanceSchema ({Device})"
    assert (
        caught.value.message.split("\n\n")[0]
        == (
            {
                "minilc": reason,
                "langchain": f"Failed to generate JSON schema for 'Control': {reason}",
            }
        )[lc.name]
    )


def test_a_typed_dict_is_read_with_docstring_defaults_and_descriptions(lc: World) -> None:
    point = {
        "type": "object",
        "description": "A point.",
        "properties": {"x": {"type": "integer"}},
        "required": ["x"],
    }
    assert lc.convert_to_openai_function(Span) == {
        "name": "Span",
        "description": "A span of days.",
        "parameters": {
            "type": "object",
            "properties": {
                "start": {"type": "string", "description": "The first day."},
                "days": {"type": "integer", "description": "How many.", "default": 3},
                "points": {"type": "array", "items": point},
            },
            "required": ["start", "points"],
        },
    }


def test_a_typed_dict_is_told_in_the_words_of_another_pydantic(lc: World) -> None:
    """Row "typed-dict-schema": upstream converts it with pydantic.v1."""

    class Typed(TypedDict):
        only: Literal["a"]
        pair: tuple[int, str]
        any: dict
        mood: Annotated[Optional[str], None, "The mood."]  # noqa: UP045

    found = lc.convert_to_openai_function(Typed)["parameters"]["properties"]
    pair = [{"type": "integer"}, {"type": "string"}]
    array = {"type": "array", "minItems": 2, "maxItems": 2}
    assert (
        found
        == {
            "minilc": {
                "only": {"type": "string", "const": "a"},
                "pair": {**array, "prefixItems": pair},
                "any": {"type": "object", "additionalProperties": True},
                "mood": {
                    "anyOf": [{"type": "string"}, {"type": "null"}],
                    "default": None,
                    "description": "The mood.",
                },
            },
            "langchain": {
                "only": {"type": "string", "enum": ["a"]},
                "pair": {**array, "items": pair},
                "any": {"type": "object"},
                "mood": {"type": "string", "description": "The mood."},
            },
        }[lc.name]
    )


def test_a_json_schema_with_a_title_is_a_schema_like_others_in_minilc() -> None:
    assert divergences.row("given-schema")
    schema = {
        "title": "weather",
        "description": "Weather.",
        "type": "object",
        "properties": {"city": {"$ref": "#/$defs/City", "title": "City"}},
        "$defs": {"City": {"type": "string"}},
    }
    parameters = {key: schema[key] for key in ("type", "properties", "$defs")}
    assert LANGCHAIN.convert_to_openai_function(schema) == {
        "name": "weather",
        "description": "Weather.",
        "parameters": parameters,
    }
    assert MINILC.convert_to_openai_function(schema) == {
        "name": "weather",
        "description": "Weather.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    }
    assert schema["properties"]["city"] == {"$ref": "#/$defs/City", "title": "City"}


def test_a_json_schema_without_properties_is_a_name_and_in_minilc_more() -> None:
    assert divergences.row("given-schema")
    given = {"title": "now", "type": "object"}
    assert LANGCHAIN.convert_to_openai_function(given) == {"name": "now"}
    assert MINILC.convert_to_openai_function(given) == {
        "name": "now",
        "description": "",
        "parameters": {"type": "object"},
    }


def test_openais_own_shape_passes_and_in_minilc_with_unknown_keys(lc: World) -> None:
    """Row "tool-dicts": upstream drops them."""
    given = {"name": "f", "parameters": {"type": "object"}, "strict": True}
    other = {"minilc": {"other": 1}, "langchain": {}}[lc.name]
    assert lc.convert_to_openai_function(given | {"other": 1}) == given | other


def test_anthropics_shape_is_turned_into_openais(lc: World) -> None:
    given = {"name": "f", "description": "F.", "input_schema": {"type": "object"}}
    function = {"name": "f", "description": "F.", "parameters": {"type": "object"}}
    assert lc.convert_to_openai_function(given) == function


def test_a_providers_own_tool_passes_as_the_same_object(lc: World) -> None:
    for given in (
        {"type": "web_search", "size": 1},
        {"type": "web_search_preview_2025_03_11"},
        {"type": "function", "function": {"name": "f"}},
    ):
        assert lc.convert_to_openai_tool(given) is given


def test_what_is_no_tool_is_refused(lc: World) -> None:
    for given in (5, "get_weather", None, {}, {"city": "string"}):
        with pytest.raises(ValueError) as caught:
            lc.convert_to_openai_tool(given)
        assert str(caught.value) == (
            f"Unsupported function\n\n{given}\n\nFunctions must be passed in as Dict, "
            "pydantic.BaseModel, or Callable. If they're a dict they must either be in OpenAI "
            "function format or valid JSON schema with top-level 'title' key."
        )


def test_a_json_schema_without_a_title_is_refused(lc: World) -> None:
    """Row "given-schema": minilc has the same error for all that is no tool."""
    given = {"type": "object", "properties": {}}
    with pytest.raises(ValueError) as caught:
        lc.convert_to_openai_tool(given)
    texts = {
        "langchain": "To use a JSON schema as a function, it must have a top-level 'title' key to "
        "be used as the function name.",
        "minilc": "Functions must be passed in as Dict, pydantic.BaseModel, or Callable. If "
        "they're a dict they must either be in OpenAI function format or valid JSON schema with "
        "top-level 'title' key.",
    }
    assert str(caught.value) == f"Unsupported function\n\n{given}\n\n{texts[lc.name]}"


def test_a_providers_own_tool_need_not_be_known(lc: World) -> None:
    """Row "tool-dicts": upstream has a list of them."""
    given = {"type": "tea_maker"}
    if lc.name == "minilc":
        assert lc.convert_to_openai_tool(given) is given
    else:
        with pytest.raises(ValueError, match="^Unsupported function\n\n"):
            lc.convert_to_openai_tool(given)


# strict


def test_strict_requires_all_and_forbids_more(lc: World) -> None:
    function = lc.convert_to_openai_function(weather_tool(lc), strict=True)
    assert function["strict"] is True
    assert function["parameters"] == {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "default": 1}},
        "required": ["city", "days"],
        "additionalProperties": False,
    }


def test_strict_false_is_said_and_changes_nothing(lc: World) -> None:
    tool = weather_tool(lc)
    plain = lc.convert_to_openai_function(tool)
    assert lc.convert_to_openai_function(tool, strict=False) == {**plain, "strict": False}


def test_strict_reaches_the_objects_inside(lc: World) -> None:
    required = ["street", "zip"] if lc.name == "minilc" or active("strict-inside") else ["street"]
    inside = {**ADDRESS, "required": required, "additionalProperties": False}
    parameters = lc.convert_to_openai_function(Person, strict=True)["parameters"]
    assert parameters == {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "home": inside,
            "others": {"type": "array", "items": inside, "default": []},
        },
        "required": ["name", "home", "others"],
        "additionalProperties": False,
    }


def test_strict_reaches_an_object_that_may_be_null(lc: World) -> None:
    home = {"type": ["object", "null"], "properties": {"zip": {"type": "string"}}}
    given = {"title": "f", "type": "object", "properties": {"home": home}, "required": ["home"]}
    parameters = lc.convert_to_openai_function(given, strict=True)["parameters"]
    closed = {**home, "required": ["zip"], "additionalProperties": False}
    if lc.name == "minilc" or active("strict-inside"):
        assert parameters["properties"]["home"] == closed


def test_strict_leaves_a_given_dict_as_it_was(lc: World) -> None:
    given = {"name": "f", "parameters": {"type": "object", "properties": {"x": {"items": {}}}}}
    before = copy.deepcopy(given)
    lc.convert_to_openai_function(given, strict=True)
    if lc.name == "minilc" or active("strict-given-dict"):
        assert given == before


def test_strict_closes_what_says_that_it_is_an_object(lc: World) -> None:
    """Row "tool-dicts": upstream also what has properties; it leaves what has none."""
    for parameters, closer in (
        ({"type": "object"}, "minilc"),
        ({"properties": {"x": {"type": "string"}}}, "langchain"),
    ):
        given = {"name": "f", "parameters": parameters}
        told = lc.convert_to_openai_function(given, strict=True)["parameters"]
        assert told.get("additionalProperties") is (False if lc.name == closer else None)


def test_a_given_schema_is_json() -> None:
    """Row "given-schema": upstream sends whatever is in it, and the request fails."""
    date = datetime.date(2025, 1, 1)
    given = {"title": "f", "type": "object", "properties": {"day": {"default": date}}}
    assert LANGCHAIN.convert_to_openai_function(given)["parameters"]["properties"] == {
        "day": {"default": date}
    }
    with pytest.raises(TypeError) as caught:
        MINILC.convert_to_openai_function(given)
    assert str(caught.value) == "Object of type date is not JSON serializable"


def test_strict_needs_parameters(lc: World) -> None:
    with pytest.raises(KeyError) as caught:
        lc.convert_to_openai_function({"name": "f"}, strict=True)
    assert caught.value.args == ("parameters",)


def test_strict_of_the_caller_wins(lc: World) -> None:
    """Row "tool-dicts": upstream refuses it."""
    given = {"name": "f", "parameters": {}, "strict": True}
    if lc.name == "minilc":
        assert lc.convert_to_openai_function(given, strict=False) == {**given, "strict": False}
        assert given["strict"] is True
    else:
        with pytest.raises(ValueError) as caught:
            lc.convert_to_openai_function(given, strict=False)
        assert str(caught.value) == (
            "Tool/function already has a 'strict' key with value True which is different from the "
            "explicit `strict` arg received strict=False."
        )


# Anthropic


def test_anthropic_calls_the_parameters_input_schema(lc: World) -> None:
    assert lc.convert_to_anthropic_tool(weather_tool(lc)) == {
        "name": "get_weather",
        "description": "Get the weather of a city.",
        "input_schema": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer", "default": 1}},
            "required": ["city"],
        },
    }


def test_anthropic_is_told_of_models_functions_and_dicts(lc: World) -> None:
    def ping() -> str:
        return ""

    nothing = {"type": "object", "properties": {}}
    assert lc.convert_to_anthropic_tool(ping) == {
        "name": "ping",
        "description": "",
        "input_schema": nothing,
    }
    assert lc.convert_to_anthropic_tool(Address) == {
        "name": "Address",
        "description": "An address.",
        "input_schema": {k: v for k, v in ADDRESS.items() if k != "description"},
    }
    given = {"name": "f", "description": "F.", "input_schema": nothing, "cache_control": 1}
    assert lc.convert_to_anthropic_tool(given) == given


def test_anthropic_is_told_strict_if_asked(lc: World) -> None:
    given = {"name": "f", "parameters": {"type": "object", "properties": {}}}
    schema = {"type": "object", "properties": {}}
    assert lc.convert_to_anthropic_tool(given) == {"name": "f", "input_schema": schema}
    assert lc.convert_to_anthropic_tool(given, strict=True) == {
        "name": "f",
        "input_schema": {**schema, "additionalProperties": False},
        "strict": True,
    }


def test_anthropic_gets_its_own_extras_of_a_tool(lc: World) -> None:
    @lc.tool(extras={"cache_control": {"type": "ephemeral"}, "other": 1})
    def ping() -> str:
        """Ping."""
        return ""

    assert lc.convert_to_anthropic_tool(ping) == {
        "name": "ping",
        "description": "Ping.",
        "input_schema": {"type": "object", "properties": {}},
        "cache_control": {"type": "ephemeral"},
    }


def test_anthropic_is_not_told_how_to_stream_in_minilc() -> None:
    assert divergences.row("anthropic-streaming")
    extras = {"eager_input_streaming": True}
    told = {}
    for lc in (MINILC, LANGCHAIN):
        made = lc.tool("f", lambda x: x, description="F.", extras=extras)
        told[lc.name] = lc.convert_to_anthropic_tool(made)
    assert "eager_input_streaming" not in told["minilc"]
    assert told["langchain"] == told["minilc"] | extras


def test_anthropic_needs_a_schema(lc: World) -> None:
    with pytest.raises(KeyError) as caught:
        lc.convert_to_anthropic_tool({"name": "f"})
    assert caught.value.args == ("parameters",)


# Gemini: LangChain's side is what its model really sends


def gemini_property_of(lc: World, type_: Any) -> Any:
    """What Gemini is told of a field of this type."""
    declaration = lc.convert_to_gemini_tool(create_model("M", __doc__="M.", x=(type_, ...)))
    assert declaration["parameters"]["required"] == ["x"]
    return declaration["parameters"]["properties"]["x"]


def test_gemini_gets_types_in_capitals_and_no_defaults(lc: World) -> None:
    assert lc.convert_to_gemini_tool(weather_tool(lc)) == {
        "name": "get_weather",
        "description": "Get the weather of a city.",
        "parameters": {
            "type": "OBJECT",
            "properties": {"city": {"type": "STRING"}, "days": {"type": "INTEGER"}},
            "required": ["city"],
        },
    }


def test_gemini_gets_no_parameters_if_there_are_none(lc: World) -> None:
    @lc.tool
    def ping() -> str:
        """Ping."""
        return ""

    assert lc.convert_to_gemini_tool(ping) == {"name": "ping", "description": "Ping."}


def test_gemini_gets_an_empty_list_if_nothing_is_required(lc: World) -> None:
    model = create_model("M", x=(int, 1))
    assert lc.convert_to_gemini_tool(model) == {
        "name": "M",
        "parameters": {"type": "OBJECT", "properties": {"x": {"type": "INTEGER"}}, "required": []},
    }


def test_gemini_gets_scalars_lists_and_choices(lc: World) -> None:
    for type_, expected in [
        (float, {"type": "NUMBER"}),
        (bool, {"type": "BOOLEAN"}),
        (list[int], {"type": "ARRAY", "items": {"type": "INTEGER"}}),
        (
            list[list[str]],
            {"type": "ARRAY", "items": {"type": "ARRAY", "items": {"type": "STRING"}}},
        ),
        (dict[str, int], {"type": "OBJECT"}),
        (Color, {"type": "STRING", "enum": ["red", "blue"]}),
        (list[Color], {"type": "ARRAY", "items": {"type": "STRING", "enum": ["red", "blue"]}}),
        (
            Annotated[int, Field(ge=1, description="Days.")],
            {"type": "INTEGER", "description": "Days."},
        ),
        (Literal["a", "b"], {"type": "STRING", "enum": ["a", "b"]}),
        (tuple[int, str], {"type": "ARRAY"}),
    ]:
        assert gemini_property_of(lc, type_) == expected, type_


def test_gemini_gets_nullable_instead_of_null(lc: World) -> None:
    for type_, expected in [
        (int | None, {"type": "INTEGER", "nullable": True}),
        (list[int] | None, {"type": "ARRAY", "items": {"type": "INTEGER"}, "nullable": True}),
        (list[int | None], {"type": "ARRAY", "items": {"type": "INTEGER", "nullable": True}}),
        (Color | None, {"type": "STRING", "enum": ["red", "blue"], "nullable": True}),
        # Of two types beside None only the last is told.
        (int | str | None, {"type": "STRING", "nullable": True}),
    ]:
        assert gemini_property_of(lc, type_) == expected, type_


def test_gemini_gets_a_union_as_any_of(lc: World) -> None:
    assert gemini_property_of(lc, int | str) == {
        "any_of": [{"type": "INTEGER"}, {"type": "STRING"}]
    }
    color = {"type": "STRING", "enum": ["red", "blue"], "title": "Color"}
    assert gemini_property_of(lc, Color | int) == {"any_of": [color, {"type": "INTEGER"}]}


class Street(BaseModel):
    """A street."""

    name: str
    number: int = 1


STREET = {
    "type": "OBJECT",
    "description": "A street.",
    "properties": {"name": {"type": "STRING"}, "number": {"type": "INTEGER"}},
    "required": ["name"],
}


def test_gemini_gets_models_inside_models(lc: World) -> None:
    assert gemini_property_of(lc, Street) == STREET
    assert gemini_property_of(lc, list[Street]) == {"type": "ARRAY", "items": STREET}
    assert gemini_property_of(lc, Street | None) == {**STREET, "nullable": True}
    option = {**STREET, "title": "Street"}
    assert gemini_property_of(lc, Street | int) == {"any_of": [option, {"type": "INTEGER"}]}


def test_gemini_gets_what_json_schema_leaves_open_as_text(lc: World) -> None:
    if lc.name == "minilc" or active("gemini-open-types"):
        assert gemini_property_of(lc, Any) == {"type": "STRING"}
        assert gemini_property_of(lc, list) == {"type": "ARRAY", "items": {"type": "STRING"}}


def test_gemini_keeps_what_is_inside_of_an_object(lc: World) -> None:
    """Row "gemini-inside": upstream's conversion passes nested objects twice and loses by it."""
    town = create_model("Town", main=(Street, ...), code=(int | None, ...))
    found = gemini_property_of(lc, town)["properties"]
    assert (
        found
        == {
            "minilc": {"main": STREET, "code": {"type": "INTEGER", "nullable": True}},
            "langchain": {
                "main": {**STREET, "required": ["name", "number"]},
                "code": {"type": "INTEGER"},
            },
        }[lc.name]
    )


def test_gemini_is_told_nothing_odd_of_a_parameter_called_title(lc: World) -> None:
    """Row "gemini-title": upstream describes it by its own schema."""
    model = create_model("M", title=(str, ...))
    found = lc.convert_to_gemini_tool(model)["parameters"]["properties"]["title"]
    assert (
        found
        == {
            "minilc": {"type": "STRING"},
            "langchain": {"type": "STRING", "description": "title is {'type': 'string'}"},
        }[lc.name]
    )


def test_gemini_is_told_all_types_of_a_lists_items(lc: World) -> None:
    """Row "gemini-items": upstream tells the last."""
    assert (
        gemini_property_of(lc, list[int | str])["items"]
        == {
            "minilc": {"any_of": [{"type": "INTEGER"}, {"type": "STRING"}]},
            "langchain": {"type": "STRING"},
        }[lc.name]
    )


def test_gemini_gets_choices_that_are_no_texts(lc: World) -> None:
    """Row "gemini-choices": upstream refuses them, by Google's class of a schema."""
    if lc.name == "minilc":
        assert gemini_property_of(lc, Literal[1, 2]) == {"type": "INTEGER", "enum": [1, 2]}
    else:
        with pytest.raises(ValueError) as caught:
            gemini_property_of(lc, Literal[1, 2])
        assert str(caught.value).startswith("2 validation errors for Schema\nenum.0\n")
