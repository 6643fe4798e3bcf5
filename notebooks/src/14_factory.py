# %% [markdown] lang="en"
# # What does create_agent build?
#
# One line makes an agent. Thirteen layers stand behind it, and we have built them all. What is left to do? And can we take LangChain out, plank by plank, while the agent keeps talking?
#
# |  |  |
# |---|---|
# | **Time** | 40 minutes, and 35 for the exercises |
# | **Difficulty** | medium |
# | **Before** | [08_branch](08_branch.ipynb), [09_state](09_state.ipynb): an edge, a graph; [12_tool_node](12_tool_node.ipynb); [07_chat_models](07_chat_models.ipynb): `bind_tools` |
# | **Articles** | A, layers 3, 5, 6 and 13; B, sections 2, 3.1 and 5 |
# | **We build** | layer 14, `minilc/factory.py` |
#
# This is where the real thing stands in *your* installation.

# %% tags=["version"]
# %load_ext minilc.course.listings
import minilc
from minilc.course import bridge, cases, check, draw, exercises as ex, theseus
from minilc.course.expect import expect_error
from minilc.course.layers import layer
from minilc.course.listings import swapped
from minilc.course.probe import Probe
from minilc.course.upstream import where
from minilc.course.worlds import LANGCHAIN, MINILC

for name in ["create_agent", "_make_model_to_tools_edge", "_make_tools_to_model_edge"]:
    print(f"{name:<26}", where(name).upstream)

# %% [markdown] lang="en"
# ## 1. The real thing
#
# A function, and a model that plays a script. First the model asks for the weather of two cities at once, then it speaks.

# %%
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from minilc.course.scripted import ScriptedChatModel


def get_weather(city: str) -> str:
    """Get current weather for a city."""
    return f"{city}: 晴"


def call(name, id="call_1", **args):
    return {"name": name, "args": args, "id": id, "type": "tool_call"}


question = {"messages": [("user", "北京和上海今天天气怎么样？")]}
both = [call("get_weather", city="北京"), call("get_weather", "call_2", city="上海")]
model = ScriptedChatModel([AIMessage("", tool_calls=both), "都晴。"])
agent = create_agent(model, [tool(get_weather)])
run = draw.record(agent, question)
run.messages[-1].content

# %% [markdown] lang="en"
# What is this agent? Guess how many nodes it has, and how often `tools` ran.

# %%
assert type(agent) is LANGCHAIN.CompiledStateGraph
assert run.steps == [["model"], ["tools", "tools"], ["model"]]
draw.graph(agent, taken=run)

# %% [markdown] lang="en"
# Two nodes, and `tools` ran twice in one step: once for each call. **An agent is a graph that somebody has drawn for you.**
#
# ## 2. The naive version
#
# In LangChain 0.3 there was no graph. `AgentExecutor` was a `while` loop. In 1.x it is gone from `langchain.agents`; it lives on in a package of its own, `langchain-classic`.

# %%
with expect_error(ImportError, "cannot import name 'AgentExecutor' from 'langchain.agents' ..."):
    from langchain.agents import AgentExecutor

# %% [markdown] lang="en"
# Here is such a loop in our words, on minilc's first seven layers. As in 0.3 it gives up after fifteen rounds.

# %%
from types import SimpleNamespace


def agent_v0(model, tools):
    bound = model.bind_tools(tools)
    by_name = {one.name: one for one in tools}

    def invoke(state):
        messages = minilc.convert_to_messages(state["messages"])
        for _ in range(15):
            answer = bound.invoke(messages)
            messages.append(answer)
            if not answer.tool_calls:
                break
            messages += [by_name[one["name"]].invoke(one) for one in answer.tool_calls]
        return {"messages": messages}

    return SimpleNamespace(invoke=invoke)


# %% [markdown] lang="en"
# ### The probe
#
# Eight conversations, played to LangChain's agent and to ours. A second tool joins: `book_ticket` has `return_direct=True`, so its answer goes straight to the user.
#
# `lc` is `LANGCHAIN` or `MINILC`: the same names, of the one or of the other. In a script, a list is what the model calls. `said` lists what comes after the question.


# %%
def book_ticket(city: str) -> str:
    """Book a train ticket."""
    return f"a ticket to {city}"


def tools(lc):
    return [lc.tool(get_weather), lc.tool(return_direct=True)(book_ticket)]


def play(lc, script):
    answers = [one if isinstance(one, str) else lc.AIMessage("", tool_calls=one) for one in script]
    return lc.ScriptedChatModel(answers)


def said(state):
    return [m.content or [one["name"] for one in m.tool_calls] for m in state["messages"]][1:]


# %%
ticket = call("book_ticket", city="上海")
SCRIPTS = {
    "words alone": ["你好"],
    "one call": [both[:1], "晴。"],
    "two at once": [both, "都晴。"],
    "two rounds": [both[:1], both[1:], "都晴。"],
    "a wrong name": [[call("get_wether", city="北京")], "抱歉。"],
    "wrong arguments": [[call("get_weather", town="北京")], both[:1], "晴。"],
    "a ticket": [[ticket]],
    "a ticket and the weather": [[ticket, both[1]], "晴。"],
}


def with_agent(create, lc):
    return lambda script: said(create(play(lc, script), tools(lc)).invoke(question))


def chat(script, tools, **options):
    model = play(LANGCHAIN, script)
    agent = create_agent(model, tools, **options)
    return model, agent, draw.record(agent, question)


probe = Probe(with_agent(create_agent, LANGCHAIN), SCRIPTS)

# %% [markdown] lang="en"
# Three will go wrong. Which?

# %%
result = probe(with_agent(agent_v0, MINILC))
assert result.score == 5
result

# %% [markdown] lang="en"
# A dict of tools is no `ToolNode`: it knows neither wrong names nor wrong arguments. And the ticket is not the last word: the model is asked again, and the script has no more to say.
#
# ## 3. Two nodes and two edges
#
# Now with layers 8 to 12: a model node, a tools node, and a way to go on after each. Article B draws the second edge as a plain one, always back to the model. (In the picture above it is dashed: a condition decides.) We begin with B's.

# %%
END = minilc.END


def agent_v1(model, tools, to_tools=minilc.tools_condition, to_model=lambda state: "model"):
    bound = model.bind_tools(tools)

    def ask(state):
        return {"messages": [bound.invoke(state["messages"])]}

    graph = minilc.StateGraph(minilc.MessagesState)
    graph.add_node("model", ask)
    graph.add_node("tools", minilc.ToolNode(tools))
    graph.add_edge(minilc.START, "model")
    graph.add_conditional_edges("model", to_tools, ["tools", END])
    graph.add_conditional_edges("tools", to_model, ["model", END])
    return graph.compile()


# %%
result = probe(with_agent(agent_v1, MINILC))
assert result.score == 7
[(row.input, row.ours) for row in result.rows if not row.equal]

# %% [markdown] lang="en"
# Seven; the ticket comes last. **Wait a minute.** The probe hears what is said. It does not see who ran. LangChain ran `tools` twice in one step. And ours?

# %%
draw.record(agent_v1(play(MINILC, [both, "都晴。"]), tools(MINILC)), question).steps

# %% [markdown] lang="en"
# Once, with both calls inside. LangChain's edge does not say *tools*. It sends each call by itself, with `Send`. So each call is a task of its own, and one can pause without the other: part 9.


# %%
def to_tools(state):
    calls = state["messages"][-1].tool_calls
    return [minilc.Send("tools", [one]) for one in calls] or END


def agent_v2(model, tools):
    return agent_v1(model, tools, to_tools)


ours = draw.record(agent_v2(play(MINILC, [both, "都晴。"]), tools(MINILC)), question)
assert ours.steps == run.steps
assert probe(with_agent(agent_v2, MINILC)).score == 7

# %% [markdown] lang="en"
# Now the ticket: its tool wants the last word. The edge out of the tools has to look at which tools were called.


# %%
def agent_v3(model, tools):
    direct = {one.name for one in tools if one.return_direct}

    def to_model(state):
        *_, last = [one for one in state["messages"] if one.type == "ai"]
        return END if all(one["name"] in direct for one in last.tool_calls) else "model"

    return agent_v1(model, tools, to_tools, to_model)


assert probe(with_agent(agent_v3, MINILC)).score == len(SCRIPTS)

# %% [markdown] lang="en"
# Eight of eight. What we have not asked: middleware that has answered a call already, a structured answer, messages that were removed. For these the finished edges have more exits, and each has a number.

# %% source="minilc.factory:_make_model_to_tools_edge, _fetch_last_ai_and_tool_messages"
from minilc.factory import _fetch_last_ai_and_tool_messages, _make_model_to_tools_edge

# %% [markdown] lang="en"
# *Pending* is the word in the middle: a call of the last `AIMessage` whose id no `ToolMessage` behind it carries. The way back is shorter.

# %% source="minilc.factory:_make_tools_to_model_edge"
from minilc.factory import _make_tools_to_model_edge

# %% [markdown] lang="en"
# ## 4. Through every exit
#
# We take LangChain's agent apart and ask its two edges directly. Ours get the same states. The states hold LangChain's messages; `bridge.ours` makes minilc's of them. `goes` says in words where an edge leads; before LangChain 1.2.16 a `Send` carried a dict around its call.

# %%
from langchain.agents.structured_output import ToolStrategy
from pydantic import BaseModel, Field


class Forecast(BaseModel):
    """The forecast of one city."""

    city: str
    degrees: int = Field(ge=-60, le=60)


def edges(lc):
    agent = lc.create_agent(play(lc, []), tools(lc), response_format=lc.ToolStrategy(Forecast))
    return agent.builder.branches


def goes(target):
    if isinstance(target, str):
        return target
    args = [send.arg if isinstance(send.arg, list) else [send.arg["tool_call"]] for send in target]
    return [f"tools, with {one['id']}" for (one,) in args]


# %%
(real_edge,), (our_edge,) = edges(LANGCHAIN)["model"].values(), edges(MINILC)["model"]
two = AIMessage("", tool_calls=[call("get_weather"), call("book_ticket", "call_2")])
form = AIMessage("", tool_calls=[call("Forecast", city="北京", degrees=28)])
ok = ToolMessage("ok", name="Forecast", tool_call_id="call_1")
STATES = {
    "1 a middleware jumps": {"messages": [two], "jump_to": "end"},
    "2 no AIMessage is left": {"messages": [HumanMessage("北京？")]},
    "3 no call": {"messages": [AIMessage("晴。")]},
    "4 two calls, one is answered": {"messages": [two, ToolMessage("晴", tool_call_id="call_1")]},
    "5 a structured answer": {"messages": [form, ok], "structured_response": {"degrees": 28}},
    "6 a structured answer that was wrong": {"messages": [form, ok]},
}
exits = Probe(lambda state: goes(real_edge.path.invoke(state)), STATES)
result = exits(lambda state: goes(our_edge.path.func(bridge.ours(state))))
assert result.score == len(STATES)
result

# %% [markdown] lang="en"
# Look at 4: only `call_2` is sent, because the other one has its answer. And the four exits of the way back:

# %%
(real_back,), (our_back,) = edges(LANGCHAIN)["tools"].values(), edges(MINILC)["tools"]
direct = AIMessage("", tool_calls=[call("book_ticket")])
beside = AIMessage("", tool_calls=[*form.tool_calls, call("get_weather", "call_2")])
STATES = {
    "1 no AIMessage is left": {"messages": [HumanMessage("北京？")]},
    "2 all have the last word": {"messages": [direct]},
    "3 a structured answer beside a call": {"messages": [beside, ok]},
    "4 the usual case": {"messages": [two]},
}
exits = Probe(lambda state: goes(real_back.path.invoke(state)), STATES)
result = exits(lambda state: goes(our_back.path.func(bridge.ours(state))))
assert result.score == len(STATES)
result

# %% [markdown] lang="en"
# ## 5. Whose tool is it?
#
# Article A's third layer: `create_agent` sorts its tools. What is a function or a tool runs here. What is a dict belongs to the model's provider and runs there. We give it one of each.

# %%
search = {"type": "web_search"}
given = [search, tool(get_weather)]
model, agent, run = chat([[call("web_search")], "抱歉。"], given, system_prompt="用中文回答。")
assert list(agent.builder.nodes["tools"].runnable.tools_by_name) == ["get_weather"]
model.requests[0].tools

# %% [markdown] lang="en"
# Both are offered, one is in the tools node. A provider would run `web_search` itself and not ask us. Our script did ask. What does it get? And what if the agent has no tool of its own?

# %%
print(said(run.state))
_, alone, without = chat([[call("web_search")]], [search])
assert "tools" not in alone.get_graph().nodes
said(without.state)

# %% [markdown] lang="en"
# With a tools node: an error that the model can read. Without one the run ends, and the call is never answered.
#
# And the system prompt? It goes out first in each request, and no state ever holds it.

# %%
assert [one.messages[0].content for one in model.requests] == ["用中文回答。"] * 2
assert "system" not in [message.type for message in run.messages]

# %% [markdown] lang="en"
# Here is minilc's assembly line, and the node that asks the model. Find where dicts and tools part, and where the system prompt comes in. (`hooks` is layer 13.)

# %% source="minilc.factory:create_agent, _make_tool_node, _ModelNode._execute_model_async, _ModelNode._get_bound_model"
from minilc.factory import _make_tool_node, _ModelNode, create_agent as our_create_agent

# %% [markdown] lang="en"
# ## 6. The last word
#
# Article A says that `return_direct=True` may end the run. The exact rule has surprises. Guess for each row: does the model speak again? (The listing gave the name `create_agent` to minilc's; we take LangChain's again.)

# %%
from langchain.agents import create_agent

CALLS = {
    "a ticket": [ticket],
    "a ticket and the weather": [ticket, both[1]],
    "a ticket with wrong arguments": [call("book_ticket", town="上海")],
    "a ticket and a wrong name": [ticket, call("get_wether", "call_2")],
    "a wrong name": [call("get_wether")],
}
spoke = []
for title, calls in CALLS.items():
    model, *_ = chat([calls, "好。"], tools(LANGCHAIN))
    spoke.append(len(model.requests) == 2)
    print(f"{title:<30}", "the model speaks again" if spoke[-1] else "the run ends")

assert spoke == [False, True, False, False, True]

# %% [markdown] lang="en"
# It ends if *all* tools that exist and were called are direct. It does not matter how the call went: with wrong arguments the user reads the validation error, and the model cannot mend it.
#
# ## 7. An answer in a form
#
# A program wants fields, not words. `ToolStrategy` offers the form to the model as a tool. The first answer of this script says 280 degrees.

# %%
hot, right = (call("Forecast", city="北京", degrees=degrees) for degrees in (280, 28))
script = [both[:1], [hot], [right]]
model, agent, run = chat(script, [tool(get_weather)], response_format=ToolStrategy(Forecast))
assert run.state["structured_response"] == Forecast(city="北京", degrees=28)
run.messages[4].content.splitlines()[:3]

# %% [markdown] lang="en"
# The wrong answer got an answer, as a wrong call does, and the model tried again. Did a tool run? What was the model offered?

# %%
assert [one["function"]["name"] for one in model.requests[0].tools] == ["get_weather", "Forecast"]
assert {request.tool_choice for request in model.requests} == {"any"}
assert run.steps == [["model"], ["tools"], ["model"], ["model"]]
draw.graph(agent, taken=run)

# %% [markdown] lang="en"
# `Forecast` is a tool that never runs: the model node reads the call itself. So there is an edge from `model` to `model`. And `tool_choice="any"` asks for a call each time.
#
# **Wait a minute.** What if the model speaks all the same, in words?

# %%
_, _, run = chat(["二十八度。"], [tool(get_weather)], response_format=ToolStrategy(Forecast))
assert run.state.get("structured_response") is None
said(run.state)

# %% [markdown] lang="en"
# The run ends without a form and without an error. `tool_choice` is a wish to the provider; look before you use the field.
#
# ## 8. How far may it go?
#
# Article B: the limit is 10007 by default, and a round trip counts as one. We measure both. There are three defaults: a config starts with 25, and `create_agent` sets its own.

# %%
from langchain_core.runnables import RunnableLambda

assert RunnableLambda(lambda x, config: config["recursion_limit"]).invoke(None) == 25
agent.config["recursion_limit"]

# %% [markdown] lang="en"
# A graph without an agent has the third. We build one that never ends.

# %%
bare = minilc.StateGraph(minilc.MessagesState).add_node("again", lambda state: None)
bare.add_edge(minilc.START, "again").add_edge("again", "again")
with expect_error(minilc.GraphRecursionError, "Recursion limit of 10007 reached ..."):
    bare.compile().invoke({"messages": []})

# %% [markdown] lang="en"
# That is B's number, of a graph without an agent. We measured it on minilc, because LangGraph takes several seconds to get there; minilc's tests run both.
#
# And what is counted? We look for the smallest limit that is enough for 0, 1, 2 and 3 rounds of tools, on the real agent.

# %%
from langgraph.errors import GraphRecursionError


def enough(limit, script):
    try:
        create_agent(play(LANGCHAIN, script), tools(LANGCHAIN)).invoke(
            question, {"recursion_limit": limit}
        )
    except GraphRecursionError:
        return False
    return True


def needs(script):
    return next(limit for limit in range(1, 20) if enough(limit, script))


assert [needs([both[:1]] * rounds + ["晴。"]) for rounds in range(4)] == [2, 4, 6, 8]
needs([both, "都晴。"])

# %% [markdown] lang="en"
# Steps are counted: a round is two, however many calls it has. And one more than the run's steps is needed. Why? Look at a limit of three, where one round and the last word fit exactly.

# %%
states = []
with expect_error(GraphRecursionError, "Recursion limit of 3 reached without ..."):
    limited = create_agent(play(LANGCHAIN, [both[:1], "晴。"]), tools(LANGCHAIN))
    for state in limited.stream(question, {"recursion_limit": 3}, stream_mode="values"):
        states.append(said(state))
states[-1]

# %% [markdown] lang="en"
# The answer was there. But the graph must look once more to see that nothing is left, and that look is beyond the limit. Exercise 3 makes use of this.
#
# ## 9. What a loop cannot do
#
# Stop in the middle, for a night or for a restart, and go on. A `while` loop has its state on the stack. A graph has it in a dict between two steps.

# %%
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt


@tool
def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}" if interrupt(f"pay {amount}?") == "yes" else "refused"


model = play(LANGCHAIN, [[call("pay", amount=5), both[1]], "好。"])
paying = create_agent(model, [pay, tool(get_weather)], checkpointer=InMemorySaver())
thread = {"configurable": {"thread_id": "1"}}
paused = paying.invoke(question, thread)
assert said(paused)[1:] == ["上海: 晴"]
print(paused["__interrupt__"][0].value)
said(paying.invoke(Command(resume="yes"), thread))

# %% [markdown] lang="en"
# While the payment waited, the weather had its answer already: each call is a task of its own. That is what the `Send`s are for.
#
# ## 10. The ship of Theseus
#
# A ship sails, and plank after plank is replaced. Is it the same ship at the end? We have fourteen planks. The tool that lets old and new stand side by side is the bridge: it makes LangChain's tool of ours, and the reverse.

# %%
crossed = bridge.real(minilc.tool(get_weather))
assert isinstance(crossed, LANGCHAIN.BaseTool)
mixed = create_agent(bridge.real(play(MINILC, [both, "都晴。"])), [crossed])
said(mixed.invoke(question))

# %% [markdown] lang="en"
# LangChain's `create_agent` and `ToolNode`, minilc's model and tool. The voyage needs a conversation that puts weight on each plank: two calls at once, two faults, injected arguments of which the model forges one, two middleware.

# %%
draw.ledger(theseus.Ship(0).transcript()["messages"])

# %% [markdown] lang="en"
# At stage 0 all is LangChain's. At stage n the first n layers are minilc's; `minilc/course/theseus.py` says how each one is put in. We compare all that was said, with ids, statuses and state, and each of the model's requests with its tools. Guess where it breaks first.

# %%
voyage = theseus.sail()
assert len(voyage.runs) == 15 and voyage.arrived
voyage

# %% [markdown] lang="en"
# Nowhere. Read a column from the top: at stage 9 minilc's graph runs LangChain's `ToolNode`, which runs minilc's tools.
#
# **Wait a minute.** Would we see it if a plank were rotten? We break the eleventh: what the model sends shall win over what is injected.

# %%
from minilc.injection import _inject_tool_args


def trusting(call, *rest):
    injected = _inject_tool_args(call, *rest)
    return {**injected, "args": {**injected["args"], **call["args"]}}


with swapped("minilc.injection:_inject_tool_args", trusting):
    rotten = theseus.sail(range(9, 15))
assert rotten.other == [11, 12, 13, 14]
print(rotten.differences[11])

# %% [markdown] lang="en"
# From stage 11 on: the forged, empty history reached the tool, which then says that nothing was asked. minilc's tests break each of the fourteen in this way, and each shows from its own stage on and not before.
#
# ## 11. The judge
#
# And all comparisons that minilc has for this layer.

# %% tags=["version"]
(report,) = check.check([layer("factory")], cases.load(["factory"]))
assert report.ok
report.counts

# %% [markdown] lang="en"
# ## 12. Left out
#
# What minilc does not have here, what it does otherwise, and what depends on LangChain's version.

# %%
from minilc.course.register import left_out

left_out("factory")

# %% [markdown] lang="en"
# ## 13. Exercises
#
# The first is the heart of the edge out of the model. Stuck? `ex.hint("factory-1")` helps, one step at a time.

# %%
ex.show("factory-1")

# %% stub="factory-1"

# %% [markdown] lang="en"
# The second begins with a bug report about the way back.

# %%
ex.show("factory-2")

# %% stub="factory-2"

# %% [markdown] lang="en"
# The third is for your own agents, of LangChain: a run that is cut short, and nothing is lost.

# %%
ex.show("factory-3")

# %% stub="factory-3"

# %% [markdown] lang="en"
# ## 14. Recap
#
# `create_agent` joins a model node and a tools node by two edges that look at the messages, and sends each pending call by itself. A run ends with words, with tools that have the last word, with a structured answer, or at its limit. Every layer of it can be ours, and the conversation stays the same.
#
# Our weather question has come home: asked, called, run, answered, and read, on fourteen planks of minilc.

# %%
home = minilc.create_agent(play(MINILC, [both, "都晴。"]), [minilc.tool(get_weather)])
draw.sequence(draw.record(home, question))

# %% [markdown] lang="en"
# Two questions to end with. `ex.answer("factory-1", "a")` says why an option is right or wrong.

# %%
from IPython.display import display

display(ex.quiz("factory-1"), ex.quiz("factory-2"))

# %% [markdown] lang="en"
# Next: [15_debugging](15_debugging.ipynb). What do we do when an agent does not call its tool?
