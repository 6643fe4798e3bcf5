"""Layer 6: a tool becomes the JSON that a provider gets: OpenAI's shape, Anthropic's, Gemini's.

Mirrors langchain_core/utils/{function_calling,json_schema}.py, convert_to_anthropic_tool of
langchain_anthropic/chat_models.py, langchain_google_genai/_function_utils.py
Leaves out pydantic.v1 models, Bedrock's dicts, OpenAI's custom (free text) tools, Google's own
tools, Anthropic's own tools in `extras` and its eager_input_streaming, references into other files,
checks of given dicts, a given JSON schema that is sent as it is, the advice that upstream adds to
pydantic's error, convert_to_json_schema, tool_example_to_messages.
"""

import functools
import inspect
import json
from typing import Any, get_type_hints

from pydantic import BaseModel, Field
from typing_extensions import is_typeddict

from minilc import schema as schemas
from minilc.base import BaseTool, Tool

# What Anthropic takes beside the name; a tool carries it in `extras`.
_ANTHROPIC_EXTRA_FIELDS = "allowed_callers cache_control defer_loading input_examples".split()


def convert_to_openai_tool(tool: Any, *, strict: bool | None = None) -> dict[str, Any]:
    """`tool` as OpenAI takes it in `tools`; what it may be says `convert_to_openai_function`."""
    if isinstance(tool, dict) and tool.get("type", "object") != "object":
        # No JSON schema, so it is a tool that the provider runs itself, or in OpenAI's shape.
        return tool
    return {"type": "function", "function": convert_to_openai_function(tool, strict=strict)}


def convert_to_openai_function(function: Any, *, strict: bool | None = None) -> dict[str, Any]:
    """The name, the description and the parameters (a JSON schema without references).

    Args:
        function: a tool, a function, a pydantic model, a TypedDict, or a dict: a JSON schema with
            a title, or a tool as OpenAI or Anthropic write it.
        strict: True makes the model keep to the schema: all is required, nothing may be added.

    Raises:
        ValueError: `function` is none of these.
    """
    result = _to_openai_function(function)
    if strict:
        result["parameters"] = _recursive_set_additional_properties_false(result["parameters"])
    return result if strict is None else result | {"strict": strict}


def convert_to_anthropic_tool(tool: Any, *, strict: bool | None = None) -> dict[str, Any]:
    """`tool` as Anthropic takes it in `tools`: the schema is called `input_schema`."""
    if isinstance(tool, dict) and tool.keys() >= {"name", "description", "input_schema"}:
        return dict(tool)
    said = {"strict": strict} | convert_to_openai_tool(tool, strict=strict)["function"]
    known = (getattr(tool, "extras", None) or {}) | said | {"input_schema": said["parameters"]}
    fields = ("name", "description", "input_schema", "strict", *_ANTHROPIC_EXTRA_FIELDS)
    return {key: known[key] for key in fields if known.get(key) is not None}


def convert_to_gemini_tool(tool: Any) -> dict[str, Any]:
    """`tool` as Gemini takes it in `functionDeclarations`.

    Gemini knows a part of JSON schema: no defaults, no bounds, `nullable` instead of `null`.
    """
    function = convert_to_openai_tool(tool)["function"]
    result = {key: function[key] for key in ("name", "description") if function.get(key)}
    if function["parameters"].get("properties"):
        result["parameters"] = _gemini_schema(function["parameters"])
    return result


def _to_openai_function(function: Any) -> dict[str, Any]:
    if isinstance(function, BaseTool):
        return _format_tool_to_openai_function(function)
    if isinstance(function, dict) and "name" in function:
        # In OpenAI's shape already, or in Anthropic's, which has another word for the parameters.
        return {"parameters" if key == "input_schema" else key: function[key] for key in function}
    if is_typeddict(function):
        function = _typed_dict_to_pydantic(function)
    elif callable(function) and not hasattr(function, "model_json_schema"):
        # A docstring's `Args:` describe the parameters; injected ones are not the model's.
        function = schemas.create_schema_from_function(
            function.__name__, function, parse_docstring=True, include_injected=False
        )
    if hasattr(function, "model_json_schema") or isinstance(function, dict) and "title" in function:
        return _convert_json_schema_to_openai_function(schemas._json_schema(function))
    hint = "Functions must be passed in as Dict, pydantic.BaseModel, or Callable. If they're a dict"
    hint += " they must either be in OpenAI function format or valid JSON schema with top-level "
    raise ValueError(f"Unsupported function\n\n{function}\n\n{hint}'title' key.")


def _format_tool_to_openai_function(tool: BaseTool) -> dict[str, Any]:
    if isinstance(tool, Tool) and tool.args_schema is None:
        # A tool of one string has no name for it; upstream calls it so.
        properties = {"__arg1": {"title": "__arg1", "type": "string"}}
        parameters = {"properties": properties, "required": ["__arg1"], "type": "object"}
        return {"name": tool.name, "description": tool.description, "parameters": parameters}
    if isinstance(schema := tool.tool_call_schema, dict):
        result = _convert_json_schema_to_openai_function(schema)
    else:
        result = json.loads(_function_of_tool_schema(schema))
    return result | {"name": tool.name, "description": tool.description or result["description"]}


@functools.lru_cache(maxsize=512)
def _function_of_tool_schema(schema: type[BaseModel]) -> str:
    # A tool makes its schema once, so the JSON is made once too, not at every turn of an agent.
    # It is kept as text, because each caller gets a copy that is its own to change.
    return json.dumps(_convert_json_schema_to_openai_function(schema.model_json_schema()))


def _typed_dict_to_pydantic(typed_dict: Any) -> type[BaseModel]:
    hints = get_type_hints(typed_dict, include_extras=True)
    description, texts = schemas._parse_google_docstring(inspect.getdoc(typed_dict), list(hints))
    fields: dict[str, Any] = {}
    for name, hint in hints.items():
        # Annotated[type, default, description]; a default of `...` means required.
        default, text = (*getattr(hint, "__metadata__", (...,)), None)[:2]
        fields[name] = (hint, Field(default, description=texts.get(name) or text))
    return schemas._build_model(typed_dict.__name__, fields, description)


def _convert_json_schema_to_openai_function(schema: dict[str, Any]) -> dict[str, Any]:
    kept = {k: v for k, v in schema.items() if k not in ("$defs", "definitions")}
    parameters = _dereference_refs(kept, schema, frozenset())
    name, description = parameters.pop("title", ""), parameters.pop("description", "")
    return {"name": name, "description": description, "parameters": _rm_titles(parameters)}


def _dereference_refs(node: Any, root: dict[str, Any], open_refs: frozenset[str]) -> Any:
    """A copy of `node` in which what a `$ref` points to stands in its place.

    A reference that is inside of what it points to is dropped, since it would never end.
    """

    def replaced(part: dict[str, Any]) -> dict[str, Any]:
        ref = part.pop("$ref", None)
        if ref is None or ref in open_refs:
            return part
        target = functools.reduce(dict.__getitem__, ref.split("/")[1:], root)
        # What stands beside the reference, such as a description, is closer to the case.
        return _dereference_refs(target, root, open_refs | {ref}) | part

    # A schema is JSON, and a reader of JSON shows each object that it has read.
    return json.loads(json.dumps(node), object_hook=replaced)


def _rm_titles(schema: dict[str, Any]) -> dict[str, Any]:
    """`schema` without the titles that pydantic makes; a parameter called `title` stays.

    As upstream, it does not look into lists: the options of `anyOf` keep their titles.
    """
    # A title is a text, and a parameter has a schema.
    kept = {k: v for k, v in schema.items() if k != "title" or isinstance(v, dict)}
    return {k: _rm_titles(v) if isinstance(v, dict) else v for k, v in kept.items()}


def _recursive_set_additional_properties_false(schema: dict[str, Any]) -> Any:
    """A copy in which every object requires all its properties and takes no others."""

    def strictly(part: dict[str, Any]) -> dict[str, Any]:
        # Where the keys are names of parameters, one may be called `type`: it has a schema.
        if part.get("type") in ("object", ["object", "null"], ["null", "object"]):
            part["additionalProperties"] = False
            if part.get("properties"):
                part["required"] = list(part["properties"])
        return part

    return json.loads(json.dumps(schema), object_hook=strictly)


def _gemini_schema(schema: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {k: schema[k] for k in ("description", "enum") if k in schema}
    options = schema.get("anyOf", [])
    typed = [option for option in options if option != {"type": "null"}]
    if len(typed) < len(options):
        # `X | None` is X and nullable; of several types beside None only the last can be told.
        return result | _gemini_schema(typed[-1]) | {"nullable": True}
    if options:
        # The title is what tells one option from another.
        told = [_gemini_schema(o) | {k: o[k] for k in o if k == "title"} for o in options]
        return result | {"any_of": told}
    kind = schema.get("type")
    # What Gemini has no word for is text.
    result["type"] = kind.upper() if isinstance(kind, str) else "STRING"
    if "items" in schema:
        result["items"] = _gemini_schema(schema["items"])
    if properties := schema.get("properties"):
        result["properties"] = {name: _gemini_schema(value) for name, value in properties.items()}
        result["required"] = schema.get("required", [])
    return result
