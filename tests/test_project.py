"""The project itself: what imports what, what the names mean upstream, how long the core is."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from minilc.course import behaviours, divergences
from minilc.course.cases import load
from minilc.course.layers import LAYERS, Layer
from minilc.course.lines import MODULE_CEILING, TOTAL_CEILING, code_lines, core_lines
from minilc.course.upstream import locate

ROOT = Path(__file__).parent.parent
CORE = [ROOT / "minilc" / f"{row.module}.py" for row in LAYERS]


def imported(file: Path) -> Iterator[str]:
    """The modules that a file imports, also inside its functions."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file.name} imports relatively"
            if node.module == "minilc":
                yield from (f"minilc.{alias.name}" for alias in node.names)
            else:
                yield node.module or ""


@pytest.mark.parametrize("row", LAYERS, ids=lambda row: row.module)
def test_a_layer_imports_only_layers_above_it(row: Layer) -> None:
    above = {other.dotted for other in LAYERS if other.number < row.number}
    own = {name for name in imported(CORE[row.number - 1]) if name.partition(".")[0] == "minilc"}
    assert own <= above


# Each in one function of the core, which imports it when it is called.
ON_USE = {"chat_models": {"httpx"}}


@pytest.mark.parametrize("row", LAYERS, ids=lambda row: row.module)
def test_the_core_needs_the_standard_library_and_pydantic_alone(row: Layer) -> None:
    allowed = {*sys.stdlib_module_names, "minilc", "pydantic", "pydantic_core", "typing_extensions"}
    roots = {name.partition(".")[0] for name in imported(CORE[row.number - 1])}
    assert roots <= allowed | ON_USE.get(row.module, set())


def test_importing_minilc_loads_neither_langchain_nor_the_course() -> None:
    script = "import sys, minilc; print(*sorted(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        capture_output=True,
        check=True,
        cwd=ROOT,
        text=True,
    ).stdout.split()
    roots = {name.partition(".")[0] for name in loaded}
    unwanted = {
        "langchain",
        "langchain_core",
        "langgraph",
        "httpx",
        "rich",
        "IPython",
        "jupyterlab",
    }
    assert roots & unwanted == set()
    assert not [name for name in loaded if name.startswith("minilc.course")]


@pytest.mark.parametrize("file", [ROOT / "minilc" / "__init__.py", *CORE], ids=lambda f: f.stem)
def test_the_public_modules_are_all_there(file: Path) -> None:
    assert file.is_file()


@pytest.mark.parametrize("row", LAYERS, ids=lambda row: row.module)
def test_every_mirrored_symbol_is_in_minilc_and_in_the_installed_langchain(row: Layer) -> None:
    missing = [
        f"{row.dotted}.{ours} = {theirs}"
        for ours, theirs in row.mirrors.items()
        if locate(f"{row.dotted}.{ours}") is None or locate(theirs) is None
    ]
    assert missing == []


@pytest.mark.parametrize("row", LAYERS, ids=lambda row: row.module)
def test_a_module_says_its_layer_what_it_mirrors_and_what_it_leaves_out(row: Layer) -> None:
    tree = ast.parse(CORE[row.number - 1].read_text(encoding="utf-8"))
    document = ast.get_docstring(tree) or ""
    assert document.startswith(f"Layer {row.number}: ")
    assert re.search(r"^Mirrors \w+/", document, re.MULTILINE)
    assert re.search(r"^Leaves out \S", document, re.MULTILINE)


def test_the_core_stays_small() -> None:
    lines = core_lines()
    assert {name: count for name, count in lines.items() if count > MODULE_CEILING} == {}
    assert sum(lines.values()) <= TOTAL_CEILING


def test_code_lines_are_counted_without_blanks_comments_and_docstrings() -> None:
    module = '"""Text."""\n\n# why\nx = (\n    1,\n    2,  # two\n)\n'
    function = '\n\ndef f():\n    """Do."""\n    return x\n'
    assert code_lines(module) == 4
    assert code_lines(module + function) == 6


def test_every_row_of_the_registers_has_a_case_or_a_test() -> None:
    named = {name for one in load() for name in (one.differs, one.behaviour)}
    # The tests of the registers themselves use rows as examples; they show no difference.
    files = {*(ROOT / "tests").glob("test_*.py")} - {
        ROOT / "tests" / f"test_{name}.py" for name in ("twin", "check", "project")
    }
    tests = "".join(file.read_text(encoding="utf-8") for file in files)
    rows = [*divergences.DIVERGENCES, *behaviours.BEHAVIOURS]
    assert [row.id for row in rows if row.id not in named and f'"{row.id}"' not in tests] == []


def test_rows_have_ids_of_their_own_and_say_all_that_they_must() -> None:
    rows = [*divergences.DIVERGENCES, *behaviours.BEHAVIOURS]
    ids = [row.id for row in rows]
    assert len(ids) == len(set(ids))
    for row in rows:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", row.id)
        assert row.layer in {one.number for one in LAYERS}
        assert all(vars(row).values())


# The folders of a machine, wherever they appear in a text.
MACHINE = re.compile(
    r"(?<![\w./~])/(?:home|root|Users|tmp|work|private|var/folders)/\w|[A-Z]:\\\\Users"
)
SITE_PACKAGES = re.compile(r"/site-packages/")
# Files that plant such paths, to show that they are found.
PLANTED = {Path(__file__), ROOT / "tests" / "test_notebooks.py"}


def tracked() -> list[Path]:
    """The files that git tracks; all files, where there is no git."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode == 0:
        return [ROOT / name for name in listed.stdout.split("\0") if name]
    return [file for file in ROOT.rglob("*") if file.is_file() and ".git" not in file.parts]


def test_no_tracked_file_names_a_path_of_a_machine() -> None:
    found = []
    for file in tracked():
        if not file.is_file() or file in PLANTED:
            continue
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:  # A picture.
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if MACHINE.search(line) or (file.suffix == ".ipynb" and SITE_PACKAGES.search(line)):
                found.append(f"{file.relative_to(ROOT)}:{number}")
    assert found == []


def test_every_link_to_a_file_of_the_course_leads_somewhere() -> None:
    texts = [ROOT / "README.md", *sorted((ROOT / "notebooks" / "src").glob("*.py"))]
    link = re.compile(r"\]\(([^)#:\s]+\.(?:ipynb|md|py|svg|png))\)")
    folder = {".md": ROOT, ".py": ROOT / "notebooks"}
    lost = [
        f"{text.name}: {target}"
        for text in texts
        for target in link.findall(text.read_text(encoding="utf-8"))
        if not (folder[text.suffix] / target).is_file()
    ]
    assert lost == []
