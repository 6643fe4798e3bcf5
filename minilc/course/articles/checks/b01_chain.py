"""Article B, sections 1 to 3: the graph, its two nodes, and one call of a tool."""

from __future__ import annotations

import inspect
import json
from importlib.metadata import requires
from typing import Annotated, Any

from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import after_model, before_agent, before_model
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool, Tool, tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.graph import END, add_messages
from langgraph.graph.state import CompiledStateGraph, StateGraph
from langgraph.prebuilt import ToolNode

from minilc.course.articles.ledger import CHANGED, HOLDS, NUANCE, WRONG, Seen, claim, section
from minilc.course.articles.support import (
    QUESTION,
    SITE,
    agent,
    call,
    calling,
    error,
    kinds,
    node,
    run,
    scripted,
    weather,
)
from minilc.course.trace import trace
from minilc.course.versions import versions
from minilc.course.wire import Wire, completion, openai_model
from minilc.course.worlds import LANGCHAIN

section("Header and introduction")


@claim(
    "B-01",
    says="it reads langchain 1.2.15, langchain-core 1.3.0, langgraph 1.1.8",
    layer="factory",
    really="these are version set two; what is installed here is newer",
    once="langchain 1.2.15",
    verdict=(CHANGED, HOLDS),
)
def versions_of_the_article() -> Seen:
    installed = versions(("langchain", "langchain-core", "langgraph"))
    return Seen(list(installed.values()) == ["1.2.15", "1.3.0", "1.1.8"], shows=installed)


@claim(
    "B-02",
    says="a model takes text and gives text",
    layer="messages",
    really="its answer has calls as data beside the text, which may be empty",
    verdict=NUANCE,
)
def text_only() -> Seen:
    answer = scripted().invoke("?")
    plain = scripted("晴。").invoke("?")
    is_data = answer.content == "" and answer.tool_calls == [call()]
    return Seen(isinstance(plain.content, str), but=is_data, shows=answer.tool_calls)


section("1: run it first")


@claim(
    "B-03",
    says="the first example runs",
    layer="factory",
    really="it does, once its lost line breaks are put back",
    verdict=NUANCE,
)
def first_example() -> Seen:
    @tool
    def get_weather(city: str) -> str:
        """查询指定城市的天气"""
        return f"{city}今天晴，25°C"

    messages = run([get_weather], calling(), "今天北京天气晴，气温25°C")
    glued = "from langchain_openai import ChatOpenAIfrom langchain_core.tools import tool"
    broken = error(lambda: compile(glued, "article", "exec"))
    right = messages[2].content == "北京今天晴，25°C" and messages[-1].type == "ai"
    return Seen(right, but=broken.startswith("SyntaxError"), shows=broken)


section("2: the graph")


@claim("B-04", says="an agent of 1.x is a StateGraph of LangGraph", layer="state")
def agent_is_a_graph() -> Seen:
    made = agent([weather()])
    return Seen(isinstance(made, CompiledStateGraph) and isinstance(made.builder, StateGraph))


@claim(
    "B-05",
    says="the first import of create_agent's source is that of StateGraph",
    layer="factory",
    really="it is one of many, and not the first",
    verdict=WRONG,
)
def first_import() -> Seen:
    text = (SITE / "langchain" / "agents" / "factory.py").read_text(encoding="utf-8")
    imports = [one for one in text.splitlines() if one.startswith(("import ", "from "))]
    return Seen("import StateGraph" in imports[0], shows=imports[0])


def _own_nodes(tools: Any, **options: Any) -> list[str]:
    drawn = agent(tools, **options).get_graph().nodes
    return [name for name in drawn if not name.startswith("__")]


@before_model
def asked(state: Any, runtime: Any) -> None:
    """A hook that changes nothing."""


@after_model
def answered(state: Any, runtime: Any) -> None:
    """Another one."""


@before_agent
def begun(state: Any, runtime: Any) -> None:
    """One before all."""


@claim(
    "B-06",
    says="the graph has two nodes, model and tools",
    layer="factory",
    really="without tools there is one; each hook of a middleware adds one",
    verdict=NUANCE,
)
def two_nodes() -> Seen:
    plain, without = _own_nodes([weather()]), _own_nodes([])
    hooked = set(_own_nodes([weather()], middleware=[asked, answered]))
    more = {"model", "tools", "asked.before_model", "answered.after_model"}
    nuance = without == ["model"] and hooked == more
    return Seen(plain == ["model", "tools"], but=nuance, shows=sorted(hooked))


@claim(
    "B-07",
    says="model asks with schemas; tools finds by name, runs, and wraps in a ToolMessage",
    layer="tool_node",
    really="the tool itself wraps its result; the node gets the message",
    verdict=NUANCE,
)
def what_the_nodes_do() -> Seen:
    model = scripted()
    messages = create_agent(model, [weather()]).invoke(QUESTION)["messages"]
    offered = [one["function"]["name"] for one in model.requests[0].tools]
    right = offered == ["get_weather"] and isinstance(messages[2], ToolMessage)
    return Seen(right, but=isinstance(weather().invoke(call()), ToolMessage), shows=offered)


def _edges(made: Any) -> dict[tuple[str, str], bool]:
    return {(one.source, one.target): one.conditional for one in made.get_graph().edges}


@claim(
    "B-08",
    says="conditional edges: calls lead to tools, tools to model, no calls to the end",
    layer="branch",
    really="only calls without an answer lead to tools, and tools may lead to the end",
    verdict=NUANCE,
)
def conditional_edges() -> Seen:
    found = _edges(agent([weather()]))
    said = {("model", "tools"), ("tools", "model"), ("model", END)}
    direct = _edges(agent([weather(return_direct=True)]))
    answered_call = [calling(), ToolMessage("晴", tool_call_id="call_1")]
    hooked = agent([weather()], "好。", middleware=[after_model(lambda s, r: None)])  # type: ignore
    asked_again = hooked.invoke({"messages": [HumanMessage("?"), *answered_call]})["messages"]
    nuance = ("tools", END) in direct and kinds(asked_again)[-1] == "ai"
    return Seen(all(found.get(edge) for edge in said), but=nuance, shows=sorted(found))


section("3.1: create_agent builds the graph")


@claim(
    "B-09",
    says="create_agent(model, tools, ...) is in langchain/agents/factory.py",
    layer="factory",
)
def place_of_create_agent() -> Seen:
    home = (inspect.getsourcefile(create_agent) or "").replace("\\", "/")
    first = list(inspect.signature(create_agent).parameters)[:2]
    return Seen(home.endswith("langchain/agents/factory.py") and first == ["model", "tools"])


@claim(
    "B-10",
    says="the graph is StateGraph(AgentState), with one field, messages",
    layer="factory",
    really="its state is put together from several schemas and has three fields",
    verdict=WRONG,
)
def one_field() -> Seen:
    channels = agent([]).builder.channels
    return Seen(list(channels) == ["messages"], shows=list(channels))


@claim("B-11", says="the model's node is added under the name model", layer="factory")
def node_called_model() -> Seen:
    bound = agent([]).nodes["model"].bound
    return Seen(bound.func.__name__ == "model_node", shows=bound.func.__name__)


@claim(
    "B-12",
    says="ToolNode(tools) is added under the name tools",
    layer="factory",
    really="without the providers' dicts, and only if tools are left",
    verdict=NUANCE,
)
def node_called_tools() -> Seen:
    mixed = agent([weather(), {"type": "web_search"}]).nodes["tools"].bound
    has = isinstance(mixed, ToolNode)
    nuance = list(mixed.tools_by_name) == ["get_weather"] and "tools" not in agent([]).nodes
    return Seen(has, but=nuance, shows=list(mixed.tools_by_name))


def _first_of(*middleware: Any) -> list[str]:
    made = agent([], middleware=list(middleware))
    return [target for source, target in _edges(made) if source == "__start__"]


@claim(
    "B-13",
    says="the entry is an edge from START to model",
    layer="factory",
    really="with hooks it leads to the first of them",
    verdict=NUANCE,
)
def entry() -> Seen:
    hooked = [_first_of(asked), _first_of(begun, asked)]
    nuance = hooked == [["asked.before_model"], ["begun.before_agent"]]
    return Seen(_first_of() == ["model"], but=nuance, shows=hooked)


@claim(
    "B-14",
    says="model has a conditional edge with the map tools to tools, END to END",
    layer="factory",
    really="the edge gives Sends for the calls, which no map looks at",
    verdict=NUANCE,
)
def map_of_the_model() -> Seen:
    (spec,) = agent([weather()]).builder.branches["model"].values()
    updates = agent([weather()], calling(call(), call(id="call_2")), "晴。").stream(
        QUESTION, stream_mode="updates"
    )
    tasks = [name for chunk in updates for name in chunk]
    one_each = tasks == ["model", "tools", "tools", "model"]
    return Seen(spec.ends == {"tools": "tools", END: END}, but=one_each, shows=tasks)


@claim(
    "B-15",
    says="a plain edge leads from tools to model",
    layer="factory",
    really="it is conditional: return_direct and structured answers may end the run there",
    verdict=WRONG,
)
def plain_edge_back() -> Seen:
    builder = agent([weather()]).builder
    return Seen(("tools", "model") in builder.edges, shows=list(builder.branches["tools"]))


@claim(
    "B-16",
    says="it returns graph.compile()",
    layer="factory",
    really="with a config of its own: a limit of 9999 steps, and the agent's name",
    verdict=NUANCE,
)
def compiled() -> Seen:
    made = agent([], name="bot")
    limit, name = made.config["recursion_limit"], made.config["metadata"].get("lc_agent_name")
    is_compiled = isinstance(made, CompiledStateGraph)
    return Seen(is_compiled, but=(limit, name) == (9999, "bot"), shows=(limit, name))


@claim(
    "B-17",
    says="the condition asks whether tool_calls is empty",
    layer="factory",
    really="calls that have an answer already do not count",
    verdict=NUANCE,
)
def condition() -> Seen:
    ran: list[str] = []

    @tool
    def get_weather(city: str) -> str:
        """Weather."""
        ran.append(city)
        return "晴"

    @after_model
    def answers(state: Any, runtime: Any) -> Any:
        calls = getattr(state["messages"][-1], "tool_calls", [])
        return {"messages": [ToolMessage("已答", tool_call_id=one["id"]) for one in calls]}

    said = kinds(run([get_weather])) == ["human", "ai", "tool", "ai"] and ran == ["北京"]
    ran.clear()
    messages = run([get_weather], middleware=[answers])
    return Seen(said, but=kinds(messages)[-1] == "ai" and ran == [], shows=kinds(messages))


section("3.2: the model's node")


@claim(
    "B-18",
    says="the node calls llm.invoke(messages, tools=[...])",
    layer="factory",
    really="it calls bind_tools and invokes what comes back; the call itself gets no tools",
    verdict=WRONG,
)
def tools_in_the_call() -> Seen:
    given: list[set[str]] = []

    class Watching(type(scripted())):  # type: ignore[misc]  # the real scripted model
        def bind_tools(self, tools, **options):  # type: ignore[no-untyped-def]
            return self

        def _generate(self, messages, stop=None, run_manager=None, **kwargs):  # type: ignore
            given.append(set(kwargs))
            return super()._generate(messages, stop, run_manager, **kwargs)

    create_agent(Watching(["晴。"]), [weather()]).invoke(QUESTION)
    return Seen("tools" in given[0], shows={"options of the call": sorted(given[0])})


@claim(
    "B-19",
    says="@tool takes name, parameters, their types and the docstring from the function",
    layer="schema",
)
def read_from_the_function() -> Seen:
    @tool
    def get_weather(city: Annotated[str, "城市名"], days: int = 1) -> str:
        """查询指定城市的天气"""
        return city

    told = convert_to_openai_tool(get_weather)["function"]
    fields = told["parameters"]["properties"]
    types = [one["type"] for one in fields.values()]
    named = (told["name"], told["description"]) == ("get_weather", "查询指定城市的天气")
    return Seen(named and types == ["string", "integer"], shows=told)


@claim(
    "B-20",
    says="OpenAI sends args as a dict; nothing is parsed",
    layer="chat_models",
    really="the arguments are a JSON text; one that does not parse is no call",
    verdict=WRONG,
)
def arguments_on_the_wire() -> Seen:
    wire = Wire(completion(None, [("get_weather", '{"city": ')]))
    answer = openai_model(LANGCHAIN, wire.transport).invoke("?")
    unparsed = answer.tool_calls != []
    shown = {"calls": answer.tool_calls, "invalid calls": len(answer.invalid_tool_calls)}
    return Seen(unparsed, shows=shown)


section("3.3: the tools' node")


@claim(
    "B-21",
    says="_execute_tool_sync makes ToolMessage(content=str(response))",
    layer="tool_node",
    really="the content is JSON where JSON can write it",
    verdict=WRONG,
)
def content_is_str() -> Seen:
    value = {"a": True, "城": None}

    @tool
    def give() -> dict[str, Any]:
        """Give it."""
        return value

    (message,) = node([give], {**call("give"), "args": {}})["messages"]
    is_json = message.content == json.dumps(value, ensure_ascii=False)
    return Seen(message.content == str(value) and not is_json, shows=message.content)


@claim(
    "B-22",
    says="ToolNode is in langgraph/prebuilt/tool_node.py, part of LangGraph",
    layer="tool_node",
    really="the file comes with langgraph-prebuilt, which langgraph requires",
    verdict=NUANCE,
)
def place_of_tool_node() -> Seen:
    home = (inspect.getsourcefile(ToolNode) or "").replace("\\", "/")
    needed = [one for one in requires("langgraph") or [] if one.startswith("langgraph-prebuilt")]
    return Seen(home.endswith("langgraph/prebuilt/tool_node.py"), but=bool(needed), shows=needed)


@claim(
    "B-23",
    says="_execute_tool_sync(request, config) looks the tool up in tools_by_name",
    layer="tool_node",
    really="it gets input_type too, and runs the request's tool, which a wrapper may replace",
    verdict=WRONG,
)
def lookup_in_execute() -> Seen:
    @tool
    def real() -> str:
        """Real."""
        return "the wrapper's"

    def replaces(request: Any, execute: Any) -> Any:
        return execute(request.override(tool=real))

    ghost = {**call("ghost"), "args": {}}
    (message,) = node([], ghost, wrap_tool_call=replaces)["messages"]
    names = list(inspect.signature(ToolNode._execute_tool_sync).parameters)
    by_name = message.content != "the wrapper's"
    return Seen(by_name and names == ["self", "request", "config"], shows=names)


@claim(
    "B-24",
    says="tools_by_name maps functions' names to tools, made with the ToolNode",
    layer="tool_node",
    really="the tools' names, which may be others",
    verdict=NUANCE,
)
def names_of_tools() -> Seen:
    plain = ToolNode([weather()]).tools_by_name
    renamed = weather()
    renamed.name = "renamed"
    keys = list(ToolNode([renamed]).tools_by_name)
    nuance = keys == ["renamed"] and renamed.func.__name__ == "get_weather"
    return Seen(list(plain) == ["get_weather"], but=nuance, shows=keys)


@claim(
    "B-25",
    says="@tool keeps the function in self._run",
    layer="structured",
    really="in func, or in coroutine; _run is a method of the class",
    verdict=WRONG,
)
def function_in_run() -> Seen:
    made = weather()
    kept = made.func.__name__
    return Seen("_run" in vars(made) or made._run.__func__ is not StructuredTool._run, shows=kept)


section("3.4: BaseTool.invoke")


@claim("B-26", says="every tool is entered by invoke in langchain_core/tools/base.py", layer="base")
def way_in() -> Seen:
    home = (inspect.getsourcefile(BaseTool.invoke) or "").replace("\\", "/")
    names = list(inspect.signature(BaseTool.invoke).parameters)[1:]
    one = StructuredTool.invoke is BaseTool.invoke is Tool.invoke
    right = home.endswith("langchain_core/tools/base.py") and names == ["input", "config", "kwargs"]
    return Seen(right and one, shows=names)


@claim("B-27", says="_prep_run_args takes a copy of the call's args", layer="base")
def split_of_a_call() -> Seen:
    changed: list[Any] = []

    class Greedy(StructuredTool):
        def _parse_input(self, tool_input: Any, tool_call_id: str | None) -> Any:
            changed.append(tool_input)
            parsed = super()._parse_input(tool_input, tool_call_id)
            tool_input.clear()
            return parsed

    def look_up(city: str) -> str:
        """Look up."""
        return city

    given = call()
    answer = Greedy.from_function(look_up).invoke(given)
    kept = given == call() and answer.tool_call_id == "call_1"
    return Seen(kept and changed == [{}], shows=given)


@claim("B-28", says="invoke calls run, that _to_args_and_kwargs, that _run", layer="base")
def order_of_calls() -> Seen:
    names = ["invoke", "run", "_to_args_and_kwargs", "_run"]
    seen = trace(lambda: weather().invoke(call()), names).names
    return Seen(seen == names, shows=seen)


@claim(
    "B-29",
    says="_run(city='北京') calls the function",
    layer="base",
    really="with the checked arguments: converted, and with defaults",
    verdict=NUANCE,
)
def arguments_of_run() -> Seen:
    got: list[dict[str, Any]] = []

    class Spy(StructuredTool):
        def _run(
            self, *args: Any, config: RunnableConfig, run_manager: Any = None, **kw: Any
        ) -> Any:
            got.append(kw)
            return super()._run(*args, config=config, run_manager=run_manager, **kw)

    def forecast(city: str, days: int = 3) -> str:
        """Forecast."""
        return f"{city}{days}"

    spy = Spy.from_function(forecast)
    text = spy.invoke(call(city="北京", days="5")).content
    spy.invoke(call(city="北京"))
    nuance = [one["days"] for one in got] == [5, 3]
    return Seen(text == "北京5" and got[0]["city"] == "北京", but=nuance, shows=got)


section("3.5: AgentState")


@claim(
    "B-30",
    says="AgentState has one field, messages",
    layer="middleware",
    really="three: messages, jump_to, structured_response",
    verdict=WRONG,
)
def fields_of_the_state() -> Seen:
    names = list(AgentState.__annotations__)
    return Seen(names == ["messages"], shows=names)


@claim(
    "B-31",
    says="add_messages says how new messages are merged into the list",
    layer="state",
    really="it replaces one of the same id, and removes one that a RemoveMessage names",
    verdict=NUANCE,
)
def merging() -> Seen:
    old = [HumanMessage("a", id="1"), AIMessage("b", id="2")]
    appended = add_messages(old, [HumanMessage("c", id="3")])  # type: ignore[arg-type]
    replaced = add_messages(old, [HumanMessage("A", id="1")])  # type: ignore[arg-type]
    removed = add_messages(old, [RemoveMessage(id="1")])  # type: ignore[arg-type]
    shown = [[one.content for one in ms] for ms in (appended, replaced, removed)]  # type: ignore
    return Seen(shown[0] == ["a", "b", "c"], but=shown[1:] == [["A", "b"], ["b"]], shows=shown)


@claim(
    "B-32",
    says="the second question has all three messages, and its answer without calls ends it",
    layer="factory",
)
def two_rounds() -> Seen:
    model = scripted()
    messages = create_agent(model, [weather()]).invoke(QUESTION)["messages"]
    second = kinds(model.requests[1].messages)
    return Seen(second == ["human", "ai", "tool"] and kinds(messages) == [*second, "ai"])
