# %% [markdown] lang="en"
# # Do the articles still say what is so?
#
# Two articles took many of us into LangChain's source. Since then LangChain has moved on. Which of their sentences can we still build on, with the version that is installed here?
#
# |  |  |
# |---|---|
# | **Time** | 40 minutes, and 35 for the exercises |
# | **Difficulty** | easy |
# | **Before** | [00_map](00_map.ipynb); the rest is linked where it is needed |
# | **Articles** | A and B, whole, in their order |
# | **We use** | `minilc articles`, from Python: `minilc/course/articles` |
#
# Have the articles open beside this notebook if you can. It also reads alone. These are *your* versions:

# %% tags=["version"]
# %load_ext minilc.course.listings
import json

from langchain.agents import AgentState, create_agent
from langchain_core.tools import tool
from minilc.course import behaviours, draw, exercises as ex, record
from minilc.course.articles import ledger, places, show, summary
from minilc.course.articles.support import call, calling, scripted, weather
from minilc.course.expect import expect_error
from minilc.course.probe import Probe
from minilc.course.scripted import ScriptedChatModel
from minilc.course.versions import versions

versions()

# %% [markdown] lang="en"
# ## 1. The real thing
#
# Article A's first example, on the real library. Four helpers: `weather()` makes A's tool, `call()` a call of it, `calling()` the message that asks for it, `scripted()` a model that plays a script.

# %%
QUESTION = {"messages": [{"role": "user", "content": "北京今天天气怎么样？"}]}
get_weather = weather()
run = draw.record(create_agent(scripted(), [get_weather]), QUESTION)
assert [message.type for message in run.messages] == ["human", "ai", "tool", "ai"]
run.messages[-1].content

# %% [markdown] lang="en"
# ## 2. What is a verdict?
#
# Article B shows how a result becomes a message: its content is `str(response)`. We check that with B's own kind of result, a text.


# %%
def content(response):
    """What the model reads if a tool returns this."""
    give = tool("give", description="Give it.")(lambda: response)
    return give.invoke(call("give")).content


sunny = "北京今天晴，25°C"
assert content(sunny) == str(sunny)

# %% [markdown] lang="en"
# So B is right? **Wait a minute.** A text looks the same in every reading. This check could not have failed. We need a result with which the readings part.

# %%
response = {"晴": True, "雨": None}
assert content(response) == json.dumps(response, ensure_ascii=False)
assert content({"晴"}) == str({"晴"})
print(content(response), "is not", str(response))

# %% [markdown] lang="en"
# B is wrong: a dict becomes JSON. `str` is for what JSON cannot write, such as a set. The *ledger* holds 203 sentences of the articles in our words, each with a check that can fail. There are four verdicts.
#
# | | |
# |---|---|
# | = holds | it is so |
# | ≈ holds with a nuance | it is so, and there is something more to know |
# | ≠ changed since | it is not so, and was so in a release that we name |
# | ≠ wrong | it is not so, and was not when the article was written |
#
# # Article A
#
# ## 3. Overview and minimal example
#
# A calls a tool call a protocol of messages, a route through a graph, and a local execution. Then it follows one function through three files. One of the files is gone: it is a package now.

# %% tags=["version"]
ran = []
table = show("A", "Overview", "Minimal example")
assert table.fallen == ["A-03"]
ran += table.results
table

# %% [markdown] lang="en"
# Each table ran its claims just now. Look at A-12: A draws the binding of tools as a part of building the agent. We count. How often is `bind_tools` called, and when?


# %%
class Counting(ScriptedChatModel):
    def bind_tools(self, tools, **options):
        bound.append([one.name for one in tools])
        return super().bind_tools(tools, **options)


bound = []
model = Counting([calling(), "北京今天晴。"])
agent = create_agent(model, [get_weather])
assert bound == []
agent.invoke(QUESTION)
bound

# %% [markdown] lang="en"
# Never while building, then once for each question to the model. Here is the whole example as A's overview tells it; [00_map](00_map.ipynb) walks through it slowly.

# %%
draw.sequence(run)

# %% [markdown] lang="en"
# ## 4. Layers 1 and 2: a function becomes a tool
#
# `@tool` sorts functions, coroutines and runnables, and `from_function` takes name, description and schema from them. A read this part in langchain-core 0.2.12. What fell: names, places, parameters, and one rule.

# %% tags=["version"]
table = show("A", "Layer 1", "Layer 2")
assert table.fallen == ["A-15", "A-16", "A-21", "A-30", "A-33"]
ran += table.results
table

# %% [markdown] lang="en"
# The rule is A-33: an empty description gave way to the docstring. Today it counts, and the model reads nothing about the tool.
#
# [05_convert](05_convert.ipynb) builds layer 1, [02_schema](02_schema.ipynb) and [04_structured](04_structured.ipynb) build layer 2.
#
# ## 5. Layers 3 and 4: the agent gets its tools, and the model hears of them
#
# A: dicts are the provider's tools and stay out of ToolNode; all others go in. `bind_tools` puts descriptions into the request and runs nothing. Only the line numbers fell.

# %% tags=["version"]
table = show("A", "Layer 3", "Layer 4")
assert table.fallen == ["A-42", "A-49"]
ran += table.results
table

# %% [markdown] lang="en"
# if a model asks *us* for a provider's tool, it reads an error. Without a ToolNode there is no answer at all. [14_factory](14_factory.ipynb) runs both; [06_function_calling](06_function_calling.ipynb) and [07_chat_models](07_chat_models.ipynb) build what the model hears.
#
# ## 6. Layers 5 and 6: the edges
#
# Two conditional edges make the loop. The one behind the model looks for calls that nobody has answered yet, by id, and sends each by itself.

# %% tags=["version"]
table = show("A", "Layer 5", "Layer 6")
assert {"A-54", "A-60"} <= set(table.fallen)
ran += table.results
table

# %% [markdown] lang="en"
# Two claims tell when A was written: each holds in some releases only. A-64: `Send("tools", [call])` carries a list with the call since langchain 1.2.16, and a dict with the whole state before. A-65: since 1.3.15 a `structured_response` of None does not end the run.

# %% tags=["version"]
(edge,) = agent.builder.branches["model"].values()
(sent,) = edge.path.invoke({"messages": [calling()]})
assert isinstance(sent.arg, list) == behaviours.active("send-payload")
sent

# %% [markdown] lang="en"
# And the route, with two calls in one message. A's picture has the same nodes and the same edges. `tools` ran twice in one step.

# %%
both = calling(call(city="北京"), call(id="call_2", city="上海"))
agent = create_agent(scripted(both, "都晴。"), [get_weather])
two = draw.record(agent, QUESTION)
assert two.steps == [["model"], ["tools", "tools"], ["model"]]
draw.graph(agent, taken=two)

# %% [markdown] lang="en"
# [08_branch](08_branch.ipynb), [09_state](09_state.ipynb) and [14_factory](14_factory.ipynb) build the graph and its edges.
#
# ## 7. Layers 7 and 8: ToolNode begins
#
# ToolNode is a register of tools by name. It takes a state, a list of messages, or calls. Nothing fell but lines. The nuances are what costs people an evening.

# %% tags=["version"]
table = show("A", "Layer 7", "Layer 8")
assert table.fallen == ["A-69", "A-77"]
ran += table.results
table

# %% [markdown] lang="en"
# The most expensive one is A-71. A shows that `handle_tool_errors` has a default and does not say which. One tool, two faults: wrong arguments, and a division by zero. Which one reaches the model?


# %%
@tool
def divide(by: int) -> str:
    """Divide a hundred."""
    return str(100 / by)


def told(**arguments):
    asking = calling(call("divide", **arguments))
    return create_agent(scripted(asking, "好。"), [divide]).invoke(QUESTION)["messages"][2]


assert told(by="none").status == "error"
with expect_error(ZeroDivisionError, "division by zero"):
    told(by=0)

# %% [markdown] lang="en"
# Wrong arguments become a message; what the tool itself raises ends the run. Many believe the reverse. [10_tool_errors](10_tool_errors.ipynb) has every setting; [12_tool_node](12_tool_node.ipynb) builds the node.
#
# ## 8. Layers 9 and 10: many calls, one call
#
# Several calls run at once, each with a `ToolRuntime` of its own. One call is: look the tool up, wrap, inject, invoke, make a message. `wrap_tool_call` sits around that, not around the agent.

# %% tags=["version"]
table = show("A", "Layer 9", "Layer 10")
assert {"A-92", "A-99"} <= set(table.fallen)
ran += table.results
table

# %% [markdown] lang="en"
# Two more claims date the article: the runtime's `tools`, and errors of normalising that are handled. Both came with langgraph-prebuilt 1.0.11. A-91 is about who runs what:

# %%
draw.steps(two)

# %% [markdown] lang="en"
# A tells of one ToolNode that runs two calls in threads. In an agent ToolNode runs twice, with one call each, so one can pause alone. [13_middleware](13_middleware.ipynb) builds the wrapping.
#
# ## 9. Layers 11 to 13: in, out, and back
#
# Arguments that the model may not fill in are injected. What a tool returns becomes a ToolMessage with the call's id. The reducer puts it into the history, and the second edge leads to the model.

# %% tags=["version"]
table = show("A", "Layer 11", "Layer 12", "Layer 13")
assert {"A-113", "A-119", "A-120", "A-123"} <= set(table.fallen)
ran += table.results
table

# %% [markdown] lang="en"
# A-119 is A's warning of dicts: better return `json.dumps(...)`. Part 2 showed that it is the same text.
#
# A's tool reads `state["user_id"]`. We hand a `user_id` in with the question. Does it arrive?

# %%
from typing import Annotated

from langchain.tools import InjectedState


@tool
def query_order(order_id: str, state: Annotated[dict, InjectedState]) -> str:
    """Query an order of the user."""
    return f"{order_id} of {state['user_id']}"


def order(**options):
    asking = calling(call("query_order", order_id="O1"))
    agent = create_agent(scripted(asking, "好。"), [query_order], **options)
    return agent.invoke(QUESTION | {"user_id": "u1"})["messages"]


class Shop(AgentState):
    user_id: str


with expect_error(KeyError, "'user_id'"):
    order()
draw.ledger(order(state_schema=Shop))

# %% [markdown] lang="en"
# It does not: what the schema does not know is dropped without a word. The KeyError is the tool's own, so it ends the run. With `state_schema=Shop` the tool reads it.
#
# [11_injection](11_injection.ipynb) and [03_base](03_base.ipynb) build these layers.
#
# ## 10. The chain, and ten problems
#
# A puts the whole chain into one list, and then names the ten faults it sees most. One of its error texts shows up elsewhere than A says.

# %% tags=["version"]
table = show("A", "The whole call chain", "Debugging")
assert table.fallen == ["A-130"]
ran += table.results
table

# %% [markdown] lang="en"
# The chain holds, but for one word: the edge is *made* when the agent is built, and only what was made runs. Here is what the check of A-127 has just seen run, in order. At the end the model is asked again, and its edge too.

# %% tags=["version"]
chain = table.results[0].shows
assert chain[-2:] == chain[3:5]
print("\n".join(chain))

# %% [markdown] lang="en"
# Problem 3 says: a name that is not registered shows as `Tool xxx is not registered with ToolNode`. Whoever searches their logs for this finds nothing.

# %%
wrong = create_agent(scripted(calling(call("xxx")), "抱歉。"), [get_weather]).invoke(QUESTION)
assert "not registered" not in wrong["messages"][2].content
wrong["messages"][2].content

# %% [markdown] lang="en"
# B-36 has a third text for the same thing. [15_debugging](15_debugging.ipynb) takes all ten problems to the doctor.
#
# ## 11. Six advices, the graph by hand, the summary
#
# The advices hold. Whether a name is good no check can know; what the model is sent, it can. Advice 4's example uses a `load_order` that is nowhere defined.

# %% tags=["version"]
table = show("A", "Production", "The graph by hand", "Summary")
assert "A-144" in table.fallen
ran += table.results
table

# %% [markdown] lang="en"
# A's graph by hand runs as it stands. It has a hidden condition, A-148: `tools_condition` without a map wants the node to be called `tools`.

# %%
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition


def by_hand(model, name):
    bound = model.bind_tools([get_weather])
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [bound.invoke(state["messages"])]})
    graph.add_node(name, ToolNode([get_weather]))
    graph.add_edge(START, "model").add_edge(name, "model")
    return graph.add_conditional_edges("model", tools_condition).compile()


assert len(by_hand(scripted(), "tools").invoke(QUESTION)["messages"]) == 4
with expect_error(ValueError, "At 'model' node, 'tools_condition' branch found unknown target ..."):
    by_hand(scripted(), "actions")

# %% [markdown] lang="en"
# [16_production](16_production.ipynb) makes the six advices run. In [18_capstone](18_capstone.ipynb) you build this graph yourself.
#
# # Article B
#
# ## 12. Sections 1 to 3.2: the graph, and the question to the model
#
# B names its versions in the first line; minilc's tests run on just these. Its sketch of `create_agent` is short. What it loses: the state's fields, the condition behind the tools, how the model hears of them, what a provider sends.

# %% tags=["version"]
table = show("B", "Header", "1", "2", "3.1", "3.2")
assert {"B-05", "B-10", "B-15", "B-18", "B-20"} <= set(table.fallen)
ran += table.results
table

# %% [markdown] lang="en"
# B-15: in B's sketch a plain edge leads from `tools` back to `model`. We give an agent one tool that wants the last word, and look at the edges.

# %%
ticket = tool("book_ticket", return_direct=True, description="Book a ticket.")(lambda: "booked")
agent = create_agent(scripted(calling(call("book_ticket"))), [ticket])
direct = draw.record(agent, QUESTION)
assert direct.steps == [["model"], ["tools"]]
draw.graph(agent, taken=direct)

# %% [markdown] lang="en"
# The run ended behind `tools`. A plain edge has no choice; this one is a condition, drawn dashed.
#
# B-18: in B's sketch the node calls `llm.invoke(messages, tools=[...])`. We saw in part 3 that `bind_tools` is called each time. What would B's line send?

# %%
raw = ScriptedChatModel(["晴。"])
raw.invoke("北京？", tools=[get_weather])
sketch, real = raw.requests[0].tools[0], model.requests[0].tools[0]
assert sketch is get_weather
real

# %% [markdown] lang="en"
# The tool object itself, as it is. Nobody has turned it into a provider's JSON: that is what `bind_tools` does, and with it comes what you see above.
#
# ## 13. Sections 3.3 to 3.5: run the tool, keep the state
#
# The names in B's chain are right: `invoke`, `run`, `_to_args_and_kwargs`, `_run`. What each of them holds is not always.

# %% tags=["version"]
table = show("B", "3.3", "3.4", "3.5")
assert table.fallen == ["B-21", "B-23", "B-25", "B-30"]
ran += table.results
table

# %% [markdown] lang="en"
# B-21 was our first example. B-25: the function is in `func`; `_run` is a method like any other. [03_base](03_base.ipynb) traces the chain.
#
# ## 14. Sections 4 and 5: the doubts of a reader
#
# Section 4 is a picture of the whole run; ours is in part 3. Section 5 asks what readers ask: text or structure, wrong names, endless loops, reflection, many calls, and 0.3.

# %% tags=["version"]
table = show("B", "5", "Summary")
assert table.fallen == ["B-36", "B-39", "B-40"]
ran += table.results
table

# %% [markdown] lang="en"
# B: 10007, and a round counts as one. LangGraph has that number, for graphs without an agent. We look for the smallest limit with which 0, 1, 2, 3 rounds end well. Guess the row.

# %%
from langgraph.errors import GraphRecursionError


def ends(limit, rounds):
    agent = create_agent(scripted(*[calling()] * rounds, "晴。"), [get_weather])
    try:
        return bool(agent.invoke(QUESTION, {"recursion_limit": limit}))
    except GraphRecursionError:
        return False


limits = [next(n for n in range(1, 20) if ends(n, rounds)) for rounds in range(4)]
assert agent.config["recursion_limit"] == 9999
assert limits == [2, 4, 6, 8]
limits

# %% [markdown] lang="en"
# 9999, and a round is two steps. Plan with `2n + 2` for n rounds. [14_factory](14_factory.ipynb) finds out where the two more come from.
#
# ## 15. The sum
#
# How many of the 203 hold as they stand? Guess.

# %% tags=["version"]
assert {one.claim.id for one in ran} == {one.id for one in ledger.claims()}
assert len(ran) == 203
assert all(one.as_recorded for one in ran)
summary(ran)

# %% [markdown] lang="en"
# Most of what fell in A is line numbers and files; in B, sketches that are shorter than the source. The ideas stand: a model only asks, a graph routes, a node runs, a message answers.
#
# After an upgrade, `minilc articles --changed` prints the claims whose verdict is another one.
#
# # Places and releases
#
# ## 16. Where do A's line numbers come from?
#
# No release has all of A's lines. They come from three: langchain-core 0.2.12 for the tools, langchain 1.3.8 to 1.3.10 for the agent, langgraph-prebuilt 1.1.0 for ToolNode. Here is what A says, and where it is now.

# %% tags=["version"]
listed = places.listed("A")
for place, here, _ in listed:
    print(f"{place.what:<32}{place.lines.removeprefix('lines '):<12}{here.partition(' (')[0]}")

assert len({place.release for place, *_ in listed}) == 3

# %% [markdown] lang="en"
# `minilc where --article A` prints this in a terminal, with the releases, and says which bodies are other ones than in the newest record. A body that only moved, or got another comment, counts as the same.
#
# ## 17. What did one upgrade change?
#
# minilc keeps a *record* of two releases: B's langchain 1.2.15, and 1.5.2. A record holds the outcome of every comparison of `minilc check`, so two of them can be compared anywhere, without the libraries.

# %%
old, new = record.read("langchain-1.2.15"), record.read("langchain-1.5.2")
changes = list(record.compare(old, new))
for one in changes:
    if one.kind == record.BEHAVIOURS:
        print(f"{one.name:<38}", one.title)

# %% [markdown] lang="en"
# In words: more of what a tool returns passes unchanged, `infer_schema=False` keeps its description, an interrupt inside a wrapper really asks, ToolNode reads the graph's state, the loop no longer trips over a stale or failed structured answer. Some are only error texts.
#
# One change in full, and the functions that the articles name: how many still have the same body?

# %%
bodies = [one.name for one in changes if one.kind == record.BODIES]
same = [name for name in new["bodies"] if name not in bodies]
(stale,) = [one for one in changes if one.name == "factory.structured_stale"]
assert (stale.before, stale.after) == ("'one'", "'three'")
assert len(bodies) > len(same)
same

# %% [markdown] lang="en"
# `stale`: in 1.2.15 a second question could be answered with the first one's form. And only these bodies are the same; a changed one says *look here*, no more. For your own upgrade: `minilc check --record now.json` before it, `--against now.json` after it.
#
# # From 0.3 to 1.x
#
# ## 18. Two transcripts
#
# `AgentExecutor` was a `while` loop. Here it is in our words, with the outside that 0.3 had: what goes in, what comes out, and its two fixed texts. [14_factory](14_factory.ipynb) grows it into `create_agent`.


# %%
from langchain_core.messages import ToolMessage


def executor(model, tools, max_iterations=15):
    bound, by_name = model.bind_tools(tools), {one.name: one for one in tools}

    def invoke(given):
        steps, scratchpad = [], []
        for _ in range(max_iterations):
            asked = [*given.get("chat_history", []), ("user", given["input"]), *scratchpad]
            answer = bound.invoke(asked)
            if not answer.tool_calls:
                return given | {"output": answer.content, "intermediate_steps": steps}
            scratchpad.append(answer)
            for one in answer.tool_calls:
                if one["name"] in by_name:
                    seen = by_name[one["name"]].invoke(one["args"])
                else:
                    seen = f"{one['name']} is not a valid tool, try one of [{', '.join(by_name)}]."
                steps.append((one["name"], seen))
                scratchpad.append(ToolMessage(seen, tool_call_id=one["id"]))
        return given | {"output": "Agent stopped due to max iterations."}

    return invoke


# %% [markdown] lang="en"
# Seven conversations: what the model heard last, and what the user gets. First the loop; then 1.x, where it is other. How many are alike?

# %%
zero = calling(call("divide", by=0))
SCRIPTS = {
    "words alone": ["你好。"],
    "one call": [calling(), "晴。"],
    "two calls at once": [both, "都晴。"],
    "a wrong name": [calling(call("get_wether")), "抱歉。"],
    "wrong arguments": [calling(call(town="北京")), "抱歉。"],
    "a tool that raises": [zero, "抱歉。"],
    "no end": [calling()] * 3 + ["晴。"],
}


def in_03(script):
    model = scripted(*script)
    output = executor(model, [get_weather, divide], max_iterations=2)({"input": "北京？"})["output"]
    return model.requests[-1].messages[-1].content, output


def in_1(script):
    model = scripted(*script)
    agent = create_agent(model, [get_weather, divide]).with_config(recursion_limit=4)
    output = agent.invoke({"messages": [("user", "北京？")]})["messages"][-1].content
    return model.requests[-1].messages[-1].content, output


result = Probe(in_1, SCRIPTS)(in_03)
assert result.score == 4
result

# %% [markdown] lang="en"
# What was healthy is the same. Wrong arguments ended a run in 0.3, and are answered now. A tool's own error ends it in both. Too many rounds were a text that looked like an answer; now they are an exception. (The texts are those of 0.3.30.)
#
# ## 19. What an old program must change
#
# The old import fails at once, so that cannot be missed. The old *input* can.

# %%
with expect_error(ImportError, "cannot import name 'AgentExecutor' from 'langchain.agents' ..."):
    from langchain.agents import AgentExecutor
model = scripted("您好！")
create_agent(model, [get_weather]).invoke({"input": "北京今天天气怎么样？"})
assert model.requests[0].messages == []

# %% [markdown] lang="en"
# B does not say that nobody checks the input: the model was asked with no message at all. Search an old program for `"input"` first. Now both runs, side by side.

# %%
earlier = [("user", "我在北京。"), ("assistant", "好的。")]
before = scripted(calling(), "晴。")
loop = executor(before, [get_weather], max_iterations=2)
was = loop({"input": "天气怎么样？", "chat_history": earlier})
after = scripted(calling(), "晴。")
agent = create_agent(after, [get_weather], system_prompt="用中文回答。")
asked = {"messages": [*earlier, ("user", "天气怎么样？")]}
now = agent.invoke(asked, {"recursion_limit": 4})["messages"]

# %% [markdown] lang="en"
# The table for a migration. Each row is an assert: the old value, and what it is equal to now.

# %%
answers = [(one.name, one.content) for one in now if one.type == "tool"]
heard = [[one.content for one in model.requests[0].messages] for model in (before, after)]
ROWS = [
    ('given["input"]', '("user", ...) in messages', was["input"] == now[2].content),
    ('given["chat_history"]', "messages before it", [one[1] for one in earlier] == heard[1][1:3]),
    ('result["output"]', 'result["messages"][-1].content', was["output"] == now[-1].content),
    ('result["intermediate_steps"]', "its ToolMessages", was["intermediate_steps"] == answers),
    ("the prompt's system text", "system_prompt=", heard[1] == ["用中文回答。", *heard[0]]),
    ("{agent_scratchpad}", "nothing: the state has it", len(after.requests[1].messages) == 6),
    ("max_iterations=n", "recursion_limit: 2n", [ends(2 * n, n - 1) for n in (1, 2)] == [True] * 2),
    ("... is reached: a text", "a GraphRecursionError", not ends(4, 2)),
]
for old_way, new_way, is_so in ROWS:
    assert is_so, old_way
    print(f"{old_way:<30}{new_way}")

# %% [markdown] lang="en"
# `max_iterations` counts questions to the model: n of them are n - 1 rounds and a last word.
#
# ## 20. Exercises
#
# The first: write a check that can fail. Stuck? `ex.hint("articles-1")` helps, one step at a time.

# %%
ex.show("articles-1")

# %% stub="articles-1"

# %% [markdown] lang="en"
# The second is a check that says *holds*, whatever you do to the library.

# %%
ex.show("articles-2")

# %% stub="articles-2"

# %% [markdown] lang="en"
# The third: two records, and what an upgrade moved.

# %%
ex.show("articles-3")

# %% stub="articles-3"

# %% [markdown] lang="en"
# ## 21. Recap
#
# A claim about a library is worth what its check is worth: can it fail? The articles' ideas hold; their lines, some names and some short sketches do not. After an upgrade we do not read them again, we run them.
#
# Our weather question was asked as 0.3 did and as 1.x does, and got the same answer.

# %%
from IPython.display import display

assert was["output"] == now[-1].content == "晴。"
display(ex.quiz("articles-1"), ex.quiz("articles-2"))

# %% [markdown] lang="en"
# Next: [18_capstone](18_capstone.ipynb). Now build one yourself.
