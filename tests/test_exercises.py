"""The exercises and quizzes: they behave, they say what is wrong, and progress is kept."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from minilc.course import exercises as ex
from minilc.course import progress
from minilc.course.cli import main
from minilc.course.exercises import Check, Exercise, Lesson, Option, Quiz, Wrong
from minilc.course.worlds import World

EXERCISES = [one for name in ex.lessons() for one in ex.lesson(name).exercises]
QUIZZES = [one for name in ex.lessons() for one in ex.lesson(name).quizzes]


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for progress of the test's own."""
    monkeypatch.setenv("MINILC_DATA", str(tmp_path / "data"))
    # ChatOpenAI tries out a socket's options when it is made; the tests' blocked one warns.
    monkeypatch.setenv("LANGCHAIN_OPENAI_TCP_KEEPALIVE", "0")
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
        "  yours:     'ab'\n  right:     2\n  0 of 1 comparisons equal before that",
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


def shout(lc: World) -> str:
    return lc.convert_to_messages(["hi"])[0].content


def solution(messages: Any) -> Any:
    """Make messages of texts."""
    from minilc import HumanMessage

    return [HumanMessage(text) for text in messages]


def drops(messages: Any) -> Any:
    from minilc import HumanMessage

    return [HumanMessage("") for _ in messages]


def gives_text(messages: Any) -> Any:
    return list(messages)


TOY = Lesson(
    exercises=(
        Exercise(
            id="toy-1",
            title="Texts become messages",
            minutes=5,
            difficulty="easy",
            target="minilc.messages:convert_to_messages",
            task="""
                Make a message
                of each text.
                """,
            stub="""
def to_messages(messages):
    raise NotImplementedError
""",
            hints=("A loop.", "A `HumanMessage`."),
            checks=(
                Check("how many", lambda lc: len(lc.convert_to_messages(["hi"])), "not as many"),
                Check(
                    "the kind",
                    lambda lc: type(lc.convert_to_messages(["hi"])[0]).__name__,
                    "a text is no message",
                ),
                Check("the text", shout, "the text is lost"),
            ),
            wrong_answers=(Wrong(drops, "lost"), Wrong(gives_text, "no message")),
        ),
    ),
    quizzes=(
        Quiz(
            id="toy-1",
            question="Who runs the function?",
            options=(
                Option("the model", "It only asks."),
                Option("the ToolNode", "It has the registry.", right=True),
                Option("the provider", "It never sees your code."),
            ),
        ),
    ),
)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lesson that stays as it is, whatever becomes of the course's."""
    monkeypatch.setattr(ex, "lessons", lambda: ["toy"])
    monkeypatch.setattr(ex, "lesson", lambda name: TOY)
    monkeypatch.setattr(ex, "solved", lambda id: solution)


@pytest.mark.usefixtures("toy")
class TestForALearner:
    def test_the_toy_behaves(self) -> None:
        assert ex.problems("toy") == []

    def test_a_check_says_what_is_wrong_and_shows_both_values(self) -> None:
        verdict = ex.check("toy-1", drops)
        assert not verdict.passed
        assert str(verdict).splitlines() == [
            "toy-1: the text is lost",
            "  compared:  the text",
            "  yours:     ''",
            "  LangChain: 'hi'",
            "  2 of 3 comparisons equal before that",
        ]
        assert verdict._repr_markdown_() == (
            "**toy-1**: the text is lost\n\n"
            "````text\ncompared:  the text\nyours:     ''\nLangChain: 'hi'\n````\n\n"
            "2 of 3 comparisons equal before that"
        )

    def test_an_answer_that_raises_is_told_with_its_error(self) -> None:
        lines = str(ex.check("toy-1", lambda messages: messages.nothing)).splitlines()
        assert lines[0] == "toy-1: not as many"
        assert lines[2] == (
            "  yours:     raises AttributeError: 'list' object has no attribute 'nothing'"
        )

    def test_a_stub_is_told_that_it_is_not_written_yet(self) -> None:
        assert str(ex.check("toy-1", stub(ex.exercise("toy-1")))).splitlines() == [
            "toy-1: Not written yet: `to_messages` raises NotImplementedError.",
            "  0 of 3 comparisons equal before that",
        ]

    def test_minilc_is_as_before_after_a_check(self) -> None:
        import minilc.messages

        before = minilc.messages.convert_to_messages
        ex.check("toy-1", drops)
        assert minilc.messages.convert_to_messages is before

    def test_hints_come_one_by_one_and_the_solution_after_the_last(self) -> None:
        assert str(ex.hint("toy-1")) == "**Hint 1 of 2**: A loop. (1 more)"
        assert str(ex.solution("toy-1")) == (
            'Try `ex.hint("toy-1")` first: the solution comes after the last hint.'
        )
        last = str(ex.hint("toy-1"))
        assert last == (
            '**Hint 2 of 2**: A `HumanMessage`. (the last one; then `ex.solution("toy-1")`)'
        )
        assert str(ex.hint("toy-1")) == last
        assert "def solution" in str(ex.solution("toy-1"))

    def test_who_solved_it_may_see_the_solution(self) -> None:
        assert str(ex.check("toy-1", solution)) == (
            "toy-1 solved: Like LangChain in every comparison.\n  3 of 3 comparisons equal"
        )
        assert "def solution" in str(ex.solution("toy-1"))

    def test_a_solution_without_its_docstring_is_what_no_notebook_may_hold(self) -> None:
        assert ex.solution_body("toy-1") == (
            "from minilc import HumanMessage\nreturn [HumanMessage(text) for text in messages]"
        )

    def test_an_exercise_is_shown_with_its_minutes_and_difficulty(self) -> None:
        text = str(ex.show("toy-1"))
        assert text == (
            "**Exercise toy-1: Texts become messages** (5 minutes, easy)\n\n"
            "Make a message\nof each text.\n\n"
            '2 hints: `ex.hint("toy-1")`'
        )
        assert ex.show("toy-1")._repr_markdown_() == text

    def test_a_quiz_explains_every_option(self) -> None:
        assert str(ex.quiz("toy-1")) == (
            "**Quiz toy-1**: Who runs the function?\n\n"
            "- **a** the model\n- **b** the ToolNode\n- **c** the provider\n\n"
            'Answer with `ex.answer("toy-1", "...")`.'
        )
        assert str(ex.answer("toy-1", "A ")) == "**Not so**: It only asks."
        assert str(ex.answer("toy-1", "b")) == "**Right**: It has the registry."

    def test_what_does_not_exist_is_refused(self) -> None:
        for asked, says in (
            (lambda: ex.show("toy-9"), "no 'toy-9'; there are toy-1"),
            (lambda: ex.quiz("toy-9"), "no 'toy-9'; there are toy-1"),
            (lambda: ex.answer("toy-1", "z"), "no option 'z'; there are a, b, c"),
        ):
            with pytest.raises(LookupError) as caught:
                asked()
            assert str(caught.value) == says

    def test_the_cell_of_an_exercise_is_its_stub_and_its_check(self) -> None:
        cell = ex.exercise("toy-1").cell
        assert cell == (
            "def to_messages(messages):\n    raise NotImplementedError\n\n\n"
            'ex.check("toy-1", to_messages)'
        )
        exec(cell, {"ex": ex})

    def test_progress_is_kept_and_cleared(
        self, data: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        ex.check("toy-1", drops)
        ex.check("toy-1", solution)
        ex.hint("toy-1")
        ex.answer("toy-1", "a")
        ex.answer("toy-1", "b")
        assert json.loads((data / "progress.json").read_text(encoding="utf-8")) == {
            "exercises": {"toy-1": {"hints": 1, "passed": True, "tries": 2}},
            "quizzes": {"toy-1": {"right": True, "tries": 2}},
        }
        assert [path.name for path in data.iterdir()] == ["progress.json"]
        assert main(["progress"]) == 0
        row = next(line for line in capsys.readouterr().out.splitlines() if "toy" in line)
        assert " ".join(row.split()) == "toy 1 of 1 2 1 1 of 1"
        assert main(["progress", "--clear"]) == 0
        assert capsys.readouterr().out == "progress cleared\n"
        assert progress.load() == progress.EMPTY

    @pytest.mark.parametrize(
        "broken", ["", "{", "[]", '{"exercises": 1}', '{"exercises": {"a": 1}}']
    )
    def test_a_broken_progress_file_is_started_anew(
        self, data: Path, broken: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        data.mkdir()
        (data / "progress.json").write_text(broken, encoding="utf-8")
        ex.check("toy-1", solution)
        assert "is not readable" in capsys.readouterr().err
        assert progress.load()["exercises"] == {"toy-1": {"passed": True, "tries": 1}}

    def test_where_nothing_can_be_written_the_exercises_work_all_the_same(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (tmp_path / "file").write_text("", encoding="utf-8")
        monkeypatch.setenv("MINILC_DATA", str(tmp_path / "file" / "below"))
        assert ex.check("toy-1", solution).passed
        assert "progress is not kept" in capsys.readouterr().err


def test_a_lesson_that_does_not_exist_is_refused() -> None:
    with pytest.raises(LookupError) as caught:
        ex.show("nope-1")
    assert str(caught.value) == f"no lesson 'nope'; there are {', '.join(ex.lessons())}"


# --- where progress is kept ------------------------------------------------------------------


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
