"""Layer 1: the protocol, i.e. the messages that a model and its tools exchange.

Mirrors langchain_core/messages/{base,human,system,ai,tool,modifier,utils}.py
Leaves out chunks (streamed pieces), FunctionMessage and ChatMessage (superseded), content_blocks
(the standard form of content), serialisation envelopes, `.text()` as a call.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, NotRequired
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

# Pydantic's own dependency; before Python 3.12 it takes no TypedDict but this one.
from typing_extensions import TypedDict


class BaseMessage(BaseModel):
    """One entry of a conversation; `content` is text or a list of content blocks."""

    model_config = ConfigDict(extra="allow")

    content: str | list[str | dict[Any, Any]]
    additional_kwargs: dict[Any, Any] = Field(default_factory=dict)
    response_metadata: dict[Any, Any] = Field(default_factory=dict)
    type: str
    name: str | None = None
    id: str | None = Field(default=None, coerce_numbers_to_str=True)

    def __init__(self, content: Any = None, **kwargs: Any) -> None:
        super().__init__(content=content, **kwargs)

    @property
    def text(self) -> str:
        """The text blocks of the content, joined; other blocks are skipped."""
        if isinstance(self.content, str):
            return self.content
        texts = [b if isinstance(b, str) else _text_of_block(b) for b in self.content]
        return "".join(texts)

    def pretty_repr(self, html: bool = False) -> str:
        """The message under a title line; `html` makes the title bold, for terminals."""
        title = f" {self.type.title()} Message "
        left = "=" * ((80 - len(title)) // 2)
        right = left + "=" * (len(title) % 2)
        header = f"{left}\033[1m{title}\033[0m{right}" if html else f"{left}{title}{right}"
        name = "" if self.name is None else f"\nName: {self.name}"
        return f"{header}{name}\n\n{self.content}"

    def pretty_print(self) -> None:
        """Print `pretty_repr`; this is the one place of the core that prints."""
        print(self.pretty_repr(html=hasattr(sys, "ps2")))

    def __repr_args__(self) -> list[tuple[str | None, Any]]:
        # Fields that still have their default say nothing; empty dicts and lists are shown.
        fields = type(self).model_fields
        return [
            (name, value)
            for name, value in super().__repr_args__()
            if name not in fields or value is not None and value != fields[name].get_default()
        ]


def _text_of_block(block: dict[Any, Any]) -> str:
    text = block.get("text")
    return text if block.get("type") == "text" and isinstance(text, str) else ""


class HumanMessage(BaseMessage):
    """What the user says."""

    type: Literal["human"] = "human"


class SystemMessage(BaseMessage):
    """What the developer tells the model beforehand."""

    type: Literal["system"] = "system"


class ToolCall(TypedDict):
    """A model's request to run a tool."""

    name: str
    args: dict[str, Any]
    id: str | None
    type: NotRequired[Literal["tool_call"]]


class InvalidToolCall(TypedDict):
    """A request whose arguments could not be read; `args` is what the model wrote."""

    type: Literal["invalid_tool_call"]
    id: str | None
    name: str | None
    args: str | None
    error: str | None


def tool_call(*, name: str, args: dict[str, Any], id: str | None) -> ToolCall:
    """Create a ToolCall: a missing or unknown key is a TypeError."""
    return ToolCall(name=name, args=args, id=id, type="tool_call")


def invalid_tool_call(
    *,
    name: str | None = None,
    args: str | None = None,
    id: str | None = None,
    error: str | None = None,
) -> InvalidToolCall:
    """Create an InvalidToolCall: an unknown key is a TypeError."""
    return InvalidToolCall(type="invalid_tool_call", id=id, name=name, args=args, error=error)


class UsageMetadata(TypedDict):
    """Token counts of one answer."""

    input_tokens: int
    output_tokens: int
    total_tokens: int
    input_token_details: NotRequired[dict[str, int]]
    output_token_details: NotRequired[dict[str, int]]


class AIMessage(BaseMessage):
    """What the model answers: text, and the tools that it asks for."""

    type: Literal["ai"] = "ai"
    tool_calls: list[ToolCall] = Field(default_factory=list)
    invalid_tool_calls: list[InvalidToolCall] = Field(default_factory=list)
    usage_metadata: UsageMetadata | None = None

    @model_validator(mode="before")
    @classmethod
    def _backwards_compat_tool_calls(cls, values: dict[str, Any]) -> dict[str, Any]:
        calls, invalid = values.get("tool_calls"), values.get("invalid_tool_calls")
        raw_calls = values.get("additional_kwargs", {}).get("tool_calls")
        if raw_calls and not calls and not invalid:
            try:
                calls, invalid = default_tool_parser(raw_calls)
            except (AttributeError, KeyError, TypeError):
                # Not the shape that OpenAI sends: nothing to read, and the raw calls stay.
                pass
        if calls:
            dropped = ("type", "extras")
            values["tool_calls"] = [
                tool_call(**{k: v for k, v in call.items() if k not in dropped}) for call in calls
            ]
        if invalid:
            values["invalid_tool_calls"] = [
                invalid_tool_call(**{k: v for k, v in call.items() if k != "type"})
                for call in invalid
            ]
        return values

    def pretty_repr(self, html: bool = False) -> str:
        """The message, then its tool calls with their arguments."""
        lines = [super().pretty_repr(html=html).strip()]
        for title, calls in (
            ("Tool Calls:", self.tool_calls),
            ("Invalid Tool Calls:", self.invalid_tool_calls),
        ):
            if calls:
                lines.append(title)
            for call in calls:
                lines.extend(_pretty_call(call))
        return "\n".join(lines).strip()


def _pretty_call(call: Any) -> list[str]:
    args = call["args"]
    lines = [f"  {call['name']} ({call['id']})", f" Call ID: {call['id']}"]
    if call.get("error"):
        lines.append(f"  Error: {call['error']}")
    lines.append("  Args:")
    if isinstance(args, dict):
        return lines + [f"    {name}: {value}" for name, value in args.items()]
    return lines if args is None else [*lines, f"    {args}"]


def default_tool_parser(
    raw_tool_calls: list[dict[str, Any]],
) -> tuple[list[ToolCall], list[InvalidToolCall]]:
    """Read calls as OpenAI sends them: the arguments are a JSON string, which may be broken."""
    calls, invalid = [], []
    for raw in raw_tool_calls:
        if "function" not in raw:
            continue
        name, arguments = raw["function"]["name"], raw["function"]["arguments"]
        try:
            args = json.loads(arguments) or {}
        except json.JSONDecodeError:
            invalid.append(invalid_tool_call(name=name, args=arguments, id=raw.get("id")))
        else:
            calls.append(tool_call(name=name or "", args=args, id=raw.get("id")))
    return calls, invalid


class ToolOutputMixin:
    """What a tool may return as it is; anything else is wrapped in a ToolMessage."""


class ToolMessage(BaseMessage, ToolOutputMixin):
    """The result of one tool call, for the model; `artifact` is what the model does not see."""

    type: Literal["tool"] = "tool"
    tool_call_id: str
    artifact: Any = None
    status: Literal["success", "error"] = "success"
    additional_kwargs: dict[Any, Any] = Field(default_factory=dict, repr=False)
    response_metadata: dict[Any, Any] = Field(default_factory=dict, repr=False)

    @model_validator(mode="before")
    @classmethod
    def coerce_args(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Make text of content, or of its parts, that is neither text nor blocks."""
        content = values["content"]
        if isinstance(content, list | tuple):
            values["content"] = [x if isinstance(x, str | dict) else str(x) for x in content]
        elif not isinstance(content, str):
            values["content"] = str(content)
        if isinstance(values["tool_call_id"], UUID | int | float):
            values["tool_call_id"] = str(values["tool_call_id"])
        return values


class RemoveMessage(BaseMessage):
    """Takes the message with this id out of the history, where `add_messages` reduces it."""

    type: Literal["remove"] = "remove"

    def __init__(self, id: str, **kwargs: Any) -> None:
        if kwargs.pop("content", None):
            raise ValueError("RemoveMessage does not support 'content' field.")
        super().__init__("", id=id, **kwargs)


def _get_type(value: Any) -> str:
    """The tag by which `AnyMessage` picks a class, of a message or of its dict."""
    return value["type"] if isinstance(value, dict) else value.type


AnyMessage = Annotated[
    Annotated[AIMessage, Tag("ai")]
    | Annotated[HumanMessage, Tag("human")]
    | Annotated[SystemMessage, Tag("system")]
    | Annotated[ToolMessage, Tag("tool")],
    Discriminator(_get_type),
]


def convert_to_messages(messages: Iterable[Any]) -> list[BaseMessage]:
    """Turn messages, strings, (role, content) pairs and role/content dicts into messages.

    Raises:
        ValueError: a dict lacks role or content, or the role is unknown.
        NotImplementedError: an element is none of these.
    """
    return [_convert_to_message(message) for message in messages]


def _convert_to_message(message: Any) -> BaseMessage:
    if isinstance(message, BaseMessage):
        return message
    if isinstance(message, str):
        return _create_message_from_message_type("human", message)
    if isinstance(message, Sequence):
        if len(message) != 2:
            raise NotImplementedError("Message as a sequence must be (role string, template)")
        return _create_message_from_message_type(*message)
    if not isinstance(message, dict):
        raise NotImplementedError(_coercion_failure(f"Unsupported message type: {type(message)}"))
    fields = dict(message)
    try:
        role = fields.pop("role") if "role" in fields else fields.pop("type")
        content = fields.pop("content") or ""
    except KeyError as error:
        text = f"Message dict must contain 'role' and 'content' keys, got {message}"
        raise ValueError(_coercion_failure(text)) from error
    return _create_message_from_message_type(role, content, **fields)


def _create_message_from_message_type(
    message_type: str,
    content: Any,
    name: str | None = None,
    tool_call_id: str | None = None,
    tool_calls: list[dict[str, Any]] | None = None,
    id: str | None = None,
    **additional_kwargs: Any,
) -> BaseMessage:
    given: dict[str, Any] = {"name": name, "tool_call_id": tool_call_id, "id": id}
    kwargs = {key: value for key, value in given.items() if value is not None}
    if tool_calls is not None:
        kwargs["tool_calls"] = [_from_openai_call(call) for call in tool_calls]
    if response_metadata := additional_kwargs.pop("response_metadata", None):
        kwargs["response_metadata"] = response_metadata
    if message_type == "tool":
        # These two are fields of ToolMessage; what else is left describes the message.
        for key in ("artifact", "status"):
            if (value := additional_kwargs.pop(key, None)) is not None:
                kwargs[key] = value
    if message_type == "developer":
        additional_kwargs["__openai_role__"] = "developer"
    additional_kwargs.update(additional_kwargs.pop("additional_kwargs", {}))
    kwargs["additional_kwargs"] = additional_kwargs
    match message_type:
        case "human" | "user":
            return HumanMessage(content=content, **kwargs)
        case "ai" | "assistant":
            return AIMessage(content=content, **kwargs)
        case "system" | "developer":
            return SystemMessage(content=content, **kwargs)
        case "tool":
            return ToolMessage(content=content, **kwargs)
        case "remove":
            return RemoveMessage(**kwargs)
    text = (
        f"Unexpected message type: '{message_type}'. Use one of 'human', 'user', 'ai', "
        "'assistant', 'function', 'tool', 'system', or 'developer'."
    )
    raise ValueError(_coercion_failure(text))


def _from_openai_call(call: dict[str, Any]) -> dict[str, Any]:
    """A tool call as OpenAI writes it, `{"function": {"name", "arguments"}}`, as a ToolCall."""
    if "function" not in call:
        return call
    args = call["function"]["arguments"]
    if isinstance(args, str):
        args = json.loads(args, strict=False)
    name, id_ = call["function"]["name"], call["id"]
    return {"name": name, "args": args, "id": id_, "type": "tool_call"}


def _coercion_failure(text: str) -> str:
    """The text with the page that upstream's message points to."""
    page = "https://docs.langchain.com/oss/python/langchain/errors/MESSAGE_COERCION_FAILURE"
    return f"{text}\nFor troubleshooting, visit: {page} "
