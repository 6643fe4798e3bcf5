"""Read what somebody has of a run, in whatever form it was saved, as data and nothing else.

Messages may be objects of either world, or dicts in LangChain's, OpenAI's, Anthropic's and
LangGraph's forms, or what `print(messages)` printed; they may stand alone, in a state, in a request
body or in a trace. All become `Message`, which keeps what is wrong with them: nothing is repaired
and nothing is lost.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TYPES = {
    "user": "human",
    "human": "human",
    "assistant": "ai",
    "ai": "ai",
    "model": "ai",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
    "remove": "remove",
    "chat": "chat",
}
# Where a state, a request or a trace keeps its messages, the best place first.
INSIDE = (
    *("messages", "chat_history", "history", "values", "channel_values", "outputs", "output"),
    *("inputs", "input"),
)
# What print(messages) and print(state) begin with.
PRINTED = re.compile(r"\s*(?:\[\s*)?(?:\w*Message(?:Chunk)?\(|\{\s*'\w+'\s*:)")
DEEPEST = 60  # levels; deeper is no history that a program wrote
LONGEST = 60  # characters of a value in an error


class Unreadable(ValueError):
    """There is nothing to diagnose here; says where and what stands there instead."""

    def __init__(self, place: str, expected: str, value: Any) -> None:
        self.place, self.expected, self.value = place, expected, value
        shown = repr(value)
        shown = shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}…"
        super().__init__(f"unreadable: {place}: expected {expected}, got {shown}")


@dataclass
class Message:
    """A message as it was saved; the attributes are those of LangChain's messages.

    Args:
        type: human, ai, system, tool or another one.
        content: text, or a list of blocks.
        place: where it stands, such as `messages[3]`.
    """

    type: str
    content: Any
    place: str
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    invalid_tool_calls: list[dict[str, Any]] = field(default_factory=list)
    tool_call_id: Any = None
    name: str | None = None
    status: str = "success"
    artifact: Any = None
    additional_kwargs: dict[str, Any] = field(default_factory=dict)
    id: Any = None

    @property
    def text(self) -> str:
        """What of the content is text."""
        if isinstance(self.content, str):
            return self.content
        blocks = self.content if isinstance(self.content, list) else []
        texts = [block if isinstance(block, str) else _text_of(block) for block in blocks]
        return "".join(texts)


@dataclass
class Chart:
    """All that was read: the messages, and what a request or a trace said besides.

    Args:
        messages: the history.
        tools: tools that the file declares, as the dicts that they are.
        errors: texts of errors that a trace holds, with their places.
    """

    messages: list[Message] = field(default_factory=list)
    tools: list[Any] = field(default_factory=list)
    errors: list[tuple[str, str]] = field(default_factory=list)


def read_file(path: str | Path) -> Chart:
    """Read a JSON or JSONL file.

    Raises:
        Unreadable: it is no such file, or nothing in it looks like messages.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise Unreadable(path.name, "a UTF-8 text file", str(error)) from None
    if not text.strip():
        raise Unreadable(path.name, "JSON", text)
    try:
        loaded = json.loads(text)
    except json.JSONDecodeError as error:
        if PRINTED.match(text):
            return read(_read_printed(text, path.name), path.name)
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2:
            place = f"{path.name}, line {error.lineno}, column {error.colno}"
            raise Unreadable(place, "JSON", lines[0].strip()) from None
    except RecursionError:
        raise Unreadable(path.name, f"at most {DEEPEST} levels", "more of them") from None
    else:
        return read(loaded, path.name)
    return _read_lines(text, path.name)


def _read_printed(text: str, name: str) -> Any:
    """What `print` shows of messages, or of a state: Python, of which nothing is run."""
    try:
        return _plain(ast.parse(text.strip(), mode="eval").body)
    except SyntaxError as error:
        line = text.strip().splitlines()[(error.lineno or 1) - 1]
        raise Unreadable(f"{name}, line {error.lineno}", "printed messages", line) from None
    except (RecursionError, MemoryError):
        raise Unreadable(name, f"at most {DEEPEST} levels", "more of them") from None


def _plain(node: ast.expr) -> Any:
    """An expression as data: a call becomes a dict of its arguments, and the class its type."""
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return [_plain(one) for one in node.elts]
    if isinstance(node, ast.Dict):
        return {
            str(_plain(k)) if k else "**": _plain(v)
            for k, v in zip(node.keys, node.values, strict=True)
        }
    if isinstance(node, ast.Call):
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        fields = {one.arg: _plain(one.value) for one in node.keywords if one.arg}
        if name.endswith("Message") and node.args:
            fields.setdefault("content", _plain(node.args[0]))
        return {"type": name, **fields} if name.endswith(("Message", "MessageChunk")) else fields
    return node.value if isinstance(node, ast.Constant) else ast.unparse(node)


def _read_lines(text: str, name: str) -> Chart:
    records = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            records.append(json.loads(line))
        except (json.JSONDecodeError, RecursionError):
            raise Unreadable(f"{name}, line {number}", "JSON", line.strip()) from None
    messages = [one for one in records if isinstance(one, dict) and _is_message(one)]
    if len(messages) == len(records):
        return read(records, name)
    # Each line is a state or a run; the last one that has messages has most of them.
    chart = Chart()
    for number, record in enumerate(records, 1):
        chart = _merged(chart, read(record, f"{name}[{number}]"))
    return chart


def _merged(old: Chart, new: Chart) -> Chart:
    longer = new.messages if len(new.messages) >= len(old.messages) else old.messages
    return Chart(longer, new.tools or old.tools, old.errors + new.errors)


def read(source: Any, name: str = "what was given") -> Chart:
    """Read messages out of a list, a state, a request body or a trace.

    Args:
        name: what it is called in an error.

    Raises:
        Unreadable: nothing in it looks like messages, or one of them has no type.
    """
    chart = Chart()
    try:
        _collect(chart, source)
        found = _find(source, "", 0)
        if found is None and not (chart.errors or chart.tools):
            raise Unreadable("the top", "messages", source)
        messages, where = found or ((), "")
        for index, one in enumerate(messages):
            chart.messages += _read_message(one, f"{where or 'messages'}[{index}]")
    except Unreadable as error:
        raise Unreadable(f"{name}, {error.place}", error.expected, error.value) from None
    except RecursionError:
        raise Unreadable(name, f"at most {DEEPEST} levels", "more of them") from None
    return chart


def _find(source: Any, place: str, depth: int) -> tuple[Sequence[Any], str] | None:
    """The list of messages in a value, and where it stands."""
    if depth > DEEPEST:
        raise Unreadable(place, f"at most {DEEPEST} levels", source)
    if isinstance(source, Sequence) and not isinstance(source, str | bytes | tuple):
        if not source or any(map(_is_message, source)):
            return source, place
        # A list of lists: LangChain's callbacks keep a batch of histories.
        inner = [
            _find(one, f"{place or 'messages'}[{i}]", depth + 1) for i, one in enumerate(source)
        ]
        return max((one for one in inner if one), key=lambda one: len(one[0]), default=None)
    if isinstance(source, tuple):
        return _find(list(source), place, depth)
    if isinstance(source, Mapping):
        if _is_message(source):
            return [source], place
        if answers := _answers_of(source):
            asked = _find(source.get("inputs") or source.get("messages"), place, depth + 1)
            return [*(asked[0] if asked else ()), *answers], place
        for key in INSIDE:
            if key in source:
                found = _find(source[key], _joined(place, key), depth + 1)
                if found is not None and found[0]:
                    return found
        return None
    if hasattr(source, "values") and not callable(source.values):  # a StateSnapshot
        return _find(source.values, _joined(place, "values"), depth + 1)
    if hasattr(source, "messages"):
        return _find(source.messages, _joined(place, "messages"), depth + 1)
    return ([source], place) if _is_message(source) else None


def _answers_of(source: Mapping[str, Any]) -> list[Any]:
    """What a model answered: in a body of OpenAI's, or in a trace of one call of a model."""
    found: list[Any] = []
    choices = source.get("choices")
    if isinstance(choices, list):
        found = [one.get("message") for one in choices[:1] if isinstance(one, Mapping)]
    outputs = source.get("outputs")
    batch = outputs.get("generations") if isinstance(outputs, Mapping) else None
    while isinstance(batch, list) and batch and isinstance(batch[0], list):
        batch = batch[0]
    if isinstance(batch, list):
        found = [one.get("message") for one in batch[:1] if isinstance(one, Mapping)]
    return [one for one in found if _is_message(one)]


def _joined(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def _is_message(one: Any) -> bool:
    """Whether a value says that it is a message, however badly."""
    if isinstance(one, tuple):
        return len(one) == 2 and one[0] in TYPES
    if not isinstance(one, Mapping):
        return hasattr(one, "content") and hasattr(one, "type")
    if one.get("lc") == 1:
        return _class_of(one).endswith("Message")
    if "role" in one:
        return True
    kind = one.get("type")
    if kind in ("constructor", "function", "tool_call"):
        return False
    return isinstance(kind, str) and ("content" in one or "data" in one or "tool_calls" in one)


def _class_of(one: Mapping[str, Any]) -> str:
    """The class that an object of LangChain's `dumps` names; it is never imported."""
    path = one.get("id")
    return str(path[-1]).removesuffix("Chunk") if isinstance(path, list) and path else ""


def _collect(chart: Chart, source: Any, depth: int = 0) -> None:
    """Take the declared tools and the errors out of a request or a trace."""
    if not isinstance(source, Mapping) or depth > DEEPEST:
        return
    if isinstance(source.get("tools"), list) and not chart.tools:
        chart.tools = source["tools"]
    error = source.get("error")
    if isinstance(error, str) and error.strip():
        chart.errors.append((str(source.get("name") or "run"), error))
    for key in ("child_runs", "children", "runs"):
        children = source.get(key)
        for child in children if isinstance(children, list) else ():
            _collect(chart, child, depth + 1)
    for key in ("invocation_params", "extra", "kwargs", "inputs"):
        _collect(chart, source.get(key), depth + 1)


def _read_message(one: Any, place: str) -> Iterator[Message]:
    """A message; several where one of Anthropic's user messages holds several tools' answers."""
    if isinstance(one, tuple):
        one = {"type": one[0], "content": one[1]} if len(one) == 2 else one
    if not isinstance(one, Mapping):
        one = _fields(one, place)
    kind = one.get("type")
    if one.get("lc") == 1:
        kind = _class_of(one).removesuffix("Message")
        one = {"type": kind.lower(), **_mapping(one.get("kwargs"), f"{place}.kwargs")}
        kind = kind.lower()
    elif isinstance(one.get("data"), Mapping) and "content" not in one:
        one = {**one["data"], "type": kind}
    kind = one.get("role", kind)
    if not isinstance(kind, str) or not kind or kind == "constructor":
        raise Unreadable(place, "a message with a role or a type", one)
    kind = kind.removesuffix("MessageChunk").removesuffix("Message").lower()
    message = Message(TYPES.get(kind, kind), one.get("content"), place)
    _read_calls(message, one)
    message.additional_kwargs = dict(_mapping(one.get("additional_kwargs"), place))
    message.name, message.artifact, message.id = one.get("name"), one.get("artifact"), one.get("id")
    message.tool_call_id = one.get("tool_call_id")
    message.status = str(one.get("status") or "success")
    if isinstance(message.content, list):
        yield from _read_blocks(message)
    else:
        yield message


def _fields(one: Any, place: str) -> dict[str, Any]:
    """The fields of a message object, of either world or of a provider's client."""
    if not hasattr(one, "content"):
        raise Unreadable(place, "a message", one)
    names = (
        "type role content tool_calls invalid_tool_calls tool_call_id name status artifact "
        "additional_kwargs id"
    )
    return {name: getattr(one, name) for name in names.split() if hasattr(one, name)}


def _mapping(value: Any, place: str) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise Unreadable(place, "a dict", value)
    return value


def _read_calls(message: Message, one: Mapping[str, Any]) -> None:
    calls = one.get("tool_calls") or []
    if not isinstance(calls, list | tuple):
        raise Unreadable(f"{message.place}.tool_calls", "a list", calls)
    for index, call in enumerate(calls):
        _read_call(message, call, f"{message.place}.tool_calls[{index}]")
    invalid = one.get("invalid_tool_calls") or []
    if not isinstance(invalid, list | tuple):
        raise Unreadable(f"{message.place}.invalid_tool_calls", "a list", invalid)
    for index, call in enumerate(invalid):
        place = f"{message.place}.invalid_tool_calls[{index}]"
        message.invalid_tool_calls.append(dict(_mapping(call, place)))


def _read_call(message: Message, call: Any, place: str) -> None:
    """One call; LangChain's has `args`, OpenAI's a function with arguments as a JSON text."""
    if not isinstance(call, Mapping):
        call = {k: getattr(call, k) for k in ("id", "name", "args", "function") if hasattr(call, k)}
    function = call.get("function")
    if function is not None and not isinstance(function, Mapping):
        function = {k: getattr(function, k, None) for k in ("name", "arguments")}
    name, arguments = call.get("name"), call.get("args", call.get("arguments", {}))
    if function is not None:
        name, arguments = function.get("name"), function.get("arguments")
    if not isinstance(name, str):
        raise Unreadable(place, "a call with a name", dict(call))
    read = {"name": name, "args": arguments, "id": call.get("id"), "place": place}
    if isinstance(arguments, str):
        try:
            read["args"] = json.loads(arguments) if arguments.strip() else {}
        except (json.JSONDecodeError, RecursionError) as error:
            message.invalid_tool_calls.append(read | {"error": str(error)})
            return
    if isinstance(read["args"], Mapping):
        message.tool_calls.append(read)
    else:
        message.invalid_tool_calls.append(read | {"error": "the arguments are no JSON object"})


def _read_blocks(message: Message) -> Iterator[Message]:
    """Anthropic's blocks: calls in an assistant's message, answers in a user's."""
    known = {str(call["id"]) for call in message.tool_calls}
    answers = []
    for index, block in enumerate(message.content):
        kind = block.get("type") if isinstance(block, Mapping) else None
        place = f"{message.place}.content[{index}]"
        if kind == "tool_use" and message.type == "ai" and str(block.get("id")) not in known:
            _read_call(message, {**block, "args": block.get("input", {})}, place)
        if kind == "tool_result":
            status = "error" if block.get("is_error") else "success"
            answer = Message("tool", block.get("content"), place, status=status)
            answer.tool_call_id = block.get("tool_use_id")
            answers.append(answer)
    if answers and message.type == "human":
        yield from answers
        rest = [b for b in message.content if not _is_result(b)]
        if not rest:
            return
        message.content = rest
    yield message


def _is_result(block: Any) -> bool:
    return isinstance(block, Mapping) and block.get("type") == "tool_result"


def _text_of(block: Any) -> str:
    if isinstance(block, Mapping) and isinstance(block.get("text"), str):
        return block["text"]
    return ""
