"""Layer 14: create_agent: a model node, a tools node, and the edges that make them a loop.

Mirrors langchain/agents/factory.py, langchain/agents/structured_output.py
Leaves out models by name, structured output by the provider (`ProviderStrategy`, `AutoStrategy`),
static breakpoints, caches, stream transformers, tracing.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, is_dataclass
from itertools import pairwise, takewhile
from types import UnionType
from typing import Any, Generic, TypedDict, TypeVar, get_args, get_origin
from uuid import uuid4

from pydantic import BaseModel, TypeAdapter
from typing_extensions import is_typeddict

from minilc.base import BaseTool, RunnableConfig
from minilc.branch import CONF, CONFIG_KEY_RUNTIME, END, START, RunnableCallable, Runtime, Send
from minilc.messages import AIMessage, RemoveMessage, SystemMessage, ToolCall, ToolMessage
from minilc.middleware import (
    AgentMiddleware,
    AgentState,
    JumpTo,
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
DYNAMIC_TOOL_ERROR_TEMPLATE = (
    "Middleware added tools that the agent doesn't know how to execute.\n\n"
    "Unknown tools: {unknown}\nRegistered tools: {registered}\n\n"
    "This happens when middleware modifies `request.tools` in `wrap_model_call` to include\n"
    "tools that weren't passed to `create_agent()`.\n\nHow to fix this:\n\n"
    "Option 1: Register tools at agent creation (recommended for most cases)\n"
    "    Pass the tools to `create_agent(tools=[...])` or set them on `middleware.tools`.\n"
    "    This makes tools available for every agent invocation.\n\n"
    "Option 2: Handle dynamic tools in middleware (for tools created at runtime)\n"
    "    Implement `wrap_tool_call` to execute tools that are added dynamically:\n\n"
    "    class MyMiddleware(AgentMiddleware):\n"
    "        def wrap_tool_call(self, request, handler):\n"
    '            if request.tool_call["name"] == "dynamic_tool":\n'
    "                # Execute the dynamic tool yourself or override with tool instance\n"
    "                return handler(request.override(tool=my_dynamic_tool))\n"
    "            return handler(request)"
)


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
    known = tool_node.tools_by_name if tool_node else {}
    offered: list[Any] = [*known.values(), *(t for t in tools or () if isinstance(t, dict))]
    request = ModelRequest(model=model, messages=[], tools=offered, response_format=strategy)
    model_node = _ModelNode(request.override(system_message=system_prompt), known, middleware, name)
    schemas = [_resolve_schema(middleware, state_schema, side) for side in ("", "input", "output")]
    graph = StateGraph(
        schemas[0], context_schema, input_schema=schemas[1], output_schema=schemas[2]
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
    names, base = (hook, f"a{hook}"), AgentMiddleware
    own = [name for name in names if getattr(type(middleware), name) is not getattr(base, name)]
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
        known: the tools that can be run.
    """

    def __init__(
        self, request: ModelRequest, known: dict[str, BaseTool], middleware: Any, name: str | None
    ) -> None:
        self.request, self.known, self.name = request, known, name
        self.seen: tuple[Runtime | None, Any] = None, None  # a run, and its last message then
        self.wrapping = [m for m in middleware if _own_sides(m, "wrap_model_call")]
        hooks = [m.wrap_model_call for m in self.wrapping]
        ahooks = [m.awrap_model_call for m in self.wrapping]
        self.call = _chain_model_call_handlers(hooks, self._execute_model_sync)
        self.acall = _chain_model_call_handlers(ahooks, self._execute_model_async)
        # A wrap_tool_call may run tools that nobody has registered, so it takes any.
        self.takes_any_tool = any(_own_sides(m, "wrap_tool_call") for m in middleware)
        specs = request.response_format.schema_specs if request.response_format else []
        self.output_tools = {spec.name: spec for spec in specs}

    def invoke(self, state: Any, config: RunnableConfig) -> dict[str, Any]:
        """One model call, as an update of the state."""
        request, history = self._make_request(state, config)
        return self._make_update(state, history, self.call(request))

    async def ainvoke(self, state: Any, config: RunnableConfig) -> dict[str, Any]:
        """`invoke`, awaited."""
        request, history = self._make_request(state, config)
        return self._make_update(state, history, await self.acall(request))

    def _execute_model_sync(self, request: ModelRequest) -> ModelResponse:
        bound, strategy, messages = self._get_bound_model(request)
        return self._handle_model_output(bound.invoke(messages), strategy)

    async def _execute_model_async(self, request: ModelRequest) -> ModelResponse:
        bound, strategy, messages = self._get_bound_model(request)
        return self._handle_model_output(await bound.ainvoke(messages), strategy)

    def _make_request(self, state: Any, config: RunnableConfig) -> tuple[ModelRequest, list[Any]]:
        """The request, and the history in it, which a middleware may then change in place."""
        runtime = config[CONF][CONFIG_KEY_RUNTIME]
        history = self._repaired(state["messages"], runtime)
        return self.request.override(messages=history, state=state, runtime=runtime), history

    def _repaired(self, messages: list[Any], runtime: Runtime) -> list[Any]:
        """A copy of the history in which every call has an answer.

        Looks only at what is new since the run's last call: most histories need no repair, and
        reading the whole of a long one takes longer than everything else here.
        """
        run, last = self.seen
        new = takewhile(lambda m: m is not last, reversed(messages)) if run is runtime else messages
        self.seen = runtime, messages[-1] if messages else None
        if any(isinstance(m, AIMessage) and m.invalid_tool_calls for m in new):
            return _patch_invalid_tool_calls(messages)
        return list(messages)

    def _get_bound_model(self, request: ModelRequest) -> tuple[Any, ToolStrategy | None, list[Any]]:
        """The model with this request's tools, the form of its answer, and what it is sent."""
        self._check_tools(request.tools)
        model, tools, choice = request.model, request.tools, request.tool_choice
        messages, settings = request.messages, request.model_settings
        if request.system_message:
            messages = [request.system_message, *messages]
        if strategy := _to_strategy(request.response_format):
            # Every answer is to be a call: of a tool, or of the schema.
            tools, choice = [*tools, *self._output_tools_of(strategy)], "any"
        if tools:
            return model.bind_tools(tools, tool_choice=choice, **settings), strategy, messages
        return model.bind(**settings), strategy, messages

    def _check_tools(self, tools: list[Any]) -> None:
        names = [tool.name for tool in tools if isinstance(tool, BaseTool)]
        unknown = [name for name in names if name not in self.known]
        if unknown and not self.takes_any_tool:
            names = sorted(self.known)
            raise ValueError(DYNAMIC_TOOL_ERROR_TEMPLATE.format(unknown=unknown, registered=names))

    def _output_tools_of(self, strategy: ToolStrategy) -> list[BaseTool]:
        wanted = [spec.name for spec in strategy.schema_specs]
        if unknown := [name for name in wanted if name not in self.output_tools]:
            raise ValueError(
                f"ToolStrategy specifies tool '{unknown[0]}' which wasn't declared in the original "
                "response format when creating the agent."
            )
        return [spec.tool for name, spec in self.output_tools.items() if name in wanted]

    def _handle_model_output(self, output: Any, strategy: ToolStrategy | None) -> ModelResponse:
        """The answer, and what is said to it if it is, or was to be, a structured one."""
        if self.name:
            output.name = self.name
        calls = output.tool_calls if strategy and isinstance(output, AIMessage) else []
        calls = [call for call in calls if call["name"] in self.output_tools]
        if not (strategy and calls):
            return ModelResponse([output])
        name = calls[0]["name"]
        if len(calls) > 1:
            several = MultipleStructuredOutputsError([call["name"] for call in calls], output)
            return _handle_structured_output_error(several, strategy.handle_errors, calls)
        try:
            structured = self.output_tools[name].parse(calls[0]["args"])
            text = strategy.tool_message_content or f"Returning structured response: {structured}"
            return ModelResponse([output, _answer(calls[0], text)], structured)
        except ValueError as source:
            error = StructuredOutputValidationError(name, source, output)
            return _handle_structured_output_error(error, strategy.handle_errors, calls)

    def _make_update(self, state: Any, history: Any, response: ModelResponse) -> dict[str, Any]:
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

    def __init__(self, middleware: AgentMiddleware, hook: str) -> None:
        sides = _own_sides(middleware, hook)
        declared = [side.__can_jump_to__ for side in sides if hasattr(side, "__can_jump_to__")]
        self.can_jump_to: list[JumpTo] = declared[0] if declared else []
        self.sync, self.async_ = RunnableCallable(sides[0]), RunnableCallable(sides[-1])

    def invoke(self, state: Any, config: RunnableConfig) -> Any:
        return self.sync.invoke(state, config)

    async def ainvoke(self, state: Any, config: RunnableConfig) -> Any:
        return await self.async_.ainvoke(state, config)


def _add_edges(
    graph: StateGraph, middleware: Any, tool_node: ToolNode | None, model_node: _ModelNode
) -> None:
    """Join the nodes: in through the hooks, round by the model and the tools, out."""
    before_agent, before_model, after_model, after_agent = (
        {f"{m.name}.{hook}": _HookNode(m, hook) for m in middleware if _own_sides(m, hook)}
        for hook in HOOKS
    )
    nodes = before_agent | before_model | after_model | after_agent
    for name, node in nodes.items():
        graph.add_node(name, node)
    # The outermost hook is the first on the way in, and the last on the way out.
    way_in = [*before_agent, *before_model, "model", *reversed(after_model)]
    way_out = [*reversed(after_agent), END]
    loop_entry, loop_exit, exit_node = [*before_model, "model"][0], way_in[-1], way_out[0]
    jumps = {"end": exit_node, "tools": "tools", "model": loop_entry}
    graph.add_edge(START, way_in[0])
    for name, following in [*pairwise(way_in), *pairwise(way_out)]:
        _add_middleware_edge(graph, name, nodes.get(name), following, jumps)
    ends = {"model_destination": loop_entry, "end_destination": exit_node}
    output_tools = model_node.output_tools
    if tool_node:
        back = _make_tools_to_model_edge(
            tool_node=tool_node, structured_output_tools=output_tools, **ends
        )
        last_word = output_tools or any(t.return_direct for t in tool_node.tools_by_name.values())
        to = [loop_entry, exit_node] if last_word else [loop_entry]
        graph.add_conditional_edges("tools", back, to)
        out = _make_model_to_tools_edge(structured_output_tools=output_tools, **ends)
        # The model may have to be asked again only if there is somebody to answer its calls.
        answering = output_tools or model_node.wrapping or after_model
        to = ["tools", exit_node, *([loop_entry] if answering else [])]
        graph.add_conditional_edges(loop_exit, out, to)
    elif output_tools:
        out = _make_model_to_model_edge(**ends)
        graph.add_conditional_edges(loop_exit, out, [loop_entry, exit_node])
    else:
        _add_middleware_edge(graph, loop_exit, nodes.get(loop_exit), exit_node, jumps)


def _add_middleware_edge(
    graph: StateGraph, name: str, node: _HookNode | None, default: str, jumps: dict[str, str]
) -> None:
    """Go on after a node; or where its `jump_to` says, as far as it has declared that."""
    if node is None or not node.can_jump_to:
        graph.add_edge(name, default)
        return

    def jump_edge(state: dict[str, Any]) -> str:
        return jumps.get(state.get("jump_to", ""), default)

    to = [
        destination
        for jump_to, destination in jumps.items()
        if jump_to in node.can_jump_to and (jump_to, name) != ("model", destination)
    ]
    graph.add_conditional_edges(name, jump_edge, [default, *to])


def _resolve_jump(jump_to: str, model_destination: str, end_destination: str) -> str | None:
    return {"model": model_destination, "end": end_destination, "tools": "tools"}.get(jump_to)


def _fetch_last_ai_and_tool_messages(messages: Any) -> tuple[AIMessage | None, list[ToolMessage]]:
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
        open_calls = [call for call in last_ai_message.tool_calls if call["id"] not in answered]
        pending = [call for call in open_calls if call["name"] not in structured_output_tools]
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
        ran: dict[Any, Any] = {m.tool_call_id: m.name for m in tool_messages if m.name in tools}
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
