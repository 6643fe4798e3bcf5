"""Layer 5: `@tool` in all its call shapes.

Mirrors langchain_core/tools/convert.py
Leaves out `convert_runnable_to_tool` (`runnable.as_tool`).
"""

import inspect
from collections.abc import Callable
from typing import Any, Literal

from minilc.base import BaseTool, Tool
from minilc.schema import ArgsSchema, _json_schema
from minilc.structured import StructuredTool


def tool(
    name_or_callable: str | Callable[..., Any] | None = None,
    runnable: Any = None,
    *args: Any,
    description: str | None = None,
    return_direct: bool = False,
    args_schema: ArgsSchema | None = None,
    infer_schema: bool = True,
    response_format: Literal["content", "content_and_artifact"] = "content",
    parse_docstring: bool = False,
    error_on_invalid_docstring: bool = True,
    extras: dict[str, Any] | None = None,
) -> Any:
    """Make a tool: `@tool`, `@tool()`, `@tool("name")`, `tool("name", function_or_runnable)`.

    Raises:
        ValueError: a call that is none of these, or a function without a description.
    """
    if args:
        raise ValueError("Too many arguments for tool decorator. A decorator ")
    options = {"return_direct": return_direct, "response_format": response_format, "extras": extras}

    def make(name: str, source: Any) -> BaseTool:
        schema, text = args_schema, description
        func, coroutine = (None, source) if inspect.iscoroutinefunction(source) else (source, None)
        # Known by its looks, so that minilc's runnables and LangChain's are both taken.
        if hasattr(source, "get_input_schema") and not isinstance(source, type):
            schema, text = source.get_input_schema(), description or repr(source)
            if _json_schema(schema).get("type") != "object":
                raise ValueError("Runnable must have an object schema.")
            func, coroutine = lambda **kw: source.invoke(kw), lambda **kw: source.ainvoke(kw)
        given: dict[str, Any] = {"name": name, "func": func, "coroutine": coroutine, **options}
        if infer_schema or args_schema is not None:
            return StructuredTool.from_function(
                **given,
                description=text,
                args_schema=schema,
                parse_docstring=parse_docstring,
                error_on_invalid_docstring=error_on_invalid_docstring,
            )
        need = "Function must have either a docstring or description when infer_schema is False."
        if (text := text or source.__doc__) is None:
            raise ValueError(need)
        return Tool(**given, description=text)

    if runnable is not None:
        if not name_or_callable or not isinstance(name_or_callable, str):
            fault = "Name must be a string" if name_or_callable else "Runnable without name"
            raise ValueError(f"{fault} for tool constructor")
        return make(name_or_callable, runnable)
    if name_or_callable is None or isinstance(name_or_callable, str):
        return lambda source: make(name_or_callable or source.__name__, source)
    if callable(name_or_callable) and hasattr(name_or_callable, "__name__"):
        return make(name_or_callable.__name__, name_or_callable)
    text = "The first argument must be a string or a callable with a __name__ for tool decorator."
    raise ValueError(f"{text} Got {type(name_or_callable)}")
