"""What the widgets show, as HTML and as lines of text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Any

from minilc.course import draw
from minilc.course.draw import look
from minilc.course.draw.runs import END, START, Run
from minilc.course.plain import ABSENT, Difference
from minilc.course.twin import EQUAL, Outcome, Twin
from minilc.course.widgets import calls, routes, schemas, steps
from minilc.course.widgets.markup import code, items, picture, problem, table, text, verdict


def difference(found: Difference, names: Sequence[str] = ("minilc", "LangChain")) -> str:
    """Where two values differ, in words."""
    sides = ", ".join(
        f"{name} {'has nothing' if value is ABSENT else look.one_line(repr(value), 120)}"
        for name, value in zip(names, (found.ours, found.theirs), strict=True)
    )
    return f"{''.join(found.path) or 'the whole'}: {sides}"


# --- the stepper -----------------------------------------------------------------------------


def in_one_line(message: Any) -> str:
    """A message of either world: its kind, its text, its calls, the call that it answers."""
    parts = [type(message).__name__]
    if message.type == "tool":
        parts.append(f"#{message.tool_call_id}")
    if getattr(message, "status", None) == "error":
        parts.append("(error)")
    if message.text:
        parts.append(f'"{look.one_line(message.text, steps.MOST)}"')
    asked = [*getattr(message, "tool_calls", []), *getattr(message, "invalid_tool_calls", [])]
    parts += [f"{one['name']}({_arguments(one['args'])}) #{one['id']}" for one in asked]
    return " ".join(parts)


def _arguments(args: Any) -> str:
    if not isinstance(args, dict):
        return look.one_line(args)
    pairs = [
        f"{key}={json.dumps(value, ensure_ascii=False, default=str)}" for key, value in args.items()
    ]
    return look.one_line(", ".join(pairs), steps.MOST)


def nodes(frame: steps.Frame) -> str:
    """The nodes of a frame, one that ran three times as `tools ×3`."""
    if not frame.active:
        return "paused"
    counted = {name: frame.active.count(name) for name in frame.active}
    shown = {START: "START", END: "END"}
    return ", ".join(
        shown.get(name, name) + (f" ×{many}" if many > 1 else "") for name, many in counted.items()
    )


def frame(run: Run, one: steps.Frame, title: str, beside: bool) -> str:
    """A run as it stands: its graph, and what there is to say about it."""
    history = [f"[{number}] {in_one_line(message)}" for number, message in enumerate(one.messages)]
    told = (
        f"<h4>This step changed</h4>{items(one.changes)}"
        f"<h4>Messages so far ({len(history)})</h4>"
        f'<div class="scroll">{items(history, one.new, "none")}</div>'
        f"<h4>{NOT_IN_ORDER.capitalize()}</h4>{items(open_(one), none='none')}"
    )
    drawn = f'<div class="fit">{picture(steps.drawing(run, one))}</div>'
    both = "" if beside else ' class="row"'
    return (
        f'<section class="wide" aria-label="{text(title)}"><h4>{text(title)}: {text(nodes(one))}'
        f'</h4><div{both}>{drawn}<div class="wide">{told}</div></div></section>'
    )


NOT_IN_ORDER = "calls without an answer"


def open_(one: steps.Frame) -> list[str]:
    """The calls that are not in order."""
    return [
        f"#{each.id} {each.call['name'] if each.call else ''}: {each.verdict}" for each in one.open
    ]


def steps_at(runs: Sequence[Run], number: int) -> str:
    """One run, or two side by side, as they stand at a step."""
    parts = []
    for run, title in zip(runs, steps.labels(runs), strict=True):
        told = steps.frames(run)
        parts.append(frame(run, told[min(number, len(told) - 1)], title, beside=len(runs) > 1))
    same, words = compared(runs)
    return f'{verdict(same, words) if words else ""}<div class="row">{"".join(parts)}</div>'


def compared(runs: Sequence[Run]) -> tuple[bool, str]:
    """Whether runs are equal, and where two of them differ first; no words, if there is one."""
    if len(runs) == 1:
        return True, ""
    found = steps.differs(*runs)
    if found is None:
        return True, "both runs are equal in every step"
    number, where = found
    return False, f"they differ first at step {number}: {difference(where, steps.labels(runs))}"


def brought(one: steps.Frame) -> list[str]:
    """What a step changed, with its new messages in full."""
    rest = [change for change in one.changes if not change.startswith("messages: +")]
    return [in_one_line(one.messages[number]) for number in one.new] + rest


def all_steps(runs: Sequence[Run]) -> tuple[str, list[str]]:
    """Whole runs for where there is no slider: graphs and tables, and lines of text."""
    same, words = compared(runs)
    html, lines = [verdict(same, words)] * bool(words), [words] * bool(words)
    titles = steps.labels(runs)
    if same:
        runs, titles = runs[:1], [" and ".join(titles)]
    for run, title in zip(runs, titles, strict=True):
        told = list(enumerate(steps.frames(run)))
        rows = [
            [
                str(number),
                text(nodes(one)),
                items(brought(one), none=""),
                items(open_(one), none=""),
            ]
            for number, one in told
        ]
        drawn = picture(draw.graph(run.graph, taken=run))
        steps_of_it = table(title, ["step", "node", "what it brought", NOT_IN_ORDER], rows)
        html.append(f'<div class="row"><div>{drawn}</div><div>{steps_of_it}</div></div>')
        lines.append(title)
        for number, one in told:
            said = "; ".join([*brought(one), *open_(one)])
            lines.append(f"{number}. {nodes(one)}{': ' if said else ''}{said}")
    return "".join(html), lines


# --- the schema bench ------------------------------------------------------------------------


def sent(made: schemas.Sent) -> str:
    """What each provider is sent of a source, or why nothing is."""
    if made.error is not None:
        return problem("no tool is made of this") + code(made.error)
    columns = "".join(
        f'<section class="wide"><h4>{text(provider)}</h4>{_twin(one)}</section>'
        for provider, one in made.twins.items()
    )
    hidden = f"The model is not told of: {', '.join(made.hidden)}." if made.hidden else ""
    return f'{text(hidden)}<div class="row">{columns}</div>'


def source_and_sent(source: str) -> tuple[str, list[str]]:
    """A source and what is sent of it, for where it cannot be edited."""
    made = schemas.sent(source)
    lines = [source.rstrip(), "", *sent_lines(made)]
    return f"<h4>A function</h4>{code(source.rstrip())}<h4>What is sent</h4>{sent(made)}", lines


def _twin(one: Twin) -> str:
    if one.verdict == EQUAL:
        return verdict(True, "both worlds send this") + code(_json(one.langchain))
    return (
        verdict(False, f"{one.verdict.lower()}: {one.reason}")
        + f"<h4>minilc</h4>{code(_json(one.minilc))}"
        + f"<h4>LangChain</h4>{code(_json(one.langchain))}"
    )


def _outcomes(one: Twin) -> tuple[Outcome, Outcome]:
    return one.minilc, one.langchain


def _json(outcome: Outcome, width: float = 50) -> str:
    if outcome.raised:
        return repr(outcome.result)
    return calls.as_json(outcome.result, width=width)


def sent_lines(made: schemas.Sent) -> list[str]:
    """The same as lines of text."""
    if made.error is not None:
        return [made.error]
    lines = [f"The model is not told of: {', '.join(made.hidden)}."] if made.hidden else []
    for provider, one in made.twins.items():
        sides = (
            [("both worlds", one.langchain)] if one.verdict == EQUAL else _sides(*_outcomes(one))
        )
        lines += [f"{provider}, {name}: {_json(side, inf)}" for name, side in sides]
    return lines


# --- the router ------------------------------------------------------------------------------

EDGES = {
    routes.MODEL_TO_TOOLS: "out of the model",
    routes.TOOLS_TO_MODEL: "out of the tools",
}


def path(exits: Iterable[routes.Exit]) -> list[str]:
    """The exits of a run, in order, in words."""
    return [
        f"{number}. the edge {EDGES[one.edge]}, exit {one.number or '?'}, to {one.to}: {one.why}"
        + (f" ({pending(one)})" if pending(one) else "")
        for number, one in enumerate(exits, 1)
    ]


def pending(one: routes.Exit) -> str:
    """The ids that made an edge send calls to the tools."""
    if (one.edge, one.number) != (routes.MODEL_TO_TOOLS, 4):
        return ""
    return ", ".join(f"#{each.id}" for each in draw.entries(one.seen) if each.status == "pending")


def exits(edge: str, taken: Sequence[routes.Exit]) -> str:
    """The numbered exits of an edge, the taken ones marked."""
    turns = {
        number: [
            turn for turn, one in enumerate(taken, 1) if (one.edge, one.number) == (edge, number)
        ]
        for number in routes.EXITS[edge]
    }
    rows = [
        [
            str(number),
            text(condition),
            text(to),
            f"▶ {', '.join(map(str, turns[number]))}" * bool(turns[number]),
        ]
        for number, (condition, to) in routes.EXITS[edge].items()
    ]
    marked = [row for row, number in enumerate(turns) if turns[number]]
    return table(f"The edge {EDGES[edge]}", ["exit", "if", "goes to", "taken"], rows, marked)


def journey(ours: routes.Journey, theirs: routes.Journey) -> str:
    """Where a run went in both worlds, and by which exits."""
    same = (ours.exits, ours.error) == (theirs.exits, theirs.error)
    told = [verdict(same, "both worlds take the same exits" if same else "the worlds part")]
    for title, one in (("both worlds", theirs),) if same else _sides(ours, theirs):
        told.append(f"<h4>The way in {text(title)}</h4>{items(path(one.exits))}")
        if one.error:
            told.append(problem(f"the run ends in an error: {one.error}"))
    run = theirs.run or ours.run
    drawn = picture(draw.graph(run.graph, taken=run)) if run else ""
    tables = "".join(exits(edge, theirs.exits) for edge in routes.EXITS)
    return (
        f"{''.join(told)}<div class='row'><div class='small'>{drawn}</div>"
        f"<div class='wide'>{tables}</div></div>"
    )


def _sides(ours: Any, theirs: Any) -> tuple[tuple[str, Any], tuple[str, Any]]:
    """Both worlds' parts with their names."""
    return ("minilc", ours), ("LangChain", theirs)


def exit_table() -> tuple[str, list[str]]:
    """Every exit with a setting that takes it, run in both worlds: as a table, and as lines."""
    rows, lines = [], []
    for (edge, number), setting in routes.EXAMPLES.items():
        ours, theirs = routes.journeys(setting)
        took = (edge, number) in [(one.edge, one.number) for one in theirs.exits]
        same = ours.exits == theirs.exits and took
        condition, to = routes.EXITS[edge][number]
        cells = [EDGES[edge], str(number), condition, to, setting.words(), "= equal"]
        cells[-1] = "= equal" if same else "≠ different"
        rows.append([text(cell) for cell in cells])
        lines.append(" | ".join(cells))
    head = ["edge", "exit", "if", "goes to", "an example: the agent …", "both worlds"]
    return table("The exits of create_agent's edges", head, rows), [" | ".join(head), *lines]


# --- the tool-call bench ---------------------------------------------------------------------


def judged(result: calls.Judged) -> str:
    """What ToolNode made of a call in both worlds."""
    same = result.difference is None
    words = "both worlds do the same" if same else difference(result.difference)  # type: ignore[arg-type]
    told = [verdict(same, words)]
    if result.broken:
        told.append(problem(f"not a call: {result.broken}. {BROKEN}"))
    sides = (
        (("both worlds", result.langchain),) if same else _sides(result.minilc, result.langchain)
    )
    head = ["", *(name for name, _ in sides)]
    rows = [
        ["what comes back", *(text(made.kind) for _, made in sides)],
        ["the model reads", *(code(made.reads) for _, made in sides)],
        ["the answer's id", *(code(made.ids) for _, made in sides)],
    ]
    if any(made.error for _, made in sides):
        rows.append(["the error", *(code(made.error or "none") for _, made in sides)])
    return "".join(told) + table("What ToolNode makes of it", head, rows)


BROKEN = "A model's text that does not parse stands in invalid_tool_calls, which no tool answers."


def preset_table(tools: calls.Tools, state: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Every preset and what came of it, as a table and as lines."""
    rows, lines = [], []
    for name, source in calls.presets(tools).items():
        result = calls.judge(source, tools, state)
        made = result.langchain
        same = "= equal" if result.difference is None else "≠ different"
        outcome = f"{made.kind}: {made.error}" if made.error else made.kind
        one_line = look.one_line(source, 200)
        rows.append([text(name), code(one_line), text(outcome), code(made.reads), text(same)])
        reads = look.one_line(made.reads, 200)
        lines.append(f"{name} | {one_line} | {outcome} | {reads} | {same}")
    head = ["", "the call", "what comes back", "the model reads", "both worlds"]
    return table("What ToolNode makes of a call", head, rows), lines
