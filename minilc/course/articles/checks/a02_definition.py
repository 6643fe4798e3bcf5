"""Article A, layers 1 and 2: `@tool` and `StructuredTool.from_function`."""

from __future__ import annotations

import asyncio
import inspect
import threading
from typing import Any

from langchain.agents import create_agent
from langchain_core.prompts import PromptTemplate
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tools import BaseTool, StructuredTool, convert, tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from pydantic import BaseModel, Field

from minilc.course.articles.ledger import CHANGED, NUANCE, Seen, claim, section
from minilc.course.articles.support import (
    QUESTION,
    error,
    is_where_said,
    kinds,
    run,
    scripted,
    weather,
)


def parameters(made: Any) -> dict[str, Any]:
    """What a model is told of a tool's arguments."""
    told: dict[str, Any] = convert_to_openai_tool(made)["function"]["parameters"]
    return told


def look_up(query: str) -> str:
    """Look a word up."""
    return query


def undocumented(query: str) -> str:  # noqa: D103  # that is the point
    return query


def _number(prompt: Any) -> int:
    return int(prompt.text) + 1


def _plus_one() -> Any:
    return PromptTemplate.from_template("{x}") | RunnableLambda(_number)


section("Layer 1: @tool")


@claim(
    "A-15",
    says="tool() begins at line 977 of langchain_core/tools.py",
    layer="convert",
    really="it is in langchain_core/tools/convert.py",
    once="langchain-core 0.2.12",
    verdict=CHANGED,
)
def line_of_tool() -> Seen:
    return is_where_said("A-15")


@claim(
    "A-16",
    says="tool() takes four parameters: *args, return_direct, args_schema, infer_schema",
    layer="convert",
    really="it takes eleven; the first two are positional: name_or_callable, runnable",
    once="langchain-core 0.2.12",
    verdict=CHANGED,
)
def parameters_of_tool() -> Seen:
    names = list(inspect.signature(tool).parameters)
    said = ["args", "return_direct", "args_schema", "infer_schema"]
    return Seen(names == said, shows=names)


@claim(
    "A-17",
    says="by default return_direct is False, args_schema None, infer_schema True",
    layer="convert",
)
def defaults_of_tool() -> Seen:
    found = inspect.signature(tool).parameters
    shown = [found[name].default for name in ("return_direct", "args_schema", "infer_schema")]
    return Seen(shown == [False, None, True], shows=shown)


@claim(
    "A-18",
    says="*args makes three forms: @tool, @tool('name'), and a runnable with a name",
    layer="convert",
    really="all three work, and none of them through *args, which must stay empty",
    verdict=NUANCE,
)
def forms_of_tool() -> Seen:
    made = tool(look_up), tool("renamed")(look_up), tool("plus", _plus_one())
    names = [one.name for one in made] == ["look_up", "renamed", "plus"]
    extra = error(lambda: tool("plus", _plus_one(), "extra"))  # type: ignore[call-overload]
    return Seen(names and made[2].invoke({"x": "1"}) == 2, but="Too many" in extra, shows=extra)


@claim(
    "A-19",
    says="return_direct ends the agent's loop after the tool",
    layer="factory",
    really="create_agent's edge does it; a graph with tools_condition goes on",
    verdict=NUANCE,
)
def return_direct() -> Seen:
    direct = weather(return_direct=True)
    model = scripted()
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode([direct]))
    graph.add_edge(START, "model").add_edge("tools", "model")
    by_hand = graph.add_conditional_edges("model", tools_condition).compile().invoke(QUESTION)
    ended = kinds(run([direct])) == ["human", "ai", "tool"]
    return Seen(ended, but=kinds(by_hand["messages"])[-1] == "ai", shows=kinds(by_hand["messages"]))


class Args(BaseModel):
    """Search the manual."""

    query: str


@claim(
    "A-20",
    says="args_schema is a pydantic model that is written by hand",
    layer="structured",
    really="it may also be a JSON schema; then the arguments are not checked",
    verdict=NUANCE,
)
def args_schema() -> Seen:
    by_model = tool(args_schema=Args)(look_up)
    schema = {"type": "object", "properties": {"query": {"type": "string"}}}
    by_dict = tool(args_schema=schema)(look_up)
    checked = error(lambda: by_model.invoke({"query": 5})).startswith("ValidationError")
    return Seen(checked, but=by_dict.invoke({"query": 5}) == 5, shows=by_dict.args)


section("Layer 1: inside of @tool")


@claim(
    "A-21",
    says="its inner helpers are _make_with_name() and _make_tool()",
    layer="convert",
    really="they have other names; the outer one is _create_tool_factory()",
    once="langchain-core 0.2.12",
    verdict=CHANGED,
)
def helpers_of_tool() -> Seen:
    inner = [one.co_name for one in convert.tool.__code__.co_consts if inspect.iscode(one)]
    return Seen("_make_with_name" in inner, shows=inner)


@claim(
    "A-22",
    says="of a runnable: its input_schema, invoke_wrapper and ainvoke_wrapper",
    layer="convert",
)
def tool_of_a_runnable() -> Seen:
    made: Any = tool("plus", _plus_one())
    shown = made.func.__name__, made.coroutine.__name__, list(made.args)
    return Seen(shown == ("invoke_wrapper", "ainvoke_wrapper", ["x"]), shows=shown)


@claim("A-23", says="of an async function: it is the coroutine, func is None", layer="convert")
def tool_of_an_async_function() -> Seen:
    async def fetch(url: str) -> str:
        """Fetch a page."""
        return url

    made: Any = tool(fetch)
    awaited = asyncio.run(made.ainvoke({"url": "u"}))
    return Seen(made.func is None and made.coroutine is fetch and awaited == "u")


@claim("A-24", says="of a sync function: it is func, coroutine is None", layer="convert")
def tool_of_a_sync_function() -> Seen:
    def where_am_i() -> str:
        """Tell the thread."""
        return threading.current_thread().name

    made: Any = tool(where_am_i)
    here, there = made.invoke({}), asyncio.run(made.ainvoke({}))
    fits = made.func is where_am_i and made.coroutine is None
    return Seen(fits and here == threading.current_thread().name != there, shows=(here, there))


@claim(
    "A-25",
    says="with infer_schema or an args_schema it is a StructuredTool, else a Tool",
    layer="convert",
)
def which_class() -> Seen:
    options: list[dict[str, Any]] = [
        {},
        {"infer_schema": False},
        {"infer_schema": False, "args_schema": Args},
    ]
    shown = [type(tool(**one)(look_up)).__name__ for one in options]
    return Seen(shown == ["StructuredTool", "Tool", "StructuredTool"], shows=shown)


@claim(
    "A-26",
    says="without inference it falls back to the simple Tool",
    layer="convert",
    really="only if no args_schema is given either, and the function has a docstring",
    verdict=NUANCE,
)
def fallback() -> Seen:
    made: Any = tool(infer_schema=False)(look_up)
    with_schema: Any = tool(infer_schema=False, args_schema=Args)(look_up)
    refused = error(lambda: tool(infer_schema=False)(undocumented))
    nuance = type(with_schema).__name__ == "StructuredTool" and refused.startswith("ValueError")
    return Seen(type(made).__name__ == "Tool", but=nuance, shows=refused)


section("Layer 1: why a StructuredTool")


def _add() -> Any:
    @tool
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    return add


@claim(
    "A-27",
    says="of add the model gets name, description, and parameters a and b as integers",
    layer="function_calling",
    really="for OpenAI this is the inner part, inside of type and function",
    verdict=NUANCE,
)
def schema_of_add() -> Seen:
    whole = convert_to_openai_tool(_add())
    inner = {
        "name": "add",
        "description": "Add two numbers.",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
        },
    }
    outer = whole.keys() == {"type", "function"} and whole["type"] == "function"
    return Seen(whole.get("function", whole) == inner, but=outer, shows=whole)


@claim("A-28", says="without a schema the model can only give one text", layer="convert")
def one_text() -> Seen:
    @tool(infer_schema=False)
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    told = parameters(add)["properties"]
    two = error(lambda: add.invoke({"a": 1, "b": 2}))
    only = [one["type"] for one in told.values()] == ["string"]
    return Seen(only and two.startswith("ToolException: Too many arguments"), shows=told)


@claim(
    "A-29",
    says="@tool puts a BaseTool with name, description and schema in the function's place",
    layer="base",
)
def no_function_any_more() -> Seen:
    add = _add()
    called = error(lambda: add(1, 2))
    is_tool = isinstance(add, BaseTool) and bool(add.name and add.description and add.args)
    return Seen(is_tool and called.startswith("TypeError"), shows=called)


section("Layer 2: StructuredTool.from_function")


@claim(
    "A-30",
    says="from_function() is in langchain_core/tools.py, lines 901 to 974",
    layer="structured",
    really="it is in langchain_core/tools/structured.py",
    once="langchain-core 0.2.12",
    verdict=CHANGED,
)
def lines_of_from_function() -> Seen:
    return is_where_said("A-30")


@claim(
    "A-31",
    says="the source is func, else coroutine, else a ValueError",
    layer="structured",
)
def source_function() -> Seen:
    async def later(query: str) -> str:
        """Look a word up, later."""
        return query

    both = StructuredTool.from_function(look_up, later)
    second = StructuredTool.from_function(coroutine=later)
    neither = error(StructuredTool.from_function)
    text = "ValueError: Function and/or coroutine must be provided"
    return Seen((both.name, second.name, neither) == ("look_up", "later", text), shows=neither)


@claim("A-32", says="the name is the function's, if none is given", layer="structured")
def name_of_the_function() -> Seen:
    named = StructuredTool.from_function(look_up, name="search").name
    return Seen((StructuredTool.from_function(look_up).name, named) == ("look_up", "search"))


@claim(
    "A-33",
    says="an empty description gives way to the docstring",
    layer="structured",
    really="only None does; an empty text stays empty",
    once="langchain-core 0.2.12",
    verdict=CHANGED,
)
def empty_description() -> Seen:
    made = StructuredTool.from_function(look_up, description="")
    return Seen(made.description == "Look a word up.", shows=repr(made.description))


class Undocumented(BaseModel):  # noqa: D101  # that is the point
    query: str


@claim(
    "A-34",
    says="without a docstring the description is the args_schema's docstring",
    layer="structured",
    really="a JSON schema gives its description; a model without a docstring gives none",
    verdict=NUANCE,
)
def description_of_the_schema() -> Seen:
    made = tool(args_schema=Args)(undocumented).description
    schema = {"type": "object", "description": "Of the dict.", "properties": {}}
    of_dict = tool(args_schema=schema)(undocumented).description
    none = error(lambda: tool(args_schema=Undocumented)(undocumented))
    nuance = of_dict == "Of the dict." and "docstring" in none
    return Seen(made == "Search the manual.", but=nuance, shows=(made, of_dict, none))


@claim(
    "A-35",
    says="with no description at all it is a ValueError about the docstring",
    layer="structured",
)
def no_description() -> Seen:
    text = "ValueError: Function must have a docstring if description not provided."
    told = [
        error(lambda: tool(undocumented)),
        error(lambda: StructuredTool.from_function(undocumented)),
        error(lambda: ToolNode([undocumented])),
        error(lambda: create_agent(scripted(), [undocumented])),
    ]
    return Seen(told == [text] * 4, shows=told)


@claim(
    "A-36",
    says="a missing schema is inferred from the function, after the docstring was checked",
    layer="schema",
    really="it is inferred before, and without what the run fills in",
    verdict=NUANCE,
)
def inferred_schema() -> Seen:
    def search(query: str, config: RunnableConfig) -> str:
        """Search."""
        return query

    fields = list(StructuredTool.from_function(search).args_schema.model_fields)  # type: ignore

    def unknown(query: UnknownType) -> str:  # type: ignore[name-defined]  # noqa: F821
        return str(query)

    # Neither docstring nor a type that can be resolved: the first check is the one that raises.
    first = error(lambda: StructuredTool.from_function(unknown))
    return Seen("query" in fields, but=fields == ["query"] and "NameError" in first, shows=first)


@claim(
    "A-37",
    says="it returns a tool of name, func, coroutine, args_schema, description, return_direct",
    layer="structured",
    really="there is response_format too, and whatever else a BaseTool has",
    verdict=NUANCE,
)
def fields_of_the_tool() -> Seen:
    options: dict[str, Any] = {"return_direct": True, "handle_tool_error": True, "tags": ["t"]}
    made = StructuredTool.from_function(look_up, **options)
    said = {"name", "func", "coroutine", "args_schema", "description", "return_direct"}
    has = said <= StructuredTool.model_fields.keys() and made.return_direct
    more = (made.response_format, made.handle_tool_error, made.tags) == ("content", True, ["t"])
    return Seen(has, but=more, shows=sorted(StructuredTool.model_fields))


section("Layer 2: what goes wrong")


@claim("A-38", says="@tool('weather_search') gives the tool that name", layer="convert")
def renamed() -> Seen:
    made = tool("weather_search")(look_up)
    told = convert_to_openai_tool(made)["function"]["name"]
    known = list(ToolNode([made]).tools_by_name)
    return Seen((made.name, told, known) == ("weather_search", told, [told]), shows=known)


@claim(
    "A-39",
    says="a parameter without a default is required, one with a default is not",
    layer="schema",
)
def required_and_optional() -> Seen:
    @tool
    def query_order(order_id: str, include_items: bool = False) -> str:
        """Query an order by its id."""
        return order_id

    told = parameters(query_order)
    items = told["properties"]["include_items"] == {"type": "boolean", "default": False}
    return Seen(told["required"] == ["order_id"] and items, shows=told)


@claim("A-40", says="of payload: dict the model learns nothing but its name", layer="schema")
def bare_dict() -> Seen:
    @tool
    def query_order(payload: dict[str, Any]) -> str:
        """Query an order."""
        return "paid"

    (told,) = parameters(query_order)["properties"].values()
    return Seen("properties" not in told and "description" not in told, shows=told)


@claim("A-41", says="descriptions of Field reach the model's schema", layer="schema")
def described_fields() -> Seen:
    class QueryOrder(BaseModel):
        order_id: str = Field(description="such as O202607070001")
        include_items: bool = Field(default=False, description="whether to list the items")

    @tool(args_schema=QueryOrder)
    def query_order(order_id: str, include_items: bool = False) -> str:
        """Query an order by its id."""
        return order_id

    told = parameters(query_order)["properties"]
    shown = [one.get("description") for one in told.values()]
    return Seen(shown == ["such as O202607070001", "whether to list the items"], shows=shown)
