"""Solutions of notebook 17, articles."""

from __future__ import annotations

import threading
from typing import Any

from minilc.course.articles.ledger import Seen
from minilc.course.articles.support import QUESTION, call, calling, giving, scripted


def articles_1(create_agent: Any) -> Seen:
    """The error itself is an outcome; any other one is not caught."""
    agent = create_agent(scripted(calling(call("get")), "好。"), [giving(ValueError("kaput"))])
    try:
        messages = agent.invoke(QUESTION)["messages"]
    except ValueError as raised:
        return Seen(False, shows=repr(raised))
    answer = messages[2]
    return Seen(answer.type == "tool" and answer.status == "error", shows=answer.content)


def articles_2(run: Any) -> bool:
    """Each call waits inside of the tool until the other one is there too."""
    barrier = threading.Barrier(2, timeout=0.5)
    met = []

    def meet(number: int) -> str:
        try:
            barrier.wait()
            met.append(number)
        except threading.BrokenBarrierError:
            pass
        return str(number)

    run(meet, [1, 2])
    return sorted(met) == [1, 2]


def articles_3(before: dict[str, Any], after: dict[str, Any]) -> dict[str, list[str]]:
    """Only the outcomes of comparisons that both records have."""
    found = {}
    for layer in before["layers"].keys() & after["layers"].keys():
        old, new = (made["layers"][layer]["behaviours"] for made in (before, after))
        names = [
            name for name in old if name in new and old[name]["outcome"] != new[name]["outcome"]
        ]
        if names:
            found[layer] = names
    return found
