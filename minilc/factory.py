"""Layer 14: create_agent: a model node, a tools node, and the edges that make them a loop.

Mirrors langchain/agents/factory.py
Leaves out models by name, structured output by the provider, static breakpoints, caches, stream
transformers, tracing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise, takewhile
from typing import Any

from minilc.base import BaseTool, RunnableConfig
from minilc.branch import CONF, CONFIG_KEY_RUNTIME, END, START, Runtime, Send
from minilc.messages import AIMessage, RemoveMessage, SystemMessage, ToolMessage
from minilc.middleware import (
    AgentMiddleware,
    ModelRequest,
    ModelResponse,
    ToolStrategy,
    _chain_model_call_handlers,
    _chain_tool_call_wrappers,
    _HookNode,
    _own_sides,
    _resolve_schemas,
)
from minilc.state import REMOVE_ALL_MESSAGES, CompiledStateGraph, StateGraph
from minilc.tool_node import ToolNode

LIMIT: RunnableConfig = {"recursion_limit": 9_999}
Path = Callable[[dict[str, Any]], str | list[Send] | None]
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
    strategy = ToolStrategy.of(response_format)
    tool_node = _make_tool_node(tools or (), middleware)
    if len({m.name for m in middleware}) != len(middleware):
        raise AssertionError("Please remove duplicate middleware instances.")
    known = tool_node.tools_by_name if tool_node else {}
    offered: list[Any] = [*known.values(), *(t for t in tools or () if isinstance(t, dict))]
    request = ModelRequest(model=model, messages=[], tools=offered, response_format=strategy)
    model_node = _ModelNode(request.override(system_message=system_prompt), known, middleware, name)
    state, given, told = _resolve_schemas(middleware, state_schema)
    graph = StateGraph(state, context_schema, input_schema=given, output_schema=told)
    graph.add_node("model", model_node)
    if tool_node:
        graph.add_node("tools", tool_node)
    _add_edges(graph, middleware, tool_node, model_node)
    return graph.compile(checkpointer, store=store, name=name).with_config(LIMIT)


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
        if strategy := ToolStrategy.of(request.response_format):
            # Every answer is to be a call: of a tool, or of the schema.
            tools, choice = [*tools, *self._output_tools_of(strategy)], "any"
        if tools:
            return model.bind_tools(tools, tool_choice=choice, **settings), strategy, messages
        return model.bind(**settings), strategy, messages

    def _check_tools(self, tools: list[Any]) -> None:
        unknown = [t.name for t in tools if isinstance(t, BaseTool) and t.name not in self.known]
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
        if strategy and calls:
            return strategy.read(output, calls, self.output_tools)
        return ModelResponse([output])

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
                answer = ToolMessage(content=text, name=name, tool_call_id=id_, status="error")
                patched.append(answer)
                answered.add(id_)
    return patched


# --- the edges ------------------------------------------------------------------------------------


def _add_hooks(graph: StateGraph, middleware: Any) -> list[dict[str, _HookNode]]:
    """A node for every hook; of each kind of hook the nodes by name, in the order of middleware."""
    kinds = [
        {f"{m.name}.{hook}": _HookNode(m, hook) for m in middleware if _own_sides(m, hook)}
        for hook in ("before_agent", "before_model", "after_model", "after_agent")
    ]
    for nodes in kinds:
        for name, node in nodes.items():
            graph.add_node(name, node)
    return kinds


def _add_edges(
    graph: StateGraph, middleware: Any, tool_node: ToolNode | None, model_node: _ModelNode
) -> None:
    """Join the nodes: in through the hooks, round by the model and the tools, out."""
    before_agent, before_model, after_model, after_agent = _add_hooks(graph, middleware)
    nodes = before_agent | before_model | after_model | after_agent
    # The outermost hook is the first on the way in, and the last on the way out.
    way_in = [*before_agent, *before_model, "model", *reversed(after_model)]
    way_out = [*reversed(after_agent), END]
    loop_entry, loop_exit, exit_node = [*before_model, "model"][0], way_in[-1], way_out[0]
    jumps = {"end": exit_node, "tools": "tools", "model": loop_entry}
    ends = {"model_destination": loop_entry, "end_destination": exit_node}
    graph.add_edge(START, way_in[0])
    if tool_node:
        _add_tool_edges(graph, tool_node, model_node, loop_exit, ends)
    elif model_node.output_tools:
        out = _make_model_to_model_edge(**ends)
        graph.add_conditional_edges(loop_exit, out, [loop_entry, exit_node])
    else:
        _add_middleware_edge(graph, loop_exit, nodes.get(loop_exit), exit_node, jumps)
    for name, following in [*pairwise(way_in), *pairwise(way_out)]:
        _add_middleware_edge(graph, name, nodes.get(name), following, jumps)


def _add_tool_edges(
    graph: StateGraph, tool_node: ToolNode, model_node: _ModelNode, loop_exit: str, ends: Any
) -> None:
    """The two edges of the loop, with the places that they can lead to."""
    output_tools, (loop_entry, exit_node) = model_node.output_tools, ends.values()
    both = {"structured_output_tools": output_tools, **ends}
    direct = any(tool.return_direct for tool in tool_node.tools_by_name.values())
    to = [loop_entry, exit_node] if direct or output_tools else [loop_entry]
    path = _make_tools_to_model_edge(tool_node=tool_node, **both)
    graph.add_conditional_edges("tools", path, to)
    # The model may have to be asked again only if there is somebody to answer its calls.
    answering = output_tools or model_node.wrapping or loop_exit != "model"
    to = ["tools", exit_node, *([loop_entry] if answering else [])]
    graph.add_conditional_edges(loop_exit, _make_model_to_tools_edge(**both), to)


def _add_middleware_edge(
    graph: StateGraph, name: str, node: _HookNode | None, default: str, jumps: dict[str, str]
) -> None:
    """Go on after a node; or where its `jump_to` says, as far as it has declared that."""
    if node is None or not node.can_jump_to:
        graph.add_edge(name, default)
        return

    def jump_edge(state: dict[str, Any]) -> str:
        return jumps.get(state.get("jump_to", ""), default)

    declared = [jump_to for jump_to in jumps if jump_to in node.can_jump_to]
    to = [jumps[jump_to] for jump_to in declared if (jump_to, name) != ("model", jumps["model"])]
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
