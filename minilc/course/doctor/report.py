"""What the doctor says: findings, in the order of the four questions, for every kind of reader."""

from __future__ import annotations

import html
import json
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from minilc.course.doctor.kinds import BROKEN, HEALTHY, KINDS, QUESTIONS, Kind
from minilc.course.draw import look

MOST_OF_A_KIND = 5  # findings of one kind that are printed in full
SIGNS = {"healthy": "✓", "suspect": "?", "broken": "✗"}
COLOURS = {"healthy": "green", "suspect": "yellow", "broken": "red"}
INKS = {"healthy": "#1a7f37", "suspect": "#9a6700", "broken": "#cf222e"}


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong.

    Args:
        code: its kind, a key of `KINDS`.
        where: the tool, the message, the call.
        evidence: what was seen there.
    """

    code: str
    where: str
    evidence: str

    @property
    def kind(self) -> Kind:
        """What is known of findings of this code."""
        return KINDS[self.code]

    @property
    def source(self) -> str:
        """Where in the installed LangChain this is decided."""
        from minilc.course.upstream import where

        try:
            return f"{self.kind.symbol}  {where(self.kind.symbol).upstream}"
        except LookupError:  # an installed version that has no such symbol
            return self.kind.symbol

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        kind = self.kind
        return {
            "code": self.code,
            "question": kind.question,
            "severity": kind.severity,
            "title": kind.title,
            "where": self.where,
            "evidence": self.evidence,
            "why": kind.why,
            "fix": kind.fix,
            "source": self.source,
            "notebook": kind.notebook,
        }


@dataclass(frozen=True)
class Report:
    """The diagnosis of one patient.

    Args:
        subject: what was looked at, in a few words.
        findings: what is wrong, the worst first within each question.
        seen: what the doctor looked at for each question; a question without is not answered.
        requests: what a recorded run sent to the model.
    """

    subject: str
    findings: tuple[Finding, ...] = ()
    seen: dict[int, str] = field(default_factory=dict)
    requests: tuple[Any, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether there is nothing to say."""
        return not self.findings

    @property
    def codes(self) -> list[str]:
        """The codes of the findings, in their order, each once."""
        return list(dict.fromkeys(one.code for one in self.findings))

    def status(self, question: int) -> str:
        """healthy, suspect, broken; or `not seen` where there was nothing to look at."""
        found = [one.kind.severity for one in self.findings if one.kind.question == question]
        if found:
            return BROKEN if BROKEN in found else "suspect"
        return HEALTHY if question in self.seen else "not seen"

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        questions = [
            {"question": text, "status": self.status(n), "seen": self.seen.get(n, "")}
            for n, text in QUESTIONS.items()
            if n or self.status(n) != "not seen"
        ]
        findings = [one.as_dict() for one in self.findings]
        return {"subject": self.subject, "questions": questions, "findings": findings}

    def as_json(self) -> str:
        """The same as JSON."""
        return json.dumps(self.as_dict(), ensure_ascii=False, indent=2)

    def _grouped(self) -> Iterator[tuple[int, str, list[list[Finding]]]]:
        """Each question, its status, and its findings by kind."""
        for number in QUESTIONS:
            groups: dict[str, list[Finding]] = {}
            for one in self.findings:
                if one.kind.question == number:
                    groups.setdefault(one.code, []).append(one)
            if not number and not groups:
                continue  # what comes before the questions is told only if it went wrong
            yield number, self.status(number), list(groups.values())

    def _why(self, number: int) -> str:
        """What was looked at for a question; or why nothing was."""
        if number in self.seen:
            return self.seen[number]
        return "nothing here tells; pass the tools" if number in (1, 3) else "there are no calls"

    @property
    def _head(self) -> str:
        count = len(self.findings)
        found = "nothing found" if not count else f"{count} finding{'s' if count > 1 else ''}"
        return f"{self.subject}: {found}"

    def __repr__(self) -> str:
        lines = [look.plain(self._head)]
        for number, status, groups in self._grouped():
            seen = f" ({self._why(number)})" if not groups and self._why(number) else ""
            sign = SIGNS.get(status, "-")
            lines += ["", f"{sign} {number}. {QUESTIONS[number]}  {status}{look.plain(seen)}"]
            for group in groups:
                lines += ["", *_lines_of(group)]
        return "\n".join(lines)

    def __rich__(self) -> Any:
        from rich.text import Text

        text = Text()
        for line in repr(self).splitlines():
            style = next((COLOURS[k] for k, s in SIGNS.items() if line.startswith(f"{s} ")), "")
            if line.startswith("   [") and not style:
                style = "bold"
            text.append(line + "\n", style=style)
        return text

    def _repr_html_(self) -> str:
        parts = [f"<p><b>{_escaped(self._head)}</b></p>"]
        for number, status, groups in self._grouped():
            ink = INKS.get(status, "gray")
            seen = self._why(number) if not groups else ""
            title = (
                f'<span style="color:{ink}">{SIGNS.get(status, "-")} {status}</span> '
                f"{number}. {_escaped(QUESTIONS[number])} <small>{_escaped(seen)}</small>"
            )
            if not groups:
                parts.append(f'<div style="padding-left:1.1em">{title}</div>')
                continue
            inner = "".join(map(_html_of, groups))
            parts.append(f"<details open><summary>{title}</summary>{inner}</details>")
        return f'<div class="minilc-doctor">{"".join(parts)}</div>'


def _lines_of(group: list[Finding]) -> Iterator[str]:
    """A kind of finding as lines of text: what, where, why, and the fix."""
    kind = group[0].kind
    yield f"   [{kind.code}] {kind.title}"
    for one in group[:MOST_OF_A_KIND]:
        yield from _wrapped(f"{one.where}: {one.evidence}", "     - ", "       ")
    if len(group) > MOST_OF_A_KIND:
        yield f"     - and {len(group) - MOST_OF_A_KIND} more"
    yield from _wrapped(kind.why, "     why: ", "          ")
    yield "     fix:"
    yield from (f"         {line}" for line in kind.fix.splitlines())
    yield f"     see: {group[0].source}"
    yield f"          notebook {kind.notebook}"


def _wrapped(text: str, first: str, rest: str) -> list[str]:
    clean = look.plain(text)
    return textwrap.wrap(clean, 100, initial_indent=first, subsequent_indent=rest) or [first]


def _html_of(group: list[Finding]) -> str:
    kind = group[0].kind
    ink = INKS[kind.severity]
    shown = [f"<li>{_escaped(f'{o.where}: {o.evidence}')}</li>" for o in group[:MOST_OF_A_KIND]]
    if len(group) > MOST_OF_A_KIND:
        shown.append(f"<li>and {len(group) - MOST_OF_A_KIND} more</li>")
    return (
        f'<div style="border-left:3px solid {ink};padding-left:.7em;margin:.5em 0 .5em 1.1em">'
        f"<b>{_escaped(kind.title)}</b> <code>{_escaped(kind.code)}</code>"
        f'<ul style="margin:.2em 0">{"".join(shown)}</ul>'
        f"<div>{_escaped(kind.why)}</div>"
        f'<pre style="margin:.4em 0">{_escaped(kind.fix)}</pre>'
        f"<small><code>{_escaped(group[0].source)}</code>, notebook "
        f"{_escaped(kind.notebook)}</small></div>"
    )


def _escaped(value: str) -> str:
    return html.escape(look.plain(value))
