"""Exercises of notebook 17, articles: checks that can fail, and what an upgrade moved."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Sequence
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.prebuilt import ToolNode

from minilc.course import record
from minilc.course.articles.ledger import Seen
from minilc.course.articles.support import QUESTION, call, calling, config, giving, scripted
from minilc.course.exercises import Check, Exercise, Lesson, Option, Quiz, Wrong

# --- articles-1: a check that can fail ------------------------------------------------------------


def _with(wrapper: Callable[..., Any]) -> Callable[..., Any]:
    """A `create_agent` of another library: one that treats its tool calls so."""
    middleware = wrap_tool_call(wrapper)
    return lambda model, tools, **options: create_agent(
        model, tools, middleware=[middleware], **options
    )


def _answered(request: Any, handler: Any) -> Any:
    try:
        return handler(request)
    except Exception as error:
        told = {"name": request.tool_call["name"], "tool_call_id": request.tool_call["id"]}
        return ToolMessage(f"It failed: {error}", status="error", **told)


def _lied_about(request: Any, handler: Any) -> Any:
    try:
        return handler(request)
    except Exception:
        told = {"name": request.tool_call["name"], "tool_call_id": request.tool_call["id"]}
        return ToolMessage("done", **told)


def _gone(*given: Any, **options: Any) -> Any:
    raise TypeError("create_agent() is no more")


def _says(check: Any, create: Any) -> Any:
    return check(create).said


def _outcome(create: Any) -> list[Any]:
    """The messages of a run in which the tool raises."""
    made = create(scripted(calling(call("get")), "好。"), [giving(ValueError("kaput"))])
    return made.invoke(QUESTION)["messages"]


def _prints_no(create_agent: Any) -> Seen:
    create_agent(scripted(), [giving("1")])
    return Seen(False)


def _not_raised(create_agent: Any) -> Seen:
    try:
        _outcome(create_agent)
    except ValueError:
        return Seen(False)
    return Seen(True)


def _catches_all(create_agent: Any) -> Seen:
    try:
        return Seen(any(getattr(one, "status", "") == "error" for one in _outcome(create_agent)))
    except Exception:
        return Seen(False)


def _lets_it_out(create_agent: Any) -> Seen:
    return Seen(any(getattr(one, "status", "") == "error" for one in _outcome(create_agent)))


CHECK = Exercise(
    id="articles-1",
    title="A check that can fail",
    minutes=12,
    difficulty="medium",
    task="""
        The claim: *if a tool raises a `ValueError`, the model is told that it failed.* Write its
        check. It gets a `create_agent`, the installed one or that of another release, and returns
        `Seen(said)`: whether what the claim says is what happens. Your check is tried on four
        libraries: the real one, one that tells the model, one that tells it *done*, and one whose
        `create_agent` cannot be called like this any more. With the last one a check must not say
        *no*: it must fail with the error, so that the ledger can say so.
        """,
    stub='''
from typing import Any

from minilc.course.articles.ledger import Seen
from minilc.course.articles.support import QUESTION, call, calling, giving, scripted


def told_of_errors(create_agent: Any) -> Seen:
    """Whether an error of a tool is told to the model."""
    agent = create_agent(scripted(calling(call("get")), "好。"), [giving("fine")])
    messages = agent.invoke(QUESTION)["messages"]
    return Seen(len(messages) == 4)
''',
    hints=(
        "`giving(value)` makes a tool called `get` that returns a value. Given an exception, it "
        "raises it. Which of the two does the claim need?",
        "In the real library the error comes out of `invoke`. That is an answer to the question, "
        "not an accident: catch it, and only it, where it comes out.",
        "That nothing was raised is not enough: look at the message in the tool's place. It has a "
        "`status`. And build the agent outside of the `try`.",
    ),
    checks=(
        Check(
            "the installed library",
            lambda lc, check: _says(check, create_agent),
            "the check must let a tool raise, and see that here the error leaves the run: the "
            "model never hears of it, and the claim does not hold",
            False,
        ),
        Check(
            "a library that tells the model",
            lambda lc, check: _says(check, _with(_answered)),
            "in a library that does tell the model, the check says no as well: whatever LangChain "
            "does, its verdict is the same",
            True,
        ),
        Check(
            "a library that tells it 'done'",
            lambda lc, check: _says(check, _with(_lied_about)),
            "nothing was raised, and the model read 'done': that is not being told of an error; "
            "look at the message's status",
            False,
        ),
        Check(
            "a library in which create_agent is another one",
            lambda lc, check: _says(check, _gone),
            "the check hides an error that has nothing to do with the claim: catch the tool's "
            "ValueError alone, or an upgrade that breaks the check looks like a verdict",
            lambda lc: _gone(),
        ),
    ),
    wrong_answers=(
        Wrong(_lets_it_out, "the error leaves the run"),
        Wrong(_prints_no, "its verdict is the same"),
        Wrong(_not_raised, "look at the message's status"),
        Wrong(_catches_all, "hides an error"),
    ),
)


# --- articles-2: a check that always says yes -----------------------------------------------------


def _calls(run_options: dict[str, Any]) -> Callable[..., list[str]]:
    """A function that lets a ToolNode run calls of a tool; with some options of the run."""

    def run(function: Callable[[int], str], numbers: Sequence[int]) -> list[str]:
        meet = tool("meet", description="Meet.")(function)
        calls = [call("meet", f"c{number}", number=number) for number in numbers]
        state = {"messages": [AIMessage("", tool_calls=calls)]}
        answers = ToolNode([meet]).invoke(state, config() | run_options)["messages"]
        return [answer.content for answer in answers]

    return run


_at_once = _calls({})
_one_by_one = _calls({"max_concurrency": 1})


def _backwards(function: Any, numbers: Sequence[int]) -> list[str]:
    return _at_once(function, numbers)[::-1]


def _never(run: Any) -> bool:
    def meet(number: int) -> str:
        return str(number)

    return run(meet, [1, 2]) != ["1", "2"]


def _by_order(run: Any) -> bool:
    barrier = threading.Barrier(2, timeout=0.5)

    def meet(number: int) -> str:
        try:
            barrier.wait()
        except threading.BrokenBarrierError:
            return "alone"
        return str(number)

    return run(meet, [1, 2]) == ["1", "2"]


def _lets_the_barrier_out(run: Any) -> bool:
    barrier = threading.Barrier(2, timeout=0.5)

    def meet(number: int) -> str:
        barrier.wait()
        return str(number)

    return len(run(meet, [1, 2])) == 2


def _counts(run: Any) -> bool:
    inside = []

    def meet(number: int) -> str:
        inside.append(number)
        return str(number)

    run(meet, [1, 2])
    return len(inside) == 2


DRILL = Exercise(
    id="articles-2",
    title="Drill: a check that always says yes",
    minutes=12,
    difficulty="hard",
    task="""
        Article A: *several calls run at once.* This check says that it holds. It also says so if
        the calls run one after the other. `run(function, numbers)` makes a tool of the function,
        lets ToolNode run a call for each number, and gives their answers. Find out what the check
        really sees, and mend it: True if both calls were inside of the tool at the same time.
        """,
    stub='''
from typing import Any


def at_once(run: Any) -> bool:
    """Whether two calls are inside of the tool at the same time."""
    began = []

    def meet(number: int) -> str:
        began.append(number)
        return str(number)

    answers = run(meet, [1, 2])
    return answers == ["1", "2"] and sorted(began) == [1, 2]
''',
    hints=(
        "Both calls begin, and both answers come in the order of the calls. Is there a library in "
        "which that would not be so?",
        "Let the first call wait, inside of the tool, for the second one. What happens if the "
        "second one only begins when the first has ended? Give it a time limit.",
        "`threading.Barrier(2, timeout=0.5)` lets nobody pass before two have come to its "
        "`wait()`; whoever waits for too long gets a BrokenBarrierError. Write down, inside of "
        "the tool, which of the two happened.",
    ),
    checks=(
        Check(
            "calls at once",
            lambda lc, check: check(_at_once),
            "two calls that do run at once are not seen",
            True,
        ),
        Check(
            "one call after the other",
            lambda lc, check: check(_one_by_one),
            "the calls ran one after the other (max_concurrency is 1), and the check did not say "
            "no: what it looks at is so in either case, or the waiting ended in an error",
            False,
        ),
        Check(
            "calls at once, and their answers in another order",
            lambda lc, check: check(_backwards),
            "the order of the answers says nothing about who ran when; look at what happens "
            "inside of the tool",
            True,
        ),
    ),
    wrong_answers=(
        Wrong(_never, "are not seen"),
        Wrong(_counts, "is so in either case"),
        Wrong(_lets_the_barrier_out, "the waiting ended in an error"),
        Wrong(_by_order, "order of the answers"),
    ),
)


# --- articles-3: what an upgrade moved ------------------------------------------------------------


def _records() -> tuple[dict[str, Any], dict[str, Any]]:
    return record.read("langchain-1.2.15"), record.read("langchain-1.5.2")


def _behaviours(made: dict[str, Any], layer: str = "base") -> dict[str, Any]:
    return made["layers"][layer][record.BEHAVIOURS]


def _expected(lc: Any) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in record.compare(*_records()):
        if one.kind == record.BEHAVIOURS:
            found.setdefault(one.layer, []).append(one.name)
    return found


def _with_more(moved: Any) -> Any:
    """The newer record has a comparison more, and a layer more: minilc got them."""
    before, _ = _records()
    after = copy.deepcopy(before)
    _behaviours(after)["base.new"] = {"title": "new", "outcome": 1}
    after["layers"]["news"] = {record.BEHAVIOURS: {"news.one": {"title": "", "outcome": 1}}}
    return moved(before, after)


def _renamed(moved: Any) -> Any:
    before, _ = _records()
    after = copy.deepcopy(before)
    next(iter(_behaviours(after).values()))["title"] = "in other words"
    return moved(before, after)


def _pairs(before: Any, after: Any) -> Any:
    for layer, made in after["layers"].items():
        old = before["layers"].get(layer, {record.BEHAVIOURS: {}})[record.BEHAVIOURS]
        yield layer, old, made[record.BEHAVIOURS]


def _counts_new_ones(before: Any, after: Any) -> dict[str, list[str]]:
    found = {
        layer: [name for name in new if old.get(name, {}).get("outcome") != new[name]["outcome"]]
        for layer, old, new in _pairs(before, after)
    }
    return {layer: names for layer, names in found.items() if names}


def _counts_titles(before: Any, after: Any) -> dict[str, list[str]]:
    found = {
        layer: [name for name in old if name in new and old[name] != new[name]]
        for layer, old, new in _pairs(before, after)
    }
    return {layer: names for layer, names in found.items() if names}


def _with_empty_layers(before: Any, after: Any) -> dict[str, list[str]]:
    return {
        layer: [n for n in old if n in new and old[n]["outcome"] != new[n]["outcome"]]
        for layer, old, new in _pairs(before, after)
    }


def _names_alone(before: Any, after: Any) -> Any:
    found = _counts_titles(before, after)
    return [name for names in found.values() for name in names]


MOVED = Exercise(
    id="articles-3",
    title="What an upgrade moved",
    minutes=10,
    difficulty="medium",
    task="""
        A record is a dict: `record["layers"]["base"]["behaviours"]["base.a_text"]` would be one
        comparison, a dict with a `title` and an `outcome`. Write what `minilc check --against`
        does first: by layer, the names of the comparisons whose outcome is another one in the
        second record. Look at the two records of the notebook, `old` and `new`.
        """,
    stub='''
from typing import Any


def moved(before: dict[str, Any], after: dict[str, Any]) -> dict[str, list[str]]:
    """By layer, the comparisons that come out otherwise; only layers that have some."""
    raise NotImplementedError
''',
    hints=(
        "Two loops: over the layers, and over the comparisons of a layer. Which of the two keys "
        "of a comparison comes from LangChain?",
        "A name that only one record has tells of minilc, which got a comparison or lost it. It "
        "says nothing about LangChain.",
        "At the end drop the layers whose list is empty, so that a reader sees at once where "
        "nothing moved.",
    ),
    checks=(
        Check(
            "from 1.2.15 to 1.5.2",
            lambda lc, moved: moved(*_records()),
            "between the two records of the notebook something else moved: by layer, the names of "
            "the comparisons, and only layers that have some",
            _expected,
        ),
        Check(
            "a record and itself",
            lambda lc, moved: moved(_records()[0], _records()[0]),
            "a record compared with itself has no changes",
            {},
        ),
        Check(
            "a comparison more",
            lambda lc, moved: _with_more(moved),
            "minilc got a new comparison, and it is taken for a change of LangChain",
            {},
        ),
        Check(
            "another title",
            lambda lc, moved: _renamed(moved),
            "a title is minilc's wording; only the outcome is what LangChain does",
            {},
        ),
    ),
    wrong_answers=(
        Wrong(_with_empty_layers, "only layers that have some"),
        Wrong(_names_alone, "by layer"),
        Wrong(_counts_new_ones, "got a new comparison"),
        Wrong(_counts_titles, "minilc's wording"),
    ),
)


LESSON = Lesson(
    exercises=(CHECK, DRILL, MOVED),
    quizzes=(
        Quiz(
            id="articles-1",
            question="An agent of `create_agent` calls a tool, and the tool raises a `ValueError`. "
            "Nothing was configured. What happens?",
            options=(
                Option(
                    "the model reads a ToolMessage with status error, and tries again",
                    "That happens to wrong arguments. Article A shows a default and leaves open "
                    "which errors it covers.",
                ),
                Option(
                    "the error leaves `invoke`, and the run ends",
                    "The default answers wrong arguments alone; what the tool itself raises goes "
                    "up. A middleware can answer it.",
                    right=True,
                ),
                Option(
                    "the call stays open, and the model is asked without an answer",
                    "No answer is made up and none is left out: the run does not get that far.",
                ),
            ),
        ),
        Quiz(
            id="articles-2",
            question="After an upgrade, `minilc check --against` says of a function: *the body "
            "changed*, and lists no behaviour of its layer. What do we know?",
            options=(
                Option(
                    "the function moved to other lines, or its comments are other ones",
                    "Neither shows: bodies are compared as syntax trees, without docstrings.",
                ),
                Option(
                    "the function does something else, and our agents must be tested again",
                    "Perhaps. But nothing that minilc compares came out otherwise.",
                ),
                Option(
                    "the record is broken, since a body cannot change without a behaviour",
                    "It can: code is rewritten all the time to do the same.",
                ),
                Option(
                    "its code is other code, and all recorded comparisons came out as before",
                    "That, and no more. It is a place to look at, not a verdict.",
                    right=True,
                ),
            ),
        ),
    ),
)
