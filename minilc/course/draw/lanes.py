"""The drawing of what ran beside what: a lane for each call, its beginning and its end in order.

    lanes = draw.Lanes()
    with lanes.run("北京"):        # in each tool: what stands inside is the bar of its lane
        ...
    lanes.drawing("Two calls", answers=["北京", "上海"])

Only order is kept and drawn, never a time: the same run gives the same picture.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from minilc.course.draw import look
from minilc.course.draw.drawing import Drawing

BEGINS, ENDS, FAILS = "begins", "ends", "fails"
TITLE = "What ran beside what"


@dataclass(repr=False)
class Lanes:
    """Keeps the order in which calls begin and end, from whatever threads or tasks they run in.

    Args:
        events: the lane and what happened in it, in order.
    """

    events: list[tuple[str, str]] = field(default_factory=list)

    @contextmanager
    def run(self, lane: str) -> Iterator[None]:
        """Mark the block's beginning and end in a lane; each lane has one block."""
        self.events.append((lane, BEGINS))
        end = FAILS
        try:
            yield
            end = ENDS
        finally:
            self.events.append((lane, end))

    @property
    def began(self) -> list[str]:
        """The lanes in the order in which they began."""
        return [lane for lane, what in self.events if what == BEGINS]

    @property
    def ended(self) -> list[str]:
        """The lanes in the order in which they ended, or failed."""
        return [lane for lane, what in self.events if what != BEGINS]

    def drawing(self, title: str = TITLE, answers: Sequence[str] = ()) -> Drawing:
        """The lanes as a picture; `answers` names lanes in the order of their answers."""
        lines = [f"{number}. {lane} {what}" for number, (lane, what) in enumerate(self.events, 1)]
        lines += [f"answer {number}: {lane}" for number, lane in enumerate(answers, 1)]
        lines = list(map(look.plain, lines))
        description = f"In this order: {'; '.join(lines)}."
        svg = _Page(self, answers).svg(title, description)
        return Drawing(title, description, "\n".join([title, *lines]), svg)

    def __repr__(self) -> str:
        return self.drawing().text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        return self.drawing()._repr_mimebundle_(include, exclude)


# --- on the page -----------------------------------------------------------------------------

MARGIN, STEP, ROW, HEAD, BAR, GAP = 14, 64, 38, 30, 22, 16
LONGEST = 24  # characters of a lane's name
# How the bar looks, and what it says, after the last event of its lane.
STATES = {BEGINS: ("pending", "still runs"), ENDS: ("tools", "runs"), FAILS: ("wrong", "fails")}


class _Page:
    """Where everything stands: a row for each lane, a column for each event."""

    def __init__(self, lanes: Lanes, answers: Sequence[str]) -> None:
        self.events, self.answers = lanes.events, list(answers)
        self.rows = {lane: number for number, lane in enumerate(dict.fromkeys(lanes.began))}
        names = max((look.width(_name(lane), look.SIZE) for lane in self.rows), default=0)
        self.left = MARGIN + names + GAP
        self.right = self.left + STEP * max(len(self.events) - 1, 1) + GAP
        self.note = "from left to right: what came first · no distance is a time · red: failed"
        wide = self.right + (look.width("answer 10", look.SIZE) if self.answers else 0)
        self.wide = max(wide, look.width(self.note, look.SMALL) + MARGIN) + MARGIN
        self.bottom = MARGIN + HEAD + ROW * len(self.rows)
        self.high = self.bottom + 34

    def svg(self, title: str, description: str) -> str:
        columns = "".join(map(self._column, range(len(self.events))))
        body = columns + "".join(map(self._lane, self.rows))
        body += look.label(MARGIN, self.high - 10, self.note, look.SMALL, fill=look.MUTED)
        return look.card(body, self.wide, self.high, title, description)

    def _x(self, event: int) -> float:
        return self.left + STEP * event

    def _column(self, event: int) -> str:
        x = self._x(event)
        place = look.attributes(
            x1=x, x2=x, y1=float(MARGIN + HEAD - 8), y2=float(self.bottom), stroke=look.FAINT,
            stroke_dasharray="2 3",
        )  # fmt: skip
        number = look.label(
            x, MARGIN + 14, str(event + 1), look.SMALL, text_anchor="middle", fill=look.MUTED
        )
        return f"<line{place}/>{number}"

    def _lane(self, lane: str) -> str:
        moments = [number for number, event in enumerate(self.events) if event[0] == lane]
        begin, end, what = moments[0], moments[-1], self.events[moments[-1]][1]
        if what == BEGINS:  # it has no end yet: the bar goes on to the edge
            end = len(self.events) - 1
        left, right = self._x(begin), max(self._x(end), self._x(begin) + STEP / 2)
        top = MARGIN + HEAD + ROW * self.rows[lane] + (ROW - BAR) / 2
        base = top + BAR / 2 + 4
        role, text = STATES[what]
        bar = look.box(left, top, right - left, BAR, look.ROLES[role])
        words = look.label(
            (left + right) / 2, base, text, look.SMALL, text_anchor="middle", stroke="none",
            fill=look.WRONG if what == FAILS else look.TEXT,
        )  # fmt: skip
        said = f"<g><title>{look.escape(look.plain(lane))}</title>{bar}{words}</g>"
        said += look.label(MARGIN, base, _name(lane))
        if lane in self.answers:
            answer = f"answer {self.answers.index(lane) + 1}"
            said += look.label(self.right, base, answer, font_weight="bold")
        return said


def _name(lane: str) -> str:
    return look.one_line(lane, LONGEST)
