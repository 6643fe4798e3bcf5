# %% [markdown] lang="en"
# # Who runs when, and who sees what?
#
# The weather agent goes from the model to the tools and back. A `while` loop could do that. Why is it a graph? And what does the graph do between two nodes?
#
# |  |  |
# |---|---|
# | **Time** | 40 minutes, and 35 for the exercises |
# | **Difficulty** | hard |
# | **Before** | [08_branch](08_branch.ipynb): paths, `Send`, `END` |
# | **Articles** | A, layer 5 and the graph by hand; B, sections 2, 3.5 and 5 |
# | **We build** | layer 9, `minilc/state.py` |
#
# This is where the real thing stands in *your* installation. The last two run the steps.

# %% tags=["version"]
# %load_ext minilc.course.listings
from minilc.course import cases, check, draw, exercises as ex, widgets
from minilc.course.expect import expect_error
from minilc.course.layers import layer
from minilc.course.probe import Probe
from minilc.course.twin import twin
from minilc.course.upstream import where

for name in ["StateGraph", "add_messages", "PregelLoop.tick", "PregelLoop.after_tick"]:
    print(f"{name:<22}", where(name).upstream)

# %% [markdown] lang="en"
# ## 1. The real thing
#
# Article A ends with an agent that is built by hand, without `create_agent`. Here it is, complete: a state with one key and a mark on its type, two nodes, three edges. A **node** is a function of the state. It returns what it wants to *write*.

# %%
from typing import Annotated, TypedDict
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langchain_core.tools import tool
from langgraph.graph import END, START, StateGraph, add_messages
from langgraph.prebuilt import ToolNode, tools_condition


class State(TypedDict):
    messages: Annotated[list, add_messages]


@tool
def get_weather(city: str) -> str:
    """Get current weather for a city."""
    return f"{city} is sunny, 28C"


def by_hand(model, schema=State):
    bound = model.bind_tools([get_weather])
    builder = StateGraph(schema)
    builder.add_node("model", lambda state: {"messages": [bound.invoke(state["messages"])]})
    builder.add_node("tools", ToolNode([get_weather]))
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", tools_condition)
    builder.add_edge("tools", "model")
    return builder.compile()


# %% [markdown] lang="en"
# The model plays a script: a call first, then words. We record a run and draw it.

# %%
from minilc.course.scripted import ScriptedChatModel

call = {"name": "get_weather", "args": {"city": "北京"}, "id": "call_1", "type": "tool_call"}
asking = AIMessage("", tool_calls=[call], id="2")
question = {"messages": [HumanMessage("北京今天天气怎么样？", id="1")]}


def weather_model():
    return ScriptedChatModel([asking, AIMessage("北京今天晴，28 度。", id="4")])


graph = by_hand(weather_model())
run = draw.record(graph, question)
assert [message.type for message in run.messages] == ["human", "ai", "tool", "ai"]
draw.graph(graph, taken=run)

# %% [markdown] lang="en"
# Each node returned a list of *one* message. At the end there are four. Somebody has put them together.
#
# ## 2. The naive version
#
# We take LangGraph away. What is left is a dict of functions, a dict that says who comes next, and a loop. What a node returns, the loop puts into the state with `or_`, the function of `|`: it joins two dicts.

# %%
from operator import add, or_


def graph_v0(nodes, edges, put=or_):
    def run(state):
        name = edges[START]
        while name != END:
            state = put(state, nodes[name](state))
            goal = edges.get(name, END)
            name = goal(state) if callable(goal) else goal
        return state

    return run


# %% [markdown] lang="en"
# The edges of part 1 fit in: `tools_condition` is a function like any other. Does the question get its answer?

# %%
model = weather_model()


def run_tools(state):
    return {"messages": [get_weather.invoke(one) for one in state["messages"][-1].tool_calls]}


nodes = {"model": lambda state: {"messages": [model.invoke(state["messages"])]}, "tools": run_tools}
edges = {START: "model", "model": tools_condition, "tools": "model"}
answer = graph_v0(nodes, edges)(question)
answer["messages"][-1].content

# %% [markdown] lang="en"
# It does, from a script that would say anything. Look at what the model *read* before it said so.

# %%
assert [message.type for message in answer["messages"]] == ["ai"]
draw.ledger(model.requests[1].messages)

# %% [markdown] lang="en"
# Only the tool's answer. The question is lost, and so is the call. Each node's list has replaced the one before. A provider would refuse this request.
#
# LangGraph does the same, if we take the mark off the type:


# %%
class Forgetful(TypedDict):
    messages: list


model = weather_model()
assert len(by_hand(model, Forgetful).invoke(question)["messages"]) == 1
[message.type for message in model.requests[1].messages]

# %% [markdown] lang="en"
# **Without a mark the last value wins.** The mark is called a *reducer*; part 3 builds it.
#
# ### The probe
#
# Ten small graphs, each a pair of nodes and edges. Their state has two keys: `log` with a reducer, `sky` without. Most nodes write their name into the log. An edge leads to one node or to several, or it is a path that chooses; `build` makes LangGraph's graph of such a pair.


# %%
class Log(TypedDict, total=False):
    log: Annotated[list, add]
    sky: str


def build(nodes, edges, **options):
    builder = StateGraph(Log)
    for name, node in nodes.items():
        builder.add_node(name, node)
    for name, goal in edges.items():
        if callable(goal):
            builder.add_conditional_edges(name, goal, [*nodes, END])
        else:
            for one in goal if isinstance(goal, list) else [goal]:
                builder.add_edge(name, one)
    return builder.compile(**options)


def real(plan):
    return build(*plan).invoke({"log": ["in"]})


# %% [markdown] lang="en"
# A row is a dict of nodes and a dict of edges. Guess what each leaves in the state. The last two are the hardest.

# %%
from langgraph.types import Send


def looks(name):
    return lambda state: {"log": [f"{name} saw {len(state['log'])}"]}


def writes(**update):
    return lambda state: update


a, b, b2, c = (writes(log=[name]) for name in ["a", "b", "b2", "c"])
LONG = {START: ["a", "b"], "a": "c", "b": "b2", "b2": "c"}
IF_TWO = {START: ["a", "b"], "a": lambda state: "c" if len(state["log"]) == 2 else END}
SPREAD = {START: "a", "a": lambda state: [Send("b", city) for city in ["北京", "上海"]]}
PLANS = {
    "one after the other": ({"a": a, "b": b}, {START: "a", "a": "b"}),
    "the same key twice": ({"a": writes(sky="晴"), "b": writes(sky="雨")}, {START: "a", "a": "b"}),
    "a path": ({"a": writes(sky="晴")}, {START: "a", "a": lambda s: END if s["sky"] else "b"}),
    "nothing to write": ({"a": lambda state: None}, {START: "a"}),
    "two at once": ({"a": a, "b": b}, {START: ["b", "a"]}),
    "two look at the log": ({"a": looks("a"), "b": looks("b")}, {START: ["a", "b"]}),
    "two write one key": ({"a": writes(sky="晴"), "b": writes(sky="雨")}, {START: ["a", "b"]}),
    "a short and a long way": ({"a": a, "b": b, "b2": b2, "c": c}, LONG),
    "a path beside another node": ({"a": a, "b": b, "c": c}, IF_TWO),
    "a Send for each city": ({"a": a, "b": lambda city: {"log": [city]}}, SPREAD),
}
probe = Probe(real, PLANS)

# %% [markdown] lang="en"
# Guess how many of the ten come out right with a loop that overwrites.

# %%
result = probe(lambda plan: graph_v0(*plan)({"log": ["in"]}))
assert result.score == 2
result

# %% [markdown] lang="en"
# Two. The last column is what we build now; go back to it when you doubt a rule.
#
# ## 3. A reducer
#
# A reducer is a function of two: the old value and the one that a node wrote. It returns the new value. `add` joins lists.

# %%
from functools import partial

REDUCERS = {"log": add}


def write(state, update):
    for key, value in (update or {}).items():
        if key in REDUCERS:
            value = REDUCERS[key](state[key], value)
        state = state | {key: value}
    return state


graph_v1 = partial(graph_v0, put=write)
result = probe(lambda plan: graph_v1(*plan)({"log": ["in"]}))
assert result.score == 4
[row.input for row in result.rows if not row.equal]

# %% [markdown] lang="en"
# Four; the rest has two nodes at once. Before we go there: a node returns what it *adds*. Many write `return state` instead, out of habit. What does `log` hold after this?

# %%
plan = {"a": lambda state: state}, {START: "a"}
assert real(plan)["log"] == ["in", "in"]

# %% [markdown] lang="en"
# Everything twice. **Wait a minute.** Then `return state` in article A's graph would double the conversation? It would not: its reducer is `add_messages`, and that one looks at ids.

# %%
history = [HumanMessage("北京？", id="1"), AIMessage("雨。", id="2")]
assert add_messages(history, history) == history
update = [AIMessage("晴。", id="2"), HumanMessage("谢谢", id="3"), RemoveMessage(id="1")]
[(message.id, message.content) for message in add_messages(history, update)]

# %% [markdown] lang="en"
# A new id is appended. A known id **replaces** its message, in its old place. A `RemoveMessage` takes one out. Article B says that new messages are merged into the list; this is what *merged* means.
#
# And a message without an id? It gets one. A removal of something that is not there?

# %%
assert add_messages([], "北京？")[0].id
with expect_error(ValueError, "Attempting to delete a message with an ID that doesn't ..."):
    add_messages(history, [RemoveMessage(id="9")])
assert add(history, [RemoveMessage(id="9")])[-1].type == "remove"

# %% [markdown] lang="en"
# `add` knows nothing of this: the `RemoveMessage` would stand in the conversation and be sent.
#
# One special id removes everything: what is there, and what comes before it in the same update. What comes behind it stays. A node that sums up a long conversation writes this. What is left of three messages?

# %%
from langgraph.graph.message import REMOVE_ALL_MESSAGES

clear, topic = RemoveMessage(id=REMOVE_ALL_MESSAGES), HumanMessage("上海？", id="4")
assert add_messages(history, [update[1], clear, topic]) == [topic]

# %% [markdown] lang="en"
# ## 4. Super-steps
#
# Two edges leave `START`. Now there is no *next node*, but a set of them: a **super-step**. Who is first? What does the second one see? LangGraph's answer is in two rows of the probe.

# %%
fork = {"a": looks("a"), "b": looks("b"), "c": looks("c")}
run = draw.record(build(fork, {START: ["b", "a"], "a": "c", "b": "c"}), {"log": ["in"]})
assert run.state["log"] == ["in", "a saw 1", "b saw 1", "c saw 3"]
draw.steps(run)

# %% [markdown] lang="en"
# `a` and `b` both saw one entry. **All nodes of a step read the state as it was before the step. What they write is put together when all are done.** `c` comes one step later, and sees everything.
#
# Do they really run at the same time? Here `a` waits until `b` is done. One after the other, it would wait in vain. And who comes first in the log then?

# %%
from threading import Event

b_is_done = Event()


def slow(state):
    assert b_is_done.wait(timeout=5)
    return {"log": ["a"]}


def quick(state):
    b_is_done.set()
    return {"log": ["b"]}


both = build({"a": slow, "b": quick}, {START: ["b", "a"]}).invoke({"log": []})
assert both["log"] == ["a", "b"]

# %% [markdown] lang="en"
# They do, in threads. Their writes come in the order of their *names*, whoever was faster and however the edges were written. So equal runs have equal results.
#
# One thing is left without an order. If both write `sky`, which has no reducer, who wins?

# %%
from langgraph.errors import InvalidUpdateError

with expect_error(InvalidUpdateError, "At key 'sky': Can receive only one value per step. ..."):
    real(PLANS["two write one key"])

# %% [markdown] lang="en"
# Nobody. *Two in a row* was fine: the last value wins. *Two in one step* is an error, because there is no last one. A loop that overwrites would have lost one in silence.
#
# Now we write it. `fold` puts the updates of a step together. (`TWICE` is LangGraph's whole text of that error.)

# %%
from functools import reduce
from minilc.branch import create_error_message

TWICE = "At key '{}': Can receive only one value per step. Use an Annotated key to handle multiple "
TWICE = create_error_message(f"{TWICE}values.", "INVALID_CONCURRENT_GRAPH_UPDATE")


def fold(state, updates):
    plain = [key for update in updates for key in update or {} if key not in REDUCERS]
    for key in plain:
        if plain.count(key) > 1:
            raise InvalidUpdateError(TWICE.format(key))
    return reduce(write, updates, state)


# %% [markdown] lang="en"
# And the loop goes from step to step. All that the edges name is one step, each name once, sorted.


# %%
def follow(goal, state):
    found = goal(state) if callable(goal) else goal
    return found if isinstance(found, list) else [found]


def tasks(goals):
    sends = [goal for goal in goals if isinstance(goal, Send)]
    return sorted({goal for goal in goals if goal not in sends} - {END}) + sends


def step_v2(nodes, edges, step, state):
    state = fold(state, [nodes[name](state) for name in step])
    return state, [goal for name in step for goal in follow(edges.get(name, END), state)]


def graph_v2(nodes, edges, run_step=step_v2):
    def run(state):
        step = tasks(follow(edges[START], state))
        while step:
            state, goals = run_step(nodes, edges, step, state)
            step = tasks(goals)
        return state

    return run


# %% [markdown] lang="en"
# How many of the ten now?

# %%
result = probe(lambda plan: graph_v2(*plan)({"log": ["in"]}))
assert result.score == 8
result

# %% [markdown] lang="en"
# Eight. Look at *a short and a long way*: `c` stands in the log twice. It is behind two edges of different length, so it runs when the first arrives, and again when the second does.

# %%
nodes, edges = PLANS["a short and a long way"]
run = draw.record(build(nodes, edges), {"log": ["in"]})
assert run.steps == [["a", "b"], ["b2", "c"], ["c"]]
draw.steps(run)

# %% [markdown] lang="en"
# A node that is to wait for both gets one edge with *several* starts. That is a join.

# %%
joined = {START: ["a", "b"], "b": "b2", ("a", "b2"): "c"}
run = draw.record(build(nodes, joined), {"log": ["in"]})
assert run.steps == [["a", "b"], ["b2"], ["c"]]

# %% [markdown] lang="en"
# ## 5. Paths and Sends
#
# Two rows are left. A path stands *behind* its node, but its step is not over: a sibling may still run. What does it see? In LangGraph's row `c` ran, so the log had two entries: `in` and `a`. The path sees **its own node's write, and not the sibling's**.
#
# And a `Send` brings its own input, instead of the state.


# %%
def run_one(nodes, edges, task, state):
    name, given = (task.node, task.arg) if isinstance(task, Send) else (task, state)
    update = nodes[name](given)
    return update, follow(edges.get(name, END), write(state, update))


def step_v3(nodes, edges, step, state):
    results = [run_one(nodes, edges, task, state) for task in step]
    state = fold(state, [update for update, _ in results])
    return state, [goal for _, goals in results for goal in goals]


graph_v3 = partial(graph_v2, run_step=step_v3)
result = probe(lambda plan: graph_v3(*plan)({"log": ["in"]}))
assert result.score == len(PLANS)
result

# %% [markdown] lang="en"
# Ten of ten. These are the rules in one table.
#
# | who | sees |
# |---|---|
# | a node | the state before its step |
# | a node that a `Send` runs | what the `Send` brings, and no state |
# | a path | the state before the step, and what its own node wrote |
# | the next step | everything |
#
# With them we spread work out and gather it again. The reducer does the gathering.


# %%
def summary(state):
    return {"sky": f"{len(state['log'])} reports"}


reports = {"report": lambda city: {"log": [f"{city} 晴"]}, "summary": summary}
spread = {START: lambda state: [Send("report", city) for city in ["北京", "上海"]]}
run = draw.record(build(reports, spread | {"report": "summary"}), {"log": []})
assert run.state == {"log": ["北京 晴", "上海 晴"], "sky": "2 reports"}
draw.steps(run)

# %% [markdown] lang="en"
# `summary` ran once, although two tasks lead to it: a name counts once in a step. This is how `create_agent` runs the calls of a message: a `Send` for each, then the model once.
#
# **Wait a minute.** All read the same state. Is it also the same *object*? This node writes nothing. It changes what it was given.


# %%
def meddles(state):
    state["log"].append("x")


assert real(({"a": meddles, "b": b}, {START: "a", "a": "b"}))["log"] == ["in", "x", "b"]

# %% [markdown] lang="en"
# `x` is there, and no reducer has seen it. A sibling would have seen it or not, as chance has it. LangGraph does not protect us: **never change what you are given, return an update**.
#
# ## 6. A graph that never ends
#
# One edge from `a` to `a`, and our loop runs until the power fails. LangGraph counts. Article B: *10007 by default; a round trip counts as one*. We look for the smallest limit that lets four graphs of the probe through: they have 1, 2, 2 and 3 steps.

# %%
from langgraph.errors import GraphRecursionError


def enough(run, limit):
    try:
        run(limit)
    except GraphRecursionError:
        return False
    return True


def needs(run):
    return next(limit for limit in range(1, 20) if enough(run, limit))


NAMES = ["a path", "one after the other", "a Send for each city", "a short and a long way"]


def limited(name):
    return lambda limit: build(*PLANS[name]).invoke({"log": ["in"]}, {"recursion_limit": limit})


assert [needs(limited(name)) for name in NAMES] == [2, 3, 3, 4]

# %% [markdown] lang="en"
# *Steps* are counted, whoever runs in them, and one more is needed than there are: the loop has to look once more to see that nothing is left.


# %%
def graph_v4(nodes, edges, limit=10_007):
    def run(state):
        step = tasks(follow(edges[START], state))
        for _ in range(limit):
            if not step:
                return state
            state, goals = step_v3(nodes, edges, step, state)
            step = tasks(goals)
        raise GraphRecursionError(f"Recursion limit of {limit} reached without ...")

    return run


def ours(name):
    return lambda limit: graph_v4(*PLANS[name], limit)({"log": ["in"]})


assert [needs(ours(name)) for name in NAMES] == [2, 3, 3, 4]
assert probe(lambda plan: graph_v4(*plan)({"log": ["in"]})).score == len(PLANS)
needs(lambda limit: by_hand(weather_model()).invoke(question, {"recursion_limit": limit}))

# %% [markdown] lang="en"
# The weather question needs four: model, tools, model, and the look. So a round trip counts as two.
#
# And the default? B's 10007 is that of a plain graph; `create_agent` sets its own. [14_factory](14_factory.ipynb) measures both. There is a third. LangChain puts 25 into each config that it makes, and it makes one for a tool. So a graph that is called *inside a tool* of a plain graph stops after 25 steps. A limit of our own holds inside, too: that of `invoke` first, then that of `with_config`.

# %%
inner = build({"a": lambda state: None}, {START: "a", "a": "a"})


@tool
def deep(city: str) -> str:
    """Think for a long time."""
    return str(inner.invoke({"log": []}))


outer = StateGraph(State).add_node("tools", ToolNode([deep])).add_edge(START, "tools").compile()
thinking = AIMessage("", tool_calls=[call | {"name": "deep"}])
patient = outer.with_config({"recursion_limit": 30})
with expect_error(GraphRecursionError, "Recursion limit of 25 reached without ..."):
    outer.invoke({"messages": [thinking]})
with expect_error(GraphRecursionError, "Recursion limit of 30 reached without ..."):
    patient.invoke({"messages": [thinking]})
with expect_error(GraphRecursionError, "Recursion limit of 40 reached without ..."):
    patient.invoke({"messages": [thinking]}, {"recursion_limit": 40})

# %% [markdown] lang="en"
# ## 7. Between two steps
#
# Between two steps the whole run is data: the state, and who is next. That is what a `while` loop does not have, and why it is a graph. First use: we can look. `values` gives the state after each step, `updates` what each node wrote.

# %%
chunks = list(by_hand(weather_model()).stream(question, stream_mode=["updates", "values"]))
assert [len(part["messages"]) for mode, part in chunks if mode == "values"] == [1, 2, 3, 4]
[f"{mode}: {', '.join(part)}" for mode, part in chunks]

# %% [markdown] lang="en"
# Three steps ran, and there were four states: the first is the input. LangGraph has more modes, such as `messages` (word by word) and `custom` (what a node sends itself); minilc has these two.
#
# Second use: we can stop, and go on tomorrow. `interrupt` asks a question, and a checkpointer keeps the state meanwhile.

# %%
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

ran = []


def ask(state):
    ran.append("ask")
    return {"sky": interrupt("晴?")}


def other(state):
    ran.append("other")
    return {"log": ["other"]}


asks = build({"ask": ask, "other": other}, {START: ["ask", "other"]}, checkpointer=InMemorySaver())
thread = {"configurable": {"thread_id": "1"}}
paused = asks.invoke({"log": []}, thread)
assert asks.get_state(thread).next == ("ask",)
paused["__interrupt__"][0].value

# %% [markdown] lang="en"
# `other` is done, `ask` waits. Somebody answers. Who runs again, and from where?

# %%
assert asks.invoke(Command(resume="晴"), thread) == {"log": ["other"], "sky": "晴"}
sorted(ran)

# %% [markdown] lang="en"
# `other` is not run again: what it wrote was kept. `ask` starts again **from its first line**, and this time `interrupt` returns the answer. What stands before an `interrupt` happens twice: do not pay there.
#
# ## 8. The judge
#
# The graph by hand once more. Now `lc` gives the names, LangChain's or minilc's, and we compare the states, step by step.


# %%
def transcript(lc):
    weather = lc.tool(get_weather.func)
    script = [lc.AIMessage("", tool_calls=[call]), lc.AIMessage("北京今天晴，28 度。")]
    bound = lc.ScriptedChatModel(script).bind_tools([weather])
    builder = lc.StateGraph(lc.MessagesState)
    builder.add_node("model", lambda state: {"messages": [bound.invoke(state["messages"])]})
    builder.add_node("tools", lc.ToolNode([weather]))
    builder.add_edge(lc.START, "model")
    builder.add_conditional_edges("model", lc.tools_condition)
    builder.add_edge("tools", "model")
    user = ("user", "北京今天天气怎么样？")
    runs.append(draw.record(builder.compile(), {"messages": [user]}))
    return runs[-1].states


runs = []
result = twin(transcript, title="article A's graph by hand, state by state")
assert result.verdict == "EQUAL" and len(runs) == 2

# %% [markdown] lang="en"
# Equal, from state to state. (`MessagesState` is a ready-made class like our `State`.) Go through both runs, side by side:

# %%
widgets.stepper(*runs)

# %% [markdown] lang="en"
# And all comparisons that minilc has for this layer.

# %% tags=["version"]
(verdict,) = check.check([layer("state")], cases.load(["state"]))
assert verdict.ok
verdict.counts

# %% [markdown] lang="en"
# ## 9. In minilc
#
# Our `graph_v4` is `PregelLoop` in small: `run` is the loop, `tick` looks at the limit, `_run` is `run_one`, and `after_tick` folds and follows the edges. (Two of them are async: one text serves `invoke` and `ainvoke`.) `_History` is a list that knows the place of each id. Can you find the line that lets a path see its own node's write?

# %% source="minilc.state:add_messages, PregelLoop.run, PregelLoop.tick, PregelLoop._run, PregelLoop.after_tick"
from minilc.state import PregelLoop, add_messages

# %% [markdown] lang="en"
# ## 10. Left out
#
# What minilc does not have here, and what it does otherwise.

# %%
from minilc.course.register import left_out

left_out("state")

# %% [markdown] lang="en"
# ## 11. Exercises
#
# In the first one your function takes its place inside minilc, and real LangGraph judges it. Stuck? `ex.hint("state-1")` helps, one step at a time.

# %%
ex.show("state-1")

# %% stub="state-1"

# %% [markdown] lang="en"
# The second one begins with a bug report.

# %%
ex.show("state-2")

# %% stub="state-2"

# %% [markdown] lang="en"
# The third is a reducer of your own. Real LangGraph uses it.

# %%
ex.show("state-3")

# %% stub="state-3"

# %% [markdown] lang="en"
# ## 12. Recap
#
# A graph runs in steps: all nodes of a step read one state, and their writes are put together at its end, by a reducer for each key. Without a reducer a key takes one value a step, and the last step wins. Between two steps the run is data, so it can be watched, limited, stopped and resumed.
#
# Our weather question so far: asked, called, answered, and kept in one state, step by step.

# %%
draw.steps(draw.record(by_hand(weather_model()), question))

# %% [markdown] lang="en"
# Two questions to end with. `ex.answer("state-1", "a")` says why an option is right or wrong.

# %%
from IPython.display import display

display(ex.quiz("state-1"), ex.quiz("state-2"))

# %% [markdown] lang="en"
# Next: [10_tool_errors](10_tool_errors.ipynb). A tool fails. Does the run end, or does the model read about it?
