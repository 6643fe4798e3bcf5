"""Layer 2: what a signature says, as the schema that validates calls and as the model sees it.

Without `from __future__ import annotations`, so that annotations may name a world's classes.
"""

import enum
import functools
import re
from collections.abc import Callable
from importlib.metadata import version
from typing import Annotated, Any, Literal, Optional

import pytest
from pydantic import BaseModel, Field, ValidationError
from pydantic.errors import PydanticUndefinedAnnotation

from minilc.course import divergences
from minilc.course.worlds import LANGCHAIN, MINILC, World


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Address(BaseModel):
    """An address."""

    street: str
    zip: int | None = None


def is_new(lc: World) -> bool:
    """Whether this is minilc or a langchain-core that does as it does: not yet in its 1.3."""
    major, minor = version("langchain-core").split(".")[:2]
    return lc.name == "minilc" or (int(major), int(minor)) > (1, 3)


def schema_of(lc: World, function: Callable[..., Any], **options: Any) -> dict[str, Any]:
    """The JSON schema of the args schema of a function."""
    return lc.create_schema_from_function("Args", function, **options).model_json_schema()


def properties_of(lc: World, function: Callable[..., Any], **options: Any) -> dict[str, Any]:
    """The arguments of that schema, without their titles."""
    properties = schema_of(lc, function, **options)["properties"]
    return {
        name: {key: value for key, value in schema.items() if key != "title"}
        for name, schema in properties.items()
    }


# What a signature says


def test_a_parameter_without_default_is_required(lc: World) -> None:
    def search(query: str, limit: int = 10) -> str:
        """Search the web."""

    assert schema_of(lc, search) == {
        "title": "Args",
        "description": "Search the web.",
        "type": "object",
        "properties": {
            "query": {"title": "Query", "type": "string"},
            "limit": {"title": "Limit", "type": "integer", "default": 10},
        },
        "required": ["query"],
    }


def test_every_kind_of_type_becomes_json_schema(lc: World) -> None:
    def f(
        maybe: Optional[int],  # noqa: UP045
        either: int | str,
        one_of: Literal["a", 1],
        color: Color,
        names: list[str],
        counts: dict[str, int],
        pair: tuple[int, str],
        unique: set[int],
        home: Address,
    ) -> None:
        """F."""

    assert properties_of(lc, f) == {
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        "one_of": {"enum": ["a", 1]},
        "color": {"$ref": "#/$defs/Color"},
        "names": {"type": "array", "items": {"type": "string"}},
        "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
        "pair": {
            "type": "array",
            "minItems": 2,
            "maxItems": 2,
            "prefixItems": [{"type": "integer"}, {"type": "string"}],
        },
        "unique": {"type": "array", "uniqueItems": True, "items": {"type": "integer"}},
        "home": {"$ref": "#/$defs/Address"},
    }
    assert sorted(schema_of(lc, f)["$defs"]) == ["Address", "Color"]


def test_a_parameter_without_annotation_may_be_anything(lc: World) -> None:
    def f(x, y=3):  # type: ignore[no-untyped-def]
        """F."""

    assert properties_of(lc, f) == {"x": {}, "y": {"default": 3}}


def test_a_parameter_may_be_called_title(lc: World) -> None:
    def f(title: str) -> None:
        """F."""

    assert schema_of(lc, f)["properties"] == {"title": {"title": "Title", "type": "string"}}


def test_annotated_text_describes_a_parameter(lc: World) -> None:
    def f(
        text: Annotated[str, "a text"],
        field: Annotated[int, Field(description="a number", ge=1)] = 2,
        default: int = Field(3, description="another", le=9),
        first: Annotated[str, "one", "two"] = "",
    ) -> None:
        """F."""

    assert properties_of(lc, f) == {
        "text": {"type": "string", "description": "a text"},
        "field": {"type": "integer", "description": "a number", "minimum": 1, "default": 2},
        "default": {"type": "integer", "description": "another", "maximum": 9, "default": 3},
        "first": {"type": "string", "description": "one", "default": ""},
    }


def test_a_field_keeps_its_constraints(lc: World) -> None:
    def f(x: Annotated[int, Field(gt=1)]) -> None:
        """F."""

    assert schema_of(lc, f)["properties"] == {
        "x": {"title": "X", "type": "integer", "exclusiveMinimum": 1}
    }
    with pytest.raises(ValidationError, match="^1 validation error for Args\nx\n"):
        lc.create_schema_from_function("Args", f)(x=1)


def test_a_default_factory_makes_a_new_value_each_time(lc: World) -> None:
    def f(xs: list = Field(default_factory=list), ys: list = []) -> None:  # noqa: B006, B008
        """F."""

    schema = lc.create_schema_from_function("Args", f)
    assert "required" not in schema.model_json_schema()
    first, second = schema(), schema()
    assert first.xs is not second.xs
    assert first.ys is not second.ys


def test_variadic_parameters_show_as_a_list_and_a_dict(lc: World) -> None:
    def f(*args: int, **kwargs: str) -> None:
        """F."""

    assert properties_of(lc, f) == {
        "args": {"type": "array", "items": {"type": "integer"}, "default": None},
        "kwargs": {
            "type": "object",
            "additionalProperties": {"type": "string"},
            "default": None,
        },
    }


def test_the_self_of_a_method_is_left_out(lc: World) -> None:
    class Shop:
        def sell(self, item: str) -> None:
            """Sell."""

        @classmethod
        def buy(cls, item: str) -> None:
            """Buy."""

    for function in (Shop.sell, Shop().sell, Shop.buy):
        assert list(properties_of(lc, function)) == ["item"]

    def loose(self: int, item: str) -> None:
        """Take."""

    loose.__qualname__ = "loose"
    assert list(properties_of(lc, loose)) == ["self", "item"]


def test_what_upstream_fills_with_its_callbacks_is_left_out(lc: World) -> None:
    def f(x: int, run_manager: Any = None, callbacks: Any = None) -> None:
        """F."""

    assert list(properties_of(lc, f)) == ["x"]
    assert list(properties_of(lc, f, filter_args=["x"])) == ["run_manager", "callbacks"]


def test_annotations_may_be_strings(lc: World) -> None:
    def f(x: "int", home: "Address", trees: "list[Address]") -> None:
        """F."""

    assert properties_of(lc, f) == {
        "x": {"type": "integer"},
        "home": {"$ref": "#/$defs/Address"},
        "trees": {"type": "array", "items": {"$ref": "#/$defs/Address"}},
    }


def test_a_name_in_a_schema_may_be_defined_later(
    lc: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Args(BaseModel):
        """Args."""

        home: "Later"  # noqa: F821

    made = lc.StructuredTool.from_function(lambda home: home.street, name="f", args_schema=Args)
    if is_new(lc):
        with pytest.raises(PydanticUndefinedAnnotation, match="^name 'Later' is not defined"):
            _ = made.args
    else:
        assert made.args == {}
    monkeypatch.setitem(globals(), "Later", Address)
    assert made.args == ({"home": {"$ref": "#/$defs/Address"}} if is_new(lc) else {})
    assert made.invoke({"home": {"street": "x"}}) == "x"


def test_a_name_that_cannot_be_found_is_an_error(lc: World) -> None:
    def f(x: "Nowhere") -> None:  # type: ignore[name-defined]  # noqa: F821
        """F."""

    with pytest.raises(NameError, match="^name 'Nowhere' is not defined$"):
        schema_of(lc, f)


def test_a_partial_needs_the_names_of_its_function(lc: World) -> None:
    def add(a: int, b: int = 1) -> int:
        """Add."""

    partial = functools.partial(add, b=2)
    with pytest.raises(TypeError) as failure:
        schema_of(lc, partial)
    assert str(failure.value) == f"{partial!r} is not a module, class, method, or function."
    functools.update_wrapper(partial, add)
    # Now it counts as the function itself, its own default forgotten.
    assert properties_of(lc, partial) == {
        "a": {"type": "integer"},
        "b": {"type": "integer", "default": 1},
    }


# What a docstring says


def described(lc: World, docstring: str, *, strict: bool = True) -> dict[str, Any]:
    """The schema of a function of `city` and `days` that has this docstring."""

    def forecast(city: str, days: Annotated[int, "how many"] = 1) -> str:
        return city

    forecast.__doc__ = docstring
    schema = schema_of(lc, forecast, parse_docstring=True, error_on_invalid_docstring=strict)
    texts = {name: schema.get("description") for name, schema in schema["properties"].items()}
    return {"description": schema.get("description"), **texts}


def test_a_google_docstring_describes_the_arguments(lc: World) -> None:
    docstring = """Forecast the weather.

    Of any city.

    Args:
        city (str): The city's name,
            such as 北京.
        days: The days.

    Returns:
        The weather.
    """
    assert described(lc, docstring) == {
        "description": "Forecast the weather. Of any city.",
        "city": "The city's name, such as 北京.",
        "days": "The days.",
    }


def test_an_argument_that_the_docstring_leaves_out_keeps_its_annotation(lc: World) -> None:
    docstring = "Forecast.\n\nReturns:\n    It.\n\nArgs:\n    city: The city."
    assert described(lc, docstring) == {
        "description": "Forecast.",
        "city": "The city.",
        "days": "how many",
    }


@pytest.mark.parametrize("docstring", ["", "Forecast.", "Forecast.\nArgs:\n    city: The city."])
def test_a_docstring_without_args_block_is_invalid(lc: World, docstring: str) -> None:
    with pytest.raises(ValueError, match="^Found invalid Google-Style docstring.$"):
        described(lc, docstring)
    assert described(lc, docstring, strict=False)["city"] is None


def test_a_docstring_that_describes_another_argument_is_an_error(lc: World) -> None:
    docstring = "Forecast.\n\nArgs:\n    town: The town."
    for strict in (True, False):
        with pytest.raises(ValueError) as failure:
            described(lc, docstring, strict=strict)
        assert str(failure.value) == "Arg town in docstring not found in function signature."


def test_a_function_without_parameters_needs_no_args_block(lc: World) -> None:
    def now() -> str:
        """Tell the time."""

    schema = schema_of(lc, now, parse_docstring=True, error_on_invalid_docstring=True)
    assert schema["description"] == "Tell the time."


def test_an_unparsed_docstring_is_the_description_without_its_indentation(lc: World) -> None:
    def now() -> str:
        """Tell the time.

        Args:
            none: at all
        """

    assert schema_of(lc, now)["description"] == "Tell the time.\n\nArgs:\n    none: at all"


# Injected arguments


def test_an_injected_argument_is_in_the_schema_unless_it_is_not_wanted(lc: World) -> None:
    def f(x: int, user: Annotated[str, lc.InjectedToolArg]) -> None:
        """F."""

    assert list(properties_of(lc, f)) == ["x", "user"]
    assert list(properties_of(lc, f, include_injected=False)) == ["x"]


def test_the_model_does_not_see_injected_arguments(lc: World) -> None:
    class Mine(lc.InjectedToolArg):
        """A mark of one's own."""

    @lc.tool
    def f(
        x: int,
        kind: Annotated[str, lc.InjectedToolArg],
        instance: Annotated[str, lc.InjectedToolArg()],
        own: Annotated[int, "text", Mine()],
        call: Annotated[str, lc.InjectedToolCallId],
        optional: Annotated[str | None, lc.InjectedToolArg] = None,
    ) -> None:
        """F."""

    assert list(f.args) == ["x"]
    assert list(f.tool_call_schema.model_json_schema()["properties"]) == ["x"]
    assert list(f.args_schema.model_json_schema()["properties"]) == [
        "x",
        "kind",
        "instance",
        "own",
        "call",
        "optional",
    ]
    assert f._injected_args_keys == {"kind", "instance", "own", "call", "optional"}


def test_a_mark_inside_optional_is_none(lc: World) -> None:
    @lc.tool
    def f(x: Optional[Annotated[str, lc.InjectedToolArg]]) -> None:  # noqa: UP045
        """F."""

    assert list(f.args) == ["x"]


def test_a_mark_in_a_string_annotation_is_found(lc: World) -> None:
    mark = lc.InjectedToolArg
    source = (
        "from __future__ import annotations\n"
        "def f(x: int, y: Annotated[str, Mark]) -> None:\n    'F.'\n"
    )
    names: dict[str, Any] = {"Annotated": Annotated, "Mark": mark}
    exec(compile(source, "<annotations>", "exec"), names)

    class Args(BaseModel):
        x: int

    made = lc.StructuredTool.from_function(names["f"], args_schema=Args)
    # Old releases look at no annotation that is a string.
    assert made._injected_args_keys == ({"y"} if is_new(lc) else set())


def test_a_schema_of_ones_own_hides_its_injected_fields(lc: World) -> None:
    class Args(BaseModel):
        """Args."""

        x: int
        user: Annotated[str, lc.InjectedToolArg]

    made = lc.StructuredTool.from_function(lambda x, user: x, name="f", args_schema=Args)
    assert list(made.args) == ["x"]
    assert made.get_input_schema() is Args


def test_a_reassigned_field_changes_what_the_model_sees(lc: World) -> None:
    @lc.tool
    def f(x: int) -> None:
        """F."""

    def seen() -> tuple[str, str, list[str]]:
        schema = f.tool_call_schema.model_json_schema()
        return schema["title"], schema["description"], list(schema["properties"])

    assert seen() == ("f", "F.", ["x"])
    f.name, f.description, f.args_schema = "g", "G.", Address
    assert seen() == ("g", "G.", ["street", "zip"])


# Differences on purpose


def test_a_parameter_called_args_is_kept_by_minilc() -> None:
    # Upstream, pydantic's deprecated decorator takes the name for itself.
    assert divergences.row("parameter-called-args")

    def f(args: str) -> str:
        """F."""
        return args

    assert list(LANGCHAIN.tool(f).args) == ["v__args"]
    assert MINILC.tool(f).invoke({"args": "x"}) == "x"


def test_a_field_keeps_its_alias_title_and_examples_in_minilc() -> None:
    assert divergences.row("details-of-a-field")

    class Args(BaseModel):
        """Args."""

        x: int = Field(gt=1, alias="from", title="an x", examples=[3])

    def f(x: Annotated[int, Field(gt=1, alias="from", title="an x", examples=[3])]) -> int:
        """F."""
        return x

    plain = {"x": {"title": "X", "type": "integer", "exclusiveMinimum": 1}}
    whole = {"title": "an x", "type": "integer", "exclusiveMinimum": 1, "examples": [3]}
    for options in ({}, {"args_schema": Args}):
        assert LANGCHAIN.tool(f, **options).args == plain
        assert MINILC.tool(f, **options).args == {"from": whole}
        assert MINILC.tool(f, **options).invoke({"from": 3}) == 3
    assert LANGCHAIN.tool(f).invoke({"x": 3}) == 3
    # Upstream shows a name that the given schema does not take.
    with pytest.raises(ValidationError, match="^1 validation error for Args\nfrom\n"):
        LANGCHAIN.tool(f, args_schema=Args).invoke({"x": 3})


def test_minilc_has_no_placeholder_for_positional_only_parameters() -> None:
    # Neither can call the function.
    assert divergences.row("positional-only")

    def f(x: int, /) -> int:
        """F."""
        return x

    assert list(LANGCHAIN.tool(f).args) == ["x", "v__positional_only"]
    assert list(MINILC.tool(f).args) == ["x"]
    for lc in (LANGCHAIN, MINILC):
        with pytest.raises(TypeError, match=re.escape("f() got some positional-only arguments")):
            lc.tool(f).invoke({"x": 1})


def test_one_annotation_that_cannot_be_resolved_is_an_error_in_minilc() -> None:
    assert divergences.row("unresolved-annotation")
    source = (
        "from __future__ import annotations\n"
        "def f(x: Nowhere, user: Annotated[str, Mark]) -> str:\n    'F.'\n    return user\n"
    )

    class Args(BaseModel):
        x: int

    def made(lc: World) -> Any:
        names: dict[str, Any] = {"Annotated": Annotated, "Mark": lc.InjectedToolArg}
        exec(compile(source, "<annotations>", "exec"), names)
        return lc.StructuredTool.from_function(names["f"], args_schema=Args)

    if is_new(LANGCHAIN):
        assert made(LANGCHAIN).invoke({"x": 1, "user": "小明"}) == "小明"
    with pytest.raises(NameError, match="^name 'Nowhere' is not defined$"):
        made(MINILC).invoke({"x": 1, "user": "小明"})


def test_minilc_takes_no_model_of_the_first_pydantic() -> None:
    assert divergences.row("pydantic-v1")
    from pydantic.v1 import BaseModel as FirstBaseModel

    class Args(FirstBaseModel):
        """Args."""

        x: int

    def f(x: int) -> int:
        return x

    assert LANGCHAIN.StructuredTool.from_function(f, args_schema=Args).invoke({"x": "1"}) == 1
    with pytest.raises(TypeError) as failure:
        MINILC.StructuredTool.from_function(f, description="F.", args_schema=Args)
    assert str(failure.value) == (
        f"args_schema must be a subclass of pydantic BaseModel or a JSON schema dict. Got: {Args}."
    )
