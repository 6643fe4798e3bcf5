"""The drawing of super-steps: who runs in which step, between which states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from minilc.course.draw import graphs, look
from minilc.course.draw.drawing import Drawing
from minilc.course.draw.runs import Run

MARGIN, HEAD, ROW, HIGH, LINE, ARROW = 14, 26, 36, 24, 15, 28
LONGEST, MOST = 18, 8  # characters of a name or a line of the state, and lines of a state
NOTE = "reads: the state on its left, or a Send · writes: to the right"


def steps(run: Run, *, title: str | None = None, description: str | None = None) -> Drawing:
    """Draw who ran in which super-step of a run, and the states between the steps.

    Args:
        run: as `record` returns it.
        title: what the drawing shows; if None, made from the run.
        description: the same for people who cannot see it; if None, made from the run.
    """
    states = [_lines(state) for state in run.states]
    title = title or f"A run in {len(run.steps)} step{'' if len(run.steps) == 1 else 's'}"
    lines = [f"before: {_in_words(states[0])}"] if states else []
    for number, (step, state) in enumerate(zip(run.steps, states[1:], strict=True), 1):
        lines += [f"step {number}: {', '.join(map(look.plain, step))}"]
        lines += [f"  then: {_in_words(state)}"]
    description = description or f"{NOTE[0].upper()}{NOTE[1:]}. {'; '.join(map(str.strip, lines))}."
    svg = _Page(run, states).svg(title, description)
    return Drawing(title, description, "\n".join([title, *lines]), svg)


def _lines(state: Any) -> list[str]:
    """A state's keys, each on a short line: what it holds, or how much of it."""
    held = state if isinstance(state, Mapping) else getattr(state, "__dict__", {})
    return [look.one_line(f"{key}: {_short(value)}", 2 * LONGEST) for key, value in held.items()]


def _short(value: Any) -> str:
    if not isinstance(value, list | tuple | set | dict):
        return look.one_line(value, LONGEST)
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        text = ", ".join(value)
        if len(text) <= LONGEST:
            return text
    return f"{len(value)} item{'' if len(value) == 1 else 's'}" if value else "empty"


def _in_words(state: Sequence[str]) -> str:
    return ", ".join(state) or "nothing"


# --- on the page -----------------------------------------------------------------------------


class _Page:
    """Where everything stands: a line for each state, between two lines the nodes of a step."""

    def __init__(self, run: Run, states: list[list[str]]) -> None:
        self.run, self.states = run, [state[:MOST] for state in states]
        self.roles = graphs.parts(run.graph)[0] if run.graph else {}
        names = [look.one_line(name, LONGEST) for step in run.steps for name in step]
        self.box = max((look.width(name, look.SIZE) for name in names), default=0) + 20
        words = [line for state in self.states for line in state]
        label = max((look.width(line, look.SMALL) for line in words), default=0)
        self.left = MARGIN + max(label / 2, 10)
        self.gap = max(self.box + 2 * ARROW, label + 16)
        self.middle = MARGIN + HEAD
        self.bottom = self.middle + ROW * max(map(len, run.steps), default=0)
        last = self._x(max(len(states) - 1, 0)) + max(label / 2, 10)
        self.wide = max(last, MARGIN + look.width(NOTE, look.SMALL)) + MARGIN
        self.high = self.bottom + LINE * (max(map(len, self.states), default=0) + 1) + 28

    def svg(self, title: str, description: str) -> str:
        body = "".join(self._step(number, step) for number, step in enumerate(self.run.steps))
        body += "".join(map(self._state, range(len(self.states))))
        body += look.label(MARGIN, self.high - 10, NOTE, look.SMALL, fill=look.MUTED)
        return look.card(body, self.wide, self.high, title, description)

    def _x(self, state: int) -> float:
        return self.left + self.gap * state

    def _state(self, number: int) -> str:
        """The line of a state, and below it what stands in the state; in bold what is new."""
        x, before = self._x(number), self.states[number - 1] if number else self.states[number]
        place = look.attributes(
            x1=x, x2=x, y1=float(self.middle - 8), y2=float(self.bottom), stroke=look.MUTED,
            stroke_width=2.4,
        )  # fmt: skip
        words = [
            look.label(
                x, self.bottom + LINE * (row + 1), line, look.SMALL, text_anchor="middle",
                font_weight="normal" if line in before else "bold",
            )
            for row, line in enumerate(self.states[number])
        ]  # fmt: skip
        return f"<line{place}/>{''.join(words)}"

    def _step(self, number: int, step: Sequence[str]) -> str:
        """The nodes of a step, one below the other, each between reading and writing."""
        left, right = (self._x(state) for state in (number, number + 1))
        middle = (left + right) / 2
        body = look.label(
            middle, MARGIN + 10, f"step {number + 1}", look.SMALL, text_anchor="middle",
            fill=look.MUTED,
        )  # fmt: skip
        for row, name in enumerate(step):
            y = self.middle + ROW * row + (ROW - HIGH) / 2
            role = look.ROLES[self.roles.get(name, "other")]
            edges = [left + 2, middle - self.box / 2, middle + self.box / 2, right - 2]
            body += "".join(_arrow(*two, y + HIGH / 2) for two in list(pairwise(edges))[::2])
            body += look.box(edges[1], y, self.box, HIGH, role)
            words = look.label(
                middle, y + HIGH / 2 + 4, look.one_line(name, LONGEST), text_anchor="middle",
                stroke="none",
            )  # fmt: skip
            body += words
        return body


def _arrow(left: float, right: float, y: float) -> str:
    line = look.attributes(x1=left, x2=right - 5, y1=y, y2=y, stroke=look.MUTED, stroke_width=1.2)
    tip = f"M {right - 7:.1f} {y - 3.5:.1f} l 7 3.5 l -7 3.5 z"
    return f"<line{line}/><path{look.attributes(d=tip, fill=look.MUTED)}/>"
