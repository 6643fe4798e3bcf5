"""What notebooks use to grow a version, to see an order, and to say what is left out."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import pytest

from minilc.course import register
from minilc.course.behaviours import BEHAVIOURS
from minilc.course.divergences import DIVERGENCES
from minilc.course.layers import LAYERS
from minilc.course.probe import Probe
from minilc.course.trace import Call, trace


def halved(value: Any) -> float:
    return value / 2


PROBE = Probe(halved, {"a number": 4, "a text": "4", "zero": 0})


def test_a_probe_counts_what_comes_out_as_in_the_real_thing() -> None:
    result = PROBE(lambda value: value // 2 + 1)
    assert result.score == 0
    assert repr(result) == (
        "0 of 3 as in LangChain\n"
        "≠ a number  3\n"
        "LangChain:  2.0\n"
        "≠ a text    raises TypeError: unsupported operand type(s) for //: 'str' and 'int'\n"
        "LangChain:  raises TypeError: unsupported operand type(s) for /: 'str' and 'int'\n"
        "≠ zero      1\n"
        "LangChain:  0.0"
    )


def test_equal_errors_are_equal_outcomes() -> None:
    result = PROBE(halved)
    assert result.score == 3
    assert [row.equal for row in result.rows] == [True, True, True]


def test_a_probe_has_a_column_for_langchain_only_if_something_differs() -> None:
    assert "LangChain, if other" in PROBE(str)._repr_html_()
    assert "LangChain, if other" not in PROBE(halved)._repr_html_()


def test_a_probe_escapes_what_it_shows() -> None:
    shown = Probe(str, {"<b>": "<i>"})(str)._repr_html_()
    assert "<b>" not in shown and "<i>" not in shown


def test_a_validation_error_is_shown_by_its_argument() -> None:
    from minilc import tool

    @tool
    def add(a: int) -> int:
        """Add."""
        return a

    result = Probe(add.invoke, {"nothing": {}})(add.invoke)
    assert result.rows[0].ours == "raises ValidationError: a: Field required"


def outer() -> str:
    return inner() + inner()


def inner() -> str:
    return "x"


def test_a_trace_says_who_calls_whom_in_order() -> None:
    steps = trace(outer, ["outer", "inner"])
    assert steps.names == ["outer", "inner", "inner"]
    assert steps.calls == (
        Call("you", "outer", own=True),
        Call("outer", "inner", own=True),
        Call("outer", "inner", own=True),
    )


def test_a_trace_draws_itself_with_its_order_in_words() -> None:
    drawing = trace(outer, ["outer", "inner"]).drawing()
    assert drawing.text.splitlines()[1:] == [
        "1. you call outer",
        "2. outer calls inner",
        "3. outer calls inner",
    ]
    assert drawing.svg is not None and "<desc" in drawing.svg


def test_a_run_that_fails_is_no_longer_watched() -> None:
    before = sys.getprofile()
    with pytest.raises(ZeroDivisionError):
        trace(lambda: 1 / 0, ["nothing"])
    assert sys.getprofile() is before


@pytest.mark.parametrize("name", [row.module for row in LAYERS])
def test_every_layer_says_what_it_leaves_out(name: str) -> None:
    text = str(register.left_out(name))
    assert text.startswith("**minilc leaves out** ")
    number = next(row.number for row in LAYERS if row.module == name)
    for one in (*DIVERGENCES, *BEHAVIOURS):
        assert (f"`{one.id}`" in text) == (one.layer == number)


def test_a_row_may_hold_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    piped = replace(DIVERGENCES[0], layer=3, why="int | str")
    monkeypatch.setattr(register, "DIVERGENCES", (piped,))
    assert r"int \| str |" in str(register.left_out("base"))
