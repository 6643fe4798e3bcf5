"""Layer 2, schema: a signature becomes what the model sees, and what checks its answer."""

# Annotations name a world's classes, which are chosen at run time.
# mypy: disable-error-code="name-defined, valid-type"

import datetime
import enum
import functools
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Optional, Union

from pydantic import BaseModel, Field, field_validator
from pydantic.v1 import BaseModel as OldBaseModel
from typing_extensions import TypedDict

from minilc.course.cases import case
from minilc.course.worlds import World

LAYER = "schema"


class Unit(enum.Enum):
    C = "celsius"
    F = "fahrenheit"


class Place(BaseModel):
    """Where to look."""

    city: str = Field(description="城市名")
    country: str = "CN"


class OldPlace(OldBaseModel):
    city: str


class Span(TypedDict):
    start: str
    days: int


@dataclass
class Point:
    x: float
    y: float = 0.0


class Thermometer:
    """No type that pydantic knows."""


def price(item: str, currency: str) -> str:
    """Price of an item."""
    return f"{item}: 1 {currency}"


def mixed(old: OldPlace, new: Place) -> str:
    """Take a model of each pydantic."""
    return ""


def of(lc: World, function: Any, **options: Any) -> Any:
    """The JSON schema of the model that is made from a function's signature."""
    return lc.create_schema_from_function("Schema", function, **options).model_json_schema()


def evaluated(source: str, **names: Any) -> Any:
    """The function `f` of a source text, as a module of its own would define it."""
    namespace: dict[str, Any] = {"__name__": "a_module", **names}
    exec(source, namespace)
    return namespace["f"]


# What becomes of a parameter


@case(LAYER, "a parameter without a default is required, one with a default is not")
def required_and_default(lc: World) -> Any:
    def query_order(order_id: str, include_items: bool = False) -> str:
        """Query order detail by order id."""
        return ""

    return of(lc, query_order)


@case(LAYER, "Optional means null is allowed, not that the argument may be left out")
def optional_is_nullable(lc: World) -> Any:
    def f(a: Optional[str], b: Optional[str] = None, c: int | None = 3) -> None:  # noqa: UP045
        """F."""

    return of(lc, f)


@case(LAYER, "a union keeps its members in order")
def union_members(lc: World) -> Any:
    def f(a: Union[int, str], b: str | float = 1.5) -> None:  # noqa: UP007
        """F."""

    return of(lc, f)


@case(LAYER, "bare containers say nothing about what is in them")
def bare_containers(lc: World) -> Any:
    def f(payload: dict, tags: list, pair: tuple, anything: Any, chosen: set) -> None:
        """F."""

    return of(lc, f)


@case(LAYER, "typed containers say what is in them")
def typed_containers(lc: World) -> Any:
    def f(a: list[str], b: dict[str, int], c: tuple[int, str], d: set[float]) -> None:
        """F."""

    return of(lc, f)


@case(LAYER, "a parameter without annotation has an empty schema")
def unannotated(lc: World) -> Any:
    def f(a, b=2):
        """F."""

    return of(lc, f)


@case(LAYER, "a Literal and an Enum become enum")
def literal_and_enum(lc: World) -> Any:
    def f(unit: Unit, mode: Literal["now", "later"] = "now", level: Literal[1, 2] = 1) -> None:
        """F."""

    return of(lc, f)


@case(LAYER, "a nested model is a definition that the parameter refers to")
def nested_model(lc: World) -> Any:
    def f(place: Place, others: list[Place], by_name: dict[str, Place]) -> None:
        """F."""

    return of(lc, f)


@case(LAYER, "a TypedDict and a dataclass are described too")
def typed_dict_and_dataclass(lc: World) -> Any:
    def f(span: Span, point: Point) -> None:
        """F."""

    return of(lc, f)


@case(LAYER, "dates are strings with a format")
def dates(lc: World) -> Any:
    def f(day: datetime.date, at: datetime.datetime) -> None:
        """F."""

    return of(lc, f)


@case(LAYER, "text in Annotated is the description of the parameter")
def annotated_text(lc: World) -> Any:
    @lc.tool
    def f(city: Annotated[str, "城市名，例如：北京"], days: Annotated[int, "How many"] = 1) -> str:
        """F."""
        return ""

    return f.args


@case(LAYER, "Field in Annotated adds description and bounds")
def annotated_field(lc: World) -> Any:
    def f(top_k: Annotated[int, Field(description="How many", ge=1, le=20)] = 5) -> None:
        """F."""

    return of(lc, f)


@case(LAYER, "Field as the default gives a default and a description")
def field_as_default(lc: World) -> Any:
    def f(note: str = Field("none", description="Free text"), n: int = Field(gt=0)) -> None:
        """F."""

    return of(lc, f)


@case(LAYER, "a default_factory makes a parameter optional and shows no default")
def default_factory(lc: World) -> Any:
    def f(tags: list[str] = Field(default_factory=list)) -> None:  # noqa: B008 - upstream reads it
        """F."""

    return of(lc, f)


@case(LAYER, "a mutable default is shown and is not shared")
def mutable_default(lc: World) -> Any:
    @lc.tool
    def f(x: int, seen: list[int] = []) -> int:  # noqa: B006 - the trap itself
        """F."""
        seen.append(x)
        return len(seen)

    return f.args["seen"], [f.invoke({"x": n}) for n in range(3)]


@case(LAYER, "a default of another type than the annotation is not checked")
def wrong_default(lc: World) -> Any:
    def f(n: int = "many") -> None:  # type: ignore[assignment]  # that is the point
        """F."""

    return of(lc, f)


@case(LAYER, "a parameter called title survives the removal of titles")
def called_title(lc: World) -> Any:
    def f(title: str, name: str = "") -> None:
        """F."""

    return lc.convert_to_openai_tool(lc.tool(f))["function"]["parameters"]


@case(LAYER, "star parameters appear as args and kwargs")
def star_parameters(lc: World) -> Any:
    def f(a: int, *args: int, **kwargs: str) -> None:
        """F."""

    return of(lc, f)


@case(LAYER, "a parameter called args is lost", differs="parameter-called-args")
def called_args(lc: World) -> Any:
    def f(args: str, other: int = 1) -> None:
        """F."""

    return of(lc, f)


@case(LAYER, "positional-only parameters come with a placeholder", differs="positional-only")
def positional_only(lc: World) -> Any:
    def f(a: int, /, b: str) -> None:
        """F."""

    return of(lc, f)


@case(LAYER, "keyword-only parameters are parameters like others")
def keyword_only(lc: World) -> Any:
    def f(a: int, *, b: str, c: str = "x") -> None:
        """F."""

    return of(lc, f)


@case(LAYER, "the self of a method is not in the schema")
def method(lc: World) -> Any:
    class Shop:
        def price(self, item: str) -> str:
            """Price of an item."""
            return "1"

    return of(lc, Shop.price), of(lc, Shop().price)


@case(LAYER, "a first parameter called self is left out of a local function too")
def local_self(lc: World) -> Any:
    def f(self: str, b: int) -> None:
        """F."""

    return of(lc, f)


@case(LAYER, "annotations as text are resolved in the function's module")
def postponed(lc: World) -> Any:
    source = (
        "from __future__ import annotations\n"
        "def f(place: Place, days: int | None = None) -> str:\n    '''F.'''\n"
    )
    return of(lc, evaluated(source, Place=Place))


@case(LAYER, "an injected argument is found behind postponed annotations")
def postponed_injected(lc: World) -> Any:
    source = (
        "from __future__ import annotations\n"
        "def f(city: str, user: Annotated[str, Hidden]) -> str:\n"
        "    '''F.'''\n    return city + user\n"
    )
    made = lc.tool(evaluated(source, Annotated=Annotated, Hidden=lc.InjectedToolArg))
    return made.args, made.invoke({"city": "北京", "user": "u1"})


# What is left out of it


@case(LAYER, "an injected argument is hidden from the model and present for the function")
def injected(lc: World) -> Any:
    @lc.tool
    def f(order_id: str, state: Annotated[dict, lc.InjectedState]) -> str:
        """F."""
        return ""

    return (
        f.tool_call_schema.model_json_schema()["properties"],
        f.args,
        list(f.args_schema.model_fields),
    )


@case(LAYER, "every kind of injected argument is hidden")
def injected_kinds(lc: World) -> Any:
    @lc.tool
    def f(
        x: int,
        plain: Annotated[str, lc.InjectedToolArg],
        made: Annotated[str, lc.InjectedToolArg()],
        call_id: Annotated[str, lc.InjectedToolCallId],
        field: Annotated[list, lc.InjectedState("messages")],
        store: Annotated[Any, lc.InjectedStore()],
        runtime: lc.ToolRuntime,
    ) -> str:
        """F."""
        return ""

    return sorted(f.args), sorted(f.args_schema.model_fields)


@case(LAYER, "a parameter that is only called runtime stays visible")
def only_called_runtime(lc: World) -> Any:
    @lc.tool
    def f(x: int, runtime: str, state: dict) -> str:
        """F."""
        return ""

    return f.args


@case(LAYER, "run_manager, callbacks and a RunnableConfig are left out, a config of text is not")
def filtered(lc: World) -> Any:
    @lc.tool
    def hidden(x: int, run_manager: str, callbacks: str, settings: lc.RunnableConfig) -> str:
        """F."""
        return ""

    @lc.tool
    def shown(x: int, config: str) -> str:
        """F."""
        return ""

    return hidden.args, shown.args


@case(LAYER, "include_injected=False leaves injected arguments out of the schema itself")
def without_injected(lc: World) -> Any:
    def f(x: int, user: Annotated[str, lc.InjectedToolArg]) -> None:
        """F."""

    return of(lc, f, include_injected=False), of(lc, f)


@case(LAYER, "filter_args replaces the names that are left out")
def filter_args(lc: World) -> Any:
    def f(a: int, b: int, callbacks: str) -> None:
        """F."""

    return of(lc, f, filter_args=["b"])


# Docstrings


@case(LAYER, "the schema's description is the docstring with its indentation cleaned")
def schema_description(lc: World) -> Any:
    @lc.tool
    def loan(book_id: str) -> str:
        """Lend a book.

        Args:
            book_id: Catalogue number.
        """
        return ""

    return loan.args_schema.model_json_schema()["description"], loan.description


@case(LAYER, "parse_docstring moves the Args section to the parameters")
def parsed_docstring(lc: World) -> Any:
    @lc.tool(parse_docstring=True)
    def loan(book_id: str, days: int = 14) -> str:
        """Lend a book.

        Args:
            book_id: Catalogue number
                on the spine.
            days: Length of the loan.

        Returns:
            A receipt.
        """
        return ""

    return loan.description, loan.args


@case(LAYER, "a Raises section leaks into the description")
def raises_leaks(lc: World) -> Any:
    @lc.tool(parse_docstring=True)
    def weigh(parcel_id: str) -> str:
        """Weigh a parcel.

        Raises:
            LookupError: internal.

        Args:
            parcel_id: The label.
        """
        return ""

    return weigh.description, weigh.args


@case(LAYER, "the docstring wins over the text in Annotated")
def docstring_wins(lc: World) -> Any:
    @lc.tool(parse_docstring=True)
    def f(a: Annotated[str, "from Annotated"], b: str) -> str:
        """F.

        Args:
            a: from the docstring
            b: also from the docstring
        """
        return ""

    return f.args


@case(LAYER, "a documented argument that does not exist is an error")
def docstring_wrong_name(lc: World) -> Any:
    @lc.tool(parse_docstring=True)
    def renew(book_id: str) -> str:
        """Renew a loan.

        Args:
            book: Catalogue number.
        """
        return ""

    return renew


@case(LAYER, "no Args section is an error")
def docstring_without_args(lc: World) -> Any:
    def renew(book_id: str) -> str:
        """Renew a loan."""
        return ""

    return of(lc, renew, parse_docstring=True, error_on_invalid_docstring=True)


@case(LAYER, "an Args section without a blank line before it is an error")
def docstring_without_blank_line(lc: World) -> Any:
    def renew(book_id: str) -> str:
        """Renew a loan.
        Args:
            book_id: Catalogue number.
        """
        return ""

    return of(lc, renew, parse_docstring=True, error_on_invalid_docstring=True)


@case(LAYER, "with error_on_invalid_docstring=False a docstring that does not parse is passed over")
def docstring_tolerated(lc: World) -> Any:
    @lc.tool(parse_docstring=True, error_on_invalid_docstring=False)
    def renew(book_id: str) -> str:
        """Renew a loan."""
        return ""

    return renew.description, renew.args


# What cannot be


@case(LAYER, "a partial has no name to make a schema of")
def partial(lc: World) -> Any:
    return of(lc, functools.partial(price, currency="EUR"))


@case(LAYER, "an annotation that names nothing is an error")
def unresolved(lc: World) -> Any:
    return of(lc, evaluated("def f(place: 'Nowhere') -> str:\n    '''F.'''\n"))


@case(LAYER, "a class that pydantic does not know is taken, but has no JSON schema")
def arbitrary_class(lc: World) -> Any:
    @lc.tool
    def f(device: Thermometer) -> str:
        """F."""
        return ""

    return f.args


@case(LAYER, "such a class is checked by isinstance")
def arbitrary_class_checked(lc: World) -> Any:
    @lc.tool
    def f(device: Thermometer) -> str:
        """F."""
        return "ok"

    return f.invoke({"device": Thermometer()}), f.invoke({"device": "a text"})


@case(
    LAYER,
    "models of both pydantic generations in one signature are an error",
    differs="pydantic-v1",
)
def both_generations(lc: World) -> Any:
    return lc.tool(mixed)


@case(LAYER, "a bound is enforced with pydantic's words")
def bound_enforced(lc: World) -> Any:
    @lc.tool
    def search(query: str, top_k: Annotated[int, Field(ge=1, le=20)] = 5) -> str:
        """Search."""
        return ""

    return search.invoke({"query": "x", "top_k": 50})


@case(LAYER, "a validator of a nested model speaks through the tool")
def nested_validator(lc: World) -> Any:
    class City(BaseModel):
        name: str

        @field_validator("name")
        @classmethod
        def known(cls, value: str) -> str:
            if value != "北京":
                raise ValueError(f"unknown city {value!r}")
            return value

    @lc.tool
    def weather(city: City) -> str:
        """Weather."""
        return city.name

    return weather.invoke({"city": {"name": "北京"}}), weather.invoke(
        {"city": {"name": "Atlantis"}}
    )


@case(LAYER, "several wrong arguments are reported together")
def several_errors(lc: World) -> Any:
    @lc.tool
    def f(a: int, b: list[int], c: Literal["x", "y"], d: Place) -> str:
        """F."""
        return ""

    return f.invoke({"a": "one", "b": ["1", "two"], "c": "z", "d": {"country": 5}})


@case(LAYER, "an int Literal does not take the same number as text")
def literal_not_coerced(lc: World) -> Any:
    @lc.tool
    def f(level: Literal[1, 2]) -> int:
        """F."""
        return level

    return f.invoke({"level": 2}), f.invoke({"level": "2"})


@case(LAYER, "of two descriptions in an annotation the first counts")
def two_descriptions(lc: World) -> Any:
    def inner(a: Annotated[Annotated[int, Field(description="inner")], "outer"]) -> int:
        """Do it."""
        return a

    def outer(a: Annotated[int, "text", Field(description="field")]) -> int:
        """Do it."""
        return a

    return [lc.create_schema_from_function("f", one).model_json_schema() for one in (inner, outer)]
