"""What the installed LangChain does, written down; and what another one does otherwise.

    minilc check --record now.json        # before an upgrade
    minilc check --against now.json       # after it: what moved, layer by layer
    minilc check --against langchain-1.2.15

A record holds the outcome of every comparison of `minilc check` in LangChain's world, the
signatures of the names that both worlds have, and a fingerprint of each function that the articles
name. Fingerprints are made of syntax trees: a function that only moved, or got another comment or
docstring, keeps its own.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib
import inspect
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from minilc.course.cases import Case, load
from minilc.course.layers import LAYERS, Layer
from minilc.course.plain import Record
from minilc.course.twin import observe
from minilc.course.upstream import Place, where
from minilc.course.versions import versions
from minilc.course.worlds import LANGCHAIN, UPSTREAM

RECORDS = Path(__file__).parent / "records"
BEHAVIOURS, SIGNATURES, BODIES = "behaviours", "signatures", "bodies"


@dataclass(frozen=True)
class Change:
    """Something that is not as it was.

    Args:
        layer: the layer's module.
        kind: one of `behaviours`, `signatures`, `bodies`.
        name: the case, or the symbol.
        title: what it is about, in words.
        before: what was recorded; None if there was none.
        after: what is so now; None if there is none.
        path: where inside of both the first difference is.
    """

    layer: str
    kind: str
    name: str
    title: str
    before: str | None
    after: str | None
    path: str = ""


# --- making one -----------------------------------------------------------------------------------


def make(step: Callable[[Case], None] = lambda case: None) -> dict[str, Any]:
    """Record what is installed; `step` is called after each comparison."""
    layers: dict[str, Any] = {}
    for row in LAYERS:
        outcomes = {}
        for case in load([row.number]):
            outcome = data_of(observe(case.run, LANGCHAIN).compared)
            outcomes[case.name] = {"title": case.title, "outcome": outcome}
            step(case)
        layers[row.module] = {BEHAVIOURS: outcomes, SIGNATURES: _signatures(row)}
    return {"versions": versions(), "layers": layers, BODIES: _bodies()}


def data_of(value: Any) -> Any:
    """Plain data as JSON knows it: a record becomes a dict with its kind."""
    if isinstance(value, Record):
        return {"<kind>": value.kind, **{k: data_of(v) for k, v in value.fields.items()}}
    if isinstance(value, dict):
        return {key if isinstance(key, str) else repr(key): data_of(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [data_of(one) for one in value]
    return value if value is None or isinstance(value, str | int | float | bool) else repr(value)


def _signatures(row: Layer) -> dict[str, str]:
    """The signatures of the public names that this layer of minilc has, in LangChain."""
    own = importlib.import_module(row.dotted)
    found = {}
    for name, module in UPSTREAM.items():
        if getattr(vars(own).get(name), "__module__", None) != row.dotted:
            continue
        if module.startswith("minilc"):
            continue
        value = getattr(importlib.import_module(module), name)
        found[f"{module}.{name}"] = _signature(value)
    return dict(sorted(found.items()))


def _signature(value: Any) -> str:
    """Parameters and defaults; without annotations, which say the same in many ways."""
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return type(value).__name__
    shown = [str(one.replace(annotation=one.empty)) for one in parameters]
    return re.sub(r" at 0x[0-9a-f]+", "", f"({', '.join(shown)})")


def _bodies() -> dict[str, str]:
    from minilc.course.articles.places import NAMED

    return {one.symbol: print_of(where(one.symbol).upstream) for one in NAMED if one.is_here}


@functools.cache
def print_of(place: Place) -> str:
    """The fingerprint of a definition: of its syntax tree, without docstrings."""
    tree = ast.parse(inspect.cleandoc("\n" + place.source))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and _is_docstring(body[0]):
            del body[0]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()[:16]


def _is_docstring(node: Any) -> bool:
    value = getattr(node, "value", None)
    return isinstance(node, ast.Expr) and isinstance(getattr(value, "value", None), str)


# --- keeping them ---------------------------------------------------------------------------------


def names() -> list[str]:
    """The records that come with minilc."""
    return sorted(path.stem for path in RECORDS.glob("*.json"))


def read(name: str) -> dict[str, Any]:
    """A record: one that comes with minilc by its name, or a file.

    Raises:
        LookupError: there is none.
    """
    path = RECORDS / f"{name}.json" if name in names() else Path(name)
    try:
        made = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(made["layers"], dict) or not isinstance(made["versions"], dict):
            raise TypeError
    except OSError as error:
        known = ", ".join(names())
        raise LookupError(f"no record {name!r} ({error.strerror}); there are {known}") from None
    except (ValueError, KeyError, TypeError):
        raise LookupError(f"{name!r} is no record of minilc check --record") from None
    return made


def write(made: dict[str, Any], path: Path) -> None:
    """Write a record to a file."""
    text = json.dumps(made, ensure_ascii=False, indent=1, sort_keys=True)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")


# --- comparing them -------------------------------------------------------------------------------


def compare(before: dict[str, Any], after: dict[str, Any]) -> Iterator[Change]:
    """What is not as it was, layer by layer."""
    for row in LAYERS:
        old = before["layers"].get(row.module, {})
        new = after["layers"].get(row.module, {})
        yield from _behaviours(row.module, old.get(BEHAVIOURS, {}), new.get(BEHAVIOURS, {}))
        signatures = old.get(SIGNATURES, {}), new.get(SIGNATURES, {})
        for name in sorted({*signatures[0], *signatures[1]}):
            told = [one.get(name) for one in signatures]
            if told[0] != told[1]:
                yield Change(row.module, SIGNATURES, name, f"{name} is called otherwise", *told)
    bodies = before.get(BODIES, {}), after.get(BODIES, {})
    for name in sorted({*bodies[0], *bodies[1]}):
        if bodies[0].get(name) != bodies[1].get(name):
            what = (
                "the body changed"
                if name in bodies[0] and name in bodies[1]
                else ("is gone" if name in bodies[0] else "is new")
            )
            yield Change(
                "", BODIES, name, f"{name}: {what}", bodies[0].get(name), bodies[1].get(name)
            )


def _behaviours(layer: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[Change]:
    # A comparison that only one record has says nothing of LangChain: minilc got it, or lost it.
    for name in (name for name in old if name in new):
        difference = _first_difference(old[name]["outcome"], new[name]["outcome"])
        if difference is not None:
            path, before, after = difference
            yield Change(layer, BEHAVIOURS, name, new[name]["title"], before, after, path)


def _first_difference(old: Any, new: Any, path: str = "") -> tuple[str, str, str] | None:
    """The innermost place at which two values differ, and both values there."""
    if old == new:
        return None
    if isinstance(old, dict) and isinstance(new, dict) and old.get("<kind>") == new.get("<kind>"):
        for key in {**old, **new}:
            if old.get(key) != new.get(key):
                if key in old and key in new:
                    return _first_difference(old[key], new[key], f"{path}.{key}" if key else path)
                return f"{path}.{key}".lstrip("."), _shown(old, key), _shown(new, key)
    if isinstance(old, list) and isinstance(new, list):
        for index in range(min(len(old), len(new))):
            if old[index] != new[index]:
                return _first_difference(old[index], new[index], f"{path}[{index}]")
        index = min(len(old), len(new))
        told = [_text(one[index]) if index < len(one) else "nothing" for one in (old, new)]
        return f"{path}[{index}]".lstrip("."), told[0], told[1]
    return path.lstrip("."), _text(old), _text(new)


def _shown(value: dict[str, Any], key: str) -> str:
    return _text(value[key]) if key in value else "nothing"


def _text(value: Any) -> str:
    """A value as a reader would write it."""
    if isinstance(value, dict) and "<kind>" in value:
        fields = [f"{k}={_text(v)}" if k else _text(v) for k, v in value.items() if k != "<kind>"]
        return f"{value['<kind>']}({', '.join(fields)})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {_text(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    return repr(value)
