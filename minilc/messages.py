"""Layer 1: the protocol, i.e. the messages that a model and its tools exchange.

Mirrors langchain_core/messages/{base,human,system,ai,tool,modifier,utils}.py
Leaves out chunks (streamed pieces), FunctionMessage and ChatMessage (superseded), content_blocks
(the standard form of content), serialisation, `.text()` as a call, `html=` and invalid calls of
pretty_repr, bold titles, calls and unknown keys in additional_kwargs, checks of usage_metadata; of
dicts that become messages the role `remove`, what remembers the role `developer`, and arguments of
OpenAI's calls that are a dict already.
"""

import json
from collections.abc import Iterable
from typing import Annotated, Any, Literal, NotRequired

from pydantic import BaseModel, Field, field_validator

# Comes with pydantic, which takes no other TypedDict before Python 3.12.
from typing_extensions import TypedDict


# Providers put fields of their own on messages; they are kept.
class BaseMessage(BaseModel, extra="allow"):
    """One entry of a conversation; `content` is text or a list of text and content blocks."""

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
        texts = [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]
        return "".join(b.get("text", "") for b in texts if b.get("type") == "text")

    def pretty_repr(self) -> str:
        """The message under a title line."""
        title = f" {self.type.title()} Message "
        name = "" if self.name is None else f"\nName: {self.name}"
        return f"{title:=^80}{name}\n\n{self.content}"

    def pretty_print(self) -> None:
        """Print `pretty_repr`."""
        print(self.pretty_repr())

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


# Providers need not say what says nothing: of a broken call often only the text is known.
_Absent = Annotated[str | None, Field(default=None)]


class InvalidToolCall(TypedDict):
    """A request that could not be read; `args` is the text that the model wrote."""

    type: Annotated[Literal["invalid_tool_call"], Field(default="invalid_tool_call")]
    id: _Absent
    name: _Absent
    args: _Absent
    error: _Absent


def tool_call(*, name: str, args: dict[str, Any], id: str | None, type: Any = None) -> ToolCall:
    """Create a ToolCall; a missing or unknown key is a TypeError."""
    return ToolCall(name=name, args=args, id=id, type="tool_call")


class AIMessage(BaseMessage):
    """What the model answers: text, and the tools that it asks for."""

    type: Literal["ai"] = "ai"
    tool_calls: list[ToolCall] = Field(default_factory=list)
    invalid_tool_calls: list[InvalidToolCall] = Field(default_factory=list)
    usage_metadata: dict[str, Any] | None = None

    @field_validator("tool_calls", mode="before")
    @classmethod
    def _backwards_compat_tool_calls(cls, calls: Any) -> list[ToolCall]:
        return [tool_call(**call) for call in calls or []]

    def pretty_repr(self) -> str:
        """The message, then its tool calls with their arguments."""
        lines = [super().pretty_repr().strip(), *(["Tool Calls:"] if self.tool_calls else [])]
        for call in self.tool_calls:
            lines += [f"  {call['name']} ({call['id']})", f" Call ID: {call['id']}", "  Args:"]
            lines += [f"    {name}: {value}" for name, value in call["args"].items()]
        return "\n".join(lines).strip()


class ToolOutputMixin:
    """What a tool may return as it is; anything else is wrapped in a ToolMessage."""


class ToolMessage(BaseMessage, ToolOutputMixin):
    """The answer to one tool call, for the model; `artifact` is what the model does not see."""

    type: Literal["tool"] = "tool"
    tool_call_id: str = Field(coerce_numbers_to_str=True)
    artifact: Any = None
    status: Literal["success", "error"] = "success"
    # Inherited and not used: no model has answered here.
    additional_kwargs: dict[Any, Any] = Field(default_factory=dict, repr=False)
    response_metadata: dict[Any, Any] = Field(default_factory=dict, repr=False)

    # Tools return all sorts of things, and an answer with odd content beats no answer.
    @field_validator("content", mode="before")
    @classmethod
    def _coerce_content(cls, content: Any) -> Any:
        if isinstance(content, list | tuple):
            return [part if isinstance(part, str | dict) else str(part) for part in content]
        return content if isinstance(content, str) else str(content)


class RemoveMessage(BaseMessage):
    """Takes the message that has this id out of the history, where `add_messages` reduces it."""

    type: Literal["remove"] = "remove"

    def __init__(self, id: str, **kwargs: Any) -> None:
        if kwargs.pop("content", None):
            raise ValueError("RemoveMessage does not support 'content' field.")
        super().__init__("", id=id, **kwargs)


_BY_TYPE = Field(discriminator="type")
AnyMessage = Annotated[AIMessage | HumanMessage | SystemMessage | ToolMessage, _BY_TYPE]


def convert_to_messages(messages: Iterable[Any]) -> list[BaseMessage]:
    """Turn messages, strings, (role, content) pairs and role/content dicts into messages.

    Raises:
        ValueError: a dict lacks role or content, or the role is unknown.
        NotImplementedError: an element is none of these.
    """
    messages = list(messages)
    # A history is messages already; its few classes are looked at faster than its many messages.
    if all(issubclass(kind, BaseMessage) for kind in set(map(type, messages))):
        return messages
    return [m if isinstance(m, BaseMessage) else _convert_to_message(m) for m in messages]


def _convert_to_message(message: Any) -> BaseMessage:
    pair = ("human", message) if isinstance(message, str) else message
    if isinstance(pair, list | tuple) and len(pair) == 2:
        return _create_message_from_message_type(*pair)
    if not isinstance(message, dict):
        raise NotImplementedError(create_message(f"Unsupported message type: {type(message)}"))
    # OpenAI calls it role, a dumped message type.
    kind = "role" if "role" in message else "type"
    if not message.keys() >= {kind, "content"}:
        text = f"Message dict must contain 'role' and 'content' keys, got {message}"
        raise ValueError(create_message(text))
    fields = {key: value for key, value in message.items() if key not in (kind, "content")}
    # An answer that consists of calls alone has no content.
    return _create_message_from_message_type(message[kind], message["content"] or "", **fields)


_CLASSES = {"human": HumanMessage, "ai": AIMessage, "system": SystemMessage, "tool": ToolMessage}
_ALIASES = {"user": "human", "assistant": "ai", "developer": "system"}


def _create_message_from_message_type(role: str, content: Any, **fields: Any) -> BaseMessage:
    """A message of that role; as on every message, what is no field of it is kept."""
    if (message_class := _CLASSES.get(_ALIASES.get(role, role))) is None:
        roles = "'human', 'user', 'ai', 'assistant', 'function', 'tool', 'system', or 'developer'"
        raise ValueError(create_message(f"Unexpected message type: '{role}'. Use one of {roles}."))
    if calls := fields.get("tool_calls"):
        fields["tool_calls"] = [parse_tool_call(c) if "function" in c else c for c in calls]
    return message_class(content=content, **fields)


def parse_tool_call(raw_tool_call: dict[str, Any]) -> ToolCall:
    """Read a call as OpenAI writes it: `{"id", "function": {"name", "arguments"}}`.

    Raises:
        JSONDecodeError: the arguments, which are a text, are no JSON.
    """
    function = raw_tool_call["function"]
    args = json.loads(function["arguments"], strict=False)
    return tool_call(name=function["name"], args=args, id=raw_tool_call["id"])


def create_message(message: str, error_code: str = "MESSAGE_COERCION_FAILURE") -> str:
    """The text of an error, with the page that upstream's error points to."""
    page = f"https://docs.langchain.com/oss/python/langchain/errors/{error_code}"
    return f"{message}\nFor troubleshooting, visit: {page} "
