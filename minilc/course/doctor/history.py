"""The history: is every call right, and did every one of them get its answer?"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from minilc.course.doctor.reading import Message
from minilc.course.doctor.report import Finding
from minilc.course.doctor.tools import Patient
from minilc.course.draw.look import one_line

SAYS_NOTHING = {"", "null", "none", "success", "done", "[]"}
REPR = re.compile(
    r"<(?:[\w.<>]+ object|coroutine object [\w.<>]+|(?:async_)?generator object [\w.<>]+) at 0x"
    r"|^<Response \[\d+\]>$|\bDocument\((?:id=|metadata=|page_content=)"
)
# A call that a model wrote as text: {"name": ..., "arguments": ...}, <tool_call>, and their kin.
CALL_IN_TEXT = re.compile(
    r"<tool_call>|<\|tool_call|<\|python_tag\|>|\[TOOL_CALLS\]|<function[=_]|<invoke name="
    r"|```tool_code|tool▁call|\bto=functions\.|^Action: ?\S+\s*\nAction Input:"
    r'|\{\s*"(?:name|function|tool)"\s*:\s*"[\w.-]+"\s*,\s*"(?:arguments|parameters|args|input)"\s*:'
    r'|\{\s*"(?:arguments|parameters|args)"\s*:\s*\{[^{}]*\}\s*,\s*"name"\s*:'
    r'|\{\s*"type"\s*:\s*"function"\s*,\s*"(?:name|function)"\s*:',
    re.MULTILINE,
)
# An argument that stands for the answer of another call.
PLACEHOLDER = re.compile(
    r"^<[^<>=]*(?:result|output|answer|response)[^<>=]*>$"
    r"|\{\{\s*(?:call|result|output|step|tool)[^{}]*\}\}|\$\{?(?:call|result|output)\w*"
    r"|(?:result|output|answer|response) (?:of|from) (?:the )?(?:call|previous|first|step|tool)",
    re.IGNORECASE,
)
# Blocks that the providers take in an answer.
TAKEN = set("text input_text image image_url input_image document file json search_result".split())
WRITES = ("create", "save", "write", "update", "insert", "upload", "delete", "add", "set", "book")
READS = ("get", "read", "query", "list", "search", "find", "fetch", "load", "send", "confirm")
# What ToolNode and its tools say, and what it means. Upstream's templates fix these words.
TOLD = (
    ("wrong-name", re.compile(r"^Error: (.+) is not a valid tool, try one of \[(.*)\]\.")),
    ("wrong-arguments", re.compile(r"^Error invoking tool '(.+)' with kwargs")),
    (
        "interrupt",
        re.compile(r"\(Interrupt\(value=|^(?:\w+ )?(?:GraphInterrupt|GraphBubbleUp)\W*$"),
    ),
    ("async", re.compile(r"^(?:Error: )?\W*(?:\w+\W+)?StructuredTool does not support sync")),
)


@dataclass
class Call:
    """A call, where it stands, and its answers."""

    call: dict[str, Any]
    message: int
    place: str
    answers: list[int] = field(default_factory=list)

    @property
    def id(self) -> Any:
        """The id, as it was saved."""
        return self.call.get("id")

    @property
    def shown(self) -> str:
        """The call as a reader would write it."""
        args = self.call.get("args")
        return f"{self.call['name']}({one_line(args, 50)})"


@dataclass
class Books:
    """Every call by its id, and the answers that fit none."""

    calls: list[Call] = field(default_factory=list)
    orphans: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, messages: Sequence[Message]) -> Books:
        """Read the books in one pass: a long history has many calls."""
        books = cls()
        by_id: dict[str, list[Call]] = defaultdict(list)
        broken: set[str] = set()  # such a call is sent to the provider too, and may be answered
        for index, message in enumerate(messages):
            broken.update(str(call.get("id")) for call in message.invalid_tool_calls)
            for number, call in enumerate(message.tool_calls):
                place = call.get("place") or f"{message.place}.tool_calls[{number}]"
                books.calls.append(Call(call, index, place))
                by_id[str(call.get("id"))].append(books.calls[-1])
            if message.type == "tool":
                asked = by_id.get(str(message.tool_call_id), [])
                waiting = [one for one in asked if not one.answers]
                if asked:
                    (waiting or asked)[-1].answers.append(index)
                elif str(message.tool_call_id) not in broken:
                    books.orphans.append(index)
        return books


def examine(
    messages: Sequence[Message], tools: Sequence[Patient] = (), *, may_end_open: bool = False
) -> Iterator[Finding]:
    """All that is wrong with a history; with the tools, also whether its calls fit them.

    Args:
        may_end_open: calls at the end are yet to be answered, as in a model's answer or a pause.
    """
    books = Books.of(messages)
    yield from _calls_that_are_none(messages)
    yield from _calls(books, tools)
    yield from _answers(messages, books, may_end_open)
    yield from _told(messages, books, tools)
    yield from _order(messages, books)
    yield from _contents(messages)


# --- calls that nobody sees ---------------------------------------------------------------------


def _calls_that_are_none(messages: Sequence[Message]) -> Iterator[Finding]:
    answered = {str(m.tool_call_id) for m in messages if m.type == "tool"}
    for message in messages:
        if message.type != "ai":
            continue
        for call in message.invalid_tool_calls:
            if str(call.get("id")) not in answered:
                args, why = one_line(call.get("args"), 60), one_line(call.get("error") or "", 60)
                evidence = f"{call.get('name')} was called with {args}"
                yield Finding(
                    "broken-json", message.place, f"{evidence} ({why})" if why else evidence
                )
        if message.tool_calls or message.invalid_tool_calls:
            continue
        if message.additional_kwargs.get("tool_calls"):
            names = [
                (call.get("function") or {}).get("name")
                for call in message.additional_kwargs["tool_calls"]
                if isinstance(call, dict)
            ]
            evidence = f"additional_kwargs has calls of {names!r}, tool_calls is empty"
            yield Finding("call-only-in-text", message.place, evidence)
        elif CALL_IN_TEXT.search(message.text):
            evidence = f"tool_calls is empty, the text is {one_line(message.text, 80)!r}"
            yield Finding("call-only-in-text", message.place, evidence)


# --- the calls ----------------------------------------------------------------------------------


def _calls(books: Books, tools: Sequence[Patient]) -> Iterator[Finding]:
    by_name = {tool.name: tool for tool in tools}
    ids = Counter(str(one.id) for one in books.calls if one.id)
    for one in books.calls:
        if not one.id:
            evidence = f"{one.shown} has the id {one.id!r}"
            yield Finding("call-without-id", one.place, evidence)
        elif ids[str(one.id)] > 1:
            ids[str(one.id)] = 0  # told once
            evidence = f"several calls have the id {one.id!r}, {one.shown} among them"
            yield Finding("duplicate-id", one.place, evidence)
        if not by_name:
            continue
        tool = by_name.get(one.call["name"])
        if tool is None:
            yield Finding("unknown-tool", one.place, _unknown(one.call["name"], list(by_name)))
        else:
            yield from _arguments(one, tool)


def _unknown(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, 1, 0.6)
    meant = f"; did it mean {near[0]!r}?" if near else ""
    return f"{name!r} was called, there are {known!r}{meant}"


def _arguments(one: Call, tool: Patient) -> Iterator[Finding]:
    args = one.call["args"]
    for name in sorted(tool.hidden & args.keys()):
        evidence = f"{tool.name} gets {name!r} by injection, the model sent {one_line(args[name])}"
        yield Finding("forged-argument", one.place, evidence)
    if tool.properties is None:
        return
    extra = sorted(args.keys() - tool.properties.keys() - tool.hidden)
    if extra and not tool.open_ended:
        evidence = f"{tool.name} has no {extra!r}; its parameters are {list(tool.properties)!r}"
        yield Finding("call-arguments-dropped", one.place, evidence)
    if tool.model is None:
        if wrong := _misfits(args, tool):
            yield Finding("call-arguments-refused", one.place, f"{tool.name}: {wrong}")
    else:
        try:
            tool.model.model_validate({k: v for k, v in args.items() if k not in tool.hidden})
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False, include_context=False)[0]
            path = ".".join(map(str, first["loc"])) or "the arguments"
            sent = one_line(json.dumps(args, ensure_ascii=False, default=str), 60)
            evidence = f"{tool.name}: {path}: {first['msg']}; the model sent {sent}"
            yield Finding("call-arguments-refused", one.place, evidence)
        except Exception as error:  # a validator of the tool's own may raise anything
            evidence = f"{tool.name}: validation raises {type(error).__name__}: {one_line(error)}"
            yield Finding("call-arguments-refused", one.place, evidence)


def _misfits(args: dict[str, Any], tool: Patient) -> str:
    """Why arguments do not fit a schema that is only a dict; lenient where pydantic converts."""
    missing = [name for name in tool.required if name not in args]
    if missing:
        return f"{missing!r} missing; the model sent {one_line(args, 60)}"
    for name, schema in (tool.properties or {}).items():
        kind = schema.get("type") if isinstance(schema, dict) else None
        fits = {"string": str, "array": list, "object": dict, "integer": int, "number": float}
        scalar = kind in ("integer", "number") and _is_number(args.get(name))
        if name in args and isinstance(kind, str) and kind in fits and args[name] is not None:
            if not scalar and not isinstance(args[name], fits[kind]):
                return f"{name} should be {kind}, the model sent {one_line(repr(args[name]), 40)}"
        allowed = schema.get("enum") if isinstance(schema, dict) else None
        if isinstance(allowed, list) and name in args and args[name] not in allowed:
            return f"{name} should be one of {allowed!r}, the model sent {args[name]!r}"
    return ""


def _is_number(value: Any) -> bool:
    """Whether pydantic makes a number of it."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


# --- the answers --------------------------------------------------------------------------------


def _answers(messages: Sequence[Message], books: Books, may_end_open: bool) -> Iterator[Finding]:
    last_speaker = max((i for i, m in enumerate(messages) if m.type != "tool"), default=-1)
    open_calls = [one for one in books.calls if not one.answers]
    orphans = dict.fromkeys(books.orphans)
    early = {str(messages[index].tool_call_id): index for index in books.orphans}
    first_ai = next((i for i, m in enumerate(messages) if m.type == "ai"), len(messages))
    answered = {one.message for one in books.calls if one.answers}
    for one in open_calls:
        group = _group(messages, one.message)
        wrong = next((i for i in group if i in orphans), None)
        before = early.get(str(one.id))
        if before is not None and before in orphans and before < one.message:
            del orphans[before]
            evidence = f"the answer to {one.shown} stands at {messages[before].place}"
            yield Finding("answer-before-call", one.place, evidence)
        elif wrong is not None:
            del orphans[wrong]
            answer = messages[wrong]
            evidence = (
                f"{one.shown} has the id {one.id!r}, the answer behind it carries "
                f"{answer.tool_call_id!r}"
            )
            yield Finding("wrong-id", answer.place, evidence)
        elif one.message == last_speaker and (may_end_open or one.message not in answered):
            evidence = f"{one.shown} with the id {one.id!r} waits for its answer"
            if not may_end_open:
                yield Finding("pending-call", one.place, evidence)
        else:
            evidence = f"no ToolMessage has the id {one.id!r} of {one.shown}"
            yield Finding("unanswered-call", one.place, evidence)
    for index in orphans:
        answer = messages[index]
        evidence = f"the id {answer.tool_call_id!r}, content {one_line(answer.text, 50)!r}"
        code = "trimmed-pair" if index < first_ai else "orphan-answer"
        yield Finding(code, answer.place, evidence)
    for one in books.calls:
        if len(one.answers) > 1:
            places = ", ".join(messages[i].place for i in one.answers)
            yield Finding("duplicate-answer", one.place, f"{one.shown} is answered by {places}")
        elif one.answers and one.answers[0] not in _group(messages, one.message):
            between = messages[one.message + 1]
            late = messages[one.answers[0]].place
            evidence = f"it stands between {one.shown} and its answer at {late}"
            yield Finding("answer-too-late", f"{between.place}, {between.type}", evidence)


def _group(messages: Sequence[Message], index: int) -> range:
    """The ToolMessages directly behind a message."""
    end = index + 1
    while end < len(messages) and messages[end].type == "tool":
        end += 1
    return range(index + 1, end)


# --- what the answers say -----------------------------------------------------------------------


def _told(messages: Sequence[Message], books: Books, tools: Sequence[Patient]) -> Iterator[Finding]:
    by_name = {tool.name: tool for tool in tools}
    asked = {index: one for one in books.calls for index in one.answers}
    again: Counter[tuple[str, str, str]] = Counter()
    for index, message in enumerate(messages):
        if message.type != "tool":
            continue
        what, match = _meaning(message.text)
        if what == "wrong-name" and match and not by_name:
            evidence = _unknown(match[1], match[2].split(", "))
            yield Finding("unknown-tool", message.place, evidence)
        elif what == "wrong-arguments" and match and not _is_refused(asked.get(index), by_name):
            evidence = one_line(message.text, 120)
            yield Finding("call-arguments-refused", message.place, evidence)
        elif what == "interrupt":
            yield Finding("interrupt-swallowed", message.place, one_line(message.text, 100))
        elif what == "async":
            yield Finding("async-only", message.place, one_line(message.text, 100))
        failed = message.status == "error" or message.text.startswith("Error")
        if failed and (one := asked.get(index)):
            again[(one.call["name"], repr(one.call["args"]), message.text)] += 1
            if again[(one.call["name"], repr(one.call["args"]), message.text)] == 2:
                evidence = f"{one.shown}, then again: {one_line(message.text, 60)!r}"
                yield Finding("same-error-again", message.place, evidence)
    yield from _direct(messages, asked, tools)


def _is_refused(one: Call | None, by_name: dict[str, Patient]) -> bool:
    """Whether a look at the call itself has told that its arguments do not fit."""
    tool = by_name.get(one.call["name"]) if one else None
    if one is None or tool is None:
        return False
    return any(finding.code == "call-arguments-refused" for finding in _arguments(one, tool))


def _meaning(text: str) -> tuple[str, re.Match[str] | None]:
    for what, pattern in TOLD:
        if match := pattern.search(text):
            return what, match
    return "", None


def _direct(
    messages: Sequence[Message], asked: dict[int, Call], tools: Iterable[Patient]
) -> Iterator[Finding]:
    direct = {tool.name for tool in tools if tool.return_direct}
    if messages and (one := asked.get(len(messages) - 1)) and messages[-1].status == "error":
        if one.call["name"] in direct:
            evidence = f"{one.shown} ended the run with {one_line(messages[-1].text, 60)!r}"
            yield Finding("return-direct-error", messages[-1].place, evidence)


# --- calls that depend on one another -----------------------------------------------------------


def _order(messages: Sequence[Message], books: Books) -> Iterator[Finding]:
    by_message: dict[int, list[Call]] = defaultdict(list)
    for one in books.calls:
        by_message[one.message].append(one)
    for index, calls in by_message.items():
        if len(calls) > 1 and (evidence := _depends(calls)):
            yield Finding("order-assumed", messages[index].place, evidence)


def _depends(calls: Sequence[Call]) -> str:
    """Why one of the calls seems to want another's answer; empty if none does."""
    for one in calls:
        for key, value in one.call["args"].items():
            if isinstance(value, str) and (match := PLACEHOLDER.search(value)):
                return f"{key} of {one.shown} stands for an answer: {one_line(match[0], 40)!r}"
    for first in calls:
        verb, _, noun = first.call["name"].partition("_")
        for second in calls:
            other, _, thing = second.call["name"].partition("_")
            values = set(map(repr, first.call["args"].values()))
            shared = values.intersection(map(repr, second.call["args"].values()))
            if verb in WRITES and other in READS and noun and noun == thing and shared:
                return f"{second.shown} reads what {first.shown} writes in the same step"
    return ""


# --- the contents -------------------------------------------------------------------------------


def _contents(messages: Sequence[Message]) -> Iterator[Finding]:
    for message in messages:
        if message.type != "tool":
            continue
        if isinstance(message.content, list):
            kinds = sorted({_kind(block) for block in message.content} - TAKEN)
            if kinds:
                yield Finding("content-list", message.place, f"a list of {', '.join(kinds)}")
            elif not message.content:
                yield Finding("answer-says-nothing", message.place, "the content is an empty list")
        elif message.text.strip().lower() in SAYS_NOTHING and message.status != "error":
            evidence = f"the content is {message.content!r}"
            yield Finding("answer-says-nothing", message.place, evidence)
        if REPR.search(message.text):
            yield Finding("answer-is-repr", message.place, one_line(message.text, 80))
        if not _is_plain(message.artifact):
            evidence = f"the artifact is a {type(message.artifact).__name__}"
            yield Finding("artifact-not-plain", message.place, evidence)


def _kind(block: Any) -> str:
    if isinstance(block, str):
        return "bare text"
    return str(block.get("type", "dict without type")) if isinstance(block, dict) else "other"


def _is_plain(value: Any, depth: int = 0) -> bool:
    """Whether it is made of what JSON knows."""
    if isinstance(value, dict):
        return depth < 20 and all(_is_plain(one, depth + 1) for one in value.values())
    if isinstance(value, list | tuple):
        return depth < 20 and all(_is_plain(one, depth + 1) for one in value)
    return value is None or isinstance(value, str | int | float | bool | bytes)
