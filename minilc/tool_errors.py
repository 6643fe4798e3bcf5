"""Layer 10: which errors of a tool become messages for the model.

Mirrors langgraph/prebuilt/tool_node.py
Leaves out answers to an interrupt that do not fit its schema (`is_invalid_resume`), handlers that
are classes, the refusal of other kinds of `handle_tool_errors` and of handlers for what is no
exception, and TOOL_EXECUTION_ERROR_TEMPLATE, which upstream does not use.
"""

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any, get_args, get_type_hints

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from minilc.base import ToolException, _is_message_content_block, _stringify
from minilc.branch import GraphBubbleUp

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


@dataclass(eq=False, repr=False)
class ToolInvocationError(ToolException):
    """The model's arguments do not fit the tool; `message` tells the model what is wrong.

    Args:
        source: the validation error.
        tool_kwargs: the arguments as the model sent them, without what is injected.
        filtered_errors: the part of `source` that the model can do something about.
    """

    tool_name: str
    source: ValidationError
    tool_kwargs: dict[str, Any]
    filtered_errors: list[ErrorDetails]

    def __post_init__(self) -> None:
        errors = self.filtered_errors
        details = "\n".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in errors)
        self.message = TOOL_INVOCATION_ERROR_TEMPLATE.format(error=details, **vars(self))
        super().__init__(self.message)


def _default_handle_tool_errors(e: Exception) -> str:
    """Tell the model about its arguments, which it can mend; any other error ends the run."""
    if isinstance(e, ToolInvocationError):
        return e.message
    raise e


def _handle_tool_error(e: Exception, *, flag: Handling, show: Any = repr) -> str:
    """What the model is told about an error; one that `flag` does not cover is raised again."""
    # True and a text cover all errors; what is empty, or False, covers none.
    kinds: Any = Exception if flag else ()
    if isinstance(flag, type | tuple):
        kinds = flag
    elif callable(flag):
        kinds = _infer_handled_types(flag)
    # An interrupt is no error: the graph is waiting for it.
    if isinstance(e, GraphBubbleUp) or not isinstance(e, kinds):
        raise e
    if callable(flag) and not isinstance(flag, type):
        return flag(e)
    return flag if isinstance(flag, str) else TOOL_CALL_ERROR_TEMPLATE.format(error=show(e))


def _infer_handled_types(handler: Callable[..., str]) -> tuple[type[Exception], ...]:
    """What the annotation of a handler's parameter names; without one, all exceptions."""
    # Resolved, so that an annotation may be written as text.
    name = next(iter(signature(handler).parameters), "")
    hint = get_type_hints(handler).get(name, Exception)
    return get_args(hint) or (hint,)  # a union has arguments: its members


def _filter_validation_errors(e: ValidationError, injected: set[str]) -> list[ErrorDetails]:
    """The errors about arguments that the model fills; none shows an input, nor a state in it."""
    # An error about all arguments together has no place, and none of them is to blame.
    return [x for x in e.errors(include_input=False) if x["loc"] and x["loc"][0] not in injected]


def msg_content_output(output: Any) -> str | list[dict[str, Any]]:
    """A tool's output as the content of a message: text and content blocks stay, else JSON."""
    # Texts in a list are JSON as well: not every provider takes them as blocks.
    if isinstance(output, str):
        return output
    blocks = output if isinstance(output, list) else [None]
    is_content = all(isinstance(b, dict) and _is_message_content_block(b) for b in blocks)
    return output if is_content else _stringify(output)
