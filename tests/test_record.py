"""What LangChain does is written down, and what another one does otherwise is told in words."""

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from minilc.course import cases, cli, record
from minilc.course.articles import ledger, places
from minilc.course.plain import Record
from minilc.course.upstream import Place

RECORDED = {name: f"langchain-{version}" for name, version in ledger.SETS.items()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A record made as a user makes it: in this process the blocked sockets give warnings."""
    path = tmp_path_factory.mktemp("record") / "now.json"
    command = [sys.executable, "-m", "minilc.course.cli", "check", "--record", str(path)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.startswith("recorded langchain ")
    return record.read(str(path))


def test_the_record_of_this_version_set_is_what_is_so(made: dict[str, Any]) -> None:
    kept = record.read(RECORDED[ledger.installed_set()])
    assert list(record.compare(kept, made)) == []
    told = {name for layer in kept["layers"].values() for name in layer[record.BEHAVIOURS]}
    assert told == {case.name for case in cases.load()}


def test_the_drift_between_the_two_sets_names_what_changed() -> None:
    old, new = record.read(RECORDED["two"]), record.read(RECORDED["one"])
    changes = {(one.layer, one.title): one for one in record.compare(old, new)}
    description = changes["convert", "infer_schema=False makes a simple Tool"]
    assert description.before == "'get_weather tool'"
    assert description.after == "'Get current weather for a city.'"
    assert ("", "ToolNode._normalize_tool_response: is new") in changes
    send = changes["branch", "langgraph.types.Send is called otherwise"]
    assert (send.before, send.after) == ("(node, arg)", "(node, arg, timeout=None)")
    assert not any(one.layer == "messages" for one in changes.values())
    # Back again, each change is told the other way round.
    back = {(one.layer, one.kind, one.name) for one in record.compare(new, old)}
    assert back == {(one.layer, one.kind, one.name) for one in changes.values()}


def test_one_changed_value_is_one_change_with_its_path(made: dict[str, Any]) -> None:
    now = copy.deepcopy(made)
    kind = next(iter(now["layers"]["base"][record.BEHAVIOURS].values()))
    kind["outcome"] = {"<kind>": "ToolMessage", "content": ["a", {"b": 2}]}
    before = copy.deepcopy(now)
    kind["outcome"]["content"][1]["b"] = 3
    (change,) = record.compare(before, now)
    assert (change.path, change.before, change.after) == ("content[1].b", "2", "3")
    kind["outcome"]["content"] = ["a"]
    (change,) = record.compare(before, now)
    assert (change.path, change.before, change.after) == ("content[1]", "{'b': 2}", "nothing")


def test_a_comparison_that_only_one_record_has_is_no_change(made: dict[str, Any]) -> None:
    before = copy.deepcopy(made)
    before["layers"]["base"][record.BEHAVIOURS].popitem()
    assert list(record.compare(before, made)) == list(record.compare(made, before)) == []


def test_a_fingerprint_sees_code_and_not_comments(tmp_path: Path) -> None:
    def print_of(text: str, number: int) -> str:
        path = tmp_path / f"{number}.py"
        path.write_text(text, encoding="utf-8")
        last = len(text.splitlines())
        return record.print_of(Place("f", "m", "p 1", f"{number}.py", 1, last, path))

    first = print_of('def f(a):\n    """Old."""\n    return a + 1\n', 1)
    assert print_of('def f(a):\n    """New."""\n\n    # why\n    return (a + 1)\n', 2) == first
    assert print_of("def f(a):\n    return a + 2\n", 3) != first


def test_plain_data_becomes_json() -> None:
    value = Record("Message", {"content": ("a", 1), "extra": {2: object}})
    made = record.data_of(value)
    assert json.loads(json.dumps(made)) == made
    assert made["content"] == ["a", 1]


def test_the_command_compares(made: dict[str, Any], monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setattr(record, "make", lambda step: made)
    own, other = "one", "two"
    if ledger.installed_set() == "two":
        own, other = other, own
    assert cli.main(["check", "--against", RECORDED[own]]) == 0
    assert "no changes" in capsys.readouterr().out
    assert cli.main(["check", "--against", RECORDED[other]]) == 1
    printed = capsys.readouterr().out
    assert "infer_schema=False makes a simple Tool ([0].description)" in printed
    assert cli.main(["check", "--json", "--against", RECORDED[other]]) == 1
    assert {one["kind"] for one in json.loads(capsys.readouterr().out)} == {
        record.BEHAVIOURS,
        record.SIGNATURES,
        record.BODIES,
    }


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"layers": [], "versions": {}}'])
def test_what_is_no_record_is_refused(text: str, tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text, encoding="utf-8")
    assert cli.main(["check", "--against", str(path)]) == 2
    assert "is no record of minilc check --record" in capsys.readouterr().err
    assert cli.main(["check", "--against", str(tmp_path / "none.json")]) == 2
    assert "there are langchain-1.2.15, langchain-1.5.2" in capsys.readouterr().err


# --- the places that the articles name ------------------------------------------------------------


def test_every_place_of_the_articles_is_here_or_known_to_be_gone() -> None:
    gone = {one.what for one in places.NAMED if not one.is_here}
    expected = {"one": set(), "two": {"_normalize_tool_response()"}}
    assert gone == expected[ledger.installed_set()]


def test_the_places_are_in_the_articles_order() -> None:
    claims = [one.claim for one in places.NAMED]
    assert claims == sorted(claims, key=lambda one: (one[0], int(one[2:])))


def test_the_command_lists_the_places_of_an_article(capsys: Any) -> None:
    assert cli.main(["where", "--article", "a"]) == 0
    printed = capsys.readouterr().out
    assert "said  langchain_core/tools.py, line 977  (langchain-core 0.2.12)" in printed
    assert "here  langchain_core/tools/convert.py:" in printed
    assert ("body changed" in printed) == (ledger.installed_set() == "two")
    assert cli.main(["where", "--article", "c"]) == 2
    assert cli.main(["where"]) == 2
