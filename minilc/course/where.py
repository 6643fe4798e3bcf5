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
        nargs="+",
        help="create_agent, ToolNode._run_one, _run_one, langchain_core.tools.tool, ...",
    )
    parser.add_argument(
        "--source", action="store_true", help="show both sources, side by side on a wide terminal"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command; the result is the exit status.

    Raises:
        LookupError: a name is not found, or is the name of several things.
    """
    from minilc.course.upstream import where

    for name in arguments.name:
        found = where(name)
        print(found)
        if arguments.source:
            found.show()
    return 0
