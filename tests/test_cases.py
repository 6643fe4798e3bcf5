"""Every comparison of `minilc check`: equal, or different as a row of a register says."""

from __future__ import annotations

import functools
import inspect
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from minilc.course import behaviours, cases
from minilc.course.cases import Case
from minilc.course.divergences import DIVERGENCES, Divergence
from minilc.course.layers import LAYERS
from minilc.course.twin import Twin, twin

CASES = cases.load()


@functools.cache
def judged(case: Case) -> Twin:
    return twin(case.run, title=case.title, differs=case.differs, behaviour=case.behaviour)


@pytest.fixture(autouse=True, scope="module")
def no_probing_of_sockets() -> Iterator[None]:
    """ChatOpenAI tries out a socket's options when it is made; the tests' blocked one warns."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LANGCHAIN_OPENAI_TCP_KEEPALIVE", "0")
        yield


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_both_worlds_agree_or_a_row_says_why(case: Case) -> None:
    judged(case).assert_equal()


@pytest.mark.parametrize("row", DIVERGENCES, ids=lambda row: row.id)
def test_every_divergence_is_shown_by_a_case_or_a_test(row: Divergence) -> None:
    texts = (path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))

    assert row.id in {case.differs for case in CASES} or any(f'"{row.id}"' in t for t in texts)


def test_there_are_at_least_three_hundred_and_forty_and_a_quarter_are_errors() -> None:
    errors = sum(judged(case).langchain.raised for case in CASES)

    assert len(CASES) >= 340
    assert errors / len(CASES) >= 0.25


def test_every_layer_has_at_least_fifteen() -> None:
    count = Counter(case.layer for case in CASES)

    assert [layer.module for layer in LAYERS if count[layer.number] < 15] == []


def test_names_and_titles_are_used_once() -> None:
    names = Counter(case.name for case in CASES)
    titles = Counter((case.layer, case.title) for case in CASES)

    assert [name for name, times in names.items() if times > 1] == []
    assert [title for title, times in titles.items() if times > 1] == []


def test_a_case_stands_in_the_module_of_its_layer() -> None:
    for case in CASES:
        module = inspect.getmodule(case.run)
        assert module is not None
        assert module.__name__ == f"{cases.__name__}.{case.name.partition('.')[0]}"


def test_an_error_is_never_that_a_world_lacks_a_name() -> None:
    for case in CASES:
        for outcome in (judged(case).minilc, judged(case).langchain):
            assert not (outcome.raised and "see worlds.UPSTREAM" in repr(outcome.result)), case.name


def test_rows_of_the_behaviour_table_that_cases_name_exist() -> None:
    named = {case.behaviour for case in CASES if case.behaviour}

    assert {behaviours.row(id).id for id in named} == named
