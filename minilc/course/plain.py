"""Values as plain data: what the judge compares, where two values differ, how they are printed.

`Reader` states, in one place, everything that is read as equal.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import math
import re
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import BaseModel
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticUserError

from minilc.course.worlds import UPSTREAM

LIBRARIES = ("minilc", "langchain_core", "langchain", "langgraph")
WIDTH = 60  # of a printed line


@dataclasses.dataclass(frozen=True)
class Record:
    """An object as plain data: the name of its class, and the fields that say something."""

    kind: str
    fields: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __repr__(self) -> str:
        return _one_line(self)


ABSENT = Record("absent")
REQUIRED = object()

# What counts of the objects that both worlds have, and what it is while nobody has set it; the
# rest of them is machinery.
FIELDS: dict[str, dict[str, Any]] = {
    "BaseMessage": {
        "content": REQUIRED,
        "name": None,
        "id": None,
        "tool_calls": [],
        "invalid_tool_calls": [],
        "tool_call_id": None,
        "status": "success",
        "artifact": None,
        "usage_metadata": None,
        "additional_kwargs": {},
        "response_metadata": {},
    },
    "BaseTool": {
        "name": REQUIRED,
        "description": REQUIRED,
        "args_schema": None,
        "return_direct": False,
        "response_format": "content",
        "handle_tool_error": False,
        "handle_validation_error": False,
        "tags": None,
        "metadata": None,
        "extras": None,
    },
    "ChatGeneration": {"message": REQUIRED},
    "ChatResult": {"generations": REQUIRED},
    "Command": {"graph": None, "update": None, "resume": None, "goto": ()},
    "Interrupt": {"value": REQUIRED, "id": None},
    "ModelRequest": {
        "messages": REQUIRED,
        "system_message": None,
        "tools": [],
        "tool_choice": None,
        "response_format": None,
        "model_settings": {},
    },
    "ModelResponse": {"result": REQUIRED, "structured_response": None},
    "Runtime": {"context": None, "store": None, "previous": None},
    "Send": {"node": REQUIRED, "arg": REQUIRED},
    "ToolCallRequest": {"tool_call": REQUIRED, "tool": REQUIRED, "state": REQUIRED},
    "ToolRuntime": {
        "state": REQUIRED,
        "tool_call_id": REQUIRED,
        "context": None,
        "store": None,
    },
}

ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")
GENERATED = re.compile(
    r"\b(?:lc_run--|run-{1,2})?"
    r"(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?:-\d+)?|[0-9a-f]{32})\b"
)
MODULE = re.compile(rf"(?<![\w./-])(?:{'|'.join(LIBRARIES)})(?:\.[a-z_]\w*)*\.(?=[A-Za-z_])")
PYDANTIC_LINK = re.compile(r"(errors\.pydantic\.dev/)[\d.]+(?=/)")


class Reader:
    """Reads a value as plain data: None, bool, numbers, text, lists, tuples, dicts, `Record`s.

    What is read as equal, and nothing else:

    - generated ids (UUIDs, run ids): numbered in the order in which they appear
    - memory addresses: `0x..`
    - in texts, the module before a name of minilc or LangChain
    - the version in the links of pydantic's errors
    - the order of a dict's keys
    - classes of minilc and LangChain with one name; of their objects, the fields in `FIELDS`
    - pydantic classes with one JSON schema, functions with one name

    An error is its type's name and its whole message. `rules` collects what was used of the first
    four, so that a result can say so.
    """

    def __init__(self) -> None:
        self.rules: dict[str, None] = {}
        self._ids: dict[str, str] = {}
        self._inside: set[int] = set()

    def clean(self, text: str) -> str:
        """The text without what differs from run to run, or between the worlds' module names."""
        for pattern, replacement, rule in (
            (ADDRESS, "0x..", "memory addresses"),
            (GENERATED, self._number, "generated ids (numbered)"),
            (MODULE, "", "the modules of classes"),
            (PYDANTIC_LINK, r"\g<1>2", "pydantic's version in links"),
        ):
            text, count = pattern.subn(replacement, text)  # type: ignore[arg-type]  # str or callable
            if count:
                self.rules[rule] = None
        return text

    def _number(self, match: re.Match[str]) -> str:
        return self._ids.setdefault(match.group(), f"<id {len(self._ids) + 1}>")

    def read(self, value: Any) -> Any:
        """The value as plain data. Where a value contains itself, `...` stands for it."""
        if id(value) in self._inside:
            return Record("...")
        self._inside.add(id(value))
        try:
            return self._read(value)
        finally:
            self._inside.discard(id(value))

    def _read(self, value: Any) -> Any:
        if isinstance(value, enum.Enum):
            return Record(f"{type(value).__name__}.{value.name}")
        if value is None or type(value) in (bool, int, float, Record):
            return value
        if isinstance(value, str):
            return self.clean(str(value))
        if isinstance(value, Mapping):
            return {self._key(key): self.read(item) for key, item in value.items()}
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, BaseException):
            return Record(type(value).__name__, {"": self.clean(str(value))})
        if isinstance(value, list):  # a history knows more than its messages, but is read as them
            return [self.read(item) for item in value]
        if (known := _known(value)) is not None:
            return known if isinstance(known, Record) else self._record(value, known)
        if isinstance(value, tuple):
            return tuple(self.read(item) for item in value)
        if isinstance(value, set | frozenset):
            items = sorted((self.read(item) for item in value), key=repr)
            return Record(type(value).__name__, {"": items})
        return self._object(value)

    def _key(self, key: Any) -> Any:
        read = self.read(key)
        return read if isinstance(read, str | int | float | None) else repr(read)

    def _record(self, value: Any, fields: Mapping[str, Any]) -> Record:
        return Record(type(value).__name__, {n: self.read(item) for n, item in fields.items()})

    def _class(self, cls: type) -> Record:
        if not issubclass(cls, BaseModel) or _of_a_world(cls):
            return Record(f"class {cls.__name__}")
        try:
            schema = cls.model_json_schema()
        except (PydanticInvalidForJsonSchema, PydanticUserError) as error:
            return Record(f"class {cls.__name__}", {"has no JSON schema": self.read(error)})
        return Record(f"class {cls.__name__}", {"": self.read(schema)})

    def _object(self, value: Any) -> Record:
        if inspect.isroutine(value):
            return Record(f"function {value.__name__}")
        if isinstance(value, BaseModel):
            return self._record(value, {n: getattr(value, n) for n in type(value).model_fields})
        if dataclasses.is_dataclass(value):
            names = [field.name for field in dataclasses.fields(value) if field.repr]
            return self._record(value, {name: getattr(value, name) for name in names})
        if type(value).__repr__ is object.__repr__:
            return Record(f"{type(value).__name__} object")
        return Record(self.clean(repr(value)).translate(MARKS))


def _known(value: Any) -> dict[str, Any] | Record | None:
    """What counts of an object of a world: its set fields, or only its class; None for others."""
    for base in type(value).__mro__:
        if _of_a_library(base) and base.__name__ in FIELDS:
            unset = FIELDS[base.__name__]
            fields = {name: getattr(value, name, unset[name]) for name in unset}
            return {name: item for name, item in fields.items() if not _same(item, unset[name])}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return dict(zip(value._fields, value, strict=True))
    made_for_a_case = isinstance(value, BaseModel) and not _of_a_world(type(value))
    if _of_a_library(type(value)) and not made_for_a_case and not inspect.isroutine(value):
        return Record(f"{type(value).__name__} object")
    return None


def _same(value: Any, unset: Any) -> bool:
    return type(value) is type(unset) and bool(value == unset)


def _of_a_library(cls: type) -> bool:
    # What a case defines is the case's own, though it stands in minilc's files.
    library = cls.__module__.partition(".")[0] in LIBRARIES
    return library and not cls.__module__.startswith("minilc.course.cases")


def _of_a_world(cls: type) -> bool:
    """Whether the class is one that both worlds have. (Both make models on the fly as well.)"""
    return _of_a_library(cls) and cls.__name__ in UPSTREAM


# Comparing

Path = tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Difference:
    """A place where two plain values differ.

    Args:
        path: the steps that lead there: `["['messages']", "[1]", ".content"]`.
        ours: what minilc has there; `ABSENT` if it has nothing.
        theirs: what LangChain has there.
    """

    path: Path
    ours: Any
    theirs: Any

    # Around the marked place in a printed value. They are private characters: in printed values
    # they come from nowhere else, because text is printed with its escapes.
    OPEN: ClassVar[str] = "\ue000"
    CLOSE: ClassVar[str] = "\ue001"

    def __str__(self) -> str:
        ours, theirs = _excerpts(_one_line(self.ours), _one_line(self.theirs))
        return f"{''.join(self.path) or 'the value itself'}: minilc {ours}, LangChain {theirs}"


MARKS = {ord(Difference.OPEN): None, ord(Difference.CLOSE): None}


def _excerpts(ours: str, theirs: str, length: int = 60) -> tuple[str, str]:
    """Both texts, cut to what is around the first character that differs."""
    pairs = enumerate(zip(ours, theirs, strict=False))
    at = next((i for i, (a, b) in pairs if a != b), min(len(ours), len(theirs)))
    start = max(0, at - length // 2) if max(len(ours), len(theirs)) > length else 0

    def cut(text: str) -> str:
        before, after = ("..." if start else ""), ("..." if len(text) > start + length else "")
        return f"{before}{text[start : start + length]}{after}"

    return cut(ours), cut(theirs)


def first_difference(ours: Any, theirs: Any, path: Path = ()) -> Difference | None:
    """The first place where two plain values differ, in the order in which they are printed."""
    kinds = [value.kind if isinstance(value, Record) else type(value) for value in (ours, theirs)]
    if kinds[0] != kinds[1]:
        return Difference(path, ours, theirs)
    left, right = _children(ours), _children(theirs)
    if left is None or right is None:
        both_nan = isinstance(ours, float) and math.isnan(ours) and math.isnan(theirs)
        return None if ours == theirs or both_nan else Difference(path, ours, theirs)
    for step in dict.fromkeys((*left, *right)):
        pair = left.get(step, ABSENT), right.get(step, ABSENT)
        if difference := first_difference(*pair, (*path, step)):
            return difference
    return None


def _children(value: Any) -> dict[str, Any] | None:
    """What a value consists of, by the step that leads there; None if it is no container."""
    if isinstance(value, Record):
        return {f".{name}" if name else "": item for name, item in value.fields.items()}
    if isinstance(value, dict):
        return {f"[{key!r}]": item for key, item in value.items()}
    if isinstance(value, list | tuple):
        return {f"[{index}]": item for index, item in enumerate(value)}
    return None


# Printing


def pretty(value: Any, mark: Path | None = None, width: int = WIDTH) -> str:
    """A plain value as text, over several lines if it is long; the same text on every run.

    Args:
        value: plain data, as `Reader.read` gives it.
        mark: the path of a part to put between `Difference.OPEN` and `Difference.CLOSE`.
        width: the length at which a line is broken.
    """
    return _pretty(value, (), mark, width)


def _one_line(value: Any) -> str:
    return _pretty(value, (), None, None)


def _pretty(value: Any, path: Path, mark: Path | None, width: int | None) -> str:
    text = _flat(value, path, mark)
    if width is not None and len(text) > width:
        text = _broken(value, path, mark, width)
    if path != mark:
        return text
    return f"{Difference.OPEN}{text}{Difference.CLOSE}"


def _flat(value: Any, path: Path, mark: Path | None) -> str:
    opening, closing, parts = _parts(value)
    shown = [f"{label}{_pretty(item, (*path, step), mark, None)}" for label, step, item in parts]
    if isinstance(value, tuple) and len(shown) == 1:
        closing = ",)"
    return f"{opening}{', '.join(shown)}{closing}"


def _broken(value: Any, path: Path, mark: Path | None, width: int) -> str:
    opening, closing, parts = _parts(value)
    if isinstance(value, str):
        pieces = _pieces(value, width)
        return "({})".format("\n ".join(pieces)) if len(pieces) > 1 else opening
    if not parts:
        return opening + closing
    room = max(width - 2, 20)
    shown = [f"{label}{_pretty(item, (*path, step), mark, room)}," for label, step, item in parts]
    indented = "\n".join(shown).replace("\n", "\n  ")
    return f"{opening}\n  {indented}\n{closing}"


def _pieces(text: str, width: int) -> list[str]:
    """A text as literals of one line each: broken after its lines, else between words."""
    upto = f".{{1,{width}}}"
    pattern = rf"{upto}\Z|{upto}(?<=\s)|{upto}"
    lines = text.splitlines(keepends=True)
    return [repr(piece) for line in lines for piece in re.findall(pattern, line, re.DOTALL)]


def _parts(value: Any) -> tuple[str, str, list[tuple[str, str, Any]]]:
    """The text around a container's items, and each item with its label and its step."""
    if isinstance(value, Record):
        items = [(f"{n}=" if n else "", f".{n}" if n else "", v) for n, v in value.fields.items()]
        return (f"{value.kind}(", ")", items) if items else (value.kind, "", [])
    if isinstance(value, dict):
        return "{", "}", [(f"{key!r}: ", f"[{key!r}]", item) for key, item in value.items()]
    if isinstance(value, list | tuple):
        items = [("", f"[{index}]", item) for index, item in enumerate(value)]
        return ("[", "]", items) if isinstance(value, list) else ("(", ")", items)
    return repr(value), "", []
