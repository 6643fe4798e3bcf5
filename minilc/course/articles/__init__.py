"""The articles, audited: `minilc articles` runs every claim of both on the installed LangChain."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from minilc.course.articles import ledger
from minilc.course.articles.ledger import Claim, Result
from minilc.course.articles.view import counted, show
from minilc.course.draw.look import one_line

__all__ = ["add_parser", "as_dict", "ledger", "markdown", "run", "show", "summary"]

COLOURS = {ledger.HOLDS: "green", ledger.NUANCE: "yellow", ledger.CHANGED: "cyan"}


def add_parser(subparsers: Any) -> None:
    """Add the command to minilc's command line."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "articles",
        help="run every claim of the articles on the installed LangChain",
        description="Run every claim of both articles on the installed LangChain, and say which "
        "hold. Status 1: a verdict is another one than was recorded.",
    )
    parser.add_argument("claim", nargs="*", help="A, B, A-74, or words of a section; all if none")
    parser.add_argument(
        "--changed", action="store_true", help="only verdicts that differ from the recorded ones"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="print Markdown")
    form.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command; the result is the exit status."""
    from minilc.course import terminal

    console = terminal.console()
    chosen = _chosen(arguments.claim)
    results = []
    with terminal.progress(console) as bar:
        task = bar.add_task("claims", total=len(chosen))
        for one in chosen:
            results.append(one.run())
            bar.advance(task)
    shown = [one for one in results if not (arguments.changed and one.as_recorded)]
    if arguments.json:
        print(json.dumps([as_dict(one) for one in shown], ensure_ascii=False, indent=2))
    elif arguments.markdown:
        print(markdown(shown))
    else:
        _print(console, shown)
        console.print(summary(results))
    return 0 if all(one.as_recorded for one in results) else 1


def _chosen(words: Sequence[str]) -> list[Claim]:
    every = ledger.claims()
    if not words:
        return list(every)
    found = [
        one
        for one in every
        if any(
            word in (one.id, one.article) or word.lower() in one.section.lower() for word in words
        )
    ]
    if not found:
        raise LookupError(f"articles: no claim fits {' '.join(words)!r}")
    return found


def as_dict(one: Result) -> dict[str, Any]:
    """A verdict as plain data."""
    claim = one.claim
    return {
        "id": claim.id,
        "section": claim.section,
        "layer": claim.layer,
        "says": claim.says,
        "verdict": one.verdict,
        "recorded": one.recorded,
        "really": claim.really,
        "once": claim.once,
        "shows": one_line(one.shows, 300),
    }


def summary(results: Sequence[Result]) -> str:
    """How many claims have which verdict, and how many are not as recorded."""
    other = sum(not one.as_recorded for one in results)
    return f"{counted(results)}; {other} not as recorded"


def markdown(results: Sequence[Result]) -> str:
    """The verdicts as Markdown, a table a section."""
    lines: list[str] = []
    for (article, section), group in groupby(results, lambda r: (r.claim.article, r.claim.section)):
        lines += ["", f"### {article}: {section}", "", "| | says | verdict | really |"]
        lines.append("|---|---|---|---|")
        for one in group:
            cells = (one.claim.id, one.claim.says, one.verdict, one.claim.really)
            lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines).strip()


def _print(console: Any, results: Sequence[Result]) -> None:
    from rich.text import Text

    from minilc.course import terminal

    for (article, section), group in groupby(results, lambda r: (r.claim.article, r.claim.section)):
        table = terminal.table("claim", "says", "verdict", "really", title=f"{article}: {section}")
        for one in group:
            verdict = Text(one.verdict, style=COLOURS.get(one.verdict, "red"))
            if not one.as_recorded:
                verdict.append(f" (recorded: {one.recorded})", style="bold red")
            seen = one.claim.really if one.as_recorded else one_line(one.shows, 200)
            table.add_row(one.claim.id, Text(one.claim.says), verdict, Text(seen))
        console.print(table)
