"""The ship of Theseus: every stage has the transcript of the first, and every plank carries."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from minilc import (
    base,
    branch,
    chat_models,
    convert,
    factory,
    function_calling,
    injection,
    messages,
    middleware,
    schema,
    state,
    structured,
    tool_node,
)
from minilc.course import theseus
from minilc.course.layers import LAYERS
from minilc.course.listings import swapped
from minilc.course.worlds import LANGCHAIN, MINILC


def test_the_transcript_is_the_same_at_every_stage() -> None:
    voyage = theseus.sail()
    assert list(voyage.runs) == list(range(15))
    assert voyage.arrived, repr(voyage)


def test_the_conversation_goes_everywhere() -> None:
    said = theseus.Ship(0).transcript()
    contents = [message.content for message in said["messages"]]
    assert contents == [
        theseus.QUESTION,
        "",
        "北京: sunny, 28C [inner] [outer]",
        "上海: sunny, 28C, sunny, 28C [inner] [outer]",
        "",
        "Error invoking tool 'get_weather' with kwargs {'town': '北京'} with error:\n"
        " city: Field required\n Please fix the error and try again. [inner] [outer]",
        "Error: get_wether is not a valid tool, try one of [get_weather, look_back, remember]. "
        "[inner] [outer]",
        "",
        f'{{"thought": "想一想", "asked": ["{theseus.QUESTION}"], "call": "c5"}} [inner] [outer]',
        "remembered 北京",
        "北京和上海今天都晴，28 度。",
    ]
    assert (said["cities"], said["asked"]) == (["北京"], 4)
    prompts = [request["messages"][0].content for request in said["requests"]]
    assert prompts == [f"{theseus.PROMPT}用中文回答。"] * 4


@pytest.mark.parametrize("stage", theseus.STAGES)
def test_who_runs_the_agent(stage: int) -> None:
    ship = theseus.Ship(stage)
    own = stage >= 9
    assert isinstance(ship.graph, (MINILC if own else LANGCHAIN).CompiledStateGraph)
    assert type(ship.model).__module__.startswith("minilc.chat_models") is (stage >= 7)
    assert isinstance(ship.tools[0], MINILC.BaseTool) is (stage >= 3)
    assert isinstance(ship.hooks[0], MINILC.AgentMiddleware) is (stage >= 13)


def changed(original: Any, change: Callable[[Any], Any]) -> Any:
    """The function, with something else coming out of it."""
    return lambda *args, **kwargs: change(original(*args, **kwargs))


def described(tool: Any) -> Any:
    return tool.model_copy(update={"description": "A tool."})


def in_haste(message: Any) -> Any:
    message.content += "!"
    return message


def thoughtless(call: Any) -> Any:
    given = call["args"]
    return call | {"args": {key: "" if key == "thought" else given[key] for key in given}}


def first_of_a_list(target: Any) -> Any:
    return target[:1] if isinstance(target, list) else target


# For each layer something in it that is a little wrong, and raises nothing.
BROKEN: dict[str, tuple[str, Any]] = {
    "messages": (
        "tool_call",
        changed(messages.tool_call, lambda call: call | {"id": f"{call['id']}!"}),
    ),
    "schema": (
        "_field_of_parameter",
        lambda one, hint, text, field=schema._field_of_parameter: field(one, hint, "Where?"),
    ),
    "base": ("_stringify", changed(base._stringify, str.upper)),
    "structured": (
        "StructuredTool.from_function",
        changed(structured.StructuredTool.from_function.__func__, described),  # type: ignore[attr-defined]
    ),
    "convert": ("tool", changed(convert.tool, described)),
    "function_calling": (
        "convert_to_openai_tool",
        changed(function_calling.convert_to_openai_tool, lambda tool: tool | {"strict": True}),
    ),
    "chat_models": ("_first_answer", changed(chat_models._first_answer, in_haste)),
    "branch": (
        "BranchSpec._finish",
        changed(branch.BranchSpec._finish, lambda targets: targets[:1]),
    ),
    "state": (
        "PregelLoop._fold",
        changed(state.PregelLoop._fold, lambda values: values | {"asked": 0}),
    ),
    "tool_errors": ("TOOL_INVOCATION_ERROR_TEMPLATE", "No: {error}"),
    "injection": ("_inject_tool_args", changed(injection._inject_tool_args, thoughtless)),
    "tool_node": (
        "ToolNode._validate_tool_call",
        lambda self, call: tool_node._error_message("No.", call),
    ),
    "middleware": (
        "_chain_tool_call_wrappers",
        lambda wraps, chain=middleware._chain_tool_call_wrappers: chain(wraps[::-1]),
    ),
    "factory": (
        "_make_model_to_tools_edge",
        changed(factory._make_model_to_tools_edge, lambda edge: changed(edge, first_of_a_list)),
    ),
}


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.module)
def test_a_broken_plank_shows_from_its_stage_on(layer: Any) -> None:
    symbol, broken = BROKEN[layer.module]
    stages = list(dict.fromkeys([0, layer.number - 1, layer.number, 14]))
    with swapped(f"{layer.dotted}:{symbol}", broken):
        voyage = theseus.sail(stages)
    assert not any(run.raised for run in voyage.runs.values()), repr(voyage)
    assert voyage.other == [stage for stage in stages if stage >= layer.number], repr(voyage)


@pytest.mark.parametrize("seed", range(2))
def test_any_conversation_is_the_same_at_every_stage(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    arguments = {
        "get_weather": [{"city": "北京"}, {"city": "上海", "days": "x"}, {"town": "北京"}, {}],
        "look_back": [{"thought": "?"}, {"thought": "?", "state": 1, "runtime": 2}, {}],
        "remember": [{"city": "北京"}, {"city": "北京", "call_id": "forged"}, {}],
        "get_wether": [{"city": [1, {"a": None}]}],
    }

    def call() -> dict[str, Any]:
        name = chance.choice([*arguments])
        args = chance.choice(arguments[name])
        return {"name": name, "args": args, "id": f"c{chance.randint(1, 9)}"}

    rounds = [[call() for _ in range(chance.randint(1, 3))] for _ in range(3)]

    def answers(lc: Any) -> list[Any]:
        return [*(lc.AIMessage("嗯", tool_calls=calls) for calls in rounds), lc.AIMessage("好")]

    monkeypatch.setattr(theseus, "answers", answers)
    voyage = theseus.sail()
    assert voyage.arrived, repr(voyage)


def test_a_voyage_shows_whose_each_plank_is_and_where_it_went_wrong() -> None:
    with swapped("minilc.tool_errors:TOOL_INVOCATION_ERROR_TEMPLATE", "<b>{error}"):
        voyage = theseus.sail([0, 9, 10])
    text, html = repr(voyage), voyage._repr_html_()
    assert "10 tool_errors        ○  ○  ●" in text
    assert "   transcript         =  =  ≠" in text
    assert "stage 10, first at ['messages'][5].content: minilc '<b>" in text
    assert "&lt;b&gt;" in html and "<b>" not in html
    assert html.count("<td>●</td>") == 9 + 10


def test_a_voyage_that_fails_everywhere_has_not_arrived(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theseus, "answers", lambda lc: [])
    voyage = theseus.sail([0, 14])
    assert voyage.other == [] and not voyage.arrived
