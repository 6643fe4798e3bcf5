"""The machinery of the notebooks: what is built, what verify finds, what a listing does."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import nbformat
import pytest

import minilc.messages
from minilc.course import executor, notebooks, style
from minilc.course.expect import expect_error
from minilc.course.listings import Listing, _transform, run, swapped


def write(root: Path, text: str, name: str = "90_try") -> None:
    (root / "src").mkdir(parents=True, exist_ok=True)
    (root / "src" / f"{name}.py").write_text(text, encoding="utf-8")


def built(root: Path, name: str = "90_try") -> nbformat.NotebookNode:
    return nbformat.read(root / f"{name}.ipynb", as_version=4)


def problems(report: notebooks.Report) -> list[str]:
    return [str(problem) for problem in report.problems]


EVERYTHING = """\
# %% [markdown] lang="en"
# # What does everything do?

# %% [markdown] lang="zh"
# 这一格不在英文笔记本里。

# %%
# %load_ext minilc.course.listings
import asyncio
import sys

import ipywidgets
from IPython.display import HTML, clear_output, display

from minilc.course.expect import expect_error

# %%
print("one", end="")
print("warned", file=sys.stderr)
print(" two 北京")
display(HTML("<b>x</b>"))
shown = display("first", display_id="x")
shown.update("second")
{"a": 1}

# %%
await asyncio.sleep(0)
print("gone")
clear_output()
get_ipython().__class__.__name__, __name__

# %%
with expect_error(RuntimeError, "asyncio.run() cannot be called from a running event loop"):
    asyncio.run(None)

# %% source="minilc.messages:ToolMessage, AIMessage"
from minilc.messages import AIMessage, ToolMessage

# %%
import minilc.messages

assert ToolMessage is minilc.messages.ToolMessage
print(ToolMessage.__name__, AIMessage.__name__)

# %% tags=["live"]
print(object())

# %%
hidden = ipywidgets.Output()
with hidden:
    print("the widget's own")
display(ipywidgets.IntSlider(3))
print(sorted(set("abc")))
"""


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("notebooks")
    write(root, EVERYTHING)
    assert problems(notebooks.build(root=root)) == []
    return root


def outputs(notebook: nbformat.NotebookNode, number: int) -> list[Any]:
    return [
        output.text if output.output_type == "stream" else output.data["text/plain"]
        for output in [cell for cell in notebook.cells if cell.cell_type == "code"][number].outputs
    ]


# --- build -----------------------------------------------------------------------------------


def test_a_built_notebook_has_the_outputs_of_a_jupyter_kernel(everything: Path) -> None:
    notebook = built(everything)
    assert outputs(notebook, 1) == [
        "one two 北京\n",
        "warned\n",
        "<IPython.core.display.HTML object>",
        "'second'",
        "{'a': 1}",
    ]
    assert outputs(notebook, 2) == ["('ZMQInteractiveShell', '__main__')"]
    assert outputs(notebook, 3) == [
        "RuntimeError: asyncio.run() cannot be called from a running event loop\n"
    ]
    assert outputs(notebook, 5) == ["ToolMessage AIMessage\n"]


def test_what_may_not_be_committed_is_not_there(everything: Path) -> None:
    notebook = built(everything)
    assert outputs(notebook, 6) == [notebooks.RUN_ME]
    assert outputs(notebook, 7) == ["IntSlider(value=3)", "['a', 'b', 'c']\n"]
    text = (everything / "90_try.ipynb").read_text(encoding="utf-8")
    assert "widget-view" not in text and "widgets" not in notebook.metadata
    assert {cell.get("execution_count") for cell in notebook.cells} == {None}
    assert text.endswith("}\n") and "\r" not in text


def test_prose_of_another_language_is_left_out(everything: Path) -> None:
    assert "这一格" not in (everything / "90_try.ipynb").read_text(encoding="utf-8")


def test_a_listing_has_the_text_of_its_module_and_is_folded(everything: Path) -> None:
    (listing,) = [cell for cell in built(everything).cells if "source" in cell.metadata]
    lines = listing.source.splitlines()
    assert lines[:2] == [
        "# minilc/messages.py: ToolMessage, AIMessage",
        "class ToolMessage(BaseMessage, ToolOutputMixin):",
    ]
    assert "    def pretty_repr(self) -> str:" in lines
    assert listing.metadata.jupyter.source_hidden is True
    assert listing.source == Listing.parse(listing.metadata.source).text()


def test_building_again_changes_nothing(everything: Path) -> None:
    before = (everything / "90_try.ipynb").read_bytes()
    notebooks.build(root=everything)
    assert (everything / "90_try.ipynb").read_bytes() == before


def test_a_drawing_that_has_not_changed_keeps_its_png(tmp_path: Path) -> None:
    def picture(svg: str, png: str) -> nbformat.NotebookNode:
        output = nbformat.v4.new_output(
            "display_data", {"image/svg+xml": svg, "image/png": png}, metadata={}
        )
        return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x", outputs=[output])])

    nbformat.write(picture("<svg>same</svg>", "b2xk"), tmp_path / "a.ipynb")
    for svg, kept in (("<svg>same</svg>", "b2xk"), ("<svg>other</svg>", "bmV3")):
        fresh = picture(svg, "bmV3")
        notebooks._keep_pictures(fresh, tmp_path / "a.ipynb")
        assert fresh.cells[0].outputs[0].data["image/png"] == kept


def test_a_cell_that_fails_fails_the_build(tmp_path: Path) -> None:
    write(tmp_path, "# %%\nx = 1\n\n# %%\n1 / 0\n")
    assert problems(notebooks.build(root=tmp_path)) == [
        "90_try, cell 2: ZeroDivisionError: division by zero"
    ]
    assert not (tmp_path / "90_try.ipynb").exists()


@pytest.mark.parametrize(
    ("cell", "problem"),
    [
        (
            '# %% source="minilc.messages:ToolCall"\n',
            "90_try: ValueError: '%load_ext minilc.course.listings' must stand in a cell before "
            "the first listing",
        ),
        (
            '# %% source="minilc.messages:Nothing"\n',
            "90_try: LookupError: minilc.messages has no 'Nothing'",
        ),
        (
            '# %% source="minilc.nothing:Tool"\n',
            "90_try: LookupError: no module 'minilc.nothing'",
        ),
        (
            '# %% source="minilc.messages"\n',
            "90_try: ValueError: a listing is named 'module:symbol, symbol', got 'minilc.messages'",
        ),
        (
            '# %% source="minilc.messages:ToolMessage"\nx = 1\n',
            "90_try: ValueError: the cell of the listing 'minilc.messages:ToolMessage' may hold "
            "only imports, got 'x = 1'",
        ),
        (
            '# %% stub="base-1"\nx = 1\n',
            "90_try: ValueError: the cell of the stub 'base-1' must be empty, got 'x = 1'",
        ),
    ],
)
def test_a_cell_that_cannot_be_made_fails_the_build(
    tmp_path: Path, cell: str, problem: str
) -> None:
    write(tmp_path, cell)
    assert problems(notebooks.build(root=tmp_path)) == [problem]


def test_a_notebook_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LookupError) as caught:
        notebooks.names(root=tmp_path)
    assert str(caught.value) == f"no sources of notebooks in {tmp_path / 'src'}"
    write(tmp_path, "# %%\n")
    with pytest.raises(LookupError) as caught:
        notebooks.names(["nope"], root=tmp_path)
    assert str(caught.value) == "no notebook 'nope'; there are 90_try"
    assert notebooks.names(["90"], root=tmp_path) == notebooks.names(["try"], root=tmp_path)


# --- verify ----------------------------------------------------------------------------------


def test_a_true_notebook_verifies(everything: Path) -> None:
    assert problems(notebooks.verify(root=everything)) == []


def test_a_real_kernel_gives_the_same_outputs(
    everything: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINILC_EXECUTOR", "kernel")
    assert problems(notebooks.verify(root=everything)) == []


UNTRUE = """\
# %%
# %load_ext minilc.course.listings
print(len("北京"))

# %% tags=["version"]
print("as installed")

# %% source="minilc.messages:ToolCall"
from minilc.messages import ToolCall
"""


@pytest.fixture
def untrue(tmp_path: Path) -> Path:
    write(tmp_path, UNTRUE)
    assert problems(notebooks.build(root=tmp_path)) == []
    return tmp_path


def edit(root: Path, change: Any) -> None:
    notebook = built(root)
    change(notebook)
    nbformat.write(notebook, root / "90_try.ipynb")


def test_another_output_is_found(untrue: Path) -> None:
    edit(untrue, lambda notebook: notebook.cells[0].outputs[0].update(text="3\n"))
    (problem,) = problems(notebooks.verify(root=untrue))
    assert problem.splitlines() == [
        "90_try, cell 1: other output than committed",
        "    --- committed",
        "    +++ now",
        "    @@ -1,2 +1,2 @@",
        "     [stdout]",
        "    -3",
        "    +2",
    ]


def test_a_changed_source_or_module_is_found(untrue: Path) -> None:
    write(untrue, UNTRUE.replace("len(", "1 + len("))
    assert problems(notebooks.verify(root=untrue)) == [
        "90_try, cell 1: its source has changed since it was built: build it again"
    ]
    write(untrue, UNTRUE)
    edit(untrue, lambda notebook: notebook.cells[2].update(source="# minilc/messages.py: ToolCall"))
    assert problems(notebooks.verify(root=untrue)) == [
        "90_try, cell 3: minilc.messages:ToolCall has changed since it was built: build it again"
    ]
    write(untrue, UNTRUE + "\n# %%\n")
    edit(untrue, lambda notebook: notebook.cells.pop())
    assert len(problems(notebooks.verify(root=untrue))) == 1


def test_a_notebook_that_is_not_built_is_found(tmp_path: Path) -> None:
    write(tmp_path, "# %%\n")
    assert problems(notebooks.verify(root=tmp_path)) == ["90_try: is not built"]


def test_a_versioned_output_is_compared_only_with_the_versions_it_was_built_with(
    untrue: Path,
) -> None:
    edit(untrue, lambda notebook: notebook.cells[1].outputs[0].update(text="other\n"))
    assert len(problems(notebooks.verify(root=untrue))) == 1
    edit(untrue, lambda notebook: notebook.metadata.minilc.built_with.update(langchain="0.1"))
    assert problems(notebooks.verify(root=untrue)) == []


def test_the_order_of_a_set_is_found(tmp_path: Path) -> None:
    write(tmp_path, "# %%\nprint(*{chr(97 + n) for n in range(26)})\n")
    assert problems(notebooks.build(root=tmp_path)) == []
    (problem,) = problems(notebooks.verify(root=tmp_path))
    assert problem.startswith("90_try, cell 1: other output than committed")


LEAKS = {
    "object()": "a memory address leaks into its output (text/plain): 'at 0x",
    "print('/home/me/minilc')": "a path of this machine leaks into its output (stdout): '/home/me",
    "print(r'C:\\Users\\me')": "a path of this machine leaks into its output (stdout): 'C:",
    "__import__('uuid').UUID(int=7)": "a random id leaks into its output (text/plain): '00000000-",
    "print('2026-01-31 12:00')": "a time leaks into its output (stdout): '2026-01-31 12:00'",
    "from IPython.display import SVG\nSVG('<svg xmlns=\"http://www.w3.org/2000/svg\"/>')": (
        "a picture without description: its SVG lacks a title or a desc"
    ),
    "from IPython.display import HTML\nHTML('<img src=\"x.png\">')": (
        'a picture without description: <img src="x.png">'
    ),
    "import inspect\nfrom langchain_core.tools import tool\nprint(inspect.getsource(tool))": (
        "shows upstream's source text: "
    ),
}


def test_what_may_not_be_in_an_output_is_found(tmp_path: Path) -> None:
    prose = "# %% [markdown]\n# ![](../images/nothing.png) and `![](quoted.png)`\n"
    write(tmp_path, prose + "".join(f"\n# %%\n{code}\n" for code in LEAKS))
    found = problems(notebooks.build(root=tmp_path))
    for number, expected in enumerate(LEAKS.values(), 2):
        assert any(one.startswith(f"90_try, cell {number}: {expected}") for one in found), expected
    assert found[:2] == [
        "90_try, cell 1: a picture without description: ../images/nothing.png",
        "90_try, cell 1: a picture that does not exist: ../images/nothing.png",
    ]
    assert len(found) == len(LEAKS) + 2


def test_a_notebook_has_no_network_no_keys_and_progress_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = ["OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "LANGCHAIN_TRACING_V2"]
    for name in private:
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("MINILC_DATA", str(tmp_path))
    cells = [
        f"import os; print([name for name in {private} if name in os.environ])",
        "print(os.listdir(os.environ['MINILC_DATA']))",
        f"print(os.environ['MINILC_DATA'] == {str(tmp_path)!r})",
        "import socket; socket.create_connection(('203.0.113.1', 80))",
    ]
    (result,) = executor.execute([executor.Job("try", cells, str(tmp_path))])
    printed = ["".join(one["text"] for one in cell) for cell in result.outputs[:3]]
    assert printed == ["[]\n", "[]\n", "False\n"]
    assert result.error == "ConnectionRefusedError: a notebook uses no network when it is built"
    assert result.failed_cell == 3


def test_a_notebook_whose_process_dies_is_a_problem() -> None:
    jobs = [executor.Job("dies", ["import os; os._exit(3)"]), executor.Job("lives", ["1"])]
    results = {result.name: result for result in executor.execute(jobs)}
    assert results["dies"].error == "the process died (768)"
    assert results["lives"].error is None


# --- listings --------------------------------------------------------------------------------


def namespace(text: str) -> dict[str, Any]:
    made: dict[str, Any] = {}
    run(text, made)
    return made


def test_an_unchanged_listing_gives_the_modules_own_object() -> None:
    text = Listing.parse("minilc.messages:ToolMessage").text()
    assert namespace(text)["ToolMessage"] is minilc.messages.ToolMessage


def test_an_edited_listing_changes_minilc_until_the_original_is_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = Listing.parse("minilc.messages:AIMessage.pretty_repr").text()
    message = minilc.messages.AIMessage(content="hi")
    before = message.pretty_repr()
    run(text.replace(").strip()", ").strip().upper()", 1).replace("lines)", "lines).upper()"), {})
    try:
        assert message.pretty_repr() == before.upper()
    finally:
        run(text, {})
    assert message.pretty_repr() == before
    assert capsys.readouterr().out.splitlines() == [
        "minilc.messages.AIMessage.pretty_repr is now yours in this kernel.",
        "AIMessage.pretty_repr: minilc's own again.",
    ]


def test_editing_a_class_changes_its_methods_in_place() -> None:
    text = Listing.parse("minilc.messages:AIMessage").text()
    message = minilc.messages.AIMessage(content="hi")
    before = message.pretty_repr()
    run(text.replace('"\\n".join(lines)', '"\\n".join(["edited", *lines])'), {})
    try:
        assert message.pretty_repr() == f"edited\n{before}"
    finally:
        run(text, {})
    assert message.pretty_repr() == before


def test_a_cell_that_is_no_listing_is_left_alone() -> None:
    assert _transform(["x = 1\n"]) == ["x = 1\n"]
    assert Listing.of_cell("# minilc is a course\nx = 1") is None
    assert Listing.of_cell("# minilc/messages.py: ToolCall\n") == Listing(
        "minilc.messages", ("ToolCall",)
    )


def test_a_swapped_function_is_swapped_wherever_minilc_holds_it() -> None:
    import minilc
    from minilc.course.worlds import MINILC

    original = MINILC.convert_to_messages
    with swapped("minilc.messages:convert_to_messages", len):
        assert minilc.messages.convert_to_messages is len
        assert minilc.convert_to_messages is len
        assert MINILC.convert_to_messages is len
    assert minilc.convert_to_messages is MINILC.convert_to_messages is original


def test_nothing_is_swapped_for_a_name_that_does_not_exist() -> None:
    with pytest.raises(LookupError) as caught:
        with swapped("minilc.messages:nothing", len):
            pass
    assert str(caught.value) == "minilc.messages has no 'nothing'"


def test_an_edited_class_may_have_a_method_more(capsys: pytest.CaptureFixture[str]) -> None:
    text = Listing.parse("minilc.messages:AIMessage").text()
    run(f"{text}\n\n    def shout(self) -> str:\n        return self.text.upper()\n", {})
    try:
        assert minilc.messages.AIMessage(content="hi").shout() == "HI"
    finally:
        run(text, {})
    assert not hasattr(minilc.messages.AIMessage, "shout")


# --- errors shown on purpose -----------------------------------------------------------------


def test_an_expected_error_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with expect_error(KeyError, "'x'"):
        {}["x"]
    with expect_error(ValueError, "invalid literal ... 'x'"):
        int("x")
    assert capsys.readouterr().out.splitlines() == [
        "KeyError: 'x'",
        "ValueError: invalid literal ... 'x'",
    ]


@pytest.mark.parametrize(
    ("kind", "text", "says"),
    [
        (KeyError, "'y'", "expected KeyError: 'y'\nbut got  KeyError: 'x'"),
        (LookupError, "'x'", "expected LookupError: 'x'\nbut got  KeyError: 'x'"),
    ],
)
def test_another_error_than_expected_fails(kind: type[Exception], text: str, says: str) -> None:
    with pytest.raises(AssertionError) as caught:
        with expect_error(kind, text):
            {}["x"]
    assert str(caught.value) == says


def test_no_error_fails() -> None:
    with pytest.raises(AssertionError) as caught:
        with expect_error(KeyError, "'x'"):
            pass
    assert str(caught.value) == "expected KeyError: 'x'\nbut nothing was raised"


def test_an_awaited_error_is_expected_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    async def cell() -> None:
        with expect_error(ValueError, "late"):
            await asyncio.sleep(0)
            raise ValueError("late")

    asyncio.run(cell())
    assert capsys.readouterr().out == "ValueError: late\n"


# --- style -----------------------------------------------------------------------------------


def test_a_notebook_is_measured(tmp_path: Path) -> None:
    write(
        tmp_path,
        "# %% [markdown]\n# # Title\n# many words of a header\n\n# %%\n"
        "# %load_ext minilc.course.listings\n\nassert x\n"
        "\n# %%\ny = 2\n\n# %% [markdown]\n# ## Heading\n# Three words here, `x.y` 北京.\n"
        "# | a | table |\n\n"
        '# %% source="minilc.messages:AIMessage"\nfrom minilc.messages import AIMessage\n',
    )
    measured = style.measure("90_try", notebooks.read_source("90_try", tmp_path))
    assert measured.values == {
        "cells": 3,
        "lines": 1.5,
        "most": 2,
        "words": 5,
        "wordiest": 5,
        "in a row": 2,
        "asserts": 1,
    }
    assert measured.missed == ["cells", "lines", "words", "asserts"]


# --- the course's own notebooks --------------------------------------------------------------


def committed() -> list[Path]:
    return sorted(notebooks.ROOT.glob("*.ipynb"))


@pytest.mark.parametrize("path", committed(), ids=lambda path: path.stem)
def test_a_committed_notebook_holds_nothing_that_it_may_not(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert list(map(str, notebooks.inspect(path.stem, notebook))) == []


def test_the_courses_notebooks_are_true() -> None:
    if not list((notebooks.ROOT / "src").glob("*.py")):
        pytest.skip("no notebooks yet")
    assert problems(notebooks.verify()) == []


def test_no_notebook_holds_a_solution() -> None:
    from minilc.course import exercises

    for path in committed():
        text = json.loads(path.read_text(encoding="utf-8"))
        sources = "\n".join("".join(cell["source"]) for cell in text["cells"])
        for name in exercises.lessons():
            for one in exercises.lesson(name).exercises:
                assert exercises.solution_body(one.id) not in sources
