"""Layer 13: hooks around a model call and a tool call, composed outermost first.

Mirrors langchain/agents/middleware/types.py, and the composition in langchain/agents/factory.py
Leaves out the ready-made middleware, `dynamic_prompt`, `ExtendedModelResponse`, trace policies,
stream transformers, `system_prompt` as an argument of ModelRequest, the warning when one of its
fields is assigned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from inspect import iscoroutinefunction
from typing import Annotated, Any, Generic, Literal, NamedTuple, NotRequired, Required

# Pydantic's own dependency: it takes only this TypedDict before Python 3.12, and a type variable
# with a default is not in `typing` before Python 3.13.
from typing_extensions import TypedDict, TypeVar

from minilc.base import BaseTool
from minilc.branch import Command, Runtime
from minilc.messages import AIMessage, AnyMessage, BaseMessage, SystemMessage
from minilc.state import EphemeralValue, add_messages
from minilc.tool_node import ToolCallRequest

StateT = TypeVar("StateT", default=Any)
ContextT = TypeVar("ContextT", default=None)
ResponseT = TypeVar("ResponseT", default=Any)
JumpTo = Literal["tools", "model", "end"]
Update = dict[str, Any] | Command[Any] | None
# What a hook of the `wrap_` kind is given besides the request: it runs everything further in.
Handler = Callable[[Any], Any]


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
