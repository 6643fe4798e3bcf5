"""Exercises of layer 10, tool_errors: which errors of a tool the model gets to read."""

# Without `from __future__ import annotations`: LangChain reads the union in a handler's annotation
# only where it is no text.

from collections.abc import Callable
from typing import Annotated, Any

from langchain_core.tools import ToolException
from langgraph.errors import GraphBubbleUp, GraphInterrupt
from pydantic import BaseModel, ValidationError, model_validator

from minilc.course.cases.support import asks, by_hand, call, run_tools
from minilc.course.exercises import Check, Exercise, Lesson, Option, Quiz, Wrong
from minilc.course.worlds import World

# --- tool_errors-1: which errors of pydantic the model may read ------------------------------


def _order(lc: World, **options: Any) -> Callable[..., Any]:
    """What a ToolNode makes of these arguments for a tool that gets `user` from the state."""

    class Place(BaseModel):
        city: str
        user: str = "anybody"

    @lc.tool
    def order(place: Place, count: int, user: Annotated[int, lc.InjectedState("user")]) -> str:
        """Order something."""
        return "ordered"

    def run(state: Any, **arguments: Any) -> Any:
        node = lc.ToolNode([order], **options)
        given = {"messages": [asks(lc, call("order", arguments))], "user": state}
        return node.invoke(given, by_hand(lc))["messages"][0].content

    return run


def _together(lc: World) -> Any:
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

    node = run_tools(lc, [between], call("between", {"low": 3, "high": 2}))
    return node["messages"][0].content


def _state_shows(lc: World) -> Any:
    run = _order(lc, handle_tool_errors=lambda error: str("晴天" in str(error.filtered_errors)))
    return run("晴天", place={"city": "北京"})


def _tells_all(e: ValidationError, injected: set[Any]) -> Any:
    return e.errors(include_input=False)


def _by_last(e: ValidationError, injected: set[Any]) -> Any:
    errors = e.errors(include_input=False)
    return [one for one in errors if one["loc"] and one["loc"][-1] not in injected]


def _no_place(e: ValidationError, injected: set[Any]) -> Any:
    return [one for one in e.errors(include_input=False) if one["loc"][0] not in injected]


def _keeps_rules(e: ValidationError, injected: set[Any]) -> Any:
    errors = e.errors(include_input=False)
    return [one for one in errors if not one["loc"] or one["loc"][0] not in injected]


def _with_input(e: ValidationError, injected: set[Any]) -> Any:
    return [one for one in e.errors() if one["loc"] and one["loc"][0] not in injected]


def _first_one(e: ValidationError, injected: set[Any]) -> Any:
    errors = e.errors(include_input=False)
    return [one for one in errors if one["loc"] and one["loc"][0] not in injected][:1]


FILTER = Exercise(
    id="tool_errors-1",
    title="What the model may read of a ValidationError",
    minutes=10,
    difficulty="medium",
    target="minilc.tool_errors:_filter_validation_errors",
    task="""
        Pydantic found wrong arguments. `e.errors()` is a list of dicts, with the way to the
        argument as `loc`. Return those that the model can do something about: those about
        one argument, and not about one that is `injected` (a set of names). What you return must
        not show any input, because the state may be in it.
        """,
    stub='''
from pydantic import ValidationError


def filter_validation_errors(e: ValidationError, injected: set) -> list[dict]:
    """The errors about arguments that the model fills."""
    raise NotImplementedError
''',
    hints=(
        "Print `e.errors()` of a model with a missing field. What is its `input`? And what has "
        "pydantic's `errors` for leaving it out?",
        "`loc` is a tuple, from the outside in: `('place', 'city')`. Which part is the name of the "
        "tool's argument?",
        "An error about several arguments together has an empty `loc`. LangChain drops it.",
    ),
    checks=(
        Check(
            "two wrong arguments",
            lambda lc: _order(lc)(1, place={}, count="two"),
            "the model must read of each argument that it got wrong",
        ),
        Check(
            "a wrong value in the state",
            lambda lc: _order(lc)("no number", place={"city": "北京"}, count="two"),
            "the model is told about an injected argument: it cannot fill it, and should not know",
        ),
        Check(
            "a field inside an argument, called like an injected one",
            lambda lc: _order(lc)(1, place={"city": "北京", "user": 5}, count=2),
            "`place.user` is the model's own: what is injected is told by the first part of `loc`",
        ),
        Check(
            "a rule about two arguments",
            _together,
            "an error about several arguments together has no place (`loc` is empty), and is left "
            "out",
        ),
        Check(
            "the state in what you return",
            _state_shows,
            "the state is in what you return: the input of a missing field is all arguments, with "
            "the injected ones",
        ),
    ),
    wrong_answers=(
        Wrong(_first_one, "of each argument"),
        Wrong(_tells_all, "cannot fill it"),
        Wrong(_by_last, "first part of `loc`"),
        Wrong(_no_place, "is left out"),
        Wrong(_keeps_rules, "has no place"),
        Wrong(_with_input, "the state is in what you return"),
    ),
)


# --- tool_errors-2: the interrupt that nobody saw --------------------------------------------

Safely = Callable[[Callable[[], Any]], Any]


def _raising(error: BaseException) -> Callable[[], Any]:
    def work() -> Any:
        raise error

    return work


def _asked(lc: World, safely: Safely) -> Any:
    """What the user is asked, and what the model reads after the answer."""

    @lc.tool
    def book(city: str) -> str:
        """Book a flight."""
        return safely(lambda: f"booked: {lc.interrupt(f'Fly to {city}?')}")

    builder = lc.StateGraph(lc.MessagesState)
    builder.add_node("tools", lc.ToolNode([book]))
    builder.add_edge(lc.START, "tools")
    graph = builder.compile(checkpointer=lc.InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}
    state = graph.invoke({"messages": [asks(lc, call("book", {"city": "北京"}))]}, thread)
    questions = [one.value for one in state.get("__interrupt__", ())]
    if questions:
        state = graph.invoke(lc.Command(resume="yes"), thread)
    return [questions, state["messages"][-1].content]


def _to_parent(lc: World, safely: Safely) -> Any:
    command = lc.Command(graph=lc.Command.PARENT, goto="human")
    try:
        return safely(_raising(lc.ParentCommand(command)))
    except lc.ParentCommand:
        return "passed"


def _stopped(lc: World, safely: Safely) -> Any:
    try:
        return safely(_raising(KeyboardInterrupt()))
    except KeyboardInterrupt:
        return "passed"


def _swallows(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except Exception as error:
        return f"failed: {type(error).__name__}"


def _narrow(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except ValueError as error:
        return f"failed: {type(error).__name__}"


def _interrupts_alone(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except GraphInterrupt:
        raise
    except Exception as error:
        return f"failed: {type(error).__name__}"


def _everything(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except GraphBubbleUp:
        raise
    except BaseException as error:
        return f"failed: {type(error).__name__}"


def _waits_itself(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except GraphBubbleUp:
        return "waiting for the user"
    except Exception as error:
        return f"failed: {type(error).__name__}"


SAFELY = Exercise(
    id="tool_errors-2",
    title="Drill: the question that nobody was asked",
    minutes=10,
    difficulty="easy",
    task="""
        Somebody reports: *our tools must ask the user before they book, with `interrupt`. Since we
        run all of them through `safely`, so that a failing server does not end the run, nobody is
        asked any more, and the model says that booking has failed.* Mend `safely`: errors of any
        kind become a text for the model, and what belongs to the graph passes.
        """,
    stub='''
from collections.abc import Callable


def safely(work: Callable[[], str]) -> str:
    """What `work` returns, or a text that tells the model what went wrong."""
    try:
        return work()
    except Exception as error:
        return f"failed: {type(error).__name__}"
''',
    hints=(
        "An interrupt travels as an exception. Which class is it, and which class is above it?",
        "`GraphInterrupt` is not the only one: a Command for the parent graph travels in the same "
        "way. `langgraph.errors` has the class above both.",
        "Python takes the first `except` that fits. Put one before the other that raises again.",
    ),
    checks=(
        Check(
            "work that goes well, and a failing server",
            lambda lc, safely: [
                safely(lambda: "booked"),
                safely(_raising(RuntimeError("no server"))),
            ],
            "an error of the work, of any kind, must become a text: a failing server ends the run",
            ["booked", "failed: RuntimeError"],
        ),
        Check(
            "an interrupt",
            _asked,
            "the interrupt does not reach the graph: the user is not asked, and the model reads "
            "of a failure",
            [["Fly to 北京?"], "booked: yes"],
        ),
        Check(
            "a Command for the parent graph",
            _to_parent,
            "an interrupt is not the only thing that bubbles up: a Command for the parent graph "
            "was caught",
            "passed",
        ),
        Check(
            "Ctrl+C",
            _stopped,
            "KeyboardInterrupt was caught: nobody can stop the program any more",
            "passed",
        ),
    ),
    wrong_answers=(
        Wrong(_swallows, "does not reach the graph"),
        Wrong(_narrow, "a failing server ends the run"),
        Wrong(_waits_itself, "the user is not asked"),
        Wrong(_interrupts_alone, "for the parent graph"),
        Wrong(_everything, "nobody can stop the program"),
    ),
)


# --- tool_errors-3: a handler with a rule for each kind of error -----------------------------

LATER = "The service does not answer. Try again later."


def _read(lc: World, handler: Any, *errors: Exception) -> Any:
    """What the model reads of each error, or that the run ends."""

    def read(error: Exception) -> Any:
        @lc.tool
        def weather(days: int = 1) -> str:
            """The weather."""
            raise error

        try:
            state = run_tools(lc, [weather], call("weather"), handle_tool_errors=handler)
        except type(error):
            return "the run ends"
        return state["messages"][0].content

    return [read(error) for error in errors]


def _badly_called(lc: World, handler: Any) -> Any:
    @lc.tool
    def weather(days: int) -> str:
        """The weather."""
        return ""

    state = run_tools(lc, [weather], call("weather", {"days": "x"}), handle_tool_errors=handler)
    return state["messages"][0].content


def _covers_all(error: Exception) -> str:
    return str(error) if isinstance(error, ToolException) else LATER


def _tells_repr(error: ToolException | ConnectionError | TimeoutError) -> str:
    return repr(error) if isinstance(error, ToolException) else LATER


def _one_kind(error: ToolException) -> str:
    return str(error)


def _any_os_error(error: ToolException | OSError) -> str:
    return str(error) if isinstance(error, ToolException) else LATER


def _tells_address(error: ToolException | ConnectionError | TimeoutError) -> str:
    return str(error)


RULES = Exercise(
    id="tool_errors-3",
    title="One rule for each kind of error",
    minutes=10,
    difficulty="medium",
    task=f"""
        Write a function for `ToolNode(handle_tool_errors=...)`. The model reads a `ToolException`
        in its own words; wrong arguments are one, too. When a connection fails or time is up
        (`ConnectionError`, `TimeoutError`) it reads this, and no address: *{LATER}*
        Any other error is a mistake in our code and ends the run.
        """,
    stub='''
from langchain_core.tools import ToolException


def rules(error: Exception) -> str:
    """What the model reads; errors that it should not read are not in the annotation."""
    raise NotImplementedError
''',
    hints=(
        "ToolNode reads the annotation of the parameter. `Exception` means: all of them.",
        "A union covers its members: `A | B | C`.",
        "`str(error)` is the text, `repr(error)` has the class around it. The two kinds that are "
        "about the network get the same fixed text.",
    ),
    checks=(
        Check(
            "a ToolException",
            lambda lc, rules: _read(lc, rules, lc.ToolException("there is no such city")),
            "a ToolException is the tool's text for the model: nothing around it",
            ["there is no such city"],
        ),
        Check(
            "wrong arguments",
            _badly_called,
            "the text about wrong arguments is not passed on as it is",
            "Error invoking tool 'weather' with kwargs {'days': 'x'} with error:\n days: Input "
            "should be a valid integer, unable to parse string as an integer\n Please fix the "
            "error and try again.",
        ),
        Check(
            "a time-out, and a connection that was reset",
            lambda lc, rules: _read(lc, rules, TimeoutError("db:5432"), ConnectionResetError("db")),
            "when the network fails the model is to read one fixed text: no address, and the run "
            "goes on",
            [LATER, LATER],
        ),
        Check(
            "a mistake in our code",
            lambda lc, rules: _read(lc, rules, KeyError("city"), ZeroDivisionError()),
            "a mistake in our code was told to the model, and we never hear of it: the annotation "
            "covers too much",
            ["the run ends", "the run ends"],
        ),
        Check(
            "a file that is missing",
            lambda lc, rules: _read(lc, rules, FileNotFoundError("prices.csv")),
            "OSError is more than the network: a missing file is a mistake of ours",
            ["the run ends"],
        ),
    ),
    wrong_answers=(
        Wrong(_tells_repr, "nothing around it"),
        Wrong(_one_kind, "when the network fails"),
        Wrong(_tells_address, "no address"),
        Wrong(_covers_all, "covers too much"),
        Wrong(_any_os_error, "more than the network"),
    ),
)


LESSON = Lesson(
    exercises=(FILTER, SAFELY, RULES),
    quizzes=(
        Quiz(
            id="tool_errors-1",
            question="`ToolNode([weather])` with no settings at all. Which of these ends the run?",
            options=(
                Option(
                    "the model calls `wether`, a tool that does not exist",
                    "An unknown name is always a message, with the names that exist.",
                ),
                Option(
                    "the model sends `days='soon'` to a tool with `days: int`",
                    "Wrong arguments are what the default tells the model.",
                ),
                Option(
                    "the tool raises `ToolException`",
                    "The default knows `ToolInvocationError` only. The tool's own "
                    "`handle_tool_error` would make a message of it.",
                    right=True,
                ),
                Option(
                    "the model's JSON breaks off, and the call is in `invalid_tool_calls`",
                    "Nobody runs such a call, so nothing fails: the agent ends with an empty "
                    "answer.",
                ),
            ),
        ),
        Quiz(
            id="tool_errors-2",
            question="With `handle_tool_errors=(ValueError,)`, the model sends `days='soon'`. "
            "What happens?",
            options=(
                Option(
                    "the run ends",
                    "A ToolInvocationError is raised, which is a ToolException and no ValueError.",
                    right=True,
                ),
                Option(
                    "it reads the error, since pydantic's ValidationError is a ValueError",
                    "ToolNode has made a ToolInvocationError of it, and that is no ValueError.",
                ),
                Option(
                    "it reads the error, since wrong arguments are told in any case",
                    "They are told by the default. A setting takes the default's place.",
                ),
            ),
        ),
    ),
)
