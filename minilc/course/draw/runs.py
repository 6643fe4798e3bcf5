"""A run of a graph, recorded in either world: which nodes ran in which step, and the messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

START, END, INTERRUPT = "__start__", "__end__", "__interrupt__"


@dataclass(frozen=True)
class Edge:
    """An edge of a drawable graph, in either world."""

    source: str
    target: str
    conditional: bool = False
    label: str = ""


@dataclass
class Run:
    """What one run of a graph did.

    Args:
        steps: for each super-step the nodes that ran to their end, a node as often as it ran.
        messages: the history at the end, if the state has one.
        state: the state at the end.
        paused: whether an interrupt stopped it.
        asked: what the interrupts ask.
        states: the state before the first step, and after each step: one more than there are steps.
        graph: the nodes and edges that it ran on, as `get_graph` gives them.
    """

    steps: list[list[str]] = field(default_factory=list)
    messages: list[Any] = field(default_factory=list)
    state: Any = None
    paused: bool = False
    asked: list[Any] = field(default_factory=list, repr=False)
    states: list[Any] = field(default_factory=list, repr=False)
    graph: Any = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        route = " -> ".join("+".join(step) for step in self.steps)
        return f"Run({route}, {len(self.messages)} messages{', paused' if self.paused else ''})"


def record(graph: Any, input: Any, config: Any = None, **options: Any) -> Run:
    """Run a compiled graph or agent once and keep its route, its states and its messages.

    Args:
        graph: minilc's or LangGraph's.
        input: what its `invoke` takes.
        config: as for `invoke`.
        **options: what else its `stream` takes, such as `context`.
    """
    run = Run(graph=graph.get_graph())
    numbered: dict[int, list[str]] = {}
    befores: list[Any] = []
    groups: list[list[str]] = [[]]
    values: list[Any] = []
    modes = ["updates", "values", "debug"]
    for mode, chunk in graph.stream(input, config, stream_mode=modes, **options):
        if mode == "debug" and chunk["type"] == "task_result":
            if chunk["payload"]["interrupts"]:
                continue
            if chunk["step"] not in numbered:
                befores.append(run.state)
            numbered.setdefault(chunk["step"], []).append(chunk["payload"]["name"])
        elif mode == "updates":
            run.asked += [interrupt.value for interrupt in chunk.get(INTERRUPT, ())]
            groups[-1] += [name for name in chunk if name != INTERRUPT]
        elif mode == "values":
            run.state = _kept(chunk)
            groups.append([])
            values.append(run.state)
    # LangGraph tells the number of each step; minilc's graphs have no such mode.
    run.steps = list(numbered.values())
    if not numbered:
        run.steps, befores = _split(groups, values, run.graph)
    run.paused = bool(run.asked)
    run.states = [*befores, run.state]
    run.messages = messages_of(run.state)
    return run


def _kept(state: Any) -> Any:
    """A state as it is now: its lists and dicts are copies, which no later step changes."""
    if not isinstance(state, Mapping):
        return state
    return {
        key: value.copy() if isinstance(value, list | dict | set) else value
        for key, value in state.items()
        if key != INTERRUPT
    }


def _split(
    groups: list[list[str]], values: list[Any], graph: Any
) -> tuple[list[list[str]], list[Any]]:
    """Make steps of what ran between two states, each with the state before it.

    A state comes at the end of a step that changed it, so that nodes which change nothing are in
    one group with the next step's. The declared edges tell them apart: what ran in one step was
    reached from the step before.
    """
    edges = {(edge.source, edge.target) for edge in graph.edges}
    steps: list[list[str]] = []
    befores: list[Any] = []
    for group, state in zip(groups, [None, *values], strict=True):
        for position, name in enumerate(group):
            before = steps[-2] if len(steps) > 1 else [START]
            declared = [edge for edge in edges if edge[0] in before]
            reached = not declared or any(edge[1] == name for edge in declared)
            if position and (reached or name in steps[-1]):
                steps[-1].append(name)
            else:
                steps.append([name])
                befores.append(state)
    return steps, befores


def messages_of(source: Any) -> list[Any]:
    """The messages of a run, a state, or a list of them.

    Raises:
        TypeError: something else.
    """
    if isinstance(source, Run):
        return source.messages
    if isinstance(source, Mapping):
        return list(source.get("messages") or [])
    if isinstance(source, Sequence) and not isinstance(source, str):
        return list(source)
    if hasattr(source, "messages"):
        return list(source.messages)
    if source is None:
        return []
    raise TypeError(f"expected messages, a state or a run, got {source!r}")


def steps_of(taken: Any, nodes: Iterable[str]) -> list[list[str]]:
    """The steps of a route given as a run, as names, as steps of names, or as messages.

    Messages tell the route of an agent: an answer of the model is a step of its model node, the
    tools' answers after it one step of its tools node.

    Raises:
        ValueError: a name that is no node.
    """
    known = set(nodes)
    if isinstance(taken, Run):
        steps = taken.steps
    elif all(isinstance(one, str) for one in taken) and not isinstance(taken, Mapping):
        steps = [[name] for name in taken]
    elif not isinstance(taken, Mapping) and all(isinstance(one, list | tuple) for one in taken):
        steps = [list(step) for step in taken]
    else:
        steps = _steps_of_messages(messages_of(taken), known)
    steps = [[name for name in step if name not in (START, END)] for step in steps]
    unknown = sorted({name for step in steps for name in step} - known)
    if unknown:
        raise ValueError(f"the route goes through {unknown!r}; the graph has {sorted(known)!r}")
    return [step for step in steps if step]


def _steps_of_messages(messages: Iterable[Any], known: set[str]) -> list[list[str]]:
    model = next((name for name in ("model", "agent", "chatbot") if name in known), "model")
    steps: list[list[str]] = []
    for message in messages:
        if message.type == "ai":
            steps.append([model])
        elif message.type == "tool" and steps and steps[-1][0] == "tools":
            steps[-1].append("tools")
        elif message.type == "tool":
            steps.append(["tools"])
    return steps
