"""Layer 11: the arguments that the model may not fill: state, store and runtime.

Mirrors langgraph/prebuilt/tool_node.py
Leaves out `ToolRuntime.emit_output_delta` (a stream mode that minilc does not have), and the
refusal of a parameter that is marked twice: its first mark that says what is injected counts.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from operator import getitem
from typing import Any, Generic, get_args, get_origin, get_type_hints

# Pydantic's own dependency; a type variable with a default is not in `typing` before Python 3.13.
from typing_extensions import TypeVar

from minilc.base import BaseTool, RunnableConfig
from minilc.messages import ToolCall
from minilc.schema import InjectedToolArg, _DirectlyInjectedToolArg, get_all_basemodel_annotations

StateT = TypeVar("StateT", default=dict)
ContextT = TypeVar("ContextT", default=None)


@dataclass
class ToolRuntime(_DirectlyInjectedToolArg, Generic[ContextT, StateT]):
    """Everything a tool may know of the run that it is called in; one for each call."""

    state: StateT
    context: ContextT
    config: RunnableConfig
    stream_writer: Callable[[Any], None]
    tool_call_id: str | None
    store: Any | None
    tools: list[BaseTool] = field(default_factory=list)
    execution_info: Any | None = None
    server_info: Any | None = None


class InjectedState(InjectedToolArg):
    """Marks a parameter that gets the graph's state, or one field of it."""

    def __init__(self, field: str | None = None) -> None:
        self.field = field


class InjectedStore(InjectedToolArg):
    """Marks a parameter that gets the store that the graph was compiled with."""


def _get_all_injected_args(tool: BaseTool) -> dict[str, Any]:
    """The parameters that the model does not fill, each with its mark: a class or an object."""
    schema = tool.get_input_schema()
    annotations = {} if isinstance(schema, dict) else get_all_basemodel_annotations(schema)
    # A schema that was written by hand need not say what the function wants to be given.
    if function := getattr(tool, "func", None) or getattr(tool, "coroutine", None):
        annotations = {**get_type_hints(function, include_extras=True), **annotations}
    kinds = InjectedToolArg | _DirectlyInjectedToolArg
    marks = {name: _get_injection_from_type(type_, kinds) for name, type_ in annotations.items()}
    # A parameter that is called runtime gets it, whatever its type.
    marks |= {name: ToolRuntime for name in marks if name == "runtime"}
    return {name: mark for name, mark in marks.items() if mark}


def _get_injection_from_type(type_: Any, kind: Any) -> Any:
    """The first mark of a kind in an annotation: an instance, or the class itself; else None.

    A mark that says what is injected comes before one that only hides the parameter.
    """
    # The origin of `ToolRuntime[Context]` is the mark; those of `Annotated` and unions are none.
    mark = get_origin(type_) or type_
    if isinstance(mark, kind) or isinstance(mark, type) and issubclass(mark, kind):
        return mark
    marks = (_get_injection_from_type(part, kind) for part in get_args(type_))
    return max(filter(None, marks), key=lambda m: InjectedToolArg not in (m, type(m)), default=None)


def _inject_tool_args(
    tool_call: ToolCall, tool: BaseTool, injected: dict[str, Any], runtime: ToolRuntime, key: str
) -> ToolCall:
    """A copy of the call; what the model put into injected arguments gives way to the truth.

    Args:
        injected: the marks of the tool's parameters.
        key: where the state keeps its messages.

    Raises:
        KeyError: the state has no such field; AttributeError, if it is an object.
        ValueError: there is no store.
    """
    # Messages alone are a state that has nothing else.
    state = {key: runtime.state} if isinstance(runtime.state, list) else runtime.state
    read = getitem if isinstance(state, dict) else getattr
    # Not only replaced: a forged value goes even where there is no true one.
    args = {k: v for k, v in tool_call["args"].items() if k not in injected}
    for name, mark in injected.items():
        kind = mark if isinstance(mark, type) else type(mark)
        if issubclass(kind, ToolRuntime):
            args[name] = runtime
        elif issubclass(kind, InjectedState):
            field = getattr(mark, "field", None)
            try:
                args[name] = read(state, field) if field else state
            except (KeyError, AttributeError) as error:
                # With a default the parameter may go without.
                fields = getattr(tool.get_input_schema(), "model_fields", {})
                if name not in fields or fields[name].is_required():
                    raise type(error)(field) from error
        elif issubclass(kind, InjectedStore):
            if runtime.store is None:
                text = "Cannot inject store into tools with InjectedStore annotations - please "
                raise ValueError(f"{text}compile your graph with a store.")
            args[name] = runtime.store
    return {**tool_call, "args": args, "type": "tool_call"}
