"""The stepper: a run as frames, one a step, and the first place where two runs differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from minilc.course import draw
from minilc.course.draw import look
from minilc.course.draw.ledgers import ANSWERED, FAILED, Entry
from minilc.course.draw.runs import END, START, Run, messages_of
from minilc.course.plain import ABSENT, Difference, Reader, first_difference, pretty

MOST = 160  # characters of a value on the page


@dataclass(frozen=True)
class Frame:
    """Where a run stands.

    Args:
        active: the nodes that have just run; START before the first step, END after the last, and
            none where an interrupt has stopped it.
        route: the steps so far.
        messages: the history as it is now.
        new: the indices in it of the messages that this step brought.
        changes: what this step changed in the state, in words.
        books: every call so far and its answers.
    """

    active: list[str]
    route: list[list[str]]
    messages: list[Any]
    new: list[int] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)
    books: list[Entry] = field(default_factory=list)

    @property
    def open(self) -> list[Entry]:
        """The calls and answers that are not in order, pending ones among them."""
        return [one for one in self.books if one.status not in (ANSWERED, FAILED)]


def frames(run: Run) -> list[Frame]:
    """The frames of a run: its input, each step, and its end or what it waits for."""
    made = []
    for number, state in enumerate(run.states):
        before = run.states[number - 1] if number else None
        active = run.steps[number - 1] if number else [START]
        made.append(_frame(active, run.steps[:number], before, state))
    last = _frame([] if run.paused else [END], run.steps, run.state, run.state)
    waits = [f"it waits for an answer to {_short(asked)}" for asked in run.asked]
    return [*made, replace(last, changes=waits)]


def _frame(active: list[str], route: list[list[str]], before: Any, state: Any) -> Frame:
    messages, old = _history(state), _history(before)
    new = [number for number, one in enumerate(messages) if one not in old]
    changed = changes(before, state)
    return Frame(active, route, messages, new, changed, draw.entries(messages))


def _history(state: Any) -> list[Any]:
    """The messages of a state; none, if what it calls so are no messages."""
    messages = messages_of(state)
    return messages if all(hasattr(one, "type") for one in messages) else []


def changes(before: Any, after: Any) -> list[str]:
    """What a step changed: for each key that is other than before, its old and new value."""
    reader = Reader()
    old, new = reader.read(before or {}), reader.read(after or {})
    if not isinstance(old, dict) or not isinstance(new, dict):
        return [] if first_difference(old, new) is None else [f"{_short(old)} → {_short(new)}"]
    told = []
    for key in dict.fromkeys([*old, *new]):
        was, now = old.get(key, ABSENT), new.get(key, ABSENT)
        if first_difference(was, now) is not None:
            told.append(f"{key}: {_change(was, now)}")
    return told


def _change(was: Any, now: Any) -> str:
    was = [] if was is ABSENT and isinstance(now, list) else was
    if not isinstance(was, list) or not isinstance(now, list):
        return f"{_short(was)} → {_short(now)}"
    if first_difference(was, now[: len(was)]) is None:
        kinds = [getattr(one, "kind", None) or _short(one) for one in now[len(was) :]]
        return f"+ {', '.join(kinds)}"
    return f"{len(was)} → {len(now)}, not only appended"


def _short(value: Any) -> str:
    return look.one_line(pretty(value, width=10_000), MOST)


def drawing(run: Run, frame: Frame) -> draw.Drawing:
    """The graph with the route so far and the node that is active."""
    return draw.graph(run.graph, taken=frame.route, active=frame.active)


def differs(run: Run, other: Run) -> tuple[int, Difference] | None:
    """The first step after which two runs differ, and where; None if they are equal.

    Both are read as `twin` reads: generated ids and the worlds' modules make no difference.
    """
    found = first_difference(_plain(run), _plain(other))
    if found is None:
        return None
    step, *path = found.path
    inside = tuple(path[1:]) if path[:1] == ["['state']"] else tuple(path)
    return int(step.strip("[]")), replace(found, path=inside)


def _plain(run: Run) -> list[Any]:
    reader = Reader()
    ran = [[], *(sorted(step) for step in run.steps)]
    read = [reader.read(state) for state in run.states]
    steps = [{"nodes": nodes, "state": state} for nodes, state in zip(ran, read, strict=True)]
    return [*steps, {"asked": reader.read(run.asked)}]


def labels(runs: Sequence[Run]) -> list[str]:
    """What to call runs: by their worlds, and by number where those are the same."""
    worlds = [_world(run) for run in runs]
    if len(set(worlds)) == len(worlds):
        return worlds
    return [f"{world}, run {number}" for number, world in enumerate(worlds, 1)]


def _world(run: Run) -> str:
    ours = type(run.graph).__module__.partition(".")[0] == "minilc"
    return "minilc" if ours else "LangChain"
