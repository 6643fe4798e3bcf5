"""A compiled graph or agent: does its model know the tools, and does a call find its way to them?

Nothing is run; what the nodes hold is looked at.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from minilc.course.doctor import tools as wards
from minilc.course.doctor.report import Finding
from minilc.course.doctor.tools import Patient

END, START = "__end__", "__start__"


@dataclass
class Anatomy:
    """What a graph is made of, in either world.

    Args:
        tool_nodes: the nodes that are ToolNodes, by their names.
        models: the models that the other nodes' functions refer to.
        offered: names of tools that are bound to a model before the run.
        binds: whether some node binds tools itself when it runs.
        patients: the tools of all ToolNodes.
    """

    graph: Any
    tool_nodes: dict[str, Any] = field(default_factory=dict)
    models: list[Any] = field(default_factory=list)
    offered: list[str] | None = None
    binds: bool = False
    patients: list[Patient] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


def is_graph(subject: Any) -> bool:
    """Whether it is a compiled graph of either world."""
    return hasattr(subject, "get_graph") and hasattr(getattr(subject, "builder", None), "branches")


def dissect(graph: Any) -> Anatomy:
    """Look into a compiled graph."""
    made = Anatomy(graph)
    for name, spec in graph.builder.nodes.items():
        inside = list(_inside(spec))
        node = next((one for one in inside if hasattr(one, "tools_by_name")), None)
        if node is not None:
            made.tool_nodes[name] = node
            patients, findings = wards.admit(list(node.tools_by_name.values()), f"{name}.tools")
            made.patients += patients
            made.findings += findings
        else:
            for one in inside:
                _models(made, one)
    return made


def _inside(spec: Any) -> Iterator[Any]:
    """What a node wraps: its runnable, its function, the object whose method that is."""
    seen: list[Any] = []
    todo = [spec]
    while todo:
        one = todo.pop(0)
        if one is None or any(one is other for other in seen) or len(seen) > 20:
            continue
        seen.append(one)
        yield one
        todo += [getattr(one, name, None) for name in ("runnable", "bound", "func", "afunc")]
        todo.append(getattr(one, "__self__", None))


def _models(made: Anatomy, one: Any) -> None:
    """The models among what a function refers to, and among the fields of a node."""
    values: list[Any] = []
    if inspect.isfunction(one):
        try:
            used = inspect.getclosurevars(one)
            values += [*used.nonlocals.values(), *used.globals.values()]
        except ValueError:  # a closure whose cell is still empty
            pass
        code = [one.__code__, *(c for c in one.__code__.co_consts if inspect.iscode(c))]
        made.binds = made.binds or any("bind_tools" in part.co_names for part in code)
        values += [v for f in list(values) if inspect.isfunction(f) for v in _cells(f)]
        made.binds = made.binds or any(_binds(f) for f in values if inspect.isfunction(f))
    elif not isinstance(one, type):
        fields = getattr(one, "__dict__", {})
        values += list(fields.values())
        for value in fields.values():
            if isinstance(value, partial) and "model" in value.keywords:  # minilc's model node
                values.append(value.keywords["model"])
                made.binds = True
    for value in values:
        bound = getattr(value, "kwargs", None)
        if isinstance(bound, Mapping) and isinstance(bound.get("tools"), list):
            made.offered = (made.offered or []) + [_name_of(tool) for tool in bound["tools"]]
        if hasattr(value, "bind_tools") and not isinstance(value, type):
            if not any(value is model for model in made.models):
                made.models.append(value)


def _cells(function: Any) -> list[Any]:
    return [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _binds(function: Any) -> bool:
    return "bind_tools" in function.__code__.co_names


def _name_of(tool: Any) -> str:
    if isinstance(tool, Mapping):
        body = tool["function"] if isinstance(tool.get("function"), Mapping) else tool
        return str(body.get("name") or tool.get("type"))
    return str(getattr(tool, "name", tool))


# --- what is wrong with it ----------------------------------------------------------------------


def examine(made: Anatomy) -> Iterator[Finding]:
    """All that is wrong with a graph, besides its tools."""
    yield from made.findings
    yield from _knows(made)
    yield from _edges(made)
    yield from _keys(made)
    yield from _needs(made)


def _knows(made: Anatomy) -> Iterator[Finding]:
    """Whether what the model is offered is what ToolNode has."""
    names = [patient.name for patient in made.patients]
    if not names and not made.offered:
        if made.models:
            yield Finding("no-tools", "graph", "no ToolNode, and no tools bound to the model")
        return
    for model in made.models:
        if not _can_bind(model) and made.binds:
            evidence = f"{type(model).__name__} inherits a bind_tools that only raises"
            yield Finding("model-cannot-bind", "model", evidence)
    if made.offered is not None:
        for name in sorted(set(made.offered) - set(names)):
            evidence = f"the bound model offers {name!r}; the tools are {names!r}"
            yield Finding("offered-not-executable", "model", evidence)
        if not made.binds:
            for name in sorted(set(names) - set(made.offered)):
                evidence = f"ToolNode has {name!r}; the bound model offers {made.offered!r}"
                yield Finding("executable-not-offered", f"tool {name!r}", evidence)
    elif made.models and names and not made.binds:
        evidence = f"the model's node uses a model without tools; ToolNode has {names!r}"
        yield Finding("no-tools", "model", evidence)


def _can_bind(model: Any) -> bool:
    """Whether the model's class has a bind_tools of its own, and not the base class's."""
    owner = next((c for c in type(model).__mro__ if "bind_tools" in vars(c)), None)
    return owner is None or owner.__name__ != "BaseChatModel"


def _edges(made: Anatomy) -> Iterator[Finding]:
    builder = made.graph.builder
    reached = {end for _, end in _plain_edges(builder)}
    open_ended = False
    for source, path, ends in _branches(builder):
        is_condition = _name_of_path(path) == "tools_condition"
        if ends and is_condition and "tools" not in ends:
            evidence = (
                f"the path map has {list(ends)!r}; tools_condition returns 'tools' or {END!r}"
            )
            yield Finding("path-map", f"edge out of {source!r}", evidence)
        if ends and is_condition and END not in ends:
            evidence = (
                f"the path map has {list(ends)!r} and no END; tools_condition returns {END!r}"
            )
            yield Finding("path-map", f"edge out of {source!r}", evidence)
        reached |= set(ends.values()) if ends else ({"tools"} if is_condition else set())
        open_ended = open_ended or not (ends or is_condition)
    goes_anywhere = any(_ends_of(spec) for spec in builder.nodes.values())
    for name in made.tool_nodes:
        if name not in reached and not open_ended and not goes_anywhere:
            yield Finding("tools-unreachable", f"node {name!r}", "no edge ends there")


def _plain_edges(builder: Any) -> Iterator[tuple[Any, str]]:
    yield from builder.edges
    yield from getattr(builder, "waiting_edges", ())


def _ends_of(spec: Any) -> bool:
    """Whether a node chooses the next one itself, with a Command."""
    return bool(getattr(spec, "ends", ()))


def _branches(builder: Any) -> Iterator[tuple[str, Any, dict[Any, str]]]:
    for source, specs in builder.branches.items():
        for spec in specs.values() if isinstance(specs, Mapping) else specs:
            yield source, spec.path, dict(spec.ends or {})


def _name_of_path(path: Any) -> str:
    function = getattr(path, "func", None) or path
    while hasattr(function, "func"):  # a partial
        function = function.func
    return getattr(function, "__name__", "")


def _keys(made: Anatomy) -> Iterator[Finding]:
    channels = list(made.graph.builder.channels)
    for name, node in made.tool_nodes.items():
        key = getattr(node, "messages_key", None) or getattr(node, "_messages_key", "messages")
        if key not in channels:
            evidence = f"it reads state[{key!r}]; the state has {channels!r}"
            yield Finding("messages-key", f"node {name!r}", evidence)


def _needs(made: Anatomy) -> Iterator[Finding]:
    """What the tools want of the graph: fields, a store, a checkpointer, reducers."""
    graph, channels = made.graph, made.graph.builder.channels
    for patient in made.patients:
        for field_name, has_default in _fields_wanted(patient):
            if field_name not in channels and not has_default:
                evidence = f"InjectedState({field_name!r}); the state has {list(channels)!r}"
                yield Finding("injected-field-missing", patient.where, evidence)
        for field_name in sorted(wards.read_fields(patient) - set(channels)):
            evidence = f"it reads state[{field_name!r}]; the state has {list(channels)!r}"
            yield Finding("injected-field-missing", patient.where, evidence)
        if _wants_store(patient) and getattr(graph, "store", None) is None:
            yield Finding("store-missing", patient.where, "InjectedStore, and the graph has none")
        if wards.calls_interrupt(patient) and not getattr(graph, "checkpointer", None):
            evidence = "it calls interrupt(); the graph was compiled without a checkpointer"
            yield Finding("interrupt-without-checkpointer", patient.where, evidence)
        if str(getattr(patient.function, "__module__", "")).startswith("langchain"):
            continue  # a middleware's own tool
        for name in sorted(wards.written_fields(patient)):
            if name in channels and _is_last_value(channels[name]):
                evidence = f"its Command writes {name!r}, which has no reducer"
                yield Finding("parallel-writes", patient.where, evidence)


def _marks(patient: Patient) -> Iterator[tuple[str, Any]]:
    for name, hint in wards._hints(patient.function).items() if patient.function else ():
        for mark in getattr(hint, "__metadata__", ()):
            yield name, mark


def _fields_wanted(patient: Patient) -> Iterator[tuple[str, bool]]:
    for name, mark in _marks(patient):
        kind = mark if isinstance(mark, type) else type(mark)
        if kind.__name__ == "InjectedState" and (wanted := getattr(mark, "field", None)):
            default = inspect.signature(patient.function).parameters[name].default
            yield wanted, default is not inspect.Parameter.empty


def _wants_store(patient: Patient) -> bool:
    kinds = [mark if isinstance(mark, type) else type(mark) for _, mark in _marks(patient)]
    return any(kind.__name__ == "InjectedStore" for kind in kinds)


def _is_last_value(channel: Any) -> bool:
    """Whether a field takes one value a step: no reducer, in either world's words."""
    if hasattr(channel, "reducer"):
        return channel.reducer is None and not channel.is_ephemeral
    return type(channel).__name__ == "LastValue"


def names_of(tools: Iterable[Any]) -> list[str]:
    """The names of tools in any form."""
    return [_name_of(tool) for tool in tools]


def arity(function: Any) -> int:
    """How many arguments a function must be given; 0 if that cannot be told."""
    try:
        parameters: Sequence[inspect.Parameter] = list(
            inspect.signature(function).parameters.values()
        )
    except (TypeError, ValueError):
        return 0
    return sum(
        one.default is one.empty and one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
        for one in parameters
    )
