"""What was measured in real LangChain, as tests in both worlds: the values stand here.

Without `from __future__ import annotations`, so that annotations may name a world's classes.
"""

import datetime
import decimal
import itertools
import json
import re
from collections.abc import Callable
from typing import Annotated, Any, Optional, Union

import pytest
from pydantic import BaseModel, Field, ValidationError
from pydantic.v1 import BaseModel as V1Model
from pydantic.v1 import Field as V1Field

from minilc.course.behaviours import active
from minilc.course.worlds import LANGCHAIN, MINILC, World


def newest(lc: World, behaviour: str) -> bool:
    """Whether this world does the new thing: minilc always, LangChain since the row's release."""
    return lc.name == "minilc" or active(behaviour)


def parameters(lc: World, tool: Any, **options: Any) -> dict[str, Any]:
    """What a provider is told about the arguments of a tool."""
    return lc.convert_to_openai_tool(tool, **options)["function"]["parameters"]


def first_line(error: pytest.ExceptionInfo[BaseException]) -> str:
    return str(error.value).split("\n")[0]


def call(name: str, args: dict[str, Any], id: str = "c1") -> dict[str, Any]:
    return {"name": name, "args": args, "id": id, "type": "tool_call"}


# Tools


def test_infer_schema_false_keeps_the_description(lc: World) -> None:
    @lc.tool(infer_schema=False, description="Finds the shelf number of a book title.")
    def shelf(title: str) -> str:
        """Not this."""
        return "B7"

    @lc.tool(infer_schema=False)
    def shelf_doc(title: str) -> str:
        """Finds the shelf number from its docstring."""
        return "B7"

    assert type(shelf).__name__ == "Tool"
    assert shelf.args == {"tool_input": {"type": "string"}}
    if newest(lc, "simple-tool-description"):
        assert shelf.description == "Finds the shelf number of a book title."
        assert shelf_doc.description == "Finds the shelf number from its docstring."
    else:
        assert shelf.description == "shelf tool"
        assert shelf_doc.description == "shelf_doc tool"


def renew(book_id: str) -> str:
    """Renew a loan.

    Args:
        book: The number, under a name that no parameter has.
    """
    return "ok"


def renew_briefly(book_id: str) -> str:
    """Renew a loan, with nothing said about its arguments."""
    return "ok"


@pytest.mark.parametrize("shape", ["decorator", "from_function"])
def test_parse_docstring_refuses_an_argument_that_is_not_there(lc: World, shape: str) -> None:
    with pytest.raises(ValueError) as error:
        if shape == "decorator":
            lc.tool(parse_docstring=True)(renew)
        else:
            lc.StructuredTool.from_function(renew, parse_docstring=True)

    assert str(error.value) == "Arg book in docstring not found in function signature."


def test_parse_docstring_without_an_args_section(lc: World) -> None:
    with pytest.raises(ValueError) as error:
        lc.tool(parse_docstring=True)(renew_briefly)
    made = lc.StructuredTool.from_function(renew_briefly, parse_docstring=True)

    assert str(error.value) == "Found invalid Google-Style docstring."
    assert made.args == {"book_id": {"title": "Book Id", "type": "string"}}


def test_a_raises_section_leaks_into_the_description(lc: World) -> None:
    @lc.tool(parse_docstring=True)
    def weigh(parcel_id: str) -> str:
        """Weigh a parcel.

        Raises:
            LookupError: nothing that a model should read.

        Args:
            parcel_id: The parcel label.

        Returns:
            The weight in grams.
        """
        return "120"

    assert weigh.description == (
        "Weigh a parcel. Raises:\n    LookupError: nothing that a model should read."
    )
    assert weigh.args == {
        "parcel_id": {"description": "The parcel label.", "title": "Parcel Id", "type": "string"}
    }


def test_the_args_section_stays_in_the_description_unless_it_is_parsed(lc: World) -> None:
    def loan(book_id: str, days: int = 14) -> str:
        """Lend a book.

        Args:
            book_id: Catalogue number on the spine.
            days: Length of the loan.
        """
        return "ok"

    whole = lc.convert_to_openai_tool(lc.tool(loan))["function"]
    parsed = lc.convert_to_openai_tool(lc.tool(parse_docstring=True)(loan))["function"]

    assert whole["description"] == (
        "Lend a book.\n\n        Args:\n            book_id: Catalogue number on the spine.\n"
        "            days: Length of the loan."
    )
    assert [p.get("description") for p in whole["parameters"]["properties"].values()] == [None] * 2
    assert parsed["description"] == "Lend a book."
    assert [p.get("description") for p in parsed["parameters"]["properties"].values()] == [
        "Catalogue number on the spine.",
        "Length of the loan.",
    ]


# Schemas


def test_optional_parameters_become_any_of_with_null(lc: World) -> None:
    @lc.tool
    def find(
        title: str,
        author: Optional[str] = None,  # noqa: UP045 - as people write it
        year: int | None = None,
        must: Optional[str] = "x",  # noqa: UP045
        bare: Optional[int] = ...,  # type: ignore[assignment]  # noqa: UP045
    ) -> str:
        """Find a book."""
        return f"{title}|{author}|{year}|{must}"

    told = parameters(lc, find)
    text = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    number = {"anyOf": [{"type": "integer"}, {"type": "null"}]}

    assert told["properties"] == {
        "title": {"type": "string"},
        "author": text | {"default": None},
        "year": number | {"default": None},
        "must": text | {"default": "x"},
        "bare": number,
    }
    assert told["required"] == ["title", "bare"]
    assert find.invoke({"title": "t", "author": None, "bare": None}) == "t|None|None|x"


def test_bare_containers_and_missing_annotations(lc: World) -> None:
    @lc.tool
    def save(
        payload: dict,
        tags: list,
        pair: tuple[int, str],
        anything: Any,
        untyped,
        typed: list[str] = [],  # noqa: B006 - what people write
    ) -> str:
        """Save a record."""
        return f"{payload} {tags} {pair!r} {untyped!r}"

    told = parameters(lc, save)
    given = {"payload": {"k": 1}, "tags": ["a", 2], "pair": [1, "b"], "anything": None}

    assert told["properties"] == {
        "payload": {"additionalProperties": True, "type": "object"},
        "tags": {"items": {}, "type": "array"},
        "pair": {
            "maxItems": 2,
            "minItems": 2,
            "prefixItems": [{"type": "integer"}, {"type": "string"}],
            "type": "array",
        },
        "anything": {},
        "untyped": {},
        "typed": {"default": [], "items": {"type": "string"}, "type": "array"},
    }
    assert told["required"] == ["payload", "tags", "pair", "anything", "untyped"]
    assert save.invoke(given | {"untyped": {"z": 1}}) == "{'k': 1} ['a', 2] (1, 'b') {'z': 1}"


def test_a_json_schema_is_not_checked(lc: World) -> None:
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "default": 3}},
        "required": ["city"],
    }
    made = lc.tool("forecast", args_schema=schema)(forecast)

    assert made.invoke({"city": 5, "days": "many"}) == "5 'many'"
    assert made.invoke({"city": "Oslo"}) == "'Oslo' 1"
    with pytest.raises(TypeError) as missing:
        made.invoke({"days": 2})
    with pytest.raises(TypeError) as unknown:
        made.invoke({"city": "Oslo", "unit": "C"})
    assert str(missing.value) == "forecast() missing 1 required positional argument: 'city'"
    assert str(unknown.value) == "forecast() got an unexpected keyword argument 'unit'"


def forecast(city: str, days: int = 1) -> str:
    """Weather forecast."""
    return f"{city!r} {days!r}"


class OldArgs(V1Model):
    city: str = V1Field(description="City name")


class OldAddress(V1Model):
    street: str


class NewBox(BaseModel):
    size: int


def pack(to: OldAddress, box: NewBox) -> str:
    """Pack."""
    return "ok"


# minilc does not know pydantic 1: the row "pydantic-v1".


def test_models_of_both_pydantics_do_not_mix_in_langchain() -> None:
    with pytest.raises(NotImplementedError) as error:
        LANGCHAIN.tool(pack)

    assert re.sub(r" at 0x[0-9a-f]+", "", str(error.value)) == (
        "Function <function pack> contains a mix of Pydantic v1 and v2 annotations. Only one "
        "version of Pydantic annotations per function is supported."
    )


def test_a_model_of_pydantic_1_as_args_schema(lc: World) -> None:
    def tide(city: str) -> str:
        """Tide table."""
        return city

    if lc is MINILC:
        with pytest.raises(TypeError) as error:
            lc.tool(args_schema=OldArgs)(tide)
        assert str(error.value) == (
            "args_schema must be a subclass of pydantic BaseModel or a JSON schema dict. "
            f"Got: {OldArgs}."
        )
        return
    made = lc.tool(args_schema=OldArgs)(tide)
    city = {"description": "City name", "type": "string"}
    assert parameters(lc, made) == {
        "type": "object",
        "properties": {"city": city},
        "required": ["city"],
    }
    assert made.args == {"city": city | {"title": "City"}}
    assert made.invoke({"city": "Oslo"}) == "Oslo"


def test_a_model_of_pydantic_1_in_a_signature_in_langchain() -> None:
    @LANGCHAIN.tool
    def deliver(to: OldAddress, count: int) -> str:
        """Deliver parcels."""
        return f"{type(to).__name__} {count!r}"

    assert deliver.invoke({"to": {"street": "s"}, "count": "2"}) == "OldAddress 2"


def test_strict_requires_all_and_forbids_others(lc: World) -> None:
    @lc.tool
    def search(text: str, limit: int = 5, lang: str | None = None, filters: dict = {}) -> str:  # noqa: B006
        """Search the catalogue."""
        return "ok"

    @lc.tool
    def ping() -> str:
        """Check that the service answers."""
        return "pong"

    properties = {
        "text": {"type": "string"},
        "limit": {"default": 5, "type": "integer"},
        "lang": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        "filters": {"additionalProperties": True, "default": {}, "type": "object"},
    }
    closed = properties | {
        "filters": {"additionalProperties": False, "default": {}, "type": "object"}
    }

    assert parameters(lc, search) == {
        "properties": properties,
        "required": ["text"],
        "type": "object",
    }
    assert "strict" not in lc.convert_to_openai_tool(search)["function"]
    assert parameters(lc, search, strict=True) == {
        "properties": closed,
        "required": ["text", "limit", "lang", "filters"],
        "type": "object",
        "additionalProperties": False,
    }
    assert lc.convert_to_openai_tool(search, strict=True)["function"]["strict"] is True
    assert parameters(lc, ping) == {"properties": {}, "type": "object"}
    assert parameters(lc, ping, strict=True) == {
        "properties": {},
        "type": "object",
        "additionalProperties": False,
    }


def test_the_forms_of_a_description(lc: World) -> None:
    @lc.tool
    def book_room(
        room: Annotated[str, "Room code, e.g. A12"],
        people: Annotated[int, Field(description="How many people", ge=1)],
        note: str = Field("none", description="Free text"),
        floor: int = 1,
    ) -> str:
        """Book a room."""
        return f"{room}/{people}/{note!r}/{floor}"

    with pytest.raises(ValidationError) as error:
        book_room.invoke({"room": "A12", "people": 0})

    assert book_room.args == {
        "room": {"description": "Room code, e.g. A12", "title": "Room", "type": "string"},
        "people": {
            "description": "How many people",
            "minimum": 1,
            "title": "People",
            "type": "integer",
        },
        "note": {
            "default": "none",
            "description": "Free text",
            "title": "Note",
            "type": "string",
        },
        "floor": {"default": 1, "title": "Floor", "type": "integer"},
    }
    assert book_room.invoke({"room": "A12", "people": 2}) == "A12/2/'none'/1"
    assert first_line(error) == "1 validation error for book_room"
    assert book_room.func("A12", 2)[:40] == "A12/2/FieldInfo(annotation=NoneType, req"


def test_arguments_are_coerced_as_pydantic_does(lc: World) -> None:
    @lc.tool
    def echo(n: int, u: Union[int, str], flag: bool = False, amount: float = 0.0) -> str:  # noqa: UP007
        """Echo arguments with their types."""
        return f"n={n!r} u={u!r} flag={flag!r} amount={amount!r}"

    def reason(given: dict[str, Any]) -> str:
        with pytest.raises(ValidationError) as error:
            echo.invoke(given)
        return str(error.value).split("\n")[2].split(" [")[0].strip()

    assert echo.invoke({"n": "5", "u": "5", "flag": "yes", "amount": "1.5"}) == (
        "n=5 u='5' flag=True amount=1.5"
    )
    assert echo.invoke({"n": 5, "u": 5}) == "n=5 u=5 flag=False amount=0.0"
    assert echo.invoke({"n": 5.0, "u": 1}) == "n=5 u=1 flag=False amount=0.0"
    assert reason({"n": 5.5, "u": 1}) == (
        "Input should be a valid integer, got a number with a fractional part"
    )
    assert reason({"n": 1, "u": None}) == "Input should be a valid integer"
    assert echo.args["u"] == {"anyOf": [{"type": "integer"}, {"type": "string"}], "title": "U"}


class Line(BaseModel):
    """One line of an order."""

    sku: str = Field(description="Stock code")
    qty: int = 1


def test_nested_models_are_references_for_us_and_inlined_for_the_provider(lc: World) -> None:
    @lc.tool
    def order(first: Line, others: list[Line], by_name: dict[str, Line]) -> str:
        """Place an order."""
        kinds = [type(line).__name__ for line in (first, others[0], by_name["x"])]
        return f"{' '.join(kinds)} qty={first.qty}"

    reference = {"$ref": "#/$defs/Line"}
    inlined = {
        "description": "One line of an order.",
        "properties": {
            "sku": {"description": "Stock code", "type": "string"},
            "qty": {"default": 1, "type": "integer"},
        },
        "required": ["sku"],
        "type": "object",
    }

    assert order.args == {
        "first": reference,
        "others": {"items": reference, "title": "Others", "type": "array"},
        "by_name": {"additionalProperties": reference, "title": "By Name", "type": "object"},
    }
    assert parameters(lc, order)["properties"] == {
        "first": inlined,
        "others": {"items": inlined, "type": "array"},
        "by_name": {"additionalProperties": inlined, "type": "object"},
    }
    given = {
        "first": {"sku": "a"},
        "others": [{"sku": "b", "qty": "3"}],
        "by_name": {"x": {"sku": "c"}},
    }
    assert order.invoke(given) == "Line Line Line qty=1"


def test_defaults_and_factories_of_an_args_schema(lc: World) -> None:
    class ListArgs(BaseModel):
        """List parcels."""

        depot: str
        page: int = Field(default=1, description="Page number")
        tags: list[str] = Field(default_factory=list)
        after: str | None = None

    @lc.tool(args_schema=ListArgs)
    def list_parcels(depot: str, page: int, tags: list, after: str | None) -> str:
        """List parcels."""
        return f"{depot} page={page} tags={tags} after={after}"

    told = parameters(lc, list_parcels)

    assert ListArgs.model_json_schema()["required"] == ["depot"]
    assert told["required"] == ["depot"]
    assert told["properties"] == {
        "depot": {"type": "string"},
        "page": {"default": 1, "description": "Page number", "type": "integer"},
        "tags": {"items": {"type": "string"}, "type": "array"},
        "after": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
    }
    assert list_parcels.invoke({"depot": "north"}) == "north page=1 tags=[] after=None"


# ToolNode and injection


@pytest.mark.parametrize("name", ["get_tim", "Get_Time", "functions.get_time"])
def test_a_name_that_nobody_registered(lc: World, invoke: Callable[..., Any], name: str) -> None:
    @lc.tool
    def get_time(city: str) -> str:
        """Local time of a city."""
        return "10:00"

    @lc.tool
    def get_tide(city: str) -> str:
        """Tide of a city."""
        return "high"

    asked = lc.AIMessage("", tool_calls=[call(name, {"city": "Oslo"})])
    agent = lc.create_agent(lc.ScriptedChatModel([asked, "done"]), [get_time, get_tide])
    answer = invoke(agent, {"messages": [("user", "time?")]})["messages"][-2]

    assert (answer.type, answer.status, answer.name, answer.tool_call_id, answer.content) == (
        "tool",
        "error",
        name,
        "c1",
        f"Error: {name} is not a valid tool, try one of [get_time, get_tide].",
    )


@pytest.mark.parametrize("kind", ["runtime", "state", "json"])
def test_injection_stands_beside_an_args_schema(
    lc: World, invoke: Callable[..., Any], kind: str
) -> None:
    class WeatherArgs(BaseModel):
        city: str = Field(description="City name")

    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}

    def by_runtime(city: str, runtime: lc.ToolRuntime) -> str:
        """Weather."""
        return f"{city} {sorted(runtime.state)}"

    def by_state(city: str, state: Annotated[dict, lc.InjectedState]) -> str:
        """Weather."""
        return f"{city} {sorted(state)}"

    made = {
        "runtime": lambda: lc.tool("weather", args_schema=WeatherArgs)(by_runtime),
        "state": lambda: lc.tool("weather", args_schema=WeatherArgs)(by_state),
        "json": lambda: lc.tool("weather", args_schema=schema)(by_runtime),
    }[kind]()
    asked = lc.AIMessage("", tool_calls=[call("weather", {"city": "Oslo"})])
    agent = lc.create_agent(lc.ScriptedChatModel([asked, "done"]), [made])

    answer = invoke(agent, {"messages": [("user", "go")]})["messages"][-2]
    assert answer.content == "Oslo ['messages']"


class Partial:
    """Four ways for a call to reach a ToolNode in a graph whose state has one more field."""

    @staticmethod
    def run(lc: World, tool: Any, route: str) -> str:
        class State(lc.MessagesState):
            count_letters: bool

        node = lc.ToolNode([tool])
        asked = call(tool.name, {"text": "tea"})

        def with_context(state: Any) -> Any:
            payload = {"__type": "tool_call_with_context", "tool_call": asked, "state": state}
            return [lc.Send("tools", payload)]

        builder = lc.StateGraph(State)
        builder.add_node("model", lambda s: {"messages": [lc.AIMessage("", tool_calls=[asked])]})
        builder.add_edge(lc.START, "model")
        if route == "by hand":
            builder.add_node(
                "tools", lambda s, config: node.invoke({"messages": s["messages"]}, config)
            )
        else:
            builder.add_node("tools", node)
        if route == "send":
            builder.add_conditional_edges("model", lambda s: [lc.Send("tools", [asked])], ["tools"])
        elif route == "send with context":
            builder.add_conditional_edges("model", with_context, ["tools"])
        else:
            builder.add_edge("model", "tools")
        state = {"messages": [("user", "go")], "count_letters": True}
        return builder.compile().invoke(state)["messages"][-1].content


ROUTES = ["edge", "by hand", "send", "send with context"]


@pytest.mark.parametrize("route", ROUTES)
def test_how_much_of_the_state_a_tool_sees(lc: World, route: str) -> None:
    @lc.tool
    def count(text: str, runtime: lc.ToolRuntime[Any, Any]) -> str:
        """Count letters when the flag in state allows it."""
        seen = runtime.state
        return str(sorted(seen) if isinstance(seen, dict) else type(seen).__name__)

    whole = "['count_letters', 'messages']"
    expected = {
        "edge": whole,
        "by hand": "['messages']",
        "send": whole if newest(lc, "state-of-bare-calls") else "list",
        "send with context": whole,
    }
    assert Partial.run(lc, count, route) == expected[route]


@pytest.mark.parametrize("route", ROUTES)
def test_whether_a_tool_gets_a_field_of_the_state(lc: World, route: str) -> None:
    @lc.tool
    def count_field(text: str, flag: Annotated[bool, lc.InjectedState("count_letters")]) -> str:
        """Count letters when the flag in state allows it."""
        return f"flag: {flag}"

    if route == "by hand":
        with pytest.raises(KeyError) as error:
            Partial.run(lc, count_field, route)
        assert str(error.value) == "'count_letters'"
    elif route == "send" and not newest(lc, "state-of-bare-calls"):
        with pytest.raises(ValueError) as refused:
            Partial.run(lc, count_field, route)
        assert str(refused.value) == (
            "Invalid input to ToolNode. Tool count_field requires graph state dict as input. "
            "State should contain fields count_letters."
        )
    else:
        assert Partial.run(lc, count_field, route) == "flag: True"


# Results


class Order(BaseModel):
    id: str = "o1"


DAY = datetime.date(2024, 5, 1)
TEXT_BLOCK = {"type": "text", "text": "hi"}
# What a function returns -> the content after a ToolNode, and after tool.invoke if it differs.
RESULTS: dict[str, tuple[Any, ...]] = {
    "dict with Chinese": ({"城市": "北京", "温度": 25}, '{"城市": "北京", "温度": 25}'),
    "None": (None, "null"),
    "int": (7, "7"),
    "bool": (True, "true"),
    "empty string": ("", ""),
    "empty list": ([], []),
    "list of str": (["a", "b"], '["a", "b"]', ["a", "b"]),
    "list of dict": ([{"id": 1}, {"id": 2}], '[{"id": 1}, {"id": 2}]'),
    "list of text blocks": ([TEXT_BLOCK], [TEXT_BLOCK]),
    "tuple of str": (("a", "b"), '["a", "b"]', ["a", "b"]),
    "tuple of numbers": ((1, 2), "[1, 2]"),
    "set": ({1}, "{1}"),
    "bytes": (b"ab", "b'ab'"),
    "date": (DAY, "2024-05-01"),
    "dict with date": ({"d": DAY, "n": "北"}, "{'d': datetime.date(2024, 5, 1), 'n': '北'}"),
    "Decimal": (decimal.Decimal("1.50"), "1.50"),
    "pydantic model": (Order(), "id='o1'"),
    "nan": (float("nan"), "NaN"),
}


@pytest.mark.parametrize("kind", RESULTS)
def test_what_becomes_of_a_return_value(lc: World, invoke: Callable[..., Any], kind: str) -> None:
    value, in_node, *others = RESULTS[kind]

    @lc.tool
    def give() -> Any:
        """Return a value."""
        return value

    builder = lc.StateGraph(lc.MessagesState)
    builder.add_node("tools", lc.ToolNode([give]))
    builder.add_edge(lc.START, "tools")
    asked = call("give", {})
    message = lc.AIMessage("", tool_calls=[asked])
    state = invoke(builder.compile(), {"messages": [message]})

    by_itself = others[0] if others else in_node
    if kind == "tuple of str" and not newest(lc, "tuple-content"):
        by_itself = in_node
    assert invoke(give, asked).content == by_itself
    assert state["messages"][-1].content == in_node


# The limit


def endless(lc: World) -> tuple[Any, Any, list[int]]:
    """A model that asks for another round for ever, the tool that it asks for, and its runs."""
    ran: list[int] = []
    numbers = itertools.count()

    @lc.tool
    def again(n: int) -> str:
        """Ask for another round."""
        ran.append(n)
        return "again"

    def answer(messages: Any) -> Any:
        n = next(numbers)
        return lc.AIMessage("", tool_calls=[call("again", {"n": n}, f"c{n}")])

    return lc.ScriptedChatModel(answer), again, ran


def by_hand(lc: World, model: Any, tool: Any) -> Any:
    builder = lc.StateGraph(lc.MessagesState)
    builder.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    builder.add_node("tools", lc.ToolNode([tool]))
    builder.add_edge(lc.START, "model")
    builder.add_conditional_edges("model", lc.tools_condition)
    builder.add_edge("tools", "model")
    return builder.compile()


@pytest.mark.parametrize("shape, limit", [("agent", 6), ("by hand", 6), ("by hand", 7)])
def test_the_limit_counts_steps(lc: World, shape: str, limit: int) -> None:
    model, tool, ran = endless(lc)
    graph = lc.create_agent(model, [tool]) if shape == "agent" else by_hand(lc, model, tool)

    with pytest.raises(lc.GraphRecursionError) as error:
        graph.invoke({"messages": [("user", "go")]}, {"recursion_limit": limit})

    assert ran == [0, 1, 2]
    assert first_line(error) == (
        f"Recursion limit of {limit} reached without hitting a stop condition. "
        "You can increase the limit by setting the `recursion_limit` config key."
    )


@pytest.mark.parametrize("shape, limit", [("agent", 9999), ("by hand", 25)])
def test_the_limit_that_a_tool_reads_in_its_config(lc: World, shape: str, limit: int) -> None:
    @lc.tool
    def read(runtime: lc.ToolRuntime) -> str:
        """Read the limit."""
        return json.dumps(runtime.config["recursion_limit"])

    model = lc.ScriptedChatModel([lc.AIMessage("", tool_calls=[call("read", {})]), "done"])
    graph = lc.create_agent(model, [read]) if shape == "agent" else by_hand(lc, model, read)

    state = graph.invoke({"messages": [("user", "go")]})
    assert state["messages"][-2].content == str(limit)
