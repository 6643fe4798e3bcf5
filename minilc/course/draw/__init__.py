"""Drawings of real runs, in one visual language, of either world.

    run = draw.record(agent, {"messages": [("user", "北京今天天气怎么样？")]})
    draw.graph(agent, taken=run)    # the graph, the route of the run, its steps numbered
    draw.sequence(run)              # who says what to whom, message by message
    draw.ledger(run)                # every call and its answer, by id
    draw.exits(edges, taken)        # the numbered exits of conditional edges, and the taken ones
    draw.steps(run)                 # who ran in which super-step, and the states between them
    lanes = draw.Lanes()            # which calls ran beside which; the tools mark it themselves

What comes back is a `Drawing`: it shows itself in a notebook, `save`s itself, and has its `svg`,
`png`, `text` and, for a graph, the `digraph` to change and to `draw.render`.
"""

from __future__ import annotations

from minilc.course.draw.branches import exits
from minilc.course.draw.drawing import Drawing
from minilc.course.draw.graphs import graph, render
from minilc.course.draw.lanes import Lanes
from minilc.course.draw.ledgers import entries, ledger
from minilc.course.draw.runs import Run, record
from minilc.course.draw.sequences import sequence
from minilc.course.draw.supersteps import steps

__all__ = [
    "Drawing",
    "Lanes",
    "Run",
    "entries",
    "exits",
    "graph",
    "ledger",
    "record",
    "render",
    "sequence",
    "steps",
]
