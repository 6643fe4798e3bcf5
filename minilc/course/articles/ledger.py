"""The ledger: claims, the checks that run them on what is installed, and their verdicts.

For authors. A claim is one sentence of an article in our own words, and a check that computes its
verdict from what the installed library does:

    @claim("A-74", says="a plain function among the tools is made a tool", layer="tool_node")
    def plain_functions() -> Seen:
        node = ToolNode([get_weather])
        return Seen(node.tools_by_name["get_weather"].args == {...}, shows=node.tools_by_name)

1. `said` is whether what the claim says is what happens; `but` is whether something holds besides
   that a reader must know. Both are computed, never written down: a check that gives the same
   whatever LangChain does is none.
2. `really` says in a sentence what happens instead, or the nuance; it is empty where a claim holds.
3. `once` names the release for which a claim that does not hold any more was true. Without it the
   verdict is `wrong`.
4. `verdict` is what was recorded on each version set; by default it holds on both. A test runs
   every claim on both sets, and compares.
"""

from __future__ import annotations

import asyncio
import importlib
import pkgutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any

from minilc.course.versions import versions

HOLDS, NUANCE, CHANGED, WRONG = "holds", "holds with a nuance", "changed since", "wrong"
FAILS = "the check fails"

# The LangChain of each version set that verdicts were recorded on, the newest first.
SETS = {"one": "1.5.2", "two": "1.2.15"}


@dataclass(frozen=True)
class Seen:
    """What a check saw.

    Args:
        said: what the claim says is what happens.
        but: something else holds too, that a reader must know.
        shows: what was seen, for the table.
    """

    said: bool
    but: bool = False
    shows: Any = ""


@dataclass(frozen=True)
class Claim:
    """A sentence of an article that can be checked.

    Args:
        id: `A-01` is the first one of article A; the order is the article's.
        section: where it stands.
        says: what the article says, in our words.
        layer: minilc's module that it is about.
        check: computes what is so on the installed version.
        really: what happens instead, or besides.
        once: the release for which it was true.
        recorded: the verdict on each version set.
    """

    id: str
    section: str
    says: str
    layer: str
    check: Callable[[], Seen]
    really: str
    once: str
    recorded: dict[str, str]

    @property
    def article(self) -> str:
        """A or B."""
        return self.id[0]

    def run(self) -> Result:
        """The verdict on the installed version."""
        try:
            seen = _apart(self.check)
        except Exception as error:  # an upgrade may take away what the check looks at
            return Result(self, FAILS, f"{type(error).__name__}: {error}")
        if seen.said:
            return Result(self, NUANCE if seen.but else HOLDS, seen.shows)
        return Result(self, CHANGED if self.once else WRONG, seen.shows)


def _apart(check: Callable[[], Seen]) -> Seen:
    """Run a check; in a thread where a loop is running (in a notebook), as some start their own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:  # Python's way to say that no loop is running.
        return check()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(check).result()


@dataclass(frozen=True)
class Result:
    """A claim's verdict on the installed version, and what was seen."""

    claim: Claim
    verdict: str
    shows: Any

    @property
    def recorded(self) -> str:
        """What was recorded on this version set; on another version, on the newest one."""
        return self.claim.recorded[installed_set()]

    @property
    def as_recorded(self) -> bool:
        """Whether it is what was recorded."""
        return self.verdict == self.recorded


@cache
def installed_set() -> str:
    """The version set that is installed; the newest, if it is another one."""
    installed = versions(("langchain",))["langchain"]
    return next((name for name, version in SETS.items() if version == installed), "one")


_CLAIMS: dict[str, Claim] = {}
_SECTION: list[str] = [""]


def section(name: str) -> None:
    """Begin a section of an article; the claims below it are its claims."""
    _SECTION[0] = name


def claim(
    id: str,
    *,
    says: str,
    layer: str,
    really: str = "",
    once: str = "",
    verdict: str | tuple[str, str] = HOLDS,
) -> Callable[[Callable[[], Seen]], Callable[[], Seen]]:
    """Enter a claim into the ledger.

    Args:
        verdict: on both version sets, or on set one and on set two.

    Raises:
        ValueError: the id is taken, or words and verdict do not fit each other.
    """
    one, two = (verdict, verdict) if isinstance(verdict, str) else verdict
    if id in _CLAIMS:
        raise ValueError(f"claim {id!r} stands in the ledger already")
    if bool(really) == (one == two == HOLDS):
        raise ValueError(f"claim {id!r}: {one!r} and {two!r}, and really={really!r}")
    if (CHANGED in (one, two)) != bool(once):
        raise ValueError(f"claim {id!r}: {one!r} and {two!r}, and once={once!r}")

    def enter(check: Callable[[], Seen]) -> Callable[[], Seen]:
        recorded = {"one": one, "two": two}
        _CLAIMS[id] = Claim(id, _SECTION[0], says, layer, check, really, once, recorded)
        return check

    return enter


@cache
def claims() -> tuple[Claim, ...]:
    """Every claim, in the articles' order."""
    from minilc.course.articles import checks

    for module in pkgutil.iter_modules(checks.__path__):
        _SECTION[0] = ""
        importlib.import_module(f"{checks.__name__}.{module.name}")
    return tuple(_CLAIMS[id] for id in sorted(_CLAIMS, key=lambda id: (id[0], int(id[2:]))))


def run(wanted: Callable[[Claim], bool] = lambda one: True) -> Iterator[Result]:
    """Run the claims that are wanted, in order."""
    for one in claims():
        if wanted(one):
            yield one.run()
