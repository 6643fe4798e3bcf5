# %% [markdown] lang="en"
# # Where do a tool's name, description and schema come from?
#
# A model chooses a tool by three things: a name, a description, a schema. We wrote a function. Who wrote the three things, and from what?
#
# |  |  |
# |---|---|
# | **Time** | 25 minutes, and 35 for the exercises |
# | **Difficulty** | easy |
# | **Before** | [02_schema](02_schema.ipynb): how a signature becomes a schema; [03_base](03_base.ipynb): what a call of a tool does |
# | **Articles** | A, layer 2, problem 1, advice 2 and 3 |
# | **We build** | layer 4, `minilc/structured.py` |
#
# Article A points to `langchain_core/tools.py`. That file is now a folder. Here it is in *your* installation.

# %% tags=["version"]
# %load_ext minilc.course.listings
from minilc.course import draw, exercises as ex
from minilc.course.expect import expect_error
from minilc.course.probe import Probe
from minilc.course.trace import trace
from minilc.course.twin import twin
from minilc.course.upstream import where

for name in ["StructuredTool.from_function", "StructuredTool._run", "create_schema_from_function"]:
    print(f"{name:<29}", where(name).upstream)

# %% [markdown] lang="en"
# ## 1. The real thing
#
# One function goes in, and nothing else.

# %%
from langchain_core.tools import StructuredTool


def weather(city: str, days: int = 1) -> str:
    """The weather of a city."""
    return f"{city}, {days} days: 晴"


from_function = StructuredTool.from_function
real = from_function(weather)
assert real.func is weather
print(real.name, "|", real.description)
real.args

# %% [markdown] lang="en"
# The name is the function's name, the description its docstring, the schema its signature. The function itself is kept. Article B looks for it in `_run`; it is in `func`.
#
# ## 2. The naive version
#
# Article A gives the rule in two lines: `name or __name__`, and `description or __doc__`. We write just that. To compare, we look at the name, the description, and the arguments.

# %%
import inspect
import textwrap
from types import SimpleNamespace


def made(name, description, args):
    return SimpleNamespace(name=name, description=description, args=args)


def tool_v0(func, name=None, description=None):
    args = inspect.signature(func).parameters
    return made(name or func.__name__, description or func.__doc__, args)


# %%
print(tool_v0(weather, name="天气").name)
with expect_error(TypeError, "tool_v0() missing 1 required positional argument: 'func'"):
    tool_v0()


# %% [markdown] lang="en"
# The second line breaks it. LangChain has words of its own for this mistake, and we will see them.
#
# ### The probe
#
# Now some material: a function without docstring, one with an indented docstring, an async one, and two schemas.


# %%
from pydantic import BaseModel


def bus(stop: str, line: str = "1") -> str:
    return f"{line} from {stop}: 8:05"


def loan(book: str) -> str:
    """
    Lend a book.

        Only to members.
    """
    return book


async def later(city: str, days: int = 1) -> str:
    """The weather, later."""
    return f"{city}: 雨"


# %%
class Stop(BaseModel):
    """Departures of a bus stop."""

    stop: str


# %% [markdown] lang="en"
# Nine ways to call `from_function`. Each row of the table will show the name, the description and the arguments. How many does the article's rule get right?

# %%
JSON = {"type": "object", "properties": {"stop": {"type": "string"}}}
JSON |= {"description": "Buses of a stop.", "required": ["stop"]}
INPUTS = {
    "a function": {"func": weather},
    "a name": {"func": weather, "name": "天气"},
    "an empty description": {"func": weather, "description": ""},
    "no docstring": {"func": bus},
    "an indented docstring": {"func": loan},
    "a coroutine": {"coroutine": later},
    "nothing": {},
    "a pydantic schema": {"func": bus, "args_schema": Stop},
    "a JSON schema": {"func": bus, "args_schema": JSON},
}


def shown(make):
    def show(given):
        tool = make(**given)
        return tool.name, tool.description, list(tool.args)

    return show


# %%
probe = Probe(shown(from_function), INPUTS)
result = probe(shown(tool_v0))
assert result.score == 2
result

# %% [markdown] lang="en"
# Two. Look at the third row: an empty description was given, and the article's rule threw it away. LangChain keeps it. The rule was right in 2024.
#
# ## 3. Which function?
#
# A tool may have a function, a coroutine function, or both. The first one that is there is the *source* of everything else.


# %%
def source_of(func, coroutine):
    if not (func or coroutine):
        raise ValueError("Function and/or coroutine must be provided")
    return func or coroutine


def tool_v1(func=None, coroutine=None, name=None, description=None):
    source = source_of(func, coroutine)
    args = inspect.signature(source).parameters
    return made(name or source.__name__, description or source.__doc__, args)


# %% [markdown] lang="en"
# Two rows should turn: *a coroutine* and *nothing*.

# %%
result = probe(shown(tool_v1))
assert result.score == 4
result

# %% [markdown] lang="en"
# With both, `invoke` runs the function and `ainvoke` runs the coroutine. Name, description and schema come from the function alone, so the coroutine must take the same arguments.

# %%
both = from_function(weather, later)
print(both.name, "|", both.invoke({"city": "北京"}), "|", await both.ainvoke({"city": "北京"}))
assert both.description == weather.__doc__

# %% [markdown] lang="en"
# **Wait a minute.** An async function is a function. What if we hand it in first, where the plain one belongs?

# %%
lost = from_function(later).invoke({"city": "北京"})
print(type(lost).__name__)
lost.close()  # nobody awaits it

# %% [markdown] lang="en"
# The tool returns a coroutine that nobody awaits, and there is no error. So write `coroutine=later`. The decorator of the next notebook sees the difference by itself.
#
# ## 4. Which description?
#
# Three places, in this order: `description=`, the docstring of the source, what the schema says of itself. If there is none, an error.


# %%
def said_by(args_schema):
    if isinstance(args_schema, dict):
        return args_schema.get("description")
    return args_schema and args_schema.__doc__


def described(source, description, args_schema):
    for text in [description, source.__doc__, said_by(args_schema)]:
        if text is not None:
            return text
    raise ValueError("Function must have a docstring if description not provided.")


def tool_v2(func=None, coroutine=None, name=None, description=None, args_schema=None):
    source = source_of(func, coroutine)
    args = inspect.signature(source).parameters
    return made(name or source.__name__, described(source, description, args_schema), args)


# %% [markdown] lang="en"
# **`None` means not given; an empty text is given.** That one test is the difference from the article. The same probe again.

# %%
result = probe(shown(tool_v2))
assert result.score == 6
result

# %% [markdown] lang="en"
# The error in row four is article A's problem 1. A docstring mends it, or `description=`. A schema's docstring mends it too, and then it *is* the description, even if we wrote it for somebody else.

# %%
with expect_error(ValueError, "Function must have a docstring if description not provided."):
    from_function(bus)
from_function(bus, args_schema=Stop).description

# %% [markdown] lang="en"
# ## 5. The indentation
#
# A docstring is indented like the code around it. `textwrap.dedent` takes away what all lines share; `strip` takes the empty ends.


# %%
def tool_v3(func=None, coroutine=None, name=None, description=None, args_schema=None):
    plain = tool_v2(func, coroutine, name, description, args_schema)
    plain.description = textwrap.dedent(plain.description).strip()
    return plain


# %%
result = probe(shown(tool_v3))
assert result.score == 7
result


# %% [markdown] lang="en"
# *Only to members.* keeps its four spaces: they are ours, not the code's.
#
# **Wait a minute.** Most people begin a docstring right after the quotes. Then the first line has no indentation, and the lines share nothing.


# %%
def lend(book: str) -> str:
    """Lend a book.

    Only to members.
    """
    return book


lending = from_function(lend)
print(repr(lending.description))
print(repr(lending.args_schema.__doc__))

# %% [markdown] lang="en"
# Four spaces are left over in the description. The schema's own text, from the same docstring, has none: it went through `inspect.cleandoc`, which treats the first line apart. The model reads the first one. It does no harm, but two texts that should be equal are not.
#
# ## 6. Which schema?
#
# `args_schema=` if it is given, a pydantic class or a JSON schema. Otherwise layer 2 infers one from the signature.

# %%
from minilc.schema import create_schema_from_function


def schema_of(source, args_schema):
    schema = args_schema or create_schema_from_function("args", source)
    return schema if isinstance(schema, dict) else schema.model_json_schema()


def tool_v4(func=None, coroutine=None, name=None, description=None, args_schema=None):
    plain = tool_v3(func, coroutine, name, description, args_schema)
    plain.args = schema_of(func or coroutine, args_schema)["properties"]
    return plain


# %%
result = probe(shown(tool_v4))
assert result.score == len(INPUTS)
result

# %% [markdown] lang="en"
# Nine of nine. In the last two rows the argument `line` is gone: the schema does not know it, so the model never hears of it.
#
# This is minilc's. JupyterLab folds it. Can you find our four steps? One of them stands in another place than ours.

# %% source="minilc.structured:StructuredTool.from_function"
from minilc.structured import StructuredTool

# %% [markdown] lang="en"
# Try it: write `if not description:` for `if description is None:` above, and run it. That is article A's rule again. Run the judge below, which compares minilc with LangChain. Then put it back.

# %%
result = twin(
    lambda lc: lc.StructuredTool.from_function(weather, description="").description,
    title="an empty description",
)
assert result.verdict == "EQUAL"
result

# %% [markdown] lang="en"
# With `infer_schema=False` and no `args_schema` there is no schema, and nothing is checked. The model is then shown a signature that is not ours but the tool's own.

# %%
blind = from_function(weather, infer_schema=False)
assert blind.args_schema is None
assert blind.invoke({"city": 5}) == "5, 1 days: 晴"
list(blind.args)

# %% [markdown] lang="en"
# ## 7. A schema that does not fit
#
# Nobody compares `args_schema` with the function. If the schema has a name that the function does not take, we learn it in the middle of a run.


# %%
class Letter(BaseModel):
    email: str


def send(email: str, address: str = "(none)") -> str:
    """Send a letter."""
    return f"to {email}, {address}"


def post(address: str) -> str:
    """Post a letter."""
    return address


posting = from_function(post, args_schema=Letter)
with expect_error(TypeError, "post() got an unexpected keyword argument 'email'"):
    posting.invoke({"email": "a@b.cn"})

# %% [markdown] lang="en"
# A `TypeError` is no message to the model: it ends the run. The other way round there is no error at all. The model sends an address, and the schema does not know one.

# %%
sending = from_function(send, args_schema=Letter)
assert list(sending.args) == ["email"]
sending.invoke({"email": "a@b.cn", "address": "北京"})

# %% [markdown] lang="en"
# The address was dropped without a word. Exercise 3 is a check for both.
#
# And a JSON schema? It is only shown to the model. Nothing is checked, and its defaults are not filled in.

# %%
days = {"type": "integer", "default": 3}
schema = {"type": "object", "properties": {"city": {"type": "string"}, "days": days}}
shown_only = from_function(weather, args_schema=schema)
print(shown_only.invoke({"city": 5, "days": "many"}), "|", shown_only.invoke({"city": "北京"}))

# %% [markdown] lang="en"
# 5 is no text, `many` is no number, and the default 3 became the function's 1. If you need the check, give a pydantic class. What is no schema at all is refused at once.

# %%
with expect_error(TypeError, "args_schema must be a subclass of ... dict. Got: ['city']."):
    from_function(weather, args_schema=["city"])
with expect_error(TypeError, "Invalid args_schema: expected BaseModel or dict, got ['stop']"):
    from_function(bus, args_schema=["stop"])

# %% [markdown] lang="en"
# Two texts for one mistake: without a docstring the search for a description meets the list first.
#
# ## 8. What the model reads
#
# Here are two tools of one team. A user asks: *what does the big plan cost?* You are the model. Which one?

# %%
from langchain_core.utils.function_calling import convert_to_openai_tool


def read(tool):
    """What the model reads of a tool."""
    return convert_to_openai_tool(tool)["function"]


def search(query: str) -> str:
    """Search."""


def search_products(query: str) -> str:
    """Search the product pages. Use it for questions about plans, prices and limits."""


for function in [search, search_products]:
    print(read(from_function(function))["description"])

# %% [markdown] lang="en"
# LangChain takes both: it asks for *a* description, not for a good one. Say when to use the tool, not only what it does.
#
# The arguments want words too. A docstring may have a section `Args:`. Does the model read it where it belongs?


# %%
def rent(book: str, days: int = 14) -> str:
    """Rent a book.

    Args:
        book: The number on its spine.
        days: How long.
    """


for parsed in [False, True]:
    seen = read(from_function(rent, parse_docstring=parsed))
    print(repr(seen["description"]))
    print(seen["parameters"]["properties"], "\n")

# %% [markdown] lang="en"
# Only with `parse_docstring=True`. Without it the whole docstring is the description, and the parameters stay bare.
#
# Parsing has rules. A name that the function does not have is an error. A section `Raises:` before `Args:` is not known, and the model reads it.


# %%
def weigh(parcel: str) -> str:
    """Weigh a parcel.

    Raises:
        LookupError: our database is down again.

    Args:
        parcel: The label.
    """


def typo(book: str) -> str:
    """Rent a book.

    Args:
        bok: The number on its spine.
    """


print(repr(from_function(weigh, parse_docstring=True).description))
with expect_error(ValueError, "Arg bok in docstring not found in function signature."):
    from_function(typo, parse_docstring=True)

# %% [markdown] lang="en"
# Or write the words into the schema, as article A advises. `Field(description=...)` reaches the model, and so does a limit such as `gt=0`.

# %%
from pydantic import Field


class Refund(BaseModel):
    amount: float = Field(gt=0, description="In CNY")


def refund(amount: float) -> str:
    """Pay money back."""
    return f"{amount} paid back"


seen = read(from_function(refund, args_schema=Refund))
assert seen["description"] == "Pay money back."
seen["parameters"]["properties"]["amount"]

# %% [markdown] lang="en"
# ## 9. A tool that remembers
#
# A tool is made of a function, and a function may have something behind it: an object, if it is a method; the variables around it, if it was defined in a function. Neither shows in the schema.


# %%
class Station:
    def __init__(self):
        self.asked = []

    def ask(self, city: str) -> str:
        """The weather of a city."""
        self.asked.append(city)
        return f"question {len(self.asked)}: {city}"


station = Station()
method = from_function(station.ask)
assert list(method.args) == ["city"]
print(method.invoke({"city": "北京"}), "|", method.invoke({"city": "上海"}))
station.asked

# %% [markdown] lang="en"
# Everybody who has the tool shares that list: two users, two conversations, two threads. What belongs to one run belongs into the state (layer 11).
#
# A `partial` would be a third way to put something behind a function. It is refused, with a name and without. Write a small function around it instead: exercise 2.

# %%
from functools import partial

tomorrow = partial(weather, days=1)
with expect_error(AttributeError, "'functools.partial' object has no attribute '__name__'"):
    from_function(tomorrow)
with expect_error(TypeError, "functools.partial(...) is not a module, class, method, or function."):
    from_function(tomorrow, name="tomorrow", description="The weather.")

# %% [markdown] lang="en"
# ## 10. What is only carried
#
# `from_function` hands on whatever else a tool has. `return_direct` is for the agent's loop, `response_format` for the answer, `tags` and `metadata` for tracing, `extras` for the client of a provider.
#
# **Wait a minute.** "Whatever else": what if we misspell one?

# %%
others = {"return_direct": True, "tags": ["demo"], "metadata": {"team": "sky"}}
others |= {"response_format": "content_and_artifact", "extras": {"defer_loading": True}}
carrying = from_function(weather, **others)
assert {key: getattr(carrying, key) for key in others} == others
assert read(carrying) == read(real)
from_function(weather, retrun_direct=True).return_direct

# %% [markdown] lang="en"
# `retrun_direct` is gone without an error. And the last assert says that the model reads none of the five.
#
# ## 11. The judge
#
# All comparisons that minilc has for this layer.

# %% tags=["version"]
from minilc.course import cases, check
from minilc.course.layers import layer

(report,) = check.check([layer("structured")], cases.load(["structured"]))
assert report.ok
report.counts

# %% [markdown] lang="en"
# ## 12. The picture
#
# What comes first, the description or the schema? In article A it is the description. Here are the real calls, numbered.

# %%
names = ["from_function", "create_schema_from_function", "_infer_arg_descriptions", "dedent"]
steps = trace(lambda: from_function(weather), names)
assert steps.names == [*names, "dedent"]
steps

# %% [markdown] lang="en"
# The schema. That is the step which stands in another place than ours. `dedent` comes twice: once for the schema's text, and once, at the very end, for the tool's.
#
# ## 13. Left out
#
# What minilc does not have here.

# %%
from minilc.course.register import left_out

left_out("structured")

# %% [markdown] lang="en"
# ## 14. Exercises
#
# In the first one your function takes its place inside minilc, and real LangChain judges it. `ex.hint("structured-1")` helps, one step at a time.

# %%
ex.show("structured-1")

# %% stub="structured-1"

# %% [markdown] lang="en"
# The second one is a bug report about tools that remember.

# %%
ex.show("structured-2")

# %% stub="structured-2"

# %% [markdown] lang="en"
# The third is the check that part 7 promised. You can use it on your own tools.

# %%
ex.show("structured-3")

# %% stub="structured-3"

# %% [markdown] lang="en"
# ## 15. Recap
#
# Name, description and schema come from what we give, else from the function, else (the description alone) from the schema. Only `None` means not given. Nobody checks whether the three are good, or fit the function.
#
# Our weather question so far: the model asked for a tool by its name. It is `from_function` that gave the tool this name.

# %%
from langchain_core.messages import AIMessage, HumanMessage

call = {"name": "weather", "args": {"city": "北京"}, "id": "call_1", "type": "tool_call"}
asked = [HumanMessage("北京今天天气怎么样？"), AIMessage("", tool_calls=[call])]
draw.sequence([*asked, real.invoke(call)])

# %% [markdown] lang="en"
# Two questions to end with. `ex.answer("structured-1", "a")` says why an option is right or wrong.

# %%
from IPython.display import display

display(ex.quiz("structured-1"), ex.quiz("structured-2"))

# %% [markdown] lang="en"
# Next: [05_convert](05_convert.ipynb). In how many ways may one write `@tool`?
