"""Exercises of layer 3, base: from what a tool is given to the ToolMessage that answers."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ValidationError

from minilc.course.exercises import Check, Exercise, Lesson, Option, Quiz, Wrong
from minilc.course.worlds import World
from minilc.messages import ToolMessage


def _call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "args": arguments, "id": "call_1", "type": "tool_call"}


def _giver(lc: World, value: Any) -> Any:
    """A tool that returns `value`."""

    @lc.tool
    def weather(city: str) -> Any:
        """Weather of a city."""
        return value

    return weather


def _answer(lc: World, value: Any) -> Any:
    """What a call gets from a tool that returns `value`."""
    return _giver(lc, value).invoke(_call("weather", city="北京"))


# --- base-1: how a value becomes an answer ---------------------------------------------------


def _failed(lc: World) -> Any:
    def weather(city: str) -> str:
        """Weather of a city."""
        raise lc.ToolException("no such city")

    tool = lc.StructuredTool.from_function(weather, handle_tool_error=True)
    return tool.invoke(_call("weather", city="北京")).status


def _with_artifact(lc: World) -> Any:
    @lc.tool(response_format="content_and_artifact")
    def weather(city: str) -> tuple[str, dict[str, int]]:
        """Weather of a city."""
        return "sunny", {"degrees": 25}

    return weather.invoke(_call("weather", city="北京")).artifact


def _twice(lc: World) -> Any:
    own = lc.ToolMessage("mine", tool_call_id="call_1")
    return _answer(lc, own)


def _content(value: Any) -> Any:
    blocks = isinstance(value, list) and all(isinstance(one, str | dict) for one in value)
    if blocks or isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except TypeError:
        return str(value)


def _forgets_the_id(content: Any, artifact: Any, tool_call_id: Any, name: str, status: Any) -> Any:
    if tool_call_id is None or isinstance(content, ToolMessage):
        return content
    return ToolMessage(
        content=content, artifact=artifact, tool_call_id="", name=name, status=status
    )


def _takes_str(content: Any, artifact: Any, tool_call_id: Any, name: str, status: Any) -> Any:
    if tool_call_id is None or isinstance(content, ToolMessage):
        return content
    return ToolMessage(
        content=str(content), artifact=artifact, tool_call_id=tool_call_id, name=name, status=status
    )


def _dumps_text(content: Any, artifact: Any, tool_call_id: Any, name: str, status: Any) -> Any:
    if tool_call_id is None or isinstance(content, ToolMessage):
        return content
    text = json.dumps(content, ensure_ascii=False)
    return ToolMessage(
        content=text, artifact=artifact, tool_call_id=tool_call_id, name=name, status=status
    )


def _blocks_too(content: Any, artifact: Any, tool_call_id: Any, name: str, status: Any) -> Any:
    if tool_call_id is None or isinstance(content, ToolMessage):
        return content
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return ToolMessage(
        content=text, artifact=artifact, tool_call_id=tool_call_id, name=name, status=status
    )


def _json_alone(content: Any, artifact: Any, tool_call_id: Any, name: str, status: Any) -> Any:
    if tool_call_id is None or isinstance(content, ToolMessage):
        return content
    if not (isinstance(content, str) or content == [{"type": "text", "text": "晴"}]):
        content = json.dumps(content, ensure_ascii=False)
    return ToolMessage(
        content=content, artifact=artifact, tool_call_id=tool_call_id, name=name, status=status
    )


def _wraps_twice(content: Any, artifact: Any, tool_call_id: Any, name: str, status: Any) -> Any:
    return ToolMessage(
        content=_content(content),
        artifact=artifact,
        tool_call_id=tool_call_id,
        name=name,
        status=status,
    )


def _loses_the_status(
    content: Any, artifact: Any, tool_call_id: Any, name: str, status: Any
) -> Any:
    if isinstance(content, ToolMessage):
        return content
    content = _content(content)
    return ToolMessage(content=content, artifact=artifact, tool_call_id=tool_call_id, name=name)


FORMAT = Exercise(
    id="base-1",
    title="A value becomes an answer",
    minutes=10,
    difficulty="medium",
    target="minilc.base:_format_output",
    task="""
        A model has made a call, and the tool's function has returned `content`. Write the
        `ToolMessage` that answers the call. Think of all that a tool may return: text, a list of
        content blocks, a dict, a date, or a `ToolMessage` of its own.
        """,
    stub='''
import json
from typing import Any

from minilc import ToolMessage


def format_output(
    content: Any, artifact: Any, tool_call_id: str, name: str, status: str
) -> ToolMessage:
    """The answer to a call."""
    raise NotImplementedError
''',
    hints=(
        "Of the five parameters, which ones go straight into the `ToolMessage`?",
        "A text is content already. For everything else: which format do models read, and what "
        "does `ensure_ascii` do to 北京?",
        "A tool may return a `ToolMessage` of its own. Do not wrap it a second time. And a list of "
        "dicts with a `type` is content already.",
    ),
    checks=(
        Check(
            "what a call gets",
            lambda lc: type(_answer(lc, "sunny")).__name__,
            "the call is not answered by a ToolMessage, so the result never reaches the model",
        ),
        Check(
            "the answer's tool_call_id",
            lambda lc: _answer(lc, "sunny").tool_call_id,
            "the answer does not carry the call's id: no provider can tell which call it answers",
        ),
        Check(
            "the answer's name",
            lambda lc: _answer(lc, "sunny").name,
            "the answer does not carry the tool's name",
        ),
        Check(
            "a text",
            lambda lc: _answer(lc, "sunny").content,
            "a text is not passed on as it is; the model would read it with quotes around it",
        ),
        Check(
            "a dict, None, a number and a list of numbers",
            lambda lc: [_answer(lc, one).content for one in ({"city": "北京"}, None, 25, [25])],
            "what is no text must become JSON that a model can read (北京, not \\u5317\\u4eac)",
        ),
        Check(
            "a list of content blocks",
            lambda lc: _answer(lc, [{"type": "text", "text": "晴"}]).content,
            "a list of content blocks is content already; as JSON the model reads brackets",
        ),
        Check(
            "a date",
            lambda lc: _answer(lc, datetime.date(2025, 5, 1)).content,
            "what JSON cannot write must not stop the tool: `str` is what is left for it",
        ),
        Check(
            "a tool that returns a ToolMessage",
            _twice,
            "the tool's own ToolMessage is an answer already; it must not be wrapped again",
        ),
        Check(
            "the status of an error",
            _failed,
            "an error is told to the model as a success: the status is lost",
        ),
        Check(
            "an artifact",
            _with_artifact,
            "the artifact, which the program sees and the model does not, is lost",
        ),
    ),
    wrong_answers=(
        Wrong(_forgets_the_id, "does not carry the call's id"),
        Wrong(_takes_str, "must become JSON"),
        Wrong(_dumps_text, "with quotes around it"),
        Wrong(_blocks_too, "content already"),
        Wrong(_json_alone, "`str` is what is left"),
        Wrong(_wraps_twice, "must not be wrapped again"),
        Wrong(_loses_the_status, "the status is lost"),
    ),
)


# --- base-2: what is a call ------------------------------------------------------------------


def _library(lc: World) -> Any:
    """A tool whose arguments have the names of a call's keys."""

    @lc.tool
    def search(name: str, id: str) -> str:
        """Search the library."""
        return f"{name} {id}"

    return search


def _kept(lc: World) -> Any:
    call = _call("weather", city="北京")
    first = _giver(lc, "sunny").invoke(call)
    return [call, first.tool_call_id]


def _with_config(answer: Callable[[Any], Any]) -> Callable[..., Any]:
    """The learner's function, which knows no config, in the place of one that hands it through."""

    def prep_run_args(value: Any, *config: Any) -> Any:
        arguments, tool_call_id = answer(value)
        return arguments, *config, tool_call_id

    return prep_run_args


def _asks_for_the_keys(value: Any) -> Any:
    if isinstance(value, dict) and {"name", "id"} <= value.keys():
        return value.get("args", {}).copy(), value["id"]
    return value, None


def _never_a_call(value: Any) -> Any:
    return value, None


def _loses_the_id(value: Any) -> Any:
    if isinstance(value, dict) and value.get("type") == "tool_call":
        return value["args"], None
    return value, None


def _empties_the_call(value: Any) -> Any:
    if isinstance(value, dict) and value.get("type") == "tool_call":
        return value.pop("args"), value["id"]
    return value, None


PREPARE = Exercise(
    id="base-2",
    title="Drill: a tool that answers a call nobody made",
    minutes=10,
    difficulty="medium",
    target="minilc.base:_prep_run_args",
    fit=_with_config,
    task="""
        Somebody reports: *my tool `search(name, id)` works when I call its function, and fails
        when I invoke the tool with plain arguments*. The fault is in this function, which
        tells a model's call from plain arguments. It returns the arguments, and the call's id or
        None. Find it and mend it.
        """,
    stub='''
from typing import Any


def prep_run_args(value: Any) -> tuple[Any, str | None]:
    """The arguments of a run, and the id of the call if it is one."""
    if isinstance(value, dict) and "name" in value and "id" in value:
        return value.get("args", {}).copy(), value["id"]
    return value, None
''',
    hints=(
        "Which dict does the report hand in, and which line takes it for a call?",
        "A call says itself what it is. Look at the fourth key of `AIMessage.tool_calls[0]`.",
    ),
    checks=(
        Check(
            "a model's call",
            lambda lc: _answer(lc, "sunny"),
            "a model's call is no longer answered as one",
        ),
        Check(
            "plain arguments called name and id",
            lambda lc: _library(lc).invoke({"name": "Dune", "id": "7"}),
            'only "type": "tool_call" makes a dict a call; a tool may well have arguments that are '
            "called name and id",
        ),
        Check(
            "the call afterwards",
            _kept,
            "the caller's own call was changed on the way: copy its arguments",
        ),
    ),
    wrong_answers=(
        Wrong(_asks_for_the_keys, 'only "type": "tool_call"'),
        Wrong(_never_a_call, "no longer answered"),
        Wrong(_loses_the_id, "no longer answered"),
        Wrong(_empties_the_call, "was changed on the way"),
    ),
)


# --- base-3: an error that the model can act on ----------------------------------------------


class _Stay(BaseModel):
    city: str
    nights: int


def _told(lc: World, answer: Any, **arguments: Any) -> Any:
    """What a model reads after wrong arguments, if `answer` handles them."""

    def book(stay: _Stay, guests: int) -> str:
        """Book a room."""
        return "booked"

    tool = lc.StructuredTool.from_function(book, handle_validation_error=answer)
    return tool.invoke(_call("book", **arguments)).content


def _whole_text(error: ValidationError) -> str:
    return str(error)


def _first_alone(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


def _messages_alone(error: ValidationError) -> str:
    return "\n".join(one["msg"] for one in error.errors())


def _outer_name(error: ValidationError) -> str:
    return "\n".join(f"{one['loc'][0]}: {one['msg']}" for one in error.errors())


def _gives_a_list(error: ValidationError) -> Any:
    return [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()]


TELL = Exercise(
    id="base-3",
    title="An error that the model can act on",
    minutes=10,
    difficulty="medium",
    task="""
        With `handle_validation_error=True` the model reads *Tool input validation error*, and has
        to guess. Write a handler for `handle_validation_error=...` that says what is wrong: a line
        for each wrong argument, `name: message`, in pydantic's words. An argument inside another
        is written with a dot: `stay.nights`.
        """,
    stub='''
from pydantic import ValidationError


def tell(error: ValidationError) -> str:
    """What the model should know about its wrong arguments."""
    raise NotImplementedError
''',
    hints=(
        "`error.errors()` is a list with a dict for each wrong argument. Print one.",
        "The key `loc` is the way to the argument, from the outside in: a tuple. `msg` is the "
        "message.",
        "The parts of `loc` may be numbers (an item of a list): make them text before you join "
        "them. Then join the lines.",
    ),
    checks=(
        Check(
            "one wrong argument",
            lambda lc, tell: _told(lc, tell, stay={"city": "北京", "nights": 2}, guests="two"),
            "the model needs the argument's name and pydantic's message, and nothing else: no "
            "count, no link to pydantic's pages",
            "guests: Input should be a valid integer, unable to parse string as an integer",
        ),
        Check(
            "an argument inside another",
            lambda lc, tell: _told(lc, tell, stay={"city": "北京", "nights": "two"}, guests=2),
            "the model cannot tell which argument inside `stay` is wrong: the whole way to it is "
            "`stay.nights`",
            "stay.nights: Input should be a valid integer, unable to parse string as an integer",
        ),
        Check(
            "two wrong arguments",
            lambda lc, tell: _told(lc, tell, stay={"city": "北京"}),
            "two arguments are wrong, and the model must read of both, or it needs two more tries",
            "stay.nights: Field required\nguests: Field required",
        ),
    ),
    wrong_answers=(
        Wrong(_whole_text, "no link to pydantic's pages"),
        Wrong(_messages_alone, "the argument's name"),
        Wrong(_outer_name, "the whole way to it"),
        Wrong(_first_alone, "read of both"),
        Wrong(_gives_a_list, "nothing else"),
    ),
)


LESSON = Lesson(
    exercises=(FORMAT, PREPARE, TELL),
    quizzes=(
        Quiz(
            id="base-1",
            question="A tool returns `{'city': '北京'}` and a model called it. What is the "
            "`content` of the answer?",
            options=(
                Option(
                    "the dict itself, which the provider's client turns into JSON later",
                    "A ToolMessage's content is text (or blocks). The tool makes the text, before "
                    "any client sees it.",
                ),
                Option(
                    "the text of Python's `str`, with single quotes",
                    "Article B reads it so. The library writes JSON; `str` is what it falls back "
                    "to for what JSON cannot hold.",
                ),
                Option(
                    'the JSON text `{"city": "北京"}`',
                    "JSON, with the characters as they are: the model reads 北京.",
                    right=True,
                ),
                Option(
                    "the same JSON, with 北京 written as escapes",
                    "`json.dumps` would do that by itself; the library passes ensure_ascii=False.",
                ),
            ),
        ),
        Quiz(
            id="base-2",
            question="A tool has the argument `n: int` and returns `n * 2`. What is "
            "`twice.invoke('4')`?",
            options=(
                Option(
                    "`'44'`",
                    "A bare text is checked like an argument, then handed on as it was. The "
                    "function gets `'4'`.",
                    right=True,
                ),
                Option(
                    "`8`, since the schema makes a number of the text",
                    "For `{'n': '4'}` it would. A bare text is only checked; what the check made "
                    "of it is thrown away.",
                ),
                Option(
                    "a validation error, since a text is no number",
                    "`'4'` passes the check: pydantic can read a number in it.",
                ),
            ),
        ),
    ),
)
