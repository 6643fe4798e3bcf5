"""Random signatures, calls, histories and graphs: the same outcome in both worlds.

Each property has two runs: a short one with the same examples every time, and a long one under the
marker `long` with new ones. What is drawn is plain data (a source text, dicts, lists), so that a
failing example can be read and pasted.

Without `from __future__ import annotations`, so that annotations may name a world's classes.
"""

import asyncio
import enum
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Optional, Union

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from minilc.course.behaviours import active
from minilc.course.twin import twin
from minilc.course.worlds import World


def properties(
    strategy: st.SearchStrategy[Any], check: Callable[[Any], None], short: int, long: int
) -> tuple[Any, Any]:
    """The two runs of a property: `short` fixed examples, and `long` new ones under the marker."""

    @settings(max_examples=short, derandomize=True, deadline=None, database=None)
    @given(strategy)
    def fixed(example: Any) -> None:
        check(example)

    @pytest.mark.long
    @settings(max_examples=long, deadline=None, database=None, print_blob=True)
    @given(strategy)
    def fresh(example: Any) -> None:
        check(example)

    return fixed, fresh


def attempt(run: Callable[[], Any]) -> Any:
    """What comes out, or the error as a value, so that one example may have several outcomes."""
    try:
        return run()
    except Exception as error:
        return error


# Signatures: what a tool makes of any function, and of any arguments


class Unit(enum.Enum):
    C = "celsius"
    F = "fahrenheit"


class Place(BaseModel):
    """Where."""

    city: str
    days: int = Field(default=1, ge=0)


class Span(TypedDict):
    """From when, and how long."""

    start: str
    days: int


@dataclass
class Point:
    x: float
    y: float = 0.0


NAMES = {
    "Annotated": Annotated,
    "Any": Any,
    "Field": Field,
    "Literal": Literal,
    "Optional": Optional,
    "Place": Place,
    "Point": Point,
    "Span": Span,
    "Union": Union,
    "Unit": Unit,
}

# A type as it is written, a default that fits, and arguments that fit.
Typed = tuple[str, str, list[Any]]
ATOMS: list[Typed] = [
    ("int", "3", [7, "7", 7.0]),
    ("str", "'x'", ["北京", ""]),
    ("float", "1.5", [2.5, "2.5", 3]),
    ("bool", "False", [True, "yes", 0]),
    ("Any", "None", [None, {"a": 1}]),
    ("dict", "{}", [{"k": 1}]),
    ("list", "[]", [[1, "a"]]),
    ("int | None", "None", [None, 5]),
    ("Literal['x', 'y']", "'y'", ["x"]),
    ("Literal[1, 2]", "2", [1]),
    ("Unit", "Unit.C", ["celsius"]),
    ("Place", "Place(city='北京')", [{"city": "x"}, {"city": "y", "days": "2"}]),
    ("Span", "{'start': 'a', 'days': 1}", [{"start": "b", "days": 2}]),
    ("Point", "Point(1.0)", [{"x": 1}]),
]


def _inside(written: str, default: str | None, wrap: Callable[[Any], Any]) -> Any:
    """A type around another one; `wrap` makes its arguments of the inner ones."""

    def make(inner: Typed) -> Typed:
        source, own, values = inner
        return written.format(source), own if default is None else default, [*map(wrap, values)]

    return make


def _around(inner: st.SearchStrategy[Typed]) -> st.SearchStrategy[Typed]:
    return st.one_of(
        inner.map(_inside("list[{}]", "[]", lambda value: [value, value])),
        inner.map(_inside("dict[str, {}]", "{{}}".format(), lambda value: {"k": value})),
        inner.map(_inside("tuple[{}, ...]", "()", lambda value: [value])),
        inner.map(_inside("Optional[{}]", "None", lambda value: value)),
        inner.map(_inside("Union[{}, None]", "None", lambda value: value)),
        inner.map(_inside("Annotated[{}, '说明']", None, lambda value: value)),
        inner.map(_inside("Annotated[{}, Field(description='d')]", None, lambda value: value)),
    )


TYPES = st.recursive(st.sampled_from(ATOMS), _around, max_leaves=3)
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from([1.5, "", "x", "7", "北京"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["city", "days", "x", "start", "k"]), inner, max_size=2)
    ),
    max_leaves=4,
)
INJECTED = [
    "Annotated[str, InjectedToolArg]",
    "Annotated[str, InjectedToolArg()]",
    "Annotated[str, InjectedToolCallId]",
    "Annotated[dict, InjectedState]",
    "Annotated[int, InjectedState('n')]",
    "ToolRuntime[Any, Any]",
]
PARAMETERS = ["a", "b", "city", "title", "description", "properties", "name"]


@st.composite
def functions(draw: st.DrawFn) -> dict[str, Any]:
    """The source of a function, how to make a tool of it, and arguments to call it with."""
    names = draw(st.lists(st.sampled_from(PARAMETERS), unique=True, max_size=4))
    required, optional, fits = [], [], {}
    for name in names:
        source, default, values = draw(TYPES)
        fits[name] = values
        shape = draw(st.sampled_from(["required", "default", "field", "bare"]))
        if shape == "required":
            required.append(f"{name}: {source}")
        elif shape == "bare":
            required.append(name)
        elif shape == "default":
            optional.append(f"{name}: {source} = {default}")
        else:
            described = f"Field(default={default}, description='f')"
            optional.append(f"{name}: {source} = {described}")
    if draw(st.booleans()):
        required.append(f"hidden: {draw(st.sampled_from(INJECTED))}")
    stars = draw(st.sampled_from(["", "", "", "*args: int", "**kwargs: Any", "*, only: int = 1"]))
    signature = ", ".join([*required, *optional, *([stars] if stars else [])])
    body = ", ".join(f"{name!r}: {name}" for name in names)
    return {
        "source": (
            f"def f({signature}) -> str:\n"
            f"    {draw(docstrings(names))!r}\n"
            f"    return repr({{{body}}})\n"
        ),
        "parse_docstring": draw(st.booleans()),
        "strict": draw(
            st.sampled_from([None, False, *([True] if active("strict-inside") else [])])
        ),
        "calls": draw(st.lists(arguments(fits), min_size=1, max_size=3)),
    }


@st.composite
def docstrings(draw: st.DrawFn, names: list[str]) -> str:
    shape = draw(st.sampled_from(["line", "lines", "args", "wrong", "tight", "raises"]))
    known = "".join(f"        {name}: what {name} is.\n" for name in names)
    return {
        "line": "Do it. 做。",
        "lines": "Do it.\n\n    Over several lines,\n      some of them indented.\n    ",
        "args": f"Do it.\n\n    Args:\n{known}    ",
        "wrong": f"Do it.\n\n    Args:\n{known}        nobody: not there.\n    ",
        "tight": f"Do it.\n    Args:\n{known}    ",
        "raises": f"Do it.\n\n    Raises:\n        E: no.\n\n    Args:\n{known}    ",
    }[shape]


@st.composite
def arguments(draw: st.DrawFn, fits: dict[str, list[Any]]) -> dict[str, Any]:
    """Arguments for a function: what fits, what does not, too few, too many."""
    given = {}
    for name, values in fits.items():
        shape = draw(st.sampled_from(["fits", "fits", "fits", "junk", "missing"]))
        if shape == "fits":
            given[name] = draw(st.sampled_from(values))
        elif shape == "junk":
            given[name] = draw(JUNK)
    for name in draw(st.lists(st.sampled_from(["hidden", "unknown", "only"]), max_size=1)):
        given[name] = draw(JUNK)
    return given


def defined(lc: World, source: str) -> Any:
    """The function `f` of a source text, in a module that has this world's names."""
    names = "InjectedToolArg InjectedToolCallId InjectedState ToolRuntime".split()
    namespace = {"__name__": "a_module", **NAMES} | {name: getattr(lc, name) for name in names}
    exec(source, namespace)
    return namespace["f"]


def check_function(example: dict[str, Any]) -> None:
    def schema(lc: World) -> Any:
        made = lc.tool(parse_docstring=example["parse_docstring"])(defined(lc, example["source"]))
        told = attempt(lambda: lc.convert_to_openai_tool(made, strict=example["strict"]))
        return made.name, made.description, attempt(lambda: made.args), made.args_schema, told

    def calls(lc: World) -> Any:
        made = lc.tool(defined(lc, example["source"]))
        asked = {"name": "f", "id": "c1", "type": "tool_call"}
        return [
            (
                attempt(lambda args=args: made.invoke(dict(args))),
                attempt(lambda args=args: made.invoke(asked | {"args": dict(args)})),
            )
            for args in example["calls"]
        ]

    def node(lc: World) -> Any:
        node = lc.ToolNode([defined(lc, example["source"])])
        config = {"configurable": {"__pregel_runtime": lc.Runtime()}}
        outcomes = []
        for number, args in enumerate(example["calls"]):
            asked = {"name": "f", "args": args, "id": f"c{number}", "type": "tool_call"}
            state = {"messages": [lc.AIMessage("", tool_calls=[asked])], "n": number}
            outcomes.append(attempt(lambda state=state: node.invoke(state, config)))
        return outcomes

    for compared in (schema, calls, node):
        twin(compared).assert_equal()


test_any_signature, test_any_signature_long = properties(functions(), check_function, 25, 700)


# Results: what a tool may return


RESULTS = st.recursive(
    JUNK
    | st.sampled_from([float("nan"), b"bytes", Unit.C, Place(city="北京"), {1}, object])
    | st.sampled_from([{"type": "text", "text": "hi"}, {"type": "image_url", "image_url": "u"}]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | (st.tuples(inner, inner) if active("tuple-content") else st.lists(inner, max_size=2))
    ),
    max_leaves=4,
)


def check_result(example: Any) -> None:
    def outcome(lc: World) -> Any:
        @lc.tool
        def give() -> Any:
            """Return a value."""
            return example

        @lc.tool(response_format="content_and_artifact")
        def give_both() -> Any:
            """Return a value as a pair."""
            return example

        config = {"configurable": {"__pregel_runtime": lc.Runtime()}}
        outcomes = []
        for made in (give, give_both):
            asked = {"name": made.name, "args": {}, "id": "c1", "type": "tool_call"}
            message = lc.AIMessage("", tool_calls=[asked])
            outcomes.append(attempt(lambda made=made, asked=asked: made.invoke(asked)))
            node = lc.ToolNode([made])
            state = {"messages": [message]}
            outcomes.append(attempt(lambda node=node, state=state: node.invoke(state, config)))
        return outcomes

    twin(outcome).assert_equal()


test_any_result, test_any_result_long = properties(RESULTS, check_result, 25, 300)


# Errors: what a ToolNode makes of them


def only_value(error: ValueError) -> str:
    return f"a value: {error}"


def lookup_or_type(error: LookupError | TypeError) -> str:
    return f"a lookup or a type: {type(error).__name__}"


def anything(error):
    return f"anything: {error!r}"


def broken(error: Exception) -> str:
    raise OSError("the handler is broken, too")


ERRORS = [ValueError("v"), KeyError("k"), TypeError("t"), RuntimeError(), OSError(2, "no file")]
HANDLERS = [
    True,
    False,
    None,
    "sorry",
    "",
    ValueError,
    LookupError,
    Exception,
    (),
    (KeyError, TypeError),
    only_value,
    lookup_or_type,
    anything,
    broken,
]
# Those that cover some errors and not others.
NARROW = (ValueError, LookupError, (KeyError, TypeError), only_value, lookup_or_type)


# Handlers of some types only: behind a wrapper minilc differs, by the row "wrapper-errors".
SELECTIVE = (ValueError, LookupError, (), (KeyError, TypeError), only_value, lookup_or_type)


def check_errors(example: dict[str, Any]) -> None:
    handler = None if example["handler"] is None else HANDLERS[example["handler"]]
    if example["wrapper"] and handler in NARROW:
        return  # The row "wrapper-errors": upstream forgets which types it covers.

    def outcome(lc: World) -> Any:
        @lc.tool
        def fail(x: int, n: Annotated[int, lc.InjectedState("n")]) -> str:
            """Fail, or not."""
            if example["error"] == "ToolException":
                raise lc.ToolException("e")
            if example["error"] is not None:
                raise ERRORS[example["error"]]
            return f"{x} {n}"

        def wrap(request: Any, execute: Any) -> Any:
            if example["wrapper"] == "fails":
                raise ValueError("the wrapper fails")
            answers = [execute(request) for _ in range(example["times"])]
            return answers[-1] if answers else lc.ToolMessage("cached", tool_call_id="c1")

        fail.handle_tool_error = example["own"]
        options = {}
        if example["handler"] is not None:
            options["handle_tool_errors"] = HANDLERS[example["handler"]]
        if example["wrapper"] and options.get("handle_tool_errors") not in SELECTIVE:
            options["wrap_tool_call"] = wrap
        node = lc.ToolNode([fail], **options)
        given = example["calls"]
        if example["awaited"]:
            # Of two that fail in different ways either may be the first, so they fail in one.
            given = given[:1] * len(given)
        calls = [
            {"name": example["name"], "args": args, "id": f"c{number}", "type": "tool_call"}
            for number, args in enumerate(given, 1)
        ]
        state = {"messages": [lc.AIMessage("", tool_calls=calls)], "n": example["n"]}
        config = {"configurable": {"__pregel_runtime": lc.Runtime()}}
        if example["awaited"]:
            return asyncio.run(node.ainvoke(state, config))
        return node.invoke(state, config)

    twin(outcome).assert_equal()


test_any_error, test_any_error_long = properties(
    st.fixed_dictionaries(
        {
            "error": st.none() | st.just("ToolException") | st.integers(0, len(ERRORS) - 1),
            "handler": st.none() | st.integers(0, len(HANDLERS) - 1),
            "own": st.sampled_from([False, False, True, "own"]),
            "wrapper": st.sampled_from([None, None, "calls", "fails"]),
            "times": st.integers(0, 2),
            "name": st.sampled_from(["fail", "fail", "fail", "fial"]),
            "calls": st.lists(
                st.sampled_from([{"x": 1}, {"x": "2"}, {"x": "many"}, {}, {"x": 1, "n": 9}]),
                min_size=1,
                max_size=2,
            ),
            "n": st.sampled_from([0, 0, "not a number"]),
            "awaited": st.booleans(),
        }
    ),
    check_errors,
    40,
    400,
)


# Histories: messages, calls and answers in any order


IDS = st.sampled_from(["c1", "c2", "c3"])
TOOLS = st.sampled_from(["plain", "direct", "failing", "unknown", "Answer"])
CALLS = st.fixed_dictionaries(
    {
        "name": TOOLS,
        "args": st.sampled_from([{}, {"x": 1}, {"x": "many"}, {"text": "好"}]),
        "id": IDS,
        "type": st.just("tool_call"),
    }
)
MESSAGE_IDS = st.sampled_from([None, None, "m1", "m2", "m3"])
TEXTS = st.sampled_from(["", "hi", "北京"])
# A message as plain data: the name of its class, and its fields.
Told = tuple[str, dict[str, Any]]
AI: st.SearchStrategy[Told] = st.tuples(
    st.just("AIMessage"),
    st.fixed_dictionaries(
        {"content": TEXTS, "tool_calls": st.lists(CALLS, max_size=3), "id": MESSAGE_IDS}
    ),
)
ANSWERS: st.SearchStrategy[Told] = st.tuples(
    st.just("ToolMessage"),
    st.fixed_dictionaries(
        {
            "content": TEXTS,
            "tool_call_id": IDS,
            "name": st.none() | TOOLS,
            "status": st.sampled_from(["success", "success", "error"]),
            "id": MESSAGE_IDS,
        }
    ),
)
SAID: st.SearchStrategy[Told] = st.tuples(
    st.sampled_from(["HumanMessage", "SystemMessage"]),
    st.fixed_dictionaries({"content": TEXTS, "id": MESSAGE_IDS}),
)
REMOVED: st.SearchStrategy[Told] = st.tuples(
    st.just("RemoveMessage"),
    st.fixed_dictionaries({"id": st.sampled_from(["m1", "m2", "m3", "__remove_all__"])}),
)


def message(lc: World, told: Told) -> Any:
    kind, fields = told
    return getattr(lc, kind)(**fields)


def check_reducer(example: tuple[list[Told], list[Told], list[Told]]) -> None:
    def outcome(lc: World) -> Any:
        # New objects each time, because upstream writes ids into those that it is given.
        def told(side: int) -> list[Any]:
            return [message(lc, one) for one in example[side]]

        base = lc.add_messages([], told(0))
        longer = lc.add_messages(base, told(1))
        return [
            base,
            longer,
            # The same history goes on in two ways, and one of them goes on further.
            attempt(lambda: lc.add_messages(base, told(2))),
            attempt(lambda: lc.add_messages(longer, told(2))),
        ]

    twin(outcome).assert_equal()


HISTORIES = st.lists(AI | ANSWERS | SAID, max_size=5)
CHANGES = st.lists(AI | ANSWERS | SAID | REMOVED, max_size=5)
test_add_messages, test_add_messages_long = properties(
    st.tuples(HISTORIES, CHANGES, CHANGES),
    check_reducer,
    40,
    500,
)


ROLES = ["user", "human", "assistant", "ai", "system", "robot"]
WIRE_CALLS = st.fixed_dictionaries(
    {
        "id": st.none() | IDS,
        "type": st.just("function"),
        "function": st.fixed_dictionaries(
            {"name": TOOLS, "arguments": st.sampled_from(["{}", '{"x": 1}', "{", "", "null", "[]"])}
        ),
    }
)
COMMON = {"name": TOOLS, "id": MESSAGE_IDS}  # unknown keys: see `unknown-keys`


def dicts(roles: list[str], required: Any, optional: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Messages as dicts, of these roles; besides what is common to all."""
    content = st.none() | TEXTS | JUNK
    return st.fixed_dictionaries(
        {"role": st.sampled_from(roles), "content": content, **required},
        optional=COMMON | optional,
    )


DICTS = (
    dicts(["user", "human", "system", "robot"], {}, {})
    | dicts(["assistant", "ai"], {}, {"tool_calls": st.lists(CALLS | WIRE_CALLS, max_size=2)})
    | dicts(
        ["tool"],
        {"tool_call_id": IDS},
        {"artifact": JUNK, "status": st.sampled_from(["success", "error"])},
    )
)
LOOSE = (
    DICTS
    | st.tuples(st.sampled_from(ROLES), TEXTS)
    | TEXTS
    | JUNK.filter(lambda value: not isinstance(value, list))
)


def check_conversion(example: list[Any]) -> None:
    def outcome(lc: World) -> Any:
        return [attempt(lambda one=one: lc.convert_to_messages([one])) for one in example]

    twin(outcome).assert_equal()


test_convert_to_messages, test_convert_to_messages_long = properties(
    st.lists(LOOSE, min_size=1, max_size=3), check_conversion, 40, 400
)


# Older releases end a run on other structured answers.
STRUCTURED = active("stale-structured-response") and active("failed-structured-answer")


@st.composite
def agents(draw: st.DrawFn) -> dict[str, Any]:
    """An agent, what its model will say, what a hook adds, and the history it starts with."""
    return {
        "history": draw(st.lists(AI | ANSWERS | SAID, min_size=1, max_size=4)),
        "script": draw(st.lists(AI, min_size=1, max_size=3)),
        "added": draw(st.lists(ANSWERS, max_size=2)),
        "jump": draw(st.sampled_from([None, None, None, "end", "model", "tools"])),
        "hook": draw(st.booleans()),
        "structured": draw(st.booleans()) if STRUCTURED else False,
        "wrapped": draw(st.booleans()),
        "limit": draw(st.sampled_from([3, 6, 12])),
        "awaited": draw(st.booleans()),
    }


class Answer(BaseModel):
    """The final answer."""

    text: str


def check_agent(example: dict[str, Any]) -> None:
    def outcome(lc: World) -> Any:
        model = lc.ScriptedChatModel([message(lc, told) for told in example["script"]])
        result = attempt(lambda: run_agent(lc, model, example))
        return result, [request._asdict() for request in model.requests]

    twin(outcome).assert_equal()


def run_agent(lc: World, model: Any, example: dict[str, Any]) -> Any:
    @lc.tool
    def plain(x: int = 0) -> str:
        """A tool."""
        return f"plain {x}"

    @lc.tool(return_direct=True)
    def direct(x: int = 0) -> str:
        """A tool whose answer is the last word."""
        return f"direct {x}"

    @lc.tool
    def failing(x: int = 0) -> str:
        """A tool that fails."""
        # One text for all: of two that fail in one step either may be the first.
        raise RuntimeError("failed")

    @lc.after_model(can_jump_to=["end", "model", "tools"])
    def hook(state: Any, runtime: Any) -> Any:
        added = [message(lc, told) for told in example["added"]]
        # Only once, else a jump to the model would go on until the script is at its end.
        first = len(model.requests) == 1
        return {"messages": added, **({"jump_to": example["jump"]} if first else {})}

    class Wrap(lc.AgentMiddleware):
        def wrap_tool_call(self, request: Any, handler: Any) -> Any:
            return self.told(request, handler(request))

        async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
            return self.told(request, await handler(request))

        def told(self, request: Any, answer: Any) -> Any:
            answer.content = f"{answer.content} (wrapped, {len(request.state['messages'])})"
            return answer

    agent = lc.create_agent(
        model,
        [plain, direct, failing],
        middleware=[
            *([hook] if example["hook"] else []),
            *([Wrap()] if example["wrapped"] else []),
        ],
        response_format=lc.ToolStrategy(Answer) if example["structured"] else None,
    )
    given = {"messages": [message(lc, told) for told in example["history"]]}
    config = {"recursion_limit": example["limit"]}
    if example["awaited"]:
        return asyncio.run(agent.ainvoke(given, config))
    return agent.invoke(given, config)


test_any_agent, test_any_agent_long = properties(agents(), check_agent, 25, 500)


@st.composite
def threads(draw: st.DrawFn) -> dict[str, Any]:
    """A thread of two turns, with a tool that asks a human, and any hooks around it."""
    names = st.sampled_from(["plain", "asks", "direct", "unknown"])
    calls = st.lists(st.tuples(names, st.sampled_from([{}, {"x": 1}])), max_size=2)
    return {
        "script": draw(st.lists(calls, min_size=1, max_size=4)),
        "turns": draw(st.integers(1, 2)),
        "hooks": draw(
            st.lists(
                st.sampled_from(["before", "after", "tool", "model", "once", "all"]),
                max_size=3,
            )
        ),
        "answer": draw(st.sampled_from(["yes", "no"])),
        "prompt": draw(st.sampled_from([None, "be short"])),
        "awaited": draw(st.booleans()),
    }


def hook_of(lc: World, kind: str, number: int, log: list[str]) -> Any:
    """A middleware with some hooks, which writes into the log."""

    def noted(what: str) -> None:
        log.append(f"{kind}{number} {what}")

    class Hooks(lc.AgentMiddleware):
        if kind in ("before", "all"):

            def before_model(self, state: Any, runtime: Any) -> Any:
                noted(f"before {len(state['messages'])}")

        if kind == "once":

            def before_model(self, state: Any, runtime: Any) -> Any:
                noted("writes")
                if len(state["messages"]) == 1:
                    return {"messages": [lc.HumanMessage("reminder", id="r")]}

        if kind in ("after", "all"):

            def after_model(self, state: Any, runtime: Any) -> Any:
                noted(f"after {len(state['messages'])}")

        if kind in ("tool", "all"):

            def wrap_tool_call(self, request: Any, handler: Any) -> Any:
                answer = handler(request)
                answer.content += f" {kind}{number}"
                return answer

            async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
                answer = await handler(request)
                answer.content += f" {kind}{number}"
                return answer

        if kind in ("model", "all"):

            def wrap_model_call(self, request: Any, handler: Any) -> Any:
                noted(f"model in {len(request.messages)}")
                response = handler(request)
                noted(f"model out {len(response.result)}")
                return response

            async def awrap_model_call(self, request: Any, handler: Any) -> Any:
                noted(f"model in {len(request.messages)}")
                response = await handler(request)
                noted(f"model out {len(response.result)}")
                return response

    Hooks.__name__ = f"{kind}{number}"
    return Hooks()


def check_thread(example: dict[str, Any]) -> None:
    def outcome(lc: World) -> Any:
        log: list[str] = []
        script = [
            lc.AIMessage(
                f"answer {number}",
                tool_calls=[
                    {"name": name, "args": args, "id": f"c{number}.{n}", "type": "tool_call"}
                    for n, (name, args) in enumerate(calls)
                ],
            )
            for number, calls in enumerate(example["script"])
        ]
        model = lc.ScriptedChatModel(script)
        agent = thread_agent(lc, model, example, log)
        return attempt(lambda: run_thread(lc, agent, example)), log, len(model.requests)

    twin(outcome).assert_equal()


def thread_agent(lc: World, model: Any, example: dict[str, Any], log: list[str]) -> Any:
    @lc.tool
    def plain(x: int = 0) -> str:
        """A tool."""
        return f"plain {x}"

    @lc.tool(return_direct=True)
    def direct(x: int = 0) -> str:
        """A tool whose answer is the last word."""
        return f"direct {x}"

    @lc.tool
    def asks(x: int = 0) -> str:
        """A tool that asks a human."""
        return f"{x} {lc.interrupt({'question': x})}"

    return lc.create_agent(
        model,
        [plain, asks, direct],
        middleware=[hook_of(lc, kind, n, log) for n, kind in enumerate(example["hooks"])],
        system_prompt=example["prompt"],
        checkpointer=lc.InMemorySaver(),
    )


def run_thread(lc: World, agent: Any, example: dict[str, Any]) -> Any:
    config = {"configurable": {"thread_id": "1"}, "recursion_limit": 12}

    def invoked(given: Any) -> Any:
        if example["awaited"]:
            return asyncio.run(agent.ainvoke(given, config))
        return agent.invoke(given, config)

    states = []
    for turn in range(example["turns"]):
        states.append(invoked({"messages": [("user", f"turn {turn}")]}))
        # Two calls of one step may ask at once; then every question is answered by its id.
        for _ in range(3):
            if not (asked := states[-1].pop("__interrupt__", None)):
                break
            answers = {question.id: example["answer"] for question in asked}
            states.append(sorted(str(question.value) for question in asked))
            states.append(invoked(lc.Command(resume=answers)))
    return states


test_any_thread, test_any_thread_long = properties(threads(), check_thread, 25, 300)


def check_hand_written(example: dict[str, Any]) -> None:
    """The same histories through ToolNode and tools_condition."""

    def outcome(lc: World) -> Any:
        @lc.tool
        def plain(x: int = 0) -> str:
            """A tool."""
            return f"plain {x}"

        history = [message(lc, told) for told in example["history"]]
        node = lc.ToolNode([plain], handle_tool_errors=example["handle"])
        config = {"configurable": {"__pregel_runtime": lc.Runtime()}}
        given = {"state": {"messages": history}, "list": history}[example["shape"]]
        return (
            attempt(lambda: lc.tools_condition(given)),
            attempt(lambda: node.invoke(given, config)),
        )

    twin(outcome).assert_equal()


test_any_history, test_any_history_long = properties(
    st.fixed_dictionaries(
        {
            "history": HISTORIES,
            "handle": st.sampled_from([True, False, "sorry"]),
            "shape": st.sampled_from(["state", "list"]),
        }
    ),
    check_hand_written,
    30,
    300,
)


# Graphs: nodes that write, branch, send, ask, in any arrangement


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]
    seen: Annotated[dict[str, int], operator.or_]
    n: int


@dataclass
class StateObject:
    log: Annotated[list[str], operator.add] = field(default_factory=list)
    seen: Annotated[dict[str, int], operator.or_] = field(default_factory=dict)
    n: int = 0


class StateModel(BaseModel):
    log: Annotated[list[str], operator.add] = Field(default_factory=list)
    seen: Annotated[dict[str, int], operator.or_] = Field(default_factory=dict)
    n: int = 0


STATES = {"dict": State, "object": StateObject, "model": StateModel}


def size_of(state: Any) -> int:
    """The length of the log, whichever kind of state a node or a path was given."""
    return len(state.get("log", ()) if isinstance(state, dict) else state.log)


NODES = ["a", "b", "c", "d"]


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, Any]:
    """A small graph as plain data: for each node what it does, and where the run goes then."""
    names = NODES[: draw(st.integers(2, 4))]
    targets = st.sampled_from([*names, "__end__"])
    writes = st.sampled_from(["log", "log", "seen", "n", "nothing", "asks"])
    # One node at most: of two that fail in one step, it is a race whose error comes out.
    failing = draw(st.none() | st.sampled_from(names))
    nodes = {
        name: {
            "writes": "fails" if name == failing else draw(writes),
            "goto": draw(st.none() | st.none() | targets | st.lists(targets, max_size=2)),
            "edge": draw(st.none() | targets),
            "path": draw(st.none() | st.lists(targets, min_size=1, max_size=3)),
            "sends": draw(st.none() | st.lists(st.sampled_from(names), max_size=3)),
        }
        for name in names
    }
    return {
        "nodes": nodes,
        "state": draw(st.sampled_from(["dict", "dict", "object", "model"])),
        "start": draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True)),
        "join": draw(st.none() | st.lists(st.sampled_from(names), min_size=2, max_size=2)),
        "saved": draw(st.booleans()),
        "awaited": draw(st.booleans()),
        "streamed": draw(st.booleans()),
        "limit": draw(st.sampled_from([2, 4, 7])),
    }


def check_graph(example: dict[str, Any]) -> None:
    twin(lambda lc: run_graph(lc, example)).assert_equal()


def run_graph(lc: World, example: dict[str, Any]) -> Any:
    """All states that the graph goes through, the error that ends it, the answers it asks for."""
    builder = lc.StateGraph(STATES[example["state"]])
    for name, told in example["nodes"].items():
        builder.add_node(name, node_of(lc, name, told))
    for name in example["start"]:
        builder.add_edge(lc.START, name)
    for name, told in example["nodes"].items():
        if told["edge"]:
            builder.add_edge(name, told["edge"])
        if told["path"]:
            builder.add_conditional_edges(name, path_of(name, told["path"]))
        if told["sends"] is not None:
            builder.add_conditional_edges(name, sends_of(lc, name, told["sends"]))
    if example["join"]:
        builder.add_edge(example["join"], next(iter(example["nodes"])))
    graph = builder.compile(checkpointer=lc.InMemorySaver() if example["saved"] else None)
    config = {"recursion_limit": example["limit"], "configurable": {"thread_id": "1"}}
    if any(told["writes"] == "asks" for told in example["nodes"].values()):
        example = example | {"streamed": False}
    states: list[Any] = []
    given: Any = {"log": ["in"], "n": 0}
    for _ in range(3):
        error = attempt(lambda given=given: states.extend(streamed(graph, given, config, example)))
        for state in states:
            if "__interrupt__" in state:
                # Questions of one step come in the order in which their nodes were done.
                state["__interrupt__"] = sorted(state["__interrupt__"], key=lambda q: q.value)
        asked = states[-1].get("__interrupt__", ()) if states else ()
        if error or not asked or not example["saved"]:
            return states, error
        answers = {question.id: f"answer to {question.value}" for question in asked}
        given = lc.Command(resume=answers if len(asked) > 1 else f"answer {len(states)}")
    return states, "asked too often"


def streamed(graph: Any, given: Any, config: Any, example: dict[str, Any]) -> list[Any]:
    if not example["streamed"]:
        if example["awaited"]:
            return [asyncio.run(graph.ainvoke(given, config))]
        return [graph.invoke(given, config)]
    if not example["awaited"]:
        return list(graph.stream(given, config, stream_mode="values"))

    async def collect() -> list[Any]:
        return [state async for state in graph.astream(given, config, stream_mode="values")]

    return asyncio.run(collect())


def node_of(lc: World, name: str, told: dict[str, Any]) -> Any:
    def node(state: Any) -> Any:
        if told["writes"] == "fails":
            # One text for all, because of two that fail in one step either may be the first.
            raise RuntimeError("failed")
        size = size_of(state)
        update = {
            "log": {"log": [f"{name}{size}"]},
            "seen": {"seen": {name: size}},
            "n": {"n": size},
            "nothing": None,
        }
        if told["writes"] == "asks":
            written: Any = {"log": [f"{name} {lc.interrupt(name)}"]}
        else:
            written = update[told["writes"]]
        return written if told["goto"] is None else lc.Command(update=written, goto=told["goto"])

    return node


def path_of(name: str, targets: list[str]) -> Any:
    def path(state: Any) -> str:
        return targets[size_of(state) % len(targets)]

    path.__name__ = f"path_{name}"
    return path


def sends_of(lc: World, name: str, targets: list[str]) -> Any:
    def sends(state: Any) -> Any:
        return [lc.Send(target, {"log": [f"sent {n}"]}) for n, target in enumerate(targets)]

    sends.__name__ = f"sends_{name}"
    return sends


test_any_graph, test_any_graph_long = properties(graphs(), check_graph, 40, 500)
