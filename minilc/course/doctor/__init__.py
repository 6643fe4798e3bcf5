"""The doctor: why did my agent not call the tool, and how do I mend it?

    from minilc.course.doctor import diagnose

    diagnose(tools)                              # tools, functions, providers' dicts
    diagnose(result["messages"], tools=tools)    # a history, in any form it was saved in
    diagnose("run.json")                         # the same from a file
    diagnose(agent)                              # a compiled graph or agent; nothing is run
    diagnose(lambda: agent.invoke(question))     # runs it, and looks at what was sent and came back

It asks the four questions in their order, and says for each finding what is wrong, where, why, how
to mend it, and which notebook teaches it. A tool runs only in a run that you hand over.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from minilc.course.doctor import graphs, history, reading, runs
from minilc.course.doctor import tools as wards
from minilc.course.doctor.kinds import BROKEN, KINDS, QUESTIONS, Kind
from minilc.course.doctor.reading import Chart, Unreadable
from minilc.course.doctor.report import Finding, Report

__all__ = ["KINDS", "QUESTIONS", "Finding", "Kind", "Report", "Unreadable", "diagnose"]


def diagnose(subject: Any, *, tools: Any = None, model: Any = None) -> Report:
    """Say what is wrong with tools, a history, an agent, or a run.

    Args:
        subject: tools; messages, a state, a trace, or the path of a file with them; a compiled
            graph; or a function that runs one, without arguments, or with one for the model.
        tools: the tools that the history's calls should fit.
        model: for a function of a model: what answers. By default a text that calls nothing.

    Raises:
        Unreadable: it is none of these.
    """
    patients, findings = wards.admit(tools) if tools is not None else ([], [])
    if isinstance(subject, str) and subject.lstrip()[:1] in ("[", "{"):
        return _of_charts(reading.read_text(subject, "the text"), patients, findings, "the text")
    if isinstance(subject, str | Path):
        charts = reading.read_file(subject)
        return _of_charts(charts, patients, findings, Path(subject).name)
    if graphs.is_graph(subject):
        return _of_graph(subject, patients, findings)
    if hasattr(subject, "compile") and hasattr(subject, "branches"):
        raise Unreadable("the graph", "a compiled graph (call .compile())", subject)
    if _is_tools(subject):
        patients, findings = wards.admit(subject)
        return _of_tools(patients, findings)
    if callable(subject) and not hasattr(subject, "messages"):
        return _of_run(subject, patients, findings, model)
    return _of_charts(reading.read(subject), patients, findings, "history")


def _is_tools(subject: Any) -> bool:
    many = list(subject) if isinstance(subject, list | tuple) else [subject]
    sure = [one for one in many if _is_a_tool(one)]
    # Beside a tool, a dict that has no more than a type is one that the provider runs.
    rest = [one for one in many if one not in sure and not _is_providers_own(one)]
    return bool(many) and not rest and not _is_a_run(subject)


def _is_providers_own(one: Any) -> bool:
    apart = {"role", "content", "data", "lc", "call_id", "tool_calls"}
    return isinstance(one, dict) and "type" in one and not apart & one.keys()


def _is_a_tool(one: Any) -> bool:
    if isinstance(one, dict):
        if {"role", "content", "messages", "call_id"} & one.keys():
            return False
        known = {"function", "parameters", "input_schema", "properties"} & one.keys()
        return bool(known) or (isinstance(one.get("type"), str) and "name" in one)
    if hasattr(one, "args_schema") and hasattr(one, "name"):
        return True
    return callable(one) and not isinstance(one, type) and not hasattr(one, "content")


def _is_a_run(subject: Any) -> bool:
    """A function alone is to be run, unless it has the docstring that a tool needs."""
    is_function = callable(subject) and not hasattr(subject, "args_schema")
    return is_function and not getattr(subject, "__doc__", None)


def _of_tools(patients: Sequence[wards.Patient], findings: list[Finding]) -> Report:
    findings = [*findings, *wards.examine(patients)]
    names = ", ".join(one.name for one in patients)
    seen = {1: f"{_count(patients, 'tool')}: {names}", 2: "what the model may fill in"}
    return _report(_count(patients, "tool"), findings, seen if patients else {})


def _of_charts(
    charts: Sequence[Chart],
    patients: Sequence[wards.Patient],
    findings: list[Finding],
    name: str,
) -> Report:
    """The conversations of a file, or of a value."""
    declared = next((chart.tools for chart in charts if chart.tools is not None), None)
    if declared and not patients:
        patients, refused = wards.admit(declared, "tools")
        findings = [*findings, *refused]
    if declared == []:
        findings = [*findings, Finding("no-tools", "tools", "the request's list of tools is empty")]
    findings = [*findings, *wards.examine(patients)]
    for chart in charts:
        findings += _in(chart, patients)
    messages = [message for chart in charts for message in chart.messages]
    subject = f"{name}, {_count(messages, 'message')}"
    if len(charts) > 1:
        subject += f" in {len(charts)} conversations"
    if skipped := charts[0].skipped:
        subject += f" ({_count(skipped, 'part')} skipped: {', '.join(skipped[:3])} no message)"
    return _report(subject, findings, _seen(messages, patients))


def _in(chart: Chart, patients: Sequence[wards.Patient]) -> Iterator[Finding]:
    waits = chart.is_answer or chart.is_paused
    yield from history.examine(chart.messages, patients, may_end_open=waits)
    for where, text in chart.errors:
        yield runs.of_text(where, text)


def _seen(messages: Sequence[Any], patients: Sequence[wards.Patient]) -> dict[int, str]:
    """What there was to look at; a question without anything is not answered."""
    calls = [call for message in messages for call in message.tool_calls]
    answers = [message for message in messages if message.type == "tool"]
    seen = {1: _count(patients, "tool")} if patients else {}
    if calls:
        seen[2] = _count(calls, "call")
        seen |= {3: f"{_count(calls, 'name')} looked up"} if patients else {}
    if calls or answers:
        seen[4] = f"{_count(answers, 'answer')} to {_count(calls, 'call')}"
    return seen


def _of_graph(graph: Any, patients: Sequence[wards.Patient], findings: list[Finding]) -> Report:
    made = graphs.dissect(graph)
    patients = [*patients, *made.patients]
    findings = [*findings, *wards.examine(patients), *graphs.examine(made)]
    names = ", ".join(one.name for one in patients)
    seen = {
        1: f"{_count(patients, 'tool')}: {names}",
        2: "what the model may fill in",
        3: f"ToolNode {', '.join(made.tool_nodes)}",
        4: "reducers, store, checkpointer",
    }
    return _report("graph", findings, seen if patients else {})


def _of_run(
    run: Any, patients: Sequence[wards.Patient], findings: list[Finding], model: Any
) -> Report:
    watched = runs.watch(run, model)
    findings = [*findings, *wards.examine(patients), *runs.examine(watched)]
    sent = watched.requests[-1].tools if watched.requests else []
    if sent and not patients:
        patients, refused = wards.admit(sent, "request.tools")
        findings += [*refused, *wards.examine(patients)]
    try:
        charts = reading.read(watched.result)
    except Unreadable:
        # A run that failed, or that returns something else: the last request has its history.
        messages = watched.requests[-1].messages if watched.requests else []
        charts = reading.read(messages) if messages else [Chart()]
    for chart in charts:
        findings += _in(chart, patients)
    seen = _seen([message for chart in charts for message in chart.messages], patients)
    if watched.requests:
        seen[1] = f"{_count(watched.requests, 'request')}, tools {graphs.names_of(sent)!r}"
    report = _report("run", findings, seen)
    return Report(report.subject, report.findings, report.seen, tuple(watched.requests))


def _count(things: Sequence[Any], noun: str) -> str:
    return f"{len(things) or 'no'} {noun}{'' if len(things) == 1 else 's'}"


def _report(subject: str, findings: Iterable[Finding], seen: dict[int, str]) -> Report:
    """Put the findings in order: by question, what is broken first."""
    unique = list(dict.fromkeys(findings))
    unique.sort(key=lambda one: (one.kind.question, one.kind.severity != BROKEN))
    return Report(subject, tuple(unique), seen)


# --- the command --------------------------------------------------------------------------------


def add_parser(subparsers: Any) -> None:
    """Add the command to minilc's command line."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "doctor",
        help="say why an agent does not call its tools",
        description="Read saved messages (JSON or JSONL, in LangChain's, LangGraph's, OpenAI's or "
        "Anthropic's form, a request body or a trace), and say what is wrong with the tool calls "
        "in them. Status 0: healthy; 1: there are findings; 2: unreadable.",
    )
    parser.add_argument("file", nargs="*", help="files with messages; - for standard input")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument("--codes", action="store_true", help="list every code and what it means")
    parser.add_argument(
        "--examine", action="store_true", help="examine the doctor on patients that are known"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command; the result is the exit status."""
    from minilc.course import terminal

    console = terminal.console()
    if arguments.codes:
        table = terminal.table("code", "question", "severity", "what is wrong")
        for kind in KINDS.values():
            table.add_row(kind.code, str(kind.question), kind.severity, kind.title)
        console.print(table)
        return 0
    if arguments.examine:
        return _examine(console)
    if not arguments.file:
        raise LookupError("doctor: name a file with messages (see minilc doctor --help)")
    reports, unreadable = [], []
    for file in arguments.file:
        try:
            reports.append(diagnose(sys.stdin.read() if file == "-" else Path(file)))
        except Unreadable as error:
            unreadable.append(str(error))
            print(f"minilc: {error}", file=sys.stderr)
            continue
        if arguments.json:
            print(reports[-1].as_json())
        else:
            console.print(reports[-1])
    if unreadable:
        return 2
    return 0 if all(report.ok for report in reports) else 1


def _examine(console: Any) -> int:
    """Print recall and precision over the corpus, and every wrong diagnosis."""
    from minilc.course.doctor import corpus

    examined = list(corpus.examine())
    for one in examined:
        if not one.right:
            expected = one.patient.illness or "healthy"
            found = ", ".join(one.report.codes) or "nothing"
            console.print(f"{one.patient.name} in {one.world.name}: {expected}, found {found}")
    told = corpus.figures(examined)
    console.print(
        f"recall {told['found']}/{told['ill']} illnesses among the first three findings; "
        f"{told['false alarms']} false alarms on {told['healthy']} healthy patients; "
        f"precision {told['found']}/{told['found'] + told['false alarms']}"
    )
    return 0 if all(one.right for one in examined) else 1
