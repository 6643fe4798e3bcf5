"""Layer 14: create_agent: a model node, a tools node, and the edges that make them a loop.

Mirrors langchain/agents/factory.py
Leaves out models by name, structured output by the provider, static breakpoints, caches, stream
transformers, tracing, the refusal of tools and forms of an answer that a middleware puts in a
request and nobody has declared, answers to calls in the history that could not be read, a change of
the history by a request that a wrapper changes, the third edge (of an agent with a
`response_format` and no tools).
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from minilc import middleware as hooks
from minilc.base import BaseTool, RunnableConfig, _run_to_end
from minilc.branch import CONF, CONFIG_KEY_RUNTIME, END, START, Send
from minilc.messages import AIMessage, SystemMessage, ToolMessage
from minilc.state import CompiledStateGraph, StateGraph
from minilc.tool_node import ToolNode

LIMIT: RunnableConfig = {"recursion_limit": 9_999}


def create_agent(
    model: Any,
    tools: Sequence[BaseTool | Callable[..., Any] | dict[str, Any]] | None = None,
    *,
    system_prompt: str | SystemMessage | None = None,
    middleware: Sequence[hooks.AgentMiddleware] = (),
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
    if isinstance(system_prompt, str):
        system_prompt = SystemMessage(content=system_prompt)
    if not isinstance(response_format, hooks.ToolStrategy | None):
        response_format = hooks.ToolStrategy(response_format)
    tool_node = _make_tool_node(tools or (), middleware, needed=response_format is not None)
    if len({m.name for m in middleware}) != len(middleware):
        raise AssertionError("Please remove duplicate middleware instances.")
    own = tool_node.tools_by_name.values() if tool_node else ()
    offered = [*own, *(tool for tool in tools or () if isinstance(tool, dict))]
    # What stays the same in every request; the history and the rest come with each call.
    make_request = partial(hooks.ModelRequest, model=model, system_message=system_prompt)
    make_request = partial(make_request, tools=offered, response_format=response_format)
    schemas = [*(m.state_schema for m in middleware), state_schema or hooks.AgentState]
    graph = StateGraph(hooks._resolve_schema(schemas), context_schema)
    graph.add_node("model", _ModelNode(make_request, middleware, name))
    output_tools = {response_format.name: response_format} if response_format else {}
    _add_edges(graph, middleware, tool_node, output_tools)
    return graph.compile(checkpointer, store=store, name=name).with_config(LIMIT)


def _make_tool_node(tools: Any, middleware: Any, *, needed: bool) -> ToolNode | None:
    """The node for the tools that run here; dicts are the provider's own and run there."""
    sides = hooks._wrappers(middleware, "wrap_tool_call")
    wrap, awrap = map(hooks._chain_tool_call_wrappers, sides)
    here = [tool for m in middleware for tool in m.tools]
    here += [tool for tool in tools if not isinstance(tool, dict)]
    if not (here or wrap or needed):
        return None
    return ToolNode(here, wrap_tool_call=wrap, awrap_tool_call=awrap)


# --- the model node -------------------------------------------------------------------------------


class _ModelNode:
    """The node that asks the model, and reads what it answers.

    Args:
        make_request: a ModelRequest that lacks what changes from call to call.
    """

    def __init__(self, make_request: Callable[..., Any], middleware: Any, name: str | None) -> None:
        self.make_request, self.name = make_request, name
        wraps, awraps = hooks._wrappers(middleware, "wrap_model_call")
        self.call = hooks._chain_model_call_handlers(wraps, self._execute_model_sync)
        self.acall = hooks._chain_model_call_handlers(awraps, self._execute_model_async)

    def invoke(self, state: Any, config: RunnableConfig) -> dict[str, Any]:
        """One model call, as an update of the state."""
        return _run_to_end(self.ainvoke(state, config, sync=True))

    async def ainvoke(self, state: Any, config: RunnableConfig, sync: bool = False) -> Any:
        """`invoke`, awaited; the body of both."""
        # The history is copied: a wrapper may change its list in place, for this call.
        messages, runtime = list(state["messages"]), config[CONF][CONFIG_KEY_RUNTIME]
        request = self.make_request(messages=messages, state=state, runtime=runtime)
        response = self.call(request) if sync else await self.acall(request)
        update: dict[str, Any] = {"messages": response.result}
        if request.response_format or response.structured_response is not None:
            # None as well: an earlier turn's answer must not pass for this one's.
            update["structured_response"] = response.structured_response
        return update

    def _execute_model_sync(self, request: hooks.ModelRequest) -> hooks.ModelResponse:
        return _run_to_end(self._execute_model_async(request, sync=True))

    async def _execute_model_async(self, request: hooks.ModelRequest, sync: bool = False) -> Any:
        """Ask the model, and read its answer: it may be, or was to be, a structured one."""
        prompt = [request.system_message] if request.system_message else []
        model, messages = self._get_bound_model(request), [*prompt, *request.messages]
        output = model.invoke(messages) if sync else await model.ainvoke(messages)
        if self.name:
            output.name = self.name
        form: Any = request.response_format
        # What has yet to become a message, such as a text, has no calls.
        calls = [c for c in getattr(output, "tool_calls", []) if form and c["name"] == form.name]
        return form.read(output, calls) if calls else hooks.ModelResponse([output])

    def _get_bound_model(self, request: hooks.ModelRequest) -> Any:
        """The model with this request's tools."""
        tools, choice = request.tools, request.tool_choice
        if request.response_format:
            # Every answer is to be a call: of a tool, or of the schema.
            tools, choice = [*tools, request.response_format.tool], "any"
        if not tools:
            return request.model.bind(**request.model_settings)
        return request.model.bind_tools(tools, tool_choice=choice, **request.model_settings)


# --- the edges ------------------------------------------------------------------------------------


def _add_edges(graph: StateGraph, middleware: Any, tool_node: Any, output_tools: Any) -> None:
    """Join the nodes: in through the hooks, round by the model and the tools, out."""
    before, after = (
        {f"{m.name}.{hook}": sides for m in middleware if (sides := hooks._own_sides(m, hook))}
        for hook in ("before_model", "after_model")
    )
    # The outermost hook is the first on the way in, and the last on the way out.
    route = [START, *before, "model", *reversed(after)]
    loop_entry, loop_exit = route[1], route[-1]
    if tool_node:
        graph.add_node("tools", tool_node)
        ends: Any = {"model_destination": loop_entry, "end_destination": END}
        ends["structured_output_tools"] = output_tools
        direct = any(tool.return_direct for tool in tool_node.tools_by_name.values())
        out = [END] if direct or output_tools else []
        to_model = _make_tools_to_model_edge(tool_node=tool_node, **ends)
        graph.add_conditional_edges("tools", to_model, [loop_entry, *out])
        # The model may have to be asked again only if there is somebody to answer its calls.
        wrapping = any(hooks._own_sides(m, "wrap_model_call") for m in middleware)
        again = [loop_entry] if output_tools or wrapping or after else []
        to_tools = _make_model_to_tools_edge(**ends)
        graph.add_conditional_edges(loop_exit, to_tools, ["tools", END, *again])
    for name, sides in (before | after).items():
        graph.add_node(name, sides[0])
        if len(sides) == 2:
            graph.nodes[name].afunc = sides[1]
    for name, default in pairwise(route if tool_node else [*route, END]):
        _add_middleware_edge(graph, name, (before | after).get(name, []), default, loop_entry)


def _add_middleware_edge(graph: StateGraph, name: str, hook: Any, default: str, entry: str) -> None:
    """Go on after a node; or where its `jump_to` says, as far as its hook has declared that."""

    def jump_edge(state: dict[str, Any]) -> str:
        return _resolve_jump(state.get("jump_to"), entry, END) or default

    declared = (side.__can_jump_to__ for side in hook if hasattr(side, "__can_jump_to__"))
    if can_jump_to := next(declared, None):
        to = [_resolve_jump(jump_to, entry, END) for jump_to in can_jump_to]
        graph.add_conditional_edges(name, jump_edge, [default, *(end for end in to if end != name)])
    else:
        graph.add_edge(name, default)


def _resolve_jump(jump_to: Any, model_destination: str, end_destination: str) -> str | None:
    return {"model": model_destination, "end": end_destination, "tools": "tools"}.get(jump_to)


def _fetch_last_ai_and_tool_messages(messages: Any) -> tuple[AIMessage | None, list[ToolMessage]]:
    """The last AIMessage, and the ToolMessages after it; (None, []) if there is none."""
    for index in reversed(range(len(messages))):
        if isinstance(messages[index], AIMessage):
            return messages[index], [m for m in messages[index + 1 :] if isinstance(m, ToolMessage)]
    return None, []


def _make_model_to_tools_edge(
    *, model_destination: str, structured_output_tools: dict[str, Any], end_destination: str
) -> Callable[[dict[str, Any]], str | list[Send] | None]:
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


def _make_tools_to_model_edge(
    tool_node: ToolNode, model_destination: str, structured_output_tools: Any, end_destination: str
) -> Callable[[dict[str, Any]], str]:
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
