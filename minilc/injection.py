"""Layer 11: the arguments that the model may not fill: state, store and runtime.

Mirrors langgraph/prebuilt/tool_node.py
Leaves out `ToolRuntime.emit_output_delta` (a stream mode that minilc does not have), and the
refusal of a parameter that is marked twice: its first mark counts.
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


@dataclass
class _InjectedArgs:
    """What one tool wants to be given.

    Args:
        state: parameter -> the field of the state that it gets; None for the whole state.
        store: the parameter that gets the store.
        runtime: the parameter that gets the ToolRuntime.
        all_injected_keys: every parameter with a mark of any kind; the model fills none of them.
        _optional_state_args: parameters that have a default, if the state lacks their field.
    """

    state: dict[str, str | None] = field(default_factory=dict)
    store: str | None = None
    runtime: str | None = None
    all_injected_keys: set[str] = field(default_factory=set)
    _optional_state_args: set[str] = field(default_factory=set)


def _get_all_injected_args(tool: BaseTool) -> _InjectedArgs:
    """Look through a tool's schema and its function for parameters to inject."""
    schema = tool.get_input_schema()
    fields = {} if isinstance(schema, dict) else schema.model_fields
    annotations = get_all_basemodel_annotations(schema) if fields else {}
    # A schema that was written by hand need not say what the function wants to be given.
    if function := getattr(tool, "func", None) or getattr(tool, "coroutine", None):
        annotations = {**get_type_hints(function, include_extras=True), **annotations}
    injected = _InjectedArgs()
    for name, type_ in annotations.items():
        if _get_injection_from_type(type_, InjectedToolArg | _DirectlyInjectedToolArg):
            injected.all_injected_keys.add(name)
        # A parameter that is called runtime gets it, whatever its type.
        if name == "runtime" or _get_injection_from_type(type_, ToolRuntime):
            injected.runtime = name
        if _get_injection_from_type(type_, InjectedStore):
            injected.store = name
        if mark := _get_injection_from_type(type_, InjectedState):
            injected.state[name] = getattr(mark, "field", None)
            if name in fields and not fields[name].is_required():
                injected._optional_state_args.add(name)
    return injected


def _get_injection_from_type(type_: Any, kind: Any) -> Any:
    """The first mark of a kind in an annotation: an instance, or the class itself; else None."""
    # The origin of `ToolRuntime[Context]` is the mark; those of `Annotated` and unions are none.
    mark = get_origin(type_) or type_
    if isinstance(mark, kind) or isinstance(mark, type) and issubclass(mark, kind):
        return mark
    marks = (_get_injection_from_type(part, kind) for part in get_args(type_))
    return next(filter(None, marks), None)


def _inject_tool_args(
    tool_call: ToolCall, injected: _InjectedArgs, runtime: ToolRuntime, messages_key: str
) -> dict[str, Any]:
    """A copy of the call; what the model put into injected arguments gives way to the truth.

    Raises:
        KeyError: the state has no such field; AttributeError, if it is an object.
        ValueError: there is no store.
    """
    # Messages alone are a state that has nothing else.
    state = {messages_key: runtime.state} if isinstance(runtime.state, list) else runtime.state
    read = getitem if isinstance(state, dict) else getattr
    # Not only replaced: a forged value goes even where there is no true one.
    args = {k: v for k, v in tool_call["args"].items() if k not in injected.all_injected_keys}
    for name, key in injected.state.items():
        try:
            args[name] = read(state, key) if key else state
        except (KeyError, AttributeError) as error:
            # With a default the parameter may go without.
            if name not in injected._optional_state_args:
                raise type(error)(key) from error
    if injected.store:
        if runtime.store is None:
            text = "Cannot inject store into tools with InjectedStore annotations - please compile "
            raise ValueError(f"{text}your graph with a store.")
        args[injected.store] = runtime.store
    if injected.runtime:
        args[injected.runtime] = runtime
    return {**tool_call, "args": args, "type": "tool_call"}
