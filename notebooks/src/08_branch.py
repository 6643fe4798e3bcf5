# %% [markdown] lang="en"
# # The model has answered. Where does the run go next?
#
# Sometimes to the tools, sometimes to the end, sometimes back to the model. Nobody wrote an `if` for it in our program. Who decides, and by what?
#
# |  |  |
# |---|---|
# | **Time** | 35 minutes, and 35 for the exercises |
# | **Difficulty** | medium |
# | **Before** | [01_messages](01_messages.ipynb): `tool_calls` and `ToolMessage`; [07_chat_models](07_chat_models.ipynb): the model's answer |
# | **Articles** | A, layers 5 and 6; B, section 2 |
# | **We build** | layer 8, `minilc/branch.py` |
#
# This is where the real thing stands in *your* installation.

# %% tags=["version"]
# %load_ext minilc.course.listings
import minilc
from minilc.course import bridge, cases, check, draw, exercises as ex, widgets
from minilc.course.expect import expect_error
from minilc.course.layers import layer
from minilc.course.probe import Probe
from minilc.course.twin import twin
from minilc.course.upstream import where
from minilc.course.worlds import LANGCHAIN, MINILC

EDGES = ["_make_model_to_tools_edge", "_make_tools_to_model_edge"]
for name in ["StateGraph.add_conditional_edges", "Send", "Command", *EDGES]:
    print(f"{name:<32}", where(name).upstream)

# %% [markdown] lang="en"
# ## 1. The real thing
#
# An agent with one tool. Its model plays a script: a call first, then words.

# %%
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from minilc.course.scripted import ScriptedChatModel


def weather(city: str) -> str:
    """The weather of a city."""
    return f"{city}: 晴"


def call(name, id="call_1", **args):
    return {"name": name, "args": args, "id": id, "type": "tool_call"}


question = HumanMessage("北京今天天气怎么样？")
asking = AIMessage("", tool_calls=[call("weather", city="北京")])
agent = create_agent(ScriptedChatModel([asking, "晴。"]), [weather])
run = draw.record(agent, {"messages": [question]})
assert run.steps == [["model"], ["tools"], ["model"]]
draw.graph(agent, taken=run)

# %% [markdown] lang="en"
# Three edges are dashed: **a condition decides**. A condition is a function of the state. It runs after a node, and says who runs next.
#
# We can ask it alone. `update_state` writes to the state *as if* a node had done so. Then the edge behind that node looks, and `next` holds its choice.

# %%
saved = create_agent(ScriptedChatModel(["晴。"]), [weather], checkpointer=InMemorySaver())
thread = {"configurable": {"thread_id": "1"}}
saved.update_state(thread, {"messages": [question, asking]}, as_node="model")
assert saved.get_state(thread).next == ("tools",)

# %% [markdown] lang="en"
# No model was asked and no tool has run: the edge has read the history, and that is all. With words as the last message it says something else.

# %%
saved.update_state(thread, {"messages": [AIMessage("晴。")]}, as_node="model")
saved.get_state(thread).next

# %% [markdown] lang="en"
# Nothing is next: the run is at its end.
#
# ## 2. The naive version
#
# Article B has it in one sentence: calls, so tools; no calls, so the end. We write that down. `START` and `END` are only two texts.

# %%
from langgraph.graph import END, START


def route_v0(state):
    return "tools" if state["messages"][-1].tool_calls else END


assert (START, END) == ("__start__", "__end__")
assert route_v0({"messages": [question, asking]}) == "tools"
assert route_v0({"messages": [question, AIMessage("晴。")]}) == END

# %% [markdown] lang="en"
# Is the last message always the model's? A middleware may have put an answer behind it, or a user a word.

# %%
with expect_error(AttributeError, "'HumanMessage' object has no attribute 'tool_calls'"):
    route_v0({"messages": [question, asking, HumanMessage("算了。")]})

# %% [markdown] lang="en"
# ### The probe
#
# We grow this in three steps. After each step ten histories go to our function and to the agent's own edge. What counts is what the next step *brings*: answers to calls, words of the model, or nothing.

# %%
from langchain.agents.structured_output import ToolStrategy
from langchain_core.tools import tool


def book_ticket(city: str) -> str:
    """Book a train ticket."""
    return f"a ticket to {city}"


FORM = {
    "title": "Forecast",
    "description": "The forecast of one city.",
    "type": "object",
    "properties": {"degrees": {"type": "integer"}},
}
TOOLS = [weather, tool(return_direct=True)(book_ticket)]
BOTH = ["model", "tools"]


def brought(result, state):
    new = result["messages"][len(state["messages"]) :]
    ids = [message.tool_call_id if message.type == "tool" else None for message in new]
    return [f"{id} is answered" if id else "the model speaks" for id in ids] or "END"


# %% [markdown] lang="en"
# `real` puts a state behind a node of LangChain's agent, as above, and lets it run one step. `drive` puts our function into a small graph, where it decides at `START` about the same nodes. (The agent's answer is a *form*, so it has a `response_format`: part 5 says why. `book_ticket` waits for part 6.)


# %%
def real(state, node="model"):
    options = {"response_format": ToolStrategy(FORM), "interrupt_after": BOTH}
    model = ScriptedChatModel(["晴。"])
    agent = create_agent(model, TOOLS, checkpointer=InMemorySaver(), **options)
    agent.update_state(thread, state, as_node=node)
    return brought(agent.invoke(None, thread), state)


def drive(path, state, lc=LANGCHAIN):
    graph = lc.StateGraph(lc.AgentState)
    graph.add_node("model", lambda state: {"messages": [lc.AIMessage("晴。")]})
    graph.add_node("tools", lc.ToolNode([weather]))
    graph.add_conditional_edges(lc.START, path, [*BOTH, lc.END])
    return brought(graph.compile().invoke(state), state)


# %% [markdown] lang="en"
# And the ten histories. Go through them once with your finger: which calls would *you* run?

# %%
two = AIMessage("", tool_calls=[*asking.tool_calls, call("weather", "call_2", city="上海")])


def done(id, name="weather"):
    return ToolMessage("晴", name=name, tool_call_id=id)


HISTORIES = {
    "words": [AIMessage("晴。")],
    "a call": [asking],
    "two calls": [two],
    "two calls, one is answered": [two, done("call_1")],
    "a call, and its answer": [asking, done("call_1")],
    "a call, and an answer to no call": [asking, done("call_9")],
    "a call, and a word of the user": [asking, HumanMessage("算了。")],
    "an old call, then words": [asking, HumanMessage("在吗？"), AIMessage("在。")],
    "a round, then the same id": [asking, done("call_1"), asking.model_copy(update={"id": "2"})],
    "no AIMessage": [],
}
STATES = {name: {"messages": [question, *history]} for name, history in HISTORIES.items()}
probe = Probe(real, STATES)

# %% [markdown] lang="en"
# How many of the ten does the naive route get right? Guess before you look.

# %%
result = probe(lambda state: drive(route_v0, state))
assert result.score == 5
result

# %% [markdown] lang="en"
# Half. Read the last column once more: *that* is what we are going to build.
#
# LangGraph has such a function ready-made: `tools_condition`, for graphs that are drawn by hand. Is it better?

# %%
from langgraph.prebuilt import tools_condition

result = probe(lambda state: drive(tools_condition, state))
assert result.score == 6
[row.input for row in result.rows if not row.equal]

# %% [markdown] lang="en"
# By one row: it does not stumble over a user's message. But it looks at the last message alone, too. In its graph that is enough, because nobody stands between the model and the edge.
#
# ## 3. The last AIMessage
#
# In the rows that fail, the calls do not stand in the last message. So we look for the last `AIMessage`, from the end.


# %%
def last_answer(messages):
    """The last AIMessage, and what stands behind it."""
    for index in reversed(range(len(messages))):
        if messages[index].type == "ai":
            return messages[index], messages[index + 1 :]
    return None, []


def route_v1(state):
    last, _ = last_answer(state["messages"])
    return "tools" if last and last.tool_calls else END


result = probe(lambda state: drive(route_v1, state))
assert result.score == 8
result

# %% [markdown] lang="en"
# Eight. See *a word of the user*: 算了 is *never mind*, and the call runs all the same. The edge does not read words.
#
# What is left is worse than an error: a call that has its answer runs *again*. For a payment that is a second payment.
#
# ## 4. Pending
#
# Article A has the word for it. **A call is pending if no `ToolMessage` behind it carries its id.** Here is a history with two calls and two answers:

# %%
mixed = [question, two, done("call_1"), done("call_9")]
assert [entry.status for entry in draw.entries(mixed)] == ["answered", "pending", "orphan"]
draw.ledger(mixed)

# %% [markdown] lang="en"
# `call_2` is pending. The answer to `call_9` fits no call: an *orphan*. The edge does not complain about it, and it does not help `call_2` that an answer is there. Only the id counts.
#
# Now we must run one of two calls. But a name says only *run tools*; it cannot say *with this call*. `Send` can.


# %%
from langgraph.types import Command, Send


def route_v2(state):
    last, behind = last_answer(state["messages"])
    answered = [message.tool_call_id for message in behind if message.type == "tool"]
    calls = last.tool_calls if last else []
    pending = [one for one in calls if one["id"] not in answered]
    return [Send("tools", [one]) for one in pending] or END


assert route_v2({"messages": mixed}) == [Send("tools", [two.tool_calls[1]])]

# %% [markdown] lang="en"
# A `Send` is a node's name and an input. The node gets that input *instead of the state*. For each pending call `tools` runs once, with a list of one call, and all of them run in one step.

# %%
result = probe(lambda state: drive(route_v2, state))
assert result.score == 9
[row.input for row in result.rows if not row.equal]

# %% [markdown] lang="en"
# Nine. **Wait a minute.** Why only the answers *behind* the last `AIMessage`? An id is an id. Some providers number the calls of each answer anew; then every round has a `call_1`. We count all answers and see.


# %%
def route_careless(state):
    last, _ = last_answer(state["messages"])
    answered = [message.tool_call_id for message in state["messages"] if message.type == "tool"]
    calls = last.tool_calls if last else []
    return [Send("tools", [one]) for one in calls if one["id"] not in answered] or END


result = probe(lambda state: drive(route_careless, state))
[row.input for row in result.rows if not row.equal]

# %% [markdown] lang="en"
# A second row fails. The second round's call would never run: the first round's answer seems to be its own.
#
# ## 5. Nothing is pending
#
# In the row that was left all calls have their answers, and the last word is a tool's. Then the model must read them. So the edge out of the model may lead *back to the model*.


# %%
def route_v3(state):
    sends = route_v2(state)
    last, _ = last_answer(state["messages"])
    return "model" if sends == END and last and last.tool_calls else sends


result = probe(lambda state: drive(route_v3, state))
assert result.score == len(STATES)
result

# %% [markdown] lang="en"
# Ten of ten. **Wait a minute.** We gave the probe's agent a form for its answer. What does the plain agent of part 1 do with an answered call? Guess.

# %%
plain = create_agent(ScriptedChatModel([]), [weather], checkpointer=InMemorySaver())
with expect_error(KeyError, "'model'"):
    plain.update_state(thread, STATES["a call, and its answer"], as_node="model")
[edge.target for edge in plain.get_graph().edges if edge.source == "model"]

# %% [markdown] lang="en"
# The edge says `model`, and this graph does not know that way. The way is there only if something in the agent can answer a call before the tools do, such as a form, or a middleware behind the model. Article A's table lists it without this condition.
#
# ## 6. Every exit of both edges
#
# `create_agent` has two such edges. Each tries its exits in order, and takes the first that fits. We run an agent like that of part 1 once more, and note the exits.

# %%
from minilc.course.widgets.routes import EXITS, Setting, journey

taken = [(one.edge, one.number) for one in journey(Setting(), LANGCHAIN).exits]
assert taken == [("model_to_tools", 4), ("tools_to_model", 4), ("model_to_tools", 3)]
draw.exits(EXITS, taken)

# %% [markdown] lang="en"
# Our route has exits 2, 3, 4 and 6. Exit 1 obeys a middleware. Exit 5 is for agents whose answer is a form: that form is a call of a tool that never runs, so it is not pending either.
#
# We drive through all six: LangChain's agent, from a history, against minilc's edge in minilc's graph.

# %%
from minilc.factory import _make_model_to_tools_edge, _make_tools_to_model_edge

form = AIMessage("", tool_calls=[call("Forecast", degrees=28)])
filled = done("call_1", name="Forecast")
OUT = {
    "1 jump_to is set": {"messages": [two], "jump_to": "end"},
    "2 no AIMessage is left": {"messages": [question]},
    "3 no calls": {"messages": [AIMessage("晴。")]},
    "4 one of two is pending": {"messages": [two, done("call_1")]},
    "5 the form is there": {"messages": [form, filled], "structured_response": {"degrees": 28}},
    "6 the form was wrong": {"messages": [form, filled]},
}
ends = {"model_destination": "model", "end_destination": minilc.END}
edge = _make_model_to_tools_edge(structured_output_tools={"Forecast": None}, **ends)
result = Probe(real, OUT)(lambda state: drive(edge, bridge.ours(state), MINILC))
assert result.score == len(OUT)
result

# %% [markdown] lang="en"
# And the four exits of the way back. Article B draws it as a plain edge, always to the model. Two of the four rows say otherwise. Which?

# %%
booking = AIMessage("", tool_calls=[call("book_ticket", city="上海")])
BACK = {
    "1 no AIMessage is left": {"messages": [question]},
    "2 a direct tool has answered": {"messages": [booking, done("call_1", "book_ticket")]},
    "3 a form came beside a call": {"messages": [two, done("call_2"), filled]},
    "4 the usual case": {"messages": [asking, done("call_1")]},
}
node = minilc.ToolNode([weather, minilc.tool(return_direct=True)(book_ticket)])
edge = _make_tools_to_model_edge(node, structured_output_tools={"Forecast": None}, **ends)
back = Probe(lambda state: real(state, node="tools"), BACK)
result = back(lambda state: drive(edge, bridge.ours(state), MINILC))
assert result.score == len(BACK)
result

# %% [markdown] lang="en"
# `return_direct` and the form end the run without another word of the model. [14_factory](14_factory.ipynb) lists the text of both edges, and has more surprises of `return_direct`.
#
# Now move it yourself. Tick what the model calls and what a middleware does; both worlds run, and each edge tells its exit. Find a way to `END` that leaves a call unanswered in the history. (Without a kernel you see a table of all exits.)

# %%
widgets.router()

# %% [markdown] lang="en"
# One way is `jump_to`: exit 1 obeys before anybody looks for calls. The first of our six rows shows it, too: two calls, and `END`.
#
# ## 7. What may a path return?
#
# A function that chooses is called a *path*. LangGraph's rules for what it returns are wider than what the agent uses. A small graph to try them: `a` runs, then the path chooses, and each node writes its name.

# %%
import operator
from typing import Annotated, TypedDict


class Log(TypedDict):
    log: Annotated[list[str], operator.add]


def writes(name):
    return lambda state: {"log": [name]}


def fork(path, path_map=None, lc=LANGCHAIN, **nodes):
    graph = lc.StateGraph(Log)
    for name in "abc":
        graph.add_node(name, nodes.get(name, writes(name)))
    graph.add_edge(lc.START, "a")
    graph.add_conditional_edges("a", path, path_map)
    return graph.compile()


# %% [markdown] lang="en"
# Thirteen results, in LangGraph and in minilc. Guess the outcome of each row; two of them are not what they should be.

# %%
RESULTS = {
    "a name": lambda lc: "b",
    "END": lambda lc: lc.END,
    "two names": lambda lc: ["c", "b"],
    "one name twice": lambda lc: ["b", "b"],
    "no name": lambda lc: [],
    "a Send": lambda lc: lc.Send("b", {}),
    "two equal Sends": lambda lc: [lc.Send("b", {}), lc.Send("b", {})],
    "a name and a Send": lambda lc: [lc.Send("b", {}), "c"],
    "None": lambda lc: None,
    "START": lambda lc: lc.START,
    "a Send to END": lambda lc: lc.Send(lc.END, {}),
    "a name that no node has": lambda lc: "tols",
    "a Command": lambda lc: lc.Command(goto="b"),
}


def ran(lc):
    return lambda make: fork(lambda state: make(lc), lc=lc).invoke({"log": []})["log"]


result = Probe(ran(LANGCHAIN), RESULTS)(ran(MINILC))
assert [r.input for r in result.rows if not r.equal] == ["a name that no node has", "a Command"]
result

# %% [markdown] lang="en"
# A name runs once, however often it is said; each `Send` is a run of its own. Nodes by name come first, in the order of their names.
#
# And the two: in LangGraph a spelling mistake **ends the run, and it looks like success**. Only a line in the log tells. minilc raises; the register has a row for that.

# %%
mistake = RESULTS["a name that no node has"]
result = twin(lambda lc: ran(lc)(mistake), title="a mistake", differs="unknown-destination")
assert result.verdict == "REGISTERED"
result

# %% [markdown] lang="en"
# A *path map* protects from it. It translates results into names, is checked when the graph is compiled, and has no entry for a result that nobody thought of.

# %%
by_log = {True: "b", False: "c"}
with expect_error(ValueError, "At 'a' node, 'condition' branch found unknown target 'tols'"):
    fork(lambda state: True, {True: "tols"})
with expect_error(KeyError, "'perhaps'"):
    fork(lambda state: "perhaps", by_log).invoke({"log": []})
draw.graph(fork(lambda state: len(state["log"]) == 1, by_log))

# %% [markdown] lang="en"
# Without a map nothing is known before the run, and the picture is wrong: `a` seems to lead to the end. A list of names is a map, too, and so is a `Literal` as the path's return type.

# %%
from typing import Literal


def chooses(state) -> Literal["b", "c"]:
    return "c"


def edges(graph):
    return {(one.source, one.target) for one in graph.get_graph().edges if one.source == "a"}


both = {("a", "b"), ("a", "c")}
assert edges(fork(lambda state: "c")) == {("a", "__end__")}
assert edges(fork(chooses)) == edges(fork(lambda state: "c", ["b", "c"])) == both

# %% [markdown] lang="en"
# ## 8. Fan out
#
# `Send` is more than the tools' vehicle. A path may make as many as there is work, and each run gets a piece of it. The state does not come along, unless we send it.


# %%
def report(city):
    return {"log": [f"{city}: 晴"]}


graph = fork(lambda state: [Send("b", city) for city in ["北京", "上海"]], b=report)
draw.steps(draw.record(graph, {"log": []}))

# %% [markdown] lang="en"
# `report` got a text, not a state. The two ran in one step, and their writes stand in the order of the `Send`s.
#
# ## 9. A node that chooses itself
#
# A node may return a `Command`: an update, and where to go. Here the path behind `a` leads to `c`, but `a` itself says `b`. Who wins?


# %%
def refunds(state):
    return Command(update={"log": ["refund"]}, goto="b")


assert fork(lambda state: END, a=refunds).invoke({"log": []})["log"] == ["refund", "b"]
draw.record(fork(lambda state: "c", a=refunds), {"log": []}).steps

# %% [markdown] lang="en"
# Both ran, in one step. **`goto` comes in addition to the edges**: a node that returns a `Command` should have no edge of its own. And a `Command` belongs to a node. A path that returns one is the last row of the table above: LangGraph does nothing, minilc raises.
#
# ## 10. A call that nobody answers
#
# A tool fails, the process dies, a user writes again. Now an old call stands in the history, without an answer. What does `create_agent` do with it?

# %%
model = ScriptedChatModel(["你好。"])
history = [question, asking, HumanMessage("你好？")]
result = create_agent(model, [weather]).invoke({"messages": history})
assert [request.messages for request in model.requests] == [result["messages"][:3]]
draw.ledger(result["messages"])

# %% [markdown] lang="en"
# Nothing. A run begins at the model, so the model is asked first, with the history as it is. The edge comes after that, and looks at the *new* last `AIMessage`. The old call stays pending for ever.
#
# A provider's own client does not look either. We catch what it sends.

# %%
from minilc.course.wire import Wire, completion, real_openai

wire = Wire(completion("你好。"))
real_openai(wire.transport).invoke(history)
[(message["role"], "tool_calls" in message) for message in wire.bodies[0]["messages"]]

# %% [markdown] lang="en"
# A provider looks. OpenAI and Anthropic refuse such a request with status 400. We have no network here, so a script keeps their rule. (`diagnose` names what is wrong in a history.) The call is in the thread, and stays there: *every* later request is refused.

# %%
from minilc.course.doctor import diagnose


def provider(messages):
    if "unanswered-call" in diagnose(messages).codes:
        raise ValueError("400: 'tool_calls' must be followed by tool messages")
    return "你好。"


agent = create_agent(ScriptedChatModel(provider), [weather], checkpointer=InMemorySaver())
agent.update_state(thread, {"messages": [question, asking]}, as_node="model")
for word in ["你好？", "在吗？"]:
    with expect_error(ValueError, "400: 'tool_calls' must be followed by tool messages"):
        agent.invoke({"messages": [HumanMessage(word)]}, thread)

# %% [markdown] lang="en"
# LangGraph's older `create_react_agent` refused by itself, before it asked the model. `create_agent` does not. Exercise 3 mends such a history.

# %%
import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from langgraph.prebuilt import create_react_agent

    older = create_react_agent(ScriptedChatModel([]), [weather])
with expect_error(ValueError, "Found AIMessages with tool_calls that do not have a ..."):
    older.invoke({"messages": history})

# %% [markdown] lang="en"
# One more difference. A *thread* that stopped between the model and the tools can go on there: `invoke(None, thread)` adds no message and does not begin again.

# %%
stopped = {"configurable": {"thread_id": "2"}}
saved.update_state(stopped, {"messages": [question, asking]}, as_node="model")
result = saved.invoke(None, stopped)
assert [message.content for message in result["messages"][2:]] == ["北京: 晴", "晴。"]

# %% [markdown] lang="en"
# ## 11. In minilc
#
# This is layer 8, as far as we have used it: two small classes, where a node's `Command` sends the run, and the tasks that are made of all destinations. Find the line for *a name runs once*, and the one that LangGraph does not have. What a path's result becomes is missing here: exercise 1.

# %% source="minilc.branch:Send, Command, _control_branch, prepare_next_tasks"
from minilc.branch import Command, Send, _control_branch, prepare_next_tasks

# %% [markdown] lang="en"
# ## 12. The judge
#
# All comparisons that minilc has for this layer. They also hold `interrupt` and `Runtime`, which live in the same module; [09_state](09_state.ipynb) and [12_tool_node](12_tool_node.ipynb) use them.

# %% tags=["version"]
(verdict,) = check.check([layer("branch")], cases.load(["branch"]))
assert verdict.ok
verdict.counts

# %% [markdown] lang="en"
# ## 13. Left out
#
# What minilc does not have here, what it does otherwise, and what depends on LangChain's version.

# %%
from minilc.course.register import left_out

left_out("branch")

# %% [markdown] lang="en"
# ## 14. Exercises
#
# In the first one your function takes its place inside minilc, and real LangGraph judges it. Stuck? `ex.hint("branch-1")` helps, one step at a time.

# %%
ex.show("branch-1")

# %% stub="branch-1"

# %% [markdown] lang="en"
# The second one begins with a bug report.

# %%
ex.show("branch-2")

# %% stub="branch-2"

# %% [markdown] lang="en"
# The third is for your own agents: it mends a history before a provider sees it.

# %%
ex.show("branch-3")

# %% stub="branch-3"

# %% [markdown] lang="en"
# ## 15. Recap
#
# After a node a path reads the state and names who runs next. The agent's path runs the *pending* calls of the last `AIMessage`, each by a `Send` of its own. It matches by id, behind that message, and it never looks at older calls.
#
# Our weather question so far: asked, called, and on its way. The call has no answer yet.

# %%
from langchain_core.messages import AIMessage, HumanMessage

draw.ledger([question, asking])

# %% [markdown] lang="en"
# Two questions to end with. `ex.answer("branch-1", "a")` says why an option is right or wrong.

# %%
from IPython.display import display

display(ex.quiz("branch-1"), ex.quiz("branch-2"))

# %% [markdown] lang="en"
# Next: [09_state](09_state.ipynb). Who keeps the messages, and what happens when two nodes write at once?
