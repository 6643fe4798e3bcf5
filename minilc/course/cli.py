"""The command line: `minilc`, and what follows it."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec

# A command, its module in this package (which has `add_parser`), and its line in `minilc --help`.
# A module is imported when its command is called, so that `minilc` starts fast.
COMMANDS: dict[str, tuple[str, str]] = {
    "proof": ("proof", "take the weather agent through every layer in both worlds"),
    "lab": ("lab", "open the course in JupyterLab"),
    "check": ("check", "run every layer's comparisons against the installed LangChain"),
    "where": ("where", "find a name's source in LangChain, and its counterpart in minilc"),
    "doctor": ("doctor", "say why an agent does not call its tools"),
    "articles": ("articles", "run every claim of the articles on the installed LangChain"),
    "progress": ("progress", "show which exercises are done"),
    "notebooks": ("notebooks", "build, verify or measure the course's notebooks"),
    "bench": ("bench", "measure minilc beside LangChain"),
}

DESCRIPTION = """\
How LangChain really executes a tool call: rebuilt one layer at a time, with the installed
LangChain as the judge.

Without a command, minilc takes the weather agent through all layers in both worlds, prints the
proof, and opens the course in JupyterLab.
"""

EXAMPLES = """\
examples:
  minilc                      the proof, then the course
  minilc --no-lab             the proof alone
  minilc lab 3                the notebook of layer 3
  minilc check --layer base   one layer's comparisons
  minilc where ToolNode.invoke
  minilc doctor run.json      what is wrong with the tool calls of saved messages
  minilc articles A-74        one claim of an article, on what is installed
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the result is the exit status (2: what was asked for is not there)."""
    from minilc.course.terminal import survive_any_code_page

    survive_any_code_page()
    # Nothing leaves this machine, even where LangSmith's tracing is switched on for other work.
    os.environ.update(LANGSMITH_TRACING="false", LANGCHAIN_TRACING_V2="false")
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        parsed = parser(words).parse_args(words)
        return int(parsed.run(parsed))
    except LookupError as error:
        # `args[0]`: the text of a KeyError is its repr.
        print(f"minilc: {error.args[0] if error.args else error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read the output has enough (`minilc check | head`); Python must not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def parser(words: Sequence[str] = ()) -> argparse.ArgumentParser:
    """The parser: in full for the command that the words name, a line for each of the others."""
    made = argparse.ArgumentParser(
        prog="minilc",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--version", action=_Version, help="print minilc's and LangChain's versions")
    made.add_argument("--no-lab", action="store_true", help="end after the proof")
    from minilc.course import lab

    lab.add_options(made)
    made.set_defaults(run=_proof_and_lab)
    commands = made.add_subparsers(title="commands", metavar="COMMAND")
    for name, (module, line) in COMMANDS.items():
        dotted = f"minilc.course.{module}"
        if find_spec(dotted) is None:
            continue
        if name in words:
            importlib.import_module(dotted).add_parser(commands)
        else:
            commands.add_parser(name, help=line)
    return made


class _Version(argparse.Action):
    """Print the versions and end. (Argparse's own action would want them before they are asked.)"""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest=argparse.SUPPRESS, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from minilc.course.versions import PACKAGES, versions

        for package, version in versions(("minilc", *PACKAGES, "pydantic")).items():
            print(f"{package} {version}")
        print(f"Python {sys.version.split()[0]}")
        parser.exit()


def _proof_and_lab(arguments: argparse.Namespace) -> int:
    from minilc.course import lab, proof

    status = proof.run(arguments)
    if arguments.no_lab or not sys.stdout.isatty():
        print("Open the course with: minilc lab")
        return status
    return lab.run(arguments) or status


if __name__ == "__main__":
    sys.exit(main())
