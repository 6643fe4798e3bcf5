"""How a notebook reads, in numbers: its cells, their lines and words, its asserts, its seconds."""

from __future__ import annotations

import ast
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode
from rich.table import Table

from minilc.course import executor, notebooks, terminal
from minilc.course.listings import Listing

# What a notebook aims at: the lowest and highest value of each measure. Listings, whose text is the
# module's, count as cells but not for their lines; the header's words do not count.
TARGETS: dict[str, tuple[float, float]] = {
    "cells": (20, 45),  # of code
    "lines": (2.5, 4.5),  # of a code cell, median
    "most": (1, 25),  # lines of the longest
    "words": (15, 40),  # of a prose cell, median
    "wordiest": (0, 120),
    "in a row": (1, 2),  # code cells without prose between them
    "asserts": (10, 1000),
    "seconds": (0, 10),
}


@dataclass
class Measured:
    """One notebook's measures, by the names of `TARGETS`."""

    name: str
    values: dict[str, float]

    @property
    def missed(self) -> list[str]:
        """The names of the targets that are missed."""
        return [
            name
            for name, (low, high) in TARGETS.items()
            if name in self.values and not low <= self.values[name] <= high
        ]


def measure(name: str, notebook: NotebookNode) -> Measured:
    """Measure a built notebook; how long it runs is added by whoever runs it."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    own = [cell.source for cell in code if Listing.of_cell(cell.source) is None]
    # The header lists what one needs to know before; it is longer than prose.
    prose = [cell.source for cell in notebook.cells[1:] if cell.cell_type == "markdown"]
    lines = [_lines(text) for text in own] or [0]
    words = [count for text in prose if (count := _words(text))] or [0]
    return Measured(
        name,
        {
            "cells": len(code),
            "lines": statistics.median(lines),
            "most": max(lines),
            "words": statistics.median(words),
            "wordiest": max(words),
            "in a row": _longest_row(notebook),
            "asserts": sum(_asserts(text) for text in own),
        },
    )


def _lines(text: str) -> int:
    return sum(1 for line in text.splitlines() if line.strip())


def _words(text: str) -> int:
    """The words of a prose cell, without headings, tables, code blocks and folded details."""
    text = re.sub(r"```.*?```|<details>.*?</details>", "", text, flags=re.DOTALL)
    kept = [line for line in text.splitlines() if not line.lstrip().startswith(("#", "|"))]
    text = re.sub(r"\]\([^)]*\)|<[^>]*>", " ", "\n".join(kept))
    chinese = re.findall(r"[\u4e00-\u9fff]", text)
    others = re.findall(r"[^\W_]+(?:[\w.'’()-]*[^\W_])?", re.sub(r"[\u4e00-\u9fff]", " ", text))
    return len(others) + len(chinese) // 2


def _longest_row(notebook: NotebookNode) -> int:
    longest = row = 0
    for cell in notebook.cells:
        row = row + 1 if cell.cell_type == "code" else 0
        longest = max(longest, row)
    return longest


def _asserts(text: str) -> int:
    plain = "\n".join(
        line for line in text.splitlines() if not line.lstrip().startswith(("%", "!"))
    )
    tree = ast.parse(plain)
    return sum(isinstance(node, ast.Assert) for node in ast.walk(tree))


def run(names: Sequence[str], root: Path = notebooks.ROOT) -> int:
    """Print the measures of notebooks beside their targets; 1 if one is missed."""
    built = {name: notebooks.read_source(name, root) for name in names}
    measured = {name: measure(name, notebook) for name, notebook in built.items()}
    jobs = [
        executor.Job(name, [c.source for c in book.cells if c.cell_type == "code"], str(root))
        for name, book in built.items()
    ]
    failed: list[str] = []
    with notebooks.Progress("style", len(jobs)) as progress:
        for result in executor.execute(jobs, workers=1):
            measured[result.name].values["seconds"] = result.seconds
            if result.error is not None:
                failed.append(f"{result.name}: fails when it is run, {result.error}")
            progress.step(result.name, result.seconds, failed=result.error is not None)
    terminal.console().print(_table(list(measured.values())))
    missed = [f"{one.name}: {', '.join(one.missed)}" for one in measured.values() if one.missed]
    missed += failed
    print("\n".join(["missed:", *missed]) if missed else "every target met")
    return 1 if missed else 0


def _table(measured: Sequence[Measured]) -> Table:
    table: Table = terminal.table("notebook", *TARGETS, numbers=len(TARGETS))
    table.add_row(
        "target", *(f"{low:g} to {high:g}" for low, high in TARGETS.values()), style="dim"
    )
    for one in measured:
        cells = [
            f"[bold red]{value:g}[/]" if name in one.missed else f"{value:g}"
            for name, value in one.values.items()
        ]
        table.add_row(one.name, *cells)
    return table
