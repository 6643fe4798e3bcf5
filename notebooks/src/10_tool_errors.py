# %% [markdown] lang="en"
# # Which errors does the model get to read?
#
# A tool fails. Sometimes the model is told and tries again. Sometimes the run is over. Who decides, and how do we change it?
#
# |  |  |
# |---|---|
# | **Time** | 35 minutes, and 30 for the exercises |
# | **Difficulty** | medium |
# | **Before** | [03_base](03_base.ipynb): `ToolException` and `handle_tool_error`; [09_state](09_state.ipynb): graphs and checkpoints |
# | **Articles** | A, layers 10 and 11, problems 4 and 5; B, section 5 |
# | **We build** | layer 10, `minilc/tool_errors.py` |
#
# This is where the real thing stands in *your* installation.

# %% tags=["version"]
# %load_ext minilc.course.listings
from minilc.course import cases, check, draw, exercises as ex
from minilc.course.draw import dot, look
from minilc.course.expect import expect_error
from minilc.course.layers import layer
from minilc.course.probe import Probe
from minilc.course.register import left_out
from minilc.course.scripted import ScriptedChatModel as Scripted
from minilc.course.upstream import where

for name in ["ToolNode", "_default_handle_tool_errors", "_handle_tool_error"]:
    print(f"{name:<27}", where(name).upstream)

# %% [markdown] lang="en"
# ## 1. The real thing
#
# A tool with two ways to fail: it refuses a city, and its server may be down.

# %%
from inspect import signature

from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_core.tools import ToolException, tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode


@tool
def weather(city: str, days: int = 1) -> str:
    """The weather of a city."""
    if city == "Atlantis":
        raise ToolException("there is no such city")
    if city == "月球":
        raise RuntimeError("the server is down")
    return f"{city}: 晴"


# %% [markdown] lang="en"
# `ToolNode` runs it, in the smallest graph there is. `last` gives the last message after a run.


# %%
def desk(*tools, state=MessagesState, saver=None, **options):
    builder = StateGraph(state)
    builder.add_node("tools", ToolNode(tools, **options))
    builder.add_edge(START, "tools")
    return builder.compile(checkpointer=saver)


def call(name, call_id="call_1", /, **args):
    return {"name": name, "args": args, "id": call_id, "type": "tool_call"}


def asking(*calls, **state):
    return {"messages": [AIMessage("", tool_calls=calls)], **state}


def last(graph, *calls, **state):
    return graph.invoke(asking(*calls, **state))["messages"][-1]


# %% [markdown] lang="en"
# First, wrong arguments: the model writes a text where a number belongs.

# %%
answer = last(desk(weather), call("weather", city="北京", days="soon"))
assert answer.status == "error"
print(answer.content)

# %% [markdown] lang="en"
# A message. The model reads what was wrong, and what it had sent.
#
# Now the server is down. And then a `ToolException`, which was made for the model to read. Does it read them? Guess.

# %%
with expect_error(RuntimeError, "the server is down"):
    last(desk(weather), call("weather", city="月球"))
with expect_error(ToolException, "there is no such city"):
    last(desk(weather), call("weather", city="Atlantis"))

# %% [markdown] lang="en"
# Neither. **By default only wrong arguments become a message. Any other error that a tool raises ends the run.**
#
# This is not what one reads elsewhere. Many guides say that a `ToolNode` tells the model about any error; that was so before LangGraph 1.0.1. Article A prints the default as `...` and says: on, a message; off, an exception. Which of the two is the default?

# %%
default = signature(ToolNode).parameters["handle_tool_errors"].default
assert default not in (True, False)
assert "handle_tool_errors" not in signature(create_agent).parameters
default.__name__

# %% [markdown] lang="en"
# Neither: it is a function. And `create_agent` has no such parameter at all: an agent lives with the default.
#
# What does "ends the run" cost? Two calls in one message; one of them works.

# %%
from langgraph.checkpoint.memory import InMemorySaver

thread = {"configurable": {"thread_id": "1"}}
kept = desk(weather, saver=InMemorySaver())
with expect_error(RuntimeError, "the server is down"):
    kept.invoke(
        asking(call("weather", city="北京"), call("weather", "call_2", city="月球")), thread
    )
messages = kept.get_state(thread).values["messages"]
assert [one.type for one in messages] == ["ai"]

# %% [markdown] lang="en"
# The answer about 北京 is lost. What is kept is a message with two calls that nobody answers, and a provider refuses such a history. So it is worth knowing which errors end a run.
#
# ## 2. The naive version
#
# What would we write? The model is clever, so it gets to read everything. Three things are wrong with that. The model "mends" a server that is down, step after step. A mistake in our code never reaches us. And the third: what may stand in an error?


# %%
def handle_v0(error):
    return f"Error: {error!r}\n Please fix your mistakes."


handle_v0(ConnectionError("postgres://admin:hunter2@db/orders refused"))

# %% [markdown] lang="en"
# A password, sent to the model's provider. These are LangChain's own words: `handle_tool_errors=True` does just this, as the probe will show.
#
# ### The probe
#
# Thirteen pairs of an error and a setting. Each is run in a real ToolNode. The last error is no error: an *interrupt*, with which a tool stops the run to ask a person. It travels as an exception.

# %%
from langgraph.errors import GraphBubbleUp, GraphInterrupt
from langgraph.types import interrupt


@tool
def forecast(city: str, days: int = 1) -> str:
    """The weather of a city; asks which one, if need be."""
    if city == "?":
        raise GraphInterrupt()
    return weather.func(city, days)


WRONG, ATLANTIS = {"city": "北京", "days": "soon"}, {"city": "Atlantis"}
MOON, ASKS = {"city": "月球"}, {"city": "?"}

# %% [markdown] lang="en"
# The settings: none, `True`, `False`, a text, one type or several, a function. The second function says in its annotation which error it is for.


# %%
def excuse(error):
    return f"Sorry: {error}"


def only_runtime(error: RuntimeError):
    return f"Sorry: {error}"


SCENES = {
    "wrong arguments": (WRONG,),
    "ToolException": (ATLANTIS,),
    "RuntimeError": (MOON,),
    "wrong arguments, True": (WRONG, True),
    "RuntimeError, True": (MOON, True),
    "RuntimeError, False": (MOON, False),
    "RuntimeError, a text": (MOON, "Try later."),
    "RuntimeError, its type": (MOON, RuntimeError),
    "RuntimeError, other types": (MOON, (ToolException, KeyError)),
    "wrong arguments, ValueError": (WRONG, ValueError),
    "RuntimeError, a function": (MOON, excuse),
    "ToolException, only_runtime": (ATLANTIS, only_runtime),
    "an interrupt, True": (ASKS, True),
}

# %% [markdown] lang="en"
# `real` is what the model reads in LangChain. `grown` puts our version into the same place.

# %%
from langgraph.prebuilt.tool_node import ToolInvocationError
from pydantic import ValidationError


def real(scene):
    args, *setting = scene
    options = {"handle_tool_errors": setting[0]} if setting else {}
    return last(desk(forecast, **options), call("forecast", **args)).content or "(the run waits)"


def grown(handle):
    def answer(scene):
        args, *setting = scene
        try:
            return attempt(handle, args, *setting)
        except GraphInterrupt:
            return "(the run waits)"

    return answer


# %% [markdown] lang="en"
# One thing happens before any handler. A `ValidationError` becomes a `ToolInvocationError`: it knows the tool and the arguments that the model sent, and has the text for the model.


# %%
def attempt(handle, args, *setting):
    try:
        return forecast.invoke(args)
    except ValidationError as error:
        named = ToolInvocationError("forecast", error, args, error.errors())
        return handle(named, *setting)
    except Exception as error:
        return handle(error, *setting)


# %% [markdown] lang="en"
# How many of thirteen for a version that looks at no setting?

# %%
probe = Probe(real, SCENES)
result = probe(grown(lambda error, *setting: handle_v0(error)))
assert result.score == 3
result

# %% [markdown] lang="en"
# ## 3. The default, off, and a text
#
# The default is a function of the error. It returns a text, or raises. `False` raises every error, and a text answers every error.


# %%
def by_default(error):
    if isinstance(error, ToolInvocationError):
        return error.message
    raise error


def handle_v1(error, flag=by_default):
    if not flag:
        raise error
    if flag is by_default:
        return by_default(error)
    return flag if isinstance(flag, str) else handle_v0(error)


# %%
result = probe(grown(handle_v1))
assert result.score == 8
[row.input for row in result.rows if not row.equal]

# %% [markdown] lang="en"
# ## 4. Types
#
# A type, or a tuple of them, says which errors are told. The others are raised.


# %%
def handle_v2(error, flag=by_default):
    if isinstance(flag, type | tuple) and not isinstance(error, flag):
        raise error
    return handle_v1(error, flag)


# %%
result = probe(grown(handle_v2))
assert result.score == 10
result

# %% [markdown] lang="en"
# **Wait a minute.** Look at *wrong arguments, ValueError*: it raises. Pydantic's `ValidationError` is a `ValueError`. So why does the run end?

# %%
assert issubclass(ValidationError, ValueError)
assert not issubclass(ToolInvocationError, ValueError)
assert issubclass(ToolInvocationError, ToolException)

# %% [markdown] lang="en"
# Because the handler never sees pydantic's error, only the `ToolInvocationError` made of it. Who sets `handle_tool_errors=(ValueError,)` has turned the default *off*: now wrong arguments end the run, too. Name `ToolException` as well.
#
# ## 5. Functions
#
# A function makes the text. The annotation of its parameter says which errors it is for; without one it gets them all. And so the default needs no rule of its own.

# %%
from typing import get_args, get_type_hints


def kinds_of(flag):
    if isinstance(flag, type | tuple):
        return flag
    if not callable(flag):
        return Exception if flag else ()
    name = next(iter(signature(flag).parameters))
    hint = get_type_hints(flag).get(name, Exception)
    return get_args(hint) or hint


def handle_v3(error, flag=by_default):
    if not isinstance(error, kinds_of(flag)):
        raise error
    if callable(flag) and not isinstance(flag, type):
        return flag(error)
    return flag if isinstance(flag, str) else handle_v0(error)


# %%
result = probe(grown(handle_v3))
assert result.score == 12
[row.input for row in result.rows if not row.equal]

# %% [markdown] lang="en"
# The annotation is not decoration. An error that it does not name ends the run, before the function is asked.
#
# ## 6. Interrupts
#
# One row is left. An interrupt is an exception, so `True` told the model about it, and nobody was asked. It is the one thing that no setting may catch.


# %%
def handle_v4(error, flag=by_default):
    if isinstance(error, GraphBubbleUp):
        raise error
    return handle_v3(error, flag)


# %%
result = probe(grown(handle_v4))
assert result.score == len(SCENES)
result

# %% [markdown] lang="en"
# Thirteen of thirteen. ToolNode looks out for interrupts. **Does your tool?** This one is careful: it catches everything. Does the run wait for the user?


# %%
@tool
def book(city: str) -> str:
    """Book a flight, if the user agrees."""
    try:
        return f"booked: {interrupt(f'Fly to {city}?')}"
    except Exception as error:
        return f"failed: {type(error).__name__}"


state = desk(book, saver=InMemorySaver()).invoke(asking(call("book", city="北京")), thread)
assert "__interrupt__" not in state
state["messages"][-1].content

# %% [markdown] lang="en"
# It does not. The user was never asked, and the model reads of a failure that was none. The cure: catch what you expect, and no more. Or let `GraphBubbleUp` pass; exercise 2.

# %%
from langgraph.types import Command


@tool
def book(city: str) -> str:
    """Book a flight, if the user agrees."""
    try:
        return f"booked: {interrupt(f'Fly to {city}?')}"
    except ConnectionError as error:
        return f"failed: {type(error).__name__}"


asks = desk(book, saver=InMemorySaver())
waiting = asks.invoke(asking(call("book", city="北京")), thread)
assert [one.value for one in waiting["__interrupt__"]] == ["Fly to 北京?"]
asks.invoke(Command(resume="yes"), thread)["messages"][-1].content

# %% [markdown] lang="en"
# ## 7. All errors, all settings
#
# Now the whole table, from real runs. A fifth column is new: the model asks for a tool that nobody has. Which settings turn that into an error of the run?

# %%
ERRORS = {
    "arguments": call("forecast", **WRONG),
    "ToolException": call("forecast", **ATLANTIS),
    "RuntimeError": call("forecast", **MOON),
    "interrupt": call("forecast", **ASKS),
    "no such tool": call("forcast", city="北京"),
}
SETTINGS = {
    "default": {},
    "True": {"handle_tool_errors": True},
    "False": {"handle_tool_errors": False},
    "'Try later.'": {"handle_tool_errors": "Try later."},
    "ValueError": {"handle_tool_errors": ValueError},
    "(RuntimeError, KeyError)": {"handle_tool_errors": (RuntimeError, KeyError)},
    "a function": {"handle_tool_errors": excuse},
    "only_runtime": {"handle_tool_errors": only_runtime},
}


# %%
def outcome(given, options):
    try:
        message = last(desk(forecast, **options), given)
    except Exception:
        return "ENDS"
    return "told" if message.type == "tool" else "waits"


print(" " * 25, *(f"{name:<13}" for name in ERRORS))
for name, options in SETTINGS.items():
    row = [outcome(one, options) for one in ERRORS.values()]
    assert row[3:] == ["waits", "told"]
    print(f"{name:<25}", *(f"{one:<13}" for one in row))

# %% [markdown] lang="en"
# None. The last two columns never change: an interrupt always waits, and an unknown name is always told. In between, the setting decides.
#
# This is what the model reads. Article B gives other words, *Requested tool ... not available*; but that the run goes on is right.

# %%
strict = desk(forecast, weather, handle_tool_errors=False)
answer = last(strict, call("get_weatherrr"))
assert "not available" not in answer.content
answer.content

# %% [markdown] lang="en"
# ## 8. The tool, or the node: who is first?
#
# [03_base](03_base.ipynb) had `handle_tool_error` and `handle_validation_error`, on the tool. Now the node has a setting as well. Say both want an error. Whose text is read?

# %%
settings = {"handle_tool_error": True, "handle_validation_error": "Send a number."}
own = weather.model_copy(update=settings)
node = desk(own, handle_tool_errors="the node's text")
[last(node, call("weather", **args)).content for args in (ATLANTIS, WRONG, MOON)]

# %% [markdown] lang="en"
# The tool's. It is inside, so the node never hears of the error. A `RuntimeError` is for neither of the tool's settings, and reaches the node.
#
# This is the way in an agent, where the node cannot be set: let the tool raise `ToolException`, and switch `handle_tool_error` on.

# %%
answer = last(desk(own), call("weather", **ATLANTIS))
assert (answer.content, answer.status) == ("there is no such city", "error")
with expect_error(RuntimeError, "the server is down"):
    last(desk(own), call("weather", **MOON))

# %% [markdown] lang="en"
# ## 9. What the model reads about its arguments
#
# A tool gets the user from the state ([11_injection](11_injection.ipynb) has more). The model makes two mistakes, and tries to be the user itself. What does it read, and what not?

# %%
from typing import Annotated

from langgraph.prebuilt import InjectedState


class State(MessagesState):
    user: str


@tool
def order(item: str, count: int, user: Annotated[str, InjectedState("user")]) -> str:
    """Order something."""
    return f"{count} x {item} for {user}"


answer = last(desk(order, state=State), call("order", count="two", user="admin"), user="小明")
assert "小明" not in answer.content
print(answer.content)

# %% [markdown] lang="en"
# The tool's name, the arguments as *it* sent them, and a line for each mistake. The true user does not stand there.
#
# **Wait a minute.** Is every `ValidationError` about the arguments? We know from [03_base](03_base.ipynb) that it may come out of the function's body.

# %%
from pydantic import BaseModel


class Reply(BaseModel):
    rate: float


@tool
def rate(currency: str) -> str:
    """The exchange rate."""
    return str(Reply.model_validate({"rate": "n/a"}).rate)


answer = last(desk(rate), call("rate", currency="CNY"))
assert "{'currency': 'CNY'}" in answer.content and "rate: Input should be" in answer.content

# %% [markdown] lang="en"
# The bank sent nonsense, and the model is told that its call was wrong. It will try again, and again. Catch errors of pydantic that are your own.
#
# ## 10. minilc's version
#
# Here are our steps, and the error with the text for the model. An empty setting covers nothing; all else is a question of types. (`show` is `repr` for a tool's error; layer 13 asks for `str`.)

# %% source="minilc.tool_errors:_handle_tool_error, _infer_handled_types, _default_handle_tool_errors, ToolInvocationError"
from minilc.tool_errors import (
    ToolInvocationError,
    _default_handle_tool_errors,
    _handle_tool_error,
    _infer_handled_types,
)

# %% [markdown] lang="en"
# ## 11. The judge
#
# Each comparison that minilc has for this layer. Errors must be equal to the last letter.

# %% tags=["version"]
(report,) = check.check([layer("tool_errors")], cases.load(["tool_errors"]))
assert report.ok
report.counts

# %% [markdown] lang="en"
# ## 12. The picture
#
# A call passes six questions. Each line below is a call for one of them; the picture comes from running them, in LangChain. In the second a value that should be injected is not there. (`decision` only draws; go on to its picture.)

# %%
EXITS = [
    ("No tool has that name?", weather, call("wether")),
    ("No value to inject?", order, call("order", item="茶", count=1)),
    ("The tool handles it?", own, call("weather", **ATLANTIS)),
    ("Is it an interrupt?", forecast, call("forecast", **ASKS)),
    ("Not covered by the setting?", forecast, call("forecast", **MOON)),
    ("All else", forecast, call("forecast", **WRONG)),
]


def taken(tool, given):
    try:
        message = last(desk(tool), given)
    except Exception as error:
        return "wrong", f"the run ends: {type(error).__name__}"
    if message.type == "ai":
        return "pending", "the run waits"
    return "tools", f"told: {look.one_line(message.content, 32)}"


# %%
def decision(exits, title):
    made = dot.digraph(ranksep="0.25", nodesep="0.4")
    made.attr("node", shape="box", style="rounded,filled", color=look.MUTED, width="2.9")
    lines = []
    for number, (question, *run) in enumerate(exits, 1):
        role, end = taken(*run)
        asks, gets = f"q{number}", f"e{number}"
        made.node(asks, dot.text(question), fillcolor=look.ROLES["graph"].fill)
        colours = look.ROLES[role]
        made.node(gets, dot.text(end), fillcolor=colours.fill, color=colours.edge)
        made.edge(asks, gets, label=f" {number} ", constraint="false")
        made.body.append(f"{{rank=same; {asks}; {gets}}}")
        if number > 1:
            made.edge(f"q{number - 1}", asks, label=" no")
        lines.append(f"{number}. {question} {end}")
    return draw.render(made, title, "; ".join(lines))


drawn = decision(EXITS, "What becomes of a call that goes wrong")
assert [line.count("the run ends") for line in drawn.description.split("; ")] == [0, 1, 0, 0, 1, 0]
drawn

# %% [markdown] lang="en"
# Two exits end the run: 2, which no setting covers, and 5, which is yours to choose.
#
# **Wait a minute.** And a call whose JSON is broken? It is not in the picture. It stands in `invalid_tool_calls`, so no edge leads to the tools, and no setting is asked.

# %%
broken = {"name": "weather", "args": '{"city": "北', "id": "call_1", "error": None}
cut = AIMessage("", invalid_tool_calls=[broken])
state = create_agent(Scripted([cut]), [weather]).invoke({"messages": [("user", "北京？")]})
assert [one.type for one in state["messages"]] == ["human", "ai"]

# %% [markdown] lang="en"
# Nobody runs it, nobody reports it. [07_chat_models](07_chat_models.ipynb) has the cure.
#
# ## 13. Left out
#
# What minilc does not have here, and what it does otherwise.

# %%
left_out("tool_errors")

# %% [markdown] lang="en"
# ## 14. Exercises
#
# The first is the part of the layer that we used without looking: which errors of pydantic may the model read?

# %%
ex.show("tool_errors-1")

# %% stub="tool_errors-1"

# %% [markdown] lang="en"
# The second begins with a bug report.

# %%
ex.show("tool_errors-2")

# %% stub="tool_errors-2"

# %% [markdown] lang="en"
# The third is a handler for your own graphs: one rule for each kind of error.

# %%
ex.show("tool_errors-3")

# %% stub="tool_errors-3"

# %% [markdown] lang="en"
# ## 15. Recap
#
# By default the model reads about wrong arguments and unknown names; any other error ends the run. `handle_tool_errors` changes that by the error's type, and the tool's own settings come first. Interrupts always pass.
#
# Our weather question so far: the model sent a wrong argument, was told, and mended it.

# %%
script = [
    AIMessage("", tool_calls=[call("weather", "call_1", city="北京", days="今天")]),
    AIMessage("", tool_calls=[call("weather", "call_2", city="北京", days=1)]),
    "北京今天晴。",
]
agent = create_agent(Scripted(script), [weather])
run = draw.record(agent, {"messages": [("user", "北京今天天气怎么样？")]})
assert run.messages[2].status == "error"
draw.sequence(run)

# %% [markdown] lang="en"
# Two questions to end with. `ex.answer("tool_errors-1", "a")` says why an option is right or wrong.

# %%
from IPython.display import display

display(ex.quiz("tool_errors-1"), ex.quiz("tool_errors-2"))

# %% [markdown] lang="en"
# Next: [11_injection](11_injection.ipynb). What does a tool get that the model may not fill in?
