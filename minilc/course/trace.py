"""Who calls whom: some functions of a chain, in the order in which a real run calls them.

steps = trace(lambda: tool.invoke(call), ["invoke", "run", "_run"])
steps.names     # ["invoke", "run", "_run"]
steps           # draws itself
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import FrameType
from typing import Any

from minilc.course.draw import Drawing, dot, look
from minilc.course.draw.graphs import render
from minilc.course.plain import LIBRARIES

CALLER = "you"


@dataclass(frozen=True)
class Call:
    """One function calls another.

    Args:
        caller: the next function of the chain that was running, or "you".
        name: the function.
        own: whether it is the reader's own and not a library's.
    """

    caller: str
    name: str
    own: bool = False

    def __str__(self) -> str:
        return f"{self.caller} {'call' if self.caller == CALLER else 'calls'} {self.name}"


@dataclass(frozen=True)
class Trace:
    """The calls of one run, in their order."""

    calls: tuple[Call, ...]

    @property
    def names(self) -> list[str]:
        """The functions that ran, in the order in which they began."""
        return [call.name for call in self.calls]

    def drawing(self, title: str | None = None) -> Drawing:
        """The calls as a tree; the number at an edge is its place in the order."""
        made = dot.digraph(rankdir="LR", nodesep="0.25", ranksep="0.45")
        roles = {CALLER: "user"} | {c.name: "tool" if c.own else "graph" for c in self.calls}
        for name, role in roles.items():
            colours = look.ROLES[role]
            made.node(
                _id(name),
                dot.text(name),
                shape="box",
                style="rounded,filled",
                fillcolor=colours.fill,
                color=colours.edge,
                margin="0.12,0.06",
                height="0.35",
            )
        for number, call in enumerate(self.calls, 1):
            made.edge(
                _id(call.caller),
                _id(call.name),
                label=f" {number} ",
                color=look.TAKEN,
                fontcolor=look.TAKEN,
                arrowsize="0.7",
            )
        lines = [f"{number}. {call}" for number, call in enumerate(self.calls, 1)]
        title = title or f"The order of {len(self.calls)} calls"
        drawn = render(made, title, f"{'; '.join(lines)}.")
        return Drawing(title, drawn.description, "\n".join([title, *lines]), drawn.svg, made)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        return self.drawing()._repr_mimebundle_(include, exclude)


def trace(run: Callable[[], Any], names: Iterable[str]) -> Trace:
    """Run something once, and keep which of the named functions called which."""
    wanted = set(names)
    calls: list[Call] = []
    running = [CALLER]

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        name = frame.f_code.co_name
        if name in wanted and event == "call":
            module = str(frame.f_globals.get("__name__")).partition(".")[0]
            calls.append(Call(running[-1], name, own=module not in LIBRARIES))
            running.append(name)
        elif name in wanted and event == "return":
            running.pop()

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        run()
    finally:
        sys.setprofile(before)
    return Trace(tuple(calls))


def _id(name: str) -> str:
    """A name that means nothing to DOT."""
    return f"n_{name}"
