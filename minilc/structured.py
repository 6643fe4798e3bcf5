"""Layer 4: a function with any number of arguments as a tool.

Mirrors langchain_core/tools/structured.py
Leaves out JSON dumps of a tool (its function and its schema have no JSON form).
"""

import textwrap
from collections.abc import Awaitable, Callable
from typing import Any, Self

from minilc.base import _FunctionTool, _get_runnable_config_param
from minilc.schema import FILTERED_ARGS, ArgsSchema, create_schema_from_function


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
        *,
        args_schema: ArgsSchema | None = None,
        infer_schema: bool = True,
        parse_docstring: bool = False,
        error_on_invalid_docstring: bool = False,
        **fields: Any,
    ) -> Self:
        """Make a tool of a function; name, description and schema come from it unless given.

        Args:
            fields: what else a tool has: `return_direct`, `response_format`, `tags`, ...

        Raises:
            ValueError: there is no function, or nothing to describe it by.
        """
        if (source := func or coroutine) is None:
            raise ValueError("Function and/or coroutine must be provided")
        name = name or source.__name__
        if args_schema is None and infer_schema:
            args_schema = create_schema_from_function(
                name,
                source,
                filter_args=(*FILTERED_ARGS, _get_runnable_config_param(source)),
                parse_docstring=parse_docstring,
                error_on_invalid_docstring=error_on_invalid_docstring,
            )
        if description is None:
            # A schema that was parsed from the docstring has the part that is not `Args:`.
            given: Any = args_schema or {}
            told = given.get("description") if isinstance(given, dict) else given.__doc__
            if not (told := told if parse_docstring else source.__doc__ or told):
                raise ValueError("Function must have a docstring if description not provided.")
            description = textwrap.dedent(told)
        fields |= {"func": func, "coroutine": coroutine, "args_schema": args_schema}
        return cls(name=name, description=description.strip(), **fields)
