"""Listings: notebook cells whose text is a definition of minilc, and what happens when one is run.

A listing begins with a comment that says where its text comes from:

    # minilc/base.py: BaseTool.run, _format_output

Below it stand the definitions as the module has them: decorators and the comments above them
included, a method without the indentation of its class.

Run in a notebook that has loaded this extension (`%load_ext minilc.course.listings`), an unchanged
listing gives the notebook the module's own object, so that what is used is what is read. An edited
one changes minilc in this kernel: the edited definition goes to where the original stood, and every
layer that uses it uses the edit. Running the original text puts the original back. Without the
extension a listing is what it looks like, a cell of Python.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import importlib.util
import linecache
import re
import sys
import tokenize
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from minilc.course.worlds import MINILC

_HEADER = re.compile(r"#\s*(minilc(?:/\w+)*)\.py: *([\w., ]+?)\s*$")
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


@dataclass(frozen=True)
class Listing:
    """Some definitions of one module, named as `minilc.base:BaseTool.run, _format_output`."""

    module: str
    symbols: tuple[str, ...]

    @classmethod
    def parse(cls, spec: str) -> Listing:
        """Read `module:symbol, symbol`; a later symbol may repeat the module.

        Raises:
            ValueError: no module, no symbol, or two modules.
        """
        module, colon, rest = spec.partition(":")
        module = module.strip()
        symbols = [symbol.strip().removeprefix(f"{module}:") for symbol in rest.split(",")]
        if not colon or not module or not all(re.fullmatch(r"[\w.]+", one) for one in symbols):
            raise ValueError(f"a listing is named 'module:symbol, symbol', got {spec!r}")
        return cls(module, tuple(symbols))

    @classmethod
    def of_cell(cls, text: str) -> Listing | None:
        """Return the listing that a cell's text is, or None for a cell of another kind."""
        first, _, _ = text.lstrip().partition("\n")
        match = _HEADER.fullmatch(first)
        if match is None:
            return None
        return cls.parse(f"{match[1].replace('/', '.')}:{match[2]}")

    @property
    def header(self) -> str:
        """The comment that a listing's cell begins with."""
        return f"# {self.module.replace('.', '/')}.py: {', '.join(self.symbols)}"

    def text(self) -> str:
        """The cell: the header, then each definition as the module's file has it now.

        Raises:
            LookupError: the module or one of the symbols does not exist.
        """
        path = _path_of(self.module)
        definitions = [_definition(path, self.module, symbol) for symbol in self.symbols]
        return "\n".join([self.header, "\n\n\n".join(definitions)])


def _path_of(module: str) -> Path:
    try:
        found = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        found = None
    if found is None or found.origin is None:
        raise LookupError(f"no module {module!r}")
    return Path(found.origin)


def _definition(path: Path, module: str, symbol: str) -> str:
    """The text of one definition: every overload of it, and the comments right above."""
    with tokenize.open(path) as file:
        lines = file.read().splitlines()
    nodes = _nodes(ast.parse("\n".join(lines)), symbol)
    if not nodes:
        raise LookupError(f"{module} has no {symbol!r}")
    indent = " " * nodes[0].col_offset
    parts = []
    for node in nodes:
        decorators = getattr(node, "decorator_list", [])
        start = min([node.lineno, *(one.lineno for one in decorators)]) - 1
        while start and lines[start - 1].startswith(f"{indent}#"):
            start -= 1
        parts.append(
            "\n".join(line.removeprefix(indent) for line in lines[start : node.end_lineno])
        )
    return "\n\n".join(parts)


def _nodes(tree: ast.Module, symbol: str) -> list[_Definition]:
    body: list[ast.stmt] = tree.body
    *owners, name = symbol.split(".")
    for owner in owners:
        inside = [one for one in body if isinstance(one, ast.ClassDef) and one.name == owner]
        body = inside[-1].body if inside else []
    return [one for one in body if isinstance(one, _Definition) and name in _names(one)]


def _names(node: _Definition) -> set[str]:
    if isinstance(node, ast.Assign):
        return {target.id for target in node.targets if isinstance(target, ast.Name)}
    if isinstance(node, ast.AnnAssign):
        return {node.target.id} if isinstance(node.target, ast.Name) else set()
    return {node.name}


# --- a listing that is run -------------------------------------------------------------------


def load_ipython_extension(shell: Any) -> None:
    """Make listings live in this kernel (`%load_ext minilc.course.listings`)."""
    transformers = shell.input_transformers_cleanup
    if _transform not in transformers:
        transformers.append(_transform)


def unload_ipython_extension(shell: Any) -> None:
    """Let listings be plain Python again."""
    if _transform in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.remove(_transform)


def _transform(lines: list[str]) -> list[str]:
    """Turn a listing into a call of `run`; leave every other cell alone."""
    text = "".join(lines)
    if Listing.of_cell(text) is None:
        return lines
    return [f"__import__({__name__!r}, fromlist=['run']).run({text!r}, globals())\n"]


def run(text: str, namespace: dict[str, Any]) -> None:
    """Run a listing's cell: bind its names in `namespace`, after applying the reader's edits."""
    listing = Listing.of_cell(text)
    if listing is None:
        raise ValueError(f"not a listing: {text!r}")
    module = importlib.import_module(listing.module)
    was_edited = _put_back(listing)
    if not _same_text(text, listing.text()):
        for symbol, nodes in _changed(listing, text).items():
            target = f"{listing.module}:{symbol}"
            _EDITS[target] = contextlib.ExitStack()
            edited = _compiled(module, symbol, nodes, text)
            _EDITS[target].enter_context(swapped(target, edited, may_be_new=True))
            print(f"{listing.module}.{symbol} is now yours in this kernel.")
    elif was_edited:
        print(f"{', '.join(listing.symbols)}: minilc's own again.")
    for symbol in listing.symbols:
        name = symbol.partition(".")[0]
        namespace[name] = getattr(module, name)


# The reader's edits in this kernel, by target; closing one puts the original back.
_EDITS: dict[str, contextlib.ExitStack] = {}


def _same_text(one: str, other: str) -> bool:
    return [line.rstrip() for line in one.strip().splitlines()] == [
        line.rstrip() for line in other.strip().splitlines()
    ]


def _put_back(listing: Listing) -> bool:
    """Undo earlier edits of these symbols, and of the methods of those that are classes."""
    prefixes = tuple(f"{listing.module}:{symbol}" for symbol in listing.symbols)
    edited = [
        one for one in _EDITS if one in prefixes or one.startswith(tuple(f"{p}." for p in prefixes))
    ]
    for target in edited:
        _EDITS.pop(target).close()
    return bool(edited)


def _changed(listing: Listing, text: str) -> dict[str, list[_Definition]]:
    """What a listing's edited text defines otherwise than the module: the nodes by symbol.

    Of a class these are its methods: the class itself stays, since others already inherit from it.
    """
    before, after = ast.parse(listing.text()), ast.parse(text)
    changed: dict[str, list[_Definition]] = {}
    for symbol in listing.symbols:
        name = symbol.rpartition(".")[2]
        nodes = _nodes(after, name)
        if not nodes:
            raise LookupError(f"this cell no longer defines {name!r}")
        symbols = {symbol: name}
        if isinstance(nodes[-1], ast.ClassDef):
            methods = [
                one
                for one in nodes[-1].body
                if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
            ]
            symbols = {f"{symbol}.{one.name}": f"{name}.{one.name}" for one in methods}
        for full, short in symbols.items():
            if _dump(_nodes(before, short)) != _dump(_nodes(after, short)):
                changed[full] = _nodes(after, short)
    return changed


def _dump(nodes: list[_Definition]) -> list[str]:
    return [ast.dump(node) for node in nodes]


def _compiled(module: types.ModuleType, symbol: str, nodes: list[_Definition], text: str) -> Any:
    """Run definitions in their module's namespace and return what they define `symbol` as.

    They are put into a function with a parameter `__class__`, which is what a method's `super()`
    looks for.
    """
    *owners, name = symbol.split(".")
    wrapper = ast.parse(f"def _cell(__class__):\n    return {name}")
    function = wrapper.body[0]
    assert isinstance(function, ast.FunctionDef)
    function.body[:0] = nodes
    filename = f"<edited {module.__name__}.{symbol}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    flags = getattr(getattr(module, "annotations", None), "compiler_flag", 0)
    scope: dict[str, Any] = {}
    exec(compile(wrapper, filename, "exec", flags, dont_inherit=True), module.__dict__, scope)
    value = scope["_cell"](functools.reduce(getattr, owners, module))
    if isinstance(value, types.FunctionType):
        value.__qualname__ = symbol
    return value


# --- a definition that is replaced -----------------------------------------------------------


@contextlib.contextmanager
def swapped(target: str, replacement: Any, *, may_be_new: bool = False) -> Iterator[None]:
    """Within the block, minilc uses `replacement` for `target` (`minilc.base:BaseTool.run`).

    Wherever a module of minilc holds the original under some name, it holds the replacement.

    Args:
        target: what is replaced.
        replacement: by what.
        may_be_new: whether the name may be one that is not there yet.

    Raises:
        LookupError: there is no such module or name.
    """
    listing = Listing.parse(target)
    module = importlib.import_module(listing.module)
    (symbol,) = listing.symbols
    *owners, name = symbol.split(".")
    owner = functools.reduce(getattr, owners, module)
    if name not in vars(owner):
        if not may_be_new:
            raise LookupError(f"{listing.module} has no {symbol!r}")
        setattr(owner, name, replacement)
        try:
            yield
        finally:
            delattr(owner, name)
        return
    original = vars(owner)[name]
    replacement = _bound_like(original, replacement)
    holders = [(owner, name)] if owners else _holders(original)
    for holder, held in holders:
        setattr(holder, held, replacement)
    _forget(original)
    try:
        yield
    finally:
        for holder, held in holders:
            setattr(holder, held, original)
        _forget(replacement)


def _forget(value: Any) -> None:
    """Let minilc's world look up again what it holds as this value."""
    for name in [name for name, held in vars(MINILC).items() if held is value]:
        delattr(MINILC, name)


def _bound_like(original: Any, replacement: Any) -> Any:
    """A plain function that replaces a static method, class method or property becomes one."""
    kinds: tuple[Callable[[Any], Any], ...] = (staticmethod, classmethod, property)
    for kind in kinds:
        if isinstance(original, kind) and isinstance(replacement, types.FunctionType):  # type: ignore[arg-type]  # the tuple's type hides that these are classes
            return kind(replacement)
    return replacement


def _holders(original: Any) -> list[tuple[types.ModuleType, str]]:
    """Every module of minilc that holds this very object, and under which name."""
    modules = [module for name, module in sys.modules.items() if name.split(".")[0] == "minilc"]
    return [
        (module, name)
        for module in modules
        for name, value in list(vars(module).items())
        if value is original
    ]
