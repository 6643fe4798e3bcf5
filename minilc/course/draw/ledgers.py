"""The drawing of a history's books: every tool call, and what answered it, by id."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from minilc.course.draw import look
from minilc.course.draw.drawing import Drawing
from minilc.course.draw.runs import messages_of

ANSWERED, FAILED, PENDING = "answered", "answered with an error", "pending"
ORPHAN, DUPLICATE, INVALID = "orphan", "duplicate", "invalid"
WHAT = {
    PENDING: "no answer yet",
    ORPHAN: "no call has this id",
    INVALID: "arguments that do not parse: nobody runs it, nobody answers",
}


@dataclass
class Entry:
    """A line of the books: a call, its answers, and what became of it.

    Args:
        id: the call's id.
        call: the call; None for an answer to no call.
        asked: the index of the message that holds the call.
        answers: the ToolMessages with this id, with their indices.
        status: one of the words above.
        reason: why the status is not a good one.
    """

    id: str
    call: dict[str, Any] | None = None
    asked: int | None = None
    answers: list[tuple[int, Any]] = field(default_factory=list)
    status: str = PENDING
    reason: str = ""

    @property
    def verdict(self) -> str:
        """The status, and the reason if there is one."""
        return f"{self.status}: {self.reason}" if self.reason else self.status


def entries(source: Any) -> list[Entry]:
    """The books of a run, a state or a list of messages: one entry a call, in order."""
    made: list[Entry] = []
    for index, message in enumerate(messages_of(source)):
        for call in getattr(message, "tool_calls", []):
            made.append(Entry(str(call["id"]), call, index))
        for call in getattr(message, "invalid_tool_calls", []):
            made.append(Entry(str(call["id"]), call, index, status=INVALID))
        if message.type == "tool":
            _post(made, index, message)
    for entry in made:
        _judge(entry, made)
    return made


def _post(made: list[Entry], index: int, message: Any) -> None:
    """Put an answer to its call: the first of that id that waits, else the last of that id."""
    asked = [one for one in made if one.id == str(message.tool_call_id)]
    waiting = [one for one in asked if not one.answers]
    if not asked:
        asked = [Entry(str(message.tool_call_id), status=ORPHAN)]
        made += asked
    (waiting or asked[-1:])[0].answers.append((index, message))


def _judge(entry: Entry, made: list[Entry]) -> None:
    same_id = sum(one.id == entry.id and one.call is not None for one in made)
    if entry.status in (INVALID, ORPHAN):
        pass
    elif len(entry.answers) > 1:
        entry.status, entry.reason = DUPLICATE, f"{len(entry.answers)} answers to one call"
    elif same_id > 1:
        entry.status, entry.reason = DUPLICATE, f"{same_id} calls have this id"
    elif entry.answers:
        failed = entry.answers[0][1].status == "error"
        entry.status = FAILED if failed else ANSWERED
    entry.reason = entry.reason or WHAT.get(entry.status, "")


def ledger(source: Any, *, title: str | None = None, description: str | None = None) -> Drawing:
    """Draw the calls and answers of a run, a state or a list of messages, in either world's."""
    books = entries(source)
    open_ones = [one for one in books if one.status not in (ANSWERED, FAILED)]
    found = f", {len(open_ones)} of them not in order" if open_ones else ""
    title = title or f"Ledger of {len(books)} tool calls{found}"
    lines = [_in_words(entry) for entry in books]
    description = description or f"Every call and its answer. {'; '.join(lines) or 'No calls'}."
    svg = _page(books, title, description)
    return Drawing(title, description, "\n".join([title, *lines]), svg)


def _in_words(entry: Entry) -> str:
    answers = ", ".join(_answer(number, one) for number, one in entry.answers) or "nothing"
    return f"#{look.plain(entry.id)} {_asked(entry)} -> {answers}: {entry.verdict}"


def _asked(entry: Entry) -> str:
    if entry.call is None:
        return "no call"
    arguments = entry.call["args"]
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False, default=str)
    return f"[{entry.asked}] {look.plain(entry.call['name'])} {look.one_line(arguments, 46)}"


def _answer(index: int, message: Any) -> str:
    return f'[{index}] "{look.one_line(message.text, 46)}"'


# --- on the page -----------------------------------------------------------------------------

MARGIN, HEAD, ROW, HIGH, BETWEEN = 14, 26, 12, 40, 90
LOOKS = {
    ANSWERED: "tools",
    FAILED: "wrong",
    PENDING: "pending",
    ORPHAN: "wrong",
    DUPLICATE: "wrong",
    INVALID: "wrong",
}


def _page(books: Sequence[Entry], title: str, description: str) -> str:
    asked = [(f"#{look.plain(one.id)}", _asked(one)) for one in books]
    answers = [_cells(one) for one in books]
    left = _widest([*asked, ("calls: AIMessage.tool_calls", "")])
    right = _widest([cell for cells in answers for cell in cells] + [("answers: ToolMessage", "")])
    second = MARGIN + left + BETWEEN
    body = look.label(MARGIN, MARGIN + 12, "calls: AIMessage.tool_calls", fill=look.MUTED)
    body += look.label(second, MARGIN + 12, "answers: ToolMessage", fill=look.MUTED)
    y = float(MARGIN + HEAD)
    for entry, words, cells in zip(books, asked, answers, strict=True):
        body += _cell(MARGIN, y, left, words, entry.call is not None, "model", entry)
        asked_at = y + HIGH / 2
        for cell in cells:
            body += _line(MARGIN + left, asked_at, second, y + HIGH / 2, entry)
            role = LOOKS[entry.status]
            body += _cell(second, y, right, cell, bool(entry.answers), role, entry)
            y += HIGH + ROW
    note = "" if books else "no tool call in this history"
    body += look.label(MARGIN, y + 8, note, fill=look.MUTED)
    high = y + (MARGIN if books else 2 * MARGIN)
    return look.card(body, second + right + MARGIN, high, title, description)


def _cells(entry: Entry) -> list[tuple[str, str]]:
    """What stands on the right of an entry: its answers, each with what became of the call."""
    said = [(entry.verdict, _answer(number, one)) for number, one in entry.answers]
    return said or [(entry.verdict, "")]


def _widest(cells: Sequence[tuple[str, str]]) -> float:
    return max(look.width(text, look.SIZE) for cell in cells for text in cell) + 20


def _cell(
    x: float,
    y: float,
    wide: float,
    words: tuple[str, str],
    there: bool,
    role: str,
    entry: Entry,
) -> str:
    """A box of two lines; dashed if what should be in it is missing."""
    colours = look.ROLES[role if there or entry.status == INVALID else LOOKS[entry.status]]
    shape = look.box(x, y, wide, HIGH, colours, stroke_dasharray="" if there else "5 3")
    first, second = words
    text = look.label(x + 10, y + (17 if second else 25), first, font_weight="bold", stroke="none")
    if second:
        text += look.label(x + 10, y + 33, second, stroke="none")
    return shape + text


def _line(start: float, asked_at: float, end: float, answered_at: float, entry: Entry) -> str:
    good = entry.status in (ANSWERED, FAILED)
    place = look.attributes(
        x1=start, x2=end, y1=asked_at, y2=answered_at,
        stroke=look.TEXT if good else look.ROLES[LOOKS[entry.status]].edge,
        stroke_width=1.4 if good else 1.8, stroke_dasharray="" if good else "5 3",
    )  # fmt: skip
    return f"<line{place}/>"
