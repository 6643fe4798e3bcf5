"""The judge: one function in two worlds, and whether the same came out.

    twin(lambda lc: lc.HumanMessage("北京").content)

The function gets `lc`, the world: `lc.tool` is minilc's in one run and LangChain's in the other.
What it returns, or the error that it raises, is read as plain data (`Reader` states everything that
is read as equal), compared, and shown with a verdict:

- EQUAL
- REGISTERED: they differ, and a row of `divergences` or `behaviours` says why
- DIFFERENT: they differ, and nothing says so; the first place is marked
- STALE: a row says that they differ, and they do not

A result shows itself in a notebook, in a terminal and as text; `assert_equal` makes it a test.
"""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import logging
import time
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from html import escape
from typing import TYPE_CHECKING, Any

from minilc.course import behaviours, divergences
from minilc.course.plain import (
    LIBRARIES,
    Difference,
    Reader,
    Record,
    first_difference,
    pretty,
)
from minilc.course.worlds import LANGCHAIN, MINILC, World

if TYPE_CHECKING:
    from rich.console import RenderableType

EQUAL, REGISTERED, DIFFERENT, STALE = "EQUAL", "REGISTERED", "DIFFERENT", "STALE"
LINES = 40  # of a value on the page; the rest is counted


def twin(
    function: Callable[[World], Any],
    *,
    title: str | None = None,
    differs: str | None = None,
    behaviour: str | None = None,
) -> Twin:
    """Run the function in both worlds and compare what came out.

    Args:
        function: takes the world. It may be async (in a notebook too, where a loop is running), may
            be a generator (which is run to its end), and may raise.
        title: what is compared; if None, the function's docstring or name.
        differs: the row of `divergences` by which minilc differs on purpose.
        behaviour: the row of `behaviours` by which upstream changed. It matters only where the
            installed release is older than the change.

    Raises:
        LookupError: there is no such row.
    """
    row: Row | None = None
    is_new = behaviour is None or behaviours.active(behaviour)
    # With both, minilc does as the older release did: only from the newer one it differs.
    if differs is not None and is_new:
        row = divergences.row(differs)
    elif differs is None and behaviour is not None and not is_new:
        row = behaviours.row(behaviour)
    ours, theirs = observe(function, MINILC), observe(function, LANGCHAIN)
    difference = first_difference(ours.compared, theirs.compared)
    return Twin(title or _title(function), ours, theirs, difference, row)


Row = divergences.Divergence | behaviours.Behaviour


def _title(function: Callable[..., Any]) -> str:
    document = inspect.getdoc(function) if inspect.isroutine(function) else None
    name = getattr(function, "__name__", type(function).__name__)
    words = "one function" if name == "<lambda>" else name.replace("_", " ").strip()
    return (document or words).partition("\n")[0]


# Running


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What one world made of the function.

    Args:
        result: what it returned, or the error that it raised, as plain data.
        raised: whether it is an error.
        warned: the warnings that it gave, but for those that only announce a deprecation.
        logged: what the libraries logged as a warning or worse; shown, not compared.
        rules: what was read as equal on the way.
        seconds: how long it took.
    """

    result: Any
    raised: bool = False
    warned: tuple[str, ...] = ()
    logged: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def compared(self) -> Any:
        """What decides about equality."""
        if not self.warned:
            return self.result
        return Record("outcome", {"": self.result, "warned": list(self.warned)})


def observe(function: Callable[[World], Any], world: World) -> Outcome:
    """Run the function in one world. Errors, warnings and log lines are kept, not passed on."""
    reader = Reader()
    with _collected() as (caught, logged):
        started = time.perf_counter()
        try:
            value = _call(function, world)
            raised = False
        except Exception as error:
            # An error is an outcome like any other: it is compared and shown, not hidden.
            value, raised = error, True
        seconds = time.perf_counter() - started
        result = reader.read(value)
    if raised:
        result = Record(f"raises {result.kind}", result.fields)
    warned = dict.fromkeys(
        f"{item.category.__name__}: {reader.clean(str(item.message))}"
        for item in caught
        if not issubclass(item.category, DeprecationWarning | PendingDeprecationWarning)
    )
    lines = tuple(reader.clean(line) for line in logged)
    return Outcome(result, raised, tuple(warned), lines, tuple(reader.rules), seconds)


def _call(function: Callable[[World], Any], world: World) -> Any:
    """Call, await, exhaust; in a thread of its own where a loop is already running."""

    def run() -> Any:
        result = function(world)
        if inspect.isawaitable(result) or isinstance(result, AsyncIterator):
            result = asyncio.run(_finished(result))
        return list(result) if inspect.isgenerator(result) else result

    try:
        asyncio.get_running_loop()
    except RuntimeError:  # Python's way to say that no loop is running.
        return run()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(copy_context().run, run).result()


async def _finished(result: Any) -> Any:
    if isinstance(result, AsyncIterator):
        return [item async for item in result]
    return await result


class _Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.levelname}: {record.getMessage()}")


@contextmanager
def _collected() -> Iterator[tuple[list[warnings.WarningMessage], list[str]]]:
    """Collect warnings, and the log lines of both worlds' libraries."""
    handler = _Lines()
    loggers = [logging.getLogger(name) for name in LIBRARIES]
    for logger in loggers:
        logger.addHandler(handler)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield caught, handler.lines
    finally:
        for logger in loggers:
            logger.removeHandler(handler)


# The result


@dataclasses.dataclass(frozen=True, repr=False)
class Twin:
    """One comparison and its verdict.

    Args:
        title: what was compared.
        minilc: what came out in minilc's world.
        langchain: what came out in LangChain's.
        difference: the first place where they differ; None if they are equal.
        row: the row that says that they differ on the installed version, if there is one.
    """

    title: str
    minilc: Outcome
    langchain: Outcome
    difference: Difference | None
    row: Row | None = None

    @property
    def verdict(self) -> str:
        """EQUAL, REGISTERED, DIFFERENT or STALE."""
        if self.difference is None:
            return EQUAL if self.row is None else STALE
        return DIFFERENT if self.row is None else REGISTERED

    @property
    def ok(self) -> bool:
        """Whether the outcome is as it should be: equal, or different as registered."""
        return self.verdict in (EQUAL, REGISTERED)

    def assert_equal(self) -> Twin:
        """Return the result itself, if it is equal, or different as its row says.

        Raises:
            AssertionError: it is not; the message is the whole comparison.
        """
        if not self.ok:
            raise AssertionError(self.text(lines=None))
        return self

    @property
    def reason(self) -> str:
        """What there is to say about the verdict: the first difference, or the row."""
        if self.row is None:
            return f"first at {self.difference}" if self.difference else ""
        if self.difference is None:
            return f"the row {self.row.id!r} says that they differ, and they do not"
        if isinstance(self.row, divergences.Divergence):
            return f"{self.row.id}: {self.row.why}"
        since = f"{self.row.package} {self.row.since}"
        return f"{self.row.id}, new in {since}: {self.row.new}. Before: {self.row.old}."

    @property
    def rules(self) -> tuple[str, ...]:
        """What was read as equal in either world."""
        return tuple(dict.fromkeys((*self.minilc.rules, *self.langchain.rules)))

    def _sides(self, lines: int | None) -> Iterator[tuple[str, str]]:
        """The name and the printed outcome of each world; the first difference is marked."""
        path = self.difference.path if self.difference else None
        for name, outcome in (("minilc", self.minilc), ("LangChain", self.langchain)):
            text = pretty(outcome.compared, mark=path).split("\n")
            text += [f"logged {line}" for line in outcome.logged]
            if lines is not None and len(text) > lines:
                text[lines:] = [f"... and {len(text) - lines} more lines"]
            yield name, "\n".join(text)

    def text(self, lines: int | None = LINES) -> str:
        """The comparison as plain text; `lines` limits each value, None does not."""
        shown = [f"{self.verdict}  {self.title}"]
        for name, value in self._sides(lines):
            first, *rest = _marked(value, ">>", "<<").split("\n")
            shown += [f"  {name:<10} {first}", *(f"{'':<13}{line}" for line in rest)]
        if self.reason:
            shown.append(f"  {self.reason}")
        if self.rules:
            shown.append(f"  read as equal: {', '.join(self.rules)}")
        return "\n".join(shown)

    __repr__ = text

    def _repr_html_(self) -> str:
        cells = [
            f'<td style="text-align:left;vertical-align:top"><pre style="{PRE}">'
            f"{_marked(escape(value), '<mark>', '</mark>')}</pre></td>"
            for _, value in self._sides(LINES)
        ]
        rules = f"<br><small>read as equal: {escape(', '.join(self.rules))}</small>"
        return (
            '<table style="border:1px solid currentColor">'
            f'<caption style="text-align:left;color:inherit">{escape(self.title)}</caption>'
            '<thead><tr><th scope="col" style="text-align:left">minilc</th>'
            '<th scope="col" style="text-align:left">LangChain</th></tr></thead>'
            f"<tbody><tr>{''.join(cells)}</tr></tbody>"
            '<tfoot><tr><td colspan="2" style="text-align:left">'
            f"<strong>{SIGNS[self.verdict]} {self.verdict}</strong> {escape(self.reason)}"
            f"{rules if self.rules else ''}</td></tr></tfoot></table>"
        )

    def __rich__(self) -> RenderableType:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        values = Table("minilc", "LangChain")
        values.add_row(*(_styled(value) for _, value in self._sides(None)))
        verdict = Text(f"{self.verdict}  {self.reason}", style="green" if self.ok else "red")
        return Group(Text(self.title), values, verdict)


PRE = "margin:0;white-space:pre-wrap;overflow-wrap:anywhere"
SIGNS = {EQUAL: "=", REGISTERED: "≈", DIFFERENT: "≠", STALE: "?"}


def _marked(text: str, before: str, after: str) -> str:
    return text.replace(Difference.OPEN, before).replace(Difference.CLOSE, after)


def _styled(text: str) -> Any:
    """The value for a terminal, the marked part in reverse."""
    from rich.text import Text

    before, _, rest = text.partition(Difference.OPEN)
    marked, _, after = rest.partition(Difference.CLOSE)
    return Text.assemble(before, (marked, "reverse"), after)


__all__ = ["Outcome", "Record", "Twin", "observe", "twin"]
