"""Solutions of layer 4, structured."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from typing import Any

from langchain_core.tools import StructuredTool


def structured_1(function: Any, description: str | None, args_schema: Any) -> str:
    """The description that is given, else the docstring, else what the schema says of itself."""
    if description is None:
        of_schema = (
            args_schema.get("description")
            if isinstance(args_schema, dict)
            else getattr(args_schema, "__doc__", None)
        )
        found = function.__doc__ or of_schema
        if not found:
            raise ValueError("Function must have a docstring if description not provided.")
        description = textwrap.dedent(found)
    return description.strip()


def structured_2(cities: list[str]) -> list[StructuredTool]:
    """One function makes one tool, so that each tool keeps a city of its own."""

    def one(city: str) -> StructuredTool:
        def forecast(days: int = 1) -> str:
            return f"{city}, {days} days: sunny"

        name = f"forecast_{city.lower()}"
        text = f"The weather of {city}."
        return StructuredTool.from_function(forecast, name=name, description=text)

    return [one(city) for city in cities]


def structured_3(function: Callable[..., Any], args_schema: Any) -> set[str]:
    """What the schema sends and the function lacks, and what the function needs and never gets."""
    if isinstance(args_schema, dict):
        sent = set(args_schema["properties"])
    else:
        sent = set(args_schema.model_fields)
    parameters = inspect.signature(function).parameters.values()
    named = [one for one in parameters if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    needed = {one.name for one in named if one.default is one.empty}
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return needed - sent
    return (sent - {one.name for one in named}) | (needed - sent)
