"""Layer 2: a signature becomes an args schema; injected arguments are marked and hidden.

Mirrors langchain_core/tools/base.py, langchain_core/utils/{pydantic,function_calling}.py
Leaves out models of pydantic.v1, the loss of a Field's alias, title and examples, what pydantic's
deprecated decorator adds upstream (the loss of parameters called `args` or `kwargs`, a placeholder
field beside positional-only parameters), and resolving each annotation on its own, so that a name
that cannot be found is always an error.
"""

import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, create_model
from pydantic.fields import FieldInfo

ArgsSchema = type[BaseModel] | dict[str, Any]

# Parameters that upstream fills with its callbacks: no schema ever shows them.
FILTERED_ARGS = ("run_manager", "callbacks")


class InjectedToolArg:
    """Marks a parameter, `Annotated[T, InjectedToolArg]`, that the model does not fill."""


class InjectedToolCallId(InjectedToolArg):
    """Marks a parameter that gets the id of the tool call."""


class _DirectlyInjectedToolArg:
    """Base of types that are a mark themselves, such as ToolRuntime: no `Annotated` needed."""


def _is_injected_arg_type(type_: Any, injected_type: type | None = None) -> bool:
    """Whether an annotation carries the mark `injected_type`, by default any mark."""
    kinds = injected_type or (InjectedToolArg, _DirectlyInjectedToolArg)
    # A mark may be given as a class or as an object; some types are marks themselves.
    marks = [get_origin(type_) or type_, *get_args(type_)[1:]]
    return any(issubclass(mark if isinstance(mark, type) else type(mark), kinds) for mark in marks)


def create_schema_from_function(
    model_name: str,
    func: Callable[..., Any],
    *,
    filter_args: Sequence[str | None] = FILTERED_ARGS,
    parse_docstring: bool = False,
    error_on_invalid_docstring: bool = False,
    include_injected: bool = True,
) -> type[BaseModel]:
    """Build the model that validates the arguments of `func`.

    Args:
        filter_args: parameters to leave out; a method's `self` is left out too.
        include_injected: False for what a model sees, True for what the function needs.

    Raises:
        ValueError: `error_on_invalid_docstring`, and the docstring does not fit.
    """
    parameters = inspect.signature(func).parameters
    # With extras: `Annotated` carries descriptions, constraints and the marks of injection.
    hints = get_type_hints(func, include_extras=True)
    doc, texts = inspect.cleandoc(func.__doc__ or ""), dict[str, str]()
    if parse_docstring:
        strict = error_on_invalid_docstring
        doc, texts = _parse_google_docstring(doc, [*hints], error_on_invalid_docstring=strict)
    # A text about an argument that does not exist is a typo that the model would never see.
    if unknown := [name for name in texts if name not in hints]:
        raise ValueError(f"Arg {unknown[0]} in docstring not found in function signature.")
    # A dot in the qualified name: the function belongs to a class.
    own = {"self", "cls"} & set(list(parameters)[:1]) if "." in func.__qualname__ else set()
    fields = {}
    for name, parameter in parameters.items():
        hidden = not include_injected and _is_injected_arg_type(parameter.annotation)
        if not hidden and name not in (*filter_args, *own):
            fields[name] = _field_of_parameter(parameter, hints.get(name, Any), texts.get(name))
    return _build_model(model_name, fields, doc)


def _field_of_parameter(parameter: inspect.Parameter, annotation: Any, text: str | None) -> Any:
    """The field; the docstring's text describes it, else the first text in an `Annotated`."""
    texts = [text, *(getattr(m, "description", m) for m in getattr(annotation, "__metadata__", ()))]
    default = ... if parameter.default is parameter.empty else parameter.default
    # A model cannot write `*args`: it may fill a list and a dict under their names.
    if parameter.kind is parameter.VAR_POSITIONAL:
        annotation, default = tuple[annotation, ...], None
    elif parameter.kind is parameter.VAR_KEYWORD:
        annotation, default = dict[str, annotation], None
    field = FieldInfo.from_annotated_attribute(annotation, default)
    field.description = next((t for t in texts if t and isinstance(t, str)), field.description)
    return field.annotation, field


def _build_model(name: str, fields: dict[str, Any], doc: str) -> type[BaseModel]:
    # An injected argument may be of any class, and pydantic then checks the class only.
    # It comes by its name, also where the model knows the argument by an alias.
    config = ConfigDict(arbitrary_types_allowed=True, populate_by_name=True)
    return create_model(name, __config__=config, __doc__=doc, **fields)


def get_all_basemodel_annotations(cls: type[BaseModel]) -> dict[str, Any]:
    """The annotation of every field, marks included."""
    return {name: field.rebuild_annotation() for name, field in cls.model_fields.items()}


def _without_injected(name: str, schema: ArgsSchema, description: str) -> ArgsSchema:
    """What the model sees of a tool's schema: the arguments that it fills."""
    if isinstance(schema, dict):
        return {**schema, "description": description} if description else schema
    # If a name in it could not be found when it was defined: now, or never.
    schema.model_rebuild()
    hidden, infos = _injected_names(schema), schema.model_fields.items()
    doc = inspect.cleandoc(description or schema.__doc__ or "")
    if not hidden and (schema.__module__, schema.__name__, schema.__doc__) == (__name__, name, doc):
        # Built here, to be shown as it is: the same again would cost as much again.
        return schema
    fields = {field: (info.annotation, info) for field, info in infos if field not in hidden}
    return _build_model(name, fields, doc)


def _json_schema(schema: ArgsSchema) -> dict[str, Any]:
    return schema if isinstance(schema, dict) else schema.model_json_schema()


def _parse_google_docstring(
    docstring: str | None, args: list[str], *, error_on_invalid_docstring: bool = False
) -> tuple[str, dict[str, str]]:
    """Read a Google-style docstring: what stands before `Args:`, and each argument's text.

    Raises:
        ValueError: `error_on_invalid_docstring`, and there are arguments but no `Args:` block.
    """
    blocks = (docstring or "").split("\n\n")
    args_block = next((block for block in blocks if block.startswith("Args:")), "")
    described = [arg for arg in args if arg not in (*FILTERED_ARGS, "runtime", "return")]
    if error_on_invalid_docstring and (not docstring or described and not args_block):
        raise ValueError("Found invalid Google-Style docstring.")
    ends = ("Args:", "Returns:", "Example:")
    end = next((index for index, block in enumerate(blocks) if block.startswith(ends)), None)
    lines = inspect.cleandoc(args_block).partition("\n")[2]
    # What is indented deeper than the name before it goes on with its text.
    entries = [entry.partition(":") for entry in re.split(r"\n(?=\S.*:)", lines)]
    texts = {name.split(" (")[0].strip(): text for name, colon, text in entries if colon}
    texts = {k: " ".join(map(str.strip, text.splitlines())).strip() for k, text in texts.items()}
    return " ".join(blocks[:end]).strip(), texts


def _injected_names(schema: Any, func: Any = None, kind: type | None = None) -> frozenset[str]:
    """The arguments that carry a mark, in a schema or in the signature of a function."""
    types = _get_type_hints(func) if func else {}
    types |= get_all_basemodel_annotations(schema) if schema else {}
    return frozenset(name for name, type_ in types.items() if _is_injected_arg_type(type_, kind))


def _get_type_hints(func: Any) -> dict[str, Any]:
    # A partial has no annotations of its own.
    return get_type_hints(getattr(func, "func", func), include_extras=True)
