"""The drawing of conditional edges: their exits, numbered in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from minilc.course.draw import look
from minilc.course.draw.drawing import Drawing

Exits = Mapping[int, tuple[str, str]]  # by number: what must be so, and where it leads
Taken = tuple[str, int]  # an edge and the exit that it took

MARGIN, HEAD, ROW, HIGH, BETWEEN, NUMBER = 14, 28, 34, 24, 46, 26
LONGEST = 64  # characters of a condition or a destination
NOTE = "an edge tries its exits from top to bottom and takes the first that fits"


def exits(
    edges: Mapping[str, Exits],
    taken: Iterable[Taken] = (),
    *,
    title: str | None = None,
    description: str | None = None,
) -> Drawing:
    """Draw the numbered exits of conditional edges, and those that a run took.

    Args:
        edges: by an edge's name its exits.
        taken: the edges and the numbers of the exits that were taken, in order.
        title: what the drawing shows; if None, made from the edges.
        description: the same for people who cannot see it; if None, made from the exits.

    Raises:
        LookupError: an exit was taken that is not there.
    """
    route = list(taken)
    for edge, number in route:
        if number not in edges.get(edge, {}):
            raise LookupError(f"there is no exit {number!r} of {edge!r}")
    title = title or f"The exits of {' and '.join(map(look.plain, edges)) or 'no edge'}"
    lines = []
    for edge, ways in edges.items():
        lines.append(f"{look.plain(edge)}:")
        lines += [_in_words(way, _times(route, (edge, number))) for number, way in _rows(ways)]
    description = description or f"{NOTE.capitalize()}. {' '.join(lines)}"
    svg = _page(edges, route, title, description)
    return Drawing(title, description, "\n".join([title, *lines]), svg)


def _rows(ways: Exits) -> list[tuple[int, tuple[str, str, str]]]:
    """The exits in order: number, condition and destination as they are shown."""
    rows = []
    for number, (condition, to) in ways.items():
        words = (look.one_line(condition, LONGEST), look.one_line(to, LONGEST))
        rows.append((number, (str(number), *words)))
    return rows


def _times(route: Sequence[Taken], way: Taken) -> str:
    """When an exit was taken, counted over all that were."""
    times = [str(time) for time, one in enumerate(route, 1) if one == way]
    return f"taken {', '.join(times)}" if times else ""


def _in_words(row: tuple[str, str, str], taken: str) -> str:
    number, condition, to = row
    mark = "*" if taken else " "
    return f"{mark} {number}. {condition} -> {to}{f'  [{taken}]' if taken else ''}"


# --- on the page -----------------------------------------------------------------------------


def _page(edges: Mapping[str, Exits], route: Sequence[Taken], title: str, description: str) -> str:
    rows = [row for ways in edges.values() for _, row in _rows(ways)]
    left = MARGIN + NUMBER
    second = left + _widest([row[1] for row in rows]) + BETWEEN
    third = second + _widest([row[2] for row in rows])
    marks = [_times(route, (edge, number)) for edge, ways in edges.items() for number in ways]
    noted = MARGIN + look.width(NOTE, look.SMALL)
    wide = max(third + max(map(_width, marks), default=0), noted) + MARGIN
    body, y = "", float(MARGIN)
    for edge, ways in edges.items():
        name = look.one_line(edge, LONGEST)
        body += look.label(MARGIN, y + 14, name, font_weight="bold", stroke="none")
        y += HEAD
        for number, row in _rows(ways):
            body += _exit(y, row, (left, second, third), _times(route, (edge, number)), bool(route))
            y += ROW
    body += look.label(MARGIN, y + 14, NOTE, look.SMALL, fill=look.MUTED)
    return look.card(body, wide, y + 14 + MARGIN, title, description)


def _exit(
    y: float,
    row: tuple[str, str, str],
    columns: tuple[float, float, float],
    taken: str,
    has_route: bool,
) -> str:
    """A row: the number, the condition, and the way to the destination."""
    left, second, third = columns
    number, condition, to = row
    middle = y + HIGH / 2
    quiet = look.MUTED if has_route and not taken else look.TEXT
    words = look.label(MARGIN, middle + 4, number, font_weight="bold", fill=quiet, stroke="none")
    words += look.label(left, middle + 4, condition, fill=quiet, stroke="none")
    line = look.attributes(
        x1=left + look.width(condition, look.SIZE) + 6, x2=second - 8, y1=middle, y2=middle,
        stroke=look.TAKEN if taken else look.FAINT, stroke_width=2.4 if taken else 1.1,
        stroke_dasharray="" if taken else "5 3",
    )  # fmt: skip
    tip = f"M {second - 9:.1f} {middle - 4:.1f} l 8 4 l -8 4 z"
    head = f"<path{look.attributes(d=tip, fill=look.TAKEN if taken else look.FAINT)}/>"
    role = look.ROLES[_role(to)]
    box = look.box(second, y, third - second, HIGH, role, stroke_width=2.2 if taken else 1.2)
    end = look.label(second + 10, middle + 4, to, stroke="none")
    mark = look.label(third + 10, middle + 4, taken, fill=look.TAKEN, stroke="none")
    return f"<line{line}/>{head}{box}{words}{end}{mark if taken else ''}"


def _role(to: str) -> str:
    """A destination is coloured as the node that it begins with."""
    first = to.split(",")[0].split(" ")[0]
    return {"END": "end", "tools": "tools", "model": "model"}.get(first, "other")


def _widest(texts: Sequence[str]) -> float:
    return max(map(_width, texts), default=0)


def _width(text: str) -> float:
    return look.width(text, look.SIZE) + 20 if text else 0
