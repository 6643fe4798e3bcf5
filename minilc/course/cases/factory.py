"""Layer 14, factory: what create_agent builds, and along which edges it runs."""

# Annotations name a world's classes, which are chosen at run time.
# mypy: disable-error-code="name-defined, valid-type"

import operator
from dataclasses import dataclass
from typing import Annotated, Any, NotRequired

from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from minilc.course.cases import case
from minilc.course.cases.support import asks, call, road, sent, user
from minilc.course.worlds import World

LAYER = "factory"

THREAD = {"configurable": {"thread_id": "1"}}


class Forecast(BaseModel):
    """The forecast of one city."""

    city: str
    degrees: int = Field(ge=-60, le=60)


class Sorry(BaseModel):
    """Why there is no forecast."""

    reason: str


def weather(lc: World, **options: Any) -> Any:
    @lc.tool(**options)
    def get_weather(city: str) -> str:
        """Get current weather for a city."""
        return f"{city} is sunny, 28C"

    return get_weather


def clock(lc: World) -> Any:
    @lc.tool
    def get_time(city: str) -> str:
        """Tell the time of a city."""
        return f"{city} 10:00"

    return get_time


def beijing(id: str = "c1") -> dict[str, Any]:
    return call("get_weather", {"city": "北京"}, id)


def run(lc: World, *answers: Any, tools: Any = (), **options: Any) -> Any:
    """The state at the end of an agent's run on this script."""
    return lc.create_agent(lc.ScriptedChatModel(list(answers)), tools, **options).invoke(user())


def drawn(agent: Any) -> Any:
    """Nodes and edges of an agent."""
    graph = agent.get_graph()
    edges = sorted((edge.source, edge.target, edge.conditional) for edge in graph.edges)
    return sorted(graph.nodes), edges


# The loop


@case(LAYER, "the articles' weather agent: human, call, answer, final answer")
def weather_agent(lc: World) -> Any:
    model = lc.ScriptedChatModel([asks(lc, beijing()), "北京今天晴，28 度。"])
    agent = lc.create_agent(model, [weather(lc)], system_prompt="你是一个会查询天气的助手。")
    return agent.invoke(user()), sent(model)


@case(LAYER, "the same when awaited")
async def weather_agent_awaited(lc: World) -> Any:
    model = lc.ScriptedChatModel([asks(lc, beijing()), "北京今天晴，28 度。"])
    agent = lc.create_agent(model, [weather(lc)], system_prompt="你是一个会查询天气的助手。")
    return await agent.ainvoke(user()), sent(model)


@case(LAYER, "the same as a stream of updates")
def weather_agent_streamed(lc: World) -> Any:
    model = lc.ScriptedChatModel([asks(lc, beijing()), "晴。"])
    return list(lc.create_agent(model, [weather(lc)]).stream(user(), stream_mode="updates"))


@case(LAYER, "a plain answer ends the run at once")
def plain_answer(lc: World) -> Any:
    return run(lc, "你好", tools=[weather(lc)])


@case(LAYER, "the system prompt is sent first each time and never stored; it may be a message")
def system_prompt(lc: World) -> Any:
    model = lc.ScriptedChatModel([asks(lc, beijing()), "晴。"])
    prompt = lc.SystemMessage("be short", id="s1")
    result = lc.create_agent(model, [weather(lc)], system_prompt=prompt).invoke(user())
    return road(result), [[message.type for message in r["messages"]] for r in sent(model)]


@case(LAYER, "two calls of one answer run in one step; the answers keep the calls' order")
def two_calls(lc: World) -> Any:
    model = lc.ScriptedChatModel(
        [asks(lc, beijing("c1"), call("get_time", {"city": "上海"}, "c2")), "done"]
    )
    agent = lc.create_agent(model, [clock(lc), weather(lc)])
    return agent.invoke(user(), {"recursion_limit": 4})


@case(LAYER, "calls of one round do not see one another's answers, those of two rounds do")
def rounds(lc: World) -> Any:
    seen = []

    @lc.tool
    def look(runtime: lc.ToolRuntime) -> str:
        """Look."""
        seen.append(len(runtime.state["messages"]))
        return "ok"

    run(
        lc,
        asks(lc, call("look", id="1"), call("look", id="2")),
        asks(lc, call("look", id="3")),
        "done",
        tools=[look],
    )
    return seen


@case(LAYER, "an unknown name is answered, and the model sees the answer")
def unknown_name(lc: World) -> Any:
    model = lc.ScriptedChatModel([asks(lc, call("get_weatherrr")), "sorry"])
    result = lc.create_agent(model, [weather(lc), clock(lc)]).invoke(user())
    return result, sent(model)[1]["messages"][-1]


@case(LAYER, "bad arguments are answered, and the model may try again")
def bad_arguments(lc: World) -> Any:
    return run(
        lc,
        asks(lc, call("get_weather", {"town": "北京"}, "c1")),
        asks(lc, beijing("c2")),
        "晴。",
        tools=[weather(lc)],
    )


@case(LAYER, "an error of the tool's body ends the run")
def body_raises(lc: World) -> Any:
    @lc.tool
    def pay() -> str:
        """Pay."""
        raise RuntimeError("bank is closed")

    return run(lc, asks(lc, call("pay")), tools=[pay])


@case(LAYER, "an async tool in a run that is not awaited ends it")
def async_tool(lc: World) -> Any:
    @lc.tool
    async def fetch() -> str:
        """Fetch."""
        return ""

    return run(lc, asks(lc, call("fetch")), tools=[fetch])


@case(LAYER, "a round trip is two steps, and one more is needed: n trips need 2n + 2")
def recursion_limit(lc: World) -> Any:
    model = lc.ScriptedChatModel(lambda messages: asks(lc, beijing(f"c{len(messages)}")))
    return lc.create_agent(model, [weather(lc)]).invoke(user(), {"recursion_limit": 7})


@case(LAYER, "a direct answer needs a limit of two")
def recursion_limit_of_one(lc: World) -> Any:
    model = lc.ScriptedChatModel(["hi"])
    return lc.create_agent(model, []).invoke(user(), {"recursion_limit": 1})


@case(LAYER, "an agent's own limit is 9999")
def recursion_limit_default(lc: World) -> Any:
    limits = []

    @lc.tool
    def look(runtime: lc.ToolRuntime) -> str:
        """Look."""
        limits.append(runtime.config["recursion_limit"])
        return ""

    run(lc, asks(lc, call("look")), "done", tools=[look])
    return limits


# What an agent may be given


@case(LAYER, "a plain function is made a tool")
def plain_function(lc: World) -> Any:
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    return run(lc, asks(lc, call("add", {"a": "1", "b": 2})), "3", tools=[add])


@case(LAYER, "a function without a docstring is refused when the agent is made")
def undocumented(lc: World) -> Any:
    return run(lc, tools=[lambda city: city])


@case(LAYER, "a provider's dict is sent to the model, last, and not run here")
def provider_dict(lc: World) -> Any:
    model = lc.ScriptedChatModel(["hi"])
    agent = lc.create_agent(model, [{"type": "web_search"}, weather(lc)])
    agent.invoke(user())
    return sent(model)[0]["tools"], drawn(agent)


@case(LAYER, "if there are only such dicts there is no tools node, and a call stays unanswered")
def only_provider_dicts(lc: World) -> Any:
    model = lc.ScriptedChatModel([asks(lc, call("web_search"))])
    agent = lc.create_agent(model, [{"type": "web_search"}])
    return agent.invoke(user()), drawn(agent)


@case(LAYER, "two tools of one name are one: the later")
def same_name(lc: World) -> Any:
    other = lc.tool("get_weather", description="The other.")(lambda city: f"other {city}")
    model = lc.ScriptedChatModel([asks(lc, beijing()), "done"])
    result = lc.create_agent(model, [weather(lc), other]).invoke(user())
    return result, [tool["function"]["description"] for tool in sent(model)[0]["tools"]]


@case(LAYER, "a ToolNode is no list of tools")
def a_tool_node(lc: World) -> Any:
    return lc.create_agent(lc.ScriptedChatModel([]), lc.ToolNode([weather(lc)]))


@case(LAYER, "without tools there is only the model")
def no_tools(lc: World) -> Any:
    model = lc.ScriptedChatModel(["hi"])
    agent = lc.create_agent(model)
    return agent.invoke(user()), drawn(agent), sent(model)


@case(LAYER, "a model that knows no tools fails at the first step")
def model_without_tools(lc: World) -> Any:
    model = lc.GenericFakeChatModel(messages=iter(["hi"]))
    return lc.create_agent(model, [weather(lc)]).invoke(user())


@case(LAYER, "without tools it works")
def model_without_tools_unused(lc: World) -> Any:
    model = lc.GenericFakeChatModel(messages=iter(["hi"]))
    return lc.create_agent(model, []).invoke(user())


@case(LAYER, "tools that were bound before are replaced by the agent's")
def bound_before(lc: World) -> Any:
    model = lc.ScriptedChatModel([asks(lc, call("get_time", {"city": "北京"})), "done"])
    agent = lc.create_agent(model.bind_tools([clock(lc)]), [weather(lc)])
    return agent.invoke(user()), [t["function"]["name"] for t in sent(model)[0]["tools"]]


@case(LAYER, "only model and tools go by position")
def positional(lc: World) -> Any:
    return lc.create_agent(lc.ScriptedChatModel([]), [], "be short")


@case(LAYER, "the old input is dropped: the model is asked with no messages")
def old_input(lc: World) -> Any:
    model = lc.ScriptedChatModel(["what?"])
    result = lc.create_agent(model, [weather(lc)]).invoke({"input": "hello"})
    return result, sent(model)[0]["messages"]


@case(LAYER, "messages may be one text")
def one_text(lc: World) -> Any:
    model = lc.ScriptedChatModel(["hi"])
    return lc.create_agent(model, []).invoke({"messages": "你好"})


@case(LAYER, "messages that are none are refused")
def number_message(lc: World) -> Any:
    return lc.create_agent(lc.ScriptedChatModel([]), []).invoke({"messages": [42]})


@case(LAYER, "the caller's messages stay as they were")
def messages_untouched(lc: World) -> Any:
    given = user()
    run_on = lc.create_agent(lc.ScriptedChatModel([asks(lc, beijing()), "x"]), [weather(lc)])
    run_on.invoke(given)
    return given


@case(LAYER, "a state_schema may add fields; fields that it lacks are dropped")
def state_schema(lc: World) -> Any:
    class State(lc.AgentState):
        city: NotRequired[str]
        log: NotRequired[Annotated[list, operator.add]]

    model = lc.ScriptedChatModel(["hi"])
    agent = lc.create_agent(model, [], state_schema=State)
    return agent.invoke(user() | {"city": "北京", "log": [1], "mood": "good"})


@case(LAYER, "an agent is a node of another graph")
def as_node(lc: World) -> Any:
    model = lc.ScriptedChatModel([asks(lc, beijing()), "晴。"])
    builder = lc.StateGraph(lc.MessagesState)
    builder.add_node("agent", lc.create_agent(model, [weather(lc)], name="weather"))
    builder.add_edge(lc.START, "agent")
    return builder.compile().invoke(user())


# The history


@case(LAYER, "a call without an answer in the history causes no reaction")
def dangling_call(lc: World) -> Any:
    model = lc.ScriptedChatModel(["ok"])
    history = [("user", "a"), asks(lc, beijing()), ("user", "b")]
    result = lc.create_agent(model, [weather(lc)]).invoke({"messages": history})
    return road(result), [message.type for message in sent(model)[0]["messages"]]


@case(LAYER, "an answer to no call in the history causes none either")
def orphan_answer(lc: World) -> Any:
    model = lc.ScriptedChatModel(["ok"])
    history = [("user", "a"), lc.ToolMessage("x", tool_call_id="c9"), ("user", "b")]
    return road(lc.create_agent(model, [weather(lc)]).invoke({"messages": history}))


@case(LAYER, "a tool's own answer with a wrong id passes unchecked")
def wrong_answer_id(lc: World) -> Any:
    @lc.tool
    def careless() -> Any:
        """Careless."""
        return lc.ToolMessage("done", tool_call_id="other")

    return run(lc, asks(lc, call("careless")), "ok", tools=[careless])


@case(LAYER, "broken JSON arguments end the run without an error")
def broken_arguments(lc: World) -> Any:
    broken = {
        "name": "get_weather",
        "args": '{"city": "北',
        "id": "c1",
        "error": None,
        "type": "invalid_tool_call",
    }
    return run(lc, lc.AIMessage("", invalid_tool_calls=[broken]), tools=[weather(lc)])


@case(
    LAYER,
    "in the next turn they are answered",
    behaviour="repaired-invalid-calls",
    differs="unreadable-calls",
)
def broken_arguments_repaired(lc: World) -> Any:
    broken = {
        "name": "get_weather",
        "args": '{"city": "北',
        "id": "c1",
        "error": None,
        "type": "invalid_tool_call",
    }
    model = lc.ScriptedChatModel(["ok"])
    history = [("user", "a"), lc.AIMessage("", invalid_tool_calls=[broken]), ("user", "b")]
    result = lc.create_agent(model, [weather(lc)]).invoke({"messages": history})
    told = [(message.type, message.content) for message in sent(model)[0]["messages"]]
    return told, result


@case(LAYER, "a thread goes on where it was")
def thread(lc: World) -> Any:
    model = lc.ScriptedChatModel([asks(lc, beijing()), "晴。", "不客气。"])
    agent = lc.create_agent(model, [weather(lc)], checkpointer=lc.InMemorySaver())
    agent.invoke(user(), THREAD)
    result = agent.invoke(user("谢谢"), THREAD)
    return result, [len(request["messages"]) for request in sent(model)]


@case(LAYER, "after a failure the thread holds the call without an answer")
def thread_after_failure(lc: World) -> Any:
    @lc.tool
    def pay() -> str:
        """Pay."""
        raise RuntimeError("bank is closed")

    model = lc.ScriptedChatModel([asks(lc, call("pay")), "ok"])
    agent = lc.create_agent(model, [pay], checkpointer=lc.InMemorySaver())
    try:
        agent.invoke(user(), THREAD)
    except RuntimeError:
        after = road(agent.get_state(THREAD).values)
    return after, road(agent.invoke(user("again?"), THREAD))


@case(LAYER, "a tool may ask a human in the middle of the run")
def interrupted(lc: World) -> Any:
    @lc.tool
    def pay(amount: int) -> str:
        """Pay."""
        return f"paid {amount}" if lc.interrupt({"pay": amount}) == "yes" else "refused"

    model = lc.ScriptedChatModel([asks(lc, call("pay", {"amount": 5})), "done"])
    agent = lc.create_agent(model, [pay], checkpointer=lc.InMemorySaver())
    paused = agent.invoke(user("pay"), THREAD)
    questions = [question.value for question in paused["__interrupt__"]]
    return questions, agent.invoke(lc.Command(resume="yes"), THREAD)


@case(LAYER, "a tool may write the state and end the run by a Command")
def command(lc: World) -> Any:
    class State(lc.AgentState):
        city: NotRequired[str]

    @lc.tool
    def choose(city: str, call_id: Annotated[str, lc.InjectedToolCallId]) -> Any:
        """Choose a city."""
        answer = lc.ToolMessage(f"chose {city}", tool_call_id=call_id)
        return lc.Command(update={"city": city, "messages": [answer]})

    model = lc.ScriptedChatModel([asks(lc, call("choose", {"city": "北京"})), "done"])
    return lc.create_agent(model, [choose], state_schema=State).invoke(user())


@case(LAYER, "two Commands that write one plain field in one step are an error")
def commands_collide(lc: World) -> Any:
    class State(lc.AgentState):
        city: NotRequired[str]

    @lc.tool
    def choose(city: str, call_id: Annotated[str, lc.InjectedToolCallId]) -> Any:
        """Choose a city."""
        answer = lc.ToolMessage(f"chose {city}", tool_call_id=call_id)
        return lc.Command(update={"city": city, "messages": [answer]})

    calls = call("choose", {"city": "北京"}, "c1"), call("choose", {"city": "上海"}, "c2")
    return run(lc, asks(lc, *calls), tools=[choose], state_schema=State)


# return_direct


@case(LAYER, "a return_direct tool ends the run; its edge is drawn")
def return_direct(lc: World) -> Any:
    model = lc.ScriptedChatModel([asks(lc, beijing())])
    agent = lc.create_agent(model, [weather(lc, return_direct=True)])
    return agent.invoke(user()), drawn(agent)


@case(LAYER, "beside an ordinary call it does not")
def return_direct_beside(lc: World) -> Any:
    tools = [weather(lc, return_direct=True), clock(lc)]
    calls = beijing(), call("get_time", {"city": "北京"}, "c2")
    return run(lc, asks(lc, *calls), "done", tools=tools)


@case(LAYER, "beside an unknown name it does, and the model never sees that error")
def return_direct_unknown(lc: World) -> Any:
    tools = [weather(lc, return_direct=True)]
    return run(lc, asks(lc, beijing(), call("nope", {}, "c2")), tools=tools)


@case(LAYER, "with bad arguments it does as well: the error is the last message")
def return_direct_bad_arguments(lc: World) -> Any:
    return run(lc, asks(lc, call("get_weather")), tools=[weather(lc, return_direct=True)])


@case(LAYER, "a call redirected to such a tool ends the run", behaviour="redirected-return-direct")
def return_direct_redirected(lc: World) -> Any:
    direct = weather(lc, return_direct=True)

    @lc.wrap_tool_call
    def redirect(request: Any, handler: Any) -> Any:
        return handler(request.override(tool=direct, tool_call=beijing()))

    model = lc.ScriptedChatModel([asks(lc, call("get_time", {"city": "上海"})), "again"])
    agent = lc.create_agent(model, [clock(lc), direct], middleware=[redirect])
    return agent.invoke(user())


@case(LAYER, "the drawn edges of an ordinary agent")
def drawn_edges(lc: World) -> Any:
    return drawn(lc.create_agent(lc.ScriptedChatModel([]), [weather(lc)]))


# Structured output


@case(LAYER, "the name of a model is no model", differs="model-by-name")
def model_by_name(lc: World) -> Any:
    return lc.create_agent("nobody:no-model")


@case(LAYER, "the schema may be a union", differs="structured-schemas")
def structured_union(lc: World) -> Any:
    model = lc.ScriptedChatModel([asks(lc, call("Sorry", {"reason": "雾"}))])
    strategy = lc.ToolStrategy(Forecast | Sorry)
    return lc.create_agent(model, response_format=strategy).invoke(user())["structured_response"]


@case(LAYER, "without tools, words instead of a response", differs="structured-without-tools")
def structured_words(lc: World) -> Any:
    answers = ["words", asks(lc, call("Sorry", {"reason": "雾"}))]
    return road(run(lc, *answers, response_format=lc.ToolStrategy(Sorry)))


@case(LAYER, "what an error about a response carries", differs="structured-error-fields")
def structured_error_fields(lc: World) -> Any:
    seen = []

    def look(error: Exception) -> str:
        seen.append(getattr(error, "tool_name", None))
        return "again"

    strategy = lc.ToolStrategy(Sorry, handle_errors=look)
    answers = asks(lc, call("Sorry")), asks(lc, call("Sorry", {"reason": "雾"}, "c2"))
    run(lc, *answers, response_format=strategy)
    return seen


@case(LAYER, "ToolStrategy makes the schema a tool, and its call the response")
def structured(lc: World) -> Any:
    model = lc.ScriptedChatModel([asks(lc, call("Forecast", {"city": "北京", "degrees": "28"}))])
    agent = lc.create_agent(model, response_format=lc.ToolStrategy(Forecast))
    return agent.invoke(user()), sent(model)


@case(LAYER, "with tools: first the tool, then the response; the model must call something")
def structured_with_tools(lc: World) -> Any:
    model = lc.ScriptedChatModel(
        [asks(lc, beijing()), asks(lc, call("Forecast", {"city": "北京", "degrees": 28}, "c2"))]
    )
    agent = lc.create_agent(model, [weather(lc)], response_format=lc.ToolStrategy(Forecast))
    return agent.invoke(user()), [request["tool_choice"] for request in sent(model)], drawn(agent)


@case(LAYER, "a wrong response is answered with the reason, and the model tries again")
def structured_retry(lc: World) -> Any:
    return run(
        lc,
        asks(lc, call("Forecast", {"city": "北京", "degrees": 2800})),
        asks(lc, call("Forecast", {"city": "北京", "degrees": 28}, "c2")),
        response_format=lc.ToolStrategy(Forecast),
    )


@case(LAYER, "with handle_errors=False a wrong response is an error")
def structured_unhandled(lc: World) -> Any:
    strategy = lc.ToolStrategy(Forecast, handle_errors=False)
    return run(lc, asks(lc, call("Forecast", {"city": "北京"})), response_format=strategy)


@case(LAYER, "handle_errors may be a text, a type, types or a function")
def structured_handlers(lc: World) -> Any:
    def told(error: Exception) -> str:
        return f"{type(error).__name__}!"

    covered = lc.StructuredOutputValidationError
    handlers = ["请重试", covered, (KeyError, covered), told]
    answers = []
    for handler in handlers:
        result = run(
            lc,
            asks(lc, call("Forecast", {"city": "北京"})),
            asks(lc, call("Forecast", {"city": "北京", "degrees": 28}, "c2")),
            response_format=lc.ToolStrategy(Forecast, handle_errors=handler),
        )
        answers.append(result["messages"][2].content)
    return answers


@case(LAYER, "a type that does not fit does not cover")
def structured_handler_of_other_type(lc: World) -> Any:
    strategy = lc.ToolStrategy(Forecast, handle_errors=KeyError)
    return run(lc, asks(lc, call("Forecast", {"city": "北京"})), response_format=strategy)


@case(LAYER, "two responses at once are answered with a complaint")
def structured_twice(lc: World) -> Any:
    calls = call("Sorry", {"reason": "x"}), call("Sorry", {"reason": "y"}, "c2")
    return run(
        lc,
        asks(lc, *calls),
        asks(lc, call("Sorry", {"reason": "雾"}, "c3")),
        response_format=lc.ToolStrategy(Sorry),
    )


@case(LAYER, "unhandled, two responses are an error")
def structured_twice_unhandled(lc: World) -> Any:
    calls = call("Sorry", {"reason": "x"}), call("Sorry", {"reason": "y"}, "c2")
    strategy = lc.ToolStrategy(Sorry, handle_errors=False)
    return run(lc, asks(lc, *calls), response_format=strategy)


@case(LAYER, "the text that answers a response can be chosen")
def structured_message(lc: World) -> Any:
    return run(
        lc,
        asks(lc, call("Sorry", {"reason": "雾"})),
        response_format=lc.ToolStrategy(Sorry, tool_message_content="收到"),
    )


@case(LAYER, "a dataclass, a TypedDict and a JSON schema are schemas, too")
def structured_kinds(lc: World) -> Any:
    @dataclass
    class Place:
        city: str
        days: int = 1

    class Span(TypedDict):
        """A span of days."""

        city: str
        days: int

    schema = {
        "title": "Trip",
        "description": "A trip.",
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    }
    return [
        run(
            lc,
            asks(lc, call(name, {"city": "北京", "days": 2})),
            response_format=lc.ToolStrategy(kind),
        )["structured_response"]
        for name, kind in (("Place", Place), ("Span", Span), ("Trip", schema))
    ]


@case(LAYER, "a schema as response_format is a ToolStrategy for a model that knows no better")
def structured_by_schema(lc: World) -> Any:
    model = lc.ScriptedChatModel([asks(lc, call("Sorry", {"reason": "雾"}))])
    return lc.create_agent(model, response_format=Sorry).invoke(user()), sent(model)


@case(LAYER, "a plain answer where a response was wanted ends the run without one")
def structured_plain_answer(lc: World) -> Any:
    strategy = lc.ToolStrategy(Sorry)
    result = run(lc, "no response", tools=[weather(lc)], response_format=strategy)
    return result["messages"], result.get("structured_response")


@case(
    LAYER, "a second turn is not answered with the first's", behaviour="stale-structured-response"
)
def structured_stale(lc: World) -> Any:
    model = lc.ScriptedChatModel(
        [
            asks(lc, call("Sorry", {"reason": "one"}, "c1")),
            asks(lc, call("Sorry", {"no": "reason"}, "c2")),
            asks(lc, call("Sorry", {"reason": "three"}, "c3")),
        ]
    )

    class Sorry(TypedDict):
        """Why there is no forecast."""

        reason: str

    agent = lc.create_agent(
        model, response_format=lc.ToolStrategy(Sorry), checkpointer=lc.InMemorySaver()
    )
    agent.invoke(user(), THREAD)
    return agent.invoke(user(), THREAD)["structured_response"]


@case(LAYER, "a response beside an ordinary call: the call runs, and the run ends")
def structured_beside(lc: World) -> Any:
    calls = beijing(), call("Sorry", {"reason": "雾"}, "c2")
    strategy = lc.ToolStrategy(Sorry)
    return run(lc, asks(lc, *calls), "x", tools=[weather(lc)], response_format=strategy)


@case(LAYER, "an answer with status error is no response", behaviour="failed-structured-answer")
def structured_error_answer(lc: World) -> Any:
    @lc.after_model
    def refuse(state: Any, runtime: Any) -> Any:
        if len(state["messages"]) == 2:
            return {
                "messages": [lc.ToolMessage("no", name="Sorry", tool_call_id="c9", status="error")]
            }

    return run(
        lc,
        asks(lc, beijing()),
        asks(lc, call("Sorry", {"reason": "雾"}, "c2")),
        tools=[weather(lc)],
        middleware=[refuse],
        response_format=lc.ToolStrategy(Sorry),
    )["messages"]


@case(
    LAYER, "a wrapper that answers the calls sends the run back", behaviour="wrapper-answers-calls"
)
def wrapper_answers(lc: World) -> Any:
    @lc.wrap_model_call
    def answers(request: Any, handler: Any) -> Any:
        (message,) = handler(request).result
        told = [lc.ToolMessage("已答", tool_call_id=call["id"]) for call in message.tool_calls]
        return lc.ModelResponse(result=[message, *told])

    return run(lc, asks(lc, beijing()), "晴。", tools=[weather(lc)], middleware=[answers])
