"""The bridge: what crosses it, in which form it arrives, and that agents run with parts of both."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from langchain_core.runnables import Runnable
from pydantic import BaseModel, Field

from minilc.course.bridge import ours, real
from minilc.course.plain import Reader
from minilc.course.worlds import LANGCHAIN, MINILC, World


@dataclass
class Way:
    """One direction over the bridge."""

    source: World
    to: World
    over: Callable[[Any], Any]
    back: Callable[[Any], Any]


@pytest.fixture(
    params=[Way(MINILC, LANGCHAIN, real, ours), Way(LANGCHAIN, MINILC, ours, real)],
    ids=["to LangChain", "to minilc"],
)
def way(request: pytest.FixtureRequest) -> Way:
    return request.param


def read(value: Any) -> Any:
    """The value as the judge reads it: the same for the object of either world."""
    return Reader().read(value)


def call(name: str, id: str = "c1", **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args, "id": id, "type": "tool_call"}


BROKEN = {"name": "f", "args": "{", "id": "c2", "error": "cut", "type": "invalid_tool_call"}
USAGE = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
OBJECTS: dict[str, Callable[[World], Any]] = {
    "human": lambda lc: lc.HumanMessage("北京？", name="Ann", id="m1"),
    "blocks": lambda lc: lc.HumanMessage([{"type": "text", "text": "晴"}, "雨"]),
    "system": lambda lc: lc.SystemMessage("用中文回答"),
    "ai": lambda lc: lc.AIMessage(
        "",
        tool_calls=[call("f", x=1)],
        invalid_tool_calls=[BROKEN],
        usage_metadata=USAGE,
        additional_kwargs={"refusal": None},
        response_metadata={"model_name": "m"},
    ),
    "tool": lambda lc: lc.ToolMessage(
        "no", tool_call_id="c1", name="f", status="error", artifact={"x": (1, 2)}
    ),
    "remove": lambda lc: lc.RemoveMessage(id="m1"),
    "send": lambda lc: lc.Send("tools", [call("f")]),
    "command": lambda lc: lc.Command(
        update={"messages": [lc.ToolMessage("ok", tool_call_id="c1")]},
        goto=["a", lc.Send("b", {"x": lc.HumanMessage("hi")})],
    ),
    "command of the parent": lambda lc: lc.Command(graph=lc.Command.PARENT, goto="a"),
    "resume": lambda lc: lc.Command(resume={"a": 1}),
    "runtime": lambda lc: lc.Runtime(context={"user": "Ann"}),
    "response": lambda lc: lc.ModelResponse([lc.AIMessage("晴", id="m1")], {"city": "北京"}),
    "in containers": lambda lc: {"a": ([lc.HumanMessage("hi")], "text", 3, None)},
}


@pytest.mark.parametrize("make", OBJECTS.values(), ids=OBJECTS)
def test_an_object_is_one_of_that_name_on_the_other_side(
    way: Way, make: Callable[[World], Any]
) -> None:
    given = make(way.source)
    before = read(given)
    arrived = way.over(given)
    assert read(arrived) == before == read(make(way.to))
    if not isinstance(given, dict):
        assert type(arrived) is type(make(way.to)) is not type(given)
    assert read(way.back(arrived)) == before == read(given)


@pytest.mark.parametrize("make", OBJECTS.values(), ids=OBJECTS)
def test_what_is_there_already_stays(way: Way, make: Callable[[World], Any]) -> None:
    given = make(way.to)
    assert way.over(given) == given


def test_what_crosses_is_not_shared(way: Way) -> None:
    given = way.source.AIMessage("", tool_calls=[call("f", cities=["北京"])])
    way.over(given).tool_calls[0]["args"]["cities"].append("上海")
    assert given.tool_calls[0]["args"] == {"cities": ["北京"]}


def test_of_a_config_crosses_what_both_worlds_know(way: Way) -> None:
    inside = {
        "thread_id": "1",
        "__pregel_runtime": way.source.Runtime(context=5),
        "__pregel_read_state": lambda: {"messages": [way.source.HumanMessage("hi")]},
        "__pregel_scratchpad": object(),
    }
    config = {"tags": ["a"], "recursion_limit": 7, "callbacks": object(), "configurable": inside}
    arrived = way.over(config)
    conf = arrived.pop("configurable")
    assert arrived == {"tags": ["a"], "recursion_limit": 7}
    assert conf.keys() == {"thread_id", "__pregel_runtime", "__pregel_read_state"}
    assert isinstance(conf["__pregel_runtime"], way.to.Runtime)
    assert conf["__pregel_runtime"].context == 5
    assert isinstance(conf["__pregel_read_state"]()["messages"][0], way.to.HumanMessage)


# --- tools and their schemas ----------------------------------------------------------------------


def injected(lc: World) -> Any:
    """A tool with every mark."""

    @lc.tool
    def look(
        thought: str,
        state: Annotated[dict, lc.InjectedState],
        last: Annotated[list, lc.InjectedState("messages")],
        memory: Annotated[Any, lc.InjectedStore()],
        call_id: Annotated[str, lc.InjectedToolCallId],
        runtime: lc.ToolRuntime,
        days: int = Field(default=1, description="How many."),
    ) -> list[Any]:
        """Look around."""
        own = all(isinstance(message, lc.BaseMessage) for message in (*state["messages"], *last))
        assert own and isinstance(runtime, lc.ToolRuntime)
        return [thought, len(last), memory, call_id, runtime.tool_call_id, days]

    return look


def plain(lc: World) -> Any:
    @lc.tool
    def get_weather(city: str, days: int = 1) -> str:
        """Get current weather for a city."""
        return f"{city}: 晴 {days + 0}"

    return get_weather


def test_a_tool_says_the_same_and_comes_back_as_itself(way: Way) -> None:
    for make in (plain, injected):
        given = make(way.source)
        arrived = way.over(given)
        assert isinstance(arrived, way.to.BaseTool)
        assert way.to.convert_to_openai_tool(arrived) == way.source.convert_to_openai_tool(given)
        assert way.back(arrived) is given
        assert way.over(arrived) is arrived


def test_a_tool_keeps_its_settings(way: Way) -> None:
    options = {"return_direct": True, "response_format": "content_and_artifact"}
    given = way.source.tool(**options)(plain(way.source).func)
    arrived = way.over(given)
    assert {name: getattr(arrived, name) for name in options} == options


def test_a_tool_runs_on_arguments_and_on_a_call(way: Way, invoke: Any) -> None:
    tool = way.over(plain(way.source))
    assert invoke(tool, {"city": "北京", "days": "2"}) == "北京: 晴 2"
    answer = invoke(tool, call("get_weather", city="北京"))
    assert isinstance(answer, way.to.ToolMessage)
    assert (answer.content, answer.tool_call_id) == ("北京: 晴 1", "c1")
    assert tool.run({"city": "北京"}) == "北京: 晴 1"


def test_the_marks_of_a_schema_become_the_other_worlds(way: Way) -> None:
    given = injected(way.source).args_schema
    arrived = way.over(given)
    assert arrived.__name__ == "look" and list(arrived.model_fields) == list(given.model_fields)
    fields = arrived.model_fields
    assert fields["state"].metadata == [way.to.InjectedState]
    assert fields["last"].metadata[0].field == "messages"
    assert isinstance(fields["memory"].metadata[0], way.to.InjectedStore)
    assert fields["runtime"].annotation is way.to.ToolRuntime
    assert fields["days"].description == "How many."


def test_a_schema_without_marks_stays(way: Way) -> None:
    class City(BaseModel):
        name: str

    assert way.over(City) is City


# --- models and middleware ------------------------------------------------------------------------


def test_a_model_is_asked_with_what_was_bound(way: Way, invoke: Any) -> None:
    given = way.source.ScriptedChatModel([way.source.AIMessage("", tool_calls=[call("f")]), "晴"])
    model = way.over(given)
    bound = model.bind_tools([plain(way.to)], tool_choice="any")
    answer = invoke(bound, [way.to.HumanMessage("北京？")], stop=["。"])
    assert isinstance(answer, way.to.AIMessage) and answer.tool_calls == [call("f")]
    assert invoke(model, "上海？").content == "晴"
    first, second = given.requests
    assert isinstance(first.messages[0], way.source.HumanMessage)
    assert first.tools == [way.source.convert_to_openai_tool(plain(way.source))]
    assert (first.tool_choice, second.tools) == ("any", [])
    assert isinstance(model, way.to.BaseChatModel)
    assert way.back(model) is given and way.over(model) is model


def hooks(lc: World) -> Any:
    class Signs(lc.AgentMiddleware):
        def before_model(self, state: Any, runtime: Any) -> Any:
            assert isinstance(state["messages"][0], lc.HumanMessage)
            assert isinstance(runtime, lc.Runtime)
            return (
                {"messages": [lc.HumanMessage("(要快)")]} if len(state["messages"]) == 1 else None
            )

        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            assert isinstance(request, lc.ModelRequest) and isinstance(
                request.tools[0], lc.BaseTool
            )
            response = handler(request.override(system_message=lc.SystemMessage("用中文回答")))
            return lc.ModelResponse([*response.result])

        def wrap_tool_call(self, request: Any, handler: Any) -> Any:
            assert isinstance(request.tool, lc.BaseTool)
            answer = handler(request.override(tool_call=call("get_weather", city="上海")))
            assert isinstance(answer, lc.ToolMessage)
            return answer

    return Signs()


def test_a_middleware_stands_around_the_other_worlds_steps(way: Way) -> None:
    given = hooks(way.source)
    crossed = way.over(given)
    assert way.back(crossed) is given and crossed.name == "Signs"

    def run(lc: World, middleware: Any) -> Any:
        script = [lc.AIMessage("", tool_calls=[call("get_weather", city="北京")]), "晴"]
        model = lc.ScriptedChatModel(script)
        agent = lc.create_agent(model, [plain(lc)], middleware=[middleware])
        state = agent.invoke({"messages": [lc.HumanMessage("北京？")]})
        return read([state, [request._asdict() for request in model.requests]])

    assert run(way.to, crossed) == run(way.source, given)


def test_only_the_hooks_that_are_there_cross(way: Way) -> None:
    @way.source.after_model(can_jump_to=["end"])
    def stop(state: Any, runtime: Any) -> Any:
        return {"jump_to": "end"}

    model = way.to.ScriptedChatModel([way.to.AIMessage("", tool_calls=[call("get_weather")])])
    agent = way.to.create_agent(model, [plain(way.to)], middleware=[way.over(stop)])
    state = agent.invoke({"messages": [("user", "hi")]})
    assert [message.type for message in state["messages"]] == ["human", "ai"]
    assert "stop.before_model" not in agent.get_graph().nodes


# --- agents and graphs of both --------------------------------------------------------------------


def test_an_agent_runs_on_the_other_worlds_model_and_tools(way: Way, invoke: Any) -> None:
    def script(lc: World) -> Any:
        calls = call("get_weather", city="北京"), call("look", "c2", thought="?", state="forged")
        faults = call("get_weather", "c3", town="x"), call("nobody", "c4")
        asks = [lc.AIMessage("", tool_calls=list(calls)), lc.AIMessage("", tool_calls=list(faults))]
        return lc.ScriptedChatModel([*asks, "晴"])

    def run(lc: World, model: Any, tools: Any) -> Any:
        agent = lc.create_agent(model, tools, store={"a": 1})
        return read(invoke(agent, {"messages": [("user", "北京？")]}))

    source = way.source
    parts = script(source), [plain(source), injected(source)]
    native = run(way.to, script(way.to), [plain(way.to), injected(way.to)])
    assert "forged" not in str(native["messages"][3])
    assert run(way.to, way.over(parts[0]), way.over(parts[1])) == native


def test_a_tool_node_is_a_node_of_the_other_worlds_graph(way: Way, invoke: Any) -> None:
    node = way.source.ToolNode([plain(way.source), injected(way.source)])
    graph = way.to.StateGraph(way.to.MessagesState)
    graph.add_node("tools", way.over(node))
    graph.add_edge(way.to.START, "tools")
    asks = way.to.AIMessage(
        "", tool_calls=[call("get_weather", city="北京"), call("look", "c2", thought="?")]
    )
    messages = invoke(graph.compile(store={"a": 1}), {"messages": [asks]})["messages"]
    assert all(isinstance(message, way.to.BaseMessage) for message in messages)
    assert messages[1].content == "北京: 晴 1"
    assert messages[2].content == '["?", 1, {"a": 1}, "c2", "c2", 1]'
    assert way.back(way.over(node)) is node


def test_a_graph_is_a_node_of_the_other_worlds_graph(way: Way) -> None:
    lc = way.source
    inner = lc.create_agent(lc.ScriptedChatModel(["晴"]), [])
    graph = way.to.StateGraph(way.to.MessagesState)
    graph.add_node("agent", way.over(inner))
    graph.add_edge(way.to.START, "agent")
    messages = graph.compile().invoke({"messages": [("user", "北京？")]})["messages"]
    assert [(message.type, message.content) for message in messages] == [
        ("human", "北京？"),
        ("ai", "晴"),
    ]


def test_an_error_of_the_body_passes_as_it_is(way: Way) -> None:
    @way.source.tool
    def pay() -> str:
        """Pay."""
        raise RuntimeError("the bank is closed")

    with pytest.raises(RuntimeError, match="^the bank is closed$"):
        asyncio.run(way.over(pay).ainvoke({}))


def test_what_stands_for_a_node_is_one(way: Way) -> None:
    crossed = way.over(way.source.ToolNode([]))
    assert isinstance(crossed, Runnable) is (way.to is LANGCHAIN)
