"""Layer 7: a model is asked, with tools bound to it; the model that plays a script; the wire.

Mirrors langchain_core/language_models/{chat_models,fake_chat_models}.py, langchain_core/outputs,
langchain_openai/chat_models/base.py
Leaves out streaming, batches, caching, callbacks, rate limits, `with_structured_output`; of OpenAI
retries, the responses API, `response_format`, audio, the translation of content blocks.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from minilc.base import RunnableConfig
from minilc.function_calling import convert_to_openai_tool
from minilc.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage, convert_to_messages

Config = RunnableConfig | None
Stop = list[str] | None


class ChatGeneration(BaseModel):
    """One answer of a model, and what the provider says of it, such as `finish_reason`."""

    message: BaseMessage
    generation_info: dict[str, Any] | None = None


class ChatResult(BaseModel):
    """What `_generate` returns: the answers, and what the provider says of the whole request."""

    generations: list[ChatGeneration]
    llm_output: dict[str, Any] | None = None


class BaseChatModel(BaseModel, ABC):
    """Messages in, one message out. A subclass writes `_generate` and `_llm_type`."""

    model_config = ConfigDict(arbitrary_types_allowed=True, protected_namespaces=())

    def invoke(
        self, input: Any, config: Config = None, *, stop: Stop = None, **kwargs: Any
    ) -> BaseMessage:
        """Ask the model; `kwargs`, such as the tools that `bind` keeps, go to `_generate`.

        Raises:
            ValueError: `input` is neither a text nor a sequence of messages.
        """
        messages = self._convert_input(input)
        return _first_answer(self._generate(messages, stop=stop, **kwargs))

    async def ainvoke(
        self, input: Any, config: Config = None, *, stop: Stop = None, **kwargs: Any
    ) -> BaseMessage:
        """`invoke`, awaited."""
        messages = self._convert_input(input)
        return _first_answer(await self._agenerate(messages, stop=stop, **kwargs))

    def bind(self, **kwargs: Any) -> _ChatModelBinding:
        """The same model, with `kwargs` in each of its calls."""
        return _ChatModelBinding(self, kwargs)

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: Any = None, **kwargs: Any
    ) -> _ChatModelBinding:
        """The same model, with `tools` in each of its requests, in the format of its provider."""
        raise NotImplementedError

    @abstractmethod
    def _generate(
        self, messages: list[BaseMessage], stop: Stop = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        """Ask the provider."""

    async def _agenerate(
        self, messages: list[BaseMessage], stop: Stop = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        """`_generate` in a thread, for a model that cannot await its provider."""

        def call() -> ChatResult:
            try:
                return self._generate(messages, stop, run_manager, **kwargs)
            except StopIteration as error:
                # A future cannot hold this one: whoever awaits it would wait for ever.
                raise RuntimeError from error

        return await asyncio.to_thread(call)

    @property
    @abstractmethod
    def _llm_type(self) -> str:
        """What kind of model this is."""

    def _convert_input(self, model_input: Any) -> list[BaseMessage]:
        if isinstance(model_input, str):
            return [HumanMessage(content=model_input)]
        if not isinstance(model_input, Sequence):
            raise ValueError(
                f"Invalid input type {type(model_input)}. "
                "Must be a PromptValue, str, or list of BaseMessages."
            )
        return convert_to_messages(model_input)


def _first_answer(result: ChatResult) -> BaseMessage:
    """The first message, with an id, and with what the provider said as its metadata."""
    generation = result.generations[0]
    message = generation.message
    if message.id is None:
        message.id = f"lc_run--{uuid.uuid4()}-0"
    # One answer of several does not tell what the provider said of all of them.
    of_request = result.llm_output if len(result.generations) == 1 else None
    said = (of_request or {}) | (generation.generation_info or {})
    message.response_metadata = said | message.response_metadata
    return message


@dataclass
class _ChatModelBinding:
    """A model and the keyword arguments that each of its calls gets; else it is the model."""

    bound: BaseChatModel
    kwargs: dict[str, Any]

    def invoke(self, input: Any, config: Config = None, **kwargs: Any) -> BaseMessage:
        """Ask the model. An argument of the call wins over a bound one."""
        return self.bound.invoke(input, config, **(self.kwargs | kwargs))

    async def ainvoke(self, input: Any, config: Config = None, **kwargs: Any) -> BaseMessage:
        """`invoke`, awaited."""
        return await self.bound.ainvoke(input, config, **(self.kwargs | kwargs))

    def bind(self, **kwargs: Any) -> _ChatModelBinding:
        """The same model, with `kwargs` over what is bound already."""
        return _ChatModelBinding(self.bound, self.kwargs | kwargs)

    def __getattr__(self, name: str) -> Any:
        # `bind_tools` too, as upstream: what was bound before it is not kept.
        return getattr(self.bound, name)


class GenericFakeChatModel(BaseChatModel):
    """Answers with the next of `messages`, an iterator of messages or texts."""

    messages: Iterator[AIMessage | str]
    _llm_type: ClassVar[str] = "generic-fake-chat-model"

    def _generate(
        self, messages: list[BaseMessage], stop: Stop = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        return _result_of(next(self.messages))


def _result_of(answer: Any) -> ChatResult:
    message = AIMessage(content=answer) if isinstance(answer, str) else answer
    return ChatResult(generations=[ChatGeneration(message=message)])


class ScriptExhausted(RuntimeError):
    """A scripted model was asked once more than its script has answers."""


@dataclass
class ScriptedRequest:
    """One request to a scripted model: what it was sent, the tools as JSON."""

    messages: list[Any]
    tools: list[dict[str, Any]]
    tool_choice: Any
    kwargs: dict[str, Any]


class Script:
    """Answers to play, and the requests that asked for them; the models of both worlds have one.

    Args:
        answers: messages or texts, one for each request; or a function of the messages sent.
    """

    def __init__(self, answers: Sequence[Any] | Callable[[list[Any]], Any]) -> None:
        self.requests: list[ScriptedRequest] = []
        self._function = answers if callable(answers) else None
        if isinstance(answers, str):
            raise TypeError(f"A script must be a list of answers or a function (got {answers!r}).")
        self._answers = [] if callable(answers) else [_checked(answer) for answer in answers]
        self._left = iter(self._answers)

    def play(self, messages: list[Any], stop: Stop, kwargs: dict[str, Any]) -> Any:
        """Keep the request and give the next answer: a text, or a message that nobody shares.

        Raises:
            ScriptExhausted: there is none left.
        """
        rest = kwargs | ({"stop": stop} if stop else {})
        tools, tool_choice = rest.pop("tools", []), rest.pop("tool_choice", None)
        self.requests.append(ScriptedRequest(messages, tools, tool_choice, rest))
        answer = _checked(self._function(messages)) if self._function else next(self._left, None)
        if answer is None:
            last = f"{type(messages[-1]).__name__}({messages[-1].content!r})" if messages else None
            raise ScriptExhausted(
                f"The script has {len(self._answers)} answers and this was request "
                f"{len(self.requests)}; the last message sent was {last}."
            )
        return answer if isinstance(answer, str) else answer.model_copy(deep=True)


def _checked(answer: Any) -> Any:
    # Messages of either world are played, so a message is what has the parts of one.
    if not isinstance(answer, str) and not (hasattr(answer, "content") and hasattr(answer, "type")):
        kind = type(answer)
        raise TypeError(f"A script must answer with messages or texts (got {answer!r}, a {kind}).")
    return answer


class ScriptedChatModel(BaseChatModel):
    """Plays a script, and keeps every request, so that one can ask what the model was sent."""

    _script: Script = PrivateAttr()
    _llm_type: ClassVar[str] = "scripted"

    def __init__(self, script: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._script = Script(script)

    @property
    def requests(self) -> list[ScriptedRequest]:
        """Every request so far, also those of what `bind` and `bind_tools` returned."""
        return self._script.requests

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: Any = None, strict: Any = None, **kwargs: Any
    ) -> _ChatModelBinding:
        """Bind the tools in OpenAI's format, and `tool_choice` as it was given."""
        if tool_choice is not None:
            kwargs["tool_choice"] = tool_choice
        return self.bind(tools=[convert_to_openai_tool(t, strict=strict) for t in tools], **kwargs)

    def _generate(
        self, messages: list[BaseMessage], stop: Stop = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        return _result_of(self._script.play(messages, stop, kwargs))

    async def _agenerate(
        self, messages: list[BaseMessage], stop: Stop = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        # No thread, since there is nothing to wait for.
        return self._generate(messages, stop, **kwargs)


class APIStatusError(Exception):
    """The endpoint answered with an error status; `body` is what it said."""

    def __init__(self, status_code: int, body: Any) -> None:
        error = body.get("error") if isinstance(body, dict) else None
        said = f" - {error['message']}" if isinstance(error, dict) and "message" in error else ""
        super().__init__(f"Error code: {status_code}{said}")
        self.status_code, self.body = status_code, body


class OpenAIChatModel(BaseChatModel):
    """A model behind an HTTP endpoint that talks as OpenAI's chat completions do.

    Args:
        model_kwargs: what else goes into the body of every request, such as `temperature`.
        transport: an httpx transport, sync and async, to go another way than the network.
    """

    model: str
    api_key: str = Field(default="", repr=False)
    base_url: str = "https://api.openai.com/v1"
    model_kwargs: dict[str, Any] = Field(default_factory=dict)
    transport: Any = None
    _llm_type: ClassVar[str] = "openai-chat"

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: Any = None, strict: Any = None, **kwargs: Any
    ) -> _ChatModelBinding:
        """Bind the tools; `tool_choice` is "auto", "none", "any", a tool's name, a dict or a bool.

        Raises:
            ValueError: `tool_choice` is none of these.
        """
        formatted = [convert_to_openai_tool(tool, strict=strict) for tool in tools]
        if not isinstance(tool_choice, str | bool | dict | None):
            expected = "Expected str, bool or dict."
            raise ValueError(f"Unrecognized tool_choice type. {expected} Received: {tool_choice}")
        if tool_choice in [tool.get("function", {}).get("name") for tool in formatted]:
            tool_choice = {"type": "function", "function": {"name": tool_choice}}
        elif tool_choice in ("any", True):
            tool_choice = "required"
        if tool_choice:
            kwargs["tool_choice"] = tool_choice
        return self.bind(tools=formatted, **kwargs)

    # httpx is imported where it is used, so that only who uses this class needs it.

    def _generate(
        self, messages: list[BaseMessage], stop: Stop = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        import httpx

        with httpx.Client(transport=self.transport, timeout=600) as client:
            response = client.post(**self._request(messages, stop, kwargs))
        return _create_chat_result(response)

    async def _agenerate(
        self, messages: list[BaseMessage], stop: Stop = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        import httpx

        async with httpx.AsyncClient(transport=self.transport, timeout=600) as client:
            response = await client.post(**self._request(messages, stop, kwargs))
        return _create_chat_result(response)

    def _request(
        self, messages: list[BaseMessage], stop: Stop, kwargs: dict[str, Any]
    ) -> dict[str, Any]:
        body = {"model": self.model, "stream": False, **self.model_kwargs, **kwargs}
        if stop is not None:
            body["stop"] = stop
        body["messages"] = [_convert_message_to_dict(message) for message in messages]
        headers = {"Authorization": f"Bearer {self.api_key}"}
        return {"url": f"{self.base_url}/chat/completions", "headers": headers, "json": body}


# The role that OpenAI knows for each type of message.
_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}


def _convert_message_to_dict(message: BaseMessage) -> dict[str, Any]:
    """A message as OpenAI takes it; its content goes as it is."""
    if message.type not in _ROLES:
        raise TypeError(f"Got unknown type {message}")
    role = message.additional_kwargs.get("__openai_role__", _ROLES[message.type])
    result: dict[str, Any] = {"role": role, "content": message.content}
    if isinstance(message, ToolMessage):
        # No name and no status: the id is all that ties a result to its call.
        return result | {"tool_call_id": message.tool_call_id}
    if message.name is not None:
        result["name"] = message.name
    if isinstance(message, AIMessage) and (message.tool_calls or message.invalid_tool_calls):
        result["content"] = message.content or None
        result["tool_calls"] = [
            _to_openai_call(call, json.dumps(call["args"], ensure_ascii=False))
            for call in message.tool_calls
        ] + [_to_openai_call(call, call["args"]) for call in message.invalid_tool_calls]
    return result


def _to_openai_call(call: Any, arguments: str | None) -> dict[str, Any]:
    function = {"name": call["name"], "arguments": arguments}
    return {"type": "function", "id": call["id"], "function": function}


def _create_chat_result(response: Any) -> ChatResult:
    """Read what the endpoint answered.

    Raises:
        APIStatusError: the status is an error.
        ValueError: it is no JSON object with answers in it.
    """
    try:
        body = response.json()
    except ValueError:
        body = response.text
    if not response.is_success:
        raise APIStatusError(response.status_code, body)
    if not isinstance(body, dict) or not body.get("choices"):
        raise ValueError(f"Unexpected response from OpenAI-compatible endpoint: {body!r:.200}")
    usage = body.get("usage")
    generations = []
    for choice in body["choices"]:
        message = _convert_dict_to_message(choice["message"])
        message.usage_metadata = _create_usage_metadata(usage) if usage else None
        info = {key: choice.get(key) for key in ("finish_reason", "logprobs")}
        generations.append(ChatGeneration(message=message, generation_info=info))
    llm_output = {key: body.get(key) for key in ("id", "system_fingerprint")}
    llm_output |= {
        "token_usage": usage,
        "model_provider": "openai",
        "model_name": body.get("model"),
    }
    return ChatResult(generations=generations, llm_output=llm_output)


def _convert_dict_to_message(message: dict[str, Any]) -> AIMessage:
    """An answer as OpenAI sends it: a call's arguments are a JSON string, which may be broken."""
    calls: list[Any] = []
    invalid: list[Any] = []
    for raw in message.get("tool_calls") or []:
        name, arguments = raw["function"]["name"], raw["function"]["arguments"]
        try:
            # None or nothing is what a model sends for a tool without arguments.
            args = json.loads(arguments, strict=False) if arguments else {}
        except json.JSONDecodeError as error:
            text = (
                f"Function {name} arguments:\n\n{arguments}\n\nare not valid JSON. Received "
                f"JSONDecodeError {error}\nFor troubleshooting, visit: "
                "https://docs.langchain.com/oss/python/langchain/errors/OUTPUT_PARSING_FAILURE "
            )
            invalid.append({"name": name, "args": arguments, "id": raw.get("id"), "error": text})
        else:
            calls.append({"name": name or "", "args": args or {}, "id": raw.get("id")})
    return AIMessage(
        content=message.get("content") or "",
        tool_calls=calls,
        invalid_tool_calls=invalid,
        additional_kwargs={"refusal": message.get("refusal")},
    )


# What OpenAI counts apart, and what LangChain calls it.
_DETAILS = {"audio_tokens": "audio", "cached_tokens": "cache_read", "reasoning_tokens": "reasoning"}


def _create_usage_metadata(usage: dict[str, Any]) -> dict[str, Any]:
    read, written = usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0
    total = usage.get("total_tokens") or read + written
    metadata = {"input_tokens": read, "output_tokens": written, "total_tokens": total}
    for ours, theirs in (("input", "prompt"), ("output", "completion")):
        given = usage.get(f"{theirs}_tokens_details") or {}
        details = {_DETAILS[key]: given[key] for key in _DETAILS if given.get(key) is not None}
        metadata[f"{ours}_token_details"] = details
    return metadata
