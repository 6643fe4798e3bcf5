"""Layer 12: ToolNode finds the tools that a model asked for, runs them, and answers for each.

Mirrors langgraph/prebuilt/tool_node.py
Leaves out what every Runnable has beyond invoke and ainvoke, tags, the class of the dict
`ToolCallWithContext`, `input_type` (the state tells in which form the answers go), Commands that
remove all messages, one Command of the Sends of several, the errors about a known tool that a
wrapper takes away and about lists of other things, the refusal of a Command whose update has
another form than the input, and the warning when a request is assigned to.
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Literal, Self

from pydantic import ValidationError

from minilc import branch, convert, injection, tool_errors
from minilc.base import BaseTool, Config, _run_to_end, ensure_config
from minilc.messages import AIMessage, ToolCall, ToolMessage, convert_to_messages

Output = ToolMessage | branch.Command[Any] | list[ToolMessage | branch.Command[Any]]


@dataclass
class ToolCallRequest:
    """One call on its way to its tool: what a `wrap_tool_call` function sees and may replace.

    Args:
        tool: None if no tool has that name; the wrapper may supply one, or answer itself.
    """

    tool_call: ToolCall
    tool: BaseTool | None
    state: Any
    runtime: injection.ToolRuntime

    def override(self, **overrides: Any) -> Self:
        """A copy with some fields replaced; a new state also reaches the tool's runtime."""
        request = replace(self, **overrides)
        if "state" in overrides:
            request.runtime = replace(request.runtime, state=request.state)
        return request


@dataclass(eq=False, repr=False)
class ToolNode:
    """Runs the calls of the last AIMessage at the same time, and answers in their order.

    Args:
        tools: tools, or functions to make tools of; of two with one name the last one counts.
        handle_tool_errors: which errors become answers for the model; the others are raised.
        messages_key: where the state keeps its messages.
        wrap_tool_call: is called with each request and a function that executes it.
        awrap_tool_call: the same for `ainvoke`; without it `wrap_tool_call` serves both.
    """

    tools: Sequence[BaseTool | Callable[..., Any]]
    _: KW_ONLY
    name: str = "tools"
    handle_tool_errors: tool_errors.Handling = tool_errors._default_handle_tool_errors
    messages_key: str = "messages"
    wrap_tool_call: Callable[..., Any] | None = None
    awrap_tool_call: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        tools = [t if isinstance(t, BaseTool) else convert.tool(t) for t in self.tools]
        # The registry: a call finds its tool by its exact name.
        self.tools_by_name: dict[str, BaseTool] = {tool.name: tool for tool in tools}
        self._injected_args = {t.name: injection._get_all_injected_args(t) for t in tools}
        self._workers = branch.Workers()

    def _func(self, input: Any, config: Config = None) -> Any:
        """Run the calls that the input asks for; the answers are an update of the state."""
        return _run_to_end(self._afunc(input, config, sync=True))

    async def _afunc(self, input: Any, config: Config = None, *, sync: bool = False) -> Any:
        """`_func`, awaited.

        Raises:
            ValueError: there is no graph around this node to put its Runtime into the config.
        """
        config = ensure_config(config)
        runtime = config["configurable"].get(branch.CONFIG_KEY_RUNTIME)
        if runtime is None:
            raise ValueError(f"Missing required config key 'N/A' for '{self.name}'.")
        calls, state = self._parse_input(input, config)
        # What all calls share; each has a config of its own, and a ToolRuntime that knows its id.
        shared = {name: getattr(runtime, name) for name in branch.Runtime.__slots__}
        shared |= {"state": state, "tools": list(self.tools_by_name.values())}
        requests = []
        for call in calls:
            own = injection.ToolRuntime(tool_call_id=call["id"], config=config.copy(), **shared)
            requests.append(ToolCallRequest(call, self.tools_by_name.get(call["name"]), state, own))
        work = [self._arun_one(request, sync) for request in requests]
        outputs = await self._workers.gather(work, not sync, config.get("max_concurrency"))
        return self._combine_tool_outputs(outputs, state)

    # Upstream's come from RunnableCallable, and call these two with the config and the runtime.
    invoke, ainvoke = _func, _afunc

    def _parse_input(self, input: Any, config: Any) -> tuple[list[ToolCall], Any]:
        """The calls to run, and the state that their tools may see.

        Raises:
            ValueError: there are no messages, or no AIMessage is among them.
        """
        if isinstance(input, dict) and input.get("__type") == "tool_call_with_context":
            return [input["tool_call"]], input["state"]  # 1. A call that brings its state along.
        last = input[-1] if isinstance(input, list) else None
        if isinstance(last, dict) and last.get("type") == "tool_call":
            # 2. Calls alone, as in `Send("tools", [call])`. If there is a graph, it has the state.
            return input, config["configurable"].get(branch.CONFIG_KEY_READ_STATE, dict)()
        messages = input if isinstance(input, list) else _get_messages(input, self.messages_key)
        if not messages:
            raise ValueError("No message found in input")
        for message in reversed(messages):
            if isinstance(message, AIMessage):
                return message.tool_calls, input  # 3. A state, or its messages alone.
        raise ValueError("No AIMessage found in input")

    async def _arun_one(self, request: ToolCallRequest, sync: bool = False) -> Output:
        """One call, through the wrapper if there is one."""
        try:
            if self.awrap_tool_call and not sync:
                return await self.awrap_tool_call(request, self._execute_tool_async)  # 1.
            if self.wrap_tool_call:
                # 2. In an async run as well, if need be.
                return self.wrap_tool_call(request, self._execute_tool_sync)
        except Exception as error:
            content = tool_errors._handle_tool_error(error, flag=self.handle_tool_errors)
            return _error_message(content, request.tool_call)
        return await self._execute_tool_async(request, sync)  # 3.

    def _execute_tool_sync(self, request: ToolCallRequest) -> Output:
        """`_execute_tool_async`, which has the body of both, and waits for nothing here."""
        return _run_to_end(self._execute_tool_async(request, sync=True))

    async def _execute_tool_async(self, request: ToolCallRequest, sync: bool = False) -> Output:
        """Run the tool; an error that `handle_tool_errors` covers becomes the answer."""
        call, tool, runtime = request.tool_call, request.tool, request.runtime
        if tool is None:
            return self._validate_tool_call(call)  # 1. Nobody has that name.
        known, name, config = self._injected_args, call["name"], runtime.config
        # A tool that a wrapper supplies is not in the registry: it is looked at only now.
        injected = known[name] if name in known else injection._get_all_injected_args(tool)
        # Before the try: the model cannot mend a state that lacks a field.
        args: Any = injection._inject_tool_args(call, tool, injected, runtime, self.messages_key)
        try:
            try:
                response = tool.invoke(args, config) if sync else await tool.ainvoke(args, config)
            except ValidationError as e:
                filled = injected.keys() & args["args"].keys()
                reasons = tool_errors._filter_validation_errors(e, filled)
                raise tool_errors.ToolInvocationError(name, e, call["args"], reasons) from e
            return self._normalize_tool_response(response, call)  # 2.
        except Exception as error:
            content = tool_errors._handle_tool_error(error, flag=self.handle_tool_errors)
            return _error_message(content, call)  # 3.

    def _validate_tool_call(self, call: ToolCall) -> ToolMessage:
        """The answer to a call for a tool that does not exist; no setting turns it off."""
        content = tool_errors.INVALID_TOOL_NAME_ERROR_TEMPLATE.format(
            requested_tool=call["name"], available_tools=", ".join(self.tools_by_name)
        )
        return _error_message(content, call)

    def _normalize_tool_response(self, value: Any, call: ToolCall) -> Any:
        """Check that what the tool returned can go into the state, and answers the call.

        Raises:
            TypeError: it is nothing that can go into the state.
            ValueError: it leaves the call unanswered, or answers it twice.
        """
        if isinstance(value, list):
            return self._validate_tool_command_list(value, call)
        if isinstance(value, branch.Command):
            self._validate_tool_command(value, call)
        return self._normalize_one(value, call)

    def _validate_tool_command_list(self, items: list[Any], call: ToolCall) -> list[Any]:
        """Of all messages in the list, exactly one has to answer the call."""
        count = sum(len(self._answers(item, call)) for item in items)
        if count != 1:
            text = f"Tool {call['name']} returned a list with {count} messages bound to "
            text += f"tool_call_id {call['id']!r}; expected exactly one terminating ToolMessage."
            raise ValueError(text)
        return [self._normalize_one(item, call) for item in items]

    def _validate_tool_command(self, command: branch.Command[Any], call: ToolCall) -> None:
        """A command that stays in this graph, and has messages to look at, answers its call."""
        update, name = command.update, call["name"]
        if command.graph or not isinstance(update, dict | list) or self._answers(command, call):
            return
        example = '[ToolMessage("Success", tool_call_id=tool_call_id), ...]'
        if isinstance(update, dict):
            example, update = f'{{"messages": {example}}}', update.get(self.messages_key, [])
        text = f"Expected to have a matching ToolMessage in Command.update for tool '{name}', got: "
        text += f"{update}. Every tool call (LLM requesting to call a tool) in the message history "
        text += "MUST have a corresponding ToolMessage. You can fix it by modifying the tool to "
        raise ValueError(f"{text}return `Command(update={example}, ...)`.")

    def _normalize_one(self, value: Any, call: ToolCall) -> Any:
        """A message with content that providers take, or a command whose answer has a name."""
        if isinstance(value, ToolMessage):
            text = tool_errors.msg_content_output(value.content)
            return value if text is value.content else value.model_copy(update={"content": text})
        if not isinstance(value, branch.Command):
            raise TypeError(f"Tool {call['name']} returned unexpected type: {type(value)}")
        command = deepcopy(value) if isinstance(value.update, dict | list) else value
        for answer in self._answers(command, call):
            answer.name = call["name"]
        return command

    def _answers(self, output: Any, call: ToolCall) -> list[ToolMessage]:
        """The messages in an output that answer the call."""
        update = output.update if isinstance(output, branch.Command) else [output]
        messages = list(update.get(self.messages_key, ())) if isinstance(update, dict) else update
        messages = convert_to_messages(messages if isinstance(messages, list) else [])
        return [m for m in messages if isinstance(m, ToolMessage) and m.tool_call_id == call["id"]]

    def _combine_tool_outputs(self, outputs: list[Output], state: Any) -> Any:
        """All answers as one update, or as several if a Command is among them."""

        def update(messages: list[Any]) -> Any:
            return messages if isinstance(state, list) else {self.messages_key: messages}

        flat = [part for out in outputs for part in (out if isinstance(out, list) else [out])]
        if not any(isinstance(part, branch.Command) for part in flat):
            return update(flat)
        return [part if isinstance(part, branch.Command) else update([part]) for part in flat]


def tools_condition(state: Any, messages_key: str = "messages") -> Literal["tools", "__end__"]:
    """A path for a conditional edge: to the tools if the last message asks for any.

    Raises:
        ValueError: the state has no messages.
    """
    messages = state if isinstance(state, list) else _get_messages(state, messages_key)
    if not messages and not isinstance(state, list):
        raise ValueError(f"No messages found in input state to tool_edge: {state}")
    return "tools" if getattr(messages[-1], "tool_calls", None) else "__end__"


def _get_messages(state: Any, key: str) -> Any:
    return state.get(key) if isinstance(state, dict) else getattr(state, key, None)


def _error_message(content: str, call: Any) -> ToolMessage:
    return ToolMessage(content=content, name=call["name"], tool_call_id=call["id"], status="error")
