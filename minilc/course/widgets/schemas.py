"""The schema bench: a function's source, and what each provider is sent of it, in both worlds.

The source runs in this process, in each world: `tool`, `InjectedState` and the other names that
both worlds have are that world's, whether they are imported or not.
"""

from __future__ import annotations

import ast
import typing
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import pydantic

from minilc.course.plain import LIBRARIES
from minilc.course.twin import Twin, twin
from minilc.course.worlds import UPSTREAM, World

SOURCE = '''\
def get_weather(city: str, days: int = 1) -> str:
    """Get the weather of a city."""
    return f"{city}: sunny for {days} days"
'''
PROVIDERS: dict[str, Callable[[World, Any], Any]] = {
    "OpenAI": lambda lc, tool: lc.convert_to_openai_tool(tool),
    "Anthropic": lambda lc, tool: lc.convert_to_anthropic_tool(tool),
    "Gemini": lambda lc, tool: lc.convert_to_gemini_tool(tool),
}
DEFINITIONS = (
    *(ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
    *(ast.Assign, ast.AnnAssign),
)


@dataclass(frozen=True)
class Sent:
    """What a source becomes.

    Args:
        error: why it becomes nothing: the error's type and text.
        twins: for each provider the comparison of what both worlds send.
        hidden: the parameters that no provider is told of.
    """

    error: str | None = None
    twins: dict[str, Twin] = field(default_factory=dict)
    hidden: list[str] = field(default_factory=list)


def sent(source: str) -> Sent:
    """Run a function's source in both worlds and convert it for each provider.

    Args:
        source: imports, definitions and assignments; the last function or tool counts.
    """
    try:
        tree = _checked(source)
    except (SyntaxError, ValueError) as error:
        return Sent(f"{type(error).__name__}: {error}")
    made = twin(lambda lc: make_tool(tree, lc), title="the tool")
    if made.minilc.raised and made.difference is None:
        return Sent(_as_text(made))
    twins = {
        provider: twin(_sends(tree, convert), title=provider)
        for provider, convert in PROVIDERS.items()
    }
    return Sent(None, twins, _hidden(tree, twins["OpenAI"]))


def _sends(tree: ast.Module, convert: Callable[[World, Any], Any]) -> Callable[[World], Any]:
    return lambda lc: convert(lc, make_tool(tree, lc))


def make_tool(tree: ast.Module, lc: World) -> Any:
    """The tool that a source defines last, in one world; a function is made one.

    Raises:
        Exception: whatever the source raises, or the world when it makes a tool of it.
    """
    namespace: dict[str, Any] = {"__name__": "__main__"}
    namespace |= {name: getattr(typing, name) for name in typing.__all__}
    namespace |= {"BaseModel": pydantic.BaseModel, "Field": pydantic.Field}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    namespace |= {name: getattr(lc, name) for name in used & UPSTREAM.keys()}
    own = ast.Module([one for one in tree.body if not _of_a_world(one, namespace, lc)], [])
    before = dict(namespace)
    exec(compile(own, "<schema bench>", "exec", dont_inherit=True), namespace)
    defined = [
        value
        for name, value in namespace.items()
        if before.get(name) is not value and isinstance(value, lc.BaseTool | FunctionType)
    ]
    if not defined:
        raise ValueError("no function or tool is defined here")
    last = defined[-1]
    return lc.tool(last) if isinstance(last, FunctionType) else last


def _of_a_world(statement: ast.stmt, namespace: dict[str, Any], lc: World) -> bool:
    """Whether a statement imports names that both worlds have; each gets those of its own."""
    if not isinstance(statement, ast.ImportFrom) or not statement.module:
        return False
    names = {alias.name: alias.asname or alias.name for alias in statement.names}
    library = statement.module.partition(".")[0].startswith((*LIBRARIES, "langchain_"))
    if not library or not names.keys() <= UPSTREAM.keys():
        return False
    namespace |= {known: getattr(lc, name) for name, known in names.items()}
    return True


def _checked(source: str) -> ast.Module:
    """The source as a tree, if it holds nothing that acts by itself while it is being typed.

    Raises:
        SyntaxError: it is no Python.
        ValueError: a statement that is no definition.
    """
    tree = ast.parse(source, "<schema bench>")
    for node in tree.body:
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not isinstance(node, DEFINITIONS) and not text:
            line = ast.unparse(node).partition("\n")[0]
            raise ValueError(
                f"line {node.lineno}: only imports, definitions and assignments, got {line!r}"
            )
    return tree


def _hidden(tree: ast.Module, openai: Twin) -> list[str]:
    """The parameters of the last function that are not in what is sent."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    functions = [one for one in tree.body if isinstance(one, kinds)]
    if openai.langchain.raised or not functions:
        return []
    shown = openai.langchain.result["function"]["parameters"].get("properties", {})
    arguments = functions[-1].args
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return [name for name in names if name not in shown]


def _as_text(made: Twin) -> str:
    result = made.minilc.result
    return f"{result.kind.removeprefix('raises ')}: {result.fields['']}"
