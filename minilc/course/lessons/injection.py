"""Exercises of layer 11, injection: what a tool gets that the model may not fill in."""

# Without `from __future__ import annotations`: a tool that is defined inside a function has
# annotations that name the function's own locals, and such names resolve only at once.
# mypy: disable-error-code="name-defined, valid-type"

import inspect
from collections.abc import Callable
from copy import deepcopy
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel

from minilc.course.cases.support import asks, by_hand, call
from minilc.course.exercises import Check, Exercise, Lesson, Option, Quiz, Wrong
from minilc.course.worlds import World

# --- injection-1: find the mark --------------------------------------------------------------


def _run(lc: World, tool: Any, **args: Any) -> Any:
    """What a ToolNode makes of a call of the tool; the state knows a user and a list of tags."""
    given = {"messages": [asks(lc, call(tool.name, args))], "user": "小明", "tags": ["a"]}
    return lc.ToolNode([tool]).invoke(given, by_hand(lc, store={"open": 9}))["messages"][0].content


def _field(lc: World) -> Any:
    @lc.tool
    def orders(user: Annotated[str, lc.InjectedState("user")]) -> str:
        """Orders."""
        return user

    return _run(lc, orders)


def _without_brackets(lc: World) -> Any:
    @lc.tool
    def orders(state: Annotated[dict, lc.InjectedState]) -> str:
        """Orders."""
        return state["user"]

    return _run(lc, orders)


def _second(lc: World) -> Any:
    @lc.tool
    def orders(user: Annotated[str, "the user who is logged in", lc.InjectedState("user")]) -> str:
        """Orders."""
        return user

    return _run(lc, orders)


def _by_type(lc: World) -> Any:
    @lc.tool
    def plain(rt: lc.ToolRuntime) -> str:
        """By its type."""
        return rt.tool_call_id

    @lc.tool
    def typed(rt: lc.ToolRuntime[Any, Any]) -> str:
        """By its type, with types of its own."""
        return rt.tool_call_id

    return [_run(lc, plain), _run(lc, typed)]


def _in_a_union(lc: World) -> Any:
    @lc.tool
    def optional(rt: lc.ToolRuntime | None = None) -> str:
        """In a union."""
        return type(rt).__name__

    return _run(lc, optional)


def _other_kinds(lc: World) -> Any:
    @lc.tool
    def both(
        tags: Annotated[list[str], "what it is about"],
        user: Annotated[str, lc.InjectedState("user")],
        store: Annotated[Any, lc.InjectedStore()],
    ) -> str:
        """An ordinary argument, a field and the store."""
        return f"{tags} {user} {store}"

    return _run(lc, both, tags=["x"])


def _is(mark: Any, kind: Any) -> bool:
    return isinstance(mark, kind) or (isinstance(mark, type) and issubclass(mark, kind))


def _instances_alone(type_: Any, kind: Any) -> Any:
    marks = [get_origin(type_), *get_args(type_)]
    classes = [one for one in (type_, get_origin(type_)) if _is(one, kind)]
    return next((one for one in marks if isinstance(one, kind)), None) or next(iter(classes), None)


def _first_alone(type_: Any, kind: Any) -> Any:
    if _is(get_origin(type_) or type_, kind):
        return get_origin(type_) or type_
    marks = getattr(type_, "__metadata__", ())[:1]
    return next((one for one in marks if _is(one, kind)), None)


def _annotated_alone(type_: Any, kind: Any) -> Any:
    return next((one for one in getattr(type_, "__metadata__", ()) if _is(one, kind)), None)


def _no_unions(type_: Any, kind: Any) -> Any:
    if _is(get_origin(type_) or type_, kind):
        return get_origin(type_) or type_
    return _annotated_alone(type_, kind)


def _of_any_kind(type_: Any, kind: Any) -> Any:
    if _is(get_origin(type_) or type_, kind):
        return get_origin(type_) or type_
    parts = (_of_any_kind(part, kind) for part in get_args(type_))
    return next(iter(getattr(type_, "__metadata__", ())[-1:]), None) or next(
        filter(None, parts), None
    )


def _says_yes(type_: Any, kind: Any) -> Any:
    marks = [type_, get_origin(type_), *get_args(type_)]
    return any(_is(one, kind) for one in marks) or None


FIND = Exercise(
    id="injection-1",
    title="Find the mark",
    minutes=15,
    difficulty="hard",
    target="minilc.injection:_get_injection_from_type",
    task="""
        `type_` is the annotation of a parameter. `kind` is a class of marks, such as
        `InjectedState`, or a union of such classes. Return the first mark of that kind: an
        instance (`InjectedState("user")`) or the class itself, if it stands there without
        brackets. Without one, return None. `ToolRuntime` needs no `Annotated`: there the type is
        the mark, also as `ToolRuntime[Context]`, and also in a union.
        """,
    stub='''
from typing import Any, get_args, get_origin


def get_injection_from_type(type_: Any, kind: Any) -> Any:
    """The first mark of a kind in an annotation; else None."""
    raise NotImplementedError
''',
    hints=(
        "Print `get_origin` and `get_args` of `Annotated[str, 'a', 1]`, of `dict[str, int]`, and "
        "of `int | None`.",
        "Something is of the kind if it is an instance of it, or a class below it. A union will do "
        "as a kind. As a mark `issubclass` takes classes only: ask `isinstance(mark, type)` first.",
        "First look at the annotation itself, or its origin. Then look at each of its parts in "
        "the same way: the function may call itself.",
    ),
    checks=(
        Check(
            "a field of the state",
            _field,
            "the parameter does not get its field: the mark itself is needed, because it knows "
            "the field's name",
        ),
        Check(
            "a mark without brackets",
            _without_brackets,
            "`Annotated[dict, InjectedState]`, without brackets, is not found: there the class is "
            "the mark",
        ),
        Check(
            "a mark behind a description",
            _second,
            "the mark need not be the first thing in `Annotated`",
        ),
        Check(
            "ToolRuntime, and ToolRuntime[Any, Any]",
            _by_type,
            "a ToolRuntime has no `Annotated`: its type is the mark, and with types of its own "
            "its origin",
        ),
        Check(
            "ToolRuntime | None",
            _in_a_union,
            "the mark is not found inside a union",
        ),
        Check(
            "an ordinary argument, a field and the store in one tool",
            _other_kinds,
            "an ordinary argument was taken for one to inject: in `Annotated` may stand anything, "
            "and only what is of the kind counts",
        ),
    ),
    wrong_answers=(
        Wrong(_says_yes, "knows the field's name"),
        Wrong(_instances_alone, "without brackets"),
        Wrong(_first_alone, "need not be the first"),
        Wrong(_annotated_alone, "its type is the mark"),
        Wrong(_no_unions, "inside a union"),
        Wrong(_of_any_kind, "an ordinary argument"),
    ),
)


# --- injection-2: a loop of one's own --------------------------------------------------------

Arguments = Callable[[dict[str, Any], str], Any]


def _shop(lc: World) -> Any:
    @lc.tool
    def orders(shop: str, user_id: Annotated[str, lc.InjectedToolArg]) -> str:
        """The orders of the current user."""
        return f"{shop}: {user_id}"

    return orders


def _looped(lc: World, arguments: Arguments, **args: Any) -> Any:
    """What the loop's tool returns for 小明."""
    given = call("orders", {"shop": "北京", **args})
    return _shop(lc).invoke({**given, "args": arguments(given, "小明")}).content


def _afterwards(lc: World, arguments: Arguments) -> Any:
    given = call("orders", {"shop": "北京", "user_id": "小红"})
    before = deepcopy(given)
    arguments(given, "小明")
    return given == before


def _forged_wins(call: dict[str, Any], user_id: str) -> Any:
    return {"user_id": user_id, **call["args"]}


def _only_if_missing(call: dict[str, Any], user_id: str) -> Any:
    args = dict(call["args"])
    args.setdefault("user_id", user_id)
    return args


def _user_alone(call: dict[str, Any], user_id: str) -> Any:
    return {"user_id": user_id}


def _struck_out(call: dict[str, Any], user_id: str) -> Any:
    args = {name: value for name, value in call["args"].items() if name != "user_id"}
    return args if "user_id" in call["args"] else {**args, "user_id": user_id}


def _in_the_call(call: dict[str, Any], user_id: str) -> Any:
    call["args"]["user_id"] = user_id
    return call["args"]


LOOP = Exercise(
    id="injection-2",
    title="Drill: a loop that lets the model be anybody",
    minutes=5,
    difficulty="easy",
    task="""
        Somebody has a `while` loop in the place of a graph, and reports: *小明 got the orders of
        小红. The tool's `user_id` is marked with `InjectedToolArg`, so no model can see it; our
        loop fills it in.* The loop runs `tool.invoke({**call, "args": arguments(call, user_id)})`.
        Mend `arguments`.
        """,
    stub='''
def arguments(call: dict, user_id: str) -> dict:
    """The arguments of the call, with the user who is logged in."""
    return {"user_id": user_id, **call["args"]}
''',
    hints=(
        "What does Python make of `{'a': 1, **{'a': 2}}`?",
        "The mark hides the name. It does not keep a model from writing it.",
    ),
    checks=(
        Check(
            "a call without user",
            _looped,
            "the tool does not get what it needs: the model's own arguments, and the user",
            "北京: 小明",
        ),
        Check(
            "a call with a forged user",
            lambda lc, arguments: _looped(lc, arguments, user_id="小红"),
            "the model wrote a user_id, and it counted: the true one must win",
            "北京: 小明",
        ),
        Check(
            "the call afterwards",
            _afterwards,
            "the model's own call was changed: it stands in the history, and with the next "
            "request the model reads the user's id",
            True,
        ),
    ),
    wrong_answers=(
        Wrong(_forged_wins, "the true one must win"),
        Wrong(_only_if_missing, "the true one must win"),
        Wrong(_user_alone, "the model's own arguments"),
        Wrong(_in_the_call, "the model's own call was changed"),
    ),
)


# --- injection-3: what the model could fill in -----------------------------------------------

PRIVATE = ["user_id", "tenant", "auth_token", "state", "runtime"]
Exposed = Callable[[list[Any], list[str]], Any]


def _tools(lc: World) -> list[Any]:
    @lc.tool
    def orders(user_id: str, shop: str, tenant: str = "main") -> str:
        """The orders of a user."""
        return ""

    @lc.tool
    def weather(city: str) -> str:
        """The weather."""
        return ""

    return [orders, weather]


def _injected(lc: World) -> list[Any]:
    @lc.tool
    def orders(
        shop: str,
        user_id: Annotated[str, lc.InjectedState("user_id")],
        state: Annotated[dict, lc.InjectedState],
        runtime: lc.ToolRuntime,
    ) -> str:
        """The orders of the current user."""
        return ""

    return [orders]


def _half_hidden(lc: World) -> list[Any]:
    @lc.tool
    def orders(state: dict, runtime) -> str:  # type: ignore[no-untyped-def]  # that is the point
        """No mark, and no type."""
        return ""

    return [orders]


def _by_schema(lc: World) -> list[Any]:
    class Args(BaseModel):
        auth_token: str

    schema = {"type": "object", "properties": {"user_id": {"type": "string"}}}
    options = {"name": "remote", "description": "A remote tool.", "args_schema": schema}
    local = lc.tool("local", args_schema=Args)(_local)
    return [local, lc.StructuredTool.from_function(lambda **args: "", **options)]


def _local(**args: Any) -> str:
    """A local tool."""
    return ""


def _all_fields(tools: Any, private: Any) -> Any:
    return [
        f"{t.name}.{name}" for t in tools for name in t.args_schema.model_fields if name in private
    ]


def _by_signature(tools: Any, private: Any) -> Any:
    hidden = ("Annotated", "ToolRuntime")
    return [
        f"{t.name}.{p.name}"
        for t in tools
        for p in inspect.signature(t.func).parameters.values()
        if p.name in private and not any(word in str(p.annotation) for word in hidden)
    ]


def _names_alone(tools: Any, private: Any) -> Any:
    return [name for t in tools for name in t.args if name in private]


def _models_alone(tools: Any, private: Any) -> Any:
    fields = [(t.name, t.tool_call_schema) for t in tools if not isinstance(t.args_schema, dict)]
    return [f"{n}.{name}" for n, model in fields for name in model.model_fields if name in private]


def _first_found(tools: Any, private: Any) -> Any:
    found = []
    for tool in tools:
        name = next((one for one in tool.args if one in private), None)
        found += [f"{tool.name}.{name}"] if name else []
    return found


def _no_blanks(tools: Any, private: Any) -> Any:
    return [
        f"{t.name}.{name}"
        for t in tools
        for name, schema in t.args.items()
        if name in private and name != "runtime"
    ]


EXPOSED = Exercise(
    id="injection-3",
    title="What could a model fill in?",
    minutes=15,
    difficulty="medium",
    task="""
        Write a check for your own tools. Of a list of tools, return each argument whose name is
        in `private` and which a model may fill in, as `"tool.argument"`, in the order of the tools
        and of their arguments. What the model cannot see is fine.
        """,
    stub='''
def exposed(tools: list, private: list[str]) -> list[str]:
    """The private arguments that a model may fill in."""
    raise NotImplementedError
''',
    hints=(
        "`args_schema` has the injected arguments, too. Which schema is the model's?",
        "A schema may be a JSON schema, a dict: then there are no `model_fields`.",
        "`convert_to_openai_tool` (layer 6) makes what the model is sent, whatever the schema is. "
        "Its properties are what you look for.",
    ),
    checks=(
        Check(
            "two private arguments and a harmless tool",
            lambda lc, exposed: exposed(_tools(lc), PRIVATE),
            "each private argument that the model is shown must be named, with its tool",
            ["orders.user_id", "orders.tenant"],
        ),
        Check(
            "the same, injected",
            lambda lc, exposed: exposed(_injected(lc), PRIVATE),
            "an injected argument is reported, and the model cannot see it",
            [],
        ),
        Check(
            "without a mark, without a type",
            lambda lc, exposed: exposed(_half_hidden(lc), PRIVATE),
            "`state: dict` and a `runtime` without type look like the system's own, and the model "
            "sees them all the same",
            ["orders.state", "orders.runtime"],
        ),
        Check(
            "schemas that were written by hand",
            lambda lc, exposed: exposed(_by_schema(lc), PRIVATE),
            "the schema counts, not the function; and it may be a dict, a JSON schema",
            ["local.auth_token", "remote.user_id"],
        ),
    ),
    wrong_answers=(
        Wrong(_names_alone, "with its tool"),
        Wrong(_first_found, "each private argument"),
        Wrong(_all_fields, "the model cannot see it"),
        Wrong(_no_blanks, "look like the system's own"),
        Wrong(_by_signature, "the schema counts"),
        Wrong(_models_alone, "it may be a dict"),
    ),
)


LESSON = Lesson(
    exercises=(FIND, LOOP, EXPOSED),
    quizzes=(
        Quiz(
            id="injection-1",
            question="A tool has `place: Annotated[str, InjectedState('branch')] = 'main'`. The "
            "state has no `branch`, and the model sends `place='vault'`. What does the tool get "
            "from a ToolNode?",
            options=(
                Option(
                    "`'vault'`, since nothing is there to replace it",
                    "What the model writes under a marked name is struck out first, whether there "
                    "is a true value or not.",
                ),
                Option(
                    "`'main'`",
                    "The forged value is struck out, the state has nothing, the default is left.",
                    right=True,
                ),
                Option(
                    "nothing: a KeyError ends the run, since the field is missing",
                    "It would without the default. With one the parameter may go without.",
                ),
            ),
        ),
        Quiz(
            id="injection-2",
            question="Where should the id of the user who is asking come from?",
            options=(
                Option(
                    "from an argument that the model fills in, with a strict description",
                    "The model writes what it was told, and users and web pages tell it things.",
                ),
                Option(
                    "from the system prompt, which the user cannot change",
                    "A prompt is text for the model; the argument would still be the model's.",
                ),
                Option(
                    "from a field of the state, through InjectedState",
                    "The model cannot fill it in, but any tool's Command can write it.",
                ),
                Option(
                    "from the context of the run, through ToolRuntime",
                    "The caller hands it over with each run, and no tool can write it.",
                    right=True,
                ),
            ),
        ),
    ),
)
