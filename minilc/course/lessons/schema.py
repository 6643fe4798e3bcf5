"""Exercises of layer 2, schema: what a model sees of a function's signature and docstring."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any, get_args, get_type_hints

from minilc.course.exercises import Check, Exercise, Lesson, Option, Quiz, Wrong
from minilc.course.worlds import World

# --- schema-1: the Args section --------------------------------------------------------------

SHORT = """Ask for the weather.

Args:
    city: Where.
"""
COLON = """Ask for the weather.

Args:
    city: Where, for example: Oslo.
    days: How many.
"""
LONG = """Ask for the weather.

Args:
    city: Where you are
        or want to be.
    days: How many.
"""
TYPED = """Ask for the weather.

Args:
    city (str): Where.
    days (int): How many.
"""
MORE = """Ask for the weather.

Args:
    city: Where.

Returns:
    text: The weather.
"""


def _told(docstring: str) -> Callable[[World], Any]:
    """What the model reads of each argument, if the docstring is parsed."""

    def run(lc: World) -> Any:
        def weather(city: str, days: int = 1) -> str:
            return ""

        weather.__doc__ = docstring
        args = lc.tool(parse_docstring=True)(weather).args
        return {name: shown.get("description") for name, shown in args.items()}

    return run


def _as_parser(answer: Callable[..., Any]) -> Callable[..., Any]:
    def parse_google_docstring(
        docstring: str, args: Any, *, error_on_invalid_docstring: bool = False
    ) -> tuple[str, dict[str, str]]:
        return docstring.partition("\n\n")[0], answer(docstring)

    return parse_google_docstring


def _lines(docstring: str) -> list[str]:
    return [line for line in docstring.partition("Args:\n")[2].splitlines() if line.strip()]


def _ends_too_late(docstring: str) -> dict[str, str]:
    described: dict[str, str] = {}
    for line in _lines(docstring):
        head, colon, text = line.partition(":")
        if colon and not line.startswith("     "):
            described[name := head.split()[0]] = text.strip()
        else:
            described[name] += f" {line.strip()}"
    return described


def _whole_lines(docstring: str) -> dict[str, str]:
    return {line.split(":")[0].strip(): line.strip() for line in _lines(docstring)}


def _last_colon(docstring: str) -> dict[str, str]:
    parts = [line.split(":") for line in _lines(docstring)]
    return {part[0].strip(): part[-1].strip() for part in parts}


def _one_line_each(docstring: str) -> dict[str, str]:
    parts = [line.partition(":") for line in _lines(docstring) if ":" in line]
    return {name.strip(): text.strip() for name, _, text in parts}


def _type_in_name(docstring: str) -> dict[str, str]:
    described: dict[str, str] = {}
    for line in _lines(docstring.partition("\n\nReturns")[0]):
        if not line.startswith("     "):
            name, _, text = line.partition(":")
            described[name.strip()] = text.strip()
        else:
            described[list(described)[-1]] += f" {line.strip()}"
    return described


ARGS = Exercise(
    id="schema-1",
    title="Read the Args section",
    minutes=12,
    difficulty="medium",
    target="minilc.schema:_parse_google_docstring",
    fit=_as_parser,
    task="""
        With `parse_docstring=True` the docstring's `Args:` section describes the parameters. Write
        the part that reads it: a dict, from each name to its text. The docstring comes with its
        indentation cleaned. `city (str): Where.` describes `city`. A line that is indented deeper
        goes on with the text before it. The section ends at an empty line.
        """,
    stub='''
def arg_descriptions(docstring: str) -> dict[str, str]:
    """What the Args section says of each argument."""
    raise NotImplementedError
''',
    hints=(
        "Cut out the section first: `docstring.partition(...)` with the text before it, and again "
        "with an empty line.",
        "A text may hold colons as well. Only the first one of a line ends the name.",
        "How deep is the first line indented? Every line that is deeper belongs to the argument "
        "above it; join them with one blank.",
    ),
    checks=(
        Check(
            "one argument",
            _told(SHORT),
            "the description is the text after the name and its colon, without blanks around it",
        ),
        Check(
            "a text with a colon",
            _told(COLON),
            "a description may hold a colon: only the first one of the line belongs to the name",
        ),
        Check(
            "a text of two lines",
            _told(LONG),
            "a description may be longer than a line: what is indented deeper belongs to it",
        ),
        Check(
            "a type in parentheses",
            _told(TYPED),
            "`city (str)` is the parameter `city`; no parameter is called `city (str)`",
        ),
        Check(
            "a section after it",
            _told(MORE),
            "what stands under `Returns:` is no argument: the section ends at the empty line",
        ),
    ),
    wrong_answers=(
        Wrong(_whole_lines, "after the name and its colon"),
        Wrong(_last_colon, "only the first one"),
        Wrong(_one_line_each, "longer than a line"),
        Wrong(_type_in_name, "no parameter is called"),
        Wrong(_ends_too_late, "ends at the empty line"),
    ),
)


# --- schema-2: what the model sees -----------------------------------------------------------


def _shown(of: Callable[[World], Any]) -> Callable[..., Any]:
    """What the answer says of a function of the world `lc`."""
    return lambda lc, visible: list(visible(of(lc), lc.InjectedToolArg))


def _unmarked(lc: World) -> Any:
    def weather(city: str, days: Annotated[int, "How many"], anything=None):  # type: ignore[no-untyped-def]
        """Ask."""

    return weather


def _class(lc: World) -> Any:
    def weather(city: str, user: Annotated[str, lc.InjectedToolArg]) -> None:
        """Ask."""

    return weather


def _instance(lc: World) -> Any:
    def weather(city: str, user: Annotated[str, lc.InjectedToolArg()]) -> None:
        """Ask."""

    return weather


def _subclass(lc: World) -> Any:
    def weather(
        city: str,
        call_id: Annotated[str, lc.InjectedToolCallId],
        state: Annotated[dict[str, Any], lc.InjectedState("user")],
    ) -> None:
        """Ask."""

    return weather


def _behind_text(lc: World) -> Any:
    def weather(city: str, user: Annotated[str, "the user's id", lc.InjectedToolArg]) -> None:
        """Ask."""

    return weather


def _postponed(lc: World) -> Any:
    # A module of its own, so that the mark can be found among its globals.
    module = {"Annotated": Annotated, "Mark": lc.InjectedToolArg}
    exec("def weather(city: 'str', user: 'Annotated[str, Mark]'): ...", module)
    return module["weather"]


def _names(function: Any) -> list[str]:
    return list(inspect.signature(function).parameters)


def _everything(function: Any, mark: type) -> list[str]:
    return _names(function)


def _no_annotated(function: Any, mark: type) -> list[str]:
    hints = get_type_hints(function, include_extras=True)
    return [name for name in _names(function) if not hasattr(hints.get(name), "__metadata__")]


def _extras(function: Any, name: str, resolved: bool = True) -> tuple[Any, ...]:
    hints = get_type_hints(function, include_extras=True) if resolved else function.__annotations__
    return get_args(hints.get(name))[1:]


def _the_class_alone(function: Any, mark: type) -> list[str]:
    return [name for name in _names(function) if mark not in _extras(function, name)]


def _no_subclass(function: Any, mark: type) -> list[str]:
    def marked(name: str) -> bool:
        extras = _extras(function, name)
        return mark in extras or any(type(extra) is mark for extra in extras)

    return [name for name in _names(function) if not marked(name)]


def _is_mark(extra: Any, mark: type) -> bool:
    return isinstance(extra, mark) or (isinstance(extra, type) and issubclass(extra, mark))


def _first_extra(function: Any, mark: type) -> list[str]:
    def marked(name: str) -> bool:
        return any(_is_mark(extra, mark) for extra in _extras(function, name)[:1])

    return [name for name in _names(function) if not marked(name)]


def _raw_annotations(function: Any, mark: type) -> list[str]:
    def marked(name: str) -> bool:
        return any(_is_mark(extra, mark) for extra in _extras(function, name, resolved=False))

    return [name for name in _names(function) if not marked(name)]


VISIBLE = Exercise(
    id="schema-2",
    title="What the model sees",
    minutes=10,
    difficulty="medium",
    task="""
        Write down the names of the parameters that a model sees, in order: all that carry no mark.
        `mark` is `InjectedToolArg`. It may stand in `Annotated` as a class or as an instance, or
        it may be a subclass, as `InjectedToolCallId` is.
        """,
    stub='''
from collections.abc import Callable
from typing import Any


def visible(function: Callable[..., Any], mark: type) -> list[str]:
    """The names of the parameters that a model sees."""
    raise NotImplementedError
''',
    hints=(
        "`typing.get_type_hints(function, include_extras=True)` gives the annotations, also those "
        "that are written as texts. Not every parameter has one.",
        "`typing.get_args` takes `Annotated[str, a, b]` apart: `(str, a, b)`.",
        "`isinstance` for instances, `issubclass` for classes; ask `isinstance(one, type)` first.",
    ),
    checks=(
        Check(
            "a function without marks",
            _shown(_unmarked),
            "a parameter without a mark is hidden: a text in `Annotated` is a description, and no "
            "annotation is no mark",
            ["city", "days", "anything"],
        ),
        Check(
            "the class as a mark",
            _shown(_class),
            "a marked parameter is shown: a model would fill in a value that only the program may "
            "give",
            ["city"],
        ),
        Check(
            "an instance as a mark",
            _shown(_instance),
            "`InjectedToolArg()`, with parentheses, is a mark too",
            ["city"],
        ),
        Check(
            "marks of a subclass",
            _shown(_subclass),
            "`InjectedToolCallId` and `InjectedState` are marks: they are subclasses of "
            "`InjectedToolArg`",
            ["city"],
        ),
        Check(
            "a mark behind a text",
            _shown(_behind_text),
            "the mark may stand anywhere in `Annotated`, not only in the first place",
            ["city"],
        ),
        Check(
            "annotations that are texts",
            _shown(_postponed),
            "with `from __future__ import annotations` every annotation is a text: it has to be "
            "looked up first",
            ["city"],
        ),
    ),
    wrong_answers=(
        Wrong(_everything, "a marked parameter is shown"),
        Wrong(_no_annotated, "is a description"),
        Wrong(_the_class_alone, "with parentheses"),
        Wrong(_no_subclass, "they are subclasses"),
        Wrong(_first_extra, "anywhere in `Annotated`"),
        Wrong(_raw_annotations, "looked up first"),
    ),
)


# --- schema-3: a drill -----------------------------------------------------------------------


def _with_none(order_id: str, after: str | None = None) -> None:
    """Ask."""


def _nullable(order_id: str | None) -> None:
    """Ask."""


def _empty_values(order_id: str, page: int = 0, note: str = "", old: bool = False) -> None:
    """Ask."""


def _nothing(page: int = 1) -> None:
    """Ask."""


def _required(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda lc, required: list(required(function))


def _parameters(function: Any) -> list[Any]:
    return list(inspect.signature(function).parameters.values())


def _by_null(function: Any) -> list[str]:
    hints = get_type_hints(function)
    return [name for name in _names(function) if type(None) not in get_args(hints[name])]


def _by_truth(function: Any) -> list[str]:
    empty = inspect.Parameter.empty
    parameters = _parameters(function)
    return [one.name for one in parameters if one.default is empty or one.default in (0, "")]


def _never(function: Any) -> list[str]:
    return []


def _first_alone(function: Any) -> list[str]:
    return _names(function)[:1]


REQUIRED = Exercise(
    id="schema-3",
    title="Drill: a date that nobody asked for",
    minutes=8,
    difficulty="easy",
    task="""
        Somebody reports: *my tool has the parameter `after: str | None = None`. The model makes up
        a date each time, as if it had to send one.* The fault is in this function, which lists the
        required parameters. Find it and mend it.
        """,
    stub='''
import inspect
from collections.abc import Callable
from typing import Any


def required(function: Callable[..., Any]) -> list[str]:
    """The names of the parameters that a model must send."""
    names = []
    for name, parameter in inspect.signature(function).parameters.items():
        default = None if parameter.default is parameter.empty else parameter.default
        if default is None:
            names.append(name)
    return names
''',
    hints=(
        "Which two kinds of parameters look the same in the variable `default`?",
        "`None` is a default like any other. What does `inspect` use for *there is none*?",
    ),
    checks=(
        Check(
            "a parameter without a default",
            lambda lc, required: "order_id" in required(_with_none),
            "a parameter without a default must be sent: without it the function cannot run",
            True,
        ),
        Check(
            "the default None",
            _required(_with_none),
            "`None` is a default: the model may leave the parameter out, and must be told so",
            ["order_id"],
        ),
        Check(
            "null allowed, no default",
            _required(_nullable),
            "that null is allowed does not make a parameter optional: only a default does",
            ["order_id"],
        ),
        Check(
            "defaults that are empty",
            _required(_empty_values),
            "0, an empty text and False are defaults too",
            ["order_id"],
        ),
        Check(
            "nothing is required",
            _required(_nothing),
            "a function may need nothing at all",
            [],
        ),
    ),
    wrong_answers=(
        Wrong(_never, "must be sent"),
        Wrong(_by_null, "only a default does"),
        Wrong(_by_truth, "are defaults too"),
        Wrong(_first_alone, "need nothing"),
    ),
)


LESSON = Lesson(
    exercises=(ARGS, VISIBLE, REQUIRED),
    quizzes=(
        Quiz(
            id="schema-1",
            question="A tool is `def search(city: Optional[str])`. What may the model send?",
            options=(
                Option(
                    "`{}`, since `Optional` makes the argument optional",
                    "The check refuses it: *Field required*. Only a default lets an argument be "
                    "left out.",
                ),
                Option(
                    "`{'city': None}`",
                    "`Optional` allows null. The argument itself must be there.",
                    right=True,
                ),
                Option(
                    "`{'city': {'name': '北京'}}`, since nothing is known of its type",
                    "That is so for a parameter without annotation. This one takes a text or null.",
                ),
            ),
        ),
        Quiz(
            id="schema-2",
            question="A docstring has an `Args:` section, and the tool is made by a plain `@tool`. "
            "What does the model read of it?",
            options=(
                Option(
                    "nothing: the section is cut off",
                    "Nothing is cut. It is cut, and moved to the parameters, with "
                    "`parse_docstring=True`.",
                ),
                Option(
                    "each parameter's text, as that parameter's description",
                    "That needs `parse_docstring=True`. By itself `@tool` does not read the "
                    "docstring's parts.",
                ),
                Option(
                    "the section, as a part of the tool's description",
                    "The whole docstring becomes the description. The parameters themselves have "
                    "none.",
                    right=True,
                ),
                Option(
                    "an error, because the section needs `parse_docstring`",
                    "An error comes the other way round: with `parse_docstring=True`, and a "
                    "docstring that does not fit.",
                ),
            ),
        ),
    ),
)
