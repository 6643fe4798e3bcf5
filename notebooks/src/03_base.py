# %% [markdown] lang="en"
# # What happens in one call of a tool?
#
# We call a tool with `invoke`. A moment later our function runs. What happens in between? And what happens to the value that the function returns?
#
# |  |  |
# |---|---|
# | **Time** | 30 minutes, and 30 for the exercises |
# | **Difficulty** | medium |
# | **Before** | [01_messages](01_messages.ipynb): what a `ToolMessage` is; [02_schema](02_schema.ipynb): how a signature becomes a schema |
# | **Articles** | A, layer 12; B, section 3.4 |
# | **We build** | layer 3, `minilc/base.py` |
#
# This is where the real thing stands in *your* installation: file and lines. `where("_format_output").show()` shows its text.

# %% tags=["version"]
# %load_ext minilc.course.listings
from minilc.course import draw, exercises as ex
from minilc.course.expect import expect_error
from minilc.course.probe import Probe
from minilc.course.trace import trace
from minilc.course.twin import twin
from minilc.course.upstream import where

for name in ["BaseTool.invoke", "BaseTool.run", "BaseTool._to_args_and_kwargs", "_format_output"]:
    print(f"{name:<29}", where(name).upstream)

# %% [markdown] lang="en"
# ## 1. The real thing
#
# A tool, and a call as a model makes it. Look at `"days": "3"`: the model sends a text where our function wants a number.

# %%
from langchain_core.tools import tool


@tool
def weather(city: str, days: int = 1) -> dict:
    """The weather of a city."""
    return {"city": city, "days": days}


args = {"city": "北京", "days": "3"}
call = {"name": "weather", "args": args, "id": "call_1", "type": "tool_call"}
weather.invoke(call)

# %% [markdown] lang="en"
# Three things happened that our function does not do. The text `"3"` became the number 3. The dict became text. The text went into a message that carries the call's id.
#
# Now we give the same tool the arguments alone. Do we get a message again?

# %%
answer = weather.invoke(call)
assert answer.content == '{"city": "北京", "days": 3}'
assert answer.tool_call_id == "call_1"
weather.invoke(args)

# %% [markdown] lang="en"
# No. **A call gets a message; plain arguments get the value.** Half of the notebook is in this sentence.
#
# Another surprise: the tool is not a function any more. The function is inside, as `func`.

# %%
with expect_error(TypeError, "'StructuredTool' object is not callable"):
    weather("北京")
assert weather.func("北京") == {"city": "北京", "days": 1}

# %% [markdown] lang="en"
# ## 2. The naive version
#
# What would we write ourselves? A tool takes a dict and calls the function with it.


# %%
def tool_v0(function):
    def invoke(given):
        return function(**given)

    return invoke


# %% [markdown] lang="en"
# It works with clean arguments. But a text passes for a number without a word, and a model's call breaks it.

# %%
naive = tool_v0(weather.func)
assert naive({"city": "北京", "days": "3"}) == {"city": "北京", "days": "3"}
with expect_error(TypeError, "weather() got an unexpected keyword argument 'name'"):
    naive(call)

# %% [markdown] lang="en"
# ### The probe
#
# We will grow this in four steps. After each step we ask the same eight things of our version and of LangChain's tool. Our function refuses one city, so that something can go wrong.

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
    "a number as text": args,
    "a key too many": {"city": "北京", "unit": "C"},
    "not a number": {"city": "北京", "days": "soon"},
    "only a text": "北京",
    "a call": call,
    "a call without type": {"name": "weather", "args": args, "id": "call_1"},
    "a call that fails": call | {"args": {"city": "Atlantis"}},
}
probe = Probe(real.invoke, INPUTS)

# %% [markdown] lang="en"
# How many of the eight does `tool_v0` get right? Guess before you look.

# %%
result = probe(tool_v0(forecast))
assert result.score == 1
result

# %% [markdown] lang="en"
# ## 3. Check the arguments
#
# Layer 2 made a pydantic model from a signature. Such a model checks and converts, fills in defaults, and drops what it does not know.

# %%
from minilc.schema import create_schema_from_function

schema = create_schema_from_function("weather", forecast)
schema.model_validate({"city": "北京", "days": "3", "unit": "C"})

# %% [markdown] lang="en"
# We put it in front of the function.


# %%
def tool_v1(function):
    def invoke(given):
        return function(**schema.model_validate(given).model_dump())

    return invoke


# %%
result = probe(tool_v1(forecast))
assert result.score == 5
result

# %% [markdown] lang="en"
# From one to five. Look at *a key too many*: the model sent a unit, the tool dropped it, and nobody was told. LangChain does just the same.
#
# **Wait a minute.** `model_dump` turns everything into dicts. What if an argument is itself a model?

# %%
from pydantic import BaseModel


class Place(BaseModel):
    city: str


@tool
def kind(place: Place) -> str:
    """What the function gets."""
    return type(place).__name__


place = {"place": {"city": "北京"}}
assert kind.args_schema.model_validate(place).model_dump() == place
kind.invoke(place)

# %% [markdown] lang="en"
# LangChain's function gets a `Place`; ours would get a dict. `dict(model)` is better: it opens the outer model only.
#
# A bare text is also allowed. It is taken for the first argument.


# %%
def checked(given):
    if isinstance(given, str):
        given = {next(iter(schema.model_fields)): given}
    return dict(schema.model_validate(given))


# %% [markdown] lang="en"
# In minilc, as upstream, this is `_to_args_and_kwargs` with `_parse_input` below it. It is the longest function of the layer; JupyterLab folds it. One odd thing is worth finding in it: what becomes of a text after it was checked?

# %% source="minilc.base:BaseTool._to_args_and_kwargs, BaseTool._parse_input"
from minilc.base import BaseTool

# %% [markdown] lang="en"
# ## 4. Is it a call?
#
# A model's call is a dict. Plain arguments are a dict too. One key tells them apart: `"type": "tool_call"`.


# %%
def prepared(given):
    if isinstance(given, dict) and given.get("type") == "tool_call":
        return given["args"], given["id"]
    return given, None


# %%
def tool_v2(function):
    def invoke(given):
        arguments, call_id = prepared(given)
        return function(**checked(arguments))

    return invoke


# %% [markdown] lang="en"
# We have added the bare text and the call. Does the score go from five to seven?

# %%
result = probe(tool_v2(forecast))
assert result.score == 6
result

# %% [markdown] lang="en"
# No, to six. The call does run now, but LangChain answers it with a message, and we do not.
#
# *A call without type* fails in both. It has a name, args and an id, and is no call: it is read as arguments, and `city` is missing.

# %% source="minilc.base:_prep_run_args"
from minilc.base import _prep_run_args

# %% [markdown] lang="en"
# The finished one also copies the arguments, so that the caller's call stays as it was.
#
# ## 5. A value becomes an answer
#
# A model never sees a Python value. It reads messages. So a call is answered with a `ToolMessage`: some text, and the id of the call.

# %%
import json
from langchain_core.messages import ToolMessage


def answered(value, call_id, status="success"):
    if call_id is None:
        return value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return ToolMessage(text, name="weather", tool_call_id=call_id, status=status)


# %%
def tool_v3(function):
    def invoke(given):
        arguments, call_id = prepared(given)
        return answered(function(**checked(arguments)), call_id)

    return invoke


# %% [markdown] lang="en"
# The same probe again.

# %%
result = probe(tool_v3(forecast))
assert result.score == 7
result

# %% [markdown] lang="en"
# One input is left, the call that fails. It has to wait for part 6.
#
# **Wait a minute.** JSON cannot write everything. What does the model read when a tool returns `None`, a list, a date? Guess, then look at LangChain's answers.

# %%
import datetime


def content(value):
    """What the model reads if a tool returns this value."""
    give = StructuredTool.from_function(lambda: value, name="give", description="Give it.")
    return give.invoke({"name": "give", "args": {}, "id": "c1", "type": "tool_call"}).content


blocks = [{"type": "text", "text": "sunny"}]
for value in ["sunny", None, 25, [1, 2], [], ["a", "b"], blocks, {1}, datetime.date(2025, 5, 1)]:
    print(f"{value!r:<38}", repr(content(value)))

# %% [markdown] lang="en"
# Three rules. Text stays text. A list of texts or of content blocks stays a list. All else becomes JSON, or Python's `str` where JSON fails.
#
# Now two sentences from the articles. B: the content is `str(response)`. A: better return `json.dumps(...)` than a raw dict. Are they right?

# %%
print(content({"city": "北京"}), "is not", {"city": "北京"})
assert content({"city": "北京"}) == '{"city": "北京"}' != str({"city": "北京"})
assert content({"value": 1}) == content(json.dumps({"value": 1}))

# %% [markdown] lang="en"
# B is not: the content is JSON, and 北京 stays readable in it. And A's advice changes nothing, as long as JSON can write the value.
#
# This is minilc's version. It also lets through messages that a tool makes itself, and blocks.

# %% source="minilc.base:_format_output, _stringify"
from minilc.base import _format_output, _stringify

# %% [markdown] lang="en"
# Try it: write `ensure_ascii=True` in the cell above, run it, and run the judge below. It compares minilc with LangChain. Then put it back, and run both again.

# %%
result = twin(lambda lc: lc.tool("weather")(forecast).invoke(call), title="one call")
assert result.verdict == "EQUAL"
result

# %% [markdown] lang="en"
# ## 6. Errors that the model may read
#
# With `ToolException` a tool says: this text is for the model. If the tool *handles* it, the text becomes the answer, with status `error`.


# %%
def tool_v4(function, handle_tool_error=True):
    def invoke(given):
        arguments, call_id = prepared(given)
        try:
            return answered(function(**checked(arguments)), call_id)
        except ToolException as error:
            if not handle_tool_error:
                raise
            return answered(str(error), call_id, "error")

    return invoke


# %%
result = probe(tool_v4(forecast))
assert result.score == len(INPUTS)
result

# %% [markdown] lang="en"
# Eight of eight. See the status in the last row: that is how others learn that the call failed.
#
# In LangChain handling is off unless we ask for it. `handle_tool_error` may be `True`, a text, or a function of the error. `handle_validation_error` is the same for wrong arguments.

# %%
for handler in [True, "Try another one.", lambda error: f"I got a {type(error).__name__}."]:
    options = {"handle_tool_error": handler, "handle_validation_error": handler}
    careful = StructuredTool.from_function(forecast, **options)
    print(careful.invoke("Atlantis"), "|", careful.invoke({"city": "北京", "days": "soon"}))

# %% [markdown] lang="en"
# With `True` the model is told that its arguments are wrong, but not what is wrong. A function can do better: exercise 3.
#
# **Wait a minute.** So a careful tool never raises? It does. Any other exception passes through. And the handler for wrong arguments may get an error that has nothing to do with the arguments.


# %%
def pay(amount: int) -> str:
    """Pay."""
    if amount > 100:
        raise RuntimeError("the bank is closed")
    return Place(city=amount).city  # the function's own mistake


careful = StructuredTool.from_function(pay, **options)
assert careful.invoke({"amount": 5}) == "I got a ValidationError."
with expect_error(RuntimeError, "the bank is closed"):
    careful.invoke({"amount": 500})

# %% [markdown] lang="en"
# `{"amount": 5}` was fine. The error came out of the body, and the model hears that *it* sent something wrong. Remember this one when a model keeps correcting arguments that are right.
#
# Here is all of it in minilc. Sync and async share one body. Can you find our four steps?

# %% source="minilc.base:BaseTool.invoke, BaseTool.run, BaseTool._execute"
from minilc.base import BaseTool

# %% [markdown] lang="en"
# ## 7. Four things more
#
# **An artifact** is for the program, not for the model. A tool that says so returns a pair: what the model reads, and what only we see.


# %%
@tool(response_format="content_and_artifact")
def search(city: str):
    """Search."""
    return "2 results", [{"id": 1}, {"id": 2}]


found = search.invoke({"name": "search", "args": args, "id": "c1", "type": "tool_call"})
assert found.content == "2 results" and found.artifact == [{"id": 1}, {"id": 2}]
search.invoke(args)

# %% [markdown] lang="en"
# Plain arguments get the content alone: there is no message that could carry the artifact.
#
# **The call's id** can be an argument. The model does not see this argument. If it sends one anyway, the real id wins.

# %%
from typing import Annotated
from langchain_core.tools import InjectedToolCallId


@tool
def note(text: str, call_id: Annotated[str, InjectedToolCallId]) -> str:
    """Note it."""
    return f"{text} for {call_id}"


forged = {"text": "晴", "call_id": "forged"}
assert list(note.tool_call_schema.model_fields) == ["text"]
assert note.invoke(call | {"args": forged}).content == "晴 for call_1"
with expect_error(ValueError, "When tool includes an InjectedToolCallId argument, ..."):
    note.invoke(forged)

# %% [markdown] lang="en"
# **Async.** `ainvoke` takes both kinds of function; a plain one runs in a thread. `invoke` does not take an async one. In a notebook a loop runs already, so we simply write `await`; `asyncio.run` would be refused.


# %%
@tool
async def slow(city: str) -> str:
    """The weather, later."""
    return f"{city}: 晴"


assert await slow.ainvoke("北京") == "北京: 晴"
assert await weather.ainvoke(call) == weather.invoke(call)
with expect_error(NotImplementedError, "StructuredTool does not support sync invocation."):
    slow.invoke("北京")

# %% [markdown] lang="en"
# **`return_direct`** means: show the result to the user, do not go back to the model. The tool only carries it. The agent acts on it, in layer 14.

# %%
direct = StructuredTool.from_function(forecast, name="weather", return_direct=True)
assert direct.invoke(call) == real.invoke(call)

# %% [markdown] lang="en"
# ## 8. The judge
#
# One call was equal in both worlds. Here are all comparisons that minilc has for this layer. Some of them are errors, and those must be equal to the last letter.

# %% tags=["version"]
from minilc.course import cases, check
from minilc.course.layers import layer

(report,) = check.check([layer("base")], cases.load(["base"]))
assert report.ok
report.counts

# %% [markdown] lang="en"
# ## 9. The picture
#
# Article B names the chain `invoke → run → _to_args_and_kwargs → _run`. We need not believe it: Python can report each call. This is a run of LangChain's tool. The numbers give the order.

# %%
chain = "invoke _prep_run_args run _to_args_and_kwargs _parse_input _run forecast _format_output"
steps = trace(lambda: real.invoke(call), chain.split())
assert steps.names == chain.split()
steps

# %% [markdown] lang="en"
# Our function is the seventh of eight. Before it: is it a call, are the arguments right? After it: how does the value become an answer?
#
# ## 10. Left out
#
# What minilc does not have here, and what depends on LangChain's version.

# %%
from minilc.course.register import left_out

left_out("base")

# %% [markdown] lang="en"
# ## 11. Exercises
#
# In the first two, your function takes its place inside minilc, and real LangChain judges it. Stuck? `ex.hint("base-1")` helps, one step at a time.

# %%
ex.show("base-1")

# %% stub="base-1"

# %% [markdown] lang="en"
# The second one begins with a bug report.

# %%
ex.show("base-2")

# %% stub="base-2"

# %% [markdown] lang="en"
# The third is the handler that part 6 promised. You can use it in your own agents.

# %%
ex.show("base-3")

# %% stub="base-3"

# %% [markdown] lang="en"
# ## 12. Recap
#
# A dict is a call only if its type says so. Arguments are checked and converted before the function runs. A call is answered with a message that carries its id; plain arguments get the value.
#
# Our weather question so far: asked, called, and now answered by the tool. The model has not read the answer yet.

# %%
from langchain_core.messages import AIMessage, HumanMessage

asked = [HumanMessage("北京今天天气怎么样？"), AIMessage("", tool_calls=[call])]
draw.sequence([*asked, weather.invoke(call)])

# %% [markdown] lang="en"
# Two questions to end with. `ex.answer("base-1", "a")` says why an option is right or wrong.

# %%
from IPython.display import display

display(ex.quiz("base-1"), ex.quiz("base-2"))

# %% [markdown] lang="en"
# Next: [04_structured](04_structured.ipynb). Where do a tool's name, description and schema come from?
