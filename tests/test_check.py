"""`minilc check`: how a case is written, what is counted, how it ends."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from minilc.course import check, cli
from minilc.course.cases import Case, case
from minilc.course.layers import LAYERS, layer
from minilc.course.worlds import World

FILES = [Path(check.__file__).parent / "cases" / f"{row.module}.py" for row in LAYERS]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_definition_of_a_case_hides_another(file: Path) -> None:
    names = [
        node.name
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_annotations_of_cases_are_values(file: Path) -> None:
    # As texts, those that name `lc` would be a NameError in both worlds: equal, and no proof.
    tree = ast.parse(file.read_text(encoding="utf-8"))
    imports = [node.module for node in tree.body if isinstance(node, ast.ImportFrom)]
    assert "__future__" not in imports


def a_case(run: Any, **options: Any) -> Case:
    """A case of the first layer."""
    return case(1, "a case", **options)(run)


def test_a_layer_may_be_named_by_number_or_module() -> None:
    made = case("base", "x")(lambda lc: 1)
    assert made.layer == 3
    assert case(3, "x")(lambda lc: 1).layer == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"differs": "nope"}, "no divergence 'nope'"),
        ({"behaviour": "nope"}, "no behaviour 'nope'"),
    ],
)
def test_a_case_with_an_unknown_row_is_an_error(options: Any, message: str) -> None:
    with pytest.raises(LookupError, match=message):
        a_case(lambda lc: 1, **options)


def test_an_unknown_layer_lists_the_layers() -> None:
    with pytest.raises(LookupError) as caught:
        layer("bse")
    assert str(caught.value).startswith("no layer 'bse'; the layers are 1 messages, 2 schema")


def test_counts_and_verdicts() -> None:
    def fails(lc: World) -> None:
        raise ValueError("x")

    cases = [
        a_case(lambda lc: 1),
        a_case(fails),
        a_case(lambda lc: lc.ToolMessage("no", tool_call_id="1", status="error")),
        a_case(lambda lc: lc.name, differs="unknown-destination"),
        a_case(lambda lc: lc.name),
        a_case(lambda lc: 1, differs="unknown-destination"),
    ]
    (report,) = check.check([layer(1)], cases)
    assert report.counts == {
        "compared": 6,
        "errors": 2,
        "equal": 3,
        "registered": 1,
        "different": 2,
    }
    assert [result.verdict for _, result in report.faults] == ["DIFFERENT", "STALE"]
    assert not report.ok


@pytest.fixture
def one_case(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that makes a case the only one that the command finds."""

    def only(run: Any) -> None:
        monkeypatch.setattr(check, "load", lambda keys: [a_case(run)])

    return only


def test_the_command_ends_with_0_and_a_table_if_all_is_equal(
    one_case: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    one_case(lambda lc: 1)
    assert cli.main(["check", "--layer", "1"]) == 0
    shown = capsys.readouterr().out
    assert "messages" in shown and "schema" not in shown
    assert "no difference that is not registered" in shown
    assert "against langchain " in shown


def test_the_command_ends_with_1_and_prints_a_difference_in_full(
    one_case: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    one_case(lambda lc: [lc.name, *range(100)])
    assert cli.main(["check", "--layer", "messages"]) == 1
    shown = capsys.readouterr().out
    assert "99," in shown and "first at [0]: minilc 'minilc', LangChain 'langchain'" in shown


def test_the_command_prints_json_alone(one_case: Any, capsys: pytest.CaptureFixture[str]) -> None:
    one_case(lambda lc: lc.name)
    assert cli.main(["check", "--json", "--layer", "1"]) == 1
    result = json.loads(capsys.readouterr().out)
    assert result["ok"] is False
    assert set(result["versions"]) == {
        "langchain",
        "langchain-core",
        "langgraph",
        "langgraph-prebuilt",
    }
    (row,) = result["layers"]
    assert row["different"] == 1
    assert row["faults"][0]["verdict"] == "DIFFERENT"


def test_a_layer_that_is_not_there_ends_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["check", "--layer", "nope"]) == 2
    assert capsys.readouterr().err.startswith("minilc: no layer 'nope'; the layers are ")
