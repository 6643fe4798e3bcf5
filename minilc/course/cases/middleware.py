"""Layer 13, middleware: one's own code around a model call and around a tool call."""

# Annotations name a world's classes, which are chosen at run time.
# mypy: disable-error-code="name-defined, valid-type"

from typing import Any, NotRequired

from minilc.course.cases import case
from minilc.course.cases.support import asks, call, road, sent, user
from minilc.course.worlds import World

LAYER = "middleware"

THREAD = {"configurable": {"thread_id": "1"}}


def weather(lc: World) -> Any:
    @lc.tool
    def get_weather(city: str) -> str:
        """Get current weather for a city."""
        return f"{city} is sunny, 28C"

    return get_weather


def question(lc: World, *cities: str) -> Any:
    """The AI message that asks for the weather of each city."""
    calls = [call("get_weather", {"city": city}, f"call_{n}") for n, city in enumerate(cities, 1)]
    return asks(lc, *calls)


def model_of(lc: World, *cities: str) -> Any:
    """A model that asks for the weather of each city in one message, and then answers."""
    return lc.ScriptedChatModel([question(lc, *(cities or ("北京",))), "北京晴。"])


def logging_middleware(lc: World, name: str, log: list[str]) -> Any:
    """A middleware with all four hooks, which writes into the log when it is entered and left."""

    class Logging(lc.AgentMiddleware):
        def before_model(self, state: Any, runtime: Any) -> Any:
            log.append(f"{name} before")

        def after_model(self, state: Any, runtime: Any) -> Any:
            log.append(f"{name} after")

        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            log.append(f"{name} model in")
            response = handler(request)
            log.append(f"{name} model out")
            return response

        def wrap_tool_call(self, request: Any, handler: Any) -> Any:
            log.append(f"{name} tool in")
            response = handler(request)
            log.append(f"{name} tool out")
            return response

    Logging.__name__ = name
    return Logging()


# wrap_tool_call


@case(LAYER, "wrap_tool_call stands around each call of a tool")
def tool_wrapped(lc: World) -> Any:
    seen = []

    @lc.wrap_tool_call
    def audit(request: Any, handler: Any) -> Any:
        seen.append((request.tool_call["args"]["city"], request.tool.name, road(request.state)))
        return handler(request)

    agent = lc.create_agent(model_of(lc, "北京", "上海"), [weather(lc)], middleware=[audit])
    return agent.invoke(user()), sorted(seen)


@case(LAYER, "an error of a tool can be made a message")
def tool_error_to_message(lc: World) -> Any:
    @lc.tool
    def pay() -> str:
        """Pay."""
        raise RuntimeError("bank is closed")

    @lc.wrap_tool_call
    def tell(request: Any, handler: Any) -> Any:
        try:
            return handler(request)
        except RuntimeError as error:
            text = f"Tool failed: {error}"
            return lc.ToolMessage(text, tool_call_id=request.tool_call["id"], status="error")

    model = lc.ScriptedChatModel([asks(lc, call("pay")), "sorry"])
    return lc.create_agent(model, [pay], middleware=[tell]).invoke(user())


@case(LAYER, "the arguments of a call can be changed before it runs")
def tool_arguments(lc: World) -> Any:
    @lc.wrap_tool_call
    def complete(request: Any, handler: Any) -> Any:
        args = {"city": request.tool_call["args"]["city"] + "市"}
        return handler(request.override(tool_call={**request.tool_call, "args": args}))

    return lc.create_agent(model_of(lc), [weather(lc)], middleware=[complete]).invoke(user())


@case(LAYER, "a wrapper that returns text puts a HumanMessage in the history")
def tool_wrapper_returns_text(lc: World) -> Any:
    @lc.wrap_tool_call
    def careless(request: Any, handler: Any) -> Any:
        return "sunny"

    return lc.create_agent(model_of(lc), [weather(lc)], middleware=[careless]).invoke(user())


@case(LAYER, "a wrapper may return a Command")
def tool_wrapper_returns_command(lc: World) -> Any:
    @lc.wrap_tool_call
    def end(request: Any, handler: Any) -> Any:
        answer = lc.ToolMessage("refused", tool_call_id=request.tool_call["id"])
        return lc.Command(update={"messages": [answer, lc.AIMessage("no")]}, goto=lc.END)

    return lc.create_agent(model_of(lc), [weather(lc)], middleware=[end]).invoke(user())


@case(LAYER, "a wrapper may bring the tool for a name that nobody registered")
def tool_wrapper_brings_tool(lc: World) -> Any:
    @lc.wrap_tool_call
    def bring(request: Any, handler: Any) -> Any:
        return handler(request.override(tool=weather(lc)) if request.tool is None else request)

    return lc.create_agent(model_of(lc), [], middleware=[bring]).invoke(user())


@case(LAYER, "wrappers stand around one another, the first outermost")
def tool_wrappers(lc: World) -> Any:
    def marking(name: str) -> Any:
        @lc.wrap_tool_call(name=name)
        def mark(request: Any, handler: Any) -> Any:
            message = handler(request)
            message.content += f" {name}"
            return message

        return mark

    middleware = [marking(name) for name in ("outer", "middle", "inner")]
    return lc.create_agent(model_of(lc), [weather(lc)], middleware=middleware).invoke(user())


@case(LAYER, "a human may approve a call before it runs")
def tool_approved(lc: World) -> Any:
    ran = []

    @lc.tool
    def delete(path: str) -> str:
        """Delete a file."""
        ran.append(path)
        return "deleted"

    @lc.wrap_tool_call
    def approve(request: Any, handler: Any) -> Any:
        if lc.interrupt(request.tool_call["args"]) == "approve":
            return handler(request)
        return lc.ToolMessage("refused", tool_call_id=request.tool_call["id"])

    model = lc.ScriptedChatModel([asks(lc, call("delete", {"path": "/a"})), "done"])
    agent = lc.create_agent(model, [delete], middleware=[approve], checkpointer=lc.InMemorySaver())
    paused = agent.invoke(user("delete /a"), THREAD)
    before = [question.value for question in paused["__interrupt__"]], list(ran)
    return before, agent.invoke(lc.Command(resume="approve"), THREAD), ran


# wrap_model_call


@case(LAYER, "wrap_model_call sees the request and passes it on")
def model_wrapped(lc: World) -> Any:
    seen = []

    @lc.wrap_model_call
    def look(request: Any, handler: Any) -> Any:
        names = [tool.name for tool in request.tools]
        seen.append((len(request.messages), names, request.tool_choice, request.system_message))
        return handler(request)

    agent = lc.create_agent(
        model_of(lc), [weather(lc)], system_prompt="你会查天气。", middleware=[look]
    )
    return agent.invoke(user()), seen


@case(LAYER, "wrap_model_call may change what the model is sent, for this call only")
def model_request_changed(lc: World) -> Any:
    @lc.wrap_model_call
    def change(request: Any, handler: Any) -> Any:
        return handler(
            request.override(
                messages=request.messages[-1:],
                system_message=lc.SystemMessage("be short"),
                tools=[],
                tool_choice="none",
                model_settings={"temperature": 0},
            )
        )

    model = model_of(lc)
    lc.create_agent(model, [weather(lc)], middleware=[change]).invoke(user())
    return sent(model)


@case(LAYER, "wrap_model_call may take another model")
def model_replaced(lc: World) -> Any:
    other = lc.ScriptedChatModel(["from the other"])

    @lc.wrap_model_call
    def replace(request: Any, handler: Any) -> Any:
        return handler(request.override(model=other))

    model = lc.ScriptedChatModel([])
    agent = lc.create_agent(model, [weather(lc)], middleware=[replace])
    return agent.invoke(user()), sent(model), len(sent(other))


@case(LAYER, "wrap_model_call may answer by itself, with a message or a response")
def model_not_asked(lc: World) -> Any:
    @lc.wrap_model_call
    def by_message(request: Any, handler: Any) -> Any:
        return lc.AIMessage("cached")

    @lc.wrap_model_call
    def by_response(request: Any, handler: Any) -> Any:
        return lc.ModelResponse(result=[lc.AIMessage("cached, too")])

    model = lc.ScriptedChatModel([])
    return [
        lc.create_agent(model, [weather(lc)], middleware=[middleware]).invoke(user())
        for middleware in (by_message, by_response)
    ]


@case(LAYER, "wrap_model_call may try again")
def model_retried(lc: World) -> Any:
    tries = []

    def flaky(messages: Any) -> Any:
        tries.append(len(messages))
        if len(tries) < 3:
            raise TimeoutError("provider")
        return "finally"

    @lc.wrap_model_call
    def again(request: Any, handler: Any) -> Any:
        while True:
            try:
                return handler(request)
            except TimeoutError:
                continue

    model = lc.ScriptedChatModel(flaky)
    return lc.create_agent(model, [], middleware=[again]).invoke(user()), tries


@case(
    LAYER,
    "a tool that a wrapper adds and nobody registered is refused",
    differs="undeclared-tools",
)
def model_tool_added(lc: World) -> Any:
    @lc.wrap_model_call
    def add(request: Any, handler: Any) -> Any:
        return handler(request.override(tools=[*request.tools, weather(lc)]))

    @lc.tool
    def clock() -> str:
        """Tell the time."""
        return ""

    return lc.create_agent(model_of(lc), [clock], middleware=[add]).invoke(user())


@case(LAYER, "an error of the model passes through the wrappers")
def model_error(lc: World) -> Any:
    def broken(messages: Any) -> Any:
        raise ConnectionError("provider is down")

    @lc.wrap_model_call
    def outer(request: Any, handler: Any) -> Any:
        return handler(request)

    return lc.create_agent(lc.ScriptedChatModel(broken), [], middleware=[outer]).invoke(user())


@case(LAYER, "setting an attribute of a request is deprecated; override makes a copy")
def model_request_copied(lc: World) -> Any:
    seen = []

    @lc.wrap_model_call
    def look(request: Any, handler: Any) -> Any:
        changed = request.override(tool_choice="any")
        seen.append(
            (request.tool_choice, changed.tool_choice, changed.messages is request.messages)
        )
        return handler(request)

    lc.create_agent(lc.ScriptedChatModel(["a"]), [], middleware=[look]).invoke(user())
    return seen


# before_model, after_model


@case(LAYER, "all hooks of two middlewares, in their order")
def order(lc: World) -> Any:
    log: list[str] = []
    middleware = [logging_middleware(lc, name, log) for name in ("A", "B")]
    lc.create_agent(model_of(lc), [weather(lc)], middleware=middleware).invoke(user())
    return log


@case(LAYER, "hooks are nodes of the graph, named after their middleware")
def nodes(lc: World) -> Any:
    middleware = [logging_middleware(lc, name, []) for name in ("A", "B")]
    graph = lc.create_agent(model_of(lc), [weather(lc)], middleware=middleware).get_graph()
    edges = sorted((edge.source, edge.target, edge.conditional) for edge in graph.edges)
    return sorted(graph.nodes), edges


@case(LAYER, "hooks are steps: they count against the limit")
def hooks_count(lc: World) -> Any:
    middleware = [logging_middleware(lc, "A", [])]
    agent = lc.create_agent(model_of(lc), [weather(lc)], middleware=middleware)
    return agent.invoke(user(), {"recursion_limit": 7})


@case(LAYER, "what before_model returns is written to the state before the model is asked")
def before_writes(lc: World) -> Any:
    @lc.before_model
    def remind(state: Any, runtime: Any) -> Any:
        return {"messages": [lc.HumanMessage(f"reminder {len(state['messages'])}")]}

    model = lc.ScriptedChatModel(["ok"])
    return lc.create_agent(model, [], middleware=[remind]).invoke(user()), sent(model)


@case(LAYER, "before_model may end the run if it says that it can")
def before_ends(lc: World) -> Any:
    @lc.before_model(can_jump_to=["end"])
    def stop(state: Any, runtime: Any) -> Any:
        return {"jump_to": "end", "messages": [lc.AIMessage("stopped")]}

    return lc.create_agent(lc.ScriptedChatModel([]), [weather(lc)], middleware=[stop]).invoke(
        user()
    )


@case(LAYER, "a jump that it did not announce is not made")
def before_jump_unannounced(lc: World) -> Any:
    @lc.before_model
    def stop(state: Any, runtime: Any) -> Any:
        return {"jump_to": "end"}

    model = lc.ScriptedChatModel(["asked all the same"])
    return lc.create_agent(model, [], middleware=[stop]).invoke(user())


@case(LAYER, "after_model may send the run back to the model")
def after_jumps_back(lc: World) -> Any:
    @lc.after_model(can_jump_to=["model"])
    def again(state: Any, runtime: Any) -> Any:
        if len(state["messages"]) < 4:
            return {"jump_to": "model", "messages": [lc.HumanMessage("try again")]}

    model = lc.ScriptedChatModel(["one", "two"])
    return lc.create_agent(model, [], middleware=[again]).invoke(user())


@case(LAYER, "after_model may end the run before the tools")
def after_ends(lc: World) -> Any:
    @lc.after_model(can_jump_to=["end"])
    def stop(state: Any, runtime: Any) -> Any:
        return {"jump_to": "end"}

    return lc.create_agent(model_of(lc), [weather(lc)], middleware=[stop]).invoke(user())


@case(LAYER, "after_model may answer the calls itself; then the model is next, not the tools")
def after_answers(lc: World) -> Any:
    @lc.after_model
    def answer(state: Any, runtime: Any) -> Any:
        calls = state["messages"][-1].tool_calls
        return {"messages": [lc.ToolMessage("by hand", tool_call_id=c["id"]) for c in calls]}

    return lc.create_agent(model_of(lc), [weather(lc)], middleware=[answer]).invoke(user())


@case(LAYER, "answers with a wrong id do not count: the tools run")
def after_answers_wrongly(lc: World) -> Any:
    @lc.after_model
    def answer(state: Any, runtime: Any) -> Any:
        if state["messages"][-1].tool_calls:
            return {"messages": [lc.ToolMessage("by hand", tool_call_id="other")]}

    return lc.create_agent(model_of(lc), [weather(lc)], middleware=[answer]).invoke(user())


@case(LAYER, "of two calls, only the one without an answer runs")
def after_answers_one(lc: World) -> Any:
    @lc.after_model
    def answer(state: Any, runtime: Any) -> Any:
        if state["messages"][-1].tool_calls:
            return {"messages": [lc.ToolMessage("by hand", tool_call_id="call_2")]}

    agent = lc.create_agent(model_of(lc, "北京", "上海"), [weather(lc)], middleware=[answer])
    return agent.invoke(user())


@case(LAYER, "a hook that returns no dict is an error")
def hook_returns_nonsense(lc: World) -> Any:
    @lc.before_model
    def nonsense(state: Any, runtime: Any) -> Any:
        return 5

    return lc.create_agent(lc.ScriptedChatModel(["a"]), [], middleware=[nonsense]).invoke(user())


@case(LAYER, "a hook that fails fails the run")
def hook_fails(lc: World) -> Any:
    @lc.after_model
    def fail(state: Any, runtime: Any) -> Any:
        raise PermissionError("forbidden word")

    return lc.create_agent(lc.ScriptedChatModel(["a"]), [], middleware=[fail]).invoke(user())


# Sync and async


@case(LAYER, "async hooks are awaited")
async def async_hooks(lc: World) -> Any:
    log = []

    @lc.wrap_tool_call
    async def tool(request: Any, handler: Any) -> Any:
        log.append("tool")
        return await handler(request)

    @lc.wrap_model_call
    async def model(request: Any, handler: Any) -> Any:
        log.append("model")
        return await handler(request)

    @lc.before_model
    async def before(state: Any, runtime: Any) -> Any:
        log.append("before")

    agent = lc.create_agent(model_of(lc), [weather(lc)], middleware=[tool, model, before])
    return await agent.ainvoke(user()), log


@case(
    LAYER,
    "a sync wrap_tool_call does not serve a run that is awaited",
    differs="missing-side-advice",
)
async def sync_tool_wrapper_awaited(lc: World) -> Any:
    @lc.wrap_tool_call
    def audit(request: Any, handler: Any) -> Any:
        return handler(request)

    agent = lc.create_agent(model_of(lc), [weather(lc)], middleware=[audit])
    return await agent.ainvoke(user())


@case(
    LAYER,
    "an async wrap_tool_call does not serve a run that is not awaited",
    differs="missing-side-advice",
)
def async_tool_wrapper_invoked(lc: World) -> Any:
    @lc.wrap_tool_call
    async def audit(request: Any, handler: Any) -> Any:
        return await handler(request)

    return lc.create_agent(model_of(lc), [weather(lc)], middleware=[audit]).invoke(user())


@case(
    LAYER,
    "a sync wrap_model_call does not serve a run that is awaited",
    differs="missing-side-advice",
)
async def sync_model_wrapper_awaited(lc: World) -> Any:
    @lc.wrap_model_call
    def look(request: Any, handler: Any) -> Any:
        return handler(request)

    return await lc.create_agent(model_of(lc), [weather(lc)], middleware=[look]).ainvoke(user())


@case(
    LAYER,
    "an async wrap_model_call does not serve a run that is not awaited",
    differs="missing-side-advice",
)
def async_model_wrapper_invoked(lc: World) -> Any:
    @lc.wrap_model_call
    async def look(request: Any, handler: Any) -> Any:
        return await handler(request)

    return lc.create_agent(model_of(lc), [weather(lc)], middleware=[look]).invoke(user())


@case(LAYER, "a sync hook serves a run that is awaited")
async def sync_hook_awaited(lc: World) -> Any:
    @lc.before_model
    def remind(state: Any, runtime: Any) -> Any:
        return {"messages": [lc.HumanMessage("reminder")]}

    agent = lc.create_agent(lc.ScriptedChatModel(["ok"]), [], middleware=[remind])
    return await agent.ainvoke(user())


@case(LAYER, "a class with both forms serves both")
async def both_forms(lc: World) -> Any:
    class Both(lc.AgentMiddleware):
        def wrap_tool_call(self, request: Any, handler: Any) -> Any:
            message = handler(request)
            message.content += " (sync)"
            return message

        async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
            message = await handler(request)
            message.content += " (async)"
            return message

    agent = [lc.create_agent(model_of(lc), [weather(lc)], middleware=[Both()]) for _ in range(2)]
    return agent[0].invoke(user()), await agent[1].ainvoke(user())


# What a middleware may bring


@case(LAYER, "a middleware may bring tools; they come first")
def brings_tools(lc: World) -> Any:
    @lc.tool
    def clock(city: str) -> str:
        """Tell the time."""
        return f"{city} 10:00"

    class Clock(lc.AgentMiddleware):
        tools = [clock]

    model = lc.ScriptedChatModel([asks(lc, call("clock", {"city": "北京"})), "done"])
    result = lc.create_agent(model, [weather(lc)], middleware=[Clock()]).invoke(user())
    return result, [tool["function"]["name"] for tool in sent(model)[0]["tools"]]


@case(LAYER, "a middleware may bring fields of the state")
def brings_state(lc: World) -> Any:
    class State(lc.AgentState):
        rounds: NotRequired[int]

    class Counting(lc.AgentMiddleware):
        state_schema = State

        def before_model(self, state: Any, runtime: Any) -> Any:
            return {"rounds": state.get("rounds", 0) + 1}

    agent = lc.create_agent(model_of(lc), [weather(lc)], middleware=[Counting()])
    return agent.invoke(user() | {"rounds": 10})


@case(LAYER, "two middlewares of one name are refused")
def same_name_twice(lc: World) -> Any:
    middleware = [logging_middleware(lc, "A", []), logging_middleware(lc, "A", [])]
    return lc.create_agent(model_of(lc), [], middleware=middleware)


@case(LAYER, "a bare function is no middleware")
def bare_function(lc: World) -> Any:
    def audit(request: Any, handler: Any) -> Any:
        return handler(request)

    return lc.create_agent(model_of(lc), [weather(lc)], middleware=[audit])


@case(LAYER, "hooks around the whole run", differs="agent-hooks")
def around_the_run(lc: World) -> Any:
    log = []

    class Around(lc.AgentMiddleware):
        def before_agent(self, state: Any, runtime: Any) -> Any:
            log.append("before")

        def after_agent(self, state: Any, runtime: Any) -> Any:
            log.append("after")

    lc.create_agent(lc.ScriptedChatModel(["ok"]), [], middleware=[Around()]).invoke(user())
    return log


@case(LAYER, "the system prompt of a request", differs="model-request-system-prompt")
def request_system_prompt(lc: World) -> Any:
    return lc.ModelRequest(model=None, messages=[]).override(system_prompt="be short").system_prompt


@case(LAYER, "a middleware's name is its class, or that of the function that was decorated")
def names(lc: World) -> Any:
    @lc.wrap_tool_call
    def audit(request: Any, handler: Any) -> Any:
        return handler(request)

    @lc.before_model(name="Reminder")
    def remind(state: Any, runtime: Any) -> Any:
        return None

    return audit.name, remind.name, logging_middleware(lc, "A", []).name
