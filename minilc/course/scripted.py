"""The scripted model of the real world: a LangChain model that plays a script of minilc's kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, messages_from_dict
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr

from minilc import chat_models, messages


class ScriptedChatModel(BaseChatModel):
    """minilc's `ScriptedChatModel` as a real LangChain model: same script, same `requests`."""

    _script: chat_models.ScriptedChatModel = PrivateAttr()

    def __init__(self, script: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._script = chat_models.ScriptedChatModel(script)

    @property
    def requests(self) -> list[chat_models.ScriptedRequest]:
        """Every request so far; what `bind_tools` returns has the same list."""
        return self._script.requests

    def bind_tools(
        self,
        tools: Sequence[Any],
        *,
        strict: bool | None = None,
        **kwargs: Any,
    ) -> Runnable[Any, AIMessage]:
        """Bind `tools` in OpenAI's format; `tool_choice` is kept as it was given."""
        formatted = [convert_to_openai_tool(tool, strict=strict) for tool in tools]
        return self.bind(tools=formatted, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        answer = self._script.play(messages, **kwargs)
        return ChatResult(generations=[ChatGeneration(message=_in_this_world(answer))])

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


def _in_this_world(answer: Any) -> BaseMessage:
    """A script may be written with minilc's messages or with texts; LangChain gets its own."""
    if not isinstance(answer, messages.BaseMessage):
        return answer
    return messages_from_dict([{"type": answer.type, "data": answer.model_dump()}])[0]
