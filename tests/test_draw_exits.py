"""The drawing of exits: all of them, in order, and the ones that were taken."""

from __future__ import annotations

import itertools
from xml.etree import ElementTree

import pytest

from minilc.course import draw
from minilc.course.draw import look
from minilc.course.widgets.routes import EXITS, MODEL_TO_TOOLS, TOOLS_TO_MODEL

SVG = "{http://www.w3.org/2000/svg}"
TAKEN = [(MODEL_TO_TOOLS, 4), (TOOLS_TO_MODEL, 4), (MODEL_TO_TOOLS, 4), (MODEL_TO_TOOLS, 3)]


def texts(drawing: draw.Drawing) -> list[str]:
    root = ElementTree.fromstring(drawing.svg or "")
    return ["".join(one.itertext()) for one in root.iter(f"{SVG}text")]


def test_every_exit_is_drawn_with_its_number_in_order() -> None:
    shown = texts(draw.exits(EXITS))
    for edge, ways in EXITS.items():
        rows = [(str(number), *way) for number, way in ways.items()]
        start = shown.index(edge) + 1
        assert shown[start : start + 3 * len(rows)] == list(itertools.chain(*rows))


def test_what_was_taken_says_so_in_words() -> None:
    drawing = draw.exits(EXITS, TAKEN)
    lines = [line for line in drawing.text.splitlines() if line.startswith("*")]
    assert [line.partition("[")[2] for line in lines] == ["taken 4]", "taken 1, 3]", "taken 2]"]
    assert [text for text in texts(drawing) if text.startswith("taken")] == [
        "taken 4",
        "taken 1, 3",
        "taken 2",
    ]
    assert "taken" not in draw.exits(EXITS).text


def test_every_text_lies_on_the_card() -> None:
    root = ElementTree.fromstring(draw.exits(EXITS, TAKEN).svg or "")
    wide = float(root.attrib["viewBox"].split()[2])
    for one in root.iter(f"{SVG}text"):
        size = float(one.attrib["font-size"])
        assert float(one.attrib["x"]) + look.width(one.text or "", size) <= wide, one.text


def test_texts_are_escaped_and_described() -> None:
    drawing = draw.exits({"<b>": {1: ("a < b & c", "<script>")}}, title="一 <i>")
    assert texts(drawing)[:4] == ["<b>", "1", "a < b & c", "<script>"]
    root = ElementTree.fromstring(drawing.svg or "")
    assert root.findtext(f"{SVG}title") == "一 <i>"
    assert "1. a < b & c -> <script>" in (root.findtext(f"{SVG}desc") or "")


@pytest.mark.parametrize("way", [(MODEL_TO_TOOLS, 7), ("nowhere", 1)])
def test_an_exit_that_is_not_there_cannot_be_taken(way: tuple[str, int]) -> None:
    with pytest.raises(LookupError) as error:
        draw.exits(EXITS, [way])
    assert str(error.value) == f"there is no exit {way[1]} of {way[0]!r}"
