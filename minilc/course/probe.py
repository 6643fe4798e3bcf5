"""The probe: the same inputs for each version that a notebook grows, beside the real thing.

probe = Probe(real.invoke, {"plain arguments": {"city": "北京"}, "a text": "北京"})
result = probe(tool_v0(forecast))
assert result.score == 1
result
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from minilc.course.draw import look
from minilc.course.plain import first_difference, pretty
from minilc.course.twin import SIGNS, Outcome, observe
from minilc.course.worlds import LANGCHAIN

LENGTH = 110  # of an outcome's text
OF_ERROR = 60  # of an error's message

LEFT = "text-align:left"
# The first wrong argument of a ValidationError, and what is wrong with it.
PYDANTIC = re.compile(r"\d+ validation errors? for .*\n(.*)\n *([^\[\n]*[^\[\n ])")


@dataclass(frozen=True)
class Row:
    """What comes out of one input.

    Args:
        input: what the input is called.
        ours: what came out of the version, on one line.
        theirs: what came out of the real thing.
        equal: whether they are equal; errors are compared with their whole message.
    """

    input: str
    ours: str
    theirs: str
    equal: bool


@dataclass(frozen=True, repr=False)
class Probed:
    """What a version makes of every input; it shows itself as a table."""

    rows: tuple[Row, ...]
    aim: str = "LangChain"

    @property
    def score(self) -> int:
        """How many inputs come out as in the real thing."""
        return sum(row.equal for row in self.rows)

    @property
    def _head(self) -> str:
        return f"{self.score} of {len(self.rows)} as in {self.aim}"

    def __repr__(self) -> str:
        wide = max(len(row.input) for row in self.rows)
        lines = [self._head]
        for row in self.rows:
            lines.append(f"{_sign(row)} {row.input:<{wide}}  {row.ours}")
            if not row.equal:
                lines.append(f"{self.aim + ':':>{wide + 2}}  {row.theirs}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        # The last column is there only if something differs.
        heads = ["", "input", "what comes out", *([] if self._all else [f"{self.aim}, if other"])]
        head = "".join(f'<th scope="col" style="{LEFT}">{escape(one)}</th>' for one in heads)
        rows = "".join(self._row(row) for row in self.rows)
        return (
            '<table style="border:1px solid currentColor">'
            f'<caption style="{LEFT};color:inherit"><strong>{escape(self._head)}</strong></caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        )

    @property
    def _all(self) -> bool:
        return self.score == len(self.rows)

    def _row(self, row: Row) -> str:
        values = [row.ours, *([] if self._all else ["" if row.equal else row.theirs])]
        cells = "".join(f'<td style="{LEFT}">{escape(value)}</td>' for value in values)
        name = f'<td style="{LEFT};white-space:nowrap">{escape(row.input)}</td>'
        return f"<tr><td><strong>{_sign(row)}</strong></td>{name}{cells}</tr>"


class Probe:
    """Gives the same inputs to each version, and to the real thing.

    Args:
        real: the function that the versions grow towards, as a rule LangChain's.
        inputs: what to call it with, by a name for the reader.
        aim: what the function is, where it is not LangChain's.
    """

    def __init__(
        self, real: Callable[[Any], Any], inputs: Mapping[str, Any], aim: str = "LangChain"
    ) -> None:
        self.real = real
        self.inputs = dict(inputs)
        self.aim = aim

    def __call__(self, version: Callable[[Any], Any]) -> Probed:
        """Call the version with every input; an error is an outcome like any other."""
        rows = tuple(self._row(version, *item) for item in self.inputs.items())
        return Probed(rows, self.aim)

    def _row(self, version: Callable[[Any], Any], name: str, given: Any) -> Row:
        ours = observe(lambda lc: version(given), LANGCHAIN)
        theirs = observe(lambda lc: self.real(given), LANGCHAIN)
        equal = first_difference(ours.compared, theirs.compared) is None
        return Row(name, _line(ours), _line(theirs), equal)


def _sign(row: Row) -> str:
    return SIGNS["EQUAL" if row.equal else "DIFFERENT"]


def _line(outcome: Outcome) -> str:
    """An outcome on one line; of an error the beginning of its message."""
    if not outcome.raised:
        return look.one_line(pretty(outcome.result, width=10_000), LENGTH)
    message = str(outcome.result.fields.get("", ""))
    if found := PYDANTIC.match(message):
        message = f"{found[1]}: {found[2]}"
    return f"{outcome.result.kind}: {look.one_line(message, OF_ERROR)}"
