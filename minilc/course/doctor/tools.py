"""The tools: does the model know them, and can what it is told be right?

A tool is looked at, never called.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
import typing
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property, partial
from typing import Any

from minilc.course.doctor.report import Finding
from minilc.course.draw.look import one_line

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
EMPTY_NAMES = re.compile(
    r"(?:run|handler?|func(?:tion)?|exec(?:ute)?|do|call|api|process|helper|main|test|tmp|my)"
    r"(?:_?(?:tool|function|func|\d+))?|tool_?\d*|f\d*|lambda",
    re.IGNORECASE,
)
EMPTY_WORDS = set(
    "a an the this is it tool function helper does do stuff something things todo my".split()
)
VAGUE = re.compile(
    r"(?:x|arg|args|data|value|val|info|input|inp|param|params|payload|obj|object|item|thing|stuff|"
    r"options|opts|kwargs|p|d|v)\d*",
    re.IGNORECASE,
)
IDENTITY = re.compile(
    r"(?:current_?)?(?:user|tenant|account|org|organi[sz]ation|session)_?(?:id|uuid|key)"
    r"|(?:\w+_)?(?:auth|access|bearer|refresh|session|api|id)_?(?:token|key|secret)"
    r"|password|passwd|secret|credentials?|jwt|(?:is_)?admin",
    re.IGNORECASE,
)
RESERVED = ("config", "callbacks", "run_manager")
LOOKS_INJECTED = {"state": "InjectedState", "store": "InjectedStore", "runtime": "ToolRuntime"}


@dataclass
class Patient:
    """A tool as the doctor sees it.

    Args:
        name: what the model calls it by.
        description: what the model reads; None if it is the provider's own tool.
        properties: the parameters that the model sees, as JSON schema; None if unknown.
        place: where it stands in what was given.
        tool: the tool object, if it is one.
        function: the function behind it, if there is one.
        hidden: parameters that are injected.
        model: the pydantic model that checks what the model sends, if there is one.
    """

    name: str
    description: str | None
    properties: dict[str, Any] | None
    place: str
    tool: Any = None
    function: Any = None
    hidden: set[str] = field(default_factory=set)
    model: Any = None
    open_ended: bool = False
    required: Sequence[str] = ()

    @property
    def return_direct(self) -> bool:
        """Whether its answer ends the run."""
        return bool(getattr(self.tool, "return_direct", False))

    @cached_property
    def tree(self) -> ast.Module | None:
        """The syntax tree of the function, if its source can be found."""
        try:
            return ast.parse(textwrap.dedent(inspect.getsource(self.function)))
        except (OSError, TypeError, SyntaxError, ValueError, AttributeError):
            return None

    @property
    def where(self) -> str:
        """The tool in a finding."""
        return f"tool {self.name!r}"


def admit(tools: Any, place: str = "tools") -> tuple[list[Patient], list[Finding]]:
    """Take in tools: objects of either world, functions, dicts; and what cannot be one."""
    given = (
        list(tools.values())
        if isinstance(tools, Mapping) and not _is_tool_dict(tools)
        else (list(tools) if isinstance(tools, list | tuple | set) else [tools])
    )
    patients, findings = [], []
    for index, one in enumerate(given):
        where = f"{place}[{index}]"
        try:
            patients.append(_admit_one(one, where))
        except _Refused as refused:
            findings.append(refused.args[0])
    return patients, findings


class _Refused(Exception):
    """What was given is no tool; `args[0]` is the finding."""


def _is_tool_dict(value: Mapping[str, Any]) -> bool:
    return "name" in value or "function" in value or "type" in value or "title" in value


def _admit_one(one: Any, place: str) -> Patient:
    if isinstance(one, Mapping):
        return _of_dict(one, place)
    if _is_tool(one):
        return _of_tool(one, place)
    name = getattr(one, "__name__", None) or type(one).__name__
    if isinstance(one, type) or not callable(one):
        evidence = f"{one_line(one)!r} is no tool, no function and no dict"
        raise _Refused(Finding("tool-undefinable", f"{place} {name!r}", evidence))
    from langchain_core.tools import tool

    try:
        if isinstance(one, partial):
            from langchain_core.tools import StructuredTool

            return _of_tool(StructuredTool.from_function(one), place)
        return _of_tool(tool(one), place)
    except _Refused:
        raise
    except Exception as error:  # whatever LangChain raises is what the person sees
        evidence = f"{type(error).__name__}: {one_line(error, 120)}"
        raise _Refused(Finding("tool-undefinable", f"{place} {name!r}", evidence)) from None


def _is_tool(one: Any) -> bool:
    return not isinstance(one, type) and hasattr(one, "name") and hasattr(one, "args_schema")


def _of_dict(one: Mapping[str, Any], place: str) -> Patient:
    """A tool in a provider's form; one with a type of its own is run by the provider."""
    body = one["function"] if isinstance(one.get("function"), Mapping) else one
    name = body.get("name") or body.get("title") or one.get("type") or place
    schema = body.get("parameters") or body.get("input_schema")
    if schema is None and "properties" in body:
        schema = body
    if not isinstance(schema, Mapping):
        builtin = one.get("type") not in (None, "function", "custom")
        return Patient(str(name), None if builtin else body.get("description", ""), None, place)
    return Patient(
        str(name),
        str(body.get("description") or ""),
        dict(schema.get("properties") or {}),
        place,
        required=tuple(schema.get("required") or ()),
        open_ended=schema.get("additionalProperties") not in (None, False),
    )


def _of_tool(tool: Any, place: str) -> Patient:
    function = getattr(tool, "func", None) or getattr(tool, "coroutine", None)
    patient = Patient(str(tool.name), str(tool.description or ""), None, place, tool, function)
    try:
        parameters = _converter(tool)(tool)["function"].get("parameters") or {}
    except Exception as error:  # pydantic's and LangChain's own, as `bind_tools` would raise them
        evidence = f"{type(error).__name__}: {one_line(error, 120)}"
        raise _Refused(Finding("schema-fails", patient.where, evidence)) from None
    patient.properties = dict(parameters.get("properties") or {})
    patient.required = tuple(parameters.get("required") or ())
    patient.open_ended = isinstance(tool.args_schema, Mapping)
    try:
        full = tool.get_input_schema()
        fields = getattr(full, "model_fields", {})
        patient.hidden = set(fields) - patient.properties.keys() if fields else set()
        patient.model = tool.tool_call_schema if fields else None
    except Exception:  # the schema of a hand-written class: what the model sees is all we know
        patient.model = None
    if function is not None:
        patient.hidden |= _injected(function)
    return patient


def _converter(tool: Any) -> Any:
    from minilc.base import BaseTool

    if isinstance(tool, BaseTool):
        from minilc.function_calling import convert_to_openai_tool
    else:
        from langchain_core.utils.function_calling import (  # type: ignore[assignment]
            convert_to_openai_tool,
        )
    return convert_to_openai_tool


def _hints(function: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function, include_extras=True)
    except Exception:  # a name that is only there for the type checker
        return dict(getattr(function, "__annotations__", {}))


def _injected(function: Any) -> set[str]:
    """The parameters that ToolNode or the run fills."""
    return {name for name, hint in _hints(function).items() if _is_mark(hint)}


def _is_mark(hint: Any) -> bool:
    """Whether an annotation says that the parameter is injected, in either world."""
    parts = [hint, typing.get_origin(hint), *getattr(hint, "__metadata__", ())]
    for part in parts:
        kind = part if isinstance(part, type) else type(part)
        names = {base.__name__ for base in kind.__mro__}
        if names & {"InjectedToolArg", "_DirectlyInjectedToolArg", "RunnableConfig"}:
            return True
    # RunnableConfig is a TypedDict, and may be optional.
    if getattr(hint, "__name__", "") == "RunnableConfig":
        return True
    return any(map(_is_mark, typing.get_args(hint)))


# --- what is wrong with them --------------------------------------------------------------------


def examine(patients: Sequence[Patient]) -> Iterator[Finding]:
    """All that is wrong with tools."""
    counts = Counter(one.name for one in patients)
    for name, count in counts.items():
        if count > 1:
            places = ", ".join(one.place for one in patients if one.name == name)
            yield Finding("duplicate-tool-name", f"tool {name!r}", f"{count} tools: {places}")
    for patient in patients:
        if patient.description is None:
            continue  # the provider knows it
        yield from _name(patient)
        yield from _description(patient)
        yield from _parameters(patient)
        yield from _function(patient)
        yield from _providers(patient)


def _name(patient: Patient) -> Iterator[Finding]:
    if not NAME.fullmatch(patient.name):
        bad = sorted(set(re.sub(r"[a-zA-Z0-9_-]", "", patient.name)))
        why = f"it has {''.join(bad)!r}" if bad else f"it has {len(patient.name)} characters"
        yield Finding("name-refused", patient.where, why)
    elif EMPTY_NAMES.fullmatch(patient.name):
        yield Finding("name-says-nothing", patient.where, f"the name is {patient.name!r}")


def _description(patient: Patient) -> Iterator[Finding]:
    text = (patient.description or "").strip()
    if not text:
        yield Finding("description-missing", patient.where, f"the description is {text!r}")
        return
    said = set(_words(text)) - EMPTY_WORDS - set(_words(patient.name))
    alike = SequenceMatcher(None, "".join(_words(text)), "".join(_words(patient.name))).ratio()
    if (len(_words(text)) < 2 or not said or alike > 0.95) and not _is_foreign(text):
        yield Finding("description-says-nothing", patient.where, f"the description is {text!r}")


def _words(text: str) -> list[str]:
    parted = re.sub(r"([a-z])([A-Z])", r"\1 \2", text).replace("_", " ").lower()
    return re.findall(r"[^\W\d_]+", parted)


def _is_foreign(text: str) -> bool:
    """Whether words cannot be counted, as in Chinese; then a few characters may say a lot."""
    return any(ord(character) > 0x2E7F for character in text) and len(text) >= 4


def _parameters(patient: Patient) -> Iterator[Finding]:
    stars = {name.lstrip("*") for name in _stars(patient)}
    for name, schema in (patient.properties or {}).items():
        if name in stars:
            continue
        where = f"{patient.where}, parameter {name!r}"
        if name in LOOKS_INJECTED and _is_state_like(patient, name, schema):
            evidence = f"the model is asked for {name}; {LOOKS_INJECTED[name]} would fill it"
            yield Finding("state-not-injected", where, evidence)
        elif IDENTITY.fullmatch(name):
            yield Finding("identity-from-model", where, f"the model sees {name!r} and must fill it")
        elif name == "config" and patient.function is not None:
            yield Finding("config-parameter", where, "the model's value never reaches the function")
        elif not _is_described(patient, name, schema):
            kind = schema.get("type", "no type") if isinstance(schema, Mapping) else "no type"
            evidence = f"no description, {kind}, and the tool's description does not name it"
            yield Finding("parameter-undescribed", where, evidence)


def _is_state_like(patient: Patient, name: str, schema: Any) -> bool:
    """A `state` that is a text may be one of the United States; a dict, or a class, is a run's."""
    if name == "runtime":
        return True
    if not isinstance(schema, Mapping):
        return True
    return schema.get("type") in (None, "object") or "$ref" in schema


def _is_described(patient: Patient, name: str, schema: Any) -> bool:
    if not isinstance(schema, Mapping) or schema.get("description") or schema.get("enum"):
        return True
    if name == "__arg1":
        return True
    words = set(_words(patient.description or ""))
    named = set(_words(name)) & words or re.search(
        rf"\b{re.escape(name)}\b", patient.description or ""
    )
    if named:
        return True
    empty = VAGUE.fullmatch(name) or len(name) == 1
    if len(name) == 1 and schema.get("type") in ("integer", "number"):
        return True  # a and b of an addition
    loose = schema.get("type") == "object" and not schema.get("properties")
    shapeless = not (schema.keys() & {"type", "anyOf", "$ref", "allOf", "oneOf"})
    return not (empty or loose or shapeless)


def _function(patient: Patient) -> Iterator[Finding]:
    if patient.function is None:
        return
    parameters = _signature(patient)
    stars = _stars(patient)
    if stars and (patient.properties or {}).keys() <= parameters.keys() and not patient.open_ended:
        evidence = f"{' and '.join(stars)} of {patient.name} never get anything"
        yield Finding("kwargs-stay-empty", patient.where, evidence)
    for name in ("callbacks", "run_manager"):
        hint = _hints(patient.function).get(name)
        if name in parameters and hint in (str, int, dict, list):
            evidence = f"{name!r} is taken out of the schema and filled by LangChain"
            yield Finding("config-parameter", f"{patient.where}, parameter {name!r}", evidence)
    yield from _misfit(patient, parameters, bool(stars))
    yield from _swallows(patient)
    yield from _mutates(patient)


def _signature(patient: Patient) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(patient.function).parameters
    except (TypeError, ValueError):  # no function, or one of C's that does not tell
        return {}


def _stars(patient: Patient) -> list[str]:
    """The function's `*args` and `**kwargs`, with their stars."""
    signs = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    parameters = _signature(patient).items()
    return [signs[one.kind] + name for name, one in parameters if one.kind in signs]


def _misfit(patient: Patient, parameters: Mapping[str, Any], takes_any: bool) -> Iterator[Finding]:
    seen = set(patient.properties or {})
    if seen == {"__arg1"}:  # a simple Tool takes whatever it is given
        return
    surplus = sorted(seen - parameters.keys())
    if surplus and not takes_any:
        evidence = f"the schema has {surplus!r}, the function takes {list(parameters)!r}"
        yield Finding("schema-misfits-function", patient.where, evidence)
        return
    lacking = [
        name
        for name, one in parameters.items()
        if name not in seen | patient.hidden | {*RESERVED, "self"}
        and one.default is inspect.Parameter.empty
        and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
    ]
    if lacking:
        evidence = f"the function needs {lacking!r}, the schema has {sorted(seen)!r}"
        yield Finding("schema-misfits-function", patient.where, evidence)


# --- what its source says -----------------------------------------------------------------------


def calls_interrupt(patient: Patient) -> bool:
    """Whether the function calls `interrupt`."""
    tree = patient.tree
    return tree is not None and any(_is_interrupt(node) for node in ast.walk(tree))


def _is_interrupt(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = getattr(node.func, "id", getattr(node.func, "attr", None))
    return name == "interrupt"


def _swallows(patient: Patient) -> Iterator[Finding]:
    """An `interrupt` inside of a try that catches everything and does not raise again."""
    tree = patient.tree
    for node in ast.walk(tree) if tree else ():
        if not isinstance(node, ast.Try):
            continue
        inside = any(_is_interrupt(one) for part in node.body for one in ast.walk(part))
        if not inside:
            continue
        for handler in node.handlers:
            names = _caught(handler)
            raises = any(isinstance(one, ast.Raise) for one in ast.walk(handler))
            if raises and names & {"GraphBubbleUp", "GraphInterrupt"}:
                break
            if names & {"", "Exception", "BaseException", "GraphBubbleUp"} and not raises:
                evidence = f"except {' '.join(sorted(names)) or ''}".strip() + " around interrupt()"
                yield Finding("interrupt-swallowed", patient.where, evidence)
                break


def _caught(handler: ast.ExceptHandler) -> set[str]:
    if handler.type is None:
        return {""}
    parts = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return {getattr(part, "id", getattr(part, "attr", "")) for part in parts}


def _mutates(patient: Patient) -> Iterator[Finding]:
    """A change of an injected state in place."""
    states = {name for name, hint in _hints(patient.function).items() if _is_state(hint)}
    tree = patient.tree
    for node in ast.walk(tree) if tree and states else ():
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AugAssign):
            targets = [node.target]
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in CHANGES:
            targets = [node.func]
        for target in targets:
            if not isinstance(target, ast.Name) and _root(target) in states:
                yield Finding("state-mutated", patient.where, f"{one_line(ast.unparse(node), 60)}")
                return


CHANGES = ("append", "extend", "insert", "update", "pop", "remove", "clear", "setdefault")


def _is_state(hint: Any) -> bool:
    marks = [mark if isinstance(mark, type) else type(mark) for mark in _metadata(hint)]
    return any(mark.__name__ == "InjectedState" for mark in marks)


def _metadata(hint: Any) -> tuple[Any, ...]:
    return getattr(hint, "__metadata__", ())


def _root(node: ast.AST) -> str | None:
    """The name that an expression such as `state["a"].b` begins with."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def read_fields(patient: Patient) -> set[str]:
    """The fields that the function takes out of its injected state, and does not ask for first."""
    tree = patient.tree
    if tree is None:
        return set()
    states = {name for name, hint in _hints(patient.function).items() if _is_state(hint)}
    read, asked = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Constant):
            asked.add(node.left.value)  # "user_id" in state
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            is_state = isinstance(node.value, ast.Name) and node.value.id in states
            if is_state and isinstance(node.slice, ast.Constant):
                read.add(node.slice.value)
    return {name for name in read - asked if isinstance(name, str)}


def written_fields(patient: Patient) -> set[str]:
    """The fields of the state that the function's Commands write."""
    tree = patient.tree
    fields = set()
    for node in ast.walk(tree) if tree else ():
        if not isinstance(node, ast.Call):
            continue
        if getattr(node.func, "id", getattr(node.func, "attr", "")) != "Command":
            continue
        for keyword in node.keywords:
            if keyword.arg == "update" and isinstance(keyword.value, ast.Dict):
                keys = [key.value for key in keyword.value.keys if isinstance(key, ast.Constant)]
                fields |= {key for key in keys if isinstance(key, str)}
    return fields


# --- the providers ------------------------------------------------------------------------------


def _providers(patient: Patient) -> Iterator[Finding]:
    """Whether each provider's package can say the schema, where the package is installed."""
    if patient.tool is None:
        return
    tool = _real(patient)
    for provider, convert in _converters():
        try:
            convert(tool)
        except Exception as error:  # each package raises its own
            evidence = f"{provider}: {type(error).__name__}: {one_line(error, 100)}"
            yield Finding("provider-refuses-schema", patient.where, evidence)


def _real(patient: Patient) -> Any:
    """What the packages take: a tool of LangChain's, or the same as OpenAI's dict."""
    from langchain_core.tools import BaseTool

    if isinstance(patient.tool, BaseTool):
        return patient.tool
    return _converter(patient.tool)(patient.tool)


def _converters() -> Iterator[tuple[str, Any]]:
    try:
        from langchain_anthropic.chat_models import convert_to_anthropic_tool

        yield "Anthropic", convert_to_anthropic_tool
    except ImportError:
        pass
    try:
        import langchain_google_genai  # noqa: F401

        from minilc.course.wire import convert_to_gemini_tool

        yield "Gemini", convert_to_gemini_tool
    except ImportError:
        pass
