"""Layer 7: what a model is asked, what is bound to it, and what goes over the wire."""

from __future__ import annotations

import asyncio
import itertools
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from pydantic import BaseModel, ValidationError

import minilc
from minilc.chat_models import APIStatusError, ScriptedRequest, ScriptExhausted
from minilc.course import divergences
from minilc.course.wire import MODEL, Wire, completion, minilc_openai, openai_model
from minilc.course.worlds import LANGCHAIN, World

Invoke = Callable[..., Any]

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}


def weather_tool(lc: World) -> Any:
    @lc.tool
    def get_weather(city: str) -> str:
        """Get the weather of a city."""
        return f"{city}: 晴"

    return get_weather


def call(name: str = "get_weather", id: str | None = "c1", **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args, "id": id, "type": "tool_call"}


def model_of(lc: World, answer: Callable[..., Any]) -> Any:
    """A model of one's own; `answer(messages, stop, kwargs)` gives the ChatResult."""

    class Own(lc.BaseChatModel):
        @property
        def _llm_type(self) -> str:
            return "own"

        def _generate(
            self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
        ) -> Any:
            return answer(messages, stop, kwargs)

    return Own()


def result_of(lc: World, message: Any, **info: Any) -> Any:
    return lc.ChatResult(generations=[lc.ChatGeneration(message=message)], **info)


# A model of one's own


def test_a_model_takes_a_text_or_messages_in_any_form(lc: World, invoke: Invoke) -> None:
    def answer(messages: Any, stop: Any, kwargs: Any) -> Any:
        return result_of(lc, lc.AIMessage(" ".join(f"{m.type}:{m.content}" for m in messages)))

    model = model_of(lc, answer)
    assert invoke(model, "你好").content == "human:你好"
    history = [lc.SystemMessage("s"), {"role": "user", "content": "u"}, ("ai", "a"), "t"]
    assert invoke(model, history).content == "system:s human:u ai:a human:t"
    assert invoke(model, ()).content == ""


def test_a_model_takes_nothing_else(lc: World, invoke: Invoke) -> None:
    model = model_of(lc, lambda *args: pytest.fail("asked"))
    for given in (5, None, {"messages": ["hi"]}):
        with pytest.raises(ValueError) as caught:
            invoke(model, given)
        assert str(caught.value) == (
            f"Invalid input type {type(given)}. "
            "Must be a PromptValue, str, or list of BaseMessages."
        )


def test_stop_and_other_arguments_reach_the_model(lc: World, invoke: Invoke) -> None:
    def answer(messages: Any, stop: Any, kwargs: Any) -> Any:
        return result_of(lc, lc.AIMessage(f"{stop} {kwargs}"))

    asked = invoke(model_of(lc, answer), "hi", stop=["。"], temperature=0)
    assert asked.content == "['。'] {'temperature': 0}"


def test_an_answer_gets_an_id_of_its_run_unless_it_has_one(lc: World, invoke: Invoke) -> None:
    answers = iter([lc.AIMessage("a"), lc.AIMessage("b"), lc.AIMessage("c", id="mine")])
    model = model_of(lc, lambda *args: result_of(lc, next(answers)))
    first, second, third = (invoke(model, "hi").id for _ in range(3))
    assert first.startswith("lc_run--") and first.endswith("-0")
    assert first != second
    assert third == "mine"


def test_a_message_that_is_given_twice_has_the_id_of_its_first_answer(
    lc: World, invoke: Invoke
) -> None:
    given = lc.AIMessage("a")
    model = model_of(lc, lambda *args: result_of(lc, given, llm_output={"model_name": "m"}))
    first, second = invoke(model, "hi"), invoke(model, "hi")
    assert first.response_metadata == second.response_metadata == {"model_name": "m"}
    assert first.id == second.id == given.id


def test_what_the_provider_says_stays_with_its_own_answer(lc: World, invoke: Invoke) -> None:
    # The metadata of a copy is the same dict at first.
    given, number = lc.AIMessage("a"), itertools.count()
    model = model_of(
        lc, lambda *args: result_of(lc, given.model_copy(), llm_output={"n": next(number)})
    )
    answers = [invoke(model, "hi").response_metadata["n"] for _ in range(2)]
    assert answers == [0, 1]
    assert given.response_metadata == {}


def test_what_the_provider_says_is_in_response_metadata(lc: World, invoke: Invoke) -> None:
    message = lc.AIMessage("a", response_metadata={"finish_reason": "own"})
    info = {"finish_reason": "stop", "logprobs": 1}
    generation = lc.ChatGeneration(message=message, generation_info=info)
    output = {"model_name": "m", "logprobs": 2}
    result = lc.ChatResult(generations=[generation], llm_output=output)
    assert invoke(model_of(lc, lambda *args: result), "hi").response_metadata == {
        "model_name": "m",
        "logprobs": 1,
        "finish_reason": "own",
    }


def test_the_first_of_several_answers_is_the_answer(lc: World, invoke: Invoke) -> None:
    generations = [lc.ChatGeneration(message=lc.AIMessage(text)) for text in "ab"]
    result = lc.ChatResult(generations=generations)
    assert invoke(model_of(lc, lambda *args: result), "hi").content == "a"


def test_a_generation_holds_a_message(lc: World) -> None:
    for given, kind in (("hi", "str"), (None, "NoneType"), (3, "int")):
        with pytest.raises(ValidationError) as caught:
            lc.ChatGeneration(message=given)
        assert str(caught.value).startswith(
            "1 validation error for ChatGeneration\nmessage\n"
            "  Input should be a valid dictionary or instance of BaseMessage "
            f"[type=model_type, input_value={given!r}, input_type={kind}]"
        )


def test_a_model_that_returns_no_result_fails(lc: World, invoke: Invoke) -> None:
    with pytest.raises(AttributeError) as caught:
        invoke(model_of(lc, lambda *args: lc.AIMessage("hi")), "hi")
    assert str(caught.value) == "'AIMessage' object has no attribute 'generations'"
    with pytest.raises(IndexError):
        invoke(model_of(lc, lambda *args: lc.ChatResult(generations=[])), "hi")


def test_what_a_model_raises_comes_out_as_it_is(lc: World, invoke: Invoke) -> None:
    def answer(*args: Any) -> Any:
        raise RuntimeError("the provider is down")

    with pytest.raises(RuntimeError) as caught:
        invoke(model_of(lc, answer), "hi")
    assert str(caught.value) == "the provider is down"


def test_a_model_must_say_how_it_answers(lc: World) -> None:
    class Nothing(lc.BaseChatModel):
        _llm_type = "nothing"

    with pytest.raises(TypeError) as caught:
        Nothing()
    assert "Can't instantiate abstract class Nothing" in str(caught.value)
    assert "_generate" in str(caught.value)


def test_a_model_need_not_say_its_type_and_gets_no_run_manager(lc: World, invoke: Invoke) -> None:
    """Row "run-manager": upstream needs the one and gives the other, for its traces."""

    class Untyped(lc.BaseChatModel):
        def _generate(
            self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
        ) -> Any:
            return result_of(lc, lc.AIMessage(f"{run_manager is None}"))

    if lc.name == "minilc":
        assert invoke(Untyped(), "hi").content == "True"
    else:
        with pytest.raises(TypeError, match="_llm_type"):
            Untyped()
        assert invoke(type("Typed", (Untyped,), {"_llm_type": "typed"})(), "hi").content == "False"


def test_a_model_that_runs_dry_does_not_hang(lc: World) -> None:
    model = model_of(lc, lambda *args: next(iter(())))
    with pytest.raises(StopIteration):
        model.invoke("hi")
    with pytest.raises(RuntimeError):
        asyncio.run(model.ainvoke("hi"))


# Binding


def test_a_model_that_knows_no_tools_says_so(lc: World) -> None:
    with pytest.raises(NotImplementedError) as caught:
        model_of(lc, lambda *args: None).bind_tools([weather_tool(lc)])
    assert str(caught.value) == ""


def test_bound_arguments_are_in_each_call_and_the_calls_own_win(lc: World, invoke: Invoke) -> None:
    seen: list[Any] = []

    def answer(messages: Any, stop: Any, kwargs: Any) -> Any:
        seen.append((stop, kwargs))
        return result_of(lc, lc.AIMessage("a"))

    bound = model_of(lc, answer).bind(temperature=0, seed=7)
    invoke(bound, "hi")
    invoke(bound, "hi", temperature=1)
    invoke(bound.bind(stop=["x"], seed=8), "hi")
    assert seen == [
        (None, {"temperature": 0, "seed": 7}),
        (None, {"temperature": 1, "seed": 7}),
        (["x"], {"temperature": 0, "seed": 8}),
    ]


def test_a_bound_model_is_still_the_model(lc: World) -> None:
    model = lc.ScriptedChatModel(["a"])
    bound = model.bind(seed=7)
    assert bound is not model
    assert bound.kwargs == {"seed": 7}
    assert bound.requests is model.requests
    with pytest.raises(AttributeError):
        bound.nothing  # noqa: B018  the access is the test


def test_tools_bound_to_a_bound_model_are_sent_beside_what_was_bound(
    lc: World, invoke: Invoke
) -> None:
    """Row "bound-model": upstream forgets it."""
    assert divergences.row("bound-model")
    model = lc.ScriptedChatModel(["a"])
    invoke(model.bind(seed=7).bind_tools([weather_tool(lc)]), "hi")
    assert model.requests[0].tools == [WEATHER]
    assert model.requests[0].kwargs == {"minilc": {"seed": 7}, "langchain": {}}[lc.name]


# The fake and the scripted model


def test_the_fake_model_gives_its_messages_one_after_the_other(lc: World, invoke: Invoke) -> None:
    model = lc.GenericFakeChatModel(messages=iter(["a", lc.AIMessage("b", id="2")]))
    assert invoke(model, "x").content == "a"
    assert invoke(model, "y").id == "2"


def test_the_fake_model_fails_when_it_has_no_more(lc: World) -> None:
    model = lc.GenericFakeChatModel(messages=iter([]))
    with pytest.raises(StopIteration):
        model.invoke("x")
    with pytest.raises(RuntimeError):
        asyncio.run(model.ainvoke("x"))


def test_a_script_keeps_each_request(lc: World, invoke: Invoke) -> None:
    asks = lc.AIMessage("", tool_calls=[call(city="北京")])
    model = lc.ScriptedChatModel([asks, "晴"])
    bound = model.bind_tools([weather_tool(lc)], tool_choice="any", seed=7)
    assert invoke(bound, "北京天气？").tool_calls == [call(city="北京")]
    assert invoke(model, [("user", "u")]).content == "晴"
    assert model.requests == [
        ScriptedRequest([lc.HumanMessage("北京天气？")], [WEATHER], "any", {"seed": 7}),
        ScriptedRequest([lc.HumanMessage("u")], [], None, {}),
    ]


def test_a_script_binds_functions_models_and_dicts_too(lc: World, invoke: Invoke) -> None:
    class Answer(BaseModel):
        """The answer."""

        text: str

    def ping() -> str:
        """Ping."""
        return ""

    model = lc.ScriptedChatModel(["a"])
    invoke(model.bind_tools([ping, Answer, {"type": "web_search"}], strict=True), "hi")
    tools = model.requests[0].tools
    assert [tool.get("function", {}).get("name") for tool in tools] == ["ping", "Answer", None]
    assert [tool.get("function", {}).get("strict") for tool in tools] == [True, True, None]


def test_a_script_refuses_what_is_no_tool(lc: World) -> None:
    with pytest.raises(ValueError, match="^Unsupported function\n\n5\n\n"):
        lc.ScriptedChatModel(["a"]).bind_tools([5])


def test_a_script_that_runs_out_fails_loudly(lc: World, invoke: Invoke) -> None:
    model = lc.ScriptedChatModel(["one"])
    invoke(model, "first")
    with pytest.raises(ScriptExhausted) as caught:
        invoke(model, [lc.HumanMessage("first"), lc.ToolMessage("晴", tool_call_id="c1")])
    assert str(caught.value) == "The script has no answer to request 2, after '晴'."
    with pytest.raises(ScriptExhausted) as caught:
        invoke(lc.ScriptedChatModel([]), [])
    assert str(caught.value) == "The script has no answer to request 1, after None."
    with pytest.raises(ScriptExhausted):
        invoke(lc.ScriptedChatModel(lambda messages: None), "hi")


def test_a_script_may_be_a_function_of_the_history(lc: World, invoke: Invoke) -> None:
    model = lc.ScriptedChatModel(lambda messages: f"{len(messages)} {messages[-1].content}")
    assert invoke(model, "a").content == "1 a"
    assert invoke(model, ["a", ("ai", "b")]).content == "2 b"


def test_a_script_is_no_text_and_an_answer_is_one_or_a_message(lc: World, invoke: Invoke) -> None:
    with pytest.raises(TypeError) as caught:
        lc.ScriptedChatModel("one")
    assert str(caught.value) == "A script must be a list of answers or a function (got 'one')."
    for answer in (5, ["hi"], {"content": "hi"}):
        with pytest.raises(
            ValidationError, match="^1 validation error for ChatGeneration\nmessage"
        ):
            invoke(lc.ScriptedChatModel([answer]), "hi")


def test_two_runs_do_not_share_what_a_script_answers(lc: World, invoke: Invoke) -> None:
    answer = lc.AIMessage("", tool_calls=[call(city="北京")])
    one = invoke(lc.ScriptedChatModel([answer]), "hi")
    two = invoke(lc.ScriptedChatModel([answer]), "hi")
    one.tool_calls[0]["args"]["city"] = "changed"
    assert two.tool_calls == answer.tool_calls == [call(city="北京")]
    assert answer.id is None and one.id != two.id


def test_a_script_in_minilcs_messages_is_played_in_langchain() -> None:
    broken = {"name": "f", "args": "{", "id": "c2", "error": "e", "type": "invalid_tool_call"}
    answer = minilc.AIMessage("", tool_calls=[call(city="北京")], invalid_tool_calls=[broken])
    played = LANGCHAIN.ScriptedChatModel([answer]).invoke("hi")
    assert type(played) is LANGCHAIN.AIMessage
    assert played.tool_calls == [call(city="北京")]
    assert played.invalid_tool_calls == [broken]


# The wire


def without_none(value: Any) -> Any:
    """Row "openai-absent-keys": upstream reads through classes that show what is absent as None."""
    if isinstance(value, dict):
        return {k: without_none(v) for k, v in value.items() if v is not None}
    return value


def usage_of(answer: Any) -> Any:
    """Row "openai-usage-details": upstream has two more keys."""
    return {k: v for k, v in answer.usage_metadata.items() if k.endswith("_tokens")}


def read(lc: World, invoke: Invoke, reply: Any) -> Any:
    """What the world's OpenAI model makes of a reply."""
    return invoke(openai_model(lc, Wire(reply).transport), "hi")


def sent(lc: World, invoke: Invoke, messages: Any, **options: Any) -> Any:
    """The body that the world's OpenAI model sends."""
    wire = Wire(completion("ok"))
    model = openai_model(lc, wire.transport)
    if options:
        model = model.bind_tools([weather_tool(lc)], **options)
    invoke(model, messages)
    return wire.bodies[0]


def test_a_question_is_sent_and_its_answer_read(lc: World, invoke: Invoke) -> None:
    wire = Wire(completion("晴，28°C"))
    answer = invoke(openai_model(lc, wire.transport), "北京今天天气怎么样？")
    assert wire.bodies == [
        {
            "model": MODEL,
            "stream": False,
            "messages": [{"role": "user", "content": "北京今天天气怎么样？"}],
        }
    ]
    request = wire.requests[0]
    assert (request.method, str(request.url)) == ("POST", "http://wire.test/v1/chat/completions")
    assert request.headers["authorization"] == "Bearer none"
    assert (answer.content, answer.tool_calls) == ("晴，28°C", [])
    assert answer.additional_kwargs == {"refusal": None}
    assert without_none(answer.response_metadata) == {
        "token_usage": {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25},
        "model_provider": "openai",
        "model_name": "gpt-4o-mini-2024-07-18",
        "id": "chatcmpl-1",
        "finish_reason": "stop",
    }
    assert usage_of(answer) == {"input_tokens": 20, "output_tokens": 5, "total_tokens": 25}
    assert answer.id.startswith("lc_run--")


def test_a_history_is_sent_with_its_calls_and_results(lc: World, invoke: Invoke) -> None:
    history = [
        lc.SystemMessage("说中文"),
        lc.HumanMessage("北京？", name="li"),
        lc.AIMessage("", tool_calls=[call(city="北京"), call("add", "c2", a=1)], name="bot"),
        lc.ToolMessage("晴", tool_call_id="c1", name="get_weather"),
        lc.ToolMessage("Error", tool_call_id="c2", status="error"),
        lc.AIMessage("好"),
    ]
    arguments = [("c1", "get_weather", '{"city": "北京"}'), ("c2", "add", '{"a": 1}')]
    calls = [
        {"type": "function", "id": id_, "function": {"name": name, "arguments": text}}
        for id_, name, text in arguments
    ]
    assert sent(lc, invoke, history)["messages"] == [
        {"role": "system", "content": "说中文"},
        {"role": "user", "content": "北京？", "name": "li"},
        {"role": "assistant", "content": None, "name": "bot", "tool_calls": calls},
        {"role": "tool", "content": "晴", "tool_call_id": "c1"},
        {"role": "tool", "content": "Error", "tool_call_id": "c2"},
        {"role": "assistant", "content": "好"},
    ]


def test_a_broken_call_is_sent_back_as_it_came(lc: World, invoke: Invoke) -> None:
    broken = {"name": "f", "args": "{", "id": "c9", "error": "e", "type": "invalid_tool_call"}
    history = [lc.AIMessage("hm", tool_calls=[call(id=None)], invalid_tool_calls=[broken])]
    function = {"name": "get_weather", "arguments": "{}"}
    assert sent(lc, invoke, history)["messages"] == [
        {
            "role": "assistant",
            "content": "hm",
            "tool_calls": [
                {"type": "function", "id": None, "function": function},
                {"type": "function", "id": "c9", "function": {"name": "f", "arguments": "{"}},
            ],
        }
    ]


def test_content_blocks_of_text_and_images_are_sent_as_they_are(lc: World, invoke: Invoke) -> None:
    text = {"type": "text", "text": "看"}
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    history = [
        lc.HumanMessage([text, image, "bare"]),
        lc.AIMessage([text]),
        lc.ToolMessage([text], tool_call_id="c1"),
        lc.AIMessage([], tool_calls=[call()]),
    ]
    contents = [message["content"] for message in sent(lc, invoke, history)["messages"]]
    assert contents == [[text, image, "bare"], [text], [text], None]


def test_content_blocks_of_other_providers_are_not_translated(lc: World, invoke: Invoke) -> None:
    """Row "openai-content-blocks": upstream drops or translates them."""
    text = {"type": "text", "text": "看", "citations": []}
    thought = {"type": "thinking", "thinking": "…"}
    content = sent(lc, invoke, [lc.AIMessage([text, thought])])["messages"][0]["content"]
    assert (
        content
        == {
            "minilc": [text, thought],
            "langchain": [{"type": "text", "text": "看"}],
        }[lc.name]
    )


def test_a_developer_speaks_as_system(lc: World, invoke: Invoke) -> None:
    """Row "openai-content-blocks"."""
    role = {"minilc": "system", "langchain": "developer"}[lc.name]
    developer = {"role": "developer", "content": "短"}
    assert sent(lc, invoke, [developer])["messages"] == [{**developer, "role": role}]


def test_tools_are_sent_as_json(lc: World, invoke: Invoke) -> None:
    body = sent(lc, invoke, "hi", tool_choice=None)
    assert body == {
        "model": MODEL,
        "stream": False,
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [WEATHER],
    }


def test_strict_and_other_options_are_sent(lc: World, invoke: Invoke) -> None:
    body = sent(lc, invoke, "hi", strict=True, parallel_tool_calls=False)
    function = body["tools"][0]["function"]
    assert function["strict"] is True
    assert function["parameters"]["additionalProperties"] is False
    assert body["parallel_tool_calls"] is False


def test_tool_choice_is_sent_in_openais_words(lc: World, invoke: Invoke) -> None:
    named = {"type": "function", "function": {"name": "get_weather"}}
    for given, expected in [
        ("auto", "auto"),
        ("none", "none"),
        ("any", "required"),
        ("required", "required"),
        (True, "required"),
        ("get_weather", named),
        (named, named),
        # Nobody checks that a tool of that name is there.
        ("other", "other"),
    ]:
        assert sent(lc, invoke, "hi", tool_choice=given)["tool_choice"] == expected
    for given in (None, False, ""):
        assert "tool_choice" not in sent(lc, invoke, "hi", tool_choice=given)


def test_a_tool_choice_of_another_kind_is_for_the_endpoint_to_refuse(
    lc: World, invoke: Invoke
) -> None:
    """Row "openai-errors": upstream refuses it when it is bound."""
    if lc.name == "minilc":
        assert sent(lc, invoke, "hi", tool_choice=3)["tool_choice"] == 3
    else:
        with pytest.raises(ValueError) as caught:
            sent(lc, invoke, "hi", tool_choice=3)
        assert str(caught.value) == (
            "Unrecognized tool_choice type. Expected str, bool or dict. Received: 3"
        )


def test_what_the_model_and_the_call_add_is_in_the_body(lc: World, invoke: Invoke) -> None:
    wire = Wire(completion("ok"))
    model = openai_model(lc, wire.transport, temperature=0.5, seed=7)
    invoke(model, "hi", stop=["。"], seed=8)
    body = wire.bodies[0]
    assert (body["temperature"], body["seed"], body["stop"]) == (0.5, 8, ["。"])


def test_calls_are_read_with_their_arguments(lc: World, invoke: Invoke) -> None:
    reply = completion(tool_calls=[("get_weather", '{"city": "北京"}'), ("add", '{"a": 1}')])
    answer = read(lc, invoke, reply)
    assert answer.content == ""
    assert answer.tool_calls == [call(id="call_1", city="北京"), call("add", "call_2", a=1)]
    assert answer.invalid_tool_calls == []
    assert answer.response_metadata["finish_reason"] == "tool_calls"


def test_no_arguments_are_read_as_none_given(lc: World, invoke: Invoke) -> None:
    for nothing in ("", None, "{}", "null", "[]"):
        answer = read(lc, invoke, completion(tool_calls=[("ping", nothing)]))
        assert answer.tool_calls == [call("ping", "call_1")]


def test_a_line_break_inside_a_text_is_no_fault(lc: World, invoke: Invoke) -> None:
    answer = read(lc, invoke, completion(tool_calls=[("say", '{"text": "a\nb"}')]))
    assert answer.tool_calls == [call("say", "call_1", text="a\nb")]


def test_broken_arguments_are_kept_as_invalid_calls(lc: World, invoke: Invoke) -> None:
    broken = '{"city": "北京'
    reply = completion(tool_calls=[("get_weather", broken), ("add", '{"a": 1}'), ("f", "no json")])
    answer = read(lc, invoke, reply)
    page = "https://docs.langchain.com/oss/python/langchain/errors/OUTPUT_PARSING_FAILURE"

    def invalid(id_: str, name: str, args: str, reason: str) -> dict[str, Any]:
        error = (
            f"Function {name} arguments:\n\n{args}\n\nare not valid JSON. Received JSONDecodeError "
            f"{reason}\nFor troubleshooting, visit: {page} "
        )
        kind = "invalid_tool_call"
        return {"type": kind, "id": id_, "name": name, "args": args, "error": error}

    assert answer.tool_calls == [call("add", "call_2", a=1)]
    assert answer.invalid_tool_calls == [
        invalid(
            "call_1",
            "get_weather",
            broken,
            "Unterminated string starting at: line 1 column 10 (char 9)",
        ),
        invalid("call_3", "f", "no json", "Expecting value: line 1 column 1 (char 0)"),
    ]


def test_arguments_that_are_no_object_are_an_error(lc: World, invoke: Invoke) -> None:
    with pytest.raises(ValidationError) as caught:
        read(lc, invoke, completion(tool_calls=[("add", "[1, 2]")]))
    assert str(caught.value).startswith(
        "1 validation error for AIMessage\ntool_calls.0.args\n  Input should be a valid dictionary"
    )


def test_a_call_without_a_name_or_an_id_is_read(lc: World, invoke: Invoke) -> None:
    reply = completion(tool_calls=[(None, "{}")])
    del reply["choices"][0]["message"]["tool_calls"][0]["id"]
    assert read(lc, invoke, reply).tool_calls == [call("", None)]


def test_a_refusal_is_read(lc: World, invoke: Invoke) -> None:
    answer = read(lc, invoke, completion(refusal="不行"))
    assert (answer.content, answer.additional_kwargs) == ("", {"refusal": "不行"})


def test_usage_is_read_without_its_details(lc: World, invoke: Invoke) -> None:
    """Row "openai-usage-details"."""
    reply = completion("ok")
    reply["usage"]["prompt_tokens_details"] = {"cached_tokens": 8}
    usage = read(lc, invoke, reply).usage_metadata
    details = {"minilc": None, "langchain": {"cache_read": 8}}[lc.name]
    assert (usage["input_tokens"], usage.get("input_token_details")) == (20, details)
    del reply["usage"]
    assert read(lc, invoke, reply).usage_metadata is None


def test_counts_that_an_endpoint_does_not_give_are_0_and_the_total_is_their_sum(
    lc: World, invoke: Invoke
) -> None:
    def counted(**usage: Any) -> list[int]:
        return list(usage_of(read(lc, invoke, completion("ok") | {"usage": usage})).values())

    assert counted(prompt_tokens=3, completion_tokens=4) == [3, 4, 7]
    assert counted(prompt_tokens=3, completion_tokens=None, total_tokens=3) == [3, 0, 3]
    assert counted(total_tokens=9) == [0, 0, 9]


def test_what_a_model_is_given_is_sent_unless_the_call_says_otherwise(
    lc: World, invoke: Invoke
) -> None:
    wire = Wire(completion("ok"))
    model = openai_model(lc, wire.transport, stop=["own"], seed=1)
    invoke(model, "hi")
    invoke(model, "hi", stop=["。"], seed=None)
    assert [(body["stop"], body["seed"]) for body in wire.bodies] == [(["own"], 1), (["。"], None)]


def test_beside_a_tool_of_the_provider_no_choice_is_sent_unless_there_is_one() -> None:
    wire = Wire(completion("ok"))
    minilc_openai(wire.transport).bind_tools([{"type": "web_search"}]).invoke("hi")
    assert "tool_choice" not in wire.bodies[0]


def test_the_first_of_several_choices_is_the_answer(lc: World, invoke: Invoke) -> None:
    reply = completion("first", finish_reason="length")
    reply["choices"].append({**reply["choices"][0], "index": 1})
    answer = read(lc, invoke, reply)
    assert (answer.content, answer.response_metadata["finish_reason"]) == ("first", "length")


def test_an_error_status_says_what_the_endpoint_said(lc: World, invoke: Invoke) -> None:
    """Row "openai-errors": upstream has a class of error for each status; minilc has one."""
    for status in (400, 401, 404, 429, 500):
        said = '{"error": {"message": "北京 is unknown"}}'
        with pytest.raises(Exception) as caught:  # noqa: B017  the type is compared below
            read(lc, invoke, httpx.Response(status, text=said))
        assert str(caught.value).startswith(f"Error code: {status} - ")
        assert "北京 is unknown" in str(caught.value)
        if lc.name == "minilc":
            assert type(caught.value) is APIStatusError
            assert str(caught.value) == f"Error code: {status} - {said}"


def test_a_reply_that_is_no_completion_is_an_error(lc: World, invoke: Invoke) -> None:
    """Row "openai-errors"."""
    for text in ('{"error": {"message": "bad"}}', '["no"]', "<html>" + "<p>" * 999):
        with pytest.raises(Exception) as caught:  # noqa: B017  the type is compared below
            read(lc, invoke, httpx.Response(200, text=text))
        if lc.name == "minilc":
            assert type(caught.value) is APIStatusError
            assert str(caught.value) == f"Error code: 200 - {text[:500]}"


def test_an_awaited_question_goes_over_a_sync_connection_in_a_thread(lc: World) -> None:
    """Row "openai-async"."""
    asked_in = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked_in.append(threading.current_thread() is threading.main_thread())
        return httpx.Response(200, json=completion("ok"))

    asyncio.run(openai_model(lc, httpx.MockTransport(answer)).ainvoke("hi"))
    assert asked_in == [{"minilc": False, "langchain": True}[lc.name]]


def test_a_key_does_not_show() -> None:
    assert "secret" not in repr(minilc.OpenAIChatModel(model="m", api_key="secret"))


def test_httpx_is_imported_only_for_the_wire() -> None:
    code = "import sys, minilc; assert 'httpx' not in sys.modules, 'httpx'"
    subprocess.run([sys.executable, "-c", code], check=True)
