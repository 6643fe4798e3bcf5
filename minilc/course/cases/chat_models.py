"""Layer 7, chat_models: what is bound to a model, what it is sent, and what is read back."""

# Annotations name a world's classes, which are chosen at run time.
# mypy: disable-error-code="name-defined, valid-type"

import threading
from typing import Any

import httpx
from pydantic import BaseModel

from minilc.course.cases import case
from minilc.course.cases.support import asks, call, sent
from minilc.course.wire import Wire, completion, openai_model
from minilc.course.worlds import World

LAYER = "chat_models"


def weather_tool(lc: World) -> Any:
    @lc.tool
    def get_weather(city: str) -> str:
        """Get current weather for a city."""
        return f"{city} is sunny, 28C"

    return get_weather


def echo_model(lc: World, **seen: Any) -> Any:
    """A model of one's own: it answers with what it was given."""

    class Echo(lc.BaseChatModel):
        @property
        def _llm_type(self) -> str:
            return "echo"

        def _generate(
            self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
        ) -> Any:
            text = " | ".join(f"{message.type}: {message.content}" for message in messages)
            seen.setdefault("calls", []).append((stop, kwargs))
            message = lc.AIMessage(f"{text} {stop} {sorted(kwargs)}")
            return lc.ChatResult(generations=[lc.ChatGeneration(message=message)])

    return Echo()


# Asking


@case(LAYER, "a model takes a text")
def ask_text(lc: World) -> Any:
    return echo_model(lc).invoke("你好").content


@case(LAYER, "a model takes messages, dicts and pairs")
def ask_messages(lc: World) -> Any:
    asked = [lc.SystemMessage("s"), {"role": "user", "content": "u"}, ("ai", "a"), "plain"]
    return echo_model(lc).invoke(asked).content


@case(LAYER, "a model takes no number")
def ask_number(lc: World) -> Any:
    return echo_model(lc).invoke(5)


@case(LAYER, "a model takes no state: a dict is not a list of messages")
def ask_state(lc: World) -> Any:
    return echo_model(lc).invoke({"messages": ["hi"]})


@case(LAYER, "a message with an unknown role never reaches the model")
def ask_robot(lc: World) -> Any:
    return echo_model(lc).invoke([("robot", "beep")])


@case(LAYER, "stop and other arguments reach the model")
def ask_with_arguments(lc: World) -> Any:
    return echo_model(lc).invoke("hi", stop=["。"], temperature=0).content


@case(LAYER, "an answer without an id gets one, of the run")
def answer_id(lc: World) -> Any:
    return lc.ScriptedChatModel(["晴"]).invoke("天气？")


@case(LAYER, "one message given twice has the id of the first answer")
def answer_twice(lc: World) -> Any:
    model = lc.GenericFakeChatModel(messages=iter([lc.AIMessage("晴")] * 2))
    return model.invoke("a").id == model.invoke("b").id


@case(LAYER, "an answer with an id keeps it")
def answer_keeps_id(lc: World) -> Any:
    return lc.ScriptedChatModel([lc.AIMessage("晴", id="m1")]).invoke("天气？").id


@case(LAYER, "a model without an async form runs in a thread when awaited")
async def ask_awaited(lc: World) -> Any:
    return (await echo_model(lc).ainvoke("你好", stop=["。"])).content


@case(LAYER, "what a model raises comes out as it is")
def model_raises(lc: World) -> Any:
    def broken(messages: Any) -> Any:
        raise RuntimeError("the provider is down")

    return lc.ScriptedChatModel(broken).invoke("hi")


@case(LAYER, "a model without _generate cannot be made")
def abstract(lc: World) -> Any:
    class Nothing(lc.BaseChatModel):
        @property
        def _llm_type(self) -> str:
            return "nothing"

    return Nothing()


@case(LAYER, "a model gets no run manager", differs="run-manager")
def run_manager(lc: World) -> Any:
    class Watched(lc.BaseChatModel):
        @property
        def _llm_type(self) -> str:
            return "watched"

        def _generate(
            self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
        ) -> Any:
            message = lc.AIMessage(f"run manager: {run_manager is not None}")
            return lc.ChatResult(generations=[lc.ChatGeneration(message=message)])

    return Watched().invoke("hi").content


@case(LAYER, "a model need not say of which type it is", differs="run-manager")
def untyped(lc: World) -> Any:
    class Untyped(lc.BaseChatModel):
        def _generate(
            self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
        ) -> Any:
            return lc.ChatResult(generations=[lc.ChatGeneration(message=lc.AIMessage("hi"))])

    return Untyped().invoke("hi").content


@case(LAYER, "a generation must hold a message")
def no_message(lc: World) -> Any:
    return lc.ChatGeneration(message="just text")


@case(LAYER, "what the provider says of an answer goes into response_metadata")
def response_metadata(lc: World) -> Any:
    class Told(lc.BaseChatModel):
        @property
        def _llm_type(self) -> str:
            return "told"

        def _generate(
            self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
        ) -> Any:
            generation = lc.ChatGeneration(
                message=lc.AIMessage("hi"), generation_info={"finish_reason": "stop"}
            )
            return lc.ChatResult(generations=[generation], llm_output={"model_name": "m"})

    return Told().invoke("hi").response_metadata


# Binding


@case(LAYER, "a model that knows no tools says so when they are bound")
def bind_tools_abstract(lc: World) -> Any:
    return echo_model(lc).bind_tools([weather_tool(lc)])


@case(LAYER, "bind keeps arguments for every call, and the call's own win")
def bind(lc: World) -> Any:
    seen: dict[str, Any] = {"calls": []}
    bound = echo_model(lc, **seen).bind(temperature=0, seed=7)
    bound.invoke("a")
    bound.invoke("b", temperature=1)
    bound.bind(stop=["x"], seed=8).invoke("c")
    return seen["calls"]


@case(LAYER, "bind_tools runs nothing and leaves the model as it was")
def bind_tools_pure(lc: World) -> Any:
    ran = []

    @lc.tool
    def search(query: str) -> str:
        """Search."""
        ran.append(query)
        return ""

    model = lc.ScriptedChatModel(["a", "b"])
    bound = model.bind_tools([search])
    bound.invoke("with")
    model.invoke("without")
    return [request.tools for request in model.requests], ran


@case(LAYER, "the model is told of a tool as JSON, and asks for it; nothing runs")
def request_of_tool(lc: World) -> Any:
    answer = asks(lc, call("get_weather", {"city": "北京"}))
    model = lc.ScriptedChatModel([answer])
    reply = model.bind_tools([weather_tool(lc)]).invoke("北京今天天气怎么样？")
    return reply.tool_calls, model.requests[0].tools, model.requests[0].messages


@case(LAYER, "tool_choice and other options are bound beside the tools")
def tool_choice(lc: World) -> Any:
    model = lc.ScriptedChatModel(["a", "b", "c"])
    for options in ({}, {"tool_choice": "any"}, {"tool_choice": "get_weather", "seed": 7}):
        model.bind_tools([weather_tool(lc)], **options).invoke("hi")
    return [(request.tool_choice, request.kwargs) for request in model.requests]


@case(LAYER, "strict reaches the schema of the tools")
def bind_strict(lc: World) -> Any:
    model = lc.ScriptedChatModel(["a"])
    model.bind_tools([weather_tool(lc)], strict=True).invoke("hi")
    return model.requests[0].tools


@case(LAYER, "functions, models, provider dicts and tools can be bound together")
def bind_kinds(lc: World) -> Any:
    class Answer(BaseModel):
        """The final answer."""

        text: str

    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    model = lc.ScriptedChatModel(["a"])
    model.bind_tools([add, Answer, {"type": "web_search"}, weather_tool(lc)]).invoke("hi")
    return model.requests[0].tools


@case(LAYER, "what is no tool is refused when it is bound")
def bind_nonsense(lc: World) -> Any:
    return lc.ScriptedChatModel(["a"]).bind_tools([5])


@case(LAYER, "binding again replaces the tools")
def bind_again(lc: World) -> Any:
    @lc.tool
    def clock() -> str:
        """Tell the time."""
        return ""

    model = lc.ScriptedChatModel(["a"])
    bound = model.bind_tools([weather_tool(lc)])
    bound.bind_tools([clock]).invoke("hi")
    return [tool["function"]["name"] for tool in model.requests[0].tools]


# The scripted model


@case(LAYER, "a script that has run out fails loudly")
def script_exhausted(lc: World) -> Any:
    model = lc.ScriptedChatModel(["one"])
    model.invoke("first")
    return model.invoke([lc.HumanMessage("first"), lc.AIMessage("one"), lc.HumanMessage("二")])


@case(LAYER, "an empty script fails at the first question")
def script_empty(lc: World) -> Any:
    return lc.ScriptedChatModel([]).invoke("hi")


@case(LAYER, "a script is a list or a function")
def script_of_wrong_kind(lc: World) -> Any:
    return lc.ScriptedChatModel("one")


@case(LAYER, "an answer that is no message is refused")
def script_of_numbers(lc: World) -> Any:
    return lc.ScriptedChatModel([5]).invoke("hi")


@case(LAYER, "a function of the history may return nonsense, which is refused then")
def script_returns_nonsense(lc: World) -> Any:
    return lc.ScriptedChatModel(lambda messages: {"content": "hi"}).invoke("hi")


@case(LAYER, "a script may be a function of the history")
def script_function(lc: World) -> Any:
    def answer(messages: Any) -> str:
        return f"{len(messages)} messages, the last from {messages[-1].type}"

    model = lc.ScriptedChatModel(answer)
    return model.invoke("a").content, model.invoke(["a", ("ai", "b")]).content


@case(LAYER, "two runs of one script do not share their messages")
def script_copies(lc: World) -> Any:
    answer = asks(lc, call("get_weather", {"city": "北京"}))
    first = lc.ScriptedChatModel([answer, answer])
    one, two = first.invoke("a"), first.invoke("b")
    one.tool_calls[0]["args"]["city"] = "changed"
    return two.tool_calls, answer.tool_calls, one.id == two.id


@case(LAYER, "the scripted model keeps what it was sent when it is awaited, too")
async def script_awaited(lc: World) -> Any:
    model = lc.ScriptedChatModel(["a"])
    await model.bind_tools([weather_tool(lc)], tool_choice="any").ainvoke("hi")
    return sent(model)


@case(LAYER, "GenericFakeChatModel gives its messages one after the other")
def fake(lc: World) -> Any:
    model = lc.GenericFakeChatModel(messages=iter(["a", lc.AIMessage("b")]))
    return model.invoke("x").content, model.invoke("y").content


@case(LAYER, "GenericFakeChatModel knows no tools")
def fake_with_tools(lc: World) -> Any:
    return lc.GenericFakeChatModel(messages=iter(["a"])).bind_tools([weather_tool(lc)])


# Over the wire: minilc's OpenAIChatModel and langchain_openai.ChatOpenAI, on one endpoint


def over_the_wire(lc: World, asked: Any, reply: Any = None, **bound: Any) -> Any:
    """The body that is sent for these messages, and what is read from the reply."""
    wire = Wire(reply or completion("好"))
    model = openai_model(lc, wire.transport)
    tools = bound.pop("tools", [])
    answer = (model.bind_tools(tools, **bound) if tools else model.bind(**bound)).invoke(asked)
    return wire.bodies, read(answer)


def read(answer: Any) -> dict[str, Any]:
    """What an answer says, without the provider's remarks about it."""
    names = "content tool_calls invalid_tool_calls additional_kwargs".split()
    # Upstream adds the details of the usage, empty where there are none: openai-usage-details.
    usage = {k: v for k, v in answer.usage_metadata.items() if k.endswith("_tokens")}
    return {name: getattr(answer, name) for name in names} | {"usage": usage}


@case(LAYER, "the body of a question")
def wire_question(lc: World) -> Any:
    asked = [lc.SystemMessage("你是天气助手"), lc.HumanMessage("北京今天天气怎么样？", name="ming")]
    return over_the_wire(lc, asked)


@case(LAYER, "the body with a tool in it, and the call that comes back")
def wire_tool(lc: World) -> Any:
    reply = completion(None, [("get_weather", '{"city": "北京"}')])
    return over_the_wire(lc, "北京今天天气怎么样？", reply, tools=[weather_tool(lc)])


@case(LAYER, "a call and its answer go back as JSON text and as a tool message")
def wire_history(lc: World) -> Any:
    asked = [
        lc.HumanMessage("北京今天天气怎么样？"),
        asks(lc, call("get_weather", {"city": "北京"}), call("get_weather", {}, "c2")),
        lc.ToolMessage("晴", tool_call_id="c1", name="get_weather"),
        lc.ToolMessage("Error", tool_call_id="c2", status="error", artifact=[1]),
    ]
    return over_the_wire(lc, asked)


@case(LAYER, "a broken call goes back as it came")
def wire_invalid_history(lc: World) -> Any:
    broken = {"name": "clock", "args": "{", "id": "c1", "error": "cut", "type": "invalid_tool_call"}
    return over_the_wire(lc, [lc.HumanMessage("a"), lc.AIMessage("", invalid_tool_calls=[broken])])


@case(LAYER, "content blocks go out as blocks")
def wire_blocks(lc: World) -> Any:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    return over_the_wire(lc, [lc.HumanMessage([{"type": "text", "text": "什么？"}, image])])


@case(LAYER, "arguments that are broken JSON become an invalid call with the reason")
def wire_broken_arguments(lc: World) -> Any:
    reply = completion(None, [("get_weather", '{"city": "北'), ("get_weather", '{"city": "上海"}')])
    return over_the_wire(lc, "天气？", reply, tools=[weather_tool(lc)])


@case(LAYER, "empty arguments and null are an empty dict")
def wire_empty_arguments(lc: World) -> Any:
    reply = completion(None, [("a", ""), ("b", "{}"), ("c", "null")])
    _, answer = over_the_wire(lc, "hi", reply, tools=[weather_tool(lc)])
    return answer


@case(LAYER, "arguments that are valid JSON and no object are an error")
def wire_other_arguments(lc: World) -> Any:
    reply = completion(None, [("get_weather", '"北京"')])
    return over_the_wire(lc, "hi", reply, tools=[weather_tool(lc)])


@case(LAYER, "tool_choice as OpenAI wants it, for each way of saying it")
def wire_tool_choice(lc: World) -> Any:
    choices = ["auto", "none", "any", "required", "get_weather", True, {"type": "function"}]
    bodies = []
    for choice in choices:
        sent_bodies, _ = over_the_wire(lc, "hi", tools=[weather_tool(lc)], tool_choice=choice)
        bodies.append(sent_bodies[0].get("tool_choice"))
    return bodies


@case(LAYER, "a tool_choice of another kind is refused", differs="openai-errors")
def wire_wrong_tool_choice(lc: World) -> Any:
    return over_the_wire(lc, "hi", tools=[weather_tool(lc)], tool_choice=3.5)


@case(LAYER, "strict and other options go into the body")
def wire_options(lc: World) -> Any:
    return over_the_wire(
        lc, "hi", tools=[weather_tool(lc)], strict=True, temperature=0, stop=["。"]
    )


@case(LAYER, "a refusal is kept")
def wire_refusal(lc: World) -> Any:
    _, answer = over_the_wire(lc, "hi", completion(None, refusal="I will not."))
    return answer


@case(LAYER, "what the provider says of its answer", differs="openai-absent-keys")
def wire_metadata(lc: World) -> Any:
    return openai_model(lc, Wire(completion("好")).transport).invoke("hi").response_metadata


@case(LAYER, "the details of the usage", differs="openai-usage-details")
def wire_usage(lc: World) -> Any:
    reply = completion("好")
    reply["usage"]["prompt_tokens_details"] = {"cached_tokens": 8}
    return openai_model(lc, Wire(reply).transport).invoke("hi").usage_metadata


@case(LAYER, "blocks of another provider's answer", differs="openai-content-blocks")
def wire_other_blocks(lc: World) -> Any:
    blocks = [
        {"type": "text", "text": "晴", "citations": []},
        {"type": "thinking", "thinking": "…"},
    ]
    sent_bodies, _ = over_the_wire(lc, [lc.AIMessage(blocks)])
    return sent_bodies[0]["messages"]


@case(LAYER, "who speaks as developer", differs="openai-content-blocks")
def wire_developer(lc: World) -> Any:
    sent_bodies, _ = over_the_wire(lc, [{"role": "developer", "content": "短"}])
    return sent_bodies[0]["messages"]


@case(LAYER, "an error of the endpoint", differs="openai-errors")
def wire_error(lc: World) -> Any:
    reply = httpx.Response(400, json={"error": {"message": "messages must not be empty"}})
    return over_the_wire(lc, [], reply)


@case(LAYER, "an endpoint that is none of OpenAI's kind", differs="openai-errors")
def wire_page(lc: World) -> Any:
    return over_the_wire(lc, "hi", httpx.Response(200, text="<html>"))


@case(LAYER, "a question that is awaited stays in its thread", differs="openai-async")
async def wire_thread(lc: World) -> Any:
    here, asked_in = threading.get_ident(), []

    def answer(request: httpx.Request) -> httpx.Response:
        asked_in.append(threading.get_ident())
        return httpx.Response(200, json=completion("好"))

    await openai_model(lc, httpx.MockTransport(answer)).ainvoke("hi")
    return asked_in == [here]


@case(LAYER, "the same when awaited")
async def wire_awaited(lc: World) -> Any:
    wire = Wire(completion(None, [("get_weather", '{"city": "北京"}')]))
    model = openai_model(lc, wire.transport).bind_tools([weather_tool(lc)])
    return read(await model.ainvoke("北京今天天气怎么样？")), wire.bodies


@case(LAYER, "an agent over the wire: two requests, the second with the answer in it")
def wire_agent(lc: World) -> Any:
    wire = Wire(completion(None, [("get_weather", '{"city": "北京"}')]), completion("北京今天晴。"))
    agent = lc.create_agent(openai_model(lc, wire.transport), [weather_tool(lc)])
    result = agent.invoke({"messages": [("user", "北京今天天气怎么样？")]})
    return wire.bodies, [message.content for message in result["messages"]]
