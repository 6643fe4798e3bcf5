# %% [markdown] lang="en"
# # What goes to the model, and what comes back?
#
# We bind a tool to a model and ask about the weather. Somewhere a request leaves our machine, and an answer arrives. What stands in the one, and in the other?
#
# |  |  |
# |---|---|
# | **Time** | 30 minutes, and 30 for the exercises |
# | **Difficulty** | medium |
# | **Before** | [01_messages](01_messages.ipynb): messages and calls; [06_function_calling](06_function_calling.ipynb): a tool as JSON |
# | **Articles** | A, layer 4; B, sections 3.2 and 5 |
# | **We build** | layer 7, `minilc/chat_models.py` |
#
# This is where the real thing stands in *your* installation.

# %% tags=["version"]
# %load_ext minilc.course.listings
import minilc
from minilc.course import cases, check, draw, exercises as ex
from minilc.course.expect import expect_error
from minilc.course.layers import layer
from minilc.course.probe import Probe
from minilc.course.upstream import where

for name in ["BaseChatModel.bind_tools", "GenericFakeChatModel", "create_agent"]:
    print(f"{name:<25}", where(name).upstream)

# %% [markdown] lang="en"
# ## 1. The real thing
#
# We need no key and no network. A `Wire` stands where OpenAI's server would: it keeps each request, and gives the reply that we wrote. `real_openai` is LangChain's `ChatOpenAI` on this wire, `minilc_openai` is ours.

# %%
from langchain_core.tools import tool
from minilc.course.wire import Wire, completion, minilc_openai, real_openai


def weather(city: str) -> str:
    """The weather of a city."""
    ran.append(city)
    return f"{city}: 晴"


ran = []
asking = completion(None, [("weather", '{"city": "北京"}')])
wire = Wire(asking)
model = real_openai(wire.transport)
bound = model.bind_tools([tool(weather)])
answer = bound.invoke("北京今天天气怎么样？")
dict(sorted(wire.bodies[0].items()))

# %% [markdown] lang="en"
# That is all: the model's name, the messages, the tools. And the answer?

# %%
assert answer.content == ""
assert ran == []
answer.tool_calls

# %% [markdown] lang="en"
# A wish. Our function did not run: `ran` is empty. The model cannot run it, and `bind_tools` does not.
#
# Does minilc send the same? Both go over one wire.

# %%
ours = minilc_openai(wire.transport).bind_tools([minilc.tool(weather)])
same = ours.invoke("北京今天天气怎么样？")
assert wire.bodies[0] == wire.bodies[1]
assert same.tool_calls == answer.tool_calls

# %% [markdown] lang="en"
# The same JSON. Now a question: we have bound tools to `model`. What does `model` itself send?

# %%
model.invoke("hi")
bound.invoke("hi")
[len(body.get("tools", [])) for body in wire.bodies[2:]]

# %% [markdown] lang="en"
# None. **`bind_tools` returns a new object and leaves the model as it was.** Who writes `model.bind_tools(tools)` on a line of its own has bound nothing.
#
# And the tools went along with each request of `bound`. A server remembers nothing between two of them.
#
# ## 2. The naive version
#
# For tests, and for this course, we want a model that plays a script. The first try gives one text after the other.


# %%
class ModelV0:
    def __init__(self, answers):
        self.answers = iter(answers)

    def invoke(self, question, **bound):
        return next(self.answers)


# %% [markdown] lang="en"
# LangChain has such a model, `GenericFakeChatModel`. Both break at the same place: nobody can bind a tool to them.

# %%
from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel

fake = GenericFakeChatModel(messages=iter(["晴"]))
agent = create_agent(fake, [tool(weather)])
with expect_error(NotImplementedError, ""):
    agent.invoke({"messages": [("user", "天气？")]})
with expect_error(AttributeError, "'ModelV0' object has no attribute 'bind_tools'"):
    ModelV0(["晴"]).bind_tools([weather])

# %% [markdown] lang="en"
# See when it fails. The agent was built without a word; the error comes with the first question, and it has no text. Now you know what it means.
#
# ### The probe
#
# We grow towards the course's `ScriptedChatModel`, a real LangChain model. Six scenes: each makes a model, plays, and looks at something.

# %%
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from minilc.course.scripted import ScriptedChatModel as Scripted

call = {"name": "weather", "args": {"city": "北京"}, "id": "call_1", "type": "tool_call"}


def after(act, look):
    def scene(make):
        model = make(["晴"])
        act(model)
        return look(model.requests[0])

    return scene


SCENES = {
    "the answer": lambda make: make(["晴"]).invoke("天气？").content,
    "a call as answer": lambda make: make([AIMessage("", tool_calls=[call])]).invoke("").tool_calls,
    "what it was sent": after(lambda m: m.invoke("天气？"), lambda sent: sent.messages[0].content),
    "sent without tools": after(lambda m: m.invoke("天气？"), lambda sent: sent.tools),
    "sent with a tool": after(
        lambda m: m.bind_tools([weather]).invoke("天气？"), lambda sent: sent.tools
    ),
    "a choice": after(
        lambda m: m.bind_tools([weather], tool_choice="any").invoke("天气？"),
        lambda sent: sent.tool_choice,
    ),
}
probe = Probe(lambda scene: scene(Scripted), SCENES)

# %% [markdown] lang="en"
# How many of six for a model that returns text?

# %%
result = probe(lambda scene: scene(ModelV0))
assert result.score == 1
result

# %% [markdown] lang="en"
# ## 3. Keep what was sent
#
# A model answers with a message, never with a bare text. And a test wants to know what the model was told, so we keep each request.

# %%
from types import SimpleNamespace


class ModelV1(ModelV0):
    def __init__(self, answers):
        super().__init__(answers)
        self.requests = []

    def invoke(self, question, tools=(), tool_choice=None):
        messages = [HumanMessage(question)]
        request = SimpleNamespace(messages=messages, tools=list(tools), tool_choice=tool_choice)
        self.requests.append(request)
        answer = next(self.answers)
        return AIMessage(answer) if isinstance(answer, str) else answer


# %%
result = probe(lambda scene: scene(ModelV1))
assert result.score == 4
result

# %% [markdown] lang="en"
# ## 4. Bind
#
# `bind_tools` makes JSON of the tools, as layer 6 does it. Then it returns the model together with the arguments that each question gets.

# %%
from functools import partial

from langchain_core.utils.function_calling import convert_to_openai_tool


class ModelV2(ModelV1):
    def bind_tools(self, tools, **kwargs):
        formatted = [convert_to_openai_tool(one) for one in tools]
        return SimpleNamespace(invoke=partial(self.invoke, tools=formatted, **kwargs))


# %%
result = probe(lambda scene: scene(ModelV2))
assert result.score == len(SCENES)
result

# %% [markdown] lang="en"
# Six of six. In minilc a binding is a copy of the model that keeps more for each call. And `play` gives the answers of a script, for both worlds. What does it do when no answer is left?

# %% source="minilc.chat_models:BaseChatModel.bind, ScriptedChatModel.play"
from minilc.chat_models import BaseChatModel, ScriptedChatModel

# %% [markdown] lang="en"
# It fails loudly. A fake that would say something anyway turns a wrong test green. That, and the kept requests, is why the course uses it.

# %%
from minilc.chat_models import APIStatusError, ScriptExhausted

short = Scripted(["晴"])
short.invoke("北京？")
with expect_error(ScriptExhausted, "The script has no answer to request 2, after ..."):
    short.invoke("上海？")
assert [sent.messages[0].content for sent in short.requests] == ["北京？", "上海？"]

# %% [markdown] lang="en"
# ## 5. Who binds, and when?
#
# Article A says that the tools are bound when the agent is built. Article B says that the model node calls `llm.invoke(messages, tools=[...])`. We count.


# %%
class Counting(Scripted):
    def bind_tools(self, tools, **kwargs):
        names.append([one.name for one in tools])
        return super().bind_tools(tools, **kwargs)


names = []
agent = create_agent(Counting([AIMessage("", tool_calls=[call]), "晴。"]), [tool(weather)])
assert names == []
agent.invoke({"messages": [("user", "北京今天天气怎么样？")]})
names

# %% [markdown] lang="en"
# Neither. Nothing is bound when the agent is built, and then `bind_tools` is called once for each step of the model. So middleware can change the tools from step to step.
#
# What would B's line do? `invoke` passes `tools` on as they are. Ready JSON works. A tool object does not become JSON.

# %% tags=["version"]
from contextlib import suppress


def handed(tools):
    wire = Wire(completion("晴"))
    with suppress(TypeError, ValueError):  # it depends on the installed packages
        real_openai(wire.transport).invoke("hi", tools=tools)
    return [list(body["tools"][0]) for body in wire.bodies]


assert handed([convert_to_openai_tool(weather)]) == [["type", "function"]]
assert handed([tool(weather)]) != [["type", "function"]]
handed([tool(weather)])

# %% [markdown] lang="en"
# An empty list: it could not be sent. A list of keys such as `args_schema` and `func`: the Python object's own fields were sent, and no server takes that for a tool.
#
# **Wait a minute.** What if the model is bound already, and then given to an agent? The agent binds its own tools. Three agents, one bound model:


# %%
def tide(city: str) -> str:
    """The tide."""


for tools in ([weather], [tide], []):
    script = Scripted([AIMessage("", tool_calls=[call]), "晴。"])
    agent = create_agent(script.bind_tools([weather]), tools)
    messages = agent.invoke({"messages": [("user", "天气？")]})["messages"]
    told = [one["function"]["name"] for one in script.requests[0].tools]
    print(told, [message.content for message in messages[2:]])

# %% [markdown] lang="en"
# The agent's tools win. Without any, the bound ones stay, and then the model asks for a tool that the agent does not have: the run ends, unanswered. So give an agent the plain model.
#
# ## 6. The choice
#
# `tool_choice` says whether the model may, must, or must not call. LangChain knows words of its own; this is what they become for OpenAI.

# %%
for choice in [None, "auto", "none", "any", True, "weather", "typo"]:
    model.bind_tools([weather], tool_choice=choice).invoke("hi")
    print(f"{choice!s:<10}", wire.bodies[-1].get("tool_choice", "nothing is sent"))

# %% [markdown] lang="en"
# `any` and `True` become `required`. The name of a bound tool becomes a dict. And `typo` is sent as it is: again it is the server that will object.
#
# ## 7. The history on the wire
#
# The history is sent again with each request. Six messages: what does OpenAI get of each?

# %%
ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}
broken = {"name": "weather", "args": '{"city": "北', "id": "call_1", "error": "cut"}
MESSAGES = {
    "a question": HumanMessage("北京？"),
    "instructions": SystemMessage("用中文回答"),
    "an answer": AIMessage("晴。"),
    "a call": AIMessage("", tool_calls=[call]),
    "a tool's answer": ToolMessage("no", tool_call_id="call_1", name="weather", status="error"),
    "a broken call": AIMessage("", invalid_tool_calls=[broken]),
}


def real_sent(message):
    real_openai(wire.transport).invoke([message])
    return wire.bodies[-1]["messages"][0]


sending = Probe(real_sent, MESSAGES)


# %% [markdown] lang="en"
# We begin with a role and the content.


# %%
def body_v3(message):
    return {"role": ROLES[message.type], "content": message.content}


# %%
result = sending(body_v3)
assert result.score == 3
result

# %% [markdown] lang="en"
# Three. A call is missing, and a tool's answer lacks its id. This is a call as LangChain sends it.

# %%
real_sent(MESSAGES["a call"])["tool_calls"][0]

# %% [markdown] lang="en"
# The arguments are not a dict. They are a text with JSON in it. The broken call's arguments are text already.

# %%
import json


def written(call):
    args = call["args"]
    text = args if isinstance(args, str) else json.dumps(args, ensure_ascii=False)
    function = {"name": call["name"], "arguments": text}
    return {"type": "function", "id": call["id"], "function": function}


def body_v4(message):
    body = body_v3(message)
    if message.type == "tool":
        body["tool_call_id"] = message.tool_call_id
    if message.type == "ai" and (calls := message.tool_calls + message.invalid_tool_calls):
        body |= {"content": None, "tool_calls": [written(one) for one in calls]}
    return body


# %%
result = sending(body_v4)
assert result.score == len(MESSAGES)
result

# %% [markdown] lang="en"
# Six of six. Look at *a tool's answer*: no name, no status. **The id is all that ties an answer to its call.** That the tool failed, the model can only read in the text.
#
# ## 8. What comes back
#
# Article B writes of the arguments: a dict already, no JSON parsing needed. For *you* that is so, because somebody parses. On the wire it is a text, and a model wrote it.

# %%
asking["choices"][0]["message"]["tool_calls"][0]["function"]

# %% [markdown] lang="en"
# A text can be broken. Six replies: what does LangChain read in them?

# %%
REPLIES = {
    "a text": completion("晴。"),
    "a call": asking,
    "two calls": completion(
        None, [("weather", '{"city": "北京"}'), ("weather", '{"city": "上海"}')]
    ),
    "no arguments": completion(None, [("now", "")]),
    "cut off": completion(None, [("weather", '{"city": "北')]),
    "no object": completion(None, [("weather", '"北京"')]),
}


def read(answer):
    calls = [(one["id"], one["args"]) for one in answer.tool_calls]
    return [answer.content, calls, [one["args"] for one in answer.invalid_tool_calls]]


reading = Probe(lambda reply: read(real_openai(Wire(reply).transport).invoke("hi")), REPLIES)


# %%
def answer_v5(reply):
    message = reply["choices"][0]["message"]
    calls = []
    for raw in message.get("tool_calls", []):
        args = json.loads(raw["function"]["arguments"])
        calls.append({"name": raw["function"]["name"], "args": args, "id": raw["id"]})
    return AIMessage(message["content"] or "", tool_calls=calls)


# %% [markdown] lang="en"
# The first version simply parses.

# %%
result = reading(lambda reply: read(answer_v5(reply)))
assert result.score == 4
result

# %% [markdown] lang="en"
# LangChain does not raise for what is cut off. It keeps the broken text in `invalid_tool_calls`. And an empty text means: no arguments.


# %%
def answer_v6(reply):
    message = reply["choices"][0]["message"]
    read = {"tool_calls": [], "invalid_tool_calls": []}
    for raw in message.get("tool_calls", []):
        text = raw["function"]["arguments"]
        call = {"name": raw["function"]["name"], "args": text, "id": raw["id"]}
        try:
            read["tool_calls"].append(call | {"args": json.loads(text or "{}")})
        except json.JSONDecodeError as error:
            read["invalid_tool_calls"].append(call | {"error": str(error)})
    return AIMessage(message["content"] or "", **read)


# %%
result = reading(lambda reply: read(answer_v6(reply)))
assert result.score == len(REPLIES)
result

# %% [markdown] lang="en"
# The last row is an error in both: valid JSON that is no object stops the run. This is minilc's, both ways.

# %% source="minilc.chat_models:_convert_message_to_dict, _lc_tool_call_to_openai_tool_call, _convert_dict_to_message"
from minilc.chat_models import (
    _convert_dict_to_message,
    _convert_message_to_dict,
    _lc_tool_call_to_openai_tool_call,
)

# %% [markdown] lang="en"
# **Wait a minute.** A broken call is in `invalid_tool_calls`, and `tool_calls` is empty. What does an agent do with that? Guess.

# %%
wire = Wire(completion(None, [("weather", '{"city": "北')]), completion("second try"))
agent = create_agent(real_openai(wire.transport), [tool(weather)])
messages = agent.invoke({"messages": [("user", "北京今天天气怎么样？")]})["messages"]
assert len(wire.bodies) == 1
assert [message.content for message in messages] == ["北京今天天气怎么样？", ""]
draw.ledger(messages)

# %% [markdown] lang="en"
# Nothing. The run ends, without an error, and the user reads an empty answer. An agent looks at `tool_calls` only. Remember this when an answer is empty; exercise 3 mends it.
#
# ## 9. When the server says no
#
# An error status is an exception, and `invoke` raises it. In minilc it is one class, with the status and what the server said. LangChain has a class for each status.

# %%
import httpx

refused = Wire(httpx.Response(400, json={"error": "tools.0.name"}))
with expect_error(APIStatusError, 'Error code: 400 - {"error":"tools.0.name"}'):
    minilc_openai(refused.transport).bind_tools([weather]).invoke("hi")

# %% [markdown] lang="en"
# ## 10. The judge
#
# All comparisons that minilc has for this layer, most of them over the wire.

# %% tags=["version"]
(report,) = check.check([layer("chat_models")], cases.load(["chat_models"]))
assert report.ok
report.counts

# %% [markdown] lang="en"
# ## 11. The picture
#
# A whole run of LangChain's agent on our wire, with two calls in one answer. The requests show what the picture cannot: the second one holds all that came before.

# %%
wire = Wire(REPLIES["two calls"], completion("北京和上海都晴。"))
agent = create_agent(real_openai(wire.transport), [tool(weather)])
run = draw.record(agent, {"messages": [("user", "北京和上海天气怎么样？")]})
print([[message["role"] for message in body["messages"]] for body in wire.bodies])
assert [len(body["tools"]) for body in wire.bodies] == [1, 1]
draw.sequence(run)

# %% [markdown] lang="en"
# ## 12. Left out
#
# What minilc does not have here, and what depends on LangChain's version.

# %%
from minilc.course.register import left_out

left_out("chat_models")

# %% [markdown] lang="en"
# ## 13. Exercises
#
# The first writes a message for the wire. Stuck? `ex.hint("chat_models-1")` helps, one step at a time.

# %%
ex.show("chat_models-1")

# %% stub="chat_models-1"

# %% [markdown] lang="en"
# The second begins with a bug report, and the tool that it is about did nothing wrong.

# %%
ex.show("chat_models-2")

# %% stub="chat_models-2"

# %% [markdown] lang="en"
# The third saves a run that would end with an empty answer.

# %%
ex.show("chat_models-3")

# %% stub="chat_models-3"

# %% [markdown] lang="en"
# ## 14. Recap
#
# `bind_tools` returns a new object, runs nothing, and puts the tools into each request. On the wire arguments are JSON text, and only the id ties an answer to its call. Broken JSON ends an agent's run without a word.
#
# Our weather question so far: asked over the wire, and the model wants a call. Nobody has answered it yet.

# %%
draw.sequence([HumanMessage("北京今天天气怎么样？"), answer])

# %% [markdown] lang="en"
# Two questions to end with. `ex.answer("chat_models-1", "a")` says why an option is right or wrong.

# %%
from IPython.display import display

display(ex.quiz("chat_models-1"), ex.quiz("chat_models-2"))

# %% [markdown] lang="en"
# Next: [08_branch](08_branch.ipynb). The model has made a wish. Who decides where it goes?
