"""Notebooks: built from their sources, executed from nothing, and kept true.

A source is `notebooks/src/NN_name.py` in jupytext's percent format. What its cells may carry:

- `# %% [markdown] lang="en"`: prose, and its language.
- `# %% source="minilc.base:BaseTool.run, _format_output"`: a listing. Its text comes from the
  module when the notebook is built (see `listings`); in the source the cell holds an import of the
  same names, so that the source itself runs and lints. Over 30 lines it is folded.
- `# %% stub="base-1"`: an exercise's cell. It is empty in the source; built, it holds the
  exercise's stub and the call that checks it.
- `# %% tags=["live"]`: runs, but keeps no output: what it prints is the reader's machine's own, or
  not ours to copy. A short text stands in its place.
- `# %% tags=["version"]`: its output depends on the installed version; it is compared only where
  LangChain's versions are those that the notebook was built with.

`build` writes `notebooks/NN_name.ipynb`: no execution counts, no times, cell ids made from the
cells' text, no widget state. `verify` builds the same in memory with other hash seeds and compares,
and says what else may not be in a committed notebook.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import functools
import hashlib
import html
import importlib.util
import json
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import jupytext  # type: ignore[import-untyped]  # it ships no types
import nbformat
from nbformat import NotebookNode

from minilc.course import executor, exercises, terminal
from minilc.course.listings import Listing

ROOT = Path(__file__).resolve().parents[2] / "notebooks"
LANGUAGE = "en"
FOLD_OVER = 30  # lines of a listing
LOAD = "%load_ext minilc.course.listings"
LIVE = "live"
VERSION = "version"
RUN_ME = "Run this cell to see its output: it is that of your own installation, and is not saved."
VERSIONED = ("langchain", "langchain-core", "langgraph", "langgraph-prebuilt", "pydantic")
_WIDGET = "application/vnd.jupyter.widget-"


@dataclass
class Problem:
    """Something that keeps a notebook from being true; `cell` counts from 1, as a reader does."""

    notebook: str
    text: str
    cell: int | None = None

    def __str__(self) -> str:
        where = self.notebook if self.cell is None else f"{self.notebook}, cell {self.cell}"
        return f"{where}: {self.text}"


@dataclass
class Report:
    """What `build` or `verify` found: problems, and how long each notebook ran."""

    problems: list[Problem] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)


# --- from source to notebook -----------------------------------------------------------------


def names(wanted: Iterable[str] = (), root: Path = ROOT) -> list[str]:
    """The notebooks' names, all or those that are `wanted` (`03_base`, `03` or `base`).

    Raises:
        LookupError: one that is wanted does not exist, or there are none at all.
    """
    every = sorted(path.stem for path in (root / "src").glob("[0-9][0-9]_*.py"))
    if not every:
        raise LookupError(f"no sources of notebooks in {root / 'src'}")
    chosen = []
    for want in wanted:
        stem = Path(want).stem
        found = [name for name in every if stem in (name, name[:2], name[3:])]
        if not found:
            raise LookupError(f"no notebook {want!r}; there are {', '.join(every)}")
        chosen += found
    return sorted(set(chosen)) or every


def read_source(name: str, root: Path = ROOT) -> NotebookNode:
    """Read a source, put the modules' text into its listings, and make it a bare notebook."""
    text = (root / "src" / f"{name}.py").read_text(encoding="utf-8")
    source = jupytext.reads(text, fmt="py:percent")
    cells = [_cell(cell) for cell in source.cells if _is_ours(cell)]
    _check_listings(cells)
    seen: dict[str, int] = {}
    for cell in cells:
        cell.id = _identifier(cell, seen)
    return nbformat.v4.new_notebook(cells=cells, metadata=_notebook_metadata())


def _check_listings(cells: Sequence[NotebookNode]) -> None:
    """A listing runs only in a kernel that knows listings."""
    loaded = False
    for cell in cells:
        loaded = loaded or LOAD in cell.source
        if "source" in cell.metadata and not loaded:
            raise ValueError(f"{LOAD!r} must stand in a cell before the first listing")


def _is_ours(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" or cell.metadata.get("lang", LANGUAGE) == LANGUAGE


def _cell(cell: NotebookNode) -> NotebookNode:
    keep = {key: value for key, value in cell.metadata.items() if key != "lines_to_next_cell"}
    if cell.cell_type != "code":
        return nbformat.v4.new_markdown_cell(cell.source, metadata=keep)
    text = cell.source
    if "source" in keep:
        _only_imports(cell.source, keep["source"])
        text = Listing.parse(keep["source"]).text()
        if len(text.splitlines()) - 1 > FOLD_OVER:
            keep["jupyter"] = {"source_hidden": True}
    if "stub" in keep:
        if text.strip():
            raise ValueError(f"the cell of the stub {keep['stub']!r} must be empty, got {text!r}")
        text = exercises.exercise(keep["stub"]).cell
    return nbformat.v4.new_code_cell(text, metadata=keep)


def _only_imports(text: str, spec: str) -> None:
    """A listing's cell in a source holds nothing of its own: imports of the names, or nothing."""
    if not all(isinstance(one, ast.Import | ast.ImportFrom) for one in ast.parse(text).body):
        raise ValueError(f"the cell of the listing {spec!r} may hold only imports, got {text!r}")


def _identifier(cell: NotebookNode, seen: dict[str, int]) -> str:
    """An id that stays the same while the cell's text does."""
    digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:8]
    seen[digest] = seen.get(digest, 0) + 1
    return digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"


def _notebook_metadata() -> dict[str, Any]:
    return {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"file_extension": ".py", "mimetype": "text/x-python", "name": "python"},
        "minilc": {"built_with": _versions()},
    }


def _versions() -> dict[str, str]:
    return {package: metadata.version(package) for package in VERSIONED}


def _tags(cell: NotebookNode) -> list[str]:
    return list(cell.metadata.get("tags", []))


# --- outputs ---------------------------------------------------------------------------------


def clean(outputs: Sequence[Mapping[str, Any]], tags: Sequence[str] = ()) -> list[NotebookNode]:
    """Make a cell's outputs fit to be committed.

    Pieces of a stream become one, standard output before standard error; widget views are dropped
    (what stands beside them stays); a live cell keeps no output.
    """
    if LIVE in tags:
        return [nbformat.v4.new_output("display_data", {"text/plain": RUN_ME})]
    cleaned: list[NotebookNode] = []
    streams: dict[str, str] = {}
    for output in outputs:
        if output["output_type"] == "stream":
            streams[output["name"]] = streams.get(output["name"], "") + output["text"]
            continue
        cleaned += _flushed(streams)
        data = {key: value for key, value in output["data"].items() if not key.startswith(_WIDGET)}
        if data:
            details = {key: value for key, value in output["metadata"].items() if key in data}
            cleaned.append(
                nbformat.v4.new_output(output["output_type"], data=data, metadata=details)
            )
    return cleaned + _flushed(streams)


def _flushed(streams: dict[str, str]) -> list[NotebookNode]:
    flushed = [
        nbformat.v4.new_output("stream", name=name, text=streams[name])
        for name in ("stdout", "stderr")
        if streams.get(name)
    ]
    streams.clear()
    return flushed


def _comparable(output: Mapping[str, Any]) -> dict[str, Any]:
    """An output without what may differ between machines: a PNG depends on their fonts."""
    plain = json.loads(json.dumps(output))
    if "data" in plain:
        plain["data"] = {
            key: "".join(value) if isinstance(value, list) else value
            for key, value in plain["data"].items()
            if key != "image/png"
        }
    if isinstance(plain.get("text"), list):
        plain["text"] = "".join(plain["text"])
    return plain


# --- build -----------------------------------------------------------------------------------


def build(
    wanted: Iterable[str] = (), root: Path = ROOT, progress: Progress | None = None
) -> Report:
    """Execute notebooks from nothing and write them, with their outputs, beside their sources."""
    report = Report()
    for name, notebook, result in _executed(names(wanted, root), root, report, progress, seed=0):
        if result.error is not None:
            continue
        path = root / f"{name}.ipynb"
        _keep_pictures(notebook, path)
        path.write_text(_text(notebook), encoding="utf-8", newline="\n")
        report.problems += inspect(name, notebook, root)
    return report


def _executed(
    chosen: Sequence[str],
    root: Path,
    report: Report,
    progress: Progress | None,
    seed: int,
) -> Iterator[tuple[str, NotebookNode, executor.Result]]:
    """Run notebooks from their sources; yield each with its outputs, note what fails."""
    notebooks = {}
    for name in chosen:
        try:
            notebooks[name] = read_source(name, root)
        except (ValueError, LookupError, SyntaxError) as error:
            report.problems.append(Problem(name, f"{type(error).__name__}: {error}"))
    jobs = [
        executor.Job(name, [c.source for c in book.cells if c.cell_type == "code"], str(root))
        for name, book in notebooks.items()
    ]
    for result in executor.execute(jobs, seed=seed):
        notebook = notebooks[result.name]
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        for cell, outputs in zip(code, result.outputs, strict=False):
            cell.outputs = clean(outputs, _tags(cell))
        report.seconds[result.name] = result.seconds
        if result.error is not None:
            failed = None
            if result.failed_cell is not None:
                failed = notebook.cells.index(code[result.failed_cell]) + 1
            report.problems.append(Problem(result.name, result.error, failed))
        if progress is not None:
            progress.step(result.name, result.seconds, failed=result.error is not None)
        yield result.name, notebook, result


def _keep_pictures(notebook: NotebookNode, path: Path) -> None:
    """Keep the committed PNG of a drawing that has not changed, whatever this machine's fonts."""
    if not path.exists():
        return
    kept = {}
    for output in _every_output(nbformat.read(path, as_version=4)):
        data = output.get("data", {})
        if "image/svg+xml" in data and "image/png" in data:
            kept["".join(data["image/svg+xml"])] = data["image/png"]
    for output in _every_output(notebook):
        data = output.get("data", {})
        if "image/png" in data and "".join(data.get("image/svg+xml", "")) in kept:
            data["image/png"] = kept["".join(data["image/svg+xml"])]


def _every_output(notebook: NotebookNode) -> list[NotebookNode]:
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


def _text(notebook: NotebookNode) -> str:
    nbformat.validate(notebook)
    return nbformat.writes(notebook, version=4, indent=1) + "\n"


# --- verify ----------------------------------------------------------------------------------


def verify(
    wanted: Iterable[str] = (), root: Path = ROOT, progress: Progress | None = None
) -> Report:
    """Execute notebooks again and compare them with what is committed."""
    report = Report()
    chosen = names(wanted, root)
    for name, fresh, result in _executed(chosen, root, report, progress, seed=1):
        path = root / f"{name}.ipynb"
        if not path.exists():
            report.problems.append(Problem(name, "is not built"))
            continue
        committed = nbformat.read(path, as_version=4)
        problems = _stale(name, committed, fresh)
        if not problems and result.error is None:
            problems = _differences(name, committed, fresh)
        report.problems += problems + inspect(name, committed, root)
    report.problems += _lesson_problems(chosen, report)
    return report


def _stale(name: str, committed: NotebookNode, fresh: NotebookNode) -> list[Problem]:
    """Where a committed notebook's cells are not those of its source and modules."""
    for number, (old, new) in enumerate(zip(committed.cells, fresh.cells, strict=False), 1):
        if (old.cell_type, old.source, old.metadata) != (new.cell_type, new.source, new.metadata):
            stub = new.metadata.get("stub")
            origin = new.metadata.get("source") or (stub and f"the exercise {stub}")
            reason = f"{origin} has changed" if origin else "its source has changed"
            return [Problem(name, f"{reason} since it was built: build it again", number)]
    if len(committed.cells) != len(fresh.cells):
        return [Problem(name, "its source has changed since it was built: build it again")]
    return []


def _differences(name: str, committed: NotebookNode, fresh: NotebookNode) -> list[Problem]:
    same_versions = committed.metadata.get("minilc", {}).get("built_with") == _versions()
    problems = []
    for number, (old, new) in enumerate(zip(committed.cells, fresh.cells, strict=True), 1):
        if VERSION in _tags(new) and not same_versions:
            continue
        before = [_comparable(output) for output in old.get("outputs", [])]
        after = [_comparable(output) for output in new.get("outputs", [])]
        if before != after:
            problems.append(
                Problem(name, f"other output than committed\n{_diff(before, after)}", number)
            )
    return problems


def _diff(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> str:
    old, new = ([line for one in outputs for line in _lines(one)] for outputs in (before, after))
    differing = difflib.unified_diff(old, new, "committed", "now", lineterm="", n=1)
    return "\n".join(f"    {line[:200]}" for line in list(differing)[:24])


def _lines(output: dict[str, Any]) -> list[str]:
    if output["output_type"] == "stream":
        return [f"[{output['name']}]", *output["text"].splitlines()]
    lines = []
    for kind, value in sorted(output["data"].items()):
        text = value if isinstance(value, str) else json.dumps(value, indent=1, sort_keys=True)
        lines += [f"[{kind}]", *text.splitlines()]
    return lines + [json.dumps(output["metadata"], sort_keys=True)]


def _lesson_problems(chosen: Sequence[str], report: Report) -> list[Problem]:
    """What is wrong with the exercises of the chosen notebooks' lessons."""
    jobs = [
        executor.Job(f"{name} exercises", lesson=name[3:])
        for name in chosen
        if name[3:] in exercises.lessons()
    ]
    problems = []
    for result in executor.execute(jobs, seed=1) if jobs else ():
        report.seconds[result.name] = result.seconds
        found = [*result.problems, *([result.error] if result.error else [])]
        problems += [Problem(result.name.partition(" ")[0], text) for text in found]
    return problems


# --- what may not be in a committed notebook -------------------------------------------------

_LEAKS = {
    "a memory address": re.compile(r"\bat 0x[0-9a-fA-F]{4,}|\b0x[0-9a-f]{9,}\b"),
    "a path of this machine": re.compile(
        r"(?<![\w.:/])/(?:home|Users|root|tmp|usr|opt|var|work|mnt|private)/[\w.-]+"
        r"|\b[A-Z]:\\\w|site-packages[/\\]|ipykernel_\d+"
    ),
    "a random id": re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"),
    "a time": re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\b\d\d:\d\d:\d\d\b"),
}
_UPSTREAM = ("langchain_core", "langchain", "langgraph", "langchain_openai", "langchain_anthropic")
_COPIED_LINES = 3  # so many lines of upstream's in a row are a copy
_TELLING = 24  # shorter lines than this say nothing about where they come from


def inspect(name: str, notebook: NotebookNode, root: Path = ROOT) -> list[Problem]:
    """What a committed notebook may not hold: leaks, bare pictures, upstream's text, widgets."""
    problems = []
    if "widgets" in notebook.metadata:
        problems.append(Problem(name, "holds the state of widgets"))
    for number, cell in enumerate(notebook.cells, 1):
        found = list(_cell_faults(cell, root))
        problems += [Problem(name, text, number) for text in found]
    return problems


def _cell_faults(cell: NotebookNode, root: Path) -> Iterator[str]:
    if cell.cell_type == "markdown":
        yield from _markdown_faults(cell.source, root)
        return
    if cell.get("execution_count") is not None or "execution" in cell.metadata:
        yield "holds traces of an execution"
    for output in cell.outputs:
        if output.output_type == "error":
            yield f"ends in an error: {output.ename}"
            continue
        for kind, text in _texts(output):
            for what, pattern in _LEAKS.items():
                leak = pattern.search(text)
                if leak is not None:
                    yield f"{what} leaks into its output ({kind}): {leak[0]!r}"
            copied = _copied(text)
            if copied:
                yield f"shows upstream's source text: {copied!r}; tag the cell 'live'"
        yield from _picture_faults(output)


def _texts(output: NotebookNode) -> Iterator[tuple[str, str]]:
    if output.output_type == "stream":
        yield output.name, output.text
        return
    for kind, value in output.data.items():
        if kind.startswith(_WIDGET):
            yield kind, json.dumps(value)
        elif kind in ("text/html", "image/svg+xml"):
            yield kind, html.unescape(re.sub(r"<[^>]*>", "", value))
        elif kind.startswith("text/"):
            yield kind, value
        elif kind == "application/json":
            yield kind, json.dumps(value)


def _copied(text: str) -> str | None:
    """The last line of a passage that stands in upstream's source, or None."""
    lines = [line.strip() for line in text.splitlines()]
    if sum(len(line) >= _TELLING for line in lines) < _COPIED_LINES:
        return None
    run = 0
    for line in lines:
        if line not in _upstream_lines():
            run = 0
        elif len(line) >= _TELLING:
            run += 1
        if run >= _COPIED_LINES:
            return line
    return None


@functools.cache
def _upstream_lines() -> frozenset[str]:
    """Every line of the installed upstream packages."""
    lines: set[str] = set()
    for package in _UPSTREAM:
        spec = importlib.util.find_spec(package)
        for folder in (spec.submodule_search_locations or []) if spec else []:
            for path in Path(folder).rglob("*.py"):
                text = path.read_text(encoding="utf-8", errors="replace")
                lines.update(line.strip() for line in text.splitlines())
    return frozenset(lines)


def _picture_faults(output: NotebookNode) -> Iterator[str]:
    data = output.get("data", {})
    svg = data.get("image/svg+xml")
    if svg is not None and not described(svg):
        yield "a picture without description: its SVG lacks a title or a desc"
    if "image/png" in data and not output.metadata.get("image/png", {}).get("alt"):
        yield "a picture without description: its metadata lacks image/png's alt"
    yield from _html_picture_faults(data.get("text/html", ""))


def described(svg: str) -> bool:
    """Whether an SVG says in words what it shows."""
    return all(re.search(rf"<{tag}\b[^>]*>\s*\S", svg) for tag in ("title", "desc"))


def _html_picture_faults(text: str) -> Iterator[str]:
    for tag in re.findall(r"<img\b[^>]*>", text):
        if not re.search(r"\balt=\"[^\"]+\"", tag):
            yield f"a picture without description: {tag[:80]}"
    for svg in re.findall(r"<svg\b.*?</svg>", text, re.DOTALL):
        if not described(svg):
            yield "a picture without description: an SVG in HTML lacks a title or a desc"


def _markdown_faults(text: str, root: Path) -> Iterator[str]:
    prose = re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL)
    yield from _html_picture_faults(prose)
    for alt, target in re.findall(r"!\[([^\]]*)\]\(([^)\s]+)", prose):
        if not alt.strip():
            yield f"a picture without description: {target}"
        if "://" not in target and not (root / target).exists():
            yield f"a picture that does not exist: {target}"


# --- on the command line ---------------------------------------------------------------------


class Progress:
    """A progress bar where there is a terminal, else a line for each notebook."""

    def __init__(self, title: str, total: int) -> None:
        self._console = terminal.console(sys.stderr)
        self._bar = terminal.progress(self._console)
        self._task = self._bar.add_task(title, total=total)

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def step(self, name: str, seconds: float, failed: bool) -> None:
        """Say that one notebook is done."""
        self._bar.update(self._task, advance=1, description=name)
        if not self._console.is_terminal:
            print(f"{name} {'failed after ' if failed else ''}{seconds:.1f} s", file=sys.stderr)


def add_parser(subparsers: Any) -> None:
    """Add `notebooks build|verify|style [NAME...]` to a command line."""
    parser = subparsers.add_parser(
        "notebooks", help="build, verify or measure the course's notebooks"
    )
    actions = parser.add_subparsers(dest="action", required=True)
    for action, text in {
        "build": "execute sources and write the notebooks with their outputs",
        "verify": "execute again and compare with what is committed",
        "style": "measure notebooks against the course's targets",
        "images": "draw the pictures in images/ again",
    }.items():
        one = actions.add_parser(action, help=text, description=text)
        one.add_argument(
            "names", nargs="*", metavar="NAME", help="03_base, 03 or base; all if none"
        )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Carry out a parsed command; return the exit status."""
    if arguments.action == "images":
        from minilc.course import images

        return images.run(arguments.names)
    chosen = names(arguments.names)
    if arguments.action == "style":
        from minilc.course import style

        return style.run(chosen)
    action = {"build": build, "verify": verify}[arguments.action]
    started = time.perf_counter()
    with Progress(arguments.action, len(chosen)) as progress:
        report = action(chosen, progress=progress)
    for problem in report.problems:
        print(problem)
    verdict = _counted(len(report.problems), "problem") if report.problems else "all true"
    seconds = time.perf_counter() - started
    print(f"{_counted(len(chosen), 'notebook')}, {verdict}, {seconds:.1f} s")
    return 1 if report.problems else 0


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `notebooks ...` on its own."""
    parser = argparse.ArgumentParser(prog="minilc")
    add_parser(parser.add_subparsers(required=True))
    parsed = parser.parse_args(arguments)
    try:
        return int(parsed.run(parsed))
    except LookupError as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(["notebooks", *sys.argv[1:]]))
