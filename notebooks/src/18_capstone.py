# %% [markdown] lang="en"
# # Can you build an agent from an empty cell?
#
# The notebooks so far have taken LangChain's agent apart. Now you put one together: the node, the edges, the loop. LangChain judges your parts. Then they talk to a real model, if there is one.
#
# |  |  |
# |---|---|
# | **Time** | 30 minutes, and 60 for the exercises |
# | **Difficulty** | hard |
# | **Before** | [12_tool_node](12_tool_node.ipynb), [14_factory](14_factory.ipynb), [15_debugging](15_debugging.ipynb); [17_articles](17_articles.ipynb) is the one before |
# | **Articles** | A, the minimal example and the summary; B, sections 4 and 5 |
# | **We build** | your own agent |
#
# This is where the real things stand in *your* installation.

# %% tags=["version"]
# %load_ext minilc.course.listings
import os
from functools import partial
from minilc.course import capstone, draw, exercises as ex
from minilc.course.doctor import diagnose
from minilc.course.expect import expect_error
from minilc.course.probe import Probe
from minilc.course.scripted import ScriptedChatModel
from minilc.course.upstream import where

for name in ["ToolNode", "_make_model_to_tools_edge", "_make_tools_to_model_edge", "create_agent"]:
    print(f"{name:<26}", where(name).upstream)

# %% [markdown] lang="en"
# ## 1. The real thing
#
# Two tools, and the agent that you are going to rebuild. The answer of `book_ticket` goes straight to the user.

# %%
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool


@tool
def get_weather(city: str) -> str:
    """Get current weather for a city."""
    return f"{city}: 晴"


@tool(return_direct=True)
def book_ticket(city: str) -> str:
    """Book a train ticket."""
    return f"a ticket to {city}"


tools = [get_weather, book_ticket]

# %% [markdown] lang="en"
# The model plays a script at first. A list of calls in it stands for a message that makes them.


# %%
def call(name, id="call_1", **args):
    return {"name": name, "args": args, "id": id, "type": "tool_call"}


def play(script):
    answers = [one if isinstance(one, str) else AIMessage("", tool_calls=one) for one in script]
    return ScriptedChatModel(answers)


# %%
beijing, shanghai = call("get_weather", city="北京"), call("get_weather", "call_2", city="上海")
question = {"messages": [HumanMessage("北京和上海今天天气怎么样？")]}
result = create_agent(play([[beijing, shanghai], "都晴。"]), tools).invoke(question)
result["messages"][-1].content

# %% [markdown] lang="en"
# ## 2. The naive version
#
# Ask, run what was asked for, ask again. It is what one writes on a napkin.


# %%
from types import SimpleNamespace


def agent_v0(model, tools):
    ask = model.bind_tools(tools).invoke
    by_name = {one.name: one for one in tools}

    def invoke(state):
        asking = ask(state["messages"])
        answers = [by_name[one["name"]].invoke(one) for one in asking.tool_calls]
        messages = [*state["messages"], asking, *answers]
        return {"messages": [*messages, ask(messages)]}

    return SimpleNamespace(invoke=invoke)


# %% [markdown] lang="en"
# It has the conversation above. And if the model wants no tool?

# %%
from minilc.chat_models import ScriptExhausted

naive = agent_v0(play([[beijing, shanghai], "都晴。"]), tools)
assert len(naive.invoke(question)["messages"]) == len(result["messages"]) == 5
with expect_error(ScriptExhausted, "The script has no answer to request 2, after '你好'."):
    agent_v0(play(["你好"]), tools).invoke(question)

# %% [markdown] lang="en"
# It asks again, though all was said.
#
# ### The probe
#
# Eight conversations: your agent must have them as `create_agent` has them. The words of an error are yours, so the probe looks only at the call that it answers.

# %%
ticket = call("book_ticket", "call_3", city="上海")
SCRIPTS = {
    "words alone": ["你好"],
    "one call": [[beijing], "晴。"],
    "two at once": [[beijing, shanghai], "都晴。"],
    "two rounds": [[beijing], [shanghai], "都晴。"],
    "a wrong name": [[call("get_wether", city="北京")], "抱歉。"],
    "a wrong argument": [[call("get_weather", town="北京")], [beijing], "晴。"],
    "a ticket": [[ticket]],
    "a ticket and the weather": [[ticket, beijing], "好。"],
}


# %% [markdown] lang="en"
# What is compared: all that was said, in its order.


# %%
def said(message):
    if getattr(message, "status", None) == "error":
        return f"error for {message.tool_call_id}"
    return message.content or [one["name"] for one in message.tool_calls]


def talk(make, script):
    state = make(play(script), tools).invoke(question)
    return [said(message) for message in state["messages"][1:]]


# %% [markdown] lang="en"
# How many of the eight does the napkin get right?

# %%
probe = Probe(partial(talk, create_agent), SCRIPTS)
result = probe(partial(talk, agent_v0))
assert result.score == 3
result

# %% [markdown] lang="en"
# Three of eight. The right column is what you will reach, in three parts.
#
# ## 3. Part one: the node
#
# What does the real node do that the dict on the napkin does not? A node needs a graph around it, so we put the smallest one there is around `ToolNode`.

# %%
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode


def answers(tools, *calls):
    graph = StateGraph(MessagesState).add_node("tools", ToolNode(tools)).add_edge(START, "tools")
    state = {"messages": [AIMessage("", tool_calls=list(calls))]}
    return graph.compile().invoke(state)["messages"][1:]


# %%
slips = answers(tools, call("get_wether"), call("get_weather", "call_2", town="北京"))
assert [one.status for one in slips] == ["error", "error"]
for slip in slips:
    print(slip.tool_call_id, slip.content)

# %% [markdown] lang="en"
# Two slips, and two answers that a model can act on. But an error *inside* of a tool is not the model's business. Guess: is it answered, too?


# %%
@tool
def broken(city: str) -> str:
    """Fail."""
    raise LookupError("the station is closed")


with expect_error(LookupError, "the station is closed"):
    answers([broken], call("broken", city="北京"))

# %% [markdown] lang="en"
# It passes, and ends the run. That is the whole contract of the smallest node. Stuck? `ex.hint("capstone-1")` helps, one step at a time.

# %%
ex.show("capstone-1")

# %% stub="capstone-1"

# %% [markdown] lang="en"
# ## 4. Part two: the edges
#
# The node does not know whether it is wanted. Two edges decide, and they can be asked alone. These are `create_agent`'s own.

# %%
branches = create_agent(play([]), tools).builder.branches
(to_tools,), (to_model,) = branches["model"].values(), branches["tools"].values()

# %%
asking = AIMessage("我来查。", tool_calls=[beijing, shanghai])
assert [one.node for one in to_tools.path.invoke({"messages": [asking]})] == ["tools", "tools"]
assert to_tools.path.invoke({"messages": [AIMessage("晴。")]}) == END == "__end__"

# %% [markdown] lang="en"
# The first has words *and* calls, and goes to the tools: once for each call. Yours may say `"tools"` once and leave both calls to the node.
#
# **Wait a minute.** Why is there an edge behind the tools at all? Where else than to the model could it go?

# %%
for asked in [[beijing], [ticket], [ticket, beijing]]:
    state = {"messages": [AIMessage("", tool_calls=asked)]}
    print([one["name"] for one in asked], to_model.path.invoke(state))

# %% [markdown] lang="en"
# To the end. A ticket needs no more words. [14_factory](14_factory.ipynb) has the exact rule.

# %%
ex.show("capstone-2")

# %% stub="capstone-2"

# %% [markdown] lang="en"
# ## 5. Part three: the loop
#
# What holds the parts together is a list that grows. Before you write it: how many messages has each request of two rounds?

# %%
model = play([[beijing], [shanghai], "都晴。"])
create_agent(model, tools).invoke(question)
lengths = [len(request.messages) for request in model.requests]
assert lengths == [1, 3, 5]
lengths

# %% [markdown] lang="en"
# Each request holds all that was said. The model keeps nothing; the list is the agent's whole memory.

# %%
ex.show("capstone-3")

# %% stub="capstone-3"

# %% [markdown] lang="en"
# ## 6. Together
#
# `assemble` takes your three functions and asks the judge once more. Where yours does not pass yet, the course's own stands in. So the rest of the notebook runs in any case, and you can come back.

# %%
parts = capstone.assemble(tool_node, edges, loop)
parts

# %% [markdown] lang="en"
# And this makes an agent of them. There is nothing else in it.

# %% source="minilc.course.capstone:Parts.agent"
from minilc.course.capstone import Parts

# %%
result = probe(partial(talk, parts.agent))
assert result.score == len(SCRIPTS)
result

# %% [markdown] lang="en"
# Eight of eight. Your agent's memory, as a picture:

# %%
mine = parts.agent(play([[beijing, shanghai], "都晴。"]), tools).invoke(question)
assert mine["messages"][-1].content == "都晴。"
draw.sequence(mine["messages"])

# %% [markdown] lang="en"
# ## 7. Swap them for the real ones
#
# First the loop goes: LangGraph's graph takes its place. Your edges fit in as they are, for they take a state and return a name. The node is a choice.


# %%
def in_a_graph(make_node):
    def make(model, tools):
        ask = model.bind_tools(tools).invoke
        after_model, after_tools = parts.edges(tools)
        graph = StateGraph(MessagesState)
        graph.add_node("model", lambda state: {"messages": [ask(state["messages"])]})
        graph.add_node("tools", make_node(tools))
        graph.add_edge(START, "model")
        graph.add_conditional_edges("model", after_model, ["tools", END])
        graph.add_conditional_edges("tools", after_tools, ["model", END])
        return graph.compile()

    return make


# %% [markdown] lang="en"
# Then the node goes, and last the edges: that is `create_agent`. At which swap does a conversation change?

# %%
SWAPS = {
    "all yours": parts.agent,
    "the real graph": in_a_graph(parts.tool_node),
    "and the real node": in_a_graph(ToolNode),
    "and the real edges": create_agent,
}
scores = {name: probe(partial(talk, make)).score for name, make in SWAPS.items()}
assert set(scores.values()) == {8}
scores

# %% [markdown] lang="en"
# At none. So you have built an agent of LangChain.
#
# **Wait a minute.** ToolNode is far longer than yours. What for? Here is a tool that wants to see the state. The model must not be asked for it.

# %%
from typing import Annotated
from langgraph.prebuilt import InjectedState


@tool
def look_back(state: Annotated[dict, InjectedState]) -> str:
    """How long is the conversation?"""
    return f"{len(state['messages'])} messages"


# %%
told = []
for name, make in SWAPS.items():
    state = make(play([[call("look_back")], "好。"]), [look_back]).invoke(question)
    told.append(said(state["messages"][2]))
    print(f"{name:<20}", told[-1])

assert told == ["error for call_1"] * 2 + ["2 messages"] * 2

# %% [markdown] lang="en"
# Your node does not inject. The rest of the difference, and where it was built:
#
# | what the real one has | notebook |
# |---|---|
# | handlers for errors | [10_tool_errors](10_tool_errors.ipynb) |
# | the state, the store, the runtime for tools | [11_injection](11_injection.ipynb) |
# | calls side by side, awaited calls, `Command` | [12_tool_node](12_tool_node.ipynb) |
# | hooks around the model and the tools | [13_middleware](13_middleware.ipynb) |
# | answers in a form, a pause in the middle | [14_factory](14_factory.ipynb) |
#
# ## 8. A real model
#
# `choose_model` looks at the variables that we hand over.
#
# | variable | what it does |
# |---|---|
# | `OPENAI_BASE_URL` | a server that speaks as OpenAI's does, such as `http://localhost:11434/v1` |
# | `OPENAI_API_KEY` | the key; a local server needs none |
# | `ANTHROPIC_API_KEY` | Anthropic's model, if neither of the two is there |
# | `MINILC_MODEL` | the model's name |

# %%
model, sentence = capstone.choose_model(os.environ)
print(sentence)

# %% [markdown] lang="en"
# To set one here, write `os.environ["OPENAI_BASE_URL"] = "..."` into a cell and run the cell above again. Use `getpass.getpass()` for a key: what you write into a notebook stays in it.
#
# Whichever model it is, your agent asks it. `ask` is `invoke`, with clear words for a refusal.

# %%
state = capstone.ask(parts.agent(model, tools), "北京今天天气怎么样？")
asked = [one["id"] for m in state["messages"] if m.type == "ai" for one in m.tool_calls]
assert [m.tool_call_id for m in state["messages"] if m.type == "tool"] == asked
draw.sequence(state["messages"])

# %% [markdown] lang="en"
# The same question to `create_agent`, on the same choice. A real model may use other words each time; a script does not.

# %%
model, sentence = capstone.choose_model(os.environ)
theirs = capstone.ask(create_agent(model, tools), "北京今天天气怎么样？")
assert theirs["messages"][-1].type == "ai"
[said(message) for message in theirs["messages"]]

# %% [markdown] lang="en"
# ### What a script never does
#
# A real model writes its arguments as text, and may stop in the middle. We need no model to see that: this is the real `ChatOpenAI`, and an endpoint inside this process that answers with half a call.

# %%
from minilc.course.wire import Wire, completion, real_openai

half = completion(tool_calls=[("get_weather", '{"city": "北京')])
silent = capstone.ask(create_agent(real_openai(Wire(half).transport), tools), "北京？")
last = silent["messages"][-1]
assert (last.content, last.tool_calls) == ("", [])
[(one["id"], one["args"]) for one in last.invalid_tool_calls]

# %% [markdown] lang="en"
# No text, no call, no error: the run is over, and the user reads nothing. The call is in `invalid_tool_calls`, where no edge looks. Does your agent do better?

# %%
yours = capstone.ask(parts.agent(real_openai(Wire(half).transport), tools), "北京？")
assert yours["messages"][-1].invalid_tool_calls == last.invalid_tool_calls
diagnose(yours["messages"]).codes

# %% [markdown] lang="en"
# No, it is like LangChain's in this too. The doctor knows it. The remedy is a hook for `create_agent`, and somebody has written one that makes it worse.

# %%
ex.show("capstone-4")

# %% stub="capstone-4"

# %% [markdown] lang="en"
# And if the endpoint refuses? With a wrong key, a provider answers 401. `ask` says who refused, and why.

# %%
import httpx

refusal = Wire(httpx.Response(401, json={"error": {"message": "no"}}))
with expect_error(capstone.NoAnswer, "... answered 401: it does not accept the key."):
    capstone.ask(create_agent(real_openai(refusal.transport), tools), "北京？")

# %% [markdown] lang="en"
# ## 9. The doctor's blessing
#
# The doctor of [15_debugging](15_debugging.ipynb) reads your agent's history, and the tools. Four questions: is the tool known, is the call right, is the tool found, did the answer come back?

# %%
report = diagnose(state["messages"], tools=tools)
report

# %% [markdown] lang="en"
# The blessing is the next line. If a real model has failed you here, the report above says where.

# %%
assert report.ok and report.codes == []
assert diagnose(theirs["messages"], tools=tools).ok

# %% [markdown] lang="en"
# ## 10. The certificate
#
# What you have passed in all notebooks goes into one file, a picture that any browser shows. Nobody writes it but you. Here it goes into a folder that is gone after the cell. In your numbers: solved, exercises, right, quizzes.

# %%
from tempfile import TemporaryDirectory

with TemporaryDirectory() as folder:
    written = capstone.certificate(folder)
    assert written.path.read_text(encoding="utf-8").startswith("<svg")

print(written.path.name, written.passed["18_capstone"])

# %% [markdown] lang="en"
# To keep it, write `capstone.certificate(name="...")` into a cell of your own: the file then stands beside this notebook. Another folder goes in front: `capstone.certificate("/my/folder")`. Do the quizzes first.
#
# ## 11. Recap
#
# An agent is a node that answers each call, two edges that look at the calls, and a list that grows until an edge says END. The real parts do more, and say the same. A real model adds what scripts never do: broken calls and refusals.
#
# Our weather question, for the last time, as a route through the real graph with your edges in it:

# %%
home = in_a_graph(parts.tool_node)(play([[beijing], "晴。"]), tools)
run = draw.record(home, question)
assert run.steps == [["model"], ["tools"], ["model"]]
draw.graph(home, taken=run)

# %% [markdown] lang="en"
# Two questions to end with. `ex.answer("capstone-1", "a")` says why an option is right or wrong.

# %%
from IPython.display import display

display(ex.quiz("capstone-1"), ex.quiz("capstone-2"))

# %% [markdown] lang="en"
# There is no next notebook. The next agent is yours.
