# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     name: python3
# ---

# %% [markdown] lang="en"
# # What happens between the question and the answer?
#
# We ask an agent about the weather in Beijing. It answers. Somewhere in between, a Python function of ours was run. Who ran it? The model cannot: it is on another machine, and it has never seen our code.
#
# This notebook walks the whole way once, on the real LangChain. Then it walks it again on minilc, the small rebuild that this course is about.
#
# |  |  |
# |---|---|
# | **Time** | 25 minutes |
# | **Difficulty** | easy |
# | **Before** | Python; nothing of LangChain |
# | **Articles** | A: overview, the minimal example, the full chain, the summary; B: sections 1, 2 and 4 |
# | **After** | the layers, one notebook each: start with [01_messages](01_messages.ipynb) |
#
# The articles are two readings of LangChain's source, in Chinese: A walks through thirteen layers of a tool call, B is called *Function Call 是如何被执行的*. You need neither.
#
# No API key is needed, here or later. The model is played by a script. Everything else is real.

# %%
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from minilc.chat_models import ScriptExhausted
from minilc.course import draw, widgets
from minilc.course.expect import expect_error
from minilc.course.scripted import ScriptedChatModel

# %% [markdown] lang="en"
# ## 1. The real thing
#
# A function, and an agent that may use it. The script says what the model will answer: first it asks for the tool, then it speaks.


# %%
@tool
def get_weather(city: str) -> str:
    """Get current weather for a city."""
    return f"{city} is sunny, 28C"


args = {"city": "北京"}
call = {"name": "get_weather", "args": args, "id": "call_1", "type": "tool_call"}
model = ScriptedChatModel([AIMessage("", tool_calls=[call]), AIMessage("北京今天晴，28 度。")])
agent = create_agent(model, [get_weather])
result = agent.invoke({"messages": [HumanMessage("北京今天天气怎么样？")]})
result["messages"][-1].content

# %% [markdown] lang="en"
# One question in, one answer out. But the state that comes back holds more than the answer. How many messages do you expect?

# %%
for message in result["messages"]:
    calls = getattr(message, "tool_calls", [])
    print(f"{message.type:<6}", message.content or calls)

assert [message.type for message in result["messages"]] == ["human", "ai", "tool", "ai"]

# %% [markdown] lang="en"
# Four. The model spoke twice, and between its two messages stands one that no person and no model wrote: the tool's.
#
# Here are the same four messages as a sequence: who says what to whom, in which order.

# %%
draw.sequence(result["messages"])

# %% [markdown] lang="en"
# So a tool call is not a model that runs a function. It is **six actions**: define the tool, bind it to the model, let the model ask, route the request, execute it here, and hand the result back as a message. We now look at each of them.
#
# ## 2. Define: a function becomes a tool
#
# The decorator takes our function apart. What does it keep?

# %%
print(type(get_weather).__name__, "|", get_weather.name, "|", get_weather.description)
get_weather.args

# %% [markdown] lang="en"
# The name, the docstring, and the parameters with their types. That is all a model can ever know of a tool. The function itself is kept too, but it stays with us.

# %%
assert get_weather.name == "get_weather"
assert get_weather.func("上海") == "上海 is sunny, 28C"
with expect_error(ValueError, "Function must have a docstring if description not provided."):
    tool(lambda city: city)

# %% [markdown] lang="en"
# Without a docstring or a description there is no tool: a model chooses by it. [02_schema](02_schema.ipynb), [04_structured](04_structured.ipynb) and [05_convert](05_convert.ipynb) build this part.
#
# ## 3. Bind: the model is told
#
# Our scripted model keeps every request that it was sent. This is what stood in the first one, as a provider gets it.

# %%
request = model.requests[0]
request.tools

# %% [markdown] lang="en"
# **JSON. No function, no code.** And the tools go along with *each* request, not once at the start: a model remembers nothing.

# %%
assert [len(request.tools) for request in model.requests] == [1, 1]
assert request.tools[0]["function"]["parameters"]["required"] == ["city"]
assert "sunny" not in str(request.tools)

# %% [markdown] lang="en"
# That answers article A's first question, *does the model know the tool?* We do not guess: we look at the request. [06_function_calling](06_function_calling.ipynb) and [07_chat_models](07_chat_models.ipynb) build this part.
#
# ## 4. Ask: the model answers with a call
#
# This is the second message. Its text is empty. What counts is in `tool_calls`.

# %%
asking = result["messages"][1]
asking.tool_calls

# %% [markdown] lang="en"
# A name, some arguments, and an id. It is a wish and not a deed: after this message, nothing has run yet. We can check that, with a tool that counts.

# %%
ran = []


@tool
def counted(city: str) -> str:
    """Get current weather for a city."""
    ran.append(city)
    return "sunny"


wish = AIMessage("", tool_calls=[call | {"name": "counted"}])
answer = ScriptedChatModel([wish]).bind_tools([counted]).invoke("北京今天天气怎么样？")
assert answer.tool_calls[0]["name"] == "counted"
assert ran == []

# %% [markdown] lang="en"
# The model asked, and nobody came. The second question is *is the call right?* Here: does the name exist, do the arguments fit? [01_messages](01_messages.ipynb) builds these messages.
#
# ## 5. Route: a graph decides
#
# `create_agent` makes a graph. Its nodes are the model and the tools. We would like to see which way our run took through it, so we run the agent once more. What will the model say this time?

# %%
with expect_error(
    ScriptExhausted, "The script has no answer to request 3, after '北京今天天气怎么样？'."
):
    agent.invoke({"messages": [HumanMessage("北京今天天气怎么样？")]})

# %% [markdown] lang="en"
# Nothing: a script does not make something up. We write down how the agent is made, so that each run gets a fresh script. `lc` is where the names come from. Here it will be LangChain.


# %%
def weather_agent(lc):
    """The weather agent of the articles, in the world `lc`."""
    answers = [lc.AIMessage("", tool_calls=[call]), lc.AIMessage("北京今天晴，28 度。")]
    return lc.create_agent(lc.ScriptedChatModel(answers), [lc.tool(get_weather.func)])


# %% [markdown] lang="en"
# Now we can record a run and draw it. Solid edges are always taken, dashed ones only under a condition. The numbers give the order.

# %%
from minilc.course.worlds import LANGCHAIN, MINILC

question = {"messages": [("user", "北京今天天气怎么样？")]}
run = draw.record(weather_agent(LANGCHAIN), question)
draw.graph(weather_agent(LANGCHAIN), taken=run)

# %% [markdown] lang="en"
# The model answered with a call, so the graph went to `tools`. Then it went back to `model`. The second answer had no call, so the run ended. No `if` in our code chose that.

# %%
assert run.steps == [["model"], ["tools"], ["model"]]

# %% [markdown] lang="en"
# What goes along the edge to `tools` is one call. With two calls in a message there are two such sends, and the tools run side by side. [08_branch](08_branch.ipynb) and [09_state](09_state.ipynb) build the graph.
#
# ## 6. Execute: the only place where our code runs
#
# The node called `tools` is a `ToolNode`. It is a register, from names to tools.

# %%
from langgraph.prebuilt import ToolNode

node = ToolNode([get_weather])
assert list(node.tools_by_name) == ["get_weather"]
assert node.tools_by_name["get_weather"] is get_weather

# %% [markdown] lang="en"
# It looks the name up and calls `invoke` on what it finds. This is the deed. We do it by hand, with the call that the model wrote.

# %%
answer = get_weather.invoke(call)
assert isinstance(answer, ToolMessage)
answer

# %% [markdown] lang="en"
# And a name that is not in the register? Article A's third question: *does ToolNode find the tool?* Guess: does the run crash?

# %%
misspelt = ScriptedChatModel([AIMessage("", tool_calls=[call | {"name": "weather"}]), "Sorry."])
sorry = create_agent(misspelt, [get_weather]).invoke({"messages": [HumanMessage("北京?")]})
assert sorry["messages"][2].status == "error"
sorry["messages"][2].content

# %% [markdown] lang="en"
# It does not. The error is written down as an answer, and the model can read it and try again. Which errors end like this and which end the run is the subject of [10_tool_errors](10_tool_errors.ipynb). [03_base](03_base.ipynb), [11_injection](11_injection.ipynb) and [12_tool_node](12_tool_node.ipynb) build the rest.
#
# ## 7. Hand back: the answer finds its call
#
# A model reads messages and nothing else. So what the function returned is in the history now. One thing ties it to the question.

# %%
assert run.messages[2].tool_call_id == run.messages[1].tool_calls[0]["id"] == "call_1"
draw.ledger(run.messages)

# %% [markdown] lang="en"
# Every call must find its answer, by id. This is the fourth question: *did the result become a ToolMessage with the call's id?* Here is what a history looks like when it did not.

# %%
broken = [*run.messages[:2], ToolMessage("28C", name="get_weather", tool_call_id="call_9")]
draw.ledger(broken)

# %% [markdown] lang="en"
# One call without an answer, one answer without a call. LangChain does not complain about it; a provider does. The last step is small: the model is called again, with the longer history.

# %%
lengths = [len(request.messages) for request in model.requests[:2]]
assert lengths == [1, 3]
assert model.requests[1].messages[-1].content == "北京 is sunny, 28C"

# %% [markdown] lang="en"
# ## 8. The map
#
# Six actions, and the four questions that find nearly every fault.
#
# | action | what comes of it | the question | layers |
# |---|---|---|---|
# | define | a name, a description, a schema | does the model know the tool? | 2, 4, 5 |
# | bind | JSON in every request | does the model know the tool? | 6, 7 |
# | ask | `AIMessage.tool_calls` | is the call right? | 1, 7 |
# | route | `Send("tools", [call])` | does ToolNode find the tool? | 8, 9, 14 |
# | execute | `tool.invoke(call)` | does ToolNode find the tool? | 3, 10, 11, 12, 13 |
# | hand back | a `ToolMessage` with the call's id | did the result come back? | 1, 12, 14 |
#
# ## 9. The same, rebuilt
#
# Now the other world. `minilc` has the same names. We wrote `weather_agent(lc)` so that it takes a world; so we can just run it there.

# %%
import minilc

rebuilt = draw.record(weather_agent(MINILC), question)
assert type(rebuilt.messages[0]) is minilc.HumanMessage
assert rebuilt.steps == run.steps
rebuilt

# %% [markdown] lang="en"
# Both runs, side by side. In JupyterLab there is a slider below: move it with the arrow keys, and watch the route, the messages and the open call.

# %%
widgets.stepper(rebuilt, run)

# %% [markdown] lang="en"
# Looking alike is not enough. `twin` runs one function in both worlds and compares all that comes out: types, texts, arguments, ids. We ask for the messages, step by step.

# %%
from minilc.course.twin import twin


def step_by_step(lc):
    return list(weather_agent(lc).stream(question, stream_mode="values"))


result = twin(step_by_step, title="the weather agent, step by step")
assert result.verdict == "EQUAL"
result

# %% [markdown] lang="en"
# Equal at every step. From here on we build it ourselves. `minilc check`, in a terminal, runs several hundred such comparisons against the LangChain that you have installed.
#
# ## 10. The course
#
# Which notebook stands next to which part of the articles. Read them by their numbers, or begin where it hurts.
#
# | article A | notebooks |
# |---|---|
# | layers 1 and 2 | [05_convert](05_convert.ipynb), [04_structured](04_structured.ipynb), [02_schema](02_schema.ipynb) |
# | 3 and 4 | [14_factory](14_factory.ipynb), [06_function_calling](06_function_calling.ipynb), [07_chat_models](07_chat_models.ipynb) |
# | 5 and 6 | [08_branch](08_branch.ipynb), [09_state](09_state.ipynb) |
# | 7 to 11 | [12_tool_node](12_tool_node.ipynb), [11_injection](11_injection.ipynb), [10_tool_errors](10_tool_errors.ipynb), [13_middleware](13_middleware.ipynb) |
# | 12 and 13 | [03_base](03_base.ipynb), [01_messages](01_messages.ipynb) |
#
# Four more use what the layers have built. In a terminal, `minilc doctor`, `minilc articles` and `minilc check` do the same for your own agent and your own LangChain.

# %% [markdown] lang="en"
# | article A | notebooks |
# |---|---|
# | ten problems | [15_debugging](15_debugging.ipynb) |
# | six advices | [16_production](16_production.ipynb) |
# | every claim, of B too | [17_articles](17_articles.ipynb) |
# | a graph by hand | [18_capstone](18_capstone.ipynb): your own agent |
#
# ## 11. Recap
#
# A model only asks. A graph decides where the wish goes, and a node in our own process runs the function. The result goes back as a message with the id of the call, and the model reads it in its next request.
#
# Before we go on: some cells of the next notebooks begin with a line like `# minilc/messages.py: ...`. They show minilc's own text. Change it and run the cell, and minilc changes in that notebook; run the old text, and all is as it was.
#
# **Next:** [01_messages](01_messages.ipynb).

# %%
assert step_by_step(MINILC)[-1]["messages"][-1].text == "北京今天晴，28 度。"
