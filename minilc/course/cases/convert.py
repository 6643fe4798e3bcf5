"""Layer 5, convert: `@tool` in all the shapes in which it may be written."""

from typing import Annotated, Any

from pydantic import BaseModel, Field

from minilc.course.cases import case
from minilc.course.cases.support import call
from minilc.course.worlds import World

LAYER = "convert"


class Question(BaseModel):
    text: str
    times: int = 2


def get_weather(city: str) -> str:
    """Get current weather for a city."""
    return f"{city} is sunny, 28C"


async def get_weather_later(city: str) -> str:
    """Get current weather for a city, awaited."""
    return f"{city} is sunny, 28C"


def undocumented(city: str) -> str:
    return city


def shown(tool: Any) -> dict[str, Any]:
    """Class, name, description and arguments of a tool."""
    return {
        "class": type(tool).__name__,
        "name": tool.name,
        "description": tool.description,
        "args": tool.args,
    }


def graph(lc: World) -> Any:
    """A compiled graph: an object of both worlds that can be invoked and is no function."""

    def answer(state: Question) -> dict[str, str]:
        return {"text": state.text * state.times}

    builder = lc.StateGraph(Question)
    builder.add_node("answer", answer)
    builder.add_edge(lc.START, "answer")
    return builder.compile()


# The shapes


@case(LAYER, "@tool makes a StructuredTool")
def bare(lc: World) -> Any:
    made = lc.tool(get_weather)
    return shown(made), made.invoke({"city": "北京"})


@case(LAYER, "@tool() is the same with brackets")
def with_brackets(lc: World) -> Any:
    return shown(lc.tool()(get_weather))


@case(LAYER, "@tool('name') renames the tool")
def with_name(lc: World) -> Any:
    return shown(lc.tool("weather_search")(get_weather))


@case(LAYER, "tool('name', function) is the same without the decorator")
def with_name_and_function(lc: World) -> Any:
    return shown(lc.tool("weather_search", get_weather))


@case(LAYER, "a name is not checked: spaces and Chinese are taken")
def any_name(lc: World) -> Any:
    return lc.tool("搜索 天气!")(get_weather).name


@case(LAYER, "the result is a tool and no longer a function")
def no_function(lc: World) -> Any:
    return lc.tool(get_weather)("北京")


@case(LAYER, "description= wins over the docstring")
def with_description(lc: World) -> Any:
    return shown(lc.tool(description="查天气")(get_weather))


@case(LAYER, "description= makes the docstring unnecessary")
def description_instead(lc: World) -> Any:
    return shown(lc.tool("w", description="查天气")(undocumented))


@case(LAYER, "no docstring and no description is an error")
def no_docstring(lc: World) -> Any:
    return lc.tool(undocumented)


@case(LAYER, "return_direct, response_format and extras are kept")
def options(lc: World) -> Any:
    made = lc.tool(
        return_direct=True, response_format="content_and_artifact", extras={"defer_loading": True}
    )(get_weather)
    return made.return_direct, made.response_format, made.extras


@case(LAYER, "args_schema= replaces the signature, the docstring stays the description")
def with_schema(lc: World) -> Any:
    class WeatherArgs(BaseModel):
        """Not the description."""

        city: str = Field(description="城市名，例如：北京", min_length=2)

    made = lc.tool(args_schema=WeatherArgs)(get_weather)
    return shown(made), made.invoke({"city": "北京"})


@case(LAYER, "parse_docstring moves the Args section to the parameters")
def with_parsed_docstring(lc: World) -> Any:
    @lc.tool("loan_book", parse_docstring=True)
    def loan(book_id: str, days: int = 14) -> str:
        """Lend a book.

        Args:
            book_id: Catalogue number on the spine.
            days: Length of the loan.
        """
        return ""

    return shown(loan)


@case(LAYER, "without it the whole docstring is the description")
def with_whole_docstring(lc: World) -> Any:
    @lc.tool
    def loan(book_id: str, days: int = 14) -> str:
        """Lend a book.

        Args:
            book_id: Catalogue number on the spine.
            days: Length of the loan.
        """
        return ""

    return shown(loan)


@case(LAYER, "an async function becomes the coroutine")
async def async_function(lc: World) -> Any:
    made = lc.tool(get_weather_later)
    return shown(made), made.func, await made.ainvoke(call("x", {"city": "北京"}))


@case(LAYER, "an async function cannot be invoked without awaiting")
def async_function_invoked(lc: World) -> Any:
    return lc.tool(get_weather_later).invoke({"city": "北京"})


@case(LAYER, "a lambda needs a description only")
def a_lambda(lc: World) -> Any:
    return shown(lc.tool("echo", lambda x: x, description="Echo."))


@case(LAYER, "a static method is a function")
def static_method(lc: World) -> Any:
    class Shop:
        @lc.tool
        @staticmethod
        def price(item: str) -> str:
            """Price of an item."""
            return f"{item}: 1"

    return shown(Shop.price), Shop.price.invoke({"item": "茶"})


# Without a schema


@case(LAYER, "infer_schema=False makes a simple Tool", behaviour="simple-tool-description")
def simple(lc: World) -> Any:
    made = lc.tool(infer_schema=False)(get_weather)
    return shown(made), made.invoke("北京")


@case(
    LAYER,
    "infer_schema=False keeps the description that is given",
    behaviour="simple-tool-description",
)
def simple_described(lc: World) -> Any:
    return shown(lc.tool("w", infer_schema=False, description="查天气")(get_weather))


@case(
    LAYER,
    "infer_schema=False without docstring and description is an error",
    behaviour="simple-tool-description",
)
def simple_undocumented(lc: World) -> Any:
    return lc.tool(infer_schema=False)(undocumented)


@case(LAYER, "infer_schema=False with an args_schema still makes a StructuredTool")
def simple_with_schema(lc: World) -> Any:
    class WeatherArgs(BaseModel):
        city: str

    return shown(lc.tool(infer_schema=False, args_schema=WeatherArgs)(get_weather))


@case(LAYER, "infer_schema=False with a coroutine is awaited")
async def simple_awaited(lc: World) -> Any:
    return await lc.tool(infer_schema=False)(get_weather_later).ainvoke("北京")


@case(LAYER, "a simple Tool refuses two arguments")
def simple_two(lc: World) -> Any:
    return lc.tool(infer_schema=False)(get_weather).invoke({"city": "北京", "unit": "C"})


# A runnable


@case(LAYER, "something that can be invoked becomes a tool under a name", differs="graph-as-tool")
def runnable(lc: World) -> Any:
    made = lc.tool("ask", graph(lc), description="Ask the graph.")
    return shown(made), made.invoke({"text": "啊", "times": 3})


@case(LAYER, "a tool can be made of a tool")
def tool_of_tool(lc: World) -> Any:
    made = lc.tool("again", lc.tool(get_weather), description="The same.")
    return shown(made), made.invoke({"city": "北京"})


@case(LAYER, "such a tool can be awaited")
async def runnable_awaited(lc: World) -> Any:
    made = lc.tool("again", lc.tool(get_weather), description="The same.")
    return await made.ainvoke(call("again", {"city": "北京"}))


@case(LAYER, "what it may be given is checked")
def runnable_checked(lc: World) -> Any:
    made = lc.tool("again", lc.tool(get_weather), description="The same.")
    return made.invoke({"city": ["北京"]})


@case(LAYER, "a runnable needs a name that is text")
def runnable_without_text(lc: World) -> Any:
    return lc.tool(get_weather, lc.tool(get_weather))


@case(LAYER, "a runnable needs a name")
def runnable_without_name(lc: World) -> Any:
    return lc.tool("", lc.tool(get_weather))


@case(LAYER, "a number is no tool")
def a_number(lc: World) -> Any:
    return lc.tool(5)


@case(LAYER, "a third positional argument is refused")
def too_many(lc: World) -> Any:
    return lc.tool("name", get_weather, "third")


@case(LAYER, "a dict is no tool")
def a_dict(lc: World) -> Any:
    return lc.tool({"name": "web_search", "type": "web_search"})


@case(LAYER, "an unknown option is refused")
def unknown_option(lc: World) -> Any:
    return lc.tool(returns_direct=True)


@case(LAYER, "response_format has two values")
def unknown_format(lc: World) -> Any:
    return lc.tool(response_format="artifact")(get_weather)


@case(LAYER, "a docstring in Chinese is sent as it is, with an injected argument left out")
def chinese(lc: World) -> Any:
    @lc.tool
    def query_order(
        order_id: Annotated[str, "订单号"], user: Annotated[str, lc.InjectedToolArg]
    ) -> str:
        """查询当前用户的订单。"""
        return f"{user}: {order_id}"

    return shown(query_order), query_order.invoke({"order_id": "O1", "user": "小明"})
