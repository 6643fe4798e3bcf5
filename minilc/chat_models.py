"""Layer 7: a model is asked with tools bound to it; the scripted model that keeps its requests.

Mirrors langchain_core/language_models/chat_models.py
Leaves out streaming, caching, callbacks, rate limits, batches, structured output.
"""

from __future__ import annotations

import asyncio
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, PrivateAttr

from minilc.function_calling import convert_to_openai_tool
from minilc.messages import AIMessage, BaseMessage, HumanMessage, convert_to_messages


class ChatGeneration(BaseModel):
    """One answer of a model, and what the provider said about it (`finish_reason`)."""

    message: BaseMessage
    generation_info: dict[str, Any] | None = None

    @property
    def text(self) -> str:
        """The text of the answer."""
        return self.message.text


class ChatResult(BaseModel):
    """What `_generate` returns: the answers, and what the provider said about all of them."""

    generations: list[ChatGeneration]
    llm_output: dict[str, Any] | None = None


class BaseChatModel(BaseModel, ABC):
    """A chat model: messages in, one message out. A subclass gives `_generate` and `_llm_type`."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    def invoke(
        self,
        input: Any,
        config: Any = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> BaseMessage:
        """Ask the model. `kwargs` (what `bind` keeps) go to `_generate` as they are.

        Raises:
            ValueError: `input` is no text and no list of messages.
        """
        result = self._generate(self._convert_input(input), stop=stop, **kwargs)
        return self._answer(result, config)

    async def ainvoke(
        self,
        input: Any,
        config: Any = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> BaseMessage:
        """`invoke`, awaited."""
        result = await self._agenerate(self._convert_input(input), stop=stop, **kwargs)
        return self._answer(result, config)

    def bind(self, **kwargs: Any) -> _ChatModelBinding:
        """The same model with `kwargs` added to every call."""
        return _ChatModelBinding(bound=self, kwargs=kwargs)

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: Any = None, **kwargs: Any
    ) -> _ChatModelBinding:
        """The same model with `tools` in every request; each provider has its own format."""
        raise NotImplementedError

    @abstractmethod
    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        """Ask the provider."""

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        """`_generate` in a thread, unless a subclass can await its provider."""
        return await asyncio.to_thread(self._generate, messages, stop, run_manager, **kwargs)

    @property
    @abstractmethod
    def _llm_type(self) -> str:
        """What kind of model this is."""

    def _convert_input(self, model_input: Any) -> list[BaseMessage]:
        if isinstance(model_input, str):
            return [HumanMessage(content=model_input)]
        if isinstance(model_input, Sequence):
            return convert_to_messages(model_input)
        raise ValueError(
            f"Invalid input type {type(model_input)}. "
            "Must be a PromptValue, str, or list of BaseMessages."
        )

    def _answer(self, result: ChatResult, config: Any) -> BaseMessage:
        """The first message of `result`, with an id and with the provider's metadata."""
        message = result.generations[0].message
        if message.id is None:
            message.id = f"lc_run--{uuid.uuid4()}-0"
        info = result.generations[0].generation_info
        if info or result.llm_output:
            message.response_metadata = {
                **(result.llm_output or {}),
                **(info or {}),
                **message.response_metadata,
            }
        return message


@dataclass
class _ChatModelBinding:
    """A model and the keyword arguments that each of its calls gets; otherwise like the model."""

    bound: Any
    kwargs: dict[str, Any]

    def invoke(self, input: Any, config: Any = None, **kwargs: Any) -> BaseMessage:
        """Ask the model with the bound arguments; those of the call win."""
        return self.bound.invoke(input, config, **{**self.kwargs, **kwargs})

    async def ainvoke(self, input: Any, config: Any = None, **kwargs: Any) -> BaseMessage:
        """`invoke`, awaited."""
        return await self.bound.ainvoke(input, config, **{**self.kwargs, **kwargs})

    def bind(self, **kwargs: Any) -> _ChatModelBinding:
        """The same with `kwargs` on top of those already bound."""
        return _ChatModelBinding(self.bound, {**self.kwargs, **kwargs})

    def __getattr__(self, name: str) -> Any:
        return getattr(self.bound, name)


class GenericFakeChatModel(BaseChatModel):
    """Answers with the next of `messages`, an iterator of messages or texts."""

    messages: Iterator[AIMessage | str]

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        answer = next(self.messages)
        message = AIMessage(content=answer) if isinstance(answer, str) else answer
        return ChatResult(generations=[ChatGeneration(message=message)])

    @property
    def _llm_type(self) -> str:
        return "generic-fake-chat-model"


class ScriptExhausted(RuntimeError):
    """A scripted model was asked more often than its script has answers."""


@dataclass
class ScriptedRequest:
    """What a scripted model was sent in one call: messages, tools as JSON, and the rest."""

    messages: list[Any]
    tools: list[dict[str, Any]]
    tool_choice: Any
    kwargs: dict[str, Any]


class Script:
    """The answers of a scripted model and the requests it got. Both worlds' models play it.

    Args:
        answers: messages or texts, one for each call; or a function of the messages sent.

    Raises:
        TypeError: `answers` is neither.
    """

    def __init__(self, answers: Any) -> None:
        self.requests: list[ScriptedRequest] = []
        self._function: Callable[[list[Any]], Any] | None = None
        if callable(answers):
            self._function = answers
            return
        if isinstance(answers, str) or not isinstance(answers, Sequence):
            raise TypeError(
                "a script is a list of messages or texts, or a function of the messages sent "
                f"(got {answers!r} that is a {type(answers)})"
            )
        self._answers = [_checked(answer) for answer in answers]
        self._left = iter(self._answers)

    def play(self, messages: list[Any], stop: list[str] | None, kwargs: dict[str, Any]) -> Any:
        """Keep the request, and give the next answer: a text, or a copy of the message."""
        rest = {**kwargs, "stop": stop} if stop else dict(kwargs)
        tools, tool_choice = rest.pop("tools", []), rest.pop("tool_choice", None)
        self.requests.append(ScriptedRequest(messages, tools, tool_choice, rest))
        if self._function is not None:
            answer = _checked(self._function(messages))
        else:
            answer = next(self._left, None)
        if answer is None:
            raise ScriptExhausted(self._exhausted(messages))
        return answer if isinstance(answer, str) else _fresh(answer)

    def _exhausted(self, messages: list[Any]) -> str:
        asked = (
            f"{type(messages[-1]).__name__}({messages[-1].content!r})" if messages else "nothing"
        )
        return (
            f"the script has {len(self._answers)} answers and this was request "
            f"{len(self.requests)}; the last message sent was {asked}"
        )


def _checked(answer: Any) -> Any:
    # Duck-typed, because the same script is played in both worlds.
    if isinstance(answer, str) or (hasattr(answer, "content") and hasattr(answer, "model_copy")):
        return answer
    raise TypeError(
        f"an answer of a script must be a message or a text (got {answer!r} that is a "
        f"{type(answer)})"
    )


def _fresh(message: Any) -> Any:
    """A copy whose tool calls and contents are its own: two runs must not share them."""
    return message.model_copy(deep=True)


class ScriptedChatModel(BaseChatModel):
    """Plays a script and keeps every request, so that a test can ask what the model was sent."""

    _script: Script = PrivateAttr()

    def __init__(self, script: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._script = Script(script)

    @property
    def requests(self) -> list[ScriptedRequest]:
        """Every request so far; what `bind_tools` returns has the same list."""
        return self._script.requests

    def bind_tools(
        self,
        tools: Sequence[Any],
        *,
        tool_choice: Any = None,
        strict: bool | None = None,
        **kwargs: Any,
    ) -> _ChatModelBinding:
        """Bind `tools` in OpenAI's format; `tool_choice` is kept as it was given."""
        if tool_choice is not None:
            kwargs["tool_choice"] = tool_choice
        formatted = [convert_to_openai_tool(tool, strict=strict) for tool in tools]
        return self.bind(tools=formatted, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        answer = self._script.play(messages, stop, kwargs)
        message = AIMessage(content=answer) if isinstance(answer, str) else answer
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        return self._generate(messages, stop, run_manager, **kwargs)

    @property
    def _llm_type(self) -> str:
        return "scripted"
