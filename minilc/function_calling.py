"""Layer 6: a tool becomes the JSON that a provider gets: OpenAI's shape, Anthropic's, Gemini's.

Mirrors langchain_core/utils/{function_calling,json_schema}.py, convert_to_anthropic_tool of
langchain_anthropic/chat_models.py, langchain_google_genai/_function_utils.py
Leaves out pydantic.v1 models, Bedrock's dicts, OpenAI's custom (free text) tools, Google's own
tools, convert_to_json_schema, tool_example_to_messages.
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, Field
from pydantic.errors import PydanticInvalidForJsonSchema
from typing_extensions import is_typeddict

from minilc.base import BaseTool, Tool
from minilc.schema import _build_model, _parse_google_docstring, create_schema_from_function

# Tools that OpenAI runs itself; their dicts are sent as they are. "function" is one of ours.
_WellKnownOpenAITools = frozenset(
    "function file_search computer computer_use_preview code_interpreter mcp image_generation "
    "web_search_preview web_search tool_search apply_patch namespace".split()
)

# What Anthropic takes beside the name; a tool carries it in `extras`.
_ANTHROPIC_EXTRA_FIELDS = frozenset(
    "allowed_callers cache_control defer_loading eager_input_streaming input_examples".split()
)


def convert_to_openai_tool(tool: Any, *, strict: bool | None = None) -> dict[str, Any]:
    """`tool` as OpenAI takes it in `tools`; what it may be says `convert_to_openai_function`."""
    if isinstance(tool, dict):
        kind = tool.get("type") or ""
        if kind in _WellKnownOpenAITools or kind.startswith("web_search_preview"):
            return tool
    return {"type": "function", "function": convert_to_openai_function(tool, strict=strict)}


def convert_to_openai_function(function: Any, *, strict: bool | None = None) -> dict[str, Any]:
    """The name, the description and the parameters (a JSON schema without references).

    Args:
        function: a tool, a function, a pydantic model, a TypedDict, or a dict: a JSON schema with
            a title, or a tool as OpenAI or Anthropic write it.
        strict: True makes the model keep to the schema: all is required, nothing may be added.

    Raises:
        ValueError: `function` is none of these, or it has another `strict` of its own.
    """
    result = _to_openai_function(function)
    if strict is None:
        return result
    if result.get("strict", strict) != strict:
        raise ValueError(
            f"Tool/function already has a 'strict' key with value {result['strict']} which is "
            f"different from the explicit `strict` arg received {strict=}."
        )
    result["strict"] = strict
    if strict:
        result["parameters"] = _recursive_set_additional_properties_false(result["parameters"])
    return result


def convert_to_anthropic_tool(tool: Any, *, strict: bool | None = None) -> dict[str, Any]:
    """`tool` as Anthropic takes it in `tools`: the schema is called `input_schema`."""
    extras = (tool.extras or {}) if isinstance(tool, BaseTool) else {}
    if "provider_tool_definition" in extras:
        return extras["provider_tool_definition"]
    if isinstance(tool, dict) and tool.keys() >= {"name", "description", "input_schema"}:
        return dict(tool)
    function = convert_to_openai_tool(tool, strict=strict)["function"]
    result = {"name": function["name"], "input_schema": function["parameters"]}
    if "description" in function:
        result["description"] = function["description"]
    if strict is not None:
        result["strict"] = strict
    return result | {k: v for k, v in extras.items() if k in _ANTHROPIC_EXTRA_FIELDS}


def convert_to_gemini_tool(tool: Any) -> dict[str, Any]:
    """`tool` as Gemini takes it in `functionDeclarations`.

    Gemini knows a part of JSON schema: no defaults, no bounds, `nullable` instead of `null`.
    """
    function = convert_to_openai_tool(tool)["function"]
    result = {"name": function["name"]}
    if function.get("description"):
        result["description"] = function["description"]
    parameters = function.get("parameters", {})
    if parameters.get("properties"):
        result["parameters"] = _gemini_schema(parameters)
    return result


def _to_openai_function(function: Any) -> dict[str, Any]:
    if isinstance(function, BaseTool):
        return _format_tool_to_openai_function(function)
    if isinstance(function, dict) and function.keys() & {"name", "title"}:
        return _convert_dict_to_openai_function(function)
    if isinstance(function, type) and issubclass(function, BaseModel):
        return _convert_pydantic_to_openai_function(function)
    if is_typeddict(function):
        return _convert_pydantic_to_openai_function(_typed_dict_to_pydantic(function))
    if callable(function):
        return _convert_python_function_to_openai_function(function)
    hint = (
        "Functions must be passed in as Dict, pydantic.BaseModel, or Callable. If they're a dict "
        "they must either be in OpenAI function format or valid JSON schema with top-level "
        "'title' key."
    )
    if isinstance(function, dict) and function.keys() & {"type", "properties"}:
        hint = (
            "To use a JSON schema as a function, it must have a top-level 'title' key to be used "
            "as the function name."
        )
    raise ValueError(f"Unsupported function\n\n{function}\n\n{hint}")


def _format_tool_to_openai_function(tool: BaseTool) -> dict[str, Any]:
    schema = tool.tool_call_schema
    if isinstance(schema, dict):
        function = _convert_json_schema_to_openai_function(schema)
    elif isinstance(tool, Tool) and tool.args_schema is None:
        # A tool of one string has no name for it; upstream calls it so.
        properties = {"__arg1": {"title": "__arg1", "type": "string"}}
        parameters = {"properties": properties, "required": ["__arg1"], "type": "object"}
        function = {"description": "", "parameters": parameters}
    else:
        function = json.loads(_function_of_tool_schema(schema))
    description = tool.description or function["description"]
    return {"name": tool.name, "description": description, "parameters": function["parameters"]}


@functools.lru_cache(maxsize=512)
def _function_of_tool_schema(schema: type[BaseModel]) -> str:
    # A tool makes its schema once, so the JSON is made once too, not at every turn of an agent.
    # It is kept as text, because each caller gets a copy that is its own to change.
    return json.dumps(_convert_pydantic_to_openai_function(schema))


def _convert_dict_to_openai_function(function: dict[str, Any]) -> dict[str, Any]:
    if "name" in function and "input_schema" in function:
        # Anthropic's format.
        result = {"name": function["name"], "parameters": function["input_schema"]}
        known = ["description"]
    elif "name" in function:
        # OpenAI's own.
        result = {}
        known = ["name", "description", "parameters", "strict"]
    else:
        # A JSON schema. It is not simplified: references and inner titles stay.
        schema = {k: v for k, v in function.items() if k not in ("title", "description")}
        result = {"name": function["title"]}
        result |= {"parameters": schema} if "properties" in schema else {}
        known = ["description"]
    return result | {key: function[key] for key in known if key in function}


def _convert_python_function_to_openai_function(function: Callable[..., Any]) -> dict[str, Any]:
    model = create_schema_from_function(
        function.__name__, function, parse_docstring=True, include_injected=False
    )
    return _convert_pydantic_to_openai_function(model)


def _convert_pydantic_to_openai_function(model: type[BaseModel]) -> dict[str, Any]:
    try:
        return _convert_json_schema_to_openai_function(model.model_json_schema())
    except PydanticInvalidForJsonSchema as error:
        raise PydanticInvalidForJsonSchema(
            f"Failed to generate JSON schema for '{model.__name__}': {error}\n\n"
            "Tool argument schemas must be JSON-serializable. If your schema includes custom "
            "Python classes, consider:\n"
            "  1. Converting them to Pydantic models with JSON-compatible fields\n"
            "  2. Using primitive types (str, int, float, bool, list, dict) instead\n"
            "  3. Passing the data as serialized JSON strings\n\n"
        ) from error


def _convert_json_schema_to_openai_function(schema: dict[str, Any]) -> dict[str, Any]:
    kept = {k: v for k, v in schema.items() if k not in ("$defs", "definitions")}
    parameters = _dereference_refs(kept, schema, frozenset())
    name, description = parameters.pop("title", ""), parameters.pop("description", "")
    return {"name": name, "description": description, "parameters": _rm_titles(parameters)}


def _dereference_refs(node: Any, root: dict[str, Any], open_refs: frozenset[str]) -> Any:
    """A copy of `node` in which what a `$ref` points to stands in its place.

    A reference that is inside of what it points to is dropped, since it would never end.
    """
    if isinstance(node, list):
        return [_dereference_refs(item, root, open_refs) for item in node]
    if not isinstance(node, dict):
        return node
    result = {k: _dereference_refs(v, root, open_refs) for k, v in node.items() if k != "$ref"}
    ref = node.get("$ref")
    if ref is None or ref in open_refs:
        return result
    # What stands beside the reference, such as a description, is closer to the case.
    return _dereference_refs(_retrieve_ref(ref, root), root, open_refs | {ref}) | result


def _retrieve_ref(path: str, root: dict[str, Any]) -> Any:
    start, *parts = path.split("/")
    if start != "#":
        raise ValueError(
            "ref paths are expected to be URI fragments, meaning they should start with #."
        )
    node: Any = root
    for part in parts:
        if part not in node:
            raise KeyError(f"Reference '{path}' not found.")
        node = node[part]
    return node


def _rm_titles(schema: dict[str, Any], parent_key: str = "") -> dict[str, Any]:
    """`schema` without the titles that pydantic makes; a parameter called `title` stays.

    As upstream, it does not look into lists: the options of `anyOf` keep their titles.
    """
    return {
        key: _rm_titles(value, key) if isinstance(value, dict) else value
        for key, value in schema.items()
        if key != "title" or (parent_key == "properties" and isinstance(value, dict))
    }


def _recursive_set_additional_properties_false(schema: Any) -> Any:
    """A copy in which every object requires all its properties and takes no others."""
    strict = _recursive_set_additional_properties_false
    if not isinstance(schema, dict):
        return schema
    result = dict(schema)
    if result.get("properties"):
        result["required"] = list(result["properties"])
    if {"required", "additionalProperties"} & result.keys() or result.get("properties") == {}:
        result["additionalProperties"] = False
    for key, value in result.items():
        if key in ("anyOf", "allOf"):
            result[key] = [strict(option) for option in value]
        elif key in ("properties", "$defs", "definitions"):
            result[key] = {name: strict(inner) for name, inner in value.items()}
        elif key == "items":
            result[key] = strict(value)
    return result


def _typed_dict_to_pydantic(typed_dict: Any) -> type[BaseModel]:
    hints = get_type_hints(typed_dict, include_extras=True)
    description, texts = _parse_google_docstring(inspect.getdoc(typed_dict), list(hints))
    fields: dict[str, Any] = {}
    for name, hint in hints.items():
        # Annotated[type, default, description]; a default of `...` means required.
        type_, *extras = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        default, text = (extras + [..., None][len(extras) :])[:2]
        if text and not isinstance(text, str):
            raise ValueError(
                f"Invalid annotation for field {name}. Third argument to Annotated must be a "
                f"string description, received value of type {type(text)}."
            )
        field = Field(default, description=texts.get(name) or text)
        if default is None:
            # Optional, but a null is not shown.
            field = Field(default_factory=NoneType, description=field.description)
        fields[name] = (_convert_any_typed_dicts_to_pydantic(type_), field)
    return _build_model(typed_dict.__name__, fields, description)


def _convert_any_typed_dicts_to_pydantic(type_: Any) -> Any:
    """`type_` with every TypedDict in it as a model, and `X | None` as X."""
    if is_typeddict(type_):
        return _typed_dict_to_pydantic(type_)
    args = tuple(_convert_any_typed_dicts_to_pydantic(arg) for arg in get_args(type_))
    if get_origin(type_) in (Union, UnionType):
        return Union[tuple(arg for arg in args if arg is not NoneType)]  # noqa: UP007  no syntax for it
    return get_origin(type_)[args] if args else type_


def _gemini_schema(schema: dict[str, Any]) -> dict[str, Any]:
    options = schema.get("anyOf", [])
    typed = [option for option in options if option.get("type") != "null"]
    # `X | None` is X and nullable; of several types beside None only one can be told, the last.
    nullable = len(typed) < len(options)
    core = typed[-1] if nullable and typed else schema
    result: dict[str, Any] = {"nullable": True} if nullable else {}
    if text := core.get("description") or schema.get("description"):
        result["description"] = text
    if options and not nullable:
        # The title is what tells one option from another.
        result["any_of"] = [
            _gemini_schema(o) | ({"title": o["title"]} if "title" in o else {}) for o in options
        ]
        return result
    kind, inner = core.get("type"), core.get("properties")
    unknown = kind == "object" and not (inner or core.get("additionalProperties"))
    if not isinstance(kind, str) or kind == "null" or unknown:
        # What cannot be told is text.
        kind = "string"
    result["type"] = kind.upper()
    if choices := core.get("enum"):
        if not all(isinstance(choice, str) for choice in choices):
            raise ValueError(f"Gemini takes only texts as choices (got {choices}).")
        result["enum"] = choices
    if "items" in core:
        result["items"] = _gemini_schema(core["items"])
    if inner:
        result["properties"] = {name: _gemini_schema(value) for name, value in inner.items()}
        result["required"] = core.get("required", [])
    return result
