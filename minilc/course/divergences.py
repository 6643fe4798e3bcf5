"""Where minilc differs from LangChain on purpose: the register.

A difference that has a row here is shown with its reason; any other difference is a fault. Every
row is named by a case or a test that shows both sides.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Divergence:
    """One difference on purpose.

    Args:
        id: its name, in `differs=` of cases and of `twin`.
        layer: the number of the layer.
        upstream: what LangChain does.
        minilc: what minilc does.
        why: the reason.
    """

    id: str
    layer: int
    upstream: str
    minilc: str
    why: str


DIVERGENCES: tuple[Divergence, ...] = (
    Divergence(
        "parameter-called-args",
        2,
        "A plain parameter called args or kwargs is taken for a variadic one and is lost.",
        "It is a parameter like others.",
        "Upstream's way is an accident of names; to rebuild it would teach nothing.",
    ),
    Divergence(
        "pydantic-v1",
        2,
        "It takes models of pydantic.v1, and refuses to mix both generations in one signature.",
        "It knows pydantic's second generation alone.",
        "The first one has been replaced since 2023, and is told apart in many places upstream.",
    ),
    Divergence(
        "unknown-destination",
        8,
        "A branch that goes to a node that does not exist ends the run; a log line says so.",
        "It raises, and names the node and the ones that exist.",
        "A run that stops halfway and looks finished is the hardest kind of fault to find.",
    ),
)


def row(id: str) -> Divergence:
    """The row with this id.

    Raises:
        LookupError: there is none; the message lists the ids.
    """
    for entry in DIVERGENCES:
        if entry.id == id:
            return entry
    known = ", ".join(entry.id for entry in DIVERGENCES)
    raise LookupError(f"no divergence {id!r}; the register has {known}")
