"""The drawing of a conversation: who says what to whom, message by message.

What is said is read from the messages of a real run. What lies between two messages (the edge that
sees an unanswered call, the call of the tool) follows from them: a call that has an answer was
routed to the tools and run there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from minilc.course.draw import look
from minilc.course.draw.drawing import Drawing
from minilc.course.draw.runs import messages_of

USER, GRAPH, MODEL, TOOLS = "user", "graph", "model", "ToolNode"
PERSON = "a person"  # who approves
ROLE = {USER: "user", PERSON: "user", GRAPH: "graph", MODEL: "model", TOOLS: "tools"}
MOST_TOOLS = 2  # tools that get a column each; more share one
SHORT = 46  # characters of a label; the whole text is its tooltip


@dataclass(frozen=True)
class Say:
    """One arrow: who says what to whom.

    Args:
        source: who.
        target: to whom.
        text: what, shortened.
        whole: what, in full.
        message: the index in the history of the message that this arrow is, if it is one.
        kind: "call" for a solid arrow, "answer" for a dashed one, "wrong" for what went wrong.
    """

    source: str
    target: str
    text: str
    whole: str = ""
    message: int | None = None
    kind: str = "call"


def sequence(source: Any, *, title: str | None = None, description: str | None = None) -> Drawing:
    """Draw a run, a state or a list of messages as a sequence, in either world's messages.

    What `says` made of them may be given, too, with more said in between.
    """
    if isinstance(source, list) and source and isinstance(source[0], Say):
        said = source
        title = title or f"Sequence of {len(said)} arrows"
    else:
        messages = messages_of(source)
        said = list(says(messages))
        title = title or f"Sequence of {len(messages)} messages"
    people = _people(said)
    lines = [f"{number:>2}. {_in_words(say)}" for number, say in enumerate(said, 1)]
    description = description or f"Who says what to whom: {'; '.join(map(_in_words, said))}."
    svg = _Page(people, said).svg(title, description)
    return Drawing(title, description, "\n".join([title, *lines]), svg)


def _in_words(say: Say) -> str:
    number = "" if say.message is None else f" [{say.message}]"
    return f"{say.source} -> {say.target}{number}: {look.plain(say.text)}"


# --- from messages to what is said -----------------------------------------------------------


def says(messages: Sequence[Any]) -> Iterator[Say]:
    """What is said in a history, in order."""
    calls = {call["id"]: call for one in messages for call in getattr(one, "tool_calls", [])}
    shared = len({call["name"] for call in calls.values()}) > MOST_TOOLS
    answers = {one.tool_call_id: one for one in messages if one.type == "tool"}
    for index, message in enumerate(messages):
        if message.type == "human":
            yield _say(USER, GRAPH, f"HumanMessage {_quoted(message)}", message, index)
        elif message.type == "system":
            yield _say(USER, GRAPH, f"SystemMessage {_quoted(message)}", message, index)
        elif message.type == "tool":
            yield from _answer(message, index, calls.get(message.tool_call_id), shared)
        elif message.type == "ai":
            history = f"history of {index} message{'' if index == 1 else 's'}"
            yield Say(GRAPH, MODEL, f"{history}, tools' schemas" if calls else history)
            yield from _model(message, index, answers)
        last = index + 1 == len(messages)
        if last and message.type == "ai" and not message.tool_calls:
            yield Say(GRAPH, USER, "the state, with every message", kind="answer")


def _model(message: Any, index: int, answers: dict[str, Any]) -> Iterator[Say]:
    invalid = getattr(message, "invalid_tool_calls", [])
    if not message.tool_calls and not invalid:
        yield _say(MODEL, GRAPH, f"AIMessage {_quoted(message)}", message, index, "answer")
    for call in message.tool_calls:
        text = f"AIMessage {_call(call)} {_hash(call['id'])}"
        yield Say(MODEL, GRAPH, text, _full(call), index, "answer")
    for call in invalid:
        text = f"AIMessage, not a valid call: {call.get('name')}({call.get('args')})"
        yield Say(MODEL, GRAPH, text, _full(call), index, "wrong")
    for call in message.tool_calls:
        if call["id"] in answers:
            yield Say(GRAPH, TOOLS, f"{_hash(call['id'])} has no answer yet: to the tools")
        else:
            text = f"{_hash(call['id'])} stays without an answer"
            yield Say(GRAPH, TOOLS, text, _full(call), None, "wrong")


def _answer(message: Any, index: int, call: dict[str, Any] | None, shared: bool) -> Iterator[Say]:
    failed = message.status == "error"
    text = f"ToolMessage {_hash(message.tool_call_id)} {_quoted(message)}"
    if call is None:
        text = f"{text}: an answer to no call"
        yield _say(TOOLS, GRAPH, text, message, index, "wrong")
        return
    # The one error for which no tool is called: there is none of that name.
    if not (failed and "is not a valid tool" in message.text):
        tool = "the tools" if shared else call["name"]
        arguments = json.dumps(call["args"], ensure_ascii=False, default=str)
        name = f"{call['name']}." if shared else ""
        yield Say(TOOLS, tool, f"{name}invoke({arguments})", _full(call))
        outcome = "an error" if failed else _quoted(message)
        yield Say(tool, TOOLS, outcome, message.text, None, "wrong" if failed else "answer")
    error = 'ToolMessage status="error" ' if failed else "ToolMessage "
    text = f"{error}{_hash(message.tool_call_id)} {_quoted(message)}"
    yield _say(TOOLS, GRAPH, text, message, index, "wrong" if failed else "answer")


def _say(source: str, target: str, text: str, message: Any, index: int, kind: str = "call") -> Say:
    return Say(source, target, text, message.text, index, kind)


def _quoted(message: Any) -> str:
    return f'"{look.one_line(message.text, SHORT)}"'


def _call(call: dict[str, Any]) -> str:
    arguments = ", ".join(
        f"{key}={json.dumps(value, ensure_ascii=False, default=str)}"
        for key, value in call["args"].items()
    )
    return f"{call['name']}({arguments})"


def _full(call: dict[str, Any]) -> str:
    return json.dumps(call, ensure_ascii=False, default=str)


def _hash(identifier: Any) -> str:
    return f"#{identifier}"


def _people(said: Sequence[Say]) -> list[str]:
    """Who takes part, from left to right."""
    order = [PERSON, USER, GRAPH, MODEL, TOOLS]
    named = dict.fromkeys(name for say in said for name in (say.source, say.target))
    return [one for one in order if one in named] + [one for one in named if one not in order]


# --- on the page -----------------------------------------------------------------------------

MARGIN, LANE, GAP, HEAD, ROW = 14, 126, 16, 30, 34
KINDS = {
    "call": (look.TEXT, "", 1.4),
    "answer": (look.TEXT, "5 3", 1.4),
    "wrong": (look.WRONG, "5 3", 1.8),
}


class _Page:
    """Where everything stands: a column for each participant, a row for each arrow."""

    def __init__(self, people: Sequence[str], said: Sequence[Say]) -> None:
        self.people = people
        self.said = said
        wide = max([LANE, *(look.width(look.plain(one), look.SIZE) + GAP for one in people)])
        self.x = {one: MARGIN + wide * (number + 0.5) for number, one in enumerate(people)}
        longest = max((look.width(self._text(say), look.SIZE) for say in said), default=0)
        self.wide = max(2 * MARGIN + wide * len(people), longest + 2 * MARGIN)
        self.column = wide - GAP
        self.high = MARGIN * 2 + HEAD + ROW * len(said) + 34

    def svg(self, title: str, description: str) -> str:
        body = "".join(
            [*map(self._lifeline, self.people), *map(self._arrow, range(len(self.said)))]
        )
        note = "[n]: this arrow is message n of the history · dashed: an answer · red: went wrong"
        body += look.label(MARGIN, self.high - 10, note, look.SMALL, fill=look.MUTED)
        return look.card(body, self.wide, self.high, title, description)

    def _lifeline(self, name: str) -> str:
        x, role = self.x[name], look.ROLES[ROLE.get(name, "tool")]
        place = look.attributes(
            x1=x, x2=x, y1=float(MARGIN + HEAD), y2=float(self.high - 28), stroke=look.FAINT
        )
        return (
            f"<line{place}/>"
            + look.box(x - self.column / 2, MARGIN, self.column, HEAD, role)
            + look.label(x, MARGIN + 20, look.plain(name), text_anchor="middle", stroke="none")
        )

    @staticmethod
    def _text(say: Say) -> str:
        number = "" if say.message is None else f"[{say.message}] "
        return f"{number}{look.one_line(say.text, 2 * SHORT)}"

    def _arrow(self, row: int) -> str:
        say = self.said[row]
        colour, dashes, thick = KINDS[say.kind]
        y = float(MARGIN + HEAD + ROW * (row + 1))
        start, end = self.x[say.source], self.x[say.target]
        tip = 7.0 if end > start else -7.0
        line = look.attributes(
            x1=start, x2=end - tip, y1=y, y2=y, stroke=colour, stroke_width=thick,
            stroke_dasharray=dashes,
        )  # fmt: skip
        head = f"{end:.1f},{y:.1f} {end - tip:.1f},{y - 4:.1f} {end - tip:.1f},{y + 4:.1f}"
        text = self._text(say)
        # In the middle of its arrow, as far as it fits on the card.
        half = look.width(text, look.SIZE) / 2
        middle = min(max((start + end) / 2, MARGIN + half), self.wide - MARGIN - half)
        words = look.label(
            middle, y - 8, text, text_anchor="middle",
            fill=look.TEXT if say.kind != "wrong" else look.WRONG,
            font_weight="bold" if say.message is not None else "",
        )  # fmt: skip
        tooltip = f"<title>{look.escape(look.plain(say.whole or say.text))}</title>"
        polygon = f'<polygon points="{head}" fill="{colour}"/>'
        return f"<g>{tooltip}{words}<line{line}/>{polygon}</g>"
