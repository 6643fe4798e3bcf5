# %% [markdown] lang="en"
# # What do a model and a tool say to each other?
#
# A model wants the weather. Our function knows it. They never meet: all that goes from one to the other is a list of messages. What has to stand in a message so that this works?
#
# |  |  |
# |---|---|
# | **Time** | 25 minutes, and 30 for the exercises |
# | **Difficulty** | easy |
# | **Before** | [00_map](00_map.ipynb): the whole way once |
# | **Articles** | A: overview, layers 6 and 12, debugging problem 6; B: sections 3.2 and 5 |
# | **We build** | layer 1, `minilc/messages.py` |
#
# This is where the real thing stands in *your* installation: file and lines.

# %% tags=["version"]
# %load_ext minilc.course.listings
from minilc.course import draw, exercises as ex
from minilc.course.expect import expect_error
from minilc.course.probe import Probe
from minilc.course.scripted import ScriptedChatModel
from minilc.course.twin import twin
from minilc.course.upstream import where

for name in ["AIMessage", "ToolMessage", "ToolCall", "convert_to_messages"]:
    print(f"{name:<20}", where(name).upstream)

# %% [markdown] lang="en"
# ## 1. The real thing
#
# The weather question, from the first word to the last. We write the messages by hand; no model is needed for that.

# %%
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

call = {"name": "get_weather", "args": {"city": "北京"}, "id": "call_1", "type": "tool_call"}
history = [
    SystemMessage("你是天气助手。"),
    HumanMessage("北京今天天气怎么样？"),
    AIMessage("", tool_calls=[call]),
    ToolMessage("晴，28 度", name="get_weather", tool_call_id="call_1"),
    AIMessage("北京今天晴，28 度。"),
]
for message in history:
    message.pretty_print()

# %% [markdown] lang="en"
# There are four kinds. `system`: the developer's rules. `human`: the user. `ai`: the model. `tool`: the answer to a call.
#
# **A model reads messages and nothing else.** Our scripted model keeps what it was sent, so we can look. Does it still know the history when we say thanks?

# %%
model = ScriptedChatModel(["北京今天晴，28 度。", "不客气！"])
model.invoke(history[:4])
model.invoke([HumanMessage("谢谢")])
assert len(model.requests[1].messages) == 1
[[message.type for message in request.messages] for request in model.requests]

# %% [markdown] lang="en"
# No. The second request has one message, so that is all the model knows. Whoever wants a memory sends the whole list again.
#
# And the call? It is four keys in an `AIMessage`: which tool, which arguments, an id, and a type. Is there a tool of that name? Nobody asks.

# %%
wish = AIMessage("", tool_calls=[call | {"name": "no_such_tool"}])
wish.tool_calls

# %% [markdown] lang="en"
# A call is a wish. Making this message runs nothing and checks no name. It is up to us to grant it.
#
# ## 2. The naive version
#
# What would we write ourselves? A conversation is text, so let a message be a text.


# %%
def message_v0(given):
    return given if isinstance(given, str) else given["content"]


# %% [markdown] lang="en"
# Then a tool's answer and a user's claim look the same. Anyone can play the tool.

# %%
answer = {"role": "tool", "content": "晴，28 度", "tool_call_id": "call_1"}
claim = {"role": "user", "content": "晴，28 度"}
assert message_v0(answer) == message_v0(claim)

# %% [markdown] lang="en"
# ### The probe
#
# LangChain reads texts and dicts too: `convert_to_messages` makes messages of them. We hand nine of these to it and to our version. What can a reader tell from what comes out?

# %%
from langchain_core.messages import convert_to_messages


def told(given):
    (message,) = convert_to_messages([given])
    parts = {"type": message.type, "text": str(message.text)}
    if getattr(message, "tool_calls", []):
        parts["calls"] = message.tool_calls
    if message.type == "tool":
        parts["answers"] = message.tool_call_id
    return parts


# %% [markdown] lang="en"
# Three ways to write a call are among the nine. OpenAI's own is longer: it has a `function`, and the arguments are a text.

# %%
bare = {"name": "get_weather", "args": {"city": "北京"}, "id": "call_1"}
function = {"name": "get_weather", "arguments": '{"city": "北京"}'}
wire = {"id": "call_1", "type": "function", "function": function}
model_asks = {"role": "assistant", "content": ""}
INPUTS = {
    "a text": "北京今天天气怎么样？",
    "the user": claim,
    "the model": {"role": "assistant", "content": "晴。"},
    "a call": model_asks | {"tool_calls": [call]},
    "a call without type": model_asks | {"tool_calls": [bare | {"args": {}}]},
    "a call without id": model_asks | {"tool_calls": [{"name": "get_weather", "args": {}}]},
    "an answer": answer,
    "an answer without id": {"role": "tool", "content": "晴，28 度"},
    "a call in OpenAI's words": model_asks | {"tool_calls": [wire]},
}
probe = Probe(told, INPUTS)
result = probe(message_v0)
assert result.score == 0
result

# %% [markdown] lang="en"
# None. Look at what LangChain tells of each: who, what, which calls, which answer. We add these one at a time.
#
# ## 3. Who speaks
#
# A dict says `role`, in the words of the providers. LangChain's messages say `type`, and call the user `human` and the assistant `ai`.

# %%
ROLES = {"system": "system", "user": "human", "assistant": "ai", "tool": "tool"}


def message_v1(given):
    if isinstance(given, str):
        given = {"role": "user", "content": given}
    return {"type": ROLES[given["role"]], "text": given["content"]}


# %%
result = probe(message_v1)
assert result.score == 3
result

# %% [markdown] lang="en"
# A text alone is the user's. In LangChain a pair works as well, and a wrong role is named. A message that is one already stays the same object.

# %%
pair, same = convert_to_messages([("ai", "晴。"), wish])
assert pair == AIMessage("晴。") and same is wish
with expect_error(ValueError, "Unexpected message type: 'robot'. Use one of 'human', 'user', ..."):
    convert_to_messages([("robot", "beep")])
with expect_error(ValueError, "Message dict must contain 'role' and 'content' keys, got ..."):
    convert_to_messages([{"role": "user"}])
with expect_error(NotImplementedError, "Unsupported message type: <class 'int'>..."):
    convert_to_messages([42])

# %% [markdown] lang="en"
# **Wait a minute.** Our `text` is always a text. A user can send a picture too: then `content` is a list of blocks. `.text` joins the blocks of type `text` and skips the others.

# %%
picture = {"type": "image", "url": "https://example.com/sky.png"}
seen = HumanMessage([{"type": "text", "text": "这是"}, picture, "什么云？"])
assert len(seen.content) == 3
str(seen.text)

# %% [markdown] lang="en"
# Use `.content` for all that was said, and `.text` for what can be read.
#
# ## 4. Which calls
#
# A call needs a name, arguments and an id. Its type is always the same, so we fill it in.


# %%
def tool_call(*, name, args, id, type="tool_call"):
    return {"name": name, "args": args, "id": id, "type": type}


def message_v2(given):
    message = message_v1(given)
    if "tool_calls" in given:
        message["calls"] = [tool_call(**one) for one in given["tool_calls"]]
    return message


# %%
result = probe(message_v2)
assert result.score == 6
result

# %% [markdown] lang="en"
# Even the error for *a call without id* is LangChain's, because its function has the same parameters. Without an id nobody could answer.
#
# **Wait a minute.** The type is filled in here. Is it filled in when we hand the same dict to a tool?

# %%
from langchain_core.tools import tool
from pydantic import ValidationError


@tool
def get_weather(city: str) -> str:
    """Get current weather for a city."""
    return f"{city}: 28C"


assert AIMessage("", tool_calls=[bare]).tool_calls == [call]
with expect_error(ValidationError, "1 validation error for get_weather\ncity\n  Field required..."):
    get_weather.invoke(bare)

# %% [markdown] lang="en"
# No. `AIMessage` knows that its list holds calls. A tool gets any dict, and only `"type": "tool_call"` makes it a call. More in [03_base](03_base.ipynb).
#
# What else looks like a call? Three candidates. Which of them does `tool_calls` show?

# %%
as_text = AIMessage('{"name": "get_weather", "args": {"city": "北京"}}')
as_block = AIMessage([{"type": "tool_use", "id": "call_1", "name": "get_weather", "input": {}}])
as_extra = AIMessage("", additional_kwargs={"tool_calls": [wire]})
for message in [as_text, as_block, as_extra]:
    print(message.tool_calls)

# %% [markdown] lang="en"
# Text is text, and a block is content. The third one is a provider's raw answer, kept in `additional_kwargs`. It is read once, when the message is made. Later nobody looks there again.

# %%
late = AIMessage("")
late.additional_kwargs["tool_calls"] = [wire]
assert late.tool_calls == []
assert "tool_calls" not in history[2].additional_kwargs

# %% [markdown] lang="en"
# So code that looks into `additional_kwargs` breaks with the next provider. Read `tool_calls`, and write it too.
#
# These are minilc's two kinds of call. The second one is for part 6: a broken call may lack anything, and a message fills in `None`.

# %% source="minilc.messages:ToolCall, _Absent, InvalidToolCall"
from minilc.messages import InvalidToolCall, ToolCall, _Absent

# %% [markdown] lang="en"
# ## 5. Which answer
#
# An answer names the call that it answers. Without that it is refused.


# %%
def message_v3(given):
    message = message_v2(given)
    if message["type"] == "tool":
        message["answers"] = given["tool_call_id"]
    return message


# %%
result = probe(message_v3)
assert result.score == 8
result

# %% [markdown] lang="en"
# The id is all that ties the two together. The name may be wrong, and the order may be another. Here are two calls, and on the right what answered them.

# %%
oslo = call | {"args": {"city": "Oslo"}, "id": "call_2"}
two = [
    HumanMessage("北京和 Oslo 的天气？"),
    AIMessage("", tool_calls=[call, oslo]),
    ToolMessage("5 度", name="nonsense", tool_call_id="call_2"),
    ToolMessage("28 度", tool_call_id="call_1"),
]
draw.ledger(two)

# %% [markdown] lang="en"
# Both are answered. What if the content is no text? A tool makes JSON of it first, as 03 shows. If we make the message ourselves, it takes Python's `str`.

# %%
for value in [25, None, {"city": "北京"}, ("a", 3)]:
    print(repr(value), "->", repr(ToolMessage(value, tool_call_id="call_1").content))

# %% [markdown] lang="en"
# An answer has two fields more. `status` says whether the tool failed. `artifact` is for our program, and is not sent to the model.

# %%
found = ToolMessage("2 rows", artifact=[{"sky": "晴"}, {"sky": "雨"}], tool_call_id="call_1")
assert found.text == "2 rows" and found.status == "success"
found

# %% [markdown] lang="en"
# ## 6. On the wire
#
# Article B says that a model's `args` are a dict already, so that nothing needs parsing. B is not right: OpenAI sends a JSON text. Someone has to parse it.

# %%
import json


def from_wire(call):
    if "function" not in call:
        return call
    function = call["function"]
    return {"name": function["name"], "args": json.loads(function["arguments"]), "id": call["id"]}


def message_v4(given):
    if "tool_calls" in given:
        given = given | {"tool_calls": [from_wire(one) for one in given["tool_calls"]]}
    return message_v3(given)


# %%
result = probe(message_v4)
assert result.score == len(INPUTS)
result

# %% [markdown] lang="en"
# Nine of nine. But a model *writes* this JSON, letter by letter. What if it stops too early?

# %%
cut = wire | {"function": function | {"arguments": '{"city": "北'}}
broken = AIMessage("", additional_kwargs={"tool_calls": [cut]})
assert broken.tool_calls == []
broken.invalid_tool_calls

# %% [markdown] lang="en"
# No error, and no call either: the text is put aside. Now think as an agent does. There are no calls, so the model must be finished. What does the user get?

# %%
from langchain.agents import create_agent

agent = create_agent(ScriptedChatModel([broken]), [get_weather])
last = agent.invoke({"messages": [history[1]]})["messages"][-1]
assert (last.content, last.tool_calls) == ("", [])

# %% [markdown] lang="en"
# An empty answer. If an agent ends with nothing to say, look at `invalid_tool_calls`. In exercise 1 you sort the calls yourself.
#
# ## 7. Balanced books
#
# A provider demands that every call has exactly one answer. A short function finds what is wrong in a history.


# %%
def books(messages):
    asked = [one["id"] for message in messages for one in getattr(message, "tool_calls", [])]
    answers = [message.tool_call_id for message in messages if message.type == "tool"]
    return {
        "pending": [id for id in asked if id not in answers],
        "orphan": [id for id in answers if id not in asked],
        "duplicate": [id for id in asked if answers.count(id) > 1],
    }


assert books(two) == {"pending": [], "orphan": [], "duplicate": []}

# %% [markdown] lang="en"
# A *pending* call has no answer, an *orphan* answer has no call. Here is a history with every fault. `draw.ledger` finds the same ones.

# %%
messy = [
    AIMessage("", tool_calls=[call, oslo]),
    ToolMessage("28 度", tool_call_id="call_1"),
    ToolMessage("29 度", tool_call_id="call_1"),
    ToolMessage("5 度", tool_call_id="call_9"),
    AIMessage("", invalid_tool_calls=broken.invalid_tool_calls),
]
print(books(messy))
statuses = [entry.status for entry in draw.entries(messy)]
assert statuses == ["duplicate", "pending", "orphan", "invalid"]
draw.ledger(messy)

# %% [markdown] lang="en"
# Article A says that with a pending call the model is stuck. Does LangChain's agent notice it? We leave out the answer and go on talking.

# %%
model = ScriptedChatModel(["在的。"])
create_agent(model, []).invoke({"messages": [*history[:3], HumanMessage("还在吗？")]})
sent = model.requests[0].messages
assert books(sent)["pending"] == ["call_1"]

# %% [markdown] lang="en"
# It does not. The request goes out with the gap in it. A real provider refuses such a request, and then *every* later one of this conversation. Exercise 2 mends it.
#
# ## 8. The judge
#
# One function, both worlds: a conversation as dicts becomes messages.

# %%
talk = [INPUTS["the user"], INPUTS["a call in OpenAI's words"], answer]
result = twin(lambda lc: lc.convert_to_messages(talk), title="dicts become messages")
assert result.verdict == "EQUAL"
result

# %% [markdown] lang="en"
# This is minilc's side. In the last line of the first function write `messages[1:]`, run the cell, and run the judge above again. It says DIFFERENT, and where. Then put it back, and run both again.

# %% source="minilc.messages:convert_to_messages, _create_message_from_message_type"
from minilc.messages import _create_message_from_message_type, convert_to_messages as ours

# %% [markdown] lang="en"
# And the answer. Which lines make `['a', '3']` of a tuple?

# %% source="minilc.messages:ToolMessage"
from minilc.messages import ToolMessage as OurToolMessage

# %% [markdown] lang="en"
# Here are all comparisons of this layer, errors included.

# %% tags=["version"]
from minilc.course import cases, check
from minilc.course.layers import layer

(report,) = check.check([layer("messages")], cases.load(["messages"]))
assert report.ok
report.counts

# %% [markdown] lang="en"
# ## 9. Left out
#
# What minilc does not have here, and what depends on LangChain's version.

# %%
from minilc.course.register import left_out

left_out("messages")

# %% [markdown] lang="en"
# ## 10. Exercises
#
# The first one goes on where part 6 stopped. Stuck? `ex.hint("messages-1")` helps, one step at a time.

# %%
ex.show("messages-1")

# %% stub="messages-1"

# %% [markdown] lang="en"
# The second one is a tool that you may need one day.

# %%
ex.show("messages-2")

# %% stub="messages-2"

# %% [markdown] lang="en"
# The third begins with a bug report.

# %%
ex.show("messages-3")

# %% stub="messages-3"

# %% [markdown] lang="en"
# ## 11. Recap
#
# A model reads messages and nothing else. A call is a wish: a name, arguments, an id. Its answer is a message with the same id, and only the id counts.
#
# Our weather question so far: all its messages, written by hand.

# %%
draw.sequence(history)

# %% [markdown] lang="en"
# Two questions to end with. `ex.answer("messages-1", "a")` says why an option is right or wrong.

# %%
from IPython.display import display

display(ex.quiz("messages-1"), ex.quiz("messages-2"))

# %% [markdown] lang="en"
# Next: [02_schema](02_schema.ipynb). How does the model know which arguments a tool takes?
