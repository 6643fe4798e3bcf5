"""`minilc check --record` and `--against`: what an upgrade of LangChain changed, in words."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from minilc.course import record, terminal
from minilc.course.cases import Case, load
from minilc.course.draw.look import one_line, plain

LENGTH = 300  # of a value


def run(into: str | None, against: str | None, as_json: bool) -> int:
    """Record what is installed, or compare it with a record; the result is the exit status.

    Raises:
        LookupError: there is no such record.
    """
    before = record.read(against) if against else None
    screen = terminal.console(sys.stderr if as_json else None)
    with terminal.progress(screen) as bar:
        task = bar.add_task("recording", total=len(load()))

        def step(case: Case) -> None:
            bar.update(task, advance=1, description=f"layer {case.layer}: {case.title}"[:60])

        now = record.make(step)
    if into:
        record.write(now, Path(into))
        screen.print(f"recorded {_named(now)} in {into}")
    if before is None:
        return 0
    changes = list(record.compare(before, now))
    if as_json:
        told = [dataclasses.asdict(one) for one in changes]
        print(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        _print(screen, before, now, changes)
    return 1 if changes else 0


def _named(made: dict[str, Any]) -> str:
    return ", ".join(f"{name} {version}" for name, version in made["versions"].items())


def _print(
    screen: Any, before: dict[str, Any], now: dict[str, Any], changes: Sequence[record.Change]
) -> None:
    from rich.text import Text

    screen.print(f"recorded:  {_named(before)}")
    screen.print(f"installed: {_named(now)}")
    for layer, group in groupby(changes, lambda one: one.layer):
        screen.print()
        screen.print(Text(layer or "functions that the articles name", style="bold"))
        for one in group:
            screen.print(Text(f"  {plain(one.title)}{f' ({one.path})' if one.path else ''}"))
            if one.kind != record.BODIES:
                screen.print(Text(f"    before: {one_line(one.before, LENGTH)}", style="red"))
                screen.print(Text(f"    now:    {one_line(one.after, LENGTH)}", style="green"))
    screen.print()
    screen.print(f"{len(changes) or 'no'} change{'' if len(changes) == 1 else 's'}")
