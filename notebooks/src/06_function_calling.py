# %% [markdown] lang="en"
# # What does a model know of our tool?
#
# The model is on another machine. It gets no function and no code, only text. What exactly stands in that text? And is it the same text for every provider?
#
# |  |  |
# |---|---|
# | **Time** | 30 minutes, and 30 for the exercises |
# | **Difficulty** | medium |
# | **Before** | [02_schema](02_schema.ipynb): how a signature becomes a schema; [05_convert](05_convert.ipynb): how a function becomes a tool |
# | **Articles** | A, layers 1 and 4, and its advice on names and descriptions; B, sections 3.2 and 5 |
# | **We build** | layer 6, `minilc/function_calling.py` |
#
# This is where the real thing stands in *your* installation. Each provider has a package of its own.

# %% tags=["version"]
# %load_ext minilc.course.listings
from minilc.course import cases, check, draw, exercises as ex, widgets
from minilc.course.expect import expect_error
from minilc.course.layers import layer
from minilc.course.probe import Probe
from minilc.course.trace import trace
from minilc.course.twin import twin
from minilc.course.upstream import where

for name in ["convert_to_openai_tool", "convert_to_openai_function", "convert_to_anthropic_tool"]:
    print(f"{name:<27}", where(name).upstream)

# %% [markdown] lang="en"
# ## 1. The real thing
#
# A tool, and what `langchain_openai` makes of it. `bind_tools` sends nothing yet; it only prepares the text.

# %%
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI


@tool
def weather(city: str, days: int = 1) -> str:
    """The weather."""
    return f"{city}: 晴"


bound = ChatOpenAI(model="gpt-4o-mini", api_key="none").bind_tools([weather])
openai = bound.kwargs["tools"][0]
openai

# %% [markdown] lang="en"
# **A name, a description, and a JSON schema: that is all a model knows of a tool.** What the function returns is not in it. How it works is not in it.
#
# Do Anthropic and Gemini get the same? Their real packages answer, side by side.

# %%
import json
from itertools import zip_longest

from langchain_anthropic import ChatAnthropic
from minilc.course.wire import convert_to_gemini_tool

claude = ChatAnthropic(model="claude-sonnet-4-5", api_key="none").bind_tools([weather])
anthropic = claude.kwargs["tools"][0]
gemini = convert_to_gemini_tool(weather)  # taken from a request of ChatGoogleGenerativeAI
texts = [json.dumps(one, indent=1).splitlines() for one in (openai, anthropic, gemini)]
for left, middle, right in [("OPENAI", "ANTHROPIC", "GEMINI"), *zip_longest(*texts, fillvalue="")]:
    print(f"{left:<34}{middle:<33}{right}")

# %% [markdown] lang="en"
# Three shapes, one content. OpenAI has a wrapping more. Anthropic says `input_schema`. Gemini writes types in capitals, and it lost something: the default of `days`.

# %%
assert anthropic["input_schema"] == openai["function"]["parameters"]
assert openai["function"]["parameters"]["properties"]["days"] == {"default": 1, "type": "integer"}
assert gemini["parameters"]["properties"]["days"] == {"type": "INTEGER"}
assert "晴" not in json.dumps([openai, anthropic, gemini], ensure_ascii=False)

# %% [markdown] lang="en"
# OpenAI's shape comes first in LangChain; the others are made from it. So we grow that one.
#
# ## 2. The naive version
#
# What would we send? The name and the description, as in a list of commands.


# %%
def openai_v0(function, strict=None):
    return {"name": function.name, "description": function.description}


# %% [markdown] lang="en"
# ### The probe
#
# Nine things to convert: six tools, one of them once more in strict mode, and two things that are no tools at all. Name and description are right already, so the probe compares the parameters.

# %%
from typing import Annotated

from pydantic import BaseModel, Field


class Place(BaseModel):
    """A place."""

    name: str
    country: str = Field("CN", description="Two letters.")


class Tree(BaseModel):
    """A tree."""

    height: int
    children: list["Tree"]


# %%
from langchain_core.utils.function_calling import convert_to_openai_function as real


def plain(city: Annotated[str, "In Chinese."], days: int = 1):
    """The weather."""


def visit(place: Place, title: str):
    """Visit."""


things = {
    "no arguments": tool("ping", description="Ping.")(lambda: "pong"),
    "two arguments": weather,
    "a description": tool(plain),
    "a parameter called title": tool("find", description="Find.")(lambda title: title),
    "a model inside": tool(visit),
    "a model in itself": tool(args_schema=Tree)(visit),
    "a pydantic model": Place,
    "a plain function": plain,
}
INPUTS = {name: {"function": thing} for name, thing in things.items()}
INPUTS["strict"] = {"function": weather, "strict": True}


def sent(version):
    return lambda given: version(**given).get("parameters")


probe = Probe(sent(real), INPUTS)

# %% [markdown] lang="en"
# How many of the nine are right without a schema?

# %%
result = probe(sent(openai_v0))
assert result.score == 0
result

# %% [markdown] lang="en"
# ## 3. Add the parameters
#
# None. Even a tool without arguments has parameters: an empty object. A tool keeps its schema ready, as a pydantic model; pydantic writes it as JSON schema.

# %%
weather.tool_call_schema.model_json_schema()

# %% [markdown] lang="en"
# The `description` and the outer `title` are not parameters. We take them off.


# %%
def parameters(function):
    schema = function.tool_call_schema.model_json_schema()
    return {k: v for k, v in schema.items() if k not in ("title", "description")}


def openai_v1(function, strict=None):
    return openai_v0(function) | {"parameters": parameters(function)}


# %%
result = probe(sent(openai_v1))
assert result.score == 1
result

# %% [markdown] lang="en"
# One. Look at the others: `'title': 'City'` stands in each of them. pydantic makes these titles from the names. They say nothing new, and each of them is paid for.
#
# ## 4. Drop the titles
#
# A title is the key `title`. We drop it, at every depth.


# %%
def without_titles(schema):
    if not isinstance(schema, dict):
        return schema
    return {k: without_titles(v) for k, v in schema.items() if k != "title"}


def openai_v2(function, strict=None):
    return openai_v0(function) | {"parameters": without_titles(parameters(function))}


# %%
result = probe(sent(openai_v2))
assert result.score == 3
result

# %% [markdown] lang="en"
# **Wait a minute.** Look at *a parameter called title*. It is gone, and `required` still asks for it. Below `properties` the keys are names of parameters, not words of JSON schema.


# %%
def without_made_titles(schema, parent=""):
    if not isinstance(schema, dict):
        return schema
    names = parent == "properties"
    return {k: without_made_titles(v, k) for k, v in schema.items() if k != "title" or names}


def openai_v3(function, strict=None):
    return openai_v0(function) | {"parameters": without_made_titles(parameters(function))}


# %%
result = probe(sent(openai_v3))
assert result.score == 4
result

# %% [markdown] lang="en"
# This is minilc's. It asks the value instead of the parent: a title is a text, and a parameter has a schema.

# %% source="minilc.function_calling:_rm_titles"
from minilc.function_calling import _rm_titles

# %% [markdown] lang="en"
# Try it: delete `or isinstance(v, dict)` above, run it, and run the judge below. Which parameter is missing? Then put it back.

# %%
result = twin(lambda lc: lc.convert_to_openai_tool(lc.tool(visit)), title="visit")
assert result.verdict == "EQUAL"
result

# %% [markdown] lang="en"
# ## 5. Put in what is referred to
#
# pydantic writes an inner model once, below `$defs`, and points to it with a `$ref`. Some providers cannot follow such a pointer. So LangChain puts the model in its place.
#
# And a model inside itself? It would never end. The pointer inside is dropped.


# %%
def inlined(node, root, inside=()):
    if isinstance(node, list):
        return [inlined(one, root, inside) for one in node]
    if not isinstance(node, dict):
        return node
    kept = {k: inlined(v, root, inside) for k, v in node.items() if k not in ("$ref", "$defs")}
    ref = node.get("$ref")
    if ref is None or ref in inside:
        return kept
    target = root["$defs"][ref.removeprefix("#/$defs/")]
    return inlined(target, root, (*inside, ref)) | kept


def openai_v4(function, strict=None):
    schema = parameters(function)
    return openai_v0(function) | {"parameters": without_made_titles(inlined(schema, schema))}


# %%
result = probe(sent(openai_v4))
assert result.score == 6
result

# %% [markdown] lang="en"
# Six. What became of the tree? Its children are trees. And their children?

# %%
inner = real(things["a model in itself"])["parameters"]["properties"]["children"]["items"]
inner["properties"]

# %% [markdown] lang="en"
# `items: {}`: anything. What holds itself is told as far as it does not repeat, and the model has to guess the rest.
#
# In the last line of `inlined`, what stands beside the pointer wins. So each use of a model can have a description of its own. Exercise 2 shows what happens without.
#
# ## 6. Strict
#
# `strict=True` is a promise of OpenAI: the model keeps to the schema. The price: all is required, and nothing may be added.


# %%
def strictly(schema):
    return schema | {"required": list(schema["properties"]), "additionalProperties": False}


def openai_v5(function, strict=None):
    result = openai_v4(function)
    if strict:
        result |= {"parameters": strictly(result["parameters"]), "strict": True}
    return result


# %%
result = probe(sent(openai_v5))
assert result.score == 7
result

# %% [markdown] lang="en"
# **Wait a minute.** `days` has a default, and now it is required? Yes: the model has to send it each time, and the default is never used. If a value may be missing, let it be null: `int | None`.
#
# And a bare dict? Nothing may be added to it, and it has no properties. It can only be empty.


# %%
@tool
def save(payload: dict, note: str | None = None):
    """Save."""


strict = real(save, strict=True)["parameters"]
assert strict["required"] == ["payload", "note"]
assert strict["properties"]["payload"] == {"additionalProperties": False, "type": "object"}
strict["properties"]["note"]

# %% [markdown] lang="en"
# ## 7. Not only tools
#
# Two of nine are left: a model and a plain function. Both become a schema in one line, and the schema has the name and the description.


# %%
from minilc.schema import create_schema_from_function


def openai_v6(function, strict=None):
    if hasattr(function, "tool_call_schema"):
        return openai_v5(function, strict)
    if not hasattr(function, "model_json_schema"):
        function = create_schema_from_function(function.__name__, function, parse_docstring=True)
    schema = function.model_json_schema()
    name, description = schema.pop("title"), schema.pop("description")
    body = without_made_titles(inlined(schema, schema))
    return {"name": name, "description": description, "parameters": body}


result = probe(sent(openai_v6))
assert result.score == len(INPUTS)
result

# %% [markdown] lang="en"
# Nine of nine. The finished one also takes a TypedDict, and dicts. It is long, so JupyterLab folds it. Look for the order of its questions: what is asked first?

# %% source="minilc.function_calling:convert_to_openai_function, _to_openai_function, _format_tool_to_openai_function, _convert_json_schema_to_openai_function"
from minilc.function_calling import (
    _convert_json_schema_to_openai_function,
    _format_tool_to_openai_function,
    _to_openai_function,
    convert_to_openai_function,
)

# %% [markdown] lang="en"
# Five ways to say the same thing. Do they give the same text?

# %%
from typing import TypedDict

from langchain_core.utils.function_calling import convert_to_openai_tool


def find(city: str):
    """Find it."""


class FindModel(BaseModel):
    """Find it."""

    city: str


class FindDict(TypedDict):
    """Find it."""

    city: str


properties = {"city": {"type": "string"}}
body = {"type": "object", "properties": properties, "required": ["city"]}
written = {"title": "find", "description": "Find it."} | body
told = [real(one) for one in (tool(find), find, FindModel, FindDict, written)]

for one in told:
    print(one["name"])
    assert one["parameters"] == body and one["description"] == "Find it."

# %% [markdown] lang="en"
# They do, but for the name. A class is called like the class, and the model reads `FindModel`.
#
# A JSON schema needs a `title`, because that becomes the name. LangChain sends it as you wrote it: its inner titles and pointers stay. (minilc's, above, treats all schemas alike.)

# %%
with expect_error(ValueError, "Unsupported function...must have a top-level 'title' key..."):
    real(body)
titled = written | {"properties": {"city": {"type": "string", "title": "City"}}}
real(titled)["parameters"]["properties"]

# %% [markdown] lang="en"
# ## 8. What the model reads of a parameter
#
# There are three ways to describe a parameter: `Annotated` with a text, `Field`, and the docstring. Which of them reach the model?


# %%
def book(room: Annotated[str, "A number."], nights: int = Field(1, description="At most 9.")):
    """Book a room.

    Args:
        room: From the docstring.
    """


for made in (tool(book), tool(parse_docstring=True)(book)):
    function = real(made)
    print(repr(function["description"]))
    print({name: one["description"] for name, one in function["parameters"]["properties"].items()})

# %% [markdown] lang="en"
# All three, but the docstring only with `parse_docstring=True`. Then it wins over `Annotated`. Without it, the section `Args:` is not lost either: the model reads it as part of the tool's description.
#
# What does the model know of `payload: dict`, and of a model in its place?

# %%
from langchain_core.tools import InjectedToolArg


@tool
def order(payload: dict, place: Place, user: Annotated[str, InjectedToolArg]):
    """Order."""


told = real(order)["parameters"]["properties"]
assert told["payload"] == {"additionalProperties": True, "type": "object"}
assert list(told["place"]["properties"]) == ["name", "country"]
print("\n".join(f"{name}: {one}" for name, one in told.items()))

# %% [markdown] lang="en"
# Of `payload` it knows: an object. Not one key. It will invent some, and our function will look for others. Article A's advice is right: write a model.
#
# And `user` is missing. An injected argument is not the model's business; [02_schema](02_schema.ipynb) shows who leaves it out.
#
# **Names are sent unchecked.** OpenAI takes letters, digits, `_` and `-` only. LangChain does not look.

# %%
odd = tool("搜索 工具", description="Search.")(lambda: "")
assert convert_to_openai_tool(odd)["function"]["name"] == "搜索 工具"
model = ChatOpenAI(model="gpt-4o-mini", api_key="none").bind_tools([odd, odd])
[one["function"]["name"] for one in model.kwargs["tools"]]

# %% [markdown] lang="en"
# Two of the same name are fine, too, says LangChain. The server will say no, at the first request.
#
# ## 9. What one provider takes and another does not
#
# OpenAI and Anthropic get the JSON schema as it is. Gemini knows a part of it. What is left of some usual types?

# %%
from typing import Literal

from pydantic import ValidationError


def told_of(kind):
    def f(x):
        """F."""

    f.__annotations__["x"] = kind
    one = tool(f)
    return [real(one), convert_to_gemini_tool(one)]


for kind in [
    str | None,
    int | str,
    int | str | None,
    Literal["a", "b"],
    Annotated[int, Field(ge=1)],
]:
    for provider, function in zip(["JSON schema", "Gemini"], told_of(kind), strict=True):
        print(f"{provider:<12}", function["parameters"]["properties"]["x"])

# %% [markdown] lang="en"
# Nothing failed, but look at Gemini's lines. A bound is gone. Of `int | str | None` only the text is left.
#
# One usual type is refused, by Google's own package and before anything is sent: choices that are numbers.

# %%
with expect_error(
    ValidationError, "2 validation errors for Schema...Input should be a valid string..."
):
    told_of(Literal[1, 2])

# %% [markdown] lang="en"
# For tools that several providers share: `str`, `int`, `float`, `bool`, a list of these, choices of texts, and models.
#
# Try it with a function of your own. In JupyterLab you can edit the source below, and see at once what each provider is sent, from LangChain and from minilc. Give `days` the type `Literal[1, 2]`; take the docstring away.

# %%
widgets.schema_bench()

# %% [markdown] lang="en"
# ## 10. What it costs
#
# The tools are sent with each request. So their length counts, again and again. How much do words weigh? We measure it in characters.


# %%
class Short(BaseModel):
    """The weather."""

    city: str
    days: int = 1


class Long(BaseModel):
    """The weather of a city for some days. Use it for any question about sun, rain or wind."""

    city: str = Field(description="The city's name in Chinese, for example 北京.")
    days: int = Field(1, description="How many days, from 1 (today) to 7.")


def size(one):
    return len(json.dumps(convert_to_openai_tool(one), ensure_ascii=False))


titles = len(json.dumps(parameters(weather))) - len(json.dumps(openai["function"]["parameters"]))
assert 1.5 < size(Long) / size(Short) < 2
print(
    f"short {size(Short)}, long {size(Long)}, ten long ones in twenty requests {size(Long) * 200}"
)
print(f"the titles of weather alone: {titles}")

# %% [markdown] lang="en"
# The words nearly double it. There is a limit, too: OpenAI answers a description that is too long with *Expected a string with maximum length 1024*. The last line is what LangChain saves by dropping two titles.
#
# So spend the characters on what a model must know: what the tool is for, and what a value looks like.
#
# ## 11. The judge
#
# All comparisons that minilc has for this layer, Anthropic's and Gemini's shapes among them.

# %% tags=["version"]
(report,) = check.check([layer("function_calling")], cases.load(["function_calling"]))
assert report.ok
report.counts

# %% [markdown] lang="en"
# ## 12. The picture
#
# LangChain's own functions, in a real run. Each of our steps has its place in the chain.

# %%
chain = (
    "convert_to_openai_tool convert_to_openai_function _format_tool_to_openai_function "
    "_convert_pydantic_to_openai_function _convert_json_schema_to_openai_function dereference_refs"
)
steps = trace(lambda: convert_to_openai_tool(weather), chain.split())
assert steps.names == chain.split()
drawn = steps.drawing()
drawn.digraph.attr(rankdir="TB", ranksep="0.25")  # long names: from top to bottom
draw.render(drawn.digraph, drawn.title, drawn.description)

# %% [markdown] lang="en"
# The fourth asks pydantic for the schema. The fifth takes off name and description, has the pointers replaced by the sixth, and drops the titles.
#
# ## 13. Left out
#
# What minilc does not have here, and what depends on LangChain's version.

# %%
from minilc.course.register import left_out

left_out("function_calling")

# %% [markdown] lang="en"
# ## 14. Exercises
#
# The first takes its place in minilc: a tool for Anthropic. Stuck? `ex.hint("function_calling-1")` helps.

# %%
ex.show("function_calling-1")

# %% stub="function_calling-1"

# %% [markdown] lang="en"
# The second begins with a bug report. Section 5 has all that is needed.

# %%
ex.show("function_calling-2")

# %% stub="function_calling-2"

# %% [markdown] lang="en"
# The third is a check that you can run on your own tools before a model sees them.

# %%
ex.show("function_calling-3")

# %% stub="function_calling-3"

# %% [markdown] lang="en"
# ## 15. Recap
#
# A model reads a name, a description and a JSON schema, and nothing else. LangChain drops made-up titles and puts models in the place of pointers. Providers get different shapes, and Gemini gets less.
#
# Our weather question so far: nobody has asked it yet. But this is what the model will read beside it.

# %%
print("user:", "北京今天天气怎么样？")
print("tools:", json.dumps([convert_to_openai_tool(weather)]))

# %% [markdown] lang="en"
# Two questions to end with. `ex.answer("function_calling-1", "a")` says why an option is right or wrong.

# %%
from IPython.display import display

display(ex.quiz("function_calling-1"), ex.quiz("function_calling-2"))

# %% [markdown] lang="en"
# Next: [07_chat_models](07_chat_models.ipynb). How does this text get to the model, and what comes back?
