"""Exercises and quizzes: what a notebook calls, and what a lesson is made of.

In a notebook:

    from minilc.course import exercises as ex

    ex.show("base-1")                # the task, its minutes and difficulty
    ex.check("base-1", my_function)  # what real LangChain says of your function
    ex.hint("base-1")                # the next hint
    ex.solution("base-1")            # once it is solved, or all hints are seen
    ex.quiz("base-1")                # a question; then ex.answer("base-1", "b")

For authors. A layer's exercises are `minilc/course/lessons/<layer>.py`, a module with a `LESSON`;
`lessons/base.py` is the example to follow. Two or three exercises a layer, one of them a drill with
a planted fault, and two quizzes.

1. An exercise asks for one function. With a `target` ("minilc.base:_format_output") the learner's
   function is put into minilc in its place, and each `Check` runs the same code in both worlds: it
   passes where minilc, with the learner's function in it, does what real LangChain does. Where the
   learner's function is simpler than the target, `fit` makes the one of the other. Without a
   target the check's function gets the learner's function as a second argument, and what it
   returns in LangChain's world must be `expected`, a value or a function that finds it out there.
2. A check's `wrong` says what is wrong in the words of the articles and of the layer ("the answer
   does not carry the call's id"), not "expected 3, got 4": both values are shown below it anyway.
   Checks go from the first thing a learner gets right to the last; the first that fails is told.
3. `stub` is the learner's first text, code that runs: imports, signature, docstring, and a body
   that is wrong or raises NotImplementedError. In the notebook's source a cell
   `# %% stub="base-1"` with an empty body becomes the stub and the call of `check`, so that stub
   and notebook cannot differ.
4. `hints` go from a nudge to nearly all of it; none holds the solution's text.
5. The solution is the function of the same name in `minilc/course/solutions/<layer>.py`, called
   `base_1`. It is in no notebook.
6. `wrong_answers` are what learners will really write, each with words that the verdict must say:
   two or more, with different words. `problems` (and a test, and `minilc notebooks verify`) holds
   every exercise to this: stub fails, solution passes, each wrong answer fails with its words.
7. A quiz has three or four options, one right; every option says why it is right or wrong. Over a
   lesson the right ones do not stand in the same place, and are not the longest.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from minilc.course import progress
from minilc.course.listings import swapped
from minilc.course.plain import first_difference, pretty
from minilc.course.twin import Outcome, observe
from minilc.course.worlds import LANGCHAIN, MINILC

MOST_LINES = 8  # of a value in a verdict

# --- what a lesson is made of ----------------------------------------------------------------


@dataclass(frozen=True)
class Check:
    """One comparison of an exercise.

    Args:
        title: what is compared, in a few words.
        run: takes the world, and the learner's function if the exercise has no target.
        wrong: what is wrong when it fails, in the layer's terms.
        expected: what `run` must return, for an exercise without target; or a function of the world
            that finds it out in LangChain.
    """

    title: str
    run: Callable[..., Any]
    wrong: str
    expected: Any = None


@dataclass(frozen=True)
class Wrong:
    """A likely wrong answer, and words that the verdict on it must hold."""

    function: Callable[..., Any]
    says: str


@dataclass(frozen=True)
class Exercise:
    """One exercise; see the module's guide for authors."""

    id: str
    title: str
    task: str
    stub: str
    hints: tuple[str, ...]
    checks: tuple[Check, ...]
    wrong_answers: tuple[Wrong, ...] = field(repr=False)
    target: str | None = None
    fit: Callable[[Callable[..., Any]], Callable[..., Any]] | None = field(default=None, repr=False)
    minutes: int = 10
    difficulty: str = "medium"

    @property
    def function(self) -> str:
        """The name of the function that the stub defines."""
        defined = [one for one in ast.parse(self.stub).body if isinstance(one, ast.FunctionDef)]
        return defined[-1].name

    @property
    def cell(self) -> str:
        """The notebook's cell: the stub, and its check."""
        return f'{self.stub.strip()}\n\n\nex.check("{self.id}", {self.function})'


@dataclass(frozen=True)
class Option:
    """An answer to a quiz, and why it is right or wrong."""

    text: str
    why: str
    right: bool = False


@dataclass(frozen=True)
class Quiz:
    """A question with options, which are called a, b, c, d in their order."""

    id: str
    question: str
    options: tuple[Option, ...]

    @property
    def letters(self) -> dict[str, Option]:
        """The options by their letters."""
        return dict(zip("abcdefgh", self.options, strict=False))


@dataclass(frozen=True)
class Lesson:
    """A layer's exercises and quizzes."""

    exercises: tuple[Exercise, ...] = ()
    quizzes: tuple[Quiz, ...] = ()


# --- finding them ----------------------------------------------------------------------------


def lessons() -> list[str]:
    """The names of the layers and notebooks that have exercises."""
    from minilc.course import lessons as package

    return sorted(module.name for module in pkgutil.iter_modules(package.__path__))


def lesson(name: str) -> Lesson:
    """The lesson of that name.

    Raises:
        LookupError: there is none.
    """
    if name not in lessons():
        raise LookupError(f"no lesson {name!r}; there are {', '.join(lessons())}")
    return importlib.import_module(f"minilc.course.lessons.{name}").LESSON


def exercise(id: str) -> Exercise:
    """The exercise with that id.

    Raises:
        LookupError: there is none.
    """
    return _find(id, lesson(_lesson_of(id)).exercises)


def _quiz(id: str) -> Quiz:
    return _find(id, lesson(_lesson_of(id)).quizzes)


def _lesson_of(id: str) -> str:
    return id.rpartition("-")[0]


def _find(id: str, among: Sequence[Any]) -> Any:
    for one in among:
        if one.id == id:
            return one
    raise LookupError(f"no {id!r}; there are {', '.join(one.id for one in among)}")


# --- what a notebook calls -------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Note:
    """Text for the learner: Markdown in a notebook, plain elsewhere."""

    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_markdown_(self) -> str:
        return self.text


def show(id: str) -> Note:
    """The task of an exercise."""
    one = exercise(id)
    head = f"**Exercise {one.id}: {one.title}** ({one.minutes} minutes, {one.difficulty})"
    hints = f'{len(one.hints)} hints: `ex.hint("{one.id}")`'
    return Note(f"{head}\n\n{inspect.cleandoc(one.task)}\n\n{hints}")


def hint(id: str) -> Note:
    """The next hint of an exercise; the last one again when all are seen."""
    one = exercise(id)
    number = progress.hint(id, len(one.hints))
    more = len(one.hints) - number
    rest = f"{more} more" if more else f'the last one; then `ex.solution("{one.id}")`'
    return Note(f"**Hint {number} of {len(one.hints)}**: {one.hints[number - 1]} ({rest})")


def solution(id: str) -> Note:
    """The solution of an exercise, once it is solved or every hint was seen."""
    one = exercise(id)
    if not progress.may_see_solution(id, len(one.hints)):
        return Note(f'Try `ex.hint("{one.id}")` first: the solution comes after the last hint.')
    return Note(f"```python\n{inspect.getsource(solved(id)).strip()}\n```")


def solved(id: str) -> Callable[..., Any]:
    """The function that solves an exercise."""
    module = importlib.import_module(f"minilc.course.solutions.{_lesson_of(id)}")
    return getattr(module, id.replace("-", "_"))


def solution_body(id: str) -> str:
    """The text of a solution below its docstring: what no notebook and no hint may hold."""
    source = textwrap.dedent(inspect.getsource(solved(id)))
    (function,) = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef)
    body = [one for one in function.body if not _is_docstring(one)]
    return "\n".join(map(ast.unparse, body))


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def check(id: str, answer: Callable[..., Any]) -> Verdict:
    """Judge a learner's function by real LangChain, and keep the result."""
    verdict = judge(exercise(id), answer)
    progress.tried(id, verdict.passed)
    return verdict


def quiz(id: str) -> Note:
    """The question of a quiz and its options."""
    one = _quiz(id)
    options = "\n".join(f"- **{letter}** {option.text}" for letter, option in one.letters.items())
    call = f'`ex.answer("{one.id}", "...")`'
    return Note(f"**Quiz {one.id}**: {one.question}\n\n{options}\n\nAnswer with {call}.")


def answer(id: str, letter: str) -> Note:
    """Say whether an option is right, and why.

    Raises:
        LookupError: there is no such option.
    """
    one = _quiz(id)
    option = one.letters.get(letter.strip().lower())
    if option is None:
        raise LookupError(f"no option {letter!r}; there are {', '.join(one.letters)}")
    progress.answered(id, option.right)
    return Note(f"**{'Right' if option.right else 'Not so'}**: {option.why}")


# --- the judge -------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Verdict:
    """What real LangChain says of a learner's function.

    Args:
        exercise: the exercise.
        passed: whether every check passed.
        done: the titles of the checks that passed before the first that failed.
        failed: the check that failed.
        yours: what came out with the learner's function.
        theirs: what comes out of LangChain.
        unwritten: the function is still the stub that raises NotImplementedError.
    """

    exercise: Exercise
    passed: bool
    done: tuple[str, ...] = ()
    failed: Check | None = None
    yours: str = ""
    theirs: str = ""
    unwritten: bool = False

    @property
    def message(self) -> str:
        """What is wrong, in a sentence."""
        if self.passed:
            found = self.exercise.target or any(callable(c.expected) for c in self.exercise.checks)
            return f"{'Like LangChain' if found else 'Right'} in every comparison."
        if self.unwritten:
            return f"Not written yet: `{self.exercise.function}` raises NotImplementedError."
        assert self.failed is not None
        return self.failed.wrong

    @property
    def _count(self) -> str:
        equal = f"{len(self.done)} of {len(self.exercise.checks)} comparisons equal"
        return equal if self.passed else f"{equal} before that"

    @property
    def _values(self) -> str:
        """What was compared and what came out, if there is something to show."""
        if self.failed is None or self.unwritten:
            return ""
        judge = "LangChain" if self.exercise.target or callable(self.failed.expected) else "right"
        rows = (("compared", self.failed.title), ("yours", self.yours), (judge, self.theirs))
        return "\n".join(f"{name + ':':<10} {value}" for name, value in rows)

    def __repr__(self) -> str:
        head = f"{self.exercise.id}{' solved' if self.passed else ''}: {self.message}"
        values = [textwrap.indent(self._values, "  ")] if self._values else []
        return "\n".join([*textwrap.wrap(head, 96), *values, f"  {self._count}"])

    def _repr_markdown_(self) -> str:
        head = f"**{self.exercise.id}{' solved' if self.passed else ''}**: {self.message}"
        values = [f"````text\n{self._values}\n````"] if self._values else []
        return "\n\n".join([head, *values, self._count])


def judge(one: Exercise, answer: Callable[..., Any]) -> Verdict:
    """Run an exercise's checks on a function until one fails; nothing is kept."""
    done: list[str] = []
    for check in one.checks:
        yours, theirs, equal = _compare(one, check, answer)
        if not equal:
            return Verdict(one, False, tuple(done), check, _short(yours), theirs, _unwritten(yours))
        done.append(check.title)
    return Verdict(one, True, tuple(done))


def _compare(one: Exercise, check: Check, answer: Callable[..., Any]) -> tuple[Outcome, str, bool]:
    """What came out with the learner's function, what should have, and whether they are equal."""
    if one.target is None:
        yours = observe(lambda lc: check.run(lc, answer), LANGCHAIN)
        expected = check.expected
        should = observe(expected if callable(expected) else lambda lc: expected, LANGCHAIN)
    else:
        with swapped(one.target, one.fit(answer) if one.fit else answer):
            yours = observe(check.run, MINILC)
        should = observe(check.run, LANGCHAIN)
    difference = first_difference(yours.compared, should.compared)
    return yours, _short(should), difference is None


def _unwritten(outcome: Outcome) -> bool:
    if not outcome.raised or "NotImplementedError" not in outcome.result.kind:
        return False
    # A stub raises it without a word; where the library raises it, it says something.
    return not outcome.result.fields.get("")


def _short(outcome: Outcome) -> str:
    """An outcome on a few lines; of an error the beginning of its message."""
    if outcome.raised:
        message = str(outcome.result.fields.get("", ""))
        text = f"{outcome.result.kind}: {message.partition(chr(10))[0]}"
    else:
        text = pretty(outcome.compared, width=80)
    lines = text.splitlines()
    shown = [line if len(line) <= 90 else f"{line[:89]}…" for line in lines[:MOST_LINES]]
    return "\n           ".join(shown + (["…"] if len(lines) > MOST_LINES else []))


# --- that the exercises behave ---------------------------------------------------------------


def problems(name: str) -> list[str]:
    """What is wrong with a lesson's exercises and quizzes; empty if they behave."""
    found = []
    one = lesson(name)
    for item in one.exercises:
        found += [f"exercise {item.id}: {text}" for text in _exercise_problems(name, item)]
    for quiz in one.quizzes:
        found += [f"quiz {quiz.id}: {text}" for text in _quiz_problems(name, quiz)]
    return found


def _exercise_problems(name: str, one: Exercise) -> list[str]:
    found = []
    if _lesson_of(one.id) != name:
        found.append(f"its id does not begin with {name!r}")
    if len(one.hints) < 2:
        found.append("has fewer than two hints")
    namespace: dict[str, Any] = {}
    exec(compile(one.stub, f"<stub of {one.id}>", "exec"), namespace)
    if judge(one, namespace[one.function]).passed:
        found.append("its stub passes")
    verdict = judge(one, solved(one.id))
    if not verdict.passed:
        found.append(f"its solution fails: {verdict!r}")
    return found + _wrong_answer_problems(one)


def _wrong_answer_problems(one: Exercise) -> list[str]:
    found = []
    messages = []
    for wrong in one.wrong_answers:
        verdict = judge(one, wrong.function)
        messages.append(verdict.message)
        name = wrong.function.__name__
        if verdict.passed:
            found.append(f"the wrong answer {name} passes")
        elif wrong.says not in verdict.message:
            found.append(f"the wrong answer {name} is told {verdict.message!r}, not {wrong.says!r}")
    if len(set(messages)) < 2:
        found.append("has fewer than two wrong answers that are told different things")
    return found


def _quiz_problems(name: str, quiz: Quiz) -> list[str]:
    found = []
    if _lesson_of(quiz.id) != name:
        found.append(f"its id does not begin with {name!r}")
    if [option.right for option in quiz.options].count(True) != 1:
        found.append("has not exactly one right option")
    if not 3 <= len(quiz.options) <= 8:
        found.append("has fewer than three options")
    if not all(option.why.strip() for option in quiz.options):
        found.append("does not explain every option")
    return found
