"""Layer 1: what a message is, what it coerces, what it refuses."""

import json
import sys
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel, ValidationError

from minilc.course import divergences
from minilc.course.worlds import LANGCHAIN, MINILC, World

BOTH = (MINILC, LANGCHAIN)
CALL = {"name": "get_weather", "args": {"city": "北京"}, "id": "call_1", "type": "tool_call"}
PAGE = (
    "\nFor troubleshooting, visit: https://docs.langchain.com/oss/python/langchain/errors/"
    "MESSAGE_COERCION_FAILURE "
)


def raw_call(arguments: Any, **more: Any) -> dict[str, Any]:
    """A tool call as OpenAI's endpoint sends it."""
    return {"id": "call_1", "function": {"name": "get_weather", "arguments": arguments}, **more}


def test_messages_are_equal_by_class_and_fields(lc: World) -> None:
    assert lc.HumanMessage("hi") == lc.HumanMessage(content="hi")
    assert lc.HumanMessage("hi") != lc.HumanMessage("hi", id="1")
    assert lc.HumanMessage("hi") != lc.SystemMessage("hi")


def test_content_is_text_or_a_list_of_text_and_blocks(lc: World) -> None:
    blocks = ["a", {"type": "image_url", "image_url": {"url": "x"}}]
    assert lc.HumanMessage(blocks).content == blocks
    assert lc.HumanMessage(("a", "b")).content == ["a", "b"]
    with pytest.raises(ValidationError, match="^2 validation errors for HumanMessage\ncontent.str"):
        lc.HumanMessage(5)
    with pytest.raises(ValidationError, match="^2 validation errors for AIMessage\ncontent.str"):
        lc.AIMessage()


def test_the_text_of_a_message_is_its_text_blocks(lc: World) -> None:
    blocks = [{"type": "text", "text": "a"}, "b", {"type": "json", "text": "c"}, {"type": "text"}]
    assert lc.AIMessage(blocks).text == "ab"
    assert lc.AIMessage("ab").text == "ab"


def test_an_id_may_be_a_number_and_may_be_set_later(lc: World) -> None:
    message = lc.HumanMessage("hi", id=5)
    assert message.id == "5"
    message.id = "6"
    assert message == lc.HumanMessage("hi", id="6")


def test_a_field_that_no_message_has_is_kept(lc: World) -> None:
    assert lc.HumanMessage("hi", mood="sunny").mood == "sunny"


def test_repr_leaves_out_what_has_its_default(lc: World) -> None:
    assert repr(lc.HumanMessage("hi")) == (
        "HumanMessage(content='hi', additional_kwargs={}, response_metadata={})"
    )
    assert repr(lc.ToolMessage("hi", tool_call_id="1", status="error")) == (
        "ToolMessage(content='hi', tool_call_id='1', status='error')"
    )


def test_a_message_is_plain_data_after_model_dump(lc: World) -> None:
    assert lc.AIMessage("hi", tool_calls=[CALL]).model_dump() == {
        "content": "hi",
        "additional_kwargs": {},
        "response_metadata": {},
        "type": "ai",
        "name": None,
        "id": None,
        "tool_calls": [CALL],
        "invalid_tool_calls": [],
        "usage_metadata": None,
    }


def test_a_tool_call_gets_its_type(lc: World) -> None:
    given = [{"name": "get_weather", "args": {"city": "北京"}, "id": "call_1"}]
    assert lc.AIMessage("", tool_calls=given).tool_calls == [CALL]
    assert given == [{"name": "get_weather", "args": {"city": "北京"}, "id": "call_1"}]


def test_a_tool_call_needs_name_args_and_id_and_nothing_else(lc: World) -> None:
    with pytest.raises(TypeError) as missing:
        lc.AIMessage("", tool_calls=[{"name": "f", "args": {}}])
    assert str(missing.value) == "tool_call() missing 1 required keyword-only argument: 'id'"
    with pytest.raises(TypeError) as unknown:
        lc.AIMessage("", tool_calls=[CALL | {"city": "北京"}])
    assert str(unknown.value) == "tool_call() got an unexpected keyword argument 'city'"


def test_the_args_of_a_call_are_a_dict(lc: World) -> None:
    with pytest.raises(ValidationError) as failure:
        lc.AIMessage("", tool_calls=[CALL | {"args": '{"city": "北京"}'}])
    assert [error["loc"] for error in failure.value.errors()] == [("tool_calls", 0, "args")]


def test_a_tool_message_makes_text_of_other_content(lc: World) -> None:
    def content(value: Any) -> Any:
        return lc.ToolMessage(value, tool_call_id="1").content

    assert content(5) == "5"
    assert content(None) == "None"
    assert content({"a": 1}) == "{'a': 1}"
    assert content(("a", 5, {"type": "text"})) == ["a", "5", {"type": "text"}]


def test_the_id_of_the_answered_call_may_be_a_number(lc: World) -> None:
    assert lc.ToolMessage("x", tool_call_id=5).tool_call_id == "5"


def test_what_was_given_to_a_tool_message_stays_as_it_was(lc: World) -> None:
    given = {"content": [5], "tool_call_id": 5}
    lc.ToolMessage.model_validate(given)
    lc.ToolMessage(**given)
    assert given == {"content": [5], "tool_call_id": 5}


def test_a_tool_message_may_be_returned_by_a_tool(lc: World) -> None:
    assert isinstance(lc.ToolMessage("x", tool_call_id="1"), lc.ToolOutputMixin)


def test_a_remove_message_has_an_id_and_no_content(lc: World) -> None:
    assert (lc.RemoveMessage("1").id, lc.RemoveMessage(id="1").content) == ("1", "")
    assert lc.RemoveMessage(id="1", content="").content == ""
    with pytest.raises(ValueError, match="^RemoveMessage does not support 'content' field.$"):
        lc.RemoveMessage(id="1", content="x")


def test_any_message_picks_the_class_by_type(lc: World) -> None:
    class State(BaseModel):
        messages: list[lc.AnyMessage]

    kept = lc.AIMessage("b")
    state = State(messages=[{"type": "human", "content": "a"}, kept])
    assert state.messages == [lc.HumanMessage("a"), kept]
    assert state.messages[1] is kept


def test_pretty_print_shows_the_calls(lc: World, capsys: pytest.CaptureFixture[str]) -> None:
    lc.AIMessage("One moment.", name="bot", tool_calls=[CALL]).pretty_print()
    assert capsys.readouterr().out == (
        "================================== Ai Message ==================================\n"
        "Name: bot\n"
        "\n"
        "One moment.\n"
        "Tool Calls:\n"
        "  get_weather (call_1)\n"
        " Call ID: call_1\n"
        "  Args:\n"
        "    city: 北京\n"
    )


def test_titles_are_never_bold_in_minilc(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert divergences.row("bold-titles")
    # Where somebody sits before the interpreter, it has a second prompt.
    monkeypatch.setattr(sys, "ps2", "... ", raising=False)
    line = "================================"
    for lc, title in ((LANGCHAIN, "\033[1m Human Message \033[0m"), (MINILC, " Human Message ")):
        lc.HumanMessage("hi").pretty_print()
        assert capsys.readouterr().out == f"{line}{title}{line}=\n\nhi\n"


def test_strings_pairs_dicts_and_messages_become_messages(lc: World) -> None:
    message = lc.AIMessage("d")
    assert lc.convert_to_messages(
        ["a", ("human", "b"), ["system", "c"], message, {"role": "user", "content": "e"}]
    ) == [
        lc.HumanMessage("a"),
        lc.HumanMessage("b"),
        lc.SystemMessage("c"),
        message,
        lc.HumanMessage("e"),
    ]


@pytest.mark.parametrize(
    ("role", "name"),
    [
        ("human", "HumanMessage"),
        ("user", "HumanMessage"),
        ("ai", "AIMessage"),
        ("assistant", "AIMessage"),
        ("system", "SystemMessage"),
    ],
)
def test_a_role_picks_the_class(lc: World, role: str, name: str) -> None:
    (message,) = lc.convert_to_messages([(role, "x")])
    assert type(message) is getattr(lc, name)
    assert message.additional_kwargs == {}


def test_a_dict_of_openai_with_calls_becomes_an_ai_message(lc: World) -> None:
    given = {"role": "assistant", "content": None, "tool_calls": [raw_call('{"city": "北京"}')]}
    before = json.dumps(given)
    assert lc.convert_to_messages([given]) == [lc.AIMessage("", tool_calls=[CALL])]
    assert json.dumps(given) == before


def test_a_dict_with_broken_arguments_is_a_json_error(lc: World) -> None:
    given = {"role": "assistant", "content": "", "tool_calls": [raw_call("{")]}
    with pytest.raises(json.JSONDecodeError):
        lc.convert_to_messages([given])


def test_a_dict_of_a_tool_becomes_a_tool_message(lc: World) -> None:
    given = {"role": "tool", "content": "x", "tool_call_id": "1", "status": "error", "artifact": 5}
    expected = lc.ToolMessage("x", tool_call_id="1", status="error", artifact=5)
    assert lc.convert_to_messages([given]) == [expected]


def test_what_is_no_field_goes_to_additional_kwargs_and_in_minilc_to_the_message() -> None:
    assert divergences.row("unknown-keys")
    given: dict[str, Any] = {
        "type": "human",
        "content": "x",
        "name": "n",
        "id": "1",
        "response_metadata": {"a": 1},
        "additional_kwargs": {"b": 2},
        "c": 3,
    }
    fields = {"name": "n", "id": "1", "response_metadata": {"a": 1}}
    assert LANGCHAIN.convert_to_messages([given]) == [
        LANGCHAIN.HumanMessage("x", **fields, additional_kwargs={"b": 2, "c": 3})
    ]
    assert MINILC.convert_to_messages([given]) == [
        MINILC.HumanMessage("x", **fields, additional_kwargs={"b": 2}, c=3)
    ]


def test_an_unknown_role_is_an_error(lc: World) -> None:
    with pytest.raises(ValueError) as failure:
        lc.convert_to_messages([("robot", "x")])
    assert str(failure.value) == (
        "Unexpected message type: 'robot'. Use one of 'human', 'user', 'ai', 'assistant', "
        f"'function', 'tool', 'system', or 'developer'.{PAGE}"
    )


@pytest.mark.parametrize("given", [{"role": "user"}, {"content": "x"}, {}])
def test_a_dict_without_role_or_content_is_an_error(lc: World, given: dict[str, str]) -> None:
    with pytest.raises(ValueError) as failure:
        lc.convert_to_messages([given])
    assert str(failure.value) == (
        f"Message dict must contain 'role' and 'content' keys, got {given}{PAGE}"
    )


def test_a_number_is_no_message(lc: World) -> None:
    with pytest.raises(NotImplementedError) as failure:
        lc.convert_to_messages([5])
    assert str(failure.value) == f"Unsupported message type: <class 'int'>{PAGE}"


# Differences on purpose


def test_minilc_lists_only_calls_that_can_run() -> None:
    assert divergences.row("pretty-invalid-calls")
    broken = {"name": "f", "args": "{", "id": "call_2", "error": "cut off"}
    title = "================================== Ai Message =================================="
    lines = ["Invalid Tool Calls:", "  f (call_2)", " Call ID: call_2", "  Error: cut off"]
    shown = LANGCHAIN.AIMessage("", invalid_tool_calls=[broken]).pretty_repr()
    assert shown == "\n".join([title, *lines, "  Args:", "    {"])
    assert MINILC.AIMessage("", invalid_tool_calls=[broken]).pretty_repr() == title


def test_minilc_has_no_function_message() -> None:
    assert divergences.row("function-message")
    given = [{"role": "function", "name": "f", "content": "x"}]
    assert LANGCHAIN.convert_to_messages(given)[0].type == "function"
    with pytest.raises(ValueError, match="^Unexpected message type: 'function'."):
        MINILC.convert_to_messages(given)


def test_minilc_reads_no_raw_calls() -> None:
    assert divergences.row("raw-calls")
    extra = {"tool_calls": [raw_call('{"city": "北京"}'), raw_call('{"city": ')]}
    read = LANGCHAIN.AIMessage("", additional_kwargs=extra)
    assert (len(read.tool_calls), len(read.invalid_tool_calls)) == (1, 1)
    kept = MINILC.AIMessage("", additional_kwargs=extra)
    assert (kept.tool_calls, kept.invalid_tool_calls) == ([], [])
    assert kept.additional_kwargs == extra


def test_an_answer_without_a_call_id_is_a_validation_error_in_minilc() -> None:
    assert divergences.row("missing-call-id")
    with pytest.raises(KeyError, match="^'tool_call_id'$"):
        LANGCHAIN.ToolMessage("x")
    with pytest.raises(ValidationError) as failure:
        MINILC.ToolMessage("x")
    assert [(e["type"], e["loc"]) for e in failure.value.errors()] == [
        ("missing", ("tool_call_id",))
    ]
    for tool_call_id in (5, 1.5):
        same = {lc.ToolMessage("x", tool_call_id=tool_call_id).tool_call_id for lc in BOTH}
        assert same == {str(tool_call_id)}
    assert LANGCHAIN.ToolMessage("x", tool_call_id=UUID(int=1)).tool_call_id == str(UUID(int=1))
    with pytest.raises(ValidationError, match="Input should be a valid string"):
        MINILC.ToolMessage("x", tool_call_id=UUID(int=1))
