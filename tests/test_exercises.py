"""The exercises and quizzes: they behave, they say what is wrong, and progress is kept."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from minilc.course import exercises as ex
from minilc.course import progress
from minilc.course.exercises import Check, Exercise, Option, Quiz, Wrong

EXERCISES = [one for name in ex.lessons() for one in ex.lesson(name).exercises]
QUIZZES = [one for name in ex.lessons() for one in ex.lesson(name).quizzes]


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for progress of the test's own."""
    monkeypatch.setenv("MINILC_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def stub(one: Exercise) -> Any:
    names: dict[str, Any] = {}
    exec(one.stub, names)
    return names[one.function]


# --- that they behave ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ex.lessons())
def test_the_exercises_of_a_lesson_behave(name: str) -> None:
    assert ex.problems(name) == []


@pytest.mark.parametrize("one", EXERCISES, ids=lambda one: one.id)
def test_the_stub_fails(one: Exercise) -> None:
    assert not ex.judge(one, stub(one)).passed


@pytest.mark.parametrize("one", EXERCISES, ids=lambda one: one.id)
def test_the_solution_passes(one: Exercise) -> None:
    verdict = ex.judge(one, ex.solved(one.id))
    assert verdict.passed, verdict


@pytest.mark.parametrize("one", EXERCISES, ids=lambda one: one.id)
def test_two_wrong_answers_fail_with_different_words(one: Exercise) -> None:
    messages = [ex.judge(one, wrong.function).message for wrong in one.wrong_answers]
    for wrong, message in zip(one.wrong_answers, messages, strict=True):
        assert wrong.says in message
    assert len(set(messages)) >= 2


@pytest.mark.parametrize("one", EXERCISES, ids=lambda one: one.id)
def test_the_hints_do_not_hold_the_solution(one: Exercise) -> None:
    body = ex.solution_body(one.id)
    assert body and not [hint for hint in one.hints if body in hint]


def test_the_right_option_is_not_always_in_the_same_place() -> None:
    places = Counter(letter for q in QUIZZES for letter, o in q.letters.items() if o.right)
    assert max(places.values()) <= max(1, len(QUIZZES) * 0.6)


def test_the_right_option_is_not_always_the_longest() -> None:
    longest = [q for q in QUIZZES if max(q.options, key=lambda o: len(o.text)).right]
    assert len(longest) <= len(QUIZZES) * 0.5


@pytest.mark.parametrize("name", ex.lessons())
def test_within_a_lesson_the_right_options_stand_in_different_places(name: str) -> None:
    quizzes = ex.lesson(name).quizzes
    places = {[option.right for option in one.options].index(True) for one in quizzes}
    assert len(quizzes) < 2 or len(places) > 1


def test_what_is_wrong_with_an_exercise_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    same = Check("the length", lambda lc, answer: answer("ab"), "it is not the length", 2)
    one = Exercise(
        id="other-1",
        title="Length",
        task="Count.",
        stub="def count(text):\n    return len(text)\n",
        hints=("Count.",),
        checks=(same,),
        wrong_answers=(Wrong(len, "not the length"), Wrong(str, "something else")),
    )
    monkeypatch.setattr(ex, "solved", lambda id: str)
    assert ex._exercise_problems("base", one) == [
        "its id does not begin with 'base'",
        "has fewer than two hints",
        "its stub passes",
        "its solution fails: other-1: it is not the length\n  compared:  the length\n"
        "  yours:     'ab'\n  LangChain: 2\n  0 of 1 comparisons equal before that",
        "the wrong answer len passes",
        "the wrong answer str is told 'it is not the length', not 'something else'",
    ]
    quiz = Quiz("other-1", "?", (Option("a", "", right=True), Option("b", "no", right=True)))
    assert ex._quiz_problems("base", quiz) == [
        "its id does not begin with 'base'",
        "has not exactly one right option",
        "has fewer than three options",
        "does not explain every option",
    ]


# --- what a learner sees ---------------------------------------------------------------------


def answer_without_id(
    content: Any, artifact: Any, tool_call_id: Any, name: str, status: Any
) -> Any:
    from minilc import ToolMessage

    return ToolMessage(content, tool_call_id="", name=name)


def test_a_check_says_what_is_wrong_in_the_layers_terms() -> None:
    assert str(ex.check("base-1", answer_without_id)).splitlines() == [
        "base-1: the answer does not carry the call's id: no provider can tell which call it "
        + "answers",
        "  compared:  the answer's tool_call_id",
        "  yours:     ''",
        "  LangChain: 'call_1'",
        "  1 of 10 comparisons equal before that",
    ]


def test_a_stub_is_told_that_it_is_not_written_yet() -> None:
    assert str(ex.check("base-1", stub(ex.exercise("base-1")))).splitlines() == [
        "base-1: Not written yet: `format_output` raises NotImplementedError.",
        "  0 of 10 comparisons equal before that",
    ]


def test_minilc_is_as_before_after_a_check() -> None:
    import minilc.base

    before = minilc.base._format_output
    ex.check("base-1", answer_without_id)
    assert minilc.base._format_output is before


def test_hints_come_one_by_one_and_the_solution_after_the_last() -> None:
    one = ex.exercise("base-1")
    first, second = (str(ex.hint("base-1")) for _ in range(2))
    assert first == f"**Hint 1 of 3**: {one.hints[0]} (2 more)"
    assert second == f"**Hint 2 of 3**: {one.hints[1]} (1 more)"
    assert str(ex.solution("base-1")) == (
        'Try `ex.hint("base-1")` first: the solution comes after the last hint.'
    )
    last = str(ex.hint("base-1"))
    assert last == (f'**Hint 3 of 3**: {one.hints[2]} (the last one; then `ex.solution("base-1")`)')
    assert str(ex.hint("base-1")) == last
    assert "def base_1" in str(ex.solution("base-1"))


def test_who_solved_it_may_see_the_solution() -> None:
    assert str(ex.check("base-1", ex.solved("base-1"))) == (
        "base-1 solved: Like LangChain in every comparison.\n  10 of 10 comparisons equal"
    )
    assert "def base_1" in str(ex.solution("base-1"))


def test_an_exercise_is_shown_with_its_minutes_and_difficulty() -> None:
    text = str(ex.show("base-1"))
    assert text.startswith("**Exercise base-1: A value becomes an answer** (10 minutes, medium)\n\n")
    assert text.endswith('3 hints: `ex.hint("base-1")`')
    assert ex.show("base-1")._repr_markdown_() == text


def test_a_quiz_explains_every_option() -> None:
    one = QUIZZES[0]
    assert "**a**" in str(ex.quiz(one.id))
    for letter, option in one.letters.items():
        start = "**Right**: " if option.right else "**Not so**: "
        assert str(ex.answer(one.id, letter.upper())) == start + option.why


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (lambda: ex.show("base-99"), "no 'base-99'; there are base-1, base-2"),
        (lambda: ex.show("nope"), "no lesson ''; there are base"),
        (lambda: ex.answer("base-1", "z"), "no option 'z'; there are a, b, c, d"),
    ],
)
def test_what_does_not_exist_is_refused(asked: Any, says: str) -> None:
    with pytest.raises(LookupError) as caught:
        asked()
    assert str(caught.value).startswith(says)


def test_the_cell_of_an_exercise_runs_its_check() -> None:
    names: dict[str, Any] = {"ex": ex}
    exec(ex.exercise("base-2").cell, names)
    assert ex.exercise("base-2").cell.endswith('\n\n\nex.check("base-2", prep_run_args)')


# --- progress --------------------------------------------------------------------------------


def test_progress_is_kept_and_cleared(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ex.check("base-1", answer_without_id)
    ex.check("base-1", ex.solved("base-1"))
    ex.hint("base-2")
    ex.answer("base-1", "a")
    ex.answer("base-1", "c")
    assert json.loads((data / "progress.json").read_text(encoding="utf-8")) == {
        "exercises": {"base-1": {"passed": True, "tries": 2}, "base-2": {"hints": 1}},
        "quizzes": {"base-1": {"right": True, "tries": 2}},
    }
    assert [path.name for path in data.iterdir()] == ["progress.json"]
    from minilc.course.cli import main

    assert main(["progress"]) == 0
    row = next(line for line in capsys.readouterr().out.splitlines() if "base" in line)
    exercises, quizzes = len(ex.lesson("base").exercises), len(ex.lesson("base").quizzes)
    assert " ".join(row.split()) == f"base 1 of {exercises} 2 1 1 of {quizzes}"
    assert main(["progress", "--clear"]) == 0
    assert capsys.readouterr().out == "progress cleared\n"
    assert progress.load() == progress.EMPTY


@pytest.mark.parametrize("broken", ["", "{", "[]", '{"exercises": 1}', '{"exercises": {"a": 1}}'])
def test_a_broken_progress_file_is_started_anew(
    data: Path, broken: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data.mkdir()
    (data / "progress.json").write_text(broken, encoding="utf-8")
    ex.check("base-1", ex.solved("base-1"))
    assert "is not readable" in capsys.readouterr().err
    assert progress.load()["exercises"] == {"base-1": {"passed": True, "tries": 1}}


def test_where_nothing_can_be_written_the_exercises_work_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("MINILC_DATA", str(tmp_path / "file" / "below"))
    assert ex.check("base-1", ex.solved("base-1")).passed
    assert "progress is not kept" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"XDG_DATA_HOME": "/data"}, "/data/minilc"),
        ("linux", {"HOME": "/me"}, "/me/.local/share/minilc"),
        ("darwin", {"HOME": "/me"}, "/me/Library/Application Support/minilc"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/minilc"),
    ],
)
def test_progress_is_kept_where_the_platform_keeps_data(
    platform: str, variables: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MINILC_DATA", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.platform", platform)
    assert progress.folder().as_posix() == expected
