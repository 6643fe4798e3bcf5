# %% [markdown] lang="en"
# # What can stand between the wish and the deed?
#
# The model has asked, the tool is there. Now somebody wants to log the call, try it again, ask a person first, or have it answered from a memory. None of that belongs in the tool. Where does it go?
#
# |  |  |
# |---|---|
# | **Time** | 40 minutes, and 35 for the exercises |
# | **Difficulty** | medium |
# | **Before** | [12_tool_node](12_tool_node.ipynb): how one call is run; [09_state](09_state.ipynb): `interrupt` |
# | **Articles** | A, layer 10, and production advice 5 |
# | **We build** | layer 13, `minilc/middleware.py` |
#
# This is where the real thing stands in *your* installation.

# %% tags=["version"]
# %load_ext minilc.course.listings
from minilc.course import cases, check, draw, exercises as ex
from minilc.course.expect import expect_error
from minilc.course.layers import layer
from minilc.course.probe import Probe
from minilc.course.upstream import where

for name in ["AgentMiddleware", "wrap_tool_call", "_chain_tool_call_wrappers", "ToolCallRequest"]:
    print(f"{name:<26}", where(name).upstream)

# %% [markdown] lang="en"
# ## 1. The real thing
#
# A tool, a call, and an agent that can be given *middleware*. `ran` says when the tool has really run.

# %%
from functools import partial, reduce

from langchain.agents import create_agent
from langchain.agents.middleware import before_model, wrap_model_call, wrap_tool_call
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from minilc.course.scripted import ScriptedChatModel

ran = []


@tool
def weather(city: str) -> str:
    """The weather of a city."""
    ran.append(city)
    return f"{city}: 晴"


question = {"messages": [("user", "北京今天天气怎么样？")]}
call = {"name": "weather", "args": {"city": "北京"}, "id": "call_1", "type": "tool_call"}


def agent_with(*middleware, tools=(weather,), **options):
    model = ScriptedChatModel([AIMessage("", tool_calls=[call]), "北京今天晴。"])
    return create_agent(model, tools, middleware=middleware, **options)


# %% [markdown] lang="en"
# This middleware is one function. It gets the request, and a `handler` that does the rest.


# %%
@wrap_tool_call
def log(request, handler):
    print("in: ", request.tool_call["args"], request.tool.name, list(request.state))
    answer = handler(request)
    print("out:", repr(answer))
    return answer


messages = agent_with(log).invoke(question)["messages"]
[message.type for message in messages]

# %% [markdown] lang="en"
# Article A says it well: it stands around **one execution of one tool**, not around the agent. It sees the call, the tool, the state; and it holds the answer in its hand before anybody else does.
#
# The decorator matters. Article A shows a bare function; an agent refuses it, in words that do not help.

# %%
with expect_error(AttributeError, "type object 'function' has no attribute 'wrap_tool_call'"):
    agent_with(lambda request, handler: handler(request))

# %% [markdown] lang="en"
# ## 2. The naive version
#
# With two of them, who comes first, and what is the handler of the first? We write the composition ourselves. First try: each gets its turn, and the last answer counts.


# %%
def chain_v0(wrappers):
    def in_turn(request, handler):
        return [wrapper(request, handler) for wrapper in wrappers][-1]

    return in_turn


# %% [markdown] lang="en"
# ### The probe
#
# Six small wrappers. The first leaves a mark when it is entered and when it is left.

# %%
seen = []


def mark(name):
    def wrapper(request, handler):
        seen.append(f"{name}(")
        answer = handler(request)
        seen.append(f"){name}")
        return answer

    return wrapper


def reply(text, request):
    return ToolMessage(text, tool_call_id=request.tool_call["id"])


def twice(request, handler):
    handler(request)
    return handler(request)


def fail(request, handler):
    raise PermissionError("not allowed")


def answers(request, handler):
    return reply("from a memory", request)


def to_shanghai(request, handler):
    return handler(request.override(tool_call=request.tool_call | {"args": {"city": "上海"}}))


def catch(request, handler):
    try:
        return handler(request)
    except PermissionError as error:
        return reply(f"caught: {error}", request)


# %% [markdown] lang="en"
# Ten scenes, each a list of wrappers. A scene tells its marks, the runs of the tool, and the answer. For LangChain each wrapper is a middleware; our chain makes one of all.

# %%
A, B = mark("A"), mark("B")
SCENES = {
    "nobody": [],
    "one that marks": [A],
    "two that mark": [A, B],
    "one that answers": [answers],
    "an answer inside": [A, answers],
    "an answer outside": [answers, A],
    "twice, outside": [twice, A],
    "another city": [to_shanghai, A],
    "a failure inside": [catch, fail],
    "a failure outside": [fail, catch],
}


def play(wrappers):
    seen.clear(), ran.clear()
    middleware = [wrap_tool_call(name=f"m{n}")(one) for n, one in enumerate(wrappers)]
    answer = agent_with(*middleware).invoke(question)["messages"][2]
    return f"{' '.join(seen) or 'no marks'} | ran {len(ran)} | {answer.content}"


probe = Probe(play, SCENES)

# %% [markdown] lang="en"
# How many of ten does the chain get right that gives each its turn?

# %%
result = probe(lambda wrappers: play([chain_v0(wrappers)]))
assert result.score == 3
result

# %% [markdown] lang="en"
# Look at *two that mark*: A, then B, and the tool ran twice. In LangChain B is *inside* of A. What A calls its handler is B with the tool in it.
#
# ## 3. The onion
#
# So each wrapper becomes the handler of the next one. We start with the tool and wrap.


# %%
def chain_v1(wrappers):
    def wrap(handler, wrapper):
        return partial(wrapper, handler=handler)

    return lambda request, handler: reduce(wrap, wrappers, handler)(request)


# %%
result = probe(lambda wrappers: play([chain_v1(wrappers)]))
assert result.score == 4
[(row.input, row.ours) for row in result.rows[2:6]]

# %% [markdown] lang="en"
# One run, good; but B is outside, and so is *an answer inside*. The one that is wrapped last is the outermost. LangChain's rule: **the first in the list is the outermost.** So we start with the last one.


# %%
def chain_v2(wrappers):
    return chain_v1(wrappers[::-1])


result = probe(lambda wrappers: play([chain_v2(wrappers)]))
assert result.score == len(SCENES)

# %% [markdown] lang="en"
# Ten of ten. Here is the onion of a real run: three middleware, and the tool in the middle. Each bar reaches from *in* to *out*.

# %%
lanes = draw.Lanes()


def layer_of(name):
    @wrap_tool_call(name=name)
    def wrapper(request, handler):
        with lanes.run(name):
            return handler(request)

    return wrapper


@tool("weather")
def drawn(city: str) -> str:
    """The weather of a city."""
    with lanes.run("the tool"):
        return "晴"


agent_with(layer_of("log"), layer_of("retry"), layer_of("cache"), tools=[drawn]).invoke(question)
assert lanes.ended == lanes.began[::-1] == ["the tool", "cache", "retry", "log"]
lanes.drawing("middleware=[log, retry, cache]")

# %% [markdown] lang="en"
# Whoever calls its handler again (*retry*) repeats all that is inside of it, and nothing that is outside. Think of this when you choose an order.

# %% [markdown] lang="en"
# ## 4. What a wrapper may do
#
# Change the request: `override` makes a copy. The model's own call stays in the history as it was; only the tool gets other arguments.

# %%
messages = agent_with(wrap_tool_call(to_shanghai)).invoke(question)["messages"]
assert messages[1].tool_calls[0]["args"] == {"city": "北京"}
messages[2].content

# %% [markdown] lang="en"
# Not call the handler: in the scene *one that answers*, the tool did not run. Or call it twice: the tool runs twice, and the answer that the wrapper returns counts.
#
# **Wait a minute.** Who checks what a wrapper returns? Suppose it returns a text.

# %%
run = draw.record(agent_with(wrap_tool_call(name="careless")(lambda *_: "晴")), question)
assert [message.type for message in run.messages] == ["human", "ai", "human", "ai"]
draw.ledger(run)

# %% [markdown] lang="en"
# Nobody does. The text became a message *of the user*, and the call is without an answer. A scripted model does not mind; a provider refuses the next request.
#
# An error in a wrapper ends the run, as one in the tool does: that was the last scene of the probe.

# %% [markdown] lang="en"
# ## 5. Six wrappers that people need
#
# *Log* we have seen. **Retry**: three tries, and the last one may fail. This tool needs all three. How often is A entered, which stands inside?


# %%
@wrap_tool_call
def retry(request, handler):
    for _ in range(2):
        try:
            return handler(request)
        except TimeoutError:
            continue
    return handler(request)


@tool("weather")
def flaky(city: str) -> str:
    """The weather of a city, if the server is awake."""
    ran.append(city)
    if len(ran) < 3:
        raise TimeoutError("no answer")
    return f"{city}: 晴"


seen.clear(), ran.clear()
answer = agent_with(retry, wrap_tool_call(A), tools=[flaky]).invoke(question)["messages"][2]
assert len(ran) == 3 and answer.content == "北京: 晴"
seen

# %% [markdown] lang="en"
# Three times, and left once: the two errors went past its second mark.
#
# **Wait a minute.** Would `retry` also retry a call whose arguments are wrong? This model forgets the city; A marks each try.

# %%
model = ScriptedChatModel([AIMessage("", tool_calls=[call | {"args": {}}]), "抱歉。"])
wrong = create_agent(model, [weather], middleware=[retry, wrap_tool_call(A)]).invoke(question)
assert wrong["messages"][2].status == "error" and seen[4:] == ["A(", ")A"]
wrong["messages"][2].content

# %% [markdown] lang="en"
# One try. Nothing was raised: wrong arguments are an answer already when the wrapper sees them ([10_tool_errors](10_tool_errors.ipynb)). A wrapper that waits for exceptions never hears of them; look at `status`, too.
#
# **Cache**: the first answer is kept. What is wrong with this one?

# %%
memory = {}


def remembered(request, handler):
    key = (request.tool_call["name"], str(request.tool_call["args"]))
    if key not in memory:
        memory[key] = handler(request)
    return memory[key]


def ask_twice(wrapper):
    asks = [AIMessage("", tool_calls=[call | {"id": f"call_{n}"}]) for n in (1, 2)]
    model, middleware = ScriptedChatModel([*asks, "晴。"]), [wrap_tool_call(wrapper)]
    return create_agent(model, [weather], middleware=middleware).invoke(question)["messages"]


draw.ledger(ask_twice(remembered))

# %% [markdown] lang="en"
# The second call got the first one's message, with the first one's id. An answer belongs to a call; what may be kept is its content. Nor may the message keep its *own* id: the state would put it in the place of the first ([09_state](09_state.ipynb)).


# %%
def cache(request, handler):
    own = {"tool_call_id": request.tool_call["id"], "id": None}
    return remembered(request, handler).model_copy(update=own)


assert [entry.verdict for entry in draw.entries(ask_twice(cache))] == ["answered", "answered"]

# %% [markdown] lang="en"
# **Time-out**: the handler runs in a thread, and we wait for it only so long. The tool here waits for a bell that we ring at the end. What happens to it when we stop waiting?

# %%
from concurrent.futures import ThreadPoolExecutor
from threading import Event

lanes, bell, pool = draw.Lanes(), Event(), ThreadPoolExecutor()


@wrap_tool_call
def time_out(request, handler):
    with lanes.run("time_out"):
        future = pool.submit(handler, request)
        try:
            return future.result(timeout=0.3)
        except TimeoutError:
            return reply("took too long", request)


@tool("weather")
def slow(city: str) -> str:
    """The weather of a city, in a while."""
    with lanes.run("the tool"):
        bell.wait(10)
    return "晴"


# %%
answer = agent_with(time_out, tools=[slow]).invoke(question)["messages"][2]
bell.set(), pool.shutdown()
assert answer.content == "took too long" and lanes.ended == ["time_out", "the tool"]
lanes.drawing("A tool that takes too long")

# %% [markdown] lang="en"
# It runs on. Nobody can stop a thread in Python: we stopped waiting, no more. If the tool pays a bill, the bill is paid, and the model is told that it took too long. (Make the pool outside: the end of a `with` would wait for its threads.)
#
# **Approval**: ask a person, and run the tool only if they agree. `interrupt` stops the graph; with a checkpointer it can go on later.

# %%
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt


@wrap_tool_call
def approve(request, handler):
    if interrupt(request.tool_call["args"]) == "yes":
        return handler(request)
    return reply("refused by the user", request)


thread = {"configurable": {"thread_id": "1"}}
agent = agent_with(wrap_tool_call(A), approve, checkpointer=InMemorySaver())
ran.clear(), seen.clear()
paused = agent.invoke(question, thread)
assert ran == []
paused["__interrupt__"][0].value

# %% [markdown] lang="en"
# The run has stopped, with the question in its state; the tool has not run. A minute or a day later somebody says yes. How often was A entered by then?

# %%
done = agent.invoke(Command(resume="yes"), thread)
assert ran == ["北京"]
assert seen == ["A(", "A(", ")A"]
done["messages"][2].content

# %% [markdown] lang="en"
# Twice: the node starts again from its beginning, and `interrupt` gives the answer this time. So nothing that costs something may stand before an approval.
#
# **Degrade**: when the tool is down, another one answers. `override` takes a tool, too.


# %%
@tool
def yesterday(city: str) -> str:
    """The weather of yesterday."""
    return f"{city}: 晴 (yesterday)"


@tool("weather")
def down(city: str) -> str:
    """The weather of a city."""
    raise ConnectionError("no network")


@wrap_tool_call
def degrade(request, handler):
    try:
        return handler(request)
    except ConnectionError:
        return handler(request.override(tool=yesterday))


answer = agent_with(degrade, tools=[down]).invoke(question)["messages"][2]
assert (answer.name, answer.tool_call_id) == ("yesterday", "call_1")
answer.content

# %% [markdown] lang="en"
# The model had never heard of `yesterday`; the answer has its name and the call's id.
#
# A last trap. Many agents have a wrapper that catches *everything*, so that no tool ends the run. What does it do around an approval?


# %%
@wrap_tool_call
def catch_all(request, handler):
    try:
        return handler(request)
    except Exception as error:
        return reply(f"failed: {type(error).__name__}", request)


agent = agent_with(catch_all, approve, checkpointer=InMemorySaver())
state = agent.invoke(question, thread)
assert "__interrupt__" not in state
state["messages"][2].content

# %% [markdown] lang="en"
# Nobody is asked. An interrupt travels as an exception, and the wrapper took it for a failure. Exercise 2 mends this one.
#
# ## 6. Around the model
#
# `wrap_model_call` is the same onion around a model call. Its request has the messages, the tools on offer, the system message, the model itself. A change holds for this one call.

# %%
from langchain_core.messages import SystemMessage


@wrap_model_call
def last_word(request, handler):
    if request.messages[-1].type != "tool":
        return handler(request)
    return handler(request.override(tools=[], system_message=SystemMessage("一句话。")))


model = ScriptedChatModel([AIMessage("", tool_calls=[call]), "北京今天晴。"])
state = create_agent(model, [weather], middleware=[last_word]).invoke(question)
assert [message.type for message in state["messages"]] == ["human", "ai", "tool", "ai"]
[(len(sent.tools), sent.messages[0].type) for sent in model.requests]

# %% [markdown] lang="en"
# After an answer the model is offered no tools, so it has nothing to call. And its history begins with an instruction that the state never held.
#
# The request holds the model. So a fallback to another model is one `override`.


# %%
@wrap_model_call
def fallback(request, handler):
    try:
        return handler(request)
    except ConnectionError:
        return handler(request.override(model=ScriptedChatModel(["from the second model"])))


def unreachable(messages):
    raise ConnectionError("no network")


agent = create_agent(ScriptedChatModel(unreachable), [weather], middleware=[fallback])
agent.invoke(question)["messages"][-1].content

# %% [markdown] lang="en"
# **Wait a minute.** Does our chain serve here, too? Four scenes: `look` notes what type its handler returns, and `say` answers with a bare `AIMessage`.


# %%
def look(request, handler):
    response = handler(request)
    seen.append(type(response).__name__)
    return response


def say(request, handler):
    return AIMessage("晴。")


def play_model(wrappers):
    seen.clear()
    middleware = [wrap_model_call(name=f"m{n}")(one) for n, one in enumerate(wrappers)]
    agent = create_agent(ScriptedChatModel(["雨。"]), [], middleware=middleware)
    answer = agent.invoke(question)["messages"][-1]
    return [*seen, answer.content]


MODEL_SCENES = {"look": [look], "look, look": [look, look], "say": [say], "look, say": [look, say]}


# %%
probe = Probe(play_model, MODEL_SCENES)
result = probe(lambda wrappers: play_model([chain_v2(wrappers)]))
assert result.score == 3
result

# %% [markdown] lang="en"
# Nearly. In LangChain an outer wrapper gets a `ModelResponse`, whatever the inner one returned. So each layer's result is put into shape before it goes out.

# %%
from langchain.agents.middleware import ModelResponse


def shaped(wrapper):
    def inner(request, handler):
        result = wrapper(request, handler)
        return ModelResponse([result]) if isinstance(result, AIMessage) else result

    return inner


def chain_v3(wrappers):
    return chain_v2([shaped(wrapper) for wrapper in wrappers])


assert probe(lambda wrappers: play_model([chain_v3(wrappers)])).score == 4

# %% [markdown] lang="en"
# Here is minilc's. The first function folds wrappers two by two. Nothing in it waits, so the same lines serve wrappers that are awaited. In the second, `shape` does what our `shaped` did, with the last function or one that awaits first.

# %% source="minilc.middleware:_chain_tool_call_wrappers, _chain_model_call_handlers, _normalize_to_model_response"
from minilc.middleware import (
    _chain_model_call_handlers,
    _chain_tool_call_wrappers,
    _normalize_to_model_response,
)

# %% [markdown] lang="en"
# ## 7. Before and after
#
# `before_model` and `after_model` wrap nothing. They get the state and return an update: they are **nodes of the graph**. With `jump_to` one of them may also say where to go, if it has declared that it can.


# %%
@before_model(can_jump_to=["end"])
def closed(state, runtime):
    if len(state["messages"]) > 2:
        return {"jump_to": "end", "messages": [AIMessage("到此为止。")]}


# %%
run = draw.record(agent_with(closed), question)
assert run.steps[-1] == ["closed.before_model"]
draw.graph(run.graph, taken=run)

# %% [markdown] lang="en"
# The model was asked once. Then `closed` saw three messages and went to the end. The edge of step 5 is there because of `can_jump_to`; without it, no jump is made, and nobody complains.

# %%
silent = before_model(lambda state, runtime: {"jump_to": "end"}, name="silent")
assert agent_with(silent).invoke(question)["messages"][-1].content == "北京今天晴。"

# %% [markdown] lang="en"
# A middleware with several hooks is a class. Two of them, with three hooks each, in a run without a tool. Which of the two is first in *after*?

# %%
from langchain.agents.middleware import AgentMiddleware


class Marks(AgentMiddleware):
    def before_model(self, state, runtime):
        seen.append(f"{self.name}.before")

    def wrap_model_call(self, request, handler):
        return mark(self.name)(request, handler)

    def after_model(self, state, runtime):
        seen.append(f"{self.name}.after")


class Other(Marks):
    pass


seen.clear()
create_agent(ScriptedChatModel(["晴。"]), [], middleware=[Marks(), Other()]).invoke(question)
assert seen[-2:] == ["Other.after", "Marks.after"]
seen

# %% [markdown] lang="en"
# The last one. It is an onion as well: first in, last out.
#
# ## 8. Sync and async
#
# A wrapper has two sides, `wrap_tool_call` and `awrap_tool_call`. A run needs the side that it runs on; a wrapper with one side does not serve the other.

# %%
with expect_error(NotImplementedError, "Asynchronous implementation of awrap_tool_call is not ..."):
    await agent_with(retry).ainvoke(question)


@wrap_tool_call
async def patient(request, handler):
    return await handler(request)


with expect_error(NotImplementedError, "Synchronous implementation of wrap_tool_call is not ..."):
    agent_with(patient).invoke(question)
assert (await agent_with(patient, closed).ainvoke(question))["messages"][2].content == "北京: 晴"

# %% [markdown] lang="en"
# A decorator makes the side that the function has. For both, write a class. Hooks that are nodes are less strict: the sync `closed` served the awaited run.
#
# ## 9. The judge
#
# All comparisons that minilc has for this layer.

# %% tags=["version"]
(report,) = check.check([layer("middleware")], cases.load(["middleware"]))
assert report.ok
report.counts

# %% [markdown] lang="en"
# ## 10. Left out
#
# What minilc does not have here, and what it does otherwise.

# %%
from minilc.course.register import left_out

left_out("middleware")

# %% [markdown] lang="en"
# ## 11. Exercises
#
# All three are judged inside of real agents. Stuck? `ex.hint("middleware-1")` helps.

# %%
ex.show("middleware-1")

# %% stub="middleware-1"

# %% [markdown] lang="en"
# The second is the trap of part 5.

# %%
ex.show("middleware-2")

# %% stub="middleware-2"

# %% [markdown] lang="en"
# The third is an approval that you would put in front of real people.

# %%
ex.show("middleware-3")

# %% stub="middleware-3"

# %% [markdown] lang="en"
# ## 12. Recap
#
# Wrappers stand around one call, the first outermost; each decides whether, how often and with what the rest is run. What they return is not checked, and what they catch may be a pause. Before and after the model, hooks are nodes.
#
# Our weather question so far: asked, called, paused, approved, run, answered. Look for the pause: the history keeps no trace of it.

# %%
draw.sequence(done)

# %% [markdown] lang="en"
# Two questions to end with. `ex.answer("middleware-1", "a")` says why an option is right or wrong.

# %%
from IPython.display import display

display(ex.quiz("middleware-1"), ex.quiz("middleware-2"))

# %% [markdown] lang="en"
# Next: [14_factory](14_factory.ipynb). Who puts model, tools, edges and middleware together?
