"""Layer 13: hooks around a model call and a tool call, composed outermost first.

Mirrors langchain/agents/middleware/types.py, langchain/agents/structured_output.py, and from
langchain/agents/factory.py the composition
Leaves out the ready-made middleware, before_agent and after_agent, `dynamic_prompt`,
`ExtendedModelResponse`, marks of private fields of the state, the decorators' `tools` and
`state_schema` (write a class), `system_prompt` in a ModelRequest, `ProviderStrategy` and
`AutoStrategy`, a union as the schema of an answer, what the errors about an answer carry besides
their text, and the advice about a side of a hook that is missing.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from inspect import iscoroutinefunction
from typing import Annotated, Any, Generic, Literal, NotRequired, Self, get_type_hints

from pydantic import TypeAdapter

# Pydantic's own dependency: it takes only this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from minilc import branch, function_calling, injection, tool_errors, tool_node
from minilc.base import BaseTool
from minilc.messages import AIMessage, AnyMessage, BaseMessage, SystemMessage, ToolMessage
from minilc.state import MessagesState

JumpTo = Literal["tools", "model", "end"]
# What a hook of the `wrap_` kind is given besides the request: it runs everything further in.
Handler = Callable[[Any], Any]


# --- the agent's state ----------------------------------------------------------------------------


class AgentState(MessagesState):
    """What an agent knows; a middleware or a caller may add fields of their own."""

    jump_to: NotRequired[Annotated[JumpTo | None, branch.EphemeralValue]]
    structured_response: NotRequired[Any]


InputAgentState = OutputAgentState = AgentState


def _resolve_schema(schemas: Sequence[Any]) -> Any:
    """One schema of many; of a field that several have the last hint counts."""
    hints = [get_type_hints(schema, include_extras=True) for schema in schemas]
    # A type checker knows no TypedDict that is made at run time.
    return TypedDict("StateSchema", reduce(dict.__or__, hints))  # type: ignore[operator]


# --- the answer of a model ------------------------------------------------------------------------


@dataclass
class ModelResponse:
    """What a model call adds to the history, and the structured answer if there is one."""

    result: list[BaseMessage]
    structured_response: Any = None


ModelCallResult = ModelResponse | AIMessage


# --- the form of an answer ------------------------------------------------------------------------

MANY = "Model incorrectly returned multiple structured responses ({}) when only one is expected."


class MultipleStructuredOutputsError(Exception):
    """The model gave several structured answers at once."""


class StructuredOutputValidationError(Exception):
    """The structured answer does not fit its schema; its cause says why."""


@dataclass
class ToolStrategy:
    """Get a structured answer by offering its schema to the model as a tool that never runs.

    Args:
        schema: a pydantic model, a TypedDict, or a JSON schema with a title.
        tool_message_content: what the history says instead of the answer's repr.
        handle_errors: which errors go back to the model: all, none, those of some types; or all,
            in the words of a text or of a function of the error.

    Raises:
        ValueError: the schema is none.
    """

    schema: Any
    tool_message_content: str | None = None
    handle_errors: Any = True

    def __post_init__(self) -> None:
        self.tool = function_calling.convert_to_openai_tool(self.schema)
        self.name = self.tool["function"]["name"]
        # Whatever fits a JSON schema is for the model to know: any arguments pass.
        self.adapter = TypeAdapter(dict if isinstance(self.schema, dict) else self.schema)

    def read(self, message: AIMessage, calls: list[Any]) -> ModelResponse:
        """The structured answer that the calls of a message are; or what to tell the model.

        Raises:
            MultipleStructuredOutputsError: there are several, and `handle_errors` lets it pass.
            StructuredOutputValidationError: it does not fit, and `handle_errors` lets it pass.
        """
        structured = None
        try:
            structured = self._parse(calls)
            text = self.tool_message_content or f"Returning structured response: {structured}"
        except (MultipleStructuredOutputsError, StructuredOutputValidationError) as error:
            text = tool_errors._handle_tool_error(error, flag=self.handle_errors, show=str)
        answers = [ToolMessage(content=text, name=self.name, tool_call_id=c["id"]) for c in calls]
        return ModelResponse([message, *answers], structured)

    def _parse(self, calls: list[Any]) -> Any:
        if len(calls) > 1:
            raise MultipleStructuredOutputsError(MANY.format(", ".join(c["name"] for c in calls)))
        try:
            return self.adapter.validate_python(calls[0]["args"])
        except Exception as error:  # the schema's own validators may raise anything
            text = f"Failed to parse structured output for tool '{self.name}': Failed to parse data"
            raise StructuredOutputValidationError(f"{text} to {self.name}: {error}.") from error


# --- the request to a model -----------------------------------------------------------------------


@dataclass(kw_only=True)
class ModelRequest:
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
    response_format: ToolStrategy | None = None
    state: Any = field(default_factory=lambda: {"messages": []})
    runtime: Any = None
    model_settings: dict[str, Any] = field(default_factory=dict)

    def override(self, **overrides: Any) -> Self:
        """A copy with other values of these fields."""
        return replace(self, **overrides)


# --- the hooks ------------------------------------------------------------------------------------

MISSING = "{} implementation of {} is not available."


class AgentMiddleware(Generic[injection.StateT, injection.ContextT]):
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

    def before_model(self, state: injection.StateT, runtime: Any) -> Any:
        """Update the state before each model call."""

    async def abefore_model(self, state: injection.StateT, runtime: Any) -> Any:
        """`before_model`, awaited."""

    def after_model(self, state: injection.StateT, runtime: Any) -> Any:
        """Update the state after each model call."""

    async def aafter_model(self, state: injection.StateT, runtime: Any) -> Any:
        """`after_model`, awaited."""

    def wrap_model_call(self, request: ModelRequest, handler: Handler) -> ModelCallResult:
        """Give the answer of one model call; `handler(request)` asks the model."""
        raise NotImplementedError(MISSING.format("Synchronous", "wrap_model_call"))

    async def awrap_model_call(self, request: ModelRequest, handler: Handler) -> ModelCallResult:
        """`wrap_model_call`, awaited; so is the handler."""
        raise NotImplementedError(MISSING.format("Asynchronous", "awrap_model_call"))

    def wrap_tool_call(self, request: tool_node.ToolCallRequest, handler: Handler) -> Any:
        """Give the answer to one tool call; `handler(request)` runs the tool."""
        raise NotImplementedError(MISSING.format("Synchronous", "wrap_tool_call"))

    async def awrap_tool_call(self, request: tool_node.ToolCallRequest, handler: Handler) -> Any:
        """`wrap_tool_call`, awaited; so is the handler."""
        raise NotImplementedError(MISSING.format("Asynchronous", "awrap_tool_call"))


def _own_sides(middleware: AgentMiddleware, hook: str) -> list[Any]:
    """What a middleware overrides of a hook: its sync side, its async side, both or neither."""
    names, base = (hook, f"a{hook}"), AgentMiddleware
    own = [name for name in names if getattr(type(middleware), name) is not getattr(base, name)]
    return [getattr(middleware, name) for name in own]


def _wrappers(middleware: Sequence[Any], hook: str) -> list[list[Any]]:
    """The sync and the async sides of a hook that wraps, of all middleware that have either."""
    having = [m for m in middleware if _own_sides(m, hook)]
    return [[getattr(m, side) for m in having] for side in (hook, f"a{hook}")]


# --- decorators -----------------------------------------------------------------------------------


def hook_config(*, can_jump_to: Sequence[JumpTo]) -> Callable[[Any], Any]:
    """Declare where the `jump_to` that a method returns may lead."""

    def decorator(func: Any) -> Any:
        func.__can_jump_to__ = can_jump_to
        return func

    return decorator


def _hook(hook: str, func: Any = None, *, can_jump_to: Any = (), name: str | None = None) -> Any:
    """The decorator of a hook: makes a middleware of one function, with or without options."""
    if func is None:
        return partial(_hook, hook, can_jump_to=can_jump_to, name=name)
    # A partial can be marked, and the function stays as it was.
    method = hook_config(can_jump_to=can_jump_to)(partial(func))
    side = f"a{hook}" if iscoroutinefunction(func) else hook
    return type(name or func.__name__, (AgentMiddleware,), {side: staticmethod(method)})()


before_model = partial(_hook, "before_model")
after_model = partial(_hook, "after_model")
wrap_model_call = partial(_hook, "wrap_model_call")
wrap_tool_call = partial(_hook, "wrap_tool_call")


# --- composition ----------------------------------------------------------------------------------


def _chain_tool_call_wrappers(wrappers: Sequence[Any]) -> Any:
    """One wrapper of many, the first outermost; sync or async, as they are. None if there is none.

    Nothing here waits: what an inner wrapper returns is handed out as it is.
    """

    def compose_two(outer: Any, inner: Any) -> Any:
        return lambda request, execute: outer(request, lambda changed: inner(changed, execute))

    return reduce(compose_two, wrappers) if wrappers else None


def _chain_model_call_handlers(hooks: Sequence[Any], execute: Handler) -> Handler:
    """`execute` inside of all hooks, the first outermost; sync or async, as `execute` is.

    Whatever a hook returns, the next one out is given a ModelResponse.
    """
    shape: Any = _anormalize if iscoroutinefunction(execute) else _normalize_to_model_response

    def wrap(inner: Handler, hook: Any) -> Handler:
        return lambda request: shape(hook(request, inner))

    return reduce(wrap, reversed(hooks), execute)


def _normalize_to_model_response(result: ModelCallResult) -> ModelResponse:
    return ModelResponse([result]) if isinstance(result, AIMessage) else result


async def _anormalize(result: Awaitable[ModelCallResult]) -> ModelResponse:
    return _normalize_to_model_response(await result)
