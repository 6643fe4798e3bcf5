"""Where things are: a name's source in the installed LangChain, and its counterpart in minilc.

    where("ToolNode._execute_tool_sync")

The place is found through the syntax tree, so that a private function is located and never called.
What is printed is a place: package, version, file, lines. The text of the source is shown by
`show()` alone, live; it does not get into anything that is saved.
"""

from __future__ import annotations

import ast
import difflib
import importlib
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from html import escape
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from minilc.course.layers import LAYERS

# The folders that are searched, in this order, and the distribution that each comes from. A file
# belongs to the longest entry that it is in.
PACKAGES: dict[str, str] = {
    "langchain_core": "langchain-core",
    "langgraph": "langgraph",
    "langgraph/prebuilt": "langgraph-prebuilt",
    "langgraph/checkpoint": "langgraph-checkpoint",
    "langgraph/store": "langgraph-checkpoint",
    "langchain": "langchain",
    "langchain_openai": "langchain-openai",
    "langchain_anthropic": "langchain-anthropic",
    "langchain_google_genai": "langchain-google-genai",
}
ROOTS = tuple(dict.fromkeys(folder.partition("/")[0] for folder in PACKAGES))

# A cell output with this metadata holds upstream's text: it is for the eyes, not for a file.
LIVE_ONLY = {"minilc": "live-only"}


@dataclass(frozen=True)
class Place:
    """A definition in a file.

    Args:
        symbol: its name inside the module: `ToolNode._run_one`.
        module: the module's dotted path.
        package: the distribution and its version: `langgraph-prebuilt 1.1.3`.
        file: the file, relative to where packages are installed.
        first: the first line, decorators included.
        last: the last line.
    """

    symbol: str
    module: str
    package: str
    file: str
    first: int
    last: int
    path: Path = field(repr=False, compare=False)

    def __str__(self) -> str:
        lines = f"{self.first}" if self.first == self.last else f"{self.first}-{self.last}"
        return f"{self.file}:{lines}"

    @property
    def source(self) -> str:
        """The text of the definition."""
        return "\n".join(_read(self.path).splitlines()[self.first - 1 : self.last])


@dataclass(frozen=True)
class Where:
    """A place upstream, and the one in minilc that stands next to it.

    Args:
        name: what was asked for.
        upstream: the definition in the installed LangChain.
        minilc: the one in minilc; None if minilc has no such thing.
    """

    name: str
    upstream: Place
    minilc: Place | None

    def __repr__(self) -> str:
        rows = [f"  {label:<10} {text}" for label, text in self._rows()]
        return "\n".join([self._title, *rows])

    @property
    def _title(self) -> str:
        """The name; and the definition's own, where that is another (imported, inherited)."""
        same = f".{self.name}".endswith(f".{self.upstream.symbol}")
        return self.name if same else f"{self.name} is {self.upstream.symbol}"

    def _rows(self) -> Iterator[tuple[str, str]]:
        yield "LangChain", f"{self.upstream}  ({self.upstream.package})"
        if self.minilc is None:
            yield "minilc", "has no counterpart"
        elif self.minilc.symbol == self.upstream.symbol:
            yield "minilc", str(self.minilc)
        else:
            yield "minilc", f"{self.minilc}  in {self.minilc.symbol}"

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><th scope="row" style="text-align:left">{escape(label)}</th>'
            f'<td style="text-align:left"><code>{escape(text)}</code></td></tr>'
            for label, text in self._rows()
        )
        caption = f"<code>{escape(self._title)}</code>"
        return (
            f'<table><caption style="text-align:left;color:inherit">{caption}</caption>'
            f"<tbody>{rows}</tbody></table>"
        )

    def show(self) -> None:
        """Show both sources side by side, in a notebook or in a terminal."""
        places = [("LangChain", self.upstream), ("minilc", self.minilc)]
        found = [(name, place) for name, place in places if place is not None]
        if _in_notebook():
            from IPython.display import HTML, display

            display(HTML(_side_by_side_html(found)), metadata=LIVE_ONLY)
        else:
            from rich.console import Console

            _print_side_by_side(found, Console())


def where(target: Any) -> Where:
    """Find the upstream definition of a name or an object, and minilc's counterpart.

    Args:
        target: a name (`create_agent`, `ToolNode._run_one`), a dotted path
            (`langchain.agents.create_agent`), or a function, class or object of either world.

    Raises:
        LookupError: nothing or more than one thing has that name; the message lists what is near.
    """
    name = target if isinstance(target, str) else _name_of(target)
    name = name.replace(".<locals>", "").strip()
    place = _resolve(name)
    return Where(name, place, _own(name) or _counterpart(place))


def locate(dotted: str) -> Place | None:
    """The definition behind a dotted path of LangChain or of minilc; None if there is none."""
    module, symbol = _split_module(dotted)
    if module is None or not symbol:
        return None
    try:
        return _follow(dotted, dotted)
    except LookupError:
        return None


def _name_of(target: Any) -> str:
    target = inspect.unwrap(getattr(target, "__func__", target))
    if not isinstance(target, type) and not inspect.isroutine(target):
        target = type(target)
    return f"{target.__module__}.{target.__qualname__}"


# Finding the upstream definition


def _resolve(name: str) -> Place:
    if not re.fullmatch(r"\w+(\.\w+)*", name):
        raise LookupError(
            f"{name!r} is not the name of something in Python, such as ToolNode.invoke"
        )
    # 1. minilc's own path, or a name that minilc has: the table of layers knows it.
    if name.startswith("minilc."):
        name = ".".join(_split_module(name)[1]) or name
    if mirrored := _mirrored(name):
        return _follow(mirrored, name)
    # 2. A dotted path into one of the packages.
    if name.partition(".")[0] in ROOTS:
        return _follow(name, name)
    # 3. Whatever else is defined there under that name.
    found = _search(name)
    if len(found) == 1:
        return found[0]
    if found:
        paths = [f"{place.module}.{place.symbol}" for place in found]
        raise LookupError(f"{name!r} is {len(found)} things; say which: {_listed(paths)}")
    raise LookupError(f"nothing in the installed LangChain is called {name!r}{_near(name)}")


def _mirrored(name: str) -> str | None:
    """Upstream's dotted path of a name of minilc, or of what is inside one."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        head, rest = ".".join(parts[:length]), parts[length:]
        for row in LAYERS:
            if head in row.mirrors:
                return ".".join([row.mirrors[head], *rest])
    return None


def _follow(dotted: str, asked: str) -> Place:
    """The definition behind a dotted path, also if it is imported there or inherited."""
    module, symbol = _split_module(dotted)
    if module is None or not symbol:
        raise LookupError(f"{asked!r} is a module or does not exist; name what is in it")
    if place := _place(module, symbol):
        return place
    if source := _imported_from(module, symbol[0]):
        return _follow(".".join([source, *symbol]), asked)
    if place := _by_inspection(module, symbol):
        return place
    file = _file(module)
    assert file is not None
    names = [qualified for qualified, _ in _definitions(_tree(file))]
    close = difflib.get_close_matches(".".join(symbol), names, n=5)
    raise LookupError(f"{module} has no {'.'.join(symbol)!r}{_nearby(close)}")


def _split_module(dotted: str) -> tuple[str | None, list[str]]:
    """The longest part of a dotted path that is a module, and the rest."""
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        if _file(".".join(parts[:length])) is not None:
            return ".".join(parts[:length]), parts[length:]
    return None, parts


def _imported_from(module: str, name: str) -> str | None:
    """The module from which this one imports the name."""
    file = _file(module)
    assert file is not None
    for node in ast.walk(_tree(file)):
        if isinstance(node, ast.ImportFrom) and any(
            name == (alias.asname or alias.name) for alias in node.names
        ):
            if not node.level:
                return node.module
            package = module if file.name == "__init__.py" else module.rpartition(".")[0]
            base = package.split(".")[: len(package.split(".")) - node.level + 1]
            return ".".join([*base, *([node.module] if node.module else [])])
    return None


def _by_inspection(module: str, symbol: list[str]) -> Place | None:
    """The same by importing: for what is exported lazily or inherited."""
    value: Any = importlib.import_module(module)
    for index, name in enumerate(symbol):
        owner = value
        value = inspect.getattr_static(owner, name, None) or getattr(owner, name, None)
        for base in getattr(owner, "__mro__", ()):
            if name in vars(base) and _file(base.__module__):
                found = _place(base.__module__, [*base.__qualname__.split("."), *symbol[index:]])
                if found:
                    return found
    defined = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not all(isinstance(part, str) for part in defined) or _file(str(defined[0])) is None:
        return None
    return _place(str(defined[0]), str(defined[1]).replace(".<locals>", "").split("."))


def _search(name: str) -> list[Place]:
    """All definitions of that name (`ToolNode`), or that end in it (`_run_one`)."""
    parts = name.split(".")
    defined = re.compile(rf"^\s*(?:(?:async )?def |class ){parts[0]}\b|^{parts[0]}\s*[:=]", re.M)
    found = []
    for module, path in _modules():
        if not defined.search(_read(path)):
            continue
        symbols = {qualified for qualified, _ in _definitions(_tree(path))}
        ending = [s for s in symbols if f".{s}".endswith(f".{name}")]
        found += [place for s in sorted(ending) if (place := _place(module, s.split(".")))]
    return found


def _near(name: str) -> str:
    last = name.rpartition(".")[2]
    known = {match for _, path in _modules() for match in DEFINED.findall(_read(path))}
    close = difflib.get_close_matches(last, sorted(known - {last}), n=5, cutoff=0.7)
    return _nearby(close)


def _nearby(names: list[str]) -> str:
    return f"; near: {', '.join(names)}" if names else ""


DEFINED = re.compile(r"^\s*(?:async def|def|class) (\w+)", re.M)


def _listed(paths: list[str], limit: int = 8) -> str:
    more = f" and {len(paths) - limit} more" if len(paths) > limit else ""
    return ", ".join(paths[:limit]) + more


# minilc's counterpart


def _own(name: str) -> Place | None:
    """What minilc itself has under the name that was asked for."""
    symbol = _split_module(name)[1]
    for row in LAYERS:
        if symbol and symbol[0] in row.mirrors:
            return _place(row.dotted, symbol)
    return None


def _counterpart(place: Place) -> Place | None:
    """What the table of layers, or a shared name, puts beside an upstream definition."""
    parts = place.symbol.split(".")
    for length in range(len(parts), 0, -1):
        dotted = f"{place.module}.{'.'.join(parts[:length])}"
        for row in LAYERS:
            for ours, theirs in row.mirrors.items():
                if theirs == dotted:
                    return _longest(row.dotted, [*ours.split("."), *parts[length:]])
    # A helper that the table does not list: minilc keeps upstream's names, private ones too.
    for row in LAYERS:
        if any(theirs.startswith(f"{place.module}.") for theirs in row.mirrors.values()):
            if found := _place(row.dotted, parts):
                return found
    return None


def _longest(module: str, symbol: list[str]) -> Place | None:
    """The definition, or the innermost one around it that minilc has."""
    for length in range(len(symbol), 0, -1):
        if found := _place(module, symbol[:length]):
            return found
    return None


# Files and syntax trees


def _place(module: str, symbol: list[str]) -> Place | None:
    file = _file(module)
    if file is None:
        return None
    name = ".".join(symbol)
    # The last one: `@overload`s precede the function that they describe.
    nodes = [node for qualified, node in _definitions(_tree(file)) if qualified == name]
    if not nodes:
        return None
    node = nodes[-1]
    decorators = [decorator.lineno for decorator in getattr(node, "decorator_list", [])]
    first, last = min([node.lineno, *decorators]), node.end_lineno or node.lineno
    relative = file.relative_to(_root(module.partition(".")[0]).parent).as_posix()
    return Place(name, module, _package(relative), relative, first, last, file)


def _definitions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.stmt]]:
    """Every function, class and assigned name with its qualified name, in the file's order."""
    for child in ast.iter_child_nodes(node):
        names: list[str] = []
        inner = prefix
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names = [child.name]
            inner = f"{prefix}{child.name}."
        elif isinstance(child, ast.Assign):
            targets = [part for target in child.targets for part in ast.walk(target)]
            # What is only read on the left side, as in `self.x = 1`, is not defined there.
            stored = [part for part in targets if isinstance(part, ast.Name)]
            names = [part.id for part in stored if isinstance(part.ctx, ast.Store)]
        elif isinstance(child, ast.AnnAssign) and isinstance(child.target, ast.Name):
            names = [child.target.id]
        for name in names:
            assert isinstance(child, ast.stmt)
            yield f"{prefix}{name}", child
        if isinstance(child, ast.stmt | ast.excepthandler):
            yield from _definitions(child, inner)


def _package(relative: str) -> str:
    if relative.startswith("minilc/"):
        return "minilc"
    folder = max((f for f in PACKAGES if relative.startswith(f"{f}/")), key=len)
    return f"{PACKAGES[folder]} {version(PACKAGES[folder])}"


@cache
def _root(package: str) -> Path:
    """The folder of a top-level package, found without importing it."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise LookupError(f"the package {package!r} is not installed")
    return Path(next(iter(spec.submodule_search_locations)))


@cache
def _file(module: str) -> Path | None:
    package, *parts = module.split(".")
    if package not in (*ROOTS, "minilc"):
        return None
    folder = _root(package).joinpath(*parts)
    for file in (folder / "__init__.py", folder.with_suffix(".py")):
        if file.is_file() and (parts or file.name == "__init__.py"):
            return file
    return None


@cache
def _modules() -> tuple[tuple[str, Path], ...]:
    """Every module of the packages, with its file."""
    found = []
    for package in ROOTS:
        root = _root(package)
        for path in sorted(root.rglob("*.py")):
            parts = path.relative_to(root.parent).with_suffix("").parts
            found.append((".".join(parts).removesuffix(".__init__"), path))
    return tuple(found)


@cache
def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(_read(path))


# Showing both sources


def _in_notebook() -> bool:
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    shell = get_ipython()
    return shell is not None and hasattr(shell, "kernel")


def _side_by_side_html(found: list[tuple[str, Place]]) -> str:
    heads = "".join(
        f'<th scope="col" style="text-align:left">{escape(name)}<br>'
        f"<code>{escape(str(place))}</code></th>"
        for name, place in found
    )
    cells = "".join(
        f'<td style="text-align:left;vertical-align:top"><pre>{escape(place.source)}</pre></td>'
        for _, place in found
    )
    return f"<table><thead><tr>{heads}</tr></thead><tbody><tr>{cells}</tr></tbody></table>"


def _print_side_by_side(found: list[tuple[str, Place]], console: Any) -> None:
    from rich.syntax import Syntax
    from rich.table import Table

    sources = [
        Syntax(place.source, "python", word_wrap=True, background_color="default")
        for _, place in found
    ]
    table = Table(*(f"{name}  {place}" for name, place in found), expand=True)
    if console.width >= 120:
        table.add_row(*sources)
        console.print(table)
        return
    for (name, place), source in zip(found, sources, strict=True):
        console.rule(f"{name}  {place}", align="left")
        console.print(source)
