"""`minilc check`: every layer's comparisons against the installed LangChain.

It prints what differs and is not registered, in full, and a table; it ends with status 1 if there
is such a difference.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from minilc.course.cases import Case, load
from minilc.course.layers import LAYERS, Layer, layer
from minilc.course.plain import Record
from minilc.course.terminal import console, progress, table
from minilc.course.twin import DIFFERENT, EQUAL, REGISTERED, STALE, Twin, twin

LEGEND = (
    "errors: of those compared, where LangChain raises and the error is compared · "
    "registered: different on purpose, with a row that says why"
)


def add_parser(subparsers: Any) -> None:
    """Add the command to minilc's command line."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "check",
        help="run every layer's comparisons against the installed LangChain",
        description="Run every layer's comparisons in minilc and in the installed LangChain. "
        "The status is 1 if anything is different and not registered.",
    )
    parser.add_argument(
        "--layer",
        action="append",
        metavar="LAYER",
        help="only this layer, by number (3) or module (base); may be repeated",
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--record", metavar="FILE", help="write down what the installed one does")
    parser.add_argument(
        "--against",
        metavar="RECORD",
        help="say what the installed LangChain does otherwise than a record: a file, or the name "
        "of one that comes with minilc; the status is 1 if there is anything",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command; the result is the exit status.

    Raises:
        LookupError: there is no such layer, or no such record.
    """
    if arguments.record or arguments.against:
        from minilc.course import drift

        return drift.run(arguments.record, arguments.against, arguments.json)
    rows = [layer(key) for key in arguments.layer] if arguments.layer else list(LAYERS)
    rows = list(dict.fromkeys(rows))
    cases = load(row.number for row in rows)
    # With --json, standard output is for the JSON alone.
    screen = console(sys.stderr if arguments.json else None)
    with progress(screen) as bar:
        task = bar.add_task("comparing", total=len(cases))

        def step(case: Case) -> None:
            bar.update(task, advance=1, description=f"layer {case.layer}: {case.title}"[:60])

        reports = check(rows, cases, step)
    if arguments.json:
        print(json.dumps(as_json(reports), ensure_ascii=False, indent=2))
    else:
        _print(reports, screen)
    return 0 if all(report.ok for report in reports) else 1


@dataclass
class Report:
    """A layer's comparisons and how they came out."""

    layer: Layer
    results: list[tuple[Case, Twin]] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        """How many comparisons have which verdict; a stale row counts as different."""
        verdicts = Counter(result.verdict for _, result in self.results)
        return {
            "compared": len(self.results),
            "errors": sum(is_error(result.langchain.result) for _, result in self.results),
            "equal": verdicts[EQUAL],
            "registered": verdicts[REGISTERED],
            "different": verdicts[DIFFERENT] + verdicts[STALE],
        }

    @property
    def faults(self) -> list[tuple[Case, Twin]]:
        """The comparisons that came out neither equal nor as registered."""
        return [(case, result) for case, result in self.results if not result.ok]

    @property
    def ok(self) -> bool:
        """Whether there is no fault."""
        return not self.faults

    @property
    def seconds(self) -> float:
        """The time that both worlds took."""
        return sum(r.minilc.seconds + r.langchain.seconds for _, r in self.results)


def check(
    rows: Iterable[Layer], cases: Iterable[Case], step: Callable[[Case], None] = lambda case: None
) -> list[Report]:
    """Judge the cases, layer by layer; `step` is called after each."""
    reports = {row.number: Report(row) for row in rows}
    for case in cases:
        reports[case.layer].results.append((case, judge(case)))
        step(case)
    return list(reports.values())


def judge(case: Case) -> Twin:
    """Run one case in both worlds."""
    title = f"{case.name}: {case.title}"
    return twin(case.run, title=title, differs=case.differs, behaviour=case.behaviour)


def is_error(result: Any) -> bool:
    """Whether a result is an error, or holds an error or a tool's message about one."""
    if isinstance(result, Record):
        if result.kind.startswith("raises ") or result.kind.endswith("Error"):
            return True
        if result.fields.get("status") == "error":
            return True
        return any(is_error(item) for item in result.fields.values())
    if isinstance(result, dict):
        return any(is_error(item) for item in result.values())
    return isinstance(result, list | tuple) and any(is_error(item) for item in result)


def as_json(reports: list[Report]) -> dict[str, Any]:
    """The reports as plain data."""
    from minilc.course.versions import versions

    return {
        "ok": all(report.ok for report in reports),
        "versions": versions(),
        "layers": [
            {
                "layer": report.layer.number,
                "module": report.layer.module,
                **report.counts,
                "seconds": round(report.seconds, 3),
                "faults": [
                    {"case": case.name, "verdict": result.verdict, "text": result.text(None)}
                    for case, result in report.faults
                ],
            }
            for report in reports
        ],
    }


COUNTED = ("compared", "errors", "equal", "registered", "different")


def _print(reports: list[Report], screen: Any) -> None:
    from minilc.course.versions import versions

    for report in reports:
        for _, result in report.faults:
            screen.print(result)
            screen.print()
    shown = table("layer", *COUNTED, "seconds", numbers=len(COUNTED) + 1)
    total = Counter[str]()
    for report in reports:
        total.update(report.counts)
        cells = [str(report.counts[name]) for name in COUNTED]
        if not report.ok:
            cells[-1] = f"[bold red]{cells[-1]}[/]"
        name = f"{report.layer.number:>2} {report.layer.module}"
        shown.add_row(name, *cells, f"{report.seconds:.2f}")
    shown.add_section()
    seconds = sum(report.seconds for report in reports)
    shown.add_row("   all", *(str(total[name]) for name in COUNTED), f"{seconds:.2f}")
    screen.print(shown)
    screen.print(LEGEND, style="dim")
    installed = ", ".join(f"{name} {version}" for name, version in versions().items())
    screen.print(f"against {installed}", style="dim")
    if total["different"]:
        screen.print(f"{total['different']} different, and not registered", style="bold red")
    else:
        screen.print("no difference that is not registered", style="green")
