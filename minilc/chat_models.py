"""Layer 7: a model is asked, with tools bound to it; the model that plays a script; the wire.

Mirrors langchain_core/language_models/{chat_models,fake_chat_models}.py, langchain_core/outputs,
langchain_openai/chat_models/base.py
Leaves out streaming, batches, caching, callbacks (there is no `run_manager`), rate limits,
`_llm_type`, `with_structured_output`, a class of its own for what `bind` returns; of OpenAI
retries, an async connection, the responses API, `response_format`, audio, the role `developer`, the
translation of content blocks, all answers of several but the first, the details of the usage, a
class of error for each status.
"""

import copy
import json
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Self

from pydantic import BaseModel, Field

from minilc.base import Config, run_in_executor
from minilc.function_calling import convert_to_openai_tool
from minilc.messages import AIMessage, BaseMessage, ToolMessage, convert_to_messages, create_message

Messages = list[BaseMessage]
Stop = list[str] | None


class ChatGeneration(BaseModel):
    """One answer of a model, and what the provider says of it, such as `finish_reason`."""

    message: BaseMessage
    generation_info: dict[str, Any] | None = None


class ChatResult(BaseModel):
    """What `_generate` returns: the answers, and what the provider says of the whole request."""

    generations: list[ChatGeneration]
    llm_output: dict[str, Any] | None = None


# A field may be called `model_name`: pydantic would keep such names for itself.
class BaseChatModel(BaseModel, ABC, arbitrary_types_allowed=True, protected_namespaces=()):
    """Messages in, one message out. A subclass writes `_generate`."""

    # What `bind` keeps for each call.
    kwargs: dict[str, Any] = Field(default_factory=dict, repr=False)

    def invoke(self, input: Any, config: Config = None, **kwargs: Any) -> BaseMessage:
        """Ask the model; `kwargs`, such as `stop`, go to `_generate` and win over bound ones.

        Raises:
            ValueError: `input` is neither a text nor a sequence of messages.
        """
        return _first_answer(self._generate(_convert_input(input), **self.kwargs | kwargs))

    async def ainvoke(self, input: Any, config: Config = None, **kwargs: Any) -> BaseMessage:
        """`invoke`, awaited."""
        return _first_answer(await self._agenerate(_convert_input(input), **self.kwargs | kwargs))

    def bind(self, **kwargs: Any) -> Self:
        """The same model, with `kwargs` in each of its calls."""
        return self.model_copy(update={"kwargs": self.kwargs | kwargs})

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Self:
        """The same model, with `tools` in each of its requests, in the format of its provider.

        `tool_choice` goes along; a model may have to say it in its provider's words.
        """
        raise NotImplementedError

    @abstractmethod
    def _generate(self, messages: Messages, stop: Stop = None, **kwargs: Any) -> ChatResult:
        """Ask the provider."""

    async def _agenerate(self, messages: Messages, stop: Stop = None, **kwargs: Any) -> ChatResult:
        """`_generate` in a thread, for a model that cannot await its provider."""
        return await run_in_executor(self._generate, messages, stop, **kwargs)


def _convert_input(given: Any) -> Messages:
    if not isinstance(given, Sequence):
        expected = "Must be a PromptValue, str, or list of BaseMessages."
        raise ValueError(f"Invalid input type {type(given)}. {expected}")
    # A text is a sequence too, but of letters.
    return convert_to_messages([given] if isinstance(given, str) else given)


def _first_answer(result: ChatResult) -> BaseMessage:
    """The first message, with an id, and with what the provider said as its metadata."""
    answer = result.generations[0]
    message, said = answer.message, (result.llm_output or {}) | (answer.generation_info or {})
    message.id = message.id or f"lc_run--{uuid.uuid4()}-0"
    # The closer to the answer, the more it says: of the request, of the answer, its own.
    if said:
        message.response_metadata = said | message.response_metadata
    return message


class GenericFakeChatModel(BaseChatModel):
    """Answers with the next of `messages`, an iterator of messages or texts."""

    messages: Iterator[AIMessage | str]

    def _generate(self, messages: Messages, stop: Stop = None, **kwargs: Any) -> ChatResult:
        answer = next(self.messages)
        message = AIMessage(content=answer) if isinstance(answer, str) else answer
        return ChatResult(generations=[ChatGeneration(message=message)])


class ScriptExhausted(RuntimeError):
    """A scripted model was asked, and its script has no answer."""


class ScriptedRequest(NamedTuple):
    """One request to a scripted model: what it was sent, the tools as JSON."""

    messages: list[Any]
    tools: list[dict[str, Any]]
    tool_choice: Any
    kwargs: dict[str, Any]


class ScriptedChatModel(BaseChatModel):
    """Plays a script, and keeps every request, so that one can ask what the model was sent.

    Args:
        script: messages or texts, one for each request; or a function of the messages sent.
    """

    _script: Any
    # Also those of what `bind` and `bind_tools` returned.
    requests: list[ScriptedRequest] = Field(default_factory=list)

    def __init__(self, script: Iterable[Any] | Callable[[list[Any]], Any], **kwargs: Any) -> None:
        # A text is a sequence too, but of letters.
        if isinstance(script, str):
            raise TypeError(f"A script must be a list of answers or a function (got {script!r}).")
        super().__init__(**kwargs)
        self._script = script if callable(script) else iter(script)

    def play(self, messages: Any, tools: Any = None, tool_choice: Any = None, **kwargs: Any) -> Any:
        """Keep the request and give the next answer, a message that nobody shares.

        Raises:
            ScriptExhausted: there is none left, or the function gave none.
        """
        self.requests.append(ScriptedRequest(messages, tools or [], tool_choice, kwargs))
        answer = self._script(messages) if callable(self._script) else next(self._script, None)
        if answer is None:
            number, last = len(self.requests), messages[-1].content if messages else None
            raise ScriptExhausted(f"The script has no answer to request {number}, after {last!r}.")
        # Whoever gets a message gives it an id; the one in the script stays as it was.
        return AIMessage(content=answer) if isinstance(answer, str) else copy.deepcopy(answer)

    def bind_tools(self, tools: Sequence[Any], *, strict: Any = None, **kwargs: Any) -> Self:
        """Bind the tools in OpenAI's format, and `tool_choice` as it is given."""
        return self.bind(tools=[convert_to_openai_tool(t, strict=strict) for t in tools], **kwargs)

    def _generate(self, messages: Messages, stop: Stop = None, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self.play(messages, **kwargs))])


class APIStatusError(Exception):
    """The endpoint answered with an error, or with something that is no completion."""


class OpenAIChatModel(BaseChatModel, extra="allow"):
    """A model behind an HTTP endpoint that talks as OpenAI's chat completions do.

    What else it is given, such as `temperature`, goes into the body of every request.

    Args:
        transport: an httpx transport, to go another way than the network.
    """

    model: str
    api_key: str = Field(default="", repr=False)
    base_url: str = "https://api.openai.com/v1"
    transport: Any = None

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: Any = None, strict: Any = None, **kwargs: Any
    ) -> Self:
        """Bind the tools; `tool_choice` is "auto", "none", "any", a tool's name, True or a dict."""
        formatted = [convert_to_openai_tool(tool, strict=strict) for tool in tools]
        # OpenAI wants to know that a name is one, and has another word for "any".
        if tool_choice in [tool["function"]["name"] for tool in formatted if "function" in tool]:
            tool_choice = {"type": "function", "function": {"name": tool_choice}}
        elif tool_choice in ("any", True):
            tool_choice = "required"
        kwargs |= {"tool_choice": tool_choice} if tool_choice else {}
        return self.bind(tools=formatted, **kwargs)

    def _generate(self, messages: Messages, stop: Stop = None, **kwargs: Any) -> ChatResult:
        # Imported here, so that only who uses this class needs it.
        import httpx

        # The call's arguments come last: they win over the model's own.
        body = {"model": self.model, "stream": False, **(self.model_extra or {}), **kwargs}
        body |= {} if stop is None else {"stop": stop}
        body["messages"] = [_convert_message_to_dict(message) for message in messages]
        headers = {"Authorization": f"Bearer {self.api_key}"}
        with httpx.Client(transport=self.transport, headers=headers, timeout=600) as client:
            return _create_chat_result(client.post(f"{self.base_url}/chat/completions", json=body))


# The role that OpenAI knows for each type of message.
_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}


def _convert_message_to_dict(message: BaseMessage) -> dict[str, Any]:
    """A message as OpenAI takes it; its content goes as it is."""
    result: dict[str, Any] = {"role": _ROLES[message.type], "content": message.content}
    if isinstance(message, ToolMessage):
        # No name and no status: the id is all that ties a result to its call.
        return result | {"tool_call_id": message.tool_call_id}
    result |= {"name": message.name} if message.name else {}
    if isinstance(message, AIMessage) and (asks := message.tool_calls + message.invalid_tool_calls):
        result["tool_calls"] = [_lc_tool_call_to_openai_tool_call(call) for call in asks]
        # OpenAI has null where there is nothing beside the calls, LangChain an empty text.
        result["content"] = message.content or None
    return result


def _lc_tool_call_to_openai_tool_call(call: Any) -> dict[str, Any]:
    args = call["args"]
    # The arguments travel as JSON; those of a broken call are the text that the model wrote.
    arguments = args if isinstance(args, str) else json.dumps(args, ensure_ascii=False)
    function = {"name": call["name"], "arguments": arguments}
    return {"type": "function", "id": call["id"], "function": function}


def _create_chat_result(response: Any) -> ChatResult:
    """Read what the endpoint answered.

    Raises:
        APIStatusError: it is an error, or no completion.
    """
    # An endpoint that is none of OpenAI's kind may answer anything, with any status.
    if response.is_error or '"choices"' not in response.text:
        raise APIStatusError(f"Error code: {response.status_code} - {response.text:.500}")
    body = response.json()
    choice = body["choices"][0]
    said = {"model_provider": "openai", "model_name": body.get("model"), "id": body.get("id")}
    said |= {"finish_reason": choice.get("finish_reason"), "token_usage": body.get("usage")}
    message = _convert_dict_to_message(choice["message"])
    if usage := body.get("usage"):
        sent, written = (usage.get(f"{kind}_tokens") or 0 for kind in ("prompt", "completion"))
        counts = {"total_tokens": usage.get("total_tokens") or sent + written}
        message.usage_metadata = {"input_tokens": sent, "output_tokens": written, **counts}
    return ChatResult(generations=[ChatGeneration(message=message, generation_info=said)])


def _convert_dict_to_message(message: dict[str, Any]) -> AIMessage:
    """An answer as OpenAI sends it: a call's arguments are a JSON string, which may be broken."""
    read: dict[str, Any] = {"tool_calls": [], "invalid_tool_calls": []}
    for raw in message.get("tool_calls") or []:
        name, arguments = raw["function"]["name"], raw["function"]["arguments"]
        call = {"name": name, "args": arguments, "id": raw.get("id")}
        try:
            # None or nothing is what a model sends for a tool without arguments.
            args = json.loads(arguments or "{}", strict=False) or {}
            read["tool_calls"].append(call | {"name": name or "", "args": args})
        except json.JSONDecodeError as error:
            text = f"Function {name} arguments:\n\n{arguments}\n\nare not valid JSON. Received "
            text += create_message(f"JSONDecodeError {error}", "OUTPUT_PARSING_FAILURE")
            read["invalid_tool_calls"].append(call | {"error": text})
    refusal = {"refusal": message.get("refusal")}
    return AIMessage(content=message.get("content") or "", additional_kwargs=refusal, **read)
