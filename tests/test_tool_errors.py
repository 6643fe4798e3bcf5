"""Layer 10: which errors of a tool become answers, in which words, and which end the run.

Without `from __future__ import annotations`: what a handler's parameter is annotated with counts.
"""

import asyncio
from collections.abc import Callable
from typing import Annotated, Any, Union

import pytest
from pydantic import BaseModel, model_validator

from minilc.course.behaviours import active
from minilc.course.worlds import LANGCHAIN, MINILC, World
from minilc.tool_errors import msg_content_output

Invoke = Callable[..., Any]
BAD_ARGUMENT = (
    "Error invoking tool 'pay' with kwargs {'amount': 'x'} with error:\n"
    " amount: Input should be a valid integer, unable to parse string as an integer\n"
    " Please fix the error and try again."
)


def by_hand(lc: World) -> dict[str, Any]:
    """What a graph puts into the config, so that a ToolNode runs without one."""
    return {"configurable": {"__pregel_runtime": lc.Runtime()}}


def payment(error: Exception) -> Callable[[int], str]:
    """A tool's function that fails with this error; a negative amount works."""

    def pay(amount: int) -> str:
        """Pay an amount."""
        if amount < 0:
            return "paid"
        raise error

    return pay


def run(lc: World, invoke: Invoke, function: Any, args: dict[str, Any], **options: Any) -> Any:
    """The answer of a ToolNode that has one tool to one call of it."""
    node = lc.ToolNode([function], **options)
    name = next(iter(node.tools_by_name))
    call = {"name": name, "args": args, "id": "call_1", "type": "tool_call"}
    [answer] = invoke(node, [lc.AIMessage("", tool_calls=[call])], by_hand(lc))
    return answer


def refusal(lc: World, content: str, name: str = "pay") -> Any:
    """The answer that stands for an error."""
    return lc.ToolMessage(content, name=name, tool_call_id="call_1", status="error")


# The default


def test_by_default_bad_arguments_become_an_answer(lc: World, invoke: Invoke) -> None:
    answer = run(lc, invoke, payment(ValueError("declined")), {"amount": "x"})
    assert answer == refusal(lc, BAD_ARGUMENT)


@pytest.mark.parametrize("kind", [ValueError, KeyError, "ToolException"])
def test_by_default_what_a_tool_raises_ends_the_run(lc: World, invoke: Invoke, kind: Any) -> None:
    error = (lc.ToolException if kind == "ToolException" else kind)("declined")
    with pytest.raises(type(error)) as failure:
        run(lc, invoke, payment(error), {"amount": 1})
    assert failure.value is error


def test_several_bad_arguments_are_listed_line_by_line(lc: World, invoke: Invoke) -> None:
    class Place(BaseModel):
        city: str
        zip: int

    def send(to: list[Place], weight: float) -> str:
        """Send a parcel."""
        return "sent"

    args = {"to": [{"city": "北京"}], "weight": "heavy"}
    assert run(lc, invoke, send, args).content == (
        "Error invoking tool 'send' with kwargs {'to': [{'city': '北京'}], 'weight': 'heavy'} "
        "with error:\n to.0.zip: Field required\n"
        "weight: Input should be a valid number, unable to parse string as a number\n"
        " Please fix the error and try again."
    )


def test_a_validation_error_inside_the_tool_passes_for_bad_arguments(
    lc: World, invoke: Invoke
) -> None:
    class Reply(BaseModel):
        price: int

    def pay(amount: int) -> str:
        """Pay an amount."""
        return str(Reply.model_validate({"price": "dear"}))

    assert run(lc, invoke, pay, {"amount": 1}).content == (
        "Error invoking tool 'pay' with kwargs {'amount': 1} with error:\n"
        " price: Input should be a valid integer, unable to parse string as an integer\n"
        " Please fix the error and try again."
    )


def test_an_error_about_all_arguments_together_has_no_words(lc: World, invoke: Invoke) -> None:
    class Range(BaseModel):
        low: int
        high: int

        @model_validator(mode="after")
        def in_order(self) -> "Range":
            if self.low > self.high:
                raise ValueError("low is above high")
            return self

    @lc.tool(args_schema=Range)
    def pick(low: int, high: int) -> str:
        """Pick a number."""
        return "ok"

    assert run(lc, invoke, pick, {"low": 2, "high": 1}).content == (
        "Error invoking tool 'pick' with kwargs {'low': 2, 'high': 1} with error:\n"
        " \n Please fix the error and try again."
    )


# handle_tool_errors


def test_true_tells_the_model_of_any_error(lc: World, invoke: Invoke) -> None:
    answer = run(
        lc, invoke, payment(ValueError("declined")), {"amount": 1}, handle_tool_errors=True
    )
    text = "Error: ValueError('declined')\n Please fix your mistakes."
    assert answer == refusal(lc, text)


def test_true_wraps_the_words_about_bad_arguments_once_more(lc: World, invoke: Invoke) -> None:
    answer = run(lc, invoke, payment(ValueError()), {"amount": "x"}, handle_tool_errors=True)
    assert answer.content == (
        f"Error: ToolInvocationError({BAD_ARGUMENT!r})\n Please fix your mistakes."
    )


def test_a_text_stands_for_any_error(lc: World, invoke: Invoke) -> None:
    options = {"handle_tool_errors": "try later"}
    for args in ({"amount": 1}, {"amount": "x"}):
        assert run(lc, invoke, payment(KeyError("a")), args, **options) == refusal(lc, "try later")


@pytest.mark.parametrize("flag", [False, None, "", ()])
def test_nothing_to_handle_means_that_every_error_ends_the_run(
    lc: World, invoke: Invoke, flag: Any
) -> None:
    with pytest.raises(ValueError, match="^declined$"):
        run(lc, invoke, payment(ValueError("declined")), {"amount": 1}, handle_tool_errors=flag)
    with pytest.raises(lc.ToolInvocationError) as failure:
        run(lc, invoke, payment(ValueError()), {"amount": "x"}, handle_tool_errors=flag)
    assert str(failure.value) == failure.value.message == BAD_ARGUMENT


@pytest.mark.parametrize("flag", [LookupError, (OSError, LookupError)])
def test_types_cover_themselves_and_what_derives_from_them(
    lc: World, invoke: Invoke, flag: Any
) -> None:
    options = {"handle_tool_errors": flag}
    answer = run(lc, invoke, payment(KeyError("a")), {"amount": 1}, **options)
    assert answer == refusal(lc, "Error: KeyError('a')\n Please fix your mistakes.")
    with pytest.raises(ValueError, match="^declined$"):
        run(lc, invoke, payment(ValueError("declined")), {"amount": 1}, **options)
    with pytest.raises(lc.ToolInvocationError):
        run(lc, invoke, payment(KeyError("a")), {"amount": "x"}, **options)


def test_a_handler_covers_what_its_parameter_is_annotated_with(lc: World, invoke: Invoke) -> None:
    def explain(error: ValueError) -> str:
        return f"value: {error}"

    options = {"handle_tool_errors": explain}
    answer = run(lc, invoke, payment(UnicodeError("declined")), {"amount": 1}, **options)
    assert answer == refusal(lc, "value: declined")
    with pytest.raises(KeyError):
        run(lc, invoke, payment(KeyError("a")), {"amount": 1}, **options)


def test_a_handler_may_name_several_types(lc: World, invoke: Invoke) -> None:
    def new_style(error: ValueError | KeyError) -> str:
        return "one of two"

    def old_style(error: Union[ValueError, KeyError]) -> str:  # noqa: UP007  # as people write it
        return "one of two"

    for handler in (new_style, old_style):
        for error in (ValueError("a"), KeyError("a")):
            answer = run(lc, invoke, payment(error), {"amount": 1}, handle_tool_errors=handler)
            assert answer.content == "one of two"
        with pytest.raises(OSError, match="^a$"):
            run(lc, invoke, payment(OSError("a")), {"amount": 1}, handle_tool_errors=handler)


def test_a_handler_without_annotation_covers_all(lc: World, invoke: Invoke) -> None:
    class Handler:
        def explain(self, error):  # type: ignore[no-untyped-def]  # none is what is tested
            return f"{type(error).__name__}"

        def narrow(self, error: OSError) -> str:
            return "narrow"

    for handler in (lambda error: type(error).__name__, Handler().explain):
        answer = run(lc, invoke, payment(OSError()), {"amount": 1}, handle_tool_errors=handler)
        assert answer.content == "OSError"
    with pytest.raises(KeyError):
        narrow = Handler().narrow
        run(lc, invoke, payment(KeyError("a")), {"amount": 1}, handle_tool_errors=narrow)


def test_a_handler_for_something_that_is_no_exception_is_refused_upstream_alone(
    lc: World, invoke: Invoke
) -> None:
    # The row "handler-annotations".
    def explain(error: int) -> str:
        return ""

    options = {"handle_tool_errors": explain}
    assert run(lc, invoke, payment(ValueError("declined")), {"amount": -1}, **options).content == (
        "paid"
    )
    with pytest.raises(ValueError) as failure:
        run(lc, invoke, payment(ValueError("declined")), {"amount": 1}, **options)
    refusal = (
        "Arbitrary types are not supported in the error handler signature. Please annotate "
        "the error with either a specific Exception type or a union of Exception types. "
        "For example, `def custom_handler(e: ValueError)` or "
        "`def custom_handler(e: Union[ValueError, TypeError])`. Got '<class 'int'>' instead."
    )
    assert str(failure.value) == ("declined" if lc.name == "minilc" else refusal)


def test_an_error_in_the_handler_ends_the_run(lc: World, invoke: Invoke) -> None:
    def broken(error: Exception) -> str:
        raise RuntimeError("the handler is broken")

    with pytest.raises(RuntimeError, match="^the handler is broken$"):
        run(lc, invoke, payment(ValueError()), {"amount": 1}, handle_tool_errors=broken)


def written_as_text(error: "ValueError | KeyError") -> str:
    return "handled"


def test_a_union_that_is_written_as_text_is_read_by_minilc_alone(invoke: Invoke) -> None:
    # The row "handler-union-as-text".
    options = {"handle_tool_errors": written_as_text}
    answer = run(MINILC, invoke, payment(KeyError("a")), {"amount": 1}, **options)
    assert answer.content == "handled"
    with pytest.raises(AttributeError) as failure:
        run(LANGCHAIN, invoke, payment(KeyError("a")), {"amount": 1}, **options)
    assert str(failure.value) == "'types.UnionType' object has no attribute '__mro__'"


# What comes before, and what comes past


def test_the_tools_own_handling_comes_first(lc: World, invoke: Invoke) -> None:
    tool = lc.tool(payment(lc.ToolException("declined")))
    tool.handle_tool_error = lambda error: f"own words: {error}"
    answer = run(lc, invoke, tool, {"amount": 1}, handle_tool_errors=False)
    assert answer == refusal(lc, "own words: declined")


def test_an_unknown_tool_is_answered_whatever_the_setting(lc: World, invoke: Invoke) -> None:
    def book() -> str:
        """Book a seat."""
        return "booked"

    node = lc.ToolNode([payment(ValueError()), book], handle_tool_errors=False)
    call = {"name": "Pay", "args": {"amount": 1}, "id": "call_1", "type": "tool_call"}
    [answer] = invoke(node, [lc.AIMessage("", tool_calls=[call])], by_hand(lc))
    text = "Error: Pay is not a valid tool, try one of [pay, book]."
    assert answer == refusal(lc, text, "Pay")


def test_an_interrupt_is_never_handled(lc: World, invoke: Invoke) -> None:
    for error in (lc.GraphInterrupt(), lc.GraphBubbleUp(), lc.ParentCommand(lc.Command())):
        with pytest.raises(type(error)):
            run(lc, invoke, payment(error), {"amount": 1}, handle_tool_errors=True)


def test_a_cancelled_tool_is_not_an_error_either(lc: World, invoke: Invoke) -> None:
    with pytest.raises(asyncio.CancelledError):
        error: Any = asyncio.CancelledError()
        run(lc, invoke, payment(error), {"amount": 1}, handle_tool_errors=True)


def test_an_error_while_injecting_is_not_for_the_model(lc: World, invoke: Invoke) -> None:
    def greet(user: Annotated[str, lc.InjectedState("user")]) -> str:
        """Greet the user."""
        return f"hi {user}"

    node = lc.ToolNode([greet], handle_tool_errors=True)
    call = {"name": "greet", "args": {}, "id": "call_1", "type": "tool_call"}
    with pytest.raises(KeyError, match="^'user'$"):
        invoke(node, {"messages": [lc.AIMessage("", tool_calls=[call])]}, by_hand(lc))


# The wrapper


def test_what_a_wrapper_raises_is_handled_like_what_a_tool_raises(
    lc: World, invoke: Invoke
) -> None:
    def broken(request: Any, execute: Any) -> Any:
        raise OSError("no audit log")

    wrapped: dict[str, Any] = {"wrap_tool_call": broken}
    pay = payment(ValueError())
    for flag in (True, OSError):
        answer = run(lc, invoke, pay, {"amount": -1}, handle_tool_errors=flag, **wrapped)
        text = "Error: OSError('no audit log')\n Please fix your mistakes."
        assert answer == refusal(lc, text)
    for options in ({"handle_tool_errors": False}, {}):
        with pytest.raises(OSError, match="^no audit log$"):
            run(lc, invoke, pay, {"amount": -1}, **options, **wrapped)


def test_behind_a_wrapper_the_types_still_count_in_minilc_alone(invoke: Invoke) -> None:
    # The row "wrapper-errors".
    def only_keys(error: KeyError) -> str:
        return f"asked anyway: {error}"

    def outcome(lc: World, flag: Any) -> Any:
        wrap = {"wrap_tool_call": lambda request, execute: execute(request)}
        pay = payment(ValueError("declined"))
        return run(lc, invoke, pay, {"amount": 1}, handle_tool_errors=flag, **wrap).content

    for flag, answer in (
        (KeyError, "Error: ValueError('declined')\n Please fix your mistakes."),
        (only_keys, "asked anyway: declined"),
    ):
        assert outcome(LANGCHAIN, flag) == answer
        with pytest.raises(ValueError, match="^declined$"):
            outcome(MINILC, flag)


def test_an_interrupt_in_a_wrapper_is_not_handled(lc: World, invoke: Invoke) -> None:
    def asking(request: Any, execute: Any) -> Any:
        raise lc.GraphInterrupt()

    def outcome() -> Any:
        options = {"handle_tool_errors": True, "wrap_tool_call": asking}
        return run(lc, invoke, payment(ValueError()), {"amount": -1}, **options)

    if lc is MINILC or active("wrapper-interrupt"):
        with pytest.raises(lc.GraphInterrupt):
            outcome()
    else:
        assert outcome().content.startswith("Error: GraphInterrupt(")


# ToolInvocationError


def test_the_error_about_bad_arguments_says_what_it_is_about(lc: World, invoke: Invoke) -> None:
    with pytest.raises(lc.ToolInvocationError) as failure:
        run(lc, invoke, payment(ValueError()), {"amount": "x"}, handle_tool_errors=False)
    error = failure.value
    assert isinstance(error, lc.ToolException)
    assert (error.tool_name, error.tool_kwargs) == ("pay", {"amount": "x"})
    assert [(e["type"], e["loc"]) for e in error.filtered_errors] == [("int_parsing", ("amount",))]
    assert error.__cause__ is error.source
    assert error.source.title == "pay"


# The content of an answer


def test_text_and_content_blocks_stay_and_the_rest_becomes_text() -> None:
    from langgraph.prebuilt.tool_node import msg_content_output as upstream

    block = {"type": "image_url", "image_url": {"url": "x"}}
    cases: list[tuple[Any, Any]] = [
        ("晴", "晴"),
        ([{"type": "text", "text": "晴"}, block], [{"type": "text", "text": "晴"}, block]),
        ([], []),
        (["a", "b"], '["a", "b"]'),
        ([{"type": "audio"}], '[{"type": "audio"}]'),
        ({"天气": ["晴", 28]}, '{"天气": ["晴", 28]}'),
        (None, "null"),
        ({1}, "{1}"),
    ]
    for output, expected in cases:
        assert msg_content_output(output) == upstream(output) == expected
