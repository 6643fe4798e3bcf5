"""Layer 11: the arguments that the model may not fill: state, store and runtime.

Mirrors langgraph/prebuilt/tool_node.py
Leaves out `ToolRuntime.emit_output_delta` (a stream mode that minilc does not have).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, Union, get_args, get_origin, get_type_hints

# Pydantic's own dependency; a type variable with a default is not in `typing` before Python 3.13.
from typing_extensions import TypeVar

from minilc.base import BaseTool, RunnableConfig
from minilc.messages import ToolCall
from minilc.schema import (
    InjectedToolArg,
    _DirectlyInjectedToolArg,
    _is_injected_arg_type,
    get_all_basemodel_annotations,
)

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

    @classmethod
    def _for_call(
        cls, runtime: Any, call_id: str | None, state: Any, config: Any, tools: list[BaseTool]
    ) -> ToolRuntime:
        """What is the call's own, and what its node's Runtime has for all."""
        return ToolRuntime(
            state=state,
            tool_call_id=call_id,
            config=config,
            tools=tools,
            context=runtime.context,
            store=runtime.store,
            stream_writer=runtime.stream_writer,
            execution_info=runtime.execution_info,
            server_info=runtime.server_info,
        )


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

    def names(self) -> set[str | None]:
        """The parameters that get a value here; the errors about them are not the model's."""
        return {*self.state, self.store, self.runtime}


def _get_all_injected_args(tool: BaseTool) -> _InjectedArgs:
    """Look through a tool's schema and its function for parameters to inject."""
    schema = tool.get_input_schema()
    fields = {} if isinstance(schema, dict) else schema.model_fields
    annotations = get_all_basemodel_annotations(schema) if fields else {}
    if function := getattr(tool, "func", None) or getattr(tool, "coroutine", None):
        annotations = {**get_type_hints(function, include_extras=True), **annotations}
    injected = _InjectedArgs()
    for name, type_ in annotations.items():
        if _is_injected_arg_type(type_):
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


def _get_injection_from_type(type_: Any, injection_type: type) -> Any:
    """The mark in an annotation, True if the annotation itself is the mark, or None.

    Raises:
        ValueError: there are two.
    """
    matches = [arg for arg in get_args(type_) if _is_injection(arg, injection_type)]
    if len(matches) > 1:
        raise ValueError(
            f"A tool argument should not be annotated with {injection_type.__name__} "
            f"more than once. Found: {matches}"
        )
    return matches[0] if matches else _is_injection(type_, injection_type) or None


def _is_injection(type_: Any, injection_type: type) -> bool:
    origin = get_origin(type_)
    if origin is Union or origin is Annotated:
        return any(_is_injection(arg, injection_type) for arg in get_args(type_))
    kind = origin or type_
    return isinstance(kind, injection_type) or (
        isinstance(kind, type) and issubclass(kind, injection_type)
    )


def _inject(
    call: ToolCall, injected: _InjectedArgs, runtime: ToolRuntime, messages_key: str
) -> dict[str, Any]:
    """The arguments of the call; what the model put into injected ones gives way to the truth.

    Raises:
        KeyError: the state has no such field; AttributeError, if it is an object.
        ValueError: there is no store, or the state is a list that lacks a needed field.
    """
    if not (injected.all_injected_keys or injected.runtime):
        return {**call["args"]}
    values = _state_values(call["name"], injected, runtime.state, messages_key)
    if injected.store:
        if runtime.store is None:
            raise ValueError(
                "Cannot inject store into tools with InjectedStore annotations - "
                "please compile your graph with a store."
            )
        values[injected.store] = runtime.store
    if injected.runtime:
        values[injected.runtime] = runtime
    # Not only replaced: a forged value goes even where there is no true one.
    own = {k: v for k, v in call["args"].items() if k not in injected.all_injected_keys}
    return {**own, **values}


def _state_values(
    tool_name: str, injected: _InjectedArgs, state: Any, messages_key: str
) -> dict[str, Any]:
    if isinstance(state, list) and injected.state:
        state = _list_as_state(tool_name, list(injected.state.values()), state, messages_key)
    is_dict = isinstance(state, dict)
    values: dict[str, Any] = {}
    for name, key in injected.state.items():
        if not key:
            values[name] = state
        elif key in state if is_dict else hasattr(state, key):
            values[name] = state[key] if is_dict else getattr(state, key)
        elif name not in injected._optional_state_args:
            raise (KeyError if is_dict else AttributeError)(key)
    return values


def _list_as_state(
    tool_name: str, keys: list[str | None], messages: list[Any], messages_key: str
) -> dict[str, Any]:
    """A list of messages as a state; it cannot serve a tool that needs other fields."""
    if keys == [messages_key] or keys[0] is None:
        return {messages_key: messages}
    text = f"Invalid input to ToolNode. Tool {tool_name} requires graph state dict as input."
    if any(keys):
        text += f" State should contain fields {', '.join(filter(None, keys))}."
    raise ValueError(text)
