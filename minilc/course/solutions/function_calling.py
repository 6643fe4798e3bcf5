"""Solutions of layer 6, function_calling."""

from __future__ import annotations

import functools
from typing import Any

from langchain_core.utils.function_calling import convert_to_openai_tool as convert

from minilc.function_calling import convert_to_openai_tool

KNOWN = frozenset(
    "allowed_callers cache_control defer_loading eager_input_streaming input_examples".split()
)


def function_calling_1(tool: Any, strict: bool | None = None) -> dict[str, Any]:
    """Another name for the schema; what Anthropic knows of the extras goes along."""
    if isinstance(tool, dict) and "input_schema" in tool:
        return dict(tool)
    function = dict(convert_to_openai_tool(tool, strict=strict)["function"])
    function["input_schema"] = function.pop("parameters")
    extras = getattr(tool, "extras", None) or {}
    return function | {key: value for key, value in extras.items() if key in KNOWN}


def function_calling_2(node: Any, root: dict[str, Any], open_refs: frozenset[str]) -> Any:
    """What stands beside a reference wins over what it points to."""
    if isinstance(node, list):
        return [function_calling_2(item, root, open_refs) for item in node]
    if not isinstance(node, dict):
        return node
    ref = node.get("$ref")
    beside = {k: function_calling_2(v, root, open_refs) for k, v in node.items() if k != "$ref"}
    if ref is None or ref in open_refs:
        return beside
    target = functools.reduce(dict.__getitem__, ref.split("/")[1:], root)
    return function_calling_2(target, root, open_refs | {ref}) | beside


def function_calling_3(tool: Any) -> list[str]:
    """Walk through the JSON that is sent, into objects and into the items of lists."""

    def walk(properties: dict[str, Any], way: str) -> list[str]:
        found = []
        for name, schema in properties.items():
            if "description" not in schema:
                found.append(way + name)
            inner = schema.get("items", schema)
            found += walk(inner.get("properties", {}), f"{way}{name}.")
        return found

    return walk(convert(tool)["function"]["parameters"]["properties"], "")
