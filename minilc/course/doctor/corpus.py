"""The doctor's own examination: patients with a known illness, and healthy ones.

Each patient is a function of a world, so that both libraries' tools, histories and agents are
looked at. `minilc doctor --examine` prints how many illnesses are found, and false alarms.
"""

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal, NotRequired, Optional

from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from minilc.course.doctor import diagnose
from minilc.course.doctor.report import Report
from minilc.course.worlds import LANGCHAIN, MINILC, World

Made = Callable[[World], Any]


@dataclass(frozen=True)
class Patient:
    """Somebody to look at.

    Args:
        name: the function's name.
        make: builds the subject of `diagnose` in a world; or a pair of it and options.
        illness: the code that must be among the first three; None for a healthy one.
        worlds: where it can be made.
    """

    name: str
    make: Made
    illness: str | None
    worlds: tuple[World, ...]

    def report(self, lc: World) -> Report:
        """The diagnosis in a world."""
        made = self.make(lc)
        subject, options = made if isinstance(made, tuple) else (made, {})
        return diagnose(subject, **options)


PATIENTS: list[Patient] = []


def patient(
    illness: str | None, worlds: tuple[World, ...] = (LANGCHAIN, MINILC)
) -> Callable[[Made], Made]:
    """Add a patient: with an illness, or healthy."""

    def add(make: Made) -> Made:
        PATIENTS.append(Patient(make.__name__.lstrip("_"), make, illness, worlds))
        return make

    return add


@dataclass(frozen=True)
class Examined:
    """One patient in one world, and whether the diagnosis is right."""

    patient: Patient
    world: World
    report: Report

    @property
    def right(self) -> bool:
        """The illness is among the first three codes; or nothing is found on a healthy one."""
        if self.patient.illness is None:
            return self.report.ok
        return self.patient.illness in self.report.codes[:3]


def figures(examined: list[Examined]) -> dict[str, int]:
    """How many illnesses there were and were found, and how many healthy ones were left alone."""
    ill = [one for one in examined if one.patient.illness is not None]
    healthy = [one for one in examined if one.patient.illness is None]
    return {
        "ill": len(ill),
        "found": sum(one.right for one in ill),
        "healthy": len(healthy),
        "false alarms": sum(not one.right for one in healthy),
    }


def examine() -> Iterator[Examined]:
    """Every patient in each of its worlds."""
    for one in PATIENTS:
        for lc in one.worlds:
            yield Examined(one, lc, one.report(lc))


# --- what patients are made of --------------------------------------------------------------------


def call(name: str = "get_weather", id: Any = "call_1", **args: Any) -> dict[str, Any]:
    """A call as LangChain writes it."""
    return {"name": name, "args": args, "id": id, "type": "tool_call"}


def _weather(lc: World, **options: Any) -> Any:
    @lc.tool(**options)
    def get_weather(city: str) -> str:
        """Get the current weather of a city."""
        return f"{city}: sunny, 28C"

    return get_weather


def _asked(lc: World, *messages: Any) -> list[Any]:
    return [lc.HumanMessage("北京今天天气怎么样？"), *messages]


def _answered(lc: World, content: Any = "北京: sunny, 28C", id: Any = "call_1", **more: Any) -> Any:
    return lc.ToolMessage(content, tool_call_id=id, name="get_weather", **more)


def _calls(lc: World, *calls: dict[str, Any]) -> Any:
    return lc.AIMessage("", tool_calls=list(calls or [call(city="北京")]))


def _loop(lc: World, tools: Any, *script: Any, **options: Any) -> Any:
    return lc.create_agent(lc.ScriptedChatModel([*script, "好的。"]), tools, **options)


def _run(agent: Any, config: Any = None) -> Any:
    return lambda: agent.invoke({"messages": [("user", "北京今天天气怎么样？")]}, config)


def _graph(lc: World, model: Any, node: Any, path_map: Any = None, name: str = "tools") -> Any:
    graph = lc.StateGraph(lc.MessagesState)
    graph.add_node("model", model)
    graph.add_node(name, node)
    graph.add_edge(lc.START, "model")
    graph.add_conditional_edges("model", _condition(lc), path_map)
    graph.add_edge(name, "model")
    return graph.compile()


def _condition(lc: World) -> Any:
    return lc.tools_condition


# --- 0. before the questions ----------------------------------------------------------------------


@patient("name-moved", (LANGCHAIN,))
def _imports_the_old_executor(lc: World) -> Any:
    def build() -> Any:
        from langchain.agents import AgentExecutor  # type: ignore[attr-defined]  # it left

        return AgentExecutor

    return lambda: build()


@patient("loop-in-loop")
def _asyncio_run_in_a_cell(lc: World) -> Any:
    import asyncio

    agent = _loop(lc, [_weather(lc)])

    async def cell() -> Any:
        answer = agent.ainvoke({"messages": [("user", "?")]})
        try:
            return asyncio.run(answer)
        finally:
            answer.close()

    return lambda: cell()


@patient("drawing-needs-network", (LANGCHAIN,))
def _drawing_in_ascii(lc: World) -> Any:
    graph = _loop(lc, [_weather(lc)]).get_graph()
    return lambda: graph.draw_ascii()


@patient("model-failed", (LANGCHAIN,))
def _limit_of_the_endpoint(lc: World) -> Any:
    error = "RateLimitError('Error code: 429 - slow down')"
    inner = {"name": "ChatOpenAI", "run_type": "llm", "error": error, "child_runs": []}
    return {"name": "LangGraph", "run_type": "chain", "error": error, "child_runs": [inner]}


@patient("program-failed")
def _a_key_of_ones_own(lc: World) -> Any:
    return lambda: {}["city"]  # type: ignore[index]  # that is the illness


@patient("thread-id-missing")
def _no_thread(lc: World) -> Any:
    return _run(_loop(lc, [_weather(lc)], _calls(lc), checkpointer=lc.InMemorySaver()))


@patient("no-question", (LANGCHAIN,))
def _question_under_another_key(lc: World) -> Any:
    agent = _loop(lc, [_weather(lc)])
    return lambda: agent.invoke({"input": "北京今天天气怎么样？"})


# --- 1. does the model know the tool? -------------------------------------------------------------


@patient("no-tools")
def _agent_without_tools(lc: World) -> Any:
    return _loop(lc, [])


@patient("no-tools")
def _model_never_bound(lc: World) -> Any:
    model = lc.ScriptedChatModel(["hi"])

    def call_model(state: Any) -> Any:
        return {"messages": [model.invoke(state["messages"])]}

    return _graph(lc, call_model, lc.ToolNode([_weather(lc)]))


@patient("no-tools", (LANGCHAIN,))
def _run_without_tools(lc: World) -> Any:
    return _run(_loop(lc, []))


@patient("executable-not-offered")
def _bound_to_fewer_tools(lc: World) -> Any:
    @lc.tool
    def get_tide(city: str) -> str:
        """Get the tide of a city by the sea."""
        return "high"

    model = lc.ScriptedChatModel(["hi"]).bind_tools([_weather(lc)])

    def call_model(state: Any) -> Any:
        return {"messages": [model.invoke(state["messages"])]}

    return _graph(lc, call_model, lc.ToolNode([_weather(lc), get_tide]))


@patient("offered-not-executable", (LANGCHAIN,))
def _agent_with_a_bound_model(lc: World) -> Any:
    @lc.tool
    def get_tide(city: str) -> str:
        """Get the tide of a city by the sea."""
        return "high"

    return lc.create_agent(lc.ScriptedChatModel(["hi"]).bind_tools([_weather(lc)]), [get_tide])


@patient("model-cannot-bind", (LANGCHAIN,))
def _model_without_bind_tools(lc: World) -> Any:
    return lc.create_agent(lc.GenericFakeChatModel(messages=iter(["hi"])), [_weather(lc)])


@patient("model-cannot-bind", (LANGCHAIN,))
def _run_of_a_model_without_bind_tools(lc: World) -> Any:
    agent = lc.create_agent(lc.GenericFakeChatModel(messages=iter(["hi"])), [_weather(lc)])
    return _run(agent)


@patient("tool-undefinable")
def _no_docstring(lc: World) -> Any:
    def look_up(query: str) -> str:
        return query

    return [look_up]


@patient("tool-undefinable")
def _partial_function(lc: World) -> Any:
    def look_up(query: str, index: str) -> str:
        """Look a word up in an index."""
        return query

    return [partial(look_up, index="main")]


@patient("tool-undefinable", (LANGCHAIN,))
def _subclass_without_annotations(lc: World) -> Any:
    def build() -> Any:
        return type("Clock", (lc.BaseTool,), {"name": "clock", "description": "Local time."})

    return lambda: build()


@patient("schema-fails", (LANGCHAIN,))
def _optional_runtime(lc: World) -> Any:
    def look_up(query: str, runtime: Any = None) -> str:
        """Look up a query in the manual."""
        return query

    look_up.__annotations__["runtime"] = Optional[lc.ToolRuntime]  # noqa: UP045  # as people write
    return [lc.tool(look_up)]


@patient("duplicate-tool-name")
def _two_of_one_name(lc: World) -> Any:
    return [_weather(lc), _weather(lc)]


@patient("name-refused")
def _name_with_spaces(lc: World) -> Any:
    made = _weather(lc)
    made.name = "get weather (beta)"
    return [made]


@patient("name-refused")
def _name_in_chinese(lc: World) -> Any:
    made = _weather(lc)
    made.name = "查询天气"
    return [made]


@patient("name-says-nothing")
def _name_is_run(lc: World) -> Any:
    made = _weather(lc)
    made.name = "run"
    return [made]


@patient("description-missing")
def _empty_description(lc: World) -> Any:
    return [lc.StructuredTool.from_function(lambda city: city, name="get_weather", description="")]


@patient("description-says-nothing")
def _description_is_the_name(lc: World) -> Any:
    return [lc.tool("search", description="Search.")(lambda query: query)]


@patient("parameter-undescribed")
def _vague_parameter(lc: World) -> Any:
    @lc.tool
    def lend_book(book_id: str, data: dict) -> str:  # type: ignore[type-arg]  # as people write it
        """Lend a book to a reader of the library."""
        return book_id

    return [lend_book]


@patient("provider-refuses-schema")
def _integer_literal(lc: World) -> Any:
    @lc.tool
    def set_level(level: Literal[1, 2]) -> str:
        """Set the heating level of the living room."""
        return str(level)

    return [set_level]


# --- 2. is the call right? ------------------------------------------------------------------------


@patient("broken-json")
def _arguments_cut_off(lc: World) -> Any:
    bad = {"name": "get_weather", "args": '{"city": "北', "id": "call_1", "error": None}
    return _asked(lc, lc.AIMessage("", invalid_tool_calls=[bad | {"type": "invalid_tool_call"}]))


@patient("broken-json", (LANGCHAIN,))
def _arguments_cut_off_in_openai_form(lc: World) -> Any:
    function = {"name": "get_weather", "arguments": '{"city": "北'}
    calls = [{"id": "call_1", "type": "function", "function": function}]
    return [{"role": "user", "content": "?"}, {"role": "assistant", "tool_calls": calls}]


@patient("call-only-in-text")
def _call_as_text(lc: World) -> Any:
    text = '```json\n{"name": "get_weather", "arguments": {"city": "北京"}}\n```'
    return _asked(lc, lc.AIMessage(text))


@patient("call-only-in-text", (LANGCHAIN,))
def _call_in_additional_kwargs(lc: World) -> Any:
    function = {"name": "get_weather", "arguments": '{"city": "北京"}'}
    message = lc.AIMessage("")
    message.additional_kwargs["tool_calls"] = [
        {"id": "call_1", "type": "function", "function": function}
    ]
    return _asked(lc, message)


@patient("call-without-id")
def _id_is_none(lc: World) -> Any:
    return _asked(lc, _calls(lc, call(id=None, city="北京")))


@patient("call-without-id")
def _id_is_empty(lc: World) -> Any:
    return _asked(lc, _calls(lc, call(id="", city="北京")), _answered(lc, id=""))


@patient("call-arguments-refused")
def _wrong_type(lc: World) -> Any:
    asked = _asked(lc, _calls(lc, call(city=["北京"])), _answered(lc, status="error"))
    return asked, {"tools": [_weather(lc)]}


@patient("call-arguments-refused")
def _refused_by_tool_node(lc: World) -> Any:
    agent = _loop(lc, [_weather(lc)], _calls(lc, call(town="北京")))
    return agent.invoke({"messages": [("user", "?")]})


@patient("call-arguments-dropped")
def _one_argument_too_many(lc: World) -> Any:
    asked = _asked(lc, _calls(lc, call(city="北京", unit="C")), _answered(lc))
    return asked, {"tools": [_weather(lc)]}


@patient("forged-argument")
def _forged_state(lc: World) -> Any:
    @lc.tool
    def query_order(order_id: str, state: Annotated[dict, lc.InjectedState]) -> str:  # type: ignore
        """Query an order of the current user by its order id."""
        return order_id

    asked = _asked(
        lc,
        _calls(lc, call("query_order", order_id="O1", state={"user": "root"})),
        lc.ToolMessage("O1: paid", tool_call_id="call_1"),
    )
    return asked, {"tools": [query_order]}


@patient("config-parameter")
def _parameter_called_config(lc: World) -> Any:
    @lc.tool
    def apply_settings(config: str) -> str:
        """Apply a settings file to the device."""
        return config

    return [apply_settings]


@patient("config-parameter")
def _parameter_called_run_manager(lc: World) -> Any:
    @lc.tool
    def list_runs(query: str, run_manager: str) -> str:
        """List the runs that match a query."""
        return query

    return [list_runs]


@patient("kwargs-stay-empty")
def _filters_in_kwargs(lc: World) -> Any:
    @lc.tool
    def find_books(query: str, **filters: str) -> str:
        """Find books by a query and filters on their fields."""
        return query

    return [find_books]


class SendArgs(BaseModel):
    """What to send."""

    email: str = Field(description="the receiver's address")


@patient("schema-misfits-function")
def _field_that_the_function_lacks(lc: World) -> Any:
    @lc.tool(args_schema=SendArgs)
    def send_note(recipient: str) -> str:
        """Send a short note to somebody."""
        return "sent"

    return [send_note]


@patient("schema-misfits-function")
def _parameter_that_the_schema_lacks(lc: World) -> Any:
    @lc.tool(args_schema=SendArgs)
    def send_note(email: str, subject: str) -> str:
        """Send a short note to somebody."""
        return "sent"

    return [send_note]


@patient("identity-from-model")
def _user_id_from_the_model(lc: World) -> Any:
    @lc.tool
    def query_order(user_id: str, order_id: str) -> str:
        """Query an order of a user."""
        return order_id

    return [query_order]


@patient("identity-from-model", (LANGCHAIN,))
def _token_in_a_dict(lc: World) -> Any:
    properties = {"order_id": {"type": "string"}, "auth_token": {"type": "string"}}
    parameters = {"type": "object", "properties": properties}
    function = {"name": "query_order", "description": "Query an order.", "parameters": parameters}
    return [{"type": "function", "function": function}]


@patient("state-not-injected")
def _plain_state(lc: World) -> Any:
    @lc.tool
    def look_up(query: str, state: dict) -> str:  # type: ignore[type-arg]  # as people write it
        """Look up a query in the state."""
        return query

    return [look_up]


@patient("injected-by-hand")
def _call_id_by_hand(lc: World) -> Any:
    @lc.tool
    def note(text: str, tool_call_id: Annotated[str, lc.InjectedToolCallId]) -> str:
        """Note a text for later."""
        return text

    return lambda: note.invoke({"text": "x"})


@patient("injected-field-missing")
def _misspelt_field(lc: World) -> Any:
    @lc.tool
    def brew(drink: str, branch: Annotated[str, lc.InjectedState("brnach")]) -> str:
        """Brew a drink in the branch of the customer."""
        return drink

    return _loop(lc, [brew])


def _of_the_user(lc: World) -> Any:
    @lc.tool
    def query_order(order_id: str, state: Annotated[dict, lc.InjectedState]) -> str:  # type: ignore
        """Query an order of the current user by its order id."""
        return f"{order_id} of {state['user_id']}"

    return query_order


@patient("injected-field-missing")
def _field_that_the_state_lacks(lc: World) -> Any:
    return _loop(lc, [_of_the_user(lc)])


@patient("injected-field-missing")
def _field_that_is_not_set(lc: World) -> Any:
    class Shop(lc.AgentState):  # type: ignore[name-defined, misc]  # a class of either world
        branch: NotRequired[str]  # type: ignore[valid-type]  # its base is a TypedDict

    @lc.tool
    def brew(drink: str, branch: Annotated[str, lc.InjectedState("branch")]) -> str:
        """Brew a drink in the branch of the customer."""
        return drink

    return _run(_loop(lc, [brew], _calls(lc, call("brew", drink="tea")), state_schema=Shop))


@patient("store-missing")
def _no_store(lc: World) -> Any:
    @lc.tool
    def recall(topic: str, store: Annotated[Any, lc.InjectedStore()]) -> str:
        """Recall what the user said on a topic."""
        return topic

    return _loop(lc, [recall])


# --- 3. does ToolNode find the tool? --------------------------------------------------------------


@patient("unknown-tool")
def _misspelt_name(lc: World) -> Any:
    asked = _asked(lc, _calls(lc, call("getWeather", city="北京")), _answered(lc, status="error"))
    return asked, {"tools": [_weather(lc)]}


@patient("unknown-tool")
def _told_by_tool_node(lc: World) -> Any:
    return _loop(lc, [_weather(lc)], _calls(lc, call("get_wether", city="北京"))).invoke(
        {"messages": [("user", "?")]}
    )


@patient("async-only")
def _async_tool_in_a_sync_run(lc: World) -> Any:
    @lc.tool
    async def fetch_page(url: str) -> str:
        """Fetch a page by its url."""
        return url

    return _run(_loop(lc, [fetch_page], _calls(lc, call("fetch_page", url="u"))))


@patient("one-sided-middleware")
def _sync_middleware_in_an_async_run(lc: World) -> Any:
    @lc.wrap_tool_call
    def passes(request: Any, handler: Any) -> Any:
        return handler(request)

    agent = _loop(lc, [_weather(lc)], _calls(lc), middleware=[passes])
    return lambda: agent.ainvoke({"messages": [("user", "?")]})


class Chat(TypedDict):
    """A state whose messages are called otherwise."""

    chat_history: Annotated[list[Any], operator.add]


@patient("messages-key")
def _other_key(lc: World) -> Any:
    graph = lc.StateGraph(Chat)
    graph.add_node("tools", lc.ToolNode([_weather(lc)]))
    graph.add_edge(lc.START, "tools")
    return graph.compile()


def _modelled(lc: World) -> Any:
    model = lc.ScriptedChatModel(["hi"]).bind_tools([_weather(lc)])
    return lambda state: {"messages": [model.invoke(state["messages"])]}


@patient("path-map")
def _map_without_tools(lc: World) -> Any:
    node = lc.ToolNode([_weather(lc)])
    return _graph(lc, _modelled(lc), node, {"my_tools": "my_tools", "__end__": lc.END}, "my_tools")


@patient("tools-unreachable")
def _no_edge_to_the_tools(lc: World) -> Any:
    graph = lc.StateGraph(lc.MessagesState)
    graph.add_node("model", _modelled(lc))
    graph.add_node("tools", lc.ToolNode([_weather(lc)]))
    graph.add_edge(lc.START, "model")
    graph.add_edge("model", lc.END)
    return graph.compile()


@patient("outside-graph")
def _tool_node_alone(lc: World) -> Any:
    return lambda: lc.ToolNode([_weather(lc)]).invoke({"messages": [_calls(lc)]})


@patient("recursion-limit")
def _round_and_round(lc: World) -> Any:
    model = lc.ScriptedChatModel(lambda history: _calls(lc, call(id=f"c{len(history)}", city="x")))
    return _run(lc.create_agent(model, [_weather(lc)]), {"recursion_limit": 6})


# --- 4. did the answer become a ToolMessage with the call's id? -----------------------------------


@patient("unanswered-call")
def _no_answer(lc: World) -> Any:
    return _asked(lc, _calls(lc), lc.HumanMessage("还在吗？"))


@patient("unanswered-call")
def _one_of_two_unanswered(lc: World) -> Any:
    calls = _calls(lc, call(city="北京"), call(id="call_2", city="上海"))
    return _asked(lc, calls, _answered(lc), lc.AIMessage("北京是晴天。"))


@patient("pending-call")
def _stopped_before_the_tools(lc: World) -> Any:
    return {"messages": _asked(lc, _calls(lc))}


@patient("wrong-id")
def _answer_with_a_wrong_id(lc: World) -> Any:
    return _asked(lc, _calls(lc), _answered(lc, id="call_l"), lc.AIMessage("?"))


@patient("orphan-answer")
def _answer_to_nobody(lc: World) -> Any:
    return _asked(lc, _calls(lc), _answered(lc), lc.AIMessage("晴。"), _answered(lc, id="call_9"))


@patient("trimmed-pair")
def _cut_between(lc: World) -> Any:
    return [_answered(lc), lc.AIMessage("晴。"), lc.HumanMessage("明天呢？")]


@patient("duplicate-answer")
def _answered_twice(lc: World) -> Any:
    return _asked(lc, _calls(lc), _answered(lc), _answered(lc), lc.AIMessage("晴。"))


@patient("duplicate-id")
def _one_id_for_two_calls(lc: World) -> Any:
    calls = _calls(lc, call(city="北京"), call(city="上海"))
    return _asked(lc, calls, _answered(lc), _answered(lc), lc.AIMessage("晴。"))


@patient("answer-before-call")
def _answer_comes_first(lc: World) -> Any:
    return _asked(lc, _answered(lc), _calls(lc), lc.HumanMessage("?"))


@patient("answer-too-late")
def _a_question_in_between(lc: World) -> Any:
    return _asked(lc, _calls(lc), lc.HumanMessage("快点"), _answered(lc), lc.AIMessage("晴。"))


def _closed(lc: World) -> Any:
    @lc.tool
    def pay_bill(amount: int) -> str:
        """Pay a bill of an amount in CNY."""
        raise RuntimeError("the bank is closed")

    return pay_bill


@patient("error-ends-run")
def _tool_raises(lc: World) -> Any:
    return _run(_loop(lc, [_closed(lc)], _calls(lc, call("pay_bill", amount=5))))


@patient("same-error-again")
def _no_way_out(lc: World) -> Any:
    told = {"content": "failed: E42", "status": "error"}
    first = [_calls(lc), _answered(lc, **told)]
    again = [_calls(lc, call(id="call_2", city="北京")), _answered(lc, id="call_2", **told)]
    return _asked(lc, *first, *again, lc.AIMessage("?"))


@patient("answer-says-nothing")
def _bare_success(lc: World) -> Any:
    return _asked(lc, _calls(lc), _answered(lc, "success"), lc.AIMessage("好了。"))


@patient("answer-is-repr")
def _object_as_text(lc: World) -> Any:
    text = "<__main__.Order object at 0x7f3a5c0b2d90>"
    return _asked(lc, _calls(lc), _answered(lc, text), lc.AIMessage("?"))


@patient("content-list")
def _list_of_texts(lc: World) -> Any:
    return _asked(lc, _calls(lc), _answered(lc, ["晴", "28C"]), lc.AIMessage("晴。"))


@patient("artifact-not-plain")
def _object_as_artifact(lc: World) -> Any:
    return _asked(lc, _calls(lc), _answered(lc, artifact=object()), lc.AIMessage("晴。"))


@patient("interrupt-swallowed")
def _broad_except(lc: World) -> Any:
    interrupt = lc.interrupt

    @lc.tool
    def ask_human(question: str) -> str:
        """Ask a human a question before going on."""
        try:
            return str(interrupt(question))
        except Exception as error:
            return f"failed: {error}"

    return [ask_human]


@patient("interrupt-without-checkpointer")
def _nothing_to_resume(lc: World) -> Any:
    interrupt = lc.interrupt

    @lc.tool
    def ask_human(question: str) -> str:
        """Ask a human a question before going on."""
        return str(interrupt(question))

    return _loop(lc, [ask_human])


@patient("order-assumed")
def _argument_stands_for_an_answer(lc: World) -> Any:
    calls = _calls(
        lc,
        call("find_city", person="小王"),
        call("get_weather", "call_2", city="<result of find_city>"),
    )
    answers = [lc.ToolMessage("北京", tool_call_id="call_1"), _answered(lc, id="call_2")]
    return _asked(lc, calls, *answers, lc.AIMessage("晴。"))


@patient("order-assumed")
def _reads_what_is_written(lc: World) -> Any:
    calls = _calls(
        lc,
        call("create_order", order_id="O1"),
        call("query_order", "call_2", order_id="O1"),
    )
    answers = [
        lc.ToolMessage("O1 created", tool_call_id="call_1"),
        lc.ToolMessage("O1 not found", tool_call_id="call_2"),
    ]
    return _asked(lc, calls, *answers, lc.AIMessage("?"))


def _noting(lc: World) -> Any:
    Command, ToolMessage = lc.Command, lc.ToolMessage

    @lc.tool
    def save_note(text: str, tool_call_id: Annotated[str, lc.InjectedToolCallId]) -> Any:
        """Save a text as a note for later."""
        answer = ToolMessage("saved", tool_call_id=tool_call_id)
        return Command(update={"notes": [text], "messages": [answer]})

    return save_note


@patient("parallel-writes")
def _field_without_reducer(lc: World) -> Any:
    class Notes(lc.AgentState):  # type: ignore[name-defined, misc]  # a class of either world
        notes: NotRequired[list[str]]  # type: ignore[valid-type]  # its base is a TypedDict

    return _loop(lc, [_noting(lc)], state_schema=Notes)


@patient("state-mutated")
def _state_changed_in_place(lc: World) -> Any:
    @lc.tool
    def cheer_up(reason: str, state: Annotated[dict, lc.InjectedState]) -> str:  # type: ignore
        """Cheer the user up for a reason."""
        state["mood"] = "happy"
        return reason

    return [cheer_up]


@patient("return-direct-error")
def _direct_with_bad_arguments(lc: World) -> Any:
    tool = _weather(lc, return_direct=True)
    agent = _loop(lc, [tool], _calls(lc, call(town="北京")))
    return agent.invoke({"messages": [("user", "?")]}), {"tools": [tool]}


@patient("nonsense-returned")
def _node_returns_text(lc: World) -> Any:
    graph = lc.StateGraph(lc.MessagesState)
    graph.add_node("model", lambda state: "hello")
    graph.add_edge(lc.START, "model")
    compiled = graph.compile()
    return lambda: compiled.invoke({"messages": []})


# --- the healthy ----------------------------------------------------------------------------------


@patient(None)
def _weather_tool(lc: World) -> Any:
    return [_weather(lc)]


@patient(None)
def _broken_call_that_is_answered(lc: World) -> Any:
    bad = {"name": "get_weather", "args": '{"city": "北', "id": "call_1", "error": None}
    asking = lc.AIMessage("", invalid_tool_calls=[bad | {"type": "invalid_tool_call"}])
    answer = lc.ToolMessage("no JSON", name="get_weather", tool_call_id="call_1", status="error")
    return _asked(lc, asking, answer, lc.AIMessage("晴。"))


@patient(None)
def _plain_functions(lc: World) -> Any:
    def multiply(a: int, b: int) -> int:
        """Multiply two integers."""
        return a * b

    def search_web(query: str, max_results: int = 5) -> str:
        """Search the web for information on a topic."""
        return query

    return [multiply, search_web]


@patient(None)
def _described_fields(lc: World) -> Any:
    class RefundArgs(BaseModel):
        order_id: str = Field(description="Order id, such as O202607070001")
        reason: str = Field(description="The user's reason")
        amount: float = Field(gt=0, description="Refund amount in CNY")

    @lc.tool(args_schema=RefundArgs)
    def create_refund(order_id: str, reason: str, amount: float) -> str:
        """Create a refund request when the user wants money back for a paid order."""
        return f"Refund of {amount} for {order_id} is pending approval."

    return [create_refund]


@patient(None)
def _injected_everything(lc: World) -> Any:
    @lc.tool
    def query_order(
        order_id: str,
        state: Annotated[dict, lc.InjectedState],  # type: ignore[type-arg]  # as people write it
        user_id: Annotated[str, lc.InjectedState("user_id")],
        runtime: lc.ToolRuntime,  # type: ignore[name-defined]  # a class of either world
        tool_call_id: Annotated[str, lc.InjectedToolCallId],
    ) -> str:
        """Query an order of the current user by its order id."""
        return order_id

    return [query_order]


@patient(None)
def _a_state_of_the_union(lc: World) -> Any:
    @lc.tool
    def tax_rate(state: str) -> str:
        """Get the tax rate of a state of the United States."""
        return "6%"

    return [tax_rate]


@patient(None)
def _run_config(lc: World) -> Any:
    @lc.tool
    def who_am_i(question: str, config: lc.RunnableConfig) -> str:  # type: ignore[name-defined]
        """Answer a question about the current user."""
        return question

    return [who_am_i]


@patient(None)
def _async_tool(lc: World) -> Any:
    @lc.tool
    async def fetch_page(url: str) -> str:
        """Fetch a web page by its url."""
        return url

    return [fetch_page]


@patient(None)
def _chinese_words(lc: World) -> Any:
    @lc.tool
    def query_train(from_city: str, to_city: str) -> str:
        """查询两个城市之间的火车票。"""
        return "G1"

    return [query_train]


@patient(None, (LANGCHAIN,))
def _dicts_of_providers(lc: World) -> Any:
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}}
    openai = {"name": "get_weather", "description": "Weather of a city.", "parameters": parameters}
    anthropic = {"name": "get_tide", "description": "Tide of a city.", "input_schema": parameters}
    built_in = {"type": "web_search_20250305", "name": "web_search"}
    return [{"type": "function", "function": openai}, anthropic, built_in]


@patient(None)
def _schema_as_a_dict(lc: World) -> Any:
    properties = {"city": {"type": "string", "description": "a city"}}
    schema = {"type": "object", "properties": properties, "required": ["city"]}

    def get_weather(**arguments: Any) -> str:
        return str(arguments)

    return [
        lc.StructuredTool.from_function(
            get_weather, name="get_weather", description="Weather of a city.", args_schema=schema
        )
    ]


@patient(None)
def _artifact_tool(lc: World) -> Any:
    @lc.tool(response_format="content_and_artifact")
    def search_manual(query: str) -> tuple[str, list[dict[str, int]]]:
        """Search the manual when the user asks how the product works."""
        return "2 pages", [{"page": 1}]

    return [search_manual]


@patient(None)
def _careful_interrupt(lc: World) -> Any:
    interrupt, GraphBubbleUp = lc.interrupt, lc.GraphBubbleUp

    @lc.tool
    def ask_human(question: str) -> str:
        """Ask a human a question before going on."""
        try:
            return str(interrupt(question))
        except GraphBubbleUp:
            raise
        except Exception as error:
            return f"failed: {error}"

    return _loop(lc, [ask_human], checkpointer=lc.InMemorySaver())


@patient(None)
def _one_round(lc: World) -> Any:
    asked = _asked(lc, _calls(lc), _answered(lc), lc.AIMessage("北京今天是晴天。"))
    return asked, {"tools": [_weather(lc)]}


@patient(None)
def _two_turns(lc: World) -> Any:
    first = _asked(lc, _calls(lc), _answered(lc), lc.AIMessage("晴。"))
    calls = _calls(lc, call(id="call_2", city="上海"), call(id="call_3", city="广州"))
    answers = [_answered(lc, "上海: 雨", "call_2"), _answered(lc, "广州: 晴", "call_3")]
    return [*first, lc.HumanMessage("上海和广州呢？"), calls, *answers, lc.AIMessage("雨；晴。")]


@patient(None)
def _just_talk(lc: World) -> Any:
    return [lc.SystemMessage("Be kind."), lc.HumanMessage("你好"), lc.AIMessage("你好！")]


@patient(None)
def _json_as_text(lc: World) -> Any:
    text = 'Here is the JSON: {"name": "北京", "weather": "sunny"}'
    return _asked(lc, lc.AIMessage(text))


@patient(None)
def _one_error_then_right(lc: World) -> Any:
    wrong = [_calls(lc), _answered(lc, "no such city, use pinyin", status="error")]
    right = [_calls(lc, call(id="call_2", city="Beijing")), _answered(lc, id="call_2")]
    return _asked(lc, *wrong, *right, lc.AIMessage("晴。"))


@patient(None)
def _blocks_of_text(lc: World) -> Any:
    content = [{"type": "text", "text": "北京: 晴"}]
    return _asked(lc, _calls(lc), _answered(lc, content), lc.AIMessage("晴。"))


@patient(None, (LANGCHAIN,))
def _openai_form(lc: World) -> Any:
    function = {"name": "get_weather", "arguments": '{"city": "北京"}'}
    calls = [{"id": "call_1", "type": "function", "function": function}]
    return [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "北京今天天气怎么样？"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "call_1", "content": "晴，28C"},
        {"role": "assistant", "content": "晴。"},
    ]


@patient(None, (LANGCHAIN,))
def _anthropic_form(lc: World) -> Any:
    used = {"type": "tool_use", "id": "t1", "name": "get_weather", "input": {"city": "北京"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "晴，28C"}
    return [
        {"role": "user", "content": "北京今天天气怎么样？"},
        {"role": "assistant", "content": [{"type": "text", "text": "我查一下"}, used]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": [{"type": "text", "text": "晴。"}]},
    ]


@patient(None)
def _agent(lc: World) -> Any:
    return _loop(lc, [_weather(lc)])


@patient(None)
def _agent_that_runs(lc: World) -> Any:
    return _run(_loop(lc, [_weather(lc)], _calls(lc)))


@patient(None)
def _graph_by_hand(lc: World) -> Any:
    return _graph(lc, _modelled(lc), lc.ToolNode([_weather(lc)]))


@patient(None)
def _graph_with_a_right_map(lc: World) -> Any:
    node = lc.ToolNode([_weather(lc)])
    return _graph(lc, _modelled(lc), node, {"tools": "act", "__end__": lc.END}, "act")


@patient(None)
def _field_with_a_reducer(lc: World) -> Any:
    class Notes(lc.AgentState):  # type: ignore[name-defined, misc]  # a class of either world
        notes: Annotated[list[str], operator.add]

    return _loop(lc, [_noting(lc)], state_schema=Notes)


@patient(None)
def _structured_answer(lc: World) -> Any:
    class Weather(BaseModel):
        """The weather of a city."""

        city: str
        degrees: int

    answer = _calls(lc, call("Weather", city="北京", degrees=28))
    agent = _loop(lc, [_weather(lc)], answer, response_format=lc.ToolStrategy(Weather))
    return _run(agent)


@patient(None)
def _field_that_the_state_has(lc: World) -> Any:
    class Shop(lc.AgentState):  # type: ignore[name-defined, misc]  # a class of either world
        user_id: str

    return _loop(lc, [_of_the_user(lc)], state_schema=Shop)


@patient(None)
def _field_that_is_asked_for_first(lc: World) -> Any:
    @lc.tool
    def greet_user(greeting: str, state: Annotated[dict, lc.InjectedState]) -> str:  # type: ignore
        """Greet the current user with a greeting."""
        name = state["user_name"] if "user_name" in state else "you"
        return f"{greeting}, {name}"

    return _loop(lc, [greet_user])


@patient(None)
def _last_field_with_a_default(lc: World) -> Any:
    @lc.tool
    def brew(drink: str, branch: Annotated[str | None, lc.InjectedState("branch")] = None) -> str:
        """Brew a drink in the branch of the customer."""
        return drink

    return _loop(lc, [brew])


@patient(None)
def _asks_a_human(lc: World) -> Any:
    interrupt = lc.interrupt

    @lc.tool
    def ask_human(question: str) -> str:
        """Ask a human a question before going on."""
        return str(interrupt(question))

    calls = _calls(lc, call("ask_human", question="really?"))
    agent = _loop(lc, [ask_human], calls, checkpointer=lc.InMemorySaver())
    return _run(agent, {"configurable": {"thread_id": "1"}})


@patient(None)
def _documentation_of_interrupts(lc: World) -> Any:
    text = "interrupt() raises a GraphInterrupt; StructuredTool does not support sync invocation."
    return _asked(lc, _calls(lc), _answered(lc, text), lc.AIMessage("So it is."))


@patient(None, (LANGCHAIN,))
def _simple_tool(lc: World) -> Any:
    return [
        lc.Tool(name="web_search", func=lambda q: q, description="Answers about current events.")
    ]


@patient(None, (LANGCHAIN,))
def _picture_as_an_answer(lc: World) -> Any:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    content = [{"type": "text", "text": "the map"}, picture]
    return _asked(lc, _calls(lc), _answered(lc, content), lc.AIMessage("晴。"))


@patient(None, (LANGCHAIN,))
def _answer_of_a_provider(lc: World) -> Any:
    function = {"name": "get_weather", "arguments": '{"city": "北京"}'}
    calls = [{"id": "call_1", "type": "function", "function": function}]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    return {"id": "1", "object": "chat.completion", "choices": [{"index": 0, "message": message}]}


@patient(None, (LANGCHAIN,))
def _old_form_of_openai(lc: World) -> Any:
    asked = {"name": "get_weather", "arguments": '{"city": "北京"}'}
    return [
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": None, "function_call": asked},
        {"role": "function", "name": "get_weather", "content": "晴"},
        {"role": "assistant", "content": "晴。"},
    ]


@patient(None, (LANGCHAIN,))
def _responses_of_openai(lc: World) -> Any:
    asked = [
        {"type": "function_call", "call_id": f"c{n}", "name": "get_weather", "arguments": "{}"}
        for n in (1, 2)
    ]
    told = [{"type": "function_call_output", "call_id": f"c{n}", "output": "晴"} for n in (1, 2)]
    return {"model": "m", "input": [{"role": "user", "content": "?"}, *asked, *told]}


@patient(None, (LANGCHAIN,))
def _streamed_updates(lc: World) -> Any:
    agent = _loop(lc, [_weather(lc)], _calls(lc))
    return list(agent.stream({"messages": [("user", "?")]}, stream_mode="updates"))
