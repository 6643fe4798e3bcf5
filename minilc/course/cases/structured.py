"""Layer 4, structured: where a tool's name, description and schema come from."""

import functools
from typing import Annotated, Any

from pydantic import BaseModel, Field

from minilc.course.cases import case
from minilc.course.cases.support import call
from minilc.course.worlds import World

LAYER = "structured"

FORECAST = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "default": 3}},
    "required": ["city"],
}


class QueryOrderArgs(BaseModel):
    order_id: str = Field(description="The order id, for example O202607070001")
    include_items: bool = Field(default=False, description="Whether to include item list")


class Documented(BaseModel):
    """Look up departures for a stop."""

    stop: str


def price(item: str, currency: str = "CNY") -> str:
    """Price of an item."""
    return f"{item}: 1 {currency}"


async def aprice(item: str, currency: str = "CNY") -> str:
    """Price of an item, awaited."""
    return f"{item}: 1 {currency} (awaited)"


def undocumented(stop: str) -> str:
    return f"{stop} 8:05"


def forecast(city: str, days: int = 1) -> str:
    """Weather forecast."""
    return f"{city!r} {days!r}"


def shown(tool: Any) -> dict[str, Any]:
    """Name, description and arguments of a tool."""
    return {"name": tool.name, "description": tool.description, "args": tool.args}


# Name and description


@case(LAYER, "name, description and schema come from the function")
def from_function(lc: World) -> Any:
    return shown(lc.StructuredTool.from_function(price))


@case(LAYER, "a name and a description that are given win")
def given_names(lc: World) -> Any:
    made = lc.StructuredTool.from_function(price, name="商品价格", description="查询价格")
    return shown(made), made.args_schema.model_json_schema()["title"]


@case(LAYER, "a function without a docstring needs a description")
def no_docstring(lc: World) -> Any:
    return lc.StructuredTool.from_function(undocumented)


@case(LAYER, "a description replaces the docstring")
def description_instead(lc: World) -> Any:
    return shown(lc.StructuredTool.from_function(undocumented, description="Departures."))


@case(LAYER, "an empty description is kept")
def empty_description(lc: World) -> Any:
    return shown(lc.StructuredTool.from_function(price, description=""))


@case(LAYER, "the docstring of args_schema is the last resort")
def schema_docstring(lc: World) -> Any:
    return shown(lc.StructuredTool.from_function(undocumented, args_schema=Documented))


@case(LAYER, "the function's own docstring comes before that of args_schema")
def own_docstring_first(lc: World) -> Any:
    def bus(stop: str) -> str:
        """Bus times."""
        return stop

    return shown(lc.StructuredTool.from_function(bus, args_schema=Documented))


@case(LAYER, "an args_schema without a docstring does not help")
def schema_without_docstring(lc: World) -> Any:
    return lc.StructuredTool.from_function(undocumented, args_schema=QueryOrderArgs)


@case(LAYER, "a JSON schema may hold the description")
def json_schema_description(lc: World) -> Any:
    schema = {**FORECAST, "description": "Weather by city."}
    return shown(lc.StructuredTool.from_function(undocumented, args_schema=schema))


@case(LAYER, "a JSON schema without a description does not help")
def json_schema_without_description(lc: World) -> Any:
    return lc.StructuredTool.from_function(undocumented, args_schema=FORECAST)


@case(LAYER, "the description loses its outer indentation, not the inner one")
def dedented(lc: World) -> Any:
    def loan(book_id: str) -> str:
        """
        Lend a book.

            An indented line.
        """
        return ""

    return lc.StructuredTool.from_function(loan).description


@case(LAYER, "a lambda has a name that no provider takes")
def a_lambda(lc: World) -> Any:
    return lc.StructuredTool.from_function(lambda x: x, description="Echo.").name


# Schema


@case(LAYER, "Field descriptions of args_schema reach the model")
def field_descriptions(lc: World) -> Any:
    def query_order(order_id: str, include_items: bool = False) -> str:
        """Query order detail by order id."""
        return f"{order_id} {include_items}"

    made = lc.StructuredTool.from_function(query_order, args_schema=QueryOrderArgs)
    return shown(made), made.invoke({"order_id": "O1", "include_items": "true"})


@case(LAYER, "defaults of args_schema reach a function that has none")
def schema_defaults(lc: World) -> Any:
    class ListArgs(BaseModel):
        depot: str
        page: int = Field(default=1, description="Page number")
        tags: list[str] = Field(default_factory=list)
        after: str | None = None

    def parcels(depot: str, page: int, tags: list, after: str | None) -> str:
        """List parcels."""
        return f"{depot} page={page} tags={tags} after={after}"

    made = lc.StructuredTool.from_function(parcels, args_schema=ListArgs)
    return made.invoke({"depot": "north"}), made.tool_call_schema.model_json_schema()["required"]


@case(LAYER, "a constraint of args_schema is enforced")
def schema_constraint(lc: World) -> Any:
    class RefundArgs(BaseModel):
        order_id: str
        amount: float = Field(gt=0, description="Refund amount in CNY")

    def refund(order_id: str, amount: float) -> str:
        """Refund."""
        return "refunded"

    made = lc.StructuredTool.from_function(refund, args_schema=RefundArgs)
    return made.invoke({"order_id": "O1", "amount": -1})


@case(LAYER, "a field that the function lacks is a TypeError, at the call and not before")
def schema_with_more(lc: World) -> Any:
    class Letter(BaseModel):
        email: str

    def send(address: str) -> str:
        """Send."""
        return address

    return lc.StructuredTool.from_function(send, args_schema=Letter).invoke({"email": "a@b.cn"})


@case(LAYER, "an argument that the schema lacks is dropped without a word")
def schema_with_less(lc: World) -> Any:
    class Letter(BaseModel):
        address: str

    def send(address: str, subject: str = "(none)") -> str:
        """Send."""
        return f"{address}: {subject}"

    made = lc.StructuredTool.from_function(send, args_schema=Letter)
    return made.invoke({"address": "a@b.cn", "subject": "你好"})


@case(LAYER, "a JSON schema is not checked and its defaults are not applied")
def json_schema(lc: World) -> Any:
    made = lc.StructuredTool.from_function(forecast, args_schema=FORECAST)
    return shown(made), made.invoke({"city": 5, "days": "many"}), made.invoke({"city": "Oslo"})


@case(LAYER, "what a JSON schema lets through may not fit the function")
def json_schema_extra(lc: World) -> Any:
    made = lc.StructuredTool.from_function(forecast, args_schema=FORECAST)
    return made.invoke({"city": "Oslo", "unit": "C"})


@case(LAYER, "what a JSON schema requires is missed only by the function")
def json_schema_missing(lc: World) -> Any:
    return lc.StructuredTool.from_function(forecast, args_schema=FORECAST).invoke({"days": 2})


@case(LAYER, "a tool with a JSON schema takes no text", differs="text-for-a-json-schema")
def json_schema_text(lc: World) -> Any:
    return lc.StructuredTool.from_function(forecast, args_schema=FORECAST).invoke("Oslo")


@case(LAYER, "an args_schema that is no schema is refused")
def no_schema(lc: World) -> Any:
    return lc.StructuredTool.from_function(price, args_schema=["item"])


@case(LAYER, "a schema that is not inferred must be given")
def not_inferred(lc: World) -> Any:
    made = lc.StructuredTool.from_function(price, infer_schema=False)
    return made.args_schema


# Function and coroutine


@case(LAYER, "without a function and a coroutine there is no tool")
def nothing(lc: World) -> Any:
    return lc.StructuredTool.from_function(name="nothing", description="Nothing.")


@case(LAYER, "a coroutine alone makes a tool that cannot be called without awaiting")
def coroutine_only(lc: World) -> Any:
    return lc.StructuredTool.from_function(coroutine=aprice).invoke({"item": "茶"})


@case(LAYER, "a coroutine alone is awaited")
async def coroutine_awaited(lc: World) -> Any:
    made = lc.StructuredTool.from_function(coroutine=aprice)
    return shown(made), await made.ainvoke({"item": "茶"}), made.func is None


@case(LAYER, "with both, each call uses its own")
async def both(lc: World) -> Any:
    made = lc.StructuredTool.from_function(price, aprice)
    return made.name, made.invoke({"item": "茶"}), await made.ainvoke({"item": "茶"})


@case(LAYER, "a function alone runs when awaited, with the same answer")
async def function_awaited(lc: World) -> Any:
    made = lc.StructuredTool.from_function(price)
    return await made.ainvoke(call("price", {"item": "茶"}))


@case(LAYER, "a coroutine given as the function hands back a coroutine")
def coroutine_as_function(lc: World) -> Any:
    coroutine = lc.StructuredTool.from_function(func=aprice).invoke({"item": "茶"})
    coroutine.close()
    return type(coroutine).__name__


@case(LAYER, "the function stays reachable")
def function_kept(lc: World) -> Any:
    made = lc.StructuredTool.from_function(price)
    return made.func is price, made.coroutine, made.func("茶", "EUR")


@case(LAYER, "a partial has no name")
def partial_without_name(lc: World) -> Any:
    return lc.StructuredTool.from_function(functools.partial(price, currency="EUR"))


@case(LAYER, "a partial with a name fails at its type hints")
def partial_with_name(lc: World) -> Any:
    bound = functools.partial(price, currency="EUR")
    return lc.StructuredTool.from_function(bound, name="price_eur", description="Quote.")


@case(LAYER, "a bound method is a function without its self")
def bound_method(lc: World) -> Any:
    class Shop:
        def __init__(self, currency: str) -> None:
            self.currency = currency

        def quote(self, item: str) -> str:
            """Quote an item."""
            return f"{item}: 1 {self.currency}"

    made = lc.StructuredTool.from_function(Shop("EUR").quote)
    return shown(made), made.invoke({"item": "茶"})


@case(LAYER, "an object with __call__ has no name")
def callable_object(lc: World) -> Any:
    class Quote:
        def __call__(self, item: str) -> str:
            """Quote an item."""
            return item

    return lc.StructuredTool.from_function(Quote())


@case(LAYER, "other fields of a tool are passed on")
def passed_on(lc: World) -> Any:
    made = lc.StructuredTool.from_function(
        price, return_direct=True, tags=["shop"], handle_tool_error="later"
    )
    return made.return_direct, made.tags, made.handle_tool_error, made.response_format


@case(LAYER, "an artifact may come from a coroutine")
async def artifact_awaited(lc: World) -> Any:
    async def rows(n: int) -> tuple[str, list[int]]:
        """Rows."""
        return f"{n} rows", list(range(n))

    made = lc.StructuredTool.from_function(coroutine=rows, response_format="content_and_artifact")
    return await made.ainvoke(call("rows", {"n": 2}))


@case(LAYER, "an injected argument may stand beside a hand-written schema")
def injected_beside_schema(lc: World) -> Any:
    class WeatherArgs(BaseModel):
        city: str = Field(description="City name")

    def weather(city: str, user: Annotated[str, lc.InjectedToolArg]) -> str:
        """Weather."""
        return f"{city} for {user}"

    made = lc.StructuredTool.from_function(weather, args_schema=WeatherArgs)
    return made.args, made.invoke({"city": "北京", "user": "小明"})
