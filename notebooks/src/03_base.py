# %% [markdown] lang="en"
# # What happens in one call of a tool?
#
# We call a tool with `invoke`. Some time later our function runs. What happens in between, and what happens to the value that it returns?
#
# |  |  |
# |---|---|
# | Time | 30 minutes, and 30 for the exercises |
# | Difficulty | easy to medium |
# | You need | Python; `01_messages` (what a `ToolMessage` is) and `02_schema` (a signature becomes a schema) |
# | Stands next to | article A, layer 12; article B, 3.4 |
# | We build | `minilc/base.py` |

# %% [markdown] lang="en"
# Where the real thing is, in *your* installation: file and lines.

# %% tags=["version"]
# %load_ext minilc.course.listings
from minilc.course import draw, exercises as ex
from minilc.course.expect import expect_error
from minilc.course.twin import twin
from minilc.course.upstream import where

for name in ["BaseTool.invoke", "BaseTool.run", "BaseTool._to_args_and_kwargs", "_format_output"]:
    print(f"{name:<29}", where(name).upstream)

# %% [markdown] lang="en"
# ## 1. The real thing
#
# A tool, and a call as a model writes it. Look at `"days": "3"`: a text, where our function wants a number.

# %%
from langchain_core.tools import tool


@tool
def weather(city: str, days: int = 1) -> dict:
    """The weather of a city."""
    return {"city": city, "days": days}


call = {
    "name": "weather",
    "args": {"city": "北京", "days": "3"},
    "id": "call_1",
    "type": "tool_call",
}
weather.invoke(call)

# %% [markdown] lang="en"
# Our function got `3`, not `"3"`. Its dict became text. The text lies in a message, with the id of the call on it. Our function does none of this.
#
# Now the same tool with plain arguments, as we would call it ourselves. Do we get a message too?

# %%
answer = weather.invoke(call)
assert answer.content == '{"city": "北京", "days": 3}'
assert answer.tool_call_id == "call_1"

weather.invoke({"city": "北京", "days": "3"})

# %% [markdown] lang="en"
# No: the very value that the function returned. Who makes a *call* gets a message. Who gives *arguments* gets the value.
#
# One more thing that surprises people: the tool is no function any more. The function is still there, in `func`.

# %%
with expect_error(TypeError, "'StructuredTool' object is not callable"):
    weather("北京")
assert weather.func("北京") == {"city": "北京", "days": 1}

# %% [markdown] lang="en"
# ## 2. The naive version
#
# A tool is a function that takes a dict, isn't it? Then this should do.


# %%
def tool_v0(function):
    """The arguments go straight into the function."""

    def invoke(given):
        return function(**given)

    return invoke


# %% [markdown] lang="en"
# With nice arguments `tool_v0` works. A text for a number goes through without a word, and a model's call breaks it.

# %%
naive = tool_v0(weather.func)
assert naive({"city": "北京"}) == {"city": "北京", "days": 1}
assert naive({"city": "北京", "days": "3"}) == {"city": "北京", "days": "3"}
with expect_error(TypeError, "weather() got an unexpected keyword argument 'name'"):
    naive(call)

# %% [markdown] lang="en"
# ### The probe
#
# Our function for the rest of this notebook knows a city that does not exist. Eight inputs: after each step we give them to our version and to LangChain's.

# %%
from langchain_core.tools import StructuredTool, ToolException


def forecast(city: str, days: int = 1) -> dict:
    """The weather of a city."""
    if city == "Atlantis":
        raise ToolException("there is no such city")
    return {"city": city, "days": days}


real = StructuredTool.from_function(forecast, name="weather", handle_tool_error=True)
INPUTS = {
    "plain arguments": {"city": "北京", "days": 3},
    "number as text": {"city": "北京", "days": "3"},
    "a key too many": {"city": "北京", "unit": "C"},
    "not a number": {"city": "北京", "days": "soon"},
    "call without type": {"name": "weather", "args": {"city": "北京"}, "id": "call_1"},
    "only a text": "北京",
    "a model's call": call,
    "call that fails": call | {"args": {"city": "Atlantis"}},
}


# %%
def outcome(invoke, given):
    """What comes out, as text; of an error its type."""
    try:
        return repr(invoke(given))
    except Exception as error:  # any error is an outcome here
        return f"raises {type(error).__name__}"


def probe(invoke):
    """Print what comes out of each input, and count where LangChain's is the same."""
    score = 0
    for label, given in INPUTS.items():
        ours, theirs = outcome(invoke, given), outcome(real.invoke, given)
        print("=" if ours == theirs else "≠", f"{label:<18}", ours)
        if ours != theirs:
            print(f"{'LangChain':>20}", theirs)
        score += ours == theirs
    return score


# %% [markdown] lang="en"
# How many of the eight does `tool_v0` get right? Guess before you look.

# %%
assert probe(tool_v0(forecast)) == 1

# %% [markdown] lang="en"
# ## 3. Check the arguments
#
# Layer 2 makes a pydantic model of a signature. It checks, converts, fills in defaults, and drops what it does not know.

# %%
from minilc.schema import create_schema_from_function

schema = create_schema_from_function("weather", forecast)
schema.model_validate({"city": "北京", "days": "3", "unit": "C"})

# %% [markdown] lang="en"
# So we put it in front of the function.


# %%
def tool_v1(function):
    """The arguments are checked first."""

    def invoke(given):
        return function(**schema.model_validate(given).model_dump())

    return invoke


assert probe(tool_v1(forecast)) == 5

# %% [markdown] lang="en"
# From one to five. Look at *a key too many*: the model's `unit` is gone, and nobody says so. LangChain does the same.
#
# **Wait a minute.** `model_dump` makes dicts of everything. What if an argument is a model itself?

# %%
from pydantic import BaseModel


class Place(BaseModel):
    city: str


@tool
def kind(place: Place) -> str:
    """What the function gets."""
    return type(place).__name__


assert kind.args_schema(place={"city": "北京"}).model_dump() == {"place": {"city": "北京"}}
kind.invoke({"place": {"city": "北京"}})

# %% [markdown] lang="en"
# LangChain hands over a `Place`, our `model_dump` a dict. We use `dict(model)` from now on: it opens the outer model only.


# %%
def checked(given):
    """The arguments, checked; a text is the first of them."""
    if isinstance(given, str):
        given = {next(iter(schema.model_fields)): given}
    return dict(schema.model_validate(given))


assert checked("北京") == {"city": "北京", "days": 1}

# %% [markdown] lang="en"
# In minilc this is `_to_args_and_kwargs`, and `_parse_input` below it, as upstream. The cell is folded, for it is long: it also fills in the id of the call, which we meet in part 6.

# %% source="minilc.base:BaseTool._to_args_and_kwargs, BaseTool._parse_input"
from minilc.base import BaseTool

# %% [markdown] lang="en"
# One oddity stands in there. A text is checked, and then passed on *as it was*. What is twice `"4"`?


# %%
@tool
def twice(n: int):
    """Twice the number."""
    return n * 2


assert twice.invoke({"n": "4"}) == 8
twice.invoke("4")

# %% [markdown] lang="en"
# ## 4. Is it a call?
#
# A model's call is a dict, and so are plain arguments. What tells them apart is one key: `"type": "tool_call"`.


# %%
def prepared(given):
    """The arguments; and the id of the call, if it is one."""
    if isinstance(given, dict) and given.get("type") == "tool_call":
        return given["args"], given["id"]
    return given, None


assert prepared(call) == ({"city": "北京", "days": "3"}, "call_1")


# %%
def tool_v2(function):
    """A call is taken apart first."""

    def invoke(given):
        arguments, call_id = prepared(given)
        return function(**checked(arguments))

    return invoke


assert probe(tool_v2(forecast)) == 6

# %% [markdown] lang="en"
# The call runs now. And *call without type*? Name, args and id are there, and still it is no call: `name` is an argument nobody knows, and `city` is missing.
#
# The finished one copies the arguments too, so that the caller's call stays as it was.

# %% source="minilc.base:_prep_run_args"
from minilc.base import _prep_run_args

# %% [markdown] lang="en"
# ## 5. A value becomes an answer
#
# The model never sees a Python value. It reads messages. So a call gets a `ToolMessage`: text, and the id that says which call it answers.

# %%
import json
from langchain_core.messages import ToolMessage


def answered(value, call_id, status="success"):
    """A message for a call; the bare value for who made none."""
    if call_id is None:
        return value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return ToolMessage(text, name="weather", tool_call_id=call_id, status=status)


# %%
def tool_v3(function):
    """A call is answered with a message."""

    def invoke(given):
        arguments, call_id = prepared(given)
        return answered(function(**checked(arguments)), call_id)

    return invoke


assert probe(tool_v3(forecast)) == 7

# %% [markdown] lang="en"
# **Wait a minute.** Article B says `content=str(response)`. That would be Python's own writing, with single quotes. The library writes JSON, and keeps 北京 readable.

# %%
value = {"city": "北京", "days": 3}
assert answer.content != str(value)
assert answer.content == json.dumps(value, ensure_ascii=False)

# %% [markdown] lang="en"
# And what JSON cannot write? Let us give it all sorts of values. Before you run it: what does the model read for `None`, and for a list?

# %%
import datetime


def content(value):
    """What the model reads if a tool returns `value`."""
    give = StructuredTool.from_function(lambda: value, name="give", description="Give it.")
    return give.invoke({"name": "give", "args": {}, "id": "c", "type": "tool_call"}).content


blocks = [{"type": "text", "text": "晴"}]
for value in [
    None,
    True,
    25,
    "晴",
    [1, 2],
    [],
    ["晴", "25"],
    blocks,
    {1},
    datetime.date(2025, 5, 1),
]:
    print(f"{value!r:<40} {content(value)!r}")

# %% [markdown] lang="en"
# Three rules. Text stays text. A list of texts or of content blocks stays a list, for a message may hold one. All else becomes JSON, or `str` where JSON fails.
#
# Article A warns of a tool that returns a raw dict, and shows one that returns `json.dumps(...)`. Does the model see a difference?

# %%
assert content({"value": 1}) == content(json.dumps({"value": 1}))
assert content(None) == "null" and content(blocks) == blocks

# %% [markdown] lang="en"
# Here is minilc's. Try it: change `False` to `True` in `_stringify`, run the cell, then the one below it. Put it back and run it again.

# %% source="minilc.base:_format_output, _stringify"
from minilc.base import _format_output, _stringify

# %%
from minilc import tool as minilc_tool

print(minilc_tool(forecast).invoke(call | {"name": "forecast"}).content)

# %% [markdown] lang="en"
# ## 6. Errors that the model may read
#
# One input is left. A tool raises `ToolException` to say: *this text is for the model*. If the tool handles it, the text is the answer, and its status is `error`.


# %%
def tool_v4(function, handle_tool_error=True):
    """A ToolException is an answer too."""

    def invoke(given):
        arguments, call_id = prepared(given)
        try:
            return answered(function(**checked(arguments)), call_id)
        except ToolException as error:
            if not handle_tool_error:
                raise
            return answered(str(error), call_id, "error")

    return invoke


assert probe(tool_v4(forecast)) == len(INPUTS)

# %% [markdown] lang="en"
# Eight of eight, with four small functions. By default `handle_tool_error` is off, though. It may be `True`, a text, or a function; and `handle_validation_error` is the same for wrong arguments.

# %%
atlantis, soon = {"city": "Atlantis"}, {"city": "北京", "days": "soon"}
for handler in [True, "Try another one.", lambda error: f"I got a {type(error).__name__}."]:
    options = {"handle_tool_error": handler, "handle_validation_error": handler}
    careful = StructuredTool.from_function(forecast, **options)
    print(careful.invoke(atlantis), "|", careful.invoke(soon))

# %% [markdown] lang="en"
# `True` tells the model nothing about its wrong arguments. A function can do better: that is exercise 3.
#
# **Wait a minute.** Does `handle_tool_error=True` cover every error of a tool, then? No. An ordinary exception passes. And a `ValidationError` counts as wrong arguments, wherever it is raised.


# %%
def pay(amount: int) -> str:
    """Pay."""
    if amount > 100:
        raise RuntimeError("the bank is closed")
    return Place(city=amount).city


careful = StructuredTool.from_function(pay, **options)
assert careful.invoke({"amount": 5}) == "I got a ValidationError."
with expect_error(RuntimeError, "the bank is closed"):
    careful.invoke({"amount": 500})

# %% [markdown] lang="en"
# The arguments of `pay(5)` were fine. The error came from inside, and the model is told that it sent something wrong. Worth knowing at 2 a.m.
#
# Here is the whole of it in minilc: one body, which sync and async calls share. Find our four functions in it.

# %% source="minilc.base:BaseTool.invoke, BaseTool.run, BaseTool._execute"
from minilc.base import BaseTool

# %% [markdown] lang="en"
# ## 7. Four things more
#
# **Something for the program, not for the model.** A tool may return a pair: the content, which the model reads, and an *artifact*, which it never sees.


# %%
@tool(response_format="content_and_artifact")
def search(city: str):
    """Two results."""
    return "2 results", [{"id": 1}, {"id": 2}]


found = search.invoke({"name": "search", "args": {"city": "北京"}, "id": "c", "type": "tool_call"})
assert (found.content, found.artifact[1]) == ("2 results", {"id": 2})
search.invoke({"city": "北京"})

# %% [markdown] lang="en"
# With plain arguments there is no message to carry the artifact: it is lost.
#
# **The id of the call.** A tool can ask for it. The model does not see this argument, and if it sends one all the same, the real id wins.

# %%
from typing import Annotated
from langchain_core.tools import InjectedToolCallId


@tool
def note(text: str, call_id: Annotated[str, InjectedToolCallId]) -> str:
    """Note it."""
    return f"{text} for {call_id}"


assert list(note.args) == ["text"]
forged = {
    "name": "note",
    "args": {"text": "晴", "call_id": "forged"},
    "id": "call_7",
    "type": "tool_call",
}
assert note.invoke(forged).content == "晴 for call_7"
with expect_error(
    ValueError,
    "When tool includes an InjectedToolCallId argument, tool must always be invoked with a full model ToolCall of the form: ...",
):
    note.invoke({"text": "晴"})

# %% [markdown] lang="en"
# **Async.** `ainvoke` works with both kinds of function: a plain one runs in a thread. The other way round it does not: an async function has no sync form. In a notebook we just write `await`; a loop is running already.


# %%
@tool
async def slow(city: str) -> str:
    """The weather, later."""
    return f"{city}: 晴"


assert await slow.ainvoke({"city": "北京"}) == "北京: 晴"
assert await weather.ainvoke(call) == weather.invoke(call)
with expect_error(NotImplementedError, "StructuredTool does not support sync invocation."):
    slow.invoke({"city": "北京"})

# %% [markdown] lang="en"
# **What a tool only carries.** `return_direct=True` means: show the result to the user, do not go back to the model. The tool itself does nothing about it. The agent reads it, in layer 14.

# %%
direct = StructuredTool.from_function(forecast, name="weather", return_direct=True)
assert direct.invoke(call) == real.invoke(call)

# %% [markdown] lang="en"
# ## 8. The order
#
# Article B names the chain: `invoke → run → _to_args_and_kwargs → _run`. We need not believe it. Python can tell us which functions run, and who calls whom.

# %%
import sys

CHAIN = "invoke _prep_run_args run _to_args_and_kwargs _parse_input _run forecast _format_output".split()


def trace(tool, given):
    """Who calls whom, in the order of the calls."""
    seen, running = [], ["you"]

    def watch(frame, event, argument):
        name = frame.f_code.co_name
        if name in CHAIN and event == "call":
            seen.append((running[-1], name))
            running.append(name)
        elif name in CHAIN and event == "return":
            running.pop()

    sys.setprofile(watch)
    tool.invoke(given)
    sys.setprofile(None)
    return seen


steps = trace(real, call)
assert [name for caller, name in steps] == CHAIN

# %% [markdown] lang="en"
# Drawn from that very run of LangChain. Read the numbers: our function is the seventh of eight.

# %%
import graphviz

picture = graphviz.Digraph(graph_attr={"rankdir": "LR", "ranksep": "0.3"})
for number, (caller, name) in enumerate(steps, 1):
    picture.edge(caller, name, label=f" {number} ")
words = "; ".join(
    f"{number}. {caller} calls {name}" for number, (caller, name) in enumerate(steps, 1)
)
draw.render(picture, title="One call of a tool", description=words)

# %% [markdown] lang="en"
# ## 9. The judge
#
# `twin` runs one function in two worlds, minilc's and LangChain's, and compares. First: is the order the same?


# %%
def order(lc):
    """Who calls whom in one call of a tool"""
    return trace(lc.StructuredTool.from_function(forecast, name="weather"), call)


result = twin(order)
assert result.verdict == "EQUAL"
result

# %% [markdown] lang="en"
# And now all comparisons that minilc has for this layer: odd inputs, odd values, errors, subclasses. REGISTERED means that they differ, and that a row below says why.

# %% tags=["version"]
from collections import Counter
from minilc.course import cases

judged = [
    twin(one.run, differs=one.differs, behaviour=one.behaviour) for one in cases.load(["base"])
]
assert all(one.ok for one in judged)
print(dict(Counter(one.verdict for one in judged)))

# %% [markdown] lang="en"
# ## 10. Left out
#
# What minilc's layer does not have, what it does otherwise, and what LangChain itself changed between versions.

# %%
import minilc.base
from minilc.course.behaviours import BEHAVIOURS
from minilc.course.divergences import DIVERGENCES

print(minilc.base.__doc__.split("\n", 3)[-1])
for row in DIVERGENCES:
    if row.layer == 3:
        print(f"{row.id}\n  LangChain: {row.upstream}\n  minilc: {row.minilc}\n  why: {row.why}")
for row in BEHAVIOURS:
    if row.layer == 3:
        print(
            f"{row.id}: {row.what}\n  before {row.package} {row.since}: {row.old}\n  since: {row.new}"
        )

# %% [markdown] lang="en"
# ## 11. Exercises
#
# Your function takes its place inside minilc, and real LangChain judges it. Stuck? `ex.hint("base-1")` helps, one step at a time.

# %%
ex.show("base-1")

# %% stub="base-1"

# %% [markdown] lang="en"
# Next, somebody's bug report.

# %%
ex.show("base-2")

# %% stub="base-2"

# %% [markdown] lang="en"
# And the handler that we promised.

# %%
ex.show("base-3")

# %% stub="base-3"

# %% [markdown] lang="en"
# ## 12. Recap
#
# A dict is a call only if its type says so; else it is arguments. Arguments are checked and converted before the function runs. A call is answered with a message that carries its id; everybody else gets the value.
#
# Our weather question so far: the user asks, the model calls, and now the call has its answer.

# %%
from langchain_core.messages import AIMessage, HumanMessage

question = HumanMessage("北京今天天气怎么样？")
draw.sequence([question, AIMessage("", tool_calls=[call]), weather.invoke(call)])

# %% [markdown] lang="en"
# Two questions to end with. `ex.answer("base-1", "a")` explains each option.

# %%
ex.quiz("base-1")

# %%
ex.quiz("base-2")

# %% [markdown] lang="en"
# Next: `04_structured`, where a tool's name, description and schema come from.
