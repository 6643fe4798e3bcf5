"""The judge: what it reads as equal, where it says that two outcomes differ, how it shows them."""

from __future__ import annotations

import asyncio
import enum
import logging
import warnings
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest
from pydantic import BaseModel
from rich.console import Console

from minilc.course import behaviours
from minilc.course.plain import ABSENT, Reader, Record, first_difference, pretty
from minilc.course.twin import DIFFERENT, EQUAL, REGISTERED, STALE, observe, twin
from minilc.course.worlds import LANGCHAIN, MINILC, World


def read(value: Any) -> Any:
    """The value as plain data, as a new reader reads it."""
    return Reader().read(value)


def test_the_same_value_in_both_worlds_is_equal() -> None:
    result = twin(lambda lc: lc.HumanMessage("北京"))
    assert result.verdict == EQUAL
    assert result.ok
    assert result.minilc.result == Record("HumanMessage", {"content": "北京"})
    assert result.assert_equal() is result


def test_a_difference_is_named_by_its_path() -> None:
    result = twin(lambda lc: {"messages": [lc.HumanMessage("a"), lc.HumanMessage(lc.name)]})
    assert result.verdict == DIFFERENT
    assert not result.ok
    assert str(result.difference) == (
        "['messages'][1].content: minilc 'minilc', LangChain 'langchain'"
    )


def test_assert_equal_fails_with_the_whole_comparison() -> None:
    def names(lc: World) -> str:
        """The name of the world"""
        return lc.name

    with pytest.raises(AssertionError) as caught:
        twin(names).assert_equal()
    assert str(caught.value) == (
        "DIFFERENT  The name of the world\n"
        "  minilc     >>'minilc'<<\n"
        "  LangChain  >>'langchain'<<\n"
        "  first at the value itself: minilc 'minilc', LangChain 'langchain'"
    )


def test_an_error_is_an_outcome_that_is_compared_by_type_and_whole_message() -> None:
    same = twin(lambda lc: lc.convert_to_messages([3]))
    assert same.verdict == EQUAL
    assert same.minilc.raised and same.langchain.raised
    assert same.minilc.result.kind == "raises NotImplementedError"

    def other_message(lc: World) -> None:
        raise ValueError(f"no such thing in {lc.name}")

    result = twin(other_message)
    assert result.verdict == DIFFERENT
    assert result.minilc.result == Record("raises ValueError", {"": "no such thing in minilc"})


def test_an_error_that_is_raised_is_not_the_one_that_is_returned() -> None:
    def error(lc: World) -> Exception:
        if lc.name == "minilc":
            raise ValueError("x")
        return ValueError("x")

    assert twin(error).verdict == DIFFERENT


def test_a_stop_by_the_user_is_not_an_outcome() -> None:
    def stop(lc: World) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        twin(stop)


def test_async_functions_and_generators_run_to_their_end() -> None:
    async def one(lc: World) -> Any:
        await asyncio.sleep(0)
        return lc.name

    async def many(lc: World) -> Any:
        yield 1
        yield 2

    def three(lc: World) -> Any:
        yield from (1, 2, 3)

    assert observe(one, MINILC).result == "minilc"
    assert observe(many, MINILC).result == [1, 2]
    assert observe(three, MINILC).result == [1, 2, 3]


def test_it_works_where_a_loop_is_running_as_in_a_notebook() -> None:
    async def inner(lc: World) -> str:
        return lc.name

    def starts_a_loop(lc: World) -> str:
        return asyncio.run(inner(lc))

    async def notebook() -> list[Any]:
        return [observe(inner, LANGCHAIN).result, observe(starts_a_loop, LANGCHAIN).result]

    assert asyncio.run(notebook()) == ["langchain", "langchain"]


def test_warnings_are_kept_and_compared_but_for_announced_deprecations() -> None:
    def warned(lc: World) -> int:
        warnings.warn("careful", UserWarning, stacklevel=1)
        warnings.warn("careful", UserWarning, stacklevel=1)
        warnings.warn("some day", DeprecationWarning, stacklevel=1)
        return 1

    def warned_once(lc: World) -> int:
        if lc.name == "minilc":
            warnings.warn("careful", UserWarning, stacklevel=1)
        return 1

    assert observe(warned, MINILC).warned == ("UserWarning: careful",)
    assert twin(warned).verdict == EQUAL
    assert twin(warned_once).verdict == DIFFERENT


def test_what_a_library_logs_is_shown_and_not_compared() -> None:
    def logs(lc: World) -> int:
        if lc.name == "langchain":
            logging.getLogger("langgraph.pregel").warning("went %s", "nowhere")
        return 1

    result = twin(logs)
    assert result.verdict == EQUAL
    assert result.langchain.logged == ("WARNING: went nowhere",)
    assert "logged WARNING: went nowhere" in repr(result)


def test_a_registered_difference_names_its_row() -> None:
    result = twin(lambda lc: lc.name, differs="unknown-destination")
    assert result.verdict == REGISTERED
    assert result.ok
    assert result.reason.startswith("unknown-destination: ")


def test_a_registered_difference_that_is_none_is_stale() -> None:
    result = twin(lambda lc: 1, differs="unknown-destination")
    assert result.verdict == STALE
    assert not result.ok


def test_a_behaviour_row_counts_only_before_its_release(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(behaviours, "active", lambda row: False)
    assert twin(lambda lc: lc.name, behaviour="send-payload").verdict == REGISTERED
    assert twin(lambda lc: 1, behaviour="send-payload").verdict == STALE
    monkeypatch.setattr(behaviours, "active", lambda row: True)
    assert twin(lambda lc: lc.name, behaviour="send-payload").verdict == DIFFERENT
    assert twin(lambda lc: 1, behaviour="send-payload").verdict == EQUAL


def test_an_unknown_row_is_an_error_that_lists_the_rows() -> None:
    with pytest.raises(LookupError) as caught:
        twin(lambda lc: 1, differs="no-such-row")
    assert str(caught.value).startswith("no divergence 'no-such-row'; the register has ")
    assert "unknown-destination" in str(caught.value)


# What is read as equal


def test_generated_ids_are_numbered_in_their_order() -> None:
    first, second = str(uuid4()), f"lc_run--{uuid4()}-0"
    reader = Reader()
    assert reader.read([first, second, first]) == ["<id 1>", "<id 2>", "<id 1>"]
    assert list(reader.rules) == ["generated ids (numbered)"]


def test_given_ids_stay() -> None:
    assert read(["call_1", "m-7", "0123"]) == ["call_1", "m-7", "0123"]


def test_addresses_modules_and_link_versions_go_out_of_texts() -> None:
    reader = Reader()
    assert reader.clean("<Tool object at 0x7f00deadbeef>") == "<Tool object at 0x..>"
    assert reader.clean("<class 'langchain_core.messages.ai.AIMessage'>") == "<class 'AIMessage'>"
    assert reader.clean("<class 'minilc.messages.AIMessage'>") == "<class 'AIMessage'>"
    link = "https://errors.pydantic.dev/2.14/v/missing"
    assert reader.clean(link) == "https://errors.pydantic.dev/2/v/missing"
    page = "https://docs.langchain.com/oss/python/langgraph/errors/X"
    assert reader.clean(page) == page


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (1, True),
        (1, 1.0),
        ("1", 1),
        (None, ""),
        ([1], (1,)),
        ([], None),
        ({"a": None}, {}),
        ({"a": 1}, {"a": 2}),
        ([1, 2], [1]),
        (Record("A"), Record("B")),
    ],
)
def test_what_python_may_hold_equal_or_falsy_is_not_equal_here(ours: Any, theirs: Any) -> None:
    assert first_difference(read(ours), read(theirs)) is not None


@pytest.mark.parametrize(
    "value", [float("nan"), {"b": 1, "a": [float("nan")]}, {1, "a"}, (), b"x", range(3)]
)
def test_a_value_is_equal_to_itself(value: Any) -> None:
    assert first_difference(read(value), read(value)) is None


def test_the_order_of_keys_is_not_compared_and_that_of_items_is() -> None:
    assert first_difference({"a": 1, "b": 2}, {"b": 2, "a": 1}) is None
    difference = first_difference([1, 2], [2, 1])
    assert difference is not None and difference.path == ("[0]",)


def test_a_missing_key_is_absent() -> None:
    difference = first_difference({"a": 1}, {"a": 1, "b": 2})
    assert difference is not None
    assert difference.ours is ABSENT
    assert str(difference) == "['b']: minilc absent, LangChain 2"


def test_objects_are_read_as_their_class_and_fields(lc: World) -> None:
    class Color(enum.Enum):
        RED = 1

    @dataclass
    class Point:
        x: int

    class Place(BaseModel):
        city: str

    assert read(Color.RED) == Record("Color.RED")
    assert read(Point(1)) == Record("Point", {"x": 1})
    assert read(Place(city="北京")) == Record("Place", {"city": "北京"})
    assert read(Place).fields[""]["required"] == ["city"]
    assert read(KeyError("x")) == Record("KeyError", {"": "'x'"})
    assert read(len) == Record("function len")
    assert read(object()) == Record("object object")
    assert read(lc.HumanMessage) == Record("class HumanMessage")
    assert read(lc.Send("tools", 1)) == Record("Send", {"node": "tools", "arg": 1})
    assert read(lc.Command(goto="a")) == Record("Command", {"goto": "a"})


def test_a_message_is_read_with_what_is_set(lc: World) -> None:
    call = {"name": "f", "args": {}, "id": "1", "type": "tool_call"}
    assert read(lc.AIMessage("", tool_calls=[call])) == Record(
        "AIMessage", {"content": "", "tool_calls": [call]}
    )
    assert read(lc.ToolMessage("no", tool_call_id="1", status="error", artifact=[])) == Record(
        "ToolMessage", {"content": "no", "tool_call_id": "1", "status": "error", "artifact": []}
    )


def test_a_tool_is_read_with_its_schema(lc: World) -> None:
    @lc.tool
    def add(a: int) -> int:
        "Add."
        return a

    plain = read(add)
    assert plain.kind == "StructuredTool"
    assert plain.fields["name"] == "add"
    assert plain.fields["args_schema"].fields[""]["properties"] == {
        "a": {"title": "A", "type": "integer"}
    }


def test_a_value_inside_itself_ends() -> None:
    loop: list[Any] = [1]
    loop.append(loop)
    assert read(loop) == [1, Record("...")]


# How it is shown


def test_long_values_are_broken_and_short_ones_are_not() -> None:
    assert pretty({"a": [1, (2,)]}) == "{'a': [1, (2,)]}"
    assert pretty({"a": "x" * 20, "b": Record("B", {"c": None})}, width=30) == (
        "{\n  'a': 'xxxxxxxxxxxxxxxxxxxx',\n  'b': B(c=None),\n}"
    )


def test_long_texts_are_broken_between_words_and_lose_nothing() -> None:
    text = "one two three\nfour five " + "x" * 25
    shown = pretty(text, width=12)
    assert shown.splitlines()[:2] == ["('one two '", " 'three\\n'"]
    assert eval(shown) == text  # a printed text is a literal of Python


def test_the_page_escapes_what_it_shows_and_marks_the_difference() -> None:
    result = twin(lambda lc: f"<b>{lc.name}</b> & 北京", title="<script>")
    page = result._repr_html_()
    assert "<b>" not in page and "<script>" not in page
    assert "<mark>&#x27;&lt;b&gt;minilc&lt;/b&gt; &amp; 北京&#x27;</mark>" in page
    assert "DIFFERENT" in page


def test_private_characters_in_a_value_are_not_taken_for_marks() -> None:
    class Sly:
        def __repr__(self) -> str:
            return "\ue000sly\ue001"

    page = twin(lambda lc: [Sly(), "\ue000", lc.name])._repr_html_()
    assert page.count("<mark>") == 2


def test_a_terminal_shows_title_values_and_verdict() -> None:
    console = Console(record=True, width=80, file=open_nothing())
    console.print(twin(lambda lc: [1, lc.name], title="names [red]of[/] worlds"))
    text = console.export_text()
    for shown in ("names [red]of[/] worlds", "[1, 'minilc']", "[1, 'langchain']", "DIFFERENT"):
        assert shown in text


def open_nothing() -> Any:
    """A file that keeps nothing."""
    import io

    return io.StringIO()


def test_a_long_value_is_cut_on_the_page_and_whole_in_the_failure() -> None:
    result = twin(lambda lc: [lc.name, *range(100)])
    assert "more lines" in repr(result)
    with pytest.raises(AssertionError) as caught:
        result.assert_equal()
    assert "more lines" not in str(caught.value)


def test_the_same_run_prints_the_same_twice() -> None:
    def messages(lc: World) -> Any:
        return lc.add_messages([], [lc.HumanMessage("a"), lc.HumanMessage("b")])

    assert repr(twin(messages)) == repr(twin(messages))
    assert "read as equal: generated ids (numbered)" in repr(twin(messages))
