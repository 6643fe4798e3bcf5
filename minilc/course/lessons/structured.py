"""Exercises of layer 4, structured: what a tool says of itself, and what its function gets."""

from __future__ import annotations

import functools
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

from langchain_core.tools import StructuredTool
from pydantic import BaseModel

from minilc.course.exercises import Check, Exercise, Lesson, Option, Quiz, Wrong
from minilc.course.worlds import World


class _Stop(BaseModel):
    """Departures of a bus stop."""

    stop: str


class _Unsaid(BaseModel):
    stop: str


_JSON = {
    "type": "object",
    "description": "Departures, as JSON says.",
    "properties": {"stop": {"type": "string"}},
    "required": ["stop"],
}


def _undocumented(stop: str) -> str:
    return stop


def _documented(stop: str) -> str:
    """When the bus leaves."""
    return stop


# --- structured-1: the description -----------------------------------------------------------


def _described(lc: World, function: Any, **options: Any) -> Any:
    return lc.StructuredTool.from_function(function, **options).description


def _indented(lc: World) -> Any:
    def bus(stop: str) -> str:
        """
        When the bus leaves.

            Not for trains.
        """
        return stop

    return _described(lc, bus)


def _into_from_function(answer: Callable[..., Any]) -> Callable[..., Any]:
    """`from_function` with the learner's description, and the rest as it is."""
    from minilc import structured  # what stands there now: the real one

    original = structured.StructuredTool.from_function.__func__  # type: ignore[attr-defined]  # a classmethod has it

    def from_function(cls: Any, func: Any = None, coroutine: Any = None, **options: Any) -> Any:
        text = answer(func or coroutine, options.get("description"), options.get("args_schema"))
        if not isinstance(text, str):
            raise TypeError(f"a description is a text, and this is {text!r}")
        return original(cls, func, coroutine, **{**options, "description": text})

    return from_function


def _as_the_article(function: Any, description: Any, args_schema: Any) -> Any:
    text = description or function.__doc__
    if text is None and args_schema is not None:
        text = args_schema.__doc__
    if text is None:
        raise ValueError("Function must have a docstring if description not provided.")
    return text


def _empty_is_missing(function: Any, description: Any, args_schema: Any) -> Any:
    return _first_of(description or function.__doc__, args_schema)


def _no_error(function: Any, description: Any, args_schema: Any) -> Any:
    return description if description is not None else function.__doc__ or ""


def _schema_first(function: Any, description: Any, args_schema: Any) -> Any:
    if description is None and args_schema is not None:
        description = _of_schema(args_schema)
    return _first_of(function.__doc__ if description is None else description, args_schema)


def _as_it_stands(function: Any, description: Any, args_schema: Any) -> Any:
    if description is None:
        description = function.__doc__
    return (_of_schema(args_schema) if description is None else description) or _fail()


def _models_alone(function: Any, description: Any, args_schema: Any) -> Any:
    if description is None:
        description = function.__doc__
    if description is None:
        description = getattr(args_schema, "__doc__", None)
    return _first_of(description, None)


def _stripped_alone(function: Any, description: Any, args_schema: Any) -> Any:
    if description is None:
        description = function.__doc__
    return (_of_schema(args_schema) if description is None else description or "").strip()


def _of_schema(args_schema: Any) -> Any:
    if isinstance(args_schema, dict):
        return args_schema.get("description")
    return getattr(args_schema, "__doc__", None)


def _first_of(text: Any, args_schema: Any) -> Any:
    text = _of_schema(args_schema) if text is None else text
    if text is None:
        _fail()
    return textwrap.dedent(text).strip()


def _fail() -> Any:
    raise ValueError("Function must have a docstring if description not provided.")


DESCRIBE = Exercise(
    id="structured-1",
    title="What the tool says of itself",
    minutes=10,
    difficulty="medium",
    target="minilc.structured:StructuredTool.from_function",
    fit=_into_from_function,
    task="""
        Write the function that finds the description: what is given as `description=`, else the
        function's docstring, else what `args_schema` says of itself. The schema may be a pydantic
        class, a JSON schema dict, or None. If nothing is found, raise the ValueError that
        LangChain raises.
        """,
    stub='''
from collections.abc import Callable
from typing import Any


def describe(function: Callable[..., Any], description: str | None, args_schema: Any) -> str:
    """The description of the tool that is made of `function`."""
    raise NotImplementedError
''',
    hints=(
        "Three sources, in this order. Which values of `description` mean *not given*? Part 4 of "
        "the notebook has one that looks as if it did.",
        "A class has its text in `__doc__`, a JSON schema under the key `description`.",
        "A text from a docstring has the indentation of the code: `textwrap.dedent`, then `strip`.",
    ),
    checks=(
        Check(
            "a docstring",
            lambda lc: _described(lc, _documented),
            "the docstring of the function is not its description",
        ),
        Check(
            "a description that is given",
            lambda lc: _described(lc, _documented, description="查公交"),
            "a description that is given comes before the docstring",
        ),
        Check(
            "an empty description",
            lambda lc: _described(lc, _documented, description=""),
            "an empty description was given, so it is kept: only None means that there is none",
        ),
        Check(
            "no docstring and no schema",
            lambda lc: _described(lc, _undocumented),
            "with nothing to describe it there is no tool, but the ValueError with LangChain's "
            "words",
        ),
        Check(
            "a docstring, and a schema with one of its own",
            lambda lc: _described(lc, _documented, args_schema=_Stop),
            "the function's docstring comes before the one of args_schema",
        ),
        Check(
            "no docstring, and a pydantic class with one",
            lambda lc: _described(lc, _undocumented, args_schema=_Stop),
            "without a docstring the one of args_schema is the description",
        ),
        Check(
            "no docstring, and a JSON schema with a description",
            lambda lc: _described(lc, _undocumented, args_schema=_JSON),
            "a JSON schema is a dict: what it says of itself stands under its key description",
        ),
        Check(
            "no docstring, and a pydantic class without one",
            lambda lc: _described(lc, _undocumented, args_schema=_Unsaid),
            "a schema that says nothing of itself does not help: there must be an error",
        ),
        Check(
            "an indented docstring",
            _indented,
            "the indentation that all lines share belongs to the code, not to the description",
        ),
    ),
    wrong_answers=(
        Wrong(_as_the_article, "only None means that there is none"),
        Wrong(_empty_is_missing, "only None means that there is none"),
        Wrong(_no_error, "ValueError with LangChain's words"),
        Wrong(_schema_first, "comes before the one of args_schema"),
        Wrong(_models_alone, "stands under its key description"),
        Wrong(_stripped_alone, "ValueError with LangChain's words"),
        Wrong(_as_it_stands, "only None means"),
    ),
)


# --- structured-2: a tool that keeps something -----------------------------------------------


def _three(answer: Any) -> Any:
    return answer(["Paris", "Oslo", "Rome"])


def _named(city: str, function: Any) -> StructuredTool:
    return StructuredTool.from_function(
        function, name=f"forecast_{city.lower()}", description=f"The weather of {city}."
    )


def _still_the_last(cities: list[str]) -> Any:
    tools = []
    for city in cities:

        def forecast(days: int = 1) -> str:
            place = city  # noqa: B023  # the fault
            return f"{place}, {days} days: sunny"

        tools.append(_named(city, forecast))
    return tools


def _as_a_default(cities: list[str]) -> Any:
    tools = []
    for city in cities:

        def forecast(days: int = 1, city: str = city) -> str:
            return f"{city}, {days} days: sunny"

        tools.append(_named(city, forecast))
    return tools


def _as_a_partial(cities: list[str]) -> Any:
    def forecast(city: str, days: int = 1) -> str:
        return f"{city}, {days} days: sunny"

    return [_named(city, functools.partial(forecast, city)) for city in cities]


def _one_tool(cities: list[str]) -> Any:
    def forecast(city: str, days: int = 1) -> str:
        """The weather of a city."""
        return f"{city}, {days} days: sunny"

    return [StructuredTool.from_function(forecast, name="forecast")]


REMEMBER = Exercise(
    id="structured-2",
    title="Drill: every tool knows the same city",
    minutes=10,
    difficulty="medium",
    task="""
        Somebody reports: *I make a tool for each city. The model calls `forecast_paris` and reads
        the weather of Rome. Names and descriptions are right.* The model must not choose the city:
        it fills in `days` alone. Find the fault and mend it.
        """,
    stub='''
from langchain_core.tools import StructuredTool


def tools_for(cities: list[str]) -> list[StructuredTool]:
    """A tool for each city."""
    tools = []
    for city in cities:

        def forecast(days: int = 1) -> str:
            return f"{city}, {days} days: sunny"

        name = f"forecast_{city.lower()}"
        text = f"The weather of {city}."
        tools.append(StructuredTool.from_function(forecast, name=name, description=text))
    return tools
''',
    hints=(
        "When does `forecast` look up `city`: when it is defined, or when it is called? What is "
        "`city` then?",
        "A parameter `city=city` would keep the value. But what does `tool.args` show then, and "
        "who may fill it in?",
        "Each call of a function has variables of its own. Let a function make one tool.",
    ),
    checks=(
        Check(
            "the names",
            lambda lc, answer: [one.name for one in _three(answer)],
            "there must be one tool for each city, forecast_paris and so on; and a partial is no "
            "function that LangChain can read",
            ["forecast_paris", "forecast_oslo", "forecast_rome"],
        ),
        Check(
            "what each tool says",
            lambda lc, answer: [one.invoke({"days": 2}) for one in _three(answer)],
            "each tool speaks of the last city: the inner function looks the variable up when it "
            "is called, and by then the loop is over",
            ["Paris, 2 days: sunny", "Oslo, 2 days: sunny", "Rome, 2 days: sunny"],
        ),
        Check(
            "what the model fills in",
            lambda lc, answer: [list(one.args) for one in _three(answer)],
            "the city has become a parameter, so the schema shows it to the model, and the model "
            "may send another one",
            [["days"], ["days"], ["days"]],
        ),
    ),
    wrong_answers=(
        Wrong(_still_the_last, "by then the loop is over"),
        Wrong(_as_a_default, "may send another one"),
        Wrong(_as_a_partial, "a partial is no function"),
        Wrong(_one_tool, "one tool for each city"),
    ),
)


# --- structured-3: does the schema fit? ------------------------------------------------------


class _Letter(BaseModel):
    address: str
    subject: str = ""


def _exact(address: str, subject: str) -> str:
    return address


def _renamed(email: str, subject: str = "") -> str:
    return email


def _optional_more(address: str, subject: str = "", copy_to: str = "") -> str:
    return address


def _anything(address: str, **others: str) -> str:
    return address


_JSON_LETTER = {"type": "object", "properties": {"address": {"type": "string"}, "cc": {}}}


def _fields(args_schema: Any) -> set[str]:
    return set(
        args_schema["properties"] if isinstance(args_schema, dict) else args_schema.model_fields
    )


def _both_ways(function: Any, args_schema: Any) -> Any:
    return _fields(args_schema) ^ set(inspect.signature(function).parameters)


def _one_way(function: Any, args_schema: Any) -> Any:
    return _fields(args_schema) - set(inspect.signature(function).parameters)


def _needed(function: Any) -> set[str]:
    parameters = inspect.signature(function).parameters.values()
    return {one.name for one in parameters if one.default is one.empty}


def _forgets_kwargs(function: Any, args_schema: Any) -> Any:
    parameters = set(inspect.signature(function).parameters)
    return (_fields(args_schema) - parameters) | (_needed(function) - _fields(args_schema))


def _models_only(function: Any, args_schema: Any) -> Any:
    parameters = inspect.signature(function).parameters
    if any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        return set()
    fields = set(args_schema.model_fields)
    return (fields - set(parameters)) | (_needed(function) - fields)


FITS = Exercise(
    id="structured-3",
    title="Does the schema fit the function?",
    minutes=15,
    difficulty="hard",
    task="""
        LangChain does not compare an `args_schema` with its function. Write what does it for you,
        before the first call: the set of names that will end a run with a TypeError. A name in the
        schema that the function does not take; a parameter that must be given and is not in the
        schema. The schema is a pydantic class or a JSON schema dict.
        """,
    stub='''
from collections.abc import Callable
from typing import Any


def misfits(function: Callable[..., Any], args_schema: Any) -> set[str]:
    """The names that will end a run."""
    raise NotImplementedError
''',
    hints=(
        "`inspect.signature(function).parameters` has the names; `model_fields` of the class, or "
        'the dict\'s `"properties"`, the others. The difference of two sets is `a - b`.',
        "A parameter must be given if its `default` is `inspect.Parameter.empty`.",
        "A parameter whose `kind` is `VAR_KEYWORD` takes every name. It needs no value itself.",
    ),
    checks=(
        Check(
            "a schema that fits",
            lambda lc, answer: answer(_exact, _Letter),
            "function and schema have the same names: nothing to report",
            set(),
        ),
        Check(
            "a parameter of another name",
            lambda lc, answer: answer(_renamed, _Letter),
            "two names end this run: address arrives and is not taken, email is needed and never "
            "arrives",
            {"address", "email"},
        ),
        Check(
            "a parameter with a default that the schema lacks",
            lambda lc, answer: answer(_optional_more, _Letter),
            "copy_to has a default: the model can never fill it in, but no run ends by it",
            set(),
        ),
        Check(
            "a function with `**others`",
            lambda lc, answer: answer(_anything, _Letter),
            "`**others` takes any name, so subject does not end a run, and others needs no value",
            set(),
        ),
        Check(
            "a JSON schema",
            lambda lc, answer: answer(_renamed, _JSON_LETTER),
            "a JSON schema is a dict, with the names under properties; it is no pydantic class",
            {"address", "cc", "email"},
        ),
    ),
    wrong_answers=(
        Wrong(_both_ways, "copy_to has a default"),
        Wrong(_one_way, "two names end this run"),
        Wrong(_forgets_kwargs, "takes any name"),
        Wrong(_models_only, "no pydantic class"),
    ),
)


LESSON = Lesson(
    exercises=(DESCRIBE, REMEMBER, FITS),
    quizzes=(
        Quiz(
            id="structured-1",
            question='The function `bus` has the docstring "Bus times." What is the description of '
            '`StructuredTool.from_function(bus, description="")`?',
            options=(
                Option(
                    '`"Bus times."`, since an empty text counts as no text',
                    "Article A's formula, `description or __doc__`, says so. The library asks "
                    "whether the description is None, and the empty text is not.",
                ),
                Option(
                    '`""`',
                    "It was given, so it wins, and the model reads nothing about the tool.",
                    right=True,
                ),
                Option(
                    "none: a ValueError says that a docstring is needed",
                    "The error comes when nothing was given and nothing is found. Here something "
                    "was given.",
                ),
            ),
        ),
        Quiz(
            id="structured-2",
            question="`args_schema` is a pydantic class with the field `address`. The function is "
            '`send(address, subject="(none)")`. A model sends both. What happens?',
            options=(
                Option(
                    "a ValidationError, since the schema does not know `subject`",
                    "A pydantic class drops what it does not know, unless it says "
                    '`extra="forbid"`.',
                ),
                Option(
                    "a TypeError, since schema and function do not fit",
                    "It would be one if the schema had a field that the function lacks. Here the "
                    "function has more.",
                ),
                Option(
                    "the function runs with the subject that the model sent",
                    "What is not in the schema is dropped on the way to the function.",
                ),
                Option(
                    'the function runs with `"(none)"`',
                    "The subject is dropped without a word, and the default takes its place.",
                    right=True,
                ),
            ),
        ),
    ),
)
