"""Exercises of layer 13, middleware: a limit, a trap around approvals, an approval with changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minilc.course.cases.support import asks, call, user
from minilc.course.exercises import Check, Exercise, Lesson, Option, Quiz, Wrong
from minilc.course.worlds import LANGCHAIN, World

THREAD = {"configurable": {"thread_id": "1"}}


def _agent(lc: World, wrappers: list[Any], *rounds: list[Any]) -> tuple[Any, list[str]]:
    """An agent whose model makes these calls, round by round; and what its tools run."""
    ran: list[str] = []

    @lc.tool
    def search(text: str) -> str:
        """Search for a text."""
        ran.append(text)
        if text == "down":
            raise ConnectionError("no network")
        return f"found {text}"

    @lc.tool
    def delete(path: str) -> str:
        """Delete a file."""
        ran.append(path)
        return f"deleted {path}"

    middleware = [lc.wrap_tool_call(name=f"m{n}")(one) for n, one in enumerate(wrappers)]
    model = lc.ScriptedChatModel([*(asks(lc, *calls) for calls in rounds), "done"])
    saver = lc.InMemorySaver()
    made = lc.create_agent(model, [search, delete], middleware=middleware, checkpointer=saver)
    return made, ran


def _told(state: Any) -> list[tuple[str, str, str]]:
    """The answers in a state: id, status and content."""
    tools = [one for one in state["messages"] if one.type == "tool"]
    return [(one.tool_call_id, one.status, one.content) for one in tools]


def _search(number: int, text: str = "") -> dict[str, Any]:
    return call("search", {"text": text or f"text {number}"}, f"call_{number}")


def _delete(number: int) -> dict[str, Any]:
    return call("delete", {"path": f"/{number}"}, f"call_{number}")


# --- middleware-1: a limit ---------------------------------------------------------------------


def _limited(lc: World, limited: Any, most: int, *rounds: list[Any]) -> Any:
    agent, ran = _agent(lc, [limited(most)], *rounds)
    told = _told(agent.invoke(user(), THREAD))
    return sorted(ran), [status for _, status, _ in told]


def _beyond(lc: World, limited: Any) -> Any:
    agent, _ = _agent(lc, [limited(1)], [_search(1)], [_search(2)])
    return _told(agent.invoke(user(), THREAD))[-1]


def _another_run(lc: World, limited: Any) -> Any:
    wrapper = limited(1)
    both = [_agent(lc, [wrapper], [_search(1)]) for _ in range(2)]
    return [_told(agent.invoke(user(), THREAD))[0][1] for agent, _ in both]


def _message(request: Any, text: str, status: str = "error") -> Any:
    call = request.tool_call
    return LANGCHAIN.ToolMessage(text, name=call["name"], tool_call_id=call["id"], status=status)


def _limit(counts: Callable[[Any], int], status: str = "error") -> Callable[..., Any]:
    """`limited` for a way to count the calls before this one."""

    def limited(most: int) -> Any:
        def wrapper(request: Any, handler: Any) -> Any:
            if counts(request) < most:
                return handler(request)
            text = f"no more than {most} calls of {request.tool_call['name']}"
            return _message(request, text, status)

        return wrapper

    return limited


def _asked(request: Any, name: str | None) -> int:
    calls = [c for m in request.state["messages"] if m.type == "ai" for c in m.tool_calls]
    ids = [one["id"] for one in calls if name in (None, one["name"])]
    return ids.index(request.tool_call["id"])


def _counts_answers(request: Any) -> int:
    name = request.tool_call["name"]
    return [getattr(m, "name", None) for m in request.state["messages"]].count(name)


def _lets_all_pass(most: int) -> Any:
    return lambda request, handler: handler(request)


def _raises(most: int) -> Any:
    def wrapper(request: Any, handler: Any) -> Any:
        if _asked(request, request.tool_call["name"]) >= most:
            raise RuntimeError("too many calls")
        return handler(request)

    return wrapper


def _keeps_a_count(most: int) -> Any:
    counts: dict[str, int] = {}

    def counted(request: Any) -> int:
        name = request.tool_call["name"]
        counts[name] = counts.get(name, -1) + 1
        return counts[name]

    return _limit(counted)(most)


LIMIT = Exercise(
    id="middleware-1",
    title="At most so many calls",
    minutes=15,
    difficulty="hard",
    task="""
        Some models search again and again. Write `limited(most)`. It returns a function for
        `wrap_tool_call` that lets each tool be called `most` times in a history. A call beyond
        that does not run. Its answer is a `ToolMessage` with the call's name and id, the status
        `error` and, if `most` is 2, the content `no more than 2 calls of search`.

        What counts is what the model has asked for: the calls in `request.state["messages"]` up
        to this one, those of one message in their order.
        """,
    stub='''
from collections.abc import Callable
from typing import Any

from langchain_core.messages import ToolMessage


def limited(most: int) -> Callable[[Any, Any], Any]:
    """A wrapper that lets each tool be called `most` times."""
    raise NotImplementedError
''',
    hints=(
        "Where does a count live that is right for two runs at the same time? You need no "
        "variable: the history has it.",
        "Collect the ids of all calls of this tool from all AIMessages, in order. At which place "
        "stands the id of this call?",
        "The place counts from 0. So the call is allowed as long as its place is below `most`.",
    ),
    checks=(
        Check(
            "as many as are allowed",
            lambda lc, limited: _limited(lc, limited, 2, [_search(1)], [_search(2)]),
            "calls within the limit must run as if nobody stood around them",
            (["text 1", "text 2"], ["success", "success"]),
        ),
        Check(
            "one more",
            lambda lc, limited: _limited(lc, limited, 1, [_search(1)], [_search(2)]),
            "a call beyond the limit must be answered and not run; an error would end the run",
            (["text 1"], ["success", "error"]),
        ),
        Check(
            "its answer",
            _beyond,
            "the answer needs the call's id, the status `error` and the text of the task",
            ("call_2", "error", "no more than 1 calls of search"),
        ),
        Check(
            "another tool",
            lambda lc, limited: _limited(lc, limited, 1, [_search(1)], [_delete(2)]),
            "each tool has a count of its own",
            (["/2", "text 1"], ["success", "success"]),
        ),
        Check(
            "another run",
            _another_run,
            "a second run, with a history of its own, starts from nothing: one agent serves many "
            "users, and a count kept in the wrapper is everybody's",
            ["success", "success"],
        ),
        Check(
            "several calls in one message",
            lambda lc, limited: _limited(lc, limited, 1, [_search(1), _search(2)]),
            "calls of one message run at the same time, and none sees the other's answer: count "
            "what was asked, not what was answered",
            (["text 1"], ["success", "error"]),
        ),
    ),
    wrong_answers=(
        Wrong(_lets_all_pass, "answered and not run"),
        Wrong(_raises, "an error would end the run"),
        Wrong(_limit(lambda r: _asked(r, r.tool_call["name"]) - 1), "answered and not run"),
        Wrong(_limit(lambda r: _asked(r, r.tool_call["name"]), "success"), "answered and not run"),
        Wrong(_limit(lambda r: _asked(r, None)), "a count of its own"),
        Wrong(_keeps_a_count, "everybody's"),
        Wrong(_limit(_counts_answers), "not what was answered"),
    ),
)


# --- middleware-2: nobody is asked any more -----------------------------------------------------


def _ask(request: Any, handler: Any) -> Any:
    """An approval, in LangChain's world."""
    if LANGCHAIN.interrupt(request.tool_call["args"]) == "yes":
        return handler(request)
    return _message(request, "refused")


def _failing(lc: World, tell: Any) -> Any:
    agent, _ = _agent(lc, [tell], [_search(1, "down")])
    ((id, status, content),) = _told(agent.invoke(user(), THREAD))
    return id, status, "ConnectionError" in content and "no network" in content


def _paused(lc: World, tell: Any) -> Any:
    agent, ran = _agent(lc, [tell, _ask], [_delete(1)])
    state = agent.invoke(user(), THREAD)
    return [question.value for question in state.get("__interrupt__", [])], ran


def _resumed(lc: World, tell: Any) -> Any:
    agent, ran = _agent(lc, [tell, _ask], [_delete(1)])
    agent.invoke(user(), THREAD)
    return _told(agent.invoke(lc.Command(resume="yes"), THREAD)), ran


def _knows_one_error(request: Any, handler: Any) -> Any:
    try:
        return handler(request)
    except ValueError as error:
        return _message(request, f"failed: {error!r}")


def _catches_all(request: Any, handler: Any) -> Any:
    try:
        return handler(request)
    except BaseException as error:
        return _message(request, f"failed: {error!r}")


def _lets_all_through(request: Any, handler: Any) -> Any:
    return handler(request)


def _tells_a_success(request: Any, handler: Any) -> Any:
    try:
        return handler(request)
    except LANGCHAIN.GraphBubbleUp:
        raise
    except Exception as error:
        return _message(request, f"failed: {error!r}", "success")


TELL = Exercise(
    id="middleware-2",
    title="Drill: nobody is asked any more",
    minutes=10,
    difficulty="medium",
    task="""
        Somebody reports: *our tools no longer end the run, since this wrapper stands around them.
        But nobody is asked for approval any more, either, and the model reads about a
        GraphInterrupt.* The wrapper is the outermost; the approval is inside. Mend it, so that
        errors of a tool still become answers.
        """,
    stub='''
from typing import Any

from langchain_core.messages import ToolMessage


def tell(request: Any, handler: Any) -> Any:
    """An error becomes an answer that the model can read."""
    call = request.tool_call
    try:
        return handler(request)
    except Exception as error:
        text = f"failed: {error!r}"
        return ToolMessage(text, name=call["name"], tool_call_id=call["id"], status="error")
''',
    hints=(
        "What travels through the wrapper when a graph pauses, and which line stops it?",
        "It is an exception, but no failure. `langgraph.errors` has the class above all signals "
        "to the graph: `GraphBubbleUp`.",
        "An `except` for the signals, before the one for all others, that does nothing but "
        "`raise`.",
    ),
    checks=(
        Check(
            "a tool that fails",
            _failing,
            "any error of a tool must become an answer with the call's id and the status `error`, "
            "which says what happened",
            ("call_1", "error", True),
        ),
        Check(
            "an approval inside",
            _paused,
            "the run did not pause: the wrapper took the signal of `interrupt` for a failure",
            ([{"path": "/1"}], []),
        ),
        Check(
            "after the approval",
            _resumed,
            "once it is approved, the tool runs and its own answer comes out",
            ([("call_1", "success", "deleted /1")], ["/1"]),
        ),
    ),
    wrong_answers=(
        Wrong(_knows_one_error, "any error of a tool"),
        Wrong(_lets_all_through, "any error of a tool"),
        Wrong(_tells_a_success, "the status `error`"),
        Wrong(_catches_all, "did not pause"),
    ),
)


# --- middleware-3: an approval with changes -----------------------------------------------------


def _approved(lc: World, approve: Any, *answers: Any, calls: Any = None) -> Any:
    """What a person is asked, what runs, what the model is told, and what stays in the history."""
    agent, ran = _agent(lc, [approve], calls or [_delete(1)])
    state = agent.invoke(user(), THREAD)
    asked = [question.value for question in state.get("__interrupt__", [])]
    before = list(ran)
    for answer in answers:
        state = agent.invoke(lc.Command(resume=answer), THREAD)
    return {"asked": asked, "ran before": before, "ran": ran, "told": _told(state)}


ASKED = [{"tool": "delete", "args": {"path": "/1"}}]


def _outcome(ran: list[str], status: str, told: str, asked: Any = ASKED) -> dict[str, Any]:
    told_ = [("call_1", status, told)]
    return {"asked": asked, "ran before": [] if asked else ran, "ran": ran, "told": told_}


def _decide(request: Any, handler: Any) -> Any:
    """A right answer, for a call that has to be asked about."""
    call = request.tool_call
    answer = LANGCHAIN.interrupt({"tool": call["name"], "args": call["args"]})
    if answer["do"] == "refuse":
        return _message(request, f"refused: {answer['why']}")
    args = answer.get("args", call["args"])
    return handler(request.override(tool_call={**call, "args": args}))


def _runs_first(request: Any, handler: Any) -> Any:
    done = handler(request)
    if request.tool_call["name"] != "delete":
        return done
    decided = _decide(request, lambda _: done)
    return decided


def _knows_yes_and_no(request: Any, handler: Any) -> Any:
    if request.tool_call["name"] != "delete":
        return handler(request)
    return _decide(request, lambda _: handler(request))


def _refuses_with_an_error(request: Any, handler: Any) -> Any:
    if request.tool_call["name"] != "delete":
        return handler(request)
    answer = _decide(request, handler)
    if answer.status == "error":
        raise PermissionError(answer.content)
    return answer


def _refuses_as_a_success(request: Any, handler: Any) -> Any:
    if request.tool_call["name"] != "delete":
        return handler(request)
    return _decide(request, handler).model_copy(update={"status": "success"})


APPROVE = Exercise(
    id="middleware-3",
    title="Approve, change or refuse",
    minutes=10,
    difficulty="medium",
    task="""
        Before the tool `delete` runs, a person is asked:
        `interrupt({"tool": "delete", "args": {...}})`, with the call's name and arguments. They
        answer `{"do": "run"}`; or `{"do": "change", "args": {...}}`, then it runs with these
        arguments; or `{"do": "refuse", "why": "..."}`. Then it does not run, and the answer to the
        call is a `ToolMessage` with the content `refused: ...` and the status `error`. All other
        tools run without a question.
        """,
    stub='''
from typing import Any

from langchain_core.messages import ToolMessage
from langgraph.types import interrupt


def approve(request: Any, handler: Any) -> Any:
    """Ask a person before `delete` runs."""
    raise NotImplementedError
''',
    hints=(
        "Which calls need no question? Deal with them first.",
        "`interrupt` returns what the person answered. Three answers, three ways out.",
        'For other arguments: a copy of the call, `{**request.tool_call, "args": ...}`, in a '
        "copy of the request, `request.override(...)`.",
    ),
    checks=(
        Check(
            "a harmless tool",
            lambda lc, approve: _approved(lc, approve, calls=[_search(1)]),
            "a tool that deletes nothing runs without a question",
            _outcome(["text 1"], "success", "found text 1", asked=[]),
        ),
        Check(
            "run",
            lambda lc, approve: _approved(lc, approve, {"do": "run"}),
            "the person is asked first, about this call's name and arguments, and only then does "
            "the tool run, once",
            _outcome(["/1"], "success", "deleted /1"),
        ),
        Check(
            "change",
            lambda lc, approve: _approved(lc, approve, {"do": "change", "args": {"path": "/tmp"}}),
            "the tool must run with the arguments that the person gave",
            _outcome(["/tmp"], "success", "deleted /tmp"),
        ),
        Check(
            "refuse",
            lambda lc, approve: _approved(lc, approve, {"do": "refuse", "why": "too late"}),
            "a refused call does not run, and is answered: with its id, the reason, and the status "
            "`error`. Without an answer the history is broken; an error would end the run",
            _outcome([], "error", "refused: too late"),
        ),
    ),
    wrong_answers=(
        Wrong(_decide, "without a question"),
        Wrong(_runs_first, "only then"),
        Wrong(_knows_yes_and_no, "that the person gave"),
        Wrong(_refuses_with_an_error, "would end the run"),
        Wrong(_refuses_as_a_success, "the status `error`"),
    ),
)


LESSON = Lesson(
    exercises=(LIMIT, TELL, APPROVE),
    quizzes=(
        Quiz(
            id="middleware-1",
            question="`middleware=[retry, log]`. The tool fails once, and `retry` calls its "
            "handler again. `log` writes a line each time it is entered. How many lines?",
            options=(
                Option(
                    "one: the call is one call",
                    "So it would be with `log` outside: `[log, retry]`.",
                ),
                Option(
                    "none, for `retry` has caught the error",
                    "`log` writes when it is entered, and that is before anything can fail.",
                ),
                Option(
                    "two",
                    "`log` is inside of `retry`: it is a part of what is tried again.",
                    right=True,
                ),
            ),
        ),
        Quiz(
            id="middleware-2",
            question="A time-out around a tool answers after a second. The tool needs five, and "
            "then sends a mail. What happens to the mail?",
            options=(
                Option(
                    "it is sent",
                    "The wrapper stopped waiting. The thread runs on, and nobody hears its answer.",
                    right=True,
                ),
                Option(
                    "it is not sent: the tool was stopped after a second",
                    "Python cannot stop a thread. Only an awaited tool can be cancelled.",
                ),
                Option(
                    "it is sent, and its answer replaces the wrapper's in the history",
                    "A call has been answered once, and the run has gone on.",
                ),
            ),
        ),
    ),
)
