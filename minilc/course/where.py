"""`minilc where NAME`: where a name's source is, in the installed LangChain and in minilc."""

from __future__ import annotations

import argparse
from typing import Any


def add_parser(subparsers: Any) -> None:
    """Add the command to minilc's command line."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "where",
        help="find a name's source in LangChain, and its counterpart in minilc",
        description="Find a name's source in the installed LangChain (package, version, file, "
        "lines) and its counterpart in minilc.",
    )
    parser.add_argument(
        "name",
        nargs="*",
        help="create_agent, ToolNode._run_one, _run_one, langchain_core.tools.tool, ...",
    )
    parser.add_argument(
        "--source", action="store_true", help="show both sources, side by side on a wide terminal"
    )
    parser.add_argument(
        "--article",
        metavar="A|B",
        help="list every place that an article names, in its order, and where it is here",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command; the result is the exit status.

    Raises:
        LookupError: a name is not found, or is the name of several things.
    """
    from minilc.course.upstream import where

    if arguments.article:
        _print_places(arguments.article)
    elif not arguments.name:
        raise LookupError("where: give a name, or --article A")
    for name in arguments.name:
        found = where(name)
        print(found)
        if arguments.source:
            found.show()
    return 0


def _print_places(article: str) -> None:
    """The places of an article, against the newest record that comes with minilc."""
    from minilc.course import record
    from minilc.course.articles import ledger, places

    recorded = f"langchain-{ledger.SETS['one']}"
    for one, here, changed in places.listed(article, record.read(recorded)):
        print(f"{one.claim:<6}{one.what}")
        print(f"      said  {one.said}  ({one.release})")
        print(f"      here  {here}{f'  {changed}' if changed else ''}")
    print(f"\nbodies are compared with the record {recorded}, as syntax trees")
