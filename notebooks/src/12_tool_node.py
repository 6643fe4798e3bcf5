# %% [markdown] lang="en"
# # Who runs the tools?
#
# The model has asked for a tool. A node of the graph takes the wish and turns it into an answer. What must it know, what may it be given, and what if the model asks for three things at once?
#
# |  |  |
# |---|---|
# | **Time** | 40 minutes, and 35 for the exercises |
# | **Difficulty** | medium |
# | **Before** | [03_base](03_base.ipynb): one call of one tool; [08_branch](08_branch.ipynb) and [09_state](09_state.ipynb): `Send`, `Command`, the graph; [10_tool_errors](10_tool_errors.ipynb); [11_injection](11_injection.ipynb) |
# | **Articles** | A, layers 7 to 13 |
# | **We build** | layer 12, `minilc/tool_node.py` |
#
# This is where the real thing stands in *your* installation. `where("ToolNode._parse_input").show()` shows its text.

# %% tags=["version"]
# %load_ext minilc.course.listings
from minilc.course import cases, check, draw, exercises as ex, widgets
from minilc.course.expect import expect_error
from minilc.course.layers import layer
from minilc.course.probe import Probe
from minilc.course.upstream import where

for name in ["ToolNode", "ToolNode._parse_input", "ToolNode._run_one", "tools_condition"]:
    print(f"{name:<22}", where(name).upstream)

# %% [markdown] lang="en"
# ## 1. The real thing
#
# A function, the message in which a model asks for it, and a node that has the function. We call the node.

# %%
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.prebuilt import ToolNode


def weather(city: str, days: int = 1) -> dict:
    """The weather of a city."""
    if city == "Atlantis":
        raise LookupError("there is no such city")
    return {"city": city, "days": days}


def call(name, id="call_1", **args):
    return {"name": name, "args": args, "id": id, "type": "tool_call"}


question = HumanMessage("北京今天天气怎么样？")
asking = AIMessage("", tool_calls=[call("weather", city="北京")])
node = ToolNode([weather])
with expect_error(ValueError, "Missing required config key 'N/A' for 'tools'."):
    node.invoke({"messages": [question, asking]})

# %% [markdown] lang="en"
# The error does not say what is missing: **a graph around the node**. A graph hands each node a `Runtime`, with the store and the context, and ToolNode insists on it.

# %%
from langgraph.graph import START, MessagesState, StateGraph

builder = StateGraph(MessagesState).add_node("tools", node).add_edge(START, "tools")
result = builder.compile().invoke({"messages": [question, asking]})
[(message.type, message.content) for message in result["messages"]]

# %% [markdown] lang="en"
# In a graph it runs. To look at the node alone, we put a `Runtime` where a graph would put it. The key is LangGraph's own affair: use it to look, not in a program.

# %%
from langgraph.runtime import Runtime

by_hand = {"configurable": {"__pregel_runtime": Runtime()}}
node.invoke({"messages": [question, asking]}, by_hand)

# %% [markdown] lang="en"
# One message, not three. **A node returns an update.** The graph puts it behind the messages that are there ([09_state](09_state.ipynb)).
#
# ## 2. The naive version
#
# The last message has a call. The call has a name and arguments. We look the function up and call it.


# %%
class NodeV0:
    def __init__(self, tools):
        self.functions = {one.__name__: one for one in tools}

    def invoke(self, input):
        one = input["messages"][-1].tool_calls[0]
        return self.functions[one["name"]](**one["args"])


# %% [markdown] lang="en"
# It finds the function and runs it. But a model that makes a spelling mistake ends our program.

# %%
naive = NodeV0([weather])
assert naive.invoke({"messages": [asking]}) == {"city": "北京", "days": 1}
with expect_error(KeyError, "'wether'"):
    naive.invoke({"messages": [AIMessage("", tool_calls=[call("wether", city="北京")])]})

# %% [markdown] lang="en"
# ### The probe
#
# We grow this in eight steps, along article A's layers 7 to 13. Five tools: one wants to know the user, two write to the state, one of those forgets to answer.

# %%
from typing import Annotated

from langchain.agents import create_agent
from langchain_core.tools import BaseTool, InjectedToolCallId, tool
from langgraph.prebuilt import InjectedState
from langgraph.types import Command
from minilc.course.scripted import ScriptedChatModel


def home(user: Annotated[str, InjectedState("user")]) -> str:
    """Where the user lives."""
    return f"{user}: 北京"


def places() -> list[str]:
    """The places that we know."""
    return ["北京", "上海"]


def move(city: str, call_id: Annotated[str, InjectedToolCallId]) -> Command:
    """Move to another city."""
    answer = ToolMessage("moved", tool_call_id=call_id)
    return Command(update={"city": city, "messages": [answer]})


def forget() -> Command:
    """Forget the city."""
    return Command(update={"city": None})


# %% [markdown] lang="en"
# And fifteen inputs. After each step all of them go to our node and to LangChain's.

# %%
TOOLS = [weather, home, places, move, forget]
beijing = call("weather", city="北京")


def state(*calls):
    return {"messages": [question, AIMessage("", tool_calls=list(calls))], "user": "小明"}


INPUTS = {
    "a state": state(beijing),
    "two calls": state(beijing, call("weather", "call_2", city="上海")),
    "messages alone": [question, asking],
    "a call alone": [beijing],
    "no messages": {"messages": []},
    "an unknown tool": state(call("wether", city="北京")),
    "a tool that fails": state(call("weather", city="Atlantis")),
    "the user's home": state(call("home")),
    "a forged user": state(call("home", user="root")),
    "a wrong argument": state(call("weather", city="北京", days="soon")),
    "a list of texts": state(call("places")),
    "a call without id": state(call("weather", None, city="北京")),
    "a Command": state(call("move", city="上海")),
    "one without answer": state(call("forget")),
    "a Command and a text": state(beijing, call("move", "call_2", city="上海")),
}
real = ToolNode(TOOLS)
probe = Probe(lambda given: real.invoke(given, by_hand), INPUTS)

# %% [markdown] lang="en"
# How many of the fifteen does the naive node get right? Guess before you look.

# %%
result = probe(NodeV0(TOOLS).invoke)
assert result.score == 1
result

# %% [markdown] lang="en"
# One: where the function fails, both let the error through. Read the right column once, from top to bottom. It is what we are going to build.
#
# ## 3. The registry
#
# A tool has a name of its own; functions are made tools first. A tool answers a call with a `ToolMessage` (layer 3), and the node wraps that into an update.


# %%
class NodeV1:
    def __init__(self, tools):
        made = [one if isinstance(one, BaseTool) else tool(one) for one in tools]
        self.tools_by_name = {one.name: one for one in made}

    def invoke(self, input):
        calls, state = self._parse_input(input)
        return self._combine_tool_outputs(self._run_all(calls, state), state)

    def _parse_input(self, input):
        return input["messages"][-1].tool_calls[:1], input

    def _run_all(self, calls, state):
        return [self._run_one(one, state) for one in calls]

    def _run_one(self, call, state):
        return self._execute_tool_sync(self.tools_by_name[call["name"]], call, state)

    def _execute_tool_sync(self, tool, call, state):
        return tool.invoke(call)

    def _combine_tool_outputs(self, outputs, state):
        return {"messages": outputs}


# %% [markdown] lang="en"
# All names but `_run_all` are LangChain's own. Each method is as naive as it can be; each step from now on replaces one of them.
#
# Two tools with one name? LangChain's registry is a dict as well: the later one replaces the other, without a word.

# %%
result = probe(NodeV1(TOOLS).invoke)
assert result.score == 2
later = tool(weather)
assert ToolNode([weather, later]).tools_by_name == {"weather": later}
[row.input for row in result.rows if row.equal]

# %% [markdown] lang="en"
# ## 4. What has it been given?
#
# A node's input is a state. But a state may be a dict, an object or the messages alone, and `Send("tools", [call])` brings calls and nothing else.

# %%
from types import SimpleNamespace

SHAPES = {
    "a dict": {"messages": [question, asking]},
    "an object": SimpleNamespace(messages=[question, asking]),
    "messages": [question, asking],
    "calls": [beijing],
    "a call with its state": {
        "__type": "tool_call_with_context",
        "tool_call": beijing,
        "state": {"messages": [question, asking]},
    },
}
updates = {name: node.invoke(shape, by_hand) for name, shape in SHAPES.items()}
assert updates["messages"] == updates["a dict"]["messages"] == updates["calls"]["messages"]
history = ToolNode([weather], messages_key="history").invoke({"history": [asking]}, by_hand)
assert history == {"history": updates["messages"]}
[f"{name}: {type(update).__name__}" for name, update in updates.items()]

# %% [markdown] lang="en"
# Five shapes, one answer. Whoever gives a list of messages gets a list; all others get a dict, with `messages_key` as its key. The fifth shape is how LangChain 1.2 sent calls; it is still read.
#
# We take three of them. Calls are known by their type; otherwise the last `AIMessage` counts.


# %%
class NodeV2(NodeV1):
    def _parse_input(self, input):
        last = input[-1] if isinstance(input, list) else None
        if isinstance(last, dict) and last.get("type") == "tool_call":
            return input, {}
        messages = input if isinstance(input, list) else input.get("messages")
        if not messages:
            raise ValueError("No message found in input")
        for message in reversed(messages):
            if isinstance(message, AIMessage):
                return message.tool_calls, input
        raise ValueError("No AIMessage found in input")


# %%
result = probe(NodeV2(TOOLS).invoke)
assert result.score == 5
[row.input for row in result.rows if row.equal]

# %% [markdown] lang="en"
# Three more. *Messages alone* is missing: we give a dict where a list is wanted. That is the last step.
#
# Two errors of hand-written graphs come from here, and their texts do not say much. What is wrong with each of these inputs?

# %%
with expect_error(ValueError, "No message found in input"):
    node.invoke({"chat_history": [asking]}, by_hand)
with expect_error(ValueError, "No AIMessage found in input"):
    node.invoke([{"name": "weather", "args": {"city": "北京"}, "id": "call_1"}], by_hand)

# %% [markdown] lang="en"
# In the first, the node was not told its `messages_key`. The second is a call without its type: it is taken for a message.
#
# **Wait a minute.** The *last* AIMessage, wherever it stands? What if somebody has answered its calls already?

# %%
done = ToolMessage("晴", tool_call_id="call_1")
again = node.invoke([question, asking, done, HumanMessage("谢谢")], by_hand)
assert [message.tool_call_id for message in again] == ["call_1"]
again

# %% [markdown] lang="en"
# They run again. ToolNode does not look for answers; that is the business of the edge in front of it. `create_agent` has such an edge. Exercise 3 writes one for a graph of your own.
#
# ## 5. One call
#
# A name that nobody has is no error of the program. It is an answer: the model reads it and tries again.


# %%
def failed(text, call):
    return ToolMessage(text, name=call["name"], tool_call_id=call["id"], status="error")


class NodeV3(NodeV2):
    def _run_one(self, call, state):
        if call["name"] in self.tools_by_name:
            return super()._run_one(call, state)
        known = ", ".join(self.tools_by_name)
        text = f"Error: {call['name']} is not a valid tool, try one of [{known}]."
        return failed(text, call)


# %%
result = probe(NodeV3(TOOLS).invoke)
assert result.score == 6
NodeV3(TOOLS).invoke(INPUTS["an unknown tool"])["messages"][0].content

# %% [markdown] lang="en"
# The text lists the names that exist. Articles A and B quote other words for it (*is not registered with ToolNode*, *Requested tool ... not available*). No model will read those.
#
# ## 6. Many calls
#
# Our node has a loop: one call, then the next. The probe cannot see that. So we make two tools that only work side by side: `slow` waits until `quick` is over, or until its patience is. `lanes` notes what begins and ends, in order.

# %%
from threading import Event


def race(make, patience=10):
    lanes, begun, over = draw.Lanes(), Event(), Event()

    def slow(city: str) -> str:
        """Wait for the quick one."""
        with lanes.run(city):
            begun.set()
            over.wait(patience)
        return city

    def quick(city: str) -> str:
        """Begin after the slow one."""
        begun.wait(patience)
        with lanes.run(city):
            pass
        over.set()
        return city

    both = state(call("slow", city="北京"), call("quick", "call_2", city="上海"))
    return lanes, [one.content for one in make([slow, quick])(both)["messages"]]


def real_node(tools, **config):
    return lambda given: ToolNode(tools).invoke(given, by_hand | config)


# %%
lanes, answers = race(lambda tools: NodeV3(tools).invoke, patience=0.1)
assert lanes.ended == answers == ["北京", "上海"]
lanes.drawing("NodeV3: one after the other", answers)

# %% [markdown] lang="en"
# 北京 waited in vain, for 上海 had not begun. Now LangChain's node. What changes in the picture: the bars, the answers, or both?

# %%
lanes, answers = race(real_node)
assert lanes.ended == ["上海", "北京"]
assert answers == ["北京", "上海"]
lanes.drawing("ToolNode: side by side", answers)

# %% [markdown] lang="en"
# The bars. **The order of execution is free; the order of the answers is that of the calls.** 上海 was done first and is answered second. A pool of threads does both: its `map` runs at once and returns in order.

# %%
from concurrent.futures import ThreadPoolExecutor


class NodeV4(NodeV3):
    def _run_all(self, calls, state):
        with ThreadPoolExecutor() as pool:
            return list(pool.map(lambda one: self._run_one(one, state), calls))


lanes, answers = race(lambda tools: NodeV4(tools).invoke)
assert lanes.ended == ["上海", "北京"] and answers == ["北京", "上海"]
two_calls = INPUTS["two calls"]
assert await real.ainvoke(two_calls, by_hand) == real.invoke(two_calls, by_hand)
assert probe(NodeV4(TOOLS).invoke).score == 6

# %% [markdown] lang="en"
# The score stays at six: only the waiting got shorter. The price: no tool may count on another one of the same message. Awaited, LangChain's node gives the same answers in the same order.
#
# `max_concurrency` in the config gives the order back.

# %%
lanes, answers = race(lambda tools: real_node(tools, max_concurrency=1), patience=0.1)
assert lanes.ended == ["北京", "上海"]
lanes.drawing("ToolNode with max_concurrency=1", answers)

# %% [markdown] lang="en"
# **Wait a minute.** What if one of two calls fails while the other one succeeds? The first pays, the second asks for Atlantis.

# %%
paid = []


def pay(amount: int) -> str:
    """Pay."""
    paid.append(amount)
    return "paid"


with expect_error(LookupError, "there is no such city"):
    two = state(call("pay", amount=5), call("weather", "call_2", city="Atlantis"))
    ToolNode([pay, weather]).invoke(two, by_hand)
assert paid == [5]

# %% [markdown] lang="en"
# The money is gone, and nobody will hear of it: no update, no answer. One error that is not handled takes the answers of all with it ([10_tool_errors](10_tool_errors.ipynb)).
#
# And `create_agent`? It sends each call alone, so that its ToolNode never sees two. The graph runs the node twice in one step.

# %%
asking_twice = two_calls["messages"][-1]
agent = create_agent(ScriptedChatModel([asking_twice, "都是晴天。"]), [weather])
run = draw.record(agent, {"messages": [question]})
assert run.steps == [["model"], ["tools", "tools"], ["model"]]

# %% [markdown] lang="en"
# ## 7. What the model may not fill
#
# `home` has a parameter that the state fills. We find such parameters once, when the node is made, and put the values in last: whatever the model has sent under that name is replaced.

# %%
from typing import get_type_hints


class NodeV5(NodeV4):
    def __init__(self, tools):
        super().__init__(tools)
        self.injected = {name: self._marks(one) for name, one in self.tools_by_name.items()}

    def _marks(self, tool):
        hints = get_type_hints(tool.func, include_extras=True).items()
        marks = [(name, m) for name, hint in hints for m in getattr(hint, "__metadata__", ())]
        return {name: mark.field for name, mark in marks if isinstance(mark, InjectedState)}

    def _execute_tool_sync(self, tool, call, state):
        fields = self.injected[call["name"]]
        values = {name: state[field] if field else state for name, field in fields.items()}
        args = call["args"] | values
        return super()._execute_tool_sync(tool, call | {"args": args}, state)


assert probe(NodeV5(TOOLS).invoke).score == 8

# %% [markdown] lang="en"
# Eight: `root` did not get through. The rest (stores, `ToolRuntime`, defaults) is [11_injection](11_injection.ipynb).
#
# ## 8. Arguments that do not fit
#
# The tool's schema refuses `"soon"`. The model can mend that, so it must read what is wrong: the argument and pydantic's words, but nothing about the injected ones.

# %%
from pydantic import ValidationError


class NodeV6(NodeV5):
    def _execute_tool_sync(self, tool, call, state):
        try:
            return super()._execute_tool_sync(tool, call, state)
        except ValidationError as error:
            mine = [e for e in error.errors() if e["loc"][0] not in self.injected[call["name"]]]
            told = "\n".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in mine)
            start = f"Error invoking tool '{call['name']}' with kwargs {call['args']} with error:"
            return failed(f"{start}\n {told}\n Please fix the error and try again.", call)


assert probe(NodeV6(TOOLS).invoke).score == 9
print(NodeV6(TOOLS).invoke(INPUTS["a wrong argument"])["messages"][0].content)

# %% [markdown] lang="en"
# Nine, and this is what the model reads. All other errors still end the run, in LangChain too: article A's `handle_tool_errors` is on, by default, for wrong arguments alone ([10_tool_errors](10_tool_errors.ipynb)).
#
# ## 9. What may a tool return?
#
# Layer 3 has made a message of nearly everything. What is left for the node to look at? Here is LangChain's.


# %%
def answer(value):
    """The message that answers a call of a tool that returns this value."""
    give = tool("give", description="Give.")(lambda: value)
    return ToolNode([give]).invoke(state(call("give")), by_hand)["messages"][0]


blocks = [{"type": "text", "text": "晴"}]
for value in ["晴", None, {"city": "北京"}, ["北京", "上海"], blocks]:
    print(repr(value), "becomes", repr(answer(value).content))
assert tool(places).invoke(call("places")).content == ["北京", "上海"]
assert answer(ToolMessage("done", tool_call_id="call_9")).tool_call_id == "call_9"

# %% [markdown] lang="en"
# Only the list of texts is the node's work: the tool itself leaves the list, the node makes JSON of it. A dict is JSON already, so article A's `json.dumps` changes nothing.
#
# A `ToolMessage` passes as it is, even with a wrong id: then the call stays unanswered, and a provider refuses the next request. With a `Command` the node is careful: it must hold the answer to its call, which then gets the tool's name.
#
# And a bare value is refused: it can only come from a call without an id, which the tool takes for plain arguments.

# %%
import json

MISSING = (
    "Expected to have a matching ToolMessage in Command.update for tool '{}', got: {}. "
    "Every tool call (LLM requesting to call a tool) in the message history MUST have a "
    "corresponding ToolMessage. You can fix it by modifying the tool to return "
    '`Command(update={{"messages": [ToolMessage("Success", tool_call_id=tool_call_id), ...]}}, '
    "...)`."
)


class NodeV7(NodeV6):
    def _execute_tool_sync(self, tool, call, state):
        value = super()._execute_tool_sync(tool, call, state)
        if isinstance(value, Command):
            return self._checked(value, call)
        if not isinstance(value, ToolMessage):
            raise TypeError(f"Tool {call['name']} returned unexpected type: {type(value)}")
        texts = isinstance(value.content, list) and isinstance(value.content[0], str)
        text = json.dumps(value.content, ensure_ascii=False) if texts else value.content
        return value.model_copy(update={"content": text})

    def _checked(self, command, call):
        messages = command.update.get("messages", [])
        if not any(one.tool_call_id == call["id"] for one in messages):
            raise ValueError(MISSING.format(call["name"], messages))
        named = [one.model_copy(update={"name": call["name"]}) for one in messages]
        return Command(update=command.update | {"messages": named}, goto=command.goto)


assert probe(NodeV7(TOOLS).invoke).score == 12

# %% [markdown] lang="en"
# ## 10. One update of many answers
#
# Twelve. Messages go under `messages`, or stay a list if a list came in. As soon as one `Command` is among them, each answer becomes an update of its own.


# %%
class NodeV8(NodeV7):
    def _combine_tool_outputs(self, outputs, state):
        def update(messages):
            return messages if isinstance(state, list) else {"messages": messages}

        if not any(isinstance(one, Command) for one in outputs):
            return update(outputs)
        return [one if isinstance(one, Command) else update([one]) for one in outputs]


# %%
result = probe(NodeV8(TOOLS).invoke)
assert result.score == len(INPUTS)
result

# %% [markdown] lang="en"
# Fifteen of fifteen. This is the right column of part 2. Newer releases also take a *list* of messages and Commands from one tool; part 13 has the row.
#
# Here are minilc's versions of our steps. (Calls side by side are missing: layer 8 has `Workers`, and the graph runs its nodes with them, too.) Sync and async runs share all this: hence `async`, and the flag `sync`. Find the places where a wrapper may stand around a call: [13_middleware](13_middleware.ipynb) is about those.

# %% source="minilc.tool_node:ToolNode._parse_input, ToolNode._arun_one, ToolNode._execute_tool_async, ToolNode._normalize_tool_response, ToolNode._normalize_one, ToolNode._combine_tool_outputs"
from minilc.tool_node import ToolNode

# %% [markdown] lang="en"
# ## 11. The graph around it
#
# This is article A's hand-written graph, whole. `tools_condition` is the edge out of the model: to the tools if the last message has calls, else to the end.

# %%
from langgraph.prebuilt import ToolNode, tools_condition

model = ScriptedChatModel([asking, "北京今天晴。"]).bind_tools([tool(weather)])
builder = StateGraph(MessagesState)
builder.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
builder.add_node("tools", ToolNode([weather]))
builder.add_edge(START, "model")
builder.add_conditional_edges("model", tools_condition)
builder.add_edge("tools", "model")
graph = builder.compile()
run = draw.record(graph, {"messages": [question]})
assert run.steps == [["model"], ["tools"], ["model"]]
draw.graph(graph, taken=run)

# %% [markdown] lang="en"
# The edge looks at the last message alone, and it knows one name, `tools`: if your node has another one, you need a path map. It has a `messages_key` of its own, and an error of its own.

# %%
assert tools_condition({"chat": [asking]}, messages_key="chat") == "tools"
assert tools_condition([asking, done]) == "__end__"
with expect_error(ValueError, "No messages found in input state to tool_edge: {'messages': []}"):
    tools_condition({"messages": []})

# %% [markdown] lang="en"
# ## 12. The judge
#
# First, be the model yourself. In JupyterLab, choose a call below or write one: a wrong name, no id, a forged argument, broken JSON. Guess what LangChain's node answers, and minilc's.

# %%
widgets.tool_call_bench()

# %% [markdown] lang="en"
# All comparisons that minilc has for this layer, errors included.

# %% tags=["version"]
(report,) = check.check([layer("tool_node")], cases.load(["tool_node"]))
assert report.ok
report.counts

# %% [markdown] lang="en"
# ## 13. Left out
#
# What minilc does not have here, what it does otherwise, and what depends on LangChain's version.

# %%
from minilc.course.register import left_out

left_out("tool_node")

# %% [markdown] lang="en"
# ## 14. Exercises
#
# The first function takes its place inside minilc. Stuck? `ex.hint("tool_node-1")` helps.

# %%
ex.show("tool_node-1")

# %% stub="tool_node-1"

# %% [markdown] lang="en"
# The second begins with a bug report.

# %%
ex.show("tool_node-2")

# %% stub="tool_node-2"

# %% [markdown] lang="en"
# The third you can use in your own graphs.

# %%
ex.show("tool_node-3")

# %% stub="tool_node-3"

# %% [markdown] lang="en"
# ## 15. Recap
#
# ToolNode finds calls in whatever it is given, and runs them at once. The answers come in the order of the calls, each with its call's id. A wrong name and wrong arguments are answers; other errors take the whole step with them.
#
# Our weather question so far: asked, called, run, answered, and the answer is in the state.

# %%
draw.ledger(run)

# %% [markdown] lang="en"
# Two questions to end with. `ex.answer("tool_node-1", "a")` says why an option is right or wrong.

# %%
from IPython.display import display

display(ex.quiz("tool_node-1"), ex.quiz("tool_node-2"))

# %% [markdown] lang="en"
# Next: [13_middleware](13_middleware.ipynb). Who may stand between the model's wish and the tool?
