"""Solutions of layer 2, schema."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_args, get_type_hints


def schema_1(docstring: str) -> dict[str, str]:
    """What the Args section says of each argument."""
    section = docstring.partition("\n\nArgs:\n")[2].partition("\n\n")[0]
    depth = len(section) - len(section.lstrip())
    described: dict[str, str] = {}
    name = ""
    for line in section.splitlines():
        if line[:depth].isspace() and not line[depth : depth + 1].isspace():
            head, _, text = line.partition(":")
            name = head.split()[0]
            described[name] = text.strip()
        else:
            described[name] += f" {line.strip()}"
    return described


def schema_2(function: Callable[..., Any], mark: type) -> list[str]:
    """The names that no mark hides."""

    def marked(extra: Any) -> bool:
        return isinstance(extra, mark) or (isinstance(extra, type) and issubclass(extra, mark))

    hints = get_type_hints(function, include_extras=True)
    names = inspect.signature(function).parameters
    return [name for name in names if not any(map(marked, get_args(hints.get(name))[1:]))]


def schema_3(function: Callable[..., Any]) -> list[str]:
    """The parameters that have no default."""
    parameters = inspect.signature(function).parameters
    return [name for name, one in parameters.items() if one.default is inspect.Parameter.empty]
