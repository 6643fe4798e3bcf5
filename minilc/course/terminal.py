"""One console for all commands: colour and bars on a terminal, plain text elsewhere."""

from __future__ import annotations

import os
import sys
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

PLAIN_WIDTH = 120  # where there is no terminal that has a width


def survive_any_code_page() -> None:
    """Let standard output and error print any text: what their code page lacks becomes `?`."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def console(file: IO[str] | None = None) -> Console:
    """A console on standard output, or on another file."""
    from rich.console import Console

    made = Console(file=file, highlight=False)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = PLAIN_WIDTH
    return made


def table(*columns: str, numbers: int = 0, title: str | None = None) -> Any:
    """A table in the style of all commands: names first, its last `numbers` columns are numbers."""
    from rich import box
    from rich.table import Table

    made = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for index, column in enumerate(columns):
        if index >= len(columns) - numbers:
            made.add_column(column, justify="right", no_wrap=True)
        else:
            made.add_column(column, overflow="fold", no_wrap=index == 0)
    return made


def progress(shown_on: Console) -> Progress:
    """A progress bar that is drawn on a terminal alone, and goes away when it is done."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=shown_on,
        transient=True,
        disable=not shown_on.is_terminal,
    )
