"""Layer 10, tool_errors: which errors become messages, and which end the run."""

# Annotations name a world's classes, which are chosen at run time.
# mypy: disable-error-code="name-defined, valid-type"

import operator
from typing import Annotated, Any

from pydantic import BaseModel, Field, model_validator

from minilc.course.cases import case
from minilc.course.cases.support import by_hand, call, run_tools
from minilc.course.worlds import World

LAYER = "tool_errors"


def paying(lc: World, error: BaseException) -> Any:
    """A tool `pay` that raises this error."""

    @lc.tool
    def pay(amount: int = 1) -> str:
        """Pay an amount."""
        raise error

    return pay


def handled(lc: World, error: BaseException, *flag: Any) -> Any:
    """What a ToolNode with this `handle_tool_errors` makes of the error."""
    options = {"handle_tool_errors": flag[0]} if flag else {}
    return run_tools(lc, [paying(lc, error)], call("pay"), **options)


def badly_called(lc: World, *flag: Any) -> Any:
    """What it makes of an amount that is no number."""
    options = {"handle_tool_errors": flag[0]} if flag else {}
    tools = [paying(lc, RuntimeError("never reached"))]
    return run_tools(lc, tools, call("pay", {"amount": "viel"}), **options)


# The default


@case(LAYER, "by default bad arguments become a message in the template's words")
def default_bad_arguments(lc: World) -> Any:
    return badly_called(lc)


@case(LAYER, "by default an error of the function is raised")
def default_error(lc: World) -> Any:
    return handled(lc, ValueError("card declined"))


@case(LAYER, "by default even a ToolException is raised")
def default_tool_exception(lc: World) -> Any:
    return handled(lc, lc.ToolException("card declined"))


@case(LAYER, "the ToolException is a message if the tool itself handles it")
def tool_handles(lc: World) -> Any:
    pay = paying(lc, lc.ToolException("余额不足"))
    pay.handle_tool_error = True
    return run_tools(lc, [pay], call("pay"))


@case(LAYER, "several bad arguments are listed line by line")
def default_several(lc: World) -> Any:
    class Place(BaseModel):
        city: str

    @lc.tool
    def weather(place: Place, days: Annotated[int, Field(ge=1, le=5)], unit: str) -> str:
        """Weather."""
        return ""

    return run_tools(lc, [weather], call("weather", {"place": {"city": 5}, "days": 9}))


@case(LAYER, "a bound of the schema is reported with pydantic's words")
def default_bound(lc: World) -> Any:
    class SearchArgs(BaseModel):
        query: str = Field(description="Natural language search query")
        top_k: int = Field(default=5, ge=1, le=20, description="Number of results")

    @lc.tool(args_schema=SearchArgs)
    def search(query: str, top_k: int = 5) -> str:
        """Search."""
        return ""

    return run_tools(lc, [search], call("search", {"query": "北京", "top_k": 50}))


@case(LAYER, "an error over several fields reaches the model with an empty reason")
def default_cross_field(lc: World) -> Any:
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
        return ""

    return run_tools(lc, [between], call("between", {"low": 3, "high": 2}))


@case(LAYER, "a ValidationError of the function's own is taken for bad arguments")
def default_own_validation(lc: World) -> Any:
    class Reply(BaseModel):
        rate: float

    @lc.tool
    def rate(currency: str) -> str:
        """Exchange rate."""
        return str(Reply.model_validate({"rate": "n/a"}).rate)

    return run_tools(lc, [rate], call("rate", {"currency": "CNY"}))


@case(LAYER, "a schema that does not fit the function is a TypeError and ends the run")
def default_mismatch(lc: World) -> Any:
    class Letter(BaseModel):
        email: str

    @lc.tool(args_schema=Letter)
    def send(address: str) -> str:
        """Send."""
        return ""

    return run_tools(lc, [send], call("send", {"email": "a@b.cn"}))


@case(LAYER, "an async tool in a run that does not await is an error of the run")
def default_async_tool(lc: World) -> Any:
    @lc.tool
    async def fetch(url: str) -> str:
        """Fetch."""
        return ""

    return run_tools(lc, [fetch], call("fetch", {"url": "u"}))


# The kinds of handle_tool_errors


@case(LAYER, "True gives every error a standard text")
def flag_true(lc: World) -> Any:
    return handled(lc, ValueError("kaput"), True), badly_called(lc, True)


@case(LAYER, "False raises every error")
def flag_false(lc: World) -> Any:
    return handled(lc, ValueError("kaput"), False)


@case(LAYER, "False raises bad arguments as a ToolInvocationError")
def flag_false_arguments(lc: World) -> Any:
    return badly_called(lc, False)


@case(LAYER, "None is like False")
def flag_none(lc: World) -> Any:
    return handled(lc, ValueError("kaput"), None)


@case(LAYER, "a text is the answer to every error")
def flag_text(lc: World) -> Any:
    return handled(lc, ValueError("kaput"), "请稍后再试"), badly_called(lc, "请稍后再试")


@case(LAYER, "an empty text is like False")
def flag_empty_text(lc: World) -> Any:
    return handled(lc, ValueError("kaput"), "")


@case(LAYER, "a type covers its errors, with the standard text")
def flag_type(lc: World) -> Any:
    return handled(lc, ValueError("kaput"), ValueError)


@case(LAYER, "a type covers its subclasses")
def flag_base_type(lc: World) -> Any:
    return handled(lc, KeyError("kaput"), LookupError)


@case(LAYER, "a type does not cover others")
def flag_other_type(lc: World) -> Any:
    return handled(lc, ValueError("kaput"), KeyError)


@case(LAYER, "several types cover theirs")
def flag_types(lc: World) -> Any:
    return handled(lc, KeyError("kaput"), (ValueError, KeyError))


@case(LAYER, "several types do not cover bad arguments, unless ToolException is among them")
def flag_types_arguments(lc: World) -> Any:
    return badly_called(lc, (ValueError, lc.ToolException)), badly_called(lc, (ValueError,))


@case(LAYER, "no types cover nothing")
def flag_no_types(lc: World) -> Any:
    return handled(lc, ValueError("kaput"), ())


@case(LAYER, "a function is asked for the text")
def flag_function(lc: World) -> Any:
    def told(error: Exception) -> str:
        return f"{type(error).__name__} of {error.args}"

    return handled(lc, ValueError("kaput", 1), told)


@case(LAYER, "a function without annotation covers everything")
def flag_untyped_function(lc: World) -> Any:
    return handled(lc, LookupError("kaput"), lambda error: f"sorry: {error!r}")


@case(LAYER, "a function covers what its annotation says")
def flag_typed_function(lc: World) -> Any:
    def told(error: KeyError) -> str:
        return "covered"

    return handled(lc, KeyError("kaput"), told), handled(lc, ValueError("kaput"), told)


@case(LAYER, "a union covers its members")
def flag_union_function(lc: World) -> Any:
    def told(error: KeyError | ValueError) -> str:
        return f"covered {error!r}"

    return handled(lc, KeyError("a"), told), handled(lc, ValueError("b"), told)


@case(LAYER, "a union does not cover others")
def flag_union_others(lc: World) -> Any:
    def told(error: KeyError | ValueError) -> str:
        return "covered"

    return handled(lc, OSError("kaput"), told)


@case(LAYER, "a method is read without its self")
def flag_method(lc: World) -> Any:
    class Desk:
        def told(self, error: ValueError) -> str:
            return f"the desk says {error}"

    return handled(lc, ValueError("kaput"), Desk().told)


@case(LAYER, "an annotation that is no exception", differs="handler-annotations")
def flag_wrong_function(lc: World) -> Any:
    def told(error: int) -> str:
        return "x"

    return handled(lc, ValueError("kaput"), told)


@case(
    LAYER,
    "a union with something that is no exception, when an error comes",
    differs="handler-annotations",
)
def flag_wrong_union(lc: World) -> Any:
    def told(error: ValueError | int) -> str:
        return "x"

    return handled(lc, ValueError("kaput"), told)


@case(LAYER, "a function that fails fails the run")
def flag_failing_function(lc: World) -> Any:
    def told(error: Exception) -> str:
        raise RuntimeError("the handler is broken, too")

    return handled(lc, ValueError("kaput"), told)


@case(LAYER, "a number as flag", differs="other-kinds-of-handling")
def flag_number(lc: World) -> Any:
    return handled(lc, ValueError("kaput"), 7)


@case(LAYER, "a type covers no other errors behind a wrapper either", differs="wrapper-errors")
def flag_behind_wrapper(lc: World) -> Any:
    tools, options = [paying(lc, ValueError("kaput"))], {"wrap_tool_call": lambda r, e: e(r)}
    return run_tools(lc, tools, call("pay"), handle_tool_errors=KeyError, **options)


@case(LAYER, "the same holds when awaited")
async def awaited(lc: World) -> Any:
    def told(error: Exception) -> str:
        return f"covered a {type(error).__name__}"

    node = lc.ToolNode([paying(lc, ValueError("kaput"))], handle_tool_errors=told)
    message = lc.AIMessage("", tool_calls=[call("pay"), call("pay", {"amount": "x"}, "c2")])
    return await node.ainvoke({"messages": [message]}, by_hand(lc))


# What no flag covers


@case(LAYER, "an unknown tool is a message even with False")
def unknown_tool(lc: World) -> Any:
    pay = paying(lc, ValueError("x"))
    return run_tools(lc, [pay], call("paay"), handle_tool_errors=False)


@case(LAYER, "names are compared exactly, and the text lists those that exist")
def unknown_names(lc: World) -> Any:
    @lc.tool
    def get_time(city: str) -> str:
        """Time."""
        return ""

    @lc.tool
    def get_tide(city: str) -> str:
        """Tide."""
        return ""

    calls = [call(name, {}, name) for name in ("get_tim", "Get_Time", "functions.get_time", "")]
    return run_tools(lc, [get_time, get_tide], *calls)


@case(LAYER, "True does not cover KeyboardInterrupt")
def keyboard(lc: World) -> Any:
    try:
        return handled(lc, KeyboardInterrupt(), True)
    except KeyboardInterrupt as error:
        return f"raised {error!r}"


@case(LAYER, "True does not cover an interrupt")
def interrupt_passes(lc: World) -> Any:
    return handled(lc, lc.GraphInterrupt(()), True)


@case(LAYER, "True does not cover a failed injection")
def failed_injection(lc: World) -> Any:
    @lc.tool
    def whose(user: Annotated[str, lc.InjectedState("user_id")]) -> str:
        """Whose."""
        return ""

    return run_tools(lc, [whose], call("whose"), handle_tool_errors=True)


@case(LAYER, "True does not cover a call without id")
def call_without_id(lc: World) -> Any:
    node = lc.ToolNode([paying(lc, ValueError("x"))], handle_tool_errors=True)
    return node.invoke([{"name": "pay", "args": {}, "type": "tool_call"}], by_hand(lc))


# The error itself


@case(LAYER, "a ToolInvocationError carries the tool, the arguments and the reasons")
def invocation_error(lc: World) -> Any:
    caught: dict[str, Any] = {}

    def told(error: lc.ToolInvocationError) -> str:
        caught.update(
            name=error.tool_name,
            kwargs=error.tool_kwargs,
            source=type(error.source).__name__,
            errors=[(list(item["loc"]), item["type"]) for item in error.filtered_errors],
            is_tool_exception=isinstance(error, lc.ToolException),
        )
        return error.message

    return badly_called(lc, told), caught


@case(LAYER, "an error made without filtered errors", differs="invocation-error-by-hand")
def invocation_error_unfiltered(lc: World) -> Any:
    class Args(BaseModel):
        amount: int

    try:
        Args.model_validate({"amount": "x"})
    except ValueError as source:
        return lc.ToolInvocationError("pay", source, {"amount": "x"}).message


@case(LAYER, "an error message is an answer like others: the next step sees it")
def error_is_answer(lc: World) -> Any:
    class State(lc.MessagesState):
        seen: Annotated[list, operator.add]

    builder = lc.StateGraph(State)
    builder.add_node("tools", lc.ToolNode([paying(lc, ValueError("x"))]))
    builder.add_node("look", lambda state: {"seen": [state["messages"][-1].status]})
    builder.add_edge(lc.START, "tools")
    builder.add_edge("tools", "look")
    message = lc.AIMessage("", tool_calls=[call("pay", {"amount": "x"})])
    return builder.compile().invoke({"messages": [message]})
