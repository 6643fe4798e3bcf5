"""Layer 2: a signature becomes an args schema; injected arguments are marked and hidden.

Mirrors langchain_core/tools/base.py, langchain_core/utils/{pydantic,function_calling}.py
Leaves out models of pydantic.v1, and what pydantic's deprecated decorator adds upstream: the loss
of parameters called `args` or `kwargs`, a placeholder field beside positional-only parameters.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import textwrap
from collections.abc import Callable, Sequence
from typing import Annotated, Any, get_args, get_origin, get_type_hints

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
    if injected_type is None:
        direct = get_origin(type_) or type_
        if isinstance(direct, type) and issubclass(direct, _DirectlyInjectedToolArg):
            return True
        injected_type = InjectedToolArg
    return any(
        isinstance(arg, injected_type) or isinstance(arg, type) and issubclass(arg, injected_type)
        for arg in get_args(type_)[1:]
    )


def create_schema_from_function(
    model_name: str,
    func: Callable[..., Any],
    *,
    filter_args: Sequence[str] | None = None,
    parse_docstring: bool = False,
    error_on_invalid_docstring: bool = False,
    include_injected: bool = True,
) -> type[BaseModel]:
    """Build the model that validates the arguments of `func`.

    Args:
        filter_args: parameters to leave out; by default `FILTERED_ARGS` and a method's `self`.
        include_injected: False for what a model sees, True for what the function needs.

    Raises:
        ValueError: `error_on_invalid_docstring`, and the docstring does not fit.
    """
    parameters = inspect.signature(func).parameters
    # With extras: `Annotated` carries descriptions, constraints and the marks of injection.
    hints = get_type_hints(func, include_extras=True)
    description, arg_descriptions = _infer_arg_descriptions(
        func, hints, parse_docstring, error_on_invalid_docstring
    )
    skipped = set(filter_args or FILTERED_ARGS)
    # A dot in the qualified name: the function belongs to a class.
    if not filter_args and "." in func.__qualname__:
        skipped |= {"self", "cls"} & set(list(parameters)[:1])
    fields = {}
    for name, parameter in parameters.items():
        hidden = not include_injected and _is_injected_arg_type(parameter.annotation)
        if name not in skipped and not hidden:
            field = _field_of_parameter(parameter, hints.get(name, Any))
            fields[name] = _plain_field(field, arg_descriptions.get(name, field.description))
    return _build_model(model_name, fields, description)


def _field_of_parameter(parameter: inspect.Parameter, annotation: Any) -> FieldInfo:
    # A model cannot write `*args`: it may fill a list and a dict under their names.
    if parameter.kind is parameter.VAR_POSITIONAL:
        return FieldInfo.from_annotated_attribute(tuple[annotation, ...], None)
    if parameter.kind is parameter.VAR_KEYWORD:
        return FieldInfo.from_annotated_attribute(dict[str, annotation], None)
    if parameter.default is parameter.empty:
        return FieldInfo.from_annotation(annotation)
    return FieldInfo.from_annotated_attribute(annotation, parameter.default)


def _plain_field(field: FieldInfo, description: str | None) -> tuple[Any, FieldInfo]:
    """The field with its type, constraints, default and description: aliases and titles go."""
    kwargs: dict[str, Any] = {"description": description}
    if field.default_factory is not None:
        kwargs["default_factory"] = field.default_factory
    else:
        kwargs["default"] = field.default
    plain = FieldInfo(**kwargs)
    plain.metadata = field.metadata
    return field.annotation, plain


def _build_model(name: str, fields: dict[str, Any], description: str) -> type[BaseModel]:
    # An injected argument may be of any class, and pydantic then checks the class only.
    config = ConfigDict(arbitrary_types_allowed=True)
    model: type[BaseModel] = create_model(name, __config__=config, **fields)
    model.__doc__ = textwrap.dedent(description)
    return model


def _create_subset_model(
    name: str, model: type[BaseModel], field_names: list[str], *, fn_description: str | None = None
) -> type[BaseModel]:
    """A model with some of the fields of another."""
    doc = fn_description or model.__doc__ or ""
    if model.__module__ == __name__ and field_names == list(model.model_fields):
        # One that was built here, to be shown whole: the same again would cost as much again.
        if (model.__name__, inspect.getdoc(model)) == (name, inspect.cleandoc(doc)):
            return model
    chosen = {field: model.model_fields[field] for field in field_names}
    fields = {field: _plain_field(info, info.description) for field, info in chosen.items()}
    return _build_model(name, fields, doc)


def get_all_basemodel_annotations(cls: type[BaseModel]) -> dict[str, Any]:
    """The annotation of every field, marks included."""
    return {name: field.rebuild_annotation() for name, field in cls.model_fields.items()}


def _without_injected(name: str, schema: ArgsSchema, description: str) -> ArgsSchema:
    """What the model sees of a tool's schema: the arguments that it fills."""
    if isinstance(schema, dict):
        return {**schema, "description": description} if description else schema
    # If a name in it could not be found when it was defined: now, or never.
    schema.model_rebuild()
    types = get_all_basemodel_annotations(schema)
    visible = [name for name, type_ in types.items() if not _is_injected_arg_type(type_)]
    return _create_subset_model(name, schema, visible, fn_description=description)


class _SchemaPlan:
    """What every call needs to know of an args schema, looked up once."""

    def __init__(self, schema: Any) -> None:
        types = get_all_basemodel_annotations(schema)
        self.names = list(types)
        self.tool_call_ids = [
            name
            for name, type_ in types.items()
            if _is_injected_arg_type(type_, InjectedToolCallId)
        ]
        self.variadic: list[str] = [name for name in ("args", "kwargs") if name in types]
        # `model_validate` calls this too, after a look at its own arguments.
        self.validate = schema.__pydantic_validator__.validate_python


def _json_schema(schema: ArgsSchema) -> dict[str, Any]:
    return schema if isinstance(schema, dict) else schema.model_json_schema()


def _is_model(schema: Any) -> bool:
    return isinstance(schema, type) and issubclass(schema, BaseModel)


def _infer_arg_descriptions(
    func: Callable[..., Any], hints: dict[str, Any], parse_docstring: bool, strict: bool
) -> tuple[str, dict[str, str]]:
    """What the docstring and `Annotated[..., "text"]` say of the function and its arguments."""
    description = inspect.getdoc(func) or ""
    arg_descriptions: dict[str, str] = {}
    if parse_docstring:
        description, arg_descriptions = _parse_google_docstring(
            description, list(hints), error_on_invalid_docstring=strict
        )
        # A text about an argument that does not exist is a typo that the model would never see.
        for name in arg_descriptions:
            if name not in hints:
                raise ValueError(f"Arg {name} in docstring not found in function signature.")
    for name, hint in hints.items():
        if name not in arg_descriptions and (text := _get_annotation_description(hint)):
            arg_descriptions[name] = text
    return description, arg_descriptions


def _get_annotation_description(hint: Any) -> str | None:
    if get_origin(hint) is Annotated:
        for metadata in get_args(hint)[1:]:
            if isinstance(metadata, str):
                return metadata
            if isinstance(metadata, FieldInfo) and metadata.description:
                return metadata.description
    return None


def _parse_google_docstring(
    docstring: str | None, args: list[str], *, error_on_invalid_docstring: bool = False
) -> tuple[str, dict[str, str]]:
    """Read a Google-style docstring: what stands before `Args:`, and each argument's text.

    Raises:
        ValueError: `error_on_invalid_docstring`, and there are arguments but no `Args:` block.
    """
    blocks = docstring.split("\n\n") if docstring else []
    described = [a for a in args if a not in (*FILTERED_ARGS, "runtime", "return")]
    no_args_block = not any(block.startswith("Args:") for block in blocks[1:])
    if error_on_invalid_docstring and (not blocks or described and no_args_block):
        raise ValueError("Found invalid Google-Style docstring.")
    summary: list[str] = []
    in_summary = True
    for block in blocks:
        if block.startswith("Args:"):
            return " ".join(summary).strip(), _parse_args_block(block)
        in_summary = in_summary and not block.startswith(("Returns:", "Example:"))
        if in_summary:
            summary.append(block)
    return " ".join(summary).strip(), {}


def _parse_args_block(block: str) -> dict[str, str]:
    descriptions: dict[str, str] = {}
    name: str | None = None
    first_indent: int | None = None
    for line in filter(str.strip, block.split("\n")[1:]):
        indent = len(line) - len(line.lstrip())
        if first_indent is None and ":" in line:
            first_indent = indent
        # A line that is indented deeper than the first argument goes on with the last one.
        deeper = first_indent is not None and indent > first_indent
        if ":" in line and not (name and deeper):
            name, text = (part.strip() for part in line.split(":", maxsplit=1))
            bare, _, type_ = name.partition(" ")
            name = bare if type_.startswith("(") and type_.endswith(")") else name
            descriptions[name] = text
        elif name:
            descriptions[name] += " " + line.strip()
    return descriptions


def _get_injected_args_keys_from_signature(func: Callable[..., Any]) -> frozenset[str]:
    """The names of the parameters that carry a mark, string annotations resolved."""
    hints, parameters = _get_type_hints(func), inspect.signature(func).parameters
    return frozenset(n for n in parameters if _is_injected_arg_type(hints.get(n)))


def _get_type_hints(func: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of `func`, each resolved on its own: one that cannot be hides no other."""
    source: Any = inspect.unwrap(func)
    while isinstance(source, functools.partial):
        source = source.func
    hints: dict[str, Any] = {}
    for name, annotation in getattr(source, "__annotations__", {}).items():
        holder = type("holder", (), {"__annotations__": {name: annotation}})
        with contextlib.suppress(NameError, AttributeError):
            hints |= get_type_hints(holder, source.__globals__, include_extras=True)
    return hints
