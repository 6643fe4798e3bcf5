"""Layer 4: a function with any number of arguments as a tool.

Mirrors langchain_core/tools/structured.py
Leaves out JSON dumps of a tool (its function and its schema have no JSON form).
"""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from pydantic import BaseModel

from minilc.base import ArgsSchema, _FunctionTool, _get_runnable_config_param
from minilc.schema import (
    FILTERED_ARGS,
    _get_injected_args_keys_from_signature,
    create_schema_from_function,
)


class StructuredTool(_FunctionTool):
    """A tool that calls a function with its arguments as keywords."""

    args_schema: Any

    @classmethod
    def from_function(
        cls,
        func: Callable[..., Any] | None = None,
        coroutine: Callable[..., Awaitable[Any]] | None = None,
        name: str | None = None,
        description: str | None = None,
        return_direct: bool = False,
        args_schema: ArgsSchema | None = None,
        infer_schema: bool = True,
        *,
        response_format: Literal["content", "content_and_artifact"] = "content",
        parse_docstring: bool = False,
        error_on_invalid_docstring: bool = False,
        **kwargs: Any,
    ) -> StructuredTool:
        """Make a tool of a function; name, description and schema come from it unless given.

        Raises:
            ValueError: there is no function, or nothing to describe it by.
        """
        source = func or coroutine
        if source is None:
            raise ValueError("Function and/or coroutine must be provided")
        name = name or source.__name__
        if args_schema is None and infer_schema:
            config_param = _get_runnable_config_param(source)
            args_schema = create_schema_from_function(
                name,
                source,
                filter_args=[*FILTERED_ARGS, *([config_param] if config_param else [])],
                parse_docstring=parse_docstring,
                error_on_invalid_docstring=error_on_invalid_docstring,
            )
        if description is None:
            docstring = None if parse_docstring else source.__doc__
            description = textwrap.dedent(docstring or _description_of_schema(args_schema))
        return cls(
            name=name,
            func=func,
            coroutine=coroutine,
            args_schema=args_schema,
            description=description.strip(),
            return_direct=return_direct,
            response_format=response_format,
            **kwargs,
        )

    @functools.cached_property
    def _injected_args_keys(self) -> frozenset[str]:
        source = self.func or self.coroutine
        return _get_injected_args_keys_from_signature(source) if source else frozenset()


def _description_of_schema(args_schema: ArgsSchema | None) -> str:
    """What the schema says of itself, for a function that has no docstring."""
    description: str | None = None
    if isinstance(args_schema, dict):
        description = args_schema.get("description")
    elif isinstance(args_schema, type) and issubclass(args_schema, BaseModel):
        description = args_schema.__doc__ or None
        if description and "A base class for creating Pydantic models" in description:
            description = ""  # Inherited from BaseModel: it describes nothing.
    elif args_schema:
        raise TypeError(f"Invalid args_schema: expected BaseModel or dict, got {args_schema}")
    if description is None:
        raise ValueError("Function must have a docstring if description not provided.")
    return description
