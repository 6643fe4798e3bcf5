"""The pictures in `images/`: drawn from real runs by one command, and tested to be up to date.

`minilc notebooks images` draws them again; README and notebooks show them from there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from minilc.course import draw
from minilc.course.worlds import LANGCHAIN

ROOT = Path(__file__).resolve().parents[2] / "images"
QUESTION = {"messages": [{"role": "user", "content": "北京今天天气怎么样？"}]}


def _agent(*calls: dict[str, Any]) -> Any:
    """The articles' weather agent, with a model that makes these calls and then answers."""
    lc = LANGCHAIN

    @lc.tool
    def get_weather(city: str) -> str:
        """查询指定城市的天气"""
        return f"{city}今天晴，25°C"

    script = [lc.AIMessage("", tool_calls=list(calls)), lc.AIMessage("今天北京天气晴，气温25°C")]
    return lc.create_agent(lc.ScriptedChatModel(script), [get_weather])


def _call(number: int, city: str) -> dict[str, Any]:
    arguments = {"city": city}
    return {
        "name": "get_weather",
        "args": arguments,
        "id": f"call_{number}",
        "type": "tool_call",
    }


def agent_graph() -> draw.Drawing:
    """What `create_agent` builds, before any run."""
    return draw.graph(_agent(_call(1, "北京")), title="What create_agent builds")


def agent_route() -> draw.Drawing:
    """The route of the weather question through that graph."""
    agent = _agent(_call(1, "北京"))
    run = draw.record(agent, QUESTION)
    return draw.graph(agent, taken=run, title="The weather question on its way through the agent")


def full_chain() -> draw.Drawing:
    """The figure that article A announces: the whole journey of one function call."""
    run = draw.record(_agent(_call(1, "北京")), QUESTION)
    return draw.sequence(run, title="The journey of one function call")


def complete_flow() -> draw.Drawing:
    """The figure that article B announces: the complete flow, here with two calls at once."""
    run = draw.record(_agent(_call(1, "北京"), _call(2, "上海")), QUESTION)
    return draw.sequence(run, title="Two calls at once, and what becomes of them")


def ledger() -> draw.Drawing:
    """A history whose books are not in order: answered, pending, orphan."""
    lc = LANGCHAIN
    history = [
        lc.HumanMessage("北京和上海今天天气怎么样？"),
        lc.AIMessage("", tool_calls=[_call(1, "北京"), _call(2, "上海")]),
        lc.ToolMessage("北京今天晴，25°C", tool_call_id="call_1"),
        lc.ToolMessage("上海今天晴，28°C", tool_call_id="call_9"),
    ]
    return draw.ledger(history, title="Calls and answers by id")


PICTURES: dict[str, Callable[[], draw.Drawing]] = {
    "agent-graph": agent_graph,
    "agent-route": agent_route,
    "full-chain": full_chain,
    "complete-flow": complete_flow,
    "ledger": ledger,
}


def stale(root: Path = ROOT) -> list[str]:
    """The names of the pictures whose file is not what they would be drawn as now."""
    return [
        name
        for name, picture in PICTURES.items()
        if not _path(name, root).exists()
        or _path(name, root).read_text(encoding="utf-8") != picture().svg
    ]


def run(names: Iterable[str] = (), root: Path = ROOT) -> int:
    """Draw the pictures, all or by name; return the exit status.

    Raises:
        LookupError: there is no picture of that name.
    """
    for name in list(names) or PICTURES:
        if name not in PICTURES:
            raise LookupError(f"no picture {name!r}; there are {', '.join(PICTURES)}")
        drawing = PICTURES[name]()
        if drawing.svg is None:
            print(f"{name}: nothing on this machine can lay it out", file=sys.stderr)
            return 1
        drawing.save(_path(name, root))
        print(f"images/{name}.svg: {drawing.title}")
    return 0


def _path(name: str, root: Path) -> Path:
    return root / f"{name}.svg"


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
