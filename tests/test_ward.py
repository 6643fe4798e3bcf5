"""What notebook 15 examines its patients with."""

from __future__ import annotations

import sys
import threading
from typing import Any

import pytest

from minilc.course.ward import PLACES, Ward, call, chat, get_weather, said, visit

ASKING = [[call("get_weather", city="北京")], "晴。"]


def test_the_ward_prints_the_four_answers_and_keeps_the_codes(capsys: Any) -> None:
    ward = Ward()
    assert ward.run(3, chat([[call("weather")], "?"], [get_weather])[1]) == ["unknown-tool"]
    assert ward.run(3, chat(ASKING, [get_weather])[1]) == []
    first, finding, second = capsys.readouterr().out.splitlines()
    assert first.split() == "1 yes 2 yes 3 NO 4 yes".split()
    assert finding.startswith("  unknown-tool: ")
    assert second.split() == "1 yes 2 yes 3 yes 4 yes".split()
    assert ward.found == {3: ["unknown-tool"]}


def test_the_route_names_each_problem_at_its_question() -> None:
    ward = Ward()
    ward.found = {6: ["wrong-id"], 2: ["no-tools"]}
    told = ward.route().description
    assert "1. Does the model know the tool? no: 2  no-tools;" in told
    assert told.endswith("the call's id? no: 6  wrong-id.")


def test_a_visit_sees_all_six_places_and_leaves_no_profiler_behind() -> None:
    from langchain_core.tools import tool

    before = sys.getprofile(), threading.getprofile()

    def get_tide(city: str) -> str:
        """Get the tide of a city by the sea."""
        return f"{city}: high"

    def run() -> None:
        said(chat([[call("get_tide", city="上海")], "高。"], [tool(get_tide)])[1])

    assert {place for place, _ in visit(run)} == set(PLACES)
    assert {place for place, _ in visit(run, everywhere=False)} == set(PLACES[:-1])
    with pytest.raises(ZeroDivisionError):
        visit(lambda: 1 / 0)
    assert (sys.getprofile(), threading.getprofile()) == before
