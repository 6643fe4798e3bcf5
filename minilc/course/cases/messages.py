"""Layer 1, messages: what is said between the model, the tools and the loop."""

import contextlib
import io
import re
from typing import Any

from minilc.course.cases import case
from minilc.course.cases.support import asks, call
from minilc.course.worlds import World

LAYER = "messages"


@case(LAYER, "a tool request has four keys, and the type is added when it is left out")
def request_has_four_keys(lc: World) -> Any:
    message = lc.AIMessage(
        content="", tool_calls=[{"name": "get_weather", "args": {"city": "北京"}, "id": "call_1"}]
    )
    return message.tool_calls


@case(LAYER, "a plain answer has two empty lists of calls")
def plain_answer(lc: World) -> Any:
    message = lc.AIMessage("北京今天晴。")
    return message.content, message.tool_calls, message.invalid_tool_calls


@case(LAYER, "a call without an id key is refused when the message is made")
def call_without_id(lc: World) -> Any:
    return lc.AIMessage("", tool_calls=[{"name": "get_weather", "args": {}}])


@case(LAYER, "arguments that are still JSON text are refused")
def arguments_as_text(lc: World) -> Any:
    return lc.AIMessage("", tool_calls=[call("get_weather") | {"args": '{"city": "北京"}'}])


@case(LAYER, "a call may have the id None")
def call_id_none(lc: World) -> Any:
    return asks(lc, call("get_weather", {"city": "北京"}, id=None)).tool_calls


@case(LAYER, "a ToolMessage without tool_call_id is refused", differs="missing-call-id")
def answer_without_id(lc: World) -> Any:
    return lc.ToolMessage(content="sunny")


@case(LAYER, "a ToolMessage whose tool_call_id is None is refused with another error")
def answer_with_id_none(lc: World) -> Any:
    return lc.ToolMessage(content="sunny", tool_call_id=None)


@case(LAYER, "a number as tool_call_id becomes text")
def number_as_id(lc: World) -> Any:
    return lc.ToolMessage(content="sunny", tool_call_id=7).tool_call_id


@case(LAYER, "the status of a ToolMessage is success or error, nothing else")
def unknown_status(lc: World) -> Any:
    return lc.ToolMessage(content="x", tool_call_id="c1", status="failed")


@case(LAYER, "a tuple as the content of a ToolMessage becomes a list")
def tuple_content(lc: World) -> Any:
    return lc.ToolMessage(
        content=("a", {"type": "text", "text": "b"}, 3), tool_call_id="c1"
    ).content


@case(LAYER, "a number as the content of a ToolMessage becomes text")
def number_content(lc: World) -> Any:
    return lc.ToolMessage(content=25.5, tool_call_id="c1").content


@case(LAYER, "an artifact stays beside the content and is not part of it")
def artifact_beside_content(lc: World) -> Any:
    message = lc.ToolMessage(content="2 rows", artifact=[{"city": "北京"}, {}], tool_call_id="c1")
    return message.content, message.artifact, message.text


@case(LAYER, "role dicts become the messages of their roles")
def role_dicts(lc: World) -> Any:
    return lc.convert_to_messages(
        [
            {"role": "system", "content": "你是天气助手"},
            {"role": "user", "content": "北京今天天气怎么样？"},
            {"role": "assistant", "content": "", "tool_calls": [call("get_weather")]},
            {"role": "tool", "content": "sunny", "tool_call_id": "c1"},
        ]
    )


@case(LAYER, "strings and pairs become messages too")
def strings_and_pairs(lc: World) -> Any:
    pairs = ["hi", ("human", "a"), ("ai", "b"), ("system", "c"), ("user", "d"), ("assistant", "e")]
    return [(message.type, message.content) for message in lc.convert_to_messages(pairs)]


@case(LAYER, "a message that is one already stays the same object")
def messages_stay(lc: World) -> Any:
    message = lc.HumanMessage("hi")
    return lc.convert_to_messages([message])[0] is message


@case(LAYER, "an unknown role is refused with the list of the known ones")
def unknown_role(lc: World) -> Any:
    return lc.convert_to_messages([{"role": "robot", "content": "beep"}])


@case(LAYER, "a dict without content is refused")
def dict_without_content(lc: World) -> Any:
    return lc.convert_to_messages([{"role": "user"}])


@case(LAYER, "a number is no message")
def number_is_no_message(lc: World) -> Any:
    return lc.convert_to_messages([42])


@case(LAYER, "a dict may name its kind by type instead of role")
def type_instead_of_role(lc: World) -> Any:
    return lc.convert_to_messages([{"type": "ai", "content": "x"}])


@case(LAYER, "an assistant dict with null content has empty text")
def null_content(lc: World) -> Any:
    dicts = [{"role": "assistant", "content": None, "tool_calls": [call("get_weather")]}]
    return lc.convert_to_messages(dicts)


@case(LAYER, "calls in OpenAI's shape carry arguments as a JSON string, which is parsed")
def openai_shape(lc: World) -> Any:
    function = {"name": "get_weather", "arguments": '{"city": "北京"}'}
    wire = [{"id": "c1", "type": "function", "function": function}]
    (message,) = lc.convert_to_messages([{"role": "assistant", "content": "", "tool_calls": wire}])
    return message.tool_calls, message.additional_kwargs


@case(
    LAYER,
    "calls in additional_kwargs are read when the message is made",
    differs="raw-calls",
)
def additional_kwargs_at_birth(lc: World) -> Any:
    function = {"name": "clock", "arguments": '{"city": "Oslo"}'}
    extra = {"tool_calls": [{"id": "c1", "type": "function", "function": function}]}
    return lc.AIMessage(content="", additional_kwargs=extra).tool_calls


@case(LAYER, "calls put into additional_kwargs later are not read")
def additional_kwargs_later(lc: World) -> Any:
    message = lc.AIMessage("")
    function = {"name": "clock", "arguments": "{}"}
    message.additional_kwargs["tool_calls"] = [{"id": "c1", "function": function}]
    return message.tool_calls


@case(LAYER, "broken JSON arguments in a dict are an error of the JSON")
def broken_json(lc: World) -> Any:
    function = {"name": "clock", "arguments": '{"city": "Os'}
    wire = [{"id": "c1", "type": "function", "function": function}]
    return lc.convert_to_messages([{"role": "assistant", "content": "", "tool_calls": wire}])


@case(LAYER, "text that looks like a call is text")
def text_is_text(lc: World) -> Any:
    return lc.AIMessage('{"name": "clock", "args": {"city": "Oslo"}}').tool_calls


@case(LAYER, "a content block of type tool_use is no call either")
def tool_use_block(lc: World) -> Any:
    block = {"type": "tool_use", "id": "c1", "name": "clock", "input": {"city": "Oslo"}}
    return lc.AIMessage(content=[block]).tool_calls


@case(LAYER, "the text of content blocks is that of the text blocks, joined")
def text_of_blocks(lc: World) -> Any:
    blocks = ["今天", {"type": "text", "text": "晴"}, {"type": "image_url", "image_url": "x"}]
    return str(lc.HumanMessage(blocks).text)


@case(LAYER, "messages are equal by class and by every field")
def equality(lc: World) -> Any:
    return (
        lc.HumanMessage("hi") == lc.HumanMessage("hi"),
        lc.HumanMessage("hi") == lc.AIMessage("hi"),
        lc.HumanMessage("hi", id="1") == lc.HumanMessage("hi", id="2"),
    )


@case(LAYER, "pretty_repr of a request lists the calls and their arguments")
def pretty_request(lc: World) -> Any:
    message = asks(lc, call("get_weather", {"city": "北京", "days": 2}), text="我查一下")
    return message.pretty_repr()


@case(LAYER, "pretty_repr of a ToolMessage names the tool")
def pretty_answer(lc: World) -> Any:
    return lc.ToolMessage("晴", tool_call_id="c1", name="get_weather").pretty_repr()


@case(LAYER, "pretty_repr shows invalid calls with their error", differs="pretty-invalid-calls")
def pretty_invalid(lc: World) -> Any:
    broken = {"name": "clock", "args": "{", "id": "c1", "error": "cut", "type": "invalid_tool_call"}
    return lc.AIMessage("", invalid_tool_calls=[broken]).pretty_repr()


@case(LAYER, "pretty_print prints pretty_repr")
def pretty_print(lc: World) -> Any:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        lc.HumanMessage("北京今天天气怎么样？", name="小明").pretty_print()
    # Upstream's title is bold where somebody sits before the interpreter: bold-titles.
    return re.sub(r"\x1b\[\d+m", "", printed.getvalue())


@case(LAYER, "model_dump of a request is plain data")
def dumped_request(lc: World) -> Any:
    return asks(lc, call("get_weather", {"city": "北京"}), id="m1").model_dump()


@case(LAYER, "model_dump of an answer is plain data")
def dumped_answer(lc: World) -> Any:
    return lc.ToolMessage("晴", tool_call_id="c1", artifact=[1], status="error").model_dump()


@case(LAYER, "repr shows every field, because error texts quote it")
def repr_of_request(lc: World) -> Any:
    return repr(asks(lc, call("get_weather", {"city": "北京"}), id="m1"))


@case(LAYER, "the text of a message for str is its fields, without the class")
def str_of_answer(lc: World) -> Any:
    return str(lc.ToolMessage("晴", tool_call_id="c1", name="get_weather"))


@case(LAYER, "content must be text or a list of blocks")
def content_none(lc: World) -> Any:
    return lc.HumanMessage(None)


@case(LAYER, "a RemoveMessage names an id and takes no content")
def remove_message(lc: World) -> Any:
    message = lc.RemoveMessage(id="m1")
    return message.type, message.content, message.id


@case(LAYER, "a RemoveMessage with content is refused")
def remove_with_content(lc: World) -> Any:
    return lc.RemoveMessage(id="m1", content="gone")


@case(LAYER, "a field that a message does not know is kept")
def unknown_field(lc: World) -> Any:
    return lc.HumanMessage("hi", mood="good").mood


@case(LAYER, "usage that lacks a count is refused", differs="usage-metadata")
def usage_without_total(lc: World) -> Any:
    return lc.AIMessage("hi", usage_metadata={"input_tokens": 3}).usage_metadata


@case(LAYER, "the role function makes a message of its own", differs="function-message")
def function_message(lc: World) -> Any:
    return lc.convert_to_messages([{"role": "function", "name": "f", "content": "x"}])


@case(LAYER, "usage is kept beside the text")
def usage(lc: World) -> Any:
    counts = {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}
    return lc.AIMessage("hi", usage_metadata=counts).usage_metadata


@case(LAYER, "ToolMessage and Command are tool outputs, other messages are not")
def tool_outputs(lc: World) -> Any:
    values = [lc.ToolMessage("x", tool_call_id="c1"), lc.Command(), lc.AIMessage("x")]
    return [isinstance(value, lc.ToolOutputMixin) for value in values]


@case(LAYER, "a call in OpenAI's form whose arguments are empty is an error")
def empty_arguments(lc: World) -> Any:
    function = {"name": "get_weather", "arguments": ""}
    asked = [{"id": "c1", "type": "function", "function": function}]
    return lc.convert_to_messages([{"role": "assistant", "content": "", "tool_calls": asked}])
