"""The probe: the same inputs for each version that a notebook grows, beside the real thing.

probe = Probe(real.invoke, {"plain arguments": {"city": "北京"}, "a text": "北京"})
result = probe(tool_v0(forecast))
assert result.score == 1
result
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from minilc.course.draw import look
from minilc.course.plain import first_difference, pretty
from minilc.course.twin import PRE, SIGNS, Outcome, observe
from minilc.course.worlds import LANGCHAIN

LENGTH = 88  # of an outcome's text


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

    @property
    def score(self) -> int:
        """How many inputs come out as in the real thing."""
        return sum(row.equal for row in self.rows)

    @property
    def _head(self) -> str:
        return f"{self.score} of {len(self.rows)} as in LangChain"

    def __repr__(self) -> str:
        wide = max(len(row.input) for row in self.rows)
        lines = [self._head]
        for row in self.rows:
            lines.append(f"{_sign(row)} {row.input:<{wide}}  {row.ours}")
            if not row.equal:
                lines.append(f"{'LangChain:':>{wide + 2}}  {row.theirs}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><td><strong>{_sign(row)}</strong></td><td style="text-align:left">'
            f"{escape(row.input)}</td>{_cell(row.ours)}"
            f"{_cell('' if row.equal else row.theirs)}</tr>"
            for row in self.rows
        )
        heads = "".join(
            f'<th scope="col" style="text-align:left">{head}</th>'
            for head in ("", "input", "what comes out", "LangChain, if it differs")
        )
        return (
            '<table style="border:1px solid currentColor">'
            '<caption style="text-align:left;color:inherit">'
            f"<strong>{self._head}</strong></caption>"
            f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
        )


class Probe:
    """Gives the same inputs to each version, and to the real thing.

    Args:
        real: the function of LangChain that the versions grow towards.
        inputs: what to call it with, by a name for the reader.
    """

    def __init__(self, real: Callable[[Any], Any], inputs: Mapping[str, Any]) -> None:
        self.real = real
        self.inputs = dict(inputs)

    def __call__(self, version: Callable[[Any], Any]) -> Probed:
        """Call the version with every input; an error is an outcome like any other."""
        return Probed(tuple(self._row(version, *item) for item in self.inputs.items()))

    def _row(self, version: Callable[[Any], Any], name: str, given: Any) -> Row:
        ours = observe(lambda lc: version(given), LANGCHAIN)
        theirs = observe(lambda lc: self.real(given), LANGCHAIN)
        equal = first_difference(ours.compared, theirs.compared) is None
        return Row(name, _line(ours), _line(theirs), equal)


def _sign(row: Row) -> str:
    return SIGNS["EQUAL" if row.equal else "DIFFERENT"]


def _cell(text: str) -> str:
    return f'<td style="text-align:left"><pre style="{PRE}">{escape(text)}</pre></td>'


def _line(outcome: Outcome) -> str:
    """An outcome on one line; of an error the beginning of its message."""
    if not outcome.raised:
        return look.one_line(pretty(outcome.result, width=10_000), LENGTH)
    message = look.one_line(outcome.result.fields.get("", ""), LENGTH // 2)
    return f"{outcome.result.kind}: {message}"
