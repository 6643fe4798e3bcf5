"""Layer 10: which errors of a tool become messages for the model.

Mirrors langgraph/prebuilt/tool_node.py
Leaves out answers to an interrupt that do not fit its schema (`is_invalid_resume`), and
TOOL_EXECUTION_ERROR_TEMPLATE, which upstream does not use.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from inspect import signature
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from minilc.base import ToolException, _is_message_content_block, _stringify
from minilc.branch import GraphBubbleUp
from minilc.messages import ToolCall, ToolMessage

INVALID_TOOL_NAME_ERROR_TEMPLATE = (
    "Error: {requested_tool} is not a valid tool, try one of [{available_tools}]."
)
TOOL_CALL_ERROR_TEMPLATE = "Error: {error}\n Please fix your mistakes."
TOOL_INVOCATION_ERROR_TEMPLATE = (
    "Error invoking tool '{tool_name}' with kwargs {tool_kwargs} with error:\n"
    " {error}\n Please fix the error and try again."
)

# What `handle_tool_errors` may be: all or none, a text, exception types, a function of the error.
Handling = bool | str | type[Exception] | tuple[type[Exception], ...] | Callable[..., str]


class ToolInvocationError(ToolException):
    """The model's arguments do not fit the tool; `message` tells the model what is wrong.

    Args:
        source: the validation error.
        tool_kwargs: the arguments as the model sent them, without what is injected.
        filtered_errors: the part of `source` that the model can do something about.
    """

    def __init__(
        self,
        tool_name: str,
        source: ValidationError,
        tool_kwargs: dict[str, Any],
        filtered_errors: list[ErrorDetails] | None = None,
    ) -> None:
        details = str(source)
        if filtered_errors is not None:
            lines = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in filtered_errors]
            details = "\n".join(lines)
        self.message = TOOL_INVOCATION_ERROR_TEMPLATE.format(
            tool_name=tool_name, tool_kwargs=tool_kwargs, error=details
        )
        self.tool_name, self.source, self.tool_kwargs = tool_name, source, tool_kwargs
        self.filtered_errors = filtered_errors
        super().__init__(self.message)


def _default_handle_tool_errors(e: Exception) -> str:
    """Tell the model about its arguments, which it can mend; any other error ends the run."""
    if isinstance(e, ToolInvocationError):
        return e.message
    raise e


def _answer_error(
    error: Exception, call: ToolCall, flag: Handling, *, from_wrapper: bool = False
) -> ToolMessage:
    """The one place where an error becomes an answer; what `flag` does not cover is raised again.

    Args:
        from_wrapper: the wrapper raised it, which has seen the tool's errors before: then the
            types that `flag` names do not matter, only whether it handles any.
    """
    if isinstance(error, GraphBubbleUp):
        raise error  # 1. No error: the graph is waiting for it.
    if not isinstance(error, (Exception,) if flag and from_wrapper else _handled_types(flag)):
        raise error  # 2. Not for the model.
    return _error_message(_handle_tool_error(error, flag=flag), call)  # 3.


def _invalid_tool_message(call: ToolCall, tool_names: Iterable[str]) -> ToolMessage:
    """The answer to a call for a tool that does not exist; no setting turns it off."""
    content = INVALID_TOOL_NAME_ERROR_TEMPLATE.format(
        requested_tool=call["name"], available_tools=", ".join(tool_names)
    )
    return _error_message(content, call)


def _error_message(content: str, call: ToolCall) -> ToolMessage:
    id_: Any = call["id"]  # None if the call came without, and then no message can answer it.
    return ToolMessage(content=content, name=call["name"], tool_call_id=id_, status="error")


def _handled_types(flag: Handling) -> tuple[type[Exception], ...]:
    """The exceptions that `handle_tool_errors` covers."""
    if not flag:
        return ()  # 1. False: none.
    if isinstance(flag, tuple):
        return flag  # 2. These.
    if isinstance(flag, type) and issubclass(flag, Exception):
        return (flag,)  # 3. This one.
    if callable(flag) and not isinstance(flag, type):
        return _infer_handled_types(flag)  # 4. What the function's parameter is annotated with.
    return (Exception,)  # 5. True, or a text: all.


def _handle_tool_error(e: Exception, *, flag: Handling) -> str:
    """What the model is told about an error.

    Raises:
        ValueError: `flag` is not one of the kinds of `handle_tool_errors`.
    """
    if isinstance(flag, bool | tuple) or isinstance(flag, type) and issubclass(flag, Exception):
        return TOOL_CALL_ERROR_TEMPLATE.format(error=repr(e))
    if isinstance(flag, str):
        return flag
    if callable(flag):
        return flag(e)  # type: ignore[call-arg, return-value]  # a class may be one: `str`
    raise ValueError(
        "Got unexpected type of `handle_tool_error`. Expected bool, str or callable. "
        f"Received: {flag}"
    )


def _infer_handled_types(handler: Callable[..., str]) -> tuple[type[Exception], ...]:
    """The exceptions that the annotation of a handler's parameter names; without one, all.

    Raises:
        ValueError: it names something else.
    """
    names = list(signature(handler).parameters)
    # A function that is written as a method but not bound: its error comes second.
    name = names[1] if len(names) == 2 and names[0] in ("self", "cls") else next(iter(names), "")
    hint = get_type_hints(handler).get(name, Exception)
    is_union = get_origin(hint) in (Union, UnionType)
    types = get_args(hint) if is_union else (hint,)
    if all(isinstance(type_, type) and issubclass(type_, Exception) for type_ in types):
        return types
    rule = "All types in the error handler error annotation must be Exception types. For example, "
    if not is_union:
        rule = (
            "Arbitrary types are not supported in the error handler signature. Please annotate "
            "the error with either a specific Exception type or a union of Exception types. "
            "For example, `def custom_handler(e: ValueError)` or "
        )
    raise ValueError(
        f"{rule}`def custom_handler(e: Union[ValueError, TypeError])`. Got '{hint}' instead."
    )


def _invocation_error(
    error: ValidationError, call: ToolCall, injected_names: Collection[str | None]
) -> ToolInvocationError:
    filtered_errors = _filter_validation_errors(error, injected_names)
    return ToolInvocationError(call["name"], error, call["args"], filtered_errors)


def _filter_validation_errors(
    validation_error: ValidationError, injected_names: Collection[str | None]
) -> list[ErrorDetails]:
    """The errors about arguments that the model fills, and in them only what it filled."""
    errors = [
        e for e in validation_error.errors() if e["loc"] and e["loc"][0] not in injected_names
    ]
    for error in errors:
        # The error of a whole object shows all arguments, the injected ones too.
        if isinstance(error["input"], dict):
            visible = {k: v for k, v in error["input"].items() if k not in injected_names}
            error["input"] = visible
    return errors


def msg_content_output(output: Any) -> str | list[dict[str, Any]]:
    """A tool's output as the content of a message: text and content blocks stay, else JSON."""
    if (
        isinstance(output, str)
        or isinstance(output, list)
        and all(isinstance(block, dict) and _is_message_content_block(block) for block in output)
    ):
        return output
    return _stringify(output)
