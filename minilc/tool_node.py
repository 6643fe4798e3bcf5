"""Layer 12: ToolNode finds the tools that a model asked for, runs them, and answers for each.

Mirrors langgraph/prebuilt/tool_node.py
Leaves out what every Runnable has beyond invoke and ainvoke, and the warning when a field of a
ToolCallRequest is assigned instead of overridden.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from queue import SimpleQueue
from typing import Any, Literal

from pydantic import ValidationError
from typing_extensions import TypedDict

from minilc import tool_errors
from minilc.base import BaseTool, RunnableConfig, _run_to_end, ensure_config
from minilc.branch import CONFIG_KEY_READ_STATE, CONFIG_KEY_RUNTIME, Command, Send
from minilc.convert import tool as create_tool
from minilc.injection import ToolRuntime, _get_all_injected_args, _inject, _InjectedArgs
from minilc.messages import AIMessage, RemoveMessage, ToolCall, ToolMessage, convert_to_messages
from minilc.state import REMOVE_ALL_MESSAGES

InputType = Literal["list", "dict", "tool_calls"]
Output = ToolMessage | Command[Any] | list[ToolMessage | Command[Any]]


@dataclass
class ToolCallRequest:
    """One call on its way to its tool: what a `wrap_tool_call` function sees and may replace.

    Args:
        tool: None if no tool has that name; the wrapper may supply one, or answer itself.
    """

    tool_call: ToolCall
    tool: BaseTool | None
    state: Any
    runtime: ToolRuntime

    def override(self, **overrides: Any) -> ToolCallRequest:
        """A copy with some fields replaced; a new state also reaches the tool's runtime."""
        request = replace(self, **overrides)
        if "state" in overrides and isinstance(request.runtime, ToolRuntime):
            request.runtime = replace(request.runtime, state=request.state)
        return request


ToolCallWrapper = Callable[[ToolCallRequest, Callable[[ToolCallRequest], Output]], Output]
AsyncToolCallWrapper = Callable[[ToolCallRequest, Callable[..., Any]], Awaitable[Output]]


class ToolCallWithContext(TypedDict):
    """A call together with the state it belongs to: one of the things to `Send` to a ToolNode."""

    tool_call: ToolCall
    __type: Literal["tool_call_with_context"]
    state: Any


class ToolNode:
    """Runs the calls of the last AIMessage at the same time, and answers in their order.

    Args:
        tools: tools, or functions to make tools of; of two with one name the last one counts.
        handle_tool_errors: which errors become answers for the model; the others are raised.
        messages_key: where the state keeps its messages.
        wrap_tool_call: is called with each request and a function that executes it.
        awrap_tool_call: the same for `ainvoke`; without it `wrap_tool_call` serves both.
    """

    def __init__(
        self,
        tools: Sequence[BaseTool | Callable[..., Any]],
        *,
        name: str = "tools",
        tags: list[str] | None = None,
        handle_tool_errors: tool_errors.Handling = tool_errors._default_handle_tool_errors,
        messages_key: str = "messages",
        wrap_tool_call: ToolCallWrapper | None = None,
        awrap_tool_call: AsyncToolCallWrapper | None = None,
    ) -> None:
        self.name, self.tags = name, tags
        self._handle_tool_errors, self._messages_key = handle_tool_errors, messages_key
        self._wrap_tool_call, self._awrap_tool_call = wrap_tool_call, awrap_tool_call
        # The registry: a call finds its tool by its exact name.
        self.tools_by_name: dict[str, BaseTool] = {}
        self._injected_args: dict[str, _InjectedArgs] = {}
        for tool in tools:
            tool = tool if isinstance(tool, BaseTool) else create_tool(tool)
            self.tools_by_name[tool.name] = tool
            self._injected_args[tool.name] = _get_all_injected_args(tool)
        # Makes a thread whenever all it has are busy: tools wait more than they compute.
        self._executor = ThreadPoolExecutor(max_workers=1_000_000)
        self._helper: Future[None] | None = None
        self._work: list[Callable[[], None]] = []

    def _func(
        self, input: Any, config: RunnableConfig | None = None, *, runtime: Any = None
    ) -> Any:
        """Run the calls that the input asks for; the answers are an update of the state."""
        requests, input_type = self._requests(input, config, runtime)
        limit = (config or ensure_config()).get("max_concurrency")
        outputs = self._run_all(requests, input_type, limit)
        return self._combine_tool_outputs(outputs, input_type)

    async def _afunc(
        self, input: Any, config: RunnableConfig | None = None, *, runtime: Any = None
    ) -> Any:
        """`_func`, awaited."""
        requests, input_type = self._requests(input, config, runtime)
        outputs = await asyncio.gather(*(self._arun_one(r, input_type) for r in requests))
        return self._combine_tool_outputs(outputs, input_type)

    # Upstream's come from RunnableCallable, and call these two with the config and the runtime.
    invoke, ainvoke = _func, _afunc

    def _requests(
        self, input: Any, config: RunnableConfig | None, runtime: Any
    ) -> tuple[list[ToolCallRequest], InputType]:
        """A request for each call, with a config and a ToolRuntime of its own.

        Raises:
            ValueError: there is no graph around this node to put its Runtime into the config.
        """
        config = ensure_config() if config is None else config
        runtime = runtime or config.get("configurable", {}).get(CONFIG_KEY_RUNTIME)
        if runtime is None:
            raise ValueError(f"Missing required config key 'N/A' for '{self.name}'.")
        calls, input_type = self._parse_input(input)
        requests = []
        for call in calls:
            call_config = ensure_config(config)
            state = self._extract_state(input, input_type, call_config)
            tools = list(self.tools_by_name.values())
            tool_runtime = ToolRuntime._for_call(runtime, call["id"], state, call_config, tools)
            tool = self.tools_by_name.get(call["name"])
            requests.append(ToolCallRequest(call, tool, state, tool_runtime))
        return requests, input_type

    def _parse_input(self, input: Any) -> tuple[list[ToolCall], InputType]:
        """The calls to run, and the form that they came in.

        Raises:
            ValueError: there are no messages, or no AIMessage is among them.
        """
        if isinstance(input, list):
            if isinstance(input[-1], dict) and input[-1].get("type") == "tool_call":
                return input, "tool_calls"  # 1. Calls alone, as in `Send("tools", [call])`.
            messages = input
        elif isinstance(input, dict) and input.get("__type") == "tool_call_with_context":
            return [input["tool_call"]], "tool_calls"  # 2. A call that brings its state along.
        else:
            messages = _get_messages(input, self._messages_key)
        if not messages:
            raise ValueError("No message found in input")
        for message in reversed(messages):
            if isinstance(message, AIMessage):
                # 3. Messages, or a state that has them.
                return list(message.tool_calls), "list" if messages is input else "dict"
        raise ValueError("No AIMessage found in input")

    def _extract_state(self, input: Any, input_type: InputType, config: RunnableConfig) -> Any:
        """The state that the tools may see."""
        if input_type != "tool_calls":
            return input  # 1. The input is the state.
        if isinstance(input, dict):
            return input["state"]  # 2. The call brought it along.
        read_state = config["configurable"].get(CONFIG_KEY_READ_STATE)
        return read_state() if read_state else {}  # 3. The graph has it, if there is a graph.

    def _run_one(self, request: ToolCallRequest, input_type: InputType) -> Output:
        return _run_to_end(self._arun_one(request, input_type, sync=True))

    async def _arun_one(
        self, request: ToolCallRequest, input_type: InputType, *, sync: bool = False
    ) -> Output:
        """One call, through the wrapper if there is one."""
        config = request.runtime.config
        try:
            if self._awrap_tool_call and not sync:
                aexecute = partial(self._execute_tool_async, input_type=input_type, config=config)
                return await self._awrap_tool_call(request, aexecute)  # 1.
            if self._wrap_tool_call:
                execute = partial(self._execute_tool_sync, input_type=input_type, config=config)
                return self._wrap_tool_call(request, execute)  # 2. Async as well, if need be.
        except Exception as error:
            call, flag = request.tool_call, self._handle_tool_errors
            return tool_errors._answer_error(error, call, flag, from_wrapper=True)
        return await self._execute_tool_async(request, input_type, config, sync=sync)  # 3.

    def _execute_tool_sync(
        self, request: ToolCallRequest, input_type: InputType, config: RunnableConfig
    ) -> Output:
        return _run_to_end(self._execute_tool_async(request, input_type, config, sync=True))

    async def _execute_tool_async(
        self,
        request: ToolCallRequest,
        input_type: InputType,
        config: RunnableConfig,
        *,
        sync: bool = False,
    ) -> Output:
        """Run the tool; an error that `handle_tool_errors` covers becomes the answer."""
        call, tool = request.tool_call, request.tool
        if tool is None:
            return self._validate_tool_call(call)  # 1. Nobody has that name.
        # Before the try: the model cannot mend a state that lacks a field.
        args = self._inject_tool_args(call, request.runtime, tool)
        try:
            try:
                response = tool.invoke(args, config) if sync else await tool.ainvoke(args, config)
            except ValidationError as error:
                injected = self._injected_args.get(call["name"], _InjectedArgs())
                raise tool_errors._invocation_error(error, call, injected.names()) from error
            return self._normalize_tool_response(response, call, input_type)  # 2.
        except Exception as error:
            return tool_errors._answer_error(error, call, self._handle_tool_errors)  # 3.

    def _run_all(self, requests: list[Any], input_type: InputType, limit: int | None) -> list[Any]:
        """Run the calls at once: this thread does its share, and helpers come to do theirs.

        Raises:
            Exception: the first error in the order of the calls, when all of them have ended.
        """
        contexts = [copy_context() for _ in requests]
        if len(requests) == 1:
            return [contexts[0].run(self._run_one, requests[0], input_type)]
        turns, places = iter(range(len(requests))), iter(range(limit or len(requests)))
        done: SimpleQueue[tuple[int, Any, BaseException | None]] = SimpleQueue()

        def work() -> None:
            if next(places, None) is None:
                return
            for own, turn in enumerate(turns):
                try:
                    if own == 0:
                        self._call_helper()
                    result = contexts[turn].run(self._run_one, requests[turn], input_type)
                    done.put((turn, result, None))
                except BaseException as error:  # Whatever it is, the caller's thread raises it.
                    done.put((turn, None, error))

        self._work.append(work)
        work()
        self._work.remove(work)
        outcomes = sorted(done.get() for _ in requests)
        for _, _, error in outcomes:
            if error is not None:
                raise error
        return [result for _, result, _ in outcomes]

    def _call_helper(self) -> None:
        """See that a thread is on the way. Each that arrives calls the next before it is busy.

        One that has not arrived yet will do, whichever run called it: it helps all there are. So
        calls that are over in no time do not wake a thread each.
        """
        if self._helper is None or self._helper.running() or self._helper.done():
            self._helper = self._executor.submit(self._help)

    def _help(self) -> None:
        for work in list(self._work):
            work()

    def _inject_tool_args(self, call: ToolCall, runtime: ToolRuntime, tool: BaseTool) -> Any:
        # A tool that a wrapper supplies is not in the registry: it is looked at only now.
        injected = self._injected_args.get(call["name"]) or _get_all_injected_args(tool)
        args = _inject(call, injected, runtime, self._messages_key)
        return {**call, "args": args, "type": "tool_call"}

    def _validate_tool_call(self, call: ToolCall) -> ToolMessage:
        """The answer to a call for a tool that does not exist.

        Raises:
            TypeError: it does exist, but a wrapper took it out of the request.
        """
        if call["name"] in self.tools_by_name:
            raise TypeError(f"Tool {call['name']} is not registered with ToolNode")
        return tool_errors._invalid_tool_message(call, self.tools_by_name)

    def _normalize_tool_response(
        self, response: Any, call: ToolCall, input_type: InputType, *, alone: bool = True
    ) -> Any:
        """Check that what the tool returned answers the call.

        Args:
            alone: False for a part of a list, which may leave the answer to another part.

        Raises:
            TypeError: it is nothing that can go into the state.
            ValueError: it leaves the call unanswered.
        """
        if isinstance(response, ToolMessage):
            content = tool_errors.msg_content_output(response.content)
            fits = content is response.content
            return response if fits else response.model_copy(update={"content": content})
        if isinstance(response, Command):
            return self._validate_tool_command(response, call, input_type, alone)
        if isinstance(response, list):
            return self._validate_tool_command_list(response, call, input_type)
        raise TypeError(f"Tool {call['name']} returned unexpected type: {type(response)}")

    def _validate_tool_command_list(self, items: Any, call: ToolCall, input_type: InputType) -> Any:
        """Of all messages in the list, exactly one has to answer the call."""
        found = f"Tool {call['name']} returned a list with"
        if not all(isinstance(item, Command | ToolMessage) for item in items):
            raise TypeError(f"{found} invalid element types: expected all Command or ToolMessage")
        answers = sum(_is_answer(m, call) for item in items for m in self._messages_in(item))
        if answers != 1:
            raise ValueError(
                f"{found} {answers} messages bound to tool_call_id {call['id']!r}; "
                "expected exactly one terminating ToolMessage."
            )
        part = partial(self._normalize_tool_response, call=call, input_type=input_type, alone=False)
        return [part(item) for item in items]

    def _messages_in(self, output: Any) -> list[Any]:
        # What a Command has for a state that is a list does not count.
        update = output.update if isinstance(output, Command) else {self._messages_key: [output]}
        return update.get(self._messages_key, []) if isinstance(update, dict) else []

    def _validate_tool_command(
        self, command: Any, call: ToolCall, input_type: InputType, alone: bool
    ) -> Any:
        """A copy of the command in which the answer to the call carries the tool's name."""
        is_dict, key = isinstance(command.update, dict), self._messages_key
        if not is_dict and not isinstance(command.update, list):
            return command  # 1. No messages to look at.
        if is_dict == (input_type == "list"):
            form, fit = ("dict", f"dict with '{key}' key") if is_dict else ("list of messages",) * 2
            raise ValueError(
                f"Tools can provide a {form} in Command.update only when using {fit} as ToolNode "
                f"input, got: {command.update} for tool '{call['name']}'"
            )
        command = deepcopy(command)
        messages = convert_to_messages(command.update.get(key, []) if is_dict else command.update)
        if messages == [RemoveMessage(id=REMOVE_ALL_MESSAGES)]:
            return command  # 2. The call is removed as well.
        answers = [message for message in messages if _is_answer(message, call)]
        for answer in answers:
            answer.name = call["name"]
        if answers or not alone or command.graph is not None:
            return command  # 3. Answered here, elsewhere in the list, or in another graph.
        example = '[ToolMessage("Success", tool_call_id=tool_call_id), ...]'
        if input_type == "dict":
            example = f'{{"messages": {example}}}'
        raise ValueError(
            f"Expected to have a matching ToolMessage in Command.update for tool '{call['name']}', "
            f"got: {messages}. Every tool call (LLM requesting to call a tool) in the message "
            "history MUST have a corresponding ToolMessage. You can fix it by modifying the tool "
            f"to return `Command(update={example}, ...)`."
        )

    def _combine_tool_outputs(self, outputs: list[Output], input_type: InputType) -> Any:
        """All answers as one update, or as several if a Command is among them."""

        def update(messages: list[Any]) -> Any:
            return messages if input_type == "list" else {self._messages_key: messages}

        flat: list[Any] = []
        for output in outputs:
            flat += output if isinstance(output, list) else [output]
        if not any(isinstance(output, Command) for output in flat):
            return update(flat)
        # A graph is left only once: all that goes to its parent has to go together.
        sends: list[Send] | None = None
        combined: list[Any] = []
        for output in flat:
            if getattr(output, "graph", None) == Command.PARENT and _are_sends(output.goto):
                sends = (sends or []) + output.goto
            else:
                combined.append(output if isinstance(output, Command) else update([output]))
        return combined if sends is None else [*combined, Command(graph=Command.PARENT, goto=sends)]


def tools_condition(state: Any, messages_key: str = "messages") -> Literal["tools", "__end__"]:
    """A path for a conditional edge: to the tools if the last message asks for any.

    Raises:
        ValueError: the state has no messages.
    """
    messages = state if isinstance(state, list) else _get_messages(state, messages_key)
    if not isinstance(state, list) and not messages:
        raise ValueError(f"No messages found in input state to tool_edge: {state}")
    return "tools" if getattr(messages[-1], "tool_calls", None) else "__end__"


def _get_messages(state: Any, key: str) -> Any:
    return state.get(key) if isinstance(state, dict) else getattr(state, key, None)


def _is_answer(message: Any, call: ToolCall) -> bool:
    return isinstance(message, ToolMessage) and message.tool_call_id == call["id"]


def _are_sends(goto: Any) -> bool:
    return isinstance(goto, list) and all(isinstance(target, Send) for target in goto)
