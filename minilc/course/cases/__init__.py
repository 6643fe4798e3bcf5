"""The comparisons, one module for each layer: what `minilc check` runs in both worlds.

    @case(3, "a number that arrives as text is coerced")
    def number_as_text(lc):
        @lc.tool
        def add(a: int, b: int) -> int:
            "Add."
            return a + b

        return add.invoke({"a": "3", "b": 4})

A case is a function of one argument `lc`, the world. It may be `async def`, may return anything
(messages, schemas, tools, lists of them; see `twin.plain` for how values are read) and may raise:
an error is an outcome like any other, compared by type and whole message. A generator is run to its
end. Whatever a case needs it makes inside, so that no run sees another's leftovers.

A module of cases does without `from __future__ import annotations`: where a signature names `lc`,
as in `Annotated[str, lc.InjectedState("user")]`, the annotation must be a value and not a text.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from minilc.course import behaviours, divergences
from minilc.course.layers import LAYERS, layer
from minilc.course.worlds import World


@dataclass(frozen=True)
class Case:
    """One comparison, and what is known about its outcome.

    Args:
        layer: the number of the layer that it judges.
        title: what is compared, as a sentence.
        run: the function of one argument `lc`.
        differs: a row of `divergences`: minilc differs on purpose.
        behaviour: a row of `behaviours`: upstream itself changed, and minilc does as the newer
            one; or as the older one, if `differs` is given as well.
    """

    layer: int
    title: str
    run: Callable[[World], Any]
    differs: str | None = None
    behaviour: str | None = None

    def __post_init__(self) -> None:
        layer(self.layer)
        if self.differs is not None:
            divergences.row(self.differs)
        if self.behaviour is not None:
            behaviours.row(self.behaviour)

    @property
    def name(self) -> str:
        """`base.number_as_text`: the layer's module and the function."""
        return f"{layer(self.layer).module}.{self.run.__name__}"

    @property
    def registered(self) -> str | None:
        """The row that says that both worlds differ on the installed version; None if equal."""
        is_new = self.behaviour is None or behaviours.active(self.behaviour)
        if self.differs is not None:
            return self.differs if is_new else None
        return None if is_new else self.behaviour


def case(
    layer: int | str, title: str, *, differs: str | None = None, behaviour: str | None = None
) -> Callable[[Callable[[World], Any]], Case]:
    """Make a function of one argument `lc` a case of a layer (its number or its module).

    Raises:
        LookupError: there is no such layer, or no such row in the register.
    """
    number = _number(layer)
    return lambda run: Case(number, title, run, differs, behaviour)


def _number(key: int | str) -> int:
    return layer(key).number


def load(keys: Iterable[int | str] | None = None) -> list[Case]:
    """The cases of these layers (all, if None), in the order of the layers and of their files."""
    chosen = LAYERS if keys is None else [layer(key) for key in keys]
    found = []
    for row in chosen:
        name = f"{__name__}.{row.module}"
        if find_spec(name) is not None:
            module = importlib.import_module(name)
            found += [value for value in vars(module).values() if isinstance(value, Case)]
    return found
