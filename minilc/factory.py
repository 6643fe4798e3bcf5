"""Layer 14: create_agent: a model node, a tools node, and the edges that make them a loop.

Mirrors langchain/agents/factory.py, langchain/agents/structured_output.py
Leaves out models by name, structured output by the provider (`ProviderStrategy`, `AutoStrategy`),
static breakpoints, caches, stream transformers, tracing.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, is_dataclass, replace
from itertools import pairwise
from types import UnionType
from typing import Any, Generic, TypedDict, TypeVar, get_args, get_origin
from uuid import uuid4

from pydantic import BaseModel, TypeAdapter
from typing_extensions import is_typeddict

from minilc.base import BaseTool, RunnableConfig
from minilc.branch import CONF, CONFIG_KEY_RUNTIME, END, START, RunnableCallable, Send
from minilc.messages import AIMessage, RemoveMessage, SystemMessage, ToolCall, ToolMessage
from minilc.middleware import (
    AgentMiddleware,
    AgentState,
    ModelRequest,
    ModelResponse,
    OmitFromSchema,
    _chain_model_call_handlers,
    _chain_tool_call_wrappers,
)
from minilc.state import REMOVE_ALL_MESSAGES, CompiledStateGraph, StateGraph
from minilc.structured import StructuredTool
from minilc.tool_node import ToolNode

SchemaT = TypeVar("SchemaT")
Path = Callable[[dict[str, Any]], str | list[Send] | None]
HOOKS = ("before_agent", "before_model", "after_model", "after_agent")
STRUCTURED_OUTPUT_ERROR_TEMPLATE = "Error: {error}\n Please fix your mistakes."
DYNAMIC_TOOL_ERROR_TEMPLATE = """\
Middleware added tools that the agent doesn't know how to execute.

Unknown tools: {unknown_tool_names}
Registered tools: {available_tool_names}

This happens when middleware modifies `request.tools` in `wrap_model_call` to include
tools that weren't passed to `create_agent()`.

How to fix this:

Option 1: Register tools at agent creation (recommended for most cases)
    Pass the tools to `create_agent(tools=[...])` or set them on `middleware.tools`.
    This makes tools available for every agent invocation.

Option 2: Handle dynamic tools in middleware (for tools created at runtime)
    Implement `wrap_tool_call` to execute tools that are added dynamically:

    class MyMiddleware(AgentMiddleware):
        def wrap_tool_call(self, request, handler):
            if request.tool_call["name"] == "dynamic_tool":
                # Execute the dynamic tool yourself or override with tool instance
                return handler(request.override(tool=my_dynamic_tool))
            return handler(request)"""


def create_agent(
    model: Any,
    tools: Sequence[BaseTool | Callable[..., Any] | dict[str, Any]] | None = None,
    *,
    system_prompt: str | SystemMessage | None = None,
    middleware: Sequence[AgentMiddleware] = (),
    response_format: Any = None,
    state_schema: type[Any] | None = None,
    context_schema: type[Any] | None = None,
    checkpointer: Any = None,
    store: Any = None,
    name: str | None = None,
) -> CompiledStateGraph:
    """Build the graph that asks the model and runs the tools it calls, until it calls none.

    Args:
        model: a chat model.
        tools: tools, functions to make tools of, and dicts that only the model's provider knows.
        system_prompt: stands before the history in every request; never kept in the state.
        middleware: hooks around the steps; the first is the outermost.
        response_format: the schema of a structured answer, or a `ToolStrategy` around it.
        state_schema: `AgentState` with more fields.
        name: of the graph, and of its AIMessages.

    Raises:
        TypeError: the model is a name.
        ValueError: a tool or a schema is none.
        AssertionError: two middleware have one name.
    """
    if isinstance(model, str):
        raise TypeError(f"create_agent needs a chat model, not the name of one (got {model!r})")
    if system_prompt is not None and not isinstance(system_prompt, SystemMessage):
        system_prompt = SystemMessage(content=system_prompt)
    strategy = _to_strategy(response_format)
    tool_node = _make_tool_node(tools or (), middleware)
    if len({m.name for m in middleware}) != len(middleware):
        raise AssertionError("Please remove duplicate middleware instances.")
    offered = [*(tool_node.tools_by_name.values() if tool_node else ())]
    offered += [tool for tool in tools or () if isinstance(tool, dict)]
    request = ModelRequest(
        model=model,
        messages=[],
        system_message=system_prompt,
        tools=offered,
        response_format=strategy,
    )
    model_node = _ModelNode(request, tool_node, middleware, name)
    graph = StateGraph(
        _resolve_schema(middleware, state_schema),
        context_schema,
        input_schema=_resolve_schema(middleware, state_schema, "input"),
        output_schema=_resolve_schema(middleware, state_schema, "output"),
    )
    graph.add_node("model", model_node)
    if tool_node:
        graph.add_node("tools", tool_node)
    _add_edges(graph, middleware, tool_node, model_node)
    compiled = graph.compile(checkpointer, store=store, name=name)
    return compiled.with_config({"recursion_limit": 9_999})


def _make_tool_node(tools: Sequence[Any], middleware: Sequence[AgentMiddleware]) -> ToolNode | None:
    """The node for the tools that run here; dicts are the provider's own and run there."""
    wrapping = [m for m in middleware if _own_sides(m, "wrap_tool_call")]
    here = [tool for m in middleware for tool in m.tools]
    here += [tool for tool in tools if not isinstance(tool, dict)]
    if not (here or wrapping):
        return None
    wrap = _chain_tool_call_wrappers([m.wrap_tool_call for m in wrapping])
    awrap = _chain_tool_call_wrappers([m.awrap_tool_call for m in wrapping])
    return ToolNode(here, wrap_tool_call=wrap, awrap_tool_call=awrap)


def _own_sides(middleware: AgentMiddleware, hook: str) -> list[Any]:
    """What a middleware overrides of a hook: its sync side, its async side, both or neither."""
    names = (hook, f"a{hook}")
    own = [n for n in names if getattr(type(middleware), n) is not getattr(AgentMiddleware, n)]
    return [getattr(middleware, name) for name in own]


def _resolve_schema(middleware: Sequence[AgentMiddleware], last: Any, side: str = "") -> Any:
    """One TypedDict of all fields; where two schemas have the same, the later one's counts.

    Args:
        side: "input" or "output" leaves out the fields that are marked so.
    """
    fields: dict[str, Any] = {}
    for schema in dict.fromkeys([last or AgentState, *(m.state_schema for m in middleware[::-1])]):
        for name, hint in typing.get_type_hints(schema, include_extras=True).items():
            required = get_origin(hint) in (typing.Required, typing.NotRequired)
            marks = getattr(get_args(hint)[0] if required else hint, "__metadata__", ())
            omissions = [mark for mark in marks if isinstance(mark, OmitFromSchema)]
            if not (side and any(getattr(mark, side) for mark in omissions)):
                fields.setdefault(name, hint)
    return TypedDict("AgentSchema", fields)  # type: ignore[operator]  # made at run time


# --- structured output ----------------------------------------------------------------------------


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
        is_model = isinstance(schema, type) and issubclass(schema, BaseModel)
        self.adapter: TypeAdapter[Any] | None = None
        if isinstance(schema, dict):
            json_schema, description = schema, schema.get("description", "")
            self.name = str(schema.get("title", f"response_format_{str(uuid4())[:4]}"))
        elif is_model or is_dataclass(schema) or is_typeddict(schema):
            self.adapter = TypeAdapter(schema)
            json_schema, description = self.adapter.json_schema(), schema.__doc__ or ""
            self.name = schema.__name__
        else:
            raise ValueError(
                f"Unsupported schema type: {type(schema)}. Supported types: Pydantic models, "
                "dataclasses, TypedDicts, and JSON schema dicts."
            )
        self.tool = StructuredTool(name=self.name, description=description, args_schema=json_schema)

    def parse(self, tool_args: dict[str, Any]) -> Any:
        """An object of the schema; for a JSON schema the arguments as they are.

        Raises:
            ValueError: they do not fit.
        """
        if self.adapter is None:
            return tool_args
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
        if get_origin(self.schema) in (UnionType, typing.Union):
            variants = list(get_args(self.schema))
        elif isinstance(self.schema, dict):
            variants = self.schema.get("oneOf", variants)
        self.schema_specs = [OutputToolBinding(variant) for variant in variants]


def _to_strategy(response_format: Any) -> ToolStrategy | None:
    if response_format is None or isinstance(response_format, ToolStrategy):
        return response_format
    return ToolStrategy(response_format)


def _handle_structured_output_error(
    error: StructuredOutputError, handle_errors: Any, calls: list[ToolCall]
) -> ModelResponse:
    """Tell the model what was wrong with its answer, so that it tries again.

    Raises:
        StructuredOutputError: `handle_errors` does not cover the error.
    """
    if isinstance(handle_errors, bool):
        handle_errors = Exception if handle_errors else ()
    if not isinstance(handle_errors, type | tuple):
        text = handle_errors if isinstance(handle_errors, str) else handle_errors(error)
    elif isinstance(error, handle_errors):
        text = STRUCTURED_OUTPUT_ERROR_TEMPLATE.format(error=error)
    else:
        raise error from getattr(error, "source", None)
    return ModelResponse([error.ai_message, *(_answer(call, text) for call in calls)])


def _answer(call: Any, text: str) -> ToolMessage:
    return ToolMessage(content=text, name=call["name"], tool_call_id=call["id"])


# --- the model node -------------------------------------------------------------------------------


class _ModelNode:
    """The node that asks the model; it checks what the model is asked, and what it answers.

    Args:
        request: what every request starts as.
    """

    def __init__(
        self,
        request: ModelRequest,
        tool_node: ToolNode | None,
        middleware: Sequence[AgentMiddleware],
        name: str | None,
    ) -> None:
        self.request, self.name = request, name
        self.wrapping = [m for m in middleware if _own_sides(m, "wrap_model_call")]
        hooks = [m.wrap_model_call for m in self.wrapping]
        ahooks = [m.awrap_model_call for m in self.wrapping]
        self.call = _chain_model_call_handlers(hooks, self._execute_model_sync)
        self.acall = _chain_model_call_handlers(ahooks, self._execute_model_async)
        # A wrap_tool_call may run tools that nobody has registered, so it takes any.
        self.takes_any_tool = any(_own_sides(m, "wrap_tool_call") for m in middleware)
        self.known = tool_node.tools_by_name if tool_node else {}
        specs = request.response_format.schema_specs if request.response_format else []
        self.output_tools = {spec.name: spec for spec in specs}

    def invoke(self, state: Any, config: RunnableConfig) -> dict[str, Any]:
        """One model call, as an update of the state."""
        history = _patch_invalid_tool_calls(state["messages"])
        response = self.call(self._make_request(state, history, config))
        return self._make_update(state, history, response)

    async def ainvoke(self, state: Any, config: RunnableConfig) -> dict[str, Any]:
        """`invoke`, awaited."""
        history = _patch_invalid_tool_calls(state["messages"])
        response = await self.acall(self._make_request(state, history, config))
        return self._make_update(state, history, response)

    def _execute_model_sync(self, request: ModelRequest) -> ModelResponse:
        bound, strategy, messages = self._get_bound_model(request)
        return self._handle_model_output(bound.invoke(messages), strategy)

    async def _execute_model_async(self, request: ModelRequest) -> ModelResponse:
        bound, strategy, messages = self._get_bound_model(request)
        return self._handle_model_output(await bound.ainvoke(messages), strategy)

    def _make_request(self, state: Any, history: list[Any], config: RunnableConfig) -> ModelRequest:
        runtime = config[CONF][CONFIG_KEY_RUNTIME]
        return replace(self.request, messages=history, state=state, runtime=runtime)

    def _get_bound_model(self, request: ModelRequest) -> tuple[Any, ToolStrategy | None, list[Any]]:
        """The model with this request's tools, the form of its answer, and what it is sent.

        Raises:
            ValueError: a middleware asks for a tool, or for a form, that nobody declared.
        """
        self._check_tools(request.tools)
        model, settings, messages = request.model, request.model_settings, request.messages
        if request.system_message:
            messages = [request.system_message, *messages]
        tools, choice = request.tools, request.tool_choice
        strategy = _to_strategy(request.response_format)
        if strategy:
            # Every answer is to be a call: of a tool, or of the schema.
            tools, choice = [*tools, *self._output_tools_of(strategy)], "any"
        if tools:
            return model.bind_tools(tools, tool_choice=choice, **settings), strategy, messages
        return model.bind(**settings), strategy, messages

    def _check_tools(self, tools: list[Any]) -> None:
        names = [tool.name for tool in tools if isinstance(tool, BaseTool)]
        unknown = [name for name in names if name not in self.known]
        if unknown and not self.takes_any_tool:
            raise ValueError(
                DYNAMIC_TOOL_ERROR_TEMPLATE.format(
                    unknown_tool_names=unknown, available_tool_names=sorted(self.known)
                )
            )

    def _output_tools_of(self, strategy: ToolStrategy) -> list[BaseTool]:
        wanted = [spec.name for spec in strategy.schema_specs]
        for name in wanted:
            if name not in self.output_tools:
                raise ValueError(
                    f"ToolStrategy specifies tool '{name}' which wasn't declared in the original "
                    "response format when creating the agent."
                )
        return [spec.tool for name, spec in self.output_tools.items() if name in wanted]

    def _handle_model_output(self, output: Any, strategy: ToolStrategy | None) -> ModelResponse:
        """The answer, and what is said to it if it is, or was to be, a structured one."""
        if self.name:
            output.name = self.name
        calls = output.tool_calls if strategy and isinstance(output, AIMessage) else []
        calls = [call for call in calls if call["name"] in self.output_tools]
        if strategy is None or not calls:
            return ModelResponse([output])
        if len(calls) > 1:
            several = MultipleStructuredOutputsError([call["name"] for call in calls], output)
            return _handle_structured_output_error(several, strategy.handle_errors, calls)
        call = calls[0]
        try:
            structured = self.output_tools[call["name"]].parse(call["args"])
            text = strategy.tool_message_content or f"Returning structured response: {structured}"
            return ModelResponse([output, _answer(call, text)], structured)
        except ValueError as source:
            error = StructuredOutputValidationError(call["name"], source, output)
            return _handle_structured_output_error(error, strategy.handle_errors, calls)

    def _make_update(
        self, state: Any, history: list[Any], response: ModelResponse
    ) -> dict[str, Any]:
        messages: list[Any] = response.result
        # Repaired, or changed in place by a middleware: the state takes the history over.
        if history != state["messages"]:
            messages = [RemoveMessage(id=REMOVE_ALL_MESSAGES), *history, *messages]
        update: dict[str, Any] = {"messages": messages}
        if self.output_tools or response.structured_response is not None:
            # None as well: an earlier turn's answer must not pass for this one's.
            update["structured_response"] = response.structured_response
        return update


def _patch_invalid_tool_calls(messages: Sequence[Any]) -> list[Any]:
    """A copy of the history, with an answer to each call whose arguments could not be read.

    Providers refuse a history in which a call has no answer.
    """
    if not any(isinstance(m, AIMessage) and m.invalid_tool_calls for m in messages):
        return list(messages)
    answered = {m.tool_call_id for m in messages if isinstance(m, ToolMessage)}
    patched: list[Any] = []
    for message in messages:
        patched.append(message)
        for call in message.invalid_tool_calls if isinstance(message, AIMessage) else ():
            if (id_ := call.get("id")) is not None and id_ not in answered:
                name = call.get("name") or "unknown"
                text = f"Tool call {name} with id {id_} could not be executed - "
                text += "arguments were malformed or truncated."
                patched.append(
                    ToolMessage(content=text, name=name, tool_call_id=id_, status="error")
                )
                answered.add(id_)
    return patched


# --- the edges ------------------------------------------------------------------------------------


class _HookNode:
    """A hook as a node: each side does its part, and one that is alone does both."""

    def __init__(self, sides: list[Any]) -> None:
        jumps = [side.__can_jump_to__ for side in sides if hasattr(side, "__can_jump_to__")]
        self.can_jump_to = jumps[0] if jumps else []
        self.sync, self.async_ = RunnableCallable(sides[0]), RunnableCallable(sides[-1])

    def invoke(self, state: Any, config: RunnableConfig) -> Any:
        return self.sync.invoke(state, config)

    async def ainvoke(self, state: Any, config: RunnableConfig) -> Any:
        return await self.async_.ainvoke(state, config)


def _add_edges(
    graph: StateGraph,
    middleware: Sequence[AgentMiddleware],
    tool_node: ToolNode | None,
    model_node: _ModelNode,
) -> None:
    """Join the nodes: in through the hooks, round by the model and the tools, out."""
    hooks: dict[str, _HookNode] = {}
    for m in middleware:
        for hook in HOOKS:
            if sides := _own_sides(m, hook):
                hooks[f"{m.name}.{hook}"] = _HookNode(sides)
    for name, node in hooks.items():
        graph.add_node(name, node)
    before_agent, before_model, after_model, after_agent = (
        [name for name in hooks if name.endswith(f".{hook}")] for hook in HOOKS
    )
    # The outermost hook is the first on the way in, and the last on the way out.
    way_in = [*before_agent, *before_model, "model", *reversed(after_model)]
    way_out = [*reversed(after_agent), END]
    loop_entry, loop_exit, exit_node = [*before_model, "model"][0], way_in[-1], way_out[0]
    ends = {"model_destination": loop_entry, "end_destination": exit_node}
    graph.add_edge(START, way_in[0])
    for name, following in [*pairwise(way_in), *pairwise(way_out)]:
        _add_middleware_edge(graph, name, hooks.get(name), following, **ends)
    if tool_node:
        _add_loop_edges(graph, tool_node, model_node, loop_exit, **ends)
    elif model_node.output_tools:
        path = _make_model_to_model_edge(**ends)
        graph.add_conditional_edges(loop_exit, path, [loop_entry, exit_node])
    else:
        _add_middleware_edge(graph, loop_exit, hooks.get(loop_exit), exit_node, **ends)


def _add_loop_edges(
    graph: StateGraph,
    tool_node: ToolNode,
    model_node: _ModelNode,
    loop_exit: str,
    *,
    model_destination: str,
    end_destination: str,
) -> None:
    """From the tools to the model or the end; from the model to the tools, the end or itself."""
    output_tools = model_node.output_tools
    ends = {"model_destination": model_destination, "end_destination": end_destination}
    path = _make_tools_to_model_edge(
        tool_node=tool_node, structured_output_tools=output_tools, **ends
    )
    last_word = any(tool.return_direct for tool in tool_node.tools_by_name.values())
    to = [model_destination, *([end_destination] if last_word or output_tools else [])]
    graph.add_conditional_edges("tools", path, to)
    path = _make_model_to_tools_edge(structured_output_tools=output_tools, **ends)
    # Calls lead back to the model if they are answered already, and these can answer them.
    answering = output_tools or model_node.wrapping or loop_exit != "model"
    to = ["tools", end_destination, *([model_destination] if answering else [])]
    graph.add_conditional_edges(loop_exit, path, to)


def _add_middleware_edge(
    graph: StateGraph,
    name: str,
    node: _HookNode | None,
    default_destination: str,
    *,
    model_destination: str,
    end_destination: str,
) -> None:
    """Go on after a node; or where its `jump_to` says, as far as it has declared that."""
    if node is None or not node.can_jump_to:
        graph.add_edge(name, default_destination)
        return

    def jump_edge(state: dict[str, Any]) -> str:
        jump_to = state.get("jump_to")
        return _resolve_jump(jump_to, model_destination, end_destination) or default_destination

    destinations = [default_destination]
    for jump_to in node.can_jump_to:
        if (jump_to, name) != ("model", model_destination):
            destinations.append(_resolve_jump(jump_to, model_destination, end_destination))
    graph.add_conditional_edges(name, jump_edge, destinations)


def _resolve_jump(jump_to: Any, model_destination: str, end_destination: str) -> str | None:
    nodes = {"model": model_destination, "end": end_destination, "tools": "tools"}
    return nodes.get(jump_to)


def _fetch_last_ai_and_tool_messages(
    messages: list[Any],
) -> tuple[AIMessage | None, list[ToolMessage]]:
    """The last AIMessage, and the ToolMessages after it; (None, []) if there is none."""
    for index in reversed(range(len(messages))):
        if isinstance(messages[index], AIMessage):
            later = messages[index + 1 :]
            return messages[index], [m for m in later if isinstance(m, ToolMessage)]
    return None, []


def _make_model_to_tools_edge(
    *, model_destination: str, structured_output_tools: dict[str, Any], end_destination: str
) -> Path:
    """The edge out of the model: are there calls to run?"""

    def model_to_tools(state: dict[str, Any]) -> str | list[Send] | None:
        # 1. A middleware has said where to go.
        if jump_to := state.get("jump_to"):
            return _resolve_jump(jump_to, model_destination, end_destination)
        last_ai_message, tool_messages = _fetch_last_ai_and_tool_messages(state["messages"])
        # 2. Nobody has answered: the messages were removed.
        if last_ai_message is None:
            return end_destination
        # 3. The model calls nothing: the way out of most runs.
        if not last_ai_message.tool_calls:
            return end_destination
        answered = {message.tool_call_id for message in tool_messages}
        pending = [
            call
            for call in last_ai_message.tool_calls
            if call["id"] not in answered and call["name"] not in structured_output_tools
        ]
        # 4. Calls without an answer: each becomes a task of its own.
        if pending:
            return [Send("tools", [call]) for call in pending]
        # 5. The call was the structured answer, and it was good.
        if state.get("structured_response") is not None:
            return end_destination
        # 6. All calls are answered, by a middleware or with an error: the model is asked again.
        return model_destination

    return model_to_tools


def _make_model_to_model_edge(*, model_destination: str, end_destination: str) -> Path:
    """The edge out of a model that has no tools but the schema of its answer."""

    def model_to_model(state: dict[str, Any]) -> str | None:
        # 1. A middleware has said where to go.
        if jump_to := state.get("jump_to"):
            return _resolve_jump(jump_to, model_destination, end_destination)
        # 2. There is a good answer.
        if state.get("structured_response") is not None:
            return end_destination
        # 3. There is none, whatever the model has said: it is asked again.
        return model_destination

    return model_to_model


def _make_tools_to_model_edge(
    *,
    tool_node: ToolNode,
    model_destination: str,
    structured_output_tools: dict[str, Any],
    end_destination: str,
) -> Path:
    """The edge out of the tools: is there anything left to say?"""

    def tools_to_model(state: dict[str, Any]) -> str:
        tools = tool_node.tools_by_name
        last_ai_message, tool_messages = _fetch_last_ai_and_tool_messages(state["messages"])
        # 1. Nobody has called: the messages were removed.
        if last_ai_message is None:
            return model_destination
        # 2. Whatever ran is to have the last word. The name in the answer counts: a middleware
        #    may have had another tool run than the one that was called.
        ran = {m.tool_call_id: m.name for m in tool_messages if m.name in tools}
        names = [ran.get(call["id"], call["name"]) for call in last_ai_message.tool_calls]
        executed = [tools[name] for name in names if name in tools]
        if executed and all(tool.return_direct for tool in executed):
            return end_destination
        # 3. A structured answer came with the calls.
        if any(m.name in structured_output_tools and m.status != "error" for m in tool_messages):
            return end_destination
        # 4. The usual case: the model sees the answers.
        return model_destination

    return tools_to_model
