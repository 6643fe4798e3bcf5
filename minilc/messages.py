"""Layer 1: the protocol, i.e. the messages that a model and its tools exchange.

Mirrors langchain_core/messages/{base,human,system,ai,tool,modifier,utils}.py
Leaves out chunks (streamed pieces), FunctionMessage and ChatMessage (superseded), content_blocks
(the standard form of content), serialisation, `.text()` as a call, the parts of usage_metadata.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, NotRequired
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, model_validator

# Comes with pydantic, which takes no other TypedDict before Python 3.12.
from typing_extensions import TypedDict


class BaseMessage(BaseModel):
    """One entry of a conversation; `content` is text or a list of text and content blocks."""

    # Providers put fields of their own on messages; they are kept.
    model_config = ConfigDict(extra="allow")

    content: str | list[str | dict[Any, Any]]
    additional_kwargs: dict[Any, Any] = Field(default_factory=dict)
    response_metadata: dict[Any, Any] = Field(default_factory=dict)
    type: str
    name: str | None = None
    id: str | None = Field(default=None, coerce_numbers_to_str=True)

    # Pydantic takes keywords only; everybody writes HumanMessage("hi").
    def __init__(self, content: Any = None, **kwargs: Any) -> None:
        super().__init__(content=content, **kwargs)

    @property
    def text(self) -> str:
        """The text of the content, joined; blocks of other types are skipped."""
        blocks = [self.content] if isinstance(self.content, str) else self.content
        texts = [
            b if isinstance(b, str) else b.get("type") == "text" and b.get("text") for b in blocks
        ]
        return "".join(text for text in texts if isinstance(text, str))

    def pretty_repr(self, html: bool = False) -> str:
        """The message under a title line; `html` makes the title bold, in a terminal."""
        title = f" {self.type.title()} Message "
        line = f"{title:=^80}"
        if html:
            line = line.replace(title, f"\033[1m{title}\033[0m")
        name = "" if self.name is None else f"\nName: {self.name}"
        return f"{line}{name}\n\n{self.content}"

    def pretty_print(self) -> None:
        """Print `pretty_repr`, with a bold title where Python is interactive."""
        print(self.pretty_repr(html=hasattr(sys, "ps2")))

    def __repr_args__(self) -> list[tuple[str | None, Any]]:
        # A field that still has its default says nothing; empty dicts and lists are shown.
        args, fields = super().__repr_args__(), type(self).model_fields
        return [(k, v) for k, v in args if k not in fields or v not in (None, fields[k].default)]


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
    """A request that could not be read; `args` is the text that the model wrote."""

    type: Literal["invalid_tool_call"]
    id: str | None
    name: str | None
    args: str | None
    error: str | None


def tool_call(*, name: str, args: dict[str, Any], id: str | None) -> ToolCall:
    """Create a ToolCall; a missing or unknown key is a TypeError."""
    return ToolCall(name=name, args=args, id=id, type="tool_call")


def invalid_tool_call(
    *, name: Any = None, args: Any = None, id: str | None = None, error: str | None = None
) -> InvalidToolCall:
    """Create an InvalidToolCall; an unknown key is a TypeError."""
    return InvalidToolCall(type="invalid_tool_call", id=id, name=name, args=args, error=error)


class AIMessage(BaseMessage):
    """What the model answers: text, and the tools that it asks for."""

    type: Literal["ai"] = "ai"
    tool_calls: list[ToolCall] = Field(default_factory=list)
    invalid_tool_calls: list[InvalidToolCall] = Field(default_factory=list)
    usage_metadata: dict[str, Any] | None = None

    @model_validator(mode="before")
    @classmethod
    def _backwards_compat_tool_calls(cls, values: dict[str, Any]) -> dict[str, Any]:
        calls, invalid = values.get("tool_calls"), values.get("invalid_tool_calls")
        # Some integrations leave the calls where the provider put them. Given calls win.
        raw_calls = values.get("additional_kwargs", {}).get("tool_calls")
        if raw_calls and not calls and not invalid:
            try:
                calls, invalid = default_tool_parser(raw_calls)
            except (AttributeError, KeyError, TypeError):
                pass  # Not what OpenAI sends: there is nothing to read, and the raw calls stay.
        if calls:
            values["tool_calls"] = [tool_call(**_without(c, "type", "extras")) for c in calls]
        if invalid:
            values["invalid_tool_calls"] = [
                invalid_tool_call(**_without(c, "type")) for c in invalid
            ]
        return values

    def pretty_repr(self, html: bool = False) -> str:
        """The message, then its tool calls with their arguments."""
        lines = [super().pretty_repr(html=html).strip()]
        for title, calls in (("Tool", self.tool_calls), ("Invalid Tool", self.invalid_tool_calls)):
            lines += [f"{title} Calls:"] if calls else []
            for call in calls:
                args, error = call["args"] or {}, call.get("error")
                lines += [f"  {call['name']} ({call['id']})", f" Call ID: {call['id']}"]
                lines += [f"  Error: {error}", "  Args:"] if error else ["  Args:"]
                if isinstance(args, dict):
                    lines += [f"    {name}: {value}" for name, value in args.items()]
                else:
                    lines.append(f"    {args}")
        return "\n".join(lines).strip()


def _without(mapping: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in mapping.items() if key not in keys}


def default_tool_parser(
    raw_tool_calls: list[dict[str, Any]],
) -> tuple[list[ToolCall], list[InvalidToolCall]]:
    """Read calls as OpenAI sends them: the arguments are a JSON string, which may be broken."""
    calls, invalid = [], []
    for raw in raw_tool_calls:
        if "function" in raw:
            name, arguments = raw["function"]["name"], raw["function"]["arguments"]
            try:
                args = json.loads(arguments) or {}
                calls.append(tool_call(name=name or "", args=args, id=raw.get("id")))
            # The model wrote it, so it may be broken: keep it, for whoever can mend or report it.
            except json.JSONDecodeError:
                invalid.append(invalid_tool_call(name=name, args=arguments, id=raw.get("id")))
    return calls, invalid


class ToolOutputMixin:
    """What a tool may return as it is; anything else is wrapped in a ToolMessage."""


class ToolMessage(BaseMessage, ToolOutputMixin):
    """The answer to one tool call, for the model; `artifact` is what the model does not see."""

    type: Literal["tool"] = "tool"
    tool_call_id: str
    artifact: Any = None
    status: Literal["success", "error"] = "success"
    # Inherited and not used: no model has answered here.
    additional_kwargs: dict[Any, Any] = Field(default_factory=dict, repr=False)
    response_metadata: dict[Any, Any] = Field(default_factory=dict, repr=False)

    @model_validator(mode="before")
    @classmethod
    def coerce_args(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Make text of content, and of its parts, that is neither text nor blocks."""
        # Tools return all sorts of things, and an answer with odd content beats no answer.
        content, tool_call_id = values["content"], values["tool_call_id"]
        if isinstance(content, list | tuple):
            values["content"] = [x if isinstance(x, str | dict) else str(x) for x in content]
        elif not isinstance(content, str):
            values["content"] = str(content)
        if isinstance(tool_call_id, UUID | int | float):
            values["tool_call_id"] = str(tool_call_id)
        return values


class RemoveMessage(BaseMessage):
    """Takes the message that has this id out of the history, where `add_messages` reduces it."""

    type: Literal["remove"] = "remove"

    def __init__(self, id: str, **kwargs: Any) -> None:
        if kwargs.pop("content", None):
            raise ValueError("RemoveMessage does not support 'content' field.")
        super().__init__("", id=id, **kwargs)


AnyMessage = Annotated[
    AIMessage | HumanMessage | SystemMessage | ToolMessage, Field(discriminator="type")
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
        return HumanMessage(content=message)
    if isinstance(message, Sequence):
        if len(message) != 2:
            raise NotImplementedError("Message as a sequence must be (role string, template)")
        return _create_message_from_message_type(*message)
    if not isinstance(message, dict):
        raise NotImplementedError(_coercion_failure(f"Unsupported message type: {type(message)}"))
    fields = dict(message)
    # OpenAI calls it role, a dumped message type; an answer of calls alone has no content.
    try:
        role = fields.pop("role" if "role" in fields else "type")
        content = fields.pop("content") or ""
    except KeyError as error:
        text = f"Message dict must contain 'role' and 'content' keys, got {message}"
        raise ValueError(_coercion_failure(text)) from error
    return _create_message_from_message_type(role, content, **fields)


def _create_message_from_message_type(
    message_type: str, content: Any, **fields: Any
) -> BaseMessage:
    """A message of that role; what is no field of a message goes to its additional_kwargs."""
    known = ["name", "tool_call_id", "tool_calls", "id", "response_metadata"]
    known += ["artifact", "status"] if message_type == "tool" else []
    kwargs = {key: fields[key] for key in known if fields.get(key) is not None}
    kwargs["additional_kwargs"] = _without(fields, "additional_kwargs", *known)
    kwargs["additional_kwargs"].update(fields.get("additional_kwargs", {}))
    if "tool_calls" in kwargs:
        kwargs["tool_calls"] = [_from_openai_call(call) for call in kwargs["tool_calls"]]
    # OpenAI's newer name for system: remembered, so that it can be sent back as it came.
    if message_type == "developer":
        kwargs["additional_kwargs"]["__openai_role__"] = "developer"
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
    roles = "'human', 'user', 'ai', 'assistant', 'function', 'tool', 'system', or 'developer'"
    text = f"Unexpected message type: '{message_type}'. Use one of {roles}."
    raise ValueError(_coercion_failure(text))


def _from_openai_call(call: dict[str, Any]) -> dict[str, Any]:
    """A ToolCall of a call as OpenAI writes it: `{"id", "function": {"name", "arguments"}}`."""
    if "function" not in call:
        return call
    args = call["function"]["arguments"]
    args = json.loads(args, strict=False) if isinstance(args, str) else args
    name, id_ = call["function"]["name"], call["id"]
    return {"name": name, "args": args, "id": id_, "type": "tool_call"}


def _coercion_failure(text: str) -> str:
    """The text, with the page that upstream's error points to."""
    page = "https://docs.langchain.com/oss/python/langchain/errors/MESSAGE_COERCION_FAILURE"
    return f"{text}\nFor troubleshooting, visit: {page} "
