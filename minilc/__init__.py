"""minilc: how LangChain executes a tool call, rebuilt one layer at a time."""

import importlib as _importlib

for _name in (
    "messages schema base structured convert function_calling chat_models branch state "
    "tool_errors injection tool_node middleware factory"
).split():
    try:
        _module = _importlib.import_module(f"minilc.{_name}")
    except ModuleNotFoundError as _error:
        if _error.name != f"minilc.{_name}":
            raise
        continue
    globals().update({k: v for k, v in vars(_module).items() if not k.startswith("_")})
