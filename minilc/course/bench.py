"""minilc's time and memory as a share of LangChain's, measured side by side in one run.

Every row runs both worlds in turn, many times, and reports the median of the paired ratios: a
machine that is slow for a while is slow for both. What the two worlds return is compared first,
so that a fast wrong answer shows. Times vary between machines; no test asserts one.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import math
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, validate_call

from minilc.course.plain import Reader
from minilc.course.terminal import console, progress, survive_any_code_page, table
from minilc.course.worlds import LANGCHAIN, MINILC, World


@dataclass(frozen=True)
class Row:
    """One measured figure and the ceiling that it is held against."""

    name: str
    value: float
    ceiling: float
    detail: str = ""

    @property
    def within(self) -> bool:
        return self.value <= self.ceiling


def seconds(function: Callable[[], Any], repeat: int = 1) -> float:
    """Wall time of one call in seconds, averaged over `repeat` calls in a row."""
    start = time.perf_counter()
    for _ in range(repeat):
        function()
    return (time.perf_counter() - start) / repeat


def paired_ratio(
    ours: Callable[[], Any], theirs: Callable[[], Any], *, rounds: int, repeat: tuple[int, int]
) -> tuple[float, float, float]:
    """The median of ours/theirs over `rounds` pairs, and both medians in seconds."""
    ours(), theirs()
    pairs = []
    for index in range(rounds):
        if index % 2:
            theirs_seconds = seconds(theirs, repeat[1])
            pairs.append((seconds(ours, repeat[0]), theirs_seconds))
        else:
            pairs.append((seconds(ours, repeat[0]), seconds(theirs, repeat[1])))
    ratios = [ours_seconds / theirs_seconds for ours_seconds, theirs_seconds in pairs]
    mine, others = zip(*pairs, strict=True)
    return statistics.median(ratios), statistics.median(mine), statistics.median(others)


def compare(
    name: str,
    make: Callable[[World], Callable[[], Any]],
    ceiling: float,
    *,
    rounds: int = 15,
    repeat: tuple[int, int] = (1, 1),
    units: int = 1,
) -> Row:
    """A row for `make(lc)`, which returns the action to time; `units` is calls per action.

    Raises:
        AssertionError: the two worlds' actions return different things.
    """
    ours, theirs = make(MINILC), make(LANGCHAIN)
    first, second = Reader().read(ours()), Reader().read(theirs())
    assert first == second, f"{name}: the worlds differ\n  minilc    {first}\n  langchain {second}"
    ratio, mine, others = paired_ratio(ours, theirs, rounds=rounds, repeat=repeat)
    detail = f"{_time(mine / units)} against {_time(others / units)}"
    return Row(name, ratio, ceiling, detail)


def _time(value: float) -> str:
    return f"{value * 1e6:.1f} µs" if value < 1e-3 else f"{value * 1e3:.2f} ms"


# --- what is measured -----------------------------------------------------------------------------


def get_weather(city: str, days: int = 1) -> str:
    """Get the weather of a city for some days."""
    return f"{city}: sunny for {days}"


class Point(BaseModel):
    """A place on a map."""

    x: float
    y: float


def route(a: Point, b: Point, c: Point, d: Point, e: Point) -> int:
    """Count the places of a route."""
    return len([a, b, c, d, e])


WEATHER = {"city": "北京", "days": 3}
ROUTE = {name: {"x": 1.5, "y": 2} for name in "abcde"}


def _invoke(function: Callable[..., Any], arguments: dict[str, Any]) -> Callable[[World], Any]:
    def make(lc: World) -> Callable[[], Any]:
        tool = lc.tool(function)
        return lambda: tool.invoke(arguments)

    return make


def _bare(function: Callable[..., Any], arguments: dict[str, Any]) -> Row:
    tool, bare = MINILC.tool(function), validate_call(function)
    assert tool.invoke(arguments) == bare(**arguments)
    ratio, mine, others = paired_ratio(
        lambda: tool.invoke(arguments), lambda: bare(**arguments), rounds=31, repeat=(500, 500)
    )
    detail = f"{_time(mine)} against {_time(others)}"
    return Row("tool.invoke against a bare validated call", ratio, 2.0, detail)


def _define(lc: World) -> Callable[[], Any]:
    return lambda: lc.tool(get_weather).tool_call_schema.model_json_schema()


def call(index: int, name: str = "get_weather", **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args, "id": f"call_{index}", "type": "tool_call"}


def _node(calls: int) -> Callable[[World], Callable[[], Any]]:
    def make(lc: World) -> Callable[[], Any]:
        node = lc.ToolNode([lc.tool(get_weather)])
        state = {
            "messages": [lc.AIMessage("", tool_calls=[call(n, city="北京") for n in range(calls)])]
        }
        config = {"configurable": {"__pregel_runtime": lc.Runtime()}}
        return lambda: node.invoke(state, config)

    return make


def _sleeping_calls(count: int, pause: float) -> Iterator[Row]:
    """How much longer `count` calls that sleep at once take than one of them sleeps."""

    def nap(number: int) -> int:
        """Sleep a little."""
        time.sleep(pause)
        return number

    async def anap(number: int) -> int:
        """Sleep a little."""
        await asyncio.sleep(pause)
        return number

    config = {"configurable": {"__pregel_runtime": MINILC.Runtime()}}
    calls = [call(n, "nap", number=n) for n in range(count)]
    state = {"messages": [MINILC.AIMessage("", tool_calls=calls)]}
    node = MINILC.ToolNode([MINILC.StructuredTool.from_function(nap, anap)])

    def check(answer: Any) -> None:
        assert [int(message.content) for message in answer["messages"]] == list(range(count))

    def once() -> None:
        check(node.invoke(state, config))

    async def aonce() -> None:
        check(await node.ainvoke(state, config))

    def pool() -> None:
        with ThreadPoolExecutor(count) as executor:
            assert list(executor.map(nap, range(count))) == list(range(count))

    bare = _time(statistics.median(seconds(pool) for _ in range(7)))
    for name, action in (("sync", once), ("async", lambda: asyncio.run(aonce()))):
        taken = statistics.median(seconds(action) for _ in range(7))
        detail = f"{_time(taken)} for {_time(pause)}; a bare thread pool takes {bare}"
        title = f"{count} calls that sleep {pause * 1e3:.0f} ms, {name}, against the ideal"
        yield Row(title, taken / pause, 2.2, detail)


def _agent(lc: World, turns: int) -> Callable[[], Any]:
    """A run of `turns` turns: the model asks for a tool, the tool answers; then a last answer."""

    class Endless(lc.GenericFakeChatModel):  # type: ignore[misc, name-defined]
        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            return self

    def script() -> Iterator[Any]:
        for number in range(turns):
            yield lc.AIMessage("", tool_calls=[call(number, city="北京")])
        yield lc.AIMessage("sunny")

    # Made once: to define a tool has a row of its own.
    model = Endless(messages=script())
    agent = lc.create_agent(model, [lc.tool(get_weather)])

    def run() -> Any:
        model.messages = script()
        answer = agent.invoke({"messages": [("user", "北京?")]})
        return [len(answer["messages"]), answer["messages"][-2:]]

    return run


def _growth(short: int, long: int) -> Row:
    """The exponent with which a run's time grows with its number of turns."""
    runs = {turns: _agent(MINILC, turns) for turns in (short, long)}
    for run in runs.values():
        run()
    exponents = []
    for _ in range(7):
        times = {turns: seconds(run) for turns, run in runs.items()}
        exponents.append(math.log(times[long] / times[short]) / math.log(long / short))
    detail = f"{_time(times[short])} for {short} turns, {_time(times[long])} for {long}"
    return Row("growth of a run with its turns", statistics.median(exponents), 1.2, detail)


def _memory(turns: int) -> Row:
    """Peak of traced memory in a run of `turns` turns, ours as a share of theirs."""
    peaks = {}
    for lc in (MINILC, LANGCHAIN):
        run = _agent(lc, turns)
        gc.collect()
        tracemalloc.start()
        run()
        peaks[lc.name] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    ours, theirs = peaks["minilc"], peaks["langchain"]
    detail = f"{ours / 2**20:.1f} MiB against {theirs / 2**20:.1f} MiB at the peak"
    return Row(f"memory of {turns:,} turns", ours / theirs, 0.65, detail)


# LangChain's side of the import: what minilc's exports cover.
_IMPORTS = {
    "minilc": "import minilc",
    "langchain": "import langchain.agents, langgraph.prebuilt, langchain_core.tools",
}


def _import() -> Iterator[Row]:
    times: dict[str, list[float]] = {name: [] for name in _IMPORTS}
    program = (
        "import sys, time; before = len(sys.modules); start = time.perf_counter(); {}; "
        "print(time.perf_counter() - start, len(sys.modules))"
    )
    for _ in range(5):
        for name, statement in _IMPORTS.items():
            output = subprocess.run(
                [sys.executable, "-c", program.format(statement)],
                check=True,
                capture_output=True,
                text=True,
            ).stdout.split()
            times[name].append(float(output[0]))
            if name == "minilc":
                modules = int(output[1])
    pairs = zip(times["minilc"], times["langchain"], strict=True)
    ratio = statistics.median(ours / theirs for ours, theirs in pairs)
    medians = [_time(statistics.median(times[name])) for name in _IMPORTS]
    yield Row("import minilc", ratio, 0.2, f"{medians[0]} against {medians[1]}")
    yield Row("modules loaded by import minilc", modules, 280)


ROWS = 14  # for the progress bar


def measure() -> Iterator[Row]:
    """Every row, one after the other."""
    yield compare("tool.invoke", _invoke(get_weather, WEATHER), 0.03, repeat=(300, 20))
    yield _bare(get_weather, WEATHER)
    yield compare(
        "tool.invoke, five nested arguments", _invoke(route, ROUTE), 0.03, repeat=(300, 20)
    )
    yield compare("defining a tool, with its first schema", _define, 0.45, repeat=(10, 10))
    for calls in (4, 16, 64):
        name = f"ToolNode, overhead per call at {calls} calls"
        yield compare(name, _node(calls), 0.03, rounds=21, repeat=(10, 3), units=calls)
    yield from _sleeping_calls(256, 0.01)
    turns = 50
    yield compare(
        "a turn of the agent's loop", lambda lc: _agent(lc, turns), 0.03, rounds=9, units=turns
    )
    yield _growth(300, 1000)
    yield _memory(1000)
    yield from _import()


def add_parser(subparsers: Any) -> None:
    """Add `minilc bench`."""
    parser = subparsers.add_parser("bench", help="measure minilc beside LangChain")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace | None = None) -> int:
    """Print the table. Exit status 1 if a figure is above its ceiling."""
    screen = console()
    shown = table("what", "how", "measured", "ceiling", numbers=2)
    above = 0
    with progress(screen) as bar:
        for row in bar.track(measure(), total=ROWS, description="measuring"):
            above += not row.within
            mark = "" if row.within else " (above)"
            shown.add_row(row.name, row.detail, f"{row.value:.3g}", f"{row.ceiling:g}{mark}")
    screen.print(shown)
    return 1 if above else 0


if __name__ == "__main__":
    survive_any_code_page()
    sys.exit(run())
