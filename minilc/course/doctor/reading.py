"""Read what somebody has of a run, in whatever form it was saved, as data and nothing else.

Messages may be objects of either world, or dicts in LangChain's, OpenAI's, Anthropic's, Google's
and LangGraph's forms, or what `print(messages)` printed; they may stand alone, in a state, in a
request body, in a stream or in a trace. All become `Message`, which keeps what is wrong with them:
nothing is repaired and nothing is lost.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
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
    *("messages", "chat_history", "history", "contents", "values", "channel_values", "checkpoint"),
    *("outputs", "output", "inputs", "input"),
)
APART = ("child_runs", "extra", "metadata", "serialized")  # no place for messages
# Items of OpenAI's responses that are a call, and its answer.
ITEMS = ("function_call", "function_call_output")
# What print(messages) and print(state) begin with.
PRINTED = re.compile(r"\s*(?:\[\s*)?(?:\w*Message(?:Chunk)?\(|\{\s*'\w+'\s*:)")
FENCE = re.compile(r"\A\s*```\w*\n(.*)\n```\s*\Z", re.DOTALL)
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
    """All that was read of one conversation, and what the file said besides.

    Args:
        messages: the history.
        tools: tools that the file declares, as the dicts that they are; None if it declares none.
        errors: texts of errors that a trace holds, with the runs that they are of.
        is_answer: it ends with a model's answer, as a provider sent it: its calls are yet to run.
        is_paused: the run waits for somebody.
        skipped: what was no message.
    """

    messages: list[Message] = field(default_factory=list)
    tools: list[Any] | None = None
    errors: list[tuple[str, str]] = field(default_factory=list)
    is_answer: bool = False
    is_paused: bool = False
    skipped: list[str] = field(default_factory=list)


@dataclass
class _Found:
    """A list of messages as it was saved, and where it stands."""

    messages: list[Any]
    place: str
    is_update: bool = False  # what a node wrote, not a whole history


# --- files --------------------------------------------------------------------------------------


def read_file(path: str | Path) -> list[Chart]:
    """Read a file of JSON, of a JSON value a line, or of printed messages.

    Raises:
        Unreadable: it is no such file, or nothing in it looks like messages.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: no path has a zero in it
        why = getattr(error, "strerror", None) or str(error)
        raise Unreadable(path.name, "a file", why) from None
    codec = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return read_text(data.decode(codec), path.name)
    except UnicodeDecodeError as error:
        raise Unreadable(path.name, "a UTF-8 text file", str(error)) from None


def read_text(text: str, name: str) -> list[Chart]:
    """Read such a file's text.

    Raises:
        Unreadable: nothing in it looks like messages.
    """
    if fenced := FENCE.match(text):
        text = fenced[1]
    if not text.strip():
        raise Unreadable(name, "JSON", text)
    try:
        loaded = json.loads(text)
    except json.JSONDecodeError as error:
        if PRINTED.match(text):
            return read(_read_printed(text, name), name)
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2 or text.lstrip()[:2].strip() in ("{", "["):
            if len(lines) < 2 or not _starts_whole(lines[0]):
                raise _broken(text, name, error) from None
    except RecursionError:
        raise Unreadable(name, f"at most {DEEPEST} levels", "more of them") from None
    else:
        return read(loaded, name)
    return _read_lines(text, name)


def _starts_whole(line: str) -> bool:
    """Whether a line is JSON by itself, so that the file is one of lines."""
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _broken(text: str, name: str, error: json.JSONDecodeError) -> Unreadable:
    lines = text.splitlines()
    place = f"{name}, line {error.lineno}, column {error.colno}"
    line = lines[error.lineno - 1].strip() if error.lineno <= len(lines) else ""
    if error.pos >= len(text.rstrip()):
        return Unreadable(place, "the rest of the JSON (the file was cut off)", line)
    return Unreadable(place, "JSON", line)


def _read_lines(text: str, name: str) -> list[Chart]:
    """A file with a JSON value on each line: messages, states, updates or runs."""
    records: list[tuple[str, Any]] = []
    numbered = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    for number, line in numbered:
        try:
            records.append((f"line {number}", json.loads(line)))
        except (json.JSONDecodeError, RecursionError):
            if number != numbered[-1][0] or len(numbered) < 2:
                raise Unreadable(f"{name}, line {number}", "JSON", line.strip()) from None
            records.append((f"line {number}", None))  # the log was cut off while it was written
    return _read_records(records, name)


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
        pairs = zip(node.keys, node.values, strict=True)
        return {str(_plain(key)) if key else "**": _plain(value) for key, value in pairs}
    if isinstance(node, ast.Call):
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        fields = {one.arg: _plain(one.value) for one in node.keywords if one.arg}
        if name.endswith("Message") and node.args:
            fields.setdefault("content", _plain(node.args[0]))
        return {"type": name, **fields} if name.endswith(("Message", "MessageChunk")) else fields
    return node.value if isinstance(node, ast.Constant) else ast.unparse(node)


# --- values -------------------------------------------------------------------------------------


def read(source: Any, name: str = "what was given") -> list[Chart]:
    """Read the conversations in a list, a state, a request body, a stream or a trace.

    Args:
        name: what it is called in an error.

    Raises:
        Unreadable: nothing in it looks like messages, or one of them has no type.
    """
    if hasattr(source, "__next__"):
        source = list(source)
    if isinstance(source, list) and source and not any(map(_is_message, source)):
        if all(isinstance(one, Mapping | tuple | list) or hasattr(one, "values") for one in source):
            return _read_records([(f"[{i}]", one) for i, one in enumerate(source)], name)
    return _read_records([("", source)], name)


def _read_records(records: Sequence[tuple[str, Any]], name: str) -> list[Chart]:
    """The conversations of several values: messages one by one, states that grow, updates."""
    about = Chart()
    found: list[_Found] = []
    loose: list[Any] = []
    try:
        for place, record in records:
            _collect(about, record)
            if place and _is_message(record):
                loose.append(record)
                continue
            histories = list(_find(record, "", 0))
            if not histories and place:
                about.skipped.append(place)
            for one in histories:
                one.place = f"{place}, {one.place or 'messages'}".strip(", ")
                found.append(one)
        if loose:
            found.insert(0, _Found(loose, "messages"))
        return _charts(_conversations(found), about, name, [value for _, value in records])
    except Unreadable as error:
        raise Unreadable(f"{name}, {error.place}", error.expected, error.value) from None
    except RecursionError:
        raise Unreadable(name, f"at most {DEEPEST} levels", "more of them") from None


def _charts(found: list[_Found], about: Chart, name: str, values: list[Any]) -> list[Chart]:
    if not found:
        if about.errors or about.tools is not None or about.is_paused:
            return [about]
        raise Unreadable("the top", _advice(values), values[0] if len(values) == 1 else values)
    charts = []
    for one in found:
        chart = Chart([], about.tools, about.errors, about.is_answer, about.is_paused)
        chart.skipped, about.errors = about.skipped, []
        for index, message in enumerate(one.messages):
            _add(chart.messages, message, f"{one.place or 'messages'}[{index}]")
        charts.append(chart)
    return charts


def _advice(values: list[Any]) -> str:
    first = values[0] if values else None
    if isinstance(first, Mapping) and first:
        keys = ", ".join(map(str, list(first)[:5]))
        return f"messages (there are the keys {keys}; save result['messages'])"
    return "messages"


def _conversations(found: list[_Found]) -> list[_Found]:
    """The different conversations: updates are one, and so is a state with what it grew into."""
    updates = [one for one in found if one.is_update]
    whole = [one for one in found if not one.is_update]
    if all(_is_part(one, next_) for one, next_ in pairwise(updates)):
        whole += updates  # states, in an envelope
    else:
        together = _Found([m for one in updates for m in one.messages], updates[0].place)
        if not whole or not _is_part(together, whole[-1]):
            whole.append(together)
    kept: list[_Found] = []
    for one in sorted(whole, key=lambda one: -len(one.messages)):
        if not any(_is_part(one, other) for other in kept):
            kept.append(one)
    return [one for one in whole if any(one is other for other in kept)]


def _is_part(one: _Found, other: _Found) -> bool:
    """Whether all messages of one history are in the other, in order."""
    rest = iter(other.messages)
    return all(any(_same(message, longer) for longer in rest) for message in one.messages)


def _same(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except Exception:  # an object's own comparison
        return one is other


def _find(source: Any, place: str, depth: int) -> Iterator[_Found]:
    """The lists of messages in a value, and where they stand."""
    if depth > DEEPEST:
        raise Unreadable(place, f"at most {DEEPEST} levels", source)
    if isinstance(source, tuple) and not hasattr(source, "values"):
        source = list(source)
    if isinstance(source, list):
        yield from _find_in_list(source, place, depth)
    elif isinstance(source, Mapping):
        yield from _find_in_mapping(source, place, depth)
    elif hasattr(source, "values") and not callable(source.values):  # a StateSnapshot
        yield from _find(source.values, _joined(place, "values"), depth + 1)
    elif hasattr(source, "messages"):
        yield from _find(source.messages, _joined(place, "messages"), depth + 1)
    elif _is_message(source):
        yield _Found([source], place)


def _find_in_list(source: list[Any], place: str, depth: int) -> Iterator[_Found]:
    if any(map(_is_message, source)) and not _is_chunk(source):
        yield _Found(source, place)
        return
    if not source and place.rpartition(".")[2] in INSIDE:
        yield _Found([], place)
        return
    # A part of a stream: its mode, or the graph inside of which it is, and then what it is.
    parts = source[-1:] if _is_chunk(source) else source
    for index, one in enumerate(parts):
        inner = place if parts is not source else f"{place}[{index}]"
        yield from _find(one, inner, depth + (parts is source))


def _is_chunk(source: list[Any]) -> bool:
    if not 2 <= len(source) <= 3 or not isinstance(source[-1], Mapping):
        return False
    first = source[0]
    names = isinstance(first, list | tuple) and all(isinstance(one, str) for one in first)
    return names or (isinstance(first, str) and first not in TYPES)


def _find_in_mapping(source: Mapping[str, Any], place: str, depth: int) -> Iterator[_Found]:
    if _is_message(source):
        yield _Found([source], place)
        return
    if answers := _answers_of(source):
        asked = source.get("messages") or source.get("inputs") or []
        before = next(_find(asked, place, depth + 1), _Found([], place))
        yield _Found([*before.messages, *answers], before.place)
        return
    for key in INSIDE:
        if key in source:
            inner = list(_find(source[key], _joined(place, key), depth + 1))
            if any(one.messages for one in inner) or (inner and key == "messages"):
                yield from inner
                return
    # Under names that are the program's own: nodes that wrote, threads, envelopes.
    for key, value in source.items():
        if (key != "tools" or isinstance(value, Mapping)) and key not in APART:
            for one in _find(value, _joined(place, str(key)), depth + 1):
                if one.messages:
                    yield _Found(one.messages, one.place, is_update=depth == 0)


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
        return len(one) == 2 and isinstance(one[0], str) and one[0] in TYPES
    if not isinstance(one, Mapping):
        return hasattr(one, "content") and hasattr(one, "type")
    if one.get("lc") == 1:
        return _class_of(one).endswith("Message")
    if "role" in one:
        return True
    kind = one.get("type")
    if kind in ITEMS:
        return "call_id" in one
    if kind in ("constructor", "function", "tool_call"):
        return False
    return isinstance(kind, str) and ("content" in one or "data" in one or "tool_calls" in one)


def _class_of(one: Mapping[str, Any]) -> str:
    """The class that an object of LangChain's `dumps` names; it is never imported."""
    path = one.get("id")
    return str(path[-1]).removesuffix("Chunk") if isinstance(path, list) and path else ""


# --- what stands beside the messages --------------------------------------------------------------


def _collect(about: Chart, source: Any, depth: int = 0) -> None:
    """Take the declared tools, the errors and the pauses out of a request, a state or a trace."""
    if not isinstance(source, Mapping):
        about.is_paused = about.is_paused or bool(getattr(source, "interrupts", None))
        return
    if depth > DEEPEST:
        return
    if isinstance(source.get("tools"), list) and about.tools is None:
        about.tools = _flattened(source["tools"])
    about.is_answer = about.is_answer or bool(
        source.get("choices") or source.get("stop_reason") or _answers_of(source)
    )
    about.is_paused = about.is_paused or bool(
        source.get("__interrupt__") or source.get("interrupts")
    )
    for task in source.get("tasks") or () if isinstance(source.get("tasks"), list) else ():
        if isinstance(task, Mapping):
            about.is_paused = about.is_paused or bool(task.get("interrupts"))
            if isinstance(task.get("error"), str):
                about.errors.append((str(task.get("name") or "task"), task["error"]))
    about.errors += _errors_of(source)
    for key in ("invocation_params", "extra", "kwargs", "inputs"):
        _collect(about, source.get(key), depth + 1)


def _flattened(tools: list[Any]) -> list[Any]:
    """Google's tools hold several declarations in one."""
    flat: list[Any] = []
    for one in tools:
        inner = one.get("functionDeclarations") if isinstance(one, Mapping) else None
        flat += inner if isinstance(inner, list) else [one]
    return flat


def _errors_of(run: Mapping[str, Any], path: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """The errors of a run that failed, each where it is deepest; one that was handled is none."""
    error = run.get("error")
    text = error.get("message") if isinstance(error, Mapping) else error
    if not isinstance(text, str) or not text.strip():
        return []
    path = (str(run.get("name") or run.get("run_type") or "run"), *path)
    deeper: list[tuple[str, str]] = []
    for key in ("child_runs", "children", "runs"):
        children = run.get(key)
        for child in children if isinstance(children, list) else ():
            if isinstance(child, Mapping) and len(path) <= DEEPEST:
                deeper += _errors_of(child, path)
    kind = "model " if run.get("run_type") in ("llm", "chat_model") else ""
    first, *outer = path
    return deeper or [(kind + first + (f" (in {', in '.join(outer)})" if outer else ""), text)]


# --- one message ----------------------------------------------------------------------------------


def _add(messages: list[Message], one: Any, place: str) -> None:
    """Read a message; the calls of OpenAI's responses are items of their own, and one answer."""
    if isinstance(one, Mapping) and one.get("type") in ITEMS and "role" not in one:
        if one["type"] == "function_call_output":
            answer = Message("tool", one.get("output"), place, tool_call_id=one.get("call_id"))
            messages.append(answer)
            return
        if not (messages and messages[-1].type == "ai"):
            messages.append(Message("ai", "", place))
        _read_call(messages[-1], {**one, "id": one.get("call_id")}, place)
        return
    if isinstance(one, Mapping) and one.get("type") == "reasoning" and "role" not in one:
        return
    messages += _read_message(one, place)


def _read_message(one: Any, place: str) -> Iterator[Message]:
    """A message; several where a user's message holds several tools' answers."""
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
    content = one.get("content", one.get("parts"))
    message = Message(TYPES.get(kind, kind), content, place)
    _read_calls(message, one)
    message.additional_kwargs = dict(_mapping(one.get("additional_kwargs"), place))
    message.name, message.artifact, message.id = one.get("name"), one.get("artifact"), one.get("id")
    # OpenAI's first form had no ids: the name tells which call is answered.
    message.tool_call_id = one.get("tool_call_id", one.get("name") if kind == "function" else None)
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
    if isinstance(one.get("function_call"), Mapping) and not calls:
        legacy = one["function_call"]
        calls = [{"id": legacy.get("name"), "function": legacy}]
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
    elif isinstance(call.get("custom"), Mapping):  # a tool that takes free text
        name, arguments = call["custom"].get("name"), {"input": call["custom"].get("input")}
    read = {"name": name if isinstance(name, str) else "", "args": arguments}
    read |= {"id": call.get("id"), "place": place}
    if isinstance(arguments, str):
        try:
            read["args"] = json.loads(arguments) if arguments.strip() else {}
        except (json.JSONDecodeError, RecursionError) as error:
            message.invalid_tool_calls.append(read | {"error": str(error)})
            return
    if read["args"] is None:
        read["args"] = {}
    if isinstance(read["args"], Mapping):
        message.tool_calls.append(read)
    else:
        kind = "a JSON text inside of a JSON text" if isinstance(read["args"], str) else "no object"
        message.invalid_tool_calls.append(read | {"error": f"the arguments are {kind}"})


def _read_blocks(message: Message) -> Iterator[Message]:
    """Blocks of Anthropic, Amazon and Google: calls in a model's message, answers in a user's."""
    known = {str(call["id"]) for call in message.tool_calls}
    answers, rest = [], []
    for index, block in enumerate(message.content):
        place = f"{message.place}.content[{index}]"
        call, answer = _call_in(block), _answer_in(block, place)
        if call is not None and message.type == "ai":
            if str(call.get("id")) not in known:
                _read_call(message, call, place)
            rest.append(block)
        elif answer is not None:
            answers.append(answer)
        else:
            rest.append(block)
    yield from answers
    if rest or not answers:
        message.content = rest if answers else message.content
        yield message


def _call_in(block: Any) -> dict[str, Any] | None:
    if not isinstance(block, Mapping):
        return None
    if block.get("type") == "tool_use":
        return {"name": block.get("name"), "args": block.get("input", {}), "id": block.get("id")}
    for key, id_key in (("toolUse", "toolUseId"), ("functionCall", "name")):
        if isinstance(block.get(key), Mapping):
            inner = block[key]
            args = inner.get("input", inner.get("args", {}))
            return {"name": inner.get("name"), "args": args, "id": inner.get(id_key)}
    return None


def _answer_in(block: Any, place: str) -> Message | None:
    if not isinstance(block, Mapping):
        return None
    if block.get("type") == "tool_result":
        answer = Message("tool", block.get("content", "(no content)"), place)
        answer.tool_call_id = block.get("tool_use_id")
        answer.status = "error" if block.get("is_error") else "success"
        return answer
    for key, id_key in (("toolResult", "toolUseId"), ("functionResponse", "name")):
        if isinstance(block.get(key), Mapping):
            inner = block[key]
            content = inner.get("content", inner.get("response"))
            text = content if isinstance(content, str) else json.dumps(content, default=str)
            return Message("tool", text, place, tool_call_id=inner.get(id_key))
    return None


def _text_of(block: Any) -> str:
    if isinstance(block, Mapping) and isinstance(block.get("text"), str):
        return block["text"]
    return ""
