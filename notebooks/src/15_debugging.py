# %% [markdown] lang="en"
# # Why did my agent not call the tool?
#
# An agent misbehaves, and nothing is red. Where do we look first? Article A ends with four questions, ten problems and six places to stop. We try all of them on the real library, and then eight patients are yours.
#
# |  |  |
# |---|---|
# | **Time** | 40 minutes, and 75 for the clinic |
# | **Difficulty** | medium |
# | **Before** | [14_factory](14_factory.ipynb); [01_messages](01_messages.ipynb): what closes a call |
# | **Articles** | A: the ten problems, and the six breakpoints of the summary |
# | **We use** | `minilc doctor`, from Python: `minilc/course/doctor` |
#
# These are the six places, in *your* installation.

# %% tags=["version"]
# %load_ext minilc.course.listings
from IPython.display import display
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_core.messages.tool import invalid_tool_call
from langchain_core.tools import tool
from minilc.course import draw, exercises as ex
from minilc.course.doctor import diagnose
from minilc.course.expect import expect_error
from minilc.course.upstream import where
from minilc.course.ward import QUESTION, Ward, names, said

ward = Ward()
PLACES = ["tool", "StructuredTool.from_function", "create_agent", "BaseChatModel.bind_tools"]
PLACES += ["_make_model_to_tools_edge", "ToolNode._execute_tool_sync"]
for name in PLACES:
    print(f"{name:<29}", where(name).upstream)

# %% [markdown] lang="en"
# ## 1. The real thing
#
# The tool of all notebooks, a call as a model makes it, and an agent on a script. `tool` and `create_agent` are LangChain's own. `chat` returns a pair: below, `chat(...)[1]` is the agent.

# %% source="minilc.course.ward:get_weather, call, chat"
from minilc.course.ward import call, chat, get_weather

# %% [markdown] lang="en"
# The scripted model keeps its requests. A user asks for the weather, and is not happy. What is wrong?

# %%
script = [[call("weather", city="北京")], "抱歉，我查不到天气。"]
model, agent = chat(script, [get_weather])
lost = agent.invoke(QUESTION)["messages"]
lost[-1].content

# %% [markdown] lang="en"
# No exception, no log. The tool is there, the model can call, and the user is told sorry. Staring at `get_weather` will not help: it is fine.
#
# ## 2. Four questions, by hand
#
# Article A ends with four questions. We ask them of what we have: the requests, the tools, the messages. (`names` lists the names of tools.)


# %%
def four_v0(model, tools, messages):
    by_name = {one.name: one for one in tools}
    calls = [one for message in messages for one in getattr(message, "tool_calls", [])]
    found = [one for one in calls if one["name"] in by_name]
    answers = [message.tool_call_id for message in messages if message.type == "tool"]
    return {
        "the model knows the tools": names(model.requests[-1].tools) == list(by_name),
        "the calls are right": all(
            one["args"].keys() <= by_name[one["name"]].args.keys() for one in found
        ),
        "ToolNode finds the tools": found == calls,
        "the answers came back": answers == [one["id"] for one in calls],
    }


four_v0(model, [get_weather], lost)

# %% [markdown] lang="en"
# The third says no: the model called `weather`, the tool is `get_weather`. A few lines found it. Do they find the next one? A token limit cut the model's answer in the middle of the arguments.

# %%
cut = invalid_tool_call(name="get_weather", args='{"city": "北', id="call_1")
model, agent = chat([AIMessage("", invalid_tool_calls=[cut])], [get_weather])
silent = agent.invoke(QUESTION)["messages"]
four_v0(model, [get_weather], silent), silent[-1].content

# %% [markdown] lang="en"
# Four times yes, and the user reads an empty text. A call whose JSON is broken stands in `invalid_tool_calls`, and every edge, and our function, looks at `tool_calls` alone.
#
# ## 3. The doctor
#
# `minilc doctor` asks the same four questions, and knows more ways to say no. It takes tools, messages in any form, a file, an agent, or a function that runs one.

# %% tags=["version"]
report = diagnose(silent, tools=[get_weather])
assert report.codes == ["broken-json"]
report

# %% [markdown] lang="en"
# What is wrong, where, why, the cure, and the place in your LangChain.
#
# ## 4. Ten problems
#
# Now article A's ten problems (from here on: A). `ward.examine(1, ...)` asks the doctor about problem 1. It prints the four answers on a line, and below it what was found. `2 no?` is a suspicion at question 2; a dash means that there was nothing to look at.
#
# ### Problem 1: no docstring
#
# A: without a docstring, `@tool` refuses. So it is.


# %%
def search(query: str) -> str:
    return f"3 pages on {query}"


with expect_error(ValueError, "Function must have a docstring if description not provided."):
    tool(search)
assert ward.examine(1, [search]) == ["tool-undefinable"]

# %% [markdown] lang="en"
# A calls the docstring a must. A `description` will do, too. And A is right that `"Search."` is not enough: the library takes it, the doctor does not.

# %%
assert ward.examine(1, [tool(description="Search.")(search)]) == ["description-says-nothing"]
cured = tool(description="Search product documents by a question in plain words.")(search)
assert ward.examine(1, [cured]) == []
cured.invoke("limits")

# %% [markdown] lang="en"
# ### Problem 2: the model never calls
#
# A's suspects: no tools were passed, or the model cannot call. A model that cannot often writes its call as text. Two sick agents and a healthy one; `ward.run` lets the doctor run them.

# %%
as_text = '{"name": "get_weather", "arguments": {"city": "北京"}}'
assert ward.run(2, chat(["我不知道。"], [])[1]) == ["no-tools"]
assert ward.run(2, chat([as_text], [get_weather])[1]) == ["call-only-in-text"]
assert ward.run(2, chat([[call("get_weather", city="北京")], "晴。"], [get_weather])[1]) == []

# %% [markdown] lang="en"
# A model class without `bind_tools` is no riddle: it raises, though without a word. And A says that `bind_tools` is reached only if there are tools. Not quite: the form of a structured answer is bound like a tool, even if there are no others.

# %%
from langchain.agents.structured_output import ToolStrategy
from langchain_core.language_models import GenericFakeChatModel

deaf = create_agent(GenericFakeChatModel(messages=iter([])), [get_weather])
with expect_error(NotImplementedError, ""):
    deaf.invoke(QUESTION)
assert ward.examine(2, deaf) == ["model-cannot-bind"]
form = ToolStrategy({"title": "Forecast", "type": "object", "properties": {}})
model, agent = chat([[call("Forecast")]], [], response_format=form)
agent.invoke(QUESTION)
assert names(model.requests[0].tools) == ["Forecast"]

# %% [markdown] lang="en"
# ### Problem 3: a tool that does not exist
#
# The run of part 1. A expects the words *is not registered with ToolNode*. Nobody ever reads them: the model gets another text, and may try again. The cure is one name, in the tool and in every prompt.

# %%
assert ward.examine(3, lost, tools=[get_weather]) == ["unknown-tool"]
assert lost[2].status == "error" and "registered" not in lost[2].content
assert ward.run(3, chat(script, [tool("weather")(get_weather.func)])[1]) == []
lost[2].content

# %% [markdown] lang="en"
# ### Problem 4: wrong arguments
#
# A's cure is a schema with bounds, like this one. The second tool has the schema too; look at its parameters.

# %% source="minilc.course.ward:SearchArgs, search_pages, search_misfit"
from minilc.course.ward import SearchArgs, search_misfit, search_pages

# %% [markdown] lang="en"
# The model wants 50 pages, then `"7"`. Does the run die? Is `"7"` taken?

# %%
tries = [[call("search_pages", f"call_{k}", query="limits", top_k=k)] for k in (50, "7")]
messages = chat([*tries, "好。"], [search_pages])[1].invoke(QUESTION)["messages"]
assert ward.examine(4, messages, tools=[search_pages]) == ["call-arguments-refused"]
print(messages[2].content, messages[4].content, sep="\n\n")

# %% [markdown] lang="en"
# It lives: the model reads what is wrong and mends it. `"7"` is taken, since pydantic makes a number of it.
#
# A names another cause of refused arguments: schema and function do not fit. That is no validation error at all. It ends the run.

# %%
with expect_error(TypeError, "search_misfit() got an unexpected keyword argument 'top_k'"):
    chat([[call("search_misfit", query="limits", top_k=7)]], [search_misfit])[1].invoke(QUESTION)
assert ward.examine(4, [search_misfit]) == ["schema-misfits-function"]
assert ward.examine(4, [search_pages]) == []

# %% [markdown] lang="en"
# ### Problem 5: an error in the tool ends the run
#
# A tool whose bank is closed, and a middleware that may help. `cached` is for problem 6.

# %% source="minilc.course.ward:pay_bill, answer_errors, cached"
from minilc.course.ward import answer_errors, cached, pay_bill

# %% [markdown] lang="en"
# A: look at ToolNode's `handle_tool_errors`, it is on or off. Which of the two is it in an agent?

# %%
paying = [[call("pay_bill", amount=5)], "银行关门了。"]
with expect_error(RuntimeError, "the bank is closed"):
    chat(paying, [pay_bill])[1].invoke(QUESTION)
assert ward.run(5, chat(paying, [pay_bill])[1]) == ["error-ends-run"]

# %% [markdown] lang="en"
# Neither. Wrong arguments were answered in problem 4; an error of the body goes up. And `create_agent` has no such switch. What it has is middleware.

# %%
with expect_error(TypeError, "create_agent() ... 'handle_tool_errors'"):
    create_agent(model, [pay_bill], handle_tool_errors=True)
assert ward.run(5, chat(paying, [pay_bill], middleware=[answer_errors])[1]) == []
said(chat(paying, [pay_bill], middleware=[answer_errors])[1])

# %% [markdown] lang="en"
# ### Problem 6: it ran, and the model has not heard
#
# `cached` answers from a cache. We let it give the answer an id of its own. A: then the call stays pending, and the edge sends it to the tools again. Guess how often `tools` runs.

# %%
asking = [[call("get_weather", city="北京")], "我还在等。"]
run = draw.record(chat(asking, [get_weather], middleware=[cached("cache_1")])[1], QUESTION)
assert ward.examine(6, run.messages, tools=[get_weather]) == ["wrong-id"]
assert run.steps == [["model"], ["tools"], ["model"]]

# %% [markdown] lang="en"
# Once. The edge that counts pending calls is the one *out of the model*; the way back does not look at ids. LangChain ends well, and a provider answers 400. The sick history, and the cured one:

# %%
cured = draw.record(chat(asking, [get_weather], middleware=[cached()])[1], QUESTION)
assert ward.examine(6, cured.messages, tools=[get_weather]) == []
display(draw.ledger(run), draw.ledger(cured))

# %% [markdown] lang="en"
# ### Problem 7: ToolNode finds no messages
#
# A graph by hand, whose messages are called `chat_history`.

# %% source="minilc.course.ward:Chat, by_hand"
from minilc.course.ward import Chat, by_hand

# %% [markdown] lang="en"
# A's error and A's cure are right. A forgets the edge: `tools_condition` has to be told as well (here it is), or it complains in other words.

# %%
from langgraph.prebuilt import tools_condition

history = {"chat_history": [("user", "北京？")]}
with expect_error(ValueError, "No message found in input"):
    by_hand(chat(asking, [])[0], [get_weather]).invoke(history)
assert ward.examine(7, by_hand(model, [get_weather])) == ["messages-key"]
with expect_error(ValueError, "No messages found in input state to tool_edge: ..."):
    tools_condition(history)

# %% [markdown] lang="en"
# And the cure.

# %%
cured = by_hand(chat(asking, [])[0], [get_weather], messages_key="chat_history")
assert ward.examine(7, cured) == []
assert cured.invoke(history)["chat_history"][2].content == "北京: 晴"

# %% [markdown] lang="en"
# ### Problem 8: calls in the wrong order
#
# The model writes an order and reads it, both in one message. Here the writer is slow: it waits until somebody has read.

# %% source="minilc.course.ward:shop"
from minilc.course.ward import shop

# %% [markdown] lang="en"
# A: the calls run at the same time, in one ToolNode. In an agent each call is even a task of its own. What A does not say: the answers stand in the order of the calls, so the history hides what happened. A's cure: two rounds.

# %%
writing, reading = call("create_order", order_id="O1"), call("query_order", "call_2", order_id="O1")
tools = shop(patience=5)
run = draw.record(chat([[writing, reading], "?"], tools)[1], QUESTION)
assert run.steps == [["model"], ["tools", "tools"], ["model"]]
assert [message.content for message in run.messages[2:4]] == ["O1 created", "O1: not found"]
assert ward.examine(8, run.messages, tools=tools) == ["order-assumed"]
rounds = [[writing], [reading], "好。"]
assert ward.run(8, chat(rounds, shop(patience=0))[1]) == []
said(chat(rounds, shop(patience=0))[1])

# %% [markdown] lang="en"
# ### Problem 9: an answer that nobody can read
#
# A warns of dicts and wants `json.dumps`. A dict becomes that JSON anyway. What JSON cannot write is the trouble: it becomes Python's `str`.


# %%
def orders(answer):
    query = tool("query_order", description="Query an order by its order id.")
    return chat([[reading], "?"], [query(lambda order_id: answer)])[1]


assert said(orders({"status": "已付"})) == said(orders('{"status": "已付"}'))
assert ward.run(9, orders(object())) == ["answer-is-repr"]
assert ward.run(9, orders({"status": "已付"})) == []

# %% [markdown] lang="en"
# ### Problem 10: the model says who you are
#
# `user_id` is a parameter, so the model fills it in. This one read *I am root*.


# %%
@tool
def query_order(user_id: str, order_id: str) -> str:
    """Query an order of the user by its order id."""
    return f"{order_id} of {user_id}"


forged = [[call("query_order", user_id="root", order_id="O1")], "好。"]
assert ward.examine(10, [query_order]) == ["identity-from-model"]
said(chat(forged, [query_order])[1])

# %% [markdown] lang="en"
# A takes it from the injected state: `state["user_id"]`. **Wait a minute.** Does an agent's state have a `user_id`? We pass one in. Guess.

# %%
from typing import Annotated

from langchain.agents import AgentState
from langgraph.prebuilt import InjectedState


@tool
def query_order(order_id: str, state: Annotated[dict, InjectedState]) -> str:
    """Query an order of the current user by its order id."""
    return f"{order_id} of {state['user_id']}"


known = QUESTION | {"user_id": "u7"}
with expect_error(KeyError, "'user_id'"):
    chat(forged, [query_order])[1].invoke(known)
assert ward.examine(10, chat(forged, [query_order])[1]) == ["injected-field-missing"]

# %% [markdown] lang="en"
# A's cure is half of one. A state drops what it has no field for, without a word. The other half is `state_schema`. Then the model may say what it likes.


# %%
class Shop(AgentState):
    user_id: str


_, agent = chat(forged, [query_order], state_schema=Shop)
assert ward.examine(10, agent) == []
said(agent, known)

# %% [markdown] lang="en"
# ## 5. The route
#
# Ten problems, each found and cured. Which question finds which? Drawn from what the doctor said: ask from the top, and stop at the first *no*.

# %%
assert sorted(ward.found) == list(range(1, 11))
ward.route()

# %% [markdown] lang="en"
# ## 6. Six places to stop
#
# When the doctor finds nothing, we look ourselves. A's summary names six places. Nobody needs to sit there: `visit` runs something, and notes what stands there when each function returns. `local` are the local variables of *your* LangChain.

# %% source="minilc.course.ward:noted, visit"
from minilc.course.ward import noted, visit

# %% [markdown] lang="en"
# First a healthy run, from the function to the last word.

# %%
healthy = visit(lambda: said(chat(asking, [tool(get_weather.func)])[1]))
for place, value in healthy:
    print(f"{place:<19}", value)

# %% [markdown] lang="en"
# `from_function` returns first: it is inside of `tool`. `bind_tools` and the edge come twice, once for each request. The edge gives a list of `Send`, and at the end a text, `__end__`.
#
# Now the run of part 1 beside it. The first place that surprises us is where to dig.

# %%
sick = visit(lambda: said(chat(script, [tool(get_weather.func)])[1]))
differs = [pair for pair in zip(healthy, sick, strict=True) if pair[0] != pair[1]]
for (place, value), (_, other) in differs:
    print(f"{place}:", *value, "|", *other)

# %% [markdown] lang="en"
# The edge sends a call of `weather`, and no such name stood at the third place, `create_agent`.
#
# **Wait a minute.** Can we stop there with `pdb`? At five of the six. The last one runs in a thread of a pool, and pdb watches one thread, as `sys.setprofile` does.

# %%
here = visit(lambda: said(chat(asking, [tool(get_weather.func)])[1]), everywhere=False)
assert dict(healthy).keys() - dict(here).keys() == {"_execute_tool_sync"}
assert where("tool").upstream.file != "langchain_core/tools.py"

# %% [markdown] lang="en"
# (And A's first file is a package by now.) So: in a terminal, a `breakpoint()` inside of your own tool; in an editor, a debugger that knows threads, with library code switched on. What stands at the last place:

# %% tags=["live"]
where("ToolNode._execute_tool_sync").show()

# %% [markdown] lang="en"
# ## 7. The clinic
#
# Eight patients, as their owners described them. Run the doctor on each in a new cell, read its code, cure it. The check runs your cure; in the end the doctor must find nothing. `ex.hint("debugging-1")` helps. The first four belong to questions 1 and 2.

# %%
display(*(ex.show(f"debugging-{number}") for number in (1, 2, 3, 4)))

# %% [markdown] lang="en"
# **Patient 1**, a tool: 400 at one provider, and never called at another. `diagnose(order_tool())`

# %% stub="debugging-1"

# %% [markdown] lang="en"
# **Patient 2**, a graph: its model says that it has no tools. `diagnose(build(model, [get_weather]))`

# %% stub="debugging-2"

# %% [markdown] lang="en"
# **Patient 3**, a tool: what the model sends does not arrive. `diagnose(settings_tool())`

# %% stub="debugging-3"

# %% [markdown] lang="en"
# **Patient 4**, an agent: it takes anybody for root. Remember that A's cure is half of one. `diagnose(build(model))`

# %% stub="debugging-4"

# %% [markdown] lang="en"
# The other four belong to questions 3 and 4. Two of them look well until they run: give the doctor a function that runs an agent, `diagnose(lambda: agent.invoke(QUESTION))`, on a script with a call.

# %%
display(*(ex.show(f"debugging-{number}") for number in (5, 6, 7, 8)))

# %% [markdown] lang="en"
# **Patient 5**, a graph: talk works, the first call is its last. `diagnose(build(model, [get_weather]))`

# %% stub="debugging-5"

# %% [markdown] lang="en"
# **Patient 6**, a tool: well in the service, ill in a script. The doctor must see a run, with `chat([[call("fetch_page", url="a.cn")], "好。"], [fetch_tool(str, str)])[1]`.

# %% stub="debugging-6"

# %% [markdown] lang="en"
# **Patient 7**, a history: some chats get a 400 for ever. `diagnose(sick_history())`

# %% stub="debugging-7"

# %% [markdown] lang="en"
# **Patient 8**, an agent: it should ask a human before it pays. It must be run as well, as `build(chat([[call("create_refund", order_id="O1")], "好。"], [])[0], str)`.

# %% stub="debugging-8"

# %% [markdown] lang="en"
# ## 8. Recap
#
# Four questions, asked in their order, find most faults; the silent ones need a closer look. An answer that LangChain accepts may still be one that a provider refuses. When nothing helps, stop at six places and look for the first value that surprises.
#
# From now on, for your own runs: `minilc doctor messages.json` in a terminal. Our weather question is healthy. Two quizzes to end with; `ex.answer("debugging-1", "a")` says why an option is right or wrong.

# %%
_, home = chat([[call("get_weather", city="北京")], "北京今天晴。"], [get_weather])
report = diagnose(lambda: home.invoke(QUESTION))
assert report.ok
display(report, ex.quiz("debugging-1"), ex.quiz("debugging-2"))

# %% [markdown] lang="en"
# Next: [16_production](16_production.ipynb). How do we write tools that need no doctor?
