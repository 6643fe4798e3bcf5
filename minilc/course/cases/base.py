"""Layer 3, base: one call of one tool, from what it is given to the ToolMessage."""

# Annotations name a world's classes, which are chosen at run time.
# mypy: disable-error-code="name-defined, valid-type"

import datetime
from contextvars import ContextVar
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, model_validator

from minilc.course.cases import case
from minilc.course.cases.support import call
from minilc.course.worlds import World

LAYER = "base"


class Place(BaseModel):
    city: str


def adder(lc: World) -> Any:
    """The smallest tool with two arguments."""

    @lc.tool
    def add(a: int, b: int = 1) -> int:
        """Add two numbers."""
        return a + b

    return add


def giver(lc: World, value: Any, **options: Any) -> Any:
    """A tool that returns `value`."""

    @lc.tool(**options)
    def give() -> Any:
        """Return a value."""
        return value

    return give


def failing(lc: World, *arguments: Any, **options: Any) -> Any:
    """A tool that raises ToolException(*arguments)."""

    def fail(x: int = 0) -> str:
        """Fail."""
        raise lc.ToolException(*arguments)

    return lc.StructuredTool.from_function(fail, **options)


# What is given to a tool


@case(LAYER, "a number that arrives as text is coerced")
def coerced(lc: World) -> Any:
    return adder(lc).invoke({"a": "3"})


@case(LAYER, "the schema's coercions are pydantic's")
def coercions(lc: World) -> Any:
    @lc.tool
    def echo(n: int, u: int | str, flag: bool = False, amount: float = 0.0) -> str:
        """Echo."""
        return f"{n!r} {u!r} {flag!r} {amount!r}"

    return [
        echo.invoke({"n": "5", "u": "5", "flag": "yes", "amount": "1.5"}),
        echo.invoke({"n": 5.0, "u": 5}),
        echo.invoke({"n": True, "u": True}),
    ]


@case(LAYER, "a fraction is not an int")
def fraction(lc: World) -> Any:
    return adder(lc).invoke({"a": 5.5})


@case(LAYER, "an argument that is not declared is dropped")
def extra_argument(lc: World) -> Any:
    return adder(lc).invoke({"a": 1, "b": 2, "unit": "km"})


@case(LAYER, "a missing argument is a ValidationError")
def missing_argument(lc: World) -> Any:
    return adder(lc).invoke({"b": 2})


@case(LAYER, "a dict of type tool_call is a call: it gives a ToolMessage")
def tool_call(lc: World) -> Any:
    return adder(lc).invoke(call("add", {"a": 1}))


@case(LAYER, "a dict without type tool_call is plain arguments")
def without_type(lc: World) -> Any:
    return adder(lc).invoke({"name": "add", "args": {"a": 1}, "id": "c1"})


@case(LAYER, "a call needs an id")
def call_without_id(lc: World) -> Any:
    return adder(lc).invoke({"name": "add", "args": {"a": 1}, "type": "tool_call"})


@case(LAYER, "a call needs args")
def call_without_args(lc: World) -> Any:
    return adder(lc).invoke({"name": "add", "id": "c1", "type": "tool_call"})


@case(LAYER, "a call with the id None gives the bare value")
def call_with_id_none(lc: World) -> Any:
    return adder(lc).invoke(call("add", {"a": 1}, id=None))


@case(LAYER, "the name in a call does not matter to the tool")
def name_in_call(lc: World) -> Any:
    return adder(lc).invoke(call("subtract", {"a": 1}))


@case(LAYER, "a text fills the only argument, as it is")
def text_input(lc: World) -> Any:
    @lc.tool
    def shout(text: str) -> str:
        """Shout."""
        return text.upper()

    return shout.invoke("hi")


@case(LAYER, "a tool knows whether it takes a single argument", differs="single-input")
def single_input(lc: World) -> Any:
    return adder(lc).is_single_input, giver(lc, 1).is_single_input


@case(LAYER, "a text is checked by the first field, but not converted")
def text_not_converted(lc: World) -> Any:
    @lc.tool
    def twice(n: int) -> Any:
        """Twice."""
        return n * 2

    return twice.invoke("4")


@case(LAYER, "a text for two required arguments is refused")
def text_for_two(lc: World) -> Any:
    @lc.tool
    def join(a: str, b: str) -> str:
        """Join."""
        return a + b

    return join.invoke("hi")


@case(LAYER, "a number is no input for a tool")
def number_input(lc: World) -> Any:
    return adder(lc).invoke(5)


@case(LAYER, "a tool is not called like a function")
def not_callable(lc: World) -> Any:
    return adder(lc)(1, 2)


@case(LAYER, "a nested model reaches the function as an instance")
def nested_model(lc: World) -> Any:
    @lc.tool
    def where(place: Place, others: list[Place]) -> str:
        """Where."""
        return f"{type(place).__name__} {place.city} {[type(other).__name__ for other in others]}"

    return where.invoke({"place": {"city": "北京"}, "others": [{"city": "上海"}]})


@case(LAYER, "what the caller passed stays as it was")
def input_untouched(lc: World) -> Any:
    @lc.tool
    def note(x: int, call_id: Annotated[str, lc.InjectedToolCallId], seen: list[int]) -> str:
        """Note."""
        seen.append(x)
        return call_id

    request = call("note", {"x": "1", "seen": [0]})
    return note.invoke(request).content, request


@case(LAYER, "a tool without arguments ignores what it is given")
def no_arguments(lc: World) -> Any:
    give = giver(lc, "pong")
    return give.invoke({}), give.invoke({"x": 1}), give.invoke("text"), give.args


@case(LAYER, "kwargs of a function: undeclared keys are dropped, a key kwargs arrives by that name")
def kwargs(lc: World) -> Any:
    @lc.tool
    def f(a: int, **kwargs: Any) -> str:
        """F."""
        return f"{a} {kwargs}"

    return f.invoke({"a": 1, "unit": "km"}), f.invoke({"a": 1, "kwargs": {"unit": "km"}})


# What comes back


@case(LAYER, "what JSON can say becomes JSON, with its Chinese readable")
def json_content(lc: World) -> Any:
    values: list[Any] = [
        {"城市": "北京", "温度": 25},
        None,
        7,
        True,
        1.5,
        float("nan"),
        [1, 2],
        [[]],
        {},
    ]
    return [giver(lc, value).invoke(call("give")).content for value in values]


@case(LAYER, "what JSON cannot say becomes its str")
def str_content(lc: World) -> Any:
    day = datetime.date(2024, 5, 1)
    values = [{1}, b"ab", day, {"d": day, "n": "北"}, Place(city="北京"), object, 1j]
    return [giver(lc, value).invoke(call("give")).content for value in values]


@case(LAYER, "text stays text")
def text_content(lc: World) -> Any:
    return [giver(lc, value).invoke(call("give")).content for value in ("", "北京", '{"a": 1}')]


@case(LAYER, "a list of text or of content blocks stays a list")
def block_content(lc: World) -> Any:
    blocks = [{"type": "text", "text": "hi"}, {"type": "image_url", "image_url": {"url": "x"}}]
    values = [[], ["a", "b"], blocks, ["a", *blocks], [{"type": "unknown"}], [{"id": 1}]]
    return [giver(lc, value).invoke(call("give")).content for value in values]


@case(LAYER, "a tuple of texts becomes a list", behaviour="tuple-content")
def tuple_content(lc: World) -> Any:
    return giver(lc, ("a", "b")).invoke(call("give")).content


@case(LAYER, "called with plain arguments a tool gives back the very object")
def bare_value(lc: World) -> Any:
    value = {"a": [1]}
    return giver(lc, value).invoke({}) is value


@case(LAYER, "a ToolMessage that the tool returns passes unchanged")
def own_message(lc: World) -> Any:
    message = lc.ToolMessage("done", tool_call_id="other", name="someone")
    return giver(lc, message).invoke(call("give"))


@case(LAYER, "a list of ToolMessages passes unchanged", behaviour="list-of-answers")
def own_messages(lc: World) -> Any:
    messages = [lc.ToolMessage(text, tool_call_id="c1") for text in ("a", "b")]
    return giver(lc, messages).invoke(call("give"))


@case(LAYER, "a Command passes unchanged")
def own_command(lc: World) -> Any:
    given = lc.Command(update={"mood": "good"}, goto="next")
    return giver(lc, given).invoke(call("give")) is given


@case(LAYER, "content_and_artifact splits a pair, for a call")
def artifact(lc: World) -> Any:
    give = giver(lc, ("2 rows", [{"id": 1}, {"id": 2}]), response_format="content_and_artifact")
    return give.invoke(call("give")), give.invoke({})


@case(LAYER, "content_and_artifact without a pair is an error")
def artifact_without_pair(lc: World) -> Any:
    return giver(lc, "2 rows", response_format="content_and_artifact").invoke(call("give"))


@case(LAYER, "content_and_artifact with three values is the same error")
def artifact_of_three(lc: World) -> Any:
    return giver(lc, (1, 2, 3), response_format="content_and_artifact").invoke(call("give"))


# Errors


@case(LAYER, "an exception of the function comes out as it is")
def body_raises(lc: World) -> Any:
    @lc.tool
    def pay() -> str:
        """Pay."""
        raise RuntimeError("bank is closed")

    return pay.invoke(call("pay"))


@case(LAYER, "a text that reports a failure is a success")
def reported_failure(lc: World) -> Any:
    return giver(lc, "Cannot refund: order is not paid.").invoke(call("give"))


@case(LAYER, "a ToolException is raised unless the tool handles it")
def tool_exception(lc: World) -> Any:
    return failing(lc, "card declined").invoke({})


@case(LAYER, "handle_tool_error=True gives the exception's text, with status error")
def tool_error_true(lc: World) -> Any:
    fail = failing(lc, "card declined", handle_tool_error=True)
    return fail.invoke({}), fail.invoke(call("fail"))


@case(LAYER, "a ToolException without arguments has a standard text")
def tool_error_empty(lc: World) -> Any:
    return failing(lc, handle_tool_error=True).invoke({})


@case(LAYER, "handle_tool_error may be a text")
def tool_error_text(lc: World) -> Any:
    return failing(lc, "x", handle_tool_error="请稍后再试").invoke(call("fail"))


@case(LAYER, "handle_tool_error may be a function of the exception")
def tool_error_function(lc: World) -> Any:
    fail = failing(lc, "x", handle_tool_error=lambda error: f"{type(error).__name__}: {error}")
    return fail.invoke(call("fail"))


@case(LAYER, "handle_tool_error does not cover other exceptions")
def tool_error_others(lc: World) -> Any:
    def pay() -> str:
        """Pay."""
        raise ValueError("no")

    return lc.StructuredTool.from_function(pay, handle_tool_error=True).invoke({})


@case(LAYER, "handle_validation_error=True gives a standard text, with status error")
def validation_error_true(lc: World) -> Any:
    fail = failing(lc, "x", handle_validation_error=True)
    return fail.invoke({"x": "one"}), fail.invoke(call("fail", {"x": "one"}))


@case(LAYER, "handle_validation_error may be a text or a function")
def validation_error_others(lc: World) -> Any:
    told = failing(lc, "x", handle_validation_error="check the arguments")
    counted = failing(lc, "x", handle_validation_error=lambda error: f"{error.error_count()} wrong")
    return told.invoke({"x": "one"}), counted.invoke({"x": "one"})


@case(LAYER, "a handler of another kind is refused when the tool is made")
def handler_of_wrong_kind(lc: World) -> Any:
    return failing(lc, "x", handle_tool_error=3.5)


@case(LAYER, "an error of a validator over several fields has no field")
def cross_field_error(lc: World) -> Any:
    class Range(BaseModel):
        low: int
        high: int

        @model_validator(mode="after")
        def ordered(self) -> "Range":
            if self.low > self.high:
                raise ValueError("low is above high")
            return self

    @lc.tool(args_schema=Range)
    def between(low: int, high: int) -> str:
        """Between."""
        return f"{low}..{high}"

    return between.invoke({"low": 1, "high": 2}), between.invoke({"low": 3, "high": 2})


# Injection, as far as the tool does it by itself


@case(LAYER, "the id of the call is injected")
def call_id_injected(lc: World) -> Any:
    @lc.tool
    def note(x: int, call_id: Annotated[str, lc.InjectedToolCallId]) -> str:
        """Note."""
        return f"{x} {call_id}"

    return note.invoke(call("note", {"x": 1, "call_id": "forged"}, id="c7"))


@case(LAYER, "a tool that wants its call's id must be given a call")
def call_id_without_call(lc: World) -> Any:
    @lc.tool
    def note(x: int, call_id: Annotated[str, lc.InjectedToolCallId]) -> str:
        """Note."""
        return call_id

    return note.invoke({"x": 1})


@case(LAYER, "an injected argument must be given by hand when there is no ToolNode")
def state_by_hand(lc: World) -> Any:
    @lc.tool
    def whose(order_id: str, state: Annotated[dict, lc.InjectedState]) -> str:
        """Whose."""
        return f"{order_id} of {state['user']}"

    return whose.invoke({"order_id": "o1", "state": {"user": "小明"}})


@case(LAYER, "without it the call fails like one with a missing argument")
def state_missing(lc: World) -> Any:
    @lc.tool
    def whose(order_id: str, state: Annotated[dict, lc.InjectedState]) -> str:
        """Whose."""
        return ""

    return whose.invoke({"order_id": "o1"})


@case(LAYER, "a RunnableConfig parameter is given the config")
def config_parameter(lc: World) -> Any:
    @lc.tool
    def who(x: int, settings: lc.RunnableConfig) -> str:
        """Who."""
        return f"{x} {settings['configurable']['user']} {settings['tags']}"

    return who.invoke({"x": 1}, {"configurable": {"user": "小明"}, "tags": ["t"]})


@case(
    LAYER,
    "a parameter called config that is no RunnableConfig is taken away",
    differs="config-argument",
)
def config_of_text(lc: World) -> Any:
    @lc.tool
    def apply(config: str) -> str:
        """Apply settings."""
        return config

    return apply.invoke({"config": "a.toml"})


# Tools of one's own class


@case(LAYER, "a subclass with _run is a tool; its schema is that of _run")
def subclass(lc: World) -> Any:
    class Clock(lc.BaseTool):
        name: str = "clock"
        description: str = "Tell the time."

        def _run(self, city: str, hours: int = 24) -> str:
            return f"{city} 10:00 ({hours})"

    clock = Clock()
    return clock.args, clock.invoke({"city": "Oslo"}), clock.invoke(call("clock", {"city": "x"}))


@case(LAYER, "a subclass with an args_schema is checked by it")
def subclass_schema(lc: World) -> Any:
    class Clock(lc.BaseTool):
        name: str = "clock"
        description: str = "Tell the time."
        args_schema: type[BaseModel] = Place

        def _run(self, city: str) -> str:
            return city

    return Clock().args, Clock().invoke({"place": "Oslo"})


@case(LAYER, "awaiting a tool that has only _run runs it in a thread")
async def subclass_awaited(lc: World) -> Any:
    class Clock(lc.BaseTool):
        name: str = "clock"
        description: str = "Tell the time."

        def _run(self, city: str) -> str:
            return f"{city} 10:00"

    return await Clock().ainvoke(call("clock", {"city": "Oslo"}))


@case(LAYER, "_arun is used when awaited, _run when not")
async def subclass_both(lc: World) -> Any:
    class Clock(lc.BaseTool):
        name: str = "clock"
        description: str = "Tell the time."

        def _run(self) -> str:
            return "sync"

        async def _arun(self) -> str:
            return "async"

    return Clock().invoke({}), await Clock().ainvoke({})


@case(LAYER, "a subclass without _run cannot be made")
def subclass_abstract(lc: World) -> Any:
    class Clock(lc.BaseTool):
        name: str = "clock"
        description: str = "Tell the time."

    return Clock()


@case(LAYER, "a subclass must annotate the fields that it sets")
def subclass_unannotated(lc: World) -> Any:
    class Clock(lc.BaseTool):
        name = "clock"
        description = "Tell the time."

        def _run(self) -> str:
            return ""

    return Clock


@case(
    LAYER,
    "args_schema annotated as a model instead of a type of model is refused",
    differs="schema-annotation",
)
def subclass_misannotated(lc: World) -> Any:
    class Clock(lc.BaseTool):
        name: str = "clock"
        description: str = "Tell the time."
        args_schema: BaseModel = Place  # type: ignore[assignment]  # that is the mistake

        def _run(self, city: str) -> str:
            return city

    return Clock().invoke({"city": "Oslo"})


@case(LAYER, "a parameter called callbacks is filled", differs="callbacks")
def callbacks(lc: World) -> Any:
    @lc.tool
    def f(x: int, callbacks: Any = None) -> bool:
        """F."""
        return callbacks is None

    return f.invoke({"x": 1})


@case(LAYER, "what a tool does to its context is over when it ends", differs="context-of-a-tool")
def context(lc: World) -> Any:
    variable: ContextVar[str] = ContextVar("variable", default="before")

    @lc.tool
    def f() -> str:
        """F."""
        variable.set("inside")
        return "done"

    return f.invoke({}), variable.get()


@case(LAYER, "run passes on that there is no config", differs="config-of-run")
def config_of_run(lc: World) -> Any:
    @lc.tool
    def f(settings: lc.RunnableConfig) -> Any:
        """F."""
        return settings

    return f.run({})


@case(LAYER, "a StopIteration comes out as it is", differs="stop-iteration")
def stop_iteration(lc: World) -> Any:
    @lc.tool
    def f() -> str:
        """F."""
        return next(iter([]))

    return f.invoke({})


@case(LAYER, "an args_schema that is no schema is refused")
def no_schema(lc: World) -> Any:
    return lc.Tool(name="t", description="T.", func=str, args_schema="a schema")


@case(LAYER, "a simple Tool takes one text, in any of three ways")
def simple_tool(lc: World) -> Any:
    shelf = lc.Tool(name="shelf", description="Find a shelf.", func=lambda title: f"{title}: B7")
    return [
        shelf.invoke("红楼梦"),
        shelf.invoke({"whatever": "红楼梦"}),
        shelf.invoke(call("shelf", {"__arg1": "红楼梦"})),
        shelf.args,
    ]


@case(LAYER, "a simple Tool refuses two arguments")
def simple_tool_two(lc: World) -> Any:
    shelf = lc.Tool(name="shelf", description="Find a shelf.", func=str)
    return shelf.invoke({"title": "a", "author": "b"})


@case(LAYER, "a simple Tool without a function cannot run")
def simple_tool_empty(lc: World) -> Any:
    return lc.Tool(name="shelf", description="Find a shelf.", func=None).invoke("a")


@case(LAYER, "return_direct, extras, tags and metadata are kept for those who ask")
def kept_fields(lc: World) -> Any:
    give = giver(lc, 1, return_direct=True, extras={"cache_control": {"type": "ephemeral"}})
    tagged = failing(lc, "x", tags=["slow"], metadata={"team": "天气"})
    return give.return_direct, give.extras, give.tags, tagged.tags, tagged.metadata


@case(LAYER, "what is not given is filled in from the defaults")
def default_values(lc: World) -> Any:
    @lc.tool
    def book(
        room: Annotated[str, Field(min_length=2)],
        people: int = 2,
        mode: Literal["now", "later"] = "now",
        tags: list[str] = Field(default_factory=list),  # noqa: B008 - upstream reads it
    ) -> str:
        """Book a room."""
        return f"{room} {people} {mode} {tags}"

    return book.invoke({"room": "A1"}), book.invoke({"room": "A12", "people": 3, "tags": ["x"]})
