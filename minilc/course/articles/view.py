"""The claims of some sections, run on what is installed, as a table for a notebook.

table = show("A", "Layer 7")
assert table.fallen == ["A-69"]
table
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from minilc.course.articles import ledger
from minilc.course.articles.ledger import Claim, Result
from minilc.course.draw.look import one_line
from minilc.course.plain import Reader

SIGNS = {ledger.HOLDS: "=", ledger.NUANCE: "≈", ledger.CHANGED: "≠", ledger.WRONG: "≠"}
UNKNOWN = "?"  # the check fails
LEFT = "text-align:left"
LENGTH = 110  # of what was seen


@dataclass(frozen=True, repr=False)
class Shown:
    """Claims and their verdicts on the installed version; it shows itself as a table."""

    title: str
    results: tuple[Result, ...]

    @property
    def fallen(self) -> list[str]:
        """The claims that do not hold."""
        return [one.claim.id for one in self.results if _fell(one)]

    @property
    def moved(self) -> list[str]:
        """The claims whose verdict is not the one that was recorded."""
        return [one.claim.id for one in self.results if not one.as_recorded]

    @property
    def head(self) -> str:
        """What was run, and what came out, on one line."""
        return f"{self.title}, {counted(self.results)}"

    def _sections(self) -> Iterator[tuple[str, list[Result]]]:
        for name, group in groupby(self.results, lambda one: one.claim.section):
            yield name, list(group)

    def __repr__(self) -> str:
        lines = [self.head]
        for name, group in self._sections():
            lines.append(f"  {name}")
            for one in group:
                lines.append(f"  {_sign(one)} {one.claim.id:<6}{one.claim.says}")
                if one.verdict != ledger.HOLDS or not one.as_recorded:
                    lines.append(f"{'':<10}{': '.join(filter(None, _today(one)))}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        heads = ("", "claim", "the article says", "what is installed")
        head = "".join(f'<th scope="col" style="{LEFT}">{one}</th>' for one in heads)
        rows = []
        for name, group in self._sections():
            rows.append(f'<tr><th colspan="4" style="{LEFT}">{escape(name)}</th></tr>')
            rows += map(_row, group)
        return (
            '<table style="border:1px solid currentColor">'
            f'<caption style="{LEFT};color:inherit"><strong>{escape(self.head)}</strong></caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        )


def show(article: str, *sections: str) -> Shown:
    """Run an article's claims; those of some sections, or all.

    Args:
        article: A or B.
        sections: how they begin: `Layer 1` is not Layer 10.

    Raises:
        LookupError: there is no such article, or no such section in it.
    """
    of_it = [one for one in ledger.claims() if one.article == article]
    if not of_it:
        raise LookupError(f"no article {article!r}; there are A and B")
    for name in sections:
        if not any(_begins(one, name) for one in of_it):
            known = ", ".join(dict.fromkeys(one.section for one in of_it))
            raise LookupError(f"article {article} has no section {name!r}; it has {known}")
    chosen = [one for one in of_it if not sections or any(_begins(one, n) for n in sections)]
    title = f"Article {article}{', ' if sections else ''}{', '.join(sections)}"
    return Shown(title, tuple(one.run() for one in chosen))


def counted(results: Sequence[Result]) -> str:
    """How many claims there are, and how many have which verdict."""
    found = Counter(one.verdict for one in results)
    told = [
        f"{found[one]} {one if found[one] == 1 else one.replace('holds', 'hold')}"
        for one in (*SIGNS, ledger.FAILS)
        if found[one]
    ]
    return f"{len(results)} claim{'' if len(results) == 1 else 's'}: {', '.join(told)}"


def _begins(claim: Claim, name: str) -> bool:
    return re.match(rf"{re.escape(name)}(?!\w)", claim.section) is not None


def _fell(one: Result) -> bool:
    return one.verdict not in (ledger.HOLDS, ledger.NUANCE)


def _sign(one: Result) -> str:
    return SIGNS.get(one.verdict, UNKNOWN)


def _today(one: Result) -> tuple[str, str]:
    """The verdict, and what there is to say about it; with what was seen if the claim fell."""
    claim, verdict = one.claim, one.verdict
    if verdict == ledger.CHANGED:
        verdict = f"changed since (true of {claim.once})"
    told = [claim.really] if verdict != ledger.HOLDS else []
    if not one.as_recorded:
        verdict += f", recorded was {one.recorded!r}"
    if _fell(one) or not one.as_recorded:
        text = one.shows if isinstance(one.shows, str) else repr(one.shows)
        told.append(f"seen: {one_line(Reader().clean(text), LENGTH)}")
    return verdict, "; ".join(filter(None, told))


def _row(one: Result) -> str:
    verdict, told = _today(one)
    shown = f"<strong>{escape(verdict)}</strong>" if _fell(one) else escape(verdict)
    cells = (
        f"<strong>{_sign(one)}</strong>",
        f'<span style="white-space:nowrap">{escape(one.claim.id)}</span>',
        escape(one.claim.says),
        f"{shown}{': ' if told else ''}{escape(told)}",
    )
    return f"<tr>{''.join(_cell(text) for text in cells)}</tr>"


def _cell(text: str) -> str:
    return f'<td style="{LEFT}">{text}</td>'
