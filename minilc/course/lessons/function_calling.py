"""Exercises of layer 6, function_calling: what a provider is told about a tool."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Annotated, Any

from langchain_core.tools import InjectedToolArg
from pydantic import BaseModel, Field

from minilc.course.exercises import Check, Exercise, Lesson, Option, Quiz, Wrong
from minilc.course.worlds import World
from minilc.function_calling import convert_to_openai_tool


class _Place(BaseModel):
    """A place."""

    title: str = Field(description="What it is called.")
    zip: int = 0


class _Tree(BaseModel):
    """A tree."""

    children: list[_Tree]


def _weather(lc: World, **options: Any) -> Any:
    @lc.tool(**options)
    def weather(city: str, days: int = 1) -> str:
        """The weather."""
        return ""

    return weather


# --- function_calling-1: Anthropic's shape ---------------------------------------------------

_EXTRAS = {"cache_control": {"type": "ephemeral"}, "team": "sky"}
_READY = {"name": "f", "description": "F.", "input_schema": {"type": "object"}, **_EXTRAS}


def _bare(tool: Any, strict: Any = None) -> dict[str, Any]:
    function = convert_to_openai_tool(tool, strict=strict)["function"]
    result = {"name": function["name"], "input_schema": function["parameters"]}
    return result | {"description": function["description"]}


def _said(tool: Any, strict: Any = None) -> dict[str, Any]:
    return _bare(tool, strict) | ({} if strict is None else {"strict": strict})


def _ready(tool: Any) -> bool:
    return isinstance(tool, dict) and "input_schema" in tool


def _still_wrapped(tool: Any, strict: Any = None) -> dict[str, Any]:
    return convert_to_openai_tool(tool, strict=strict)


def _parameters_key(tool: Any, strict: Any = None) -> dict[str, Any]:
    return convert_to_openai_tool(tool, strict=strict)["function"]


def _without_description(tool: Any, strict: Any = None) -> dict[str, Any]:
    function = convert_to_openai_tool(tool, strict=strict)["function"]
    return {"name": function["name"], "input_schema": function["parameters"]}


def _turns_around(tool: Any, strict: Any = None) -> dict[str, Any]:
    return _said(tool, strict)


def _no_extras(tool: Any, strict: Any = None) -> dict[str, Any]:
    return dict(tool) if _ready(tool) else _said(tool, strict)


def _all_extras(tool: Any, strict: Any = None) -> dict[str, Any]:
    if _ready(tool):
        return dict(tool)
    return _said(tool, strict) | (getattr(tool, "extras", None) or {})


def _never_strict(tool: Any, strict: Any = None) -> dict[str, Any]:
    return dict(tool) if _ready(tool) else _bare(tool, strict)


ANTHROPIC = Exercise(
    id="function_calling-1",
    title="A tool for Anthropic",
    minutes=10,
    difficulty="easy",
    target="minilc.function_calling:convert_to_anthropic_tool",
    task="""
        `openai_tool` gives OpenAI's shape. Turn it into Anthropic's: `name`,
        `description`, `input_schema`, and `strict` if there is one. What is in Anthropic's shape
        already stays as it is. Of a tool's `extras`, those that Anthropic knows are sent, too.
        """,
    stub='''
from typing import Any

from minilc import convert_to_openai_tool as openai_tool

KNOWN = {
    "allowed_callers",
    "cache_control",
    "defer_loading",
    "eager_input_streaming",
    "input_examples",
}


def anthropic_tool(tool: Any, strict: bool | None = None) -> dict[str, Any]:
    """A tool as Anthropic takes it."""
    raise NotImplementedError
''',
    hints=(
        'Print `openai_tool(find, strict=True)["function"]` for any function `find`. Which of its '
        "keys has another name at Anthropic?",
        "A dict that has an `input_schema` is ready. Ask for that first.",
        '`getattr(tool, "extras", None)` may be None. What is a model or a function, has none.',
    ),
    checks=(
        Check(
            "a tool's name and schema",
            lambda lc: {
                k: v
                for k, v in lc.convert_to_anthropic_tool(_weather(lc)).items()
                if k != "description"
            },
            "Anthropic takes name, description and `input_schema` side by side: no `function` "
            "around them, and no `parameters`",
        ),
        Check(
            "a tool's description",
            lambda lc: lc.convert_to_anthropic_tool(_weather(lc)).get("description"),
            "the description is lost, and a model chooses its tools by it",
        ),
        Check(
            "a pydantic model",
            lambda lc: lc.convert_to_anthropic_tool(_Place),
            "it is no tool object, but it can be bound like one",
        ),
        Check(
            "a tool, strictly",
            lambda lc: lc.convert_to_anthropic_tool(_weather(lc), strict=True),
            "the schema was made strict, and Anthropic is not told: `strict` must stand beside it",
        ),
        Check(
            "a dict in Anthropic's shape",
            lambda lc: lc.convert_to_anthropic_tool(_READY),
            "a dict in Anthropic's shape must pass as it is: on the way through OpenAI's shape "
            "what OpenAI does not know is lost",
        ),
        Check(
            "a tool with extras",
            lambda lc: lc.convert_to_anthropic_tool(_weather(lc, extras=_EXTRAS)),
            "of the tool's `extras` exactly those that Anthropic knows must be sent",
        ),
    ),
    wrong_answers=(
        Wrong(_still_wrapped, "no `function` around them"),
        Wrong(_parameters_key, "no `parameters`"),
        Wrong(_without_description, "description is lost"),
        Wrong(_never_strict, "Anthropic is not told"),
        Wrong(_turns_around, "must pass as it is"),
        Wrong(_no_extras, "of the tool's `extras`"),
        Wrong(_all_extras, "of the tool's `extras`"),
    ),
)


# --- function_calling-2: what a pointer points to --------------------------------------------


def _told(lc: World, **kinds: Any) -> Any:
    """What is told of a tool whose parameters are of these kinds."""
    model = type("Args", (BaseModel,), {"__annotations__": kinds})

    def f(**values: Any) -> str:
        return ""

    made = lc.StructuredTool.from_function(f, description="F.", args_schema=model)
    return lc.convert_to_openai_function(made)["parameters"]["properties"]


def _target(ref: str, root: Any) -> Any:
    return functools.reduce(dict.__getitem__, ref.split("/")[1:], root)


def _walk(node: Any, inner: Callable[[Any], Any], at_ref: Callable[[str, Any], Any]) -> Any:
    """A dereferencing without its end: each wrong answer has another one."""
    if isinstance(node, list):
        return [inner(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {k: inner(v) for k, v in node.items() if k != "$ref"}
    return at_ref(node["$ref"], kept) if "$ref" in node else kept


def _nothing_replaced(node: Any, root: Any, open_refs: Any) -> Any:
    return node


def _drops_the_pointer(node: Any, root: Any, open_refs: Any) -> Any:
    return _walk(node, lambda v: _drops_the_pointer(v, root, open_refs), lambda ref, kept: kept)


def _model_wins(node: Any, root: Any, open_refs: Any) -> Any:
    def at_ref(ref: str, kept: Any) -> Any:
        if ref in open_refs:
            return kept
        return kept | _model_wins(_target(ref, root), root, open_refs | {ref})

    return _walk(node, lambda v: _model_wins(v, root, open_refs), at_ref)


def _never_ends(node: Any, root: Any, open_refs: Any) -> Any:
    def at_ref(ref: str, kept: Any) -> Any:
        return _never_ends(_target(ref, root), root, open_refs) | kept

    return _walk(node, lambda v: _never_ends(v, root, open_refs), at_ref)


def _once_each() -> Callable[..., Any]:
    """The set of the references that were met is shared by the whole schema."""

    def dereference(node: Any, root: Any, open_refs: Any, met: Any = None) -> Any:
        met = set() if met is None else met

        def at_ref(ref: str, kept: Any) -> Any:
            if ref in met:
                return kept
            met.add(ref)
            return dereference(_target(ref, root), root, open_refs, met) | kept

        return _walk(node, lambda v: dereference(v, root, open_refs, met), at_ref)

    return dereference


_Home = Annotated[_Place, Field(description="Where we live.")]

POINTERS = Exercise(
    id="function_calling-2",
    title="Drill: a description that never arrives",
    minutes=10,
    difficulty="medium",
    target="minilc.function_calling:_dereference_refs",
    task="""
        Somebody reports: *I describe my parameter `home` as "Where we live.", and the model reads
        "A place."*. The fault is in this function, which puts what a `$ref` points to in its place.
        `root` is the whole schema; `open_refs` are the references that we are inside of. Mend it.
        """,
    stub='''
import functools
from typing import Any


def dereference_refs(node: Any, root: dict, open_refs: frozenset) -> Any:
    """A copy of node in which what a $ref points to stands in its place."""
    if isinstance(node, list):
        return [dereference_refs(item, root, open_refs) for item in node]
    if not isinstance(node, dict):
        return node
    if node.get("$ref") and node["$ref"] not in open_refs:
        target = functools.reduce(dict.__getitem__, node["$ref"].split("/")[1:], root)
        return dereference_refs(target, root, open_refs | {node["$ref"]})
    return {k: dereference_refs(v, root, open_refs) for k, v in node.items() if k != "$ref"}
''',
    hints=(
        "Print `create_schema_from_function` of a function with `home: Annotated[Place, "
        'Field(description="Where we live.")]` as JSON schema. What stands beside the `$ref`?',
        "The keys beside the reference are never looked at. Which dict do they belong to?",
        "Two dicts become one with `|`. In `a | b`, which one wins?",
    ),
    checks=(
        Check(
            "a model as a parameter",
            lambda lc: _told(lc, place=_Place),
            "the model inside is not told: what the reference points to must stand in its place",
        ),
        Check(
            "a described parameter",
            lambda lc: _told(lc, home=_Home),
            "the description that stands beside the reference is lost: the model reads that of "
            "the class",
        ),
        Check(
            "a list of models",
            lambda lc: _told(lc, places=list[_Place]),
            "a reference inside a list or an object is not replaced",
        ),
        Check(
            "two parameters of one class",
            lambda lc: _told(lc, home=_Home, work=_Place),
            "the class is used twice and told once: only a reference *inside of* what it points to "
            "has to be dropped",
        ),
        Check(
            "a model in itself",
            lambda lc: _told(lc, tree=_Tree),
            "a model that holds itself must come to an end: a reference inside of what it points "
            "to is dropped",
        ),
    ),
    wrong_answers=(
        Wrong(_nothing_replaced, "must stand in its place"),
        Wrong(_drops_the_pointer, "must stand in its place"),
        Wrong(_model_wins, "beside the reference is lost"),
        Wrong(_once_each(), "told once"),
        Wrong(_never_ends, "must come to an end"),
    ),
)


# --- function_calling-3: what nobody described -----------------------------------------------


def _missing(lc: World, answer: Any, **kinds: Any) -> Any:
    model = type("Args", (BaseModel,), {"__annotations__": kinds})

    def f(**values: Any) -> str:
        return ""

    return answer(lc.StructuredTool.from_function(f, description="F.", args_schema=model))


def _hidden(lc: World, answer: Any) -> Any:
    @lc.tool
    def f(
        city: str, days: Annotated[int, "How many."], user: Annotated[str, InjectedToolArg]
    ) -> str:
        """F."""
        return ""

    return answer(f)


def _properties(tool: Any) -> dict[str, Any]:
    from langchain_core.utils.function_calling import convert_to_openai_tool as convert

    return convert(tool)["function"]["parameters"]["properties"]


def _undescribed_fields(tool: Any) -> list[str]:
    fields = tool.args_schema.model_fields
    return [name for name, field in fields.items() if not field.description]


def _top_level(tool: Any) -> list[str]:
    return [name for name, one in _properties(tool).items() if "description" not in one]


def _walked(properties: Any, lists: bool, prefix: str = "", dotted: bool = True) -> list[str]:
    found = []
    for name, one in properties.items():
        if "description" not in one:
            found.append(prefix + name)
        inside = one.get("items", {}) if lists and one.get("type") == "array" else one
        deeper = f"{prefix}{name}." if dotted else ""
        found += _walked(inside.get("properties", {}), lists, deeper, dotted)
    return found


def _without_lists(tool: Any) -> list[str]:
    return _walked(_properties(tool), lists=False)


def _without_the_way(tool: Any) -> list[str]:
    return _walked(_properties(tool), lists=True, dotted=False)


UNDESCRIBED = Exercise(
    id="function_calling-3",
    title="What nobody described",
    minutes=10,
    difficulty="medium",
    task="""
        Write a check for your own tools. It returns the names of all parameters that a model reads
        without a description, in their order. A parameter inside another one is written with a
        dot: `place.zip`. Also look into lists of models: `stops.zip`.
        """,
    stub='''
def undescribed(tool) -> list[str]:
    """The parameters that the model reads without a description."""
    raise NotImplementedError
''',
    hints=(
        "Do not look at the function. Look at what is sent: "
        '`convert_to_openai_tool(tool)["function"]["parameters"]["properties"]`.',
        "Each property is a schema of its own. If it has `properties`, do the same again, with "
        "its name in front.",
        "A list's schema has `items`, and that is again a schema.",
    ),
    checks=(
        Check(
            "two parameters, one described, and an injected one",
            _hidden,
            "an injected argument is not sent, so the model does not read it: look at the JSON "
            "that is sent, not at the function's fields",
            ["city"],
        ),
        Check(
            "a parameter inside another",
            lambda lc, answer: _missing(lc, answer, place=_Place, day=str),
            "inside of a parameter that is an object there are more, and the model needs to read "
            "of them, too, by the whole way: `place.zip`",
            ["place.zip", "day"],
        ),
        Check(
            "a list of models",
            lambda lc, answer: _missing(lc, answer, stops=list[_Place]),
            "the parameters in a list's items are missing",
            ["stops", "stops.zip"],
        ),
    ),
    wrong_answers=(
        Wrong(_undescribed_fields, "an injected argument is not sent"),
        Wrong(_top_level, "by the whole way"),
        Wrong(_without_the_way, "by the whole way"),
        Wrong(_without_lists, "in a list's items"),
    ),
)


LESSON = Lesson(
    exercises=(ANTHROPIC, POINTERS, UNDESCRIBED),
    quizzes=(
        Quiz(
            id="function_calling-1",
            question="A tool has the parameter `payload: dict`. What does a model know of it?",
            options=(
                Option(
                    "the keys that the function reads from it, since LangChain looks at its code",
                    "LangChain looks at signature and docstring. Nobody reads the body.",
                ),
                Option(
                    "that it is an object, and not one key",
                    'All that is sent is `{"type": "object", "additionalProperties": true}`. The '
                    "model has to invent the keys.",
                    right=True,
                ),
                Option(
                    "nothing: such a parameter is left out of the schema, as injected ones are",
                    "It is in the schema, and it is required.",
                ),
            ),
        ),
        Quiz(
            id="function_calling-2",
            question="A tool is called `搜索 工具`. Who objects, and when?",
            options=(
                Option(
                    "`tool`, when the function is decorated: a name must be an identifier",
                    "No name is checked there. Any text will do.",
                ),
                Option(
                    "`bind_tools`, when the name is put into OpenAI's shape",
                    "It converts what it is given, and does not look at names.",
                ),
                Option(
                    "the provider's server, at the first request",
                    "OpenAI takes letters, digits, `_` and `-`. Until then all goes well, also in "
                    "tests with a scripted model.",
                    right=True,
                ),
                Option(
                    "nobody, since names are for people only",
                    "The model asks for a tool by its name, so a provider needs names that it can "
                    "write.",
                ),
            ),
        ),
    ),
)
