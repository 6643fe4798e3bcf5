"""Layer 13: hooks around a model call and a tool call, composed outermost first.

Mirrors langchain/agents/middleware/types.py, langchain/agents/structured_output.py, and from
langchain/agents/factory.py the composition
Leaves out the ready-made middleware, `dynamic_prompt`, `ExtendedModelResponse`, trace policies,
stream transformers, `ProviderStrategy` and `AutoStrategy`, `system_prompt` as an argument of
ModelRequest, the warning when one of its fields is assigned.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field, is_dataclass, replace
from functools import partial, reduce
from inspect import iscoroutinefunction
from types import UnionType
from typing import Annotated, Any, Generic, Literal, NamedTuple, NotRequired, Required
from uuid import uuid4

from pydantic import BaseModel, TypeAdapter

# Pydantic's own dependency: it takes only this TypedDict before Python 3.12, and a type variable
# with a default is not in `typing` before Python 3.13.
from typing_extensions import TypedDict, TypeVar, is_typeddict

from minilc.base import BaseTool, RunnableConfig
from minilc.branch import Command, RunnableCallable, Runtime
from minilc.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
)
from minilc.state import EphemeralValue, add_messages
from minilc.structured import StructuredTool
from minilc.tool_node import ToolCallRequest

SchemaT = TypeVar("SchemaT")
StateT = TypeVar("StateT", default=Any)
ContextT = TypeVar("ContextT", default=None)
ResponseT = TypeVar("ResponseT", default=Any)
JumpTo = Literal["tools", "model", "end"]
Update = dict[str, Any] | Command[Any] | None
# What a hook of the `wrap_` kind is given besides the request: it runs everything further in.
Handler = Callable[[Any], Any]
STRUCTURED_OUTPUT_ERROR_TEMPLATE = "Error: {error}\n Please fix your mistakes."


# --- the agent's state ----------------------------------------------------------------------------


class OmitFromSchema(NamedTuple):
    """Marks a field of the state that a caller may not give, or does not get."""

    input: bool = True
    output: bool = True


OmitFromInput = OmitFromSchema(output=False)
OmitFromOutput = OmitFromSchema(input=False)
PrivateStateAttr = OmitFromSchema()


class AgentState(TypedDict, Generic[ResponseT]):
    """What an agent knows; a middleware or a caller may add fields of their own."""

    messages: Required[Annotated[list[AnyMessage], add_messages]]
    jump_to: NotRequired[Annotated[JumpTo | None, EphemeralValue, PrivateStateAttr]]
    structured_response: NotRequired[Annotated[ResponseT, OmitFromInput]]


class InputAgentState(TypedDict):
    """What an agent is given."""

    messages: Required[Annotated[list[AnyMessage | dict[str, Any]], add_messages]]


class OutputAgentState(TypedDict, Generic[ResponseT]):
    """What an agent gives back."""

    messages: Required[Annotated[list[AnyMessage], add_messages]]
    structured_response: NotRequired[ResponseT]


def _resolve_schemas(middleware: Sequence[AgentMiddleware], state_schema: Any) -> list[Any]:
    """The schemas of the state, its input and its output; a field's last hint counts."""
    hints: dict[str, Any] = {}
    for schema in (*(m.state_schema for m in middleware), state_schema or AgentState):
        hints |= typing.get_type_hints(schema, include_extras=True)
    given = {name: hint for name, hint in hints.items() if not _is_omitted(hint, "input")}
    told = {name: hint for name, hint in hints.items() if not _is_omitted(hint, "output")}
    named = {"StateSchema": hints, "InputSchema": given, "OutputSchema": told}
    # A type checker knows no TypedDict that is made at run time.
    return [TypedDict(*item) for item in named.items()]  # type: ignore[operator]


def _is_omitted(hint: Any, side: str) -> bool:
    if typing.get_origin(hint) in (Required, NotRequired):
        hint = typing.get_args(hint)[0]
    marks = getattr(hint, "__metadata__", ())
    return any(isinstance(mark, OmitFromSchema) and getattr(mark, side) for mark in marks)


# --- one model call -------------------------------------------------------------------------------


@dataclass(kw_only=True)
class ModelRequest(Generic[ContextT]):
    """One question to the model on its way; what `wrap_model_call` sees and may replace.

    Args:
        messages: the history, without the system message.
        tools: tools, and providers' dicts, that the model is offered in this call.
        response_format: what the answer must look like.
        model_settings: further arguments to `bind_tools`, or to `bind` where there are no tools.
    """

    model: Any
    messages: list[AnyMessage]
    system_message: SystemMessage | None = None
    tool_choice: Any = None
    tools: list[BaseTool | dict[str, Any]] = field(default_factory=list)
    response_format: Any = None
    state: Any = field(default_factory=lambda: {"messages": []})
    runtime: Runtime[ContextT] | None = None
    model_settings: dict[str, Any] = field(default_factory=dict)

    @property
    def system_prompt(self) -> str | None:
        """The text of the system message."""
        return None if self.system_message is None else self.system_message.text

    def override(self, **overrides: Any) -> ModelRequest[ContextT]:
        """A copy with other values of these fields; a `system_prompt` becomes the system message.

        Raises:
            ValueError: both `system_prompt` and `system_message` are given.
        """
        if "system_prompt" in overrides:
            if "system_message" in overrides:
                raise ValueError("Cannot specify both system_prompt and system_message")
            prompt = overrides.pop("system_prompt")
            overrides["system_message"] = None if prompt is None else SystemMessage(content=prompt)
        return replace(self, **overrides)


@dataclass
class ModelResponse(Generic[ResponseT]):
    """What a model call adds to the history, and the structured answer if there is one."""

    result: list[BaseMessage]
    structured_response: ResponseT | None = None


ModelCallResult = ModelResponse[ResponseT] | AIMessage


# --- the form of an answer ------------------------------------------------------------------------


class StructuredOutputError(Exception):
    """The model's structured answer cannot be used; `ai_message` is the answer."""

    ai_message: AIMessage


class MultipleStructuredOutputsError(StructuredOutputError):
    """The model gave several structured answers at once."""

    def __init__(self, tool_names: list[str], ai_message: AIMessage) -> None:
        self.tool_names, self.ai_message = tool_names, ai_message
        super().__init__(
            "Model incorrectly returned multiple structured responses "
            f"({', '.join(tool_names)}) when only one is expected."
        )


class StructuredOutputValidationError(StructuredOutputError):
    """The structured answer does not fit its schema; `source` says why."""

    def __init__(self, tool_name: str, source: Exception, ai_message: AIMessage) -> None:
        self.tool_name, self.source, self.ai_message = tool_name, source, ai_message
        super().__init__(f"Failed to parse structured output for tool '{tool_name}': {source}.")


class OutputToolBinding:
    """A schema as a tool: the model answers by calling it, and it never runs.

    Raises:
        ValueError: it is no pydantic model, dataclass, TypedDict or JSON schema.
    """

    def __init__(self, schema: Any) -> None:
        is_json, is_model = isinstance(schema, dict), isinstance(schema, type(BaseModel))
        if not (is_json or is_model or is_dataclass(schema) or is_typeddict(schema)):
            raise ValueError(
                f"Unsupported schema type: {type(schema)}. Supported types: Pydantic models, "
                "dataclasses, TypedDicts, and JSON schema dicts."
            )
        # Whatever fits a JSON schema is for the model to know: any arguments pass.
        self.adapter: TypeAdapter[Any] = TypeAdapter(dict[str, Any] if is_json else schema)
        json_schema = schema if is_json else self.adapter.json_schema()
        unnamed = f"response_format_{uuid4().hex[:4]}"
        self.schema = schema
        self.name = str(schema.get("title", unnamed)) if is_json else schema.__name__
        description = schema.get("description", "") if is_json else schema.__doc__ or ""
        self.tool = StructuredTool(name=self.name, description=description, args_schema=json_schema)

    def parse(self, tool_args: dict[str, Any]) -> Any:
        """An object of the schema; for a JSON schema the arguments as they are.

        Raises:
            ValueError: they do not fit.
        """
        try:
            return self.adapter.validate_python(tool_args)
        except Exception as error:  # the schema's own validators may raise anything
            raise ValueError(f"Failed to parse data to {self.name}: {error}") from error


@dataclass
class ToolStrategy(Generic[SchemaT]):
    """Get a structured answer by offering its schema to the model as a tool.

    Args:
        schema: of the answer; a union (or `oneOf`) lets the model choose.
        tool_message_content: what the history says instead of the answer's repr.
        handle_errors: which errors go back to the model: all, none, those of some types; or all,
            in the words of a text or of a function of the error.
    """

    schema: Any
    _: KW_ONLY
    tool_message_content: str | None = None
    handle_errors: Any = True

    def __post_init__(self) -> None:
        variants = [self.schema]
        if typing.get_origin(self.schema) in (UnionType, typing.Union):
            variants = list(typing.get_args(self.schema))
        elif isinstance(self.schema, dict):
            variants = self.schema.get("oneOf", variants)
        self.schema_specs = [OutputToolBinding(variant) for variant in variants]

    @classmethod
    def of(cls, response_format: Any) -> ToolStrategy | None:
        """What a `response_format` means: itself, a strategy for a bare schema, or nothing."""
        if response_format is None or isinstance(response_format, cls):
            return response_format
        return cls(response_format)

    def read(
        self, message: AIMessage, calls: list[ToolCall], tools: dict[str, OutputToolBinding]
    ) -> ModelResponse:
        """The structured answer that the calls of a message are; or what to tell the model.

        Raises:
            StructuredOutputError: `handle_errors` does not cover what is wrong with it.
        """
        name = calls[0]["name"]
        if len(calls) > 1:
            several = MultipleStructuredOutputsError([call["name"] for call in calls], message)
            return self._handle_structured_output_error(several, calls)
        try:
            structured = tools[name].parse(calls[0]["args"])
            text = self.tool_message_content or f"Returning structured response: {structured}"
            return ModelResponse([message, _answer(calls[0], text)], structured)
        except ValueError as source:
            error = StructuredOutputValidationError(name, source, message)
            return self._handle_structured_output_error(error, calls)

    def _handle_structured_output_error(
        self, error: StructuredOutputError, calls: list[ToolCall]
    ) -> ModelResponse:
        handled = self.handle_errors
        if isinstance(handled, bool):
            handled = Exception if handled else ()
        if not isinstance(handled, type | tuple):
            text = handled if isinstance(handled, str) else handled(error)
        elif isinstance(error, handled):
            text = STRUCTURED_OUTPUT_ERROR_TEMPLATE.format(error=error)
        else:
            raise error from getattr(error, "source", None)
        return ModelResponse([error.ai_message, *(_answer(call, text) for call in calls)])


def _answer(call: Any, text: str) -> ToolMessage:
    return ToolMessage(content=text, name=call["name"], tool_call_id=call["id"])


# --- the hooks ------------------------------------------------------------------------------------


class AgentMiddleware(Generic[StateT, ContextT, ResponseT]):
    """Code that stands around an agent's steps: subclass it and override the hooks you need.

    A hook that updates the state may have one side, sync or async; a sync one serves both. Of a
    hook that wraps a call, a run needs the side that it runs on.

    Args:
        state_schema: what the agent's state must have besides its own fields.
        tools: what the agent has besides its own tools.
    """

    state_schema: type[Any] = AgentState
    tools: Sequence[BaseTool] = ()

    @property
    def name(self) -> str:
        """What its nodes are called after; no two middleware of an agent may share it."""
        return type(self).__name__

    def before_agent(self, state: StateT, runtime: Runtime[ContextT]) -> Update:
        """Update the state once, before everything else."""

    async def abefore_agent(self, state: StateT, runtime: Runtime[ContextT]) -> Update:
        """`before_agent`, awaited."""

    def before_model(self, state: StateT, runtime: Runtime[ContextT]) -> Update:
        """Update the state before each model call."""

    async def abefore_model(self, state: StateT, runtime: Runtime[ContextT]) -> Update:
        """`before_model`, awaited."""

    def after_model(self, state: StateT, runtime: Runtime[ContextT]) -> Update:
        """Update the state after each model call."""

    async def aafter_model(self, state: StateT, runtime: Runtime[ContextT]) -> Update:
        """`after_model`, awaited."""

    def after_agent(self, state: StateT, runtime: Runtime[ContextT]) -> Update:
        """Update the state once, when everything else is done."""

    async def aafter_agent(self, state: StateT, runtime: Runtime[ContextT]) -> Update:
        """`after_agent`, awaited."""

    def wrap_model_call(self, request: ModelRequest, handler: Handler) -> ModelCallResult:
        """Give the answer of one model call; `handler(request)` asks the model."""
        raise _not_available("wrap_model_call", "", "a")

    async def awrap_model_call(self, request: ModelRequest, handler: Handler) -> ModelCallResult:
        """`wrap_model_call`, awaited; so is the handler."""
        raise _not_available("wrap_model_call", "a", "")

    def wrap_tool_call(self, request: ToolCallRequest, handler: Handler) -> Any:
        """Give the answer to one tool call; `handler(request)` runs the tool."""
        raise _not_available("wrap_tool_call", "", "a")

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Handler) -> Any:
        """`wrap_tool_call`, awaited; so is the handler."""
        raise _not_available("wrap_tool_call", "a", "")


def _not_available(hook: str, here: str, there: str) -> NotImplementedError:
    """The run needs one side of the hook, `here`, and only the other was written.

    Sync is "" and async is "a": every word of the one becomes the other's by that letter.
    """
    return NotImplementedError(
        f"{here}synchronous implementation of {here}{hook} is not available. ".capitalize()
        + f"You are likely encountering this error because you defined only the {there}sync "
        f"version ({there}{hook}) and invoked your agent in {'an ' if here else 'a '}{here}"
        f"synchronous context (e.g., using `{here}stream()` or `{here}invoke()`). To resolve "
        f"this, either: (1) subclass AgentMiddleware and implement the {here}synchronous "
        f"{here}{hook} method, (2) use the @{hook} decorator on a standalone {here}sync function, "
        f"or (3) invoke your agent {there}synchronously using `{there}stream()` or "
        f"`{there}invoke()`."
    )


def _own_sides(middleware: AgentMiddleware, hook: str) -> list[Any]:
    """What a middleware overrides of a hook: its sync side, its async side, both or neither."""
    names, base = (hook, f"a{hook}"), AgentMiddleware
    own = [name for name in names if getattr(type(middleware), name) is not getattr(base, name)]
    return [getattr(middleware, name) for name in own]


class _HookNode:
    """A hook as a node: each side does its part, and one that is alone does both."""

    def __init__(self, middleware: AgentMiddleware, hook: str) -> None:
        sides = _own_sides(middleware, hook)
        declared = [side.__can_jump_to__ for side in sides if hasattr(side, "__can_jump_to__")]
        self.can_jump_to: list[JumpTo] = declared[0] if declared else []
        self.sync, self.async_ = RunnableCallable(sides[0]), RunnableCallable(sides[-1])

    def invoke(self, state: Any, config: RunnableConfig) -> Any:
        return self.sync.invoke(state, config)

    async def ainvoke(self, state: Any, config: RunnableConfig) -> Any:
        return await self.async_.ainvoke(state, config)


# --- decorators -----------------------------------------------------------------------------------


def hook_config(*, can_jump_to: list[JumpTo] | None = None) -> Callable[[Any], Any]:
    """Declare where the `jump_to` of a `before_` or `after_` hook may lead."""

    def decorator(func: Any) -> Any:
        if can_jump_to is not None:
            func.__can_jump_to__ = can_jump_to
        return func

    return decorator


def _hook_decorator(hook: str) -> Callable[..., Any]:
    """The decorator that makes a middleware of one function, with or without options."""

    def decorate(
        func: Callable[..., Any] | None = None,
        *,
        state_schema: type[Any] | None = None,
        tools: list[BaseTool] | None = None,
        can_jump_to: list[JumpTo] | None = None,
        name: str | None = None,
    ) -> Any:
        if can_jump_to is not None and hook.startswith("wrap_"):
            raise TypeError(f"{hook}() got an unexpected keyword argument 'can_jump_to'")
        members = {"state_schema": state_schema or AgentState, "tools": tools or []}

        def decorator(func: Callable[..., Any]) -> AgentMiddleware:
            side, method = _as_method(hook, func)
            jumps = getattr(func, "__can_jump_to__", None) if can_jump_to is None else can_jump_to
            own = {**members, side: hook_config(can_jump_to=jumps)(method)}
            title: str = getattr(func, "__name__", hook.title().replace("_", "") + "Middleware")
            return type(name or title, (AgentMiddleware,), own)()

        return decorator if func is None else decorator(func)

    decorate.__name__ = decorate.__qualname__ = hook
    return decorate


def _as_method(hook: str, func: Callable[..., Any]) -> tuple[str, Callable[..., Any]]:
    """Which side of the hook a function is, and the function as a method."""

    async def async_wrapped(_self: Any, state: Any, runtime: Any) -> Any:
        return await func(state, runtime)

    def wrapped(_self: Any, state: Any, runtime: Any) -> Any:
        return func(state, runtime)

    return (f"a{hook}", async_wrapped) if iscoroutinefunction(func) else (hook, wrapped)


before_agent = _hook_decorator("before_agent")
before_model = _hook_decorator("before_model")
after_model = _hook_decorator("after_model")
after_agent = _hook_decorator("after_agent")
wrap_model_call = _hook_decorator("wrap_model_call")
wrap_tool_call = _hook_decorator("wrap_tool_call")


# --- composition ----------------------------------------------------------------------------------


def _chain_tool_call_wrappers(wrappers: Sequence[Any]) -> Any:
    """One wrapper of many, the first outermost; sync or async, as they are. None if there is none.

    Nothing here waits: what an inner wrapper returns is handed out as it is.
    """

    def compose_two(outer: Any, inner: Any) -> Any:
        return lambda request, execute: outer(request, lambda changed: inner(changed, execute))

    return reduce(compose_two, wrappers) if wrappers else None


def _chain_model_call_handlers(hooks: Sequence[Any], execute: Handler) -> Handler:
    """`execute` inside of all hooks, the first outermost; sync or async, as `execute` is."""
    call_hook = _acall_hook if iscoroutinefunction(execute) else _call_hook
    for hook in reversed(hooks):
        execute = partial(call_hook, hook, execute)
    return execute


def _call_hook(hook: Any, inner: Handler, request: ModelRequest) -> ModelResponse:
    return _normalize_to_model_response(hook(request, inner))


async def _acall_hook(hook: Any, inner: Handler, request: ModelRequest) -> ModelResponse:
    return _normalize_to_model_response(await hook(request, inner))


def _normalize_to_model_response(result: ModelCallResult) -> ModelResponse:
    return ModelResponse([result]) if isinstance(result, AIMessage) else result
