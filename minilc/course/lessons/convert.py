"""Exercises of layer 5, convert: what stands between a function and its tool."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

from langchain_core.tools import BaseTool, tool

from minilc.course.exercises import Check, Exercise, Lesson, Option, Quiz, Wrong
from minilc.course.worlds import World


def _weather(city: str, days: int = 1) -> str:
    """The weather of a city."""
    return f"{city}, {days} days: sunny"


async def _later(city: str) -> str:
    """The weather, later."""
    return f"{city}: rain"


# --- convert-1: a decorator below the decorator ----------------------------------------------


def _logged_tool(lc: World, logged: Any, function: Any = _weather) -> Any:
    return lc.tool(logged(function, []))


def _log_after(lc: World, logged: Any) -> Any:
    log: list[str] = []
    made = lc.tool(logged(_weather, log))
    if made.func is None:
        return "a tool that can only be awaited"
    made.invoke({"city": "Oslo"})
    return log


async def _log_awaited(lc: World, logged: Any) -> Any:
    log: list[str] = []
    content = await lc.tool(logged(_later, log)).ainvoke({"city": "Oslo"})
    if not isinstance(content, str):
        content.close()
        return "a coroutine that nobody awaits"
    return [content, log]


def _bare(function: Any, log: list[str]) -> Any:
    def inner(*args: Any, **kwargs: Any) -> Any:
        log.append(function.__name__)
        return function(*args, **kwargs)

    return inner


def _with_docstring(function: Any, log: list[str]) -> Any:
    inner = _bare(function, log)
    inner.__doc__ = function.__doc__
    return inner


def _with_name_too(function: Any, log: list[str]) -> Any:
    inner = _with_docstring(function, log)
    inner.__name__ = function.__name__
    return inner


def _plain_alone(function: Any, log: list[str]) -> Any:
    return functools.wraps(function)(_bare(function, log))


def _log_dropped(function: Any, log: list[str]) -> Any:
    return function


def _async_alone(function: Any, log: list[str]) -> Any:
    @functools.wraps(function)
    async def inner(*args: Any, **kwargs: Any) -> Any:
        log.append(function.__name__)
        return await function(*args, **kwargs)

    return inner


LOGGED = Exercise(
    id="convert-1",
    title="Drill: the decorator below the decorator",
    minutes=15,
    difficulty="medium",
    task="""
        Somebody writes `tool(logged(weather, log))`, so that each call is logged, and reports:
        *the program fails at its start and wants a docstring, and I have one. I wrote a docstring
        into `inner`. Now the model calls a tool `inner` and has no idea what to send.* Mend
        `logged`. It must work for async functions too.
        """,
    stub='''
from collections.abc import Callable
from typing import Any


def logged(function: Callable[..., Any], log: list[str]) -> Callable[..., Any]:
    """The same function, and each call of it is written to the log."""

    def inner(*args: Any, **kwargs: Any) -> Any:
        log.append(function.__name__)
        return function(*args, **kwargs)

    return inner
''',
    hints=(
        "`tool` looks at what it is given, and that is `inner`. Which three things does it read "
        "from it?",
        "The standard library has a decorator that makes one function look like another: name, "
        "docstring, annotations, signature.",
        "For an async function the one inside must be `async def` and await. Which function of "
        "`inspect` did part 6 ask?",
    ),
    checks=(
        Check(
            "a tool can be made",
            lambda lc, answer: type(_logged_tool(lc, answer)).__name__,
            "`tool` finds no docstring: it looks at the inner function, not at the one inside it",
            "StructuredTool",
        ),
        Check(
            "its name",
            lambda lc, answer: _logged_tool(lc, answer).name,
            "the tool has the inner function's name, and that is what the model calls",
            "_weather",
        ),
        Check(
            "its arguments",
            lambda lc, answer: list(_logged_tool(lc, answer).args),
            "the schema comes from the inner function's signature, and `*args, **kwargs` tells the "
            "model nothing",
            ["city", "days"],
        ),
        Check(
            "the log",
            _log_after,
            "the call must be in the log, and a plain function must stay a plain one",
            ["_weather"],
        ),
        Check(
            "an async function",
            _log_awaited,
            "an async function comes back as a plain one: the tool calls it and nobody awaits it",
            ["Oslo: rain", ["_later"]],
        ),
    ),
    wrong_answers=(
        Wrong(_bare, "finds no docstring"),
        Wrong(_with_docstring, "the inner function's name"),
        Wrong(_with_name_too, "tells the model nothing"),
        Wrong(_log_dropped, "must be in the log"),
        Wrong(_async_alone, "must stay a plain one"),
        Wrong(_plain_alone, "nobody awaits it"),
    ),
)


# --- convert-2: names that a provider takes --------------------------------------------------


NAME = r"[a-zA-Z0-9_-]{1,64}"


def _made(result: Any) -> Any:
    return result.name if isinstance(result, BaseTool) else f"no tool, but {result!r:.20}"


def _refused(make: Callable[[], Any]) -> str:
    """What the call comes to, in a word: `refused`, or the name that was taken."""
    try:
        return _made(make())
    except ValueError:
        return "refused"


def _hangs_on(first: Any) -> str:
    return first if isinstance(first, str) else first.__name__


def _the_first_alone(*shape: Any, **options: Any) -> Any:
    if shape and not re.fullmatch(NAME, _hangs_on(shape[0])):
        raise ValueError(shape[0])
    return tool(*shape, **options)


def _tools_alone(*shape: Any, **options: Any) -> Any:
    made = tool(*shape, **options)
    if isinstance(made, BaseTool) and not re.fullmatch(NAME, made.name):
        raise ValueError(made.name)
    return made


def _always_a_tool(*shape: Any, **options: Any) -> Any:
    made = tool(*shape, **options)
    if not re.fullmatch(NAME, made.name):
        raise ValueError(made.name)
    return made


def _identifiers(*shape: Any, **options: Any) -> Any:
    def looked_at(made: Any) -> Any:
        if not made.name.isidentifier():
            raise ValueError(made.name)
        return made

    made = tool(*shape, **options)
    return looked_at(made) if isinstance(made, BaseTool) else lambda one: looked_at(made(one))


def _spaces_alone(*shape: Any, **options: Any) -> Any:
    def looked_at(made: Any) -> Any:
        if " " in made.name:
            raise ValueError(made.name)
        return made

    made = tool(*shape, **options)
    return looked_at(made) if isinstance(made, BaseTool) else lambda one: looked_at(made(one))


def _in_chinese() -> Any:
    def 查天气(city: str) -> str:
        """查询天气。"""
        return city

    return 查天气


NAMED = Exercise(
    id="convert-2",
    title="A decorator that looks at the name",
    minutes=15,
    difficulty="hard",
    task="""
        OpenAI takes a tool's name only if it has 1 to 64 letters, digits, `_` and `-`, all of
        ASCII. Write `named`: it takes what `tool` takes, in every shape, and returns what `tool`
        returns. But for another name it raises a ValueError.
        """,
    stub='''
import re
from typing import Any

from langchain_core.tools import BaseTool, tool


def named(*shape: Any, **options: Any) -> Any:
    """`tool`, for names that every provider takes."""
    raise NotImplementedError
''',
    hints=(
        "Let `tool` do its work, and look at the name of what comes out.",
        '`tool(function)` returns a tool. What does `tool("name")` return, and when will there '
        "be a tool?",
        "`re.fullmatch` with a class of characters and `{1,64}` says whether a name is fine.",
    ),
    checks=(
        Check(
            "a good name, without brackets",
            lambda lc, answer: _made(answer(_weather)),
            "with `@named` alone there must be a tool at once",
            "_weather",
        ),
        Check(
            "a good name, with brackets",
            lambda lc, answer: [
                _made(answer()(_weather)),
                _made(answer("sky-report")(_weather)),
                _made(answer(description="查天气")(_weather)),
            ],
            "with brackets there is no tool yet, only what makes one; and a hyphen is a good "
            "character",
            ["_weather", "sky-report", "_weather"],
        ),
        Check(
            "a name with a space, handed in with its function",
            lambda lc, answer: _refused(lambda: answer("sky report", _weather)),
            "a name with a space gets through, and the provider refuses the whole request",
            "refused",
        ),
        Check(
            "a name with a space, with brackets",
            lambda lc, answer: _refused(lambda: answer("sky report")(_weather)),
            "with brackets a bad name gets through: look at the tool once it is made",
            "refused",
        ),
        Check(
            "a function with a Chinese name",
            lambda lc, answer: [
                _refused(lambda: answer(_in_chinese())),
                _refused(lambda: answer(description="w")(_in_chinese())),
            ],
            "the function's own name is a name too, and Python takes more letters than a provider",
            ["refused", "refused"],
        ),
        Check(
            "65 letters",
            lambda lc, answer: _refused(lambda: answer("a" * 65)(_weather)),
            "65 letters are one too many",
            "refused",
        ),
    ),
    wrong_answers=(
        Wrong(_always_a_tool, "only what makes one"),
        Wrong(_identifiers, "a hyphen is a good character"),
        Wrong(_tools_alone, "with brackets a bad name gets through"),
        Wrong(_the_first_alone, "the function's own name"),
        Wrong(_spaces_alone, "the function's own name"),
    ),
)


LESSON = Lesson(
    exercises=(LOGGED, NAMED),
    quizzes=(
        Quiz(
            id="convert-1",
            question='`weather_search = tool("weather_search")`. What is it?',
            options=(
                Option(
                    "a decorator: it makes a tool of the function that it gets next",
                    "A text alone is a name, and a name alone is no tool. The function comes in "
                    "the second call.",
                    right=True,
                ),
                Option(
                    "a tool that is called weather_search and does nothing",
                    "There is no function to take a description and a schema from.",
                ),
                Option(
                    "nothing: there is no function, so a ValueError says that one must be provided "
                    "in this call",
                    "That is `StructuredTool.from_function()`. The decorator waits for the "
                    "function.",
                ),
            ),
        ),
        Quiz(
            id="convert-2",
            question="An agent has two tools, and both are called `search`. What happens when it "
            "is built?",
            options=(
                Option(
                    "a ValueError names the two",
                    "Nobody compares the names. It would be a good check, and it is ours to write.",
                ),
                Option(
                    "the second gets another name, `search_1`, so that the model can tell one "
                    "from the other",
                    "No name is ever changed.",
                ),
                Option(
                    "the tools node keeps the last one",
                    "Its tools are a dict by name, so a later one takes the place of an earlier.",
                    right=True,
                ),
                Option(
                    "the tools node keeps the first one",
                    "It is a dict by name: what comes later takes the place.",
                ),
            ),
        ),
    ),
)
