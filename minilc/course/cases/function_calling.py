"""Layer 6, function_calling: what a provider is told about a tool, byte for byte."""

import enum
from typing import Annotated, Any, Literal, Optional

from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from minilc.course.cases import case
from minilc.course.worlds import World

LAYER = "function_calling"


class Line(BaseModel):
    """One line of an order."""

    sku: str = Field(description="Stock code")
    qty: int = 1


class Order(BaseModel):
    """下一个订单。"""

    first: Line
    others: list[Line] = Field(default_factory=list)
    note: str | None = Field(default=None, description="备注")


class Undocumented(BaseModel):
    city: str


class Span(TypedDict):
    """A span of days."""

    start: Annotated[str, ..., "First day"]
    days: Annotated[int, 3, "How many days"]


class Plain(TypedDict):
    city: str
    tags: list[str]


class Unit(enum.Enum):
    C = "celsius"
    F = "fahrenheit"


WEATHER = {
    "title": "get_weather",
    "description": "Get current weather for a city.",
    "type": "object",
    "properties": {"city": {"type": "string", "title": "City"}},
    "required": ["city"],
}


def search(text: str, limit: int = 5, lang: str | None = None, filters: dict = {}) -> str:  # noqa: B006
    """Search the catalogue."""
    return ""


def ping() -> str:
    """Check that the service answers."""
    return "pong"


# From a tool


@case(LAYER, "a tool becomes a function with name, description and parameters")
def from_tool(lc: World) -> Any:
    @lc.tool
    def get_weather(city: str) -> str:
        """Get current weather for a city."""
        return ""

    return lc.convert_to_openai_tool(get_weather)


@case(LAYER, "add of the articles: two required integers, no titles")
def add(lc: World) -> Any:
    @lc.tool
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    return lc.convert_to_openai_function(add)


@case(LAYER, "a tool without arguments has no required key")
def without_arguments(lc: World) -> Any:
    return lc.convert_to_openai_tool(lc.tool(ping))


@case(LAYER, "defaults and nullable arguments are sent along")
def defaults(lc: World) -> Any:
    return lc.convert_to_openai_tool(lc.tool(search))


@case(LAYER, "strict requires every argument and forbids others, also inside")
def strict(lc: World) -> Any:
    return lc.convert_to_openai_tool(lc.tool(search), strict=True)


@case(LAYER, "strict goes into nested models", behaviour="strict-inside")
def strict_nested(lc: World) -> Any:
    return lc.convert_to_openai_tool(Order, strict=True)


@case(LAYER, "strict goes into a parameter that is called properties", behaviour="strict-inside")
def strict_properties(lc: World) -> Any:
    @lc.tool
    def keep(properties: Order) -> str:
        """Keep it."""
        return "kept"

    return lc.convert_to_openai_tool(keep, strict=True)


@case(LAYER, "strict without arguments requires nothing")
def strict_without_arguments(lc: World) -> Any:
    return lc.convert_to_openai_tool(lc.tool(ping), strict=True)


@case(LAYER, "strict=False is said, and nothing else changes")
def strict_false(lc: World) -> Any:
    return lc.convert_to_openai_tool(lc.tool(search), strict=False)


@case(LAYER, "references are replaced by what they refer to")
def references(lc: World) -> Any:
    @lc.tool
    def order(first: Line, others: list[Line], by_name: dict[str, Line]) -> str:
        """Place an order."""
        return ""

    return lc.convert_to_openai_tool(order)


@case(LAYER, "Enum and Literal are lists of values")
def enumerations(lc: World) -> Any:
    @lc.tool
    def f(unit: Unit, mode: Literal["now", "later"] = "now", level: Literal[1, 2] = 1) -> str:
        """F."""
        return ""

    return lc.convert_to_openai_function(f)["parameters"]


@case(LAYER, "bare containers, tuples and missing annotations are sent as they are")
def containers(lc: World) -> Any:
    @lc.tool
    def save(payload: dict, tags: list, pair: tuple[int, str], anything: Any, untyped) -> str:
        """Save a record."""
        return ""

    return lc.convert_to_openai_function(save)["parameters"]


@case(LAYER, "titles go, a parameter called title stays")
def title(lc: World) -> Any:
    class Book(BaseModel):
        title: str
        properties: dict[str, str] = Field(default_factory=dict, title="All properties")

    return lc.convert_to_openai_function(Book)["parameters"]


@case(LAYER, "injected arguments are not sent")
def injected(lc: World) -> Any:
    @lc.tool
    def f(x: int, user: Annotated[str, lc.InjectedToolArg], y: int = 2) -> str:
        """F."""
        return ""

    return lc.convert_to_openai_function(f)


@case(LAYER, "a simple Tool is sent as one text called __arg1")
def simple(lc: World) -> Any:
    return lc.convert_to_openai_tool(lc.Tool(name="shelf", description="Find it.", func=str))


@case(LAYER, "an empty description is filled from the schema, which has the docstring")
def empty_description(lc: World) -> Any:
    made = lc.StructuredTool.from_function(ping, description="")
    return lc.convert_to_openai_function(made)


@case(LAYER, "a name that a provider refuses is sent all the same")
def odd_name(lc: World) -> Any:
    return lc.convert_to_openai_function(lc.tool("搜索 工具")(ping))["name"]


@case(LAYER, "a tool with a JSON schema sends that schema")
def json_schema_tool(lc: World) -> Any:
    schema = {key: value for key, value in WEATHER.items() if key != "title"}
    made = lc.tool("weather", args_schema=schema, description="查天气")(ping)
    return lc.convert_to_openai_tool(made)


@case(LAYER, "the caller's schema stays as it was")
def schema_untouched(lc: World) -> Any:
    schema = {**WEATHER, "properties": {"city": {"type": "string"}}}
    lc.convert_to_openai_tool(schema, strict=True)
    return schema


# From something else


@case(LAYER, "a function is read with its docstring parsed")
def from_function(lc: World) -> Any:
    def loan(book_id: str, days: int = 14) -> str:
        """Lend a book.

        Args:
            book_id: Catalogue number.
            days: Length of the loan.
        """
        return ""

    return lc.convert_to_openai_tool(loan)


@case(LAYER, "a function without a docstring has an empty description")
def from_undocumented_function(lc: World) -> Any:
    def echo(text: str) -> str:
        return text

    return lc.convert_to_openai_function(echo)


@case(LAYER, "a function that documents an unknown argument is refused")
def from_misdocumented_function(lc: World) -> Any:
    def loan(book_id: str) -> str:
        """Lend a book.

        Args:
            book: Catalogue number.
        """
        return ""

    return lc.convert_to_openai_function(loan)


@case(LAYER, "a pydantic model is a function of its fields")
def from_model(lc: World) -> Any:
    return lc.convert_to_openai_tool(Order)


@case(LAYER, "a model without a docstring has an empty description")
def from_undocumented_model(lc: World) -> Any:
    return lc.convert_to_openai_function(Undocumented)


@case(LAYER, "a TypedDict with annotations: default and description")
def from_typed_dict(lc: World) -> Any:
    return lc.convert_to_openai_function(Span)


@case(LAYER, "a plain TypedDict")
def from_plain_typed_dict(lc: World) -> Any:
    return lc.convert_to_openai_function(Plain)


@case(LAYER, "a TypedDict in a TypedDict")
def from_nested_typed_dict(lc: World) -> Any:
    class Place(TypedDict):
        """A place."""

        city: str

    class Trip(TypedDict):
        """A trip."""

        stops: Annotated[list[Place], ..., "In their order"]

    return lc.convert_to_openai_function(Trip)


@case(
    LAYER, "a TypedDict's Optional, Literal and tuple, in JSON schema", differs="typed-dict-schema"
)
def from_other_typed_dict(lc: World) -> Any:
    class Other(TypedDict):
        mood: Annotated[Optional[str], None]  # noqa: UP045
        kind: Literal["a"]
        pair: tuple[int, str]

    return lc.convert_to_openai_function(Other)["parameters"]["properties"]


@case(
    LAYER,
    "a TypedDict field's second annotation must be its description",
    differs="typed-dict-schema",
)
def from_wrong_typed_dict(lc: World) -> Any:
    class Wrong(TypedDict):
        city: Annotated[str, ..., 5]

    return lc.convert_to_openai_function(Wrong)


@case(LAYER, "a JSON schema with a title is a function of that name", differs="given-schema")
def from_json_schema(lc: World) -> Any:
    return lc.convert_to_openai_tool(WEATHER)


@case(LAYER, "a JSON schema without a title is refused", differs="given-schema")
def from_untitled_schema(lc: World) -> Any:
    return lc.convert_to_openai_tool({"type": "object", "properties": {}})


@case(LAYER, "a dict that is no schema is refused")
def from_other_dict(lc: World) -> Any:
    return lc.convert_to_openai_tool({"city": "string"})


@case(LAYER, "a number is refused")
def from_number(lc: World) -> Any:
    return lc.convert_to_openai_tool(5)


@case(LAYER, "what is in OpenAI's shape passes, and so do unknown keys", differs="tool-dicts")
def from_openai_function(lc: World) -> Any:
    function = {"name": "f", "description": "F.", "parameters": {"type": "object"}, "extra": 1}
    return lc.convert_to_openai_tool(function)


@case(LAYER, "a provider's own tool passes as it is")
def from_provider_tool(lc: World) -> Any:
    tools = [
        {"type": "web_search", "search_context_size": "low"},
        {"type": "web_search_preview_2025_03_11"},
        {"type": "function", "function": {"name": "f"}},
    ]
    return [lc.convert_to_openai_tool(tool) for tool in tools]


@case(LAYER, "a provider's own tool of an unknown type", differs="tool-dicts")
def from_unknown_provider_tool(lc: World) -> Any:
    return lc.convert_to_openai_tool({"type": "tea_maker", "sugar": True})


@case(LAYER, "a tool in Anthropic's shape is turned around")
def from_anthropic_shape(lc: World) -> Any:
    given = {"name": "f", "description": "F.", "input_schema": {"type": "object"}}
    return lc.convert_to_openai_tool(given)


@case(LAYER, "a strict that contradicts the given one is refused", differs="tool-dicts")
def strict_contradicted(lc: World) -> Any:
    given = {"name": "f", "parameters": {"type": "object", "properties": {}}, "strict": False}
    return lc.convert_to_openai_function(given, strict=True)


@case(LAYER, "strict parameters that do not say their type", differs="tool-dicts")
def strict_untyped(lc: World) -> Any:
    given = {"name": "f", "parameters": {"properties": {"x": {"type": "string"}}}}
    return lc.convert_to_openai_function(given, strict=True)


@case(LAYER, "an argument without a JSON schema cannot be sent", differs="schema-error-advice")
def no_json_schema(lc: World) -> Any:
    class Device:
        pass

    @lc.tool
    def f(device: Device) -> str:
        """F."""
        return ""

    return lc.convert_to_openai_function(f)


# The other providers


@case(LAYER, "Anthropic's shape has input_schema, with the same schema in it")
def anthropic(lc: World) -> Any:
    return lc.convert_to_anthropic_tool(lc.tool(search))


@case(LAYER, "Anthropic's shape of a model")
def anthropic_model(lc: World) -> Any:
    return lc.convert_to_anthropic_tool(Order)


@case(LAYER, "Anthropic's extras of a tool are sent, others are not")
def anthropic_extras(lc: World) -> Any:
    extras = {"cache_control": {"type": "ephemeral"}, "defer_loading": True, "other": 1}
    return lc.convert_to_anthropic_tool(lc.tool(extras=extras)(ping))


@case(LAYER, "a tool in Anthropic's shape passes")
def anthropic_passes(lc: World) -> Any:
    given = {"name": "f", "description": "F.", "input_schema": {"type": "object"}}
    return lc.convert_to_anthropic_tool(given)


@case(LAYER, "Anthropic's shape of a dict that is no tool is an error")
def anthropic_other_dict(lc: World) -> Any:
    return lc.convert_to_anthropic_tool({"city": "string"})


@case(LAYER, "Gemini's shape writes types in capitals and drops defaults")
def gemini(lc: World) -> Any:
    return lc.convert_to_gemini_tool(lc.tool(search))


@case(LAYER, "Gemini's shape of nested models, enums and descriptions")
def gemini_nested(lc: World) -> Any:
    @lc.tool
    def order(
        first: Line, others: list[Line], unit: Unit, note: Annotated[str, "备注"] = ""
    ) -> str:
        """下一个订单。"""
        return ""

    return lc.convert_to_gemini_tool(order)


@case(LAYER, "Gemini's shape loses what is in a tuple and a dict", behaviour="gemini-open-types")
def gemini_containers(lc: World) -> Any:
    @lc.tool
    def save(payload: dict, tags: list, pair: tuple[int, str], anything: Any) -> str:
        """Save a record."""
        return ""

    return lc.convert_to_gemini_tool(save)


@case(LAYER, "Gemini's shape of a tool without arguments")
def gemini_without_arguments(lc: World) -> Any:
    return lc.convert_to_gemini_tool(lc.tool(ping))


@case(LAYER, "Gemini's shape hides injected arguments, too")
def gemini_injected(lc: World) -> Any:
    @lc.tool
    def f(x: int, user: Annotated[str, lc.InjectedToolArg]) -> str:
        """F."""
        return ""

    return lc.convert_to_gemini_tool(f)


@case(LAYER, "Gemini's shape keeps what is inside of an object", differs="gemini-inside")
def gemini_inside(lc: World) -> Any:
    class Town(BaseModel):
        """A town."""

        first: Line
        code: int | None

    @lc.tool
    def visit(town: Town) -> str:
        """Visit."""
        return ""

    return lc.convert_to_gemini_tool(visit)["parameters"]


@case(LAYER, "Gemini's shape of a parameter called title", differs="gemini-title")
def gemini_title(lc: World) -> Any:
    @lc.tool
    def find(title: str) -> str:
        """Find a book."""
        return ""

    return lc.convert_to_gemini_tool(find)["parameters"]


@case(LAYER, "Gemini's shape of a list of several types", differs="gemini-items")
def gemini_items(lc: World) -> Any:
    @lc.tool
    def mix(parts: list[int | str]) -> str:
        """Mix."""
        return ""

    return lc.convert_to_gemini_tool(mix)["parameters"]


@case(LAYER, "Gemini's shape of choices that are no texts", differs="gemini-choices")
def gemini_choices(lc: World) -> Any:
    @lc.tool
    def level(number: Literal[1, 2]) -> str:
        """Set the level."""
        return ""

    return lc.convert_to_gemini_tool(level)["parameters"]
