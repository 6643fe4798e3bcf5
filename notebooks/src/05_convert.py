# %% [markdown] lang="en"
# # In how many ways may one write `@tool`?
#
# One line above a function, and it is a tool. But the line may have brackets, options, a name; or there is no line at all, just a call. What does each of them make?
#
# |  |  |
# |---|---|
# | **Time** | 25 minutes, and 30 for the exercises |
# | **Difficulty** | medium |
# | **Before** | [04_structured](04_structured.ipynb): where name, description and schema come from |
# | **Articles** | A, layer 1, problem 1, advice 1 |
# | **We build** | layer 5, `minilc/convert.py` |
#
# The two kinds of tool that come out of it have files of their own.

# %% tags=["version"]
# %load_ext minilc.course.listings
from minilc.course import draw, exercises as ex
from minilc.course.expect import expect_error
from minilc.course.probe import Probe
from minilc.course.trace import trace
from minilc.course.twin import twin
from minilc.course.upstream import where

for name in ["tool", "StructuredTool", "Tool"]:
    print(f"{name:<15}", where(name).upstream)

# %% [markdown] lang="en"
# ## 1. The real thing
#
# A decorator is a function that gets a function. What stands under the name `weather` afterwards is what it returned.

# %%
from langchain_core.tools import tool as real_tool


@real_tool
def weather(city: str) -> str:
    """The weather of a city."""
    return f"{city}: 晴"


print(type(weather).__name__, "|", weather.name, "|", weather.description)
weather.invoke({"city": "北京"})

# %% [markdown] lang="en"
# We call it `real_tool` here, to tell it from ours. Three decorators more; can you say before you run it what they make?


# %%
@real_tool("sky_report", return_direct=True)
def sky(city: str) -> str:
    """The sky above a city."""
    return f"{city}: 晴"


@real_tool
async def later(city: str) -> str:
    """The weather, later."""
    return f"{city}: 雨"


simple = real_tool(infer_schema=False)(weather.func)
for made in [sky, later, simple]:
    print(type(made).__name__, "|", made.name, "|", list(made.args), "|", made.func is None)

# %% [markdown] lang="en"
# The first has another name. The second has no `func`: it can only be awaited. The third is no `StructuredTool`, and its argument is not ours. We come to each of them.
#
# ## 2. The naive version
#
# A decorator need not be a function. A class will do: something that is called with a function and returns an object.


# %%
class tool_v0:
    def __init__(self, func):
        self.func = func
        self.name = func.__name__
        self.description = func.__doc__


# %% [markdown] lang="en"
# Above a function it works. With brackets it breaks.


# %%
@tool_v0
def rain(city: str) -> str:
    """Will it rain?"""
    return "no"


assert (rain.name, rain.description) == ("rain", "Will it rain?")
with expect_error(TypeError, "tool_v0.__init__() missing 1 required positional argument: 'func'"):
    tool_v0()(rain.func)

# %% [markdown] lang="en"
# ### The probe
#
# The inputs are ways of writing it. `t` stands for the decorator, ours or LangChain's. `@t("x")` above a function is the same as `t("x")(function)`.

# %%
plain, slow = weather.func, later.coroutine
SHAPES = {
    "@tool": lambda t: t(plain),
    "@tool()": lambda t: t()(plain),
    "@tool(description=...)": lambda t: t(description="查天气")(plain),
    '@tool("sky")': lambda t: t("sky")(plain),
    'tool("sky", function)': lambda t: t("sky", plain),
    "@tool, async": lambda t: t(slow),
    'tool("ask", runnable)': lambda t: t("ask", weather, description="Ask."),
    "tool(5)": lambda t: t(5),
}


def written(tool):
    def show(shape):
        made = shape(tool)
        return made.name, made.description, "awaited" if made.func is None else "called"

    return show


# %% [markdown] lang="en"
# Each row shows the name, the description, and whether the tool is called or awaited.

# %%
probe = Probe(written(real_tool), SHAPES)
result = probe(written(tool_v0))
assert result.score == 1
result

# %% [markdown] lang="en"
# ## 3. A function
#
# Layer 4 makes better tools than our class. So the decorator becomes a function that hands its function on, with the name of it.

# %%
from minilc.structured import StructuredTool


def tool_v1(function, **options):
    return StructuredTool.from_function(function, name=function.__name__, **options)


# %%
result = probe(written(tool_v1))
assert result.score == 1
result

# %% [markdown] lang="en"
# Nothing won yet, but what comes out now has a schema and can be called. (The error in the last row is ours: 5 has no `__name__`.)
#
# ## 4. Brackets
#
# `@tool()` is two calls. The first has no function. It must return something that waits for one.


# %%
def tool_v2(function=None, **options):
    if function is None:
        return lambda later: tool_v1(later, **options)
    return tool_v1(function, **options)


# %%
result = probe(written(tool_v2))
assert result.score == 3
result

# %% [markdown] lang="en"
# **With brackets there is no tool yet, only something that makes one.** This one sentence explains most of the strange errors around `@tool`.
#
# ## 5. A name first
#
# The first thing may also be a text. Then it is the name, and the function comes second, or later. `make` is who makes the tool; part 6 hands in another.


# %%
def tool_v3(first=None, second=None, *, make=StructuredTool.from_function, **options):
    if second is not None:
        return make(second, name=first, **options)
    if callable(first):
        return make(first, name=first.__name__, **options)
    return lambda function: make(function, name=first or function.__name__, **options)


# %%
result = probe(written(tool_v3))
assert result.score == 5
result

# %% [markdown] lang="en"
# Five. The last three rows need a look at *what* we are given, and not only where it stands.
#
# ## 6. Async, and a thing that is no function
#
# An async function goes to the second place of `from_function`. And whatever has an `invoke` and a schema, a *runnable*, can be called through a small function.


# %%
import inspect


def looked_at(source, **options):
    if hasattr(source, "get_input_schema"):
        options["args_schema"] = source.get_input_schema()
        return StructuredTool.from_function(lambda **given: source.invoke(given), **options)
    if inspect.iscoroutinefunction(source):
        return StructuredTool.from_function(coroutine=source, **options)
    return StructuredTool.from_function(source, **options)


# %% [markdown] lang="en"
# Only the maker changes; the shapes stay as they are.


# %%
def tool_v4(first=None, second=None, **options):
    return tool_v3(first, second, make=looked_at, **options)


# %%
result = probe(written(tool_v4))
assert result.score == 7
result

# %% [markdown] lang="en"
# The last row is a mistake of whoever writes it. LangChain says so at once, in words. Ours fails later, by accident.

# %%
WORDS = "The first argument must be a string or a callable with a __name__ for tool decorator."


def tool_v5(first=None, second=None, **options):
    if first is None or isinstance(first, str) or hasattr(first, "__name__"):
        return tool_v4(first, second, **options)
    raise ValueError(f"{WORDS} Got {type(first)}")


# %%
result = probe(written(tool_v5))
assert result.score == len(SHAPES)
result

# %% [markdown] lang="en"
# Eight of eight. Here is minilc's. The shapes are at the end, the look at the source is in `make`. JupyterLab folds it.

# %% source="minilc.convert:tool"
from minilc.convert import tool

# %% [markdown] lang="en"
# Try it: shorten the line that asks `inspect.iscoroutinefunction` to `func, coroutine = source, None`, run the cell, and run the judge. What does the tool return now? Then put it back.


# %%
result = twin(lambda lc: lc.tool(slow).ainvoke({"city": "北京"}), title="an async function")
assert result.verdict == "EQUAL"
result

# %% [markdown] lang="en"
# ## 7. What is left of the function?
#
# The tool is no function. Calling it like one is the first error that everybody meets. And an async tool cannot be invoked, only awaited.

# %%
with expect_error(TypeError, "'StructuredTool' object is not callable"):
    weather("北京")
with expect_error(NotImplementedError, "StructuredTool does not support sync invocation."):
    later.invoke({"city": "北京"})
weather.func("北京"), await later.ainvoke({"city": "北京"})

# %% [markdown] lang="en"
# So keep the function under a name of its own if you also want to call it: `weather_tool = tool(weather)`.
#
# ## 8. The options
#
# `description=` comes before the docstring, and makes it unnecessary. `args_schema=` replaces the signature; the docstring stays the description. `extras=` is carried.

# %%
from pydantic import BaseModel, Field


class City(BaseModel):
    """Not the description."""

    city: str = Field(description="for example 北京", min_length=2)


given = real_tool("w", args_schema=City, extras={"team": "sky"})(plain)
assert given.description == "The weather of a city." and given.extras == {"team": "sky"}
given.args

# %% [markdown] lang="en"
# `parse_docstring=True` is stricter here than in `from_function`: a docstring without a section `Args:` is an error. `error_on_invalid_docstring=False` takes that back. A wrong name stays an error.


# %%
def rent(book: str) -> str:
    """Rent a book.

    Args:
        bok: The number on its spine.
    """


parse = real_tool(parse_docstring=True)
with expect_error(ValueError, "Found invalid Google-Style docstring."):
    parse(plain)
with expect_error(ValueError, "Arg bok in docstring not found in function signature."):
    parse(rent)
real_tool(parse_docstring=True, error_on_invalid_docstring=False)(plain).description

# %% [markdown] lang="en"
# An option that does not exist is an error here. (In `from_function` it was swallowed.) No docstring and no description is one too, the one that we know.

# %%
with expect_error(TypeError, "tool() got an unexpected keyword argument 'retrun_direct'"):
    real_tool(retrun_direct=True)
with expect_error(ValueError, "Function must have a docstring if description not provided."):
    real_tool("echo", lambda text: text)
real_tool("echo", lambda text: text, description="Say it again.").invoke({"text": "晴"})

# %% [markdown] lang="en"
# ## 9. The other kind: `Tool`
#
# With `infer_schema=False` and no `args_schema` the result is a `Tool`: one text in, and no schema. What does the model read of it?

# %%
from langchain_core.utils.function_calling import convert_to_openai_tool

assert type(simple).__name__ == "Tool"
assert simple.invoke("北京") == simple.invoke({"any_name": "北京"}) == "北京: 晴"
convert_to_openai_tool(simple)["function"]["parameters"]

# %% [markdown] lang="en"
# One text, called `__arg1`. Article A says why this is poor: the model must guess what to write into it. And a function of two arguments cannot be called at all.

# %%
from langchain_core.tools import ToolException

with expect_error(ToolException, "Too many arguments to single-input tool weather..."):
    simple.invoke({"city": "a", "unit": "b"})
type(real_tool(infer_schema=False, args_schema=City)(plain)).__name__

# %% [markdown] lang="en"
# The last line: `args_schema` wins, and we are back at the `StructuredTool`.
#
# The description of a `Tool` depends on the version. Old ones throw the docstring away and write `weather tool`. Yours?

# %% tags=["version"]
assert simple.description in ("weather tool", plain.__doc__)
simple.description

# %% [markdown] lang="en"
# ## 10. A runnable as a tool
#
# We made a tool of a tool above. More useful: a compiled graph, so that one agent may call another. It needs a name, and its input must be an object with named fields. Without a description the model reads the graph's `repr`.

# %%
from langgraph.graph import START, StateGraph


class Question(BaseModel):
    text: str
    times: int = 2


def echo(state: Question):
    return {"text": state.text * state.times}


graph = StateGraph(Question).add_node("echo", echo).add_edge(START, "echo").compile()
asking = real_tool("ask", graph, description="Ask the other agent.")
print(list(asking.args), asking.invoke({"text": "晴"}))
real_tool("ask", graph).description.split()[0]

# %% [markdown] lang="en"
# So always give the description. And here is what a runnable must have.

# %%
from langchain_core.runnables import RunnableLambda

with expect_error(ValueError, "Runnable must have an object schema."):
    real_tool("up", RunnableLambda(lambda text: text.upper()))
with expect_error(ValueError, "Name must be a string for tool constructor"):
    real_tool(plain, weather)
with expect_error(ValueError, "Runnable without name for tool constructor"):
    real_tool("", weather)

# %% [markdown] lang="en"
# ## 11. On something wrong
#
# What else may stand behind the `@`? A number, a dict, a finished tool: they have no `__name__`, and the message says so.

# %%
for wrong in [5, {"type": "web_search"}, weather]:
    with expect_error(ValueError, f"{WORDS} Got {type(wrong)}"):
        real_tool(wrong)

# %% [markdown] lang="en"
# A third thing has no place. The text ends in the middle of a sentence; that is how LangChain has it.

# %%
with expect_error(ValueError, "Too many arguments for tool decorator. A decorator "):
    real_tool("name", plain, "third")

# %% [markdown] lang="en"
# **Wait a minute.** A class has a `__name__`, and it can be called. Is a class a function, then?


# %%
@real_tool
class Place(BaseModel):
    """A place."""

    city: str


class Plain:
    """A place."""

    def __init__(self, city: str):
        self.city = city


print(type(Place.invoke({"city": "北京"})).__name__)
with expect_error(KeyError, "'city'"):
    real_tool(Plain)

# %% [markdown] lang="en"
# A pydantic class passes, and its tool returns an object of the class. A plain class fails with a `KeyError` that helps nobody. Decorate functions. A method of an object is one: `tool(station.ask)`.
#
# ## 12. Names
#
# The name is what the model writes into its call. Nobody checks it, not even for a `lambda`.

# %%
for name in ["搜索 天气!", "a" * 65, (lambda: 0).__name__]:
    print(real_tool(name, plain).name[:20])

# %% [markdown] lang="en"
# The provider checks it. OpenAI refuses the whole request if one name has a space, a Chinese character, or more than 64 letters. Keep to `a-z`, digits and `_`, and say what it does to what: `search_orders`.
#
# And if two tools have one name?

# %%
from langgraph.prebuilt import ToolNode

old = real_tool("search", plain, description="the old one")
new = real_tool("search", plain, description="the new one")
{name: kept.description for name, kept in ToolNode([old, new]).tools_by_name.items()}

# %% [markdown] lang="en"
# The last one wins, without a word. A second `search` from another package is enough.
#
# ## 13. The judge
#
# All comparisons that minilc has for this layer, errors included.

# %% tags=["version"]
from minilc.course import cases, check
from minilc.course.layers import layer

(report,) = check.check([layer("convert")], cases.load(["convert"]))
assert report.ok
report.counts

# %% [markdown] lang="en"
# ## 14. The picture
#
# Article A names two helpers inside of `tool`, `_make_with_name` and `_make_tool`. Are they still there? These are the calls of `@tool(description=...)` in your LangChain.

# %%
chain = "tool _partial _create_tool_factory _tool_factory from_function".split()
names = [*chain, "_make_with_name", "_make_tool"]
steps = trace(lambda: real_tool(description="Ask.")(plain), names)
assert steps.names == chain
steps

# %% [markdown] lang="en"
# No. They have other names today. There are two calls of ours, as with all brackets: the first ends at once and leaves `_partial` behind, the second does the work.
#
# ## 15. Left out
#
# What minilc does not have here, and what depends on LangChain's version.

# %%
from minilc.course.register import left_out

left_out("convert")

# %% [markdown] lang="en"
# ## 16. Exercises
#
# First a bug report. It is about a decorator below `@tool`. `ex.hint("convert-1")` helps, one step at a time.

# %%
ex.show("convert-1")

# %% stub="convert-1"

# %% [markdown] lang="en"
# The second one is the check of names that part 12 asks for.

# %%
ex.show("convert-2")

# %% stub="convert-2"

# %% [markdown] lang="en"
# ## 17. Recap
#
# Without brackets `tool` gets the function at once; with brackets it returns something that waits for it. It looks at what it gets: a function, a coroutine function, a runnable. Then layer 4 makes the tool, and only `infer_schema=False` makes the other kind.
#
# Our weather question so far: the same as before, and one line above our function was enough.

# %%
from langchain_core.messages import AIMessage, HumanMessage

call = {"name": "weather", "args": {"city": "北京"}, "id": "call_1", "type": "tool_call"}
asked = [HumanMessage("北京今天天气怎么样？"), AIMessage("", tool_calls=[call])]
draw.sequence([*asked, weather.invoke(call)])

# %% [markdown] lang="en"
# Two questions to end with. `ex.answer("convert-1", "a")` says why an option is right or wrong.

# %%
from IPython.display import display

display(ex.quiz("convert-1"), ex.quiz("convert-2"))

# %% [markdown] lang="en"
# Next: [06_function_calling](06_function_calling.ipynb). What do OpenAI, Anthropic and Gemini each get from one tool?
