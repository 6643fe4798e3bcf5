"""Solutions of layer 5, convert."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any

from langchain_core.tools import BaseTool, tool


def convert_1(function: Callable[..., Any], log: list[str]) -> Callable[..., Any]:
    """Who stands between a function and `@tool` looks like the function, and waits like it."""
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            log.append(function.__name__)
            return await function(*args, **kwargs)

        return awaited

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        log.append(function.__name__)
        return function(*args, **kwargs)

    return called


def convert_2(*shape: Any, **options: Any) -> Any:
    """Look at the finished tool, now or when it is there."""

    def looked_at(made: BaseTool) -> BaseTool:
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", made.name):
            raise ValueError(f"no provider takes the name {made.name!r}")
        return made

    made = tool(*shape, **options)
    if isinstance(made, BaseTool):
        return looked_at(made)
    return lambda function: looked_at(made(function))
