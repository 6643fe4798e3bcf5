"""What a layer leaves out, does otherwise, and what upstream itself changed in it.

left_out("base")
"""

from __future__ import annotations

import html
import importlib
import inspect
from collections.abc import Iterable, Sequence

from minilc.course.behaviours import BEHAVIOURS
from minilc.course.divergences import DIVERGENCES
from minilc.course.exercises import Note
from minilc.course.layers import layer

LEAVES_OUT = "Leaves out "


def left_out(key: int | str) -> Note:
    """The rows of a layer (its number, module or notebook), as a notebook shows them."""
    row = layer(key)
    parts = [f"**minilc leaves out** {_leaves_out(row.dotted)}"]
    if differs := [one for one in DIVERGENCES if one.layer == row.number]:
        head = ("minilc differs", "LangChain", "minilc", "why")
        parts.append(_table(head, [(f"`{r.id}`", r.upstream, r.minilc, r.why) for r in differs]))
    if changed := [one for one in BEHAVIOURS if one.layer == row.number]:
        head = ("LangChain changed", "what", "before", "since then, and minilc")
        rows = [(f"`{r.id}`, {r.package} {r.since}", r.what, r.old, r.new) for r in changed]
        parts.append(_table(head, rows))
    return Note("\n\n".join(parts))


def _leaves_out(module: str) -> str:
    """The sentence of a module's docstring that says what is not in it."""
    text = inspect.cleandoc(importlib.import_module(module).__doc__ or "")
    sentence = text.partition(LEAVES_OUT)[2].partition("\n\n")[0]
    return " ".join(sentence.split()) or "nothing."


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *([_cell(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    """Text that stays text in a Markdown table: `<name>` is no tag, `|` ends no cell."""
    # Between backticks an entity would be shown as it is written; the ids have nothing to escape.
    return html.escape(text, quote=False).replace("|", r"\|")
