"""What really goes over the wire: both worlds' provider models on one in-process endpoint.

    wire = Wire(completion("晴"))
    for lc in (MINILC, LANGCHAIN):
        openai_model(lc, wire.transport).invoke("北京今天天气怎么样？")
    wire.bodies[0] == wire.bodies[1]

Nothing here opens a socket: the transport answers in this process, with what it was given.
"""

from __future__ import annotations

import functools
import json
import logging
from collections.abc import Sequence
from typing import Any

import httpx

from minilc.chat_models import OpenAIChatModel
from minilc.course.worlds import World

MODEL = "gpt-4o-mini"
URL = "http://wire.test/v1"


class Wire:
    """An endpoint that keeps the body of each request and gives its replies one after the other.

    Args:
        replies: JSON bodies, or whole httpx responses; the last is given again when they run out.

    Attributes:
        bodies: what was sent, as the JSON that it was.
        transport: the httpx transport to give to a client, sync or async.
    """

    def __init__(self, *replies: Any) -> None:
        self.bodies: list[Any] = []
        self.requests: list[httpx.Request] = []
        self.transport = httpx.MockTransport(self._answer)
        self._replies = list(replies)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        self.bodies.append(json.loads(request.content))
        reply = self._replies[0] if len(self._replies) == 1 else self._replies.pop(0)
        if isinstance(reply, httpx.Response):
            # A copy, because a response can be read only once.
            return httpx.Response(reply.status_code, headers=reply.headers, content=reply.content)
        return httpx.Response(200, json=reply)


def completion(
    content: Any = None,
    tool_calls: Sequence[tuple[str | None, Any]] = (),
    finish_reason: str | None = None,
    **more: Any,
) -> dict[str, Any]:
    """A chat completion as OpenAI's endpoint sends it.

    Args:
        content: the text.
        tool_calls: a pair for each call: the name, and the arguments as the JSON text they are.
        finish_reason: by default what fits.
        more: further fields of the message, such as `refusal`.
    """
    message: dict[str, Any] = {"role": "assistant", "content": content, **more}
    if tool_calls:
        message["tool_calls"] = [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": name, "arguments": arguments},
            }
            for number, (name, arguments) in enumerate(tool_calls, start=1)
        ]
    finish_reason = finish_reason or ("tool_calls" if tool_calls else "stop")
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": f"{MODEL}-2024-07-18",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25},
    }


def openai_model(lc: World, transport: httpx.MockTransport, **kwargs: Any) -> Any:
    """A model of the world that talks to `transport`: minilc's OpenAIChatModel, or ChatOpenAI."""
    if lc.name == "minilc":
        return minilc_openai(transport, **kwargs)
    return real_openai(transport, **kwargs)


def minilc_openai(transport: httpx.MockTransport, **kwargs: Any) -> OpenAIChatModel:
    """minilc's model on `transport`."""
    kwargs = _endpoint() | kwargs
    return OpenAIChatModel(transport=transport, **kwargs)


def real_openai(transport: httpx.MockTransport, **kwargs: Any) -> Any:
    """`langchain_openai.ChatOpenAI` on `transport`; it does not try again after an error."""
    from langchain_openai import ChatOpenAI

    kwargs = _endpoint() | {"max_retries": 0} | kwargs
    return ChatOpenAI(
        http_client=httpx.Client(transport=transport),
        http_async_client=httpx.AsyncClient(transport=transport),
        **kwargs,
    )


def _endpoint() -> dict[str, Any]:
    return {"model": MODEL, "api_key": "none", "base_url": URL}


def convert_to_gemini_tool(tool: Any) -> dict[str, Any]:
    """The function declaration that `langchain_google_genai` really sends for `tool`.

    Its conversion has two halves, in `bind_tools` and in the request, so a request is made.
    """
    wire, model = _real_gemini()
    logger = logging.getLogger("langchain_google_genai._function_utils")
    level = logger.level
    # It warns of each key of JSON schema that Gemini lacks, such as `default`.
    logger.setLevel(logging.ERROR)
    try:
        model.bind_tools([tool]).invoke("hi")
    finally:
        logger.setLevel(level)
    return wire.bodies.pop()["tools"][0]["functionDeclarations"][0]


@functools.cache
def _real_gemini() -> tuple[Wire, Any]:
    from langchain_google_genai import ChatGoogleGenerativeAI

    content = {"parts": [{"text": "ok"}], "role": "model"}
    wire = Wire({"candidates": [{"content": content, "finishReason": "STOP"}]})
    model = ChatGoogleGenerativeAI(
        model="gemini-2.5-flash",
        google_api_key="none",
        client_args={"transport": wire.transport},
        max_retries=1,
    )
    return wire, model
