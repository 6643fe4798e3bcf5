"""The drawing of a graph: its nodes and edges as `get_graph` gives them, and the route of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import graphviz  # type: ignore[import-untyped]  # it ships no types

from minilc.course.draw import dot, look
from minilc.course.draw.drawing import Drawing
from minilc.course.draw.runs import END, START, Edge, steps_of

Route = dict[tuple[str, str], list[int]]  # how often an edge was taken, and in which steps


def graph(
    source: Any,
    taken: Any = None,
    *,
    active: Iterable[str] | None = None,
    steps: bool = True,
    title: str | None = None,
    description: str | None = None,
) -> Drawing:
    """Draw a graph or agent of either world.

    Args:
        source: a compiled graph, an agent, or what `get_graph` returned.
        taken: the route to highlight: a recorded run, names of nodes in order, a list of such
            steps, or an agent's messages.
        active: the nodes at which a run stands now; the route goes that far and no further.
        steps: number the edges of the route by the step that they lead into.
        title: what the drawing shows; if None, made from the graph.
        description: the same for people who cannot see it; if None, made from the graph.

    Raises:
        ValueError: the route goes through a node that the graph does not have.
    """
    nodes, edges = parts(source)
    ran = steps_of(taken, nodes) if taken is not None else []
    now = None if active is None else list(active)
    route = _route(ran, edges, ended=now is None or END in now) if ran else {}
    title = title or _title(nodes, ran)
    text = "\n".join([title, *_lines(edges, route, steps), *_now(now)])
    description = description or " ".join([_description(nodes, edges, ran), *_now(now)])
    made = _digraph(nodes, edges, route, steps, now)
    note = _note(edges, bool(route) or now is not None, steps)
    svg = dot.render(made.source, title, description, note)
    # Without a renderer the DOT text is the picture that is left.
    return Drawing(title, description, text if svg else f"{text}\n\n{made.source}", svg, made)


def render(
    digraph: graphviz.Digraph, title: str = "A graph", description: str | None = None
) -> Drawing:
    """Draw a `graphviz.Digraph`, such as a drawing's own after you changed it."""
    description = description or f"{title}, as its DOT text says."
    svg = dot.render(digraph.source, title, description)
    return Drawing(title, description, digraph.source, svg, digraph)


def parts(source: Any) -> tuple[dict[str, str], list[Edge]]:
    """The nodes (name to role) and the edges that `get_graph` gives, START and END among them."""
    drawable = source.get_graph() if hasattr(source, "get_graph") else source
    found = drawable.nodes
    data = {
        name: getattr(found[name], "data", found[name]) if isinstance(found, Mapping) else None
        for name in found
    }
    edges = [_edge(one) for one in drawable.edges]
    return {name: _role(name, value) for name, value in data.items()}, edges


def _edge(edge: Any) -> Edge:
    label = getattr(edge, "data", None)
    return Edge(
        edge.source,
        edge.target,
        bool(getattr(edge, "conditional", False)),
        "" if label is None else str(label),
    )


def _role(name: str, data: Any) -> str:
    if name in (START, END):
        return "end"
    if name == "tools" or type(data).__name__ == "ToolNode":
        return "tools"
    return "model" if name in ("model", "agent", "chatbot", "model_request") else "other"


def _route(steps: list[list[str]], edges: Iterable[Edge], ended: bool = True) -> Route:
    """Which pairs of nodes a run went along; into END where nothing came after, if it has ended.

    A node that no declared edge leads into was reached by a `Command`: the pair is listed as well.
    """
    declared = {(edge.source, edge.target) for edge in edges}
    route: Route = {}
    before = [START]
    for number, step in enumerate(steps, 1):
        for name in dict.fromkeys(step):
            sources = [one for one in dict.fromkeys(before) if (one, name) in declared]
            for source in sources or before[:1]:
                route.setdefault((source, name), []).extend([number] * step.count(name))
        before = step
    for name in dict.fromkeys(before) if ended else ():
        if (name, END) in declared:
            route.setdefault((name, END), []).append(len(steps) + 1)
    return route


def _note(edges: list[Edge], has_route: bool, steps: bool) -> str:
    dashed = "dashed: a condition decides" if any(edge.conditional for edge in edges) else ""
    taken = "thick: taken" + ("; the number is its step" if steps else "") if has_route else ""
    return " · ".join(filter(None, [dashed, taken]))


def _numbers(numbers: list[int]) -> str:
    """`1, 3`; `2 (3×)` where one step runs a node three times."""
    counted = Counter(numbers)
    return ", ".join(f"{one}" if many == 1 else f"{one} ({many}×)" for one, many in counted.items())


# --- as DOT ----------------------------------------------------------------------------------


def _digraph(
    nodes: Mapping[str, str],
    edges: list[Edge],
    route: Route,
    steps: bool,
    now: list[str] | None,
) -> graphviz.Digraph:
    made = dot.digraph(rankdir="TB", nodesep="0.5", ranksep="0.5")
    # Names never become DOT's own: a node called `a:b` would be a port, `subgraph` a keyword.
    ids = {name: f"n{number}" for number, name in enumerate(nodes)}
    has_route, here = bool(route) or now is not None, set(now or ())
    passed = {name for pair in route for name in pair} | here
    for name, role in nodes.items():
        _add_node(made, ids[name], name, role, has_route, name in passed, name in here)
    for edge in edges:
        numbers = route.get((edge.source, edge.target), [])
        _add_edge(made, ids, edge, numbers, has_route, steps)
    declared = {(edge.source, edge.target) for edge in edges}
    for pair, numbers in route.items():
        if pair not in declared and pair[0] in ids:
            goto = Edge(*pair, label="goto")
            _add_edge(made, ids, goto, numbers, True, steps, style="dotted")
    return made


def _add_node(
    made: graphviz.Digraph,
    id: str,
    name: str,
    role: str,
    has_route: bool,
    passed: bool,
    active: bool,
) -> None:
    colours = look.ROLES[role]
    label = ("▶ " if active else "") + {START: "START", END: "END"}.get(name, name)
    left_out = has_route and not passed
    made.node(
        id,
        dot.text(label),
        shape="box",
        style="rounded,filled,dashed" if left_out else "rounded,filled",
        fillcolor=look.CARD if left_out else colours.fill,
        color=look.TAKEN if active else look.FAINT if left_out else colours.edge,
        fontcolor=look.MUTED if left_out else look.TEXT,
        penwidth="3.2" if active else "2.2" if passed else "1.2",
        margin="0.2,0.08",
        height="0.4",
    )


def _add_edge(
    made: graphviz.Digraph,
    ids: Mapping[str, str],
    edge: Edge,
    numbers: list[int],
    has_route: bool,
    steps: bool,
    style: str | None = None,
) -> None:
    words = [edge.label] if edge.label else []
    if numbers and steps:
        words.append(_numbers(numbers))
    quiet = look.FAINT if has_route else look.MUTED
    made.edge(
        ids[edge.source],
        ids[edge.target],
        label=dot.text("  " + " · ".join(words)) if words else "",
        style=style or ("dashed" if edge.conditional else "solid"),
        color=look.TAKEN if numbers else quiet,
        fontcolor=look.TAKEN if numbers else look.MUTED,
        penwidth="2.4" if numbers else "1.1",
        arrowsize="0.8",
    )


# --- in words --------------------------------------------------------------------------------


def _title(nodes: Mapping[str, str], ran: list[list[str]]) -> str:
    inner = [look.plain(name) for name in nodes if name not in (START, END)]
    route = f", and a run of {len(ran)} steps" if ran else ""
    return f"Graph of {', '.join(inner) or 'no nodes'}{route}"


def _shown(name: str) -> str:
    return {START: "START", END: "END"}.get(name, look.plain(name))


def _now(now: list[str] | None) -> list[str]:
    return [f"Now at {', '.join(map(_shown, dict.fromkeys(now)))}."] if now else []


def _lines(edges: list[Edge], route: Route, steps: bool) -> list[str]:
    declared = {(edge.source, edge.target): edge for edge in edges}
    pairs = [*declared, *(pair for pair in route if pair not in declared)]
    lines = []
    for pair in pairs:
        edge = declared.get(pair)
        arrow = "~~>" if edge is None else "-->" if edge.conditional else "──>"
        label = f"  [{look.one_line(edge.label)}]" if edge is not None and edge.label else ""
        numbers = route.get(pair, [])
        taken = f"  step {_numbers(numbers)}" if numbers and steps else ""
        mark = "*" if numbers else " "
        lines.append(f"{mark} {_shown(pair[0])} {arrow} {_shown(pair[1])}{label}{taken}")
    return lines


def _description(nodes: Mapping[str, str], edges: list[Edge], ran: list[list[str]]) -> str:
    ways = [
        f"{_shown(edge.source)} to {_shown(edge.target)}"
        + (" (conditional)" if edge.conditional else "")
        for edge in edges
    ]
    text = f"A graph of {len(nodes)} nodes. Edges: {'; '.join(ways)}."
    if ran:
        route = ", then ".join(" and ".join(map(_shown, dict.fromkeys(step))) for step in ran)
        text += f" The run went through {route}."
    return text
