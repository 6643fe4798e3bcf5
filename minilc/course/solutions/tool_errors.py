"""Solutions of layer 10, tool_errors."""

# Without `from __future__ import annotations`: LangChain reads the union in a handler's annotation
# only where it is no text.

from typing import Any, Protocol

from langchain_core.tools import ToolException
from langgraph.errors import GraphBubbleUp
from pydantic import ValidationError
from pydantic_core import ErrorDetails


class Work(Protocol):
    """What a tool does."""

    def __call__(self) -> str: ...


def tool_errors_1(e: ValidationError, injected: set[Any]) -> list[ErrorDetails]:
    """An error has a way to its argument that begins with one which the model fills."""
    errors = e.errors(include_input=False)
    return [one for one in errors if one["loc"] and one["loc"][0] not in injected]


def tool_errors_2(work: Work) -> str:
    """Whatever bubbles up belongs to the graph; the tool answers for the other errors."""
    try:
        return work()
    except GraphBubbleUp:
        raise
    except Exception as error:
        return f"failed: {type(error).__name__}"


def tool_errors_3(error: ToolException | ConnectionError | TimeoutError) -> str:
    """The annotation says what is told; a bug is not in it, and ends the run."""
    if isinstance(error, ToolException):
        return str(error)
    return "The service does not answer. Try again later."
