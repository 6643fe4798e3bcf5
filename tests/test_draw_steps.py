"""The drawing of super-steps: every node in its step, every state between two steps."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict
from xml.etree import ElementTree

import pytest

from minilc.course import draw
from minilc.course.draw import look
from minilc.course.worlds import LANGCHAIN, MINILC, World

SVG = "{http://www.w3.org/2000/svg}"
WORLDS = pytest.mark.parametrize("lc", [MINILC, LANGCHAIN], ids=["minilc", "langchain"])


class Log(TypedDict, total=False):
    log: Annotated[list[str], operator.add]
    sky: str


def run(lc: World) -> draw.Run:
    """Two nodes at once, then two Sends to a third."""
    builder = lc.StateGraph(Log)
    for name in ("上海", "b"):
        builder.add_node(name, lambda state, name=name: {"log": [name]})
        builder.add_edge(lc.START, name)
    builder.add_node("c", lambda number: {"log": ["c"], "sky": "<晴>"} if number else {})
    builder.add_conditional_edges("b", lambda state: [lc.Send("c", n) for n in (0, 1)], ["c"])
    return draw.record(builder.compile(), {"log": ["in"]})


def texts(drawing: draw.Drawing) -> list[str]:
    root = ElementTree.fromstring(drawing.svg or "")
    return ["".join(one.itertext()) for one in root.iter(f"{SVG}text")]


@WORLDS
def test_every_step_has_its_nodes_and_the_states_stand_between_them(lc: World) -> None:
    drawing = draw.steps(run(lc))
    assert drawing.text.splitlines() == [
        "A run in 2 steps",
        "before: log: in",
        "step 1: b, 上海",
        "  then: log: in, b, 上海",
        "step 2: c, c",
        "  then: log: in, b, 上海, c, sky: <晴>",
    ]
    shown = texts(drawing)
    assert [text for text in shown if text in ("step 1", "step 2", "b", "上海", "c")] == [
        *("step 1", "b", "上海"),
        *("step 2", "c", "c"),
    ]


def test_what_a_step_has_changed_is_bold() -> None:
    root = ElementTree.fromstring(draw.steps(run(MINILC)).svg or "")
    bold = [one.text for one in root.iter(f"{SVG}text") if one.get("font-weight") == "bold"]
    assert bold == ["log: in, b, 上海", "log: in, b, 上海, c", "sky: <晴>"]


def test_long_values_are_counted() -> None:
    made = draw.Run([["model"]], states=[{"messages": []}, {"messages": [1, 2]}])
    shown = draw.steps(made).text
    assert "before: messages: empty" in shown and "then: messages: 2 items" in shown
    one = draw.Run([["model"]], states=[{"messages": []}, {"messages": [1]}])
    assert draw.steps(one).text.endswith("then: messages: 1 item")


def test_a_state_may_be_an_object() -> None:
    @dataclass
    class State:
        n: int

    made = draw.Run([["a"]], states=[State(1), State(2)])
    assert draw.steps(made).text.splitlines()[-1] == "  then: n: 2"


@WORLDS
def test_every_text_and_box_lies_on_the_card(lc: World) -> None:
    root = ElementTree.fromstring(draw.steps(run(lc)).svg or "")
    wide, high = map(float, root.attrib["viewBox"].split()[2:])
    for one in root.iter(f"{SVG}text"):
        length = look.width(one.text or "", float(one.attrib["font-size"]))
        at = float(one.attrib["x"]) - (length / 2 if "text-anchor" in one.attrib else 0)
        assert 0 <= at and at + length <= wide, one.text
        assert float(one.attrib["y"]) <= high, one.text


def test_texts_are_escaped_and_described() -> None:
    made = draw.Run([["<b>"]], states=[{}, {"a&b": "<i>"}])
    drawing = draw.steps(made, title="一 <i>")
    assert "<b>" in texts(drawing) and "a&b: <i>" in texts(drawing)
    root = ElementTree.fromstring(drawing.svg or "")
    assert root.findtext(f"{SVG}title") == "一 <i>"
    assert "step 1: <b>; then: a&b: <i>" in (root.findtext(f"{SVG}desc") or "")


def test_a_run_without_steps_is_an_empty_card() -> None:
    nothing: Any = draw.steps(draw.Run(states=[None]))
    assert nothing.text == "A run in 0 steps\nbefore: nothing"
